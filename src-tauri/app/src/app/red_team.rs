//! Attacks on systems: suites that carry them out, and the scorecard of their runs.
use super::{App, NewFile};
use crate::error::{AppError, Code};
use fs_err as fs;
use std::collections::HashMap;
use std::path::{Path, PathBuf};
use touchstone_api::{AttackGroup, AttackRate, AttackScorecard, AttackTarget, RunState};
use touchstone_formats::json;
use touchstone_redteam::{
    Attack, AttackResult, AttackRun, Category, Objective, Rate, Scorecard, Slots, Strategy, TAG,
    azure_result, parse_attacks, read_objectives, scorecard, starter_objectives, suites,
};
use touchstone_store::query::ScoredRun;

pub use touchstone_redteam::SuiteOptions as AttackSuiteOptions;

/// Maximum size of a file of objectives.
const MOST_BYTES: u64 = 16 << 20;

/// An attack strategy, for lists.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct StrategyRow {
    /// Name.
    pub name: &'static str,
    /// Description of at most one line.
    pub about: &'static str,
}

/// Returns all strategies.
pub fn strategies() -> Vec<StrategyRow> {
    Strategy::ALL
        .into_iter()
        .map(|strategy| StrategyRow { name: strategy.name(), about: strategy.about() })
        .collect()
}

/// Disguises a text with each of the named attacks. Returns their names and the texts.
pub fn disguise(
    text: &str,
    names: &[String],
    slots: &Slots,
) -> Result<Vec<(String, String)>, AppError> {
    let mut texts = Vec::new();
    for name in names {
        let attack = Attack::from_name(name).map_err(bad)?;
        let text =
            attack.convert(text, slots).ok_or_else(|| bad(attack.describe_missing_text()))?;
        texts.push((attack.name(), text));
    }
    Ok(texts)
}

/// Texts of the user for `jailbreak` and `suffix_append`.
pub fn slots(prefix: Option<&str>, suffix: Option<&str>) -> Slots {
    Slots { prefix: prefix.map(str::to_owned), suffix: suffix.map(str::to_owned) }
}

/// Parses names of attacks. The baseline is always among them.
pub fn attacks(names: &[String]) -> Result<Vec<Attack>, AppError> {
    parse_attacks(names.iter().map(String::as_str)).map_err(bad)
}

/// Parses the name of a category.
pub fn category(name: &str) -> Result<Category, AppError> {
    Category::from_name(name).ok_or_else(|| {
        let names: Vec<&str> = Category::ALL.iter().map(|category| category.name()).collect();
        bad(format!("There is no category `{name}`. Choose among: {}.", names.join(", ")))
    })
}

/// Reads the objectives of a file, or those that come with the product. Also returns a sentence for
/// each entry that was left out.
pub fn objectives(file: Option<&Path>) -> Result<(Vec<Objective>, Vec<String>), AppError> {
    let Some(path) = file else { return Ok((starter_objectives(), Vec::new())) };
    let unreadable = |why: String| {
        AppError::new(Code::BadRequest, format!("{} cannot be read: {why}", path.display()))
    };
    let size = fs::metadata(path).map_err(|error| unreadable(error.to_string()))?.len();
    if size > MOST_BYTES {
        return Err(unreadable(format!("it is larger than {} MB.", MOST_BYTES >> 20)));
    }
    let text = fs::read_to_string(path).map_err(|error| unreadable(error.to_string()))?;
    let file = read_objectives(&text).map_err(|error| unreadable(error.to_string()))?;
    Ok((file.objectives, file.left_out))
}

/// Suites that were written.
#[derive(Debug, Clone, PartialEq, Eq, Default)]
pub struct WrittenSuites {
    /// Files, in order.
    pub files: Vec<PathBuf>,
    /// Number of runs of one system with one model.
    pub attacks: usize,
}

/// Writes a suite for each objective into a folder, which is created. Replaces no file.
pub fn write_suites(
    folder: &Path,
    objectives: &[Objective],
    options: &AttackSuiteOptions,
) -> Result<WrittenSuites, AppError> {
    let suites = suites(objectives, options).map_err(bad)?;
    let taken = |path: &Path| {
        AppError::new(Code::BadRequest, format!("{} exists already.", path.display()))
            .hint("Choose another folder. Suites are never replaced, as runs refer to them.")
    };
    let path = |name: &str| folder.join(name);
    // Nothing is written if one name is taken.
    if let Some(suite) = suites.iter().find(|suite| path(&suite.file_name).exists()) {
        return Err(taken(&path(&suite.file_name)));
    }
    fs::create_dir_all(folder).map_err(|error| failed(&error.to_string()))?;
    let mut written = WrittenSuites::default();
    for suite in suites {
        let path = path(&suite.file_name);
        let mut file = NewFile::create(&path)?;
        file.write(suite.yaml.as_bytes())?;
        if !file.keep_if_free()? {
            return Err(taken(&path));
        }
        written.attacks += suite.variations;
        written.files.push(path);
    }
    Ok(written)
}

