//! **Pure.** Decision after an attempt: retry after a wait, or stop. Implements the rules of the
//! providers' own libraries; has no clock, no random source and no connection.
//!
//! Both libraries agree on nearly everything. They differ in the longest wait that they accept from
//! a provider, and in their reaction beyond that: one falls back to its own waits, the other gives
//! up, regardless of the rest of the reply.
use crate::provider::FaultKind;
use crate::spec::Provider;
use jiff::fmt::{rfc2822, strtime};
use jiff::{Timestamp, tz::TimeZone};
use std::time::Duration;

/// Retry rules.
#[derive(Debug, Clone, Copy, PartialEq)]
pub struct Rules {
    /// Attempts after the first.
    pub retries: u32,
    /// Longest accepted wait that a provider may ask for.
    pub longest_asked: Duration,
    /// Reaction if it asks for more.
    pub beyond: Beyond,
    /// First wait of our own; doubles with each attempt.
    pub first_wait: Duration,
    /// Longest wait of our own.
    pub longest_wait: Duration,
    /// Total time after which there are no retries.
    pub patience: Duration,
    /// Interval between attempts to store a reply while the disk is full.
    pub full_disk: Duration,
}

/// Reaction to a provider that asks for a longer wait than accepted.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Beyond {
    /// Ignore it and use the ordinary wait.
    BackOff,
    /// Stop retrying.
    Stop,
}

impl Rules {
    /// Returns the rules of the provider's own library.
    pub fn for_provider(provider: Provider) -> Self {
        let (longest_asked, beyond) = match provider {
            Provider::Anthropic => (60, Beyond::BackOff),
            Provider::OpenAi | Provider::Replay => (120, Beyond::Stop),
        };
        Self {
            retries: 2,
            longest_asked: Duration::from_secs(longest_asked),
            beyond,
            first_wait: Duration::from_millis(500),
            longest_wait: Duration::from_secs(8),
            patience: Duration::from_mins(30),
            full_disk: Duration::from_secs(5),
        }
    }
}

/// End of an attempt without a usable reply.
#[derive(Debug, Clone, Copy, PartialEq)]
pub enum AttemptEnd<'a> {
    /// A complete but unusable reply arrived.
    Replied {
        /// Status.
        status: u16,
        /// Headers, names in lower case.
        headers: &'a [(String, String)],
        /// Judgement of the reply.
        fault: FaultKind,
    },
    /// The connection failed, or broke before the reply began.
    Broken,
    /// The request timed out.
    TimedOut,
    /// The reply ended too early.
    Truncated,
}

/// Circumstances of the decision.
#[derive(Debug, Clone, Copy, PartialEq)]
pub struct Moment {
    /// Wall clock time: some providers name a time of day.
    pub now: Timestamp,
    /// Random number from 0 to 1: spreads the retries of requests that failed together.
    pub random: f64,
    /// Time since the first attempt began.
    pub spent: Duration,
}

/// Decision after an attempt.
#[derive(Debug, Clone, PartialEq)]
pub enum Decision {
    /// Send the same request again.
    Again {
        /// Wait before the retry.
        wait: Duration,
        /// Event that caused it, as a sentence.
        why: String,
    },
    /// Stop retrying.
    Stop {
        /// Event and reason, as sentences.
        why: String,
    },
}

/// Decides the next step after attempt number `attempt`, counted from 1.
pub fn next(rules: &Rules, attempt: u32, end: &AttemptEnd<'_>, moment: &Moment) -> Decision {
    let happened = end.sentence();
    let stop = |because: String| Decision::Stop { why: format!("{happened} {because}") };
    let asked = end.requested_wait(moment.now);
    if let Some(because) = end.forbids(rules, asked) {
        return stop(because);
    }
    if attempt > rules.retries {
        let times = if attempt == 1 { "once".to_owned() } else { format!("{attempt} times") };
        return stop(format!("It was asked {times}, the limit of the settings."));
    }
    let wait = accepted(rules, asked).unwrap_or_else(|| own_wait(rules, attempt, moment.random));
    if moment.spent + wait > rules.patience {
        return stop(format!(
            "No further attempt fits into {} minutes.",
            rules.patience.as_secs() / 60
        ));
    }
    Decision::Again { wait, why: happened }
}

