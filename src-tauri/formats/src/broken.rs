//! **Pure.** Says what is broken in a file of no known kind: another encoding than UTF-8, or text
//! that is no YAML or JSON. Files that can be read and are something else have no fault.
use touchstone_model::error::{ReadError, ReadErrorKind, text_of};
use touchstone_model::{json, yaml};

/// Advice on a file whose text ends early.
pub const CUT_OFF: &str = "It was cut off, or is still being written. Wait until it is complete, \
                           copy it again, or remove it.";

/// Returns what keeps a file from being read at all. Only `is_whole` bytes can be cut off; of the
/// start of a file, the end says nothing.
pub fn fault(file_name: &str, bytes: &[u8], is_whole: bool) -> Option<ReadError> {
    let extension = file_name.rsplit_once('.')?.1.to_ascii_lowercase();
    let read: fn(&str) -> Option<ReadError> = match extension.as_str() {
        "yaml" | "yml" => yaml_fault,
        "json" => json_fault,
        "jsonl" => line_fault,
        _ => return None,
    };
    let end = if is_whole { bytes.len() } else { last_character(bytes) };
    let bytes = bytes.get(..end)?;
    let found = match text_of(bytes) {
        Ok(text) => read(text)?,
        Err(error) => error,
    };
    let is_cut = found.kind == ReadErrorKind::Truncated || is_at_end(&found, bytes);
    (is_whole || !is_cut).then_some(found)
}

/// Returns the length without a character that is cut off at the end.
fn last_character(bytes: &[u8]) -> usize {
    match std::str::from_utf8(bytes) {
        Err(error) if error.error_len().is_none() => error.valid_up_to(),
        _ => bytes.len(),
    }
}

/// Number of bytes before the end of a start of a file in which a word may be cut off.
const CUT_WORD: usize = 64;

/// Returns true if the place of a fault is so near to the end that it may come from a cut.
fn is_at_end(fault: &ReadError, bytes: &[u8]) -> bool {
    let Some((line, column)) = fault.line.zip(fault.column) else { return false };
    let last = bytes.rsplit(|byte| *byte == b'\n').next().unwrap_or_default();
    let lines = memchr::memchr_iter(b'\n', bytes).count() + 1;
    let characters = String::from_utf8_lossy(last).chars().count();
    line as usize >= lines && column as usize + CUT_WORD > characters
}

fn yaml_fault(text: &str) -> Option<ReadError> {
    if text.trim().is_empty() {
        return None;
    }
    let fault = yaml::read(text).err()?;
    let is_broken = matches!(fault.kind, ReadErrorKind::Syntax | ReadErrorKind::Truncated);
    // Several documents in one file are valid YAML.
    let is_several = text.lines().skip(1).any(|line| line.trim_end() == "---");
    // Templates of other programs become YAML when they are filled in.
    let line = fault.line.and_then(|line| text.lines().nth((line as usize).checked_sub(1)?));
    let is_template = line.is_some_and(|line| line.contains("{{") || line.contains("{%"));
    (is_broken && !is_several && !is_template).then(|| advised(fault, "YAML"))
}

/// Returns true for several lines of which the first is a whole map or list.
fn is_lines(text: &str) -> bool {
    let mut lines = text.lines().filter(|line| !line.trim().is_empty());
    let first = lines.next().filter(|line| line.trim_start().starts_with(['{', '[']));
    first.is_some_and(|line| json::read_python(line).is_ok()) && lines.next().is_some()
}

fn json_fault(text: &str) -> Option<ReadError> {
    if text.trim().is_empty() {
        return Some(ReadError::new(ReadErrorKind::Truncated, "The file is empty."));
    }
    let fault = json::read_python(text).err()?;
    // What is nested too deep or too large is whole. Several values, one a line, are a format of logs.
    let is_broken = matches!(
        fault.kind,
        ReadErrorKind::Syntax | ReadErrorKind::Truncated | ReadErrorKind::Duplicate
    );
    if !is_broken || is_lines(text) {
        return None;
    }
    // Comments and trailing commas are a dialect, which other programs read.
    if fault.kind == ReadErrorKind::Duplicate || json::read_leniently(text).is_ok() {
        return None;
    }
    Some(advised(fault, "JSON"))
}

