//! **Pure.** Attack strategies by their names in azure-ai-evaluation, and how they are composed.
use crate::converters;
use std::collections::BTreeMap;
use touchstone_formats::suite::AttackTalk;

/// How an objective is disguised.
#[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Hash)]
pub enum Strategy {
    /// The objective as it is.
    Baseline,
    /// Invisible tags of Unicode.
    AsciiSmuggler,
    /// Mirrored alphabet.
    Atbash,
    /// Base64.
    Base64,
    /// Binary numbers.
    Binary,
    /// Alphabet shifted by one.
    Caesar,
    /// Spaces between the letters, without punctuation.
    CharacterSpace,
    /// Swapped letters.
    CharSwap,
    /// Accents on vowels.
    Diacritic,
    /// Reversed.
    Flip,
    /// A text of the user in front.
    Jailbreak,
    /// Digits and signs for letters.
    Leetspeak,
    /// Morse code.
    Morse,
    /// Alphabet shifted by thirteen.
    Rot13,
    /// Hyphens between the letters.
    StringJoin,
    /// A text of the user behind.
    SuffixAppend,
    /// Letters that look alike.
    UnicodeConfusable,
    /// Invisible characters.
    UnicodeSubstitution,
    /// Percent encoding.
    Url,
    /// Past tense, worded by a model.
    Tense,
    /// The objective over several turns, led by a model.
    MultiTurn,
    /// A talk that leads to the objective, led by a model.
    Crescendo,
    /// Escape codes of terminals. Only in results of other programs.
    AnsiAttack,
    /// Letters drawn with signs. Only in results of other programs.
    AsciiArt,
}

/// How hard a strategy is to carry out, in the groups of azure-ai-evaluation.
#[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Hash)]
pub enum Complexity {
    /// Nothing is disguised.
    Baseline,
    /// One encoding.
    Easy,
    /// Another wording.
    Moderate,
    /// Two strategies after one another.
    Difficult,
}

impl Complexity {
    /// All complexities, the easiest first.
    pub const ALL: [Complexity; 4] =
        [Complexity::Baseline, Complexity::Easy, Complexity::Moderate, Complexity::Difficult];

    /// Returns the name.
    pub fn name(self) -> &'static str {
        match self {
            Complexity::Baseline => "baseline",
            Complexity::Easy => "easy",
            Complexity::Moderate => "moderate",
            Complexity::Difficult => "difficult",
        }
    }
}

/// Texts for strategies that need one: of the user, or of a model.
#[derive(Debug, Clone, Default, PartialEq, Eq)]
pub struct Slots {
    /// Text in front of the objective.
    pub prefix: Option<String>,
    /// Text behind the objective.
    pub suffix: Option<String>,
    /// Texts in the past tense, as a model worded them, by the text; `None` where it did not.
    pub past_tense: BTreeMap<String, Option<String>>,
}

impl Strategy {
    /// All strategies, in the order of lists.
    pub const ALL: [Strategy; 22] = [
        Strategy::Baseline,
        Strategy::AsciiSmuggler,
        Strategy::Atbash,
        Strategy::Base64,
        Strategy::Binary,
        Strategy::Caesar,
        Strategy::CharacterSpace,
        Strategy::CharSwap,
        Strategy::Diacritic,
        Strategy::Flip,
        Strategy::Jailbreak,
        Strategy::Leetspeak,
        Strategy::Morse,
        Strategy::Rot13,
        Strategy::StringJoin,
        Strategy::SuffixAppend,
        Strategy::UnicodeConfusable,
        Strategy::UnicodeSubstitution,
        Strategy::Url,
        Strategy::Tense,
        Strategy::MultiTurn,
        Strategy::Crescendo,
    ];

