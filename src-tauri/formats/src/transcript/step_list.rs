//! **Pure.** Steps of a run in few bytes, for questions about their order: what each of them is,
//! which tool was called, whether it failed, which calls are equal, and where its text lies in the
//! text of the outline. Owns the encoding. Messages, calls, programs and errors are listed; steps
//! of abandoned branches and those in which the model only thinks are not, those of sub-agents are.
use super::sink::Role;
use std::collections::HashMap;
use std::hash::{DefaultHasher, Hash as _, Hasher as _};
use std::ops::Range;
use touchstone_model::run::{Outline, StepKind};

/// Kinds of listed steps.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum ListedKind {
    /// A message of the user, or a nudge.
    User,
    /// A message of the model.
    Assistant,
    /// A tool call.
    Call,
    /// A plan or code that was run.
    Program,
    /// A system error.
    Error,
}

/// Kinds by their code.
const KINDS: [ListedKind; 5] = [
    ListedKind::User,
    ListedKind::Assistant,
    ListedKind::Call,
    ListedKind::Program,
    ListedKind::Error,
];

/// What a piece of the text of a step is.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum TextRole {
    /// Anything else: the name of the tool, thinking.
    Other,
    /// The message, the arguments of a call, the plan and code of a program, or the text of an
    /// error.
    Own,
    /// The result or the error of a call or program.
    Result,
}

/// Roles by their code.
const ROLES: [TextRole; 3] = [TextRole::Other, TextRole::Own, TextRole::Result];

/// A listed step.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct ListedStep {
    /// Step of the run, from 0.
    pub step: u32,
    /// Kind.
    pub kind: ListedKind,
    /// Whether it failed; `None` without a result.
    pub failed: Option<bool>,
    /// True for an automatic nudge.
    pub nudge: bool,
    /// Name of the tool, as an index into [`StepList::tools`].
    pub tool: Option<usize>,
    /// Number of the call: calls of the same tool with the same arguments have the same.
    pub call: Option<u32>,
    /// Pieces of its text, as places in [`StepList::texts`].
    pub texts: Range<usize>,
}

/// Decoded steps, in order. Lists of many runs are decoded into the same memory.
#[derive(Debug, Clone, Default, PartialEq, Eq)]
pub struct StepList<'b> {
    /// Names of the called tools.
    pub tools: Vec<&'b str>,
    /// The steps.
    pub steps: Vec<ListedStep>,
    /// Pieces of their texts, as ranges of bytes of [`touchstone_model::run::Outline::text`].
    pub texts: Vec<(TextRole, Range<u64>)>,
}

impl<'b> StepList<'b> {
    /// Decodes steps. Returns those before the first byte that is not as it was written.
    pub fn decode(bytes: &'b [u8]) -> Self {
        let mut list = Self::default();
        list.decode_into(bytes);
        list
    }

    /// Like [`StepList::decode`], and reuses the memory of this list.
    pub fn decode_into(&mut self, bytes: &'b [u8]) {
        self.tools.clear();
        self.steps.clear();
        self.texts.clear();
        let mut reader = Reader { bytes, steps: 0, step: 0, end: 0 };
        while let Some(step) = reader.step(&mut self.tools, &mut self.texts) {
            self.steps.push(step);
        }
    }

    /// Returns the pieces of the text of a step.
    pub fn texts_of(&self, step: &ListedStep) -> &[(TextRole, Range<u64>)] {
        self.texts.get(step.texts.clone()).unwrap_or_default()
    }

    /// Returns where the text of the last step ends.
    pub fn text_end(&self) -> u64 {
        self.texts.last().map_or(0, |(_, range)| range.end)
    }
}

struct Reader<'b> {
    bytes: &'b [u8],
    /// Number of steps so far.
    steps: u32,
    /// Step after the last one.
    step: u32,
    /// End of the text of the last step.
    end: u64,
}

impl<'b> Reader<'b> {
    fn byte(&mut self) -> Option<u8> {
        let (first, rest) = self.bytes.split_first()?;
        self.bytes = rest;
        Some(*first)
    }

