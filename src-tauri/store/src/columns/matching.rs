//! Decides which runs pass a filter, as `filter::condition` does in SQL. Text, questions about
//! steps and labels are decided elsewhere.
use super::group::{Group, Int, Real, Text, WORDS};
use super::{Columns, padded};
use crate::filter::{
    Ask, Comparison, Filter, FilterValue, Key, Pattern, asks_for_others, is_column_token,
    json_inside, state_name,
};
use crate::run_set::RunSet;
use std::cmp::Ordering;
use touchstone_api::RunState;

/// Decides a value of a filter for the runs of a group.
enum Test {
    /// Whether each text of a column passes, and no text.
    Texts(Text, Vec<bool>, bool),
    Int(Int, Box<dyn Fn(i64) -> bool>),
    Real(Real, Box<dyn Fn(f64) -> bool>),
    Path(Pattern),
    File(Pattern),
    /// Start, or the last change of the file, as year, month and day.
    Date(Comparison, [i64; 3], usize),
    Never,
}

impl Columns {
    /// Returns the runs that pass all but texts, questions about steps, and labels. `None` when the
    /// filter has a condition that no column decides.
    pub(crate) fn matching(&self, filter: &Filter) -> Option<RunSet> {
        if filter.invalid {
            return Some(RunSet::default());
        }
        let mut set = self.present();
        if !asks_for_others(filter) {
            let others = i64::from(RunState::Other as u8);
            set.keep(&self.passing(&[int(Int::StateOrder, move |state| state < others)]), false);
        }
        for token in filter.tokens.iter().filter(|token| is_column_token(token)) {
            let Ask::Value(key, values) = &token.ask else { continue };
            let tests: Option<Vec<Vec<Test>>> =
                values.iter().map(|value| self.tests(*key, value)).collect();
            set.keep(
                &self.passing(&tests?.into_iter().flatten().collect::<Vec<_>>()),
                token.negated,
            );
        }
        Some(set)
    }

    /// Returns the runs that pass one of the tests.
    fn passing(&self, tests: &[Test]) -> RunSet {
        self.set(|group, bits| tests.iter().for_each(|test| test.mark(group, bits)))
    }

    /// Returns the tests of a value, of which one must pass. `None` when no column decides it.
    fn tests(&self, key: Key, value: &FilterValue) -> Option<Vec<Test>> {
        Some(vec![match value {
            FilterValue::Like(pattern) => return self.like(key, pattern),
            FilterValue::State(state) => self.is(Text::State, state_name(*state)),
            FilterValue::Word(word) => match (key, *word) {
                (Key::Review, "yes") => int(Int::Reviewed, |one| one != 0),
                (Key::Review, "no") => int(Int::Reviewed, |one| one == 0),
                (Key::Review, word) => self.is(Text::Verdict, word),
                (Key::Class, word) => self.is(Text::Class, word),
                (Key::Scoring, word) => self.is(Text::Scoring, word),
                _ => return None,
            },
            FilterValue::Flag(yes) => return self.flag(key, *yes).map(|test| vec![test]),
            FilterValue::Number(by, number) => return number_test(key, *by, *number),
            FilterValue::Date(by, date) => date_test(*by, date)?,
            FilterValue::Stored(..) => return None,
            FilterValue::Holds(_) | FilterValue::Label(..) | FilterValue::Own(..) => Test::Never,
        }])
    }

    fn texts(&self, of: Text, passes: impl Fn(&str) -> bool) -> Test {
        let texts = self.names[of as usize].all();
        Test::Texts(of, texts.iter().map(|text| passes(text)).collect(), false)
    }

    fn is(&self, of: Text, word: &str) -> Test {
        self.texts(of, |text| text == word)
    }

