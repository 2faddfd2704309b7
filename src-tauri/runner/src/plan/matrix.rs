//! **Pure.** Expands a request into runs: tasks × systems × models × variations × repeats, in an
//! order that is fair to all of them.
use crate::strategy::Strategy;
use std::cell::RefCell;
use std::collections::{HashMap, HashSet};
use std::sync::Arc;
use touchstone_formats::names::{self, Coordinates};
use touchstone_formats::suite::{SimulatedUser, Task};
use touchstone_formats::system::System;
use xxhash_rust::xxh3::{xxh3_64, xxh3_128};

/// Maximum number of repeats; more are assumed to be a typing error.
const MOST_REPEATS: u32 = 1_000;
/// Maximum bytes of a result's file name. File systems allow 255, and the name of the journal is
/// one byte longer.
const LONGEST_NAME: usize = 254;

/// Files by the run that their names denote; several if a file was copied.
pub type Named = HashMap<Coordinates, Vec<String>>;

/// Run that could be executed.
#[derive(Debug, Clone, PartialEq)]
pub struct Slot {
    /// Coordinates of the run.
    pub at: Coordinates,
    /// Output file, relative to the output directory.
    pub path: String,
    /// Task of the run.
    pub task: Arc<Task>,
    /// Strategy to start it with.
    pub way: Strategy,
    /// Model that plays the user according to the file of the run, if the run is resumed.
    pub user_model: Option<String>,
}

impl Slot {
    /// Creates the run at these coordinates.
    pub fn new(task: Arc<Task>, at: Coordinates) -> Self {
        Self { path: names::write(&at), at, task, way: Strategy::default(), user_model: None }
    }

    /// Returns the first message: the prompt of the task with the parameters of the variation.
    pub fn prompt(&self) -> String {
        let prompt = self.task.prompt(&self.at.system).unwrap_or_default();
        self.task.fill(prompt, usize::try_from(self.at.variation).ok())
    }

    /// Returns the user that a model plays in the run, if there is one.
    pub fn user(&self) -> Option<&SimulatedUser> {
        self.task.user_of(usize::try_from(self.at.variation).ok())
    }

    /// Returns the text that functions are searched by: the prompt, or what the simulated user wants.
    pub fn search_text(&self) -> String {
        match self.user() {
            Some(user) => self.task.fill(&user.goal, usize::try_from(self.at.variation).ok()),
            None => self.prompt(),
        }
    }

    /// Returns the reason it is impossible, as a sentence.
    pub fn why_not(&self) -> Option<String> {
        let Coordinates { system, model, variation, .. } = &self.at;
        if !system.is_runnable() {
            return Some(format!(
                "There is no system `{system}`; there are {}.",
                System::runnable_names()
            ));
        }
        if self.user().is_some() && *system == System::PromptQl {
            let why = "The task has a simulated user, and a run of promptql is one question with its reply, \
                       to which nobody can add a message. Choose the system tool_calling, \
                       or write a `promptql_prompt` for a task without a `user`.";
            return Some(why.to_owned());
        }
        if !self.task.suits(system, usize::try_from(*variation).ok()) {
            return Some(format!("The task has no prompt for {system}."));
        }
        let count = self.task.variations.len();
        if usize::try_from(*variation).is_ok_and(|variation| variation >= count) {
            return Some(format!(
                "The task has no variation {variation}; it has {count}, counted from 0."
            ));
        }
        if model.is_empty() || model.contains(['/', '\0']) {
            return Some(format!(
                "`{model}` cannot stand in the name of a file. Give the model another name."
            ));
        }
        self.too_long()
    }

    /// Returns the reason its file name is too long, as a sentence; `None` if it is not.
    pub fn too_long(&self) -> Option<String> {
        let name = |path: &str| path.rsplit('/').next().unwrap_or_default().to_owned();
        let has = name(&self.path).len();
        let over = has.checked_sub(LONGEST_NAME).filter(|over| *over > 0)?;
        let task = name(&self.at.task);
        let (which, long) = if task.len() >= self.at.model.len() {
            ("file name of the task", &task)
        } else {
            ("name of the model", &self.at.model)
        };
        let mut left = over;
        let letters = long.chars().rev().take_while(|letter| {
            let needed = left > 0;
            left = left.saturating_sub(letter.len_utf8());
            needed
        });
        let by = match letters.count() {
            1 => "a letter".to_owned(),
            letters => format!("{letters} letters"),
        };
        Some(format!(
            "Its file name would have {has} bytes, and the limit is {LONGEST_NAME}. Make the {which} {by} shorter."
        ))
    }
}

/// Requested runs.
#[derive(Debug, Clone, PartialEq, Default)]
pub struct MatrixSpec {
    /// Systems.
    pub systems: Vec<System>,
    /// Models.
    pub models: Vec<String>,
    /// Variations, from 0; empty means all.
    pub variations: Vec<u32>,
    /// Number of repeats; none means that of the suite.
    pub repeats: Option<u32>,
    /// Restricts the request to a shard.
    pub shard: Option<Shard>,
}

/// Shard of a matrix, which lets several machines share the work.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct Shard {
    /// Number of this shard, from 1.
    pub part: u64,
    /// Total number of shards.
    pub of: u64,
}

impl Shard {
    /// Returns true for the runs of this shard. The assignment depends only on the path of the run.
    pub fn holds(self, path: &str) -> bool {
        xxh3_64(path.as_bytes()) % self.of.max(1) == self.part.saturating_sub(1)
    }
}

