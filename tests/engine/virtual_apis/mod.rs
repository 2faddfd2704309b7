//! Tests of virtual APIs: the order of sources, the cache, and that no reply is lost or paid for
//! twice.
mod golden;
mod keeping;
mod orders;

use super::scripted::{Reply, Scripted, Seen};
use fs_err as fs;
use serde_json::{Value, json};
use std::path::PathBuf;
use std::sync::Arc;
use tempfile::TempDir;
use tokio_util::sync::CancellationToken;
use touchstone_formats::stabletoolbench::Pool;
use touchstone_formats::workspace;
use touchstone_runner::http::client::Client;
use touchstone_runner::http::keys::ApiKey;
use touchstone_runner::http::limiter::Limiters;
use touchstone_runner::http::redact::Redactor;
use touchstone_runner::setup::Setup;
use touchstone_runner::tools::pool;
use touchstone_runner::tools::virtual_api::{self, VirtualApis, VirtualSettings, Wires};

/// Cache file of the standard call.
const KEPT: &str = "Weather/river_gauge_for_Weather/level_of_gauge.json";

/// A folder with a cache, and settings for scripted servers.
struct Stage {
    home: TempDir,
    settings: VirtualSettings,
    pool: Arc<Pool>,
    models: String,
}

impl Stage {
    fn new() -> Self {
        let home = tempfile::tempdir().unwrap();
        let settings = VirtualSettings {
            cache: Some(home.path().join("cache")),
            ..VirtualSettings::default()
        };
        Self { home, settings, pool: Arc::default(), models: String::new() }
    }

    /// Uses the tools of the fixtures.
    fn with_tools(mut self) -> Self {
        let dir = PathBuf::from(env!("CARGO_MANIFEST_DIR"))
            .join("../../tests/fixtures/stabletoolbench/tools");
        self.pool = Arc::new(pool::load(&dir).unwrap());
        self
    }

    /// Uses a model as the simulator.
    fn simulated_by(mut self, server: &Scripted) -> Self {
        let url = server.url("/v1");
        self.models =
            format!("models: {{ sim: {{ provider: openai, base_url: '{url}', model: stub }} }}");
        self.settings.simulator = Some("sim".to_owned());
        self
    }

    fn set(mut self, set: impl FnOnce(&mut VirtualSettings)) -> Self {
        set(&mut self.settings);
        self
    }

    fn open(&self) -> VirtualApis {
        let setup = Setup::of(&workspace::read(&self.models).unwrap());
        let key = |name: &str| (name == "TOOLBENCH_KEY").then(|| ApiKey::new(KEY).unwrap());
        let wires = Wires {
            client: Client::default(),
            limiters: Arc::new(Limiters::default()),
            keys: Arc::new(key),
            redactor: Redactor::new([KEY]),
            payer: None,
        };
        VirtualApis::open(self.settings.clone(), &setup, Arc::clone(&self.pool), wires).unwrap()
    }

    fn path(&self, name: &str) -> PathBuf {
        self.home.path().join("cache").join(name)
    }

    fn write(&self, name: &str, text: &str) {
        fs::create_dir_all(self.path(name).parent().unwrap()).unwrap();
        fs::write(self.path(name), text).unwrap();
    }

    fn read(&self, name: &str) -> Option<String> {
        fs::read_to_string(self.path(name)).ok()
    }

    /// Content of a cache file, by key.
    fn kept(&self, name: &str) -> serde_json::Map<String, Value> {
        self.read(name).map(|text| serde_json::from_str(&text).unwrap()).unwrap_or_default()
    }
}

const KEY: &str = "canary-key-0123456789";

/// Makes the standard call.
async fn call(apis: &VirtualApis, input: &str) -> virtual_api::Reply {
    apis.call("Weather", "River Gauge", "Level of gauge", input, "", &CancellationToken::new())
        .await
        .unwrap()
}

fn said(reply: &virtual_api::Reply) -> Value {
    serde_json::from_str(&reply.json()).unwrap()
}

/// Builds a completion with this text.
fn completion(text: &str) -> Reply {
    Reply::json(&chat(text))
}

fn chat(text: &str) -> Value {
    json!({ "id": "c", "model": "stub", "choices": [{ "index": 0, "finish_reason": "stop",
        "message": { "role": "assistant", "content": text } }], "usage": { "prompt_tokens": 1, "completion_tokens": 1 } })
}

/// A model that answers with the last line of its request as the reply of the API.
fn echo(seen: &Seen) -> Reply {
    let body = seen.json();
    let asked = body["messages"].as_array().unwrap().last().unwrap()["content"]
        .as_str()
        .unwrap()
        .to_owned();
    completion(&json!({ "error": "", "response": asked.lines().last().unwrap() }).to_string())
}
