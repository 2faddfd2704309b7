//! **Pure.** What a transcript says about its run, under `run:`. A fact that is not known has no
//! key.
use super::walk::{whole, word};
use crate::provider::Usage;
use touchstone_formats::transcript::Document;
use touchstone_formats::value::Value;

/// Facts of a run. None leaves what the file says.
#[derive(Debug, Clone, PartialEq, Default)]
pub struct Facts {
    /// System.
    pub system: Option<String>,
    /// Model, by our name.
    pub model: Option<String>,
    /// Model, as the provider names it.
    pub model_id: Option<String>,
    /// When it began, as `2025-02-21T00:12:07Z`.
    pub started: Option<String>,
    /// When it ended.
    pub finished: Option<String>,
    /// Seconds that were spent on it, without those in which nobody was at it.
    pub seconds: Option<f64>,
    /// Assistant turns.
    pub turns: Option<u64>,
    /// Tokens, of all its requests.
    pub usage: Option<Usage>,
    /// Dollars, of all its requests.
    pub cost: Option<f64>,
    /// Messages that were added by themselves.
    pub nudges: Option<u64>,
    /// Version of the program.
    pub version: Option<String>,
    /// Which transcript it was copied from.
    pub forked_from: Option<ForkedFrom>,
    /// Lines of the journal when it ended: what led there is not taken from it again.
    pub journal: Option<u64>,
}

/// Which transcript another one was copied from.
#[derive(Debug, Clone, PartialEq, Eq, Default)]
pub struct ForkedFrom {
    /// Its path below the output directory.
    pub file: String,
    /// The step that was continued from, from 0.
    pub step: u64,
    /// True when the first message is another, so that it need not be the task's any more.
    pub edited: bool,
}

const USAGE: [&str; 5] = [
    "input_tokens",
    "output_tokens",
    "cache_read_tokens",
    "cache_write_tokens",
    "reasoning_tokens",
];

/// Writes the facts that are known; the others stay as they are.
pub(crate) fn set(document: &mut Document, facts: &Facts) {
    let number = |number: u64| Value::Number(number.to_string());
    let texts = [
        ("system", &facts.system),
        ("model", &facts.model),
        ("model_id", &facts.model_id),
        ("started", &facts.started),
        ("finished", &facts.finished),
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
        // A millionth of a dollar is the least that prices know.
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
        document.set_run("forked_from", Value::Map(entries));
    }
}

/// Reads them.
pub(crate) fn get(document: &Document) -> Facts {
    let run = document.get("run");
    let fact = |key: &str| run.and_then(|run| run.get(key));
    let text = |key: &str| fact(key).and_then(word);
    let number = |key: &str| fact(key).and_then(whole);
    let tokens = |key: &str| fact("usage").and_then(|usage| usage.get(key)).and_then(whole);
    let [input, output, cache_read, cache_write, reasoning] = USAGE.map(tokens);
    let usage = Usage { input, output, cache_read, cache_write, reasoning };
    let from = fact("forked_from");
    Facts {
        system: text("system"),
        model: text("model"),
        model_id: text("model_id"),
        started: text("started"),
        finished: text("finished"),
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
                step: whole(from.get("step")?)?,
                edited,
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
