//! Which judgements a run is missing.
use super::job::pending::{self, JudgeSpec, Target};
use super::judged_runs::read_judgements;
use super::pairwise::load_opponent;
use crate::OpenFolder;
use crate::error::AppError;
use touchstone_api::RunState;
use touchstone_formats::judgement::JudgementFile;
use touchstone_judges::Subject;
use touchstone_store::judgements::inputs_mark;

/// Judging state of a run.
pub(super) enum JudgeState {
    Skipped(String),
    Complete { inputs: String, subject: Box<Subject> },
    Owed { owed: Box<pending::PendingJudgement>, subject: Box<Subject> },
}

/// Determines which judgements a run is missing.
pub(super) fn look(
    open: &OpenFolder,
    wish: &JudgeSpec,
    target: &Target,
) -> Result<JudgeState, AppError> {
    let sheet = match read_judgements(open, &target.path) {
        Ok(sheet) => sheet.unwrap_or_default(),
        Err(why) => {
            return Ok(JudgeState::Skipped(format!(
                "Its earlier judgements cannot be read. {why}"
            )));
        }
    };
    look_with(open, wish, target, &sheet)
}

/// Like [`look`], with the file of judgements given.
pub(super) fn look_with(
    open: &OpenFolder,
    wish: &JudgeSpec,
    target: &Target,
    sheet: &JudgementFile,
) -> Result<JudgeState, AppError> {
    let why = match target.state {
        RunState::Answered | RunState::NoAnswer => None,
        RunState::Error => {
            Some("The run ended in a system error, which says nothing about the answer.")
        }
        RunState::Waiting | RunState::Writing => Some("The run has not ended."),
        RunState::Damaged | RunState::Other => Some("Its file cannot be read."),
    };
    let skipped = |why: &str| Ok(JudgeState::Skipped(why.to_owned()));
    if let Some(why) = why {
        return skipped(why);
    }
    let Some(wish) = &wish.for_run(target) else {
        return skipped(&format!("Its suite has no scorer `judge:{}`.", wish.judge.name));
    };
    let (_, mut subject) = open.reading.subject(&open.flow, &target.id)?;
    let against = wish.rivals.get(&target.id);
    if wish.judge.pairs {
        subject.rival = match against {
            None => {
                return skipped(
                    "The reference has no run with the same task, variation and repeat.",
                );
            }
            Some(other) if !matches!(other.state, RunState::Answered | RunState::NoAnswer) => {
                return skipped("The run to compare it with did not end normally.");
            }
            Some(other) => load_opponent(open, &subject, &other.id, Some((wish, target))),
        };
        if subject.rival.is_none() {
            return skipped("The run to compare it with cannot be read.");
        }
    }
    if let Some(why) = wish.judge.missing_requirement(&subject, wish.rules) {
        return skipped(&why);
    }
    let inputs = inputs_mark(&wish.judge, wish.rules, &subject);
    Ok(
        match pending::pending_judgement(
            sheet,
            wish,
            &inputs,
            against.map(|other| other.path.as_str()),
        ) {
            None => JudgeState::Complete { inputs, subject: Box::new(subject) },
            Some(owed) => JudgeState::Owed { owed: Box::new(owed), subject: Box::new(subject) },
        },
    )
}
