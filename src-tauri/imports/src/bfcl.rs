//! **Pure.** Results and scores of the Berkeley Function Calling Leaderboard.
use crate::format::{Detected, Format, ImportedFile};
use crate::head::Head;
use crate::messages::read_thread;
use crate::pieces;
use crate::run::{
    Event, EventKind, Identity, ImportedRun, ImportedVerdict, Repeat, RunEnd, TokenCounts,
};
use crate::slices::{Names, Slices, parse_member};
use crate::source::{Folder, Input, read_all};
use crate::text::{is_blank, join, text_or_json};
use std::collections::HashMap;
use touchstone_model::error::ReadError;
use touchstone_model::value::Value;

/// Results and scores of the Berkeley Function Calling Leaderboard.
#[derive(Debug, Clone, Copy)]
pub struct Bfcl;

impl Format for Bfcl {
    fn name(&self) -> &'static str {
        "bfcl"
    }

    fn title(&self) -> &'static str {
        "Berkeley Function Calling Leaderboard"
    }

    fn files(&self) -> &'static str {
        "*_result.json, *_score.json"
    }

    fn documentation(&self) -> &'static str {
        include_str!("bfcl.md")
    }

    fn detect(&self, path: &str, _start: &[u8], head: Option<&Head>) -> Option<Detected> {
        let head = head.filter(|head| !head.is_list)?;
        let is_result = path.ends_with(RESULT) && head.has(&["id", "result"]);
        let is_score = path.ends_with(SCORE) && is_totals(head);
        (is_result || is_score).then_some(Detected::Runs)
    }

    fn open<'a>(&self, input: Input<'a>) -> Result<Box<dyn ImportedFile + 'a>, ReadError> {
        let slices = Slices::lines(input.read_all()?)?;
        if input.path.ends_with(SCORE) {
            return Ok(Box::new(Entries::scores(slices)));
        }
        Ok(Box::new(Entries::results(slices, &input)))
    }

    fn owner(&self, path: &str, _folder: &dyn Folder) -> Option<String> {
        let stem = path.strip_suffix(SCORE)?;
        swap_folder(stem, "score", "result").map(|stem| format!("{stem}{RESULT}"))
    }
}

const RESULT: &str = "_result.json";
const SCORE: &str = "_score.json";

fn is_totals(head: &Head) -> bool {
    head.has(&["accuracy", "correct_count", "total_count"])
}

/// Replaces the last folder of a name in a path. Returns `None` if there is none.
fn swap_folder(path: &str, from: &str, to: &str) -> Option<String> {
    let mut parts: Vec<&str> = path.split('/').collect();
    let names = parts.len().checked_sub(1)?;
    let at = parts.iter().take(names).rposition(|part| *part == from)?;
    *parts.get_mut(at)? = to;
    Some(parts.join("/"))
}

/// Entries of a result file with their scores, or the failed entries of a score file.
struct Entries {
    slices: Slices,
    /// Number of the first line that is an entry.
    first: usize,
    members: Vec<(String, u32)>,
    model: Option<String>,
    scores: Scores,
    /// True for a score file.
    is_score: bool,
}

/// Scores that lie beside a result file.
#[derive(Default)]
struct Scores {
    slices: Option<Slices>,
    /// Lines of the entries that failed, by id.
    failed: HashMap<String, usize>,
    /// True if all other entries passed.
    is_complete: bool,
}

fn id_of(text: &str) -> Option<String> {
    parse_member(&pieces::members(text), "id").as_ref().and_then(text_or_json)
}

/// Returns the name and the number of each entry.
fn name_entries(slices: &Slices, first: usize) -> Vec<(String, u32)> {
    let (mut names, mut counts) = (Names::default(), HashMap::<String, u32>::new());
    (first..slices.len())
        .map(|at| {
            let id = id_of(slices.get(at)).unwrap_or_else(|| format!("line {at}"));
            let count = counts.entry(id.clone()).or_default();
            *count = count.saturating_add(1);
            (names.add(id), *count)
        })
        .collect()
}

