//! **Pure.** Samples of the LM Evaluation Harness: a line for each document and filter.
use crate::format::{Detected, Format, ImportedFile};
use crate::head::Head;
use crate::messages::read_thread;
use crate::pieces;
use crate::run::{EventKind, ImportedRun, ImportedVerdict, Repeat};
use crate::slices::{Names, Slices, parse_member};
use crate::source::Input;
use crate::text::{is_blank, text_or_json};
use std::collections::HashMap;
use touchstone_model::error::ReadError;
use touchstone_model::json;
use touchstone_model::value::Value;

/// Samples of the LM Evaluation Harness.
#[derive(Debug, Clone, Copy)]
pub struct LmEval;

impl Format for LmEval {
    fn name(&self) -> &'static str {
        "lm_eval"
    }

    fn title(&self) -> &'static str {
        "LM Evaluation Harness"
    }

    fn files(&self) -> &'static str {
        "samples_*.jsonl"
    }

    fn documentation(&self) -> &'static str {
        include_str!("lm_eval.md")
    }

    fn detect(&self, path: &str, _start: &[u8], head: Option<&Head>) -> Option<Detected> {
        let head = head.filter(|head| !head.is_list)?;
        let name = path.rsplit('/').next().unwrap_or(path);
        let is_totals = name.starts_with("results_")
            && head.has(&["results"])
            && ["group_subtasks", "configs", "versions"].iter().any(|key| head.has(&[key]));
        if is_totals {
            return Some(Detected::NoRun(TOTALS.to_owned()));
        }
        let is_sample = head.has(&["doc_id", "doc"])
            && (head.has(&["target", "arguments"]) || task_and_date(name).is_some());
        is_sample.then_some(Detected::Runs)
    }

    fn open<'a>(&self, input: Input<'a>) -> Result<Box<dyn ImportedFile + 'a>, ReadError> {
        Ok(Box::new(Samples::new(input)?))
    }
}

const TOTALS: &str = "These are totals of the LM Evaluation Harness. Its runs are in the samples \
    files, which `--log_samples` writes.";

/// Returns the task and the date in the name of a file.
fn task_and_date(name: &str) -> Option<(&str, &str)> {
    name.strip_prefix("samples_")?.strip_suffix(".jsonl")?.rsplit_once('_')
}

/// Lines of a document, and the number of its repeat.
#[derive(Debug)]
struct Sample {
    lines: Vec<usize>,
    member: String,
    repeat: u32,
}

struct Samples {
    slices: Slices,
    runs: Vec<Sample>,
    task: Option<String>,
    model: Option<String>,
    date: Option<String>,
}

impl Samples {
    fn new(input: Input) -> Result<Self, ReadError> {
        let slices = Slices::lines(input.read_all()?)?;
        // The lines of each document and filter, in order: the first of each filter are one run.
        let mut counts: HashMap<(String, String), u32> = HashMap::new();
        let mut places: HashMap<(String, u32), usize> = HashMap::new();
        let mut samples: Vec<Sample> = Vec::new();
        let mut names = Names::default();
        for at in 0..slices.len() {
            let parts = pieces::members(slices.get(at));
            let text = |key| parse_member(&parts, key).as_ref().and_then(text_or_json);
            let document = text("doc_id").unwrap_or_else(|| format!("in line {at}"));
            let filter = text("filter").unwrap_or_default();
            let count = counts.entry((document.clone(), filter)).or_default();
            *count = count.saturating_add(1);
            let place = *places.entry((document.clone(), *count)).or_insert_with(|| {
                let member = names.add(format!("doc {document}"));
                samples.push(Sample { lines: Vec::new(), member, repeat: *count });
                samples.len() - 1
            });
            if let Some(sample) = samples.get_mut(place) {
                sample.lines.push(at);
            }
        }
        let parts = task_and_date(input.name());
        let date = parts.map(|(_, date)| date.to_owned());
        let totals = date.as_ref().and_then(|date| {
            pieces::text(input.read_beside(&format!("results_{date}.json"))?).ok()
        });
        let model = totals.and_then(|totals| {
            parse_member(&pieces::members(&totals), "model_name")?.text().map(str::to_owned)
        });
        let task = parts.map(|(task, _)| task.to_owned());
        Ok(Samples { slices, runs: samples, task, model, date })
    }
}

impl ImportedFile for Samples {
    fn len(&self) -> usize {
        self.runs.len()
    }

    fn member(&self, at: usize) -> Option<String> {
        self.runs.get(at).map(|sample| sample.member.clone())
    }

