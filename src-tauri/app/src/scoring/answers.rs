//! Scores `StableToolBench` answers in files against query sets. Needs no open folder and stores
//! nothing.
use crate::error::{AppError, Code};
use fs_err as fs;
use serde::Serialize;
use std::collections::BTreeMap;
use std::io::Read as _;
use std::path::{Path, PathBuf};
use touchstone_formats::stabletoolbench::answers::{self, convert, details};
use touchstone_formats::stabletoolbench::filter::{self, Ids};
use touchstone_formats::stabletoolbench::{Query, ResultFile, read_api_name};
use touchstone_formats::suite;
use touchstone_judges::stabletoolbench::{
    ApiCalls, Called, Evaluation, Finish, FinishRule, HeuristicVerdict, Offered, Returned, Summary,
    literal, literal_names,
};
use touchstone_model::json;
use touchstone_model::run::ApiName;
use touchstone_model::value::Value;

/// Maximum size of a file that is read.
const MOST: u64 = 512 << 20;

/// Scores of the answers in files.
#[derive(Debug, Clone, PartialEq, Serialize)]
pub struct AnswerScores {
    /// One entry per answer, in the order of the files.
    pub answers: Vec<AnswerScore>,
    /// Number of distinct queries.
    pub total_queries: u64,
    /// Number of scored answers.
    pub total_evaluations: u64,
    /// Number of empty answers.
    pub without_answer: u64,
    /// Number of queries of the given sets without an answer here.
    pub queries_missing: u64,
    /// Number of answers to queries that `test_query_ids` beside the sets excludes. No other number
    /// counts them.
    pub left_out: u64,
    /// Number of finished answers, by the rule of this program.
    pub finish_count: u64,
    /// Mean API call score, with its 95 % interval in `low` and `high`.
    pub average_api_call_score: Option<f64>,
    /// Lower bound.
    pub low: Option<f64>,
    /// Upper bound.
    pub high: Option<f64>,
    /// `seed` if calls were counted by the rules of the original.
    pub compat: Option<&'static str>,
    /// Notes for the reader.
    pub notes: Vec<String>,
}

/// Scores of one answer.
#[derive(Debug, Clone, PartialEq, Serialize)]
pub struct AnswerScore {
    /// File that holds the answer.
    pub file: String,
    /// Id of its query.
    pub query_id: String,
    /// Test set, if the query is known.
    pub test_set: Option<String>,
    /// Share of gold APIs that were called; `None` if the gold APIs are unknown.
    pub api_call_score: Option<f64>,
    /// Share if every API that a shared name stands for counted as called.
    pub api_call_score_any: Option<f64>,
    /// True if a call stands for several APIs and some of them are gold.
    pub ambiguous: bool,
    /// Gold APIs that were called, as `[tool, API]`.
    pub hits: Vec<[String; 2]>,
    /// Gold APIs that were not called.
    pub missing: Vec<[String; 2]>,
    /// Other APIs of the query that were called.
    pub extra: Vec<[String; 2]>,
    /// Called names that match no API of the query.
    pub unknown: Vec<String>,
    /// Finish result by each rule.
    pub finish: FinishByRule,
    /// `give_answer` or `give_up_and_restart`; `None` if not recorded.
    pub return_type: Option<&'static str>,
    /// True if the answer is not empty.
    pub answered: bool,
    /// Fallback verdict of the original document without a judge. It is not a judgement.
    pub seed_heuristic: &'static str,
}

/// Finish result of an answer by each rule.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Serialize)]
#[expect(clippy::struct_excessive_bools, reason = "each rule says yes or no")]
pub struct FinishByRule {
    /// `Finish` was called anywhere, with an answer.
    pub ours: bool,
    /// `Finish` was the last tool call.
    pub official: bool,
    /// `Finish` was called anywhere.
    pub document: bool,
    /// Always false: the original looks in the wrong place.
    pub seed: bool,
}

/// A parsed answer.
struct Read {
    id: String,
    details: Value,
    /// Called APIs, if the file lists them.
    called: Option<Vec<ApiName>>,
    answer: Value,
    /// Gold APIs, if the file lists them.
    gold: Vec<ApiName>,
}

