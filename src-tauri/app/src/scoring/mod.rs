//! Scores of runs: stored scores, and scorers that only run on request.
pub mod answers;
pub mod metrics;
mod programs;
pub mod stabletoolbench;

use crate::App;
use crate::error::{AppError, Code};
use programs::ProgramResults;
use std::time::Duration;
use touchstone_api::{
    Column, FailureClass, FilterError, Lineage, ListRequest, RunRow, RunScore, RunScores, RunState,
    Sort, Span, describe_excluded_forks,
};
use touchstone_model::yaml;
use touchstone_scoring::scorers::{self, Scorer};
use touchstone_store::scoring::measure::ScoringKey;
use touchstone_store::scoring::pending_requests::awaited;
use touchstone_store::scoring::read;
use touchstone_store::suites::Tasks;

/// The actions on scores.
#[derive(Clone, Copy)]
pub struct ScoringActions<'a> {
    pub(crate) app: &'a App,
}

/// Number of runs read from the index at once.
const PAGE: u32 = 500;

/// Number of programs run before their results are stored.
const QUESTIONS: usize = 16;

/// Maximum time for storing results.
const PATIENCE: Duration = Duration::from_mins(1);

/// Scores of a run, for the command line.
#[derive(Debug, Clone, PartialEq)]
pub struct FileScores {
    /// File, relative to the output directory.
    pub path: String,
    /// Final state of the run.
    pub state: RunState,
    /// Set for forks and for runs continued by a person.
    pub lineage: Option<Lineage>,
    /// Failure class, if there is one, according to the first scorer.
    pub class: Option<FailureClass>,
    /// One score per scorer; empty if the task is unknown or has no expected output.
    pub scores: Vec<RunScore>,
    /// Reason why there are none.
    pub nothing: Option<String>,
    /// True if the suite names a file with the expected output that cannot be read.
    pub expected_unread: bool,
}

