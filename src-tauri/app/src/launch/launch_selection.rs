//! Resolves the runs of a request, and lists the options of a launch. Owns collecting tasks, models
//! and files; decides nothing about them.
use super::LaunchActions;
use super::cells;
use crate::OpenFolder;
use crate::error::{AppError, Code};
use crate::settings::setup::fault_line;
use std::collections::{BTreeMap, BTreeSet, HashMap, HashSet};
use std::path::Path;
use std::sync::Arc;
use touchstone_api::{
    Blocker, Choice, LaunchOptions, LaunchRequest, RunRow, RunState, SearchOptions, TaskChoice,
    UserChoice,
};
use touchstone_formats::names::{self, Coordinates};
use touchstone_formats::suite::Task;
use touchstone_formats::system::{System, ToolKind};
use touchstone_runner::disk_state::{self, RunFinder};
use touchstone_runner::execute::not_recorded;
use touchstone_runner::plan::{self, Decision, Matrix, MatrixSpec, Named, Planned, Shard, Slot};
use touchstone_runner::provider::promptql::PromptQl;
use touchstone_runner::setup::Setup;
use touchstone_runner::spec::{Model, Provider};
use touchstone_runner::tools::python;
use touchstone_store::query;
use touchstone_store::query::ForeignRun;

/// Maximum number of runs planned at once, which bounds memory.
pub(super) const MOST_RUNS: usize = 2_000_000;

/// Returns the simulated user of a task, or of its variations: one that names no model first.
fn user_choice(task: &Task) -> Option<UserChoice> {
    let user = task.users().min_by_key(|user| user.model.is_some())?;
    Some(UserChoice { model: user.model.clone(), attacks: user.attack.is_some() })
}

/// Runs of a matrix, and runs that cannot be part of it.
#[derive(Default)]
pub(super) struct Selection {
    pub(super) matrix: Matrix,
    pub(super) refused: Vec<Planned>,
    /// Number of runs of all parts.
    pub(super) total: u64,
    /// What the request is about, in a few words.
    pub(super) what: String,
}

