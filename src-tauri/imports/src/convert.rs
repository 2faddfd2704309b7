//! **Pure.** Converts an imported run to the common model, which the reader, the comparison, the
//! search and the judges show and use.
use crate::run::{Event, EventKind, ImportedRun, ImportedVerdict, Media, MediaContent};
use crate::text::{arguments, is_blank};
use std::collections::{HashMap, VecDeque};
use touchstone_formats::timestamps;
use touchstone_model::json;
use touchstone_model::run::RunNames;
use touchstone_model::run::{
    Answer, ImportedSummary, Language, Layout, Part, Run, RunEnd, Step, StepKind, Verdict,
};
use touchstone_model::value::Value;

/// Maximum nesting of sub-agents and abandoned branches; deeper ones are named and left out.
const MOST_LEVELS: u32 = 8;

/// Contents of the images, sounds and files of a run, by the step and the part that describe them.
#[derive(Debug, Default)]
pub struct MediaContents(Vec<((usize, usize), MediaContent)>);

impl MediaContents {
    /// Removes and returns the content that a part of a step describes.
    pub fn take(&mut self, step: usize, part: usize) -> Option<MediaContent> {
        let at = self.0.iter().position(|(place, _)| *place == (step, part))?;
        Some(self.0.swap_remove(at).1)
    }

    /// Returns the contents in order.
    pub fn iter(&self) -> impl Iterator<Item = &MediaContent> {
        self.0.iter().map(|(_, content)| content)
    }
}

/// Converts a run of the format with this name.
pub fn to_run(imported: ImportedRun, format: &'static str) -> Run {
    to_run_and_media(imported, format).0
}

/// Converts a run like [`to_run`], and returns the contents that its steps describe.
pub fn to_run_and_media(imported: ImportedRun, format: &'static str) -> (Run, MediaContents) {
    let mut builder = StepBuilder { model: imported.model.clone(), ..StepBuilder::default() };
    builder.events(imported.events, 0);
    let summary = ImportedSummary {
        end: imported.end,
        error: imported.error.clone(),
        expected: imported.expected,
        tokens: imported.tokens.and_then(|tokens| tokens.total),
        cost: imported.cost,
        seconds: imported.seconds,
        started: imported.started.as_deref().and_then(timestamps::seconds),
        names: RunNames { task: imported.task, system: imported.system, model: imported.model },
    };
    // An error that ended the run may be recorded as its last step already.
    let last = builder.steps.last().filter(|step| step.kind == StepKind::Error && step.depth == 0);
    let recorded = last.and_then(|step| step.parts.first()?.value.text());
    if let (RunEnd::Error, Some(error)) = (imported.end, imported.error)
        && recorded != Some(&error)
    {
        builder.push(StepKind::Error, 0, vec![plain("error", error)]);
    }
    let answer = imported.answer.map(|text| Answer {
        value: json::embedded(&text).unwrap_or(Value::Text(text)),
        source: "file".to_owned(),
        lenient: false,
    });
    let (steps, media) = (builder.steps, MediaContents(builder.media));
    let run = Run {
        layout: Layout::Imported(format),
        untold: steps.iter().all(|step| step.kind != StepKind::ToolCall) && steps.len() < 2,
        steps,
        answer,
        facts: facts(imported.facts, imported.tokens, imported.started),
        notes: imported.notes,
        verdicts: imported.verdicts.into_iter().map(|one| verdict(one, format)).collect(),
        imported: Some(Box::new(summary)),
        ..Run::default()
    };
    (run, media)
}

/// Adds what the columns of a list do not show to the facts.
fn facts(
    mut facts: Vec<(String, Value)>,
    tokens: Option<crate::run::TokenCounts>,
    started: Option<String>,
) -> Vec<(String, Value)> {
    let counts = tokens
        .into_iter()
        .flat_map(|tokens| [("tokens.input", tokens.input), ("tokens.output", tokens.output)]);
    for (key, count) in counts {
        facts.extend(count.map(|count| (key.to_owned(), Value::Number(count.to_string()))));
    }
    facts.extend(started.map(|started| ("started".to_owned(), Value::Text(started))));
    facts
}

