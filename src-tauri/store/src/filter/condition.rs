//! **Pure.** Converts a filter into an SQL condition made of fixed fragments. User input only ever
//! becomes a parameter.
use super::keys::{Key, state_name};
use super::{Ask, Comparison, Filter, FilterValue, Pattern, Token, VerdictCondition};
use touchstone_api::RunState;

/// Text for a `WHERE` clause, with its parameters in order.
#[derive(Debug, Clone, PartialEq)]
pub struct Condition {
    /// SQL made of fixed fragments only.
    pub sql: String,
    /// One parameter for each `?`.
    pub params: Vec<Param>,
}

/// SQL parameter.
#[derive(Debug, Clone, PartialEq)]
pub enum Param {
    /// Text.
    Text(String),
    /// Number.
    Number(f64),
}

/// Hides files that are not transcripts unless the filter names them. Used alone, because SQLite
/// then answers it with the index on states.
const NO_OTHERS: &str = "state_order < 6";
/// Like [`NO_OTHERS`], but prevents SQLite from using the index on states, which would make every
/// other condition fetch its rows one by one.
const NO_OTHERS_AND: &str = "+state_order < 6";

pub(super) fn condition(filter: &Filter) -> Condition {
    if filter.invalid {
        return Condition { sql: "0".to_owned(), params: Vec::new() };
    }
    let alone = !filter.tokens.iter().any(is_column_token);
    let mut sql = String::from(match (asks_for_others(filter), alone) {
        (true, _) => "1",
        (false, true) => NO_OTHERS,
        (false, false) => NO_OTHERS_AND,
    });
    let mut params = Vec::new();
    for Token { negated, ask } in filter.tokens.iter().filter(|token| is_column_token(token)) {
        let Ask::Value(key, wanted) = ask else { continue };
        // A comparison with NULL is neither true nor false; negation must include such runs.
        sql.push_str(if *negated { " AND NOT coalesce((" } else { " AND coalesce((" });
        for (at, value) in wanted.iter().enumerate() {
            sql.push_str(if at == 0 { "" } else { " OR " });
            sql.push_str(fragment(*key, value, &mut params));
        }
        sql.push_str("), 0)");
    }
    Condition { sql, params }
}

/// Returns true for a token that is decided from columns of the index.
pub(crate) fn is_column_token(token: &Token) -> bool {
    let is_own = |wanted: &[FilterValue]| matches!(wanted, [FilterValue::Own(..), ..]);
    matches!(&token.ask, Ask::Value(key, wanted)
        if *key != Key::Label && key.step_text().is_none() && !is_own(wanted))
}

/// Returns true for a filter that asks for files that are not transcripts.
pub(crate) fn asks_for_others(filter: &Filter) -> bool {
    filter.tokens.iter().any(|token| match &token.ask {
        Ask::Value(Key::State, wanted) => {
            !token.negated && wanted.contains(&FilterValue::State(RunState::Other))
        }
        _ => false,
    })
}

macro_rules! compare {
    ($column:literal, $by:expr) => {
        match $by {
            Comparison::Less => concat!($column, " < ?"),
            Comparison::AtMost => concat!($column, " <= ?"),
            Comparison::Equal => concat!($column, " = ?"),
            Comparison::AtLeast => concat!($column, " >= ?"),
            Comparison::More => concat!($column, " > ?"),
        }
    };
}

fn fragment(key: Key, wanted: &FilterValue, params: &mut Vec<Param>) -> &'static str {
    match wanted {
        FilterValue::Like(pattern) => like(key, pattern, params),
        FilterValue::State(state) => {
            params.push(Param::Text(state_name(*state).to_owned()));
            "state = ?"
        }
        FilterValue::Word(word) => one_word(key, word, params),
        FilterValue::Flag(yes) => flag(key, *yes),
        FilterValue::Number(by, number) => {
            params.push(Param::Number(*number));
            compare(key, *by)
        }
        FilterValue::Date(by, date) => {
            params.extend([Param::Text(date.clone()), Param::Text(date.clone())]);
            compare!(
                "substr(datetime(coalesce(started, modified_ms / 1000.0), 'unixepoch'), 1, length(?))",
                *by
            )
        }
        FilterValue::Stored(pattern, ask) => stored(pattern, *ask, params),
        FilterValue::Holds(_) | FilterValue::Label(..) | FilterValue::Own(..) => "0",
    }
}

macro_rules! stored {
    ($what:literal) => {
        concat!("id IN (SELECT run FROM stored WHERE evaluator LIKE ? ESCAPE '\\' AND ", $what, ")")
    };
}

/// Condition on imported verdicts. A row whose result is `none` carries no statement of the
/// evaluator.
fn stored(pattern: &Pattern, ask: VerdictCondition, params: &mut Vec<Param>) -> &'static str {
    params.push(Param::Text(to_like_pattern(pattern)));
    match ask {
        VerdictCondition::Anything => stored!("result <> 'none'"),
        VerdictCondition::Result(result) => {
            params.push(Param::Text(result.word().to_owned()));
            stored!("result = ?")
        }
        VerdictCondition::Number(by, number) => {
            params.push(Param::Number(number));
            match by {
                Comparison::Less => stored!("number < ?"),
                Comparison::AtMost => stored!("number <= ?"),
                Comparison::Equal => stored!("number = ?"),
                Comparison::AtLeast => stored!("number >= ?"),
                Comparison::More => stored!("number > ?"),
            }
        }
    }
}

