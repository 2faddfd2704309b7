//! **Pure.** Numbers of things and of money, as sentences have them.
use touchstone_app::written::fixed;

/// A word for so many.
pub(super) fn of(many: u64, word: &str) -> String {
    if many == 1 { word.to_owned() } else { format!("{word}s") }
}

/// So many, with their word.
pub(super) fn counted(many: u64, word: &str) -> String {
    format!("{many} {}", of(many, word))
}

/// Least and most; once where they are the same.
pub(super) fn between(least: &str, most: &str) -> String {
    if least == most { most.to_owned() } else { format!("{least} to {most}") }
}

/// The least that is written as a number.
pub(super) const LEAST: f64 = 0.000_1;

/// An amount that is nearly nothing is not none.
pub(super) fn dollars(amount: f64) -> String {
    if amount > 0.0 && amount < LEAST {
        format!("less than ${LEAST}")
    } else {
        format!("${}", fixed(amount, 4))
    }
}
