//! **Pure.** The data model of a run, common to all file layouts: the events of a run, step by
//! step. Files are read into it; display is decided elsewhere.
use crate::json;
use crate::value::Value;
use serde::{Deserialize, Serialize};
use std::borrow::Cow;

/// A run as recorded in its files.
#[derive(Debug, Clone, PartialEq, Default)]
pub struct Run {
    /// Layout of the files.
    pub layout: Layout,
    /// Steps in order.
    pub steps: Vec<Step>,
    /// Answer. `None` means that there is none, which differs from an answer of `null`.
    pub answer: Option<Answer>,
    /// True if the conversation ended with a message and the file stores no answer: the answer may
    /// be in its messages.
    pub is_sought: bool,
    /// Explanation why the answer in a message cannot be parsed.
    pub unread: Option<String>,
    /// All other content of the files, by key, including unknown keys.
    pub facts: Vec<(String, Value)>,
    /// Remarks for the reader, as sentences.
    pub notes: Vec<String>,
    /// All attempts, if the run tried more than one path; the steps show the path that counts.
    pub tree: Option<Tree>,
    /// True if the file records the outcome of the run, but not its steps.
    pub untold: bool,
    /// True if the file states that the run had not ended.
    pub waits: bool,
    /// Verdicts of evaluators, as stored; the facts hold all of their columns.
    pub verdicts: Vec<Verdict>,
    /// Row of an evaluation as written in its file, so that it can be written again; `null` in
    /// other layouts.
    pub row: Value,
    /// Data that the published scripts of `StableToolBench` use, for answers of that benchmark.
    pub scripted: Option<ScriptedEnd>,
    /// Data of a run that another tool recorded.
    pub imported: Option<Box<ImportedSummary>>,
}

/// Data of a run that another tool recorded, apart from its steps, its answer and its verdicts.
/// `None` is what the file does not say.
#[derive(Debug, Clone, PartialEq, Default)]
pub struct ImportedSummary {
    /// End of the run.
    pub end: RunEnd,
    /// Text of the error or of the limit.
    pub error: Option<String>,
    /// Expected answer: text or a list of texts.
    pub expected: Option<Value>,
    /// Tokens of the run's own model calls.
    pub tokens: Option<u64>,
    /// Cost in US dollars.
    pub cost: Option<f64>,
    /// Duration in seconds.
    pub seconds: Option<f64>,
    /// Start, in seconds since 1970.
    pub started: Option<f64>,
    /// Names in the file.
    pub names: RunNames,
}

/// Names of a run; `None` where it has none.
#[derive(Debug, Clone, PartialEq, Eq, Default)]
pub struct RunNames {
    /// Task.
    pub task: Option<String>,
    /// System.
    pub system: Option<String>,
    /// Model.
    pub model: Option<String>,
}

/// End of a run as another tool recorded it.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Default)]
pub enum RunEnd {
    /// Ended by itself.
    #[default]
    Complete,
    /// Ended in an error.
    Error,
    /// Stopped by a limit that the tool names.
    Limit,
    /// Has not ended, or its end is not recorded.
    Unfinished,
}

/// End of an answer of `StableToolBench` as the published scripts interpret it.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct ScriptedEnd {
    /// True if the scripts' marker for a call of `Finish` occurs in the last tool node on the path
    /// of first children, in the form in which Python prints that node.
    pub finishes: bool,
    /// `final_answer`, unchanged.
    pub answer: Value,
}

/// Note about an answer that is not strict JSON.
pub const LENIENT: &str = "The answer is not strict JSON; it was read leniently.";

/// Stored verdict of an evaluator on a run. Numbers and words are kept as written.
#[derive(Debug, Clone, PartialEq, Default, Serialize, Deserialize)]
pub struct Verdict {
    /// Name of the evaluator in the file.
    pub evaluator: String,
    /// Score.
    pub score: Option<String>,
    /// Word in place of the score or next to it: `Low`, `not applicable`.
    pub word: Option<String>,
    /// True if passed; `None` if the file does not state it.
    pub passed: Option<bool>,
    /// Threshold that the score must reach, or must not exceed.
    pub threshold: Option<String>,
    /// Reason of the verdict; without a result, the error.
    pub reason: Option<String>,
    /// True if the evaluator has no result for this run.
    pub is_silent: bool,
}

