//! The real APIs behind their own server: one POST for a call, no redirects, no second try. Owns
//! the shape of that request.
use super::{Call, Order, VirtualSettings, Wires};
use crate::http::client::{Client, Limits};
use crate::http::keys::ApiKey;
use crate::provider::{Auth, HttpRequest};
use crate::tools::Unusable;
use tokio_util::sync::CancellationToken;
use touchstone_formats::stabletoolbench::python_json::{self, Layout, Py};

/// A reply is a few pages at most.
const LARGEST: usize = 8 << 20;

/// The way to the real APIs.
pub(super) struct Real {
    client: Client,
    url: String,
    key: Option<ApiKey>,
    seconds: u64,
    /// The tool's name is cut as the original does it, which spoils six of them.
    cuts_first: bool,
}

/// Why there is no reply.
pub(super) enum NoReply {
    /// No connection, or something that is no JSON: the original breaks off.
    BreaksOff(String),
    /// It answered with another status than 200.
    Status(String),
}

impl Real {
    pub(super) fn open(
        url: &str,
        settings: &VirtualSettings,
        wires: &Wires,
    ) -> Result<Self, Unusable> {
        if !url.starts_with("https://") && !url.starts_with("http://") {
            let message = format!("`{url}` is no address of real APIs.");
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
                "The real API answered with something that is no JSON: {why}"
            ))
        })
    }

    /// Our own key; where there is none, the one that the caller brought.
    fn key(&self, call: &Call) -> Option<ApiKey> {
        self.key.clone().or_else(|| ApiKey::new(&call.key).ok())
    }

    fn request(&self, call: &Call) -> HttpRequest {
        let key = self.key(call);
        let tool = if self.cuts_first {
            call.tool.split("_for_").next().unwrap_or_default()
        } else {
            // By its standard name, however the caller wrote it: that is what the original's runs
            // send.
            call.place.tool_alone()
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
