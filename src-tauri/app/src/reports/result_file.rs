//! **Pure.** The result file of `StableToolBench`: the runs of one system with one model on one
//! test set, in the exact format of the original. Unknown values are omitted, never 0.
use super::queries::{QueryRun, QueryScore, counted};
use std::collections::{BTreeMap, BTreeSet, HashSet};
use touchstone_api::RunState;
use touchstone_formats::stabletoolbench::Query;
use touchstone_formats::stabletoolbench::answers::convert::{self, Defects};
use touchstone_formats::stabletoolbench::results::{Evaluation, Metadata, ResultFile, Summary};
use touchstone_judges::stabletoolbench::SETS;
use touchstone_model::json;
use touchstone_model::run::Run;
use touchstone_model::value::Value;

/// Key of the runs that share a file.
#[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Default)]
pub(crate) struct Key<'a> {
    pub(crate) system: &'a str,
    pub(crate) model: &'a str,
    pub(crate) set: &'a str,
}

impl Key<'_> {
    /// Returns the label by which users select the file.
    pub(crate) fn label(self) -> String {
        [self.system, self.model, self.set]
            .into_iter()
            .filter(|word| !word.is_empty())
            .collect::<Vec<_>>()
            .join("/")
    }

    /// Returns the name of the system in the file.
    fn framework(self) -> String {
        [self.system, self.model]
            .into_iter()
            .filter(|word| !word.is_empty())
            .collect::<Vec<_>>()
            .join("-")
    }

    /// Returns `<framework>[_<n>queries]_<test set>.json`. The number is omitted if the file
    /// contains all queries of the set.
    pub(crate) fn file_name(self, queries: u64) -> String {
        let whole = SETS.iter().any(|(set, all)| *set == self.set && *all == queries);
        let count = if whole { String::new() } else { format!("_{queries}queries") };
        let set = if self.set.is_empty() { String::new() } else { format!("_{}", plain(self.set)) };
        format!("{}{count}{set}.json", plain(&self.framework()))
    }
}

/// A file with a label and a name that are unique among all files.
pub(crate) struct Named<'a> {
    pub(crate) key: Key<'a>,
    pub(crate) label: String,
    pub(crate) file_name: String,
}

/// Assigns labels and file names.
pub(crate) fn named<'a>(files: &BTreeMap<Key<'a>, Vec<&QueryRun>>) -> Vec<Named<'a>> {
    let (mut labels, mut names) = (HashSet::new(), HashSet::new());
    let of = |(key, runs): (&Key<'a>, &Vec<&QueryRun>)| {
        let (label, name) = (key.label(), key.file_name(counted(runs).queries));
        let stem = name.strip_suffix(".json").unwrap_or(&name);
        Named {
            key: *key,
            label: counted_on(&label, |label| labels.insert(label.to_owned())),
            // Lower case, because some file systems ignore case.
            file_name: counted_on(stem, |stem| names.insert(stem.to_lowercase())) + ".json",
        }
    };
    files.iter().map(of).collect()
}

/// Returns the word if it is free, otherwise with a number appended.
fn counted_on(word: &str, mut is_free: impl FnMut(&str) -> bool) -> String {
    let counted = (2_u64..).map(|number| format!("{word}-{number}"));
    std::iter::once(word.to_owned()).chain(counted).find(|word| is_free(word)).unwrap_or_default()
}

/// Converts a word to one that is valid in a file name on any system.
fn plain(word: &str) -> String {
    let kept = |c: char| c.is_alphanumeric() || matches!(c, '-' | '_' | '.');
    let word: String = word.chars().take(80).map(|c| if kept(c) { c } else { '-' }).collect();
    let word = word.trim_matches(['-', '.']);
    if word.is_empty() { "results".to_owned() } else { word.to_owned() }
}

/// Groups runs by file. Runs that have not ended or ended in a system error are in none.
pub(crate) fn files(runs: &[QueryRun]) -> BTreeMap<Key<'_>, Vec<&QueryRun>> {
    let mut files: BTreeMap<Key<'_>, Vec<&QueryRun>> = BTreeMap::new();
    for one in runs.iter().filter(|run| run.is_evaluation()) {
        let key = Key {
            system: one.run.system.as_deref().unwrap_or_default(),
            model: one.run.model.as_deref().unwrap_or_default(),
            set: &one.set,
        };
        files.entry(key).or_default().push(one);
    }
    for runs in files.values_mut() {
        runs.sort_by_key(|one| (one.query.len(), &one.query, one.run.repeat));
    }
    files
}

