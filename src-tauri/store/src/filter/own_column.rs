//! **Pure.** Columns of one's own: what they are called, what a filter asks of their values, and how
//! their values are ordered.
use super::{Comparison, LabelCondition, Pattern};
use std::cmp::Ordering;
use std::fmt::{Display, Formatter};
use touchstone_model::json;
use touchstone_model::value::Value;

/// Maximum bytes of a column as it is typed.
const LONGEST: usize = 300;

/// A column of one's own.
#[derive(Debug, Clone, PartialEq, Eq, Hash)]
pub enum OwnColumn {
    /// Short fact of the file, by its key: `run.version`.
    Fact(String),
    /// Label: its values, or `yes`.
    Label(String),
    /// Score by a scorer.
    Score(String),
    /// Imported verdict of an evaluator.
    Verdict(String),
    /// Part of the answer.
    Answer(Vec<Piece>),
}

/// A step into a value.
#[derive(Debug, Clone, PartialEq, Eq, Hash)]
pub enum Piece {
    /// Key of a map.
    Key(String),
    /// Index in a list, from 0.
    Index(usize),
}

impl OwnColumn {
    /// Parses a column: `answer.items[0].id`, `fact:run.version`, `label:severity`, `score:fields` or
    /// `verdict:relevance`. Fails with a sentence.
    pub fn parse(typed: &str) -> Result<Self, String> {
        let typed = typed.trim();
        let name = |name: &str| {
            let is_bad =
                name.is_empty() || typed.len() > LONGEST || name.contains(char::is_control);
            if is_bad { Err(format!("“{typed}” names nothing.")) } else { Ok(name.to_owned()) }
        };
        match typed.split_once(':') {
            Some(("fact", key)) => return name(key).map(OwnColumn::Fact),
            Some(("label", label)) => return name(label).map(OwnColumn::Label),
            Some(("score", scorer)) => return name(scorer).map(OwnColumn::Score),
            Some(("verdict", evaluator)) => return name(evaluator).map(OwnColumn::Verdict),
            _ => {}
        }
        let path = typed.strip_prefix("answer").filter(|_| typed.len() <= LONGEST);
        path.and_then(pieces).map(OwnColumn::Answer).ok_or_else(|| {
            format!(
                "There is no column “{typed}”. Write answer.items[0].id for a part of the answer, or \
                 fact:KEY, label:NAME, score:SCORER or verdict:EVALUATOR."
            )
        })
    }
}

/// Parses `.items[0]["a key"]`. Returns `None` for anything else.
fn pieces(mut path: &str) -> Option<Vec<Piece>> {
    let mut pieces = Vec::new();
    while !path.is_empty() {
        if let Some(rest) = path.strip_prefix('.') {
            let end = rest.find(['.', '[']).unwrap_or(rest.len());
            let key = rest.get(..end).filter(|key| !key.is_empty())?;
            pieces.push(Piece::Key(key.to_owned()));
            path = &rest[end..];
        } else if let Some(rest) = path.strip_prefix("[\"") {
            let (key, rest) = rest.split_once("\"]")?;
            pieces.push(Piece::Key(key.to_owned()));
            path = rest;
        } else {
            let (index, rest) = path.strip_prefix('[')?.split_once(']')?;
            pieces.push(Piece::Index(index.parse().ok()?));
            path = rest;
        }
    }
    Some(pieces)
}

impl Display for OwnColumn {
    fn fmt(&self, f: &mut Formatter<'_>) -> std::fmt::Result {
        match self {
            Self::Fact(name) => write!(f, "fact:{name}"),
            Self::Label(name) => write!(f, "label:{name}"),
            Self::Score(name) => write!(f, "score:{name}"),
            Self::Verdict(name) => write!(f, "verdict:{name}"),
            Self::Answer(path) => {
                f.write_str("answer")?;
                path.iter().try_for_each(|piece| match piece {
                    Piece::Key(key) if key.chars().all(is_plain) => write!(f, ".{key}"),
                    Piece::Key(key) => write!(f, "[\"{key}\"]"),
                    Piece::Index(at) => write!(f, "[{at}]"),
                })
            }
        }
    }
}

/// Returns true for letters of a key that stands behind a dot.
fn is_plain(char: char) -> bool {
    char.is_alphanumeric() || matches!(char, '_' | '-')
}

/// Decides if a value is what a filter asks for. Whole numbers are compared digit by digit, because
/// ids are longer than other numbers can be told apart.
pub(crate) fn fits(condition: &LabelCondition, value: &str) -> bool {
    let is_whole = |text: &str| {
        let digits = text.strip_prefix('-').unwrap_or(text);
        !digits.is_empty() && digits.bytes().all(|byte| byte.is_ascii_digit())
    };
    match condition {
        LabelCondition::Value(Pattern(pieces)) => match pieces.as_slice() {
            [one] if is_whole(one) && is_whole(value) => one == value,
            _ => condition.fits(value),
        },
        LabelCondition::Number(Comparison::Equal, wanted) => {
            value.parse().is_ok_and(|one: f64| Comparison::Equal.holds(one, *wanted))
        }
        LabelCondition::Any | LabelCondition::Number(..) => condition.fits(value),
    }
}

