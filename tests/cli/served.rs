//! `touchstone serve` as a running program that tests send HTTP requests to.
use crate::sandbox::Sandbox;
use serde_json::Value;
use std::{
    io::{BufRead as _, BufReader, Read as _, Write as _},
    net::TcpStream,
    process::{Child, ChildStdout, Command, ExitStatus, Stdio},
    time::{Duration, Instant},
};

/// Maximum wait on a busy machine.
const PATIENCE: Duration = Duration::from_mins(1);

/// A running server, killed on drop.
pub(crate) struct Served {
    child: Child,
    /// First line of its output.
    pub(crate) line: String,
    pub(crate) port: u16,
    pub(crate) cookie: String,
    /// Open as long as the server runs, so that it can print.
    _out: BufReader<ChildStdout>,
}

impl Served {
    pub(crate) fn start(sandbox: &Sandbox, arguments: &[&str]) -> Self {
        Self::start_with(sandbox, &[&["serve", "."], arguments].concat(), &[])
    }

    pub(crate) fn start_with(
        sandbox: &Sandbox,
        arguments: &[&str],
        environment: &[(&str, &str)],
    ) -> Self {
        Self::start_command(sandbox.command(arguments).envs(environment.iter().copied()))
    }

    /// Starts the server of a command.
    pub(crate) fn start_command(command: &mut Command) -> Self {
        let mut child = command.stdout(Stdio::piped()).spawn().unwrap();
        let mut line = String::new();
        let mut out = BufReader::new(child.stdout.take().unwrap());
        out.read_line(&mut line).unwrap();
        let start = line.find("127.0.0.1:").unwrap_or_else(|| panic!("no address in {line:?}"))
            + "127.0.0.1:".len();
        let (port, rest) = line[start..].split_once('/').unwrap();
        let token = rest.trim_start_matches("?token=");
        let token = token.split(|c: char| !c.is_ascii_hexdigit()).next().unwrap();
        let mut served = Self {
            child,
            port: port.parse().unwrap(),
            cookie: String::new(),
            line: line.clone(),
            _out: out,
        };
        let welcome = served.send("GET", &format!("/?token={token}"), "");
        let cookie = welcome
            .lines()
            .find_map(|line| line.strip_prefix("set-cookie: "))
            .unwrap_or_else(|| panic!("{welcome}"));
        cookie.split(';').next().unwrap().clone_into(&mut served.cookie);
        served
    }

    pub(crate) fn id(&self) -> u32 {
        self.child.id()
    }

    pub(crate) fn send(&self, method: &str, path: &str, body: &str) -> String {
        let mut stream = TcpStream::connect(("127.0.0.1", self.port)).unwrap();
        stream.set_read_timeout(Some(PATIENCE)).unwrap();
        let Self { port, cookie, .. } = self;
        let length = body.len();
        write!(
            stream,
            "{method} {path} HTTP/1.1\r\nHost: 127.0.0.1:{port}\r\nConnection: close\r\nCookie: {cookie}\r\nX-Touchstone: 1\r\n\
             Content-Type: application/json\r\nContent-Length: {length}\r\n\r\n{body}"
        )
        .unwrap();
        let mut reply = String::new();
        stream.read_to_string(&mut reply).unwrap();
        reply
    }

    /// Calls a command, and returns the status and the reply.
    pub(crate) fn call(&self, name: &str, arguments: &Value) -> (u16, Value) {
        let reply = self.send("POST", &format!("/api/{name}"), &arguments.to_string());
        let (head, body) = reply.split_once("\r\n\r\n").unwrap_or((&reply, ""));
        let status = head.split(' ').nth(1).and_then(|status| status.parse().ok());
        let status = status
            .unwrap_or_else(|| panic!("{name} is answered {reply:?} by process {}", self.id()));
        (status, serde_json::from_str(body).unwrap_or_else(|why| panic!("{why}: {body}")))
    }

    /// Collects all events until the stream ends.
    pub(crate) fn events(&self) -> std::thread::JoinHandle<String> {
        let mut stream = TcpStream::connect(("127.0.0.1", self.port)).unwrap();
        let Self { port, cookie, .. } = self;
        write!(
            stream,
            "GET /api/events HTTP/1.1\r\nHost: 127.0.0.1:{port}\r\nCookie: {cookie}\r\n\r\n"
        )
        .unwrap();
        // Returns once the first bytes of the reply arrived, so that every later event is received.
        let mut told = vec![0];
        stream.read_exact(&mut told).unwrap();
        std::thread::spawn(move || {
            let _ = stream.read_to_end(&mut told);
            String::from_utf8(told).unwrap()
        })
    }

    /// Sends Ctrl-C and waits for the end.
    pub(crate) fn end(&mut self) -> ExitStatus {
        self.end_by("INT")
    }

    /// Sends a signal and waits for the end.
    pub(crate) fn end_by(&mut self, signal: &str) -> ExitStatus {
        Command::new("kill")
            .args([&format!("-{signal}"), &self.id().to_string()])
            .status()
            .unwrap();
        let begun = Instant::now();
        loop {
            if let Some(status) = self.child.try_wait().unwrap() {
                return status;
            }
            assert!(begun.elapsed() < PATIENCE, "it does not end");
            std::thread::sleep(Duration::from_millis(10));
        }
    }
}

impl Drop for Served {
    fn drop(&mut self) {
        let _ = self.child.kill();
        let _ = self.child.wait();
    }
}

/// Repeats a command until its reply satisfies `wish`.
pub(crate) fn until(
    served: &Served,
    command: &str,
    arguments: &Value,
    wish: impl Fn(&Value) -> bool,
) -> Value {
    let begun = Instant::now();
    loop {
        let (_, reply) = served.call(command, arguments);
        if wish(&reply) {
            return reply;
        }
        assert!(begun.elapsed() < PATIENCE, "waited in vain: {reply}");
        std::thread::sleep(Duration::from_millis(20));
    }
}
