//! **Pure.** Splits a JSON text into its parts without parsing them, for files of which only a part
//! is needed. Skipped parts are not validated, except that their brackets must close.

/// Maximum number of parts of a text. One with more is not split: the places of its parts would take
/// more memory than the text itself.
pub const MOST_PARTS: usize = 4_000_000;

/// Returns the keys of an object with the texts of their values, keys as written. Returns `None` if
/// the text is not one complete object, or has more than [`MOST_PARTS`].
pub fn members(text: &str) -> Option<Vec<(&str, &str)>> {
    let mut skim = Skim { text, at: 0 };
    let mut members = Vec::new();
    skim.eat(b'{')?;
    if skim.eat(b'}').is_some() {
        return skim.is_done().then_some(members);
    }
    loop {
        if members.len() >= MOST_PARTS {
            return None;
        }
        let key = skim.value()?.strip_prefix('"')?.strip_suffix('"')?;
        skim.eat(b':')?;
        members.push((key, skim.value()?));
        if skim.eat(b',').is_none() {
            skim.eat(b'}')?;
            return skim.is_done().then_some(members);
        }
    }
}

/// Returns the texts of the items of a list. Returns `None` if the text is not one complete list, or
/// has more than [`MOST_PARTS`].
pub fn items(text: &str) -> Option<Vec<&str>> {
    let mut skim = Skim { text, at: 0 };
    let mut items = Vec::new();
    skim.eat(b'[')?;
    if skim.eat(b']').is_some() {
        return skim.is_done().then_some(items);
    }
    loop {
        if items.len() >= MOST_PARTS {
            return None;
        }
        items.push(skim.value()?);
        if skim.eat(b',').is_none() {
            skim.eat(b']')?;
            return skim.is_done().then_some(items);
        }
    }
}

struct Skim<'a> {
    text: &'a str,
    at: usize,
}

impl<'a> Skim<'a> {
    fn rest(&self) -> &'a [u8] {
        self.text.as_bytes().get(self.at..).unwrap_or_default()
    }

    fn skip(&mut self) {
        self.at += self
            .rest()
            .iter()
            .take_while(|byte| matches!(byte, b' ' | b'\n' | b'\r' | b'\t'))
            .count();
    }

    fn eat(&mut self, byte: u8) -> Option<()> {
        self.skip();
        (self.rest().first() == Some(&byte)).then(|| self.at += 1)
    }

    fn is_done(&mut self) -> bool {
        self.skip();
        self.at == self.text.len()
    }

    /// Skips a value and returns its text.
    fn value(&mut self) -> Option<&'a str> {
        self.skip();
        let start = self.at;
        let mut depth = 0_usize;
        loop {
            match self.rest().first()? {
                b'"' => self.string()?,
                b'{' | b'[' => {
                    depth += 1;
                    self.at += 1;
                }
                b'}' | b']' => {
                    depth = depth.checked_sub(1)?;
                    self.at += 1;
                }
                b',' | b':' if depth == 0 => return None,
                _ => {
                    self.at +=
                        self.rest().iter().take_while(|byte| !is_mark(**byte)).count().max(1);
                }
            }
            if depth == 0 {
                return self.text.get(start..self.at).map(str::trim_end);
            }
        }
    }

    fn string(&mut self) -> Option<()> {
        self.at += 1;
        loop {
            let stop = memchr::memchr2(b'"', b'\\', self.rest())?;
            let quote = self.rest()[stop] == b'"';
            self.at += stop + if quote { 1 } else { 2 };
            if quote {
                return Some(());
            }
        }
    }
}

fn is_mark(byte: u8) -> bool {
    matches!(byte, b'"' | b'{' | b'[' | b'}' | b']' | b',' | b':')
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::json;
    use crate::value::Value;
    use proptest::prelude::*;

    #[test]
    fn pieces_are_found_and_cut_ones_are_not() {
        let text = r#" {"a": [1, {"b": "]}\""}] , "c":"x", "d" : -1.5e3 , "e":{} } "#;
        let found = members(text).unwrap();
        assert_eq!(
            found,
            [("a", r#"[1, {"b": "]}\""}]"#), ("c", "\"x\""), ("d", "-1.5e3"), ("e", "{}")]
        );
        assert_eq!(items("[1, [2, 3] ,\"é,\\\\\"]").unwrap(), ["1", "[2, 3]", "\"é,\\\\\""]);
        assert_eq!((members("{ }").unwrap().len(), items("[\n]").unwrap().len()), (0, 0));
        for bad in [
            "",
            "{",
            "[1",
            "{\"a\"",
            "{\"a\":",
            "{\"a\":1,",
            "{\"a\":1}}",
            "[\"\\",
            "[}",
            "x",
            "[,]",
            "{1:2}",
        ] {
            assert!(members(bad).is_none() && items(bad).is_none(), "{bad}");
        }
        assert!(items(&"[".repeat(100_000)).is_none());
        assert!(items(&format!("[1{}]", ",1".repeat(MOST_PARTS))).is_none());
    }

    proptest! {
        #[test]
        fn pieces_read_one_by_one_are_the_whole(texts in prop::collection::vec("\\PC{0,8}", 0..5), deep in 0_usize..4) {
            let list = texts.iter().map(|text| Value::from(text.as_str())).collect();
            let value = (0..deep).fold(Value::List(list), |value, _| Value::Map(vec![(Value::from("k"), value)]));
            for pretty in [true, false] {
                let text = json::write(&value, pretty);
                let whole = match &value {
                    Value::Map(_) => members(&text).unwrap().into_iter()
                        .map(|(key, piece)| Ok((Value::from(key), json::read(piece)?))).collect::<Result<_, _>>().map(Value::Map),
                    _ => items(&text).unwrap().into_iter().map(json::read).collect::<Result<_, _>>().map(Value::List),
                };
                prop_assert_eq!(whole.unwrap(), value.clone());
            }
        }

        #[test]
        fn no_text_brings_it_to_a_stop(text in "[\\[\\]{}\",:a\\\\ é]{0,40}") {
            let (_, _) = (members(&text), items(&text));
        }
    }
}
