//! Which runs have which labels. Nothing of it is stored: questions are answered from the index, and
//! values that people gave are in their reviews.
use super::own_values;
use super::questions::Questions;
use super::search::{self, Texts, step_search};
use super::{IndexError, Lists, Reader, RunSet};
use crate::filter::labels::names_in;
use crate::filter::{Ask, Filter, FilterValue, Key, LabelRule, Labels, typed};
use crate::reviews::StoredReview;
use rusqlite::params_from_iter;
use std::collections::{BTreeMap, BTreeSet};
use std::sync::Arc;
use touchstone_api::{FacetValue, LabelAgreement, LabelSchema, LabelView, RunLabel, RunRow};
use touchstone_formats::workspace::labels::LabelKind;
use touchstone_metrics::stats::{Confusion, Level, Weights};
use touchstone_scoring::agreement::words;

/// Maximum number of labels of a row.
const MOST: usize = 50;
/// Maximum number of pairs of people whose agreement is shown.
const MOST_PAIRS: usize = 200;

/// Values that people gave to runs for a label; a run has each value once.
type GivenValues = BTreeSet<(i64, String)>;

/// Values that people gave to the present answers of runs, by label.
pub(super) type PeopleLabels = BTreeMap<String, GivenValues>;

/// Reads these values when they are needed.
type ReadGiven<'a> = &'a dyn Fn() -> Result<Arc<PeopleLabels>, IndexError>;

/// Runs with each label that follows from a question, and values of those that people give.
#[derive(Default)]
pub(super) struct LabelSets<'a> {
    questions: BTreeMap<&'a str, RunSet>,
    given: Arc<PeopleLabels>,
}

impl LabelSets<'_> {
    /// Returns the runs with a label whose value fits.
    fn runs(&self, labels: &Labels, value: &FilterValue) -> RunSet {
        let FilterValue::Label(name, condition) = value else { return RunSet::default() };
        let Some(LabelRule { label, .. }) = labels.rule(name) else { return RunSet::default() };
        if let Some(runs) = self.questions.get(label.name.as_str()) {
            return runs.clone();
        }
        let mut runs = RunSet::default();
        for (run, _) in self
            .given
            .get(label.name.as_str())
            .into_iter()
            .flatten()
            .filter(|(_, value)| condition.fits(value))
        {
            runs.insert(*run);
        }
        runs
    }
}

/// Decides labels and all that their questions use, for all runs or among some. Labels that do not
/// exist or have an error belong to no run. `given` are the values that people gave, read when they are
/// needed.
pub(super) fn sets<'a>(
    index: &Reader<'_>,
    labels: &'a Labels,
    names: impl Iterator<Item = &'a str>,
    (among, given): (Option<&[i64]>, ReadGiven<'_>),
) -> Result<LabelSets<'a>, IndexError> {
    let mut sets = LabelSets::default();
    let needed = labels.needed(names);
    if needed.iter().any(|rule| !rule.is_question()) {
        sets.given = given()?;
    }
    for rule in needed.iter().filter(|rule| rule.is_question()) {
        let set = passing(index, &rule.filter, (labels, &sets), among)?;
        sets.questions.insert(&rule.label.name, set);
    }
    Ok(sets)
}

