//! **Pure.** Equality of values for alignment: numbers are equal regardless of notation, objects
//! regardless of field order. Rows are paired by it before they are compared in detail.
use super::leaf::means_same;
use super::number::Number;
use foldhash::fast::{FixedState, FoldHasher};
use std::borrow::Cow;
use std::collections::HashMap;
use std::hash::{BuildHasher as _, Hash, Hasher};
use touchstone_model::value::Value;

/// Identity of a row key or an object key. `143` and `"143"` are the same key.
#[derive(Debug, Clone, PartialEq, Eq, Hash, PartialOrd, Ord)]
pub(super) enum Identity<'a> {
    /// Null.
    Null,
    /// `true` or `false`.
    Bool(bool),
    /// A number in canonical notation.
    Number(Cow<'a, str>),
    /// Text.
    Text(&'a str),
}

impl<'a> Identity<'a> {
    /// Returns the identity of a value; `None` for lists and objects.
    pub(super) fn from_value(value: &'a Value) -> Option<Self> {
        Some(match value {
            Value::Null => Identity::Null,
            Value::Bool(bool) => Identity::Bool(*bool),
            Value::Number(text) | Value::Text(text) if is_whole(text) => {
                Identity::Number(Cow::Borrowed(text))
            }
            Value::Number(text) => match Number::read(text) {
                Some(number) => Identity::Number(number.name()),
                None => Identity::Text(text),
            },
            Value::Text(text) => Identity::Text(text),
            Value::List(_) | Value::Map(_) => return None,
        })
    }
}

/// Returns true for a whole number in canonical notation.
pub(super) fn is_whole(text: &str) -> bool {
    let digits = text.strip_prefix('-').unwrap_or(text).as_bytes();
    let plain = digits.len() <= 38 && digits.iter().all(u8::is_ascii_digit);
    plain && digits.first().is_some_and(|first| *first != b'0' || text == "0")
}

/// Returns a hash of a value. Equal values have equal hashes, and different values nearly always
/// have different ones. The hash is deterministic, so that alignment is reproducible.
pub(super) fn hash(value: &Value) -> u64 {
    let mut hasher = hasher();
    hash_into(value, &mut hasher);
    hasher.finish()
}

pub(super) fn hasher() -> FoldHasher<'static> {
    FixedState::with_seed(0).build_hasher()
}

/// Returns the [`hash`] of a value that is this number.
pub(super) fn hash_of_number(number: &Number<'_>) -> u64 {
    let mut hasher = hasher();
    (2_u8, number).hash(&mut hasher);
    hasher.finish()
}

fn hash_into(value: &Value, hasher: &mut FoldHasher<'static>) {
    match value {
        Value::Null => 0_u8.hash(hasher),
        Value::Bool(bool) => (1_u8, if *bool { "true" } else { "false" }).hash(hasher),
        Value::Number(text) => match Number::read(text) {
            Some(number) => (2_u8, number).hash(hasher),
            None => (1_u8, text.as_str()).hash(hasher),
        },
        Value::Text(text) => match Number::parse_text(text) {
            Some(number) => (2_u8, number).hash(hasher),
            None if text.eq_ignore_ascii_case("true") => (1_u8, "true").hash(hasher),
            None if text.eq_ignore_ascii_case("false") => (1_u8, "false").hash(hasher),
            None => (1_u8, text.as_str()).hash(hasher),
        },
        Value::List(items) => {
            (3_u8, items.len()).hash(hasher);
            for item in items {
                hash_into(item, hasher);
            }
        }
        Value::Map(entries) => {
            let fields = entries.iter().fold(0_u64, |sum, (key, value)| {
                let mut field = self::hasher();
                hash_into(key, &mut field);
                hash_into(value, &mut field);
                sum.wrapping_add(field.finish())
            });
            (4_u8, entries.len(), fields).hash(hasher);
        }
    }
}