/// Returns the fragment that compares the column of a numeric key. The parser produces numbers only
/// for keys that accept them.
fn compare(key: Key, by: Comparison) -> &'static str {
    match key {
        Key::Score => compare!("score", by),
        Key::Repeat => compare!("repeat", by),
        Key::Turns => compare!("turns", by),
        Key::Calls => compare!("tool_calls", by),
        Key::Steps => compare!("steps", by),
        Key::Tokens => compare!("tokens", by),
        Key::Cost => compare!("cost", by),
        Key::Seconds => compare!("seconds", by),
        Key::Size => compare!("size", by),
        _ => "? IS NULL",
    }
}

fn one_word(key: Key, word: &str, params: &mut Vec<Param>) -> &'static str {
    match (key, word) {
        (Key::Review, "yes") => return "verdict IS NOT NULL OR review_score IS NOT NULL",
        (Key::Review, "no") => return "verdict IS NULL AND review_score IS NULL",
        _ => params.push(Param::Text(word.to_owned())),
    }
    match key {
        Key::Class => "class = ?",
        Key::Scoring => "scoring = ?",
        Key::Review => "verdict = ?",
        _ => "? IS NULL",
    }
}

fn flag(key: Key, yes: bool) -> &'static str {
    match (key, yes) {
        (Key::Passed, true) => "passed <> 0",
        (Key::Passed, false) => "passed = 0",
        (Key::Nudged, true) => "nudges > 0",
        (Key::Nudged, false) => "nudges = 0",
        (Key::Forked, true) => "lineage IS NOT NULL",
        (Key::Forked, false) => "lineage IS NULL",
        (Key::Superseded, true) => "lineage IS 'superseded'",
        (Key::Superseded, false) => "lineage IS NOT 'superseded'",
        (Key::Failed, true) => "failed_calls > 0",
        (Key::Failed, false) => "failed_calls = 0",
        (Key::Answer, true) => "has_answer <> 0",
        (Key::Answer, false) => "has_answer = 0",
        (Key::Missing, true) => "coalesce(missing_calls, '[]') <> '[]'",
        (Key::Missing, false) => "coalesce(missing_calls, '[]') = '[]'",
        _ => "0",
    }
}

fn escaped(piece: &str) -> String {
    piece.replace('\\', "\\\\").replace('%', "\\%").replace('_', "\\_")
}

fn to_like_pattern(pattern: &Pattern) -> String {
    pattern.0.iter().map(|piece| escaped(piece)).collect::<Vec<_>>().join("%")
}

/// Returns the pattern for `GLOB`, which tells upper and lower case apart.
fn to_glob_pattern(pattern: &Pattern) -> String {
    let escaped = |piece: &String| {
        piece.chars().fold(String::new(), |mut glob, char| {
            match char {
                '*' => glob.push_str("[*]"),
                '?' => glob.push_str("[?]"),
                '[' => glob.push_str("[[]"),
                char => glob.push(char),
            }
            glob
        })
    };
    pattern.0.iter().map(escaped).collect::<Vec<_>>().join("*")
}

fn like(key: Key, pattern: &Pattern, params: &mut Vec<Param>) -> &'static str {
    let whole = to_like_pattern(pattern);
    let mut push = |text: String| params.push(Param::Text(text));
    match key {
        Key::Task => {
            push(whole);
            "task LIKE ? ESCAPE '\\'"
        }
        Key::System => {
            push(whole);
            "system LIKE ? ESCAPE '\\'"
        }
        Key::Model => {
            push(whole);
            "model LIKE ? ESCAPE '\\'"
        }
        Key::Scorer => {
            push(whole);
            "scorer LIKE ? ESCAPE '\\'"
        }
        Key::Format => {
            push(whole);
            "layout LIKE ? ESCAPE '\\'"
        }
        Key::Variation => {
            push(whole.clone());
            push(whole);
            "CAST(variation AS TEXT) LIKE ? ESCAPE '\\' OR variation_name LIKE ? ESCAPE '\\'"
        }
        // Users rarely type whole paths: without a star, a substring match is enough.
        Key::Path => {
            push(if pattern.0.len() == 1 { format!("%{whole}%") } else { whole });
            "path LIKE ? ESCAPE '\\'"
        }
        // The path of a run in a file of many ends in `#` and its name there. Files whose names
        // differ in case are different.
        Key::File => {
            push(to_glob_pattern(pattern));
            push(to_glob_pattern(pattern));
            "substr(path, 1, length(path) - coalesce(length(member) + 1, 0)) GLOB ? OR path GLOB ?"
        }
        // Names are stored between line feeds. A star between two letters can match across two
        // names; that is rare and harmless.
        Key::Tool => {
            push(format!("%\n{whole}\n%"));
            "tools LIKE ? ESCAPE '\\'"
        }
        Key::Tag => {
            push(format!("%\n{whole}\n%"));
            push(format!("%\n{whole}\n%"));
            "tags LIKE ? ESCAPE '\\' OR suite_tags LIKE ? ESCAPE '\\'"
        }
        Key::Commit => {
            push(whole);
            "commit_name LIKE ? ESCAPE '\\'"
        }
        Key::Missing => {
            let json = pattern
                .0
                .iter()
                .map(|piece| escaped(&json_inside(piece)))
                .collect::<Vec<_>>()
                .join("%");
            push(format!("%\"{json}\"%"));
            "missing_calls LIKE ? ESCAPE '\\'"
        }
        _ => "0",
    }
}

/// Returns a text escaped as the content of a JSON string, without the quotes.
pub(crate) fn json_inside(text: &str) -> String {
    let json = serde_json::Value::from(text).to_string();
    json[1..json.len() - 1].to_owned()
}
