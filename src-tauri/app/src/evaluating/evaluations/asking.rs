//! Requests of an evaluation: to the target, the judge model, and programs in the sandbox. Every
//! paid reply is stored before it is used.
use super::{Asking, Job, Work};
use crate::evaluating::job::row_inputs::{self, OccurrenceCounter, TargetOutput};
use crate::jobs::job_registry::catch_panic;
use crate::judging::job::python::{check_grader, grader_program, parse_grade, reading};
use crate::judging::judge_jobs::{asked_model, turns};
use std::sync::Arc;
use tokio::sync::Semaphore;
use tokio::task::JoinSet;
use touchstone_clock as clock;
use touchstone_judges::Question;
use touchstone_judges::azure::{self, Table};
use touchstone_model::value::Value;
use touchstone_runner::conversation::{Call, Outcome};
use touchstone_runner::execute::{self, PromptError, PromptReply, PromptRequest};
use touchstone_runner::journal::{Journal, Ran, Record};
use touchstone_runner::spec::Model;
use touchstone_runner::target::{self, NoAnswer};
use touchstone_runner::tools::python::PythonLimits;

impl Work {
    /// Calls the target for each row; `None` without a target.
    pub(super) async fn ask_target(
        self: &Arc<Self>,
        table: &Arc<Table>,
        seats: &Arc<Semaphore>,
    ) -> Option<Vec<TargetOutput>> {
        if self.job.target.is_empty() {
            return None;
        }
        let target = &self.job.target;
        let rows = self.job.rows;
        let mut again = OccurrenceCounter::default();
        let mut said: Vec<TargetOutput> = vec![Err("The target did not run.".to_owned()); rows];
        let mut running = JoinSet::new();
        for row in 0..rows {
            let Ok(seat) = Arc::clone(seats).acquire_owned().await else { break };
            if self.course.is_stopping() {
                break;
            }
            let work = Arc::clone(self);
            let asked = row_inputs::target_input(table, row);
            let call = row_inputs::call(target, &asked, again.nth(&asked));
            running.spawn(async move {
                let answer = catch_panic(work.ask_target_of(&asked, &call))
                    .await
                    .unwrap_or_else(|why| Some(Err(why)));
                let answer = answer
                    .map(|answer| answer.map_err(|why| work.job.redactor.clean(&why).into_owned()));
                drop(seat);
                work.course.lock().progress.asked += 1;
                work.course.post();
                (row, answer)
            });
        }
        while let Some(done) = running.join_next().await {
            if let Ok((row, Some(answer))) = done {
                said[row] = answer;
            }
        }
        Some(said)
    }

    /// Calls the target for one row, unless its output is stored. `None` if the evaluation was
    /// stopped.
    async fn ask_target_of(&self, asked: &str, call: &Call) -> Option<TargetOutput> {
        let Job { target, redactor, wish, .. } = &self.job;
        let journal = self.journal();
        let kept =
            journal.as_ref().and_then(|journal| journal.find_outcome(row_inputs::TURN, call, 0));
        if let Some(columns) = kept.and_then(|kept| row_inputs::recorded_columns(wish, kept)) {
            self.course.lock().progress.answered += 1;
            return Some(Ok(columns));
        }
        let begun = clock::now_ms();
        let answer = match target::ask(target, asked.as_bytes(), &self.course.stops.hard).await {
            Ok(answer) => row_inputs::parse_target_output(&answer).and_then(|value| {
                // The target runs with the environment of the user, which may hold keys unknown to
                // this program.
                let value = redactor.clean_value(value);
                Ok((row_inputs::columns(wish, value.clone())?, value))
            }),
            Err(NoAnswer::Failed(why)) => return Some(Err(why)),
            Err(NoAnswer::Stopped) => return None,
        };
        // Only usable outputs are stored; others are requested again.
        if let (Some(journal), Ok((_, value))) = (&journal, &answer) {
            let (now, outcome) = (clock::now_ms(), Outcome::Result(value.clone()));
            let ran = Ran::new(
                row_inputs::TURN,
                call,
                &outcome,
                u64::try_from(now - begun).unwrap_or(0),
                now,
            );
            if let Err(error) = journal.append(Record::Tool(ran)).await {
                return Some(Err(format!("The answer of the target could not be saved: {error}")));
            }
        }
        Some(answer.map(|(columns, _)| columns))
    }

