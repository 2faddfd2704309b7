//! Virtual APIs: calls are answered from a cache, by a model that simulates the API, or by the real
//! API, in a configurable order. Owns that order, and that identical calls are made only once;
//! submodules contain the cache, the simulator and the client of the real APIs.
mod environment;
mod in_flight;
mod log;
mod look;
mod real;
mod settings;
mod simulator;
mod store;

pub use environment::{ApiEnvironment, CostSink, Keys};
pub use look::look;
pub use settings::{Order, Save, Shorten, Style, USUAL_KEY, VirtualSettings};

use super::Unusable;
use crate::http::redact::{MARK, Redactor};
use crate::setup::Setup;
use in_flight::Flights;
use log::{Line, Log};
use real::Real;
use simulator::{Simulated, Simulator};
use std::borrow::Cow;
use std::sync::Arc;
use store::{Store, succeeds};
use tokio_util::sync::{CancellationToken, DropGuard};
use touchstone_formats::stabletoolbench::cache_file::{self, ApiLocation, KeyForm};
use touchstone_formats::stabletoolbench::python_json::{self, Layout, Py};
use touchstone_formats::stabletoolbench::request::{self, Request};
use touchstone_formats::stabletoolbench::strip::{self, Strip};
use touchstone_formats::stabletoolbench::{Pool, check, names};
use touchstone_model::value::Value;

/// Error when the simulator produced no usable reply.
const FAILED: &str = "Failed to generate fake response";

/// Origin of a reply.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Origin {
    /// The cache, under this form of the key.
    Hit(KeyForm),
    /// A model that simulates the API.
    Simulated,
    /// The real API.
    Real,
    /// Fixed reply: the input could not be parsed.
    Unread,
    /// Fixed reply to `chat_with_user`, which is no API.
    Said,
    /// Error reply: no usable reply could be made.
    Failed,
}

impl Origin {
    /// Returns the name used in logs.
    pub fn word(self) -> &'static str {
        match self {
            Self::Hit(_) => "cached_real_response",
            Self::Real => "real_response",
            Self::Simulated => "fake_response",
            Self::Unread => "tool_input_parse_error",
            Self::Said => "chat_with_user",
            Self::Failed => "failed",
        }
    }
}

/// A reply to a call.
#[derive(Debug, Clone, PartialEq)]
pub struct Reply {
    /// HTTP status: 200, or 500 in cases where an original server crashes.
    pub status: u16,
    /// Origin of the reply.
    pub from: Origin,
    /// Notes for the user, in sentences.
    pub notes: Vec<String>,
    /// The reply in its stored form.
    body: Body,
}

#[derive(Debug, Clone, PartialEq)]
enum Body {
    /// Text from a cache file.
    Kept(String),
    Made(Arc<Py>),
}

impl Reply {
    fn new(from: Origin, reply: Py) -> Self {
        Self { status: 200, from, notes: Vec::new(), body: Body::Made(Arc::new(reply)) }
    }

    fn from_parts(from: Origin, error: &str, response: &str) -> Self {
        Self::new(
            from,
            Py::Map(vec![("error".into(), error.into()), ("response".into(), response.into())]),
        )
    }

    fn broken_off() -> Self {
        Self { status: 500, ..Self::new(Origin::Failed, "Internal Server Error".into()) }
    }

    fn with(mut self, notes: Vec<String>) -> Self {
        self.notes.extend(notes);
        self
    }

    /// Returns the whole reply: an object with `error` and `response`, or the simulator's output if
    /// it has another form.
    pub fn value(&self) -> Cow<'_, Py> {
        match &self.body {
            Body::Kept(text) => Cow::Owned(python_json::read(text).unwrap_or(Py::Null)),
            Body::Made(reply) => Cow::Borrowed(reply),
        }
    }

    /// Returns the `error` field as text; empty if there is none.
    pub fn error(&self) -> String {
        self.value()
            .get("error")
            .map(|error| error.text().unwrap_or_else(|| error.str()))
            .unwrap_or_default()
    }

    /// Returns the `response` field, or the whole reply if there is none.
    pub fn response(&self) -> Value {
        let whole = self.value();
        whole.get("response").unwrap_or(&whole).value()
    }

    /// Returns the JSON for the HTTP response.
    pub fn json(&self) -> Cow<'_, str> {
        match &self.body {
            // JSON cannot represent these numbers.
            Body::Kept(text) if !text.contains("NaN") && !text.contains("Infinity") => {
                Cow::Borrowed(text)
            }
            _ => Cow::Owned(self.value().dumps(Layout::Wire)),
        }
    }

    /// Returns the form that models see in the original: JSON with Python's spacing, in ASCII.
    pub fn observation(&self) -> String {
        self.value().dumps(Layout::Python)
    }
}

