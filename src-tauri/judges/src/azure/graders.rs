//! **Pure.** Graders without a judge model: string comparison, text similarity, and a user-supplied
//! program.
use super::numbers::number;
use super::options::{Limit, Options};
use super::replay::Stop;
use super::{Failure, Inputs, Job, Outcome, Pattern, Vectors};
use touchstone_metrics::text::{Nltk, Similarity, StringCheck, Texts, too_long_for_fuzzy};
use touchstone_model::value::Value;

/// Builds the result of a grader: its score and whether it passes.
pub(super) fn graded(name: &str, score: f64, passed: bool) -> Outcome {
    let result = if passed { "pass" } else { "fail" };
    vec![
        ("passed".to_owned(), Value::Bool(passed)),
        ("score".to_owned(), number(score)),
        // The service puts the sampled model output here; nothing is sampled.
        ("sample".to_owned(), Value::Null),
        (format!("{name}_result"), result.into()),
    ]
}

/// Comparison of two texts with a yes or no result.
#[derive(Debug, Clone, PartialEq)]
pub struct Check {
    /// Template of the text that is checked.
    pub input: Pattern,
    /// Template of the text that it is compared with.
    pub reference: Pattern,
    /// Comparison operation.
    pub operation: StringCheck,
}

/// Similarity of two texts.
#[derive(Debug, Clone, PartialEq)]
pub struct SimilarityGrader {
    /// Template of the text that is measured.
    pub input: Pattern,
    /// Template of the text that it is compared with.
    pub reference: Pattern,
    /// Similarity measure.
    pub by: Measure,
    /// Score from which a row passes.
    pub threshold: Limit,
}

/// Similarity measures.
#[derive(Debug, Clone, Copy, PartialEq)]
pub enum Measure {
    /// A metric over letters and words.
    Texts(Similarity),
    /// Cosine of the angle between the embedding vectors of a model.
    Cosine,
}

/// A user-supplied program: `grade(sample, item)`.
#[derive(Debug, Clone, PartialEq)]
pub struct Python {
    /// Source code.
    pub source: String,
    /// Score from which a row passes.
    pub threshold: Limit,
}

const INPUT: &str = "{{item.response}}";
const REFERENCE: &str = "{{item.ground_truth}}";

impl Check {
    pub(super) fn read(options: &Options<'_>) -> Result<Self, String> {
        let operation = options.text("operation", "eq")?;
        Ok(Self {
            input: Pattern::read(&options.text("input", INPUT)?)?,
            reference: Pattern::read(&options.text("reference", REFERENCE)?)?,
            operation: StringCheck::from_name(&operation).ok_or_else(|| {
                format!("There is no operation `{operation}`; there are eq, ne, like and ilike.")
            })?,
        })
    }
}

impl Check {
    /// Returns the result for a row.
    pub(super) fn result(&self, name: &str, inputs: &Inputs) -> Result<Outcome, Failure> {
        let passed =
            self.operation.passes(&self.input.fill(inputs)?, &self.reference.fill(inputs)?);
        Ok(graded(name, if passed { 1.0 } else { 0.0 }, passed))
    }
}

impl SimilarityGrader {
    /// Returns the result for a row, or `Stop::Embed` when its vectors are needed first.
    pub(super) fn evaluate(
        &self,
        name: &str,
        inputs: &Inputs,
        vectors: Option<&Vectors>,
    ) -> Result<Outcome, Stop> {
        let texts = [self.input.fill(inputs)?, self.reference.fill(inputs)?];
        let score = match (self.by, vectors) {
            (Measure::Texts(by), _) => measured(by, &texts)?,
            (Measure::Cosine, Some(vectors)) => cosine(vectors)?,
            (Measure::Cosine, None) if texts.iter().any(|text| text.trim().is_empty()) => {
                let message = "An empty text has no vector, so there is no cosine.".to_owned();
                return Err(Failure { by_input: true, message }.into());
            }
            (Measure::Cosine, None) => return Err(Stop::Embed(texts)),
        };
        Ok(graded(name, score, score >= self.threshold.value))
    }

