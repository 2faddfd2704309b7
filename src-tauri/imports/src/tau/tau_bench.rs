//! **Pure.** Results of tau-bench: a list of runs.
use super::{is_filled, read_reward, simulate_texts};
use crate::format::{Detected, Format, ImportedFile};
use crate::head::Head;
use crate::messages::read_thread;
use crate::pieces;
use crate::run::{ImportedRun, Repeat, RunEnd};
use crate::slices::{Names, Slices, parse_member};
use crate::source::Input;
use crate::text::text_or_json;
use touchstone_model::error::ReadError;
use touchstone_model::value::Value;

/// Results of tau-bench.
#[derive(Debug, Clone, Copy)]
pub struct TauBench;

impl Format for TauBench {
    fn name(&self) -> &'static str {
        "tau_bench"
    }

    fn title(&self) -> &'static str {
        "tau-bench"
    }

    fn files(&self) -> &'static str {
        "*.json"
    }

    fn documentation(&self) -> &'static str {
        include_str!("tau_bench.md")
    }

    fn detect(&self, _path: &str, _start: &[u8], head: Option<&Head>) -> Option<Detected> {
        let head = head.filter(|head| head.is_list)?;
        let is_run = head.has(&["task_id", "reward", "info"])
            && (head.has(&["traj", "trial"]) || !head.has(&["trial"]));
        is_run.then_some(Detected::Runs)
    }

    fn open<'a>(&self, input: Input<'a>) -> Result<Box<dyn ImportedFile + 'a>, ReadError> {
        let slices = Slices::list(input.read_all()?, &[])?;
        let mut names = Names::default();
        let members = (0..slices.len())
            .map(|at| {
                let parts = pieces::members(slices.get(at));
                let text = |key| parse_member(&parts, key).as_ref().and_then(text_or_json);
                let name = text("task_id").zip(text("trial"));
                names.add(match name {
                    Some((task, trial)) => format!("task {task} trial {trial}"),
                    None => format!("run {at}"),
                })
            })
            .collect();
        Ok(Box::new(Results { slices, members }))
    }
}

struct Results {
    slices: Slices,
    members: Vec<String>,
}

impl ImportedFile for Results {
    fn len(&self) -> usize {
        self.slices.len()
    }

    fn member(&self, at: usize) -> Option<String> {
        self.members.get(at).cloned()
    }

    fn read(&self, at: usize) -> Result<ImportedRun, ReadError> {
        Ok(read_run(&self.slices.parse(at)?))
    }

    fn file_error(&self) -> Option<ReadError> {
        self.slices.error()
    }
}

pub(super) fn read_run(item: &Value) -> ImportedRun {
    let trial = item.get("trial").and_then(Value::whole_number);
    let trial = trial.and_then(|trial| u32::try_from(trial).ok()).unwrap_or_default();
    let mut run = ImportedRun {
        task: item.get("task_id").and_then(text_or_json),
        repeat: Repeat::Stated(trial.saturating_add(1)),
        events: read_thread(item.get("traj").map(Value::items).unwrap_or_default()),
        verdicts: item.get_non_null("reward").map(read_reward).into_iter().collect(),
        ..ImportedRun::default()
    };
    simulate_texts(&mut run.events);
    run.answer = run.last_text().map(str::to_owned);
    run.error = item.at_path(&["info", "error"]).and_then(text_or_json);
    if run.error.is_some() {
        run.end = RunEnd::Error;
    }
    let facts: [(&str, &[&str]); 5] = [
        ("instruction", &["info", "task", "instruction"]),
        ("expected actions", &["info", "task", "actions"]),
        ("expected outputs", &["info", "task", "outputs"]),
        ("reward", &["info", "reward_info", "info"]),
        ("user cost", &["info", "user_cost"]),
    ];
    for (name, path) in facts {
        let value = item.at_path(path).filter(|value| is_filled(value));
        run.facts.extend(value.map(|value| (name.to_owned(), value.clone())));
    }
    run
}
