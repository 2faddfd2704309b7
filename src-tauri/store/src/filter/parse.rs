//! **Pure.** Filter parser: characters to words, words to tokens. Never fails; an invalid word
//! yields a filter that matches no run, and a reason.
use super::keys::{
    KEYS, Key, KeyRule, PAUSED, STATES, ValueKind, key_named, nearest, nearest_within, state_named,
};
use super::letters::{
    IN_QUOTES, JOINING, Letter, SIGNS, comparison, number, pattern, regex_len, text_match,
};
use super::steps::{STEP_WORDS, SequenceStep, StepCondition, StepQuestion, TextMatch};
use super::{Ask, Filter, FilterValue, Labels, Token, VerdictCondition, own_values, question};
use crate::snippet::MAX_NEEDLE;
use touchstone_api::{FilterError, StoredResult};

/// Longer filters are invalid.
const MAX_BYTES: usize = 8_192;
/// Filters with more tokens, or more values in one token, are invalid. This limits the size of the
/// SQL query.
const MAX_TOKENS: usize = 64;

/// Filters with more regular expressions and conditions on numbers are invalid. This limits the
/// memory and the time they take.
const MAX_REGEXES: usize = 16;

/// Text between two unquoted spaces.
struct Word<'a> {
    typed: &'a str,
    letters: Vec<Letter>,
    has_quotes: bool,
    /// The question about steps that it is instead, with true when it is negated.
    question: Option<(bool, Result<StepQuestion, FilterError>)>,
}

pub(super) fn parse(typed: &str) -> (Filter, Vec<FilterError>) {
    parse_with(typed, None)
}

/// Parses a filter. With labels, other ones are mistakes.
pub(super) fn parse_with(typed: &str, labels: Option<&Labels>) -> (Filter, Vec<FilterError>) {
    let end = typed.floor_char_boundary(MAX_BYTES);
    let mut tokens = Vec::new();
    let mut misread = Vec::new();
    let all = words(&typed[..end]);
    for (at, word) in all.iter().enumerate() {
        let message = beside_step(word, &all[..at], &all[at + 1..])
            .or_else(|| torn(word, &all[at + 1..]))
            .or_else(|| operator(word, &all));
        if let Some(message) = message {
            misread.push(note(word.typed, message));
            break;
        }
        if tokens.len() == MAX_TOKENS {
            misread.push(note(word.typed, format!("A filter takes at most {MAX_TOKENS} tokens.")));
            break;
        }
        match &word.question {
            Some((negated, Ok(question))) => {
                tokens.push(Token { negated: *negated, ask: Ask::Steps(question.clone()) });
            }
            Some((_, Err(mistake))) => misread.push(mistake.clone()),
            None => {
                let token = token(word, &mut misread);
                let mistake = labels.zip(token.as_ref()).and_then(|(all, one)| all.mistake(one));
                misread.extend(mistake.map(|message| note(word.typed, message)));
                tokens.extend(token);
            }
        }
    }
    if regexes(&tokens) > MAX_REGEXES {
        let message = format!(
            "A filter takes at most {MAX_REGEXES} regular expressions and conditions on numbers."
        );
        misread.push(note(if typed.contains('/') { "/" } else { "result" }, message));
    }
    if end < typed.len() {
        misread.push(note(
            "…",
            format!("The filter is longer than {MAX_BYTES} bytes. Make it shorter."),
        ));
    }
    let invalid = !misread.is_empty();
    (Filter { tokens: if invalid { Vec::new() } else { tokens }, invalid }, misread)
}

/// Number of regular expressions and of conditions on numbers in tokens.
fn regexes(tokens: &[Token]) -> usize {
    let is_regex = |holds: &TextMatch| matches!(holds, TextMatch::Regex(_));
    let in_step = |step: &SequenceStep| {
        let costs = |condition: &&StepCondition| match condition {
            StepCondition::Text(_, holds) => is_regex(holds),
            StepCondition::Number(..) => true,
            StepCondition::Failed(_) | StepCondition::Same => false,
        };
        step.pattern.conditions.iter().filter(costs).count()
    };
    let in_token = |token: &Token| match &token.ask {
        Ask::Steps(question) => question.steps.iter().map(in_step).sum(),
        Ask::Value(_, wanted) => wanted
            .iter()
            .filter(|value| matches!(value, FilterValue::Holds(holds) if is_regex(holds)))
            .count(),
        Ask::Text(_) => 0,
    };
    tokens.iter().map(in_token).sum()
}

