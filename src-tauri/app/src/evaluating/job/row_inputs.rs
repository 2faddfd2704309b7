//! **Pure.** Rows of a data file with the target's output for them, and the evaluators' inputs for
//! each row.
use super::estimate::keys;
use super::evaluation_spec::EvaluationSpec;
use std::collections::HashMap;
use std::sync::Arc;
use touchstone_judges::azure::{
    Evaluation, Inputs, Mapping, Table, count_invalid_inputs, count_missing_inputs, is_invalid_for,
};
use touchstone_model::json;
use touchstone_model::value::Value;
use touchstone_runner::conversation::{Call, Outcome};
use xxhash_rust::xxh3::xxh3_128;

/// The target is called once per row, in this turn.
pub(crate) const TURN: u32 = 1;

/// Output of the target for a row, as columns with values, or the reason that there is none, as a
/// sentence.
pub(crate) type TargetOutput = Result<Vec<(String, Value)>, String>;

/// Rows with everything that evaluators need.
#[derive(Debug)]
pub(crate) struct RowInputs {
    pub(crate) table: Arc<Table>,
    /// Output of the target by row, if there is a target.
    pub(crate) said: Option<Vec<TargetOutput>>,
    /// Columns of the target's output, in order of first appearance.
    pub(crate) columns: Vec<String>,
    mappings: Vec<Mapping>,
    /// By evaluator: true if some row lacks a mapped column, which leaves every row without a
    /// result when the package's behaviour is switched on.
    lost: Vec<bool>,
    /// By evaluator: inputs that are replaced where they are not text, and the columns with their
    /// text.
    texts: Vec<Vec<(String, String)>>,
    /// Sentences about inputs that are taken from another column than that of their name.
    pub(crate) notes: Vec<String>,
    /// Occurrence index of duplicate questions, by (evaluator, row).
    nths: HashMap<(usize, usize), Vec<(u128, u32)>>,
}

/// Counts repeated occurrences.
#[derive(Default)]
pub(crate) struct OccurrenceCounter(HashMap<u128, u32>);

impl OccurrenceCounter {
    /// Returns the occurrence number of this text, from 1.
    pub(crate) fn nth(&mut self, text: &str) -> u32 {
        self.nth_of(xxh3_128(text.as_bytes()))
    }

    fn nth_of(&mut self, key: u128) -> u32 {
        let count = self.0.entry(key).or_default();
        *count += 1;
        *count
    }
}

impl RowInputs {
    pub(crate) fn new(
        wish: &EvaluationSpec,
        table: &Arc<Table>,
        said: Option<Vec<TargetOutput>>,
    ) -> Self {
        let mut columns: Vec<String> = Vec::new();
        for (column, _) in said.iter().flatten().flatten().flatten() {
            if !columns.contains(column) {
                columns.push(column.clone());
            }
        }
        let target: Vec<&str> = columns.iter().map(String::as_str).collect();
        let data = || table.columns.iter().map(String::as_str);
        let of = |one: &super::evaluation_spec::Configured| {
            one.mapping.clone().completed(data(), &target).narrowed(&one.evaluator)
        };
        let mappings = wish.evaluators.iter().map(of).collect();
        let lost = wish.evaluators.iter().map(|one| {
            let reaches = |row: usize| {
                let said = said.as_ref().and_then(|said| said.get(row)?.as_ref().ok());
                let of_target =
                    |column: &str| cell(said.map(Vec::as_slice).unwrap_or_default(), column);
                one.mapping.is_satisfied_by(
                    &table.columns,
                    |column| table.value(row, column),
                    of_target,
                    said.is_some(),
                )
            };
            wish.quirks.has("mapped_in_all_rows") && !(0..table.rows.len()).all(reaches)
        });
        let lost = lost.collect();
        let texts = vec![Vec::new(); wish.evaluators.len()];
        let (table, notes, nths) = (Arc::clone(table), Vec::new(), HashMap::new());
        let mut sheet = Self { table, said, columns, mappings, lost, texts, notes, nths };
        sheet.find_texts(wish);
        sheet
    }

