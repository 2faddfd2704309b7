//! **Pure.** What there is to evaluate with, as it is offered.
use touchstone_api::{EvaluateSwitch, EvaluatorChoice};
use touchstone_scoring::azure::{NEVER, QUIRKS, Quirk, Takes, all};

/// All evaluators, as they are offered.
pub(crate) fn evaluators() -> Vec<EvaluatorChoice> {
    let names = |names: &[&str]| names.iter().map(|name| (*name).to_owned()).collect();
    let choice = |takes: &Takes| EvaluatorChoice {
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

/// Ways of the package, as they are shown.
pub(crate) fn switches(quirks: &[Quirk]) -> Vec<EvaluateSwitch> {
    let switch = |quirk: &Quirk| EvaluateSwitch {
        name: quirk.name.to_owned(),
        theirs: quirk.theirs.to_owned(),
        ours: quirk.ours.to_owned(),
    };
    quirks.iter().map(switch).collect()
}

/// What there is to evaluate with, where we differ from the package on purpose, and what of it
/// nobody can have back: for the command line, which needs no folder for it.
pub fn known_evaluators() -> (Vec<EvaluatorChoice>, Vec<EvaluateSwitch>, Vec<EvaluateSwitch>) {
    (evaluators(), switches(&QUIRKS), switches(&NEVER))
}