    /// Returns the name.
    pub fn name(self) -> &'static str {
        match self {
            Strategy::Baseline => "baseline",
            Strategy::AsciiSmuggler => "ascii_smuggler",
            Strategy::Atbash => "atbash",
            Strategy::Base64 => "base64",
            Strategy::Binary => "binary",
            Strategy::Caesar => "caesar",
            Strategy::CharacterSpace => "character_space",
            Strategy::CharSwap => "char_swap",
            Strategy::Diacritic => "diacritic",
            Strategy::Flip => "flip",
            Strategy::Jailbreak => "jailbreak",
            Strategy::Leetspeak => "leetspeak",
            Strategy::Morse => "morse",
            Strategy::Rot13 => "rot13",
            Strategy::StringJoin => "string_join",
            Strategy::SuffixAppend => "suffix_append",
            Strategy::UnicodeConfusable => "unicode_confusable",
            Strategy::UnicodeSubstitution => "unicode_substitution",
            Strategy::Url => "url",
            Strategy::Tense => "tense",
            Strategy::AnsiAttack => "ansi_attack",
            Strategy::AsciiArt => "ascii_art",
            Strategy::MultiTurn => "multi_turn",
            Strategy::Crescendo => "crescendo",
        }
    }

    /// Returns a description of at most one line.
    pub fn about(self) -> &'static str {
        match self {
            Strategy::Baseline => "the objective as it is; always included",
            Strategy::AsciiSmuggler => "printable ASCII as invisible tags of Unicode",
            Strategy::Atbash => "a for z, b for y, 0 for 9",
            Strategy::Base64 => "Base64",
            Strategy::Binary => "the number of each character, with 16 binary digits",
            Strategy::Caesar => "each letter and digit moved by one",
            Strategy::CharacterSpace => "a space between all characters, punctuation dropped",
            Strategy::CharSwap => "two neighbouring letters swapped in one of five words",
            Strategy::Diacritic => "an accent on each vowel",
            Strategy::Flip => "backwards",
            Strategy::Jailbreak => "a text of yours in front (--prefix)",
            Strategy::Leetspeak => "digits and signs for letters",
            Strategy::Morse => "Morse code",
            Strategy::Rot13 => "each letter moved by 13",
            Strategy::StringJoin => "a hyphen between all characters",
            Strategy::SuffixAppend => "a text of yours behind (--suffix)",
            Strategy::UnicodeConfusable => "Cyrillic letters that look alike",
            Strategy::UnicodeSubstitution => "each character as an invisible one",
            Strategy::Url => "percent encoding",
            Strategy::Tense => "the past tense, worded by a model (--attacker-model)",
            Strategy::AnsiAttack => "escape codes of terminals",
            Strategy::AsciiArt => "letters drawn with signs",
            Strategy::MultiTurn => "a model asks for it up to 5 times (--attacker-model)",
            Strategy::Crescendo => "a model leads up to it in up to 10 turns (--attacker-model)",
        }
    }

    /// Returns the strategy with this name. Case, hyphens and underscores do not matter, so that
    /// `CharacterSpace` is one.
    fn from_name(name: &str) -> Option<Self> {
        let name = plain(name);
        Self::ALL.into_iter().find(|strategy| plain(strategy.name()) == name)
    }

    /// Like [`Self::from_name`], with the strategies that occur in results of other programs only.
    fn from_recorded(name: &str) -> Option<Self> {
        let name = plain(name);
        RECORDED
            .into_iter()
            .find(|strategy| plain(strategy.name()) == name)
            .or_else(|| Self::from_name(&name))
    }

    /// Returns the group that the strategy alone is counted in.
    fn complexity(self) -> Complexity {
        match self {
            Strategy::Baseline => Complexity::Baseline,
            Strategy::Tense => Complexity::Moderate,
            Strategy::MultiTurn | Strategy::Crescendo => Complexity::Difficult,
            _ => Complexity::Easy,
        }
    }

    /// Returns the disguised text; `None` when a text of the user or of a model is missing.
    fn convert(self, text: &str, slots: &Slots) -> Option<String> {
        Some(match self {
            // The model that leads the conversation gets the objective as it is.
            Strategy::Baseline | Strategy::MultiTurn | Strategy::Crescendo => text.to_owned(),
            Strategy::AsciiSmuggler => converters::ascii_smuggler(text),
            Strategy::Atbash => converters::atbash(text),
            Strategy::Base64 => converters::base64(text),
            Strategy::Binary => converters::binary(text),
            Strategy::Caesar => converters::caesar(text),
            Strategy::CharacterSpace => converters::character_space(text),
            Strategy::CharSwap => converters::char_swap(text),
            Strategy::Diacritic => converters::diacritic(text),
            Strategy::Flip => converters::flip(text),
            Strategy::Jailbreak => format!("{} {text}", slots.prefix.as_deref()?),
            Strategy::Leetspeak => converters::leetspeak(text),
            Strategy::Morse => converters::morse(text),
            Strategy::Rot13 => converters::rot13(text),
            Strategy::StringJoin => converters::string_join(text),
            Strategy::SuffixAppend => format!("{text} {}", slots.suffix.as_deref()?),
            Strategy::UnicodeConfusable => converters::unicode_confusable(text),
            Strategy::UnicodeSubstitution => converters::unicode_substitution(text),
            Strategy::Url => converters::url(text),
            Strategy::Tense => slots.past_tense.get(text)?.clone()?,
            Strategy::AnsiAttack | Strategy::AsciiArt => return None,
        })
    }
}

/// One or two strategies, carried out after one another.
#[derive(Debug, Clone, PartialEq, Eq, PartialOrd, Ord, Hash)]
pub struct Attack(Vec<Strategy>);

impl Attack {
    /// The objective as it is.
    pub fn baseline() -> Self {
        Self(vec![Strategy::Baseline])
    }

    /// Returns the strategies, first one first.
    pub fn strategies(&self) -> &[Strategy] {
        &self.0
    }

    /// Returns the name: those of the strategies with `+` between them.
    pub fn name(&self) -> String {
        self.0.iter().map(|strategy| strategy.name()).collect::<Vec<_>>().join("+")
    }

