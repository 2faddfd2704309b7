//! **Pure.** Takes secrets out of text before it is written anywhere: those that are known, however they are written, and what
//! looks like one. Owns no sink. A secret that somebody cut in two passes: nothing can be done about that here.
use aho_corasick::{AhoCorasick, MatchKind};
use base64::Engine;
use base64::alphabet::{STANDARD, URL_SAFE};
use base64::engine::{GeneralPurpose, general_purpose::NO_PAD};
use memchr::memmem;
use regex::Regex;
use std::borrow::Cow;
use std::collections::BTreeSet;
use std::fmt::{self, Write};
use std::ops::Range;
use std::sync::LazyLock;

/// Shorter ones would be found all over ordinary text.
const SHORTEST: usize = 8;
/// What stands in the place of a secret.
pub(crate) const MARK: &str = "[redacted]";

/// Cleans text of secrets.
pub struct Redactor {
    known: Option<AhoCorasick>,
}

impl fmt::Debug for Redactor {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str("Redactor")
    }
}

/// Something that looks like a secret: where to look closer, and which group of the expression is to go.
struct Shape {
    hints: &'static [&'static str],
    looks: Regex,
    /// Ordinary words have no digits, keys do.
    needs_digit: bool,
}

static SHAPES: LazyLock<Vec<Shape>> = LazyLock::new(|| {
    let shape = |hints, needs_digit, looks: &str| Some(Shape { hints, needs_digit, looks: Regex::new(looks).ok()? });
    [
        shape(&["sk-"], true, r"\b(sk-[A-Za-z0-9_-]{16,})"),
        shape(&["earer", "EARER"], true, r"(?i)\bbearer[ \t]+([A-Za-z0-9._~+/-]{12,}=*)"),
        shape(&["://"], false, r"[A-Za-z][A-Za-z0-9+.-]*://[^\s/:@?#]*:([^\s/@?#]+)@"),
    ]
    .into_iter()
    .flatten()
    .collect()
});

impl Redactor {
    /// One that knows these secrets. Those shorter than eight bytes are left out: they would be found all over ordinary text.
    pub fn new<'a>(secrets: impl IntoIterator<Item = &'a str>) -> Self {
        let secrets = secrets.into_iter().map(str::trim).filter(|secret| secret.len() >= SHORTEST);
        let forms: BTreeSet<String> = secrets.flat_map(forms).filter(|form| form.len() >= SHORTEST).collect();
        // Building only fails for more than four gigabytes of them.
        let known = AhoCorasick::builder().match_kind(MatchKind::Standard).build(&forms).ok();
        Self { known: known.filter(|_| !forms.is_empty()) }
    }

    /// The text without secrets; the text itself when it holds none.
    pub fn clean<'a>(&self, text: &'a str) -> Cow<'a, str> {
        let known = match self.found(text.as_bytes()) {
            ranges if ranges.is_empty() => Cow::Borrowed(text),
            ranges => Cow::Owned(without(text, &ranges)),
        };
        let ranges = looks(&known);
        if ranges.is_empty() { known } else { Cow::Owned(without(&known, &ranges)) }
    }

    /// The same for bytes: text is cleaned as text; in what is none, known secrets go.
    pub fn clean_bytes<'a>(&self, bytes: &'a [u8]) -> Cow<'a, [u8]> {
        if let Ok(text) = std::str::from_utf8(bytes) {
            return match self.clean(text) {
                Cow::Borrowed(_) => Cow::Borrowed(bytes),
                Cow::Owned(clean) => Cow::Owned(clean.into_bytes()),
            };
        }
        let ranges = self.found(bytes);
        if ranges.is_empty() {
            return Cow::Borrowed(bytes);
        }
        let (mut clean, mut from) = (Vec::with_capacity(bytes.len()), 0);
        for range in ranges {
            clean.extend_from_slice(&bytes[from..range.start]);
            clean.extend_from_slice(MARK.as_bytes());
            from = range.end;
        }
        clean.extend_from_slice(&bytes[from..]);
        Cow::Owned(clean)
    }

    /// Where known secrets are; where some overlap, as one.
    fn found(&self, text: &[u8]) -> Vec<Range<usize>> {
        let Some(known) = self.known.as_ref().filter(|known| known.is_match(text)) else { return Vec::new() };
        merged(known.find_overlapping_iter(text).map(|found| found.range()).collect())
    }
}

/// Where something looks like a secret.
fn looks(text: &str) -> Vec<Range<usize>> {
    let mut ranges = Vec::new();
    for shape in SHAPES.iter() {
        if !shape.hints.iter().any(|hint| memmem::find(text.as_bytes(), hint.as_bytes()).is_some()) {
            continue;
        }
        let found = shape.looks.captures_iter(text).filter_map(|found| found.get(1));
        let found =
            found.filter(|found| !shape.needs_digit || found.as_str().bytes().any(|byte| byte.is_ascii_digit()));
        ranges.extend(found.filter(|found| found.as_str() != MARK).map(|found| found.range()));
    }
    merged(ranges)
}

