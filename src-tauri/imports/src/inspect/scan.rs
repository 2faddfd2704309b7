//! **Pure.** Finds the parts of a JSON log in one pass, without loading it. Parts are not validated,
//! except that their brackets must close.
use crate::source::Source;
use std::ops::Range;
use touchstone_model::error::{ReadError, ReadErrorKind};
use touchstone_model::json;

/// Number of bytes that are read at a time.
const CHUNK: usize = 256 << 10;

/// Maximum length of a key, and of an id or epoch, in bytes.
const MOST_NAME: u64 = 64 << 10;

/// Maximum number of samples of a log.
const MOST_SAMPLES: usize = 2_000_000;

/// Maximum number of keys of a log.
const MOST_KEYS: usize = 1_000;

/// Parts of a JSON log.
#[derive(Debug, Default)]
pub(super) struct Parts {
    /// Places of the values of the log, but for `samples`, by key.
    pub(super) header: Vec<(String, Range<u64>)>,
    /// Samples that are complete.
    pub(super) samples: Vec<SamplePlace>,
    /// Error at which the scan ended. What stands behind it is missing.
    pub(super) error: Option<ReadError>,
}

/// Place of a sample.
#[derive(Debug)]
pub(super) struct SamplePlace {
    pub(super) place: Range<u64>,
    /// Id and epoch, joined to a name; `None` if one of them is missing or very long.
    pub(super) name: Option<String>,
}

/// Scans a log.
pub(super) fn scan(source: &dyn Source) -> Parts {
    let mut parts = Parts::default();
    let mut scan = Scan { source, chunk: Vec::new(), start: 0, at: 0 };
    parts.error = scan.log(&mut parts).err();
    parts
}

/// Reads a part as text. Fails if it is larger than `most` bytes.
pub(super) fn read_text(
    source: &dyn Source,
    place: &Range<u64>,
    most: u64,
) -> Result<String, ReadError> {
    let length = place.end.saturating_sub(place.start);
    if length > most {
        let message =
            format!("The sample is larger than {} MB, which is the most that is read.", most >> 20);
        return Err(ReadError::new(ReadErrorKind::TooLarge, message));
    }
    let mut bytes = vec![0; usize::try_from(length).unwrap_or_default()];
    let mut filled = 0;
    while filled < bytes.len() {
        let count = source.read_at(place.start + filled as u64, &mut bytes[filled..])?;
        if count == 0 {
            let message = "The file became shorter while it was read.";
            return Err(ReadError::new(ReadErrorKind::Truncated, message));
        }
        filled += count;
    }
    String::from_utf8(bytes)
        .map_err(|_| ReadError::new(ReadErrorKind::NotUtf8, "The sample is no UTF-8 text."))
}

struct Scan<'a> {
    source: &'a dyn Source,
    chunk: Vec<u8>,
    /// Offset of the chunk in the source.
    start: u64,
    /// Index in the chunk.
    at: usize,
}