impl AttemptEnd<'_> {
    fn header(&self, name: &str) -> Option<&str> {
        let Self::Replied { headers, .. } = self else { return None };
        headers.iter().find(|(known, _)| known == name).map(|(_, value)| value.as_str())
    }

    fn requested_wait(&self, now: Timestamp) -> Option<f64> {
        let Self::Replied { headers, .. } = self else { return None };
        parse_retry_after(headers, now)
    }

    /// Returns the reason a retry is ruled out, regardless of the number of attempts.
    fn forbids(&self, rules: &Rules, asked: Option<f64>) -> Option<String> {
        let Self::Replied { fault, status, .. } = self else { return None };
        if matches!(fault, FaultKind::Exhausted | FaultKind::Key) {
            return Some("A retry cannot help.".to_owned());
        }
        if rules.beyond == Beyond::Stop
            && let Some(seconds) =
                asked.filter(|wait| wait.is_finite() && *wait > rules.longest_asked.as_secs_f64())
        {
            let most = rules.longest_asked.as_secs();
            let seconds =
                if seconds < 1e9 { format!("{seconds:.0} s") } else { "almost forever".to_owned() };
            return Some(format!("The provider asks to wait {seconds}; the limit is {most} s."));
        }
        match self.header("x-should-retry") {
            // Only failures can be worth a retry: on a success status the header refers to
            // something else.
            Some("true") if *status >= 400 => None,
            Some("false") => Some("The provider says not to retry.".to_owned()),
            _ if *fault == FaultKind::Refused => {
                Some("The same request would get the same reply.".to_owned())
            }
            _ => None,
        }
    }

    fn sentence(&self) -> String {
        match self {
            Self::Replied { status: 429, .. } => "Too many requests (status 429).".to_owned(),
            Self::Replied { status: 529, .. } => {
                "The provider is overloaded (status 529).".to_owned()
            }
            Self::Replied { status, fault: FaultKind::Truncated, .. } => {
                format!("The reply ended too early (status {status}).")
            }
            Self::Replied { status, .. } => {
                format!("The provider replied with an error (status {status}).")
            }
            Self::Broken => "The connection failed.".to_owned(),
            Self::TimedOut => "No reply came in time.".to_owned(),
            Self::Truncated => "The reply ended too early.".to_owned(),
        }
    }
}

/// Returns the wait that a provider asked for, if it is acceptable.
fn accepted(rules: &Rules, asked: Option<f64>) -> Option<Duration> {
    let seconds =
        asked.filter(|seconds| *seconds > 0.0 && *seconds <= rules.longest_asked.as_secs_f64())?;
    Duration::try_from_secs_f64(seconds).ok()
}

/// Returns our own wait after an attempt: doubling up to the longest, reduced at random by up to a
/// quarter.
fn own_wait(rules: &Rules, attempt: u32, random: f64) -> Duration {
    let doublings = i32::try_from(attempt.saturating_sub(1).min(1000)).unwrap_or(1000);
    let seconds = (rules.first_wait.as_secs_f64() * 2f64.powi(doublings))
        .min(rules.longest_wait.as_secs_f64());
    Duration::try_from_secs_f64(seconds * (1.0 - 0.25 * random.clamp(0.0, 1.0)))
        .unwrap_or(rules.longest_wait)
}

