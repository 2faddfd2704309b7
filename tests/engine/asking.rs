//! Tests of requests with retries: the failures that are retried, that every attempt is stored
//! before anything else is done with it, and that a stop ends all of it.
use super::canary;
use super::scripted::{Latch, Reply, Scripted};
use serde_json::json;
use std::sync::{Arc, Mutex};
use std::time::{Duration, Instant};
use tokio_util::sync::CancellationToken;
use touchstone_runner::disk::{DiskError, DiskErrorKind};
use touchstone_runner::http::client::Client;
use touchstone_runner::http::keys::ApiKey;
use touchstone_runner::http::limiter::Limiter;
use touchstone_runner::http::pace::Bounds;
use touchstone_runner::http::persist::{Attempt, Failed, Retrying, Sending};
use touchstone_runner::http::redact::Redactor;
use touchstone_runner::http::retry::Rules;
use touchstone_runner::provider::{Auth, Fault, FaultKind, HttpReply, HttpRequest};
use touchstone_runner::spec::Provider;

const KEY: &str = "canary/key+0123456789";
const SECOND: Duration = Duration::from_secs(1);

/// Everything a request needs, with delays short enough for a test.
#[derive(Clone)]
struct RequestFixture {
    client: Client,
    limiter: Limiter,
    request: HttpRequest,
    key: Option<ApiKey>,
    rules: Rules,
    rest: CancellationToken,
    stop: CancellationToken,
    kept: Arc<Mutex<Vec<Attempt>>>,
    told: Arc<Mutex<Vec<Retrying>>>,
    /// Errors of the next stores, in order; none when it is empty.
    disk: Arc<Mutex<Vec<DiskErrorKind>>>,
}

impl RequestFixture {
    fn for_url(url: &str) -> Self {
        let short = Duration::from_millis(2);
        Self {
            client: Client::default(),
            limiter: Limiter::default(),
            request: HttpRequest {
                url: url.to_owned(),
                headers: Vec::new(),
                auth: Auth::ApiKey,
                body: b"{}".to_vec(),
                stream: false,
                patience: 20,
            },
            key: Some(ApiKey::new(KEY).unwrap()),
            rules: Rules {
                first_wait: short,
                full_disk: short,
                ..Rules::for_provider(Provider::Anthropic)
            },
            rest: CancellationToken::new(),
            stop: CancellationToken::new(),
            kept: Arc::default(),
            told: Arc::default(),
            disk: Arc::default(),
        }
    }

    async fn ask(&self) -> Result<String, Failed> {
        let sending = Sending {
            client: &self.client,
            limiter: &self.limiter,
            request: &self.request,
            key: self.key.as_ref(),
            rules: &self.rules,
            rest: &self.rest,
            stop: &self.stop,
        };
        let keep = |attempt: Arc<Attempt>| async move {
            tokio::task::yield_now().await;
            let trouble = self.disk.lock().unwrap().pop();
            trouble
                .map_or(Ok(()), |kind| Err(disk_error(kind)))
                .map(|()| self.kept.lock().unwrap().push((*attempt).clone()))
        };
        sending
            .persist(|reply| self.judge(reply), keep, |told| self.told.lock().unwrap().push(told))
            .await
    }

    /// Stands in for the codec.
    fn judge(&self, reply: &HttpReply) -> Result<String, Fault> {
        let text = String::from_utf8_lossy(&reply.body).into_owned();
        let kept = self.last_kept();
        assert_eq!(
            kept.as_deref(),
            Some(reply.body.as_slice()),
            "it was judged before it was kept"
        );
        let kind = match (reply.status, text.as_str()) {
            (200, "cut") => FaultKind::Truncated,
            (200, _) => return Ok(text),
            (401, _) => FaultKind::Key,
            (429, "quota") => FaultKind::Exhausted,
            (429 | 500.., _) => FaultKind::Passing,
            _ => FaultKind::Refused,
        };
        Err(Fault { kind, message: format!("It said {text}."), status: Some(reply.status) })
    }

    fn last_kept(&self) -> Option<Vec<u8>> {
        self.kept.lock().unwrap().last().map(|attempt| attempt.body.clone())
    }

    fn statuses(&self) -> Vec<(u32, Option<u16>)> {
        self.kept.lock().unwrap().iter().map(|attempt| (attempt.number, attempt.status)).collect()
    }

