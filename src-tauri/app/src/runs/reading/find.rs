//! **Pure.** Finds the occurrences of a text in an open run: anywhere in any part, ignoring case,
//! in reading order.
use super::PartId;
use super::part_id::shown_parts;
use super::pieces::text_of;
use super::table::Table;
use super::view::is_message;
use std::ops::Range;
use touchstone_api::{Match, Matches};
use touchstone_model::run::{Run, StepKind};
use touchstone_model::value::Value;
use touchstone_store::snippet::{Needle, around};

/// Maximum number of matches listed; further ones are only counted.
const MAX_MATCHES: usize = 2_000;
/// Maximum bytes of a message that is searched without the marks of Markdown.
const LONGEST_PROSE: usize = 4 << 20;
/// Bytes of context around a match.
const AROUND: usize = 80;

/// Returns every match in the steps, then in the answer.
pub(super) fn find(run: &Run, needle: &Needle) -> Matches {
    let mut matches = Matches { total: 0, matches: Vec::new() };
    for (index, step) in run.steps.iter().enumerate() {
        for (part, value) in shown_parts(step).enumerate() {
            let id = PartId::Step(index, part);
            let is_prose =
                matches!(step.kind, StepKind::User | StepKind::Assistant | StepKind::System);
            in_part(&mut matches, u32::try_from(index).ok(), id, (&value, is_prose), needle);
        }
    }
    if let Some(answer) = &run.answer {
        let is_prose = is_message(run, &answer.value);
        in_part(&mut matches, None, PartId::Answer, (&answer.value, is_prose), needle);
    }
    matches
}

fn in_part(
    matches: &mut Matches,
    step: Option<u32>,
    id: PartId,
    (value, is_prose): (&Value, bool),
    needle: &Needle,
) {
    let text = text_of(value);
    let table = Table::from_value(value).is_some();
    let (mut row, mut seen) = (0, 0);
    let mut places: Vec<Range<usize>> = needle.find_all(text.as_bytes()).collect();
    if is_prose {
        add_shown(&mut places, &text, needle);
    }
    for place in places {
        matches.total += 1;
        if matches.matches.len() < MAX_MATCHES {
            if table {
                row += rows_begun(&text.as_bytes()[seen..place.end]);
                seen = place.end;
            }
            let offset = place.start as u64;
            let pieces = around(&text, place.clone(), &[place], AROUND);
            let row = if table {
                u32::try_from(row).ok().and_then(|begun: u32| begun.checked_sub(1))
            } else {
                None
            };
            matches.matches.push(Match { step, part: id.to_string(), offset, row, pieces });
        }
    }
}

/// Adds the matches that are there once Markdown is drawn, without its marks of emphasis and code:
/// `answer 42` in `**answer** 42`.
fn add_shown(places: &mut Vec<Range<usize>>, text: &str, needle: &Needle) {
    const MARKS: [u8; 3] = [b'*', b'_', b'`'];
    if text.len() > LONGEST_PROSE || !text.bytes().any(|byte| MARKS.contains(&byte)) {
        return;
    }
    let shown: Vec<(usize, u8)> =
        text.bytes().enumerate().filter(|(_, byte)| !MARKS.contains(byte)).collect();
    let bytes: Vec<u8> = shown.iter().map(|(_, byte)| *byte).collect();
    let found = needle.find_all(&bytes).filter_map(|place| {
        let (start, _) = shown.get(place.start)?;
        let (last, _) = shown.get(place.end.checked_sub(1)?)?;
        // What is found as it is written is there already.
        let at = places.partition_point(|known| known.end <= *start);
        (places.get(at).is_none_or(|known| known.start > *last)).then_some(*start..last + 1)
    });
    let found: Vec<Range<usize>> = found.collect();
    places.extend(found);
    places.sort_unstable_by_key(|place| place.start);
}

/// Counts the rows of a table that begin in a piece of its JSON text. Only rows stand on a line of
/// their own that is indented once.
fn rows_begun(text: &[u8]) -> usize {
    memchr::memmem::find_iter(text, "\n  {").count()
}

#[cfg(test)]
mod tests {
    use super::*;
    use touchstone_model::run::{Answer, Language, Part, Step};

    #[test]
    fn words_of_a_message_are_found_across_the_marks_of_markdown_and_once() {
        let message = |kind, text: &str| Step {
            kind,
            parts: vec![Part {
                label: "message".into(),
                value: Value::from(text),
                ..Part::default()
            }],
            ..Step::default()
        };
        let text = "The **answer** 2500 is the `answer` 2500, **so** the answer 2500.";
        let found = |kind, typed: &str| {
            let run = Run { steps: vec![message(kind, text)], ..Run::default() };
            let found = find(&run, &Needle::anywhere(typed).unwrap());
            found.matches.iter().map(|one| one.offset).collect::<Vec<_>>()
        };
        assert_eq!(found(StepKind::Assistant, "answer 2500"), [6, 28, 53]);
        assert_eq!(found(StepKind::Assistant, "**answer**"), [4]);
        // An answer that is a message is drawn like it, and another one as it is written.
        let answered = |kind| {
            let answer = Answer { value: Value::from(text), source: String::new(), lenient: false };
            let mut steps = vec![message(kind, text)];
            steps[0].parts[0].language = match kind {
                StepKind::Assistant => Language::Markdown,
                _ => Language::Plain,
            };
            let run = Run { steps, answer: Some(answer), ..Run::default() };
            let found = find(&run, &Needle::anywhere("answer 2500").unwrap());
            found.matches.iter().filter(|one| one.step.is_none()).count()
        };
        assert_eq!((answered(StepKind::Assistant), answered(StepKind::Program)), (3, 1));
        // The source of a program is shown as it is.
        assert_eq!(found(StepKind::Program, "answer 2500"), [53]);
    }
}
