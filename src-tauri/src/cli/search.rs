//! `search`: finds a text in all transcripts.
use super::sensitive::{SensitiveArgs, tell_left_out};
use super::{
    CommandStatus, FolderArgs, Outcome, folder,
    terminal::{Paint, one_line},
};
use crate::Environment;
use clap::Args;
use std::io::{self, BufWriter, Write as _};
use touchstone_api::{Hit, SnippetPiece, Span};

/// Arguments of `search`.
#[derive(Debug, Args)]
pub(super) struct Search {
    /// Words or a "phrase" to find, with the tokens of a filter: `"no such column" state:error`
    #[arg(allow_hyphen_values = true)]
    text: String,
    #[command(flatten)]
    place: FolderArgs,
    /// Print at most this many results
    #[arg(long, default_value_t = 200)]
    limit: u32,
    #[command(flatten)]
    sensitive: SensitiveArgs,
    /// Print one JSON object per line
    #[arg(long)]
    json: bool,
}

pub(super) fn run(asked: &Search, here: &Environment) -> Outcome {
    let app = folder::ready(asked.place.clone(), here)?;
    app.runs().check_filter_of_folder(&asked.text)?;
    let mut hits = app.runs().search(&asked.text, Span { offset: 0, limit: asked.limit })?;
    let include = asked.sensitive.include_sensitive;
    let left_out = if include { 0 } else { app.sensitive().leave_out_snippets(&mut hits)? };
    let mut out = BufWriter::new(io::stdout().lock());
    let paint = Paint(here.colour);
    for hit in &hits {
        if asked.json {
            let snippet: String =
                hit.snippet.pieces.iter().map(|piece| piece.text.as_str()).collect();
            writeln!(
                out,
                "{}",
                serde_json::json!({ "path": hit.path, "step": hit.snippet.step, "snippet": snippet })
            )?;
        } else {
            writeln!(out, "{}", line(hit, paint))?;
        }
    }
    out.flush()?;
    tell_left_out(left_out);
    Ok(CommandStatus::Well)
}

/// Formats a hit. Steps are counted from 1, as in the window.
fn line(hit: &Hit, paint: Paint) -> String {
    let step = hit.snippet.step.map(|step| format!(" step {}", step + 1)).unwrap_or_default();
    let text: String = hit.snippet.pieces.iter().map(|piece| format_piece(piece, paint)).collect();
    format!("{}{}: {}", paint.bold(&one_line(&hit.path)), paint.dim(&step), text.trim())
}

/// Formats a piece of a snippet, highlighted if it is a hit.
fn format_piece(piece: &SnippetPiece, paint: Paint) -> String {
    let text = one_line(&piece.text);
    if piece.hit { paint.yellow(&text) } else { text.into_owned() }
}
