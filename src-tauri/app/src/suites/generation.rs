//! **Pure.** Tasks that a model writes from a text: the parts of the text, what the model is asked,
//! what its replies mean, and the suite. Sends and stores nothing.
use std::collections::HashSet;
use std::fmt::Write as _;
use touchstone_model::value::Value;
use touchstone_model::{json, yaml};

/// Maximum characters of the text in one request.
const PART: usize = 12_000;
/// Maximum number of pairs in one request. Models repeat themselves in longer lists.
const BATCH: usize = 10;
/// Maximum number of earlier questions that a request lists, so that they are not asked again.
const LISTED: usize = 50;
/// Tokens of a pair, for estimates.
const PAIR_TOKENS: u64 = 120;
/// Characters of a token, for estimates.
const LETTERS: u64 = 4;

/// Maximum number of pairs to ask for.
pub(crate) const MOST_QUERIES: usize = 2_000;

const INSTRUCTIONS: &str = "\
You write test questions for an assistant, each with the answer that is right according to a text.

- Every question must be answerable from the text alone, and must make sense to somebody who does not see the text.
- Every answer must be short, complete and supported by the text. Use nothing that you know from elsewhere.
- The questions differ from each other in what they ask, not only in their words.

Reply with one JSON list and nothing else: [{\"query\": \"the question\", \"response\": \"the right answer\"}]";

/// What to write.
#[derive(Debug, Clone, PartialEq, Default)]
pub(crate) struct GenerateOptions {
    /// Number of queries.
    pub(crate) queries: usize,
    /// Messages of a simulated user in each conversation; 1 for a single question.
    pub(crate) turns: u32,
    /// What the persons do who ask, in turn; may be empty.
    pub(crate) tasks: Vec<String>,
    /// Title of the suite.
    pub(crate) name: String,
}

/// A question with its answer.
#[derive(Debug, Clone, PartialEq, Eq)]
pub(crate) struct Pair {
    /// Question.
    pub(crate) query: String,
    /// Right answer, according to the text.
    pub(crate) response: String,
    /// What the person does who asks.
    pub(crate) task: Option<String>,
}

/// Pairs to write from one part of the text.
#[derive(Debug, Clone, PartialEq, Eq)]
pub(crate) struct Batch {
    /// Index of the part of the text.
    pub(crate) part: usize,
    /// Tasks of the persons who ask, one for each pair.
    pub(crate) tasks: Vec<Option<String>>,
}

/// Splits a text into parts that fit into a request, at blank lines where possible.
pub(crate) fn parts(text: &str) -> Vec<String> {
    let mut parts: Vec<String> = Vec::new();
    let mut last = String::new();
    let mut end = |last: &mut String| {
        let part = std::mem::take(last);
        if !part.trim().is_empty() {
            parts.push(part.trim().to_owned());
        }
    };
    for paragraph in text.split_inclusive("\n\n") {
        if last.len() + paragraph.len() > PART {
            end(&mut last);
        }
        let mut rest = paragraph;
        while rest.len() > PART {
            let (head, tail) = rest.split_at(rest.floor_char_boundary(PART));
            last.push_str(head);
            end(&mut last);
            rest = tail;
        }
        last.push_str(rest);
    }
    end(&mut last);
    parts
}

/// Distributes the queries over the parts of the text. Fails with a sentence.
pub(crate) fn batches(parts: usize, options: &GenerateOptions) -> Result<Vec<Batch>, String> {
    if parts == 0 {
        return Err("The file holds no text.".to_owned());
    }
    if !(1..=MOST_QUERIES).contains(&options.queries) {
        return Err(format!("The number of queries has to be from 1 to {MOST_QUERIES}."));
    }
    let mut batches = Vec::new();
    let mut number = 0;
    for part in 0..parts {
        // Query `i` belongs to part `i * parts / queries`, so that fewer queries than parts reach
        // the whole text.
        let before = |part: usize| (part * options.queries).div_ceil(parts);
        let share = before(part + 1) - before(part);
        let mut tasks: Vec<Option<String>> = Vec::new();
        for _ in 0..share {
            let task = options.tasks.get(number % options.tasks.len().max(1)).cloned();
            tasks.push(task);
            number += 1;
        }
        let of_part = tasks.chunks(BATCH).map(|tasks| Batch { part, tasks: tasks.to_vec() });
        batches.extend(of_part);
    }
    Ok(batches)
}

/// Returns the instructions of every request.
pub(crate) fn instructions() -> &'static str {
    INSTRUCTIONS
}

/// Returns the message of a request for these tasks, one pair each.
pub(crate) fn message(part: &str, tasks: &[Option<String>], earlier: &[Pair]) -> String {
    let mut message = format!("The text:\n\n{part}\n\nWrite {} such pairs.", tasks.len());
    if tasks.iter().any(Option::is_some) {
        message += " Each is asked by a person with another task, in this order:\n";
        for (number, task) in tasks.iter().enumerate() {
            let task = task.as_deref().unwrap_or("any");
            let _ = writeln!(message, "{}. {task}", number + 1);
        }
    }
    let listed = earlier.iter().rev().take(LISTED).collect::<Vec<_>>();
    if !listed.is_empty() {
        message += "\nThese questions exist already; ask others:\n";
        for pair in listed.into_iter().rev() {
            let _ = writeln!(message, "- {}", pair.query);
        }
    }
    message.trim_end().to_owned()
}

/// Reads the pairs of a reply, and leaves out those that exist already. Returns none for a reply that
/// cannot be read.
pub(crate) fn read(reply: &str, tasks: &[Option<String>], earlier: &[Pair]) -> Vec<Pair> {
    let text = reply.rsplit_once("</think>").map_or(reply, |(_, rest)| rest);
    let Some(list) = list(text) else { return Vec::new() };
    let mut known: HashSet<String> = earlier.iter().map(|pair| key(&pair.query)).collect();
    let mut pairs = Vec::new();
    for item in list.items() {
        let text = |keys: &[&str]| {
            let found = keys.iter().find_map(|name| item.get(name));
            let found = found.map(|value| match value {
                Value::Text(text) => text.trim().to_owned(),
                Value::Null => String::new(),
                other => json::write(other, false),
            });
            found.filter(|text| !text.is_empty())
        };
        let (query, response) =
            (text(&["query", "question", "q"]), text(&["response", "answer", "r"]));
        let (Some(query), Some(response)) = (query, response) else { continue };
        if pairs.len() < tasks.len() && known.insert(key(&query)) {
            let task = tasks.get(pairs.len()).cloned().flatten();
            pairs.push(Pair { query, response, task });
        }
    }
    pairs
}

/// Returns a question without case and spaces, by which equal ones are found.
fn key(query: &str) -> String {
    query.split_whitespace().map(str::to_lowercase).collect::<Vec<_>>().join(" ")
}

/// Returns the list of pairs in a reply: alone, in a map, in a fence, or between other words.
fn list(text: &str) -> Option<Value> {
    let parse = |text: &str| {
        let value = json::read(text.trim()).or_else(|_| json::read_leniently(text.trim())).ok()?;
        match &value {
            Value::List(_) => Some(value),
            Value::Map(entries) if value.get("query").is_none() => entries
                .iter()
                .find(|(_, list)| matches!(list, Value::List(_)))
                .map(|(_, list)| list.clone()),
            Value::Map(_) => Some(Value::List(vec![value])),
            _ => None,
        }
    };
    parse(text).or_else(|| {
        let from = text.find(['[', '{'])?;
        let to = text.rfind([']', '}'])? + 1;
        parse(text.get(from..to)?)
    })
}

/// Estimates the requests and their tokens.
pub(crate) fn estimate(parts: &[String], batches: &[Batch]) -> (u64, u64, u64) {
    let of_batch = |batch: &Batch| {
        let text = parts.get(batch.part).map_or(0, String::len) + INSTRUCTIONS.len();
        (text as u64 / LETTERS, batch.tasks.len() as u64 * PAIR_TOKENS)
    };
    let (input, output) = batches
        .iter()
        .map(of_batch)
        .fold((0, 0), |(input, output), (more, out)| (input + more, output + out));
    (batches.len() as u64, input, output)
}

/// Returns the text of the suite: a variation for each pair. With several turns, a simulated user
/// asks.
pub(crate) fn suite(pairs: &[Pair], options: &GenerateOptions, about: &str) -> String {
    let talks = options.turns > 1;
    let has_tasks = pairs.iter().any(|pair| pair.task.is_some());
    let variations = pairs.iter().enumerate().map(|(number, pair)| {
        let mut parameters = vec![("query".into(), Value::from(pair.query.as_str()))];
        if has_tasks && talks {
            let task = pair.task.as_deref().unwrap_or("ask an assistant");
            parameters.push(("task".into(), Value::from(task)));
        }
        map(vec![
            ("name", Value::from(format!("query {}", number + 1).as_str())),
            ("parameters", Value::Map(parameters)),
            ("expected_output", Value::from(pair.response.as_str())),
        ])
    });
    let variations = Value::List(variations.collect());
    let mut entries = vec![
        ("name", Value::from(options.name.as_str())),
        ("description", Value::from(about)),
        ("tags", Value::List(vec!["generated".into()])),
    ];
    if talks {
        let persona = if has_tasks {
            "A person with this task: {task}"
        } else {
            "A person who asks an assistant."
        };
        entries.push((
            "user",
            map(vec![
                ("persona", persona.into()),
                ("goal", "Get the answer to this question: {query}".into()),
                ("max_turns", Value::Number(options.turns.to_string())),
            ]),
        ));
    } else {
        entries.push(("promptql_prompt", "{query}".into()));
        entries.push(("tool_calling_prompt", "{query}".into()));
        // Without a tag the answer of a run would have to be JSON.
        let scorer = Value::Map(vec![("text".into(), "f1".into())]);
        entries.push(("scorers", Value::List(vec![scorer])));
    }
    entries.push(("variations", variations));
    yaml::write(&map(entries))
}

fn map(entries: Vec<(&str, Value)>) -> Value {
    Value::Map(entries.into_iter().map(|(key, value)| (key.into(), value)).collect())
}

#[cfg(test)]
mod tests {
    use super::*;
    use touchstone_formats::suite;

    fn options(queries: usize, turns: u32, tasks: &[&str]) -> GenerateOptions {
        let tasks = tasks.iter().map(|task| (*task).to_owned()).collect();
        GenerateOptions { queries, turns, tasks, name: "Text".to_owned() }
    }

    fn pair(query: &str, task: Option<&str>) -> Pair {
        Pair { query: query.into(), response: "42: {x}".into(), task: task.map(str::to_owned) }
    }

    #[test]
    fn a_long_text_is_split_at_blank_lines_and_nothing_of_it_is_lost() {
        assert_eq!(parts(" \n\n \n"), Vec::<String>::new());
        assert_eq!(parts("a\n\nb\n"), ["a\n\nb"]);
        let long =
            format!("{}\n\n{}\n\n{}", "a".repeat(8_000), "b".repeat(8_000), "ä".repeat(10_000));
        let parts = parts(&long);
        assert!(parts.iter().all(|part| part.len() <= PART));
        assert_eq!(parts.concat().matches(['a', 'b', 'ä']).count(), 26_000);
        assert!(parts[0].ends_with('a') && parts[1].starts_with('b'));
    }

    #[test]
    fn queries_are_spread_over_the_parts_and_tasks_take_turns() {
        let all = batches(3, &options(25, 1, &["learn", "buy"])).unwrap();
        let counts: Vec<_> = all.iter().map(|batch| (batch.part, batch.tasks.len())).collect();
        assert_eq!(counts, [(0, 9), (1, 8), (2, 8)]);
        let spread = batches(30, &options(3, 1, &[])).unwrap();
        assert_eq!(spread.iter().map(|batch| batch.part).collect::<Vec<_>>(), [0, 10, 20]);
        assert_eq!(all[0].tasks[1].as_deref(), Some("buy"));
        assert_eq!(all[1].tasks[0].as_deref(), Some("buy"), "the tenth query");
        let few = batches(3, &options(1, 1, &[])).unwrap();
        assert_eq!((few.len(), few[0].tasks.as_slice()), (1, [None].as_slice()));
        assert_eq!(batches(1, &options(25, 1, &[])).unwrap().len(), 3);
        assert!(
            batches(1, &options(0, 1, &[])).is_err() && batches(0, &options(1, 1, &[])).is_err()
        );
    }

    #[test]
    fn replies_are_read_in_the_forms_that_models_write() {
        let tasks = vec![None; 3];
        let earlier = [pair("Known  one?", None)];
        for (reply, count) in [
            (r#"[{"query": "A?", "response": "a"}, {"query": "B?", "response": 2}]"#, 2),
            ("```json\n[{\"question\": \"A?\", \"answer\": \"a\"},]\n```", 1),
            (r#"Here: {"pairs": [{"query": "A?", "response": "a"}]} Done."#, 1),
            (r#"{"query": "A?", "response": "a"}"#, 1),
            (r#"[{"query": "known one?", "response": "a"}, {"query": "A?"}, 3]"#, 0),
            (r#"[{"query": "A?", "response": "a"}, {"query": "a?", "response": "b"}]"#, 1),
            ("I cannot.", 0),
            ("", 0),
        ] {
            assert_eq!(read(reply, &tasks, &earlier).len(), count, "{reply}");
        }
    }

    #[test]
    fn the_suite_loads_whatever_the_questions_hold() {
        let pairs = [pair("What is {x}: #1?", Some("- learn: \"it\"")), pair("Why?", None)];
        for (turns, tasks) in [(1, &[][..]), (3, &["learn"][..]), (3, &[])] {
            let options = options(2, turns, tasks);
            let text = suite(&pairs, &options, "From a: file.");
            let read = suite::read(&text, "a").unwrap();
            assert!(read.warnings.is_empty(), "{text}");
            let task = &read.tasks[0];
            assert_eq!((task.variations.len(), task.user.is_some()), (2, turns > 1), "{text}");
            let asked = match &task.user {
                None => task.fill(task.prompts.tool_calling.as_deref().unwrap(), Some(0)),
                Some(_) => task.user_texts(Some(0)).remove(1).1,
            };
            assert!(asked.ends_with("What is {x}: #1?"), "{asked}");
        }
    }
}