    fn number(&mut self) -> Option<u64> {
        let mut number = 0;
        for shift in (0..63).step_by(7) {
            let byte = self.byte()?;
            number |= u64::from(byte & 0x7F) << shift;
            if byte < 0x80 {
                return Some(number);
            }
        }
        None
    }

    fn small(&mut self) -> Option<u32> {
        u32::try_from(self.number()?).ok()
    }

    fn step(
        &mut self,
        tools: &mut Vec<&'b str>,
        texts: &mut Vec<(TextRole, Range<u64>)>,
    ) -> Option<ListedStep> {
        let head = self.byte()?;
        let kind = *KINDS.get(usize::from(head & 7))?;
        let failed = match head >> 3 & 3 {
            0 => None,
            1 => Some(false),
            _ => Some(true),
        };
        let step = self.step.checked_add(self.small()?)?;
        let mut end = self.end.checked_add(self.number()?)?;
        let (mut tool, mut call) = (None, None);
        if matches!(kind, ListedKind::Call | ListedKind::Program) {
            let index = usize::try_from(self.number()?).ok()?;
            if index == tools.len() {
                let len = usize::try_from(self.number()?).ok()?;
                let (name, rest) = self.bytes.split_at_checked(len)?;
                tools.push(std::str::from_utf8(name).ok()?);
                self.bytes = rest;
            }
            tool = Some(index).filter(|index| *index < tools.len());
            tool?;
            // There are no more different calls than steps.
            call = Some(self.small().filter(|call| *call <= self.steps)?);
        }
        let count = self.number()?;
        let first = texts.len();
        for _ in 0..count {
            let text = self.number()?;
            let role = *ROLES.get(usize::try_from(text & 3).ok()?)?;
            let next = end.checked_add(text >> 2)?;
            texts.push((role, end..next));
            end = next;
        }
        self.step = step.checked_add(1)?;
        self.steps += 1;
        self.end = end;
        let texts = first..texts.len();
        Some(ListedStep { step, kind, failed, nudge: head & 32 != 0, tool, call, texts })
    }
}

/// Step whose parts are being reported.
#[derive(Debug)]
struct Open {
    step: u32,
    kind: ListedKind,
    failed: Option<bool>,
    nudge: bool,
    tool: String,
    /// Sum of the hashes of the arguments, so that their order does not matter.
    arguments: u64,
    start: usize,
    end: usize,
    texts: Vec<(TextRole, usize)>,
}

/// Encodes the steps of a walk over a run.
#[derive(Debug, Default)]
pub(crate) struct StepListBuilder {
    bytes: Vec<u8>,
    open: Option<Open>,
    tools: HashMap<String, u64>,
    calls: HashMap<(u64, u64), u64>,
    next_step: u32,
    end: usize,
    /// Nesting level of the abandoned branch that is being reported.
    abandoned: Option<u32>,
    count: u32,
}

impl StepListBuilder {
    /// Begins a step whose text starts at an offset.
    pub(crate) fn begin(&mut self, step: u32, kind: StepKind, depth: u32, start: usize) -> bool {
        self.close();
        if self.abandoned.is_some_and(|level| depth <= level) {
            self.abandoned = None;
        }
        if kind == StepKind::Abandoned && self.abandoned.is_none() {
            self.abandoned = Some(depth);
        }
        if self.abandoned.is_some() {
            return false;
        }
        self.count += 1;
        let kind = match kind {
            StepKind::User => ListedKind::User,
            StepKind::Assistant => ListedKind::Assistant,
            StepKind::ToolCall => ListedKind::Call,
            StepKind::Program => ListedKind::Program,
            StepKind::Error => ListedKind::Error,
            _ => return false,
        };
        self.open = Some(Open {
            step,
            kind,
            failed: None,
            nudge: false,
            tool: String::new(),
            arguments: 0,
            start,
            end: start,
            texts: Vec::new(),
        });
        true
    }

