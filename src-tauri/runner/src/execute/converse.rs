//! Conversations of the tool-calling systems: sends requests to the model, runs the tools it calls,
//! and nudges it when it stops early, until the conversation ends. Owns the order of these; the
//! contents of the file are owned by `script`.
use super::active_timer::ActiveTimer;
use super::endpoints::Endpoint;
use super::provider_request::{self, FailedAttempt, ProviderRequest, ReceivedReply, RequestResult};
use super::run_files::RunFiles;
use super::run_tools::RunTools;
use super::user_model::RunUser;
use super::{Job, LaunchContext, RunError, RunOutcome, clean, prompt};
use crate::conversation::{Call, Outcome, Turn};
use crate::event::{Ending, RunEventKind};
use crate::fault;
use crate::journal::Ran;
use crate::nudge;
use crate::provider::replay::Recording;
use crate::provider::{self, HttpRequest, ModelRequest, Reply, StopReason};
use crate::script::{End, Facts, OpenCall, TranscriptWriter};
use crate::spec::Model;
use crate::tools::{Called, ToolFailure};
use std::collections::HashMap;
use std::sync::Arc;
use std::time::{Duration, Instant};
use tokio::task::JoinSet;
use touchstone_clock as clock;
use touchstone_model::answer;
use touchstone_model::value::Value;

/// Returns an error if the conversation cannot continue from a reply, for example because it was
/// cut off or refused.
pub(super) fn error_of_reply(reply: &Reply) -> Option<Value> {
    let why = match &reply.stop {
        StopReason::Done | StopReason::Calls => return None,
        StopReason::Refused(_) => "The model refused to continue.".to_owned(),
        StopReason::Length => {
            "The reply was cut at the token limit, so it is not an answer. Raise `max_tokens` of the model, then continue.".to_owned()
        }
        StopReason::Other(reason) => format!("The reply ended for an unknown reason: `{reason}`."),
    };
    let mut error = vec![("message".into(), Value::Text(why))];
    if let Some(text) = &reply.text {
        error.push(("text".into(), Value::Text(text.clone())));
    }
    Some(Value::Map(error))
}

/// Returns true if all calls were executed before and some failed. Only then may the model have
/// received failures.
pub(super) fn has_complete_failures(before: &[Option<(Outcome, u64)>]) -> bool {
    before.iter().all(Option::is_some)
        && before.iter().flatten().any(|(outcome, _)| outcome.failed())
}

/// Conversation in progress.
pub(super) struct Conversation<'a> {
    pub(super) crew: &'a Arc<LaunchContext>,
    pub(super) job: &'a Job,
    pub(super) model: &'a Model,
    /// Filled in after the file was first written.
    pub(super) system: String,
    pub(super) kit: Arc<RunTools>,
    /// Recording that replaces the provider.
    pub(super) recording: Option<Recording>,
    pub(super) desk: RunFiles,
    pub(super) sitting: ActiveTimer,
    pub(super) script: TranscriptWriter,
    /// Arguments of calls as the model wrote them, by item of the call; only those that the file
    /// holds redacted.
    pub(super) sent: HashMap<usize, Value>,
    /// True if the task is from a query set.
    pub(super) is_query: bool,
    /// True if it searches for an answer by a method.
    pub(super) searches: bool,
    /// User that a model plays, if the task has one.
    pub(super) user: Option<Arc<RunUser>>,
}

/// Result of a call that can no longer be executed.
pub(super) const FORGOTTEN: &str = "The arguments of this call held a secret, which is kept \
    nowhere, and the run was interrupted before the tool was called. Call it again.";

