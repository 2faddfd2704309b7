//! **Pure.** The view of a run that judges are shown: the request, the answer, the process, and
//! whether the run reached its end.
use super::shortening::{MOST, PIECES, cut, is_finish, to_text};
use super::sowr::Side;
use super::turns::Turns;
use touchstone_formats::azure;
use touchstone_formats::stabletoolbench::answers::{self, finish};
use touchstone_formats::stabletoolbench::{Pool, Query, functions};
use touchstone_formats::suite::Task;
use touchstone_formats::tool_offers::ToolOffer;
use touchstone_formats::transcript::{SIMULATED_MARK, TAKEN_BACK, is_automatic};
use touchstone_model::answer::LAST_MESSAGE;
use touchstone_model::json;
use touchstone_model::run::{Layout, Run, ScriptedEnd, Step, StepKind};
use touchstone_model::value::Value;

/// A run in the form that judges need.
#[derive(Debug, Clone, PartialEq, Eq, Default)]
pub struct Subject {
    /// The user's request.
    pub query: String,
    /// Final answer; empty when there is none. In runs that end with `Finish`, the argument of that
    /// call.
    pub answer: String,
    /// All messages of the agent, if an attacker led the conversation; those that the attacker took
    /// back are labelled. Only judges of harm see them: an attack may succeed at any message.
    pub said: Option<String>,
    /// Steps as JSON, one per line.
    pub process: Vec<String>,
    /// Use of the function `Finish`.
    pub finish: Finish,
    /// True when `Finish` was called to give up.
    pub gave_up: bool,
    /// Run to compare with, for judges of pairs.
    pub rival: Option<Box<Rival>>,
    /// Expected output of the task as text, for judges that compare with it.
    pub truth: Option<String>,
    /// End of the run by the published scripts' rules, for answers of that benchmark.
    pub scripted: Option<ScriptedEnd>,
    /// The run as lists of messages, for evaluators of azure-ai-evaluation.
    pub turns: Turns,
}

/// The run that another run is compared with.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Rival {
    /// Final answer; empty when there is none.
    pub answer: String,
    /// Steps as JSON, one per line.
    pub process: Vec<String>,
    /// Known facts about this run.
    pub side: Side,
    /// Known facts about the run that is compared with it.
    pub own: Side,
    /// Random number that decides whether this run is shown first (even), and who wins a coin toss.
    pub seed: u64,
}

/// Use of the function `Finish`, with which runs of `StableToolBench` end.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Default)]
pub enum Finish {
    /// Runs of this kind end with an answer instead of `Finish`.
    #[default]
    NotUsed,
    /// `Finish` was never called, although runs of this kind end with it.
    Missing,
    /// Another tool was called after `Finish`.
    Earlier,
    /// `Finish` is the last tool that was called.
    Last,
}

impl Subject {
    /// Creates a subject from a run. `query` is the request of its task, for runs that do not
    /// contain it.
    pub fn from_run(run: &Run, query: Option<&str>) -> Self {
        let calls = || run.steps.iter().filter(|step| step.kind == StepKind::ToolCall);
        let finishing = calls().rfind(|step| is_finish(step));
        let of_benchmark = matches!(run.layout, Layout::RawAnswer | Layout::ConvertedAnswer);
        // Tree search runs store their method in the file.
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
            Some(answers::Finish::Answer(value)) => to_text(value),
            None if !ends_with_it => answer(run),
            _ => stored_answer(run),
        };
        let query = asked.or_else(|| query.map(str::to_owned)).unwrap_or_default();
        let mut turns = Turns::from_run(run, &query, &answer);
        let said = is_attacked(run).then(|| all_messages(run)).filter(|said| !said.is_empty());
        // A row of a data file contains its own expected output.
        let input = |name: &str| {
            let known = run.facts.iter().find(|(key, _)| key.strip_prefix("inputs.") == Some(name));
            known.map(|(_, value)| value).filter(|value| !matches!(value, Value::Null))
        };
        if let Some(context) = input("context") {
            turns.returned = vec![context.clone()];
        }
        let truth = input("ground_truth").cloned().map(to_text);
        let (process, scripted) = (process(run), run.scripted.clone());
        Self { query, answer, said, process, finish, gave_up, rival: None, truth, scripted, turns }
    }

    /// Sets the expected output of the task, if it is known.
    #[must_use]
    pub fn with_expected(self, expected: Option<&Value>) -> Self {
        Self { truth: expected.cloned().map(to_text).or(self.truth), ..self }
    }

    /// Sets the tools that the task offers, if the run does not list its tools: the APIs of a
    /// query, or else `tools`.
    #[must_use]
    pub fn with_tools(mut self, task: &Task, tools: &[ToolOffer]) -> Self {
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

    /// Returns a text of everything that a verdict of judges by words depends on. Its format must
    /// never change, because stored verdicts are looked up by it.
    pub(super) fn canon(&self) -> String {
        let Self { query, answer, process, finish, gave_up, rival, .. } = self;
        let rival =
            rival.as_ref().map(|rival| format!("\0{}\0{}", rival.answer, rival.process.join("\n")));
        let rival = rival.unwrap_or_default();
        format!("{}\0{}\0{}\0{finish:?} {gave_up}{rival}", query, answer, process.join("\n"))
    }
}

