//! Problems with the files of the open folder, paginated, worst first: suites from memory, runs
//! from the index.
use super::FolderActions;
use crate::error::AppError;
use crate::judging::judged_runs::passing;
use crate::{OpenFolder, paths};
use rusqlite::params;
use std::collections::BTreeSet;
use std::sync::Arc;
use touchstone_api::{Problem, ProblemKind, ProblemPage, RunState, Span};
use touchstone_scoring::scorers;
use touchstone_store::index::{IndexError, Reader};
use touchstone_store::reviews;
use touchstone_store::roots::{FileId, Root};
use touchstone_store::segments::FOLDER;
use touchstone_store::suites::{Task, Tasks};

/// Maximum length of a page.
const MOST: u32 = 500;
/// Maximum number of suite problems listed; further ones are only counted.
const TOLD: usize = 20;

/// Problems of suites that affect scores.
#[derive(Debug, Clone, PartialEq, Eq, Default)]
pub struct SuiteProblems {
    /// One line per problem, worst first.
    pub lines: Vec<String>,
    /// Problems of files without any readable task, and of the workspace file.
    pub unreadable: Vec<String>,
    /// Number of files and folders without any readable task.
    pub files_not_read: usize,
    /// Number of unreadable suites, plus one for an unreadable workspace file. Their runs have
    /// no score.
    pub unread: usize,
    /// True if some scorers were omitted or changed because of errors in their definition.
    pub scorers: bool,
    /// The first omitted scorer, as a sentence: nothing is measured in its place.
    pub left_out: Option<String>,
}

impl FolderActions<'_> {
    /// Returns the problems of the workspace file and of the suites of the runs that match the
    /// filter; an empty filter means every suite.
    pub fn suite_trouble(self, filter: &str) -> Result<SuiteProblems, AppError> {
        let open = self.app.require_folder()?;
        let of_suites = open.flow.shelf.problems();
        let of_workspace = open.workspace_problems();
        if of_suites.is_empty() && of_workspace.is_empty() {
            return Ok(SuiteProblems::default());
        }
        let tasks = open.flow.shelf.tasks();
        let asked = if filter.trim().is_empty() {
            None
        } else {
            Some(RequestedSuites::for_filter(&open, &tasks, filter)?)
        };
        let is_asked = |problem: &&Problem| asked.as_ref().is_none_or(|asked| asked.means(problem));
        let mut all: Vec<&Problem> =
            of_workspace.iter().chain(of_suites.iter().filter(is_asked)).collect();
        all.sort_by_key(|problem| problem.kind);
        let mut lines: Vec<String> =
            all.iter().take(TOLD).map(|problem| problem.to_line()).collect();
        if all.len() > TOLD {
            lines.push(format!("And {} more problems with suites.", all.len() - TOLD));
        }
        // A suite with tasks was read, even if its scorers have errors.
        let read: BTreeSet<String> =
            tasks.all().map(|task| open.flow.roots.display_path(&task.file)).collect();
        let is_unread = |problem: &&Problem| !read.contains(&problem.file) && is_asked(problem);
        let cannot_be_read =
            |problem: &&Problem| problem.kind == ProblemKind::SuiteError && is_unread(problem);
        // These include folders and files that only look like tasks.
        let not_read: BTreeSet<&str> =
            of_suites.iter().filter(is_unread).map(|problem| problem.file.as_str()).collect();
        let files_not_read = not_read.len();
        let unreadable = of_workspace.iter().chain(of_suites.iter().filter(is_unread));
        let unreadable = unreadable.map(Problem::to_line).collect();
        let workspace = matches!(paths::workspace(&open.flow.roots.folder), Some(Err(_)));
        let unread = of_suites.iter().filter(cannot_be_read).count() + usize::from(workspace);
        let is_meant = |task: &&Arc<Task>| {
            asked.as_ref().is_none_or(|asked| asked.tasks.contains(&task.suite.id))
        };
        // Queries name no scorers of their own; those of the workspace file apply to all of them.
        let own = tasks.all().filter(is_meant).filter(|task| task.suite.query.is_none());
        let own = own.map(|task| task.suite.scorers.as_slice());
        let of_queries =
            asked.is_none() || tasks.all().filter(is_meant).any(|task| task.suite.query.is_some());
        let settings = open.flow.shelf.settings();
        let of_queries = of_queries.then_some(settings.query_scorers.as_slice());
        let complaints: Vec<_> = own.chain(of_queries).flat_map(scorers::complaints).collect();
        let left_out = complaints
            .iter()
            .find(|complaint| complaint.left_out)
            .map(|complaint| complaint.message.clone());
        let scorers = !complaints.is_empty();
        Ok(SuiteProblems { lines, unreadable, files_not_read, unread, scorers, left_out })
    }

    /// Returns a page of problems.
    pub fn problems(self, span: Span) -> Result<ProblemPage, AppError> {
        let open = self.app.require_folder()?;
        let index = &open.flow.index;
        let reader = index.reader()?;
        Ok(index.trust(page(&open, &reader, span))?)
    }
}

