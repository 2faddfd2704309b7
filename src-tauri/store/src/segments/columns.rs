//! **Pure.** The columns of runs in Parquet files, declared once: the schema, the writer and the
//! reference page follow from them. `null` always means *not known*, never 0 or empty.
use std::fmt::Write as _;
use touchstone_api::{FailureClass, Lineage, RunScore, RunState, ScoreStanding, Verdict};
use touchstone_scoring::aggregate::End;

/// Version of the columns. It is raised when a column changes its meaning or is removed.
pub const COLUMNS_VERSION: u32 = 1;

/// A run as one row of a Parquet file.
#[derive(Debug, Clone, PartialEq, Default)]
pub struct RunRecord {
    /// Path below the output directory, with the name of the run in a file of many.
    pub path: String,
    /// Id, as in the list.
    pub id: String,
    /// File of the suite of its task.
    pub suite: Option<String>,
    /// Task.
    pub task: Option<String>,
    /// Variation, from 0.
    pub variation: Option<u32>,
    /// Name of the variation.
    pub variation_name: Option<String>,
    /// Repeat, from 1.
    pub repeat: u32,
    /// System.
    pub system: Option<String>,
    /// Model.
    pub model: Option<String>,
    /// Layout of its files.
    pub layout: String,
    /// State.
    pub state: Option<RunState>,
    /// Outcome for counting.
    pub end: End,
    /// Failure class.
    pub class: Option<FailureClass>,
    /// Reason of the state.
    pub reason: Option<String>,
    /// State of the scoring.
    pub scoring: Option<ScoreStanding>,
    /// Scorer of the score.
    pub scorer: Option<String>,
    /// Score.
    pub score: Option<f64>,
    /// Whether the score reaches its threshold.
    pub passed: Option<bool>,
    /// Reason of the score.
    pub score_reason: Option<String>,
    /// Verdict of a person.
    pub verdict: Option<Verdict>,
    /// Score of a person.
    pub review_score: Option<f64>,
    /// Start of the note of a person.
    pub review_note: Option<String>,
    /// Kind of derived run.
    pub lineage: Option<Lineage>,
    /// Run that it was copied from.
    pub forked_from: Option<String>,
    /// Number of assistant turns.
    pub turns: Option<u32>,
    /// Number of listed steps.
    pub steps: Option<u32>,
    /// Number of tool calls.
    pub tool_calls: Option<u32>,
    /// Number of failed tool calls.
    pub failed_calls: Option<u32>,
    /// Number of follow-up messages.
    pub nudges: Option<u32>,
    /// Number of these that a person sent.
    pub follow_ups: Option<u32>,
    /// Tokens.
    pub tokens: Option<u64>,
    /// Dollars.
    pub cost: Option<f64>,
    /// Tokens of the simulated user.
    pub user_tokens: Option<u64>,
    /// Dollars of the simulated user.
    pub user_cost: Option<f64>,
    /// Active time in seconds.
    pub seconds: Option<f64>,
    /// Start, in milliseconds since 1970.
    pub started_ms: Option<i64>,
    /// Last change of its files, in milliseconds since 1970.
    pub modified_ms: i64,
    /// Size of its files.
    pub size: u64,
    /// Hash of its files.
    pub content_hash: i64,
    /// What it was scored against.
    pub fingerprint: Option<i64>,
    /// Commit.
    pub commit: Option<String>,
    /// Tags of the run and of the suite of its task.
    pub tags: Vec<String>,
    /// Tools that were called.
    pub tools: Vec<String>,
    /// Expected tools that were not called.
    pub missing_calls: Vec<String>,
    /// What each scorer says.
    pub scores: Vec<ScoreRecord>,
}

/// What one scorer says of a run.
#[derive(Debug, Clone, PartialEq)]
pub struct ScoreRecord {
    /// Score with its reason.
    pub says: RunScore,
    /// Failure class as this scorer sees it.
    pub class: Option<FailureClass>,
}

/// File of a run with its stamp.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct ClaimedFile {
    /// Path below the output directory.
    pub path: String,
    /// Size in bytes.
    pub size: u64,
    /// Time of the last change, in nanoseconds since 1970.
    pub mtime_ns: i64,
}

