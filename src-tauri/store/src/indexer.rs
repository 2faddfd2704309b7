//! The thread that keeps the index in sync with the disk: it receives hints, lists files, parses,
//! writes and publishes changes, and fills the full-text index when idle. The decisions are made in
//! pure modules; this one defines their order.
use super::backlog::Backlog;
use super::imports;
use super::inbox::{Hints, Inbox, Woken};
use super::index::{Index, IndexError, Writer, is_damage};
use super::judgements::Marks;
use super::limits::Limits;
use super::live::Live;
use super::read_throttle::ReadThrottle;
use super::reconcile::{KnownFiles, Relations, Step, reconcile};
use super::rescore::RescoreProgress;
use super::reviews::Reviews;
use super::roots::{FileId, Root, Roots};
use super::scan::{self, Survey};
use super::settings::{ReadSettings, Settings, SettingsChange};
use super::state_counts::StateCounts;
use super::suites::SuiteLoader;
use super::watch::Watch;
use super::watching::{Identity, RootState};
use super::{background_tasks, load, segments};
use std::collections::{BTreeMap, BTreeSet, HashSet};
use std::panic::{AssertUnwindSafe, catch_unwind, resume_unwind};
use std::sync::Arc;
use std::time::{Duration, Instant};
use touchstone_api::{Phase, WatchMeans, Watching};
use touchstone_clock as clock;
use touchstone_formats::workspace::renames::Renames;

/// Delays before a new directory is listed again, for files that were created before it was
/// watched.
const AGAIN: [Duration; 2] = [Duration::from_millis(100), Duration::from_secs(1)];
/// Interval at which the workspace file and the existence of the roots are checked. The file
/// watcher does not report that a folder above them was renamed.
const GLANCE: Duration = Duration::from_secs(1);
/// Hint shown when roots have disappeared.
pub const LOST: &str = "The last known runs are still shown. Put the folder back, or open it where it is now: Touchstone checks every second.";
/// Delay after the index could not be written.
const AFTER_FAILURE: Duration = Duration::from_secs(2);
/// Interval at which the index is checked for existence; a user may delete the cache.
const BETWEEN_CHECKS: Duration = Duration::from_secs(1);
/// Delay after the index was rebuilt.
const AFTER_DAMAGE: Duration = Duration::from_millis(100);

/// Notification of stale data.
#[derive(Debug, Clone, PartialEq, Eq)]
pub enum Change {
    /// The status changed.
    Status,
    /// Files that tell of launches changed.
    Launches,
    /// These runs changed, or all of them when `ids` is empty.
    Runs {
        /// Generation of the index after the change.
        generation: u64,
        /// Ids of the changed runs.
        ids: Vec<String>,
    },
}

/// Callback that receives changes.
pub type Publish = Box<dyn Fn(Change) + Send>;

/// Scopes that cover every root completely. Without results, only the tasks are listed, if they
/// have a directory of their own.
fn everything(roots: &Roots, limits: &Limits) -> Vec<FileId> {
    let existing = roots.existing();
    let is_listed =
        |root: &Root| limits.results || *root == Root::Input || !existing.contains(&Root::Input);
    existing.iter().copied().filter(is_listed).map(|root| FileId::new(root, "")).collect()
}

/// State shared between the indexer and its readers.
#[derive(Clone)]
pub(crate) struct Shared {
    pub(crate) roots: Arc<Roots>,
    pub(crate) limits: Limits,
    pub(crate) index: Arc<Index>,
    pub(crate) live: Arc<Live>,
    pub(crate) inbox: Arc<Inbox>,
    pub(crate) watch: Arc<Watch>,
}

