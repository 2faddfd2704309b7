//! `score`: prints the scores of the runs on disk, and checks them against a threshold. No run is
//! repeated; scorers that are programs are executed only for runs without a stored result of
//! theirs.
use super::{
    CommandError, CommandStatus, FolderArgs, Outcome, folder, judge,
    list::score as shown,
    terminal::{Columns, Head, Paint, one_line},
};
use crate::Environment;
use clap::Args;
use serde_json::{Map, Value, json};
use std::collections::BTreeMap;
use std::io::{self, BufWriter, Write};
use touchstone_api::{RunScore, RunState, ScoreDetail, ScoreStanding};
use touchstone_app::folder::SuiteProblems;
use touchstone_app::number_format::fixed;
use touchstone_app::runs::RunActions;
use touchstone_app::scoring::FileScores;

/// Maximum number of characters of a reason; `show` prints all of it.
const LONGEST_REASON: usize = 100;

/// Arguments of `score`.
#[derive(Debug, Args)]
pub(super) struct Score {
    #[command(flatten)]
    place: FolderArgs,
    /// Score with this scorer instead of those of the suites, written as in a suite: `kendall_tau`,
    /// `text: f1`
    #[arg(long, value_name = "NAME")]
    scorer: Vec<String>,
    /// Select runs with a filter, as in the window: `system:promptql model:o1`
    #[arg(long, default_value = "", hide_default_value = true, allow_hyphen_values = true)]
    filter: String,
    /// Exit with 1 when the mean score is below this (0.8), or the share of passed runs (80%).
    /// Counts the first scorer of each run
    #[arg(long, value_name = "X", value_parser = least)]
    fail_under: Option<Threshold>,
    /// Do not execute scorer programs; use their earlier results
    #[arg(long)]
    no_programs: bool,
    #[command(flatten)]
    judge: judge::ByModel,
    /// Print one JSON object per line
    #[arg(long)]
    json: bool,
}

/// Threshold of `--fail-under`.
#[derive(Debug, Clone, Copy, PartialEq)]
enum Threshold {
    Mean(f64),
    /// Share of passing runs, in percent.
    Passed(f64),
}

fn least(word: &str) -> Result<Threshold, String> {
    let (number, most) = word.strip_suffix('%').map_or((word, 1.0), |number| (number, 100.0));
    let value: f64 =
        number.trim().parse().map_err(|_| "write a number such as 0.8, or 80%".to_owned())?;
    if !(0.0..=most).contains(&value) {
        return Err("scores are from 0 to 1, and shares from 0% to 100%".to_owned());
    }
    Ok(if word.ends_with('%') { Threshold::Passed(value) } else { Threshold::Mean(value) })
}

