//! **Pure.** Warnings about probable mistakes in a suite, with their positions.
use super::Warning;
use touchstone_model::error::Position;
use touchstone_model::nearest::nearest;
use touchstone_model::yaml::tree::Item;

/// Maximum number of warnings. More are not useful, and finding the line of each takes time.
const MOST: usize = 100;

/// Collects warnings with their positions.
pub(super) struct Warnings<'a> {
    text: &'a str,
    pub(super) all: Vec<Warning>,
}

impl<'a> Warnings<'a> {
    pub(super) fn new(text: &'a str) -> Self {
        Warnings { text, all: Vec::new() }
    }

    /// Adds a warning about a node.
    pub(super) fn add_at(&mut self, node: Item<'_>, message: impl Into<String>) {
        self.offset(node.span().map(|(from, _)| from), message);
    }

    fn offset(&mut self, offset: Option<usize>, message: impl Into<String>) {
        if self.is_full() {
            return;
        }
        let place = offset.map(|offset| Position::from_offset(self.text, offset));
        self.all.push(Warning {
            line: place.map(|place| place.line),
            column: place.map(|place| place.column),
            excerpt: place.map(|place| touchstone_model::error::excerpt(place.content)),
            message: message.into(),
        });
    }

    fn is_full(&self) -> bool {
        self.all.len() >= MOST
    }

    /// Adds a warning for an unknown key that resembles a known one.
    pub(super) fn unknown(&mut self, key: Item<'_>, word: &str, known: &[&str]) {
        if let Some(near) = nearest(word, known.iter().copied()) {
            self.add_at(key, format!("`{word}` is not a key of a suite. Did you mean `{near}`?"));
        }
    }

    /// Adds warnings for unknown words in braces of a prompt. The position is that of the n-th
    /// occurrence of the word in the source, which equals the n-th in the prompt for any quoting.
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
