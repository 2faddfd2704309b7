//! Tests of the reader of Inspect's logs.
use super::*;
use crate::run::{Event, EventKind, Repeat, RunEnd, TokenCounts};
use crate::source::NoFolder;
use crate::text::{arguments, canonical_json};
use std::io::Write as _;
use touchstone_model::value::Value;

const EVAL: &str = r#"{"task": "sums", "task_id": "T1", "created": "1970-01-01T00:01:40Z", "model": "m/x", "solver": null,
    "dataset": {"name": "set"}, "packages": {"inspect_ai": "0.3.100"}, "config": {}}"#;

fn header(status: &str) -> String {
    format!(
        r#"{{"version": 2, "status": "{status}", "eval": {EVAL}, "plan": {{"steps": [{{"solver": "generate"}}]}}}}"#
    )
}

fn log(samples: &[&str]) -> Vec<u8> {
    let header = header("success");
    let samples = samples.join(", ");
    format!("{}, \"samples\": [{samples}]}}", &header[..header.len() - 1]).into_bytes()
}

/// Returns a sample with the given members.
fn sample(id: &str, members: &str) -> String {
    format!(r#"{{"id": {id}, "epoch": 1, "input": "q", "target": "", {members}, "store": {{}}}}"#)
}

fn open(source: &dyn Source) -> Box<dyn ImportedFile + '_> {
    open_at("logs/a.eval", source).unwrap()
}

fn open_at<'a>(
    path: &'a str,
    source: &'a dyn Source,
) -> Result<Box<dyn ImportedFile + 'a>, ReadError> {
    Inspect.open(Input { path, source, folder: &NoFolder })
}

fn read_one(members: &str) -> ImportedRun {
    let log = log(&[&sample("1", members)]);
    open(&log).read(0).unwrap()
}

fn members(file: &dyn ImportedFile) -> Vec<String> {
    (0..file.len()).filter_map(|at| file.member(at)).collect()
}

/// Returns what happened in a few words.
fn outline(events: &[Event]) -> Vec<String> {
    let line = |event: &Event| match &event.kind {
        EventKind::System(text) => format!("system {text}"),
        EventKind::User(text) => format!("user {text}"),
        EventKind::Assistant(text) => format!("assistant {text}"),
        EventKind::Reasoning(text) => format!("reasoning {text}"),
        EventKind::Media(media) => format!("media {}", media.text),
        EventKind::Call { name, arguments: given, .. } => {
            format!("call {name} {}", canonical_json(&arguments(Some(given))))
        }
        EventKind::Result { value, failed, .. } => {
            let mark = if *failed == Some(true) { "failed " } else { "" };
            format!("result {mark}{}", canonical_json(value))
        }
        EventKind::SubAgent { name, events, .. } => {
            format!("agent {name}: {}", outline(events).join("; "))
        }
        EventKind::Abandoned(events) => format!("before: {}", outline(events).join("; ")),
        EventKind::Compaction(text) => format!("compaction {text}"),
        EventKind::Error(text) => format!("error {text}"),
        kind => format!("{kind:?}"),
    };
    events.iter().map(line).collect()
}

// ---- Archives.

#[derive(Clone)]
struct Part {
    name: String,
    text: Vec<u8>,
    method: u16,
    data: Vec<u8>,
}

fn deflated(bytes: &[u8]) -> Vec<u8> {
    let level = flate2::Compression::fast();
    let mut encoder = flate2::write::DeflateEncoder::new(Vec::new(), level);
    encoder.write_all(bytes).unwrap();
    encoder.finish().unwrap()
}

fn compressed(bytes: &[u8]) -> Vec<u8> {
    ::zstd::encode_all(bytes, 1).unwrap()
}

fn part(name: &str, text: &str, method: u16) -> Part {
    let text = text.as_bytes().to_vec();
    let data = match method {
        8 => deflated(&text),
        // Two frames, and one that is to be skipped between them.
        93 => {
            let (first, second) = text.split_at(text.len() / 2);
            let skipped = [&b"\x50\x2a\x4d\x18\x03\0\0\0"[..], b"xyz"].concat();
            [compressed(first), skipped, compressed(second)].concat()
        }
        _ => text.clone(),
    };
    Part { name: name.to_owned(), text, method, data }
}

fn fields(part: &Part) -> Vec<u8> {
    let mut checksum = flate2::Crc::new();
    checksum.update(&part.text);
    let mut bytes = vec![20, 0, 0, 0];
    bytes.extend(part.method.to_le_bytes());
    bytes.extend([0; 4]);
    for number in [checksum.sum(), size(&part.data), size(&part.text), size(part.name.as_bytes())] {
        bytes.extend(number.to_le_bytes());
    }
    bytes
}

