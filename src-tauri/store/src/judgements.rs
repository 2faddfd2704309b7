//! Judgements of runs, compared with the current state of the runs. The files lie next to the
//! results and are followed by `reviews`. Valid judgements become the scores of the scorers that
//! are judges. Judgements of other inputs or by other judge versions are reported but not counted.
use super::imports;
use super::index::IndexError;
use super::layouts;
use super::limits::Limits;
use super::open::{self, Refused};
use super::roots::{FileId, Root, Roots};
use super::scoring::read::load_scored_row;
use super::scoring::write::word;
use super::suites::Tasks;
use super::unit_id::UnitId;
use rusqlite::{Connection, OptionalExtension as _, params};
use serde::{Deserialize, Serialize};
use std::borrow::Cow;
use std::collections::HashMap;
use std::panic::catch_unwind;
use touchstone_api::{FailureClass, ScoreDetail, ScoreStanding};
use touchstone_formats::judgement::{self, Judgement, JudgementFile, Round};
use touchstone_formats::tool_offers;
use touchstone_judges::{Judge, JudgeRef, Rules, Scale, Subject, mean_and_spread};
use touchstone_metrics::number_format::fixed;
use touchstone_model::error::{ReadError, ReadErrorKind};
use touchstone_model::run::Run;
use touchstone_scoring::scorers::Scorer;
use xxhash_rust::xxh3::xxh3_128;

/// Folder of the judgement files, below the output directory.
pub(super) const FOLDER: &str = ".touchstone/judgements";
/// Larger files are not read as judgements.
pub const MOST: u64 = 64 << 20;

/// Identities of the models in the workspace file, by model name.
pub type Marks = HashMap<String, String>;

/// Returns a hash of the judge's inputs. Subjects with equal hashes look the same to the judge.
pub fn inputs_mark(judge: &Judge, rules: Rules, subject: &Subject) -> String {
    format!("{:032x}", xxh3_128(judge.canon(subject, rules).as_bytes()))
}

/// Returns the judgement file of a run, given the path of the run below the output directory.
pub fn file_of_path(run: &str) -> FileId {
    FileId::new(Root::Output, format!("{FOLDER}/{}", judgement::file_of(run)))
}

/// Returns the keys of the runs that a judgement file may belong to; the first existing one counts.
/// Empty for other files.
pub(super) fn keys_of(file: &FileId) -> Vec<String> {
    let below = file.path.strip_prefix(FOLDER.as_bytes()).and_then(|path| path.strip_prefix(b"/"));
    let run = below.and_then(|path| std::str::from_utf8(path).ok()).and_then(judgement::run_of);
    let key = |run: &str, group| UnitId { file: FileId::new(Root::Output, run), group }.key();
    let Some(run) = run else { return Vec::new() };
    // For a file that holds many runs, the key of the run follows a `#`. Paths may contain `#` too,
    // so every split is a candidate; the index knows the right one.
    let member = |(at, _): (usize, &str)| {
        let unit = UnitId { file: FileId::new(Root::Output, &run[..at]), group: false };
        unit.key_of(Some(&run[at + 1..]))
    };
    [key(&run, false), key(&run, true)]
        .into_iter()
        .chain(run.match_indices('#').map(member))
        .collect()
}

/// Parses a judgement file. A panic of the parser is reported as a damaged file.
pub fn read(bytes: &[u8]) -> Result<JudgementFile, ReadError> {
    catch_unwind(|| JudgementFile::read(bytes)).unwrap_or_else(|_| {
        let message = "The file could not be read: its content crashed the reader.";
        Err(ReadError::new(ReadErrorKind::Syntax, message))
    })
}

/// Fields of a judgement that are needed for scores.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
struct Judged {
    judge: String,
    version: u32,
    model: String,
    /// Identity of the model at that time; `None` in files that do not record it.
    model_mark: Option<String>,
    rules: String,
    inputs: String,
    wanted: u32,
    words: Vec<Option<String>>,
    scores: Vec<f64>,
    reason: String,
    /// Total duration of all rounds; `None` if it is missing for one of them.
    #[serde(default)]
    seconds: Option<f64>,
}

