//! `convert`: writes runs in formats of other tools.
use super::{
    CommandError, CommandStatus, DirArgs, Outcome, compare, folder,
    terminal::{complain, one_line},
};
use crate::Environment;
use clap::{Args, ValueEnum};
use serde_json::json;
use std::{
    collections::HashSet,
    io::{self, Write as _},
    path::{Path, PathBuf},
};
use touchstone_api::{Column, ExportFormat, Lineage, Sort};
use touchstone_app::App;
use touchstone_app::error::{AppError, Code};
use touchstone_app::reports::exporting::{ExportOptions, ExportedDocument};
use touchstone_app::runs::RunActions;
use touchstone_app::saving::NewFile;

/// Arguments of `convert`.
#[derive(Debug, Args)]
#[command(after_help = "\
Without --out, one document is printed, or for openai one line for each run. See docs/reference/convert.md
for what each format holds and what it has no place for.

Exit status: 0 all runs were converted, 1 some could not be read or files of their names exist, 2 nothing
could be converted.")]
pub(super) struct Convert {
    /// Files of runs; FILE#NAME for one of many in a file, which by itself stands for all of them
    #[arg(required_unless_present = "folder", value_name = "RUN")]
    runs: Vec<PathBuf>,
    /// Format to write
    #[arg(long, value_name = "FORMAT")]
    to: Format,
    /// Write to this file; or into this directory, if it is one or ends in a slash
    #[arg(long, value_name = "PATH")]
    out: Option<PathBuf>,
    /// Replace files in the directory of --out that have the name of one to write
    #[arg(long, requires = "out")]
    replace: bool,
    /// Convert the runs of a folder, each with its task, scores and expected answer
    #[arg(long, value_name = "FOLDER", conflicts_with = "runs")]
    folder: Option<PathBuf>,
    #[command(flatten)]
    dirs: DirArgs,
    /// Select runs with a filter, as in the window: `system:promptql model:o1`
    #[arg(
        long,
        default_value = "",
        hide_default_value = true,
        requires = "folder",
        allow_hyphen_values = true
    )]
    filter: String,
    #[command(flatten)]
    redaction: Redaction,
    /// Print the list of written files as one JSON document
    #[arg(long, requires = "out")]
    json: bool,
}

/// Whether texts of transcripts are redacted.
#[derive(Debug, Clone, Copy, Args)]
pub(super) struct Redaction {
    /// Redact what looks like a key, an e-mail address or a home folder in texts of transcripts
    /// [default: if a run is a session of Claude Code, Codex or Gemini CLI]
    #[arg(long)]
    redact: bool,
    /// Redact nothing
    #[arg(long, conflicts_with = "redact")]
    no_redact: bool,
    /// Include texts of red team scans, which are left out otherwise
    #[arg(long)]
    include_sensitive: bool,
}

impl Redaction {
    /// Returns true if texts of sensitive runs are included.
    pub(super) fn includes_sensitive(self) -> bool {
        self.include_sensitive
    }

    /// Returns what was asked for; `None` for the default.
    pub(super) fn choice(self) -> Option<bool> {
        if self.redact { Some(true) } else { self.no_redact.then_some(false) }
    }
}

/// Formats by the words that are typed.
#[derive(Debug, Clone, Copy, PartialEq, Eq, ValueEnum)]
enum Format {
    /// Trajectory of Harbor (ATIF), one document for each run
    Atif,
    /// Messages of OpenAI's chat completions, one object for each run
    Openai,
    /// Log of Inspect, one for the runs of a task with a system and a model
    InspectJson,
}

impl From<Format> for ExportFormat {
    fn from(format: Format) -> Self {
        match format {
            Format::Atif => Self::Atif,
            Format::Openai => Self::OpenAi,
            Format::InspectJson => Self::InspectJson,
        }
    }
}

