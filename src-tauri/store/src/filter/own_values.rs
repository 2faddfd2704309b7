//! **Pure.** Reads conditions on columns of one's own: `answer.items[0].id=7`, `fact:run.version>2`,
//! `score:fields<0.5`.
use super::letters::{IN_QUOTES, Letter, comparison, number, pattern};
use super::{Comparison, FilterValue, LabelCondition, OwnColumn};

/// Signs that end a name.
const ENDS: [char; 3] = ['=', '<', '>'];

/// Splits letters at the first unquoted sign of these.
fn split<'l>(letters: &'l [Letter], signs: &[char]) -> (&'l [Letter], &'l [Letter]) {
    let at = letters.iter().position(|letter| signs.iter().any(|sign| letter.is(*sign)));
    letters.split_at(at.unwrap_or(letters.len()))
}

fn spelled(letters: &[Letter]) -> String {
    letters.iter().map(|letter| letter.char).collect()
}

/// Reads the condition on a value behind a name: nothing, `=text` or a comparison with a number.
pub(super) fn condition(value: &[Letter], example: &str) -> Result<LabelCondition, String> {
    match value {
        [] => Ok(LabelCondition::Any),
        [sign, value @ ..] if sign.is('=') => {
            if value.is_empty() {
                return Err(format!("Write a value after “=”: {example}=high."));
            }
            Ok(LabelCondition::Value(pattern(value)))
        }
        value => {
            let text = spelled(value);
            // Unlike amounts, these may be negative.
            let (by, digits) = comparison(&text);
            let number = digits.parse::<f64>().ok().filter(|number| number.is_finite());
            let number = number.filter(|_| by != Comparison::Equal).ok_or_else(|| {
                format!("“{text}” compares with no number. Write it like {example}>2.")
            })?;
            // Adding zero turns -0 into 0, so that the printed filter parses to an equal value.
            Ok(LabelCondition::Number(by, number + 0.0))
        }
    }
}

/// Reads the key of a fact, up to the first unquoted sign, and the condition on its value.
pub(super) fn fact(example: &str, letters: &[Letter]) -> Result<FilterValue, String> {
    let (key, value) = split(letters, &ENDS);
    let key = spelled(key);
    if key.trim().is_empty() {
        return Err(format!("Write the key of a fact before its value: {example}=high."));
    }
    Ok(FilterValue::Own(OwnColumn::Fact(key), condition(value, example)?))
}

/// Returns true for a name before a sign, which a number does not have.
pub(super) fn names(letters: &[Letter]) -> bool {
    let (name, value) = split(letters, &ENDS);
    !name.is_empty() && !value.is_empty()
}

/// Reads a condition on the score of one scorer: `fields<0.5`, `fields=*`.
pub(super) fn score(letters: &[Letter], units: &[(&str, f64)]) -> Result<FilterValue, String> {
    let (name, value) = split(letters, &ENDS);
    let (name, text) = (spelled(name), spelled(value));
    let condition = match value {
        [_, star] if text == "=*" && star.is('*') => LabelCondition::Any,
        _ => {
            let number =
                number(&text, units).map(|(by, number)| LabelCondition::Number(by, number));
            number.ok_or_else(|| {
                format!("“{text}” compares with no number. Write it like score:{name}<0.5.")
            })?
        }
    };
    Ok(FilterValue::Own(OwnColumn::Score(name), condition))
}

/// Reads a condition on a part of the answer. `None` for anything else.
pub(super) fn answer(letters: &[Letter], most: usize) -> Option<Result<Vec<FilterValue>, String>> {
    let (path, value) = split(letters, &[':', '=', '<', '>']);
    let head = path.get(.."answer".len())?;
    let is_part = |next: &Letter| next.is('.') || next.is('[');
    let is_answer = head.iter().all(|letter| !letter.quoted)
        && spelled(head).eq_ignore_ascii_case("answer")
        && path.get(head.len()).is_some_and(is_part);
    (is_answer && !value.is_empty()).then(|| conditions(&path[head.len()..], value, most))
}

