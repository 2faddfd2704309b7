//! **Pure.** Sets of characters that other programs' tables define, read from `data/charsets.txt`
//! when they are first needed. They are decoded once, in about 50 µs, into 9 KB.
use std::sync::OnceLock;

/// Written by `scripts/charsets.py`.
const TABLE: &str = include_str!("../../data/charsets.txt");

/// One of the sets, in the order of the file.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(super) enum Set {
    /// Characters that NLTK takes for numbers, and that are all but numbers.
    NotNumber,
    /// Punctuation as of Unicode 7.
    Punctuation,
    /// Symbols as of Unicode 7.
    Symbol,
    /// What Python 3.11 counts as part of a word.
    Word,
}

type Ranges = Vec<(u32, u32)>;

/// Whether a character is in a set.
pub(super) fn has(set: Set, c: char) -> bool {
    let code = u32::from(c);
    let ranges = ranges(set);
    let behind = ranges.partition_point(|(first, _)| *first <= code);
    behind.checked_sub(1).and_then(|at| ranges.get(at)).is_some_and(|(_, last)| code <= *last)
}

/// The ranges of a set, both ends included, in ascending order.
pub(super) fn ranges(set: Set) -> &'static [(u32, u32)] {
    static SETS: OnceLock<Vec<Ranges>> = OnceLock::new();
    SETS.get_or_init(|| TABLE.lines().map(read).collect())
        .get(set as usize)
        .map_or(&[], Vec::as_slice)
}

fn read(line: &str) -> Ranges {
    let code = |text: &str| u32::from_str_radix(text, 16).ok();
    let range = |text: &str| {
        let (first, last) = text.split_once('-').unwrap_or((text, text));
        code(first).zip(code(last))
    };
    line.split(' ').skip(1).filter_map(range).collect()
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn every_line_of_the_table_is_read_whole() {
        let names: Vec<&str> = TABLE.lines().filter_map(|line| line.split(' ').next()).collect();
        assert_eq!(names, ["number", "punctuation", "symbol", "word"]);
        for (line, set) in
            TABLE.lines().zip([Set::NotNumber, Set::Punctuation, Set::Symbol, Set::Word])
        {
            let ranges = ranges(set);
            assert_eq!(ranges.len(), line.split(' ').count() - 1);
            assert!(ranges.iter().all(|(first, last)| first <= last));
            assert!(ranges.windows(2).all(|two| two[0].1 + 1 < two[1].0));
        }
    }

    #[test]
    fn the_first_and_the_last_of_a_range_are_in_it() {
        assert!(
            has(Set::NotNumber, '!')
                && has(Set::NotNumber, '/')
                && !has(Set::NotNumber, '0')
                && !has(Set::NotNumber, ' ')
        );
        assert!(has(Set::Punctuation, '’') && !has(Set::Punctuation, '€'));
        assert!(has(Set::Symbol, '€') && has(Set::Symbol, '☕') && !has(Set::Symbol, '🍕'));
        assert!(!has(Set::NotNumber, '国') && has(Set::NotNumber, 'の'));
    }

    #[test]
    fn the_sets_are_those_that_were_found_elsewhere() {
        let path = std::path::Path::new(env!("CARGO_MANIFEST_DIR"))
            .join("../../../shared/golden/azure/nist_charsets.json");
        let Ok(text) = std::fs::read_to_string(&path) else {
            eprintln!("skipped: there is no {}", path.display());
            return;
        };
        let golden = touchstone_formats::json::read(&text).unwrap();
        for (name, set) in [
            ("NOT_NUMBER", Set::NotNumber),
            ("PUNCTUATION", Set::Punctuation),
            ("SYMBOL", Set::Symbol),
        ] {
            let ours = ranges(set)
                .iter()
                .map(|(first, last)| format!("[{first},{last}]"))
                .collect::<Vec<_>>()
                .join(",");
            assert_eq!(
                format!("[{ours}]"),
                touchstone_formats::json::write(golden.get(name).unwrap(), false),
                "{name}"
            );
        }
        println!("cases: 3");
    }
}
