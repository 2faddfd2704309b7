//! **Pure.** Errors of buckets in words: the message and the next step. Takes nothing of a reply but
//! its error code, because replies repeat keys and signed text.
use std::fmt;

/// Kind of error.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum BucketErrorKind {
    /// The address is not one of a bucket.
    Address,
    /// Keys, region or endpoint are missing or cannot be used.
    Settings,
    /// The server refuses access.
    Denied,
    /// The server does not take the keys, whatever they are for.
    Keys,
    /// There is no such bucket.
    NoBucket,
    /// The object is gone.
    NoObject,
    /// The bucket is in another region.
    Region,
    /// The server asks to slow down.
    Throttled,
    /// The server cannot be reached.
    Unreachable,
    /// The server does not answer in time.
    Slow,
    /// The reply cannot be used.
    Broken,
    /// The copy cannot be written.
    Disk,
    /// It was stopped.
    Stopped,
}

/// Error of a bucket.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct BucketError {
    /// Kind.
    pub kind: BucketErrorKind,
    /// What failed and why, as a sentence.
    pub message: String,
    /// The next step.
    pub hint: String,
}

impl BucketError {
    pub(crate) fn new(
        kind: BucketErrorKind,
        message: impl Into<String>,
        hint: impl Into<String>,
    ) -> Self {
        Self { kind, message: message.into(), hint: hint.into() }
    }

    pub(crate) fn stopped() -> Self {
        Self::new(BucketErrorKind::Stopped, "It was stopped.", "Open the bucket again.")
    }

    /// Returns true if the same request may succeed a moment later.
    pub(crate) fn is_passing(&self) -> bool {
        use BucketErrorKind::{Broken, Slow, Throttled, Unreachable};
        matches!(self.kind, Throttled | Unreachable | Slow | Broken)
    }
}

impl fmt::Display for BucketError {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "{} {}", self.message, self.hint)
    }
}

impl std::error::Error for BucketError {}

/// What is known about a request that failed.
#[derive(Debug, Clone, Copy)]
pub(crate) struct RequestContext<'a> {
    /// Name of the bucket.
    pub(crate) bucket: &'a str,
    /// Host of the request.
    pub(crate) host: &'a str,
    /// Region that the request was signed for.
    pub(crate) region: &'a str,
    /// True for a request about one object.
    pub(crate) is_object: bool,
}

/// Error reply of a server.
#[derive(Debug, Clone, Default)]
pub(crate) struct ErrorReply {
    pub(crate) status: u16,
    /// Error code, such as `AccessDenied`; empty if there is none.
    pub(crate) code: String,
    /// Region that the server names as the right one.
    pub(crate) region: Option<String>,
}

const EXPORT: &str = "With keys that change, such as those of SSO: \
     eval \"$(aws configure export-credentials --format env)\"";

