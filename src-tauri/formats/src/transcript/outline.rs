//! **Pure.** Builds an [`Outline`] from a walk over a transcript, copying only the searchable text.
//! Owns the rules for the state of a run.
use std::collections::HashSet;

use super::reason;
use super::sink::{Head, Role, Sink};
use super::step_list::StepListBuilder;
use super::user;
use crate::stabletoolbench::{answers, names, read_api_name};
use crate::timestamps;
use touchstone_model::error::count;
use touchstone_model::json;
use touchstone_model::node::{Node, Shape, end_line};
use touchstone_model::run::{
    Answer, CallRole, ForkOrigin, ImportedSummary, LONGEST_ANSWER, Layout, Outline, Part,
    RecordedState, Run, RunEnd, Step, StepKind, StoredAnswer, TextItem, UserEffort,
};

/// Maximum bytes of the name of a commit or a tag.
const LONGEST_NAME: usize = 200;
/// Maximum number of facts that are kept, and bytes of their keys and values.
const MOST_FACTS: usize = 60;
const LONGEST_KEY: usize = 100;
const LONGEST_FACT: usize = 300;

/// Builder of an outline.
#[expect(clippy::struct_excessive_bools, reason = "each is a fact of its own")]
#[derive(Debug, Default)]
pub(crate) struct OutlineBuilder {
    outline: Outline,
    steps: u32,
    listed: StepListBuilder,
    /// Last step that counts for the state of the run.
    last: Option<(StepKind, Option<bool>)>,
    /// Reason of the failure, from the last error.
    error: Option<String>,
    /// Reason for the missing answer, as given by the file.
    reason: Option<String>,
    /// Explanation why the answer in a message cannot be parsed.
    unread: Option<String>,
    /// True while the parts of an error are reported.
    in_error: bool,
    /// Set while the parts of an assistant message are reported; true once its text has begun.
    in_message: Option<bool>,
    failed: bool,
    /// Names of tools.
    tools: HashSet<String>,
    last_turn: u32,
    /// Offset of the name of the last called tool in the text.
    last_tool: Option<usize>,
    /// Set while the parts of a call are reported that names the function it stands for: the index
    /// of the call.
    stands_for_another: Option<usize>,
    /// True while the parts of a call of `Finish` are reported.
    in_finish: bool,
    /// Arguments of the last call of `Finish`.
    finishing: answers::finish::FinishArguments,
    answered: bool,
    /// True if the file has a start date, and for `closed` an end date, in any format.
    begun: bool,
    closed: bool,
    started: Option<f64>,
    finished: Option<f64>,
    /// True if the run was made by a search method, which may end with a tool call.
    searched: bool,
    /// True while the parts of a message are reported that is not the first of its kind.
    in_later_message: bool,
    /// True while the parts of a step below the main path are reported.
    is_nested: bool,
    /// Number of messages with the wording of an automatic nudge, and number of nudges recorded in
    /// the file.
    nudges_seen: u32,
    nudges_told: u32,
}

impl OutlineBuilder {
    pub(crate) fn with_capacity(bytes: usize) -> Self {
        let outline = Outline { text: String::with_capacity(bytes), ..Outline::default() };
        OutlineBuilder { outline, ..OutlineBuilder::default() }
    }

    fn begin(&mut self, step: Option<u32>) {
        end_line(&mut self.outline.text);
        self.outline.items.push(TextItem { step, start: count(self.outline.text.len()) });
    }

    /// Adds a part whose text in the file differs from its value.
    fn raw_part(&mut self, label: &str, role: Role, raw: &str) {
        let start = self.outline.text.len();
        self.line(raw);
        self.listed.part(label, role, &self.outline.text, start);
    }

    fn line(&mut self, text: &str) {
        self.outline.text.push_str(text);
        end_line(&mut self.outline.text);
    }

