//! Dimensions of images, from their headers alone: a small file may describe an image that needs
//! all memory to be shown.

/// Maximum number of pixels of an image that is shown.
pub(super) const MOST_PIXELS: u64 = 100_000_000;

/// Returns the width and the height of an image with this file extension. `None` if its header is
/// damaged, or for another extension.
pub(super) fn dimensions(bytes: &[u8], extension: &str) -> Option<(u32, u32)> {
    let image = Bytes(bytes);
    match extension {
        "png" => png(image),
        "jpg" => jpeg(image),
        "gif" => gif(image),
        "webp" => webp(image),
        _ => None,
    }
}

#[derive(Clone, Copy)]
struct Bytes<'a>(&'a [u8]);

impl Bytes<'_> {
    fn has(self, at: usize, expected: &[u8]) -> bool {
        self.0.get(at..).is_some_and(|rest| rest.starts_with(expected))
    }

    fn byte(self, at: usize) -> Option<u8> {
        self.0.get(at).copied()
    }

    /// Returns a number of two or more bytes whose first one counts most.
    fn big_endian(self, at: usize, length: usize) -> Option<u32> {
        let bytes = self.0.get(at..at.checked_add(length)?)?;
        Some(bytes.iter().fold(0, |number, byte| number << 8 | u32::from(*byte)))
    }

    /// Returns a number of two or more bytes whose last one counts most.
    fn little_endian(self, at: usize, length: usize) -> Option<u32> {
        let bytes = self.0.get(at..at.checked_add(length)?)?;
        Some(bytes.iter().rev().fold(0, |number, byte| number << 8 | u32::from(*byte)))
    }
}

fn png(image: Bytes<'_>) -> Option<(u32, u32)> {
    // The header is always the first chunk.
    image.has(12, b"IHDR").then_some(())?;
    Some((image.big_endian(16, 4)?, image.big_endian(20, 4)?))
}

/// Looks for the frame header among the segments; thumbnails are inside of other segments.
fn jpeg(image: Bytes<'_>) -> Option<(u32, u32)> {
    let mut at = 2;
    loop {
        // Any number of fill bytes may stand before a marker.
        while image.byte(at)? == 0xff && image.byte(at + 1)? == 0xff {
            at += 1;
        }
        if image.byte(at)? != 0xff {
            return None;
        }
        match image.byte(at + 1)? {
            0x01 | 0xd0..=0xd8 => at += 2,
            0xc0..=0xc3 | 0xc5..=0xc7 | 0xc9..=0xcb | 0xcd..=0xcf => {
                return Some((image.big_endian(at + 7, 2)?, image.big_endian(at + 5, 2)?));
            }
            // The data of the image, before which a header has to stand.
            0xd9 | 0xda => return None,
            _ => at += 2 + usize::try_from(image.big_endian(at + 2, 2)?).ok()?.max(2),
        }
    }
}

/// Returns the size of the screen, or of a frame that is larger.
fn gif(image: Bytes<'_>) -> Option<(u32, u32)> {
    let table = |flags: u8| if flags & 0x80 == 0 { 0 } else { 3 << ((flags & 7) + 1) };
    let (mut width, mut height) = (image.little_endian(6, 2)?, image.little_endian(8, 2)?);
    let mut at = 13 + table(image.byte(10)?);
    while let Some(block) = image.byte(at) {
        match block {
            0x2c => {
                let side = |low: usize| image.little_endian(at + low, 2);
                let Some((right, bottom)) = side(1)
                    .zip(side(5))
                    .map(|(left, wide)| left + wide)
                    .zip(side(3).zip(side(7)).map(|(top, high)| top + high))
                else {
                    break;
                };
                (width, height) = (width.max(right), height.max(bottom));
                let Some(flags) = image.byte(at + 9) else { break };
                at += 11 + table(flags);
            }
            0x21 => at += 2,
            _ => break,
        }
        // Blocks of data up to an empty one.
        while let Some(length) = image.byte(at) {
            at += 1 + usize::from(length);
            if length == 0 {
                break;
            }
        }
    }
    Some((width, height))
}

