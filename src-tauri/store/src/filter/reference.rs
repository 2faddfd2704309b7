//! Checks the table of keys in `docs/reference/filters.md`, which is written from [`KEYS`].
use super::keys::{KEYS, ValueKind};
use std::fmt::Write as _;
use std::path::Path;

const BEGIN: &str = "<!-- generated from the keys of the program -->\n\n";
const END: &str = "<!-- end -->";

/// Returns the table of keys as Markdown.
fn table() -> String {
    let mut table = "| key | condition | values | example |\n|---|---|---|---|\n".to_owned();
    for rule in &KEYS {
        let values = values(rule.takes);
        let _ =
            writeln!(table, "| `{}` | {} | {values} | `{}` |", rule.name, rule.about, rule.example);
    }
    table
}

/// Returns the accepted values in words.
fn values(kind: ValueKind) -> String {
    let quoted = |words: &[&str]| {
        words.iter().map(|word| format!("`{word}`")).collect::<Vec<_>>().join(", ")
    };
    match kind {
        ValueKind::Text => "text".into(),
        ValueKind::State => "[states](#states)".into(),
        ValueKind::Word(words) if words.contains(&"wrong_answer") => "[classes](#classes)".into(),
        ValueKind::Word(words) if words.contains(&"no_expected") => {
            "[states of scoring](#states-of-scoring)".into()
        }
        ValueKind::Word(words) => quoted(words),
        ValueKind::Flag => quoted(&["yes", "no"]),
        ValueKind::FlagOrText => "`yes`, `no`, or text".into(),
        ValueKind::Number([]) => "number".into(),
        ValueKind::Number(units) => {
            let units: Vec<&str> = units.iter().map(|(unit, _)| *unit).collect();
            format!("number, {}", quoted(&units))
        }
        ValueKind::StepText => "text or `/regular expression/`".into(),
        ValueKind::Label => "name, then a value or a comparison".into(),
        ValueKind::Fact => "key, then a value or a comparison".into(),
        ValueKind::Date => "day, month or year".into(),
        ValueKind::Stored => "name, then a result or a comparison".into(),
    }
}

#[test]
fn the_reference_page_has_the_keys_of_the_program() {
    let path = Path::new(env!("CARGO_MANIFEST_DIR")).join("../../docs/reference/filters.md");
    let page = fs_err::read_to_string(&path).unwrap();
    let (before, rest) = page.split_once(BEGIN).unwrap();
    let (_, after) = rest.split_once(END).unwrap();
    let wanted = format!("{before}{BEGIN}{}\n{END}{after}", table());
    if std::env::var_os("TOUCHSTONE_WRITE").is_some() {
        fs_err::write(&path, &wanted).unwrap();
    }
    let page = fs_err::read_to_string(&path).unwrap();
    assert!(
        page == wanted,
        "Run: TOUCHSTONE_WRITE=1 cargo test -p touchstone-store reference_page"
    );
}

#[test]
fn the_reference_page_explains_every_word_that_a_key_takes() {
    let path = Path::new(env!("CARGO_MANIFEST_DIR")).join("../../docs/reference/filters.md");
    let page = fs_err::read_to_string(path).unwrap();
    let states = super::keys::STATES.iter().map(|(_, name)| *name);
    let words = KEYS.iter().flat_map(|rule| match rule.takes {
        ValueKind::Word(words) => words,
        _ => &[],
    });
    for word in states.chain(words.copied()) {
        assert!(page.contains(&format!("`{word}`")), "{word}");
    }
}
