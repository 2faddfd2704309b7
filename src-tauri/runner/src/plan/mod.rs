//! **Pure.** Plan of a launch: compares the requested runs with the files on disk and decides the
//! next step of each, with a reason. Decides everything and executes nothing; the caller reads the
//! files and takes the locks.
mod estimate;
mod glob;
mod identity;
mod matrix;

pub use estimate::{Past, estimate, with_free};
pub use glob::{HOW_PATTERNS_WORK, Patterns};
pub use matrix::{Matrix, MatrixSpec, Named, Shard, Slot, matrix, next_fork};

use super::script::{End, TranscriptWriter};
use super::strategy::Strategy;
use touchstone_api::{Act, PlannedRun};
use touchstone_formats::stabletoolbench::Query;
use touchstone_formats::system::System;
use touchstone_formats::transcript::{self, Document};
use touchstone_model::run::Layout;
use touchstone_model::value::Value;

/// State of a run on disk.
#[derive(Debug, Clone, PartialEq, Default)]
pub struct OnDisk {
    /// File of the run.
    pub file: File,
    /// Description of the process that holds its lock.
    pub locked_by: Option<String>,
}

/// Message if a user message is sent to a search run.
pub const NO_MESSAGE: &str =
    "A search takes no messages. Fork the run at a step instead; the fork is a conversation.";

/// Message for a run that a user continued: it is not run again, and statistics leave it out.
const CONTINUED: &str = "It is complete. It received follow-up messages, so statistics exclude it. Run it again from the start to count it.";

impl OnDisk {
    /// Returns true if the run searches for its answer by a method.
    pub fn searches(&self) -> bool {
        matches!(&self.file, File::Read(file) if file.way.method.is_some())
    }

    /// Returns true if the file holds a fork.
    pub fn is_fork(&self) -> bool {
        matches!(&self.file, File::Read(file) if file.forked)
    }

    /// Returns the model that plays the user according to the file.
    pub fn user_model(&self) -> Option<&str> {
        match &self.file {
            File::Read(file) => file.user.as_ref().map(|(model, _)| model.as_str()),
            _ => None,
        }
    }
}

/// File of a run.
#[derive(Debug, Clone, PartialEq, Default)]
pub enum File {
    /// There is no file.
    #[default]
    Absent,
    /// It cannot be read, with the reason.
    Damaged(String),
    /// A file with this name cannot exist, with the reason.
    Impossible(String),
    /// Parsed file.
    Read(Box<OnFile>),
}

/// Facts about a file that the plan needs.
#[derive(Debug, Clone, PartialEq)]
#[expect(
    clippy::struct_excessive_bools,
    reason = "each is a fact of its own that a file states or not"
)]
pub struct OnFile {
    /// Layout and end of the file.
    pub ends: Ends,
    /// First user message.
    pub first_message: Option<String>,
    /// Value of `run.system`.
    pub system: Option<String>,
    /// Value of `run.model`.
    pub model: Option<String>,
    /// True if there is any message or tool call.
    pub spoken: bool,
    /// True for a fork whose first message was changed.
    pub edited: bool,
    /// Strategy recorded in the file.
    pub way: Strategy,
    /// True for a fork.
    pub forked: bool,
    /// Number of user messages after the first.
    pub follow_ups: usize,
    /// True if there is an answer.
    pub answered: bool,
    /// True if it was started by this program and not recorded as finished.
    pub unfinished: bool,
    /// Model that plays the user, and the hash of the user it plays.
    pub user: Option<(String, String)>,
}

/// Layout and end of a file.
#[derive(Debug, Clone, PartialEq)]
pub enum Ends {
    /// Conversation.
    Talk(End),
    /// `PromptQL` reply, with or without an error.
    Reply {
        /// True if there is an error.
        failed: bool,
        /// The error, in a few words.
        why: Option<String>,
    },
}

impl File {
    /// Parses the bytes of a file.
    pub fn from_bytes(bytes: &[u8]) -> Self {
        match Document::read(bytes) {
            Err(error) => File::Damaged(error.message),
            Ok(document) => File::Read(Box::new(OnFile::from_document(document))),
        }
    }
}

impl OnFile {
    fn from_document(document: Document) -> Self {
        let error = document.get("error").filter(|error| **error != Value::Null);
        let is_talk = document.get("conversation").is_some();
        let reply = Ends::Reply { failed: error.is_some(), why: error.map(words) };
        let way = Strategy::from_transcript(&document);
        let script = TranscriptWriter::from(document);
        let facts = script.facts();
        Self {
            ends: if is_talk { Ends::Talk(script.end()) } else { reply },
            first_message: script.first_message(),
            spoken: script.is_spoken(),
            system: facts.system,
            model: facts.model,
            way,
            forked: facts.forked_from.is_some(),
            edited: facts.forked_from.is_some_and(|from| from.edited),
            follow_ups: script.follow_ups(),
            answered: script.has_answer(),
            unfinished: facts.started.is_some() && facts.finished.is_none(),
            user: script.user().model.zip(script.user().brief),
        }
    }