fn webp(image: Bytes<'_>) -> Option<(u32, u32)> {
    if image.has(12, b"VP8X") {
        return Some((image.little_endian(24, 3)? + 1, image.little_endian(27, 3)? + 1));
    }
    if image.has(12, b"VP8L") {
        let bits = image.has(20, b"\x2f").then(|| image.little_endian(21, 4))??;
        return Some(((bits & 0x3fff) + 1, (bits >> 14 & 0x3fff) + 1));
    }
    let is_frame = image.has(12, b"VP8 ") && image.has(23, b"\x9d\x01\x2a");
    let side = |at: usize| Some(image.little_endian(at, 2)? & 0x3fff);
    is_frame.then_some(())?;
    Some((side(26)?, side(28)?))
}

#[cfg(test)]
mod tests {
    use super::*;

    fn png_of(width: u32, height: u32) -> Vec<u8> {
        let mut bytes = b"\x89PNG\r\n\x1a\n\x00\x00\x00\x0dIHDR".to_vec();
        bytes.extend(width.to_be_bytes().iter().chain(&height.to_be_bytes()));
        bytes
    }

    fn gif_of(screen: [u8; 4], frame: [u8; 8]) -> Vec<u8> {
        let start = b"GIF89a".iter().chain(&screen).chain(b"\x80\x00\x00").chain(b"000111");
        let extension = b"\x21\xf9\x04\x00\x00\x00\x00\x00".iter();
        let image = b"\x2c".iter().chain(&frame).chain(b"\x00\x02\x01\x00\x00\x3b");
        start.chain(extension).chain(image).copied().collect()
    }

    #[test]
    fn the_dimensions_stand_in_the_header_of_each_kind_of_image() {
        let thumbnail = b"\xff\xe1\x00\x0b\xff\xd8\xff\xc0\x00\x07\x08\x00\x01";
        let frame = b"\xff\xc2\x00\x11\x08\x01\x02\x03\x04\x03";
        let jpeg = [b"\xff\xd8".as_slice(), thumbnail, b"\xff", frame].concat();
        let webp = |rest: &[u8]| [b"RIFF\x00\x00\x00\x00WEBP".as_slice(), rest].concat();
        for (bytes, extension, expected) in [
            (png_of(70_000, 2), "png", Some((70_000, 2))),
            (png_of(u32::MAX, u32::MAX), "png", Some((u32::MAX, u32::MAX))),
            (png_of(1, 1)[..20].to_vec(), "png", None),
            (jpeg.clone(), "jpg", Some((0x304, 0x102))),
            (jpeg[..15].to_vec(), "jpg", None),
            (b"\xff\xd8\xff\xda\x00\x02".to_vec(), "jpg", None),
            (b"\xff\xd8\xff\xe0\x00\x00".to_vec(), "jpg", None),
            (gif_of([4, 0, 3, 0], [0; 8]), "gif", Some((4, 3))),
            (gif_of([4, 0, 3, 0], [1, 0, 0, 0, 255, 255, 2, 0]), "gif", Some((65_536, 3))),
            (b"GIF89a\x04\x00".to_vec(), "gif", None),
            (
                webp(b"VP8X\x0a\x00\x00\x00\x00\x00\x00\x00\x03\x00\x00\x04\x00\x01"),
                "webp",
                Some((4, 65_541)),
            ),
            (webp(b"VP8L\x0a\x00\x00\x00\x2f\xff\xff\xff\x0f"), "webp", Some((16_384, 16_384))),
            (
                webp(b"VP8 \x0a\x00\x00\x00\x00\x00\x00\x9d\x01\x2a\x05\x40\x06\x00"),
                "webp",
                Some((5, 6)),
            ),
            (webp(b"VP8Z"), "webp", None),
            (b"%PDF-".to_vec(), "pdf", None),
        ] {
            assert_eq!(dimensions(&bytes, extension), expected, "{extension} {bytes:02x?}");
        }
    }

    #[test]
    fn no_header_that_is_cut_off_stops_the_reader() {
        let whole = [
            (gif_of([4, 0, 3, 0], [1, 0, 0, 0, 255, 255, 2, 0]), "gif"),
            (
                b"\xff\xd8\xff\xff\xff\xe0\x00\x02\xff\xc0\x00\x11\x08\x00\x01\x00\x01".to_vec(),
                "jpg",
            ),
            (png_of(1, 1), "png"),
        ];
        for (bytes, extension) in whole {
            for end in 0..bytes.len() {
                let _ = dimensions(&bytes[..end], extension);
            }
        }
    }
}
