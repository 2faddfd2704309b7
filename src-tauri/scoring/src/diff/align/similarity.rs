//! **Pure.** Aligns rows without a key: pairs those that are similar enough to be a wrong version
//! of each other.
use super::assign::cheapest;
use super::both;
use crate::diff::budget::{Budget, steps};
use crate::diff::identity::{hash, hash_of_number};
use crate::diff::leaf::number;
use crate::diff::text::each_word;
use foldhash::{HashMap, HashMapExt as _};
use std::ops::Range;
use touchstone_model::value::Value;

/// Minimum similarity for a pair. Of three fields, one equal and one close is enough; one equal
/// field out of three is not.
pub(super) const ALIKE: f64 = 0.4;
/// Minimum similarity for rows with different names: so similar that the name must be wrong.
pub(super) const VERY_ALIKE: f64 = 0.6;
/// Number of rows up to which the best pairing overall is found. With more rows, pairs are taken
/// greedily by similarity.
const MOST: usize = 300;
/// Limits for the text that is compared: number of words, and bytes read.
const WORDS: usize = 64;
const BYTES: usize = 2_000;
/// Limits for the greedy pairing: candidates compared per row, and the number of rows up to which a
/// sign is rare enough to lead to candidates.
const CANDIDATES: usize = 12;
const COMMON: usize = 64;

/// Criteria for similarity of rows.
pub(super) struct SimilarityOptions<'a> {
    /// Minimum similarity.
    pub(super) least: f64,
    /// Fields that are not compared, unless a row has no others.
    pub(super) without: &'a [&'a str],
}

/// Pairs rows that are similar enough. The second value is false if there were too many rows for
/// the best pairing.
pub(super) fn pair(
    (expected, left): (&[Value], &[usize]),
    (actual, right): (&[Value], &[usize]),
    by: &SimilarityOptions<'_>,
    budget: &mut Budget,
) -> (Vec<(usize, usize)>, bool) {
    let least = by.least;
    if left.is_empty() || right.is_empty() {
        return (Vec::new(), true);
    }
    let profiles = |all: &[Value], which: &[usize]| {
        which.iter().map(|at| Profile::new(&all[*at], by.without)).collect::<Vec<_>>()
    };
    let (a, b) =
        both(left.len() + right.len(), || profiles(expected, left), || profiles(actual, right));
    let (small, large) = (a.len().min(b.len()), a.len().max(b.len()));
    let aspects =
        |all: &[Profile]| all.iter().map(|profile| profile.fields.len() + 1).sum::<usize>();
    let to_look = steps(a.len()) * steps(aspects(&b)) + steps(b.len()) * steps(aspects(&a));
    let work = to_look * 4 + steps(small) * steps(small) * steps(large);
    let best = large <= MOST && budget.afford(work);
    let found =
        if best { pair_optimally(&a, &b, least) } else { pair_greedily(&a, &b, least, budget) };
    (found.into_iter().map(|(i, j)| (left[i], right[j])).collect(), best)
}

fn pair_optimally(a: &[Profile], b: &[Profile], least: f64) -> Vec<(usize, usize)> {
    let (few, many, turned) = if a.len() <= b.len() { (a, b, false) } else { (b, a, true) };
    // All dissimilar pairs cost the same, so that they do not influence the pairing of similar
    // rows.
    let cost = |i: usize, j: usize| {
        let alike = few[i].likeness(&many[j]);
        if alike < least { 2_000_000_000 } else { part(1.0 - alike) * 1_000 + apart(i, j) }
    };
    let costs: Vec<Vec<i64>> =
        (0..few.len()).map(|i| (0..many.len()).map(|j| cost(i, j)).collect()).collect();
    let pairs = cheapest(&costs)
        .into_iter()
        .enumerate()
        .filter(|(i, j)| few[*i].likeness(&many[*j]) >= least);
    pairs.map(|(i, j)| if turned { (j, i) } else { (i, j) }).collect()
}

fn pair_greedily(
    a: &[Profile],
    b: &[Profile],
    least: f64,
    budget: &mut Budget,
) -> Vec<(usize, usize)> {
    let aspects = a.iter().chain(b).map(|profile| profile.fields.len() + 1).sum::<usize>();
    if !budget.afford(steps(aspects) * 60) {
        return Vec::new();
    }
    let places = Places::new(b);
    let near = |rows| candidates((a, rows), (b, &places), least);
    let half = a.len() / 2;
    let (mut alike, more) = both(a.len(), || near(0..half), || near(half..a.len()));
    alike.extend(more);
    alike.sort_unstable_by(|x, y| y.0.total_cmp(&x.0).then((x.1, x.2, x.3).cmp(&(y.1, y.2, y.3))));
    let (mut left, mut right) = (vec![false; a.len()], vec![false; b.len()]);
    let mut pairs = Vec::new();
    for (_, _, i, j) in alike {
        if !left[i] && !right[j] {
            (left[i], right[j]) = (true, true);
            pairs.push((i, j));
        }
    }
    pairs
}