    fn read(&self, at: usize) -> Result<ImportedRun, ReadError> {
        let Some(sample) = self.runs.get(at) else { return Ok(ImportedRun::default()) };
        let lines = sample.lines.iter().map(|line| self.slices.parse(*line));
        let lines = lines.collect::<Result<Vec<Value>, ReadError>>()?;
        let mut run = read_sample(&lines);
        run.repeat = Repeat::Number(sample.repeat);
        run.model.clone_from(&self.model);
        run.task = match (&self.task, run.task) {
            (Some(task), Some(document)) => Some(format!("{task}/{document}")),
            (task, document) => document.or_else(|| task.clone()),
        };
        let date = self.date.as_ref().map(|date| ("date".to_owned(), Value::from(date.as_str())));
        run.facts.extend(date);
        Ok(run)
    }

    fn file_error(&self) -> Option<ReadError> {
        self.slices.error()
    }
}

/// Reads the lines of a document, one for each filter. The task is its number only.
fn read_sample(lines: &[Value]) -> ImportedRun {
    let mut run = ImportedRun::default();
    let Some(first) = lines.first() else { return run };
    run.task = first.get("doc_id").and_then(text_or_json);
    run.expected = first.get("target").and_then(text_or_json).map(Value::Text);
    let requests = read_requests(first);
    let prompt = requests.first().and_then(|request| request.first().copied());
    read_prompt(prompt, &mut run);
    if requests.iter().all(|request| matches!(request.get(1), Some(Value::Map(_)))) {
        for text in texts(first.get("resps")) {
            run.push(EventKind::Assistant(text));
        }
        let filtered = texts(first.get("filtered_resps"));
        let filtered = filtered.first().filter(|text| lines.len() == 1 && !is_blank(text));
        run.answer = filtered.cloned().or_else(|| run.last_text().map(str::to_owned));
    } else {
        let ratings =
            requests.iter().zip(first.get("filtered_resps").map(Value::items).unwrap_or_default());
        let ratings = ratings.map(|(request, rating)| {
            let text = request.get(1).copied().cloned().unwrap_or_default();
            Value::List(vec![text, rating.clone()])
        });
        run.facts.push(("ratings".to_owned(), Value::List(ratings.collect())));
        run.notes.push("The model wrote no text: it rated the texts that it was given.".to_owned());
    }
    for line in lines {
        read_metrics(line, lines.len() > 1, &mut run);
        let filter = line.text_at("filter").filter(|_| lines.len() > 1);
        let filtered = filter.zip(line.get_non_null("filtered_resps"));
        run.facts.extend(
            filtered.map(|(filter, value)| (format!("filtered by {filter}"), value.clone())),
        );
    }
    run.facts.extend(first.get_non_null("doc").map(|doc| ("document".to_owned(), doc.clone())));
    run
}

/// Returns the arguments of each request, which newer files write as objects.
fn read_requests(line: &Value) -> Vec<Vec<&Value>> {
    fn parts(value: &Value) -> Vec<&Value> {
        match value {
            Value::Map(entries) => entries.iter().map(|(_, value)| value).collect(),
            value => value.items().iter().collect(),
        }
    }
    line.get("arguments").map(parts).unwrap_or_default().into_iter().map(parts).collect()
}

fn read_prompt(prompt: Option<&Value>, run: &mut ImportedRun) {
    let Some(prompt) = prompt else { return };
    let parsed = prompt.text().and_then(json::embedded);
    let list = parsed.as_ref().unwrap_or(prompt);
    let is_thread = !list.items().is_empty()
        && list.items().iter().all(|message| message.text_at("role").is_some());
    if is_thread {
        run.events.extend(read_thread(list.items()));
    } else if let Some(text) = text_or_json(prompt).filter(|text| !is_blank(text)) {
        run.push(EventKind::User(text));
    }
}

/// Returns the texts in a list, or in lists in it.
fn texts(value: Option<&Value>) -> Vec<String> {
    let mut texts = Vec::new();
    for item in value.map(Value::items).unwrap_or_default() {
        match item {
            Value::List(items) => texts.extend(items.iter().filter_map(text_or_json)),
            item => texts.extend(text_or_json(item)),
        }
    }
    texts
}

/// Keys of a sample that are no metrics.
const OWN: [&str; 11] = [
    "doc_id",
    "doc",
    "target",
    "arguments",
    "resps",
    "filtered_resps",
    "filter",
    "metrics",
    "doc_hash",
    "prompt_hash",
    "target_hash",
];

