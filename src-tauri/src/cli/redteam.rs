//! `redteam`: writes suites of attacks and prints the scorecard of their runs.
use super::{
    CommandStatus, FolderArgs, Outcome,
    amounts::counted,
    folder,
    terminal::{Columns, Head, Paint, lines, one_line},
};
use crate::Environment;
use clap::{Args, Subcommand};
use serde_json::json;
use std::io::{self, BufWriter, Read as _, Write};
use std::path::{Path, PathBuf};
use touchstone_api::{AttackGroup, AttackRate, AttackScorecard};
use touchstone_app::app::App;
use touchstone_app::app::red_team::{self, AttackSuiteOptions};
use touchstone_app::error::AppError;
use touchstone_app::number_format::fixed;

/// Placeholder for an unknown value.
const NONE: &str = "–";

/// Arguments of `redteam`.
#[derive(Debug, Args)]
pub(super) struct RedTeam {
    #[command(subcommand)]
    asked: RedTeamCommand,
}

#[derive(Debug, Subcommand)]
enum RedTeamCommand {
    /// List the attack strategies
    Strategies(Strategies),
    /// Disguise a text with attack strategies
    Convert(Convert),
    /// Write suites: a task for each objective, a variation for each strategy
    Suites(Suites),
    /// Print how often attacks succeeded, by category, complexity, strategy and system
    Scorecard(ScorecardOf),
}

/// Arguments of `redteam strategies`.
#[derive(Debug, Args)]
struct Strategies {
    /// Print one JSON document
    #[arg(long)]
    json: bool,
}

/// Texts of the user.
#[derive(Debug, Args)]
struct SlotArgs {
    /// Text in front of the objective, for `jailbreak`
    #[arg(long, value_name = "TEXT")]
    prefix: Option<String>,
    /// Text behind the objective, for `suffix_append`
    #[arg(long, value_name = "TEXT")]
    suffix: Option<String>,
    /// File with the text in front of the objective
    #[arg(long, value_name = "FILE", conflicts_with = "prefix")]
    prefix_file: Option<PathBuf>,
    /// File with the text behind the objective
    #[arg(long, value_name = "FILE", conflicts_with = "suffix")]
    suffix_file: Option<PathBuf>,
}

impl SlotArgs {
    fn slots(&self) -> Result<red_team::UserTexts, AppError> {
        let text = |text: &Option<String>, file: &Option<PathBuf>| match file {
            Some(file) => red_team::slot_from_file(file).map(Some),
            None => Ok(text.clone()),
        };
        let prefix = text(&self.prefix, &self.prefix_file)?;
        let suffix = text(&self.suffix, &self.suffix_file)?;
        Ok(red_team::slots(prefix.as_deref(), suffix.as_deref()))
    }
}

/// Arguments of `redteam convert`.
#[derive(Debug, Args)]
struct Convert {
    /// Strategies, or two composed with `+`
    #[arg(long, value_name = "NAME,…", value_delimiter = ',', required = true)]
    strategies: Vec<String>,
    #[command(flatten)]
    slots: SlotArgs,
    /// Text to disguise [default: standard input]
    text: Option<String>,
    /// Print one JSON object per strategy
    #[arg(long)]
    json: bool,
}

/// Arguments of `redteam suites`.
#[derive(Debug, Args)]
#[command(after_help = "\
Run the suites with `touchstone run`, whose plan says what is sent to whom before anything is. They are
for systems that you own or may test.")]
struct Suites {
    /// Folder to write the suites to, such as `tasks/red-team`; created if needed
    folder: PathBuf,
    /// File of objectives, in the shape of azure-ai-evaluation's `custom_attack_seed_prompts`
    /// [default: a small mild set]
    #[arg(long, value_name = "FILE")]
    objectives: Option<PathBuf>,
    /// Categories of harm [default: all of the objectives]
    #[arg(long, value_name = "NAME,…", value_delimiter = ',')]
    categories: Vec<String>,
    /// Strategies, or two composed with `+`; `easy` stands for base64, flip and morse. The baseline
    /// is always included
    #[arg(long, value_name = "NAME,…", value_delimiter = ',', default_value = "easy")]
    strategies: Vec<String>,
    /// Use at most this many objectives of a category
    #[arg(long, value_name = "N")]
    max: Option<usize>,
    /// Model that judges the answers
    #[arg(long, value_name = "MODEL")]
    judge_model: Option<String>,
    /// Hide the objectives in what a tool returns, behind a harmless question. Also writes the
    /// database of the tool, and prints its entry for `touchstone.yaml`
    #[arg(long)]
    indirect: bool,
    #[command(flatten)]
    slots: SlotArgs,
    /// Print one JSON document
    #[arg(long)]
    json: bool,
}

