//! Plans and starts launches. Owns the conversion of a request to jobs. Which runs have to be made
//! is decided in `runs::plan`; the runs of a request are collected in `launch_selection`.
use super::LaunchActions;
use super::launch_registry::id_of;
use super::launch_registry::unfinished;
use super::launch_selection::{NAMED_AS_REPEAT, Selection, made_by_others, select_runs};
use super::omitted_runs::left_out;
use super::part_origin::PartOrigin;
use super::revision;
use crate::error::{AppError, Code};
use crate::folder::segmenting;
use crate::jobs::spend_limit::{Budget, Prices};
use crate::number_format::fixed;
use crate::sensitive::sensitive_marks;
use crate::settings::keys::KnownSecrets;
use crate::settings::setup::setup_fault;
use crate::{App, OpenFolder};
use std::collections::{BTreeMap, BTreeSet, HashMap, HashSet};
use std::sync::Arc;
use touchstone_api::{
    Act, Blocked, Blocker, Estimate, LaunchPlan, LaunchRequest, Launched, PlannedRun, Problem,
    ProblemKind, Stale,
};
use touchstone_clock as clock;
use touchstone_formats::stabletoolbench::{Pool, Query};
use touchstone_formats::system::{System, ToolKind};
use touchstone_runner::execute::{
    Account, Endpoints, Job, LaunchContext, SpendLimit, Toolbox, VirtualApiContext,
};
use touchstone_runner::launch::{Launch, Listener, RunEventSender, StopTokens};
use touchstone_runner::part::PartHeader;
use touchstone_runner::plan::{self, Decision, Matrix, Past, Plan, Planned, Slot};
use touchstone_runner::provider::promptql::Build;
use touchstone_runner::setup::{MOST_AT_ONCE, Setup, ToolEntry};
use touchstone_runner::spec::{Model, Provider};
use touchstone_runner::strategy::Strategy;
use touchstone_runner::tools::virtual_api::{ApiEnvironment, Order, VirtualSettings};
use touchstone_runner::{disk, disk_state, lock, log, secrets};
use touchstone_store::index::Reader;
use touchstone_store::roots::{FileId, Root};
use touchstone_store::{open, query};

/// Maximum number of plan rows sent; the counts include all.
const SHOWN: usize = 1000;

/// Reason to refuse a run that would have to be written to a file of another format.
const KEPT_AS_JSON: &str = "Its result is a JSON file, and Touchstone writes YAML. Move that file out of the output directory to run it here.";

/// Maximum number of suite problems listed with a plan; Problems has all of them.
const LISTED: usize = 100;

/// Listeners of a launch, and notes sent in addition to run events.
#[derive(Default)]
pub(super) struct LaunchListeners {
    listeners: Vec<Listener>,
    notes: Vec<String>,
    /// First line of the log, if this is a part of a split launch.
    part: Option<PartHeader>,
    /// Dollars that earlier starts of the part spent of its share.
    spent: f64,
    /// Is told after the log, so that the log never waits for it.
    last: Option<Listener>,
}

/// Plan of a request, which can be shown and started.
pub struct PreparedLaunch {
    setup: Setup,
    plan: Plan,
    total: u64,
    what: String,
}

impl PreparedLaunch {
    /// Returns the runs that are incomplete and are not made, with reasons.
    pub fn left_out(&self) -> Vec<PlannedRun> {
        left(&self.plan)
    }

    /// Returns the number of runs of all parts, and what they are in a few words.
    pub(super) fn size(&self) -> (u64, &str) {
        (self.total, &self.what)
    }

    /// Returns the budget of all parts in dollars.
    pub(super) fn budget(&self, request: &LaunchRequest) -> Result<Option<f64>, AppError> {
        Budget::resolve(request.max_cost, &self.setup.rules).map(Budget::most)
    }

    /// Fails with the reason that every part would fail with. `confirmed` tells parts that targets may
    /// be attacked.
    pub(super) fn check(
        &self,
        app: &App,
        open: &OpenFolder,
        (request, confirmed): (&LaunchRequest, bool),
    ) -> Result<(), AppError> {
        if let Some(fault) = setup_fault(&self.setup) {
            return Err(failed(fault));
        }
        let slots = self.plan.owed.iter().map(|planned| &planned.slot);
        let lacking = app.launches().lacking_of(open, &self.setup, slots);
        if !lacking.is_empty() && lacking.iter().all(|troubles| !troubles.is_empty()) {
            return Err(cannot_start(&by_cause(&lacking)));
        }
        if !confirmed {
            app.red_team()
                .check_scan(&self.setup, self.plan.owed.iter().map(|planned| &planned.slot))?;
        }
        check_inputs(open, request, &self.setup, &self.plan).map(drop)
    }

    /// Returns the first line of the log of a part.
    fn header(&self, request: &LaunchRequest, origin: &PartOrigin) -> PartHeader {
        let (part, parts) = request.shard.map_or((1, 1), |shard| (shard.index, shard.count));
        let skipped = &self.plan.skipped;
        let complete = skipped.iter().filter(|run| run.decision.act == Act::Nothing).count();
        PartHeader {
            at_ms: clock::now_ms(),
            launch: origin.launch.clone(),
            part,
            parts,
            what: self.what.clone(),
            total: self.total,
            owed: self.plan.owed.len() as u64,
            complete: complete as u64,
            left_out: (skipped.len() - complete) as u64,
            max_cost: request.max_cost.or(self.setup.rules.max_cost),
            host: lock::host(),
            job: origin.job.clone(),
            why: None,
        }
    }
}

impl LaunchListeners {
    /// Listeners, with a note that is sent first.
    pub(super) fn noting(listeners: Vec<Listener>, note: String) -> Self {
        Self { listeners, notes: vec![note], ..Self::default() }
    }
}

