//! **Pure.** Builds the file that `evaluate()` writes from runs: runs of this program with the
//! results of their evaluators, and rows of existing evaluation files unchanged, so that a round
//! trip loses nothing. Missing results are null, never 0.
use super::evaluation_file::{Columns, EvaluatorResult};
use crate::runs::reading::{ParsedRun, RunsFile};
use std::collections::{HashMap, HashSet};
use std::sync::Arc;
use touchstone_formats::collection::{MOST_BESIDE, MOST_METADATA};
use touchstone_judges::azure::{
    CarriedOver, CollectedRows, Fault, Metric, Quirks, Results, RowCollector, metrics,
};
use touchstone_model::value::Value;

/// Suffix of an evaluator name if rows already contain stored results under that name.
const OURS: &str = "-touchstone";
/// Keys of a file that are computed again.
const MADE: [&str; 4] = ["metrics", "evaluators", "counts", "errors"];

/// Collects the rows of the file.
#[derive(Debug)]
pub(crate) struct EvaluationBuilder {
    gathering: RowCollector,
    /// True if rows come from more than one file; each row then names its file.
    several: bool,
    /// Row index by run id.
    rows: HashMap<String, usize>,
    /// Evaluators with stored results in rows.
    stored: HashSet<String>,
    about: About,
    faults: Vec<Fault>,
    /// Files that rows come from, with the number of rows of each.
    files: Vec<(Arc<RunsFile>, usize)>,
}

/// Metadata of evaluators: by name and key the distinct values.
type About = Vec<(String, Vec<(String, Vec<Value>)>)>;

/// The finished file.
#[derive(Debug)]
pub(crate) struct FinishedEvaluation {
    pub(crate) text: String,
    pub(crate) rows: usize,
    /// Notes for the reader, as sentences.
    pub(crate) notes: Vec<String>,
}