pub(super) fn run(asked: &Score, here: &Environment) -> Outcome {
    RunActions::check_filter(&asked.filter)?;
    let app = folder::ready(asked.place.clone(), here)?;
    app.runs().check_filter_of_folder(&asked.filter)?;
    if let Some(name) = &asked.judge.judge {
        return judge::run(&app, name, &asked.judge, &asked.filter, asked.json);
    }
    // Scorers given by name replace those of the suites, including programs.
    let programs = asked.scorer.is_empty() && !asked.no_programs;
    let suites = folder::suite_trouble(&app, &asked.filter)?;
    let trouble = if programs { app.scoring().run_scorers(&asked.filter).err() } else { None };
    if let Some(trouble) = &trouble {
        trouble.to_string().lines().for_each(|line| {
            let _ = writeln!(io::stderr(), "{}", one_line(line));
        });
    }
    let mut out = BufWriter::new(io::stdout().lock());
    let mut columns = Columns::new(heads());
    let mut counts = Counts::default();
    app.scoring().each_scores(&asked.filter, &asked.scorer, |run| {
        counts.add(&run);
        if asked.json {
            return lines(&run)
                .iter()
                .try_for_each(|line| writeln!(out, "{line}"))
                .map_err(CommandError::from);
        }
        for row in rows(&run) {
            columns.row(row);
        }
        Ok(())
    })?;
    if !asked.json {
        let paint = Paint(here.colour);
        columns.write(&mut out, "", paint, &|n, text| {
            if n < 2 { coloured(paint, text) } else { text.to_owned() }
        })?;
    }
    out.flush()?;
    // Standard output carries only JSON then, since programs read it.
    let mut says: Box<dyn Write> = if asked.json { Box::new(io::stderr()) } else { Box::new(out) };
    for line in counts.lines().into_iter().chain(app.scoring().forks_left_out(&asked.filter)?) {
        writeln!(says, "{line}")?;
    }
    says.flush()?;
    let not_enough = asked.fail_under.map_or_else(Vec::new, |least| {
        let below = counts.below(least);
        below
            .into_iter()
            .chain(counts.lacking())
            .chain(unsure(&suites, asked.scorer.is_empty()))
            .collect()
    });
    for line in &not_enough {
        let _ = writeln!(io::stderr(), "{line}");
    }
    folder::check_scorers(suites.left_out.filter(|_| asked.scorer.is_empty()))?;
    let failed = trouble.is_some()
        || !not_enough.is_empty()
        || counts.first.error > 0
        || counts.first.failed > 0;
    Ok(if failed { CommandStatus::WithFailures } else { CommandStatus::Well })
}

/// Describes problems of the suites that make it uncertain if the threshold is reached.
fn unsure(suites: &SuiteProblems, by_suites: bool) -> Vec<String> {
    let unread = match suites.unread {
        0 => None,
        1 => Some("One suite cannot be read, so its runs have no score.".to_owned()),
        more => Some(format!("{more} suites cannot be read, so their runs have no score.")),
    };
    let left_out = (suites.scorers && by_suites).then(|| {
        "A scorer could not be parsed, so the scores are not the intended ones.".to_owned()
    });
    unread.into_iter().chain(left_out).collect()
}

/// Returns true if a run in this state can be scored.
fn ended(state: RunState) -> bool {
    matches!(state, RunState::Answered | RunState::NoAnswer)
}

/// Counts of the first scorer of each run, and of every scorer.
#[derive(Default)]
struct Counts {
    first: ScorerCounts,
    nothing: u64,
    damaged: u64,
    expected_unread: u64,
    by_scorer: BTreeMap<String, ScorerCounts>,
}

#[derive(Default)]
struct ScorerCounts {
    scored: u64,
    sum: f64,
    passed: u64,
    error: u64,
    not_ended: u64,
    no_expected: u64,
    waiting: u64,
    failed: u64,
}

impl ScorerCounts {
    fn add(&mut self, score: &RunScore) {
        let count = match score.standing {
            ScoreStanding::Scored => &mut self.scored,
            ScoreStanding::Error => &mut self.error,
            ScoreStanding::NotEnded => &mut self.not_ended,
            ScoreStanding::NoExpected => &mut self.no_expected,
            ScoreStanding::Waiting => &mut self.waiting,
            ScoreStanding::Failed => &mut self.failed,
        };
        *count += 1;
        self.sum += score.score.unwrap_or(0.0);
        self.passed += u64::from(score.passed == Some(true));
    }

    #[expect(
        clippy::cast_precision_loss,
        reason = "there are never so many runs that a float is coarse"
    )]
    fn share(&self, of: f64) -> Option<f64> {
        (self.scored > 0).then(|| of / self.scored as f64)
    }

    fn mean(&self) -> Option<f64> {
        self.share(self.sum)
    }

    #[expect(
        clippy::cast_precision_loss,
        reason = "there are never so many runs that a float is coarse"
    )]
    fn percent(&self) -> Option<f64> {
        self.share(100.0 * self.passed as f64)
    }
}