/// Returns the seconds that a reply asks to wait: `retry-after-ms`, then `retry-after` as a number,
/// then as a date. The value may be negative, infinite or not a number, exactly like the provider
/// wrote it; a number too large to represent counts as a very large one.
pub fn parse_retry_after(headers: &[(String, String)], now: Timestamp) -> Option<f64> {
    let header =
        |name: &str| headers.iter().find(|(known, _)| known == name).map(|(_, value)| value.trim());
    let number = |name: &str, unit: f64| header(name).and_then(number).map(|found| found / unit);
    number("retry-after-ms", 1000.0).or_else(|| number("retry-after", 1.0)).or_else(|| {
        let then = date(header("retry-after")?)?;
        Some(then.duration_since(now).as_secs_f64())
    })
}

fn number(text: &str) -> Option<f64> {
    let found: f64 = text.parse().ok()?;
    let overflow = found.is_infinite() && text.contains(|c: char| c.is_ascii_digit());
    Some(if overflow { f64::MAX.copysign(found) } else { found })
}

/// Parses the three date formats of HTTP. The weekday is ignored, because it is redundant.
fn date(text: &str) -> Option<Timestamp> {
    let parser = rfc2822::DateTimeParser::new().relaxed_weekday(true);
    parser.parse_timestamp(text).ok().or_else(|| {
        ["%A, %d-%b-%y %H:%M:%S GMT", "%a %b %e %H:%M:%S %Y"].iter().find_map(|form| {
            let civil = strtime::parse(form, text).ok()?.to_datetime().ok()?;
            Some(civil.to_zoned(TimeZone::UTC).ok()?.timestamp())
        })
    })
}

#[cfg(test)]
mod tests {
    use super::*;
    use proptest::prelude::*;

    /// Fri, 29 Sep 2023 16:26:37 GMT.
    const NOW: i64 = 1_696_004_797;

    fn moment() -> Moment {
        Moment { now: Timestamp::from_second(NOW).unwrap(), random: 0.0, spent: Duration::ZERO }
    }

    fn after(
        provider: Provider,
        attempt: u32,
        status: u16,
        headers: &[(&str, &str)],
        fault: FaultKind,
    ) -> Decision {
        let headers: Vec<(String, String)> =
            headers.iter().map(|(name, value)| ((*name).to_owned(), (*value).to_owned())).collect();
        let rules = Rules { retries: 3, ..Rules::for_provider(provider) };
        next(&rules, attempt, &AttemptEnd::Replied { status, headers: &headers, fault }, &moment())
    }

    /// Returns the seconds until the next attempt; `None` if there is none.
    fn wait(decision: &Decision) -> Option<f64> {
        match decision {
            Decision::Again { wait, .. } => Some(wait.as_secs_f64()),
            Decision::Stop { .. } => None,
        }
    }

