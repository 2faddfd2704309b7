//! Compares the runs of the open folder with a baseline file, and writes that file.
use super::App;
use super::saving::keep_file;
use crate::baseline::{Baseline, MAX_BASELINE};
use crate::error::{AppError, Code};
use fs_err as fs;
use std::io::Read as _;
use std::path::Path;
use touchstone_api::{Gate, GateChange, GateChangeKind, GateGroup};
use touchstone_scoring::aggregate::{
    ChangeKind, Changes, Counted, GateRules, RowChange, UnpairedReason, changes,
};
use touchstone_store::query::ScoredRun;

/// Requirements of a gate, besides the thresholds of the baseline file.
#[derive(Debug, Clone, Copy, PartialEq, Default)]
pub struct GateOptions {
    /// Lowest allowed mean score of each system with each model.
    pub fail_under: Option<f64>,
    /// Number of new failures that each system may have.
    pub new_failures: usize,
    /// True to allow tasks without a score that had one.
    pub allow_missing: bool,
}

impl App {
    /// Compares the runs with a baseline file, with the filter and the scorer of the file.
    pub fn gate(&self, path: &Path, options: GateOptions) -> Result<Gate, AppError> {
        let baseline = read(path)?.ok_or_else(|| {
            AppError::new(Code::NotFound, format!("There is no baseline at {}.", path.display()))
                .hint("Write one from the runs of now: touchstone gate --update")
        })?;
        Self::check_filter(&baseline.filter)?;
        let runs = self.runs_to_gate(&baseline.filter, baseline.scorer.as_deref())?;
        let now: Vec<Counted<'_>> = runs.iter().map(ScoredRun::counted).collect();
        let before = baseline.counted();
        let rules = GateRules {
            fail_under: options.fail_under,
            thresholds: baseline.thresholds.clone(),
            new_failures: options.new_failures,
            allow_missing: options.allow_missing,
        };
        let groups: Vec<GateGroup> =
            changes(&before, &now).iter().map(|one| group(one, &rules)).collect();
        Ok(Gate {
            passed: groups.iter().all(|group| group.violations.is_empty()),
            filter: baseline.filter.clone(),
            baseline_runs: before.len() as u64,
            runs: now.len() as u64,
            groups,
        })
    }

    /// Writes the outcomes of runs as the baseline. Keeps the thresholds of an existing file.
    /// Returns the number of runs.
    pub fn update_baseline(
        &self,
        path: &Path,
        filter: &str,
        scorer: Option<&str>,
    ) -> Result<usize, AppError> {
        Self::check_filter(filter)?;
        self.refuse_among_results(path)?;
        let earlier = read(path)?;
        let runs = self.runs_to_gate(filter, scorer)?;
        if runs.is_empty() {
            return Err(AppError::new(Code::BadRequest, "No run matches the filter.")
                .hint("A baseline needs runs."));
        }
        let baseline = Baseline::new(&runs, filter, scorer, earlier.as_ref());
        keep_file(baseline.text(), path)?;
        Ok(runs.len())
    }

    fn runs_to_gate(&self, filter: &str, scorer: Option<&str>) -> Result<Vec<ScoredRun>, AppError> {
        let open = self.require_folder()?;
        let scorers = open.ask(|index| open.lists.scorers(index))?;
        super::reporting::known_scorer(scorer, &scorers)?;
        let (runs, _) = open.ask(|index| open.lists.scored(index, filter, scorer))?;
        Ok(runs)
    }
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
        remarks: one.remarks(),
        score: one.now.cell.score.map(|score| score.value),
        baseline_score: one.before.cell.score.map(|score| score.value),
        errors: one.now.cell.errors,
        pairs: one.pairing.pairs.len() as u64,
        difference: effect.map(|effect| effect.difference),
        low: interval.map(|interval| interval.low),
        high: interval.map(|interval| interval.high),
        p: effect.and_then(|effect| effect.p).map(|p| p.p),
        changes: one.rows.iter().map(change).collect(),
    }
}

fn change(row: &RowChange<'_>) -> GateChange {
    GateChange {
        task: row.key.task.map(str::to_owned),
        variation: row.key.variation,
        variation_name: row.key.name.map(str::to_owned),
        change: match row.kind {
            ChangeKind::Failed => GateChangeKind::Failed,
            ChangeKind::Fixed => GateChangeKind::Fixed,
            ChangeKind::Flaky => GateChangeKind::Flaky,
            ChangeKind::Added => GateChangeKind::Added,
            ChangeKind::Lost(UnpairedReason::Errors) => GateChangeKind::LostToErrors,
            ChangeKind::Lost(UnpairedReason::NotEnded) => GateChangeKind::NotEnded,
            ChangeKind::Lost(UnpairedReason::Missing) => GateChangeKind::Missing,
            ChangeKind::Lost(UnpairedReason::Unscored) => GateChangeKind::Unscored,
        },
    }
}
