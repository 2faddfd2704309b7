//! Keys of providers: which are needed, where they come from, and whether they work. Keys are
//! accepted and never returned.
use super::SettingsActions;
use crate::error::{AppError, Code};
use std::collections::{BTreeMap, HashMap};
use tokio_util::sync::CancellationToken;
use touchstone_api::{Blocker, Check, KeySource, KeyState, Stale};
use touchstone_runner::conversation::Turn;
use touchstone_runner::http::keys::{ApiKey, KeyError, Source};
use touchstone_runner::http::redact::Redactor;
use touchstone_runner::provider::{self, ModelRequest};
use touchstone_runner::secrets::{self, Secrets};
use touchstone_runner::setup::Setup;
use touchstone_runner::spec::{Model, Provider};
use zeroize::Zeroizing;

impl SettingsActions<'_> {
    /// Returns the keys that the models and tools of the open folder need, with their sources.
    pub fn keys(self) -> Result<Vec<KeyState>, AppError> {
        let setup = self.setup_to_look().unwrap_or_else(|_| {
            Setup::from_workspace(&touchstone_formats::workspace::Workspace::default())
        });
        let mut wanted: BTreeMap<String, Vec<String>> = BTreeMap::new();
        for model in setup.models.iter().chain(&setup.embedders) {
            if let Some(key) = &model.key {
                wanted.entry(key.clone()).or_default().push(model.name.clone());
            }
        }
        if let Some(key) = setup.promptql_key() {
            wanted.entry(key).or_default().push("promptql".to_owned());
        }
        for tool in &setup.tools {
            if let Some(key) = tool.key() {
                wanted.entry(key).or_default().push(tool.name.clone());
            }
        }
        let can_store = self.app.inner.keys.can_store().is_ok();
        let state = |(name, used_by): (String, Vec<String>)| {
            let (source, wrong) = match self.app.inner.keys.source(&name) {
                Ok(Some(Source::Environment)) => (KeySource::Environment, None),
                Ok(Some(Source::Keyring)) => (KeySource::Keyring, None),
                Ok(None) => (KeySource::None, None),
                Err(why) => (KeySource::None, Some(why.to_string())),
            };
            KeyState { name, used_by, source, can_store, wrong }
        };
        Ok(wanted.into_iter().map(state).collect())
    }

    /// Stores a key in the keyring of the system.
    pub fn set_key(self, name: &str, key: String) -> Result<(), AppError> {
        let key = Zeroizing::new(key);
        self.known_key(name)?;
        let key = ApiKey::new(key.trim()).map_err(failed)?;
        self.app.inner.keys.set(name, &key).map_err(failed)?;
        self.app.inner.bulletin.post(Stale::Launches);
        Ok(())
    }

    /// Removes a key from the keyring.
    pub fn forget_key(self, name: &str) -> Result<(), AppError> {
        self.known_key(name)?;
        self.app.inner.keys.forget(name).map_err(failed)?;
        self.app.inner.bulletin.post(Stale::Launches);
        Ok(())
    }

    /// Tests a model and its key with a request for one word.
    pub fn test_model(self, name: &str) -> Result<Check, AppError> {
        let setup = self.setup()?;
        let model = setup.model(name).ok_or_else(|| no_model(&setup, name))?;
        let check = |ok: bool, detail: String, fix: Option<&str>| Check {
            name: name.to_owned(),
            ok,
            detail,
            fix: fix.map(str::to_owned),
        };
        if model.provider == Provider::Replay {
            return Ok(check(true, provider::replay::SAYS.to_owned(), None));
        }
        Ok(match self.app.inner.launches.runtime()?.block_on(self.word_of(&setup, model)) {
            Ok(detail) => check(true, detail, None),
            Err(why) => check(
                false,
                why,
                Some("Check the key, the address and the model's id in touchstone.yaml."),
            ),
        })
    }

    async fn word_of(self, setup: &Setup, model: &Model) -> Result<String, String> {
        let turns = [Turn::User("Answer with the one word: ready".to_owned())];
        let request = provider::encode(&ModelRequest {
            model,
            system: "Answer in one word.",
            turns: &turns,
            tools: &[],
        });
        let key = model
            .key
            .as_deref()
            .map(|name| self.app.inner.keys.get(name))
            .transpose()
            .map_err(|why| why.to_string())?;
        let key = key.flatten();
        if let (Some(name), None) = (&model.key, &key) {
            return Err(self.app.inner.keys.missing(name));
        }
        let client = self.app.inner.launches.client();
        // A test without a reply within 30 seconds has failed.
        let request = provider::HttpRequest { patience: 30, ..request };
        // All known keys are redacted, not only this one: the responding server may not be a
        // provider at all.
        let redactor = self.known_secrets(setup).redactor();
        let clean = |why: String| redactor.clean(&why).into_owned();
        let sent = client.send(&request, key.as_ref(), &CancellationToken::new()).await;
        let reply = sent.map_err(|why| clean(why.to_string()))?;
        let reply =
            provider::decode(model.provider, &reply).map_err(|fault| clean(fault.message))?;
        let said = reply.text.unwrap_or_default();
        let said: String = clean(said).chars().take(60).collect();
        let id = reply.model_id.unwrap_or_else(|| model.model_id.clone());
        Ok(format!("{} answers: {}", clean(id), said.trim()))
    }

    /// Looks up all keys and secrets of a workspace. Queries the keyring, which may block.
    pub(crate) fn known_secrets(self, setup: &Setup) -> KnownSecrets {
        let mut keys = HashMap::new();
        let mut wrong = HashMap::new();
        for name in setup.keys() {
            match self.app.inner.keys.get(&name) {
                Ok(None) => {}
                Ok(Some(key)) => drop(keys.insert(name, key)),
                Err(why) => drop(wrong.insert(name, why.to_string())),
            }
        }
        let look = |name: &str| self.app.inner.keys.secret(name).map_err(|why| why.to_string());
        let mut secrets = Secrets::look_up(setup.places(), look);
        secrets.add_wrong(wrong);
        let hidden = secrets::secret_values(setup, &|name| secrets.get(name));
        KnownSecrets { keys, secrets, hidden }
    }

    /// Like [`Self::no_key`], with the fix as a separate field.
    pub(crate) fn key_trouble(self, name: &str) -> Option<Blocker> {
        let (message, fix) = match self.app.inner.keys.get(name) {
            Ok(Some(_)) => return None,
            Ok(None) => (format!("{name} is not set"), self.app.inner.keys.how_to_set(name)),
            Err(why) => (format!("{name} cannot be used"), why.to_string()),
        };
        Some(Blocker { message, fix: Some(fix) })
    }

    /// Returns the reason why a key cannot be used; `None` if it can.
    pub(crate) fn no_key(self, name: &str) -> Option<String> {
        match self.app.inner.keys.get(name) {
            Ok(Some(_)) => None,
            Ok(None) => Some(self.app.inner.keys.missing(name)),
            Err(why) => Some(format!("The key {name} cannot be used. {why}")),
        }
    }

    /// Fails for a key that nothing needs, so that a page cannot fill the keyring.
    fn known_key(self, name: &str) -> Result<(), AppError> {
        if self.keys()?.iter().any(|key| key.name == name) {
            return Ok(());
        }
        Err(AppError::new(
            Code::NotFound,
            format!("Nothing in this folder uses a key named {name}."),
        ))
    }
}