    /// Finds the evaluators that take text where rows have messages or objects, and the columns
    /// with their text. Rows made from runs have both: `response` and `response_text`. What a
    /// request maps itself stays.
    fn find_texts(&mut self, wish: &EvaluationSpec) {
        let table = Arc::clone(&self.table);
        let pairs = table.columns.iter().map(|name| (name, format!("{name}_text")));
        let pairs: Vec<(&String, String)> = pairs
            .filter(|(name, text)| table.columns.contains(text) && !self.columns.contains(name))
            .collect();
        for (at, one) in wish.evaluators.iter().enumerate() {
            for (input, text) in pairs.iter().filter(|(input, _)| !one.mapping.names(input)) {
                let why = format!("`{input}` is not text.");
                let rows = (0..table.rows.len()).filter_map(|row| self.inputs(wish, at, row).ok());
                if is_invalid_for(&one.evaluator, rows, &wish.quirks, &why) {
                    let name = &one.evaluator.name;
                    self.notes.push(format!(
                        "{name}: `{input}` comes from the column `{text}` where it is not text."
                    ));
                    self.texts[at].push(((*input).clone(), text.clone()));
                }
            }
        }
    }

    /// Counts rows with equal questions. Comparing inputs would not be enough, because different
    /// inputs can lead to the same question.
    pub(crate) fn with_occurrences(mut self, wish: &EvaluationSpec) -> Self {
        for (at, one) in wish.evaluators.iter().enumerate().filter(|(_, one)| one.is_paid()) {
            let mut again = OccurrenceCounter::default();
            for row in 0..self.table.rows.len() {
                let Ok(inputs) = self.inputs(wish, at, row) else { continue };
                let keys = keys(Evaluation::new(&one.evaluator, &inputs, &wish.quirks)).into_iter();
                let later: Vec<_> =
                    keys.map(|key| (key, again.nth_of(key))).filter(|(_, nth)| *nth > 1).collect();
                if !later.is_empty() {
                    self.nths.insert((at, row), later);
                }
            }
        }
        self
    }

    /// Returns the occurrence number of this row among those with the same question of an
    /// evaluator, from 1.
    pub(crate) fn nth(&self, at: usize, row: usize, key: u128) -> u32 {
        let later = self
            .nths
            .get(&(at, row))
            .and_then(|later| later.iter().find(|(known, _)| *known == key));
        later.map_or(1, |(_, nth)| *nth)
    }

    /// Returns the inputs of an evaluator for a row. Fails with a sentence if the target has no
    /// output for the row.
    pub(crate) fn inputs(
        &self,
        wish: &EvaluationSpec,
        at: usize,
        row: usize,
    ) -> Result<Inputs, String> {
        let said = match self.said.as_ref().and_then(|said| said.get(row)) {
            None => &[],
            Some(Ok(said)) => said.as_slice(),
            Some(Err(why)) => return Err(why.clone()),
        };
        if self.lost[at] {
            return Err("One row lacks a mapped column, so the package has no result for any row."
                .to_owned());
        }
        let mut all = self.mappings[at]
            .inputs(|column| self.table.value(row, column), |column| cell(said, column));
        for (input, column) in &self.texts[at] {
            let own = all.0.iter_mut().find(|(name, value)| {
                name == input && value.text().is_none() && *value != Value::Null
            });
            if let Some(((_, value), text)) = own.zip(self.table.value(row, column)) {
                *value = text.clone();
            }
        }
        Ok(wish.evaluators[at].evaluator.filtered(&all))
    }

    /// Returns sentences about inputs that rows lack, inputs of the wrong shape, and references to
    /// columns that do not exist.
    pub(crate) fn missing_inputs(&self, wish: &EvaluationSpec) -> Vec<String> {
        let rows = self.table.rows.len();
        let mut lacks = self.unknown_references(wish, false);
        for (at, one) in wish.evaluators.iter().enumerate() {
            let inputs = || (0..rows).filter_map(|row| self.inputs(wish, at, row).ok());
            let name = &one.evaluator.name;
            let have = |count: u64| if count == 1 { "has" } else { "have" };
            let say = |(need, count): (String, u64)| {
                format!("{name}: {count} of {rows} rows {} no {need}.", have(count))
            };
            lacks.extend(count_missing_inputs(&one.evaluator, inputs()).into_iter().map(say));
            let say = |(why, count): (String, u64)| {
                format!("{name}: {count} of {rows} rows {} no result: {why}", have(count))
            };
            lacks.extend(
                count_invalid_inputs(&one.evaluator, inputs(), &wish.quirks).into_iter().map(say),
            );
        }
        lacks
    }

