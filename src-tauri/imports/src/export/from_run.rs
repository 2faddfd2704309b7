//! **Pure.** Converts a run of this program's own layouts, or of a benchmark, to the words that all
//! formats have in common.
use super::{content, object, text};
use crate::run::{EventKind, ImportedRun, ImportedVerdict};
use crate::text::{is_blank, join, text_or_json};
use touchstone_formats::tool_offers;
use touchstone_model::run::{Part, Run, Step, StepKind, Verdict};
use touchstone_model::value::Value;

/// Facts that hold the definitions of tools, the most exact first.
const TOOLS: [&str; 4] =
    ["tool_definitions", "inputs.tool_definitions", "available_tools", tool_offers::FACT];

/// Returns the definitions of the tools that were offered in a run, as `OpenAI` writes them; none if
/// the run does not record them.
pub fn tool_definitions(run: &Run) -> Vec<Value> {
    let facts = |key: &&str| run.facts.iter().find(|(known, _)| known == key);
    let given = TOOLS.iter().find_map(facts).map(|(_, tools)| tools.items());
    given.unwrap_or_default().iter().filter_map(definition).collect()
}

fn definition(tool: &Value) -> Option<Value> {
    let inner = tool.get("function").filter(|inner| matches!(inner, Value::Map(_)));
    let inner = inner.unwrap_or(tool);
    let schema = ["parameters", "input_schema"].iter().find_map(|key| inner.get_non_null(key));
    let function = object([
        ("name", inner.get_non_null("name").and_then(text_or_json).map(Value::Text)),
        ("description", inner.get_non_null("description").cloned()),
        ("parameters", schema.cloned()),
    ]);
    function.get("name")?;
    Some(object([("type", text("function")), ("function", Some(function))]))
}

/// Converts the steps, the answer, the facts, the notes and the stored verdicts of a run. A program
/// becomes a call of `program`, and an artifact a text of the model. The caller knows the rest: the
/// coordinates, the end and the amounts.
pub fn from_run(run: &Run) -> ImportedRun {
    let mut written = ImportedRun {
        answer: run.answer.as_ref().map(|answer| content(&answer.value)),
        verdicts: run.verdicts.iter().map(verdict).collect(),
        notes: run.notes.clone(),
        ..ImportedRun::default()
    };
    let facts = run.facts.iter().filter(|(key, _)| !TOOLS.contains(&key.as_str()));
    written.facts = facts.cloned().collect();
    for step in &run.steps {
        push_step(&mut written, step);
    }
    written
}

fn verdict(stored: &Verdict) -> ImportedVerdict {
    let number = stored.score.clone().filter(|score| score.parse::<f64>().is_ok());
    let value = match (number, &stored.word, &stored.score) {
        (Some(number), ..) => Value::Number(number),
        (None, Some(word), _) | (None, None, Some(word)) => Value::Text(word.clone()),
        (None, None, None) => Value::Null,
    };
    ImportedVerdict {
        name: stored.evaluator.clone(),
        value,
        passed: stored.passed,
        reason: stored.reason.clone(),
        threshold: stored.threshold.clone().map(Value::Text),
    }
}

fn push_step(run: &mut ImportedRun, step: &Step) {
    let start = run.events.len();
    match step.kind {
        StepKind::User if step.title.as_deref() == Some("simulated") => {
            run.push(EventKind::SimulatedUser(texts(&step.parts)));
        }
        StepKind::User => run.push(EventKind::User(texts(&step.parts))),
        StepKind::System => run.push(EventKind::System(texts(&step.parts))),
        StepKind::Assistant => {
            let thinking = step.parts.iter().filter(|part| part.label == "thinking");
            for part in thinking {
                run.push(EventKind::Reasoning(content(&part.value)));
            }
            let spoken = texts(step.parts.iter().filter(|part| part.label != "thinking"));
            if !is_blank(&spoken) {
                run.push(EventKind::Assistant(spoken));
            }
        }
        StepKind::Artifact => {
            let title = step.title.as_deref().map(|title| format!("{title}:\n"));
            let text = texts(&step.parts);
            run.push(EventKind::Assistant(title.unwrap_or_default() + &text));
        }
        StepKind::ToolCall => push_call(run, step, step.title.as_deref().unwrap_or_default()),
        StepKind::Program => push_call(run, step, step.title.as_deref().unwrap_or("program")),
        StepKind::Error => run.push(EventKind::Error(texts(&step.parts))),
        StepKind::Compaction => run.push(EventKind::Compaction(texts(&step.parts))),
        StepKind::Note | StepKind::Unknown | StepKind::SubAgent | StepKind::Abandoned => {
            let title = step.title.as_deref().map(|title| format!("{title}: "));
            run.push(EventKind::Note(title.unwrap_or_default() + &texts(&step.parts)));
        }
    }
    if let Some(event) = run.events.get_mut(start) {
        (event.seconds, event.tokens) = (step.seconds, step.tokens);
    }
}

fn push_call(run: &mut ImportedRun, step: &Step, name: &str) {
    // Parameters may have the names of results. For a tool, only the last such part is a result,
    // and only if the call has one.
    let is_result = |part: &Part| matches!(part.label.as_str(), "result" | "error");
    let last = step.parts.iter().rposition(is_result).filter(|_| step.failed.is_some());
    let is_program = step.kind == StepKind::Program;
    let (came, given): (Vec<_>, Vec<_>) = step.parts.iter().enumerate().partition(|(at, part)| {
        if is_program { is_result(part) || part.label == "output" } else { Some(*at) == last }
    });
    let arguments = match given.as_slice() {
        [(_, part)] if matches!(part.label.as_str(), "params" | "arguments") => part.value.clone(),
        given => Value::Map(
            given
                .iter()
                .map(|(_, part)| (Value::from(part.label.as_str()), part.value.clone()))
                .collect(),
        ),
    };
    let id = step.call_id.clone();
    run.push(EventKind::Call { id: id.clone(), name: name.to_owned(), arguments, by_user: false });
    let value = match came.as_slice() {
        [] => return,
        [(_, part)] => part.raw.clone().map_or_else(|| part.value.clone(), Value::Text),
        several => Value::Text(texts(several.iter().map(|(_, part)| *part))),
    };
    run.push(EventKind::Result { id, name: Some(name.to_owned()), value, failed: step.failed });
}

fn texts<'p>(parts: impl IntoIterator<Item = &'p Part>) -> String {
    let texts: Vec<String> = parts.into_iter().map(|part| content(&part.value)).collect();
    join(texts.iter().map(String::as_str))
}