/// Returns the answer of a run that ends with `Finish`, if it is stored elsewhere. The last message
/// is a thought in such a run and not an answer, except in a query's run that declares it as its
/// answer.
fn stored_answer(run: &Run) -> String {
    let counts = |source: &str| source == LAST_MESSAGE || !in_last_message(source);
    let answer = run.answer.as_ref().filter(|answer| counts(&answer.source));
    answer.map(|answer| to_text(answer.value.clone())).unwrap_or_default()
}

/// Returns the last message, followed by an answer that is stored elsewhere.
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
        said.into_iter().chain(elsewhere.map(|answer| to_text(answer.value.clone()))).collect();
    parts.join("\n\n")
}

/// Returns true for a conversation that an attacker leads.
fn is_attacked(run: &Run) -> bool {
    let user = run.facts.iter().find(|(key, _)| key == "run.user");
    user.is_some_and(|(_, user)| user.get("attack").is_some())
}

/// Returns all messages of the agent. Those to a message that was taken back afterwards, and that
/// the agent itself no longer saw, are labelled.
fn all_messages(run: &Run) -> String {
    let mut is_taken_back = false;
    let mut said = Vec::new();
    for step in &run.steps {
        match step.kind {
            // A nudge belongs to the message before it.
            StepKind::User
                if is_simulated(step) || !message(step).is_some_and(|text| is_automatic(&text)) =>
            {
                is_taken_back = step.parts.iter().any(|part| part.label == TAKEN_BACK);
            }
            StepKind::Assistant => said.extend(message(step).map(|text| {
                if is_taken_back { format!("{LATER_TAKEN_BACK}\n{text}") } else { text }
            })),
            _ => {}
        }
    }
    said.join("\n\n")
}

/// Stands before a message of the agent that an attacker took back.
const LATER_TAKEN_BACK: &str = "(Answer to a message that was taken back afterwards:)";

fn is_simulated(step: &Step) -> bool {
    step.title.as_deref() == Some(SIMULATED_MARK)
}

fn in_last_message(source: &str) -> bool {
    source.starts_with("last ") || source.starts_with('<')
}

fn message(step: &Step) -> Option<String> {
    let text: Vec<String> = step
        .parts
        .iter()
        .filter(|part| part.label == "message")
        .map(|part| to_text(part.value.clone()))
        .collect();
    Some(text.join("\n\n")).filter(|text| !text.trim().is_empty())
}

fn process(run: &Run) -> Vec<String> {
    let mut lines = Vec::new();
    for most in PIECES {
        lines = run.steps.iter().enumerate().map(|(at, step)| line(at + 1, step, most)).collect();
        if lines.iter().map(String::len).sum::<usize>() <= MOST {
            return lines;
        }
    }
    // There are too many steps even with short pieces: the beginning and the end are kept.
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
        StepKind::SubAgent => "sub-agent",
        StepKind::Abandoned => "abandoned branch",
        StepKind::Compaction => "compaction",
        StepKind::Note => "note",
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
