//! A random word that is compared without telling how much of it was right, and never printed by
//! accident.
use std::{fmt::Write as _, io};

/// Has no `Debug` and no `Display` on purpose.
pub(crate) struct Secret(String);

impl Secret {
    /// 256 random bits from the system, as hexadecimal digits.
    pub(crate) fn random() -> io::Result<Self> {
        let mut bytes = [0_u8; 32];
        getrandom::fill(&mut bytes)
            .map_err(|why| io::Error::other(format!("no random numbers: {why}")))?;
        Ok(Self(bytes.iter().fold(String::new(), |mut text, byte| {
            let _ = write!(text, "{byte:02x}");
            text
        })))
    }

    /// A word that somebody chose.
    pub(crate) fn new(word: String) -> Self {
        Self(word)
    }

    /// For the one place that hands it over.
    pub(crate) fn reveal(&self) -> &str {
        &self.0
    }

    /// Takes as long for a wrong word as for the right one; only the length may show.
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