impl From<Vec<Listener>> for LaunchListeners {
    fn from(listeners: Vec<Listener>) -> Self {
        Self { listeners, ..Self::default() }
    }
}

impl LaunchActions<'_> {
    /// Returns the plan of a request. Nothing is sent.
    pub fn plan_launch(self, request: &LaunchRequest) -> Result<LaunchPlan, AppError> {
        self.show_launch(request, &self.prepare_launch(request)?)
    }

    /// Plans a request, to show the plan and to start it.
    pub fn prepare_launch(self, request: &LaunchRequest) -> Result<PreparedLaunch, AppError> {
        let open = self.app.require_folder()?;
        let setup = with_user_model(self.app.settings().setup_to_look()?, request)?;
        Self::plan_with(&open, setup, request)
    }

    /// Returns a plan as it is shown.
    pub fn show_launch(
        self,
        request: &LaunchRequest,
        prepared: &PreparedLaunch,
    ) -> Result<LaunchPlan, AppError> {
        let open = self.app.require_folder()?;
        let PreparedLaunch { setup, plan, .. } = prepared;
        let problems = launch_problems(&open, request, plan);
        let lost = open
            .check_directories_exist()
            .err()
            .map(|error| Blocker { message: error.message, fix: error.hint });
        let invalid = lost.or_else(|| setup_fault(setup)).or_else(|| suite_fault(&problems));
        let lacking = self.lacking_of(&open, setup, plan.owed.iter().map(|planned| &planned.slot));
        let user_models = user_models(setup, plan);
        let share = share_of_part(request, setup);
        let played = |attacks| {
            let runs = plan.owed.iter().filter(|planned| {
                planned.slot.user().is_some_and(|user| user.attack.is_some() == attacks)
            });
            names(runs.filter_map(|planned| user_model(setup, planned)))
        };
        let notes = same_requests(setup, plan).into_iter().chain(played_by(&played(false)));
        let notes = notes.chain(led_by(&played(true)));
        let notes = share.into_iter().chain(notes).collect();
        let prices = prices(&open, setup, plan);
        let unbound = Budget::resolve(request.max_cost, &setup.rules)?.ineffective_note(&prices);
        let scan =
            self.app.red_team().scan_plan(setup, plan.owed.iter().map(|planned| &planned.slot));
        // Complete runs are the least interesting of a long list.
        let mut skipped: Vec<&Planned> = plan.skipped.iter().collect();
        skipped.sort_by_key(|planned| planned.decision.act == Act::Nothing);
        let tasks: BTreeSet<&str> =
            plan.owed.iter().map(|planned| planned.slot.at.task.as_str()).collect();
        let past = open.ask(|index| query::took(index, &tasks))?.into_iter();
        let past: Vec<Past> = past
            .map(|(task, system, model, turns, tokens, cost, user_model)| Past {
                task,
                system,
                model,
                turns,
                tokens,
                cost,
                user_model,
            })
            .collect();
        let is_replayed = |planned: &&Planned| {
            setup
                .model(&planned.slot.at.model)
                .is_some_and(|model| model.provider == Provider::Replay)
        };
        // Runs that cannot start here cost nothing.
        let starting = plan.owed.iter().zip(&lacking).filter(|(_, troubles)| troubles.is_empty());
        let starting = starting.map(|(planned, _)| planned);
        let (replayed, asked): (Vec<&Planned>, Vec<_>) = starting.partition(is_replayed);
        let estimate = plan::estimate(
            &past,
            asked.iter().map(|planned| (&planned.slot.at, user_model(setup, planned))),
        );
        let estimate = plan::with_free(estimate, replayed.len() as u64);
        let row = |planned: &Planned| {
            let path = planned.slot.path.as_str();
            let listed =
                if is_ours(path) { None } else { open.ask(|index| query::run_at(index, path))? };
            Ok::<_, AppError>(planned.row(listed.unwrap_or_else(|| id_of(path))))
        };
        let owed = plan.owed.iter().take(SHOWN).map(row).collect::<Result<_, _>>()?;
        Ok(LaunchPlan {
            owed,
            owed_total: plan.owed.len() as u64,
            skipped: skipped.into_iter().take(SHOWN).map(row).collect::<Result<_, _>>()?,
            skipped_total: plan.skipped.len() as u64,
            unbound,
            problems,
            invalid,
            blocked_total: lacking.iter().filter(|troubles| !troubles.is_empty()).count() as u64,
            blocked: by_cause(&lacking),
            user_models,
            notes,
            unpriced: prices.unpriced(),
            estimate: Estimate { cost: estimate.cost.filter(|_| prices.are_known()), ..estimate },
            scan,
        })
    }

    /// Starts the launch of a request.
    pub fn start_launch(self, request: &LaunchRequest) -> Result<Launched, AppError> {
        self.start_launch_with(request, Vec::new())
    }

    /// Like [`Self::start_launch`], with listeners for every event.
    pub fn start_launch_with(
        self,
        request: &LaunchRequest,
        listeners: Vec<Listener>,
    ) -> Result<Launched, AppError> {
        self.app.require_folder()?.check_directories_exist()?;
        let prepared = self.prepare_launch(request)?;
        self.start_prepared(request, prepared, None, listeners).map(|(launched, _)| launched)
    }

    /// Starts a plan, and also returns the incomplete runs that are not made, with reasons. A part of
    /// a split launch is logged even if it makes no runs.
    pub fn start_prepared(
        self,
        request: &LaunchRequest,
        prepared: PreparedLaunch,
        part: Option<&PartOrigin>,
        listeners: Vec<Listener>,
    ) -> Result<(Launched, Vec<PlannedRun>), AppError> {
        let open = self.app.require_folder()?;
        let header = part.map(|origin| prepared.header(request, origin));
        let spent = part.map_or(Ok(0.0), |origin| origin.spent_before(&open.flow.roots.output_dir));
        let spent = spent.map_err(|why| {
            let message = format!("What this part spent before could not be read: {why}");
            AppError::new(Code::Failed, message)
                .hint("Make the folder readable, and start it again.")
        })?;
        let listeners = LaunchListeners::from(listeners);
        let last = header.as_ref().map(|part| segmenting::listener(Arc::clone(&open), part.part));
        let telling = LaunchListeners { part: header.clone(), spent, last, ..listeners };
        let started = self.start_plan(&open, request, prepared, telling);
        if let (Err(error), Some(mut header)) = (&started, header) {
            let is_idle = header.owed == 0 && header.left_out == 0;
            header.why = (!is_idle).then(|| error.to_string());
            let id = self.app.inner.launches.next_id();
            log::note_idle_part(&open.flow.roots.output_dir, &id, &header);
        }
        started
    }

    fn start_plan(
        self,
        open: &OpenFolder,
        request: &LaunchRequest,
        prepared: PreparedLaunch,
        mut telling: LaunchListeners,
    ) -> Result<(Launched, Vec<PlannedRun>), AppError> {
        let PreparedLaunch { mut setup, mut plan, .. } = prepared;
        open.check_directories_exist()?;
        if let Some(fault) = setup_fault(&setup) {
            return Err(failed(fault));
        }
        let lacking = self.refuse_blocked(open, &setup, &mut plan);
        if plan.owed.is_empty() && !lacking.is_empty() {
            return Err(cannot_start(&by_cause(&lacking)));
        }
        let budget = check_inputs(open, request, &setup, &plan)?;
        let shards = request.shard.map_or(1, |shard| shard.count.max(1));
        let concurrency = request.concurrency.unwrap_or(setup.rules.concurrency);
        setup.rules.concurrency = parts_share(concurrency, shards);
        // Each machine spends its share at most, because none knows what the others spend.
        setup.rules.max_cost =
            budget.most().map(|most| (most / f64::from(shards) - telling.spent).max(0.0));
        if let Some(refused) =
            plan.skipped.iter().find(|run| run.decision.act == Act::Refused && plan.owed.is_empty())
        {
            let why = &refused.decision.why;
            return Err(AppError::new(
                Code::BadRequest,
                format!("Nothing can be run. {}: {why}", refused.slot.path),
            ));
        }
        for run in &plan.skipped {
            lock::clear_away(&open.flow.roots.output_dir, &run.slot.path);
        }
        let left = left(&plan);
        let rules = rules(request);
        let jobs: Vec<Job> = plan
            .owed
            .into_iter()
            .map(|planned| Job { slot: planned.slot, rules, message: None })
            .collect();
        if let Some(part) = &mut telling.part {
            part.left_out += part.owed - jobs.len() as u64;
            part.owed = jobs.len() as u64;
        }
        Ok((self.begin(open, setup, jobs, telling)?, left))
    }

    /// Launches again the runs of a launch that failed or were stopped.
    pub fn retry_launch(self, id: &str) -> Result<Launched, AppError> {
        let open = self.app.require_folder()?;
        let old = self.app.inner.launches.find(id)?;
        if old.output_dir != open.flow.roots.output_dir {
            let error = AppError::new(Code::BadRequest, "This launch belongs to another folder.");
            return Err(error.hint("Open that folder first."));
        }
        if !old.is_over() {
            let error = AppError::new(Code::BadRequest, "This launch is still in progress.");
            return Err(error.hint("Stop it first, or wait until it is done."));
        }
        let left = unfinished(&old);
        let again = |job: &Job| {
            let begun = *left.get(&job.slot.path)?;
            let mut job = job.clone();
            if begun {
                // The run has restarted since, so it resumes from its current state. Its message
                // was added then, too.
                job.rules.start_over = false;
                job.message = None;
            }
            Some(job)
        };
        let jobs: Vec<Job> = old.jobs.iter().filter_map(again).collect();
        let mut setup = self.app.settings().setup()?;
        setup.user_model = old.user_model.clone().or(setup.user_model);
        let (jobs, left) = self.ready_jobs(&open, &setup, jobs)?;
        setup.rules.max_cost = old.rules.max_cost;
        setup.rules.concurrency = old.rules.concurrency;
        self.begin(
            &open,
            setup,
            jobs,
            LaunchListeners { notes: left, ..LaunchListeners::default() },
        )
    }

    /// Splits jobs into those that can be made here and sentences about the others. A refused run
    /// is not changed on disk. Fails if no job can be made.
    fn ready_jobs(
        self,
        open: &OpenFolder,
        setup: &Setup,
        jobs: Vec<Job>,
    ) -> Result<(Vec<Job>, Vec<String>), AppError> {
        let why = jobs.iter().map(|job| self.unready(open, setup, &job.slot));
        let why: Vec<_> = why.collect();
        let (mut ready, mut refused) = (Vec::new(), Vec::new());
        for (job, why) in jobs.into_iter().zip(why) {
            match why {
                None => ready.push(job),
                Some(why) => refused.push((job.slot.path, why)),
            }
        }
        match refused.first().filter(|_| ready.is_empty()) {
            Some((path, why)) => {
                Err(AppError::new(Code::BadRequest, format!("Nothing can be run. {path}: {why}")))
            }
            None => Ok((ready, left_out(&refused))),
        }
    }

    /// Returns the plan of a request in the open folder with this setup.
    fn plan_with(
        open: &OpenFolder,
        setup: Setup,
        request: &LaunchRequest,
    ) -> Result<PreparedLaunch, AppError> {
        let Selection { mut matrix, mut refused, total, what } =
            select_runs(open, &setup, request)?;
        // A worker has no index that knows of complete runs.
        let is_indexed = !request.start_over && !open.is_worker();
        if is_indexed {
            refused.append(&mut complete(open, &mut matrix)?);
        }
        let asked = read_strategy(request)?;
        for slot in &mut matrix.slots {
            slot.way = setup.strategy_for(asked, &slot.at, &slot.task);
        }
        if is_indexed {
            refused.append(&mut made_by_others(open, &setup, &mut matrix)?);
        }
        let dir = &open.flow.roots.output_dir;
        let mut forks = HashSet::new();
        let on_disk = |slot: &Slot| {
            let state = disk_state::read_disk_state(dir, &slot.path);
            if open.is_worker() && slot.at.repeat > 1 && state.is_fork() {
                forks.insert(slot.path.clone());
            }
            state
        };
        let mut plan = plan::outstanding(matrix, on_disk, rules(request));
        refuse_forks(&mut plan, &forks);
        Self::refuse_impossible(open, &setup, &mut plan);
        plan.skipped.append(&mut refused);
        Ok(PreparedLaunch { setup, plan, total, what })
    }

    /// Moves planned runs that their files on disk make impossible to the skipped ones, with
    /// reasons.
    fn refuse_impossible(open: &OpenFolder, setup: &Setup, plan: &mut Plan) {
        refuse(plan, |slot| {
            let json = || disk_state::is_json(&slot.path).then(|| KEPT_AS_JSON.to_owned());
            Self::unrecorded(open, setup, &slot.at).or_else(json)
        });
    }

    /// Moves planned runs without the required keys or settings to the skipped ones. Returns the
    /// missing ones for each planned run.
    fn refuse_blocked(
        self,
        open: &OpenFolder,
        setup: &Setup,
        plan: &mut Plan,
    ) -> Vec<Vec<Blocker>> {
        let lacking = self.lacking_of(open, setup, plan.owed.iter().map(|planned| &planned.slot));
        let mut each = lacking.iter();
        refuse(plan, |_| each.next().and_then(|troubles| troubles.first()).map(sentence));
        lacking
    }

    /// Returns the missing keys and settings for each of these runs.
    fn lacking_of<'s>(
        self,
        open: &OpenFolder,
        setup: &Setup,
        slots: impl Iterator<Item = &'s Slot>,
    ) -> Vec<Vec<Blocker>> {
        // Cached, because they are equal for every task and querying a keyring is slow.
        let mut known: HashMap<(System, String), Vec<Blocker>> = HashMap::new();
        let mut players: HashMap<(Option<String>, bool), Option<Blocker>> = HashMap::new();
        let (mut simulators, mut tools) = (None, None);
        let of_slot = |slot: &Slot| {
            let at = &slot.at;
            let key = (at.system.clone(), at.model.clone());
            let mut troubles =
                known.entry(key).or_insert_with(|| self.missing_settings(setup, at)).clone();
            let uses = |tool: &str| {
                slot.task.tools.as_ref().is_none_or(|tools| tools.iter().any(|known| known == tool))
            };
            let replayed =
                setup.model(&at.model).is_some_and(|model| model.provider == Provider::Replay);
            if at.system != System::PromptQl && !replayed {
                let simulators: &Vec<_> =
                    simulators.get_or_insert_with(|| self.simulators_lacking(open, setup));
                troubles.extend(
                    simulators
                        .iter()
                        .filter(|(tool, _)| uses(tool))
                        .map(|(_, trouble)| trouble.clone()),
                );
            }
            if at.system != System::PromptQl {
                // Tools are called for real even if a recording replaces the model.
                let tools: &Vec<_> = tools.get_or_insert_with(|| self.tools_lacking(setup));
                troubles.extend(
                    tools.iter().filter(|(tool, _)| uses(tool)).map(|(_, trouble)| trouble.clone()),
                );
                troubles.extend(undefined(setup, slot.task.tools.as_deref()));
            }
            if let Some(user) = slot.user() {
                let name = setup.user_model_for(Some(user), slot.user_model.as_deref());
                let attacks = user.attack.is_some();
                let trouble = players
                    .entry((name.map(str::to_owned), attacks))
                    .or_insert_with(|| self.user_lacking(setup, name, attacks));
                troubles.extend(trouble.clone());
            }
            troubles
        };
        slots.map(of_slot).collect()
    }

    /// Returns the reason why a run cannot be made here now; `None` if it can.
    fn unready(self, open: &OpenFolder, setup: &Setup, slot: &Slot) -> Option<String> {
        let lacking =
            || self.lacking_of(open, setup, std::iter::once(slot)).pop()?.first().map(sentence);
        Self::unrecorded(open, setup, &slot.at).or_else(lacking)
    }

    /// Fails before anything is written if a run that is to be continued by hand could not be made.
    pub(super) fn check_ready(
        self,
        open: &OpenFolder,
        setup: &Setup,
        slot: &Slot,
    ) -> Result<(), AppError> {
        match self.unready(open, setup, slot) {
            None => Ok(()),
            Some(why) => Err(AppError::new(Code::BadRequest, why)),
        }
    }

    /// Returns what the simulated user of a run lacks: a model that plays it, or the key of that
    /// model.
    fn user_lacking(self, setup: &Setup, name: Option<&str>, attacks: bool) -> Option<Blocker> {
        let Some(name) = name else {
            if attacks {
                return Some(Blocker {
                    message: "No model is named that leads the attacks over several turns".to_owned(),
                    fix: Some(
                        "Choose the attacker in the launch sheet or with --user-model, or write the suites with --attacker-model."
                            .to_owned(),
                    ),
                });
            }
            return Some(Blocker {
                message: "No model plays the simulated user of the task".to_owned(),
                fix: Some(
                    "Choose it in the launch sheet or with --user-model, or name it with `user_model` in touchstone.yaml."
                        .to_owned(),
                ),
            });
        };
        let Some(model) = setup.model(name) else {
            return Some(Blocker {
                message: format!(
                    "There is no model named `{name}`, which plays the user of the task"
                ),
                fix: Some(
                    "Define it under `models` in touchstone.yaml, or choose another.".to_owned(),
                ),
            });
        };
        if model.provider == Provider::Replay {
            return Some(Blocker {
                message: format!("`{name}` repeats recordings and cannot play a user"),
                fix: Some("Choose another model for the simulated user.".to_owned()),
            });
        }
        let Blocker { message, fix } = self.app.settings().key_trouble(model.key.as_deref()?)?;
        let message = format!("{message}, and `{name}`, which plays the user, needs it");
        Some(Blocker { message, fix })
    }

    /// Returns the virtual API tools whose simulator lacks a key, with the missing keys.
    fn simulators_lacking(self, open: &OpenFolder, setup: &Setup) -> Vec<(String, Blocker)> {
        let lacking = |(tool, model): (&ToolEntry, &Model)| {
            let Blocker { message, fix } =
                self.app.settings().key_trouble(model.key.as_deref()?)?;
            let (tool, name) = (&tool.name, &model.name);
            let message =
                format!("{message}, and the simulator `{name}` of the tool `{tool}` needs it");
            Some((tool.clone(), Blocker { message, fix }))
        };
        simulators(open, setup).filter_map(lacking).collect()
    }

    /// Returns the tools whose settings name a variable that is not set, with the missing
    /// variables.
    fn tools_lacking(self, setup: &Setup) -> Vec<(String, Blocker)> {
        let of_tool = |tool: &ToolEntry| {
            let mut names = BTreeSet::new();
            let settings =
                tool.settings.entries().iter().filter(|(key, _)| key.text() != Some("description"));
            settings.for_each(|(_, value)| secrets::collect_placeholders(value, &mut names));
            let lacking = names.into_iter().filter_map(|name| {
                let (message, fix) = match self.app.inner.keys.secret(&name) {
                    Ok(Some(_)) => return None,
                    Ok(None) => {
                        let fix =
                            format!("Set {name} in the environment, or store it in the keyring.");
                        (format!("{name} is not set"), fix)
                    }
                    Err(why) => (format!("{name} cannot be used"), why.to_string()),
                };
                let message = format!("{message}, and the tool `{}` needs it", tool.name);
                Some((tool.name.clone(), Blocker { message, fix: Some(fix) }))
            });
            lacking.collect::<Vec<_>>()
        };
        setup.tools.iter().flat_map(of_tool).collect()
    }

    /// Starts these jobs on the runtime of launches.
    pub(super) fn begin(
        self,
        open: &OpenFolder,
        mut setup: Setup,
        jobs: Vec<Job>,
        telling: LaunchListeners,
    ) -> Result<Launched, AppError> {
        open.check_directories_exist()?;
        let LaunchListeners { mut listeners, notes, part, last, .. } = telling;
        if jobs.is_empty() {
            let error = AppError::new(Code::BadRequest, "Nothing to run.");
            return Err(error
                .hint("Run again from the start to replace results; old files are moved aside."));
        }
        self.app.red_team().check_scan(&setup, jobs.iter().map(|job| &job.slot))?;
        let dir = &open.flow.roots.output_dir;
        if !dir.is_dir() && open.is_worker() {
            let message = format!("The output directory {} does not exist.", dir.display());
            return Err(AppError::new(Code::NotFound, message)
                .hint("Mount it on this machine, or create it if nothing has run yet."));
        }
        if !dir.is_dir() {
            // The directory never existed. Registers it now, so that a later loss is detected.
            disk::make_root(dir).map_err(|why| {
                AppError::new(
                    Code::Failed,
                    format!("The output directory could not be created: {why}"),
                )
            })?;
            open.flow.look_at(&FileId::new(Root::Output, ""));
        }
        sensitive_marks::mark_attacks(dir, &jobs)?;
        setup.commit = revision::of_folder(&open.flow.roots.folder, dir);
        let runtime = self.app.inner.launches.runtime()?;
        let run = if let [job] = jobs.as_slice() { Some(id_of(&job.slot.path)) } else { None };
        let id = self.app.inner.launches.next_id();
        let poster = self.app.inner.bulletin.sender();
        listeners.push(Box::new(move |_| poster.post(Stale::Launches)));
        listeners.extend(log::listener(&open.flow.roots.output_dir, &id, part.as_ref()));
        listeners.extend(last);
        let (teller, events) = RunEventSender::new();
        let given_up = self.app.inner.launches.opening();
        let crew = runtime.block_on(
            given_up.run_until_cancelled(self.launch_context(open, setup, &jobs, teller)),
        );
        let crew = crew.ok_or_else(|| {
            AppError::new(Code::Failed, "It was stopped while opening tools, so no run started.")
        })?;
        for note in &notes {
            crew.note(note);
        }
        let crew = Arc::new(crew);
        {
            // Opening the tools took time, so the folder is checked again. The lock prevents
            // opening another folder until the launch is registered.
            let now = self.app.lock();
            if now.as_ref().is_none_or(|now| !std::ptr::eq(now.as_ref(), open)) {
                return Err(AppError::new(
                    Code::NoFolder,
                    "Another folder was opened before the runs began.",
                ));
            }
            let _inside = runtime.enter();
            let launch = Launch::start(id.clone(), crew, jobs, events, listeners);
            self.app.inner.launches.add(Arc::new(launch));
        }
        self.app.inner.bulletin.post(Stale::Launches);
        Ok(Launched { launch: id, run })
    }

    /// Returns the context of virtual APIs, if there are any.
    fn virtual_api_context(
        self,
        open: &OpenFolder,
        setup: &Setup,
        known: &KnownSecrets,
        account: Account,
    ) -> Option<VirtualApiContext> {
        let apis = || setup.tools.iter().filter(|tool| tool.kind == ToolKind::Virtual);
        apis().next()?;
        let need_queries = apis().any(|tool| tool.settings.get("tools_folder").is_none());
        let tasks = open.flow.shelf.tasks();
        let queries: Vec<Query> = tasks
            .all()
            .filter(|_| need_queries)
            .filter_map(|task| Query::of_task(&task.suite))
            .collect();
        let keys = known.keys.clone();
        Some(VirtualApiContext {
            queries: Arc::new(Pool::of_queries(&queries)),
            wires: ApiEnvironment {
                client: self.app.inner.launches.client().clone(),
                limiters: self.app.inner.launches.limiters(),
                keys: Arc::new(move |name| keys.get(name).cloned()),
                redactor: known.redactor(),
                payer: Some(Arc::new(account)),
            },
        })
    }

    pub(crate) async fn launch_context(
        self,
        open: &OpenFolder,
        setup: Setup,
        jobs: &[Job],
        teller: RunEventSender,
    ) -> LaunchContext {
        let base = open.flow.roots.folder.clone();
        let known = self.app.settings().known_secrets(&setup);
        let redactor = known.redactor();
        let (purse, stops) =
            (Arc::new(SpendLimit::new(setup.rules.max_cost)), StopTokens::default());
        let with_python = jobs.iter().any(|job| job.slot.at.system == System::ToolCallingPython);
        let with_tools = jobs.iter().any(|job| job.slot.at.system != System::PromptQl);
        let cache = with_python.then_some(self.app.inner.config.cache_dir.as_path());
        let toolbox = if with_tools {
            let wanted = |name: &str| {
                let uses = |job: &Job| {
                    job.slot
                        .task
                        .tools
                        .as_ref()
                        .is_none_or(|tools| tools.iter().any(|tool| tool == name))
                };
                jobs.iter().any(|job| job.slot.at.system != System::PromptQl && uses(job))
            };
            let account =
                Account::new(Arc::clone(&purse), teller.clone(), stops.clone(), redactor.clone());
            let around = self.virtual_api_context(open, &setup, &known, account);
            Toolbox::open(&setup, &base, &known.secrets, wanted, cache, around.as_ref()).await
        } else {
            Toolbox::default()
        };
        LaunchContext {
            output_dir: open.flow.roots.output_dir.clone(),
            base,
            keys: known.keys,
            secrets: known.secrets,
            client: self.app.inner.launches.client().clone(),
            limiters: self.app.inner.launches.limiters(),
            redactor,
            toolbox,
            teller,
            stops,
            purse,
            doors: Endpoints::for_jobs(&setup, jobs),
            setup,
        }
    }
}

