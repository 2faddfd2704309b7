//! **Pure.** Patterns of task ids: `*` and `?` stay within a folder, `**` does not.

/// True when a pattern means a task. A pattern without wildcards means the task of that id.
pub fn matches(pattern: &str, id: &str) -> bool {
    if pattern == id {
        return true;
    }
    let tokens = tokens(pattern);
    let letters: Vec<char> = id.chars().collect();
    // Which beginnings of the id the tokens so far can stand for; never more work than tokens times letters.
    let mut reached = vec![false; letters.len() + 1];
    reached[0] = true;
    for token in &tokens {
        let mut next = vec![false; letters.len() + 1];
        for at in 0..=letters.len() {
            let before = at.checked_sub(1);
            let letter = before.and_then(|before| letters.get(before));
            next[at] = match token {
                Token::Many { across } => {
                    let goes_on = letter.is_some_and(|letter| *across || *letter != '/');
                    reached[at] || (goes_on && before.is_some_and(|before| next[before]))
                }
                Token::Folders => {
                    reached[at]
                        || (letter == Some(&'/') && before.is_some_and(|before| (0..=before).any(|from| reached[from])))
                }
                Token::One => letter.is_some_and(|letter| *letter != '/') && before.is_some_and(|at| reached[at]),
                Token::Letter(wanted) => letter == Some(wanted) && before.is_some_and(|at| reached[at]),
            };
        }
        reached = next;
    }
    reached.last().copied().unwrap_or(false)
}

enum Token {
    /// `*` or, across folders, `**`.
    Many {
        across: bool,
    },
    /// `**/`: any folders, or none.
    Folders,
    One,
    Letter(char),
}

fn tokens(pattern: &str) -> Vec<Token> {
    let (mut tokens, mut rest, mut at_start) = (Vec::new(), pattern, true);
    while let Some(letter) = rest.chars().next() {
        let (token, length) = match letter {
            '*' if at_start && rest.starts_with("**/") => (Token::Folders, 3),
            '*' if rest.starts_with("**") => (Token::Many { across: true }, 2),
            '*' => (Token::Many { across: false }, 1),
            '?' => (Token::One, 1),
            letter => (Token::Letter(letter), letter.len_utf8()),
        };
        at_start = matches!(token, Token::Folders | Token::Letter('/'));
        tokens.push(token);
        rest = rest.get(length..).unwrap_or_default();
    }
    tokens
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn wildcards_stay_within_a_folder_unless_there_are_two() {
        for (pattern, yes, no) in [
            ("a", vec!["a"], vec!["b", "a/a", "aa", ""]),
            ("*", vec!["a", "", "é"], vec!["a/b"]),
            ("a*", vec!["a", "abc"], vec!["a/b", "ba"]),
            ("a/*", vec!["a/b", "a/"], vec!["a/b/c", "a"]),
            ("?b", vec!["ab", "éb"], vec!["b", "/b", "aab"]),
            ("**", vec!["", "a", "a/b/c"], vec![]),
            ("a/**", vec!["a/b", "a/b/c"], vec!["a", "b/a/c"]),
            ("**/b", vec!["b", "a/b", "a/c/b"], vec!["ab", "a/bc"]),
            ("a/**/b", vec!["a/b", "a/x/b", "a/x/y/b"], vec!["ab", "a/xb"]),
            ("x*y*z", vec!["xyz", "x-y-y-z"], vec!["xz", "xyz/"]),
            ("a?c*", vec!["abcd", "a?c*"], vec!["a"]),
        ] {
            assert!(yes.iter().all(|id| matches(pattern, id)), "{pattern} means {yes:?}");
            assert!(!no.iter().any(|id| matches(pattern, id)), "{pattern} means none of {no:?}");
        }
    }

    #[test]
    fn a_pattern_of_nothing_but_wildcards_takes_no_time() {
        assert!(!matches(&"*a".repeat(500), &"a".repeat(499)));
    }
}
