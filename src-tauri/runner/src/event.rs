//! **Pure.** Timestamped events of a launch and its runs. Owns no listener.
use super::provider::Usage;
use serde::{Deserialize, Serialize};

/// Event of a launch or of one of its runs.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
pub struct RunEvent {
    /// Time, in milliseconds since 1970.
    pub at_ms: i64,
    /// Output file of the run, relative to the output directory; none for events of the whole
    /// launch.
    pub run: Option<String>,
    /// The event itself.
    #[serde(flatten)]
    pub what: RunEventKind,
}

/// Kinds of events.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
#[serde(tag = "event", rename_all = "snake_case")]
pub enum RunEventKind {
    /// The launch has started.
    Began {
        /// Number of runs to execute.
        runs: u64,
    },
    /// A run has started.
    Started {
        /// True if it continues from its file instead of starting from scratch.
        resumed: bool,
    },
    /// A request to the model is being sent.
    Asking {
        /// Assistant turn, from 1.
        turn: u32,
    },
    /// A reply is stored durably.
    Replied {
        /// Assistant turn, from 1.
        turn: u32,
        /// Tokens.
        #[serde(flatten)]
        usage: Usage,
        /// Dollars; none when the price is not known.
        cost: Option<f64>,
        /// Milliseconds until the reply arrived.
        ms: u64,
        /// True if it was taken from the journal instead of bought.
        journaled: bool,
    },
    /// A request to the model that plays the user is being sent.
    AskingUser {
        /// Message of the user, from 1.
        message: u32,
    },
    /// A reply of the model that plays the user is stored durably.
    UserReplied {
        /// Message of the user, from 1.
        message: u32,
        /// Tokens.
        #[serde(flatten)]
        usage: Usage,
        /// Dollars; none when the price is not known.
        cost: Option<f64>,
        /// Milliseconds until the reply arrived.
        ms: u64,
        /// True if it was taken from the journal instead of bought.
        journaled: bool,
    },
    /// An attempt brought no usable reply (it was cut off or cannot be parsed) and may have cost
    /// something.
    Lost {
        /// Assistant turn, from 1.
        turn: u32,
        /// Tokens, as far as the response states them.
        #[serde(flatten)]
        usage: Usage,
        /// Dollars; none when the cost is not known.
        cost: Option<f64>,
    },
    /// A model that simulates an API was paid for a reply. The reply is cached for all runs that
    /// make the same call.
    Simulated {
        /// Tokens.
        #[serde(flatten)]
        usage: Usage,
        /// Dollars; none when the price is not known.
        cost: Option<f64>,
    },
    /// Note for the user: about tools, a key, or runs that are left out.
    Noted {
        /// A sentence.
        note: String,
    },
    /// A request failed and will be retried.
    Retrying {
        /// Number of the next attempt, from 2.
        attempt: u32,
        /// Milliseconds until then.
        wait_ms: u64,
        /// Reason, as a sentence.
        why: String,
    },
    /// A tool call has started.
    Calling {
        /// Name of the tool.
        tool: String,
    },
    /// A tool call has returned.
    Called {
        /// Name of the tool.
        tool: String,
        /// True if the call failed.
        failed: bool,
        /// Duration in milliseconds.
        ms: u64,
    },
    /// The model stopped early and received a message to continue.
    Nudged {
        /// Number of such messages to date.
        count: u32,
    },
    /// A run has ended.
    Ended {
        /// Outcome.
        how: Ending,
        /// Reason, when the outcome needs one.
        why: Option<String>,
    },
    /// The launch starts no further runs.
    Stopping {
        /// Reason, as a sentence.
        why: String,
    },
    /// The launch is over.
    Finished,
}

impl RunEventKind {
    /// Returns the usage and the cost of an event about a reply that was bought.
    pub fn spent(&self) -> Option<(&Usage, Option<f64>)> {
        match self {
            Self::Replied { usage, cost, journaled: false, .. }
            | Self::UserReplied { usage, cost, journaled: false, .. }
            | Self::Lost { usage, cost, .. }
            | Self::Simulated { usage, cost } => Some((usage, *cost)),
            _ => None,
        }
    }
}

/// Outcome of a run.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "snake_case")]
pub enum Ending {
    /// Ended with an answer.
    Answered,
    /// Completed without an answer.
    NoAnswer,
    /// Ended with a system error.
    Error,
    /// Stopped; can be resumed.
    Stopped,
    /// Another process is executing it.
    Elsewhere,
}
