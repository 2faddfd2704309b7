//! **Pure.** One way to look at a value, whether it is owned or still borrows the file it was read
//! from.
use crate::value::Value;
use crate::yaml::scalars::Scalar;

/// A value that can be looked at without copying it.
pub(crate) trait Node<'t>: Copy {
    /// What it is.
    fn shape(self) -> Shape<'t>;
    /// Items of a list.
    fn items(self) -> impl Iterator<Item = Self>;
    /// Entries of a map; nothing for anything else.
    fn entries(self) -> impl Iterator<Item = (Self, Self)>;
    /// The same, owned.
    fn to_value(self) -> Value;

    /// The value of a text key of a map.
    fn get(self, key: &str) -> Option<Self> {
        self.entries().find(|(k, _)| k.text() == Some(key)).map(|(_, value)| value)
    }

    /// The value of a text key, unless it is null.
    fn given(self, key: &str) -> Option<Self> {
        self.get(key).filter(|value| !value.is_null())
    }

    /// The text, if it is text.
    fn text(self) -> Option<&'t str> {
        match self.shape() {
            Shape::Scalar(Scalar::Text(text)) => Some(text),
            _ => None,
        }
    }

    /// The words of a scalar that is not null.
    fn word(self) -> Option<&'t str> {
        match self.shape() {
            Shape::Scalar(Scalar::Null) | Shape::List | Shape::Map => None,
            Shape::Scalar(scalar) => Some(scalar.words()),
        }
    }

    /// True for null.
    fn is_null(self) -> bool {
        matches!(self.shape(), Shape::Scalar(Scalar::Null))
    }

    /// A finite number.
    fn number(self) -> Option<f64> {
        match self.shape() {
            Shape::Scalar(Scalar::Number(text)) => {
                text.parse().ok().filter(|number: &f64| number.is_finite())
            }
            _ => None,
        }
    }

    /// The words of everything in it, as searched: each scalar on a line of its own, after the keys
    /// that lead to it.
    fn write_words(self, out: &mut String) {
        match self.shape() {
            Shape::Scalar(scalar) => {
                out.push_str(scalar.words());
                end_line(out);
            }
            Shape::List => self.items().for_each(|item| item.write_words(out)),
            Shape::Map => {
                for (key, value) in self.entries() {
                    match key.shape() {
                        Shape::Scalar(scalar) => out.push_str(scalar.words()),
                        Shape::List | Shape::Map => key.write_words(out),
                    }
                    out.push_str(": ");
                    value.write_words(out);
                }
            }
        }
        end_line(out);
    }
}

/// Ends a line unless it is ended.
pub(crate) fn end_line(out: &mut String) {
    if !out.is_empty() && !out.ends_with('\n') {
        out.push('\n');
    }
}

/// What a value is.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) enum Shape<'t> {
    /// One word.
    Scalar(Scalar<'t>),
    /// A list.
    List,
    /// A map.
    Map,
}

impl<'t> Node<'t> for &'t Value {
    fn shape(self) -> Shape<'t> {
        match self {
            Value::Null => Shape::Scalar(Scalar::Null),
            Value::Bool(bool) => Shape::Scalar(Scalar::Bool(*bool)),
            Value::Number(text) => Shape::Scalar(Scalar::Number(text)),
            Value::Text(text) => Shape::Scalar(Scalar::Text(text)),
            Value::List(_) => Shape::List,
            Value::Map(_) => Shape::Map,
        }
    }

    fn items(self) -> impl Iterator<Item = Self> {
        Value::items(self).iter()
    }

    fn entries(self) -> impl Iterator<Item = (Self, Self)> {
        Value::entries(self).iter().map(|(key, value)| (key, value))
    }

    fn to_value(self) -> Value {
        self.clone()
    }
}
