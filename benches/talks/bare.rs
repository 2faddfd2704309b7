//! Lower bound for any client: send the conversation so far, read the reply, answer its tool calls,
//! send again.
use crate::provider::{NUMBERED, Provider, TURNS};
use crate::{Measure, engine};
use fs_err::{File, OpenOptions};
use serde_json::{Value, json};
use std::io::Write as _;
use std::path::Path;
use std::sync::Arc;
use std::sync::atomic::{AtomicU32, Ordering};
use std::time::{Duration, Instant};

/// Holds all conversations. With `keep`, each reply is stored in that folder before the
/// conversation continues, which is the minimum for a client that loses no reply.
pub(crate) fn run(provider: &Provider, measure: &Measure, keep: Option<&Path>) -> Duration {
    let runtime = engine::runtime();
    let _ = rustls::crypto::ring::default_provider().install_default();
    let client = reqwest::Client::builder().no_proxy().tls_certs_only([]).build();
    let client = client.unwrap_or_else(|why| panic!("no client: {why}"));
    let (url, next) = (format!("{}/chat/completions", provider.url()), Arc::new(AtomicU32::new(0)));
    let (conversations, begun) = (measure.conversations, Instant::now());
    runtime.block_on(async {
        let talk = |_| {
            let (client, url, next) = (client.clone(), url.clone(), Arc::clone(&next));
            let keep = keep.map(Path::to_path_buf);
            tokio::spawn(async move {
                loop {
                    let number = next.fetch_add(1, Ordering::Relaxed);
                    if number >= conversations {
                        return;
                    }
                    let journal = keep
                        .as_ref()
                        .map(|folder| journal(&folder.join(format!("bare-{number}.jsonl"))));
                    hold(&client, &url, number, journal).await;
                }
            })
        };
        for task in (0..measure.at_once).map(talk).collect::<Vec<_>>() {
            let _ = task.await;
        }
    });
    begun.elapsed()
}

fn journal(path: &Path) -> Arc<File> {
    let file = OpenOptions::new().create(true).append(true).open(path);
    Arc::new(file.unwrap_or_else(|why| panic!("no journal: {why}")))
}

async fn put(journal: &Arc<File>, reply: Vec<u8>) {
    let journal = Arc::clone(journal);
    let kept = move || (&*journal).write_all(&reply).and_then(|()| journal.sync_data());
    let kept = tokio::task::spawn_blocking(kept).await;
    assert!(matches!(kept, Ok(Ok(()))), "{kept:?}");
}

async fn hold(client: &reqwest::Client, url: &str, number: u32, journal: Option<Arc<File>>) {
    let tools = json!([{ "type": "function", "function": { "name": "look", "parameters": {} } }]);
    let mut messages = vec![json!({ "role": "user", "content": format!("{NUMBERED}{number}.") })];
    for _ in 0..TURNS {
        let body = json!({ "model": "any", "messages": messages, "tools": tools }).to_string();
        let sent =
            client.post(url).header("content-type", "application/json").body(body).send().await;
        let reply = match sent {
            Ok(response) => response.bytes().await.unwrap_or_default().to_vec(),
            Err(_) => return,
        };
        if let Some(journal) = &journal {
            put(journal, reply.clone()).await;
        }
        let reply: Value = serde_json::from_slice(&reply).unwrap_or_default();
        let message = reply["choices"][0]["message"].clone();
        let call = message["tool_calls"][0]["id"].clone();
        messages.push(message);
        messages.push(json!({ "role": "tool", "tool_call_id": call, "content": "[{\"n\":1}]" }));
    }
}
