//! Keys of providers and their sources. The environment comes first, then the keyring of the
//! operating system; keys are never written to a file. Owns the only type that holds a key, which
//! cannot be printed.
use std::collections::BTreeMap;
use std::ffi::{OsStr, OsString};
use std::fmt;
use std::os::unix::ffi::OsStringExt as _;
use std::sync::OnceLock;
use thiserror::Error;
use zeroize::Zeroizing;

/// Service name of our entries in the keyring.
const OURS: &str = "touchstone";

/// Key. It cannot be printed or written by accident, and its memory is wiped on drop.
#[derive(Clone)]
pub struct ApiKey(Zeroizing<String>);

impl ApiKey {
    /// Validates a key and trims surrounding whitespace, which is often copied along.
    pub fn new(text: &str) -> Result<Self, KeyError> {
        let text = text.trim();
        if text.is_empty() {
            return Err(KeyError::Empty);
        }
        // It must fit into a header; other characters would change the request.
        if !text.bytes().all(|byte| byte.is_ascii_graphic()) {
            return Err(KeyError::OddLetters);
        }
        Ok(Self(Zeroizing::new(text.to_owned())))
    }

    /// Returns the key itself: only for its header, and for redaction.
    pub fn reveal(&self) -> &str {
        &self.0
    }

    /// Returns the last four characters, which help users to tell keys apart; `None` if these would
    /// reveal too much of it.
    pub fn last4(&self) -> Option<&str> {
        self.0.len().checked_sub(4).filter(|before| *before >= 12).map(|before| &self.0[before..])
    }
}

impl fmt::Debug for ApiKey {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str("[redacted]")
    }
}

/// Error of a key or of its storage.
#[derive(Debug, Error, PartialEq, Eq)]
pub enum KeyError {
    /// The key is blank.
    #[error("The key is empty. Copy it again from the provider's page.")]
    Empty,
    /// The key contains characters that cannot be sent.
    #[error(
        "The key contains characters that keys cannot have, such as a space or a line break. Copy it again from the provider's page."
    )]
    OddLetters,
    /// There is no keyring on this system.
    #[error("{0}")]
    NoKeyring(String),
    /// The keyring is locked.
    #[error(
        "The keyring of the system does not open: {0}. Unlock it and try again, or set the key in the environment."
    )]
    Locked(String),
    /// The keyring failed in another way.
    #[error("The keyring of the system failed: {0}. Try again, or set the key in the environment.")]
    Failed(String),
}

/// Source of a key.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Source {
    /// Environment variable.
    Environment,
    /// Keyring of the operating system.
    Keyring,
}

/// Persistent storage of keys.
pub trait Vault: Send + Sync {
    /// Checks that keys can be stored here. The error gives the reason.
    fn open(&self) -> Result<(), KeyError>;
    /// Returns the stored key of a name.
    fn get(&self, name: &str) -> Result<Option<Zeroizing<String>>, KeyError>;
    /// Stores a key under a name, replacing any other.
    fn set(&self, name: &str, key: &str) -> Result<(), KeyError>;
    /// Removes a key. Succeeds if there is none.
    fn forget(&self, name: &str) -> Result<(), KeyError>;
}

/// Environment before keys were removed from it.
static KEPT: OnceLock<BTreeMap<OsString, Zeroizing<Vec<u8>>>> = OnceLock::new();

/// Saves the environment. Keys can then be removed from it and are still found.
pub fn keep_environment() {
    let all = std::env::vars_os().map(|(name, value)| (name, Zeroizing::new(value.into_vec())));
    // The first call counts: later ones may see a reduced environment.
    let _ = KEPT.set(all.collect());
}

/// Returns the environment that this program was started with, keys included. Only for a program
/// that hands it on to jobs that need them.
pub fn whole_environment() -> Vec<(OsString, OsString)> {
    let Some(kept) = KEPT.get() else { return std::env::vars_os().collect() };
    kept.iter().map(|(name, value)| (name.clone(), OsString::from_vec(value.to_vec()))).collect()
}

fn variable(name: &str) -> Option<String> {
    let Some(kept) = KEPT.get() else { return std::env::var(name).ok() };
    String::from_utf8(kept.get(OsStr::new(name))?.to_vec()).ok()
}

/// Looks up an environment variable.
type Environment = Box<dyn Fn(&str) -> Option<String> + Send + Sync>;

