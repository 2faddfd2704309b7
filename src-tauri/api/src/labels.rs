//! **Pure.** Labels of runs: those that follow from a question, and those that people give.
use super::list::FacetValue;
use serde::{Deserialize, Serialize};

/// A label of the workspace file.
#[derive(Debug, Clone, PartialEq, Serialize)]
#[cfg_attr(test, derive(ts_rs::TS), ts(export))]
pub struct LabelView {
    /// Name.
    pub name: String,
    /// The filter that it follows from; none if people give it.
    pub question: Option<String>,
    /// Values that people may give; none for a question.
    pub schema: Option<LabelSchema>,
    /// Labels that the question uses.
    pub uses: Vec<String>,
    /// What is wrong with it, with the next step. No run has such a label.
    pub error: Option<String>,
    /// Number of runs that have it. None if it was not counted.
    pub count: Option<u64>,
    /// Values that people gave, if they were counted, with the number of runs; of a category, all its values.
    pub values: Vec<FacetValue>,
}

/// What a label of the workspace file becomes.
#[derive(Debug, Clone, PartialEq, Deserialize)]
#[cfg_attr(test, derive(ts_rs::TS), ts(export))]
pub struct LabelEdit {
    /// Name.
    pub name: String,
    /// The filter that it follows from; none if people give it.
    pub question: Option<String>,
    /// Values that people may give, of the same kind as before; none for a question.
    pub schema: Option<LabelSchema>,
}

/// What a change of a label concerns.
#[derive(Debug, Clone, PartialEq, Eq, Serialize)]
#[cfg_attr(test, derive(ts_rs::TS), ts(export))]
pub struct LabelUses {
    /// Number of runs that have the label.
    pub runs: u64,
    /// Labels whose question asks for it.
    pub labels: Vec<String>,
    /// Views of the workspace file whose filter asks for it.
    pub views: Vec<String>,
}

/// Values that people may give.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
#[cfg_attr(test, derive(ts_rs::TS), ts(export))]
#[serde(tag = "kind", rename_all = "snake_case")]
pub enum LabelSchema {
    /// One of these words.
    Category {
        /// The words, in order.
        values: Vec<String>,
    },
    /// A number.
    Number {
        /// Least value.
        min: Option<f64>,
        /// Greatest value.
        max: Option<f64>,
    },
    /// A text on one line.
    Text,
}

/// Agreement of two people on a category.
#[derive(Debug, Clone, PartialEq, Serialize)]
#[cfg_attr(test, derive(ts_rs::TS), ts(export))]
pub struct LabelAgreement {
    /// Name of the label.
    pub label: String,
    /// Name of the first person.
    pub first: String,
    /// Name of the second person.
    pub second: String,
    /// Number of runs to which both gave a value.
    pub n: u64,
    /// Number of runs to which both gave the same value.
    pub same: u64,
    /// Cohen's κ; none where it is undefined.
    pub kappa: Option<f64>,
    /// 95 % confidence interval of κ.
    pub interval: Option<(f64, f64)>,
    /// Agreement in plain words.
    pub words: String,
}