    /// Marks the step as an automatic nudge.
    pub(crate) fn nudge(&mut self) {
        if let Some(open) = &mut self.open {
            open.nudge = true;
        }
    }

    /// Sets how the step ended and what it called.
    pub(crate) fn describe(&mut self, failed: Option<bool>, tool: Option<&str>) {
        if let Some(open) = &mut self.open {
            open.failed = failed;
            tool.unwrap_or_default().clone_into(&mut open.tool);
        }
    }

    /// Replaces the name of the called tool.
    pub(crate) fn rename(&mut self, tool: &str) {
        if let Some(open) = &mut self.open {
            tool.clone_into(&mut open.tool);
        }
    }

    /// Adds a part, whose text lies at `from` and ends with the text so far. In a call, its role
    /// tells arguments from the result, because an argument may have any name.
    pub(crate) fn part(&mut self, label: &str, in_call: Role, text: &str, from: usize) {
        let Some(open) = &mut self.open else { return };
        let role = match open.kind {
            ListedKind::User | ListedKind::Assistant if label == "message" => TextRole::Own,
            ListedKind::User | ListedKind::Assistant => TextRole::Other,
            ListedKind::Call => match in_call {
                Role::Param => TextRole::Own,
                Role::Result => TextRole::Result,
                Role::Other if label == "error" => TextRole::Result,
                _ => TextRole::Other,
            },
            ListedKind::Program if matches!(label, "output" | "error" | "result") => {
                TextRole::Result
            }
            ListedKind::Program | ListedKind::Error => TextRole::Own,
        };
        if role == TextRole::Own && matches!(open.kind, ListedKind::Call | ListedKind::Program) {
            let mut hasher = DefaultHasher::new();
            (label, text.get(from..)).hash(&mut hasher);
            open.arguments = open.arguments.wrapping_add(hasher.finish());
        }
        open.add(TextRole::Other, from);
        open.add(role, text.len());
    }

    fn close(&mut self) {
        let Some(open) = self.open.take() else { return };
        let has_message = open.texts.iter().any(|(role, _)| *role == TextRole::Own);
        if open.kind == ListedKind::Assistant && !has_message {
            // Thinking alone says nothing.
            return;
        }
        let kind = KINDS.iter().position(|kind| *kind == open.kind).unwrap_or_default();
        let failed = match open.failed {
            None => 0,
            Some(false) => 1,
            Some(true) => 2,
        };
        let head = kind | failed << 3 | usize::from(open.nudge) << 5;
        self.bytes.push(u8::try_from(head).unwrap_or_default());
        self.number(u64::from(open.step - self.next_step));
        self.number((open.start - self.end) as u64);
        if matches!(open.kind, ListedKind::Call | ListedKind::Program) {
            let next = self.tools.len() as u64;
            let tool = *self.tools.entry(open.tool.clone()).or_insert(next);
            self.number(tool);
            if tool == next {
                self.number(open.tool.len() as u64);
                self.bytes.extend_from_slice(open.tool.as_bytes());
            }
            let next = self.calls.len() as u64;
            let call = *self.calls.entry((tool, open.arguments)).or_insert(next);
            self.number(call);
        }
        self.number(open.texts.len() as u64);
        for (role, len) in &open.texts {
            let role = ROLES.iter().position(|known| known == role).unwrap_or_default();
            self.number((*len as u64) << 2 | role as u64);
        }
        self.next_step = open.step + 1;
        self.end = open.end;
    }

    fn number(&mut self, mut number: u64) {
        let low = |number: u64| u8::try_from(number & 0x7F).unwrap_or_default();
        while number >= 0x80 {
            self.bytes.push(low(number) | 0x80);
            number >>= 7;
        }
        self.bytes.push(low(number));
    }

    /// Returns the encoded steps, and the number of all steps outside of abandoned branches.
    pub(crate) fn finish(mut self) -> (Vec<u8>, u32) {
        self.close();
        (self.bytes, self.count)
    }
}