    pub(crate) fn finish(mut self, layout: Layout) -> Outline {
        self.outline.layout = layout;
        self.outline.unfinished = self.begun && !self.closed;
        if let (None, Some(started), Some(finished)) =
            (self.outline.seconds, self.started, self.finished)
            && finished >= started
        {
            self.outline.seconds = Some(finished - started);
        }
        if layout == Layout::ToolCalling {
            // A file with a start date records the number of its nudges; in others they are
            // recognized by their wording.
            let seen = if self.begun { 0 } else { self.nudges_seen };
            let automatic = self.nudges_told.max(seen);
            self.outline.follow_ups = self.outline.nudges.saturating_sub(automatic);
        }
        // A search returns its answer by `Finish`; its last message is only a thought.
        self.outline.is_sought &= !self.searched;
        match std::mem::take(&mut self.finishing).finish() {
            answers::Finish::GaveUp => self.outline.told.gave_up = Some(true),
            end => self.outline.finish = end.answer().as_ref().map(StoredAnswer::from_answer),
        }
        (self.outline.steps, self.outline.step_count) = std::mem::take(&mut self.listed).finish();
        let (standing, reason) = self.recorded_state(layout);
        self.outline.standing = standing;
        self.outline.reason = reason;
        self.outline
    }

    /// Returns the state of the run and its reason. The state of a conversation follows from its
    /// last item; other layouts have an error, an answer, or neither.
    fn recorded_state(&self, layout: Layout) -> (RecordedState, Option<String>) {
        let ended = if self.answered { RecordedState::Answered } else { RecordedState::NoAnswer };
        if layout != Layout::ToolCalling {
            return if self.failed {
                (RecordedState::Error, self.error.clone())
            } else {
                (ended, self.reason.clone().filter(|_| !self.answered))
            };
        }
        let tool = || {
            self.last_tool
                .and_then(|start| self.reason_at(start))
                .unwrap_or_else(|| "a tool".to_owned())
        };
        let waiting = |reason: &str| (RecordedState::Waiting, Some(reason.to_owned()));
        let awaits_user = self.outline.user.is_some()
            && self.outline.told.goal.is_none()
            && self.outline.unfinished;
        match self.last {
            Some((StepKind::Assistant, _)) | None if awaits_user => {
                waiting("The simulated user has not ended the conversation.")
            }
            Some((StepKind::Error, _)) => (RecordedState::Error, self.error.clone()),
            Some((StepKind::User, _)) => waiting("Ends with an unanswered message."),
            Some((StepKind::ToolCall, Some(_))) if self.searched && self.finished.is_some() => {
                (ended, None)
            }
            Some((StepKind::ToolCall, None)) => {
                waiting(&format!("Ends with a call of {} without a result.", tool()))
            }
            Some((StepKind::ToolCall, _)) => {
                waiting(&format!("Ends with the result of {}.", tool()))
            }
            Some(_) => (ended, self.unread.clone().filter(|_| !self.answered)),
            None => (ended, (!self.answered).then(|| "The conversation is empty.".to_owned())),
        }
    }

    /// Keeps a fact that is short enough to be shown in a list.
    fn keep_fact<'t, N: Node<'t>>(&mut self, key: &str, value: N) {
        let Some(text) = value.word() else { return };
        let is_short = key.len() <= LONGEST_KEY && text.len() <= LONGEST_FACT;
        let facts = &mut self.outline.facts;
        if is_short && facts.len() < MOST_FACTS && facts.iter().all(|(known, _)| known != key) {
            facts.push((key.to_owned(), text.to_owned()));
        }
    }

    /// Returns the first line of the text from an offset.
    fn reason_at(&self, start: usize) -> Option<String> {
        reason::first_line(self.outline.text.get(start..)?)
    }

    /// Extends the range of the assistant text, from the first to the last message of a step.
    fn say(&mut self, start: usize) {
        let end = count(self.outline.text.trim_end_matches('\n').len().max(start));
        self.outline.said = match (self.in_message, self.outline.said) {
            (Some(true), Some((from, _))) => Some((from, end)),
            _ => Some((count(start), end)),
        };
        self.in_message = Some(true);
    }

