//! Log file with one line per call. Keeps keys out of it; a line that cannot be written does not
//! fail the call.
use super::Reply;
use crate::http::redact::Redactor;
use crate::tools::Unusable;
use fs_err as fs;
use fs_err::os::unix::fs::OpenOptionsExt as _;
use std::io::Write as _;
use std::path::Path;
use std::sync::{Mutex, PoisonError};
use touchstone_clock as clock;
use touchstone_formats::stabletoolbench::python_json::{Layout, Py};
use touchstone_formats::stabletoolbench::request::Request;

/// The log file.
pub(super) struct Log {
    file: Mutex<fs::File>,
}

/// A log line without its reply, and the key to hide in it.
pub(super) struct Line {
    request: Py,
    key: String,
}

impl Line {
    /// Creates a line from the request, without the key that came with it.
    pub(super) fn begin(asked: &Request) -> Self {
        let text = |text: &str| Py::from(text);
        let request = Py::Map(vec![
            ("category".into(), text(&asked.category)),
            ("tool_name".into(), text(&asked.tool)),
            ("api_name".into(), text(&asked.api)),
            ("tool_input".into(), asked.input.clone().unwrap_or_default()),
            ("strip".into(), text(&asked.strip)),
        ]);
        Self { request, key: asked.key.clone() }
    }
}

impl Log {
    pub(super) fn open(path: &Path) -> Result<Self, Unusable> {
        let file = fs::OpenOptions::new().create(true).append(true).mode(0o600).open(path);
        let file = file.map_err(|why| Unusable {
            message: format!("The log cannot be written: {why}."),
            fix: Some("Name another file.".to_owned()),
        })?;
        Ok(Self { file: Mutex::new(file) })
    }

    pub(super) fn end(&self, line: Line, reply: &Reply, redactor: &Redactor) {
        let time =
            jiff::Timestamp::from_millisecond(clock::now_ms()).unwrap_or_default().to_string();
        let mut entries = vec![
            ("time".into(), time.as_str().into()),
            ("type".into(), reply.from.word().into()),
            ("request".into(), line.request),
            ("response".into(), reply.value().into_owned()),
        ];
        if !reply.notes.is_empty() {
            let notes = reply.notes.iter().map(|note| note.as_str().into()).collect();
            entries.push(("notes".into(), Py::List(notes)));
        }
        let text = Py::Map(entries).dumps(Layout::Wire);
        let text =
            Redactor::new([line.key.as_str()]).clean(&redactor.redact_known(&text)).into_owned();
        let mut file = self.file.lock().unwrap_or_else(PoisonError::into_inner);
        if let Err(error) = file.write_all(format!("{text}\n").as_bytes()) {
            tracing::warn!(%error, "a call could not be written to the log");
        }
    }
}
