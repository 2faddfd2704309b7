//! A server of virtual APIs: opened with the settings of the workspace file and the user, answering
//! one request after the other. Owns neither socket nor cache.
use super::SuiteActions;
use crate::error::{AppError, Code};
use crate::paths;
use crate::scoring::answers::read_queries;
use crate::settings::setup::setup_fault;
use std::collections::HashMap;
use std::path::{Path, PathBuf};
use std::sync::Arc;
use tokio_util::sync::CancellationToken;
use touchstone_api::Blocker;
use touchstone_formats::stabletoolbench::check::Rules;
use touchstone_formats::stabletoolbench::{Pool, request};
use touchstone_formats::system::ToolKind;
use touchstone_formats::workspace::Workspace;
use touchstone_model::value::Value;
use touchstone_runner::setup::{Setup, ToolEntry};
use touchstone_runner::tools::virtual_api::{
    ApiEnvironment, Order, Origin, Save, VirtualApis, VirtualSettings,
};
use touchstone_runner::tools::{Unusable, tool_folder};

/// Settings of the user; unset ones come from the workspace file.
#[derive(Debug, Clone, Default)]
pub struct VirtualApiOptions {
    /// Folder of the workspace file.
    pub folder: PathBuf,
    /// Folder of the reply cache.
    pub cache: Option<PathBuf>,
    /// Disables the cache.
    pub no_cache: bool,
    /// Folder of the tool definitions.
    pub tools: Option<PathBuf>,
    /// Name of the simulator model.
    pub simulator: Option<String>,
    /// Address of the real APIs.
    pub real: Option<String>,
    /// Order of the sources: `mirror`, `real`, or a server of the original.
    pub order: Option<String>,
    /// Stores failures, too.
    pub save_all: bool,
    /// Uses the strict check of real API replies, which has no false alarms.
    pub strict: bool,
    /// Log file for every call.
    pub log: Option<PathBuf>,
}

/// Endpoint that answers requests.
pub struct VirtualEndpoint {
    apis: VirtualApis,
    told: Vec<String>,
    may_cost: bool,
}

/// An HTTP response.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Answer {
    /// Status.
    pub status: u16,
    /// JSON; plain text if the status is 500.
    pub body: Vec<u8>,
    /// Source of the reply as one word; `None` for a refused request.
    pub from: Option<&'static str>,
    /// Notes for the user.
    pub notes: Vec<String>,
}

impl SuiteActions<'_> {
    /// Opens virtual APIs. Sends nothing yet. May block on the keyring.
    pub fn open_virtual(self, wish: &VirtualApiOptions) -> Result<VirtualEndpoint, AppError> {
        let workspace = match paths::workspace(&wish.folder) {
            None => Workspace::default(),
            Some(Ok(workspace)) => workspace,
            Some(Err(why)) => {
                return Err(AppError::new(
                    Code::BadRequest,
                    format!("touchstone.yaml cannot be read: {why}"),
                ));
            }
        };
        let setup = Setup::from_workspace(&workspace);
        if let Some(Blocker { message, fix }) = setup_fault(&setup) {
            return Err(AppError { hint: fix, ..AppError::new(Code::BadRequest, message) });
        }
        let settings = settings(wish, &setup).map_err(refused)?;
        let (pool, notes) = match &settings.tools_folder {
            Some(dir) => {
                tool_folder::read(dir).map(|loaded| (loaded.pool, loaded.notes)).map_err(refused)?
            }
            None => (of_queries(&wish.folder), Vec::new()),
        };
        let keys = self.virtual_keys(&settings, &setup)?;
        let wires = ApiEnvironment {
            client: self.app.inner.launches.client().clone(),
            limiters: self.app.inner.launches.limiters(),
            redactor: self.app.settings().known_secrets(&setup).redactor_with(keys.values()),
            keys: Arc::new(move |name| keys.get(name).cloned()),
            payer: None,
        };
        let may_cost = settings.simulator.is_some() || settings.url.is_some();
        let mut told = describe_settings(&settings, &pool);
        told.extend(notes);
        let apis = VirtualApis::open(settings, &setup, Arc::new(pool), wires).map_err(refused)?;
        Ok(VirtualEndpoint { apis, told, may_cost })
    }

    /// Looks up the required keys once.
    fn virtual_keys(
        self,
        settings: &VirtualSettings,
        setup: &Setup,
    ) -> Result<HashMap<String, touchstone_runner::http::keys::ApiKey>, AppError> {
        let failed = |why: String| AppError::new(Code::Failed, why);
        let mut keys = HashMap::new();
        let of_model =
            settings.simulator.as_deref().and_then(|name| setup.model(name)?.key.as_deref());
        for name in of_model.into_iter().chain(settings.key_name()) {
            match self.app.inner.keys.get(name).map_err(|why| failed(why.to_string()))? {
                Some(key) => drop(keys.insert(name.to_owned(), key)),
                None if Some(name) == of_model => {
                    return Err(failed(self.app.inner.keys.missing(name)));
                }
                // Callers may send their own.
                None => {}
            }
        }
        Ok(keys)
    }
}

impl VirtualEndpoint {
    /// Returns the active settings, a sentence each.
    pub fn settings_summary(&self) -> &[String] {
        &self.told
    }

    /// Returns true if a reply may cost money: a model simulates, or real APIs are called with a
    /// key.
    pub fn may_cost(&self) -> bool {
        self.may_cost
    }

