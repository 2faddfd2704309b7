//! **Pure.** Search methods in the original's notation: `CoT@2`, `DFS_woFilter_w2`.
use std::fmt;

/// A search method.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Method {
    /// A single chain of steps, restarted until one ends with an answer, at most `tries` times.
    Chain {
        /// Maximum number of attempts.
        tries: u32,
    },
    /// A depth-first tree of steps, with at most `width` branches per node.
    Tree {
        /// Maximum number of branches per node.
        width: u32,
    },
}

/// Upper limit of tries and branches; higher numbers are taken for typing errors.
const MOST: u32 = 100;

impl Method {
    /// Parses a method. Fails, with a sentence for the user, if the method or number is unknown.
    pub fn read(text: &str) -> Result<Self, String> {
        let number =
            |digits: &str| digits.parse().ok().filter(|number| (1..=MOST).contains(number));
        if let Some(tries) = text.strip_prefix("CoT@") {
            let wrong =
                || format!("`{text}` needs a number of tries from 1 to {MOST}, as in `CoT@1`.");
            return number(tries).map(|tries| Self::Chain { tries }).ok_or_else(wrong);
        }
        let unknown = || {
            format!(
                "`{text}` is not a method; there are `CoT@1` and `DFS_woFilter_w2`, with other numbers too."
            )
        };
        let (name, width) = text.rsplit_once("_w").ok_or_else(unknown)?;
        let width = number(width).ok_or_else(unknown)?;
        if !name.starts_with("DFS") {
            return Err(unknown());
        }
        if !name.contains("woFilter") {
            return Err(format!(
                "`{text}` ranks the paths that it tried, which Touchstone does not support. Use `DFS_woFilter_w{width}`."
            ));
        }
        Ok(Self::Tree { width })
    }
}

impl fmt::Display for Method {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            Self::Chain { tries } => write!(f, "CoT@{tries}"),
            Self::Tree { width } => write!(f, "DFS_woFilter_w{width}"),
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn methods_are_read_as_they_are_written_and_others_are_refused_with_what_there_is() {
        for text in ["CoT@1", "CoT@10", "DFS_woFilter_w2", "DFS_woFilter_w3"] {
            assert_eq!(Method::read(text).map(|method| method.to_string()).as_deref(), Ok(text));
        }
        for (text, word) in [
            ("CoT@0", "tries"),
            ("CoT", "not a method"),
            ("BFS_w2", "not a method"),
            ("DFS_w2", "DFS_woFilter_w2"),
            ("", "not a method"),
            ("DFS_woFilter_w999", "not a method"),
        ] {
            assert!(Method::read(text).unwrap_err().contains(word), "{text}");
        }
    }
}
