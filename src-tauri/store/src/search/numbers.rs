//! **Pure.** Finds the numbers in a text. A number stands alone: digits in ids, words, dates, times,
//! addresses and versions are none.
use std::ops::Range;

/// Longer numbers are ids.
const LONGEST: usize = 40;

/// Iterates over the finite numbers of a text, each with the offset at which it starts.
pub(super) fn numbers(text: &[u8]) -> impl Iterator<Item = (usize, f64)> + '_ {
    let mut at = 0;
    std::iter::from_fn(move || {
        loop {
            let first = at + text[at..].iter().position(u8::is_ascii_digit)?;
            let (number, end) = number_at(text, first);
            at = end;
            if number.is_some() {
                return number;
            }
        }
    })
}

/// Returns true when a number at this offset is the value of a key: `count: 3`, `"count": "3"`, and
/// the same in JSON in a text.
pub(super) fn has_key(text: &[u8], number: usize, key: &str) -> bool {
    let bare = |text: &[u8]| {
        let text = text.strip_suffix(b"\"").or_else(|| text.strip_suffix(b"'")).unwrap_or(text);
        text.iter().rposition(|byte| *byte != b'\\').map_or(0, |last| last + 1)
    };
    let before = &text[..number];
    let before = before[..bare(before)].trim_ascii_end();
    let Some(before) = before.strip_suffix(b":").or_else(|| before.strip_suffix(b"=")) else {
        return false;
    };
    let before = before.trim_ascii_end();
    let before = &before[..bare(before)];
    let Some(start) = before.len().checked_sub(key.len()) else { return false };
    before[start..].eq_ignore_ascii_case(key.as_bytes()) && !ends_in_word(&before[..start])
}

/// Reads the number whose first digit is at an offset, with its start; `None` if it does not stand
/// alone. Returns as well where to go on.
fn number_at(text: &[u8], first: usize) -> (Option<(usize, f64)>, usize) {
    let digits = |from: usize| from..from + count_digits(&text[from..]);
    let whole = digits(first);
    let mut end = whole.end;
    let start = match text[..first] {
        [.., b'-' | b'+'] if !is_joined(&text[..first - 1]) => first - 1,
        _ => first,
    };
    if is_joined(&text[..start]) || is_time(&text[..start]) {
        return (None, end);
    }
    let grouped = thousands(text, &whole);
    end = grouped.unwrap_or(end);
    if text.get(end) == Some(&b'.') {
        let fraction = digits(end + 1);
        end = if fraction.is_empty() { end } else { fraction.end };
    }
    if let [b'e' | b'E', rest @ ..] = &text[end..] {
        let sign = usize::from(matches!(rest, [b'-' | b'+', ..]));
        let exponent = digits(end + 1 + sign);
        end = if exponent.is_empty() { end } else { exponent.end };
    }
    let goes_on = match &text[end..] {
        [b':', next, ..] => next.is_ascii_digit(),
        [b'.' | b'-', rest @ ..] | rest => begins_word(rest),
    };
    if goes_on || end - start > LONGEST {
        return (None, end);
    }
    let digits = text[start..end].iter().filter(|byte| **byte != b',');
    let digits: String = digits.map(|byte| char::from(*byte)).collect();
    let number = digits.parse::<f64>().ok().filter(|number| number.is_finite());
    (number.map(|number| (start, number)), end)
}

fn count_digits(text: &[u8]) -> usize {
    text.iter().take_while(|byte| byte.is_ascii_digit()).count()
}

/// Returns the end of a number with thousands separators, `1,234,567`. In `[100,200]` they separate
/// the items of a list.
fn thousands(text: &[u8], first: &Range<usize>) -> Option<usize> {
    let in_list = |byte: Option<&u8>| matches!(byte, Some(b'[' | b']'));
    let before = first.start.checked_sub(1).and_then(|before| text.get(before));
    if first.len() > 3 || text[first.start] == b'0' || in_list(before) {
        return None;
    }
    let mut end = first.end;
    while text.get(end) == Some(&b',') && end - first.start < LONGEST {
        match count_digits(&text[end + 1..text.len().min(end + 5)]) {
            0 => break,
            3 => end += 4,
            _ => return None,
        }
    }
    (end > first.end && !in_list(text.get(end))).then_some(end)
}

/// Returns true when what follows would belong to a word or a number before it.
fn is_joined(before: &[u8]) -> bool {
    matches!(before, [.., b'.' | b'-' | b'+']) || ends_in_word(before)
}

