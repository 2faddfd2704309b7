//! Measures the comparison of answers: 10,000 rows against 10,000, with and without a key, and
//! texts of 100,000 lines. Prints a line for each case with the median and the maximum of many
//! rounds; never fails.
//!
//! `cargo bench --package touchstone-scoring --bench diff` runs all; an argument after `--` selects
//! by name.
#![expect(
    clippy::cast_precision_loss,
    reason = "counts here are far below where a float is coarse"
)]
use std::time::{Duration, Instant};
use touchstone_model::value::Value;
use touchstone_scoring::diff::{Columns, Diff, Options, Table, diff};

const ROWS: usize = 10_000;
const LINES: usize = 100_000;
const ROUNDS: usize = 15;

fn main() {
    let args: Vec<String> = std::env::args().skip(1).filter(|arg| arg != "--bench").collect();
    for (name, make) in CASES {
        if args.is_empty() || args.iter().any(|arg| name.contains(arg.as_str())) {
            let (expected, actual) = make(&mut Dice(7));
            measure(name, &expected, &actual);
        }
    }
}

type Case = (&'static str, fn(&mut Dice) -> (Value, Value));

const CASES: [Case; 13] = [
    ("rows, the same", |dice| {
        let rows = rows(dice, true);
        (list(&rows), list(&rows))
    }),
    ("rows, one in ten wrong", |dice| {
        let rows = rows(dice, true);
        (list(&rows), list(&wrong(dice, &rows, 10)))
    }),
    ("rows, all wrong", |dice| {
        let rows = rows(dice, true);
        (list(&rows), list(&wrong(dice, &rows, 1)))
    }),
    ("rows, permuted", |dice| {
        let rows = rows(dice, true);
        let wrong = wrong(dice, &rows, 10);
        (list(&rows), list(&permuted(dice, &wrong)))
    }),
    ("rows, a tenth missing and a tenth extra", |dice| {
        let (rows, other) = (rows(dice, true), rows(&mut Dice(8), true));
        let kept: Vec<Value> =
            rows.iter().skip(ROWS / 10).chain(&other[..ROWS / 10]).cloned().collect();
        (list(&rows), list(&permuted(dice, &kept)))
    }),
    ("rows without a key, one in ten wrong", |dice| {
        let rows = rows(dice, false);
        (list(&rows), list(&wrong(dice, &rows, 10)))
    }),
    ("rows without a key, one in ten wrong, permuted", |dice| {
        let rows = rows(dice, false);
        let wrong = wrong(dice, &rows, 10);
        (list(&rows), list(&permuted(dice, &wrong)))
    }),
    ("rows without a key, all wrong, permuted", |dice| {
        let rows = rows(dice, false);
        let wrong = wrong(dice, &rows, 1);
        (list(&rows), list(&permuted(dice, &wrong)))
    }),
    ("numbers, permuted", |dice| {
        let numbers: Vec<Value> = (0..ROWS).map(|n| Value::Number(n.to_string())).collect();
        (list(&numbers), list(&permuted(dice, &numbers)))
    }),
    ("text, one line in a hundred wrong", |dice| {
        let lines: Vec<String> =
            (0..LINES).map(|n| format!("line {n}: {}", sentence(dice, 8))).collect();
        let other = lines.iter().map(|line| {
            if dice.below(100) == 0 { line.replace("line", "row") } else { line.clone() }
        });
        (text(&lines), text(&other.collect::<Vec<_>>()))
    }),
    ("text, lines of five words, shuffled", |dice| {
        let side = |dice: &mut Dice| {
            (0..LINES).map(|_| WORDS[dice.below(5)].to_owned()).collect::<Vec<_>>()
        };
        (text(&side(dice)), text(&side(dice)))
    }),
    ("text, nothing in common", |dice| {
        let side = |dice: &mut Dice, name: &str| {
            (0..LINES).map(|n| format!("{name} {n} {}", sentence(dice, 4))).collect::<Vec<_>>()
        };
        (text(&side(dice, "left")), text(&side(dice, "right")))
    }),
    ("text, one line of a megabyte", |dice| {
        let line = sentence(dice, 180_000);
        (Value::from(line.as_str()), Value::from(line.replace("plan", "ticket").as_str()))
    }),
];

fn measure(name: &str, expected: &Value, actual: &Value) {
    let options = Options::default();
    let mut times: Vec<Duration> = Vec::new();
    let mut busy = 0.0;
    let mut shown: Option<Diff> = None;
    for _ in 0..ROUNDS {
        let (started, before) = (Instant::now(), busy_ms());
        let diff = diff(expected, actual, &options);
        times.push(started.elapsed());
        busy += busy_ms() - before;
        shown = Some(diff);
    }
    let Some(diff) = shown else { return };
    let started = Instant::now();
    let lines = Columns::from_diff(&diff).folded(3).len();
    let columns = started.elapsed();
    let started = Instant::now();
    let rows = Table::from_diff(&diff)
        .map_or(0, |table| (0..table.len()).filter_map(|at| table.row(at)).count());
    let table = started.elapsed();
    let started = Instant::now();
    let summary = diff.summary();
    let told = started.elapsed();
    times.sort();
    let busy = busy / ROUNDS as f64;
    println!(
        "{name}: {} (worst {}), processor {busy:.1} ms",
        ms(times[ROUNDS / 2]),
        ms(times[ROUNDS - 1])
    );
    println!(
        "  lines {} ({lines}), table {} ({rows}), sentence {}: {summary}",
        ms(columns),
        ms(table),
        ms(told)
    );
}

/// Random generator (splitmix64), reproducible by its seed.
struct Dice(u64);

impl Dice {
    fn below(&mut self, end: usize) -> usize {
        self.0 = self.0.wrapping_add(0x9E37_79B9_7F4A_7C15);
        let mut z = self.0;
        z = (z ^ (z >> 30)).wrapping_mul(0xBF58_476D_1CE4_E5B9);
        z = (z ^ (z >> 27)).wrapping_mul(0x94D0_49BB_1331_11EB);
        usize::try_from((z ^ (z >> 31)) % end as u64).unwrap_or(0)
    }
}

fn ms(time: Duration) -> String {
    format!("{:.1} ms", time.as_secs_f64() * 1000.0)
}

/// CPU time of this process so far, which other load on the machine does not distort.
fn busy_ms() -> f64 {
    let stat = std::fs::read_to_string("/proc/self/schedstat").unwrap_or_default();
    let nanoseconds: f64 =
        stat.split(' ').next().and_then(|first| first.parse().ok()).unwrap_or_default();
    nanoseconds / 1e6
}

const WORDS: [&str; 12] = [
    "ticket", "project", "free", "base", "advanced", "downtime", "the", "plan", "customer",
    "revenue", "since", "reports",
];

fn sentence(dice: &mut Dice, words: usize) -> String {
    (0..words).map(|_| WORDS[dice.below(WORDS.len())]).collect::<Vec<_>>().join(" ")
}

/// Generates rows like those of answers: ids, names, numbers and a few words.
fn rows(dice: &mut Dice, keyed: bool) -> Vec<Value> {
    let row = |n: usize, dice: &mut Dice| {
        let mut entries = Vec::new();
        let mut add = |key: &str, value: Value| entries.push((Value::from(key), value));
        if keyed {
            add("ticket_id", number(n + 1_000));
        }
        add("plan", Value::from(WORDS[2 + dice.below(3)]));
        add("category", Value::from(WORDS[dice.below(6)]));
        add(
            "project_total_revenue",
            Value::Number(format!("{}.{:02}", dice.below(5_000), dice.below(100))),
        );
        add(
            "owner_total_revenue",
            Value::Number(format!("{}.{:02}", dice.below(50_000), dice.below(100))),
        );
        add(
            "created",
            Value::Text(format!("2024-{:02}-{:02}", 1 + dice.below(12), 1 + dice.below(28))),
        );
        add("priority_score", Value::Number(format!("{}.{}", dice.below(100), dice.below(10))));
        add("why", Value::Text(sentence(dice, 6)));
        Value::Map(entries)
    };
    (0..ROWS).map(|n| row(n, dice)).collect()
}

/// Changes the score of one row in `one_in`.
fn wrong(dice: &mut Dice, rows: &[Value], one_in: usize) -> Vec<Value> {
    let change = |row: &Value, dice: &mut Dice| {
        let mut entries = row.entries().to_vec();
        if dice.below(one_in) == 0 {
            for (key, value) in &mut entries {
                match key.text() {
                    Some("priority_score") => {
                        *value = Value::Number(format!("{}.5", 100 + dice.below(100)));
                    }
                    Some("why") => *value = Value::Text(sentence(dice, 6)),
                    _ => {}
                }
            }
        }
        Value::Map(entries)
    };
    rows.iter().map(|row| change(row, dice)).collect()
}

fn permuted(dice: &mut Dice, rows: &[Value]) -> Vec<Value> {
    let mut rows = rows.to_vec();
    for at in (1..rows.len()).rev() {
        rows.swap(at, dice.below(at + 1));
    }
    rows
}

fn number(n: usize) -> Value {
    Value::Number(n.to_string())
}

fn list(rows: &[Value]) -> Value {
    Value::List(rows.to_vec())
}

fn text(lines: &[String]) -> Value {
    Value::Text(lines.join("\n"))
}
