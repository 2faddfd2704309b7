//! **Pure.** Converts a run to the input of azure-ai-evaluation's evaluators: lists of messages up
//! to the last request, and after it. Long pieces are shortened, with a note, until everything
//! fits.
use super::shortening::{MOST, PIECES, cut, is_finish, length, to_text};
use touchstone_formats::azure::{Choice, Row, of_run};
use touchstone_model::run::{Part, Run, Step, StepKind};
use touchstone_model::value::Value;

/// A run as lists of messages.
#[derive(Debug, Clone, PartialEq, Eq, Default)]
pub struct Turns {
    /// System message, and the messages up to the last request.
    pub query: Vec<Value>,
    /// Messages after the last request: texts of the agent, its tool calls, and tool results.
    /// Includes the final answer wherever it is stored.
    pub response: Vec<Value>,
    /// Available tools; empty when they are unknown.
    pub tool_definitions: Vec<Value>,
    /// True when the tools come from the current workspace file rather than from the run or its
    /// query.
    pub(super) is_declared: bool,
    /// Tool results of the whole run, in order.
    pub returned: Vec<Value>,
    /// True when tools were called, as opposed to programs that are rendered as calls.
    calls_tools: bool,
}

impl Turns {
    /// Converts a run, given its request and its final answer, which may be stored outside of the
    /// messages.
    pub(super) fn from_run(run: &Run, query: &str, answer: &str) -> Self {
        let facts = run.facts.clone();
        let short =
            Run { steps: shortened(&run.steps), facts, layout: run.layout, ..Run::default() };
        let rows = of_run(&short).rows(&Choice::default()).unwrap_or_default();
        let Some(mut row) = rows.into_iter().next_back() else { return Self::default() };
        let role = |message: &Value| message.get("role").and_then(Value::text).map(str::to_owned);
        if row.query.iter().all(|message| role(message).as_deref() != Some("user"))
            && !query.is_empty()
        {
            row.query.push(says("user", query));
        }
        // When the answer consists of the last message and a text that is stored elsewhere, only
        // the latter is added. The comparison uses the unshortened message.
        let last = last_said(&run.steps);
        let after_last = answer
            .trim()
            .strip_prefix(last.trim())
            .filter(|more| more.trim_start_matches(' ').starts_with(['\n', '\r']));
        let more = after_last.unwrap_or(answer).trim();
        if !more.is_empty() && !holds(&last, more) {
            row.response.push(says("assistant", &to_text(cut(&more.into(), PIECES[0]))));
        }
        let returned = row.query.iter().chain(&row.response).flat_map(results).collect();
        let calls_tools = run.steps.iter().any(|step| step.kind == StepKind::ToolCall);
        let Row { query, response, tool_definitions } = row;
        Self { query, response, tool_definitions, is_declared: false, returned, calls_tools }
    }

    /// Returns the tools to show. Tools of the workspace file are only for evaluators that need
    /// them, so that other verdicts depend on the run alone.
    pub(super) fn tools(&self, needs: bool) -> Option<Value> {
        let all = Some(&self.tool_definitions)
            .filter(|tools| !tools.is_empty() && (needs || !self.is_declared));
        all.map(|tools| Value::List(tools.clone()))
    }

    /// Returns the first tool that was called after the last request and is not among the available
    /// tools.
    pub fn first_undefined_tool(&self) -> Option<&str> {
        fn name(of: &Value) -> Option<&str> {
            let inner =
                of.get("function").or_else(|| of.get("tool_call")?.get("function")).unwrap_or(of);
            inner.get("name").and_then(Value::text)
        }
        let known: Vec<&str> = self.tool_definitions.iter().filter_map(name).collect();
        let called = self.response.iter().flat_map(parts).filter(|part| is(part, "tool_call"));
        called.filter_map(name).find(|name| !known.contains(name))
    }

    /// Returns whether a tool was called after the last request.
    pub fn has_calls(&self) -> bool {
        let is_call = |part: &Value| part.get("tool_call").is_some() || is(part, "tool_call");
        self.calls_tools && self.response.iter().flat_map(parts).any(is_call)
    }
}

