//! **Pure.** Users that a model plays: who they are, what they want, and when they are content.
use super::Task;
use touchstone_model::json;
use touchstone_model::node::Node as _;
use touchstone_model::value::Value;

/// Default limit on the messages of a simulated user.
pub(super) const MAX_TURNS: u32 = 8;

/// Limit on `max_turns` of a simulated user; more is assumed to be a typing error.
pub(super) const MOST_TURNS: u32 = 200;

/// How a user that attacks leads the conversation.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum AttackTalk {
    /// Asks for the goal again and again, in other words.
    MultiTurn,
    /// Begins with something harmless, and comes nearer to the goal with each message.
    Crescendo,
}

impl AttackTalk {
    /// Returns the word in suites and transcripts.
    pub fn as_str(self) -> &'static str {
        match self {
            Self::MultiTurn => "multi_turn",
            Self::Crescendo => "crescendo",
        }
    }

    /// Returns the way with this word.
    pub fn from_word(word: &str) -> Option<Self> {
        [Self::MultiTurn, Self::Crescendo].into_iter().find(|talk| talk.as_str() == word)
    }
}

/// A user that a second model plays, in place of one prompt.
#[derive(Debug, Clone, PartialEq)]
pub struct SimulatedUser {
    /// How it attacks; none for a user that only wants something.
    pub attack: Option<AttackTalk>,
    /// Description of the person.
    pub persona: Option<String>,
    /// What the user wants from the conversation.
    pub goal: String,
    /// What the user can tell if asked: a text, or facts by name.
    pub knows: Option<Value>,
    /// When the goal is reached, if the goal alone does not say it.
    pub satisfied_when: Option<String>,
    /// Maximum number of messages that the user sends.
    pub max_turns: u32,
    /// Model that plays the user; none to use the one of the workspace or of the launch.
    pub model: Option<String>,
}

impl SimulatedUser {
    /// Returns what the user knows as lines of text; empty if it knows nothing in particular.
    pub fn knowledge(&self) -> String {
        match &self.knows {
            None => String::new(),
            Some(Value::Map(facts)) => {
                let line = |(name, value): &(Value, Value)| {
                    format!("- {}: {}", inline(name), inline(value))
                };
                facts.iter().map(line).collect::<Vec<_>>().join("\n")
            }
            Some(Value::List(facts)) => {
                let line = |fact: &Value| format!("- {}", inline(fact));
                facts.iter().map(line).collect::<Vec<_>>().join("\n")
            }
            Some(other) => inline(other),
        }
    }

    /// Returns the texts in which parameters of a variation are filled in.
    pub(super) fn texts(&self) -> Vec<String> {
        let own = [self.persona.as_deref(), Some(&self.goal), self.satisfied_when.as_deref()];
        own.into_iter().flatten().map(str::to_owned).chain([self.knowledge()]).collect()
    }
}

/// Returns a value on one line.
fn inline(value: &Value) -> String {
    value.word().map_or_else(|| json::write(value, false), str::to_owned)
}

impl Task {
    /// Returns the simulated user of a variation: its own, or that of the task.
    pub fn user_of(&self, variation: Option<usize>) -> Option<&SimulatedUser> {
        let own = variation.and_then(|at| self.variations.get(at)?.user.as_ref());
        own.or(self.user.as_ref())
    }

    /// Returns all simulated users: that of the task, and those of its variations.
    pub fn users(&self) -> impl Iterator<Item = &SimulatedUser> {
        let own = self.variations.iter().filter_map(|variation| variation.user.as_ref());
        self.user.iter().chain(own)
    }

    /// Returns the simulated user as texts under their names, with the parameters of a variation;
    /// empty if the variation has none.
    pub fn user_texts(&self, variation: Option<usize>) -> Vec<(&'static str, String)> {
        let Some(user) = self.user_of(variation) else { return Vec::new() };
        let knows = Some(user.knowledge()).filter(|knows| !knows.is_empty());
        [
            ("attack", user.attack.map(|talk| talk.as_str().to_owned())),
            ("persona", user.persona.clone()),
            ("goal", Some(user.goal.clone())),
            ("knows", knows),
            ("satisfied_when", user.satisfied_when.clone()),
        ]
        .into_iter()
        .filter_map(|(name, text)| Some((name, self.fill(&text?, variation))))
        .collect()
    }
}
