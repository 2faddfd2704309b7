//! **Pure.** Parses any YAML document into a [`Tree`] from the events of `granit-parser`. Owns the
//! limits, duplicate keys, aliases and merge keys; error messages are in `faults`.
use std::borrow::Cow;
use std::collections::HashMap;

use granit_parser::{Event, Parser, ScalarStyle, Span, StrInput, Tag};

use super::tree::{Form, Raw, Text, Tree};
use super::{ALIASES, DEPTH, NODES, REPEATED, SCALAR, faults, keys};
use crate::error::{ReadError, ReadErrorKind, count};

/// Parses a text that holds one document. Fails if there are several.
pub(crate) fn parse(text: &str) -> Result<Tree<'_>, ReadError> {
    let options = granit_parser::options! {
        emit_comments: false,
        flow_nesting_limit: DEPTH,
        block_nesting_limit: DEPTH,
    };
    let mut builder = Builder::new(text);
    for event in Parser::<StrInput<'_>>::new_from_str_with_options(text, options) {
        let (event, span) = event.map_err(|error| faults::scan(text, &error))?;
        builder.take(event, span)?;
    }
    if builder.tree.nodes.is_empty() {
        return Err(faults::empty(text));
    }
    Ok(builder.tree)
}

struct Builder<'a> {
    source: &'a str,
    tree: Tree<'a>,
    /// Node indexes of the open lists and maps.
    open: Vec<u32>,
    /// Index of the first node of each anchor.
    anchors: HashMap<usize, u32>,
    documents: usize,
    aliases: usize,
    repeated: usize,
}

impl<'a> Builder<'a> {
    fn new(source: &'a str) -> Self {
        Builder {
            source,
            tree: Tree::default(),
            open: Vec::new(),
            anchors: HashMap::new(),
            documents: 0,
            aliases: 0,
            repeated: 0,
        }
    }

    fn take(&mut self, event: Event<'a>, span: Span) -> Result<(), ReadError> {
        let from = span.start.byte_offset().unwrap_or_default();
        let to = span.end.byte_offset().unwrap_or_default();
        match event {
            Event::DocumentStart(..) => self.document(from),
            Event::Scalar(text, style, anchor, tag) => {
                let form = form(style, tag.as_deref());
                let text = self.text(text, from)?;
                self.push(Raw { form, text, end: 0 }, anchor, (from, to))?;
                Ok(())
            }
            Event::SequenceStart(_, anchor, _) => self.start(Form::List, anchor, from),
            Event::MappingStart(_, anchor, _) => self.start(Form::Map, anchor, from),
            Event::SequenceEnd | Event::MappingEnd => self.end(to),
            Event::Alias(id) => self.alias(id, from),
            _ => Ok(()),
        }
    }

    fn document(&mut self, from: usize) -> Result<(), ReadError> {
        self.documents += 1;
        if self.documents > 1 {
            let message = "A second document begins here; only one is expected in a file.";
            return Err(self
                .fault(ReadErrorKind::Syntax, from, message)
                .advise("Put it into a file of its own."));
        }
        Ok(())
    }

