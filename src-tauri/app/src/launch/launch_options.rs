//! The options of a launch: tasks, systems, models and tools of the open folder.
use super::LaunchActions;
use super::launch_checks::promptql_trouble;
use crate::error::{AppError, Code};
use crate::settings::setup::fault_line;
use std::collections::BTreeMap;
use std::sync::Arc;
use touchstone_api::{Blocker, Choice, LaunchOptions, SearchOptions, TaskChoice, UserChoice};
use touchstone_formats::suite::Task;
use touchstone_formats::system::{System, ToolKind};
use touchstone_runner::setup::Setup;
use touchstone_runner::spec::{Model, Provider};
use touchstone_runner::tools::python;

/// Returns the simulated user of a task, or of its variations: one that names no model first.
fn user_choice(task: &Task) -> Option<UserChoice> {
    let user = task.users().min_by_key(|user| user.model.is_some())?;
    Some(UserChoice { model: user.model.clone(), attacks: user.attack.is_some() })
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
        Choice { is_free: is_free(model), ..choice(&model.name, &detail, why_not) }
    }
}

/// Returns true if the calls of a model are known to cost nothing.
fn is_free(model: &Model) -> bool {
    let has_no_price = model.price.is_some_and(|price| price.input <= 0.0 && price.output <= 0.0);
    model.provider == Provider::Replay || has_no_price
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

fn choice(name: &str, detail: &str, why_not: Option<Blocker>) -> Choice {
    Choice { name: name.to_owned(), detail: detail.to_owned(), why_not, is_free: false }
}
