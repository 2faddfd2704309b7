//! **Pure.** Response and ground truth by a metric: the results of F1, BLEU, GLEU, METEOR and ROUGE, with their options.
use super::options::{Limit, Options};
use crate::text::{Metric, Weights};

/// A metric with its options.
#[derive(Debug, Clone, PartialEq)]
pub struct Text {
    /// By what response and ground truth are measured.
    pub metric: Metric,
    /// Of METEOR.
    pub weights: Weights,
    /// From which score on it passes; of ROUGE, from which harmonic mean on.
    pub score: Limit,
    /// The same of the precision of ROUGE.
    pub precision: Limit,
    /// The same of the recall of ROUGE.
    pub recall: Limit,
}

impl Text {
    pub(super) fn read(kind: &str, options: &Options<'_>) -> Result<Self, String> {
        let (rouge, meteor) = (kind == "rouge_score", kind == "meteor_score");
        let metric = match kind {
            "f1_score" => Metric::F1,
            "bleu_score" => Metric::Bleu,
            "gleu_score" => Metric::Gleu,
            "meteor_score" => Metric::Meteor,
            _ => rouge_type(&options.text("rouge_type", "rougeL")?)?,
        };
        let mut weights = Weights::default();
        if meteor {
            weights = Weights {
                alpha: options.limit("alpha", "0.9")?.value,
                beta: options.limit("beta", "3.0")?.value,
                gamma: options.limit("gamma", "0.5")?.value,
            };
        }
        let part = |name| if rouge { options.limit(name, "0.5") } else { Ok(Limit::usual("0.5")) };
        let score = if rouge { "f1_score_threshold" } else { "threshold" };
        Ok(Self {
            metric,
            weights,
            score: options.limit(score, "0.5")?,
            precision: part("precision_threshold")?,
            recall: part("recall_threshold")?,
        })
    }
}

fn rouge_type(name: &str) -> Result<Metric, String> {
    let metric = Metric::ALL.into_iter().find(|metric| metric.name() == name && name.starts_with("rouge"));
    metric.ok_or_else(|| format!("There is no ROUGE type `{name}`; there are rouge1 to rouge5 and rougeL."))
}
