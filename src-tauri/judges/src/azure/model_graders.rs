//! **Pure.** Graders that ask a model for a label or a score.
use super::Pattern;
use super::options::{Limit, Options};
use touchstone_model::value::Value;

/// Message of a grader: role and content template.
pub type Message = (String, Pattern);

/// Grader whose model assigns a label.
#[derive(Debug, Clone, PartialEq)]
pub struct Label {
    /// Messages shown to the model.
    pub input: Vec<Message>,
    /// Allowed labels.
    pub labels: Vec<String>,
    /// Labels that pass.
    pub passing: Vec<String>,
}

/// Grader whose model assigns a score.
#[derive(Debug, Clone, PartialEq)]
pub struct Score {
    /// Messages shown to the model.
    pub input: Vec<Message>,
    /// Minimum and maximum score.
    pub range: (f64, f64),
    /// Score from which a row passes. Default: the middle of the range.
    pub threshold: Limit,
}

impl Label {
    pub(super) fn read(options: &Options<'_>) -> Result<Self, String> {
        let (labels, passing) = (options.texts("labels")?, options.texts("passing_labels")?);
        if labels.is_empty() {
            return Err("`label_model` needs `labels`.".to_owned());
        }
        match passing.iter().find(|label| !labels.contains(label)) {
            Some(label) => Err(format!("`{label}` of `passing_labels` is none of `labels`.")),
            None => Ok(Self { input: messages(options)?, labels, passing }),
        }
    }
}

impl Score {
    pub(super) fn read(options: &Options<'_>) -> Result<Self, String> {
        let range = match options.get("range") {
            None => (0.0, 1.0),
            Some(range) => range_of(range)
                .ok_or("range must be a list of two numbers [min, max] where min < max")?,
        };
        let middle = format!("{:?}", f64::midpoint(range.0, range.1));
        let threshold = options.limit("pass_threshold", &middle)?;
        if !(range.0..=range.1).contains(&threshold.value) {
            let shown = |number: f64| format!("{number:?}");
            let range = format!("[{}, {}]", shown(range.0), shown(range.1));
            return Err(format!(
                "pass_threshold {} must be within range {range}",
                threshold.written
            ));
        }
        Ok(Self { input: messages(options)?, range, threshold })
    }
}

fn range_of(range: &Value) -> Option<(f64, f64)> {
    let [Value::Number(least), Value::Number(most)] = range.items() else { return None };
    let (least, most) = (least.parse().ok()?, most.parse().ok()?);
    (least < most).then_some((least, most))
}

fn messages(options: &Options<'_>) -> Result<Vec<Message>, String> {
    const WRONG: &str = "`input` has to be a list of messages, `{\"role\": …, \"content\": …}`.";
    let items = options.get("input").map(Value::items).unwrap_or_default();
    if items.is_empty() {
        return Err(WRONG.to_owned());
    }
    let message = |item: &Value| {
        let text = |key| item.get(key).and_then(Value::text).ok_or_else(|| WRONG.to_owned());
        Ok((text("role")?.to_owned(), Pattern::read(text("content")?)?))
    };
    items.iter().map(message).collect()
}
