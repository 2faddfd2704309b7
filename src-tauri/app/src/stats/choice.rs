//! **Pure.** Says which of the systems that are not shown to differ is cheapest and which is fastest.
use touchstone_api::{Figure, LeaderboardRow, Standing};
use touchstone_metrics::number_format;
use touchstone_scoring::aggregate::Column;

/// Measure by which a system is chosen.
struct Measure {
    /// Superlative, and the noun of an unknown amount.
    word: &'static str,
    noun: &'static str,
    of: fn(&LeaderboardRow) -> Option<Figure>,
    write: fn(f64) -> String,
}

const MEASURES: [Measure; 2] = [
    Measure { word: "cheapest", noun: "cost", of: |row| row.cost, write: number_format::money },
    Measure { word: "fastest", noun: "time", of: |row| row.seconds, write: number_format::seconds },
];

/// Returns the cheapest and the fastest of the best or highest row and those that are not shown to
/// differ from it, each with its pass rate. Never names one that passes less than the highest: then its
/// price is no argument for it. `None` without a choice.
pub(crate) fn choice(rows: &[LeaderboardRow]) -> Option<String> {
    let first = rows.iter().find(|row| row.is_reference)?;
    let passes_less = |row: &LeaderboardRow| {
        first.passes.is_some_and(|of_first| row.passes.is_none_or(|own| own.value < of_first.value))
    };
    let is_alike = |row: &&LeaderboardRow| {
        row.is_reference || (row.standing == Some(Standing::Tied) && !passes_less(row))
    };
    let alike: Vec<&LeaderboardRow> = rows.iter().filter(is_alike).collect();
    let [cheap, fast] = MEASURES.each_ref().map(|measure| least(&alike, measure));
    let said = match (cheap, fast) {
        (None, None) => return None,
        (Some(cheap), Some(fast)) if std::ptr::eq(cheap.row, fast.row) => {
            let amount = format!("{} and {}", cheap.amount, fast.amount);
            let unknown = cheap.unknown.into_iter().chain(fast.unknown).collect();
            Least { amount, unknown, ..cheap }.describe("cheapest and fastest")
        }
        (cheap, fast) => {
            let parts = [cheap, fast].into_iter().zip(&MEASURES);
            let parts = parts.filter_map(|(least, measure)| Some(least?.describe(measure.word)));
            parts.collect::<Vec<_>>().join("; ")
        }
    };
    let of_those =
        if first.passes.is_none() { "not shown to differ" } else { "that pass as often" };
    Some(format!("Of those {of_those}, {said}."))
}

/// The row with the least amount.
struct Least<'a> {
    row: &'a LeaderboardRow,
    amount: String,
    /// For how many rows the amount is unknown, in words.
    unknown: Vec<String>,
}

/// Returns the row with the least amount; `None` where fewer than two are known.
fn least<'a>(rows: &[&'a LeaderboardRow], measure: &Measure) -> Option<Least<'a>> {
    let mut known: Vec<(f64, &LeaderboardRow)> =
        rows.iter().filter_map(|row| Some(((measure.of)(row)?.value, *row))).collect();
    // Equal ones are in the order of their scores and names, whatever the order of the rows.
    let score = |row: &LeaderboardRow| row.score.map_or(0.0, |score| score.value);
    known.sort_by(|(one, a), (other, b)| {
        let names = || (&a.system, &a.model).cmp(&(&b.system, &b.model));
        let scores = || score(b).total_cmp(&score(a));
        one.total_cmp(other).then_with(scores).then_with(names)
    });
    let [(amount, row), _, ..] = &known[..] else { return None };
    let unknown = rows.len() - known.len();
    Some(Least {
        row,
        amount: (measure.write)(*amount),
        unknown: (unknown > 0)
            .then(|| format!("{} unknown for {unknown}", measure.noun))
            .into_iter()
            .collect(),
    })
}

impl Least<'_> {
    fn describe(self, word: &str) -> String {
        let worth = match (self.row.passes, self.row.score) {
            (Some(passes), _) => {
                format!("passes {} %", number_format::fixed(100.0 * passes.value, 0))
            }
            (None, Some(score)) => format!("scores {}", number_format::score(score.value)),
            (None, None) => "no score".to_owned(),
        };
        let mut parts = vec![format!("{} a run", self.amount), worth];
        parts.extend(self.unknown);
        let (system, model) = (self.row.system.as_deref(), self.row.model.as_deref());
        format!("{} is {word} ({})", Column { system, model }.label(), parts.join(", "))
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use touchstone_api::RowGroup;

    /// A row with a mean score, cost and time of a run.
    fn row(model: &str, score: f64, cost: Option<f64>, seconds: Option<f64>) -> LeaderboardRow {
        let figure = |value| Figure { value, low: None, high: None, known: 10, unknown: 0 };
        LeaderboardRow {
            system: Some(model.to_owned()),
            model: Some("x".to_owned()),
            filter: String::new(),
            runs: 10,
            tasks: 9,
            shared_tasks: Some(9),
            is_reference: false,
            errors: 0,
            others: 0,
            score: Some(figure(score)),
            score_by: None,
            passes: None,
            passed: 0,
            cost: cost.map(figure),
            seconds: seconds.map(figure),
            tokens: None,
            histogram: Vec::new(),
            group: RowGroup::Common,
            standing: Some(Standing::Tied),
            why: None,
            on_front: None,
        }
    }

    fn first(row: LeaderboardRow) -> LeaderboardRow {
        LeaderboardRow { is_reference: true, standing: Some(Standing::Highest), ..row }
    }

    fn passing(share: f64, row: LeaderboardRow) -> LeaderboardRow {
        let passes = Figure { value: share, low: None, high: None, known: 9, unknown: 0 };
        LeaderboardRow { passes: Some(passes), ..row }
    }

    #[test]
    fn the_cheapest_and_the_fastest_are_named_with_what_is_not_known() {
        let behind = LeaderboardRow {
            standing: Some(Standing::Behind),
            ..row("d", 0.1, Some(0.1), Some(1.0))
        };
        let mut rows = vec![
            first(row("a", 1.0, None, Some(9.0))),
            row("b", 1.0, Some(2.0), Some(30.0)),
            row("c", 1.0, Some(1.0), Some(20.0)),
            behind,
        ];
        let said = "Of those not shown to differ, c/x is cheapest ($1.00 a run, scores 1.00, cost \
                    unknown for 1); a/x is fastest (9.0 s a run, scores 1.00).";
        assert_eq!(choice(&rows).as_deref(), Some(said));
        rows.reverse();
        assert_eq!(choice(&rows).as_deref(), Some(said), "whatever the order of the rows");
        assert_eq!(choice(&rows[3..]), None, "without a choice");
        rows.pop();
        assert_eq!(choice(&rows), None, "without a highest one");
    }

    #[test]
    fn none_is_advised_that_passes_less_or_of_which_nothing_is_known() {
        let best = first(passing(1.0, row("a", 1.0, Some(5.0), Some(9.0))));
        let worse = passing(0.9, row("b", 0.9, Some(1.0), Some(8.0)));
        let alike = passing(1.0, row("c", 0.9, Some(2.0), Some(7.0)));
        assert_eq!(choice(&[best.clone(), worse.clone()]), None);
        let few = LeaderboardRow { standing: Some(Standing::TooFew), ..alike.clone() };
        assert_eq!(choice(&[best.clone(), few]), None);
        assert_eq!(
            choice(&[best, worse, alike]).as_deref(),
            Some(
                "Of those that pass as often, c/x is cheapest and fastest ($2.00 and 7.0 s a run, \
                 passes 100 %)."
            )
        );
    }
}
