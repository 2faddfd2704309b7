//! A Secret Service for one test: a private message bus, which starts GNOME Keyring at the first
//! call and ends it with itself. The keyring of the user who runs the tests is not touched.
use std::fs;
use std::io::{BufRead as _, BufReader};
use std::path::Path;
use std::process::{Child, Command, Stdio};

/// Keyring behind the bus.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) enum Keyring {
    /// A keyring unlocked with a password.
    Open,
    /// A locked keyring, without a prompt for the password.
    Locked,
    /// No keyring.
    Absent,
}

/// The bus process, ended on drop. Stored keys stay in its folder.
pub(crate) struct KeyringBus {
    bus: Child,
    address: String,
    _sockets: tempfile::TempDir,
}

impl KeyringBus {
    /// Starts a bus with a keyring whose files are in this folder.
    pub(crate) fn start(home: &Path, keyring: Keyring) -> Self {
        let services = home.join("services");
        fs::create_dir_all(&services).unwrap();
        // A copy of the daemon has none of the capabilities of the file, which prevent it from
        // starting where they cannot be granted.
        let unlocked = match keyring {
            Keyring::Open => "printf 'a password' | \"$HOME/daemon\" --unlock",
            Keyring::Locked | Keyring::Absent => "exec \"$HOME/daemon\"",
        };
        let script = home.join("keyring.sh");
        let text = format!(
            "cp \"$(command -v gnome-keyring-daemon)\" \"$HOME/daemon\" || exit\n{unlocked} --foreground --components=secrets\n"
        );
        fs::write(&script, text).unwrap();
        let service = services.join("secrets.service");
        let _ = fs::remove_file(&service);
        if keyring != Keyring::Absent {
            let text = format!(
                "[D-BUS Service]\nName=org.freedesktop.secrets\nExec=/bin/sh \"{}\"\n",
                script.display()
            );
            fs::write(service, text).unwrap();
        }
        let told = home.join("bus.conf");
        fs::write(&told, CONFIG.replace("SERVICES", services.to_str().unwrap())).unwrap();
        // The path of a socket must be short.
        let sockets = tempfile::tempdir().unwrap();
        let mut bus = Command::new("dbus-daemon")
            .arg(format!("--config-file={}", told.display()))
            .args(["--nofork", "--print-address"])
            .env("HOME", home)
            .env("XDG_DATA_HOME", home.join("data"))
            .env("XDG_RUNTIME_DIR", sockets.path())
            .env_remove("DISPLAY")
            .env_remove("WAYLAND_DISPLAY")
            .stdin(Stdio::null())
            .stdout(Stdio::piped())
            .stderr(Stdio::null())
            .spawn()
            .expect("dbus-daemon is started (Debian: gnome-keyring, which brings it)");
        let mut address = String::new();
        BufReader::new(bus.stdout.take().unwrap()).read_line(&mut address).unwrap();
        assert!(address.starts_with("unix:"), "the bus says where it is: {address:?}");
        Self { bus, address: address.trim().to_owned(), _sockets: sockets }
    }

    /// Environment variable through which a program finds the bus.
    pub(crate) fn variable(&self) -> (&'static str, &str) {
        ("DBUS_SESSION_BUS_ADDRESS", &self.address)
    }
}

impl Drop for KeyringBus {
    fn drop(&mut self) {
        let _ = self.bus.kill();
        let _ = self.bus.wait();
    }
}

const CONFIG: &str = r#"<busconfig>
  <type>session</type>
  <listen>unix:tmpdir=/tmp</listen>
  <servicedir>SERVICES</servicedir>
  <policy context="default">
    <allow send_destination="*" eavesdrop="true"/>
    <allow eavesdrop="true"/>
    <allow own="*"/>
  </policy>
</busconfig>
"#;
