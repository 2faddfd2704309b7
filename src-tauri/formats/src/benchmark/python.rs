//! **Pure.** Parses the output of Python's `repr`: literals, and calls with named arguments such as
//! `TextBlock(text='…', type='text')`.
use touchstone_model::value::Value;

/// Maximum nesting depth of literals.
const DEPTH: usize = 64;

/// Parses a Python literal. Returns `None` for anything else. A call becomes a map of its
/// arguments.
pub fn read(text: &str) -> Option<Value> {
    let mut reader = Reader { text, at: 0, depth: 0 };
    let value = reader.value()?;
    reader.skip();
    (reader.at == text.len()).then_some(value)
}

/// Parses the repr of a message, a block, or a list of blocks. Returns `None` for any other text,
/// even if it resembles Python.
pub(crate) fn block(text: &str) -> Option<Value> {
    let inside = text.trim();
    let name = inside.trim_start_matches('[').split('(').next()?;
    let fits = (name.ends_with("Block") || name.starts_with("ChatCompletionMessage"))
        && name.bytes().all(|byte| byte.is_ascii_alphanumeric())
        && inside.ends_with([')', ']']);
    if fits { read(inside) } else { None }
}

struct Reader<'a> {
    text: &'a str,
    at: usize,
    depth: usize,
}

