//! `agreement`: measures the agreement of judges with people and with each other, and lists the
//! runs on which they disagree.
use super::{
    CommandStatus, FolderArgs, Outcome, folder,
    terminal::{Columns, Head, Paint, one_line},
};
use crate::Environment;
use clap::Args;
use serde_json::json;
use std::io::{self, BufWriter, Write};
use touchstone_api::{Agreement, Rater, Trust};
use touchstone_app::error::{AppError, Code};
use touchstone_app::number_format::fixed;

/// Arguments of `agreement`.
#[derive(Debug, Args)]
#[command(after_help = "\
A judge says right where a run passes, wrong where it fails, and in between exactly halfway. A person's
`partly` and an automatic score from half up to the threshold are in between, too. κ treats in between
as a category of its own; `near` gives a near miss part of the credit. Stale and unreadable verdicts are
left out and listed below the table. Imported verdicts of evaluate() appear as `stored: NAME`, passed or
failed as in their file. Where several people reviewed, each is a rater by name, and `people` says what
the newest review of each run says.")]
pub(super) struct AgreementOf {
    #[command(flatten)]
    place: FolderArgs,
    /// Show the table of this judge and the runs on which it and people disagree: its name, or
    /// `sopr by MODEL`
    #[arg(long, value_name = "NAME")]
    judge: Option<String>,
    /// Compare the judge with this rater instead of people: another judge, `score`, or `stored:
    /// NAME`
    #[arg(long, value_name = "NAME", requires = "judge")]
    with: Option<String>,
    /// Select runs with a filter, as in the window: `system:promptql model:o1`
    #[arg(long, default_value = "", hide_default_value = true, allow_hyphen_values = true)]
    filter: String,
    /// Also list pairs with too few runs
    #[arg(long)]
    all: bool,
    /// Print one JSON document
    #[arg(long)]
    json: bool,
}

pub(super) fn run(asked: &AgreementOf, here: &Environment) -> Outcome {
    let app = folder::ready(asked.place.clone(), here)?;
    let trust = app.reviews().trust(&asked.filter)?;
    let shown = closer(&trust, asked)?
        .into_iter()
        .map(|pair| app.reviews().agreement(&pair.first.id, &pair.second.id, &asked.filter))
        .collect::<Result<Vec<_>, _>>()?;
    let mut out = BufWriter::new(io::stdout().lock());
    if asked.json {
        let document = json!({
        "raters": trust.raters, "pairs": trust.pairs,
        "reviewed": trust.reviewed, "notes": trust.notes,
        "unreadable": trust.unreadable, "agreements": shown
        });
        writeln!(out, "{document}")?;
    } else {
        write(&mut out, &trust, asked.all, Paint(here.colour))?;
        for pair in &shown {
            details(&mut out, pair, Paint(here.colour))?;
        }
    }
    out.flush()?;
    Ok(if trust.unreadable == 0 { CommandStatus::Well } else { CommandStatus::WithFailures })
}

/// Tests a rater against a name: its identifier, its display name, or the identifier's part before
/// the colon, which several raters share.
fn is_meant(rater: &Rater, name: &str) -> bool {
    rater.id == name || rater.name == name || rater.id.split(':').next() == Some(name)
}

/// Returns the pairs to show in detail: the chosen judge with people, or with the rater of
/// `--with`. Fails if either name is unknown, or if `--with` was given and the two share no run.
fn closer<'a>(trust: &'a Trust, asked: &AgreementOf) -> Result<Vec<&'a Agreement>, AppError> {
    let Some(judge) = asked.judge.as_deref() else { return Ok(Vec::new()) };
    let with = asked.with.as_deref().unwrap_or("people");
    let is_judge = |rater: &Rater| rater.id != "people" && is_meant(rater, judge);
    let is_other = |rater: &Rater| is_meant(rater, with);
    if !trust.raters.iter().any(is_judge) {
        return Err(nobody(judge, trust));
    }
    if with != "people" && !trust.raters.iter().any(is_other) {
        return Err(nobody(with, trust));
    }
    let either = |one: &Rater, other: &Rater| is_judge(one) && is_other(other);
    let is_asked =
        |pair: &&Agreement| either(&pair.first, &pair.second) || either(&pair.second, &pair.first);
    let found: Vec<_> = trust.pairs.iter().filter(is_asked).collect();
    if found.is_empty() && asked.with.is_some() {
        let message = format!("`{judge}` and `{with}` have no runs in common.");
        return Err(AppError::new(Code::NotFound, message)
            .hint("Judge the same runs with both, or name two others."));
    }
    Ok(found)
}

fn nobody(name: &str, trust: &Trust) -> AppError {
    let names: Vec<&str> = trust
        .raters
        .iter()
        .filter(|rater| rater.id != "people")
        .map(|rater| rater.name.as_str())
        .collect();
    let error =
        AppError::new(Code::NotFound, format!("No judge named `{name}` has judged these runs."));
    error.hint(if names.is_empty() {
        "Judge the reviewed runs: touchstone score --judge sopr --judge-model MODEL --filter review:yes"
            .to_owned()
    } else {
        format!("There are: {}.", names.join(", "))
    })
}

