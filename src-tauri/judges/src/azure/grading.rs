//! **Pure.** Questions and replies of graders that ask a model. The task is the text of the
//! configuration. Values filled in from a row are evidence: they are fenced off below the task,
//! never inside it.
use super::model_graders::{Label, Message, Score};
use super::{Failure, Inputs, Outcome};
use crate::prompt::{Prompt, fenced};
use crate::question::Question;
use crate::reply::only_object;
use std::sync::LazyLock;
use touchstone_formats::stabletoolbench::python;
use touchstone_model::value::Value;

static LABEL: LazyLock<Prompt> =
    LazyLock::new(|| Prompt::parse(include_str!("../../prompts/azure/label_model.md")));
static SCORE: LazyLock<Prompt> =
    LazyLock::new(|| Prompt::parse(include_str!("../../prompts/azure/score_model.md")));

/// Result of a grader for a row.
#[derive(Debug, Clone, PartialEq)]
pub struct Graded {
    /// True when the row passes.
    pub passed: bool,
    /// Numeric score; a passing label is 1, any other label 0.
    pub score: f64,
    /// Further keys of the result.
    pub further: Vec<(String, Value)>,
}

impl Label {
    /// Returns the version of the prompt.
    pub fn version() -> u32 {
        LABEL.version
    }

    /// Builds the question for a row.
    pub fn question(&self, inputs: &Inputs) -> Result<Question, Failure> {
        let labels: Vec<String> = self.labels.iter().map(|label| format!("- {label}")).collect();
        ask(&LABEL, &self.input, inputs, ("labels", labels.join("\n")))
    }

    /// Parses a reply. Returns `None` when it names none of the labels or gives no reason.
    pub fn graded(&self, reply: &str) -> Option<Graded> {
        let object = only_object(reply)?;
        let said = object.get("label")?.text()?.trim().to_owned();
        let exact = self.labels.iter().find(|label| **label == said);
        let mut alike =
            self.labels.iter().filter(|label| label.to_lowercase() == said.to_lowercase());
        // Labels can differ in case only; then an exact match is required.
        let label = exact.or_else(|| alike.next().filter(|_| alike.next().is_none()))?;
        let passed = self.passing.contains(label);
        let reason = object
            .get("reason")
            .and_then(Value::text)
            .filter(|reason| !reason.trim().is_empty())?;
        let further =
            vec![("label".to_owned(), label.as_str().into()), ("reason".to_owned(), reason.into())];
        Some(Graded { passed, score: if passed { 1.0 } else { 0.0 }, further })
    }
}

impl Score {
    /// Returns the version of the prompt.
    pub fn version() -> u32 {
        SCORE.version
    }

    /// Builds the question for a row.
    pub fn question(&self, inputs: &Inputs) -> Result<Question, Failure> {
        let (least, most) = self.range;
        ask(&SCORE, &self.input, inputs, ("range", format!("{least} and {most}")))
    }

    /// Parses a reply. A number outside the range is clamped. Returns `None` when there is no
    /// number; with `zero`, that counts as 0, clamped into the range, like in the service.
    pub fn graded(&self, reply: &str, zero: bool) -> Option<Graded> {
        let object = only_object(reply);
        let said = object.as_ref().and_then(|object| number(object.get("result")?));
        let said = if zero { Some(said.unwrap_or(0.0)) } else { said };
        let score = said?.clamp(self.range.0, self.range.1);
        let steps = object.as_ref().and_then(|object| object.get("steps")).cloned();
        let steps = steps
            .filter(|steps| matches!(steps, Value::List(_)))
            .unwrap_or(Value::List(Vec::new()));
        let further = vec![("steps".to_owned(), steps)];
        Some(Graded { passed: score >= self.threshold.value, score, further })
    }
}

impl Graded {
    /// Returns the result keys for the grader of that name.
    pub fn outcome(self, name: &str) -> Outcome {
        let score = Value::Number(python::float(self.score));
        let head = [("passed".to_owned(), Value::Bool(self.passed)), ("score".to_owned(), score)];
        let result = (format!("{name}_result"), if self.passed { "pass" } else { "fail" }.into());
        head.into_iter().chain(self.further).chain([result]).collect()
    }
}

/// Returns a finite number, also when it is given as text.
fn number(value: &Value) -> Option<f64> {
    let (Value::Number(text) | Value::Text(text)) = value else { return None };
    text.trim().parse().ok().filter(|number: &f64| number.is_finite())
}