/// An open set of virtual APIs. Calls in progress are cancelled on drop.
pub struct VirtualApis {
    inside: Arc<Inside>,
    closing: CancellationToken,
    _closed: DropGuard,
}

struct Inside {
    settings: VirtualSettings,
    pool: Arc<Pool>,
    store: Option<Store>,
    simulator: Option<Simulator>,
    real: Option<Real>,
    flights: Flights,
    log: Option<Log>,
    redactor: Redactor,
    payer: Option<Arc<dyn CostSink>>,
}

/// A source of replies.
#[derive(Debug, Clone, Copy)]
enum Step {
    Real,
    Simulate,
}

/// Result of asking one source.
enum StepResult {
    /// A good reply.
    Good(Reply),
    /// A reply to use if there is no better one, and the reason that it is not good.
    Poor(Option<Reply>, Option<String>),
    /// The source could not be asked, which may change soon; such a reply is never cached.
    Unasked(Reply, String),
    /// A case in which an original server crashes.
    BrokeOff,
}

/// A call, with its cache keys and parameters.
struct Call {
    category: String,
    tool: String,
    api: String,
    key: String,
    input: Py,
    place: ApiLocation,
    keys: Vec<(KeyForm, String)>,
}

impl VirtualApis {
    /// Opens virtual APIs without sending anything. `pool` has the definitions of the APIs. Fails
    /// if the settings are wrong.
    pub fn open(
        settings: VirtualSettings,
        setup: &Setup,
        pool: Arc<Pool>,
        wires: ApiEnvironment,
    ) -> Result<Self, Unusable> {
        let simulator = settings
            .simulator
            .as_deref()
            .map(|name| Simulator::open(name, &settings, setup, wires.clone()));
        let real = settings.url.as_deref().map(|url| Real::open(url, &settings, &wires));
        let cached = !matches!(settings.order, Order::MainMirror | Order::MainMirrorCache);
        let store = settings.cache.clone().filter(|_| cached).map(Store::new);
        let log = settings.log.as_deref().map(Log::open).transpose()?;
        let (simulator, real) = (simulator.transpose()?, real.transpose()?);
        let (redactor, payer) = (wires.redactor, wires.payer);
        let inside = Inside {
            settings,
            pool,
            store,
            simulator,
            real,
            flights: Flights::default(),
            log,
            redactor,
            payer,
        };
        let closing = CancellationToken::new();
        Ok(Self {
            inside: Arc::new(inside),
            closing: closing.clone(),
            _closed: closing.drop_guard(),
        })
    }

    /// Calls an API by the names in a request; raw and standardized names are equivalent. Returns
    /// `None` if it was stopped.
    #[expect(clippy::too_many_arguments, reason = "a call has that many parts")]
    pub async fn call(
        &self,
        category: &str,
        tool: &str,
        api: &str,
        input: &str,
        strip: &str,
        stop: &CancellationToken,
    ) -> Option<Reply> {
        let named = |text: &str| text.to_owned();
        let (category, tool, api, strip) = (named(category), named(tool), named(api), named(strip));
        // The original's server forwards names unchanged; its runs sent standardized names.
        let tool = if self.inside.settings.order == Order::Main {
            names::standardize(&tool)
        } else {
            tool
        };
        let asked = Request {
            category,
            tool,
            api,
            input: request::input(input),
            strip,
            key: String::new(),
        };
        self.answer(asked, stop).await
    }

    /// Answers a request. Returns `None` if it was stopped.
    pub async fn answer(&self, asked: Request, stop: &CancellationToken) -> Option<Reply> {
        let (line, key) =
            (self.inside.log.as_ref().map(|log| (log, Line::begin(&asked))), asked.key.clone());
        let mut reply = self.reply(asked, stop).await?;
        for note in &mut reply.notes {
            *note = self.inside.plain(note, &key);
        }
        if let Some((log, line)) = line {
            log.end(line, &reply, &self.inside.redactor);
        }
        if let Some(payer) = &self.inside.payer {
            reply.notes.iter().for_each(|note| payer.hears(note));
        }
        Some(reply)
    }

    /// Waits until all calls in progress are cached, even those without a waiting caller.
    pub async fn wait_idle(&self) {
        self.inside.flights.land().await;
    }

