//! **Pure.** Graders that ask no model what it thinks: two texts compared, how alike they are, and
//! a program of somebody's own.
use super::numbers::number;
use super::options::{Limit, Options};
use super::sitting::Stop;
use super::{Failure, Inputs, Job, Outcome, Pattern, Vectors};
use crate::text::{Nltk, Similarity, StringCheck, Texts, too_long_for_fuzzy};
use touchstone_formats::value::Value;

/// The result of a grader: what it gave, and whether that passes.
pub(super) fn graded(name: &str, score: f64, passed: bool) -> Outcome {
    let result = if passed { "pass" } else { "fail" };
    vec![
        ("passed".to_owned(), Value::Bool(passed)),
        ("score".to_owned(), number(score)),
        // What the service would have sampled: nothing is.
        ("sample".to_owned(), Value::Null),
        (format!("{name}_result"), result.into()),
    ]
}

/// Two texts, yes or no.
#[derive(Debug, Clone, PartialEq)]
pub struct Check {
    /// What is checked.
    pub input: Pattern,
    /// What it is checked against.
    pub reference: Pattern,
    /// How.
    pub operation: StringCheck,
}

/// Two texts, how alike they are.
#[derive(Debug, Clone, PartialEq)]
pub struct Likeness {
    /// What is measured.
    pub input: Pattern,
    /// What it is measured against.
    pub reference: Pattern,
    /// How.
    pub by: Measure,
    /// From which score on it passes.
    pub threshold: Limit,
}

/// How the likeness of two texts is measured.
#[derive(Debug, Clone, Copy, PartialEq)]
pub enum Measure {
    /// By their letters and words.
    Texts(Similarity),
    /// By the angle between the vectors that a model turns them into.
    Cosine,
}

/// A program: `grade(sample, item)`.
#[derive(Debug, Clone, PartialEq)]
pub struct Python {
    /// Its source.
    pub source: String,
    /// From which score on it passes.
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
    /// The result of a row.
    pub(super) fn result(&self, name: &str, inputs: &Inputs) -> Result<Outcome, Failure> {
        let passed =
            self.operation.passes(&self.input.fill(inputs)?, &self.reference.fill(inputs)?);
        Ok(graded(name, if passed { 1.0 } else { 0.0 }, passed))
    }
}

impl Likeness {
    /// The result of a row, or what it lacks for that.
    pub(super) fn course(
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

/// How alike two texts are by their letters and words.
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

/// The cosine of the angle between two vectors. One below 0 is 0: scores of likeness go from 0 to
/// 1.
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
    /// What has to be run for a row. The sample is the response, under the name that the service
    /// gives it.
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

    /// The result of a row, once the program was run.
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
        // Which container the service would use; here it is the sandbox.
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
