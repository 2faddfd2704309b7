//! **Pure.** Key of a run, in few bytes.
use std::cmp::Ordering;
use std::fmt;

/// Key of a run: 16 hex digits as a number, or any other text.
#[derive(Debug, Clone, PartialEq, Eq)]
pub enum RunKey {
    /// 16 hex digits.
    Number(u64),
    /// Anything else.
    Text(Box<str>),
}

impl From<&str> for RunKey {
    fn from(key: &str) -> Self {
        let is_digit = |byte: u8| matches!(byte, b'0'..=b'9' | b'a'..=b'f');
        let is_number = key.len() == 16 && key.bytes().all(is_digit);
        let number = if is_number { u64::from_str_radix(key, 16).ok() } else { None };
        number.map_or_else(|| Self::Text(key.into()), Self::Number)
    }
}

impl fmt::Display for RunKey {
    fn fmt(&self, to: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            Self::Number(number) => write!(to, "{number:016x}"),
            Self::Text(text) => to.write_str(text),
        }
    }
}

impl Ord for RunKey {
    /// Compares as the texts do.
    fn cmp(&self, other: &Self) -> Ordering {
        match (self, other) {
            (Self::Number(one), Self::Number(other)) => one.cmp(other),
            (Self::Text(one), Self::Text(other)) => one.cmp(other),
            (one, other) => one.to_string().cmp(&other.to_string()),
        }
    }
}

impl PartialOrd for RunKey {
    fn partial_cmp(&self, other: &Self) -> Option<Ordering> {
        Some(self.cmp(other))
    }
}