    /// Sends a question to the judge model, unless the reply is stored. Returns the reply and
    /// whether it was stored.
    pub(super) async fn ask(
        &self,
        question: &Question,
        mark: &str,
    ) -> Result<(String, bool), PromptError> {
        let journal = self.journal();
        let model = self.judge().map(|model| asked_model(model, question));
        let errand = self.prompt_request(journal.as_ref(), model.as_deref(), mark)?;
        let PromptReply { text, refused, paid, .. } =
            errand.ask(&question.instructions, &turns(question)).await?;
        self.course.add_reply(&paid);
        if refused {
            let why = format!("The judge refused. {text}").trim_end().to_owned();
            return Err(PromptError::Useless { why, journaled: paid.journaled });
        }
        Ok((text, paid.journaled))
    }

    /// Marks the stored reply to a question as forgotten, so that it is requested again.
    pub(super) fn forget(&self, question: &Question, mark: &str) -> Result<(), String> {
        let (journal, model) = (self.journal(), self.judge());
        let Some((journal, model)) = journal.zip(model) else { return Ok(()) };
        let hash = execute::hash(
            &asked_model(model, question),
            mark,
            &question.instructions,
            &turns(question),
        );
        journal.note(Record::Forgotten { hash }).map_err(|why| why.to_string())
    }

    /// Requests the embeddings of texts, unless they are stored.
    pub(super) async fn embed(
        &self,
        texts: &[String; 2],
        mark: &str,
    ) -> Result<azure::Vectors, PromptError> {
        let model = self.asking.as_ref().and_then(|asking| asking.models.embedder.as_ref());
        let journal = self.journal();
        let (vectors, paid) =
            self.prompt_request(journal.as_ref(), model, mark)?.embed(texts).await?;
        self.course.add_reply(&paid);
        Ok(vectors)
    }

    fn prompt_request<'a>(
        &'a self,
        journal: Option<&'a Journal>,
        model: Option<&'a Model>,
        mark: &'a str,
    ) -> Result<PromptRequest<'a>, PromptError> {
        let none = || PromptError::Failed("There is no model to ask.".to_owned());
        let Asking { crew, .. } = self.asking.as_ref().ok_or_else(none)?;
        let journal = journal.ok_or_else(none)?;
        let path = self.job.shown.as_deref().unwrap_or_default();
        Ok(PromptRequest { crew, path, journal, model: model.ok_or_else(none)?, mark })
    }

    /// Loads the programs of the user in the sandbox. Code outside of functions runs at this point
    /// and may loop: it is subject to the limits of a program, and any stop request ends it at
    /// once, because nothing has been paid for yet.
    pub(super) async fn read_programs(&self) -> Result<(), String> {
        let Some(tool) = &self.programs else { return Ok(()) };
        for (name, source) in self.job.wish.programs() {
            let program = reading(name, source)?;
            let ended =
                tool.run(&program, &self.course.stops.soft).await.map_err(|why| why.message)?;
            if self.course.is_stopping()
                && ended.get("outcome").and_then(Value::text) == Some("killed")
            {
                return Err(format!("It was stopped while reading {name}, before row 1."));
            }
            check_grader(name, &ended, PythonLimits::default().wall).map_err(|why| {
                format!("{why} Fix the program: it is called for each row as grade(sample, item).")
            })?;
        }
        Ok(())
    }

    /// Runs a program of the user in the sandbox. Returns its grade, or the reason why it has none.
    pub(super) async fn grade(
        &self,
        name: &str,
        job: &azure::Job,
    ) -> Result<Result<f64, String>, PromptError> {
        let none = || PromptError::Failed("There is no sandbox to run it in.".to_owned());
        let tool = self.programs.as_ref().ok_or_else(none)?;
        let program = match grader_program(name, &job.source, &job.sample, &job.item) {
            Ok(program) => program,
            Err(why) => return Ok(Err(why)),
        };
        let _seat = self.program_seats.acquire().await;
        if self.course.is_stopping() {
            return Err(PromptError::Stopped);
        }
        let ended = tool
            .run(&program, &self.course.stops.hard)
            .await
            .map_err(|why| PromptError::Failed(why.message))?;
        if self.course.stops.hard.is_cancelled() {
            return Err(PromptError::Stopped);
        }
        Ok(parse_grade(name, &ended, PythonLimits::default().wall))
    }
}