impl ScoringActions<'_> {
    /// Returns a sentence with the number of runs that match a filter but are not counted, because
    /// they are forks or were continued by a person.
    pub fn forks_left_out(self, filter: &str) -> Result<Option<String>, AppError> {
        let open = self.app.require_folder()?;
        Ok(describe_excluded_forks(open.ask(|index| open.lists.forks_left_out(index, filter))?))
    }

    /// Returns the scores, reviews, judgements and stored verdicts of a run.
    pub fn run_scores(self, id: &str) -> Result<RunScores, AppError> {
        self.run_scores_for(id, None)
    }

    /// Like [`Self::run_scores`], for a person with this name instead of that of the settings.
    pub fn run_scores_for(self, id: &str, author: Option<&str>) -> Result<RunScores, AppError> {
        let open = self.app.require_folder()?;
        let scores = open.ask(|index| read::scores(index, &open.flow.shelf.tasks(), id))?;
        let mut scores =
            scores.ok_or_else(|| AppError::new(Code::NotFound, "This run no longer exists."))?;
        let reviews = self.app.reviews().reviews_of(id, author)?;
        self.app.judging().explain_unjudgeable(id, &mut scores.scores)?;
        scores.review = reviews.own;
        scores.others = reviews.others;
        scores.notes.extend(reviews.problem);
        let (judged, note) = self.app.judging().judged(id)?;
        scores.judged = judged;
        scores.notes.extend(note);
        let (stored, note) = open.reading.stored(&open.flow, id).unwrap_or_default();
        scores.stored = stored;
        scores.notes.extend(note);
        Ok(scores)
    }

    /// Runs the scorers that are programs, for the runs that match a filter and wait for them, and
    /// again where one failed. Forks and continued runs are omitted unless the filter names them,
    /// as in statistics: a program takes time. Returns the number of results. Runs with equal
    /// answers to equal tasks share one.
    pub fn run_scorers(self, filter: &str) -> Result<u64, AppError> {
        let open = self.app.require_folder()?;
        let tasks = open.flow.shelf.tasks();
        let (mut done, mut after) = (0, None);
        loop {
            let (asked, next) = open.ask(|index| {
                let wanted = open.lists.runs_that_count(index, filter)?;
                awaited(index, (&tasks, &open.flow.roots), &wanted, after, QUESTIONS)
            })?;
            let ProgramResults { kept, trouble } = self.ask_programs(&open, &asked)?;
            done += kept.len() as u64;
            if !kept.is_empty() && !open.flow.keep_scores(kept, PATIENCE) {
                return Err(AppError::new(
                    Code::Failed,
                    "The results of the scorers could not be saved.",
                )
                .hint("Try again."));
            }
            if let Some(trouble) = trouble {
                return Err(trouble);
            }
            if next.is_none() {
                return Ok(done);
            }
            after = next;
        }
    }

    /// Calls `each` with the scores of every run that matches a filter, by path: of the scorers of
    /// its task or, if some are named, of those. Forks and continued runs are omitted unless the
    /// filter names them. Returns the misread tokens of the filter.
    pub fn each_scores<E: From<AppError>>(
        self,
        filter: &str,
        named: &[String],
        mut each: impl FnMut(FileScores) -> Result<(), E>,
    ) -> Result<Vec<FilterError>, E> {
        let asked = named_scorers(named)?;
        let open = self.app.require_folder()?;
        let tasks = open.flow.shelf.tasks();
        let sort = Sort { column: Column::Path, descending: false };
        let mut offset = 0;
        loop {
            let request = ListRequest {
                filter: filter.to_owned(),
                sort: sort.clone(),
                span: Span { offset, limit: PAGE },
            };
            let (page, all) = open.ask(|index| {
                let page = open.lists.list_counted(index, &request)?;
                let mut texts = None;
                let mut all = Vec::with_capacity(page.rows.len());
                for row in &page.rows {
                    let known = read::scores(index, &tasks, &row.id)?;
                    let (mut scores, notes) =
                        known.map(|known| (known.scores, known.notes)).unwrap_or_default();
                    let mut class = row.class;
                    if let Some(asked) = &asked {
                        let measured =
                            read::measured_by(index, &tasks, &row.id, asked, &mut texts)?;
                        class = measured.first().map_or(class, |first| first.class);
                        scores = measured.into_iter().map(|score| score.says).collect();
                    }
                    let nothing = notes.into_iter().next().filter(|_| scores.is_empty());
                    all.push((scores, class, nothing));
                }
                Ok((page, all))
            })?;
            if page.rows.is_empty() {
                return Ok(page.misread);
            }
            for (row, (scores, class, nothing)) in page.rows.into_iter().zip(all) {
                let expected_unread = is_expected_unread(&tasks, &row);
                let RunRow { path, state, lineage, .. } = row;
                each(FileScores { path, state, lineage, class, scores, nothing, expected_unread })?;
            }
            offset += PAGE;
        }
    }
}

fn is_expected_unread(tasks: &Tasks, row: &RunRow) -> bool {
    let name = row.variation_name.as_deref().filter(|_| row.variation.is_none());
    let (task, variation) = (row.task.as_deref(), row.variation);
    let place = ScoringKey { task, variation, variation_name: name, ..ScoringKey::default() };
    place.against(tasks).is_some_and(|against| against.yardstick.trouble.is_some())
}

/// Parses scorers in the syntax of suites: `kendall_tau`, `text: f1`, `numeric: { cutoff: 5 }`;
/// `None` if none is named.
fn named_scorers(named: &[String]) -> Result<Option<Vec<Scorer>>, AppError> {
    let unread = |name: &str, why: &str| {
        AppError::new(Code::BadRequest, format!("The scorer “{name}” could not be read: {why}"))
            .hint("Write it as in a suite: --scorer kendall_tau, --scorer \"text: f1\".")
    };
    let mut all: Vec<Scorer> = Vec::new();
    for name in named {
        let value = yaml::read(name).map_err(|error| unread(name, &error.message))?;
        let (scorers, warnings) = scorers::read(&[value]);
        if let Some(warning) = warnings.first() {
            return Err(unread(name, warning));
        }
        all.extend(
            scorers
                .into_iter()
                .filter(|scorer| all.iter().all(|other| other.name() != scorer.name()))
                .collect::<Vec<_>>(),
        );
    }
    Ok((!named.is_empty()).then_some(all))
}
