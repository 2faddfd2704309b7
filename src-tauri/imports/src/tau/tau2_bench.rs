//! **Pure.** Results of tau2-bench: one file, or a folder with a file for each simulation.
use super::{is_filled, read_reward, simulate};
use crate::format::{Detected, Format, ImportedFile};
use crate::head::Head;
use crate::messages::read_message;
use crate::pieces;
use crate::run::{
    Event, EventKind, ImportedRun, ImportedVerdict, Media, MediaContent, Repeat, RunEnd,
    TokenCounts,
};
use crate::slices::{Names, Slices, parse_member};
use crate::source::{Folder, Input};
use crate::text::{is_blank, text_or_json};
use std::collections::HashMap;
use std::ops::Range;
use touchstone_model::error::{ReadError, ReadErrorKind};
use touchstone_model::json;
use touchstone_model::value::Value;

/// Results of tau2-bench.
#[derive(Debug, Clone, Copy)]
pub struct Tau2Bench;

impl Format for Tau2Bench {
    fn name(&self) -> &'static str {
        "tau2_bench"
    }

    fn title(&self) -> &'static str {
        "tau2-bench"
    }

    fn files(&self) -> &'static str {
        "results.json, simulations/*.json"
    }

    fn documentation(&self) -> &'static str {
        include_str!("tau2_bench.md")
    }

    fn detect(&self, _path: &str, _start: &[u8], head: Option<&Head>) -> Option<Detected> {
        let head = head.filter(|head| !head.is_list && !head.is_lines)?;
        // The tasks stand before the simulations and may be longer than the head.
        if head.has(&["info"])
            && head.has_inner("info", "num_trials")
            && (head.has_inner("info", "max_steps") || head.has_inner("info", "agent_info"))
        {
            return Some(Detected::Runs);
        }
        head.has(&["id", "task_id", "start_time", "termination_reason"])
            .then(|| Detected::NoRun(PART.to_owned()))
    }

    fn open<'a>(&self, input: Input<'a>) -> Result<Box<dyn ImportedFile + 'a>, ReadError> {
        Ok(Box::new(Results::new(input)?))
    }

    fn owner(&self, path: &str, _folder: &dyn Folder) -> Option<String> {
        let (folder, name) = path.rsplit_once('/')?;
        let above = folder.strip_suffix(FOLDER)?;
        let is_below = above.is_empty() || above.ends_with('/');
        (is_below && is_id(name.strip_suffix(".json")?)).then(|| format!("{above}results.json"))
    }
}

const PART: &str = "This is one simulation of tau2-bench. Its run is shown with `results.json` in \
    the folder above.";

/// Folder with a file for each simulation.
const FOLDER: &str = "simulations";

/// Returns true for a UUID, by which simulations are named. Files of whole runs lie in a folder of
/// the same name.
fn is_id(name: &str) -> bool {
    name.len() == 36
        && name.chars().filter(|letter| *letter == '-').count() == 4
        && name.chars().all(|letter| letter == '-' || letter.is_ascii_hexdigit())
}

/// Simulations of a run with what holds for all of them.
struct Results<'a> {
    input: Input<'a>,
    /// The simulations in the file itself; none in the form with a folder.
    slices: Slices,
    members: Vec<String>,
    is_folder: bool,
    info: Value,
    /// Places of the tasks in the text, by id.
    tasks: HashMap<String, Range<usize>>,
}

impl<'a> Results<'a> {
    fn new(input: Input<'a>) -> Result<Self, ReadError> {
        let slices = Slices::list(input.read_all()?, &["simulations"])?;
        let file = pieces::members(slices.text());
        let info = parse_member(&file, "info").unwrap_or_default();
        let mut tasks = HashMap::new();
        let listed = pieces::member(&file, "tasks").map(pieces::items);
        for task in listed.map(|listed| listed.parts).unwrap_or_default() {
            if let Some(id) = parse_member(&pieces::members(task), "id") {
                let place = pieces::range_of_part(slices.text(), task);
                tasks.extend(text_or_json(&id).map(|id| (id, place)));
            }
        }
        let is_folder = pieces::member(&file, "simulations").is_none();
        let members = if is_folder {
            let names = input.folder.list(&beside(&input, ""));
            names.iter().filter_map(|name| name.strip_suffix(".json")).map(str::to_owned).collect()
        } else {
            let mut names = Names::default();
            (0..slices.len())
                .map(|at| {
                    let id = parse_member(&pieces::members(slices.get(at)), "id");
                    let id = id.as_ref().and_then(text_or_json);
                    names.add(id.unwrap_or_else(|| format!("simulation {at}")))
                })
                .collect()
        };
        Ok(Results { input, slices, members, is_folder, info, tasks })
    }

