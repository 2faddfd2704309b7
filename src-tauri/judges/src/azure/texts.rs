//! **Pure.** Text metrics that compare response and ground truth: results and options of F1, BLEU,
//! GLEU, METEOR and ROUGE.
use super::conversation::ScoreThreshold;
use super::numbers::{self, is_missing};
use super::options::{Limit, Options};
use super::{Failure, Inputs, Outcome, Quirks};
use touchstone_metrics::text::{Field, Metric, Nltk, Texts, Thresholds, Weights, outcome};
use touchstone_model::value::Value;

/// Text measures.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum TextMeasure {
    /// A supported metric.
    Metric(Metric),
    /// ROUGE over n-grams of this length, with the quirk `rouge_types_unlisted`.
    Runs(usize),
    /// ROUGE over lines, with the quirk `rouge_types_unlisted`.
    Lines,
}

/// A text metric with its options.
#[derive(Debug, Clone, PartialEq)]
pub struct Text {
    /// Measure.
    pub by: TextMeasure,
    /// Weights of METEOR.
    pub weights: Weights,
    /// Pass threshold; for ROUGE, of the harmonic mean.
    pub score: Limit,
    /// Pass threshold of ROUGE's precision.
    pub precision: Limit,
    /// Pass threshold of ROUGE's recall.
    pub recall: Limit,
}

impl Text {
    pub(super) fn read(kind: &str, options: &Options<'_>, quirks: &Quirks) -> Result<Self, String> {
        let (rouge, meteor) = (kind == "rouge_score", kind == "meteor_score");
        let by = match kind {
            "f1_score" => TextMeasure::Metric(Metric::F1),
            "bleu_score" => TextMeasure::Metric(Metric::Bleu),
            "gleu_score" => TextMeasure::Metric(Metric::Gleu),
            "meteor_score" => TextMeasure::Metric(Metric::Meteor),
            _ => rouge_type(&options.text("rouge_type", "rougeL")?, quirks)?,
        };
        let mut weights = Weights::default();
        if meteor {
            weights = Weights {
                alpha: options.limit("alpha", "0.9")?.value,
                beta: options.limit("beta", "3.0")?.value,
                gamma: options.limit("gamma", "0.5")?.value,
            };
        }
        let part = |name: &'static str| {
            let limit = options.limit(name, "0.5")?;
            if quirks.has("rouge_thresholds_with_fraction") && numbers::is_whole(&limit.written) {
                return Err(format!("{name} must be a float, got <class 'int'>"));
            }
            Ok(limit)
        };
        if !rouge {
            let usual = || Limit::usual("0.5");
            return Ok(Self {
                by,
                weights,
                score: options.limit("threshold", "0.5")?,
                precision: usual(),
                recall: usual(),
            });
        }
        let (precision, recall) = (part("precision_threshold")?, part("recall_threshold")?);
        Ok(Self { by, weights, score: part("f1_score_threshold")?, precision, recall })
    }
}

impl Text {
    /// Returns the scores that have a result.
    pub(super) fn score_thresholds(&self) -> Vec<ScoreThreshold<'_>> {
        match self.by {
            TextMeasure::Metric(Metric::F1) => vec![("f1_score", "f1_result", &self.score)],
            TextMeasure::Metric(Metric::Bleu) => vec![("bleu_score", "bleu_result", &self.score)],
            TextMeasure::Metric(Metric::Gleu) => vec![("gleu_score", "gleu_result", &self.score)],
            TextMeasure::Metric(Metric::Meteor) => {
                vec![("meteor_score", "meteor_result", &self.score)]
            }
            _ => vec![
                ("rouge_precision", "rouge_precision_result", &self.precision),
                ("rouge_recall", "rouge_recall_result", &self.recall),
                ("rouge_f1_score", "rouge_f1_score_result", &self.score),
            ],
        }
    }

    /// Computes the result for a row or a turn of a conversation.
    pub(super) fn result(&self, inputs: &Inputs, quirks: &Quirks) -> Result<Outcome, Failure> {
        let (response, truth) =
            (text_of(inputs, "response", quirks)?, text_of(inputs, "ground_truth", quirks)?);
        let texts = Texts::new(response, truth, Nltk::default());
        let (metric, measured) = match self.by {
            TextMeasure::Metric(metric) if texts.is_too_long(metric) => (metric, None),
            TextMeasure::Metric(Metric::Meteor) => {
                (Metric::Meteor, Some(texts.meteor(self.weights).into()))
            }
            TextMeasure::Metric(metric) => (metric, Some(texts.measure(metric))),
            TextMeasure::Runs(n) => (Metric::RougeL, Some(texts.rouge_by_runs(n))),
            TextMeasure::Lines => (Metric::RougeL, texts.rouge_by_lines()),
        };
        let Some(measured) = measured else {
            let message = "Response and ground truth are too long for this metric.".to_owned();
            return Err(Failure { by_input: true, message });
        };
        let limits = [&self.precision, &self.recall, &self.score];
        let [precision, recall, score] = limits.map(|limit| limit.value);
        let fields = outcome(metric, &measured, Thresholds { score, precision, recall });
        let shown = |(key, field): (&str, Field)| {
            let limit = match key {
                "rouge_precision_threshold" => &self.precision,
                "rouge_recall_threshold" => &self.recall,
                _ => &self.score,
            };
            let value = match field {
                _ if key.ends_with("_threshold") => limit.to_value(),
                Field::Number(number) => numbers::number(number),
                Field::Whole(number) => numbers::from_usize(number.into()),
                Field::Word(word) => word.into(),
            };
            (key.to_owned(), value)
        };
        Ok(fields.into_iter().map(shown).collect())
    }
}

/// Returns a text of the row. Numbers and booleans count as texts, unless the quirk `pandas_types`
/// is on.
pub(super) fn text_of<'a>(
    inputs: &'a Inputs,
    name: &str,
    quirks: &Quirks,
) -> Result<&'a str, Failure> {
    let wrong = |message| Err(Failure { by_input: true, message });
    match inputs.get(name) {
        value if is_missing(value) => wrong(format!("The row has no `{name}`.")),
        Some(Value::Text(text)) => Ok(text),
        Some(Value::Number(written)) if !quirks.has("pandas_types") => Ok(written),
        Some(Value::Bool(flag)) if !quirks.has("pandas_types") => {
            Ok(if *flag { "true" } else { "false" })
        }
        _ => wrong(format!("`{name}` is not text.")),
    }
}

fn rouge_type(name: &str, quirks: &Quirks) -> Result<TextMeasure, String> {
    let metric =
        Metric::ALL.into_iter().find(|metric| metric.name() == name && name.starts_with("rouge"));
    if let Some(metric) = metric {
        return Ok(TextMeasure::Metric(metric));
    }
    if !quirks.has("rouge_types_unlisted") {
        return Err(format!("Invalid rouge type: {name}. There are rouge1 to rouge5 and rougeL."));
    }
    let digit = name
        .strip_prefix("rouge")
        .filter(|rest| rest.len() == 1)
        .and_then(|rest| rest.parse().ok());
    match digit {
        Some(0) => Err(format!("rougen requires positive n: {name}")),
        Some(n) => Ok(TextMeasure::Runs(n)),
        None if name == "rougeLsum" => Ok(TextMeasure::Lines),
        None => Err(format!("Invalid rouge type: {name}")),
    }
}
