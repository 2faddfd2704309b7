//! Consent to attacks: whom a person confirmed that they may attack. Owns the list of confirmed
//! targets in the state directory.
use super::RedTeamActions;
use crate::error::{AppError, Code};
use crate::sensitive::scan_care::is_attack;
use crate::state_file;
use std::collections::{BTreeMap, BTreeSet};
use std::io;
use std::path::PathBuf;
use touchstone_api::{LaunchRequest, ScanPlan, ScanTarget};
use touchstone_formats::system::System;
use touchstone_redteam::{Attack, Category};
use touchstone_runner::plan::Slot;
use touchstone_runner::setup::Setup;
use touchstone_runner::spec::{Model, Provider};
use touchstone_runner::user::most_requests;

/// Targets that the person confirmed, in a file of the state directory.
struct Confirmed(PathBuf);

impl Confirmed {
    // An unreadable list counts as empty: the person is asked again.
    fn read(&self) -> BTreeSet<String> {
        state_file::read(&self.0)
    }

    fn add(&self, targets: BTreeSet<String>) -> io::Result<()> {
        let mut all = self.read();
        all.extend(targets);
        state_file::write(&self.0, &all)
    }
}

/// Returns the key under which a target is remembered.
fn key(target: &ScanTarget) -> String {
    let of = |text: &Option<String>| text.clone().unwrap_or_default();
    let system = target.target.split('/').next().unwrap_or_default();
    format!("{system} {} {}", of(&target.address), of(&target.model))
}

/// Returns an address without a user and a password, which are not printed or kept. Such an address
/// is refused when something is to be sent to it.
fn without_user(address: &str) -> String {
    let (scheme, rest) = address.split_once("://").unwrap_or(("", address));
    let end = rest.find(['/', '?', '#']).unwrap_or(rest.len());
    match rest.get(..end).and_then(|host| host.rfind('@')) {
        Some(at) => {
            let between = if scheme.is_empty() { "" } else { "://" };
            format!("{scheme}{between}{}", rest.get(at + 1..).unwrap_or_default())
        }
        None => address.to_owned(),
    }
}

/// Returns the system of a run with the address that receives its messages.
fn target(setup: &Setup, system: &System, model: &str, confirmed: &BTreeSet<String>) -> ScanTarget {
    let known = setup.model(model);
    let (address, id) = if *system == System::PromptQl {
        (setup.promptql_spec().map(|spec| without_user(&spec.base_url)), None)
    } else {
        let asked = known.filter(|model| model.provider != Provider::Replay);
        (asked.map(|it| without_user(&it.base_url)), known.map(|it| it.model_id.clone()))
    };
    let mut target = ScanTarget {
        target: format!("{system}/{model}"),
        model: id,
        confirmed: address.is_none(),
        address,
        attacks: 0,
        requests: None,
    };
    target.confirmed |= confirmed.contains(&key(&target));
    target
}

/// What a model gets that attacks with texts of its own.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) enum Part {
    /// Leads conversations: it gets the objectives and what the systems answer.
    Leads,
    /// Words objectives anew, and gets nothing else.
    Words,
}

impl Part {
    /// Returns the word in front of the model. Consent is remembered with it: that to one part is
    /// none to the other.
    fn word(self) -> &'static str {
        match self {
            Part::Leads => "attacker",
            Part::Words => "wording",
        }
    }
}

/// Returns a model that receives objectives, with its address.
pub(crate) fn receiver(part: Part, model: &Model, confirmed: &BTreeSet<String>) -> ScanTarget {
    let mut target = ScanTarget {
        target: format!("{}/{}", part.word(), model.name),
        model: Some(model.model_id.clone()),
        address: Some(without_user(&model.base_url)),
        attacks: 0,
        requests: Some(0),
        confirmed: false,
    };
    target.confirmed = confirmed.contains(&key(&target));
    target
}

