//! Codes that let a browser in, each once. Owns which of them are still good; what a browser may do
//! then is decided in `gate`.
//!
//! An address is read by more than its browser: it stays in histories and scrollback, and one that
//! another program is started with stands in the list of processes for every user of this machine.
//! So a code dies with its first use, and one that was handed to another program dies after a
//! minute too and is only taken from a program of the same user.
use super::secret::Secret;
use std::{
    io,
    sync::{Mutex, PoisonError},
    time::{Duration, Instant},
};

/// How long a code that was handed to another program is good.
const HANDED_OVER: Duration = Duration::from_mins(1);
/// More than this wait for nobody: the oldest goes.
const MOST: usize = 32;

struct Invite {
    code: Secret,
    /// When it was handed to another program of this user.
    handed_over: Option<Instant>,
}

/// The codes of one running server.
pub(crate) struct Invites {
    port: u16,
    open: Mutex<Vec<Invite>>,
}

impl Invites {
    /// None yet.
    pub(crate) fn new(port: u16) -> Self {
        Self { port, open: Mutex::default() }
    }

    /// An address to be printed: good until it is used.
    pub(crate) fn address(&self) -> io::Result<String> {
        self.invite(None)
    }

    /// An address for a browser that is started with it now.
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

    /// Takes a code, if it is good. `is_ours` says whether a program of this user brings it, and is
    /// only asked when that matters.
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