impl Verdict {
    /// Returns true if the verdict is "not applicable", and neither passed nor failed.
    pub fn is_not_applicable(&self) -> bool {
        self.passed.is_none() && self.word.as_deref().is_some_and(says_not_applicable)
    }
}

/// Returns true for the word that evaluators write in place of a score when there was nothing to
/// judge.
pub fn says_not_applicable(word: &str) -> bool {
    word.trim().eq_ignore_ascii_case("not applicable")
}

/// Search tree of a run. Parents come before their children.
#[derive(Debug, Clone, PartialEq, Default)]
pub struct Tree {
    /// All nodes; the first is the root.
    pub nodes: Vec<TreeNode>,
    /// Reason for the choice of the path in the steps, if a rule of Touchstone chose it.
    pub chosen_by: Option<String>,
}

/// A node of the search tree: one attempt.
#[derive(Debug, Clone, PartialEq, Default)]
pub struct TreeNode {
    /// Index of its parent; `None` for the root.
    pub parent: Option<u32>,
    /// Kind of the node.
    pub kind: TreeKind,
    /// Text of a thought or message; for a call, the name of the tool.
    pub text: String,
    /// Arguments of a call.
    pub input: Option<String>,
    /// Result of a call.
    pub output: Option<String>,
    /// Outcome of a call in a few words: `Finished with an answer`, `Unknown function`. `None` if
    /// the call worked.
    pub trouble: Option<String>,
    /// True if the branch was abandoned here.
    pub pruned: bool,
    /// True if an answer was given here.
    pub finished: bool,
    /// Index of the corresponding step of the run, if the node is on the path that counts.
    pub step: Option<u32>,
}

/// Kinds of nodes.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Default)]
pub enum TreeKind {
    /// Start of the run, or start of a new attempt.
    #[default]
    Root,
    /// A message of the model.
    Thought,
    /// A tool call.
    Call,
    /// The call that ends an attempt.
    Finish,
}