/// Formats a file. `told` holds the query and the parsed run of each entry of `runs`, in the same
/// order.
pub(crate) fn write(
    key: Key<'_>,
    made: &str,
    runs: &[&QueryRun],
    told: &[(Option<Query>, Run)],
) -> ResultFile {
    let of = counted(runs);
    let judged: Vec<&QueryScore> = runs.iter().filter_map(|run| run.sopr.as_ref()).collect();
    let scorer = judged.first().map(|given| given.scorer.as_str());
    let text = |text: &str| Value::from(text);
    let number = |number: u64| Value::Number(number.to_string());
    let models: BTreeSet<&str> = judged.iter().filter_map(|given| given.model.as_deref()).collect();
    let models: Vec<&str> = models.into_iter().collect();
    let mut config = vec![
        ("test_set".to_owned(), text(key.set)),
        ("num_queries".to_owned(), number(of.queries)),
        (
            "evaluator_model".to_owned(),
            if models.is_empty() { Value::Null } else { text(&models.join(", ")) },
        ),
        ("evaluation_method".to_owned(), scorer.map_or(Value::Null, |scorer| text(method(scorer)))),
        ("system".to_owned(), text(key.system)),
        ("model".to_owned(), text(key.model)),
        ("evaluations_without_answer".to_owned(), number(of.evaluations - of.answered)),
    ];
    if !of.all_judged() {
        let missing = number(of.evaluations - of.judged);
        config.push(("evaluations_without_sopr_score".to_owned(), missing));
    }
    let seconds = of.seconds.filter(|_| of.timed == of.evaluations);
    let metadata = Metadata {
        framework: Some(key.framework()),
        config,
        overall_time: seconds,
        timestamp: Some(made.to_owned()),
    };
    // Only if all judged runs have a time: a partial sum would be taken for the total.
    let took: Option<f64> = judged.iter().map(|given| given.seconds).sum();
    let took = took.filter(|_| !judged.is_empty());
    let percent = |share: touchstone_metrics::stats::Passes| share.share() * 100.0;
    let summary = Summary {
        total_queries: Some(of.queries),
        total_evaluations: Some(of.evaluations),
        solved_count: of.solved.map(|share| share.passed),
        solved_percentage: of.solved.map(percent),
        finish_count: of.finished.map(|share| share.passed),
        finish_percentage: of.finished.map(percent),
        average_sopr_score: of.sopr.map(|mean| mean.value),
        average_api_call_score: of.api_calls.map(|mean| mean.value),
        total_evaluation_time: took,
        average_evaluation_time: took
            .map(|seconds| seconds / f64::from(u32::try_from(judged.len()).unwrap_or(u32::MAX))),
    };
    let evaluations: Vec<Evaluation> = runs
        .iter()
        .zip(told)
        .map(|(one, (query, run))| evaluation(one, query.as_ref(), run))
        .collect();
    ResultFile::new(&metadata, &summary, &evaluations)
}

/// Returns the name of a judging method in the document.
fn method(scorer: &str) -> &str {
    if scorer.starts_with("seed_heuristic") { "heuristic" } else { scorer }
}

fn evaluation(one: &QueryRun, query: Option<&Query>, run: &Run) -> Evaluation {
    let tools = query.map(Query::available_tools);
    let converted = convert::of_run(run, &one.name(), tools.clone(), Defects::Mended).ok();
    let details =
        converted.as_ref().and_then(|entry| entry.get("answer")?.get("answer_details").cloned());
    let is_answered = one.run.state == RunState::Answered;
    let answer = run.answer.as_ref().filter(|_| is_answered).map(|answer| match &answer.value {
        Value::Text(text) => text.clone(),
        other => json::write(other, false),
    });
    Evaluation {
        query_id: one.query.clone(),
        query_text: query.map(|query| query.text.clone()).unwrap_or_default(),
        gold: query.map(|query| query.gold.clone()).unwrap_or_default(),
        available_tools: tools.unwrap_or_default(),
        final_answer: Some(answer.unwrap_or_default()),
        answer_details: details.unwrap_or_default(),
        called: None,
        sopr_score: one.sopr.as_ref().map(|given| given.score),
        api_call_score: super::queries::requested_score(&one.run).map(|given| given.score),
        answer_status: one.sopr.as_ref().and_then(|given| status(given.score)).map(str::to_owned),
        has_finish: one.finished,
        evaluation_method: one.sopr.as_ref().map(|given| method(&given.scorer).to_owned()),
        reason: one.sopr.as_ref().map(|given| given.reason.clone()),
        evaluation_time: one.sopr.as_ref().and_then(|given| given.seconds),
        error: None,
    }
}

/// Returns the word for a score; a mean of differing rounds has none.
fn status(score: f64) -> Option<&'static str> {
    let is = |of: f64| (score - of).abs() < f64::EPSILON;
    [(1.0, "Solved"), (0.5, "Unsure"), (0.0, "Unsolved")]
        .into_iter()
        .find(|(of, _)| is(*of))
        .map(|(_, word)| word)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn no_two_files_are_chosen_or_called_the_same() {
        let long = "x".repeat(90);
        let key = |system, model, set| (Key { system, model, set }, Vec::new());
        let files = [
            key("s", "a-b", "G"),
            key("s", "a/b", "G"),
            key("s", "A/b", "G"),
            key("s", "", "t"),
            key("s", "t", ""),
            key(&long, "1", ""),
            key(&long, "2", ""),
        ];
        let told = named(&files.into());
        let unique =
            |word: fn(&Named<'_>) -> String| told.iter().map(word).collect::<HashSet<_>>().len();
        assert_eq!(
            (unique(|one| one.label.clone()), unique(|one| one.file_name.to_lowercase())),
            (7, 7)
        );
        assert!(told.iter().any(|one| one.label == "s/t-2"));
        assert!(told.iter().any(|one| one.file_name == "s-a-b_0queries_G-2.json"));
    }

    #[test]
    fn files_are_named_by_system_queries_and_set() {
        let key = |system, model, set| Key { system, model, set };
        for (key, queries, name, label) in [
            (
                key("tool_calling", "o1", "G1_tool"),
                158,
                "tool_calling-o1_G1_tool.json",
                "tool_calling/o1/G1_tool",
            ),
            (
                key("tool_calling", "o1", "G1_tool"),
                3,
                "tool_calling-o1_3queries_G1_tool.json",
                "tool_calling/o1/G1_tool",
            ),
            (key("a/../b", "x y", ""), 1, "a-..-b-x-y_1queries.json", "a/../b/x y"),
            (key("", "", ".."), 0, "results_0queries_results.json", ".."),
        ] {
            assert_eq!((key.file_name(queries).as_str(), key.label().as_str()), (name, label));
        }
        assert_eq!(
            [1.0, 0.5, 0.0, 0.75].map(status),
            [Some("Solved"), Some("Unsure"), Some("Unsolved"), None]
        );
    }
}
