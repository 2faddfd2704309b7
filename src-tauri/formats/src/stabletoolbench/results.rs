//! **Pure.** Result files of evaluations of many queries, in both existing forms. A file that was
//! read is written back unchanged: unknown keys keep their positions, numbers keep their notation.
//! Owns the names and the order of the keys; computes no statistics.
use super::python;
use super::query::read_api_name;
use touchstone_model::error::{ReadError, ReadErrorKind, text_of};
use touchstone_model::json;
use touchstone_model::node::Node;
use touchstone_model::run::ApiName;
use touchstone_model::value::Value;

/// Form of a result file.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Shape {
    /// The documented form: `metadata.framework` and `metadata.config`.
    Framework,
    /// The form that current programs write: `metadata.agent_name`, with the settings next to it.
    Agent,
}

/// A result file.
#[derive(Debug, Clone, PartialEq)]
pub struct ResultFile {
    root: Value,
}

/// Metadata of a file.
#[derive(Debug, Clone, PartialEq, Default)]
pub struct Metadata {
    /// Evaluated system: `framework` or `agent_name`.
    pub framework: Option<String>,
    /// `config`; in the other form, every key next to the name.
    pub config: Vec<(String, Value)>,
    /// Duration of the whole evaluation in seconds.
    pub overall_time: Option<f64>,
    /// Date and time, as written.
    pub timestamp: Option<String>,
}

/// Statistics of a file; `None` for those it does not have.
#[derive(Debug, Clone, Copy, PartialEq, Default)]
pub struct Summary {
    /// Number of distinct queries.
    pub total_queries: Option<u64>,
    /// Number of evaluations, including repeats.
    pub total_evaluations: Option<u64>,
    /// Number of evaluations with the status `Solved`.
    pub solved_count: Option<u64>,
    /// Percentage of evaluations with the status `Solved`, from 0 to 100.
    pub solved_percentage: Option<f64>,
    /// Number of evaluations whose answer called `Finish`.
    pub finish_count: Option<u64>,
    /// Percentage of evaluations whose answer called `Finish`, from 0 to 100.
    pub finish_percentage: Option<f64>,
    /// Mean score over evaluations.
    pub average_sopr_score: Option<f64>,
    /// Mean score over evaluations.
    pub average_api_call_score: Option<f64>,
    /// Duration in seconds.
    pub total_evaluation_time: Option<f64>,
    /// Duration in seconds.
    pub average_evaluation_time: Option<f64>,
}

/// One evaluation of one query.
#[derive(Debug, Clone, PartialEq, Default)]
pub struct Evaluation {
    /// Id of the query, as decimal text.
    pub query_id: String,
    /// Text of the query.
    pub query_text: String,
    /// Expected APIs.
    pub gold: Vec<ApiName>,
    /// Available tools: `gold_answer.available_tools`.
    pub available_tools: Value,
    /// Answer as text. Agents' files have `...` at the end of long ones, where nothing is missing.
    pub final_answer: Option<String>,
    /// Graph of the steps of the answer.
    pub answer_details: Value,
    /// APIs that were called, if recorded.
    pub called: Option<Vec<ApiName>>,
    /// 1, 0.5 or 0.
    pub sopr_score: Option<f64>,
    /// From 0 to 1.
    pub api_call_score: Option<f64>,
    /// `Solved`, `Unsure`, `Unsolved`, or `Error` if nothing was evaluated.
    pub answer_status: Option<String>,
    /// True if the answer called `Finish`, according to the file.
    pub has_finish: Option<bool>,
    /// Method of evaluation.
    pub evaluation_method: Option<String>,
    /// Reason of the verdict.
    pub reason: Option<String>,
    /// Duration of the evaluation in seconds.
    pub evaluation_time: Option<f64>,
    /// Error, if nothing was evaluated.
    pub error: Option<String>,
}

/// Keys of the metadata that are not settings.
const OUTSIDE_CONFIG: [&str; 5] =
    ["framework", "agent_name", "config", "overall_time", "timestamp"];

