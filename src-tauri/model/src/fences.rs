//! **Pure.** Finds the last Markdown code fence that holds JSON. Lenient, because models write
//! fences carelessly.

/// An open fence.
struct Open {
    mark: char,
    length: usize,
    /// Offset of the first byte of its text. `None` for a fence of another language, which hides
    /// anything inside it that looks like a fence.
    json: Option<usize>,
}

/// Returns the text inside the last ```` ```json ```` fence. The fence may be unclosed at the end
/// of the message if it has any text.
pub fn last_json(message: &str) -> Option<&str> {
    let mut found = None;
    let mut open: Option<Open> = None;
    let mut at = 0;
    for line in message.split_inclusive('\n') {
        let end = at + line.len();
        // A second opening fence means that the first one was never closed.
        match open.take().filter(|open| {
            open.json.is_none() || opening(line, at).is_none_or(|next| next.json.is_none())
        }) {
            None => open = opening(line, at),
            Some(fence) => open = Some(fence),
        }
        if let Some(fence) = &open
            && let Some(stop) = closing(line, at, fence)
        {
            found = fence.json.and_then(|begin| message.get(begin..stop)).or(found);
            open = None;
        }
        at = end;
    }
    let rest =
        open.and_then(|fence| message.get(fence.json?..)).filter(|rest| !rest.trim().is_empty());
    rest.or(found)
}

/// Returns the fence that a line opens. Also accepts `~~~json`, words in front of the fence, and
/// JSON that begins on the same line.
fn opening(line: &str, start: usize) -> Option<Open> {
    let words = line.trim_start();
    let mark = words.chars().next().filter(|mark| matches!(mark, '`' | '~'));
    let length = mark.map_or(0, |mark| run(words, mark));
    let Some(mark) = mark.filter(|_| length >= 3) else {
        let words = line.trim_end();
        let fence = words.len().checked_sub("```json".len()).and_then(|at| words.get(at..))?;
        let json = Some(start + line.len());
        return fence.eq_ignore_ascii_case("```json").then_some(Open {
            mark: '`',
            length: 3,
            json,
        });
    };
    let info = words[length..].trim_start();
    let name = info.get(..4).filter(|name| name.eq_ignore_ascii_case("json"));
    let rest = &info[name.map_or(0, str::len)..];
    if name.is_some()
        && !rest.starts_with(|letter: char| letter.is_alphanumeric() || matches!(letter, '_' | '-'))
    {
        let inline = rest.trim_start().starts_with(['[', '{']);
        let json = if inline { start + line.len() - rest.len() } else { start + line.len() };
        return Some(Open { mark, length, json: Some(json) });
    }
    (!info.trim().is_empty()).then_some(Open { mark, length, json: None })
}

/// Returns the end offset of the fence's text if the line closes the fence, either on a line of its
/// own or directly behind the last text.
fn closing(line: &str, start: usize, open: &Open) -> Option<usize> {
    let words = line.trim_end();
    let marks = words.len() - words.trim_end_matches(open.mark).len();
    let stop = start + words.len() - marks;
    let alone = words.trim_start().len() == marks;
    let behind = open.json.is_some_and(|begin| begin <= stop);
    (marks >= open.length && (alone || behind)).then_some(stop)
}

fn run(words: &str, mark: char) -> usize {
    words.len() - words.trim_start_matches(mark).len()
}
