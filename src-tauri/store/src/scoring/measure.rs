//! **Pure.** Scores a run against its scoring spec with every scorer and determines its failure
//! class. A scorer that panics gets a failed score, and the others continue.
use super::scoring_spec::{Panel, ScoringSpec};
use crate::reviews::beginning;
use crate::suites::{self, Tasks};
use std::panic::{AssertUnwindSafe, catch_unwind};
use touchstone_api::{FailureClass, RunScore, RunState, ScoreDetail, ScoreStanding};
use touchstone_formats::suite::Task;
use touchstone_model::answer;
use touchstone_model::run::{CallInfo, StoredAnswer, Verdict};
use touchstone_model::value::Value;
use touchstone_scoring::scorers::{
    Case, Ending, Failure, Need, Outcome, Scorer, Stop, failure_class, score,
};
use xxhash_rust::xxh3::xxh3_64;

/// Reason of the score 0 that a run without an answer has, although no judge or program was asked.
pub const NO_ANSWER: &str = "no answer";

/// Identity of a run, as far as it determines the scoring spec.
#[derive(Debug, Clone, Copy, Default)]
pub struct ScoringKey<'a> {
    /// Id of the task.
    pub task: Option<&'a str>,
    /// Index of the variation, where the run names one.
    pub variation: Option<u32>,
    /// Name of the variation, where the run names one.
    pub variation_name: Option<&'a str>,
    /// True for systems that call tools.
    pub calls_tools: bool,
    /// Task from the file of the run itself, which counts if no suite has the task.
    pub own: Option<&'a suites::Task>,
}

/// Data of a run that scorers use.
#[derive(Debug, Clone, Copy)]
pub(crate) struct Evidence<'a> {
    pub(crate) state: RunState,
    pub(crate) reason: Option<&'a str>,
    pub(crate) answer: Option<&'a StoredAnswer>,
    pub(crate) said: &'a str,
    pub(crate) calls: &'a [(String, bool)],
    pub(crate) told: Option<&'a CallInfo>,
    /// Verdicts of the tool that recorded the run, which come before all scorers.
    pub(crate) verdicts: &'a [Verdict],
}

/// Scores of a run.
#[derive(Debug, Clone, PartialEq, Default)]
pub(crate) struct Measured {
    /// Hash of the scoring spec; `None` when the task is unknown.
    pub(crate) fingerprint: Option<i64>,
    /// One score per scorer.
    pub(crate) scores: Vec<Score>,
    /// Reason there are no scores although the task is known.
    pub(crate) nothing: Option<String>,
    pub(crate) class: Option<FailureClass>,
}

/// Score of one scorer.
#[derive(Debug, Clone, PartialEq)]
pub struct Score {
    /// The score, in the form that pages show.
    pub says: RunScore,
    /// Pending request to a program or a judge.
    pub(crate) ask: Option<ScoreRequest>,
    /// Failure class according to this scorer.
    pub class: Option<FailureClass>,
}

/// Pending request to a program or a judge.
#[derive(Debug, Clone, Copy, PartialEq)]
pub(crate) struct ScoreRequest {
    /// Hash of the program, the expected output and the answer; or of the judge.
    pub(crate) id: i64,
    /// Passing threshold of this run. Stored per run, because others may share the request with
    /// another threshold.
    pub(crate) passes_from: f64,
}

/// Scoring spec of a run with its task.
#[derive(Clone, Copy)]
pub struct ScoringInput<'a> {
    pub(crate) task: &'a Task,
    /// Scorers of the task.
    pub yardstick: &'a ScoringSpec,
    pub(crate) panel: &'a Panel,
}

