//! **Pure.** Run facts of a transcript, under its `run:` key. A fact that is not known has no key.
use super::walk::parse_u64;
use crate::provider::Usage;
use crate::scalar_text::word;
use touchstone_api::StepPart;
use touchstone_formats::transcript::Document;
use touchstone_model::value::Value;

/// Facts of a run. A fact that is `None` leaves the file's value unchanged.
#[derive(Debug, Clone, PartialEq, Default)]
pub struct Facts {
    /// System name.
    pub system: Option<String>,
    /// Model name in this workspace.
    pub model: Option<String>,
    /// Model id, as the provider names it.
    pub model_id: Option<String>,
    /// Start time, such as `2025-02-21T00:12:07Z`.
    pub started: Option<String>,
    /// End time.
    pub finished: Option<String>,
    /// Active seconds, excluding pauses between interruption and resume.
    pub seconds: Option<f64>,
    /// Number of assistant turns.
    pub turns: Option<u64>,
    /// Tokens of all requests.
    pub usage: Option<Usage>,
    /// Dollars of all requests.
    pub cost: Option<f64>,
    /// Number of messages that were added automatically.
    pub nudges: Option<u64>,
    /// Version of the program that wrote the file.
    pub version: Option<String>,
    /// Commit at which the run began, with `-dirty` where files had been changed since.
    pub commit: Option<String>,
    /// Transcript that this one was forked from.
    pub forked_from: Option<ForkedFrom>,
    /// Number of journal lines when the run ended. These lines are not replayed when it is resumed.
    pub journal: Option<u64>,
}

/// Origin of a forked transcript.
#[derive(Debug, Clone, PartialEq, Eq, Default)]
pub struct ForkedFrom {
    /// Path relative to the output directory.
    pub file: String,
    /// Step at which the transcript was forked, from 0.
    pub step: u64,
    /// True if the first message was edited and may no longer be the task's prompt.
    pub edited: bool,
    /// Part of that step that was edited; none if the step is as it was, or was left out.
    pub part: Option<StepPart>,
    /// Model that made the steps until there, and their number, if another one continues.
    pub model: Option<(String, u64)>,
}

pub(super) const USAGE: [&str; 5] = [
    "input_tokens",
    "output_tokens",
    "cache_read_tokens",
    "cache_write_tokens",
    "reasoning_tokens",
];

/// Writes the known facts; others stay unchanged.
pub(crate) fn set(document: &mut Document, facts: &Facts) {
    let number = |number: u64| Value::Number(number.to_string());
    let texts = [
        ("system", &facts.system),
        ("model", &facts.model),
        ("model_id", &facts.model_id),
        ("started", &facts.started),
        ("finished", &facts.finished),
        ("commit", &facts.commit),
    ];
    for (key, text) in texts {
        if let Some(text) = text {
            document.set_run(key, Value::Text(text.clone()));
        }
    }
    if let Some(seconds) = facts.seconds.filter(|seconds| seconds.is_finite()) {
        document.set_run("seconds", Value::Number(format!("{}", (seconds * 1e3).round() / 1e3)));
    }
    if let Some(turns) = facts.turns {
        document.set_run("turns", number(turns));
    }
    if let Some(usage) = facts.usage {
        let parts =
            [usage.input, usage.output, usage.cache_read, usage.cache_write, usage.reasoning];
        let known =
            USAGE.iter().zip(parts).filter_map(|(key, part)| Some(((*key).into(), number(part?))));
        document.set_run("usage", Value::Map(known.collect()));
    }
    if let Some(cost) = facts.cost.filter(|cost| cost.is_finite()) {
        // Prices are accurate to a millionth of a dollar.
        document.set_run("cost", Value::Number(format!("{}", (cost * 1e6).round() / 1e6)));
    }
    if let Some(nudges) = facts.nudges {
        document.set_run("nudges", number(nudges));
    }
    if let Some(lines) = facts.journal {
        document.set_run("journal", number(lines));
    }
    if let Some(version) = &facts.version {
        document.set_run("version", Value::Text(version.clone()));
    }
    if let Some(from) = &facts.forked_from {
        let mut entries =
            vec![("file".into(), from.file.as_str().into()), ("step".into(), number(from.step))];
        if from.edited {
            entries.push(("edited".into(), Value::Bool(true)));
        }
        if let Some(part) = from.part {
            entries.push(("part".into(), part.word().into()));
        }
        if let Some((model, steps)) = &from.model {
            entries.push(("model".into(), model.as_str().into()));
            entries.push(("steps".into(), number(*steps)));
        }
        document.set_run("forked_from", Value::Map(entries));
    }
}

/// Reads the facts.
pub(crate) fn get(document: &Document) -> Facts {
    let run = document.get("run");
    let fact = |key: &str| run.and_then(|run| run.get(key));
    let text = |key: &str| fact(key).and_then(word);
    let number = |key: &str| fact(key).and_then(parse_u64);
    let tokens = |key: &str| fact("usage").and_then(|usage| usage.get(key)).and_then(parse_u64);
    let [input, output, cache_read, cache_write, reasoning] = USAGE.map(tokens);
    let usage = Usage { input, output, cache_read, cache_write, reasoning };
    let from = fact("forked_from");
    Facts {
        system: text("system"),
        model: text("model"),
        model_id: text("model_id"),
        started: text("started"),
        finished: text("finished"),
        commit: text("commit"),
        seconds: text("seconds")
            .and_then(|seconds| seconds.parse().ok())
            .filter(|seconds: &f64| seconds.is_finite() && *seconds >= 0.0),
        turns: number("turns"),
        usage: (usage != Usage::default()).then_some(usage),
        cost: text("cost").and_then(|cost| cost.parse().ok()),
        nudges: number("nudges"),
        version: text("version"),
        journal: number("journal"),
        forked_from: from.and_then(|from| {
            let edited = from.get("edited") == Some(&Value::Bool(true));
            Some(ForkedFrom {
                file: word(from.get("file")?)?,
                step: parse_u64(from.get("step")?)?,
                edited,
                part: from.get("part").and_then(Value::text).and_then(StepPart::from_word),
                model: from.get("model").and_then(word).zip(from.get("steps").and_then(parse_u64)),
            })
        }),
    }
}

/// Removes a key under `run:`.
pub(crate) fn forget(document: &mut Document, key: &str) {
    if let Some(Value::Map(entries)) = document.get("run")
        && entries.iter().any(|(known, _)| known.text() == Some(key))
    {
        let left = entries.iter().filter(|(known, _)| known.text() != Some(key)).cloned().collect();
        document.set("run", Value::Map(left));
    }
}
