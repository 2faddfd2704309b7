//! **Pure.** Reports of the SWE-bench harness, which say of other tools' runs whether they solved
//! their instance.
use crate::format::HEAD_BYTES;
use crate::head::Head;
use crate::pieces;
use crate::run::ImportedVerdict;
use crate::sessions::{has_extension, parse};
use crate::source::{Input, Source, read_all, resolve};
use touchstone_model::value::Value;

/// Maximum size of a report, in bytes.
const MOST_BYTES: u64 = 4 << 20;

/// Maximum number of files of a folder that are looked into, those first that are named as reports.
const MOST_FILES: usize = 20;

/// Number of folders above a run in which reports are looked for.
const LEVELS: usize = 2;

/// Returns true for the start of a report over all instances.
pub fn is_report(head: &Head) -> bool {
    !head.is_list
        && (head.has(&["total_instances", "resolved_instances"])
            || head.has(&["resolved_ids"])
            || head.has(&["no_generation", "generated"]))
}

/// Finds the verdict `resolved` on an instance, in a report beside the file or in the two folders
/// above it.
pub fn find_verdict(input: &Input<'_>, instance: &str) -> Option<ImportedVerdict> {
    let mut folder = input.parent().to_owned();
    for _ in 0..=LEVELS {
        let names = input.folder.list(&folder);
        let may_be_report = |name: &&String| *name != input.name() && is_report_name(name);
        let (reports, others): (Vec<_>, Vec<_>) =
            names.iter().filter(may_be_report).partition(|name| is_named_report(name));
        for name in reports.into_iter().chain(others).take(MOST_FILES) {
            let path = resolve(&folder, name);
            let source = path.and_then(|path| input.folder.open(&path));
            if let Some(passed) = source.and_then(|source| read_report(&*source, instance)) {
                return Some(verdict(passed, name));
            }
        }
        let Some(above) = resolve(&folder, "..").filter(|_| !folder.is_empty()) else { break };
        folder = above;
    }
    None
}

/// Returns true for the name of a file that may be a report.
pub fn is_report_name(name: &str) -> bool {
    has_extension(name, "json")
        && !name.ends_with(".traj.json")
        && (is_named_report(name) || name.matches('.').count() > 1)
}

fn is_named_report(name: &str) -> bool {
    name.contains("report") || name.contains("result")
}

/// Returns true if a report in a folder may judge the runs of a file, by the paths alone.
pub fn may_judge(folder: &str, path: &str) -> bool {
    let below = match folder {
        "" => Some(path),
        folder => path.strip_prefix(folder).and_then(|rest| rest.strip_prefix('/')),
    };
    let Some(below) = below.filter(|below| below.matches('/').count() <= LEVELS) else {
        return false;
    };
    let is_output = has_extension(below, "jsonl") && below.contains("output");
    is_output || has_extension(below, "traj") || below.ends_with(".traj.json")
}

/// Creates the verdict.
pub fn verdict(passed: bool, source: &str) -> ImportedVerdict {
    ImportedVerdict {
        name: "resolved".to_owned(),
        value: Value::Bool(passed),
        passed: Some(passed),
        reason: Some(format!("From {source}")),
        threshold: None,
    }
}

fn read_report(source: &dyn Source, instance: &str) -> Option<bool> {
    if source.size() > MOST_BYTES {
        return None;
    }
    let mut start = vec![0; HEAD_BYTES];
    let count = source.read_at(0, &mut start).ok()?;
    start.truncate(count);
    let head = Head::read(&start)?;
    if !is_report(&head) && !head.has_inner(instance, "resolved") && !head.has(&["resolved"]) {
        return None;
    }
    let text = pieces::text(read_all(source).ok()?).ok()?;
    let report = pieces::members(text.trim());
    // The report on one instance has its id as the only key.
    let own = pieces::member(&report, instance).and_then(parse);
    if let Some(resolved) = own.and_then(|own| own.get("resolved")?.bool()) {
        return Some(resolved);
    }
    // Reports are read for every run, so their lists are searched as text.
    let quoted = format!("\"{instance}\"");
    let is_listed = |key: &str| {
        let list = pieces::member(&report, key).filter(|list| list.starts_with('['));
        list.is_some_and(|list| list.contains(&quoted))
    };
    if ["resolved_ids", "resolved"].iter().any(|key| is_listed(key)) {
        return Some(true);
    }
    let others = [
        "unresolved_ids",
        "completed_ids",
        "submitted_ids",
        "empty_patch_ids",
        "error_ids",
        "generated",
        "no_generation",
    ];
    others.iter().any(|key| is_listed(key)).then_some(false)
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::testing::Files;

    #[test]
    fn a_report_may_judge_runs_beside_it_and_up_to_two_folders_below() {
        for name in ["report.json", "agent.run-1.json", "results.json"] {
            assert!(is_report_name(name), "{name}");
        }
        for name in ["a.traj.json", "preds.json", "report.txt"] {
            assert!(!is_report_name(name), "{name}");
        }
        for path in ["r/a.traj", "r/x/a.traj.json", "r/x/y/output.jsonl"] {
            assert!(may_judge("r", path) && !may_judge("s", path), "{path}");
        }
        for path in ["r/x/y/z/a.traj", "r/a.json", "r2/a.traj", "a.traj", "r/lines.jsonl"] {
            assert!(!may_judge("r", path), "{path}");
        }
        assert!(may_judge("", "x/y/a.traj") && !may_judge("", "x/y/z/a.traj"));
    }

    #[test]
    fn a_file_that_is_named_as_a_report_is_looked_into_before_others() {
        let report = r#"{"a":{"resolved":true}}"#;
        let others: Vec<String> = (0..MOST_FILES).map(|at| format!("r/a.{at:02}.json")).collect();
        let mut files: Vec<(&str, &str)> =
            others.iter().map(|path| (path.as_str(), "{}")).collect();
        files.extend([("r/report.json", report), ("r/z.traj", "")]);
        let folder = Files::new(&files);
        let source = folder.bytes("r/z.traj");
        let input = Input { path: "r/z.traj", source: &source, folder: &folder };
        assert_eq!(find_verdict(&input, "a"), Some(verdict(true, "report.json")));
    }

    #[test]
    fn a_report_says_whether_an_instance_was_resolved() {
        let read = |text: &str| read_report(&text.as_bytes().to_vec(), "a");
        let table = [
            (r#"{"a":{"patch_exists":true,"resolved":true}}"#, Some(true)),
            (r#"{"a":{"resolved":false}}"#, Some(false)),
            (
                r#"{"total_instances":2,"resolved_instances":1,"submitted_ids":["a","b"],"resolved_ids":["a"]}"#,
                Some(true),
            ),
            (r#"{"resolved_ids":["b"],"unresolved_ids":["a"]}"#, Some(false)),
            (r#"{"resolved_ids":["b"]}"#, None),
            (r#"{"no_generation":[],"generated":["a"],"resolved":[]}"#, Some(false)),
            (r#"{"a":{"score":1}}"#, None),
            ("[1]", None),
        ];
        for (text, expected) in table {
            assert_eq!(read(text), expected, "{text}");
        }
    }
}