fn size(bytes: &[u8]) -> u32 {
    u32::try_from(bytes.len()).unwrap()
}

/// Returns an archive, and the offsets of its members and its directory.
fn zip(parts: &[Part]) -> (Vec<u8>, Vec<usize>) {
    let (mut bytes, mut directory, mut offsets) = (Vec::new(), Vec::new(), Vec::new());
    for part in parts {
        offsets.push(bytes.len());
        directory.extend(b"PK\x01\x02\x14\0");
        directory.extend(fields(part));
        directory.extend([0; 10]);
        directory.extend(size(&bytes).to_le_bytes());
        directory.extend(part.name.as_bytes());
        bytes.extend(b"PK\x03\x04");
        bytes.extend(fields(part));
        bytes.extend(part.name.as_bytes());
        bytes.extend(&part.data);
    }
    offsets.push(bytes.len());
    let start = size(&bytes);
    let count = u16::try_from(parts.len()).unwrap().to_le_bytes();
    bytes.extend(&directory);
    bytes.extend(b"PK\x05\x06\0\0\0\0");
    bytes.extend([count, count].concat());
    bytes.extend(size(&directory).to_le_bytes());
    bytes.extend(start.to_le_bytes());
    bytes.extend([0; 2]);
    (bytes, offsets)
}

fn archive(method: u16) -> Vec<Part> {
    let said =
        |text: &str| format!("\"messages\": [{{\"role\": \"user\", \"content\": \"{text}\"}}]");
    vec![
        part("_journal/start.json", &format!("{{\"version\": 2, \"eval\": {EVAL}}}"), method),
        part("samples/a/b_epoch_1.json", &sample("\"a/b\"", &said("first")), method),
        part("samples/2_epoch_1.json", &sample("2", &said("second")), method),
        part("header.json", &header("success"), method),
    ]
}

#[test]
fn archives_are_read_whatever_their_compression() {
    for method in [0, 8, 93] {
        let (bytes, _) = zip(&archive(method));
        let file = open(&bytes);
        assert_eq!(members(&*file), ["a/b_epoch_1", "2_epoch_1"], "{method}");
        let run = file.read(0).unwrap();
        assert_eq!(outline(&run.events), ["user first"]);
        assert_eq!((run.task.as_deref(), run.model.as_deref()), (Some("sums/a/b"), Some("m/x")));
        let identity = run.identity.unwrap();
        assert_eq!((identity.key.as_str(), identity.rank), ("inspect:logs:T1:a/b:1", 100.0));
        assert_eq!(file.file_error(), None);
    }
}

#[test]
fn of_members_with_the_same_name_the_last_counts() {
    let mut parts = archive(8);
    let last = sample("2", "\"messages\": [{\"role\": \"user\", \"content\": \"third\"}]");
    parts.push(part("samples/2_epoch_1.json", &last, 0));
    let (bytes, _) = zip(&parts);
    let file = open(&bytes);
    assert_eq!(members(&*file), ["a/b_epoch_1", "2_epoch_1"]);
    assert_eq!(outline(&file.read(1).unwrap().events), ["user third"]);
}

#[test]
fn a_log_without_header_is_still_being_written_and_its_samples_are_complete() {
    let (bytes, _) = zip(&archive(8)[..3]);
    let file = open(&bytes);
    let run = file.read(1).unwrap();
    assert_eq!((run.end, run.task.as_deref()), (RunEnd::Complete, Some("sums/2")));
    assert!(run.notes[0].contains("still running") && file.file_error().is_none());
}

#[test]
fn an_id_keeps_the_backslashes_that_the_archive_does_not_have() {
    let text = sample("\"a\\\\b\"", "\"messages\": []");
    let parts = [archive(8)[0].clone(), part("samples/a/b_epoch_1.json", &text, 8)];
    let (bytes, _) = zip(&parts);
    let file = open(&bytes);
    assert_eq!(members(&*file), ["a\\b_epoch_1"]);
    assert_eq!(file.read(0).unwrap().task.as_deref(), Some("sums/a\\b"));
}

