//! **Pure.** Converts one row of an evaluation by azure-ai-evaluation to a run: query and response
//! become steps, the results of evaluators become verdicts as stored.
use super::verdicts::is_missing;
use super::{Read, verdicts};
use crate::azure::StepBuilder;
use crate::transcript::build::part;
use crate::transcript::sink::Role;
use touchstone_model::json;
use touchstone_model::node::Node;
use touchstone_model::run::{Answer, Layout, Run, Step, StepKind, Verdict};
use touchstone_model::value::Value;

/// Note for readers of stored results.
const STORED: &str = "Results here are as stored in the file. Touchstone did not compute them.";
/// Common names of the columns, preferred names first.
const QUERY: [&str; 5] = ["query", "question", "prompt", "input", "instruction"];
const RESPONSE: [&str; 5] = ["response", "answer", "output", "completion", "prediction"];
const CONVERSATION: [&str; 2] = ["conversation", "messages"];
/// Prefixes of column names.
const INPUTS: &str = "inputs.";
const OUTPUTS: &str = "outputs.";
/// Columns with the origin of a row, in files that Touchstone wrote.
const PLACE: [&str; 3] = ["task", "system", "model"];
/// Maximum number of evaluators whose results are named in a note.
const NAMED: usize = 12;

/// Columns of a row by kind.
#[derive(Default)]
struct Columns<'v> {
    inputs: Vec<(&'v str, &'v Value)>,
    /// Outputs of a target, which take precedence over the input data.
    given: Vec<(&'v str, &'v Value)>,
    /// Evaluators with their results.
    outputs: Vec<(&'v str, Vec<(&'v str, &'v Value)>)>,
    other: Vec<(&'v str, &'v Value)>,
}

impl<'v> Columns<'v> {
    fn from_row(row: &'v Value) -> Self {
        let mut columns = Self::default();
        for (key, value) in row.entries() {
            let key = key.text().unwrap_or_default();
            match (key.strip_prefix(INPUTS), key.strip_prefix(OUTPUTS)) {
                (Some(name), _) => columns.inputs.push((name, value)),
                // Names of evaluators may contain dots; names of their results do not.
                (_, Some(name)) => match name.rsplit_once('.') {
                    Some((evaluator, name)) => columns.output(evaluator).push((name, value)),
                    None => columns.given.push((name, value)),
                },
                _ => columns.other.push((key, value)),
            }
        }
        columns
    }

    fn output(&mut self, evaluator: &'v str) -> &mut Vec<(&'v str, &'v Value)> {
        let at = self
            .outputs
            .iter()
            .position(|(known, _)| *known == evaluator)
            .unwrap_or(self.outputs.len());
        if at == self.outputs.len() {
            self.outputs.push((evaluator, Vec::new()));
        }
        &mut self.outputs[at].1
    }

    /// Returns the first of the named columns that has a value.
    fn first(&self, names: &[&str]) -> Option<(&'v str, &'v Value)> {
        let of = |name: &&str| {
            self.given
                .iter()
                .chain(&self.inputs)
                .find(|(known, value)| known == name && !is_missing(value))
        };
        names.iter().find_map(of).copied()
    }

    /// Returns the columns for conversation, query and response.
    fn message_columns(&self) -> [Option<(&'v str, &'v Value)>; 3] {
        [CONVERSATION.as_slice(), &QUERY, &RESPONSE].map(|names| self.first(names))
    }

    /// Returns the other columns of the data and the target, each with its prefix.
    fn untold(&self) -> impl Iterator<Item = (&'static str, &'v str, &'v Value)> {
        let told = self.message_columns();
        let of = |columns: &[(&'v str, &'v Value)], from| {
            columns.iter().map(|(name, value)| (from, *name, *value)).collect::<Vec<_>>()
        };
        let all = of(&self.inputs, INPUTS).into_iter().chain(of(&self.given, OUTPUTS));
        all.filter(move |(.., value)| {
            !told.iter().flatten().any(|(_, known)| std::ptr::eq(*known, *value))
        })
    }

    fn word(&self, name: &str) -> Option<&'v str> {
        self.inputs.iter().find(|(known, _)| *known == name).and_then(|(_, value)| value.word())
    }
}