    async fn reply(&self, asked: Request, stop: &CancellationToken) -> Option<Reply> {
        let Some(input) = asked.input else {
            return Some(Reply::from_parts(Origin::Unread, "Tool input parse error...\n", ""));
        };
        if asked.api == "chat_with_user" {
            return Some(Reply::from_parts(Origin::Said, "", "Chat with user."));
        }
        let order = self.inside.settings.order;
        if matches!(order, Order::MainMirror | Order::MainMirrorCache)
            && !matches!(input, Py::Map(_))
        {
            return Some(Reply::broken_off());
        }
        let mut keys = cache_file::keys(&input);
        if order.is_compat() {
            // The original servers know only the first form of the key.
            keys.truncate(1);
        }
        // Secrets in the arguments are removed from the lookup keys. Existing replies stored under
        // the full key are still found.
        let hidden =
            keys.iter().map(|(form, key)| (*form, self.inside.redact_known(key, &asked.key)));
        let mut all: Vec<_> = hidden
            .zip(&keys)
            .filter(|(hidden, key)| hidden != *key)
            .map(|(hidden, _)| hidden)
            .collect();
        all.append(&mut keys);
        let call = Arc::new(Call {
            place: ApiLocation::from_names(&asked.category, &asked.tool, &asked.api),
            keys: all,
            category: asked.category,
            tool: asked.tool,
            api: asked.api,
            key: asked.key,
            input,
        });
        let reply = tokio::select! {
            biased;
            () = stop.cancelled() => return None,
            reply = self.made(&call) => reply,
        };
        Some(self.inside.shortened(reply, &call, &asked.strip))
    }

    /// Returns the cached reply, or makes one, only once for identical concurrent calls.
    async fn made(&self, call: &Arc<Call>) -> Reply {
        let inside = &self.inside;
        let Some(store) = &inside.store else {
            return inside.make(call, &self.closing, Vec::new()).await;
        };
        let (hit, notes) = store.find(&call.place, &call.keys).await;
        if let Some(hit) = hit {
            return hit.with(notes);
        }
        let key = call.keys.first().map(|(_, key)| key.clone()).unwrap_or_default();
        let (again, call, closing) = (Arc::clone(inside), Arc::clone(call), self.closing.clone());
        let which =
            (call.place.category.clone(), call.place.tool.clone(), call.place.api.clone(), key);
        // Continues when the first caller no longer waits, because the reply is paid for.
        inside.flights.join(which, async move { again.make(&call, &closing, notes).await }).await
    }
}

impl Inside {
    /// Makes a reply, and caches it before returning it.
    async fn make(&self, call: &Call, stop: &CancellationToken, mut notes: Vec<String>) -> Reply {
        // Another call may have cached it since the first lookup.
        if let Some(store) = &self.store
            && let (Some(hit), notes) = store.find(&call.place, &call.keys).await
        {
            return hit.with(notes);
        }
        let (mut last, mut reason, mut lasts) = (None, None, true);
        for step in self.steps() {
            let made = match step {
                Step::Real => self.asked_real(call, stop).await,
                Step::Simulate => self.simulated(call, stop).await,
            };
            match made {
                StepResult::Good(reply) => return self.store_reply(call, reply, notes).await,
                StepResult::Poor(reply, why) => {
                    notes.extend(why.clone());
                    reason = why.or(reason);
                    last = reply.or(last);
                }
                StepResult::Unasked(reply, why) => {
                    notes.push(why.clone());
                    (reason, last, lasts) = (Some(why), Some(reply), false);
                }
                StepResult::BrokeOff => return Reply::broken_off(),
            }
        }
        match last {
            // Failures are cached only if the settings say so.
            Some(reply) if reply.from != Origin::Real && lasts && !stop.is_cancelled() => {
                self.store_reply(call, reply, notes).await
            }
            Some(reply) => reply.with(notes),
            None => self.unanswered(reason).with(notes),
        }
    }

    /// Returns the sources to ask, in order, without those that are not set up.
    fn steps(&self) -> impl Iterator<Item = Step> {
        let steps: &[Step] = match self.settings.order {
            Order::Mirror => &[Step::Simulate, Step::Real],
            Order::Real => &[Step::Real],
            Order::Main => &[Step::Real, Step::Simulate],
            Order::MainMirror | Order::MainMirrorCache => &[Step::Simulate],
        };
        let there = |step: &Step| match step {
            Step::Real => self.real.is_some(),
            Step::Simulate => self.simulator.is_some(),
        };
        steps.iter().copied().filter(there)
    }

    async fn asked_real(&self, call: &Call, stop: &CancellationToken) -> StepResult {
        let Some(real) = &self.real else { return StepResult::Poor(None, None) };
        let asked = real.ask(call, stop).await.map(|reply| self.cleaned(reply, call));
        match asked {
            Ok(reply) if check::accepts(&reply, self.settings.check) => {
                StepResult::Good(Reply::new(Origin::Real, reply))
            }
            Ok(reply) => StepResult::Poor(Some(Reply::new(Origin::Real, reply)), None),
            Err(real::NoReply::BreaksOff(_)) if self.settings.order.is_compat() => {
                StepResult::BrokeOff
            }
            Err(real::NoReply::BreaksOff(why) | real::NoReply::Status(why)) => {
                StepResult::Poor(None, Some(self.plain(&why, &call.key)))
            }
        }
    }

