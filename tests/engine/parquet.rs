//! Reports in Parquet: what `DuckDB` and the `parquet` crate read in them is what `stats` counts.
use crate::bench::{Bench, beside_the_project};
use parquet::file::reader::{FileReader as _, SerializedFileReader};
use parquet::record::{Field, Row};
use serde_json::Value;
use std::path::{Path, PathBuf};
use std::process::Command;
use touchstone_api::{ReportFormat, ReportRequest, Stats, StatsGroup, StatsRequest};
use touchstone_store::segments::reference;

/// Folders that are there: the sample data, and real results beside the project.
fn folders() -> Vec<PathBuf> {
    let golden = ["benchmark", "stabletoolbench", "azure"]
        .map(|name| beside_the_project(&format!("../shared/golden/{name}")));
    let fixtures = ["demo", "tests/fixtures/benchmark"].map(beside_the_project);
    fixtures.into_iter().chain(golden).filter(|folder| folder.exists()).collect()
}

fn open(folder: &Path) -> (Bench, Stats, tempfile::TempDir, PathBuf) {
    let bench = Bench::new().open_at(folder.to_str().unwrap());
    let stats = bench.app().stats().systems(&StatsRequest::default()).unwrap();
    let dir = tempfile::tempdir().unwrap();
    let path = dir.path().join("runs.parquet");
    let request = ReportRequest::for_format(ReportFormat::Parquet);
    let report = bench.app().reports().make_report(&request, true).unwrap();
    assert!(report.base64 && report.file_name.ends_with(".parquet"), "{}", report.file_name);
    bench.app().reports().keep_report(&report, &path).unwrap();
    assert_eq!(fs_err::metadata(&path).unwrap().len(), report.bytes);
    (bench, stats, dir, path)
}

fn text(row: &Row, name: &str) -> Option<String> {
    match field(row, name) {
        Field::Str(text) => Some(text.clone()),
        Field::Null => None,
        other => panic!("{name} is {other:?}"),
    }
}

fn number(row: &Row, name: &str) -> Option<f64> {
    match field(row, name) {
        Field::Double(number) => Some(*number),
        Field::Null => None,
        other => panic!("{name} is {other:?}"),
    }
}

fn field<'a>(row: &'a Row, name: &str) -> &'a Field {
    row.get_column_iter().find(|(column, _)| *column == name).unwrap().1
}

fn rows(path: &Path) -> Vec<Row> {
    let reader =
        SerializedFileReader::new(fs_err::File::open(path).unwrap().into_parts().0).unwrap();
    reader.get_row_iter(None).unwrap().map(Result::unwrap).collect()
}

#[test]
fn what_the_crate_reads_back_is_what_stats_count_and_missing_values_stay_missing() {
    let (mut all, mut without_cost) = (0, 0);
    for folder in folders() {
        let (bench, stats, _dir, path) = open(&folder);
        let rows = rows(&path);
        assert_eq!(rows.len() as u64, stats.ends.runs, "{}", folder.display());
        for group in &stats.groups {
            let of_group = |row: &&Row| {
                text(row, "system") == group.system && text(row, "model") == group.model
            };
            let of_group: Vec<&Row> = rows.iter().filter(of_group).collect();
            let count = |outcomes: &[&str]| {
                let outcome = |row: &&&Row| text(row, "outcome").unwrap();
                of_group.iter().filter(|row| outcomes.contains(&outcome(row).as_str())).count()
                    as u64
            };
            let StatsGroup { ends, passes, score, .. } = group;
            assert_eq!(of_group.len() as u64, ends.runs, "{}", group.name);
            assert_eq!(count(&["error"]), ends.errors, "{}", group.name);
            assert_eq!(count(&["passed", "failed", "scored"]), ends.scored, "{}", group.name);
            let rate = passes.as_ref().map_or((0, 0), |passes| (passes.passed, passes.of));
            assert_eq!((count(&["passed"]), count(&["passed", "failed"])), rate, "{}", group.name);
            let scores: Vec<f64> =
                of_group.iter().filter_map(|row| number(row, "counted_score")).collect();
            let sum: f64 = scores.iter().sum();
            #[expect(clippy::cast_precision_loss, reason = "there are few")]
            let mean = sum / scores.len() as f64;
            assert!(score.as_ref().is_none_or(|score| (score.value - mean).abs() < 1e-12));
            without_cost += of_group.iter().filter(|row| number(row, "cost").is_none()).count();
            let known = of_group.iter().filter(|row| number(row, "cost").is_some()).count() as u64;
            assert_eq!(known, group.cost.known, "{}", group.name);
        }
        // An error is never a wrong answer.
        for row in &rows {
            let is_error = text(row, "state").as_deref() == Some("error");
            assert!(!is_error || number(row, "counted_score").is_none(), "{row}");
        }
        all += rows.len();
        drop(bench);
    }
    assert!(all > 20 && without_cost > 0, "{all} runs, {without_cost} without a cost");
}

