//! **Pure.** Scorers: compute a score from 0 to 1 and its reason from an answer and the expected
//! output. Owns the list of scorers, their names in suites, and the defaults for suites that name
//! none; each rule has its own file.
mod calls;
mod canon;
mod choose;
mod exact;
mod failure;
mod fields;
mod goal;
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

pub use choose::{benchmark_scorers, choose, comparison, defaults, query_scorers, user_scorers};
pub use failure::{Ending, Failure, Stop, failure_class, gives_up};
pub use read::{ScorerProblem, complaints, read};
pub use scorer::{Better, Need, Scorer};

use scorer::Rule;
use touchstone_judges::stabletoolbench::Offered;
use touchstone_model::run::CallInfo;
use touchstone_model::value::Value;

/// Input of a scorer: a run and its expectations.
#[derive(Debug, Clone, Copy, Default)]
pub struct Case<'a> {
    /// Expected output; `None` if the suite has none.
    pub expected: Option<&'a Value>,
    /// Answer; `None` if the run ended without one.
    pub answer: Option<&'a Value>,
    /// Last message of the assistant, which text scorers use if there is no answer.
    pub said: &'a str,
    /// Tools that must be called.
    pub expected_calls: &'a [String],
    /// Names of the called tools, in order, each with true if the call failed.
    pub calls: &'a [(String, bool)],
    /// Facts that the calls do not contain; `None` if they are complete.
    pub told: Option<&'a CallInfo>,
    /// APIs offered by a `StableToolBench` query; `None` for other tasks.
    pub offered: Option<&'a Offered>,
    /// Key field of the answer's rows, if the suite names it.
    pub key: Option<&'a str>,
}

/// Score of a run with its reason.
#[derive(Debug, Clone, PartialEq, Default)]
pub struct Scored {
    /// Score from 0 to 1; `None` if the scorer does not apply.
    pub score: Option<f64>,
    /// True if the score passes.
    pub passed: Option<bool>,
    /// Reason, as a sentence.
    pub reason: String,
    /// Underlying figures by name, in order.
    pub detail: Vec<(String, String)>,
}

/// Result of scoring.
#[derive(Debug, Clone, PartialEq)]
pub enum Outcome {
    /// A score.
    Scored(Scored),
    /// Nothing to compare with; a sentence says what is missing.
    NoExpected(String),
    /// Scoring needs a program or a model, and must be requested.
    Needs(Need),
    /// The scorer does not fit the expected output; a sentence says why. This is no statement about
    /// the run.
    Unfit(String),
}

/// Scores a run that ended. The caller checks that it ended regularly: a run with a system error is
/// not scored. A run without an answer scores 0.
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
        Rule::GoalReached => goal::score(scorer, case),
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
