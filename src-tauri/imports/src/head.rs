//! **Pure.** The keys at the start of a JSON file, which tell its format. The start may be cut off
//! anywhere.

/// Keys found at the start of a JSON text.
#[derive(Debug, Clone, PartialEq, Eq, Default)]
pub struct Head {
    /// True if the text is a list; the keys are those of its first item then.
    pub is_list: bool,
    /// Keys of the object, in order, up to the end of the text that was given.
    pub keys: Vec<String>,
    /// Keys one level below, each with the key that it stands under. Of lists, the keys of the
    /// first item.
    pub inner: Vec<(String, String)>,
    /// Texts, numbers and words directly under a key, as far as they are short.
    pub values: Vec<(String, String)>,
    /// True if the object is complete, and more text follows on another line: lines of JSON.
    pub is_lines: bool,
}

/// Maximum length of a value that is kept.
const SHORT: usize = 200;

impl Head {
    /// Returns true if the object has all of these keys.
    pub fn has(&self, keys: &[&str]) -> bool {
        keys.iter().all(|key| self.keys.iter().any(|known| known == key))
    }

    /// Returns true if the object under `key` has `inner`.
    pub fn has_inner(&self, key: &str, inner: &str) -> bool {
        self.inner.iter().any(|(outer, known)| outer == key && known == inner)
    }

    /// Returns the short text, number or word under a key.
    pub fn value(&self, key: &str) -> Option<&str> {
        self.values.iter().find(|(known, _)| known == key).map(|(_, value)| value.as_str())
    }

    /// Reads the start of a JSON text, or of lines of JSON. Returns `None` if it does not begin
    /// like an object or a list of objects.
    pub fn read(bytes: &[u8]) -> Option<Head> {
        let text = match std::str::from_utf8(bytes) {
            Ok(text) => text,
            Err(error) => std::str::from_utf8(&bytes[..error.valid_up_to()]).unwrap_or_default(),
        };
        let mut scan = Scan { text: text.trim_start_matches('\u{feff}'), at: 0 };
        let mut head = Head::default();
        scan.skip_space();
        if scan.peek() == Some(b'[') {
            head.is_list = true;
            scan.at += 1;
            scan.skip_space();
        }
        if scan.peek() != Some(b'{') {
            return None;
        }
        // A text that is cut off ends the scan early; what was found until then counts.
        if scan.object(&mut head).is_some() && !head.is_list {
            let rest = scan.text.get(scan.at..).unwrap_or_default();
            head.is_lines = rest.trim_start_matches([' ', '\t', '\r']).starts_with('\n')
                && rest.trim_start().starts_with(['{', '[']);
        }
        Some(head)
    }
}

struct Scan<'a> {
    text: &'a str,
    at: usize,
}

impl<'a> Scan<'a> {
    fn peek(&self) -> Option<u8> {
        self.text.as_bytes().get(self.at).copied()
    }

    fn skip_space(&mut self) {
        while self.peek().is_some_and(|byte| byte.is_ascii_whitespace()) {
            self.at += 1;
        }
    }

    /// Returns the text between quotes as written, and moves behind it.
    fn string(&mut self) -> Option<&'a str> {
        let start = self.at + 1;
        let mut at = start;
        loop {
            match self.text.as_bytes().get(at)? {
                b'"' => break,
                b'\\' => at += 2,
                _ => at += 1,
            }
        }
        self.at = at + 1;
        self.text.get(start..at)
    }

    fn object(&mut self, head: &mut Head) -> Option<()> {
        self.at += 1;
        loop {
            self.skip_space();
            match self.peek()? {
                b'}' => {
                    self.at += 1;
                    return Some(());
                }
                b',' => self.at += 1,
                b'"' => {
                    let key = self.string()?.to_owned();
                    self.skip_space();
                    (self.peek()? == b':').then(|| self.at += 1)?;
                    self.skip_space();
                    head.keys.push(key.clone());
                    self.value(&key, head)?;
                }
                _ => return None,
            }
        }
    }

    fn value(&mut self, key: &str, head: &mut Head) -> Option<()> {
        let start = self.at;
        match self.peek()? {
            b'{' | b'[' => return self.nested(key, head),
            b'"' => {
                let text = self.string()?;
                if text.len() <= SHORT {
                    head.values.push((key.to_owned(), text.to_owned()));
                }
            }
            _ => {
                while !matches!(self.peek()?, b',' | b'}' | b']') {
                    self.at += 1;
                }
                let word = self.text.get(start..self.at)?.trim_end();
                if word.len() <= SHORT {
                    head.values.push((key.to_owned(), word.to_owned()));
                }
            }
        }
        Some(())
    }

    /// Skips a list or object, and records the keys of the object, or of the first object of the
    /// list.
    fn nested(&mut self, outer: &str, head: &mut Head) -> Option<()> {
        let mut depth = 0_usize;
        let wanted = if self.peek() == Some(b'[') { 2 } else { 1 };
        let mut first = true;
        loop {
            match self.peek()? {
                b'{' | b'[' => {
                    depth += 1;
                    self.at += 1;
                }
                b'}' | b']' => {
                    first &= depth != wanted;
                    depth -= 1;
                    self.at += 1;
                    if depth == 0 {
                        return Some(());
                    }
                }
                b'"' => {
                    let text = self.string()?;
                    self.skip_space();
                    if first && depth == wanted && self.peek()? == b':' {
                        head.inner.push((outer.to_owned(), text.to_owned()));
                    }
                }
                _ => self.at += 1,
            }
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn keys_are_found_at_two_levels_until_the_text_is_cut() {
        let text = r#"{"version": 2, "status": "success", "eval": {"task": "a", "model": {"x": 1}}, "samples": [{"id": 1, "in"#;
        let head = Head::read(text.as_bytes()).unwrap();
        assert_eq!(head.keys, ["version", "status", "eval", "samples"]);
        assert!(head.has_inner("eval", "model") && !head.has_inner("eval", "x"));
        assert!(head.has_inner("samples", "id") && !head.is_lines && !head.is_list);
        assert_eq!((head.value("version"), head.value("status")), (Some("2"), Some("success")));
    }

    #[test]
    fn lists_and_lines_show_their_first_object() {
        let list = Head::read(b" [ {\"a\": [1, {\"b\": 2}], \"c\": null}, {\"d\": 1}]").unwrap();
        assert!(list.is_list && list.keys == ["a", "c"]);
        let lines = Head::read(b"{\"a\": \"}\\\"\"}\r\n{\"b\": 1}\n").unwrap();
        assert!(lines.is_lines && lines.keys == ["a"]);
        assert_eq!(Head::read(b"a: 1"), None);
        assert_eq!(Head::read(b"[1]"), None);
    }

    #[test]
    fn no_text_brings_the_scan_to_a_stop() {
        for text in
            ["{", "{\"a", "{\"a\\", "{\"a\":", "{\"a\":]", "{]", "{\"a\":[}", "{\"é\":\"\\é"]
        {
            let _ = Head::read(text.as_bytes());
        }
    }
}
