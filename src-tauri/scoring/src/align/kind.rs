//! **Pure.** What two steps that stand in one row have to do with each other, and whether it is
//! there that the runs part.
use super::digest::{Digest, Role};
use super::words::ALL;

/// Two things that were said with fewer words in common say something else.
const SAME_TOPIC: u32 = 200;
/// Two calls with fewer words in common do not ask for the same, even if the same comes back.
const SAME_REQUEST: u32 = 300;

/// How much more alike a later call must be to be taken instead of an earlier one.
const STEP: u32 = 100;

/// Calls with fewer words in common have them by chance.
const NOISE: u32 = 250;

/// How a step of a run stands to the step of the first run in the same row, from nothing apart to
/// far apart.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Hash, PartialOrd, Ord)]
pub enum Kind {
    /// The same was done and the same came of it, to the letter.
    Same,
    /// The same but for words that do not matter: instructions of the system, what is said on the
    /// way to a call, spaces in SQL, the time of the run.
    Reworded,
    /// The same tool was asked in another way, and the same came of it.
    SameResult,
    /// The same was done, and something else came of it.
    OtherResult,
    /// The same tool with other arguments, or another message on the same subject.
    Similar,
    /// Something else.
    Different,
    /// This run has no such step.
    Absent,
}

/// How two steps stand to each other. The same whichever comes first.
pub(crate) fn relate(a: &Digest, b: &Digest) -> Kind {
    if a.equals(b) {
        return Kind::Same;
    }
    match (a.role, b.role) {
        (Role::Narration | Role::Conclusion, Role::Narration | Role::Conclusion) => said(a, b),
        // Instructions hold the time and the tools of their run.
        (Role::System, Role::System) => Kind::Reworded,
        (Role::Prompt | Role::Person, Role::Prompt | Role::Person) if a.meant == b.meant => {
            Kind::Reworded
        }
        (Role::Prompt | Role::Person, Role::Prompt | Role::Person) => topic(a, b),
        (left, right) if left != right || a.name != b.name => Kind::Different,
        (role, _) => done(a, b, role),
    }
}

fn said(a: &Digest, b: &Digest) -> Kind {
    let conclude = (a.role == Role::Conclusion, b.role == Role::Conclusion);
    let answers = a.answer.is_some() && b.answer.is_some();
    match conclude {
        _ if a.meant == b.meant => Kind::Reworded,
        (true, true) if answers && a.answer == b.answer => Kind::Reworded,
        (true, true) => topic(a, b),
        // What matters of a message on the way is what it leads to, and that has a row of its own.
        (false, false) => Kind::Reworded,
        _ => Kind::Different,
    }
}

fn topic(a: &Digest, b: &Digest) -> Kind {
    if a.alike(b) >= SAME_TOPIC { Kind::Similar } else { Kind::Different }
}

fn done(a: &Digest, b: &Digest, role: Role) -> Kind {
    let table = a.result.table.is_some() && a.result.table == b.result.table;
    match role {
        Role::Error if a.result.meant != b.result.meant => Kind::OtherResult,
        _ if a.meant == b.meant && a.result.meant == b.result.meant => Kind::Reworded,
        _ if a.meant == b.meant => Kind::OtherResult,
        Role::Call if table && a.alike(b) >= SAME_REQUEST => Kind::SameResult,
        _ => Kind::Similar,
    }
}

/// True when the runs part here: something else was done. What a run was given, what it says on the
/// way and what comes of the same call are no parting.
pub(crate) fn parts(kind: Kind, a: &Digest, b: Option<&Digest>) -> bool {
    let given = |role| matches!(role, Role::System | Role::Prompt | Role::Narration);
    match kind {
        Kind::Same | Kind::Reworded | Kind::SameResult | Kind::OtherResult => false,
        Kind::Similar | Kind::Different | Kind::Absent => {
            !(given(a.role) && b.is_none_or(|b| given(b.role)))
        }
    }
}

/// How much it is worth to have two steps in one row; nothing when they have too little in common.
/// The more a step does, the more. `asked` says how alike the two calls are, or those that two
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
        Artifact, Call, Conclusion, Error, Narration, Person, Program, Prompt, System, Unknown,
    };
    let from = |base: u32| base + (ALL - base) * a.alike(b) / ALL;
    let same_name = a.name == b.name;
    match (a.role, b.role) {
        (Call, Call) | (Program, Program) if same_name => asked(),
        (Call | Program, Call | Program) => enough(a.alike(b), 500) / 2,
        // A message on the way belongs to what follows it.
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
        (Error, Error) => 700,
        (Unknown, Unknown) if same_name => from(300),
        _ => 0,
    }
}

/// How alike two calls of one tool are; what came of them says something too. In coarse steps, and
/// nothing below the first ones: of two calls that are about as alike, the first attempt is meant
/// and not its repetition.
pub(crate) fn asked(a: &Digest, b: &Digest) -> u32 {
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
        Role::Call | Role::Program | Role::Conclusion | Role::Artifact | Role::Error => 2,
        Role::Narration | Role::System | Role::Unknown => 1,
    }
}