/// The suites of some runs.
struct RequestedSuites {
    /// Ids of their tasks.
    tasks: BTreeSet<String>,
    /// Their files.
    files: BTreeSet<String>,
    /// Error messages of those that cannot be read.
    broken: BTreeSet<String>,
}

impl RequestedSuites {
    fn for_filter(open: &OpenFolder, tasks: &Tasks, filter: &str) -> Result<Self, AppError> {
        let names: BTreeSet<String> =
            passing(open, filter)?.into_iter().filter_map(|row| row.task).collect();
        let known = || names.iter().filter_map(|name| tasks.get(name));
        Ok(Self {
            files: known().map(|task| open.flow.roots.display_path(&task.file)).collect(),
            broken: names.iter().filter_map(|name| tasks.broken.get(name).cloned()).collect(),
            tasks: known().map(|task| task.suite.id.clone()).collect(),
        })
    }

    fn means(&self, problem: &Problem) -> bool {
        self.files.contains(&problem.file) || self.broken.contains(&problem.to_line())
    }
}

fn page(open: &OpenFolder, reader: &Reader<'_>, span: Span) -> Result<ProblemPage, IndexError> {
    let of_suites = open.flow.shelf.problems();
    let of_workspace = open.workspace_problems();
    let suites = of_workspace.iter().chain(of_suites.iter()).cloned();
    let not_copied = open.bucket_problems();
    let (errors, warnings): (Vec<_>, Vec<_>) =
        suites.partition(|p| p.kind == ProblemKind::SuiteError);
    let damaged = Listed {
        state: RunState::Damaged,
        kind: ProblemKind::Damaged,
        count: count(reader, RunState::Damaged)?,
    };
    let other = Listed {
        state: RunState::Other,
        kind: ProblemKind::NotTranscript,
        count: count(reader, RunState::Other)?,
    };
    let of_reviews = reviews::problems(reader, &open.flow.roots)?;
    let of_segments = segment_problems(open);
    let total = errors.len() as u64
        + of_segments.len() as u64
        + damaged.count
        + of_reviews.len() as u64
        + not_copied.len() as u64
        + warnings.len() as u64
        + other.count;
    let mut window = Window {
        skip: u64::from(span.offset),
        take: u64::from(span.limit.min(MOST)),
        problems: Vec::new(),
    };
    window.push_problems(errors);
    window.push_runs(open, reader, &damaged)?;
    window.push_problems(of_segments);
    window.push_problems(of_reviews);
    window.push_problems(not_copied);
    window.push_problems(warnings);
    window.push_runs(open, reader, &other)?;
    Ok(ProblemPage { total, no_runs: other.count, problems: window.problems })
}