    #[test]
    fn a_wait_is_read_as_the_providers_own_libraries_read_it() {
        let stop = None;
        // Value of `retry-after`, wait with the one provider, wait with the other.
        let cases = [
            ("20", Some(20.0), Some(20.0)),
            ("0", Some(0.5), Some(0.5)),
            ("-10", Some(0.5), Some(0.5)),
            ("0.25", Some(0.25), Some(0.25)),
            (" 5 ", Some(5.0), Some(5.0)),
            ("60", Some(60.0), Some(60.0)),
            ("61", Some(0.5), Some(61.0)),
            ("120", Some(0.5), Some(120.0)),
            ("121", Some(0.5), stop),
            ("inf", Some(0.5), Some(0.5)),
            ("+Infinity", Some(0.5), Some(0.5)),
            ("-inf", Some(0.5), Some(0.5)),
            ("nan", Some(0.5), Some(0.5)),
            ("1e34", Some(0.5), stop),
            ("99999999999999999999999999999999999", Some(0.5), stop),
            ("1e400", Some(0.5), stop),
            ("-1e400", Some(0.5), Some(0.5)),
            ("", Some(0.5), Some(0.5)),
            ("soon", Some(0.5), Some(0.5)),
            ("Fri, 29 Sep 2023 16:26:57 GMT", Some(20.0), Some(20.0)),
            ("Fri, 29 Sep 2023 16:26:37 GMT", Some(0.5), Some(0.5)),
            ("Fri, 29 Sep 2023 16:26:27 GMT", Some(0.5), Some(0.5)),
            ("Fri, 29 Sep 2023 16:27:37 GMT", Some(60.0), Some(60.0)),
            ("Fri, 29 Sep 2023 16:27:38 GMT", Some(0.5), Some(61.0)),
            ("Fri, 29 Sep 2023 16:28:38 GMT", Some(0.5), stop),
            ("Zun, 29 Sep 2023 16:26:27 GMT", Some(0.5), Some(0.5)),
            ("Fri, 29 Sep 100000 16:26:57 GMT", Some(0.5), Some(0.5)),
            ("Fri, 99 Sep 2023 16:26:57 GMT", Some(0.5), Some(0.5)),
            ("Fri, 29 Sep 2023 18:26:57 +0200", Some(20.0), Some(20.0)),
            ("Friday, 29-Sep-23 16:26:57 GMT", Some(20.0), Some(20.0)),
            ("Fri Sep 29 16:26:57 2023", Some(20.0), Some(20.0)),
        ];
        for (said, anthropic, openai) in cases {
            for (provider, expected) in
                [(Provider::Anthropic, anthropic), (Provider::OpenAi, openai)]
            {
                let decision =
                    after(provider, 1, 429, &[("retry-after", said)], FaultKind::Passing);
                assert_eq!(wait(&decision), expected, "{said:?} {provider:?}: {decision:?}");
            }
        }
    }

    #[test]
    fn milliseconds_come_before_seconds_and_what_is_no_number_is_passed_over() {
        let cases: [(&[(&str, &str)], f64); 5] = [
            (&[("retry-after-ms", "1500"), ("retry-after", "7")], 1.5),
            (&[("retry-after-ms", "0.5"), ("retry-after", "7")], 0.0005),
            (&[("retry-after-ms", "soon"), ("retry-after", "7")], 7.0),
            (&[("retry-after-ms", "nan"), ("retry-after", "7")], 0.5),
            (&[("retry-after-ms", "-1"), ("retry-after", "7")], 0.5),
        ];
        for (headers, expected) in cases {
            for provider in [Provider::Anthropic, Provider::OpenAi] {
                let decision = after(provider, 1, 503, headers, FaultKind::Passing);
                assert_eq!(wait(&decision), Some(expected), "{headers:?} {provider:?}");
            }
        }
    }

    #[test]
    fn without_a_word_of_the_provider_waits_double_up_to_eight_seconds_and_chance_takes_a_quarter_at_most()
     {
        let rules = Rules { retries: u32::MAX - 1, ..Rules::for_provider(Provider::OpenAi) };
        let at = |attempt, random| {
            wait(&next(&rules, attempt, &AttemptEnd::Broken, &Moment { random, ..moment() }))
        };
        let waits: Vec<_> = [1, 2, 3, 4, 5, 6, 1100, u32::MAX - 1]
            .into_iter()
            .map(|n| at(n, 0.0).unwrap())
            .collect();
        assert_eq!(waits, [0.5, 1.0, 2.0, 4.0, 8.0, 8.0, 8.0, 8.0]);
        assert_eq!(at(1, 1.0), Some(0.375));
        assert_eq!(at(5, 1.0), Some(6.0));
    }