impl EvaluationBuilder {
    /// Creates an empty collection for runs with these paths.
    pub(crate) fn new<'a>(paths: impl ExactSizeIterator<Item = &'a str>) -> Self {
        let gathering = RowCollector::new(paths.len());
        let files: HashSet<&str> =
            paths.map(|path| path.split('#').next().unwrap_or(path)).collect();
        Self {
            gathering,
            several: files.len() > 1,
            rows: HashMap::new(),
            stored: HashSet::new(),
            about: About::new(),
            faults: Vec::new(),
            files: Vec::new(),
        }
    }

    /// Adds a run of this program. The error is a sentence; after an error nothing more can be
    /// added.
    pub(crate) fn take(&mut self, id: &str, inputs: Columns) -> Result<(), String> {
        let row = self
            .gathering
            .take(inputs.into_iter().map(|(name, value)| (format!("inputs.{name}"), value)))?;
        self.rows.insert(id.to_owned(), row);
        Ok(())
    }

    /// Adds a row of an evaluation unchanged.
    pub(crate) fn take_stored(
        &mut self,
        id: &str,
        path: &str,
        told: ParsedRun,
    ) -> Result<(), String> {
        const RUN: &str = "inputs.run";
        let ParsedRun { run, whole } = told;
        let Value::Map(entries) = run.row else { return Ok(()) };
        let mut entries: Vec<(String, Value)> = entries
            .into_iter()
            .filter_map(|(key, value)| Some((key.text()?.to_owned(), value)))
            .collect();
        if self.several && entries.iter().all(|(key, _)| key != RUN) {
            entries.insert(0, (RUN.to_owned(), Value::from(path)));
        }
        let row = self.gathering.take(entries)?;
        self.rows.insert(id.to_owned(), row);
        for verdict in run.verdicts {
            if let Some(why) = verdict.reason.filter(|_| verdict.is_silent) {
                self.faults.push(Fault { row: row + 1, evaluator: verdict.evaluator.clone(), why });
            }
            self.stored.insert(verdict.evaluator);
        }
        if let Some(whole) = whole {
            self.of_file(whole);
        }
        Ok(())
    }

    fn of_file(&mut self, whole: Arc<RunsFile>) {
        if let Some((_, rows)) = self.files.last_mut().filter(|(last, _)| Arc::ptr_eq(last, &whole))
        {
            *rows += 1;
            return;
        }
        for (name, about) in whole.says.get("evaluators").map_or(&[][..], Value::entries) {
            if let Some(name) = name.text() {
                let entries = about.entries().iter();
                let known = entries
                    .filter_map(|(key, value)| Some((key.text()?.to_owned(), value.clone())))
                    .collect();
                self.know(name, known);
            }
        }
        self.files.push((whole, 1));
    }

    /// Merges metadata of an evaluator. Values that differ between files are kept side by side.
    fn know(&mut self, evaluator: &str, known: Columns) {
        let at =
            self.about.iter().position(|(name, _)| name == evaluator).unwrap_or(self.about.len());
        if at == self.about.len() {
            self.about.push((evaluator.to_owned(), Vec::new()));
        }
        let about = &mut self.about[at].1;
        for (key, value) in known {
            match about.iter_mut().find(|(name, _)| *name == key) {
                Some((_, values)) if values.contains(&value) => {}
                Some((_, values)) => values.push(value),
                None => about.push((key, vec![value])),
            }
        }
    }

    /// Adds the result of an evaluator for a run that was added; ignored for other runs.
    pub(crate) fn add_result(&mut self, id: &str, said: EvaluatorResult) -> Result<(), String> {
        let Some(row) = self.rows.get(id).copied() else { return Ok(()) };
        let mut name = said.evaluator;
        while self.stored.contains(&name) {
            name.push_str(OURS);
        }
        self.gathering.add_outcome(row, &name, &said.results)?;
        if self.about.iter().all(|(known, _)| *known != name) {
            self.know(&name, said.about);
        }
        Ok(())
    }

    /// Formats the file. The error is a sentence.
    pub(crate) fn made(self) -> Result<FinishedEvaluation, String> {
        let Self { gathering, about, mut faults, files, .. } = self;
        // Sorted, because the order would otherwise depend on the columns that rows have.
        faults.sort_by(|a, b| (a.row, &a.evaluator, &a.why).cmp(&(b.row, &b.evaluator, &b.why)));
        let gathered = gathering.end()?;
        let rows = gathered.data.rows.len();
        let summed = metrics(&gathered.outputs, &Quirks::default());
        let mut notes: Vec<String> = files.iter().filter_map(|(whole, _)| unread(whole)).collect();
        let mut carried = Carried::default();
        match files.as_slice() {
            [(whole, of_it)] if *of_it == rows && rows == whole.runs => {
                carried = Carried::from_file(whole, &gathered, &summed);
            }
            files => {
                notes.extend(files.iter().filter_map(|(whole, _)| left(whole, &gathered, &summed)));
            }
        }
        let value = |mut values: Vec<Value>| {
            if values.len() > 1 { Value::List(values) } else { values.pop().unwrap_or_default() }
        };
        let keyed = |known: Vec<(String, Vec<Value>)>| {
            Value::Map(
                known.into_iter().map(|(key, values)| (Value::Text(key), value(values))).collect(),
            )
        };
        let about: Vec<(String, Value)> =
            about.into_iter().map(|(name, known)| (name, keyed(known))).collect();
        let results = Results {
            data: &gathered.data,
            target: None,
            outputs: &gathered.outputs,
            metrics: &summed,
            about: &about,
            faults: &faults,
            kept: Some(CarriedOver {
                beside: &gathered.beside,
                metrics: &carried.metrics,
                keys: &carried.keys,
            }),
        };
        let text = results.text(&Quirks::default()) + "\n";
        Ok(FinishedEvaluation { text, rows, notes })
    }
}

/// File-level data that is not computed from rows. It is kept unchanged only if the output has
/// exactly the rows of that one file, because it is true of all of them together.
#[derive(Debug, Default)]
struct Carried {
    metrics: Columns,
    keys: Columns,
}

