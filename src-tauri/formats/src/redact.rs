//! **Pure.** Removes what looks like a key, an e-mail address or a home folder from texts that are
//! to be shared, and the names of users in home folders wherever they are a word. Keys that are
//! known by their value are the runner's matter.
use shapes::{KEYS, Kind, OTHERS, Shape, is_secret};
use std::borrow::Cow;
use std::collections::HashMap;
use std::ops::Range;
use touchstone_model::value::Value;
use users::{MOST as MOST_USERS, Users};

mod shapes;
#[cfg(test)]
mod tests;
mod users;

/// Replacement for what was removed.
pub const MARK: &str = "[redacted]";
/// Start of the replacement, which a number may follow.
const MARK_START: &str = "[redacted";

/// Maximum number of times that a text is searched: a removal may uncover another match.
const MOST_PASSES: usize = 4;
/// Numbers of places that were redacted.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Default)]
pub struct Redactions {
    /// Keys, tokens and passwords.
    pub keys: u64,
    /// E-mail addresses.
    pub emails: u64,
    /// Names of users in home folders.
    pub paths: u64,
    /// Names of these users elsewhere.
    pub names: u64,
    /// True if there were more users than are looked for elsewhere.
    pub has_more_users: bool,
}

impl Redactions {
    /// Returns the number of all places.
    pub fn total(&self) -> u64 {
        self.keys + self.emails + self.paths + self.names
    }

    /// Adds the places of another text.
    pub fn add(&mut self, other: Redactions) {
        self.keys += other.keys;
        self.emails += other.emails;
        self.paths += other.paths;
        self.names += other.names;
        self.has_more_users |= other.has_more_users;
    }

    /// Returns sentences on the places, also if there are none.
    pub fn describe(&self) -> String {
        let counted = |count: u64, one: &str, many: &str| {
            (count > 0).then(|| format!("{count} {}", if count == 1 { one } else { many }))
        };
        let kinds: Vec<String> = [
            counted(self.keys, "key", "keys"),
            counted(self.emails, "e-mail address", "e-mail addresses"),
            counted(self.paths, "home folder", "home folders"),
            counted(self.names, "name of a user", "names of users"),
        ]
        .into_iter()
        .flatten()
        .collect();
        let places = match self.total() {
            0 => "Nothing was found to redact.".to_owned(),
            1 => format!("1 place was redacted: {}.", kinds.join(", ")),
            total => format!("{total} places were redacted: {}.", kinds.join(", ")),
        };
        if !self.has_more_users {
            return places;
        }
        format!(
            "{places} There are more than {MOST_USERS} names of users: the further ones were \
             redacted only in home folders."
        )
    }

    fn count(&mut self, kind: Kind) {
        match kind {
            Kind::Key => self.keys += 1,
            Kind::Email => self.emails += 1,
            Kind::Path | Kind::Project => self.paths += 1,
        }
    }
}

/// Redacts the texts of a document, such as a report or a run.
#[derive(Debug, Default)]
pub struct DocumentRedactor {
    counts: Redactions,
    users: Users,
    /// True while only the names of users are looked for.
    only_names: bool,
}

impl DocumentRedactor {
    /// Redacts all texts of a document, each of which `texts` passes to a function of this
    /// redactor. Goes through them twice if a home folder gives the name of a user away.
    pub fn document<T: ?Sized>(&mut self, document: &mut T, texts: impl Fn(&mut Self, &mut T)) {
        texts(self, document);
        if !self.users.is_empty() {
            self.only_names = true;
            texts(self, document);
            self.only_names = false;
        }
    }

    /// Finds the names of users in the home folders of a document whose texts `texts` redacts, so
    /// that they are redacted in every later one. Nothing is counted.
    pub fn learn_users<T: ?Sized>(&mut self, document: &mut T, texts: impl Fn(&mut Self, &mut T)) {
        self.without_counting(|redactor| texts(redactor, document));
    }

    /// Returns the numbers of places that were redacted.
    pub fn counts(&self) -> Redactions {
        self.counts
    }

