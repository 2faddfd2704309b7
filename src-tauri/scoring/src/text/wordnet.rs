//! **Pure.** Which words WordNet 3.0 gives a meaning in common. Reads the table that
//! `scripts/wordnet.py` writes and describes. It lies in the program as 1.1 MB and is unpacked when
//! it is first asked: about 5 ms, once, into 2.3 MB.
use std::sync::OnceLock;

const PACKED: &[u8] = include_bytes!("../../data/wordnet.bin");

/// Parts of speech, in the order of the table.
const PARTS: usize = 4;

/// Endings of inflected words, and what they stand for: of nouns, verbs, adjectives and adverbs.
const ENDINGS: [&[(&str, &str)]; PARTS] = [
    &[
        ("s", ""),
        ("ses", "s"),
        ("ves", "f"),
        ("xes", "x"),
        ("zes", "z"),
        ("ches", "ch"),
        ("shes", "sh"),
        ("men", "man"),
        ("ies", "y"),
    ],
    &[
        ("s", ""),
        ("ies", "y"),
        ("es", "e"),
        ("es", ""),
        ("ed", "e"),
        ("ed", ""),
        ("ing", "e"),
        ("ing", ""),
    ],
    &[("er", ""), ("est", ""), ("er", "e"), ("est", "e")],
    &[],
];

/// The unpacked table.
pub(super) struct WordNet {
    /// All words one behind the other, sorted.
    names: String,
    words: Vec<Word>,
    /// Numbers of words, placed by their hash; [`EMPTY`] where there is none.
    slots: Vec<u32>,
    /// The first meaning behind those of each part of speech.
    ends: [u32; PARTS],
}

struct Word {
    /// Where its name ends in `names`; it begins where the one before ends.
    end: u32,
    /// Where the rest of its record lies in [`PACKED`].
    record: u32,
}

const EMPTY: u32 = u32::MAX;

/// The record of a word.
struct Record {
    number: u32,
    /// Parts of speech in which the word alone names a meaning, as bits.
    alone: u8,
    /// Parts of speech in which its bases are listed, as bits.
    irregular: u8,
    count: u32,
    /// At its meanings.
    rest: Reader,
}

impl WordNet {
    /// The table; unpacked by whoever asks first.
    pub(super) fn get() -> &'static Self {
        static TABLE: OnceLock<WordNet> = OnceLock::new();
        TABLE.get_or_init(Self::unpack)
    }

    fn unpack() -> Self {
        let mut from = Reader(0);
        let count = from.whole();
        let ends = std::array::from_fn(|_| from.whole());
        let mut table = Self {
            names: String::with_capacity(count as usize * 11),
            words: Vec::with_capacity(count as usize),
            slots: vec![EMPTY; (count as usize * 4 / 3).next_power_of_two()],
            ends,
        };
        for number in 0..count {
            let start = table.words.last().map_or(0, |word| word.end as usize);
            let before =
                table.words.len().checked_sub(2).map_or(0, |at| table.words[at].end as usize);
            let (same, more) = (usize::from(from.byte()), usize::from(from.byte()));
            table.names.extend_from_within(before..before + same);
            let end = from.0 + more;
            table.names.push_str(std::str::from_utf8(&PACKED[from.0..end]).unwrap_or_default());
            from.0 = end;
            let length = from.number() as usize;
            table.words.push(Word {
                end: super::pair::count(table.names.len()),
                record: super::pair::count(from.0),
            });
            from.0 += length;
            let slot = table.slot(&table.names.as_bytes()[start..]);
            table.slots[slot] = number;
        }
        table
    }

    fn name(&self, number: u32) -> &[u8] {
        let at = number as usize;
        let start = at.checked_sub(1).map_or(0, |before| self.words[before].end as usize);
        &self.names.as_bytes()[start..self.words[at].end as usize]
    }

    /// Where a word is, or where it would be. A part of the places is always empty, so the search
    /// ends.
    fn slot(&self, name: &[u8]) -> usize {
        let hash = name.iter().fold(0x811c_9dc5_u32, |hash, byte| {
            (hash ^ u32::from(*byte)).wrapping_mul(0x0100_0193)
        });
        let mut at = (hash ^ (hash >> 15)) as usize;
        loop {
            at &= self.slots.len() - 1;
            if self.slots[at] == EMPTY || self.name(self.slots[at]) == name {
                return at;
            }
            at += 1;
        }
    }

    fn find(&self, name: &str) -> Option<Record> {
        let number = self.slots[self.slot(name.as_bytes())];
        (number != EMPTY).then(|| self.record(number))
    }

    fn record(&self, number: u32) -> Record {
        let mut rest = Reader(self.words[number as usize].record as usize);
        let head = rest.byte();
        Record { number, alone: head & 0xf, irregular: head >> 4, count: rest.number(), rest }
    }

    /// The meanings that a word can have, also as an inflected form of another. Meanings may come
    /// more than once.
    pub(super) fn meanings(&self, word: &str, each: &mut impl FnMut(u32)) {
        let found = self.find(word);
        let mut irregular: [Option<Vec<u32>>; PARTS] = Default::default();
        if let Some(record) = found {
            let listed = record.irregular;
            let mut at = self.give(record, None, each);
            for (part, bases) in irregular.iter_mut().enumerate() {
                *bases = (listed >> part & 1 == 1)
                    .then(|| (0..at.number()).map(|_| at.number()).collect());
            }
        }
        let mut base = String::new();
        for (part, bases) in irregular.iter().enumerate() {
            if let Some(bases) = bases {
                for base in bases {
                    self.give(self.record(*base), Some(part), each);
                }
                continue;
            }
            for (ending, instead) in ENDINGS[part] {
                if let Some(stem) = word.strip_suffix(ending) {
                    base.clear();
                    base.push_str(stem);
                    base.push_str(instead);
                    if let Some(record) = self.find(&base) {
                        self.give(record, Some(part), each);
                    }
                }
            }
        }
    }

    /// Gives the meanings of a word, all or those of one part of speech. Returns where the rest of
    /// its record is.
    fn give(&self, mut record: Record, part: Option<usize>, each: &mut impl FnMut(u32)) -> Reader {
        let bits = part.map_or(0xf, |part| 1 << part);
        if record.alone & bits != 0 {
            each(self.own(record.number));
        }
        let (first, end) = part.map_or((0, u32::MAX), |part| {
            (part.checked_sub(1).map_or(0, |before| self.ends[before]), self.ends[part])
        });
        let mut meaning = 0;
        for _ in 0..record.count {
            meaning += record.rest.number() / 2;
            if (first..end).contains(&meaning) {
                each(meaning);
            }
        }
        record.rest
    }

    /// The meanings that have this very word among their names, in lower case and by itself.
    pub(super) fn named(&self, word: &str, each: &mut impl FnMut(u32)) {
        let Some(mut record) = self.find(word) else { return };
        if record.alone != 0 {
            each(self.own(record.number));
        }
        let mut meaning = 0;
        for _ in 0..record.count {
            let next = record.rest.number();
            meaning += next / 2;
            if next % 2 == 1 {
                each(meaning);
            }
        }
    }

    /// All meanings that only this word has are as good as one.
    fn own(&self, number: u32) -> u32 {
        self.ends[PARTS - 1] + number
    }
}