    fn answered<'t, N: Node<'t>>(&mut self, value: N, lenient: bool) {
        self.answered = true;
        self.begin(None);
        value.write_words(&mut self.outline.text);
        self.outline.answer =
            Some(StoredAnswer { json: json::write_within(value, LONGEST_ANSWER), lenient });
    }

    /// Sets the name of the function that a generic call stands for.
    fn means(&mut self, call: usize, name: &str) {
        self.stands_for_another = None;
        if let Some(call) = self.outline.calls.get_mut(call).filter(|_| !name.is_empty()) {
            name.clone_into(&mut call.0);
            self.listed.rename(name);
            self.tool(name);
        }
    }

    /// Updates the gave-up flag from one part of a call of `Finish`.
    fn ends(&mut self, label: &str, said: &str) {
        let gave_up = match label {
            "return_type" => answers::finish::parse_return_type(said),
            "params" | "arguments" => match answers::finish::arguments(said) {
                answers::Finish::Answer(_) => Some(false),
                answers::Finish::GaveUp => Some(true),
                answers::Finish::Nothing => None,
            },
            _ => None,
        };
        self.outline.told.gave_up = gave_up.or(self.outline.told.gave_up);
    }

    fn tool(&mut self, name: &str) {
        if !self.tools.contains(name) {
            self.tools.insert(name.to_owned());
            self.outline.tools.push(name.to_owned());
        }
    }
}

impl<'t> Sink<'t> for OutlineBuilder {
    fn step(&mut self, head: Head<'t>) {
        self.begin(Some(self.steps));
        if self.listed.begin(self.steps, head.kind, head.depth, self.outline.text.len()) {
            self.listed.describe(head.failed, head.title);
        }
        self.steps += 1;
        self.is_nested = head.depth > 0;
        if self.is_nested {
            // What a sub-agent does is found by the search and counts for nothing else.
            (self.in_message, self.stands_for_another) = (None, None);
            (self.in_error, self.in_finish, self.in_later_message) = (false, false, false);
            if let Some(title) = head.title {
                self.line(title);
            }
            return;
        }
        if matches!(head.kind, StepKind::Assistant | StepKind::ToolCall | StepKind::Program)
            && head.turn != self.last_turn
        {
            self.last_turn = head.turn;
            self.outline.turns += 1;
        }
        let stands_for_another = head.kind == StepKind::ToolCall && head.title == Some(names::CALL);
        self.stands_for_another = stands_for_another.then_some(self.outline.calls.len());
        self.in_finish = head.kind == StepKind::ToolCall && head.title == Some(answers::FINISH);
        if self.in_finish {
            self.outline.told.gave_up = None;
            self.finishing = answers::finish::FinishArguments::default();
        }
        if matches!(head.kind, StepKind::ToolCall | StepKind::Program) {
            self.outline.failed_calls += u32::from(head.failed == Some(true));
        }
        if head.kind == StepKind::ToolCall {
            self.outline.tool_calls += 1;
            self.outline
                .calls
                .push((head.title.unwrap_or_default().to_owned(), head.failed == Some(true)));
            self.last_tool = head.title.map(|_| self.outline.text.len());
            if let Some(name) = head.title {
                self.tool(name);
            }
        }
        if let Some(title) = head.title {
            self.line(title);
        }
        self.in_message = (head.kind == StepKind::Assistant).then_some(false);
        self.in_error = head.kind == StepKind::Error;
        if self.in_error {
            self.failed = true;
            self.error = None;
        }
        if is_conversation(head.kind) {
            self.last = Some((head.kind, head.failed));
        }
        self.in_later_message = head.nudge;
        self.outline.nudges += u32::from(head.nudge);
    }