    /// Waits until pending replies are stored, because they are paid for.
    pub async fn land(&self) {
        self.apis.wait_idle().await;
    }

    /// Answers the body of a request.
    pub async fn answer(&self, body: &[u8]) -> Answer {
        let asked = match request::read(body) {
            Ok(asked) => asked,
            Err(wrong) => {
                return Answer {
                    status: 422,
                    body: wrong.into_bytes(),
                    from: None,
                    notes: Vec::new(),
                };
            }
        };
        let Some(reply) = self.apis.answer(asked, &CancellationToken::new()).await else {
            return Answer { status: 503, body: b"{}".to_vec(), from: None, notes: Vec::new() };
        };
        let from = match reply.from {
            Origin::Hit(form) => form.word(),
            other => other.word(),
        };
        let body = if reply.status == 200 {
            reply.json().into_owned()
        } else {
            "Internal Server Error".to_owned()
        };
        Answer {
            status: reply.status,
            body: body.into_bytes(),
            from: Some(from),
            notes: reply.notes,
        }
    }
}

/// Merges the settings of the workspace file and of the user, which take precedence.
fn settings(wish: &VirtualApiOptions, setup: &Setup) -> Result<VirtualSettings, Unusable> {
    let entry = setup.tools.iter().find(|tool| tool.kind == ToolKind::Virtual);
    let read =
        |tool: &ToolEntry| VirtualSettings::read(&tool.name, &tool.settings, &wish.folder, &[]);
    let usual = || VirtualSettings {
        cache: Some(VirtualSettings::usual_cache(&wish.folder)),
        ..VirtualSettings::default()
    };
    let mut settings = entry.map_or_else(|| Ok(usual()), read)?;
    if let Some(word) = &wish.order {
        let Some(order) = Order::from_word(word) else {
            let message = format!("There is no order `{word}`.");
            let fix = "Choose one of mirror, real, main, mirrorapi and mirrorapi_cache.".to_owned();
            return Err(Unusable { message, fix: Some(fix) });
        };
        settings.order = order;
        // Explicit settings of the file apply to every order.
        let says = |key: &str| {
            entry.and_then(|tool| tool.settings.get(key)).is_some_and(|value| *value != Value::Null)
        };
        if !says("style") {
            settings.style = order.style();
        }
        if !says("save") {
            settings.save = order.save();
        }
    }
    let here = |path: &Path| std::path::absolute(path).unwrap_or_else(|_| path.to_owned());
    settings.cache = wish.cache.as_deref().map(here).or(settings.cache).filter(|_| !wish.no_cache);
    settings.tools_folder = wish.tools.as_deref().map(here).or(settings.tools_folder);
    settings.simulator = wish.simulator.clone().or(settings.simulator);
    settings.url = wish.real.clone().or(settings.url);
    settings.log = wish.log.as_deref().map(here).or(settings.log);
    if wish.strict {
        settings.check = Rules::Strict;
    }
    if wish.save_all {
        settings.save = Save::All;
    }
    Ok(settings)
}

/// Returns the APIs that the queries of a folder offer, for use without a tools folder. Empty
/// without queries.
fn of_queries(folder: &Path) -> Pool {
    let dir = paths::resolve(folder)
        .ok()
        .map(|resolved| resolved.roots.input_dir.unwrap_or(resolved.roots.folder));
    let (meant, others) = dir.and_then(|dir| read_queries(&dir).ok()).unwrap_or_default();
    Pool::of_queries(meant.values().chain(others.values()))
}

/// Describes the active settings for the user.
fn describe_settings(settings: &VirtualSettings, pool: &Pool) -> Vec<String> {
    let cached = !matches!(settings.order, Order::MainMirror | Order::MainMirrorCache);
    let cache = match settings.cache.as_deref().filter(|_| cached) {
        Some(dir) => format!("Replies are cached in {}.", dir.display()),
        None => "Replies are not cached.".to_owned(),
    };
    let simulator = match &settings.simulator {
        Some(name) => format!("The model {name} simulates APIs."),
        None => "No simulator is set.".to_owned(),
    };
    let real = settings
        .url
        .as_ref()
        .map_or("Real APIs are not called.".to_owned(), |_| "Real APIs are called.".to_owned());
    let from = if settings.tools_folder.is_none() && pool.api_count() > 0 {
        ", from the queries of the folder"
    } else {
        ""
    };
    let tools =
        format!("{} tools with {} APIs are known{from}.", pool.tools().len(), pool.api_count());
    vec![cache, simulator, real, tools]
}

fn refused(why: Unusable) -> AppError {
    let error = AppError::new(Code::BadRequest, why.message);
    match why.fix {
        Some(fix) => error.hint(fix),
        None => error,
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use touchstone_formats::workspace;
    use touchstone_runner::tools::virtual_api::Style;

    #[test]
    fn an_order_that_is_asked_for_decides_only_what_the_file_does_not_say() {
        let of = |said: &str| {
            let file = format!("tools: {{ apis: {{ kind: virtual{said} }} }}");
            let wish = VirtualApiOptions {
                order: Some("main".to_owned()),
                ..VirtualApiOptions::default()
            };
            let read =
                settings(&wish, &Setup::from_workspace(&workspace::read(&file).unwrap())).unwrap();
            (read.order, read.style, read.save)
        };
        assert_eq!(of(""), (Order::Main, Style::Gpt, Save::All));
        assert_eq!(
            of(", save: nothing, style: mirrorapi"),
            (Order::Main, Style::MirrorApi, Save::Nothing)
        );
    }
}
