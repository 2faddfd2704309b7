//! Reads many runs. A file that holds many runs is read and split once; its runs are returned in
//! the order of the file, a few at a time.
use super::error::RunReadError;
use super::source::{STACK, read, row_of, sentence, tag_of, with_room};
use std::collections::{BTreeMap, HashMap};
use std::ops::ControlFlow;
use std::sync::Arc;
use std::sync::mpsc::sync_channel;
use touchstone_formats::collection::Collection;
use touchstone_imports::ImportedRun;
use touchstone_imports::convert::to_run;
use touchstone_model::error::ReadError;
use touchstone_model::run::Run;
use touchstone_model::value::Value;
use touchstone_store::folder_index::FolderIndex;
use touchstone_store::imports;
use touchstone_store::open;
use touchstone_store::read_watch::ReadWatch;
use touchstone_store::roots::FileId;

/// Maximum number of runs of a file held in memory at a time.
const AT_ONCE: usize = 32;
/// Maximum number of runs of another tool's file that wait until they are taken: the next one is
/// read meanwhile. They may be large.
const IMPORTS_AT_ONCE: usize = 1;

/// A run as parsed from its files.
#[derive(Debug)]
pub(crate) struct ParsedRun {
    pub(crate) run: Run,
    /// The file that holds it together with other runs.
    pub(crate) whole: Option<Arc<RunsFile>>,
}

/// A file that holds many runs.
#[derive(Debug)]
pub(crate) struct RunsFile {
    pub(crate) path: String,
    /// Number of runs in the file.
    pub(crate) runs: usize,
    /// Data of the file that concerns all of its runs.
    pub(crate) says: Value,
    /// Number of keys of that data that were not read.
    pub(crate) unread: usize,
}

/// Calls `take` for each run with the position of its id, reading the files as they are now. Runs
/// in files that hold many come last. Stops if `take` breaks.
pub(super) fn for_each_run(
    flow: &FolderIndex,
    ids: &[&str],
    mut take: impl FnMut(usize, Result<ParsedRun, RunReadError>) -> ControlFlow<()>,
) -> ControlFlow<()> {
    let mut shared: BTreeMap<FileId, Vec<(usize, String)>> = BTreeMap::new();
    let mut imported: BTreeMap<FileId, Vec<(usize, Option<String>)>> = BTreeMap::new();
    for (at, id) in ids.iter().enumerate() {
        let one = row_of(flow, id).and_then(|(row, files)| {
            if let (Some(_), [file]) = (&row.format, files.as_slice()) {
                imported.entry(file.clone()).or_default().push((at, row.member));
                return Ok(None);
            }
            if let (Some(member), [file]) = (&row.member, files.as_slice()) {
                shared.entry(file.clone()).or_default().push((at, member.clone()));
                return Ok(None);
            }
            let versions = (Vec::new(), tag_of(flow, id)?);
            let opened = read(flow, &row, files, versions, &ReadWatch::default())?;
            let fault = opened.faults.into_iter().next();
            fault.map_or(Ok(Some(ParsedRun { run: opened.run, whole: None })), |fault| {
                Err(RunReadError::Unreadable(fault))
            })
        });
        if let Some(one) = one.transpose() {
            take(at, one)?;
        }
    }
    shared.iter().try_for_each(|(file, members)| of_file(flow, file, members, &mut take))?;
    imported.iter().try_for_each(|(file, members)| {
        let mut take = |at, run: Result<Run, RunReadError>| {
            take(at, run.map(|run| ParsedRun { run, whole: None }))
        };
        of_import(flow, file, members, to_run, &mut take)
    })
}

/// Calls `take` for each run of another tool's files, as its reader returns it, with the position
/// of its id. Each file is opened once.
pub(super) fn for_each_imported(
    flow: &FolderIndex,
    ids: &[&str],
    mut take: impl FnMut(usize, Result<ImportedRun, RunReadError>) -> ControlFlow<()>,
) -> ControlFlow<()> {
    let mut imported: BTreeMap<FileId, Vec<(usize, Option<String>)>> = BTreeMap::new();
    for (at, id) in ids.iter().enumerate() {
        match row_of(flow, id) {
            Ok((row, files)) if files.len() == 1 => {
                imported.entry(files[0].clone()).or_default().push((at, row.member));
            }
            Ok(_) => take(at, Err(RunReadError::Gone))?,
            Err(why) => take(at, Err(why))?,
        }
    }
    imported
        .iter()
        .try_for_each(|(file, members)| of_import(flow, file, members, |run, _| run, &mut take))
}