    /// Parses a name such as `base64` or `leetspeak+base64`. The error is a sentence.
    pub fn from_name(name: &str) -> Result<Self, String> {
        let parts: Vec<&str> = name.split('+').map(str::trim).collect();
        if parts.len() > 2 {
            return Err(format!("`{name}` has more than two strategies. Compose two at most."));
        }
        let strategies: Result<Vec<Strategy>, String> =
            parts.iter().map(|part| strategy_named(part)).collect();
        let strategies = strategies?;
        if strategies.len() > 1 && strategies.contains(&Strategy::Baseline) {
            return Err(format!("`{name}` composes the baseline, which changes nothing."));
        }
        if strategies.len() > 1 && strategies.iter().any(|one| talk(*one).is_some()) {
            return Err(format!("`{name}` composes a conversation, which stands alone."));
        }
        if strategies.iter().skip(1).any(|one| *one == Strategy::Tense) {
            return Err(format!("`{name}` disguises before the wording. Write `tense` first."));
        }
        Ok(Self(strategies))
    }

    /// Returns how a model leads the conversation; `None` for an attack of one message.
    pub fn talk(&self) -> Option<AttackTalk> {
        self.0.iter().find_map(|strategy| talk(*strategy))
    }

    /// Returns true if a model words the objective anew.
    pub fn rewords(&self) -> bool {
        self.0.contains(&Strategy::Tense)
    }

    /// Parses the name of an attack in results, also of another program, which has an underscore
    /// between two strategies: `tense_base64`.
    pub fn from_recorded(name: &str) -> Option<Self> {
        if let Some(strategy) = Strategy::from_recorded(name) {
            return Some(Self(vec![strategy]));
        }
        let pair = |(first, second): (&str, &str)| {
            let pair = [Strategy::from_recorded(first)?, Strategy::from_recorded(second)?];
            (!pair.contains(&Strategy::Baseline)).then(|| Self(pair.to_vec()))
        };
        let places = name.match_indices(['+', '_']);
        places.map(|(at, _)| (&name[..at], &name[at + 1..])).find_map(pair)
    }

    /// Returns the group that the attack is counted in.
    pub fn complexity(&self) -> Complexity {
        match self.0.as_slice() {
            [strategy] => strategy.complexity(),
            _ => Complexity::Difficult,
        }
    }

    /// Returns a sentence for an attack that lacks a text of the user.
    pub fn describe_missing_text(&self) -> String {
        if self.rewords() {
            return format!(
                "`{}` is worded by a model: write suites with `touchstone redteam suites \
                 --attacker-model MODEL`.",
                self.name()
            );
        }
        format!(
            "`{}` needs a text of yours: `--prefix` for jailbreak, `--suffix` for suffix_append.",
            self.name()
        )
    }

    /// Returns the disguised objective; `None` when a text of the user is missing.
    pub fn convert(&self, objective: &str, slots: &Slots) -> Option<String> {
        self.0
            .iter()
            .try_fold(objective.to_owned(), |text, strategy| strategy.convert(&text, slots))
    }
}

/// Strategies that occur in results of other programs only.
const RECORDED: [Strategy; 2] = [Strategy::AnsiAttack, Strategy::AsciiArt];

/// Names that azure-ai-evaluation has and this product does not, with the reason.
const ABSENT: [(&str, &str); 2] = [
    ("ansi_attack", "replaces the objective by one of many fixed texts, drawn at random"),
    ("ascii_art", "draws each text in one of hundreds of fonts at random"),
];

/// Returns how a model leads the conversation of a strategy.
fn talk(strategy: Strategy) -> Option<AttackTalk> {
    match strategy {
        Strategy::MultiTurn => Some(AttackTalk::MultiTurn),
        Strategy::Crescendo => Some(AttackTalk::Crescendo),
        _ => None,
    }
}

/// Returns a name in lower case, without hyphens and underscores.
fn plain(name: &str) -> String {
    name.to_ascii_lowercase().replace(['-', '_'], "")
}

fn strategy_named(name: &str) -> Result<Strategy, String> {
    if let Some(strategy) = Strategy::from_name(name) {
        return Ok(strategy);
    }
    if let Some((_, why)) = ABSENT.iter().find(|(absent, _)| plain(absent) == plain(name)) {
        return Err(format!("The strategy `{name}` is not available: it {why}."));
    }
    let names: Vec<&str> = Strategy::ALL.iter().map(|strategy| strategy.name()).collect();
    Err(format!("There is no strategy `{name}`. Choose among: easy, {}.", names.join(", ")))
}

/// Parses names of attacks, each once, with the baseline first. `easy` stands for `base64`, `flip`
/// and `morse`, `moderate` for `tense`, `difficult` for `tense+base64`. The error is a sentence.
pub fn parse_attacks<'a>(names: impl Iterator<Item = &'a str>) -> Result<Vec<Attack>, String> {
    let mut attacks = vec![Attack::baseline()];
    let mut add = |attack: Attack| {
        if !attacks.contains(&attack) {
            attacks.push(attack);
        }
    };
    for name in names.map(str::trim).filter(|name| !name.is_empty()) {
        match name {
            "easy" => {
                for strategy in [Strategy::Base64, Strategy::Flip, Strategy::Morse] {
                    add(Attack(vec![strategy]));
                }
            }
            "moderate" => add(Attack(vec![Strategy::Tense])),
            "difficult" => add(Attack(vec![Strategy::Tense, Strategy::Base64])),
            _ => add(Attack::from_name(name)?),
        }
    }
    Ok(attacks)
}
