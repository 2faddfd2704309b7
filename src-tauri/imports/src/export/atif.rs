//! **Pure.** Trajectories in the format ATIF, version 1.8, as Harbor defines it.
use super::summary::{KEY, write_summary};
use super::thread::{INPUT, reasoning_text, wrapped_arguments};
use super::walk::{Agent, Call, Item, ItemKind, Reply, Thread, Turn, arrange};
use super::{ExportRun, content, figure, integer, iso_time, list, maybe_text, object, text};
use crate::run::RunEnd;
use touchstone_model::json;
use touchstone_model::value::Value;

/// Version of the format.
pub const VERSION: &str = "ATIF-v1.8";
/// Key, in the `extra` of a step or a trajectory, of what it stands for.
pub(crate) const EVENT: &str = "touchstone_event";
/// Key, in the `extra` of a call, of a mark that its arguments are the only value of the object.
pub(crate) const WRAPPED: &str = "touchstone_wrapped";
/// Key, in the `extra` of a step of the user, of the calls that the simulated user made.
pub(crate) const USER_CALLS: &str = "touchstone_user_calls";
/// Key, in the `extra` of a step, of the descriptions of its media.
pub(crate) const MEDIA: &str = "touchstone_media";
/// Key, in the `extra` of a result without a call, of the id of the call that it names.
pub(crate) const CALL: &str = "touchstone_call";
/// Name in place of one that is not known, where the format demands one.
const UNKNOWN: &str = "unknown";

/// Writes the trajectory of a run.
pub fn write(one: &ExportRun) -> String {
    json::write(&value(one), true) + "\n"
}

/// Returns the trajectory of a run.
pub fn value(one: &ExportRun) -> Value {
    let run = &one.run;
    let mut writer = Writer { agent: agent(one, None), next_agent: 1 };
    let mut steps = writer.steps(&arrange(&run.events));
    if let (RunEnd::Error | RunEnd::Limit, Some(error)) = (run.end, &run.error) {
        steps.steps.push(event("end", error, None));
    }
    if steps.steps.is_empty() {
        steps.steps.push(event("empty", "", None));
    }
    let metrics = object([
        ("total_prompt_tokens", run.tokens.and_then(|tokens| integer(tokens.input?))),
        ("total_completion_tokens", run.tokens.and_then(|tokens| integer(tokens.output?))),
        ("total_cost_usd", figure(run.cost)),
    ]);
    let has_metrics = !metrics.entries().is_empty();
    let summary = write_summary(one);
    object([
        ("schema_version", text(VERSION)),
        ("session_id", text(&one.name)),
        ("agent", Some(agent(one, Some(&one.tools)))),
        ("steps", Some(numbered(steps.steps))),
        ("final_metrics", has_metrics.then_some(metrics)),
        ("extra", Some(object([(KEY, Some(summary))]))),
        ("subagent_trajectories", list(steps.agents)),
    ])
}

fn agent(one: &ExportRun, tools: Option<&[Value]>) -> Value {
    let version = one.run.facts.iter().find(|(key, _)| key == "agent version");
    let version = version.and_then(|(_, version)| version.text()).unwrap_or(UNKNOWN);
    object([
        ("name", text(one.run.system.as_deref().unwrap_or(UNKNOWN))),
        ("version", text(version)),
        ("model_name", maybe_text(one.run.model.as_deref())),
        ("tool_definitions", tools.and_then(|tools| list(tools.to_vec()))),
    ])
}

/// Numbers the steps from 1.
fn numbered(steps: Vec<Value>) -> Value {
    let number = |(at, step): (usize, Value)| match step {
        Value::Map(mut entries) => {
            let id = Value::Number((at + 1).to_string());
            entries.insert(0, (Value::from("step_id"), id));
            Value::Map(entries)
        }
        other => other,
    };
    Value::List(steps.into_iter().enumerate().map(number).collect())
}

/// Builds a step of the system that stands for something that is no message.
fn event(kind: &str, said: &str, time: Option<&str>) -> Value {
    step("system", said, time, [("extra", Some(object([(EVENT, text(kind))])))])
}

fn step<'a>(
    source: &str,
    said: &str,
    time: Option<&str>,
    rest: impl IntoIterator<Item = (&'a str, Option<Value>)>,
) -> Value {
    let start = [("timestamp", iso_time(time)), ("source", text(source)), ("message", text(said))];
    object(start.into_iter().chain(rest))
}

/// Steps of a trajectory, and the trajectories of its sub-agents.
#[derive(Default)]
struct Steps {
    steps: Vec<Value>,
    agents: Vec<Value>,
}

struct Writer {
    /// Agent of the run, for its abandoned branches.
    agent: Value,
    /// Number of the next trajectory inside.
    next_agent: usize,
}

impl Writer {
    fn steps(&mut self, thread: &Thread) -> Steps {
        let mut steps = Steps::default();
        for item in &thread.items {
            let step = self.item(item, &mut steps.agents);
            steps.steps.push(step);
        }
        steps
    }

