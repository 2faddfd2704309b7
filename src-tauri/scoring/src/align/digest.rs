//! **Pure.** Digests of steps for alignment: hashes of the action and its result, and the words
//! from which similarity is computed. Built once per run; alignment never reads the run itself.
use super::normal_form::{self, RunDetails, hash_of};
use super::words::{ALL, Words};
use std::borrow::Cow;
use std::collections::HashMap;
use touchstone_model::answer;
use touchstone_model::json;
use touchstone_model::nesting::{level, subtree_ends};
use touchstone_model::run::{Language, Part, Run, Step, StepKind};
use touchstone_model::value::Value;

/// Base weight of each part, added to its number of words.
const FRAME: u32 = 4;
/// Maximum number of words by which one part can weigh.
const MOST_OF_A_PART: usize = 64;
/// Maximum number of parts that are compared one by one; the rest is combined under the label
/// `REST`.
const MOST_PARTS: usize = 64;
const REST: u64 = u64::MAX;

/// Digest of a step for alignment.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Digest {
    pub(crate) role: Role,
    /// Nesting level of the step.
    pub(crate) depth: u32,
    /// Hash of the name of the tool, artifact or unknown item.
    pub(crate) name: Option<u64>,
    /// Hash of the exact action.
    pub(crate) done: u64,
    /// Hash of the action regardless of wording.
    pub(crate) meant: u64,
    /// Result of the step.
    pub(crate) result: Outcome,
    /// True for a call or program that failed.
    pub(crate) failed: bool,
    /// Parts of the action, sorted by label; in a step with very many parts, the last entry
    /// combines all that are not compared one by one.
    pub(crate) fields: Vec<Field>,
    /// Hash of the answer in a conclusion.
    pub(crate) answer: Option<u64>,
}

/// Role of a step in the comparison of runs, among the steps of its level.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Hash, PartialOrd, Ord)]
pub(crate) enum Role {
    /// System instructions.
    System,
    /// First message of the user.
    Prompt,
    /// Later message of the user, or an automatic nudge.
    Person,
    /// Message of the model before it does something.
    Narration,
    /// Final message of the model, after which it does nothing more.
    Conclusion,
    /// Tool call.
    Call,
    /// A program.
    Program,
    /// Stored artifact.
    Artifact,
    /// Start of a sub-agent.
    SubAgent,
    /// Start of an abandoned branch.
    Abandoned,
    /// A system error.
    Error,
    /// Anything else.
    Unknown,
}

/// Hashes of the result of a step.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Default)]
pub(crate) struct Outcome {
    /// Hash of the exact result.
    pub(crate) exact: u64,
    /// Hash of the result without details that hold only for one run.
    pub(crate) meant: u64,
    /// Hash of a table's contents, if the result has a table.
    pub(crate) table: Option<u64>,
}

/// Part of an action.
#[derive(Debug, Clone, PartialEq, Eq)]
pub(crate) struct Field {
    /// Hash of the label, and of its occurrence index among equal labels.
    label: u64,
    meant: u64,
    words: Words,
}

/// Returns one digest per step of a run.
pub fn digests(run: &Run) -> Vec<Digest> {
    let day = day(run);
    let ends = subtree_ends(run.steps.iter().map(|step| step.depth));
    let roles = roles(&run.steps, &ends);
    let is_main = |at: &usize| roles[*at] == Role::Conclusion;
    let last = level(&ends, 0..ends.len()).filter(is_main).last();
    let mut digests = Vec::with_capacity(run.steps.len());
    for (at, (step, role)) in run.steps.iter().zip(roles).enumerate() {
        let own = RunDetails { day, call: step.call_id.as_deref() };
        let mut digest = match role {
            Role::SubAgent | Role::Abandoned => {
                let inner = level(&ends, at + 1..ends[at]).filter_map(|at| run.steps.get(at));
                digest(&header(step, inner), role, own)
            }
            _ => digest(step, role, own),
        };
        if role == Role::Conclusion {
            let given = run
                .answer
                .as_ref()
                .filter(|_| last == Some(at))
                .map(|answer| meaning(&answer.value));
            digest.answer = given.or_else(|| found(step));
        }
        digests.push(digest);
    }
    digests
}

/// Returns the day on which a run began, if the transcript has it.
pub(crate) fn day(run: &Run) -> Option<&str> {
    let started =
        run.facts.iter().find(|(key, _)| key == "run.started").and_then(|(_, value)| value.text());
    started.and_then(|text| text.get(..10)).filter(|day| is_day(day))
}

fn is_day(text: &str) -> bool {
    text.bytes()
        .enumerate()
        .all(|(at, byte)| if at == 4 || at == 7 { byte == b'-' } else { byte.is_ascii_digit() })
}

/// Returns the step by which a sub-agent or an abandoned branch is compared: its name and its first
/// prompt. What follows in it is compared step by step.
fn header<'s>(step: &Step, inner: impl IntoIterator<Item = &'s Step>) -> Step {
    let prompt = inner.into_iter().find(|step| step.kind == StepKind::User);
    Step {
        kind: step.kind,
        title: step.title.clone(),
        failed: step.failed,
        depth: step.depth,
        parts: prompt.map(|prompt| prompt.parts.clone()).unwrap_or_default(),
        ..Step::default()
    }
}

