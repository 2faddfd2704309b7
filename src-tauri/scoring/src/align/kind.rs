//! **Pure.** Relation of two steps in one row, and whether the runs diverge there.
use super::digest::{Digest, Role};
use super::words::ALL;

/// Minimum similarity of two messages on the same subject.
const SAME_TOPIC: u32 = 200;
/// Minimum similarity of two calls that count as the same request if their results are equal.
const SAME_REQUEST: u32 = 300;
/// Minimum similarity of two messages of which one rewords the other: they share most of their words.
const SAME_WORDS: u32 = 500;

/// Step to which similarities of calls are rounded down, so that a later call must be clearly more
/// similar to be preferred to an earlier one.
const STEP: u32 = 100;

/// Similarity of calls below which common words are chance.
const NOISE: u32 = 250;

/// Relation of a step to the step of the first run in the same row, from equal to far apart.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Hash, PartialOrd, Ord)]
pub enum Kind {
    /// Same action and same result, exactly.
    Same,
    /// Same except for irrelevant wording: system instructions, narration before a call, whitespace
    /// in SQL, times of the run.
    Reworded,
    /// Other words that do not matter: narration before a call, which has its own row, and texts around
    /// the same answer.
    OtherWords,
    /// Same tool, called differently, with the same result.
    SameResult,
    /// Same action with a different result.
    OtherResult,
    /// Same tool with other arguments, or another message on the same subject.
    Similar,
    /// Different action.
    Different,
    /// This run has no such step.
    Absent,
}

/// Returns the relation of two steps. Symmetric.
pub(crate) fn relate(a: &Digest, b: &Digest) -> Kind {
    if a.equals(b) {
        return Kind::Same;
    }
    match (a.role, b.role) {
        (Role::Narration | Role::Conclusion, Role::Narration | Role::Conclusion) => {
            relate_messages(a, b)
        }
        // System instructions contain the time and the tools of their run.
        (Role::System, Role::System) => wording(a, b),
        (Role::Prompt | Role::Person, Role::Prompt | Role::Person) if a.meant == b.meant => {
            Kind::Reworded
        }
        (Role::Prompt | Role::Person, Role::Prompt | Role::Person) => topic(a, b),
        (left, right) if left != right || a.name != b.name => Kind::Different,
        (role, _) => relate_actions(a, b, role),
    }
}

fn relate_messages(a: &Digest, b: &Digest) -> Kind {
    let conclude = (a.role == Role::Conclusion, b.role == Role::Conclusion);
    let answers = a.answer.is_some() && b.answer.is_some();
    match conclude {
        _ if a.meant == b.meant => Kind::Reworded,
        (true, true) if answers && a.answer == b.answer => wording(a, b),
        (true, true) => topic(a, b),
        // A message before a call matters only by the call, which has its own row.
        (false, false) => wording(a, b),
        _ => Kind::Different,
    }
}

/// Relation of two texts whose difference does not matter.
fn wording(a: &Digest, b: &Digest) -> Kind {
    if a.alike(b) >= SAME_WORDS { Kind::Reworded } else { Kind::OtherWords }
}

fn topic(a: &Digest, b: &Digest) -> Kind {
    if a.alike(b) >= SAME_TOPIC { Kind::Similar } else { Kind::Different }
}

fn relate_actions(a: &Digest, b: &Digest, role: Role) -> Kind {
    let table = a.result.table.is_some() && a.result.table == b.result.table;
    match role {
        Role::Error if a.result.meant != b.result.meant => Kind::OtherResult,
        _ if a.meant == b.meant && a.result.meant == b.result.meant => Kind::Reworded,
        _ if a.meant == b.meant => Kind::OtherResult,
        Role::Call if table && a.alike(b) >= SAME_REQUEST => Kind::SameResult,
        _ => Kind::Similar,
    }
}

/// Returns true if the runs diverge here, that is, did different things. Inputs of a run, narration
/// and results of the same call are no divergence.
pub(crate) fn diverges(kind: Kind, a: &Digest, b: Option<&Digest>) -> bool {
    let given = |role| matches!(role, Role::System | Role::Prompt | Role::Narration);
    match kind {
        Kind::Same | Kind::Reworded | Kind::OtherWords | Kind::SameResult | Kind::OtherResult => {
            false
        }
        Kind::Similar | Kind::Different | Kind::Absent => {
            !(given(a.role) && b.is_none_or(|b| given(b.role)))
        }
    }
}

/// Returns the worth of two steps in one row; 0 if they have too little in common. Steps that do
/// more are worth more. `asked` returns the similarity of the two calls, or of the calls that two
/// messages lead to.
pub(crate) fn worth(a: &Digest, b: &Digest, asked: impl Fn() -> u32) -> u32 {
    let weight = weight(a.role).min(weight(b.role));
    if a.equals(b) {
        return ALL * weight;
    }
    weight * likeness(a, b, asked).min(ALL - 1)
}

fn likeness(a: &Digest, b: &Digest, asked: impl Fn() -> u32) -> u32 {
    use Role::{
        Abandoned, Artifact, Call, Conclusion, Error, Narration, Person, Program, Prompt, SubAgent,
        System, Unknown,
    };
    let from = |base: u32| base + (ALL - base) * a.alike(b) / ALL;
    let same_name = a.name == b.name;
    match (a.role, b.role) {
        (Call, Call) | (Program, Program) if same_name => asked(),
        (SubAgent, SubAgent) if same_name => from(400),
        (Call | Program, Call | Program) | (SubAgent, SubAgent) => enough(a.alike(b), 500) / 2,
        // A message before a call belongs to that call.
        (Narration, Narration) => 50 + a.alike(b) / 2 + asked() * 9 / 20,
        (Narration, Conclusion) | (Conclusion, Narration) => enough(a.alike(b), 300) / 2,
        (Conclusion, Conclusion) | (Prompt | Person, Prompt | Person) | (System, System) => {
            from(400)
        }
        (Artifact, Artifact) if same_name => {
            if a.result.meant == b.result.meant {
                ALL
            } else {
                700
            }
        }
        (Artifact, Artifact) if a.result.meant == b.result.meant => 400,
        (Abandoned, Abandoned) => from(300),
        (Error, Error) => 700,
        (Unknown, Unknown) if same_name => from(300),
        _ => 0,
    }
}

/// Returns the similarity of two calls of the same tool, including their results. It is rounded
/// down to coarse steps, and noise counts as nothing, so that between about equally similar calls
/// the first attempt is preferred to its repetition.
pub(crate) fn call_similarity(a: &Digest, b: &Digest) -> u32 {
    let result = a.result.meant == b.result.meant
        || (a.result.table.is_some() && a.result.table == b.result.table);
    let alike = enough(a.alike(b), NOISE) / STEP * STEP;
    100 + alike * 8 / 10 + if result { 99 } else { 0 }
}

fn enough(likeness: u32, least: u32) -> u32 {
    if likeness >= least { likeness } else { 0 }
}

fn weight(role: Role) -> u32 {
    match role {
        Role::Prompt | Role::Person => 4,
        Role::Call
        | Role::Program
        | Role::Conclusion
        | Role::Artifact
        | Role::SubAgent
        | Role::Error => 2,
        Role::Narration | Role::System | Role::Abandoned | Role::Unknown => 1,
    }
}