    fn flag(&self, key: Key, yes: bool) -> Option<Test> {
        let has = |of: Int| int(of, move |one| (one != 0) == yes);
        let more = |of: Int| int(of, move |one| if yes { one > 0 } else { one == 0 });
        let none_passes = |test: Test, none: bool| match test {
            Test::Texts(of, texts, _) => Test::Texts(of, texts, none),
            test => test,
        };
        Some(match key {
            Key::Passed => has(Int::Passed),
            Key::Answer => has(Int::HasAnswer),
            Key::Nudged => more(Int::Nudges),
            Key::Failed => more(Int::FailedCalls),
            Key::Forked => none_passes(self.texts(Text::Lineage, |_| yes), !yes),
            Key::Superseded => {
                none_passes(self.texts(Text::Lineage, |one| (one == "superseded") == yes), !yes)
            }
            Key::Missing => {
                none_passes(self.texts(Text::MissingCalls, |one| (one != "[]") == yes), !yes)
            }
            _ => return None,
        })
    }

    fn like(&self, key: Key, pattern: &Pattern) -> Option<Vec<Test>> {
        // SQLite ends texts there.
        if pattern.0.iter().any(|piece| piece.contains('\0')) {
            return None;
        }
        let like =
            |of: Text, pattern: &Pattern| self.texts(of, |text| pattern.matches(c_text(text)));
        Some(vec![match key {
            Key::Task => like(Text::Task, pattern),
            Key::System => like(Text::System, pattern),
            Key::Model => like(Text::Model, pattern),
            Key::Scorer => like(Text::Scorer, pattern),
            Key::Format => like(Text::Layout, pattern),
            Key::Commit => like(Text::Commit, pattern),
            Key::Tool => like(Text::Tools, &within(pattern, "\n", str::to_owned)),
            Key::Missing => like(Text::MissingCalls, &within(pattern, "\"", json_inside)),
            Key::Tag => {
                let within = within(pattern, "\n", str::to_owned);
                return Some(vec![like(Text::Tags, &within), like(Text::SuiteTags, &within)]);
            }
            Key::Variation => {
                let number = numbers_like(pattern.clone());
                return Some(vec![number, like(Text::VariationName, pattern)]);
            }
            Key::Path if pattern.0.len() == 1 => {
                Test::Path(Pattern(vec![String::new(), pattern.0[0].clone(), String::new()]))
            }
            Key::Path => Test::Path(pattern.clone()),
            Key::File => Test::File(pattern.clone()),
            _ => return None,
        }])
    }
}

impl Test {
    /// Sets the bits of the runs that pass.
    fn mark(&self, group: &Group, bits: &mut [u64]) {
        match self {
            Self::Never => {}
            Self::Texts(of, texts, none) => {
                if *none {
                    let mut missing = padded(group.present());
                    let mut has = [0; WORDS];
                    group.texts(*of).mark(&mut has, |_| true);
                    missing.iter_mut().zip(has).for_each(|(missing, has)| *missing &= !has);
                    bits.iter_mut().zip(missing).for_each(|(bits, missing)| *bits |= missing);
                }
                if texts.contains(&true) {
                    let passes = |code: i64| {
                        usize::try_from(code).ok().and_then(|code| texts.get(code)) == Some(&true)
                    };
                    group.texts(*of).mark(bits, passes);
                }
            }
            Self::Int(of, passes) => group.ints(*of).mark(bits, passes),
            Self::Real(of, passes) => group.reals(*of).mark(bits, passes),
            Self::Path(pattern) => mark(group, bits, |at| pattern.matches(c_text(group.path(at)))),
            Self::File(pattern) => mark(group, bits, |at| {
                let path = c_text(group.path(at));
                pattern.matches_exactly(file(path, group.ints(Int::MemberLength).get(at)))
                    || pattern.matches_exactly(path)
            }),
            Self::Date(by, date, parts) => mark(group, bits, |at| {
                let start = group.reals(Real::Started).get(at);
                #[expect(clippy::cast_precision_loss, reason = "as SQLite divides it")]
                let changed = || group.ints(Int::ModifiedMs).get(at).map(|ms| ms as f64 / 1000.0);
                let day = start.or_else(changed).and_then(day_of);
                day.is_some_and(|day| by.admits(day[..*parts].cmp(&date[..*parts])))
            }),
        }
    }
}