/// Converts a judgement file to the JSON stored in the index.
pub(super) fn to_stored_json(sheet: &JudgementFile) -> String {
    let judged = |judgement: &Judgement| {
        let Judgement { judge, version, model, model_mark, rules, inputs, wanted, rounds, .. } =
            judgement.clone();
        let scale =
            touchstone_judges::named(&judge).map_or(Scale::Words(""), |judge| judge.about().scale);
        let told = |round: &Round| {
            round.verdict.as_deref().map(|word| scale.format_verdict(Some(word), round.score))
        };
        Judged {
            judge,
            version,
            model,
            model_mark,
            rules,
            inputs,
            wanted,
            words: rounds.iter().map(told).collect(),
            scores: rounds.iter().filter_map(|round| round.score).collect(),
            reason: rounds.last().map(|round| round.reason.clone()).unwrap_or_default(),
            seconds: rounds
                .iter()
                .map(|round| round.seconds)
                .sum::<Option<f64>>()
                .filter(|_| !rounds.is_empty()),
        }
    };
    serde_json::to_string(&sheet.judgements().iter().map(judged).collect::<Vec<_>>())
        .unwrap_or_default()
}

/// Judgement of one judge about a run, as stored in the index.
#[derive(Deserialize)]
pub struct StoredJudgement<'a> {
    #[serde(borrow)]
    pub(super) judge: Cow<'a, str>,
    version: u32,
    #[serde(borrow)]
    pub(super) model: Cow<'a, str>,
    #[serde(borrow)]
    pub(super) rules: Cow<'a, str>,
    scores: Vec<f64>,
    /// The inputs and the model are unchanged since the judgement.
    #[serde(skip)]
    same: bool,
    /// Passing threshold of the run's suite, if it defines one.
    #[serde(skip)]
    pub(super) least: Option<f64>,
}

impl StoredJudgement<'_> {
    /// Parses stored judgements without copying them. `same` has a `1` for each judgement whose
    /// inputs and model are unchanged; `least` holds the thresholds of the suite.
    pub(super) fn all<'a>(json: &'a str, same: &str, least: &str) -> Vec<StoredJudgement<'a>> {
        let mut all: Vec<StoredJudgement<'a>> = serde_json::from_str(json).unwrap_or_default();
        all.iter_mut().zip(same.bytes()).for_each(|(one, same)| one.same = same == b'1');
        let least: Vec<Option<f64>> = serde_json::from_str(least).unwrap_or_default();
        all.iter_mut().zip(least).for_each(|(one, least)| one.least = least);
        all
    }

    /// Returns true when the judgement is still valid. For a judge defined by a suite, `judge` is
    /// `None`; its version is already included in `same`.
    pub(super) fn holds(&self, judge: Option<&Judge>) -> bool {
        self.same && judge.is_none_or(|judge| self.version == judge.version())
    }

    /// Mean score of the rounds, or `None` when no round has a score.
    pub(super) fn mean(&self) -> Option<f64> {
        mean_and_spread(&self.scores).map(|(mean, _)| mean)
    }
}

impl Judged {
    fn other_model(&self, marks: &Marks) -> Option<String> {
        other_model(&self.model, self.model_mark.as_deref(), marks)
    }

    /// Returns true when the judge version and the inputs are unchanged.
    fn is_same(&self, now: Option<&Subject>, scorers: &[Scorer]) -> bool {
        let rules = seat(&self.judge, scorers).zip(Rules::from_word(&self.rules));
        rules.zip(now).is_some_and(|((judge, rules), now)| {
            judge.version() == self.version && inputs_mark(&judge, rules, now) == self.inputs
        })
    }
}

/// Returns true when changed model identities may change the validity of stored judgements. Valid
/// judgements whose model did not change stay valid.
pub(super) fn may_turn(json: &str, same: &str, marks: &Marks) -> bool {
    let judged: Vec<Judged> = serde_json::from_str(json).unwrap_or_default();
    let mut held = same.bytes();
    judged.iter().any(|one| held.next() != Some(b'1') || one.other_model(marks).is_some())
}

/// Returns the judge with this name: a built-in one, or one that the suite of these scorers
/// defines.
pub fn seat(name: &str, scorers: &[Scorer]) -> Option<JudgeRef> {
    touchstone_judges::named(name).map(JudgeRef::Known).or_else(|| suite_judge(name, scorers))
}

/// Returns the judge with this name that the suite of these scorers defines.
pub fn suite_judge(name: &str, scorers: &[Scorer]) -> Option<JudgeRef> {
    let mut judges = scorers.iter().filter_map(Scorer::judge).map(|(judge, ..)| judge);
    judges.find(|judge| matches!(judge, JudgeRef::Own(_)) && judge.name == name)
}

