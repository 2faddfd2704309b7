//! Tests that all secrets are removed, and nothing else, on chosen and on random texts.
use super::*;
use base64::engine::general_purpose::{STANDARD as WITH_PADDING, URL_SAFE_NO_PAD};
use proptest::prelude::*;

const SECRET: &str = "canary/+ \"pässword\"?9";

fn cleaned(text: &str) -> String {
    Redactor::new([SECRET]).clean(text).into_owned()
}

#[test]
fn a_known_secret_goes_however_it_is_written() {
    let json = serde_json::json!({ "key": SECRET }).to_string();
    let cases = [
        format!("before {SECRET} after"),
        format!("{SECRET}{SECRET}"),
        serde_json::json!({ "arguments": json }).to_string(),
        json.replace('/', "\\/"),
        json.replace('ä', "\\u00e4"),
        json,
        hex(SECRET.as_bytes(), "", false),
        hex(SECRET.as_bytes(), "", true),
        "canary%2F%2B%20%22p%C3%A4ssword%22%3F9".to_owned(),
        "canary%2f%2b+%22p%c3%a4ssword%22%3f9".to_owned(),
        "canary/%2B%20%22p%C3%A4ssword%22%3F9".to_owned(),
    ];
    for case in cases {
        let clean = cleaned(&case);
        assert!(clean.contains(MARK), "{case} stayed {clean}");
        assert!(!clean.contains("ssword") && !clean.contains("canary"), "{case} became {clean}");
    }
}

#[test]
fn base64_gives_nothing_away_wherever_the_secret_begins_in_it() {
    for before in ["", "a", "ab", "user:", "xyzw"] {
        for after in ["", "z", "\n", "end"] {
            let text = format!("{before}{SECRET}{after}");
            for encoded in [WITH_PADDING.encode(&text), URL_SAFE_NO_PAD.encode(&text)] {
                let clean = cleaned(&encoded);
                assert!(clean.contains(MARK), "{encoded}");
                assert!(
                    clean.len() < before.len() + after.len() + MARK.len() + 12,
                    "{encoded} became {clean}"
                );
            }
        }
    }
}

#[test]
fn secrets_that_overlap_or_contain_each_other_go_whole() {
    let redactor = Redactor::new(["abcdefghijkl", "ijklmnopqrst", "efghijklmnop"]);
    assert_eq!(redactor.clean("<abcdefghijklmnopqrst>"), "<[redacted]>");
    assert_eq!(redactor.clean("<abcdefgh>"), "<abcdefgh>");
}

#[test]
fn what_looks_like_a_secret_goes_though_nobody_knows_it() {
    let cases = [
        ("key sk-ant-api03-AbCdEf_123456-xyz!", "key [redacted]!"),
        ("sk-proj-0123456789abcdefXYZ", "[redacted]"),
        ("Authorization: Bearer abc.def-123456==", "Authorization: Bearer [redacted]"),
        ("BEARER\tabcdef123456", "BEARER\t[redacted]"),
        ("postgres://me:hunter2@db.example/x", "postgres://me:[redacted]@db.example/x"),
        ("redis://:hunter2@h", "redis://:[redacted]@h"),
    ];
    let redactor = Redactor::new([]);
    for (text, expected) in cases {
        assert_eq!(redactor.clean(text), expected);
        assert_eq!(redactor.clean(expected), expected, "twice is like once");
    }
}

#[test]
fn ordinary_text_stays_itself() {
    let redactor = Redactor::new([SECRET, "short"]);
    for text in [
        "a short word",
        "task-oriented-risk-assessment-2024",
        "sk-learn-is-a-well-known-library",
        "the bearer authentication-scheme is described elsewhere",
        "https://example.org:8080/a@b and mailto:a@b.c, 12:30 @ home",
        "https://example.org/?a=b:c@d",
        "",
    ] {
        assert!(matches!(redactor.clean(text), Cow::Borrowed(same) if same == text), "{text}");
    }
}

#[test]
fn secrets_go_from_bytes_that_are_no_text_as_well() {
    let redactor = Redactor::new(["abcdefgh"]);
    assert_eq!(redactor.clean_body(b"\xff<abcdefgh>\xff", false).as_ref(), b"\xff<[redacted]>\xff");
    assert_eq!(redactor.clean_body(b"<abcdefgh>", false).as_ref(), b"<[redacted]>");
    assert!(matches!(redactor.clean_body(b"\xff<abcdefg>", false), Cow::Borrowed(_)));
}