/// Scores the answers of files: raw answers, converted answers or result files. With `seed`, counts
/// calls by the rules of the original. Fails if a file or the query sets cannot be read.
pub fn score_answers(
    files: &[PathBuf],
    queries: &Path,
    seed: bool,
) -> Result<AnswerScores, AppError> {
    let (known, others) = read_queries(queries)?;
    let mut left_out = 0;
    let mut notes = Vec::new();
    let mut scored = Vec::new();
    for file in files {
        let shown = file.display().to_string();
        for one in read_answers(file)? {
            if others.contains_key(&one.id) {
                left_out += 1;
                continue;
            }
            match score(&one, known.get(&one.id), &shown, seed) {
                Some(score) => scored.push(score),
                None => notes.push(format!(
                    "{shown}: query {} is not in any set of {}.",
                    one.id,
                    queries.display()
                )),
            }
        }
    }
    let evaluations: Vec<Evaluation<'_>> = scored
        .iter()
        .map(|one| Evaluation {
            query: &one.query_id,
            api_calls: one.api_call_score,
            finished: Some(one.finish.ours),
            answered: one.answered,
            ..Evaluation::default()
        })
        .collect();
    let of = Summary::from_evaluations(&evaluations);
    let missing = known.keys().filter(|id| scored.iter().all(|one| one.query_id != **id)).count();
    let mean = of.api_calls;
    let ends = mean.and_then(|mean| mean.interval);
    Ok(AnswerScores {
        total_queries: of.queries,
        total_evaluations: of.evaluations,
        without_answer: of.evaluations - of.answered,
        queries_missing: missing as u64,
        left_out,
        finish_count: of.finished.map_or(0, |share| share.passed),
        average_api_call_score: mean.map(|mean| mean.value),
        low: ends.map(|ends| ends.low.max(0.0)),
        high: ends.map(|ends| ends.high.min(1.0)),
        compat: seed.then_some("seed"),
        answers: scored,
        notes,
    })
}

fn score(one: &Read, query: Option<&Query>, file: &str, seed: bool) -> Option<AnswerScore> {
    let offered = match query {
        Some(query) => Offered::from_query(query),
        None if one.gold.is_empty() => return None,
        None => Offered::from_query(&Query { gold: one.gold.clone(), ..Query::default() }),
    };
    let calls = details::calls(&one.details);
    let names = calls.iter().map(|(call, _)| Called::Name(&call.name));
    let counts = match &one.called {
        Some(pairs) => ApiCalls::count(&offered, pairs.iter().map(Called::Pair)),
        None => ApiCalls::count(&offered, names),
    };
    let finish = Finish::of_details(&one.details);
    let as_the_original =
        || literal(&offered, literal_names(&one.details).iter().map(String::as_str));
    let score = if seed { Some(as_the_original()) } else { counts.score() };
    let answer = match answers::finish::final_answer(&one.answer) {
        answers::Finish::Answer(Value::Text(text)) => text,
        answers::Finish::Answer(other) => json::write(&other, false),
        answers::Finish::GaveUp | answers::Finish::Nothing => String::new(),
    };
    let rule = if seed { FinishRule::Seed } else { FinishRule::Ours };
    let likely = HeuristicVerdict::estimate(&answer, finish.holds(rule), score.unwrap_or(0.0));
    let pairs = |pairs: &[ApiName]| {
        pairs.iter().map(|pair| [pair.tool.clone(), pair.api.clone()]).collect()
    };
    Some(AnswerScore {
        file: file.to_owned(),
        query_id: one.id.clone(),
        test_set: query.and_then(|query| query.set.clone()),
        api_call_score: score,
        api_call_score_any: if seed { score } else { counts.at_most() },
        ambiguous: counts.ambiguous,
        hits: pairs(&counts.hits),
        missing: pairs(&counts.missing),
        extra: pairs(&counts.extra),
        unknown: counts.unknown.clone(),
        finish: FinishByRule {
            ours: finish.holds(FinishRule::Ours),
            official: finish.holds(FinishRule::Official),
            document: finish.holds(FinishRule::Document),
            seed: finish.holds(FinishRule::Seed),
        },
        return_type: finish.returned.map(|returned| match returned {
            Returned::Answer => "give_answer",
            Returned::GaveUp => "give_up_and_restart",
        }),
        answered: !answer.trim().is_empty(),
        seed_heuristic: likely.name(),
    })
}

/// Queries by id: included ones and excluded ones.
pub(super) type Queries = (BTreeMap<String, Query>, BTreeMap<String, Query>);

