//! One-time codes that admit a browser. Owns the valid codes; `gate` decides about requests.
//!
//! An address is visible to more than its browser: it stays in the history and in scrollback, and
//! the arguments of a program are visible to every user of this machine in the list of processes.
//! Therefore a code is used up by its first use. A code that was passed to another program also
//! expires after a minute, and is only accepted from a program of the same user.
use super::secret::Secret;
use std::{
    io,
    sync::{Mutex, PoisonError},
    time::{Duration, Instant},
};

/// Lifetime of a code that was passed to another program.
const HANDED_OVER: Duration = Duration::from_mins(1);
/// Maximum number of valid codes; the oldest is then dropped.
const MOST: usize = 32;

struct Invite {
    code: Secret,
    /// Time at which it was passed to another program of this user; `None` for printed codes.
    handed_over: Option<Instant>,
}

/// The codes of a running server.
pub(crate) struct Invites {
    port: u16,
    open: Mutex<Vec<Invite>>,
}

impl Invites {
    /// Creates an empty set of codes.
    pub(crate) fn new(port: u16) -> Self {
        Self { port, open: Mutex::default() }
    }

    /// Returns an address to print, valid until it is used. Fails if there is no randomness.
    pub(crate) fn address(&self) -> io::Result<String> {
        self.invite(None)
    }

    /// Returns an address for a browser that is started with it now.
    pub(crate) fn address_to_hand_over(&self) -> io::Result<String> {
        self.invite(Some(Instant::now()))
    }

    fn invite(&self, handed_over: Option<Instant>) -> io::Result<String> {
        let code = Secret::random()?;
        let address = format!("http://127.0.0.1:{}/?token={}", self.port, code.reveal());
        let mut open = self.open.lock().unwrap_or_else(PoisonError::into_inner);
        if open.len() >= MOST {
            open.remove(0);
        }
        open.push(Invite { code, handed_over });
        Ok(address)
    }

    /// Uses up a code, if it is valid. `is_ours` returns true if the client is a program of this
    /// user; it is only called for codes that were passed to a program.
    pub(crate) fn take(&self, code: &str, now: Instant, is_ours: impl FnOnce() -> bool) -> bool {
        let mut open = self.open.lock().unwrap_or_else(PoisonError::into_inner);
        open.retain(|invite| {
            invite
                .handed_over
                .is_none_or(|since| now.saturating_duration_since(since) < HANDED_OVER)
        });
        let Some(at) = open.iter().position(|invite| invite.code.is(code)) else { return false };
        let good = open[at].handed_over.is_none() || is_ours();
        if good {
            open.remove(at);
        }
        good
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn code(address: io::Result<String>) -> String {
        address.unwrap().split_once("token=").unwrap().1.to_owned()
    }

    #[test]
    fn a_printed_code_is_good_once_whoever_brings_it_and_whenever() {
        let invites = Invites::new(1);
        let (first, second) = (code(invites.address()), code(invites.address()));
        let late = Instant::now() + HANDED_OVER * 100;
        assert!(!invites.take("", late, || true) && !invites.take(&first[1..], late, || true));
        assert!(invites.take(&first, late, || false));
        assert!(!invites.take(&first, late, || true));
        assert!(invites.take(&second, late, || false));
    }

    #[test]
    fn a_code_that_was_handed_over_is_good_once_within_a_minute_and_for_programs_of_this_user() {
        let invites = Invites::new(1);
        let now = Instant::now();
        let handed = code(invites.address_to_hand_over());
        assert!(
            !invites.take(&handed, now, || false),
            "another user read it in the list of processes"
        );
        assert!(invites.take(&handed, now, || true), "and did not spoil it");
        assert!(!invites.take(&handed, now, || true));
        let old = code(invites.address_to_hand_over());
        assert!(!invites.take(&old, Instant::now() + HANDED_OVER, || true));
        assert!(!invites.take(&old, now, || true), "what is too old does not come back");
    }

    #[test]
    fn codes_that_nobody_takes_do_not_pile_up() {
        let invites = Invites::new(1);
        let first = code(invites.address());
        let later: Vec<String> = (0..MOST).map(|_| code(invites.address())).collect();
        assert!(!invites.take(&first, Instant::now(), || true));
        assert!(later.iter().all(|code| invites.take(code, Instant::now(), || true)));
    }
}