#[expect(clippy::struct_excessive_bools, reason = "each says one thing that is due or was seen")]
pub(crate) struct Indexer {
    pub(crate) shared: Shared,
    pub(crate) writer: Writer,
    pub(crate) publish: Publish,
    pub(crate) settings: ReadSettings,
    pub(crate) shelving: SuiteLoader,
    pub(crate) known: KnownFiles,
    pub(crate) backlog: Backlog,
    pub(crate) tally: StateCounts,
    pub(crate) chores: background_tasks::BackgroundTasks,
    pub(crate) reviews: Reviews,
    /// Model names and their true identities.
    pub(crate) marks: Arc<Marks>,
    /// Progress of rescoring rows after suites changed.
    pub(crate) renewing: Option<RescoreProgress>,
    /// Corrections to the names of imported runs; `None` until the workspace file could be read.
    pub(crate) renames: Option<Arc<Renames>>,
    /// Names of the segments whose claims were taken.
    pub(crate) taken_segments: HashSet<String>,
    /// Files to examine again, by due time.
    pub(crate) again: BTreeMap<Instant, BTreeSet<FileId>>,
    pub(crate) opened: Instant,
    next_scan: Instant,
    pub(crate) watching: Watching,
    pace: ReadThrottle,
    /// Identities of the watched directories. A different directory of the same name is not
    /// watched.
    pub(crate) watched: Vec<Option<Identity>>,
    /// The roots must be watched anew.
    pub(crate) rewatch: bool,
    /// More files exist than the limit allows to list.
    pub(crate) cut: bool,
    /// The index was rebuilt and the output folder was not listed since.
    pub(crate) unlisted: bool,
    next_check: Instant,
    /// The results folder does not exist yet because nothing was run.
    pub(crate) unborn: bool,
    /// State of the roots at the last check.
    pub(crate) standing: Vec<RootState>,
    /// Roots that could not be listed at the last attempt.
    pub(crate) missing: BTreeSet<Root>,
    /// Roots that were listed, with true if a file system was mounted on them. The index stores the
    /// latter.
    pub(crate) listed: BTreeMap<Root, bool>,
    /// Time of the next check for the existence of the roots.
    next_glance: Instant,
    /// No work is attempted before this time. Set after the index could not be written, because an
    /// immediate retry would only keep the machine busy.
    resting_until: Instant,
    /// Wall clock minus monotonic clock, in milliseconds; used to detect sleep.
    drift_ms: i64,
}

impl Indexer {
    pub(crate) fn new(
        shared: Shared,
        writer: Writer,
        mut shelving: SuiteLoader,
        mut settings: ReadSettings,
        publish: Publish,
    ) -> Self {
        let opened = Instant::now();
        // An unreadable workspace file says nothing about models. Those from before remain in the
        // index until the file can be read.
        let (marks, renames) = match settings() {
            Some(SettingsChange::Read(Settings { suites, marks, renames })) => {
                shelving.apply(suites);
                (Some(marks), Some(renames))
            }
            Some(SettingsChange::Unreadable) | None => (None, None),
        };
        Self {
            chores: background_tasks::BackgroundTasks::new(),
            reviews: Reviews::knowing(marks.is_some()),
            marks: Arc::new(marks.unwrap_or_default()),
            renewing: None,
            renames,
            shared,
            writer,
            publish,
            settings,
            shelving,
            known: KnownFiles::new(),
            backlog: Backlog::default(),
            tally: StateCounts::default(),
            taken_segments: HashSet::new(),
            again: BTreeMap::new(),
            opened,
            next_scan: opened,
            watching: Watching { by: WatchMeans::Off, notice: None },
            pace: ReadThrottle::default(),
            watched: Vec::new(),
            rewatch: false,
            cut: false,
            unlisted: false,
            next_check: opened + BETWEEN_CHECKS,
            unborn: false,
            standing: Vec::new(),
            missing: BTreeSet::new(),
            listed: BTreeMap::new(),
            next_glance: opened,
            resting_until: opened,
            drift_ms: clock::now_ms(),
        }
    }

    /// Runs until the folder is closed. A panic ends the indexing, not the program, and is reported
    /// as a failure.
    pub(crate) fn run(mut self) {
        let ended = catch_unwind(AssertUnwindSafe(|| self.run_loop()));
        self.shared.index.release();
        if ended.is_err() {
            let hint = "The last known runs are still shown. Open the folder again to follow it, and please report this.";
            return self.fail(
                "Touchstone stopped following this folder because of an internal error.".to_owned(),
                hint,
            );
        }
        self.writer.close();
    }

    fn run_loop(&mut self) {
        self.begin();
        loop {
            match self.shared.inbox.wait(self.next_moment()) {
                Woken::Stop => break,
                Woken::Hints(mut hints) => {
                    hints.rescan |= self.woke_from_sleep();
                    self.follow(&hints);
                }
                Woken::Due => self.due(),
            }
            self.check_index();
        }
    }

