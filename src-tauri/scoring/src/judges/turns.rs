//! **Pure.** A run as the evaluators of azure-ai-evaluation take it: what was said up to the last request, and what was done after it,
//! as lists of messages. Long pieces are shortened until all of it fits, and say so.
use super::subject::{MOST, PIECES, cut, is_finish, length};
use touchstone_formats::azure::{Choice, of_run};
use touchstone_formats::run::{Part, Run, Step, StepKind};
use touchstone_formats::value::Value;

/// A run as lists of messages.
#[derive(Debug, Clone, PartialEq, Eq, Default)]
pub struct Turns {
    /// Instructions, and what was said and done up to the last request.
    pub query: Vec<Value>,
    /// What the agent did then: what it said, its calls of tools, and what they returned. Its answer is part of it wherever it stands.
    pub response: Vec<Value>,
    /// The tools that it could use; empty when nobody says.
    pub tool_definitions: Vec<Value>,
    /// What tools returned in the whole run, in order.
    pub returned: Vec<Value>,
}

impl Turns {
    /// Of a run with what was asked and what the final answer is, which may stand elsewhere than in messages.
    pub(super) fn of(run: &Run, query: &str, answer: &str) -> Self {
        let facts = run.facts.clone();
        let short = Run { steps: shortened(&run.steps), facts, layout: run.layout, ..Run::default() };
        let rows = of_run(&short).rows(&Choice::default()).unwrap_or_default();
        let Some(mut row) = rows.into_iter().next_back() else { return Self::default() };
        let role = |message: &Value| message.get("role").and_then(Value::text).map(str::to_owned);
        if row.query.iter().all(|message| role(message).as_deref() != Some("user")) && !query.is_empty() {
            row.query.push(says("user", query));
        }
        // Of an answer that is the last message and something that stands elsewhere, the latter is added.
        let said: Vec<String> = row.response.iter().flat_map(texts).collect();
        let known = |text: &str| said.iter().any(|said| said.contains(text.trim()));
        let more = said.last().and_then(|last| answer.strip_prefix(last.as_str())).unwrap_or(answer).trim();
        if !more.is_empty() && !known(more) {
            row.response.push(says("assistant", more));
        }
        let returned = row.query.iter().chain(&row.response).flat_map(results).collect();
        Self { query: row.query, response: row.response, tool_definitions: row.tool_definitions, returned }
    }

    /// Whether a tool was called after the last request.
    pub fn has_calls(&self) -> bool {
        self.response.iter().flat_map(parts).any(|part| part.get("tool_call").is_some() || is(part, "tool_call"))
    }
}

fn says(role: &str, text: &str) -> Value {
    let part = vec![("type".into(), "text".into()), ("text".into(), text.into())];
    Value::Map(vec![("role".into(), role.into()), ("content".into(), Value::List(vec![Value::Map(part)]))])
}

fn parts(message: &Value) -> &[Value] {
    message.get("content").map(Value::items).unwrap_or_default()
}

fn is(part: &Value, kind: &str) -> bool {
    part.get("type").and_then(Value::text) == Some(kind)
}

fn texts(message: &Value) -> Vec<String> {
    let assistant = message.get("role").and_then(Value::text) == Some("assistant");
    let text = |part: &Value| part.get("text").and_then(Value::text).map(str::to_owned);
    parts(message).iter().filter(|_| assistant).filter_map(text).collect()
}

fn results(message: &Value) -> Vec<Value> {
    parts(message).iter().filter_map(|part| part.get("tool_result").cloned()).collect()
}

/// Steps with pieces as short as it takes; of very many, the beginning and the end. Calls that only hand over the answer are left out.
fn shortened(steps: &[Step]) -> Vec<Step> {
    let steps: Vec<&Step> = steps.iter().filter(|step| !is_finish(step)).collect();
    let size = |step: &Step| step.parts.iter().map(|part| length(&part.value)).sum::<usize>();
    let mut kept = Vec::new();
    for most in PIECES {
        let short = |part: &Part| Part { value: cut(&part.value, most), raw: None, ..part.clone() };
        let one = |step: &&Step| Step { parts: step.parts.iter().map(short).collect(), ..(*step).clone() };
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
    use touchstone_formats::value::Value;
    use touchstone_formats::{json, transcript};

    fn of(text: &str) -> Subject {
        Subject::of(&transcript::read(text.as_bytes()).unwrap(), None)
    }

    fn lines(messages: &[Value]) -> String {
        messages.iter().map(|message| json::write(message, false)).collect::<Vec<_>>().join("\n")
    }

    #[test]
    fn what_was_done_after_the_last_request_is_the_response() {
        let subject = of(
            "conversation:\n- user_message: How many?\n- assistant_message: Of what?\n- user_message: Of plans.\n- assistant_message: I count.\n- tool_call: { name: count, params: { of: plans }, result: [{ n: 3 }] }\n- assistant_message: There are 3.\n",
        );
        let turns = &subject.turns;
        let roles = |messages: &[Value]| {
            messages.iter().filter_map(|message| message.get("role")?.text()).collect::<Vec<_>>().join(" ")
        };
        assert_eq!(roles(&turns.query), "user assistant user");
        assert_eq!(roles(&turns.response), "assistant tool assistant");
        assert!(lines(&turns.query).ends_with(r#"{"role":"user","content":[{"type":"text","text":"Of plans."}]}"#));
        assert_eq!(json::write(&Value::List(turns.returned.clone()), false), r#"[[{"n":3}]]"#);
        assert!(turns.has_calls() && turns.tool_definitions.is_empty());
    }

    #[test]
    fn an_answer_that_stands_elsewhere_is_the_last_thing_that_is_said() {
        let finish = of(
            "conversation:\n- user_message: How many?\n- tool_call: { name: Finish, params: { return_type: give_answer, final_answer: Three. }, result: ok }\n",
        );
        assert!(
            lines(&finish.turns.response)
                .ends_with(r#"{"role":"assistant","content":[{"type":"text","text":"Three."}]}"#)
        );
        assert!(!finish.turns.has_calls());
        let beside = of("answer: Four.\nconversation:\n- user_message: How many?\n- assistant_message: See below.\n");
        let told = lines(&beside.turns.response);
        assert!(told.contains("See below.") && told.matches("Four.").count() == 1, "{told}");
        let said = of("conversation:\n- user_message: How many?\n- assistant_message: \"It is <answer>4</answer>\"\n");
        assert_eq!(said.turns.response.len(), 1, "{}", lines(&said.turns.response));
    }

    #[test]
    fn long_runs_are_shortened_and_say_so() {
        let mut text = "conversation:\n- user_message: How many?\n".to_owned();
        for _ in 0..40 {
            text += "- tool_call: { name: count, parameters: {}, result: ";
            text += &"x".repeat(30_000);
            text += " }\n";
        }
        let told = lines(&of(&text).turns.response);
        assert!(told.len() < 300_000 && told.contains("(28000 more characters are left out)"), "{}", told.len());
    }
}
