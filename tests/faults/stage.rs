//! A folder whose runs are executed by the real program with a local provider, and the inspection
//! of its content. Owns the tasks, the replies of the provider, and reading the files that a killed
//! program left; kills nothing itself.
use crate::conversation::{Conversation, Wire};
use crate::kinds;
use crate::lives::{DEADLINE, until};
use crate::sandbox::Sandbox;
use crate::scripted::{Latch, Reply, Scripted, Seen};
use std::collections::{BTreeMap, BTreeSet};
use std::fs;
use std::path::{Path, PathBuf};
use std::process::{Child, Command, Stdio};
use std::sync::{Arc, Mutex};
use std::time::Duration;
use touchstone_formats::transcript::Document;
use touchstone_model::value::Value;
use touchstone_runner::provider::{self, Auth, HttpRequest};

/// Number of concurrent runs, and so of requests in flight when the program is killed.
pub(crate) const AT_ONCE: usize = 4;
/// Variations with a number in the question, which is the number of turns with tool calls.
pub(crate) const VARIATIONS: &str = "variations:\n  - times: 3\n  - times: 5\n";
/// Two tools that query the same database.
const TOOLS: &str = "tools:\n  look: { kind: sql, database: 'sqlite:tickets.db', description: Tickets. }\n  \
                     look_elsewhere: { kind: sql, database: 'sqlite:tickets.db', description: Tickets. }\n";
/// Models of both APIs, each whole and streamed.
pub(crate) const EVERY_WIRE: &str = "chat,messages,streamed,flowing";
/// Text at the beginning of a nudge.
const NUDGE: &str = "actually use";

/// A folder, its provider, and the requests that it received.
pub(crate) struct Stage {
    pub(crate) sandbox: Sandbox,
    system: &'static str,
    models: &'static str,
    server: Scripted,
    asked: Arc<Mutex<Vec<Request>>>,
}

/// Path and body of a request.
type Request = (String, Vec<u8>);

impl Stage {
    /// Two tasks with two variations for two APIs, each whole and streamed, some of which must be
    /// nudged. The latch holds every reply until it is opened.
    pub(crate) fn new(name: &str, hold: Option<Latch>) -> Self {
        let plain = format!("tool_calling_prompt: Look {{times}} times.\n{VARIATIONS}");
        let lazy = format!(
            "tool_calling_prompt: Look {{times}} times, and twice elsewhere.\nexpected_tool_calls: [look, look_elsewhere]\n{VARIATIONS}"
        );
        let tasks = [("tasks/plain.yaml", plain.as_str()), ("tasks/lazy.yaml", &lazy)];
        Self::over_sql(name, hold, EVERY_WIRE, &tasks)
    }

    /// One task with two variations for these models.
    pub(crate) fn plain(name: &str, models: &'static str) -> Self {
        let task = format!("tool_calling_prompt: Look {{times}} times.\n{VARIATIONS}");
        Self::over_sql(name, None, models, &[("tasks/plain.yaml", &task)])
    }

    fn over_sql(
        name: &str,
        hold: Option<Latch>,
        models: &'static str,
        tasks: &[(&str, &str)],
    ) -> Self {
        let stage =
            Self::with_tasks(name, hold, ("tool_calling", models), tasks, |_| TOOLS.to_owned());
        let demo = Path::new(env!("CARGO_MANIFEST_DIR")).join("demo/data/support.db");
        fs::copy(demo, stage.sandbox.folder.join("tickets.db")).unwrap();
        stage
    }

    /// Creates a folder with other tasks and settings. `system` is given with its models; `more` is
    /// appended to the workspace file, and receives the address of the provider.
    pub(crate) fn with_tasks(
        name: &str,
        hold: Option<Latch>,
        (system, models): (&'static str, &'static str),
        tasks: &[(&str, &str)],
        more: impl FnOnce(&str) -> String,
    ) -> Self {
        let asked = Arc::<Mutex<Vec<Request>>>::default();
        let log = Arc::clone(&asked);
        let server = Scripted::start(move |seen| {
            log.lock().unwrap().push((seen.path.clone(), seen.body.clone()));
            // A delay, so that there is always a request in flight.
            std::thread::sleep(Duration::from_millis(3));
            let reply = reply(seen);
            hold.as_ref().map_or(reply.clone(), |latch| reply.once_open(latch))
        });
        let workspace = workspace(&server) + &more(&server.url(""));
        let sandbox =
            Sandbox::with(name, &[&[("touchstone.yaml", workspace.as_str())], tasks].concat());
        Self { sandbox, system, models, server: server.forgetful(), asked }
    }

