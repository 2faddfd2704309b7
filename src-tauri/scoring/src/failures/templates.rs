//! **Pure.** Templates of error messages: the message of an error, and its text without what
//! differs from run to run (numbers, ids, names, paths, addresses). Messages that differ in one
//! such place are the same error.
use std::collections::{BTreeMap, BTreeSet};
use touchstone_model::json;
use touchstone_model::value::Value;

/// Maximum number of characters of a message.
const LONGEST: usize = 400;
/// Maximum number of words of a template.
const MOST_WORDS: usize = 24;
/// Placeholder for a place in which the messages of one error differ.
const ANY: &str = "<value>";
/// Number of plain words at one place from which the place is a name. Fewer may be different errors:
/// `the file is locked`, `the file is empty`.
const NAMES: usize = 8;
/// Keys with the message in replies of tools and providers, best first.
const MESSAGE_KEYS: [&str; 9] =
    ["message", "detail", "error", "reason", "error_message", "stderr", "body", "text", "title"];
/// Words before a number that say it is a status and therefore part of the error.
const STATUS: [&str; 8] =
    ["status", "code", "http", "answered", "returned", "error", "exit", "http/1.1"];
/// Words before a colon or an equals sign that say that the error itself follows, not a name.
const OUTCOME: [&str; 15] = [
    "cause",
    "code",
    "denied",
    "error",
    "exception",
    "failure",
    "fatal",
    "message",
    "reason",
    "refused",
    "rejected",
    "state",
    "status",
    "type",
    "warning",
];

/// Returns the message of an error in one line; empty if it has none. Of a traceback it is the last
/// line, of an object the value of the key that usually has it.
pub(super) fn error_message(value: &Value) -> String {
    find_message(value, 0).unwrap_or_default()
}

fn find_message(value: &Value, level: usize) -> Option<String> {
    if level > 8 {
        return None;
    }
    match value {
        Value::Null => None,
        Value::Bool(bool) => Some(bool.to_string()),
        Value::Number(number) => Some(number.clone()),
        Value::Text(text) => {
            let inside = json::embedded(text).filter(|inside| matches!(inside, Value::Map(_)));
            let inside = inside.and_then(|inside| find_message(&inside, level + 1));
            inside.or_else(|| message_line(text))
        }
        Value::List(items) => items.iter().find_map(|item| find_message(item, level + 1)),
        Value::Map(_) => {
            MESSAGE_KEYS.iter().find_map(|key| find_message(value.get_non_null(key)?, level + 1))
        }
    }
}

/// Returns the line of a text that says what went wrong.
fn message_line(text: &str) -> Option<String> {
    let mut lines = text.lines().map(str::trim).filter(|line| !line.is_empty());
    let (line, next) = if text.contains("Traceback (most recent call last)") {
        // What a program prints after a traceback belongs to another error.
        (lines.rfind(|line| !line.starts_with(['^', '~']))?, None)
    } else {
        let line = lines.find(|line| line.chars().any(char::is_alphanumeric))?;
        // `Error executing the query:` says nothing without what follows.
        (line, lines.next().filter(|_| line.ends_with(':')))
    };
    let words: Vec<&str> =
        line.split_whitespace().chain(next.into_iter().flat_map(str::split_whitespace)).collect();
    Some(words.join(" ").chars().take(LONGEST).collect())
}

/// Returns the words of a message with placeholders for what differs from run to run.
pub(super) fn template(message: &str) -> Vec<String> {
    let message = without_quotations(message);
    let mut words: Vec<String> = Vec::new();
    for word in message.split_whitespace() {
        let after_status = words.last().is_some_and(|last| {
            let last = last.trim_end_matches([':', '=', ',']).to_ascii_lowercase();
            STATUS.contains(&last.trim_start_matches('('))
        });
        let word = abstract_word(word, after_status);
        // A list of numbers is as good as one of them.
        if words.last().is_some_and(|last| is_placeholder(&word) && core(last) == core(&word)) {
            continue;
        }
        if words.len() == MOST_WORDS {
            words.push("…".to_owned());
            break;
        }
        words.push(word);
    }
    words
}

