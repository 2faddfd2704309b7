//! **Pure.** Trials: a folder with settings, a result and the trajectory of the agent.
use super::trajectory::{Loader, Trajectory};
use crate::run::{EventKind, ImportedRun, ImportedVerdict, Repeat, RunEnd, TokenCounts};
use crate::sessions::{Session, add, figure, finish, non_blank, parse, push_fact, seconds_between};
use crate::source::Input;
use touchstone_formats::timestamps;
use touchstone_model::error::ReadError;
use touchstone_model::value::Value;

/// Maximum number of steps of a trial.
const MOST_STEPS: usize = 200;

/// Reads a trial from its settings and the files beside them.
pub(super) fn read(
    input: &Input<'_>,
    text: &str,
    loader: &mut Loader<'_>,
) -> Result<Session, ReadError> {
    let config = match parse(text) {
        Some(config) => config,
        None => touchstone_model::json::read_python(text)?,
    };
    let member = non_blank(config.text_at("trial_name"));
    let beside = |name: &str| {
        let text = crate::pieces::text(input.read_beside(name)?).ok()?;
        Some(parse(&text))
    };
    let result = beside("result.json");
    let mut run = ImportedRun { end: RunEnd::Unfinished, ..ImportedRun::default() };
    if let Some(None) = result {
        run.notes.push("The result is no JSON: it may be half written.".to_owned());
    }
    let result = result.flatten();
    let known = result.as_ref().unwrap_or(&Value::Null);
    let trajectories = read_events(input, known, &mut run, loader);
    let agent = trajectories.iter().find_map(Totals::name);
    run.system = non_blank(known.at_path(&["agent_info", "name"]).and_then(Value::text))
        .or(agent)
        .or_else(|| configured_agent(&config, known));
    run.model = model(&config, known);
    run.task = task(&config, known);
    read_totals(&mut run, known, &trajectories);
    if let Some(result) = &result {
        (run.end, run.error) = end(result);
        run.verdicts = verdicts(result);
        run.started = non_blank(result.text_at("started_at"));
        let finished = result.text_at("finished_at");
        run.seconds = run.started.as_deref().zip(finished).and_then(|(a, b)| seconds_between(a, b));
    }
    let group = input.parent().rsplit_once('/').map_or("", |(job, _)| job).to_owned();
    let start = run.started.as_deref().and_then(timestamps::seconds);
    run.repeat = Repeat::Ordered { group, start };
    push_facts(&mut run, &config, known);
    if run.events.is_empty() {
        run.notes.push("The agent has written no trajectory.".to_owned());
    }
    Ok(Session { member, run: Some(finish(run)), error: None })
}

/// Data of a trajectory about the whole run.
struct Totals {
    name: Option<String>,
    tokens: Option<TokenCounts>,
    cost: Option<f64>,
}

impl Totals {
    fn name(&self) -> Option<String> {
        self.name.clone()
    }
}

/// Reads the trajectory of the agent; of a task of several steps, those of all steps.
fn read_events(
    input: &Input<'_>,
    result: &Value,
    run: &mut ImportedRun,
    loader: &mut Loader<'_>,
) -> Vec<Totals> {
    let mut totals = Vec::new();
    if let Some(trajectory) = open(input, "agent", loader) {
        totals.push(take(trajectory, run, loader));
    }
    for (name, step) in steps(input, result) {
        if name.contains(['/', '\\']) || name.starts_with('.') {
            continue;
        }
        run.push(EventKind::Note(describe_step(&name, step)));
        if let Some(trajectory) = open(input, &format!("steps/{name}/agent"), loader) {
            totals.push(take(trajectory, run, loader));
        }
        let exception = step.and_then(|step| step.get_non_null("exception_info"));
        if let Some(message) =
            exception.and_then(|exception| exception.text_at("exception_message"))
        {
            run.push(EventKind::Error(message.to_owned()));
        }
    }
    totals
}

fn open(input: &Input<'_>, folder: &str, loader: &mut Loader<'_>) -> Option<Trajectory> {
    let parent = input.parent();
    let separator = if parent.is_empty() { "" } else { "/" };
    loader.set_parent(format!("{parent}{separator}{folder}"));
    loader.open("trajectory.json")
}

fn take(trajectory: Trajectory, run: &mut ImportedRun, loader: &mut Loader<'_>) -> Totals {
    trajectory.push_facts(run);
    if !trajectory.is_complete {
        let text = "The trajectory is half written; its complete steps are shown.";
        run.notes.push(text.to_owned());
    }
    let totals = Totals {
        name: trajectory.agent_name(),
        tokens: trajectory.tokens(),
        cost: trajectory.cost(),
    };
    let events = trajectory.into_events(loader, &mut run.notes);
    run.events.extend(events);
    totals
}

/// Returns the steps of a task of several steps: those with a result, then those that only have a
/// folder.
fn steps<'a>(input: &Input<'_>, result: &'a Value) -> Vec<(String, Option<&'a Value>)> {
    let known = result.get("step_results").map(Value::items).unwrap_or_default();
    let name = |step: &'a Value| {
        let name = ["step_name", "name"].iter().find_map(|key| step.text_at(key));
        Some((name?.to_owned(), Some(step)))
    };
    let mut steps: Vec<_> = known.iter().filter_map(name).take(MOST_STEPS).collect();
    let folder = crate::source::resolve(input.parent(), "steps").unwrap_or_default();
    for entry in input.folder.list(&folder).into_iter().take(MOST_STEPS) {
        if let Some(name) = entry.strip_suffix('/')
            && !steps.iter().any(|(known, _)| known == name)
        {
            steps.push((name.to_owned(), None));
        }
    }
    steps
}