/// Layout of a run's files.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Default)]
pub enum Layout {
    /// `conversation:` with items.
    #[default]
    ToolCalling,
    /// `output:`, `error:`, `answer:` of one `PromptQL` request.
    PromptQl,
    /// A group of `.result`, `.history`, `.api`, `.time`, `.err` files.
    BenchmarkFolder,
    /// A raw answer of `StableToolBench`: several chains in sequence, or a tree.
    RawAnswer,
    /// A converted answer, one of many in its file.
    ConvertedAnswer,
    /// A verdict of a pass-rate file, one of many.
    PassRate,
    /// An evaluation of a result file, one of many.
    ResultFile,
    /// A row written by azure-ai-evaluation, one of many.
    Evaluation,
    /// A row that Touchstone evaluated, one of many.
    EvaluatedRow,
    /// A result file of another tool, with the name of its format.
    Imported(&'static str),
}

/// One event in a run.
#[derive(Debug, Clone, PartialEq, Default)]
pub struct Step {
    /// Turn, from 1: each user message is a turn, and so is each assistant message with its tool
    /// calls.
    pub turn: u32,
    /// Kind of the step.
    pub kind: StepKind,
    /// Name of the tool, identifier of the artifact, key of an unknown item.
    pub title: Option<String>,
    /// Id of the tool call.
    pub call_id: Option<String>,
    /// For a tool call or program: true if it failed; `None` if there is no result.
    pub failed: Option<bool>,
    /// True for a user message that was added to make the run continue.
    pub nudge: bool,
    /// Duration in seconds, if recorded.
    pub seconds: Option<f64>,
    /// Number of tokens, if recorded.
    pub tokens: Option<u64>,
    /// Model that the record of the step names. On the main path only if it is not the run's.
    pub model: Option<String>,
    /// Nesting level: 0 on the main path; the steps of a sub-agent or of an abandoned branch are one
    /// level below the step that opens it.
    pub depth: u32,
    /// Parts in order.
    pub parts: Vec<Part>,
}

/// Kinds of steps.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Default)]
pub enum StepKind {
    /// A message of the user, or a nudge.
    #[default]
    User,
    /// A message of the model.
    Assistant,
    /// Instructions before the first message.
    System,
    /// A tool call with its result.
    ToolCall,
    /// A plan or code that was run, with its output.
    Program,
    /// A stored artifact.
    Artifact,
    /// A system error.
    Error,
    /// Start of a sub-agent; its steps follow one level deeper.
    SubAgent,
    /// Start of a branch that was abandoned; its steps follow one level deeper.
    Abandoned,
    /// Place where the conversation was compacted, with the summary.
    Compaction,
    /// Remark of the tool that recorded the run.
    Note,
    /// An item of unknown kind.
    Unknown,
}

/// One piece of a step.
#[derive(Debug, Clone, PartialEq, Default)]
pub struct Part {
    /// `message`, `thinking`, `plan`, `code`, `output`, `result`, `error`, or the name of a
    /// parameter of a call (`sql`).
    pub label: String,
    /// Language of the value.
    pub language: Language,
    /// Text, or any other value.
    pub value: Value,
    /// Text in the file, if the value was parsed from text (a result that is JSON). Search uses
    /// this text.
    pub raw: Option<String>,
    /// Place in a tool call, where the reader knows it.
    pub call_role: Option<CallRole>,
}

/// Place of a part in a tool call.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum CallRole {
    /// A parameter.
    Param,
    /// The result.
    Result,
    /// Neither.
    Other,
}

impl Part {
    /// Returns true for an image, sound or file. In a call it came with the result.
    pub fn is_media(&self) -> bool {
        self.language == Language::Media
    }
}

/// Language of a text.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Default)]
pub enum Language {
    /// No particular language.
    #[default]
    Plain,
    /// Markdown.
    Markdown,
    /// SQL.
    Sql,
    /// Python.
    Python,
    /// JSON.
    Json,
    /// YAML.
    Yaml,
    /// Description of an image, sound or file, whose content can be read.
    Media,
}

/// The answer of a run.
#[derive(Debug, Clone, PartialEq)]
pub struct Answer {
    /// Value of the answer.
    pub value: Value,
    /// Location where it was found, in a few words.
    pub source: String,
    /// True if it is not strict JSON.
    pub lenient: bool,
}

/// State of a run, according to its files.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Default, Serialize, Deserialize)]
pub enum RecordedState {
    /// Ended with an answer.
    Answered,
    /// Ended without an answer.
    #[default]
    NoAnswer,
    /// Ends in a user message or a tool call: the run can be continued.
    Waiting,
    /// Ended in a system error.
    Error,
}

