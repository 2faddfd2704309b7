//! The outline of a transcript agrees with the whole, on the texts on which the YAML parsers are
//! compared.
use crate::edits::{CORNERS, Edits, FIXTURES, PIECES};
use proptest::prelude::*;
use touchstone_formats::transcript::{self, outline_of};

/// Reads a text as an outline and as a whole, and compares the results.
fn agree(text: &str) {
    let outline = transcript::outline(text.as_bytes());
    let whole = transcript::read(text.as_bytes()).map(|run| outline_of(&run));
    assert_eq!(outline, whole, "outline and whole disagree about:\n{text}");
}

#[test]
fn every_beginning_of_a_transcript_is_outlined_like_the_whole() {
    for (_, text) in FIXTURES.iter().step_by(2) {
        for end in (0..=text.len()).filter(|end| text.is_char_boundary(*end)) {
            agree(&text[..end]);
        }
    }
}

#[test]
fn edited_transcripts_are_outlined_like_the_whole() {
    let rounds = std::env::var("TOUCHSTONE_EDITS")
        .ok()
        .and_then(|rounds| rounds.parse().ok())
        .unwrap_or(2_000);
    let mut edits = Edits::new(0x5EED);
    for _ in 0..rounds {
        agree(&edits.next_text());
    }
    println!("cases: {rounds}");
}

#[test]
fn corners_of_yaml_are_outlined_like_the_whole() {
    for text in CORNERS {
        agree(text);
        let inside = text.lines().fold(String::new(), |all, line| all + "      " + line + "\n");
        agree(&format!("conversation:\n- tool_call:\n    params:\n{inside}"));
    }
}

proptest! {
    #![proptest_config(ProptestConfig { cases: 3_000, failure_persistence: None, ..ProptestConfig::default() })]

    #[test]
    fn made_up_lines_are_outlined_like_the_whole(
        lines in prop::collection::vec(
            (0..4_usize, prop::sample::select(PIECES.to_vec()), prop::sample::select(PIECES.to_vec())),
            1..9,
        )
    ) {
        let text = lines.iter().fold(String::new(), |all, (indent, a, b)| all + &" ".repeat(*indent) + a + b + "\n");
        agree(&text);
    }
}
