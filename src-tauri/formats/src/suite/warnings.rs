//! **Pure.** Where in the text of a suite something is that probably does not say what was meant.
use super::Warning;
use crate::error::Place;
use crate::nearest::nearest;
use crate::yaml::tree::Item;

/// More are not shown; nobody reads them, and finding the line of each takes time.
const MOST: usize = 100;

/// Collects warnings with their places.
pub(super) struct Warnings<'a> {
    text: &'a str,
    pub(super) all: Vec<Warning>,
}

impl<'a> Warnings<'a> {
    pub(super) fn new(text: &'a str) -> Self {
        Warnings { text, all: Vec::new() }
    }

    /// A warning about a node.
    pub(super) fn at(&mut self, node: Item<'_>, message: impl Into<String>) {
        self.offset(node.span().map(|(from, _)| from), message);
    }

    fn offset(&mut self, offset: Option<usize>, message: impl Into<String>) {
        if self.is_full() {
            return;
        }
        let place = offset.map(|offset| Place::of(self.text, offset));
        self.all.push(Warning {
            line: place.map(|place| place.line),
            column: place.map(|place| place.column),
            excerpt: place.map(|place| crate::error::excerpt(place.content)),
            message: message.into(),
        });
    }

    fn is_full(&self) -> bool {
        self.all.len() >= MOST
    }

    /// A key that nobody reads, when it looks like one that somebody does.
    pub(super) fn unknown(&mut self, key: Item<'_>, word: &str, known: &[&str]) {
        if let Some(near) = nearest(word, known.iter().copied()) {
            self.at(key, format!("`{word}` is not a key of a suite. Did you mean `{near}`?"));
        }
    }

    /// Words in braces of a prompt. The n-th of a word in the prompt is the n-th in the file,
    /// whatever the quoting.
    pub(super) fn template(&mut self, prompt: Item<'_>, template: &str, names: &[&str]) {
        let span = prompt.span();
        for found in crate::template::check(template, names) {
            if self.is_full() {
                return;
            }
            let field = format!("{{{}}}", found.word);
            let before = template[..found.offset].matches(&field).count();
            let offset = span.and_then(|(from, to)| {
                let source = self.text.get(from..to.max(from))?;
                source.match_indices(&field).nth(before).map(|(at, _)| from + at)
            });
            self.offset(offset.or(span.map(|(from, _)| from)), found.message());
        }
    }
}
