//! Runs one evaluator on one row: its rounds, each a sequence of questions until there is a result.
//! Unreadable replies are requested again if that was requested. The requests themselves are in
//! `asking`.
use super::Work;
use crate::evaluating::job::estimate::{key, key_of_texts};
use crate::evaluating::job::evaluation_spec::mark;
use crate::evaluating::job::rounds::Round;
use crate::evaluating::job::row_inputs::RowInputs;
use touchstone_api::EvaluateAgain;
use touchstone_judges::Question;
use touchstone_judges::azure::{Evaluation, Inputs, Next};
use touchstone_runner::execute::PromptError;

/// Identifies a round: row, evaluator, and round number from 0.
#[derive(Clone, Copy)]
struct RoundId<'a> {
    sheet: &'a RowInputs,
    row: usize,
    at: usize,
    number: u32,
}

/// A round and the requests it took.
#[derive(Default)]
struct RoundAttempt {
    replies: Vec<String>,
    /// True if a request was paid for in this process.
    bought: bool,
    /// The latest question, in each form in which it was sent.
    last: Vec<Question>,
}

impl Work {
    /// Runs all rounds of one evaluator on one row; `None` if the evaluation was stopped.
    pub(super) async fn unit(
        &self,
        sheet: &RowInputs,
        row: usize,
        at: usize,
    ) -> Option<Vec<Round>> {
        let wish = &self.job.wish;
        let inputs = match sheet.inputs(wish, at, row) {
            Ok(inputs) => inputs,
            Err(why) => return Some(vec![Round::no_reply(why, Vec::new())]),
        };
        let mut rounds = Vec::new();
        for number in 0..wish.rounds_of(at) {
            if self.course.is_stopping() {
                return None;
            }
            let round = self.round(&inputs, RoundId { sheet, row, at, number }).await?;
            // Further rounds would be paid for in vain.
            let is_open = round.is_open();
            rounds.push(round);
            if is_open {
                break;
            }
        }
        Some(rounds)
    }

    /// Runs one round. An unreadable stored reply is requested once more if that was requested.
    async fn round(&self, inputs: &Inputs, place: RoundId<'_>) -> Option<Round> {
        let (round, sat) = self.run_attempt(inputs, place).await?;
        if self.job.again != EvaluateAgain::Unread || sat.bought || !round.is_unread() {
            return Some(round);
        }
        for question in &sat.last {
            if let Err(why) = self.forget(question, &self.mark(place, key(question))) {
                return Some(Round::no_reply(
                    format!("It cannot be asked again: {why}"),
                    round.replies,
                ));
            }
        }
        Some(self.run_attempt(inputs, place).await?.0)
    }

    async fn run_attempt(
        &self,
        inputs: &Inputs,
        place: RoundId<'_>,
    ) -> Option<(Round, RoundAttempt)> {
        let wish = &self.job.wish;
        let evaluator = &wish.evaluators[place.at].evaluator;
        let mut evaluation = Evaluation::new(evaluator, inputs, &wish.quirks);
        let mut sat = RoundAttempt::default();
        loop {
            // Measuring long texts takes long and would block other tasks on this thread.
            let heard = match tokio::task::block_in_place(|| evaluation.next()) {
                Next::Done(result) => {
                    let replies = std::mem::take(&mut sat.replies);
                    return Some((Round::completed(result, replies), sat));
                }
                Next::Run(job) => self
                    .grade(&evaluator.name, &job)
                    .await
                    .map(|came| evaluation.set_program_result(came)),
                Next::Embed(texts) => {
                    let mark = self.mark(place, key_of_texts(&texts));
                    self.embed(&texts, &mark).await.map(|vectors| evaluation.set_vectors(vectors))
                }
                Next::Ask(question) => {
                    let mark = self.mark(place, key(&question));
                    let said = self.ask(&question, &mark).await;
                    sat.ask(question);
                    said.map(|(text, journaled)| {
                        evaluation.add_reply(&text);
                        sat.bought |= !journaled;
                        sat.replies.push(text);
                    })
                }
            };
            let replies = || sat.replies.clone();
            match heard {
                Ok(()) => {}
                Err(PromptError::Stopped) => return None,
                Err(PromptError::Failed(why)) => {
                    return Some((Round::no_reply(why, replies()), sat));
                }
                Err(PromptError::Useless { why, journaled }) => {
                    let round = Round::unusable(why, replies());
                    return Some((round, RoundAttempt { bought: sat.bought || !journaled, ..sat }));
                }
            }
        }
    }

    fn mark(&self, RoundId { sheet, row, at, number }: RoundId<'_>, key: u128) -> String {
        mark(sheet.nth(at, row, key), &self.job.wish.evaluators[at].evaluator.name, number)
    }
}

impl RoundAttempt {
    fn ask(&mut self, question: Question) {
        if question.unread.is_none() {
            self.last.clear();
        }
        self.last.push(question);
    }
}
