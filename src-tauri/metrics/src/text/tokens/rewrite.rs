//! **Pure.** Buffer for replacing patterns in an ASCII text one after the other without repeated
//! allocation.

/// The text, its next version, and the bytes that it may contain.
#[derive(Debug, Default)]
pub(super) struct Draft {
    text: Vec<u8>,
    next: Vec<u8>,
    present: u128,
}

impl Draft {
    /// Restarts with a text.
    pub(super) fn begin(&mut self, text: &[u8]) {
        self.text.clear();
        self.text.extend_from_slice(text);
        self.present = text.iter().fold(0, |present, byte| present | bit(*byte));
    }

    pub(super) fn text(&self) -> &[u8] {
        &self.text
    }

    /// Returns true if the text may contain any of these bytes. Lets patterns be skipped whose
    /// bytes were neither in the original text nor written by an earlier pattern.
    pub(super) fn had(&self, any_of: &[u8]) -> bool {
        any_of.iter().any(|byte| self.present & bit(*byte) != 0)
    }

    /// Records that a pattern wrote this byte.
    pub(super) fn brings(&mut self, byte: u8) {
        self.present |= bit(byte);
    }

    /// Replaces from left to right. `pattern` is called at each position. It writes the replacement
    /// and returns the number of bytes replaced, or writes nothing and returns 0.
    pub(super) fn replace(&mut self, pattern: impl Fn(&[u8], usize, &mut Vec<u8>) -> usize) {
        self.next.clear();
        let mut at = 0;
        while let Some(byte) = self.text.get(at) {
            let taken = pattern(&self.text, at, &mut self.next);
            if taken == 0 {
                self.next.push(*byte);
            }
            at += taken.max(1);
        }
        std::mem::swap(&mut self.text, &mut self.next);
    }

    /// Replaces the text from `start` on.
    pub(super) fn replace_end(&mut self, start: usize, with: &[&[u8]]) {
        self.next.clear();
        for piece in with {
            self.next.extend_from_slice(piece);
        }
        self.text.truncate(start);
        self.text.append(&mut self.next);
    }

    /// Adds a space at both ends.
    pub(super) fn pad(&mut self) {
        self.text.insert(0, b' ');
        self.text.push(b' ');
    }
}

fn bit(byte: u8) -> u128 {
    1 << (byte & 0x7f)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn what_was_replaced_is_not_looked_at_again() {
        let mut draft = Draft::default();
        draft.begin(b"aaab");
        draft.replace(|text, at, out| {
            if text[at..].starts_with(b"aa") {
                out.extend_from_slice(b"a-a");
                return 2;
            }
            0
        });
        assert_eq!(draft.text(), b"a-aab");
        assert!(draft.had(b"xb") && !draft.had(b"-x"));
        draft.brings(b'-');
        assert!(draft.had(b"-x"));
        draft.replace_end(3, &[b"", b"xy"]);
        draft.pad();
        assert_eq!(draft.text(), b" a-axy ");
    }
}