impl<'a> ScoringKey<'a> {
    /// Returns the scoring spec of the run. `None` when its task or its variation is unknown.
    pub fn against(&self, tasks: &'a Tasks) -> Option<ScoringInput<'a>> {
        let known = self.task.and_then(|task| tasks.get(task));
        let task = known.map(|task| &**task).or(self.own)?;
        let at = task.variation(self.variation, self.variation_name)?;
        let yardstick = task.yardsticks.get(at)?;
        // Only runs of benchmark folders have a task but no variation number.
        Some(ScoringInput {
            task: &task.suite,
            yardstick,
            panel: yardstick.panel(self.variation.is_none()),
        })
    }

    /// Tag in which the task expects the answer. For a query of a set, which is answered in prose,
    /// the whole message.
    pub(crate) fn tag(&self, tasks: &'a Tasks) -> Option<&'a str> {
        let against = self.against(tasks)?;
        let in_words = against.yardstick.offered.is_some().then_some(answer::WHOLE_MESSAGE);
        against.task.result_tag_name.as_deref().or(in_words)
    }

    /// Returns the task's prompt for the system.
    pub(crate) fn prompt(&self, tasks: &Tasks, system: Option<&str>) -> Option<String> {
        let task = tasks.get(self.task?)?;
        let given = self.variation_name.is_some_and(|name| name.ends_with(" (oracle)"));
        task.prompt(task.variation(self.variation, self.variation_name), system, given)
    }

    /// Returns the fingerprint that up-to-date scores have.
    pub(crate) fn fingerprint(&self, tasks: &Tasks) -> Option<i64> {
        if self.own.is_none() {
            tasks.get(self.task?)?;
        }
        // Zero marks a known suite without this variation.
        Some(self.against(tasks).map_or(0, |against| against.panel.fingerprint))
    }
}

/// Scores a run with the scorers of its task.
pub(crate) fn measure(tasks: &Tasks, place: &ScoringKey<'_>, evidence: &Evidence<'_>) -> Measured {
    let mut measured = Measured { fingerprint: place.fingerprint(tasks), ..Measured::default() };
    if evidence.state == RunState::Other {
        return Measured::default();
    }
    let against = place.against(tasks);
    measured.scores =
        evidence.verdicts.iter().filter_map(|one| imported_score(one, place, evidence)).collect();
    match against {
        Some(against) => {
            let answer = evidence.answer.and_then(StoredAnswer::value);
            let one = |scorer| by(scorer, place, evidence, &against, answer.as_ref());
            measured.scores.extend(against.panel.scorers.iter().map(one));
            if measured.scores.is_empty() {
                let trouble = against.yardstick.trouble.clone();
                measured.nothing = Some(trouble.unwrap_or_else(|| NOTHING_EXPECTED.to_owned()));
            }
        }
        None if measured.fingerprint.is_some() && measured.scores.is_empty() => {
            measured.nothing =
                Some("The suite has no variation like this one any more.".to_owned());
        }
        None => {}
    }
    let of_first = measured.scores.first().map(|first| first.class);
    measured.class = of_first.unwrap_or_else(|| class(place, evidence, against, None, None));
    measured
}

/// Converts a verdict of the tool that recorded the run to a score. Returns `None` for a verdict
/// that is neither a number from 0 to 1 nor says whether the run passed.
fn imported_score(
    verdict: &Verdict,
    place: &ScoringKey<'_>,
    evidence: &Evidence<'_>,
) -> Option<Score> {
    let number = verdict.score.as_deref().and_then(|score| score.parse::<f64>().ok());
    let number = number.filter(|number| (0.0..=1.0).contains(number));
    let score = number.or_else(|| Some(if verdict.passed? { 1.0 } else { 0.0 }))?;
    let standing = match evidence.state {
        RunState::Error => ScoreStanding::Error,
        RunState::Answered | RunState::NoAnswer => ScoreStanding::Scored,
        _ => ScoreStanding::NotEnded,
    };
    let is_scored = standing == ScoreStanding::Scored;
    let passed = verdict.passed.filter(|_| is_scored);
    let says = RunScore {
        scorer: verdict.evaluator.clone(),
        version: 0,
        standing,
        score: Some(score).filter(|_| is_scored),
        passed,
        reason: match standing {
            ScoreStanding::Error => ended_in_error(evidence),
            _ => verdict.reason.as_deref().map(beginning).unwrap_or_default(),
        },
        detail: Vec::new(),
    };
    Some(Score { says, ask: None, class: class(place, evidence, None, None, passed) })
}

/// Says why a run in error has no score.
fn ended_in_error(evidence: &Evidence<'_>) -> String {
    let why = evidence.reason.map_or_else(String::new, |why| format!(": {why}"));
    format!("The run ended in a system error{why}")
}

const NOTHING_EXPECTED: &str = "There is no expected output.";

/// Scores a run with one scorer.
pub(crate) fn by(
    scorer: &Scorer,
    place: &ScoringKey<'_>,
    evidence: &Evidence<'_>,
    against: &ScoringInput<'_>,
    answer: Option<&Value>,
) -> Score {
    let (says, ask) = said_by(scorer, place, evidence, against, answer);
    let class = class(place, evidence, Some(*against), Some(scorer), says.passed);
    Score { says, ask, class }
}

fn said_by(
    scorer: &Scorer,
    place: &ScoringKey<'_>,
    evidence: &Evidence<'_>,
    against: &ScoringInput<'_>,
    answer: Option<&Value>,
) -> (RunScore, Option<ScoreRequest>) {
    let standing =
        |standing, reason: String| (RunScore { standing, reason, ..blank(scorer) }, None);
    match evidence.state {
        RunState::Error => {
            return standing(ScoreStanding::Error, ended_in_error(evidence));
        }
        RunState::Answered | RunState::NoAnswer => {}
        RunState::Waiting => {
            return standing(ScoreStanding::NotEnded, "The run has not ended.".to_owned());
        }
        RunState::Writing => {
            return standing(ScoreStanding::NotEnded, "The file is being written.".to_owned());
        }
        RunState::Damaged | RunState::Other => {
            return standing(ScoreStanding::NotEnded, "The file cannot be read.".to_owned());
        }
    }
    if evidence.answer.is_some() && answer.is_none() {
        let most = touchstone_model::run::LONGEST_ANSWER >> 20;
        return standing(
            ScoreStanding::Failed,
            format!("The answer is longer than the {most} MB that are scored."),
        );
    }
    let case = Case {
        expected: against.yardstick.expected.as_deref(),
        answer,
        said: evidence.said,
        expected_calls: expected_calls(place, against),
        calls: evidence.calls,
        told: evidence.told,
        // A run of a system without tools is not expected to call any.
        offered: against.yardstick.offered.as_ref().filter(|_| place.calls_tools),
        key: against.task.artifact_key.as_deref(),
    };
    let outcome = catch_unwind(AssertUnwindSafe(|| score(scorer, &case)));
    match outcome {
        Ok(Outcome::Scored(said)) => {
            let says = RunScore {
                standing: ScoreStanding::Scored,
                score: said
                    .score
                    .filter(|score| score.is_finite())
                    .map(|score| score.clamp(0.0, 1.0)),
                passed: said.passed,
                reason: said.reason,
                detail: said
                    .detail
                    .into_iter()
                    .map(|(name, value)| ScoreDetail { name, value })
                    .collect(),
                ..blank(scorer)
            };
            (says, None)
        }
        Ok(Outcome::NoExpected(why)) => {
            standing(ScoreStanding::NoExpected, against.yardstick.trouble.clone().unwrap_or(why))
        }
        Ok(Outcome::Unfit(why)) => standing(ScoreStanding::Failed, why),
        Ok(Outcome::Needs(need)) => needs(scorer, &need, evidence, against),
        Err(_) => standing(
            ScoreStanding::Failed,
            format!("`{}` failed with an internal error. Please report this run.", scorer.name()),
        ),
    }
}

/// Handles scorers that need a program or a judge. A run without an answer scores 0 without running
/// a program. A judge is asked if the run has an answer or a last message, and always for runs of
/// queries: otherwise only their runs without an answer would have a score, from a judge that was
/// never asked.
fn needs(
    scorer: &Scorer,
    need: &Need,
    evidence: &Evidence<'_>,
    against: &ScoringInput<'_>,
) -> (RunScore, Option<ScoreRequest>) {
    let standing = |standing, reason: String| RunScore { standing, reason, ..blank(scorer) };
    if let Need::Model(name) = need
        && (evidence.answer.is_some()
            || !evidence.said.trim().is_empty()
            || against.yardstick.offered.is_some())
    {
        return match scorer.judge() {
            Some(_) => {
                let id = xxh3_64(scorer.identity().as_bytes()).cast_signed();
                let says = standing(
                    ScoreStanding::Waiting,
                    format!("`{}` has not run yet.", scorer.name()),
                );
                (says, Some(ScoreRequest { id, passes_from: scorer.passes_from() }))
            }
            None => (
                standing(ScoreStanding::Failed, format!("There is no judge named `{name}`.")),
                None,
            ),
        };
    }
    let Some(answer) = evidence.answer.and_then(|kept| kept.json.as_deref()) else {
        let none = RunScore {
            score: Some(0.0),
            passed: Some(false),
            ..standing(ScoreStanding::Scored, NO_ANSWER.to_owned())
        };
        return (none, None);
    };
    match need {
        Need::Model(_) => (standing(ScoreStanding::Waiting, String::new()), None),
        Need::Program(_) if against.yardstick.expected.is_none() => {
            let why =
                against.yardstick.trouble.clone().unwrap_or_else(|| NOTHING_EXPECTED.to_owned());
            (standing(ScoreStanding::NoExpected, why), None)
        }
        Need::Program(path) => match against.panel.programs.get(path) {
            Some(Ok(hash)) => {
                let id = ask(*hash, &against.yardstick.expected_text, answer);
                let says = standing(ScoreStanding::Waiting, format!("{path} has not run yet."));
                (says, Some(ScoreRequest { id, passes_from: scorer.passes_from() }))
            }
            Some(Err(why)) => {
                (standing(ScoreStanding::Failed, format!("{path} could not be read: {why}")), None)
            }
            None => (
                standing(
                    ScoreStanding::Failed,
                    format!("{path} is only run for suites that name it."),
                ),
                None,
            ),
        },
    }
}

/// Hash of a request to a program: the program, the expected output and the answer.
pub fn ask(program: u64, expected: &str, answer: &str) -> i64 {
    xxh3_64(format!("{program:x} {} {expected} {answer}", expected.len()).as_bytes()).cast_signed()
}

fn blank(scorer: &Scorer) -> RunScore {
    RunScore {
        scorer: scorer.name().to_owned(),
        version: scorer.version(),
        standing: ScoreStanding::Waiting,
        score: None,
        passed: None,
        reason: String::new(),
        detail: Vec::new(),
    }
}

/// Expected tool calls. Empty for a system without tools.
fn expected_calls<'a>(place: &ScoringKey<'_>, against: &ScoringInput<'a>) -> &'a [String] {
    if place.calls_tools { &against.task.expected_tool_calls } else { &[] }
}

/// Failure class according to a scorer. Without a scorer, only classes that do not depend
/// on scoring.
fn class(
    place: &ScoringKey<'_>,
    evidence: &Evidence<'_>,
    against: Option<ScoringInput<'_>>,
    scorer: Option<&Scorer>,
    passed: Option<bool>,
) -> Option<FailureClass> {
    let stop = match evidence.state {
        RunState::Answered => Stop::Answered,
        RunState::NoAnswer => Stop::NoAnswer,
        RunState::Error => Stop::Error,
        RunState::Waiting | RunState::Writing | RunState::Damaged | RunState::Other => return None,
    };
    let failure = failure_class(&Ending {
        stop,
        reason: evidence.reason,
        said: evidence.said,
        said_is_answer: scorer.is_some_and(Scorer::reads_texts),
        expected_calls: against.as_ref().map_or(&[], |against| expected_calls(place, against)),
        calls: evidence.calls,
        passed,
        of_calls: scorer.is_some_and(Scorer::reads_calls),
    });
    failure.map(|failure| match failure {
        Failure::WrongAnswer => FailureClass::WrongAnswer,
        Failure::NoAnswer => FailureClass::NoAnswer,
        Failure::MissingToolCall => FailureClass::MissingToolCall,
        Failure::ToolError => FailureClass::ToolError,
        Failure::GaveUp => FailureClass::GaveUp,
        Failure::SystemError => FailureClass::SystemError,
        Failure::Timeout => FailureClass::Timeout,
    })
}
