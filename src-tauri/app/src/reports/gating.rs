//! Compares the runs of the open folder with a baseline file, and writes that file.
use super::baseline::{Baseline, MAX_BASELINE};
use super::{ReportActions, gate_markdown};
use crate::error::{AppError, Code};
use crate::saving::NewFile;
use crate::stats::set_changes::{Side, SideRuns, gate_change, set_changes};
use fs_err as fs;
use std::collections::{BTreeMap, BTreeSet};
use std::io::Read as _;
use std::path::{Path, PathBuf};
use touchstone_api::{
    BaselineSaved, BaselineView, ChangesSide, Gate, GateGroup, GateTask, SetChanges,
};
use touchstone_scoring::aggregate::{Changes, Group, RowKey, changes, general_violations};
use touchstone_store::query::{PlaceOf, ScoredRun};

pub use touchstone_scoring::aggregate::GateRules;

/// Name of the baseline file.
pub const BASELINE: &str = "touchstone-baseline.json";

/// Baseline that was written.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct BaselineUpdate {
    /// Number of runs.
    pub runs: u64,
    /// Number of runs with a score.
    pub scored: u64,
    /// Filter that chose them.
    pub filter: String,
}

impl ReportActions<'_> {
    /// Returns the filter and the scorer of a baseline file.
    pub fn baseline_selection(path: &Path) -> Result<(String, Option<String>), AppError> {
        let baseline = existing(path)?;
        Ok((baseline.filter, baseline.scorer))
    }

    /// Compares the runs with a baseline file, with its filter, its scorer and its thresholds.
    pub fn gate(self, path: &Path, rules: &GateRules) -> Result<Gate, AppError> {
        let baseline = existing(path)?;
        self.app.runs().check_filter_of_folder(&baseline.filter)?;
        Ok(self.compare_with(&baseline, path, rules)?.0)
    }

    /// Compares the runs with the baseline file of the folder, if there is one, by the default
    /// rules.
    pub fn baseline(self) -> Result<BaselineView, AppError> {
        let path = self.baseline_path()?;
        let view = BaselineView {
            path: path.display().to_string(),
            exists: true,
            gate: None,
            markdown: String::new(),
            changes: None,
            trouble: None,
        };
        let compared = read(&path).and_then(|baseline| {
            let Some(baseline) = baseline else { return Ok(None) };
            self.app.runs().check_filter_of_folder(&baseline.filter)?;
            self.compare_with(&baseline, &path, &GateRules::default()).map(Some)
        });
        Ok(match compared {
            Ok(None) => BaselineView { exists: false, ..view },
            Ok(Some((gate, changes))) => BaselineView {
                markdown: gate_markdown(&gate),
                gate: Some(gate),
                changes: Some(changes),
                ..view
            },
            Err(error) => {
                let hint = error.hint.map_or(String::new(), |hint| format!(" {hint}"));
                BaselineView { trouble: Some(error.message + &hint), ..view }
            }
        })
    }

    /// Writes the outcomes of runs to the baseline file of the folder. Fails for an existing file
    /// unless it may be replaced.
    pub fn save_baseline(
        self,
        filter: Option<&str>,
        scorer: Option<&str>,
        replace: bool,
    ) -> Result<BaselineSaved, AppError> {
        self.app.require_folder()?.check_writable()?;
        let path = self.baseline_path()?;
        self.app.folder().refuse_among_results(&path)?;
        let update = self.write_baseline(&path, (filter, scorer), replace)?;
        Ok(BaselineSaved {
            path: path.display().to_string(),
            runs: update.runs,
            scored: update.scored,
            filter: update.filter,
        })
    }

    /// Returns the path of the baseline file: in the folder, or beside it if all of it is read as
    /// runs. That of a bucket can only be read.
    pub fn baseline_path(self) -> Result<PathBuf, AppError> {
        let open = self.app.require_folder()?;
        let folder = &open.flow.roots.folder;
        if open.bucket.is_some() {
            return Ok(folder.join(BASELINE));
        }
        let beside = open.flow.roots.output_dir.parent();
        let paths = [Some(folder.as_path()), beside].into_iter().flatten();
        let mut paths = paths.map(|folder| folder.join(BASELINE));
        let is_free = |path: &PathBuf| self.app.folder().refuse_among_results(path).is_ok();
        Ok(paths.find(is_free).unwrap_or_else(|| folder.join(BASELINE)))
    }

    fn compare_with(
        self,
        baseline: &Baseline,
        path: &Path,
        rules: &GateRules,
    ) -> Result<(Gate, SetChanges), AppError> {
        let scorer = baseline.scorer.as_deref();
        let runs = self.app.stats().runs_to_count(&baseline.filter, scorer, PlaceOf::Folder)?.runs;
        let now = runs.all();
        let before = baseline.counted();
        let rules = GateRules { thresholds: baseline.thresholds.clone(), ..rules.clone() };
        let changes = changes(&before, &now);
        let violations = general_violations(&changes, &rules);
        let groups: Vec<GateGroup> = changes.iter().map(|one| group(one, &rules)).collect();
        let side = |name: &str, filter: Option<&str>, runs: usize| ChangesSide {
            name: name.to_owned(),
            filter: filter.map(str::to_owned),
            runs: runs as u64,
            in_both: 0,
        };
        let all = SideRuns { all: &runs, places: None };
        let set_changes = set_changes(
            &changes,
            &self.app.require_folder()?.flow.shelf.tasks(),
            &rules,
            Side { about: side(BASELINE, None, before.len()), runs: None },
            Side { about: side("now", Some(&baseline.filter), now.len()), runs: Some(all) },
        );
        let gate = Gate {
            passed: violations.is_empty() && groups.iter().all(|it| it.violations.is_empty()),
            violations,
            baseline: path.display().to_string(),
            filter: baseline.filter.clone(),
            scorer: baseline.scorer.clone(),
            baseline_runs: before.len() as u64,
            runs: now.len() as u64,
            groups,
        };
        Ok((gate, set_changes))
    }

    /// Writes the outcomes of runs as the baseline. An existing file keeps its thresholds, and its
    /// filter and scorer unless others are given. Returns the number of runs, and how many of them
    /// have a score.
    pub fn update_baseline(
        self,
        path: &Path,
        filter: Option<&str>,
        scorer: Option<&str>,
    ) -> Result<BaselineUpdate, AppError> {
        self.write_baseline(path, (filter, scorer), true)
    }

    fn write_baseline(
        self,
        path: &Path,
        (filter, scorer): (Option<&str>, Option<&str>),
        replace: bool,
    ) -> Result<BaselineUpdate, AppError> {
        // A link keeps leading to the file.
        let path = &fs::canonicalize(path).unwrap_or_else(|_| path.to_owned());
        self.app.folder().refuse_among_results(path).map_err(|error| {
            error.hint("Name another place: --baseline ../touchstone-baseline.json")
        })?;
        let earlier = read(path).map_err(|error| {
            error.hint("Correct the file, or delete it: its thresholds are lost then.")
        })?;
        let filter = filter.or(earlier.as_ref().map(|it| it.filter.as_str())).unwrap_or_default();
        let scorer = scorer.or(earlier.as_ref().and_then(|it| it.scorer.as_deref()));
        self.app.runs().check_filter_of_folder(filter)?;
        let runs = self.runs_to_gate(filter, scorer)?;
        let with_score = runs.iter().filter(|run| run.counted().score().is_some()).count();
        if with_score == 0 {
            return Err(AppError::new(Code::BadRequest, "No run with a score matches.")
                .hint("Score the runs first, or choose others with --filter: touchstone score"));
        }
        let text = Baseline::new(&runs, filter, scorer, earlier.as_ref()).text();
        if text.len() as u64 > MAX_BASELINE {
            return Err(AppError::new(Code::BadRequest, "These are too many runs for a baseline.")
                .hint("Choose fewer with --filter."));
        }
        let mut file = NewFile::create(path)?;
        file.write(text.as_bytes())?;
        if replace {
            file.keep()?;
        } else if !file.keep_if_free()? {
            let message = format!("There is a baseline at {} already.", path.display());
            return Err(AppError::new(Code::BadRequest, message)
                .hint("Replace it, or keep it and compare with it."));
        }
        Ok(BaselineUpdate {
            runs: runs.len() as u64,
            scored: with_score as u64,
            filter: filter.to_owned(),
        })
    }

    fn runs_to_gate(self, filter: &str, scorer: Option<&str>) -> Result<Vec<ScoredRun>, AppError> {
        let open = self.app.require_folder()?;
        crate::stats::known_scorers(&open, scorer)?;
        let (runs, _) = open.ask(|index| open.lists.scored(index, filter, scorer))?;
        Ok(runs)
    }
}

