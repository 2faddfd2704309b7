//! `compare`: prints two to four transcripts side by side, step by step. The step from which on they
//! differ for good is marked and shown in detail.
mod output;

use super::sensitive::{SensitiveArgs, tell_left_out};
use super::{
    CommandError, CommandStatus, DirArgs, Outcome, folder, list, show,
    terminal::{Columns, Head, Paint, lines, one_line},
};
use crate::Environment;
use clap::Args;
use std::{
    io::{self, BufWriter, Write},
    path::{Path, PathBuf},
};
use touchstone_api::{
    Body, CompareRow, ComparedRun, Comparison, DiffKind, PartDiff, Relation, RunState, Span,
    StepRef, TextChange,
};
use touchstone_app::App;
use touchstone_app::error::{AppError, Code};
use touchstone_app::number_format::fixed;
use touchstone_app::runs::RunActions;
use touchstone_app::sensitive::LEFT_OUT;

/// Number of consecutive rows with identical steps from which they are folded into one.
const FOLDED: usize = 3;
/// Maximum number of lines shown of each kind, for a part that differs: changed lines, lines only
/// in the first run, lines only in the other.
const MOST_LINES: usize = 8;
/// Maximum number of characters shown of a line.
const MOST_LETTERS: usize = 160;

/// Arguments of `compare`.
#[derive(Debug, Args)]
#[command(after_help = "\
Exit status: 0 same steps and same answers, 1 the runs differ, 2 a file could not be read.

JSON: \"steps\" lists {\"left\",\"right\",\"kind\",\"diverges\",\"title\"}, where left and right are step indices
from 0, or null. With three or four files, \"runs\" replaces left and right: one index for each file.
\"first_divergence\" and \"first_other_result\" are indices into \"steps\". \"answers\" compares the answer of
each further file with the first. \"expected\" of a file holds \"equal\" and \"summary\"; it is null when nothing
is expected, or when the run failed or has not ended, and the kind of its answer is null then, too.
\"stored\" lists the imported verdicts of each file; they do not change the exit status. Kinds: same,
reworded, other_words, same_result, other_result, similar, different, alone.")]
pub(super) struct Compare {
    /// Two to four transcripts, from any folders; the others are compared with the first
    #[arg(required = true, num_args = 2..=4, value_name = "FILE")]
    files: Vec<PathBuf>,
    #[command(flatten)]
    dirs: DirArgs,
    #[command(flatten)]
    sensitive: SensitiveArgs,
    /// Print one JSON document
    #[arg(long)]
    json: bool,
}

pub(super) fn run(asked: &Compare, here: &Environment) -> Outcome {
    let mut folders: Vec<(PathBuf, App)> = Vec::new();
    let mut found = Vec::new();
    for file in &asked.files {
        found.push(find(file, &asked.dirs, &mut folders, here)?);
    }
    let runs: Vec<(&App, &str)> =
        found.iter().map(|(at, id)| (&folders[*at].1, id.as_str())).collect();
    let names: Vec<String> = asked.files.iter().map(|file| file.display().to_string()).collect();
    let mut comparison = RunActions::compare_across(&runs)?;
    let mut expected: Vec<Expected> =
        runs.iter().map(|(app, id)| app.runs().diff_with_expected(id)).collect();
    let left_out = match runs.first() {
        Some((app, _)) if !asked.sensitive.include_sensitive => {
            app.sensitive().quote_care()?.leave_out_comparison(&mut comparison)
        }
        _ => 0,
    };
    if left_out > 0 {
        expected.iter_mut().flatten().for_each(|(summary, _)| LEFT_OUT.clone_into(summary));
    }
    let mut out = BufWriter::new(io::stdout().lock());
    if asked.json {
        serde_json::to_writer(&mut out, &output::document(&comparison, &names, &expected))
            .map_err(io::Error::from)?;
        writeln!(out)?;
    } else {
        Page {
            comparison: &comparison,
            names: &names,
            runs: &runs,
            expected: &expected,
            folded: left_out > 0,
            paint: Paint(here.colour),
        }
        .write(&mut out)?;
    }
    out.flush()?;
    tell_left_out(left_out);
    if let Some((name, run)) = names.iter().zip(&comparison.runs).find(|(_, run)| unread(run)) {
        let why = run.trouble.as_deref().unwrap_or_default();
        return Err(AppError::new(Code::Failed, format!("{name} could not be read. {why}")).into());
    }
    Ok(if differ(&comparison) { CommandStatus::WithFailures } else { CommandStatus::Well })
}

