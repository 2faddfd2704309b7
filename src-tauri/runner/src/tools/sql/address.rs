//! Parses database addresses of the workspace file, fills in secrets, and rejects passwords in the
//! file. Uses no file, network or environment: secrets come from a callback.
use crate::secrets;
use crate::tools::Unusable;
use std::collections::BTreeSet;
use std::path::PathBuf;
use tokio_postgres::Config;
use tokio_postgres::config::{Host, SslMode};
use touchstone_model::value::Value;

/// Location of a database.
#[derive(Debug, Clone)]
pub(super) enum Address {
    /// A file, relative to the workspace file or absolute.
    Sqlite(PathBuf),
    /// A server.
    Postgres(Box<Server>),
}

/// A server with its trust settings. `Debug` output does not contain the password.
#[derive(Debug, Clone)]
pub(super) struct Server {
    pub(super) config: Config,
    pub(super) tls: Tls,
}

/// Encryption of the connection. There is no intermediate level, because encryption without
/// verification protects from no attacker.
#[derive(Debug, Clone, PartialEq, Eq)]
pub(super) enum Tls {
    /// No encryption.
    Off,
    /// Encrypted, with the server's certificate verified against the system's certificates or this
    /// file.
    Verified(Option<PathBuf>),
}

/// Parses an address, with each `${NAME}` replaced by the value from `secret`. Fails if a name is
/// not set, the address is invalid, or it contains a literal password.
pub(super) fn read(
    written: &str,
    secret: &dyn Fn(&str) -> Option<String>,
) -> Result<Address, Unusable> {
    let written = written.trim();
    // The whole address may be one secret, in the form that hosting platforms provide; it is then
    // already escaped.
    if let Some(name) = sole_variable(written) {
        let address = ask(name, secret)?;
        return if server(&address) { postgres(&address) } else { sqlite(&address) };
    }
    if !server(written) {
        return sqlite(&filled(written, secret, str::to_owned)?);
    }
    refuse_password(written)?;
    postgres(&filled(written, secret, escaped)?)
}

fn server(address: &str) -> bool {
    address.starts_with("postgres://") || address.starts_with("postgresql://")
}

fn sqlite(address: &str) -> Result<Address, Unusable> {
    let path =
        address.strip_prefix("sqlite:").filter(|path| !path.is_empty() && !path.starts_with("//"));
    match path {
        Some(":memory:") => {
            Err(unusable("A database in memory is empty.", "Give a file: `sqlite:data/sales.db`."))
        }
        Some(path) => Ok(Address::Sqlite(PathBuf::from(path))),
        None => Err(unusable(
            "The address of the database is not understood.",
            "Write `sqlite:data/sales.db` (relative to this file) or `postgres://reader:${PASSWORD}@host/name`.",
        )),
    }
}

fn postgres(address: &str) -> Result<Address, Unusable> {
    let (address, mode, roots) = without_trust(address);
    // The library's error is not shown: it may quote the address, and with it the password.
    let mut config: Config = address.parse().map_err(|_| {
        unusable(
            "The address of the PostgreSQL server is not understood.",
            "Write `postgres://reader:${PASSWORD}@host:5432/name`; further settings follow as `?name=value&name=value`.",
        )
    })?;
    if config.get_hosts().is_empty() {
        return Err(unusable(
            "The address of the PostgreSQL server has no host.",
            "Write it after the `@`.",
        ));
    }
    let near = config.get_hosts().iter().all(|host| match host {
        Host::Unix(_) => true,
        Host::Tcp(name) => matches!(name.as_str(), "localhost" | "127.0.0.1" | "::1" | "[::1]"),
    });
    let tls = match mode.as_deref() {
        Some("disable") => Tls::Off,
        None | Some("allow" | "prefer") if near => Tls::Off,
        None | Some("allow" | "prefer" | "require" | "verify-ca" | "verify-full") => {
            Tls::Verified(roots)
        }
        Some(_) => {
            return Err(unusable(
                "This `sslmode` is not known.",
                "Write `sslmode=verify-full` or `disable`.",
            ));
        }
    };
    config.ssl_mode(if tls == Tls::Off { SslMode::Disable } else { SslMode::Require });
    if config.get_application_name().is_none() {
        config.application_name("touchstone");
    }
    Ok(Address::Postgres(Box::new(Server { config, tls })))
}

