//! Measures the text metrics on pairs of about 200 words: documents per second of CPU time, for all
//! metrics and each alone, and the cost of the first use. Measures azure-ai-evaluation on the same
//! pairs if `TOUCHSTONE_METRICS_PYTHON` names a Python that has it (for its requirements see
//! `scripts/metrics-peer.py`). Prints a table; never fails.
#![expect(
    clippy::cast_precision_loss,
    clippy::cast_possible_truncation,
    clippy::cast_sign_loss,
    reason = "counts and times here are far below where a float is coarse"
)]
#[expect(dead_code, reason = "only a part of it is used here")]
mod corpus;
#[expect(dead_code, reason = "only a part of it is used here")]
mod floor;

use corpus::Dice;
use std::io::Write as _;
use std::path::Path;
use std::process::{Command, Stdio};
use touchstone_app::scoring::metrics::{Nltk, measure_line};
use touchstone_metrics::text::{Metric, Texts, measure};

/// Number of pairs; `WORDS` is the minimum number of words of a text.
const PAIRS: usize = 300;
const WORDS: usize = 200;
/// Number of rounds over all pairs.
const ROUNDS: usize = 10;
/// The six metrics of the package, with ROUGE once by words and once by order.
const SIX: [Metric; 6] =
    [Metric::F1, Metric::Bleu, Metric::Gleu, Metric::Meteor, Metric::Rouge1, Metric::RougeL];

const PROSE: &str = "The committee met on Thursday to review the budget for the coming year. Several members asked why travel costs had \
doubled since March. The treasurer explained that two conferences had moved overseas, and that fares were higher than planned. Nobody \
objected to the new figures, although one member wanted a monthly report. After a short break the chair turned to the question of the \
library roof. Water had come through in three places during the storm, she said, and about forty books were ruined. A local builder \
offered to mend it for $12,500 before winter. Dr. Amsel thought the price was fair, but he asked for a second opinion. The vote was \
postponed until the next meeting. In other news, the garden team planted sixty trees along the river path. It wasn't easy, because the \
ground was dry and full of stones. They finished on Sunday evening and celebrated with soup and bread. The mayor sent a letter of thanks \
to every child who took part. A small bridge near the mill will be closed for repairs from May 3 to June 12. Drivers should follow the \
signs and expect delays of ten to fifteen minutes. Anyone with questions may call the town office between 9 a.m. and 5 p.m. on weekdays. \
Last year's event sold out within two days, so early booking is advised. Mrs. Okafor will conduct the orchestra for the last time before \
she retires. Finally, the council reminded residents to sort their waste correctly. Most people said the new system works better than \
they had expected.";

fn main() {
    let pairs = pairs();
    let before = floor::peak_mb();
    let first = seconds(|| {
        measure(Metric::Meteor, "dogs ran", "a hound walks", Nltk::default());
    });
    println!(
        "first use of WordNet's words: {:.1} ms, {} MB",
        first * 1000.0,
        floor::peak_mb() - before
    );
    println!("documents/s on one core, {PAIRS} pairs of {WORDS} words:");
    show("all ten", rate(&pairs, &Metric::ALL));
    show("all six of the package", rate(&pairs, &SIX));
    for metric in Metric::ALL {
        show(metric.name(), rate(&pairs, &[metric]));
    }
    let lines: Vec<String> = pairs.iter().enumerate().map(line).collect();
    let took = seconds(|| {
        for line in lines.iter().cycle().take(PAIRS * ROUNDS) {
            measure_line(line, Nltk::default()).unwrap_or_else(|why| panic!("{why}"));
        }
    });
    show("all ten, from JSON to JSON", (PAIRS * ROUNDS) as f64 / took);
    match peer(&lines) {
        Ok(rate) => show("azure-ai-evaluation, all six", rate),
        Err(why) => println!("azure-ai-evaluation was not measured: {why}"),
    }
}

fn show(what: &str, rate: f64) {
    println!("  {what:30} {rate:>9.0}");
}

/// CPU time of `work`. The system counts it in hundredths of a second.
fn seconds(work: impl FnOnce()) -> f64 {
    let before = floor::cpu_s();
    work();
    floor::cpu_s() - before
}

fn rate(pairs: &[(String, String)], metrics: &[Metric]) -> f64 {
    let mut sum = 0.0;
    let took = seconds(|| {
        for (response, truth) in pairs.iter().cycle().take(PAIRS * ROUNDS) {
            let texts = Texts::new(response, truth, Nltk::default());
            sum += metrics.iter().map(|metric| texts.measure(*metric).score).sum::<f64>();
        }
    });
    assert!(sum > 0.0, "nothing was measured");
    (PAIRS * ROUNDS) as f64 / took.max(0.01)
}

/// Generates pairs of texts: the second has the sentences in another order, half of them replaced,
/// and one word in ten changed.
fn pairs() -> Vec<(String, String)> {
    let sentences: Vec<&str> = PROSE.split_inclusive(". ").map(str::trim).collect();
    let words: Vec<&str> = PROSE.split(' ').collect();
    let mut dice = Dice::new(5);
    let mut pick = |list: &[&'static str]| list[dice.below(list.len() as u64) as usize];
    let mut pair = || {
        let mut response = Vec::new();
        while response.iter().map(|sentence: &&str| sentence.split(' ').count()).sum::<usize>()
            < WORDS
        {
            response.push(pick(&sentences));
        }
        let truth: Vec<&str> = response
            .iter()
            .map(|same| if pick(&["same", "other"]) == "same" { *same } else { pick(&sentences) })
            .collect();
        let mut written = |text: &[&'static str]| {
            let text = text.iter().flat_map(|sentence| sentence.split(' '));
            let tenth = ["", "", "", "", "", "", "", "", "", "x"];
            text.map(|word| if pick(&tenth).is_empty() { word } else { pick(&words) })
                .collect::<Vec<_>>()
                .join(" ")
        };
        (written(&response), written(&truth))
    };
    (0..PAIRS).map(|_| pair()).collect()
}

fn line((id, (response, truth)): (usize, &(String, String))) -> String {
    serde_json::json!({ "id": id, "response": response, "ground_truth": truth }).to_string()
}

/// Measures the package on these pairs, with the six metrics that the package's own figures cover.
fn peer(lines: &[String]) -> Result<f64, String> {
    let python = std::env::var_os("TOUCHSTONE_METRICS_PYTHON")
        .ok_or("TOUCHSTONE_METRICS_PYTHON is not set")?;
    let script = Path::new(env!("CARGO_MANIFEST_DIR")).join("../../scripts/metrics-peer.py");
    let mut child = Command::new(python)
        .arg(script)
        .arg("--bench")
        .stdin(Stdio::piped())
        .stdout(Stdio::piped())
        .spawn()
        .map_err(|why| why.to_string())?;
    if let Some(mut into) = child.stdin.take() {
        into.write_all(lines.join("\n").as_bytes()).map_err(|why| why.to_string())?;
    }
    let output = child.wait_with_output().map_err(|why| why.to_string())?;
    String::from_utf8_lossy(&output.stdout)
        .trim()
        .parse()
        .map_err(|_| "it did not say how fast it was".to_owned())
}
