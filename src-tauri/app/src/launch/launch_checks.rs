//! What runs of a launch lack: keys, settings, tools and models, and errors of their suites.
use super::LaunchActions;
use super::launch_prices::{prices, simulators};
use crate::OpenFolder;
use crate::error::{AppError, Code};
use crate::jobs::spend_limit::Budget;
use std::collections::{BTreeSet, HashMap};
use touchstone_api::{Blocked, Blocker, LaunchRequest, Problem, ProblemKind};
use touchstone_formats::names::Coordinates;
use touchstone_formats::system::System;
use touchstone_runner::execute::not_recorded;
use touchstone_runner::plan::{Plan, Slot};
use touchstone_runner::provider::promptql::PromptQl;
use touchstone_runner::secrets;
use touchstone_runner::setup::{Setup, ToolEntry};
use touchstone_runner::spec::{Model, Provider};

/// Maximum number of suite problems listed with a plan; Problems has all of them.
const LISTED: usize = 100;

impl LaunchActions<'_> {
    /// Returns the missing keys and settings for each of these runs.
    pub(super) fn lacking_of<'s>(
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
    pub(super) fn unready(self, open: &OpenFolder, setup: &Setup, slot: &Slot) -> Option<String> {
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
pub(super) fn sentence(trouble: &Blocker) -> String {
    let fix = trouble.fix.as_ref().map(|fix| format!(" {fix}")).unwrap_or_default();
    let end = if trouble.message.ends_with('.') { "" } else { "." };
    format!("{}{end}{fix}", trouble.message)
}

/// Groups the problems that block runs, the most frequent first.
pub(super) fn by_cause(lacking: &[Vec<Blocker>]) -> Vec<Blocked> {
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
pub(super) fn cannot_start(causes: &[Blocked]) -> AppError {
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

/// Returns the problems of the workspace file and of the suites of the requested runs, worst first.
/// A request for all tasks concerns everything in the input directory.
pub(super) fn launch_problems(
    open: &OpenFolder,
    request: &LaunchRequest,
    plan: &Plan,
) -> Vec<Problem> {
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
pub(super) fn suite_fault(problems: &[Problem]) -> Option<Blocker> {
    let first = problems.iter().find(|problem| problem.kind == ProblemKind::SuiteError)?;
    let fix = "Correct it; until then these runs do not start.".to_owned();
    Some(Blocker { message: first.to_line(), fix: Some(fix) })
}

pub(super) fn promptql_trouble(setup: &Setup) -> Option<Blocker> {
    let nothing = touchstone_model::value::Value::Null;
    let read =
        touchstone_runner::provider::promptql::read(setup.promptql.as_ref().unwrap_or(&nothing));
    let fix = "Describe the API under `systems.promptql` in touchstone.yaml. Replays of recorded runs do not need it.";
    read.err().map(|message| Blocker { message, fix: Some(fix.to_owned()) })
}

/// Fails for errors of the suites, and for a budget that would not bind. Returns the budget.
pub(super) fn check_inputs(
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

pub(super) fn failed(Blocker { message, fix }: Blocker) -> AppError {
    AppError { hint: fix, ..AppError::new(Code::Failed, message) }
}
