//! Corpus for the overview: 200 tasks of 5 variations, run by 12 pairs of system and model, 8 times
//! each.
use super::Dice;
use fs_err as fs;
use std::fmt::Write as _;
use std::io;
use std::path::{Path, PathBuf};

const TASKS: usize = 200;
const VARIATIONS: usize = 5;
const REPEATS: usize = 8;
const SYSTEMS: [&str; 3] = ["promptql", "tool_calling", "tool_calling_python"];
const MODELS: [&str; 4] = ["claude", "o1", "o3-mini", "replay"];
const ROWS: u64 = 6;
pub(crate) const RUNS: usize = TASKS * VARIATIONS * SYSTEMS.len() * MODELS.len() * REPEATS;

/// Writes suites with expected outputs, and 96,000 runs of which some are right, unless they exist
/// already.
pub(crate) fn write(root: &Path) -> io::Result<PathBuf> {
    let dir = root.join(format!("matrix{TASKS}x{VARIATIONS}x12x{REPEATS}"));
    let done = dir.join(".complete");
    if done.exists() {
        return Ok(dir);
    }
    let mut dice = Dice::new(20_260_202);
    put_suites(&dir, "fields")?;
    for task in 0..TASKS {
        let results = dir.join(format!("results/group{}", task / 20));
        fs::create_dir_all(&results)?;
        for variation in 0..VARIATIONS {
            for (system, model) in
                SYSTEMS.iter().flat_map(|system| MODELS.map(|model| (system, model)))
            {
                for repeat in 1..=REPEATS {
                    let run = if repeat > 1 { format!("-run{repeat}") } else { String::new() };
                    let name =
                        format!("task{task:03}-{system}-{model}-variation{variation}{run}.yaml");
                    fs::write(results.join(name), transcript(&mut dice))?;
                }
            }
        }
    }
    fs::write(done, b"")?;
    Ok(dir)
}

/// Writes all suites, each with one scorer.
pub(crate) fn put_suites(dir: &Path, scorer: &str) -> io::Result<()> {
    for task in 0..TASKS {
        let folder = dir.join(format!("tasks/group{}", task / 20));
        fs::create_dir_all(&folder)?;
        fs::write(folder.join(format!("task{task:03}.yaml")), suite(scorer))?;
    }
    Ok(())
}

fn suite(scorer: &str) -> String {
    let mut text = format!(
        "promptql_prompt: list {{n}} tickets\ntool_calling_prompt: list {{n}} tickets\n\
         result_artifact_key: ticket_id\nrepeat: {REPEATS}\nscorers: [{scorer}]\nvariations:\n"
    );
    for variation in 0..VARIATIONS {
        let _ = writeln!(
            text,
            "  - name: last {variation}\n    parameters: {{n: {variation}}}\n    expected_output:"
        );
        for row in 0..ROWS {
            let _ = writeln!(text, "      - ticket_id: {row}\n        priority: {}", row * 7);
        }
    }
    text
}

fn transcript(dice: &mut Dice) -> String {
    let mut text = String::from("conversation:\n  - user_message: list tickets\n");
    if dice.below(50) == 0 {
        text.push_str("  - error: rate limit reached\n");
        return text;
    }
    text.push_str("  - assistant_message: done\nanswer:\n");
    for row in 0..ROWS {
        let wrong = u64::from(dice.below(8) == 0);
        let _ = writeln!(text, "  - ticket_id: {row}\n    priority: {}", row * 7 + wrong);
    }
    text
}