/// Summary of the difference between an answer and the expected one, with true if they are equal.
/// `None` if nothing was expected.
type Expected = Option<(String, bool)>;

/// Finds the run of a file, and returns the index of its open folder and the identifier of the run.
/// Prefers the folder given by options or a folder above the file that holds the tasks, since then
/// the expected answer is known; otherwise opens the directory of the file.
fn find(
    file: &Path,
    dirs: &DirArgs,
    folders: &mut Vec<(PathBuf, App)>,
    here: &Environment,
) -> Result<(usize, String), CommandError> {
    let unreadable = |why: String| {
        AppError::new(Code::NotFound, format!("{} could not be compared: {why}.", file.display()))
    };
    let (full, member) = folder::located(file).map_err(|why| unreadable(why.to_string()))?;
    let Some((folder, name)) = folder::below(&full, member.as_deref()) else {
        return Err(unreadable("it is not a file".to_owned()).into());
    };
    let named = folder::chosen(None, dirs.clone()).map(|place| (PathBuf::from("-"), place));
    let above = || RunActions::folder_above(&full).map(|folder| (folder.clone(), folder.into()));
    if let Some((key, place)) = named.or_else(above) {
        let at = opened(key, &place, folders, here)?;
        let app = &folders[at].1;
        let id = app
            .runs()
            .run_with(&full, member.as_deref())
            .ok()
            .filter(|id| app.scoring().run_scores(id).is_ok());
        if let Some(id) = id {
            return Ok((at, id));
        }
    }
    let at = opened(folder.clone(), &folder.into(), folders, here)?;
    let app = &folders[at].1;
    let Some(id) = show::find(app, &name)? else {
        return Err(unreadable(show::why_not(app, &name)?).into());
    };
    Ok((at, id))
}

/// Returns the index of a folder among the open ones, opening it first if necessary.
pub(super) fn opened(
    key: PathBuf,
    place: &folder::FolderLocation,
    folders: &mut Vec<(PathBuf, App)>,
    here: &Environment,
) -> Result<usize, CommandError> {
    let at = folders.iter().position(|(open, _)| *open == key).unwrap_or(folders.len());
    if at == folders.len() {
        folders.push((key, folder::read(place, here)?));
    }
    Ok(at)
}

fn unread(run: &ComparedRun) -> bool {
    matches!(run.row.state, RunState::Damaged | RunState::Other)
}

/// Returns the reason why a run has no final answer to compare, or `None` if it ended normally.
fn open(run: &ComparedRun) -> Option<&'static str> {
    match run.row.state {
        RunState::Error => Some("ended in a system error"),
        RunState::Waiting | RunState::Writing => Some("has not ended"),
        RunState::Answered | RunState::NoAnswer | RunState::Damaged | RunState::Other => None,
    }
}

fn differ(comparison: &Comparison) -> bool {
    let apart = |row: &CompareRow| {
        row.diverges
            || matches!(
                row.relation,
                Relation::OtherResult | Relation::Similar | Relation::Different
            )
    };
    let other = |run: &ComparedRun| {
        !matches!(run.answer, DiffKind::Same | DiffKind::Alike | DiffKind::Absent)
    };
    let answers = comparison.runs.iter().any(|run| is_told(comparison, run) && other(run));
    comparison.rows.iter().any(apart)
        || answers
        || comparison.runs.iter().any(|run| run.trouble.is_some())
}

/// Index of the run that the others are compared with: the first that could be read.
fn first(comparison: &Comparison) -> usize {
    comparison.runs.iter().position(|run| !unread(run)).unwrap_or(0)
}

/// Returns true if comparing the answers of a run and of the first run is meaningful: both must
/// have ended by themselves.
fn is_told(comparison: &Comparison, run: &ComparedRun) -> bool {
    let ended = |run: &ComparedRun| open(run).is_none();
    ended(run) && comparison.runs.get(first(comparison)).is_none_or(ended)
}

/// Comparison formatted for people.
struct Page<'a> {
    comparison: &'a Comparison,
    names: &'a [String],
    runs: &'a [(&'a App, &'a str)],
    expected: &'a [Expected],
    /// True if texts are left out.
    folded: bool,
    paint: Paint,
}