/// Extracts the parameters that the library does not support: trust mode and certificate file.
fn without_trust(address: &str) -> (String, Option<String>, Option<PathBuf>) {
    let Some((before, query)) = address.split_once('?') else {
        return (address.to_owned(), None, None);
    };
    let (mut mode, mut roots, mut kept) = (None, None, Vec::new());
    for part in query.split('&') {
        match part.split_once('=') {
            Some(("sslmode", value)) => mode = Some(value.to_owned()),
            Some(("sslrootcert", value)) => roots = Some(PathBuf::from(unescaped(value))),
            _ => kept.push(part),
        }
    }
    let query = if kept.is_empty() { String::new() } else { format!("?{}", kept.join("&")) };
    (format!("{before}{query}"), mode, roots)
}

/// Rejects a literal password in the address, because the file and thus the password are shared.
fn refuse_password(written: &str) -> Result<(), Unusable> {
    if password_parts(written).iter().any(|password| sole_variable(password).is_none()) {
        return Err(unusable(
            "The address of the database holds a password, and passwords do not belong in this file.",
            "Write `${NAME}` in its place, and set the environment variable NAME or store it in the keyring.",
        ));
    }
    Ok(())
}

/// Returns the passwords in an address, in their escaped form.
fn password_parts(address: &str) -> Vec<&str> {
    let rest = address.split_once("://").map_or("", |(_, rest)| rest);
    let (before, query) = rest.split_once('?').unwrap_or((rest, ""));
    let credentials = before.rsplit_once('@').map(|(credentials, _)| credentials);
    let in_front = credentials
        .and_then(|credentials| credentials.split_once(':'))
        .map(|(_, password)| password);
    let behind = query.split('&').filter_map(|part| part.split_once('='));
    let behind =
        behind.filter(|(key, _)| unescaped(key) == "password").map(|(_, password)| password);
    in_front.into_iter().chain(behind).filter(|password| !password.is_empty()).collect()
}

/// Returns the passwords in an address after filling in secrets, both as written and unescaped. No
/// other part is secret.
pub(crate) fn passwords(written: &str, secret: &dyn Fn(&str) -> Option<String>) -> Vec<String> {
    let written = written.trim();
    let address = match sole_variable(written) {
        Some(name) => secret(name),
        // A name that is not set stands for itself, so that the other secrets are still found.
        None => {
            filled(written, &|name| secret(name).or_else(|| Some(name.to_owned())), escaped).ok()
        }
    };
    let address = address.unwrap_or_default();
    let mut found: Vec<String> = password_parts(&address)
        .iter()
        .flat_map(|text| [(*text).to_owned(), unescaped(text)])
        .collect();
    // An unescaped password may end at a different position for the library, which sends it.
    let config = address.parse::<Config>().ok().filter(|_| server(&address));
    let sent = config.as_ref().and_then(Config::get_password).map(String::from_utf8_lossy);
    found.extend(sent.map(std::borrow::Cow::into_owned));
    // The names of unset variables, inserted above, are no passwords, and stay visible.
    let mut names = BTreeSet::new();
    secrets::collect_placeholders(&Value::Text(written.to_owned()), &mut names);
    names.retain(|name| secret(name).is_none());
    found.retain(|text| !names.contains(&unescaped(text)));
    found.sort();
    found.dedup();
    found
}

/// Returns the name if the text consists of only `${NAME}`.
fn sole_variable(text: &str) -> Option<&str> {
    let name = text.strip_prefix("${")?.strip_suffix('}')?;
    named(name).then_some(name)
}

fn named(name: &str) -> bool {
    !name.is_empty() && name.chars().all(|c| c.is_ascii_alphanumeric() || c == '_')
}

fn filled(
    written: &str,
    secret: &dyn Fn(&str) -> Option<String>,
    written_as: impl Fn(&str) -> String,
) -> Result<String, Unusable> {
    let mut out = String::new();
    let mut rest = written;
    while let Some((before, after)) = rest.split_once("${") {
        out.push_str(before);
        match after.split_once('}').filter(|(name, _)| named(name)) {
            Some((name, after)) => {
                out.push_str(&written_as(&ask(name, secret)?));
                rest = after;
            }
            None => {
                return Err(unusable("`${` opens a name that is not closed.", "Write `${NAME}`."));
            }
        }
    }
    out.push_str(rest);
    Ok(out)
}

