//! **Pure.** What judges are shown of a run: what was asked, what was answered, what was done, and
//! whether it was brought to its end.
use super::sowr::Side;
use super::turns::Turns;
use touchstone_formats::answer::LAST_MESSAGE;
use touchstone_formats::azure;
use touchstone_formats::json;
use touchstone_formats::offered::Offer;
use touchstone_formats::run::{Layout, Run, ScriptedEnd, Step, StepKind};
use touchstone_formats::stabletoolbench::answers::{self, finish};
use touchstone_formats::stabletoolbench::{Pool, Query, functions};
use touchstone_formats::suite::Task;
use touchstone_formats::value::Value;

/// A run, as far as judges look.
#[derive(Debug, Clone, PartialEq, Eq, Default)]
pub struct Subject {
    /// What the person asked for.
    pub query: String,
    /// The final answer; empty when there is none. Where runs end with `Finish` it is what that was
    /// called with.
    pub answer: String,
    /// What was done, one step a line, as JSON.
    pub process: Vec<String>,
    /// Whether `Finish` was called.
    pub finish: Finish,
    /// It was called to give up.
    pub gave_up: bool,
    /// What it is compared with, for judges of pairs.
    pub rival: Option<Box<Rival>>,
    /// What its task expects, as text; for judges that compare with it.
    pub truth: Option<String>,
    /// How it ends for the published scripts, where it is an answer of that benchmark.
    pub scripted: Option<ScriptedEnd>,
    /// The same run as lists of messages, for evaluators of azure-ai-evaluation.
    pub turns: Turns,
}

/// The run that another is compared with.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Rival {
    /// Its final answer; empty when there is none.
    pub answer: String,
    /// What was done.
    pub process: Vec<String>,
    /// What is known of it.
    pub side: Side,
    /// What is known of the run that is compared with it.
    pub own: Side,
    /// What chance gave: whether it is shown first (even), and who wins a coin.
    pub seed: u64,
}

/// Whether the function `Finish` was called, with which runs of `StableToolBench` end.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Default)]
pub enum Finish {
    /// Runs of this kind end without it: an answer takes its place.
    #[default]
    NotUsed,
    /// Never, though runs of this kind end with it.
    Missing,
    /// Before another tool was called.
    Earlier,
    /// It is the last tool that was called.
    Last,
}

/// Everything that was done is shown up to here, in bytes; longer pieces are shortened until it
/// fits.
pub(super) const MOST: usize = 200_000;
/// What is shown of one piece, from generous to tight.
pub(super) const PIECES: [usize; 3] = [20_000, 2_000, 300];

impl Subject {
    /// Of a run. `query` is what its task asks for, where the run itself does not say.
    pub fn of(run: &Run, query: Option<&str>) -> Self {
        let calls = || run.steps.iter().filter(|step| step.kind == StepKind::ToolCall);
        let finishing = calls().rfind(|step| is_finish(step));
        let of_benchmark = matches!(run.layout, Layout::RawAnswer | Layout::ConvertedAnswer);
        // A search of ours: its method stands in its file.
        let ends_with_it = of_benchmark || run.facts.iter().any(|(key, _)| key == "run.method");
        let finish = match finishing {
            Some(_) if calls().next_back().is_some_and(is_finish) => Finish::Last,
            Some(_) => Finish::Earlier,
            None if ends_with_it => Finish::Missing,
            None => Finish::NotUsed,
        };
        let asked = run.steps.iter().find(|step| step.kind == StepKind::User).and_then(message);
        let asked = asked.or_else(|| {
            run.facts
                .iter()
                .find(|(key, _)| key == "query")
                .and_then(|(_, v)| v.text().map(str::to_owned))
        });
        let ended = finishing.map(|step| finish::of_parts(&step.parts));
        let gave_up = ended
            .as_ref()
            .is_some_and(|end| *end == answers::Finish::GaveUp || answers::is_given_up(run));
        let answer = match ended {
            Some(_) if gave_up => String::new(),
            Some(answers::Finish::Answer(value)) => shown(value),
            None if !ends_with_it => answer(run),
            _ => handed_over(run),
        };
        let query = asked.or_else(|| query.map(str::to_owned)).unwrap_or_default();
        let mut turns = Turns::of(run, &query, &answer);
        // A row of a data file says itself what it was held against.
        let input = |name: &str| {
            let known = run.facts.iter().find(|(key, _)| key.strip_prefix("inputs.") == Some(name));
            known.map(|(_, value)| value).filter(|value| !matches!(value, Value::Null))
        };
        if let Some(context) = input("context") {
            turns.returned = vec![context.clone()];
        }
        let truth = input("ground_truth").cloned().map(shown);
        let (process, scripted) = (process(run), run.scripted.clone());
        Self { query, answer, process, finish, gave_up, rival: None, truth, scripted, turns }
    }

    /// With what its task expects, where that is known.
    #[must_use]
    pub fn expecting(self, expected: Option<&Value>) -> Self {
        Self { truth: expected.cloned().map(shown).or(self.truth), ..self }
    }