#[test]
fn samples_with_chunks_are_put_together() {
    let shell = r#"{"id": "é", "epoch": 2, "target": "t", "message_refs": [[0, 1], [2, 4], [9, 12]],
        "output": {"completion": "attachment://1"}}"#;
    let message = |text: &str| format!("{{\"role\": \"user\", \"content\": \"{text}\"}}");
    let list = |texts: &[&str]| {
        format!("[{}]", texts.iter().map(|text| message(text)).collect::<Vec<_>>().join(","))
    };
    let parts = [
        archive(8)[0].clone(),
        part("samples/é_epoch_2/messages/2.json", &list(&["c", "attachment://0"]), 93),
        part("samples/é_epoch_2/messages/0.json", &list(&["x", "y"]), 93),
        part("samples/é_epoch_2/messages/0.json", &list(&["a", "b"]), 93),
        part("samples/é_epoch_2/sample.json", shell, 93),
        part("samples/é_epoch_2/metadata.json", "{\"k\": 1}", 93),
        part("samples/é_epoch_2/skeleton.json", "{}", 93),
        part("samples/é_epoch_2/events/stats.json", "{}", 93),
        part("samples/é_epoch_2/events/0.json", "[]", 93),
        part("samples/é_epoch_2/attachments/0.json", "[\"d\"]", 93),
        part("samples/é_epoch_2/attachments/1.json", "[\"e\"]", 93),
    ];
    let (bytes, _) = zip(&parts);
    let file = open(&bytes);
    assert_eq!(members(&*file), ["é_epoch_2"]);
    let run = file.read(0).unwrap();
    assert_eq!(outline(&run.events), ["user a", "user c", "user d"]);
    assert_eq!((run.answer.as_deref(), run.repeat), (Some("e"), Repeat::Stated(2)));
    assert!(run.facts.iter().any(|(key, _)| key == "sample metadata"));
}

#[test]
fn a_fingerprint_changes_with_the_sample_and_with_the_header_of_the_log() {
    let log = |status: &str, first: &str, chunk: &str| {
        let chunk = format!("[{{\"role\": \"user\", \"content\": \"{chunk}\"}}]");
        zip(&[
            part(HEADER, &header(status), 8),
            part("samples/1_epoch_1.json", &sample("1", first), 8),
            part("samples/2_epoch_1/sample.json", &sample("2", "\"message_refs\": [[0, 1]]"), 8),
            part("samples/2_epoch_1/messages/0.json", &chunk, 8),
        ])
        .0
    };
    let prints = |log: Vec<u8>| [0, 1].map(|at| open(&log).fingerprint(at).unwrap());
    let base = prints(log("started", "\"messages\": []", "a"));
    assert_eq!(prints(log("started", "\"messages\": []", "a")), base);
    let first = prints(log("started", "\"messages\": [ ]", "a"));
    assert!(first[0] != base[0] && first[1] == base[1]);
    let chunk = prints(log("started", "\"messages\": []", "b"));
    assert!(chunk[0] == base[0] && chunk[1] != base[1]);
    let ended = prints(log("success", "\"messages\": []", "a"));
    assert!(ended[0] != base[0] && ended[1] != base[1]);
}

#[test]
fn an_archive_that_is_cut_off_gives_its_complete_samples_and_tells() {
    let (bytes, offsets) = zip(&archive(8));
    for end in 0..bytes.len() {
        let cut = bytes[..end].to_vec();
        let complete = offsets.iter().filter(|offset| **offset <= end).count().saturating_sub(1);
        match open_at("a.eval", &cut) {
            Ok(file) => {
                assert_eq!(file.len(), complete.saturating_sub(1).min(2), "{end}");
                assert!((0..file.len()).all(|at| file.read(at).is_ok()), "{end}");
                assert!(file.file_error().unwrap().message.contains("cut off"), "{end}");
            }
            Err(_) => assert_eq!(complete, 0, "{end}"),
        }
    }
}

#[test]
fn what_is_wrong_with_one_member_is_an_error_of_its_run_only() {
    let broken = |change: &dyn Fn(&mut Vec<u8>, &[usize]), reason: &str| {
        let (mut bytes, offsets) = zip(&archive(0));
        change(&mut bytes, &offsets);
        let file = open(&bytes);
        assert_eq!(file.len(), 2, "{reason}");
        let error = file.read(0).unwrap_err();
        assert!(error.message.contains(reason), "{reason}: {}", error.message);
        assert!(file.read(1).is_ok() && file.file_error().is_none(), "{reason}");
    };
    // The second entry of the directory lies behind the first, whose name has 19 bytes.
    let entry = |offsets: &[usize]| offsets[4] + 46 + 19;
    let put = |bytes: &mut Vec<u8>, at: usize, number: u32| {
        bytes[at..at + 4].copy_from_slice(&number.to_le_bytes());
    };
    broken(&|bytes, offsets| bytes[offsets[1] + 100] ^= 1, "checksum");
    broken(&|bytes, offsets| bytes[entry(offsets) + 8] |= 1, "encrypted");
    broken(&|bytes, offsets| bytes[entry(offsets) + 10] = 12, "compression method 12");
    broken(&|bytes, offsets| bytes[offsets[1] + 30] = b'S', "another name");
    broken(&|bytes, offsets| bytes[offsets[1]] = 0, "header is missing");
    broken(&|bytes, offsets| put(bytes, entry(offsets) + 20, 100_000), "overlaps");
    broken(&|bytes, offsets| put(bytes, entry(offsets) + 24, 1 << 30), "larger than 256 MB");
    broken(&|bytes, offsets| put(bytes, entry(offsets) + 24, 10), "size or checksum");
}