/// Returns an error message for `OR`, `AND` or `NOT` in a filter with a key or a step. Beside free
/// text only, it is free text.
fn operator(word: &Word<'_>, all: &[Word<'_>]) -> Option<String> {
    let advice = match word.typed {
        "OR" => "Separate values of a key with commas: model:o1,claude.",
        "AND" => "All conditions are required; leave it out.",
        "NOT" => "Write - before a condition: -model:o1.",
        _ => return None,
    };
    let has_key = |word: &Word<'_>| {
        let (_, letters) = negation(&word.letters);
        word.question.is_some()
            || key_and_value(letters).is_some_and(|keyed| key_named(&keyed.name).is_some())
    };
    let is_meant = all.iter().any(has_key);
    is_meant.then(|| format!("“{}” is no operator. {advice} {IN_QUOTES}", word.typed))
}

/// Returns an error message for a word beside a step that reads like a part of a question.
fn beside_step(word: &Word<'_>, before: &[Word<'_>], rest: &[Word<'_>]) -> Option<String> {
    let joins = JOINING.into_iter().find(|joins| word.typed.eq_ignore_ascii_case(joins))?;
    let is_question = |word: Option<&Word<'_>>| word.is_some_and(|word| word.question.is_some());
    let (before, next) = (before.last(), rest.first());
    let one_of = |word: Option<&Word<'_>>, words: &[&str]| {
        word.is_some_and(|word| words.iter().any(|known| word.typed.eq_ignore_ascii_case(known)))
    };
    let steps = STEP_WORDS.map(|(_, word)| word);
    let advice = match joins {
        "then"
            if is_question(next)
                || (one_of(before, &steps) || is_question(before))
                    && (one_of(next, &steps) || one_of(next, &["no", "next"])) =>
        {
            "Begin with a step in parentheses, like error() then call(sql).".to_owned()
        }
        "no" | "not" | "never" | "without" if is_question(next) => {
            let step = next?.typed.trim_start_matches(['-', '!']);
            format!("Write -{step} for runs without such a step.")
        }
        "and" if is_question(before) && is_question(next) => {
            "Leave out “and”: all conditions must match.".to_owned()
        }
        "or" if is_question(before) && is_question(next) => {
            "Write the tools in one step, like call(sql,query_*): any of them matches.".to_owned()
        }
        "followed" if is_question(before) => {
            "Write “then” between two steps, like call(sql) then answer.".to_owned()
        }
        _ => return None,
    };
    Some(format!("{advice} {IN_QUOTES}"))
}

/// Returns an error message for a condition split by a space (a lone key before a word that starts
/// with a sign) or written with `≤` or `≥`. These are not searched as text, because they were most
/// likely intended as conditions.
fn torn(word: &Word<'_>, rest: &[Word<'_>]) -> Option<String> {
    let (negated, letters) = negation(&word.letters);
    let at = letters.iter().position(|letter| !letter.quoted && matches!(letter.char, '≤' | '≥'));
    let (name, here) = letters.split_at(at.unwrap_or(letters.len()));
    let name: String =
        name.iter().filter(|letter| !letter.quoted).map(|letter| letter.char).collect();
    let is_condition = |rule: &&KeyRule| !word.has_quotes && rule.takes != ValueKind::StepText;
    let rule = key_named(&name).filter(is_condition)?;
    let signs = [':', '<', '>', '=', '≤', '≥'];
    let mut value: String = here.iter().map(|letter| letter.char).collect();
    if value.is_empty() {
        let next = rest.first().filter(|next| {
            next.letters.first().is_some_and(|first| signs.iter().any(|sign| first.is(*sign)))
        })?;
        next.typed.clone_into(&mut value);
    }
    if value.chars().all(|char| signs.contains(&char)) {
        let next = if here.is_empty() { rest.get(1) } else { rest.first() };
        value.push_str(next.map_or("", |next| next.typed));
    }
    let value = value.replace('≤', "<=").replace('≥', ">=");
    let sign = if negated { "-" } else { "" };
    let how = if here.is_empty() {
        "without a space between"
    } else {
        "with signs that every keyboard has"
    };
    Some(format!("Write it {how}: {sign}{}{value}. {IN_QUOTES}", rule.name))
}

