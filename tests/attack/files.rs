//! Attacks with broken files of every supported layout. For any content of a folder, the program
//! exits with one of its own statuses, uses bounded memory, and lists a row for every file that had
//! a recognised layout before it was broken.
use crate::chance::Chance;
use crate::program;
use crate::sandbox::Sandbox;
use std::collections::BTreeSet;
use std::fs;
use std::path::{Path, PathBuf};
use std::time::Duration;

/// Number of files per folder of the campaign.
const FILES_A_FOLDER: usize = 500;
/// Maximum resident memory for one folder, in MiB.
const MOST_MIB: u64 = 1_500;

#[test]
fn broken_files_of_every_layout_leave_rows_and_stop_nothing() {
    let (chance, corpus) = (crate::chance(), corpus());
    assert!(corpus.len() > 100, "the files to break were not found");
    let files = crate::cases("FILES", 150);
    println!("figure: {files} broken files from {} originals", corpus.len());
    crate::attack("folders of broken files", files.div_ceil(FILES_A_FOLDER), |folder| {
        let mut chance = chance.for_case(folder);
        let many = FILES_A_FOLDER.min(files - folder * FILES_A_FOLDER);
        let broken: Vec<(String, Vec<u8>)> =
            (0..many).map(|number| broken(number, &corpus, &mut chance)).collect();
        check(folder, &broken)
    });
}

/// A file that is a run or holds runs, with its path in its layout.
struct Original {
    name: String,
    bytes: Vec<u8>,
}

/// Returns the fixtures, the sample data, and the real files next to the project if they exist.
fn corpus() -> Vec<Original> {
    let root = Path::new(env!("CARGO_MANIFEST_DIR"));
    let places = [
        "demo/results",
        "tests/fixtures/transcripts",
        "tests/fixtures/azure/rows",
        "tests/fixtures/stabletoolbench/answers",
        "tests/fixtures/stabletoolbench/results",
        "tests/fixtures/benchmark/results",
        "../shared/golden/benchmark",
        "../shared/golden/stabletoolbench",
        "../shared/golden/azure",
    ];
    let mut found = Vec::new();
    for place in places {
        collect(&root.join(place), &mut found);
    }
    found.sort();
    let read = |path: PathBuf| {
        let bytes = fs::read(&path).ok().filter(|bytes| (2..400_000).contains(&bytes.len()))?;
        let name = path.strip_prefix(root).ok()?.to_string_lossy().replace("../", "");
        let name = name.split('/').skip(1).collect::<Vec<_>>().join("/");
        Some(Original { name, bytes })
    };
    found.into_iter().filter_map(read).collect()
}

fn collect(dir: &Path, into: &mut Vec<PathBuf>) {
    for entry in fs::read_dir(dir).into_iter().flatten().flatten() {
        let name = entry.file_name().to_string_lossy().into_owned();
        if name.starts_with('.') {
            continue;
        }
        if entry.file_type().unwrap().is_dir() {
            collect(&entry.path(), into);
        } else if ["yaml", "json", "result", "history", "api", "err", "time"]
            .iter()
            .any(|end| name.ends_with(end))
        {
            into.push(entry.path());
        }
    }
}

/// Breaks a random original, in a separate folder so that its layout is still recognised.
fn broken(number: usize, corpus: &[Original], chance: &mut Chance) -> (String, Vec<u8>) {
    let original = chance.pick(corpus);
    let mut bytes = original.bytes.clone();
    for _ in 0..=chance.below(3) {
        break_bytes(&mut bytes, chance);
    }
    (format!("f{number}/{}", original.name), bytes)
}

fn break_bytes(bytes: &mut Vec<u8>, chance: &mut Chance) {
    const ODD: [&str; 26] = [
        "\u{0}",
        "\t",
        "\r",
        "{",
        "}",
        "[",
        "]",
        "\"",
        "'",
        ":",
        "- ",
        "\n",
        "&a ",
        "*a",
        "<<: ",
        "!!binary ",
        "|\n",
        "\\u0000",
        "1e999999",
        "99999999999999999999999",
        "-0",
        "NaN",
        "\u{feff}",
        "\u{202e}",
        "null",
        "---\n",
    ];
    if bytes.is_empty() {
        return;
    }
    let at = chance.index(bytes.len());
    let end = (at + 1 + chance.index(64)).min(bytes.len());
    match chance.below(10) {
        0 => bytes.truncate(at),
        1 => drop(bytes.drain(at..end)),
        2 => bytes[at] = u8::try_from(chance.below(256)).unwrap(),
        3 => bytes[at] ^= 1 << chance.below(8),
        4 | 5 => {
            let odd = chance.pick(&ODD).as_bytes().to_vec();
            bytes.splice(at..at, odd);
        }
        6 => {
            let copy = bytes[at..end].repeat(1 + chance.index(200));
            bytes.splice(at..at, copy);
        }
        7 => {
            let odd = chance.pick(&ODD).as_bytes().repeat(1 + chance.index(20_000));
            bytes.splice(at..at, odd);
        }
        8 => {
            // Replaces a value, which is the text between two quotes or after a colon.
            let to = bytes[at..]
                .iter()
                .position(|byte| *byte == b'\n' || *byte == b',')
                .map_or(bytes.len(), |len| at + len);
            let odd = chance.pick(&ODD).as_bytes().to_vec();
            bytes.splice(at..to, odd);
        }
        _ => {
            let other = chance.index(bytes.len());
            bytes.swap(at, other);
        }
    }
}

