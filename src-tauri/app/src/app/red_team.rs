//! Attacks on systems: suites that carry them out, and the scorecard of their runs.
use super::scan_care::{LEFT_OUT, is_sensitive};
use super::{App, NewFile};
use crate::error::{AppError, Code};
use crate::text_file::{self, unreadable};
use fs_err as fs;
use std::collections::HashMap;
use std::path::{Path, PathBuf};
use std::sync::Arc;
use touchstone_api::{
    AttackGroup, AttackRate, AttackScorecard, AttackTarget, RunState, ScoreStanding,
};
use touchstone_formats::json;
use touchstone_imports::{Event, EventKind, ImportedRun};
use touchstone_redteam::{
    Attack, AttackResult, AttackRun, AttackTexts, Category, HiddenMessage, Objective, Rate,
    Scorecard, Slots, Strategy, TAG, azure_result, hidden_messages, parse_attacks, read_objectives,
    scorecard, starter_objectives, suites,
};
use touchstone_scoring::azure::safety::level;
use touchstone_store::query::{self, ScoredRun};
use touchstone_store::scoring::measure::NO_ANSWER;

pub use touchstone_redteam::{Slots as UserTexts, SuiteOptions as AttackSuiteOptions};

/// Format of results of other programs' scans.
const RECORDED: &str = "azure_redteam";
/// Reason of a run that the provider refused to continue, as the runner writes it.
const BLOCKED: &str = "The model refused to continue.";
/// Maximum size of a file of objectives.
const MOST_BYTES: u64 = 16 << 20;
/// Maximum size of a file with a text of the user.
const MOST_SLOT_BYTES: u64 = 256 << 10;

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

/// Reads a text of the user from a file, without line breaks at its end.
pub fn slot_from_file(path: &Path) -> Result<String, AppError> {
    let text = text_file::read(path, MOST_SLOT_BYTES)?;
    let text = text.trim_end_matches(['\n', '\r']);
    if text.trim().is_empty() {
        return Err(unreadable(path, "it is empty.".to_owned()));
    }
    Ok(text.to_owned())
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
    let text = text_file::read(path, MOST_BYTES)?;
    let file = read_objectives(&text).map_err(|error| unreadable(path, error.to_string()))?;
    Ok((file.objectives, file.left_out))
}

/// Suites that were written.
#[derive(Debug, Clone, PartialEq, Eq, Default)]
pub struct WrittenSuites {
    /// Files, in order.
    pub files: Vec<PathBuf>,
    /// Number of runs of one system with one model.
    pub attacks: usize,
    /// Database whose messages hide the objectives, if they are hidden.
    pub inbox: Option<PathBuf>,
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
    let inbox = path("inbox.db");
    if options.indirect && inbox.exists() {
        return Err(taken(&inbox));
    }
    fs::create_dir_all(folder).map_err(|error| failed(&error.to_string()))?;
    let mut written = WrittenSuites::default();
    if options.indirect {
        let messages = hidden_messages(objectives, options).map_err(bad)?;
        write_inbox(&inbox, &messages).map_err(|error| failed(&error.to_string()))?;
        written.inbox = Some(inbox);
    }
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

/// Writes the messages of the tool `inbox` to a new database.
fn write_inbox(path: &Path, messages: &[HiddenMessage]) -> rusqlite::Result<()> {
    let mut database = rusqlite::Connection::open(path)?;
    let transaction = database.transaction()?;
    transaction.execute("CREATE TABLE messages (id TEXT PRIMARY KEY, body TEXT NOT NULL)", [])?;
    for message in messages {
        transaction.execute("INSERT INTO messages VALUES (?, ?)", [&message.id, &message.body])?;
    }
    transaction.commit()
}

impl App {
    /// Returns how often attacks succeeded, over the runs of a filter. Fails if a part of the filter
    /// cannot be read.
    pub fn attack_scorecard(&self, filter: &str) -> Result<AttackScorecard, AppError> {
        self.check_filter_of_folder(filter)?;
        self.scorecard_of_read_parts(filter)
    }

    /// Like [`App::attack_scorecard`], but passes over parts of the filter that cannot be read.
    pub(super) fn scorecard_of_read_parts(
        &self,
        filter: &str,
    ) -> Result<AttackScorecard, AppError> {
        self.with_attacks(filter, |attacks, other| {
            let attacks: Vec<AttackRun<'_>> = attacks.iter().map(|(_, run)| run.clone()).collect();
            Ok(view(&scorecard(&attacks), other))
        })
    }

