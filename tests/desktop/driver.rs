//! A client of `WebKitWebDriver` (Debian: webkit2gtk-driver) over sockets and JSON, without any
//! dependency that the program does not have. Each window gets its own display, so that tests run
//! in parallel and need no desktop.
use serde_json::{Value, json};
use std::{
    io::{BufRead as _, BufReader, Read as _, Write as _},
    net::{TcpListener, TcpStream},
    path::Path,
    process::{Child, Command, Stdio},
    thread,
    time::{Duration, Instant},
};

/// Timeout of a single step.
const PATIENCE: Duration = Duration::from_mins(1);
/// Key under which `WebDriver` names an element.
const ELEMENT: &str = "element-6066-11e4-a52e-4f735466cecf";

/// A running window.
pub(crate) struct Window {
    display: Child,
    driver: Child,
    port: u16,
    session: String,
}

impl Window {
    /// Starts the program with these arguments and environment, and waits until it has a session.
    pub(crate) fn open(arguments: &[&str], environment: &[(&str, &Path)]) -> Self {
        let (display, name) = start_display();
        let port = TcpListener::bind("127.0.0.1:0").unwrap().local_addr().unwrap().port();
        let driver = Command::new("WebKitWebDriver")
            .args(["--host=127.0.0.1", &format!("--port={port}")])
            .env("TAURI_WEBVIEW_AUTOMATION", "true")
            .env("DISPLAY", name)
            .env("GDK_BACKEND", "x11")
            .env_remove("WAYLAND_DISPLAY")
            .envs(environment.iter().copied())
            .stdin(Stdio::null())
            .stdout(Stdio::null())
            .spawn()
            .expect("WebKitWebDriver is started (Debian: webkit2gtk-driver)");
        let mut window = Self { display, driver, port, session: String::new() };
        wait("the driver listens", || TcpStream::connect(("127.0.0.1", port)).ok());
        let options = json!({ "binary": env!("CARGO_BIN_EXE_touchstone"), "args": arguments });
        let wanted =
            json!({ "capabilities": { "alwaysMatch": { "webkitgtk:browserOptions": options } } });
        let made = window.ask("POST", "/session", &wanted).expect("a session");
        window.session = format!("/session/{}", made["sessionId"].as_str().unwrap());
        window
    }

    /// Runs a script in the page and returns its result.
    pub(crate) fn run(&self, script: &str) -> Value {
        self.try_run(script).unwrap_or_else(|error| panic!("{error}\nin {script}"))
    }

    fn try_run(&self, script: &str) -> Result<Value, Value> {
        self.tell("POST", "/execute/sync", &json!({ "script": script, "args": [] }))
    }

    /// Waits until a script returns a truthy value, and returns it.
    pub(crate) fn until(&self, what: &str, script: &str) -> Value {
        wait(what, || {
            self.try_run(script)
                .ok()
                .filter(|value| !matches!(value, Value::Null | Value::Bool(false)))
        })
    }

    /// Waits until the page contains a text.
    pub(crate) fn until_text(&self, text: &str) {
        wait(&format!("the page says {text:?}"), || self.text().contains(text).then_some(()));
    }

    /// Returns all text on the page.
    pub(crate) fn text(&self) -> String {
        self.try_run("return document.body.innerText")
            .ok()
            .and_then(|text| Some(text.as_str()?.to_owned()))
            .unwrap_or_default()
    }

    /// Waits until a frame in the page has text, and returns it.
    pub(crate) fn text_of_frame(&self, css: &str) -> String {
        wait(&format!("{css} has something in it"), || {
            let frame = self.find(css)?;
            self.tell("POST", "/frame", &json!({ "id": { ELEMENT: frame } })).ok()?;
            let body = self.find("body");
            let text = body.and_then(|body| {
                self.tell("GET", &format!("/element/{body}/text"), &Value::Null).ok()
            });
            self.tell("POST", "/frame", &json!({ "id": null })).ok()?;
            text?.as_str().filter(|text| !text.is_empty()).map(str::to_owned)
        })
    }

    /// Waits for an element, and clicks it like a person.
    pub(crate) fn click(&self, css: &str) {
        wait(&format!("{css} can be clicked"), || {
            let element = self.find(css)?;
            self.tell("POST", &format!("/element/{element}/click"), &json!({})).ok()
        });
    }

    /// Waits for an element, and types into it.
    pub(crate) fn fill(&self, css: &str, text: &str) {
        wait(&format!("{css} takes text"), || {
            let element = self.find(css)?;
            self.tell("POST", &format!("/element/{element}/clear"), &json!({})).ok()?;
            self.tell("POST", &format!("/element/{element}/value"), &json!({ "text": text })).ok()
        });
    }

    /// Presses keys together, and releases them.
    pub(crate) fn press(&self, keys: &[&str]) {
        let act = |kind: &str, key: &&str| json!({ "type": kind, "value": key });
        let down = keys.iter().map(|key| act("keyDown", key));
        let up = keys.iter().rev().map(|key| act("keyUp", key));
        let actions: Vec<Value> = down.chain(up).collect();
        self.tell(
            "POST",
            "/actions",
            &json!({ "actions": [{ "type": "key", "id": "keyboard", "actions": actions }] }),
        )
        .unwrap();
    }