impl App {
    /// Returns how often attacks succeeded, over the runs of a filter.
    pub fn attack_scorecard(&self, filter: &str) -> Result<AttackScorecard, AppError> {
        self.with_attacks(filter, |attacks, other| view(&scorecard(attacks), other))
    }

    /// Returns the scorecard in the shape of azure-ai-evaluation's result file, as JSON.
    pub fn azure_scorecard(&self, filter: &str) -> Result<String, AppError> {
        self.with_attacks(filter, |attacks, _| json::write(&azure_result(attacks), true))
    }

    /// Passes the attacks among the runs of a filter to a function, with the number of other runs.
    fn with_attacks<T>(
        &self,
        filter: &str,
        make: impl FnOnce(&[AttackRun<'_>], u64) -> T,
    ) -> Result<T, AppError> {
        self.check_filter_of_folder(filter)?;
        let open = self.require_folder()?;
        let (runs, _) = open.ask(|index| open.lists.scored(index, filter, None))?;
        let tasks = open.flow.shelf.tasks();
        let categories: HashMap<String, Category> = tasks
            .all()
            .filter(|task| task.suite.tags.iter().any(|tag| tag == TAG))
            .filter_map(|task| {
                let category = task.suite.tags.iter().find_map(|tag| Category::from_name(tag))?;
                Some((task.suite.id.clone(), category))
            })
            .collect();
        let targets: Vec<String> = runs.iter().map(target).collect();
        let (attacks, other) = of_attacks(&runs, &targets, &categories);
        Ok(make(&attacks, other))
    }
}

fn target(run: &ScoredRun) -> String {
    let names: Vec<&str> =
        [run.system.as_deref(), run.model.as_deref()].into_iter().flatten().collect();
    names.join("/")
}

/// Returns the runs of attacks, and the number of other runs.
fn of_attacks<'a>(
    runs: &'a [ScoredRun],
    targets: &'a [String],
    categories: &HashMap<String, Category>,
) -> (Vec<AttackRun<'a>>, u64) {
    let mut other = 0;
    let mut attacks = Vec::new();
    for (run, target) in runs.iter().zip(targets) {
        let task = run.task.as_deref().unwrap_or_default();
        let attack = run.variation_name.as_deref().and_then(|name| Attack::from_name(name).ok());
        let (Some(category), Some(attack)) = (categories.get(task), attack) else {
            other += 1;
            continue;
        };
        let result = match (run.state, run.passed) {
            (RunState::Error, _) => AttackResult::Error,
            (_, Some(true)) => AttackResult::Withstood,
            (_, Some(false)) => AttackResult::Succeeded,
            (_, None) => AttackResult::NotJudged,
        };
        attacks.push(AttackRun { task, category: *category, attack, target, result });
    }
    (attacks, other)
}

fn view(card: &Scorecard, other_runs: u64) -> AttackScorecard {
    let group = |name: String, rate: &Rate| AttackGroup { name, rate: rate_view(rate) };
    AttackScorecard {
        overall: rate_view(&card.overall),
        categories: card
            .categories
            .iter()
            .map(|(it, rate)| group(it.name().into(), rate))
            .collect(),
        complexities: card
            .complexities
            .iter()
            .map(|(it, rate)| group(it.name().into(), rate))
            .collect(),
        joint: card
            .joint
            .iter()
            .map(|(category, complexity, rate)| {
                group(format!("{}/{}", category.name(), complexity.name()), rate)
            })
            .collect(),
        attacks: card.attacks.iter().map(|(it, rate)| group(it.name(), rate)).collect(),
        targets: card
            .targets
            .iter()
            .map(|(target, attack, rate)| AttackTarget {
                target: target.clone(),
                attack: attack.name(),
                rate: rate_view(rate),
            })
            .collect(),
        other_runs,
    }
}

fn rate_view(rate: &Rate) -> AttackRate {
    AttackRate {
        succeeded: rate.succeeded,
        judged: rate.judged,
        errors: rate.errors,
        not_judged: rate.not_judged,
        share: rate.share(),
        low: rate.interval.map(|interval| interval.low),
        high: rate.interval.map(|interval| interval.high),
    }
}

fn bad(message: String) -> AppError {
    AppError::new(Code::BadRequest, message)
}

fn failed(why: &str) -> AppError {
    AppError::new(Code::Failed, format!("The suites could not be written: {why}."))
}