/// Converts a verdict. The letters of Inspect are also given as the numbers that it counts with.
fn verdict(imported: ImportedVerdict, format: &str) -> Verdict {
    let (score, word) = match imported.value {
        Value::Null => (None, None),
        Value::Bool(value) => {
            (Some(if value { "1" } else { "0" }.to_owned()), Some(value.to_string()))
        }
        Value::Number(number) => (Some(number), None),
        Value::Text(text) => {
            let number = match text.as_str() {
                "C" => Some("1"),
                "P" => Some("0.5"),
                "I" | "N" => Some("0"),
                _ => None,
            };
            (number.filter(|_| format == "inspect").map(str::to_owned), Some(text))
        }
        other => (None, Some(json::write(&other, false))),
    };
    Verdict {
        evaluator: imported.name,
        is_silent: score.is_none() && word.is_none() && imported.passed.is_none(),
        score,
        word,
        passed: imported.passed,
        threshold: imported.threshold.and_then(|value| crate::text::text_or_json(&value)),
        reason: imported.reason.filter(|reason| !is_blank(reason)),
    }
}

fn part(label: &str, language: Language, value: Value) -> Part {
    Part { label: label.to_owned(), language, value, ..Part::default() }
}

fn plain(label: &str, text: String) -> Part {
    part(label, Language::Plain, Value::Text(text))
}

/// Builder of steps: joins reasoning with the message it belongs to, and results with their calls.
#[derive(Debug, Default)]
struct StepBuilder {
    steps: Vec<Step>,
    turn: u32,
    /// Model of the run.
    model: Option<String>,
    /// Calls without a result, by id; without an id, by name.
    open: HashMap<String, VecDeque<usize>>,
    /// Index of an assistant step that holds reasoning only, and may take the message.
    thinking: Option<usize>,
    /// True while the calls of an assistant turn follow each other.
    in_turn: bool,
    /// Index of the step that holds a result, until anything but media follows.
    after_result: Option<usize>,
    /// Contents of images, sounds and files, by step and part.
    media: Vec<((usize, usize), MediaContent)>,
}

impl StepBuilder {
    fn events(&mut self, events: Vec<Event>, depth: u32) {
        for event in events {
            let before = self.steps.len();
            self.event(event.kind, depth);
            if let Some(step) = self.steps.get_mut(before) {
                step.seconds = event.seconds;
                step.tokens = event.tokens;
                // The names of nested steps are kept: their agent may have another model.
                step.model =
                    event.model.filter(|model| depth > 0 || Some(model) != self.model.as_ref());
            }
        }
    }

    fn event(&mut self, kind: EventKind, depth: u32) {
        if !matches!(kind, EventKind::Assistant(_) | EventKind::Media(_)) {
            self.thinking = self.thinking.filter(|_| matches!(kind, EventKind::Reasoning(_)));
        }
        if !matches!(kind, EventKind::Media(_)) {
            self.after_result = None;
        }
        match kind {
            EventKind::System(text) => {
                self.message(StepKind::System, depth, text);
            }
            EventKind::User(text) => {
                self.next_turn();
                self.message(StepKind::User, depth, text);
            }
            EventKind::SimulatedUser(text) => {
                self.next_turn();
                self.message(StepKind::User, depth, text);
                if let Some(step) = self.steps.last_mut() {
                    step.title = Some("simulated".to_owned());
                }
            }
            EventKind::Assistant(text) => self.assistant(text, depth),
            EventKind::Reasoning(text) => self.reasoning(text, depth),
            EventKind::Media(media) => self.media(media, depth),
            EventKind::Call { id, name, arguments: given, by_user } => {
                let mut parts = call_parts(&given);
                if by_user {
                    parts.insert(0, plain("by", "simulated user".to_owned()));
                }
                self.call(id, name, parts, depth);
            }
            EventKind::Result { id, name, value, failed } => {
                self.result((id.as_deref(), name.as_deref()), value, failed, depth);
            }
            EventKind::SubAgent { name, events, .. } => {
                self.nested(StepKind::SubAgent, Some(name), events, depth);
            }
            EventKind::Abandoned(events) => {
                self.nested(StepKind::Abandoned, None, events, depth);
            }
            EventKind::Compaction(text) => self.message(StepKind::Compaction, depth, text),
            EventKind::Error(text) => {
                self.push(StepKind::Error, depth, vec![plain("error", text)]);
            }
            EventKind::Note(text) => self.push(StepKind::Note, depth, vec![plain("message", text)]),
        }
    }

