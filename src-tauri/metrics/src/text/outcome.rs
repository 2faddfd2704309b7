//! **Pure.** Results in the format of azure-ai-evaluation: score, pass or fail, and threshold,
//! under its key names.
use super::{Measured, Metric};

/// Minimum scores for passing. ROUGE has one for each of its parts; the other metrics use only
/// `score`.
#[derive(Debug, Clone, Copy, PartialEq)]
pub struct Thresholds {
    /// Threshold of the score; for ROUGE, of its harmonic mean.
    pub score: f64,
    /// Threshold of ROUGE's precision.
    pub precision: f64,
    /// Threshold of ROUGE's recall.
    pub recall: f64,
}

impl Default for Thresholds {
    fn default() -> Self {
        Self { score: 0.5, precision: 0.5, recall: 0.5 }
    }
}

/// Value in a result.
#[derive(Debug, Clone, Copy, PartialEq)]
pub enum Field {
    /// Number that is written with a fraction, even if that is 0.
    Number(f64),
    /// Whole number.
    Whole(u8),
    /// Text.
    Word(&'static str),
}

/// Returns the result of a metric, with its keys in order.
pub fn outcome(
    metric: Metric,
    measured: &Measured,
    thresholds: Thresholds,
) -> Vec<(&'static str, Field)> {
    let verdict =
        |score: f64, threshold: f64| Field::Word(if score >= threshold { "pass" } else { "fail" });
    if let Some(overlap) = measured.overlap {
        let parts = [
            (overlap.precision, thresholds.precision, ROUGE[0]),
            (overlap.recall, thresholds.recall, ROUGE[1]),
            (overlap.f1, thresholds.score, ROUGE[2]),
        ];
        let scores = parts.map(|(score, _, [key, _, _])| (key, Field::Number(score)));
        let results = parts.map(|(score, threshold, [_, key, _])| (key, verdict(score, threshold)));
        let limits = parts.map(|(_, threshold, [_, _, key])| (key, Field::Number(threshold)));
        return [scores, results, limits].concat();
    }
    let [score, result, threshold] = keys(metric);
    let number = if measured.comparable { Field::Number(measured.score) } else { Field::Whole(0) };
    vec![
        (score, number),
        (result, verdict(measured.score, thresholds.score)),
        (threshold, Field::Number(thresholds.score)),
    ]
}

const ROUGE: [[&str; 3]; 3] = [
    ["rouge_precision", "rouge_precision_result", "rouge_precision_threshold"],
    ["rouge_recall", "rouge_recall_result", "rouge_recall_threshold"],
    ["rouge_f1_score", "rouge_f1_score_result", "rouge_f1_score_threshold"],
];

fn keys(metric: Metric) -> [&'static str; 3] {
    match metric {
        Metric::F1 => ["f1_score", "f1_result", "f1_threshold"],
        Metric::Bleu => ["bleu_score", "bleu_result", "bleu_threshold"],
        Metric::Gleu => ["gleu_score", "gleu_result", "gleu_threshold"],
        Metric::Meteor => ["meteor_score", "meteor_result", "meteor_threshold"],
        _ => ROUGE[2],
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::text::{Nltk, measure};

    fn written(metric: Metric, response: &str, thresholds: Thresholds) -> String {
        let measured = measure(metric, response, "one two three four five", Nltk::default());
        let fields = outcome(metric, &measured, thresholds);
        fields.iter().map(|(key, field)| format!("{key}={field:?}")).collect::<Vec<_>>().join(" ")
    }

    #[test]
    fn results_have_the_names_and_the_order_of_the_package() {
        let thresholds = Thresholds { score: 0.5, precision: 0.2, recall: 0.9 };
        assert_eq!(
            written(Metric::F1, "one two three", thresholds),
            "f1_score=Number(0.7499999999999999) f1_result=Word(\"pass\") f1_threshold=Number(0.5)"
        );
        assert_eq!(
            written(Metric::Bleu, "six", thresholds),
            "bleu_score=Whole(0) bleu_result=Word(\"fail\") bleu_threshold=Number(0.5)"
        );
        assert_eq!(
            written(Metric::Rouge1, "one two three", thresholds),
            "rouge_precision=Number(1.0) rouge_recall=Number(0.6) rouge_f1_score=Number(0.7499999999999999) \
             rouge_precision_result=Word(\"pass\") rouge_recall_result=Word(\"fail\") rouge_f1_score_result=Word(\"pass\") \
             rouge_precision_threshold=Number(0.2) rouge_recall_threshold=Number(0.9) rouge_f1_score_threshold=Number(0.5)"
        );
    }
}
