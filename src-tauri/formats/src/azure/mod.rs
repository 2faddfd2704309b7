//! **Pure.** Threads of messages, in the various forms that agents write, and the rows that
//! evaluators of azure-ai-evaluation take: `{"query": […], "response": […], "tool_definitions":
//! […]}`. The form of a file is detected automatically.
mod from_run;
mod message;
mod pending_calls;
mod steps;
mod threads;
mod tools;

#[cfg(test)]
mod tests;

pub use from_run::of_run;
pub use pending_calls::PendingCalls;
pub(crate) use steps::StepBuilder;
pub use threads::read;

use crate::timestamps;
use crate::tool_offers::ToolOffer;
use message::Message;
use touchstone_model::value::Value;

/// A thread of messages with the tools that the agent had.
#[derive(Debug, Clone, PartialEq, Default)]
pub struct Thread {
    messages: Vec<Message>,
    tools: Vec<Value>,
}

/// Selection of the part of a thread that is the response, and of parts to omit.
#[derive(Debug, Clone, PartialEq, Eq, Default)]
pub struct Choice {
    /// Part that becomes a row.
    pub part: Part,
    /// True to omit tool calls and their results from the query.
    pub without_earlier_tool_calls: bool,
}

/// Part of a thread that becomes a row.
#[derive(Debug, Clone, PartialEq, Eq, Default)]
pub enum Part {
    /// The last turn of the agent.
    #[default]
    Last,
    /// Every turn of the agent, each as a row.
    All,
    /// One turn, from 1.
    Turn(usize),
    /// One run, by its id; with an unknown id the whole thread is the query.
    Run(String),
}

/// A row for evaluators.
#[derive(Debug, Clone, PartialEq, Default)]
pub struct Row {
    /// All messages before the response.
    pub query: Vec<Value>,
    /// Messages of the agent and its tools.
    pub response: Vec<Value>,
    /// Definitions of the available tools.
    pub tool_definitions: Vec<Value>,
}

impl Row {
    /// Returns the row as named columns.
    pub fn columns(self) -> Vec<(String, Value)> {
        let Self { query, response, tool_definitions } = self;
        let named =
            [("query", query), ("response", response), ("tool_definitions", tool_definitions)];
        named.map(|(name, items)| (name.to_owned(), Value::List(items))).to_vec()
    }

    /// Returns the last text of the agent, for evaluators that take a text. Returns `None` if there
    /// is none.
    pub fn response_text(&self) -> Option<String> {
        let words = |message: &Value| {
            let is_said = message.get("role").and_then(Value::text) == Some("assistant");
            let content = message.get("content").filter(|_| is_said)?;
            let texts: Vec<&str> =
                content.items().iter().filter_map(|item| item.get("text")?.text()).collect();
            (!texts.is_empty()).then(|| texts.join("\n"))
        };
        self.response.iter().rev().find_map(words)
    }

    /// Converts the row to an object.
    pub fn value(self) -> Value {
        Value::Map(
            self.columns().into_iter().map(|(name, value)| (Value::Text(name), value)).collect(),
        )
    }
}

/// Converts offered tools to the definitions used in rows.
pub fn definitions(offers: &[ToolOffer]) -> Vec<Value> {
    tools::definitions(&Value::List(offers.iter().map(ToolOffer::value).collect()))
}

impl Thread {
    /// Returns the selected rows. Fails with a message if the selected turn does not exist.
    pub fn rows(&self, choice: &Choice) -> Result<Vec<Row>, String> {
        let runs = self.runs();
        let turns = if runs.is_empty() { self.turns() } else { Vec::new() };
        let count = runs.len().max(turns.len());
        let one = |at: usize| match runs.get(at) {
            Some(run) => self.of_run(run, choice),
            None => self.of_turn(turns.get(at), choice),
        };
        Ok(match &choice.part {
            Part::Run(id) => vec![self.of_run(id, choice)],
            Part::Turn(turn) if *turn == 0 || *turn > count => {
                return Err(format!(
                    "It has {count} turns of the agent, so there is no turn {turn}."
                ));
            }
            Part::Turn(turn) => vec![one(turn - 1)],
            // A thread without any reply is all query.
            Part::Last => vec![one(count.saturating_sub(1))],
            Part::All => (0..count.max(1)).map(one).collect(),
        })
    }

