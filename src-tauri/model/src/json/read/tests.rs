//! Skipping a value is as strict as parsing it.
use super::*;
use proptest::prelude::*;

fn passes(text: &str) -> Option<String> {
    Reader::new(text, Mode::Embedded).parse_all(Reader::pass).err().map(|error| error.message)
}

#[test]
fn skipped_values_are_checked_like_read_values() {
    for text in [
        r#"{"a": [1, -2.5e3, true, null, "é\u00e9\ud83d\ude00\n\"", {}], "a": []}"#,
        "\"\\ud800\"",
        "\"\\x\"",
        "\"a\nb\"",
        "\"open",
        "[1, 2",
        "[1,]",
        "{\"a\" 1}",
        "{a: 1}",
        "[01]",
        "nul",
        "",
        "[] []",
    ] {
        let read = Reader::new(text, Mode::Embedded).document().err().map(|error| error.message);
        assert_eq!(passes(text), read, "{text}");
    }
    assert!(passes(&"[".repeat(100)).is_some_and(|why| why.contains("nested")));
}

proptest! {
    #[test]
    fn a_value_is_skipped_exactly_when_it_can_be_read(text in "[\\[\\]{}\",:\\\\u0-9a-f \n.-]{0,24}") {
        let read = Reader::new(&text, Mode::Embedded).document().err().map(|error| error.message);
        prop_assert_eq!(passes(&text), read);
    }
}
