//! Asks an S3-compatible server: lists keys and gets objects. Follows no redirects, changes nothing,
//! tries again what may pass, and turns every failure into words.
use super::address::BucketAddress;
use super::changes::Ask;
use super::error::{BucketError, BucketErrorKind, ErrorReply, RequestContext, of_reply};
use super::rounds::PAGE;
use super::settings::{Settings, is_local};
use super::sign::{ToSign, encode, headers};
use super::xml::{self, ListPage};
use reqwest::{Response, Url, redirect};
use std::sync::Arc;
use std::sync::atomic::{AtomicU64, Ordering};
use std::time::Duration;
use tokio_util::sync::CancellationToken;
use touchstone_clock as clock;

/// Maximum time until a connection is made.
const CONNECT: Duration = Duration::from_secs(5);
/// Maximum time between two parts of a reply.
const IDLE: Duration = Duration::from_secs(30);
/// Maximum size of a page, and of an error, in bytes.
const LARGEST_PAGE: usize = 16 << 20;
const LARGEST_ERROR: usize = 64 << 10;
/// First and longest pause before a request is tried again.
const FIRST_PAUSE: Duration = Duration::from_millis(250);
const LONGEST_PAUSE: Duration = Duration::from_secs(8);

/// What a client tells about its waiting: the error that is waited for, or none.
pub(crate) type Waiting = Arc<dyn Fn(Option<&BucketError>) + Send + Sync>;

/// Connection to a bucket.
pub(crate) struct Client {
    http: reqwest::Client,
    settings: Settings,
    bucket: String,
    /// Beginning of all keys.
    key_prefix: String,
    /// Scheme and host, and the encoded path of the bucket.
    origin: String,
    host: String,
    base: String,
    /// Number of requests so far.
    pub(crate) requests: AtomicU64,
    stop: CancellationToken,
    waiting: Waiting,
}

impl Client {
    pub(crate) fn new(
        address: &BucketAddress,
        settings: Settings,
        stop: CancellationToken,
        waiting: Waiting,
    ) -> Result<Self, BucketError> {
        let (url, base) = location(address, &settings)?;
        let host = url.host_str().unwrap_or_default();
        let host = url.port().map_or_else(|| host.to_owned(), |port| format!("{host}:{port}"));
        // Another part of the process may have installed the same provider before.
        let _ = rustls::crypto::ring::default_provider().install_default();
        let mut builder = reqwest::Client::builder()
            .redirect(redirect::Policy::none())
            .connect_timeout(CONNECT)
            .read_timeout(IDLE)
            .user_agent(concat!("touchstone/", env!("CARGO_PKG_VERSION")))
            // Objects are copied as they lie.
            .no_gzip()
            .no_brotli()
            .no_deflate();
        if is_local(&url) {
            builder = builder.no_proxy();
        }
        if url.scheme() == "http" {
            builder = builder.tls_certs_only([]);
        }
        let http = builder.build().map_err(|error| {
            let message = format!("Connections cannot be made here: {}.", error.without_url());
            BucketError::new(
                BucketErrorKind::Settings,
                message,
                "Check the certificates of this system.",
            )
        })?;
        Ok(Self {
            http,
            bucket: address.bucket.clone(),
            key_prefix: address.key_prefix(),
            origin: format!("{}://{host}", url.scheme()),
            host,
            base,
            settings,
            requests: AtomicU64::new(0),
            stop,
            waiting,
        })
    }

    /// Lists a page. Its keys are below the prefix of the address.
    pub(crate) async fn list(&self, ask: &Ask, tries: u32) -> Result<ListPage, BucketError> {
        self.list_with(ask, "", tries).await
    }

    /// Like `list`, with keys grouped by folders.
    pub(crate) async fn list_folders(
        &self,
        ask: &Ask,
        tries: u32,
    ) -> Result<ListPage, BucketError> {
        self.list_with(ask, "delimiter=%2F&", tries).await
    }

    async fn list_with(
        &self,
        ask: &Ask,
        grouped: &str,
        tries: u32,
    ) -> Result<ListPage, BucketError> {
        let prefix = format!("{}{}", self.key_prefix, ask.prefix);
        // The names have to be sorted, because the query is signed.
        let mut query = format!(
            "{grouped}encoding-type=url&list-type=2&max-keys={PAGE}&prefix={}",
            encode(&prefix, false)
        );
        if !ask.after.is_empty() {
            let after = format!("{}{}", self.key_prefix, ask.after);
            query = format!("{query}&start-after={}", encode(&after, false));
        }
        Ok(self.relative(self.page(&query, tries).await?))
    }

    /// Returns true if any key of the bucket begins with this; the prefix of the address does not
    /// count.
    pub(crate) async fn has_keys(&self, prefix: &str, tries: u32) -> Result<bool, BucketError> {
        let prefix = encode(prefix, false);
        let query = format!("encoding-type=url&list-type=2&max-keys=1&prefix={prefix}");
        let page = self.page(&query, tries).await?;
        Ok(page.truncated || !page.objects.is_empty())
    }