/// Keys by name. The environment variable and the keyring entry have the same name.
///
/// The keyring may ask the user to unlock it and blocks meanwhile: call these methods where
/// blocking is allowed.
pub struct Keys {
    environment: Environment,
    vault: Box<dyn Vault>,
}

impl fmt::Debug for Keys {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str("Keys")
    }
}

impl Keys {
    /// Uses the environment of this process and the keyring of this user.
    pub fn system() -> Self {
        Self::new(variable, Keyring)
    }

    /// Uses another environment and another keyring.
    pub fn new(
        environment: impl Fn(&str) -> Option<String> + Send + Sync + 'static,
        vault: impl Vault + 'static,
    ) -> Self {
        Self { environment: Box::new(environment), vault: Box::new(vault) }
    }

    /// Returns a variable of the environment that the program was started with.
    pub fn variable(&self, name: &str) -> Option<String> {
        (self.environment)(name)
    }

    /// Returns the key of a name, or `None` if it is not set.
    pub fn get(&self, name: &str) -> Result<Option<ApiKey>, KeyError> {
        Ok(self.find(name)?.map(|(key, _)| key))
    }

    /// Returns the source of a key, or `None` if it is not set.
    pub fn source(&self, name: &str) -> Result<Option<Source>, KeyError> {
        Ok(self.find(name)?.map(|(_, source)| source))
    }

    /// Returns a key with its source.
    pub fn find(&self, name: &str) -> Result<Option<(ApiKey, Source)>, KeyError> {
        let found = self.text(name)?;
        found.map(|(text, source)| Ok((ApiKey::new(&text)?, source))).transpose()
    }

    /// Returns a secret that is not sent in a header, such as a password, with any characters;
    /// `None` if it is not set. Trailing line breaks, which often come along from a file, are
    /// removed.
    pub fn secret(&self, name: &str) -> Result<Option<Zeroizing<String>>, KeyError> {
        let found = self.text(name)?;
        Ok(found.map(|(text, _)| Zeroizing::new(text.trim_end_matches(['\r', '\n']).to_owned())))
    }

    fn text(&self, name: &str) -> Result<Option<(Zeroizing<String>, Source)>, KeyError> {
        let set =
            (self.environment)(name).map(Zeroizing::new).filter(|text| !text.trim().is_empty());
        if let Some(text) = set {
            return Ok(Some((text, Source::Environment)));
        }
        match self.vault.get(name) {
            Ok(kept) => Ok(kept.map(|text| (text, Source::Keyring))),
            // Without a keyring there is no key in it.
            Err(KeyError::NoKeyring(_)) => Ok(None),
            Err(error) => Err(error),
        }
    }

    /// Stores a key in the keyring. An environment variable of the same name still takes
    /// precedence.
    pub fn set(&self, name: &str, key: &ApiKey) -> Result<(), KeyError> {
        self.vault.set(name, key.reveal())
    }

    /// Removes a key from the keyring. The environment is not changed.
    pub fn forget(&self, name: &str) -> Result<(), KeyError> {
        self.vault.forget(name)
    }

    /// Checks that keys can be stored here. The error gives the reason.
    pub fn can_store(&self) -> Result<(), KeyError> {
        self.vault.open()
    }

    /// Explains that a key is missing, with the next step.
    pub fn missing(&self, name: &str) -> String {
        match self.can_store() {
            Ok(()) => format!("There is no key {name}. {}", self.how_to_set(name)),
            Err(error) => format!("There is no key {name}. {error}"),
        }
    }

    /// Returns only the next step for a missing key.
    pub fn how_to_set(&self, name: &str) -> String {
        match self.can_store() {
            Ok(()) => format!("Store it in the settings, or set {name} in the environment."),
            Err(_) => format!("Set {name} in the environment, and start Touchstone again."),
        }
    }
}

/// Keyring of the operating system: Secret Service, Keychain or Credential Manager.
#[derive(Debug, Clone, Copy)]
pub struct Keyring;

impl Keyring {
    fn entry(self, name: &str) -> Result<keyring::Entry, KeyError> {
        self.open()?;
        keyring::Entry::new(OURS, name).map_err(|error| failed(&error))
    }
}

impl Vault for Keyring {
    fn open(&self) -> Result<(), KeyError> {
        let Err(error) = keyring::Entry::store_status() else { return Ok(()) };
        let kind = if cfg!(target_os = "linux") {
            "no Secret Service, such as GNOME Keyring, answers"
        } else {
            "it does not answer"
        };
        Err(KeyError::NoKeyring(format!(
            "Keys cannot be stored on this system: {kind} ({}). Set them in the environment.",
            innermost(error)
        )))
    }

