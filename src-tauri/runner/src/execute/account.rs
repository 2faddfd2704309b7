//! Payments of virtual APIs within a launch: charged to its spend limit, reported in its events,
//! and stopped with it.
use super::SpendLimit;
use crate::event::RunEventKind;
use crate::http::redact::Redactor;
use crate::launch::{RunEventSender, StopTokens};
use crate::provider::Usage;
use crate::spec::Model;
use crate::tools::virtual_api::CostSink;
use std::collections::BTreeSet;
use std::sync::{Arc, Mutex, PoisonError};

/// Maximum number of distinct notes to report.
const NOTES: usize = 100;

/// Gives virtual APIs access to the spend limit and the events of a launch.
pub struct Account {
    purse: Arc<SpendLimit>,
    teller: RunEventSender,
    stops: StopTokens,
    redactor: Redactor,
    noted: Mutex<BTreeSet<String>>,
}

impl Account {
    /// Creates the account of a launch.
    pub fn new(
        purse: Arc<SpendLimit>,
        teller: RunEventSender,
        stops: StopTokens,
        redactor: Redactor,
    ) -> Self {
        Self { purse, teller, stops, redactor, noted: Mutex::default() }
    }
}

impl CostSink for Account {
    fn refuses(&self) -> Option<String> {
        let why = self.purse.refusal()?;
        self.stops(&why);
        Some(why)
    }

    fn pays(&self, model: &Model, usage: Usage, cost: Option<f64>) {
        self.purse.pay(cost, &model.name, model.price.as_ref());
        self.teller.send(None, RunEventKind::Simulated { usage, cost });
    }

    fn loses(&self, usage: Usage, cost: Option<f64>, guess: Option<f64>) {
        self.purse.lose(cost, || guess);
        self.teller.send(None, RunEventKind::Simulated { usage, cost });
    }

    fn stops(&self, why: &str) {
        if !self.stops.soft.is_cancelled() {
            self.stops.soft.cancel();
            self.teller
                .send(None, RunEventKind::Stopping { why: self.redactor.clean(why).into_owned() });
        }
    }

    fn hears(&self, note: &str) {
        let mut noted = self.noted.lock().unwrap_or_else(PoisonError::into_inner);
        if noted.len() < NOTES && noted.insert(note.to_owned()) {
            self.teller
                .send(None, RunEventKind::Noted { note: self.redactor.clean(note).into_owned() });
        }
    }
}
