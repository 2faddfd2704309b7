//! **Pure.** Formats numbers and names for reports, identically in every human-readable format.
use super::page::{Amount, Cell, Estimate, Group, Head, Page, Repeats, RunLine, StoredSum, Table};
use crate::escape::one_line;
use std::collections::BTreeSet;
use touchstone_api::{FailureClass, FrontMeasure, RunState, Standing, StoredBrief, Verdict};
use touchstone_metrics::number_format;
use touchstone_metrics::number_format::fixed;
pub(super) use touchstone_metrics::number_format::{count, money, seconds};

/// Placeholder for unknown values.
pub(super) const NONE: &str = "–";

/// Formats a score: `0.87`.
pub(super) fn score(value: Option<f64>) -> String {
    value.map_or_else(|| NONE.to_owned(), number_format::score)
}

/// Formats a score with its interval: `0.87 (0.71–0.96)`.
pub(super) fn estimate(estimate: Option<Estimate>) -> String {
    match estimate {
        None => NONE.to_owned(),
        Some(Estimate { value, low: Some(low), high: Some(high) }) => {
            format!("{} ({})", number_format::score(value), range(low, high))
        }
        Some(Estimate { value, .. }) => number_format::score(value),
    }
}

/// Formats an interval: `0.71–0.96`.
pub(super) fn range(low: f64, high: f64) -> String {
    format!("{}–{}", number_format::places(low), number_format::places(high))
}

/// Formats a difference with its interval: `+0.12 (−0.03 to +0.25)`.
pub(super) fn difference(estimate: Option<Estimate>) -> String {
    match estimate {
        None => NONE.to_owned(),
        Some(Estimate { value, low: Some(low), high: Some(high) }) => {
            format!("{} ({} to {})", signed(value), signed(low), signed(high))
        }
        Some(Estimate { value, .. }) => signed(value),
    }
}

fn signed(value: f64) -> String {
    let text = format!("{:.2}", value.abs());
    match text.as_str() {
        "0.00" => text,
        _ if value < 0.0 => format!("−{text}"),
        _ => format!("+{text}"),
    }
}

/// Formats a p-value without label: `0.030`.
pub(super) fn p_value(p: Option<f64>) -> String {
    match p {
        None => NONE.to_owned(),
        Some(p) if p < 0.001 => "< 0.001".to_owned(),
        Some(p) => fixed(p, 3),
    }
}

/// Formats a count with its noun: `1 run`, `2 runs`.
pub(super) fn counted(n: u64, one: &str, more: &str) -> String {
    format!("{} {}", count(n), if n == 1 { one } else { more })
}

/// Formats a fraction: `7/10`; the placeholder if there are none.
pub(super) fn share(some: u64, all: u64) -> String {
    if all == 0 { NONE.to_owned() } else { format!("{some}/{all}") }
}

/// Returns the headers of the repeat columns, with the number of repeats if all groups share it.
pub(super) fn repeats_heads(groups: &[Group]) -> [String; 2] {
    let k = shared_tries(groups).map_or_else(|| "k".to_owned(), count);
    [format!("One of {k} passes"), format!("All {k} pass")]
}

/// Returns the number of repeats if the headers do not show it, and the number of rows if some have
/// fewer repeats.
pub(super) fn tries(repeats: Repeats, groups: &[Group]) -> Option<String> {
    let Repeats { k, rows, of, .. } = repeats;
    let tries = shared_tries(groups).is_none().then(|| format!("k = {k}"));
    let over = (rows < of).then(|| format!("over {} of {} rows", count(rows), count(of)));
    let said: Vec<String> = [tries, over].into_iter().flatten().collect();
    (!said.is_empty()).then(|| said.join(", "))
}

fn shared_tries(groups: &[Group]) -> Option<u64> {
    let all: BTreeSet<u64> = groups.iter().filter_map(|group| Some(group.repeats?.k)).collect();
    all.first().copied().filter(|_| all.len() == 1)
}

/// Formats a task with its variation.
pub(super) fn named(task: &str, variation: Option<&str>) -> String {
    variation.map_or_else(|| task.to_owned(), |variation| format!("{task} · {variation}"))
}