    /// Saves a screenshot in `target/screens`. Waits for two frames first, since the text changes
    /// before the pixels do.
    pub(crate) fn picture(&self, name: &str) {
        let frames = "const done = arguments[0]; requestAnimationFrame(() => requestAnimationFrame(() => done(null)))";
        self.tell("POST", "/execute/async", &json!({ "script": frames, "args": [] })).unwrap();
        let coded = self.tell("GET", "/screenshot", &Value::Null).unwrap();
        let bytes = from_base64(coded.as_str().unwrap());
        assert!(bytes.starts_with(b"\x89PNG"), "a picture");
        let dir = Path::new(env!("CARGO_MANIFEST_DIR")).join("target/screens");
        std::fs::create_dir_all(&dir).unwrap();
        std::fs::write(dir.join(format!("{name}.png")), bytes).unwrap();
    }

    /// Process number of the program, which the driver started.
    pub(crate) fn program(&self) -> u32 {
        let driver = self.driver.id();
        let children =
            std::fs::read_to_string(format!("/proc/{driver}/task/{driver}/children")).unwrap();
        children.split_whitespace().next().expect("the driver started the program").parse().unwrap()
    }

    /// Sends SIGTERM to the program, like the end of a desktop session.
    pub(crate) fn ask_to_end(&self) {
        let ended =
            Command::new("kill").args(["-TERM", &self.program().to_string()]).status().unwrap();
        assert!(ended.success());
    }

    fn find(&self, css: &str) -> Option<String> {
        let found = self
            .tell("POST", "/element", &json!({ "using": "css selector", "value": css }))
            .ok()?;
        Some(found[ELEMENT].as_str()?.to_owned())
    }

    fn tell(&self, method: &str, path: &str, body: &Value) -> Result<Value, Value> {
        self.ask(method, &format!("{}{path}", self.session), body)
    }

    /// Sends one command. The error is that of the driver.
    fn ask(&self, method: &str, path: &str, body: &Value) -> Result<Value, Value> {
        let lost = |error: std::io::Error| json!({ "error": "the driver does not answer", "message": error.to_string() });
        let reply = exchange(self.port, method, path, body).map_err(lost)?;
        let value = reply["value"].clone();
        if value.get("error").is_some() { Err(value) } else { Ok(value) }
    }
}

impl Drop for Window {
    fn drop(&mut self) {
        // The session is closed first; killing only the driver would leave the program running.
        let _ = exchange(self.port, "DELETE", &self.session, &Value::Null);
        for child in [&mut self.driver, &mut self.display] {
            let _ = child.kill();
            let _ = child.wait();
        }
    }
}

/// Retries until `attempt` succeeds.
pub(crate) fn wait<T>(what: &str, mut attempt: impl FnMut() -> Option<T>) -> T {
    let begun = Instant::now();
    loop {
        if let Some(value) = attempt() {
            return value;
        }
        assert!(begun.elapsed() < PATIENCE, "waited in vain until {what}");
        thread::sleep(Duration::from_millis(20));
    }
}

/// Starts a display on the first free number, and returns its name.
fn start_display() -> (Child, String) {
    let mut display = Command::new("Xvfb")
        .args(["-displayfd", "1", "-screen", "0", "1280x820x24", "-nolisten", "tcp"])
        .stdout(Stdio::piped())
        .stderr(Stdio::null())
        .spawn()
        .expect("Xvfb is started (Debian: xvfb)");
    let mut number = String::new();
    BufReader::new(display.stdout.take().unwrap()).read_line(&mut number).unwrap();
    (display, format!(":{}", number.trim()))
}

fn exchange(port: u16, method: &str, path: &str, body: &Value) -> std::io::Result<Value> {
    let body = if body.is_null() { String::new() } else { body.to_string() };
    let mut stream = TcpStream::connect(("127.0.0.1", port))?;
    stream.set_read_timeout(Some(Duration::from_mins(1)))?;
    write!(
        stream,
        "{method} {path} HTTP/1.1\r\nHost: 127.0.0.1:{port}\r\nConnection: close\r\nContent-Length: {}\r\n\r\n{body}",
        body.len()
    )?;
    let mut reader = BufReader::new(stream);
    let mut length = 0;
    loop {
        let mut line = String::new();
        reader.read_line(&mut line)?;
        if line.trim().is_empty() {
            break;
        }
        if let Some(value) = line.to_ascii_lowercase().strip_prefix("content-length:") {
            length = value.trim().parse().unwrap_or(0);
        }
    }
    let mut text = vec![0; length];
    reader.read_exact(&mut text)?;
    Ok(serde_json::from_slice(&text)?)
}

fn from_base64(text: &str) -> Vec<u8> {
    const ALPHABET: &[u8] = b"ABCDEFGHIJKLMNOPQRSTUVWXYZabcdefghijklmnopqrstuvwxyz0123456789+/";
    let mut bytes = Vec::with_capacity(text.len() / 4 * 3);
    let (mut held, mut bits) = (0_u32, 0);
    for value in text.bytes().filter_map(|byte| ALPHABET.iter().position(|letter| *letter == byte))
    {
        held = held << 6 | u32::try_from(value).unwrap_or(0);
        bits += 6;
        if bits >= 8 {
            bits -= 8;
            bytes.push(u8::try_from(held >> bits & 0xff).unwrap_or(0));
        }
    }
    bytes
}
