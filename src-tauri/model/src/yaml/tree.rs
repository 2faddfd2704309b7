//! **Pure.** A parsed document as a flat list of nodes that borrow from the source text. Cheap to
//! build and to walk.
use crate::node::{Node, Shape};
use crate::scalar::Scalar;
use crate::value::Value;

/// A parsed document. Nodes are in the order of the text; the children of a map alternate between
/// key and value.
#[derive(Debug, Default)]
pub struct Tree<'a> {
    /// All nodes.
    pub(crate) nodes: Vec<Raw<'a>>,
    /// Start and end byte of each node in the text; empty if spans were not requested.
    pub(crate) spans: Vec<(u32, u32)>,
    /// Scalar texts that differ from the file because they were unfolded, unescaped or unindented.
    pub(crate) buffer: String,
}

/// One node.
#[derive(Debug, Clone, Copy)]
pub(crate) struct Raw<'a> {
    /// Form of the node.
    pub form: Form,
    /// Text of a scalar.
    pub text: Text<'a>,
    /// Index of the first node after this one and its descendants.
    pub end: u32,
}

/// Forms of nodes.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) enum Form {
    /// A scalar whose type depends on its text.
    Plain,
    /// A scalar that is text.
    Quoted,
    /// A list.
    List,
    /// A map.
    Map,
}

/// Location of a scalar's text.
#[derive(Debug, Clone, Copy)]
pub(crate) enum Text<'a> {
    /// A slice of the file.
    Source(&'a str),
    /// Start and end in `buffer` of the tree.
    Buffer(u32, u32),
}

impl<'a> Tree<'a> {
    /// Returns the root node.
    pub fn root(&self) -> Item<'_> {
        Item { tree: self, at: 0 }
    }

    /// Returns the text of a node.
    pub(crate) fn text(&self, raw: &Raw<'a>) -> &str {
        match raw.text {
            Text::Source(text) => text,
            Text::Buffer(from, to) => {
                self.buffer.get(from as usize..to as usize).unwrap_or_default()
            }
        }
    }

    /// Returns the scalar at a node; `None` for lists and maps.
    pub(crate) fn scalar(&self, at: usize) -> Option<Scalar<'_>> {
        let raw = self.nodes.get(at)?;
        match raw.form {
            Form::Plain => Some(Scalar::plain(self.text(raw))),
            Form::Quoted => Some(Scalar::Text(self.text(raw))),
            Form::List | Form::Map => None,
        }
    }
}

/// A node with its descendants.
#[derive(Debug, Clone, Copy)]
pub struct Item<'t> {
    tree: &'t Tree<'t>,
    at: usize,
}

impl Item<'_> {
    /// Returns the start and end byte in the text.
    pub fn span(self) -> Option<(usize, usize)> {
        self.tree.spans.get(self.at).map(|(from, to)| (*from as usize, *to as usize))
    }

    /// Returns true for a scalar without quotes.
    pub fn is_unquoted(self) -> bool {
        self.tree.nodes.get(self.at).is_some_and(|raw| raw.form == Form::Plain)
    }

    /// Estimates the memory that the node takes as an owned value, in bytes.
    pub fn weight(self) -> usize {
        let end = self.tree.nodes.get(self.at).map_or(self.at, |raw| raw.end as usize);
        let nodes = self.tree.nodes.get(self.at..end).unwrap_or_default();
        nodes.iter().map(|raw| size_of::<Value>() + self.tree.text(raw).len()).sum()
    }
}

impl<'t> Node<'t> for Item<'t> {
    fn shape(self) -> Shape<'t> {
        match self.tree.nodes.get(self.at).map(|raw| raw.form) {
            Some(Form::List) => Shape::List,
            Some(Form::Map) => Shape::Map,
            _ => Shape::Scalar(self.tree.scalar(self.at).unwrap_or(Scalar::Null)),
        }
    }

    fn items(self) -> impl Iterator<Item = Self> {
        let Item { tree, at } = self;
        let end = match tree.nodes.get(at) {
            Some(raw) if matches!(raw.form, Form::List | Form::Map) => raw.end as usize,
            _ => at + 1,
        };
        let mut next = at + 1;
        std::iter::from_fn(move || {
            let item = (next < end).then_some(Item { tree, at: next })?;
            next = tree.nodes.get(next)?.end as usize;
            Some(item)
        })
    }

    fn entries(self) -> impl Iterator<Item = (Self, Self)> {
        let is_map = matches!(self.shape(), Shape::Map);
        let mut items = self.items();
        std::iter::from_fn(move || if is_map { Some((items.next()?, items.next()?)) } else { None })
    }

    fn to_value(self) -> Value {
        match self.shape() {
            Shape::Scalar(scalar) => scalar.to_value(),
            Shape::List => Value::List(self.items().map(Node::to_value).collect()),
            Shape::Map => Value::Map(
                self.entries().map(|(key, value)| (key.to_value(), value.to_value())).collect(),
            ),
        }
    }
}
