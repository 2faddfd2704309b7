//! **Pure.** Compares texts that are dates: distinguishes the same day in another notation from
//! another day.
use super::DateRemark;
use jiff::SignedDuration;
use jiff::civil::{Date, DateTime, Time};
use jiff::fmt::strtime::BrokenDownTime;
use std::borrow::Cow;

/// Length beyond which a text is not considered a date.
const LONGEST: usize = 48;
/// Unambiguous date formats.
const DAYS: [&str; 9] = [
    "%Y-%m-%d", "%Y/%m/%d", "%d.%m.%Y", "%B %d %Y", "%b %d %Y", "%d %B %Y", "%d %b %Y", "%d-%B-%Y",
    "%d-%b-%Y",
];
const TIMES: [&str; 5] = ["%H:%M:%S%.f", "%I:%M:%S %p", "%I:%M %p", "%H:%M", "%I %p"];
const WEEKDAYS: [&str; 7] = ["mon", "tue", "wed", "thu", "fri", "sat", "sun"];

/// A day, optionally with a time.
#[derive(Debug, Clone, Copy, PartialEq)]
struct When {
    day: Date,
    /// Alternative reading with day and month swapped, if it is valid and different.
    other: Option<Date>,
    /// True for `1/2/2024`, where only the writer knows which part is the month.
    slashes: bool,
    time: Option<Time>,
    /// Offset from UTC in seconds; a time without a zone is taken as UTC.
    ahead: i64,
}

/// Returns a remark on two different texts; `None` unless both are dates.
pub(super) fn remark(expected: &str, actual: &str) -> Option<DateRemark> {
    let (expected, actual) = (read(expected)?, read(actual)?);
    if expected.slashes != actual.slashes || expected.day != actual.day {
        let readings = |when: When| std::iter::once(when.day).chain(when.other);
        let either = readings(expected).any(|day| readings(actual).any(|other| other == day));
        let in_doubt = expected.other.is_some() || actual.other.is_some();
        if in_doubt && either {
            return Some(DateRemark::DayAndMonth);
        }
        if expected.day != actual.day {
            let apart = actual.day.duration_since(expected.day).as_hours() / 24;
            // The same moment may fall on two days in different zones.
            let same = moment(expected).zip(moment(actual)).is_some_and(|(a, b)| a == b);
            return Some(if same { DateRemark::OtherNotation } else { DateRemark::Days(apart) });
        }
    }
    Some(match (moment(expected), moment(actual)) {
        (None, None) => DateRemark::OtherNotation,
        (Some(a), Some(b)) if a == b => DateRemark::OtherNotation,
        (Some(a), Some(b)) => DateRemark::Seconds(b.duration_since(a).as_secs()),
        _ if expected.time.or(actual.time) == Some(Time::midnight()) => DateRemark::OtherNotation,
        _ => DateRemark::OtherPrecision,
    })
}

/// Returns the moment in UTC; `None` without a time.
fn moment(when: When) -> Option<DateTime> {
    when.day.to_datetime(when.time?).checked_sub(SignedDuration::from_secs(when.ahead)).ok()
}

fn read(text: &str) -> Option<When> {
    let text = text.trim();
    let could_be = text.len() <= LONGEST
        && text.is_ascii()
        && text.bytes().filter(u8::is_ascii_digit).count() >= 5;
    if !could_be {
        return None;
    }
    let text = &*simple(text);
    let text = without_weekday(text);
    let (mut when, length) = slashed(text).or_else(|| {
        let (day, length) = DAYS.iter().find_map(|format| day(format, text))?;
        Some((When { day, other: None, slashes: false, time: None, ahead: 0 }, length))
    })?;
    let rest = text.get(length..)?;
    if rest.is_empty() {
        return Some(when);
    }
    let rest = rest.strip_prefix(['T', 't', ' '])?.trim_start();
    let rest = rest.strip_prefix("at ").unwrap_or(rest);
    let (time, length) = TIMES.iter().find_map(|format| {
        let (read, length) = prefix(format, rest)?;
        let whole = rest
            .as_bytes()
            .get(length)
            .is_none_or(|next| !matches!(next, b':' | b'.' | b'0'..=b'9'));
        let spoken = format.contains("%p")
            || !rest[length..].trim_start().to_ascii_lowercase().starts_with(['a', 'p']);
        (whole && spoken).then_some((read.to_time().ok()?, length))
    })?;
    when.time = Some(time);
    when.ahead = zone(rest.get(length..)?.trim())?;
    Some(when)
}

