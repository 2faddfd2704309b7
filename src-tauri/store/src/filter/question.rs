//! **Pure.** Parser of questions about the steps of runs. Owns their grammar.
//!
//! ```text
//! question  = step { "then" [ "next" | "no" ] step }  |  step comparison number
//! step      = word "(" [ tools | text ] ")" [ "{" condition { "," condition } "}" ]
//! condition = "failed" | "ok" | "same" | ( "args" | "result" ) "~" text
//!           | "result" [ "." key ] comparison number
//! text      = letters | "quoted letters" | /regular expression/
//! ```
//! After `then` a word needs no parentheses. Whatever is not closed reaches to the end, because the
//! user may still be typing; but a condition with a key in it is a mistake, and a slash without a
//! second one is text.
use super::Comparison;
use super::keys::{key_named, nearest};
use super::letters::{IN_QUOTES, Letter, number, pattern, regex_len, sign_at_start, text_match};
use super::steps::{
    Place, STEP_WORDS, SequenceStep, StepCondition, StepPattern, StepQuestion, StepText, StepWord,
};
use std::ops::Range;

/// Maximum number of steps in a question, and of conditions of a step.
const MAX_STEPS: usize = 16;

/// Maximum number of names of tools of a step.
const MAX_TOOLS: usize = 64;

/// Words of conditions.
const CONDITIONS: [&str; 5] = ["failed", "ok", "same", "args", "result"];

const EMPTY: &str = "Write something there, or nothing at all between the parentheses.";

/// A mistake: the bytes of the question that are wrong, and what to change.
pub(super) type Mistake = (Range<usize>, String);

/// Parses the question that a text starts with. Returns its length as well, and `None` when the
/// text starts with something else.
pub(super) fn question(text: &str) -> Option<(Result<StepQuestion, Mistake>, usize)> {
    let word = text.len() - text.trim_start_matches(|char: char| char.is_ascii_alphabetic()).len();
    if word == 0 || !text[word..].starts_with('(') {
        return None;
    }
    let mut scanner = Scanner { text, at: 0 };
    if word_named(&text[..word]).is_none() {
        // `foo(bar)` is text; only a plural, or a word before conditions, is likely to be a step.
        let typed = &text[..word];
        let near = plural(typed).or_else(|| {
            let end = text[word..].find(')').map(|at| word + at + 1)?;
            let near = || nearest(typed, STEP_WORDS.iter().map(|(_, word)| *word));
            let is_tool = typed.eq_ignore_ascii_case("tool");
            let near = if is_tool { Some("call") } else { near() };
            near.filter(|_| text[end..].starts_with('{'))
        })?;
        let message = format!("Unknown step \"{typed}\". Did you mean {near}()? {IN_QUOTES}");
        scanner.skip_word();
        return Some((Err((0..word, message)), scanner.at));
    }
    let read = scanner.question();
    if read.is_err() {
        scanner.skip_word();
    }
    Some((read, scanner.at))
}

fn word_named(word: &str) -> Option<StepWord> {
    STEP_WORDS.iter().find(|(_, name)| name.eq_ignore_ascii_case(word)).map(|(word, _)| *word)
}

/// Returns the step whose plural a word is.
fn plural(word: &str) -> Option<&'static str> {
    word_named(word.strip_suffix(['s', 'S'])?).map(StepWord::word)
}

/// Returns true when a text that is not closed goes on into another condition.
fn holds_key(text: &str) -> bool {
    text.split_whitespace().skip(1).any(|word| {
        let key = word.split_once(':').map(|(key, _)| key.trim_start_matches(['-', '!']));
        key.is_some_and(|key| key_named(key).is_some())
    })
}

struct Scanner<'a> {
    text: &'a str,
    at: usize,
}