impl Counts {
    fn add(&mut self, run: &FileScores) {
        match run.scores.first() {
            _ if run.state == RunState::Damaged => self.damaged += 1,
            Some(first) => self.first.add(first),
            None => self.nothing += 1,
        }
        let is_scored =
            run.scores.first().is_some_and(|first| first.standing == ScoreStanding::Scored);
        let is_lacking = run.expected_unread && !is_scored && ended(run.state);
        self.expected_unread += u64::from(is_lacking);
        for score in &run.scores {
            self.by_scorer.entry(score.scorer.clone()).or_default().add(score);
        }
    }

    /// Formats one line for each scorer, and one for the runs that were not scored.
    fn lines(&self) -> Vec<String> {
        let mut lines = Vec::new();
        for (scorer, tally) in &self.by_scorer {
            if let (Some(mean), Some(percent)) = (tally.mean(), tally.percent()) {
                let ScorerCounts { scored, passed, .. } = tally;
                let scorer = one_line(scorer);
                lines.push(format!(
                    "{scorer}: mean {} of {scored} runs, {passed} passed ({} %)",
                    fixed(mean, 3),
                    fixed(percent, 0)
                ));
            }
        }
        let ScorerCounts { error, not_ended, no_expected, waiting, failed, .. } = self.first;
        let apart = [
            (error, "ended in a system error"),
            (self.damaged, "that cannot be read"),
            (not_ended, "not ended"),
            (no_expected + self.nothing, "with nothing to compare with"),
            (waiting, "waiting for a program or a model"),
            (failed, "that the scorer failed on"),
        ];
        let apart: Vec<String> = apart
            .iter()
            .filter(|(count, _)| *count > 0)
            .map(|(count, what)| format!("{count} {what}"))
            .collect();
        if !apart.is_empty() {
            lines.push(format!("counted apart: {}", apart.join(", ")));
        }
        if lines.is_empty() {
            lines.push("no runs".to_owned());
        }
        lines
    }

    /// Describes runs that should have a score but have none. The other runs alone do not show that
    /// the threshold is reached.
    fn lacking(&self) -> Vec<String> {
        let said = |count, one: &str, more: &str, then: &str| match count {
            0 => None,
            1 => Some(format!("One {one}, so its score is not known.{then}")),
            count => Some(format!("{count} {more}, so their scores are not known.{then}")),
        };
        let ScorerCounts { not_ended, waiting, .. } = self.first;
        let them = if not_ended == 1 { "it" } else { "them" };
        let end = format!(" Wait for {them} to end, or leave {them} out with --filter.");
        [
            said(self.damaged, "file cannot be read", "files cannot be read", ""),
            said(not_ended, "run has not ended", "runs have not ended", &end),
            said(
                waiting,
                "run waits for a scorer that was not asked",
                "runs wait for a scorer that was not asked",
                " Use --judge for models, and leave out --no-programs for programs.",
            ),
            said(
                self.expected_unread,
                "run has an expected output that cannot be read",
                "runs have an expected output that cannot be read",
                " Correct the file that the suite names.",
            ),
        ]
        .into_iter()
        .flatten()
        .collect()
    }

    /// Describes a threshold that was not reached; `None` if it was.
    fn below(&self, least: Threshold) -> Option<String> {
        let scored = self.first.scored;
        let (is, wanted) = match least {
            Threshold::Mean(wanted) => (self.first.mean(), wanted),
            Threshold::Passed(wanted) => (self.first.percent(), wanted),
        };
        match (is, least) {
            (None, _) => Some("No run was scored, so --fail-under fails.".to_owned()),
            (Some(is), _) if is >= wanted => None,
            (Some(is), Threshold::Mean(_)) => {
                Some(format!("The mean score is {} ({scored} runs), below {wanted}.", fixed(is, 4)))
            }
            (Some(is), Threshold::Passed(_)) => {
                Some(format!("{} % of {scored} runs passed, below {wanted} %.", fixed(is, 2)))
            }
        }
    }
}

