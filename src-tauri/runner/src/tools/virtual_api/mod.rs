//! Virtual APIs: calls of APIs that are answered from a cache, by a model that simulates them, or
//! by the real ones, in an order that is chosen. Owns that order and that a call is made once; the
//! cache, the simulator and the way to real APIs lie beside it.
mod flights;
mod log;
mod look;
mod real;
mod settings;
mod simulator;
mod store;
mod wires;

pub use look::look;
pub use settings::{Order, Save, Shorten, Style, USUAL_KEY, VirtualSettings};
pub use wires::{Keys, Payer, Wires};

use super::Unusable;
use crate::http::redact::{MARK, Redactor};
use crate::setup::Setup;
use flights::Flights;
use log::{Line, Log};
use real::Real;
use simulator::{Simulated, Simulator};
use std::borrow::Cow;
use std::sync::Arc;
use store::{Store, succeeds};
use tokio_util::sync::{CancellationToken, DropGuard};
use touchstone_formats::stabletoolbench::cache_file::{self, KeyForm, Place};
use touchstone_formats::stabletoolbench::python_json::{self, Layout, Py};
use touchstone_formats::stabletoolbench::request::{self, Request};
use touchstone_formats::stabletoolbench::strip::{self, Strip};
use touchstone_formats::stabletoolbench::{Pool, check, names};
use touchstone_formats::value::Value;

/// What is said when a simulator made nothing of use.
const FAILED: &str = "Failed to generate fake response";

/// Where a reply is from.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Origin {
    /// The cache, under this form of the key.
    Hit(KeyForm),
    /// A model that stands in for the API.
    Simulated,
    /// The API itself.
    Real,
    /// Nobody: the input could not be read.
    Unread,
    /// Nobody: it is no API.
    Said,
    /// Nobody: who was asked made nothing of use.
    Failed,
}

impl Origin {
    /// In a word, as logs have it.
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
    /// Status over HTTP: 200, or 500 where an original server would break off.
    pub status: u16,
    /// Where it is from.
    pub from: Origin,
    /// What the person should know, as sentences.
    pub notes: Vec<String>,
    /// The reply as it is kept.
    body: Body,
}

#[derive(Debug, Clone, PartialEq)]
enum Body {
    /// As it stands in a cache file.
    Kept(String),
    Made(Arc<Py>),
}

impl Reply {
    fn new(from: Origin, reply: Py) -> Self {
        Self { status: 200, from, notes: Vec::new(), body: Body::Made(Arc::new(reply)) }
    }

    fn of(from: Origin, error: &str, response: &str) -> Self {
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

    /// The whole reply: an object with `error` and `response`, or what a simulator said in its
    /// place.
    pub fn whole(&self) -> Cow<'_, Py> {
        match &self.body {
            Body::Kept(text) => Cow::Owned(python_json::read(text).unwrap_or(Py::Null)),
            Body::Made(reply) => Cow::Borrowed(reply),
        }
    }

    /// What `error` says; empty when nothing.
    pub fn error(&self) -> String {
        self.whole()
            .get("error")
            .map(|error| error.text().unwrap_or_else(|| error.str()))
            .unwrap_or_default()
    }

    /// `response`; the whole reply where there is none.
    pub fn response(&self) -> Value {
        let whole = self.whole();
        whole.get("response").unwrap_or(&whole).value()
    }

    /// As it goes over HTTP.
    pub fn json(&self) -> Cow<'_, str> {
        match &self.body {
            // JSON has no word for what is no number.
            Body::Kept(text) if !text.contains("NaN") && !text.contains("Infinity") => {
                Cow::Borrowed(text)
            }
            _ => Cow::Owned(self.whole().dumps(Layout::Wire)),
        }
    }

    /// As a model of the original is shown it: JSON with Python's blanks, in ASCII.
    pub fn observation(&self) -> String {
        self.whole().dumps(Layout::Python)
    }
}

/// Virtual APIs, opened. Dropping it gives up what is under way.
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
    payer: Option<Arc<dyn Payer>>,
}

