//! **Pure.** Reads the files of profiles that AWS tools share: sections of names and values.
use std::collections::BTreeMap;
use zeroize::Zeroizing;

/// Values of a profile by their names in lower case.
pub(crate) type Profile = BTreeMap<String, Zeroizing<String>>;

/// Kind of a file: sections of `config` are named `profile NAME`, except the default one.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) enum FileKind {
    Credentials,
    Config,
}

/// Returns a profile of a file; `None` if it has no such section. Lines that cannot be read and
/// nested values are left out.
pub(crate) fn find(text: &str, kind: FileKind, name: &str) -> Option<Profile> {
    let mut found: Option<Profile> = None;
    let mut inside = false;
    for line in text.lines() {
        let trimmed = line.trim();
        if trimmed.is_empty() || trimmed.starts_with(['#', ';']) {
            continue;
        }
        if let Some(section) = trimmed.strip_prefix('[') {
            let section = section.split(']').next().unwrap_or_default().trim();
            inside = section_name(section, kind) == Some(name);
            if inside {
                found.get_or_insert_default();
            }
            continue;
        }
        // Lines that begin with space are nested in the value before.
        if !inside || line.starts_with([' ', '\t']) {
            continue;
        }
        if let (Some(profile), Some((key, value))) = (found.as_mut(), trimmed.split_once('=')) {
            let value = value.split(" #").next().unwrap_or_default().trim();
            profile.insert(key.trim().to_ascii_lowercase(), Zeroizing::new(value.to_owned()));
        }
    }
    found
}

fn section_name(section: &str, kind: FileKind) -> Option<&str> {
    match (kind, section.split_once(char::is_whitespace)) {
        (FileKind::Config, Some(("profile", name))) => Some(name.trim().trim_matches('"')),
        (FileKind::Config, None) if section != "default" => None,
        (_, None) => Some(section),
        _ => None,
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_profile_is_found_by_its_name_in_both_kinds_of_files() {
        let credentials = "# mine\n[default]\naws_access_key_id = A\n\n[work]\n\
             AWS_Access_Key_Id=B\naws_secret_access_key = s=+/ # secret\nbroken\n[work]\nx=1\n";
        let config = "[default]\nregion = eu-west-1\n[work]\nregion = no\n[profile work]\n\
             region= us-east-2\ns3 =\n  endpoint_url = nested\nendpoint_url = http://127.0.0.1:1\n\
             [sso-session work]\nregion = no\n[profile \"a b\"]\nregion=q\n";
        for (text, kind, name, key, value) in [
            (credentials, FileKind::Credentials, "default", "aws_access_key_id", Some("A")),
            (credentials, FileKind::Credentials, "work", "aws_access_key_id", Some("B")),
            (credentials, FileKind::Credentials, "work", "aws_secret_access_key", Some("s=+/")),
            (credentials, FileKind::Credentials, "work", "x", Some("1")),
            (credentials, FileKind::Credentials, "other", "x", None),
            (config, FileKind::Config, "default", "region", Some("eu-west-1")),
            (config, FileKind::Config, "work", "region", Some("us-east-2")),
            (config, FileKind::Config, "work", "endpoint_url", Some("http://127.0.0.1:1")),
            (config, FileKind::Config, "a b", "region", Some("q")),
            (config, FileKind::Config, "sso-session work", "region", None),
            ("", FileKind::Config, "default", "region", None),
        ] {
            let profile = find(text, kind, name);
            let found = profile.as_ref().and_then(|profile| profile.get(key));
            assert_eq!(found.map(|value| value.as_str()), value, "{name} {key}");
        }
        assert!(find(config, FileKind::Config, "nobody").is_none());
    }
}
