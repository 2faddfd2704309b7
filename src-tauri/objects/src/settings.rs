//! Where a bucket is and with which keys it is read, as S3 users set it: variables of the
//! environment, and the profiles of AWS tools. Reads these files and writes none.
use super::error::{BucketError, BucketErrorKind};
use super::profiles::{self, FileKind, Profile};
use fs_err as fs;
use reqwest::Url;
use std::fmt;
use std::io::Read as _;
use std::path::{Path, PathBuf};
use zeroize::Zeroizing;

/// Region of buckets for which none is set, as in other tools.
const REGION: &str = "us-east-1";
/// Maximum size of a file of profiles in bytes.
const LARGEST: u64 = 1 << 20;

/// Keys of an account. Their text appears in no output.
#[derive(Clone)]
pub struct AccessKeys {
    pub(crate) id: Zeroizing<String>,
    pub(crate) secret: Zeroizing<String>,
    pub(crate) token: Option<Zeroizing<String>>,
}

impl fmt::Debug for AccessKeys {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str("AccessKeys(…)")
    }
}

/// How a bucket is read.
#[derive(Debug, Clone)]
pub struct Settings {
    /// Server other than AWS, if one is set.
    pub(crate) endpoint: Option<Url>,
    /// Region that requests are signed for.
    pub(crate) region: String,
    pub(crate) keys: AccessKeys,
    /// What a person should know about the connection.
    pub notice: Option<String>,
}

/// Sources of settings.
pub struct Sources<'a> {
    /// Looks up a variable of the environment.
    pub variable: &'a dyn Fn(&str) -> Option<String>,
    /// Home folder, if known.
    pub home: Option<&'a Path>,
}

impl Sources<'_> {
    fn get(&self, name: &str) -> Option<Zeroizing<String>> {
        let value = Zeroizing::new((self.variable)(name)?);
        let value = Zeroizing::new(value.trim().to_owned());
        (!value.is_empty()).then_some(value)
    }

    fn file(&self, variable: &str, name: &str) -> Option<PathBuf> {
        let set = self.get(variable).map(|path| PathBuf::from(path.as_str()));
        set.or_else(|| Some(self.home?.join(".aws").join(name)))
    }

    fn profile(&self, kind: FileKind, name: &str) -> Result<Option<Profile>, BucketError> {
        let file = match kind {
            FileKind::Credentials => self.file("AWS_SHARED_CREDENTIALS_FILE", "credentials"),
            FileKind::Config => self.file("AWS_CONFIG_FILE", "config"),
        };
        let Some(file) = file else { return Ok(None) };
        Ok(read(&file)?.and_then(|text| profiles::find(&text, kind, name)))
    }
}

/// Reads a file of profiles; `None` if there is none.
fn read(file: &Path) -> Result<Option<Zeroizing<String>>, BucketError> {
    let unreadable = |why: &str| {
        let message = format!("{} could not be read: {why}.", file.display());
        BucketError::new(
            BucketErrorKind::Settings,
            message,
            "Make it readable for you, or set the keys in the environment.",
        )
    };
    match fs::metadata(file) {
        Err(_) => return Ok(None),
        Ok(meta) if !meta.is_file() => return Err(unreadable("it is not a file")),
        Ok(meta) if meta.len() > LARGEST => return Err(unreadable("it is larger than 1 MB")),
        Ok(_) => {}
    }
    let mut text = Zeroizing::new(String::new());
    let opened = fs::File::open(file).map_err(|error| unreadable(&error.kind().to_string()))?;
    let read = opened.take(LARGEST).read_to_string(&mut text);
    read.map_err(|error| unreadable(&error.kind().to_string()))?;
    Ok(Some(text))
}

impl Settings {
    /// Finds the settings: what the environment says counts before what profiles say.
    pub fn find(sources: &Sources<'_>) -> Result<Self, BucketError> {
        let named = sources.get("AWS_PROFILE").or_else(|| sources.get("AWS_DEFAULT_PROFILE"));
        let name = named.as_ref().map_or("default", |name| name.as_str());
        let credentials = sources.profile(FileKind::Credentials, name)?;
        let config = sources.profile(FileKind::Config, name)?;
        if named.is_some() && credentials.is_none() && config.is_none() {
            return Err(BucketError::new(
                BucketErrorKind::Settings,
                "The profile that AWS_PROFILE names is in neither file of profiles.",
                "Check its name in ~/.aws/credentials and ~/.aws/config, or unset AWS_PROFILE.",
            ));
        }
        let (credentials, config) = (credentials.unwrap_or_default(), config.unwrap_or_default());
        // Tools write empty values, such as the token of keys that have none.
        let set = |value: &&Zeroizing<String>| !value.is_empty();
        let of_profile = |key: &str| {
            credentials.get(key).filter(set).or_else(|| config.get(key).filter(set)).cloned()
        };
        let region = sources
            .get("AWS_REGION")
            .or_else(|| sources.get("AWS_DEFAULT_REGION"))
            .or_else(|| of_profile("region"))
            .map_or_else(|| REGION.to_owned(), |region| region.to_string());
        if !region.bytes().all(|b| b.is_ascii_alphanumeric() || b == b'-') {
            return Err(BucketError::new(
                BucketErrorKind::Settings,
                "The region of AWS_REGION or of the profile has letters that regions never have.",
                "Set it to a name such as eu-west-1.",
            ));
        }
        let endpoint = sources
            .get("AWS_ENDPOINT_URL_S3")
            .or_else(|| sources.get("AWS_ENDPOINT_URL"))
            .or_else(|| of_profile("endpoint_url"));
        let allows_http =
            sources.get("AWS_ALLOW_HTTP").is_some_and(|set| set.eq_ignore_ascii_case("true"));
        let (endpoint, notice) = match endpoint {
            Some(text) => {
                let (url, notice) = endpoint_of(&text, allows_http)?;
                (Some(url), notice)
            }
            None => (None, None),
        };
        let keys = keys(sources, &of_profile)?;
        Ok(Self { endpoint, region, keys, notice })
    }
}