/// Evaluates the question of a label.
fn passing(
    index: &Reader<'_>,
    filter: &Filter,
    sets: (&Labels, &LabelSets<'_>),
    among: Option<&[i64]>,
) -> Result<RunSet, IndexError> {
    let mut set = matching(index, filter, sets, among)?;
    let texts = Texts::from_filter(filter);
    if !texts.is_empty() {
        set = search::containing(index, &texts, &set)?;
    }
    if filter.questions().next().is_some() {
        set = step_search::passing(index, &Questions::from_filter(filter), &set)?;
    }
    Ok(set)
}

/// Evaluates the parts of a filter that ask neither for text nor for steps, for all runs or among
/// some.
pub(super) fn matching(
    index: &Reader<'_>,
    filter: &Filter,
    (labels, sets): (&Labels, &LabelSets<'_>),
    among: Option<&[i64]>,
) -> Result<RunSet, IndexError> {
    // A page is decided by SQL, which looks at its rows alone.
    let columns = if among.is_none() { index.columns() } else { None };
    let mut set = match columns.and_then(|columns| columns.matching(filter)) {
        Some(set) => set,
        None => by_sql(index, filter, among)?,
    };
    for token in &filter.tokens {
        let Ask::Value(Key::Label, values) = &token.ask else { continue };
        let found: Vec<RunSet> = values.iter().map(|value| sets.runs(labels, value)).collect();
        let mut left = RunSet::default();
        let fits = |run: i64| found.iter().any(|set| set.contains(run)) != token.negated;
        set.iter().filter(|run| fits(*run)).for_each(|run| left.insert(run));
        set = left;
    }
    own_values::admitted(index, filter, set)
}

/// Evaluates the same in SQL.
pub(super) fn by_sql(
    index: &Reader<'_>,
    filter: &Filter,
    among: Option<&[i64]>,
) -> Result<RunSet, IndexError> {
    let condition = filter.condition();
    // The SQL is assembled from fixed fragments and ids only; user input is passed as parameters.
    let statement = format!("SELECT id FROM runs WHERE {}", condition.sql);
    let mut set = RunSet::default();
    let mut insert = |mut rows: rusqlite::Rows<'_>| -> Result<(), IndexError> {
        while let Some(row) = rows.next()? {
            set.insert(row.get(0)?);
        }
        Ok(())
    };
    match among {
        None => {
            let mut query = index.prepare_cached(&statement)?;
            insert(query.query(params_from_iter(condition.params))?)?;
        }
        Some(ids) => {
            let ids: Vec<String> = ids.iter().map(i64::to_string).collect();
            let mut query = index.prepare(&format!("{statement} AND id IN ({})", ids.join(",")))?;
            insert(query.query(params_from_iter(condition.params))?)?;
        }
    }
    Ok(set)
}

/// Returns the values of labels that people gave to the present answers of all runs.
fn labels_by_people(index: &Reader<'_>) -> Result<PeopleLabels, IndexError> {
    let mut given = PeopleLabels::new();
    each_review(index, |run, one| {
        for (name, value) in one.labels {
            given.entry(name).or_default().insert((run, value));
        }
    })?;
    Ok(given)
}

/// Calls `each` with every review that gives labels to the present answer of a run.
fn each_review(
    index: &Reader<'_>,
    mut each: impl FnMut(i64, StoredReview),
) -> Result<(), IndexError> {
    // The condition is that of the index `reviews_labeled`.
    const LABELED: &str = "SELECT r.id, v.people, v.same FROM reviews v JOIN runs r ON r.key = v.run \
                           WHERE v.labeled AND v.problem IS NULL";
    let mut query = index.prepare_cached(LABELED)?;
    let mut rows = query.query([])?;
    while let Some(row) = rows.next()? {
        let people: String = row.get(1)?;
        let same: Option<String> = row.get(2)?;
        for one in StoredReview::all(&people, same.as_deref().unwrap_or_default()) {
            if one.holds && !one.labels.is_empty() {
                each(row.get(0)?, one);
            }
        }
    }
    Ok(())
}

impl LabelSets<'_> {
    /// Returns the labels of a run, in the order of the file.
    pub(super) fn of_run(&self, labels: &Labels, id: i64) -> Vec<RunLabel> {
        let mut of_run = Vec::new();
        for rule in labels.rules() {
            let name = rule.label.name.as_str();
            let label = |value| RunLabel { name: name.to_owned(), value };
            if rule.is_question() {
                let is_so = self.questions.get(name).is_some_and(|runs| runs.contains(id));
                of_run.extend(is_so.then(|| label(None)));
                continue;
            }
            let values = self.given.get(name).into_iter();
            let values = values.flat_map(|values| values.range((id, String::new())..));
            let values = values.take_while(|(run, _)| *run == id);
            of_run.extend(values.map(|(_, value)| label(Some(value.clone()))));
        }
        of_run
    }
}

pub(super) fn all_names(labels: &Labels) -> impl Iterator<Item = &str> {
    labels.rules().iter().map(|rule| rule.label.name.as_str())
}

/// Returns the labels as values of the filter key: questions, and labels that people give, each followed
/// by its values. Those of a category are the values of its schema, as the filter refuses others. A label
/// whose question asks for text or steps is not counted, as that takes a search of all transcripts.
pub(super) fn facet(
    index: &Reader<'_>,
    labels: &Labels,
    given: ReadGiven<'_>,
) -> Result<Vec<FacetValue>, IndexError> {
    let mut facet = Vec::new();
    let is_counted = |rule: &LabelRule| !needs_transcripts(labels, rule);
    let views = views(index, labels, (&is_counted, given))?;
    for view in views.into_iter().filter(|view| view.error.is_none()) {
        facet.push(FacetValue { value: typed(&view.name), count: view.count });
        let is_known = |value: &FacetValue| match &view.schema {
            Some(LabelSchema::Category { values }) => values.contains(&value.value),
            _ => true,
        };
        facet.extend(view.values.into_iter().filter(is_known).map(|value| FacetValue {
            value: format!("{}={}", typed(&view.name), typed(&value.value)),
            count: value.count,
        }));
    }
    Ok(facet)
}

