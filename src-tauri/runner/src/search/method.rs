//! **Pure.** Ways to look for an answer, as people write them: `CoT@2`, `DFS_woFilter_w2`.
use std::fmt;

/// A way to look for an answer.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Method {
    /// One chain of steps; from the start again, at most so often in all, while none has ended with
    /// an answer.
    Chain {
        /// Tries.
        tries: u32,
    },
    /// A tree of steps, deepest first: from each point at most so many ways are tried.
    Tree {
        /// Ways from each point.
        width: u32,
    },
}

/// More tries or ways are a slip of the keyboard.
const MOST: u32 = 100;

impl Method {
    /// Reads a method.
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
                "`{text}` is no method; there are `CoT@1` and `DFS_woFilter_w2`, with other numbers too."
            )
        };
        let (name, width) = text.rsplit_once("_w").ok_or_else(unknown)?;
        let width = number(width).ok_or_else(unknown)?;
        if !name.starts_with("DFS") {
            return Err(unknown());
        }
        if !name.contains("woFilter") {
            return Err(format!(
                "`{text}` ranks the ways that were tried, which Touchstone does not do. Use `DFS_woFilter_w{width}`."
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
            ("CoT", "no method"),
            ("BFS_w2", "no method"),
            ("DFS_w2", "DFS_woFilter_w2"),
            ("", "no method"),
            ("DFS_woFilter_w999", "no method"),
        ] {
            assert!(Method::read(text).unwrap_err().contains(word), "{text}");
        }
    }
}
