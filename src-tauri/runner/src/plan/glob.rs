//! **Pure.** Patterns for tasks: `*` and `?` stay within a folder, `**` does not. A pattern may
//! omit folders at the beginning of a name: `588` and `*588*` match `queries/G1_instruction/588`.

/// Help text for a pattern that matches no task.
pub const HOW_PATTERNS_WORK: &str = "Task names are paths below the input directory, without \
    extension; leading folders may be omitted. `*` matches within a folder, `**` across folders.";

/// Task patterns, from the command line or the launch dialog.
#[derive(Debug)]
pub struct Patterns<'a> {
    /// Patterns, each with true if it is the id of a task; it then matches that task alone.
    patterns: Vec<(&'a str, bool)>,
}

impl<'a> Patterns<'a> {
    /// Creates patterns, given the ids of all tasks.
    pub fn new<'b>(patterns: &'a [String], ids: impl Iterator<Item = &'b str>) -> Self {
        let mut all: Vec<_> = patterns.iter().map(|pattern| (pattern.as_str(), false)).collect();
        for id in ids {
            all.iter_mut()
                .filter(|(pattern, _)| *pattern == id)
                .for_each(|(_, is_id)| *is_id = true);
        }
        Self { patterns: all }
    }

    /// Returns true if a pattern matches a task with these names, the first of which is its id.
    pub fn mean(&self, names: &[String]) -> bool {
        self.patterns.iter().any(|pattern| means(pattern, names))
    }

    /// Returns the first pattern that matches none of the tasks, which are given by their names.
    pub fn unmatched(&self, tasks: &[Vec<String>]) -> Option<&'a str> {
        let unmatched =
            self.patterns.iter().find(|pattern| !tasks.iter().any(|names| means(pattern, names)));
        unmatched.map(|(pattern, _)| *pattern)
    }
}

fn means((pattern, is_id): &(&str, bool), names: &[String]) -> bool {
    if *is_id {
        return names.first().is_some_and(|id| id == pattern);
    }
    let ends = |name: &str| {
        let parts = name.match_indices('/').map(|(at, _)| at + 1);
        std::iter::once(0).chain(parts).any(|from| matches(pattern, &name[from..]))
    };
    names.iter().any(|name| ends(name))
}

/// Returns true if a pattern matches a whole name. A pattern without wildcards matches only that
/// name.
pub(super) fn matches(pattern: &str, id: &str) -> bool {
    if pattern == id {
        return true;
    }
    let tokens = tokens(pattern);
    let letters: Vec<char> = id.chars().collect();
    // Marks the prefixes of the id that the tokens processed before can match; the work is bounded
    // by tokens times characters.
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
                        || (letter == Some(&'/')
                            && before.is_some_and(|before| (0..=before).any(|from| reached[from])))
                }
                Token::One => {
                    letter.is_some_and(|letter| *letter != '/')
                        && before.is_some_and(|at| reached[at])
                }
                Token::Letter(wanted) => {
                    letter == Some(wanted) && before.is_some_and(|at| reached[at])
                }
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
    fn a_pattern_means_the_tasks_that_people_see_by_any_of_their_names() {
        let names = |all: &[&str]| all.iter().map(|name| (*name).to_owned()).collect::<Vec<_>>();
        let tasks = [
            names(&[
                "q/test_instruction/G1_instruction/588",
                "G1_instruction/588",
                "588",
                "Find a quiet harbour",
            ]),
            names(&["q/test_instruction/G1_tool/1588", "G1_tool/1588", "1588"]),
            names(&["refund"]),
            names(&["billing/refund", "billing", "Refunds of May"]),
        ];
        let patterns = |patterns: &[&str]| {
            let patterns = names(patterns);
            let patterns = Patterns::new(&patterns, tasks.iter().map(|names| names[0].as_str()));
            let chosen: Vec<usize> =
                (0..tasks.len()).filter(|at| patterns.mean(&tasks[*at])).collect();
            (chosen, patterns.unmatched(&tasks).map(str::to_owned))
        };
        for (pattern, chosen) in [
            ("588", vec![0]),
            ("*588*", vec![0, 1]),
            ("G1_instruction/588", vec![0]),
            ("G1_instruction/*", vec![0]),
            ("q/**", vec![0, 1]),
            ("Find*", vec![0]),
            // An id matches only that task, even if other names end with it.
            ("refund", vec![2]),
            ("*/refund", vec![3]),
            ("ref*", vec![2, 3]),
            ("billing", vec![3]),
            ("*", vec![0, 1, 2, 3]),
        ] {
            assert_eq!(patterns(&[pattern]), (chosen, None), "{pattern}");
        }
        assert_eq!(
            patterns(&["588", "elsewhere/588"]),
            (vec![0], Some("elsewhere/588".to_owned()))
        );
    }

    #[test]
    fn a_pattern_of_nothing_but_wildcards_takes_no_time() {
        assert!(!matches(&"*a".repeat(500), &"a".repeat(499)));
    }
}
