//! **Pure.** Common interface to values that are owned and values that borrow from the file text.
use crate::scalar::Scalar;
use crate::value::Value;

/// A value that can be inspected without copying it.
pub trait Node<'t>: Copy {
    /// Returns the shape of the value: scalar, list or map.
    fn shape(self) -> Shape<'t>;
    /// Returns the items of a list.
    fn items(self) -> impl Iterator<Item = Self>;
    /// Returns the entries of a map; empty for anything else.
    fn entries(self) -> impl Iterator<Item = (Self, Self)>;
    /// Converts the value to an owned [`Value`].
    fn to_value(self) -> Value;

    /// Returns the value of a text key of a map.
    fn get(self, key: &str) -> Option<Self> {
        self.entries().find(|(k, _)| k.text() == Some(key)).map(|(_, value)| value)
    }

    /// Returns the value of a text key, unless it is null.
    fn get_non_null(self, key: &str) -> Option<Self> {
        self.get(key).filter(|value| !value.is_null())
    }

    /// Returns the text, if the value is text.
    fn text(self) -> Option<&'t str> {
        match self.shape() {
            Shape::Scalar(Scalar::Text(text)) => Some(text),
            _ => None,
        }
    }

    /// Returns the text of a scalar that is not null.
    fn word(self) -> Option<&'t str> {
        match self.shape() {
            Shape::Scalar(Scalar::Null) | Shape::List | Shape::Map => None,
            Shape::Scalar(scalar) => Some(scalar.words()),
        }
    }

    /// Returns true for null.
    fn is_null(self) -> bool {
        matches!(self.shape(), Shape::Scalar(Scalar::Null))
    }

    /// Returns the number, if the value is a finite number.
    fn number(self) -> Option<f64> {
        match self.shape() {
            Shape::Scalar(Scalar::Number(text)) => {
                text.parse().ok().filter(|number: &f64| number.is_finite())
            }
            _ => None,
        }
    }

    /// Appends the searchable text of the value: each scalar on a line of its own, after the keys
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

/// Ends the current line, unless it is empty or already ended.
pub fn end_line(out: &mut String) {
    if !out.is_empty() && !out.ends_with('\n') {
        out.push('\n');
    }
}

/// Shape of a value.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Shape<'t> {
    /// A scalar.
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
