//! **Pure.** Failure modes: what can go wrong in a run, the order of causes, and the sentence that
//! names a mode.

/// What went wrong in a run, in the order of causes: where a run has several modes, the first one
/// is its main cause.
///
/// - An error of the provider or of the system comes first: it makes everything else meaningless,
///   and never counts as a wrong answer.
/// - What stopped the model comes before what the model did: an answer that was cut off, a limit of
///   turns, a tool that failed and never worked again, a call that it repeated without end.
/// - What the model says (that it gives up, a question) comes before what it left undone (a tool
///   that it never called), as in [`crate::scorers::failure_class`].
/// - The answer comes last: first its form, then its values, then that it is wrong or absent without
///   a visible reason.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Hash, PartialOrd, Ord)]
pub enum Mode {
    /// The provider or the system failed. The detail is the template of the error.
    SystemError,
    /// The provider or the system took too long.
    Timeout,
    /// A reply ended at the limit of its length, or in the middle.
    CutOff,
    /// A limit of turns, time, cost or context stopped the run.
    LimitReached,
    /// A tool failed and never worked again. The detail is the template of its error.
    ToolFailed,
    /// One call with one result again and again.
    RepeatedCall,
    /// The model said that it cannot or will not answer.
    GaveUp,
    /// It ended with a question instead of an answer.
    AskedBack,
    /// A tool that the task needs was never called.
    NeverCalled,
    /// The answer cannot be read, or has another form than the expected one.
    FormatBreak,
    /// A field of the answer is wrong. The detail says how.
    WrongField,
    /// Rows are missing.
    MissingRows,
    /// There are rows that were not expected.
    ExtraRows,
    /// The rows are in another order.
    WrongOrder,
    /// The answer is wrong, without a more precise finding.
    WrongAnswer,
    /// There is no answer, for no visible reason.
    NoAnswer,
}

impl Mode {
    /// All modes in the order of causes.
    pub const ALL: [Mode; 16] = [
        Mode::SystemError,
        Mode::Timeout,
        Mode::CutOff,
        Mode::LimitReached,
        Mode::ToolFailed,
        Mode::RepeatedCall,
        Mode::GaveUp,
        Mode::AskedBack,
        Mode::NeverCalled,
        Mode::FormatBreak,
        Mode::WrongField,
        Mode::MissingRows,
        Mode::ExtraRows,
        Mode::WrongOrder,
        Mode::WrongAnswer,
        Mode::NoAnswer,
    ];

    /// Returns the name in JSON and on the command line.
    pub fn name(self) -> &'static str {
        match self {
            Mode::SystemError => "system_error",
            Mode::Timeout => "timeout",
            Mode::CutOff => "cut_off",
            Mode::ToolFailed => "tool_failed",
            Mode::RepeatedCall => "repeated_call",
            Mode::GaveUp => "gave_up",
            Mode::AskedBack => "asked_back",
            Mode::NeverCalled => "never_called",
            Mode::LimitReached => "limit_reached",
            Mode::FormatBreak => "format_break",
            Mode::WrongField => "wrong_field",
            Mode::MissingRows => "missing_rows",
            Mode::ExtraRows => "extra_rows",
            Mode::WrongOrder => "wrong_order",
            Mode::WrongAnswer => "wrong_answer",
            Mode::NoAnswer => "no_answer",
        }
    }

    /// Returns true for errors of the provider or the system, which say nothing about an answer.
    pub fn is_error(self) -> bool {
        matches!(self, Mode::SystemError | Mode::Timeout)
    }
}

/// Way in which a field is wrong.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Hash, PartialOrd, Ord)]
pub enum Fault {
    /// It is missing.
    Missing,
    /// It was not expected.
    Extra,
    /// It is null or empty.
    Empty,
    /// It has another type: text instead of a number.
    Type(&'static str, &'static str),
    /// It is too large or too small by this power of ten.
    Factor(i32),
    /// It has the opposite sign.
    Sign,
    /// It has more digits than expected, and would be right if it was rounded.
    Unrounded,
    /// It has fewer digits than expected, and is right as far as they go.
    Rounded,
    /// It differs by exactly one.
    OffByOne,
    /// It is another day or time.
    Date,
    /// Its day and month are swapped.
    DayAndMonth,
    /// It differs in upper and lower case or spaces only.
    Spelling,
    /// It is another value.
    Other,
}

