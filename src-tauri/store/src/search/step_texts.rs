//! Where the texts of the steps of a run are taken from.
use super::length;
use super::sequence::StepTexts;
use crate::blob::TextBlob;
use std::io;
use std::ops::Range;

/// Number of bytes that are read ahead when the texts of a run follow closely on each other, and
/// maximum size of a step that is read as a whole.
const AHEAD: u64 = 1 << 20;
/// Maximum gap between texts that count as close.
const GAP: u64 = 128 << 10;
/// Texts of a run whose questions ask for none.
pub(super) struct NoTexts;

impl StepTexts for NoTexts {
    fn with(
        &mut self,
        _: &Range<u64>,
        _: &Range<u64>,
        _: &mut dyn FnMut(&[u8]) -> bool,
    ) -> io::Result<bool> {
        Ok(false)
    }
}

/// Texts of a run in memory.
pub(super) struct Loaded<'t>(pub(super) &'t [u8]);

impl StepTexts for Loaded<'_> {
    fn with(
        &mut self,
        _: &Range<u64>,
        range: &Range<u64>,
        act: &mut dyn FnMut(&[u8]) -> bool,
    ) -> io::Result<bool> {
        let text = self.0.get(length(range.start)..length(range.end));
        let text = text.ok_or(io::ErrorKind::UnexpectedEof)?;
        Ok(act(text.strip_suffix(b"\n").unwrap_or(text)))
    }
}

/// Text of runs that can be read in pieces.
pub(super) trait ReadText {
    fn len(&self) -> u64;
    fn read(&self, offset: u64, len: usize) -> io::Result<Vec<u8>>;
}

impl ReadText for TextBlob {
    fn len(&self) -> u64 {
        TextBlob::len(self)
    }

    fn read(&self, offset: u64, len: usize) -> io::Result<Vec<u8>> {
        TextBlob::read(self, offset, len)
    }
}

/// Reads pieces of the text of a run that mostly follow on each other.
pub(super) struct Window<'t> {
    blob: &'t dyn ReadText,
    /// Where the text of the run starts.
    start: u64,
    begin: u64,
    bytes: Vec<u8>,
}

impl<'t> Window<'t> {
    /// Creates a window on the text of a run that starts at an offset.
    pub(super) fn starting_at(blob: &'t dyn ReadText, start: u64) -> Self {
        Self { blob, start, begin: 0, bytes: Vec::new() }
    }
}

impl StepTexts for Window<'_> {
    fn with(
        &mut self,
        step: &Range<u64>,
        range: &Range<u64>,
        act: &mut dyn FnMut(&[u8]) -> bool,
    ) -> io::Result<bool> {
        let absolute = |at: u64| self.start.checked_add(at).ok_or(io::ErrorKind::UnexpectedEof);
        let (from, to) = (absolute(range.start)?, absolute(range.end)?);
        let end = self.begin + self.bytes.len() as u64;
        if from < self.begin || to > end {
            // A step is read from its beginning, because its texts are wanted in any order.
            let is_whole = step.end.saturating_sub(step.start) <= AHEAD;
            let first = if is_whole { absolute(step.start)?.min(from) } else { from };
            let is_close = first >= self.begin && first <= end + GAP;
            let whole = if is_whole { absolute(step.end)?.max(to) } else { to };
            let ahead = first.saturating_add(AHEAD).min(self.blob.len());
            let to = if is_close { whole.max(ahead) } else { whole };
            self.bytes = self.blob.read(first, length(to.saturating_sub(first)))?;
            self.begin = first;
        }
        let (from, to) = (length(from - self.begin), length(to - self.begin));
        let text = self.bytes.get(from..to).unwrap_or_default();
        Ok(act(text.strip_suffix(b"\n").unwrap_or(text)))
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use std::cell::Cell;

    /// Text that counts what is read of it.
    struct Counted(u64, Cell<u64>);

    impl ReadText for Counted {
        fn len(&self) -> u64 {
            self.0
        }

        fn read(&self, _: u64, len: usize) -> io::Result<Vec<u8>> {
            self.1.set(self.1.get() + len as u64);
            Ok(vec![b'x'; len])
        }
    }

    #[test]
    fn the_texts_of_steps_are_read_about_once_in_whatever_order() {
        let text = Counted(20 << 20, Cell::new(0));
        let mut window = Window::starting_at(&text, 0);
        for start in (0..text.0).step_by(1_000) {
            let step = start..start + 900;
            // The result before the arguments, as the last place of a sequence is looked at first.
            for range in [start + 500..start + 900, start..start + 400] {
                window.with(&step, &range, &mut |_| false).unwrap();
            }
        }
        assert!(text.1.get() < 2 * text.0, "{}", text.1.get());
    }
}
