//! Client of the server with the real APIs: one POST per call, no redirects, no retries. Owns the
//! shape of the request.
use super::{ApiEnvironment, Call, Order, VirtualSettings};
use crate::http::client::{Client, Limits};
use crate::http::keys::ApiKey;
use crate::provider::{Auth, HttpRequest};
use crate::tools::Unusable;
use tokio_util::sync::CancellationToken;
use touchstone_formats::stabletoolbench::python_json::{self, Layout, Py};

/// Maximum number of bytes of a reply.
const LARGEST: usize = 8 << 20;

/// Client of the real APIs.
pub(super) struct Real {
    client: Client,
    url: String,
    key: Option<ApiKey>,
    seconds: u64,
    /// True if tool names are cut at `_for_` like in the original, which breaks six of them.
    cuts_first: bool,
}

/// Error of a request.
pub(super) enum NoReply {
    /// No connection, or the response is not JSON; the original crashes.
    BreaksOff(String),
    /// The status was not 200.
    Status(String),
}

impl Real {
    pub(super) fn open(
        url: &str,
        settings: &VirtualSettings,
        wires: &ApiEnvironment,
    ) -> Result<Self, Unusable> {
        if !url.starts_with("https://") && !url.starts_with("http://") {
            let message = format!("`{url}` is not an address of real APIs.");
            return Err(Unusable {
                message,
                fix: Some("Give one such as http://127.0.0.1:8080/rapidapi.".to_owned()),
            });
        }
        Ok(Self {
            client: Client::new(Limits { body: LARGEST, ..Limits::default() }),
            url: url.to_owned(),
            key: (wires.keys)(&settings.key),
            seconds: settings.seconds,
            cuts_first: settings.order == Order::Main,
        })
    }

    pub(super) async fn ask(&self, call: &Call, stop: &CancellationToken) -> Result<Py, NoReply> {
        let sent = self.client.send(&self.request(call), self.key(call).as_ref(), stop).await;
        let reply =
            sent.map_err(|why| NoReply::BreaksOff(format!("The real API gave no reply: {why}")))?;
        if reply.status != 200 {
            return Err(NoReply::Status(format!(
                "The real API answered with status {}.",
                reply.status
            )));
        }
        let text = String::from_utf8_lossy(&reply.body);
        let read = python_json::read(text.trim_start_matches('\u{feff}'));
        read.map_err(|why| {
            NoReply::BreaksOff(format!(
                "The real API answered with something that is not JSON: {why}"
            ))
        })
    }

    /// Returns the configured key, or the caller's if there is none.
    fn key(&self, call: &Call) -> Option<ApiKey> {
        self.key.clone().or_else(|| ApiKey::new(&call.key).ok())
    }

    fn request(&self, call: &Call) -> HttpRequest {
        let key = self.key(call);
        let tool = if self.cuts_first {
            call.tool.split("_for_").next().unwrap_or_default()
        } else {
            // The standardized name, however the caller wrote it: the original's runs send that
            // one.
            call.place.tool_without_category()
        };
        let body = Py::Map(vec![
            ("category".into(), call.place.category.as_str().into()),
            ("tool_name".into(), tool.into()),
            ("api_name".into(), call.place.api.as_str().into()),
            ("tool_input".into(), call.input.clone()),
            ("strip".into(), "".into()),
            ("toolbench_key".into(), key.as_ref().map_or("", ApiKey::reveal).into()),
        ]);
        HttpRequest {
            url: self.url.clone(),
            headers: vec![("content-type".to_owned(), "application/json".to_owned())],
            auth: if key.is_some() { Auth::ToolBench } else { Auth::None },
            body: body.dumps(Layout::Python).into_bytes(),
            stream: false,
            patience: self.seconds,
        }
    }
}
