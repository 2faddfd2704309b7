//! **Pure.** Folders of loose prompts: `promptql_prompt.txt`, `other_models_prompt.txt`,
//! `correct_answer.json`.
use super::{Expected, Prompts, Suite, Task, Variation};
use touchstone_model::error::ReadError;
use touchstone_model::json;
use touchstone_model::value::Value;

/// Parses the files of a folder, given as name and text. Returns `None` if they are not a task.
pub fn from_folder(task_id: &str, files: &[(&str, &str)]) -> Option<Result<Suite, ReadError>> {
    let text = |name: &str| {
        files.iter().find(|(other, _)| *other == name).map(|(_, text)| (*text).to_owned())
    };
    let prompts = Prompts {
        promptql: text("promptql_prompt.txt"),
        tool_calling: text("other_models_prompt.txt"),
        tool_calling_python: text("other_models_prompt_with_python.txt"),
        ..Prompts::default()
    };
    if prompts.promptql.is_none() && prompts.tool_calling.is_none() {
        return None;
    }
    let answer = text("correct_answer.json").map(|text| json::read(&text)).transpose();
    Some(answer.map(|answer| {
        let artifact =
            answer.as_ref().and_then(|answer| answer.get("identifier")?.text()).map(str::to_owned);
        let expected = answer.map_or(Expected::None, |answer| Expected::Value(content(answer)));
        let variations = vec![Variation { expected, ..Variation::default() }];
        let task = Task {
            id: task_id.to_owned(),
            prompts,
            artifact,
            variations,
            repeat: 1,
            ..Task::default()
        };
        Suite { tasks: vec![task], warnings: Vec::new() }
    }))
}

/// Returns the data of an artifact; any other value is the answer itself.
fn content(answer: Value) -> Value {
    match (answer.get("artifact_type"), answer.get("data")) {
        (Some(_), Some(data)) => data.clone(),
        _ => answer,
    }
}