#[test]
fn members_at_the_same_place_overlap() {
    let (mut bytes, offsets) = zip(&archive(0)[..2]);
    let entry = offsets[2] + 46 + 19;
    let second = bytes[entry..bytes.len() - 22].to_vec();
    let end = bytes.len() - 22;
    bytes.splice(end..end, second.clone());
    let size = u32::try_from(end + second.len() - offsets[2]).unwrap();
    let tail = bytes.len() - 22;
    bytes[tail + 8..tail + 12].copy_from_slice(&[3, 0, 3, 0]);
    bytes[tail + 12..tail + 16].copy_from_slice(&size.to_le_bytes());
    let file = open(&bytes);
    assert!(file.len() == 1 && file.read(0).unwrap_err().message.contains("overlaps"));
}

#[test]
fn no_change_of_a_byte_brings_a_reader_to_a_stop() {
    let log = log(&[&sample("1", FULL), &sample("\"b\"", "\"messages\": []")]);
    for bytes in [zip(&archive(8)).0, zip(&archive(93)).0, log] {
        for at in 0..bytes.len() {
            let mut changed = bytes.clone();
            changed[at] ^= if at % 2 == 0 { 0x20 } else { 0xff };
            if let Ok(file) = open_at("a.eval", &changed) {
                for at in 0..file.len() {
                    let _ = file.read(at);
                }
            }
        }
    }
}

// ---- Samples.

const FULL: &str = r#""messages": [
        {"role": "system", "content": "s"},
        {"role": "user", "content": [{"type": "text", "text": "a\r\n"}, {"type": "text", "text": " "},
            {"type": "image", "image": "attachment://h"}, {"type": "text", "text": "b"}]},
        {"role": "assistant", "id": "m1", "content": [
            {"type": "reasoning", "reasoning": "long", "summary": "short"},
            {"type": "reasoning", "reasoning": "secret", "redacted": true},
            {"type": "reasoning", "reasoning": "plain", "redacted": false},
            {"type": "tool_use", "tool_type": "web_search", "id": "w", "name": "search", "arguments": "{\"q\": 1}", "result": "", "error": "off"},
            {"type": "text", "text": " \n"}],
            "tool_calls": [{"id": "c1", "function": "add", "arguments": {"y": 2, "x": 1.0}}]},
        {"role": "tool", "tool_call_id": "c1", "function": "add", "content": "", "error": {"type": "timeout", "message": "late"}},
        {"role": "tool", "tool_call_id": "c0", "content": "", "tool_error": "old"},
        {"role": "assistant", "content": "end "}],
    "attachments": {"h": "data:image/png;base64,AAAAAAAA"},
    "events": [{"event": "model", "timestamp": "1970-01-01T00:00:01Z", "working_time": 2.5, "output":
            {"choices": [{"message": {"role": "assistant", "id": "m1", "content": ""}}], "usage": {"total_tokens": 7}}},
        {"event": "tool", "id": "c1", "function": "add", "timestamp": "1970-01-01T00:00:03Z", "completed": "1970-01-01T00:00:07Z"},
        {"event": "state"}, 5, "x"]"#;

#[test]
fn messages_become_events_with_what_the_log_knows_of_their_times() {
    let run = read_one(FULL);
    let expected = [
        "system s",
        "user a\r\n\nb",
        "media image/png, 21 B",
        "reasoning short",
        "reasoning plain",
        "call search {\"q\":1}",
        "result failed \"off\"",
        "call add {\"x\":1.0,\"y\":2}",
        "result failed {\"message\":\"late\",\"type\":\"timeout\"}",
        "result failed \"old\"",
        "assistant end ",
    ];
    assert_eq!(outline(&run.events), expected);
    let times =
        |at: usize| (run.events[at].time.as_deref(), run.events[at].seconds, run.events[at].tokens);
    assert_eq!(times(3), (Some("1970-01-01T00:00:01Z"), Some(2.5), Some(7)));
    assert_eq!(times(7), (Some("1970-01-01T00:00:03Z"), Some(4.0), None));
    assert_eq!(times(8).0, Some("1970-01-01T00:00:07Z"));
    assert_eq!(times(10), (None, None, None));
}