    fn get(&self, name: &str) -> Result<Option<Zeroizing<String>>, KeyError> {
        match self.entry(name)?.get_password() {
            Ok(key) => Ok(Some(Zeroizing::new(key))),
            Err(keyring::Error::NoEntry) => Ok(None),
            Err(error) => Err(failed(&error)),
        }
    }

    fn set(&self, name: &str, key: &str) -> Result<(), KeyError> {
        self.entry(name)?.set_password(key).map_err(|error| failed(&error))
    }

    fn forget(&self, name: &str) -> Result<(), KeyError> {
        match self.entry(name)?.delete_credential() {
            Ok(()) | Err(keyring::Error::NoEntry) => Ok(()),
            Err(error) => Err(failed(&error)),
        }
    }
}

/// Converts an error. Some of these errors contain the stored secret, therefore only the message of
/// the system is repeated.
fn failed(error: &keyring::Error) -> KeyError {
    match error {
        keyring::Error::NoStorageAccess(_) => KeyError::Locked(innermost(error)),
        keyring::Error::PlatformFailure(_) => KeyError::Failed(innermost(error)),
        keyring::Error::Ambiguous(_) => {
            KeyError::Failed("it holds more than one entry of this name".to_owned())
        }
        keyring::Error::TooLong(..) => {
            KeyError::Failed("the name or the key is too long for it".to_owned())
        }
        _ => KeyError::Failed("what it holds under this name is no key".to_owned()),
    }
}

/// Returns the message of the system, without wrapping errors.
fn innermost(error: &keyring::Error) -> String {
    let mut words: &dyn std::error::Error = error;
    while let Some(inner) = words.source() {
        words = inner;
    }
    words.to_string().trim_end_matches('.').to_owned()
}

#[cfg(test)]
mod tests {
    use super::*;
    use std::sync::{Arc, Mutex};

    #[derive(Clone, Default)]
    struct Drawer(Arc<Mutex<BTreeMap<String, String>>>);

    impl Drawer {
        fn with<T>(&self, act: impl FnOnce(&mut BTreeMap<String, String>) -> T) -> T {
            act(&mut self.0.lock().unwrap())
        }
    }

    impl Vault for Drawer {
        fn open(&self) -> Result<(), KeyError> {
            Ok(())
        }
        fn get(&self, name: &str) -> Result<Option<Zeroizing<String>>, KeyError> {
            Ok(self.with(|kept| kept.get(name).cloned()).map(Zeroizing::new))
        }
        fn set(&self, name: &str, key: &str) -> Result<(), KeyError> {
            self.with(|kept| kept.insert(name.to_owned(), key.to_owned()));
            Ok(())
        }
        fn forget(&self, name: &str) -> Result<(), KeyError> {
            self.with(|kept| kept.remove(name));
            Ok(())
        }
    }

    struct Nowhere;

    impl Vault for Nowhere {
        fn open(&self) -> Result<(), KeyError> {
            Err(KeyError::NoKeyring(
                "Keys cannot be stored. Set them in the environment.".to_owned(),
            ))
        }
        fn get(&self, _: &str) -> Result<Option<Zeroizing<String>>, KeyError> {
            self.open().map(|()| None)
        }
        fn set(&self, _: &str, _: &str) -> Result<(), KeyError> {
            self.open()
        }
        fn forget(&self, _: &str) -> Result<(), KeyError> {
            self.open()
        }
    }

    struct Locked;

    impl Vault for Locked {
        fn open(&self) -> Result<(), KeyError> {
            Ok(())
        }
        fn get(&self, _: &str) -> Result<Option<Zeroizing<String>>, KeyError> {
            Err(KeyError::Locked("it is locked".to_owned()))
        }
        fn set(&self, _: &str, _: &str) -> Result<(), KeyError> {
            Err(KeyError::Locked("it is locked".to_owned()))
        }
        fn forget(&self, _: &str) -> Result<(), KeyError> {
            Ok(())
        }
    }

    fn environment(name: &str) -> Option<String> {
        match name {
            "SET" => Some(" key-of-the-environment\n".to_owned()),
            "BLANK" => Some("  ".to_owned()),
            "BROKEN" => Some("a b".to_owned()),
            "PASSWORD" => Some(" pass wörd\n".to_owned()),
            _ => None,
        }
    }