/// Sets the bits of the runs of a group that pass.
fn mark(group: &Group, bits: &mut [u64], passes: impl Fn(usize) -> bool) {
    for (word, (out, present)) in bits.iter_mut().zip(group.present()).enumerate() {
        for bit in (0..64).filter(|bit| present & (1 << bit) != 0) {
            *out |= u64::from(passes(word * 64 + bit)) << bit;
        }
    }
}

fn int(of: Int, passes: impl Fn(i64) -> bool + 'static) -> Test {
    Test::Int(of, Box::new(passes))
}

fn number_test(key: Key, by: Comparison, number: f64) -> Option<Vec<Test>> {
    let real = |of| Test::Real(of, Box::new(move |one| by.admits_real(one, number)));
    let whole = |of| int(of, move |one| by.admits(compare(one, number)));
    Some(vec![match key {
        Key::Score => real(Real::Score),
        Key::Cost => real(Real::Cost),
        Key::Seconds => real(Real::Seconds),
        Key::Repeat => whole(Int::Repeat),
        Key::Turns => whole(Int::Turns),
        Key::Calls => whole(Int::ToolCalls),
        Key::Steps => whole(Int::Steps),
        Key::Tokens => whole(Int::Tokens),
        Key::Size => whole(Int::Size),
        _ => return None,
    }])
}

/// Compares a whole number with another number exactly, as SQLite does.
fn compare(whole: i64, other: f64) -> Ordering {
    #[expect(clippy::cast_possible_truncation, reason = "infinite ones become the largest")]
    let floor = other.floor() as i128;
    let ordering = i128::from(whole).cmp(&floor);
    if ordering == Ordering::Equal && other.floor() < other { Ordering::Less } else { ordering }
}

impl Comparison {
    /// Returns true if a comparison with this outcome passes.
    fn admits(self, ordering: Ordering) -> bool {
        match self {
            Self::Less => ordering.is_lt(),
            Self::AtMost => ordering.is_le(),
            Self::Equal => ordering.is_eq(),
            Self::AtLeast => ordering.is_ge(),
            Self::More => ordering.is_gt(),
        }
    }

    fn admits_real(self, one: f64, other: f64) -> bool {
        one.partial_cmp(&other).is_some_and(|ordering| self.admits(ordering))
    }
}

/// Returns a test whether a number is like a text.
fn numbers_like(pattern: Pattern) -> Test {
    let known: Vec<bool> = (0..256).map(|number| pattern.matches(&number.to_string())).collect();
    int(Int::Variation, move |number| {
        let known = usize::try_from(number).ok().and_then(|number| known.get(number));
        known.copied().unwrap_or_else(|| pattern.matches(&number.to_string()))
    })
}

/// Returns the pattern of a list in which a text stands between two signs.
fn within(pattern: &Pattern, sign: &str, escape: impl Fn(&str) -> String) -> Pattern {
    let mut pieces: Vec<String> = pattern.0.iter().map(|piece| escape(piece)).collect();
    if let Some(first) = pieces.first_mut() {
        first.insert_str(0, sign);
    }
    if let Some(last) = pieces.last_mut() {
        last.push_str(sign);
    }
    pieces.insert(0, String::new());
    pieces.push(String::new());
    Pattern(pieces)
}

/// Returns a text as far as SQLite reads it in `LIKE`, `GLOB`, `length` and `substr`.
fn c_text(text: &str) -> &str {
    memchr::memchr(0, text.as_bytes()).map_or(text, |end| &text[..end])
}

/// Returns the path of the file of a run, with the number of characters of its name there.
fn file(path: &str, member: Option<i64>) -> &str {
    let Some(member) = member.and_then(|member| usize::try_from(member).ok()) else { return path };
    let end = path.char_indices().nth_back(member);
    end.map_or("", |(at, _)| &path[..at])
}