/// Returns what one part of a launch on many machines spends and runs at the same time.
fn share_of_part(request: &LaunchRequest, setup: &Setup) -> Option<String> {
    let shards = request.shard?.count.max(1);
    let at_once = parts_share(request.concurrency.unwrap_or(setup.rules.concurrency), shards);
    let spends = request.max_cost.or(setup.rules.max_cost).map(|most| {
        let share = fixed(most / f64::from(shards), 4);
        format!(", and it may spend ${share} of ${most} each time it is started")
    });
    let runs = if at_once == 1 { "1 run".to_owned() } else { format!("{at_once} runs") };
    Some(format!(
        "This is one of {shards} parts: it makes {runs} at the same time{}.",
        spends.unwrap_or_default()
    ))
}

/// Returns the share of one part, at least one and at most what one machine makes.
fn parts_share(concurrency: u32, shards: u32) -> u32 {
    (concurrency / shards).clamp(1, MOST_AT_ONCE)
}

/// Returns the virtual API tools that may have to simulate an API, each with its simulator model.
fn simulators<'s>(
    open: &'s OpenFolder,
    setup: &'s Setup,
) -> impl Iterator<Item = (&'s ToolEntry, &'s Model)> {
    let simulator = |tool: &ToolEntry| {
        let read = VirtualSettings::read(&tool.name, &tool.settings, &open.flow.roots.folder, &[]);
        setup.model(&read.ok().filter(|settings| settings.order != Order::Real)?.simulator?)
    };
    let virtual_apis = setup.tools.iter().filter(|tool| tool.kind == ToolKind::Virtual);
    virtual_apis.filter_map(move |tool| Some((tool, simulator(tool)?)))
}