    /// Calls `work` without counting what it redacts.
    pub fn without_counting(&mut self, work: impl FnOnce(&mut Self)) {
        let before = self.counts;
        work(self);
        self.counts = before;
    }

    /// Redacts a text in its place.
    pub fn text(&mut self, text: &mut String) {
        if let Some(clean) = self.redacted(text, None) {
            *text = clean;
        }
    }

    /// Redacts the name of a system or a model in its place. Names of users that were found
    /// elsewhere stay in it: a folder of a user may be named like an agent.
    pub fn label(&mut self, label: &mut String) {
        if !self.only_names {
            self.text(label);
        }
    }

    /// Redacts all texts of a value in their places, keys of maps included. The value of a key that
    /// names a secret is judged together with that key, and so are the items of its list. Keys that
    /// would become equal get numbers: `[redacted 2]`.
    pub fn value(&mut self, value: &mut Value) {
        self.item(value, None);
    }

    fn item(&mut self, value: &mut Value, name: Option<&str>) {
        match value {
            Value::Text(text) => {
                if let Some(clean) = self.redacted(text, name) {
                    *text = clean;
                }
            }
            Value::List(items) => items.iter_mut().for_each(|item| self.item(item, name)),
            Value::Map(entries) => {
                let mut keys = Keys::default();
                for (key, item) in entries {
                    self.item(item, key.text());
                    self.item(key, None);
                    if let Value::Text(key) = key {
                        keys.number(key);
                    }
                }
            }
            Value::Null | Value::Bool(_) | Value::Number(_) => {}
        }
    }

    /// Redacts the texts of a JSON document, keys included, like [`Self::value`]. Everything else
    /// stays as it is written.
    pub fn json(&mut self, document: &mut String) {
        *document = self.redacted_json(document);
    }

    /// Returns the redacted text under a name, if it differs.
    fn redacted(&mut self, text: &str, name: Option<&str>) -> Option<String> {
        if self.only_names {
            let places = self.users.places(text);
            self.counts.names += places.len() as u64;
            return (!places.is_empty()).then(|| replaced(text, places));
        }
        if name.is_some_and(|name| is_secret(name, text)) {
            self.counts.count(Kind::Key);
            return Some(MARK.to_owned());
        }
        match redact_with(text, &mut self.counts, &mut self.users) {
            Cow::Owned(clean) => Some(clean),
            Cow::Borrowed(_) => None,
        }
    }
}

/// Replaces keys, e-mail addresses and the names of users in home folders. Redacting a redacted
/// text changes nothing. Borrows the text if nothing is found.
pub fn redact(text: &str) -> (Cow<'_, str>, Redactions) {
    let mut counts = Redactions::default();
    let clean = redact_with(text, &mut counts, &mut Users::default());
    (clean, counts)
}

/// Redacts a text, and learns the names of users in home folders.
fn redact_with<'t>(text: &'t str, counts: &mut Redactions, users: &mut Users) -> Cow<'t, str> {
    let mut clean = Cow::Borrowed(text);
    for _ in 0..MOST_PASSES {
        let found = find(&clean, KEYS.iter().chain(OTHERS.iter()));
        if found.is_empty() {
            break;
        }
        for (range, kind) in &found {
            counts.count(*kind);
            if let (Kind::Path, Some(name)) = (kind, clean.get(range.clone())) {
                counts.has_more_users |= !users.learn(name);
            }
        }
        clean = Cow::Owned(replaced(&clean, found.into_iter().map(|(range, _)| range)));
    }
    clean
}

/// Returns a text with a mark in each of these places.
fn replaced(text: &str, places: impl IntoIterator<Item = Range<usize>>) -> String {
    let mut next = String::with_capacity(text.len());
    let mut from = 0;
    for range in places {
        next.push_str(&text[from..range.start]);
        next.push_str(MARK);
        from = range.end;
    }
    next.push_str(&text[from..]);
    next
}