impl LaunchActions<'_> {
    /// Returns the options of a launch. `may_run` is false for a read-only front end.
    pub fn launch_options(self, may_run: bool) -> Result<LaunchOptions, AppError> {
        let open = self.app.require_folder()?;
        let setup = self.app.settings().setup_to_look()?;
        let tasks = open.flow.shelf.tasks();
        let task = |task: &Arc<touchstone_store::suites::Task>| TaskChoice {
            id: task.suite.id.clone(),
            name: task.suite.name.clone(),
            tags: task.suite.tags.clone(),
            variations: task
                .suite
                .variations
                .iter()
                .map(touchstone_formats::suite::Variation::label)
                .collect(),
            repeat: task.suite.repeat,
            user: user_choice(&task.suite),
        };
        let tasks: Vec<TaskChoice> = tasks.all().map(task).collect();
        let why_not = why_not(may_run, tasks.is_empty(), &open.flow.shelf.tasks().broken);
        // A misspelt entry may be the cause of other errors, so these are shown first and alone.
        let faults: Vec<String> = setup.faults.iter().map(fault_line).collect();
        Ok(LaunchOptions {
            why_not,
            // A read-only page starts no program and queries no keyring.
            systems: System::RUNNABLE
                .iter()
                .filter(|_| may_run)
                .map(|system| self.system(system, &setup))
                .collect(),
            models: setup
                .models
                .iter()
                .filter(|_| may_run)
                .map(|model| self.model(model))
                .collect(),
            tools: setup
                .tools
                .iter()
                .map(|tool| choice(&tool.name, tool.kind.as_str(), None))
                .collect(),
            concurrency: setup.rules.concurrency,
            max_cost: setup.rules.max_cost,
            user_model: setup.user_model.clone(),
            search: search_options(
                open.flow.shelf.tasks().all().any(|task| task.suite.query.is_some()),
                &setup,
            ),
            wrong: if faults.is_empty() { setup.wrong } else { faults },
            tasks,
        })
    }

    fn system(self, system: &System, setup: &Setup) -> Choice {
        let (detail, why_not) = match system {
            System::PromptQl => match promptql_trouble(setup) {
                // A recording can replace the API.
                Some(_) if setup.models.iter().any(|model| model.provider == Provider::Replay) => (
                    "the PromptQL API; it is not set up here, so only recordings can be replayed",
                    None,
                ),
                trouble => ("the PromptQL API", trouble),
            },
            System::ToolCallingPython => {
                let tried = self.app.inner.launches.runtime().and_then(|runtime| {
                    let opened = python::PythonTool::open(
                        &self.app.inner.config.cache_dir,
                        python::PythonLimits::default(),
                    );
                    runtime.block_on(opened).map_err(|why| AppError {
                        hint: why.fix,
                        ..AppError::new(Code::Failed, why.message)
                    })
                });
                let trouble =
                    tried.err().map(|error| Blocker { message: error.message, fix: error.hint });
                ("the model calls tools, and runs Python in a sandbox", trouble)
            }
            System::ToolCalling | System::Other(_) => ("the model calls tools", None),
        };
        choice(system.as_str(), detail, why_not)
    }

    /// Returns the reason why a run cannot be replayed: there is no recording of it. `None` for
    /// runs that are not replayed.
    pub(super) fn unrecorded(open: &OpenFolder, setup: &Setup, at: &Coordinates) -> Option<String> {
        let roots = &open.flow.roots;
        not_recorded(setup.model(&at.model)?, at, &roots.folder, &roots.output_dir)
    }

    /// Returns the missing keys and settings of the model and system of a run.
    pub(super) fn missing_settings(self, setup: &Setup, at: &Coordinates) -> Vec<Blocker> {
        let Some(model) = setup.model(&at.model).filter(|model| model.provider != Provider::Replay)
        else {
            return Vec::new();
        };
        if at.system != System::PromptQl {
            return model
                .key
                .as_deref()
                .and_then(|key| self.app.settings().key_trouble(key))
                .into_iter()
                .collect();
        }
        let Some(spec) = setup.promptql_spec() else {
            return promptql_trouble(setup).into_iter().collect();
        };
        let key = self.app.settings().key_trouble(&spec.key);
        let no_build =
            spec.missing_build_reason(model).map(|message| Blocker { message, fix: None });
        key.into_iter().chain(no_build).chain(self.unset(&spec, model)).collect()
    }

    /// Returns the unset variables that the `PromptQL` settings name. Requests without them would
    /// be refused or do harm.
    fn unset(self, spec: &PromptQl, model: &Model) -> Vec<Blocker> {
        let trouble = |name: &String| match self.app.inner.keys.secret(name) {
            Ok(Some(_)) => None,
            Ok(None) => Some(Blocker {
                message: format!(
                    "{name} is not set, and `systems.promptql` in touchstone.yaml needs it"
                ),
                fix: Some(format!("Set {name} in the environment, and start Touchstone again.")),
            }),
            Err(why) => Some(Blocker {
                message: format!(
                    "{name} cannot be used, and `systems.promptql` in touchstone.yaml needs it"
                ),
                fix: Some(why.to_string()),
            }),
        };
        spec.names(model).iter().filter_map(trouble).collect()
    }

    pub(crate) fn model(self, model: &Model) -> Choice {
        let detail = match model.provider {
            Provider::Anthropic => format!("Anthropic, {}", model.model_id),
            Provider::OpenAi => format!("OpenAI wire, {}", model.model_id),
            Provider::Replay => touchstone_runner::provider::replay::SAYS.to_owned(),
        };
        let why_not = model.key.as_deref().and_then(|name| match self.app.inner.keys.get(name) {
            Ok(Some(_)) => None,
            Ok(None) => Some(Blocker {
                message: format!("Its key {name} is not set."),
                fix: Some(self.app.inner.keys.how_to_set(name)),
            }),
            Err(why) => Some(Blocker {
                message: format!("Its key {name} cannot be used."),
                fix: Some(why.to_string()),
            }),
        });
        choice(&model.name, &detail, why_not)
    }
}