/// Passing threshold for a judge with these rules and this model. Taken from a scorer that names
/// this model or none; for a judge defined by the suite, from the judge itself, because no other
/// source knows its threshold.
pub fn least(scorers: &[Scorer], (judge, rules, model): (&str, Rules, &str)) -> Option<f64> {
    let of_it = |scorer: &Scorer| {
        let (known, by, rule) = scorer.judge()?;
        let is_it = known.name == judge && rule == rules && by.is_none_or(|by| by == model);
        scorer.threshold().filter(|_| is_it)
    };
    scorers.iter().find_map(of_it).or_else(|| suite_judge(judge, scorers)?.threshold())
}

/// Last reason given in the judgement that counts.
pub(super) fn reason(
    json: &str,
    (judge, rules, model): (&str, &str, &str),
    same: &str,
) -> Option<String> {
    let judged: Vec<Judged> = serde_json::from_str(json).unwrap_or_default();
    let of_it = |(one, same): &(&Judged, u8)| {
        one.judge == judge
            && one.rules == rules
            && one.model == model
            && *same == b'1'
            && !one.scores.is_empty()
    };
    let last = judged.iter().zip(same.bytes()).rfind(of_it);
    last.map(|(one, _)| one.reason.clone()).filter(|reason| !reason.trim().is_empty())
}

/// Applies judgements to the scores of a run that was just written or scored.
pub(crate) fn hold(
    sql: &Connection,
    at: (&Roots, &Limits),
    now: (&Tasks, &Marks),
    key: &str,
) -> Result<(), IndexError> {
    let path: Option<String> = sql
        .prepare_cached("SELECT path FROM runs WHERE key = ?")?
        .query_row([key], |row| row.get(0))
        .optional()?;
    let Some(file) = path.map(|path| file_of_path(&path)) else { return Ok(()) };
    let there = sql.prepare_cached("SELECT 1 FROM reviews WHERE path = ?")?.exists([&file.path])?;
    if there { show(sql, at, now, &file, key) } else { Ok(()) }
}

/// Updates the scores of a run from its judgement file.
pub(super) fn show(
    sql: &Connection,
    (roots, limits): (&Roots, &Limits),
    (tasks, marks): (&Tasks, &Marks),
    file: &FileId,
    key: &str,
) -> Result<(), IndexError> {
    let Some(known) = load_scored_row(sql, key)? else { return Ok(()) };
    let own = known.own_task();
    let place = known.scoring_key();
    let judged: Option<Option<String>> = sql
        .prepare_cached("SELECT judged FROM reviews WHERE path = ?")?
        .query_row([&file.path], |row| row.get(0))
        .optional()?;
    let judged: Vec<Judged> =
        judged.flatten().and_then(|json| serde_json::from_str(&json).ok()).unwrap_or_default();
    // Current inputs of the judges, from the files of the run; `None` when these cannot be read.
    let run = if judged.is_empty() { None } else { read_current_run(sql, roots, limits, key)? };
    let query = place.prompt(tasks, known.system.as_deref());
    let against = place.against(tasks);
    let of = |run: Run| {
        let subject = Subject::from_run(&run, query.as_deref());
        let suite = place.task.and_then(|name| tasks.get(name));
        let Some(task) = suite.or(own.as_ref()) else { return subject };
        let tools = tool_offers::of_run(&task.tools, run.layout, known.system.as_deref());
        let expected = against.as_ref().and_then(|against| against.yardstick.expected.as_deref());
        subject.with_expected(expected).with_tools(&task.suite, &tools)
    };
    let subject = run.map(of);
    let scorers: &[Scorer] = against.as_ref().map_or(&[], |against| &against.panel.scorers);
    let is_same =
        |one: &Judged| one.is_same(subject.as_ref(), scorers) && one.other_model(marks).is_none();
    let same: String = judged.iter().map(|one| if is_same(one) { '1' } else { '0' }).collect();
    let least =
        |one: &Judged| least(scorers, (&one.judge, Rules::from_word(&one.rules)?, &one.model));
    let least =
        serde_json::to_string(&judged.iter().map(least).collect::<Vec<_>>()).unwrap_or_default();
    sql.prepare_cached("UPDATE reviews SET run = ?, same = ?, least = ? WHERE path = ?")?
        .execute(params![key, same, least, file.path])?;
    let Some(against) = against else { return Ok(()) };
    let scorers =
        against.panel.scorers.iter().enumerate().filter(|(_, scorer)| scorer.judge().is_some());
    for (at, scorer) in scorers {
        put(sql, known.id, at, &score(scorer, &judged, (subject.as_ref(), marks)))?;
    }
    Ok(())
}

