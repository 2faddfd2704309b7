//! Queries for the tasks of the open folder.
use super::SuiteActions;
use crate::OpenFolder;
use crate::error::{AppError, Code};
use touchstone_api::{
    Clip, TaskApi, TaskGold, TaskPage, TaskParameter, TaskPrompt, TaskQuery, TaskRequest, TaskTool,
    TaskUser, TaskVariation, TaskView,
};
use touchstone_formats::stabletoolbench::{Api, Brief, Parameter, Pool, Query, functions, names};
use touchstone_formats::suite::SimulatedUser;
use touchstone_model::json;
use touchstone_model::value::Value;
use touchstone_store::catalog::{self, Catalogs};
use touchstone_store::query;
use touchstone_store::suites::Task;

/// Maximum characters shown of a text.
const TEXT: usize = 64 << 10;
/// Maximum characters shown of a template or an expected output.
const SHORT: usize = 8 << 10;
/// Maximum number of tasks that are listed because runs of other tools name them.
const MOST_RECORDED: u32 = 20_000;
/// Maximum number of expected answers of a recorded task.
const MOST_ANSWERS: u32 = 20;
/// Maximum number of variations and of APIs shown.
const MOST: usize = 200;

impl SuiteActions<'_> {
    /// Returns a page of tasks.
    #[expect(
        clippy::needless_pass_by_value,
        reason = "requests come from outside and are given away"
    )]
    pub fn list_tasks(self, request: TaskRequest) -> Result<TaskPage, AppError> {
        let open = self.app.require_folder()?;
        let catalogs: &Catalogs = &open.catalogs;
        let recorded = open.ask(|index| {
            let read = || query::recorded_tasks(index, MOST_RECORDED);
            catalogs.recorded_at(index.moment(), read)
        })?;
        let mut page = catalogs.catalog_for(&open.flow.shelf.tasks(), &recorded).list(&request);
        self.app.sensitive().mark_sensitive_tasks(&mut page.rows)?;
        Ok(page)
    }

    /// Returns a task in full.
    pub fn read_task(self, id: &str) -> Result<TaskView, AppError> {
        let mut view = self.task_view(id)?;
        self.app.sensitive().mark_sensitive_tasks([&mut view.row])?;
        Ok(view)
    }

    fn task_view(self, id: &str) -> Result<TaskView, AppError> {
        let open = self.app.require_folder()?;
        let tasks = open.flow.shelf.tasks();
        let Some(task) = tasks.get(id) else {
            return recorded_task(&open, id)?.ok_or_else(|| {
                AppError::new(Code::NotFound, format!("There is no task `{id}`."))
                    .hint("Its suite may have been moved, or the query may not be selected.")
            });
        };
        let suite = &task.suite;
        let file = open.flow.roots.display_path(&task.file);
        let problems = open.flow.shelf.problems();
        let problems =
            problems.iter().filter(|problem| problem.file == file).take(MOST).cloned().collect();
        let prompt = |(system, text): (&str, &str)| TaskPrompt {
            system: system.to_owned(),
            text: clip(text, TEXT),
        };
        Ok(TaskView {
            row: catalog::row(task),
            file,
            problems,
            prompts: catalog::prompts(&suite.prompts).map(prompt).collect(),
            user: suite.user.as_ref().map(user_of_task),
            variations: (0..suite.variations.len().min(MOST))
                .map(|at| variation(task, at))
                .collect(),
            more_expected: 0,
            expected_tool_calls: suite.expected_tool_calls.iter().take(MOST).cloned().collect(),
            scorers: (!suite.scorers.is_empty())
                .then(|| clip_value(&Value::List(suite.scorers.clone()), SHORT)),
            query: suite
                .query
                .as_deref()
                .and_then(|brief| Some(query_data(brief, &Query::of_task(suite)?))),
        })
    }
}

/// Returns a task that has no suite, but runs of other tools: with the first message of the user in
/// its first run, and with the expected answers of all runs.
fn recorded_task(open: &OpenFolder, id: &str) -> Result<Option<TaskView>, AppError> {
    let Some(known) = open.ask(|index| query::recorded_task(index, id, MOST_ANSWERS))? else {
        return Ok(None);
    };
    let prompt = open.reading.first_question(&open.flow, &known.run);
    let prompt = prompt.map(|text| TaskPrompt { system: String::new(), text: clip(&text, TEXT) });
    let expected = known.expected.iter().map(|value| TaskVariation {
        label: String::new(),
        expected: Some(clip_value(value, SHORT)),
        trouble: None,
    });
    Ok(Some(TaskView {
        row: catalog::recorded_row(id, &known.format),
        file: known.path,
        prompts: prompt.into_iter().collect(),
        user: None,
        variations: expected.collect(),
        more_expected: known.more_expected,
        expected_tool_calls: Vec::new(),
        scorers: None,
        query: None,
        problems: Vec::new(),
    }))
}

