//! **Pure.** Evaluation of one row by one evaluator: a sequence of questions to a model, or a
//! program to run, that ends with a result.
use super::replay::{ReplyLog, Stop};
use super::{
    Evaluator, Failure, Inputs, Kind, Outcome, Quirks, computed, judging, model_evaluators,
};
use crate::question::Question;
use std::borrow::Cow;
use touchstone_model::value::Value;

/// Next step of an evaluation.
#[derive(Debug, Clone, PartialEq)]
pub enum Next {
    /// Ask a model.
    Ask(Question),
    /// Run a program in the sandbox.
    Run(Job),
    /// Have a model embed these texts.
    Embed([String; 2]),
    /// The evaluation has ended.
    Done(Result<Outcome, Failure>),
}

/// Embedding vectors of two texts, in order.
pub type Vectors = [Vec<f64>; 2];

/// A program and its arguments: `grade(sample, item)`.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Job {
    /// Source code.
    pub source: String,
    /// First argument: the sample to grade.
    pub sample: Value,
    /// Second argument: the row.
    pub item: Value,
}

/// Evaluation of one row by one evaluator.
#[derive(Debug, Clone)]
pub struct Evaluation<'a> {
    evaluator: &'a Evaluator,
    inputs: &'a Inputs,
    quirks: &'a Quirks,
    heard: Vec<String>,
    ran: Option<Result<f64, String>>,
    vectors: Option<Vectors>,
}

impl<'a> Evaluation<'a> {
    /// Creates an evaluation without replies.
    pub fn new(evaluator: &'a Evaluator, inputs: &'a Inputs, quirks: &'a Quirks) -> Self {
        Self { evaluator, inputs, quirks, heard: Vec::new(), ran: None, vectors: None }
    }

    /// Returns the next step. It depends only on the replies received, therefore a resumed row asks
    /// the same questions in the same order.
    pub fn next(&self) -> Next {
        match self.replay(&mut ReplyLog::new(&self.heard, self.ran.as_ref(), self.vectors.as_ref()))
        {
            Ok(outcome) => Next::Done(Ok(outcome)),
            Err(Stop::Ask(question)) => Next::Ask(question),
            Err(Stop::Run(job)) => Next::Run(job),
            Err(Stop::Embed(texts)) => Next::Embed(texts),
            Err(Stop::Fail(failure)) => Next::Done(Err(failure)),
        }
    }

    fn replay(&self, heard: &mut ReplyLog<'_>) -> Result<Outcome, Stop> {
        let Self { evaluator, quirks, .. } = self;
        let inputs: Cow<'_, Inputs> = match &evaluator.kind {
            // Programs receive the row unchanged.
            Kind::Python(_) => Cow::Borrowed(self.inputs),
            _ => self.inputs.without_missing(quirks),
        };
        let inputs = inputs.as_ref();
        let (takes, name) = (&evaluator.takes, &evaluator.name);
        match &evaluator.kind {
            Kind::Judge { threshold, reasoning } => {
                judging::judged(takes, (threshold, *reasoning), inputs, heard, quirks)
            }
            Kind::Qa(limits) => judging::qa(takes, limits, inputs, heard, quirks),
            Kind::Safety(options) => {
                model_evaluators::safe(evaluator, options, inputs, heard, quirks)
            }
            Kind::Label(label) => model_evaluators::labelled(name, label, inputs, heard, quirks),
            Kind::Score(score) => model_evaluators::scored(name, score, inputs, heard, quirks),
            Kind::Text(_)
            | Kind::Retrieval(_)
            | Kind::Check(_)
            | Kind::Likeness(_)
            | Kind::Python(_) => computed::evaluate(evaluator, inputs, heard, quirks),
        }
    }

    /// Adds the reply to the question that [`Self::next`] returned.
    pub fn add_reply(&mut self, reply: &str) {
        self.heard.push(reply.to_owned());
    }

    /// Sets the result of the program, or the reason why it failed.
    pub fn set_program_result(&mut self, came: Result<f64, String>) {
        self.ran = Some(came);
    }

    /// Sets the vectors of the texts.
    pub fn set_vectors(&mut self, vectors: Vectors) {
        self.vectors = Some(vectors);
    }
}
