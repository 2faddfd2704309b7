//! **Pure.** One row before one evaluator: a sequence of questions to a model, or a program to run,
//! that ends with a result.
use super::sitting::{Heard, Stop};
use super::{Evaluator, Failure, Inputs, Kind, Outcome, Quirks, asking, judging, plain};
use crate::judges::Question;
use std::borrow::Cow;
use touchstone_formats::value::Value;

/// What comes next.
#[derive(Debug, Clone, PartialEq)]
pub enum Next {
    /// A model has to be asked.
    Ask(Question),
    /// A program has to be run in the sandbox.
    Run(Job),
    /// A model has to turn these texts into vectors.
    Embed([String; 2]),
    /// It is over.
    Done(Result<Outcome, Failure>),
}

/// What a model turned two texts into, in their order.
pub type Vectors = [Vec<f64>; 2];

/// A program with what it is called with: `grade(sample, item)`.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Job {
    /// Its source.
    pub source: String,
    /// What it is to judge.
    pub sample: Value,
    /// The row.
    pub item: Value,
}

/// One row before one evaluator.
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
    /// Begins.
    pub fn new(evaluator: &'a Evaluator, inputs: &'a Inputs, quirks: &'a Quirks) -> Self {
        Self { evaluator, inputs, quirks, heard: Vec::new(), ran: None, vectors: None }
    }

    /// What comes next. It follows from what was heard alone, so a row that goes on asks the same
    /// questions in the same order.
    pub fn next(&self) -> Next {
        match self.course(&mut Heard::new(&self.heard, self.ran.as_ref(), self.vectors.as_ref())) {
            Ok(outcome) => Next::Done(Ok(outcome)),
            Err(Stop::Ask(question)) => Next::Ask(question),
            Err(Stop::Run(job)) => Next::Run(job),
            Err(Stop::Embed(texts)) => Next::Embed(texts),
            Err(Stop::Fail(failure)) => Next::Done(Err(failure)),
        }
    }

    fn course(&self, heard: &mut Heard<'_>) -> Result<Outcome, Stop> {
        let Self { evaluator, quirks, .. } = self;
        let inputs: Cow<'_, Inputs> = match &evaluator.kind {
            // A program sees the row as it is.
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
            Kind::Safety(options) => asking::safe(evaluator, options, inputs, heard, quirks),
            Kind::Label(label) => asking::labelled(name, label, inputs, heard, quirks),
            Kind::Score(score) => asking::scored(name, score, inputs, heard, quirks),
            Kind::Text(_)
            | Kind::Retrieval(_)
            | Kind::Check(_)
            | Kind::Likeness(_)
            | Kind::Python(_) => plain::course(evaluator, inputs, heard, quirks),
        }
    }

    /// Takes the reply to the question that came next.
    pub fn take(&mut self, reply: &str) {
        self.heard.push(reply.to_owned());
    }

    /// Takes what the program came to, or why it did not.
    pub fn ran(&mut self, came: Result<f64, String>) {
        self.ran = Some(came);
    }

    /// Takes the vectors of the texts.
    pub fn embedded(&mut self, vectors: Vectors) {
        self.vectors = Some(vectors);
    }
}