/// Value of a run in the order of a column: numbers, then texts, then `true`, `false`, lists and
/// maps. What reads as a number is one, also in quotes.
#[derive(Debug, Clone, PartialEq)]
pub(crate) enum Sortable {
    /// Number.
    Number(f64),
    /// Text, by its bytes as the other columns.
    Text(Box<str>),
    /// Anything else, as JSON.
    Other(Box<str>),
}

impl Sortable {
    /// Returns the place of a text.
    pub(crate) fn text(text: &str) -> Self {
        match text.trim().parse::<f64>().ok().filter(|number| number.is_finite()) {
            // Equal numbers are one group: -0 is 0.
            Some(number) => Self::Number(number + 0.0),
            None => Self::Text(beginning(text).into()),
        }
    }

    /// Returns the place of a part of an answer. `None` for `null`, which is a missing value.
    pub(crate) fn part(value: &Value) -> Option<Self> {
        match value {
            Value::Null => None,
            Value::Text(text) => Some(Self::text(text)),
            Value::Bool(_) | Value::List(_) | Value::Map(_) => {
                Some(Self::Other(beginning(&json::write(value, false)).into()))
            }
            Value::Number(number) => Some(Self::text(number)),
        }
    }

    fn rank(&self) -> u8 {
        match self {
            Self::Number(_) => 0,
            Self::Text(_) => 1,
            Self::Other(_) => 2,
        }
    }
}

impl Eq for Sortable {}

impl PartialOrd for Sortable {
    fn partial_cmp(&self, other: &Self) -> Option<Ordering> {
        Some(self.cmp(other))
    }
}

impl Ord for Sortable {
    fn cmp(&self, other: &Self) -> Ordering {
        match (self, other) {
            (Self::Number(one), Self::Number(other)) => one.total_cmp(other),
            (Self::Text(one), Self::Text(other)) | (Self::Other(one), Self::Other(other)) => {
                one.cmp(other)
            }
            _ => self.rank().cmp(&other.rank()),
        }
    }
}

/// Returns the beginning of a text, which bounds the memory of an order.
fn beginning(text: &str) -> &str {
    const MOST: usize = 200;
    &text[..text.floor_char_boundary(MOST)]
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_column_is_a_path_or_a_name_and_anything_else_is_refused() {
        let key = |key: &str| Piece::Key(key.to_owned());
        for (typed, column) in [
            ("answer", OwnColumn::Answer(Vec::new())),
            (
                " answer.items[0].id ",
                OwnColumn::Answer(vec![key("items"), Piece::Index(0), key("id")]),
            ),
            ("answer[\"a.b [c]\"]", OwnColumn::Answer(vec![key("a.b [c]")])),
            ("fact:run.version", OwnColumn::Fact("run.version".to_owned())),
            ("label:dear one", OwnColumn::Label("dear one".to_owned())),
            ("score:fields", OwnColumn::Score("fields".to_owned())),
            ("verdict:a:b", OwnColumn::Verdict("a:b".to_owned())),
        ] {
            assert_eq!(OwnColumn::parse(&column.to_string()).as_ref(), Ok(&column), "{typed}");
            assert_eq!(OwnColumn::parse(typed), Ok(column), "{typed}");
        }
        for typed in [
            "",
            "answers",
            "answer.",
            "answer..a",
            "answer[x]",
            "answer[-1]",
            "answer[0",
            "cost",
            "fact:",
            "x:y",
        ] {
            assert!(OwnColumn::parse(typed).is_err(), "{typed}");
        }
        assert!(OwnColumn::parse(&format!("answer.{}", "x".repeat(400))).is_err());
    }

    #[test]
    fn numbers_come_before_texts_and_texts_before_anything_else() {
        let answer = json::read(r#"[[1], true, "b", "10", 9, "B", {"a":1}, -0.0, 0, null]"#);
        let mut places: Vec<Sortable> =
            answer.unwrap().items().iter().filter_map(Sortable::part).collect();
        places.sort();
        let text = |place: &Sortable| match place {
            Sortable::Number(number) => number.to_string(),
            Sortable::Text(text) | Sortable::Other(text) => text.to_string(),
        };
        let shown: Vec<String> = places.iter().map(text).collect();
        assert_eq!(shown.join(" "), r#"0 0 9 10 B b [1] true {"a":1}"#);
    }

    #[test]
    fn long_ids_are_told_apart_and_other_numbers_are_equal_as_numbers() {
        let value = |text: &str| LabelCondition::Value(Pattern(vec![text.to_owned()]));
        assert!(!fits(&value("9007199254740993"), "9007199254740992"));
        assert!(fits(&value("9007199254740993"), "9007199254740993"));
        assert!(fits(&value("7"), "7.0"));
        assert!(fits(&value("PAID"), "paid"));
        assert!(!fits(&LabelCondition::Number(Comparison::More, 5.0), "many"));
    }
}
