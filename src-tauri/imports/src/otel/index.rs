//! **Pure.** Places of the spans in a file, grouped by trace. Spans are parsed when their trace is
//! read.
use super::attributes::Attributes;
use super::span::Span;
use crate::pieces::{self, Pieces, member};
use crate::traces;
use std::collections::HashMap;
use std::ops::Range;
use touchstone_model::error::{ReadError, ReadErrorKind};
use touchstone_model::value::Value;

/// Spans of a file by trace.
pub(super) struct Index {
    text: String,
    traces: Vec<Trace>,
    /// Resources and scopes that spans refer to.
    origins: Vec<Origin>,
    /// Error of the file around its traces.
    pub(super) error: Option<ReadError>,
}

struct Trace {
    id: String,
    spans: Vec<SpanRange>,
}

struct SpanRange {
    span: Range<usize>,
    origin: usize,
}

#[derive(Default)]
struct Origin {
    resource: Option<Range<usize>>,
    scope: Option<Range<usize>>,
}

impl Index {
    /// Finds all complete spans. Fails if the file holds none and is damaged.
    pub(super) fn read(bytes: Vec<u8>) -> Result<Index, ReadError> {
        let text = pieces::text(bytes)?;
        let mut finder = Finder {
            text: &text,
            traces: Vec::new(),
            numbers: HashMap::new(),
            origins: Vec::new(),
            error: None,
        };
        for document in pieces::documents(&text) {
            if document.starts_with('[') {
                let list = pieces::items(document);
                finder.check(&list);
                list.parts.iter().for_each(|document| finder.document(document));
            } else {
                finder.document(document);
            }
        }
        let Finder { traces, origins, error, .. } = finder;
        if traces.is_empty()
            && let Some(error) = error
        {
            return Err(error);
        }
        Ok(Index { text, traces, origins, error })
    }

    pub(super) fn len(&self) -> usize {
        self.traces.len()
    }

    pub(super) fn id(&self, at: usize) -> Option<String> {
        self.traces.get(at).map(|trace| trace.id.clone())
    }

    /// Parses the spans of a trace.
    pub(super) fn spans(&self, at: usize) -> Result<Vec<Span>, ReadError> {
        let places = self.traces.get(at).map(|trace| trace.spans.as_slice()).unwrap_or_default();
        let mut spans = Vec::with_capacity(places.len());
        let mut resources: HashMap<Range<usize>, Option<String>> = HashMap::new();
        for place in places {
            let origin = &self.origins[place.origin];
            let mut span = Span::read(&self.parse(&place.span)?);
            if let Some(range) = &origin.resource {
                if !resources.contains_key(range) {
                    let resource = self.parse(range)?;
                    let attributes = Attributes::read(resource.get("attributes"));
                    let service = attributes.text("service.name").map(str::to_owned);
                    resources.insert(range.clone(), service);
                }
                let service = resources.get(range).cloned().flatten();
                span.service = service;
            }
            if let Some(range) = &origin.scope {
                let scope = self.parse(range)?;
                let name = scope.text_at("name").unwrap_or_default();
                let version = scope.text_at("version").unwrap_or_default();
                let scope = format!("{name} {version}").trim().to_owned();
                span.scope = Some(scope).filter(|scope| !scope.is_empty());
            }
            spans.push(span);
        }
        Ok(spans)
    }

    fn parse(&self, range: &Range<usize>) -> Result<Value, ReadError> {
        traces::parse(self.text.get(range.clone()).unwrap_or_default())
    }
}

struct Finder<'a> {
    text: &'a str,
    traces: Vec<Trace>,
    numbers: HashMap<&'a str, usize>,
    origins: Vec<Origin>,
    error: Option<ReadError>,
}

impl<'a> Finder<'a> {
    fn check<T>(&mut self, pieces: &Pieces<T>) {
        if !pieces.is_complete && self.error.is_none() {
            self.error = Some(pieces::cut_off());
        }
    }

    fn document(&mut self, document: &'a str) {
        let members = pieces::members(document);
        self.check(&members);
        for resource in self.list(member(&members, "resourceSpans")) {
            let members = pieces::members(resource);
            let place =
                member(&members, "resource").map(|part| pieces::range_of_part(self.text, part));
            let scopes = ["scopeSpans", "instrumentationLibrarySpans"];
            let scopes = scopes.iter().find_map(|key| member(&members, key));
            for scope in self.list(scopes) {
                let members = pieces::members(scope);
                let keys = ["scope", "instrumentationLibrary"];
                let part = keys.iter().find_map(|key| member(&members, key));
                let scope = part.map(|part| pieces::range_of_part(self.text, part));
                self.origins.push(Origin { resource: place.clone(), scope });
                for span in self.list(member(&members, "spans")) {
                    self.span(span);
                }
            }
        }
    }

    fn list(&mut self, part: Option<&'a str>) -> Vec<&'a str> {
        let Some(part) = part.filter(|part| part.starts_with('[')) else { return Vec::new() };
        let list = pieces::items(part);
        self.check(&list);
        list.parts
    }

    /// Files a span under its trace. One that is cut off is left out.
    fn span(&mut self, span: &'a str) {
        let members = pieces::members(span);
        if !members.is_complete {
            self.check(&members);
            return;
        }
        let id = member(&members, "traceId").and_then(|id| id.strip_prefix('"')?.strip_suffix('"'));
        let Some(id) = id.filter(|id| !id.trim().is_empty()) else {
            let message = "A span has no trace id and is not shown.";
            self.error.get_or_insert_with(|| ReadError::new(ReadErrorKind::BadValue, message));
            return;
        };
        let number = *self.numbers.entry(id).or_insert_with(|| {
            self.traces.push(Trace { id: id.to_owned(), spans: Vec::new() });
            self.traces.len() - 1
        });
        let place = pieces::range_of_part(self.text, span);
        let origin = self.origins.len() - 1;
        self.traces[number].spans.push(SpanRange { span: place, origin });
    }
}