/// Returns the role of each step. Each level has its own prompt and conclusions.
fn roles(steps: &[Step], ends: &[usize]) -> Vec<Role> {
    let mut roles = vec![Role::Unknown; steps.len()];
    let mut todo: Vec<_> = std::iter::once(0..steps.len()).collect();
    while let Some(range) = todo.pop() {
        let steps_of_level: Vec<usize> = level(ends, range).collect();
        roles_of_level(steps, &steps_of_level, &mut roles);
        let inner = steps_of_level.into_iter().map(|at| at + 1..ends[at]);
        todo.extend(inner.filter(|range| !range.is_empty()));
    }
    roles
}

/// Finds the roles of the steps of one level. A message is a conclusion if no action follows before
/// the next user message.
fn roles_of_level(steps: &[Step], level: &[usize], roles: &mut [Role]) {
    let first = level.iter().copied().find(|at| steps[*at].kind == StepKind::User);
    let mut acts = false;
    for at in level.iter().copied().rev() {
        let role = match steps[at].kind {
            StepKind::System => Role::System,
            StepKind::User if first == Some(at) => Role::Prompt,
            StepKind::User => Role::Person,
            StepKind::Assistant if acts => Role::Narration,
            StepKind::Assistant => Role::Conclusion,
            StepKind::ToolCall => Role::Call,
            StepKind::Program => Role::Program,
            StepKind::Artifact => Role::Artifact,
            StepKind::Error => Role::Error,
            StepKind::SubAgent => Role::SubAgent,
            StepKind::Abandoned => Role::Abandoned,
            StepKind::Unknown | StepKind::Compaction | StepKind::Note => Role::Unknown,
        };
        acts = match role {
            Role::Call | Role::Program | Role::SubAgent => true,
            Role::Prompt | Role::Person => false,
            _ => acts,
        };
        roles[at] = role;
    }
}

fn digest(step: &Step, role: Role, own: RunDetails<'_>) -> Digest {
    let came = outcome(step, role);
    let mut fields: Vec<Field> = Vec::new();
    let mut done: Vec<(u64, u64)> = Vec::new();
    let mut seen: HashMap<u64, usize> = HashMap::new();
    for (at, part) in step.parts.iter().enumerate() {
        if came.contains(&at)
            || part.is_media()
            || !is_message_part(part, role)
            || came.last().is_some_and(|last| *last < at && is_timing(part))
        {
            continue;
        }
        let label = hash_of(&part.label);
        let twins = seen.entry(label).or_default();
        done.push((label, normal_form::exact(&part.value)));
        if is_compared(part, step, role) {
            fields.push(field(part, *twins, own));
        }
        *twins += 1;
    }
    // The order of arguments does not matter.
    if matches!(role, Role::Call | Role::Unknown) {
        done.sort_unstable();
        fields.sort_by_key(|field: &Field| field.label);
    }
    let (name, kind) = (step.title.as_deref().map(hash_of), kind(role));
    let meant: Vec<_> = fields.iter().map(|field| (field.label, field.meant)).collect();
    let fields = combine_excess(fields);
    Digest {
        role,
        depth: step.depth,
        name,
        done: hash_of((kind, name, done)),
        meant: hash_of((kind, name, meant)),
        result: result(step, &came, own),
        failed: step.failed == Some(true),
        fields,
        answer: None,
    }
}

/// Returns a class for hashing. All messages of one side share a class, so that they can be equal
/// across roles.
fn kind(role: Role) -> u8 {
    match role {
        Role::System => 0,
        Role::Prompt | Role::Person => 1,
        Role::Narration | Role::Conclusion => 2,
        Role::Call => 3,
        Role::Program => 4,
        Role::Artifact => 5,
        Role::Error => 6,
        Role::Unknown => 7,
        Role::SubAgent => 8,
        Role::Abandoned => 9,
    }
}

/// Returns the indexes of the parts that are the result of a step.
fn outcome(step: &Step, role: Role) -> Vec<usize> {
    let named = |names: &[&str]| {
        let is = |part: &Part| names.contains(&part.label.as_str());
        step.parts
            .iter()
            .enumerate()
            .filter(|(_, part)| is(part))
            .map(|(at, _)| at)
            .collect::<Vec<_>>()
    };
    match role {
        // A parameter may have such a name too; the result is the last part.
        Role::Call if step.failed.is_some() => {
            named(&["result", "error"]).pop().into_iter().collect()
        }
        Role::Program => named(&["output", "error"]),
        Role::Artifact => named(&["data"]),
        Role::Error => (0..step.parts.len()).collect(),
        _ => Vec::new(),
    }
}