impl Fault {
    /// Returns the fault as the end of a sentence about a field.
    pub fn words(self) -> String {
        match self {
            Fault::Missing => "is missing".to_owned(),
            Fault::Extra => "was not expected".to_owned(),
            Fault::Empty => "is empty".to_owned(),
            Fault::Type(expected, actual) => format!("is {actual} instead of {expected}"),
            Fault::Factor(power) => {
                let zeros = usize::try_from(power.unsigned_abs()).unwrap_or(1);
                let size = if power > 0 { "large" } else { "small" };
                format!("is too {size} by a factor of 1{}", "0".repeat(zeros))
            }
            Fault::Sign => "has the wrong sign".to_owned(),
            Fault::Unrounded => "is not rounded".to_owned(),
            Fault::Rounded => "is rounded too much".to_owned(),
            Fault::OffByOne => "is off by one".to_owned(),
            Fault::Date => "is another date".to_owned(),
            Fault::DayAndMonth => "has day and month swapped".to_owned(),
            Fault::Spelling => "is spelled differently".to_owned(),
            Fault::Other => "has another value".to_owned(),
        }
    }
}

/// Cause of a failure: what clusters are made of.
#[derive(Debug, Clone, PartialEq, Eq, Hash, PartialOrd, Ord)]
pub struct Cause {
    /// What went wrong.
    pub mode: Mode,
    /// Tool, field or scorer that it is about; empty for other modes.
    pub subject: String,
    /// Template of the error, or way in which it is wrong; empty for other modes.
    pub detail: String,
}

impl Cause {
    /// Creates a cause.
    pub fn new(mode: Mode, subject: &str, detail: &str) -> Self {
        Self { mode, subject: subject.to_owned(), detail: detail.to_owned() }
    }

    /// Returns a sentence that names the cause, with the gist of an error. `times` is the least and
    /// the greatest number of equal calls of the runs.
    pub fn title(&self, times: (u32, u32)) -> String {
        match self.mode {
            Mode::SystemError | Mode::ToolFailed => self.title_with(&gist(&self.detail), times),
            _ => self.title_with(&self.detail, times),
        }
    }

    /// Returns the sentence with the whole text of the error, if the cause is one.
    pub(super) fn whole_title(&self) -> Option<String> {
        let is_error = matches!(self.mode, Mode::SystemError | Mode::ToolFailed);
        is_error.then(|| self.title_with(&self.detail, (0, 0)))
    }

    fn title_with(&self, detail: &str, times: (u32, u32)) -> String {
        let subject = &self.subject;
        let with_detail = |text: &str| {
            if detail.is_empty() { text.to_owned() } else { format!("{text}: {detail}") }
        };
        let field = |end: &str| {
            if subject.is_empty() {
                format!("Answer {end}")
            } else {
                format!("Field `{subject}` {end}")
            }
        };
        match self.mode {
            Mode::SystemError => with_detail("System error"),
            Mode::Timeout => "Timed out".to_owned(),
            Mode::CutOff => "Answer cut off".to_owned(),
            Mode::ToolFailed => with_detail(&format!("`{subject}` failed")),
            Mode::RepeatedCall => {
                let most = if times.0 == times.1 { "" } else { "up to " };
                format!("Called `{subject}` with the same arguments {most}{} times", times.1)
            }
            Mode::GaveUp => "Gave up".to_owned(),
            Mode::AskedBack => "Asked a question instead of answering".to_owned(),
            Mode::NeverCalled => format!("Never called `{subject}`"),
            Mode::LimitReached if detail.is_empty() => "Stopped by a limit".to_owned(),
            Mode::LimitReached => format!("Ran out of {detail}"),
            Mode::FormatBreak => format!("Answer {detail}"),
            Mode::WrongField => field(detail),
            Mode::MissingRows if detail.is_empty() => "Rows are missing".to_owned(),
            Mode::MissingRows => format!("Items of `{detail}` are missing"),
            Mode::ExtraRows if detail.is_empty() => "Rows that were not expected".to_owned(),
            Mode::ExtraRows => format!("Items of `{detail}` that were not expected"),
            Mode::WrongOrder => "Rows are in another order".to_owned(),
            Mode::WrongAnswer if !subject.is_empty() => {
                format!("Wrong answer according to `{subject}`")
            }
            Mode::WrongAnswer => "Wrong answer".to_owned(),
            Mode::NoAnswer => "Ended without an answer".to_owned(),
        }
    }
}