impl<'a> Scanner<'a> {
    fn rest(&self) -> &'a str {
        &self.text[self.at..]
    }

    fn skip_spaces(&mut self) {
        self.at += self.rest().len() - self.rest().trim_start().len();
    }

    fn skip_word(&mut self) {
        self.at += self.rest().find(char::is_whitespace).unwrap_or(self.rest().len());
    }

    /// Takes a word of letters.
    fn letters(&mut self) -> &'a str {
        let rest = self.rest();
        let len = rest.len()
            - rest.trim_start_matches(|char: char| char.is_alphanumeric() || char == '_').len();
        self.at += len;
        &rest[..len]
    }

    fn take(&mut self, sign: char) -> bool {
        let found = self.rest().starts_with(sign);
        self.at += if found { sign.len_utf8() } else { 0 };
        found
    }

    /// Takes this word, if a space or the end follows.
    fn take_word(&mut self, word: &str) -> bool {
        let before = self.at;
        let found = self.letters().eq_ignore_ascii_case(word)
            && self.rest().chars().next().is_none_or(char::is_whitespace);
        if !found {
            self.at = before;
        }
        found
    }

    fn question(&mut self) -> Result<StepQuestion, Mistake> {
        let mut steps: Vec<SequenceStep> = Vec::new();
        let mut place = Place::Later;
        loop {
            let start = self.at;
            let pattern = self.step()?;
            check(&steps, place, &pattern).map_err(|message| (start..self.at, message))?;
            steps.push(SequenceStep { place, pattern });
            if steps.len() > MAX_STEPS {
                let message = format!("A question takes at most {MAX_STEPS} steps.");
                return Err((start..self.at, message));
            }
            if let Some(count) = self.count(&steps)? {
                let end = self.at;
                self.skip_spaces();
                let then = self.at;
                if self.take_word("then") {
                    let message = format!(
                        "Only a single step can be counted. Write the rest as a condition of its \
                         own: call(sql){{failed}}>=3 -answer(). {IN_QUOTES}"
                    );
                    return Err((then..self.at, message));
                }
                self.at = end;
                return Ok(StepQuestion { steps, count: Some(count) });
            }
            let end = self.at;
            self.skip_spaces();
            let then = self.at;
            if !self.take_word("then") {
                self.at = end;
                return Ok(StepQuestion { steps, count: None });
            }
            self.skip_spaces();
            place = if self.take_word("next") {
                Place::Next
            } else if self.take_word("no") {
                Place::Never
            } else {
                Place::Later
            };
            self.skip_spaces();
            if self.rest().is_empty() {
                let message = "Write a step after it, like call(sql) or no answer. To search for \
                               the text, put it in quotes.";
                return Err((then..self.text.trim_end().len(), message.to_owned()));
            }
        }
    }

    /// Reads how many steps are asked for.
    fn count(&mut self, steps: &[SequenceStep]) -> Result<Option<(Comparison, f64)>, Mistake> {
        let start = self.at;
        let space = self.rest().trim_start();
        let digits = space.trim_start_matches(['<', '>', '=']);
        let is_count =
            sign_at_start(space) && digits.starts_with(|digit: char| digit.is_ascii_digit());
        let takes_braces = steps.last().is_some_and(|last| last.pattern.word.takes_conditions());
        if takes_braces && space.starts_with('{') {
            self.skip_spaces();
            let brace = self.at;
            self.skip_word();
            let message = format!("Write the conditions without a space before “{{”. {IN_QUOTES}");
            return Err((brace..self.at, message));
        }
        if is_count && space.len() < self.rest().len() {
            self.skip_spaces();
            self.skip_word();
            return Err((start..self.at, "Write the number without a space before it.".to_owned()));
        }
        if !sign_at_start(self.rest()) {
            if self.rest().chars().next().is_some_and(|next| !next.is_whitespace()) {
                self.skip_word();
                let message = "Write a space after the step. To search for the text, put it in \
                               quotes.";
                return Err((start..self.at, message.to_owned()));
            }
            return Ok(None);
        }
        self.skip_word();
        let place = start..self.at;
        let typed = &self.text[place.clone()];
        let Some(count) = number(typed, &[]) else {
            let message = format!("“{typed}” is not a number. Write it like call(sql)>=3.");
            return Err((place, message));
        };
        let message = match steps {
            [SequenceStep { pattern: StepPattern { word: StepWord::Answer, .. }, .. }] => {
                "A run has one answer at most. Write answer() or -answer()."
            }
            [_] => return Ok(Some(count)),
            _ => "Only a single step can be counted. Write the count as a condition of its own.",
        };
        Err((place, message.to_owned()))
    }

    fn step(&mut self) -> Result<StepPattern, Mistake> {
        let start = self.at;
        let typed = self.letters();
        let Some(word) = word_named(typed) else {
            self.skip_word();
            let shown = &self.text[start..self.at];
            let words: Vec<&str> = STEP_WORDS.iter().map(|(_, word)| *word).collect();
            let negates = ["not", "never", "without"].iter();
            let advice = if shown.starts_with(['-', '!'])
                || negates.into_iter().any(|word| typed.eq_ignore_ascii_case(word))
            {
                "Write “then no answer” for what must not follow.".to_owned()
            } else if let Some(near) = nearest(typed, words.iter().copied()) {
                format!("Did you mean {near}?")
            } else {
                format!("Write one of {}. {IN_QUOTES}", words.join(", "))
            };
            return Err((start..self.at, format!("Unknown step \"{shown}\". {advice}")));
        };
        let mut step = StepPattern { word, tools: Vec::new(), conditions: Vec::new() };
        if self.take('(') {
            let inside = self.at;
            let letters = self.until(&[')'], word.takes_text());
            let place = inside..self.at;
            let typed = &self.text[place.clone()];
            if !self.take(')') && word.takes_text() && holds_key(typed) {
                let message = "Close the step with “)”, or put the text in quotes.";
                return Err((place, message.to_owned()));
            }
            if letters.is_empty() && !typed.trim().is_empty() {
                return Err((place, EMPTY.to_owned()));
            }
            fill(&mut step, &letters).map_err(|message| (place, message))?;
        }
        if self.rest().starts_with('{') {
            if !word.takes_conditions() {
                let place = self.at..self.at + 1;
                let message = format!(
                    "Only call() and program() take conditions. Write {}(text) for its text.",
                    word.word()
                );
                return Err((place, message));
            }
            let inside = self.at + 1;
            self.take('{');
            self.conditions(&mut step)?;
            let typed = &self.text[inside..self.at];
            if !typed.ends_with('}') && holds_key(typed) {
                let message = "Close the conditions with “}”, or put the text in quotes.";
                return Err((inside..self.at, message.to_owned()));
            }
        }
        Ok(step)
    }

    /// Takes letters up to one of these signs. With `nested`, parentheses that open inside also
    /// close inside. A slash at the start begins a regular expression.
    fn until(&mut self, ends: &[char], nested: bool) -> Vec<Letter> {
        let mut letters = Vec::new();
        let (mut quoted, mut depth) = (false, 0_usize);
        self.skip_spaces();
        let follows = |next: &str| next.trim_start().starts_with(ends);
        if let Some(len) = regex_len(self.rest(), follows) {
            let inside = &self.rest()[1..len - 1];
            letters.extend(inside.chars().map(Letter::of_regex));
            self.at += len;
        }
        while let Some(char) = self.rest().chars().next() {
            if !quoted && depth == 0 && ends.contains(&char) {
                break;
            }
            self.at += char.len_utf8();
            match char {
                '"' => quoted = !quoted,
                '\\' if quoted => {
                    let next = self.rest().chars().next();
                    let escaped = next.filter(|next| matches!(next, '"' | '\\'));
                    self.at += escaped.map_or(0, char::len_utf8);
                    letters.push(Letter::quoted(escaped.unwrap_or('\\')));
                }
                _ if quoted => letters.push(Letter::quoted(char)),
                _ => {
                    depth = match char {
                        '(' if nested => depth + 1,
                        ')' if nested => depth.saturating_sub(1),
                        _ => depth,
                    };
                    letters.push(Letter::plain(char));
                }
            }
        }
        letters
    }

    fn conditions(&mut self, step: &mut StepPattern) -> Result<(), Mistake> {
        loop {
            self.skip_spaces();
            if self.take(',') {
                continue;
            }
            if self.take('}') || self.rest().is_empty() {
                return Ok(());
            }
            let start = self.at;
            let condition = self.condition().map_err(|(place, message)| {
                let place = if place.is_empty() { start..self.at } else { place };
                (place, message)
            })?;
            step.conditions.push(condition);
            if step.conditions.len() > MAX_STEPS {
                let message = format!("A step takes at most {MAX_STEPS} conditions.");
                return Err((start..self.at, message));
            }
        }
    }

    fn condition(&mut self) -> Result<StepCondition, Mistake> {
        let start = self.at;
        let name = self.letters().to_ascii_lowercase();
        let key = self.take('.').then(|| self.until(&['~', '<', '>', '=', ',', '}'], false));
        let key = key.map(|key| trimmed(&key).iter().map(|letter| letter.char).collect::<String>());
        let end = self.at;
        self.skip_spaces();
        let whole = |at: usize| start..at;
        let text = match name.as_str() {
            "args" => Some(StepText::Own),
            "result" => Some(StepText::Result),
            _ => None,
        };
        if let Some(text) = text
            && key.is_none()
            && self.take('~')
        {
            let letters = self.until(&[',', '}'], false);
            let letters = trimmed(&letters);
            if letters.is_empty() {
                let message = format!("Write a text after it, like {name}~\"no such column\".");
                return Err((whole(self.at), message));
            }
            return text_match(letters)
                .map(|found| StepCondition::Text(text, found))
                .map_err(|message| (whole(self.at), message));
        }
        if name == "result" && sign_at_start(self.rest()) && key.as_deref() != Some("") {
            let from = self.at;
            self.until(&[',', '}'], false);
            let typed = self.text[from..self.at].trim();
            let Some((by, number)) = signed_number(typed) else {
                let message = format!(
                    "“{}” is not a number. Write it like result>100, or result~text for a text.",
                    typed.trim_start_matches(['<', '>', '='])
                );
                return Err((whole(self.at), message));
            };
            return Ok(StepCondition::Number(key, by, number));
        }
        let follows = self.rest().chars().next().is_none_or(|next| matches!(next, ',' | '}'));
        match name.as_str() {
            "failed" if follows && key.is_none() => return Ok(StepCondition::Failed(true)),
            "ok" if follows && key.is_none() => return Ok(StepCondition::Failed(false)),
            "same" if follows && key.is_none() => return Ok(StepCondition::Same),
            _ => {}
        }
        self.until(&[',', '}'], false);
        let typed = self.text[start..self.at].trim_end();
        let message = match name.as_str() {
            "args" => {
                "Write args~text, args~\"some text\" or args~/regular expression/.".to_owned()
            }
            "result" => {
                "Write result~text, result>100, or result.count>100 for the number under a key."
                    .to_owned()
            }
            "failed" | "ok" | "same" => {
                format!("Write {name} alone, and a comma before the next condition.")
            }
            _ => {
                let near = nearest(&name, CONDITIONS.into_iter());
                let advice = near.map_or_else(
                    || "Write failed, ok, same, args~text, result~text or result>100.".to_owned(),
                    |near| format!("Did you mean {near}?"),
                );
                format!("Unknown condition \"{typed}\". {advice}")
            }
        };
        Err((start..(start + typed.len()).max(end), message))
    }
}