/// Reads the run from its current files. Returns `None` when they cannot be read.
pub(super) fn read_current_run(
    sql: &Connection,
    roots: &Roots,
    limits: &Limits,
    key: &str,
) -> Result<Option<Run>, IndexError> {
    const FILES: &str =
        "SELECT f.path FROM runs r JOIN files f ON f.unit = r.unit WHERE r.key = ? ORDER BY f.path";
    let (member, tag, layout): (Option<String>, Option<String>, String) = sql
        .prepare_cached("SELECT r.member, a.tag, r.layout FROM runs r LEFT JOIN answers a ON a.run = r.id WHERE r.key = ?")?
        .query_row([key], |row| Ok((row.get(0)?, row.get(1)?, row.get(2)?)))
        .optional()?
        .unwrap_or_default();
    let mut select = sql.prepare_cached(FILES)?;
    let paths = select.query_map([key], |row| row.get::<_, Vec<u8>>(0))?;
    if imports::is_import(&layout) {
        let Some(file) = paths.into_iter().next().transpose()? else { return Ok(None) };
        let file = FileId::new(Root::Output, file);
        return Ok(imports::read_run(roots, &file, member.as_deref()).ok().map(|(run, _)| run));
    }
    let mut read = Vec::new();
    for path in paths {
        let file = FileId::new(Root::Output, path?);
        match open::read(roots, &file, limits.file_bytes) {
            Ok((bytes, _)) => read.push((file, bytes)),
            Err(Refused::Gone) => {}
            Err(_) => return Ok(None),
        }
    }
    let files: Vec<(&FileId, &[u8])> =
        read.iter().map(|(file, bytes)| (file, bytes.as_slice())).collect();
    let read = || match (&member, files.as_slice()) {
        (Some(member), [(file, bytes)]) => {
            layouts::read_member(file, bytes, member).ok().map(|(run, _)| run)
        }
        _ => layouts::read_run(&files, tag.as_deref()).ok(),
    };
    Ok(catch_unwind(read).ok().flatten())
}

/// Score computed from the judgements for one scorer.
struct JudgeScore {
    standing: ScoreStanding,
    score: Option<f64>,
    passed: Option<bool>,
    reason: String,
    detail: Vec<ScoreDetail>,
}

fn score(
    scorer: &Scorer,
    judged: &[Judged],
    (subject, marks): (Option<&Subject>, &Marks),
) -> JudgeScore {
    let waiting = |reason: String| JudgeScore {
        standing: ScoreStanding::Waiting,
        score: None,
        passed: None,
        reason,
        detail: Vec::new(),
    };
    let Some((judge, model, rules)) = scorer.judge() else { return waiting(String::new()) };
    let of_it = |judged: &&Judged| {
        let by = model.is_none_or(|model| judged.model == model) && judged.rules == rules.word();
        judged.judge == judge.name && by
    };
    let inputs = subject.map(|subject| inputs_mark(&judge, rules, subject)).unwrap_or_default();
    let outdated = |judged: &Judged| {
        stale(&judge, judged.version, &judged.inputs, &inputs).or_else(|| judged.other_model(marks))
    };
    let fresh = |judged: &&Judged| outdated(judged).is_none();
    // An unreadable judgement does not replace an earlier one that is still valid.
    let read = |judged: &&Judged| fresh(judged) && !judged.scores.is_empty();
    let all = || judged.iter().filter(of_it);
    let Some(last) = all().rfind(read).or_else(|| all().rfind(fresh)).or_else(|| all().next_back())
    else {
        return waiting(format!("`{}` has not run yet.", scorer.name()));
    };
    let words: Vec<&str> =
        last.words.iter().map(|word| word.as_deref().unwrap_or("not read")).collect();
    let mean = mean_and_spread(&last.scores);
    if let Some(why) = outdated(last) {
        let said =
            mean.map_or_else(|| "nothing".to_owned(), |(mean, _)| format_score(&judge, mean));
        return waiting(format!("{} gave {said} before. {why} Judge it again.", last.model));
    }
    let detail = |name: &str, value: String| ScoreDetail { name: name.to_owned(), value };
    let wanted = last.wanted.max(scorer.rounds().unwrap_or(0));
    let mut details = vec![
        detail("model", last.model.clone()),
        detail("rounds", format!("{} of {wanted}", last.scores.len())),
    ];
    if rules == Rules::Official {
        details.push(detail("rules", rules.word().to_owned()));
    }
    let Some((mean, spread)) = mean else {
        let reason = if last.words.is_empty() {
            format!("`{}` has not run yet.", scorer.name())
        } else {
            "The replies of the judge could not be read.".to_owned()
        };
        let standing =
            if last.words.is_empty() { ScoreStanding::Waiting } else { ScoreStanding::Failed };
        return JudgeScore { standing, detail: details, ..waiting(reason) };
    };
    details.push(detail("spread", fixed(spread, 3)));
    details.extend(last.seconds.map(|seconds| detail("seconds", fixed(seconds, 3))));
    if judge.about().scale.ends().is_some() {
        details.push(detail("mean", format_score(&judge, mean)));
        let scale = judge.about().scale;
        let threshold =
            scorer.threshold().or(judge.threshold()).and_then(|least| scale.value_of(least));
        details.extend(threshold.map(|least| detail("passes", scale.format_threshold(least))));
    }
    JudgeScore {
        standing: ScoreStanding::Scored,
        score: Some(mean),
        passed: Some(scorer.passed(mean)),
        reason: format!("{}: {}", words.join(", "), last.reason),
        detail: details,
    }
}