fn words(typed: &str) -> Vec<Word<'_>> {
    let mut words = Vec::new();
    let mut rest = typed.trim_start();
    while !rest.is_empty() {
        let at = typed.len() - rest.len();
        let (word, used) = step_question(typed, at).unwrap_or_else(|| word(rest));
        words.push(word);
        rest = rest[used..].trim_start();
    }
    words
}

/// Returns the question about steps that starts at an offset of a filter, and its length in bytes.
fn step_question(all: &str, at: usize) -> Option<(Word<'_>, usize)> {
    let text = &all[at..];
    let bare = text.strip_prefix(['-', '!']);
    let (read, used) = question::question(bare.unwrap_or(text))?;
    let sign = usize::from(bare.is_some());
    let typed = &text[..sign + used];
    let read = read.map_err(|(place, message)| {
        let wrong = &typed[sign + place.start..sign + place.end];
        // What stands elsewhere as well is named with its question.
        let is_first = all.find(wrong) == Some(at + sign + place.start);
        note(if wrong.is_empty() || !is_first { typed } else { wrong }, message)
    });
    let question = Some((bare.is_some(), read));
    Some((Word { typed, letters: Vec::new(), has_quotes: false, question }, sign + used))
}

/// Returns true when a regular expression may begin after these letters: at the start of a value of
/// a key that takes one.
fn takes_regex(letters: &[Letter]) -> bool {
    let (_, letters) = negation(letters);
    let Some(Keyed { name, sign: ':', value }) = key_and_value(letters) else { return false };
    key_named(&name).is_some_and(|rule| rule.takes == ValueKind::StepText)
        && value.last().is_none_or(|last| last.is(','))
}

/// Returns the first word and its length in bytes. An open quote reaches to the end, because the
/// user may still be typing.
fn word(text: &str) -> (Word<'_>, usize) {
    let mut letters = Vec::new();
    let (mut quoted, mut has_quotes, mut regex_end) = (false, false, 0);
    let mut chars = text.char_indices().peekable();
    let mut end = text.len();
    while let Some((at, char)) = chars.next() {
        if at < regex_end {
            if at + 1 < regex_end {
                letters.push(Letter::of_regex(char));
            }
            continue;
        }
        match char {
            '/' if !quoted && takes_regex(&letters) => {
                let follows =
                    |next: &str| next.starts_with(|c: char| c == ',' || c.is_whitespace());
                match regex_len(&text[at..], follows) {
                    Some(len) => regex_end = at + len,
                    None => letters.push(Letter::plain('/')),
                }
            }
            '"' => (quoted, has_quotes) = (!quoted, true),
            '\\' if quoted => {
                let escaped = chars.next_if(|(_, next)| matches!(next, '"' | '\\'));
                letters.push(Letter::quoted(escaped.map_or('\\', |(_, next)| next)));
            }
            _ if char.is_whitespace() && !quoted => {
                end = at;
                break;
            }
            _ => letters.push(Letter { char, quoted, regex: false }),
        }
    }
    (Word { typed: &text[..end], letters, has_quotes, question: None }, end)
}

