//! **Pure.** Parses and validates an evaluation request: evaluators with their options, and the
//! sources of their inputs. Errors are sentences.
use touchstone_api::{EvaluateRequest, EvaluatorRequest};
use touchstone_judges::MOST_ROUNDS;
use touchstone_judges::azure::{Evaluator, Kind, Mapping, Quirks, all};
use touchstone_model::json;
use touchstone_model::nearest::nearest;
use touchstone_model::value::Value;

/// Maximum number of evaluators at a time; more are a mistake.
const MOST_EVALUATORS: usize = 100;

/// An evaluator, and the sources of its inputs.
#[derive(Debug, Clone)]
pub(crate) struct Configured {
    pub(crate) evaluator: Evaluator,
    pub(crate) mapping: Mapping,
}

impl Configured {
    /// Returns true if its requests cost money.
    pub(crate) fn is_paid(&self) -> bool {
        self.evaluator.takes.model || self.evaluator.embeds()
    }
}

/// A parsed evaluation request, without the rows.
#[derive(Debug, Clone)]
pub(crate) struct EvaluationSpec {
    pub(crate) evaluators: Vec<Configured>,
    pub(crate) quirks: Quirks,
    /// Names of the requested switches.
    pub(crate) switches: Vec<String>,
    pub(crate) rounds: u32,
    /// Sentences about mapped inputs that no evaluator reads.
    stray: Vec<String>,
}

impl EvaluationSpec {
    /// Parses a request. `usual` holds the sources of inputs for evaluators that do not map them
    /// themselves.
    pub(crate) fn read(
        request: &EvaluateRequest,
        usual: &[(String, String)],
    ) -> Result<Self, String> {
        let quirks = Quirks::from_names(request.switches.iter().map(String::as_str))?;
        let rounds = request.rounds.unwrap_or(1);
        if !(1..=MOST_ROUNDS).contains(&rounds) {
            return Err(format!("A row is judged in 1 to {MOST_ROUNDS} rounds, not {rounds}."));
        }
        if !(1..=MOST_EVALUATORS).contains(&request.evaluators.len()) {
            let many = request.evaluators.len();
            return Err(format!("Choose 1 to {MOST_EVALUATORS} evaluators; there are {many}."));
        }
        let of_all = mapping(usual)?;
        let (mut evaluators, mut stray): (Vec<Configured>, Vec<String>) = (Vec::new(), Vec::new());
        for asked in &request.evaluators {
            let (one, unread) = configured(asked, &of_all, &quirks)?;
            stray.extend(unread);
            if evaluators.iter().any(|other| other.evaluator.name == one.evaluator.name) {
                return Err(format!(
                    "Two evaluators are named `{}`: give each a name.",
                    one.evaluator.name
                ));
            }
            evaluators.push(one);
        }
        let all: Vec<&Evaluator> = evaluators.iter().map(|one| &one.evaluator).collect();
        let of_nobody = usual.iter().filter(|(input, _)| !is_known(&evaluators, input));
        stray.extend(of_nobody.map(|(input, _)| unread(input, &all)));
        Ok(Self { evaluators, quirks, switches: request.switches.clone(), rounds, stray })
    }

    /// Returns true if some mapping is unused.
    pub(crate) fn has_unused_mappings(&self) -> bool {
        !self.stray.is_empty()
    }

    /// Unused mappings are errors. If replies were already paid for, they are only ignored, with
    /// one sentence each, because an earlier version may have accepted the request and it must
    /// remain resumable.
    pub(crate) fn check_unused_mappings(
        &self,
        is_begun: impl FnOnce() -> bool,
    ) -> Result<Vec<String>, String> {
        let Some(first) = self.stray.first() else { return Ok(Vec::new()) };
        if !is_begun() {
            return Err(first.clone());
        }
        let told = |why: &String| {
            format!("{why} It is ignored, so that earlier paid replies still count.")
        };
        Ok(self.stray.iter().map(told).collect())
    }