/// Expansion of a request, before files on disk are considered.
#[derive(Debug, Clone, PartialEq, Default)]
pub struct Matrix {
    /// Runs, in order.
    pub slots: Vec<Slot>,
    /// Impossible runs, with reasons.
    pub skipped: Vec<(Slot, String)>,
}

/// Expands a request for some tasks. Every task, system and model gets a turn before any gets a
/// second one. A launch that is stopped early has thus covered a bit of everything, and no provider
/// waits for another.
pub fn matrix(tasks: &[Arc<Task>], wish: &MatrixSpec) -> Matrix {
    let mut chosen: Vec<&Arc<Task>> = tasks.iter().collect();
    chosen.sort_by(|one, other| one.id.cmp(&other.id));
    let mut matrix = Matrix::default();
    let (systems, models) = (once(&wish.systems), once(&wish.models));
    let repeats = |task: &Task| wish.repeats.unwrap_or(task.repeat).clamp(1, MOST_REPEATS);
    let variations: Vec<u32> = if wish.variations.is_empty() {
        let most = chosen.iter().map(|task| task.variations.len()).max().unwrap_or(0);
        (0..u32::try_from(most).unwrap_or(u32::MAX)).collect()
    } else {
        once(&wish.variations)
    };
    let mut paths = HashSet::new();
    let mut path = String::new();
    let mut at = Coordinates {
        task: String::new(),
        system: System::ToolCalling,
        model: String::new(),
        variation: 0,
        repeat: 1,
        fork: 0,
    };
    for repeat in 1..=chosen.iter().map(|task| repeats(task)).max().unwrap_or(0) {
        for variation in &variations {
            for task in chosen
                .iter()
                .filter(|task| repeat <= repeats(task) && is_meant(task, *variation, wish))
            {
                for system in &systems {
                    for model in &models {
                        at.task.clone_from(&task.id);
                        at.system.clone_from(system);
                        at.model.clone_from(model);
                        (at.variation, at.repeat) = (*variation, repeat);
                        names::write_to(&mut path, &at);
                        // Most runs are those of other parts, and cost no memory.
                        if wish.shard.is_none_or(|shard| shard.holds(&path)) {
                            matrix.add(Slot::new(Arc::clone(task), at.clone()), &mut paths);
                        }
                    }
                }
            }
        }
    }
    matrix
}

/// Returns true if a variation is relevant for a task. A variation that the task does not have is
/// reported only if it was requested explicitly.
fn is_meant(task: &Task, variation: u32, wish: &MatrixSpec) -> bool {
    !wish.variations.is_empty()
        || usize::try_from(variation).is_ok_and(|variation| variation < task.variations.len())
}

fn once<T: Clone + PartialEq>(all: &[T]) -> Vec<T> {
    let mut seen: Vec<T> = Vec::new();
    for one in all {
        if !seen.contains(one) {
            seen.push(one.clone());
        }
    }
    seen
}

impl Matrix {
    fn add(&mut self, slot: Slot, paths: &mut HashSet<u128>) {
        match slot.why_not() {
            Some(why) => self.skipped.push((slot, why)),
            // `a.yaml` and `a.yml` are two tasks with the same id.
            None if !paths.insert(xxh3_128(slot.path.as_bytes())) => {
                self.skipped.push((
                    slot,
                    "Another task has the same id, and so the same output file.".to_owned(),
                ));
            }
            None => self.slots.push(slot),
        }
    }
}

impl Matrix {
    /// Assigns existing files to runs, whatever their names. A run with two files is skipped,
    /// because either could be the right one. A fork is no repeat, and repeats are counted past it.
    pub fn find(
        &mut self,
        named: impl FnMut(&Coordinates) -> Vec<String>,
        forks: &HashSet<String>,
    ) {
        let is_fork = |path: &String| forks.contains(path);
        let named = RefCell::new(named);
        for mut slot in std::mem::take(&mut self.slots) {
            let is_taken = |number: u32| {
                let files =
                    (*named.borrow_mut())(&Coordinates { repeat: number, ..slot.at.clone() });
                !files.is_empty() && files.iter().all(is_fork)
            };
            let number = if forks.is_empty() {
                None
            } else {
                names::repeats(slot.at.repeat, is_taken).last().copied()
            };
            if let Some(number) = number.filter(|number| *number != slot.at.repeat) {
                slot = Slot {
                    way: slot.way,
                    ..Slot::new(slot.task, Coordinates { repeat: number, ..slot.at })
                };
            }
            let files = (*named.borrow_mut())(&slot.at);
            match files.into_iter().filter(|path| !is_fork(path)).collect::<Vec<_>>().as_slice() {
                [] => self.slots.push(slot),
                [only] => {
                    slot.path.clone_from(only);
                    self.slots.push(slot);
                }
                [first, others @ ..] => {
                    let (others, them) = (
                        others.join(" and "),
                        if others.len() == 1 { "one" } else { "all but one" },
                    );
                    let why = format!(
                        "There is more than one result of this run: {first} and {others}. Move {them} of them out of the output directory."
                    );
                    self.skipped.push((slot, why));
                }
            }
        }
    }
}

/// Returns the coordinates of a fork of a run, with the first free number. Names of forks differ
/// from those of repeats.
pub fn next_fork(at: &Coordinates, is_taken: impl Fn(&Coordinates) -> bool) -> Coordinates {
    let mut next = Coordinates { fork: 1, ..at.clone() };
    while is_taken(&next) && next.fork < u32::MAX {
        next.fork += 1;
    }
    next
}
