//! Searches a folder for a secret in any encoding. Its encoders are its own, so that it shares no
//! bug with the code under test.
use std::fmt::Write as _;
use std::path::{Path, PathBuf};

/// Place where a secret was found.
#[derive(Debug, Clone, PartialEq, Eq)]
pub(crate) struct Find {
    /// The file.
    pub(crate) file: PathBuf,
    /// The encoding.
    pub(crate) form: &'static str,
}

/// Finds all files below a folder whose content or name contains the secret. Links are not
/// followed.
pub(crate) fn search(dir: &Path, secret: &str) -> Vec<Find> {
    let forms = forms(secret);
    let mut found = Vec::new();
    let mut left = vec![dir.to_path_buf()];
    while let Some(path) = left.pop() {
        let kind = std::fs::symlink_metadata(&path).map(|there| there.file_type());
        if kind.as_ref().is_ok_and(std::fs::FileType::is_dir) {
            left.extend(
                std::fs::read_dir(&path).into_iter().flatten().flatten().map(|entry| entry.path()),
            );
        }
        let mut bytes =
            path.file_name().unwrap_or_default().to_string_lossy().into_owned().into_bytes();
        if kind.is_ok_and(|kind| kind.is_file()) {
            bytes.push(b'\n');
            bytes.extend(std::fs::read(&path).unwrap_or_default());
        }
        found.extend(within(&bytes, &forms).next().map(|form| Find { file: path.clone(), form }));
    }
    found
}

/// Returns the encoding in which a text contains a secret, if any.
pub(crate) fn spot(text: &[u8], secret: &str) -> Option<&'static str> {
    within(text, &forms(secret)).next()
}

fn within<'a>(
    text: &'a [u8],
    forms: &'a [(&'static str, String)],
) -> impl Iterator<Item = &'static str> + 'a {
    let holds = |form: &str| memchr::memmem::find(text, form.as_bytes()).is_some();
    forms.iter().filter(move |(_, form)| holds(form)).map(|(name, _)| *name)
}

fn forms(secret: &str) -> Vec<(&'static str, String)> {
    assert!(secret.len() >= 8, "too short to be told from ordinary text");
    let bytes = secret.as_bytes();
    let each =
        |form: &dyn Fn(u8) -> String| bytes.iter().map(|byte| form(*byte)).collect::<String>();
    let plain = |byte: u8| byte.is_ascii_alphanumeric() || b"-._~".contains(&byte);
    let mut forms = vec![
        ("raw", secret.to_owned()),
        ("hex", each(&|byte| format!("{byte:02x}"))),
        ("hex", each(&|byte| format!("{byte:02X}"))),
        (
            "URL",
            each(&|byte| {
                if plain(byte) { char::from(byte).to_string() } else { format!("%{byte:02X}") }
            }),
        ),
        (
            "URL",
            each(&|byte| {
                if plain(byte) { char::from(byte).to_string() } else { format!("%{byte:02x}") }
            }),
        ),
        ("JSON", serde_json::json!(secret).to_string().trim_matches('"').to_owned()),
    ];
    for shift in 0..3 {
        forms.push(("Base64", base64(bytes, shift, *b"+/")));
        forms.push(("Base64", base64(bytes, shift, *b"-_")));
    }
    forms
}

/// Returns the Base64 characters that depend only on the secret, if it begins at byte `shift` of a
/// group of three.
fn base64(bytes: &[u8], shift: usize, last_two: [u8; 2]) -> String {
    let letters: Vec<u8> =
        (b'A'..=b'Z').chain(b'a'..=b'z').chain(b'0'..=b'9').chain(last_two).collect();
    let bits: String = bytes.iter().fold(String::new(), |mut bits, byte| {
        let _ = write!(bits, "{byte:08b}");
        bits
    });
    // The first character that depends only on the secret begins where the bits of the preceding
    // byte end.
    let skip = [0, 4, 2][shift];
    let groups = bits.as_bytes()[skip..].chunks_exact(6);
    groups
        .map(|six| six.iter().fold(0, |value, bit| value * 2 + usize::from(bit - b'0')))
        .map(|at| char::from(letters[at]))
        .collect()
}

#[cfg(test)]
mod tests {
    use super::*;

    const SECRET: &str = "Canary/1+2=3 \"x\"";

    #[test]
    fn a_secret_is_found_however_it_is_written_and_wherever() {
        let dir = tempfile::tempdir().unwrap();
        std::fs::create_dir(dir.path().join("deep")).unwrap();
        let cases = [
            ("raw", format!("a {SECRET} b")),
            ("hex", "0043616e6172792f312b323d3320227822ff".to_owned()),
            ("hex", "43616E6172792F312B323D3320227822".to_owned()),
            ("URL", "key=Canary%2F1%2B2%3D3%20%22x%22&".to_owned()),
            ("JSON", r#"{"a":"Canary/1+2=3 \"x\""}"#.to_owned()),
            ("Base64", "Q2FuYXJ5LzErMj0zICJ4Ig==".to_owned()),
            ("Base64", "YUNhbmFyeS8xKzI9MyAieCI=".to_owned()),
            ("Base64", "YWJDYW5hcnkvMSsyPTMgIngi".to_owned()),
        ];
        for (form, text) in cases {
            let file = dir.path().join("deep/x.db-wal");
            std::fs::write(&file, [b"\0\xff".as_slice(), text.as_bytes()].concat()).unwrap();
            assert_eq!(search(dir.path(), SECRET), [Find { file, form }], "{text}");
        }
        std::fs::write(dir.path().join("deep/x.db-wal"), "Canary/1+2=3 and \"x\"").unwrap();
        assert_eq!(search(dir.path(), SECRET), []);
    }

    #[test]
    fn a_secret_in_a_name_is_found() {
        let dir = tempfile::tempdir().unwrap();
        std::fs::write(dir.path().join("log-canary-0123456789.txt"), "").unwrap();
        assert_eq!(search(dir.path(), "canary-0123456789").len(), 1);
    }
}