    /// Adds the prompt as a user message if the thread has none.
    #[must_use]
    pub fn with_prompt(mut self, prompt: Option<&str>) -> Self {
        let silent = self.messages.iter().all(|message| message.role != "user");
        if let Some(prompt) = prompt.filter(|_| silent) {
            let at = self.messages.iter().take_while(|message| message.role == "system").count();
            let content = vec![message::text_item(prompt)];
            self.messages
                .insert(at, Message { role: "user".to_owned(), content, ..Message::default() });
        }
        self
    }

    /// Returns the ids of the runs, in the order in which they begin.
    fn runs(&self) -> Vec<&str> {
        let mut runs: Vec<&str> = Vec::new();
        for run in self.messages.iter().filter_map(|message| message.run.as_deref()) {
            if !runs.contains(&run) {
                runs.push(run);
            }
        }
        runs
    }

    /// Returns the start and end of the agent's part in each turn. System and user messages begin
    /// another turn.
    fn turns(&self) -> Vec<(usize, usize)> {
        let mut turns: Vec<(usize, usize)> = Vec::new();
        for (at, _) in self.messages.iter().enumerate().filter(|(_, message)| message.is_output()) {
            match turns.last_mut().filter(|turn| turn.1 == at) {
                Some(turn) => turn.1 = at + 1,
                None => turns.push((at, at + 1)),
            }
        }
        turns
    }

    fn of_run(&self, id: &str, choice: &Choice) -> Row {
        let is_its = |message: &Message| message.run.as_deref() == Some(id);
        let messages = self.in_order(is_its);
        let (response, query): (Vec<&Message>, Vec<&Message>) =
            messages.iter().partition(|message| is_its(message));
        self.row(query.into_iter(), response.into_iter(), choice)
    }

    fn of_turn(&self, turn: Option<&(usize, usize)>, choice: &Choice) -> Row {
        let (from, to) = turn.copied().unwrap_or((self.messages.len(), self.messages.len()));
        self.row(self.messages[..from].iter(), self.messages[from..to].iter(), choice)
    }

    fn row<'a>(
        &self,
        query: impl Iterator<Item = &'a Message>,
        response: impl Iterator<Item = &'a Message>,
        choice: &Choice,
    ) -> Row {
        let query: Vec<Value> = if choice.without_earlier_tool_calls {
            query.filter_map(Message::without_tools).map(|message| message.value()).collect()
        } else {
            query.map(Message::value).collect()
        };
        Row {
            query,
            response: response.map(Message::value).collect(),
            tool_definitions: self.tools.clone(),
        }
    }

    /// Returns the messages in order: system messages first, the rest by time if all have one, up
    /// to the last selected message. Messages with equal times are sorted with tool results before
    /// texts of the agent, but no message after the last selected one is included.
    fn in_order(&self, is_asked_for: impl Fn(&Message) -> bool) -> Vec<Message> {
        let (mut ordered, rest): (Vec<Message>, Vec<Message>) =
            self.messages.iter().cloned().partition(|message| message.role == "system");
        let times: Option<Vec<f64>> = rest.iter().map(time).collect();
        let is_timed = times.is_some();
        let mut dated: Vec<(f64, Message)> =
            times.unwrap_or_else(|| vec![0.0; rest.len()]).into_iter().zip(rest).collect();
        dated.sort_by(|a, b| a.0.total_cmp(&b.0));
        if let Some(last) = dated.iter().rposition(|(_, message)| is_asked_for(message)) {
            dated.truncate(last + 1);
        }
        if is_timed {
            let late =
                |message: &Message| u8::from(message.role == "assistant" && !message.calls());
            dated.sort_by(|a, b| a.0.total_cmp(&b.0).then_with(|| late(&a.1).cmp(&late(&b.1))));
        }
        ordered.extend(dated.into_iter().map(|(_, message)| message));
        ordered
    }
}

fn time(message: &Message) -> Option<f64> {
    match message.created.as_ref()? {
        Value::Number(text) | Value::Text(text) => timestamps::seconds(text),
        _ => None,
    }
}