/// Returns the segments that are not used, and the claims that the files did not agree with.
fn segment_problems(open: &OpenFolder) -> Vec<Problem> {
    let segments = open.flow.live.now().segments;
    let problem = |file: String, run: Option<String>, message: String, advice: &str| Problem {
        kind: ProblemKind::Segment,
        file,
        run,
        message,
        line: None,
        column: None,
        excerpt: None,
        advice: Some(advice.to_owned()),
    };
    let display =
        |path: &str| open.flow.roots.display_path(&FileId::new(Root::Output, path.as_bytes()));
    let refused = segments.refused.iter().map(|refused| {
        let file = display(&format!("{FOLDER}/{}", refused.name));
        let message = format!("The segment is not used: {}", refused.why);
        let advice = "The runs are read from their files. Delete it; `touchstone segments write` \
                      writes a new one.";
        problem(file, None, message, advice)
    });
    let wrong = segments.wrong_claims.iter().map(|(path, what)| {
        let file = FileId::new(Root::Output, path.as_bytes());
        let message = format!("A segment claimed otherwise than the file says: {what}.");
        let advice =
            "What the file says is shown. Whoever changed the file kept its size and time.";
        problem(display(path), Some(touchstone_store::run_id(&file)), message, advice)
    });
    refused.chain(wrong).collect()
}

/// Runs of one state, listed as problems of one kind.
struct Listed {
    state: RunState,
    kind: ProblemKind,
    count: u64,
}

/// A window of several concatenated lists.
struct Window {
    skip: u64,
    take: u64,
    problems: Vec<Problem>,
}

impl Window {
    fn push_problems(&mut self, list: Vec<Problem>) {
        let skip = usize::try_from(self.skip).unwrap_or(usize::MAX);
        let take = usize::try_from(self.take).unwrap_or(usize::MAX);
        self.pass(list.len() as u64, list.into_iter().skip(skip).take(take).collect());
    }

    fn push_runs(
        &mut self,
        open: &OpenFolder,
        reader: &Reader<'_>,
        list: &Listed,
    ) -> Result<(), IndexError> {
        let wanted = self.take > 0 && self.skip < list.count;
        let found =
            if wanted { rows(open, reader, list, (self.skip, self.take))? } else { Vec::new() };
        self.pass(list.count, found);
        Ok(())
    }

    fn pass(&mut self, len: u64, found: Vec<Problem>) {
        self.skip = self.skip.saturating_sub(len);
        self.take -= found.len() as u64;
        self.problems.extend(found);
    }
}

fn count(reader: &Reader<'_>, state: RunState) -> Result<u64, IndexError> {
    let text = "SELECT count(*) FROM runs WHERE state_order = ?";
    let count: i64 = reader.prepare_cached(text)?.query_row([state as u8], |row| row.get(0))?;
    Ok(count.unsigned_abs())
}

fn rows(
    open: &OpenFolder,
    reader: &Reader<'_>,
    list: &Listed,
    (skip, take): (u64, u64),
) -> Result<Vec<Problem>, IndexError> {
    let text = "SELECT key, path, reason, line, col, excerpt, advice FROM runs
                WHERE state_order = ? ORDER BY path LIMIT ? OFFSET ?";
    let mut select = reader.prepare_cached(text)?;
    let found = select.query_map(
        params![list.state as u8, take.cast_signed(), skip.cast_signed()],
        |row| {
            let file = FileId::new(Root::Output, row.get::<_, String>(1)?);
            Ok(Problem {
                kind: list.kind,
                file: open.flow.roots.display_path(&file),
                // A file that is no run is nothing to open.
                run: (list.state != RunState::Other).then(|| row.get(0)).transpose()?,
                message: row.get::<_, Option<String>>(2)?.unwrap_or_default(),
                line: row.get(3)?,
                column: row.get(4)?,
                excerpt: row.get(5)?,
                advice: row.get(6)?,
            })
        },
    )?;
    Ok(found.collect::<Result<_, _>>()?)
}