/// Collects the unknown prices of the planned runs: of their models and of the simulators of their
/// tools.
fn prices(open: &OpenFolder, setup: &Setup, plan: &Plan) -> Prices {
    let model = |planned: &Planned| {
        setup.model(&planned.slot.at.model).filter(|model| model.provider != Provider::Replay)
    };
    let (of_promptql, talks): (Vec<&Planned>, Vec<&Planned>) =
        plan.owed.iter().partition(|planned| planned.slot.at.system == System::PromptQl);
    let uses = |tool: &ToolEntry| {
        let named = |planned: &&Planned| {
            planned.slot.task.tools.as_ref().is_none_or(|tools| tools.contains(&tool.name))
        };
        talks.iter().any(named)
    };
    let simulated = simulators(open, setup).filter(|(tool, _)| uses(tool)).map(|(_, model)| model);
    let mut prices =
        Prices::for_models(talks.iter().filter_map(|planned| model(planned)).chain(simulated));
    for name in user_models(setup, plan) {
        if setup.model(&name).is_some_and(|model| model.price.is_none()) {
            prices.add(format!("`{name}`"));
        }
    }
    if of_promptql.iter().any(|planned| model(planned).is_some()) {
        prices.add("PromptQL".to_owned());
    }
    prices
}

/// Returns the model that plays the simulated user of a planned run.
fn user_model<'s>(setup: &'s Setup, planned: &'s Planned) -> Option<&'s str> {
    setup.user_model_for(planned.slot.user(), planned.slot.user_model.as_deref())
}

