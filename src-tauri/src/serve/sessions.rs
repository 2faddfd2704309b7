//! Checksums of the sessions of earlier servers on a port, so that pages go on when a server came
//! back. The secrets themselves are never written.
use super::{Secret, control::own_dir};
use sha2::{Digest as _, Sha256};
use std::{
    fs,
    io::{self, Write as _},
    os::unix::fs::OpenOptionsExt as _,
    path::Path,
};

/// Number of earlier sessions that are remembered for a port.
const MOST: usize = 4;

/// Checksum of a session secret.
type Checksum = String;

/// The sessions of earlier servers on a port.
#[derive(Default)]
pub(crate) struct EarlierSessions(Vec<Checksum>);

impl EarlierSessions {
    /// Reads the earlier sessions of a port and adds the current one to the file. Without a readable
    /// file there are none.
    pub(crate) fn take(state_dir: &Path, port: u16, current: &Secret) -> io::Result<Self> {
        let path = own_dir(state_dir)?.join(format!("{port}.sessions"));
        let text = fs::read_to_string(&path).unwrap_or_default();
        let earlier: Vec<Checksum> = text.lines().take(MOST).map(str::to_owned).collect();
        let lines = [checksum(current.reveal())].into_iter().chain(earlier.iter().cloned());
        let text: String = lines.take(MOST).map(|line| line + "\n").collect();
        let new = path.with_extension("new");
        let mut file = fs::OpenOptions::new()
            .create(true)
            .write(true)
            .truncate(true)
            .mode(0o600)
            .open(&new)?;
        file.write_all(text.as_bytes())?;
        fs::rename(new, path)?;
        Ok(Self(earlier))
    }

    /// Returns true for the secret of an earlier session.
    pub(crate) fn contains(&self, secret: &str) -> bool {
        let checksum = Secret::new(checksum(secret));
        self.0.iter().any(|earlier| checksum.is(earlier))
    }
}

fn checksum(secret: &str) -> Checksum {
    use std::fmt::Write as _;
    let hash = Sha256::digest(secret.as_bytes());
    hash.iter().fold(String::new(), |mut text, byte| {
        let _ = write!(text, "{byte:02x}");
        text
    })
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_latest_sessions_of_a_port_are_remembered_by_their_checksums() {
        let state = tempfile::tempdir().unwrap();
        let secrets: Vec<Secret> = (0..7).map(|at| Secret::new(format!("secret {at}"))).collect();
        let take = |at: usize| EarlierSessions::take(state.path(), 7, &secrets[at]).unwrap();
        assert!(!take(0).contains("secret 0"), "the current one is not an earlier one");
        for at in 1..6 {
            take(at);
        }
        let earlier = take(6);
        let known: Vec<usize> =
            (0..7).filter(|at| earlier.contains(&format!("secret {at}"))).collect();
        assert_eq!(known, [2, 3, 4, 5]);
        let other = EarlierSessions::take(state.path(), 8, &secrets[0]).unwrap();
        assert!(!other.contains("secret 5"), "another port");
        let text = fs::read_to_string(state.path().join("serve/7.sessions")).unwrap();
        assert!(!text.contains("secret") && text.lines().count() == MOST, "{text}");
        assert!(!earlier.contains("") && !earlier.contains(text.lines().next().unwrap()));
    }
}