    /// Returns the layout of the file.
    fn layout(&self) -> Layout {
        if matches!(self.ends, Ends::Talk(_)) { Layout::ToolCalling } else { Layout::PromptQl }
    }
}

/// Returns the first words of an error.
fn words(error: &Value) -> String {
    let file =
        Value::Map(vec![("error".into(), error.clone()), ("run".into(), Value::Map(Vec::new()))]);
    let outline = transcript::outline(touchstone_model::yaml::write(&file).as_bytes());
    outline
        .ok()
        .and_then(|outline| outline.reason)
        .unwrap_or_else(|| "it does not say why".to_owned())
}

/// Permissions that the user gave.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Default)]
pub struct Rules {
    /// Start from scratch even if there is a result, which is moved aside first.
    pub start_over: bool,
    /// Continue even if the file does not match the task any more.
    pub anyway: bool,
}

/// First step to execute for a run.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Step {
    /// Start.
    Begin,
    /// Move the existing file aside, then start.
    BeginAnew,
    /// Drop the error, then continue from the conversation before it.
    DropError,
    /// Ask the model, which has a message to answer.
    Answer,
    /// Execute the open tool calls, then ask the model.
    RunCalls,
    /// Ask the model, which waits for the results of tool calls.
    AskAgain,
    /// The conversation has ended, but the run was interrupted before it was recorded as finished:
    /// nudge the model if necessary, else write the answer.
    Close,
}

/// Decision about a run.
#[derive(Debug, Clone, PartialEq)]
pub struct Decision {
    /// Action, as displayed.
    pub act: Act,
    /// First step; none if there is nothing to do.
    pub step: Option<Step>,
    /// Reason, as a sentence.
    pub why: String,
    /// Differences between file and task, if they are the reason for the refusal.
    pub differs: Option<String>,
}

impl Decision {
    /// Decision for a complete run.
    pub fn complete() -> Self {
        Self::nothing(Act::Nothing, "It is complete.")
    }

    /// Decision for a complete result of another program, in a layout that is read but never
    /// written.
    pub fn done_elsewhere(how: &str, path: &str) -> Self {
        Self::nothing(
            Act::Nothing,
            format!("{how}: {path}, a file of another program, which is never changed."),
        )
    }

    /// Decision for a run that is impossible.
    pub fn refused(why: impl Into<String>) -> Self {
        Self::nothing(Act::Refused, why)
    }

    fn owed(act: Act, step: Step, why: impl Into<String>) -> Self {
        Self { act, step: Some(step), why: why.into(), differs: None }
    }

    fn nothing(act: Act, why: impl Into<String>) -> Self {
        Self { act, step: None, why: why.into(), differs: None }
    }
}

/// Decides the next step of a run.
pub fn decide(slot: &Slot, on_disk: &OnDisk, rules: Rules) -> Decision {
    if let Some(by) = &on_disk.locked_by {
        return Decision::nothing(
            Act::Elsewhere,
            format!("Another process is working on it ({by})."),
        );
    }
    if let Some(why) = slot.why_not() {
        return Decision::nothing(Act::Refused, why);
    }
    match &on_disk.file {
        File::Absent => Decision::owed(Act::Start, Step::Begin, "It has not run yet."),
        File::Impossible(why) => {
            Decision::refused(format!("Its file cannot have this name: {why}"))
        }
        _ if rules.start_over => Decision::owed(
            Act::StartOver,
            Step::BeginAnew,
            "You asked to run it again; the old file is moved aside first.",
        ),
        File::Damaged(why) => Decision::nothing(
            Act::Damaged,
            format!(
                "The file cannot be read: {why} Running it again from the start moves the file aside first."
            ),
        ),
        File::Read(on_file) => decide_read(slot, on_file, rules),
    }
}

