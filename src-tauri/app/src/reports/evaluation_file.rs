//! **Pure.** Converts runs to rows of the file that `evaluate()` of azure-ai-evaluation writes: the
//! inputs of each run, and the results of its evaluators.
use std::collections::HashMap;
use touchstone_api::{Judged, RunState, ScoreStanding};
use touchstone_formats::azure::Row;
use touchstone_formats::collection::{Form, form_of, other_inputs};
use touchstone_judges::{About, Scale};
use touchstone_model::run::Run;
use touchstone_model::value::Value;
use touchstone_store::query::ScoredRun;

/// Prefix of the ids of built-in evaluators.
const IDS: &str = "azureai://built-in/evaluators/";

/// Named values, in order.
pub(crate) type Columns = Vec<(String, Value)>;

/// Data of a run from its suite.
#[derive(Debug, Clone, Default)]
pub(crate) struct SuiteData {
    pub(crate) prompt: Option<String>,
    pub(crate) expected: Option<Value>,
}

/// Result of one evaluator.
#[derive(Debug, Clone, PartialEq)]
pub(crate) struct EvaluatorResult {
    /// Name of the evaluator in the file.
    pub(crate) evaluator: String,
    /// Id in the package, if there is one; for judges also the version and the model.
    pub(crate) about: Columns,
    pub(crate) results: Columns,
}

/// Builds the input columns of a run: the evaluator inputs and the identity of the run.
pub(crate) fn columns(of: &ScoredRun, asked: &SuiteData, run: &Run, row: Row) -> Columns {
    let word = |word: &Option<String>| word.as_deref().map(Value::from);
    let whole = |number: u32| Value::Number(number.to_string());
    let list = |items: Vec<Value>| (!items.is_empty()).then_some(Value::List(items));
    let failed = of.state == RunState::Error;
    let error = || Value::from(of.reason.as_deref().unwrap_or("The run ended in a system error."));
    let entries = [
        ("run", Some(Value::from(of.path.as_str()))),
        ("task", word(&of.task)),
        ("variation", of.variation.map(whole)),
        ("repeat", Some(whole(of.repeat))),
        ("system", word(&of.system)),
        ("model", word(&of.model)),
        ("query", list(row.query)),
        ("response", list(row.response)),
        ("tool_definitions", list(row.tool_definitions)),
        ("answer", run.answer.as_ref().map(|answer| answer.value.clone())),
        ("ground_truth", asked.expected.clone()),
        // Without its state, a run that has not ended would be read back as a wrong answer.
        ("state", (of.state == RunState::Waiting).then(|| Value::from("waiting"))),
        ("error", failed.then(error)),
    ];
    entries.into_iter().filter_map(|(name, value)| Some((name.to_owned(), value?))).collect()
}

/// Adds the columns that the row of an evaluation holds itself. They replace columns known from
/// elsewhere, except `query`, `response` and `tool_definitions`.
pub(crate) fn with_own(mut columns: Columns, row: &Value) -> Columns {
    const SAID: [&str; 3] = ["query", "response", "tool_definitions"];
    for (name, value) in
        other_inputs(row).into_iter().filter(|(name, _)| !SAID.contains(&name.as_str()))
    {
        match columns.iter_mut().find(|(known, _)| *known == name) {
            Some((_, known)) => *known = value,
            None => columns.push((name, value)),
        }
    }
    columns
}

/// Replaces a message that consists of one text with that text, because every evaluator reads plain
/// texts.
pub(crate) fn plainly(inputs: &mut Columns) {
    for (name, role) in [("query", "user"), ("response", "assistant")] {
        let column = inputs.iter_mut().find(|(known, _)| known == name);
        if let Some((_, value)) = column
            && let Some(text) = only_text(value, role)
        {
            *value = Value::Text(text);
        }
    }
}

fn only_text(messages: &Value, role: &str) -> Option<String> {
    let [message] = messages.items() else { return None };
    let [item] = message.get("content")?.items() else { return None };
    let is_of = message.get("role").and_then(Value::text) == Some(role);
    item.get("text").and_then(Value::text).filter(|_| is_of).map(str::to_owned)
}

