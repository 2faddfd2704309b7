//! `diff`: prints the differences between two values, read from files or from standard input.
use super::{
    CommandStatus, Outcome,
    terminal::{Paint, one_line},
};
use crate::Environment;
use clap::Args;
use std::{
    io::{self, BufWriter, Read as _, Write as _},
    path::{Path, PathBuf},
};
use touchstone_app::error::{AppError, Code};
use touchstone_app::runs::{FileDiffOptions, InputFile, RunActions, Style};

/// Maximum size of a file, in bytes.
const MOST: u64 = 64 << 20;

/// Arguments of `diff`.
#[derive(Debug, Args)]
pub(super) struct Diff {
    /// Expected value: JSON, YAML, text, or a transcript for its answer; `-` reads standard input
    expected: PathBuf,
    /// Actual value
    actual: PathBuf,
    /// Match rows by this field; repeatable [default: detected]
    #[arg(long, value_name = "FIELD")]
    key: Vec<String>,
    /// Treat numbers this close as equal: 0.5, or 1% of the expected number
    #[arg(long, value_name = "N")]
    tolerance: Option<String>,
    /// Ignore this field; repeatable
    #[arg(long, value_name = "FIELD")]
    ignore: Vec<String>,
    /// Ignore the order of rows
    #[arg(long)]
    ignore_order: bool,
    /// Print one JSON document
    #[arg(long)]
    json: bool,
}

pub(super) fn run(asked: &Diff, here: &Environment) -> Outcome {
    let is_input = |path: &Path| path == Path::new("-");
    if is_input(&asked.expected) && is_input(&asked.actual) {
        let why = "Only one of the two can be read from standard input.";
        return Err(AppError::new(Code::BadRequest, why)
            .hint("Name a file for the other one.")
            .into());
    }
    let wish = FileDiffOptions {
        key: asked.key.clone(),
        tolerance: asked.tolerance.clone(),
        ignore_order: asked.ignore_order,
        ignore: asked.ignore.clone(),
    };
    let visible = |text: &str| one_line(text).into_owned();
    let diff =
        RunActions::diff_files(&read(&asked.expected)?, &read(&asked.actual)?, &wish, &visible)?;
    for note in &diff.notes {
        writeln!(io::stderr(), "{}", one_line(note))?;
    }
    let mut out = BufWriter::new(io::stdout().lock());
    if asked.json {
        writeln!(out, "{}", diff.json)?;
    } else {
        let paint = Paint(here.colour);
        let aligned = diff
            .aligned
            .map(|aligned| paint.dim(&format!("  (rows {})", one_line(&aligned))))
            .unwrap_or_default();
        writeln!(out, "{}{aligned}", paint.bold(&one_line(&diff.summary)))?;
        for line in &diff.lines {
            let dressed: Vec<String> =
                line.iter().map(|(style, text)| dress(paint, *style, text)).collect();
            // Colour alone would suggest that these two lines are one value written in two ways.
            let counts = line.first().is_some_and(|(style, sign)| {
                *style != Style::Alike || !matches!(sign.as_str(), "- " | "+ ")
            });
            let note =
                if counts { String::new() } else { paint.dim("  (equal, written differently)") };
            writeln!(out, "{}{note}", dressed.concat())?;
        }
    }
    out.flush()?;
    Ok(if diff.equal { CommandStatus::Well } else { CommandStatus::WithFailures })
}

fn dress(paint: Paint, style: Style, text: &str) -> String {
    match style {
        Style::Plain => text.to_owned(),
        Style::Faint => paint.dim(text),
        Style::Missing => paint.red(text),
        Style::Extra => paint.green(text),
        Style::Alike => paint.yellow(text),
    }
}

pub(super) fn read(path: &Path) -> Result<InputFile, AppError> {
    let name = if path == Path::new("-") {
        "standard input".to_owned()
    } else {
        path.display().to_string()
    };
    let unreadable =
        |why: String| AppError::new(Code::NotFound, format!("{name} could not be read: {why}."));
    let too_large = || unreadable(format!("it is larger than the limit of {} MB", MOST >> 20));
    if path == Path::new("-") {
        let mut bytes = Vec::new();
        io::stdin()
            .lock()
            .take(MOST + 1)
            .read_to_end(&mut bytes)
            .map_err(|why| unreadable(why.to_string()))?;
        return if bytes.len() as u64 > MOST {
            Err(too_large())
        } else {
            Ok(InputFile { name, bytes })
        };
    }
    let about = std::fs::metadata(path).map_err(|why| unreadable(why.to_string()))?;
    if !about.is_file() {
        return Err(unreadable("it is not a file".to_owned()));
    }
    if about.len() > MOST {
        return Err(too_large());
    }
    let bytes = std::fs::read(path).map_err(|why| unreadable(why.to_string()))?;
    Ok(InputFile { name, bytes })
}
