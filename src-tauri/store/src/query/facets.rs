//! Values that occur for each filter key, with their counts. Counted in one pass over all runs,
//! because one grouping per key would take eight passes.
use super::own_queries;
use crate::columns::{Columns, Int, Text};
use crate::filter::{KEYS, Key, typed};
use crate::index::{IndexError, Reader};
use crate::run_set::RunSet;
use rusqlite::Row;
use std::collections::{BTreeSet, HashMap};
use touchstone_api::{Facet, FacetValue, Facets};

/// Maximum number of values per key; the most frequent are kept.
const MAX_VALUES: usize = 200;

/// Longer values are not offered, because they are not practical to type.
const MAX_VALUE: usize = 300;

const ALL: &str = "SELECT task, system, model, state, variation, variation_name, layout, tools, missing_calls, \
                   nudges > 0, failed_calls > 0, has_answer, scorer, class, scoring, verdict, passed, \
                   verdict IS NOT NULL OR review_score IS NOT NULL, lineage IS NOT NULL, commit_name, tags, suite_tags FROM runs";

/// Columns that hold a single text, with their place in the query above.
const TEXTS: [(usize, Text, Key); 10] = [
    (0, Text::Task, Key::Task),
    (1, Text::System, Key::System),
    (2, Text::Model, Key::Model),
    (5, Text::VariationName, Key::Variation),
    (6, Text::Layout, Key::Format),
    (12, Text::Scorer, Key::Scorer),
    (13, Text::Class, Key::Class),
    (14, Text::Scoring, Key::Scoring),
    (15, Text::Verdict, Key::Review),
    (19, Text::Commit, Key::Commit),
];

#[derive(Debug, Default, PartialEq)]
pub(super) struct Counts {
    by_key: HashMap<Key, HashMap<String, u64>>,
    tools: HashMap<String, u64>,
    missing: HashMap<String, u64>,
    tags: HashMap<[String; 2], u64>,
}

/// Counts the values. Those of labels are given.
pub(super) fn facets(
    index: &Reader<'_>,
    mut labels: Vec<FacetValue>,
) -> Result<Facets, IndexError> {
    let mut counts = match index.columns() {
        Some(columns) => Counts::from_columns(&columns),
        None => Counts::from_sql(index)?,
    };
    counts.spread();
    let mut stored = stored(index)?;
    let keys = own_queries::fact_keys(index)?.into_iter();
    let mut facts: Vec<FacetValue> =
        keys.map(|key| FacetValue { value: typed(&key), count: None }).collect();
    let keys = KEYS.iter().map(|rule| Facet {
        key: rule.name.to_owned(),
        about: rule.about.to_owned(),
        values: match rule.key {
            Key::Stored => std::mem::take(&mut stored),
            Key::Label => std::mem::take(&mut labels),
            Key::Fact => std::mem::take(&mut facts),
            key => counts.by_key.remove(&key).map(most_first).unwrap_or_default(),
        },
    });
    Ok(Facets { keys: keys.collect(), parts: own_queries::parts(index)? })
}

/// Evaluators with imported verdicts, each followed by its results.
fn stored(index: &Reader<'_>) -> Result<Vec<FacetValue>, IndexError> {
    const STORED: &str = "SELECT evaluator, result, count(DISTINCT run) FROM stored WHERE result <> 'none' GROUP BY 1, 2 ORDER BY 1, 2";
    let mut select = index.prepare_cached(STORED)?;
    let mut rows = select.query([])?;
    let mut evaluators: Vec<(FacetValue, Vec<FacetValue>)> = Vec::new();
    while let Some(row) = rows.next()? {
        let (name, result): (String, String) = (row.get(0)?, row.get(1)?);
        if !(1..=MAX_VALUE).contains(&name.len()) {
            continue;
        }
        let (value, count) = (typed(&name), row.get::<_, i64>(2)?.unsigned_abs());
        if evaluators.last().is_none_or(|(last, _)| last.value != value) {
            evaluators.push((FacetValue { value: value.clone(), count: Some(0) }, Vec::new()));
        }
        if let Some((all, each)) = evaluators.last_mut() {
            all.count = Some(all.count.unwrap_or_default() + count);
            each.push(FacetValue { value: format!("{value}={result}"), count: Some(count) });
        }
    }
    evaluators.sort_by_key(|(all, _)| std::cmp::Reverse(all.count));
    Ok(evaluators
        .into_iter()
        .flat_map(|(all, each)| std::iter::once(all).chain(each))
        .take(MAX_VALUES)
        .collect())
}

