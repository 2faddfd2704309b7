//! **Pure.** One model for every layout: what happened in a run, step by step. What is on disk is
//! read into it; how it is shown is decided elsewhere.
use crate::answer::{Ended, Place};
use crate::stabletoolbench::{Pair, answers};
use crate::value::Value;
use crate::{answer, json};
use std::borrow::Cow;

/// A run as its files tell it.
#[derive(Debug, Clone, PartialEq, Default)]
pub struct Run {
    /// What the files look like.
    pub layout: Layout,
    /// What happened, in order.
    pub steps: Vec<Step>,
    /// The answer; none when there is none, which is not an answer of `null`.
    pub answer: Option<Answer>,
    /// The conversation came to its end in words, and the file has no answer of its own: one may
    /// stand in its messages.
    pub is_sought: bool,
    /// Why the answer that stands in a message cannot be read.
    pub unread: Option<String>,
    /// Everything else the files say, key by key, unknown keys included.
    pub facts: Vec<(String, Value)>,
    /// What a reader should know, as sentences.
    pub notes: Vec<String>,
    /// Everything that was tried, when the run went more than one way; the steps tell the way that
    /// counts.
    pub tree: Option<Tree>,
    /// The file says what came of the run, and not what was done.
    pub untold: bool,
    /// The file says that the run had not ended.
    pub waits: bool,
    /// What evaluators said of it, as it is stored; the facts have every column of it.
    pub verdicts: Vec<Verdict>,
    /// The row of an evaluation as it stands in its file, so that it can be written again; `null`
    /// of anything else.
    pub row: Value,
    /// What the published scripts of `StableToolBench` look at, in answers of that benchmark.
    pub scripted: Option<ScriptedEnd>,
}

/// The end of an answer of `StableToolBench` as the published scripts see it.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct ScriptedEnd {
    /// Their mark of a call of `Finish` stands in the last tool node on the way of first children,
    /// as Python prints that node.
    pub finishes: bool,
    /// `final_answer`, to the letter.
    pub answer: Value,
}

impl Run {
    /// Takes for the answer what the task says it is, where the file has none of its own: programs
    /// other than ours do not always copy it out, and only the suite knows the tag.
    /// [`answer::place`] says where it stands.
    pub fn take_tagged(&mut self, tag: &str) {
        // A search hands its answer over by `Finish`: what is said last in one is a thought.
        if !self.is_sought || self.facts.iter().any(|(key, _)| key == "run.method") {
            return;
        }
        let last = self.steps.iter().rfind(|step| step.kind == StepKind::Assistant);
        let message =
            last.into_iter().flat_map(|step| &step.parts).filter(|part| part.label == "message");
        let texts: Vec<&str> = message.filter_map(|part| part.value.text()).collect();
        let finish = answers::last_finish(self);
        let found =
            match answer::place(tag, &texts.join("\n"), self.answer.is_some(), finish.ended()) {
                Place::AsFound => return,
                Place::Nowhere => None,
                Place::Said(found) => Some(found),
                Place::Finish => finish.answer(),
            };
        let unread = self.unread.take();
        self.notes.retain(|note| Some(note) != unread.as_ref() && note != LENIENT);
        if found.as_ref().is_some_and(|found| found.lenient) {
            self.notes.push(LENIENT.to_owned());
        }
        self.answer = found;
    }
}

/// Said of an answer that is no strict JSON.
pub(crate) const LENIENT: &str = "The answer is not strict JSON; it was read leniently.";

/// What an evaluator is stored to have said of a run. Numbers and words are as they are written.
#[derive(Debug, Clone, PartialEq, Default)]
pub struct Verdict {
    /// The name that it has in the file.
    pub evaluator: String,
    /// The number.
    pub score: Option<String>,
    /// What stands for the number or beside it: `Low`, `not applicable`.
    pub word: Option<String>,
    /// Whether that is good enough, where the file says so.
    pub passed: Option<bool>,
    /// What it had to reach, or was not to pass.
    pub threshold: Option<String>,
    /// Why; where there is no result, what went wrong.
    pub reason: Option<String>,
    /// It has no result for this run.
    pub is_silent: bool,
}

impl Verdict {
    /// It says itself that there was nothing to judge, and decides nothing besides.
    pub fn is_not_applicable(&self) -> bool {
        self.passed.is_none() && self.word.as_deref().is_some_and(says_not_applicable)
    }
}

/// What evaluators write in the place of a score where there is nothing to judge.
pub(crate) fn says_not_applicable(word: &str) -> bool {
    word.trim().eq_ignore_ascii_case("not applicable")
}

/// What a run tried, as a tree. Parents stand before their children.
#[derive(Debug, Clone, PartialEq, Default)]
pub struct Tree {
    /// All nodes; the first is the root.
    pub nodes: Vec<TreeNode>,
    /// Why the way that the steps tell was chosen, when a rule of ours chose it.
    pub chosen_by: Option<String>,
}

