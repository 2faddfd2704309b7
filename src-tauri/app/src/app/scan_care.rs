//! Care with attacks: whom a person confirmed that they may attack, and which runs are sensitive. Owns
//! the list of confirmed targets in the state directory; the mark in the output directory belongs to
//! `sensitive_marks`.
use super::{App, OpenFolder};
use crate::error::{AppError, Code};
use crate::reports::labels::RunLabels;
use crate::state_file;
use std::collections::{BTreeMap, BTreeSet};
use std::io;
use std::path::PathBuf;
use std::sync::{Arc, PoisonError};
use touchstone_api::{
    Hit, LaunchRequest, RunRow, ScanPlan, ScanTarget, SensitiveRuns, SnippetPiece, TaskRow,
};
use touchstone_formats::suite::Task;
use touchstone_formats::system::System;
use touchstone_imports::{Format, registry};
use touchstone_objects::copy::BucketCopy;
use touchstone_redteam::{Attack, Category, TAG};
use touchstone_runner::plan::Slot;
use touchstone_runner::setup::Setup;
use touchstone_runner::spec::{Model, Provider};
use touchstone_runner::user::most_requests;
use touchstone_store::imported_verdicts::Stored;
use touchstone_store::query::{self, ScoredRun};

/// Stands for the texts of sensitive runs where they are left out.
pub const LEFT_OUT: &str = "[sensitive text left out]";
/// Formats that only hold results of scans.
const FORMATS: [&str; 1] = ["azure_redteam"];

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
pub(super) enum Part {
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
pub(super) fn receiver(part: Part, model: &Model, confirmed: &BTreeSet<String>) -> ScanTarget {
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

impl App {
    /// Returns the keys of the targets that the person confirmed.
    pub(super) fn confirmed(&self) -> BTreeSet<String> {
        self.confirmed_targets().read()
    }

    fn confirmed_targets(&self) -> Confirmed {
        Confirmed(self.inner.config.state_dir.join("scan_targets.json"))
    }

    /// Returns what the planned runs send that attacks; `None` if no run is of a suite of attacks.
    pub(super) fn scan_plan<'s>(
        &self,
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
        &self,
        request: &LaunchRequest,
        seen: &[ScanTarget],
    ) -> Result<(), AppError> {
        let Some(scan) = self.plan_launch(request)?.scan else { return Ok(()) };
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
    pub(super) fn confirm_targets(&self, targets: &[ScanTarget]) -> Result<(), AppError> {
        self.confirmed_targets().add(targets.iter().map(key).collect()).map_err(|error| {
            let message = format!("The confirmation could not be saved: {error}.");
            AppError::new(Code::Failed, message).hint("Make the state directory writable.")
        })
    }

    /// Fails if runs attack a target that the person did not confirm.
    pub(super) fn check_scan<'s>(
        &self,
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

    /// Returns which runs of the open folder are sensitive: those of suites of attacks, those that
    /// the mark of the output directory names, and results of scans of other tools.
    pub fn sensitive(&self) -> Result<SensitiveRuns, AppError> {
        let open = self.require_folder()?;
        let mut sensitive = SensitiveRuns::clone(&*self.sensitive_kinds()?);
        let mut known = Vec::new();
        for format in sensitive.formats {
            if open.ask(|index| query::has_layout(index, &format))? {
                known.push(format);
            }
        }
        sensitive.formats = known;
        Ok(sensitive)
    }

    /// Like [`App::sensitive`], with all formats that only hold such runs, also if no run is of them.
    /// Asked again while no mark, suite or run changes, it costs a few looks at folders.
    pub(super) fn sensitive_kinds(&self) -> Result<Arc<SensitiveRuns>, AppError> {
        self.require_folder()?.sensitive_kinds()
    }

    /// Marks the sensitive ones among rows.
    pub(super) fn mark_sensitive<'r>(
        &self,
        rows: impl IntoIterator<Item = &'r mut RunRow>,
    ) -> Result<(), AppError> {
        let sensitive = self.sensitive_kinds()?;
        for row in rows {
            row.sensitive = is_sensitive(&sensitive, row).then_some(true);
        }
        Ok(())
    }

    /// Marks the sensitive ones among rows of tasks.
    pub(super) fn mark_sensitive_tasks<'r>(
        &self,
        rows: impl IntoIterator<Item = &'r mut TaskRow>,
    ) -> Result<(), AppError> {
        let sensitive = self.sensitive_kinds()?;
        let titles = sensitive.formats.iter().filter_map(|name| registry::by_name(name));
        let titles: BTreeSet<&str> = titles.map(Format::title).collect();
        for row in rows {
            let is_recorded = row.recorded_by.as_deref().is_some_and(|by| titles.contains(by));
            let is_sensitive = is_recorded || is_sensitive_run(&sensitive, Some(&row.id), None);
            row.sensitive = is_sensitive.then_some(true);
        }
        Ok(())
    }