    /// Returns sentences about references to columns that do not exist. References to the target's
    /// output are checked only if the target was called already.
    pub(crate) fn unknown_references(
        &self,
        wish: &EvaluationSpec,
        is_asked_later: bool,
    ) -> Vec<String> {
        let data: Vec<&str> = self.table.columns.iter().map(String::as_str).collect();
        let target: Option<Vec<&str>> =
            (!is_asked_later).then(|| self.columns.iter().map(String::as_str).collect());
        let of = |one: &super::evaluation_spec::Configured| {
            let name = one.evaluator.name.clone();
            one.mapping
                .unknown(&data, target.as_deref())
                .into_iter()
                .map(move |why| format!("{name}: {why}"))
        };
        wish.evaluators.iter().flat_map(of).collect()
    }

    /// Returns the target's output as a table, if there is a target. Fails with a sentence if the
    /// output is too large.
    pub(crate) fn target(&self) -> Result<Option<Table>, String> {
        let cells = |row: &TargetOutput| {
            let said = row.iter().flatten();
            said.map(|(column, value)| (column.clone(), Some(value.clone()))).collect()
        };
        self.said.as_ref().map(|said| Table::from_rows(said.iter().map(cells))).transpose()
    }

    /// Returns the reason that no evaluator can run after the target was called: its output is too
    /// large to be written, or a mapped column is in none of its outputs. If every call failed,
    /// returns `None`, because each row has its own reason.
    pub(crate) fn target_failure(&self, wish: &EvaluationSpec) -> Option<String> {
        let said = self.said.as_ref()?;
        if let Err(why) = self.target() {
            return Some(format!(
                "The answer of the target does not fit into a results file. {why}"
            ));
        }
        let why = self
            .unknown_references(wish, false)
            .into_iter()
            .next()
            .filter(|_| said.iter().any(Result::is_ok))?;
        Some(format!(
            "{why} The target returns {}. Fix the mapping, and start again.",
            self.columns.join(", ")
        ))
    }
}

/// Returns a column of the target's output.
fn cell<'a>(said: &'a [(String, Value)], column: &str) -> Option<&'a Value> {
    said.iter().find(|(known, _)| known == column).map(|(_, value)| value)
}

/// Formats a row as the target's input: a JSON object of its columns.
pub(crate) fn target_input(table: &Table, row: usize) -> String {
    let cell =
        |column: &String| Some((Value::from(column.as_str()), table.value(row, column)?.clone()));
    json::write(&Value::Map(table.columns.iter().filter_map(cell).collect()), false)
}

/// Returns the key under which the target's output for a row is recorded; `nth` is the occurrence
/// number among equal rows. Run records store it like a tool call.
pub(crate) fn call(target: &[String], asked: &str, nth: u32) -> Call {
    let words =
        target.iter().map(|word| Value::from(word.as_str())).chain([Value::from(asked)]).collect();
    Call {
        id: nth.to_string(),
        name: "target".to_owned(),
        params: Value::List(words),
        outcome: None,
    }
}

/// Parses the target's output as JSON.
pub(crate) fn parse_target_output(bytes: &[u8]) -> Result<Value, String> {
    let text = std::str::from_utf8(bytes)
        .map_err(|_| "The target printed something that is not UTF-8 text.".to_owned())?;
    json::read_python(text.trim()).map_err(|why| {
        format!(
            "The target printed something that is not JSON: {}.",
            why.message.trim_end_matches('.')
        )
    })
}

/// Returns the columns of the target's output. Fails if it is not an object, or if a column has the
/// name of an evaluator's result.
pub(crate) fn columns(wish: &EvaluationSpec, value: Value) -> TargetOutput {
    let Value::Map(entries) = value else {
        return Err("The target printed something that is not a JSON object.".to_owned());
    };
    let columns: Vec<(String, Value)> = entries
        .into_iter()
        .filter_map(|(key, value)| Some((key.text()?.to_owned(), value)))
        .collect();
    for (column, _) in &columns {
        if let Some(one) = wish.evaluators.iter().find(|one| one.evaluator.owns_column(column)) {
            let name = &one.evaluator.name;
            return Err(format!(
                "The target returned `{column}`, which clashes with results of `{name}`. Rename one of them."
            ));
        }
    }
    Ok(columns)
}

/// Returns the columns of a recorded target output. Returns `None` if it is not usable, and the
/// target has to be called again.
pub(crate) fn recorded_columns(
    wish: &EvaluationSpec,
    (outcome, _): (Outcome, u64),
) -> Option<Vec<(String, Value)>> {
    match outcome {
        Outcome::Result(value) => columns(wish, value).ok(),
        Outcome::Error(_) => None,
    }
}
