//! A random secret that is compared in constant time, and cannot be printed by accident.
use std::{fmt::Write as _, io};

/// A secret. Deliberately implements neither `Debug` nor `Display`.
pub(crate) struct Secret(String);

impl Secret {
    /// Creates a secret from 256 random bits of the system, as hexadecimal digits.
    pub(crate) fn random() -> io::Result<Self> {
        let mut bytes = [0_u8; 32];
        getrandom::fill(&mut bytes)
            .map_err(|why| io::Error::other(format!("no random numbers: {why}")))?;
        Ok(Self(bytes.iter().fold(String::new(), |mut text, byte| {
            let _ = write!(text, "{byte:02x}");
            text
        })))
    }

    /// Creates a secret from a chosen word.
    pub(crate) fn new(word: String) -> Self {
        Self(word)
    }

    /// Returns the secret, for the code that passes it on.
    pub(crate) fn reveal(&self) -> &str {
        &self.0
    }

    /// Compares in constant time; only the length may be revealed.
    pub(crate) fn is(&self, word: &str) -> bool {
        let differs = |sum: u8, (a, b): (u8, u8)| std::hint::black_box(sum | (a ^ b));
        self.0.len() == word.len() && self.0.bytes().zip(word.bytes()).fold(0, differs) == 0
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn two_secrets_differ_and_each_is_only_itself() {
        let (a, b) = (Secret::random().unwrap(), Secret::random().unwrap());
        assert_eq!(a.reveal().len(), 64);
        assert!(a.is(a.reveal()) && b.is(b.reveal()));
        assert!(!a.is(b.reveal()) && !a.is("") && !a.is(&a.reveal()[1..]));
    }
}
