//! **Pure.** Default scorers for tasks whose suite names none.
use super::read::read;
use super::scorer::{Fields, Items, Likeness, Numeric, Rule, Scorer};
use super::{fields, numeric};
use crate::diff::Options;
use touchstone_formats::transcript::GOAL_REACHED;
use touchstone_judges::stabletoolbench::FinishRule;
use touchstone_metrics::text::{Metric, Nltk};
use touchstone_model::value::Value;

/// Returns the scorers of a task: those named by its suite, or the defaults if it names none. If
/// none of the named ones can be read, there are none, because a default scorer would be mistaken
/// for the requested one. The second value has the warnings about the named scorers.
pub fn choose(named: &[Value], expected: Option<&Value>) -> (Vec<Scorer>, Vec<String>) {
    let (scorers, warnings) = read(named);
    if named.is_empty() { (defaults(expected), warnings) } else { (scorers, warnings) }
}

/// Returns the options for comparing answers in order to explain scores: those of the first
/// `fields` scorer, else of the first `numeric` scorer; without any scorers, those of the default
/// `fields`. Rows are paired as for the score, and moved rows are shown whether they count or not.
/// `key` is the key field from the suite.
pub fn comparison(named: &[Value], key: Option<&str>) -> Options {
    let scorers = read(named).0;
    let by_fields = scorers.iter().find_map(|scorer| match &scorer.rule {
        Rule::Fields(rule) => Some(fields::options(rule, key)),
        _ => None,
    });
    let by_numbers = || {
        scorers.iter().find_map(|scorer| match &scorer.rule {
            Rule::Numeric(rule) => Some(numeric::options(rule, key)),
            _ => None,
        })
    };
    let other = || Options { key: key.map(|key| vec![key.to_owned()]), ..Options::default() };
    let usual = scorers.is_empty().then(|| fields::options(&Fields::default(), key));
    Options { ignore_order: false, ..by_fields.or_else(by_numbers).or(usual).unwrap_or_else(other) }
}

/// Returns the default scorers: `fields` for lists and objects, `numeric` for numbers, `text: f1`
/// for texts, `exact` for booleans and null. Empty if nothing is expected.
pub fn defaults(expected: Option<&Value>) -> Vec<Scorer> {
    let scorer = match expected {
        None => return Vec::new(),
        Some(Value::List(_) | Value::Map(_)) => {
            Scorer::plain("fields", Rule::Fields(Fields::default()))
        }
        Some(Value::Number(_)) => Scorer::plain("numeric", Rule::Numeric(Numeric::default())),
        Some(Value::Text(_)) => Scorer::plain(
            "text: f1",
            Rule::Text { likeness: Likeness::Words(Metric::F1), nltk: Nltk::default() },
        ),
        Some(Value::Null | Value::Bool(_)) => Scorer::plain("exact", Rule::Exact),
    };
    vec![scorer]
}

/// Returns the scorers for queries of `StableToolBench`. Judges cost money, so they run only on
/// request; the first scorer works without them.
pub fn query_scorers() -> Vec<Scorer> {
    let judge = |name: &str| {
        Scorer::plain(&format!("judge:{name}"), Rule::Judge { name: name.to_owned(), own: None })
    };
    vec![
        Scorer::plain("api_calls", Rule::ApiCalls { seed: false }),
        Scorer::plain("finish", Rule::Finish(FinishRule::default())),
        Scorer::plain("seed_heuristic", Rule::SeedHeuristic { seed: false }),
        judge("sopr"),
        judge("fac"),
    ]
}

/// Returns the scorers for tasks with a simulated user: what the user says, then the defaults for
/// the expected output, if there is one.
pub fn user_scorers(expected: Option<&Value>) -> Vec<Scorer> {
    let mut scorers = vec![Scorer::plain(GOAL_REACHED, Rule::GoalReached)];
    scorers.extend(defaults(expected));
    scorers
}

/// Returns the scorers that the published benchmark uses for suites in its own layout:
/// `kendall_tau` for ordered lists of names, `numeric` for single numbers, `exact` for everything
/// else. They take precedence over [`defaults`], and have regular names.
pub fn benchmark_scorers(expected: Option<&Value>) -> Vec<Scorer> {
    match expected {
        Some(Value::List(rows)) if !rows.is_empty() && rows.iter().all(is_name) => {
            vec![Scorer::plain("kendall_tau", Rule::KendallTau(Items::default()))]
        }
        Some(Value::Number(_)) => defaults(expected),
        Some(_) => vec![Scorer::plain("exact", Rule::Exact)],
        None => Vec::new(),
    }
}

/// Returns true for a scalar, or an object with a single scalar field: such rows are identifiers.
fn is_name(row: &Value) -> bool {
    match row {
        Value::Map(entries) => {
            entries.len() == 1 && entries.iter().all(|(_, value)| is_scalar(value))
        }
        other => is_scalar(other),
    }
}

fn is_scalar(value: &Value) -> bool {
    matches!(value, Value::Number(_) | Value::Text(_))
}
