//! Starts evaluations of data files and lists the options. The estimate is in `plan`, running
//! evaluations are in `evaluations`.
mod models;
mod plan;
mod rows;
mod unfinished;

use super::EvaluationActions;
use super::data_files::{FoundFile, named, table};
use super::evaluations::{Asking, Job, Work};
use super::job::available::{evaluators, switches};
use super::job::evaluation_spec::EvaluationSpec;
use super::job::parse_evaluators;
use super::job::row_inputs::RowInputs;
use crate::OpenFolder;
use crate::error::{AppError, Code};
use models::ModelSetup;
use std::path::{Path, PathBuf};
use std::sync::Arc;
use touchstone_api::{
    Blocker, EvaluateAgain, EvaluateOptions, EvaluateRequest, Evaluating, EvaluatorRequest,
};
use touchstone_judges::azure::{QUIRKS, Table};
use touchstone_runner::evaluations::{
    EvaluationFiles, OutputFile, ReplyRetention, describe_lock_error, output_file_from_path,
};
use touchstone_runner::launch::RunEventSender;
use touchstone_runner::setup::Rules;
use touchstone_store::roots::{FileId, Root};
use touchstone_store::{filter, open};

/// Folder of the results of the page, in the output directory.
const FOLDER: &str = "evaluations";

/// Maximum size of a file with evaluators.
const LARGEST_CONFIG: u64 = 4 << 20;

/// Maximum bytes of a file name. Most file systems refuse longer ones once suffixes are added.
const LONGEST_NAME: usize = 120;

/// Request of the command line, which may name any file and a target program.
#[derive(Debug, Clone, Default)]
pub struct FileRequest {
    /// The data file.
    pub data: PathBuf,
    /// The file of evaluators, if there is one. It is never overwritten.
    pub config: Option<PathBuf>,
    /// File for the results; `None` writes none.
    pub out: Option<PathBuf>,
    /// Target program and arguments, called for each row; empty for none.
    pub target: Vec<String>,
    /// Default mappings for inputs that an evaluator does not map itself.
    pub usual: Vec<(String, String)>,
    /// All other options; its `data` and `out` are ignored.
    pub request: EvaluateRequest,
}

/// Reads the evaluators from a file and from a list of kinds, with their input mappings. Also
/// returns the mappings shared by all.
pub fn typed_evaluators(
    config: Option<&Path>,
    kinds: &[String],
    mappings: &[String],
) -> Result<(Vec<EvaluatorRequest>, parse_evaluators::Pairs), AppError> {
    let (mut all, mut usual) =
        (parse_evaluators::from_kinds(kinds), parse_evaluators::Pairs::new());
    if let Some(path) = config {
        let failed = |why: String| bad(format!("{} cannot be used: {why}", path.display()));
        let found = named(path)?;
        if found.file.size > LARGEST_CONFIG {
            return Err(failed(format!("it is larger than the limit of {LARGEST_CONFIG} bytes.")));
        }
        let text = fs_err::read_to_string(path)
            .map_err(|why| failed(format!("{}.", open::reason(&why))))?;
        let (more, of_all) = parse_evaluators::parse_file(&text).map_err(failed)?;
        all.extend(more);
        usual = of_all;
    }
    parse_evaluators::apply_mappings(&mut all, &mut usual, mappings).map_err(bad)?;
    Ok((all, usual))
}

/// A request with resolved files.
struct ResolvedRequest {
    found: FoundFile,
    place: Option<OutputFile>,
    shown: Option<String>,
    filter: Option<String>,
    target: Vec<String>,
    usual: Vec<(String, String)>,
    again: EvaluateAgain,
    config: Option<PathBuf>,
}

