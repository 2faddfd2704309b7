//! **Pure.** Reviews of a run as the index stores them, and which of them counts in lists.
use super::beginning;
use serde::{Deserialize, Serialize};
use std::collections::BTreeMap;
use touchstone_formats::review::{ReviewFile, Verdict};

/// Review by one person.
#[derive(Debug, Clone, PartialEq, Default, Serialize, Deserialize)]
pub(crate) struct StoredReview {
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub(crate) author: Option<String>,
    /// Verdict, as written in files.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub(crate) verdict: Option<String>,
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub(crate) score: Option<f64>,
    /// Beginning of the note.
    #[serde(default, skip_serializing_if = "String::is_empty")]
    pub(crate) note: String,
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub(crate) at_ms: Option<i64>,
    /// Names the answer it was given for; `None` means any.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub(crate) answer: Option<String>,
    /// Values of labels.
    #[serde(default, skip_serializing_if = "BTreeMap::is_empty")]
    pub(crate) labels: BTreeMap<String, String>,
    /// True if it is about the present answer. Stored apart, because it changes with the run.
    #[serde(skip)]
    pub(crate) holds: bool,
}

impl StoredReview {
    /// Formats the reviews of a file.
    pub(super) fn to_json(file: &ReviewFile) -> String {
        let all: Vec<Self> = file
            .reviews()
            .map(|review| Self {
                author: review.author.clone(),
                verdict: review.verdict.map(|verdict| verdict.word().to_owned()),
                score: review.score,
                note: beginning(&review.note),
                at_ms: review.at_ms(),
                answer: review.answer.clone(),
                labels: review.labels.clone(),
                holds: false,
            })
            .collect();
        serde_json::to_string(&all).unwrap_or_default()
    }

    /// Parses stored reviews. `same` has a `1` for each review that is about the present answer.
    pub(crate) fn all(json: &str, same: &str) -> Vec<Self> {
        let mut all: Vec<Self> = serde_json::from_str(json).unwrap_or_default();
        all.iter_mut().zip(same.bytes()).for_each(|(one, same)| one.holds = same == b'1');
        all
    }

    /// Returns the verdict.
    pub(crate) fn verdict(&self) -> Option<Verdict> {
        self.verdict.as_deref().and_then(Verdict::from_word)
    }

    /// Returns true if there is a verdict or a score, not only a note.
    pub(crate) fn is_verdict(&self) -> bool {
        self.verdict.is_some() || self.score.is_some()
    }

    /// Returns the review that counts in lists: the newest of the present answer, and one with a
    /// verdict before a mere note. Without dates the first one counts.
    pub(super) fn counted(all: &[Self]) -> Option<&Self> {
        let key = |one: &Self| (one.is_verdict(), one.at_ms);
        all.iter().filter(|one| one.holds).rev().max_by_key(|one| key(one))
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_newest_verdict_of_the_present_answer_counts() {
        let file = ReviewFile::read(
            b"verdict: right\nat: '2025-01-02T00:00:00Z'\nauthor: Ann\nothers:\n\
              - { verdict: wrong, at: '2025-01-03T00:00:00Z', author: Zoe }\n\
              - { note: hm, at: '2025-01-04T00:00:00Z', author: Bo }\n",
        )
        .unwrap();
        let json = StoredReview::to_json(&file);
        let counted = |same: &str| {
            StoredReview::counted(&StoredReview::all(&json, same))
                .and_then(|one| one.author.clone())
        };
        assert_eq!(counted("111").as_deref(), Some("Zoe"));
        assert_eq!(counted("101").as_deref(), Some("Ann"));
        assert_eq!(counted("001").as_deref(), Some("Bo"));
        assert_eq!(counted("000"), None);
        let undated = ReviewFile::read(b"verdict: right\nothers:\n- { verdict: wrong }\n").unwrap();
        let all = StoredReview::all(&StoredReview::to_json(&undated), "11");
        assert_eq!(StoredReview::counted(&all).unwrap().verdict(), Some(Verdict::Right));
    }
}