impl Page<'_> {
    fn write(&self, out: &mut dyn Write) -> Result<(), CommandError> {
        self.heads(out)?;
        output::stored(out, self.comparison, self.paint)?;
        for note in &self.comparison.notes {
            writeln!(out, "{}", self.paint.yellow(&one_line(note)))?;
        }
        if self.comparison.runs.iter().filter(|run| run.trouble.is_none()).count() < 2 {
            return Ok(());
        }
        writeln!(out)?;
        self.rows(out)?;
        writeln!(out)?;
        self.parting(out)
    }

    /// Writes the table of the runs, one per line, and the notes on their answers.
    fn heads(&self, out: &mut dyn Write) -> io::Result<()> {
        let head = |title: &'static str, right| Head { title: title.into(), right };
        let mut columns = Columns::new(vec![
            head("", true),
            head("state", false),
            head("score", true),
            head("turns", true),
            head("tokens", true),
            head("cost", true),
            head("seconds", true),
            head("file", false),
        ]);
        for (at, (name, run)) in self.names.iter().zip(&self.comparison.runs).enumerate() {
            let row = &run.row;
            columns.row(vec![
                (at + 1).to_string(),
                list::word(row.state).to_owned(),
                list::score(row.score),
                row.turns.to_string(),
                row.tokens.map(|tokens| tokens.to_string()).unwrap_or_default(),
                row.cost.map(|dollars| format!("${}", fixed(dollars, 3))).unwrap_or_default(),
                row.seconds.map(|seconds| fixed(seconds, 1)).unwrap_or_default(),
                one_line(name).into_owned(),
            ]);
        }
        let paint = self.paint;
        columns.write(out, "", paint, &|n, text| {
            if n == 1 { list::coloured(paint, text) } else { text.to_owned() }
        })?;
        let runs = &self.comparison.runs;
        let first = first(self.comparison);
        let told = |(at, run): &(usize, &ComparedRun)| {
            *at != first && !unread(run) && is_told(self.comparison, run)
        };
        for (at, run) in runs.iter().enumerate().filter(told) {
            writeln!(out, "{}", self.answer(at, first, run))?;
        }
        for (at, (run, expected)) in runs.iter().zip(self.expected).enumerate() {
            match (open(run), expected) {
                (Some(why), _) => {
                    writeln!(out, "{} {why}, so its answer is not compared.", at + 1)?;
                }
                (None, Some((summary, equal))) if !unread(run) => {
                    writeln!(out, "{}", self.against(at, summary, *equal, run))?;
                }
                _ => {}
            }
        }
        for (at, run) in runs.iter().enumerate() {
            if let Some(trouble) = &run.trouble {
                let sentence = format!("{} has nothing to compare. {}", at + 1, one_line(trouble));
                writeln!(out, "{}", self.paint.yellow(&sentence))?;
            }
        }
        Ok(())
    }

    /// Describes the difference between the answer of a run and the expected one, with the score
    /// that the suite's scorer gives it.
    fn against(&self, at: usize, summary: &str, equal: bool, run: &ComparedRun) -> String {
        let score = run
            .row
            .score
            .map(|score| format!(" It scores {}.", list::score(Some(score))))
            .unwrap_or_default();
        if equal {
            return format!("The answer of {} is as expected.{score}", at + 1);
        }
        self.paint.red(&format!(
            "The answer of {} is not as expected: {}.{score}",
            at + 1,
            one_line(summary)
        ))
    }

    /// Describes the difference between the answer of a run and that of the first.
    fn answer(&self, at: usize, first: usize, run: &ComparedRun) -> String {
        let (at, first) = (at + 1, first + 1);
        let summary = run.answer_summary.as_deref().map(one_line).unwrap_or_default();
        match run.answer {
            DiffKind::Same => format!("The answer of {at} equals that of {first}."),
            DiffKind::Alike => {
                format!("The answer of {at} means the same as that of {first}: {summary}.")
            }
            DiffKind::Changed => self
                .paint
                .yellow(&format!("The answer of {at} differs from that of {first}: {summary}.")),
            DiffKind::Missing => {
                self.paint.yellow(&format!("Only {first} has an answer, {at} has none."))
            }
            DiffKind::Extra => {
                self.paint.yellow(&format!("Only {at} has an answer, {first} has none."))
            }
            DiffKind::Absent => format!("Neither {at} nor {first} has an answer."),
        }
    }

    fn rows(&self, out: &mut dyn Write) -> io::Result<()> {
        let head = |title: String, right| Head { title: title.into(), right };
        let mut heads = vec![head(String::new(), false)];
        heads.extend((1..=self.names.len()).map(|number| head(number.to_string(), true)));
        heads.extend(["how", "step"].map(|title| head(title.to_owned(), false)));
        let mut columns = Columns::new(heads);
        let rows = &self.comparison.rows;
        let mut at = 0;
        while let Some(row) = rows.get(at) {
            let same = rows[at..].iter().take_while(|row| row.relation == Relation::Same).count();
            if same >= FOLDED {
                let mut cells = vec![String::new()];
                cells.extend(row.steps.iter().map(|_| "\u{b7}".to_owned()));
                cells.extend(["same".to_owned(), format!("{same} steps")]);
                columns.row(cells);
                at += same;
                continue;
            }
            let first = self.comparison.first_divergence.is_some_and(|first| first as usize == at);
            let mut cells = vec![if first { ">" } else { "" }.to_owned()];
            cells.extend(
                row.steps
                    .iter()
                    .map(|step| step.map_or("-".to_owned(), |step| (step + 1).to_string())),
            );
            cells.extend([how(row), one_line(&row.title).into_owned()]);
            columns.row(cells);
            at += 1;
        }
        let (paint, how) = (self.paint, self.names.len() + 1);
        columns.write(out, "", paint, &|n, text| match n {
            0 => paint.bold(text),
            n if n == how => coloured(paint, text),
            _ => text.to_owned(),
        })
    }

    /// Writes the details of the step from which on runs differ for good.
    fn parting(&self, out: &mut dyn Write) -> Result<(), CommandError> {
        let divergence = self.comparison.first_divergence.map(|row| (row, self.who_differs(row)));
        let result = self.comparison.first_other_result;
        let result = result.map(|row| (row, "Same call, different result".to_owned()));
        let Some((at, what)) = divergence.or(result) else {
            writeln!(out, "The runs did the same.")?;
            return Ok(());
        };
        let Some(row) = self.comparison.rows.get(at as usize) else { return Ok(()) };
        writeln!(out, "{}: {}", self.paint.bold(&what), one_line(&row.title))?;
        if self.folded {
            return Ok(());
        }
        let mut present =
            row.steps.iter().enumerate().filter_map(|(run, step)| Some((run, (*step)?)));
        let is_result = self.comparison.first_divergence.is_none();
        let here = |run: usize| is_result || self.comparison.runs[run].parts_at == Some(at);
        let Some((first, step)) = present.next() else { return Ok(()) };
        let mut shown = false;
        for (other, other_step) in present.filter(|(run, _)| here(*run)) {
            shown = true;
            let left = (self.runs[first].0, &self.step_ref(first, step));
            let right = (self.runs[other].0, &self.step_ref(other, other_step));
            for part in RunActions::diff_steps_across(left, right)?
                .parts
                .iter()
                .filter(|part| part.kind != DiffKind::Same)
            {
                // If the calls differ, the difference of their results says little.
                let closer =
                    is_result || !matches!(part.label.as_str(), "result" | "output" | "error");
                self.part(out, part, (first, other), closer)?;
            }
        }
        if !shown {
            writeln!(out, "  {}:", how(row))?;
            self.excerpt(out, first, step)?;
        }
        Ok(())
    }

    /// Says which runs differ for good from a row on, in the words of the window.
    fn who_differs(&self, row: u32) -> String {
        let runs = &self.comparison.runs;
        let here = runs.iter().enumerate().filter(|(_, run)| run.parts_at == Some(row));
        let here: Vec<String> = here.map(|(at, _)| (at + 1).to_string()).collect();
        let others = runs.iter().filter(|run| run.trouble.is_none()).count().saturating_sub(1);
        if here.is_empty() || here.len() == others {
            return "Differs for good from here".to_owned();
        }
        let differ = if here.len() == 1 { "differs" } else { "differ" };
        let base = first(self.comparison) + 1;
        format!("{} {differ} for good from {base} from here", here.join(" and "))
    }

    fn step_ref(&self, run: usize, step: u32) -> StepRef {
        StepRef {
            id: self.runs[run].1.to_owned(),
            version: self.comparison.runs[run].version.clone(),
            step,
        }
    }

    /// Writes the lines of a part that contain a difference.
    fn part(
        &self,
        out: &mut dyn Write,
        part: &PartDiff,
        runs: (usize, usize),
        closer: bool,
    ) -> io::Result<()> {
        if !closer && part.summary.is_none() {
            return Ok(());
        }
        let between = format!("{} and {}", runs.0 + 1, runs.1 + 1);
        let summary = part
            .summary
            .as_deref()
            .map(|summary| format!(": {}", one_line(summary)))
            .unwrap_or_default();
        writeln!(
            out,
            "  {}{summary}",
            self.paint.dim(&format!("{} of {between}", one_line(&part.label)))
        )?;
        let changed = if closer { changed_lines(&part.pieces) } else { Vec::new() };
        // Room is reserved for lines of either side, so that neither crowds out the other.
        let mut left = [MOST_LINES; 3];
        let mut shown = 0;
        for line in &changed {
            let only = |kind| line.iter().all(|(change, _)| *change == kind);
            let room = &mut left
                [if only(DiffKind::Missing) { 0 } else { 1 + usize::from(only(DiffKind::Extra)) }];
            if *room > 0 {
                *room -= 1;
                shown += 1;
                writeln!(out, "    {}", self.line(line))?;
            }
        }
        self.more(out, changed.len() - shown)
    }

    fn line(&self, line: &[(DiffKind, String)]) -> String {
        let mut text = String::new();
        let mut room = MOST_LETTERS;
        for (change, piece) in line {
            let shown: String = piece.chars().take(room).collect();
            room -= shown.chars().count();
            text.push_str(&match change {
                DiffKind::Missing => self.paint.red(&format!("[-{shown}-]")),
                DiffKind::Extra => self.paint.green(&format!("{{+{shown}+}}")),
                _ => shown,
            });
            if room == 0 {
                text.push('\u{2026}');
                break;
            }
        }
        text
    }

    /// Writes the beginning of a step of one run.
    fn excerpt(&self, out: &mut dyn Write, run: usize, step: u32) -> Result<(), CommandError> {
        let StepRef { id, version, .. } = self.step_ref(run, step);
        let page =
            self.runs[run].0.runs().read_steps(&id, &version, Span { offset: step, limit: 1 })?;
        for part in page.steps.iter().flat_map(|step| &step.parts) {
            if let Body::Text { text, .. } | Body::Value { text, .. } = &part.body {
                writeln!(out, "  {}", self.paint.dim(&one_line(&part.label)))?;
                let text = lines(text);
                for line in text.lines().take(MOST_LINES) {
                    writeln!(out, "    {}", line.chars().take(MOST_LETTERS).collect::<String>())?;
                }
                self.more(out, text.lines().count().saturating_sub(MOST_LINES))?;
            }
        }
        Ok(())
    }

    fn more(&self, out: &mut dyn Write, lines: usize) -> io::Result<()> {
        match lines {
            0 => Ok(()),
            1 => writeln!(out, "    {}", self.paint.dim("\u{2026} 1 more line")),
            lines => {
                writeln!(out, "    {}", self.paint.dim(&format!("\u{2026} {lines} more lines")))
            }
        }
    }
}

