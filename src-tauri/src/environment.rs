//! Environment of the program: display, terminal, and paths. Owns the locations of the sample data
//! and of the program's own directories.
use rustix::process::{
    DumpableBehavior, Resource, Rlimit, getrlimit, set_dumpable_behavior, setrlimit,
};
use std::ffi::OsStr;
use std::path::{Path, PathBuf};
use touchstone_api::Check;
use touchstone_app::{App, AppConfig};
use touchstone_runner::http::keys::keep_environment;
use tracing_subscriber::EnvFilter;

/// Environment of the program, read once in `main`.
#[derive(Debug, Clone, Default)]
pub struct Environment {
    /// True if a window can be displayed.
    pub display: bool,
    /// True if standard output is a terminal that supports colors.
    pub colour: bool,
    /// Log filter for standard error, in `tracing` syntax; `None` for warnings only.
    pub log: Option<String>,
    /// Path of the program.
    pub program: Option<PathBuf>,
    /// Directory of the index, in place of the default.
    pub cache_dir: Option<PathBuf>,
    /// Directory of the recent folders, in place of the default.
    pub state_dir: Option<PathBuf>,
    /// Directory of the sample data, in place of the default.
    pub demo_dir: Option<PathBuf>,
}

impl Environment {
    /// Starts logging to standard error.
    pub(crate) fn listen_to_mistakes(&self) {
        let filter = EnvFilter::new(self.log.as_deref().unwrap_or("warn"));
        // A second call, which happens in tests, has no effect.
        let _ = tracing_subscriber::fmt()
            .with_env_filter(filter)
            .with_writer(std::io::stderr)
            .with_ansi(false)
            .try_init();
    }

    /// Creates the engine with its directories.
    pub(crate) fn engine(&self) -> App {
        let usual = AppConfig::from_system(self.demo());
        App::new(AppConfig {
            cache_dir: self.cache_dir.clone().unwrap_or_else(|| usual.cache_dir.clone()),
            state_dir: self.state_dir.clone().unwrap_or_else(|| usual.state_dir.clone()),
            ..usual
        })
    }

    /// Returns the directory of the recent folders and of running servers.
    pub(crate) fn state_dir(&self) -> PathBuf {
        self.state_dir.clone().unwrap_or_else(|| AppConfig::from_system(None).state_dir)
    }

    /// Finds the sample data: in the configured directory, beside the program, in the install
    /// location of packages, or in the checkout.
    fn demo(&self) -> Option<PathBuf> {
        let beside = self.program.as_deref().and_then(Path::parent);
        let installed = beside
            .into_iter()
            .flat_map(|dir| [dir.join("demo"), dir.join("../share/touchstone/demo")]);
        let checkout =
            cfg!(debug_assertions).then(|| Path::new(env!("CARGO_MANIFEST_DIR")).join("demo"));
        self.demo_dir.clone().into_iter().chain(installed).chain(checkout).find(|dir| dir.is_dir())
    }
}

/// Protects the contents of transcripts and keys from leaking: disables core dumps, prints no panic
/// messages with data, and keeps other programs of the same user, including child processes, from
/// reading the memory and the environment.
pub(crate) fn keep_secrets() {
    // Raises the limit of open files: each active run uses some, and the default is often 1024.
    let files = getrlimit(Resource::Nofile);
    let _ = setrlimit(Resource::Nofile, Rlimit { current: files.maximum, maximum: files.maximum });
    // Fails only if the limit was already set.
    let _ = setrlimit(Resource::Core, Rlimit { current: Some(0), maximum: Some(0) });
    // No known kernel refuses this; otherwise the environment would be as readable as that of any
    // other program.
    let _ = set_dumpable_behavior(DumpableBehavior::NotDumpable);
    std::panic::set_hook(Box::new(|panic| {
        let place =
            panic.location().map_or_else(|| "an unknown place".to_owned(), ToString::to_string);
        let thread = std::thread::current();
        tracing::error!(
            "Internal error at {place} (thread {}). Please report this line.",
            thread.name().unwrap_or("?")
        );
    }));
}

/// Removes all variables from the environment that windows are not known to need. The window's
/// processes are separate programs, which other programs of the same user can inspect; the
/// environment may contain keys under any name.
///
/// Has to be called before this program starts a thread, because changing the environment is not
/// thread-safe. The only other thread then is started by the web view's library when it is loaded;
/// it releases memory and reads no variable.
pub(crate) fn give_no_keys_to_the_window() {
    keep_environment();
    #[cfg(target_os = "linux")]
    for (name, _) in std::env::vars_os().filter(|(name, _)| !concerns_windows(name)) {
        glib::unsetenv(name);
    }
}

