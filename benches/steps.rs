//! Measures questions about the steps of 100,000 runs, and of texts in one place, beside a reading
//! of the same transcripts that decides them without the index. Both must find as many runs.
use crate::floor;
use crate::measures::{Home, LONG, ms, page, spread};
use fs_err as fs;
use std::path::Path;
use std::time::{Duration, Instant};
use touchstone_api::Column;
use touchstone_app::App;
use touchstone_formats::transcript;
use touchstone_model::run::{Part, Run, Step, StepKind};

/// A filter, and the same question to a whole run.
type Question = (&'static str, fn(&Run) -> bool);

const STRUCTURE: [Question; 8] = [
    ("call(query_support_tickets){failed}", |run| calls(run).any(|call| fails(call, TICKETS))),
    ("call(query_*){failed}>=2", |run| {
        calls(run).filter(|call| call.failed == Some(true)).count() >= 2
    }),
    ("call(){failed} then call(){ok} then answer", |run| {
        let first = calls(run).position(|call| call.failed == Some(true));
        let after = |first| calls(run).skip(first + 1).any(|call| call.failed == Some(false));
        first.is_some_and(after) && run.answer.is_some()
    }),
    ("call(query_support_tickets) then no call(query_control_plane_data)", |run| {
        calls(run).last().is_some_and(|call| call.title.as_deref() == Some(TICKETS))
    }),
    ("call(query_support_tickets) then next call(query_support_tickets)", |run| {
        let called = |step: &Step| step.title.as_deref() == Some(TICKETS);
        run.steps.windows(2).any(|pair| pair.iter().all(called))
    }),
    ("call() then call(){same}", |run| {
        let all: Vec<&Step> = calls(run).collect();
        let same = |one: &Step, other: &Step| {
            one.title == other.title && own_parts(one).eq(own_parts(other))
        };
        (0..all.len()).any(|at| all[at + 1..].iter().any(|other| same(all[at], other)))
    }),
    ("-call() user()", |run| {
        calls(run).next().is_none() && run.steps.iter().any(|step| step.kind == StepKind::User)
    }),
    ("call(){failed,result~\"no such column\"} then no answer", |run| {
        calls(run).any(|call| holds(call, "result", "no such column")) && run.answer.is_none()
    }),
];

const TEXT: [Question; 5] = [
    ("args:zzzqqqxx", |_| false),
    ("args:8cae6eab", |run| calls(run).any(|call| holds(call, "sql", "8cae6eab"))),
    ("result:\"no such column\"", |run| {
        calls(run).any(|call| holds(call, "result", "no such column"))
    }),
    ("said:downtime", |run| {
        let said = |step: &&Step| step.kind == StepKind::Assistant;
        run.steps.iter().filter(said).any(|step| holds(step, "message", "downtime"))
    }),
    ("result:/column: (quota|usage)$/", |run| {
        let named = |call: &Step| {
            holds(call, "result", "column: quota") || holds(call, "result", "column: usage")
        };
        calls(run).any(named)
    }),
];

/// Words of free text, anywhere in a run.
const WORDS: [(&str, &str); 6] = [
    ("downtime", "downtime"),
    ("zzzqqqxx", "zzzqqqxx"),
    ("\"no such column\"", "no such column"),
    ("8cae6eab", "8cae6eab"),
    ("\"monthly total average\"", "monthly total average"),
    (TICKETS, TICKETS),
];

const TICKETS: &str = "query_support_tickets";

fn calls(run: &Run) -> impl Iterator<Item = &Step> {
    run.steps.iter().filter(|step| step.kind == StepKind::ToolCall)
}

fn fails(call: &Step, tool: &str) -> bool {
    call.failed == Some(true) && call.title.as_deref() == Some(tool)
}

fn own_parts(step: &Step) -> impl Iterator<Item = &Part> {
    step.parts.iter().filter(|part| !matches!(&*part.label, "result" | "error"))
}

/// Returns true when a part holds a text at the beginning of a word. The result of a call may be
/// its error.
fn holds(step: &Step, label: &str, wanted: &str) -> bool {
    let is_it = |part: &&Part| part.label == label || (label == "result" && part.label == "error");
    step.parts
        .iter()
        .filter(is_it)
        .filter_map(|part| part.value.text())
        .any(|text| starts_a_word(text, wanted))
}

fn starts_a_word(text: &str, wanted: &str) -> bool {
    let text = text.to_lowercase();
    text.match_indices(wanted)
        .any(|(at, _)| !text[..at].ends_with(|last: char| last.is_ascii_alphanumeric()))
}

/// Runs the measurement.
pub(crate) fn run(dir: &Path) {
    let home = Home::filled(dir);
    let app = home.open();
    app.folder().wait_ready(LONG).unwrap_or_else(|e| panic!("{e}"));
    app.folder().wait_searchable(LONG).unwrap_or_else(|e| panic!("{e}"));
    let asked = [
        ("structure", STRUCTURE.map(|(filter, _)| filter).to_vec()),
        ("text", TEXT.map(|(filter, _)| filter).to_vec()),
        ("words", WORDS.map(|(filter, _)| filter).to_vec()),
    ];
    let mut found = Vec::new();
    for (kind, filters) in asked {
        found.extend(ask(&app, kind, &filters));
    }
    let started = Instant::now();
    let files = floor::list(dir);
    let mut read = vec![0_u64; found.len()];
    for (path, _) in files.iter().filter(|(path, _)| path.extension().is_some_and(|x| x == "yaml"))
    {
        let bytes = fs::read(path).unwrap_or_else(|e| panic!("{e}"));
        let run = transcript::read(&bytes).unwrap_or_else(|e| panic!("{e}"));
        let outline = transcript::outline(&bytes).unwrap_or_else(|e| panic!("{e}"));
        let steps = STRUCTURE.iter().chain(&TEXT).map(|(_, holds)| holds(&run));
        let words = WORDS.iter().map(|(_, word)| starts_a_word(&outline.text, word));
        for (count, holds) in read.iter_mut().zip(steps.chain(words)) {
            *count += u64::from(holds);
        }
    }
    println!("steps: all of them by reading the transcripts: {}", ms(started.elapsed()));
    assert_eq!(found, read, "the index answers like a reading of the transcripts");
}

/// Asks each question several times, and returns how many runs each found.
fn ask(app: &App, kind: &str, filters: &[&str]) -> Vec<u64> {
    let columns = [Column::Modified, Column::Size, Column::Tokens];
    let mut all: Vec<Duration> = Vec::new();
    let mut found = Vec::new();
    for filter in filters {
        let mut times: Vec<Duration> = Vec::new();
        let mut total = 0;
        for n in 0..9 {
            // The condition changes each time, so that no cached list is returned.
            let filter = format!("{filter} turns:>=0 size:>{n}");
            let started = Instant::now();
            total = page(app, &filter, columns[n % 3].clone(), 0).total;
            times.push(started.elapsed());
        }
        all.extend(&times);
        println!("steps: {kind}: {filter}: {total} runs, {}", spread(&mut times));
        found.push(total);
    }
    println!("steps: {kind}: all: {}", spread(&mut all));
    found
}