    /// Returns true if an evaluator sends requests to a model.
    pub(crate) fn needs_model(&self) -> bool {
        self.evaluators.iter().any(|one| one.evaluator.takes.model)
    }

    /// Returns true if an evaluator needs text embeddings.
    pub(crate) fn embeds(&self) -> bool {
        self.evaluators.iter().any(|one| one.evaluator.embeds())
    }

    /// Returns true if some requests cost money.
    pub(crate) fn is_paid(&self) -> bool {
        self.needs_model() || self.embeds()
    }

    /// Returns true if an evaluator runs programs.
    pub(crate) fn needs_programs(&self) -> bool {
        self.evaluators.iter().any(|one| one.evaluator.takes.program)
    }

    /// Returns the user's Python programs, with the names of their evaluators.
    pub(crate) fn programs(&self) -> impl Iterator<Item = (&str, &str)> {
        self.evaluators.iter().filter_map(|one| match &one.evaluator.kind {
            Kind::Python(python) => Some((one.evaluator.name.as_str(), python.source.as_str())),
            _ => None,
        })
    }

    /// Returns the number of rounds per row of an evaluator.
    pub(crate) fn rounds_of(&self, at: usize) -> u32 {
        self.evaluators
            .get(at)
            .map_or(1, |one| if one.evaluator.takes.model { self.rounds } else { 1 })
    }
}

/// Returns the mark that distinguishes a question of a row, evaluator and round from identical
/// ones. `nth` is the occurrence number of the row among those with the same question, from 1,
/// which stays the same when other rows are added or removed.
pub(crate) fn mark(nth: u32, evaluator: &str, round: u32) -> String {
    format!("{nth}/{evaluator}/{}", round + 1)
}

/// Returns true if any evaluator takes this input, selected or not: one mapping for all may serve
/// many evaluations.
fn is_known(evaluators: &[Configured], input: &str) -> bool {
    let is_usual = || {
        all()
            .iter()
            .any(|takes| takes.needs.iter().chain(takes.may_have).any(|name| *name == input))
    };
    evaluators.iter().any(|one| one.evaluator.reads(input)) || is_usual()
}

/// Returns an error message for a mapped input that none of these evaluators reads. Such a typo
/// would otherwise be noticed only after all requests were paid for.
fn unread(input: &str, evaluators: &[&Evaluator]) -> String {
    let mut known: Vec<&str> = Vec::new();
    for name in evaluators.iter().flat_map(|one| one.inputs()) {
        if !known.contains(&name) {
            known.push(name);
        }
    }
    let near = nearest(input, known.iter().copied())
        .map(|near| format!(" Did you mean `{near}`?"))
        .unwrap_or_default();
    let listed = |names: Vec<&str>| {
        names.iter().map(|name| format!("`{name}`")).collect::<Vec<_>>().join(", ")
    };
    let named = listed(evaluators.iter().map(|one| one.name.as_str()).collect());
    let (take, it) =
        if evaluators.len() == 1 { ("takes", "It takes") } else { ("take", "They take") };
    let takes =
        if known.is_empty() { "nothing but its own texts".to_owned() } else { listed(known) };
    format!("`{input}` is mapped, and {named} {take} no such input. {it} {takes}.{near}")
}

fn mapping(pairs: &[(String, String)]) -> Result<Mapping, String> {
    Mapping::read(pairs.iter().map(|(input, from)| (input.as_str(), from.as_str())))
}

