//! Whom the runs of a launch ask, by address and name of the key, and where a key was refused:
//! there nobody else need ask. Elsewhere it says nothing.
use super::Job;
use crate::provider::promptql::PromptQl;
use crate::setup::Setup;
use crate::spec::{Model, Provider};
use std::collections::{BTreeMap, BTreeSet};
use std::sync::{Mutex, PoisonError};

/// An address with the name of the key that is sent there.
#[derive(Debug, Clone, PartialEq, Eq, PartialOrd, Ord)]
pub(super) struct Door {
    address: String,
    key: Option<String>,
}

impl Door {
    /// Where a model is asked. Recordings are nowhere.
    pub(super) fn of_model(model: &Model) -> Self {
        let is_asked = model.provider != Provider::Replay;
        let address = if is_asked { model.base_url.clone() } else { String::new() };
        Self { address, key: model.key.clone().filter(|_| is_asked) }
    }

    /// Where `PromptQL` is asked.
    pub(super) fn of_promptql(spec: &PromptQl) -> Self {
        Self { address: spec.base_url.clone(), key: Some(spec.key.clone()) }
    }

    /// Where a job asks; none for what cannot be made at all.
    pub(super) fn of_job(setup: &Setup, job: &Job) -> Option<Self> {
        let model = setup.model(&job.slot.at.model)?;
        if job.slot.at.system == "promptql" && model.provider != Provider::Replay {
            return Some(Self::of_promptql(&setup.promptql_spec()?));
        }
        Some(Self::of_model(model))
    }
}

/// The doors of a launch.
#[derive(Debug, Default)]
pub struct Doors {
    all: BTreeSet<Door>,
    refused: Mutex<BTreeMap<Door, String>>,
}

impl Doors {
    /// Those of these jobs.
    pub fn of(setup: &Setup, jobs: &[Job]) -> Self {
        Self {
            all: jobs.iter().filter_map(|job| Door::of_job(setup, job)).collect(),
            refused: Mutex::default(),
        }
    }

    /// Why nobody need ask there, once somebody was refused.
    pub(super) fn refused(&self, door: &Door) -> Option<String> {
        self.refused.lock().unwrap_or_else(PoisonError::into_inner).get(door).cloned()
    }

    /// Notes that a key was refused; true for the first time.
    pub(super) fn refuse(&self, door: Door, why: &str) -> bool {
        self.refused
            .lock()
            .unwrap_or_else(PoisonError::into_inner)
            .insert(door, why.to_owned())
            .is_none()
    }

    /// True when there is none left where anybody could ask.
    pub(super) fn are_all_refused(&self) -> bool {
        let refused = self.refused.lock().unwrap_or_else(PoisonError::into_inner);
        self.all.iter().all(|door| refused.contains_key(door))
    }
}