impl Carried {
    fn from_file(whole: &RunsFile, gathered: &CollectedRows, summed: &[Metric]) -> Self {
        let named = |value: &Value| -> Columns {
            let entries = value.entries().iter();
            entries
                .filter_map(|(key, value)| Some((key.text()?.to_owned(), value.clone())))
                .collect()
        };
        let mut metrics = whole.says.get("metrics").map(named).unwrap_or_default();
        metrics.retain(|(name, _)| is_not_from_column(name, gathered, summed));
        let mut keys = named(&whole.says);
        keys.retain(|(key, value)| !MADE.contains(&key.as_str()) && *value != Value::Null);
        Self { metrics, keys }
    }
}

/// Returns a note on the file-level data that is lost when the rows are not those of one whole
/// file.
fn left(whole: &RunsFile, gathered: &CollectedRows, summed: &[Metric]) -> Option<String> {
    let Carried { metrics, keys } = Carried::from_file(whole, gathered, summed);
    let names: Vec<String> = metrics.into_iter().chain(keys).map(|(name, _)| name).collect();
    (!names.is_empty()).then(|| {
        format!(
            "Totals in {} cover only its own rows, so they are left out: {}. They are kept when there are no other rows.",
            whole.path,
            names.join(", ")
        )
    })
}

/// Returns a note on the keys of a file that were not read and so cannot be written.
fn unread(whole: &RunsFile) -> Option<String> {
    let (keys, are, they) = match whole.unread {
        0 => return None,
        1 => ("1 key".to_owned(), "is", "it was"),
        many => (format!("{many} keys"), "are", "they were"),
    };
    let (path, most, room) = (&whole.path, MOST_BESIDE, MOST_METADATA >> 20);
    Some(format!(
        "{keys} beside the rows of {path} {are} left out, because {they} not read: the limit is {most} such keys of JSON, with {room} MB in all."
    ))
}

/// Returns true for a file-level metric that is not computed from a column: the package names those
/// that are after a column, or by a name that is computed here too.
fn is_not_from_column(name: &str, gathered: &CollectedRows, summed: &[Metric]) -> bool {
    let Some((evaluator, key)) = name.rsplit_once('.') else { return true };
    let has = |column: &str| {
        gathered
            .outputs
            .iter()
            .any(|outputs| outputs.name == evaluator && outputs.column(column).is_some())
    };
    // The package cuts the names of pass rates at dots.
    let is_cut = || {
        let begins = |outputs: &touchstone_judges::azure::Outputs| {
            outputs.name.split_once('.').is_some_and(|(first, _)| first == evaluator)
        };
        key == "binary_aggregate" && gathered.outputs.iter().any(begins)
    };
    summed.iter().all(|metric| metric.name != name) && !has(key) && !is_cut()
}

#[cfg(test)]
mod tests {
    use super::*;
    use proptest::collection::{btree_map, vec};
    use proptest::prelude::*;
    use touchstone_formats::collection::Collection;
    use touchstone_model::json;

    fn written(text: &str) -> FinishedEvaluation {
        let many = Collection::open("x.json", text.as_bytes()).unwrap();
        let (runs, says) = (many.len(), many.shared_metadata().clone());
        let whole = Arc::new(RunsFile {
            path: "x.json".to_owned(),
            runs,
            says,
            unread: many.unread_key_count(),
        });
        let paths: Vec<String> =
            (0..many.len()).map(|at| format!("x.json#{}", many.key(at))).collect();
        let mut sheet = EvaluationBuilder::new(paths.iter().map(String::as_str));
        for (at, path) in paths.iter().enumerate() {
            let told = ParsedRun { run: many.run(at).unwrap(), whole: Some(Arc::clone(&whole)) };
            sheet.take_stored(path, path, told).unwrap();
        }
        sheet.made().unwrap()
    }

    #[test]
    fn keys_beside_the_rows_that_were_not_read_are_counted_in_a_note() {
        let notes = |keys: usize| {
            let keys: Vec<String> = (0..keys).map(|at| format!(", \"k{at}\": {at}")).collect();
            written(&format!("{{\"rows\": [{{\"inputs.query\": \"q\"}}]{}}}", keys.concat())).notes
        };
        assert!(notes(MOST_BESIDE).is_empty());
        let told = "beside the rows of x.json is left out, because it was not read: the limit is 100 such keys of JSON, with 1 MB in all.";
        assert_eq!(notes(MOST_BESIDE + 1), [format!("1 key {told}")]);
        assert!(
            notes(MOST_BESIDE + 7)[0]
                .starts_with("7 keys beside the rows of x.json are left out, because they were")
        );
    }

