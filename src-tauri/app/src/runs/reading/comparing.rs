//! Compares runs side by side. `scoring::align` decides which steps are aligned; this module
//! converts the result for the page. The runs may come from different folders. Apart from the cache
//! of open runs, only digests, titles and answers are kept in memory.
use super::pieces::{Budget, short};
use super::run_cache::OpenedRun;
use super::task::{self, Origin};
use super::{Reading, RunReadError, count, view};
use std::sync::Arc;
use touchstone_api::{
    CompareRow, ComparedRun, Comparison, DiffKind, Lineage, PartDiff, Relation, RunRow, StepDiff,
    StepRef, StoredBrief, StoredLine, StoredResult, TextChange,
};
use touchstone_formats::transcript::is_automatic;
use touchstone_model::run::{Step, StepKind};
use touchstone_model::value::Value;
use touchstone_scoring::align::{self, Alignment, Change, Digest, Kind};
use touchstone_scoring::diff::{self, Options, PieceKind};
use touchstone_scoring::failures::{PassingRun, leaves_for_good};
use touchstone_store::folder_index::FolderIndex;
use touchstone_store::imported_verdicts;

/// Maximum number of rows sent; the rest of very long runs is cut off.
const MAX_ROWS: usize = 10_000;
/// Maximum bytes of a tool name in a title (`MAX_TITLE`) and of all titles (`MAX_TITLES`).
const MAX_TITLE: usize = 80;
const MAX_TITLES: usize = 1 << 20;
/// Maximum number of parts of a step comparison that are sent.
const MAX_PARTS: usize = 200;
const MAX_LABEL: usize = 100;
const MAX_TROUBLE: usize = 1_000;
/// Maximum number of evaluators whose stored verdicts are sent, and bytes of their names.
const MAX_STORED: usize = 200;
const MAX_STORED_NAME: usize = 300;

/// The data of a run that a comparison needs.
pub(crate) struct Side {
    pub(crate) row: RunRow,
    version: String,
    /// Reason why the run could not be read.
    fault: Option<String>,
    digests: Vec<Digest>,
    /// What says where it leaves another run for good.
    path: PassingRun,
    titles: Vec<String>,
    /// Step that a person edited before the run went on.
    edited: Option<usize>,
    answer: Option<Value>,
    /// Stored verdicts of evaluators.
    stored: Vec<StoredBrief>,
    /// Options by which its suite compares answers.
    options: Options,
}

impl Reading {
    /// Reads a run for a comparison.
    pub(crate) fn side(&self, flow: &FolderIndex, id: &str) -> Result<Side, RunReadError> {
        let (row, opened) = self.open_current(flow, id)?;
        let run = &opened.run;
        let options =
            task::origin(flow, &row).as_ref().map_or_else(Options::default, Origin::options);
        Ok(Side {
            options,
            row,
            version: opened.version.clone(),
            fault: (!opened.faults.is_empty())
                .then(|| short(&opened.faults.join(" "), MAX_TROUBLE)),
            path: PassingRun::new(run, align::digests(run)),
            digests: align::digests(run),
            titles: run.steps.iter().map(title).collect(),
            edited: view::edited_step(run).filter(|step| *step < run.steps.len()),
            answer: run.answer.as_ref().map(|answer| answer.value.clone()),
            stored: run
                .verdicts
                .iter()
                .take(MAX_STORED)
                .map(imported_verdicts::summarize)
                .collect(),
        })
    }

    /// Returns the run of a step, in the version the step refers to.
    pub(crate) fn step(
        &self,
        flow: &FolderIndex,
        step: &StepRef,
    ) -> Result<StepSide, RunReadError> {
        Ok(StepSide {
            opened: self.version(flow, &step.id, &step.version)?,
            step: step.step as usize,
        })
    }
}

/// A step of an opened run.
pub(crate) struct StepSide {
    opened: Arc<OpenedRun>,
    step: usize,
}

/// Compares two steps part by part. Fails if one of the steps does not exist.
pub(crate) fn differences(left: &StepSide, right: &StepSide) -> Result<StepDiff, RunReadError> {
    for side in [left, right] {
        side.opened.run.steps.get(side.step).ok_or(RunReadError::NoPart)?;
    }
    let found = align::differences((&left.opened.run, left.step), (&right.opened.run, right.step));
    Ok(StepDiff { parts: found.into_iter().take(MAX_PARTS).map(part).collect() })
}

fn part(found: align::Difference) -> PartDiff {
    let piece = |piece: diff::Piece| {
        let change = match piece.kind {
            PieceKind::Same => DiffKind::Same,
            PieceKind::Removed => DiffKind::Missing,
            PieceKind::Added => DiffKind::Extra,
        };
        TextChange { text: piece.text, change }
    };
    PartDiff {
        label: short(&found.label, MAX_LABEL),
        kind: match found.change {
            Change::Same => DiffKind::Same,
            Change::Alike => DiffKind::Alike,
            Change::Changed => DiffKind::Changed,
            Change::Missing => DiffKind::Missing,
            Change::Extra => DiffKind::Extra,
        },
        summary: found.summary,
        pieces: found.pieces.into_iter().map(piece).collect(),
        whole: found.whole,
        coarse: found.coarse,
    }
}