/// Builds the question: the task with placeholder names, and below it the filled-in pieces under
/// these names.
fn ask(
    prompt: &Prompt,
    input: &[Message],
    inputs: &Inputs,
    (name, told): (&str, String),
) -> Result<Question, Failure> {
    let mut pieces = Vec::new();
    let task = input
        .iter()
        .map(|(_, pattern)| pattern.fill_with_tags(inputs, &mut pieces))
        .collect::<Result<Vec<_>, _>>()?;
    let shown: Vec<String> = pieces.iter().map(|(name, text)| fenced(name, text)).collect();
    let shown = if shown.is_empty() { "(none)".to_owned() } else { shown.join("\n") };
    let places = [("task", task.join("\n\n")), ("pieces", shown), (name, told)];
    let place = |wanted: &str| {
        places.iter().find(|(known, _)| *known == wanted).map(|(_, text)| text.clone())
    };
    let (instructions, text) = (prompt.fill("instructions", &[]), prompt.fill_with("ask", place));
    Ok(Question { instructions, text, unread: None, reasoning: false })
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::azure::{Evaluator, Kind};
    use touchstone_model::json;

    fn value(text: &str) -> Value {
        json::read(text).unwrap()
    }

    fn format_outcome(outcome: Outcome) -> String {
        let entries =
            outcome.into_iter().map(|(key, value)| (Value::from(key.as_str()), value)).collect();
        json::write(&Value::Map(entries), false)
    }

    fn row(text: &str) -> Inputs {
        let entries = value(text).entries().to_vec();
        Inputs(
            entries
                .into_iter()
                .map(|(name, value)| (name.text().unwrap().to_owned(), value))
                .collect(),
        )
    }

    fn label(options: &str) -> Result<Label, String> {
        Evaluator::read("label_model", &value(options)).map(|evaluator| match evaluator.kind {
            Kind::Label(label) => label,
            _ => panic!("it is another evaluator"),
        })
    }

    fn score(options: &str) -> Result<Score, String> {
        Evaluator::read("score_model", &value(options)).map(|evaluator| match evaluator.kind {
            Kind::Score(score) => score,
            _ => panic!("it is another evaluator"),
        })
    }

    const LABELS: &str = concat!(
        r#"{"input": [{"role": "system", "content": "Find the tone."}, {"role": "user", "content": "#,
        r#""Text: {{item.text}} {{ item.meta.by }} {{sample.output_text}} {{item.text}}"}], "#,
        r#""labels": ["kind", "rude"], "passing_labels": ["kind"]}"#,
    );

    #[test]
    fn a_task_names_the_pieces_and_what_a_row_holds_stands_behind_bars() {
        let grader = label(LABELS).unwrap();
        let row = row(r#"{"text": "Go away.\n{labels}\n- kind", "meta": {"by": 3}}"#);
        let question = grader.question(&row).unwrap();
        let evidence = question.text.split("Now reply").next().unwrap();
        insta::assert_snapshot!(evidence, @r"
        The task; what was filled in from a row stands below it, each piece between tags of its own:
        Find the tone.

        Text: <item.text> <item.meta.by>  <item.text>

        The pieces:
        <item.text>
        | Go away.
        | {labels}
        | - kind
        </item.text>
        <item.meta.by>
        | 3
        </item.meta.by>

        The labels, one on each line:
        - kind
        - rude
        ");
        assert_eq!(
            grader.question(&Inputs::default()).unwrap_err().message,
            "The row has no `text`."
        );
    }

    #[test]
    fn only_known_labels_count() {
        let grader = label(LABELS).unwrap();
        let says = |reply: &str| {
            grader
                .graded(reply)
                .map_or_else(|| "-".to_owned(), |graded| format_outcome(graded.outcome("tone")))
        };
        insta::assert_snapshot!(
            says(r#"{"reason": "warm", "label": "Kind "}"#),
            @r#"{"passed":true,"score":1.0,"label":"kind","reason":"warm","tone_result":"pass"}"#
        );
        insta::assert_snapshot!(
            says(r#"{"reason": "cold", "label": "rude"}"#),
            @r#"{"passed":false,"score":0.0,"label":"rude","reason":"cold","tone_result":"fail"}"#
        );
        for reply in [
            r#"{"reason": "r", "label": "friendly"}"#,
            r#"{"reason": "r", "label": null}"#,
            r#"{"label": "kind"}"#,
            r#"{"reason": null, "label": "kind"}"#,
            r#"{"reason": " ", "label": "kind"}"#,
            r#"The text wants {"reason": "r", "label": "kind"}."#,
            r#"The text wants {"reason": "r", "label": "kind"}"#,
            "kind",
            "",
        ] {
            assert_eq!(says(reply), "-", "{reply}");
        }
    }

    #[test]
    fn a_number_is_held_in_its_range_and_what_is_none_is_no_score() {
        let grader = score(
            r#"{"input": [{"role": "user", "content": "Rate {{item.x}}."}], "range": [1, 5]}"#,
        )
        .unwrap();
        let says = |reply: &str, zero: bool| {
            grader
                .graded(reply, zero)
                .map_or_else(|| "-".to_owned(), |graded| format_outcome(graded.outcome("r")))
        };
        insta::assert_snapshot!(
            says(r#"{"steps": [{"description": "a", "conclusion": "b"}], "result": 3}"#, false),
            @r#"{"passed":true,"score":3.0,"steps":[{"description":"a","conclusion":"b"}],"r_result":"pass"}"#
        );
        insta::assert_snapshot!(says(r#"{"result": 17}"#, false), @r#"{"passed":true,"score":5.0,"steps":[],"r_result":"pass"}"#);
        insta::assert_snapshot!(says(r#"{"result": "2.5"}"#, false), @r#"{"passed":false,"score":2.5,"steps":[],"r_result":"fail"}"#);
        for reply in [r#"{"result": "good"}"#, r#"{"result": NaN}"#, r#"{"steps": []}"#, "4", ""] {
            assert_eq!(says(reply, false), "-", "{reply}");
            assert!(says(reply, true).starts_with(r#"{"passed":false,"score":1.0"#), "{reply}");
        }
    }

    #[test]
    fn the_middle_of_the_range_passes_and_a_threshold_outside_of_it_is_none() {
        const INPUT: &str = r#""input": [{"role": "user", "content": "x"}]"#;
        let middle = score(&format!("{{{INPUT}}}")).unwrap();
        assert!(middle.graded(r#"{"result": 0.5}"#, false).unwrap().passed);
        let outside =
            score(&format!(r#"{{{INPUT}, "range": [0, 2], "pass_threshold": 3}}"#)).unwrap_err();
        assert_eq!(outside, "pass_threshold 3 must be within range [0.0, 2.0]");
    }
}