/// Returns the test of a date of one, two or three parts.
fn date_test(by: Comparison, date: &str) -> Option<Test> {
    let lengths: Vec<usize> = date.split('-').map(str::len).collect();
    let parts = [&[4][..], &[4, 2], &[4, 2, 2]].iter().position(|known| lengths == **known)? + 1;
    let mut day = [0; 3];
    for (part, digits) in day.iter_mut().zip(date.split('-')) {
        *part = digits.bytes().all(|byte| byte.is_ascii_digit()).then(|| digits.parse().ok())??;
    }
    Some(Test::Date(by, day, parts))
}

/// Returns the year, month and day of seconds since 1970, rounded to milliseconds first as SQLite does.
/// `None` beyond the years that it knows.
fn day_of(seconds: f64) -> Option<[i64; 3]> {
    /// Milliseconds of 1970 in Julian days.
    const EPOCH: f64 = 210_866_760_000_000.0;
    const END: f64 = 464_269_060_800_000.0;
    const DAY: i64 = 86_400_000;
    let since = seconds * 1000.0 + EPOCH;
    if !(0.0..END).contains(&since) {
        return None;
    }
    #[expect(clippy::cast_possible_truncation, reason = "in the range above")]
    let ms = (since + 0.5) as i64;
    // Days since 0000-03-01. Julian days begin at noon, 1,721,119.5 days earlier.
    let days = (ms + DAY / 2).div_euclid(DAY) - 1_721_120;
    let era = days.div_euclid(146_097);
    let of_era = days.rem_euclid(146_097);
    let year_of_era = (of_era - of_era / 1_460 + of_era / 36_524 - of_era / 146_096) / 365;
    let of_year = of_era - (365 * year_of_era + year_of_era / 4 - year_of_era / 100);
    let month = (5 * of_year + 2) / 153;
    let day = of_year - (153 * month + 2) / 5 + 1;
    let (year, month) = (year_of_era + era * 400, month + 3);
    let (year, month) = if month > 12 { (year + 1, month - 12) } else { (year, month) };
    // A year before 0 is written with a sign, which stands before all digits.
    Some([year.max(-1), month, day])
}

#[cfg(test)]
#[expect(clippy::cast_precision_loss, reason = "the numbers of days are small")]
mod tests {
    use super::*;
    use proptest::prelude::*;

    proptest! {
        #[test]
        fn days_are_those_of_sqlite(seconds in prop_oneof![
            -70_000_000_000.0_f64..260_000_000_000.0,
            1.7e9_f64..1.8e9,
            (-800_000_i64..3_000_000).prop_map(|days| days as f64 * 86_400.0 - 0.0005),
            (-700_000_i64..2_900_000).prop_map(|days| days as f64 * 86_400.0),
        ]) {
            let sql = rusqlite::Connection::open_in_memory().unwrap();
            let text: Option<String> = sql
                .query_row("SELECT substr(datetime(?, 'unixepoch'), 1, 10)", [seconds], |row| row.get(0))
                .unwrap();
            let own = day_of(seconds).map(|[year, month, day]| format!("{year:04}-{month:02}-{day:02}"));
            match (text, own) {
                (Some(text), Some(own)) if text.starts_with('-') => prop_assert!(own.starts_with('-')),
                (text, own) => prop_assert_eq!(text, own, "{}", seconds),
            }
        }

        #[test]
        fn whole_numbers_compare_as_in_sqlite(
            whole in prop_oneof![any::<i64>(), -9_i64..9, (1_i64 << 53) - 3..(1 << 53) + 3],
            other in prop_oneof![-9.0_f64..9.0, any::<f64>().prop_filter("a number", |n| !n.is_nan()),
                (-9_i64..9).prop_map(|n| n as f64), Just(9_007_199_254_740_993.0)],
        ) {
            let sql = rusqlite::Connection::open_in_memory().unwrap();
            let (less, same): (bool, bool) = sql
                .query_row("SELECT ?1 < ?2, ?1 = ?2", rusqlite::params![whole, other], |row| {
                    Ok((row.get(0)?, row.get(1)?))
                })
                .unwrap();
            let ordering = compare(whole, other);
            prop_assert_eq!((less, same), (ordering.is_lt(), ordering.is_eq()), "{} {}", whole, other);
        }
    }
}
