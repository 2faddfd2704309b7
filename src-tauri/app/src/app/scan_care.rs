//! Care with attacks: whom a person confirmed that they may attack, and which runs are sensitive. Owns
//! the list of confirmed targets in the state directory, and the mark in the output directory.
use super::App;
use crate::error::{AppError, Code};
use crate::state_file;
use serde::{Deserialize, Serialize};
use std::collections::{BTreeMap, BTreeSet};
use std::io;
use std::path::{Path, PathBuf};
use touchstone_api::{LaunchRequest, RunRow, ScanPlan, ScanTarget, SensitiveRuns};
use touchstone_formats::system::System;
use touchstone_redteam::{Attack, Category, TAG};
use touchstone_runner::execute::Job;
use touchstone_runner::plan::Slot;
use touchstone_runner::sensitive_mark;
use touchstone_runner::setup::Setup;
use touchstone_runner::spec::Provider;
use touchstone_store::imported_verdicts::Stored;
use touchstone_store::query::{self, ScoredRun};

/// Stands for the texts of sensitive runs where they are left out.
pub(super) const LEFT_OUT: &str = "[sensitive text left out]";
/// Formats that only hold results of scans.
const FORMATS: [&str; 1] = ["azure_redteam"];
/// Number of folders above the output directory whose marks count, too.
const ABOVE: usize = 16;

/// Content of a file of the mark.
#[derive(Debug, Default, Serialize, Deserialize)]
struct Mark {
    /// Tasks whose runs are sensitive.
    tasks: BTreeSet<String>,
}

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
    };
    target.confirmed |= confirmed.contains(&key(&target));
    target
}