    fn retry_events(&self) -> Vec<Retrying> {
        self.told.lock().unwrap().clone()
    }
}

fn disk_error(kind: DiskErrorKind) -> DiskError {
    DiskError { kind, path: "run.jsonl".to_owned(), why: "it is so.".to_owned() }
}

fn good() -> Reply {
    Reply::new(200).text("text/plain", "good")
}

fn text_reply(status: u16, text: &str) -> Reply {
    Reply::new(status).text("text/plain", text)
}

/// Returns the fault and the number of attempts.
fn fault(ended: Result<String, Failed>) -> (Fault, u32) {
    match ended {
        Err(Failed::Fault { fault, attempts }) => (fault, attempts),
        other => panic!("no fault: {other:?}"),
    }
}

#[tokio::test]
async fn temporary_errors_are_retried_and_every_attempt_is_kept() {
    let server = Scripted::sequence([
        text_reply(429, "slow down")
            .header("retry-after-ms", "30")
            .header("request-id", "r1")
            .header("server", "x"),
        Reply::new(529),
        good(),
    ]);
    let desk = RequestFixture::for_url(&server.url("/"));
    assert_eq!(desk.ask().await.unwrap(), "good");
    assert_eq!(desk.statuses(), [(1, Some(429)), (2, Some(529)), (3, Some(200))]);
    let told = desk.retry_events();
    assert_eq!(told.iter().map(|told| told.attempt).collect::<Vec<_>>(), [2, 3]);
    assert_eq!(
        (told[0].wait, told[0].why.as_str()),
        (Duration::from_millis(30), "Too many requests (status 429).")
    );
    let first = desk.kept.lock().unwrap()[0].clone();
    let names: Vec<_> = first.headers.iter().map(|(name, _)| name.as_str()).collect();
    assert_eq!(names, ["content-type", "retry-after-ms", "request-id"]);
    assert_eq!((first.body.as_slice(), first.error), (&b"slow down"[..], None));
}

#[tokio::test]
async fn it_is_asked_three_times_at_most_and_the_message_says_so() {
    let server = Scripted::always(Reply::new(500).text("text/html", "<html>"));
    let desk = RequestFixture::for_url(&server.url("/"));
    let (fault, attempts) = fault(desk.ask().await);
    assert_eq!(
        (fault.kind, fault.status, attempts, server.seen().len()),
        (FaultKind::Passing, Some(500), 3, 3)
    );
    insta::assert_snapshot!(fault.message, @"It said <html>. The provider replied with an error \
        (status 500). It was asked 3 times, the limit of the settings.");
}

#[tokio::test]
async fn permanent_errors_are_not_retried() {
    for (reply, kind, times) in [
        (text_reply(400, "wrong"), FaultKind::Refused, 1),
        (text_reply(400, "wrong").header("x-should-retry", "true"), FaultKind::Refused, 3),
        (text_reply(401, "who are you"), FaultKind::Key, 1),
        (text_reply(429, "quota").header("x-should-retry", "true"), FaultKind::Exhausted, 1),
        (text_reply(500, "no").header("x-should-retry", "false"), FaultKind::Passing, 1),
    ] {
        let server = Scripted::always(reply);
        let desk = RequestFixture::for_url(&server.url("/"));
        let (fault, attempts) = fault(desk.ask().await);
        assert_eq!(
            (fault.kind, attempts, server.seen().len()),
            (kind, times, times as usize),
            "{fault:?}"
        );
    }
}

#[tokio::test]
async fn a_reply_that_broke_off_is_kept_as_far_as_it_came_and_asked_for_from_the_start() {
    let server = Scripted::sequence([
        text_reply(200, "half of it").cut_after(4),
        text_reply(200, "cut"),
        good(),
    ]);
    let desk = RequestFixture::for_url(&server.url("/"));
    assert_eq!(desk.ask().await.unwrap(), "good");
    let kept = desk.kept.lock().unwrap().clone();
    assert_eq!((kept[0].status, kept[0].body.as_slice()), (Some(200), &b"half"[..]));
    assert!(
        kept[0].error.as_ref().unwrap().starts_with("The reply broke off:"),
        "{:?}",
        kept[0].error
    );
    assert_eq!((kept[1].body.as_slice(), kept[1].error.as_ref()), (&b"cut"[..], None));
    assert_eq!(server.delivered(), 2);
}