#[test]
fn what_only_looks_like_a_secret_stays_in_what_was_said_and_goes_from_errors() {
    let redactor = Redactor::new(["abcdefgh"]);
    let said = "SELECT 'sk-0123456789abcdefXYZ', 'postgres://me:hunter2@h/d', 'abcdefgh'";
    assert_eq!(redactor.redact_known(said), said.replace("abcdefgh", MARK));
    assert_eq!(redactor.clean_body(said.as_bytes(), false), redactor.redact_known(said).as_bytes());
    let error = redactor.clean_body(said.as_bytes(), true);
    assert_eq!(
        error.as_ref(),
        b"SELECT '[redacted]', 'postgres://me:[redacted]@h/d', '[redacted]'"
    );
}

#[test]
fn addresses_and_mail_in_one_document_are_no_password() {
    let redactor = Redactor::new([]);
    for text in [
        r#"{"site":"http://acme.com","email":"joe@acme.com"}"#,
        r#"{"u":"http://localhost:8080","to":"a@b"}"#,
        r#"{\"u\":\"http://localhost:8080\",\"to\":\"a@b\"}"#,
        "http://localhost:8080,a@b http://localhost:8080;a@b <http://h:80>a@b [x](http://h:80)a@b http://h:80&a@b",
    ] {
        assert_eq!(redactor.clean(text), text);
    }
}

#[test]
fn a_secret_that_begins_like_an_escape_leaves_json_sound_at_every_depth() {
    for (secret, said) in [
        ("nsecret12", "\nsecret12"),
        ("u00e4secret", "\u{1}u00e4secret"),
        ("0001secret", "\u{1}secret"),
        ("01secret", "\u{1}secret"),
        ("\"secret12", "\"secret12"),
        ("abcdefg\\", "abcdefg\""),
        ("/secret12", "a\\/secret12"),
    ] {
        let inner = serde_json::json!({ "a": said }).to_string();
        let outer = serde_json::json!({ "arguments": inner }).to_string();
        for json in [inner, outer] {
            let redactor = Redactor::new([secret]);
            let clean = redactor.clean_body(json.as_bytes(), false);
            let clean: serde_json::Value = serde_json::from_slice(&clean).unwrap();
            if let Some(inner) = clean.get("arguments").and_then(serde_json::Value::as_str) {
                let inner: Result<serde_json::Value, _> = serde_json::from_str(inner);
                assert!(inner.is_ok() || secret.ends_with('\\'), "{secret}");
            }
        }
    }
}

/// Ordinary words, and fragments like those at both ends of an address with a password.
fn document() -> impl Strategy<Value = serde_json::Value> {
    let words = [
        "http://acme.com",
        "http://localhost:8080",
        "joe@acme.com",
        "a@b",
        "at 12:30",
        "ssh://h:22/x",
        "ä\n\t\"q\"",
    ];
    let text = prop::collection::vec(prop::sample::select(words.to_vec()), 0..4);
    let text = (text, prop::sample::select(vec![" ", ", ", ",", "; ", "\n", "\"", "'", "&"]));
    let text = text.prop_map(|(words, between)| serde_json::Value::String(words.join(between)));
    let leaf = prop_oneof![
        text,
        any::<i32>().prop_map(serde_json::Value::from),
        Just(serde_json::Value::Null)
    ];
    leaf.prop_recursive(3, 20, 4, move |inner| {
        let key = prop::sample::select(words.to_vec());
        prop_oneof![
            prop::collection::vec(inner.clone(), 0..4).prop_map(serde_json::Value::from),
            prop::collection::vec((key, inner), 0..4).prop_map(|entries| {
                entries
                    .into_iter()
                    .map(|(key, value)| (key.to_owned(), value))
                    .collect::<serde_json::Map<_, _>>()
                    .into()
            }),
        ]
    })
}

