//! **Pure.** A scorer as a suite names it: its rule, its options, and what it is called.
use crate::diff::{Dates, Tolerance};
use crate::judges::{self, Rules, Seat};
use crate::stabletoolbench::FinishRule;
use crate::text::{Metric, Nltk, StringCheck};
use touchstone_formats::json;
use touchstone_formats::value::Value;

/// A rule with its options.
#[derive(Debug, Clone, PartialEq)]
pub struct Scorer {
    pub(super) name: String,
    pub(super) rule: Rule,
    /// Scores from here on are good enough; none is what the rule says.
    pub(super) threshold: Option<f64>,
    /// The options as they were read, in the order of their names.
    pub(super) options: Vec<(String, Value)>,
}

/// Which way is better.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Better {
    /// 1 is best.
    Higher,
    /// 0 is best.
    Lower,
}

/// What a scorer takes that is not at hand here.
#[derive(Debug, Clone, PartialEq, Eq)]
pub enum Need {
    /// A program in the sandbox: a module, as its path beside the suite.
    Program(String),
    /// A model: the name of the judge.
    Model(String),
}

/// How to score.
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
    /// `own` when the suite made it up.
    Judge {
        name: String,
        own: Option<Seat>,
    },
}

/// How `fields` compares.
#[derive(Debug, Clone, PartialEq, Default)]
pub(super) struct Fields {
    /// Fields that tell rows apart; none is what the suite says, or they are found.
    pub key: Vec<String>,
    /// How far numbers may be off.
    pub tolerance: Option<Tolerance>,
    /// Fields that never count.
    pub ignore: Vec<String>,
    /// The order of rows counts, too.
    pub ordered: bool,
    /// Fields that nobody expected count against the answer.
    pub strict: bool,
    /// What the same date means that is written otherwise.
    pub dates: Dates,
}

/// How `numeric` compares.
#[derive(Debug, Clone, PartialEq, Default)]
pub(super) struct Numeric {
    /// Numbers that are further off score 0; none is [`super::numeric::CUTOFF`] of the expected
    /// number.
    pub cutoff: Option<f64>,
    /// The cutoff is a share of the expected number.
    pub relative: bool,
    /// Fields whose numbers are compared; none is all of them.
    pub fields: Vec<String>,
    /// Fields that tell rows apart.
    pub key: Vec<String>,
}

/// What the items of a list are.
#[derive(Debug, Clone, PartialEq, Eq, Default)]
pub(super) struct Items {
    /// The field of each object that is the item; none is the first one.
    pub key: Option<String>,
}

/// How alike two texts are.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(super) enum Likeness {
    /// Letter by letter.
    Letters,
    /// By a measure of words.
    Words(Metric),
}

impl Scorer {
    /// A rule without options.
    pub(super) fn plain(name: &str, rule: Rule) -> Self {
        Self { name: name.to_owned(), rule, threshold: None, options: Vec::new() }
    }

    /// As it is shown, and as suites write it: `fields`, `text: f1`. No two scorers of a task share
    /// it.
    pub fn name(&self) -> &str {
        &self.name
    }

    /// Version of the rule. It grows whenever the same answer could get another score.
    pub fn version(&self) -> u32 {
        match self.rule {
            // Names of functions became the APIs that are meant; very long texts have no score;
            // rows find each other otherwise, and numbers that are written in other ways are read.
            Rule::ApiCalls { .. }
            | Rule::Exact
            | Rule::Text {
                likeness: Likeness::Letters | Likeness::Words(Metric::RougeL), ..
            } => 2,
            // And an empty object expects nothing, rows weigh the same when they are missing, and
            // near numbers are not equal ones.
            Rule::Fields(_) | Rule::Numeric(_) => 3,
            _ => self.judge().map_or(1, |(judge, ..)| judge.version()),
        }
    }

    /// Which way is better.
    pub fn better(&self) -> Better {
        Better::Higher
    }

    /// Name, options and version in one text. Scores with the same one can be compared.
    pub fn identity(&self) -> String {
        let options = self
            .options
            .iter()
            .map(|(name, value)| (Value::from(name.as_str()), value.clone()))
            .collect();
        format!("{} v{} {}", self.name, self.version(), json::write(&Value::Map(options), false))
    }

    /// What it takes that is not at hand here; none when [`super::score`] is all there is to it.
    pub fn need(&self) -> Option<Need> {
        match &self.rule {
            Rule::Python { path } => Some(Need::Program(path.clone())),
            Rule::Judge { name, .. } => Some(Need::Model(name.clone())),
            _ => None,
        }
    }

    /// Its options as they were read.
    pub fn options(&self) -> &[(String, Value)] {
        &self.options
    }

    /// Whether a score that a program or a model gave is good enough: from the threshold on;
    /// without one when it is 1, or what the judge takes for good enough.
    pub fn passed(&self, score: f64) -> bool {
        match (self.threshold, self.seat()) {
            (Some(threshold), _) => judges::reaches(score, threshold),
            (None, Some(judge)) => judge.passes(score),
            (None, None) => score >= 1.0,
        }
    }

    /// In how many rounds a judge is to be asked, where the suite says; nothing for what is no
    /// judge.
    pub fn rounds(&self) -> Option<u32> {
        self.judge()?;
        match self.options.iter().find(|(name, _)| name == "rounds") {
            Some((_, Value::Number(rounds) | Value::Text(rounds))) => rounds.trim().parse().ok(),
            _ => None,
        }
    }

    /// The score, from 0 to 1, from which on it is good enough, where the suite says.
    pub fn threshold(&self) -> Option<f64> {
        self.threshold
    }

    /// The judge that this is, the model that it names, and the rules it goes by; nothing when it
    /// is no judge that there is.
    pub fn judge(&self) -> Option<(Seat, Option<&str>, Rules)> {
        let option = |wanted: &str| {
            self.options.iter().find(|(name, _)| name == wanted).and_then(|(_, value)| value.text())
        };
        let rules = option("rules").and_then(Rules::of).unwrap_or_default();
        let judge = self.seat().filter(|judge| !judge.pairs)?;
        Some((judge, option("model"), rules))
    }

    fn seat(&self) -> Option<Seat> {
        match &self.rule {
            Rule::Judge { own: Some(own), .. } => Some(own.clone()),
            Rule::Judge { name, .. } => judges::named(name).map(Seat::Known),
            _ => None,
        }
    }

    /// From which score of a program or a model on it is good enough: the threshold, and without
    /// one 1.
    pub fn passes_from(&self) -> f64 {
        self.threshold.unwrap_or(1.0)
    }

    /// True for scorers of what was done on the way, which say nothing about the answer.
    pub fn reads_calls(&self) -> bool {
        matches!(self.rule, Rule::ToolCalls | Rule::ApiCalls { .. } | Rule::Finish(_))
    }

    /// True for scorers of texts, which take the last message when there is no answer.
    pub fn reads_texts(&self) -> bool {
        matches!(self.rule, Rule::Text { .. } | Rule::StringCheck { .. })
    }

    /// Whether a score is good enough. `all_right` is what counts when no threshold was given and
    /// the rule has none.
    pub(super) fn passes(&self, score: f64, all_right: bool) -> bool {
        match self.threshold {
            Some(threshold) => score >= threshold,
            None => all_right,
        }
    }
}