#[test]
fn the_end_of_a_run_is_its_error_then_its_limit_whatever_the_log_says() {
    let limit = r#""limit": {"type": "message", "limit": 4}"#;
    let cases = [
        (r#""x": 1"#.to_owned(), RunEnd::Complete, None),
        (limit.to_owned(), RunEnd::Limit, None),
        (
            format!(r#""error": {{"message": "a\nb", "traceback": "t"}}, {limit}"#),
            RunEnd::Error,
            Some("a\nb"),
        ),
        (r#""error": {"message": ""}"#.to_owned(), RunEnd::Error, Some("")),
    ];
    for (members, end, error) in cases {
        let run = read_one(&members);
        assert_eq!((run.end, run.error.as_deref()), (end, error), "{members}");
    }
    let facts = read_one(limit).facts;
    assert!(facts.contains(&("limit".to_owned(), Value::from("message, 4"))));
}

#[test]
fn the_answer_is_the_completion_or_the_text_of_the_first_choice() {
    let choice = |content: &str| {
        format!(
            r#""output": {{"completion": "", "choices": [{{"message": {{"role": "assistant", "content": {content}}}}}]}}"#
        )
    };
    let cases = [
        (r#""output": {"completion": "a", "choices": []}"#.to_owned(), Some("a")),
        (
            r#""output": {"choices": []}, "messages": [{"role": "assistant", "content": "m"}]"#
                .to_owned(),
            None,
        ),
        (
            choice(
                r#"[{"type": "reasoning", "reasoning": "r"}, {"type": "text", "text": "a"}, {"type": "text", "text": "b"}]"#,
            ),
            Some("a\nb"),
        ),
        (choice("\"c\""), Some("c")),
        (choice("\" \""), None),
        (r#""output": null"#.to_owned(), None),
    ];
    for (members, answer) in cases {
        assert_eq!(read_one(&members).answer.as_deref(), answer, "{members}");
    }
}

#[test]
fn the_expected_answer_is_the_target_unless_it_is_empty() {
    for (target, expected) in [
        ("\"\"", None),
        ("\" \"", Some("\" \"")),
        ("null", None),
        ("[\"a\", \"b\"]", Some("[\"a\",\"b\"]")),
    ] {
        let log = log(&[&format!("{{\"id\": 1, \"epoch\": 3, \"target\": {target}}}")]);
        let run = open(&log).read(0).unwrap();
        assert_eq!(run.expected.as_ref().map(canonical_json).as_deref(), expected, "{target}");
        assert_eq!(run.repeat, Repeat::Stated(3));
    }
}

#[test]
fn each_score_is_a_verdict_and_an_object_one_for_each_key() {
    let run = read_one(
        r#""scores": {"a": {"value": "C", "explanation": "why"}, "b": {"value": "I"}, "c": {"value": "N"}, "d": {"value": "P"},
            "e": {"value": true}, "f": {"value": 1.0}, "g": {"value": NaN}, "h": {"value": [1, 0]}, "i": {"value": "c"},
            "j": {"value": {"x": 0.5, "y": "C"}, "explanation": "both", "answer": "z"}, "k": null}"#,
    );
    let verdicts: Vec<_> = run
        .verdicts
        .iter()
        .map(|one| {
            (one.name.as_str(), canonical_json(&one.value), one.passed, one.reason.as_deref())
        })
        .collect();
    let expected = [
        ("a", "\"C\"", Some(true), Some("why")),
        ("b", "\"I\"", Some(false), None),
        ("c", "\"N\"", Some(false), None),
        ("d", "\"P\"", None, None),
        ("e", "true", Some(true), None),
        ("f", "1.0", None, None),
        ("g", "\".nan\"", None, None),
        ("h", "[1,0]", None, None),
        ("i", "\"c\"", None, None),
        ("j/x", "0.5", None, Some("both")),
        ("j/y", "\"C\"", Some(true), Some("both")),
    ];
    let expected =
        expected.map(|(name, value, passed, reason)| (name, value.to_owned(), passed, reason));
    assert_eq!(verdicts, expected);
    assert!(run.facts.contains(&("j answer".to_owned(), Value::from("z"))));
}

#[test]
fn tokens_and_cost_are_sums_over_all_models() {
    let run = read_one(
        r#""total_time": 1.5, "started_at": "2025-01-01T00:00:00+00:00", "model_usage": {"a": {"input_tokens": 1, "output_tokens": 2, "total_tokens": 9,
            "total_cost": 0.5}, "b": {"input_tokens": 3, "output_tokens": 4, "total_tokens": 7, "total_cost": null}}"#,
    );
    let tokens = TokenCounts { input: Some(4), output: Some(6), total: Some(16) };
    assert_eq!((run.tokens, run.cost, run.seconds), (Some(tokens), Some(0.5), Some(1.5)));
    let none = read_one("\"model_usage\": {}");
    assert_eq!((none.tokens, none.cost), (None, None));
}

#[test]
fn a_sample_that_cannot_be_read_is_an_error_of_that_run_only() {
    let broken = r#"{"id": 2, "epoch": 1, "messages": [{"role": user}]}"#;
    let twice = r#"{"id": 3, "epoch": 1, "target": "a", "target": "b"}"#;
    let log = log(&[&sample("1", "\"x\": 1"), broken, twice, "7"]);
    let file = open(&log);
    let ok: Vec<bool> = (0..4).map(|at| file.read(at).is_ok()).collect();
    assert_eq!(ok, [true, false, false, false]);
    assert_eq!(members(&*file), ["1_epoch_1", "2_epoch_1", "3_epoch_1", "sample 4"]);
    assert!(file.read(4).is_err() && file.file_error().is_none());
}

#[test]
fn a_json_log_that_is_cut_off_gives_its_complete_samples_and_tells() {
    let whole = log(&[&sample("1", "\"x\": 1"), &sample("2", "\"x\": 1")]);
    let cut = whole[..whole.len() - 5].to_vec();
    let file = open(&cut);
    assert_eq!(file.len(), 1);
    assert!(file.read(0).is_ok() && file.file_error().is_some());
    let empty = log(&[]);
    assert!(open(&empty).is_empty() && open(&empty).file_error().is_none());
}

// ---- Events.

fn model(id: &str, span: &str, input: &str) -> String {
    format!(
        r#"{{"event": "model", "span_id": "{span}", {input},
            "output": {{"choices": [{{"message": {{"role": "assistant", "id": "{id}", "content": "{id} text"}}}}]}}}}"#
    )
}

