//! **Pure.** Removes secrets from text before it is written anywhere: known ones in all encodings,
//! and text that looks like one. Owns no output. Escapes are decoded for the search (`escaped`),
//! and events of a stream are joined (`stream`). A secret that is split in any other way cannot be
//! detected here.
use aho_corasick::{AhoCorasick, MatchKind};
use base64::Engine;
use base64::alphabet::{STANDARD, URL_SAFE};
use base64::engine::{GeneralPurpose, general_purpose::NO_PAD};
use std::borrow::Cow;
use std::collections::BTreeSet;
use std::fmt::{self, Write};
use std::ops::Range;
pub(crate) use touchstone_formats::redact::MARK;
use touchstone_formats::redact::find_keys;
use touchstone_model::json;
use touchstone_model::value::Value;

mod escaped;
mod stream;

/// Minimum bytes of a secret; shorter ones would match ordinary text.
const SHORTEST: usize = 8;

/// Applies `clean` to all texts of a value, keys included.
fn texts(value: Value, clean: &impl Fn(&str) -> String) -> Value {
    match value {
        Value::Text(text) => Value::Text(clean(&text)),
        Value::List(items) => {
            Value::List(items.into_iter().map(|item| texts(item, clean)).collect())
        }
        Value::Map(entries) => Value::Map(
            entries
                .into_iter()
                .map(|(key, item)| (texts(key, clean), texts(item, clean)))
                .collect(),
        ),
        other => other,
    }
}

/// Removes secrets from text.
#[derive(Clone)]
pub struct Redactor {
    known: Option<AhoCorasick>,
}

impl fmt::Debug for Redactor {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str("Redactor")
    }
}

impl Redactor {
    /// Creates a redactor for these secrets. Those shorter than eight bytes are ignored, because
    /// they would match ordinary text.
    pub fn new<'a>(secrets: impl IntoIterator<Item = &'a str>) -> Self {
        let secrets = secrets.into_iter().map(str::trim).filter(|secret| secret.len() >= SHORTEST);
        let forms: BTreeSet<String> =
            secrets.flat_map(forms).filter(|form| form.len() >= SHORTEST).collect();
        // Building only fails for more than four gigabytes of patterns.
        let known = AhoCorasick::builder().match_kind(MatchKind::Standard).build(&forms).ok();
        Self { known: known.filter(|_| !forms.is_empty()) }
    }

    /// Removes known secrets and text that looks like one: for messages, errors and logs. Borrows
    /// the text if there are none.
    pub fn clean<'a>(&self, text: &'a str) -> Cow<'a, str> {
        let known = self.redact_known(text);
        let ranges = find_keys(&known);
        if ranges.is_empty() { known } else { Cow::Owned(without(&known, &ranges)) }
    }

    /// Removes known secrets: for output of models and tools. Text that merely looks like a secret
    /// stays, because it is part of a result.
    pub fn redact_known<'a>(&self, text: &'a str) -> Cow<'a, str> {
        match self.found(text.as_bytes()) {
            ranges if ranges.is_empty() => Cow::Borrowed(text),
            ranges => Cow::Owned(without(text, &ranges)),
        }
    }

    /// Redacts the body of a reply. From text, known secrets are removed, and from errors also text
    /// that looks like one; from binary data, known secrets. JSON stays valid JSON, because a reply
    /// that cannot be decoded would be bought again. In streams, secrets spread over several events
    /// are removed, too.
    pub fn clean_body<'a>(&self, bytes: &'a [u8], is_error: bool) -> Cow<'a, [u8]> {
        let Ok(text) = std::str::from_utf8(bytes) else { return self.known_bytes(bytes) };
        let clean = match if is_error { self.clean(text) } else { self.redact_known(text) } {
            Cow::Borrowed(_) => None,
            Cow::Owned(clean) => Some(self.sound(text, clean)),
        };
        let is_known = self.known.is_some();
        let joined =
            is_known.then(|| stream::clean(self, clean.as_deref().unwrap_or(text))).flatten();
        joined.or(clean).map_or(Cow::Borrowed(bytes), |clean| Cow::Owned(clean.into_bytes()))
    }

    /// Returns the redacted text. If it was JSON and is not valid any more, for example because a
    /// secret ends inside an escape, it is redacted value by value instead.
    fn sound(&self, text: &str, clean: String) -> String {
        match json::read(text) {
            Ok(value) if json::read(&clean).is_err() => {
                json::write(&self.known_value(value), false)
            }
            _ => clean,
        }
    }

    /// Removes known secrets from a value. Keys are redacted too: a tool may return anything.
    pub fn known_value(&self, value: Value) -> Value {
        texts(value, &|text| self.redact_known(text).into_owned())
    }

    /// Like `known_value`, and also removes text that looks like a secret: for programs that
    /// receive more secrets than are known here.
    pub fn clean_value(&self, value: Value) -> Value {
        texts(value, &|text| self.clean(text).into_owned())
    }

    fn known_bytes<'a>(&self, bytes: &'a [u8]) -> Cow<'a, [u8]> {
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

    /// Returns the ranges of known secrets, including those that appear only after decoding
    /// escapes. Overlapping ranges are merged.
    fn found(&self, text: &[u8]) -> Vec<Range<usize>> {
        let Some(known) = &self.known else { return Vec::new() };
        let mut ranges = escaped::find(known, text);
        if known.is_match(text) {
            let plain = known.find_overlapping_iter(text).map(|found| found.range());
            ranges.extend(plain.map(|range| begin(text, range.start)..range.end));
        }
        merged(ranges)
    }
}