    /// Loads the index and lists all files in parallel, because neither needs the other before the
    /// comparison. With an existing index, both first wait until the first page was served, or for
    /// the calm period: users want to see a known folder at once, and the machine may have few
    /// processors.
    fn begin(&mut self) {
        let Shared { roots, limits, live, .. } = self.shared.clone();
        if !self.writer.fresh {
            live.wait(|now| now.stirred, limits.calm);
            (self.opened, self.drift_ms) = (Instant::now(), clock::now_ms());
        }
        let scopes = everything(&roots, &limits);
        let survey = std::thread::scope(|threads| {
            let listing = threads.spawn(|| scan::survey(&roots, &limits, &scopes));
            if let Err(error) = self.load() {
                self.recover(&error);
            }
            listing.join().unwrap_or_else(|panic| resume_unwind(panic))
        });
        self.next_scan = Instant::now() + self.between_scans();
        self.compare(&scopes, survey, false);
        // A few changed files are read faster than all claims.
        if self.writer.fresh || self.backlog.len() >= segments::MANY {
            self.take_claims();
        }
        self.next_scan = self.next_scan.max(Instant::now() + self.opened.elapsed() * 10);
        self.work();
    }

    /// Interval between two full listings.
    fn between_scans(&self) -> Duration {
        let limits = &self.shared.limits;
        if self.watching.by == WatchMeans::Polling { limits.poll } else { limits.rescan }
    }

    /// Loads the state from the index, or rebuilds it when it is damaged or was made with other
    /// model settings.
    fn load(&mut self) -> Result<(), IndexError> {
        let models = load::models_hash(&self.shared.roots.models);
        let usable = self.writer.fresh
            || (self.writer.is_sound() && load::models(&self.writer.sql)? == models);
        if !usable {
            tracing::info!("the index is damaged or has other settings, and is rebuilt");
            self.renew()?;
        }
        load::put_models(&self.writer.sql, models)?;
        self.known = load::known_files(&self.writer.sql)?;
        self.tally = load::count_states(&self.writer.sql)?;
        for root in load::mounted(&self.writer.sql)? {
            self.listed.entry(root).or_insert(true);
        }
        self.chores = background_tasks::BackgroundTasks::new();
        self.heed_marks()?;
        self.heed_renames()?;
        let generation = load::generation(&self.writer.sql)?;
        self.shared.live.change(|standing| standing.generation = generation);
        self.tell_status();
        Ok(())
    }

    fn renew(&mut self) -> Result<(), IndexError> {
        self.writer = self.shared.index.renew()?;
        self.known.clear();
        self.backlog.clear();
        self.again.clear();
        self.taken_segments.clear();
        self.unlisted = true;
        self.tally = StateCounts::default();
        let tally = self.tally;
        self.shared.live.change(|standing| {
            standing.phase = Phase::Indexing { done: 0, total: 0 };
            standing.renewals += 1;
            tally.fill(&mut standing.counts);
            standing.search = tally.search();
        });
        Ok(())
    }

    /// Rebuilds the index when its files were removed, replaced or changed by another program.
    fn check_index(&mut self) {
        if Instant::now() < self.next_check {
            self.writer.record_own_commits();
            return;
        }
        self.next_check = Instant::now() + BETWEEN_CHECKS;
        if self.writer.is_changed_by_others() || !self.shared.index.is_there() {
            self.recover(&IndexError::Gone);
        }
    }

    /// Time of the next work that is due without a hint.
    fn next_moment(&self) -> Instant {
        if Instant::now() < self.resting_until {
            return self.resting_until;
        }
        let settled = self.renewing.is_none() && self.reviews.is_settled();
        if !self.backlog.is_empty() || !settled || self.chores.are_due() {
            return Instant::now();
        }
        let again = self.again.keys().next().copied();
        let next = self.next_scan.min(self.next_check).min(self.next_glance);
        again.map_or(next, |at| at.min(next))
    }

    /// Handles whatever is due: a full listing, a second look at files, or waiting work.
    fn due(&mut self) {
        let now = Instant::now();
        if now >= self.next_glance {
            self.follow_settings();
        }
        if now >= self.next_scan || self.woke_from_sleep() || self.roots_changed(now) {
            return self.follow(&Hints { rescan: true, ..Hints::default() });
        }
        let mut scopes = BTreeSet::new();
        while let Some(entry) = self.again.first_entry()
            && *entry.key() <= now
        {
            scopes.extend(entry.remove());
        }
        if !scopes.is_empty() {
            self.survey(&scopes.into_iter().collect::<Vec<_>>(), true);
        }
        self.work();
    }

