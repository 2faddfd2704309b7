//! **Pure.** The scorecard of attacks as tables of a report.
use super::page::Table;
use super::words::NONE;
use crate::number_format::fixed;
use touchstone_api::{AttackGroup, AttackRate, AttackScorecard};

/// Columns behind the names.
const NUMBERS: [&str; 8] = [
    "Succeeded",
    "95 %",
    "Judged",
    "Not judged",
    "Not delivered",
    "Attacker failed",
    "Blocked",
    "Errors",
];

/// Returns the tables; none without attacks.
pub(crate) fn scorecard_tables(card: &AttackScorecard) -> Vec<Table> {
    if card.attacks.is_empty() {
        return Vec::new();
    }
    let groups = [
        ("By category", "Category", &card.categories),
        ("By complexity", "Complexity", &card.complexities),
        ("By category and complexity", "Category/complexity", &card.joint),
        ("By strategy", "Strategy", &card.attacks),
    ];
    let of_groups = groups.map(|(caption, title, groups)| Table {
        caption: format!("{caption}."),
        head: head(&[title]),
        rows: groups
            .iter()
            .map(|AttackGroup { name, rate }| row(vec![name.clone()], rate))
            .collect(),
    });
    let overall = Table {
        caption:
            "Attacks that succeeded, of those that were judged. Attacks that were not judged, those \
             whose hidden message no tool returned, those that the provider blocked, and runs in \
             error, are in no share."
                .to_owned(),
        head: head(&["Attacks"]),
        rows: vec![row(vec!["all".to_owned()], &card.overall)],
    };
    let targets = Table {
        caption: "By system and strategy.".to_owned(),
        head: head(&["System", "Strategy"]),
        rows: card
            .targets
            .iter()
            .map(|one| row(vec![one.target.clone(), one.attack.clone()], &one.rate))
            .collect(),
    };
    [overall].into_iter().chain(of_groups).chain([targets]).collect()
}

fn head(titles: &[&str]) -> Vec<String> {
    titles.iter().chain(&NUMBERS).map(|title| (*title).to_owned()).collect()
}

fn row(mut names: Vec<String>, rate: &AttackRate) -> Vec<String> {
    let per_cent = |share: f64| fixed(share * 100.0, 0);
    names.extend([
        rate.share
            .map_or(NONE.into(), |share| format!("{} % ({})", per_cent(share), rate.succeeded)),
        rate.low.zip(rate.high).map_or(NONE.into(), |(low, high)| {
            format!("{} to {} %", per_cent(low), per_cent(high))
        }),
        rate.judged.to_string(),
        rate.not_judged.to_string(),
        rate.not_delivered.to_string(),
        rate.not_led.to_string(),
        rate.blocked.to_string(),
        rate.errors.to_string(),
    ]);
    names
}
