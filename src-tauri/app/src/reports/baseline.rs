//! **Pure.** The baseline file: JSON with one run on each line, so that changes of it are readable.
use crate::error::{AppError, Code};
use serde::{Deserialize, Serialize};
use std::collections::{BTreeMap, BTreeSet};
use touchstone_scoring::aggregate::{Counted, End};
use touchstone_store::query::ScoredRun;

/// Version of the file format.
const VERSION: u32 = 1;
/// Maximum number of bytes of a baseline file: some 400,000 runs.
pub(crate) const MAX_BASELINE: u64 = 128 << 20;

/// Recorded outcomes of runs.
#[derive(Debug, Clone, PartialEq, Default, Serialize, Deserialize)]
#[serde(deny_unknown_fields)]
pub(crate) struct Baseline {
    /// Version of the file format.
    #[serde(rename = "touchstone_baseline")]
    version: u32,
    /// Filter that chose the runs.
    #[serde(default)]
    pub(crate) filter: String,
    /// Scorer of the scores; the first scorer of each task if none is given.
    #[serde(default)]
    pub(crate) scorer: Option<String>,
    /// Lowest allowed mean score of tasks, by task. Written by people.
    #[serde(default)]
    pub(crate) thresholds: BTreeMap<String, f64>,
    /// Runs.
    pub(crate) runs: Vec<BaselineRun>,
}

/// Recorded outcome of a run.
#[derive(Debug, Clone, PartialEq, Default, Serialize, Deserialize)]
#[serde(default, deny_unknown_fields)]
pub(crate) struct BaselineRun {
    #[serde(skip_serializing_if = "Option::is_none")]
    task: Option<String>,
    #[serde(skip_serializing_if = "Option::is_none")]
    variation: Option<u32>,
    #[serde(skip_serializing_if = "Option::is_none")]
    variation_name: Option<String>,
    #[serde(skip_serializing_if = "Option::is_none")]
    system: Option<String>,
    #[serde(skip_serializing_if = "Option::is_none")]
    model: Option<String>,
    repeat: u32,
    /// Way in which a run without a score ended.
    #[serde(skip_serializing_if = "Option::is_none")]
    end: Option<NoScore>,
    #[serde(skip_serializing_if = "Option::is_none")]
    score: Option<f64>,
    #[serde(skip_serializing_if = "Option::is_none")]
    passed: Option<bool>,
    #[serde(skip_serializing_if = "Option::is_none")]
    scorer: Option<String>,
    /// Hash of what it was scored against, in hexadecimal digits.
    #[serde(skip_serializing_if = "Option::is_none")]
    scored_against: Option<String>,
    #[serde(skip_serializing_if = "std::ops::Not::not")]
    nudged: bool,
    #[serde(skip_serializing_if = "Option::is_none")]
    tokens: Option<u64>,
    #[serde(skip_serializing_if = "Option::is_none")]
    cost: Option<f64>,
    #[serde(skip_serializing_if = "Option::is_none")]
    seconds: Option<f64>,
}

/// Way in which a run without a score ended.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "snake_case")]
enum NoScore {
    Error,
    Waiting,
    Running,
    Damaged,
    Unscored,
}

impl Baseline {
    /// Records runs. The thresholds of an earlier baseline are kept.
    pub(crate) fn new(
        runs: &[ScoredRun],
        filter: &str,
        scorer: Option<&str>,
        earlier: Option<&Self>,
    ) -> Self {
        let mut runs: Vec<BaselineRun> = runs.iter().map(BaselineRun::new).collect();
        runs.sort_by(|a, b| a.order().cmp(&b.order()));
        // Files of other tools may number their repeats alike.
        for at in 1..runs.len() {
            if let [before, run] = &mut runs[at - 1..=at]
                && before.cell() == run.cell()
                && before.repeat >= run.repeat
            {
                run.repeat = before.repeat + 1;
            }
        }
        Self {
            version: VERSION,
            filter: filter.to_owned(),
            scorer: scorer.map(str::to_owned),
            thresholds: earlier.map(|earlier| earlier.thresholds.clone()).unwrap_or_default(),
            runs,
        }
    }