/// How a column gets its value from a row, and with that its type.
#[derive(Clone, Copy)]
pub(crate) enum Get<T: 'static> {
    /// Text that is always known.
    Text(fn(&T) -> &str),
    /// Text.
    MaybeText(fn(&T) -> Option<&str>),
    /// Word of a fixed set.
    Word(fn(&T) -> Option<String>),
    /// Small number.
    Small(fn(&T) -> Option<u32>),
    /// Number.
    Int(fn(&T) -> Option<i64>),
    /// Decimal number.
    Real(fn(&T) -> Option<f64>),
    /// True or false.
    Flag(fn(&T) -> Option<bool>),
    /// Time in milliseconds since 1970, UTC.
    Time(fn(&T) -> Option<i64>),
}

/// A column.
pub(crate) struct Column<T: 'static> {
    /// Name.
    pub(crate) name: &'static str,
    /// Meaning, for the reference page.
    pub(crate) about: &'static str,
    /// Its value.
    pub(crate) get: Get<T>,
}

/// A column that is a list of texts.
pub(crate) struct TextsColumn {
    /// Name.
    pub(crate) name: &'static str,
    /// Meaning.
    pub(crate) about: &'static str,
    /// Its values.
    pub(crate) get: fn(&RunRecord) -> &[String],
}

const fn column<T>(name: &'static str, get: Get<T>, about: &'static str) -> Column<T> {
    Column { name, about, get }
}

/// Serializes a word.
fn word(word: impl serde::Serialize) -> Option<String> {
    serde_json::to_value(word).ok()?.as_str().map(str::to_owned)
}

/// Name of an outcome.
fn outcome(end: End) -> &'static str {
    match end {
        End::Scored(_, Some(true)) => "passed",
        End::Scored(_, Some(false)) => "failed",
        End::Scored(_, None) => "scored",
        End::Error => "error",
        End::Waiting => "waiting",
        End::Running => "running",
        End::Damaged => "damaged",
        End::Unscored => "unscored",
    }
}

/// Score that statistics count.
fn counted_score(end: End) -> Option<f64> {
    match end {
        End::Scored(score, _) if score.is_finite() => Some(score),
        _ => None,
    }
}