fn says(role: &str, text: &str) -> Value {
    let part = vec![("type".into(), "text".into()), ("text".into(), text.into())];
    Value::Map(vec![
        ("role".into(), role.into()),
        ("content".into(), Value::List(vec![Value::Map(part)])),
    ])
}

fn parts(message: &Value) -> &[Value] {
    message.get("content").map(Value::items).unwrap_or_default()
}

fn is(part: &Value, kind: &str) -> bool {
    part.get("type").and_then(Value::text) == Some(kind)
}

/// Returns the agent's last text after the last request, unshortened.
fn last_said(steps: &[Step]) -> String {
    let said = steps.iter().rev().take_while(|step| step.kind != StepKind::User);
    let step = said
        .filter(|step| matches!(step.kind, StepKind::Assistant | StepKind::Artifact))
        .find(|step| step.parts.iter().any(|part| part.label != "thinking"));
    let parts = step.map(|step| step.parts.as_slice()).unwrap_or_default().iter();
    parts
        .filter(|part| part.label != "thinking")
        .map(|part| to_text(part.value.clone()))
        .collect::<Vec<_>>()
        .join("\n")
}

/// Returns whether a text contains an answer as a whole: as the full text, between answer tags, or
/// on lines of its own.
fn holds(text: &str, answer: &str) -> bool {
    let tagged = text.split("<answer>").skip(1).filter_map(|rest| rest.split_once("</answer>"));
    let mut tagged = tagged.map(|(inside, _)| inside.trim());
    let lines = || {
        text.match_indices(answer).any(|(at, _)| {
            let before = text[..at]
                .lines()
                .next_back()
                .filter(|_| !text[..at].ends_with('\n'))
                .unwrap_or_default();
            let after = text[at + answer.len()..].lines().next().unwrap_or_default();
            before.trim().is_empty() && after.trim().is_empty()
        })
    };
    tagged.any(|inside| inside == answer) || lines()
}

fn results(message: &Value) -> Vec<Value> {
    parts(message).iter().filter_map(|part| part.get("tool_result").cloned()).collect()
}

/// Returns the steps with pieces shortened as far as necessary; if there are too many steps, only
/// the beginning and the end. Omits calls that only hand over the answer.
fn shortened(steps: &[Step]) -> Vec<Step> {
    let steps: Vec<&Step> = steps.iter().filter(|step| !is_finish(step)).collect();
    let size = |step: &Step| step.parts.iter().map(|part| length(&part.value)).sum::<usize>();
    let mut kept = Vec::new();
    for most in PIECES {
        let short = |part: &Part| Part { value: cut(&part.value, most), raw: None, ..part.clone() };
        let one = |step: &&Step| Step {
            parts: step.parts.iter().map(short).collect(),
            ..(*step).clone()
        };
        kept = steps.iter().map(one).collect();
        if kept.iter().map(size).sum::<usize>() <= MOST {
            return kept;
        }
    }
    let (mut sum, mut ends) = (0, 0);
    while ends < kept.len() / 2 && sum < MOST {
        sum += size(&kept[ends]) + size(&kept[kept.len() - 1 - ends]);
        ends += 1;
    }
    let left_out = kept.len() - 2 * ends;
    let value = Value::Text(format!("({left_out} steps in the middle are left out)"));
    let note = Part { label: "message".to_owned(), value, ..Part::default() };
    let turn = kept[ends].turn;
    let note = Step { kind: StepKind::Assistant, turn, parts: vec![note], ..Step::default() };
    kept.splice(ends..kept.len() - ends, [note]);
    kept
}

#[cfg(test)]
mod tests {
    use super::super::Subject;
    use touchstone_formats::transcript;
    use touchstone_model::json;
    use touchstone_model::value::Value;

    fn parse_subject(text: &str) -> Subject {
        Subject::from_run(&transcript::read(text.as_bytes()).unwrap(), None)
    }

    fn lines(messages: &[Value]) -> String {
        messages.iter().map(|message| json::write(message, false)).collect::<Vec<_>>().join("\n")
    }

