//! **Pure.** Takes the answer of a run from the place that the tag of its task names.
use crate::stabletoolbench::answers;
use touchstone_model::answer::{AnswerLocation, locate_answer};
use touchstone_model::run::{LENIENT, Run, StepKind};

/// Replaces the answer of a run by the one that the task's tag selects, if the file stores none
/// itself: other programs do not always copy it out, and only the suite knows the tag.
/// [`locate_answer`] determines its location.
pub fn apply(run: &mut Run, tag: &str) {
    // A search returns its answer by `Finish`; its last message is only a thought.
    if !run.is_sought || run.facts.iter().any(|(key, _)| key == "run.method") {
        return;
    }
    let last = run.steps.iter().rfind(|step| step.kind == StepKind::Assistant);
    let message =
        last.into_iter().flat_map(|step| &step.parts).filter(|part| part.label == "message");
    let texts: Vec<&str> = message.filter_map(|part| part.value.text()).collect();
    let finish = answers::last_finish(run);
    let found = match locate_answer(tag, &texts.join("\n"), run.answer.is_some(), finish.ended()) {
        AnswerLocation::AsFound => return,
        AnswerLocation::Nowhere => None,
        AnswerLocation::Said(found) => Some(found),
        AnswerLocation::Finish => finish.answer(),
    };
    let unread = run.unread.take();
    run.notes.retain(|note| Some(note) != unread.as_ref() && note != LENIENT);
    if found.as_ref().is_some_and(|found| found.lenient) {
        run.notes.push(LENIENT.to_owned());
    }
    run.answer = found;
}