/// Returns the models that play the simulated users of the planned runs, without duplicates.
fn user_models(setup: &Setup, plan: &Plan) -> Vec<String> {
    names(plan.owed.iter().filter_map(|planned| user_model(setup, planned)))
}

/// Returns names in order, without duplicates.
fn names<'s>(names: impl Iterator<Item = &'s str>) -> Vec<String> {
    names.collect::<BTreeSet<&str>>().into_iter().map(str::to_owned).collect()
}

/// Returns a sentence that says which models play simulated users.
fn played_by(models: &[String]) -> Option<String> {
    let names: Vec<String> = models.iter().map(|name| format!("`{name}`")).collect();
    (!names.is_empty()).then(|| {
        format!("Simulated users are played by {}. The estimate includes them, from past runs with the same user model.", names.join(", "))
    })
}

/// Returns a sentence that says which models lead attacks.
fn led_by(models: &[String]) -> Option<String> {
    let names: Vec<String> = models.iter().map(|name| format!("`{name}`")).collect();
    (!names.is_empty()).then(|| {
        format!("Attacks over several turns are led by {}. \
             The estimate includes their cost when there are past runs with the same model. Without \
             such runs it leaves their cost out.", names.join(", "))
    })
}

/// Returns the setup with the model of the request for simulated users.
fn with_user_model(mut setup: Setup, request: &LaunchRequest) -> Result<Setup, AppError> {
    if let Some(name) = &request.user_model {
        if setup.model(name).is_none() {
            return Err(crate::settings::keys::no_model(&setup, name));
        }
        setup.user_model = Some(name.clone());
    }
    Ok(setup)
}