/// Reads the query sets in a folder or in its `test_instruction`. If a file of `test_query_ids`
/// lies beside a set, the queries that it does not list are excluded.
pub(crate) fn read_queries(dir: &Path) -> Result<Queries, AppError> {
    let (mut known, mut others) = (BTreeMap::new(), BTreeMap::new());
    let mut files: Vec<PathBuf> = Vec::new();
    for dir in [dir.to_owned(), dir.join("test_instruction")] {
        let Ok(entries) = fs::read_dir(&dir) else { continue };
        files.extend(entries.filter_map(|entry| Some(entry.ok()?.path())));
    }
    files.retain(|file| file.extension().is_some_and(|end| end.eq_ignore_ascii_case("json")));
    files.sort();
    for file in files {
        let set = file.file_stem().unwrap_or_default().to_string_lossy().into_owned();
        let bytes = bytes(&file)?;
        // Other JSON files lie beside the sets: lists of ids.
        let Some(read) =
            std::str::from_utf8(&bytes).ok().and_then(|text| suite::read(text, &set).ok())
        else {
            continue;
        };
        let ids = ids_beside(&file)?;
        for query in read.tasks.iter().filter_map(Query::of_task) {
            let queries = if ids.admit(&query.id) { &mut known } else { &mut others };
            queries.insert(query.id.clone(), query);
        }
    }
    // A query in two sets is included if one of them includes it.
    others.retain(|id, _| !known.contains_key(id));
    if known.is_empty() && others.is_empty() {
        let message = format!("There is no query set in {}.", dir.display());
        return Err(AppError::new(Code::BadRequest, message)
            .hint("Pass --queries with the folder `test_instruction`, or with the folder that contains it."));
    }
    Ok((known, others))
}

/// Returns the ids of a set that are included; without a file of ids, all.
fn ids_beside(set: &Path) -> Result<Ids, AppError> {
    let whole = fs::canonicalize(set).unwrap_or_else(|_| set.to_owned());
    let Some(beside) =
        whole.to_str().map(|set| set.replace('\\', "/")).and_then(|set| filter::beside(&set))
    else {
        return Ok(Ids::default());
    };
    let file = whole.parent().unwrap_or(Path::new("")).join(beside);
    if !file.is_file() {
        return Ok(Ids::default());
    }
    let bytes = bytes(&file)?;
    Ids::read(&String::from_utf8_lossy(&bytes)).map_err(|why| {
        let message = format!("{} could not be read: {why}", file.display());
        AppError::new(Code::BadRequest, message).hint(
            "Write ids as `{\"588\": 0}` or as `[588]`, or remove the file to use all queries.",
        )
    })
}

fn read_answers(file: &Path) -> Result<Vec<Read>, AppError> {
    let bytes = bytes(file)?;
    if let Ok(results) = ResultFile::read(&bytes) {
        let read = |one: touchstone_formats::stabletoolbench::results::Evaluation| Read {
            id: one.query_id,
            details: one.answer_details,
            called: one.called,
            answer: one.final_answer.as_deref().map(Value::from).unwrap_or_default(),
            gold: one.gold,
        };
        return Ok(results.evaluations().map(read).collect());
    }
    let name = file.file_name().unwrap_or_default().to_string_lossy().into_owned();
    let unread = |why: String| {
        let message = format!("{} could not be read: {why}", file.display());
        AppError::new(Code::BadRequest, message)
            .hint("Name raw answers, converted answers or result files.")
    };
    let text =
        std::str::from_utf8(&bytes).map_err(|_| unread("it is not UTF-8 text.".to_owned()))?;
    let root = json::read_python(text).map_err(|why| unread(why.to_string()))?;
    if root.get("answer_generation").is_some() {
        let made = convert::raw(&bytes, "", convert::Defects::Mended)
            .map_err(|why| unread(why.to_string()))?;
        return Ok(vec![of_entry(convert::id(name.trim_end_matches(".json")), &made.entry)]);
    }
    let is_entry =
        |value: &Value| value.get("answer").or_else(|| value.get("answer_details")).is_some();
    let entries: Vec<Read> = root
        .entries()
        .iter()
        .filter(|(_, value)| is_entry(value))
        .filter_map(|(id, value)| Some(of_entry(id.text()?, value)))
        .collect();
    if entries.is_empty() { Err(unread("it holds no answers.".to_owned())) } else { Ok(entries) }
}

/// Reads `{query, available_tools, answer}`, or the inner object alone.
fn of_entry(id: &str, entry: &Value) -> Read {
    let answer =
        entry.get("answer").filter(|answer| matches!(answer, Value::Map(_))).unwrap_or(entry);
    let part = |key: &str| answer.get(key).cloned().unwrap_or_default();
    let called = answer
        .get("called_apis")
        .map(|called| called.items().iter().filter_map(read_api_name).collect());
    Read {
        id: id.to_owned(),
        details: part("answer_details"),
        called,
        answer: part("final_answer"),
        gold: Vec::new(),
    }
}

fn bytes(file: &Path) -> Result<Vec<u8>, AppError> {
    let unread = |why: std::io::Error| {
        AppError::new(Code::BadRequest, format!("A file could not be read: {why}."))
    };
    let opened = fs::File::open(file).map_err(unread)?;
    let mut bytes = Vec::new();
    let read = opened.take(MOST + 1).read_to_end(&mut bytes).map_err(unread)?;
    if read as u64 > MOST {
        let message = format!("{} is larger than the limit of {} MB.", file.display(), MOST >> 20);
        return Err(AppError::new(Code::BadRequest, message));
    }
    Ok(bytes)
}
