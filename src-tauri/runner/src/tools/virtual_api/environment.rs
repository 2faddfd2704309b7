//! Environment of virtual APIs: connections, keys, and payment. Owns none of these.
use crate::http::client::Client;
use crate::http::keys::ApiKey;
use crate::http::limiter::Limiters;
use crate::http::redact::Redactor;
use crate::provider::Usage;
use crate::spec::Model;
use std::sync::Arc;

/// Environment for sending calls.
#[derive(Clone)]
pub struct ApiEnvironment {
    /// HTTP client.
    pub client: Client,
    /// Rate limits of the providers.
    pub limiters: Arc<Limiters>,
    /// Lookup of keys by name.
    pub keys: Arc<Keys>,
    /// Removes known secrets from everything that is stored, logged or displayed.
    pub redactor: Redactor,
    /// Payer of simulated calls; `None` if costs are not tracked.
    pub payer: Option<Arc<dyn CostSink>>,
}

/// Pays for simulated calls and receives their problems.
pub trait CostSink: Send + Sync {
    /// Returns the reason that no more calls may be paid for, if any.
    fn refuses(&self) -> Option<String>;
    /// Records the cost of a reply.
    fn pays(&self, model: &Model, usage: Usage, cost: Option<f64>);
    /// Records the cost of an unreadable reply. Usage may be unknown; `guess` is then an estimate.
    fn loses(&self, usage: Usage, cost: Option<f64>, guess: Option<f64>);
    /// Reports an error with which every further call would fail too.
    fn stops(&self, why: &str);
    /// Reports a note for the user.
    fn hears(&self, note: &str);
}

/// Lookup of a key by name; returns `None` if it is not set.
pub type Keys = dyn Fn(&str) -> Option<ApiKey> + Send + Sync;