/// Aligns runs with the first of them. A run without steps is listed with an error and no
/// divergence.
pub(crate) fn compare_sides(sides: Vec<Side>) -> Comparison {
    let read: Vec<usize> = (0..sides.len()).filter(|at| !sides[*at].digests.is_empty()).collect();
    let digests: Vec<&[Digest]> = read.iter().map(|at| sides[*at].digests.as_slice()).collect();
    let alignment = align::align(&digests);
    let notes = notes(&sides, &alignment);
    let mut budget = Budget::new(MAX_TITLES);
    let rows = alignment
        .rows
        .iter()
        .take(MAX_ROWS)
        .map(|row| compare_row(&sides, &read, row, &mut budget))
        .collect();
    let stored = stored_lines(&sides);
    let place = |row: Option<usize>| row.map(count);
    let first = sides.iter().position(|side| side.fault.is_none());
    let leaves = |at: &usize| {
        let base = read.first().filter(|base| *base != at)?;
        leaves_for_good(&sides.get(*at)?.path, &sides.get(*base)?.path)
    };
    let leaves: Vec<Option<(u32, Option<u32>)>> = read.iter().map(leaves).collect();
    // The row of that step or of the one in its place; of a run that agrees to the end, its first detour.
    let row_of_leaving = |among: usize| {
        let row_of = |run: usize, step: u32| {
            let step = Some(step as usize);
            alignment.rows.iter().position(|row| row.steps[run] == step)
        };
        // A run that ends early leaves after its last step, where the other one goes on.
        let is_shared = |at: &usize| {
            let row = &alignment.rows[*at];
            row.steps[0].is_some() && row.kinds[among] < Kind::Similar
        };
        let (step, instead) = match leaves[among] {
            Some((step, instead)) => (row_of(among, step), instead.and_then(|at| row_of(0, at))),
            None => (None, None),
        };
        let step = step.filter(|at| instead.is_none_or(|other| *at >= other) || !is_shared(at));
        step.into_iter().chain(instead).min().or(alignment.parts[among])
    };
    let edited = alignment.rows.iter().position(|row| has_edited_step(&sides, &read, row));
    let parts_at: Vec<Option<usize>> = (0..read.len()).map(row_of_leaving).collect();
    let left = leaves.iter().zip(&parts_at).filter_map(|(step, row)| step.and(*row)).min();
    let of_first = first.and_then(|first| sides[first].answer.clone());
    let runs = sides.into_iter().enumerate().map(|(at, side)| {
        let among = read.iter().position(|read| *read == at);
        let (answer, answer_summary) = match side.fault {
            None => {
                answers(of_first.as_ref(), side.answer.as_ref(), first == Some(at), &side.options)
            }
            Some(_) => (DiffKind::Absent, None),
        };
        let none = || among.is_none().then(|| "Its files hold no steps.".to_owned());
        ComparedRun {
            version: side.version,
            steps: count(side.digests.len()),
            trouble: side.fault.or_else(none),
            leaves_at: among.and_then(|among| Some(leaves[among]?.0)),
            parts_at: place(among.and_then(|among| parts_at[among])),
            edited: side.edited.map(count),
            answer,
            answer_summary,
            row: side.row,
        }
    });
    Comparison {
        runs: runs.collect(),
        stored,
        rows,
        first_divergence: place(
            left.or(alignment.first_divergence).into_iter().chain(edited).min(),
        ),
        first_other_result: place(alignment.first_other_result),
        coarse: alignment.coarse,
        notes,
    }
}

/// Collects the stored verdicts of each run by evaluator, in order of first appearance.
fn stored_lines(sides: &[Side]) -> Vec<StoredLine> {
    let mut names: Vec<&str> = Vec::new();
    for said in sides.iter().flat_map(|side| &side.stored) {
        if !names.contains(&said.evaluator.as_str()) {
            names.push(&said.evaluator);
        }
    }
    // A verdict and an error of the same evaluator may both be stored; the error wins.
    let of = |side: &Side, name: &str| {
        let all = || side.stored.iter().filter(|said| said.evaluator == name);
        all().find(|said| said.result == StoredResult::Error).or_else(|| all().next()).cloned()
    };
    let line = |name: &&str| StoredLine {
        evaluator: short(name, MAX_STORED_NAME),
        said: sides.iter().map(|side| of(side, name)).collect(),
    };
    names.iter().map(line).collect()
}

