//! The fast YAML parser agrees with the full parser on every text, and the outline of a transcript
//! agrees with the whole.
use crate::edits::{Edits, FIXTURES, PIECES};
use proptest::prelude::*;
use touchstone_formats::{transcript, yaml};

/// Parses a text with both parsers and compares the results. Returns true when the fast parser
/// accepted it.
fn agree(text: &str) -> bool {
    let fast = yaml::read_fast_only(text);
    if let Some(value) = &fast {
        let full = yaml::read_fully(text);
        assert_eq!(full.as_ref(), Ok(value), "the full parser disagrees about:\n{text}\n{text:?}");
    }
    let outline = transcript::outline(text.as_bytes());
    let whole = transcript::read(text.as_bytes()).map(|run| run.outline());
    assert_eq!(outline, whole, "outline and whole disagree about:\n{text}");
    fast.is_some()
}

#[test]
fn transcripts_as_programs_write_them_go_the_fast_way() {
    for (name, text) in FIXTURES {
        assert_eq!(agree(text), name != "by-hand", "{name}");
        let again = yaml::write(&yaml::read(text).unwrap());
        assert!(agree(&again), "{name}, as we write it:\n{again}");
        assert_eq!(yaml::read(&again), yaml::read(text), "{name}");
    }
}

#[test]
fn every_beginning_of_a_file_is_read_alike_both_ways() {
    for (_, text) in FIXTURES.iter().step_by(2) {
        for end in (0..text.len()).filter(|end| text.is_char_boundary(*end)) {
            agree(&text[..end]);
        }
    }
}

#[test]
fn edited_files_are_read_alike_both_ways() {
    let rounds = std::env::var("TOUCHSTONE_EDITS")
        .ok()
        .and_then(|rounds| rounds.parse().ok())
        .unwrap_or(2_000);
    let mut edits = Edits::new(0x5EED);
    let mut taken = 0;
    for _ in 0..rounds {
        taken += usize::from(agree(&edits.next_text()));
    }
    println!("cases: {rounds}, of which the fast way took {taken}");
    assert!(taken * 10 > rounds, "the fast way took only {taken} of {rounds}");
}

/// Edge cases of the fast parser.
const CORNERS: &[&str] = &[
    "a: |\n  x\n",
    "a: |-\n  x\n",
    "a: |+\n  x\n\n\n",
    "a: |2\n   x\n  y\n",
    "a: |\n\n\n  x\n",
    "a: |\n    \n  x\n",
    "a: |\n  x\n   \n\nb: 1\n",
    "a: |\n  x\n# c\nb: 1\n",
    "a: |\nb: 1\n",
    "a: |\n",
    "a: |+\n\n",
    "- |\n x\n- |1\n  x\n",
    "a:\n- |\n  x\n- y\nb: z\n",
    "a:\n  - - b\n    - c\n  - d\n",
    "- - a\n  - b\n-\n  c: d\n-\n- e\n",
    "a:\n\n\n  b:\n   c: d\n",
    "a:\nb:\n",
    "a: b\n  c\n\n  d\ne: f\n",
    "- a\n  b\n- c\n",
    "- a\n b\n",
    "a: 'it''s\n  so'\n",
    "a: \"x\\\n  y\\n\n\n  z \\\n  \\ w\"\n",
    "a: \"x\\u0041\\x41\\U0001F600\"\n",
    "a: \"\\uD83D\\uDE00\"\n",
    "'a b': 1\n\"c\\n\": 2\n",
    "a: b: c\n",
    "a: b #c\n",
    "a: b#c\n",
    "a: -1\nb: - 1\n",
    "a: -\n",
    "-a: b\n",
    "- -a\n",
    "a: []\nb: {}\nc: [1]\n",
    "a: &x b\nc: *x\n",
    "a: 1\na: 2\n",
    "1: a\n'1': b\n",
    "~: a\nnull: b\n",
    "<<: {a: 1}\n",
    "a:\tb\n",
    "a: b\tc\n",
    "\ta: b\n",
    "a: \"b\tc\"\n",
    "a: |\n  b\tc\n",
    "a: |\n  \tb\n",
    "a: |\n\tb\n",
    "--- \na: b\n",
    "---\na: b\n",
    "a: b\n---\nc: d\n",
    "a: b\n...\n",
    "---a: b\n",
    "a: ---\n",
    " a: b\n",
    "a: b\n c: d\n",
    "a:\n  b: c\n d: e\n",
    "a: 'b\n'\n",
    "a: 'b\n c\n\n d'\n",
    "a: 'b' c\n",
    "a: 'b'  \n",
    "a : b\n",
    "? a\n: b\n",
    "a:b\n",
    "a:: b\n",
    ": a\n",
    "a: :b\n",
    "a: ?b\n",
    "a: @b\n",
    "a: %b\n",
    "%a: b\n",
    "a: b\n\n\n\n",
    "# c\na: b\n# d\n",
    "a: b\n # c\n",
    "a: b\n # c\n  d\n",
    "- # c\n  a: b\n",
    "a: \u{85}\n",
    "a: \u{9f}\n",
    "a: b\u{2028}c\n",
    "a: \u{feff}b\n",
    "\u{feff}a: b\n",
    "a: b\r\nc: d\r\n",
    "a: |\r\n  b\r\n",
    "a: \u{1b}[1m\n",
    "a: é\n",
    "é: 東\n",
    "a: |\n  x",
    "a: b",
    "a: 'b",
    "a: \"b\\",
    "",
    "\n",
    "- \n",
    "-\n",
    "a\n",
    "'a'\n",
    "|\n  a\n",
    "a: >\n  b\n",
    "a: !!str 1\n",
    "a: null\nb: ~\nc: yes\nd: 0x1F\n",
    "a: b\\nc\n",
    "a: 'b\\'\n",
    "a: \"b\"c: d\n",
    "- 'a': b\n  c: d\n- \"e\": f\n",
    "- 'a' : b\n",
    "- a: |\n   b\n  c: d\n",
    "- a:\n  - b\n  c: d\n",
    "a: |3\n   b\n",
    "a: |1\n b\n",
    "a: |0\n b\n",
    "a: |-2\n  b\n",
    "a: |2-\n  b\n",
    "a: |--\n  b\n",
    "a: x\n  y: z\n",
    "a: x\n  y:\n",
    "a: x\n  - y\n",
    "a: x\n  # y\n",
    "a: x\n\n  # y\nb: c\n",
    "a: \"x\n\n\n  y\"\n",
    "a: \"x  \n  y\"\n",
    "a: \"x\\  \n  y\"\n",
    "a: \"x\\\n\n  y\"\n",
    "a: \"\n  x\n  \"\n",
];

#[test]
fn corners_of_the_subset_are_read_alike_both_ways() {
    for text in CORNERS {
        agree(text);
        let inside = text.lines().fold(String::new(), |all, line| all + "      " + line + "\n");
        agree(&format!("conversation:\n- tool_call:\n    params:\n{inside}"));
    }
}

proptest! {
    #![proptest_config(ProptestConfig { cases: 3_000, failure_persistence: None, ..ProptestConfig::default() })]

    #[test]
    fn made_up_lines_are_read_alike_both_ways(
        lines in prop::collection::vec(
            (0..4_usize, prop::sample::select(PIECES.to_vec()), prop::sample::select(PIECES.to_vec())),
            1..9,
        )
    ) {
        let text = lines.iter().fold(String::new(), |all, (indent, a, b)| all + &" ".repeat(*indent) + a + b + "\n");
        agree(&text);
    }
}
