//! The models, keys and programs that an evaluation needs.
use super::bad;
use crate::error::{AppError, Code};
use crate::evaluating::EvaluationActions;
use crate::evaluating::evaluations::Models;
use crate::evaluating::job::evaluation_spec::EvaluationSpec;
use crate::jobs::spend_limit::{Budget, Prices};
use crate::judging::judge_plan::cannot_judge;
use crate::settings::keys::no_model;
use touchstone_api::EvaluateRequest;
use touchstone_formats::workspace::Workspace;
use touchstone_runner::http::redact::Redactor;
use touchstone_runner::setup::{Rules, Setup};
use touchstone_runner::spec::Model;
use touchstone_runner::tools::python::{PythonLimits, PythonTool};

impl EvaluationActions<'_> {
    /// Resolves the models, and the setup for their requests; without models if none are needed.
    /// Fails if one is not configured or the requested spend limit has no effect.
    pub(super) fn models(
        self,
        wish: &EvaluationSpec,
        request: &EvaluateRequest,
    ) -> Result<ModelSetup, AppError> {
        let setup = if self.app.current_folder().is_some() {
            Some(self.app.settings().setup()?)
        } else {
            None
        };
        let budget = Budget::resolve(
            request.max_cost,
            &setup.as_ref().map_or_else(Rules::default, |setup| setup.rules),
        )?;
        let setup = setup.map(|setup| Setup {
            rules: Rules { max_cost: budget.most(), ..setup.rules },
            ..setup
        });
        if !wish.is_paid() {
            return Ok(ModelSetup { models: Models::default(), setup, unbound: None });
        }
        let Some(setup) = setup else {
            let named = if wish.needs_model() {
                "--judge-model MODEL, and --folder FOLDER unless it is the current folder"
            } else {
                "--folder FOLDER"
            };
            return Err(AppError::new(
                Code::NoFolder,
                "No folder is open, so no model is available.",
            )
            .hint(format!("On the command line: {named}")));
        };
        let judge = wish.needs_model().then(|| judge(&setup, wish, request)).transpose()?;
        let embedder = wish.embeds().then(|| embedder(&setup)).transpose()?;
        let prices = Prices::for_models(judge.iter().chain(&embedder));
        budget.check(&prices)?;
        Ok(ModelSetup {
            models: Models { judge, embedder },
            setup: Some(setup),
            unbound: budget.ineffective_note(&prices),
        })
    }

    /// Fails if the key of a model is missing.
    pub(super) fn keyed(self, models: &Models) -> Result<(), AppError> {
        let mut keys =
            models.judge.iter().chain(&models.embedder).filter_map(|model| model.key.as_deref());
        keys.find_map(|key| self.app.settings().no_key(key)).map_or(Ok(()), |why| Err(bad(why)))
    }

    /// Returns a redactor for target output, because the target runs with the environment of the
    /// user.
    pub(super) fn redactor_for(self, target: &[String], setup: Option<&Setup>) -> Redactor {
        if target.is_empty() {
            return Redactor::new([]);
        }
        // Without a folder, the default key names are redacted.
        let usual = Setup::from_workspace(&Workspace::default());
        self.app.settings().known_secrets(setup.unwrap_or(&usual)).redactor()
    }

    /// Opens the sandbox for programs.
    pub(super) async fn sandbox(self) -> Result<PythonTool, AppError> {
        let opened =
            PythonTool::open(&self.app.inner.config.cache_dir, PythonLimits::default()).await;
        opened.map_err(|why| {
            let message = format!(
                "A `python` evaluator is a program, and programs only run in a sandbox. {}",
                why.message
            );
            AppError { hint: why.fix, ..AppError::new(Code::Failed, message) }
        })
    }
}

/// Models to call, with their setup.
pub(super) struct ModelSetup {
    pub(super) models: Models,
    pub(super) setup: Option<Setup>,
    /// Message that the spend limit of the workspace file has no effect.
    pub(super) unbound: Option<String>,
}

/// Returns the judge model.
fn judge(
    setup: &Setup,
    wish: &EvaluationSpec,
    request: &EvaluateRequest,
) -> Result<Model, AppError> {
    if request.model.is_empty() {
        let names: Vec<&str> = wish
            .evaluators
            .iter()
            .filter(|one| one.evaluator.takes.model)
            .map(|one| one.evaluator.name.as_str())
            .collect();
        let verb = if names.len() == 1 { "asks" } else { "ask" };
        return Err(bad(format!("{} {verb} a model, and none is chosen.", names.join(", ")))
            .hint("Choose one of touchstone.yaml: --judge-model MODEL"));
    }
    let model = setup.model(&request.model).ok_or_else(|| no_model(setup, &request.model))?.clone();
    if let Some(why) = cannot_judge(&model) {
        return Err(bad(why).hint("Choose a model that can be asked."));
    }
    Ok(model)
}

/// Returns the embedding model. There must be exactly one: results would not show which one was
/// used.
fn embedder(setup: &Setup) -> Result<Model, AppError> {
    match setup.embedders.as_slice() {
        [model] => Ok(model.clone()),
        [] => Err(bad("`cosine` needs an embeddings model, and touchstone.yaml has none.".to_owned())
            .hint("Add one to its models: embed: { provider: openai, model: \
                text-embedding-3-small, embeddings: true }, with base_url for a server of your own.")),
        many => {
            let names: Vec<&str> = many.iter().map(|model| model.name.as_str()).collect();
            Err(bad(format!("Several models give embeddings, and `cosine` depends on the model: {}.", names.join(", ")))
                .hint("Set `embeddings: true` for only one of them."))
        }
    }
}
