//! Stored verdicts of judges on one run: finds and prints them. Never calls a model.
use super::{
    DirArgs, folder, nudge, review,
    terminal::{Paint, lines, one_line},
};
use crate::Environment;
use std::{
    io::{self, Write},
    path::Path,
};
use touchstone_api::{Judged, JudgedRound};
use touchstone_app::App;
use touchstone_app::error::AppError;
use touchstone_app::number_format::fixed;
use touchstone_app::runs::RunActions;

/// Verdicts on a run, newest first, and the reason if they could not be read.
pub(super) type StoredVerdicts = (Vec<Judged>, Option<String>);

/// Returns the stored verdicts on a run: from the open folder if directories were given by options,
/// otherwise from the folder that holds the run's tasks, or its `.touchstone` directory.
pub(super) fn find(
    (app, id): (&App, &str),
    (full, member): (&Path, Option<&str>),
    dirs: &DirArgs,
    here: &Environment,
) -> Result<StoredVerdicts, AppError> {
    let named = dirs.input_dir.is_some() || dirs.output_dir.is_some();
    let is_kept = |dir: &Path| dir.join(".touchstone/judgements").is_dir();
    if named || !nudge::above(full).any(is_kept) {
        return app.judging().judged(id);
    }
    let folder = RunActions::folder_above(full).unwrap_or_else(|| review::folder_of(full));
    if full.parent() == Some(&folder) {
        return app.judging().judged(id);
    }
    let app = folder::read(&folder.into(), here)?;
    // A file that is not among the results of that folder was never judged there.
    app.runs()
        .run_with(full, member)
        .map_or_else(|_| Ok(StoredVerdicts::default()), |id| app.judging().judged(&id))
}

/// Prints all verdicts. Raw replies are included only if `replies` is set.
pub(super) fn print(
    out: &mut dyn Write,
    said: &[Judged],
    replies: bool,
    paint: Paint,
) -> io::Result<()> {
    if said.is_empty() {
        return Ok(());
    }
    writeln!(out, "\n{}", paint.bold("Judges"))?;
    for one in said {
        let official = if one.official { ", official rule" } else { "" };
        let against =
            one.against.as_ref().map(|path| format!(" against {path}")).unwrap_or_default();
        let name = paint.bold(&one_line(&one.judge));
        let by = one_line(&format!(" version {} by {}{official}{against}", one.version, one.model))
            .into_owned();
        writeln!(out, "  {name}{by}: {}", verdict(one, paint))?;
        if let Some(why) = &one.stale {
            writeln!(
                out,
                "     {}",
                paint.yellow(&one_line(&format!("stale: {why} It is not counted.")))
            )?;
        }
        for round in &one.rounds {
            write_round(out, round, replies, paint)?;
        }
    }
    Ok(())
}

/// Formats the mean with its spread, the threshold, and if the run passes.
fn verdict(one: &Judged, paint: Paint) -> String {
    let Some(score) = one.score else { return paint.yellow("no verdict") };
    let mean = one.told.clone().unwrap_or_else(|| fixed(score, 2));
    let spread = one.own_spread.or(one.spread).filter(|_| one.rounds.len() > 1);
    let spread = spread.map(|spread| format!(" ± {}", fixed(spread, 2))).unwrap_or_default();
    let suite = if one.of_suite { ", as the suite says" } else { "" };
    let from = one.threshold.as_ref().map(|from| format!(" ({from}{suite})")).unwrap_or_default();
    let passes = match one.passed {
        Some(true) => format!(", {}", paint.green("passes")),
        Some(false) => format!(", {}", paint.red("does not pass")),
        None => String::new(),
    };
    let given = one.rounds.len();
    let rounds = if (given as u64) < u64::from(one.wanted) {
        format!(", {given} of {} rounds", one.wanted)
    } else {
        String::new()
    };
    format!("{}{passes}{}{rounds}", one_line(&format!("{mean}{spread}")), one_line(&from))
}

fn write_round(
    out: &mut dyn Write,
    round: &JudgedRound,
    replies: bool,
    paint: Paint,
) -> io::Result<()> {
    let order = round.order.as_ref().map(|order| format!(" ({order})")).unwrap_or_default();
    let reason =
        if round.reason.is_empty() { String::new() } else { format!(": {}", round.reason) };
    writeln!(out, "     {}", one_line(&format!("{}{order}{reason}", round.told)))?;
    if !replies {
        return Ok(());
    }
    if round.replies.is_empty() {
        writeln!(out, "       {}", paint.dim("no model was asked"))?;
    }
    let by = round.model_id.as_ref().map(|model| format!(" of {model}")).unwrap_or_default();
    for reply in &round.replies {
        writeln!(out, "       {}", paint.dim(&one_line(&format!("reply{by}, as it came"))))?;
        for line in lines(reply).lines() {
            writeln!(out, "{}", format!("         {line}").trim_end())?;
        }
    }
    Ok(())
}
