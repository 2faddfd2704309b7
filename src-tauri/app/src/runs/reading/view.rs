//! **Pure.** Converts a run for the page: a window of its steps, its answer, its facts. The output
//! is bounded, for a run of 100,000 messages and for one message of 10 MB.
use super::PartId;
use super::body::{language, part};
use super::part_id::{MAX_PARTS, rest};
use super::pieces::{Budget, short};
use touchstone_api::{Answer, Fact, Language, RunNames, Step, StepKind, StepPart};
use touchstone_formats::own_formats;
use touchstone_imports::Format;
use touchstone_imports::registry;
use touchstone_model::run as told;
use touchstone_model::run::{self, Run};
use touchstone_model::value::Value;

/// Maximum number of steps in a window.
pub(super) const MAX_STEPS: usize = 200;
/// Approximate maximum JSON bytes of a window.
const MAX_WINDOW: usize = 256 << 10;
/// Maximum JSON bytes of the answer (`MAX_ANSWER`) and of the facts (`MAX_FACTS`).
const MAX_ANSWER: usize = 96 << 10;
const MAX_FACTS: usize = 48 << 10;
/// Maximum number of other top-level keys of a file that are shown.
const MOST_FACTS: usize = 200;
/// Maximum JSON bytes of all notes (`MAX_NOTES`), and bytes of one (`MAX_NOTE`).
const MAX_NOTES: usize = 16 << 10;
const MAX_NOTE: usize = 1_000;
/// Maximum bytes of names of tools and artifacts.
const MAX_TITLE: usize = 200;
/// Estimated JSON overhead of a step, in bytes.
const STEP_FRAME: usize = 200;

/// Returns steps from `offset` on: at most `limit`, as many as fit, and at least one if there is
/// one.
pub(super) fn steps(run: &Run, offset: usize, limit: usize) -> Vec<Step> {
    let mut budget = Budget::new(MAX_WINDOW);
    let mut steps = Vec::new();
    let former = former_model(run);
    let edited = edited_reply(run);
    for (index, step) in run.steps.iter().enumerate().skip(offset).take(limit.min(MAX_STEPS)) {
        let mut shown = one_step(index, step, &mut budget);
        if let Some((model, _)) = former.filter(|(_, count)| (index as u64) < *count)
            && step.kind != told::StepKind::User
            && edited != Some(index)
        {
            shown.model = shown.model.or_else(|| Some(budget.name(model, MAX_TITLE)));
        }
        steps.push(shown);
        if budget.left == 0 {
            break;
        }
    }
    steps
}

/// Returns the model that made the first steps of a fork which another model continued, and their
/// number.
fn former_model(run: &Run) -> Option<(&str, u64)> {
    let from = forked_from(run)?;
    Some((from.text_at("model")?, from.get("steps")?.whole_number()?))
}

/// Returns the part of the last copied step that a person edited before the run went on.
pub(super) fn edited_part(run: &Run) -> Option<StepPart> {
    StepPart::from_word(forked_from(run)?.text_at("part")?)
}

/// Returns the step that a person edited before the run went on.
pub(super) fn edited_step(run: &Run) -> Option<usize> {
    edited_part(run)?;
    usize::try_from(forked_from(run)?.get("step")?.whole_number()?).ok()
}

/// Returns the step whose message a person wrote in place of that of the model.
fn edited_reply(run: &Run) -> Option<usize> {
    edited_step(run).filter(|_| edited_part(run) == Some(StepPart::Message))
}

fn forked_from(run: &Run) -> Option<&Value> {
    run.facts.iter().find(|(key, _)| key == "run.forked_from").map(|(_, from)| from)
}

fn one_step(index: usize, step: &told::Step, budget: &mut Budget) -> Step {
    budget.spend(STEP_FRAME);
    let title = step.title.as_ref().map(|title| budget.name(title, MAX_TITLE));
    let call_id = step.call_id.as_ref().map(|id| budget.name(id, MAX_TITLE));
    let model = step.model.as_ref().map(|model| budget.name(model, MAX_TITLE));
    let mut parts: Vec<_> = step
        .parts
        .iter()
        .take(MAX_PARTS)
        .enumerate()
        .map(|(at, told)| {
            part(PartId::Step(index, at), &told.label, language(told.language), &told.value, budget)
        })
        .collect();
    if let Some(value) = rest(step) {
        let label = format!("{} more", value.entries().len());
        parts.push(part(PartId::Step(index, MAX_PARTS), &label, Language::Json, &value, budget));
    }
    Step {
        index: u32::try_from(index).unwrap_or(u32::MAX),
        turn: step.turn,
        kind: kind(step.kind),
        title,
        call_id,
        failed: step.failed,
        nudge: step.nudge,
        seconds: step.seconds,
        tokens: step.tokens,
        model,
        depth: step.depth,
        parts,
    }
}

pub(super) fn answer(run: &Run) -> Option<Answer> {
    let told = run.answer.as_ref()?;
    let mut budget = Budget::new(MAX_ANSWER);
    let language = if is_message(run, &told.value) { Language::Markdown } else { Language::Plain };
    Some(Answer {
        part: part(PartId::Answer, "answer", language, &told.value, &mut budget),
        source: short(&told.source, MAX_TITLE),
        lenient: told.lenient,
    })
}

/// Returns true for an answer that is a message of the model, and is drawn like it.
pub(super) fn is_message(run: &Run, answer: &Value) -> bool {
    let Value::Text(text) = answer else { return false };
    let mut parts = run.steps.iter().rev().flat_map(|step| &step.parts);
    parts.any(|part| part.language == run::Language::Markdown && part.value.text() == Some(text))
}

pub(super) fn own_names(names: &run::RunNames) -> RunNames {
    let run::RunNames { task, system, model } = names.clone();
    RunNames { task, system, model }
}

pub(super) fn facts(run: &Run) -> Vec<Fact> {
    let mut budget = Budget::new(MAX_FACTS);
    let mut facts = Vec::new();
    for (at, (key, value)) in run.facts.iter().enumerate().take(MOST_FACTS) {
        let key = budget.name(key, MAX_TITLE);
        facts.push(Fact {
            key,
            part: part(PartId::Fact(at), "value", Language::Plain, value, &mut budget),
        });
        if budget.left == 0 {
            break;
        }
    }
    facts
}

pub(super) fn notes(run: &Run) -> Vec<String> {
    let mut budget = Budget::new(MAX_NOTES);
    let fits = |note: &String| (budget.left > 0).then(|| budget.name(note, MAX_NOTE));
    run.notes.iter().map_while(fits).collect()
}

pub(super) fn layout(layout: told::Layout) -> &'static str {
    match layout {
        told::Layout::Imported(name) => registry::by_name(name).map_or(name, Format::title),
        own => own_formats::of_layout(own).map_or("", |format| format.title),
    }
}

pub(super) fn kind(kind: told::StepKind) -> StepKind {
    match kind {
        told::StepKind::User => StepKind::User,
        told::StepKind::Assistant => StepKind::Assistant,
        told::StepKind::System => StepKind::System,
        told::StepKind::ToolCall => StepKind::ToolCall,
        told::StepKind::Program => StepKind::Program,
        told::StepKind::Artifact => StepKind::Artifact,
        told::StepKind::Error => StepKind::Error,
        told::StepKind::SubAgent => StepKind::SubAgent,
        told::StepKind::Abandoned => StepKind::Abandoned,
        told::StepKind::Compaction => StepKind::Compaction,
        told::StepKind::Note => StepKind::Note,
        told::StepKind::Unknown => StepKind::Unknown,
    }
}
