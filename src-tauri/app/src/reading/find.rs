//! **Pure.** Finds the occurrences of a text in an open run: anywhere in any part, ignoring case,
//! in reading order.
use super::PartId;
use super::part_id::shown_parts;
use super::pieces::text_of;
use super::table::Table;
use touchstone_api::{Match, Matches};
use touchstone_formats::run::Run;
use touchstone_formats::value::Value;
use touchstone_store::snippet::{Needle, around};

/// Maximum number of matches listed; further ones are only counted.
const MAX_MATCHES: usize = 2_000;
/// Bytes of context around a match.
const AROUND: usize = 80;

/// Returns every match in the steps, then in the answer.
pub(super) fn find(run: &Run, needle: &Needle) -> Matches {
    let mut matches = Matches { total: 0, matches: Vec::new() };
    for (index, step) in run.steps.iter().enumerate() {
        for (part, value) in shown_parts(step).enumerate() {
            let id = PartId::Step(index, part);
            in_part(&mut matches, u32::try_from(index).ok(), id, &value, needle);
        }
    }
    if let Some(answer) = &run.answer {
        in_part(&mut matches, None, PartId::Answer, &answer.value, needle);
    }
    matches
}

fn in_part(matches: &mut Matches, step: Option<u32>, id: PartId, value: &Value, needle: &Needle) {
    let text = text_of(value);
    let table = Table::from_value(value).is_some();
    let (mut row, mut seen) = (0, 0);
    for place in needle.find_all(text.as_bytes()) {
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

/// Counts the rows of a table that begin in a piece of its JSON text. Only rows stand on a line of
/// their own that is indented once.
fn rows_begun(text: &[u8]) -> usize {
    memchr::memmem::find_iter(text, "\n  {").count()
}
