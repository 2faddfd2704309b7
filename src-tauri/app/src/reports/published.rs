//! Results on query sets of `StableToolBench`, beside published results.
use super::page::Table;
use super::queries::{self, QueryRun, QueryScore};
use super::reporting::{cut_for_preview, noted, redact_report};
use super::{ReportActions, result_file, tables};
use crate::error::{AppError, Code};
use crate::runs::reading::Reading;
use touchstone_api::{FilterError, Published, PublishedRequest, Report, ReportRequest};
use touchstone_clock as clock;
use touchstone_formats::stabletoolbench::Query;
use touchstone_store::index::{IndexError, Reader};
use touchstone_store::query::{Lists, ScoredRun};
use touchstone_store::suites::Tasks;

/// Scorer that decides whether an answer solves its query.
pub(super) const SOPR: &str = "judge:sopr";
const FAC: &str = "judge:fac";

/// Layout of runs that come from a result file.
const RESULT_FILE: &str = "result_file";

impl ReportActions<'_> {
    /// Returns the local results on query sets and the published ones.
    pub fn published(self, request: &PublishedRequest) -> Result<Published, AppError> {
        let open = self.app.require_folder()?;
        let tasks = open.flow.shelf.tasks();
        let here = tasks.all().any(|task| is_query(task));
        let ((runs, misread), generation) = open.ask(|index| {
            let runs = if here {
                runs(index, &open.lists, &tasks, &request.filter, SOPR)?
            } else {
                (Vec::new(), Vec::new())
            };
            Ok((runs, index.generation()))
        })?;
        let own = queries::own_results(&runs);
        let mut notes = Vec::new();
        if here && own.is_empty() {
            notes.push(
                "No run is judged, so there are no own results to compare with these figures. They do not include API call scores."
                    .to_owned(),
            );
        }
        Ok(Published {
            generation,
            here,
            sets: queries::sets(),
            rows: if here { queries::published() } else { Vec::new() },
            own,
            summaries: queries::summaries(&runs),
            notes,
            misread,
        })
    }
}

/// Returns the scorer used for `SoPR`, with a note if the requested one is not suitable.
fn sopr_by(asked: Option<&str>) -> (&str, Option<String>) {
    match asked {
        Some(named) if named.starts_with(SOPR) || named.starts_with("seed_heuristic") => {
            (named, None)
        }
        Some(named) => (
            SOPR,
            Some(format!(
                "`{named}` does not decide whether an answer solves its query; `{SOPR}` is used instead."
            )),
        ),
        None => (SOPR, None),
    }
}

impl ReportActions<'_> {
    /// Returns the report tables for runs of query sets.
    pub(super) fn query_tables(self, request: &ReportRequest) -> Result<Vec<Table>, AppError> {
        let open = self.app.require_folder()?;
        let tasks = open.flow.shelf.tasks();
        if !tasks.all().any(|task| is_query(task)) {
            return Ok(Vec::new());
        }
        let sopr = sopr_by(request.scorer.as_deref()).0;
        let (runs, _) =
            open.ask(|index| runs(index, &open.lists, &tasks, &request.filter, sopr))?;
        // The heuristic is not comparable with the verdicts of judges.
        let own = if sopr.starts_with(SOPR) { queries::own_results(&runs) } else { Vec::new() };
        let published = if request.published { queries::published() } else { Vec::new() };
        Ok(tables(&queries::summaries(&runs), &own, &published))
    }

    /// Returns the result file of one system with one model on one test set: the named one, or the
    /// first.
    pub(super) fn result_file(
        self,
        request: &ReportRequest,
        whole: bool,
    ) -> Result<Report, AppError> {
        let open = self.app.require_folder()?;
        let tasks = open.flow.shelf.tasks();
        let (sopr, mut note) = sopr_by(request.scorer.as_deref());
        let (runs, misread) =
            open.ask(|index| runs(index, &open.lists, &tasks, &request.filter, sopr))?;
        let scorers = open.ask(|index| open.lists.scorers(index))?;
        let of_others = |index: &Reader<'_>| {
            let (all, _) = open.lists.scored(index, &request.filter, None)?;
            Ok(all.iter().filter(|run| run.layout == RESULT_FILE).count())
        };
        let of_others = if runs.is_empty() { open.ask(of_others)? } else { 0 };
        let files = result_file::files(&runs);
        let names = result_file::named(&files);
        let asked = request.baseline.as_deref();
        if let Some(name) = asked.filter(|_| whole) {
            crate::stats::known_baseline(names.iter().map(|one| one.label.clone()), name)?;
        }
        let wanted = names.iter().find(|one| asked == Some(&*one.label)).or(names.first());
        let key = wanted.map(|one| one.key).unwrap_or_default();
        let of_file = files.get(&key).map_or(&[][..], Vec::as_slice);
        let ids: Vec<&str> = of_file.iter().map(|one| one.run.id.as_str()).collect();
        let (mut chosen, mut told, mut unread) = (Vec::new(), Vec::new(), Vec::new());
        for (one, run) in of_file.iter().zip(Reading::all(&open.flow, &ids)) {
            let task = one.run.task.as_deref().and_then(|task| tasks.get(task));
            match run {
                Ok(run) => {
                    chosen.push(*one);
                    told.push((task.and_then(|task| Query::of_task(&task.suite)), run));
                }
                Err(why) => unread
                    .push(format!("Left out, because it cannot be read: {}. {why}", one.run.path)),
            }
        }
        if whole && chosen.is_empty() {
            let why = about(&runs, &chosen, names.len(), of_others)
                .into_iter()
                .chain(some(unread))
                .collect::<Vec<_>>()
                .join(" ");
            return Err(AppError::new(Code::Failed, format!("No result file was written. {why}"))
                .hint("Result files are made from runs of queries, not from other result files."));
        }
        let file =
            result_file::write(key, &clock::format_utc_seconds(clock::now_ms()), &chosen, &told);
        let mut text = file.write();
        // Runs of queries are no sessions of coding agents.
        let counts = redact_report(&mut text, request.redact.unwrap_or(false));
        let (bytes, cut) = cut_for_preview(&mut text, whole);
        let (unreadable, broken) = self.unreadable(&request.filter)?.unzip();
        let notes =
            noted(&misread).chain(note.take()).chain(about(&runs, &chosen, names.len(), of_others));
        let notes = notes.chain(broken).chain(some(unread));
        let notes = notes.chain(counts.map(|counts| counts.describe())).collect();
        Ok(Report {
            bytes,
            cut,
            base64: false,
            text,
            file_name: wanted.map_or_else(|| key.file_name(0), |one| one.file_name.clone()),
            media_type: "application/json".to_owned(),
            baselines: names.iter().map(|one| one.label.clone()).collect(),
            scorers: scorers.into_iter().filter(|name| sopr_by(Some(name)).1.is_none()).collect(),
            queries: !runs.is_empty(),
            runs: chosen.len() as u64,
            notes,
            redacted: counts.map(|counts| counts.total()),
            unreadable: unreadable.unwrap_or(0),
            causes_unread: 0,
            misread,
        })
    }
}