    async fn page(&self, query: &str, tries: u32) -> Result<ListPage, BucketError> {
        let path = if self.base.is_empty() { "/" } else { &self.base };
        let mut turn = 0;
        loop {
            turn += 1;
            let read = async {
                let response = self.send(path, query, false).await?;
                let body = self.body(response, LARGEST_PAGE).await?;
                let page = std::str::from_utf8(&body).ok().and_then(xml::page);
                page.ok_or_else(|| self.no_listing())
            };
            if let Some(page) = self.retried(read, turn, tries).await {
                return page;
            }
        }
    }

    /// Removes the prefix of the address from the keys; keys without it are left out.
    fn relative(&self, mut page: ListPage) -> ListPage {
        let below = |key: &str| key.strip_prefix(&self.key_prefix).map(str::to_owned);
        page.folders = page.folders.iter().filter_map(|folder| below(folder)).collect();
        page.objects.retain_mut(|object| below(&object.key).map(|key| object.key = key).is_some());
        page
    }

    /// Gets an object. Its body still has to be read.
    pub(crate) async fn get(&self, key: &str, tries: u32) -> Result<Response, BucketError> {
        let path = format!("{}/{}", self.base, encode(&format!("{}{key}", self.key_prefix), true));
        let mut turn = 0;
        loop {
            turn += 1;
            if let Some(ended) = self.retried(self.send(&path, "", true), turn, tries).await {
                return ended;
            }
        }
    }

    /// Reads the next part of an object; `None` at its end.
    pub(crate) async fn part(
        &self,
        response: &mut Response,
    ) -> Result<Option<Vec<u8>>, BucketError> {
        let part = self.or_stopped(response.chunk()).await?;
        let part = part.map_err(|error| self.unreached(&error))?;
        Ok(part.map(|part| part.to_vec()))
    }

    /// Runs one try. Returns `None` after a pause if there has to be another one.
    async fn retried<T>(
        &self,
        one: impl Future<Output = Result<T, BucketError>>,
        turn: u32,
        tries: u32,
    ) -> Option<Result<T, BucketError>> {
        match one.await {
            Err(error) if error.is_passing() && turn < tries => {
                (self.waiting)(Some(&error));
                match self.or_stopped(tokio::time::sleep(pause(turn))).await {
                    Ok(()) => None,
                    Err(stopped) => Some(Err(stopped)),
                }
            }
            Ok(done) => {
                (self.waiting)(None);
                Some(Ok(done))
            }
            Err(error) => Some(Err(error)),
        }
    }

    async fn send(
        &self,
        path: &str,
        query: &str,
        is_object: bool,
    ) -> Result<Response, BucketError> {
        let Settings { region, keys, .. } = &self.settings;
        let ask = ToSign { host: &self.host, path, query, region, now_ms: clock::now_ms() };
        let mark = if query.is_empty() { "" } else { "?" };
        let mut request = self.http.get(format!("{}{path}{mark}{query}", self.origin));
        for (name, value) in headers(&ask, keys) {
            let mut value = reqwest::header::HeaderValue::from_str(&value).map_err(|_| {
                BucketError::new(
                    BucketErrorKind::Settings,
                    "The keys for S3 cannot be sent.",
                    "Check them.",
                )
            })?;
            value.set_sensitive(true);
            request = request.header(name, value);
        }
        self.requests.fetch_add(1, Ordering::Relaxed);
        let response = self.or_stopped(request.send()).await?;
        let response = response.map_err(|error| self.unreached(&error))?;
        if response.status() == reqwest::StatusCode::OK {
            return Ok(response);
        }
        let status = response.status().as_u16();
        let header = response.headers().get("x-amz-bucket-region");
        let region = header.and_then(|region| Some(region.to_str().ok()?.to_owned()));
        let body = self.body(response, LARGEST_ERROR).await.unwrap_or_default();
        let told = xml::error(&String::from_utf8_lossy(&body));
        let reply = ErrorReply { status, code: told.code, region: region.or(told.region) };
        Err(of_reply(&reply, self.request_context(is_object)))
    }