/// Describes the scope of a report: `48 runs of 12 tasks, with 2 systems and 3 models`.
pub(super) fn describe_scope(page: &Page) -> String {
    let different = |of: fn(&Group) -> Option<&str>| {
        page.groups.iter().filter_map(of).collect::<BTreeSet<_>>().len()
    };
    let systems = different(|group| group.system.as_deref());
    let models = different(|group| group.model.as_deref());
    let known = [(systems, "system", "systems"), (models, "model", "models")];
    let with: Vec<String> = known
        .iter()
        .filter(|(n, ..)| *n > 0)
        .map(|(n, one, more)| counted(*n as u64, one, more))
        .collect();
    let with =
        if with.is_empty() { String::new() } else { format!(", with {}", with.join(" and ")) };
    format!(
        "{} of {}{with}",
        counted(page.head.runs, "run", "runs"),
        counted(page.head.tasks, "task", "tasks")
    )
}

/// Describes the number of scored runs and the state of the others: `40 of 48; 3 ended in an error
/// and are counted apart`.
pub(super) fn describe_scored(head: &Head) -> String {
    let Head { runs, scored, errors, not_ended, unscored, .. } = *head;
    let are = |n: u64, one: &str, more: &str| if n == 1 { one.to_owned() } else { more.to_owned() };
    let others = [
        (
            errors,
            are(
                errors,
                "ended in an error and is counted apart",
                "ended in an error and are counted apart",
            ),
        ),
        (not_ended, are(not_ended, "has not ended", "have not ended")),
        (unscored, "ended without a score or cannot be read".to_owned()),
    ];
    let told =
        others.iter().filter(|(n, _)| *n > 0).map(|(n, what)| format!("; {} {what}", count(*n)));
    format!("{} of {}{}", count(scored), count(runs), told.collect::<String>())
}

/// Rating of a cell.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(super) enum Tone {
    Right,
    Part,
    Wrong,
}

impl Tone {
    /// Right if every run passed, consistent with the overview; if no run has a pass decision, by
    /// the score.
    pub(super) fn for_cell(cell: &Cell) -> Option<Self> {
        let score = cell.score?;
        let (right, wrong) = if cell.decided > 0 {
            (cell.passed == cell.scored, cell.passed == 0 && score < WRONG_BELOW)
        } else {
            (score >= RIGHT_FROM, score < WRONG_BELOW)
        };
        Some(if right {
            Self::Right
        } else if wrong {
            Self::Wrong
        } else {
            Self::Part
        })
    }

    /// Returns the sign that shows the rating without colour.
    pub(super) const fn sign(self) -> &'static str {
        match self {
            Self::Right => "✓",
            Self::Part => "◐",
            Self::Wrong => "✕",
        }
    }
}

/// Legend of the signs.
pub(super) const SIGNS: &str = "✓ right: every run passed; ◐ partly right; ✕ wrong: none passed, and the mean is below 0.50; where nothing decides what \
     passes, ✓ from 0.95 on. Beside it the mean score, and how many runs passed where there are several.";

const RIGHT_FROM: f64 = 0.95;
const WRONG_BELOW: f64 = 0.5;

/// Formats a number of tokens, rounded to a whole number.
pub(super) fn tokens(tokens: f64) -> String {
    count(number_format::round_to_u64(tokens))
}

/// Formats the interval of the mean of an amount, and the number of runs if not every run records
/// it: `0.04–0.06; of 8/10`.
pub(super) fn below_mean(
    amount: Option<Amount>,
    runs: u64,
    write: impl Fn(f64) -> String,
) -> Option<String> {
    let amount = amount?;
    let range = amount.low.zip(amount.high);
    let range = range.map(|(low, high)| format!("{}–{}", write(low), write(high)));
    let of = (amount.known < runs).then(|| format!("of {}", share(amount.known, runs)));
    let all: Vec<String> = [range, of].into_iter().flatten().collect();
    (!all.is_empty()).then(|| all.join("; "))
}

/// Formats the mean of an amount with its interval: `$0.05 ($0.04–$0.06; of 8/10)`.
pub(super) fn mean(amount: Option<Amount>, runs: u64, write: impl Fn(f64) -> String) -> String {
    let mean = amount.map_or_else(|| NONE.to_owned(), |amount| write(amount.mean));
    match below_mean(amount, runs, write) {
        Some(below) => format!("{mean} ({below})"),
        None => mean,
    }
}

/// Returns the word for a standing.
pub(super) fn standing_word(group: &Group) -> &'static str {
    match group.standing {
        Some(Standing::Best) => "best",
        Some(Standing::Highest) => "highest",
        Some(Standing::Tied) => "not shown to differ",
        Some(Standing::TooFew) => "too few tasks to tell",
        Some(Standing::Behind) => "behind",
        Some(Standing::Open) => "undecided",
        Some(Standing::Apart) => "no tasks in common",
        Some(Standing::Solution) => "not ranked",
        None => NONE,
    }
}

