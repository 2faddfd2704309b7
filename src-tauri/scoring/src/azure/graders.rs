//! **Pure.** Graders that need no model: two texts compared, how alike they are, and a program of somebody's own.
use super::Pattern;
use super::options::{Limit, Options};
use crate::text::{Similarity, StringCheck};

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
    pub by: Similarity,
    /// From which score on it passes.
    pub threshold: Limit,
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
            operation: StringCheck::from_name(&operation)
                .ok_or_else(|| format!("There is no operation `{operation}`; there are eq, ne, like and ilike."))?,
        })
    }
}

impl Likeness {
    pub(super) fn read(options: &Options<'_>) -> Result<Self, String> {
        let metric = options.text("evaluation_metric", "fuzzy_match")?;
        let unknown = || match metric.as_str() {
            "cosine" => "`cosine` needs a model that turns texts into vectors, which is not offered here.".to_owned(),
            _ => format!(
                "There is no metric `{metric}`; there are fuzzy_match, bleu, gleu, meteor, rouge_1 to rouge_5 and rouge_l."
            ),
        };
        Ok(Self {
            input: Pattern::read(&options.text("input", INPUT)?)?,
            reference: Pattern::read(&options.text("reference", REFERENCE)?)?,
            by: Similarity::from_name(&metric).ok_or_else(unknown)?,
            threshold: options.limit("pass_threshold", "0.5")?,
        })
    }
}

impl Python {
    pub(super) fn read(options: &Options<'_>) -> Result<Self, String> {
        // Which container the service would use; here it is the sandbox.
        options.text("image_tag", "")?;
        let threshold = options.limit("pass_threshold", "0.5")?;
        if !(0.0..=1.0).contains(&threshold.value) {
            return Err("pass_threshold must be between 0.0 and 1.0".to_owned());
        }
        let source = options.text("source", "")?;
        if source.trim().is_empty() {
            return Err("`python` needs `source`: a program with a function grade(sample, item).".to_owned());
        }
        Ok(Self { source, threshold })
    }
}
