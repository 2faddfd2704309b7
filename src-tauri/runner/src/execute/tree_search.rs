//! Searches for an answer: sends requests to the model, executes its tool calls, and continues as
//! the method directs, until the search is over. Owns the order of these; `search` decides the next
//! step.
use super::converse::{
    Conversation, FORGOTTEN, error_of_reply, has_complete_failures, instructions,
};
use super::{RunError, RunOutcome, clean};
use crate::conversation::{Call, Outcome, Turn};
use crate::event::{Ending, RunEventKind};
use crate::fault;
use crate::provider::Reply;
use crate::script::{fit_reply, fitted_outcome};
use crate::search::{Bounds, Code, Kind, NextStep, Search, names};
use crate::tools::{Called, ToolFailure};
use std::collections::HashMap;
use std::sync::Arc;
use std::time::{Duration, Instant};
use tokio::task::JoinSet;
use touchstone_model::value::Value;

/// Search in progress.
pub(super) struct TreeSearch<'a> {
    talk: Conversation<'a>,
    search: Search,
    compat: bool,
    /// Arguments of calls as the model wrote them, by node; only those that the file holds
    /// redacted.
    sent: HashMap<usize, Value>,
}

const CHANGED: &str = "The search in the file was edited, or uses another method, so it cannot be resumed. Start over.";

impl<'a> TreeSearch<'a> {
    /// Resumes from the content of the file. Fails if it does not fit the method.
    pub(super) fn new(
        mut talk: Conversation<'a>,
        bounds: Bounds,
        compat: bool,
    ) -> Result<Self, RunError> {
        talk.script.drop_error();
        let search =
            talk.script.search(bounds).ok_or_else(|| RunError::Broken(CHANGED.to_owned()))?;
        Ok(Self { talk, search, compat, sent: HashMap::new() })
    }

    /// Runs the search until it is over or has to stop.
    pub(super) async fn run_to_end(mut self) -> Result<RunOutcome, RunError> {
        let ended = self.go_on().await;
        if matches!(ended, Err(RunError::Stopped | RunError::Barred(_))) {
            self.talk.script.write_search(&self.search);
            self.talk.leave().await;
        }
        ended
    }

    async fn go_on(&mut self) -> Result<RunOutcome, RunError> {
        self.save().await?;
        self.talk.system = instructions(&self.talk).await?;
        loop {
            let next = self.search.next();
            if let NextStep::Done(_) = next {
                return self.finish().await;
            }
            if self.talk.crew.stops.soft.is_cancelled() {
                return Err(RunError::Stopped);
            }
            match next {
                NextStep::Run(calls) => self.run(calls).await?,
                _ => {
                    if let Some(ended) = self.ask().await? {
                        return Ok(ended);
                    }
                }
            }
        }
    }

    /// Requests one reply. Returns the outcome if the run ends with it.
    async fn ask(&mut self) -> Result<Option<RunOutcome>, RunError> {
        let turn = self.search.reply_count().saturating_add(1);
        let turns = self.turns(&self.search);
        self.talk.script.write_search(&self.search);
        let bought = match self.talk.reply(turn, &turns).await? {
            Ok(bought) => bought,
            Err(ended) => return Ok(Some(ended)),
        };
        let journaled = bought.journaled;
        let (reply, sent) = self.talk.receive(turn, bought);
        if let Some(error) = error_of_reply(&reply) {
            return self.talk.fail(error).await.map(Some);
        }
        let (first, reply) = (self.search.nodes().len(), fit_reply(reply));
        let kit = Arc::clone(&self.talk.kit);
        self.search.add_reply(&reply, |name| resolve_tool_name(&kit, name, self.compat).is_some());
        if !journaled {
            self.remember(first, &reply, sent);
        }
        Ok(None)
    }

    /// Keeps the original arguments of calls whose arguments are redacted in the file.
    fn remember(&mut self, first: usize, reply: &Reply, sent: Vec<Call>) {
        let nodes = self.search.nodes().iter().enumerate().skip(first);
        let calls = nodes.filter(|(_, node)| matches!(node.kind, Kind::Call(_)));
        for ((at, _), (kept, sent)) in calls.zip(reply.calls.iter().zip(sent)) {
            if kept.params != sent.params || clean::is_marked(&sent.params) {
                self.sent.insert(at, sent.params);
            }
        }
    }

