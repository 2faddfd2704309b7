//! **Pure.** METEOR: words are aligned when they are equal, then when their stems are, then when WordNet gives their stems a meaning in
//! common. The score falls when aligned words are few, and when they stand in many pieces.
use super::pair::{Numbers, Pair, fraction};
use super::porter::stem;
use super::wordnet::WordNet;
use std::collections::HashMap;

/// How precision, recall and order are weighed.
#[derive(Debug, Clone, Copy, PartialEq)]
pub struct Weights {
    /// 1 counts precision only, 0 recall only.
    pub alpha: f64,
    /// How steeply pieces cost.
    pub beta: f64,
    /// How much pieces cost at most.
    pub gamma: f64,
}

impl Default for Weights {
    fn default() -> Self {
        Self { alpha: 0.9, beta: 3.0, gamma: 0.5 }
    }
}

/// Words that belong together: the place in the response and the place in the truth, in the order of the response.
pub type Alignment = Vec<(usize, usize)>;

/// Alignments without and with the meanings of words.
#[derive(Debug, Default)]
pub(super) struct Aligned {
    pub(super) by_form: Alignment,
    pub(super) by_meaning: Alignment,
}

/// Words of one side that are not aligned yet: their place in the text, and what they are compared by.
type Free = Vec<(usize, u32)>;

/// Aligns the words of two texts. In each step the last words of both sides are aligned first.
pub(super) fn align(pair: &Pair) -> Aligned {
    let mut lower = Numbers::default();
    let lowered: Vec<u32> = pair.words.iter().map(|word| lower.of(&word.to_lowercase())).collect();
    let enumerate = |words: &[u32]| -> Free { words.iter().map(|word| lowered[*word as usize]).enumerate().collect() };
    let (mut response, mut truth) = (enumerate(&pair.response), enumerate(&pair.truth));
    let mut found = Alignment::new();
    match_equal(&mut response, &mut truth, &mut found);

    let forms = lower.into_words();
    let mut stems = Numbers::default();
    let mut known: Vec<Option<u32>> = vec![None; forms.len()];
    for (_, word) in response.iter_mut().chain(&mut truth) {
        let at = *word as usize;
        *word = *known[at].get_or_insert_with(|| stems.of(&stem(&forms[at])));
    }
    match_equal(&mut response, &mut truth, &mut found);
    let mut by_form = found.clone();
    by_form.sort_unstable();

    match_meanings(response, truth, &stems.into_words(), &mut found);
    found.sort_unstable();
    Aligned { by_form, by_meaning: found }
}

/// Aligns equal words: the last of the response with the last that is free in the truth.
fn match_equal(response: &mut Free, truth: &mut Free, found: &mut Alignment) {
    let mut places: HashMap<u32, Vec<usize>> = HashMap::with_capacity(truth.len());
    for (at, word) in truth.iter() {
        places.entry(*word).or_default().push(*at);
    }
    let mut free = Free::new();
    for (at, word) in response.drain(..).rev() {
        match places.get_mut(&word).and_then(Vec::pop) {
            Some(place) => found.push((at, place)),
            None => free.push((at, word)),
        }
    }
    free.reverse();
    *response = free;
    // Of each word the first places are left, as many as were not taken.
    truth.retain(|(at, word)| places.get(word).is_some_and(|left| left.last().is_some_and(|last| at <= last)));
}

/// Aligns words whose stems can mean the same: the last of the response with the last in the truth that is free.
fn match_meanings(response: Free, truth: Free, stems: &[String], found: &mut Alignment) {
    if response.is_empty() || truth.is_empty() {
        return;
    }
    let wordnet = WordNet::get();
    let mut places: HashMap<u32, Vec<usize>> = HashMap::new();
    for (at, word) in truth {
        places.entry(word).or_default().push(at);
    }
    // Which words of the truth have a meaning.
    let mut named: Vec<(u32, u32)> = Vec::new();
    for word in places.keys() {
        wordnet.named(&stems[*word as usize], &mut |meaning| named.push((meaning, *word)));
    }
    named.sort_unstable();
    let mut candidates: HashMap<u32, Vec<u32>> = HashMap::new();
    for (at, word) in response.into_iter().rev() {
        let words = candidates.entry(word).or_insert_with(|| {
            let mut words = Vec::new();
            wordnet.meanings(&stems[word as usize], &mut |meaning| {
                let first = named.partition_point(|(other, _)| *other < meaning);
                words.extend(named[first..].iter().take_while(|(other, _)| *other == meaning).map(|(_, word)| *word));
            });
            words
        });
        let last = words.iter().filter_map(|word| Some((*places.get(word)?.last()?, *word))).max();
        if let Some((place, word)) = last {
            places.entry(word).and_modify(|places| _ = places.pop());
            found.push((at, place));
        }
    }
}

/// The score of an alignment.
pub(super) fn score(alignment: &Alignment, response: usize, truth: usize, weights: Weights) -> f64 {
    if alignment.is_empty() {
        return 0.0;
    }
    let matches = alignment.len();
    let (precision, recall) = (fraction(matches, response), fraction(matches, truth));
    let mean = (precision * recall) / (weights.alpha * precision + (1.0 - weights.alpha) * recall);
    let penalty = weights.gamma * fraction(pieces(alignment), matches).powf(weights.beta);
    (1.0 - penalty) * mean
}

/// How many pieces of the response stand in the truth as they are.
pub(super) fn pieces(alignment: &Alignment) -> usize {
    let follows = |two: &&[(usize, usize)]| two[1].0 == two[0].0 + 1 && two[1].1 == two[0].1 + 1;
    if alignment.is_empty() { 0 } else { alignment.len() - alignment.windows(2).filter(follows).count() }
}
