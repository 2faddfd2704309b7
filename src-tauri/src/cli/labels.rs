//! `labels`: lists the labels of the workspace file, with the runs that have them.
use super::{
    CommandStatus, FolderArgs, Outcome, folder,
    terminal::{Columns, Head, Paint, one_line},
};
use crate::Environment;
use clap::Args;
use std::io::{self, BufWriter, Write as _};
use touchstone_api::{LabelSchema, LabelView};

/// Arguments of `labels`.
#[derive(Debug, Args)]
#[command(after_help = "\
Exit status: 0 done, 1 a label has a mistake, 2 the folder could not be read.")]
pub(super) struct LabelsOf {
    #[command(flatten)]
    place: FolderArgs,
    /// Print one JSON object per line
    #[arg(long)]
    json: bool,
}

pub(super) fn run(asked: &LabelsOf, here: &Environment) -> Outcome {
    let app = folder::ready(asked.place.clone(), here)?;
    folder::tell_unread(&app)?;
    let labels = app.labels().all()?;
    let mut out = BufWriter::new(io::stdout().lock());
    if asked.json {
        for label in &labels {
            serde_json::to_writer(&mut out, label).map_err(io::Error::from)?;
            writeln!(out)?;
        }
    } else if labels.is_empty() {
        writeln!(
            out,
            "There are no labels. Write them into touchstone.yaml: labels: {{ NAME: FILTER }}."
        )?;
    } else {
        let head = |title: &'static str, right| Head { title: title.into(), right };
        let mut columns =
            Columns::new(vec![head("label", false), head("runs", true), head("from", false)]);
        for label in &labels {
            columns.row(vec![
                one_line(&label.name).into_owned(),
                label.count.map(|count| count.to_string()).unwrap_or_default(),
                one_line(&origin(label)).into_owned(),
            ]);
        }
        columns.write(&mut out, "", Paint(here.colour), &|_, text| text.to_owned())?;
    }
    out.flush()?;
    let has_mistake = labels.iter().any(|label| label.error.is_some());
    Ok(if has_mistake { CommandStatus::WithFailures } else { CommandStatus::Well })
}

/// Describes what a label follows from, or who gives it.
fn origin(label: &LabelView) -> String {
    let counts: Vec<String> = label
        .values
        .iter()
        .map(|value| format!("{} {}", value.value, value.count.unwrap_or_default()))
        .collect();
    let counts = counts.join(", ");
    let text = match (&label.question, &label.schema) {
        (Some(question), _) => question.clone(),
        (None, Some(LabelSchema::Number { min, max })) => {
            let bound =
                |bound: &Option<f64>| bound.map(|bound| bound.to_string()).unwrap_or_default();
            format!("given by people: a number {}..{} {counts}", bound(min), bound(max))
        }
        _ => format!("given by people: {counts}"),
    };
    let text = text.trim_end().trim_end_matches(':').to_owned();
    match &label.error {
        Some(error) => format!("{text}  ✕ {error}"),
        None => text,
    }
}
