//! **Pure.** Lists of the available evaluators and compatibility switches.
use touchstone_api::{EvaluateSwitch, EvaluatorChoice};
use touchstone_judges::azure::{EvaluatorInfo, NEVER, QUIRKS, Quirk, all};

/// Returns all evaluators.
pub(crate) fn evaluators() -> Vec<EvaluatorChoice> {
    let names = |names: &[&str]| names.iter().map(|name| (*name).to_owned()).collect();
    let choice = |takes: &EvaluatorInfo| EvaluatorChoice {
        name: takes.name.to_owned(),
        what: takes.what.to_owned(),
        needs: names(takes.needs),
        may_have: names(takes.may_have),
        model: takes.model,
        program: takes.program,
        safety: takes.safety,
        threshold: takes.threshold,
    };
    all().iter().map(choice).collect()
}

/// Converts mistakes of the package to rows for display.
pub(crate) fn switches(quirks: &[Quirk]) -> Vec<EvaluateSwitch> {
    let switch = |quirk: &Quirk| EvaluateSwitch {
        name: quirk.name.to_owned(),
        theirs: quirk.theirs.to_owned(),
        ours: quirk.ours.to_owned(),
    };
    quirks.iter().map(switch).collect()
}

/// Returns the evaluators, the intended differences from the azure-ai-evaluation package that a
/// switch can undo, and those that cannot be undone. For the command line, which needs no open
/// folder for this.
pub fn known_evaluators() -> (Vec<EvaluatorChoice>, Vec<EvaluateSwitch>, Vec<EvaluateSwitch>) {
    (evaluators(), switches(&QUIRKS), switches(&NEVER))
}