/// Replaces quoted names and texts by placeholders. An apostrophe inside a word is no quotation
/// mark.
fn without_quotations(message: &str) -> String {
    let mut out = String::with_capacity(message.len());
    let mut rest = message;
    while let Some(open) = rest.chars().next() {
        let close = match open {
            '"' | '`' | '\'' => open,
            '“' => '”',
            '‘' => '’',
            _ => '\0',
        };
        let before = out.chars().next_back();
        let may_open = before.is_none_or(|c| !c.is_alphanumeric());
        let after = &rest[open.len_utf8()..];
        let end = (close != '\0' && may_open).then(|| closing(after, close)).flatten();
        if let Some(end) = end {
            let inside = &after[..end];
            let is_text = inside.split_whitespace().count() > 1;
            let is_whole = out.trim().is_empty()
                && !after[end + close.len_utf8()..].contains(char::is_alphanumeric);
            let is_message = before == Some('(') || is_whole || announces(&out);
            if is_text && is_message {
                // The error itself: `RuntimeError('the sandbox went away')`, `Error: "disk full"`.
                out.push_str(inside);
            } else {
                out.push_str(if is_text { "<text>" } else { "<name>" });
            }
            rest = &after[end + close.len_utf8()..];
        } else {
            out.push(open);
            rest = after;
        }
    }
    out
}

/// Returns true if the text before a quotation says that the error itself follows: it ends in
/// `Error:` or the like.
fn announces(before: &str) -> bool {
    let before = before.trim_end();
    let word = before.split_whitespace().next_back().unwrap_or_default();
    word.ends_with([':', '=']) && is_outcome(word)
}

/// Returns true for a word that says that something went wrong, so that what follows says what.
fn is_outcome(word: &str) -> bool {
    let word = core(word).to_ascii_lowercase();
    word.ends_with("error")
        || word.ends_with("exception")
        || word.ends_with("failed")
        || OUTCOME.contains(&word.as_str())
}

/// Returns the position of the quotation mark that closes a quotation.
fn closing(text: &str, mark: char) -> Option<usize> {
    text.match_indices(mark).map(|(at, _)| at).find(|at| {
        *at > 0 && text[at + mark.len_utf8()..].chars().next().is_none_or(|c| !c.is_alphanumeric())
    })
}

/// Replaces the core of a word, that is, the word without punctuation around it, if it differs from
/// run to run.
fn abstract_word(word: &str, after_status: bool) -> String {
    if word.contains('<') && word.contains('>') {
        return word.to_owned();
    }
    let is_edge = |c: char| "()[]{},;:!?.'\"`“”‘’=".contains(c);
    let start = word.len() - word.trim_start_matches(is_edge).len();
    let end = word.trim_end_matches(is_edge).len().max(start);
    let (before, middle, after) = (&word[..start], &word[start..end], &word[end..]);
    // `order_id=17` and `column:prio` are a name and a value.
    if let Some((name, value)) = middle.split_once('=')
        && !name.is_empty()
        && !name.contains(['/', '?'])
    {
        // `reason=timeout` is another error than `reason=denied`; `user=alice` names a user.
        let kept = if is_outcome(name) { value } else { ANY };
        let is_status = STATUS.contains(&name.to_ascii_lowercase().as_str());
        return format!(
            "{before}{name}={}{after}",
            abstract_core(value, is_status).unwrap_or(kept)
        );
    }
    match abstract_core(middle, after_status) {
        Some(placeholder) => format!("{before}{placeholder}{after}"),
        None => word.to_owned(),
    }
}

