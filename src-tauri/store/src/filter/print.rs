//! **Pure.** Prints a filter such that parsing the output yields an equal filter.
use super::keys::{Key, key_rule, state_name};
use super::letters::JOINING;
use super::{
    Ask, Comparison, Filter, FilterValue, LabelCondition, OwnColumn, Pattern, Place, SequenceStep,
    StepCondition, StepPattern, StepQuestion, StepText, StepWord, TextMatch, Token,
    VerdictCondition,
};
use std::fmt::{Display, Formatter, Result};

impl Display for Filter {
    fn fmt(&self, f: &mut Formatter<'_>) -> Result {
        if self.invalid {
            // Printed filters are cache keys. No valid filter prints an unquoted colon without a
            // key.
            return f.write_str(":invalid");
        }
        for (at, token) in self.tokens.iter().enumerate() {
            write!(f, "{}{token}", if at == 0 { "" } else { " " })?;
        }
        Ok(())
    }
}

impl Display for Token {
    fn fmt(&self, f: &mut Formatter<'_>) -> Result {
        f.write_str(if self.negated { "-" } else { "" })?;
        match &self.ask {
            Ask::Text(text) if JOINING.iter().any(|word| text.eq_ignore_ascii_case(word)) => {
                f.write_str(&quoted(text))
            }
            Ask::Text(text) => f.write_str(&typed(text)),
            Ask::Value(key, wanted) => {
                match wanted.first() {
                    Some(FilterValue::Own(part @ OwnColumn::Answer(_), _)) => write!(f, "{part}:")?,
                    _ => write!(f, "{}:", key_rule(*key).name)?,
                }
                for (at, value) in wanted.iter().enumerate() {
                    f.write_str(if at == 0 { "" } else { "," })?;
                    one_value(*key, value, f)?;
                }
                Ok(())
            }
            Ask::Steps(question) => write!(f, "{question}"),
        }
    }
}

impl Display for StepQuestion {
    fn fmt(&self, f: &mut Formatter<'_>) -> Result {
        for (at, SequenceStep { place, pattern }) in self.steps.iter().enumerate() {
            f.write_str(match place {
                _ if at == 0 => "",
                Place::Later => " then ",
                Place::Next => " then next ",
                Place::Never => " then no ",
            })?;
            write!(f, "{pattern}")?;
        }
        self.count.map_or(Ok(()), |(by, number)| write!(f, "{}{number}", sign(by)))
    }
}

impl Display for StepPattern {
    fn fmt(&self, f: &mut Formatter<'_>) -> Result {
        write!(f, "{}(", self.word.word())?;
        for (at, name) in self.tools.iter().enumerate() {
            f.write_str(if at == 0 { "" } else { "," })?;
            one_pattern(name, f)?;
        }
        let in_braces = matches!(self.word, StepWord::Call | StepWord::Program);
        if !in_braces && let [StepCondition::Text(_, text)] = self.conditions.as_slice() {
            return write!(f, "{text})");
        }
        f.write_str(")")?;
        for (at, condition) in self.conditions.iter().enumerate() {
            f.write_str(if at == 0 { "{" } else { "," })?;
            match condition {
                StepCondition::Failed(failed) => f.write_str(if *failed { "failed" } else { "ok" }),
                StepCondition::Same => f.write_str("same"),
                StepCondition::Text(StepText::Own, text) => write!(f, "args~{text}"),
                StepCondition::Text(StepText::Result, text) => write!(f, "result~{text}"),
                StepCondition::Number(None, by, number) => write!(f, "result{}{number}", sign(*by)),
                StepCondition::Number(Some(key), by, number) => {
                    write!(f, "result.{}{}{number}", typed(key), sign(*by))
                }
            }?;
        }
        f.write_str(if self.conditions.is_empty() { "" } else { "}" })
    }
}

impl Display for TextMatch {
    fn fmt(&self, f: &mut Formatter<'_>) -> Result {
        match self {
            TextMatch::Text(text) => f.write_str(&typed(text)),
            TextMatch::Regex(regex) => write!(f, "/{regex}/"),
        }
    }
}

fn one_value(key: Key, value: &FilterValue, f: &mut Formatter<'_>) -> Result {
    match value {
        // A tool may be called `yes`, so the pattern is quoted.
        FilterValue::Like(Pattern(pieces)) if key == Key::Missing && pieces.len() == 1 => {
            f.write_str(&quoted(&pieces[0]))
        }
        FilterValue::Like(pattern) => one_pattern(pattern, f),
        FilterValue::State(state) => f.write_str(state_name(*state)),
        FilterValue::Word(word) => f.write_str(word),
        FilterValue::Flag(yes) => f.write_str(if *yes { "yes" } else { "no" }),
        FilterValue::Number(Comparison::Equal, number) => write!(f, "{number}"),
        FilterValue::Number(by, number) => write!(f, "{}{number}", sign(*by)),
        FilterValue::Holds(text) => write!(f, "{text}"),
        FilterValue::Label(name, condition) => {
            f.write_str(&typed(name))?;
            on_value(condition, f)
        }
        FilterValue::Own(column, condition) => match (column, condition) {
            (OwnColumn::Answer(_), LabelCondition::Value(pattern)) => one_pattern(pattern, f),
            (OwnColumn::Answer(_), condition) => on_value(condition, f),
            (OwnColumn::Score(name), LabelCondition::Any) => write!(f, "{}=*", typed(name)),
            (
                OwnColumn::Fact(name)
                | OwnColumn::Label(name)
                | OwnColumn::Score(name)
                | OwnColumn::Verdict(name),
                condition,
            ) => {
                f.write_str(&typed(name))?;
                on_value(condition, f)
            }
        },
        FilterValue::Date(Comparison::Equal, date) => f.write_str(date),
        FilterValue::Date(by, date) => write!(f, "{}{date}", sign(*by)),
        FilterValue::Stored(pattern, ask) => {
            one_pattern(pattern, f)?;
            match ask {
                VerdictCondition::Anything => Ok(()),
                VerdictCondition::Result(result) => write!(f, "={}", result.word()),
                VerdictCondition::Number(by, number) => write!(f, "{}{number}", sign(*by)),
            }
        }
    }
}

fn on_value(condition: &LabelCondition, f: &mut Formatter<'_>) -> Result {
    match condition {
        LabelCondition::Any => Ok(()),
        LabelCondition::Value(pattern) => {
            f.write_str("=")?;
            one_pattern(pattern, f)
        }
        LabelCondition::Number(by, number) => write!(f, "{}{number}", sign(*by)),
    }
}

fn one_pattern(Pattern(pieces): &Pattern, f: &mut Formatter<'_>) -> Result {
    for (at, piece) in pieces.iter().enumerate() {
        f.write_str(if at == 0 { "" } else { "*" })?;
        f.write_str(&if piece.is_empty() { String::new() } else { typed(piece) })?;
    }
    Ok(())
}

fn sign(by: Comparison) -> &'static str {
    match by {
        Comparison::Less => "<",
        Comparison::AtMost => "<=",
        Comparison::Equal => "=",
        Comparison::AtLeast => ">=",
        Comparison::More => ">",
    }
}

/// Returns a text as a literal of the filter language, quoted where needed.
pub fn typed(text: &str) -> String {
    let begins = |char: char| char.is_alphanumeric() || char == '_';
    let plain = text.starts_with(begins)
        && text.chars().all(|char| begins(char) || matches!(char, '-' | '.' | '/'));
    if plain { text.to_owned() } else { quoted(text) }
}

fn quoted(text: &str) -> String {
    format!("\"{}\"", text.replace('\\', "\\\\").replace('"', "\\\""))
}