    #[test]
    fn a_key_prints_as_nothing_but_that_it_is_one() {
        let key = ApiKey::new("canary-0123456789").unwrap();
        assert_eq!(format!("{key:?} {:?}", Some(&key)), "[redacted] Some([redacted])");
        assert_eq!((key.reveal(), key.last4()), ("canary-0123456789", Some("6789")));
        assert_eq!(ApiKey::new("short").unwrap().last4(), None);
    }

    #[test]
    fn a_key_is_cut_to_what_can_be_sent_and_refused_otherwise() {
        assert_eq!(ApiKey::new(" abc\n").unwrap().reveal(), "abc");
        assert_eq!(ApiKey::new(" \n").unwrap_err(), KeyError::Empty);
        for odd in ["a b", "a\r\nx: y", "schlüssel"] {
            assert_eq!(ApiKey::new(odd).unwrap_err(), KeyError::OddLetters);
        }
    }

    #[test]
    fn the_environment_comes_first_and_a_blank_variable_is_none() {
        let kept = Drawer::default();
        for name in ["SET", "BLANK", "KEPT"] {
            kept.set(name, "key-of-the-keyring").unwrap();
        }
        let keys = Keys::new(environment, kept);
        let found = |name: &str| {
            keys.find(name).unwrap().map(|(key, source)| (key.reveal().to_owned(), source))
        };
        assert_eq!(found("SET"), Some(("key-of-the-environment".to_owned(), Source::Environment)));
        assert_eq!(found("BLANK"), Some(("key-of-the-keyring".to_owned(), Source::Keyring)));
        assert_eq!(found("KEPT"), Some(("key-of-the-keyring".to_owned(), Source::Keyring)));
        assert_eq!(found("NEITHER"), None);
        assert_eq!(keys.get("BROKEN").unwrap_err(), KeyError::OddLetters);
    }

    #[test]
    fn a_password_may_hold_letters_that_fit_into_no_header() {
        let keys = Keys::new(environment, Drawer::default());
        let secret = |name: &str| keys.secret(name).unwrap().map(|secret| secret.to_string());
        assert_eq!(keys.get("PASSWORD").unwrap_err(), KeyError::OddLetters);
        assert_eq!(secret("PASSWORD").as_deref(), Some(" pass wörd"));
        assert_eq!((secret("BLANK"), secret("OTHER")), (None, None));
        let locked = Keys::new(environment, Locked);
        assert!(
            matches!(locked.secret("OTHER"), Err(KeyError::Locked(_))),
            "locked is not the same as not set"
        );
    }

    #[test]
    fn what_is_stored_is_found_until_it_is_forgotten() {
        let keys = Keys::new(environment, Drawer::default());
        keys.set("MINE", &ApiKey::new("abcdefgh").unwrap()).unwrap();
        assert_eq!(keys.source("MINE").unwrap(), Some(Source::Keyring));
        keys.forget("MINE").unwrap();
        keys.forget("MINE").unwrap();
        assert_eq!(keys.source("MINE").unwrap(), None);
    }

    #[test]
    fn without_a_keyring_the_environment_still_works_and_the_rest_says_why() {
        let keys = Keys::new(environment, Nowhere);
        assert_eq!(keys.source("SET").unwrap(), Some(Source::Environment));
        assert_eq!(keys.source("OTHER").unwrap(), None);
        assert!(keys.set("OTHER", &ApiKey::new("abcdefgh").unwrap()).is_err());
        insta::assert_snapshot!(keys.missing("OTHER"), @"There is no key OTHER. Keys cannot be stored. Set them in the environment.");
    }

    #[test]
    fn a_keyring_that_does_not_open_is_an_error_and_not_a_missing_key() {
        let keys = Keys::new(environment, Locked);
        assert!(matches!(keys.get("OTHER"), Err(KeyError::Locked(_))));
        assert_eq!(keys.source("SET").unwrap(), Some(Source::Environment));
    }

    #[test]
    fn errors_of_the_keyring_never_repeat_what_it_holds() {
        let canary = b"canary-0123456789".to_vec();
        let inner = || Box::<dyn std::error::Error + Send + Sync>::from("canary-0123456789");
        for error in [
            keyring::Error::BadEncoding(canary.clone()),
            keyring::Error::BadDataFormat(canary.clone(), inner()),
        ] {
            let said = failed(&error);
            assert!(!format!("{said} {said:?}").contains("canary"), "{said}");
        }
    }
}