/// Returns the lines that contain a difference, in pieces without terminal control characters.
fn changed_lines(pieces: &[TextChange]) -> Vec<Vec<(DiffKind, String)>> {
    let mut all: Vec<Vec<(DiffKind, String)>> = vec![Vec::new()];
    let mut long = false;
    for piece in pieces {
        let shown = lines(&piece.text);
        // A replacement for several lines begins on its own line.
        let begins = std::mem::replace(&mut long, shown.contains('\n'))
            && long
            && piece.change == DiffKind::Extra;
        for (at, line) in shown.split('\n').enumerate() {
            if at > 0 || begins {
                all.push(Vec::new());
            }
            if let Some(last) = all.last_mut().filter(|_| !line.is_empty()) {
                last.push((piece.change, line.to_owned()));
            }
        }
    }
    all.retain(|line| {
        line.iter().any(|(change, text)| *change != DiffKind::Same && !text.trim().is_empty())
    });
    all
}

/// Describes the relation of the steps of a row.
fn how(row: &CompareRow) -> String {
    let word = match row.relation {
        Relation::Same => "same",
        Relation::Reworded => "reworded",
        Relation::OtherWords => "other words",
        Relation::SameResult => "other call, same result",
        Relation::OtherResult => "other result",
        Relation::Similar => "similar",
        Relation::Different => "different",
        Relation::Alone => {
            let there = row.steps.iter().enumerate().filter(|(_, step)| step.is_some());
            let there: Vec<String> = there.map(|(run, _)| (run + 1).to_string()).collect();
            return format!("only {}", there.join(", "));
        }
    };
    word.to_owned()
}

fn coloured(paint: Paint, word: &str) -> String {
    match word {
        "same" => paint.dim(word),
        "other result" | "similar" => paint.yellow(word),
        word if word == "different" || word.starts_with("only") => paint.red(word),
        _ => word.to_owned(),
    }
}