/// Redacted keys of one map, each with the highest number that its mark has got.
#[derive(Default)]
struct Keys(HashMap<String, usize>);

impl Keys {
    /// Numbers the mark of a key that the map has already, so that no entry is lost.
    fn number(&mut self, key: &mut String) {
        if !key.contains(MARK_START) {
            return;
        }
        let mut number = self.0.get(key).copied().unwrap_or(1);
        let mut next = key.clone();
        while self.0.contains_key(&next) {
            number += 1;
            next = key.replacen(MARK_START, &format!("{MARK_START} {number}"), 1);
        }
        self.0.insert(next.clone(), 1);
        self.0.insert(std::mem::replace(key, next), number);
    }
}

/// List or map of a JSON document.
#[derive(Default)]
struct Level {
    keys: Keys,
    /// Key of a list.
    name: Option<String>,
}

impl DocumentRedactor {
    fn redacted_json(&mut self, document: &str) -> String {
        let mut clean = String::with_capacity(document.len());
        let mut rest = document;
        let mut levels: Vec<Level> = Vec::new();
        // Key whose value comes next.
        let mut key: Option<String> = None;
        while let Some(start) = rest.find('"') {
            let (before, literal) = rest.split_at(start);
            let end = literal_end(literal);
            let (literal, after) = literal.split_at(end);
            clean.push_str(before);
            for byte in before.bytes() {
                match byte {
                    b'{' => levels.push(Level::default()),
                    b'[' => {
                        let outer = || levels.last().and_then(|level| level.name.clone());
                        let name = key.take().or_else(outer);
                        levels.push(Level { name, ..Level::default() });
                    }
                    b'}' | b']' => drop(levels.pop()),
                    _ => {}
                }
                if !(byte == b':' || byte.is_ascii_whitespace()) {
                    key = None;
                }
            }
            let is_key = after.trim_start().starts_with(':');
            let text = touchstone_model::json::read(literal).ok();
            let text = text.as_ref().and_then(Value::text);
            let list = levels.last().and_then(|level| level.name.as_deref());
            let name = key.as_deref().or(list);
            let mut next = text.and_then(|text| self.redacted(text, name));
            if let (true, Some(text), Some(level)) = (is_key, text, levels.last_mut()) {
                let mut numbered = next.unwrap_or_else(|| text.to_owned());
                level.keys.number(&mut numbered);
                next = Some(numbered).filter(|numbered| numbered != text);
            }
            match next {
                Some(next) => {
                    clean.push_str(&touchstone_model::json::write(&Value::Text(next), false));
                }
                None => clean.push_str(literal),
            }
            key = text.filter(|_| is_key).map(str::to_owned);
            rest = after;
        }
        clean.push_str(rest);
        clean
    }
}

/// Returns the length of the literal at the start of a text, with both quotation marks.
fn literal_end(text: &str) -> usize {
    let mut is_escaped = false;
    for (at, byte) in text.bytes().enumerate().skip(1) {
        match byte {
            _ if is_escaped => is_escaped = false,
            b'\\' => is_escaped = true,
            b'"' => return at + 1,
            _ => {}
        }
    }
    text.len()
}

/// Returns the ranges of a text that look like a key by their form alone, in order. They do not
/// overlap.
pub fn find_keys(text: &str) -> Vec<Range<usize>> {
    find(text, KEYS.iter()).into_iter().map(|(range, _)| range).collect()
}

/// Finds the places of some shapes, in order. Places that overlap become one of the first kind.
fn find<'a>(text: &str, shapes: impl Iterator<Item = &'a Shape>) -> Vec<(Range<usize>, Kind)> {
    let mut found: Vec<_> = shapes.flat_map(|shape| shape.places(text)).collect();
    found.sort_by_key(|(range, _)| range.start);
    let mut merged: Vec<(Range<usize>, Kind)> = Vec::new();
    for (range, kind) in found {
        match merged.last_mut() {
            Some((last, _)) if range.start < last.end => last.end = last.end.max(range.end),
            _ => merged.push((range, kind)),
        }
    }
    merged
}
