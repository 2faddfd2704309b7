//! **Pure.** Images, sounds and files in messages, and where their content is.
use std::cell::Cell;

/// Image, sound or file in a message.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Media {
    /// Description in a few words: `image/png, 14 kB`.
    pub text: String,
    /// Its content, if the files of the run hold it.
    pub content: Option<MediaContent>,
}

/// Content of an image, sound or file.
#[derive(Debug, Clone, PartialEq, Eq)]
pub enum MediaContent {
    /// Base64, or a `data:` address with base64.
    Encoded(String),
    /// Path of another file, relative to the folder of the file that names it.
    File(String),
    /// Base64 that was not copied, within [`without_contents`].
    LeftOut,
}

thread_local! {
    /// True while contents are left out.
    static LEAVES_OUT: Cell<bool> = const { Cell::new(false) };
}

/// Calls `read`, within which no content of an image, sound or file is copied: most readers of runs
/// need none, and it is most of a file that has some.
pub fn without_contents<T>(read: impl FnOnce() -> T) -> T {
    struct Restore(bool);
    impl Drop for Restore {
        fn drop(&mut self) {
            LEAVES_OUT.set(self.0);
        }
    }
    let _restore = Restore(LEAVES_OUT.replace(true));
    read()
}

impl Media {
    /// Describes what is not in the files of the run.
    pub fn described(text: impl Into<String>) -> Self {
        Self { text: text.into(), content: None }
    }
}

impl MediaContent {
    /// Maximum length of a path.
    const MAX_PATH: usize = 1_024;
    /// Minimum length of base64 without padding whose length shows that it lacks some: a shorter
    /// text is a path without an extension. The smallest image is not much longer.
    const MIN_UNPADDED: usize = 32;

    /// Tells base64, `data:` addresses and relative paths apart. Other addresses are never fetched
    /// and have no content, nor have absolute paths.
    pub fn from_text(text: &str) -> Option<Self> {
        if is_data_address(text) {
            let head = text.split(',').next().filter(|head| head.len() < text.len())?;
            let is_base64 = head.to_ascii_lowercase().ends_with(";base64");
            return is_base64.then(|| Self::encoded(text));
        }
        if is_base64(text) { Some(Self::encoded(text)) } else { Self::from_path(text) }
    }

    /// Returns the file with this path, if it is a relative one.
    pub fn from_path(path: &str) -> Option<Self> {
        let is_path = !path.is_empty() && path.len() <= Self::MAX_PATH;
        let is_elsewhere = path.starts_with('/') || path.contains("://");
        let is_plain = !path.chars().any(char::is_control);
        (is_path && is_plain && !is_elsewhere).then(|| Self::File(path.to_owned()))
    }

    fn encoded(text: &str) -> Self {
        if LEAVES_OUT.get() { Self::LeftOut } else { Self::Encoded(text.to_owned()) }
    }
}

/// Returns true for a `data:` address, whose scheme may be in any case.
pub fn is_data_address(text: &str) -> bool {
    text.get(..5).is_some_and(|scheme| scheme.eq_ignore_ascii_case("data:"))
}

/// Returns true for base64 in one of its two alphabets, with or without padding and line breaks.
fn is_base64(text: &str) -> bool {
    let (mut length, mut padding) = (0_usize, 0_usize);
    let (mut is_standard, mut is_url_safe) = (true, true);
    for byte in text.bytes() {
        match byte {
            b'A'..=b'Z' | b'a'..=b'z' | b'0'..=b'9' if padding == 0 => length += 1,
            b'+' | b'/' if padding == 0 => (length, is_url_safe) = (length + 1, false),
            b'-' | b'_' if padding == 0 => (length, is_standard) = (length + 1, false),
            b'=' => padding += 1,
            b'\r' | b'\n' => {}
            _ => return false,
        }
    }
    let has_one_alphabet = is_standard || is_url_safe;
    let is_whole = match length % 4 {
        0 => padding == 0 && length > 0,
        1 => false,
        rest => padding == 4 - rest || (padding == 0 && length >= MediaContent::MIN_UNPADDED),
    };
    has_one_alphabet && is_whole
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn base64_is_told_from_paths_in_each_of_its_forms() {
        let long = "iVBORw0KGgoAAAANSUhEUgAAAAEAAAABCAYAAAAfFcSJAAAADUlEQVR42mNk";
        let encoded = [
            "AAAA".to_owned(),
            "AAA=".to_owned(),
            "AA==".to_owned(),
            "_-8=".to_owned(),
            format!("{long}+8"),
            format!("{long}_-8"),
            format!("{long}_-8="),
            format!("{}\n{}\r\n", &long[..7], &long[7..]),
            "data:image/png;base64,AAAA".to_owned(),
            "Data:image/png;BASE64,AAAA".to_owned(),
        ];
        for text in encoded {
            let content = Some(MediaContent::Encoded(text.clone()));
            assert_eq!(MediaContent::from_text(&text), content, "{text}");
        }
        for path in ["a.png", "./a.png", "images/cat1", "images/a-b_c", "shots/2/a.jpeg", "a=b"] {
            let content = Some(MediaContent::File(path.to_owned()));
            assert_eq!(MediaContent::from_text(path), content, "{path}");
        }
        let none = ["", "/etc/passwd", "https://example.org/a.png", "data:text/plain,x", "data:"];
        for text in none {
            assert_eq!(MediaContent::from_text(text), None, "{text}");
        }
        let mixed = format!("{long}+_8=");
        assert_eq!(MediaContent::from_text(&mixed), Some(MediaContent::File(mixed.clone())));
    }

    #[test]
    fn contents_are_left_out_only_within_the_call_that_asks_for_it() {
        let read = || MediaContent::from_text("AAAA");
        let kept = Some(MediaContent::Encoded("AAAA".to_owned()));
        assert_eq!(read(), kept);
        assert_eq!(without_contents(read), Some(MediaContent::LeftOut));
        let failed = std::panic::catch_unwind(|| without_contents(|| panic!("a reader failed")));
        assert!(failed.is_err());
        assert_eq!(read(), kept);
        let path = Some(MediaContent::File("a.png".to_owned()));
        assert_eq!(without_contents(|| MediaContent::from_text("a.png")), path);
    }
}
