//! **Pure.** Builds a [`Run`] from a walk over a transcript. Owns the language detection of parts.
use super::sink::{Head, Role, Sink};
use super::tree;
use super::user;
use touchstone_model::fences::last_json;
use touchstone_model::json;
use touchstone_model::node::Node;
use touchstone_model::run::{
    Answer, CallRole, LENIENT, Language, Layout, Part, Run, Step, StepKind,
};
use touchstone_model::value::Value;

/// Maximum number of unknown item kinds named in a note.
const UNKNOWN: usize = 5;

/// Note on an answer that stands before the last message of the user.
const EARLIER: &str = "The answer is from before the last message of the user; no message of the \
    model after it has one.";

/// Builder of a run.
#[derive(Debug, Default)]
pub(crate) struct RunBuilder {
    run: Run,
}

impl RunBuilder {
    pub(crate) fn finish(mut self, layout: Layout) -> Run {
        self.run.layout = layout;
        tree::check_places(&mut self.run);
        self.run.notes = notes(&self.run);
        self.run
    }
}

impl<'t> Sink<'t> for RunBuilder {
    fn step(&mut self, head: Head<'t>) {
        self.run.steps.push(Step {
            turn: head.turn,
            kind: head.kind,
            title: head.title.map(str::to_owned),
            call_id: head.call_id.map(str::to_owned),
            failed: head.failed,
            nudge: head.nudge,
            seconds: head.seconds,
            tokens: head.tokens,
            model: None,
            depth: head.depth,
            parts: Vec::new(),
        });
    }

    fn part<N: Node<'t>>(&mut self, label: &str, role: Role, value: N) {
        if let Some(step) = self.run.steps.last_mut() {
            let call_role = (step.kind == StepKind::ToolCall).then_some(match role {
                Role::Param => CallRole::Param,
                Role::Result => CallRole::Result,
                _ => CallRole::Other,
            });
            step.parts.push(Part { call_role, ..part(label, role, value.to_value()) });
        }
    }

    fn fact<N: Node<'t>>(&mut self, key: &str, value: N) {
        let value = value.to_value();
        if key == "run.tree" {
            self.run.tree = tree::read(&value);
            if self.run.tree.is_some() {
                return;
            }
        }
        if key == "run.user" {
            self.run.verdicts = user::verdict_of_user(&value).into_iter().collect();
        }
        self.run.facts.push((key.to_owned(), value));
    }

    fn answer<N: Node<'t>>(&mut self, value: N, source: &str) {
        self.run.answer =
            Some(Answer { value: value.to_value(), source: source.to_owned(), lenient: false });
    }

    fn answer_found(&mut self, answer: Answer) {
        self.run.answer = Some(answer);
    }

    fn answer_missing(&mut self) {
        self.run.is_sought = true;
    }

    fn no_answer_found(&mut self, why: Option<String>) {
        self.run.unread = why;
    }
}

/// Builds a part. A result that is the text of a JSON list or object is parsed, so that it can be
/// displayed as a table.
pub(crate) fn part(label: &str, role: Role, value: Value) -> Part {
    if let (Role::Result, Value::Text(text)) = (role, &value)
        && let Some(inside) = json::embedded(text)
    {
        return Part {
            label: label.to_owned(),
            language: Language::Json,
            value: inside,
            raw: Some(text.clone()),
            call_role: None,
        };
    }
    let language = language(label, role, &value);
    Part { label: label.to_owned(), language, value, raw: None, call_role: None }
}

fn language(label: &str, role: Role, value: &Value) -> Language {
    let Value::Text(text) = value else { return Language::Plain };
    match role {
        Role::Message => Language::Markdown,
        Role::Code => Language::Python,
        Role::Param if label.eq_ignore_ascii_case("sql") => Language::Sql,
        Role::Param if matches!(label, "pythonCode" | "python_code" | "code" | "python") => {
            Language::Python
        }
        Role::Param if is_sql(text) => Language::Sql,
        Role::Param if json::embedded(text).is_some() => Language::Json,
        _ => Language::Plain,
    }
}

/// Returns true for text that starts like an SQL statement.
fn is_sql(text: &str) -> bool {
    let mut words = text.split_whitespace().map(str::to_ascii_lowercase);
    let first = words.next().unwrap_or_default();
    let mut rest = words.take(200);
    match first.as_str() {
        "select" => rest
            .any(|word| word == "from" || word.starts_with(|letter: char| !letter.is_alphabetic())),
        "with" => rest.any(|word| word == "as" || word == "as("),
        "insert" => rest.next().as_deref() == Some("into"),
        "update" => rest.any(|word| word == "set"),
        "delete" => rest.next().as_deref() == Some("from"),
        "explain" | "pragma" => true,
        _ => false,
    }
}

fn notes(run: &Run) -> Vec<String> {
    let mut notes = Vec::new();
    let unknown = run
        .steps
        .iter()
        .filter(|step| step.kind == StepKind::Unknown)
        .filter_map(|step| step.title.as_deref());
    let mut names: Vec<String> = Vec::new();
    for name in unknown.map(|name| format!("`{name}`")) {
        if names.len() < UNKNOWN && !names.contains(&name) {
            names.push(name);
        }
    }
    if !names.is_empty() {
        notes.push(format!("Items of unknown kinds are shown unchanged: {}.", names.join(", ")));
    }
    if run.answer.as_ref().is_some_and(|answer| answer.lenient) {
        notes.push(LENIENT.to_owned());
    }
    if run.answer.is_some() && is_answered_before(&run.steps) {
        notes.push(EARLIER.to_owned());
    }
    notes.extend(run.unread.clone());
    notes
}

/// Returns true if the model wrote a JSON fence before the last message of the user, and none after
/// it: the answer is then from before, as the rule for answers has it.
fn is_answered_before(steps: &[Step]) -> bool {
    let is_fenced = |step: &Step| {
        let texts = step.parts.iter().filter_map(|part| part.value.text());
        step.kind == StepKind::Assistant && texts.into_iter().any(|text| last_json(text).is_some())
    };
    let last = steps.iter().rposition(|step| step.kind == StepKind::User);
    last.and_then(|last| steps.split_at_checked(last))
        .is_some_and(|(before, after)| before.iter().any(is_fenced) && !after.iter().any(is_fenced))
}
