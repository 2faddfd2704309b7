//! Shows a file in the desktop's file manager. Owns the calls to the desktop; the engine resolves
//! the file's path.
use std::ffi::OsStr;
use std::fmt::Write as _;
use std::os::unix::ffi::OsStrExt as _;
use std::path::Path;
use std::process::{Command, Stdio};
use touchstone_app::error::{AppError, Code};

/// Asks the file manager to select the file, or to open its folder if that fails.
pub(crate) fn reveal_in_folder(path: &Path) -> Result<(), AppError> {
    let managers = [pointing_at(path), opening(path.parent().unwrap_or(path))];
    if managers.into_iter().any(answers) {
        return Ok(());
    }
    let error = AppError::new(Code::Failed, "No file manager of this desktop answered.");
    Err(error.hint("Copy the path instead."))
}

/// Builds the D-Bus call that all major desktops support.
fn pointing_at(path: &Path) -> Command {
    let mut ask = Command::new("dbus-send");
    ask.args(["--session", "--print-reply", "--reply-timeout=5000", "--type=method_call"]);
    ask.args(["--dest=org.freedesktop.FileManager1", "/org/freedesktop/FileManager1"]);
    ask.args([
        "org.freedesktop.FileManager1.ShowItems",
        &format!("array:string:{}", address(path)),
        "string:",
    ]);
    ask
}

fn opening(folder: &Path) -> Command {
    let mut open = Command::new("xdg-open");
    // A URL, because the name of a folder may start with a dash and would be an option.
    open.arg(address(folder));
    open
}

/// Returns the URL of a file. All unusual characters are escaped, including commas, which separate
/// list items.
fn address(path: &Path) -> String {
    let mut address = "file://".to_owned();
    for byte in path.as_os_str().as_bytes() {
        if byte.is_ascii_alphanumeric() || b"/-._~".contains(byte) {
            address.push(char::from(*byte));
        } else {
            // Writing to a string cannot fail.
            let _ = write!(address, "%{byte:02X}");
        }
    }
    address
}

fn answers(mut ask: Command) -> bool {
    give_no_keys(&mut ask);
    ask.stdin(Stdio::null()).stdout(Stdio::null()).stderr(Stdio::null());
    ask.status().is_ok_and(|status| status.success())
}

/// Limits the environment of a desktop program to the variables that desktops need.
pub(crate) fn give_no_keys(program: &mut Command) {
    let kept = std::env::vars_os().filter(|(name, _)| concerns_desktops(name));
    program.env_clear().envs(kept.collect::<Vec<_>>());
}

/// Returns true for a variable that desktop programs need. Others are removed, because the
/// environment may contain provider keys.
fn concerns_desktops(name: &OsStr) -> bool {
    let name = name.as_bytes();
    let starts = [&b"XDG_"[..], b"LC_", b"KDE_", b"GNOME_", b"GTK_", b"QT_"];
    let names = [
        "PATH",
        "HOME",
        "USER",
        "LANG",
        "DISPLAY",
        "XAUTHORITY",
        "WAYLAND_DISPLAY",
        "DBUS_SESSION_BUS_ADDRESS",
        "DESKTOP_SESSION",
    ];
    starts.iter().any(|start| name.starts_with(start))
        || names.iter().any(|one| one.as_bytes() == name)
}

#[cfg(test)]
mod tests {
    use super::*;

    fn words(ask: &Command) -> String {
        let words = ask.get_args().map(|word| word.to_string_lossy().into_owned());
        words.collect::<Vec<_>>().join(" ")
    }

    #[test]
    fn whatever_a_file_is_called_it_is_one_address_and_never_an_option_or_a_second_item() {
        let odd = Path::new(OsStr::from_bytes(b"/runs/-a, b;$(c)\n'\"\xff%/\xc3\xa9.yaml"));
        assert_eq!(address(odd), "file:///runs/-a%2C%20b%3B%24%28c%29%0A%27%22%FF%25/%C3%A9.yaml");
        let told = words(&pointing_at(odd));
        assert!(
            told.ends_with(&format!("ShowItems array:string:{} string:", address(odd))),
            "{told}"
        );
        assert_eq!(words(&opening(Path::new("/-x"))), "file:///-x");
    }

    #[test]
    fn a_file_manager_is_given_no_keys() {
        for name in
            ["OPENAI_API_KEY", "ANTHROPIC_API_KEY", "TOUCHSTONE_STATE_DIR", "HTTPS_PROXY", "PATHS"]
        {
            assert!(!concerns_desktops(OsStr::new(name)), "{name}");
        }
        for name in ["PATH", "DISPLAY", "XDG_RUNTIME_DIR", "DBUS_SESSION_BUS_ADDRESS"] {
            assert!(concerns_desktops(OsStr::new(name)), "{name}");
        }
    }
}
