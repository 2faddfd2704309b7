//! Pseudo-random edits of transcripts, reproducible by seed.

/// Transcripts as written by programs and by hand.
pub(crate) const FIXTURES: [(&str, &str); 6] = [
    ("pyyaml-block", include_str!("../../../../tests/fixtures/transcripts/pyyaml-block.yaml")),
    ("pyyaml-default", include_str!("../../../../tests/fixtures/transcripts/pyyaml-default.yaml")),
    (
        "pyyaml-double-quoted",
        include_str!("../../../../tests/fixtures/transcripts/pyyaml-double-quoted.yaml"),
    ),
    (
        "pyyaml-indented",
        include_str!("../../../../tests/fixtures/transcripts/pyyaml-indented.yaml"),
    ),
    ("promptql", include_str!("../../../../tests/fixtures/transcripts/promptql.yaml")),
    ("by-hand", include_str!("../../../../tests/fixtures/transcripts/by-hand.yaml")),
];

/// Fragments with a meaning in YAML or in transcripts.
pub(crate) const PIECES: [&str; 46] = [
    "a",
    "a:",
    "a: ",
    "b: c",
    "- ",
    "-",
    "- - ",
    "|",
    "|-",
    "|+",
    "|2",
    "|1-",
    ">",
    "'",
    "''",
    "\"",
    "\\",
    "\\n",
    "\\\"",
    ":",
    ": ",
    " #",
    "#",
    "[]",
    "{}",
    "[",
    "}",
    "&x ",
    "*x",
    "!t ",
    "? ",
    "---",
    "...",
    "\t",
    " ",
    "  ",
    "~",
    "null",
    "1",
    "<<",
    "%",
    "é",
    "\u{2028}",
    "conversation:",
    "user_message: x",
    "tool_call:",
];

/// A small pseudo-random generator. Repeatability matters more than quality.
pub(crate) struct Edits {
    state: u64,
}

impl Edits {
    pub(crate) fn new(seed: u64) -> Self {
        Edits { state: seed }
    }

    pub(crate) fn below(&mut self, limit: usize) -> usize {
        self.state ^= self.state << 13;
        self.state ^= self.state >> 7;
        self.state ^= self.state << 17;
        usize::try_from(self.state >> 11).unwrap_or(0) % limit.max(1)
    }

    fn char_boundary(&mut self, text: &str) -> usize {
        let mut at = self.below(text.len() + 1);
        while !text.is_char_boundary(at) {
            at -= 1;
        }
        at
    }

    /// Returns a fixture with a few edits.
    pub(crate) fn next_text(&mut self) -> String {
        let fixture = FIXTURES[self.below(FIXTURES.len())].1;
        self.edited(fixture)
    }

    /// Returns a text with a few edits.
    pub(crate) fn edited(&mut self, text: &str) -> String {
        let mut text = text.to_owned();
        for _ in 0..=self.below(3) {
            self.edit(&mut text);
        }
        text
    }

    fn edit(&mut self, text: &mut String) {
        let at = self.char_boundary(text);
        match self.below(7) {
            0 => text.insert_str(at, PIECES[self.below(PIECES.len())]),
            1 => text.insert(at, '\n'),
            2 => {
                let line = text[..at].rfind('\n').map_or(0, |at| at + 1);
                text.insert_str(line, &" ".repeat(self.below(4) + 1));
            }
            3 => {
                let line = text[..at].rfind('\n').map_or(0, |at| at + 1);
                let spaces = text[line..].len() - text[line..].trim_start_matches(' ').len();
                text.replace_range(line..line + self.below(spaces + 1), "");
            }
            4 => {
                let end = text[at..].chars().next().map_or(at, |letter| at + letter.len_utf8());
                text.replace_range(at..end, "");
            }
            5 => {
                let line = text[..at].rfind('\n').map_or(0, |at| at + 1);
                let end = text[at..].find('\n').map_or(text.len(), |length| at + length + 1);
                let copy = text[line..end].to_owned();
                let other = self.char_boundary(text);
                let other = text[..other].rfind('\n').map_or(0, |at| at + 1);
                text.insert_str(other, &copy);
            }
            _ => {
                let line = text[..at].rfind('\n').map_or(0, |at| at + 1);
                let end = text[at..].find('\n').map_or(text.len(), |length| at + length + 1);
                text.replace_range(line..end, "");
            }
        }
    }
}
