//! **Pure.** METEOR. Words are aligned if they are equal, then if their stems are equal, then if
//! their stems share a meaning in WordNet. The score falls if few words are aligned, and if the
//! aligned words are scattered over many chunks.
use super::pair::{Pair, Places, Words, count, fraction};
use super::porter::stem;
use super::wordnet::WordNet;

/// Weights of precision, recall and word order.
#[derive(Debug, Clone, Copy, PartialEq)]
pub struct Weights {
    /// Weight of recall against precision: 0 counts only precision, 1 only recall.
    pub alpha: f64,
    /// Exponent of the penalty for chunks.
    pub beta: f64,
    /// Maximum penalty for chunks.
    pub gamma: f64,
}

impl Default for Weights {
    fn default() -> Self {
        Self { alpha: 0.9, beta: 3.0, gamma: 0.5 }
    }
}

/// Aligned words: position in the response and position in the truth, in the order of the response.
pub type Alignment = Vec<(usize, usize)>;

/// Alignments without and with synonyms.
#[derive(Debug, Default)]
pub(super) struct Aligned {
    pub(super) by_form: Alignment,
    pub(super) by_meaning: Alignment,
}

/// Unaligned words of one side: position in the text, and the number that they are compared by.
type Free = Vec<(usize, u32)>;

/// Aligns the words of two texts. Each stage aligns the last words of both sides first.
pub(super) fn align(pair: &Pair) -> Aligned {
    let mut lower = Words::default();
    for number in 0..count(pair.kinds()) {
        let word = pair.word(number);
        let is_lower = word.bytes().all(|byte| byte.is_ascii() && !byte.is_ascii_uppercase());
        if is_lower { lower.push(word) } else { lower.push(&word.to_lowercase()) }
    }
    let (forms, _) = lower.numbered();
    let enumerate = |words: &[u32]| -> Free {
        words.iter().map(|word| forms[*word as usize]).enumerate().collect()
    };
    let (mut response, mut truth) = (enumerate(&pair.response), enumerate(&pair.truth));
    let mut found = Alignment::new();
    match_equal(&mut response, &mut truth, forms.len(), &mut found);

    let mut stems = Words::default();
    let mut stem_of: Vec<Option<usize>> = vec![None; forms.len()];
    // The first word of a form represents all of them.
    let mut word_of = vec![0; forms.len()];
    (0..forms.len()).rev().for_each(|word| word_of[forms[word] as usize] = word);
    let free = || response.iter().chain(&truth).map(|(_, form)| *form as usize);
    for form in free() {
        stem_of[form].get_or_insert_with(|| {
            stems.push(&stem(lower.get(word_of[form])));
            stems.len() - 1
        });
    }
    let (numbers, firsts) = stems.numbered();
    for (_, form) in response.iter_mut().chain(&mut truth) {
        *form = stem_of[*form as usize].map_or(0, |at| numbers[at]);
    }
    match_equal(&mut response, &mut truth, firsts.len(), &mut found);
    let mut by_form = found.clone();
    by_form.sort_unstable();

    let stems: Vec<&str> = firsts.iter().map(|at| stems.get(*at)).collect();
    match_meanings(&response, &truth, &stems, &mut found);
    found.sort_unstable();
    Aligned { by_form, by_meaning: found }
}

/// Aligns equal words: the last in the response with the last unaligned one in the truth.
fn match_equal(response: &mut Free, truth: &mut Free, kinds: usize, found: &mut Alignment) {
    let mut places = Places::new(truth.iter().map(|(_, word)| *word), kinds);
    let mut free = Free::new();
    for (at, word) in response.drain(..).rev() {
        match places.take(word) {
            Some(place) => found.push((at, truth[place].0)),
            None => free.push((at, word)),
        }
    }
    free.reverse();
    *response = free;
    // The remaining words are the first occurrences of each word, as many as were not taken.
    let mut place = 0;
    truth.retain(|(_, word)| {
        place += 1;
        places.last(*word).is_some_and(|last| place <= last + 1)
    });
}

/// Aligns words whose stems share a meaning: the last in the response with the last unaligned one
/// in the truth.
fn match_meanings(response: &Free, truth: &Free, stems: &[&str], found: &mut Alignment) {
    if response.is_empty() || truth.is_empty() {
        return;
    }
    let wordnet = WordNet::get();
    let mut places = Places::new(truth.iter().map(|(_, word)| *word), stems.len());
    // Pairs of a meaning and a word in the truth that names it.
    let mut named: Vec<(u32, u32)> = Vec::new();
    for (number, stem) in stems.iter().enumerate() {
        let number = count(number);
        if places.last(number).is_some() {
            wordnet.named(stem, &mut |meaning| named.push((meaning, number)));
        }
    }
    named.sort_unstable();
    let mut candidates: Vec<Option<Vec<u32>>> = vec![None; stems.len()];
    for (at, word) in response.iter().rev() {
        let words = candidates[*word as usize].get_or_insert_with(|| {
            let mut words = Vec::new();
            wordnet.meanings(stems[*word as usize], &mut |meaning| {
                let first = named.partition_point(|(other, _)| *other < meaning);
                words.extend(
                    named[first..]
                        .iter()
                        .take_while(|(other, _)| *other == meaning)
                        .map(|(_, word)| *word),
                );
            });
            words
        });
        let last = words.iter().filter_map(|word| Some((places.last(*word)?, *word))).max();
        if let Some((place, word)) = last {
            places.take(word);
            found.push((*at, truth[place].0));
        }
    }
}

/// Returns the score of an alignment.
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

/// Returns the number of chunks, that is, of contiguous stretches aligned in the same order.
pub(super) fn pieces(alignment: &Alignment) -> usize {
    let follows = |two: &&[(usize, usize)]| two[1].0 == two[0].0 + 1 && two[1].1 == two[0].1 + 1;
    if alignment.is_empty() {
        0
    } else {
        alignment.len() - alignment.windows(2).filter(follows).count()
    }
}