    fn any_value() -> impl Strategy<Value = Value> {
        let number = "-?(0|[1-9][0-9]{0,19})(\\.[0-9]{1,4})?".prop_map(Value::Number);
        let word = prop_oneof!["pass", "fail", "[a-c\\.\"\\\\\u{1}é😀]{0,6}"].prop_map(Value::Text);
        let one = prop_oneof![Just(Value::Null), any::<bool>().prop_map(Value::Bool), number, word];
        one.prop_recursive(2, 6, 3, |inner| {
            let list = vec(inner.clone(), 0..3).prop_map(Value::List);
            prop_oneof![list, inner.prop_map(|value| Value::Map(vec![("role".into(), value)]))]
        })
    }

    fn any_column() -> impl Strategy<Value = String> {
        let known = prop_oneof![
            "query",
            "response",
            "conversation",
            "ground_truth",
            "task",
            "system",
            "model",
            "run",
            "id"
        ];
        prop_oneof![
            known.prop_map(|name| format!("inputs.{name}")),
            "(in|out)puts\\.[a-c]",
            "outputs\\.[a-c](\\.[ab])?\\.[ab](_result|_score|_reason)?",
            "[x-z ]{1,2}"
        ]
    }

    fn object(entries: impl IntoIterator<Item = (String, Value)>) -> Value {
        Value::Map(entries.into_iter().map(|(key, value)| (Value::Text(key), value)).collect())
    }

    proptest! {
        #[test]
        fn rewritten_results_files_keep_all_their_content(
            rows in vec(btree_map(any_column(), any_value(), 0..8), 1..5),
            errors in vec((0..4_usize, "[a-c]", "[a-c ]{0,4}[a-c]"), 0..4),
            beside in btree_map("[v-z]{2,3}", any_value(), 0..3),
        ) {
            let number = |number: usize| Value::Number(number.to_string());
            let rows: Vec<Value> =
                rows.into_iter().map(|row| object([("inputs.first".to_owned(), number(1))].into_iter().chain(row))).collect();
            let error = |(row, evaluator, why): (usize, String, String)| {
                let fields = [("row", number(row % rows.len() + 1)), ("evaluator", Value::Text(evaluator)), ("why", Value::Text(why))];
                json::write(&object(fields.map(|(key, value)| (key.to_owned(), value))), false)
            };
            let mut errors: Vec<String> = errors.into_iter().map(error).collect();
            let by_hand = object([("of.nobody".to_owned(), number(7))]);
            let file = [("rows".to_owned(), Value::List(rows.clone())), ("metrics".to_owned(), by_hand)];
            let text = json::write(&object(file.into_iter().chain(beside.clone())), false);
            let text = format!("{},\"errors\":[{}]}}", text.strip_suffix('}').unwrap(), errors.join(","));
            let made = written(&text);
            let ours = json::read(&made.text).unwrap();
            prop_assert_eq!(made.rows, rows.len());
            for (theirs, ours) in rows.iter().zip(ours.get("rows").unwrap().items()) {
                for (key, value) in theirs.entries() {
                    prop_assert_eq!(ours.get(key.text().unwrap()), Some(value));
                }
                let more = ours.entries().iter().filter(|(key, _)| theirs.get(key.text().unwrap()).is_none());
                prop_assert!(more.into_iter().all(|(_, value)| *value == Value::Null));
            }
            let mut told: Vec<String> = ours.get("errors").unwrap().items().iter().map(|one| json::write(one, false)).collect();
            told.sort();
            errors.sort();
            prop_assert_eq!(told, errors);
            for (key, value) in beside.iter().filter(|(_, value)| **value != Value::Null) {
                prop_assert_eq!(ours.get(key), Some(value));
            }
            prop_assert_eq!(ours.get("metrics").unwrap().get("of.nobody"), Some(&number(7)));
            prop_assert_eq!(&written(&made.text).text, &made.text);
        }
    }
}