/// Describes an error reply.
pub(crate) fn of_reply(reply: &ErrorReply, request: RequestContext<'_>) -> BucketError {
    use BucketErrorKind as Kind;
    let RequestContext { bucket, host, region, is_object } = request;
    let is_plain = |text: &&str| {
        (1..=40).contains(&text.len())
            && text.bytes().all(|b| b.is_ascii_alphanumeric() || b"-_.".contains(&b))
    };
    let code = Some(reply.code.as_str()).filter(is_plain);
    let right = reply.region.as_deref().filter(is_plain).filter(|right| *right != region);
    if let Some(right) = right
        && (matches!(reply.status, 301 | 307 | 400 | 403))
        && !matches!(code, Some("AccessDenied" | "SignatureDoesNotMatch" | "InvalidAccessKeyId"))
    {
        let message = format!("The bucket {bucket} is in the region {right}, not in {region}.");
        return BucketError::new(Kind::Region, message, format!("Set AWS_REGION={right}."));
    }
    let told =
        code.map_or_else(|| reply.status.to_string(), |code| format!("{code}, {}", reply.status));
    match (reply.status, code) {
        (301 | 302 | 307 | 308, _) => BucketError::new(
            Kind::Region,
            format!(
                "{host} says that the bucket {bucket} is elsewhere ({told}), and it is not followed."
            ),
            "Set AWS_REGION to the region of the bucket, or AWS_ENDPOINT_URL_S3 to its server.",
        ),
        (_, Some("NoSuchBucket")) => BucketError::new(
            Kind::NoBucket,
            format!("There is no bucket {bucket} at {host}."),
            "Check the name, and AWS_ENDPOINT_URL_S3 if the bucket is not at AWS.",
        ),
        (404, _) if is_object => {
            BucketError::new(Kind::NoObject, "The object is gone.", "It is listed again.")
        }
        (404, _) => BucketError::new(
            Kind::NoBucket,
            format!("{host} has no bucket {bucket} ({told})."),
            "Check the name, and AWS_ENDPOINT_URL_S3 if the bucket is not at AWS.",
        ),
        (_, Some("ExpiredToken" | "RequestExpired" | "InvalidToken")) => BucketError::new(
            Kind::Keys,
            format!("The keys for S3 are not valid any more ({told})."),
            format!("Get new ones, and start Touchstone again. {EXPORT}"),
        ),
        (_, Some("RequestTimeTooSkewed")) => BucketError::new(
            Kind::Keys,
            "The clock of this machine is wrong, so the server refuses the request.",
            "Set the clock.",
        ),
        (_, Some("InvalidAccessKeyId" | "SignatureDoesNotMatch")) => BucketError::new(
            Kind::Keys,
            format!("{host} does not know these keys ({told})."),
            "Check AWS_ACCESS_KEY_ID, AWS_SECRET_ACCESS_KEY and AWS_PROFILE.",
        ),
        (401 | 403, _) => BucketError::new(
            Kind::Denied,
            format!("Access to the bucket {bucket} is denied ({told})."),
            "The keys need s3:ListBucket on the bucket and s3:GetObject on what is below the prefix.",
        ),
        (429 | 503, _) | (_, Some("SlowDown" | "Throttling" | "RequestLimitExceeded")) => {
            BucketError::new(
                Kind::Throttled,
                format!("{host} asks to slow down ({told})."),
                "Touchstone waits and asks again.",
            )
        }
        (500.., _) => BucketError::new(
            Kind::Broken,
            format!("{host} failed ({told})."),
            "Touchstone asks again. If it stays, look at the server.",
        ),
        _ => BucketError::new(
            Kind::Settings,
            format!("{host} did not take the request ({told})."),
            "Check AWS_REGION and AWS_ENDPOINT_URL_S3: is it an S3-compatible server?",
        ),
    }
}

#[cfg(test)]
mod tests {
    use super::BucketErrorKind as Kind;
    use super::*;

    #[test]
    fn each_reply_says_what_to_do_and_repeats_nothing_that_a_server_could_have_made_up() {
        let said = |status, code: &str, region: Option<&str>, is_object| {
            let reply =
                ErrorReply { status, code: code.to_owned(), region: region.map(str::to_owned) };
            let request =
                RequestContext { bucket: "b", host: "s3.example", region: "us-east-1", is_object };
            of_reply(&reply, request)
        };
        for (status, code, region, is_object, kind, words) in [
            (
                301,
                "PermanentRedirect",
                Some("eu-west-1"),
                false,
                Kind::Region,
                "AWS_REGION=eu-west-1",
            ),
            (
                400,
                "AuthorizationHeaderMalformed",
                Some("eu-west-1"),
                false,
                Kind::Region,
                "eu-west-1, not in us-east-1",
            ),
            (301, "", None, false, Kind::Region, "not followed"),
            (403, "AccessDenied", Some("eu-west-1"), false, Kind::Denied, "s3:ListBucket"),
            (403, "SignatureDoesNotMatch", None, false, Kind::Keys, "AWS_SECRET_ACCESS_KEY"),
            (400, "ExpiredToken", None, false, Kind::Keys, "export-credentials"),
            (404, "NoSuchBucket", None, false, Kind::NoBucket, "no bucket b"),
            (404, "NoSuchKey", None, true, Kind::NoObject, "gone"),
            (503, "SlowDown", None, true, Kind::Throttled, "slow down"),
            (500, "InternalError", None, true, Kind::Broken, "failed"),
            (400, "<b>canary</b>", Some("\u{202e}"), false, Kind::Settings, "(400)"),
        ] {
            let error = said(status, code, region, is_object);
            assert_eq!(error.kind, kind, "{status} {code}");
            let text = error.to_string();
            assert!(text.contains(words) && !text.contains("canary"), "{text}");
        }
    }
}
