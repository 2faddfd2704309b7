//! **Pure.** Describes a comparison in sentences: difference, certainty and detectable difference.
use super::pairs::{FEWEST_TOLD, FEWEST_UNITS};
use super::{
    Column, Doubt, DoubtKind, Effect, PairedPassing, Pairing, RowKey, Unpaired, UnpairedReason,
};
use touchstone_metrics::number_format::fixed;
use touchstone_metrics::stats::Interval;
use touchstone_metrics::stats::{Tendency, float};

/// Number of rows that are named; further ones are only counted.
const NAMED: usize = 3;

/// Explanation of the statistical methods, in sentences for readers of a report.
pub const METHOD: [&str; 12] = [
    "Each run counts the same in a mean. Runs that ended in a system error, wait, cannot be read or have no score are counted apart and are \
     in no mean and no rate.",
    "A run passes when its score reaches the threshold of its scorer: 1, unless the suite sets a `threshold` or the scorer has another default.",
    "Tokens and cost are over all runs that report them, including those that ended in an error; time is over the runs that ended. Runs \
     without a task count in means and rates, each for itself; they are in no row, so in no comparison and in no sentence about who is best.",
    "Intervals are of 95 %. Those of rates, and of means of scores that are all 0 or 1, are Wilson's; runs of one task are alike and count \
     as fewer, down to the number of tasks. Those of other means come from drawing whole tasks 10,000 times with a fixed seed (expanded \
     percentiles); with fewer than six tasks, or more than 500, they are Student's, from how much the tasks differ. There is none for a single run, or when no \
     task differs from the others.",
    "Where all runs or all pairs are of one task, its variations take the place of tasks: such an \
     interval or test does not extend to other tasks. An interval of one system over one variation \
     uses its runs; a comparison of one variation has no test. All numbers of a comparison use the \
     same unit.",
    "One of k passes (pass@k) is the chance that at least one of k runs of a task passes, all k pass (pass^k) that all of them do, without \
     bias, over the rows with at least k runs.",
    "Two systems are compared on the same tasks in the same variations; repeats are averaged first, and each pair counts the same.",
    "Scores are tested by flipping the differences of whole tasks: all ways up to 32 tasks that differ, else 10,000 drawn ones.",
    "Passes are tested by McNemar's exact test, and the interval of their difference is Newcombe's. Where tasks have several pairs or pairs \
     several runs, shares of passes are compared as scores are; what is counted beside it takes a pair as passed when more than half of \
     its runs pass.",
    "A difference counts as shown when its p is 0.05 or less. Where many are looked at, one in twenty is shown by chance alone.",
    "Tests and intervals are made in different ways, and near the limit they can disagree: an interval may leave out 0 where the test shows \
     no difference, most of all with few tasks. What is called shown goes by the test.",
    "The smallest difference that could have been shown is the one that the test shows in four of \
     five cases. For scores it is given from twelve tasks on; with fewer it depends on how many of \
     them tie.",
];

/// Comparison in sentences.
#[derive(Debug, Clone, PartialEq, Eq, Default)]
pub struct Sentences {
    /// Result and its significance.
    pub main: Vec<String>,
    /// Wins pair by pair, and consumption.
    pub more: Vec<String>,
}

impl Sentences {
    /// Returns all sentences.
    pub fn all(self) -> Vec<String> {
        [self.main, self.more].concat()
    }
}