    fn push(&mut self, kind: StepKind, depth: u32, parts: Vec<Part>) {
        let turn = self.turn.max(1);
        self.steps.push(Step { turn, kind, depth, parts, ..Step::default() });
    }

    fn next_turn(&mut self) {
        self.turn += 1;
        self.in_turn = false;
    }

    fn message(&mut self, kind: StepKind, depth: u32, text: String) {
        let parts = vec![part("message", Language::Markdown, Value::Text(text))];
        self.push(kind, depth, parts);
    }

    fn assistant(&mut self, text: String, depth: u32) {
        let message = part("message", Language::Markdown, Value::Text(text));
        match self.thinking.take().and_then(|at| self.steps.get_mut(at)) {
            Some(step) if step.depth == depth => step.parts.push(message),
            _ => {
                self.next_turn();
                self.push(StepKind::Assistant, depth, vec![message]);
            }
        }
        self.in_turn = true;
    }

    fn reasoning(&mut self, text: String, depth: u32) {
        let thinking = part("thinking", Language::Markdown, Value::Text(text));
        match self.thinking.and_then(|at| self.steps.get_mut(at)) {
            Some(step) if step.depth == depth => step.parts.push(thinking),
            _ => {
                self.next_turn();
                self.thinking = Some(self.steps.len());
                self.push(StepKind::Assistant, depth, vec![thinking]);
            }
        }
        self.in_turn = true;
    }

    fn call(&mut self, id: Option<String>, name: String, parts: Vec<Part>, depth: u32) {
        if !self.in_turn {
            self.next_turn();
            self.in_turn = true;
        }
        let key = id.clone().unwrap_or_else(|| name.clone());
        self.open.entry(key).or_default().push_back(self.steps.len());
        self.push(StepKind::ToolCall, depth, parts);
        if let Some(step) = self.steps.last_mut() {
            (step.title, step.call_id) = (Some(name), id);
        }
    }

    fn result(
        &mut self,
        (id, name): (Option<&str>, Option<&str>),
        value: Value,
        failed: Option<bool>,
        depth: u32,
    ) {
        let label = if failed == Some(true) { "error" } else { "result" };
        let result = result_part(label, value);
        let waiting = |key| self.open.get_mut(key).and_then(VecDeque::pop_front);
        let open = [id, name].into_iter().flatten().find_map(waiting);
        // A result without id and name belongs to the last call that waits for one.
        let open = open.or_else(|| {
            let is_open = |step: &Step| {
                step.kind == StepKind::ToolCall && step.failed.is_none() && step.depth == depth
            };
            self.steps.iter().rposition(is_open).filter(|_| id.is_none() && name.is_none())
        });
        self.in_turn = false;
        self.after_result = open;
        match open.and_then(|at| self.steps.get_mut(at)) {
            Some(step) if step.failed.is_none() => {
                step.failed = Some(failed == Some(true));
                step.parts.push(result);
            }
            _ => {
                self.after_result = Some(self.steps.len());
                self.push(StepKind::Note, depth, vec![result]);
                if let Some(step) = self.steps.last_mut() {
                    step.title = Some(name.map_or_else(
                        || "result without a call".to_owned(),
                        |name| format!("result of {name} without a call"),
                    ));
                }
            }
        }
    }

    /// Adds media to the message or the result before it. A message of media alone has no text.
    fn media(&mut self, media: Media, depth: u32) {
        let language = if media.content.is_some() { Language::Media } else { Language::Plain };
        let described = part("media", language, Value::Text(media.text));
        let last = self.after_result.or_else(|| self.steps.len().checked_sub(1));
        let at = if let Some(at) = last.filter(|at| self.steps[*at].depth == depth) {
            let step = &mut self.steps[at];
            if matches!(step.kind, StepKind::User | StepKind::Assistant) {
                step.parts.retain(|part| part.value.text() != Some(""));
            }
            step.parts.push(described);
            at
        } else {
            self.push(StepKind::Note, depth, vec![described]);
            self.steps.len() - 1
        };
        let place = (at, self.steps[at].parts.len() - 1);
        self.media.extend(media.content.map(|content| (place, content)));
    }

