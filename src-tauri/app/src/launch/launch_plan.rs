//! Plans launches, and shows plans. Which runs have to be made is decided in `runner::plan`; the
//! runs of a request are collected in `launch_selection`, and `starting` starts a plan.
use super::LaunchActions;
use super::launch_checks::{
    by_cause, cannot_start, check_inputs, failed, launch_problems, suite_fault,
};
use super::launch_prices::{names, parts_share, prices, user_model, user_models};
use super::launch_registry::id_of;
use super::launch_selection::{NAMED_AS_REPEAT, made_by_others, select_runs};
use super::part_origin::PartOrigin;
use super::selected_runs::Selection;
use crate::error::{AppError, Code};
use crate::jobs::spend_limit::Budget;
use crate::number_format::fixed;
use crate::settings::setup::setup_fault;
use crate::{App, OpenFolder};
use std::collections::{BTreeMap, BTreeSet, HashSet};
use touchstone_api::{Act, Blocker, Estimate, LaunchPlan, LaunchRequest, PlannedRun};
use touchstone_clock as clock;
use touchstone_formats::system::System;
use touchstone_runner::part::PartHeader;
use touchstone_runner::plan::{self, Decision, Matrix, Past, Plan, Planned, Slot};
use touchstone_runner::provider::promptql::Build;
use touchstone_runner::setup::Setup;
use touchstone_runner::spec::Provider;
use touchstone_runner::strategy::Strategy;
use touchstone_runner::{disk_state, lock};
use touchstone_store::index::Reader;
use touchstone_store::roots::{FileId, Root};
use touchstone_store::{open, query};

/// Maximum number of plan rows sent; the counts include all.
const SHOWN: usize = 1000;

/// Reason to refuse a run that would have to be written to a file of another format.
const KEPT_AS_JSON: &str = "Its result is a JSON file, and Touchstone writes YAML. Move that file out of the output directory to run it here.";

/// Plan of a request, which can be shown and started.
pub struct PreparedLaunch {
    pub(super) setup: Setup,
    pub(super) plan: Plan,
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
    pub(super) fn header(&self, request: &LaunchRequest, origin: &PartOrigin) -> PartHeader {
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
pub(super) fn refuse(plan: &mut Plan, mut why: impl FnMut(&Slot) -> Option<String>) {
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

/// Returns the incomplete runs of a plan that are not made.
pub(super) fn left(plan: &Plan) -> Vec<PlannedRun> {
    let left = plan.skipped.iter().filter(|planned| planned.decision.act != Act::Nothing);
    left.map(|planned| planned.row(id_of(&planned.slot.path))).collect()
}

pub(super) fn rules(request: &LaunchRequest) -> plan::Rules {
    plan::Rules { start_over: request.start_over, anyway: request.anyway }
}

/// Returns true for the path of a transcript in a file of its own.
fn is_ours(path: &str) -> bool {
    let end = path.rsplit_once('.').map_or("", |(_, end)| end);
    !path.contains('#')
        && ["yaml", "yml", "json"].iter().any(|known| end.eq_ignore_ascii_case(known))
}
