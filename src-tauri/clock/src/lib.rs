//! The clock: the current time, in the units that the rows use. The only module that reads the
//! system's date.
use std::time::{Instant, SystemTime, UNIX_EPOCH};

/// Offset of this clock from the system clock in nanoseconds, for tests that let time jump. Not
/// compiled into release builds.
#[cfg(debug_assertions)]
static AHEAD_NS: std::sync::atomic::AtomicI64 = std::sync::atomic::AtomicI64::new(0);

/// Moves the clock of this process by `ms` milliseconds, like a change of the system time or a
/// machine waking from sleep.
#[cfg(debug_assertions)]
pub fn jump(ms: i64) {
    AHEAD_NS.fetch_add(ms * 1_000_000, std::sync::atomic::Ordering::SeqCst);
}

/// Returns the current time in milliseconds since 1970.
pub fn now_ms() -> i64 {
    now_ns().div_euclid(1_000_000)
}

/// Returns the current time in nanoseconds since 1970.
pub fn now_ns() -> i64 {
    let since = SystemTime::now().duration_since(UNIX_EPOCH).unwrap_or_default();
    let ns = i64::try_from(since.as_nanos()).unwrap_or(i64::MAX);
    #[cfg(debug_assertions)]
    let ns = ns.saturating_add(AHEAD_NS.load(std::sync::atomic::Ordering::SeqCst));
    ns
}

/// Returns the current time as a timestamp.
pub fn now() -> jiff::Timestamp {
    jiff::Timestamp::from_nanosecond(now_ns().into()).unwrap_or_default()
}

/// Returns true if any later change of a file last modified at `changed_ns` is certain to get a
/// different modification time. File systems that store whole seconds need a longer interval. A
/// time in the future counts by its distance from now, like one in the past.
pub fn is_settled(changed_ns: i64, now_ns: i64) -> bool {
    let grain = if changed_ns % 1_000_000_000 == 0 { 2_000_000_000_u64 } else { 50_000_000 };
    now_ns.abs_diff(changed_ns) > grain
}

/// Monotonic clock for measurements: the date at its start plus the time elapsed since then,
/// unaffected by changes of the system time.
#[derive(Debug, Clone, Copy)]
pub struct MonotonicClock {
    started: Instant,
    started_ms: i64,
}

impl MonotonicClock {
    /// Starts the clock now.
    pub fn start() -> Self {
        Self { started: Instant::now(), started_ms: now_ms() }
    }

    /// Returns the current time in milliseconds since 1970.
    pub fn now_ms(self) -> i64 {
        self.started_ms
            .saturating_add(i64::try_from(self.started.elapsed().as_millis()).unwrap_or(i64::MAX))
    }
}

/// Formats a time in UTC as people and files write it: `2025-03-04T16:55:39.000Z`.
pub fn format_utc(ms: i64) -> String {
    jiff::Timestamp::from_millisecond(ms)
        .map_or_else(|_| String::new(), |time| format!("{time:.3}"))
}

/// Formats a time in UTC like Python programs that format it by hand: `2025-03-04 16:55:39`.
pub fn format_utc_seconds(ms: i64) -> String {
    let time = jiff::Timestamp::from_millisecond(ms).unwrap_or_default();
    time.strftime("%Y-%m-%d %H:%M:%S").to_string()
}

/// Returns the Monday of the week of a time, in UTC: `2025-03-03`.
pub fn format_utc_monday(ms: i64) -> String {
    let time = jiff::Timestamp::from_millisecond(ms).unwrap_or_default();
    let day = time.to_zoned(jiff::tz::TimeZone::UTC).date();
    let monday = day.checked_sub(jiff::Span::new().days(day.weekday().to_monday_zero_offset()));
    monday.unwrap_or(day).to_string()
}

/// Formats a time for people, to the minute: `2025-03-04 16:55 UTC`.
pub fn format_utc_minutes(ms: i64) -> String {
    let time = jiff::Timestamp::from_millisecond(ms).unwrap_or_default();
    time.strftime("%Y-%m-%d %H:%M UTC").to_string()
}
