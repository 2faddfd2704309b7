//! The clock: when it is now, in the units of the rows. The only place that asks it for a date.
use std::time::{Instant, SystemTime, UNIX_EPOCH};

/// Nanoseconds that the clock is ahead of that of the system: tests let it jump. Nothing of it is
/// in a release build.
#[cfg(debug_assertions)]
static AHEAD_NS: std::sync::atomic::AtomicI64 = std::sync::atomic::AtomicI64::new(0);

/// Lets the clock of this process jump, as it does when somebody sets it or the machine was asleep.
#[cfg(debug_assertions)]
pub fn jump(ms: i64) {
    AHEAD_NS.fetch_add(ms * 1_000_000, std::sync::atomic::Ordering::SeqCst);
}

/// Milliseconds since 1970.
pub fn now_ms() -> i64 {
    now_ns().div_euclid(1_000_000)
}

/// Nanoseconds since 1970.
pub fn now_ns() -> i64 {
    let since = SystemTime::now().duration_since(UNIX_EPOCH).unwrap_or_default();
    let ns = i64::try_from(since.as_nanos()).unwrap_or(i64::MAX);
    #[cfg(debug_assertions)]
    let ns = ns.saturating_add(AHEAD_NS.load(std::sync::atomic::Ordering::SeqCst));
    ns
}

/// Now, as a point in time.
pub fn now() -> jiff::Timestamp {
    jiff::Timestamp::from_nanosecond(now_ns().into()).unwrap_or_default()
}

/// Whether a later change of a file that was changed then is sure to bear another date. File
/// systems that keep whole seconds need more time for that. A date that lies ahead is as far from
/// now as one that is past.
pub fn is_settled(changed_ns: i64, now_ns: i64) -> bool {
    let grain = if changed_ns % 1_000_000_000 == 0 { 2_000_000_000_u64 } else { 50_000_000 };
    now_ns.abs_diff(changed_ns) > grain
}

/// A clock that never jumps: the date it was started at and what went by since, for whatever is
/// measured.
#[derive(Debug, Clone, Copy)]
pub struct Steady {
    started: Instant,
    started_ms: i64,
}

impl Steady {
    /// Starts it.
    pub fn start() -> Self {
        Self { started: Instant::now(), started_ms: now_ms() }
    }

    /// Milliseconds since 1970.
    pub fn now_ms(self) -> i64 {
        self.started_ms
            .saturating_add(i64::try_from(self.started.elapsed().as_millis()).unwrap_or(i64::MAX))
    }
}

/// A time as people and files write it, in UTC: `2025-03-04T16:55:39.000Z`.
pub fn written(ms: i64) -> String {
    jiff::Timestamp::from_millisecond(ms)
        .map_or_else(|_| String::new(), |time| format!("{time:.3}"))
}

/// The same as programs of Python write it by hand: `2025-03-04 16:55:39`.
pub fn to_the_second(ms: i64) -> String {
    let time = jiff::Timestamp::from_millisecond(ms).unwrap_or_default();
    time.strftime("%Y-%m-%d %H:%M:%S").to_string()
}

/// The same for people, to the minute: `2025-03-04 16:55 UTC`.
pub fn to_the_minute(ms: i64) -> String {
    let time = jiff::Timestamp::from_millisecond(ms).unwrap_or_default();
    time.strftime("%Y-%m-%d %H:%M UTC").to_string()
}
