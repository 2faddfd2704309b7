//! **Pure.** Fences of Markdown, as far as it takes to find the last one that holds JSON. Lenient
//! where models are careless.

/// A fence that is open.
struct Open {
    mark: char,
    length: usize,
    /// Where its text begins; none for a fence of another language, which hides what looks like a
    /// fence inside it.
    json: Option<usize>,
}

/// What stands inside the last ```` ```json ```` fence. It may be open at the end of the message,
/// when there is something in it.
pub(crate) fn last_json(message: &str) -> Option<&str> {
    let mut found = None;
    let mut open: Option<Open> = None;
    let mut at = 0;
    for line in message.split_inclusive('\n') {
        let end = at + line.len();
        // A second opening means that the first was never closed.
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

/// The fence that a line opens: `~~~json`, or words before it, or its text behind it.
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

/// Where the text of a fence ends, when a line closes it: by itself, or behind the last of the
/// text.
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
