//! **Pure.** Response and ground truth by a metric: the results of F1, BLEU, GLEU, METEOR and ROUGE, with their options.
use super::numbers::{self, is_missing};
use super::options::{Limit, Options};
use super::{Failure, Inputs, Outcome, Quirks};
use crate::text::{Field, Metric, Nltk, Texts, Thresholds, Weights, outcome};
use touchstone_formats::value::Value;

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

impl Text {
    /// The result of a row, or of a turn of a conversation.
    pub(super) fn result(&self, inputs: &Inputs, quirks: &Quirks) -> Result<Outcome, Failure> {
        let (response, truth) = (text_of(inputs, "response", quirks)?, text_of(inputs, "ground_truth", quirks)?);
        let texts = Texts::new(response, truth, Nltk::default());
        if texts.is_too_long(self.metric) {
            let message = "Response and ground truth are too long for this metric.".to_owned();
            return Err(Failure { by_input: true, message });
        }
        let measured = match self.metric {
            Metric::Meteor => texts.meteor(self.weights).into(),
            metric => texts.measure(metric),
        };
        let limits = [&self.precision, &self.recall, &self.score];
        let [precision, recall, score] = limits.map(|limit| limit.value);
        let fields = outcome(self.metric, &measured, Thresholds { score, precision, recall });
        let shown = |(key, field): (&str, Field)| {
            let limit = match key {
                "rouge_precision_threshold" => &self.precision,
                "rouge_recall_threshold" => &self.recall,
                _ => &self.score,
            };
            let value = match field {
                _ if key.ends_with("_threshold") => limit.shown(),
                Field::Number(number) => numbers::number(number),
                Field::Whole(number) => numbers::whole(number.into()),
                Field::Word(word) => word.into(),
            };
            (key.to_owned(), value)
        };
        Ok(fields.into_iter().map(shown).collect())
    }
}

/// A text of the row. A number or `true` is one too, unless it is read as the package reads it.
fn text_of<'a>(inputs: &'a Inputs, name: &str, quirks: &Quirks) -> Result<&'a str, Failure> {
    let wrong = |message| Err(Failure { by_input: true, message });
    match inputs.get(name) {
        value if is_missing(value) => wrong(format!("The row has no `{name}`.")),
        Some(Value::Text(text)) => Ok(text),
        Some(Value::Number(written)) if !quirks.has("pandas_types") => Ok(written),
        Some(Value::Bool(flag)) if !quirks.has("pandas_types") => Ok(if *flag { "true" } else { "false" }),
        _ => wrong(format!("`{name}` is no text.")),
    }
}

fn rouge_type(name: &str) -> Result<Metric, String> {
    let metric = Metric::ALL.into_iter().find(|metric| metric.name() == name && name.starts_with("rouge"));
    metric.ok_or_else(|| format!("Invalid rouge type: {name}. There are rouge1 to rouge5 and rougeL."))
}
