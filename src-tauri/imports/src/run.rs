//! **Pure.** A run of another tool, in the words that all formats have in common.
pub use crate::media::{Media, MediaContent};
use crate::text::is_blank;
pub use touchstone_model::run::RunEnd;
use touchstone_model::value::Value;

/// A run as another tool recorded it. What the format does not say is `None`, never a guess.
#[derive(Debug, Clone, PartialEq, Default)]
pub struct ImportedRun {
    /// Question that was asked.
    pub task: Option<String>,
    /// Way of answering: solver, agent, prompt.
    pub system: Option<String>,
    /// Model.
    pub model: Option<String>,
    /// Number among the runs of the same task, system and model.
    pub repeat: Repeat,
    /// End of the run.
    pub end: RunEnd,
    /// Text of the error or of the limit, whole.
    pub error: Option<String>,
    /// Messages and calls in order.
    pub events: Vec<Event>,
    /// Answer that the format names; else the last text of the model. `None` if it is blank.
    pub answer: Option<String>,
    /// Expected answer: text or a list of texts.
    pub expected: Option<Value>,
    /// Verdicts in the order of the file.
    pub verdicts: Vec<ImportedVerdict>,
    /// Tokens of the run's own model calls.
    pub tokens: Option<TokenCounts>,
    /// Cost in US dollars.
    pub cost: Option<f64>,
    /// Duration in seconds.
    pub seconds: Option<f64>,
    /// Start, as the file writes it.
    pub started: Option<String>,
    /// Identity, for runs that several files of a folder may hold.
    pub identity: Option<Identity>,
    /// Everything else worth showing, by key: versions, settings, metadata.
    pub facts: Vec<(String, Value)>,
    /// Remarks for the reader, as sentences: what is missing or was left out, and why.
    pub notes: Vec<String>,
}

/// Number of a run among its repeats.
#[derive(Debug, Clone, PartialEq)]
pub enum Repeat {
    /// Number from 1 that the file states, as an epoch or trial: it is kept, whatever other files
    /// hold.
    Stated(u32),
    /// Number from 1, counted in the file.
    Number(u32),
    /// Place among the runs of other files: those with equal `group`, task, system and model count
    /// from 1 in order of `start` (seconds since 1970; those without it come last), then by member.
    Ordered {
        /// Name of the group, such as the folder of a job.
        group: String,
        /// Start of the run.
        start: Option<f64>,
    },
}

impl Default for Repeat {
    fn default() -> Self {
        Repeat::Number(1)
    }
}

/// Verdict of the tool on the run.
#[derive(Debug, Clone, PartialEq, Default)]
pub struct ImportedVerdict {
    /// Name of the scorer, metric or reward.
    pub name: String,
    /// Value as it stands.
    pub value: Value,
    /// True if the run passed, only if the tool itself says so.
    pub passed: Option<bool>,
    /// Reason, whole.
    pub reason: Option<String>,
    /// Threshold that the value must reach, if the file names it.
    pub threshold: Option<Value>,
}

/// Tokens of a run.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Default)]
pub struct TokenCounts {
    /// Tokens that were sent.
    pub input: Option<u64>,
    /// Tokens that the model wrote.
    pub output: Option<u64>,
    /// Total of the file, else the sum of the two.
    pub total: Option<u64>,
}

impl TokenCounts {
    /// Creates counts whose total is the given one, else the sum of input and output. Returns
    /// `None` if nothing is known.
    pub fn new(input: Option<u64>, output: Option<u64>, total: Option<u64>) -> Option<Self> {
        let sum = || Some(input?.saturating_add(output?));
        let counts = TokenCounts { input, output, total: total.or_else(sum) };
        (counts != TokenCounts::default()).then_some(counts)
    }
}

/// Identity of a run that may be in several files of one folder. Of runs with the same key the one
/// with the highest rank counts, and of equal ranks the one whose path is last; the others are
/// superseded by it.
#[derive(Debug, Clone, PartialEq)]
pub struct Identity {
    /// Key, which begins with the name of the format.
    pub key: String,
    /// Rank, such as the time at which the file was made.
    pub rank: f64,
}

