//! `PyYAML` and js-yaml read the written YAML back to the original value. Both must be installed;
//! without them the tests are skipped, unless `TOUCHSTONE_REQUIRE_YAML_PEERS` is set, which
//! `make test` does.
#![expect(clippy::unwrap_used, reason = "a peer that misbehaves fails the test")]
use crate::nasty;
use std::io::Write as _;
use std::path::Path;
use std::process::{Command, Stdio};

use proptest::strategy::{Strategy as _, ValueTree as _};
use proptest::test_runner::TestRunner;
use touchstone_formats::transcript;
use touchstone_model::value::Value;
use touchstone_model::{json, yaml};

const PYTHON: &str = "
import json, math, sys, yaml
fast = getattr(yaml, 'CSafeLoader', yaml.SafeLoader)
def told(one):
    if isinstance(one, dict):
        return {key if isinstance(key, str) else repr(key): told(value) for key, value in one.items()}
    if isinstance(one, list):
        return [told(item) for item in one]
    if one is None or isinstance(one, (str, bool)) or isinstance(one, (int, float)) and one == one and abs(one) != math.inf:
        return one
    return repr(one)
out = []
for text in json.load(sys.stdin):
    try:
        read = yaml.safe_load(text)
        out.append(read if read == yaml.load(text, Loader=fast) else 'ERROR libyaml and PyYAML differ')
    except Exception as error:
        out.append('ERROR ' + str(error))
json.dump(told(out), sys.stdout)
";

const NODE: &str = "
const yaml = require('js-yaml');
const texts = JSON.parse(require('fs').readFileSync(0, 'utf8'));
const out = texts.map((text) => {
  try { return yaml.load(text); } catch (error) { return 'ERROR ' + error; }
});
process.stdout.write(JSON.stringify(out));
";

/// Parses texts with the first of the commands that finds the package. Returns `None` when none
/// does.
fn read_by(
    name: &str,
    commands: Vec<Command>,
    probe: &str,
    texts: &[String],
) -> Option<Vec<Value>> {
    let Some(mut command) = commands.into_iter().find(|command| can(command, probe)) else {
        assert!(
            std::env::var_os("TOUCHSTONE_REQUIRE_YAML_PEERS").is_none(),
            "{name} is not installed; `make setup-test` brings it"
        );
        println!("skipped: {name} is not installed");
        return None;
    };
    let input = json::write(
        &Value::List(texts.iter().map(|text| Value::from(text.as_str())).collect()),
        false,
    );
    Some(answered(name, &mut command, &input))
}

/// Returns true when the program can load the package with the environment of this command.
fn can(command: &Command, probe: &str) -> bool {
    let flag = command.get_args().next().unwrap_or_default();
    let envs = command.get_envs().filter_map(|(key, value)| Some((key, value?)));
    let probed = Command::new(command.get_program())
        .arg(flag)
        .arg(probe)
        .envs(envs)
        .stderr(Stdio::null())
        .status();
    probed.is_ok_and(|status| status.success())
}

/// Runs a program with this input and returns its output.
fn answered(name: &str, command: &mut Command, input: &str) -> Vec<Value> {
    let mut child = command.stdin(Stdio::piped()).stdout(Stdio::piped()).spawn().unwrap();
    child.stdin.take().unwrap().write_all(input.as_bytes()).unwrap();
    let output = child.wait_with_output().unwrap();
    assert!(output.status.success(), "{name} failed");
    let read = json::read(std::str::from_utf8(&output.stdout).unwrap()).unwrap();
    read.items().to_vec()
}

fn by_python(texts: &[String]) -> Option<Vec<Value>> {
    // A distribution's package belongs to its own Python, and another Python may come first.
    let commands = ["python3", "/usr/bin/python3"].map(|program| {
        let mut command = Command::new(program);
        command.args(["-c", PYTHON]);
        command
    });
    read_by("PyYAML", commands.into(), "import yaml", texts)
}

fn by_node(texts: &[String]) -> Option<Vec<Value>> {
    let modules = std::env::var_os("TOUCHSTONE_NODE_MODULES").map_or_else(
        || Path::new(env!("CARGO_MANIFEST_DIR")).join("../../ui/node_modules"),
        Into::into,
    );
    let mut command = Command::new("node");
    command.args(["-e", NODE]).env("NODE_PATH", modules);
    read_by("js-yaml", vec![command], "require('js-yaml')", texts)
}

/// Returns the nasty texts and many similar ones, always the same.
fn texts() -> Vec<String> {
    let mut runner = TestRunner::deterministic();
    let strategy = nasty::texts();
    let random = (0..1_500).map(|_| strategy.new_tree(&mut runner).unwrap().current());
    nasty::NASTY.iter().map(|text| (*text).to_owned()).chain(random).collect()
}

/// Puts a text at every position where a text may occur.
fn placed(text: &str) -> Value {
    let text = || Value::from(text);
    // JavaScript reorders keys that look like integers, and treats one key specially.
    let key = Value::Text(format!("{} ", text().text().unwrap_or_default()));
    let inner = Value::Map(vec![("value".into(), text()), (key, text())]);
    Value::Map(vec![
        ("list".into(), Value::List(vec![text(), Value::List(vec![text()]), inner.clone()])),
        ("map".into(), inner),
        ("last".into(), text()),
    ])
}

