//! Builds runs from one line each: `task #variation system end`.
use touchstone_scoring::aggregate::{Column, Counted, End};

/// Returns runs of the model `m`. An end is a score followed by `+` or `-` for passed or failed, or
/// a word.
pub(crate) fn runs<'a>(lines: &[&'a str]) -> Vec<Counted<'a>> {
    lines.iter().map(|line| run(line)).collect()
}

fn run(line: &str) -> Counted<'_> {
    let words: Vec<&str> = line.split_whitespace().collect();
    let [task, variation, system, end, rest @ ..] = words.as_slice() else { panic!("{line}") };
    let mut run = Counted {
        task: Some(task),
        variation: Some(variation.trim_start_matches('#').parse().unwrap()),
        system: Some(system),
        model: Some("m"),
        end: self::end(end),
        ..Counted::default()
    };
    for word in rest {
        match word.split_once('=') {
            Some(("tokens", n)) => run.tokens = Some(n.parse().unwrap()),
            Some(("cost", n)) => run.cost = Some(n.parse().unwrap()),
            Some(("seconds", n)) => run.seconds = Some(n.parse().unwrap()),
            Some(("against", n)) => run.fingerprint = Some(n.parse().unwrap()),
            Some(("by", scorer)) => run.scorer = Some(scorer),
            _ if *word == "nudged" => run.nudged = true,
            _ if *word == "apart" => run.apart = true,
            _ => panic!("{word}"),
        }
    }
    run
}

fn end(word: &str) -> End {
    match word {
        "error" => End::Error,
        "waiting" => End::Waiting,
        "running" => End::Running,
        "damaged" => End::Damaged,
        "unscored" => End::Unscored,
        score => {
            let passed = score.ends_with(['+', '-']).then(|| score.ends_with('+'));
            End::Scored(score.trim_end_matches(['+', '-']).parse().unwrap(), passed)
        }
    }
}

/// Returns the column of a system with the model `m`.
pub(crate) fn column(system: &str) -> Column<'_> {
    Column { system: Some(system), model: Some("m") }
}
