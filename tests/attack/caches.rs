//! Attacks on the cache: its files are damaged, while no program runs and while it is served. The
//! results must equal those of a new cache, at once for the next command, and within a time limit
//! for an open page.
use crate::chance::Chance;
use crate::program;
use crate::sandbox::Sandbox;
use crate::served::{Served, until};
use serde_json::{Value, json};
use std::fs;
use std::path::{Path, PathBuf};
use std::time::{Duration, Instant};

const ASKED: [&[&str]; 3] =
    [&["list", ".", "--json"], &["search", "customer", ".", "--json"], &["stats", ".", "--json"]];

#[test]
fn a_cache_that_was_damaged_answers_as_a_new_one() {
    let chance = crate::chance();
    crate::attack("damaged caches", crate::cases("CACHES", 3), |case| {
        damaged(case, chance.for_case(case))
    });
}

#[test]
fn a_cache_that_is_damaged_while_it_is_served_answers_as_before() {
    let chance = crate::chance();
    crate::attack("caches damaged while open", crate::cases("CACHES", 3), |case| {
        served(case, chance.for_case(case))
    });
}

/// Returns the time within which an open page must have correct results again: five seconds, and
/// more when many other tests run at the same time.
fn healed_within() -> Duration {
    Duration::from_secs(if crate::is_campaign() { 5 } else { 30 })
}

/// Damages the cache of a served folder, and compares the replies to the page with those before.
fn served(case: usize, mut chance: Chance) -> Result<(), String> {
    let sandbox = Sandbox::with(&format!("attack-open-{case}"), &[]);
    copy(&Path::new(env!("CARGO_MANIFEST_DIR")).join("demo"), &sandbox.folder);
    let server = Served::start(&sandbox, &[]);
    let is_ready = |status: &Value| {
        status["phase"]["kind"] == "ready"
            && status["search"]["indexed"] == status["search"]["total"]
    };
    until(&server, "status", &json!({}), is_ready);
    let span = json!({ "offset": 0, "limit": 100 });
    let list = json!({ "request": { "filter": "", "sort": { "column": "path", "descending": false }, "span": span } });
    let search = json!({ "text": "customer", "span": span });
    let answers = || {
        let listed = server.call("list_runs", &list);
        let found = server.call("search", &search);
        (listed.0, listed.1["rows"].clone(), found.0, found.1)
    };
    let before = answers();
    if before.0 != 200
        || before.1.as_array().is_none_or(Vec::is_empty)
        || before.3.as_array().is_none_or(Vec::is_empty)
    {
        return Err(format!("nothing is answered: {} and {}", before.0, before.2));
    }
    for round in 0..3 {
        let what = damage(&sandbox.folder.parent().unwrap().join("cache"), &mut chance);
        let begun = Instant::now();
        loop {
            // Data already in memory stays correct for a while; data from disk must be correct or
            // refused.
            let now = answers();
            if now == before {
                break;
            }
            if begun.elapsed() > healed_within() {
                return Err(format!(
                    "round {round}, {what}: the page is still answered {} with {} bytes and {} with {}, not {} and {}",
                    now.0,
                    now.1.to_string().len(),
                    now.2,
                    now.3.to_string().len(),
                    before.1.to_string().len(),
                    before.3.to_string().len()
                ));
            }
            std::thread::sleep(Duration::from_millis(50));
        }
    }
    Ok(())
}