/// Parses a row. `id` is its id in the file, `file` the metadata common to all rows, and `errors`
/// the errors of evaluators for this row.
pub(super) fn read(id: &str, row: Value, file: &Value, errors: &[(String, String)]) -> Read {
    let columns = Columns::from_row(&row);
    let told = columns.message_columns();
    let mut run = told_by(told, &columns);
    let place: Vec<&str> = PLACE.iter().filter_map(|name| columns.word(name)).collect();
    let is_ours = place.len() == PLACE.len();
    if is_ours {
        of_ours(&mut run, &columns);
    }
    if is_evaluated_here(file) {
        run.layout = Layout::EvaluatedRow;
    }
    run.notes.push(STORED.to_owned());
    run.verdicts = columns
        .outputs
        .iter()
        .map(|(evaluator, said)| verdicts::parse_verdict(evaluator, said))
        .collect();
    for (evaluator, why) in errors {
        verdicts::fail(&mut run.verdicts, evaluator, why);
    }
    run.notes.extend(results(&run.verdicts));
    run.facts = facts(&columns, is_ours, file);
    let whole = |name: &str| {
        columns.word(name).filter(|_| is_ours).and_then(|word| word.parse::<u32>().ok())
    };
    let task = match columns.word("id") {
        _ if is_ours => place[0].to_owned(),
        Some(id) if !id.trim().is_empty() => id.to_owned(),
        // Rows of other data have the same numbers, so a hash of the query is added.
        _ => told[1]
            .or(told[0])
            .map_or_else(|| id.to_owned(), |(_, asked)| format!("{id}-{:04x}", fingerprint(asked))),
    };
    let (system, model) =
        (is_ours.then(|| place[1].to_owned()), is_ours.then(|| place[2].to_owned()));
    let (variation, repeat) = (whole("variation"), whole("repeat"));
    run.row = row;
    Read { run, task: Some(task), system, model, variation, repeat }
}

/// Returns as facts all values of a row that are not in its steps, and the metadata of the file.
fn facts(columns: &Columns<'_>, is_ours: bool, file: &Value) -> Vec<(String, Value)> {
    let is_place = |name: &str| {
        is_ours
            && (PLACE.contains(&name)
                || matches!(name, "variation" | "repeat" | "state" | "answer" | "error"))
    };
    let mut facts = Vec::new();
    let mut add = |name: String, value: &Value| facts.push((name, value.clone()));
    for (from, name, value) in
        columns.untold().filter(|(from, name, _)| *from != INPUTS || !is_place(name))
    {
        add(format!("{from}{name}"), value);
    }
    for (evaluator, said) in &columns.outputs {
        for (name, value) in said.iter().filter(|(_, value)| !is_missing(value)) {
            add(format!("{OUTPUTS}{evaluator}.{name}"), value);
        }
    }
    for (name, value) in columns.other.iter().filter(|(name, _)| !name.is_empty()) {
        add((*name).to_owned(), value);
    }
    let is_nothing = |value: &Value| match value {
        Value::Map(entries) => entries.is_empty(),
        value => is_missing(value),
    };
    for (name, value) in file.entries().iter().filter(|(_, value)| !is_nothing(value)) {
        add(format!("{} of the whole file", name.text().unwrap_or_default()), value);
    }
    facts
}

/// Returns the other input values of a row, such as a reference, documents or an id, which complete
/// the rows for evaluators. Names are without the prefixes used in results files; the input data
/// takes precedence over a target's output of the same name.
pub fn other_inputs(row: &Value) -> Vec<(String, Value)> {
    let mut beside: Vec<(String, Value)> = Vec::new();
    for (_, name, value) in Columns::from_row(row).untold() {
        if beside.iter().all(|(known, _)| known != name) {
            beside.push((
                name.to_owned(),
                if is_missing(value) { Value::Null } else { value.clone() },
            ));
        }
    }
    beside
}

/// Applies the columns of a row that Touchstone wrote: the answer as a value, the state and the
/// error.
fn of_ours(run: &mut Run, columns: &Columns<'_>) {
    let given = |name: &str| {
        columns.inputs.iter().find(|(known, value)| *known == name && !is_missing(value))
    };
    match given("answer") {
        Some((_, answer)) => {
            let answer = Answer {
                value: (*answer).clone(),
                source: "`inputs.answer`".to_owned(),
                lenient: false,
            };
            run.answer = Some(answer);
        }
        // The last message was not the answer in this case.
        None if given("run").is_some() => run.answer = None,
        None => {}
    }
    run.waits = columns.word("state") == Some("waiting");
    if let Some((_, error)) = given("error") {
        fail(run, (*error).clone());
    }
}

fn fail(run: &mut Run, said: Value) {
    let turn = run.steps.last().map_or(1, |step| step.turn);
    let parts = vec![part("error", Role::Other, said)];
    run.steps.push(Step { turn, kind: StepKind::Error, parts, ..Step::default() });
}

