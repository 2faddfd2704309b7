//! **Pure.** Converts runs to the answer files that the judges and scorers of `StableToolBench`
//! read.
use super::nodes::{map, node, tool};
use super::raw::{Raw, calls};
use super::{FINISH, Finish, finish};
use crate::stabletoolbench::names;
use std::collections::HashSet;
use touchstone_model::error::{ReadError, ReadErrorKind, text_of};
use touchstone_model::json;
use touchstone_model::run::{Part, Run, Step, StepKind, TreeKind};
use touchstone_model::value::Value;

/// Treatment of defects of the original converter.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Default)]
pub enum Defects {
    /// Fixes them so that nothing is lost: keeps texts next to calls, and calls in the message that
    /// finishes.
    #[default]
    Mended,
    /// Reproduces the original.
    Kept,
}

/// A converted answer.
#[derive(Debug, Clone, PartialEq)]
pub struct Converted {
    /// `{query, available_tools, answer}`.
    pub entry: Value,
    /// Rule that chose the path, if the file does not determine it. The original chooses at random.
    pub chosen_by: Option<String>,
}

/// Returns the id of the query in a file name: everything before the first `_`.
pub fn id(file_name: &str) -> &str {
    file_name.split('_').next().unwrap_or(file_name)
}

/// Converts a raw answer. Fails if the file is not a raw answer or has too many steps.
pub fn raw(bytes: &[u8], method: &str, faults: Defects) -> Result<Converted, ReadError> {
    let raw = Raw::read(text_of(bytes)?, true)?;
    let said = |key: &str| raw.generation.get(key).cloned();
    let (nodes, chosen_by) = if raw.valid {
        (of_messages(raw.messages.get(2..).unwrap_or_default(), &raw, faults), None)
    } else {
        let way = raw.chosen_path();
        (of_way(&raw, &way.path), way.chosen_by)
    };
    let answer = said("final_answer").unwrap_or_else(|| Value::from(""));
    let entry = entry(said("query"), said("function"), method, answer, nodes)?;
    Ok(Converted { entry, chosen_by })
}

/// Converts any run, so that external scorers can read it. The query is its first user message.
/// Fails if the run has too many steps.
pub fn of_run(
    run: &Run,
    method: &str,
    tools: Option<Value>,
    faults: Defects,
) -> Result<Value, ReadError> {
    let asked = run.steps.iter().find(|step| step.kind == StepKind::User).and_then(step_message);
    let mut nodes = Vec::new();
    let mut last = None;
    // The original drops the text of a message that has calls.
    let calling: HashSet<u32> = match faults {
        Defects::Kept => run
            .steps
            .iter()
            .filter(|step| step.kind == StepKind::ToolCall)
            .map(|step| step.turn)
            .collect(),
        Defects::Mended => HashSet::new(),
    };
    for step in &run.steps {
        match step.kind {
            StepKind::Assistant if calling.contains(&step.turn) => {}
            StepKind::Assistant => {
                nodes.extend(step_message(step).map(|text| node("assistant", text)));
            }
            StepKind::ToolCall => {
                let (name, arguments, mut response) = call_of(step);
                if name == FINISH {
                    last = Some(arguments.clone());
                    if faults == Defects::Kept {
                        response = Value::from("");
                    }
                }
                nodes.push(tool(&name, &arguments, response));
            }
            _ => {}
        }
    }
    // A call that neither answers nor gives up does not replace an answer given as text.
    let handed =
        last.filter(|last| run.answer.is_none() || finish::arguments(last) != Finish::Nothing);
    let answer = handed.unwrap_or_else(|| {
        run.answer.as_ref().map_or_else(String::new, |answer| finished(&answer.value))
    });
    entry(asked, tools, method, Value::from(&*answer), nodes)
}

/// Builds the content of a file of converted answers.
pub fn file(entries: Vec<(String, Value)>) -> Value {
    Value::Map(entries.into_iter().map(|(id, entry)| (Value::Text(id), entry)).collect())
}

fn of_messages(messages: &[Value], raw: &Raw, faults: Defects) -> Vec<Value> {
    let mut nodes = Vec::new();
    for (at, message) in messages.iter().enumerate() {
        if message.get("role").and_then(Value::text) != Some("assistant") {
            continue;
        }
        let content = message.get("content").cloned().unwrap_or_default();
        let said = content.text().is_some_and(|text| !text.is_empty());
        let calls: Vec<_> = calls(message).collect();
        if calls.is_empty() || (said && faults == Defects::Mended) {
            nodes.push(node("assistant", content));
        }
        for (id, name, arguments) in calls {
            if name == FINISH {
                nodes.push(tool(name, arguments, Value::from("")));
                break;
            }
            let response = match id {
                Some(id) => reply(&messages[at..], id),
                None => messages
                    .get(at + 1)
                    .map(|reply| reply.get("content").cloned().unwrap_or_default()),
            };
            match (response, faults) {
                (Some(response), _) => nodes.push(tool(name, arguments, response)),
                // The reply is recorded only in the search tree.
                (None, Defects::Mended) => {
                    nodes.push(tool(name, arguments, reply_from_search(raw, name, arguments)));
                }
                (None, Defects::Kept) => {}
            }
        }
    }
    nodes
}

