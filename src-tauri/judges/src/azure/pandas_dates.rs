//! **Pure.** Detects the columns that pandas 2.3 converts to dates, by their names and cells. The
//! package fails when it writes such a column.
use super::python_number::{float, written};
use touchstone_model::value::Value;

/// Returns whether pandas tries to parse a column of this name as dates.
pub(super) fn is_tried(name: &str) -> bool {
    let name = name.to_lowercase();
    name.ends_with("_at")
        || name.ends_with("_time")
        || name.starts_with("timestamp")
        || matches!(name.as_str(), "modified" | "date" | "datetime")
}

/// Returns whether pandas parses all cells of a column as dates.
pub(super) fn are_dates<'a, I: Iterator<Item = Option<&'a Value>>>(cells: impl Fn() -> I) -> bool {
    if cells().next().is_none() {
        return false;
    }
    let has = |what: fn(&Value) -> bool| cells().flatten().any(what);
    let numbers: Option<Vec<f64>> = if has(|cell| !matches!(cell, Value::Number(_) | Value::Null)) {
        // pandas converts a column that is not numeric to integers if it can.
        cells().map(python_int).collect()
    } else {
        cells().map(|cell| Some(cell.and_then(number).unwrap_or(f64::NAN))).collect()
    };
    if !has(|cell| !matches!(cell, Value::Bool(_))) {
        return false;
    }
    if let Some(numbers) = numbers {
        return numbers.iter().all(|number| number.is_nan() || is_moment(*number));
    }
    let texts = || cells().flatten().filter_map(Value::text).filter(|text| !is_nothing(text));
    let other = has(|cell| matches!(cell, Value::Bool(_) | Value::List(_) | Value::Map(_)));
    !other && (texts().all(|text| float(text).is_some_and(f64::is_finite)) || texts().all(is_date))
}

fn number(value: &Value) -> Option<f64> {
    match value {
        Value::Number(number) => written(number),
        _ => None,
    }
}

/// Converts a value like Python's `int()`.
fn python_int(cell: Option<&Value>) -> Option<f64> {
    match cell? {
        Value::Bool(flag) => Some(f64::from(u8::from(*flag))),
        Value::Text(text) => float(text).filter(|_| !text.contains(['.', 'e', 'E', 'n', 'N'])),
        value => number(value).filter(|number| number.is_finite()).map(f64::trunc),
    }
}

/// Returns whether a number is a timestamp in seconds or a finer unit: later than the first year
/// after 1970, and within 64 bits as nanoseconds.
fn is_moment(number: f64) -> bool {
    const YEAR: f64 = 31_536_000.0;
    const MOST: f64 = 9_223_372_036_854_775_807.0;
    number > YEAR && number < MOST
}

fn is_nothing(text: &str) -> bool {
    matches!(text, "" | "NaT" | "nat" | "NAT" | "nan" | "NaN" | "NAN")
}

/// Returns whether a text is a date or a time of day in a common format.
fn is_date(text: &str) -> bool {
    if matches!(text, "now" | "today") {
        return true;
    }
    // Single letters and small numbers are not dates.
    let small = float(text).is_some_and(|number| number < 1000.0) && !text.starts_with('0');
    if small || !text.contains(|c: char| c.is_ascii_digit() || c.is_ascii_alphabetic()) {
        return false;
    }
    let text = text.to_ascii_lowercase();
    let mut found = Found::default();
    let mut rest = text.as_str();
    while let Some(first) = rest.chars().next() {
        let of = |fits: fn(char) -> bool| rest.find(|c| !fits(c)).unwrap_or(rest.len());
        let length = if first.is_ascii_digit() {
            of(|c| c.is_ascii_digit())
        } else if first.is_ascii_alphabetic() {
            of(|c| c.is_ascii_alphabetic())
        } else {
            first.len_utf8()
        };
        let (token, behind) = rest.split_at(length);
        let fits = match first {
            '0'..='9' => found.number(token, behind),
            'a'..='z' => found.word(token),
            ' ' | '.' | ',' | ';' | '-' | '/' | ':' | '+' => true,
            _ => false,
        };
        if !fits {
            return false;
        }
        rest = behind;
    }
    found.is_whole()
}

/// Parts of a date found in a text.
#[derive(Default)]
struct Found {
    clock: Vec<u32>,
    in_clock: bool,
    calendar: Vec<u32>,
    month: bool,
    half: bool,
}

impl Found {
    fn number(&mut self, digits: &str, behind: &str) -> bool {
        let Ok(number) = digits.parse() else { return false };
        if self.in_clock && self.clock.len() < 3 && digits.len() != 2 {
            return false;
        }
        if self.in_clock || behind.starts_with(':') {
            self.clock.push(number);
        } else {
            self.calendar.push(number);
        }
        self.in_clock =
            behind.starts_with([':', '+']) || (self.in_clock && behind.starts_with(['.', '-']));
        digits.len() <= 14 && digits.len() != 9
    }

    fn word(&mut self, word: &str) -> bool {
        const MONTHS: [&str; 12] = [
            "january",
            "february",
            "march",
            "april",
            "may",
            "june",
            "july",
            "august",
            "september",
            "october",
            "november",
            "december",
        ];
        const DAYS: [&str; 7] =
            ["monday", "tuesday", "wednesday", "thursday", "friday", "saturday", "sunday"];
        let is_of = |names: &[&str]| {
            names.iter().any(|name| {
                name == &word
                    || (word.len() == 3 && name.starts_with(word))
                    || (word == "sept" && *name == "september")
            })
        };
        let month = is_of(&MONTHS);
        self.month |= month;
        self.half |= matches!(word, "am" | "pm");
        month
            || is_of(&DAYS)
            || matches!(
                word,
                "am" | "pm"
                    | "t"
                    | "z"
                    | "utc"
                    | "gmt"
                    | "st"
                    | "nd"
                    | "rd"
                    | "th"
                    | "of"
                    | "at"
                    | "on"
                    | "and"
            )
    }

    fn is_whole(&self) -> bool {
        let within = |at: usize, most: u32| self.clock.get(at).is_none_or(|number| *number <= most);
        let clock = within(0, if self.half { 12 } else { 23 }) && within(1, 59) && within(2, 59);
        let calendar = match (self.calendar.as_slice(), self.month) {
            ([], month) => !month && !self.clock.is_empty(),
            ([_], true) => true,
            ([one], false) => (1_000..=9_999).contains(one) || *one > 10_000_000,
            ([one, other], true) => one.min(other) <= &31,
            ([one, other], false) => one.min(other) <= &12 && *one.min(other) > 0,
            ([year, month, day], false) if *year > 31 => *month <= 12 && *day <= 31,
            ([one, two, three], false) => {
                let all = [one, two, three];
                let days = all.iter().filter(|part| (1..=31).contains(**part)).count();
                let months = all.iter().filter(|part| (1..=12).contains(**part)).count();
                days >= 2 && months >= 1
            }
            _ => false,
        };
        // Nanoseconds in 64 bits cover the years 1677 to 2262.
        let years = self.calendar.iter().filter(|number| (1_000..10_000).contains(*number));
        clock && calendar && years.into_iter().all(|year| (1_678..2_262).contains(year))
    }
}