pub(super) fn run(asked: &Convert, here: &Environment) -> Outcome {
    let mut folders: Vec<(PathBuf, App)> = Vec::new();
    let mut chosen: Vec<(usize, Vec<String>)> = Vec::new();
    let mut whole = true;
    if let Some(path) = &asked.folder {
        let place = folder::chosen(Some(path.clone()), asked.dirs.clone())
            .unwrap_or_else(|| path.clone().into());
        RunActions::check_filter(&asked.filter)?;
        let app = folder::read(&place, here)?;
        app.runs().check_filter_of_folder(&asked.filter)?;
        chosen.push((0, ids_of_folder(&app, &asked.filter)?));
        folders.push((path.clone(), app));
    }
    for file in &asked.runs {
        match find(file, &asked.dirs, &mut folders, here) {
            Ok((at, ids)) => match chosen.last_mut().filter(|(last, _)| *last == at) {
                Some((_, known)) => known.extend(ids),
                None => chosen.push((at, ids)),
            },
            Err(CommandError::Why(error)) if asked.runs.len() > 1 => {
                complain(&error);
                whole = false;
            }
            Err(error) => return Err(error),
        }
    }
    let count: usize = chosen.iter().map(|(_, ids)| ids.len()).sum();
    if count == 0 {
        let error = AppError::new(Code::NotFound, "No run was found to convert.");
        return Err(error.hint("List the runs of a folder with: touchstone list FOLDER").into());
    }
    if let Some(path) = &asked.out {
        // Every folder that is read counts, not only that of the run at hand.
        folders.iter().try_for_each(|(_, app)| app.folder().refuse_among_results(path))?;
    }
    let options = ExportOptions {
        format: asked.to.into(),
        redact: Some(is_redacted(asked.redaction, &chosen, &folders)?),
        include_sensitive: asked.redaction.includes_sensitive(),
        lines: count > 1 || asked.out.as_deref().is_some_and(is_lines),
    };
    let mut output = Output::new(asked)?;
    for (at, ids) in &chosen {
        let app = &folders[*at].1;
        let done = app.reports().export_runs(ids, options, &mut |file| output.take(file))?;
        for note in &done.notes {
            writeln!(io::stderr(), "{}", one_line(note))?;
        }
        whole &= done.left_out == 0;
    }
    whole &= output.kept.is_empty();
    output.end(asked.json)?;
    Ok(if whole { CommandStatus::Well } else { CommandStatus::WithFailures })
}

/// Returns true if texts are redacted: one session among the runs of all folders is enough, unless
/// it is asked otherwise.
fn is_redacted(
    asked: Redaction,
    chosen: &[(usize, Vec<String>)],
    folders: &[(PathBuf, App)],
) -> Result<bool, AppError> {
    if let Some(is_redacted) = asked.choice() {
        return Ok(is_redacted);
    }
    for (at, ids) in chosen {
        if folders[*at].1.reports().has_session(ids)? {
            return Ok(true);
        }
    }
    Ok(false)
}

fn is_lines(path: &Path) -> bool {
    path.extension().is_some_and(|end| end == "jsonl")
}

fn by_path() -> Sort {
    Sort { column: Column::Path, descending: false }
}

/// Returns the ids of the runs of a folder, and says how many were left out because another file
/// holds the same run. A filter that names such runs chooses them, too.
fn ids_of_folder(app: &App, filter: &str) -> Result<Vec<String>, CommandError> {
    let (mut ids, mut superseded) = (Vec::new(), 0_u64);
    let is_named = RunActions::names_superseded(filter);
    folder::each_run(app, filter, &by_path(), u64::MAX, |row| {
        if row.lineage == Some(Lineage::Superseded) && !is_named {
            superseded += 1;
        } else {
            ids.push(row.id);
        }
        Ok::<(), CommandError>(())
    })?;
    if superseded > 0 {
        let left_out = match superseded {
            1 => "1 run was left out, because another file holds it, too.".to_owned(),
            count => format!("{count} runs were left out, because other files hold them, too."),
        };
        writeln!(io::stderr(), "{left_out} The filter superseded:yes,no chooses all.")?;
    }
    Ok(ids)
}

/// Finds the runs of a file, and returns the index of their open folder and their identifiers.
/// Prefers the folder given by options or a folder above the file that holds the tasks, since then
/// the expected answer is known; otherwise opens the directory of the file.
fn find(
    file: &Path,
    dirs: &DirArgs,
    folders: &mut Vec<(PathBuf, App)>,
    here: &Environment,
) -> Result<(usize, Vec<String>), CommandError> {
    let unreadable = |why: String| {
        AppError::new(Code::NotFound, format!("{} could not be converted: {why}.", file.display()))
    };
    let (full, member) = folder::located(file).map_err(|why| unreadable(why.to_string()))?;
    if full.is_dir() {
        let error = unreadable("it is a directory".to_owned());
        return Err(error.hint("Convert the runs of a folder with --folder.").into());
    }
    let Some((parent, name)) = folder::below(&full, None) else {
        return Err(unreadable("it is not a file".to_owned()).into());
    };
    let named = folder::chosen(None, dirs.clone()).map(|place| (PathBuf::from("-"), place));
    let above = || RunActions::folder_above(&full).map(|folder| (folder.clone(), folder.into()));
    if let Some((key, place)) = named.or_else(above) {
        let at = compare::opened(key, &place, folders, here)?;
        let app = &folders[at].1;
        let id = app.runs().run_with(&full, member.as_deref()).ok();
        if let Some(id) = id.filter(|id| app.scoring().run_scores(id).is_ok()) {
            return Ok((at, vec![id]));
        }
    }
    let at = compare::opened(parent.clone(), &parent.into(), folders, here)?;
    let app = &folders[at].1;
    let mut ids = Vec::new();
    folder::each_run(app, &RunActions::filter_of_file(&name), &by_path(), u64::MAX, |row| {
        if member.is_none() || row.member == member {
            ids.push(row.id);
        }
        Ok::<(), CommandError>(())
    })?;
    if ids.is_empty() {
        return Err(unreadable("it is not a transcript".to_owned()).into());
    }
    Ok((at, ids))
}