impl EvaluationActions<'_> {
    /// Returns the evaluators, models and data files to choose from. `may_run` is false for a
    /// read-only front end.
    pub fn evaluate_options(self, may_run: bool) -> Result<EvaluateOptions, AppError> {
        let open = self.app.require_folder()?;
        let setup = self.app.settings().setup_to_look()?;
        let why_not = (!may_run).then(|| Blocker {
            message: "This page is read-only and cannot evaluate data.".to_owned(),
            fix: Some("To allow it, start: touchstone serve --allow-run FOLDER".to_owned()),
        });
        let folder =
            may_run.then(|| open.flow.roots.display_path(&FileId::new(Root::Output, FOLDER)));
        let (files, unlisted) = self.data_files();
        Ok(EvaluateOptions {
            evaluators: evaluators(),
            models: if may_run { self.app.judging().judges_of(&setup) } else { Vec::new() },
            switches: switches(&QUIRKS),
            files,
            unlisted,
            folder,
            why_not,
        })
    }

    /// Starts the evaluation of a request from the page.
    pub fn start_evaluating(self, request: &EvaluateRequest) -> Result<Evaluating, AppError> {
        let open = self.app.require_folder()?;
        open.check_directories_exist()?;
        self.begin_evaluating(self.of_page(request)?, request, Some(open))
    }

    /// Starts the evaluation of a request from the command line.
    pub fn start_evaluating_file(self, asked: &FileRequest) -> Result<Evaluating, AppError> {
        self.begin_evaluating(of_file(asked)?, &asked.request, self.app.current_folder())
    }

    /// Returns true if models have to be called, for which a folder has to be open.
    pub fn evaluating_pays(asked: &FileRequest) -> Result<bool, AppError> {
        EvaluationSpec::read(&asked.request, &asked.usual).map(|wish| wish.is_paid()).map_err(bad)
    }

    /// Resolves the files of a request from the page.
    fn of_page(self, request: &EvaluateRequest) -> Result<ResolvedRequest, AppError> {
        let open = self.app.require_folder()?;
        let found = self.data_file(&request.data)?;
        let name = name_of(&request.out, &found.file.path).map_err(bad)?;
        let path = format!("{FOLDER}/{name}");
        let shown = open.flow.roots.display_path(&FileId::new(Root::Output, path.as_str()));
        let filter = Some(format!("path:{}*", filter::typed(&path)));
        let place = OutputFile { dir: open.flow.roots.output_dir.clone(), path };
        Ok(ResolvedRequest {
            found,
            place: Some(place),
            shown: Some(shown),
            filter,
            target: Vec::new(),
            usual: Vec::new(),
            again: request.again,
            config: None,
        })
    }

    fn begin_evaluating(
        self,
        asked: ResolvedRequest,
        request: &EvaluateRequest,
        open: Option<Arc<OpenFolder>>,
    ) -> Result<Evaluating, AppError> {
        let wish = EvaluationSpec::read(request, &asked.usual).map_err(bad)?;
        let table = table(&asked.found, &wish.quirks)?;
        usable(&asked, &table, &wish)?;
        let ModelSetup { models, setup, .. } = self.models(&wish, request)?;
        let notes = plan::unused_mappings(&asked, &wish, &table, &models)?;
        self.keyed(&models)?;
        plan::startable(&asked, &wish, &table)?;
        free(&asked, request.replace)?;
        if wish.is_paid() && asked.place.is_none() {
            return Err(bad("Model replies cost money, so they must be saved.".to_owned())
                .hint("Name a file: --out FILE.json"));
        }
        let runtime = self.app.inner.launches.runtime()?;
        let programs =
            if wish.needs_programs() { Some(runtime.block_on(self.sandbox())?) } else { None };
        let bench = lock_results(&asked, &wish, request.replace)?;
        let begun = unfinished::to_keep(&asked, request)?;
        let redactor = self.redactor_for(&asked.target, setup.as_ref());
        let (teller, events) = RunEventSender::new();
        let rules = setup.as_ref().map_or_else(Rules::default, |setup| setup.rules);
        let crew = match (&open, setup) {
            (Some(open), Some(setup)) if wish.is_paid() => {
                Some(runtime.block_on(self.app.launches().launch_context(open, setup, &[], teller)))
            }
            _ => None,
        };
        let asking = crew.map(|crew| Asking { crew: Arc::new(crew), models });
        let job = Job {
            data: asked.found.file.path,
            rows: table.rows.len(),
            wish,
            place: asked.place,
            shown: asked.shown,
            filter: asked.filter,
            replace: request.replace,
            target: asked.target,
            redactor,
            max_cost: rules.max_cost,
            again: request.again,
            notes,
            begun,
        };
        let id = self.app.inner.launches.next_id();
        let poster = self.app.inner.bulletin.sender();
        let work =
            Arc::new(Work::new(id.clone(), open.clone(), job, (asking, programs, bench), poster));
        {
            let now = self.app.lock();
            if let Some(open) = open
                && now.as_ref().is_none_or(|now| !Arc::ptr_eq(now, &open))
            {
                return Err(AppError::new(
                    Code::NoFolder,
                    "Another folder was opened before the evaluation began.",
                ));
            }
            self.app.inner.evaluations.add(Arc::clone(&work));
        }
        runtime.spawn(work.run(table, rules.concurrency as usize, events));
        Ok(Evaluating { evaluation: id })
    }
}