/// Who is asked.
#[derive(Debug, Clone, Copy)]
enum Step {
    Real,
    Simulate,
}

/// What came of asking.
enum Made {
    /// The reply.
    Good(Reply),
    /// A reply that is taken when there is no better one, and why it is none.
    Poor(Option<Reply>, Option<String>),
    /// Nobody could be asked, which may be otherwise soon: never kept.
    Unasked(Reply, String),
    /// Where an original server breaks off.
    BrokeOff,
}

/// A call, with what is looked up and sent for it.
struct Call {
    category: String,
    tool: String,
    api: String,
    key: String,
    input: Py,
    place: Place,
    keys: Vec<(KeyForm, String)>,
}

impl VirtualApis {
    /// Opens them. Nothing is sent yet. `pool` has the definitions of the APIs.
    pub fn open(
        settings: VirtualSettings,
        setup: &Setup,
        pool: Arc<Pool>,
        wires: Wires,
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

    /// Calls an API by the names of requests: raw ones and standard ones mean the same. None when
    /// it was stopped.
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
        // The server of the original passes names on as they came; what came from its runs were
        // standard names.
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

    /// Answers a request. None when it was stopped.
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

    /// Waits until what is under way is kept, also what nobody waits for any more.
    pub async fn land(&self) {
        self.inside.flights.land().await;
    }

    async fn reply(&self, asked: Request, stop: &CancellationToken) -> Option<Reply> {
        let Some(input) = asked.input else {
            return Some(Reply::of(Origin::Unread, "Tool input parse error...\n", ""));
        };
        if asked.api == "chat_with_user" {
            return Some(Reply::of(Origin::Said, "", "Chat with user."));
        }
        let order = self.inside.settings.order;
        if matches!(order, Order::MainMirror | Order::MainMirrorCache)
            && !matches!(input, Py::Map(_))
        {
            return Some(Reply::broken_off());
        }
        let mut keys = cache_file::keys(&input);
        if order.is_compat() {
            // These servers know no other.
            keys.truncate(1);
        }
        // A secret among the arguments is looked up and kept without it; replies that are there
        // under the whole key are still found.
        let hidden = keys.iter().map(|(form, key)| (*form, self.inside.known(key, &asked.key)));
        let mut all: Vec<_> = hidden
            .zip(&keys)
            .filter(|(hidden, key)| hidden != *key)
            .map(|(hidden, _)| hidden)
            .collect();
        all.append(&mut keys);
        let call = Arc::new(Call {
            place: Place::of(&asked.category, &asked.tool, &asked.api),
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

    /// From the cache, or made; by one of all who ask for the same at the same time.
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
        // It goes on when the one who asked first no longer waits: it is paid for.
        inside.flights.join(which, async move { again.make(&call, &closing, notes).await }).await
    }
}

impl Inside {
    /// Makes a reply, and keeps it before anybody hears of it.
    async fn make(&self, call: &Call, stop: &CancellationToken, mut notes: Vec<String>) -> Reply {
        // Another may have made it since this one looked.
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
                Made::Good(reply) => return self.kept(call, reply, notes).await,
                Made::Poor(reply, why) => {
                    notes.extend(why.clone());
                    reason = why.or(reason);
                    last = reply.or(last);
                }
                Made::Unasked(reply, why) => {
                    notes.push(why.clone());
                    (reason, last, lasts) = (Some(why), Some(reply), false);
                }
                Made::BrokeOff => return Reply::broken_off(),
            }
        }
        match last {
            // What failed is kept only where that is asked for.
            Some(reply) if reply.from != Origin::Real && lasts && !stop.is_cancelled() => {
                self.kept(call, reply, notes).await
            }
            Some(reply) => reply.with(notes),
            None => self.unanswered(reason).with(notes),
        }
    }

    /// Who is asked, of those who can be.
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

    async fn asked_real(&self, call: &Call, stop: &CancellationToken) -> Made {
        let Some(real) = &self.real else { return Made::Poor(None, None) };
        let asked = real.ask(call, stop).await.map(|reply| self.cleaned(reply, call));
        match asked {
            Ok(reply) if check::accepts(&reply, self.settings.check) => {
                Made::Good(Reply::new(Origin::Real, reply))
            }
            Ok(reply) => Made::Poor(Some(Reply::new(Origin::Real, reply)), None),
            Err(real::NoReply::BreaksOff(_)) if self.settings.order.is_compat() => Made::BrokeOff,
            Err(real::NoReply::BreaksOff(why) | real::NoReply::Status(why)) => {
                Made::Poor(None, Some(self.plain(&why, &call.key)))
            }
        }
    }

    async fn simulated(&self, call: &Call, stop: &CancellationToken) -> Made {
        let Some(simulator) = &self.simulator else { return Made::Poor(None, None) };
        let examples = self.examples(call, simulator).await;
        let failed = || Reply::of(Origin::Failed, FAILED, "");
        match simulator.ask(call, &self.pool, &examples, stop).await {
            Simulated::Reply(reply) => {
                Made::Good(Reply::new(Origin::Simulated, self.cleaned(reply, call)))
            }
            Simulated::Spent(why) => Made::Unasked(Reply::of(Origin::Failed, &why, ""), why),
            Simulated::BreaksOff(_) if self.settings.order.is_compat() => Made::BrokeOff,
            Simulated::BreaksOff(why) => Made::Unasked(failed(), self.plain(&why, &call.key)),
            Simulated::Nothing(why) => Made::Poor(Some(failed()), Some(why)),
        }
    }

    /// A reply without the secrets that are known: it is kept and shown.
    fn cleaned(&self, reply: Py, call: &Call) -> Py {
        let text = reply.dumps(Layout::Wire);
        let clean = self.known(&text, &call.key);
        if clean == text {
            reply
        } else {
            python_json::read(&clean).unwrap_or_else(|_| MARK.into())
        }
    }

    /// Text of a call without the secrets that are known; `key` came with the call.
    fn known(&self, text: &str, key: &str) -> String {
        Redactor::new([key]).known(&self.redactor.known(text)).into_owned()
    }

    /// A message without secrets and without what looks like one.
    fn plain(&self, text: &str, key: &str) -> String {
        self.redactor.clean(&self.known(text, key)).into_owned()
    }

    /// Models read it, so nothing of this machine is in it.
    fn unanswered(&self, reason: Option<String>) -> Reply {
        let why = reason.unwrap_or_else(|| match self.settings.order {
            Order::Real => {
                "This call is not in the cache, and no address of real APIs is set.".to_owned()
            }
            _ => "This call is not in the cache, and no simulator is set.".to_owned(),
        });
        Reply::of(Origin::Failed, &why, "")
    }

    async fn examples(&self, call: &Call, simulator: &Simulator) -> Vec<(String, String)> {
        match &self.store {
            Some(store) if simulator.wants_examples() => {
                store.first(&call.place, simulator::EXAMPLES).await
            }
            _ => Vec::new(),
        }
    }

    /// Keeps a reply where that is wanted.
    async fn kept(&self, call: &Call, reply: Reply, mut notes: Vec<String>) -> Reply {
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

    /// Made short where the settings say so.
    fn shortened(&self, reply: Reply, call: &Call, asked: &str) -> Reply {
        let mode = match self.settings.strip {
            None => return reply,
            Some(Shorten::Asked) => Strip::of(asked),
            Some(Shorten::Always(mode)) => mode,
        };
        let Py::Map(mut entries) = reply.whole().into_owned() else { return reply };
        let schema =
            self.pool.find(Some(&call.place.category), call.place.tool_alone(), &call.place.api);
        let schema = schema.and_then(|(_, api)| api.schema.as_ref()).map(Py::from);
        let coin = call
            .keys
            .first()
            .is_some_and(|(_, key)| xxhash_rust::xxh3::xxh3_64(key.as_bytes()) & 1 == 1);
        for (key, value) in &mut entries {
            if key.shown() == "response" {
                *value = strip::strip(value, mode, schema.as_ref(), coin).as_str().into();
            }
        }
        Reply { body: Body::Made(Arc::new(Py::Map(entries))), ..reply }
    }
}