/// Returns true if both values mean the same: numbers by value, fields in any order. Without
/// tolerance or date comparison.
pub(super) fn same(a: &Value, b: &Value) -> bool {
    match (a, b) {
        (Value::List(a), Value::List(b)) => {
            a.len() == b.len() && a.iter().zip(b).all(|(a, b)| same(a, b))
        }
        (Value::Map(a), Value::Map(b)) => {
            a.len() == b.len()
                && pairs(a, b).into_iter().zip(a).all(|(other, (_, value))| {
                    other.and_then(|at| b.get(at)).is_some_and(|(_, other)| same(value, other))
                })
        }
        _ => means_same(a, b),
    }
}

/// Lookup form of a key. Lists and objects can be keys too.
#[derive(PartialEq, Eq, Hash)]
enum LookupKey<'a> {
    Scalar(Identity<'a>),
    /// Hash of a list or object; a match must be verified.
    Other(u64),
}

impl<'a> LookupKey<'a> {
    fn from_key(key: &'a Value) -> Self {
        Identity::from_value(key).map_or_else(|| Self::Other(hash(key)), Self::Scalar)
    }
}

/// Returns, for each entry of an object, the index of the entry of another object with the same
/// key. Duplicate keys are paired in order.
pub(super) fn pairs(a: &[(Value, Value)], b: &[(Value, Value)]) -> Vec<Option<usize>> {
    // Keys are nearly always in the same order, so each search begins after the last match.
    let mut taken = vec![false; b.len()];
    let mut next = 0;
    let mut index: Option<HashMap<LookupKey<'_>, Vec<usize>>> = None;
    let mut found = Vec::with_capacity(a.len());
    for (key, _) in a {
        let here =
            b.get(next).filter(|(other, _)| !taken[next] && same_key(key, other)).map(|_| next);
        let far = || {
            if b.len() <= 16 {
                return (0..b.len()).find(|at| !taken[*at] && same_key(key, &b[*at].0));
            }
            let index = index.get_or_insert_with(|| {
                let mut index: HashMap<LookupKey<'_>, Vec<usize>> = HashMap::with_capacity(b.len());
                for (at, (key, _)) in b.iter().enumerate().rev() {
                    index.entry(LookupKey::from_key(key)).or_default().push(at);
                }
                index
            });
            let places = index.get_mut(&LookupKey::from_key(key))?;
            while places.pop_if(|at| taken[*at]).is_some() {}
            let found = places.iter().rposition(|at| !taken[*at] && same_key(key, &b[*at].0))?;
            Some(places.remove(found))
        };
        let at = here.or_else(far);
        if let Some(at) = at {
            taken[at] = true;
            next = at + 1;
        }
        found.push(at);
    }
    found
}

fn same_key(a: &Value, b: &Value) -> bool {
    a == b
        || match (Identity::from_value(a), Identity::from_value(b)) {
            (Some(a), Some(b)) => a == b,
            (None, None) => same(a, b),
            _ => false,
        }
}

#[cfg(test)]
mod tests {
    use super::*;
    use std::time::{Duration, Instant};

    fn entries(keys: impl Iterator<Item = Value>) -> Vec<(Value, Value)> {
        keys.map(|key| (key, Value::Null)).collect()
    }

    fn list(number: usize) -> Value {
        Value::List(vec![Value::Number(number.to_string()), Value::from("x")])
    }

    #[test]
    fn keys_of_any_kind_find_each_other_in_time_that_grows_with_their_number() {
        let many = 20_000;
        let (a, b) = (entries((0..many).map(list)), entries((0..many).rev().map(list)));
        let began = Instant::now();
        let found = pairs(&a, &b);
        assert!(began.elapsed() < Duration::from_secs(8), "{:?}", began.elapsed());
        assert!(found.iter().enumerate().all(|(at, other)| *other == Some(many - 1 - at)));
    }

    #[test]
    fn the_second_of_a_key_goes_with_the_second_and_no_entry_goes_twice() {
        let a = entries([7, 7, 7, 1, 20].map(list).into_iter().chain([Value::from("7")]));
        let others = (100..120).map(list).chain([Value::Number("7".into())]);
        let b = entries(others.chain([1, 7, 7].map(list)));
        assert_eq!(pairs(&a, &b), [Some(22), Some(23), None, Some(21), None, Some(20)]);
    }
}