fn check(folder: usize, files: &[(String, Vec<u8>)]) -> Result<(), String> {
    let sandbox = Sandbox::with(&format!("attack-files-{folder}"), &[]);
    write(&sandbox.folder, &files.iter().collect::<Vec<_>>());
    let run = |arguments: &[&str]| {
        let ended = program::run(&mut sandbox.command(arguments), Duration::from_mins(5))
            .map_err(|why| format!("{arguments:?}: {why}"))?;
        ended.check(MOST_MIB).map_err(|why| format!("{arguments:?}: {why}"))?;
        Ok::<_, String>(ended)
    };
    run(&["index", ".", "--json"])?;
    let listed = run(&["list", ".", "--json"])?;
    let rows: Vec<serde_json::Value> = listed
        .out
        .lines()
        .map(|line| {
            serde_json::from_str(line).map_err(|why| format!("a row is not JSON: {why}: {line}"))
        })
        .collect::<Result<_, _>>()?;
    let seen: BTreeSet<&str> =
        rows.iter().filter_map(|row| row["path"].as_str()?.split('/').nth(1)).collect();
    let lost: Vec<&str> = files
        .iter()
        .map(|(name, _)| name.as_str())
        .filter(|name| {
            has_a_row_of_its_own(name) && !seen.contains(name.split('/').next().unwrap_or_default())
        })
        .collect();
    if !lost.is_empty() {
        unrecognised(
            folder,
            &files.iter().filter(|(name, _)| lost.contains(&name.as_str())).collect::<Vec<_>>(),
        )?;
    }
    for looks in
        [&["search", "ticket", "."][..], &["stats", ".", "--json"], &["score", ".", "--json"]]
    {
        run(looks)?;
    }
    run(&["report", ".", "--out", "reports", "--format", "html,md,csv,json,jsonl,junit"])?;
    let shown = rows.iter().step_by(rows.len() / 12 + 1).filter_map(|row| row["path"].as_str());
    for path in shown.filter(|path| !path.contains('#')) {
        run(&["show", path])?;
    }
    Ok(())
}

/// Accepts files without a row if each is reported as not being a transcript, since too little of
/// it was left to recognise. Keeps the others for inspection.
fn unrecognised(folder: usize, files: &[&(String, Vec<u8>)]) -> Result<(), String> {
    let sandbox = Sandbox::with(&format!("attack-files-{folder}-lost"), &[]);
    write(&sandbox.folder, files);
    let ended =
        program::run(&mut sandbox.command(&["index", ".", "--json"]), Duration::from_mins(5))?;
    let told: serde_json::Value =
        serde_json::from_str(&ended.out).map_err(|why| why.to_string())?;
    if told["not_transcripts"] == files.len() {
        return Ok(());
    }
    let kept = std::env::temp_dir().join(format!("touchstone-attack-lost-{folder}"));
    write(&kept, files);
    Err(format!(
        "{} files have no row, and not each is told as no transcript; kept in {}",
        files.len(),
        kept.display()
    ))
}

fn write(folder: &Path, files: &[&(String, Vec<u8>)]) {
    for (name, bytes) in files {
        let path = folder.join("results").join(name);
        fs::create_dir_all(path.parent().unwrap()).unwrap();
        fs::write(&path, bytes).unwrap();
        let long_ago = std::time::SystemTime::now() - Duration::from_hours(1);
        fs::OpenOptions::new().append(true).open(&path).unwrap().set_modified(long_ago).unwrap();
    }
}

/// Returns true if a file produces rows by itself. The other files of a benchmark run belong to the
/// row of their run.
fn has_a_row_of_its_own(name: &str) -> bool {
    let is_result =
        name.contains("/results/") || name.contains("/answers/") || name.contains("/transcripts/");
    let extension = Path::new(name).extension();
    extension.is_some_and(|extension| extension == "yaml" || extension == "json") && is_result
}