    /// Handles hints and lists the paths they name.
    fn follow(&mut self, hints: &Hints) {
        if hints.launches {
            (self.publish)(Change::Launches);
        }
        if hints.is_only_launches() {
            return;
        }
        for (kept, asker) in &hints.kept {
            let done = self.keep_scores(kept);
            // The receiver may have given up waiting.
            let _ = asker.send(done.is_ok());
            if let Err(error) = done {
                self.recover(&error);
            }
        }
        if let Some(watching) = &hints.watching {
            self.watching = watching.clone();
            self.tell_watching();
        }
        self.rewatch |= hints.rewatch;
        if hints.doubt && self.shared.index.is_doubted() {
            return self.recover(&IndexError::Gone);
        }
        let roots = Arc::clone(&self.shared.roots);
        let located = |paths: &std::collections::HashSet<std::path::PathBuf>| -> BTreeSet<FileId> {
            paths.iter().filter_map(|path| roots.locate(path)).collect()
        };
        let new_dirs = located(&hints.new_dirs);
        // Most of these are files that were moved into place.
        let dirs: Vec<&FileId> = new_dirs
            .iter()
            .filter(|dir| roots.path(dir).is_some_and(|path| path.is_dir()))
            .collect();
        for delay in AGAIN.into_iter().filter(|_| !dirs.is_empty()) {
            self.again
                .entry(Instant::now() + delay)
                .or_default()
                .extend(dirs.iter().copied().cloned());
        }
        let unread = self.unsettle_claims(&hints.unread);
        let touched = located(&hints.touched).into_iter().chain(new_dirs);
        let mut scopes: Vec<FileId> = touched.chain(unread).collect();
        if hints.rescan {
            scopes = everything(&roots, &self.shared.limits);
            self.next_scan = Instant::now() + self.between_scans();
        }
        let started = Instant::now();
        let first = matches!(self.shared.live.now().phase, Phase::Indexing { .. });
        self.survey(&scopes, !(hints.rescan && first));
        if hints.rescan && self.backlog.len() >= segments::MANY {
            self.take_claims();
        }
        // Slow listings are done less often.
        self.next_scan = self.next_scan.max(Instant::now() + started.elapsed() * 10);
        self.work();
    }

    /// Lists the scopes and compares the result with the index.
    fn survey(&mut self, scopes: &[FileId], live: bool) {
        let survey = scan::survey(&self.shared.roots, &self.shared.limits, scopes);
        self.compare(scopes, survey, live);
    }

    /// Compares a listing of the scopes with the known files and queues the required steps.
    fn compare(&mut self, scopes: &[FileId], mut survey: Survey, live: bool) {
        self.reviews.note(scopes);
        self.heed_unmounted(scopes, &mut survey);
        self.heed_unborn(scopes, &mut survey);
        self.note_missing(scopes, &survey);
        let limits = &self.shared.limits;
        let mut scopes: Vec<FileId> =
            scopes.iter().filter(|scope| !scan::is_hidden(scope)).cloned().collect();
        scopes.retain(|scope| !survey.failed.contains_key(&scope.root));
        if let Some(reason) = self.lost_roots(&survey.failed) {
            self.next_scan = self.next_scan.min(Instant::now() + limits.poll);
            self.fail(reason, LOST);
        }
        if survey.cut {
            self.keep_unlisted(&scopes, &mut survey);
        }
        let whole = scopes.iter().any(|scope| scope.path.is_empty());
        if self.cut != survey.cut && (survey.cut || whole) {
            self.cut = survey.cut;
            self.tell_watching();
        }
        self.shelving.look_beside(&self.shared.roots, &scopes);
        let owner = |file: &FileId| self.owner_of(file, survey.found.contains_key(file));
        let relations = Relations { owner: &owner, part_paths: &imports::part_paths };
        let steps = reconcile(&self.known, &scopes, &survey.found, &relations);
        let is_whole = survey.failed.is_empty();
        // A large folder has a million files, which are in the steps as well.
        drop(survey);
        let steps = self.shelve(steps);
        let mut steps = self.hold_back(steps);
        steps.retain(|step| !self.waits_unchanged(step));
        self.backlog.add(steps, live);
        self.count_files(&scopes, is_whole);
        if scopes
            .iter()
            .any(|scope| scope.path.is_empty() && scope.root == super::roots::Root::Output)
        {
            self.unlisted = false;
        }
        if whole && is_whole {
            self.watch_new_roots();
        }
    }