impl ResultFile {
    /// Parses a file of either form. Fails if it has no `metadata` with `results`.
    pub fn read(bytes: &[u8]) -> Result<Self, ReadError> {
        // The steps of an answer are a deeply nested chain.
        let root = json::read_python(text_of(bytes)?)?;
        let fits = root.get("metadata").is_some_and(|it| matches!(it, Value::Map(_)))
            && root.get("results").is_some_and(|it| matches!(it, Value::List(_)));
        if fits {
            return Ok(Self { root });
        }
        let message = "Not a result file: it has no `metadata` with `results`.";
        Err(ReadError::new(ReadErrorKind::NotTranscript, message))
    }

    /// Formats the file; a file that was read becomes the same text again.
    pub fn write(&self) -> String {
        json::write(&self.root, true) + "\n"
    }

    /// Builds a file of the documented form.
    pub fn new(metadata: &Metadata, summary: &Summary, evaluations: &[Evaluation]) -> Self {
        let results = evaluations.iter().map(Evaluation::value).collect();
        Self {
            root: map([
                ("metadata", Some(metadata.value())),
                ("summary", Some(summary.value())),
                ("results", Some(Value::List(results))),
            ]),
        }
    }

    /// Returns the form of the file.
    pub fn shape(&self) -> Shape {
        let agent = self.root.get("metadata").is_some_and(|it| it.get("agent_name").is_some());
        if agent { Shape::Agent } else { Shape::Framework }
    }

    /// Returns the metadata.
    pub fn metadata(&self) -> Metadata {
        self.root.get("metadata").map(Metadata::read).unwrap_or_default()
    }

    /// Returns the statistics.
    pub fn summary(&self) -> Summary {
        self.root.get("summary").map(Summary::read).unwrap_or_default()
    }

    /// Returns the evaluations in order. Entries that are not objects are skipped.
    pub fn evaluations(&self) -> impl Iterator<Item = Evaluation> {
        self.root.get("results").map_or(&[][..], Value::items).iter().filter_map(Evaluation::read)
    }
}

impl Metadata {
    /// Parses the metadata of either form.
    pub fn read(value: &Value) -> Self {
        let word = |key: &str| value.get(key).and_then(Node::word).map(str::to_owned);
        let entries = match value.get("config") {
            Some(config) => config.entries(),
            None => value.entries(),
        };
        let named = |(key, value): &(Value, Value)| Some((key.word()?.to_owned(), value.clone()));
        let config = entries.iter().filter_map(named);
        Self {
            framework: word("framework").or_else(|| word("agent_name")),
            config: config.filter(|(key, _)| !OUTSIDE_CONFIG.contains(&key.as_str())).collect(),
            overall_time: number(value, "overall_time"),
            timestamp: word("timestamp"),
        }
    }

    /// Returns a setting.
    pub fn setting(&self, key: &str) -> Option<&Value> {
        self.config.iter().find(|(known, _)| known == key).map(|(_, value)| value)
    }

    fn value(&self) -> Value {
        let config =
            self.config.iter().map(|(key, value)| (Value::from(key.as_str()), value.clone()));
        map([
            ("framework", self.framework.as_deref().map(Value::from)),
            ("config", Some(Value::Map(config.collect()))),
            ("overall_time", self.overall_time.map(float)),
            ("timestamp", self.timestamp.as_deref().map(Value::from)),
        ])
    }
}

impl Summary {
    fn read(value: &Value) -> Self {
        let count =
            |key: &str| value.get(key).and_then(Node::word).and_then(|text| text.parse().ok());
        let number = |key: &str| number(value, key);
        Self {
            total_queries: count("total_queries"),
            total_evaluations: count("total_evaluations"),
            solved_count: count("solved_count"),
            solved_percentage: number("solved_percentage"),
            finish_count: count("finish_count"),
            finish_percentage: number("finish_percentage"),
            average_sopr_score: number("average_sopr_score"),
            average_api_call_score: number("average_api_call_score"),
            total_evaluation_time: number("total_evaluation_time"),
            average_evaluation_time: number("average_evaluation_time"),
        }
    }