/// Removes insignificant detail: commas, and ordinal suffixes as in `1st` and `2nd`.
fn simple(text: &str) -> Cow<'_, str> {
    let text = if text.contains(',') {
        Cow::Owned(text.replace(", ", " ").replace(',', " "))
    } else {
        Cow::Borrowed(text)
    };
    let end = text.match_indices(|c: char| c.is_ascii_digit()).find_map(|(at, _)| {
        let rest = text.get(at + 1..)?;
        let ordinal = ["st", "nd", "rd", "th"]
            .iter()
            .any(|end| rest.get(..2).is_some_and(|two| two.eq_ignore_ascii_case(end)));
        (ordinal && rest[2..].starts_with(' ')).then_some(at + 1)
    });
    match end {
        Some(at) => Cow::Owned(format!("{}{}", &text[..at], &text[at + 2..])),
        None => text,
    }
}

fn without_weekday(text: &str) -> &str {
    let Some((word, rest)) = text.split_once(' ') else { return text };
    let is_weekday = word.bytes().all(|byte| byte.is_ascii_alphabetic())
        && WEEKDAYS
            .iter()
            .any(|day| word.get(..3).is_some_and(|start| start.eq_ignore_ascii_case(day)));
    if is_weekday { rest.trim_start() } else { text }
}

/// Parses `1/2/2024`, month first if both readings are valid.
fn slashed(text: &str) -> Option<(When, usize)> {
    let month_first = day("%m/%d/%Y", text);
    let day_first = day("%d/%m/%Y", text);
    let (day, length) = month_first.or(day_first)?;
    let other = month_first.and(day_first).map(|(other, _)| other).filter(|other| *other != day);
    Some((When { day, other, slashes: true, time: None, ahead: 0 }, length))
}

fn day(format: &str, text: &str) -> Option<(Date, usize)> {
    let (read, length) = prefix(format, text)?;
    let day = read.to_date().ok()?;
    // A year has four digits.
    let ends = text.as_bytes().get(length).is_none_or(|next| !next.is_ascii_digit());
    ((1000..=9999).contains(&day.year()) && ends).then_some((day, length))
}

fn prefix(format: &str, text: &str) -> Option<(BrokenDownTime, usize)> {
    BrokenDownTime::parse_prefix(format, text).ok()
}