/// Applies what stands in the parentheses of a step.
fn fill(step: &mut StepPattern, letters: &[Letter]) -> Result<(), String> {
    let letters = trimmed(letters);
    if letters.is_empty() {
        return Ok(());
    }
    if step.word.takes_text() {
        let text = text_match(letters)?;
        step.conditions.push(StepCondition::Text(StepText::Own, text));
        return Ok(());
    }
    if step.word != StepWord::Call {
        return Err(format!("Write {}() with nothing in between.", step.word.word()));
    }
    let names = letters.split(|letter| letter.is(',')).map(trimmed);
    for name in names.filter(|name| !name.is_empty()) {
        if step.tools.len() == MAX_TOOLS {
            return Err(format!("A step takes at most {MAX_TOOLS} names of tools."));
        }
        if name.iter().any(|letter| letter.regex) {
            return Err("Names of tools take no regular expression. Write * for any letters: \
                        call(query_*)."
                .to_owned());
        }
        if name.iter().any(|letter| !letter.quoted && letter.char.is_whitespace()) {
            return Err("A name of a tool has no spaces. Close the step with “)”, or put the \
                        name in quotes."
                .to_owned());
        }
        step.tools.push(pattern(name));
    }
    if step.tools.is_empty() { Err(EMPTY.to_owned()) } else { Ok(()) }
}

