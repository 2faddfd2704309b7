//! **Pure.** Number of concurrent requests that a provider accepts: grows on success, shrinks when
//! the provider reports too many requests. Owns the counting; has no clock (milliseconds are an
//! argument) and blocks nothing.
use std::time::Duration;

/// Bounds of the limit, and its start value.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct Bounds {
    /// Start value.
    pub start: u32,
    /// Minimum.
    pub min: u32,
    /// Maximum.
    pub max: u32,
}

impl Default for Bounds {
    fn default() -> Self {
        Self { start: 20, min: 1, max: 100 }
    }
}

/// Outcome of a request, for the pace.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Outcome {
    /// Succeeded at the first attempt.
    Good,
    /// Too many requests; with the wait that the provider asked for.
    TooMany(Option<Duration>),
    /// Anything else: it succeeded after a retry, failed for another reason, or was cancelled.
    Neutral,
}

/// After too many requests, outcomes are ignored for this time: requests in flight at the time
/// fail, too, which is no new information.
const COOLDOWN: Duration = Duration::from_secs(15);
/// Minimum number of successful requests in a round.
const SMALLEST_ROUND: u32 = 4;

/// Adaptive limit on concurrent requests to one provider.
#[derive(Debug, Clone)]
pub struct Pace {
    bounds: Bounds,
    limit: u32,
    in_flight: u32,
    /// Maximum number of concurrent requests in this round.
    peak: u32,
    /// Successful requests in this round.
    good: u32,
    /// True until the first time of too many requests; a round then doubles the limit.
    doubling: bool,
    /// Outcomes are ignored before this time.
    calm_from: u64,
}

impl Pace {
    /// Creates a pace within bounds; contradictory bounds are corrected.
    pub fn new(bounds: Bounds) -> Self {
        let min = bounds.min.max(1);
        let max = bounds.max.max(min);
        let bounds = Bounds { start: bounds.start.clamp(min, max), min, max };
        Self {
            bounds,
            limit: bounds.start,
            in_flight: 0,
            peak: 0,
            good: 0,
            doubling: true,
            calm_from: 0,
        }
    }

    /// Returns the limit on concurrent requests.
    pub fn limit(&self) -> u32 {
        self.limit
    }

    /// Returns the number of requests in flight.
    pub fn in_flight(&self) -> u32 {
        self.in_flight
    }

    /// Counts the start of a request.
    pub fn began(&mut self) {
        self.in_flight += 1;
        self.peak = self.peak.max(self.in_flight);
    }

    /// Counts the end of a request and adapts the limit.
    pub fn ended(&mut self, outcome: Outcome, now_ms: u64) {
        self.in_flight = self.in_flight.saturating_sub(1);
        match outcome {
            Outcome::TooMany(asked) => self.too_many(asked, now_ms),
            Outcome::Good if now_ms >= self.calm_from => self.good_one(),
            Outcome::Good | Outcome::Neutral => {}
        }
    }

    fn too_many(&mut self, asked: Option<Duration>, now_ms: u64) {
        let rest =
            u64::try_from(asked.unwrap_or_default().max(COOLDOWN).as_millis()).unwrap_or(u64::MAX);
        if now_ms >= self.calm_from {
            self.limit = (self.limit - self.limit.div_ceil(5)).max(self.bounds.min);
            self.doubling = false;
        } else if asked.is_none_or(|asked| asked <= COOLDOWN) {
            // Part of the same episode, without new information.
            return;
        }
        self.calm_from = self.calm_from.max(now_ms.saturating_add(rest));
        self.new_round();
    }

    fn good_one(&mut self) {
        self.good += 1;
        if self.good < self.limit.max(SMALLEST_ROUND) {
            return;
        }
        // If the limit was not nearly reached, it was not tested, and a higher one is not
        // justified.
        if u64::from(self.peak) * 5 >= u64::from(self.limit) * 4 {
            let more = if self.doubling { self.limit } else { (self.limit / 20).max(1) };
            self.limit = self.limit.saturating_add(more).min(self.bounds.max);
        }
        self.new_round();
    }