fn write(out: &mut dyn Write, trust: &Trust, all: bool, paint: Paint) -> io::Result<()> {
    let asked = |rater: &Rater| {
        !["people", "score"].contains(&rater.id.as_str())
            && !["person:", "stored:"].iter().any(|kind| rater.id.starts_with(kind))
    };
    let judges = trust.raters.iter().any(asked);
    match trust.reviewed {
        0 => writeln!(out, "No run is reviewed yet. Review some: touchstone review FILE right")?,
        1 => writeln!(out, "1 run was reviewed.")?,
        n => writeln!(out, "{n} runs were reviewed.")?,
    }
    if trust.reviewed > 0 && !judges {
        writeln!(
            out,
            "No run is judged yet. Judge some: touchstone score --judge sopr --judge-model MODEL --filter review:yes"
        )?;
    }
    let (listed, folded): (Vec<&Agreement>, Vec<&Agreement>) =
        trust.pairs.iter().partition(|pair| all || !pair.few);
    if !listed.is_empty() {
        writeln!(out)?;
        let head = |title: &'static str, right| Head { title: title.into(), right };
        let numbers = ["n", "same", "κ", "95 %", "near"].map(|title| head(title, true));
        let heads = [head("first", false), head("second", false)].into_iter().chain(numbers);
        let mut columns = Columns::new(heads.chain([head("", false)]).collect());
        for pair in &listed {
            columns.row(cells(pair));
        }
        columns.write(out, "", paint, &|_, text| text.to_owned())?;
    }
    if !folded.is_empty() {
        let more = if listed.is_empty() { "" } else { " more" };
        let (pairs, them) =
            if folded.len() == 1 { ("pair has", "it") } else { ("pairs have", "them") };
        writeln!(
            out,
            "\n{}{more} {pairs} too few runs to tell: --all lists {them}.",
            folded.len()
        )?;
    }
    let left_out: Vec<String> = trust.raters.iter().filter_map(not_counted).collect();
    if !left_out.is_empty() {
        writeln!(out, "\nNot counted: {}.", left_out.join("; "))?;
    }
    trust.notes.iter().try_for_each(|note| writeln!(out, "{}", one_line(note)))
}

fn not_counted(rater: &Rater) -> Option<String> {
    let counts = [(rater.stale, "stale"), (rater.unread, "without a verdict")];
    let parts: Vec<String> =
        counts.iter().filter(|(n, _)| *n > 0).map(|(n, what)| format!("{n} {what}")).collect();
    (!parts.is_empty()).then(|| format!("{} {}", one_line(&rater.name), parts.join(", ")))
}

fn cells(pair: &Agreement) -> Vec<String> {
    let number =
        |number: Option<f64>| number.map_or_else(|| "–".to_owned(), |number| fixed(number, 2));
    vec![
        one_line(&pair.first.name).into_owned(),
        one_line(&pair.second.name).into_owned(),
        pair.n.to_string(),
        pair.same.to_string(),
        number(pair.kappa),
        pair.interval.map_or_else(
            || "–".to_owned(),
            |(low, high)| format!("{} to {}", fixed(low, 2), fixed(high, 2)),
        ),
        number(pair.weighted),
        pair.words.clone(),
    ]
}

/// Writes the contingency table of a pair, and the runs on which the two disagree.
fn details(out: &mut dyn Write, pair: &Agreement, paint: Paint) -> io::Result<()> {
    let (first, second) = (one_line(&pair.first.name), one_line(&pair.second.name));
    writeln!(out, "\n{}", paint.bold(&format!("{first} (rows) and {second} (columns)")))?;
    let head = |title: &str, right| Head { title: title.to_owned().into(), right };
    let mut columns = Columns::new(
        [head("", false)]
            .into_iter()
            .chain(pair.said.iter().map(|word| head(word, true)))
            .collect(),
    );
    for (word, row) in pair.said.iter().zip(&pair.table) {
        columns.row([word.clone()].into_iter().chain(row.iter().map(u64::to_string)).collect());
    }
    columns.write(out, "  ", paint, &|_, text| text.to_owned())?;
    if pair.disagreements_total == 0 {
        return writeln!(out, "  They disagree on no run.");
    }
    writeln!(out)?;
    for run in &pair.disagreements {
        writeln!(out, "  {}", paint.bold(&one_line(&run.path)))?;
        let because = |why: &Option<String>| {
            why.as_deref().map(|why| format!(": {}", one_line(why))).unwrap_or_default()
        };
        writeln!(out, "    {first} {}{}", run.first, because(&run.first_why))?;
        writeln!(out, "    {second} {}{}", run.second, because(&run.second_why))?;
    }
    let left = pair.disagreements_total.saturating_sub(pair.disagreements.len() as u64);
    if left > 0 { writeln!(out, "  And {left} more.") } else { Ok(()) }
}