    /// Returns the scorecard with its attacks in the shape of azure-ai-evaluation's result file, as
    /// JSON. Texts are left out unless they are to be included.
    pub fn azure_scorecard(
        &self,
        filter: &str,
        include_sensitive: bool,
    ) -> Result<String, AppError> {
        self.check_filter_of_folder(filter)?;
        let sensitive = if include_sensitive { Arc::default() } else { self.sensitive_kinds()? };
        self.with_attacks(filter, |attacks, _| {
            let ids: Vec<String> = attacks.iter().map(|(run, _)| run.id.clone()).collect();
            let mut texts = vec![AttackTexts::default(); ids.len()];
            let rows = self.rows_by_id(&ids)?;
            self.for_each_export::<AppError>(&rows, &mut |at, run| {
                // A run that cannot be read has a state that is in no share, and no texts.
                if let Ok(run) = run {
                    let (scored, attack) = &attacks[at];
                    texts[at] = texts_of(&run.run, scored, attack);
                    if is_sensitive(&sensitive, &rows[at]) {
                        leave_out(&mut texts[at]);
                    }
                }
                Ok(())
            })?;
            for (texts, (run, attack)) in texts.iter_mut().zip(attacks) {
                if texts.severity.is_none()
                    && is_judged(attack)
                    && attack.category.threshold().is_some()
                {
                    texts.severity = self.severity(run)?;
                }
            }
            let attacks: Vec<(AttackRun<'_>, AttackTexts)> =
                attacks.iter().map(|(_, run)| run.clone()).zip(texts).collect();
            Ok(json::write(&azure_result(&attacks), true))
        })
    }

    /// Returns the severity that the judge which decides about a run gave it, in words.
    fn severity(&self, run: &ScoredRun) -> Result<Option<String>, AppError> {
        let scores = self.run_scores(&run.id)?.scores;
        let judged = scores.into_iter().find(|score| {
            Some(&score.scorer) == run.scorer.as_ref() && score.standing == ScoreStanding::Scored
        });
        // The score is the distance from the highest severity; rounding hides its last digits.
        let severity = |score: f64| ((1.0 - score) * 7e6).round() / 1e6;
        Ok(judged.and_then(|one| one.score).map(|score| level(severity(score)).to_owned()))
    }

    /// Passes the attacks among the runs of a filter to a function, with the number of other runs.
    fn with_attacks<T>(
        &self,
        filter: &str,
        make: impl FnOnce(&[(&ScoredRun, AttackRun<'_>)], u64) -> Result<T, AppError>,
    ) -> Result<T, AppError> {
        let open = self.require_folder()?;
        let tasks = open.flow.shelf.tasks();
        let categories: HashMap<String, Category> = tasks
            .all()
            .filter(|task| task.suite.tags.iter().any(|tag| tag == TAG))
            .filter_map(|task| {
                let category = task.suite.tags.iter().find_map(|tag| Category::from_name(tag))?;
                Some((task.suite.id.clone(), category))
            })
            .collect();
        // Most folders hold no attacks, and need not be counted.
        if categories.is_empty() && !open.ask(|index| query::has_layout(index, RECORDED))? {
            return make(&[], 0);
        }
        let (runs, _) = open.ask(|index| open.lists.scored(index, filter, None))?;
        let targets: Vec<String> = runs.iter().map(target).collect();
        let (attacks, other) = of_attacks(&runs, &targets, &categories);
        make(&attacks, other)
    }
}

/// Returns true for the judge of this harm. A second one of a suite has a number behind its name.
fn is_judge_of(scorer: &str, category: Category) -> bool {
    let Some(name) = scorer.strip_prefix("judge:") else { return scorer == category.name() };
    let name = match name.rsplit_once(' ') {
        Some((name, number)) if number.parse::<u32>().is_ok() => name,
        _ => name,
    };
    name == category.name()
}

/// Returns true if the judge of the harm decided about the attack.
fn is_judged(attack: &AttackRun<'_>) -> bool {
    matches!(attack.result, AttackResult::Succeeded | AttackResult::Withstood)
}

/// Returns what was said in an attack, and why it was judged so.
fn texts_of(run: &ImportedRun, scored: &ScoredRun, attack: &AttackRun<'_>) -> AttackTexts {
    let messages = run.events.iter().filter_map(message);
    let verdict = run.verdicts.iter().find(|verdict| verdict.name == attack.category.name());
    let is_judged = is_judged(attack);
    AttackTexts {
        messages: messages.collect(),
        severity: verdict.and_then(|verdict| verdict.value.text()).map(str::to_owned),
        reason: match verdict {
            Some(verdict) => verdict.reason.clone(),
            None => scored.score_reason.clone().filter(|text| is_judged && !text.is_empty()),
        },
    }
}

/// Returns the role and the text of a message; `None` for other events.
fn message(event: &Event) -> Option<(String, String)> {
    match &event.kind {
        EventKind::User(text) | EventKind::SimulatedUser(text) => {
            Some(("user".to_owned(), text.clone()))
        }
        EventKind::Assistant(text) => Some(("assistant".to_owned(), text.clone())),
        _ => None,
    }
}

fn leave_out(texts: &mut AttackTexts) {
    for (_, text) in &mut texts.messages {
        LEFT_OUT.clone_into(text);
    }
    texts.reason = texts.reason.as_ref().map(|_| LEFT_OUT.to_owned());
}

/// Returns true for a run of another program's scan, whose system is the technique.
fn is_recorded(run: &ScoredRun) -> bool {
    run.layout == RECORDED
}

/// Returns the system with its model; of another program's scan, which names neither, its file.
fn target(run: &ScoredRun) -> String {
    if is_recorded(run) {
        let member = run.member.as_ref().map(|member| format!("#{member}"));
        let file = member.and_then(|member| run.path.strip_suffix(&member));
        return file.unwrap_or(&run.path).to_owned();
    }
    let names: Vec<&str> =
        [run.system.as_deref(), run.model.as_deref()].into_iter().flatten().collect();
    names.join("/")
}

/// Returns the runs of attacks, and the number of other runs.
fn of_attacks<'a>(
    runs: &'a [ScoredRun],
    targets: &'a [String],
    categories: &HashMap<String, Category>,
) -> (Vec<(&'a ScoredRun, AttackRun<'a>)>, u64) {
    let mut other = 0;
    let mut attacks = Vec::new();
    for (run, target) in runs.iter().zip(targets) {
        let task = run.task.as_deref().unwrap_or_default();
        let (category, attack) = if is_recorded(run) {
            let category = task.split(' ').next().and_then(Category::from_name);
            (category, run.system.as_deref().and_then(Attack::from_recorded))
        } else {
            let name = run.variation_name.as_deref();
            (categories.get(task).copied(), name.and_then(|name| Attack::from_name(name).ok()))
        };
        let (Some(category), Some(attack)) = (category, attack) else {
            other += 1;
            continue;
        };
        let result = result(run, category);
        attacks.push((run, AttackRun { task, category, attack, target, result }));
    }
    (attacks, other)
}

/// Returns how an attack ended. Only the verdict of the judge of this harm counts: another scorer
/// says nothing of it. A run without an answer has a score although no judge was asked.
fn result(run: &ScoredRun, category: Category) -> AttackResult {
    let is_judge = run.scorer.as_deref().is_some_and(|scorer| is_judge_of(scorer, category));
    let is_scored = run.scoring == Some(ScoreStanding::Scored);
    let was_asked =
        run.state != RunState::NoAnswer || run.score_reason.as_deref() != Some(NO_ANSWER);
    match (run.state, run.passed.filter(|_| is_judge && is_scored && was_asked)) {
        (RunState::Error, _) if run.reason.as_deref() == Some(BLOCKED) => AttackResult::Blocked,
        (RunState::Error | RunState::Damaged, _) => AttackResult::Error,
        (_, Some(true)) => AttackResult::Withstood,
        (_, Some(false)) => AttackResult::Succeeded,
        (_, None) => AttackResult::NotJudged,
    }
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
        blocked: rate.blocked,
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

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_judge_of_another_name_decides_about_no_harm() {
        for (scorer, is_judge) in [
            ("judge:violence", true),
            ("judge:violence 2", true),
            ("violence", true),
            ("judge:violence_strict", false),
            ("judge:violence strict", false),
            ("judge:sexual", false),
            ("violence 2", false),
        ] {
            assert_eq!(is_judge_of(scorer, Category::Violence), is_judge, "{scorer}");
        }
    }
}
