//! **Pure.** Words for a split launch: its state, its parts and what it spent.
use super::super::{amounts::counted, terminal::one_line};
use std::fmt::Write as _;
use touchstone_api::{SplitLaunch, SplitPart, SplitPartState, SplitState};

/// Maximum number of parts that are named.
const NAMED: usize = 10;

/// Names a launch.
pub(super) fn title(launch: &SplitLaunch) -> String {
    format!("{} ({})", one_line(&launch.id), one_line(&launch.what))
}

/// Describes a launch on a few lines.
pub(super) fn describe(launch: &SplitLaunch) -> Vec<String> {
    let jobs: Vec<&str> = launch.jobs.iter().map(|job| job.id.as_str()).collect();
    let jobs = match jobs.as_slice() {
        [] => String::new(),
        [job] => format!("job {job} · "),
        several => format!("jobs {} · ", several.join(", ")),
    };
    let mut lines = vec![
        format!("{}: {}", title(launch), state(launch.state)),
        format!("  {jobs}{}", parts(launch)),
        format!("  {}", runs(launch)),
    ];
    let troubled =
        |row: &&SplitPart| row.state == SplitPartState::Lost || row.why.is_some() || row.failed > 0;
    let named: Vec<&SplitPart> = launch.rows.iter().filter(troubled).collect();
    lines.extend(named.iter().take(NAMED).map(|row| format!("  {}", part(row))));
    if named.len() > NAMED {
        lines.push(format!("  … and {} more", named.len() - NAMED));
    }
    lines.extend(launch.note.iter().map(|note| format!("  {}", one_line(note))));
    lines.extend(launch.how_to_submit.iter().map(|how| format!("  {}", one_line(how))));
    lines
}

/// Counts parts by state, with the most frequent reason to wait.
pub(super) fn parts(launch: &SplitLaunch) -> String {
    let waiting = launch.rows.iter().find(|row| row.state == SplitPartState::Waiting);
    let waits = waiting.map_or("has not begun", |row| row.word.as_str());
    let counts = [
        (launch.running, "run"),
        (launch.waiting, "wait"),
        (launch.ended, "ended"),
        (launch.lost, "lost"),
    ];
    let counts = counts.into_iter().filter(|(count, _)| *count > 0);
    let text = |(count, word): (u64, &str)| match word {
        "wait" if waits != "has not begun" => format!("{count} wait ({waits})"),
        _ => format!("{count} {word}"),
    };
    let counts: Vec<String> = counts.map(text).collect();
    format!("{}: {}", counted(launch.parts, "part"), counts.join(", "))
}

/// Counts runs, and says what they cost.
pub(super) fn runs(launch: &SplitLaunch) -> String {
    let SplitLaunch { done, total, failed, left_out, cost, unpriced, max_cost, .. } = launch;
    // Writing to a string cannot fail.
    let mut words = format!("{done} of {} done", counted(*total, "run"));
    if *failed > 0 {
        let _ = write!(words, ", {failed} failed");
    }
    if *left_out > 0 {
        let _ = write!(words, ", {left_out} cannot be made");
    }
    let _ = write!(words, " · ${cost:.2}");
    if let Some(most) = max_cost {
        let _ = write!(words, " of ${most}");
    }
    match unpriced {
        0 => words,
        1 => words + " and 1 reply whose cost is not known",
        many => format!("{words} and {many} replies whose cost is not known"),
    }
}

fn part(row: &SplitPart) -> String {
    let job = row.job.as_ref().map(|job| format!(" ({})", one_line(job))).unwrap_or_default();
    let host = row.host.as_ref().map(|host| format!(" on {}", one_line(host))).unwrap_or_default();
    let failed = if row.failed > 0 { format!(", {} failed", row.failed) } else { String::new() };
    let why = row.why.as_ref().map(|why| format!(": {}", one_line(why))).unwrap_or_default();
    format!("part {}{job}{host} {}{failed}{why}", row.part, one_line(&row.word))
}

/// Returns the word for a state.
pub(super) fn state(state: SplitState) -> &'static str {
    match state {
        SplitState::Waiting => "waiting",
        SplitState::Running => "running",
        SplitState::Stopping => "stopping",
        SplitState::Unfinished => "ended, with runs left",
        SplitState::Done => "done",
    }
}