fn compare_row(
    sides: &[Side],
    read: &[usize],
    row: &align::Row,
    budget: &mut Budget,
) -> CompareRow {
    let mut steps = vec![None; sides.len()];
    let mut titles: Vec<&str> = Vec::new();
    for (at, step) in read.iter().zip(&row.steps) {
        steps[*at] = step.map(count);
        let title = step.and_then(|step| sides[*at].titles.get(step));
        titles.extend(title.map(String::as_str).filter(|title| !titles.contains(title)));
    }
    let title = titles.join(" / ");
    let is_edited = has_edited_step(sides, read, row);
    CompareRow {
        steps,
        relation: match row.kind {
            _ if read.len() < 2 => Relation::Alone,
            Kind::Reworded | Kind::OtherWords if is_edited => Relation::Similar,
            Kind::Same => Relation::Same,
            Kind::Reworded => Relation::Reworded,
            Kind::OtherWords => Relation::OtherWords,
            Kind::SameResult => Relation::SameResult,
            Kind::OtherResult => Relation::OtherResult,
            Kind::Similar => Relation::Similar,
            Kind::Different => Relation::Different,
            Kind::Absent => Relation::Alone,
        },
        depth: row.depth,
        diverges: row.diverges || is_edited,
        title: budget.fit(&title, title.len()).to_owned(),
    }
}

/// Returns true if a step in the row was edited by a person and the runs differ there.
fn has_edited_step(sides: &[Side], read: &[usize], row: &align::Row) -> bool {
    let is_edited =
        |(at, step): (&usize, &Option<usize>)| step.is_some() && sides[*at].edited == *step;
    row.kind != Kind::Same && read.iter().zip(&row.steps).any(is_edited)
}

/// Returns true for a message that a run sent itself.
fn is_automatic_nudge(step: &Step) -> bool {
    let message = step.parts.iter().find(|part| part.label == "message");
    step.nudge && message.and_then(|part| part.value.text()).is_some_and(is_automatic)
}

/// Returns a short description of a step.
fn title(step: &Step) -> String {
    let name = step.title.as_deref().map(|name| short(name, MAX_TITLE));
    match (step.kind, name) {
        (StepKind::User, _) if is_automatic_nudge(step) => "nudge".to_owned(),
        (StepKind::User, _) if step.nudge => "follow-up".to_owned(),
        (StepKind::User, _) => "prompt".to_owned(),
        (StepKind::Assistant, _) => "assistant message".to_owned(),
        (StepKind::System, _) => "system message".to_owned(),
        (StepKind::ToolCall, Some(name)) => name,
        (StepKind::ToolCall, None) => "tool call".to_owned(),
        (StepKind::Program, _) => "program".to_owned(),
        (StepKind::Artifact, Some(name)) => format!("artifact {name}"),
        (StepKind::Artifact, None) => "artifact".to_owned(),
        (StepKind::Error, _) => "error".to_owned(),
        (StepKind::SubAgent, Some(name)) => format!("sub-agent {name}"),
        (StepKind::SubAgent, None) => "sub-agent".to_owned(),
        (StepKind::Abandoned, _) => "abandoned branch".to_owned(),
        (StepKind::Compaction, _) => "compaction".to_owned(),
        (StepKind::Note, _) => "note".to_owned(),
        (StepKind::Unknown, name) => name.unwrap_or_else(|| "unknown item".to_owned()),
    }
}

/// Compares an answer with that of the first run.
fn answers(
    first: Option<&Value>,
    answer: Option<&Value>,
    is_first: bool,
    options: &Options,
) -> (DiffKind, Option<String>) {
    match (first, answer) {
        (None, None) => (DiffKind::Absent, None),
        (Some(_), None) => (DiffKind::Missing, Some("no answer".to_owned())),
        (None, Some(_)) => (DiffKind::Extra, Some("the baseline has no answer".to_owned())),
        (Some(first), Some(answer)) if is_first || first == answer => (DiffKind::Same, None),
        (Some(first), Some(answer)) => {
            let diff = diff::diff(first, answer, &Options { between: true, ..options.clone() });
            let kind = if diff.is_equal() { DiffKind::Alike } else { DiffKind::Changed };
            (kind, Some(diff.summary()))
        }
    }
}

/// Returns the reasons why the comparison may mislead.
fn notes(sides: &[Side], alignment: &Alignment) -> Vec<String> {
    let all_same = |what: &dyn Fn(&Side) -> Option<String>| {
        let mut known = sides.iter().filter_map(what);
        known.next().is_none_or(|first| known.all(|other| other == first))
    };
    let mut notes = Vec::new();
    let mut note = |is: bool, text: &str| notes.extend(is.then(|| text.to_owned()));
    if !all_same(&|side| side.row.task.clone()) {
        note(true, "These runs answer different tasks.");
    } else if !all_same(&|side| {
        side.row.variation_name.clone().or(Some(side.row.variation?.to_string()))
    }) {
        note(true, "These runs answer different variations of their task.");
    } else {
        note(alignment.other_prompt.is_some(), "These runs were not given the same prompt.");
    }
    let nudged = sides.iter().filter(|side| side.row.nudges > 0).count();
    note(
        nudged > 0 && nudged < sides.len(),
        "Some of these runs received follow-up messages, others not.",
    );
    let forks = sides.iter().filter(|side| side.row.lineage == Some(Lineage::Fork)).count();
    note(forks > 0 && forks < sides.len(), "Some of these runs are forks, others not.");
    note(
        alignment.coarse,
        "The runs are too long to compare every step with every other; only steps that are near were compared.",
    );
    if alignment.rows.len() > MAX_ROWS {
        note(
            true,
            &format!("Only the first {MAX_ROWS} of {} rows are shown.", alignment.rows.len()),
        );
    }
    notes
}