proptest! {
    #![proptest_config(ProptestConfig::with_cases(64))]

    #[test]
    fn a_document_of_ordinary_text_is_the_same_after_it_was_cleaned(document in document(), pretty in any::<bool>()) {
        let inner = if pretty { serde_json::to_string_pretty(&document) } else { serde_json::to_string(&document) }.unwrap();
        let outer = serde_json::json!({ "arguments": inner }).to_string();
        let redactor = Redactor::new([SECRET]);
        for text in [inner, outer] {
            prop_assert_eq!(redactor.clean(&text), text.as_str());
        }
    }

    #[test]
    fn json_with_a_secret_in_it_is_json_without_it(
        secret in "[A-Za-z0-9/+ \"\\\\äß%&_-]{8,20}",
        before in "[a-z \n\"\\\\\u{1}]{0,8}",
        after in "[a-z \n\"]{0,8}",
    ) {
        let secret = secret.trim();
        prop_assume!(secret.len() >= SHORTEST);
        let inner = serde_json::json!({ "a": format!("{before}{secret}{after}"), "b": 1 }).to_string();
        let outer = serde_json::json!({ "arguments": inner, "c": [1] }).to_string();
        let redactor = Redactor::new([secret]);
        let clean = |text: &str| String::from_utf8(redactor.clean_body(text.as_bytes(), false).into_owned()).unwrap();
        for text in [inner, outer] {
            let clean = clean(&text);
            let read: serde_json::Value = serde_json::from_str(&clean).unwrap();
            prop_assert!(clean.contains(MARK) && !clean.contains(secret), "{clean}");
            if let Some(inner) = read.get("arguments").and_then(serde_json::Value::as_str) {
                let inner: serde_json::Value = serde_json::from_str(inner).unwrap();
                prop_assert_eq!(&inner["b"], 1);
            }
        }
    }

    #[test]
    fn a_secret_never_survives_and_the_rest_is_unchanged(
        secret in "[A-Za-z0-9/+ \"\\\\äß%&_-]{8,40}",
        before in "[a-z ,.{}:]{0,30}",
        after in "[a-z ,.{}:]{0,30}",
        form in 0usize..30,
    ) {
        let secret = secret.trim();
        prop_assume!(secret.len() >= SHORTEST && !secret.contains("sk-") && !MARK.contains(secret));
        let forms = forms(secret);
        let written = &forms[form % forms.len()];
        prop_assume!(written.len() >= SHORTEST);
        // Neighbouring text that continues the secret would be removed with it.
        prop_assume!(!before.contains(secret) && !after.contains(secret));
        let clean = Redactor::new([secret]).clean(&format!("{before}{written}{after}")).into_owned();
        prop_assert!(!clean.contains(written.as_str()), "{clean}");
        prop_assert!(clean.starts_with(&before[..before.len().saturating_sub(secret.len())]));
        prop_assert!(clean.ends_with(&after[after.len().min(secret.len())..]));
    }

    #[test]
    fn text_without_secrets_is_not_even_copied(text in "[a-z0-9 äöü\n{}\",.]{0,200}") {
        let redactor = Redactor::new(["CANARY-CANARY-CANARY"]);
        prop_assert!(matches!(redactor.clean(&text), Cow::Borrowed(same) if same == text));
    }

    #[test]
    fn any_text_can_be_cleaned(text in "\\PC{0,200}", secret in "\\PC{0,20}") {
        let redactor = Redactor::new([secret.as_str()]);
        let clean = redactor.clean(&text).into_owned();
        let secret = secret.trim();
        prop_assert!(secret.len() < SHORTEST || !text.contains(secret) || clean != text);
    }
}

/// Writes each character of a secret literally or with one of the escapes of JSON, YAML, JavaScript
/// and Python.
fn escaped(secret: &str, ways: &[u8]) -> String {
    let mut text = String::new();
    for (letter, way) in secret.chars().zip(ways.iter().cycle()) {
        let code = u32::from(letter);
        let units: Vec<u16> = letter.encode_utf16(&mut [0; 2]).to_vec();
        let _ = match way % 7 {
            0 => write!(
                text,
                "{}",
                units.iter().fold(String::new(), |text, unit| text + &format!("\\u{unit:04x}"))
            ),
            1 => write!(
                text,
                "{}",
                units.iter().fold(String::new(), |text, unit| text + &format!("\\u{unit:04X}"))
            ),
            2 if code < 0x100 => write!(text, "\\x{code:02x}"),
            3 => write!(text, "\\U{code:08X}"),
            4 => write!(text, "\\u{{{code:x}}}"),
            5 if code < 0x80 => write!(text, "\\{code:03o}"),
            6 if b"/\"'\\".contains(&u8::try_from(code).unwrap_or(0)) => write!(text, "\\{letter}"),
            _ if letter == '\\' || letter == '"' => write!(text, "\\{letter}"),
            _ => write!(text, "{letter}"),
        };
    }
    text
}