    #[test]
    fn the_word_of_the_provider_wins_over_status_but_never_over_an_empty_purse_or_a_wrong_key() {
        use FaultKind::{Exhausted, Key, Passing, Refused, Truncated};
        let none: &[(&str, &str)] = &[];
        let yes = &[("x-should-retry", "true")][..];
        let no = &[("x-should-retry", "false")][..];
        let odd = &[("x-should-retry", "TRUE")][..];
        let cases = [
            (408, none, Passing, true),
            (409, none, Passing, true),
            (429, none, Passing, true),
            (500, none, Passing, true),
            (529, none, Passing, true),
            (200, none, Passing, true),
            (200, none, Truncated, true),
            (400, none, Refused, false),
            (400, odd, Refused, false),
            (400, yes, Refused, true),
            (200, yes, Refused, false),
            (500, no, Passing, false),
            (429, none, Exhausted, false),
            (429, yes, Exhausted, false),
            (401, none, Key, false),
            (401, yes, Key, false),
        ];
        for (status, headers, fault, again) in cases {
            for provider in [Provider::Anthropic, Provider::OpenAi] {
                let decision = after(provider, 1, status, headers, fault);
                assert_eq!(
                    wait(&decision).is_some(),
                    again,
                    "{status} {headers:?} {fault:?}: {decision:?}"
                );
            }
        }
    }

    #[test]
    fn a_wait_beyond_the_longest_is_looked_at_before_the_word_of_the_provider_where_it_stops() {
        let headers = [("retry-after", "121"), ("x-should-retry", "true")];
        assert_eq!(wait(&after(Provider::OpenAi, 1, 429, &headers, FaultKind::Passing)), None);
        assert_eq!(
            wait(&after(Provider::Anthropic, 1, 429, &headers, FaultKind::Passing)),
            Some(0.5)
        );
    }

    #[test]
    fn two_retries_are_the_default_and_half_an_hour_is_the_end() {
        for provider in [Provider::Anthropic, Provider::OpenAi, Provider::Replay] {
            let rules = Rules::for_provider(provider);
            for end in [AttemptEnd::Broken, AttemptEnd::TimedOut, AttemptEnd::Truncated] {
                let again = |attempt, spent| {
                    wait(&next(&rules, attempt, &end, &Moment { spent, ..moment() })).is_some()
                };
                assert_eq!(
                    [1, 2, 3].map(|attempt| again(attempt, Duration::ZERO)),
                    [true, true, false]
                );
                assert!(again(1, Duration::from_millis(1_799_500)));
                assert!(!again(1, Duration::from_millis(1_799_501)));
            }
        }
    }

    #[test]
    fn retry_decisions_are_explained_in_sentences() {
        let Decision::Stop { why } =
            after(Provider::OpenAi, 1, 429, &[("retry-after", "600")], FaultKind::Passing)
        else {
            panic!("it goes on")
        };
        insta::assert_snapshot!(why, @"Too many requests (status 429). The provider asks to wait 600 s; the limit is 120 s.");
        let Decision::Stop { why } =
            next(&Rules::for_provider(Provider::OpenAi), 3, &AttemptEnd::Broken, &moment())
        else {
            panic!("it goes on")
        };
        insta::assert_snapshot!(why, @"The connection failed. It was asked 3 times, the limit of the settings.");
        let Decision::Again { why, .. } =
            after(Provider::Anthropic, 1, 529, &[], FaultKind::Passing)
        else {
            panic!("it stops")
        };
        insta::assert_snapshot!(why, @"The provider is overloaded (status 529).");
    }

    proptest! {
        #[test]
        fn no_provider_reply_makes_a_wait_longer_than_allowed(
            said in "\\PC{0,40}",
            ms in proptest::option::of("[-+0-9.einfa]{0,12}"),
            random in 0.0..1.0,
            attempt in 1u32..5
            ) {
            let mut headers = vec![("retry-after".to_owned(), said)];
            headers.extend(ms.map(|ms| ("retry-after-ms".to_owned(), ms)));
            for provider in [Provider::Anthropic, Provider::OpenAi] {
                let rules = Rules::for_provider(provider);
                let end = AttemptEnd::Replied { status: 429, headers: &headers, fault: FaultKind::Passing };
                match next(&rules, attempt, &end, &Moment { random, ..moment() }) {
                    Decision::Again { wait, .. } => {
                        prop_assert!(attempt <= 2 && !wait.is_zero() && wait <= rules.longest_asked);
                    }
                    Decision::Stop { why } => prop_assert!(!why.is_empty()),
                }
            }
        }
    }
}