    /// Replaces the texts of sensitive runs among matches of a search. Returns their number.
    pub fn leave_out_snippets(&self, hits: &mut [Hit]) -> Result<u64, AppError> {
        let (open, sensitive) = (self.require_folder()?, self.sensitive_kinds()?);
        let mut left_out = 0;
        for hit in hits {
            let row = open.ask(|index| query::row_by_key(index, &hit.id))?;
            // A run that is gone by now is not known to be harmless.
            if row.is_none_or(|row| is_sensitive(&sensitive, &row)) {
                let piece = SnippetPiece { text: LEFT_OUT.to_owned(), hit: false };
                hit.snippet.pieces = vec![piece];
                left_out += 1;
            }
        }
        Ok(left_out)
    }

    /// Removes sensitive runs from a list, unless they are to be included. Returns a note.
    pub(super) fn leave_out_sensitive(
        &self,
        include: bool,
        runs: &mut Vec<ScoredRun>,
    ) -> Result<Option<String>, AppError> {
        if include {
            return Ok(None);
        }
        let sensitive = self.sensitive_kinds()?;
        let before = runs.len();
        runs.retain(|run| !is_sensitive_run(&sensitive, run.task.as_deref(), Some(&run.layout)));
        let left_out = before - runs.len();
        Ok((left_out > 0).then(|| {
            format!("Sensitive runs that were left out, and can be included: {left_out}.")
        }))
    }

    /// Replaces reasons, notes and texts of labels of sensitive runs, which quote what was said. Returns
    /// a note.
    pub(super) fn leave_out_reasons(
        &self,
        runs: &mut [ScoredRun],
        stored: &mut Stored,
        labels: &mut RunLabels,
    ) -> Result<Option<String>, AppError> {
        let (sensitive, care) = (self.sensitive_kinds()?, self.quote_care()?);
        let mut changed = 0_u64;
        let mut replace = |text: &mut Option<String>| {
            if let Some(text) = text.as_mut().filter(|text| !text.is_empty()) {
                LEFT_OUT.clone_into(text);
                changed += 1;
            }
        };
        let mut texts = false;
        for run in runs {
            if is_sensitive_run(&sensitive, run.task.as_deref(), Some(&run.layout)) {
                replace(&mut run.reason);
                replace(&mut run.score_reason);
                replace(&mut run.review_note);
                for verdict in stored.get_mut(&run.id).into_iter().flatten() {
                    replace(&mut verdict.reason);
                }
                let of_run = labels.of_runs.get_mut(&run.id);
                texts |= of_run.is_some_and(|of_run| care.leave_out_labels(of_run));
            }
        }
        Ok((changed > 0 || texts).then(|| {
            "Reasons and notes of sensitive runs were left out; they can be included.".to_owned()
        }))
    }
}

