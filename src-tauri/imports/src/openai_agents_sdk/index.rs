//! **Pure.** Places of traces and spans in a file, grouped by trace.
use crate::pieces::{self, member};
use crate::traces::parse;
use std::collections::HashMap;
use std::ops::Range;
use touchstone_model::error::{ReadError, ReadErrorKind};
use touchstone_model::value::Value;

/// Items of a file by trace.
pub(super) struct Index {
    text: String,
    pub(super) traces: Vec<Trace>,
    /// Error of the file around its traces.
    pub(super) error: Option<ReadError>,
}

/// Places of a trace and its spans.
pub(super) struct Trace {
    pub(super) id: String,
    head: Option<Range<usize>>,
    spans: Vec<Range<usize>>,
}

impl Index {
    /// Finds all complete items. Fails if the file holds none and is damaged.
    pub(super) fn read(bytes: Vec<u8>) -> Result<Index, ReadError> {
        let text = pieces::text(bytes)?;
        let mut error = None;
        let mut items = Vec::new();
        for document in pieces::documents(&text) {
            let list = if document.starts_with('[') {
                Some(document)
            } else {
                let members = pieces::members(document);
                // A batch may be cut off behind its list.
                if !members.is_complete {
                    error = Some(pieces::cut_off());
                }
                member(&members, "data").filter(|part| part.starts_with('['))
            };
            let Some(list) = list else {
                items.push(document);
                continue;
            };
            let list = pieces::items(list);
            if !list.is_complete {
                error = Some(pieces::cut_off());
            }
            items.extend(list.parts);
        }
        let mut index = Index { text: String::new(), traces: Vec::new(), error: None };
        let mut numbers = HashMap::new();
        for item in items {
            if index.add(&text, item, &mut numbers).is_none() {
                let message = "An entry of the file is no trace and no span, and is not shown.";
                error.get_or_insert_with(|| ReadError::new(ReadErrorKind::BadValue, message));
            }
        }
        match error {
            Some(error) if index.traces.is_empty() => Err(error),
            error => Ok(Index { text, error, ..index }),
        }
    }

    /// Files an item under its trace. Returns `None` if it is damaged or of another kind.
    fn add<'a>(
        &mut self,
        text: &str,
        item: &'a str,
        numbers: &mut HashMap<&'a str, usize>,
    ) -> Option<()> {
        let members = pieces::members(item);
        let word = |key| {
            member(&members, key).and_then(|word| {
                word.strip_prefix('"')?.strip_suffix('"').filter(|word| !word.trim().is_empty())
            })
        };
        let (id, is_span) = match word("object").filter(|_| members.is_complete)? {
            "trace" => (word("id")?, false),
            "trace.span" => (word("trace_id")?, true),
            _ => return None,
        };
        let number = *numbers.entry(id).or_insert_with(|| {
            self.traces.push(Trace { id: id.to_owned(), head: None, spans: Vec::new() });
            self.traces.len() - 1
        });
        let place = pieces::range_of_part(text, item);
        if is_span {
            self.traces[number].spans.push(place);
        } else {
            self.traces[number].head = Some(place);
        }
        Some(())
    }

    /// Parses a trace, null if it is not there, and its spans.
    pub(super) fn items(&self, at: usize) -> Result<(Value, Vec<Value>), ReadError> {
        let read = |range: &Range<usize>| parse(self.text.get(range.clone()).unwrap_or_default());
        let Some(trace) = self.traces.get(at) else { return Ok((Value::Null, Vec::new())) };
        let head = trace.head.as_ref().map(read).transpose()?.unwrap_or_default();
        Ok((head, trace.spans.iter().map(read).collect::<Result<_, _>>()?))
    }
}