/// Removes runs that are complete according to the index, if their file is unchanged. In a large
/// folder most runs are, and need not be read again.
fn complete(open: &OpenFolder, matrix: &mut Matrix) -> Result<Vec<Planned>, AppError> {
    let roots = &open.flow.roots;
    let is_complete = |index: &Reader<'_>, slot: &Slot| {
        let file = FileId::new(Root::Output, slot.path.as_bytes());
        let known = match open::open(roots, &file) {
            Ok((_, stamp)) => query::is_answered(index, &file, &stamp)?,
            Err(_) => false,
        };
        Ok(known && lock::held_by(&roots.output_dir, &slot.path).is_none())
    };
    let complete: Vec<bool> =
        open.ask(|index| matrix.slots.iter().map(|slot| is_complete(index, slot)).collect())?;
    let mut done = Vec::new();
    for (slot, is_complete) in std::mem::take(&mut matrix.slots).into_iter().zip(complete) {
        if is_complete {
            done.push(Planned { slot, decision: Decision::complete() });
        } else {
            matrix.slots.push(slot);
        }
    }
    Ok(done)
}

/// Reads the strategy options of a request.
fn read_strategy(request: &LaunchRequest) -> Result<Strategy, AppError> {
    let text = |number: Option<u32>| number.map(|number| number.to_string());
    let said = |key: &str| match key {
        "method" => request.method.clone(),
        "offer" => request.offer.clone(),
        "steps" => text(request.steps),
        "queries" => text(request.queries),
        _ => None,
    };
    Strategy::read(said).map_err(|why| AppError::new(Code::BadRequest, why))
}