fn ask(name: &str, secret: &dyn Fn(&str) -> Option<String>) -> Result<String, Unusable> {
    secret(name).filter(|value| !value.is_empty()).ok_or_else(|| Unusable {
        message: format!("The address of the database needs {name}, which is not set."),
        fix: Some(format!("Set the environment variable {name}, or store it in the keyring.")),
    })
}

/// Escapes a secret for use in an address: a password may contain `@` and `/`.
fn escaped(value: &str) -> String {
    use std::fmt::Write as _;
    let mut out = String::new();
    for byte in value.bytes() {
        if byte.is_ascii_alphanumeric() {
            out.push(char::from(byte));
        } else {
            let _ = write!(out, "%{byte:02X}");
        }
    }
    out
}

fn unescaped(text: &str) -> String {
    let mut bytes = Vec::new();
    let mut rest = text.as_bytes();
    while let [first, after @ ..] = rest {
        let pair = after.get(..2).and_then(|pair| std::str::from_utf8(pair).ok());
        let byte =
            pair.and_then(|pair| u8::from_str_radix(pair, 16).ok()).filter(|_| *first == b'%');
        bytes.push(byte.unwrap_or(*first));
        rest = if byte.is_some() { &after[2..] } else { after };
    }
    String::from_utf8_lossy(&bytes).into_owned()
}

fn unusable(message: &str, fix: &str) -> Unusable {
    Unusable { message: message.to_owned(), fix: Some(fix.to_owned()) }
}

#[cfg(test)]
mod tests {
    use super::*;
    use proptest::prelude::*;

    fn secrets(name: &str) -> Option<String> {
        match name {
            "PASSWORD" => Some("p@ss/w:rd ${X}%41".to_owned()),
            "URL" => Some("postgresql://me:in%40side@db.example/shop".to_owned()),
            "FILE" => Some("sqlite:x.db".to_owned()),
            _ => None,
        }
    }

    fn describe(written: &str) -> String {
        match read(written, &secrets) {
            Ok(Address::Sqlite(path)) => format!("file {}", path.display()),
            Ok(Address::Postgres(server)) => format!(
                "{:?} as {:?} with {:?}, {:?}",
                server.config.get_hosts(),
                server.config.get_user().unwrap_or_default(),
                server.config.get_password().map(String::from_utf8_lossy),
                server.tls
            ),
            Err(unusable) => unusable.message,
        }
    }

    #[test]
    fn the_name_of_a_variable_that_is_not_set_is_no_password_and_its_value_is_one_once_it_is() {
        let written = "postgres://reader:${SUCH_A_NAME}@db.example/shop";
        assert_eq!(passwords(written, &|_| None), Vec::<String>::new());
        assert_eq!(
            passwords(written, &|_| Some("SUCH_A_NAME".to_owned())),
            ["SUCH%5FA%5FNAME", "SUCH_A_NAME"]
        );
    }

