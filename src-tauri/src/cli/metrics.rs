//! `metrics`: pairs of texts on standard input, every text metric of them on standard output, a line for a line.
use super::{Ended, Outcome, terminal};
use clap::Args;
use std::{
    io::{self, BufRead, BufReader, IsTerminal as _, Read as _, Write as _},
    num::NonZero,
    thread,
};
use touchstone_engine::{
    app::metrics::{Nltk, measure_line},
    error::{AppError, Code},
};

/// What `metrics` takes.
#[derive(Debug, Args)]
pub(super) struct Metrics {
    /// Cut English texts as this version of NLTK does: 3.10.4 or 3.9.1
    #[arg(long, value_name = "VERSION", default_value = "3.10.4", value_parser = version)]
    nltk: Nltk,
    /// Print JSON Lines, which it always does
    #[arg(long, hide = true)]
    json: bool,
}

fn version(name: &str) -> Result<Nltk, String> {
    Nltk::from_name(name).ok_or_else(|| "it is 3.10.4 or 3.9.1".to_owned())
}

/// A line that is longer is left out, so that one without an end does not take all memory.
const LONGEST: u64 = 64 << 20;
/// So much is read ahead, and measured on all processors at once.
const AHEAD: usize = 1 << 20;

type Line = Result<String, AppError>;

pub(super) fn run(asked: &Metrics) -> Outcome {
    if io::stdin().is_terminal() {
        let _ = writeln!(io::stderr(), "Reading lines of JSON from the keyboard. Ctrl-D ends it.");
    }
    let mut from = BufReader::with_capacity(AHEAD, io::stdin().lock());
    let threads = thread::available_parallelism().map_or(1, NonZero::get);
    let (mut number, mut ended) = (0_u64, Ended::Well);
    loop {
        let lines = lines(&mut from)?;
        if lines.is_empty() {
            return Ok(ended);
        }
        let mut out = io::stdout().lock();
        for answer in answers(lines, threads, asked.nltk) {
            number += 1;
            match answer {
                Ok(line) if line.is_empty() => {}
                Ok(line) => writeln!(out, "{line}")?,
                Err(why) => {
                    ended = Ended::WithFailures;
                    terminal::complain(&AppError {
                        message: format!("Line {number} was left out. {}", why.message),
                        ..why
                    });
                }
            }
        }
        // Whoever waits for the answer before asking again gets it.
        out.flush()?;
    }
}

/// The next line, and those behind it that are there already. None at the end.
fn lines(from: &mut BufReader<impl io::Read>) -> io::Result<Vec<Line>> {
    let mut lines = Vec::new();
    while let Some(line) = line(from)? {
        lines.push(line);
        if !from.buffer().contains(&b'\n') {
            break;
        }
    }
    Ok(lines)
}

fn line(from: &mut impl BufRead) -> io::Result<Option<Line>> {
    let mut bytes = Vec::new();
    if from.by_ref().take(LONGEST).read_until(b'\n', &mut bytes)? == 0 {
        return Ok(None);
    }
    let refused = |why: &str| Err(AppError::new(Code::BadRequest, why));
    if bytes.len() as u64 == LONGEST && bytes.last() != Some(&b'\n') {
        from.skip_until(b'\n')?;
        return Ok(Some(refused("It is longer than 64 MB.")));
    }
    Ok(Some(String::from_utf8(bytes).or_else(|_| refused("It is not UTF-8."))))
}

/// An answer for each line, in their order; an empty one for an empty line.
fn answers(mut lines: Vec<Line>, threads: usize, nltk: Nltk) -> Vec<Line> {
    let share = lines.len().div_ceil(threads).max(1);
    let mut shares = lines.chunks_mut(share);
    let first = shares.next();
    thread::scope(|scope| {
        for others in shares {
            scope.spawn(move || measure(others, nltk));
        }
        measure(first.unwrap_or_default(), nltk);
    });
    lines
}

fn measure(lines: &mut [Line], nltk: Nltk) {
    for line in lines {
        if let Ok(text) = line {
            let text = text.trim();
            *line = if text.is_empty() { Ok(String::new()) } else { measure_line(text, nltk) };
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn read(text: &[u8], capacity: usize) -> Vec<usize> {
        let mut from = BufReader::with_capacity(capacity, text);
        let batches = std::iter::from_fn(|| lines(&mut from).ok().map(|lines| lines.len()).filter(|count| *count > 0));
        batches.collect()
    }

    #[test]
    fn lines_are_taken_together_as_far_as_they_are_there() {
        assert_eq!(read(b"a\nb\nc", 100), [2, 1]);
        assert_eq!(read(b"a\nb\nc\n", 2), [1, 1, 1]);
        assert_eq!(read(b"", 100), [0; 0]);
    }

    #[test]
    fn answers_keep_the_order_of_their_lines_on_any_number_of_threads() {
        let line = |id: usize| Ok(format!(r#"{{"id":{id},"response":"a","ground_truth":"a"}}"#));
        let lines = || (0..7).map(|id| if id == 3 { Ok(" \n".to_owned()) } else { line(id) }).collect::<Vec<Line>>();
        for threads in [1, 2, 3, 9] {
            let answers = answers(lines(), threads, Nltk::default());
            assert_eq!(answers.len(), 7);
            for (id, answer) in answers.into_iter().enumerate() {
                let answer = answer.unwrap();
                assert!(
                    if id == 3 { answer.is_empty() } else { answer.starts_with(&format!(r#"{{"id":{id},"#)) },
                    "{answer}"
                );
            }
        }
    }
}
