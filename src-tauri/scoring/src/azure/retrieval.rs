//! **Pure.** Documents that were found for a query, against labels of how relevant they are.
use super::options::{Limit, Options};

/// Options of `document_retrieval`.
#[derive(Debug, Clone, PartialEq)]
pub struct Retrieval {
    /// The label of what is not relevant.
    pub least: i64,
    /// The label of what is most relevant.
    pub most: i64,
    /// From which value on each of the first five metrics passes, then both totals.
    pub thresholds: [Limit; 7],
}

const THRESHOLDS: [(&str, &str); 7] = [
    ("ndcg_threshold", "0.5"),
    ("xdcg_threshold", "50.0"),
    ("fidelity_threshold", "0.5"),
    ("top1_relevance_threshold", "50.0"),
    ("top3_max_relevance_threshold", "50.0"),
    ("total_retrieved_documents_threshold", "50"),
    ("total_ground_truth_documents_threshold", "50"),
];

impl Retrieval {
    pub(super) fn read(options: &Options<'_>) -> Result<Self, String> {
        let whole = |name, usual, what: &str| -> Result<i64, String> {
            let limit = options.limit(name, usual)?;
            limit.written.parse().map_err(|_| format!("The ground truth label {what} must be an integer value."))
        };
        let least = whole("ground_truth_label_min", "0", "minimum")?;
        let most = whole("ground_truth_label_max", "4", "maximum")?;
        if least >= most {
            return Err("The ground truth label maximum must be strictly greater than the ground truth label minimum."
                .to_owned());
        }
        let mut thresholds = THRESHOLDS.map(|(_, usual)| Limit::usual(usual));
        for (threshold, (name, usual)) in thresholds.iter_mut().zip(THRESHOLDS) {
            *threshold = options.limit(name, usual)?;
        }
        Ok(Self { least, most, thresholds })
    }
}