    #[test]
    fn an_address_is_read_with_its_secrets_in_place() {
        let given = [
            "sqlite:data/x.db",
            "sqlite:/abs/x.db?mode=rw",
            "${FILE}",
            "${URL}",
            "postgres://reader:${PASSWORD}@127.0.0.1/shop",
            "postgres://reader@db.example/shop?password=${PASSWORD}",
            "postgres://reader:${PASSWORD}@db.example/shop?sslmode=verify-full&sslrootcert=certs%2Fca.pem",
            "postgres://reader@db.example/shop?sslmode=disable",
            "postgres://reader@localhost/shop?sslmode=require",
            "postgres:///shop?host=/run/postgresql&user=me",
        ];
        insta::assert_snapshot!(given.map(describe).join("\n"), @r#"
        file data/x.db
        file /abs/x.db?mode=rw
        file x.db
        [Tcp("db.example")] as "me" with Some("in@side"), Verified(None)
        [Tcp("127.0.0.1")] as "reader" with Some("p@ss/w:rd ${X}%41"), Off
        [Tcp("db.example")] as "reader" with Some("p@ss/w:rd ${X}%41"), Verified(None)
        [Tcp("db.example")] as "reader" with Some("p@ss/w:rd ${X}%41"), Verified(Some("certs/ca.pem"))
        [Tcp("db.example")] as "reader" with None, Off
        [Tcp("localhost")] as "reader" with None, Verified(None)
        [Unix("/run/postgresql")] as "me" with None, Off
        "#);
    }

    #[test]
    fn invalid_database_addresses_are_refused_with_a_reason() {
        let given = [
            "",
            "sqlite:",
            "sqlite:///x.db",
            "sqlite::memory:",
            "mysql://x",
            "${NOT_SET}",
            "postgres://me:${NOT_SET}@h/d",
            "postgres://me:${X@h/d",
            "postgres:///shop",
            "postgres://me@h:port/shop",
            "postgres://me@h/shop?sslmode=maybe",
        ];
        insta::assert_snapshot!(given.map(describe).join("\n"), @"
        The address of the database is not understood.
        The address of the database is not understood.
        The address of the database is not understood.
        A database in memory is empty.
        The address of the database is not understood.
        The address of the database needs NOT_SET, which is not set.
        The address of the database needs NOT_SET, which is not set.
        The address of the database holds a password, and passwords do not belong in this file.
        The address of the PostgreSQL server has no host.
        The address of the PostgreSQL server is not understood.
        This `sslmode` is not known.
        ");
    }

    #[test]
    fn a_password_in_the_file_is_refused_wherever_it_stands() {
        for written in [
            "postgres://me:hunter2@h/d",
            "postgresql://me:hunter2${PASSWORD}@h/d",
            "postgres://me:hunter2@@h/d",
            "postgres://me@h/d?password=hunter2",
            "postgres://me@h/d?sslmode=require&pass%77ord=hunter2",
        ] {
            let refused = read(written, &secrets).unwrap_err();
            assert!(refused.message.contains("passwords do not belong"), "{written}: {refused}");
            assert!(!format!("{refused:?}").contains("hunter2"));
        }
    }

    #[test]
    fn the_password_of_an_address_is_found_wherever_it_stands() {
        let url = |name: &str| match name {
            "URL" => Some("postgresql://me:in%40side%2Dword@db.example/shop".to_owned()),
            "BARE" => Some("postgres://me:raw/wo?rd@db.example/shop".to_owned()),
            "BEHIND" => Some("postgres://me@db.example/shop?password=a%20b".to_owned()),
            _ => secrets(name),
        };
        let cases: [(&str, &[&str]); 7] = [
            ("${URL}", &["in%40side%2Dword", "in@side-word"]),
            ("${BARE}", &["raw/wo?rd"]),
            ("${BEHIND}", &["a b", "a%20b"]),
            (
                "postgres://${NOT_SET}:${PASSWORD}@h/${NOT_SET}",
                &["p%40ss%2Fw%3Ard%20%24%7BX%7D%2541", "p@ss/w:rd ${X}%41"],
            ),
            ("postgres://${PASSWORD}@h/d", &[]),
            ("sqlite:${PASSWORD}/x.db", &[]),
            ("${NOT_SET}", &[]),
        ];
        for (written, expected) in cases {
            assert_eq!(passwords(written, &url), expected, "{written}");
        }
    }

    #[test]
    fn an_address_is_shown_without_its_password() {
        let Address::Postgres(server) = read("postgres://me:${PASSWORD}@h/d", &secrets).unwrap()
        else {
            panic!("a server")
        };
        assert!(!format!("{server:?}").contains("p@ss"), "{server:?}");
    }

    proptest! {
        #[test]
        fn any_secret_arrives_as_it_is(secret in "\\PC{1,20}") {
            let given = read("postgres://me:${P}@h/d", &|_| Some(secret.clone())).unwrap();
            let Address::Postgres(server) = given else { panic!("a server") };
            prop_assert_eq!(server.config.get_password().unwrap(), secret.as_bytes());
            prop_assert_eq!(unescaped(&escaped(&secret)), secret);
        }

        #[test]
        fn no_text_is_too_odd(written in "(postgres://|sqlite:|\\$\\{)?\\PC{0,30}") {
            let _ = read(&written, &secrets);
        }
    }
}
