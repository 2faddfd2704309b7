//! **Pure.** Signs requests as S3 expects it (Signature Version 4), and encodes their addresses.
use super::settings::AccessKeys;
use ring::{digest, hmac};
use std::fmt::Write as _;
use zeroize::Zeroizing;

/// Digest of an empty body.
const EMPTY: &str = "e3b0c44298fc1c149afbf4c8996fb92427ae41e4649b934ca495991b7852b855";

/// A request without a body, to be signed.
pub(crate) struct ToSign<'a> {
    /// Host, with the port if it is not the usual one.
    pub(crate) host: &'a str,
    /// Encoded path.
    pub(crate) path: &'a str,
    /// Encoded query with sorted names.
    pub(crate) query: &'a str,
    pub(crate) region: &'a str,
    /// Time in milliseconds since 1970.
    pub(crate) now_ms: i64,
}

/// Returns the headers that sign a GET request.
pub(crate) fn headers(
    ask: &ToSign<'_>,
    keys: &AccessKeys,
) -> Vec<(&'static str, Zeroizing<String>)> {
    let time = jiff::Timestamp::from_millisecond(ask.now_ms).unwrap_or_default();
    let stamp = time.strftime("%Y%m%dT%H%M%SZ").to_string();
    let day = &stamp[..8];
    let mut signed = vec![
        ("host", Zeroizing::new(ask.host.to_owned())),
        ("x-amz-content-sha256", Zeroizing::new(EMPTY.to_owned())),
        ("x-amz-date", Zeroizing::new(stamp.clone())),
    ];
    signed.extend(keys.token.clone().map(|token| ("x-amz-security-token", token)));
    let names: Vec<&str> = signed.iter().map(|(name, _)| *name).collect();
    let names = names.join(";");
    let mut canonical = Zeroizing::new(format!("GET\n{}\n{}\n", ask.path, ask.query));
    for (name, value) in &signed {
        let _ = writeln!(canonical, "{name}:{}", value.as_str());
    }
    let _ = write!(canonical, "\n{names}\n{EMPTY}");
    let scope = format!("{day}/{}/s3/aws4_request", ask.region);
    let hashed = hex(digest::digest(&digest::SHA256, canonical.as_bytes()).as_ref());
    let text = format!("AWS4-HMAC-SHA256\n{stamp}\n{scope}\n{hashed}");
    let first = Zeroizing::new(format!("AWS4{}", keys.secret.as_str()));
    let mut key = Zeroizing::new(first.as_bytes().to_vec());
    for part in [day, ask.region, "s3", "aws4_request"] {
        key = Zeroizing::new(mac(&key, part.as_bytes()));
    }
    let signature = hex(&mac(&key, text.as_bytes()));
    let id = keys.id.as_str();
    let authorization = format!(
        "AWS4-HMAC-SHA256 Credential={id}/{scope},SignedHeaders={names},Signature={signature}"
    );
    // The client sends the host itself.
    signed.remove(0);
    signed.push(("authorization", Zeroizing::new(authorization)));
    signed
}

fn mac(key: &[u8], text: &[u8]) -> Vec<u8> {
    hmac::sign(&hmac::Key::new(hmac::HMAC_SHA256, key), text).as_ref().to_vec()
}

fn hex(bytes: &[u8]) -> String {
    bytes.iter().fold(String::new(), |mut text, byte| {
        let _ = write!(text, "{byte:02x}");
        text
    })
}

/// Encodes a text for a query, or for a path, which keeps its slashes.
pub(crate) fn encode(text: &str, is_path: bool) -> String {
    let mut out = String::with_capacity(text.len());
    for byte in text.bytes() {
        if byte.is_ascii_alphanumeric() || b"-._~".contains(&byte) || (is_path && byte == b'/') {
            out.push(char::from(byte));
        } else {
            let _ = write!(out, "%{byte:02X}");
        }
    }
    out
}

#[cfg(test)]
mod tests {
    use super::*;

    /// The examples of the documentation of S3, without the header `range` in the first.
    #[test]
    fn requests_are_signed_like_the_documented_examples() {
        let keys = AccessKeys {
            id: Zeroizing::new("AKIAIOSFODNN7EXAMPLE".to_owned()),
            secret: Zeroizing::new("wJalrXUtnFEMI/K7MDENG/bPxRfiCYEXAMPLEKEY".to_owned()),
            token: None,
        };
        // 24 May 2013, 00:00:00.
        let now_ms = 1_369_353_600_000;
        let signature = |path: &str, query: &str| {
            let host = "examplebucket.s3.amazonaws.com";
            let ask = ToSign { host, path, query, region: "us-east-1", now_ms };
            let all = headers(&ask, &keys);
            let (_, last) = all.last().unwrap();
            last.rsplit_once("Signature=").unwrap().1.to_owned()
        };
        assert_eq!(
            signature("/", "lifecycle="),
            "fea454ca298b7da1c68078a5d1bdbfbbe0d65c699e0f91ac7a200a0136783543"
        );
        assert_eq!(
            signature("/", "max-keys=2&prefix=J"),
            "34b48302e7b5fa45bde8084f4b7868a86f0a534bc59db6670ed5711ef69dc6f7"
        );
    }

    #[test]
    fn a_token_is_signed_too() {
        let keys = AccessKeys {
            id: Zeroizing::new("A".to_owned()),
            secret: Zeroizing::new("B".to_owned()),
            token: Some(Zeroizing::new("C".to_owned())),
        };
        let ask = ToSign { host: "h", path: "/", query: "", region: "r", now_ms: 0 };
        let all = headers(&ask, &keys);
        assert!(
            all.iter()
                .any(|(name, value)| (*name, value.as_str()) == ("x-amz-security-token", "C"))
        );
        assert!(all.last().unwrap().1.contains("x-amz-date;x-amz-security-token,Signature="));
    }

    #[test]
    fn all_but_plain_letters_are_encoded() {
        assert_eq!(encode("a/b c+é~", true), "a/b%20c%2B%C3%A9~");
        assert_eq!(encode("a/b=&", false), "a%2Fb%3D%26");
    }
}
