//! **Pure.** Scorers: from an answer and what was expected to a number from 0 to 1, with its
//! reason. Owns which scorers there are, how suites name them, and which are taken when a suite
//! names none; each rule has a file of its own.
mod calls;
mod canon;
mod choose;
mod exact;
mod failure;
mod fields;
mod items;
mod kendall;
mod lists;
mod numeric;
mod options;
mod queries;
mod read;
mod scorer;
mod texts;
mod words;

pub use choose::{choose, comparison, defaults, of_queries, published};
pub use failure::{Ending, Failure, Stop, failure_class, gives_up};
pub use read::{Complaint, complaints, read};
pub use scorer::{Better, Need, Scorer};

use crate::stabletoolbench::Offered;
use scorer::Rule;
use touchstone_formats::run::Told;
use touchstone_formats::value::Value;

/// What is scored.
#[derive(Debug, Clone, Copy, Default)]
pub struct Case<'a> {
    /// What was expected; none when the suite has nothing.
    pub expected: Option<&'a Value>,
    /// The answer; none when the run ended without one.
    pub answer: Option<&'a Value>,
    /// The last message of the assistant, for scorers of texts when there is no answer.
    pub said: &'a str,
    /// Tools that have to be called.
    pub expected_calls: &'a [String],
    /// Tools that were called, in order, and whether the call failed.
    pub calls: &'a [(String, bool)],
    /// What the calls do not say; none when they say it all.
    pub told: Option<&'a Told>,
    /// What a query of `StableToolBench` offers; none for other tasks.
    pub offered: Option<&'a Offered>,
    /// Key of the answer that tells its rows apart, when the suite names it.
    pub key: Option<&'a str>,
}

/// What a scorer says.
#[derive(Debug, Clone, PartialEq, Default)]
pub struct Scored {
    /// From 0 to 1; none when it has no say.
    pub score: Option<f64>,
    /// Whether that is good enough.
    pub passed: Option<bool>,
    /// Why, as a sentence.
    pub reason: String,
    /// Numbers behind it, in order.
    pub detail: Vec<(String, String)>,
}

/// What came of scoring.
#[derive(Debug, Clone, PartialEq)]
pub enum Outcome {
    /// A score.
    Scored(Scored),
    /// There is nothing to compare with: which thing, as a sentence.
    NoExpected(String),
    /// It takes a program or a model, and has to be asked for.
    Needs(Need),
    /// The scorer does not fit what was expected: why, as a sentence. That says nothing about the
    /// run.
    Unfit(String),
}

/// What a scorer says of a run that ended. Whether it ended, and how, is the business of whoever
/// asks: a run in a system error is not scored. A run without an answer scores 0 here.
pub fn score(scorer: &Scorer, case: &Case<'_>) -> Outcome {
    match &scorer.rule {
        Rule::Exact => exact::score(scorer, case),
        Rule::Fields(rule) => fields::score(scorer, case, rule),
        Rule::Numeric(rule) => numeric::score(scorer, case, rule),
        Rule::PrefixList(items) => lists::prefix(scorer, case, items),
        Rule::SimilarList { items, cutoff } => lists::similar(scorer, case, items, *cutoff),
        Rule::KendallTau(items) => kendall::score(scorer, case, items),
        Rule::Text { likeness, nltk } => texts::score(scorer, case, *likeness, *nltk),
        Rule::StringCheck { operation, reference } => {
            texts::check(scorer, case, *operation, reference.as_deref())
        }
        Rule::ToolCalls => calls::score(scorer, case, "expected tool"),
        Rule::ApiCalls { seed } => match case.offered {
            Some(offered) => queries::api_calls(scorer, case, offered, *seed),
            None => calls::score(scorer, case, "expected API"),
        },
        Rule::Finish(rule) => queries::finish(scorer, case, *rule),
        Rule::SeedHeuristic { seed } => queries::heuristic(scorer, case, *seed),
        Rule::Python { path } if case.expected.is_some() && case.answer.is_some() => {
            Outcome::Needs(Need::Program(path.clone()))
        }
        Rule::Python { .. } if case.expected.is_none() => no_expected(),
        Rule::Python { .. } => no_answer(),
        Rule::Judge { name, .. } => Outcome::Needs(Need::Model(name.clone())),
    }
}

fn no_expected() -> Outcome {
    Outcome::NoExpected("There is no expected output.".to_owned())
}

fn no_answer() -> Outcome {
    Outcome::Scored(Scored::nothing("no answer"))
}