fn damaged(case: usize, mut chance: Chance) -> Result<(), String> {
    let sandbox = Sandbox::with(&format!("attack-cache-{case}"), &[]);
    copy(&Path::new(env!("CARGO_MANIFEST_DIR")).join("demo"), &sandbox.folder);
    let answers = || {
        let mut all = Vec::new();
        for asked in ASKED {
            let ended = program::run(&mut sandbox.command(asked), Duration::from_mins(2))?;
            ended.check(800)?;
            if ended.status != Some(0) {
                return Err(format!("{asked:?} ended with {:?}: {}", ended.status, ended.err));
            }
            // The number of index writes is ignored.
            let lines = ended.out.lines().map(|line| {
                let mut said: Value = serde_json::from_str(line)
                    .map_err(|why| format!("{asked:?}: {why}: {line}"))?;
                said.as_object_mut().and_then(|fields| fields.remove("generation"));
                Ok::<_, String>(said)
            });
            all.push(lines.collect::<Result<Vec<_>, _>>()?);
        }
        Ok::<_, String>(all)
    };
    let indexed =
        program::run(&mut sandbox.command(&["index", ".", "--json"]), Duration::from_mins(2))?;
    indexed.check(800)?;
    let fresh = answers()?;
    for round in 0..3 {
        let what = damage(&sandbox.folder.parent().unwrap().join("cache"), &mut chance);
        let now = answers().map_err(|why| format!("round {round}, {what}: {why}"))?;
        if let Some(at) = (0..ASKED.len()).find(|at| now[*at] != fresh[*at]) {
            return Err(format!(
                "round {round}, {what}: {:?} says something else: {} bytes instead of {}",
                ASKED[at],
                now[at].len(),
                fresh[at].len()
            ));
        }
    }
    Ok(())
}

fn damage(cache: &Path, chance: &mut Chance) -> String {
    let mut files = Vec::new();
    collect(cache, &mut files);
    files.sort();
    assert!(!files.is_empty(), "the cache is empty");
    let path = chance.pick(&files).clone();
    let name = path.strip_prefix(cache).unwrap().display().to_string();
    let mut bytes = fs::read(&path).unwrap();
    let beside = |end: &str| PathBuf::from(format!("{}{end}", path.display()));
    match chance.below(9) {
        0 | 1 if !bytes.is_empty() => {
            for _ in 0..=chance.below(40) {
                let at = chance.index(bytes.len());
                bytes[at] ^= 1 << chance.below(8);
            }
            fs::write(&path, bytes).unwrap();
            format!("bits of {name} flipped")
        }
        2 if !bytes.is_empty() => {
            let at = chance.index(bytes.len());
            let end = (at + 1 + chance.index(8192)).min(bytes.len());
            bytes[at..end].fill(u8::try_from(chance.below(256)).unwrap());
            fs::write(&path, bytes).unwrap();
            format!("bytes {at} to {end} of {name} overwritten")
        }
        3 => {
            let short = chance.index(bytes.len() + 1);
            bytes.truncate(short);
            fs::write(&path, bytes).unwrap();
            format!("{name} cut to {short} bytes")
        }
        4 => {
            bytes.extend(std::iter::repeat_n(7, 1 + chance.index(5_000)));
            fs::write(&path, bytes).unwrap();
            format!("{name} made longer")
        }
        5 => {
            fs::remove_file(&path).unwrap();
            format!("{name} removed")
        }
        6 => {
            fs::remove_file(&path).unwrap();
            fs::create_dir(&path).unwrap();
            fs::write(path.join("x"), "x").unwrap();
            format!("a folder in the place of {name}")
        }
        7 => {
            let end = *chance.pick(&["-shm", "-wal", "-journal"]);
            let _ = fs::remove_file(beside(end));
            if chance.below(2) == 0 {
                fs::write(beside(end), bytes).unwrap();
            } else {
                fs::create_dir(beside(end)).unwrap();
            }
            format!("something in the place of {name}{end}")
        }
        _ => {
            fs::remove_dir_all(cache).unwrap();
            "all of it removed".to_owned()
        }
    }
}

fn collect(dir: &Path, into: &mut Vec<PathBuf>) {
    for entry in fs::read_dir(dir).into_iter().flatten().flatten() {
        if entry.file_type().unwrap().is_dir() {
            collect(&entry.path(), into);
        } else if entry.file_type().unwrap().is_file() {
            into.push(entry.path());
        }
    }
}

fn copy(from: &Path, to: &Path) {
    fs::create_dir_all(to).unwrap();
    for entry in fs::read_dir(from).unwrap().flatten() {
        let target = to.join(entry.file_name());
        if entry.file_type().unwrap().is_dir() {
            copy(&entry.path(), &target);
        } else {
            fs::copy(entry.path(), target).unwrap();
        }
    }
}