/// Keys of a profile that tell of credentials which Touchstone does not get.
const UNKNOWN: [(&str, &str); 6] = [
    ("sso_session", "SSO"),
    ("sso_start_url", "SSO"),
    ("role_arn", "a role"),
    ("credential_process", "a program"),
    ("web_identity_token_file", "a web identity"),
    ("credential_source", "a role"),
];

fn keys(
    sources: &Sources<'_>,
    of_profile: &dyn Fn(&str) -> Option<Zeroizing<String>>,
) -> Result<AccessKeys, BucketError> {
    let of_environment = (sources.get("AWS_ACCESS_KEY_ID"), sources.get("AWS_SECRET_ACCESS_KEY"));
    let found = match of_environment {
        (Some(id), Some(secret)) => Some((id, secret, sources.get("AWS_SESSION_TOKEN"))),
        (None, None) => of_profile("aws_access_key_id")
            .zip(of_profile("aws_secret_access_key"))
            .map(|(id, secret)| (id, secret, of_profile("aws_session_token"))),
        _ => {
            return Err(BucketError::new(
                BucketErrorKind::Settings,
                "Only one of AWS_ACCESS_KEY_ID and AWS_SECRET_ACCESS_KEY is set.",
                "Set both, or neither to use a profile.",
            ));
        }
    };
    if let Some((id, secret, token)) = found {
        let fits = |text: &str| text.bytes().all(|byte| byte.is_ascii_graphic());
        if !fits(&id) || !fits(&secret) || !token.as_ref().is_none_or(|token| fits(token)) {
            return Err(BucketError::new(
                BucketErrorKind::Settings,
                "The keys for S3 have letters that keys never have.",
                "Check AWS_ACCESS_KEY_ID, AWS_SECRET_ACCESS_KEY and AWS_SESSION_TOKEN.",
            ));
        }
        return Ok(AccessKeys { id, secret, token });
    }
    let by = UNKNOWN.iter().find(|(key, _)| of_profile(key).is_some());
    let message = match by {
        Some((_, by)) => {
            format!("The profile gets its keys by {by}, which Touchstone does not do.")
        }
        None => "There are no keys for S3.".to_owned(),
    };
    let hint = match by {
        Some(_) => "Get them first: eval \"$(aws configure export-credentials --format env)\"",
        None => {
            "Set AWS_ACCESS_KEY_ID and AWS_SECRET_ACCESS_KEY, or AWS_PROFILE. For keys of SSO or of \
             a role: eval \"$(aws configure export-credentials --format env)\""
        }
    };
    Err(BucketError::new(BucketErrorKind::Settings, message, hint))
}

/// Parses the address of a server. Plain HTTP works on this machine, and elsewhere only where it
/// was asked for, with a notice.
fn endpoint_of(text: &str, allows_http: bool) -> Result<(Url, Option<String>), BucketError> {
    let refused =
        |message: &str, hint: &str| BucketError::new(BucketErrorKind::Settings, message, hint);
    let url = Url::parse(text).ok().filter(|url| url.host_str().is_some());
    let Some(url) = url.filter(|url| matches!(url.scheme(), "http" | "https")) else {
        return Err(refused(
            "The endpoint for S3 is not an address.",
            "Set AWS_ENDPOINT_URL_S3 to one such as https://s3.example.com.",
        ));
    };
    if !url.username().is_empty() || url.password().is_some() {
        return Err(refused(
            "The endpoint for S3 holds a name or a password, and was not used.",
            "Take it out, and set AWS_ACCESS_KEY_ID and AWS_SECRET_ACCESS_KEY.",
        ));
    }
    if url.query().is_some() || url.fragment().is_some() {
        return Err(refused(
            "The endpoint for S3 has more than a host and a path.",
            "Take out what begins with ? or #.",
        ));
    }
    if url.scheme() == "https" || is_local(&url) {
        return Ok((url, None));
    }
    if allows_http {
        let host = url.host_str().unwrap_or_default();
        let notice = format!("The connection to {host} is not encrypted.");
        return Ok((url, Some(notice)));
    }
    Err(refused(
        "The endpoint for S3 is not encrypted, so nothing was sent to it.",
        "Use https, or set AWS_ALLOW_HTTP=true if everybody on the way may read the results.",
    ))
}