/// Moves planned runs with a reason to the skipped ones.
fn refuse(plan: &mut Plan, mut why: impl FnMut(&Slot) -> Option<String>) {
    let mut owed = Vec::new();
    for planned in std::mem::take(&mut plan.owed) {
        match why(&planned.slot) {
            None => owed.push(planned),
            Some(why) => plan.skipped.push(Planned { decision: Decision::refused(why), ..planned }),
        }
    }
    plan.owed = owed;
}

/// Skips the repeats whose file holds a fork. Whoever knows all files counts repeats past it.
fn refuse_forks(plan: &mut Plan, forks: &HashSet<String>) {
    let is_fork = |slot: &Slot| forks.contains(&slot.path);
    refuse(plan, |slot| is_fork(slot).then(|| NAMED_AS_REPEAT.to_owned()));
    for planned in plan.skipped.iter_mut().filter(|planned| is_fork(&planned.slot)) {
        planned.decision = Decision::refused(NAMED_AS_REPEAT);
    }
}

/// Returns the tools that a task names and the workspace file does not define.
fn undefined<'s>(
    setup: &'s Setup,
    tools: Option<&'s [String]>,
) -> impl Iterator<Item = Blocker> + 's {
    let is_known = |name: &String| setup.tools.iter().any(|tool| tool.name == *name);
    tools.into_iter().flatten().filter(move |name| !is_known(name)).map(|name| Blocker {
        message: format!("touchstone.yaml does not define the tool `{name}`, and the task uses it"),
        fix: Some(format!(
            "Add `{name}` under `tools:` in touchstone.yaml, or take it out of the task."
        )),
    })
}

/// Joins the message and the fix.
fn sentence(trouble: &Blocker) -> String {
    let fix = trouble.fix.as_ref().map(|fix| format!(" {fix}")).unwrap_or_default();
    let end = if trouble.message.ends_with('.') { "" } else { "." };
    format!("{}{end}{fix}", trouble.message)
}