    fn part<N: Node<'t>>(&mut self, label: &str, role: Role, value: N) {
        let start = self.outline.text.len();
        value.write_words(&mut self.outline.text);
        self.listed.part(label, role, &self.outline.text, start);
        if self.is_nested {
            return;
        }
        if self.in_message.is_some() && label == "message" {
            self.say(start);
        }
        if self.in_later_message && label == "message" && is_automatic(&self.outline.text[start..])
        {
            self.in_later_message = false;
            self.nudges_seen += 1;
            self.listed.nudge();
        }
        if let Some(call) = self.stands_for_another.filter(|_| label == "name") {
            self.means(call, value.word().unwrap_or_default());
        }
        if self.in_finish {
            self.ends(label, value.word().unwrap_or_default());
            if !matches!(label, "result" | "error") {
                self.finishing.take(label, &value.to_value());
            }
        }
        if self.in_error && self.error.is_none() {
            self.error = reason::describe_error(value).or_else(|| self.reason_at(start));
        }
    }

    fn fact<N: Node<'t>>(&mut self, key: &str, value: N) {
        self.keep_fact(key, value);
        match key {
            "run.system" => self.outline.system = value.word().map(str::to_owned),
            "run.model" => self.outline.model = value.word().map(str::to_owned),
            "run.reason" => self.reason = value.word().map(str::to_owned),
            "run.method" => self.searched = true,
            "run.cost" => self.outline.cost = amount(value),
            "run.seconds" => self.outline.seconds = amount(value),
            "run.started" => {
                self.begun = value.word().is_some();
                self.started = value.word().and_then(timestamps::seconds);
                self.outline.started = self.started;
            }
            "run.finished" => {
                self.closed = value.word().is_some();
                self.finished = value.word().and_then(timestamps::seconds);
            }
            "run.nudges" => {
                let count = super::conversation::parse_u64(value)
                    .and_then(|count| u32::try_from(count).ok());
                self.nudges_told = count.unwrap_or(0);
            }
            "run.commit" | "commit" => self.outline.commit = value.word().and_then(commit),
            "run.tags" | "tags" => self.outline.tags = tags(value),
            "run.forked_from" => self.outline.forked_from = origin(value),
            "run.usage" => self.outline.tokens = tokens(value),
            "run.user" if value.shape() == Shape::Map => {
                let tokens = value.get("usage").and_then(tokens);
                self.outline.user = Some(UserEffort { tokens, ..user::effort(value) });
                self.outline.told.goal = user::goal(value);
                self.outline.verdicts = user::verdict_of_user(value).into_iter().collect();
            }
            _ => {}
        }
    }

    fn answer<N: Node<'t>>(&mut self, value: N, _source: &str) {
        self.answered(value, false);
    }

    fn answer_found(&mut self, answer: Answer) {
        self.answered(&answer.value, answer.lenient);
    }

    fn answer_missing(&mut self) {
        self.outline.is_sought = true;
    }

    fn no_answer_found(&mut self, why: Option<String>) {
        self.unread = why;
    }
}

/// Returns true if a message has the wording of an automatic nudge, including the wording of
/// earlier versions.
pub fn is_automatic(message: &str) -> bool {
    let names = message
        .trim()
        .strip_prefix("actually use the ")
        .and_then(|rest| rest.strip_suffix(" to get the answer"));
    names.is_some_and(|names| names.ends_with(" tools") || names.ends_with(" tool"))
}

/// Returns the name of a commit: of a whole hash its beginning, so that it is the same in files that
/// record a short one. Returns `None` for what is no name.
fn commit(name: &str) -> Option<String> {
    const SHORT: usize = 12;
    let (name, is_whole) = (name.trim(), |name: &str| {
        name.len() >= 40 && name.bytes().all(|byte| byte.is_ascii_hexdigit())
    });
    let is_bad = name.is_empty() || name.len() > LONGEST_NAME || name.contains(char::is_control);
    let name = if is_whole(name) { name.get(..SHORT)? } else { name };
    (!is_bad).then(|| name.to_owned())
}