    fn nested(&mut self, kind: StepKind, name: Option<String>, events: Vec<Event>, depth: u32) {
        let parts = if depth < MOST_LEVELS || events.is_empty() {
            Vec::new()
        } else {
            let text = format!("{} events at a deeper level, which are not shown.", events.len());
            vec![plain("left out", text)]
        };
        self.push(kind, depth, parts);
        if let Some(step) = self.steps.last_mut() {
            step.title = name;
        }
        if depth < MOST_LEVELS {
            // Nested steps belong to the turn of the step that opens them.
            let outer = (std::mem::take(&mut self.open), self.turn, self.in_turn);
            self.thinking = None;
            let start = self.steps.len();
            self.events(events, depth + 1);
            (self.open, self.turn, self.in_turn) = outer;
            self.thinking = None;
            let turn = self.turn.max(1);
            self.steps[start..].iter_mut().for_each(|step| step.turn = turn);
        }
    }
}

/// Builds the parts of a call: one for each argument.
fn call_parts(given: &Value) -> Vec<Part> {
    match arguments(Some(given)) {
        Value::Map(entries) => {
            entries.into_iter().map(|(key, value)| parameter(&key, value)).collect()
        }
        other => vec![part("arguments", Language::Plain, other)],
    }
}

/// Builds the part of a parameter, in the language that its name suggests.
fn parameter(key: &Value, value: Value) -> Part {
    let name = key.text().map_or_else(|| json::write(key, false), str::to_owned);
    let language = match name.as_str() {
        "sql" | "query_sql" => Language::Sql,
        "code" | "python" | "python_code" | "pythonCode" => Language::Python,
        _ => Language::Plain,
    };
    part(&name, language, value)
}

/// Builds the part of a result. Text that holds a JSON list or object is shown as one.
fn result_part(label: &str, value: Value) -> Part {
    if let Value::Text(text) = &value
        && let Some(inside) = json::embedded(text)
    {
        return Part {
            label: label.to_owned(),
            language: Language::Json,
            value: inside,
            raw: Some(text.clone()),
            ..Part::default()
        };
    }
    part(label, Language::Plain, value)
}

#[cfg(test)]
mod tests {
    use super::*;
    use touchstone_formats::transcript::outline_of;
    use touchstone_model::run::RecordedState;

    fn call(id: &str, name: &str) -> EventKind {
        EventKind::Call {
            id: Some(id.to_owned()),
            name: name.to_owned(),
            arguments: Value::from("{\"a\": 1}"),
            by_user: false,
        }
    }

    fn result(id: &str, text: &str, failed: Option<bool>) -> EventKind {
        EventKind::Result { id: Some(id.to_owned()), name: None, value: Value::from(text), failed }
    }

    fn step_lines(run: &Run) -> Vec<String> {
        let steps = run.steps.iter().map(|step| {
            let parts: Vec<&str> = step.parts.iter().map(|part| part.label.as_str()).collect();
            format!("{} {} {:?} {}", step.turn, step.depth, step.kind, parts.join(","))
        });
        steps.collect()
    }

    fn converted(kinds: Vec<EventKind>) -> Run {
        let events = kinds.into_iter().map(Event::from).collect();
        to_run(ImportedRun { events, ..ImportedRun::default() }, "inspect")
    }

    #[test]
    fn reasoning_joins_its_message_and_a_result_its_call() {
        let run = converted(vec![
            EventKind::User("q".to_owned()),
            EventKind::Reasoning("hm".to_owned()),
            EventKind::Assistant("I look.".to_owned()),
            call("1", "f"),
            call("2", "g"),
            result("2", "[1]", None),
            result("1", "no", Some(true)),
            EventKind::Assistant("done".to_owned()),
        ]);
        assert_eq!(
            step_lines(&run),
            [
                "1 0 User message",
                "2 0 Assistant thinking,message",
                "2 0 ToolCall a,error",
                "2 0 ToolCall a,result",
                "3 0 Assistant message"
            ]
        );
        let outline = outline_of(&run);
        assert_eq!((outline.tool_calls, outline.failed_calls, outline.turns), (2, 1, 2));
    }

