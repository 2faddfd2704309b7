//! **Pure.** Time of a run per turn, split into the model and its tools.
use touchstone_api::{Pace, TurnTime};
use touchstone_model::run::{Run, Step, StepKind};

/// Maximum number of turns shown.
const MOST_TURNS: usize = 200;

/// Returns the time of each turn that records any; `None` if no turn does.
pub(super) fn turn_times(run: &Run) -> Option<Pace> {
    let (mut turns, mut more, mut begin) = (Vec::new(), 0, 0);
    for steps in run.steps.chunk_by(|one, next| one.turn == next.turn) {
        let step = u32::try_from(begin).unwrap_or(u32::MAX);
        begin += steps.len();
        let model = seconds(steps, &[StepKind::Assistant]);
        let tools = seconds(steps, &[StepKind::ToolCall, StepKind::Program]);
        match (model, tools) {
            (None, None) => {}
            _ if turns.len() == MOST_TURNS => more += 1,
            _ => turns.push(TurnTime { turn: steps[0].turn, step, model, tools }),
        }
    }
    (!turns.is_empty()).then_some(Pace { turns, more })
}

/// Sums the seconds of the steps of these kinds; `None` if no step records any. Negative and
/// non-finite times are ignored.
fn seconds(steps: &[Step], kinds: &[StepKind]) -> Option<f64> {
    let told =
        steps.iter().filter(|step| kinds.contains(&step.kind)).filter_map(|step| step.seconds);
    told.filter(|seconds| seconds.is_finite() && *seconds >= 0.0)
        .reduce(|sum, seconds| sum + seconds)
}

#[cfg(test)]
mod tests {
    use super::*;

    fn step(turn: u32, kind: StepKind, seconds: Option<f64>) -> Step {
        Step { turn, kind, seconds, ..Step::default() }
    }

    fn format_pace(steps: Vec<Step>) -> String {
        let pace = turn_times(&Run { steps, ..Run::default() });
        pace.map_or_else(
            || "nothing".to_owned(),
            |pace| {
                let told = pace
                    .turns
                    .iter()
                    .map(|at| format!("{}@{} {:?} {:?}", at.turn, at.step, at.model, at.tools));
                format!("{}; {} more", told.collect::<Vec<_>>().join(", "), pace.more)
            },
        )
    }

    #[test]
    fn a_turn_takes_what_its_model_and_its_tools_took_together() {
        use StepKind::{Assistant, Program, ToolCall, User};
        let steps = vec![
            step(1, User, Some(9.0)),
            step(2, Assistant, Some(1.5)),
            step(2, ToolCall, Some(0.25)),
            step(2, Program, Some(0.5)),
            step(3, Assistant, Some(2.0)),
        ];
        assert_eq!(format_pace(steps), "2@1 Some(1.5) Some(0.75), 3@4 Some(2.0) None; 0 more");
    }

    #[test]
    fn a_time_that_is_not_told_or_cannot_be_is_none_and_never_nought() {
        use StepKind::{Assistant, ToolCall};
        assert_eq!(format_pace(vec![step(1, Assistant, None), step(1, ToolCall, None)]), "nothing");
        assert_eq!(
            format_pace(vec![step(1, Assistant, Some(f64::NAN)), step(1, ToolCall, Some(-1.0))]),
            "nothing"
        );
        let steps = vec![step(4, Assistant, None), step(4, ToolCall, Some(0.0))];
        assert_eq!(format_pace(steps), "4@0 None Some(0.0); 0 more");
    }

    #[test]
    fn shows_the_first_of_many_turns_and_counts_the_rest() {
        let most = u32::try_from(MOST_TURNS).unwrap();
        let turns = |count: u32| {
            (1..=count).map(|turn| step(turn, StepKind::Assistant, Some(f64::from(turn)))).collect()
        };
        for count in [most, most + 1, most + 2, 10 * most] {
            let pace = turn_times(&Run { steps: turns(count), ..Run::default() }).unwrap();
            assert_eq!((pace.turns.len(), pace.more), (MOST_TURNS, count - most));
            assert_eq!(
                pace.turns.last().map(|at| (at.turn, at.model)),
                Some((most, Some(f64::from(most))))
            );
        }
    }
}