/// Returns tags: a list of words, or a single one.
fn tags<'t, N: Node<'t>>(value: N) -> Vec<String> {
    const MOST: usize = 50;
    let words: Vec<&str> = match value.shape() {
        Shape::List => value.items().filter_map(N::word).collect(),
        _ => value.word().into_iter().collect(),
    };
    let is_name = |word: &&str| {
        let is_short = !word.is_empty() && word.len() <= LONGEST_NAME;
        is_short && !word.contains(char::is_control)
    };
    let words = words.into_iter().map(str::trim).filter(is_name).take(MOST);
    let mut tags: Vec<String> = words.map(str::to_owned).collect();
    tags.sort();
    tags.dedup();
    tags
}

/// Parses the origin of a fork; the file name alone is enough.
fn origin<'t, N: Node<'t>>(value: N) -> Option<ForkOrigin> {
    if value.shape() != Shape::Map {
        return value.word().map(|file| ForkOrigin { file: file.to_owned(), step: None });
    }
    let step = value
        .get("step")
        .and_then(super::conversation::parse_u64)
        .and_then(|step| u32::try_from(step).ok());
    value.get("file").and_then(N::word).map(|file| ForkOrigin { file: file.to_owned(), step })
}

/// Returns the sum of input and output tokens, including cached ones, from usages as Anthropic and
/// `OpenAI` report them; a list of usages is added up. Returns `None` if any part is unknown.
pub(crate) fn tokens<'t, N: Node<'t>>(usage: N) -> Option<u64> {
    match usage.shape() {
        Shape::Scalar(_) => super::conversation::parse_u64(usage),
        Shape::List => all_of(usage.items().map(tokens)),
        Shape::Map => {
            let given = |key: &&str| usage.get(key).is_some_and(|part| !part.is_null());
            let given = |keys: &[&'static str]| {
                keys.iter().copied().filter(|key| given(key)).collect::<Vec<_>>()
            };
            if let [total] = given(&["total_tokens"])[..] {
                return usage.get(total).and_then(super::conversation::parse_u64);
            }
            let (read, written) = (given(&TOKENS_IN), given(&TOKENS_OUT));
            if read.is_empty() && written.is_empty() {
                // Otherwise the map holds one usage per model.
                let each = usage.entries().filter(|(_, one)| one.shape() == Shape::Map);
                return all_of(each.map(|(_, one)| tokens(one)));
            }
            if read.is_empty() || written.is_empty() {
                return None;
            }
            let parts = read.into_iter().chain(written).chain(given(&TOKENS_CACHED));
            all_of(parts.map(|key| usage.get(key).and_then(super::conversation::parse_u64)))
        }
    }
}

const TOKENS_IN: [&str; 3] = ["input_tokens", "prompt_tokens", "input"];
const TOKENS_OUT: [&str; 3] = ["output_tokens", "completion_tokens", "output"];
/// Missing keys mean that no tokens were cached.
const TOKENS_CACHED: [&str; 4] = [
    "cache_creation_input_tokens",
    "cache_read_input_tokens",
    "cache_read_tokens",
    "cache_write_tokens",
];

/// Returns the sum of the parts. Returns `None` if a part is unknown or there are no parts.
fn all_of(parts: impl Iterator<Item = Option<u64>>) -> Option<u64> {
    let parts: Option<Vec<u64>> = parts.collect();
    parts?.into_iter().reduce(u64::saturating_add)
}

/// Returns an amount; `None` if it is not a number or negative.
fn amount<'t, N: Node<'t>>(value: N) -> Option<f64> {
    value.number().filter(|amount| amount.is_finite() && *amount >= 0.0)
}