/// Returns 1 if the first line holds totals.
fn first_entry(slices: &Slices) -> usize {
    usize::from(Head::read(slices.get(0).as_bytes()).is_some_and(|head| is_totals(&head)))
}

impl Entries {
    fn scores(slices: Slices) -> Self {
        let first = first_entry(&slices);
        let members = name_entries(&slices, first);
        let scores = Scores::default();
        Entries { slices, first, members, model: None, scores, is_score: true }
    }

    fn results(slices: Slices, input: &Input) -> Self {
        let members = name_entries(&slices, 0);
        let folders: Vec<&str> = input.parent().split('/').collect();
        let root = folders.iter().rposition(|folder| *folder == "result");
        let model = root.and_then(|root| folders.get(root + 1)).map(|model| (*model).to_owned());
        let scores = Scores::beside(input, members.len());
        Entries { slices, first: 0, members, model, scores, is_score: false }
    }
}

impl Scores {
    /// Reads the score file in the folder of the scores or in the same folder.
    fn beside(input: &Input, results: usize) -> Self {
        let stem = input.path.strip_suffix(RESULT).unwrap_or(input.path);
        let other = swap_folder(stem, "result", "score");
        let paths = other.into_iter().chain([stem.to_owned()]).map(|stem| format!("{stem}{SCORE}"));
        let bytes = paths.into_iter().find_map(|path| read_all(&*input.folder.open(&path)?).ok());
        let Some(slices) = bytes.and_then(|bytes| Slices::lines(bytes).ok()) else {
            return Scores::default();
        };
        let totals = pieces::members(slices.get(0));
        let count = |key| parse_member(&totals, key)?.whole_number();
        let failed: HashMap<String, usize> =
            (1..slices.len()).filter_map(|at| Some((id_of(slices.get(at))?, at))).collect();
        let (results, listed) = (results as u64, failed.len() as u64);
        let fits = count("total_count") == Some(results)
            && count("correct_count").map(|correct| correct.saturating_add(listed))
                == Some(results);
        let is_complete = fits && slices.error().is_none();
        Scores { slices: Some(slices), failed, is_complete }
    }

    fn entry(&self, id: &str) -> Option<Value> {
        self.slices.as_ref()?.parse(*self.failed.get(id)?).ok()
    }
}

impl ImportedFile for Entries {
    fn len(&self) -> usize {
        self.members.len()
    }

    fn member(&self, at: usize) -> Option<String> {
        self.members.get(at).map(|(name, _)| name.clone())
    }

    fn read(&self, at: usize) -> Result<ImportedRun, ReadError> {
        let entry = self.slices.parse(self.first.saturating_add(at))?;
        let id = entry.get("id").and_then(text_or_json);
        let score = if self.is_score {
            Some(entry.clone())
        } else {
            id.as_ref().and_then(|id| self.scores.entry(id))
        };
        let mut run = read_entry(&entry, score.as_ref());
        if !self.is_score && score.is_none() && self.scores.is_complete && run.end != RunEnd::Error
        {
            run.verdicts = vec![verdict(true, None)];
        }
        if let Some((_, count)) = self.members.get(at) {
            run.repeat = Repeat::Number(*count);
        }
        let scored = score.as_ref().and_then(|score| score.text_at("model_name"));
        run.model = scored.map(str::to_owned).or_else(|| self.model.clone());
        run.identity = run.model.as_ref().zip(id.as_ref()).map(|(model, id)| Identity {
            key: format!("bfcl {} {id}", model.replace('/', "_")),
            rank: if self.is_score { 0.0 } else { 1.0 },
        });
        run.task = id;
        Ok(run)
    }

    fn file_error(&self) -> Option<ReadError> {
        self.slices.error()
    }
}

fn verdict(is_valid: bool, reason: Option<String>) -> ImportedVerdict {
    ImportedVerdict {
        name: "valid".to_owned(),
        value: Value::Bool(is_valid),
        passed: Some(is_valid),
        reason,
        threshold: None,
    }
}

