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

/// Edge cases of the fast parser.
pub(crate) const CORNERS: &[&str] = &[
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