    async fn simulated(&self, call: &Call, stop: &CancellationToken) -> StepResult {
        let Some(simulator) = &self.simulator else { return StepResult::Poor(None, None) };
        let examples = self.examples(call, simulator).await;
        let failed = || Reply::from_parts(Origin::Failed, FAILED, "");
        match simulator.ask(call, &self.pool, &examples, stop).await {
            Simulated::Reply(reply) => {
                StepResult::Good(Reply::new(Origin::Simulated, self.cleaned(reply, call)))
            }
            Simulated::Spent(why) => {
                StepResult::Unasked(Reply::from_parts(Origin::Failed, &why, ""), why)
            }
            Simulated::BreaksOff(_) if self.settings.order.is_compat() => StepResult::BrokeOff,
            Simulated::BreaksOff(why) => StepResult::Unasked(failed(), self.plain(&why, &call.key)),
            Simulated::Nothing(why) => StepResult::Poor(Some(failed()), Some(why)),
        }
    }

    /// Removes known secrets from a reply, which is cached and displayed.
    fn cleaned(&self, reply: Py, call: &Call) -> Py {
        let text = reply.dumps(Layout::Wire);
        let clean = self.redact_known(&text, &call.key);
        if clean == text {
            reply
        } else {
            python_json::read(&clean).unwrap_or_else(|_| MARK.into())
        }
    }

    /// Removes known secrets from a text of a call; `key` came with the call.
    fn redact_known(&self, text: &str, key: &str) -> String {
        Redactor::new([key]).redact_known(&self.redactor.redact_known(text)).into_owned()
    }

    /// Removes known secrets from a message, and text that looks like a secret.
    fn plain(&self, text: &str, key: &str) -> String {
        self.redactor.clean(&self.redact_known(text, key)).into_owned()
    }

    /// Returns the error for a call that no source could answer. Models see it; it therefore
    /// contains no details of this machine.
    fn unanswered(&self, reason: Option<String>) -> Reply {
        let why = reason.unwrap_or_else(|| match self.settings.order {
            Order::Real => {
                "This call is not in the cache, and no address of real APIs is set.".to_owned()
            }
            _ => "This call is not in the cache, and no simulator is set.".to_owned(),
        });
        Reply::from_parts(Origin::Failed, &why, "")
    }

    async fn examples(&self, call: &Call, simulator: &Simulator) -> Vec<(String, String)> {
        match &self.store {
            Some(store) if simulator.wants_examples() => {
                store.first(&call.place, simulator::EXAMPLES).await
            }
            _ => Vec::new(),
        }
    }

    /// Caches a reply if the settings say so.
    async fn store_reply(&self, call: &Call, reply: Reply, mut notes: Vec<String>) -> Reply {
        let Body::Made(made) = &reply.body else { return reply.with(notes) };
        let wanted = match self.settings.save {
            Save::All => true,
            Save::Successes => reply.from == Origin::Real || succeeds(made),
            Save::Nothing => false,
        };
        if let (true, Some(store), Some((_, key))) = (wanted, &self.store, call.keys.first()) {
            match store.keep(&call.place, key, Arc::clone(made)).await {
                Ok(said) => notes.extend(said),
                Err(why) => notes.push(why),
            }
        }
        reply.with(notes)
    }

    /// Shortens a reply if the settings say so.
    fn shortened(&self, reply: Reply, call: &Call, asked: &str) -> Reply {
        let mode = match self.settings.strip {
            None => return reply,
            Some(Shorten::Asked) => Strip::from_word(asked),
            Some(Shorten::Always(mode)) => mode,
        };
        let Py::Map(mut entries) = reply.value().into_owned() else { return reply };
        let schema = self.pool.find(
            Some(&call.place.category),
            call.place.tool_without_category(),
            &call.place.api,
        );
        let schema = schema.and_then(|(_, api)| api.schema.as_ref()).map(Py::from);
        let coin = call
            .keys
            .first()
            .is_some_and(|(_, key)| xxhash_rust::xxh3::xxh3_64(key.as_bytes()) & 1 == 1);
        for (key, value) in &mut entries {
            if key.to_display_text() == "response" {
                *value = strip::strip(value, mode, schema.as_ref(), coin).as_str().into();
            }
        }
        Reply { body: Body::Made(Arc::new(Py::Map(entries))), ..reply }
    }
}