    fn value(&self) -> Value {
        let whole = |count: Option<u64>| count.map(|count| Value::Number(count.to_string()));
        map([
            ("total_queries", whole(self.total_queries)),
            ("total_evaluations", whole(self.total_evaluations)),
            ("solved_count", whole(self.solved_count)),
            ("solved_percentage", self.solved_percentage.map(float)),
            ("finish_count", whole(self.finish_count)),
            ("finish_percentage", self.finish_percentage.map(float)),
            ("average_sopr_score", self.average_sopr_score.map(float)),
            ("average_api_call_score", self.average_api_call_score.map(float)),
            ("total_evaluation_time", self.total_evaluation_time.map(float)),
            ("average_evaluation_time", self.average_evaluation_time.map(float)),
        ])
    }
}

impl Evaluation {
    /// Parses an entry of `results`, of either form. Returns `None` if it is not an object.
    pub fn read(entry: &Value) -> Option<Self> {
        if !matches!(entry, Value::Map(_)) {
            return None;
        }
        let part = |key: &str| entry.get(key).unwrap_or(&Value::Null);
        let (gold, system, scores) = (part("gold_answer"), part("system_answer"), part("scores"));
        let (judged, timing) = (part("evaluation"), part("timing"));
        let word = |of: &Value, key: &str| of.get(key).and_then(Node::word).map(str::to_owned);
        let pairs =
            |value: &Value| value.items().iter().filter_map(read_api_name).collect::<Vec<_>>();
        let relevant = entry.get("gold_apis").or_else(|| gold.get("relevant_apis"));
        let has_finish = [judged, system].into_iter().find_map(|of| match of.get("has_finish") {
            Some(Value::Bool(yes)) => Some(*yes),
            _ => None,
        });
        Some(Self {
            query_id: word(entry, "query_id").unwrap_or_default(),
            query_text: word(entry, "query_text")
                .or_else(|| word(entry, "query"))
                .unwrap_or_default(),
            gold: relevant.map(pairs).unwrap_or_default(),
            available_tools: gold.get("available_tools").cloned().unwrap_or_default(),
            final_answer: word(system, "final_answer"),
            answer_details: system.get("answer_details").cloned().unwrap_or_default(),
            called: entry.get("called_apis").or_else(|| system.get("called_apis")).map(pairs),
            sopr_score: number(scores, "sopr_score"),
            api_call_score: number(scores, "api_call_score"),
            answer_status: word(judged, "answer_status").or_else(|| word(scores, "answer_status")),
            has_finish,
            evaluation_method: word(judged, "evaluation_method"),
            reason: word(judged, "reason"),
            evaluation_time: number(timing, "evaluation_time"),
            error: word(entry, "error"),
        })
    }

    /// Converts the evaluation to an entry of the documented form.
    fn value(&self) -> Value {
        let text = |text: &Option<String>| text.as_deref().map(Value::from);
        let pair = |pair: &ApiName| {
            Value::List(vec![Value::from(pair.tool.as_str()), Value::from(pair.api.as_str())])
        };
        let pairs = |pairs: &[ApiName]| Value::List(pairs.iter().map(pair).collect());
        map([
            ("query_id", Some(Value::from(self.query_id.as_str()))),
            ("query_text", Some(Value::from(self.query_text.as_str()))),
            (
                "gold_answer",
                Some(map([
                    ("relevant_apis", Some(pairs(&self.gold))),
                    ("available_tools", non_null(&self.available_tools)),
                ])),
            ),
            (
                "system_answer",
                Some(map([
                    ("final_answer", text(&self.final_answer)),
                    ("answer_details", non_null(&self.answer_details)),
                    ("called_apis", self.called.as_deref().map(pairs)),
                ])),
            ),
            (
                "scores",
                Some(map([
                    ("sopr_score", self.sopr_score.map(float)),
                    ("api_call_score", self.api_call_score.map(float)),
                ])),
            ),
            (
                "evaluation",
                Some(map([
                    ("answer_status", text(&self.answer_status)),
                    ("has_finish", self.has_finish.map(Value::Bool)),
                    ("evaluation_method", text(&self.evaluation_method)),
                    ("reason", text(&self.reason)),
                ])),
            ),
            ("timing", Some(map([("evaluation_time", self.evaluation_time.map(float))]))),
            ("error", text(&self.error)),
        ])
    }
}