/// Keeps the first notes and adds the number of further ones.
fn some(mut notes: Vec<String>) -> Vec<String> {
    const SHOWN: usize = 20;
    let more = notes.len().saturating_sub(SHOWN);
    notes.truncate(SHOWN);
    notes.extend((more > 0).then(|| format!("And {more} more that cannot be read.")));
    notes
}

/// Returns notes on a result file for the reader.
fn about(runs: &[QueryRun], chosen: &[&QueryRun], files: usize, of_others: usize) -> Vec<String> {
    let mut notes = Vec::new();
    if of_others > 0 {
        notes.push(format!(
            "All runs of queries are already in result files ({of_others}), so there is nothing to write."
        ));
    } else if runs.is_empty() {
        notes.push(
            "No run belongs to a query of StableToolBench, so there is nothing to write."
                .to_owned(),
        );
    }
    if files > 1 {
        notes.push(format!(
            "The runs make {files} files, one for each system, model and test set. This is one of them."
        ));
    }
    let left_out = runs.iter().filter(|run| !run.is_evaluation()).count();
    if left_out > 0 {
        notes.push(format!(
            "Runs that have not ended, or ended in a system error, are in no file: {left_out}."
        ));
    }
    let unjudged = chosen.iter().filter(|run| run.sopr.is_none()).count();
    if unjudged > 0 {
        notes.push(format!(
            "Without a SoPR score: {unjudged} of {}. Their `sopr_score` is left out, and statistics are over the others. Ask a \
             judge, or choose `seed_heuristic`, which is not a judgement.",
            chosen.len()
        ));
    }
    notes
}

/// Returns true if a task is a query.
pub(super) fn is_query(task: &touchstone_store::suites::Task) -> bool {
    task.yardsticks.iter().any(|yardstick| yardstick.offered.is_some())
}

/// Returns the runs of queries that match a filter, ordered by path, with the scores of the scorers
/// used here.
pub(super) fn runs(
    index: &Reader<'_>,
    lists: &Lists,
    tasks: &Tasks,
    filter: &str,
    sopr: &str,
) -> Result<(Vec<QueryRun>, Vec<FilterError>), IndexError> {
    let scorers = lists.scorers(index)?;
    // A workspace file may select the rules of the original: `api_calls: seed`, `finish: official`.
    let by = |rule: &str| {
        let other = scorers
            .iter()
            .find(|name| name.strip_prefix(rule).is_some_and(|more| more.starts_with(": ")));
        let chosen =
            other.filter(|_| scorers.iter().all(|name| name != rule)).map_or(rule, String::as_str);
        lists.scored(index, filter, Some(chosen))
    };
    let details = lists.score_details(index, sopr)?;
    let (runs, misread) = by("api_calls")?;
    let (finish, sopr, fac) = (by("finish")?.0, by(sopr)?.0, by(FAC)?.0);
    let said = |all: &[ScoredRun], at: usize| -> Option<QueryScore> {
        queries::requested_score(all.get(at)?)
    };
    let judged = |given: QueryScore, run: &str| {
        let value = |name: &str| {
            details.get(run)?.iter().find(|detail| detail.name == name).map(|it| it.value.clone())
        };
        QueryScore {
            model: value("model"),
            // A scorer without a judge waits for nobody, which is known and not missing.
            seconds: if given.scorer.starts_with(SOPR) {
                value("seconds").and_then(|text| text.parse().ok())
            } else {
                Some(0.0)
            },
            ..given
        }
    };
    let is_query = |run: &ScoredRun| {
        run.task.as_deref().and_then(|task| tasks.get(task)).is_some_and(|it| is_query(it))
    };
    // An entry of a result file whose run is here as well would count twice.
    let is_known = |run: &ScoredRun| run.layout != RESULT_FILE && is_query(run);
    let of = |(at, run): (usize, ScoredRun)| {
        let (set, query) = queries::set_and_id(run.task.as_deref()?);
        Some(QueryRun {
            set: set.to_owned(),
            query: query.to_owned(),
            finished: said(&finish, at).map(|given| given.score > 0.5),
            sopr: said(&sopr, at).map(|given| judged(given, &run.id)),
            fac: said(&fac, at),
            run,
        })
    };
    let known = runs.into_iter().enumerate().filter(|(_, run)| is_known(run));
    Ok((known.filter_map(of).collect(), misread))
}