impl App {
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
        let (mut categories, mut attacks) = (BTreeSet::new(), BTreeSet::new());
        for slot in slots.filter(|slot| is_attack(&slot.task.tags)) {
            categories.extend(slot.task.tags.iter().find_map(|tag| Category::from_name(tag)));
            let variation = usize::try_from(slot.at.variation).ok();
            let variation = variation.and_then(|at| slot.task.variations.get(at));
            let name = variation.and_then(|it| it.name.as_deref());
            attacks.extend(name.and_then(|name| Attack::from_name(name).ok()));
            targets
                .entry((slot.at.system.to_string(), slot.at.model.clone()))
                .or_insert_with(|| target(setup, &slot.at.system, &slot.at.model, &confirmed))
                .attacks += 1;
        }
        let targets: Vec<ScanTarget> = targets.into_values().collect();
        (!targets.is_empty()).then(|| ScanPlan {
            attacks: targets.iter().map(|target| target.attacks).sum(),
            categories: categories.iter().map(|category| category.name().to_owned()).collect(),
            strategies: attacks.iter().map(Attack::name).collect(),
            targets,
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
        if let Some(other) = scan.targets.iter().find(|target| !seen.contains(&key(target))) {
            let at = describe_address(other);
            let message = format!("The plan changed: it now attacks {}{at}.", other.target);
            return Err(AppError::new(Code::BadRequest, message)
                .hint("Look at the plan again, then confirm it."));
        }
        self.confirmed_targets().add(scan.targets.iter().map(key).collect()).map_err(|error| {
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
        let targets = scan.map(|scan| scan.targets).unwrap_or_default();
        match targets.iter().find(|target| !target.confirmed) {
            None => Ok(()),
            Some(target) => Err(unconfirmed(target)),
        }
    }

    /// Returns which runs of the open folder are sensitive: those of suites of attacks, those that
    /// the mark of the output directory names, and results of scans of other tools.
    pub fn sensitive(&self) -> Result<SensitiveRuns, AppError> {
        let open = self.require_folder()?;
        let mut sensitive = self.sensitive_kinds()?;
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
    pub(super) fn sensitive_kinds(&self) -> Result<SensitiveRuns, AppError> {
        let open = self.require_folder()?;
        let marked = marked_tasks(&open.flow.roots.output_dir);
        let all = marked.is_err();
        let mut tasks = marked.unwrap_or_default();
        let suites = open.flow.shelf.tasks();
        let attacks = suites.all().filter(|task| is_attack(&task.suite.tags));
        tasks.extend(attacks.map(|task| task.suite.id.clone()));
        Ok(SensitiveRuns {
            tasks: tasks.into_iter().collect(),
            formats: FORMATS.iter().map(|format| (*format).to_owned()).collect(),
            all,
        })
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

    /// Replaces reasons and notes of sensitive runs, which quote what was said. Returns a note.
    pub(super) fn leave_out_reasons(
        &self,
        runs: &mut [ScoredRun],
        stored: &mut Stored,
    ) -> Result<Option<String>, AppError> {
        let sensitive = self.sensitive_kinds()?;
        let mut changed = 0_u64;
        let mut replace = |text: &mut Option<String>| {
            if let Some(text) = text.as_mut().filter(|text| !text.is_empty()) {
                LEFT_OUT.clone_into(text);
                changed += 1;
            }
        };
        for run in runs {
            if is_sensitive_run(&sensitive, run.task.as_deref(), Some(&run.layout)) {
                replace(&mut run.reason);
                replace(&mut run.score_reason);
                replace(&mut run.review_note);
                for verdict in stored.get_mut(&run.id).into_iter().flatten() {
                    replace(&mut verdict.reason);
                }
            }
        }
        Ok((changed > 0).then(|| {
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

fn is_attack(tags: &[String]) -> bool {
    tags.iter().any(|tag| tag == TAG)
}

fn describe_address(target: &ScanTarget) -> String {
    target.address.as_deref().map(|address| format!(" at {address}")).unwrap_or_default()
}

fn unconfirmed(target: &ScanTarget) -> AppError {
    let at = describe_address(target);
    let message = format!(
        "These runs attack {}{at}, and nobody confirmed that it may be attacked.",
        target.target
    );
    AppError::new(Code::BadRequest, message).hint(
        "Confirm it in the plan, or with --yes. Attack only systems that you own or may test.",
    )
}

/// Returns the tasks that the mark of a folder names. Fails if the mark cannot be read as a whole.
fn read_mark(folder: &Path) -> Result<BTreeSet<String>, String> {
    let mut tasks = BTreeSet::new();
    for bytes in sensitive_mark::read(folder).map_err(|error| error.to_string())? {
        let mark: Mark = serde_json::from_slice(&bytes).map_err(|error| format!("{error}."))?;
        tasks.extend(mark.tasks);
    }
    Ok(tasks)
}

/// Returns the tasks that are marked, by their names in this output directory: it may be a folder
/// of results that were marked as a whole.
fn marked_tasks(output_dir: &Path) -> Result<BTreeSet<String>, String> {
    let mut tasks = read_mark(output_dir)?;
    let mut below = PathBuf::new();
    let mut folders = output_dir.ancestors();
    let mut folder = folders.next();
    for above in folders.take(ABOVE) {
        let Some(name) = folder.and_then(Path::file_name) else { break };
        below = Path::new(name).join(below);
        folder = Some(above);
        // A folder above is not part of this one, and may be unreadable.
        let Ok(marked) = read_mark(above) else { continue };
        let inside = |task: &String| {
            let rest = Path::new(task).strip_prefix(&below).ok()?;
            rest.to_str().map(str::to_owned)
        };
        tasks.extend(marked.iter().filter_map(inside));
    }
    Ok(tasks)
}

/// Marks an output directory, in which runs of attacks begin, as sensitive.
pub(super) fn mark_attacks(output_dir: &Path, jobs: &[Job]) -> Result<(), AppError> {
    let attacks = jobs.iter().map(|job| &job.slot).filter(|slot| is_attack(&slot.task.tags));
    mark_tasks(output_dir, attacks.map(|slot| slot.at.task.clone()).collect())
}

/// Adds tasks to the mark. Nothing that is marked is ever removed.
fn mark_tasks(output_dir: &Path, mut tasks: BTreeSet<String>) -> Result<(), AppError> {
    if tasks.is_empty() {
        return Ok(());
    }
    let failed = |why: String| {
        AppError::new(Code::Failed, format!("The results could not be marked as sensitive: {why}"))
            .hint("Make `.touchstone/sensitive` of the output folder readable, or move it away.")
    };
    let known = read_mark(output_dir).map_err(failed)?;
    tasks.retain(|task| !known.contains(task));
    if tasks.is_empty() {
        return Ok(());
    }
    let bytes =
        serde_json::to_vec_pretty(&Mark { tasks }).map_err(|error| failed(format!("{error}.")))?;
    sensitive_mark::add(output_dir, &bytes).map_err(|error| failed(error.to_string()))
}

#[cfg(test)]
mod tests {
    use super::*;
    use fs_err as fs;

    fn tasks(names: &[&str]) -> BTreeSet<String> {
        names.iter().map(|name| (*name).to_owned()).collect()
    }

    #[test]
    fn launches_that_mark_one_folder_take_nothing_from_each_other() {
        let dir = tempfile::tempdir().unwrap();
        mark_tasks(dir.path(), tasks(&["red-team/a"])).unwrap();
        mark_tasks(dir.path(), tasks(&["red-team/a", "red-team/b"])).unwrap();
        assert_eq!(read_mark(dir.path()).unwrap(), tasks(&["red-team/a", "red-team/b"]));
        let files = fs::read_dir(dir.path().join(".touchstone/sensitive")).unwrap().count();
        assert_eq!(files, 2, "no file is written twice");
    }

    #[test]
    fn a_mark_that_cannot_be_read_is_never_replaced() {
        let dir = tempfile::tempdir().unwrap();
        mark_tasks(dir.path(), tasks(&["a"])).unwrap();
        let folder = dir.path().join(".touchstone/sensitive");
        fs::write(folder.join("damaged.json"), "{").unwrap();
        assert!(mark_tasks(dir.path(), tasks(&["b"])).is_err());
        assert_eq!(fs::read_to_string(folder.join("damaged.json")).unwrap(), "{");
        assert!(marked_tasks(dir.path()).is_err());
    }

    #[test]
    fn the_mark_of_a_folder_counts_in_the_folders_inside() {
        let dir = tempfile::tempdir().unwrap();
        mark_tasks(dir.path(), tasks(&["red-team/deep/a", "other/b"])).unwrap();
        let inside = dir.path().join("red-team/deep");
        fs::create_dir_all(&inside).unwrap();
        assert_eq!(marked_tasks(&inside).unwrap(), tasks(&["a"]));
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
