//! **Pure.** What was asked for, understood: evaluators with their options and where their inputs come from. What is wrong is a sentence.
use crate::rows::{EvaluateRequest, EvaluatorRequest};
use touchstone_formats::json;
use touchstone_formats::value::Value;
use touchstone_scoring::azure::{Evaluator, Mapping, Quirks};
use touchstone_scoring::judges::MOST_ROUNDS;

/// Evaluators at a time; more are a slip of the finger.
const MOST_EVALUATORS: usize = 100;

/// An evaluator, and where its inputs come from.
#[derive(Debug, Clone)]
pub(crate) struct Configured {
    pub(crate) evaluator: Evaluator,
    pub(crate) mapping: Mapping,
}

impl Configured {
    /// What is said to it has to be paid for.
    pub(crate) fn pays(&self) -> bool {
        self.evaluator.takes.model || self.evaluator.embeds()
    }
}

/// Everything that was asked for, except the rows.
#[derive(Debug, Clone)]
pub(crate) struct Wish {
    pub(crate) evaluators: Vec<Configured>,
    pub(crate) quirks: Quirks,
    /// Names of the switches that were asked for.
    pub(crate) switches: Vec<String>,
    pub(crate) rounds: u32,
}

impl Wish {
    /// Understands a request; `usual` is where inputs come from of which an evaluator itself says nothing.
    pub(crate) fn read(request: &EvaluateRequest, usual: &[(String, String)]) -> Result<Self, String> {
        let quirks = Quirks::of(request.switches.iter().map(String::as_str))?;
        let rounds = request.rounds.unwrap_or(1);
        if !(1..=MOST_ROUNDS).contains(&rounds) {
            return Err(format!("A row is judged in 1 to {MOST_ROUNDS} rounds, not {rounds}."));
        }
        if !(1..=MOST_EVALUATORS).contains(&request.evaluators.len()) {
            let many = request.evaluators.len();
            return Err(format!("Choose 1 to {MOST_EVALUATORS} evaluators; there are {many}."));
        }
        let usual = mapping(usual)?;
        let mut evaluators: Vec<Configured> = Vec::new();
        for asked in &request.evaluators {
            let one = configured(asked, &usual, &quirks)?;
            if evaluators.iter().any(|other| other.evaluator.name == one.evaluator.name) {
                return Err(format!("Two evaluators are named `{}`: give each a name.", one.evaluator.name));
            }
            evaluators.push(one);
        }
        Ok(Self { evaluators, quirks, switches: request.switches.clone(), rounds })
    }

    /// A model has to be asked.
    pub(crate) fn asks(&self) -> bool {
        self.evaluators.iter().any(|one| one.evaluator.takes.model)
    }

    /// A model has to turn texts into vectors.
    pub(crate) fn embeds(&self) -> bool {
        self.evaluators.iter().any(|one| one.evaluator.embeds())
    }

    /// What is said has to be paid for.
    pub(crate) fn pays(&self) -> bool {
        self.asks() || self.embeds()
    }

    /// Programs have to be run.
    pub(crate) fn runs(&self) -> bool {
        self.evaluators.iter().any(|one| one.evaluator.takes.program)
    }

    /// How often an evaluator is asked about a row.
    pub(crate) fn rounds_of(&self, at: usize) -> u32 {
        self.evaluators.get(at).map_or(1, |one| if one.evaluator.takes.model { self.rounds } else { 1 })
    }
}

/// What tells a question of one row, evaluator and round apart from the same one of others. Of rows that ask the same, `nth` is which one
/// it is, from 1: rows that are put in or taken out elsewhere change nothing.
pub(crate) fn mark(nth: u32, evaluator: &str, round: u32) -> String {
    format!("{nth}/{evaluator}/{}", round + 1)
}

fn mapping(pairs: &[(String, String)]) -> Result<Mapping, String> {
    Mapping::read(pairs.iter().map(|(input, from)| (input.as_str(), from.as_str())))
}

fn configured(asked: &EvaluatorRequest, usual: &Mapping, quirks: &Quirks) -> Result<Configured, String> {
    let name = if asked.name.is_empty() { &asked.kind } else { &asked.name };
    let about = |why: String| format!("{name}: {why}");
    let options = if asked.options.trim().is_empty() { "{}" } else { &asked.options };
    let options = json::read(options).map_err(|why| about(format!("The options are no JSON: {}", why.message)))?;
    let Value::Map(mut entries) = options else {
        return Err(about("Options are an object of names and values.".to_owned()));
    };
    if !asked.kind.is_empty() {
        entries.retain(|(key, _)| key.text() != Some("kind"));
        entries.push((Value::from("kind"), Value::from(asked.kind.as_str())));
    }
    if let Some(threshold) = asked.threshold {
        let key = threshold_key(&asked.kind);
        entries.retain(|(known, _)| known.text() != Some(key));
        entries.push((Value::from(key), Value::Number(written(threshold))));
    }
    let evaluator = Evaluator::read_like(name, &Value::Map(entries), quirks).map_err(about)?;
    let mapping = mapping(&asked.mapping).map_err(|why| format!("{name}: {why}"))?.or(usual, quirks);
    Ok(Configured { evaluator, mapping })
}

/// Graders call it otherwise, and ROUGE has three.
pub(crate) fn threshold_key(kind: &str) -> &'static str {
    match kind {
        "text_similarity" | "python" | "score_model" => "pass_threshold",
        "rouge_score" => "f1_score_threshold",
        _ => "threshold",
    }
}

/// A whole number stays whole: thresholds stand in results as they were written.
fn written(number: f64) -> String {
    format!("{number}")
}