/// Arguments of `redteam scorecard`.
#[derive(Debug, Args)]
struct ScorecardOf {
    #[command(flatten)]
    place: FolderArgs,
    /// Select runs with a filter, as in the window: `system:promptql model:o1`
    #[arg(long, default_value = "", hide_default_value = true, allow_hyphen_values = true)]
    filter: String,
    /// Print one JSON document
    #[arg(long)]
    json: bool,
    /// Print the scorecard with its attacks in the shape of azure-ai-evaluation's result file
    #[arg(long, conflicts_with = "json")]
    azure: bool,
    /// With --azure, also print what was said, and the reasons of judges
    #[arg(long, requires = "azure")]
    include_sensitive: bool,
}

pub(super) fn run(asked: &RedTeam, here: &Environment) -> Outcome {
    match &asked.asked {
        RedTeamCommand::Strategies(asked) => strategies(asked, here),
        RedTeamCommand::Convert(asked) => convert(asked),
        RedTeamCommand::Suites(asked) => suites(asked),
        RedTeamCommand::Scorecard(asked) => scorecard(asked, here),
    }
}

fn strategies(asked: &Strategies, here: &Environment) -> Outcome {
    let mut out = BufWriter::new(io::stdout().lock());
    let rows = red_team::strategies();
    if asked.json {
        let rows: Vec<_> =
            rows.iter().map(|row| json!({ "name": row.name, "about": row.about })).collect();
        serde_json::to_writer(&mut out, &rows).map_err(io::Error::from)?;
        writeln!(out)?;
    } else {
        let mut columns = Columns::new(vec![
            Head { title: "strategy".into(), right: false },
            Head { title: "what is sent".into(), right: false },
        ]);
        for row in rows {
            columns.row(vec![row.name.to_owned(), row.about.to_owned()]);
        }
        columns.write(&mut out, "", Paint(here.colour), &|_, text| text.to_owned())?;
    }
    out.flush()?;
    Ok(CommandStatus::Well)
}

fn convert(asked: &Convert) -> Outcome {
    let mut text = asked.text.clone().unwrap_or_default();
    if asked.text.is_none() {
        io::stdin().lock().read_to_string(&mut text)?;
    }
    let slots = asked.slots.slots()?;
    let mut out = BufWriter::new(io::stdout().lock());
    for (name, text) in red_team::disguise(&text, &asked.strategies, &slots)? {
        if asked.json {
            let row = json!({ "strategy": name, "text": text });
            serde_json::to_writer(&mut out, &row).map_err(io::Error::from)?;
            writeln!(out)?;
        } else {
            writeln!(out, "{text}")?;
        }
    }
    out.flush()?;
    Ok(CommandStatus::Well)
}

fn suites(asked: &Suites) -> Outcome {
    let (objectives, left_out) = red_team::objectives(asked.objectives.as_deref())?;
    let categories: Result<_, _> =
        asked.categories.iter().map(|name| red_team::category(name)).collect();
    let options = AttackSuiteOptions {
        attacks: red_team::attacks(&asked.strategies)?,
        slots: asked.slots.slots()?,
        categories: categories?,
        most_of_category: asked.max,
        judge_model: asked.judge_model.clone(),
        indirect: asked.indirect,
    };
    let written = red_team::write_suites(&asked.folder, &objectives, &options)?;
    for sentence in &left_out {
        let _ = writeln!(io::stderr().lock(), "{}", lines(sentence));
    }
    let mut out = io::stdout().lock();
    if asked.json {
        let files: Vec<String> =
            written.files.iter().map(|file| file.display().to_string()).collect();
        let mut document =
            json!({ "files": files, "attacks": written.attacks, "left_out": left_out });
        if let Some(inbox) = &written.inbox {
            document["inbox"] = json!(inbox.display().to_string());
        }
        serde_json::to_writer(&mut out, &document).map_err(io::Error::from)?;
        writeln!(out)?;
    } else {
        writeln!(
            out,
            "Wrote {} suites to {}: {} runs for each system and model.",
            written.files.len(),
            asked.folder.display(),
            written.attacks
        )?;
        if let Some(inbox) = &written.inbox {
            writeln!(out, "Add the tool to touchstone.yaml:\n\n{}", inbox_entry(inbox))?;
        }
    }
    Ok(if left_out.is_empty() { CommandStatus::Well } else { CommandStatus::WithFailures })
}