    /// Returns the file whose run a file is a part of. Of one that is gone, the index may know it.
    fn owner_of(&self, file: &FileId, is_there: bool) -> Option<FileId> {
        // Without known files, everything is read anyway.
        if self.known.is_empty() {
            return None;
        }
        let owner = imports::owner(&self.shared.roots, file);
        if owner.is_some() || is_there {
            return owner;
        }
        let known = imports::indexed_owner(&self.writer.sql, file);
        known.inspect_err(|error| tracing::warn!(%error, "a run was not looked up")).ok().flatten()
    }

    /// Postpones large files that keep changing; they are read again later.
    fn hold_back(&mut self, steps: Vec<Step>) -> Vec<Step> {
        let now = Instant::now();
        self.pace.tidy(now);
        let mut steps = steps;
        steps.retain(|step| {
            let Step::Read(unit) = step else { return true };
            let Some(at) = self.pace.hold(unit, now) else { return true };
            self.again.entry(at).or_default().extend(unit.files.keys().cloned());
            false
        });
        steps
    }

    /// Keeps known files that were not listed because of the limit but still exist.
    fn keep_unlisted(&mut self, scopes: &[FileId], survey: &mut Survey) {
        for (file, mark) in &self.known {
            let inside = scopes.iter().any(|scope| scope.holds(file));
            let there =
                || self.shared.roots.path(file).is_some_and(|path| path.symlink_metadata().is_ok());
            if inside && !mark.odd && !survey.found.contains_key(file) && there() {
                survey
                    .found
                    .insert(file.clone(), super::scan::Found { stamp: mark.stamp, odd: None });
            }
        }
    }

    fn count_files(&mut self, scopes: &[FileId], whole: bool) {
        if !scopes.iter().any(|scope| scope.path.is_empty()) {
            return;
        }
        let (opened, waiting) = (self.opened, self.backlog.len() as u64);
        self.shared.live.change(|standing| {
            if standing.took.scan.is_none() {
                standing.took.scan = Some(opened.elapsed());
            }
            if whole && matches!(standing.phase, Phase::Failed { .. }) {
                standing.phase = Phase::Indexing { done: 0, total: waiting };
            }
            if let Phase::Indexing { total, done } = &mut standing.phase {
                *total = *done + waiting;
            }
        });
    }

    /// Returns true when a check of the roots is due and one of them appeared, disappeared or was
    /// replaced since the last check.
    fn roots_changed(&mut self, now: Instant) -> bool {
        if now < self.next_glance {
            return false;
        }
        self.next_glance = now + GLANCE;
        let states = self.root_states();
        let before = std::mem::replace(&mut self.standing, states);
        // A root that disappeared and returned between two checks looks unchanged, but changes in
        // it were missed.
        self.missing_is_back() || (!before.is_empty() && before != self.standing)
    }

    /// Returns true when the wall clock moved by more than five seconds against the monotonic
    /// clock: the machine slept, or the clock was set.
    fn woke_from_sleep(&mut self) -> bool {
        let steady = i64::try_from(self.opened.elapsed().as_millis()).unwrap_or(i64::MAX);
        let drift = clock::now_ms() - steady;
        let jumped = (drift - self.drift_ms).abs() > 5_000;
        self.drift_ms = drift;
        jumped
    }

    pub(crate) fn fail(&mut self, reason: String, hint: &str) {
        let phase = Phase::Failed { reason, hint: hint.to_owned() };
        self.shared.live.change(|standing| standing.phase = phase);
        self.tell_status();
    }

    /// Handles an index error: rebuilds the index when it is damaged, otherwise reloads it, and
    /// schedules a retry.
    pub(crate) fn recover(&mut self, error: &IndexError) {
        tracing::warn!(%error, "the index could not be written");
        let mended =
            if is_damage(error) { self.renew().and_then(|()| self.load()) } else { self.load() };
        self.backlog.clear();
        if let Some(renewing) = &mut self.renewing {
            renewing.again();
        }
        if let Err(error) = mended {
            let hint = "Free some space in the cache folder, or run `touchstone doctor`. Touchstone retries every few seconds.";
            self.fail(format!("The index could not be written: {error}."), hint);
            self.resting_until = Instant::now() + AFTER_FAILURE;
        }
        let wait = if is_damage(error) { AFTER_DAMAGE } else { AFTER_FAILURE };
        self.next_scan = Instant::now() + wait;
    }

    pub(crate) fn tell_status(&self) {
        (self.publish)(Change::Status);
    }
}