/// Maximum number of characters of the gist of an error.
const LONGEST_GIST: usize = 72;
/// Minimum number of characters of a first sentence that says enough alone.
const SHORTEST_GIST: usize = 16;

/// Returns what an error says in short: its first sentence, cut to a bounded length between words.
fn gist(detail: &str) -> String {
    let ends = [". ", "; ", " | "].iter().filter_map(|end| {
        let at = detail.match_indices(end).map(|(at, _)| at).find(|at| *at >= SHORTEST_GIST)?;
        Some(at)
    });
    let sentence = ends.min().and_then(|at| detail.get(..at)).unwrap_or(detail).trim_end();
    if sentence.chars().count() <= LONGEST_GIST {
        return sentence.to_owned();
    }
    let start: String = sentence.chars().take(LONGEST_GIST).collect();
    let whole = start.rsplit_once(' ').map_or(start.as_str(), |(words, _)| words);
    format!("{}…", whole.trim_end_matches([',', ':', ';', '(']))
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn causes_are_named_in_short_sentences() {
        for (mode, subject, detail, title) in [
            (
                Mode::ToolFailed,
                "get_order",
                "order <id> not found",
                "`get_order` failed: order <id> not found",
            ),
            (Mode::NeverCalled, "refund", "", "Never called `refund`"),
            (
                Mode::RepeatedCall,
                "search",
                "",
                "Called `search` with the same arguments up to 5 times",
            ),
            (Mode::CutOff, "", "", "Answer cut off"),
            (Mode::WrongField, "total", "is missing", "Field `total` is missing"),
            (Mode::WrongField, "", "is not rounded", "Answer is not rounded"),
            (Mode::LimitReached, "", "turns", "Ran out of turns"),
            (Mode::LimitReached, "", "", "Stopped by a limit"),
            (Mode::FormatBreak, "", "is not valid JSON", "Answer is not valid JSON"),
            (Mode::SystemError, "", "overloaded", "System error: overloaded"),
            (Mode::MissingRows, "", "tags", "Items of `tags` are missing"),
            (Mode::WrongAnswer, "reward", "", "Wrong answer according to `reward`"),
        ] {
            assert_eq!(Cause::new(mode, subject, detail).title((3, 5)), title);
        }
        let repeated = Cause::new(Mode::RepeatedCall, "search", "");
        assert_eq!(repeated.title((5, 5)), "Called `search` with the same arguments 5 times");
    }

    #[test]
    fn modes_are_listed_in_the_order_of_causes_under_different_names() {
        assert!(Mode::ALL.windows(2).all(|pair| pair[0] < pair[1]));
        let names: std::collections::BTreeSet<&str> =
            Mode::ALL.iter().map(|mode| mode.name()).collect();
        assert_eq!(names.len(), Mode::ALL.len());
    }

    #[test]
    fn faults_of_a_field_say_how_far_off_it_is() {
        for (fault, words) in [
            (Fault::Factor(2), "is too large by a factor of 100"),
            (Fault::Factor(-1), "is too small by a factor of 10"),
            (Fault::Type("a number", "text"), "is text instead of a number"),
        ] {
            assert_eq!(fault.words(), words);
        }
    }
}
