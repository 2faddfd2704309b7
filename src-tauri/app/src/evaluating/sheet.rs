//! **Pure.** Rows with what a target said of them, and what evaluators are given of each.
use super::takes::keys;
use super::wish::Wish;
use std::collections::HashMap;
use std::sync::Arc;
use touchstone_formats::json;
use touchstone_formats::value::Value;
use touchstone_runner::talk::{Call, Outcome};
use touchstone_scoring::azure::{Evaluation, Inputs, Mapping, Table, lacking, misshapen};
use xxhash_rust::xxh3::xxh3_128;

/// A target is asked once about each row.
pub(crate) const TURN: u32 = 1;

/// What a target said of a row: columns with values; why not, as a sentence.
pub(crate) type Said = Result<Vec<(String, Value)>, String>;

/// Rows as evaluators see them.
#[derive(Debug)]
pub(crate) struct Sheet {
    pub(crate) table: Arc<Table>,
    /// Of each row, when there is a target.
    pub(crate) said: Option<Vec<Said>>,
    /// Columns of what the target said, in the order in which they come first.
    pub(crate) columns: Vec<String>,
    mappings: Vec<Mapping>,
    /// By evaluator: a row lacks what is mapped, and so no row has a result where the package is
    /// followed.
    lost: Vec<bool>,
    /// By evaluator and row: questions that an earlier row asks as well, with the how manieth row
    /// this one is of these.
    nths: HashMap<(usize, usize), Vec<(u128, u32)>>,
}

/// Counts what comes again.
#[derive(Default)]
pub(crate) struct Again(HashMap<u128, u32>);

impl Again {
    /// The how manieth time it is that this comes, from 1.
    pub(crate) fn nth(&mut self, text: &str) -> u32 {
        self.nth_of(xxh3_128(text.as_bytes()))
    }

    fn nth_of(&mut self, key: u128) -> u32 {
        let count = self.0.entry(key).or_default();
        *count += 1;
        *count
    }
}

impl Sheet {
    pub(crate) fn of(wish: &Wish, table: &Arc<Table>, said: Option<Vec<Said>>) -> Self {
        let mut columns: Vec<String> = Vec::new();
        for (column, _) in said.iter().flatten().flatten().flatten() {
            if !columns.contains(column) {
                columns.push(column.clone());
            }
        }
        let target: Vec<&str> = columns.iter().map(String::as_str).collect();
        let data = || table.columns.iter().map(String::as_str);
        let of = |one: &super::wish::Configured| {
            one.mapping.clone().completed(data(), &target).narrowed(&one.evaluator)
        };
        let mappings = wish.evaluators.iter().map(of).collect();
        let lost = wish.evaluators.iter().map(|one| {
            let reaches = |row: usize| {
                let said = said.as_ref().and_then(|said| said.get(row)?.as_ref().ok());
                let of_target =
                    |column: &str| cell(said.map(Vec::as_slice).unwrap_or_default(), column);
                one.mapping.reaches(
                    &table.columns,
                    |column| table.value(row, column),
                    of_target,
                    said.is_some(),
                )
            };
            wish.quirks.has("mapped_in_all_rows") && !(0..table.rows.len()).all(reaches)
        });
        let lost = lost.collect();
        Self { table: Arc::clone(table), said, columns, mappings, lost, nths: HashMap::new() }
    }

