//! Reads images, sounds and files in transcripts of other tools, when someone opens one.
use super::error::RunReadError;
use super::source::{row_of, sentence, version_of_content, with_room};
use super::{PartId, part_id};
use base64::Engine as _;
use base64::alphabet;
use base64::engine::{DecodePaddingMode, GeneralPurpose, GeneralPurposeConfig};
use base64::prelude::BASE64_STANDARD;
use dimensions::{MOST_PIXELS, dimensions};
use touchstone_api::MediaFile;
use touchstone_imports::MediaContent;
use touchstone_imports::media::is_data_address;
use touchstone_store::folder_index::FolderIndex;
use touchstone_store::imports;
use touchstone_store::open::{self, Refused};
use touchstone_store::roots::FileId;

mod dimensions;

/// Maximum bytes of an image, sound or file.
const MAX_BYTES: usize = 32 << 20;

/// Beginnings of known files, by file extension. Only images that every browser shows without
/// running anything have a media type.
const KNOWN: [(&[u8], &str, Option<&str>); 11] = [
    (b"\x89PNG\r\n\x1a\n", "png", Some("image/png")),
    (b"\xff\xd8\xff", "jpg", Some("image/jpeg")),
    (b"GIF8", "gif", Some("image/gif")),
    (b"%PDF-", "pdf", None),
    (b"OggS", "ogg", None),
    (b"fLaC", "flac", None),
    (b"ID3", "mp3", None),
    (b"\xff\xfb", "mp3", None),
    (b"\xff\xf3", "mp3", None),
    (b"\x1aE\xdf\xa3", "webm", None),
    (b"BM", "bmp", None),
];

/// Content of an image, sound or file.
#[derive(Debug)]
pub(crate) struct MediaBytes {
    pub(crate) bytes: Vec<u8>,
    /// Suggested file name.
    pub(crate) file_name: String,
    image: Option<&'static str>,
    /// Reason why an image is not shown.
    not_shown: Option<String>,
}

impl MediaBytes {
    /// Converts it for the page.
    pub(crate) fn into_file(self) -> MediaFile {
        MediaFile {
            image: self.image.map(str::to_owned),
            not_shown: self.not_shown,
            file_name: self.file_name,
            data: BASE64_STANDARD.encode(self.bytes),
        }
    }
}

/// Reads the content that a part of a step describes, in the version of the run that was opened.
/// Fails if the file holds another one by now, whose step may describe another image.
pub(super) fn read(
    flow: &FolderIndex,
    id: &str,
    version: &str,
    part: &str,
) -> Result<MediaBytes, RunReadError> {
    let PartId::Step(step, at) = part_id(part)? else { return Err(RunReadError::NoPart) };
    let (row, files) = row_of(flow, id)?;
    let file = files.first().filter(|_| row.format.is_some()).ok_or(RunReadError::NoPart)?;
    let read =
        with_room(|| imports::read_media(&flow.roots, file, row.member.as_deref(), (step, at)));
    let (content, hash) = read.map_err(|why| RunReadError::Unreadable(sentence(&why.message)))?;
    if version_of_content(hash) != version {
        return Err(RunReadError::Changed);
    }
    let (bytes, is_file) = match content.ok_or(RunReadError::NoPart)? {
        MediaContent::Encoded(text) => (decode(&text)?, false),
        MediaContent::File(path) => (beside(flow, &files, &path)?, true),
        MediaContent::LeftOut => return Err(RunReadError::NoPart),
    };
    let known = kind(&bytes);
    // A transcript could name any file of the folder, so that only images and sounds are opened.
    if known.is_none() && is_file {
        return Err(RunReadError::NoMedia);
    }
    let (extension, image) = known.unwrap_or(("bin", None));
    let file_name = format!("step-{}.{extension}", step + 1);
    let not_shown = image.and_then(|_| why_not_shown(&bytes, extension));
    let image = image.filter(|_| not_shown.is_none());
    Ok(MediaBytes { bytes, file_name, image, not_shown })
}

/// Returns the reason why an image with this file extension cannot be shown, if there is one.
fn why_not_shown(bytes: &[u8], extension: &str) -> Option<String> {
    let Some((width, height)) = dimensions(bytes, extension) else {
        return Some("The image is damaged.".to_owned());
    };
    let is_too_large = u64::from(width) * u64::from(height) > MOST_PIXELS;
    is_too_large.then(|| {
        let most = MOST_PIXELS / 1_000_000;
        format!("The image has {width} × {height} pixels, and at most {most} megapixels are shown.")
    })
}

