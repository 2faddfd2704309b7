//! Model that plays the user of a run, chosen when the run starts.
use super::{Job, LaunchContext, RunError};
use crate::script::TranscriptWriter;
use crate::spec::{Model, Provider};
use crate::user;
use std::sync::Arc;
use touchstone_formats::suite::AttackTalk;

/// User that a model plays in a run.
#[derive(Debug)]
pub(super) struct RunUser {
    pub(super) model: Model,
    pub(super) instructions: String,
    /// Maximum number of messages that it sends.
    pub(super) max_turns: usize,
    /// How it attacks; none for a user that only wants something.
    pub(super) attack: Option<AttackTalk>,
}

impl RunUser {
    /// Returns the user of a run, and records its model in the transcript. A resumed run keeps the
    /// model that it was started with. `None` if the task has no simulated user.
    pub(super) fn for_run(
        crew: &LaunchContext,
        job: &Job,
        script: &mut TranscriptWriter,
    ) -> Result<Option<Arc<Self>>, RunError> {
        let task = &job.slot.task;
        let Some(user) = job.slot.user() else { return Ok(None) };
        let mut facts = script.user();
        let name = crew.setup.user_model_for(Some(user), facts.model.as_deref());
        let name = name.ok_or_else(|| RunError::Broken(NO_MODEL.to_owned()))?;
        let model = crew.setup.model(name).ok_or_else(|| {
            RunError::Broken(format!("There is no model named `{name}`, which plays the user."))
        })?;
        if model.provider == Provider::Replay {
            return Err(RunError::Broken(format!(
                "`{name}` repeats recordings and cannot play a user. Choose another model."
            )));
        }
        facts.model = Some(model.name.clone());
        facts.attack = user.attack.map(|talk| talk.as_str().to_owned());
        facts.model_id.get_or_insert_with(|| model.model_id.clone());
        facts.brief.get_or_insert_with(|| user::brief(task, job.slot.at.variation));
        script.set_user(&facts);
        Ok(Some(Arc::new(Self {
            model: model.clone(),
            instructions: user::instructions(task, job.slot.at.variation),
            max_turns: usize::try_from(user.max_turns).unwrap_or(usize::MAX),
            attack: user.attack,
        })))
    }
}

/// Reason a run with a simulated user cannot start.
const NO_MODEL: &str = "No model plays the user of this task. Name one with `model` under `user`, with `user_model` in touchstone.yaml, or with --user-model.";