    /// Parses a file. Every mistake in it is an error: what is skipped would not be compared.
    pub(crate) fn parse(text: &str) -> Result<Self, AppError> {
        let invalid = |why: &str, hint: &str| {
            AppError::new(Code::BadRequest, format!("The baseline cannot be read: {why}."))
                .hint(hint)
        };
        let hint = "Correct the file, or delete it and write it again: touchstone gate --update";
        if let Some(line) = text.lines().position(|line| line.starts_with("<<<<<<< ")) {
            let why = format!("line {} begins a merge conflict", line + 1);
            return Err(invalid(&why, "Choose one side of the conflict."));
        }
        let baseline: Self =
            serde_json::from_str(text).map_err(|why| invalid(&why.to_string(), hint))?;
        if baseline.version != VERSION {
            return Err(invalid(&format!("its version is {}", baseline.version), hint));
        }
        baseline.check().map_err(|why| invalid(&why, hint))?;
        Ok(baseline)
    }

    /// Returns the first value that is out of range, or that is there twice.
    fn check(&self) -> Result<(), String> {
        let is_share = |value: &f64| (0.0..=1.0).contains(value);
        if let Some((task, _)) = self.thresholds.iter().find(|(_, value)| !is_share(value)) {
            return Err(format!("the threshold of {task} is not from 0 to 1"));
        }
        let mut seen = BTreeSet::new();
        for run in &self.runs {
            if run.score.is_some_and(|score| !is_share(&score)) {
                return Err(format!("the score of {} is not from 0 to 1", run.label()));
            }
            if run.scored_against.as_deref().is_some_and(|hash| parse_hash(hash).is_none()) {
                return Err(format!("scored_against of {} is no number", run.label()));
            }
            if !seen.insert(run.order()) {
                return Err(format!("{} is there twice", run.label()));
            }
        }
        Ok(())
    }

    /// Formats the file, with one run on each line.
    pub(crate) fn text(&self) -> String {
        let mut text = format!(
            "{{\n  \"touchstone_baseline\": {},\n  \"filter\": {},\n  \"scorer\": {},\n  \"thresholds\": {},\n  \"runs\": [",
            self.version,
            json(&self.filter),
            json(&self.scorer),
            json(&self.thresholds),
        );
        for (at, run) in self.runs.iter().enumerate() {
            text.push_str(if at == 0 { "\n    " } else { ",\n    " });
            text.push_str(&json(run));
        }
        text.push_str(if self.runs.is_empty() { "]\n}\n" } else { "\n  ]\n}\n" });
        text
    }

    /// Returns the runs for counting.
    pub(crate) fn counted(&self) -> Vec<Counted<'_>> {
        self.runs.iter().map(BaselineRun::counted).collect()
    }
}

fn parse_hash(text: &str) -> Option<i64> {
    u64::from_str_radix(text, 16).ok().map(u64::cast_signed)
}

fn json<T: Serialize>(value: &T) -> String {
    serde_json::to_string(value).unwrap_or_default()
}

impl BaselineRun {
    fn new(run: &ScoredRun) -> Self {
        let counted = run.counted();
        let (end, score, passed) = match counted.end {
            End::Scored(score, passed) => (None, Some(score), passed),
            End::Error => (Some(NoScore::Error), None, None),
            End::Waiting => (Some(NoScore::Waiting), None, None),
            End::Running => (Some(NoScore::Running), None, None),
            End::Damaged => (Some(NoScore::Damaged), None, None),
            End::Unscored => (Some(NoScore::Unscored), None, None),
        };
        Self {
            task: run.task.clone(),
            variation: run.variation,
            variation_name: run.variation_name.clone().filter(|_| run.variation.is_none()),
            system: run.system.clone(),
            model: run.model.clone(),
            repeat: run.repeat,
            end,
            score,
            passed,
            scorer: run.scorer.clone().filter(|_| score.is_some()),
            scored_against: counted.fingerprint.map(|hash| format!("{hash:016x}")),
            nudged: counted.nudged,
            tokens: run.tokens,
            cost: run.cost,
            seconds: run.seconds,
        }
    }