fn span(id: &str, kind: &str, parent: &str) -> String {
    format!(
        r#"{{"event": "span_begin", "id": "{id}", "type": "{kind}", "name": "{id}", "parent_id": "{parent}"}}"#
    )
}

const CALLING: &str = r#""messages": [{"role": "assistant", "id": "m1", "content": "", "tool_calls": [{"id": "c1", "function": "helper", "arguments": {}}]},
    {"role": "tool", "id": "m2", "tool_call_id": "c1", "content": "r"}]"#;

#[test]
fn an_agent_that_a_call_started_is_shown_behind_the_call() {
    let inner = r#""input": [{"role": "user", "id": "u1", "content": "do"}]"#;
    // Since 2025 the call names the span of the agent; before, the agent ran in the call's span.
    for named in [true, false] {
        let tool = if named {
            r#"{"event": "tool", "id": "c1", "function": "helper", "agent_span_id": "sub"}"#
        } else {
            r#"{"event": "tool", "id": "c1", "function": "helper"}"#
        };
        let parent = if named { "elsewhere" } else { "helper" };
        let events = [
            model("m1", "main", "\"input\": []"),
            span("helper", "tool", "main"),
            tool.to_owned(),
            span("sub", "agent", parent),
            model("s1", "sub", inner),
            span("grade", "scorer", ""),
            model("g1", "grade", "\"input\": []"),
        ];
        let run = read_one(&format!("{CALLING}, \"events\": [{}]", events.join(",")));
        assert_eq!(
            outline(&run.events),
            ["call helper {}", "agent sub: user do; assistant s1 text", "result \"r\""],
            "{named}"
        );
        assert!(run.notes.is_empty(), "{:?}", run.notes);
    }
}

#[test]
fn an_agent_whose_messages_are_in_the_conversation_is_not_shown_twice() {
    let events = [
        r#"{"event": "tool", "id": "c1", "function": "helper", "agent_span_id": "sub"}"#.to_owned(),
        span("sub", "agent", ""),
        model("m1", "sub", "\"input\": []"),
    ];
    let run = read_one(&format!("{CALLING}, \"events\": [{}]", events.join(",")));
    assert_eq!(outline(&run.events), ["call helper {}", "result \"r\""]);
}