fn of_file(asked: &FileRequest) -> Result<ResolvedRequest, AppError> {
    let found = named(&asked.data)?;
    let place = match &asked.out {
        Some(out) => {
            let shown = out.display();
            let place = output_file_from_path(out)
                .ok_or_else(|| bad(format!("{shown} is not a valid name for a results file.")))?;
            if !place.dir.is_dir() {
                return Err(
                    bad(format!("The folder of {shown} does not exist.")).hint("Create it first.")
                );
            }
            place.check().map_err(disk)?;
            Some(place)
        }
        None => None,
    };
    let shown = asked.out.as_ref().map(|out| out.to_string_lossy().into_owned());
    let (target, usual, config) = (asked.target.clone(), asked.usual.clone(), asked.config.clone());
    Ok(ResolvedRequest {
        found,
        place,
        shown,
        filter: None,
        target,
        usual,
        again: asked.request.again,
        config,
    })
}

/// Returns the name of the results file; by default derived from the name of the data file.
fn name_of(out: &str, data: &str) -> Result<String, String> {
    let stem = |path: &str| {
        let name = path.rsplit('/').next().unwrap_or_default();
        name.rsplit_once('.').map_or(name, |(stem, _)| stem).to_owned()
    };
    let out = out.trim();
    let name = if out.is_empty() {
        stem(data)
    } else {
        out.strip_suffix(".json").unwrap_or(out).to_owned()
    };
    let plain =
        !name.contains('/') && !name.chars().any(char::is_control) && !name.starts_with('.');
    if name.is_empty() || !plain || name.len() > LONGEST_NAME {
        return Err(format!(
            "`{name}` is not a valid name for a results file. Use letters, digits, `-` and `_`."
        ));
    }
    Ok(format!("{name}.json"))
}

/// Fails if the results would overwrite a file. Input files are never overwritten, even with
/// `replace`.
fn free(asked: &ResolvedRequest, replace: bool) -> Result<(), AppError> {
    let Some(place) = &asked.place else { return Ok(()) };
    if let Some(path) = asked
        .found
        .named_at()
        .into_iter()
        .chain(asked.config.as_deref())
        .find(|path| place.is(path))
    {
        let message =
            format!("The results would overwrite {}, which is their input.", path.display());
        return Err(bad(message).hint("Choose another name for the results."));
    }
    if !replace && place.exists().map_err(disk)? {
        let message = format!("{} already exists.", place.path);
        // Complete results use up the journaled target outputs, so the target runs again.
        let is_anew =
            !asked.target.is_empty() && !place.journal_snapshot().map_err(disk)?.has_outcomes();
        let then = if is_anew {
            "the target runs again for every row, and its new answers cost money"
        } else {
            "paid replies are reused"
        };
        return Err(bad(message).hint(format!("Choose another name, or replace it: {then}.")));
    }
    Ok(())
}

/// Locks the results file if something is stored for it or it is to be replaced. If everything is
/// to be requested again, stored replies are moved aside.
fn lock_results(
    asked: &ResolvedRequest,
    wish: &EvaluationSpec,
    replace: bool,
) -> Result<Option<EvaluationFiles>, AppError> {
    let keeping = match asked.again {
        _ if !wish.is_paid() && asked.target.is_empty() => ReplyRetention::Nothing,
        EvaluateAgain::All => ReplyRetention::Anew,
        EvaluateAgain::Nothing | EvaluateAgain::Unread => ReplyRetention::Replies,
    };
    let place = asked.place.as_ref().filter(|_| replace || keeping != ReplyRetention::Nothing);
    place
        .map(|place| EvaluationFiles::take(place, keeping))
        .transpose()
        .map_err(|why| bad(describe_lock_error(&why)))
}

/// Fails if some rows cannot be evaluated as requested: the means would silently omit them.
fn usable(
    asked: &ResolvedRequest,
    table: &Arc<Table>,
    wish: &EvaluationSpec,
) -> Result<(), AppError> {
    let shown = &asked.found.file.path;
    if let Some(wrong) = table.wrong.first() {
        let error = bad(format!("{shown} cannot be read completely. {}", wrong.message));
        return Err(error.hint("Fix the line, or remove it."));
    }
    if table.rows.is_empty() {
        return Err(bad(format!("{shown} has no rows to evaluate.")));
    }
    let lost = RowInputs::new(wish, table, None).unknown_references(wish, !asked.target.is_empty());
    lost.into_iter().next().map_or(Ok(()), |why| {
        Err(bad(why).hint(format!("Columns of {shown}: {}.", table.columns.join(", "))))
    })
}

fn bad(message: String) -> AppError {
    AppError::new(Code::BadRequest, message)
}

#[expect(clippy::needless_pass_by_value, reason = "the last thing that is done with it")]
fn disk(why: touchstone_runner::disk::DiskError) -> AppError {
    AppError::new(Code::Failed, why.to_string())
}