fn same(name: &str, read: impl Fn(&[String]) -> Option<Vec<Value>>) {
    let values: Vec<Value> = texts().iter().map(|text| placed(text)).collect();
    let written: Vec<String> = values.iter().map(yaml::write).collect();
    let Some(read) = read(&written) else { return };
    assert_eq!(read.len(), values.len());
    for ((value, written), read) in values.iter().zip(&written).zip(&read) {
        assert_eq!(read, value, "{name} reads something else:\n{written}\n{written:?}");
    }
    println!("cases: {}", values.len());
}

#[test]
fn pyyaml_reads_what_we_write() {
    same("PyYAML", by_python);
}

#[test]
fn js_yaml_reads_what_we_write() {
    same("js-yaml", by_node);
}

#[test]
fn a_bare_key_of_any_text_is_read_by_pyyaml_as_that_text() {
    let values: Vec<Value> =
        texts().into_iter().map(|text| Value::Map(vec![(Value::Text(text), "x".into())])).collect();
    let written: Vec<String> = values.iter().map(yaml::write).collect();
    let Some(read) = by_python(&written) else { return };
    for ((value, written), read) in values.iter().zip(&written).zip(&read) {
        assert_eq!(read, value, "PyYAML reads something else:\n{written}");
    }
    println!("cases: {}", values.len());
}

#[test]
fn a_rewritten_transcript_says_the_same_to_every_peer() {
    let texts: Vec<String> = [
        include_str!("../../../tests/fixtures/transcripts/pyyaml-block.yaml"),
        include_str!("../../../tests/fixtures/transcripts/pyyaml-default.yaml"),
        include_str!("../../../tests/fixtures/transcripts/by-hand.yaml"),
    ]
    .iter()
    .flat_map(|text| {
        [(*text).to_owned(), transcript::Document::read(text.as_bytes()).unwrap().write()]
    })
    .collect();
    for read in [by_python(&texts), by_node(&texts)].into_iter().flatten() {
        for pair in read.chunks(2) {
            assert!(matches!(&pair[0], Value::Map(entries) if !entries.is_empty()));
            assert_eq!(pair[0], pair[1]);
        }
    }
}

/// Texts that YAML 1.1 readers parse as other types, and lookalikes.
const ODD: [&str; 24] = [
    "2024-01-01",
    "2024-01-01 10:00:00",
    "2024-01-01T10:00:00Z",
    "12:30",
    "1_000",
    "0b11",
    "no",
    "Yes",
    "on",
    "n",
    "-1_000",
    "+1_0.5",
    "0x_1f",
    "1:30.5",
    "=",
    "y",
    "1e5",
    ".5_0",
    "0o17",
    "017",
    "1.2.3",
    "- x",
    "[a",
    "a: b",
];

/// Returns transcripts with a text both quoted and unquoted, where the unquoted one is read as that
/// text.
fn unquoted() -> Vec<String> {
    let files = ODD
        .iter()
        .map(|text| (*text).to_owned())
        .chain(texts())
        .filter(|text| !text.contains('\n'))
        .map(|text| {
            let quoted = format!("'{}'", text.replace('\'', "''"));
            format!(
                "conversation:\n- user_message: {text}\n- tool_call:\n    id: c\n    params: {{}}\
             \n    output:\n    - {text}\n    - {quoted}\n    - k: {text}\n      {text}: 1\n\
             - assistant_message: {quoted}\nnote:\n  when: {text}\n  then: {quoted}\n"
            )
        });
    files.filter(|file| transcript::Document::read(file.as_bytes()).is_ok()).collect()
}

#[test]
fn what_stood_without_quotes_is_the_same_date_or_switch_or_number_to_every_peer_afterwards() {
    let files = unquoted();
    let texts: Vec<String> = files
        .iter()
        .flat_map(|file| {
            let mut document = transcript::Document::read(file.as_bytes()).unwrap();
            let untouched = document.write();
            document.pop();
            document.push("assistant_message", "2024-01-01".into());
            document.set_answer(Some("no".into()));
            [file.clone(), untouched, document.write()]
        })
        .collect();
    for read in [by_python(&texts), by_node(&texts)].into_iter().flatten() {
        let mut cases = 0;
        for (file, read) in files.iter().zip(read.chunks(3)) {
            if read[0].text().is_some_and(|text| text.starts_with("ERROR")) {
                continue;
            }
            assert_eq!(read[0], read[1], "{file}");
            assert_eq!(read[0].get("note"), read[2].get("note"), "{file}");
            assert_eq!(read[2].get("answer"), Some(&"no".into()), "{file}");
            let last = read[2]
                .get("conversation")
                .and_then(|items| items.items().last()?.get("assistant_message"));
            assert_eq!(last, Some(&"2024-01-01".into()), "{file}");
            cases += 1;
        }
        assert!(cases > 100, "{cases}");
        println!("cases: {cases}");
    }
}