    #[test]
    fn an_image_is_a_part_of_the_message_before_it_which_may_have_no_text() {
        let image = || EventKind::Media(Media::described("image/png"));
        let user = |text: &str| EventKind::User(text.to_owned());
        let answer = || EventKind::Assistant("a".to_owned());
        for (events, expected) in [
            (vec![user("q"), image(), image()], vec!["1 0 User message,media,media"]),
            (
                vec![user("q"), answer(), user(""), image(), image()],
                vec!["1 0 User message", "2 0 Assistant message", "3 0 User media,media"],
            ),
            (
                vec![user("q"), EventKind::Assistant(String::new()), image()],
                vec!["1 0 User message", "2 0 Assistant media"],
            ),
        ] {
            assert_eq!(step_lines(&converted(events)), expected);
        }
    }

    #[test]
    fn a_result_whose_call_is_not_there_is_a_note() {
        let run = converted(vec![result("9", "x", None)]);
        assert_eq!(step_lines(&run), ["1 0 Note result"]);
    }

    #[test]
    fn the_steps_of_a_sub_agent_are_nested_and_count_for_nothing_but_the_search() {
        let inner =
            vec![call("1", "inner").into(), EventKind::Assistant("found it".to_owned()).into()];
        let run = converted(vec![
            EventKind::User("q".to_owned()),
            call("1", "task"),
            EventKind::SubAgent { name: "scout".to_owned(), call: None, events: inner },
            result("1", "ok", None),
        ]);
        assert_eq!(
            step_lines(&run),
            [
                "1 0 User message",
                "2 0 ToolCall a,result",
                "2 0 SubAgent ",
                "2 1 ToolCall a",
                "2 1 Assistant message"
            ]
        );
        let outline = outline_of(&run);
        assert_eq!((outline.tool_calls, outline.tools.join(",").as_str()), (1, "task"));
        assert!(outline.text.contains("found it"));
    }

    #[test]
    fn the_end_of_the_file_decides_the_state() {
        let state = |end, error: Option<&str>, answer: Option<&str>| {
            let run = ImportedRun {
                end,
                error: error.map(str::to_owned),
                answer: answer.map(str::to_owned),
                ..ImportedRun::default()
            };
            let outline = outline_of(&to_run(run, "inspect"));
            (outline.standing, outline.reason)
        };
        let reason = |text: &str| Some(text.to_owned());
        assert_eq!(state(RunEnd::Complete, None, Some("a")), (RecordedState::Answered, None));
        assert_eq!(state(RunEnd::Complete, None, None), (RecordedState::NoAnswer, None));
        assert_eq!(
            state(RunEnd::Error, Some("Boom\nat x"), Some("a")),
            (RecordedState::Error, reason("Boom"))
        );
        assert_eq!(
            state(RunEnd::Limit, Some("30 turns"), None),
            (RecordedState::NoAnswer, reason("Stopped by a limit: 30 turns"))
        );
        assert_eq!(
            state(RunEnd::Unfinished, None, Some("a")),
            (RecordedState::Waiting, reason("The run has not ended."))
        );
    }

    #[test]
    fn an_error_that_is_the_last_step_already_is_shown_once() {
        let errors = |events: Vec<EventKind>| {
            let events = events.into_iter().map(Event::from).collect();
            let error = Some("Boom".to_owned());
            let run = ImportedRun { end: RunEnd::Error, error, events, ..ImportedRun::default() };
            let steps = to_run(run, "otel").steps;
            steps.iter().filter(|step| step.kind == StepKind::Error).count()
        };
        let error = |text: &str| EventKind::Error(text.to_owned());
        assert_eq!(errors(Vec::new()), 1);
        assert_eq!(errors(vec![error("Boom")]), 1);
        assert_eq!(errors(vec![error("Another")]), 2);
        // It was tried again in between.
        assert_eq!(errors(vec![error("Boom"), EventKind::Assistant("Well.".to_owned())]), 2);
    }

    #[test]
    fn letters_are_numbers_for_inspect_only() {
        let read = |value: Value, format: &str| {
            let verdict = verdict(ImportedVerdict { value, ..ImportedVerdict::default() }, format);
            (verdict.score, verdict.word)
        };
        let text = |text: &str| Some(text.to_owned());
        assert_eq!(read(Value::from("P"), "inspect"), (text("0.5"), text("P")));
        assert_eq!(read(Value::from("P"), "promptfoo"), (None, text("P")));
        assert_eq!(read(Value::Bool(true), "tau2_bench"), (text("1"), text("true")));
        assert_eq!(read(Value::Number("0.83".to_owned()), "x"), (text("0.83"), None));
    }
}