#[test]
fn duckdb_sums_a_parquet_report_to_what_stats_say_to_the_last_digit() {
    let pythons = std::env::var("TOUCHSTONE_DUCKDB_PYTHON").into_iter();
    let has_duckdb = |python: &String| {
        let said = Command::new(python).args(["-c", "import duckdb"]).output();
        said.is_ok_and(|said| said.status.success())
    };
    let Some(python) = pythons.chain(["python3".to_owned()]).find(has_duckdb) else {
        println!("cases: 0 (no python with duckdb; TOUCHSTONE_DUCKDB_PYTHON names one)");
        return;
    };
    let mut groups = 0;
    for folder in folders() {
        let (_bench, stats, _dir, path) = open(&folder);
        let peer = beside_the_project("scripts/parquet-peer.py");
        let said = Command::new(&python).arg(&peer).arg(&path).output().unwrap();
        assert!(said.status.success(), "{}", String::from_utf8_lossy(&said.stderr));
        let said: Value = serde_json::from_slice(&said.stdout).unwrap();
        let of_peer = said["groups"].as_array().unwrap();
        assert_eq!(of_peer.len(), stats.groups.len(), "{}", folder.display());
        for group in &stats.groups {
            let found = of_peer.iter().find(|found| found["name"] == group.name.as_str());
            let found = found.unwrap_or_else(|| panic!("{} is missing", group.name));
            let passes = group.passes.as_ref();
            let ours = serde_json::json!({
                "name": group.name, "runs": group.ends.runs, "scored": group.ends.scored,
                "errors": group.ends.errors, "waiting": group.ends.waiting,
                "unscored": group.ends.unscored,
                "passed": passes.map_or(0, |it| it.passed), "decided": passes.map_or(0, |it| it.of),
                "rate": Value::Null, "score": Value::Null, "cost": Value::Null,
                "tokens": group.tokens.sum.map(as_integer),
            });
            // Text, because a reader of JSON may round.
            let exact =
                |name: &str| found[name].as_str().map(|number| number.parse::<f64>().unwrap());
            let all = (exact("rate"), exact("score"), exact("cost"));
            let of_stats =
                (passes.map(|it| it.rate), group.score.as_ref().map(|it| it.value), group.cost.sum);
            assert_eq!(all, of_stats, "{}: {}", folder.display(), group.name);
            let mut found = found.clone();
            for name in ["rate", "score", "cost"] {
                found[name] = Value::Null;
            }
            assert_eq!(found, ours, "{}", folder.display());
            groups += 1;
        }
    }
    println!("cases: {groups} groups");
    assert!(groups > 5);
}

#[expect(clippy::cast_possible_truncation, reason = "tokens are whole numbers")]
fn as_integer(number: f64) -> i64 {
    number as i64
}

#[test]
fn every_column_is_on_the_reference_page() {
    let page = fs_err::read_to_string(beside_the_project("docs/reference/parquet.md")).unwrap();
    let tables = reference();
    assert!(page.contains(&tables), "docs/reference/parquet.md has to hold:\n\n{tables}");
    let (_bench, _, _dir, path) = open(&beside_the_project("demo"));
    let first = &rows(&path)[0];
    for (name, _) in first.get_column_iter() {
        assert!(tables.contains(&format!("| `{name}` |")), "{name}");
    }
}
