//! **Pure.** Stems of English words: Porter's rules with NLTK's extensions, and a few exceptions
//! instead of a dictionary. The rules are tables; the first rule whose ending matches decides, even
//! if its condition then fails.

/// Words whose stem does not follow the rules.
const EXCEPTIONS: [(&str, &str); 16] = [
    ("sky", "sky"),
    ("skies", "sky"),
    ("dying", "die"),
    ("lying", "lie"),
    ("tying", "tie"),
    ("news", "news"),
    ("innings", "inning"),
    ("inning", "inning"),
    ("outings", "outing"),
    ("outing", "outing"),
    ("cannings", "canning"),
    ("canning", "canning"),
    ("howe", "howe"),
    ("proceed", "proceed"),
    ("exceed", "exceed"),
    ("succeed", "succeed"),
];

/// Returns the stem of a lower-case word.
pub(super) fn stem(word: &str) -> String {
    if let Some((_, stem)) = EXCEPTIONS.iter().find(|(exception, _)| *exception == word) {
        return (*stem).to_owned();
    }
    if word.chars().nth(2).is_none() {
        return word.to_owned();
    }
    let mut word = Word::new(word);
    plurals(&mut word);
    past_and_progressive(&mut word);
    final_y(&mut word);
    double_endings(&mut word);
    long_endings(&mut word);
    last_endings(&mut word);
    final_e_and_l(&mut word);
    word.text
}

/// A word whose end is modified, and which of its letters are consonants.
struct Word {
    text: String,
    /// True for each consonant. Changes at the end do not affect the letters before.
    consonants: Vec<bool>,
}

impl Word {
    fn new(text: &str) -> Self {
        let mut word = Self {
            text: String::with_capacity(text.len() + 1),
            consonants: Vec::with_capacity(text.len() + 1),
        };
        word.push(text);
        word
    }

    fn push(&mut self, end: &str) {
        self.text.push_str(end);
        for letter in end.chars() {
            let consonant = match letter {
                'a' | 'e' | 'i' | 'o' | 'u' => false,
                'y' => !self.consonants.last().is_some_and(|before| *before),
                _ => true,
            };
            self.consonants.push(consonant);
        }
    }

    /// Returns the number of letters.
    fn len(&self) -> usize {
        self.consonants.len()
    }

    fn ends(&self, ending: &str) -> bool {
        self.text.ends_with(ending)
    }

    /// Replaces the ending `ending`, which must be present. Endings are ASCII, so bytes are
    /// letters.
    fn change(&mut self, ending: &str, into: &str) {
        self.text.truncate(self.text.len() - ending.len());
        self.consonants.truncate(self.consonants.len() - ending.len());
        self.push(into);
    }

    /// Returns the number of vowel-consonant sequences, ignoring the last `without` letters.
    fn measure(&self, without: usize) -> usize {
        let kinds = &self.consonants[..self.len().saturating_sub(without)];
        kinds.windows(2).filter(|two| !two[0] && two[1]).count()
    }

    fn has_vowel(&self, without: usize) -> bool {
        self.consonants[..self.len() - without].contains(&false)
    }

    fn last(&self, without: usize) -> Option<char> {
        self.text[..self.text.len() - without].chars().next_back()
    }

    fn is_doubled(&self) -> bool {
        let mut letters = self.text.chars().rev();
        let last = letters.next();
        last.is_some() && last == letters.next() && self.consonants.last() == Some(&true)
    }

    /// Returns true if the word ends in consonant, vowel, consonant (the last not w, x or y), or
    /// consists of a vowel and a consonant. Ignores the last `without` letters.
    fn is_short(&self, without: usize) -> bool {
        match &self.consonants[..self.len() - without] {
            [.., true, false, true] => !matches!(self.last(without), Some('w' | 'x' | 'y')),
            [false, true] => true,
            _ => false,
        }
    }

    /// Applies the first rule whose ending matches, if the measure of the remainder exceeds
    /// `least`.
    fn apply(&mut self, rules: &[(&str, &str)], least: usize) {
        if let Some((ending, into)) = rules.iter().find(|(ending, _)| self.ends(ending))
            && self.measure(ending.len()) > least
        {
            self.change(ending, into);
        }
    }
}

fn plurals(word: &mut Word) {
    if word.ends("ies") && word.len() == 4 {
        word.change("s", "");
        return;
    }
    let rules = [("sses", "ss"), ("ies", "i"), ("ss", "ss"), ("s", "")];
    if let Some((ending, into)) = rules.iter().find(|(ending, _)| word.ends(ending)) {
        word.change(ending, into);
    }
}

