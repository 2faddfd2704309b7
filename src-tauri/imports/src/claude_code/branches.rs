//! **Pure.** Branches of a session that the user left by going back to an earlier message.
use super::record::Record;
use std::collections::{HashMap, HashSet};

/// Returns for each record whether it belongs to a branch that was abandoned.
///
/// Records name the one they follow. Forks are common without a rewind, because calls that ran side
/// by side have a result each; so a branch counts as abandoned only if it starts with a message of
/// the user, and the way to the last message has another one at the same place.
pub(super) fn abandoned(records: &[Record]) -> Vec<bool> {
    let mut first = HashMap::new();
    for (at, record) in records.iter().enumerate() {
        if let Some(uuid) = &record.uuid {
            first.entry(uuid.as_str()).or_insert(at);
        }
    }
    let parent_of = |at: usize| {
        let parent = records.get(at)?.parent.as_deref()?;
        first.get(parent).copied().filter(|parent| *parent < at)
    };
    let mut main = HashSet::new();
    let last = records.iter().rposition(|record| record.is_message() && !record.is_sidechain);
    let mut next = last;
    while let Some(at) = next {
        main.insert(at);
        next = parent_of(at);
    }
    let forks: HashSet<usize> = main
        .iter()
        .filter(|at| records[**at].is_prompt())
        .filter_map(|at| parent_of(*at))
        .collect();
    let mut abandoned = vec![false; records.len()];
    for (at, record) in records.iter().enumerate() {
        if main.contains(&at) || record.is_sidechain {
            continue;
        }
        let Some(parent) = parent_of(at) else { continue };
        abandoned[at] = abandoned[parent] || (record.is_prompt() && forks.contains(&parent));
    }
    abandoned
}