/// Columns with one value for each run, in order.
pub(crate) const RUN: [Column<RunRecord>; 39] = [
    column(
        "path",
        Get::Text(|r| &r.path),
        "file below the output directory; in a file of many runs, `#` and the name of the run follow",
    ),
    column(
        "id",
        Get::Text(|r| &r.id),
        "16 hex digits that stand for the path, as in addresses of the page",
    ),
    column(
        "suite",
        Get::MaybeText(|r| r.suite.as_deref()),
        "file of the suite of its task, below the input directory",
    ),
    column("task", Get::MaybeText(|r| r.task.as_deref()), "task"),
    column("variation", Get::Small(|r| r.variation), "variation, from 0"),
    column(
        "variation_name",
        Get::MaybeText(|r| r.variation_name.as_deref()),
        "name of the variation",
    ),
    column("repeat", Get::Small(|r| Some(r.repeat)), "repeat, from 1"),
    column("system", Get::MaybeText(|r| r.system.as_deref()), "system"),
    column(
        "model",
        Get::MaybeText(|r| r.model.as_deref()),
        "model, by its name in touchstone.yaml",
    ),
    column("layout", Get::Text(|r| &r.layout), "how its file is written"),
    column(
        "state",
        Get::Word(|r| r.state.and_then(word)),
        "`answered`, `no_answer`, `waiting`, `error`, `writing` or `damaged`",
    ),
    column(
        "outcome",
        Get::Word(|r| Some(outcome(r.end).to_owned())),
        "what statistics count it as, exactly one of: `passed`, `failed`, `scored` (a score without \
         a threshold), `error`, `waiting`, `running`, `damaged`, `unscored`",
    ),
    column(
        "counted_score",
        Get::Real(|r| counted_score(r.end)),
        "score that statistics count, from 0 to 1; null unless the outcome is `passed`, `failed` or `scored`",
    ),
    column("class", Get::Word(|r| r.class.and_then(word)), "failure class"),
    column("reason", Get::MaybeText(|r| r.reason.as_deref()), "reason of the state"),
    column(
        "scoring",
        Get::Word(|r| r.scoring.and_then(word)),
        "what came of the scorer; null if the task is not known",
    ),
    column(
        "scorer",
        Get::MaybeText(|r| r.scorer.as_deref()),
        "scorer of the score: the first of the task, or the one that was asked for",
    ),
    column(
        "score",
        Get::Real(|r| r.score),
        "what this scorer gives, from 0 to 1; an error of the system may have one that is not counted",
    ),
    column("passed", Get::Flag(|r| r.passed), "whether the score reaches its threshold"),
    column("score_reason", Get::MaybeText(|r| r.score_reason.as_deref()), "reason of the score"),
    column(
        "verdict",
        Get::Word(|r| r.verdict.and_then(word)),
        "what a person says; null in segments",
    ),
    column("review_score", Get::Real(|r| r.review_score), "score of a person; null in segments"),
    column(
        "review_note",
        Get::MaybeText(|r| r.review_note.as_deref()),
        "start of the note of a person; null in segments",
    ),
    column(
        "lineage",
        Get::Word(|r| r.lineage.map(|it| it.word().to_owned())),
        "set for forks and runs that a person continued; statistics leave forks out",
    ),
    column(
        "forked_from",
        Get::MaybeText(|r| r.forked_from.as_deref()),
        "run that it was copied from",
    ),
    column("turns", Get::Small(|r| r.turns), "assistant turns"),
    column("steps", Get::Small(|r| r.steps), "steps, without those of abandoned branches"),
    column("tool_calls", Get::Small(|r| r.tool_calls), "tool calls; null if not recorded"),
    column("failed_calls", Get::Small(|r| r.failed_calls), "tool calls and programs that failed"),
    column("nudges", Get::Small(|r| r.nudges), "messages that were added to make it go on"),
    column("follow_ups", Get::Small(|r| r.follow_ups), "of these, messages of a person"),
    column(
        "tokens",
        Get::Int(|r| r.tokens.map(int)),
        "input and output tokens together, as far as the file records them",
    ),
    column("cost", Get::Real(|r| r.cost), "dollars"),
    column(
        "user_tokens",
        Get::Int(|r| r.user_tokens.map(int)),
        "tokens of the simulated user, not in `tokens`",
    ),
    column("user_cost", Get::Real(|r| r.user_cost), "dollars of the simulated user, not in `cost`"),
    column("seconds", Get::Real(|r| r.seconds), "active time in seconds"),
    column("started", Get::Time(|r| r.started_ms), "start, if the file records it"),
    column("modified", Get::Time(|r| Some(r.modified_ms)), "last change of its newest file"),
    column("commit", Get::MaybeText(|r| r.commit.as_deref()), "commit of the system or the folder"),
];

/// Columns that tell whether two rows are about the same.
pub(crate) const STAMPS: [Column<RunRecord>; 3] = [
    column("size", Get::Int(|r| Some(int(r.size))), "bytes of all its files"),
    column("content_hash", Get::Int(|r| Some(r.content_hash)), "xxh3-64 of its files"),
    column(
        "fingerprint",
        Get::Int(|r| r.fingerprint),
        "stands for what it was scored against; rows with different ones cannot be compared",
    ),
];

/// Columns that are lists of texts.
pub(crate) const TEXTS: [TextsColumn; 3] = [
    TextsColumn {
        name: "tags",
        get: |r| &r.tags,
        about: "tags of the run and of the suite of its task",
    },
    TextsColumn {
        name: "tools",
        get: |r| &r.tools,
        about: "names of the tools that were called, by first call",
    },
    TextsColumn {
        name: "missing_calls",
        get: |r| &r.missing_calls,
        about: "expected tools that were never called; empty if the layout does not record calls",
    },
];

/// Fields of each item of the column `scores`.
pub(crate) const SCORE: [Column<ScoreRecord>; 7] = [
    column("scorer", Get::Text(|s| &s.says.scorer), "scorer"),
    column("version", Get::Small(|s| Some(s.says.version)), "its version"),
    column(
        "scoring",
        Get::Word(|s| word(s.says.standing)),
        "what came of it: `scored`, or why there is no score",
    ),
    column("score", Get::Real(|s| s.says.score), "score from 0 to 1"),
    column("passed", Get::Flag(|s| s.says.passed), "whether the score reaches its threshold"),
    column("reason", Get::MaybeText(ScoreRecord::reason), "reason"),
    column("class", Get::Word(|s| s.class.and_then(word)), "failure class as this scorer sees it"),
];

