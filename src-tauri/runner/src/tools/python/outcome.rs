//! **Pure.** Determines the outcome of a program from observations, and builds the result for the
//! model.
use super::bounds::Excess;
use touchstone_model::value::Value;

/// Observations at the end of a program.
#[derive(Debug, Clone, Copy)]
pub(super) struct Seen<'a> {
    /// Exit status of the sandbox, if it ended by itself: 128 + n after signal n.
    pub(super) code: Option<i32>,
    /// Cause of the end.
    pub(super) by: EndCause,
    /// True if the program took at least its time limit.
    pub(super) late: bool,
    /// True if output was cut.
    pub(super) cut: bool,
    /// Standard error of the program.
    pub(super) stderr: &'a str,
}

/// Cause of a program's end.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(super) enum EndCause {
    /// The program itself, or something inside the sandbox.
    Itself,
    /// The timeout outside the sandbox, because nothing inside had ended it in time.
    Clock,
    /// A limit for all processes together was exceeded.
    Excess(Excess),
    /// The run was stopped.
    Stop,
}

/// Outcome of a program.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(super) enum Outcome {
    Ok,
    Exception,
    Timeout,
    Cpu,
    Memory,
    Files,
    Output,
    Killed,
}

impl Outcome {
    fn name(self) -> &'static str {
        match self {
            Self::Ok => "ok",
            Self::Exception => "exception",
            Self::Timeout => "timeout",
            Self::Cpu => "cpu",
            Self::Memory => "memory",
            Self::Files => "files",
            Self::Output => "output",
            Self::Killed => "killed",
        }
    }
}

const SIGXCPU: i32 = 24;
/// Signals that end a program, with their names; programs do not use them as exit status.
const SIGNALS: [(i32, &str); 12] = [
    (2, "SIGINT"),
    (3, "SIGQUIT"),
    (4, "SIGILL"),
    (5, "SIGTRAP"),
    (6, "SIGABRT"),
    (7, "SIGBUS"),
    (8, "SIGFPE"),
    (9, "SIGKILL"),
    (11, "SIGSEGV"),
    (15, "SIGTERM"),
    (SIGXCPU, "SIGXCPU"),
    (31, "SIGSYS"),
];
/// Exit statuses of the sandbox after a timeout: the program ended after SIGTERM, or did not.
const OUT_OF_TIME: [i32; 2] = [124, 137];

/// Returns the outcome, and the exit status if the program chose one.
pub(super) fn judge(seen: Seen<'_>) -> (Outcome, Option<i32>) {
    let code = match (seen.by, seen.code) {
        (EndCause::Stop, _) | (EndCause::Itself, None) => return (Outcome::Killed, None),
        (EndCause::Clock, _) => return (Outcome::Timeout, None),
        (EndCause::Excess(Excess::Memory), _) => return (Outcome::Memory, None),
        (EndCause::Excess(Excess::Files), _) => return (Outcome::Files, None),
        (EndCause::Itself, Some(code)) => code,
    };
    if seen.late && OUT_OF_TIME.contains(&code) {
        return (Outcome::Timeout, None);
    }
    match signal(code) {
        Some((SIGXCPU, _)) => (Outcome::Cpu, None),
        Some(_) => (Outcome::Killed, None),
        None if code == 0 && seen.cut => (Outcome::Output, Some(0)),
        None if code == 0 => (Outcome::Ok, Some(0)),
        None if code == 1 && ran_out_of_memory(seen.stderr) => (Outcome::Memory, Some(1)),
        None => (Outcome::Exception, Some(code)),
    }
}

fn signal(code: i32) -> Option<(i32, &'static str)> {
    SIGNALS.iter().copied().find(|(number, _)| code == 128 + number)
}

/// Returns true if the traceback's last line names a `MemoryError`, or a library's variant of it.
fn ran_out_of_memory(stderr: &str) -> bool {
    let last = stderr.lines().rev().find(|line| !line.trim().is_empty()).unwrap_or_default();
    last.split(':').next().unwrap_or_default().trim().ends_with("MemoryError")
}

