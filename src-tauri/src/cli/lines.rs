//! Line filter for commands that read standard input and write one output line for each input line.
use super::{Ended, Outcome, terminal};
use std::{
    io::{self, BufRead, BufReader, IsTerminal as _, Read as _, Write as _},
    num::NonZero,
    thread,
};
use touchstone_app::error::{AppError, Code};

/// Maximum length of a line in bytes. A longer one is skipped, since a line without an end would
/// fill the memory.
const LONGEST: u64 = 64 << 20;
/// Number of bytes read ahead, whose lines are processed on all CPUs at once.
const AHEAD: usize = 1 << 20;

pub(super) type Line = Result<String, AppError>;

/// Writes the result of `one` for every line of standard input. A line that fails is reported with
/// its number, and the others continue.
pub(super) fn answer(one: impl Fn(&str) -> Line + Sync) -> Outcome {
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
        for answer in answers(lines, threads, &one) {
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
        // A caller that waits for the result before it writes the next line gets it.
        out.flush()?;
    }
}

/// Reads the next line, and those after it that are already buffered. Empty at the end of the
/// input.
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

/// Returns one result for each line, in order; an empty string for an empty line.
fn answers(
    mut lines: Vec<Line>,
    threads: usize,
    one: &(impl Fn(&str) -> Line + Sync),
) -> Vec<Line> {
    let share = lines.len().div_ceil(threads).max(1);
    let mut shares = lines.chunks_mut(share);
    let first = shares.next();
    thread::scope(|scope| {
        for others in shares {
            scope.spawn(move || each(others, one));
        }
        each(first.unwrap_or_default(), one);
    });
    lines
}

fn each(lines: &mut [Line], one: &impl Fn(&str) -> Line) {
    for line in lines {
        if let Ok(text) = line {
            let text = text.trim();
            *line = if text.is_empty() { Ok(String::new()) } else { one(text) };
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn read(text: &[u8], capacity: usize) -> Vec<usize> {
        let mut from = BufReader::with_capacity(capacity, text);
        let batches = std::iter::from_fn(|| {
            lines(&mut from).ok().map(|lines| lines.len()).filter(|count| *count > 0)
        });
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
        let lines = || {
            ["a", "b", " \n", "c\n", "d"]
                .map(|line| Ok(line.to_owned()))
                .into_iter()
                .collect::<Vec<Line>>()
        };
        for threads in [1, 2, 3, 9] {
            let answers = answers(lines(), threads, &|line: &str| Ok(format!("{line}!")));
            let answers: Vec<String> = answers.into_iter().map(Result::unwrap).collect();
            assert_eq!(answers, ["a!", "b!", "", "c!", "d!"], "{threads}");
        }
    }
}