/// Returns the placeholder for a word; `None` if it is part of the error.
fn abstract_core(word: &str, after_status: bool) -> Option<&'static str> {
    let has = |test: fn(&char) -> bool| word.chars().any(|c| test(&c));
    let digits = word.chars().filter(char::is_ascii_digit).count();
    let letters = word.chars().filter(|c| c.is_alphabetic()).count();
    if word.ends_with("Error") || word.ends_with("Exception") {
        return None;
    }
    if word.contains("://") {
        return Some("<url>");
    }
    if word.contains('@') && word.contains('.') {
        return Some("<address>");
    }
    if word.starts_with(['/', '~']) && word.len() > 1
        || word.starts_with("./")
        || word.matches('/').count() > 1
        || word.contains(":\\")
    {
        return Some("<path>");
    }
    if digits == 0 {
        let is_dotted = word.contains('.')
            && word.split('.').all(|part| !part.is_empty() && part.chars().all(is_name));
        return (is_dotted && letters > 1).then_some("<name>");
    }
    let is_status = digits == 3 && word.len() == 3 && word.as_bytes()[0].is_ascii_digit();
    if is_status && after_status && matches!(word.as_bytes()[0], b'1'..=b'5') {
        return None;
    }
    let starts_with_digit = word.starts_with(|c: char| c.is_ascii_digit() || c == '$' || c == '-');
    if starts_with_digit && word.contains(':') && digits >= 3
        || digits >= 8 && letters <= 2 && word.matches('-').count() == 2
        || digits == 8 && word.matches('-').count() == 2
    {
        return Some("<time>");
    }
    if word.matches('.').count() == 3 && letters == 0 {
        return Some("<address>");
    }
    // A number, perhaps with a unit: `30`, `-1.5`, `12%`, `30s`, `5GB`, `600-second`.
    let unit = word.trim_start_matches(|c: char| c.is_ascii_digit() || "$-+.,%_".contains(c));
    if starts_with_digit && unit.chars().all(char::is_alphabetic) && unit.len() <= 3 {
        return Some("<n>");
    }
    let is_version = letters <= 1 && digits >= 1 && has(|c| *c == '.');
    if is_version {
        return Some("<n>");
    }
    let is_hex = word.len() >= 8 && word.chars().all(|c| c.is_ascii_hexdigit() || c == '-');
    let is_mixed = letters > 0 && (digits > 2 || word.len() > 5 || word.contains(['-', '_', '#']));
    // `W17`, `T4`
    let is_code = letters <= 2
        && word.starts_with(|c: char| c.is_ascii_uppercase())
        && word.ends_with(|c: char| c.is_ascii_digit());
    (is_hex || is_mixed || is_code || word.starts_with('#')).then_some("<id>")
}

fn is_name(c: char) -> bool {
    c.is_alphanumeric() || c == '_'
}

fn core(word: &str) -> &str {
    word.trim_matches(|c: char| "()[]{},;:!?.=".contains(c))
}

fn is_placeholder(word: &str) -> bool {
    let word = core(word);
    word.starts_with('<') && word.ends_with('>')
}

/// Returns true for a word that is a value rather than a part of the sentence: a placeholder, or a
/// word with an underscore, a dot, a digit or a capital letter inside. Codes that name the error
/// (`ECONNREFUSED`, `KeyError`, `rate_limit_error`, a status) and words of prose (`read-only`) are
/// none.
fn is_value(word: &str) -> bool {
    let word = core(word);
    if is_placeholder(word) {
        return true;
    }
    let has = |test: fn(char) -> bool| word.chars().any(test);
    let lower = word.to_ascii_lowercase();
    let is_code = ["error", "exception", "exceeded", "failure", "timeout"]
        .iter()
        .any(|end| lower.ends_with(end))
        || !has(|c| c.is_lowercase() || c.is_ascii_digit()) && has(char::is_uppercase)
        || word.bytes().all(|byte| byte.is_ascii_digit());
    let is_prose = word.chars().all(|c| c.is_lowercase() || c == '-');
    !is_code
        && !is_prose
        && (word.contains(['_', '.', '/', '-', '*'])
            || has(|c| c.is_ascii_digit())
            || word.chars().skip(1).any(char::is_uppercase))
}

/// Merges templates that differ in one place, if that place holds a value: a value by its form, what
/// follows a colon at the end of the message (`no such column: prio`, but not `failed: refused`), or
/// one of many names. Returns the text of the merged template of each template. The order of the
/// templates does not matter.
pub(super) fn merge<'t>(
    templates: impl IntoIterator<Item = &'t [String]>,
) -> BTreeMap<&'t [String], String> {
    let all: BTreeSet<&[String]> = templates.into_iter().collect();
    let all: Vec<&[String]> = all.into_iter().collect();
    // Templates by their words with one of them left out.
    let mut alike: BTreeMap<(usize, Vec<&str>), Vec<usize>> = BTreeMap::new();
    for (at, words) in all.iter().enumerate().filter(|(_, words)| words.len() > 1) {
        for place in 0..words.len() {
            let mut rest: Vec<&str> = words.iter().map(String::as_str).collect();
            rest[place] = "";
            alike.entry((place, rest)).or_default().push(at);
        }
    }
    let mut groups = Groups::new(all.len());
    for ((place, rest), members) in &alike {
        if members.len() < 2 || rest.len() < 3 {
            continue;
        }
        let follows_colon = *place > 0 && rest[*place - 1].ends_with([':', '=']);
        let names_it = follows_colon && !is_outcome(rest[*place - 1]);
        let at_end = place + 1 == rest.len() && *place > 1 && names_it;
        let word = |at: usize| all[at][*place].as_str();
        let values: Vec<usize> =
            members.iter().copied().filter(|at| at_end || is_value(word(*at))).collect();
        let of_names = members.len() >= NAMES && *place > 0;
        for pair in if of_names { members } else { &values }.windows(2) {
            groups.join(pair[0], pair[1]);
        }
    }
    let mut texts: BTreeMap<usize, Vec<&str>> = BTreeMap::new();
    for (at, words) in all.iter().enumerate() {
        let root = groups.root(at);
        let merged =
            texts.entry(root).or_insert_with(|| words.iter().map(String::as_str).collect());
        for (word, other) in merged.iter_mut().zip(words.iter()) {
            if *word != other {
                *word = ANY;
            }
        }
    }
    let text = |at: usize| texts.get(&groups.root(at)).map(|words| words.join(" "));
    all.iter().enumerate().map(|(at, words)| (*words, text(at).unwrap_or_default())).collect()
}