/// Returns the groups as the leaderboard sorts them: those that are compared first, and by mean score,
/// the highest first.
pub(super) fn by_score(groups: &[Group]) -> Vec<&Group> {
    let value = |group: &Group| group.score.map_or(-1.0, |score| score.value);
    let mut sorted: Vec<&Group> = groups.iter().collect();
    sorted.sort_by(|a, b| a.among.cmp(&b.among).then_with(|| value(b).total_cmp(&value(a))));
    sorted
}

/// Returns true for the best or highest group, and for those that are not shown to differ from it.
pub(super) fn is_best(group: &Group) -> bool {
    use Standing::{Best, Highest, Tied, TooFew};
    matches!(group.standing, Some(Best | Highest | Tied | TooFew))
}

/// Explains the standings and the Pareto front of the summary.
pub(super) fn describe_standings(page: &Page) -> String {
    let over = match page.front_rows {
        Some([least, most]) if least == most => {
            format!("the {most} tasks and variations that both have")
        }
        Some([least, most]) => {
            format!("the tasks and variations that both have ({least} to {most})")
        }
        None => "the tasks that both have".to_owned(),
    };
    let front = match page.front_by {
        Some(FrontMeasure::Cost) => format!(
            " ◆ Pareto: over {over}, no other has a mean score at least as high for at most the \
             same mean cost."
        ),
        Some(FrontMeasure::Seconds) => format!(
            " ◆ Pareto: over {over}, no other has a mean score at least as high in at most the \
             same mean time (no cost is known)."
        ),
        None => String::new(),
    };
    format!(
        "Not shown to differ: from the highest one, on the tasks that both have. Too few tasks: \
         fewer than 6 in common with it. Behind: shown to be worse. Undecided: the runs show \
         neither.{front} Costs include runs in error. Intervals are of 95 %."
    )
}

/// Formats the total of an amount; a lower bound if not every run records it.
pub(super) fn total(amount: Amount, runs: u64, write: impl Fn(f64) -> String) -> String {
    let sum = write(amount.sum);
    if amount.known < runs { format!("at least {sum}") } else { sum }
}

/// Returns the caption of the summary table.
pub(super) fn summary_caption(groups: &[Group]) -> String {
    let other = if groups.iter().any(|group| others(group) > 0) {
        " Other: runs that have not ended, ended without a score, or cannot be read."
    } else {
        ""
    };
    format!(
        "One line for each system with each model. Errors are counted apart, not as wrong answers.{other}"
    )
}

/// Returns the number of runs without a score and without an error: they have not ended, ended
/// without a score, or cannot be read.
pub(super) const fn others(group: &Group) -> u64 {
    group.not_ended + group.unscored
}

/// Returns the words for a failure class.
pub(super) fn class(class: FailureClass) -> &'static str {
    match class {
        FailureClass::WrongAnswer => "wrong answer",
        FailureClass::NoAnswer => "no answer",
        FailureClass::MissingToolCall => "missing tool call",
        FailureClass::ToolError => "tool error",
        FailureClass::GaveUp => "gave up",
        FailureClass::SystemError => "system error",
        FailureClass::Timeout => "timeout",
    }
}

/// Returns the words for a state.
pub(super) fn state(state: RunState) -> &'static str {
    match state {
        RunState::Answered => "answered",
        RunState::NoAnswer => "no answer",
        RunState::Waiting => "waiting",
        RunState::Error => "error",
        RunState::Writing => "being written",
        RunState::Damaged => "damaged",
        RunState::Other => "not a transcript",
    }
}

/// Returns the words for the verdict of a person.
pub(super) fn verdict(verdict: Verdict) -> &'static str {
    match verdict {
        Verdict::Right => "right",
        Verdict::Partly => "partly right",
        Verdict::Wrong => "wrong",
    }
}

/// Formats the review of a run: verdict, score given in place of the automatic one, and note.
/// `None` without a review.
pub(super) fn review(run: &RunLine) -> Option<String> {
    let word = run.verdict.map(|said| verdict(said).to_owned());
    let given = run.review_score.map(|given| format!("score {}", score(Some(given))));
    let short = [word, given].into_iter().flatten().collect::<Vec<_>>().join(", ");
    let note = run
        .review_note
        .as_deref()
        .map(|note| one_line(note).into_owned())
        .filter(|note| !note.trim().is_empty());
    match (short.is_empty(), note) {
        (true, note) => note,
        (false, None) => Some(short),
        (false, Some(note)) => Some(format!("{short}: {note}")),
    }
}