/// Refuses a step that cannot follow those before it.
fn check(before: &[SequenceStep], place: Place, step: &StepPattern) -> Result<(), String> {
    let message = match before.last() {
        Some(last) if last.pattern.word == StepWord::Answer => {
            "The answer is the end of a run: nothing comes after it. Leave out what follows."
        }
        Some(last) if place == Place::Next && last.place == Place::Never => {
            "Write “then” alone after a step that must not happen."
        }
        Some(_) if place == Place::Next && step.word == StepWord::Answer => {
            "Write “then answer” or “then no answer”."
        }
        _ if !step.conditions.contains(&StepCondition::Same) => return Ok(()),
        _ => {
            let last = before.iter().rfind(|step| step.place != Place::Never);
            if last.is_some_and(|last| last.pattern.word == step.word) {
                return Ok(());
            }
            "“same” compares a call with the call just before it in the question: call(sql) then \
             call(sql){same}."
        }
    };
    Err(message.to_owned())
}

fn signed_number(typed: &str) -> Option<(Comparison, f64)> {
    let digits = typed.trim_start_matches(['<', '>', '=']);
    let sign = &typed[..typed.len() - digits.len()];
    let (by, _) = number(&format!("{sign}0"), &[])?;
    let number: f64 = digits.trim().parse().ok()?;
    number.is_finite().then_some((by, number + 0.0))
}

fn trimmed(letters: &[Letter]) -> &[Letter] {
    let space = |letter: &Letter| !letter.quoted && !letter.regex && letter.char.is_whitespace();
    let start = letters.iter().position(|letter| !space(letter)).unwrap_or(letters.len());
    let end = letters.iter().rposition(|letter| !space(letter)).map_or(start, |at| at + 1);
    &letters[start..end]
}