#[tokio::test]
async fn a_connection_that_fails_is_kept_as_an_attempt_without_status() {
    let server = Scripted::sequence([Reply::reset_at_once(), good()]);
    let desk = RequestFixture::for_url(&server.url("/"));
    assert_eq!(desk.ask().await.unwrap(), "good");
    assert_eq!(desk.statuses(), [(1, None), (2, Some(200))]);
    assert!(desk.kept.lock().unwrap()[0].error.is_some());
}

#[tokio::test]
async fn unsent_requests_are_not_attempts() {
    let server = Scripted::always(good());
    let no_key = RequestFixture { key: None, ..RequestFixture::for_url(&server.url("/")) };
    assert_eq!(fault(no_key.ask().await).0.kind, FaultKind::Key);
    let unsafe_host = RequestFixture::for_url(&server.url("/").replace("127.0.0.1", "0.0.0.0"));
    assert_eq!(fault(unsafe_host.ask().await).0.kind, FaultKind::Refused);
    assert_eq!(
        (no_key.statuses().len(), unsafe_host.statuses().len(), server.seen().len()),
        (0, 0, 0)
    );
}

#[tokio::test]
async fn a_redirect_is_refused_and_kept() {
    let other = Scripted::always(good());
    let server = Scripted::always(Reply::new(302).header("location", &other.url("/")));
    let desk = RequestFixture::for_url(&server.url("/"));
    let (fault, attempts) = fault(desk.ask().await);
    assert_eq!((fault.kind, attempts, other.seen().len()), (FaultKind::Refused, 1, 0));
    assert_eq!(desk.statuses(), [(1, Some(302))]);
}

#[tokio::test]
async fn a_full_disk_is_waited_out_and_nothing_is_bought_meanwhile() {
    let server = Scripted::always(good());
    let desk = RequestFixture {
        limiter: Limiter::new(Bounds { start: 1, min: 1, max: 1 }),
        ..RequestFixture::for_url(&server.url("/"))
    };
    *desk.disk.lock().unwrap() = vec![DiskErrorKind::Full; 3];
    assert_eq!(desk.ask().await.unwrap(), "good");
    assert_eq!((desk.statuses(), server.seen().len()), (vec![(1, Some(200))], 1));
    assert!(desk.retry_events().iter().all(|told| told.attempt == 1 && told.why.contains("space")));
    assert_eq!(desk.retry_events().len(), 3);
}

#[tokio::test]
async fn a_reply_that_cannot_be_kept_is_handed_back_and_not_acted_on() {
    let server = Scripted::always(good());
    let broken = RequestFixture::for_url(&server.url("/"));
    *broken.disk.lock().unwrap() = vec![DiskErrorKind::NotPermitted];
    let full = RequestFixture::for_url(&server.url("/"));
    *full.disk.lock().unwrap() = vec![DiskErrorKind::Full; 1_000_000];
    let stop = full.stop.clone();
    let stopped = async {
        while full.retry_events().is_empty() {
            tokio::task::yield_now().await;
        }
        stop.cancel();
    };
    for ended in [broken.ask().await, tokio::join!(full.ask(), stopped).0] {
        let Err(Failed::NotKept { attempt, .. }) = ended else { panic!("{ended:?}") };
        assert_eq!(attempt.body, b"good");
    }
}

#[tokio::test]
async fn stopping_ends_every_wait_within_a_second() {
    let never = Latch::default();
    let silent = Scripted::always(good().once_open(&never));
    let busy = Scripted::always(text_reply(429, "").header("retry-after", "50"));
    let only_one = Limiter::new(Bounds { start: 1, min: 1, max: 1 });
    let _taken = only_one.acquire().await;
    for hard in [true, false] {
        let (under_way, backing_off) =
            (RequestFixture::for_url(&silent.url("/")), RequestFixture::for_url(&busy.url("/")));
        let in_line =
            RequestFixture { limiter: only_one.clone(), ..RequestFixture::for_url(&busy.url("/")) };
        let mut asking = vec![
            (&backing_off, asks(&backing_off, || backing_off.retry_events().len() == 1).await),
            (&in_line, asks(&in_line, || true).await),
        ];
        if hard {
            asking.push((&under_way, asks(&under_way, || !silent.seen().is_empty()).await));
        }
        let began = Instant::now();
        for (desk, asking) in asking {
            if hard {
                desk.stop.cancel();
            } else {
                desk.rest.cancel();
            }
            assert!(matches!(asking.await.unwrap(), Err(Failed::Stopped)));
        }
        assert!(began.elapsed() < SECOND);
        // A request in flight may have been paid for, so it is recorded.
        assert_eq!(under_way.kept.lock().unwrap().len(), usize::from(hard));
        assert_eq!((backing_off.statuses().len(), in_line.statuses().len()), (1, 0));
    }
    never.open();
}