/// Returns the start of the range to remove for a secret found at `at`. Its first characters may
/// belong to a JSON escape, such as `\n` or `\u0061`, at any depth: the replacement would alter or
/// break that escape.
fn begin(text: &[u8], at: usize) -> usize {
    let before = &text[..at];
    let digits = before.iter().rev().take(3).take_while(|byte| byte.is_ascii_hexdigit()).count();
    let slashes = |before: &[u8]| before.iter().rev().take_while(|byte| **byte == b'\\').count();
    for digits in 0..=digits {
        if let Some(escape) =
            before[..at - digits].strip_suffix(b"u").filter(|escape| slashes(escape) > 0)
        {
            return escape.len() - slashes(escape);
        }
    }
    // `text[at]` is the first byte of the secret.
    let is_escape = text.get(at).is_some_and(|first| b"\"\\/bfnrtu".contains(first));
    if is_escape { at - slashes(before) } else { at }
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
        // An encoded form could begin or end inside a character only if the secret itself did,
        // which is impossible for text.
        clean.push_str(text.get(from..range.start).unwrap_or_default());
        clean.push_str(MARK);
        from = range.end;
    }
    clean.push_str(text.get(from..).unwrap_or_default());
    clean
}

/// Returns the secret in all supported encodings.
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
    // Libraries differ in the characters that they leave unencoded.
    for kept in
        ["-._~", "-._~/", "-._~!'()*", "-_.*", "-._~:/?#[]@!$&'()*+,;=%", "-._~:/?#[]@!$&'()*+,;="]
    {
        for upper in [false, true] {
            let encoded = url_encoded(bytes, kept, upper);
            forms.push(encoded.replace("%20", "+"));
            forms.push(encoded);
        }
    }
    forms.extend(base64_forms(bytes));
    forms
}

/// Returns the forms of a secret inside Base64, for every alignment. Characters that depend on
/// neighbouring bytes are left out.
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

/// Escapes all non-ASCII characters as `\uXXXX`, like some JSON writers do.
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
        let _ = if upper {
            write!(text, "{before}{byte:02X}")
        } else {
            write!(text, "{before}{byte:02x}")
        };
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
mod tests;