/// Converts conversation, query and response to steps.
fn told_by(told: [Option<(&str, &Value)>; 3], columns: &Columns<'_>) -> Run {
    let [conversation, query, response] = told.map(|column| column.map(|(_, value)| value));
    let mut telling = StepBuilder::default();
    if let Some(conversation) = conversation
        && !telling.messages(conversation)
    {
        telling.say(StepKind::User, to_text_value(conversation));
    }
    if let Some(query) = query {
        if !telling.messages(query) {
            telling.say(StepKind::User, to_text_value(query));
        }
        // Messages before the response are not the answer.
        telling.said = None;
    }
    let by_messages = response.is_some_and(|value| telling.messages(value));
    let text = response.filter(|_| !by_messages).cloned();
    if let Some(value) = &text {
        telling.say(StepKind::Assistant, to_text_value(value));
    }
    let is_empty = |value: &Value| value.text().is_some_and(|text| text.trim().is_empty());
    let answer =
        text.or_else(|| telling.said.take().map(Value::Text)).filter(|value| !is_empty(value));
    let from = if response.is_some() { "response" } else { "last message of the conversation" };
    let steps = telling.into_steps();
    let mut run = Run {
        layout: Layout::Evaluation,
        answer: answer.map(|value| Answer { value, source: from.to_owned(), lenient: false }),
        untold: !by_messages && steps.iter().all(|step| step.kind != StepKind::ToolCall),
        steps,
        ..Run::default()
    };
    if !columns.given.is_empty() && columns.given.iter().all(|(_, value)| is_missing(value)) {
        fail(
            &mut run,
            Value::from(
                "The file has no answer of the target for this row: it failed or returned nothing.",
            ),
        );
    }
    run
}

/// Returns true for the metadata of a file that `touchstone evaluate` wrote: each evaluator lists
/// its switches. Runs that are written as rows have evaluators without switches.
fn is_evaluated_here(file: &Value) -> bool {
    let evaluators = file.get("evaluators").map_or(&[][..], Value::entries);
    evaluators.iter().any(|(_, about)| about.get("switches").is_some())
}

/// Returns a sentence with the stored results, and one with the evaluators that have none.
fn results(verdicts: &[Verdict]) -> Vec<String> {
    let (mut said, mut silent) = (Vec::new(), Vec::new());
    for verdict in verdicts {
        if verdict.is_silent {
            silent.push(verdict.evaluator.clone());
            continue;
        }
        let passed = verdict.passed.map(|passed| if passed { "pass" } else { "fail" });
        let score = verdict.score.as_ref().or(verdict.word.as_ref()).map(String::as_str);
        let words = [passed, score].into_iter().flatten().map(|word| format!(" {}", short(word)));
        said.push(words.fold(verdict.evaluator.clone(), |told, word| told + &word));
    }
    let listed = |what: &str, mut names: Vec<String>| {
        let more = names.len().saturating_sub(NAMED);
        names.truncate(NAMED);
        let more = if more > 0 { format!(" and {more} more") } else { String::new() };
        (!names.is_empty()).then(|| format!("{what}: {}{more}.", names.join(", ")))
    };
    let none = "Evaluators without a result for this row (not a verdict on the answer)";
    [listed("Stored results", said), listed(none, silent)].into_iter().flatten().collect()
}

/// Shortens a word, and a long fraction to four decimals. Numbers that would lose more than that stay
/// as they are written.
pub(super) fn short(word: &str) -> String {
    const LONG: usize = 8;
    const EXACT: std::ops::Range<f64> = 0.001..1e9;
    match word.parse::<f64>() {
        Ok(number) if word.len() > LONG && word.contains('.') && EXACT.contains(&number.abs()) => {
            format!("{number:.4}").trim_end_matches('0').trim_end_matches('.').to_owned()
        }
        _ => word.chars().take(40).collect(),
    }
}

fn to_text_value(value: &Value) -> Value {
    if value.text().is_some() { value.clone() } else { Value::Text(json::write(value, false)) }
}

/// Returns a short hash that distinguishes different values. Not for security purposes.
fn fingerprint(value: &Value) -> u16 {
    let mut hash = 0x811c_9dc5_u32;
    for byte in json::write(value, false).bytes() {
        hash = (hash ^ u32::from(byte)).wrapping_mul(0x0100_0193);
    }
    u16::try_from((hash >> 16) ^ (hash & 0xffff)).unwrap_or_default()
}