/// Reads a baseline file that has to be there.
fn existing(path: &Path) -> Result<Baseline, AppError> {
    read(path)?.ok_or_else(|| {
        AppError::new(Code::NotFound, format!("There is no baseline at {}.", path.display()))
            .hint("Write one: touchstone gate --update")
    })
}

/// Reads a baseline file; `None` if there is no file.
fn read(path: &Path) -> Result<Option<Baseline>, AppError> {
    let failed = |why: std::io::Error| {
        AppError::new(Code::NotFound, format!("{} could not be read: {why}.", path.display()))
    };
    let file = match fs::File::open(path) {
        Ok(file) => file,
        Err(why) if why.kind() == std::io::ErrorKind::NotFound => return Ok(None),
        Err(why) => return Err(failed(why)),
    };
    if !file.metadata().map_err(failed)?.is_file() {
        let message = format!("{} is not a regular file.", path.display());
        return Err(AppError::new(Code::BadRequest, message));
    }
    let mut text = String::new();
    let length = file.take(MAX_BASELINE + 1).read_to_string(&mut text).map_err(failed)?;
    if length as u64 > MAX_BASELINE {
        let message = format!("{} is too large for a baseline.", path.display());
        return Err(AppError::new(Code::BadRequest, message)
            .hint("Choose fewer runs with --filter, and write it again with --update."));
    }
    Baseline::parse(&text).map(Some)
}