    /// Builds the command that runs the program on the folder, with more arguments if needed.
    pub(crate) fn run(&self, more: &[&str]) -> Command {
        let at_once = AT_ONCE.to_string();
        let what = ["run", ".", "--system", self.system, "--model", self.models, "--json"];
        let usual = ["--concurrency", &at_once];
        let at_once = if more.contains(&"--concurrency") { &[][..] } else { &usual };
        let mut command = self.sandbox.command(&[what.as_slice(), at_once, more].concat());
        command.env("PQL_KEY", "a-key").stdout(Stdio::piped()).stderr(Stdio::piped());
        command
    }

    /// Starts the program without output; `fail_at` is the fail point at which it dies.
    pub(crate) fn begin(&self, fail_at: Option<&str>) -> Child {
        let mut command = self.run(&[]);
        if let Some(place) = fail_at {
            command.env("TOUCHSTONE_FAIL_AT", place);
        }
        command.stdout(Stdio::null()).stderr(Stdio::null()).spawn().unwrap()
    }

    pub(crate) fn results(&self) -> PathBuf {
        self.sandbox.folder.join("results")
    }

    /// Returns the hashes of all requests so far, as in the journal.
    pub(crate) fn request_hashes(&self) -> Vec<String> {
        let hash = |(path, body): &Request| {
            let (url, body) = (self.server.url(path), body.clone());
            provider::hash(&HttpRequest {
                url,
                headers: vec![],
                auth: Auth::None,
                body,
                stream: false,
                patience: 1,
            })
        };
        self.asked.lock().unwrap().iter().map(hash).collect()
    }

    /// Number of replies that the provider delivered completely.
    pub(crate) fn delivered(&self) -> usize {
        usize::try_from(self.server.delivered()).unwrap()
    }

    /// Reads every file of the results. Fails if a transcript cannot be read.
    pub(crate) fn found(&self) -> OutputContents {
        let mut found = OutputContents::default();
        walk(&self.results(), &mut |path| found.take(path));
        found
    }
}

/// Content of an output directory.
#[derive(Debug, Default)]
pub(crate) struct OutputContents {
    /// Transcripts by path, without the fields that differ each time: times and durations.
    pub(crate) transcripts: BTreeMap<String, String>,
    /// Hashes of the requests whose replies are in a journal.
    pub(crate) bought: BTreeSet<String>,
    /// Number of replies in the journals; `turns` is the number of turns in the transcripts.
    pub(crate) replies: usize,
    pub(crate) turns: usize,
    /// Number of files that were moved aside.
    pub(crate) replaced: usize,
    /// All other files.
    pub(crate) left: Vec<String>,
}

impl OutputContents {
    fn take(&mut self, path: &Path) {
        let name = path.file_name().unwrap().to_string_lossy().into_owned();
        let below = path.display().to_string();
        if below.contains("/.touchstone/journal/") && name.ends_with(".jsonl") {
            return self.journal(&fs::read_to_string(path).unwrap());
        }
        if below.contains("/.touchstone/replaced/") {
            return self.replaced += 1;
        }
        if below.contains("/.touchstone/launches/") || name.ends_with(".torn") {
            return;
        }
        if name.ends_with(".lock") {
            // A lock file left by a dead program has no meaning; only a held lock has.
            let lock = fs::OpenOptions::new().read(true).open(path).unwrap();
            // A child process that is just being started has a copy of the lock until it executes
            // its program, which is soon.
            return until(&format!("{below} is free"), DEADLINE, || lock.try_lock_shared().is_ok());
        }
        if !name.ends_with(".yaml") || below.contains("/.touchstone/") {
            return self.left.push(below);
        }
        let bytes = fs::read(path).unwrap();
        let document =
            Document::read(&bytes).unwrap_or_else(|why| panic!("{below} is damaged: {why}"));
        if let Some(Value::Number(turns)) = document.get("run").and_then(|run| run.get("turns")) {
            self.turns += turns.parse::<usize>().unwrap();
        }
        let text = String::from_utf8(bytes).unwrap();
        // The number of lines in a journal depends on requests that were repeated, or not recorded.
        let own = ["seconds:", "started:", "finished:", "journal:"];
        let same = |line: &&str| !own.iter().any(|key| line.trim_start().starts_with(key));
        self.transcripts.insert(name, text.lines().filter(same).collect::<Vec<_>>().join("\n"));
    }

