//! **Pure.** Shortens names so that what tells them apart stays visible.
use std::collections::BTreeMap;

/// Characters that stay of a common beginning or end.
const KEPT: usize = 3;

/// Fewest characters that stay of a system beside its model.
const SYSTEM: usize = 5;
/// Stands between a system and its model.
const BETWEEN: &str = " · ";

/// Shortens names to a number of characters: the system in the middle, so that the model stays.
/// Names that would look the same are cut where they are equal instead.
pub(super) fn shorten(names: &[String], most: usize) -> Vec<String> {
    let mut short: Vec<String> = names.iter().map(|name| cut_name(name, most)).collect();
    let mut same: BTreeMap<String, Vec<usize>> = BTreeMap::new();
    for (at, text) in short.iter().enumerate() {
        same.entry(text.clone()).or_default().push(at);
    }
    for group in same.into_values().filter(|group| group.len() > 1) {
        if let Some(systems) = of_one_model(names, &group, most) {
            for (at, name) in group.iter().zip(systems) {
                short[*at] = name;
            }
            continue;
        }
        let all: Vec<Vec<char>> = group.iter().map(|at| names[*at].chars().collect()).collect();
        let before = common(&all, <[char]>::get);
        let after = common(&all, |name, at| {
            let at = name.len().checked_sub(at + 1).filter(|at| *at >= before)?;
            name.get(at)
        });
        for (at, name) in group.iter().zip(&all) {
            short[*at] = cut_equal(name, before, after, most);
        }
    }
    short
}

/// Returns names of systems with one model, of which the systems are cut where they are equal.
/// `None` if the models differ, or leave no room.
fn of_one_model(names: &[String], group: &[usize], most: usize) -> Option<Vec<String>> {
    let parts: Option<Vec<(&str, &str)>> =
        group.iter().map(|at| names[*at].rsplit_once(BETWEEN)).collect();
    let parts = parts?;
    let (_, model) = *parts.first()?;
    let room = most.checked_sub(length(model) + length(BETWEEN)).filter(|room| *room >= SYSTEM)?;
    if parts.iter().any(|(_, other)| *other != model) {
        return None;
    }
    let all: Vec<Vec<char>> = parts.iter().map(|(system, _)| system.chars().collect()).collect();
    let before = common(&all, <[char]>::get);
    let after = common(&all, |name, at| {
        let at = name.len().checked_sub(at + 1).filter(|at| *at >= before)?;
        name.get(at)
    });
    let name = |name: &Vec<char>| cut_equal(name, before, after, room) + BETWEEN + model;
    Some(all.iter().map(name).collect())
}

fn length(text: &str) -> usize {
    text.chars().count()
}

/// Cuts the system of a name, so that its model stays whole where it has room.
fn cut_name(name: &str, most: usize) -> String {
    let Some((system, model)) = name.rsplit_once(BETWEEN).filter(|_| length(name) > most) else {
        return cut(name, most);
    };
    let beside = most.saturating_sub(length(model));
    if beside >= length(BETWEEN) + SYSTEM {
        return cut(system, beside - length(BETWEEN)) + BETWEEN + model;
    }
    match beside.checked_sub(1) {
        Some(room) => system.chars().take(room).collect::<String>() + "…" + model,
        None => cut(name, most),
    }
}

/// Returns the number of characters that all names share, counted by `at`.
fn common(names: &[Vec<char>], at: impl Fn(&[char], usize) -> Option<&char>) -> usize {
    let is_shared = |index: &usize| {
        let first = names.first().and_then(|name| at(name, *index));
        first.is_some() && names.iter().all(|name| at(name, *index) == first)
    };
    let longest = names.iter().map(Vec::len).max().unwrap_or(0);
    (0..longest).take_while(is_shared).count()
}

/// Cuts a text in the middle.
fn cut(text: &str, most: usize) -> String {
    let chars: Vec<char> = text.chars().collect();
    if chars.len() <= most {
        return text.to_owned();
    }
    let (head, tail) = (most / 2, most - most / 2 - 1);
    let text = |part: &[char]| part.iter().collect::<String>();
    format!("{}…{}", text(&chars[..head]), text(&chars[chars.len() - tail..]))
}

/// Cuts the equal beginning and end of a name, and then its middle.
fn cut_equal(name: &[char], before: usize, after: usize, most: usize) -> String {
    let text = |part: &[char]| part.iter().collect::<String>();
    let (head, core, tail) =
        (&name[..before], &name[before..name.len() - after], &name[name.len() - after..]);
    let head = if before > KEPT + 1 { text(&head[..KEPT]) + "…" } else { text(head) };
    let tail =
        if after > KEPT + 1 { format!("…{}", text(&tail[after - KEPT..])) } else { text(tail) };
    let room = most.saturating_sub(head.chars().count() + tail.chars().count());
    format!("{head}{}{tail}", cut(&text(core), room.max(KEPT))).replace("……", "…")
}

#[cfg(test)]
mod tests {
    use super::*;

    fn short(names: &[&str], most: usize) -> Vec<String> {
        shorten(&names.iter().map(|name| (*name).to_owned()).collect::<Vec<_>>(), most)
    }

    #[test]
    fn a_name_is_cut_in_the_middle_and_only_if_it_is_too_long() {
        assert_eq!(short(&["promptql · o1"], 24), ["promptql · o1"]);
        assert_eq!(
            short(&["tool_calling_python · claude-3-5-sonnet"], 20),
            ["to…claude-3-5-sonnet"]
        );
    }

    #[test]
    fn the_model_of_a_name_stays_whole() {
        let names = ["tool_calling_python · o3-mini", "tool_calling_python · o1"];
        assert_eq!(short(&names, 24), ["tool_ca…python · o3-mini", "tool_calling_python · o1"]);
        assert_eq!(short(&names, 16), ["too…on · o3-mini", "tool_…ython · o1"]);
        let systems =
            ["tool_calling_with_a_python · o3-mini", "tool_calling_with_b_python · o3-mini"];
        let both = short(&systems, 20);
        assert!(both.iter().all(|name| name.ends_with(" · o3-mini")), "{both:?}");
        assert_ne!(both[0], both[1]);
        let one_begins_the_other = ["tool_calling · o3-mini", "tool_calling_x_calling · o3-mini"];
        let both = short(&one_begins_the_other, 15);
        assert_ne!(both[0], both[1]);
    }

    #[test]
    fn what_tells_names_apart_stays() {
        assert_eq!(
            short(
                &[
                    "agent-with-a-long-name-A-and-a-long-end",
                    "agent-with-a-long-name-B-and-a-long-end"
                ],
                16
            ),
            ["age…A…end", "age…B…end"]
        );
        let long =
            ["x".repeat(40) + "one" + &"y".repeat(40), "x".repeat(40) + "two" + &"y".repeat(40)];
        assert_eq!(short(&[&long[0], &long[1]], 12), ["xxx…one…yyy", "xxx…two…yyy"]);
        assert_eq!(short(&["aaaaaaaaaa", "aaaaaaaaaa"], 6).len(), 2, "equal names stay equal");
    }
}
