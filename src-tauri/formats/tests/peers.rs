//! What we write is read by `PyYAML` and js-yaml as what it was. Both come from their packages; without them this is skipped, unless
//! `TOUCHSTONE_REQUIRE_YAML_PEERS` is set, as it is by `make test`.
#![expect(clippy::unwrap_used, reason = "a peer that misbehaves fails the test")]
mod nasty;

use std::io::Write as _;
use std::path::Path;
use std::process::{Command, Stdio};

use proptest::strategy::{Strategy as _, ValueTree as _};
use proptest::test_runner::TestRunner;
use touchstone_formats::value::Value;
use touchstone_formats::{json, transcript, yaml};

const PYTHON: &str = "
import json, sys, yaml
fast = getattr(yaml, 'CSafeLoader', yaml.SafeLoader)
out = []
for text in json.load(sys.stdin):
    try:
        read = yaml.safe_load(text)
        out.append(read if read == yaml.load(text, Loader=fast) else 'ERROR libyaml and PyYAML differ')
    except Exception as error:
        out.append('ERROR ' + str(error))
json.dump(out, sys.stdout)
";

const NODE: &str = "
const yaml = require('js-yaml');
const texts = JSON.parse(require('fs').readFileSync(0, 'utf8'));
const out = texts.map((text) => {
  try { return yaml.load(text); } catch (error) { return 'ERROR ' + error; }
});
process.stdout.write(JSON.stringify(out));
";

/// What the first of these commands that finds the package makes of some texts; none when it is not installed.
fn read_by(name: &str, commands: Vec<Command>, probe: &str, texts: &[String]) -> Option<Vec<Value>> {
    let Some(mut command) = commands.into_iter().find(|command| can(command, probe)) else {
        assert!(
            std::env::var_os("TOUCHSTONE_REQUIRE_YAML_PEERS").is_none(),
            "{name} is not installed; `make setup-test` brings it"
        );
        println!("skipped: {name} is not installed");
        return None;
    };
    let input = json::write(&Value::List(texts.iter().map(|text| Value::from(text.as_str())).collect()), false);
    Some(answered(name, &mut command, &input))
}

/// True when this program can load the package, where this command would look for it.
fn can(command: &Command, probe: &str) -> bool {
    let flag = command.get_args().next().unwrap_or_default();
    let envs = command.get_envs().filter_map(|(key, value)| Some((key, value?)));
    let probed = Command::new(command.get_program()).arg(flag).arg(probe).envs(envs).stderr(Stdio::null()).status();
    probed.is_ok_and(|status| status.success())
}

/// What a program writes when it is given something to read.
fn answered(name: &str, command: &mut Command, input: &str) -> Vec<Value> {
    let mut child = command.stdin(Stdio::piped()).stdout(Stdio::piped()).spawn().unwrap();
    child.stdin.take().unwrap().write_all(input.as_bytes()).unwrap();
    let output = child.wait_with_output().unwrap();
    assert!(output.status.success(), "{name} failed");
    let read = json::read(std::str::from_utf8(&output.stdout).unwrap()).unwrap();
    read.items().to_vec()
}

fn by_python(texts: &[String]) -> Option<Vec<Value>> {
    // The package of the distribution belongs to its own Python, and another may come first.
    let commands = ["python3", "/usr/bin/python3"].map(|program| {
        let mut command = Command::new(program);
        command.args(["-c", PYTHON]);
        command
    });
    read_by("PyYAML", commands.into(), "import yaml", texts)
}

fn by_node(texts: &[String]) -> Option<Vec<Value>> {
    let modules = std::env::var_os("TOUCHSTONE_NODE_MODULES")
        .map_or_else(|| Path::new(env!("CARGO_MANIFEST_DIR")).join("../../ui/node_modules"), Into::into);
    let mut command = Command::new("node");
    command.args(["-e", NODE]).env("NODE_PATH", modules);
    read_by("js-yaml", vec![command], "require('js-yaml')", texts)
}

/// Nasty texts, and many others like them, always the same.
fn texts() -> Vec<String> {
    let mut runner = TestRunner::deterministic();
    let strategy = nasty::texts();
    let random = (0..1_500).map(|_| strategy.new_tree(&mut runner).unwrap().current());
    nasty::NASTY.iter().map(|text| (*text).to_owned()).chain(random).collect()
}

/// A text in every place where it may stand.
fn placed(text: &str) -> Value {
    let text = || Value::from(text);
    // JavaScript moves keys that look like whole numbers, and has one key that is none.
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
    .flat_map(|text| [(*text).to_owned(), transcript::Document::read(text.as_bytes()).unwrap().write()])
    .collect();
    for read in [by_python(&texts), by_node(&texts)].into_iter().flatten() {
        for pair in read.chunks(2) {
            assert!(matches!(&pair[0], Value::Map(entries) if !entries.is_empty()));
            assert_eq!(pair[0], pair[1]);
        }
    }
}
