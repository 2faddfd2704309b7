//! Corpus for the agreement of judges: 100,000 small runs, each reviewed by a person and judged by
//! two judges.
use super::Dice;
use fs_err as fs;
use std::io;
use std::path::{Path, PathBuf};
use touchstone_formats::judgement::{self, Judgement, JudgementFile, Round};
use touchstone_formats::{review, transcript};
use touchstone_judges::{Rules, Subject};
use xxhash_rust::xxh3::xxh3_128;

pub(crate) const RUNS: usize = 100_000;
const PER_DIR: usize = 100;
/// Verdicts of the two judges with their scores, worst first.
const SOPR: [(&str, f64); 3] = [("unsolved", 0.0), ("unsure", 0.5), ("solved", 1.0)];
const RELEVANCE: [(&str, f64); 5] = [("1", 0.0), ("2", 0.25), ("3", 0.5), ("4", 0.75), ("5", 1.0)];

/// Writes the runs with their reviews and verdicts, unless they exist already.
pub(crate) fn write(root: &Path) -> io::Result<PathBuf> {
    let dir = root.join(format!("said{RUNS}"));
    let done = dir.join(".complete");
    if done.exists() {
        return Ok(dir);
    }
    let results = dir.join("results");
    let (reviews, judgements) =
        (results.join(".touchstone/reviews"), results.join(".touchstone/judgements"));
    fs::create_dir_all(dir.join("tasks"))?;
    let mut dice = Dice::new(20_260_303);
    for n in 0..RUNS {
        let folder = format!("suite{:04}", n / PER_DIR);
        if n % PER_DIR == 0 {
            for below in [&results, &reviews, &judgements] {
                fs::create_dir_all(below.join(&folder))?;
            }
        }
        let system = ["promptql", "tool_calling"][n % 2];
        let model = ["claude", "o1", "o3-mini"][n / 2 % 3];
        let run = format!("{folder}/count{}-{system}-{model}-variation0.yaml", n % PER_DIR);
        let text = transcript(&mut dice);
        // A good answer is often, but not always, judged to be good.
        let good = usize::from(dice.below(3) > 0);
        let person = ["wrong", "right"][slip(&mut dice, good, 2)];
        fs::write(
            reviews.join(review::file_of(&run)),
            format!("verdict: {person}\nnote: The count was looked up.\n"),
        )?;
        fs::write(
            judgements.join(judgement::file_of(&run)),
            build_verdicts(&mut dice, &text, good),
        )?;
        fs::write(results.join(run), text)?;
    }
    fs::write(done, b"")?;
    Ok(dir)
}

fn transcript(dice: &mut Dice) -> String {
    let count = dice.below(1_000);
    format!(
        "conversation:\n- user_message: How many tickets are open?\n- tool_call: {{ id: c, name: count, params: {{ of: tickets }}, \
         result: {count} }}\n- assistant_message: There are {count}.\nanswer: There are {count}.\n"
    )
}

/// Builds the verdicts of both judges for this exact run. For any other run they would be stale,
/// and not counted.
fn build_verdicts(dice: &mut Dice, text: &str, good: usize) -> String {
    let run = transcript::read(text.as_bytes()).unwrap_or_else(|e| panic!("{}", e.message));
    let subject = Subject::from_run(&run, None);
    let mut sheet = JudgementFile::default();
    for (name, words) in [("sopr", &SOPR[..]), ("relevance", &RELEVANCE[..])] {
        let judge = touchstone_judges::named(name)
            .unwrap_or_else(|| panic!("there is no judge named {name}"));
        let (word, score) = words[slip(dice, good * (words.len() - 1), words.len())];
        let round = Round {
            verdict: Some(word.to_owned()),
            score: Some(score),
            reason: "The answer says what the tool returned.".to_owned(),
            ..Round::default()
        };
        let judgement = Judgement {
            judge: name.to_owned(),
            version: judge.version(),
            model: "local".to_owned(),
            rules: Rules::Ours.word().to_owned(),
            inputs: format!("{:032x}", xxh3_128(judge.canon(&subject, Rules::Ours).as_bytes())),
            wanted: 1,
            rounds: vec![round],
            ..Judgement::default()
        };
        sheet.put(sheet.judgements().len(), judgement);
    }
    sheet.write()
}

/// Returns `meant`, or in one of eight cases a random index.
fn slip(dice: &mut Dice, meant: usize, of: usize) -> usize {
    if dice.below(8) > 0 { meant } else { usize::try_from(dice.below(of as u64)).unwrap_or(0) }
}