    fn parse(&self, at: usize) -> Result<Value, ReadError> {
        if !self.is_folder {
            return self.slices.parse(at);
        }
        let name = self.members.get(at).map(String::as_str).unwrap_or_default();
        let bytes = self.input.read_beside(&format!("{FOLDER}/{name}.json")).ok_or_else(|| {
            let message = format!("The file {FOLDER}/{name}.json could not be read.");
            ReadError::new(ReadErrorKind::BadValue, message)
        })?;
        json::read_python(&pieces::text(bytes)?)
    }
}

fn beside(input: &Input, name: &str) -> String {
    let parent = input.parent();
    let folder = if parent.is_empty() { FOLDER.to_owned() } else { format!("{parent}/{FOLDER}") };
    if name.is_empty() { folder } else { format!("{folder}/{name}") }
}

impl ImportedFile for Results<'_> {
    fn len(&self) -> usize {
        self.members.len()
    }

    fn member(&self, at: usize) -> Option<String> {
        self.members.get(at).cloned()
    }

    fn read(&self, at: usize) -> Result<ImportedRun, ReadError> {
        let mut run = read_simulation(&self.parse(at)?, &self.info);
        let id = run.task.clone().unwrap_or_default();
        let task = self.tasks.get(&id).and_then(|place| self.slices.text().get(place.clone()));
        let task = task.and_then(|task| json::read_python(task).ok());
        let scenario = task
            .as_ref()
            .and_then(|task| task.get("user_scenario"))
            .filter(|value| is_filled(value));
        run.facts.extend(scenario.map(|value| ("user scenario".to_owned(), value.clone())));
        let domain = self.info.at_path(&["environment_info", "domain_name"]).and_then(Value::text);
        if let Some(domain) = domain {
            run.task = Some(format!("{domain}/{id}"));
        }
        Ok(run)
    }

    fn file_error(&self) -> Option<ReadError> {
        self.slices.error()
    }
}

/// Reads a simulation. Its task is still without the domain.
pub(super) fn read_simulation(simulation: &Value, info: &Value) -> ImportedRun {
    let text = |path: &[&str]| info.at_path(path).and_then(text_or_json);
    let trial = simulation.get("trial").and_then(Value::whole_number);
    let trial = trial.and_then(|trial| u32::try_from(trial).ok()).unwrap_or_default();
    let mut run = ImportedRun {
        task: simulation.get("task_id").and_then(text_or_json),
        system: text(&["agent_info", "implementation"]),
        model: text(&["agent_info", "llm"]),
        repeat: Repeat::Stated(trial.saturating_add(1)),
        verdicts: read_verdicts(simulation),
        cost: simulation.get("agent_cost").and_then(Value::number),
        seconds: simulation.get("duration").and_then(Value::number),
        started: simulation.get("start_time").and_then(text_or_json),
        ..ImportedRun::default()
    };
    let reason = simulation.text_at("termination_reason");
    let error = simulation.at_path(&["info", "error"]).and_then(text_or_json);
    (run.end, run.error) = match reason {
        Some("user_stop" | "agent_stop") => (RunEnd::Complete, None),
        Some("max_steps" | "timeout" | "context_window_exceeded") => (RunEnd::Limit, error),
        Some(reason) => (RunEnd::Error, error.or_else(|| Some(reason.to_owned()))),
        None => (RunEnd::Unfinished, None),
    };
    let policy = simulation.text_at("policy").map(str::to_owned);
    let policy = policy.or_else(|| text(&["environment_info", "policy"]));
    if let Some(policy) = policy.filter(|policy| !is_blank(policy)) {
        run.push(EventKind::System(policy));
    }
    let mut sums = (None, None);
    for message in simulation.get("messages").map(Value::items).unwrap_or_default() {
        read_one(message, &mut sums, &mut run);
    }
    run.tokens = TokenCounts::new(sums.0, sums.1, None);
    run.answer = run.last_text().map(str::to_owned);
    read_facts(simulation, info, &mut run);
    run
}