#[test]
fn a_compaction_stands_where_it_happened_with_what_the_messages_lost() {
    let compaction =
        r#"{"event": "compaction", "type": "summary", "tokens_before": 90, "tokens_after": 9}"#;
    let kept = r#""messages": [{"role": "user", "id": "u1", "content": "q"}, {"role": "assistant", "id": "m1", "content": "m1 text"},
        {"role": "user", "id": "u2", "content": "sum", "metadata": {"summary": true}}, {"role": "assistant", "id": "m2", "content": "m2 text"}]"#;
    let events = |first: &str| {
        format!(
            "[{}, {compaction}, {}]",
            model(first, "", r#""input": [{"role": "user", "id": "u0", "content": "old"}]"#),
            model("m2", "", "\"input\": []")
        )
    };
    let run = read_one(&format!("{kept}, \"events\": {}", events("m1")));
    let mark = "compaction summary, from 90 to 9 tokens";
    assert_eq!(
        outline(&run.events),
        ["user q", "assistant m1 text", mark, "user sum", "assistant m2 text"]
    );
    let run = read_one(&format!("{kept}, \"events\": {}", events("m0")));
    assert_eq!(
        outline(&run.events),
        [
            "user q",
            "assistant m1 text",
            "before: user old; assistant m0 text",
            mark,
            "user sum",
            "assistant m2 text"
        ]
    );
    assert!(run.notes[0].contains("before a compaction"));
}