/// One thing that was tried.
#[derive(Debug, Clone, PartialEq, Default)]
pub struct TreeNode {
    /// Place of its parent in the list; none for the root.
    pub parent: Option<u32>,
    /// What it is.
    pub kind: TreeKind,
    /// What was thought or asked; the name of the tool for a call.
    pub text: String,
    /// Arguments of a call.
    pub input: Option<String>,
    /// What came back.
    pub output: Option<String>,
    /// What stands for how a call ended, as a few words: `Finished with an answer`, `Unknown
    /// function`. None when it worked.
    pub trouble: Option<String>,
    /// Given up: nothing follows.
    pub pruned: bool,
    /// An answer was given here.
    pub finished: bool,
    /// Place of the same thing in the steps of the run, when it is on the way that counts.
    pub step: Option<u32>,
}

/// Kinds of nodes.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Default)]
pub enum TreeKind {
    /// Where everything begins; also where a new try begins.
    #[default]
    Root,
    /// What the model said.
    Thought,
    /// A tool call.
    Call,
    /// The call that ends it.
    Finish,
}

/// What the files of a run look like.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Default)]
pub enum Layout {
    /// `conversation:` with items.
    #[default]
    ToolCalling,
    /// `output:`, `error:`, `answer:` of one `PromptQL` request.
    PromptQl,
    /// A group of `.result`, `.history`, `.api`, `.time`, `.err` files.
    BenchmarkFolder,
    /// A raw answer of `StableToolBench`: one chain after the other, or a tree.
    RawAnswer,
    /// A converted answer, one of many in its file.
    ConvertedAnswer,
    /// A verdict of a pass-rate file, one of many.
    PassRate,
    /// An evaluation of a result file, one of many.
    ResultFile,
    /// A row of what azure-ai-evaluation wrote, one of many.
    Evaluation,
}

/// One thing that happened.
#[derive(Debug, Clone, PartialEq, Default)]
pub struct Step {
    /// Turn, from 1: a user message is a turn; an assistant message with the tool calls that belong
    /// to it is one.
    pub turn: u32,
    /// What it is.
    pub kind: StepKind,
    /// Name of the tool, identifier of the artifact, key of an unknown item.
    pub title: Option<String>,
    /// Id of the tool call.
    pub call_id: Option<String>,
    /// A tool call or program: true when it failed; none when nothing came back.
    pub failed: Option<bool>,
    /// A user message that was added to drive the run on.
    pub nudge: bool,
    /// Seconds, when the file says.
    pub seconds: Option<f64>,
    /// Tokens, when the file says.
    pub tokens: Option<u64>,
    /// What it is made of, in order.
    pub parts: Vec<Part>,
}

/// Kinds of steps.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Default)]
pub enum StepKind {
    /// The person, or a nudge.
    #[default]
    User,
    /// The model.
    Assistant,
    /// Instructions before the first message.
    System,
    /// A tool call with its result.
    ToolCall,
    /// A plan or code that was run, with what came out.
    Program,
    /// Something that was stored.
    Artifact,
    /// A system error.
    Error,
    /// An item of a kind we do not know.
    Unknown,
}

/// A piece of a step.
#[derive(Debug, Clone, PartialEq, Default)]
pub struct Part {
    /// `message`, `thinking`, `plan`, `code`, `output`, `result`, `error`, or the name of a
    /// parameter of a call (`sql`).
    pub label: String,
    /// What it is written in.
    pub language: Language,
    /// Text, or any other value.
    pub value: Value,
    /// The text in the file, when the value was read out of a text (a result that is JSON). This is
    /// what is searched.
    pub raw: Option<String>,
}

/// What a text is written in.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Default)]
pub enum Language {
    /// Nothing in particular.
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
}

/// The answer of a run.
#[derive(Debug, Clone, PartialEq)]
pub struct Answer {
    /// The value.
    pub value: Value,
    /// Where it was found, as a few words.
    pub source: String,
    /// True when it is not strict JSON.
    pub lenient: bool,
}

/// How a run stands, as its files tell it.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Default)]
pub enum Standing {
    /// Ended, with an answer.
    Answered,
    /// Ended, without one.
    #[default]
    NoAnswer,
    /// Ends in a user message or a tool call: somebody has to go on.
    Waiting,
    /// Ended in a system error.
    Error,
}