/// Parses an evaluator. Also returns messages about its unused mappings.
fn configured(
    asked: &EvaluatorRequest,
    usual: &Mapping,
    quirks: &Quirks,
) -> Result<(Configured, Vec<String>), String> {
    let name = if asked.name.is_empty() { &asked.kind } else { &asked.name };
    let about = |why: String| format!("{name}: {why}");
    let options = if asked.options.trim().is_empty() { "{}" } else { &asked.options };
    let options = json::read(options)
        .map_err(|why| about(format!("The options are not JSON: {}", why.message)))?;
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
    let evaluator =
        Evaluator::read_with_quirks(name, &Value::Map(entries), quirks).map_err(about)?;
    let stray = asked.mapping.iter().filter(|(input, _)| !evaluator.reads(input));
    let stray = stray.map(|(input, _)| about(unread(input, &[&evaluator]))).collect();
    let mapping = mapping(&asked.mapping)
        .map_err(|why| format!("{name}: {why}"))?
        .with_defaults(usual, quirks);
    Ok((Configured { evaluator, mapping }, stray))
}

/// Returns the option that holds the pass threshold: graders use another name, and ROUGE has three
/// thresholds.
pub(crate) fn threshold_key(kind: &str) -> &'static str {
    match kind {
        "text_similarity" | "python" | "score_model" => "pass_threshold",
        "rouge_score" => "f1_score_threshold",
        _ => "threshold",
    }
}

/// Formats a number so that integers stay integers: results contain thresholds exactly as written.
fn written(number: f64) -> String {
    format!("{number}")
}

#[cfg(test)]
mod tests {
    use super::*;

    fn validate_mappings(
        kinds: &[(&str, &str)],
        own: &[(&str, &str)],
        usual: &[(&str, &str)],
    ) -> String {
        let pairs = |pairs: &[(&str, &str)]| -> Vec<(String, String)> {
            pairs
                .iter()
                .map(|(input, column)| ((*input).to_owned(), format!("${{data.{column}}}")))
                .collect()
        };
        let one = |(kind, options): &(&str, &str)| EvaluatorRequest {
            kind: (*kind).to_owned(),
            options: (*options).to_owned(),
            ..EvaluatorRequest::default()
        };
        let mut evaluators: Vec<EvaluatorRequest> = kinds.iter().map(one).collect();
        evaluators[0].mapping = pairs(own);
        let request = EvaluateRequest { evaluators, ..EvaluateRequest::default() };
        let read = EvaluationSpec::read(&request, &pairs(usual))
            .and_then(|wish| wish.check_unused_mappings(|| false));
        read.map_or_else(|why| why, |_| "well".to_owned())
    }

    #[test]
    fn unused_mappings_are_refused_with_the_accepted_inputs() {
        let texts = [("f1_score", "")];
        assert_eq!(
            validate_mappings(&texts, &[("response", "a")], &[("ground_truth", "b")]),
            "well"
        );
        assert_eq!(
            validate_mappings(&texts, &[("respons", "a")], &[]),
            "f1_score: `respons` is mapped, and `f1_score` takes no such input. It takes `response`, `ground_truth`, `conversation`. Did you mean `response`?"
        );
        // A grader takes the inputs that its texts name.
        let check = [("string_check", r#"{"reference": "{{item.truth.text}}"}"#)];
        assert_eq!(
            validate_mappings(
                &check,
                &[("response", "a"), ("truth", "b"), ("truth.text", "c")],
                &[]
            ),
            "well"
        );
        assert_eq!(
            validate_mappings(&check, &[("reference", "a")], &[]),
            "string_check: `reference` is mapped, and `string_check` takes no such input. It takes `response`, `truth`."
        );
        assert_eq!(
            validate_mappings(
                &[("python", r#"{"source": "x"}"#)],
                &[("anything", "a")],
                &[("more", "b")]
            ),
            "well"
        );
        // One mapping serves many evaluations; an input of another evaluator is therefore not an
        // error.
        assert_eq!(validate_mappings(&texts, &[], &[("context", "a")]), "well");
        assert_eq!(
            validate_mappings(&[texts[0], ("fluency", "")], &[], &[("contxt", "a")]),
            "`contxt` is mapped, and `f1_score`, `fluency` take no such input. They take `response`, `ground_truth`, `conversation`."
        );
    }
}