/// Reads runs of a file of another tool, which a thread with a large stack opens once.
fn of_import<T: Send>(
    flow: &FolderIndex,
    file: &FileId,
    members: &[(usize, Option<String>)],
    convert: impl Fn(ImportedRun, &'static str) -> T + Send,
    take: &mut impl FnMut(usize, Result<T, RunReadError>) -> ControlFlow<()>,
) -> ControlFlow<()> {
    let wanted: Vec<Option<&str>> = members.iter().map(|(_, member)| member.as_deref()).collect();
    let (give, runs) = sync_channel(IMPORTS_AT_ONCE);
    std::thread::scope(|scope| {
        let read = move || {
            let send = |at, run| match give.send((at, run)) {
                Ok(()) => ControlFlow::Continue(()),
                // Nobody takes more runs.
                Err(_) => ControlFlow::Break(()),
            };
            imports::read_runs_as(&flow.roots, file, &wanted, convert, send);
        };
        let thread = std::thread::Builder::new().name("open".into()).stack_size(STACK);
        if thread.spawn_scoped(scope, read).is_err() {
            let why = "There was no thread left to read this file with.";
            return members
                .iter()
                .try_for_each(|(at, _)| take(*at, Err(RunReadError::Unreadable(why.to_owned()))));
        }
        let runs = runs;
        runs.iter().try_for_each(|(at, run)| {
            take(members[at].0, run.map_err(|why: ReadError| unreadable(&why)))
        })
    })
}

fn unreadable(why: &ReadError) -> RunReadError {
    RunReadError::Unreadable(sentence(&why.message))
}

fn of_file(
    flow: &FolderIndex,
    file: &FileId,
    members: &[(usize, String)],
    take: &mut impl FnMut(usize, Result<ParsedRun, RunReadError>) -> ControlFlow<()>,
) -> ControlFlow<()> {
    let read = open::read(&flow.roots, file, flow.limits.file_bytes);
    let bytes = read
        .map_err(|why| RunReadError::File { file: flow.roots.display_path(file), why }.to_string());
    let many = bytes.as_ref().map_err(Clone::clone).and_then(|(bytes, _)| {
        with_room(|| Collection::open(&file.to_display(), bytes))
            .map_err(|why| unreadable(&why).to_string())
    });
    let many = match many {
        Ok(many) => many,
        Err(why) => {
            return members
                .iter()
                .try_for_each(|(at, _)| take(*at, Err(RunReadError::Unreadable(why.clone()))));
        }
    };
    let known: HashMap<&str, usize> =
        (0..many.len()).map(|place| (many.key(place), place)).collect();
    let mut places = Vec::with_capacity(members.len());
    for (at, member) in members {
        match known.get(member.as_str()) {
            Some(place) => places.push((*place, *at)),
            None => take(*at, Err(RunReadError::Gone))?,
        }
    }
    places.sort_unstable();
    let whole = Arc::new(RunsFile {
        path: file.to_display(),
        runs: many.len(),
        says: many.shared_metadata().clone(),
        unread: many.unread_key_count(),
    });
    for some in places.chunks(AT_ONCE) {
        match with_room(|| Ok(some.iter().map(|(place, _)| many.run(*place)).collect::<Vec<_>>())) {
            Ok(runs) => {
                for ((_, at), run) in some.iter().zip(runs) {
                    let told = run.map(|run| ParsedRun { run, whole: Some(Arc::clone(&whole)) });
                    take(*at, told.map_err(|why| unreadable(&why)))?;
                }
            }
            Err(why) => some.iter().try_for_each(|(_, at)| take(*at, Err(unreadable(&why))))?,
        }
    }
    ControlFlow::Continue(())
}