/// Returns false for parts beside a message, such as metadata.
fn is_message_part(part: &Part, role: Role) -> bool {
    match role {
        Role::Narration | Role::Conclusion => matches!(part.label.as_str(), "message" | "thinking"),
        Role::Prompt | Role::Person | Role::System => part.label == "message",
        _ => true,
    }
}

/// Returns true for timing metadata that some systems append after the result of a call.
fn is_timing(part: &Part) -> bool {
    const CLOCKS: [&str; 6] =
        ["timestamp", "started_at", "finished_at", "created_at", "duration", "duration_ms"];
    CLOCKS.contains(&part.label.as_str())
}

/// Returns false for thinking, and for the plan of a program whose code is present: neither is an
/// action.
fn is_compared(part: &Part, step: &Step, role: Role) -> bool {
    match role {
        Role::Narration | Role::Conclusion => part.label == "message",
        Role::Program => part.label != "plan" || step.parts.iter().all(|part| part.label != "code"),
        _ => true,
    }
}

fn field(part: &Part, twins: usize, own: RunDetails<'_>) -> Field {
    let text = match &part.value {
        Value::Text(text) => Cow::Borrowed(text.as_str()),
        value => Cow::Owned(json::write(value, false)),
    };
    let said = matches!(part.language, Language::Markdown)
        || matches!(part.label.as_str(), "message" | "plan");
    let words = if said { Words::from_prose(&text) } else { Words::from_code(&text) };
    Field {
        label: hash_of((&part.label, twins)),
        meant: normal_form::meaning(&part.value, part.language, own),
        words,
    }
}

/// Sorts the parts by label, and combines all beyond `MOST_PARTS` into a single one whose words are
/// the hashes of the combined parts. Bounds the cost of comparing calls pairwise.
fn combine_excess(mut fields: Vec<Field>) -> Vec<Field> {
    fields.sort_by_key(|field| field.label);
    if fields.len() > MOST_PARTS {
        let rest = fields.split_off(MOST_PARTS);
        let each: Vec<u64> = rest.iter().map(|field| hash_of((field.label, field.meant))).collect();
        fields.push(Field { label: REST, meant: hash_of(&each), words: Words::from_hashes(each) });
    }
    fields
}

fn result(step: &Step, parts: &[usize], own: RunDetails<'_>) -> Outcome {
    let parts: Vec<&Part> = parts.iter().filter_map(|at| step.parts.get(*at)).collect();
    let each = |hash: &dyn Fn(&Part) -> u64| -> Vec<(u64, u64)> {
        parts.iter().map(|part| (hash_of(&part.label), hash(part))).collect()
    };
    let table = parts
        .iter()
        .find(|part| part.label == "result")
        .and_then(|part| normal_form::table(&part.value));
    Outcome {
        exact: hash_of((step.failed, each(&|part| normal_form::exact(&part.value)))),
        meant: hash_of((
            step.failed,
            each(&|part| normal_form::meaning(&part.value, part.language, own)),
        )),
        table,
    }
}

fn found(step: &Step) -> Option<u64> {
    let messages: Vec<&str> = step.parts.iter().filter_map(|part| part.value.text()).collect();
    answer::extract(&messages, None).map(|answer| meaning(&answer.value))
}

fn meaning(value: &Value) -> u64 {
    normal_form::meaning(value, Language::Plain, RunDetails::default())
}

impl Digest {
    /// Returns true if both did exactly the same with exactly the same result.
    pub(crate) fn equals(&self, other: &Self) -> bool {
        self.done == other.done && self.result.exact == other.result.exact
    }

    /// Returns a hash of action and result.
    pub(crate) fn exact_hash(&self) -> u64 {
        hash_of((self.done, self.result.exact))
    }

    /// Returns hashes of the action and its result, regardless of wording.
    pub(crate) fn call_and_result(&self) -> (u64, u64) {
        (self.meant, self.result.meant)
    }

    /// Returns the similarity of the two actions in thousandths: part by part, weighted by length.
    pub(crate) fn alike(&self, other: &Self) -> u32 {
        if self.meant == other.meant {
            return ALL;
        }
        let (mut sum, mut all) = (0, 0);
        let (mut left, mut right) = (self.fields.iter().peekable(), other.fields.iter().peekable());
        loop {
            all += match (left.peek(), right.peek()) {
                (Some(field), Some(twin)) if field.label == twin.label => {
                    let weight = field.weight().max(twin.weight());
                    sum += weight * field.alike(twin);
                    left.next();
                    right.next();
                    weight
                }
                (Some(field), twin) if twin.is_none_or(|twin| field.label < twin.label) => {
                    let weight = field.weight();
                    left.next();
                    weight
                }
                (_, Some(_)) => right.next().map_or(0, Field::weight),
                (_, None) => break,
            };
        }
        sum.checked_div(all).unwrap_or(ALL)
    }
}

impl Field {
    fn alike(&self, other: &Self) -> u32 {
        if self.meant == other.meant { ALL } else { self.words.alike(&other.words) }
    }

    fn weight(&self) -> u32 {
        FRAME + u32::try_from(self.words.count().min(MOST_OF_A_PART)).unwrap_or(0)
    }
}