impl Scan<'_> {
    fn offset(&self) -> u64 {
        self.start + self.at as u64
    }

    /// Returns the bytes that follow in the chunk, which is filled if it is at its end; empty at
    /// the end of the source.
    fn rest(&mut self) -> Result<&[u8], ReadError> {
        if self.at >= self.chunk.len() {
            self.start = self.offset();
            self.at = 0;
            self.chunk.resize(CHUNK, 0);
            let count = self.source.read_at(self.start, &mut self.chunk)?;
            self.chunk.truncate(count);
        }
        Ok(&self.chunk[self.at..])
    }

    fn peek(&mut self) -> Result<u8, ReadError> {
        self.rest()?.first().copied().ok_or_else(|| {
            ReadError::new(ReadErrorKind::Truncated, "The JSON text ends in the middle.")
                .advise("Copy the log again once its evaluation has ended.")
        })
    }

    /// Skips white space and returns the next byte.
    fn next(&mut self) -> Result<u8, ReadError> {
        loop {
            let byte = self.peek()?;
            if !matches!(byte, b' ' | b'\n' | b'\r' | b'\t') {
                return Ok(byte);
            }
            self.at += 1;
        }
    }

    fn expect(&mut self, byte: u8) -> Result<(), ReadError> {
        if self.next()? == byte {
            self.at += 1;
            return Ok(());
        }
        Err(self.fault(&format!("`{}` is missing", char::from(byte))))
    }

    fn fault(&self, message: &str) -> ReadError {
        let message = format!("{message} at byte {} of the log.", self.offset());
        ReadError::new(ReadErrorKind::Syntax, message)
    }

    fn log(&mut self, parts: &mut Parts) -> Result<(), ReadError> {
        if self.rest()?.starts_with(b"\xef\xbb\xbf") {
            self.at += 3;
        }
        self.entries(|scan, key| {
            if parts.header.iter().any(|(known, _)| known == key) {
                return Err(scan.fault(&format!("The second `{key}`")));
            }
            if parts.header.len() >= MOST_KEYS {
                return Err(scan.fault("The log has too many keys"));
            }
            let start = scan.offset();
            if key != "samples" {
                scan.skip_value()?;
                parts.header.push((key.to_owned(), start..scan.offset()));
                return Ok(());
            }
            parts.header.push((key.to_owned(), start..start));
            if scan.next()? != b'[' {
                return scan.skip_value();
            }
            scan.list(|scan| {
                if parts.samples.len() >= MOST_SAMPLES {
                    let message = format!("Only the first {MOST_SAMPLES} samples are read.");
                    return Err(ReadError::new(ReadErrorKind::TooLarge, message));
                }
                parts.samples.push(scan.sample()?);
                Ok(())
            })
        })
    }

    fn sample(&mut self) -> Result<SamplePlace, ReadError> {
        let start = self.offset();
        let (mut id, mut epoch) = (None, None);
        if self.next()? == b'{' {
            self.entries(|scan, key| {
                let place = scan.offset();
                scan.skip_value()?;
                let place = place..scan.offset();
                match key {
                    "id" => id = Some(place),
                    "epoch" => epoch = Some(place),
                    _ => {}
                }
                Ok(())
            })?;
        } else {
            self.skip_value()?;
        }
        let place = start..self.offset();
        let name = id.zip(epoch).and_then(|(id, epoch)| {
            let read = |place| read_text(self.source, &place, MOST_NAME).ok();
            super::sample::name(&json::read(&read(id)?).ok()?, &json::read(&read(epoch)?).ok()?)
        });
        Ok(SamplePlace { place, name })
    }

    /// Calls `take` before the value of each entry of an object, which it must skip.
    fn entries(
        &mut self,
        mut take: impl FnMut(&mut Self, &str) -> Result<(), ReadError>,
    ) -> Result<(), ReadError> {
        self.expect(b'{')?;
        if self.next()? == b'}' {
            self.at += 1;
            return Ok(());
        }
        loop {
            if self.next()? != b'"' {
                return Err(self.fault("A key is missing"));
            }
            let start = self.offset();
            self.skip_text()?;
            let place = start + 1..self.offset() - 1;
            let key = read_text(self.source, &place, MOST_NAME)?;
            self.expect(b':')?;
            self.next()?;
            take(self, &key)?;
            if self.next()? == b'}' {
                self.at += 1;
                return Ok(());
            }
            self.expect(b',')?;
        }
    }

    /// Calls `take` before each item of a list, which it must skip.
    fn list(
        &mut self,
        mut take: impl FnMut(&mut Self) -> Result<(), ReadError>,
    ) -> Result<(), ReadError> {
        self.expect(b'[')?;
        if self.next()? == b']' {
            self.at += 1;
            return Ok(());
        }
        loop {
            self.next()?;
            take(self)?;
            if self.next()? == b']' {
                self.at += 1;
                return Ok(());
            }
            self.expect(b',')?;
        }
    }

    fn skip_value(&mut self) -> Result<(), ReadError> {
        let mut depth = 0_u64;
        loop {
            match self.next()? {
                b'"' => self.skip_text()?,
                b'{' | b'[' => {
                    depth += 1;
                    self.at += 1;
                }
                b'}' | b']' if depth > 0 => {
                    depth -= 1;
                    self.at += 1;
                }
                b',' | b':' if depth > 0 => {
                    self.at += 1;
                    continue;
                }
                byte if is_mark(byte) => return Err(self.fault("A value is missing")),
                _ => self.skip_word()?,
            }
            if depth == 0 {
                return Ok(());
            }
        }
    }

    fn skip_word(&mut self) -> Result<(), ReadError> {
        loop {
            let rest = self.rest()?;
            let length = rest.len();
            let word = rest.iter().take_while(|byte| !is_mark(**byte)).count();
            self.at += word;
            if word < length || length == 0 {
                return Ok(());
            }
        }
    }

    fn skip_text(&mut self) -> Result<(), ReadError> {
        self.at += 1;
        loop {
            self.peek()?;
            let rest = &self.chunk[self.at..];
            let stop = rest.iter().position(|byte| matches!(byte, b'"' | b'\\'));
            match stop {
                None => self.at = self.chunk.len(),
                Some(stop) if rest[stop] == b'"' => {
                    self.at += stop + 1;
                    return Ok(());
                }
                Some(stop) => {
                    self.at += stop + 1;
                    self.peek()?;
                    self.at += 1;
                }
            }
        }
    }
}

