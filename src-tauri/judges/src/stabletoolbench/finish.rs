//! **Pure.** Decides whether an answer was finished. The function `Finish` hands over an answer or
//! gives up.
use touchstone_formats::stabletoolbench::answers::{self, details};
use touchstone_model::json;
use touchstone_model::value::Value;

/// Rule that decides whether an answer was finished.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Default)]
pub enum FinishRule {
    /// `Finish` was called anywhere, and handed over an answer.
    #[default]
    Ours,
    /// Official rule: `Finish` was the last tool call, regardless of its arguments.
    Official,
    /// Rule of the specification document: `Finish` was called anywhere, regardless of its
    /// arguments.
    Document,
    /// Behavior of the document's program, which looks in the wrong place and never finds a call.
    Seed,
}

/// Kind of result that a call of `Finish` hands over.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Returned {
    /// An answer.
    Answer,
    /// Nothing: the run gave up, and may restart.
    GaveUp,
}

/// Known facts about the calls of `Finish` in one answer.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Default)]
pub struct Finish {
    /// True when it was called.
    pub called: bool,
    /// True when it was the last tool call.
    pub last: bool,
    /// Result of the last call; `None` when it is unknown.
    pub returned: Option<Returned>,
}

/// Returns the function names that the document's program finds in the graph of an answer. It only
/// looks at messages that are JSON texts.
pub fn literal_names(details: &Value) -> Vec<String> {
    let name = |node: &details::Node<'_>| {
        let message = node.message.text().filter(|_| node.role == "tool")?;
        Some(json::read(message).ok()?.get("name")?.text()?.to_owned())
    };
    details::nodes(details).iter().filter_map(name).collect()
}

/// Returns whether a call is a call of `Finish`.
pub fn is_finish(name: &str) -> bool {
    name == "Finish"
}

impl FinishRule {
    /// All rules.
    pub const ALL: [Self; 4] = [Self::Ours, Self::Official, Self::Document, Self::Seed];

    /// Returns the name in suites.
    pub fn name(self) -> &'static str {
        match self {
            Self::Ours => "ours",
            Self::Official => "official",
            Self::Document => "document",
            Self::Seed => "seed",
        }
    }

    /// Returns the rule of that name.
    pub fn named(name: &str) -> Option<Self> {
        Self::ALL.into_iter().find(|rule| rule.name() == name)
    }
}

impl Returned {
    /// Creates the value from whether the run gave up.
    pub fn from_gave_up(gave_up: bool) -> Self {
        if gave_up { Self::GaveUp } else { Self::Answer }
    }

    /// Parses a `return_type`.
    pub fn read(return_type: &str) -> Option<Self> {
        answers::finish::parse_return_type(return_type).map(Self::from_gave_up)
    }
}

impl Finish {
    /// Creates the value from tool calls in order, each with its result if it is a call of `Finish`
    /// and the result is known.
    pub fn from_calls<'a>(calls: impl IntoIterator<Item = (&'a str, Option<Returned>)>) -> Self {
        let mut finish = Self::default();
        for (name, returned) in calls {
            finish.last = is_finish(name);
            if finish.last {
                finish.called = true;
                finish.returned = returned;
            }
        }
        finish
    }

    /// Creates the value from the graph of an answer. `last` follows the official path, along the
    /// first child of each node.
    pub fn of_details(details: &Value) -> Self {
        let calls = details::calls(details);
        let returned = |call: &details::Call| match answers::finish::arguments(&call.arguments) {
            answers::Finish::Answer(_) => Some(Returned::Answer),
            answers::Finish::GaveUp => Some(Returned::GaveUp),
            answers::Finish::Nothing => None,
        };
        let finish =
            Self::from_calls(calls.iter().map(|(call, _)| (call.name.as_str(), returned(call))));
        let nodes = details::nodes(details);
        let last = details::last_step(&nodes).and_then(|node| node.call());
        Self { last: last.is_some_and(|call| call.is_finish()), ..finish }
    }

    /// Returns whether the answer was finished. An unknown result of `Finish` counts as an answer.
    pub fn holds(self, rule: FinishRule) -> bool {
        match rule {
            FinishRule::Ours => self.called && self.returned != Some(Returned::GaveUp),
            FinishRule::Official => self.last,
            FinishRule::Document => self.called,
            FinishRule::Seed => false,
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_graph_of_an_answer_tells_in_every_form_of_its_messages() {
        let object = r#"[{"role": "system", "message": "", "next": [{"role": "tool", "message": {"name": "a", "arguments": "{}", "response": ""}, "next": [
            {"role": "tool", "message": {"name": "b", "arguments": "{}", "response": ""}, "next": []},
            {"role": "tool", "message": {"name": "Finish", "arguments": "{\"return_type\": \"give_answer\", \"final_answer\": \"x\"}",
             "response": ""}, "next": []}]}]}]"#;
        let text = concat!(
            r#"[{"role": "tool", "message": "{\"name\": \"Sky_Stars\"}", "next": []}, "#,
            r#"{"role": "tool", "message": "{\"name\": \"Finish\", "#,
            r#"\"arguments\": {\"return_type\": \"give_up_and_restart\"}}", "next": []}]"#,
        );
        let python = r#"[{"role": "tool", "message": "{'name': 'Finish', 'arguments': '{\n  \"return_type\": \"give_answer\",\n  \"final_ans", "next": []}]"#;
        let said = |text: &str| {
            let details = json::read(text).unwrap();
            let finish = Finish::of_details(&details);
            (FinishRule::ALL.map(|rule| finish.holds(rule)), literal_names(&details))
        };
        assert_eq!(said(object), ([true, false, true, false], vec![]));
        let names = vec!["Sky_Stars".to_owned(), "Finish".to_owned()];
        let (holds, found) = said(text);
        assert_eq!(((holds[0], holds[2]), found), ((false, true), names));
        assert_eq!(said(python), ([true, true, true, false], vec![]));
        assert_eq!(said("[]"), ([false; 4], vec![]));
    }

    #[test]
    fn the_rules_differ_where_it_matters() {
        let (answer, gave_up) = (Some(Returned::Answer), Some(Returned::GaveUp));
        for (calls, holds) in [
            (&[][..], [false, false, false, false]),
            (&[("a", None)], [false, false, false, false]),
            (&[("a", None), ("Finish", answer)], [true, true, true, false]),
            (&[("a", None), ("Finish", None)], [true, true, true, false]),
            (&[("Finish", gave_up)], [false, true, true, false]),
            (&[("Finish", answer), ("a", None)], [true, false, true, false]),
            (&[("Finish", gave_up), ("a", None), ("Finish", answer)], [true, true, true, false]),
            (&[("finish", answer)], [false, false, false, false]),
        ] {
            let finish = Finish::from_calls(calls.iter().copied());
            assert_eq!(FinishRule::ALL.map(|rule| finish.holds(rule)), holds, "{calls:?}");
        }
        assert_eq!(
            ["give_answer", "give_up", "give_up_and_restart", "x"].map(Returned::read),
            [answer, gave_up, gave_up, None]
        );
        assert_eq!(FinishRule::named("official"), Some(FinishRule::Official));
        assert_eq!(FinishRule::named("Official"), None);
    }
}
