//! The clock: when it is now, in the units of the rows. The only place that asks it for a date.
use std::time::{SystemTime, UNIX_EPOCH};

/// Milliseconds since 1970.
pub(crate) fn now_ms() -> i64 {
    now_ns().div_euclid(1_000_000)
}

/// Nanoseconds since 1970.
pub(crate) fn now_ns() -> i64 {
    let since = SystemTime::now().duration_since(UNIX_EPOCH).unwrap_or_default();
    i64::try_from(since.as_nanos()).unwrap_or(i64::MAX)
}

/// A time as people and files write it, in UTC: `2025-03-04T16:55:39.000Z`.
pub(crate) fn written(ms: i64) -> String {
    jiff::Timestamp::from_millisecond(ms).map_or_else(|_| String::new(), |time| format!("{time:.3}"))
}

/// The same as programs of Python write it by hand: `2025-03-04 16:55:39`.
pub(crate) fn to_the_second(ms: i64) -> String {
    let time = jiff::Timestamp::from_millisecond(ms).unwrap_or_default();
    time.strftime("%Y-%m-%d %H:%M:%S").to_string()
}

/// The same for people, to the minute: `2025-03-04 16:55 UTC`.
pub(crate) fn to_the_minute(ms: i64) -> String {
    let time = jiff::Timestamp::from_millisecond(ms).unwrap_or_default();
    time.strftime("%Y-%m-%d %H:%M UTC").to_string()
}