/// Replaces a text that quotes a sensitive run; an empty one stays empty.
pub(super) fn leave_out_quote(text: &mut String) {
    if !text.is_empty() {
        LEFT_OUT.clone_into(text);
    }
}

impl OpenFolder {
    /// Returns which runs of the folder are sensitive.
    pub(super) fn sensitive_kinds(&self) -> Result<Arc<SensitiveRuns>, AppError> {
        let suites = self.flow.shelf.tasks();
        let known = || self.sensitive.lock().unwrap_or_else(PoisonError::into_inner);
        let is_clear = self.bucket.as_ref().is_none_or(BucketCopy::marks_are_known);
        let marked = known().marked_tasks(&self.flow.roots.output_dir).filter(|_| is_clear);
        self.ask(|index| {
            known().runs(marked.as_ref(), &suites, index.moment(), |named| {
                let attacks = suites.all().filter(|task| is_attack(&task.suite));
                let mut tasks: BTreeSet<String> = attacks.map(|it| it.suite.id.clone()).collect();
                tasks.extend(named.iter().flat_map(|named| named.iter().cloned()));
                // A run that a person gave another task is as sensitive as before.
                let renamed = query::renamed_tasks(index)?;
                let of_sensitive = renamed.into_iter().filter(|(own, _)| tasks.contains(own));
                let now: Vec<String> = of_sensitive.map(|(_, now)| now).collect();
                tasks.extend(now);
                Ok(SensitiveRuns {
                    tasks: tasks.into_iter().collect(),
                    formats: FORMATS.iter().map(|format| (*format).to_owned()).collect(),
                    all: named.is_none(),
                })
            })
        })
    }
}

/// Returns true if the run belongs to these.
pub(super) fn is_sensitive(runs: &SensitiveRuns, row: &RunRow) -> bool {
    is_sensitive_run(runs, row.task.as_deref(), row.format.as_deref())
}

/// Like [`is_sensitive`], by task and format.
pub(super) fn is_sensitive_run(
    runs: &SensitiveRuns,
    task: Option<&str>,
    format: Option<&str>,
) -> bool {
    // Both are sorted.
    let is = |known: &[String], name: Option<&str>| {
        name.is_some_and(|name| known.binary_search_by(|known| known.as_str().cmp(name)).is_ok())
    };
    runs.all || is(&runs.tasks, task) || is(&runs.formats, format)
}

/// Returns true for a suite of attacks: one that says so, or in which a user attacks. The tag is
/// the author's word, and who attacks needs consent without it, too.
pub(super) fn is_attack(suite: &Task) -> bool {
    suite.tags.iter().any(|tag| tag == TAG) || suite.users().any(|user| user.attack.is_some())
}

fn describe_address(target: &ScanTarget) -> String {
    target.address.as_deref().map(|address| format!(" at {address}")).unwrap_or_default()
}

/// Returns what the plan does with a target.
fn describe_part(target: &ScanTarget) -> &'static str {
    if target.requests.is_some() { "is led by" } else { "attacks" }
}

/// Returns the error for a target that nobody confirmed.
pub(super) fn unconfirmed(target: &ScanTarget) -> AppError {
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
    fn a_user_that_attacks_makes_a_suite_of_attacks_without_the_tag() {
        let suite =
            |text: &str| touchstone_formats::suite::read(text, "t").unwrap().tasks.remove(0);
        let plain = "user: { goal: Sing. }\n";
        assert!(!is_attack(&suite(plain)));
        assert!(is_attack(&suite("tool_calling_prompt: Hi\ntags: [red-team]\n")));
        assert!(is_attack(&suite(&plain.replace("goal", "attack: crescendo, goal"))));
        let varied = "tool_calling_prompt: Hi\nvariations:\n- name: a\n- name: b\n  \
             parameters: { at: noon }\n  user: { attack: multi_turn, goal: Sing. }\n";
        assert!(is_attack(&suite(varied)));
    }

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