/// Where documents go.
enum Target {
    /// Standard output. A single document waits until it is known that there is only one.
    Printed(Option<ExportedDocument>),
    File(PathBuf, NewFile),
    Folder(PathBuf),
}

/// Documents that are being written.
struct Output {
    target: Target,
    is_chat: bool,
    documents: u64,
    names: HashSet<String>,
    /// True to replace files in the directory.
    replaces: bool,
    written: Vec<String>,
    /// Files in the directory that were there before and stay as they are.
    kept: Vec<String>,
}

impl Output {
    /// Creates the file to write to. A directory is created for the first document.
    fn new(asked: &Convert) -> Result<Self, AppError> {
        let ends_in_slash = |path: &Path| path.to_string_lossy().ends_with('/');
        let target = match &asked.out {
            None => Target::Printed(None),
            Some(path) if path.is_dir() || ends_in_slash(path) => Target::Folder(path.clone()),
            Some(path) => Target::File(path.clone(), NewFile::create(path)?),
        };
        Ok(Output {
            target,
            is_chat: asked.to == Format::Openai,
            documents: 0,
            names: HashSet::new(),
            replaces: asked.replace,
            written: Vec::new(),
            kept: Vec::new(),
        })
    }

    fn take(&mut self, document: ExportedDocument) -> Result<(), CommandError> {
        self.documents += 1;
        if let Target::Folder(dir) = &self.target {
            make_dir(dir)?;
            let path = dir.join(unused(&mut self.names, &document.file_name));
            let is_written = write_file(document, &path, self.replaces)?;
            let files = if is_written { &mut self.written } else { &mut self.kept };
            files.push(path.to_string_lossy().into_owned());
            return Ok(());
        }
        if self.documents > 1 && !self.is_chat {
            let error = AppError::new(Code::BadRequest, "The runs make several documents.");
            let hint = "Name a directory with --out, with a slash at its end.";
            return Err(error.hint(hint).into());
        }
        match &mut self.target {
            Target::File(_, out) => document.write(&mut |piece| out.write(piece))?,
            Target::Printed(_) if self.is_chat => print(document)?,
            Target::Printed(waiting) => *waiting = Some(document),
            Target::Folder(_) => {}
        }
        Ok(())
    }

    fn end(mut self, is_json: bool) -> Result<(), CommandError> {
        if let Some(error) = stayed(&self.kept) {
            complain(&error);
        }
        match self.target {
            Target::Printed(document) => return document.map_or(Ok(()), print),
            Target::File(path, file) if self.documents > 0 => {
                file.keep()?;
                self.written.push(path.to_string_lossy().into_owned());
            }
            Target::File(..) | Target::Folder(_) => {}
        }
        let mut out = io::stdout().lock();
        if is_json {
            let mut files = json!({ "written": self.written });
            if !self.kept.is_empty() {
                files["kept"] = json!(self.kept);
            }
            writeln!(out, "{files}")?;
        } else {
            for path in &self.written {
                writeln!(out, "{}", one_line(path))?;
            }
        }
        out.flush()?;
        Ok(())
    }
}

fn print(document: ExportedDocument) -> Result<(), CommandError> {
    let mut out = io::stdout().lock();
    document.write::<CommandError>(&mut |piece| Ok(out.write_all(piece)?))?;
    Ok(out.flush()?)
}

/// Writes a document. Returns false if there is a file at the path, unless that is to be replaced.
fn write_file(document: ExportedDocument, path: &Path, replaces: bool) -> Result<bool, AppError> {
    if !replaces && path.symlink_metadata().is_ok() {
        return Ok(false);
    }
    let mut file = NewFile::create(path)?;
    document.write(&mut |piece| file.write(piece))?;
    if replaces { file.keep().map(|()| true) } else { file.keep_if_free() }
}

/// Returns the error for files that were not written, because others of their names exist.
fn stayed(kept: &[String]) -> Option<AppError> {
    let message = match kept {
        [] => return None,
        [path] => format!("{path} exists already and was not replaced."),
        [first, ..] => {
            format!("{} files exist already and were not replaced, such as {first}.", kept.len())
        }
    };
    let hint = "Replace them with --replace, or name another directory with --out.";
    Some(AppError::new(Code::Failed, message).hint(hint))
}

/// Returns a file name that is not among these, also where case is ignored, and adds it.
fn unused(names: &mut HashSet<String>, wanted: &str) -> String {
    let (stem, end) = wanted.split_once('.').unwrap_or((wanted, "json"));
    let mut name = wanted.to_owned();
    let mut number = 2_u64;
    while !names.insert(name.to_lowercase()) {
        name = format!("{stem}-{number}.{end}");
        number += 1;
    }
    name
}

fn make_dir(dir: &Path) -> Result<(), AppError> {
    std::fs::create_dir_all(dir).map_err(|why| {
        let message = format!("The directory {} could not be created: {why}.", dir.display());
        AppError::new(Code::Failed, message).hint("Name another one with --out.")
    })
}