/// Similarity of two rows, their distance in position, and their indexes.
type Alike = (f64, i64, usize, usize);

/// Returns the sufficiently similar pairs of rows that share a rare sign, for a range of rows of
/// `a`.
fn candidates(
    (a, rows): (&[Profile], Range<usize>),
    (b, places): (&[Profile], &Places),
    least: f64,
) -> Vec<Alike> {
    let mut alike = Vec::new();
    let (mut lists, mut seen): (Vec<&[u32]>, Vec<u32>) = (Vec::new(), Vec::new());
    for i in rows {
        let profile = &a[i];
        lists.clear();
        seen.clear();
        lists.extend(
            profile
                .signs()
                .map(|sign| places.rows_with(sign))
                .filter(|list| (1..=COMMON).contains(&list.len())),
        );
        lists.sort_by_key(|list| list.len());
        for at in lists.iter().copied().flatten() {
            if seen.len() < CANDIDATES && !seen.contains(at) {
                seen.push(*at);
                let j = *at as usize;
                let likeness = profile.likeness(&b[j]);
                if likeness >= least {
                    alike.push((likeness, apart(i, j), i, j));
                }
            }
        }
    }
    alike
}

/// Index from signs to the rows that have them.
struct Places {
    numbers: HashMap<u64, u32>,
    /// Offset into `rows` at which the rows of each sign begin, plus the end of the last.
    begins: Vec<u32>,
    rows: Vec<u32>,
}

impl Places {
    fn new(profiles: &[Profile]) -> Self {
        let most = profiles.iter().map(|profile| profile.fields.len() + profile.words.len()).sum();
        let mut numbers: HashMap<u64, u32> = HashMap::with_capacity(most / 4);
        let mut begins: Vec<u32> = vec![0];
        let mut signs: Vec<(u32, u32)> = Vec::with_capacity(most);
        for (row, profile) in (0..).zip(profiles) {
            for sign in profile.signs() {
                let next = u32::try_from(numbers.len()).unwrap_or(u32::MAX);
                let number = *numbers.entry(sign).or_insert(next);
                if number == next {
                    begins.push(0);
                }
                begins[number as usize + 1] += 1;
                signs.push((number, row));
            }
        }
        for at in 1..begins.len() {
            begins[at] += begins[at - 1];
        }
        let mut free = begins.clone();
        let mut rows = vec![0; signs.len()];
        for (number, row) in signs {
            rows[free[number as usize] as usize] = row;
            free[number as usize] += 1;
        }
        Self { numbers, begins, rows }
    }

    fn rows_with(&self, sign: u64) -> &[u32] {
        let Some(number) = self.numbers.get(&sign) else { return &[] };
        let at = *number as usize;
        &self.rows[self.begins[at] as usize..self.begins[at + 1] as usize]
    }
}

/// Returns the distance of two rows in position: of equally similar rows, the closer ones are
/// paired.
fn apart(i: usize, j: usize) -> i64 {
    i64::try_from(i.abs_diff(j)).unwrap_or(i64::MAX).min(999)
}

#[expect(clippy::cast_possible_truncation, reason = "it is a share of one")]
fn part(share: f64) -> i64 {
    (share.clamp(0.0, 1.0) * 1_000_000.0) as i64
}

/// Data of a row from which similarity is computed.
struct Profile {
    kind: Kind,
    /// Fields, sorted by name.
    fields: Vec<Aspect>,
    /// Words of all fields.
    words: Vec<u64>,
}

#[derive(PartialEq, Clone, Copy)]
enum Kind {
    Map,
    List,
    Text,
    Other,
}

/// A field of a row, or a whole text or list.
struct Aspect {
    name: u64,
    hash: u64,
    number: Option<f64>,
    /// Range of the words of a text, or hashes of the items of a list; sorted, without duplicates.
    words: Range<usize>,
}