/// Builds one JSON object for each scorer of a run, or one with the reason if there is none.
fn lines(run: &FileScores) -> Vec<Value> {
    let line = |scorer: Value, score: Value, passed: Value, reason: Value, detail: Value| {
        json!({
        "path": run.path, "lineage": run.lineage, "scorer": scorer,
        "score": score, "passed": passed,
        "reason": reason, "detail": detail
        })
    };
    if run.scores.is_empty() {
        return vec![line(Value::Null, Value::Null, Value::Null, json!(run.nothing), json!({}))];
    }
    let one = |score: &RunScore| {
        line(
            json!(score.scorer),
            json!(score.score),
            json!(score.passed),
            json!(score.reason),
            detail(&score.detail),
        )
    };
    run.scores.iter().map(one).collect()
}

/// Converts details to JSON: numbers to numbers, everything else to strings.
fn detail(detail: &[ScoreDetail]) -> Value {
    let value = |text: &str| match serde_json::from_str::<Value>(text) {
        Ok(number @ Value::Number(_)) => number,
        _ => Value::from(text),
    };
    Value::Object(
        detail.iter().map(|one| (one.name.clone(), value(&one.value))).collect::<Map<_, _>>(),
    )
}

fn heads() -> Vec<Head> {
    let head = |title: &'static str, right| Head { title: title.into(), right };
    vec![head("score", true), head("", false), head("scorer", false), head("file", false)]
}

/// Builds one table row for each scorer of a run.
fn rows(run: &FileScores) -> Vec<Vec<String>> {
    let file = |reason: &str| {
        let label = run.lineage.map(touchstone_api::Lineage::label);
        let said = label.into_iter().chain(Some(reason).filter(|reason| !reason.is_empty()));
        let reason = said.collect::<Vec<_>>().join("; ");
        let reason = one_line(&reason);
        let cut: String = reason.chars().take(LONGEST_REASON).collect();
        let dots = if cut.len() < reason.len() { "…" } else { "" };
        let path = one_line(&run.path);
        if cut.is_empty() { path.into_owned() } else { format!("{path}  ({cut}{dots})") }
    };
    if run.scores.is_empty() {
        return vec![vec![
            String::new(),
            String::new(),
            String::new(),
            file(run.nothing.as_deref().unwrap_or_default()),
        ]];
    }
    let row = |score: &RunScore| {
        let scorer = one_line(&score.scorer).into_owned();
        vec![shown(score.score), word(run, score).to_owned(), scorer, file(&score.reason)]
    };
    run.scores.iter().map(row).collect()
}

fn word(run: &FileScores, score: &RunScore) -> &'static str {
    match (score.standing, score.passed) {
        _ if run.state == RunState::Damaged => "damaged",
        (ScoreStanding::Scored, Some(true)) => "passed",
        (ScoreStanding::Scored, Some(false)) => "not passed",
        (ScoreStanding::Scored, None) => "scored",
        (ScoreStanding::Error, _) => "error",
        (ScoreStanding::NoExpected, _) => "no expected",
        (ScoreStanding::NotEnded, _) => "not ended",
        (ScoreStanding::Waiting, _) => "waiting",
        (ScoreStanding::Failed, _) => "failed",
    }
}

fn coloured(paint: Paint, word: &str) -> String {
    match word {
        "passed" => paint.green(word),
        "not passed" | "error" | "failed" | "damaged" => paint.red(word),
        "waiting" | "not ended" | "no expected" => paint.yellow(word),
        _ => word.to_owned(),
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_threshold_is_a_score_or_a_share() {
        assert_eq!(
            (least("0.8"), least("80%")),
            (Ok(Threshold::Mean(0.8)), Ok(Threshold::Passed(80.0)))
        );
        for wrong in ["1.5", "-1", "101%", "much", "NaN", ""] {
            assert!(least(wrong).is_err(), "{wrong}");
        }
    }
}