fn decide_read(slot: &Slot, on_file: &OnFile, rules: Rules) -> Decision {
    let wanted =
        if slot.at.system == System::PromptQl { Layout::PromptQl } else { Layout::ToolCalling };
    if on_file.layout() != wanted {
        let why = format!(
            "The file holds no run of {}. Start over, or move the file away.",
            slot.at.system
        );
        return Decision::nothing(Act::Refused, why);
    }
    let end = match &on_file.ends {
        Ends::Reply { failed: false, .. } => {
            return Decision::nothing(Act::Nothing, "It is complete.");
        }
        Ends::Reply { why, .. } => {
            let why = why.as_deref().unwrap_or("it does not say why");
            return Decision::owed(
                Act::StartOver,
                Step::BeginAnew,
                format!("It ended in an error: {why}"),
            );
        }
        Ends::Talk(end) => end,
    };
    // Without a method, a query is answered by its last message.
    let in_words = || on_file.way.method.is_none() && Query::of_task(&slot.task).is_some();
    // A search ends with a tool call, and continues by itself until then.
    let is_over = on_file.way.method.is_some() && !on_file.unfinished;
    let (step, why) = match end {
        End::OpenCalls | End::CallsDone if is_over => {
            return Decision::nothing(Act::Nothing, "It is complete.");
        }
        End::User if is_over => {
            return Decision::nothing(Act::Refused, NO_MESSAGE);
        }
        End::Assistant if on_file.unfinished => (Step::Close, "Its file is cut off.".to_owned()),
        End::Assistant
            if on_file.follow_ups > 0 && !on_file.forked && (on_file.answered || in_words()) =>
        {
            return Decision::nothing(Act::Nothing, CONTINUED);
        }
        End::Assistant if on_file.answered || in_words() => {
            return Decision::nothing(Act::Nothing, "It is complete.");
        }
        End::Assistant => {
            return Decision::nothing(
                Act::Nothing,
                "It is complete, without an answer of its own.",
            );
        }
        End::AbsentFirstMessage if slot.user().is_some() && on_file.unfinished => {
            (Step::Answer, "Its simulated user has not said anything yet.".to_owned())
        }
        End::AbsentFirstMessage if on_file.answered => {
            return Decision::nothing(Act::Nothing, "It has an answer but no messages.");
        }
        End::AbsentFirstMessage => {
            return Decision::owed(Act::StartOver, Step::BeginAnew, "It has no messages yet.");
        }
        End::Error { .. } if !on_file.spoken => {
            return Decision::owed(
                Act::StartOver,
                Step::BeginAnew,
                "It failed before the first message.",
            );
        }
        End::Error { error } => {
            (Step::DropError, format!("It ended in an error: {}", words(error)))
        }
        End::User => (Step::Answer, "It ends with an unanswered message.".to_owned()),
        End::OpenCalls => (Step::RunCalls, "It ends with a tool call that did not run.".to_owned()),
        End::CallsDone => (Step::AskAgain, "It ends with a tool result.".to_owned()),
    };
    match identity::difference(slot, on_file).filter(|_| !rules.anyway) {
        None => Decision::owed(Act::Continue, step, why),
        differs => {
            let why = "The file no longer matches the task. Start over, or continue anyway.";
            Decision { differs, ..Decision::nothing(Act::Refused, why) }
        }
    }
}

/// Run with the decision about it.
#[derive(Debug, Clone, PartialEq)]
pub struct Planned {
    /// The run.
    pub slot: Slot,
    /// The decision.
    pub decision: Decision,
}

impl Planned {
    /// Returns the row to display; `run` is its id in the list of runs.
    pub fn row(&self, run: String) -> PlannedRun {
        let (at, decision) = (&self.slot.at, self.decision.clone());
        PlannedRun {
            path: self.slot.path.clone(),
            run,
            task: at.task.clone(),
            system: at.system.to_string(),
            model: at.model.clone(),
            variation: at.variation,
            repeat: at.repeat,
            act: decision.act,
            why: decision.why,
            differs: decision.differs,
        }
    }
}

/// All decisions, in the order of the matrix.
#[derive(Debug, Clone, PartialEq, Default)]
pub struct Plan {
    /// Runs to execute.
    pub owed: Vec<Planned>,
    /// Runs that are skipped, with reasons.
    pub skipped: Vec<Planned>,
}

/// Decides the next step of every run in a matrix.
pub fn outstanding(matrix: Matrix, mut on_disk: impl FnMut(&Slot) -> OnDisk, rules: Rules) -> Plan {
    let mut plan = Plan::default();
    for mut slot in matrix.slots {
        let on_disk = on_disk(&slot);
        let decision = decide(&slot, &on_disk, rules);
        if !matches!(decision.step, Some(Step::Begin | Step::BeginAnew)) {
            slot.user_model = on_disk.user_model().map(str::to_owned);
        }
        let list = if decision.step.is_some() { &mut plan.owed } else { &mut plan.skipped };
        list.push(Planned { slot, decision });
    }
    let cannot = |(slot, why)| Planned { slot, decision: Decision::nothing(Act::Refused, why) };
    plan.skipped.extend(matrix.skipped.into_iter().map(cannot));
    plan
}

#[cfg(test)]
mod tests;