fn read_verdicts(simulation: &Value) -> Vec<ImportedVerdict> {
    let Some(info) = simulation.get_non_null("reward_info") else { return Vec::new() };
    let parts = info.get("reward_breakdown").map(Value::entries).unwrap_or_default();
    let parts = parts.iter().map(|(name, value)| ImportedVerdict {
        name: format!("reward/{}", text_or_json(name).unwrap_or_default()),
        value: value.clone(),
        ..ImportedVerdict::default()
    });
    info.get_non_null("reward").map(read_reward).into_iter().chain(parts).collect()
}

type Sums = (Option<u64>, Option<u64>);

fn read_one(message: &Value, sums: &mut Sums, run: &mut ImportedRun) {
    // Results of several calls may be in one message.
    if let Some(messages) = message.get_non_null("tool_messages") {
        for message in messages.items() {
            read_result(message, run);
        }
        return;
    }
    if message.text_at("role") == Some("tool") {
        read_result(message, run);
        return;
    }
    let is_user = message.text_at("role") == Some("user");
    let count = |key: &str| message.at_path(&["usage", key]).and_then(Value::whole_number);
    let usage = (count("prompt_tokens"), count("completion_tokens"));
    if !is_user {
        let add = |sum: Option<u64>, more: Option<u64>| match (sum, more) {
            (Some(sum), Some(more)) => Some(sum.saturating_add(more)),
            (sum, more) => sum.or(more),
        };
        *sums = (add(sums.0, usage.0), add(sums.1, usage.1));
    }
    let tokens = TokenCounts::new(usage.0, usage.1, None).and_then(|counts| counts.total);
    let seconds = message.get("generation_time_seconds").and_then(Value::number);
    for (at, kind) in read_message(message).into_iter().enumerate() {
        run.events.push(Event {
            kind: if is_user { simulate(kind) } else { kind },
            time: message.text_at("timestamp").map(str::to_owned),
            seconds: seconds.filter(|_| at == 0),
            tokens: tokens.filter(|_| at == 0),
            ..Event::default()
        });
    }
    if message.get("is_audio").and_then(Value::bool) == Some(true) {
        let path = message.text_at("audio_path");
        run.push(EventKind::Media(Media {
            text: format!("audio, {}", path.unwrap_or("no file")),
            content: path.and_then(MediaContent::from_path),
        }));
    }
}

fn read_result(message: &Value, run: &mut ImportedRun) {
    run.events.push(Event {
        kind: EventKind::Result {
            id: message.text_at("id").map(str::to_owned),
            name: None,
            value: message.get("content").cloned().unwrap_or_default(),
            failed: message.get("error").and_then(Value::bool),
        },
        time: message.text_at("timestamp").map(str::to_owned),
        ..Event::default()
    });
}

fn read_facts(simulation: &Value, info: &Value, run: &mut ImportedRun) {
    let facts: [(&str, &Value, &[&str]); 13] = [
        ("end", simulation, &["termination_reason"]),
        ("mode", simulation, &["mode"]),
        ("seed", simulation, &["seed"]),
        ("user cost", simulation, &["user_cost"]),
        ("user model", info, &["user_info", "llm"]),
        ("limit of steps", info, &["max_steps"]),
        ("commit", info, &["git_commit"]),
        ("reward basis", simulation, &["reward_info", "reward_basis"]),
        ("database check", simulation, &["reward_info", "db_check"]),
        ("action checks", simulation, &["reward_info", "action_checks"]),
        ("environment assertions", simulation, &["reward_info", "env_assertions"]),
        ("assertions", simulation, &["reward_info", "nl_assertions"]),
        ("communicate checks", simulation, &["reward_info", "communicate_checks"]),
    ];
    for (name, holder, path) in facts {
        let value = holder.at_path(path).filter(|value| is_filled(value));
        run.facts.extend(value.map(|value| (name.to_owned(), value.clone())));
    }
    let ticks = simulation.get("ticks").map(Value::items).unwrap_or_default().len();
    if ticks > 0 {
        run.notes.push(format!(
            "This is a voice run. Its {ticks} ticks, which hold the talk, are not shown."
        ));
    }
    if simulation.get_non_null("messages").is_none() && ticks == 0 {
        run.notes.push("The file holds no messages of this simulation.".to_owned());
    }
}