/// Disjoint groups of numbers; the root of a group is its smallest member.
struct Groups(Vec<usize>);

impl Groups {
    fn new(count: usize) -> Self {
        Self((0..count).collect())
    }

    fn root(&self, mut at: usize) -> usize {
        while self.0[at] != at {
            at = self.0[at];
        }
        at
    }

    fn join(&mut self, one: usize, other: usize) {
        let (one, other) = (self.root(one), self.root(other));
        self.0[one.max(other)] = one.min(other);
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn template_of(message: &str) -> String {
        template(message).join(" ")
    }

    #[test]
    fn what_differs_from_run_to_run_is_replaced() {
        for (message, expected) in [
            ("order 1834 not found", "order <n> not found"),
            ("Order #W2378156 was not found.", "Order <id> was not found."),
            ("no such column: t.prio", "no such column: <name>"),
            ("no such table 'tickets'", "no such table <name>"),
            ("I can't open `a b c` and won't try", "I can't open <text> and won't try"),
            (
                "HTTP 429: Too many requests, retry in 20s",
                "HTTP 429: Too many requests, retry in <n>",
            ),
            (
                "The provider answered 529 overloaded_error",
                "The provider answered 529 overloaded_error",
            ),
            ("Cannot read /var/lib/x/data.csv", "Cannot read <path>"),
            ("GET https://api.example.com/v1/x failed", "GET <url> failed"),
            ("connect 10.0.0.12 refused", "connect <address> refused"),
            ("Timed out at 2025-03-04T09:48:21.462Z", "Timed out at <time>"),
            ("At 09:48:21 on 2025-03-04", "At <time> on <time>"),
            ("request 6f1c2d3e-9a7b-4c5d-8e9f-0a1b2c3d4e5f failed", "request <id> failed"),
            ("object at 0x7f3a2b1c", "object at <id>"),
            ("expected [1, 2, 3, 4] items", "expected [<n>, items"),
            ("order_id=17 is unknown", "order_id=<n> is unknown"),
            ("bob@example.com has no account", "<address> has no account"),
            (
                "sqlite3.OperationalError: near \"FROM\": syntax error",
                "sqlite3.OperationalError: near <name>: syntax error",
            ),
            ("User not found", "User not found"),
            ("Order W17 and o1", "Order <id> and o1"),
            (
                "CancelledError('Cancelled via scope 7fc49b4c0a40')",
                "CancelledError(Cancelled via scope <id>)",
            ),
        ] {
            assert_eq!(template_of(message), expected, "{message}");
        }
    }

    #[test]
    fn a_long_message_keeps_its_beginning() {
        let words = template(&"word other ".repeat(40));
        assert_eq!((words.len(), words.last().map(String::as_str)), (MOST_WORDS + 1, Some("…")));
    }

    #[test]
    fn the_message_is_found_where_tools_and_programs_put_it() {
        let map = |key: &str, value: Value| Value::Map(vec![(key.into(), value)]);
        for (value, expected) in [
            ("\n Order 7 not  found.\nSee the manual.".into(), "Order 7 not found."),
            (
                "Traceback (most recent call last):\n  File \"a.py\", line 1\nValueError: no"
                    .into(),
                "ValueError: no",
            ),
            (map("error", map("message", "Too large".into())), "Too large"),
            ("{\"detail\": \"Try again\", \"code\": 3}".into(), "Try again"),
            (Value::List(vec![Value::Null, "first".into()]), "first"),
            (Value::Null, ""),
            (map("count", Value::Number("3".into())), ""),
        ] {
            assert_eq!(error_message(&value), expected, "{value:?}");
        }
    }

    fn merged(messages: &[&str]) -> Vec<String> {
        let templates: Vec<Vec<String>> = messages.iter().map(|one| template(one)).collect();
        let merged = merge(templates.iter().map(Vec::as_slice));
        templates.iter().map(|words| merged[words.as_slice()].clone()).collect()
    }

    #[test]
    fn messages_that_differ_in_one_value_are_the_same_error() {
        assert_eq!(
            merged(&["no such column: prio", "no such column: t.state", "no such table: prio"]),
            ["no such column: <value>", "no such column: <value>", "no such table: prio"]
        );
        let names = ["alice", "bob", "carol", "dan", "eve", "frank", "grace", "heidi"];
        let unknown = names.map(|name| format!("user {name} not found"));
        assert_eq!(merged(&unknown.each_ref().map(String::as_str)), ["user <value> not found"; 8]);
        assert_eq!(
            merged(&["column order_total is unknown", "column due_date is unknown"]),
            ["column <value> is unknown"; 2]
        );
    }

    #[test]
    fn messages_that_differ_in_a_word_of_the_sentence_are_other_errors() {
        for pair in [
            ["user not found", "order not found"],
            ["the file is locked", "the file is empty"],
            ["timed out", "gave up"],
        ] {
            assert_eq!(merged(&pair), pair);
        }
    }

    #[test]
    fn three_errors_with_different_words_stay_three() {
        for three in [
            ["the file is locked", "the file is empty", "the file is missing"],
            ["request failed: refused", "request failed: reset", "request failed: closed"],
            ["HTTP error: forbidden", "HTTP error: overloaded", "HTTP error: unavailable"],
            ["answered with status 404", "answered with status 429", "answered with status 500"],
            ["connect ECONNREFUSED <address>", "connect ETIMEDOUT <address>", "connect EPIPE x"],
            ["KeyError: no row", "ValueError: no row", "TypeError: no row"],
            ["it sent overloaded_error now", "it sent api_error now", "it sent auth_error now"],
            ["the table is read-only", "the table is write-protected", "the table is half-open"],
            ["call failed reason=timeout", "call failed reason=denied", "call failed reason=quota"],
            ["order paid already", "order shipped already", "order returned already"],
        ] {
            assert_eq!(merged(&three), three);
        }
        assert_eq!(
            merged(&["Error: 'disk is full'", "Error: 'no such host'", "Error: 'access denied'"]),
            ["Error: disk is full", "Error: no such host", "Error: access denied"]
        );
        assert_eq!(template_of("no such table: 'my orders'"), "no such table: <text>");
        assert_eq!(template_of("'disk is full'."), "disk is full.");
    }

    #[test]
    fn a_quotation_at_the_beginning_and_what_follows_a_word_in_ed_are_values() {
        assert_eq!(
            merged(&[
                "'gold plan' is not a plan",
                "'silver tier' is not a plan",
                "'big deal here' is not a plan",
            ]),
            ["<text> is not a plan"; 3]
        );
        for word in ["required", "expected", "named"] {
            let messages = ["alice", "bob", "carol"].map(|name| format!("field {word}: {name}"));
            let expected = format!("field {word}: <value>");
            assert_eq!(merged(&messages.each_ref().map(String::as_str)), vec![expected; 3]);
        }
        let kept = ["request refused: quota", "request refused: region"];
        assert_eq!(merged(&kept), kept);
    }

    #[test]
    fn a_line_that_only_announces_a_message_is_followed_by_it() {
        let message = |text: &str| error_message(&text.into());
        assert_eq!(
            message("Error executing the query:\n  disk is full\nrow 7"),
            "Error executing the query: disk is full"
        );
        assert_eq!(message("Error:"), "Error:");
    }

    #[test]
    fn the_order_of_messages_does_not_matter() {
        let mut messages = [
            "field a_b is missing",
            "field c_d is missing",
            "field e_f was missing",
            "key: x y",
            "key: x z",
        ];
        let mut one: Vec<String> = merged(&messages);
        messages.reverse();
        let other = merged(&messages);
        one.reverse();
        assert_eq!(one, other);
    }
}