/// Groups the problems that block runs, the most frequent first.
fn by_cause(lacking: &[Vec<Blocker>]) -> Vec<Blocked> {
    let mut causes: Vec<Blocked> = Vec::new();
    for trouble in lacking.iter().flatten() {
        match causes.iter_mut().find(|cause| cause.why == trouble.message) {
            Some(cause) => cause.runs += 1,
            None => causes.push(Blocked {
                why: trouble.message.clone(),
                fix: trouble.fix.clone(),
                runs: 1,
            }),
        }
    }
    causes.sort_by_key(|cause| std::cmp::Reverse(cause.runs));
    causes
}

/// Builds the error of a launch of which no run can start.
fn cannot_start(causes: &[Blocked]) -> AppError {
    let line = |cause: &Blocked| {
        let runs =
            if cause.runs == 1 { "1 run".to_owned() } else { format!("{} runs", cause.runs) };
        format!("Cannot start here: {} ({runs}).", cause.why.trim_end_matches('.'))
    };
    let message = causes.iter().map(line).collect::<Vec<_>>().join("\n");
    let mut fixes: Vec<&str> = causes.iter().filter_map(|cause| cause.fix.as_deref()).collect();
    fixes.dedup();
    let error = AppError::new(Code::BadRequest, message);
    if fixes.is_empty() { error } else { error.hint(fixes.join(" ")) }
}

/// Returns a warning if runs of several models would send identical requests: PromptQL v2 requests
/// name a build and no model.
fn same_requests(setup: &Setup, plan: &Plan) -> Option<String> {
    let spec = setup.promptql_spec()?;
    let models: BTreeSet<&str> = plan
        .owed
        .iter()
        .map(|planned| &planned.slot.at)
        .filter(|at| at.system == System::PromptQl)
        .map(|at| at.model.as_str())
        .collect();
    let mut by_build: BTreeMap<&Build, Vec<&str>> = BTreeMap::new();
    for model in models
        .iter()
        .filter_map(|name| setup.model(name))
        .filter(|model| model.provider != Provider::Replay)
    {
        by_build.entry(spec.build(model)?).or_default().push(&model.name);
    }
    let same: Vec<String> =
        by_build.values().filter(|names| names.len() > 1).map(|names| names.join(", ")).collect();
    (!same.is_empty()).then(|| {
        format!(
            "PromptQL v2 requests carry no model: the build decides it. These would send the same \
             requests: {}. Choose one of them, or give each its own build in touchstone.yaml: \
             `build_version: {{ {}: …, {}: … }}`.",
            same.join("; "),
            models.first().unwrap_or(&"claude"),
            models.last().unwrap_or(&"o1"),
        )
    })
}

/// Fails for errors of the suites, and for a budget that would not bind. Returns the budget.
fn check_inputs(
    open: &OpenFolder,
    request: &LaunchRequest,
    setup: &Setup,
    plan: &Plan,
) -> Result<Budget, AppError> {
    if let Some(fault) = suite_fault(&launch_problems(open, request, plan)) {
        return Err(failed(fault));
    }
    let budget = Budget::resolve(request.max_cost, &setup.rules)?;
    budget.check(&prices(open, setup, plan))?;
    Ok(budget)
}

fn failed(Blocker { message, fix }: Blocker) -> AppError {
    AppError { hint: fix, ..AppError::new(Code::Failed, message) }
}

/// Returns the incomplete runs of a plan that are not made.
fn left(plan: &Plan) -> Vec<PlannedRun> {
    let left = plan.skipped.iter().filter(|planned| planned.decision.act != Act::Nothing);
    left.map(|planned| planned.row(id_of(&planned.slot.path))).collect()
}

fn rules(request: &LaunchRequest) -> plan::Rules {
    plan::Rules { start_over: request.start_over, anyway: request.anyway }
}

/// Returns true for the path of a transcript in a file of its own.
fn is_ours(path: &str) -> bool {
    let end = path.rsplit_once('.').map_or("", |(_, end)| end);
    !path.contains('#')
        && ["yaml", "yml", "json"].iter().any(|known| end.eq_ignore_ascii_case(known))
}

/// Returns the problems of the workspace file and of the suites of the requested runs, worst first.
/// A request for all tasks concerns everything in the input directory.
fn launch_problems(open: &OpenFolder, request: &LaunchRequest, plan: &Plan) -> Vec<Problem> {
    let tasks = open.flow.shelf.tasks();
    let named = plan.owed.iter().chain(&plan.skipped).map(|planned| planned.slot.at.task.as_str());
    let named: BTreeSet<&str> = named.collect();
    let files: BTreeSet<String> = named
        .into_iter()
        .filter_map(|task| Some(open.flow.roots.display_path(&tasks.get(task)?.file)))
        .collect();
    let all = request.tasks.is_empty() && request.runs.is_empty() && request.cells.is_empty();
    // For a suite that cannot be read at all, its runs are refused individually; it does not block
    // other runs.
    let read: BTreeSet<String> =
        tasks.all().map(|task| open.flow.roots.display_path(&task.file)).collect();
    let is_meant = |problem: &&Problem| match problem.kind {
        ProblemKind::SuiteError => files.contains(&problem.file),
        _ => files.contains(&problem.file) || (all && !read.contains(&problem.file)),
    };
    let of_suites = open.flow.shelf.problems();
    let of_workspace = open.workspace_problems();
    of_workspace.iter().chain(of_suites.iter().filter(is_meant)).take(LISTED).cloned().collect()
}

/// Returns the error of a suite of the requested runs, which blocks the launch.
fn suite_fault(problems: &[Problem]) -> Option<Blocker> {
    let first = problems.iter().find(|problem| problem.kind == ProblemKind::SuiteError)?;
    let fix = "Correct it; until then these runs do not start.".to_owned();
    Some(Blocker { message: first.to_line(), fix: Some(fix) })
}
