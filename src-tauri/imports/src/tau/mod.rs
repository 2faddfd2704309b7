//! **Pure.** Results of tau-bench and tau2-bench: an agent talks to a user that a model plays.
mod tau2_bench;
mod tau_bench;

pub use tau_bench::TauBench;
pub use tau2_bench::Tau2Bench;

use crate::run::{Event, EventKind, ImportedVerdict};
use touchstone_model::value::Value;

/// Distance from 1 within which a reward is full.
const CLOSE: f64 = 1e-6;

/// Reads a reward, which passes when it is 1.
fn read_reward(reward: &Value) -> ImportedVerdict {
    ImportedVerdict {
        name: "reward".to_owned(),
        value: reward.clone(),
        passed: reward.number().map(|reward| (reward - 1.0).abs() <= CLOSE),
        ..ImportedVerdict::default()
    }
}

/// Marks what the user says and calls as simulated.
fn simulate(kind: EventKind) -> EventKind {
    match kind {
        EventKind::User(text) => EventKind::SimulatedUser(text),
        EventKind::Call { id, name, arguments, .. } => {
            EventKind::Call { id, name, arguments, by_user: true }
        }
        kind => kind,
    }
}

/// Marks the texts of the user as simulated.
fn simulate_texts(events: &mut [Event]) {
    for event in events {
        if matches!(event.kind, EventKind::User(_)) {
            event.kind = simulate(std::mem::take(&mut event.kind));
        }
    }
}

fn is_filled(value: &Value) -> bool {
    !matches!(value, Value::Null)
        && !matches!(value, Value::List(items) if items.is_empty())
        && !matches!(value, Value::Map(entries) if entries.is_empty())
}

#[cfg(test)]
mod tests;