/// Returns the reply to a call, by its id.
fn reply(messages: &[Value], id: &str) -> Option<Value> {
    let is_reply = |message: &&Value| message.get("tool_call_id").and_then(Value::text) == Some(id);
    messages
        .iter()
        .find(is_reply)
        .map(|message| message.get("content").cloned().unwrap_or_default())
}

/// Returns the reply to a call from the search tree, if it is not among the messages.
fn reply_from_search(raw: &Raw, name: &str, arguments: &str) -> Value {
    let path = raw.chosen_path().path;
    let tried = path.iter().rev().filter_map(|at| raw.tried.nodes.get(*at as usize));
    let same = |node: &&touchstone_model::run::TreeNode| {
        node.text == name && node.input.as_deref() == Some(arguments)
    };
    Value::from(
        tried
            .filter(|node| node.kind == TreeKind::Call)
            .find(same)
            .and_then(|node| node.output.as_deref())
            .unwrap_or(""),
    )
}

fn of_way(raw: &Raw, path: &[u32]) -> Vec<Value> {
    let nodes = path.iter().filter_map(|at| raw.tried.nodes.get(*at as usize));
    nodes
        .map(|tried| match tried.kind {
            TreeKind::Root | TreeKind::Thought => node("assistant", Value::from(&*tried.text)),
            TreeKind::Call | TreeKind::Finish => {
                let text = |text: &Option<String>| Value::from(text.as_deref().unwrap_or_default());
                tool(&tried.text, tried.input.as_deref().unwrap_or_default(), text(&tried.output))
            }
        })
        .collect()
}

/// Returns the name, the arguments as JSON, and the response of a call.
fn call_of(step: &Step) -> (String, String, Value) {
    let name = step.title.clone().unwrap_or_default();
    let parts: Vec<&Part> = step.parts.iter().filter(|part| !part.is_media()).collect();
    // The response is the last part.
    let back = step.failed.is_some()
        && parts.last().is_some_and(|part| matches!(&*part.label, "result" | "error"));
    let (given, back) = parts.split_at(parts.len() - usize::from(back));
    let arguments = match given {
        [one] if matches!(&*one.label, "params" | "arguments") => text_of_value(&one.value),
        given => {
            let entry = |part: &&Part| (Value::from(&*part.label), part.value.clone());
            json::write(&Value::Map(given.iter().map(entry).collect()), false)
        }
    };
    let response =
        back.first().map(|part| part.raw.clone().unwrap_or_else(|| text_of_value(&part.value)));
    let (name, arguments) = resolve_generic_call(&name, &arguments).unwrap_or((name, arguments));
    (name, arguments, Value::Text(response.unwrap_or_default()))
}

/// Returns the function and arguments of a call that was made through Touchstone's generic call
/// tool, which other programs do not know.
fn resolve_generic_call(name: &str, arguments: &str) -> Option<(String, String)> {
    let given = json::read_leniently(arguments).ok().filter(|_| name == names::CALL)?;
    let name = given.get("name").and_then(Value::text).filter(|name| !name.is_empty())?;
    let arguments = given.get("arguments").map_or_else(|| "{}".to_owned(), text_of_value);
    Some((name.to_owned(), arguments))
}

/// Formats an answer that was not given by `Finish` as the arguments of `Finish`.
fn finished(answer: &Value) -> String {
    if let Value::Text(text) = answer
        && finish::arguments(text) != Finish::Nothing
    {
        return text.clone();
    }
    let entry = |key: &str, value: &str| (Value::from(key), Value::from(value));
    let text = text_of_value(answer);
    json::write(
        &Value::Map(vec![entry("return_type", "give_answer"), entry("final_answer", &text)]),
        false,
    )
}

fn text_of_value(value: &Value) -> String {
    value.text().map_or_else(|| json::write(value, false), str::to_owned)
}

fn step_message(step: &Step) -> Option<Value> {
    step.parts.iter().find(|part| part.label == "message").map(|part| part.value.clone())
}

/// Maximum length of a chain. Longer ones are nested more deeply than any reader of such files
/// supports.
const LONGEST: usize = json::DEEP / 2 - 10;

fn entry(
    query: Option<Value>,
    tools: Option<Value>,
    method: &str,
    answer: Value,
    nodes: Vec<Value>,
) -> Result<Value, ReadError> {
    let empty = |role: &str| node(role, Value::from(""));
    let chain: Vec<Value> = [empty("system"), empty("user")].into_iter().chain(nodes).collect();
    if chain.len() > LONGEST {
        let message = format!(
            "The run has {} steps, and a converted answer holds at most {LONGEST}.",
            chain.len()
        );
        let advice = "Each step is nested in the one before, and programs that read such files go no deeper.";
        return Err(ReadError::new(ReadErrorKind::TooDeep, message).advise(advice));
    }
    let total = chain.len().to_string();
    // From last to first: each node holds the one that follows it.
    let details = chain.into_iter().rev().fold(Vec::new(), |next, mut one| {
        if let Value::Map(entries) = &mut one {
            entries.push((Value::from("next"), Value::List(next)));
        }
        vec![one]
    });
    let answer = map([
        ("method", Value::from(method)),
        ("total_steps", Value::Number(total)),
        ("final_answer", answer),
        ("answer_details", Value::List(details)),
    ]);
    Ok(map([
        ("query", query.unwrap_or_else(|| Value::from(""))),
        ("available_tools", tools.unwrap_or_else(|| Value::List(Vec::new()))),
        ("answer", answer),
    ]))
}