/// Reads a file that one of the files of a run names, relative to the folder of that file.
fn beside(flow: &FolderIndex, files: &[FileId], path: &str) -> Result<Vec<u8>, RunReadError> {
    // `./a.png` is the same as `a.png`.
    let steps: Vec<&str> = path.split('/').filter(|step| *step != ".").collect();
    if steps.is_empty() || steps.iter().any(|step| matches!(*step, "" | "..")) {
        return Err(RunReadError::NoMedia);
    }
    let inside = steps.join("/");
    for file in files {
        let mut full = file.parent().to_vec();
        if !full.is_empty() {
            full.push(b'/');
        }
        full.extend(inside.as_bytes());
        let named = FileId::new(file.root, full);
        match open::read(&flow.roots, &named, MAX_BYTES as u64) {
            Ok((bytes, _)) => return Ok(bytes),
            Err(Refused::Gone) => {}
            Err(why) => {
                return Err(RunReadError::File { file: flow.roots.display_path(&named), why });
            }
        }
    }
    Err(RunReadError::NoMediaFile { file: path.to_owned() })
}

/// Decodes base64 of either alphabet, with or without padding and line breaks.
fn decode(text: &str) -> Result<Vec<u8>, RunReadError> {
    let text = match text.split_once(',') {
        Some((_, data)) if is_data_address(text) => data,
        _ => text,
    };
    if text.len() / 4 * 3 > MAX_BYTES {
        return Err(RunReadError::LargeMedia { most: MAX_BYTES });
    }
    let plain: Vec<u8> = text.bytes().filter(|byte| !byte.is_ascii_whitespace()).collect();
    let is_url_safe = plain.iter().any(|byte| b"-_".contains(byte));
    let alphabet = if is_url_safe { alphabet::URL_SAFE } else { alphabet::STANDARD };
    let config =
        GeneralPurposeConfig::new().with_decode_padding_mode(DecodePaddingMode::Indifferent);
    GeneralPurpose::new(&alphabet, config).decode(plain).map_err(|_| RunReadError::NoMedia)
}

/// Returns the file extension of known content, and the media type if it is an image to show.
fn kind(bytes: &[u8]) -> Option<(&'static str, Option<&'static str>)> {
    let inside = |at: usize, name: &[u8]| bytes.get(at..at + name.len()) == Some(name);
    if inside(0, b"RIFF") {
        return if inside(8, b"WEBP") {
            Some(("webp", Some("image/webp")))
        } else {
            inside(8, b"WAVE").then_some(("wav", None))
        };
    }
    if inside(4, b"ftyp") {
        return Some(("mp4", None));
    }
    let known = KNOWN.iter().find(|(start, ..)| bytes.starts_with(start));
    known.map(|(_, extension, image)| (*extension, *image))
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn base64_is_decoded_in_each_of_its_forms() {
        for text in ["/+8=", "/+8", "_-8=", "_-8", "/+\n8=", "data:image/png;base64,/+8="] {
            assert_eq!(decode(text).unwrap(), [0xff, 0xef], "{text}");
        }
        for text in ["/", "a b!", "ä"] {
            assert!(matches!(decode(text), Err(RunReadError::NoMedia)), "{text}");
        }
    }

    #[test]
    fn only_images_that_run_nothing_are_shown() {
        let shown =
            |bytes: &[u8]| kind(bytes).map(|(extension, image)| (extension, image.is_some()));
        for (bytes, wanted) in [
            (&b"\x89PNG\r\n\x1a\n..."[..], Some(("png", true))),
            (b"RIFF0000WEBPVP8 ", Some(("webp", true))),
            (b"RIFF0000WAVEfmt ", Some(("wav", false))),
            (b"%PDF-1.7", Some(("pdf", false))),
            (b"<svg xmlns='http://www.w3.org/2000/svg'/>", None),
            (b"<!doctype html>", None),
            (b"KEY=value", None),
            (b"", None),
        ] {
            assert_eq!(shown(bytes), wanted, "{bytes:?}");
        }
    }
}