/// Returns the outline of a parsed run.
pub(crate) fn of_run(run: &Run) -> Outline {
    let mut builder = OutlineBuilder::default();
    for step in &run.steps {
        builder.step(Head {
            turn: step.turn,
            kind: step.kind,
            title: step.title.as_deref(),
            call_id: None,
            failed: step.failed,
            nudge: step.nudge,
            seconds: None,
            tokens: None,
            depth: step.depth,
        });
        for (at, part) in step.parts.iter().enumerate() {
            let role = role_in_call(step, at);
            if let Some(raw) = &part.raw {
                builder.raw_part(&part.label, role, raw);
            } else {
                builder.part(&part.label, role, &part.value);
            }
        }
    }
    let apis = |key: &str| run.facts.iter().find(|(known, _)| known == key);
    let apis = ["called_apis", "system_answer.called_apis"].into_iter().find_map(apis);
    let apis = apis.filter(|_| {
        matches!(run.layout, Layout::ConvertedAnswer | Layout::PassRate | Layout::ResultFile)
    });
    let apis =
        apis.map(|(_, apis)| apis.items().iter().filter_map(read_api_name).collect::<Vec<_>>());
    builder.outline.told.untold = run.untold && apis.is_none();
    builder.outline.told.apis = apis;
    for (key, value) in &run.facts {
        builder.fact(key, value);
    }
    builder.unread.clone_from(&run.unread);
    builder.outline.is_sought = run.is_sought;
    if let Some(answer) = &run.answer {
        builder.answered(&answer.value, answer.lenient);
    }
    let mut outline = builder.finish(run.layout);
    if run.waits && outline.standing == RecordedState::NoAnswer {
        outline.standing = RecordedState::Waiting;
        outline.reason = Some("The run had not ended when this row was written.".to_owned());
    }
    outline.verdicts.clone_from(&run.verdicts);
    if let Some(imported) = &run.imported {
        apply_summary(&mut outline, imported);
    }
    outline
}

/// Returns what a part of a call is. Arguments may be called `result` as well, so where the reader
/// did not say, only the last such part of a call that ended is its result; media came with it.
fn role_in_call(step: &Step, at: usize) -> Role {
    if let Some(role) = step.parts[at].call_role {
        return match role {
            CallRole::Param => Role::Param,
            CallRole::Result => Role::Result,
            CallRole::Other => Role::Other,
        };
    }
    let is_result = |part: &Part| matches!(part.label.as_str(), "result" | "error");
    let result = step.failed.and_then(|_| step.parts.iter().rposition(is_result));
    let part = &step.parts[at];
    match result {
        _ if part.is_media() => Role::Result,
        Some(result) if at == result || at > result && part.label == "media" => Role::Result,
        Some(result) if at > result => Role::Other,
        _ => Role::Param,
    }
}

/// Applies what another tool recorded of a run: its end decides the state, not its last step.
fn apply_summary(outline: &mut Outline, imported: &ImportedSummary) {
    let ended = match outline.answer {
        Some(_) => RecordedState::Answered,
        None => RecordedState::NoAnswer,
    };
    let first_line = imported.error.as_deref().and_then(reason::first_line);
    (outline.standing, outline.reason) = match imported.end {
        RunEnd::Complete => (ended, None),
        RunEnd::Error => (RecordedState::Error, first_line),
        RunEnd::Limit => {
            let limit = first_line.map_or_else(String::new, |limit| format!(": {limit}"));
            (ended, Some(format!("Stopped by a limit{limit}")))
        }
        RunEnd::Unfinished => (RecordedState::Waiting, Some("The run has not ended.".to_owned())),
    };
    outline.tokens = imported.tokens;
    outline.cost = imported.cost;
    outline.seconds = imported.seconds;
    outline.started = imported.started;
    outline.expected = imported.expected.as_ref().map(|value| StoredAnswer {
        json: json::write_within(value, LONGEST_ANSWER),
        lenient: false,
    });
}

/// Returns true for steps that determine whether a conversation has ended.
fn is_conversation(kind: StepKind) -> bool {
    !matches!(
        kind,
        StepKind::Unknown
            | StepKind::System
            | StepKind::Note
            | StepKind::Compaction
            | StepKind::SubAgent
            | StepKind::Abandoned
    )
}
