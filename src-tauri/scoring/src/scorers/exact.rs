//! **Pure.** `exact`: equality of values.
use super::canon::canonical;
use super::scorer::Scorer;
use super::{Case, Outcome, Scored, words};
use crate::diff::{Dates, Options, diff};

/// Scores 1 if both values are equal, otherwise 0. Numbers are compared by value (`84.10` equals
/// `84.1`) and object keys in any order. Everything else must be identical: the order of lists, the
/// characters of texts, and types, so that `"84.1"` does not equal `84.1`.
pub(super) fn score(scorer: &Scorer, case: &Case<'_>) -> Outcome {
    let Some(expected) = case.expected else { return super::no_expected() };
    let Some(answer) = case.answer else { return super::no_answer() };
    if canonical(expected) == canonical(answer) {
        return Outcome::Scored(Scored::new(
            1.0,
            scorer.passes(1.0, true),
            "exactly what was expected",
        ));
    }
    let options = Options {
        dates: Dates::AsWritten,
        key: case.key.map(|key| vec![key.to_owned()]),
        ..Options::default()
    };
    let found = diff(expected, answer, &options);
    let reason = if words::kind_word(expected) != words::kind_word(answer) {
        let same = if found.is_equal() { ": the same in another type" } else { "" };
        format!("{}{same}", words::instead(&words::kind(expected), answer))
    } else if found.is_equal() {
        "the same, but some values are of another type".to_owned()
    } else {
        found.summary()
    };
    Outcome::Scored(Scored::new(0.0, scorer.passes(0.0, false), reason))
}