/// Describes a comparison in sentences. `group` and `baseline` are the compared columns; `name`
/// returns the display name of a row.
pub fn sentences(
    pairing: &Pairing<'_>,
    group: &Column<'_>,
    baseline: &Column<'_>,
    name: &dyn Fn(RowKey<'_>) -> String,
) -> Sentences {
    let (group, baseline) = (group.label(), baseline.label());
    let mut told = Sentences::default();
    match &pairing.score {
        Some(effect) => {
            score(&mut told, effect, (&group, &baseline));
            if let Some(passing) = &pairing.passes {
                passes(&mut told, passing);
            }
            told.main.extend(unseen(effect, pairing.passes.as_ref()));
        }
        None => told.main.push(format!(
            "{group} and {baseline} have no task in common for which both have a score."
        )),
    }
    told.main.extend(unpaired(&pairing.unpaired, (&group, &baseline), name));
    told.main.extend(pairing.doubts.iter().map(|one| doubt(one, name)));
    let took = [
        ("tokens", &pairing.tokens, Unit::Tokens),
        ("cost", &pairing.cost, Unit::Dollars),
        ("time", &pairing.seconds, Unit::Seconds),
    ];
    told.more.extend(
        took.into_iter()
            .filter_map(|(what, effect, unit)| Some(amount(what, effect.as_ref()?, unit))),
    );
    told
}

/// Returns the result of a comparison in a few words.
pub fn outcome(pairing: &Pairing<'_>) -> &'static str {
    match &pairing.score {
        None => "nothing in common",
        Some(effect) if effect.p.is_none() => "not tested",
        Some(effect) => match effect.shown {
            Tendency::Better => "better",
            Tendency::Worse => "worse",
            Tendency::Unclear => "no difference shown",
        },
    }
}

/// Formats a p-value as in papers.
pub fn probability(p: f64) -> String {
    if p < 0.001 { "p < 0.001".to_owned() } else { format!("p = {}", fixed(p, 3)) }
}

#[derive(Clone, Copy)]
enum Unit {
    Score,
    Tokens,
    Dollars,
    Seconds,
}

impl Unit {
    fn write(self, value: f64) -> String {
        match self {
            Self::Score => fixed(value, 3),
            Self::Tokens => fixed(value, 0),
            Self::Dollars => format!("${}", fixed(value, 4)),
            Self::Seconds => format!("{} s", fixed(value, 1)),
        }
    }

    /// Returns the sentences for better and for worse.
    fn verdicts(self) -> [&'static str; 2] {
        match self {
            Self::Score => SCORES,
            Self::Tokens => ["It takes fewer.", "It takes more."],
            Self::Dollars => ["It is cheaper.", "It is more expensive."],
            Self::Seconds => ["It is faster.", "It is slower."],
        }
    }

    /// Formats a value with its sign before the unit.
    fn signed(self, value: f64) -> String {
        let size = self.write(value.abs());
        if value < 0.0 { format!("−{size}") } else { size }
    }
}

fn score(told: &mut Sentences, effect: &Effect, (group, baseline): (&str, &str)) {
    let (unit, count) = (Unit::Score, effect.count);
    told.main.push(format!(
        "{group} scores {} on average and {baseline} {}, over {} of {}: {}{}{}",
        unit.write(effect.value),
        unit.write(effect.baseline),
        counted(effect.pairs, "pair"),
        counted(effect.tasks, "task"),
        apart(effect.difference, unit),
        within(effect.interval, unit),
        tested(effect, SCORES),
    ));
    if is_one_task(effect) {
        told.main.push(
            "Its variations take the place of tasks, so this does not extend to other tasks."
                .to_owned(),
        );
    }
    told.more.push(format!(
        "Pair by pair it won {}, tied {} and lost {}.",
        count.wins, count.ties, count.losses
    ));
}

/// Returns true if variations are the units, because there is only one task.
fn is_one_task(effect: &Effect) -> bool {
    effect.tasks < 2 && effect.units > 1
}

fn passes(told: &mut Sentences, passing: &PairedPassing) {
    let table = passing.table;
    let of = table.n();
    let apart = format!("{} points{}", points(passing.difference), within_points(passing.interval));
    let Some(effect) = &passing.by_task else {
        let rate =
            |passed: u64| format!("{passed} of {of} ({})", percent(float(passed) / float(of)));
        told.main.push(format!(
            "It passes {}, the baseline {}: {apart}; {} only it passes, {} only the baseline{}",
            rate(table.both + table.only_first),
            rate(table.both + table.only_second),
            table.only_first,
            table.only_second,
            match passing.p {
                Some(p) => format!(
                    "; McNemar's exact {}. {}",
                    probability(p),
                    verdict(passing.shown, SCORES)
                ),
                None => UNTESTED.to_owned(),
            },
        ));
        return;
    };
    let unit = if is_one_task(effect) { "variation" } else { "task" };
    told.main.push(format!(
        "On average over {} it passes {} of the runs, the baseline {}: {apart}{}",
        counted(of, "pair"),
        percent(effect.value),
        percent(effect.baseline),
        match effect.p {
            Some(p) => format!(
                "; by {unit}, as not all runs are independent, {}. {}",
                probability(p.p),
                verdict(effect.shown, SCORES)
            ),
            None => UNTESTED.to_owned(),
        },
    ));
    told.more.push(format!(
        "Pair by pair both pass {}, only it {}, only the baseline {} and neither {}.",
        table.both, table.only_first, table.only_second, table.neither,
    ));
}

/// Describes the difference that could have been significant, if none is.
fn unseen(score: &Effect, passes: Option<&PairedPassing>) -> Option<String> {
    let open = |shown: Tendency| shown == Tendency::Unclear;
    if !open(score.shown) && passes.is_none_or(|it| !open(it.shown)) {
        return None;
    }
    if score.units < FEWEST_UNITS {
        let few = counted(score.units, if is_one_task(score) { "variation" } else { "task" });
        return Some(format!(
            "{few} cannot show a difference, whatever the scores: at least {FEWEST_UNITS} are needed."
        ));
    }
    let known = |it: Option<f64>, shown| it.filter(|it| *it <= 1.0 && open(shown));
    let scores = known(score.detectable, score.shown)
        .map(|it| format!("{} of the mean score", Unit::Score.write(it)));
    let rates = passes
        .and_then(|it| known(it.detectable, it.shown))
        .map(|it| format!("{} points of passes", points(it)));
    let both: Vec<String> = scores.into_iter().chain(rates).collect();
    if !both.is_empty() {
        return Some(format!(
            "This many pairs would probably have shown a difference of {} or more.",
            both.join(", or of ")
        ));
    }
    if !open(score.shown) {
        return None;
    }
    let few = counted(score.units, if is_one_task(score) { "variation" } else { "task" });
    Some(match score.units {
        FEWEST_UNITS => format!("{few} show a difference only if all of them agree."),
        ..FEWEST_TOLD => {
            format!(
                "The smallest difference that {few} would have shown depends on how many of them tie, so it is not given."
            )
        }
        _ if score.difference != 0.0 => {
            "This many pairs can miss a difference as large as this one.".to_owned()
        }
        _ => return None,
    })
}

fn amount(what: &str, effect: &Effect, unit: Unit) -> String {
    // Amounts known for one task alone are never significant, however many pairs it has.
    let alone = if effect.units < 2 && effect.pairs > 1 { " of 1 task" } else { "" };
    format!(
        "Its {what}: {} on average against {} of the baseline, over {}{alone}: {}{}{}",
        unit.write(effect.value),
        unit.write(effect.baseline),
        counted(effect.pairs, "pair"),
        apart(effect.difference, unit),
        within(effect.interval, unit),
        tested(effect, unit.verdicts()),
    )
}

fn unpaired(
    rows: &[Unpaired<'_>],
    (group, baseline): (&str, &str),
    name: &dyn Fn(RowKey<'_>) -> String,
) -> Option<String> {
    if rows.is_empty() {
        return None;
    }
    let side = |in_baseline: bool| if in_baseline { baseline } else { group };
    let why = |why| match why {
        UnpairedReason::Missing => "has no run",
        UnpairedReason::Errors => "ended in errors",
        UnpairedReason::NotEnded => "has not ended",
        UnpairedReason::Unscored => "has no score",
    };
    let named: Vec<String> = rows
        .iter()
        .take(NAMED)
        .map(|row| format!("{} ({} {})", name(row.key), side(row.in_baseline), why(row.why)))
        .collect();
    let more = if rows.len() > NAMED {
        format!(" and {} more", rows.len() - NAMED)
    } else {
        String::new()
    };
    let are = if rows.len() == 1 { "is" } else { "are" };
    Some(format!(
        "{} {are} not compared: {}{more}.",
        counted(touchstone_metrics::stats::count(rows.len()), "row"),
        named.join(", ")
    ))
}

fn doubt(doubt: &Doubt<'_>, name: &dyn Fn(RowKey<'_>) -> String) -> String {
    let named: Vec<String> = doubt.rows.iter().take(NAMED).map(|key| name(*key)).collect();
    let more = if doubt.rows.len() > NAMED { " and others" } else { "" };
    let pairs = counted(touchstone_metrics::stats::count(doubt.rows.len()), "pair");
    let what = match doubt.kind {
        DoubtKind::Scorer => "scored by different scorers",
        DoubtKind::ScoredAgainst => {
            "with another task text, expected output or version of the scorer on each side"
        }
        DoubtKind::Nudged => "with follow-up messages on one side only",
    };
    format!("Not comparable: {pairs} {what}: {}{more}.", named.join(", "))
}

/// End of a sentence about a difference that cannot be tested.
const UNTESTED: &str = ", not tested.";

/// Returns the test result as the end of a sentence.
fn tested(effect: &Effect, verdicts: [&'static str; 2]) -> String {
    let Some(p) = effect.p else { return UNTESTED.to_owned() };
    let how = if p.exact { "" } else { " by drawing" };
    format!(", {}{how}. {}", probability(p.p), verdict(effect.shown, verdicts))
}

/// Sentences for better and for worse scores.
const SCORES: [&str; 2] = ["It is better.", "It is worse."];

fn verdict(shown: Tendency, [better, worse]: [&'static str; 2]) -> &'static str {
    match shown {
        Tendency::Better => better,
        Tendency::Worse => worse,
        Tendency::Unclear => "No difference is shown.",
    }
}

fn apart(difference: f64, unit: Unit) -> String {
    let direction = if difference > 0.0 {
        "more"
    } else if difference < 0.0 {
        "less"
    } else {
        return "no difference".to_owned();
    };
    format!("{} {direction}", unit.write(difference.abs()))
}

fn within(interval: Option<Interval>, unit: Unit) -> String {
    let Some(Interval { low, high }) = interval else { return String::new() };
    format!(" (95 % interval {} to {})", unit.signed(low), unit.signed(high))
}

fn within_points(interval: Option<Interval>) -> String {
    let Some(Interval { low, high }) = interval else { return String::new() };
    format!(" (95 % interval {} to {})", points(low), points(high))
}

fn percent(share: f64) -> String {
    format!("{} %", fixed(100.0 * share, 0))
}

/// Formats a difference of rates in percentage points.
fn points(share: f64) -> String {
    let size = format!("{:.1}", (share * 100.0).abs());
    if share < 0.0 && size != "0.0" { format!("−{size}") } else { size }
}

fn counted(n: u64, what: &str) -> String {
    if n == 1 { format!("1 {what}") } else { format!("{n} {what}s") }
}