fn is_mark(byte: u8) -> bool {
    matches!(byte, b'"' | b'{' | b'[' | b'}' | b']' | b',' | b':' | b' ' | b'\n' | b'\r' | b'\t')
}

#[cfg(test)]
mod tests {
    use super::*;

    const LOG: &str = "\u{feff} { \"status\": \"success\",\n \"eval\": {\"a\": \"}\\\"\"}, \"samples\": \
        [ {\"id\": \"é/\\\"1\", \"x\": [1, {\"id\": 3}], \"epoch\": 2} , {\"id\": 7,\"epoch\":1}, 5, {}], \"n\": NaN}";

    fn texts(log: &str) -> (Vec<String>, Vec<(String, Option<String>)>) {
        let source = log.as_bytes().to_vec();
        let parts = scan(&source);
        let text = |place: &Range<u64>| read_text(&source, place, 1_000).unwrap();
        let header = parts.header.iter().filter(|(key, _)| key != "samples");
        let samples = parts.samples.iter();
        (
            header.map(|(key, place)| format!("{key}={}", text(place))).collect(),
            samples.map(|sample| (text(&sample.place), sample.name.clone())).collect(),
        )
    }

    #[test]
    fn parts_of_a_log_are_found_where_they_stand() {
        let (header, samples) = texts(LOG);
        assert_eq!(header, ["status=\"success\"", "eval={\"a\": \"}\\\"\"}", "n=NaN"]);
        let names: Vec<_> = samples.iter().map(|(_, name)| name.as_deref()).collect();
        assert_eq!(names, [Some("é/\"1_epoch_2"), Some("7_epoch_1"), None, None]);
        assert_eq!(samples[1].0, "{\"id\": 7,\"epoch\":1}");
        assert_eq!(scan(&LOG.as_bytes().to_vec()).error, None);
    }

    #[test]
    fn a_log_that_is_cut_off_anywhere_keeps_its_complete_samples_and_tells() {
        for end in (0..LOG.len()).filter(|end| !(1..3).contains(end)) {
            let source = LOG.as_bytes()[..end].to_vec();
            let parts = scan(&source);
            assert_eq!(
                parts.error.map(|error| error.kind),
                Some(ReadErrorKind::Truncated),
                "{end}"
            );
            assert!(parts.samples.len() < 5);
        }
    }

    #[test]
    fn of_a_log_with_very_many_samples_the_first_are_read() {
        let log = format!("{{\"samples\": [1{}]}}", ",1".repeat(MOST_SAMPLES));
        let parts = scan(&log.into_bytes());
        assert_eq!(parts.samples.len(), MOST_SAMPLES);
        assert_eq!(parts.error.map(|error| error.kind), Some(ReadErrorKind::TooLarge));
    }

    #[test]
    fn a_key_that_stands_twice_is_an_error() {
        let parts = scan(&b"{\"samples\": [{}], \"samples\": [{}]}".to_vec());
        assert!(parts.samples.len() == 1 && parts.error.is_some());
    }
}