    fn new_round(&mut self) {
        self.good = 0;
        self.peak = self.in_flight;
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use proptest::prelude::*;

    /// Plays a whole round at full use.
    fn round(pace: &mut Pace, now_ms: u64) {
        let size = pace.limit().max(SMALLEST_ROUND);
        let at_once = pace.limit();
        for _ in 0..at_once {
            pace.began();
        }
        for done in 0..size {
            pace.ended(Outcome::Good, now_ms);
            if done + at_once < size {
                pace.began();
            }
        }
    }

    fn fails(pace: &mut Pace, asked: Option<u64>, now_ms: u64) {
        pace.began();
        pace.ended(Outcome::TooMany(asked.map(Duration::from_secs)), now_ms);
    }

    #[test]
    fn it_begins_at_twenty_and_doubles_up_to_a_hundred() {
        let mut pace = Pace::new(Bounds::default());
        let limits: Vec<u32> = (0..5)
            .map(|_| {
                let limit = pace.limit();
                round(&mut pace, 0);
                limit
            })
            .collect();
        assert_eq!(limits, [20, 40, 80, 100, 100]);
        assert_eq!(pace.in_flight(), 0);
    }

    #[test]
    fn after_too_many_it_falls_by_a_fifth_and_grows_by_a_twentieth() {
        let mut pace = Pace::new(Bounds { start: 100, ..Bounds::default() });
        fails(&mut pace, None, 0);
        assert_eq!(pace.limit(), 80);
        for expected in [84, 88, 92] {
            round(&mut pace, 15_000);
            assert_eq!(pace.limit(), expected);
        }
    }

    #[test]
    fn many_failures_at_once_are_one_episode() {
        let mut pace = Pace::new(Bounds::default());
        for at in [0, 10, 14_999] {
            fails(&mut pace, None, at);
            assert_eq!(pace.limit(), 16);
        }
        fails(&mut pace, None, 15_000);
        assert_eq!(pace.limit(), 12);
    }

    #[test]
    fn the_rest_lasts_as_long_as_the_provider_asks_and_a_longer_wish_extends_it() {
        let mut pace = Pace::new(Bounds::default());
        fails(&mut pace, Some(20), 0);
        fails(&mut pace, None, 16_000);
        assert_eq!(pace.limit(), 16);
        fails(&mut pace, Some(40), 16_000);
        fails(&mut pace, None, 55_999);
        assert_eq!(pace.limit(), 16);
        fails(&mut pace, None, 56_000);
        assert_eq!(pace.limit(), 12);
    }

    #[test]
    fn successes_during_the_rest_count_for_nothing() {
        let mut pace = Pace::new(Bounds::default());
        fails(&mut pace, None, 0);
        for _ in 0..10 {
            round(&mut pace, 14_999);
        }
        assert_eq!(pace.limit(), 16);
        round(&mut pace, 15_000);
        assert_eq!(pace.limit(), 17);
    }

    #[test]
    fn it_does_not_grow_while_it_is_not_used() {
        let mut pace = Pace::new(Bounds::default());
        for _ in 0..1000 {
            pace.began();
            pace.ended(Outcome::Good, 0);
        }
        assert_eq!(pace.limit(), 20);
        // Four fifths are enough.
        for used in [15, 16] {
            for _ in 0..used {
                pace.began();
            }
            for _ in 0..20 {
                pace.ended(Outcome::Good, 0);
                pace.began();
            }
            for _ in 0..used {
                pace.ended(Outcome::Neutral, 0);
            }
            assert_eq!(pace.limit(), if used == 15 { 20 } else { 40 });
        }
    }

    #[test]
    fn other_failures_and_successes_of_a_later_attempt_change_nothing() {
        let mut pace = Pace::new(Bounds::default());
        for _ in 0..1000 {
            for _ in 0..20 {
                pace.began();
            }
            for _ in 0..20 {
                pace.ended(Outcome::Neutral, 0);
            }
        }
        assert_eq!((pace.limit(), pace.in_flight()), (20, 0));
    }

    #[test]
    fn one_at_a_time_is_the_least_and_a_small_limit_still_grows() {
        let mut pace = Pace::new(Bounds { start: 2, ..Bounds::default() });
        for episode in 0..5 {
            fails(&mut pace, None, episode * 15_000);
        }
        assert_eq!(pace.limit(), 1);
        round(&mut pace, 75_000);
        assert_eq!(pace.limit(), 2);
    }

    #[test]
    fn bounds_that_contradict_each_other_are_put_right() {
        let pace = Pace::new(Bounds { start: 0, min: 0, max: 0 });
        assert_eq!(pace.limit(), 1);
        assert_eq!(Pace::new(Bounds { start: 500, min: 3, max: 7 }).limit(), 7);
    }

    #[derive(Debug, Clone)]
    enum Event {
        Begin,
        End(u8, Option<u64>),
        Later(u64),
    }

    proptest! {
        #[test]
        fn the_limit_stays_within_bounds_and_only_draining_is_above_it(
            start in 0u32..200, min in 0u32..20, max in 0u32..200,
            events in proptest::collection::vec(prop_oneof![
                6 => Just(Event::Begin),
                6 => (0u8..4, proptest::option::of(0u64..100)).prop_map(|(how, asked)| Event::End(how, asked)),
                1 => (0u64..20_000).prop_map(Event::Later),
            ], 0..400),
        ) {
            let mut pace = Pace::new(Bounds { start, min, max });
            let (mut now, mut allowed) = (0, 0);
            for event in events {
                match event {
                    Event::Begin if pace.in_flight() < pace.limit() => pace.began(),
                    Event::End(how, asked) if pace.in_flight() > 0 => pace.ended(match how {
                        0 | 1 => Outcome::Good,
                        2 => Outcome::TooMany(asked.map(Duration::from_secs)),
                        _ => Outcome::Neutral,
                    }, now),
                    Event::Later(more) => now += more,
                    Event::Begin | Event::End(..) => {}
                }
                // Requests above the limit were started under a higher one, and only ever decrease.
                allowed = pace.limit().max(allowed.min(pace.in_flight()));
                prop_assert!(pace.in_flight() <= allowed);
                prop_assert!(pace.limit() >= min.max(1) && pace.limit() <= max.max(min).max(1));
            }
        }
    }
}