impl Open {
    /// Extends the text up to an offset.
    fn add(&mut self, role: TextRole, to: usize) {
        let len = to.saturating_sub(self.end);
        if len == 0 {
            return;
        }
        match self.texts.last_mut() {
            Some((last, before)) if *last == role => *before += len,
            _ => self.texts.push((role, len)),
        }
        self.end = to;
    }
}

/// Returns the beginning of the first message of the user that is not blank, on one line, with at most
/// `most` characters. Nudges are no prompts.
pub fn first_prompt(outline: &Outline, most: usize) -> Option<String> {
    let list = StepList::decode(&outline.steps);
    let users = list.steps.iter().filter(|one| one.kind == ListedKind::User && !one.nudge);
    let mut texts = users.flat_map(|step| list.texts.get(step.texts.clone()).unwrap_or_default());
    texts.find_map(|(role, place)| {
        let from = usize::try_from(place.start).ok()?;
        let text = outline.text.get(from..usize::try_from(place.end).ok()?)?;
        (*role == TextRole::Own).then(|| beginning(text, most)).flatten()
    })
}

/// Returns the beginning of a text on one line; `None` if it is blank.
fn beginning(text: &str, most: usize) -> Option<String> {
    let mut line = String::new();
    // A word more than what is shown says whether there is more.
    for word in text.split_whitespace() {
        if line.chars().count() > most {
            break;
        }
        if !line.is_empty() {
            line.push(' ');
        }
        line.extend(word.chars().take(most + 1));
    }
    if line.chars().count() > most {
        line = line.chars().take(most).collect();
        line.push('…');
    }
    (!line.is_empty()).then_some(line)
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::transcript::outline_of;
    use proptest::prelude::*;

    #[test]
    fn the_beginning_of_a_text_is_one_line_of_a_bounded_length() {
        let line = |text: &str| beginning(text, 10);
        assert_eq!(line("  Fix\n the  x \n").as_deref(), Some("Fix the x"));
        assert_eq!(line("Fix the build").as_deref(), Some("Fix the bu…"));
        assert_eq!(line(&"x".repeat(99)).as_deref(), Some("xxxxxxxxxx…"));
        assert_eq!(line(" \n"), None);
    }

    #[test]
    fn steps_read_back_with_their_texts_and_equal_calls_share_a_number() {
        let text = "hello\nsql\nselect 1\n42\nlost\nsql\nselect 1\nsql\nselect 2\n";
        let mut builder = StepListBuilder::default();
        builder.begin(0, StepKind::User, 0, 0);
        builder.part("message", Role::Message, &text[..6], 0);
        builder.begin(1, StepKind::ToolCall, 0, 6);
        builder.describe(Some(true), Some("sql"));
        builder.part("query", Role::Param, &text[..19], 10);
        builder.part("result", Role::Result, &text[..22], 19);
        builder.begin(2, StepKind::Abandoned, 0, 22);
        builder.begin(3, StepKind::User, 1, 22);
        builder.part("message", Role::Message, &text[..27], 22);
        for (step, start, end) in [(4, 27, 40), (5, 40, 53)] {
            builder.begin(step, StepKind::ToolCall, 0, start);
            builder.describe(None, Some("sql"));
            builder.part("query", Role::Param, &text[..end], start + 4);
        }
        let (bytes, count) = builder.finish();
        assert_eq!(count, 4);
        let list = StepList::decode(&bytes);
        assert_eq!(list.tools, ["sql"]);
        let shown: Vec<_> = list
            .steps
            .iter()
            .map(|step| {
                let texts = list.texts_of(step).iter().filter(|(role, _)| *role != TextRole::Other);
                let texts = texts.map(|(_, range)| {
                    &text
                        [usize::try_from(range.start).unwrap()..usize::try_from(range.end).unwrap()]
                });
                (step.step, step.failed, step.call, texts.collect::<Vec<_>>())
            })
            .collect();
        assert_eq!(
            shown,
            [
                (0, None, None, vec!["hello\n"]),
                (1, Some(true), Some(0), vec!["select 1\n", "42\n"]),
                (4, None, Some(0), vec!["select 1\n"]),
                (5, None, Some(1), vec!["select 2\n"]),
            ]
        );
    }

    /// Texts of a step by their role.
    fn texts(
        outline: &touchstone_model::run::Outline,
        step: &ListedStep,
        role: TextRole,
    ) -> String {
        let list = StepList::decode(&outline.steps);
        let ranges = list.texts_of(step).iter().filter(|(known, _)| *known == role);
        let at = |at: u64| usize::try_from(at).unwrap();
        ranges.map(|(_, range)| &outline.text[at(range.start)..at(range.end)]).collect()
    }

    const FILE: &str = r#"conversation:
- user_message: go
- assistant_message: ""
- tool_call:
    name: submit
    params: {result: apple, error: 1}
    cost: 1.5
    result: fine
- tool_call:
    name: submit
    cost: 2.5
    params: {error: 1, result: apple}
    result: done
- tool_call: {name: submit, params: {result: banana, error: 1}, error: boom}
- user_message: the green one please
- user_message: actually use the submit tool to get the answer
"#;

    #[test]
    fn only_parameters_are_arguments_whatever_they_are_called() {
        let outline = crate::transcript::outline(FILE.as_bytes()).unwrap();
        let list = StepList::decode(&outline.steps);
        let calls = list.steps.iter().filter(|step| step.kind == ListedKind::Call);
        let calls: Vec<_> = calls
            .map(|step| {
                let own = texts(&outline, step, TextRole::Own);
                (step.call, own.contains("fine"), texts(&outline, step, TextRole::Result))
            })
            .collect();
        assert_eq!(
            calls,
            [
                (Some(0), false, "fine\n".to_owned()),
                (Some(0), false, "done\n".to_owned()),
                (Some(1), false, "boom\n".to_owned()),
            ]
        );
    }

    #[test]
    fn of_an_imported_call_only_the_last_result_is_one() {
        let part = |label: &str, text: &str| touchstone_model::run::Part {
            label: label.into(),
            value: text.into(),
            ..touchstone_model::run::Part::default()
        };
        let call = |failed, parts| touchstone_model::run::Step {
            kind: StepKind::ToolCall,
            failed,
            parts,
            ..touchstone_model::run::Step::default()
        };
        let run = touchstone_model::run::Run {
            steps: vec![
                call(
                    Some(false),
                    vec![part("result", "apple"), part("result", "ok"), part("media", "image")],
                ),
                call(None, vec![part("result", "apple")]),
            ],
            ..touchstone_model::run::Run::default()
        };
        let outline = outline_of(&run);
        let list = StepList::decode(&outline.steps);
        let shown = list.steps.iter().map(|step| {
            let of = |role| texts(&outline, step, role);
            (step.call, of(TextRole::Own), of(TextRole::Result))
        });
        assert_eq!(
            shown.collect::<Vec<_>>(),
            [
                (Some(0), "apple\n".to_owned(), "ok\nimage\n".to_owned()),
                (Some(0), "apple\n".to_owned(), String::new()),
            ]
        );
    }

    #[test]
    fn a_nudge_is_automatic_and_a_step_without_a_message_is_not_listed() {
        let outline = crate::transcript::outline(FILE.as_bytes()).unwrap();
        let list = StepList::decode(&outline.steps);
        let messages = list.steps.iter().filter(|step| step.kind != ListedKind::Call);
        let messages: Vec<_> = messages.map(|step| (step.step, step.kind, step.nudge)).collect();
        assert_eq!(
            messages,
            [
                (0, ListedKind::User, false),
                (5, ListedKind::User, false),
                (6, ListedKind::User, true),
            ]
        );
    }

    proptest! {
        #[test]
        fn any_bytes_decode_without_a_panic(bytes in prop::collection::vec(any::<u8>(), 0..80)) {
            let list = StepList::decode(&bytes);
            prop_assert!(list.steps.len() <= bytes.len());
        }
    }
}
