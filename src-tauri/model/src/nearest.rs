//! **Pure.** Suggests the known word that is nearest to a misspelled one.

/// Maximum length of the words that are compared, in bytes. Longer words are hardly typos, and the
/// cost of a comparison is the product of both lengths.
const LONGEST: usize = 64;

/// Returns the known word that is nearest to `word`, if it is near enough to be a typo: at most one
/// edit for words of up to 3 characters, two for up to 7, else three.
pub fn nearest<'a>(word: &str, known: impl IntoIterator<Item = &'a str>) -> Option<&'a str> {
    let limit = match word.chars().count() {
        0..4 => 1,
        4..8 => 2,
        _ => 3,
    };
    if word.len() > LONGEST {
        return None;
    }
    let known = known.into_iter().filter(|other| other.len() <= LONGEST);
    let near = known
        .map(|other| (distance(word, other), other))
        .filter(|(distance, _)| *distance <= limit);
    near.min_by_key(|(distance, _)| *distance).map(|(_, other)| other)
}

/// Returns the number of edits between two words, ignoring case: insertions, deletions,
/// substitutions and swaps of neighbouring letters.
fn distance(a: &str, b: &str) -> usize {
    let (a, b): (Vec<char>, Vec<char>) =
        (a.to_lowercase().chars().collect(), b.to_lowercase().chars().collect());
    let mut rows = vec![vec![0; b.len() + 1]; a.len() + 1];
    rows[0] = (0..=b.len()).collect();
    for i in 1..=a.len() {
        rows[i][0] = i;
        for j in 1..=b.len() {
            let change = rows[i - 1][j - 1] + usize::from(a[i - 1] != b[j - 1]);
            let mut least = change.min(rows[i - 1][j] + 1).min(rows[i][j - 1] + 1);
            if i > 1 && j > 1 && a[i - 1] == b[j - 2] && a[i - 2] == b[j - 1] {
                least = least.min(rows[i - 2][j - 2] + 1);
            }
            rows[i][j] = least;
        }
    }
    rows[a.len()][b.len()]
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn only_what_is_near_is_meant() {
        let known = ["expected_tool_calls", "expected_output", "data"];
        assert_eq!(nearest("expected_toolcalls", known), Some("expected_tool_calls"));
        assert_eq!(nearest("dat", known), Some("data"));
        assert_eq!(nearest("description", known), None);
        assert_eq!(
            nearest("mxa", ["auto", "max"]),
            Some("max"),
            "neighbours that changed places are one slip"
        );
        assert_eq!(nearest(&"a".repeat(65), [&*"a".repeat(65)]), None);
    }
}