/// Builds the result for the model.
pub(super) fn result(seen: Seen<'_>, stdout: String) -> Value {
    let (outcome, exit_code) = judge(seen);
    let mut entries = vec![
        entry("stdout", Value::Text(stdout)),
        entry("stderr", Value::Text(seen.stderr.to_owned())),
        entry("exit_code", exit_code.map_or(Value::Null, |code| Value::Number(code.to_string()))),
        entry("timed_out", Value::Bool(outcome == Outcome::Timeout)),
        entry("outcome", Value::from(outcome.name())),
    ];
    if matches!(outcome, Outcome::Killed | Outcome::Cpu)
        && seen.by == EndCause::Itself
        && let Some((_, name)) = seen.code.and_then(signal)
    {
        entries.push(entry("signal", Value::from(name)));
    }
    Value::Map(entries)
}

fn entry(key: &str, value: Value) -> (Value, Value) {
    (Value::from(key), value)
}

#[cfg(test)]
mod tests {
    use super::*;

    fn seen(code: i32) -> Seen<'static> {
        Seen { code: Some(code), by: EndCause::Itself, late: false, cut: false, stderr: "" }
    }

    #[test]
    fn every_way_to_end_has_its_own_outcome() {
        let memory = "Traceback (most recent call last):\n  File \"/work/program.py\", line 1\nMemoryError\n";
        let numpy = "numpy.core._exceptions._ArrayMemoryError: Unable to allocate 75 GiB\n";
        let other = "ValueError: MemoryError\n";
        let table = [
            (seen(0), Outcome::Ok, Some(0)),
            (Seen { cut: true, ..seen(0) }, Outcome::Output, Some(0)),
            (seen(1), Outcome::Exception, Some(1)),
            (seen(7), Outcome::Exception, Some(7)),
            (Seen { cut: true, ..seen(7) }, Outcome::Exception, Some(7)),
            (Seen { stderr: memory, ..seen(1) }, Outcome::Memory, Some(1)),
            (Seen { stderr: numpy, ..seen(1) }, Outcome::Memory, Some(1)),
            (Seen { stderr: other, ..seen(1) }, Outcome::Exception, Some(1)),
            (Seen { stderr: memory, ..seen(0) }, Outcome::Ok, Some(0)),
            (seen(124), Outcome::Exception, Some(124)),
            (Seen { late: true, ..seen(124) }, Outcome::Timeout, None),
            (Seen { late: true, ..seen(137) }, Outcome::Timeout, None),
            (Seen { late: true, ..seen(0) }, Outcome::Ok, Some(0)),
            (seen(128 + 24), Outcome::Cpu, None),
            (seen(128 + 6), Outcome::Killed, None),
            (seen(137), Outcome::Killed, None),
            (seen(255), Outcome::Exception, Some(255)),
            (Seen { by: EndCause::Clock, code: None, ..seen(0) }, Outcome::Timeout, None),
            (
                Seen { by: EndCause::Excess(Excess::Memory), code: None, ..seen(0) },
                Outcome::Memory,
                None,
            ),
            (
                Seen { by: EndCause::Excess(Excess::Files), code: None, ..seen(0) },
                Outcome::Files,
                None,
            ),
            (Seen { by: EndCause::Stop, ..seen(0) }, Outcome::Killed, None),
        ];
        for (seen, outcome, code) in table {
            assert_eq!(judge(seen), (outcome, code), "{seen:?}");
        }
    }

    #[test]
    fn a_status_that_nobody_chose_is_none_and_not_0() {
        let result = result(Seen { stderr: "", ..seen(134) }, "so far\n".to_owned());
        insta::assert_snapshot!(
            touchstone_model::json::write(&result, false),
            @r#"{"stdout":"so far\n","stderr":"","exit_code":null,"timed_out":false,"outcome":"killed","signal":"SIGABRT"}"#
        );
    }
}