const FAILED: &str = "Error during inference:";

/// Reads an entry and what the score file says about it, if it failed.
fn read_entry(entry: &Value, score: Option<&Value>) -> ImportedRun {
    let keys = ["result", "model_result_raw", "model_result"];
    let result = keys.iter().find_map(|key| entry.get_non_null(key)).cloned().unwrap_or_default();
    let mut run = ImportedRun {
        tokens: TokenCounts::new(
            entry.get("input_token_count").and_then(sum).map(to_count),
            entry.get("output_token_count").and_then(sum).map(to_count),
            None,
        ),
        seconds: entry.get("latency").and_then(sum),
        ..ImportedRun::default()
    };
    let error = result.text().filter(|text| text.starts_with(FAILED));
    let log = entry.get("inference_log").map(Value::items).unwrap_or_default();
    if log.iter().any(|turn| turn.get("begin_of_turn_query").is_some()) {
        read_log(log, &mut run);
    } else {
        let prompt = score.and_then(|score| score.get("prompt"));
        let question = prompt.map(|prompt| prompt.get("question").unwrap_or(prompt));
        let turns = question.map(Value::items).unwrap_or_default();
        let reasoning = entry.get_non_null("reasoning_content");
        if error.is_some() {
            for turn in turns {
                read_question(turn, &mut run);
            }
        } else {
            read_turns(turns, &result, reasoning, &mut run);
        }
    }
    run.answer = run.last_text().map(str::to_owned);
    if let Some(error) = error {
        run.end = RunEnd::Error;
        run.error = Some(error.to_owned());
    } else if let Some(score) = score {
        let is_valid = score.get("valid").and_then(Value::bool).unwrap_or(false);
        run.verdicts = vec![verdict(is_valid, read_reason(score))];
    }
    let expected = score.and_then(|score| score.get_non_null("possible_answer"));
    run.expected = expected.and_then(text_or_json).map(Value::Text);
    let kind = score.and_then(|score| {
        score.get_non_null("error_type").or_else(|| score.at_path(&["error", "error_type"]))
    });
    for (name, value) in [
        ("kind of error", kind),
        ("category", score.and_then(|score| score.get_non_null("test_category"))),
        ("functions", score.and_then(|score| score.at_path(&["prompt", "function"]))),
        ("decoded", score.and_then(|score| score.get_non_null("model_result_decoded"))),
    ] {
        run.facts.extend(value.map(|value| (name.to_owned(), value.clone())));
    }
    if !run.events.iter().any(|event| matches!(event.kind, EventKind::User(_))) {
        run.notes.push("The file does not hold the question.".to_owned());
    }
    run
}

/// Returns the sum of a number, or of the numbers in lists of up to three levels.
fn sum(value: &Value) -> Option<f64> {
    fn add(value: &Value, depth: u8) -> Option<f64> {
        match value {
            Value::List(items) if depth > 0 => items
                .iter()
                .filter_map(|item| add(item, depth - 1))
                .fold(None, |sum, number| Some(sum.unwrap_or(0.0) + number)),
            value => value.number(),
        }
    }
    add(value, 3)
}

fn to_count(number: f64) -> u64 {
    format!("{:.0}", number.max(0.0)).parse().unwrap_or_default()
}

fn read_reason(score: &Value) -> Option<String> {
    let error = score.get_non_null("error")?;
    let listed = [Some(error), error.get("error_message"), error.get("error")];
    let texts = listed.into_iter().flatten().find_map(|list| {
        let texts: Vec<&str> = list.items().iter().filter_map(Value::text).collect();
        (!texts.is_empty()).then(|| join(texts))
    });
    texts
        .or_else(|| error.text_at("error_message").map(str::to_owned))
        .or_else(|| text_or_json(error))
}