/// Returns the fault of the first line that holds text. Later ones are the business of a reader.
fn line_fault(text: &str) -> Option<ReadError> {
    let (number, line) = text.lines().enumerate().find(|(_, line)| !line.trim().is_empty())?;
    let mut fault = json_fault(line)?;
    fault.line = fault.line.map(|_| touchstone_model::error::count(number + 1));
    Some(fault)
}

fn advised(fault: ReadError, language: &str) -> ReadError {
    if fault.advice.is_some() {
        return fault;
    }
    let advice = match fault.kind {
        ReadErrorKind::Truncated => CUT_OFF.to_owned(),
        _ => format!("Correct the {language} at this place."),
    };
    fault.advise(advice)
}

#[cfg(test)]
mod tests {
    use super::*;

    fn described(name: &str, bytes: &[u8]) -> (ReadErrorKind, Option<u32>, String) {
        let found = fault(name, bytes, true).unwrap_or_else(|| panic!("{name}: {bytes:?}"));
        assert!(found.advice.is_some() || bytes.is_empty(), "{found:?}");
        (found.kind, found.line, found.message)
    }

    #[test]
    fn broken_files_are_told_with_their_line_and_what_to_change() {
        assert_eq!(described("a.yaml", b"a: [1, 2\nb: }\n").1, Some(2));
        let utf16: Vec<u8> =
            "\u{feff}conversation:\n".encode_utf16().flat_map(u16::to_le_bytes).collect();
        for bytes in [&utf16[..], &utf16[2..]] {
            let (kind, line, message) = described("a.yaml", bytes);
            assert_eq!((kind, line), (ReadErrorKind::NotUtf8, Some(1)));
            assert_eq!(message, "The file is UTF-16, not UTF-8.");
            assert_eq!(described("a.json", bytes).0, ReadErrorKind::NotUtf8);
        }
        assert_eq!(described("a.json", b"{\"a\": 1,\n\"b\": }").1, Some(2));
        assert_eq!(described("a.json", b"{\"a\": [1, 2").0, ReadErrorKind::Truncated);
        assert_eq!(described("a.json", b"[1,\n{\"a\": 1}\n").0, ReadErrorKind::Truncated);
        for cut in [&b"{\"a\":[{\"b\":\"c\n"[..], b"{\"a\":\"b\\", b"{\"a\":\"b", b"{\"a\":"] {
            let found = fault("a.json", cut, true).unwrap();
            assert_eq!(found.message, "The JSON text ends in the middle.");
            assert_eq!(found.advice.as_deref(), Some(CUT_OFF), "{}", String::from_utf8_lossy(cut));
        }
        assert_eq!(described("a.json", b"").2, "The file is empty.");
        assert_eq!(described("a.jsonl", b"\n{\"a\": 1 2}\n").1, Some(2));
        assert_eq!(described("a.yaml", b"\xff\x00\x01").0, ReadErrorKind::NotUtf8);
    }

    #[test]
    fn files_that_are_something_else_have_no_fault() {
        for (name, text) in [
            ("a.yaml", "name: x\nversion: 3\n"),
            ("a.yaml", "kind: A\n---\nkind: B\n"),
            ("a.yaml", "name: x\nname: y\n"),
            ("a.json", "{\"a\": NaN}"),
            ("a.json", "// settings\n{\"a\": 1,}"),
            ("a.jsonl", "{\"a\": 1}\n{\"a\": "),
            ("log.json", "{\"level\": 30, \"msg\": \"a\"}\n{\"level\": 30}\n"),
            ("a.json", &"[".repeat(5_000)),
            ("chart.yaml", "name: {{ .Values.name }}: {{ x }\n"),
            ("a.txt", "{"),
            ("a.csv", "a,b\n"),
            ("noextension", "{"),
        ] {
            assert_eq!(fault(name, text.as_bytes(), true), None, "{name}: {text}");
        }
    }

    #[test]
    fn the_start_of_a_file_is_not_cut_off() {
        for cut in ["{\"a\": [1, 2", "{\"a\": tr", "{\"a\": \"x", "{\"a\": \"\u{e4}"] {
            let bytes = cut.as_bytes();
            assert_eq!(fault("a.json", bytes, false), None, "{cut}");
        }
        let half = &"{\"a\": \"\u{e4}".as_bytes()[..8];
        assert_eq!(fault("a.json", half, false), None);
        let broken = format!("{{\"a\" 1}}\n{}", " ".repeat(100));
        assert_eq!(fault("a.json", broken.as_bytes(), false).and_then(|it| it.line), Some(1));
    }
}
