//! What virtual APIs are given of the world around them: connections, keys, and who pays. Owns none
//! of it.
use crate::http::client::Client;
use crate::http::keys::ApiKey;
use crate::http::limiter::Limiters;
use crate::http::redact::Redactor;
use crate::provider::Usage;
use crate::spec::Model;
use std::sync::Arc;

/// What calls are sent with.
#[derive(Clone)]
pub struct Wires {
    /// Connections.
    pub client: Client,
    /// How many requests each provider takes.
    pub limiters: Arc<Limiters>,
    /// Keys by name.
    pub keys: Arc<Keys>,
    /// Takes every secret that is known out of what is kept, written down or said.
    pub redactor: Redactor,
    /// Who pays for simulated calls; none where nobody counts.
    pub payer: Option<Arc<dyn Payer>>,
}

/// Who pays for simulated calls, and hears what goes wrong with them.
pub trait Payer: Send + Sync {
    /// Why nothing may be bought any more.
    fn refuses(&self) -> Option<String>;
    /// A reply was bought.
    fn pays(&self, model: &Model, usage: Usage, cost: Option<f64>);
    /// A reply was bought that nobody can read: it may say what it took, or not; then there is a
    /// guess.
    fn loses(&self, usage: Usage, cost: Option<f64>, guess: Option<f64>);
    /// Every further call would fail the same.
    fn stops(&self, why: &str);
    /// Something that the person should know.
    fn hears(&self, note: &str);
}

/// The key of a name; none when it is not set.
pub type Keys = dyn Fn(&str) -> Option<ApiKey> + Send + Sync;
