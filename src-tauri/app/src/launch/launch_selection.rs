//! Resolves the runs of a request. Owns collecting tasks, models and files; decides nothing about
//! them.
use super::cells;
use super::selected_runs::{MOST_RUNS, Selection, refused, slot};
use crate::OpenFolder;
use crate::error::{AppError, Code};
use std::collections::{BTreeSet, HashMap, HashSet};
use std::path::Path;
use std::sync::Arc;
use touchstone_api::{LaunchRequest, RunState};
use touchstone_formats::names::Coordinates;
use touchstone_formats::suite::Task;
use touchstone_formats::system::System;
use touchstone_runner::disk_state::{self, RunFinder};
use touchstone_runner::plan::{self, Decision, Matrix, MatrixSpec, Named, Planned, Shard, Slot};
use touchstone_runner::setup::Setup;
use touchstone_store::query;
use touchstone_store::query::ForeignRun;

/// Collects the runs of a request.
pub(super) fn select_runs(
    open: &OpenFolder,
    setup: &Setup,
    request: &LaunchRequest,
) -> Result<Selection, AppError> {
    if !request.runs.is_empty() {
        return named(open, setup, &request.runs);
    }
    if !request.cells.is_empty() {
        return cells::select_cells(open, setup, &request.cells);
    }
    for name in &request.models {
        if setup.model(name).is_none() {
            return Err(crate::settings::keys::no_model(setup, name));
        }
    }
    if request.systems.is_empty() || request.models.is_empty() {
        let error =
            AppError::new(Code::BadRequest, "A launch needs at least one system and one model.");
        return Err(error.hint("Choose them in the launch sheet, or give --system and --model."));
    }
    if let Some(other) =
        request.systems.iter().find(|system| !System::from(system.as_str()).is_runnable())
    {
        let error = AppError::new(Code::BadRequest, format!("There is no system named `{other}`."));
        return Err(error.hint(format!("There are: {}.", System::runnable_names())));
    }
    let shelved = open.flow.shelf.tasks();
    let broken = &shelved.broken;
    let patterns =
        plan::Patterns::new(&request.tasks, shelved.all().map(|task| task.suite.id.as_str()));
    let tasks: Vec<Arc<Task>> = shelved
        .all()
        .filter(|task| request.tasks.is_empty() || patterns.mean(&shelved.names_of(&task.suite)))
        .map(|task| Arc::clone(&task.suite))
        .collect();
    let wish = MatrixSpec {
        systems: request.systems.iter().map(|name| System::from(name.as_str())).collect(),
        models: request.models.clone(),
        variations: request.variations.clone(),
        repeats: request.repeats,
        shard: request
            .shard
            .map(|shard| Shard { part: shard.index.into(), of: shard.count.into() }),
    };
    let each =
        |task: &Arc<Task>| task.variations.len() * request.repeats.unwrap_or(task.repeat) as usize;
    let all = tasks.iter().map(each).sum::<usize>() * request.systems.len() * request.models.len();
    let most = request.shard.map_or(all, |shard| all / shard.count.max(1) as usize);
    if most > MOST_RUNS {
        let error = AppError::new(
            Code::BadRequest,
            format!("These would be up to {most} runs, more than the limit of {MOST_RUNS}."),
        );
        return Err(
            error.hint("Choose fewer tasks, models or repeats, or split the launch with --shard.")
        );
    }
    let mut matrix = plan::matrix(&tasks, &wish);
    let names = shelved.all().map(|task| shelved.names_of(&task.suite));
    let names: Vec<Vec<String>> =
        names.chain(broken.keys().map(|name| vec![name.clone()])).collect();
    if let Some(pattern) = patterns.unmatched(&names) {
        let error = AppError::new(Code::BadRequest, format!("No task matches `{pattern}`."));
        return Err(error.hint(plan::HOW_PATTERNS_WORK));
    }
    let mut files = Files::new(open, setup);
    // A worker knows nothing of other runs.
    let forks =
        if open.is_worker() { HashSet::new() } else { open.ask(query::forks_named_as_repeats)? };
    matrix.find(|at| files.paths_for(at), &forks);
    let is_wished =
        |name: &String| request.tasks.is_empty() || patterns.mean(std::slice::from_ref(name));
    let unread = broken.iter().filter(|(name, _)| is_wished(name));
    let unread =
        unread.map(|(name, why)| refused(name.clone(), format!("Its suite cannot be read. {why}")));
    let pairs = wish
        .systems
        .iter()
        .flat_map(|system| wish.models.iter().map(move |model| (system.as_str(), model.as_str())));
    let what = describe_launch(tasks.iter().map(|task| task.id.as_str()), pairs);
    Ok(Selection { refused: unread.collect(), matrix, total: all as u64, what })
}

