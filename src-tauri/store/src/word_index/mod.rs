//! The full-text index: which runs hold a word, and in which kinds of texts. Made in the background
//! from the text of the runs, newest first; runs that it does not hold yet are read instead.
//!
//! It lies in segments, each of the words of some runs, as sorted blocks of rows in the index. New
//! runs make a new segment, and segments of similar size are merged. A run whose text changed is
//! noted as dead in the segment that holds its old text. `runs.words` says which segment a run was
//! first written to; a merged segment has the numbers of those it was made of.
//!
//! A word here is what a search needle can match: it starts where a word starts, and goes on over
//! ASCII letters, digits and `_`. A needle of such characters is thus found by it exactly. Other
//! needles are only narrowed, and read for in the text.
mod block;
pub(crate) mod fill;
pub(crate) mod lookup;
mod merge;
pub(crate) mod plan;
pub(crate) mod segments;
mod terms;
#[cfg(test)]
mod tests;
mod words;

use touchstone_formats::transcript::step_list::{ListedKind, TextRole};

/// Kinds of texts as bits: where in a run a word stands.
pub(crate) type Places = u8;

/// Anywhere in a run.
pub(crate) const ANYWHERE: Places = Places::MAX;
/// Texts that no question asks for alone: names of tools, thinking, the answer, abandoned branches.
const ELSEWHERE: Places = 1;

/// Returns the bit of the texts of a kind of step with a role.
pub(crate) fn bit_of(kind: ListedKind, role: TextRole) -> Places {
    match (kind, role) {
        (ListedKind::User, TextRole::Own) => 1 << 1,
        (ListedKind::Assistant, TextRole::Own) => 1 << 2,
        (ListedKind::Call, TextRole::Own) => 1 << 3,
        (ListedKind::Call, TextRole::Result) => 1 << 4,
        (ListedKind::Program, TextRole::Own) => 1 << 5,
        (ListedKind::Program, TextRole::Result) => 1 << 6,
        (ListedKind::Error, TextRole::Own) => 1 << 7,
        _ => ELSEWHERE,
    }
}