    /// With the tools that its task offers, where the run itself does not say which it had: the
    /// APIs of a query, else `tools`.
    #[must_use]
    pub fn offering(mut self, task: &Task, tools: &[Offer]) -> Self {
        if !self.turns.tool_definitions.is_empty() {
            return self;
        }
        if let Some(query) = Query::of_task(task) {
            let offered = functions::of_query(&query, &Pool::default(), false);
            let offered = offered.iter().filter(|function| function.api.is_some());
            self.turns.tool_definitions = offered.map(functions::Function::to_value).collect();
        } else {
            self.turns.tool_definitions = azure::definitions(tools);
            self.turns.is_declared = !tools.is_empty();
        }
        self
    }

    /// Everything that a verdict of judges by words depends on, as one text. It stays as it is to
    /// the letter: verdicts are found by it.
    pub(super) fn canon(&self) -> String {
        let Self { query, answer, process, finish, gave_up, rival, .. } = self;
        let rival =
            rival.as_ref().map(|rival| format!("\0{}\0{}", rival.answer, rival.process.join("\n")));
        let rival = rival.unwrap_or_default();
        format!("{}\0{}\0{}\0{finish:?} {gave_up}{rival}", query, answer, process.join("\n"))
    }
}

pub(super) fn is_finish(step: &Step) -> bool {
    step.kind == StepKind::ToolCall && step.title.as_deref() == Some("Finish")
}

/// The answer of a run that ends with `Finish`, where it stands elsewhere. What was said last is a
/// thought there, and no answer, but of a query whose run has it for its answer.
fn handed_over(run: &Run) -> String {
    let counts = |source: &str| source == LAST_MESSAGE || !in_last_message(source);
    let answer = run.answer.as_ref().filter(|answer| counts(&answer.source));
    answer.map(|answer| shown(answer.value.clone())).unwrap_or_default()
}

/// The last message; an answer that stands elsewhere is added to it.
fn answer(run: &Run) -> String {
    let said =
        run.steps.iter().rev().find(|step| step.kind == StepKind::Assistant).and_then(message);
    let is_said = |value: &Value| {
        let said = said.as_deref().map(str::trim);
        value.text().is_some_and(|text| said == Some(text.trim()))
    };
    let elsewhere =
        run.answer.as_ref().filter(|answer| said.is_none() || !in_last_message(&answer.source));
    let elsewhere = elsewhere.filter(|answer| !is_said(&answer.value));
    let parts: Vec<String> =
        said.into_iter().chain(elsewhere.map(|answer| shown(answer.value.clone()))).collect();
    parts.join("\n\n")
}

fn in_last_message(source: &str) -> bool {
    source.starts_with("last ") || source.starts_with('<')
}

fn message(step: &Step) -> Option<String> {
    let text: Vec<String> = step
        .parts
        .iter()
        .filter(|part| part.label == "message")
        .map(|part| shown(part.value.clone()))
        .collect();
    Some(text.join("\n\n")).filter(|text| !text.trim().is_empty())
}

pub(super) fn shown(value: Value) -> String {
    match value {
        Value::Text(text) => text,
        other => json::write(&other, false),
    }
}

fn process(run: &Run) -> Vec<String> {
    let mut lines = Vec::new();
    for most in PIECES {
        lines = run.steps.iter().enumerate().map(|(at, step)| line(at + 1, step, most)).collect();
        if lines.iter().map(String::len).sum::<usize>() <= MOST {
            return lines;
        }
    }
    // So many steps that even short they are too long: the beginning and the end are shown.
    let (mut size, mut kept) = (0, 0);
    while kept < lines.len() / 2 && size < MOST {
        size += lines[kept].len() + lines[lines.len() - 1 - kept].len();
        kept += 1;
    }
    let left_out = lines.len() - 2 * kept;
    let note =
        json::write(&Value::Text(format!("{left_out} steps in the middle are left out")), false);
    lines.splice(kept..lines.len() - kept, [note]);
    lines
}

fn line(number: usize, step: &Step, most: usize) -> String {
    let mut entries = vec![("step".into(), Value::Number(number.to_string()))];
    let by = match step.kind {
        StepKind::User => "person",
        StepKind::Assistant => "assistant",
        StepKind::System => "instructions",
        StepKind::ToolCall => "tool call",
        StepKind::Program => "program",
        StepKind::Artifact => "artifact",
        StepKind::Error => "error",
        StepKind::Unknown => "unknown",
    };
    entries.push(("kind".into(), by.into()));
    entries.extend(step.title.as_deref().map(|title| ("name".into(), title.into())));
    entries
        .extend(step.parts.iter().map(|part| (part.label.as_str().into(), cut(&part.value, most))));
    if step.failed == Some(true) {
        entries.push(("failed".into(), Value::Bool(true)));
    }
    json::write(&Value::Map(entries), false)
}

/// How long a piece is, in bytes.
pub(super) fn length(value: &Value) -> usize {
    match value {
        Value::Text(text) => text.len(),
        other => json::length(other, false),
    }
}

/// A piece, or as much of its text as is shown.
pub(super) fn cut(value: &Value, most: usize) -> Value {
    let text = shown(value.clone());
    let count = text.chars().count();
    if count <= most {
        return value.clone();
    }
    let kept: String = text.chars().take(most).collect();
    Value::Text(format!("{kept} … ({} more characters are left out)", count - most))
}
