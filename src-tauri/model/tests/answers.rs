//! Tests of finding and parsing the answer of a run.
use touchstone_model::answer::{explain_unparsable, extract};
use touchstone_model::error::ReadErrorKind;
use touchstone_model::json;

fn found(messages: &[&str], tag: Option<&str>) -> Option<(String, String, bool)> {
    extract(messages, tag)
        .map(|answer| (json::write(&answer.value, false), answer.source, answer.lenient))
}

#[expect(clippy::unnecessary_wraps, reason = "compared with what was found")]
fn answer(text: &str, source: &str, lenient: bool) -> Option<(String, String, bool)> {
    Some((text.to_owned(), source.to_owned(), lenient))
}

const LAST: &str = "last ```json fence";
const EARLIER: &str = "```json fence of an earlier message";

#[test]
fn the_last_fence_of_the_last_message_that_has_one_is_the_answer() {
    for (messages, expected) in [
        (vec!["```json\n[1]\n```\nor rather\n```json\n[2]\n```\n"], answer("[2]", LAST, false)),
        (vec!["```json\n[1]\n```", "done"], answer("[1]", EARLIER, false)),
        (vec!["  ```JSON  \n  [1]\n  ```"], answer("[1]", LAST, false)),
        (vec!["```\n[1]\n```"], None),
        (vec!["```python\nx = '''\n```json\n[1]\n```"], None),
        (vec!["```json\n[1]"], answer("[1]", LAST, false)),
        (vec!["```json [1] ```"], answer("[1]", LAST, false)),
        (vec!["Result: ```json\n[1]\n```"], answer("[1]", LAST, false)),
        (vec!["```json\n[1]```\n"], answer("[1]", LAST, false)),
        (vec!["~~~json\n[1]\n~~~"], answer("[1]", LAST, false)),
        (vec!["````json title=x\n[\"```\"]\n````"], answer("[\"```\"]", LAST, false)),
        (
            vec!["````markdown\n```json\n[1]\n```\n````\n```json\n[2]\n```"],
            answer("[2]", LAST, false),
        ),
        (vec!["```json\n[1]\n\n```json\n[2]\n```"], answer("[2]", LAST, false)),
        (vec!["```json\n[1]\n```\nI put it in ```json"], answer("[1]", LAST, false)),
        (vec!["```json\r\n[1]\r\n```\r\n"], answer("[1]", LAST, false)),
        (vec!["```json5\n[1]\n```"], None),
        (vec!["```json\n[1, 2"], None),
        (vec!["```json\n```"], None),
        (vec![""], None),
        (vec![], None),
    ] {
        assert_eq!(found(&messages, None), expected, "{messages:?}");
    }
}

#[test]
fn a_last_fence_that_cannot_be_read_hides_the_drafts_before_it() {
    for messages in [
        vec!["```json\n[1]\n```\n```json\n[2,\n```"],
        vec!["```json\n[1]\n```\n```json\n[2,"],
        vec!["```json\n[1]\n```", "```json\n[2,\n```"],
    ] {
        assert_eq!(found(&messages, None), None, "{messages:?}");
    }
}

#[test]
fn what_models_write_for_json_is_read_leniently() {
    for (text, expected) in [
        ("[{\"a\": 1,},]", "[{\"a\":1}]"),
        ("{'a': 'it\\'s'} // done", "{\"a\":\"it's\"}"),
        ("[1, /* two */ 2] # end", "[1,2]"),
        ("[NaN, -Infinity, None, True]", "[\".nan\",\"-.inf\",null,true]"),
        ("\"a\nb\"", "\"a\\nb\""),
        ("{\"a\": 1, \"b\": [{\"c\": 2, \"c\": 3}], \"a\": 4}", "{\"a\":4,\"b\":[{\"c\":3}]}"),
    ] {
        assert_eq!(
            found(&[&format!("```json\n{text}\n```")], None),
            answer(expected, LAST, true),
            "{text}"
        );
    }
}

#[test]
fn the_last_of_duplicate_keys_written_by_a_model_counts() {
    let pairs = |value: usize| {
        (0..40).map(|at| format!("\"k{at}\": {}", at * value)).collect::<Vec<_>>().join(", ")
    };
    let text = format!("```json\n{{{}, {}}}\n```", pairs(1), pairs(2));
    let expected = format!("{{{}}}", pairs(2)).replace(' ', "");
    assert_eq!(found(&[&text], None), answer(&expected, LAST, true));
}

#[test]
fn an_answer_that_cannot_be_read_has_a_reason() {
    let why = |messages: &[&str]| explain_unparsable(messages);
    assert_eq!(
        why(&["```json\n[1,\n2 3]\n```", "Done."]).as_deref(),
        Some("The last ```json fence is not valid JSON (line 2): A comma or `]` is missing here.")
    );
    for readable in [&["```json\n[1,]\n```"][..], &["no fence"], &["```json\n```"], &[]] {
        assert_eq!(why(readable), None, "{readable:?}");
    }
}

#[test]
fn a_tag_that_the_suite_names_comes_second() {
    let tagged = "<rows>\n[1]\n</rows> text <rows>[2]</rows>";
    assert_eq!(found(&[tagged], Some("rows")), answer("[2]", "<rows>", false));
    assert_eq!(found(&[tagged], None), None);
    assert_eq!(found(&[tagged, "```json\n[3]\n```"], Some("rows")), answer("[3]", LAST, false));
    assert_eq!(
        found(&["<time>\n1000.10\n</time>"], Some("time")),
        answer("1000.10", "<time>", false)
    );
    assert_eq!(found(&["<a>two words</a>"], Some("a")), answer("\"two words\"", "<a>", false));
    assert_eq!(found(&["<a>open"], Some("a")), None);
}

#[test]
fn numbers_keep_their_text() {
    let text = "[1.50,1e400,99999999999999999999999,-0.0]";
    assert_eq!(json::write(&json::read(text).unwrap(), false), text);
}

#[test]
fn strict_json_is_strict() {
    for (text, kind, words) in [
        ("[1,]", ReadErrorKind::Syntax, "not a JSON value"),
        ("{\"a\": 1, \"a\": 2}", ReadErrorKind::Duplicate, "`a` appears twice"),
        ("[01]", ReadErrorKind::Syntax, "not a JSON number"),
        ("[1.]", ReadErrorKind::Syntax, "not a JSON number"),
        ("{'a': 1}", ReadErrorKind::Syntax, "double quotes"),
        ("[1 2]", ReadErrorKind::Syntax, "comma"),
        ("\"\\ud83d\"x", ReadErrorKind::Syntax, "surrogate"),
        ("\"a\tb\" ", ReadErrorKind::Syntax, "control character"),
        ("\"\\x\"", ReadErrorKind::Syntax, "escape"),
        ("[1] 2", ReadErrorKind::Syntax, "after the end"),
        ("nul", ReadErrorKind::Syntax, "not a JSON value"),
        ("[1", ReadErrorKind::Truncated, "in the middle"),
        ("{\"a\": \"b", ReadErrorKind::Truncated, "in the middle"),
        ("", ReadErrorKind::Truncated, "empty"),
    ] {
        let error = json::read(text).unwrap_err();
        assert_eq!(error.kind, kind, "{text}: {error}");
        assert!(error.message.contains(words), "{text}: {error}");
    }
    let error = json::read("[\n  1,\n  x\n]").unwrap_err();
    assert_eq!(
        (error.line, error.column, error.excerpt.as_deref()),
        (Some(3), Some(3), Some("  x"))
    );
}
