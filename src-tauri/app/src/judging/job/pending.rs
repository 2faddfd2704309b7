//! **Pure.** Determines the missing rounds of a judgement, estimates their cost, and records
//! completed rounds.
use std::collections::HashMap;
use std::sync::Arc;
use touchstone_api::RunState;
use touchstone_formats::judgement::{Judgement, JudgementFile, Round};
use touchstone_judges::{Judge, JudgeRef, JudgeRound, Next, Rules, Subject};

/// Approximate numbers of tokens.
pub(crate) mod tokens {
    /// Assumed number of tokens of a reply.
    pub(crate) const REPLY: u64 = 150;
    /// Assumed number of characters per token.
    const LETTERS: u64 = 4;

    /// Estimates the number of tokens of a text.
    pub(crate) fn estimate(text: &str) -> u64 {
        text.chars().count() as u64 / LETTERS
    }
}

/// Options of a judging job.
#[derive(Debug, Clone)]
pub(crate) struct JudgeSpec {
    /// The judge. For judges that suites define, this is the one of an arbitrary suite; each run
    /// uses that of its own suite.
    pub(crate) judge: JudgeRef,
    pub(crate) model: String,
    /// Checksum of the settings behind the model's name.
    pub(crate) model_mark: String,
    pub(crate) rules: Rules,
    pub(crate) rounds: u32,
    /// True to judge runs again that have a judgement.
    pub(crate) again: bool,
    /// Run to compare each run with, by run id; empty for judges of single runs.
    pub(crate) rivals: Arc<HashMap<String, Target>>,
}

impl JudgeSpec {
    /// Returns these options with the judge of this run's suite. Returns `None` if the suite does
    /// not define that judge.
    pub(crate) fn for_run(&self, run: &Target) -> Option<JudgeSpec> {
        let judge = match &self.judge {
            JudgeRef::Known(_) => self.judge.clone(),
            JudgeRef::Own(_) => run.judge.clone()?,
        };
        Some(JudgeSpec { judge, ..self.clone() })
    }

    /// Returns true if a judgement matches these options: same judge and version, model, rules and
    /// inputs. If the file does not contain the checksum of the model, the model's name is
    /// sufficient.
    pub(crate) fn matches(&self, said: &Judgement, inputs: &str) -> bool {
        (said.judge.as_str(), said.version) == (&*self.judge.name, self.judge.version())
            && (said.model == self.model
                && said.rules == self.rules.word()
                && said.inputs == inputs)
            && said.model_mark.as_ref().is_none_or(|mark| *mark == self.model_mark)
    }
}

/// A run to judge, or to compare with.
#[derive(Debug, Clone)]
pub(crate) struct Target {
    pub(crate) id: String,
    pub(crate) path: String,
    pub(crate) state: RunState,
    /// Task of the run.
    pub(crate) task: Option<String>,
    /// Pass threshold as a score from 0 to 1, if the suite sets one.
    pub(crate) least: Option<f64>,
    /// The requested judge, if the suite of the run defines it.
    pub(crate) judge: Option<JudgeRef>,
}

/// A judgement with missing rounds.
#[derive(Debug, Clone, PartialEq)]
pub(crate) struct PendingJudgement {
    /// Index of the judgement in the file.
    pub(crate) place: usize,
    /// Number of earlier judgements with the same options. Part of the request's mark, which makes
    /// a repeated judgement send its requests again in place of reusing recorded replies.
    pub(crate) take: usize,
    pub(crate) judgement: Judgement,
}

impl PendingJudgement {
    /// Returns the index of the next round, or `None` if the judgement is complete.
    pub(crate) fn round(&self) -> Option<usize> {
        let done = self.judgement.rounds.len();
        (done < self.judgement.wanted as usize).then_some(done)
    }

    /// Returns the mark that distinguishes the requests of a round from identical ones of other
    /// rounds.
    pub(crate) fn mark(&self, round: usize) -> String {
        format!("{}-{round}", self.take)
    }
}

