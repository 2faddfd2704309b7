//! **Pure.** Counts and amounts of money, formatted for sentences.
use touchstone_app::written::fixed;

/// Returns the singular or plural of `word` for a count.
pub(super) fn of(many: u64, word: &str) -> String {
    if many == 1 { word.to_owned() } else { format!("{word}s") }
}

/// Formats a count with its noun, singular or plural.
pub(super) fn counted(many: u64, word: &str) -> String {
    format!("{many} {}", of(many, word))
}

/// Formats a range as "least to most", or as one value if both are equal.
pub(super) fn between(least: &str, most: &str) -> String {
    if least == most { most.to_owned() } else { format!("{least} to {most}") }
}

/// Smallest amount of dollars that is written as a number.
pub(super) const LEAST: f64 = 0.000_1;

/// Formats an amount of dollars. A positive amount below [`LEAST`] is written as "less than", so
/// that it is not mistaken for zero.
pub(super) fn dollars(amount: f64) -> String {
    if amount > 0.0 && amount < LEAST {
        format!("less than ${LEAST}")
    } else {
        format!("${}", fixed(amount, 4))
    }
}