    /// Executes calls concurrently.
    async fn run(&mut self, open: Vec<usize>) -> Result<(), RunError> {
        let mut calls = JoinSet::new();
        let open: Vec<_> = open
            .into_iter()
            .filter_map(|at| self.call(at).map(|(call, reply)| (at, call, reply)))
            .collect();
        let before: Vec<_> =
            open.iter().map(|(_, call, reply)| self.talk.ran_before(*reply, call)).collect();
        let was_told = self.received_outcomes(&open, &before);
        for ((at, call, _), before) in open.into_iter().zip(before) {
            if let Some((outcome, ms)) = before.filter(|(outcome, _)| was_told || !outcome.failed())
            {
                close(&mut self.search, at, outcome, ms);
                continue;
            }
            self.talk.tell(RunEventKind::Calling { tool: call.name.clone() });
            let sent = self.sent.get(&at).cloned();
            let Some(params) =
                sent.or_else(|| (!clean::is_marked(&call.params)).then(|| call.params.clone()))
            else {
                self.came(at, Err(ToolFailure::new(FORGOTTEN)), Duration::ZERO)?;
                continue;
            };
            let (crew, kit) = (Arc::clone(self.talk.crew), Arc::clone(&self.talk.kit));
            let name = resolve_tool_name(&kit, &call.name, self.compat).unwrap_or_default();
            calls.spawn(async move {
                let begun = Instant::now();
                let called = crew.toolbox.call(&kit, &name, &params, &crew.stops.hard).await;
                (at, called, begun.elapsed())
            });
        }
        let mut unsaved = true;
        loop {
            let due = tokio::time::sleep(self.talk.desk.due());
            tokio::select! {
                done = calls.join_next() => match done {
                    None => return Ok(()),
                    Some(Ok((at, called, took))) => {
                        self.came(at, called, took)?;
                        unsaved = true;
                    }
                    Some(Err(_)) => return Err(RunError::Broken("A tool failed with an internal error of Touchstone.".to_owned())),
                },
                () = due, if unsaved => {
                    self.save().await?;
                    unsaved = false;
                }
            }
        }
    }

    /// Returns true if the model received exactly these outcomes, including failures, and its reply
    /// is in the journal.
    fn received_outcomes(
        &self,
        open: &[(usize, Call, u32)],
        before: &[Option<(Outcome, u64)>],
    ) -> bool {
        if !has_complete_failures(before) {
            return false;
        }
        let mut told = self.search.clone();
        for ((at, ..), (outcome, ms)) in open.iter().zip(before.iter().flatten()) {
            close(&mut told, *at, outcome.clone(), *ms);
        }
        told.next() == NextStep::Ask
            && self.talk.was_answered(told.reply_count().saturating_add(1), &self.turns(&told))
    }

    /// Returns the turns of the next request in a search.
    fn turns(&self, search: &Search) -> Vec<Turn> {
        let first = Turn::User(self.talk.script.first_message().unwrap_or_default());
        std::iter::once(first).chain(search.turns()).collect()
    }

    fn call(&self, at: usize) -> Option<(Call, u32)> {
        let node = self.search.nodes().get(at)?;
        match &node.kind {
            Kind::Call(call) => Some((call.clone(), node.reply)),
            _ => None,
        }
    }

    fn came(&mut self, at: usize, called: Called, took: Duration) -> Result<(), RunError> {
        let Some((call, reply)) = self.call(at) else { return Ok(()) };
        let (outcome, ms) = self.talk.keep(reply, &call, called, took)?;
        close(&mut self.search, at, outcome, ms);
        Ok(())
    }

    /// Ends the search and writes the answer.
    async fn finish(&mut self) -> Result<RunOutcome, RunError> {
        fault::point!("talk.over");
        self.talk.script.write_search(&self.search);
        let answer = self.search.answer();
        self.talk.script.answer(answer.as_ref());
        self.talk.end().await.map(|(_, why)| {
            (if answer.is_some() { Ending::Answered } else { Ending::NoAnswer }, why)
        })
    }

    async fn save(&mut self) -> Result<(), RunError> {
        self.talk.script.write_search(&self.search);
        self.talk.save().await
    }
}

fn close(search: &mut Search, at: usize, outcome: Outcome, ms: u64) {
    let outcome = fitted_outcome(outcome);
    let code = Code::of_text(&outcome.to_model_text());
    search.add_outcome(at, outcome, code, Some(Duration::from_millis(ms).as_secs_f64()));
}

/// Resolves a name that the model used to an offered function or tool. Functions of APIs also match
/// by the end of their names.
fn resolve_tool_name(kit: &super::run_tools::RunTools, name: &str, compat: bool) -> Option<String> {
    let api = kit.apis.as_ref().and_then(|apis| {
        let at = names::find(apis.names(), name, compat)?;
        apis.names().nth(at).map(str::to_owned)
    });
    let exactly =
        || kit.offers.iter().find(|offer| offer.name == name).map(|offer| offer.name.clone());
    if compat { api.or_else(exactly) } else { exactly().or(api) }
}