impl Counts {
    /// Counts in columns in memory: texts by their codes, so that each is looked at once.
    pub(super) fn from_columns(columns: &Columns) -> Self {
        let mut counts = Self::default();
        counts.add_texts(columns, Text::State, Key::State, &RunSet::default());
        let other = columns.decoded(Text::State, |state| state == "other");
        let mut others = RunSet::default();
        columns.each_text(Text::State, |id, code| {
            if other.get(code) == Some(&true) {
                others.insert(id);
            }
        });
        for (_, text, key) in TEXTS {
            counts.add_texts(columns, text, key, &others);
        }
        let mut numbers: HashMap<i64, u64> = HashMap::new();
        columns.each_int(Int::Variation, |id, number| {
            *numbers.entry(number).or_default() += u64::from(!others.contains(id));
        });
        for (number, runs) in numbers {
            counts.count_values(Key::Variation, &number.to_string(), runs);
        }
        counts.add_flags(columns, &others);
        for (text, lists) in
            [(Text::Tools, &mut counts.tools), (Text::MissingCalls, &mut counts.missing)]
        {
            let names = columns.decoded(text, str::to_owned);
            let runs = by_code(columns, text, &others).into_iter();
            lists.extend(names.into_iter().zip(runs).filter(|(_, runs)| *runs > 0));
        }
        let [own, suite] =
            [Text::Tags, Text::SuiteTags].map(|of| columns.decoded(of, str::to_owned));
        let mut both: HashMap<(usize, usize), u64> = HashMap::new();
        columns.each_text(Text::Tags, |id, code| {
            let suite = columns.run(id).and_then(|run| run.code(Text::SuiteTags));
            if let Some(suite) = suite.filter(|_| !others.contains(id)) {
                *both.entry((code, suite)).or_default() += 1;
            }
        });
        let tags = both.into_iter().filter_map(|((one, other), runs)| {
            Some(([own.get(one)?.clone(), suite.get(other)?.clone()], runs))
        });
        counts.tags = tags.filter(|(tags, _)| tags.iter().any(|list| !list.is_empty())).collect();
        counts
    }

    fn add_texts(&mut self, columns: &Columns, text: Text, key: Key, without: &RunSet) {
        let runs = by_code(columns, text, without);
        for (name, runs) in columns.decoded(text, |name| name).into_iter().zip(runs) {
            self.count_values(key, name, runs);
        }
    }

    fn add_flags(&mut self, columns: &Columns, others: &RunSet) {
        let mut add = |key, yes: u64, no: u64| {
            self.count_values(key, "yes", yes);
            self.count_values(key, "no", no);
        };
        let all = (columns.runs() - others.len()) as u64;
        let counted = |of: Int, passes: fn(i64) -> bool| {
            let mut counted = 0;
            columns.each_int(of, |id, number| {
                counted += u64::from(passes(number) && !others.contains(id));
            });
            counted
        };
        add(
            Key::Passed,
            counted(Int::Passed, |one| one != 0),
            counted(Int::Passed, |one| one == 0),
        );
        for (of, key) in [
            (Int::Nudges, Key::Nudged),
            (Int::FailedCalls, Key::Failed),
            (Int::HasAnswer, Key::Answer),
            (Int::Reviewed, Key::Review),
        ] {
            let yes = counted(of, |one| one > 0);
            add(key, yes, all - yes);
        }
        let forked = by_code(columns, Text::Lineage, others).into_iter().sum();
        add(Key::Forked, forked, all - forked);
    }

    /// Counts in one pass over the index.
    pub(super) fn from_sql(index: &Reader<'_>) -> Result<Self, IndexError> {
        let mut query = index.prepare_cached(ALL)?;
        let mut rows = query.query([])?;
        let mut counts = Self::default();
        while let Some(row) = rows.next()? {
            counts.add(row)?;
        }
        Ok(counts)
    }

