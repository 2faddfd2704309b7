//! **Pure.** Judges that a suite defines: a task in its own words, and labels or a range for the
//! reply. Values filled in from a run are evidence and are fenced off.
use super::about::{About, Group, Scale};
use super::{Judge, Ruling, Strategy, all};
use crate::azure::{Evaluator, Kind, Outcome};
use std::ops::Deref;
use std::sync::Arc;
use touchstone_model::value::Value;

/// A built-in judge, or one that a suite defines.
#[derive(Debug, Clone)]
pub enum JudgeRef {
    /// A built-in judge.
    Known(&'static Judge),
    /// A judge defined by a suite.
    Own(Arc<Judge>),
}

impl Deref for JudgeRef {
    type Target = Judge;

    fn deref(&self) -> &Judge {
        match self {
            JudgeRef::Known(judge) => judge,
            JudgeRef::Own(judge) => judge,
        }
    }
}

impl PartialEq for JudgeRef {
    /// Compares the names and, for judges of suites, their definitions.
    fn eq(&self, other: &Self) -> bool {
        let own = |judge: &Judge| match &judge.way {
            Strategy::Own(evaluator) => Some(evaluator.kind.clone()),
            _ => None,
        };
        self.name == other.name && own(self) == own(other)
    }
}

/// Evaluator kinds that suites can define judges with.
pub const KINDS: [&str; 2] = ["label_model", "score_model"];

impl Judge {
    /// Creates a judge of a suite from its name, kind and options. The error is a sentence.
    pub fn from_suite(
        name: &str,
        kind: &'static str,
        mut options: Vec<(Value, Value)>,
    ) -> Result<Self, String> {
        let plain = |c: char| c.is_alphanumeric() || matches!(c, '_' | '-');
        if name.is_empty() || name.chars().count() > 60 || !name.chars().all(plain) {
            return Err(format!(
                "`{name}` cannot be the name of a judge. Write letters, digits, `_` and `-`."
            ));
        }
        // Reserved: distinguishes evaluators of imported files from judges.
        if name == "stored" {
            return Err("`stored` cannot be the name of a judge: imported verdicts use it. Give this one another `name`.".to_owned());
        }
        if all().iter().any(|judge| judge.name == name) {
            return Err(format!(
                "A judge named `{name}` exists already. Give this one another `name`."
            ));
        }
        options.push(("kind".into(), kind.into()));
        let evaluator = Evaluator::read(name, &Value::Map(options))?;
        let what = match kind {
            "label_model" => "The suite asks for a label, and says which pass.",
            _ => "The suite asks for a number of its range.",
        };
        Ok(Judge {
            name: name.to_owned().into(),
            what,
            rounds: 1,
            questions: 1,
            pairs: false,
            official: false,
            way: Strategy::Own(Box::new(evaluator)),
        })
    }
}

/// Returns the description of a judge of a suite.
pub(super) fn about(evaluator: &Evaluator) -> About {
    let words = if matches!(evaluator.kind, Kind::Score(_)) {
        "a number of its range"
    } else {
        "one of its labels"
    };
    About { group: Group::Suites, scale: Scale::Words(words), needs: "what its suite fills in" }
}

/// Returns the pass threshold as a share of the range; `None` for judges that assign labels.
pub(super) fn threshold(evaluator: &Evaluator) -> Option<f64> {
    match &evaluator.kind {
        Kind::Score(score) => Some(share(score.range, score.threshold.value)),
        _ => None,
    }
}

fn share((least, most): (f64, f64), number: f64) -> f64 {
    ((number - least) / (most - least)).clamp(0.0, 1.0)
}

/// Returns the additional text that a verdict depends on besides the question: the passing labels.
pub(super) fn beyond(evaluator: &Evaluator) -> String {
    match &evaluator.kind {
        Kind::Label(label) => format!("\0{:?}", label.passing),
        _ => String::new(),
    }
}

/// Converts a result to a ruling.
pub(super) fn ruling(evaluator: &Evaluator, outcome: &Outcome) -> Option<Ruling> {
    let value = |key: &str| outcome.iter().find(|(known, _)| known == key).map(|(_, value)| value);
    let score = match value("score")? {
        Value::Number(text) => text.parse().ok().filter(|number: &f64| number.is_finite())?,
        _ => return None,
    };
    Some(match &evaluator.kind {
        Kind::Score(of) => {
            let steps = value("steps").map(Value::items).unwrap_or_default().iter();
            let found = steps.filter_map(|step| step.get("conclusion").and_then(Value::text));
            let reason = found.collect::<Vec<_>>().join(" ");
            let reason = if reason.trim().is_empty() {
                "The judge gave no reason.".to_owned()
            } else {
                reason
            };
            Ruling { word: format!("{score}"), score: share(of.range, score), reason }
        }
        _ => Ruling {
            word: value("label")?.text()?.to_owned(),
            score,
            reason: value("reason").and_then(Value::text).unwrap_or_default().to_owned(),
        },
    })
}