/// One thing that happened in a run.
#[derive(Debug, Clone, PartialEq, Default)]
pub struct Event {
    /// Kind of the event, with its content.
    pub kind: EventKind,
    /// Time as the file writes it.
    pub time: Option<String>,
    /// Duration in seconds.
    pub seconds: Option<f64>,
    /// Tokens of the model call that made it.
    pub tokens: Option<u64>,
    /// Model that made it, if its record names one.
    pub model: Option<String>,
}

impl Event {
    /// Names the model of an event that a model makes: a text, reasoning or a call.
    pub(crate) fn set_model(&mut self, model: Option<&str>) {
        let by_model = matches!(
            self.kind,
            EventKind::Assistant(_)
                | EventKind::Reasoning(_)
                | EventKind::Call { by_user: false, .. }
        );
        if let Some(model) = model.filter(|model| by_model && !is_blank(model)) {
            self.model = Some(model.to_owned());
        }
    }
}

/// Kinds of events.
#[derive(Debug, Clone, PartialEq)]
pub enum EventKind {
    /// Instructions of the system or the developer.
    System(String),
    /// Message of the user: its text, untrimmed. Parts that are no text follow as [`Self::Media`];
    /// the text is empty if there is nothing else.
    User(String),
    /// Message of a user that a model plays.
    SimulatedUser(String),
    /// Message of the model. Like that of the user, it is empty if it is followed by an image.
    Assistant(String),
    /// Readable reasoning of the model.
    Reasoning(String),
    /// Image, sound or file in the message or result before it.
    Media(Media),
    /// Call of a tool.
    Call {
        /// Id that its result repeats.
        id: Option<String>,
        /// Name of the tool.
        name: String,
        /// Arguments as the file has them: an object, or text that may hold JSON.
        arguments: Value,
        /// True if the simulated user made the call, and not the model.
        by_user: bool,
    },
    /// Result of a call; may be empty.
    Result {
        /// Id of the call.
        id: Option<String>,
        /// Name of the tool, if the result repeats it.
        name: Option<String>,
        /// Content: text, or any other value.
        value: Value,
        /// True if the call failed; `None` if the format has no such mark.
        failed: Option<bool>,
    },
    /// Run of a sub-agent, with its own events. Follows the call that started it.
    SubAgent {
        /// Name of the sub-agent.
        name: String,
        /// Id of the call that started it.
        call: Option<String>,
        /// Its events.
        events: Vec<Event>,
    },
    /// Branch that was abandoned: events after a message that was edited or rewound.
    Abandoned(Vec<Event>),
    /// Place where the conversation was compacted, with the summary.
    Compaction(String),
    /// Error that was recorded on the way.
    Error(String),
    /// Remark of the tool: a change of mode, a notice.
    Note(String),
}

impl Default for EventKind {
    fn default() -> Self {
        EventKind::Note(String::new())
    }
}

impl From<EventKind> for Event {
    fn from(kind: EventKind) -> Self {
        Event { kind, ..Event::default() }
    }
}

impl ImportedRun {
    /// Adds an event without time and tokens.
    pub fn push(&mut self, kind: EventKind) {
        self.events.push(kind.into());
    }

    /// Removes figures that are negative or not finite, names that are empty and answers that are
    /// blank.
    pub(crate) fn without_impossible_values(mut self) -> Self {
        for figure in [&mut self.cost, &mut self.seconds] {
            *figure = figure.filter(|figure| figure.is_finite() && *figure >= 0.0);
        }
        for name in [&mut self.task, &mut self.system, &mut self.model] {
            *name = name.take().filter(|name| !name.is_empty());
        }
        self.answer = self.answer.filter(|answer| !is_blank(answer));
        self.error = self.error.filter(|_| matches!(self.end, RunEnd::Error | RunEnd::Limit));
        self.identity = self.identity.filter(|identity| identity.rank.is_finite());
        match &mut self.repeat {
            Repeat::Stated(number) | Repeat::Number(number) => *number = (*number).max(1),
            Repeat::Ordered { start, .. } => *start = start.filter(|start| start.is_finite()),
        }
        self
    }

    /// Returns the last text of the model that is not blank.
    pub fn last_text(&self) -> Option<&str> {
        self.events.iter().rev().find_map(|event| match &event.kind {
            EventKind::Assistant(text) if !is_blank(text) => Some(text.as_str()),
            _ => None,
        })
    }
}