/// Returns the result of a scorer that is not a judge. `threshold` comes from the suite.
pub(crate) fn scored(run: &ScoredRun, threshold: Option<f64>) -> Option<EvaluatorResult> {
    let name = run.scorer.as_deref().filter(|name| !name.starts_with("judge:"))?;
    let score = run.score.filter(|_| run.scoring == Some(ScoreStanding::Scored))?;
    let Some(metric) = name.strip_prefix("text: ") else {
        let reason = run.score_reason.as_deref().map(Value::from);
        return Some(EvaluatorResult {
            evaluator: plain(name),
            about: Columns::new(),
            results: named(score, run.passed, reason),
        });
    };
    let (evaluator, built_in, key) = match metric {
        "f1" | "bleu" | "gleu" | "meteor" => {
            (format!("{metric}_score"), format!("{metric}_score"), metric.to_owned())
        }
        // The three ROUGE numbers have keys of their own; the score is the F1 number.
        _ => (plain(metric), "rouge_score".to_owned(), "rouge_f1_score".to_owned()),
    };
    let (score_key, base) = if metric.starts_with("rouge") {
        (key.clone(), key)
    } else {
        (format!("{key}_score"), key)
    };
    let results = vec![
        (score_key, number(score)),
        (format!("{base}_result"), run.passed.map_or(Value::Null, verdict)),
        (format!("{base}_threshold"), number(threshold.unwrap_or(0.5))),
    ];
    Some(EvaluatorResult { evaluator, about: vec![id(&built_in)], results })
}

/// Returns the results of judges, in the order of the runs: valid ones only, the newest for each
/// judge and model. A judge that ran with several models becomes several evaluators.
pub(crate) fn judged(runs: &[Vec<Judged>], wanted: Option<&str>) -> Vec<Vec<EvaluatorResult>> {
    let holds = |one: &&Judged| one.stale.is_none() && one.score.is_some() && one.against.is_none();
    let is_wanted =
        |one: &&Judged| wanted.is_none_or(|name| name == format!("judge:{}", one.judge));
    let mut models: HashMap<&str, Vec<(&str, bool)>> = HashMap::new();
    for one in runs.iter().flatten().filter(holds).filter(is_wanted) {
        let known = models.entry(&one.judge).or_default();
        if !known.contains(&(&one.model, one.official)) {
            known.push((&one.model, one.official));
        }
    }
    let name = |one: &Judged| {
        let rules = if one.official { "-official" } else { "" };
        let several = models.get(one.judge.as_str()).is_some_and(|models| models.len() > 1);
        if several {
            plain(&format!("{}-{}{rules}", one.judge, one.model))
        } else {
            one.judge.clone()
        }
    };
    let of_run = |all: &Vec<Judged>| {
        let mut said: Vec<EvaluatorResult> = Vec::new();
        for one in all.iter().filter(holds).filter(is_wanted) {
            let name = name(one);
            if said.iter().all(|known| known.evaluator != name) {
                said.extend(of_judge(one, name));
            }
        }
        said.sort_by(|a, b| a.evaluator.cmp(&b.evaluator));
        said
    };
    runs.iter().map(of_run).collect()
}

fn of_judge(one: &Judged, evaluator: String) -> Option<EvaluatorResult> {
    let score = one.score?;
    let reason = one
        .rounds
        .iter()
        .find(|round| round.score.is_some())
        .map(|round| Value::from(round.reason.as_str()));
    let scale = About::for_judge(&one.judge).map_or(Scale::Words(""), |about| about.scale);
    let mut about = vec![
        ("version".to_owned(), Value::Number(one.version.to_string())),
        ("model".to_owned(), Value::from(one.model.as_str())),
    ];
    let Some(own) = scale.value_of(score) else {
        return Some(EvaluatorResult {
            evaluator,
            about,
            results: named(score, one.passed, reason),
        });
    };
    about.insert(0, id(&one.judge));
    let judge = &one.judge;
    // Rounded, because a score in sevenths does not convert back to a whole number exactly.
    let least =
        one.least.and_then(|least| scale.value_of(least)).map(|own| (own * 1e9).round() / 1e9);
    let results = vec![
        (judge.clone(), number(own)),
        (format!("{judge}_result"), one.passed.map_or(Value::Null, verdict)),
        (format!("{judge}_threshold"), least.map_or(Value::Null, number)),
        (format!("{judge}_reason"), reason.unwrap_or_default()),
    ];
    Some(EvaluatorResult { evaluator, about, results })
}

fn id(built_in: &str) -> (String, Value) {
    ("id".to_owned(), Value::Text(format!("{IDS}{built_in}")))
}

