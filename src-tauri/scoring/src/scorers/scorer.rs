//! **Pure.** A scorer as named by a suite: rule, options and display name.
use crate::diff::{Dates, Tolerance};
use touchstone_judges::stabletoolbench::FinishRule;
use touchstone_judges::{JudgeRef, Rules};
use touchstone_metrics::text::{Metric, Nltk, StringCheck};
use touchstone_model::json;
use touchstone_model::value::Value;

/// A rule with its options.
#[derive(Debug, Clone, PartialEq)]
pub struct Scorer {
    pub(super) name: String,
    pub(super) rule: Rule,
    /// Minimum score for passing; `None` leaves it to the rule.
    pub(super) threshold: Option<f64>,
    /// Parsed options, sorted by name.
    pub(super) options: Vec<(String, Value)>,
}

/// Direction in which scores are better.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Better {
    /// 1 is best.
    Higher,
    /// 0 is best.
    Lower,
}

/// External resource that a scorer needs.
#[derive(Debug, Clone, PartialEq, Eq)]
pub enum Need {
    /// A program in the sandbox: path of a module, relative to the suite.
    Program(String),
    /// A model: the name of the judge.
    Model(String),
}

/// Scoring rule with its parameters.
#[derive(Debug, Clone, PartialEq)]
pub(super) enum Rule {
    Exact,
    Fields(Fields),
    Numeric(Numeric),
    PrefixList(Items),
    SimilarList {
        items: Items,
        cutoff: u32,
    },
    KendallTau(Items),
    Text {
        likeness: Likeness,
        nltk: Nltk,
    },
    StringCheck {
        operation: StringCheck,
        reference: Option<String>,
    },
    ToolCalls,
    GoalReached,
    ApiCalls {
        seed: bool,
    },
    Finish(FinishRule),
    SeedHeuristic {
        seed: bool,
    },
    Python {
        path: String,
    },
    /// `own` is set for a judge defined in the suite.
    Judge {
        name: String,
        own: Option<JudgeRef>,
    },
}

/// Parameters of `fields`.
#[derive(Debug, Clone, PartialEq, Default)]
pub(super) struct Fields {
    /// Fields that identify rows; if empty, the key of the suite is used, or the key is inferred.
    pub key: Vec<String>,
    /// Tolerance for numbers.
    pub tolerance: Option<Tolerance>,
    /// Fields that never count.
    pub ignore: Vec<String>,
    /// True if the order of rows counts.
    pub ordered: bool,
    /// True if unexpected fields count against the answer.
    pub strict: bool,
    /// Treatment of equal dates in different notation.
    pub dates: Dates,
}

/// Parameters of `numeric`.
#[derive(Debug, Clone, PartialEq, Default)]
pub(super) struct Numeric {
    /// Deviation from which numbers score 0; `None` is [`super::numeric::CUTOFF`] of the expected
    /// number.
    pub cutoff: Option<f64>,
    /// True if the cutoff is a share of the expected number.
    pub relative: bool,
    /// Fields whose numbers are compared; empty means all.
    pub fields: Vec<String>,
    /// Fields that identify rows.
    pub key: Vec<String>,
}

/// Definition of the items of a list.
#[derive(Debug, Clone, PartialEq, Eq, Default)]
pub(super) struct Items {
    /// Field of each object that is the item; `None` is the first one.
    pub key: Option<String>,
}

/// Measure of the similarity of two texts.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(super) enum Likeness {
    /// Character by character.
    Letters,
    /// By a word metric.
    Words(Metric),
}

impl Scorer {
    /// Creates a scorer without options.
    pub(super) fn plain(name: &str, rule: Rule) -> Self {
        Self { name: name.to_owned(), rule, threshold: None, options: Vec::new() }
    }

    /// Returns the name for display, as written in suites: `fields`, `text: f1`. Unique among the
    /// scorers of a task.
    pub fn name(&self) -> &str {
        &self.name
    }