    /// With rows counted that ask the same: other inputs need not be another question.
    pub(crate) fn counted(mut self, wish: &Wish) -> Self {
        for (at, one) in wish.evaluators.iter().enumerate().filter(|(_, one)| one.pays()) {
            let mut again = Again::default();
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

    /// The how manieth row it is of those that ask an evaluator's question, from 1.
    pub(crate) fn nth(&self, at: usize, row: usize, key: u128) -> u32 {
        let later = self
            .nths
            .get(&(at, row))
            .and_then(|later| later.iter().find(|(known, _)| *known == key));
        later.map_or(1, |(_, nth)| *nth)
    }

    /// What an evaluator is given of a row; why it cannot be, when the target said nothing of it.
    pub(crate) fn inputs(&self, wish: &Wish, at: usize, row: usize) -> Result<Inputs, String> {
        let said = match self.said.as_ref().and_then(|said| said.get(row)) {
            None => &[],
            Some(Ok(said)) => said.as_slice(),
            Some(Err(why)) => return Err(why.clone()),
        };
        if self.lost[at] {
            return Err(
                "One row lacks what is mapped, and so the package has no result of any.".to_owned()
            );
        }
        let all = self.mappings[at]
            .inputs(|column| self.table.value(row, column), |column| cell(said, column));
        Ok(wish.evaluators[at].evaluator.filtered(&all))
    }

    /// What rows lack for their evaluators, what of them has another shape, and references that
    /// lead nowhere, as sentences.
    pub(crate) fn lacks(&self, wish: &Wish) -> Vec<String> {
        let rows = self.table.rows.len();
        let mut lacks = self.lost(wish, false);
        for (at, one) in wish.evaluators.iter().enumerate() {
            let inputs = || (0..rows).filter_map(|row| self.inputs(wish, at, row).ok());
            let name = &one.evaluator.name;
            let have = |count: u64| if count == 1 { "has" } else { "have" };
            let say = |(need, count): (String, u64)| {
                format!("{name}: {count} of {rows} rows {} no {need}.", have(count))
            };
            lacks.extend(lacking(&one.evaluator, inputs()).into_iter().map(say));
            let say = |(why, count): (String, u64)| {
                let result =
                    format!("{name}: {count} of {rows} rows {} no result: {why}", have(count));
                self.text_instead(&why)
                    .map_or_else(|| result.clone(), |hint| format!("{result} {hint}"))
            };
            lacks.extend(misshapen(&one.evaluator, inputs(), &wish.quirks).into_iter().map(say));
        }
        lacks
    }

    /// The column to take where one with messages is no text, as rows of runs have it.
    fn text_instead(&self, why: &str) -> Option<String> {
        let name = why.strip_prefix('`')?.strip_suffix("` is no text.")?;
        let column = format!("{name}_text");
        let is_there = self.table.columns.iter().chain(&self.columns).any(|known| *known == column);
        is_there.then(|| format!("Map `{name}` to `{column}`."))
    }

    /// References that lead nowhere, as sentences; those to what the target says only when it was
    /// asked already.
    pub(crate) fn lost(&self, wish: &Wish, is_asked_later: bool) -> Vec<String> {
        let data: Vec<&str> = self.table.columns.iter().map(String::as_str).collect();
        let target: Option<Vec<&str>> =
            (!is_asked_later).then(|| self.columns.iter().map(String::as_str).collect());
        let of = |one: &super::wish::Configured| {
            let name = one.evaluator.name.clone();
            one.mapping
                .unknown(&data, target.as_deref())
                .into_iter()
                .map(move |why| format!("{name}: {why}"))
        };
        wish.evaluators.iter().flat_map(of).collect()
    }

    /// What the target said, where there is one. The error is a sentence: there is too much of it.
    pub(crate) fn target(&self) -> Result<Option<Table>, String> {
        let cells = |row: &Said| {
            let said = row.iter().flatten();
            said.map(|(column, value)| (column.clone(), Some(value.clone()))).collect()
        };
        self.said.as_ref().map(|said| Table::gathered(said.iter().map(cells))).transpose()
    }

    /// Why no evaluator can be asked, after the target was: it said too much to be written, or what
    /// is mapped to is in none of its answers. Where it answered nothing, each row says why.
    pub(crate) fn unanswered(&self, wish: &Wish) -> Option<String> {
        let said = self.said.as_ref()?;
        if let Err(why) = self.target() {
            return Some(format!(
                "What the target said does not fit into a file of results. {why}"
            ));
        }
        let why =
            self.lost(wish, false).into_iter().next().filter(|_| said.iter().any(Result::is_ok))?;
        Some(format!(
            "{why} The target gives {}. Mend the mapping, and begin again.",
            self.columns.join(", ")
        ))
    }
}

/// What a target said of a row in a column.
fn cell<'a>(said: &'a [(String, Value)], column: &str) -> Option<&'a Value> {
    said.iter().find(|(known, _)| known == column).map(|(_, value)| value)
}

/// A row as a target is given it: an object of its columns.
pub(crate) fn asked(table: &Table, row: usize) -> String {
    let cell =
        |column: &String| Some((Value::from(column.as_str()), table.value(row, column)?.clone()));
    json::write(&Value::Map(table.columns.iter().filter_map(cell).collect()), false)
}

/// What a row is found again by among what the target said before: `nth` of the same rows. Rooms of
/// runs know it as the call of a tool.
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

/// What a target said, as JSON.
pub(crate) fn said(bytes: &[u8]) -> Result<Value, String> {
    let text = std::str::from_utf8(bytes)
        .map_err(|_| "The target said something that is no UTF-8 text.".to_owned())?;
    json::read_python(text.trim()).map_err(|why| {
        format!("The target said something that is no JSON: {}.", why.message.trim_end_matches('.'))
    })
}

/// The columns of what a target said, which is an object; none of them may stand where an
/// evaluator's results do.
pub(crate) fn columns(wish: &Wish, value: Value) -> Said {
    let Value::Map(entries) = value else {
        return Err("The target said something that is no JSON object.".to_owned());
    };
    let columns: Vec<(String, Value)> = entries
        .into_iter()
        .filter_map(|(key, value)| Some((key.text()?.to_owned(), value)))
        .collect();
    for (column, _) in &columns {
        if let Some(one) = wish.evaluators.iter().find(|one| one.evaluator.stands_at(column)) {
            let name = &one.evaluator.name;
            return Err(format!(
                "The target said `{column}`, where results of `{name}` stand. Rename one of them."
            ));
        }
    }
    Ok(columns)
}

/// The columns of what a target said before; none where that is of no use, and then it is asked
/// again.
pub(crate) fn kept(wish: &Wish, (outcome, _): (Outcome, u64)) -> Option<Vec<(String, Value)>> {
    match outcome {
        Outcome::Result(value) => columns(wish, value).ok(),
        Outcome::Error(_) => None,
    }
}
