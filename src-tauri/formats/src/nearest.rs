//! **Pure.** What somebody probably meant to write.

/// Longer words are not compared: nobody meant them, and comparing takes the product of both lengths.
const LONGEST: usize = 64;

/// The known word that is nearest to a word, when one is near enough to be meant.
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
    let near = known.map(|other| (distance(word, other), other)).filter(|(distance, _)| *distance <= limit);
    near.min_by_key(|(distance, _)| *distance).map(|(_, other)| other)
}

/// Letters to add, drop or change.
fn distance(a: &str, b: &str) -> usize {
    let (a, b): (Vec<char>, Vec<char>) = (a.to_lowercase().chars().collect(), b.to_lowercase().chars().collect());
    let mut row: Vec<usize> = (0..=b.len()).collect();
    for (i, left) in a.iter().enumerate() {
        let mut corner = row[0];
        row[0] = i + 1;
        for (j, right) in b.iter().enumerate() {
            let change = corner + usize::from(left != right);
            corner = row[j + 1];
            row[j + 1] = change.min(corner + 1).min(row[j] + 1);
        }
    }
    row.last().copied().unwrap_or_default()
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
        assert_eq!(nearest(&"a".repeat(65), [&*"a".repeat(65)]), None);
    }
}
