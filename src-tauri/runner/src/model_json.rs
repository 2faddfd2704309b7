//! **Pure.** JSON in what models reply, whatever they write around it.
use touchstone_model::answer;
use touchstone_model::value::Value;

/// Returns the first JSON object in a reply: alone, in a fence, or between other words.
pub(crate) fn object(reply: &str) -> Option<Value> {
    let text = without_thoughts(reply);
    let is_map = |value: &Value| matches!(value, Value::Map(_));
    let parse = |text: &str| answer::parse(text).map(|(value, _)| value).filter(is_map);
    parse(text).or_else(|| {
        let from = text.find('{')?;
        let inside = text.get(from..)?;
        let ends = inside.match_indices('}').map(|(at, _)| at + 1);
        // The whole to the last brace first; else the shortest part that is an object.
        let all: Vec<usize> = ends.take(50).collect();
        let last = inside.rfind('}').map(|at| at + 1);
        last.into_iter().chain(all).find_map(|end| parse(inside.get(..end)?))
    })
}

/// Returns a reply without the thoughts that some models write before it.
pub(crate) fn without_thoughts(reply: &str) -> &str {
    reply.rsplit_once("</think>").map_or(reply, |(_, rest)| rest)
}