fn read_metrics(line: &Value, has_filters: bool, run: &mut ImportedRun) {
    let listed = line.get("metrics").filter(|metrics| matches!(metrics, Value::List(_)));
    for (name, value) in line.entries() {
        let Some(name) = name.text() else { continue };
        let is_metric = match listed {
            Some(listed) => listed.items().iter().any(|known| known.text() == Some(name)),
            None => !OWN.contains(&name),
        };
        if is_metric {
            let filter = line.text_at("filter").filter(|_| has_filters);
            run.verdicts.push(ImportedVerdict {
                name: filter.map_or_else(|| name.to_owned(), |filter| format!("{name},{filter}")),
                value: value.clone(),
                passed: value.bool(),
                ..ImportedVerdict::default()
            });
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::source::{Folder, NoFolder, Source};
    use proptest::prelude::*;

    const LINES: &str = include_str!("../tests/fixtures/lm_eval/lines.jsonl");

    struct Results;

    impl Folder for Results {
        fn open(&self, path: &str) -> Option<Box<dyn Source + '_>> {
            let text = br#"{"results":{},"model_name":"org/m"}"#;
            (path == "out/results_2026-01-01T00-00-00.1.json").then(|| Box::new(text.to_vec()) as _)
        }

        fn list(&self, _folder: &str) -> Vec<String> {
            Vec::new()
        }
    }

    #[test]
    fn lines_of_one_document_are_one_run_with_a_verdict_for_each_filter() {
        let bytes = LINES.as_bytes().to_vec();
        let path = "out/samples_gsm8k_cot_2026-01-01T00-00-00.1.jsonl";
        let file = LmEval.open(Input { path, source: &bytes, folder: &Results }).unwrap();
        let members: Vec<_> = (0..file.len()).filter_map(|at| file.member(at)).collect();
        assert_eq!(members, ["doc 0", "doc 1", "doc 0 (2)"]);
        let run = file.read(0).unwrap();
        assert_eq!(
            (run.task.as_deref(), run.model.as_deref()),
            (Some("gsm8k_cot/0"), Some("org/m"))
        );
        let names: Vec<_> =
            run.verdicts.iter().map(|one| (one.name.as_str(), one.passed)).collect();
        assert_eq!(names, [("exact_match,strict", None), ("exact_match,flexible", None)]);
        assert_eq!(
            (run.answer.as_deref(), run.expected),
            (Some("it is 2"), Some(Value::from("2")))
        );
        let again = file.read(2).unwrap();
        assert_eq!((again.repeat, again.answer.as_deref()), (Repeat::Number(2), Some("3")));
        assert_eq!(again.events[0].kind, EventKind::User("hi".to_owned()));
    }

    #[test]
    fn rated_texts_are_facts_and_no_answer() {
        let line = json::read(LINES.lines().nth(1).unwrap()).unwrap();
        let run = read_sample(&[line]);
        assert_eq!((run.answer, run.events.len(), run.verdicts.len()), (None, 1, 1));
        assert_eq!((run.verdicts[0].name.as_str(), run.facts[0].1.items().len()), ("acc", 2));
    }

    #[test]
    fn samples_are_detected_and_totals_hold_no_runs() {
        let detect =
            |path: &str, text: &str| LmEval.detect(path, &[], Head::read(text.as_bytes()).as_ref());
        assert_eq!(detect("x.jsonl", LINES), Some(Detected::Runs));
        assert_eq!(
            detect("a/samples_t_2026.jsonl", r#"{"doc_id":0,"doc":{"a":"cut"#),
            Some(Detected::Runs)
        );
        assert_eq!(detect("x.jsonl", r#"{"doc_id":0,"doc":{"a":1}}"#), None);
        let totals = detect("a/results_2026.json", r#"{"results":{},"configs":{}}"#);
        assert!(matches!(totals, Some(Detected::NoRun(_))));
        assert_eq!(detect("results.json", r#"{"results":{},"configs":{}}"#), None);
    }

    proptest! {
        #[test]
        fn no_change_of_a_file_brings_the_reader_to_a_stop(at in 0..LINES.len(), byte in any::<u8>()) {
            let mut bytes = LINES.as_bytes().to_vec();
            bytes[at] = byte;
            for bytes in [&bytes, &bytes[..at].to_vec()] {
                let input = Input { path: "samples_a_b.jsonl", source: bytes, folder: &NoFolder };
                let Ok(file) = LmEval.open(input) else { continue };
                for at in 0..file.len() {
                    let _ = (file.member(at), file.read(at));
                }
            }
        }
    }
}
