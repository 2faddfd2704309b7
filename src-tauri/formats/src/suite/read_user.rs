//! **Pure.** Parses the users that models play, of a task and of single variations.
use super::PROMPTS;
use super::read::Reader;
use super::user::{AttackTalk, MAX_TURNS, MOST_TURNS, SimulatedUser};
use touchstone_model::error::ReadError;
use touchstone_model::node::{Node, Shape};
use touchstone_model::yaml::tree::Item;

const OF_USER: [&str; 7] =
    ["persona", "goal", "knows", "satisfied_when", "max_turns", "model", "attack"];

impl<'a> Reader<'a> {
    /// Parses the user that a model plays in all variations.
    pub(super) fn user_of_task(&mut self) -> Result<Option<SimulatedUser>, ReadError> {
        let Some(user) = self.root.get_non_null("user") else { return Ok(None) };
        if user.shape() != Shape::Map {
            // Beside a prompt it is a key of another program.
            let nested = ["promptql", "tool_calling"].map(|key| self.root.get_non_null(key));
            let nested =
                nested.into_iter().flatten().any(|one| one.get("retrieval_prompt").is_some());
            if nested || PROMPTS.iter().any(|key| self.root.get_non_null(key).is_some()) {
                return Ok(None);
            }
            return Err(self
                .bad(user, "`user` has to be a map")
                .advise("Write it as `user: { persona: …, goal: … }`."));
        }
        self.user(user).map(Some)
    }

    /// Parses a user that a model plays.
    pub(super) fn user(&mut self, user: Item<'a>) -> Result<SimulatedUser, ReadError> {
        for (key, _) in user.entries() {
            let word = key.word().unwrap_or_default();
            if !OF_USER.contains(&word) {
                self.warnings.unknown(key, word, &OF_USER);
            }
        }
        let goal = self.text_in(user, "goal")?.filter(|goal| !goal.trim().is_empty());
        let Some(goal) = goal else {
            return Err(self
                .bad(user, "The simulated user has no goal")
                .advise("Add `goal:` with what the user wants from the conversation."));
        };
        let max_turns = match user.get_non_null("max_turns") {
            None => MAX_TURNS,
            Some(value) => {
                let number = value.word().and_then(|word| word.parse().ok());
                number.filter(|turns| (1..=MOST_TURNS).contains(turns)).ok_or_else(|| {
                    let advice = format!(
                        "Write how many messages the user sends at most, from 1 to {MOST_TURNS}."
                    );
                    self.bad(value, "`max_turns` of a user has to be a whole number").advise(advice)
                })?
            }
        };
        let attack = match user.get_non_null("attack") {
            None => None,
            Some(value) => Some(value.word().and_then(AttackTalk::from_word).ok_or_else(|| {
                self.bad(value, "`attack` of a user is no known way to attack")
                    .advise("Write `multi_turn` or `crescendo`.")
            })?),
        };
        Ok(SimulatedUser {
            attack,
            persona: self.text_in(user, "persona")?,
            goal,
            knows: user.get_non_null("knows").map(Node::to_value),
            satisfied_when: self.text_in(user, "satisfied_when")?,
            max_turns,
            model: self.text_in(user, "model")?,
        })
    }
}