fn user_of_task(user: &SimulatedUser) -> TaskUser {
    let text = |text: &String| clip(text, TEXT);
    let knows = user.knowledge();
    TaskUser {
        persona: user.persona.as_ref().map(text),
        goal: text(&user.goal),
        knows: (!knows.is_empty()).then(|| text(&knows)),
        satisfied_when: user.satisfied_when.as_ref().map(text),
        max_turns: user.max_turns,
        model: user.model.clone(),
    }
}

fn variation(task: &Task, at: usize) -> TaskVariation {
    let yardstick = task.yardsticks.get(at);
    TaskVariation {
        label: task.variation_name(at).unwrap_or_default(),
        expected: yardstick
            .and_then(|one| one.expected.as_deref())
            .map(|value| clip_value(value, SHORT)),
        trouble: yardstick.and_then(|one| one.trouble.clone()),
    }
}

fn query_data(brief: &Brief, query: &Query) -> TaskQuery {
    let shared = brief.shared();
    let mut gold: Vec<TaskGold> = Vec::new();
    for pair in query.gold.iter().take(MOST) {
        if gold.iter().any(|known| known.tool == pair.tool && known.api == pair.api) {
            continue;
        }
        let function = names::function_name(&pair.tool, &pair.api);
        let same =
            shared.iter().find(|(name, _)| *name == function).map_or(&[][..], |(_, pairs)| pairs);
        let same_name =
            same.iter().filter(|other| **other != pair).map(|other| other.api.clone()).collect();
        gold.push(TaskGold { tool: pair.tool.clone(), api: pair.api.clone(), function, same_name });
    }
    let mut tools: Vec<TaskTool> = Vec::new();
    for api in query.apis.iter().take(MOST) {
        let at =
            tools.iter().position(|tool| tool.name == api.tool && tool.category == api.category);
        let at = at.unwrap_or_else(|| {
            tools.push(TaskTool {
                category: api.category.clone(),
                name: api.tool.clone(),
                apis: Vec::new(),
            });
            tools.len() - 1
        });
        if let Some(tool) = tools.get_mut(at) {
            tool.apis.push(offered(api, query));
        }
    }
    let functions = functions::of_query(query, &Pool::of_queries([query]), false);
    let list = Value::List(functions.iter().map(functions::Function::to_value).collect());
    TaskQuery {
        id: brief.id.clone(),
        gold,
        tools,
        function_count: u32::try_from(functions.len()).unwrap_or(u32::MAX),
        functions: clip_value(&list, TEXT),
    }
}

fn offered(api: &Api, query: &Query) -> TaskApi {
    let required = api.required.iter().map(|one| parameter(one, true));
    TaskApi {
        name: api.name.clone(),
        function: names::function_name(&api.tool, &api.name),
        description: clip(api.description.trim(), SHORT).text,
        gold: query.gold.contains(&api.pair()),
        parameters: required
            .chain(api.optional.iter().map(|one| parameter(one, false)))
            .take(MOST)
            .collect(),
        template: api.template.as_ref().map(|template| match template {
            Value::Text(text) => clip(text, SHORT),
            other => clip_value(other, SHORT),
        }),
    }
}

fn parameter(parameter: &Parameter, required: bool) -> TaskParameter {
    let default = match &parameter.default {
        Value::Null => None,
        Value::Text(text) => Some(text.clone()).filter(|text| !text.is_empty()),
        other => Some(json::write(other, false)),
    };
    TaskParameter {
        name: parameter.name.clone(),
        kind: parameter.kind.clone(),
        required,
        description: clip(parameter.description.trim(), SHORT).text,
        default: default.map(|text| clip(&text, SHORT).text),
    }
}

/// Formats a value as JSON; a text unchanged.
fn clip_value(value: &Value, most: usize) -> Clip {
    match value {
        Value::Text(text) => clip(text, most),
        other => clip(&json::write(other, true), most),
    }
}

fn clip(text: &str, most: usize) -> Clip {
    match text.char_indices().nth(most) {
        Some((end, _)) => Clip { text: text[..end].to_owned(), cut: true },
        None => Clip { text: text.to_owned(), cut: false },
    }
}