/// Keys and secrets of a workspace.
pub(crate) struct KnownSecrets {
    /// Keys sent in a header, by name.
    pub(crate) keys: HashMap<String, ApiKey>,
    /// All other values.
    pub(crate) secrets: Secrets,
    hidden: Vec<Zeroizing<String>>,
}

impl KnownSecrets {
    /// Returns a redactor for all secrets.
    pub(crate) fn redactor(&self) -> Redactor {
        self.redactor_with([])
    }

    /// Returns a redactor for all secrets and further keys.
    pub(crate) fn redactor_with<'a>(
        &'a self,
        more: impl IntoIterator<Item = &'a ApiKey>,
    ) -> Redactor {
        let keys = self.keys.values().chain(more).map(ApiKey::reveal);
        Redactor::new(keys.chain(self.hidden.iter().map(|secret| secret.as_str())))
    }
}

pub(crate) fn no_model(setup: &Setup, name: &str) -> AppError {
    let names: Vec<&str> = setup.models.iter().map(|model| model.name.as_str()).collect();
    let error = AppError::new(Code::BadRequest, format!("There is no model named `{name}`."));
    error.hint(format!(
        "There are: {}. Others are added under `models:` in touchstone.yaml.",
        names.join(", ")
    ))
}

#[expect(clippy::needless_pass_by_value, reason = "the last thing that is done with it")]
fn failed(why: KeyError) -> AppError {
    AppError::new(Code::Failed, why.to_string())
}