/// Returns the search options, if there are virtual APIs or queries.
fn search_options(has_queries: bool, setup: &Setup) -> Option<SearchOptions> {
    let has_apis = setup.tools.iter().any(|tool| tool.kind == ToolKind::Virtual);
    let own = |model: &Model| model.way.method.map(|method| format!("{}: {method}", model.name));
    (has_apis || has_queries).then(|| SearchOptions {
        method: setup.way.method.map(|method| method.to_string()),
        others: setup.models.iter().filter_map(own).collect(),
        offer: setup.way.offer.unwrap_or_default().to_string(),
        has_apis,
    })
}

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

fn promptql_trouble(setup: &Setup) -> Option<Blocker> {
    let nothing = touchstone_formats::value::Value::Null;
    let read =
        touchstone_runner::provider::promptql::read(setup.promptql.as_ref().unwrap_or(&nothing));
    let fix = "Describe the API under `systems.promptql` in touchstone.yaml. Replays of recorded runs do not need it.";
    read.err().map(|message| Blocker { message, fix: Some(fix.to_owned()) })
}

/// Returns the reason why nothing can be run at all.
fn why_not(may_run: bool, no_tasks: bool, broken: &BTreeMap<String, String>) -> Option<Blocker> {
    let trouble = |message: &str, fix: &str| Blocker {
        message: message.to_owned(),
        fix: Some(fix.to_owned()),
    };
    if !may_run {
        return Some(trouble(
            "This page is read-only and cannot start runs.",
            "To allow it, start: touchstone serve --allow-run FOLDER",
        ));
    }
    if let Some(why) = broken.values().next().filter(|_| no_tasks) {
        return Some(trouble(
            &format!("No suite here can be read. {why}"),
            "Fix them; Problems shows each with its line.",
        ));
    }
    no_tasks.then(|| {
        trouble(
            "There are no tasks to run.",
            "Open a folder that has tasks beside its results, or name both in touchstone.yaml (`input_dir`, `output_dir`).",
        )
    })
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

/// Reason to refuse writing to a file of many runs.
const ONE_OF_MANY: &str = "It is one of many runs in a file of another program. Such files are never changed, so it cannot be rerun, resumed or forked.";

/// Returns a run of the index as a run that can be made.
pub(super) fn slot(open: &OpenFolder, setup: &Setup, row: RunRow) -> Result<Slot, String> {
    if row.format.is_some() {
        return Err("Another tool recorded it, and its file is read-only.".to_owned());
    }
    if row.member.is_some() {
        return Err(ONE_OF_MANY.to_owned());
    }
    let (Some(task), Some(system), Some(model), Some(variation)) =
        (row.task, row.system, row.model, row.variation)
    else {
        return Err("The file name does not identify the run, so it cannot be rerun.".to_owned());
    };
    let known = open.flow.shelf.tasks().get(&task).map(|task| Arc::clone(&task.suite));
    let known = known.ok_or_else(|| format!("Its task `{task}` is not in the input directory."))?;
    if setup.model(&model).is_none() {
        return Err(format!(
            "Its model `{model}` is unknown. Add it under `models:` in touchstone.yaml."
        ));
    }
    let at = Coordinates {
        task,
        system: System::from(system.as_str()),
        model,
        variation,
        repeat: row.repeat,
        fork: names::fork(&row.path),
    };
    // The file may use another of the supported names; it is continued in place.
    Ok(Slot { path: row.path, ..Slot::new(known, at) })
}

pub(super) fn refused(path: String, why: String) -> Planned {
    let at = Coordinates {
        task: String::new(),
        system: System::Other(String::new()),
        model: String::new(),
        variation: 0,
        repeat: 1,
        fork: 0,
    };
    let slot = Slot { path, ..Slot::new(Arc::default(), at) };
    Planned { slot, decision: Decision::refused(why) }
}

fn choice(name: &str, detail: &str, why_not: Option<Blocker>) -> Choice {
    Choice { name: name.to_owned(), detail: detail.to_owned(), why_not }
}