/// Builds a map from the entries that have a value.
fn map<const N: usize>(entries: [(&str, Option<Value>); N]) -> Value {
    Value::Map(
        entries.into_iter().filter_map(|(key, value)| Some((Value::from(key), value?))).collect(),
    )
}

fn non_null(value: &Value) -> Option<Value> {
    Some(value.clone()).filter(|value| *value != Value::Null)
}

fn number(of: &Value, key: &str) -> Option<f64> {
    of.get(key).and_then(Node::number)
}

/// Formats a number as the original does; null for numbers that JSON does not have.
fn float(number: f64) -> Value {
    if number.is_finite() { Value::Number(python::float(number)) } else { Value::Null }
}

#[cfg(test)]
mod tests {
    use super::*;

    const BOTH: [&str; 2] = [
        include_str!(
            "../../../../tests/fixtures/stabletoolbench/results/trail_helper_G1_instruction.json"
        ),
        include_str!(
            "../../../../tests/fixtures/stabletoolbench/results/seven_steps_G2_category_k12_q3.json"
        ),
    ];

    #[test]
    fn a_file_of_either_shape_is_written_back_as_it_was() {
        for (text, shape) in BOTH.into_iter().zip([Shape::Framework, Shape::Agent]) {
            let file = ResultFile::read(text.as_bytes()).unwrap();
            assert_eq!((file.write().as_str(), file.shape()), (text, shape));
        }
    }

    #[test]
    fn what_is_read_of_the_document_s_shape_and_written_anew_says_the_same() {
        let file = ResultFile::read(BOTH[0].as_bytes()).unwrap();
        let evaluations: Vec<_> = file.evaluations().collect();
        let anew = ResultFile::new(&file.metadata(), &file.summary(), &evaluations);
        assert_eq!(anew.metadata(), file.metadata());
        assert_eq!(anew.summary(), file.summary());
        assert_eq!(anew.evaluations().collect::<Vec<_>>(), evaluations);
        assert_eq!(ResultFile::read(anew.write().as_bytes()).unwrap(), anew);
    }

    #[test]
    fn both_shapes_say_who_was_evaluated_with_what() {
        let [first, second] = BOTH.map(|text| ResultFile::read(text.as_bytes()).unwrap());
        let (a, b) = (first.metadata(), second.metadata());
        assert_eq!(
            (a.framework.as_deref(), b.framework.as_deref()),
            (Some("trail_helper"), Some("seven_steps"))
        );
        for metadata in [&a, &b] {
            assert!(
                metadata.setting("test_set").is_some()
                    && metadata.setting("evaluator_model").is_some()
            );
        }
        assert_eq!(
            (first.summary().total_evaluations, second.summary().total_evaluations),
            (Some(4), None)
        );
        let failed =
            second.evaluations().find(|one| one.answer_status.as_deref() == Some("Error")).unwrap();
        assert!(
            failed.error.is_some()
                && failed.has_finish.is_none()
                && failed.evaluation_time.is_none()
        );
        let called = second.evaluations().next().unwrap().called.unwrap();
        assert_eq!(
            (called[0].tool.as_str(), called[0].api.as_str()),
            ("Harbor Times", "ferry_departures")
        );
    }

    #[test]
    fn other_files_are_refused() {
        for text in ["{}", "[]", "{\"metadata\": {}, \"results\": 1}", "{\"results\": []}", ""] {
            assert!(ResultFile::read(text.as_bytes()).is_err(), "{text}");
        }
    }
}