/// Summary of a run for lists, filters and search: much cheaper to read than [`Run`], and always
/// consistent with it. As serialized it has no layout, no text, and nothing that refers to its text.
#[derive(Debug, Clone, PartialEq, Default, Serialize, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct Outline {
    /// Layout of the files.
    #[serde(skip)]
    pub layout: Layout,
    /// State of the run.
    pub standing: RecordedState,
    /// Reason of the state where it needs one: the first line of the error, or the missing event.
    pub reason: Option<String>,
    /// Number of assistant turns.
    pub turns: u32,
    /// Number of tool calls.
    pub tool_calls: u32,
    /// Number of failed tool calls and programs.
    pub failed_calls: u32,
    /// Distinct names of the tools that were called, in order of first call.
    pub tools: Vec<String>,
    /// Number of messages that were added to make the run continue.
    pub nudges: u32,
    /// Number of these that a person sent, not counting automatic ones.
    pub follow_ups: u32,
    /// Run that this one was forked from, if recorded.
    pub forked_from: Option<ForkOrigin>,
    /// Input and output tokens, if recorded.
    pub tokens: Option<u64>,
    /// Cost in dollars, if recorded.
    #[serde(with = "exact_number")]
    pub cost: Option<f64>,
    /// Effort of the simulated user, if there is one.
    pub user: Option<UserEffort>,
    /// Duration in seconds, if recorded; else the time from the first date to the last.
    #[serde(with = "exact_number")]
    pub seconds: Option<f64>,
    /// Start in seconds since 1970, if recorded.
    #[serde(with = "exact_number")]
    pub started: Option<f64>,
    /// Commit of the system or the folder, if recorded; shortened where it is a whole hash.
    pub commit: Option<String>,
    /// Tags, if recorded.
    pub tags: Vec<String>,
    /// Short facts that are no map or list, by key, as the file writes them.
    pub facts: Vec<(String, String)>,
    /// Expected answer, if the file of another tool records it.
    pub expected: Option<StoredAnswer>,
    /// True if the file has a start date but no end date, which means that the run may continue.
    pub unfinished: bool,
    /// System, if recorded (`run.system`).
    pub system: Option<String>,
    /// Model, if recorded (`run.model`).
    pub model: Option<String>,
    /// All searchable text, item by item, each ended by a line feed.
    #[serde(skip)]
    pub text: String,
    /// Answer; `None` if there is none.
    pub answer: Option<StoredAnswer>,
    /// True if the conversation ended with a message and the file stores no answer: the answer may
    /// be in its messages.
    pub is_sought: bool,
    /// Answer in the last call of `Finish`; `None` if it has none or gave up.
    pub finish: Option<StoredAnswer>,
    /// Tool calls in order: the name (empty if unknown), and true if the call failed.
    pub calls: Vec<(String, bool)>,
    /// Information about the actions of the run that the calls do not give.
    pub told: CallInfo,
    /// Start and end byte of the model's last message in `text`.
    #[serde(skip)]
    pub said: Option<(u32, u32)>,
    /// Verdicts of evaluators, as stored.
    pub verdicts: Vec<Verdict>,
    /// Start of each item of `text` and its step (`None`: the answer). In order; an item ends where
    /// the next begins.
    #[serde(skip)]
    pub items: Vec<TextItem>,
    /// Number of steps, without those of abandoned branches.
    pub step_count: u32,
    /// Steps that questions are about, in the form in which the reader of transcripts encodes them.
    #[serde(skip)]
    pub steps: Vec<u8>,
}

/// Run that a fork was copied from.
#[derive(Debug, Clone, PartialEq, Eq, Default, Serialize, Deserialize)]
pub struct ForkOrigin {
    /// Path of that run below the output directory.
    pub file: String,
    /// Step at which it was forked, from 0, if recorded.
    pub step: Option<u32>,
}

/// Information about the actions of a run in addition to its calls.
#[derive(Debug, Clone, PartialEq, Eq, Default, Serialize, Deserialize)]
pub struct CallInfo {
    /// True if the file does not record calls: the absence of a call then means nothing.
    pub untold: bool,
    /// APIs that were called, where the file records them instead of functions.
    pub apis: Option<Vec<ApiName>>,
    /// True if the last call of `Finish` gave up; `None` if unknown.
    pub gave_up: Option<bool>,
    /// What the simulated user says of the conversation; `None` if there is none, or if the
    /// conversation has not ended.
    pub goal: Option<GoalVerdict>,
}

/// Names of a tool and one of its APIs, as in the files.
#[derive(Debug, Clone, PartialEq, Eq, Hash, PartialOrd, Ord, Default, Serialize, Deserialize)]
pub struct ApiName {
    /// `tool_name`.
    pub tool: String,
    /// `api_name`.
    pub api: String,
}