    fn item(&mut self, item: &Item, agents: &mut Vec<Value>) -> Value {
        let time = item.time.as_deref();
        let media = list(item.media.iter().map(|media| Value::from(media.as_str())).collect());
        let extra = |kind: Option<&str>| {
            let extra = object([(EVENT, maybe_text(kind)), (MEDIA, media.clone())]);
            (!extra.entries().is_empty()).then_some(extra)
        };
        match &item.kind {
            ItemKind::System(said) => step("system", said, time, [("extra", extra(None))]),
            ItemKind::User { text: said, is_simulated } => {
                let kind = is_simulated.then_some("simulated_user");
                step("user", said, time, [("extra", extra(kind))])
            }
            ItemKind::Turn(turn) if turn.by_user => self.user_calls(turn, time, agents),
            ItemKind::Turn(turn) => self.turn(turn, time, extra(None), agents),
            ItemKind::Reply(reply) => {
                let results = vec![result(reply, None)];
                step("system", "", time, [("observation", observation(results))])
            }
            ItemKind::SubAgent(agent) => {
                let results = vec![self.embed(agent, None, agents)];
                step("system", "", time, [("observation", observation(results))])
            }
            ItemKind::Abandoned(thread) => {
                let inner = self.trajectory(self.agent.clone(), thread, Some("abandoned"));
                let results = vec![reference(&inner, None)];
                agents.push(inner);
                let rest =
                    [("observation", observation(results)), ("extra", extra(Some("branch")))];
                step("system", "", time, rest)
            }
            ItemKind::Compaction(said) => {
                let kind = object([("type", text("compaction"))]);
                let extra = object([("context_management", Some(kind))]);
                step("system", said, time, [("extra", Some(extra))])
            }
            ItemKind::Error(said) => event("error", said, time),
            ItemKind::Note(said) => event("note", said, time),
        }
    }

    fn turn(
        &mut self,
        turn: &Turn,
        time: Option<&str>,
        extra: Option<Value>,
        agents: &mut Vec<Value>,
    ) -> Value {
        let results = self.results(turn, true, agents);
        let metrics = turn
            .tokens
            .and_then(integer)
            .map(|total| object([("extra", Some(object([("total_tokens", Some(total))])))]));
        let rest = [
            ("reasoning_content", (!turn.reasoning.is_empty()).then(|| reasoning_text(turn))),
            ("tool_calls", list(turn.calls.iter().map(call).collect())),
            ("observation", observation(results)),
            ("metrics", metrics),
            ("extra", extra),
        ];
        step("agent", turn.text.as_deref().unwrap_or_default(), time, rest)
    }

    /// Builds a step of the user with calls, which only steps of the agent may have.
    fn user_calls(&mut self, turn: &Turn, time: Option<&str>, agents: &mut Vec<Value>) -> Value {
        let calls = list(turn.calls.iter().map(call).collect());
        let results = self.results(turn, false, agents);
        let extra = object([(USER_CALLS, calls)]);
        step("user", "", time, [("observation", observation(results)), ("extra", Some(extra))])
    }

    fn results(&mut self, turn: &Turn, is_agent: bool, agents: &mut Vec<Value>) -> Vec<Value> {
        let mut results = Vec::new();
        for call in &turn.calls {
            let source = is_agent.then_some(call.id.as_str());
            for agent in &call.agents {
                results.push(self.embed(agent, source, agents));
            }
            for reply in &call.replies {
                results.push(match source {
                    Some(source) => result(reply, Some(source)),
                    None => result(
                        &Reply {
                            id: Some(call.id.clone()),
                            name: None,
                            value: reply.value.clone(),
                            failed: reply.failed,
                        },
                        None,
                    ),
                });
            }
        }
        results
    }

    /// Adds the trajectory of a sub-agent, and returns the result that refers to it.
    fn embed(&mut self, agent: &Agent, call: Option<&str>, agents: &mut Vec<Value>) -> Value {
        let head = object([("name", text(&agent.name)), ("version", text(UNKNOWN))]);
        let inner = self.trajectory(head, &agent.thread, None);
        let result = reference(&inner, call);
        agents.push(inner);
        result
    }

    fn trajectory(&mut self, agent: Value, thread: &Thread, kind: Option<&str>) -> Value {
        let id = format!("trajectory-{}", self.next_agent);
        self.next_agent += 1;
        let mut inner = self.steps(thread);
        if inner.steps.is_empty() {
            inner.steps.push(event("empty", "", None));
        }
        object([
            ("schema_version", text(VERSION)),
            ("trajectory_id", text(id)),
            ("agent", Some(agent)),
            ("steps", Some(numbered(inner.steps))),
            ("extra", kind.map(|kind| object([(EVENT, text(kind))]))),
            ("subagent_trajectories", list(inner.agents)),
        ])
    }
}

fn reference(trajectory: &Value, call: Option<&str>) -> Value {
    let id = trajectory.get("trajectory_id").cloned();
    let references = vec![object([("trajectory_id", id)])];
    object([
        ("source_call_id", maybe_text(call)),
        ("subagent_trajectory_ref", Some(Value::List(references))),
    ])
}

fn call(call: &Call) -> Value {
    let (arguments, is_wrapped) = wrapped_arguments(&call.arguments);
    object([
        ("tool_call_id", text(&call.id)),
        ("function_name", text(&call.name)),
        ("arguments", Some(arguments)),
        ("extra", is_wrapped.then(|| object([(WRAPPED, text(INPUT))]))),
    ])
}

fn observation(results: Vec<Value>) -> Option<Value> {
    list(results).map(|results| object([("results", Some(results))]))
}

fn result(reply: &Reply, call: Option<&str>) -> Value {
    let own = reply.id.as_deref().filter(|_| call.is_none());
    let extra = object([("is_error", reply.failed.map(Value::Bool)), (CALL, maybe_text(own))]);
    object([
        ("source_call_id", maybe_text(call)),
        ("content", text(content(&reply.value))),
        ("extra", (!extra.entries().is_empty()).then_some(extra)),
    ])
}
