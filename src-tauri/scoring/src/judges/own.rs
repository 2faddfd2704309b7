//! **Pure.** Judges that a suite makes up itself: a task in its own words, and labels or a range to
//! reply with. What is filled in from a run is evidence, and stands behind bars.
use super::about::{About, Group, Scale};
use super::{Judge, Ruling, Way, all};
use crate::azure::{Evaluator, Kind, Outcome};
use std::ops::Deref;
use std::sync::Arc;
use touchstone_formats::value::Value;

/// A judge that everybody knows, or one of a suite.
#[derive(Debug, Clone)]
pub enum Seat {
    /// Everybody knows it.
    Known(&'static Judge),
    /// A suite made it up.
    Own(Arc<Judge>),
}

impl Deref for Seat {
    type Target = Judge;

    fn deref(&self) -> &Judge {
        match self {
            Seat::Known(judge) => judge,
            Seat::Own(judge) => judge,
        }
    }
}

impl PartialEq for Seat {
    /// Judges of the same name that ask the same are the same.
    fn eq(&self, other: &Self) -> bool {
        let own = |judge: &Judge| match &judge.way {
            Way::Own(evaluator) => Some(evaluator.kind.clone()),
            _ => None,
        };
        self.name == other.name && own(self) == own(other)
    }
}

/// Kinds that suites make judges of.
pub(crate) const KINDS: [&str; 2] = ["label_model", "score_model"];

impl Judge {
    /// A judge of a suite, by its name, its kind and what it is asked. The error is a sentence.
    pub(crate) fn own(
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
        // So evaluators of imported files are told from judges.
        if name == "stored" {
            return Err("`stored` cannot be the name of a judge: stored verdicts of files go by it. Give this one another `name`.".to_owned());
        }
        if all().iter().any(|judge| judge.name == name) {
            return Err(format!(
                "`{name}` is the name of a judge that there is. Give this one another `name`."
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
            way: Way::Own(Box::new(evaluator)),
        })
    }
}

/// What people are told of a judge of a suite.
pub(super) fn about(evaluator: &Evaluator) -> About {
    let words = if matches!(evaluator.kind, Kind::Score(_)) {
        "a number of its range"
    } else {
        "one of its labels"
    };
    About { group: Group::Suites, scale: Scale::Words(words), needs: "what its suite fills in" }
}

/// From which share of its range on a judge of a suite passes; none of one that gives labels.
pub(super) fn threshold(evaluator: &Evaluator) -> Option<f64> {
    match &evaluator.kind {
        Kind::Score(score) => Some(share(score.range, score.threshold.value)),
        _ => None,
    }
}

fn share((least, most): (f64, f64), number: f64) -> f64 {
    ((number - least) / (most - least)).clamp(0.0, 1.0)
}

/// What a verdict depends on besides what was asked: which labels pass.
pub(super) fn beyond(evaluator: &Evaluator) -> String {
    match &evaluator.kind {
        Kind::Label(label) => format!("\0{:?}", label.passing),
        _ => String::new(),
    }
}

/// Its result as a ruling.
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
