//! **Pure.** Everything that happens while runs are made, as one timestamped event. Owns no
//! listener.
use super::provider::Usage;
use serde::Serialize;

/// Something that happened.
#[derive(Debug, Clone, PartialEq, Serialize)]
pub struct RunEvent {
    /// When, in milliseconds since 1970.
    pub at_ms: i64,
    /// Output file of the run it belongs to, relative to the output directory; none when it
    /// concerns the whole launch.
    pub run: Option<String>,
    /// What.
    #[serde(flatten)]
    pub what: What,
}

/// What happened.
#[derive(Debug, Clone, PartialEq, Serialize)]
#[serde(tag = "event", rename_all = "snake_case")]
pub enum What {
    /// The launch has begun with so many runs.
    Began {
        /// Runs that are owed.
        runs: u64,
    },
    /// A run has begun.
    Started {
        /// From the start, or from what its file holds.
        resumed: bool,
    },
    /// A model is being asked.
    Asking {
        /// Assistant turn, from 1.
        turn: u32,
    },
    /// A reply is durable.
    Replied {
        /// Assistant turn, from 1.
        turn: u32,
        /// Tokens.
        #[serde(flatten)]
        usage: Usage,
        /// Dollars; none when the price is not known.
        cost: Option<f64>,
        /// Milliseconds until it was there.
        ms: u64,
        /// True when it was taken from the journal instead of bought.
        journaled: bool,
    },
    /// An attempt brought no reply and may have cost something: it was cut, or it cannot be read.
    Lost {
        /// Assistant turn, from 1.
        turn: u32,
        /// Tokens, as far as it says.
        #[serde(flatten)]
        usage: Usage,
        /// Dollars; none when they are not known.
        cost: Option<f64>,
    },
    /// A reply of a model that stands in for an API was bought. It serves every run that asks for
    /// the same.
    Simulated {
        /// Tokens.
        #[serde(flatten)]
        usage: Usage,
        /// Dollars; none when the price is not known.
        cost: Option<f64>,
    },
    /// Something that the person should know: about the tools, a key, runs that are left out.
    Noted {
        /// A sentence.
        note: String,
    },
    /// A request did not work and is sent again.
    Retrying {
        /// Which attempt comes next, from 2.
        attempt: u32,
        /// Milliseconds until then.
        wait_ms: u64,
        /// Why, as a sentence.
        why: String,
    },
    /// A tool is being called.
    Calling {
        /// Its name.
        tool: String,
    },
    /// A tool has come back.
    Called {
        /// Its name.
        tool: String,
        /// Whether it failed.
        failed: bool,
        /// Milliseconds it took.
        ms: u64,
    },
    /// The model stopped early and was told to go on.
    Nudged {
        /// How often by now.
        count: u32,
    },
    /// A run has ended.
    Ended {
        /// How.
        how: Ending,
        /// Why, when that needs a word.
        why: Option<String>,
    },
    /// The launch takes on nothing new.
    Stopping {
        /// Why, as a sentence.
        why: String,
    },
    /// The launch is over.
    Finished,
}

/// How a run ended.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Serialize)]
#[serde(rename_all = "snake_case")]
pub enum Ending {
    /// With an answer.
    Answered,
    /// To its end, without one.
    NoAnswer,
    /// In a system error.
    Error,
    /// It was stopped and can be continued.
    Stopped,
    /// Another process has it.
    Elsewhere,
}
