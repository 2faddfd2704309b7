//! **Pure.** Text compressed with zstd, decoded in bounded memory.
use std::io::{self, BufRead, Read as _};
use zstd::stream::read::Decoder;

/// First bytes of a compressed file.
pub(crate) const MAGIC: &[u8] = b"\x28\xb5\x2f\xfd";

/// Logarithm of the largest window in bytes that is allocated: 256 MB.
const MOST_WINDOW: u32 = 28;

/// Appends what all frames contain to `into`, at most `most` bytes. Bytes before an error are kept.
pub(crate) fn decode(source: impl BufRead, most: u64, into: &mut Vec<u8>) -> io::Result<()> {
    let mut decoder = Decoder::with_buffer(source)?;
    decoder.window_log_max(MOST_WINDOW)?;
    decoder.take(most).read_to_end(into).map(drop)
}
