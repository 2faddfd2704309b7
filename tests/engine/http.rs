//! Tests of the HTTP client against a provider that misbehaves in every possible way: the request,
//! the stored reply, and that a key appears in its header and nowhere else.
use super::canary;
use super::conversation::{Conversation, Wire};
use super::gzip::gzip;
use super::scripted::{Latch, Reply, Scripted};
use serde_json::{Value, json};
use std::sync::{Arc, Mutex};
use std::time::{Duration, Instant};
use tokio_util::sync::CancellationToken;
use touchstone_runner::http::client::{Client, Limits, SendError, SendFault};
use touchstone_runner::http::keys::ApiKey;
use touchstone_runner::provider::{Auth, HttpReply, HttpRequest};

const KEY: &str = "canary/key+0123456789";
const SECOND: Duration = Duration::from_secs(1);

fn request(url: &str) -> HttpRequest {
    HttpRequest {
        url: url.to_owned(),
        headers: vec![("content-type".to_owned(), "application/json".to_owned())],
        auth: Auth::Bearer,
        body: br#"{"model":"m"}"#.to_vec(),
        stream: false,
        patience: 20,
    }
}

async fn send_with(limits: Limits, request: &HttpRequest) -> Result<HttpReply, SendError> {
    let key = ApiKey::new(KEY).unwrap();
    let sent = Client::new(limits).send(request, Some(&key), &CancellationToken::new()).await;
    let shown = format!("{sent:?}");
    assert_eq!(canary::spot(shown.as_bytes(), KEY), None, "{shown}");
    sent
}

async fn send(server: &Scripted) -> Result<HttpReply, SendError> {
    send_with(Limits::default(), &request(&server.url("/v1"))).await
}

async fn fails(server: &Scripted) -> SendError {
    send(server).await.unwrap_err()
}

#[tokio::test]
async fn what_is_sent_arrives_and_what_is_said_comes_back() {
    let server = Scripted::always(Reply::json(&json!({ "a": 1 })).header("Request-Id", "r1"));
    let reply = send(&server).await.unwrap();
    assert_eq!(
        (reply.status, reply.header("request-id"), reply.body.as_slice()),
        (200, Some("r1"), &b"{\"a\":1}"[..])
    );
    let seen = &server.seen()[0];
    assert_eq!((seen.path.as_str(), seen.json()), ("/v1", json!({ "model": "m" })));
    assert_eq!(seen.headers["authorization"], format!("Bearer {KEY}"));
    assert_eq!(seen.headers["content-type"], "application/json");
    assert_eq!(server.delivered(), 1);
}

#[tokio::test]
async fn connections_are_used_again() {
    let server = Scripted::always(Reply::json(&json!({})));
    let client = Client::default();
    let (key, stop) = (ApiKey::new(KEY).unwrap(), CancellationToken::new());
    let began = Instant::now();
    for _ in 0..500 {
        client.send(&request(&server.url("/")), Some(&key), &stop).await.unwrap();
    }
    eprintln!("{:.0} requests a second, one after another", 500.0 / began.elapsed().as_secs_f64());
    assert_eq!(server.delivered(), 500);
    assert_eq!(server.connections(), 1);
}

