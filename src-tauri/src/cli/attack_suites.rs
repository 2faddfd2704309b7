//! `redteam suites`: writes suites of attacks. Buys the wording of a model where a strategy needs one,
//! after it said which model receives what.
use super::ask_yes::ask_yes;
use super::{
    CommandError, CommandStatus, Outcome,
    amounts::{counted, dollars},
    folder,
    terminal::{lines, one_line},
    watch::Interrupts,
};
use crate::Environment;
use clap::{Args, ValueEnum};
use serde_json::json;
use std::io::{self, IsTerminal as _, Write};
use std::path::PathBuf;
use touchstone_app::App;
use touchstone_app::error::{AppError, Code};
use touchstone_app::red_team::attack_suites::{self, AttackSuiteOptions, Carrier, WrittenSuites};
use touchstone_app::red_team::rewording::{RewordPlan, RewordRequest, Reworded};

/// Texts of the user.
#[derive(Debug, Args)]
pub(super) struct SlotArgs {
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
    pub(super) fn slots(&self) -> Result<attack_suites::UserTexts, AppError> {
        let text = |text: &Option<String>, file: &Option<PathBuf>| match file {
            Some(file) => attack_suites::slot_from_file(file).map(Some),
            None => Ok(text.clone()),
        };
        let prefix = text(&self.prefix, &self.prefix_file)?;
        let suffix = text(&self.suffix, &self.suffix_file)?;
        Ok(attack_suites::slots(prefix.as_deref(), suffix.as_deref()))
    }
}

/// Arguments of `redteam suites`.
#[derive(Debug, Args)]
#[command(after_help = "\
Run the suites with `touchstone run`, whose plan says what is sent to whom before anything is. They are
for systems that you own or may test. Objectives are sent to the attacker model, which is asked for:
now for `tense`, when the suites are run for `multi_turn` and `crescendo`.")]
pub(super) struct Suites {
    /// Folder to write the suites to, such as `tasks/red-team`; created if needed
    folder: PathBuf,
    /// File of objectives, in the shape of azure-ai-evaluation's `custom_attack_seed_prompts`
    /// [default: a small mild set]
    #[arg(long, value_name = "FILE")]
    objectives: Option<PathBuf>,
    /// Categories of harm [default: all of the objectives]
    #[arg(long, value_name = "NAME,…", value_delimiter = ',')]
    categories: Vec<String>,
    /// Strategies, or two composed with `+`; `easy` stands for base64, flip and morse, `moderate`
    /// for tense, `difficult` for tense+base64. The baseline is always included
    #[arg(long, value_name = "NAME,…", value_delimiter = ',', default_value = "easy")]
    strategies: Vec<String>,
    /// Use at most this many objectives of a category
    #[arg(long, value_name = "N")]
    max: Option<usize>,
    /// Model that judges the answers
    #[arg(long, value_name = "MODEL")]
    judge_model: Option<String>,
    /// Model of touchstone.yaml that words objectives for `tense`, and leads `multi_turn` and
    /// `crescendo`
    #[arg(long, value_name = "MODEL")]
    attacker_model: Option<String>,
    /// Ask the attacker model for nothing more after this many dollars
    #[arg(long, value_name = "X")]
    max_cost: Option<f64>,
    /// Send the objectives to the attacker model without asking
    #[arg(long)]
    yes: bool,
    /// Hide the objectives in what a tool returns, behind a harmless question. Also writes the
    /// tool, and prints its entry for `touchstone.yaml`
    #[arg(
        long, value_name = "CARRIER", num_args = 0..=1, require_equals = true,
        default_missing_value = "sql"
    )]
    indirect: Option<CarrierName>,
    #[command(flatten)]
    slots: SlotArgs,
    /// Print one JSON document
    #[arg(long)]
    json: bool,
}

/// Tool whose messages hide objectives.
#[derive(Debug, Clone, Copy, ValueEnum)]
enum CarrierName {
    /// A table of an SQLite database
    Sql,
    /// A virtual API with cached replies
    Api,
}

impl CarrierName {
    fn carrier(self) -> Carrier {
        match self {
            CarrierName::Sql => Carrier::Table,
            CarrierName::Api => Carrier::Api,
        }
    }
}

pub(super) fn run(asked: &Suites, here: &Environment) -> Outcome {
    let (objectives, mut left_out) = attack_suites::objectives(asked.objectives.as_deref())?;
    let categories: Result<_, _> =
        asked.categories.iter().map(|name| attack_suites::category(name)).collect();
    let mut options = AttackSuiteOptions {
        attacks: attack_suites::attacks(&asked.strategies)?,
        slots: asked.slots.slots()?,
        categories: categories?,
        most_of_category: asked.max,
        judge_model: asked.judge_model.clone(),
        attacker_model: asked.attacker_model.clone(),
        hidden: asked.indirect.map(CarrierName::carrier),
    };
    let texts = attack_suites::texts_to_reword(&objectives, &options)?;
    let mut bought = None;
    if !texts.is_empty() {
        let paths = attack_suites::check_suites(&asked.folder, &objectives, &options, &texts)?;
        let Some(reworded) = reword(asked, here, texts, &paths)? else {
            return Ok(CommandStatus::WithFailures);
        };
        options.slots.past_tense.clone_from(&reworded.texts);
        bought = Some(reworded);
    }
    let written = attack_suites::write_suites(&asked.folder, &objectives, &options)?;
    // The objective itself is sensitive, and may end in the log of another program.
    let not_worded =
        |file: &String| format!("The model worded no past tense for the objective of {file}.");
    left_out.extend(written.not_worded.iter().map(not_worded));
    for sentence in &left_out {
        let _ = writeln!(io::stderr().lock(), "{}", lines(sentence));
    }
    print(asked, &written, (bought.as_ref(), &left_out))?;
    Ok(if left_out.is_empty() { CommandStatus::Well } else { CommandStatus::WithFailures })
}