fn merged(mut ranges: Vec<Range<usize>>) -> Vec<Range<usize>> {
    ranges.sort_by_key(|range| range.start);
    let mut merged: Vec<Range<usize>> = Vec::new();
    for range in ranges {
        match merged.last_mut() {
            Some(last) if range.start < last.end => last.end = last.end.max(range.end),
            _ => merged.push(range),
        }
    }
    merged
}

fn without(text: &str, ranges: &[Range<usize>]) -> String {
    let mut clean = String::with_capacity(text.len());
    let mut from = 0;
    for range in ranges {
        // A form may begin or end with a part of a letter only if the secret itself does, which text cannot.
        clean.push_str(text.get(from..range.start).unwrap_or_default());
        clean.push_str(MARK);
        from = range.end;
    }
    clean.push_str(text.get(from..).unwrap_or_default());
    clean
}

/// All ways in which a secret may be written.
fn forms(secret: &str) -> Vec<String> {
    let bytes = secret.as_bytes();
    let escaped = json_escaped(secret);
    let mut forms = vec![
        secret.to_owned(),
        json_escaped(&escaped),
        escaped.replace('/', "\\/"),
        ascii_escaped(&escaped),
        escaped,
        hex(bytes, "", false),
        hex(bytes, "", true),
        hex(bytes, "%", false),
        hex(bytes, "%", true),
    ];
    // Libraries differ in what they leave as it is.
    for kept in ["-._~", "-._~/", "-._~!'()*", "-_.*", "-._~:/?#[]@!$&'()*+,;=%", "-._~:/?#[]@!$&'()*+,;="] {
        for upper in [false, true] {
            let encoded = url_encoded(bytes, kept, upper);
            forms.push(encoded.replace("%20", "+"));
            forms.push(encoded);
        }
    }
    forms.extend(base64_forms(bytes));
    forms
}

/// As it appears inside of Base64, whatever stands before and after it: the letters that depend on the neighbours are left out.
fn base64_forms(secret: &[u8]) -> Vec<String> {
    let mut forms = Vec::new();
    for alphabet in [&STANDARD, &URL_SAFE] {
        let engine = GeneralPurpose::new(alphabet, NO_PAD);
        for before in 0..3usize {
            let mut bytes = vec![0; before];
            bytes.extend_from_slice(secret);
            let mut text = engine.encode(&bytes);
            if bytes.len() % 3 != 0 {
                text.pop();
            }
            forms.push(text.split_off([0, 2, 3][before]));
        }
    }
    forms
}

fn json_escaped(text: &str) -> String {
    let quoted = serde_json::to_string(text).unwrap_or_default();
    quoted.get(1..quoted.len().saturating_sub(1)).unwrap_or_default().to_owned()
}

/// With everything beyond ASCII as `\uXXXX`, as some writers of JSON have it.
fn ascii_escaped(text: &str) -> String {
    let mut escaped = String::new();
    for letter in text.chars() {
        if letter.is_ascii() {
            escaped.push(letter);
        } else {
            for unit in letter.encode_utf16(&mut [0; 2]) {
                let _ = write!(escaped, "\\u{unit:04x}");
            }
        }
    }
    escaped
}

fn hex(bytes: &[u8], before: &str, upper: bool) -> String {
    let mut text = String::new();
    for byte in bytes {
        let _ = if upper { write!(text, "{before}{byte:02X}") } else { write!(text, "{before}{byte:02x}") };
    }
    text
}

fn url_encoded(bytes: &[u8], kept: &str, upper: bool) -> String {
    let mut text = String::new();
    for &byte in bytes {
        if byte.is_ascii_alphanumeric() || kept.as_bytes().contains(&byte) {
            text.push(char::from(byte));
        } else {
            text.push_str(&hex(&[byte], "%", upper));
        }
    }
    text
}

#[cfg(test)]
mod tests {
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
                    assert!(clean.len() < before.len() + after.len() + MARK.len() + 12, "{encoded} became {clean}");
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
        assert_eq!(redactor.clean_bytes(b"\xff<abcdefgh>\xff").as_ref(), b"\xff<[redacted]>\xff");
        assert_eq!(redactor.clean_bytes(b"<abcdefgh>").as_ref(), b"<[redacted]>");
        assert!(matches!(redactor.clean_bytes(b"\xff<abcdefg>"), Cow::Borrowed(_)));
    }

    proptest! {
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
            // Neighbours that happen to go on as the secret does would go with it.
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
}