#[test]
fn a_sample_without_messages_takes_them_from_its_events() {
    let pooled = r#""events_data": {"messages": [{"role": "user", "id": "u1", "content": "attachment://h"},
            {"role": "tool", "id": "t1", "tool_call_id": "c1", "content": "r"}],
        "calls": []}, "attachments": {"h": "hello"}"#;
    let events = [
        model("m1", "", r#""input": [], "input_refs": [[0, 1]]"#),
        r#"{"event": "tool", "id": "c1", "function": "f", "message_id": "t1", "result": "r"}"#.to_owned(),
        model("m2", "", r#""input": [], "input_refs": [[0, 2], [5, 9]]"#),
        r#"{"event": "tool", "id": "c2", "function": "f", "result": 7, "error": {"message": "no"}}"#.to_owned(),
    ];
    let run = read_one(&format!("\"messages\": [], {pooled}, \"events\": [{}]", events.join(",")));
    assert_eq!(
        outline(&run.events),
        ["user hello", "assistant m1 text", "result \"r\"", "assistant m2 text", "result failed 7"]
    );
    assert!(run.notes[0].contains("taken from its events"));
}

#[test]
fn early_events_have_no_ids_and_texts_of_their_own() {
    let message = |role: &str, text: &str| format!(r#"{{"role": "{role}", "content": "{text}"}}"#);
    let (user, one, two) =
        (message("user", "tc://h"), message("assistant", "one"), message("assistant", "two"));
    let model = |input: &str, output: &str| {
        format!(
            r#"{{"event": "model", "input": [{input}], "output": {{"choices": [{{"message": {output}}}]}}}}"#
        )
    };
    let step = |action: &str| {
        format!(r#"{{"event": "step", "action": "{action}", "type": "scorer", "name": "s"}}"#)
    };
    let events = [
        model(&user, &one),
        model(&format!("{user}, {one}, {user}"), &two),
        step("begin"),
        model(&user, &two),
        step("end"),
    ];
    let run = read_one(&format!(
        r#""transcript": {{"events": [{}], "content": {{"h": "long"}}}}, "score": {{"value": "C"}}"#,
        events.join(",")
    ));
    assert_eq!(outline(&run.events), ["user long", "assistant one", "user long", "assistant two"]);
    assert_eq!(run.verdicts[0].name, "score");
}

#[test]
fn references_without_attachment_stay_and_are_noted() {
    let run = read_one(
        r#""messages": [{"role": "user", "content": "attachment://gone"}], "attachments": {"h": "x"}"#,
    );
    assert_eq!(outline(&run.events), ["user attachment://gone"]);
    assert!(run.notes[0].contains("attachments"));
}

// ---- Detection.

#[test]
fn logs_are_detected_by_their_first_member_or_the_keys_of_their_header() {
    let zip = |name: &str| zip(&[part(name, "{}", 0)]).0;
    let json = |text: &str| text.as_bytes().to_vec();
    let header = header("started");
    let index = format!("{{\"x.eval\": {header}}}");
    let sorted = r#"{"eval": {"created": "x", "dataset": {}, "model": "m""#;
    for (path, start, expected) in [
        ("a.eval", zip("_journal/start.json"), Some(true)),
        ("a.zip", zip("_journal/start.json"), Some(true)),
        ("a.EVAL", zip("samples/1_epoch_1.json"), Some(true)),
        ("a.zip", zip("samples/1_epoch_1.json"), None),
        ("a.eval", zip("readme.txt"), Some(true)),
        ("a.eval", b"\x93\x00 no archive".to_vec(), Some(true)),
        ("a.eval", Vec::new(), Some(true)),
        ("a.bin", b"\x93\x00 no archive".to_vec(), None),
        ("a.eval", b"PK\x03\x04".to_vec(), Some(true)),
        ("a.zip", b"PK\x03\x04".to_vec(), None),
        ("a.json", json(&header), Some(true)),
        ("a.json", json(&header[..150]), Some(true)),
        ("a.json", json(sorted), Some(true)),
        ("logs.json", json(&index), Some(false)),
        ("eval-set.json", json("{\"eval_set_id\": \"a\", \"tasks\": []}"), Some(false)),
        ("a.json", json("{\"version\": 2, \"status\": \"x\", \"eval\": \"task\"}"), None),
        ("a.json", json("{\"evalId\": \"x\", \"results\": {\"version\": 3}}"), None),
        ("a.jsonl", json(&format!("{header}\n{header}")), None),
        ("a.json", json("{\"588\": {\"query\": \"x\"}}"), None),
    ] {
        let head = Head::read(&start);
        let found = Inspect.detect(path, &start, head.as_ref());
        let found = found.map(|found| found == Detected::Runs);
        assert_eq!(found, expected, "{path} {}", String::from_utf8_lossy(&start));
    }
}

/// Returns the members of a sample with two messages and an object under the key of this program.
fn with_own(own: &str) -> String {
    let messages = r#"[{"role": "user", "content": "a"}, {"role": "user", "content": "b"}]"#;
    format!(r#""messages": {messages}, "metadata": {{"touchstone": {{{own}}}}}"#)
}

fn remark(text: impl std::fmt::Display, after: usize) -> String {
    format!(r#"{{"kind": "note", "after": {after}, "text": "{text}"}}"#)
}

#[test]
fn what_stands_beside_messages_comes_behind_as_many_as_it_says() {
    let own = |remarks: Vec<String>| {
        let remarks = remarks.join(", ");
        with_own(&format!(r#""run": "r", "state": "limit", "beside": [{remarks}]"#))
    };
    let run =
        read_one(&own(vec![remark("n2", 1), remark("n1", 0), remark("n3", 1), remark("n4", 9)]));
    let outline = outline(&run.events);
    let note = |text: &str| format!("{:?}", EventKind::Note(text.to_owned()));
    let expected =
        [note("n1"), "user a".to_owned(), note("n2"), note("n3"), "user b".to_owned(), note("n4")];
    assert_eq!((outline.as_slice(), run.end), (&expected[..], RunEnd::Limit));
    // Remarks that are put in one by one take minutes.
    let run = read_one(&own((0..100_000).map(|at| remark(at, 0)).collect()));
    let last = run.events.len() - 3;
    assert_eq!(run.events[last].kind, EventKind::Note("99999".to_owned()));
}

#[test]
fn an_object_of_another_program_under_the_key_of_this_one_replaces_nothing_and_is_shown() {
    for own in [
        String::new(),
        r#""run": "r", "state": "done", "model": "other""#.to_owned(),
        format!(r#""state": "limit", "beside": [{}]"#, remark("n", 0)),
    ] {
        let run = read_one(&with_own(&own));
        assert_eq!(outline(&run.events), ["user a", "user b"]);
        let names = (run.task.as_deref(), run.model.as_deref(), run.end);
        assert_eq!(names, (Some("sums/1"), Some("m/x"), RunEnd::Complete), "{own}");
        assert!(run.facts.iter().any(|(key, _)| key == "sample metadata"), "{own}");
    }
}

#[test]
fn a_message_names_the_model_that_wrote_it() {
    let run = read_one(
        r#""messages": [{"role": "user", "content": "q"},
            {"role": "assistant", "id": "a", "content": "1", "model": "m/small"},
            {"role": "assistant", "id": "b", "content": "2"}],
           "events": [{"event": "model", "model": "m/asked", "output": {"model": "m/big",
            "choices": [{"message": {"role": "assistant", "id": "b", "content": "2"}}]}}]"#,
    );
    let models: Vec<_> = run.events.iter().map(|event| event.model.as_deref()).collect();
    assert_eq!(models, [None, Some("m/small"), Some("m/big")]);
}