    /// Returns the version of the rule. It is raised whenever the same answer may get another
    /// score.
    pub fn version(&self) -> u32 {
        match self.rule {
            // Version 2: function names are resolved to the APIs they mean; very long texts have no
            // score; rows are aligned differently, and more number notations are parsed.
            Rule::ApiCalls { .. }
            | Rule::Exact
            | Rule::Text {
                likeness: Likeness::Letters | Likeness::Words(Metric::RougeL), ..
            } => 2,
            // Version 3: also, an empty object expects nothing, missing rows weigh the same as
            // present ones, and close numbers are not equal ones.
            Rule::Fields(_) | Rule::Numeric(_) => 3,
            _ => self.judge().map_or(1, |(judge, ..)| judge.version()),
        }
    }

    /// Returns the direction in which scores are better.
    pub fn better(&self) -> Better {
        Better::Higher
    }

    /// Returns name, options and version as a text. Scores with equal identities are comparable.
    pub fn identity(&self) -> String {
        let options = self
            .options
            .iter()
            .map(|(name, value)| (Value::from(name.as_str()), value.clone()))
            .collect();
        format!("{} v{} {}", self.name, self.version(), json::write(&Value::Map(options), false))
    }

    /// Returns the external resource that it needs; `None` if [`super::score`] suffices.
    pub fn need(&self) -> Option<Need> {
        match &self.rule {
            Rule::Python { path } => Some(Need::Program(path.clone())),
            Rule::Judge { name, .. } => Some(Need::Model(name.clone())),
            _ => None,
        }
    }

    /// Returns the parsed options.
    pub fn options(&self) -> &[(String, Value)] {
        &self.options
    }

    /// Returns true if a score from a program or a model passes: from the threshold on; without
    /// one, by the rule of the judge, or only at 1.
    pub fn passed(&self, score: f64) -> bool {
        match (self.threshold, self.seat()) {
            (Some(threshold), _) => touchstone_judges::meets_threshold(score, threshold),
            (None, Some(judge)) => judge.passes(score),
            (None, None) => score >= 1.0,
        }
    }

    /// Returns the number of rounds of a judge, if the suite sets it; `None` for other scorers.
    pub fn rounds(&self) -> Option<u32> {
        self.judge()?;
        match self.options.iter().find(|(name, _)| name == "rounds") {
            Some((_, Value::Number(rounds) | Value::Text(rounds))) => rounds.trim().parse().ok(),
            _ => None,
        }
    }

    /// Returns the minimum score for passing, from 0 to 1, if the suite sets it.
    pub fn threshold(&self) -> Option<f64> {
        self.threshold
    }

    /// Returns the judge, its configured model and its rules; `None` for other scorers and unknown
    /// judges.
    pub fn judge(&self) -> Option<(JudgeRef, Option<&str>, Rules)> {
        let option = |wanted: &str| {
            self.options.iter().find(|(name, _)| name == wanted).and_then(|(_, value)| value.text())
        };
        let rules = option("rules").and_then(Rules::from_word).unwrap_or_default();
        let judge = self.seat().filter(|judge| !judge.pairs)?;
        Some((judge, option("model"), rules))
    }

    fn seat(&self) -> Option<JudgeRef> {
        match &self.rule {
            Rule::Judge { own: Some(own), .. } => Some(own.clone()),
            Rule::Judge { name, .. } => touchstone_judges::named(name).map(JudgeRef::Known),
            _ => None,
        }
    }

    /// Returns the minimum passing score for a score from a program or a model: the threshold, by
    /// default 1.
    pub fn passes_from(&self) -> f64 {
        self.threshold.unwrap_or(1.0)
    }

    /// Returns true for scorers of calls, which do not depend on the answer.
    pub fn reads_calls(&self) -> bool {
        matches!(self.rule, Rule::ToolCalls | Rule::ApiCalls { .. } | Rule::Finish(_))
    }

    /// Returns true for text scorers, which use the last message if there is no answer.
    pub fn reads_texts(&self) -> bool {
        matches!(self.rule, Rule::Text { .. } | Rule::StringCheck { .. })
    }

    /// Returns true if a score passes. `all_right` decides if there is no threshold.
    pub(super) fn passes(&self, score: f64, all_right: bool) -> bool {
        match self.threshold {
            Some(threshold) => score >= threshold,
            None => all_right,
        }
    }
}