/// Returns the judgement to continue or to start, given the recorded ones. Returns `None` if
/// nothing is missing.
pub(crate) fn pending_judgement(
    sheet: &JudgementFile,
    wish: &JudgeSpec,
    inputs: &str,
    against: Option<&str>,
) -> Option<PendingJudgement> {
    let all = sheet.judgements();
    let earlier: Vec<usize> = (0..all.len()).filter(|at| wish.matches(&all[*at], inputs)).collect();
    let lacks = |judgement: &Judgement, rounds: u32| judgement.rounds.len() < rounds as usize;
    let last = earlier.last().map(|at| (*at, all[*at].clone()));
    let take = earlier.len();
    match last {
        // An unfinished judgement is continued, even with `again`, but never beyond the number of
        // rounds requested now.
        Some((place, judgement))
            if lacks(&judgement, wish.rounds)
                && (!wish.again || lacks(&judgement, judgement.wanted)) =>
        {
            Some(PendingJudgement {
                place,
                take: take - 1,
                judgement: Judgement { wanted: wish.rounds, ..judgement },
            })
        }
        Some(_) if !wish.again => None,
        _ => Some(PendingJudgement {
            place: all.len(),
            take,
            judgement: Judgement {
                judge: wish.judge.name.to_string(),
                version: wish.judge.version(),
                model: wish.model.clone(),
                model_mark: Some(wish.model_mark.clone()),
                rules: wish.rules.word().to_owned(),
                inputs: inputs.to_owned(),
                against: against.map(str::to_owned),
                wanted: wish.rounds,
                rounds: Vec::new(),
            },
        }),
    }
}

/// Estimated requests and tokens for the rounds of one run, each as minimum and maximum. All 0 if
/// no request is needed.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Default)]
pub(crate) struct CallEstimate {
    pub(crate) calls: (u64, u64),
    pub(crate) sent: (u64, u64),
    pub(crate) received: (u64, u64),
}

impl CallEstimate {
    /// Adds two estimates.
    #[must_use]
    pub(crate) fn and(self, more: CallEstimate) -> CallEstimate {
        let plus = |a: (u64, u64), b: (u64, u64)| (a.0 + b.0, a.1 + b.1);
        CallEstimate {
            calls: plus(self.calls, more.calls),
            sent: plus(self.sent, more.sent),
            received: plus(self.received, more.received),
        }
    }

    /// Returns minimum and maximum cost in dollars, given the prices per million input and output
    /// tokens.
    #[expect(clippy::cast_precision_loss, reason = "an estimate")]
    pub(crate) fn cost(self, input: f64, output: f64) -> (f64, f64) {
        let dollars =
            |sent: u64, received: u64| (sent as f64 * input + received as f64 * output) / 1e6;
        (dollars(self.sent.0, self.received.0), dollars(self.sent.1, self.received.1))
    }
}

/// Estimates the effort of a number of rounds.
pub(crate) fn estimate_rounds(
    judge: &Judge,
    subject: &Subject,
    rules: Rules,
    rounds: u64,
) -> CallEstimate {
    let Next::Ask(first) = JudgeRound::new(judge, subject, rules).next() else {
        return CallEstimate::default();
    };
    let one = tokens::estimate(&first.instructions) + tokens::estimate(&first.text);
    let (least, most) = (u64::from(judge.least_questions()), u64::from(judge.questions));
    let process = || subject.process.iter().map(|line| tokens::estimate(line)).sum::<u64>();
    let rest = one + if judge.shows_process() { process() } else { 0 };
    CallEstimate {
        calls: (rounds * least, rounds * most),
        sent: (rounds * least * one, rounds * (one + (most - 1) * rest)),
        received: (rounds * least * tokens::REPLY, rounds * most * tokens::REPLY),
    }
}

/// Returns true if the subject is decided without a request.
pub(crate) fn is_unasked(judge: &Judge, subject: &Subject, rules: Rules) -> bool {
    matches!(JudgeRound::new(judge, subject, rules).next(), Next::Ruled(_))
}