    fn text(&mut self, text: Cow<'a, str>, from: usize) -> Result<Text<'a>, ReadError> {
        if text.len() > SCALAR {
            return Err(faults::too_long(self.source, from));
        }
        Ok(match text {
            Cow::Borrowed(text) => Text::Source(text),
            Cow::Owned(text) => {
                let start = count(self.tree.buffer.len());
                self.tree.buffer.push_str(&text);
                Text::Buffer(start, count(self.tree.buffer.len()))
            }
        })
    }

    fn push(
        &mut self,
        mut raw: Raw<'a>,
        anchor: usize,
        span: (usize, usize),
    ) -> Result<u32, ReadError> {
        if self.tree.nodes.len() >= NODES {
            return Err(self.fault(
                ReadErrorKind::TooLarge,
                span.0,
                format!("More than {NODES} values."),
            ));
        }
        let at = count(self.tree.nodes.len());
        // The end of a list or map is not known until it is closed.
        raw.end = if matches!(raw.form, Form::List | Form::Map) { 0 } else { at + 1 };
        self.tree.nodes.push(raw);
        self.tree.spans.push((count(span.0), count(span.1)));
        if anchor != 0 {
            self.anchors.insert(anchor, at);
        }
        Ok(at)
    }

    fn start(&mut self, form: Form, anchor: usize, from: usize) -> Result<(), ReadError> {
        if self.open.len() >= DEPTH {
            return Err(faults::too_deep(self.source, from));
        }
        let at = self.push(Raw { form, text: Text::Buffer(0, 0), end: 0 }, anchor, (from, from))?;
        self.open.push(at);
        Ok(())
    }

    fn end(&mut self, to: usize) -> Result<(), ReadError> {
        let Some(at) = self.open.pop() else { return Ok(()) };
        let is_map = self.tree.nodes.get(at as usize).is_some_and(|raw| raw.form == Form::Map);
        if is_map {
            if let Some((first, second)) = keys::duplicate(&self.tree, at as usize) {
                return Err(faults::duplicate(self.source, &self.tree, first, second));
            }
            keys::merge(&mut self.tree, at as usize);
        }
        let next = count(self.tree.nodes.len());
        if let Some(raw) = self.tree.nodes.get_mut(at as usize) {
            raw.end = next;
        }
        if let Some(span) = self.tree.spans.get_mut(at as usize) {
            span.1 = count(to);
        }
        Ok(())
    }

    /// Copies the nodes of an anchor.
    fn alias(&mut self, id: usize, from: usize) -> Result<(), ReadError> {
        self.aliases += 1;
        if self.aliases > ALIASES {
            return Err(self.fault(
                ReadErrorKind::TooLarge,
                from,
                format!("More than {ALIASES} aliases."),
            ));
        }
        let anchor = self.anchors.get(&id).copied();
        let Some(start) = anchor.filter(|at| !self.open.contains(at)) else {
            let message = "An alias inside the value it stands for.";
            return Err(self
                .fault(ReadErrorKind::Syntax, from, message)
                .advise("Write the value out."));
        };
        let end = self.tree.nodes.get(start as usize).map_or(start, |raw| raw.end);
        let nodes: Vec<Raw<'a>> = self.tree.nodes[start as usize..end as usize].to_vec();
        self.repeated += nodes.iter().map(|raw| self.tree.text(raw).len()).sum::<usize>();
        if self.repeated > REPEATED || self.tree.nodes.len() + nodes.len() > NODES {
            return Err(self.fault(ReadErrorKind::TooLarge, from, "Aliases repeat too much."));
        }
        if self.open.len() + keys::depth(&nodes) > DEPTH {
            return Err(faults::too_deep(self.source, from));
        }
        let base = count(self.tree.nodes.len());
        self.tree.spans.extend(nodes.iter().map(|_| (count(from), count(from))));
        self.tree
            .nodes
            .extend(nodes.into_iter().map(|raw| Raw { end: raw.end - start + base, ..raw }));
        Ok(())
    }

    fn fault(&self, kind: ReadErrorKind, from: usize, message: impl Into<String>) -> ReadError {
        ReadError::at_offset(kind, self.source, from, message)
    }
}

/// Returns the form of a scalar. `!!str` makes any scalar text; `!!int` and similar tags change
/// nothing, because numbers keep their text.
fn form(style: ScalarStyle, tag: Option<&Tag>) -> Form {
    match tag.and_then(Tag::core_suffix) {
        Some("str" | "binary") => Form::Quoted,
        Some("int" | "float" | "bool" | "null") => Form::Plain,
        _ if style == ScalarStyle::Plain && tag.is_none_or(|tag| tag.parts() != ("", "!")) => {
            Form::Plain
        }
        _ => Form::Quoted,
    }
}
