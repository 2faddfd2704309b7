//! **Pure.** Parses digits and numbers in texts like Python, which accepts the digits of all
//! scripts.

/// All zeros of Unicode 14. The nine other digits of a script follow its zero.
const ZEROS: [u32; 66] = [
    0x30, 0x660, 0x6f0, 0x7c0, 0x966, 0x9e6, 0xa66, 0xae6, 0xb66, 0xbe6, 0xc66, 0xce6, 0xd66,
    0xde6, 0xe50, 0xed0, 0xf20, 0x1040, 0x1090, 0x17e0, 0x1810, 0x1946, 0x19d0, 0x1a80, 0x1a90,
    0x1b50, 0x1bb0, 0x1c40, 0x1c50, 0xa620, 0xa8d0, 0xa900, 0xa9d0, 0xa9f0, 0xaa50, 0xabf0, 0xff10,
    0x104a0, 0x10d30, 0x11066, 0x110f0, 0x11136, 0x111d0, 0x112f0, 0x11450, 0x114d0, 0x11650,
    0x116c0, 0x11730, 0x118e0, 0x11950, 0x11c50, 0x11d50, 0x11da0, 0x16a60, 0x16ac0, 0x16b50,
    0x1d7ce, 0x1d7d8, 0x1d7e2, 0x1d7ec, 0x1d7f6, 0x1e140, 0x1e2f0, 0x1e950, 0x1fbf0,
];

/// Returns the value of a digit of any script.
pub(super) fn digit(c: char) -> Option<u8> {
    let code = u32::from(c);
    let zero = ZEROS[..ZEROS.partition_point(|zero| *zero <= code)].last()?;
    u8::try_from(code - zero).ok().filter(|digit| *digit < 10)
}

/// Parses a text like Python's `float()`.
pub(super) fn float(text: &str) -> Option<f64> {
    let plain = |c| digit(c).map_or(c, |digit| char::from(b'0' + digit));
    // Python counts the ASCII separator characters as white space, but not around numbers.
    let text: String = text.trim().chars().map(plain).collect();
    let bytes = text.as_bytes();
    let is_digit =
        |at: Option<usize>| at.and_then(|at| bytes.get(at)).is_some_and(u8::is_ascii_digit);
    let between = |(at, _): (usize, &str)| is_digit(at.checked_sub(1)) && is_digit(Some(at + 1));
    if !text.match_indices('_').all(between) {
        return None;
    }
    text.replace('_', "").parse().ok()
}

/// Parses the number of a value, including YAML's notation of NaN and infinity.
pub(super) fn written(number: &str) -> Option<f64> {
    match number {
        ".nan" => Some(f64::NAN),
        ".inf" => Some(f64::INFINITY),
        "-.inf" => Some(f64::NEG_INFINITY),
        number => number.parse().ok(),
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn numbers_are_read_as_python_reads_them() {
        for (text, wanted) in [
            ("4", Some(4.0)),
            (" \u{85}\u{3000}4.5\n", Some(4.5)),
            ("\u{1c}4", None),
            ("\u{1f}\u{ff14}", None),
            ("\u{ff14}", Some(4.0)),
            ("\u{664}.\u{665}", Some(4.5)),
            ("1e0", Some(1.0)),
            ("+.5", Some(0.5)),
            ("1_0", Some(10.0)),
            ("-Infinity", Some(f64::NEG_INFINITY)),
            ("1__0", None),
            ("_1", None),
            ("4 5", None),
            ("four", None),
            ("", None),
            ("0x4", None),
        ] {
            assert_eq!(float(text), wanted, "{text:?}");
        }
        assert!(float("nan").is_some_and(f64::is_nan));
    }

    #[test]
    fn there_are_six_hundred_and_sixty_digits() {
        let digits: Vec<char> = ('\0'..=char::MAX).filter(|c| digit(*c).is_some()).collect();
        assert_eq!(digits.len(), 660);
        assert_eq!(
            (digit('7'), digit('\u{966}'), digit('a'), digit('²')),
            (Some(7), Some(0), None, None)
        );
    }
}
