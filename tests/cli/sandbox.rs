//! A temporary folder with a few transcripts, on which the real program is run.
use std::{
    fs,
    io::Write as _,
    path::{Path, PathBuf},
    process::{Command, Output, Stdio},
    time::{Duration, SystemTime},
};

/// Temporary directories of a test, deleted on drop.
pub(crate) struct Sandbox {
    /// The folder to open.
    pub(crate) folder: PathBuf,
    root: PathBuf,
}

impl Sandbox {
    /// Creates a folder with these files.
    pub(crate) fn with(name: &str, files: &[(&str, &str)]) -> Self {
        let root = Path::new(env!("CARGO_TARGET_TMPDIR"))
            .join(format!("cli-{name}-{}", std::process::id()));
        let folder = root.join("folder");
        let _ = fs::remove_dir_all(&root);
        fs::create_dir_all(&folder).unwrap();
        for (file, text) in files {
            let path = folder.join(file);
            fs::create_dir_all(path.parent().unwrap()).unwrap();
            fs::write(&path, text).unwrap();
            // A broken file that was just written could be taken for an unfinished one.
            let long_ago = SystemTime::now() - Duration::from_hours(1);
            fs::OpenOptions::new().append(true).open(path).unwrap().set_modified(long_ago).unwrap();
        }
        Self { folder, root }
    }

    /// Creates a small benchmark: one run that answered, one that ended in an error, one that is
    /// waiting, and one that cannot be read.
    pub(crate) fn usual(name: &str) -> Self {
        Self::with(
            name,
            &[
                ("tasks/tickets.yaml", TASK),
                ("results/tickets-tool_calling-claude-variation0.yaml", ANSWERED),
                ("results/tickets-tool_calling-o1-variation0.yaml", FAILED),
                ("results/tickets-tool_calling-o3-mini-variation0.yaml", WAITING),
                ("results/tickets-promptql-claude-variation0.yaml", "output: {unclosed: [\n"),
            ],
        )
    }

    /// Directory that holds the folder, the cache and the state.
    pub(crate) fn root(&self) -> &Path {
        &self.root
    }

    /// Builds a command of the program, with its own directories inside the sandbox and no display.
    pub(crate) fn command(&self, arguments: &[&str]) -> Command {
        let mut command = Command::new(env!("CARGO_BIN_EXE_touchstone"));
        command
            .args(arguments)
            .current_dir(&self.folder)
            .env("TOUCHSTONE_CACHE_DIR", self.root.join("cache"))
            .env("TOUCHSTONE_STATE_DIR", self.root.join("state"))
            .env("TOUCHSTONE_DEMO_DIR", self.root.join("demo"))
            .env_remove("DISPLAY")
            .env_remove("WAYLAND_DISPLAY")
            .stdin(Stdio::null());
        command
    }

    /// Returns the command of the program that ends at a hang-up, also where the tests are to outlive
    /// their terminal.
    pub(crate) fn hanging_up(&self, arguments: &[&str]) -> Command {
        let plain = self.command(arguments);
        let mut command = Command::new("env");
        command.arg("--default-signal=HUP").arg(plain.get_program()).args(plain.get_args());
        for (name, value) in plain.get_envs() {
            match value {
                Some(value) => command.env(name, value),
                None => command.env_remove(name),
            };
        }
        command.current_dir(&self.folder).stdin(Stdio::null());
        command
    }

    /// Runs the program to its end.
    pub(crate) fn run(&self, arguments: &[&str]) -> Ran {
        Ran::from(self.command(arguments).output().unwrap())
    }

    /// Runs the program to its end, with `input` on standard input.
    pub(crate) fn fed(&self, arguments: &[&str], input: &[u8]) -> Ran {
        let mut command = self.command(arguments);
        let mut child = command
            .stdin(Stdio::piped())
            .stdout(Stdio::piped())
            .stderr(Stdio::piped())
            .spawn()
            .unwrap();
        let mut into = child.stdin.take().unwrap();
        let input = input.to_vec();
        let writing = std::thread::spawn(move || into.write_all(&input));
        let ran = Ran::from(child.wait_with_output().unwrap());
        // Ignored, since a program that ends early closes its input.
        writing.join().unwrap().ok();
        ran
    }
}

impl Drop for Sandbox {
    fn drop(&mut self) {
        let _ = fs::remove_dir_all(&self.root);
    }
}

/// Result of running the program.
#[derive(Debug)]
pub(crate) struct Ran {
    /// Exit status.
    pub(crate) status: i32,
    /// Standard output.
    pub(crate) out: String,
    /// Standard error.
    pub(crate) err: String,
}

impl From<Output> for Ran {
    fn from(output: Output) -> Self {
        let text = |bytes| String::from_utf8(bytes).expect("the program writes UTF-8");
        Self {
            status: output.status.code().unwrap_or(-1),
            out: text(output.stdout),
            err: text(output.stderr),
        }
    }
}

impl Ran {
    /// Parses each line of standard output as a JSON value.
    pub(crate) fn json(&self) -> Vec<serde_json::Value> {
        self.out
            .lines()
            .map(|line| serde_json::from_str(line).unwrap_or_else(|why| panic!("{why}: {line}")))
            .collect()
    }
}

pub(crate) const TASK: &str = "\
tool_calling_prompt: |
  List the {data} open tickets.
variations:
  - parameters: { data: newest }
    expected_output: [{ ticket_id: 7 }]
";

pub(crate) const ANSWERED: &str = "\
conversation:
  - user_message: List the newest open tickets.
  - assistant_message: I will look them up in the zebra table.
  - tool_call:
      id: call_1
      name: query_support_tickets
      params: { sql: SELECT ticket_id FROM tickets }
      result: [{ ticket_id: 7, title: Printer on fire }, { ticket_id: 12, title: No sound }]
  - assistant_message: |
      Here they are.
      ```json
      [{ \"ticket_id\": 7 }]
      ```
answer:
  - ticket_id: 7
";

const FAILED: &str = "\
conversation:
  - user_message: List the newest open tickets.
  - error: the provider answered with status 529
";

const WAITING: &str = "\
conversation:
  - user_message: List the newest open tickets.
";