fn describe_step(name: &str, step: Option<&Value>) -> String {
    let rewards = step.and_then(|step| step.at_path(&["verifier_result", "rewards"]));
    let rewards = rewards.map(crate::text::canonical_json);
    rewards.map_or_else(
        || format!("Step {name}."),
        |rewards| format!("Step {name}, with the rewards {rewards}."),
    )
}

fn configured_agent(config: &Value, result: &Value) -> Option<String> {
    let holders = [config.get("agent"), result.at_path(&["config", "agent"])];
    let keys = ["name", "import_path"];
    let mut texts = keys.iter().flat_map(|key| holders.map(|holder| holder?.text_at(key)));
    texts.find_map(non_blank)
}

/// Returns the configured model, else the one that the agent reports.
fn model(config: &Value, result: &Value) -> Option<String> {
    let configured = [
        config.at_path(&["agent", "model_name"]),
        result.at_path(&["config", "agent", "model_name"]),
    ];
    let configured = configured.into_iter().flatten().find_map(|name| non_blank(name.text()));
    configured.or_else(|| {
        let info = result.at_path(&["agent_info", "model_info"])?;
        let name = non_blank(info.text_at("name"))?;
        Some(match non_blank(info.text_at("provider")) {
            Some(provider) => format!("{provider}/{name}"),
            None => name,
        })
    })
}

/// Returns the source and the name of the task.
fn task(config: &Value, result: &Value) -> Option<String> {
    let (source, name) = if let Some(name) = non_blank(result.text_at("task_name")) {
        (result.get("source"), name)
    } else {
        let task = config.get("task")?;
        let path = task.text_at("path").map(|path| path.trim_end_matches('/'));
        let last = path.and_then(|path| path.rsplit(['/', '\\']).next());
        (task.get("source"), non_blank(last).or_else(|| non_blank(task.text_at("name")))?)
    };
    Some(match non_blank(source.and_then(Value::text)) {
        Some(source) => format!("{source}/{name}"),
        None => name,
    })
}

/// Takes tokens and cost from the result where it has them, else from the trajectory.
fn read_totals(run: &mut ImportedRun, result: &Value, trajectories: &[Totals]) {
    let step_results = result.get("step_results").map(Value::items).unwrap_or_default();
    let holders = || {
        let whole = result.get_non_null("agent_result");
        let steps = step_results.iter().filter_map(|step| step.get_non_null("agent_result"));
        // The steps only count where the whole has nothing to say.
        whole.map_or_else(|| steps.collect(), |whole| vec![whole])
    };
    let reported = |key: &str| {
        let mut sum = None;
        for holder in holders() {
            add(&mut sum, holder.get(key).and_then(Value::whole_number));
        }
        sum
    };
    let of_files = |count: fn(&TokenCounts) -> Option<u64>| {
        let mut sum = None;
        for one in trajectories {
            add(&mut sum, one.tokens.as_ref().and_then(count));
        }
        sum
    };
    let input = reported("n_input_tokens").or_else(|| of_files(|tokens| tokens.input));
    let output = reported("n_output_tokens").or_else(|| of_files(|tokens| tokens.output));
    run.tokens = TokenCounts::new(input, output, None);
    let costs = holders().into_iter().filter_map(|holder| figure(holder, &["cost_usd"]));
    let of_files = || trajectories.iter().filter_map(|one| one.cost).reduce(|a, b| a + b);
    run.cost = costs.reduce(|a, b| a + b).or_else(of_files);
}

fn end(result: &Value) -> (RunEnd, Option<String>) {
    let Some(exception) = result.get_non_null("exception_info") else {
        return (RunEnd::Complete, None);
    };
    let kind = exception.text_at("exception_type");
    let end = if kind == Some("AgentTimeoutError") { RunEnd::Limit } else { RunEnd::Error };
    (end, non_blank(exception.text_at("exception_message")).or_else(|| non_blank(kind)))
}

/// Returns the rewards: exactly 1 passes, exactly 0 fails.
fn verdicts(result: &Value) -> Vec<ImportedVerdict> {
    let Some(verifier) = result.get_non_null("verifier_result") else { return Vec::new() };
    let verdict = |name: String, value: &Value| ImportedVerdict {
        name,
        value: value.clone(),
        passed: value.number().and_then(|reward| {
            let is = |wanted: f64| (reward - wanted).abs() == 0.0;
            if is(1.0) { Some(true) } else { is(0.0).then_some(false) }
        }),
        ..ImportedVerdict::default()
    };
    if let Some(rewards @ Value::Map(_)) = verifier.get("rewards") {
        let entries = rewards.entries().iter();
        return entries
            .filter_map(|(name, value)| Some(verdict(name.text()?.to_owned(), value)))
            .collect();
    }
    let reward = verifier.get_non_null("reward");
    reward.map(|value| verdict("reward".to_owned(), value)).into_iter().collect()
}

fn push_facts(run: &mut ImportedRun, config: &Value, result: &Value) {
    let facts: [(&str, &Value, &[&str]); 7] = [
        ("agent version", result, &["agent_info", "version"]),
        ("cached tokens", result, &["agent_result", "n_cache_tokens"]),
        ("agent metadata", result, &["agent_result", "metadata"]),
        ("agent settings", config, &["agent", "kwargs"]),
        ("exception", result, &["exception_info", "exception_type"]),
        ("task checksum", result, &["task_checksum"]),
        ("task path", config, &["task", "path"]),
    ];
    for (name, holder, path) in facts {
        if !run.facts.iter().any(|(known, _)| known == name) {
            push_fact(&mut run.facts, name, holder.at_path(path));
        }
    }
}