/// Formats a score on the scale of the judge: `3.7 of 5`; for scales of words, the plain number.
fn format_score(judge: &Judge, score: f64) -> String {
    let scale = judge.about().scale;
    scale.value_of(score).map_or_else(|| fixed(score, 2), |own| scale.format_value(own))
}

/// Returns the reason why a judgement is outdated, or `None` when it is valid.
pub fn stale(judge: &Judge, version: u32, inputs: &str, now: &str) -> Option<String> {
    if version != judge.version() {
        return Some(format!(
            "The prompt of the judge has changed: version {}, not {version}.",
            judge.version()
        ));
    }
    (inputs != now).then(|| "The run or its task has changed since.".to_owned())
}

/// Returns a message when the model name stood for another model at the time of the judgement.
/// `None` when it did not, or this is unknown.
pub fn other_model(model: &str, then: Option<&str>, marks: &Marks) -> Option<String> {
    let now = marks.get(model)?;
    let other = then.is_some_and(|then| then != now);
    other.then(|| format!("The model `{model}` or its sampling has changed in touchstone.yaml."))
}

/// Stores a score. Updates only rows that wait for a judge (`ask` is set). The failure class was
/// determined without the judge: a negative verdict adds `wrong_answer` unless another class is
/// known, a positive one clears the class, and a pending one leaves all other classes.
fn put(sql: &Connection, run: i64, at: usize, says: &JudgeScore) -> Result<(), IndexError> {
    const FILL: &str = "UPDATE scores SET standing = ?, score = ?, passed = ?, reason = ?, detail = ?, \
                        class = CASE ?3 WHEN 1 THEN NULL WHEN 0 THEN COALESCE(class, ?6) ELSE NULLIF(class, ?6) END \
                        WHERE run = ?7 AND place = ?8 AND ask IS NOT NULL";
    const FIRST: &str = "UPDATE runs SET scoring = ?, score = ?, passed = ?, score_reason = ?, \
                         class = (SELECT class FROM scores WHERE run = runs.id AND place = 0) WHERE id = ?";
    let JudgeScore { standing, score, passed, reason, detail } = says;
    let wrong = word(FailureClass::WrongAnswer);
    let place = i64::try_from(at).unwrap_or(i64::MAX);
    let (standing, detail) = (word(standing), serde_json::to_string(detail).unwrap_or_default());
    let filled = params![standing, score, passed, reason, detail, wrong, run, place];
    if sql.prepare_cached(FILL)?.execute(filled)? > 0 && at == 0 {
        sql.prepare_cached(FIRST)?.execute(params![standing, score, passed, reason, run])?;
    }
    Ok(())
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_file_of_judgements_finds_the_run_it_is_of_and_no_other_run_has_its_name() {
        for (run, group) in
            [("a/b-promptql-o1-variation0.yaml", false), ("o1/promptql/oracle/x_run_1", true)]
        {
            let unit = UnitId { file: FileId::new(Root::Output, run), group };
            assert!(keys_of(&file_of_path(run)).contains(&unit.key()));
        }
        assert_eq!(
            file_of_path("a/b.json#5/8").to_display(),
            ".touchstone/judgements/a/b.json#5%2F8.yaml"
        );
        assert_eq!(keys_of(&FileId::new(Root::Output, ".touchstone/reviews/a.yaml")), [""; 0]);
    }
}