/// Returns true after `09:` of `09:30`; not after a name, `x1:`.
fn is_time(before: &[u8]) -> bool {
    let Some(before) = before.strip_suffix(b":") else { return false };
    let digits = before.iter().rev().take(3).take_while(|byte| byte.is_ascii_digit()).count();
    digits > 0 && !ends_in_word(&before[..before.len() - digits])
}

fn ends_in_word(text: &[u8]) -> bool {
    let end = &text[text.len().saturating_sub(4)..];
    match end.last() {
        Some(last) if last.is_ascii() => is_of_word(char::from(*last)),
        _ => String::from_utf8_lossy(end).chars().next_back().is_some_and(is_of_word),
    }
}

fn begins_word(text: &[u8]) -> bool {
    let begin = &text[..text.len().min(4)];
    match begin.first() {
        Some(first) if first.is_ascii() => is_of_word(char::from(*first)),
        _ => String::from_utf8_lossy(begin).chars().next().is_some_and(is_of_word),
    }
}

fn is_of_word(letter: char) -> bool {
    letter.is_alphanumeric() || letter == '_'
}

#[cfg(test)]
mod tests {
    use super::*;
    use proptest::prelude::*;

    fn all(text: &str) -> Vec<f64> {
        numbers(text.as_bytes()).map(|(_, number)| number).collect()
    }

    #[test]
    fn a_number_stands_alone() {
        for (text, expected) in [
            ("3", vec![3.0]),
            ("found 3.", vec![3.0]),
            ("-3 +4 x=-5 (-1.5)", vec![-3.0, 4.0, -5.0, -1.5]),
            ("$12.50, 7% and 3/10", vec![12.5, 7.0, 3.0, 10.0]),
            ("1e3 1.5E-2", vec![1000.0, 0.015]),
            ("1,234,567 rows, 12,5", vec![1_234_567.0, 12.0, 5.0]),
            ("1,234.5", vec![1234.5]),
            ("[100,200,300]", vec![100.0, 200.0, 300.0]),
            (r#"{"count":3,"b":-4}"#, vec![3.0, -4.0]),
            ("x1:5 a: 6", vec![5.0, 6.0]),
            ("550e8400-e29b-41d4-a716-446655440000", vec![]),
            ("commit 3f2a9c, 2nd, 0x1F, 12ms, o1", vec![]),
            ("2025-01-14 09:48:21 2025-01-14T09:48:21.5Z", vec![]),
            ("10.0.0.12 v1.2.3 1.2.3", vec![]),
            ("1e999", vec![]),
            ("5é é5 €5", vec![5.0]),
            ("3-", vec![3.0]),
        ] {
            assert_eq!(all(text), expected, "{text}");
        }
    }

    #[test]
    fn a_number_has_the_key_before_it() {
        for (text, expected) in [
            ("count: 3", true),
            ("count=3", true),
            (r#"{"Count":3}"#, true),
            (r"{'count' : '3'}", true),
            (r#"[{"text":"{\"count\": 12}"}]"#, true),
            (r#"[{"text":"{\"count\": \"12\"}"}]"#, true),
            ("discount: 3", false),
            ("count 3", false),
            ("count: x 3", false),
            ("3", false),
        ] {
            let mut found = numbers(text.as_bytes());
            let has = found.any(|(at, _)| has_key(text.as_bytes(), at, "count"));
            assert_eq!(has, expected, "{text}");
        }
    }

    proptest! {
        #[test]
        fn a_number_between_words_is_found_and_one_in_a_word_is_not(
            number in -1_000_000_i32..1_000_000,
            before in "([a-zé]{0,3}[ =(\"$:])?",
            after in "([ ,)\";%][a-z]{0,3})?",
            letter in "[a-zé_]",
        ) {
            let text = format!("{before}{number}{after}");
            prop_assert_eq!(all(&text), vec![f64::from(number)], "{}", text);
            let text = format!("{before}{number}{letter}");
            prop_assert_eq!(all(&text), Vec::<f64>::new(), "{}", text);
        }

        #[test]
        fn any_bytes_are_read(text in prop::collection::vec(any::<u8>(), 0..60)) {
            for (at, number) in numbers(&text) {
                prop_assert!(number.is_finite());
                has_key(&text, at, "");
            }
        }

        #[test]
        fn any_digits_are_read(text in "[0-9,.:eE+x\\[-]{0,30}") {
            prop_assert!(numbers(text.as_bytes()).all(|(_, number)| number.is_finite()));
        }
    }
}