/// Parses a zone into seconds ahead of UTC.
fn zone(text: &str) -> Option<i64> {
    if matches!(text, "" | "Z" | "z" | "UTC" | "GMT") {
        return Some(0);
    }
    let digits: String = text.get(1..)?.chars().filter(|c| *c != ':').collect();
    let (hours, minutes) = match digits.len() {
        2 => (digits.parse::<i64>().ok()?, 0),
        4 => (digits[..2].parse().ok()?, digits[2..].parse().ok()?),
        _ => return None,
    };
    let ahead = (hours * 60 + minutes) * 60;
    match text.as_bytes().first()? {
        b'+' => Some(ahead),
        b'-' => Some(-ahead),
        _ => None,
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use proptest::prelude::*;

    #[test]
    fn the_same_day_in_another_notation_is_the_same_day() {
        let all = [
            "2024-01-02",
            "2024-01-02T00:00:00Z",
            "2024-01-02 00:00:00",
            "2024-01-02T00:00:00.000+00:00",
            "2024/01/02",
            "2024/1/2",
            "Jan 2, 2024",
            "January 2, 2024",
            "january 2nd, 2024",
            "2 Jan 2024",
            "2 January 2024",
            "02-Jan-2024",
            "Tue, 02 Jan 2024",
            "Tuesday, January 2, 2024",
            "02.01.2024",
        ];
        for a in all {
            for b in all {
                assert_eq!(remark(a, b), Some(DateRemark::OtherNotation), "{a} / {b}");
            }
        }
    }

    #[test]
    fn a_wrong_date_reports_its_distance_in_days() {
        for (expected, actual, remark_of) in [
            ("2024-01-02", "2024-01-05", DateRemark::Days(3)),
            ("2024-03-01", "Feb 28, 2024", DateRemark::Days(-2)),
            ("2024-01-02T10:00:00Z", "2024-01-04", DateRemark::Days(2)),
            ("2024-01-02T23:59:00Z", "2024-01-03T00:01:00Z", DateRemark::Days(1)),
            ("2024-01-02", "2024-01-02T10:30:00Z", DateRemark::OtherPrecision),
            ("2024-01-02T10:30:00Z", "2024-01-02 10:31:05", DateRemark::Seconds(65)),
            ("2024-01-02T10:30:00Z", "2024-01-02 10:30 AM", DateRemark::OtherNotation),
            ("2024-01-02T22:30:00Z", "January 2, 2024 at 10:30 PM", DateRemark::OtherNotation),
            ("2024-01-02T10:30:00+02:00", "2024-01-02T08:30:00Z", DateRemark::OtherNotation),
            ("2024-01-02T23:30:00-0200", "2024-01-03T01:30:00Z", DateRemark::OtherNotation),
            ("2024-01-02T10:00:00Z", "2024-01-02T10:00:00.250Z", DateRemark::Seconds(0)),
        ] {
            assert_eq!(remark(expected, actual), Some(remark_of), "{expected} / {actual}");
        }
    }

    #[test]
    fn day_and_month_are_in_doubt_only_where_they_are() {
        for (expected, actual, remark_of) in [
            ("2024-02-01", "01/02/2024", DateRemark::DayAndMonth),
            ("2024-01-02", "01/02/2024", DateRemark::DayAndMonth),
            ("01/02/2024", "02/01/2024", DateRemark::DayAndMonth),
            ("01/02/2024", "1/2/2024", DateRemark::OtherNotation),
            ("2024-02-13", "13/02/2024", DateRemark::OtherNotation),
            ("2024-02-02", "02/02/2024", DateRemark::OtherNotation),
            ("2024-02-13", "02/13/2024", DateRemark::OtherNotation),
            ("2024-02-13", "02/14/2024", DateRemark::Days(1)),
        ] {
            assert_eq!(remark(expected, actual), Some(remark_of), "{expected} / {actual}");
        }
    }

    #[test]
    fn texts_that_are_not_dates_have_no_date() {
        for text in [
            "",
            "143",
            "2024",
            "2024-13-01",
            "2024-02-30",
            "12:30",
            "24-01-02",
            "version 2024-01-02",
            "2024-01-02x",
            "1/2/24",
            "2024-01-02T25:00",
            "20240102",
            "2024-01-02T10:30 sharp",
            "+49 30 123456",
            "2024-01-02T10:00:00+1",
        ] {
            assert_eq!(read(text), None, "{text}");
        }
    }

    proptest! {
        #[test]
        fn parsing_any_date_text_does_not_panic(text in "[0-9TZ:./, +-]{0,30}|\\PC{0,30}|[JanFebMr 0-9,]{0,20}") {
            if let Some(when) = read(&text) {
                prop_assert_eq!(remark(&text, &text), Some(DateRemark::OtherNotation), "{:?}", when);
            }
        }

        #[test]
        fn swapping_two_dates_negates_their_distance(a in 0_i32..40_000, b in 0_i32..40_000) {
            let day = |days: i32| (Date::constant(1950, 1, 1) + SignedDuration::from_hours(i64::from(days) * 24)).to_string();
            let apart = i64::from(b - a);
            let expected = |apart| if apart == 0 { DateRemark::OtherNotation } else { DateRemark::Days(apart) };
            prop_assert_eq!(remark(&day(a), &day(b)), Some(expected(apart)));
            prop_assert_eq!(remark(&day(b), &day(a)), Some(expected(-apart)));
        }
    }
}