fn group(one: &Changes<'_>, rules: &GateRules) -> GateGroup {
    let effect = one.pairing.score.as_ref();
    let interval = effect.and_then(|effect| effect.interval);
    GateGroup {
        name: one.column.label(),
        violations: one.violations(rules),
        remarks: one.remarks(rules),
        runs: one.now.summary.cell.runs,
        errors: one.now.summary.cell.errors,
        mean: one.now.summary.cell.score.map(|score| score.value),
        pairs: one.pairing.pairs.len() as u64,
        score: effect.map(|effect| effect.value),
        baseline_score: effect.map(|effect| effect.baseline),
        difference: effect.map(|effect| effect.difference),
        low: interval.map(|interval| interval.low),
        high: interval.map(|interval| interval.high),
        p: effect.and_then(|effect| effect.p).map(|p| p.p),
        tasks: tasks(one, rules),
    }
}

fn row_scores<'a>(group: &Group<'a>) -> BTreeMap<RowKey<'a>, Option<f64>> {
    group.rows.iter().map(|row| (row.key, row.score)).collect()
}

fn tasks(one: &Changes<'_>, rules: &GateRules) -> Vec<GateTask> {
    let (now, before) = (row_scores(&one.now), row_scores(&one.before));
    let keys: BTreeSet<&RowKey<'_>> = now.keys().chain(before.keys()).collect();
    let task = |key: &RowKey<'_>| {
        let kinds = || one.rows.iter().filter(|row| row.key == *key).map(|row| row.kind);
        GateTask {
            task: key.task.map(str::to_owned),
            variation: key.variation,
            variation_name: key.name.map(str::to_owned),
            score: now.get(key).copied().flatten(),
            baseline_score: before.get(key).copied().flatten(),
            violates: kinds().any(|kind| one.is_violation(kind, rules)),
            changes: kinds().map(gate_change).collect(),
        }
    };
    keys.into_iter().map(task).collect()
}