/// What lists, filters and search need of a run: much cheaper to get than [`Run`], and always in
/// agreement with it.
#[derive(Debug, Clone, PartialEq, Default)]
pub struct Outline {
    /// What the files look like.
    pub layout: Layout,
    /// How it stands.
    pub standing: Standing,
    /// Why, when that needs a word: the first line of the error, what it waits for.
    pub reason: Option<String>,
    /// Assistant turns.
    pub turns: u32,
    /// Tool calls.
    pub tool_calls: u32,
    /// Tool calls that failed.
    pub failed_calls: u32,
    /// Names of the tools that were called, each once, in order of first call.
    pub tools: Vec<String>,
    /// Messages that were added to drive the run on.
    pub nudges: u32,
    /// Of these, messages that a person sent; those that are added automatically are not counted.
    pub follow_ups: u32,
    /// The run that it was copied from, when the file says.
    pub forked_from: Option<ForkOrigin>,
    /// Tokens in and out, when the file says.
    pub tokens: Option<u64>,
    /// Dollars, when the file says.
    pub cost: Option<f64>,
    /// Seconds that were spent on it, when the file says; else from its first date to its last.
    pub seconds: Option<f64>,
    /// True when the file says that it was begun, and not that it was closed: there may be more to
    /// do.
    pub unfinished: bool,
    /// System and model, when the file says (`run.system`, `run.model`).
    pub system: Option<String>,
    /// See `system`.
    pub model: Option<String>,
    /// All text that can be searched, one item after the other, each ended by a line feed.
    pub text: String,
    /// The answer; none when there is none.
    pub answer: Option<Kept>,
    /// The conversation came to its end in words, and the file has no answer of its own: one may
    /// stand in its messages.
    pub is_sought: bool,
    /// The answer that the last call of `Finish` was given; none when it was given none, or gave
    /// up.
    pub finish: Option<Kept>,
    /// Tool calls in order: the name, and whether the call failed. One without a name has an empty
    /// one.
    pub calls: Vec<(String, bool)>,
    /// What the calls do not say.
    pub told: Told,
    /// Where the last message of the model stands in `text`: its beginning and its end, in bytes.
    pub said: Option<(u32, u32)>,
    /// What evaluators said of it, as it is stored.
    pub verdicts: Vec<Verdict>,
    /// Where each item of `text` begins and which step it belongs to (none: the answer). In order;
    /// an item ends where the next begins.
    pub items: Vec<TextItem>,
}

/// The run that a fork was copied from.
#[derive(Debug, Clone, PartialEq, Eq, Default)]
pub struct ForkOrigin {
    /// Its path below the output directory.
    pub file: String,
    /// The step that was forked from, from 0, when the file says.
    pub step: Option<u32>,
}

/// What is known of what a run did beside its calls.
#[derive(Debug, Clone, PartialEq, Eq, Default)]
pub struct Told {
    /// The file does not say what was called: nothing was not called either.
    pub untold: bool,
    /// APIs that were called, where the file names them instead of functions.
    pub apis: Option<Vec<Pair>>,
    /// Whether the last call of `Finish` gave up; none when nobody says.
    pub gave_up: Option<bool>,
}

impl Outline {
    /// How the last call of `Finish` ended the run.
    pub fn ended(&self) -> Ended {
        match (&self.finish, self.told.gave_up) {
            (_, Some(true)) => Ended::GaveUp,
            (Some(_), _) => Ended::Answered,
            _ => Ended::Otherwise,
        }
    }

    /// The last message of the model; empty when there is none.
    pub fn said(&self) -> &str {
        let said = self.said.and_then(|(from, to)| self.text.get(from as usize..to as usize));
        said.unwrap_or_default()
    }
}

/// An answer as it is kept to be scored.
#[derive(Debug, Clone, PartialEq, Eq, Default)]
pub struct Kept {
    /// As JSON that reads back, with numbers as written; none when that is longer than
    /// [`LONGEST_ANSWER`].
    pub json: Option<String>,
    /// True when it is not strict JSON.
    pub lenient: bool,
}

impl Kept {
    /// An answer that was found in a message.
    pub fn of(answer: &Answer) -> Self {
        Kept { json: json::write_within(&answer.value, LONGEST_ANSWER), lenient: answer.lenient }
    }

    /// The answer; none when it was too long to be kept.
    pub fn value(&self) -> Option<Value> {
        json::read_back(self.json.as_deref()?).ok()
    }

    /// As [`json::write`] writes it, with numbers that JSON does not know as text: what names an
    /// answer, however it is kept.
    pub fn plain(&self) -> Option<Cow<'_, str>> {
        let json = self.json.as_deref()?;
        let may_differ = json.contains("NaN") || json.contains("Infinity");
        let value = may_differ.then(|| self.value()).flatten();
        Some(value.map_or(Cow::Borrowed(json), |value| Cow::Owned(json::write(&value, false))))
    }
}

/// Longer answers, in bytes of JSON, are not kept in an [`Outline`].
pub const LONGEST_ANSWER: usize = 8 << 20;

/// A piece of searchable text.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct TextItem {
    /// Step, from 0; none for the answer.
    pub step: Option<u32>,
    /// Where it begins in [`Outline::text`], in bytes.
    pub start: u32,
}
