//! Runs of the system `promptql`: one question, and "go ahead" if the reply only proposes a plan.
//! Owns the order; the bodies are in the codec, the file in `reply`.
use super::active_timer::ActiveTimer;
use super::endpoints::Endpoint;
use super::provider_request::{self, ProviderRequest, ReceivedReply, RequestResult};
use super::run_files::RunFiles;
use super::{Job, LaunchContext, RunError, RunOutcome, clean};
use crate::event::{Ending, RunEventKind};
use crate::provider::promptql::{self as codec, Interaction, PromptQl};
use crate::provider::replay::Recording;
use crate::provider::{Fault, Usage, hash};
use crate::reply::ReplyFile;
use crate::spec::{Model, Provider};
use touchstone_clock as clock;
use touchstone_model::json;
use touchstone_model::value::Value;

/// Reply to a plan that waits for confirmation.
const GO_AHEAD: &str = "Go ahead with this plan.";

/// State of one `promptql` run.
pub(super) struct PromptQlRun<'a> {
    pub(super) crew: &'a LaunchContext,
    pub(super) job: &'a Job,
    pub(super) model: &'a Model,
    pub(super) recording: Option<Recording>,
    pub(super) desk: RunFiles,
    pub(super) sitting: ActiveTimer,
    pub(super) file: ReplyFile,
}

impl PromptQlRun<'_> {
    /// Sends requests until the reply is more than a plan, and writes the file.
    pub(super) async fn run_to_end(mut self) -> Result<RunOutcome, RunError> {
        if let Some(recording) = &self.recording {
            let (output, error) = (recording.output().cloned(), recording.error().cloned());
            return self.end(output, error).await;
        }
        let spec = settings(self.crew)?;
        let door = Endpoint::for_promptql(&spec);
        let mut earlier: Vec<Interaction> = Vec::new();
        let mut prompt = self.job.slot.prompt();
        loop {
            if self.crew.stops.soft.is_cancelled() {
                return Err(RunError::Stopped);
            }
            if let Some(why) = self.crew.purse.refusal() {
                self.crew.stop_all(&why);
                return Err(RunError::Stopped);
            }
            if let Some(why) = self.crew.doors.refused(&door) {
                return Err(RunError::Barred(why));
            }
            let turn = u32::try_from(earlier.len()).unwrap_or(u32::MAX).saturating_add(1);
            self.tell(RunEventKind::Asking { turn });
            let RequestResult { bought, body, .. } =
                self.buy(&spec, turn, &prompt, &earlier).await?;
            let bought = match bought {
                Ok(bought) => bought,
                Err(fault) => {
                    self.crew.handle_fault(&fault, &door);
                    return self
                        .end(combine_interactions(earlier, None), Some(error(&fault, body)))
                        .await;
                }
            };
            let ReceivedReply { reply: output, ms, journaled, spent_ms, .. } = bought;
            self.sitting.reach(spent_ms);
            // The API does not report usage.
            self.tell(RunEventKind::Replied {
                turn,
                usage: Usage::default(),
                cost: None,
                ms,
                journaled,
            });
            if turn <= spec.confirm_plans && codec::is_plan_only(&output) {
                earlier.push(Interaction {
                    prompt: std::mem::replace(&mut prompt, GO_AHEAD.to_owned()),
                    output,
                });
                continue;
            }
            return self
                .end(combine_interactions(earlier, Some(Interaction { prompt, output })), None)
                .await;
        }
    }

    async fn buy(
        &self,
        spec: &PromptQl,
        turn: u32,
        prompt: &str,
        earlier: &[Interaction],
    ) -> Result<RequestResult<Value>, RunError> {
        let artifacts: Vec<Value> = earlier.iter().flat_map(|one| made(&one.output)).collect();
        let question =
            codec::Question { spec, model: self.model, prompt, artifacts: &artifacts, earlier };
        let look = |name: &str| self.crew.secrets.get(name);
        let request = codec::encode(&question, &look);
        ProviderRequest {
            crew: self.crew,
            path: &self.job.slot.path,
            journal: self.desk.journal.clone(),
            sitting: Some(self.sitting),
            // A run with an error starts from scratch, with a new journal.
            from: 0,
            turn,
            repeats: false,
            provider: Provider::OpenAi,
            model: "promptql",
            key: Some(&spec.key),
            price: None,
            // Computed without the secrets that headers may hold.
            hash: hash(&codec::encode(&question, &|_| None)),
            request,
            packed: |_| None,
        }
        .ask(codec::decode)
        .await
    }

    async fn end(
        &mut self,
        output: Option<Value>,
        error: Option<Value>,
    ) -> Result<RunOutcome, RunError> {
        let redactor = &self.crew.redactor;
        let output = output.map(|output| clean::value(redactor, output));
        let error = error.map(|error| clean::error(redactor, error));
        let mut facts = self.file.facts();
        facts.finished = Some(clock::format_utc(clock::now_ms()));
        facts.seconds = self.sitting.seconds();
        let ended = match (&error, &output) {
            (Some(error), output) => {
                self.file.failed(error, output.as_ref());
                let why = error.text().or_else(|| error.get("message")?.text()).map(str::to_owned);
                (Ending::Error, why)
            }
            (None, output) => {
                let nothing = Value::Null;
                self.file.answered(
                    output.as_ref().unwrap_or(&nothing),
                    self.job.slot.task.artifact.as_deref(),
                );
                (if self.file.has_answer() { Ending::Answered } else { Ending::NoAnswer }, None)
            }
        };
        self.file.set_facts(&facts);
        self.desk.write(self.file.write()).await?;
        // From here on the file holds everything; if a user removes it, PromptQL is asked anew.
        self.desk.invalidate_journal().await;
        Ok(ended)
    }

    fn tell(&self, what: RunEventKind) {
        self.crew.teller.send(Some(&self.job.slot.path), what);
    }
}

/// Reads the settings of the system.
pub(super) fn settings(crew: &LaunchContext) -> Result<PromptQl, RunError> {
    codec::read(crew.setup.promptql.as_ref().unwrap_or(&Value::Null)).map_err(RunError::Broken)
}

/// Formats a fault for the file, with the response body if there was one.
fn error(fault: &Fault, body: Option<Vec<u8>>) -> Value {
    let mut error = provider_request::error(fault);
    if let (Value::Map(entries), Some(body)) = (&mut error, body.filter(|body| !body.is_empty())) {
        let text = String::from_utf8_lossy(&body).into_owned();
        entries.push(("body".into(), json::read(&text).unwrap_or(Value::Text(text))));
    }
    error
}

/// Returns the artifacts of a reply, to be sent with the next question.
fn made(output: &Value) -> Vec<Value> {
    output.get("modified_artifacts").map(Value::items).unwrap_or_default().to_vec()
}

/// Returns the content of the file: a single reply unchanged; of several, every interaction with
/// its message.
fn combine_interactions(earlier: Vec<Interaction>, last: Option<Interaction>) -> Option<Value> {
    let mut all = earlier;
    all.extend(last);
    if all.len() <= 1 {
        return all.pop().map(|one| one.output);
    }
    let interactions = all.into_iter().map(|Interaction { prompt, output }| {
        let message = Value::Map(vec![("text".into(), Value::Text(prompt))]);
        let said = [("user_message".into(), message)];
        Value::Map(said.into_iter().chain(output.entries().iter().cloned()).collect())
    });
    Some(Value::Map(vec![("interactions".into(), Value::List(interactions.collect()))]))
}
