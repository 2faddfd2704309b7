//! Opponents for pairwise judges: the run with which each run is compared, and its data.
use super::job::pending::{JudgeSpec, Target};
use super::judged_runs::{passing, read_judgements, rows, target};
use crate::OpenFolder;
use crate::error::{AppError, Code};
use rusqlite::OptionalExtension as _;
use std::collections::HashMap;
use touchstone_api::{JudgeRequest, RunRow};
use touchstone_formats::judgement::Judgement;
use touchstone_judges::sowr::{Side, most_frequent};
use touchstone_judges::{Rival, Status, Subject};
use touchstone_store::judgements::inputs_mark;

/// Returns the id of the run at this path. It is looked up, because ids of runs of several files or
/// in files of many do not follow from the path.
pub(super) fn id_at(open: &OpenFolder, path: &str) -> Option<String> {
    let select = |sql: &rusqlite::Connection| {
        let mut select = sql.prepare_cached("SELECT key FROM runs WHERE path = ?")?;
        Ok(select.query_row([path], |row| row.get(0)).optional()?)
    };
    open.ask(|index| select(index)).ok().flatten()
}

/// Task, variation and repeat of a run.
type RunKey = (String, Option<u32>, Option<String>, u32);

/// Returns the opponent of each run: the run of equal task, variation and repeat among those that
/// match the reference filter. Fails if there are several, or if the judge and the reference do not
/// fit.
pub(super) fn find_opponents(
    judge: &touchstone_judges::Judge,
    open: &OpenFolder,
    request: &JudgeRequest,
) -> Result<HashMap<String, Target>, AppError> {
    let bad =
        |message: String, hint: &str| Err(AppError::new(Code::BadRequest, message).hint(hint));
    match (judge.pairs, request.reference.trim().is_empty()) {
        (false, true) => return Ok(HashMap::new()),
        (false, false) => {
            return bad(
                format!("`{}` judges single runs and takes no reference.", judge.name),
                "Leave the reference out.",
            );
        }
        (true, true) => {
            let hint =
                "Choose the runs to compare with by a filter, such as `system:promptql model:o1`.";
            return bad(format!("`{}` compares runs with others.", judge.name), hint);
        }
        (true, false) => {}
    }
    let place = |row: &RunRow| -> Option<RunKey> {
        Some((row.task.clone()?, row.variation, row.variation_name.clone(), row.repeat))
    };
    let mut reference: HashMap<RunKey, Vec<RunRow>> = HashMap::new();
    for row in passing(open, &request.reference)? {
        if let Some(place) = place(&row) {
            reference.entry(place).or_default().push(row);
        }
    }
    let mut rivals = HashMap::new();
    for row in rows(open, request)? {
        let there = place(&row).and_then(|place| reference.get(&place));
        // A run is not compared with itself.
        let mut others: Vec<&RunRow> =
            there.into_iter().flatten().filter(|other| other.id != row.id).collect();
        others.sort_by(|a, b| a.path.cmp(&b.path));
        match others.as_slice() {
            [] => {}
            [other] => drop(rivals.insert(row.id, target((*other).clone(), None))),
            [first, second, ..] => {
                let message = format!(
                    "{} matches two runs of the reference: {} and {}.",
                    row.path, first.path, second.path
                );
                return bad(
                    message,
                    "Narrow the reference down to one run of each task, variation and repeat.",
                );
            }
        }
    }
    Ok(rivals)
}

/// Returns the opponent of a run, with the `sopr` verdicts on both by the rules of `wish`; `None`
/// if it cannot be read.
pub(super) fn load_opponent(
    open: &OpenFolder,
    own: &Subject,
    id: &str,
    wish: Option<(&JudgeSpec, &Target)>,
) -> Option<Box<Rival>> {
    let (row, other) = open.reading.subject(&open.flow, id).ok()?;
    let known = |path: &str, subject: &Subject| {
        wish.map_or(Side::Unknown, |(wish, _)| side(open, path, subject, wish))
    };
    let side = known(&row.path, &other);
    let own = wish.map_or(Side::Unknown, |(_, target)| known(&target.path, own));
    Some(Box::new(Rival { answer: other.answer, process: other.process, side, own, seed: 0 }))
}

/// Returns the most frequent `sopr` verdict on a run, if it is still valid.
fn side(open: &OpenFolder, path: &str, subject: &Subject, wish: &JudgeSpec) -> Side {
    let Some(judge) = touchstone_judges::named("sopr") else { return Side::Unknown };
    let inputs = inputs_mark(judge, wish.rules, subject);
    let sheet = read_judgements(open, path).ok().flatten().unwrap_or_default();
    let of_it = |said: &&Judgement| {
        (said.judge == judge.name && said.inputs == inputs && said.rules == wish.rules.word())
            && judge.version() == said.version
    };
    // The last judgement with a readable verdict counts.
    let said = sheet.judgements().iter().rev().filter(of_it).find_map(|said| {
        let rounds: Vec<Status> = said
            .rounds
            .iter()
            .filter_map(|round| Status::from_word(round.verdict.as_deref()?))
            .collect();
        most_frequent(&rounds)
    });
    said.map_or(Side::Unknown, Side::Judged)
}