fn token(word: &Word<'_>, misread: &mut Vec<FilterError>) -> Option<Token> {
    let (negated, letters) = negation(&word.letters);
    if let Some(read) = own_values::answer(letters, MAX_TOKENS) {
        let read = read.map_err(|message| misread.push(note(word.typed, message)));
        return Some(Token { negated, ask: Ask::Value(Key::Answer, read.ok()?) });
    }
    if let Some(Keyed { name, sign, value }) = key_and_value(letters) {
        let text =
            |letters: &[Letter]| letters.iter().map(|letter| letter.char).collect::<String>();
        // `result=5` and `step=3` occur in transcripts.
        let rule = key_named(&name).filter(|rule| {
            let is_steps = rule.key != Key::Steps || name.eq_ignore_ascii_case(rule.name);
            sign == ':' || rule.takes != ValueKind::StepText && is_steps
        });
        if let Some(rule) = rule {
            let read = if sign == ':' || takes_numbers(rule) {
                values(rule, value, word)
            } else {
                let value = text(value).trim_start_matches(['<', '>', '=']).to_owned();
                Err(format!(
                    "“{name}” takes no comparison. Did you mean {name}:{value}? {IN_QUOTES}"
                ))
            };
            return match read {
                Ok(wanted) => Some(Token { negated, ask: Ask::Value(rule.key, wanted) }),
                Err(message) => {
                    misread.push(note(word.typed, message));
                    None
                }
            };
        }
        let value = text(value);
        let is_address = sign == ':' && value.starts_with("//");
        if let Some(meant) = suggest_token(&name, sign, &value).filter(|_| !is_address) {
            let message = format!("Unknown key \"{name}\". Did you mean {meant}? {IN_QUOTES}");
            misread.push(note(word.typed, message));
            return None;
        }
    }
    let text: String = letters.iter().map(|letter| letter.char).collect();
    if text.len() > MAX_NEEDLE {
        let message =
            format!("A text to be found has at most {MAX_NEEDLE} bytes. Make it shorter.");
        misread.push(note(word.typed, message));
        return None;
    }
    (!text.trim().is_empty()).then_some(Token { negated, ask: Ask::Text(text) })
}

/// Strips a leading negation sign. It negates only before a word or a quote; `->`, `!=` and `--`
/// are text.
fn negation(letters: &[Letter]) -> (bool, &[Letter]) {
    match letters {
        [sign, next, ..]
            if (sign.is('-') || sign.is('!'))
                && (next.quoted || next.char.is_alphanumeric() || next.char == '_') =>
        {
            (true, &letters[1..])
        }
        _ => (false, letters),
    }
}

/// Word with a key, split at the first colon or comparison sign. The value keeps a comparison sign
/// and loses a colon.
struct Keyed<'a> {
    name: String,
    sign: char,
    value: &'a [Letter],
}

/// Suggests a token for a word with an unknown key. Returns `None` for a word that is more likely
/// search text.
fn suggest_token(name: &str, sign: char, value: &str) -> Option<String> {
    if let Some(rule) = name.strip_suffix('!').and_then(key_named)
        && sign == '='
    {
        return Some(format!("-{}:{}", rule.name, value.trim_start_matches('=')));
    }
    if sign == ':' {
        return nearest(name, KEYS.iter().map(|rule| rule.name))
            .map(|near| format!("{near}:{value}"));
    }
    // `count<limit` and `code=5` occur in transcripts, so only a name with a single typo before a
    // number is treated as a misspelled key.
    let numeric = KEYS.iter().filter_map(|rule| match rule.takes {
        ValueKind::Number(units) if number(value, units).is_some() => Some(rule.name),
        _ => None,
    });
    nearest_within(name, numeric, 1).map(|near| format!("{near}{value}"))
}

fn takes_numbers(rule: &KeyRule) -> bool {
    matches!(rule.takes, ValueKind::Number(_) | ValueKind::Date | ValueKind::Stored)
}

/// Returns `None` for a word whose start cannot be a key, not even a misspelled one.
fn key_and_value(letters: &[Letter]) -> Option<Keyed<'_>> {
    let at = letters
        .iter()
        .position(|letter| [':', '<', '>', '='].into_iter().any(|sign| letter.is(sign)))?;
    let sign = letters[at].char;
    let plain = |letter: &Letter| !letter.quoted && !matches!(letter.char, '/' | '\\');
    let name: String = letters[..at].iter().map(|letter| letter.char).collect();
    let is_key = at > 0 && letters[..at].iter().all(plain);
    is_key.then(|| Keyed { name, sign, value: &letters[at + usize::from(sign == ':')..] })
}

