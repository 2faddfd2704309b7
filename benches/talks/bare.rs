//! The least that any client has to do: send the conversation so far, read the reply, answer its calls, send again.
use crate::provider::{NUMBERED, Provider, TURNS};
use crate::{Measure, engine};
use serde_json::{Value, json};
use std::sync::Arc;
use std::sync::atomic::{AtomicU32, Ordering};
use std::time::{Duration, Instant};

pub(crate) fn run(provider: &Provider, measure: &Measure) -> Duration {
    let runtime = engine::runtime();
    let _ = rustls::crypto::ring::default_provider().install_default();
    let client = reqwest::Client::builder().no_proxy().tls_certs_only([]).build();
    let client = client.unwrap_or_else(|why| panic!("no client: {why}"));
    let (url, next) = (format!("{}/chat/completions", provider.url()), Arc::new(AtomicU32::new(0)));
    let (conversations, begun) = (measure.conversations, Instant::now());
    runtime.block_on(async {
        let talk = |_| {
            let (client, url, next) = (client.clone(), url.clone(), Arc::clone(&next));
            tokio::spawn(async move {
                loop {
                    let number = next.fetch_add(1, Ordering::Relaxed);
                    if number >= conversations {
                        return;
                    }
                    hold(&client, &url, number).await;
                }
            })
        };
        for task in (0..measure.at_once).map(talk).collect::<Vec<_>>() {
            let _ = task.await;
        }
    });
    begun.elapsed()
}

async fn hold(client: &reqwest::Client, url: &str, number: u32) {
    let tools = json!([{ "type": "function", "function": { "name": "look", "parameters": {} } }]);
    let mut messages = vec![json!({ "role": "user", "content": format!("{NUMBERED}{number}.") })];
    for _ in 0..TURNS {
        let body = json!({ "model": "any", "messages": messages, "tools": tools }).to_string();
        let sent = client.post(url).header("content-type", "application/json").body(body).send().await;
        let reply = match sent {
            Ok(response) => response.bytes().await.unwrap_or_default(),
            Err(_) => return,
        };
        let reply: Value = serde_json::from_slice(&reply).unwrap_or_default();
        let message = reply["choices"][0]["message"].clone();
        let call = message["tool_calls"][0]["id"].clone();
        messages.push(message);
        messages.push(json!({ "role": "tool", "tool_call_id": call, "content": "[{\"n\":1}]" }));
    }
}