impl Conversation<'_> {
    /// Runs the conversation until it ends or has to stop.
    pub(super) async fn run_to_end(mut self) -> Result<RunOutcome, RunError> {
        let ended = self.go_on().await;
        if matches!(ended, Err(RunError::Stopped | RunError::Barred(_))) {
            self.leave().await;
        }
        ended
    }

    async fn go_on(&mut self) -> Result<RunOutcome, RunError> {
        // From here on a user's message is in the file, whatever happens.
        self.save().await?;
        self.system = instructions(self).await?;
        loop {
            let end = self.script.end();
            let is_idle = end == End::Assistant
                && self.script.open_calls().is_empty()
                && self.due_nudge().is_none();
            let awaits_user = self.awaits_user();
            if is_idle && !awaits_user {
                return self.finish().await;
            }
            if self.crew.stops.soft.is_cancelled() {
                return Err(RunError::Stopped);
            }
            match end {
                End::Error { .. } => self.script.drop_error(),
                // The model is asked only when every call has a result, including open calls in the
                // middle of an edited file.
                _ if !self.script.open_calls().is_empty() => self.call_tools().await?,
                End::AbsentFirstMessage | End::Assistant
                    if awaits_user && (is_idle || end != End::Assistant) =>
                {
                    if let Some(ended) = self.ask_user().await? {
                        return Ok(ended);
                    }
                }
                End::Assistant => self.nudge(),
                End::AbsentFirstMessage | End::User | End::OpenCalls | End::CallsDone => {
                    if let Some(ended) = self.ask().await? {
                        return Ok(ended);
                    }
                }
            }
        }
    }

    /// Requests one reply. Returns the outcome if the run ends with it.
    async fn ask(&mut self) -> Result<Option<RunOutcome>, RunError> {
        let turn = self.script.next_turn();
        let most = self.job.slot.task.max_turns.unwrap_or(self.crew.setup.rules.max_turns);
        if turn > most {
            let why = format!(
                "The run stopped after {most} turns (`max_turns`). To continue it, raise the limit and resume."
            );
            return self.fail(why.as_str().into()).await.map(Some);
        }
        match self.reply(turn, &self.script.turns()).await? {
            Ok(bought) => self.take(turn, bought).await,
            Err(ended) => Ok(Some(ended)),
        }
    }

    /// Returns a reply to these turns, or the outcome of the run if there is none.
    pub(super) async fn reply(
        &mut self,
        turn: u32,
        turns: &[Turn],
    ) -> Result<Result<ReceivedReply<Reply>, RunOutcome>, RunError> {
        if let Some(why) = self.crew.purse.refusal() {
            self.crew.stop_all(&why);
            return Err(RunError::Stopped);
        }
        let door = Endpoint::for_model(self.model);
        if let Some(why) = self.crew.doors.refused(&door) {
            return Err(RunError::Barred(why));
        }
        self.tell(RunEventKind::Asking { turn });
        if let Some(recording) = &self.recording {
            return Ok(Ok(ReceivedReply::recorded(recording.reply(turns))));
        }
        let asked = self.buy(turn, turns).await?;
        self.count_lost(&asked.lost);
        match asked.bought {
            Ok(bought) => Ok(Ok(bought)),
            Err(fault) => {
                self.crew.handle_fault(&fault, &door);
                self.fail(provider_request::error(&fault)).await.map(Err)
            }
        }
    }

    fn request(&self, turns: &[Turn]) -> HttpRequest {
        provider::encode(&ModelRequest {
            model: self.model,
            system: &self.system,
            turns,
            tools: &self.kit.offers,
        })
    }

    /// Buys a reply, or takes it from the journal if it was bought before.
    async fn buy(&mut self, turn: u32, turns: &[Turn]) -> Result<RequestResult<Reply>, RunError> {
        let request = self.request(turns);
        let hash = provider::hash(&request);
        self.send(self.model, turn, request, hash).await
    }

    /// Sends a request to a model, unless the journal has its reply under this hash. A pending
    /// write of the transcript happens meanwhile.
    pub(super) async fn send(
        &mut self,
        model: &Model,
        turn: u32,
        request: HttpRequest,
        hash: String,
    ) -> Result<RequestResult<Reply>, RunError> {
        let provider = model.provider;
        let question = ProviderRequest {
            crew: self.crew,
            path: &self.job.slot.path,
            journal: self.desk.journal.clone(),
            sitting: Some(self.sitting),
            from: provider_request::from_line(self.script.facts().journal),
            turn,
            // Several attempts of a search begin with equal requests.
            repeats: self.searches,
            provider,
            model: &model.model_id,
            key: model.key.as_deref(),
            price: model.price,
            hash,
            request,
            packed: |_| None,
        };
        let asked = question.ask(|reply| provider::decode(provider, reply));
        tokio::pin!(asked);
        tokio::select! {
            bought = &mut asked => return bought,
            () = tokio::time::sleep(self.desk.due()) => {}
        }
        // The request in flight is awaited whatever happens to the file: the journal may still
        // store the reply.
        let text = self.text();
        let (written, bought) = tokio::join!(self.desk.write(text), asked);
        written.and(bought)
    }

    /// Adds a reply to the conversation.
    async fn take(
        &mut self,
        turn: u32,
        bought: ReceivedReply<Reply>,
    ) -> Result<Option<RunOutcome>, RunError> {
        let journaled = bought.journaled;
        let (reply, sent) = self.receive(turn, bought);
        match error_of_reply(&reply) {
            None => {
                self.script.push_reply(&reply);
                if !journaled {
                    self.remember(&reply, sent);
                }
                Ok(None)
            }
            Some(error) => self.fail(error).await.map(Some),
        }
    }

    /// Records the usage of a reply. Returns the redacted reply for the file, and its calls as the
    /// model wrote them.
    pub(super) fn receive(
        &mut self,
        turn: u32,
        bought: ReceivedReply<Reply>,
    ) -> (Reply, Vec<Call>) {
        fault::point!("talk.replied");
        let ReceivedReply { reply, sent, ms, journaled, .. } = bought;
        let usage = reply.usage;
        let cost = if self.recording.is_some() {
            Some(0.0)
        } else {
            provider::price::cost(&usage, self.model.price.as_ref())
        };
        if !journaled {
            self.crew.purse.pay(cost, &self.model.name, self.model.price.as_ref());
        }
        self.tell(RunEventKind::Replied { turn, usage, cost, ms, journaled });
        let calls = sent.as_ref().unwrap_or(&reply).calls.clone();
        let reply = clean::reply(&self.crew.redactor, reply);
        self.count(&reply, cost);
        match &reply.stop {
            // The model refused in its own words; these are its answer.
            StopReason::Refused(Some(words)) if reply.calls.is_empty() => {
                let words = words.clone();
                (Reply { text: Some(words), stop: StopReason::Done, ..reply }, calls)
            }
            _ => (reply, calls),
        }
    }

    /// Keeps the original arguments of calls whose arguments are redacted in the file.
    fn remember(&mut self, reply: &Reply, sent: Vec<Call>) {
        let open = self.script.open_calls();
        for (open, (kept, sent)) in open.iter().zip(reply.calls.iter().zip(sent)) {
            if kept.params != sent.params || clean::is_marked(&sent.params) {
                self.sent.insert(open.index, sent.params);
            }
        }
    }

    /// Returns the original arguments of a call; `None` if they held a secret and only the redacted
    /// ones are left.
    fn params(&self, open: &OpenCall) -> Option<Value> {
        let sent = self.sent.get(&open.index).cloned();
        sent.or_else(|| (!clean::is_marked(&open.call.params)).then(|| open.call.params.clone()))
    }

    /// Adds the usage of a reply to the facts of the run.
    fn count(&mut self, reply: &Reply, cost: Option<f64>) {
        self.script.spend(&reply.usage, cost);
        let mut facts = self.script.facts();
        facts.model_id = reply.model_id.clone().or(facts.model_id);
        facts.turns = Some(facts.turns.unwrap_or(0) + 1);
        self.script.set_facts(&facts);
    }

    /// Adds the usage of attempts that brought no reply.
    fn count_lost(&mut self, lost: &[FailedAttempt]) {
        for FailedAttempt { usage, cost } in lost {
            self.script.spend(usage, *cost);
        }
    }

    /// Executes all open calls concurrently.
    async fn call_tools(&mut self) -> Result<(), RunError> {
        let mut calls = JoinSet::new();
        let open = self.script.open_calls();
        let before: Vec<_> =
            open.iter().map(|open| self.ran_before(open.turn, &open.call)).collect();
        let was_told = self.received_outcomes(&open, &before);
        for (open, before) in open.into_iter().zip(before) {
            if let Some((outcome, ms)) = before.filter(|(outcome, _)| was_told || !outcome.failed())
            {
                self.script.close_call(
                    open.index,
                    &outcome,
                    Some(Duration::from_millis(ms).as_secs_f64()),
                );
                continue;
            }
            self.tell(RunEventKind::Calling { tool: open.call.name.clone() });
            let Some(params) = self.params(&open) else {
                self.close(&open, Err(ToolFailure::new(FORGOTTEN)), Duration::ZERO)?;
                continue;
            };
            let (crew, kit) = (Arc::clone(self.crew), Arc::clone(&self.kit));
            calls.spawn(async move {
                let begun = Instant::now();
                let outcome =
                    crew.toolbox.call(&kit, &open.call.name, &params, &crew.stops.hard).await;
                (open, outcome, begun.elapsed())
            });
        }
        let mut unsaved = true;
        loop {
            let due = tokio::time::sleep(self.desk.due());
            tokio::select! {
                done = calls.join_next() => match done {
                    None => return Ok(()),
                    Some(Ok((open, outcome, took))) => {
                        self.close(&open, outcome, took)?;
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

    /// Returns the journaled outcome of a call, in case an interrupted run did not write it to the
    /// file.
    pub(super) fn ran_before(&self, turn: u32, call: &Call) -> Option<(Outcome, u64)> {
        self.desk.journal.find_outcome(
            turn,
            call,
            provider_request::from_line(self.script.facts().journal),
        )
    }

    /// Returns true if the model received exactly these outcomes, including failures, and its reply
    /// is in the journal: that reply was paid for. Otherwise failed calls are executed again,
    /// because the cause may be fixed by now.
    fn received_outcomes(&self, open: &[OpenCall], before: &[Option<(Outcome, u64)>]) -> bool {
        if !has_complete_failures(before) {
            return false;
        }
        let mut told = self.script.clone();
        for (open, (outcome, _)) in open.iter().zip(before.iter().flatten()) {
            told.close_call(open.index, outcome, None);
        }
        self.was_answered(told.next_turn(), &told.turns())
    }

    /// Returns true if the journal holds a reply to these turns.
    pub(super) fn was_answered(&self, turn: u32, turns: &[Turn]) -> bool {
        let from = provider_request::from_line(self.script.facts().journal);
        let hash = || provider::hash(&self.request(turns));
        self.recording.is_none()
            && self.desk.journal.find(&hash(), from, self.searches.then_some(turn)).is_some()
    }

    fn close(&mut self, open: &OpenCall, called: Called, took: Duration) -> Result<(), RunError> {
        let (outcome, ms) = self.keep(open.turn, &open.call, called, took)?;
        // With the values of the journal, which a resumed run also uses.
        self.script.close_call(open.index, &outcome, Some(Duration::from_millis(ms).as_secs_f64()));
        Ok(())
    }

    /// Journals the outcome of a call, redacted.
    pub(super) fn keep(
        &mut self,
        turn: u32,
        call: &Call,
        called: Called,
        took: Duration,
    ) -> Result<(Outcome, u64), RunError> {
        // A cancelled call has not failed: it is executed again on resume.
        let given_up = |called: &Called| match called {
            Err(_) => true,
            Ok(value) => value.get("outcome").and_then(Value::text) == Some("killed"),
        };
        if self.crew.stops.hard.is_cancelled() && given_up(&called) {
            return Err(RunError::Stopped);
        }
        let outcome = match called {
            Ok(value) => Outcome::Result(clean::value(&self.crew.redactor, value)),
            Err(failure) => Outcome::Error(Value::Text(
                self.crew.redactor.redact_known(&failure.message).into_owned(),
            )),
        };
        let ms = u64::try_from(took.as_millis()).unwrap_or(u64::MAX);
        fault::point!("talk.called");
        let ran = Ran::new(turn, call, &outcome, ms, clock::now_ms());
        let ran = Ran { spent_ms: self.sitting.ms(), ..ran };
        self.desk.note(ran);
        self.tell(RunEventKind::Called { tool: call.name.clone(), failed: outcome.failed(), ms });
        Ok((outcome, ms))
    }

    /// Returns the nudge that is due because the model stopped early.
    fn due_nudge(&self) -> Option<String> {
        let task = &self.job.slot.task;
        let rules = &self.crew.setup.rules;
        // The expected calls of a query are its solution, so naming them has to be enabled
        // explicitly.
        // Before a simulated user has said everything, an expected call may not be due yet.
        let usual =
            rules.nudge_auto && self.user.is_none() && (!self.is_query || rules.nudge_asked);
        let (auto, most) =
            task.nudge.map_or((usual, rules.nudge_max), |nudge| (nudge.auto, nudge.max));
        let done = self.script.facts().nudges.unwrap_or(0);
        if !auto || done >= u64::from(most) {
            return None;
        }
        nudge::message(&task.expected_tool_calls, &self.script.called())
    }

    fn nudge(&mut self) {
        let Some(message) = self.due_nudge() else { return };
        let mut facts = self.script.facts();
        let count = facts.nudges.unwrap_or(0) + 1;
        facts.nudges = Some(count);
        self.script.nudge(&message);
        self.script.set_facts(&facts);
        self.tell(RunEventKind::Nudged { count: u32::try_from(count).unwrap_or(u32::MAX) });
    }

    /// Ends the conversation and extracts the answer.
    async fn finish(&mut self) -> Result<RunOutcome, RunError> {
        fault::point!("talk.over");
        let in_words = self.is_query.then_some(answer::WHOLE_MESSAGE);
        self.script.finish(self.job.slot.task.result_tag_name.as_deref().or(in_words));
        self.end().await
    }

    /// Marks the run as finished and writes the file.
    pub(super) async fn end(&mut self) -> Result<RunOutcome, RunError> {
        self.closed();
        self.save().await?;
        Ok((if self.script.has_answer() { Ending::Answered } else { Ending::NoAnswer }, None))
    }

    /// Records that the run is over and that the file contains everything in the journal. If a user
    /// later removes a part of the file, that part is requested or executed anew.
    fn closed(&mut self) {
        let mut facts = self.script.facts();
        facts.finished = Some(clock::format_utc(clock::now_ms()));
        facts.journal = Some(self.desk.journal.lines() as u64);
        self.script.set_facts(&facts);
    }

    /// Ends the run with an error. Replies bought before it are not used again on resume.
    pub(super) async fn fail(&mut self, error: Value) -> Result<RunOutcome, RunError> {
        self.closed();
        let error = clean::error(&self.crew.redactor, error);
        let why = error.text().or_else(|| error.get("message")?.text()).map(str::to_owned);
        self.script.fail(&error);
        self.save().await?;
        Ok((Ending::Error, why))
    }

    pub(super) async fn save(&mut self) -> Result<(), RunError> {
        let text = self.text();
        self.desk.write(text).await
    }

    /// Like `save`, for a run that has to stop.
    pub(super) async fn leave(&mut self) {
        let text = self.text();
        self.desk.write_final(text).await;
    }

    /// Returns the text of the file, with the active time to date.
    fn text(&mut self) -> String {
        self.script.set_facts(&Facts { seconds: self.sitting.seconds(), ..Facts::default() });
        self.script.write()
    }

    pub(super) fn tell(&self, what: RunEventKind) {
        self.crew.teller.send(Some(&self.job.slot.path), what);
    }
}

/// Returns the system prompt of a run.
pub(super) async fn instructions(talk: &Conversation<'_>) -> Result<String, RunError> {
    let crew = talk.crew;
    let schemas = crew.toolbox.schemas(talk.job.slot.task.tools.as_deref()).await;
    let schemas = schemas.map_err(|why| {
        RunError::Broken(format!("The schema of a database could not be read: {why}"))
    })?;
    let started = talk.script.facts().started.unwrap_or_default();
    let many = talk.kit.apis.as_ref().and_then(|apis| apis.many);
    Ok(prompt::system(crew.setup.system_prompt.as_deref(), &schemas, &started, talk.searches, many))
}
