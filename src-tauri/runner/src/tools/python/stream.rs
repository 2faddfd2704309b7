//! **Pure.** Buffer for an output stream of any length: keeps its beginning and end, with a mark
//! where bytes were omitted.

/// Kept bytes of a stream.
#[derive(Debug)]
pub(super) struct OutputBuffer {
    head: Vec<u8>,
    tail: Vec<u8>,
    half: usize,
    total: u64,
}

impl OutputBuffer {
    /// Creates a buffer that keeps about `cap` bytes: one half from the beginning, the other from
    /// the end.
    pub(super) fn new(cap: usize) -> Self {
        Self { head: Vec::new(), tail: Vec::new(), half: (cap / 2).max(64), total: 0 }
    }

    /// Appends bytes of the stream.
    pub(super) fn push(&mut self, bytes: &[u8]) {
        self.total += bytes.len() as u64;
        let (first, rest) = bytes.split_at(bytes.len().min(self.half - self.head.len()));
        self.head.extend_from_slice(first);
        self.tail.extend_from_slice(&rest[rest.len().saturating_sub(self.half)..]);
        // Drained rarely, so that each byte is moved about once, however long the stream is.
        if self.tail.len() > self.half * 2 {
            self.tail.drain(..self.tail.len() - self.half);
        }
    }

    /// Returns true if bytes were omitted.
    pub(super) fn is_cut(&self) -> bool {
        self.total > (self.half * 2) as u64
    }

    /// Returns true if the stream begins with these bytes.
    pub(super) fn starts_with(&self, mark: &[u8]) -> bool {
        self.head.starts_with(mark)
    }

    /// Removes a prefix. Returns false if the stream does not begin with it.
    pub(super) fn take_off(&mut self, mark: &[u8]) -> bool {
        let begins = self.starts_with(mark);
        if begins {
            self.head.drain(..mark.len());
        }
        begins
    }

    /// Returns the content as text. Invalid bytes become `�`, and no character is split.
    pub(super) fn text(&self) -> String {
        let end = &self.tail[self.tail.len().saturating_sub(self.half)..];
        if !self.is_cut() {
            return String::from_utf8_lossy(&[&self.head, end].concat()).into_owned();
        }
        let head = whole_to_the_end(&self.head);
        let end = whole_from_the_start(end);
        let left_out = self.total - (self.half * 2) as u64;
        let (head, end) = (String::from_utf8_lossy(head), String::from_utf8_lossy(end));
        format!("{head}\n[… {left_out} bytes left out here …]\n{end}")
    }
}

/// Removes an incomplete character at the end.
fn whole_to_the_end(bytes: &[u8]) -> &[u8] {
    match bytes.utf8_chunks().last() {
        // An invalid last chunk that more bytes could have completed to a character.
        Some(chunk) if !chunk.invalid().is_empty() && is_begun(chunk.invalid()) => {
            &bytes[..bytes.len() - chunk.invalid().len()]
        }
        _ => bytes,
    }
}

fn is_begun(bytes: &[u8]) -> bool {
    std::str::from_utf8(bytes).is_err_and(|error| error.error_len().is_none())
}

/// Removes an incomplete character at the beginning.
fn whole_from_the_start(bytes: &[u8]) -> &[u8] {
    let lost = bytes.iter().take(3).take_while(|byte| (0x80..0xC0).contains(*byte)).count();
    &bytes[lost..]
}

#[cfg(test)]
mod tests {
    use super::*;
    use proptest::prelude::*;

    fn buffered(cap: usize, parts: &[&[u8]]) -> OutputBuffer {
        let mut kept = OutputBuffer::new(cap);
        for part in parts {
            kept.push(part);
        }
        kept
    }

    #[test]
    fn a_long_output_keeps_its_beginning_and_its_end() {
        let long = buffered(128, &[&[b'a'; 64], &[b'b'; 1000], &[b'c'; 64]]);
        assert!(long.is_cut());
        let (a, c) = ("a".repeat(64), "c".repeat(64));
        assert_eq!(long.text(), format!("{a}\n[… 1000 bytes left out here …]\n{c}"));
    }

    #[test]
    fn an_output_as_long_as_the_cap_is_whole() {
        let whole = buffered(128, &[&[b'a'; 128]]);
        assert!(!whole.is_cut());
        assert_eq!(whole.text(), "a".repeat(128));
    }

    #[test]
    fn no_character_is_cut_in_two() {
        let text = "é€😀".repeat(60);
        for shift in 0..9 {
            let shifted = format!("{}{text}", "x".repeat(shift));
            let shown = buffered(128, &[shifted.as_bytes()]).text();
            assert!(!shown.contains('\u{fffd}'), "{shift}: {shown}");
        }
    }

    #[test]
    fn invalid_utf8_is_marked_and_nothing_else_is_lost() {
        assert_eq!(buffered(128, &[b"a\xffb\0c\n"]).text(), "a\u{fffd}b\0c\n");
        assert_eq!(buffered(128, &[b"ends in half \xe2\x82"]).text(), "ends in half \u{fffd}");
    }

    proptest! {
        #[test]
        fn how_the_bytes_arrive_does_not_matter(bytes in proptest::collection::vec(any::<u8>(), 0..2000), size in 1..300_usize) {
            let whole = buffered(256, &[&bytes]);
            let chunks: Vec<&[u8]> = bytes.chunks(size).collect();
            let parts = buffered(256, &chunks);
            prop_assert_eq!(parts.text(), whole.text());
            prop_assert_eq!(parts.is_cut(), bytes.len() > 256);
            if !parts.is_cut() {
                prop_assert_eq!(parts.text(), String::from_utf8_lossy(&bytes).into_owned());
            }
        }
    }
}
