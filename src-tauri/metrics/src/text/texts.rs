//! **Pure.** Two texts to be compared. Each tokenizer runs at most once, however many metrics are
//! computed.
use super::meteor::{self, Aligned, Alignment, Weights};
use super::pair::{Pair, fraction, is_too_long, shared};
use super::rouge::{self, Overlap};
use super::{Metric, Nltk, bleu, tokens};
use std::cell::OnceCell;

/// A response and the truth it is compared with.
#[derive(Debug)]
pub struct Texts<'a> {
    response: &'a str,
    truth: &'a str,
    nltk: Nltk,
    words: OnceCell<Pair>,
    runs: OnceCell<[usize; bleu::LONGEST]>,
    aligned: OnceCell<Aligned>,
    plain: OnceCell<Pair>,
    plain_runs: OnceCell<[usize; LONGEST_ROUGE]>,
}

const LONGEST_ROUGE: usize = 5;

/// Result of a metric.
#[derive(Debug, Clone, Copy, PartialEq)]
pub struct Measured {
    /// Score; for ROUGE, the harmonic mean.
    pub score: f64,
    /// Parts of ROUGE.
    pub overlap: Option<Overlap>,
    /// False if BLEU found no common word: the original then computes no n-grams and writes a bare
    /// `0`.
    pub comparable: bool,
}

impl<'a> Texts<'a> {
    /// Prepares a comparison; nothing is computed yet.
    pub fn new(response: &'a str, truth: &'a str, nltk: Nltk) -> Self {
        Self {
            response,
            truth,
            nltk,
            words: OnceCell::new(),
            runs: OnceCell::new(),
            aligned: OnceCell::new(),
            plain: OnceCell::new(),
            plain_runs: OnceCell::new(),
        }
    }

    /// Computes a metric, with METEOR's default weights.
    pub fn measure(&self, metric: Metric) -> Measured {
        let overlap = match metric {
            Metric::F1 => return self.f1().into(),
            Metric::Bleu => return self.bleu(),
            Metric::Gleu => return self.gleu().into(),
            Metric::Meteor => return self.meteor(Weights::default()).into(),
            Metric::Rouge1 => self.rouge(0),
            Metric::Rouge2 => self.rouge(1),
            Metric::Rouge3 => self.rouge(2),
            Metric::Rouge4 => self.rouge(3),
            Metric::Rouge5 => self.rouge(4),
            Metric::RougeL => rouge::by_order(self.plain()),
        };
        overlap.into()
    }

    /// Computes ROUGE-N for n-grams of `n` words, up to nine.
    pub fn rouge_by_runs(&self, n: usize) -> Measured {
        const MOST: usize = 9;
        let plain = self.plain();
        let hits = shared::<MOST>(plain);
        rouge::by_runs(plain, n.clamp(1, MOST), hits[n.clamp(1, MOST) - 1]).into()
    }

    /// Computes ROUGE-Lsum, by the longest common subsequences of lines. `None` if the texts are
    /// too long for it.
    pub fn rouge_by_lines(&self) -> Option<Measured> {
        /// Maximum number of cells in all tables together.
        const MOST: usize = 10_000_000;
        let plain = self.plain();
        if plain.response.len().saturating_mul(plain.truth.len()) > MOST {
            return None;
        }
        let lines = |text: &str, mut words: &[u32]| {
            let line = |line: &str| {
                let mut count = 0;
                tokens::rouge(line, &mut |_| count += 1);
                let (one, rest) = words.split_at(count);
                words = rest;
                one.to_vec()
            };
            text.split('\n').map(line).collect::<Vec<_>>()
        };
        let (response, truth) =
            (lines(self.response, &plain.response), lines(self.truth, &plain.truth));
        Some(rouge::by_lines(&response, &truth, plain.kinds()).into())
    }

    /// Returns true if a metric compares word order and the texts are too long for it.
    pub fn is_too_long(&self, metric: Metric) -> bool {
        metric == Metric::RougeL && is_too_long(&self.plain().response, &self.plain().truth)
    }

    fn f1(&self) -> f64 {
        let pair = Pair::cut(self.response, self.truth, |text, words| {
            tokens::f1(text, &mut |word| words.push(word));
        });
        let [common] = shared::<1>(&pair);
        if common == 0 {
            return 0.0;
        }
        let (precision, recall) =
            (fraction(common, pair.response.len()), fraction(common, pair.truth.len()));
        (2.0 * precision * recall) / (precision + recall)
    }

    fn bleu(&self) -> Measured {
        let words = self.words();
        match bleu::bleu(*self.runs(), words.response.len(), words.truth.len()) {
            Some(score) => score.into(),
            None => Measured { score: 0.0, overlap: None, comparable: false },
        }
    }

    fn gleu(&self) -> f64 {
        let words = self.words();
        bleu::gleu(*self.runs(), words.response.len(), words.truth.len())
    }

    /// Computes METEOR with custom weights.
    pub fn meteor(&self, weights: Weights) -> f64 {
        self.meteor_of(self.alignment(), weights)
    }

    /// Computes METEOR without synonyms, by equal words and equal stems only.
    pub fn meteor_without_synonyms(&self, weights: Weights) -> f64 {
        self.meteor_of(&self.aligned().by_form, weights)
    }

    fn meteor_of(&self, alignment: &Alignment, weights: Weights) -> f64 {
        let words = self.words();
        meteor::score(alignment, words.response.len(), words.truth.len(), weights)
    }

    /// Returns the words that METEOR aligns: positions among the words of the response and of the
    /// truth.
    pub fn alignment(&self) -> &Alignment {
        &self.aligned().by_meaning
    }

    /// Returns the words of both texts that BLEU, GLEU and METEOR count.
    pub fn tokens(&self) -> (Vec<&str>, Vec<&str>) {
        let words = self.words();
        let list = |numbers: &[u32]| numbers.iter().map(|number| words.word(*number)).collect();
        (list(&words.response), list(&words.truth))
    }

    fn rouge(&self, n: usize) -> Overlap {
        let plain = self.plain();
        let runs = self.plain_runs.get_or_init(|| shared(plain));
        rouge::by_runs(plain, n + 1, runs[n])
    }

    fn words(&self) -> &Pair {
        self.words.get_or_init(|| {
            Pair::cut(self.response, self.truth, |text, words| {
                tokens::nltk(text, self.nltk, &mut |word| words.push(word));
            })
        })
    }

    fn runs(&self) -> &[usize; bleu::LONGEST] {
        let words = self.words();
        self.runs.get_or_init(|| shared(words))
    }

    fn aligned(&self) -> &Aligned {
        let words = self.words();
        self.aligned.get_or_init(|| meteor::align(words))
    }

    fn plain(&self) -> &Pair {
        self.plain.get_or_init(|| {
            Pair::cut(self.response, self.truth, |text, words| {
                tokens::rouge(text, &mut |word| words.push(word));
            })
        })
    }
}

impl From<Overlap> for Measured {
    fn from(overlap: Overlap) -> Self {
        Self { score: overlap.f1, overlap: Some(overlap), comparable: true }
    }
}

impl From<f64> for Measured {
    fn from(score: f64) -> Self {
        Self { score, overlap: None, comparable: true }
    }
}

/// Computes a single metric. For several metrics of the same texts, use [`Texts`].
pub fn measure(metric: Metric, response: &str, truth: &str, nltk: Nltk) -> Measured {
    Texts::new(response, truth, nltk).measure(metric)
}