/// Starts a request, and returns when the condition holds.
async fn asks(
    desk: &RequestFixture,
    as_far: impl Fn() -> bool,
) -> tokio::task::JoinHandle<Result<String, Failed>> {
    let asking = tokio::spawn({
        let desk = desk.clone();
        async move { desk.ask().await }
    });
    let deadline = Instant::now() + 20 * SECOND;
    while !as_far() {
        assert!(Instant::now() < deadline, "it never came so far");
        tokio::time::sleep(Duration::from_millis(1)).await;
    }
    asking
}

#[tokio::test]
async fn resting_waits_for_what_is_under_way_and_begins_nothing() {
    let latch = Latch::default();
    let server = Scripted::always(good().once_open(&latch));
    let desk = RequestFixture::for_url(&server.url("/"));
    let rest = async {
        while server.seen().is_empty() {
            tokio::time::sleep(Duration::from_millis(1)).await;
        }
        desk.rest.cancel();
        latch.open();
    };
    assert_eq!(tokio::join!(desk.ask(), rest).0.unwrap(), "good");
    assert!(matches!(desk.ask().await, Err(Failed::Stopped)));
    assert_eq!(server.seen().len(), 1);
}

#[tokio::test]
async fn too_many_requests_slow_all_down_and_an_empty_purse_does_not() {
    for (reply, limit) in [
        (text_reply(429, "slow"), 16),
        (text_reply(429, "quota"), 20),
        (text_reply(500, ""), 20),
        (good(), 20),
    ] {
        let server = Scripted::always(reply);
        let desk = RequestFixture::for_url(&server.url("/"));
        let _ = desk.ask().await;
        assert_eq!((desk.limiter.limit(), desk.limiter.in_flight()), (limit, 0));
    }
}

#[tokio::test]
async fn no_more_than_the_limit_are_under_way_at_once() {
    let latch = Latch::default();
    let server = Scripted::always(good().once_open(&latch));
    let desk = RequestFixture {
        limiter: Limiter::new(Bounds { start: 3, min: 1, max: 3 }),
        ..RequestFixture::for_url(&server.url("/"))
    };
    let asking: Vec<_> = (0..9)
        .map(|_| {
            let desk = desk.clone();
            tokio::spawn(async move { desk.ask().await })
        })
        .collect();
    while server.seen().len() < 3 {
        tokio::time::sleep(Duration::from_millis(1)).await;
    }
    assert_eq!((server.seen().len(), desk.limiter.in_flight()), (3, 3));
    latch.open();
    for one in asking {
        assert_eq!(one.await.unwrap().unwrap(), "good");
    }
    assert_eq!(server.delivered(), 9);
}

#[tokio::test]
async fn a_provider_that_repeats_the_key_gives_nothing_away_once_it_is_cleaned() {
    let echo = json!({ "error": format!("wrong key {KEY}") }).to_string();
    let server = Scripted::always(text_reply(401, &echo));
    let desk = RequestFixture::for_url(&server.url("/"));
    let (fault, _) = fault(desk.ask().await);
    let kept = desk.kept.lock().unwrap()[0].clone();
    // Without redaction the key is there.
    assert!(
        canary::spot(&kept.body, KEY).is_some()
            && canary::spot(fault.message.as_bytes(), KEY).is_some()
    );
    let redactor = Redactor::new([KEY]);
    assert_eq!(canary::spot(&redactor.clean_body(&kept.body, true), KEY), None);
    assert_eq!(canary::spot(redactor.clean(&fault.message).as_bytes(), KEY), None);
    assert_eq!(canary::spot(format!("{:?}", desk.key).as_bytes(), KEY), None);
}