#[tokio::test]
async fn errors_of_a_provider_are_replies_whatever_they_look_like() {
    let html = "<html><body>Bad gateway</body></html>";
    for (reply, status, body) in [
        (Reply::new(429).header("retry-after", "7"), 429, ""),
        (Reply::json(&json!({})).status(529), 529, "{}"),
        (Reply::new(500).text("text/html", html), 500, html),
        (Reply::json(&json!({ "error": {} })), 200, r#"{"error":{}}"#),
        (Reply::new(200).text("image/png", "{}"), 200, "{}"),
        (Reply::events([("error", "{}".to_owned())]), 200, "event: error\ndata: {}\n\n"),
        (
            Reply::events([("", "1".to_owned()), ("", "1".to_owned())]),
            200,
            "data: 1\n\ndata: 1\n\n",
        ),
    ] {
        let server = Scripted::always(reply);
        let reply = send(&server).await.unwrap();
        assert_eq!((reply.status, String::from_utf8(reply.body).unwrap().as_str()), (status, body));
    }
}

#[tokio::test]
async fn a_reply_that_breaks_off_is_an_error_that_holds_what_came() {
    let body = "0123456789".repeat(100);
    let whole = || Reply::new(200).header("request-id", "r1").text("text/plain", &body);
    assert_eq!(send(&Scripted::always(whole())).await.unwrap().body.len(), 1000);
    let error = fails(&Scripted::always(whole().cut_after(500))).await;
    assert_eq!(error.fault, SendFault::Cut);
    let part = error.part.unwrap();
    assert_eq!(
        (part.header("request-id"), part.body.as_slice()),
        (Some("r1"), &body.as_bytes()[..500])
    );
    // The number of bytes that survive a reset depends on the system.
    let error = fails(&Scripted::always(whole().reset_after(500))).await;
    assert!(matches!(error.fault, SendFault::Cut | SendFault::Broken), "{error:?}");
    assert_eq!(fails(&Scripted::always(Reply::reset_at_once())).await.fault, SendFault::Broken);
}

#[tokio::test]
async fn a_packed_reply_is_unpacked_and_half_of_one_is_an_error() {
    let body = "0123456789".repeat(20_000);
    let packed = || Reply::new(200).text("text/plain", &body).gzipped();
    assert_eq!(send(&Scripted::always(packed())).await.unwrap().body, body.as_bytes());
    assert_eq!(fails(&Scripted::always(packed().cut_after(70_000))).await.fault, SendFault::Cut);
    // Truncated content on an intact connection: the body claims to be complete.
    let half =
        Reply::new(200).header("content-encoding", "gzip").bytes(&gzip(body.as_bytes())[..70_000]);
    assert_eq!(fails(&Scripted::always(half)).await.fault, SendFault::Cut);
}

#[tokio::test]
async fn no_reply_is_larger_than_the_limit_after_unpacking() {
    let small = Limits { body: 3 << 20, ..Limits::default() };
    for (limits, reply, fits) in [
        (Limits::default(), Reply::gzip_bomb(4), true),
        (small, Reply::gzip_bomb(2), true),
        (small, Reply::gzip_bomb(4), false),
        (small, Reply::new(200).text("text/plain", "again and again ").endless(), false),
    ] {
        let server = Scripted::always(reply);
        match send_with(limits, &request(&server.url("/"))).await {
            // The bomb ends without a checksum; the amount that was read counts.
            Err(error) if fits => {
                assert_eq!(error.fault, SendFault::Cut, "{error}");
                assert!(error.part.unwrap().body.len() > 1 << 20);
            }
            ended => assert_eq!(ended.unwrap_err().fault, SendFault::TooLarge),
        }
    }
}

#[tokio::test]
async fn huge_headers_are_refused() {
    let with = |bytes: usize| {
        Scripted::always(Reply::json(&json!({})).header("x-large", &"x".repeat(bytes)))
    };
    assert!(send(&with(10_000)).await.is_ok());
    assert_eq!(fails(&with(10 << 20)).await.fault, SendFault::Broken);
    let many = |count| {
        (0..count).fold(Reply::json(&json!({})), |reply, n| reply.header(&format!("x-{n}"), "1"))
    };
    assert!(send(&Scripted::always(many(50))).await.is_ok());
    assert_eq!(fails(&Scripted::always(many(500))).await.fault, SendFault::Broken);
}

#[tokio::test]
async fn a_redirect_is_a_reply_and_nobody_follows_it() {
    let other = Scripted::always(Reply::json(&json!({})));
    for status in [301, 302, 303, 307, 308] {
        let server = Scripted::always(Reply::new(status).header("location", &other.url("/")));
        assert_eq!(send(&server).await.unwrap().status, status);
    }
    assert!(other.seen().is_empty());
    assert_eq!(send(&other).await.unwrap().status, 200);
}

#[tokio::test]
async fn a_reply_that_takes_too_long_is_given_up() {
    let never = Latch::default();
    let impatient = |server: &Scripted, stream| HttpRequest {
        patience: 1,
        stream,
        ..request(&server.url("/"))
    };
    let body = "data: 1\n\ndata: 2\n\n";
    let slow = [
        Reply::json(&json!({})).once_open(&never),
        Reply::new(200).text("text/plain", body).hold_after(9, &never),
        Reply::new(200).text("text/plain", body).dribbled(Duration::from_millis(50)),
    ];
    for reply in slow {
        let server = Scripted::always(reply);
        let began = Instant::now();
        let error = send_with(Limits::default(), &impatient(&server, false)).await.unwrap_err();
        assert_eq!(error.fault, SendFault::TimedOut);
        assert!(began.elapsed() < 3 * SECOND);
    }
    // A stream may take long in total, but not between two of its parts.
    let idle = Limits { idle: Duration::from_millis(300), ..Limits::default() };
    let held =
        Scripted::always(Reply::new(200).text("text/event-stream", body).hold_after(9, &never));
    let patient = HttpRequest { patience: 20, stream: true, ..request(&held.url("/")) };
    let error = send_with(idle, &patient).await.unwrap_err();
    assert_eq!(
        (error.fault, error.part.unwrap().body.as_slice()),
        (SendFault::TimedOut, &b"data: 1\n\n"[..])
    );
    let steady = Scripted::always(
        Reply::new(200).text("text/event-stream", body).dribbled(Duration::from_millis(10)),
    );
    assert!(send_with(idle, &HttpRequest { url: steady.url("/"), ..patient }).await.is_ok());
    never.open();
}

#[tokio::test]
async fn a_stream_may_be_silent_for_long_until_its_first_event() {
    let idle = Limits { idle: Duration::from_millis(50), ..Limits::default() };
    for before in ["", ": thinking\n\n"] {
        let latch = Latch::default();
        let body = format!("{before}data: 1\n\n");
        let server = Scripted::always(
            Reply::new(200).text("text/event-stream", &body).hold_after(before.len(), &latch),
        );
        let request = HttpRequest { patience: 20, stream: true, ..request(&server.url("/")) };
        let mut sending = tokio::spawn(async move { send_with(idle, &request).await });
        assert!(
            tokio::time::timeout(idle.idle * 6, &mut sending).await.is_err(),
            "it was cut after {before:?}"
        );
        latch.open();
        assert_eq!(sending.await.unwrap().unwrap().body, body.as_bytes());
    }
}

#[tokio::test]
async fn what_is_stopped_ends_within_a_second() {
    let never = Latch::default();
    let server = Scripted::always(Reply::json(&json!({})).once_open(&never));
    let stop = CancellationToken::new();
    let sending = tokio::spawn({
        let (stop, request) = (stop.clone(), request(&server.url("/")));
        async move { Client::default().send(&request, Some(&ApiKey::new(KEY).unwrap()), &stop).await }
    });
    let server = tokio::task::spawn_blocking(move || {
        server.wait_for(1);
        server
    });
    let _server = server.await.unwrap();
    let began = Instant::now();
    stop.cancel();
    assert_eq!(sending.await.unwrap().unwrap_err().fault, SendFault::Stopped);
    assert!(began.elapsed() < SECOND);
    never.open();
}

#[tokio::test]
async fn nothing_is_sent_where_a_key_must_not_go() {
    let server = Scripted::always(Reply::json(&json!({})));
    let elsewhere = request(&server.url("/").replace("127.0.0.1", "0.0.0.0"));
    let error = send_with(Limits::default(), &elsewhere).await.unwrap_err();
    assert_eq!(error.fault, SendFault::NotSent);
    assert!(server.seen().is_empty());
    // Without a key, a request to that address arrives.
    let open = HttpRequest { auth: Auth::None, ..elsewhere };
    assert!(send_with(Limits::default(), &open).await.is_ok());
    assert_eq!(server.seen().len(), 1);
}

#[tokio::test]
async fn nobody_there_is_a_broken_connection_and_says_so_without_the_address() {
    let error =
        send_with(Limits::default(), &request("http://127.0.0.1:1/secret-path")).await.unwrap_err();
    assert_eq!(error.fault, SendFault::Broken);
    assert!(error.message.contains("refused") && !error.message.contains("secret-path"), "{error}");
}

/// Executed by the tests below in a separate process whose environment names a proxy: requests the
/// addresses in `TEST_URLS`, and prints the outcome of each.
#[tokio::test]
#[ignore = "needs an environment that only the next tests make"]
async fn through_the_proxy_of_the_environment() {
    let Ok(urls) = std::env::var("TEST_URLS") else {
        return eprintln!("only the next tests make that environment");
    };
    for url in urls.split(' ') {
        let encrypted = url.starts_with("https:") || url.contains("//127.");
        let auth = if encrypted { Auth::Bearer } else { Auth::None };
        let said = match send_with(Limits::default(), &HttpRequest { auth, ..request(url) }).await {
            Ok(reply) => format!("status {}", reply.status),
            Err(error) => format!("{:?}: {error}", error.fault),
        };
        println!("said: {said}");
    }
}

/// Returns the outcome of each address in this environment, without any other proxy variable.
fn asked(urls: &[&str], environment: &[(&str, &str)]) -> Vec<String> {
    let mut child = std::process::Command::new(std::env::current_exe().unwrap());
    for name in ["HTTP_PROXY", "HTTPS_PROXY", "ALL_PROXY", "NO_PROXY", "REQUEST_METHOD"] {
        child.env_remove(name).env_remove(name.to_lowercase());
    }
    let child = child
        .args(["--exact", "http::through_the_proxy_of_the_environment", "--ignored", "--nocapture"])
        .envs(environment.iter().copied())
        .env("TEST_URLS", urls.join(" "))
        .output()
        .unwrap();
    let out = String::from_utf8(child.stdout).unwrap();
    assert!(child.status.success(), "{out}{}", String::from_utf8_lossy(&child.stderr));
    let said: Vec<String> =
        out.lines().filter_map(|line| Some(line.split_once("said: ")?.1.to_owned())).collect();
    assert_eq!(said.len(), urls.len(), "{out}");
    said
}

/// Returns the requests received by a proxy or a server.
fn heard(server: &Scripted) -> Vec<String> {
    server.seen().into_iter().map(|seen| format!("{} {}", seen.method, seen.path)).collect()
}

#[test]
fn proxies_of_the_environment_serve_the_world_and_never_this_machine() {
    for name in ["HTTP_PROXY", "http_proxy", "ALL_PROXY", "all_proxy"] {
        let (proxy, local) = (Scripted::always(Reply::new(200)), Scripted::always(Reply::new(200)));
        let urls = [&*local.url("/here"), "http://provider.invalid/v1"];
        assert_eq!(asked(&urls, &[(name, &proxy.url(""))]), ["status 200", "status 200"], "{name}");
        assert_eq!(heard(&proxy), ["POST http://provider.invalid/v1"], "{name}");
        assert_eq!(heard(&local), ["POST /here"], "{name}");
    }
}

#[test]
fn a_proxy_is_asked_for_a_tunnel_to_an_encrypted_provider_and_hears_no_key() {
    for name in ["HTTPS_PROXY", "https_proxy", "ALL_PROXY"] {
        for (status, why) in [(403, "unsuccessful"), (407, "authorization")] {
            let proxy = Scripted::always(Reply::new(status));
            let own = proxy.url("").replace("//", "//me:hunter2-of-the-proxy@");
            let said = asked(&["https://provider.invalid/v1"], &[(name, &own)]).remove(0);
            assert_eq!(heard(&proxy), ["CONNECT provider.invalid:443"], "{name}");
            let seen = &proxy.seen()[0];
            assert!(
                !seen.headers.contains_key("authorization") && seen.body.is_empty(),
                "{seen:?}"
            );
            assert_eq!(canary::spot(format!("{seen:?}").as_bytes(), KEY), None);
            assert!(
                seen.headers["proxy-authorization"].starts_with("Basic "),
                "its own password is for it: {seen:?}"
            );
            let at = proxy.url("").replace("http://", "");
            let begins = format!(
                "Broken: No connection through the proxy {at}, which the environment names: "
            );
            assert!(said.starts_with(&begins) && said.contains(why), "{said}");
            assert!(said.contains("NO_PROXY") && !said.contains("hunter2"), "{said}");
        }
    }
}

#[test]
fn a_proxy_that_is_down_is_named_as_what_is_in_the_way() {
    let down = "http://127.0.0.1:1";
    for url in ["https://provider.invalid/v1", "http://provider.invalid/v1"] {
        let said = asked(&[url], &[("ALL_PROXY", down)]).remove(0);
        assert!(
            said.starts_with("Broken: No connection through the proxy 127.0.0.1:1, "),
            "{said}"
        );
        assert!(said.contains("refused") && said.contains("NO_PROXY"), "{said}");
    }
    let local = asked(&["http://127.0.0.1:1/v1"], &[("ALL_PROXY", down)]).remove(0);
    assert!(
        local.contains("refused") && !local.contains("proxy"),
        "no proxy has a part in this: {local}"
    );
}

#[test]
fn what_the_environment_excepts_from_its_proxy_is_asked_directly() {
    // A client does not take this address for a local one, and yet it leads to this machine.
    let (proxy, server) = (Scripted::always(Reply::new(418)), Scripted::always(Reply::new(200)));
    let direct = server.url("/v1").replace("127.0.0.1", "0.0.0.0");
    let other = "http://provider.invalid/v1";
    let own = proxy.url("");
    let with =
        |excepted: &str| asked(&[&direct, other], &[("HTTP_PROXY", &own), ("NO_PROXY", excepted)]);
    assert_eq!(with(""), ["status 418", "status 418"], "without an exception both go through it");
    assert_eq!(with("localhost,0.0.0.0"), ["status 200", "status 418"]);
    assert_eq!((proxy.seen().len(), server.seen().len()), (3, 1));
}

#[tokio::test]
async fn a_scripted_model_calls_its_tool_for_some_turns_and_then_answers() {
    for (wire, streams) in
        [(Wire::Messages, false), (Wire::Messages, true), (Wire::Chat, false), (Wire::Chat, true)]
    {
        let conversation = Conversation::new(wire, 2);
        let server = Scripted::start(move |seen| conversation.reply(seen));
        let tool = if wire == Wire::Messages {
            json!({ "name": "sql" })
        } else {
            json!({ "function": { "name": "sql" } })
        };
        let mut messages = vec![json!({ "role": "user", "content": "how many?" })];
        let mut ends = Vec::new();
        for _ in 0..3 {
            let body =
                json!({ "model": "m", "stream": streams, "tools": [tool], "messages": messages });
            let request =
                HttpRequest { body: body.to_string().into_bytes(), ..request(&server.url("/")) };
            let said =
                String::from_utf8(send_with(Limits::default(), &request).await.unwrap().body)
                    .unwrap();
            assert_eq!(
                said,
                String::from_utf8(send_with(Limits::default(), &request).await.unwrap().body)
                    .unwrap()
            );
            let end = ["tool_use\",\"stop_sequence", "\"finish_reason\":\"tool_calls", "```json"];
            ends.push(end.iter().position(|end| said.contains(end)));
            messages.push(match wire {
                Wire::Messages => {
                    json!({ "role": "assistant", "content": [{ "type": "tool_use" }] })
                }
                Wire::Chat => json!({ "role": "assistant", "tool_calls": [{ "id": "a" }] }),
            });
            assert_eq!(said.starts_with('{'), !streams);
            let is_whole = said.ends_with("{\"type\":\"message_stop\"}\n\n")
                || said.ends_with("data: [DONE]\n\n");
            assert_eq!(is_whole, streams, "{said}");
        }
        let calls = Some(usize::from(wire == Wire::Chat));
        assert_eq!(ends, [calls, calls, Some(2)], "{wire:?} {streams}");
    }
}

#[test]
fn a_thousand_requests_at_once_are_served() {
    let server = Scripted::always(Reply::json(&json!({ "a": [1, 2, 3] }))).forgetful();
    let runtime =
        tokio::runtime::Builder::new_multi_thread().worker_threads(2).enable_all().build().unwrap();
    let client = Client::default();
    let failed = Arc::new(Mutex::new(Vec::<String>::new()));
    let began = Instant::now();
    runtime.block_on(async {
        let crowd: Vec<_> = (0..50)
            .map(|_| {
                let (client, request, failed) =
                    (client.clone(), request(&server.url("/")), Arc::clone(&failed));
                tokio::spawn(async move {
                    let (key, stop) = (ApiKey::new(KEY).unwrap(), CancellationToken::new());
                    for _ in 0..20 {
                        if let Err(error) = client.send(&request, Some(&key), &stop).await {
                            failed.lock().unwrap().push(error.to_string());
                        }
                    }
                })
            })
            .collect();
        for one in crowd {
            one.await.unwrap();
        }
    });
    eprintln!("{:.0} requests a second, fifty at a time", 1000.0 / began.elapsed().as_secs_f64());
    assert_eq!(*failed.lock().unwrap(), Vec::<String>::new());
    assert_eq!((server.delivered(), server.seen().len()), (1000, 0));
}

#[test]
fn arguments_are_what_the_tool_expects() {
    let conversation = Conversation::new(Wire::Chat, 1);
    assert_eq!(
        (conversation.arguments)("execute_python_program", 3),
        json!({ "pythonCode": "print(3)" })
    );
    assert_eq!((conversation.answer)("abc"), Value::from(vec![json!({ "length": 3 })]));
}
