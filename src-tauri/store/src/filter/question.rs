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
//! user may still be typing.
use super::Comparison;
use super::keys::nearest;
use super::letters::{Letter, number, pattern, sign_at_start, text_match};
use super::steps::{
    Place, STEP_WORDS, SequenceStep, StepCondition, StepPattern, StepQuestion, StepText, StepWord,
};
use std::ops::Range;

/// Maximum number of steps in a question, and of conditions of a step.
const MAX_STEPS: usize = 16;

/// Words of conditions.
const CONDITIONS: [&str; 5] = ["failed", "ok", "same", "args", "result"];

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
        // `foo(bar)` is text; only a misspelt word before conditions is likely to be a step.
        let near = nearest(&text[..word], STEP_WORDS.iter().map(|(_, word)| *word))?;
        let end = text[word..].find(')').map(|at| word + at + 1)?;
        if !text[end..].starts_with('{') {
            return None;
        }
        let message = format!("Unknown step \"{}\". Did you mean {near}()?", &text[..word]);
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
            let advice = nearest(typed, words.iter().copied()).map_or_else(
                || format!("Write one of {}.", words.join(", ")),
                |near| format!("Did you mean {near}?"),
            );
            return Err((start..self.at, format!("Unknown step \"{shown}\". {advice}")));
        };
        let mut step = StepPattern { word, tools: Vec::new(), conditions: Vec::new() };
        if self.take('(') {
            let inside = self.at;
            let letters = self.until(&[')'], word.takes_text());
            let place = inside..self.at;
            self.take(')');
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
            self.take('{');
            self.conditions(&mut step)?;
        }
        Ok(step)
    }

    /// Takes letters up to one of these signs. With `nested`, parentheses that open inside also
    /// close inside. A slash at the start begins a regular expression.
    fn until(&mut self, ends: &[char], nested: bool) -> Vec<Letter> {
        let mut letters = Vec::new();
        let (mut quoted, mut depth) = (false, 0_usize);
        let mut regex = false;
        let mut began = false;
        while let Some(char) = self.rest().chars().next() {
            let plain = !quoted && !regex;
            if plain && depth == 0 && ends.contains(&char) {
                break;
            }
            self.at += char.len_utf8();
            match char {
                '/' if plain && !began => regex = true,
                '/' if regex => regex = false,
                '\\' if regex => {
                    letters.push(Letter::of_regex('\\'));
                    if let Some(next) = self.rest().chars().next() {
                        self.at += next.len_utf8();
                        letters.push(Letter::of_regex(next));
                    }
                }
                _ if regex => letters.push(Letter::of_regex(char)),
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
            began |= !char.is_whitespace();
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
    for name in names.filter(|name| !name.is_empty()).take(MAX_STEPS) {
        if name.iter().any(|letter| !letter.quoted && letter.char.is_whitespace()) {
            return Err("A name of a tool has no spaces. Close the step with “)”, or put the \
                        name in quotes."
                .to_owned());
        }
        step.tools.push(pattern(name));
    }
    Ok(())
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