fn past_and_progressive(word: &mut Word) {
    if word.ends("ied") {
        word.change(if word.len() == 4 { "d" } else { "ed" }, "");
        return;
    }
    if word.ends("eed") {
        word.apply(&[("eed", "ee")], 0);
        return;
    }
    let Some(ending) =
        ["ed", "ing"].into_iter().find(|ending| word.ends(ending) && word.has_vowel(ending.len()))
    else {
        return;
    };
    word.change(ending, "");
    if ["at", "bl", "iz"].iter().any(|ending| word.ends(ending)) {
        word.push("e");
    } else if word.is_doubled() {
        if !matches!(word.last(0), Some('l' | 's' | 'z')) {
            word.text.pop();
            word.consonants.pop();
        }
    } else if word.measure(0) == 1 && word.is_short(0) {
        word.push("e");
    }
}

fn final_y(word: &mut Word) {
    if word.ends("y") && word.len() > 2 && word.consonants[word.len() - 2] {
        word.change("y", "i");
    }
}

const DOUBLE: [(&str, &str); 20] = [
    ("ational", "ate"),
    ("tional", "tion"),
    ("enci", "ence"),
    ("anci", "ance"),
    ("izer", "ize"),
    ("bli", "ble"),
    ("alli", "al"),
    ("entli", "ent"),
    ("eli", "e"),
    ("ousli", "ous"),
    ("ization", "ize"),
    ("ation", "ate"),
    ("ator", "ate"),
    ("alism", "al"),
    ("iveness", "ive"),
    ("fulness", "ful"),
    ("ousness", "ous"),
    ("aliti", "al"),
    ("iviti", "ive"),
    ("biliti", "ble"),
];

fn double_endings(word: &mut Word) {
    if word.ends("alli") && word.measure(4) > 0 {
        word.change("alli", "al");
        double_endings(word);
    } else if DOUBLE.iter().any(|(ending, _)| word.ends(ending)) {
        word.apply(&DOUBLE, 0);
    } else if word.ends("fulli") {
        word.apply(&[("fulli", "ful")], 0);
    } else if word.ends("logi") && word.measure(3) > 0 {
        word.change("logi", "log");
    }
}

fn long_endings(word: &mut Word) {
    let rules = [
        ("icate", "ic"),
        ("ative", ""),
        ("alize", "al"),
        ("iciti", "ic"),
        ("ical", "ic"),
        ("ful", ""),
        ("ness", ""),
    ];
    word.apply(&rules, 0);
}

const LAST: [&str; 19] = [
    "al", "ance", "ence", "er", "ic", "able", "ible", "ant", "ement", "ment", "ent", "ion", "ou",
    "ism", "ate", "iti", "ous", "ive", "ize",
];

fn last_endings(word: &mut Word) {
    let Some(ending) = LAST.into_iter().find(|ending| word.ends(ending)) else { return };
    let fits = ending != "ion" || matches!(word.last(ending.len()), Some('s' | 't'));
    if fits && word.measure(ending.len()) > 1 {
        word.change(ending, "");
    }
}

fn final_e_and_l(word: &mut Word) {
    if word.ends("e") {
        let measure = word.measure(1);
        if measure > 1 || (measure == 1 && !word.is_short(1)) {
            word.change("e", "");
        }
    }
    if word.ends("ll") && word.measure(1) > 1 {
        word.change("l", "");
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use proptest::prelude::*;

    #[test]
    fn stems_are_those_of_the_rules() {
        let pairs = "caresses caress, ponies poni, ties tie, caress caress, cats cat, feed feed, agreed agre, plastered plaster, \
                     motoring motor, sing sing, conflated conflat, sized size, hopping hop, falling fall, hissing hiss, failing fail, \
                     filing file, happy happi, sky sky, enjoy enjoy, by by, died die, spied spi, relational relat, rational ration, \
                     conformabli conform, radically radic, vietnamization vietnam, apologies apolog, geology geolog, formalize formal, \
                     goodness good, adoption adopt, replacement replac, probate probat, rate rate, cease ceas, controll control, \
                     roll roll, news news, dying die, yyyy yyyi, 1960s 1960, x x, as as, naïveté naïveté, größes größe, ééed ééed";
        for pair in pairs.split(", ") {
            let (word, expected) = pair.split_once(' ').unwrap();
            assert_eq!(stem(word.trim()), expected, "{word}");
        }
    }

    proptest! {
        #[test]
        fn a_stem_is_never_longer_by_more_than_a_letter(word in "\\PC{0,12}|[a-z]{1,9}(ed|ing|s|ational|iveness|alli|ll|ies)") {
            let word = word.to_lowercase();
            prop_assert!(stem(&word).chars().count() <= word.chars().count() + 1);
        }
    }
}
