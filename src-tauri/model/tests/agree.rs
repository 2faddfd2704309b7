//! The fast YAML parser agrees with the full parser on every text.
use crate::edits::{CORNERS, Edits, FIXTURES, PIECES};
use proptest::prelude::*;
use touchstone_model::yaml;

/// Parses a text with both parsers and compares the results. Returns true when the fast parser
/// accepted it.
fn agree(text: &str) -> bool {
    let fast = yaml::read_fast_only(text);
    if let Some(value) = &fast {
        let full = yaml::read_fully(text);
        assert_eq!(full.as_ref(), Ok(value), "the full parser disagrees about:\n{text}\n{text:?}");
    }
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