impl Profile {
    fn new(value: &Value, without: &[&str]) -> Self {
        let mut words = Vec::new();
        let is_left_out = |key: &Value| key.text().is_some_and(|key| without.contains(&key));
        let mut aspect = |name: u64, value: &Value| Aspect::new(name, value, &mut words);
        let (kind, mut fields) = match value {
            Value::Map(entries) => {
                let all = entries.iter().all(|(key, _)| is_left_out(key));
                let entries = entries.iter().filter(|(key, _)| all || !is_left_out(key));
                (
                    Kind::Map,
                    entries.map(|(key, value)| aspect(hash(key), value)).collect::<Vec<_>>(),
                )
            }
            Value::List(_) => (Kind::List, vec![aspect(0, value)]),
            Value::Text(_) => (Kind::Text, vec![aspect(0, value)]),
            Value::Null | Value::Bool(_) | Value::Number(_) => (Kind::Other, Vec::new()),
        };
        fields.sort_by_key(|field| field.name);
        Profile { kind, fields, words }
    }

    /// Returns the similarity from 0, nothing in common, to 1, equal.
    fn likeness(&self, other: &Profile) -> f64 {
        if self.kind != other.kind || self.kind == Kind::Other {
            return 0.0;
        }
        let (mut sum, mut count) = (0.0, 0.0);
        let (mut left, mut right) = (self.fields.iter().peekable(), other.fields.iter().peekable());
        loop {
            count += 1.0;
            match (left.peek(), right.peek()) {
                (Some(a), Some(b)) if a.name == b.name => {
                    sum += a
                        .likeness(b, (&self.words[a.words.clone()], &other.words[b.words.clone()]));
                    left.next();
                    right.next();
                }
                (Some(a), Some(b)) if a.name < b.name => drop(left.next()),
                (Some(_), None) => drop(left.next()),
                (_, Some(_)) => drop(right.next()),
                (None, None) => break,
            }
        }
        if count > 1.0 { sum / (count - 1.0) } else { 1.0 }
    }

    /// Returns hashes of fields and of words in fields; rows that have a sign in common share a
    /// field value or a word.
    fn signs(&self) -> impl Iterator<Item = u64> {
        self.fields.iter().flat_map(|field| {
            let whole = field.hash.rotate_left(7) ^ field.name;
            self.words[field.words.clone()]
                .iter()
                .map(|word| word.rotate_left(13) ^ field.name)
                .chain([whole])
        })
    }
}

/// Returns the hash of a word, ignoring case (FNV-1a).
fn word_hash(word: &str) -> u64 {
    let add = |hash: u64, c: char| (hash ^ u64::from(u32::from(c))).wrapping_mul(0x0100_0000_01b3);
    let small = |hash: u64, c: char| match c {
        c if c.is_ascii() => add(hash, c.to_ascii_lowercase()),
        c => c.to_lowercase().fold(hash, add),
    };
    word.chars().fold(0xcbf2_9ce4_8422_2325, small)
}

impl Aspect {
    /// Creates an aspect and appends its words to `words`.
    fn new(name: u64, value: &Value, words: &mut Vec<u64>) -> Self {
        let start = words.len();
        match value {
            Value::Text(text) => each_word(&text[..text.floor_char_boundary(BYTES)], |word| {
                if words.len() - start < WORDS && word.chars().all(char::is_alphanumeric) {
                    words.push(word_hash(word));
                }
            }),
            Value::List(items) => words.extend(items.iter().take(WORDS).map(hash)),
            Value::Map(entries) => {
                words
                    .extend(entries.iter().take(WORDS).map(|(key, value)| hash(key) ^ hash(value)));
            }
            _ => {}
        }
        words[start..].sort_unstable();
        let mut kept = start;
        for at in start..words.len() {
            if at == start || words[at] != words[kept - 1] {
                words[kept] = words[at];
                kept += 1;
            }
        }
        words.truncate(kept);
        let number = number(value);
        let hash = number.as_ref().map_or_else(|| hash(value), hash_of_number);
        Aspect { name, hash, number: number.map(|number| number.float()), words: start..kept }
    }

    fn likeness(&self, other: &Aspect, (words, others): (&[u64], &[u64])) -> f64 {
        if self.hash == other.hash {
            return 1.0;
        }
        if let (Some(a), Some(b)) = (self.number, other.number) {
            let near = 1.0 - (a - b).abs() / a.abs().max(b.abs());
            return if near.is_finite() { near.max(0.0) * 0.5 } else { 0.0 };
        }
        let (mut shared, mut at) = (0_u32, 0);
        for word in words {
            at += others[at..].iter().take_while(|other| *other < word).count();
            shared += u32::from(others.get(at) == Some(word));
        }
        let all = words.len() + others.len();
        let all = f64::from(u32::try_from(all).unwrap_or(u32::MAX)) - f64::from(shared);
        if shared > 0 { f64::from(shared) / all * 0.9 } else { 0.0 }
    }
}
