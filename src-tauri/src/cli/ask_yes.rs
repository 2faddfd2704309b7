//! Asks on the terminal before something that costs, sends or deletes.
use std::io::{self, BufRead as _, Write};

/// Asks a question and returns true for `y` or `yes`. Anything else is a no.
pub(super) fn ask_yes(out: &mut dyn Write, question: &str) -> io::Result<bool> {
    write!(out, "{question} [y/N] ")?;
    out.flush()?;
    let mut answer = String::new();
    io::stdin().lock().read_line(&mut answer)?;
    Ok(matches!(answer.trim(), "y" | "Y" | "yes"))
}
