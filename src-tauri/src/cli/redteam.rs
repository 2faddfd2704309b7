//! `redteam`: writes suites of attacks and prints the scorecard of their runs.
use super::attack_suites::{self, SlotArgs, Suites};
use super::{
    CommandStatus, FolderArgs, Outcome,
    amounts::counted,
    folder,
    terminal::{Columns, Head, Paint, one_line},
};
use crate::Environment;
use clap::{Args, Subcommand};
use serde_json::json;
use std::io::{self, BufWriter, Read as _, Write};
use touchstone_api::{AttackGroup, AttackRate, AttackScorecard};
use touchstone_app::number_format::fixed;
use touchstone_app::red_team::attack_suites as suites_of_attacks;
use touchstone_app::runs::RunActions;

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
        RedTeamCommand::Suites(asked) => attack_suites::run(asked, here),
        RedTeamCommand::Scorecard(asked) => scorecard(asked, here),
    }
}

fn strategies(asked: &Strategies, here: &Environment) -> Outcome {
    let mut out = BufWriter::new(io::stdout().lock());
    let rows = suites_of_attacks::strategies();
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
    for (name, text) in suites_of_attacks::disguise(&text, &asked.strategies, &slots)? {
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

fn scorecard(asked: &ScorecardOf, here: &Environment) -> Outcome {
    RunActions::check_filter(&asked.filter)?;
    let app = folder::ready(asked.place.clone(), here)?;
    app.runs().check_filter_of_folder(&asked.filter)?;
    let mut out = BufWriter::new(io::stdout().lock());
    if asked.azure {
        writeln!(
            out,
            "{}",
            app.red_team().azure_scorecard(&asked.filter, asked.include_sensitive)?
        )?;
    } else {
        let card = app.red_team().attack_scorecard(&asked.filter)?;
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
    if overall.not_delivered > 0 {
        writeln!(
            out,
            "In {} no tool result held the hidden message; they are in no share.",
            counted(overall.not_delivered, "run")
        )?;
    }
    if overall.not_led > 0 {
        writeln!(
            out,
            "In {} the attacker failed before anything succeeded; they are in no share.",
            counted(overall.not_led, "run")
        )?;
    }
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
    let numbers = [
        "succeeded",
        "95 %",
        "judged",
        "not judged",
        "not delivered",
        "attacker failed",
        "blocked",
        "errors",
    ];
    let numbers = numbers.into_iter().map(right);
    let mut columns = Columns::new(titles.iter().map(left).chain(numbers).collect());
    for (mut names, rate) in rows {
        names.extend([
            share(rate),
            interval(rate),
            rate.judged.to_string(),
            rate.not_judged.to_string(),
            rate.not_delivered.to_string(),
            rate.not_led.to_string(),
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