    fn request_context(&self, is_object: bool) -> RequestContext<'_> {
        RequestContext {
            bucket: &self.bucket,
            host: &self.host,
            region: &self.settings.region,
            is_object,
        }
    }

    async fn body(&self, mut response: Response, most: usize) -> Result<Vec<u8>, BucketError> {
        let mut body = Vec::new();
        while let Some(part) = self.part(&mut response).await? {
            if body.len() + part.len() > most {
                return Err(self.no_listing());
            }
            body.extend_from_slice(&part);
        }
        Ok(body)
    }

    async fn or_stopped<T>(&self, one: impl Future<Output = T>) -> Result<T, BucketError> {
        tokio::select! {
            biased;
            () = self.stop.cancelled() => Err(BucketError::stopped()),
            done = one => Ok(done),
        }
    }

    fn no_listing(&self) -> BucketError {
        let message = format!("The reply of {} is not a listing of S3.", self.host);
        let hint = "Check AWS_ENDPOINT_URL_S3: is it an S3-compatible server?";
        BucketError::new(BucketErrorKind::Settings, message, hint)
    }

    /// Describes a server that lists keys in an unusable way.
    pub(crate) fn bad_order(&self) -> BucketError {
        let message =
            format!("{} does not list keys in order from where it is asked to.", self.host);
        let hint = "Copy the results instead: aws s3 sync s3://BUCKET/PREFIX FOLDER";
        BucketError::new(BucketErrorKind::Settings, message, hint)
    }

    fn unreached(&self, error: &reqwest::Error) -> BucketError {
        let host = &self.host;
        if error.is_timeout() && !error.is_connect() {
            let seconds = IDLE.as_secs();
            let message = format!("{host} sent nothing for {seconds} seconds.");
            return BucketError::new(BucketErrorKind::Slow, message, "Touchstone asks again.");
        }
        let why = root_cause(error);
        let hint = "Check the network, AWS_ENDPOINT_URL_S3 and AWS_REGION.";
        BucketError::new(BucketErrorKind::Unreachable, format!("Cannot reach {host}: {why}."), hint)
    }
}

/// Returns the innermost reason of an error, without an address.
fn root_cause(error: &reqwest::Error) -> String {
    let mut inner: &dyn std::error::Error = error;
    while let Some(source) = inner.source() {
        inner = source;
    }
    if let Some(error) = inner.downcast_ref::<std::io::Error>() {
        return touchstone_store::open::reason(error);
    }
    if inner.downcast_ref::<reqwest::Error>().is_some() {
        return "the connection failed".to_owned();
    }
    inner.to_string().trim_end_matches('.').to_owned()
}

/// Returns the pause after a try, shortened by up to a quarter so that requests do not come at once.
fn pause(turn: u32) -> Duration {
    let whole = FIRST_PAUSE.saturating_mul(1 << turn.saturating_sub(1).min(6)).min(LONGEST_PAUSE);
    let random = u32::try_from(clock::now_ns().rem_euclid(256)).unwrap_or_default();
    whole.saturating_sub(whole / 4 * random / 256)
}

/// Returns the address of the server, and the encoded path of the bucket there.
fn location(address: &BucketAddress, settings: &Settings) -> Result<(Url, String), BucketError> {
    let bucket = &address.bucket;
    if let Some(url) = &settings.endpoint {
        let base = format!("{}/{}", url.path().trim_end_matches('/'), encode(bucket, false));
        return Ok((url.clone(), base));
    }
    let region = &settings.region;
    let end = if region.starts_with("cn-") { "amazonaws.com.cn" } else { "amazonaws.com" };
    let is_host_name =
        bucket.bytes().all(|b| b.is_ascii_lowercase() || b.is_ascii_digit() || b == b'-');
    let (host, base) = if is_host_name {
        (format!("{bucket}.s3.{region}.{end}"), String::new())
    } else {
        (format!("s3.{region}.{end}"), format!("/{}", encode(bucket, false)))
    };
    let url = Url::parse(&format!("https://{host}/")).map_err(|_| {
        BucketError::new(BucketErrorKind::Settings, "The region is not a name.", "Set AWS_REGION.")
    })?;
    Ok((url, base))
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::settings::Sources;

    #[test]
    fn a_bucket_is_found_at_aws_and_at_other_servers() {
        for (address, region, endpoint, host, base) in [
            ("s3://my-bucket/a", "eu-west-1", "", "my-bucket.s3.eu-west-1.amazonaws.com", ""),
            ("s3://my.bucket", "eu-west-1", "", "s3.eu-west-1.amazonaws.com", "/my.bucket"),
            ("s3://b1", "cn-north-1", "", "b1.s3.cn-north-1.amazonaws.com.cn", ""),
            ("s3://b1", "r", "http://127.0.0.1:9/x/", "127.0.0.1", "/x/b1"),
        ] {
            let set = [
                ("AWS_ACCESS_KEY_ID", "a"),
                ("AWS_SECRET_ACCESS_KEY", "b"),
                ("AWS_REGION", region),
                ("AWS_ENDPOINT_URL", endpoint),
            ];
            let variable =
                |name: &str| Some(set.iter().find(|(one, _)| *one == name)?.1.to_owned());
            let settings = Settings::find(&Sources { variable: &variable, home: None }).unwrap();
            let address = BucketAddress::parse(address).unwrap();
            let (url, found) = location(&address, &settings).unwrap();
            assert_eq!((url.host_str(), found.as_str()), (Some(host), base));
        }
    }

    #[test]
    fn pauses_grow_and_end() {
        for turn in 1..20 {
            let whole = (FIRST_PAUSE * 2_u32.pow((turn - 1).min(6))).min(LONGEST_PAUSE);
            assert!(pause(turn) <= whole && pause(turn) >= whole / 2, "{turn}");
        }
    }
}
