//! **Pure.** What a log says about all of its samples.
use super::pieces::raw;
use touchstone_formats::timestamps;
use touchstone_model::error::{ReadError, ReadErrorKind};
use touchstone_model::json;
use touchstone_model::value::Value;

/// Header of a log.
#[derive(Debug, Default)]
pub(super) struct Log {
    /// Folder whose logs may hold the same samples.
    pub(super) folder: String,
    pub(super) task: Option<String>,
    pub(super) task_id: Option<String>,
    pub(super) solver: Option<String>,
    pub(super) model: Option<String>,
    /// Time at which the log was created, in seconds since 1970.
    pub(super) created: f64,
    /// Name of the only scorer, for samples whose score has no name.
    pub(super) scorer: Option<String>,
    pub(super) facts: Vec<(String, Value)>,
    pub(super) notes: Vec<String>,
}

/// Returns the folder whose logs may hold the same samples: that of the log, or for a part
/// `<log>.shards/<n>/` that of the whole.
pub(super) fn folder_of(parent: &str) -> &str {
    match parent.rsplit_once('/') {
        Some((shards, _)) if shards.ends_with(".shards") => {
            shards.rsplit_once('/').map_or("", |(folder, _)| folder)
        }
        _ => parent,
    }
}

impl Log {
    /// Reads the header from the texts of its values. Fails if `eval` cannot be read.
    pub(super) fn read(members: &[(&str, &str)]) -> Result<Log, ReadError> {
        let value = |key: &str| raw(members, key).and_then(|text| json::read_python(text).ok());
        let eval = json::read_python(raw(members, "eval").unwrap_or("null"))?;
        if !matches!(eval, Value::Map(_)) {
            let message = "The log has no `eval`, which names its task and model.";
            return Err(ReadError::new(ReadErrorKind::BadValue, message));
        }
        let (plan, results) = (value("plan").unwrap_or_default(), value("results"));
        let text = |key: &str| eval.text_at(key).filter(|text| !text.is_empty()).map(str::to_owned);
        let scorer = results.as_ref().and_then(|results| {
            let first = || results.get("scores")?.items().first()?.text_at("name");
            results.at_path(&["scorer", "name"]).and_then(Value::text).or_else(first)
        });
        let mut log = Log {
            task: text("task"),
            task_id: text("task_id"),
            solver: text("solver"),
            model: text("model"),
            created: text("created").and_then(|at| timestamps::seconds(&at)).unwrap_or(0.0),
            scorer: scorer.map(str::to_owned),
            ..Log::default()
        };
        log.read_facts(&eval, &plan);
        log.read_status(value("status").as_ref(), value("error").as_ref());
        Ok(log)
    }

    fn read_status(&mut self, status: Option<&Value>, error: Option<&Value>) {
        let status = status.and_then(Value::text).unwrap_or("started");
        self.facts.push(("log status".to_owned(), Value::from(status)));
        let message = error.and_then(|error| error.text_at("message"));
        if let Some(line) = message.and_then(|text| text.trim().lines().next()) {
            self.facts.push(("log error".to_owned(), Value::from(line)));
        }
        if status == "started" {
            let note = "The evaluation was still running when the log was written, or it was stopped: more samples may follow.";
            self.notes.push(note.to_owned());
        }
    }

    fn read_facts(&mut self, eval: &Value, plan: &Value) {
        let steps = plan.get("steps").map(Value::items).unwrap_or_default();
        let steps = steps.iter().filter_map(|step| step.get("solver")).cloned().collect();
        let at = |path: &[&str]| eval.at_path(path).cloned().unwrap_or_default();
        for (name, value) in [
            ("inspect version", at(&["packages", "inspect_ai"])),
            ("log created", at(&["created"])),
            ("dataset", at(&["dataset", "name"])),
            ("solver steps", Value::List(steps)),
            ("solver settings", at(&["solver_args"])),
            ("task settings", at(&["task_args"])),
            ("model settings", at(&["model_generate_config"])),
            ("tags", at(&["tags"])),
            ("commit", at(&["revision", "commit"])),
        ] {
            let is_empty = value == Value::Null
                || matches!(&value, Value::List(items) if items.is_empty())
                || matches!(&value, Value::Map(entries) if entries.is_empty());
            if !is_empty && json::length(&value, false) <= 2_000 {
                self.facts.push((name.to_owned(), value));
            }
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn parts_of_a_log_belong_to_the_folder_of_the_whole() {
        let folders = ["", "a", "a/b.shards", "a/b.shards/0", "b.shards/0"].map(folder_of);
        assert_eq!(folders, ["", "a", "a/b.shards", "a", ""]);
    }
}