    /// Reads the lines of a journal; only the last may be truncated.
    fn journal(&mut self, text: &str) {
        for line in text.split_inclusive('\n') {
            let read: Result<serde_json::Value, _> = serde_json::from_str(line);
            let Ok(read) = read else {
                assert!(!line.ends_with('\n'), "a journal is damaged in the middle: {line}");
                continue;
            };
            let record = &read["record"];
            if record["kind"] == "reply" && record["whole"] == true && record["status"] == 200 {
                self.bought.insert(record["hash"].as_str().unwrap().to_owned());
                self.replies += 1;
            }
        }
    }
}

pub(crate) fn walk(dir: &Path, each: &mut impl FnMut(&Path)) {
    for entry in fs::read_dir(dir).into_iter().flatten().flatten() {
        if entry.file_type().unwrap().is_dir() {
            walk(&entry.path(), each);
        } else {
            each(&entry.path());
        }
    }
}

fn workspace(server: &Scripted) -> String {
    let url = server.url("/v1");
    let model = |name: &str, provider: &str, more: &str| {
        format!(
            "  {name}: {{ provider: {provider}, base_url: '{url}', model: any, price: {{ input: 1.5, output: 2.0 }}{more} }}\n"
        )
    };
    let models = [
        model("chat", "openai", ""),
        model("messages", "anthropic", ""),
        model("streamed", "openai", ", stream: true"),
        model("flowing", "anthropic", ", stream: true"),
    ];
    format!("input_dir: tasks\noutput_dir: results\nmodels:\n{}", models.concat())
}

/// Reply of the provider. The first tool is called as often as the question demands, then comes the
/// answer. A nudge to use the other tool is followed, and answered again.
fn reply(seen: &Seen) -> Reply {
    let wire = if seen.path.ends_with("/messages") { Wire::Messages } else { Wire::Chat };
    let mut body = seen.json();
    if let Some(reply) = kinds::reply(seen, &body, wire) {
        return reply;
    }
    let said: Vec<String> =
        body["messages"].as_array().into_iter().flatten().filter_map(words).collect();
    let number = |text: &String| {
        text.split(' ').find_map(|word| word.trim_end_matches(['.', ',']).parse().ok())
    };
    let times = said.iter().find_map(number).unwrap_or(0);
    if !said.last().is_some_and(|last| last.starts_with(NUDGE)) {
        return Conversation::new(wire, times).reply(seen);
    }
    if let Some(tools) = body["tools"].as_array_mut() {
        tools.rotate_left(1);
    }
    Conversation::new(wire, usize::MAX).reply(&with_body(seen, &body))
}

/// Returns the request with another body.
pub(crate) fn with_body(seen: &Seen, body: &serde_json::Value) -> Seen {
    Seen { body: serde_json::to_vec(body).unwrap(), ..seen.clone() }
}

/// Returns the text of a user message, an empty one for messages of the model and of tools, and
/// `None` for system messages.
fn words(message: &serde_json::Value) -> Option<String> {
    let text = match &message["content"] {
        serde_json::Value::String(text) => Some(text.clone()),
        blocks => {
            blocks.as_array()?.iter().find_map(|block| block["text"].as_str()).map(str::to_owned)
        }
    };
    match message["role"].as_str()? {
        "user" => Some(text.unwrap_or_default()),
        "system" | "developer" => None,
        _ => Some(String::new()),
    }
}