fn named(score: f64, passed: Option<bool>, reason: Option<Value>) -> Columns {
    let results = [
        ("score", number(score)),
        ("passed", passed.map_or(Value::Null, Value::Bool)),
        ("reason", reason.unwrap_or_default()),
    ];
    results.map(|(key, value)| (key.to_owned(), value)).into()
}

fn verdict(passed: bool) -> Value {
    Value::from(if passed { "pass" } else { "fail" })
}

/// Formats a number like Python. NaN and infinity become null, because JSON has neither.
fn number(number: f64) -> Value {
    if number.is_finite() { Value::Number(format!("{number:?}")) } else { Value::Null }
}

/// Replaces the characters of a name that would split column names.
fn plain(name: &str) -> String {
    let kept = |c: char| if c.is_alphanumeric() || matches!(c, '-' | '_') { c } else { '_' };
    name.replace(": ", "_").chars().map(kept).collect()
}

/// Returns true for a file that would be read as runs.
pub(crate) fn is_of_runs(text: &str) -> bool {
    const HEAD: usize = 16 << 10;
    form_of(&text.as_bytes()[..text.len().min(HEAD)]) == Some(Form::Rows)
}

#[cfg(test)]
mod tests {
    use super::*;
    use touchstone_model::json;

    fn keyed(columns: Columns) -> Value {
        Value::Map(columns.into_iter().map(|(name, value)| (Value::Text(name), value)).collect())
    }

    #[test]
    fn a_single_text_message_becomes_its_text_and_others_stay_lists() {
        let message = |role: &str, text: &str| {
            json::read(&format!(
                r#"{{"role":"{role}","content":[{{"type":"text","text":"{text}"}}]}}"#
            ))
            .unwrap()
        };
        let column = |name: &str, messages: Vec<Value>| (name.to_owned(), Value::List(messages));
        let mut inputs = vec![
            column("query", vec![message("user", "q")]),
            column("response", vec![message("assistant", "a"), message("assistant", "b")]),
        ];
        plainly(&mut inputs);
        assert_eq!(inputs[0].1, Value::from("q"));
        assert_eq!(inputs[1].1.items().len(), 2);
    }

    #[test]
    fn what_judges_said_stands_on_their_own_scale_and_what_does_not_hold_is_left_out() {
        let one = |judge: &str, model: &str, score: f64, stale: bool| Judged {
            judge: judge.to_owned(),
            version: 1,
            model: model.to_owned(),
            official: false,
            against: None,
            stale: stale.then(|| "The answer changed.".to_owned()),
            wanted: 1,
            score: Some(score),
            spread: None,
            told: None,
            own_spread: None,
            threshold: None,
            least: None,
            of_suite: false,
            passed: Some(score > 0.5),
            rounds: Vec::new(),
        };
        let runs = [
            vec![one("sopr", "m", 0.5, true), one("sopr", "m", 1.0, false)],
            vec![one("sopr", "m", 0.0, false)],
        ];
        let told = judged(&runs, None);
        assert_eq!((told[0].len(), &told[0][0].results), (1, &named(1.0, Some(true), None)));
        assert_eq!(judged(&runs, Some("judge:fac")), [vec![], vec![]]);
        let of_suite = Judged {
            least: Some(0.875),
            passed: Some(false),
            ..one("relevance", "m", 0.75, false)
        };
        let stars = judged(&[vec![of_suite]], None).remove(0).remove(0);
        assert_eq!(
            json::write(&keyed(stars.about), false),
            r#"{"id":"azureai://built-in/evaluators/relevance","version":1,"model":"m"}"#
        );
        assert_eq!(
            json::write(&keyed(stars.results), false),
            r#"{"relevance":4.0,"relevance_result":"fail","relevance_threshold":4.5,"relevance_reason":null}"#
        );
        // A severity of 3 on a scale from 7 down to 0, as a score and back.
        let harm = Judged { least: Some(4.0 / 7.0), ..one("violence", "m", 1.0, false) };
        let harm = judged(&[vec![harm]], None).remove(0).remove(0);
        assert!(harm.results.contains(&("violence_threshold".to_owned(), number(3.0))), "{harm:?}");
        let two = [vec![one("sopr", "m", 1.0, false), one("sopr", "n.1", 1.0, false)]];
        let names: Vec<String> =
            judged(&two, None).remove(0).into_iter().map(|said| said.evaluator).collect();
        assert_eq!(names, ["sopr-m", "sopr-n_1"]);
    }
}