fn read_question(turn: &Value, run: &mut ImportedRun) {
    let messages = match turn {
        Value::List(messages) => messages.as_slice(),
        message => std::slice::from_ref(message),
    };
    run.events.extend(read_thread(messages));
}

/// Reads questions and results of turns; a result that is no list of lists is that of one turn.
fn read_turns(
    questions: &[Value],
    result: &Value,
    reasoning: Option<&Value>,
    run: &mut ImportedRun,
) {
    let is_turns = !result.items().is_empty()
        && result.items().iter().all(|turn| matches!(turn, Value::List(_)));
    let turns = if is_turns { result.items() } else { std::slice::from_ref(result) };
    for at in 0..questions.len().max(turns.len()) {
        if let Some(question) = questions.get(at) {
            read_question(question, run);
        }
        if at == 0
            && let Some(text) = reasoning.and_then(Value::text).filter(|text| !is_blank(text))
        {
            run.push(EventKind::Reasoning(text.to_owned()));
        }
        match turns.get(at) {
            Some(turn) if is_turns => {
                turn.items().iter().for_each(|step| read_step(step, run));
            }
            Some(step) => read_step(step, run),
            None => {}
        }
    }
}

/// Reads what the model gave in one step: text, or calls as objects with the name of the function.
fn read_step(step: &Value, run: &mut ImportedRun) {
    let calls = match step {
        Value::Map(_) => std::slice::from_ref(step),
        step => step.items(),
    };
    let is_call = |call: &Value| matches!(call.entries(), [(_, Value::Text(_) | Value::Map(_))]);
    if !calls.is_empty() && calls.iter().all(is_call) {
        for (name, arguments) in calls.iter().flat_map(Value::entries) {
            run.push(EventKind::Call {
                id: None,
                name: text_or_json(name).unwrap_or_default(),
                arguments: arguments.clone(),
                by_user: false,
            });
        }
    } else if let Some(text) = text_or_json(step).filter(|text| !is_blank(text) && text != "[]") {
        run.push(EventKind::Assistant(text));
    }
}

/// Reads the log of turns. States and inputs as sent are left out.
fn read_log(log: &[Value], run: &mut ImportedRun) {
    for turn in log {
        for (key, value) in turn.entries() {
            if key.text() == Some("begin_of_turn_query") {
                read_question(value, run);
            } else if key.text().is_some_and(|key| key.starts_with("step_")) {
                value.items().iter().for_each(|entry| read_log_entry(entry, run));
            }
        }
    }
}