/// Returns the completed round, with or without a verdict. Returns `None` if another question
/// follows.
pub(crate) fn round(next: Next, refused: bool, replies: Vec<String>, at: String) -> Option<Round> {
    match next {
        Next::Ask(_) => None,
        Next::Ruled(ruling) => Some(Round {
            verdict: Some(ruling.word),
            score: Some(ruling.score),
            reason: ruling.reason,
            replies,
            at: Some(at),
            ..Round::default()
        }),
        Next::Unread => {
            let reason = if refused {
                "The judge refused, so there is no verdict."
            } else {
                "The replies of the judge could not be read, so there is no verdict."
            };
            Some(Round { reason: reason.to_owned(), replies, at: Some(at), ..Round::default() })
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use touchstone_judges::{Finish, named};

    fn judge_spec(rounds: u32, again: bool) -> JudgeSpec {
        JudgeSpec {
            judge: JudgeRef::Known(named("sopr").unwrap()),
            model: "m".to_owned(),
            model_mark: "1".to_owned(),
            rules: Rules::Ours,
            rounds,
            again,
            rivals: Arc::default(),
        }
    }

    /// Adds the missing rounds, at most `most`. Returns the number of rounds added.
    fn judged(sheet: &mut JudgementFile, wish: &JudgeSpec, inputs: &str, most: usize) -> usize {
        let Some(mut owed) = pending_judgement(sheet, wish, inputs, None) else { return 0 };
        let mut rounds = 0;
        while owed.round().is_some() && rounds < most {
            owed.judgement.rounds.push(Round::default());
            rounds += 1;
        }
        sheet.put(owed.place, owed.judgement);
        rounds
    }

    #[test]
    fn only_missing_rounds_are_requested_unless_asked_again() {
        let mut sheet = JudgementFile::default();
        assert_eq!(judged(&mut sheet, &judge_spec(3, false), "x", 2), 2);
        assert_eq!(judged(&mut sheet, &judge_spec(3, true), "x", 9), 1);
        assert_eq!(judged(&mut sheet, &judge_spec(3, false), "x", 9), 0);
        assert_eq!(judged(&mut sheet, &judge_spec(5, false), "x", 9), 2);
        assert_eq!(judged(&mut sheet, &judge_spec(2, false), "x", 9), 0);
        assert_eq!(judged(&mut sheet, &judge_spec(2, true), "x", 9), 2);
        assert_eq!(sheet.judgements().len(), 2);
        let again = pending_judgement(&sheet, &judge_spec(2, true), "x", None).unwrap();
        assert_eq!((again.place, again.mark(0)), (2, "2-0".to_owned()));
    }

    #[test]
    fn never_more_rounds_are_owed_than_are_asked_for() {
        let mut sheet = JudgementFile::default();
        // Stopped after two of ten.
        assert_eq!(judged(&mut sheet, &judge_spec(10, false), "x", 2), 2);
        assert_eq!(judged(&mut sheet, &judge_spec(1, false), "x", 9), 0);
        assert_eq!(judged(&mut sheet, &judge_spec(3, false), "x", 9), 1);
        assert_eq!(judged(&mut sheet, &judge_spec(10, false), "x", 2), 2);
        assert_eq!(
            (judged(&mut sheet, &judge_spec(4, true), "x", 9), sheet.judgements().len()),
            (4, 2)
        );
    }

    #[test]
    fn other_inputs_another_model_and_other_rules_are_other_judgements() {
        let mut sheet = JudgementFile::default();
        judged(&mut sheet, &judge_spec(1, false), "x", 9);
        for (wish, inputs) in [
            (judge_spec(1, false), "y"),
            (JudgeSpec { model: "n".to_owned(), ..judge_spec(1, false) }, "x"),
            (JudgeSpec { model_mark: "2".to_owned(), ..judge_spec(1, false) }, "x"),
            (JudgeSpec { rules: Rules::Official, ..judge_spec(1, false) }, "x"),
        ] {
            let owed = pending_judgement(&sheet, &wish, inputs, None).unwrap();
            assert_eq!((owed.place, owed.take, owed.round()), (1, 0, Some(0)));
        }
    }

    #[test]
    fn a_judgement_that_does_not_say_what_stood_behind_its_model_is_believed() {
        let mut sheet = JudgementFile::default();
        judged(&mut sheet, &judge_spec(1, false), "x", 9);
        let old = Judgement { model_mark: None, ..sheet.judgements()[0].clone() };
        sheet.put(0, old);
        assert_eq!(pending_judgement(&sheet, &judge_spec(1, false), "x", None), None);
        // Additional rounds do not add the checksum, because the model settings of the first rounds
        // are unknown.
        assert_eq!(
            pending_judgement(&sheet, &judge_spec(2, false), "x", None)
                .unwrap()
                .judgement
                .model_mark,
            None
        );
    }

    #[test]
    fn a_run_without_an_answer_takes_nothing() {
        let judge = named("sopr").unwrap();
        let none = Subject { finish: Finish::NotUsed, ..Subject::default() };
        assert!(is_unasked(judge, &none, Rules::Ours));
        assert_eq!(estimate_rounds(judge, &none, Rules::Ours, 3), CallEstimate::default());
        let some = Subject { answer: "42".to_owned(), process: vec!["x".repeat(4_000)], ..none };
        let takes = estimate_rounds(judge, &some, Rules::Ours, 3);
        assert_eq!((takes.calls, takes.received), ((3, 6), (450, 900)));
        assert!(takes.sent.1 >= 2 * takes.sent.0 + 3_000, "{takes:?}");
    }
}