/// Returns true if a label cannot be decided from columns of the index: its question, or that of a label
/// it uses, asks for text or steps.
fn needs_transcripts(labels: &Labels, rule: &LabelRule) -> bool {
    let needed = labels.needed(std::iter::once(rule.label.name.as_str()));
    needed.iter().any(|rule| {
        !Texts::from_filter(&rule.filter).is_empty() || rule.filter.questions().next().is_some()
    })
}

/// Returns all labels with the number of runs that have them, as far as they are counted.
fn views(
    index: &Reader<'_>,
    labels: &Labels,
    (is_counted, given): (&dyn Fn(&LabelRule) -> bool, ReadGiven<'_>),
) -> Result<Vec<LabelView>, IndexError> {
    let counted = labels.rules().iter().filter(|rule| is_counted(rule));
    let names = counted.map(|rule| rule.label.name.as_str());
    let sets = sets(index, labels, names, (None, given))?;
    Ok(views_of(labels, &sets, is_counted))
}

/// Returns all labels with the number of runs of these sets.
fn views_of(
    labels: &Labels,
    sets: &LabelSets<'_>,
    is_counted: &dyn Fn(&LabelRule) -> bool,
) -> Vec<LabelView> {
    let view = |rule: &LabelRule| {
        let is_counted = is_counted(rule);
        let name = rule.label.name.as_str();
        let mut runs = sets.questions.get(name).cloned().unwrap_or_default();
        let mut values: BTreeMap<&str, u64> = match &rule.label.kind {
            LabelKind::Category(all) if is_counted => {
                all.iter().map(|value| (value.as_str(), 0)).collect()
            }
            _ => BTreeMap::new(),
        };
        let given = sets.given.get(name).filter(|_| is_counted && !rule.is_question());
        for (run, value) in given.into_iter().flatten() {
            runs.insert(*run);
            *values.entry(value).or_default() += 1;
        }
        let place = |value: &str| match &rule.label.kind {
            LabelKind::Category(all) => all.iter().position(|known| known == value),
            _ => None,
        };
        let mut values: Vec<FacetValue> = values
            .into_iter()
            .map(|(value, count)| FacetValue { value: value.to_owned(), count: Some(count) })
            .collect();
        values.sort_by_key(|one| {
            (place(&one.value).unwrap_or(usize::MAX), std::cmp::Reverse(one.count))
        });
        values.truncate(MOST);
        LabelView {
            name: name.to_owned(),
            question: match &rule.label.kind {
                LabelKind::Question(question) => Some(question.clone()),
                _ => None,
            },
            schema: schema(&rule.label.kind),
            uses: names_in(&rule.filter).into_iter().map(str::to_owned).collect(),
            error: rule.error.clone(),
            count: is_counted.then(|| runs.len() as u64),
            values,
        }
    };
    labels.rules().iter().map(view).collect()
}

fn schema(kind: &LabelKind) -> Option<LabelSchema> {
    match kind {
        LabelKind::Question(_) => None,
        LabelKind::Category(values) => Some(LabelSchema::Category { values: values.clone() }),
        LabelKind::Number { min, max } => Some(LabelSchema::Number { min: *min, max: *max }),
        LabelKind::Text => Some(LabelSchema::Text),
    }
}

impl Lists {
    /// Returns the values that people gave, remembered until the index changes.
    pub(super) fn people_labels(
        &self,
        index: &Reader<'_>,
    ) -> Result<Arc<PeopleLabels>, IndexError> {
        if let Some(given) = self.remembered(index, |known| known.given.clone()) {
            return Ok(given);
        }
        let given = labels_by_people(index)?;
        Ok(self.keep(index, given, |known, given| known.given = Some(given)))
    }

    /// Puts their labels into the rows of a page.
    pub(super) fn put_labels(
        &self,
        index: &Reader<'_>,
        labels: &Labels,
        page: &[i64],
        rows: &mut [RunRow],
    ) -> Result<(), IndexError> {
        if labels.rules().is_empty() || page.is_empty() {
            return Ok(());
        }
        let given = || self.people_labels(index);
        let sets = sets(index, labels, all_names(labels), (Some(page), &given))?;
        for (row, id) in rows.iter_mut().zip(page) {
            row.labels = sets.of_run(labels, *id);
            row.labels.truncate(MOST);
        }
        Ok(())
    }

    /// Returns the labels of the runs that pass a filter and count, by the id of the run. Runs without
    /// labels are left out.
    pub fn labels_of_runs(
        &self,
        index: &Reader<'_>,
        filter: &str,
    ) -> Result<BTreeMap<String, Vec<RunLabel>>, IndexError> {
        let labels = self.labels();
        if labels.rules().is_empty() {
            return Ok(BTreeMap::new());
        }
        let sets = sets(index, &labels, all_names(&labels), (None, &|| self.people_labels(index)))?;
        let mut of_runs = BTreeMap::new();
        for id in self.runs_that_count(index, filter)?.iter() {
            let of_run = sets.of_run(&labels, id);
            if !of_run.is_empty() {
                of_runs.insert(super::key_of(index, id)?, of_run);
            }
        }
        Ok(of_runs)
    }

    /// Returns the number of runs that have a label; 0 for one that does not exist.
    pub fn label_count(&self, index: &Reader<'_>, name: &str) -> Result<u64, IndexError> {
        let is_meant = |rule: &LabelRule| rule.label.name == name;
        let views = views(index, &self.labels(), (&is_meant, &|| self.people_labels(index)))?;
        Ok(views.into_iter().find_map(|view| view.count).unwrap_or_default())
    }

    /// Returns the labels of the folder with the number of runs that have them.
    pub fn label_views(&self, index: &Reader<'_>) -> Result<Vec<LabelView>, IndexError> {
        views(index, &self.labels(), (&|_| true, &|| self.people_labels(index)))
    }

    /// Returns the labels of the folder without counts.
    pub fn label_schemas(&self) -> Vec<LabelView> {
        views_of(&self.labels(), &LabelSets::default(), &|_| false)
    }

    /// Returns how far each two people agree on each category, over the runs that pass a filter.
    /// Unsigned reviews are of nobody known and are left out.
    pub fn label_agreements(
        &self,
        index: &Reader<'_>,
        filter: &str,
    ) -> Result<Vec<LabelAgreement>, IndexError> {
        let labels = self.labels();
        let is_category = |rule: &&LabelRule| matches!(rule.label.kind, LabelKind::Category(_));
        if !labels.rules().iter().any(|rule| is_category(&rule)) {
            return Ok(Vec::new());
        }
        let passing = self.runs_that_count(index, filter)?;
        // By label and person, the value of each run.
        let mut given: BTreeMap<String, BTreeMap<String, BTreeMap<i64, String>>> = BTreeMap::new();
        each_review(index, |run, one| {
            let Some(author) = one.author.filter(|_| passing.contains(run)) else { return };
            for (name, value) in one.labels {
                given
                    .entry(name)
                    .or_default()
                    .entry(author.clone())
                    .or_default()
                    .insert(run, value);
            }
        })?;
        let mut agreements = Vec::new();
        for LabelRule { label, .. } in labels.rules().iter().filter(is_category) {
            let Some(people) = given.get(&label.name) else { continue };
            let people: Vec<(&String, &BTreeMap<i64, String>)> = people.iter().collect();
            for (at, (first, one)) in people.iter().enumerate() {
                for (second, other) in people.iter().skip(at + 1) {
                    agreements.extend(agreement(&label.name, (first, one), (second, other)));
                }
            }
        }
        agreements.truncate(MOST_PAIRS);
        Ok(agreements)
    }
}

/// Returns the agreement of two people on a category. `None` if they gave values to no common run.
fn agreement(
    label: &str,
    (first, one): (&str, &BTreeMap<i64, String>),
    (second, other): (&str, &BTreeMap<i64, String>),
) -> Option<LabelAgreement> {
    let both: Vec<(&String, &String)> =
        one.iter().filter_map(|(run, value)| Some((value, other.get(run)?))).collect();
    let values: BTreeSet<&String> = both.iter().flat_map(|(one, other)| [*one, *other]).collect();
    let place =
        |value: &String| values.iter().position(|known| *known == value).unwrap_or_default();
    let pairs = both.iter().map(|(one, other)| (place(one), place(other)));
    let counts = Confusion::from_pairs(pairs, values.len()).filter(|counts| counts.n() > 0)?;
    let (n, same) = (counts.n(), both.iter().filter(|(one, other)| one == other).count() as u64);
    let kappa = counts.kappa(Weights::None, Level::default());
    Some(LabelAgreement {
        label: label.to_owned(),
        first: first.to_owned(),
        second: second.to_owned(),
        n,
        same,
        kappa: kappa.map(|kappa| kappa.value),
        interval: kappa
            .and_then(|kappa| kappa.interval)
            .map(|interval| (interval.low, interval.high)),
        words: words(n, same, kappa.map(|kappa| (kappa.value, kappa.interval))),
    })
}