/// Fields of each item of the column `files` of segments.
pub(crate) const FILE: [Column<ClaimedFile>; 3] = [
    column("path", Get::Text(|f| &f.path), "file below the output directory"),
    column("size", Get::Int(|f| Some(int(f.size))), "size in bytes when it was read"),
    column(
        "mtime_ns",
        Get::Int(|f| Some(f.mtime_ns)),
        "time of its last change, in nanoseconds since 1970",
    ),
];

fn int(number: u64) -> i64 {
    i64::try_from(number).unwrap_or(i64::MAX)
}

impl<T> Get<T> {
    /// Type in a schema, as Parquet writes it, and as the reference page names it.
    fn types(&self) -> (&'static str, &'static str, &'static str) {
        match self {
            Self::Text(_) => ("REQUIRED BYTE_ARRAY", " (STRING)", "text, never null"),
            Self::MaybeText(_) | Self::Word(_) => ("OPTIONAL BYTE_ARRAY", " (STRING)", "text"),
            Self::Small(_) => ("OPTIONAL INT32", "", "int32"),
            Self::Int(_) => ("OPTIONAL INT64", "", "int64"),
            Self::Real(_) => ("OPTIONAL DOUBLE", "", "double"),
            Self::Flag(_) => ("OPTIONAL BOOLEAN", "", "boolean"),
            Self::Time(_) => ("OPTIONAL INT64", " (TIMESTAMP(MILLIS,true))", "timestamp, UTC"),
        }
    }
}

/// Returns the schema, with the columns of segments if asked for.
pub(crate) fn schema(is_segment: bool) -> String {
    let mut text = String::from("message runs {\n");
    fields(&mut text, &RUN);
    fields(&mut text, &STAMPS);
    for TextsColumn { name, .. } in &TEXTS {
        let _ = writeln!(
            text,
            "REQUIRED GROUP {name} (LIST) {{ REPEATED GROUP list {{ REQUIRED BYTE_ARRAY element (STRING); }} }}"
        );
    }
    list(&mut text, "scores", &SCORE);
    if is_segment {
        list(&mut text, "files", &FILE);
        text.push_str(
            "REQUIRED GROUP index {\nREQUIRED INT32 version;\nREQUIRED BYTE_ARRAY row;\n}\n",
        );
    }
    text.push('}');
    text
}

fn fields<T>(text: &mut String, columns: &[Column<T>]) {
    for column in columns {
        let (before, after, _) = column.get.types();
        let _ = writeln!(text, "{before} {}{after};", column.name);
    }
}

fn list<T>(text: &mut String, name: &str, columns: &[Column<T>]) {
    let _ = writeln!(
        text,
        "REQUIRED GROUP {name} (LIST) {{ REPEATED GROUP list {{ REQUIRED GROUP element {{"
    );
    fields(text, columns);
    text.push_str("} } }\n");
}

/// Returns the tables of the reference page, as Markdown: the columns of a run, the fields of a
/// score, and the columns that only segments have.
pub fn reference() -> String {
    let mut text = String::from("## Columns\n\n| column | type | meaning |\n|---|---|---|\n");
    rows(&mut text, "", &RUN);
    rows(&mut text, "", &STAMPS);
    for TextsColumn { name, about, .. } in &TEXTS {
        let _ = writeln!(text, "| `{name}` | list of texts, never null | {about} |");
    }
    text.push_str(
        "| `scores` | list, never null | one item for each scorer of the task, in order |\n",
    );
    rows(&mut text, "scores[].", &SCORE);
    text.push_str("\n## Columns of segments\n\n| column | type | meaning |\n|---|---|---|\n");
    text.push_str("| `files` | list, never null | the files of the run, with their stamps |\n");
    rows(&mut text, "files[].", &FILE);
    text.push_str(
        "| `index.version` | int32 | version of the index that the next column is for |\n",
    );
    text.push_str("| `index.row` | bytes | what Touchstone's index needs besides; for Touchstone of the same version only |\n");
    text
}

fn rows<T>(text: &mut String, before: &str, columns: &[Column<T>]) {
    for column in columns {
        let (.., kind) = column.get.types();
        let _ = writeln!(text, "| `{before}{}` | {kind} | {} |", column.name, column.about);
    }
}