/// Describes runs by their tasks, and by their systems with models: `3 tasks · promptql/claude`.
pub(super) fn describe_launch<'a>(
    tasks: impl Iterator<Item = &'a str>,
    systems: impl Iterator<Item = (&'a str, &'a str)>,
) -> String {
    let (tasks, systems): (BTreeSet<_>, BTreeSet<_>) = (tasks.collect(), systems.collect());
    let tasks = match tasks.first() {
        Some(task) if tasks.len() == 1 => (*task).to_owned(),
        _ => format!("{} tasks", tasks.len()),
    };
    let systems = match systems.first() {
        Some((system, model)) if systems.len() == 1 => format!("{system}/{model}"),
        _ => format!("{} systems", systems.len()),
    };
    format!("{tasks} · {systems}")
}

/// Reason to skip a repeat whose file holds a fork.
pub(super) const NAMED_AS_REPEAT: &str = "Its file holds a fork, which was named like a repeat. Run it without --shard, which counts repeats past forks.";

/// Removes the runs that another program has written in its own layout: they exist, and are never
/// written to. A run that also has a file of this program stays.
pub(super) fn made_by_others(
    open: &OpenFolder,
    setup: &Setup,
    matrix: &mut Matrix,
) -> Result<Vec<Planned>, AppError> {
    type RunKey<'a> = (&'a str, &'a str, u32, u32);
    let tasks = open.flow.shelf.tasks();
    let runs = open.ask(query::foreign_runs)?;
    let mut there: HashMap<RunKey<'_>, Vec<&ForeignRun>> = HashMap::new();
    for run in &runs {
        let Some(task) = tasks.get(&run.task) else { continue };
        if let Some(variation) = task.counted_as(run.variation, run.variation_name.as_deref()) {
            there.entry((&task.suite.id, &run.model, variation, run.repeat)).or_default().push(run);
        }
    }
    let mut files = Files::new(open, setup);
    let mut done = Vec::new();
    for slot in std::mem::take(&mut matrix.slots) {
        let at = &slot.at;
        // StableToolBench answers name their method in place of a system.
        let method = slot
            .way
            .method
            .filter(|_| at.system == System::ToolCalling)
            .map(|method| method.to_string());
        let place = (at.task.as_str(), at.model.as_str(), at.variation, at.repeat);
        let same = there.get(&place).into_iter().flatten();
        let same = same
            .filter(|run| run.system == at.system.as_str() || method.as_ref() == Some(&run.system));
        // Of several files of one run, one that ended well suffices.
        match same
            .min_by_key(|run| (run.state != RunState::Answered, run.state != RunState::NoAnswer))
        {
            Some(run) if files.paths_for(at).is_empty() => {
                let path = &run.path;
                let decision = match run.state {
                    RunState::Answered => Decision::done_elsewhere("It is complete", path),
                    RunState::NoAnswer => {
                        Decision::done_elsewhere("It is complete, without an answer", path)
                    }
                    _ => Decision::refused(format!(
                        "{path} exists and did not end normally. Another program wrote it, so it is never changed. Start over to make a new run beside it."
                    )),
                };
                done.push(Planned { slot: Slot { path: path.clone(), ..slot }, decision });
            }
            _ => matrix.slots.push(slot),
        }
    }
    Ok(done)
}

/// Files of runs by name. Each folder is listed once, unless only the files of the wanted runs may
/// be looked at.
pub(super) struct Files<'a> {
    output_dir: &'a Path,
    models: Vec<&'a str>,
    folders: HashMap<String, Named>,
    /// Looks for single files, if only those of the wanted runs may be looked at.
    finder: Option<RunFinder<'a>>,
}

impl<'a> Files<'a> {
    pub(super) fn new(open: &'a OpenFolder, setup: &'a Setup) -> Self {
        let models = setup.models.iter().map(|model| model.name.as_str()).collect();
        let output_dir = &open.flow.roots.output_dir;
        let finder = open.is_worker().then(|| RunFinder::new(output_dir));
        Self { output_dir, models, folders: HashMap::new(), finder }
    }

    pub(super) fn paths_for(&mut self, at: &Coordinates) -> Vec<String> {
        if let Some(finder) = &mut self.finder {
            return finder.named_like(at);
        }
        let folder = at.task.rsplit_once('/').map_or("", |(folder, _)| folder);
        if !self.folders.contains_key(folder) {
            self.folders.insert(
                folder.to_owned(),
                disk_state::named(self.output_dir, folder, &self.models),
            );
        }
        self.folders.get(folder).and_then(|named| named.get(at)).cloned().unwrap_or_default()
    }
}

/// Returns the runs that were named individually.
fn named(open: &OpenFolder, setup: &Setup, ids: &[String]) -> Result<Selection, AppError> {
    let mut wished = Selection::default();
    for id in ids {
        let row = open.ask(|index| query::row_by_key(index, id))?;
        let row =
            row.ok_or_else(|| AppError::new(Code::NotFound, "This run is no longer in the list."))?;
        let path = row.path.clone();
        match slot(open, setup, row) {
            Ok(slot) => wished.matrix.slots.push(slot),
            Err(why) => wished.refused.push(refused(path, why)),
        }
    }
    Ok(wished)
}
