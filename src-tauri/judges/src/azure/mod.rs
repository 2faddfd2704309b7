//! **Pure.** The evaluators of azure-ai-evaluation 1.10.0: their inputs, their results, and the
//! metrics over many rows. Bugs of that package are fixed here; its behavior can be restored by
//! name, see [`Quirks`]. This module sends nothing and runs nothing.
mod aggregate_metrics;
mod compat;
mod computed;
mod conversation;
mod csv;
mod evaluation;
mod evaluator;
mod file;
mod graders;
mod grading;
mod inputs;
mod judge;
mod judging;
mod mapping;
mod missing_inputs;
mod model_evaluators;
mod model_graders;
mod normal;
mod numbers;
mod options;
mod outputs;
mod pandas;
mod pandas_dates;
mod pandas_numbers;
mod pattern;
mod python_number;
pub mod reformat;
mod replay;
mod replies;
mod results;
mod retrieval;
mod row_collector;
pub mod safety;
mod table;
mod texts;
mod tools;

pub use aggregate_metrics::{Metric, metrics};
pub use compat::{NEVER, QUIRKS, Quirk, Quirks};
pub use evaluation::{Evaluation, Job, Next, Vectors};
pub use evaluator::{Evaluator, EvaluatorInfo, Kind, QaLimits, SafetyOptions, all};
pub use file::{About, CarriedOver, Fault, Results, ResultsRead};
pub use graders::{Check, Measure, Python, SimilarityGrader};
pub use grading::Graded;
pub use inputs::Inputs;
pub(crate) use judge::QA;
pub use judge::{Form, Judge, judge_named, judges, prompts_version};
pub use mapping::Mapping;
pub use missing_inputs::{count_invalid_inputs, count_missing_inputs, is_invalid_for};
pub use model_graders::{Label, Message, Score};
pub use options::Limit;
pub use outputs::{Column, Outputs};
pub use pattern::Pattern;
pub use retrieval::Retrieval;
pub use row_collector::{CollectedRows, RowCollector};
pub use table::{BadLine, Row, Table};
pub use texts::{Text, TextMeasure};
pub use tools::{SkipReason, ToolInputs, calls_of, tool_inputs};

use touchstone_model::value::Value;

/// Result: keys with values, in the order in which they are written. NaN is `Value::Number("NaN")`.
pub type Outcome = Vec<(String, Value)>;

/// Reason why an evaluator has no result for a row.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Failure {
    /// True when the input is at fault, rather than the reply or the evaluator.
    pub by_input: bool,
    /// Message, a sentence.
    pub message: String,
}

#[cfg(test)]
mod tests;