fn print(
    asked: &Suites,
    written: &WrittenSuites,
    (bought, left_out): (Option<&Reworded>, &[String]),
) -> io::Result<()> {
    let mut out = io::stdout().lock();
    if asked.json {
        let files: Vec<String> =
            written.files.iter().map(|file| file.display().to_string()).collect();
        let mut document =
            json!({ "files": files, "attacks": written.attacks, "left_out": left_out });
        if let Some(inbox) = &written.inbox {
            document["inbox"] = json!(inbox.display().to_string());
            document["tool"] = json!(written.tool);
        }
        if let Some(bought) = bought {
            document["requests"] = json!(bought.requests);
            document["cost"] = json!(bought.cost);
        }
        serde_json::to_writer(&mut out, &document).map_err(io::Error::from)?;
        return writeln!(out);
    }
    writeln!(
        out,
        "Wrote {} suites to {}: {} runs for each system and model.",
        written.files.len(),
        asked.folder.display(),
        written.attacks
    )?;
    if let Some(bought) = bought {
        let paid = bought.cost.map_or_else(|| "of unknown cost".to_owned(), dollars);
        writeln!(out, "Worded with {}, {paid}.", counted(bought.requests, "request"))?;
    }
    if written.led > 0 && asked.attacker_model.is_none() {
        writeln!(
            out,
            "No attacker model is named, which leads {} of these runs. \
             Choose it in the launch sheet, with --user-model of `touchstone run`, or with `user_model` in touchstone.yaml.",
            written.led
        )?;
    }
    if let Some(tool) = &written.tool {
        writeln!(out, "Add the tool to touchstone.yaml:\n\n{}", lines(tool))?;
    }
    Ok(())
}

/// Has the attacker model put texts into the past tense, after the person confirmed that it may
/// receive them. Returns `None` if the person does not.
fn reword(
    asked: &Suites,
    here: &Environment,
    texts: Vec<String>,
    paths: &[PathBuf],
) -> Result<Option<Reworded>, CommandError> {
    let Some(model) = asked.attacker_model.clone() else {
        let why = "The strategy `tense` is worded by a model, and none is named.";
        return Err(AppError::new(Code::BadRequest, why)
            .hint("Name one of touchstone.yaml with --attacker-model, or leave the strategy out.")
            .into());
    };
    let app = here.engine();
    app.folder().open_to_run(&attack_suites::workspace_of(&asked.folder), None, None)?;
    app.folder().wait_ready(folder::PATIENCE)?;
    let request = RewordRequest { model, texts, max_cost: asked.max_cost };
    let plan = app.red_team().plan_rewording(&request)?;
    if plan.requests > 0 {
        attack_suites::check_free(paths)?;
        if !confirm(&app, &plan, asked.yes)? {
            return Ok(None);
        }
    }
    let interrupts = Interrupts::listen()?;
    let on_retry = |seconds, why: String| {
        let _ = writeln!(io::stderr(), "{} Next attempt in {seconds} s.", one_line(&why));
    };
    Ok(Some(app.red_team().reword(&request, || interrupts.count(), on_retry)?))
}

/// Prints which model receives what, with the estimate, and asks for the confirmation if nobody
/// gave it yet. Returns false if the person does not confirm.
fn confirm(app: &App, plan: &RewordPlan, yes: bool) -> Result<bool, CommandError> {
    let mut out = io::stderr().lock();
    let receiver = &plan.receiver;
    let name = receiver.target.split_once('/').map_or("", |(_, name)| name);
    let money = plan.cost.map_or_else(|| "the cost is unknown".to_owned(), dollars);
    writeln!(
        out,
        "{} to {} ({} at {}), which puts them into the past tense: about {} tokens, {money}.",
        counted(plan.requests, "objective"),
        one_line(name),
        one_line(receiver.model.as_deref().unwrap_or_default()),
        one_line(receiver.address.as_deref().unwrap_or_default()),
        plan.tokens
    )?;
    if let Some(unbound) = &plan.unbound {
        writeln!(out, "{}", one_line(unbound))?;
    }
    if receiver.confirmed {
        return Ok(true);
    }
    if !yes {
        if !io::stdin().is_terminal() {
            return Ok(true);
        }
        if !ask_yes(&mut out, "Send the objectives to this model?")? {
            writeln!(out, "Nothing was sent.")?;
            return Ok(false);
        }
    }
    app.red_team().confirm_rewording(receiver)?;
    Ok(true)
}