fn values(rule: &KeyRule, letters: &[Letter], word: &Word<'_>) -> Result<Vec<FilterValue>, String> {
    // Empty values are skipped: the user may be about to type the next one.
    let given = letters.split(|letter| letter.is(',')).filter(|value| !value.is_empty());
    let wanted: Vec<FilterValue> =
        given.take(MAX_TOKENS + 1).map(|value| one_value(rule, value)).collect::<Result<_, _>>()?;
    if wanted.len() > MAX_TOKENS {
        return Err(format!("A key takes at most {MAX_TOKENS} values."));
    }
    let is_own = |value: &FilterValue| matches!(value, FilterValue::Own(..));
    if wanted.iter().any(is_own) && !wanted.iter().all(is_own) {
        return Err("Write the scorer with each number: score:fields<0.5,fuzzy<0.5.".to_owned());
    }
    if wanted.is_empty() {
        let quotes = if word.has_quotes {
            ", with something between the quotes"
        } else {
            ", without a space between"
        };
        return Err(format!("Write a value after “{}:”{quotes}: {}.", rule.name, rule.example));
    }
    Ok(wanted)
}

/// Parses a text value. Fails on a comparison sign.
fn text_value(rule: &KeyRule, letters: &[Letter]) -> Result<FilterValue, String> {
    if letters.first().is_some_and(|first| {
        SIGNS.iter().any(|(sign, _)| sign.len() == 1 && sign.starts_with(first.char))
    }) && !letters[0].quoted
    {
        let name = rule.name;
        let near =
            nearest(name, KEYS.iter().filter(|rule| takes_numbers(rule)).map(|rule| rule.name));
        let value: String = letters.iter().map(|letter| letter.char).collect();
        let advice = near.map_or_else(
            || format!("Write it like {}, or put the value in quotes", rule.example),
            |near| format!("Did you mean {near}:{value}? Else put the value in quotes"),
        );
        return Err(format!("“{name}” takes text, not a comparison. {advice}."));
    }
    Ok(FilterValue::Like(pattern(letters)))
}

fn one_value(rule: &KeyRule, letters: &[Letter]) -> Result<FilterValue, String> {
    let text: String = letters.iter().map(|letter| letter.char).collect();
    let bare = letters.iter().all(|letter| !letter.quoted);
    match rule.takes {
        ValueKind::Text => text_value(rule, letters),
        ValueKind::State => state_named(&text).map(FilterValue::State).ok_or_else(|| {
            let mut all: Vec<&str> = STATES.iter().map(|(_, name)| *name).collect();
            all.push(PAUSED);
            no_word(rule, &text, &all)
        }),
        ValueKind::Word(words) => {
            let word = text.to_ascii_lowercase().replace('-', "_");
            let known = words.iter().find(|known| **known == word);
            known.map(|known| FilterValue::Word(known)).ok_or_else(|| no_word(rule, &text, words))
        }
        ValueKind::Flag => flag(&text).map(FilterValue::Flag).ok_or_else(|| {
            match nearest(&text, ["yes", "no"].into_iter()) {
                Some(near) => format!("Unknown {0} \"{text}\". Did you mean {near}?", rule.name),
                None => format!("Unknown {0} \"{text}\". Write {0}:yes or {0}:no.", rule.name),
            }
        }),
        ValueKind::FlagOrText => flag(&text)
            .filter(|_| bare)
            .map_or_else(|| text_value(rule, letters), |yes| Ok(FilterValue::Flag(yes))),
        ValueKind::Number(units) if rule.key == Key::Score && own_values::names(letters) => {
            own_values::score(letters, units)
        }
        ValueKind::Number(units) => number(&text, units)
            .map(|(by, number)| FilterValue::Number(by, number))
            .ok_or_else(|| format!("“{text}” is not a number. Write it like {}.", rule.example)),
        ValueKind::Date => {
            let (by, text) = comparison(&text);
            let date = date(text).map(|date| FilterValue::Date(by, date));
            date.ok_or_else(|| format!("“{text}” is not a date. Write it like {}.", rule.example))
        }
        ValueKind::Stored => stored(rule, letters),
        ValueKind::StepText => text_match(letters).map(FilterValue::Holds),
        ValueKind::Label => label(rule, letters),
        ValueKind::Fact => own_values::fact(rule.example, letters),
    }
}