fn conditions(path: &[Letter], value: &[Letter], most: usize) -> Result<Vec<FilterValue>, String> {
    let typed = format!("answer{}", with_quotes(path));
    if let Some(path) = typed.strip_suffix('!').filter(|_| value[0].is('=')) {
        return Err(format!("Write -{path}{}. {IN_QUOTES}", spelled(value)));
    }
    let column = OwnColumn::parse(&typed).map_err(|_| {
        format!(
            "“{typed}” is no part of an answer. Write it like answer.items[0].id=7. {IN_QUOTES}"
        )
    })?;
    let value = if value[0].is(':') { &value[1..] } else { value };
    let given: Vec<&[Letter]> =
        value.split(|letter| letter.is(',')).filter(|value| !value.is_empty()).collect();
    if given.len() > most {
        return Err(format!("A key takes at most {most} values."));
    }
    if given.iter().all(|value| matches!(value, [sign] if sign.is('='))) {
        return Err(format!("Write a value after “{typed}=”, without a space between: {typed}=7."));
    }
    let one = |letters: &&[Letter]| {
        let is_compared = ENDS.iter().any(|sign| letters[0].is(*sign));
        let condition = if is_compared {
            condition(letters, &typed)?
        } else {
            LabelCondition::Value(pattern(letters))
        };
        Ok(FilterValue::Own(column.clone(), condition))
    };
    given.iter().map(one).collect()
}

/// Spells letters with quotes around what was quoted.
fn with_quotes(letters: &[Letter]) -> String {
    let mut text = String::new();
    let mut quoted = false;
    for letter in letters {
        if letter.quoted != quoted {
            text.push('"');
            quoted = letter.quoted;
        }
        text.push(letter.char);
    }
    if quoted {
        text.push('"');
    }
    text
}

#[cfg(test)]
mod tests {
    use crate::filter::Filter;

    #[test]
    fn a_condition_on_a_column_of_ones_own_is_printed_as_it_is_read() {
        for (typed, printed) in [
            ("answer.items[0].id=7", "answer.items[0].id:7"),
            ("ANSWER.items[0].id:7,>9", "answer.items[0].id:7,>9"),
            ("-answer[\"a key\"].b=\"x y\"", "-answer[\"a key\"].b:\"x y\""),
            ("answer.total>=-2.5", "answer.total:>=-2.5"),
            ("answer.id=*", "answer.id:*"),
            ("fact:run.version", "fact:run.version"),
            ("fact:run.version=v*,steps>3", "fact:run.version=v*,steps>3"),
            ("score:fields<50%", "score:fields<0.5"),
            ("score:fields=*,fuzzy=1", "score:fields=*,fuzzy=1"),
        ] {
            let (filter, misread) = Filter::parse(typed);
            assert_eq!(misread, [], "{typed}");
            assert_eq!(filter.to_string(), printed, "{typed}");
            assert_eq!(Filter::parse(printed).0, filter, "{typed}");
            assert!(filter.own_column_conditions().next().is_some(), "{typed}");
        }
    }

    #[test]
    fn mistakes_say_what_to_write_and_words_without_a_sign_are_text() {
        for (typed, part) in [
            ("answer.items[x]=1", "answer.items[0].id=7"),
            ("answer.=1", "no part of an answer"),
            ("answer.id=", "Write a value"),
            ("answer.id:", "Write a value"),
            ("answer.id>many", "answer.id>2"),
            ("answer.id!=7", "-answer.id=7"),
            ("fact:=7", "key of a fact"),
            ("fact:steps>many", "fact:KEY>2"),
            ("score:fields<many", "score:fields<0.5"),
            ("score:fields", "not a number"),
            ("score:fields<0.5,0.2", "scorer with each number"),
        ] {
            let (filter, misread) = Filter::parse(typed);
            assert!(filter.invalid, "{typed}");
            assert!(misread[0].message.contains(part), "{typed}: {}", misread[0].message);
            assert_eq!(misread[0].token, typed);
        }
        for text in ["answer.md", "answers.id=7", "\"answer.id=7\""] {
            let (filter, misread) = Filter::parse(text);
            assert_eq!(misread, [], "{text}");
            assert_eq!(filter.own_column_conditions().next(), None, "{text}");
        }
    }
}