/// Returns true for an address of this machine.
pub(crate) fn is_local(url: &Url) -> bool {
    let host = url.host_str().unwrap_or_default().trim_matches(['[', ']']);
    host.eq_ignore_ascii_case("localhost")
        || host.parse::<std::net::IpAddr>().is_ok_and(|ip| ip.is_loopback())
}

#[cfg(test)]
mod tests {
    use super::*;

    fn found(variables: &[(&str, &str)], home: Option<&Path>) -> Result<Settings, BucketError> {
        let variable = |name: &str| {
            let set = variables.iter().find(|(one, _)| *one == name)?;
            Some(set.1.to_owned())
        };
        Settings::find(&Sources { variable: &variable, home })
    }

    const KEYS: [(&str, &str); 2] =
        [("AWS_ACCESS_KEY_ID", "AKID"), ("AWS_SECRET_ACCESS_KEY", "canary-secret")];

    #[test]
    fn the_environment_counts_before_profiles_and_neither_is_ever_printed() {
        let home = tempfile::tempdir().unwrap();
        fs::create_dir(home.path().join(".aws")).unwrap();
        let write = |name: &str, text: &str| fs::write(home.path().join(".aws").join(name), text);
        write(
            "credentials",
            "[default]\naws_access_key_id=P\naws_secret_access_key=canary-2\n\
            aws_session_token=canary-3\n[half]\naws_access_key_id=P\n\
            [empty]\naws_access_key_id=P\naws_secret_access_key=canary-4\naws_session_token=\n",
        )
        .unwrap();
        write(
            "config",
            "[default]\nregion=eu-west-1\nendpoint_url=https://s3.example.com/base\n\
            [profile empty]\nregion=\n[profile sso]\nsso_session=x\n[profile role]\nrole_arn=x\n",
        )
        .unwrap();
        let home = Some(home.path());
        let of_files = found(&[], home).unwrap();
        assert_eq!((of_files.keys.id.as_str(), of_files.region.as_str()), ("P", "eu-west-1"));
        assert_eq!(of_files.endpoint.as_ref().unwrap().as_str(), "https://s3.example.com/base");
        assert!(of_files.keys.token.is_some() && !format!("{of_files:?}").contains("canary"));
        let empty = found(&[("AWS_PROFILE", "empty")], home).unwrap();
        assert!(empty.keys.token.is_none() && empty.region == REGION);
        let more = [("AWS_REGION", "us-west-2"), ("AWS_ENDPOINT_URL", "http://127.0.0.1:9")];
        let of_both = found(&[KEYS.as_slice(), &more].concat(), home).unwrap();
        assert_eq!((of_both.keys.id.as_str(), of_both.region.as_str()), ("AKID", "us-west-2"));
        assert!(of_both.keys.token.is_none(), "a token belongs to the keys beside it");
        for (variables, words) in [
            (vec![("AWS_PROFILE", "sso")], "by SSO"),
            (vec![("AWS_PROFILE", "role")], "by a role"),
            (vec![("AWS_PROFILE", "half")], "no keys"),
            (vec![("AWS_PROFILE", "canary-typo")], "neither file"),
            (vec![KEYS[0]], "Only one of"),
            (vec![KEYS[0], ("AWS_SECRET_ACCESS_KEY", "canary é")], "letters that keys"),
            (vec![KEYS[0], KEYS[1], ("AWS_REGION", "a/b")], "region"),
        ] {
            let why = found(&variables, home).unwrap_err().to_string();
            assert!(why.contains(words) && !why.contains("canary"), "{why}");
        }
        let why = found(&[], None).unwrap_err();
        assert!(why.hint.contains("export-credentials"), "{why}");
    }

    #[test]
    fn plain_http_works_on_this_machine_and_elsewhere_only_when_asked_for() {
        let with = |endpoint: &str, allow: &str| {
            let more = [("AWS_ENDPOINT_URL_S3", endpoint), ("AWS_ALLOW_HTTP", allow)];
            found(&[KEYS.as_slice(), &more].concat(), None).map(|settings| settings.notice)
        };
        for endpoint in ["http://127.0.0.1:9000", "http://[::1]:9", "http://localhost", "https://x"]
        {
            assert_eq!(with(endpoint, "").unwrap(), None, "{endpoint}");
        }
        assert!(with("http://minio:9000", "").unwrap_err().hint.contains("AWS_ALLOW_HTTP"));
        assert!(with("http://minio:9000", "true").unwrap().unwrap().contains("not encrypted"));
        for endpoint in ["minio:9000", "ftp://x", "https://me:canary@x", "https://x?canary=1"] {
            let why = with(endpoint, "true").unwrap_err().to_string();
            assert!(!why.contains("canary"), "{why}");
        }
    }
}