impl<'a> Reader<'a> {
    fn rest(&self) -> &'a str {
        &self.text[self.at..]
    }

    fn peek(&self) -> Option<u8> {
        self.text.as_bytes().get(self.at).copied()
    }

    fn skip(&mut self) {
        self.at += self.rest().len() - self.rest().trim_start().len();
    }

    fn eat(&mut self, byte: u8) -> Option<()> {
        self.skip();
        (self.peek()? == byte).then(|| self.at += 1)
    }

    fn value(&mut self) -> Option<Value> {
        self.skip();
        if self.depth >= DEPTH {
            return None;
        }
        self.depth += 1;
        let value = match self.peek()? {
            b'[' => self.items(b']').map(Value::List),
            b'(' => self.items(b')').map(Value::List),
            b'{' => self.dict(),
            b'\'' | b'"' => self.strings(),
            b'-' | b'+' | b'.' | b'0'..=b'9' => self.number(),
            _ => self.name(),
        };
        self.depth -= 1;
        value
    }

    fn items(&mut self, end: u8) -> Option<Vec<Value>> {
        self.at += 1;
        let mut items = Vec::new();
        while self.eat(end).is_none() {
            items.push(self.value()?);
            if self.eat(b',').is_none() {
                self.eat(end)?;
                break;
            }
        }
        Some(items)
    }

    fn dict(&mut self) -> Option<Value> {
        self.at += 1;
        let mut entries = Vec::new();
        while self.eat(b'}').is_none() {
            let key = self.value()?;
            self.eat(b':')?;
            entries.push((key, self.value()?));
            if self.eat(b',').is_none() {
                self.eat(b'}')?;
                break;
            }
        }
        Some(Value::Map(entries))
    }

    /// Parses `Name(key=value, …)`, or one of the constants.
    fn name(&mut self) -> Option<Value> {
        let name = self.identifier()?;
        match name {
            "None" => return Some(Value::Null),
            "True" => return Some(Value::Bool(true)),
            "False" => return Some(Value::Bool(false)),
            "inf" => return Some(Value::Number(".inf".to_owned())),
            "nan" => return Some(Value::Number(".nan".to_owned())),
            _ => self.eat(b'(')?,
        }
        let mut entries: Vec<(Value, Value)> = Vec::new();
        while self.eat(b')').is_none() {
            self.skip();
            let key = self.identifier()?;
            self.eat(b'=')?;
            entries.push((key.into(), self.value()?));
            if self.eat(b',').is_none() {
                self.eat(b')')?;
                break;
            }
        }
        Some(Value::Map(entries))
    }

    fn identifier(&mut self) -> Option<&'a str> {
        let rest = self.rest();
        let end = rest
            .find(|letter: char| !(letter.is_alphanumeric() || letter == '_' || letter == '.'))
            .unwrap_or(rest.len());
        let fits = rest.starts_with(|letter: char| letter.is_alphabetic() || letter == '_');
        self.at += end;
        fits.then_some(&rest[..end])
    }

    fn number(&mut self) -> Option<Value> {
        let rest = self.rest();
        let inside = |letter: char| {
            letter.is_ascii_alphanumeric() || matches!(letter, '+' | '-' | '.' | '_')
        };
        let end = rest.find(|letter| !inside(letter)).unwrap_or(rest.len());
        self.at += end;
        let text = rest[..end].replace('_', "");
        match text.as_str() {
            "-inf" => Some(Value::Number("-.inf".to_owned())),
            _ => touchstone_model::scalar::is_number(&text).then_some(Value::Number(text)),
        }
    }

    /// Parses one string, or several adjacent ones.
    fn strings(&mut self) -> Option<Value> {
        let mut out = String::new();
        while let Some(quote @ (b'\'' | b'"')) = self.peek() {
            self.string(quote, &mut out)?;
            self.skip();
        }
        Some(Value::Text(out))
    }

    fn string(&mut self, quote: u8, out: &mut String) -> Option<()> {
        self.at += 1;
        loop {
            let rest = self.rest();
            let stop = rest.bytes().position(|byte| byte == quote || byte == b'\\')?;
            out.push_str(&rest[..stop]);
            self.at += stop + 1;
            if rest.as_bytes()[stop] == quote {
                return Some(());
            }
            self.escape(out)?;
        }
    }

    fn escape(&mut self, out: &mut String) -> Option<()> {
        let letter = self.rest().chars().next()?;
        self.at += letter.len_utf8();
        let meant = match letter {
            'n' => '\n',
            'r' => '\r',
            't' => '\t',
            'a' => '\u{7}',
            'b' => '\u{8}',
            'f' => '\u{c}',
            'v' => '\u{b}',
            '\n' => return Some(()),
            'x' => self.hex(2)?,
            'u' => self.hex(4)?,
            'U' => self.hex(8)?,
            '0'..='7' => self.octal(letter)?,
            '\\' | '\'' | '"' => letter,
            // Python keeps unknown escapes unchanged.
            other => {
                out.push('\\');
                other
            }
        };
        out.push(meant);
        Some(())
    }

    /// Parses a character from its hexadecimal digits; half of a surrogate pair becomes the
    /// replacement character.
    fn hex(&mut self, digits: usize) -> Option<char> {
        let code = u32::from_str_radix(self.rest().get(..digits)?, 16).ok()?;
        self.at += digits;
        Some(char::from_u32(code).unwrap_or(char::REPLACEMENT_CHARACTER))
    }

    fn octal(&mut self, first: char) -> Option<char> {
        let mut code = first.to_digit(8)?;
        for _ in 0..2 {
            let Some(digit) = self.peek().and_then(|byte| (byte as char).to_digit(8)) else {
                break;
            };
            code = code * 8 + digit;
            self.at += 1;
        }
        char::from_u32(code)
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn reprs_of_blocks_are_read() {
        let text = r#"ToolUseBlock(id='toolu_1', input={'sql': "SELECT 'a'\nFROM \"b\"", 'n': [1, -2.5, None, True]}, name='q', type='tool_use')"#;
        let block = block(text).unwrap();
        assert_eq!(block.get("id"), Some(&"toolu_1".into()));
        assert_eq!(block.get("input").unwrap().get("sql"), Some(&"SELECT 'a'\nFROM \"b\"".into()));
        assert_eq!(
            touchstone_model::json::write(block.get("input").unwrap().get("n").unwrap(), false),
            "[1,-2.5,null,true]"
        );
    }

    #[test]
    fn escapes_are_those_of_python() {
        assert_eq!(read(r"'\x41\u00e9\U0001F600\101\q\\\''"), Some("Aé😀A\\q\\'".into()));
        assert_eq!(read(r#"'a' "b""#), Some("ab".into()));
        assert_eq!(read("('a', 'b',)"), Some(Value::List(vec!["a".into(), "b".into()])));
    }

    #[test]
    fn what_is_no_repr_stays_text() {
        for text in [
            "",
            "TextBlock",
            "TextBlock(",
            "TextBlock(text='a'",
            "TextBlock(text='a') and more",
            "Block of wood (oak)",
            "print('a')",
        ] {
            assert_eq!(block(text), None, "{text}");
        }
        assert_eq!(read(&"[".repeat(100_000)), None);
    }
}