    fn order(&self) -> (impl Ord + '_, u32) {
        (self.cell(), self.repeat)
    }

    fn cell(&self) -> impl Ord + '_ {
        (&self.task, self.variation, &self.variation_name, &self.system, &self.model)
    }

    /// Returns the words for the run in a message.
    fn label(&self) -> String {
        let names = [&self.task, &self.system, &self.model].into_iter().flatten();
        let names = names.map(String::as_str).collect::<Vec<_>>().join(" ");
        format!("{names}, repeat {}", self.repeat)
    }

    fn counted(&self) -> Counted<'_> {
        let end = match (self.score, self.end) {
            (Some(score), _) => End::Scored(score, self.passed),
            (None, Some(NoScore::Error)) => End::Error,
            (None, Some(NoScore::Waiting)) => End::Waiting,
            (None, Some(NoScore::Running)) => End::Running,
            (None, Some(NoScore::Damaged)) => End::Damaged,
            (None, Some(NoScore::Unscored) | None) => End::Unscored,
        };
        Counted {
            task: self.task.as_deref(),
            variation: self.variation,
            variation_name: self.variation_name.as_deref(),
            system: self.system.as_deref(),
            model: self.model.as_deref(),
            end,
            scorer: self.scorer.as_deref(),
            fingerprint: self.scored_against.as_deref().and_then(parse_hash),
            nudged: self.nudged,
            apart: false,
            tokens: self.tokens,
            cost: self.cost,
            seconds: self.seconds,
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn run(task: &str, repeat: u32, score: Option<f64>) -> BaselineRun {
        let end = score.is_none().then_some(NoScore::Error);
        let scored_against = score.map(|_| format!("{:016x}", -5_i64));
        let task = Some(task.to_owned());
        BaselineRun { task, repeat, end, score, scored_against, ..BaselineRun::default() }
    }

    #[test]
    fn a_baseline_has_one_line_for_each_run_and_is_read_back() {
        let baseline = Baseline {
            version: VERSION,
            filter: "model:o1".to_owned(),
            thresholds: [("a".to_owned(), 0.5)].into(),
            runs: vec![run("a", 1, Some(1.0)), run("a", 2, None)],
            ..Baseline::default()
        };
        let text = baseline.text();
        insta::assert_snapshot!(text, @r#"
        {
          "touchstone_baseline": 1,
          "filter": "model:o1",
          "scorer": null,
          "thresholds": {"a":0.5},
          "runs": [
            {"task":"a","repeat":1,"score":1.0,"scored_against":"fffffffffffffffb"},
            {"task":"a","repeat":2,"end":"error"}
          ]
        }
        "#);
        assert_eq!(Baseline::parse(&text).unwrap(), baseline);
        let counted = baseline.counted();
        assert_eq!(
            counted.iter().map(|run| run.end).collect::<Vec<_>>(),
            [End::Scored(1.0, None), End::Error]
        );
        assert_eq!(counted[0].fingerprint, Some(-5));
    }

    #[test]
    fn a_file_that_is_no_baseline_says_what_to_do() {
        for text in [
            "",
            "[]",
            "{\"runs\": []}",
            "{\"touchstone_baseline\": 2, \"runs\": []}",
            "{\"touchstone_baseline\": 1, \"thresholds\": {\"a\": 2}, \"runs\": []}",
            "{\"touchstone_baseline\": 1, \"threshold\": {}, \"runs\": []}",
            "{\"touchstone_baseline\": 1, \"runs\": [{\"sccore\": 1}]}",
            "{\"touchstone_baseline\": 1, \"runs\": [{\"score\": 5}]}",
            "{\"touchstone_baseline\": 1, \"runs\": [{\"scored_against\": \"x\"}]}",
            "{\"touchstone_baseline\": 1, \"runs\": [{\"repeat\": 1}, {\"repeat\": 1}]}",
            "{\n<<<<<<< ours\n",
        ] {
            let error = Baseline::parse(text).unwrap_err();
            assert!(error.hint.is_some(), "{text}");
        }
    }
}
