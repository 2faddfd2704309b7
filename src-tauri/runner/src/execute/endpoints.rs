//! Endpoints of a launch, by address and name of the key, and those whose key was refused: no
//! further requests are sent to these.
use super::Job;
use crate::provider::promptql::PromptQl;
use crate::setup::Setup;
use crate::spec::{Model, Provider};
use std::collections::{BTreeMap, BTreeSet};
use std::sync::{Mutex, PoisonError};
use touchstone_formats::system::System;

/// Address with the name of the key that is sent to it.
#[derive(Debug, Clone, PartialEq, Eq, PartialOrd, Ord)]
pub(super) struct Endpoint {
    address: String,
    key: Option<String>,
}

impl Endpoint {
    /// Endpoint of a model. Replayed models have an empty one.
    pub(super) fn for_model(model: &Model) -> Self {
        let is_asked = model.provider != Provider::Replay;
        let address = if is_asked { model.base_url.clone() } else { String::new() };
        Self { address, key: model.key.clone().filter(|_| is_asked) }
    }

    /// Endpoint of `PromptQL`.
    pub(super) fn for_promptql(spec: &PromptQl) -> Self {
        Self { address: spec.base_url.clone(), key: Some(spec.key.clone()) }
    }

    /// Endpoint of a job; `None` if the job cannot be executed at all.
    pub(super) fn for_job(setup: &Setup, job: &Job) -> Option<Self> {
        let model = setup.model(&job.slot.at.model)?;
        if job.slot.at.system == System::PromptQl && model.provider != Provider::Replay {
            return Some(Self::for_promptql(&setup.promptql_spec()?));
        }
        Some(Self::for_model(model))
    }
}

/// Endpoints of a launch.
#[derive(Debug, Default)]
pub struct Endpoints {
    all: BTreeSet<Endpoint>,
    refused: Mutex<BTreeMap<Endpoint, String>>,
}

impl Endpoints {
    /// Returns the endpoints of these jobs.
    pub fn for_jobs(setup: &Setup, jobs: &[Job]) -> Self {
        Self {
            all: jobs.iter().filter_map(|job| Endpoint::for_job(setup, job)).collect(),
            refused: Mutex::default(),
        }
    }

    /// Returns the reason an endpoint's key was refused, if it was.
    pub(super) fn refused(&self, door: &Endpoint) -> Option<String> {
        self.refused.lock().unwrap_or_else(PoisonError::into_inner).get(door).cloned()
    }

    /// Records that a key was refused. Returns true the first time.
    pub(super) fn refuse(&self, door: Endpoint, why: &str) -> bool {
        self.refused
            .lock()
            .unwrap_or_else(PoisonError::into_inner)
            .insert(door, why.to_owned())
            .is_none()
    }

    /// Returns true if the key of every endpoint was refused.
    pub(super) fn are_all_refused(&self) -> bool {
        let refused = self.refused.lock().unwrap_or_else(PoisonError::into_inner);
        self.all.iter().all(|door| refused.contains_key(door))
    }
}
