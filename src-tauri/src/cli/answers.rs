//! `stabletoolbench score`: scores answer files against query sets.
use super::{CommandStatus, Outcome, terminal::one_line};
use clap::{Args, ValueEnum};
use std::io::{self, Write as _};
use std::path::PathBuf;
use touchstone_app::error::{AppError, Code};
use touchstone_app::number_format::fixed;
use touchstone_app::scoring::answers::{AnswerScore, AnswerScores, score_answers};

/// Arguments of `stabletoolbench score`.
#[derive(Debug, Args)]
pub(super) struct Answers {
    /// Raw answers, converted answers or result files
    #[arg(required = true, value_name = "FILE")]
    files: Vec<PathBuf>,
    /// Folder of the query sets
    #[arg(long, value_name = "DIR")]
    queries: PathBuf,
    /// Count calls like the original, including its bugs
    #[arg(long, value_name = "ORIGINAL")]
    compat: Option<Compat>,
    /// Print one JSON document
    #[arg(long)]
    json: bool,
}

#[derive(Debug, Clone, Copy, ValueEnum)]
enum Compat {
    Seed,
}

pub(super) fn run(asked: &Answers) -> Outcome {
    let scores =
        score_answers(&asked.files, &asked.queries, matches!(asked.compat, Some(Compat::Seed)))?;
    for note in &scores.notes {
        let _ = writeln!(io::stderr(), "{}", one_line(note));
    }
    let mut out = io::stdout().lock();
    if asked.json {
        let text = serde_json::to_string_pretty(&scores).map_err(|why| {
            AppError::new(Code::Failed, format!("The scores could not be written: {why}."))
        })?;
        writeln!(out, "{text}")?;
    } else {
        for one in &scores.answers {
            writeln!(out, "{}", one_line(&line(one)))?;
        }
        writeln!(out, "{}", total(&scores))?;
    }
    Ok(if scores.notes.is_empty() { CommandStatus::Well } else { CommandStatus::WithFailures })
}

/// Formats one line, such as `588  0.50  1 of 2 gold APIs called, never called: Moons; finished`.
fn line(one: &AnswerScore) -> String {
    let score = one.api_call_score.map_or_else(|| "–".to_owned(), |score| fixed(score, 2));
    let mut words = vec![format!(
        "{} of {} gold APIs called",
        one.hits.len(),
        one.hits.len() + one.missing.len()
    )];
    let names = |pairs: &[[String; 2]]| {
        pairs.iter().map(|[_, api]| api.as_str()).collect::<Vec<_>>().join(", ")
    };
    if !one.missing.is_empty() {
        words.push(format!("never called: {}", names(&one.missing)));
    }
    if !one.extra.is_empty() {
        words.push(format!("others: {}", names(&one.extra)));
    }
    if !one.unknown.is_empty() {
        words.push(format!("no API of the query: {}", one.unknown.join(", ")));
    }
    if let (true, Some(any)) = (one.ambiguous, one.api_call_score_any) {
        words.push(format!("ambiguous, {} at most", fixed(any, 2)));
    }
    words.push(match (one.finish.ours, one.finish.document, one.finish.official) {
        (true, _, true) => "finished".to_owned(),
        (true, _, false) => {
            "finished, but `Finish` is not the last tool call of the official path".to_owned()
        }
        (false, true, _) => "gave up".to_owned(),
        (false, false, _) => "not finished".to_owned(),
    });
    format!("{}  {score}  {}", one.query_id, words.join("; "))
}

fn total(scores: &AnswerScores) -> String {
    let mean = scores.average_api_call_score.map_or_else(|| "–".to_owned(), |mean| fixed(mean, 3));
    let ends = match (scores.low, scores.high) {
        (Some(low), Some(high)) => format!(" ({}–{})", fixed(low, 3), fixed(high, 3)),
        _ => String::new(),
    };
    let left_out = match scores.left_out {
        0 => String::new(),
        1 => "; 1 answer is to a query that test_query_ids leaves out".to_owned(),
        many => format!("; {many} answers are to queries that test_query_ids leaves out"),
    };
    let how = if scores.compat.is_some() { " as the original counts, with its faults" } else { "" };
    format!(
        "API call score {mean}{ends}{how}: {} answers to {} queries, {} finished, {} without an answer; {} queries of the sets have none here{left_out}",
        scores.total_evaluations,
        scores.total_queries,
        scores.finish_count,
        scores.without_answer,
        scores.queries_missing
    )
}