/// Verdict of a simulated user on the conversation.
#[derive(Debug, Clone, PartialEq, Eq, Default, Serialize, Deserialize)]
pub struct GoalVerdict {
    /// True if the user reached its goal.
    pub reached: bool,
    /// Reason, as the user gives it.
    pub reason: String,
}

/// Effort of a simulated user, which is not part of the effort of the system.
#[derive(Debug, Clone, PartialEq, Default, Serialize, Deserialize)]
pub struct UserEffort {
    /// Name of the model that plays the user, if recorded.
    pub model: Option<String>,
    /// Number of requests to the model that plays the user.
    pub requests: u32,
    /// Input and output tokens, if recorded.
    pub tokens: Option<u64>,
    /// Cost in dollars, if recorded.
    #[serde(with = "exact_number")]
    pub cost: Option<f64>,
}

/// Outcome of the last call of `Finish` in a run.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Default)]
pub enum FinishOutcome {
    /// Ended with an answer.
    Answered,
    /// Gave up.
    GaveUp,
    /// No such call, or one that states neither.
    #[default]
    Otherwise,
}

impl Outline {
    /// Returns the outcome of the last call of `Finish`.
    pub fn ended(&self) -> FinishOutcome {
        match (&self.finish, self.told.gave_up) {
            (_, Some(true)) => FinishOutcome::GaveUp,
            (Some(_), _) => FinishOutcome::Answered,
            _ => FinishOutcome::Otherwise,
        }
    }

    /// Returns the last message of the model; empty if there is none.
    pub fn last_message(&self) -> &str {
        let said = self.said.and_then(|(from, to)| self.text.get(from as usize..to as usize));
        said.unwrap_or_default()
    }
}

/// An answer as stored for scoring.
#[derive(Debug, Clone, PartialEq, Eq, Default, Serialize, Deserialize)]
pub struct StoredAnswer {
    /// Answer as JSON for [`json::read_back`], with numbers as written; `None` if it is longer than
    /// [`LONGEST_ANSWER`].
    pub json: Option<String>,
    /// True if it is not strict JSON.
    pub lenient: bool,
}

impl StoredAnswer {
    /// Converts an answer.
    pub fn from_answer(answer: &Answer) -> Self {
        StoredAnswer {
            json: json::write_within(&answer.value, LONGEST_ANSWER),
            lenient: answer.lenient,
        }
    }

    /// Returns the answer; `None` if it was too long to be stored.
    pub fn value(&self) -> Option<Value> {
        json::read_back(self.json.as_deref()?).ok()
    }

    /// Returns the answer as [`json::write`] formats it, with numbers that JSON does not have as
    /// text. Checksums of answers are computed from this text, which is equal for every source of
    /// the answer.
    pub fn canonical_json(&self) -> Option<Cow<'_, str>> {
        let json = self.json.as_deref()?;
        let may_differ = json.contains("NaN") || json.contains("Infinity");
        let value = may_differ.then(|| self.value()).flatten();
        Some(value.map_or(Cow::Borrowed(json), |value| Cow::Owned(json::write(&value, false))))
    }
}

/// Maximum length of an answer in an [`Outline`], in bytes of JSON.
pub const LONGEST_ANSWER: usize = 8 << 20;

/// An item of the searchable text.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct TextItem {
    /// Step, from 0; `None` for the answer.
    pub step: Option<u32>,
    /// Start byte in [`Outline::text`].
    pub start: u32,
}

/// Numbers as their bits, which every reader gets back exactly.
mod exact_number {
    use serde::{Deserialize as _, Deserializer, Serialize as _, Serializer};

    #[expect(clippy::ref_option, reason = "serde passes the field")]
    pub(super) fn serialize<S: Serializer>(number: &Option<f64>, to: S) -> Result<S::Ok, S::Error> {
        number.map(f64::to_bits).serialize(to)
    }

    pub(super) fn deserialize<'de, D: Deserializer<'de>>(from: D) -> Result<Option<f64>, D::Error> {
        Ok(Option::<u64>::deserialize(from)?.map(f64::from_bits))
    }
}
