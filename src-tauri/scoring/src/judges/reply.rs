//! **Pure.** Replies of judges: a JSON object with a word and a reason. What reasoning models think first and fences around it are
//! passed over, and so are the few plain forms that other judges of the kind use; everything else is no verdict.
use touchstone_formats::json;
use touchstone_formats::value::Value;

/// What a judge said.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Said {
    /// One of the words that were asked for, in small letters.
    pub word: String,
    /// Why; empty when it does not say.
    pub reason: String,
}

/// Names of the verdict in replies: ours, and those of the benchmark's own judge.
const KEYS: [&str; 3] = ["verdict", "answer_status", "status"];

/// What is said after a reply that could not be read.
pub(crate) const AGAIN: &str = "This reply could not be read. Judge the same evidence again, and reply with nothing but the JSON \
                                object that was described.";

/// Reads a reply; nothing when it holds no verdict, or more than one.
pub(super) fn read(reply: &str, words: &[&str]) -> Option<Said> {
    let text = after_thinking(reply).trim();
    let whole = fenced(text).unwrap_or(text);
    object(whole, words).or_else(|| inside(text).and_then(|text| object(text, words))).or_else(|| plain(text, words))
}

/// What follows the thoughts of a model that writes them into its reply. Of one that was cut off while it thought, nothing.
pub(crate) fn after_thinking(reply: &str) -> &str {
    match reply.rsplit_once("</think>") {
        Some((_, rest)) => rest,
        None if reply.trim_start().starts_with("<think>") => "",
        None => reply,
    }
}

/// The content of a fence around everything.
fn fenced(text: &str) -> Option<&str> {
    let rest = text.strip_prefix("```")?.strip_suffix("```")?;
    let (_, inside) = rest.split_once('\n')?;
    (!inside.contains("```")).then_some(inside.trim())
}

/// From the first brace to the last: two objects in it are no JSON.
fn inside(text: &str) -> Option<&str> {
    text.get(text.find('{')?..=text.rfind('}')?)
}

fn parsed(text: &str) -> Option<Value> {
    json::read(text).or_else(|_| json::read_leniently(text)).ok()
}

/// The one JSON object of a reply, however it is wrapped.
pub(crate) fn only_object(reply: &str) -> Option<Value> {
    let text = after_thinking(reply).trim();
    let is_object = |value: &Value| matches!(value, Value::Map(_));
    let whole = parsed(fenced(text).unwrap_or(text)).filter(is_object);
    whole.or_else(|| parsed(inside(text)?).filter(is_object))
}

fn object(text: &str, words: &[&str]) -> Option<Said> {
    let value = parsed(text)?;
    let verdict = KEYS.iter().find_map(|key| value.get(key))?;
    let reason = value.get("reason").map_or_else(String::new, |reason| match reason {
        Value::Text(text) => text.trim().to_owned(),
        other => json::write(other, false),
    });
    Some(Said { word: word(verdict.text()?, words)?, reason })
}

/// `Answer Status: Solved`, on one line or two, and `Reason: …` after it; or the word alone.
fn plain(text: &str, words: &[&str]) -> Option<Said> {
    let lines: Vec<&str> = text.lines().map(str::trim).filter(|line| !line.is_empty()).collect();
    let after = |line: &str, label: &str| {
        let head = line.get(..label.len()).filter(|head| head.eq_ignore_ascii_case(label))?;
        Some(line[head.len()..].trim_start_matches([':', ' ', '*']).to_owned())
    };
    let (at, label) = lines.iter().enumerate().find_map(|(at, line)| Some((at, after(line, "answer status")?)))?;
    let (said, rest) = if label.is_empty() { (*lines.get(at + 1)?, at + 2) } else { (label.as_str(), at + 1) };
    let reason = lines.get(rest..).unwrap_or_default().join(" ");
    let reason = after(&reason, "reason").unwrap_or(reason);
    Some(Said { word: word(said, words)?, reason })
}

fn word(said: &str, words: &[&str]) -> Option<String> {
    let said = said.trim().trim_end_matches('.').to_lowercase();
    let said = said.strip_prefix("answerstatus.").unwrap_or(&said);
    words.iter().find(|word| **word == said).map(|word| (*word).to_owned())
}

#[cfg(test)]
mod tests {
    use super::*;
    use proptest::prelude::*;

    const WORDS: [&str; 3] = ["solved", "unsure", "unsolved"];

    fn told(reply: &str) -> String {
        read(reply, &WORDS).map_or_else(|| "-".to_owned(), |said| format!("{}|{}", said.word, said.reason))
    }

    #[test]
    fn a_verdict_is_one_object_with_one_known_word_however_it_is_wrapped() {
        for (reply, wanted) in [
            (r#"{"reason": "all there", "verdict": "solved"}"#, "solved|all there"),
            ("<think>{\"verdict\": \"solved\"} no</think>\n{\"verdict\": \"Unsolved\"}", "unsolved|"),
            ("<think>It may be {\"verdict\": \"solved\"}", "-"),
            ("```json\n{\"verdict\": \"unsure\", \"reason\": \"x\"}\n```", "unsure|x"),
            ("Here it is: {\"answer_status\": \"Solved\", \"reason\": \"x\"}. Done.", "solved|x"),
            ("{'verdict': 'solved', 'reason': 'x',}", "solved|x"),
            ("Answer Status: Unsolved\nReason: nothing there", "unsolved|nothing there"),
            ("Answer Status\nSolved\nReason\nok", "solved|ok"),
            (r#"{"verdict": "solved"} {"verdict": "unsolved"}"#, "-"),
            (r#"{"verdict": "not solved"}"#, "-"),
            (r#"{"verdict": "solved or unsolved"}"#, "-"),
            (r#"{"verdict": true}"#, "-"),
            ("The request is solved.", "-"),
            ("solved? I would not say so", "-"),
            ("", "-"),
        ] {
            assert_eq!(told(reply), wanted, "{reply}");
        }
    }

    proptest! {
        #[test]
        fn no_reply_stops_the_reader_and_no_word_is_made_up(reply in "\\PC{0,60}|[{}\":a-z ]{0,40}|(\\{\"verdict\": \"(solved|other)\"\\}){0,2}") {
            if let Some(said) = read(&reply, &WORDS) {
                prop_assert!(WORDS.contains(&said.word.as_str()));
            }
        }
    }
}
