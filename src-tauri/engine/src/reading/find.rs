//! **Pure.** Where a text occurs in an open run: anywhere in any part, ignoring case, in the order of reading.
use super::PartId;
use super::part_id::shown_parts;
use super::pieces::text_of;
use crate::results::snippet::{Needle, around};
use crate::rows::{Match, Matches};
use touchstone_formats::run::Run;
use touchstone_formats::value::Value;

/// More places than this are counted and not listed.
const MAX_MATCHES: usize = 2_000;
/// How much text stands around a place.
const AROUND: usize = 80;

/// Every place in the steps, then in the answer.
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
    for place in needle.find_all(text.as_bytes()) {
        matches.total += 1;
        if matches.matches.len() < MAX_MATCHES {
            let offset = place.start as u64;
            let pieces = around(&text, &[place], AROUND);
            matches.matches.push(Match { step, part: id.to_string(), offset, pieces });
        }
    }
}