/// Formats a stored verdict: its number or word, and its result.
pub(super) fn stored(said: &StoredBrief) -> String {
    let told = said.to_short_text();
    if told.is_empty() { NONE.to_owned() } else { one_line(&told).into_owned() }
}

/// Formats all stored verdicts of a run; `None` if there are none.
pub(super) fn all_stored(run: &RunLine) -> Option<String> {
    let each: Vec<String> = run
        .stored
        .iter()
        .map(|said| format!("{} {}", one_line(&said.evaluator), stored(said)))
        .collect();
    (!each.is_empty()).then(|| each.join("; "))
}

/// Explanation of the stored verdicts.
pub(super) const STORED: &str = "As stored in the files: not judged again, and no scores unless one \
    of them is chosen as the scorer. Means are on the scale of each evaluator, over the runs with a number; rates are \
    over the runs that pass or fail. Errors and runs without a result are in neither.";

/// Builds the table of stored verdicts.
pub(super) fn stored_table(page: &Page) -> Table {
    let head = [
        "Evaluator",
        "System with model",
        "Runs",
        "Numbers",
        "Mean (95 %)",
        "Passed",
        "Rate (95 %)",
        "Errors",
        "No result",
    ];
    let row = |sum: &StoredSum| {
        vec![
            sum.evaluator.clone(),
            sum.group.clone(),
            count(sum.runs),
            count(sum.numbers),
            estimate(sum.mean),
            share(sum.passed, sum.decided),
            estimate(sum.rate),
            count(sum.errors),
            count(sum.none),
        ]
    };
    Table {
        caption: STORED.to_owned(),
        head: head.map(str::to_owned).to_vec(),
        rows: page.stored.iter().map(row).collect(),
    }
}

/// Splits a text at backticks. Each part says whether it is code; a backtick without a partner
/// encloses nothing.
pub(super) fn code_parts(text: &str) -> Vec<(bool, &str)> {
    let mut parts = Vec::new();
    let mut rest = text;
    while let Some((before, after)) = rest.split_once('`') {
        let Some((code, behind)) = after.split_once('`').filter(|(code, _)| !code.is_empty())
        else {
            break;
        };
        parts.extend([(false, before), (true, code)]);
        rest = behind;
    }
    parts.push((false, rest));
    parts.retain(|(_, part)| !part.is_empty());
    parts
}

/// Returns the reason why a report is empty.
pub(super) fn nothing(filter: &str) -> &'static str {
    if filter.is_empty() { "No runs were found in this folder" } else { "No run passes the filter" }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn what_is_not_known_is_never_a_zero() {
        assert_eq!(
            [score(None), estimate(None), difference(None), p_value(None), share(0, 0)],
            [NONE; 5]
        );
    }

    #[test]
    fn backticks_enclose_code_in_pairs() {
        for (text, parts) in [
            ("a `b` c", vec![(false, "a "), (true, "b"), (false, " c")]),
            ("`b``c`", vec![(true, "b"), (true, "c")]),
            ("a ` b", vec![(false, "a ` b")]),
            ("a `` b", vec![(false, "a `` b")]),
            ("", vec![]),
        ] {
            assert_eq!(code_parts(text), parts, "{text}");
        }
    }

    #[test]
    fn numbers_are_written_plainly() {
        let of = |value, low, high| Some(Estimate { value, low: Some(low), high: Some(high) });
        assert_eq!(estimate(of(0.871, 0.7, 0.961)), "0.87 (0.70–0.96)");
        assert_eq!(difference(of(-0.1234, -0.3, 0.05)), "−0.12 (−0.30 to +0.05)");
        assert_eq!(difference(of(0.001, -0.001, 0.2)), "0.00 (0.00 to +0.20)");
        assert_eq!([p_value(Some(0.0004)), p_value(Some(0.049))], ["< 0.001", "0.049"]);
        let amount = Amount {
            known: 2,
            sum: 5.0,
            mean: 2.5,
            low: None,
            high: None,
            median: 2.5,
            ninetieth: 3.0,
            most: 3.0,
        };
        assert_eq!(mean(Some(amount), 3, money), "$2.50 (of 2/3)");
        let ranged = Amount { low: Some(2.0), high: Some(3.0), ..amount };
        assert_eq!(mean(Some(ranged), 2, money), "$2.50 ($2.00–$3.00)");
        assert_eq!(mean(None, 2, money), NONE);
        assert_eq!([total(amount, 3, money), total(amount, 2, money)], ["at least $5.00", "$5.00"]);
    }
}
