//! **Pure.** Error messages for a missing sandbox, with advice.
use crate::tools::Unusable;
use std::path::Path;

/// Oldest bubblewrap version that can limit the size of a folder and forbid nested namespaces.
const OLDEST: (u32, u32) = (0, 8);

const INSTALL: &str = "Install it: sudo apt install bubblewrap (Debian, Ubuntu), sudo dnf install bubblewrap (Fedora).";
const ALLOW_BWRAP: &str = "Allow it for bubblewrap alone: write the lines below to /etc/apparmor.d/bwrap and type \
    sudo systemctl reload apparmor.\n\
    abi <abi/4.0>,\n\
    include <tunables/global>\n\
    profile bwrap /usr/bin/bwrap flags=(unconfined) {\n  userns,\n}";
const ALLOW_NAMESPACES: &str = "Type sudo sysctl -w kernel.unprivileged_userns_clone=1 user.max_user_namespaces=15000 (a name \
    that is not known may be left out). In a container, start the container so that user namespaces are allowed in it.";

fn unusable(message: impl Into<String>, fix: impl Into<String>) -> Unusable {
    Unusable { message: message.into(), fix: Some(fix.into()) }
}

pub(super) fn only_linux() -> Unusable {
    unusable(
        "Python programs run on Linux only: there is no sandbox for this system.",
        "Use the system tool_calling.",
    )
}

pub(super) fn no_bubblewrap() -> Unusable {
    unusable("Python programs of models need bubblewrap, which is not installed.", INSTALL)
}

pub(super) fn too_old(version: &str) -> Unusable {
    let (major, minor) = OLDEST;
    unusable(
        format!("{version} is too old for the sandbox of Python programs."),
        format!(
            "Install bubblewrap {major}.{minor} or newer: Debian 12, Ubuntu 24.04 and newer have it."
        ),
    )
}

pub(super) fn no_prlimit() -> Unusable {
    unusable(
        "Python programs of models need prlimit, which is not in /usr/bin.",
        "Install the package util-linux.",
    )
}

pub(super) fn no_python(path: &Path) -> Unusable {
    unusable(
        format!(
            "Python programs of models need a python at {}, and there is none.",
            path.display()
        ),
        "Install it: sudo apt install python3 (Debian, Ubuntu), sudo dnf install python3 (Fedora).",
    )
}

pub(super) fn python_elsewhere(path: &Path) -> Unusable {
    unusable(
        format!(
            "{} is not below /usr, the only part of this machine that the sandbox shows.",
            path.display()
        ),
        "Install the python3 of the distribution.",
    )
}

/// Returns the error for a sandbox whose probes failed, by name of the probe.
pub(super) fn leaky(found: &[(String, String)]) -> Unusable {
    let found: Vec<String> = found.iter().map(|(name, why)| format!("{name}: {why}")).collect();
    unusable(
        format!(
            "The sandbox failed its self-test, so no Python program runs. {}.",
            found.join("; ")
        ),
        "Update bubblewrap, python3 (the whole of it, not python3-minimal) and the kernel. `touchstone doctor` tests again.",
    )
}

/// Returns true if the bubblewrap version is sufficient. The text looks like `bubblewrap 0.8.0`.
pub(super) fn is_new_enough(version: &str) -> bool {
    let mut numbers =
        version.rsplit(' ').next().unwrap_or_default().split('.').map(str::parse::<u32>);
    match (numbers.next(), numbers.next()) {
        (Some(Ok(major)), Some(Ok(minor))) => (major, minor) >= OLDEST,
        _ => false,
    }
}

/// Returns the error for bubblewrap's message when it did not start a program.
pub(super) fn refused(said: &str) -> Unusable {
    let said = said.trim();
    let shown = said.lines().next_back().unwrap_or("it said nothing");
    let has = |words: &[&str]| words.iter().any(|word| said.contains(word));
    let message = format!("The sandbox could not be started: {}.", shown.trim_end_matches('.'));
    if has(&["setting up uid map: Permission denied", "RTM_NEWADDR"]) {
        let why = "Ubuntu 24.04 and newer forbid it to programs that AppArmor does not know.";
        return unusable(format!("{message} {why}"), ALLOW_BWRAP);
    }
    if has(&["Unknown option"]) {
        return unusable(message, "Install bubblewrap 0.8 or newer.");
    }
    if has(&[
        "namespace",
        "No space left on device",
        "Operation not permitted",
        "Permission denied",
    ]) {
        return unusable(message, ALLOW_NAMESPACES);
    }
    unusable(message, "Type bwrap --ro-bind / / --unshare-all true in a terminal to see more.")
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn what_bubblewrap_says_becomes_advice() {
        let table = [
            ("bwrap: setting up uid map: Permission denied\n", "/etc/apparmor.d/bwrap"),
            (
                "bwrap: loopback: Failed RTM_NEWADDR: Operation not permitted\n",
                "/etc/apparmor.d/bwrap",
            ),
            (
                "bwrap: No permissions to create a new namespace, likely because the kernel does not allow…",
                "sysctl",
            ),
            (
                "bwrap: Creating new namespace failed: No space left on device",
                "user.max_user_namespaces",
            ),
            ("bwrap: Can't mount proc on /newroot/proc: Operation not permitted", "In a container"),
            ("bwrap: Unknown option --disable-userns", "0.8 or newer"),
            ("", "in a terminal"),
        ];
        for (said, expected) in table {
            let unusable = refused(said);
            assert!(
                unusable.fix.as_deref().unwrap_or_default().contains(expected),
                "{said}: {unusable:?}"
            );
            assert!(unusable.message.ends_with('.'), "{}", unusable.message);
        }
        insta::assert_snapshot!(refused("bwrap: setting up uid map: Permission denied\n").message, @"\
            The sandbox could not be started: bwrap: setting up uid map: Permission denied. Ubuntu \
            24.04 and newer forbid it to programs that AppArmor does not know.");
    }

    #[test]
    fn versions_are_compared_as_numbers() {
        for (version, enough) in [
            ("bubblewrap 0.8.0", true),
            ("bubblewrap 0.11.0", true),
            ("bubblewrap 1.0", true),
            ("bubblewrap 0.6.1", false),
            ("bubblewrap", false),
            ("", false),
        ] {
            assert_eq!(is_new_enough(version), enough, "{version}");
        }
    }
}