/// Reads numbers of the packed table, from a place on.
#[derive(Clone, Copy)]
struct Reader(usize);

impl Reader {
    fn byte(&mut self) -> u8 {
        self.0 += 1;
        PACKED.get(self.0 - 1).copied().unwrap_or(0)
    }

    fn whole(&mut self) -> u32 {
        u32::from_le_bytes([self.byte(), self.byte(), self.byte(), self.byte()])
    }

    /// Seven bits in a byte, the low ones first; the eighth says that more follow.
    fn number(&mut self) -> u32 {
        let (mut number, mut shift) = (0, 0);
        loop {
            let byte = self.byte();
            number |= u32::from(byte & 0x7f) << shift;
            shift += 7;
            if byte < 0x80 || shift > 28 {
                return number;
            }
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use proptest::prelude::*;

    fn agree(word: &str, other: &str) -> bool {
        let (mut of_word, mut of_other) = (Vec::new(), Vec::new());
        WordNet::get().meanings(word, &mut |meaning| of_word.push(meaning));
        WordNet::get().named(other, &mut |meaning| of_other.push(meaning));
        of_word.iter().any(|meaning| of_other.contains(meaning))
    }

    #[test]
    fn the_whole_table_is_unpacked_in_order() {
        let table = WordNet::get();
        assert_eq!(table.words.len(), 91_033);
        assert!((1..91_033).all(|number| table.name(number - 1) < table.name(number)));
        let last = table.record(91_032);
        let mut last_byte = last.rest;
        (0..last.count).for_each(|_| _ = last_byte.number());
        assert_eq!(last_byte.0, PACKED.len(), "nothing is left over behind the last word");
        assert!((0..91_033).step_by(7).all(|number| {
            let name = std::str::from_utf8(table.name(number)).unwrap();
            table.find(name).is_some_and(|record| record.number == number)
        }));
    }

    #[test]
    fn words_agree_when_they_share_a_meaning() {
        for (word, other) in [
            ("car", "auto"),
            ("cars", "automobile"),
            ("oxen", "ox"),
            ("best", "well"),
            ("ran", "run"),
            ("bigger", "large"),
            ("hot_dog", "wiener"),
            ("running", "run"),
            ("wolves", "wolf"),
            ("quickly", "rapidly"),
        ] {
            assert!(agree(word, other), "{word} {other}");
        }
        for (word, other) in [
            ("car", "dog"),
            ("paris", "Paris"),
            ("capital_of_france", "paris"),
            ("auto", "cars"),
            ("wiener", "hot_dog"),
            ("", ""),
            ("s", "es"),
            ("xyzzy", "xyzzy"),
        ] {
            assert!(!agree(word, other), "{word} {other}");
        }
    }

    proptest! {
        #[test]
        fn any_text_may_be_asked_for(word in "\\PC{0,10}(s|ing|est)?") {
            agree(&word, &word);
        }
    }
}