    #[test]
    fn what_was_done_after_the_last_request_is_the_response() {
        let subject = parse_subject(
            "conversation:\n- user_message: How many?\n- assistant_message: Of what?\n\
             - user_message: Of plans.\n- assistant_message: I count.\n\
             - tool_call: { name: count, params: { of: plans }, result: [{ n: 3 }] }\n\
             - assistant_message: There are 3.\n",
        );
        let turns = &subject.turns;
        let roles = |messages: &[Value]| {
            messages
                .iter()
                .filter_map(|message| message.get("role")?.text())
                .collect::<Vec<_>>()
                .join(" ")
        };
        assert_eq!(roles(&turns.query), "user assistant user");
        assert_eq!(roles(&turns.response), "assistant tool assistant");
        assert!(
            lines(&turns.query)
                .ends_with(r#"{"role":"user","content":[{"type":"text","text":"Of plans."}]}"#)
        );
        assert_eq!(json::write(&Value::List(turns.returned.clone()), false), r#"[[{"n":3}]]"#);
        assert!(turns.has_calls() && turns.tool_definitions.is_empty());
    }

    #[test]
    fn an_answer_that_stands_elsewhere_is_the_last_thing_that_is_said() {
        let finish = parse_subject(
            "conversation:\n- user_message: How many?\n- tool_call: { name: Finish, params: { return_type: give_answer, final_answer: Three. }, result: ok }\n",
        );
        assert!(
            lines(&finish.turns.response)
                .ends_with(r#"{"role":"assistant","content":[{"type":"text","text":"Three."}]}"#)
        );
        assert!(!finish.turns.has_calls());
        let beside = parse_subject(
            "answer: Four.\nconversation:\n- user_message: How many?\n- assistant_message: See below.\n",
        );
        let told = lines(&beside.turns.response);
        assert!(told.contains("See below.") && told.matches("Four.").count() == 1, "{told}");
        let said = parse_subject(
            "conversation:\n- user_message: How many?\n- assistant_message: \"It is <answer>4</answer>\"\n",
        );
        assert_eq!(said.turns.response.len(), 1, "{}", lines(&said.turns.response));
    }

    #[test]
    fn an_answer_is_left_out_only_where_it_is_said_as_a_whole() {
        let added = |said: &str, answer: &str| {
            let text = format!(
                "answer: {answer}\nconversation:\n- user_message: How many?\n- assistant_message: {}\n",
                json::write(&said.into(), false)
            );
            parse_subject(&text).turns.response.len() == 2
        };
        assert!(added("Now I look at it.", "No"));
        assert!(added("I know of No, and more.", "No") && added("No", "Nothing"));
        assert!(!added("I looked.\n No \n", "No"));
        assert!(!added("It is <answer> No </answer>, I think.", "No"));
        assert!(!added("No", "No"));
    }

    #[test]
    fn a_long_answer_is_shown_once_and_one_that_stands_elsewhere_is_shortened() {
        let long = "x".repeat(30_000);
        let once = parse_subject(&format!(
            "answer: {long}\nconversation:\n- user_message: How many?\n- assistant_message: {long}\n"
        ));
        assert_eq!(once.turns.response.len(), 1);
        let beside = parse_subject(&format!(
            "answer: {}\nconversation:\n- user_message: How many?\n- assistant_message: See below.\n",
            "y".repeat(300_000)
        ));
        let told = lines(&beside.turns.response);
        assert!(
            told.len() < 25_000 && told.contains("(280000 more characters are left out)"),
            "{}",
            told.len()
        );
    }

    #[test]
    fn long_runs_are_shortened_and_say_so() {
        let mut text = "conversation:\n- user_message: How many?\n".to_owned();
        for _ in 0..40 {
            text += "- tool_call: { name: count, parameters: {}, result: ";
            text += &"x".repeat(30_000);
            text += " }\n";
        }
        let told = lines(&parse_subject(&text).turns.response);
        assert!(
            told.len() < 300_000 && told.contains("(28000 more characters are left out)"),
            "{}",
            told.len()
        );
    }
}