proptest! {
    #[test]
    fn a_secret_goes_by_whatever_escapes_it_is_written_and_however_deep_in_texts_of_json(
        secret in "[A-Za-z0-9/+_=-]{8,24}",
        ways in prop::collection::vec(any::<u8>(), 1..12),
        before in "[a-z \n\"\\\\é]{0,8}",
        after in "[a-z \n\"é]{0,8}",
        depth in 0usize..4,
    ) {
        let redactor = Redactor::new([secret.as_str()]);
        // The start of an escape is removed with the escape it may belong to.
        let before = before.split('\\').next().unwrap_or_default();
        prop_assume!(!MARK.contains(&secret));
        let mut text = escaped(&secret, &ways);
        let sides = [before.to_owned(), after.clone()];
        let [mut before, mut after] = sides.map(|side| json_escaped(&side));
        for _ in 0..depth {
            [before, text, after] = [before, text, after].map(|text| json_escaped(&text));
        }
        let clean = redactor.redact_known(&format!("{before}{text}{after}")).into_owned();
        prop_assert_eq!(clean, format!("{before}{MARK}{after}"));
    }

    #[test]
    fn an_answer_that_is_decoded_after_cleaning_holds_no_secret(
        secret in "[A-Za-z0-9/+_=-]{8,24}",
        upper in any::<bool>(),
        depth in 0usize..3,
    ) {
        let codes = |letter: char| if upper { format!("\\u{:04X}", u32::from(letter)) } else { format!("\\u{:04x}", u32::from(letter)) };
        let mut answer = format!("[\"{}\"]", secret.chars().map(codes).collect::<String>());
        for _ in 0..depth {
            answer = serde_json::json!([answer]).to_string();
        }
        let body = serde_json::json!({ "content": format!("```json\n{answer}\n```") }).to_string();
        let clean = Redactor::new([secret.as_str()]).clean_body(body.as_bytes(), false).into_owned();
        let mut read: serde_json::Value = serde_json::from_slice(&clean).unwrap();
        let said = read["content"].as_str().unwrap();
        let mut inner = said.trim_start_matches("```json\n").trim_end_matches("\n```").to_owned();
        for _ in 0..=depth {
            read = serde_json::from_str(&inner).unwrap();
            inner = read[0].as_str().unwrap().to_owned();
        }
        prop_assert_eq!(inner, MARK);
    }
}

#[test]
fn percent_signs_within_escapes_and_escapes_within_percent_signs_hide_nothing() {
    let redactor = Redactor::new(["canary-key-12345"]);
    for text in [
        "%63anary-%6bey-12345",
        "\\u002563anary-key-12345",
        "\\\\u0063\\\\u0061nary-key-12345",
        "canary-\\\n   key-12345",
    ] {
        assert_eq!(redactor.redact_known(text), MARK, "{text}");
    }
}

#[test]
fn a_secret_that_is_spread_over_events_of_a_stream_goes_from_all_of_them() {
    let redactor = Redactor::new(["canary-key-12345"]);
    for cuts in [vec![4], vec![1, 2, 9], (1..16).collect::<Vec<_>>()] {
        let secret = "canary-key-12345";
        let mut pieces = vec!["a ".to_owned()];
        let mut from = 0;
        for cut in cuts.into_iter().chain([secret.len()]) {
            pieces.push(secret[from..cut].to_owned());
            from = cut;
        }
        pieces.push(" z".to_owned());
        let event = |piece: &String| {
            let delta =
                serde_json::json!({ "choices": [{ "index": 0, "delta": { "content": piece } }] });
            // Text of another choice in between is not joined.
            let other =
                serde_json::json!({ "choices": [{ "index": 1, "delta": { "content": "-" } }] });
            format!("data: {delta}\n\ndata: {other}\n\n")
        };
        let body = pieces.iter().map(event).collect::<String>() + "data: [DONE]\n\n";
        let clean =
            String::from_utf8(redactor.clean_body(body.as_bytes(), false).into_owned()).unwrap();
        let said = |body: &str| -> String {
            let events = body
                .lines()
                .filter_map(|line| serde_json::from_str(line.strip_prefix("data: ")?).ok());
            let choices = events.map(|event: serde_json::Value| event["choices"][0].clone());
            choices
                .filter(|choice| choice["index"] == 0)
                .filter_map(|choice| Some(choice["delta"]["content"].as_str()?.to_owned()))
                .collect()
        };
        assert_eq!((said(&body), said(&clean)), (format!("a {secret} z"), format!("a {MARK} z")));
        assert!(clean.ends_with("data: [DONE]\n\n"));
    }
    let body = "data: {\"a\": \"canary-\"}\n\ndata: {\"a\": \"key\"}\n\n";
    assert!(
        matches!(redactor.clean_body(body.as_bytes(), false), Cow::Borrowed(_)),
        "nothing else is touched"
    );
}
