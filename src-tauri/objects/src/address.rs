//! **Pure.** The address of results in a bucket: `s3://bucket/prefix`.
use super::error::{BucketError, BucketErrorKind};
use std::fmt;

const SCHEME: &str = "s3://";
/// Maximum length of a prefix; keys have 1,024 bytes at most.
const LONGEST: usize = 900;

/// Bucket and the part of its keys that results are below.
#[derive(Debug, Clone, PartialEq, Eq, Hash)]
pub struct BucketAddress {
    /// Name of the bucket.
    pub bucket: String,
    /// Beginning of the keys, without a slash at either end; empty for the whole bucket.
    pub prefix: String,
}

impl BucketAddress {
    /// Returns true if a text starts like the address of a bucket.
    pub fn matches(text: &str) -> bool {
        text.get(..SCHEME.len()).is_some_and(|start| start.eq_ignore_ascii_case(SCHEME))
    }

    /// Parses an address. Errors never repeat the text, which may hold a password.
    pub fn parse(text: &str) -> Result<Self, BucketError> {
        let refused = |message: &str| {
            BucketError::new(BucketErrorKind::Address, message, "Write it as s3://BUCKET/PREFIX.")
        };
        if !Self::matches(text) {
            return Err(refused("This is not the address of a bucket."));
        }
        let (bucket, prefix) = text[SCHEME.len()..].split_once('/').unwrap_or((&text[5..], ""));
        if bucket.contains('@') {
            return Err(BucketError::new(
                BucketErrorKind::Address,
                "The address of the bucket holds a name or a password, and was not used.",
                "Take it out, and set AWS_ACCESS_KEY_ID and AWS_SECRET_ACCESS_KEY or AWS_PROFILE.",
            ));
        }
        let fits = |c: char| c.is_ascii_alphanumeric() || "-._".contains(c);
        let is_name = (1..=255).contains(&bucket.len())
            && bucket.chars().all(fits)
            && bucket.starts_with(|c: char| c.is_ascii_alphanumeric())
            && !bucket.contains("..");
        if !is_name {
            return Err(refused("The name of the bucket has letters that buckets never have."));
        }
        let prefix = prefix.trim_matches('/');
        if prefix.len() > LONGEST {
            return Err(refused("The prefix is longer than keys can be."));
        }
        let is_odd = |part: &str| part == "." || part == ".." || part.is_empty();
        if !prefix.is_empty()
            && (prefix.split('/').any(is_odd) || prefix.chars().any(char::is_control))
        {
            return Err(refused("The prefix has a part that is empty, `.` or `..`."));
        }
        Ok(Self { bucket: bucket.to_owned(), prefix: prefix.to_owned() })
    }

    /// Returns what all keys of the results begin with.
    pub(crate) fn key_prefix(&self) -> String {
        if self.prefix.is_empty() { String::new() } else { format!("{}/", self.prefix) }
    }

    /// Returns the last part, as a name for people.
    pub fn name(&self) -> &str {
        self.prefix.rsplit('/').next().filter(|name| !name.is_empty()).unwrap_or(&self.bucket)
    }
}

impl fmt::Display for BucketAddress {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "{SCHEME}{}", self.bucket)?;
        if !self.prefix.is_empty() {
            write!(f, "/{}", self.prefix)?;
        }
        Ok(())
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn an_address_names_a_bucket_and_a_prefix_and_nothing_else() {
        for (text, shown, name) in [
            ("s3://bucket", "s3://bucket", "bucket"),
            ("S3://bucket/", "s3://bucket", "bucket"),
            ("s3://my.bucket-1/a/b c/", "s3://my.bucket-1/a/b c", "b c"),
            ("s3://bucket//a", "s3://bucket/a", "a"),
        ] {
            let address = BucketAddress::parse(text).unwrap();
            assert_eq!((address.to_string().as_str(), address.name()), (shown, name));
            assert_eq!(BucketAddress::parse(&address.to_string()).unwrap(), address);
        }
        for text in [
            "/folder",
            "s3://",
            "s3:///a",
            "s3://me:canary-secret@bucket/a",
            "s3://bucket/a/../b",
            "s3://bucket/a//b",
            "s3://bucket/a\nb",
            "s3://b ucket",
            "s3://..",
            "https://bucket.s3.amazonaws.com/",
        ] {
            let why = BucketAddress::parse(text).unwrap_err();
            assert_eq!(why.kind, BucketErrorKind::Address);
            assert!(!why.to_string().contains("canary"), "{why}");
        }
    }
}
