//! Reads the arguments and the environment, at this single place, and passes them to the host.
use std::{env, ffi::OsStr, io::IsTerminal as _, path::PathBuf, process::ExitCode};
use touchstone_host::Environment;

fn main() -> ExitCode {
    let set = |name: &str| env::var_os(name).filter(|value| !value.is_empty());
    let dir = |name: &str| set(name).map(PathBuf::from);
    let terminal = std::io::stdout().is_terminal()
        && set("NO_COLOR").is_none()
        && set("TERM").as_deref() != Some(OsStr::new("dumb"));
    touchstone_host::main(
        env::args_os(),
        &Environment {
            display: set("DISPLAY").is_some() || set("WAYLAND_DISPLAY").is_some(),
            colour: terminal,
            log: env::var("TOUCHSTONE_LOG").ok(),
            program: env::current_exe().ok(),
            cache_dir: dir("TOUCHSTONE_CACHE_DIR"),
            state_dir: dir("TOUCHSTONE_STATE_DIR"),
            demo_dir: dir("TOUCHSTONE_DEMO_DIR"),
        },
    )
}