/// Parses the name of a label, up to the first unquoted sign, and the condition on its value.
fn label(rule: &KeyRule, letters: &[Letter]) -> Result<FilterValue, String> {
    let at =
        letters.iter().position(|letter| ['=', '<', '>'].into_iter().any(|sign| letter.is(sign)));
    let (name, value) = letters.split_at(at.unwrap_or(letters.len()));
    let name: String = name.iter().map(|letter| letter.char).collect();
    if name.trim().is_empty() {
        return Err(format!("Write the name of a label before its value: {}=high.", rule.example));
    }
    let condition = own_values::condition(value, rule.example)?;
    Ok(FilterValue::Label(name, condition))
}

/// Parses an evaluator name, up to the first unquoted sign, and the condition on its verdict.
fn stored(rule: &KeyRule, letters: &[Letter]) -> Result<FilterValue, String> {
    let at =
        letters.iter().position(|letter| ['=', '<', '>'].into_iter().any(|sign| letter.is(sign)));
    let (name, said) = letters.split_at(at.unwrap_or(letters.len()));
    if name.is_empty() {
        return Err(format!(
            "Write the name of an evaluator before what it said: {}.",
            rule.example
        ));
    }
    let said: String = said.iter().map(|letter| letter.char).collect();
    let word = said.strip_prefix('=').map(str::to_ascii_lowercase);
    let result =
        word.and_then(|word| StoredResult::ALL.into_iter().find(|result| result.word() == word));
    let ask = match result {
        _ if said.is_empty() => VerdictCondition::Anything,
        Some(result) => VerdictCondition::Result(result),
        None => {
            let (by, number) = number(&said, &[]).ok_or_else(|| {
                let words = StoredResult::ALL.map(StoredResult::word);
                let said = said.trim_start_matches(['=', '<', '>']);
                let advice = nearest(said, words.into_iter()).map_or_else(
                    || {
                        format!(
                            "Write one of {} after “=”, or a number: stored:relevance<3.",
                            words.join(", ")
                        )
                    },
                    |near| format!("Did you mean {near}?"),
                );
                format!("Unknown result \"{said}\". {advice}")
            })?;
            VerdictCondition::Number(by, number)
        }
    };
    Ok(FilterValue::Stored(pattern(name), ask))
}

fn no_word(rule: &KeyRule, text: &str, words: &[&str]) -> String {
    let name = rule.name;
    let near = nearest(&text.replace('-', "_"), words.iter().copied());
    let advice = near.map_or_else(
        || format!("Write one of {}.", words.join(", ")),
        |near| format!("Did you mean {near}?"),
    );
    format!("Unknown {name} \"{text}\". {advice}")
}

fn flag(text: &str) -> Option<bool> {
    match text.to_ascii_lowercase().as_str() {
        "yes" => Some(true),
        "no" => Some(false),
        _ => None,
    }
}

/// Returns a year, month or day; `None` for other text.
fn date(text: &str) -> Option<String> {
    let is_in = |part: Option<&str>, digits, from: u32, to: u32| {
        part.is_none_or(|part| {
            let is_number = part.len() == digits && part.bytes().all(|byte| byte.is_ascii_digit());
            is_number && part.parse().is_ok_and(|number: u32| (from..=to).contains(&number))
        })
    };
    let mut parts = text.split('-');
    let is_date = is_in(parts.next(), 4, 0, 9999)
        && is_in(parts.next(), 2, 1, 12)
        && is_in(parts.next(), 2, 1, 31)
        && parts.next().is_none();
    is_date.then(|| text.to_owned())
}

fn note(token: &str, message: String) -> FilterError {
    let cut = token.floor_char_boundary(200);
    FilterError { token: token[..cut].to_owned(), message }
}
