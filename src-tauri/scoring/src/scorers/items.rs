//! **Pure.** Items of two lists and their positions.
use super::scorer::Items;
use super::{Case, Outcome, Scored, canon, words};
use std::collections::HashMap;
use touchstone_model::value::Value;

/// Items of two lists. An item is a scalar, or the key field of an object (by default its first),
/// which identifies a row.
pub(super) struct Lists<'a> {
    pub expected: Vec<Item<'a>>,
    pub answer: Vec<Item<'a>>,
    /// Names of the expected and the actual key field, if objects in the answer begin with another
    /// field than expected.
    other_field: Option<(&'a str, &'a str)>,
}

/// An item in a list.
pub(super) struct Item<'a> {
    /// Identity of the item; equal for equal items.
    pub id: String,
    /// Value as written.
    pub value: &'a Value,
}

impl<'a> Lists<'a> {
    /// Returns the items of the expected output and the answer, or an outcome if either is not a
    /// list.
    pub(super) fn new(scorer: &str, case: &Case<'a>, items: &'a Items) -> Result<Self, Outcome> {
        let Some(expected) = case.expected else { return Err(super::no_expected()) };
        let Value::List(expected_rows) = expected else {
            let kind = words::kind(expected);
            return Err(Outcome::Unfit(format!(
                "`{scorer}` compares lists, and {kind} is expected."
            )));
        };
        let Some(answer) = case.answer else { return Err(super::no_answer()) };
        let Value::List(answer_rows) = answer else {
            return Err(Outcome::Scored(Scored::nothing(words::instead("a list", answer))));
        };
        let key = items.key.as_deref().or(case.key);
        let first_field =
            |rows: &'a [Value]| rows.iter().find_map(|row| field_of(row, key)?.text());
        let fields = first_field(expected_rows).zip(first_field(answer_rows));
        Ok(Self {
            expected: expected_rows.iter().map(|row| Item::new(row, key)).collect(),
            answer: answer_rows.iter().map(|row| Item::new(row, key)).collect(),
            other_field: fields.filter(|(a, b)| a != b),
        })
    }

    /// Returns for each expected item its position in the answer; duplicates are paired in order.
    pub(super) fn pairs(&self) -> Vec<Option<usize>> {
        let mut places: HashMap<&str, Vec<usize>> = HashMap::new();
        for (place, item) in self.answer.iter().enumerate().rev() {
            places.entry(&item.id).or_default().push(place);
        }
        self.expected.iter().map(|item| places.get_mut(&*item.id)?.pop()).collect()
    }

    /// Returns a remark to append to a reason if there are no common items.
    pub(super) fn doubt(&self, common: usize) -> String {
        match self.other_field {
            Some((expected, came)) if common == 0 => {
                format!("; `{}` was compared with `{}`", words::cut(came), words::cut(expected))
            }
            _ => String::new(),
        }
    }
}

impl<'a> Item<'a> {
    fn new(row: &'a Value, key: Option<&str>) -> Self {
        let field = key
            .and_then(|key| row.get(key))
            .or_else(|| row.entries().first().map(|(_, value)| value));
        let value = field.unwrap_or(row);
        Self { id: canon::item(value), value }
    }
}

/// Returns the name of the field of a row that is its item.
fn field_of<'a>(row: &'a Value, key: Option<&str>) -> Option<&'a Value> {
    let named = || row.entries().iter().find(|(name, _)| key.is_some() && name.text() == key);
    named().or_else(|| row.entries().first()).map(|(name, _)| name)
}

/// Returns the length of the longest increasing subsequence: the number of items that need not
/// move.
pub(super) fn in_order(places: impl IntoIterator<Item = usize>) -> usize {
    // Smallest last position of an increasing subsequence of each length.
    let mut ends: Vec<usize> = Vec::new();
    for place in places {
        let at = ends.partition_point(|end| *end < place);
        match ends.get_mut(at) {
            Some(end) => *end = place,
            None => ends.push(place),
        }
    }
    ends.len()
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_longest_run_that_rises_is_in_order() {
        for (places, longest) in [
            (&[][..], 0),
            (&[5], 1),
            (&[0, 1, 2], 3),
            (&[2, 1, 0], 1),
            (&[1, 2, 0, 3], 3),
            (&[3, 0, 4, 1, 5, 2], 3),
        ] {
            assert_eq!(in_order(places.iter().copied()), longest, "{places:?}");
        }
    }
}