    pub(super) fn read(options: &Options<'_>) -> Result<Self, String> {
        let metric = options.text("evaluation_metric", "fuzzy_match")?;
        let by = if metric == "cosine" {
            Some(Measure::Cosine)
        } else {
            Similarity::from_name(&metric).map(Measure::Texts)
        };
        let unknown = || {
            format!(
                "There is no metric `{metric}`; there are fuzzy_match, bleu, gleu, meteor, rouge_1 to rouge_5, rouge_l and cosine."
            )
        };
        Ok(Self {
            input: Pattern::read(&options.text("input", INPUT)?)?,
            reference: Pattern::read(&options.text("reference", REFERENCE)?)?,
            by: by.ok_or_else(unknown)?,
            threshold: options.limit("pass_threshold", "0.5")?,
        })
    }
}

/// Computes a text metric. Fails when the texts are too long for it.
fn measured(by: Similarity, [input, reference]: &[String; 2]) -> Result<f64, Failure> {
    let too_long = match by {
        Similarity::Fuzzy => too_long_for_fuzzy(input, reference),
        Similarity::By(metric) => Texts::new(input, reference, Nltk::default()).is_too_long(metric),
    };
    if too_long {
        let message = "The two texts are too long for this metric.".to_owned();
        return Err(Failure { by_input: true, message });
    }
    Ok(by.score(input, reference, Nltk::default()))
}

/// Returns the cosine of the angle between two vectors, clamped to the range 0 to 1. Fails when the
/// vectors differ in length, or one is zero or not finite.
fn cosine([one, other]: &Vectors) -> Result<f64, Failure> {
    let dot = |a: &[f64], b: &[f64]| a.iter().zip(b).map(|(a, b)| a * b).sum::<f64>();
    let lengths = dot(one, one).sqrt() * dot(other, other).sqrt();
    let cosine = dot(one, other) / lengths;
    if one.len() != other.len() || !lengths.is_normal() || !cosine.is_finite() {
        let message = "The two vectors of the model cannot be compared: they differ in kind, or one of them is zero or endless.";
        return Err(Failure { by_input: false, message: message.to_owned() });
    }
    Ok(cosine.clamp(0.0, 1.0))
}

impl Python {
    /// Returns the program to run for a row. The sample holds the response as `output_text`, the
    /// service's name for it.
    pub(super) fn job(&self, inputs: &Inputs) -> Job {
        let said = inputs.get("response").map(|response| ("output_text".into(), response.clone()));
        Job {
            source: self.source.clone(),
            sample: Value::Map(said.into_iter().collect()),
            item: Value::Map(
                inputs
                    .0
                    .iter()
                    .map(|(name, value)| (name.as_str().into(), value.clone()))
                    .collect(),
            ),
        }
    }

    /// Returns the result for a row from the program's result. Fails when the score is not between
    /// 0 and 1.
    pub(super) fn result(
        &self,
        name: &str,
        came: &Result<f64, String>,
    ) -> Result<Outcome, Failure> {
        match came {
            Ok(score) if (0.0..=1.0).contains(score) => {
                Ok(graded(name, *score, *score >= self.threshold.value))
            }
            Ok(score) => {
                let message =
                    format!("The program returned {score}, and a score is a number from 0 to 1.");
                Err(Failure { by_input: false, message })
            }
            Err(why) => Err(Failure { by_input: false, message: why.clone() }),
        }
    }

    pub(super) fn read(options: &Options<'_>) -> Result<Self, String> {
        // Names the container in the service. Accepted and ignored: programs run in the sandbox.
        options.text("image_tag", "")?;
        let threshold = options.limit("pass_threshold", "0.5")?;
        if !(0.0..=1.0).contains(&threshold.value) {
            return Err("pass_threshold must be between 0.0 and 1.0".to_owned());
        }
        let source = options.text("source", "")?;
        if source.trim().is_empty() {
            return Err("`python` needs `source`: a program with a function grade(sample, item)."
                .to_owned());
        }
        Ok(Self { source, threshold })
    }
}