/// Returns true for a variable about drawing windows, locations of files and libraries, folders of
/// other tools, or the network proxy.
fn concerns_windows(name: &OsStr) -> bool {
    const STARTS: [&str; 35] = [
        "XDG_",
        "LC_",
        "KDE_",
        "GNOME_",
        "GTK_",
        "GDK_",
        "GSK_",
        "GIO_",
        "GST_",
        "GSETTINGS_",
        "G_",
        "QT_",
        "WEBKIT_",
        "JSC_",
        "JavaScriptCore",
        "TAURI_",
        "TOUCHSTONE_",
        "RUST_",
        "LIBGL_",
        "LIBVA_",
        "MESA_",
        "GALLIUM_",
        "EGL_",
        "__EGL_",
        "__GLX_",
        "__GL_",
        "VK_",
        "DRI_",
        "FONTCONFIG_",
        "AT_SPI_",
        "IBUS_",
        "XCURSOR_",
        "PIPEWIRE_",
        "PULSE_",
        "DBUS_",
    ];
    const NAMES: [&str; 39] = [
        // Folders of other tools, which the start screen looks for.
        "CLAUDE_CONFIG_DIR",
        "CODEX_HOME",
        "INSPECT_LOG_DIR",
        "PATH",
        "HOME",
        "USER",
        "LOGNAME",
        "SHELL",
        "LANG",
        "LANGUAGE",
        "TZ",
        "TMPDIR",
        "DISPLAY",
        "XAUTHORITY",
        "WAYLAND_DISPLAY",
        "WAYLAND_SOCKET",
        "DESKTOP_SESSION",
        "DESKTOP_STARTUP_ID",
        "SESSION_MANAGER",
        "XMODIFIERS",
        "NO_AT_BRIDGE",
        "LD_LIBRARY_PATH",
        "APPIMAGE",
        "APPDIR",
        "SSL_CERT_FILE",
        "SSL_CERT_DIR",
        "HTTP_PROXY",
        "HTTPS_PROXY",
        "ALL_PROXY",
        "NO_PROXY",
        "http_proxy",
        "https_proxy",
        "all_proxy",
        "no_proxy",
        "TERM",
        "NO_COLOR",
        "COLORTERM",
        "GI_TYPELIB_PATH",
        "GTK2_RC_FILES",
    ];
    let name = name.as_encoded_bytes();
    STARTS.iter().any(|start| name.starts_with(start.as_bytes()))
        || NAMES.iter().any(|one| one.as_bytes() == name)
}

/// Adds the host's own checks to those of the engine.
pub(crate) fn with_ours(mut checks: Vec<Check>) -> Vec<Check> {
    let name = "Web view".to_owned();
    checks.push(match tauri::webview_version() {
        Ok(version) => Check {
            name,
            ok: true,
            detail: format!("WebKitGTK {version} draws the window."),
            fix: None,
        },
        Err(why) => Check {
            name,
            ok: false,
            detail: format!("WebKitGTK does not say its version: {why}."),
            fix: Some(
                "Install libwebkit2gtk-4.1-0; `touchstone serve` works without it in a browser."
                    .to_owned(),
            ),
        },
    });
    checks
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_sample_data_is_where_it_was_said_to_be_before_all_else() {
        let said = std::env::temp_dir();
        let here = Environment { demo_dir: Some(said.clone()), ..Environment::default() };
        assert_eq!(here.demo(), Some(said));
    }

    #[test]
    fn sample_data_that_is_not_there_is_not_named() {
        let nowhere =
            Environment { demo_dir: Some("/nowhere/at/all".into()), ..Environment::default() };
        assert!(nowhere.demo().is_none_or(|dir| dir.is_dir()));
    }

    #[test]
    fn a_process_of_the_window_is_given_what_concerns_windows_and_nothing_else() {
        for name in [
            "OPENAI_API_KEY",
            "MY_SECRET",
            "PGPASSWORD",
            "AWS_SECRET_ACCESS_KEY",
            "GITHUB_TOKEN",
            "PATHS",
            "G",
        ] {
            assert!(!concerns_windows(OsStr::new(name)), "{name}");
        }
        for name in [
            "PATH",
            "DISPLAY",
            "XDG_RUNTIME_DIR",
            "WEBKIT_DISABLE_DMABUF_RENDERER",
            "GDK_BACKEND",
            "INSPECT_LOG_DIR",
        ] {
            assert!(concerns_windows(OsStr::new(name)), "{name}");
        }
    }

    /// Run by the next test in a separate process, because the panic hook applies to a whole
    /// process.
    #[test]
    #[ignore = "sets what happens at a panic, for which the next test makes a process"]
    fn a_panic_about_a_secret() {
        if std::env::var_os("TEST_PANICS").is_none() {
            return eprintln!("not run: the next test makes a process for it");
        }
        Environment::default().listen_to_mistakes();
        keep_secrets();
        let broken = std::thread::Builder::new()
            .name("run".to_owned())
            .spawn(|| panic!("the key is canary-0123456789"));
        let why = broken.unwrap().join().unwrap_err();
        assert_eq!(
            why.downcast_ref::<&str>(),
            Some(&"the key is canary-0123456789"),
            "it was about a secret"
        );
    }

    #[test]
    fn a_panic_says_where_it_was_and_not_what_it_was_about() {
        let ran = std::process::Command::new(std::env::current_exe().unwrap())
            .args([
                "--exact",
                "environment::tests::a_panic_about_a_secret",
                "--ignored",
                "--nocapture",
            ])
            .env("TEST_PANICS", "1")
            .output()
            .unwrap();
        let said = String::from_utf8_lossy(&[ran.stdout, ran.stderr].concat()).into_owned();
        assert!(ran.status.success() && said.contains("1 passed"), "{said}");
        assert!(said.contains("Internal error at src-tauri/src/environment.rs:"), "{said}");
        assert!(said.contains("(thread run)") && !said.contains("canary"), "{said}");
    }
}