fn read_log_entry(entry: &Value, run: &mut ImportedRun) {
    let content = entry.get("content").unwrap_or(&Value::Null);
    match entry.text_at("role") {
        Some("assistant") => {
            let reasoning = entry.text_at("reasoning_content").filter(|text| !is_blank(text));
            run.events
                .extend(reasoning.map(|text| Event::from(EventKind::Reasoning(text.to_owned()))));
            read_step(content, run);
        }
        Some("tool") => {
            run.push(EventKind::Result {
                id: None,
                name: None,
                value: content.clone(),
                failed: None,
            });
        }
        Some("handler_log") => {
            let text = text_or_json(content).unwrap_or_default();
            if text.contains("forced to quit") {
                run.end = RunEnd::Limit;
                run.error = Some(text.clone());
            }
            if !text.starts_with("Successfully") {
                run.push(EventKind::Note(text));
            }
        }
        _ => {}
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::source::{NoFolder, Source};
    use proptest::prelude::*;
    use touchstone_model::json;

    const RESULTS: &str = r#"{"id":"simple_0","result":[{"area":"{\"base\": 10}"}],"input_token_count":10,"output_token_count":2,"latency":1.5}
{"id":"simple_1","result":"[area(base=1)]","input_token_count":[[1,2],[3.0]],"output_token_count":[[1]],"latency":[[0.5,0.25],[1]],"reasoning_content":"hm"}
{"id":"simple_2","result":"Error during inference: 429\nmore","traceback":"t"}"#;

    const SCORES: &str = include_str!("../tests/fixtures/bfcl/scores.jsonl");

    struct Disk(&'static str);

    impl Folder for Disk {
        fn open(&self, path: &str) -> Option<Box<dyn Source + '_>> {
            (path == self.0).then(|| Box::new(SCORES.as_bytes().to_vec()) as _)
        }

        fn list(&self, _folder: &str) -> Vec<String> {
            Vec::new()
        }
    }

    const PATH: &str = "a/result/m/non_live/BFCL_v4_simple_result.json";

    fn open<'a>(path: &'a str, bytes: &'a Vec<u8>, folder: &'a dyn Folder) -> Vec<ImportedRun> {
        let file = Bfcl.open(Input { path, source: bytes, folder }).unwrap();
        (0..file.len()).map(|at| file.read(at).unwrap()).collect()
    }

    #[test]
    fn entries_that_the_scores_do_not_list_passed_and_errors_have_no_verdict() {
        let bytes = RESULTS.as_bytes().to_vec();
        for scores in [
            "a/score/m/non_live/BFCL_v4_simple_score.json",
            "a/result/m/non_live/BFCL_v4_simple_score.json",
        ] {
            let runs = open(PATH, &bytes, &Disk(scores));
            let passed: Vec<_> =
                runs.iter().map(|run| run.verdicts.first().and_then(|one| one.passed)).collect();
            assert_eq!(passed, [Some(true), Some(false), None]);
            assert_eq!(runs[1].verdicts[0].reason.as_deref(), Some("wrong name"));
            assert_eq!(runs[1].expected, Some(Value::from(r#"[{"area":{"base":[2]}}]"#)));
            assert_eq!((runs[2].end, runs[0].model.as_deref()), (RunEnd::Error, Some("m")));
        }
        assert!(open(PATH, &bytes, &NoFolder).iter().all(|run| run.verdicts.is_empty()));
        let fewer = RESULTS.lines().take(2).collect::<Vec<_>>().join("\n").into_bytes();
        let runs = open(PATH, &fewer, &Disk("a/score/m/non_live/BFCL_v4_simple_score.json"));
        assert!(runs[0].verdicts.is_empty() && runs[1].verdicts.len() == 1);
    }

    #[test]
    fn calls_and_texts_are_steps_and_counts_are_summed() {
        let runs = open(PATH, &RESULTS.as_bytes().to_vec(), &NoFolder);
        let [call] = &runs[0].events[..] else { panic!() };
        assert!(matches!(&call.kind, EventKind::Call { name, .. } if name == "area"));
        assert_eq!((runs[0].answer.as_deref(), runs[0].seconds), (None, Some(1.5)));
        assert_eq!(runs[0].task.as_deref(), Some("simple_0"));
        let [reasoning, text] = &runs[1].events[..] else { panic!() };
        assert_eq!(reasoning.kind, EventKind::Reasoning("hm".to_owned()));
        assert_eq!(text.kind, EventKind::Assistant("[area(base=1)]".to_owned()));
        let tokens = runs[1].tokens.unwrap();
        assert_eq!((tokens.input, tokens.output, runs[1].seconds), (Some(6), Some(1), Some(1.75)));
    }

    #[test]
    fn a_score_file_alone_has_the_entries_that_failed_and_the_result_file_outranks_it() {
        let scores = SCORES.as_bytes().to_vec();
        let runs = open("x_score.json", &scores, &NoFolder);
        assert_eq!((runs.len(), runs[0].model.as_deref()), (2, Some("org/m")));
        assert_eq!(runs[0].events[0].kind, EventKind::User("q".to_owned()));
        assert_eq!(runs[0].verdicts[0].passed, Some(false));
        let all = RESULTS.as_bytes().to_vec();
        let path = "result/org_m/BFCL_v3_simple_result.json";
        let results = open(path, &all, &Disk("score/org_m/BFCL_v3_simple_score.json"));
        let (one, other) =
            (runs[0].identity.clone().unwrap(), results[1].identity.clone().unwrap());
        assert!(one.key == other.key && one.rank < other.rank);
    }

    #[test]
    fn the_log_of_turns_is_read_without_states() {
        let entry = r#"{"id":"multi_turn_0","result":[[[{"ls":"{}"}]]],"inference_log":[[{"role":"state_info"}],
            {"begin_of_turn_query":[{"role":"user","content":"q"}],"step_0":[{"role":"inference_input","content":{}},
            {"role":"assistant","content":[{"ls":"{}"}],"reasoning_content":"hm"},
            {"role":"handler_log","content":"Successfully decoded model response."},
            {"role":"tool","content":"files"}],
            "step_1":[{"role":"assistant","content":"done"},{"role":"handler_log","content":"Model has been forced to quit after 20 steps."}]}]}"#;
        let run = read_entry(&json::read(entry).unwrap(), None);
        let [user, reasoning, call, result, text, note] = &run.events[..] else {
            panic!("{:?}", run.events)
        };
        assert_eq!(user.kind, EventKind::User("q".to_owned()));
        assert_eq!(reasoning.kind, EventKind::Reasoning("hm".to_owned()));
        assert!(matches!(&call.kind, EventKind::Call { name, .. } if name == "ls"));
        assert!(matches!(&result.kind, EventKind::Result { .. }));
        assert_eq!(text.kind, EventKind::Assistant("done".to_owned()));
        assert!(matches!(&note.kind, EventKind::Note(_)) && run.end == RunEnd::Limit);
    }

    #[test]
    fn questions_and_results_of_turns_alternate() {
        let score = concat!(
            r#"{"prompt":{"question":[[{"role":"user","content":"a"}],[{"role":"user","#,
            r#""content":"b"}]]},"valid":false,"error":{"error_message":["m"],"error_type":"t"}}"#,
        );
        let entry = r#"{"result":[["x"],[[{"f":"{}"}],"y"]]}"#;
        let run = read_entry(&json::read(entry).unwrap(), Some(&json::read(score).unwrap()));
        let users: Vec<bool> =
            run.events.iter().map(|event| matches!(event.kind, EventKind::User(_))).collect();
        assert_eq!(users, [true, false, true, false, false]);
        assert_eq!(
            (run.verdicts[0].reason.as_deref(), run.answer.as_deref()),
            (Some("m"), Some("y"))
        );
    }

    #[test]
    fn files_are_detected_by_name_and_keys() {
        let detect =
            |path: &str, text: &str| Bfcl.detect(path, &[], Head::read(text.as_bytes()).as_ref());
        assert_eq!(detect(PATH, RESULTS), Some(Detected::Runs));
        assert_eq!(detect("a_score.json", SCORES), Some(Detected::Runs));
        assert_eq!(detect("a.json", RESULTS), None);
        assert_eq!(detect("a_result.json", r#"{"id":1}"#), None);
        assert_eq!(detect("a_score.json", r#"{"accuracy":1}"#), None);
        let owner = Bfcl.owner("a/score/m/BFCL_v4_x_score.json", &NoFolder);
        assert_eq!(owner.as_deref(), Some("a/result/m/BFCL_v4_x_result.json"));
        assert_eq!(Bfcl.owner("score.json", &NoFolder), None);
    }

    proptest! {
        #[test]
        fn no_change_of_a_file_brings_the_reader_to_a_stop(at in 0_usize..2_000, byte in any::<u8>()) {
            for (path, text) in [(PATH, RESULTS), ("x_score.json", SCORES)] {
                let mut bytes = text.as_bytes().to_vec();
                let at = at % bytes.len();
                bytes[at] = byte;
                for bytes in [&bytes, &bytes[..at].to_vec()] {
                    let input = Input { path, source: bytes, folder: &NoFolder };
                    let Ok(file) = Bfcl.open(input) else { continue };
                    for at in 0..file.len() {
                        let _ = (file.member(at), file.read(at));
                    }
                }
            }
        }
    }
}