impl RedTeamActions<'_> {
    /// Returns the keys of the targets that the person confirmed.
    pub(crate) fn confirmed(self) -> BTreeSet<String> {
        self.confirmed_targets().read()
    }

    fn confirmed_targets(self) -> Confirmed {
        Confirmed(self.app.inner.config.state_dir.join("scan_targets.json"))
    }

    /// Returns what the planned runs send that attacks; `None` if no run is of a suite of attacks.
    pub(crate) fn scan_plan<'s>(
        self,
        setup: &Setup,
        slots: impl Iterator<Item = &'s Slot>,
    ) -> Option<ScanPlan> {
        let confirmed = self.confirmed_targets().read();
        let mut targets: BTreeMap<(String, String), ScanTarget> = BTreeMap::new();
        let mut attackers: BTreeMap<String, ScanTarget> = BTreeMap::new();
        let (mut categories, mut attacks) = (BTreeSet::new(), BTreeSet::new());
        for slot in slots.filter(|slot| is_attack(&slot.task)) {
            categories.extend(slot.task.tags.iter().find_map(|tag| Category::from_name(tag)));
            let variation = usize::try_from(slot.at.variation).ok();
            let variation = variation.and_then(|at| slot.task.variations.get(at));
            let name = variation.and_then(|it| it.name.as_deref());
            attacks.extend(name.and_then(|name| Attack::from_name(name).ok()));
            targets
                .entry((slot.at.system.to_string(), slot.at.model.clone()))
                .or_insert_with(|| target(setup, &slot.at.system, &slot.at.model, &confirmed))
                .attacks += 1;
            let Some(user) = slot.user() else { continue };
            attacks.extend(user.attack.and_then(|talk| Attack::from_name(talk.as_str()).ok()));
            let leads = setup.user_model_for(Some(user), slot.user_model.as_deref());
            if let Some(model) = leads.and_then(|name| setup.model(name)) {
                let known = attackers
                    .entry(model.name.clone())
                    .or_insert_with(|| receiver(Part::Leads, model, &confirmed));
                known.attacks += 1;
                known.requests =
                    known.requests.map(|sum| sum + most_requests(user, model.provider));
            }
        }
        let targets: Vec<ScanTarget> = targets.into_values().collect();
        (!targets.is_empty()).then(|| ScanPlan {
            attacks: targets.iter().map(|target| target.attacks).sum(),
            categories: categories.iter().map(|category| category.name().to_owned()).collect(),
            strategies: attacks.iter().map(Attack::name).collect(),
            targets,
            attackers: attackers.into_values().collect(),
        })
    }

    /// Remembers that the targets of a request may be attacked. Nothing is sent. Fails if a target
    /// is not among the ones that the person saw.
    pub fn confirm_scan(
        self,
        request: &LaunchRequest,
        seen: &[ScanTarget],
    ) -> Result<(), AppError> {
        let Some(scan) = self.app.launches().plan_launch(request)?.scan else { return Ok(()) };
        let seen: BTreeSet<String> = seen.iter().map(key).collect();
        let mut all = scan.targets.iter().chain(&scan.attackers);
        if let Some(other) = all.find(|target| !seen.contains(&key(target))) {
            let (does, at) = (describe_part(other), describe_address(other));
            let message = format!("The plan changed: it now {does} {}{at}.", other.target);
            return Err(AppError::new(Code::BadRequest, message)
                .hint("Look at the plan again, then confirm it."));
        }
        self.confirm_targets(&[scan.targets, scan.attackers].concat())
    }

    /// Remembers that these may be attacked, or may receive the objectives.
    pub(crate) fn confirm_targets(self, targets: &[ScanTarget]) -> Result<(), AppError> {
        self.confirmed_targets().add(targets.iter().map(key).collect()).map_err(|error| {
            let message = format!("The confirmation could not be saved: {error}.");
            AppError::new(Code::Failed, message).hint("Make the state directory writable.")
        })
    }

    /// Fails if runs attack a target that the person did not confirm.
    pub(crate) fn check_scan<'s>(
        self,
        setup: &Setup,
        slots: impl Iterator<Item = &'s Slot>,
    ) -> Result<(), AppError> {
        let scan = self.scan_plan(setup, slots);
        let targets = scan.map(|scan| [scan.targets, scan.attackers].concat()).unwrap_or_default();
        match targets.iter().find(|target| !target.confirmed) {
            None => Ok(()),
            Some(target) => Err(unconfirmed(target)),
        }
    }
}

fn describe_address(target: &ScanTarget) -> String {
    target.address.as_deref().map(|address| format!(" at {address}")).unwrap_or_default()
}

/// Returns what the plan does with a target.
fn describe_part(target: &ScanTarget) -> &'static str {
    if target.requests.is_some() { "is led by" } else { "attacks" }
}

/// Returns the error for a target that nobody confirmed.
pub(crate) fn unconfirmed(target: &ScanTarget) -> AppError {
    let at = describe_address(target);
    let message = if target.target.starts_with(&format!("{}/", Part::Words.word())) {
        format!("{}{at} gets the objectives, and nobody confirmed it.", target.target)
    } else if target.requests.is_some() {
        format!(
            "{}{at} gets the objectives and the answers of these runs, and nobody confirmed it.",
            target.target
        )
    } else {
        format!(
            "These runs attack {}{at}, and nobody confirmed that it may be attacked.",
            target.target
        )
    };
    AppError::new(Code::BadRequest, message).hint(
        "Confirm it in the plan, or with --yes. Attack only systems that you own or may test.",
    )
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn consent_to_word_objectives_is_none_to_lead_and_the_other_way_round() {
        let target = |part: Part| ScanTarget {
            target: format!("{}/mini", part.word()),
            model: Some("any".into()),
            address: Some("http://localhost".into()),
            attacks: 0,
            requests: Some(0),
            confirmed: false,
        };
        let [leads, words] = [Part::Leads, Part::Words].map(target);
        assert_ne!(key(&leads), key(&words));
        assert!(unconfirmed(&leads).message.contains("and the answers"));
        assert!(!unconfirmed(&words).message.contains("answers"));
    }

    #[test]
    fn an_address_is_kept_without_user_and_password() {
        for (address, kept) in [
            ("https://me:secret@host/v1", "https://host/v1"),
            ("https://host/v1?to=a@b", "https://host/v1?to=a@b"),
            ("https://host:8080/v1", "https://host:8080/v1"),
        ] {
            assert_eq!(without_user(address), kept);
        }
    }
}
