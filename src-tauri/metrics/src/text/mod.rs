//! **Pure.** Text similarity: the metrics of azure-ai-evaluation 1.10.0 with identical numbers, and
//! two plain comparisons.
//!
//! ```
//! use touchstone_metrics::text::{Metric, Nltk, Texts, measure};
//!
//! let measured = measure(Metric::F1, "The cat sat.", "A cat sat down.", Nltk::default());
//! assert_eq!(measured.score, 0.8);
//! // Several metrics of the same two texts share their work.
//! let texts = Texts::new("The cat sat.", "A cat sat down.", Nltk::default());
//! assert!(texts.measure(Metric::RougeL).score > texts.measure(Metric::Bleu).score);
//! ```
mod bleu;
mod charsets;
mod meteor;
mod outcome;
mod pair;
mod porter;
pub mod python;
mod rouge;
mod similarity;
mod string_check;
mod texts;
mod tokens;
mod wordnet;

pub use meteor::{Alignment, Weights};
pub use outcome::{Field, Thresholds, outcome};
pub use rouge::Overlap;
pub use similarity::{Similarity, fuzzy, too_long_for_fuzzy};
pub use string_check::StringCheck;
pub use texts::{Measured, Texts, measure};

/// Metric that compares a response with a truth. All scores are from 0 to 1; higher is better.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Hash, PartialOrd, Ord)]
pub enum Metric {
    /// Shared words, regardless of order.
    F1,
    /// Shared n-grams of one to four words, as used for translations.
    Bleu,
    /// Like BLEU, but with recall; for single sentences.
    Gleu,
    /// Shared words, including inflected forms and synonyms, and preserved word order.
    Meteor,
    /// Shared words.
    Rouge1,
    /// Shared pairs of words.
    Rouge2,
    /// Shared 3-grams.
    Rouge3,
    /// Shared 4-grams.
    Rouge4,
    /// Shared 5-grams.
    Rouge5,
    /// Longest common subsequence of words.
    RougeL,
}

impl Metric {
    /// All metrics, in the order in which they are written.
    pub const ALL: [Self; 10] = [
        Self::F1,
        Self::Bleu,
        Self::Gleu,
        Self::Meteor,
        Self::Rouge1,
        Self::Rouge2,
        Self::Rouge3,
        Self::Rouge4,
        Self::Rouge5,
        Self::RougeL,
    ];

    /// Returns the name in suites and files.
    pub fn name(self) -> &'static str {
        match self {
            Self::F1 => "f1",
            Self::Bleu => "bleu",
            Self::Gleu => "gleu",
            Self::Meteor => "meteor",
            Self::Rouge1 => "rouge1",
            Self::Rouge2 => "rouge2",
            Self::Rouge3 => "rouge3",
            Self::Rouge4 => "rouge4",
            Self::Rouge5 => "rouge5",
            Self::RougeL => "rougeL",
        }
    }

    /// Returns the metric with this name. Also accepts the names of OpenAI's graders for ROUGE
    /// (`rouge_1`, `rouge_l`).
    pub fn from_name(name: &str) -> Option<Self> {
        let plain = |name: &str| name.replace('_', "").to_ascii_lowercase();
        Self::ALL.into_iter().find(|metric| plain(metric.name()) == plain(name))
    }
}

/// NLTK version whose tokenizer rules apply to English texts. The versions differ in single quotes
/// around words.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Default)]
pub enum Nltk {
    /// NLTK 3.10.4, which is installed with azure-ai-evaluation today.
    #[default]
    V3_10,
    /// NLTK 3.9.1, which was current when azure-ai-evaluation 1.10.0 was released.
    V3_9,
}

impl Nltk {
    /// Returns the version number.
    pub fn name(self) -> &'static str {
        match self {
            Self::V3_10 => "3.10.4",
            Self::V3_9 => "3.9.1",
        }
    }

    /// Returns the version with this number.
    pub fn from_name(name: &str) -> Option<Self> {
        [Self::V3_10, Self::V3_9].into_iter().find(|version| version.name() == name)
    }

    /// Returns true for whitespace in NLTK's patterns. In version 3.10, the separators U+001C to
    /// U+001F are no whitespace.
    fn is_space(self, byte: u8) -> bool {
        matches!(byte, b'\t'..=b'\r' | b' ') || (self == Self::V3_9 && python::is_space_byte(byte))
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn every_name_leads_back_to_what_it_names() {
        for metric in Metric::ALL {
            assert_eq!(Metric::from_name(metric.name()), Some(metric));
        }
        assert_eq!(Metric::from_name("rouge_l"), Some(Metric::RougeL));
        assert_eq!((Metric::from_name("rouge6"), Metric::from_name("")), (None, None));
        for version in [Nltk::V3_10, Nltk::V3_9] {
            assert_eq!(Nltk::from_name(version.name()), Some(version));
        }
        assert_eq!(Nltk::from_name("3.8"), None);
    }
}