    fn add(&mut self, row: &Row<'_>) -> rusqlite::Result<()> {
        let text = |at: usize| row.get_ref(at).map(|value| value.as_str_or_null().ok().flatten());
        let state = text(3)?.unwrap_or_default();
        self.count_value(Key::State, state);
        if state == "other" {
            return Ok(());
        }
        for (at, _, key) in TEXTS {
            self.count_value(key, text(at)?.unwrap_or_default());
        }
        if let Some(passed) = row.get(16)? {
            self.count_value(Key::Passed, if passed { "yes" } else { "no" });
        }
        if let Some(variation) = row.get::<_, Option<i64>>(4)? {
            self.count_value(Key::Variation, &variation.to_string());
        }
        for (at, key) in [
            (9, Key::Nudged),
            (10, Key::Failed),
            (11, Key::Answer),
            (17, Key::Review),
            (18, Key::Forked),
        ] {
            self.count_value(key, if row.get(at)? { "yes" } else { "no" });
        }
        count(&mut self.tools, text(7)?.unwrap_or_default(), 1);
        count(&mut self.missing, text(8)?.unwrap_or_default(), 1);
        let tags = [text(20)?.unwrap_or_default(), text(21)?.unwrap_or_default()];
        if tags != [""; 2] {
            *self.tags.entry(tags.map(str::to_owned)).or_default() += 1;
        }
        Ok(())
    }

    fn count_value(&mut self, key: Key, value: &str) {
        self.count_values(key, value, 1);
    }

    fn count_values(&mut self, key: Key, value: &str, runs: u64) {
        if runs > 0 && (1..=MAX_VALUE).contains(&value.len()) {
            count(self.by_key.entry(key).or_default(), value, runs);
        }
    }

    /// Splits the lists of names. There are only few distinct lists.
    fn spread(&mut self) {
        let mut tools = HashMap::new();
        for (names, runs) in &self.tools {
            for name in names.lines().filter(|name| !name.is_empty()) {
                *tools.entry(name.to_owned()).or_default() += runs;
            }
        }
        let mut missing = HashMap::new();
        for (json, runs) in &self.missing {
            let names: Vec<String> = serde_json::from_str(json).unwrap_or_default();
            *missing.entry(if names.is_empty() { "no" } else { "yes" }.to_owned()).or_default() +=
                runs;
            for name in names.into_iter().filter(|name| !matches!(name.as_str(), "yes" | "no" | ""))
            {
                *missing.entry(name).or_default() += runs;
            }
        }
        let mut tags = HashMap::new();
        for ([own, suite], runs) in &self.tags {
            let names: BTreeSet<&str> = own.lines().chain(suite.lines()).collect();
            for name in names.into_iter().filter(|name| !name.is_empty()) {
                *tags.entry(name.to_owned()).or_default() += runs;
            }
        }
        self.by_key.insert(Key::Tag, tags);
        self.by_key.insert(Key::Tool, tools);
        self.by_key.insert(Key::Missing, missing);
    }
}

/// Number of runs with each text of a column, by its code.
fn by_code(columns: &Columns, of: Text, without: &RunSet) -> Vec<u64> {
    let mut runs = columns.decoded(of, |_| 0);
    columns.each_text(of, |id, code| {
        if let Some(runs) = runs.get_mut(code) {
            *runs += u64::from(!without.contains(id));
        }
    });
    runs
}

fn count(counts: &mut HashMap<String, u64>, value: &str, runs: u64) {
    match counts.get_mut(value) {
        Some(count) => *count += runs,
        None => {
            counts.insert(value.to_owned(), runs);
        }
    }
}

fn most_first(counts: HashMap<String, u64>) -> Vec<FacetValue> {
    let mut counts: Vec<_> = counts.into_iter().collect();
    counts.sort_by(|(a, most), (b, least)| least.cmp(most).then_with(|| a.cmp(b)));
    counts.truncate(MAX_VALUES);
    counts
        .into_iter()
        .map(|(value, count)| FacetValue { value: typed(&value), count: Some(count) })
        .collect()
}
