//! **Pure.** Minimal parsing of dates and durations, enough to compute how long a run took.

/// Parses a timestamp into seconds since 1970. Accepts `2025-02-21T00:12:07.082Z`, `2025-02-21
/// 00:12:07+02:00`, `2025-02-21T00:12Z`, a timestamp without an offset (taken as UTC), and a plain
/// number of seconds.
pub fn seconds(stamp: &str) -> Option<f64> {
    let stamp = stamp.trim();
    if let Some(seconds) = number(stamp) {
        // Seconds this large would be after the year 5138, so the number is in milliseconds.
        return Some(if seconds > 1e11 { seconds / 1_000.0 } else { seconds });
    }
    let stamp = stamp.strip_suffix(" UTC").unwrap_or(stamp);
    let (date, rest) = stamp.split_once(['T', 't', ' '])?;
    let mut parts = date.split('-');
    let (year, month, day) = (parts.next()?, parts.next()?, parts.next()?);
    let days = days(year.parse().ok()?, month.parse().ok()?, day.parse().ok()?)?;
    let (clock, offset) = match rest.find(['Z', 'z', '+', '-']) {
        Some(at) => (rest[..at].trim_end(), offset(&rest[at..])?),
        None => (rest, 0.0),
    };
    // A time of day begins with the hours, so `12:30` lacks the seconds, not the hours.
    let seconds = self::clock(clock)? * if clock.matches(':').count() == 1 { 60.0 } else { 1.0 };
    Some(days * 86_400.0 + seconds - offset)
}

/// Writes milliseconds since 1970 as a timestamp: `2025-02-21T00:12:07.082Z`.
pub fn from_milliseconds(milliseconds: i64) -> String {
    let (days, clock) = (milliseconds.div_euclid(86_400_000), milliseconds.rem_euclid(86_400_000));
    // Years begin in March here, so that a leap day is the last of its year.
    let days = days + 719_468;
    let (era, day) = (days.div_euclid(146_097), days.rem_euclid(146_097));
    let year = (day - day / 1_460 + day / 36_524 - day / 146_096) / 365;
    let day = day - (365 * year + year / 4 - year / 100);
    let month = (5 * day + 2) / 153;
    let date = day - (153 * month + 2) / 5 + 1;
    let (month, later) = if month < 10 { (month + 3, 0) } else { (month - 9, 1) };
    let (seconds, rest) = (clock / 1_000, clock % 1_000);
    format!(
        "{:04}-{month:02}-{date:02}T{:02}:{:02}:{:02}.{rest:03}Z",
        year + era * 400 + later,
        seconds / 3_600,
        seconds / 60 % 60,
        seconds % 60,
    )
}

/// Parses a duration into seconds: `1:33`, `0:01:33.196202`, `1 day, 0:01:33` or `93.2`.
pub(crate) fn duration(text: &str) -> Option<f64> {
    let text = text.trim();
    if let Some(seconds) = number(text) {
        return Some(seconds);
    }
    let (days, clock) = match text.split_once(", ") {
        Some((days, clock)) => (days.split(' ').next()?.parse::<u32>().ok()?, clock),
        None => (0, text),
    };
    Some(f64::from(days) * 86_400.0 + self::clock(clock)?)
}

/// Parses a plain number without sign and exponent.
fn number(text: &str) -> Option<f64> {
    let plain = text.bytes().all(|byte| byte.is_ascii_digit() || byte == b'.');
    text.parse().ok().filter(|_| plain)
}

/// Parses `hours:minutes:seconds` into seconds. The seconds may have a fraction; the hours may be
/// missing.
fn clock(text: &str) -> Option<f64> {
    let parts: Vec<&str> = text.split(':').collect();
    let (last, first) = parts.split_last()?;
    if parts.len() < 2
        || parts.len() > 3
        || !last.bytes().all(|byte| byte.is_ascii_digit() || byte == b'.')
    {
        return None;
    }
    let mut total: f64 = 0.0;
    for part in first {
        total = total * 60.0 + f64::from(part.parse::<u32>().ok()?);
    }
    Some(total * 60.0 + last.parse::<f64>().ok()?)
}

fn offset(text: &str) -> Option<f64> {
    if text.eq_ignore_ascii_case("z") {
        return Some(0.0);
    }
    let sign = if text.starts_with('-') { -1.0 } else { 1.0 };
    let digits: String = text.chars().filter(char::is_ascii_digit).collect();
    let (hours, minutes) = (
        digits.get(..2)?.parse::<u32>().ok()?,
        digits.get(2..4).unwrap_or("0").parse::<u32>().ok()?,
    );
    Some(sign * f64::from(hours * 3600 + minutes * 60))
}

/// Returns the days since 1970-01-01 of a Gregorian date.
fn days(year: i32, month: u32, day: u32) -> Option<f64> {
    const BEFORE: [u32; 12] = [0, 31, 59, 90, 120, 151, 181, 212, 243, 273, 304, 334];
    if !(1..=9999).contains(&year) || !(1..=12).contains(&month) || !(1..=31).contains(&day) {
        return None;
    }
    let leap = year % 4 == 0 && (year % 100 != 0 || year % 400 == 0);
    let past = year - 1;
    let whole = past * 365 + past / 4 - past / 100 + past / 400 - 719_162;
    let in_year = BEFORE.get(month as usize - 1)? + day - 1 + u32::from(leap && month > 2);
    Some(f64::from(whole) + f64::from(in_year))
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn stamps_count_from_1970_in_utc() {
        assert_eq!(seconds("1970-01-01T00:00:00Z"), Some(0.0));
        assert_eq!(seconds("2000-03-01 00:00:00"), Some(951_868_800.0));
        assert_eq!(seconds("2025-02-21T00:12:07.5+02:00"), Some(1_740_096_727.5 - 7_200.0));
        assert_eq!(seconds("2025-02-21T00:12Z"), seconds("2025-02-21 00:12:00 UTC"));
        assert_eq!(seconds("1740096727.5"), seconds("2025-02-21T00:12:07.5Z"));
        assert_eq!(seconds("1740096727500"), seconds("2025-02-21T00:12:07.5Z"));
        for text in ["", "2025-02-21", "2025-13-01T00:00:00Z", "2025-02-21T0000", "soon"] {
            assert_eq!(seconds(text), None, "{text}");
        }
    }

    #[test]
    fn durations_are_hours_minutes_seconds() {
        assert_eq!(duration("0:01:33.5\n"), Some(93.5));
        assert_eq!(duration("1 day, 1:00:00"), Some(90_000.0));
        assert_eq!(duration("2:05"), Some(125.0));
        assert_eq!(duration("93.2"), Some(93.2));
        assert_eq!(duration("-1"), None);
    }
}