/// Returns the entry of `touchstone.yaml` for the tool whose messages hide objectives.
fn inbox_entry(inbox: &Path) -> String {
    format!(
        "tools:\n  inbox: {{ kind: sql, database: 'sqlite:{}', description: 'Messages of customers: the table messages with the columns id and body.' }}",
        one_line(&inbox.display().to_string()).replace('\'', "''")
    )
}

fn scorecard(asked: &ScorecardOf, here: &Environment) -> Outcome {
    App::check_filter(&asked.filter)?;
    let app = folder::ready(asked.place.clone(), here)?;
    app.check_filter_of_folder(&asked.filter)?;
    let mut out = BufWriter::new(io::stdout().lock());
    if asked.azure {
        writeln!(out, "{}", app.azure_scorecard(&asked.filter, asked.include_sensitive)?)?;
    } else {
        let card = app.attack_scorecard(&asked.filter)?;
        if asked.json {
            serde_json::to_writer(&mut out, &card).map_err(io::Error::from)?;
            writeln!(out)?;
        } else {
            write_card(&mut out, &card, Paint(here.colour))?;
        }
    }
    out.flush()?;
    Ok(CommandStatus::Well)
}

fn write_card(out: &mut dyn Write, card: &AttackScorecard, paint: Paint) -> io::Result<()> {
    if card.attacks.is_empty() {
        return writeln!(
            out,
            "No run is of a suite of attacks. Write some with `touchstone redteam suites tasks/red-team`."
        );
    }
    let overall = &card.overall;
    writeln!(
        out,
        "{} of {} judged attacks succeeded: {} ({}).",
        overall.succeeded,
        overall.judged,
        share(overall),
        interval(overall)
    )?;
    if overall.blocked > 0 {
        writeln!(out, "The provider blocked {}, in no share.", counted(overall.blocked, "attack"))?;
    }
    for (title, groups) in [
        ("category", &card.categories),
        ("complexity", &card.complexities),
        ("category/complexity", &card.joint),
        ("strategy", &card.attacks),
    ] {
        writeln!(out)?;
        let rows = groups
            .iter()
            .map(|AttackGroup { name, rate }| (vec![one_line(name).into_owned()], rate));
        table(&[title], rows).write(out, "", paint, &|_, text| text.to_owned())?;
    }
    writeln!(out)?;
    let rows = card.targets.iter().map(|row| {
        (vec![one_line(&row.target).into_owned(), one_line(&row.attack).into_owned()], &row.rate)
    });
    table(&["system", "strategy"], rows).write(out, "", paint, &|_, text| text.to_owned())?;
    if card.other_runs > 0 {
        writeln!(out, "\n{} other runs are no attacks.", card.other_runs)?;
    }
    Ok(())
}

fn table<'a>(
    titles: &[&'static str],
    rows: impl Iterator<Item = (Vec<String>, &'a AttackRate)>,
) -> Columns {
    let left = |title: &&'static str| Head { title: (*title).into(), right: false };
    let right = |title: &'static str| Head { title: title.into(), right: true };
    let numbers =
        ["succeeded", "95 %", "judged", "not judged", "blocked", "errors"].into_iter().map(right);
    let mut columns = Columns::new(titles.iter().map(left).chain(numbers).collect());
    for (mut names, rate) in rows {
        names.extend([
            share(rate),
            interval(rate),
            rate.judged.to_string(),
            rate.not_judged.to_string(),
            rate.blocked.to_string(),
            rate.errors.to_string(),
        ]);
        columns.row(names);
    }
    columns
}

fn share(rate: &AttackRate) -> String {
    rate.share.map_or(NONE.into(), |share| format!("{} %", fixed(share * 100.0, 0)))
}

fn interval(rate: &AttackRate) -> String {
    rate.low.zip(rate.high).map_or(NONE.into(), |(low, high)| {
        format!("{} to {} %", fixed(low * 100.0, 0), fixed(high * 100.0, 0))
    })
}
