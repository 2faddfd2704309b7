//! Tests of the Python tool: the ways in which programs end, their output, and that no process
//! survives. The isolation is tested in `sandbox.rs`. With `TOUCHSTONE_WITHOUT_SANDBOX=1`, for
//! systems on which bubblewrap cannot work, these tests print that they are skipped.
use fs_err as fs;
use std::future::Future;
use std::process::{Command, Stdio};
use std::time::{Duration, Instant};
use tempfile::TempDir;
use tokio_util::sync::CancellationToken;
use touchstone_model::value::Value;
use touchstone_runner::tools::python::{PythonLimits, PythonTool, checks};

pub(crate) const SECOND: Duration = Duration::from_secs(1);

/// End of a program from the perspective of the model.
#[derive(Debug)]
pub(crate) struct Ended {
    pub(crate) outcome: String,
    pub(crate) stdout: String,
    pub(crate) stderr: String,
    pub(crate) exit_code: Option<String>,
    pub(crate) timed_out: bool,
    pub(crate) signal: Option<String>,
}

/// Opens the tool; `None` without a sandbox.
pub(crate) async fn tool(limits: PythonLimits) -> Option<PythonTool> {
    if std::env::var_os("TOUCHSTONE_WITHOUT_SANDBOX").is_some() {
        eprintln!("not run: TOUCHSTONE_WITHOUT_SANDBOX is set");
        return None;
    }
    let cache = TempDir::new().unwrap();
    Some(PythonTool::open(cache.path(), limits).await.unwrap())
}

pub(crate) fn short() -> PythonLimits {
    PythonLimits {
        wall: SECOND,
        grace: SECOND / 2,
        cpu: SECOND * 3,
        output: 4096,
        ..PythonLimits::default()
    }
}

pub(crate) fn program_params(program: &str) -> Value {
    Value::Map(vec![(Value::from("pythonCode"), Value::from(program))])
}

pub(crate) async fn run(tool: &PythonTool, program: &str) -> Ended {
    run_until(tool, program, &CancellationToken::new()).await
}

async fn run_until(tool: &PythonTool, program: &str, stop: &CancellationToken) -> Ended {
    let result = tool.call(&program_params(program), stop).await.unwrap();
    let text = |key: &str| result.get(key).and_then(Value::text).unwrap_or_default().to_owned();
    Ended {
        outcome: text("outcome"),
        stdout: text("stdout"),
        stderr: text("stderr"),
        exit_code: match result.get("exit_code").unwrap() {
            Value::Number(number) => Some(number.clone()),
            _ => None,
        },
        timed_out: result.get("timed_out") == Some(&Value::Bool(true)),
        signal: result.get("signal").and_then(Value::text).map(str::to_owned),
    }
}

/// Builds a program that leaves a process behind which only its number identifies, and returns
/// both.
fn leaves_behind(then: &str) -> (String, String) {
    static TURN: std::sync::atomic::AtomicU32 = std::sync::atomic::AtomicU32::new(0);
    let turn = TURN.fetch_add(1, std::sync::atomic::Ordering::Relaxed);
    let number = format!("8{}.{turn:03}", std::process::id());
    let program = format!(
        "import subprocess, sys, time, os, signal\n\
         print('ready', flush=True)\nsubprocess.Popen(['/usr/bin/sleep', '{number}'], start_new_session=True)\n{then}\n"
    );
    (program, number)
}

/// Returns true if a process of this machine sleeps for that number.
fn lives(number: &str) -> bool {
    let processes = fs::read_dir("/proc").unwrap().flatten();
    let lines = processes.filter_map(|process| fs::read(process.path().join("cmdline")).ok());
    lines.into_iter().any(|line| {
        line.starts_with(b"/usr/bin/sleep\0") && line.ends_with(format!("{number}\0").as_bytes())
    })
}

async fn until(what: &str, within: Duration, condition: impl Fn() -> bool) -> Duration {
    let began = Instant::now();
    while !condition() {
        assert!(began.elapsed() < within, "{what}: not within {within:?}");
        tokio::time::sleep(Duration::from_millis(5)).await;
    }
    began.elapsed()
}

#[tokio::test]
async fn every_way_to_end_has_its_own_outcome() {
    let Some(tool) = tool(short()).await else { return };
    let table = [
        ("print('hello')", "ok", Some("0"), None),
        ("import sys; sys.exit(3)", "exception", Some("3"), None),
        ("raise ValueError('no')", "exception", Some("1"), None),
        ("this is no python", "exception", Some("1"), None),
        ("import time; time.sleep(60)", "timeout", None, None),
        (
            "import signal, time; signal.signal(signal.SIGTERM, signal.SIG_IGN); time.sleep(60)",
            "timeout",
            None,
            None,
        ),
        // The supervisor of the program cannot be killed by it.
        ("import os, time; os.kill(os.getppid(), 9); time.sleep(60)", "timeout", None, None),
        // The program moves to the process group of a child, so that its original group is empty.
        (
            "import os, time\nchild = os.fork()\nif child == 0: time.sleep(60)\nos.setpgid(child, child); os.setpgid(0, child)\n\
             time.sleep(60)",
            "timeout",
            None,
            None,
        ),
        ("x = [0] * 1_300_000_000", "memory", Some("1"), None),
        ("print('x' * 100_000)", "output", Some("0"), None),
        ("import os; os.abort()", "killed", None, Some("SIGABRT")),
        ("import ctypes; ctypes.string_at(0)", "killed", None, Some("SIGSEGV")),
        ("import os; os.kill(os.getpid(), 9)", "killed", None, Some("SIGKILL")),
        ("", "ok", Some("0"), None),
    ];
    for (program, outcome, exit_code, signal) in table {
        let ended = run(&tool, program).await;
        let seen = (ended.outcome.as_str(), ended.exit_code.as_deref(), ended.signal.as_deref());
        assert_eq!(seen, (outcome, exit_code, signal), "{program}: {ended:?}");
        assert_eq!(ended.timed_out, outcome == "timeout", "{program}");
    }
}

#[tokio::test]
async fn a_program_that_only_computes_ends_at_its_computing_time() {
    let limits = PythonLimits { cpu: SECOND, ..PythonLimits::default() };
    let Some(tool) = tool(limits).await else { return };
    let ended = run(&tool, "print('begun')\nwhile True: pass").await;
    assert_eq!(
        (ended.outcome.as_str(), ended.signal.as_deref()),
        ("cpu", Some("SIGXCPU")),
        "{ended:?}"
    );
    assert_eq!(ended.stdout, "begun\n");
}

#[tokio::test]
async fn a_fork_bomb_is_bounded_and_ends_with_its_time() {
    let Some(tool) = tool(short()).await else { return };
    let began = Instant::now();
    let bomb = "import os\nwhile True:\n    try: os.fork()\n    except BlockingIOError: pass";
    let ended = run(&tool, bomb).await;
    assert!(matches!(ended.outcome.as_str(), "timeout" | "cpu"), "{ended:?}");
    assert!(began.elapsed() < SECOND * 10, "{:?}", began.elapsed());
}

#[tokio::test]
async fn a_program_that_fails_shows_its_own_lines() {
    let Some(tool) = tool(short()).await else { return };
    let ended = run(&tool, "def half(x):\n    return x / 0\n\nprint('first')\nhalf(1)").await;
    assert_eq!(ended.stdout, "first\n");
    let plain: Vec<&str> = ended.stderr.lines().filter(|line| !line.contains("~^")).collect();
    insta::assert_snapshot!(plain.join("\n"), @r#"
    Traceback (most recent call last):
      File "/work/program.py", line 5, in <module>
        half(1)
      File "/work/program.py", line 2, in half
        return x / 0
    ZeroDivisionError: division by zero
    "#);
}

#[tokio::test]
async fn what_ordinary_programs_use_works() {
    let Some(tool) = tool(PythonLimits::default()).await else { return };
    let programs = [
        (
            "subprocess",
            "import subprocess; print(subprocess.run(['echo', 'ok'], capture_output=True, text=True).stdout.strip())",
        ),
        (
            "threads",
            "from concurrent.futures import ThreadPoolExecutor as P; print(*P(4).map(str, ['ok']))",
        ),
        (
            "asyncio",
            "import asyncio\nasync def f(): return await asyncio.to_thread(str, 'ok')\nprint(asyncio.run(f()))",
        ),
        (
            "pool of threads",
            "from multiprocessing.pool import ThreadPool\nwith ThreadPool(2) as p: print(*p.map(str, ['ok']))",
        ),
        (
            "pool of processes",
            "from multiprocessing import Pool\nif __name__ == '__main__':\n    with Pool(2) as p: print(*p.map(str, ['ok']))",
        ),
        (
            "files",
            "import tempfile\nwith tempfile.TemporaryFile('w+') as f:\n    f.write('ok'); f.seek(0); print(f.read())",
        ),
        (
            "databases",
            "import sqlite3; print(sqlite3.connect('x.db').execute(\"select 'ok'\").fetchone()[0])",
        ),
        (
            "main",
            "import __main__; ok = 'ok'; print(__main__.ok if __name__ == '__main__' else __name__)",
        ),
        ("text", "# -*- coding: utf-8 -*-\nprint('ö€😀'.replace('ö€😀', 'ok'))"),
        ("no input", "try: input()\nexcept EOFError: print('ok')"),
        (
            "own names only",
            "print('ok' if {n for n in globals() if not n.startswith('__')} == set() else list(globals()))",
        ),
    ];
    for (what, program) in programs {
        let ended = run(&tool, program).await;
        assert_eq!(
            (ended.stdout.as_str(), ended.outcome.as_str()),
            ("ok\n", "ok"),
            "{what}: {ended:?}"
        );
    }
}

#[tokio::test]
async fn output_of_any_kind_and_length_becomes_text_within_the_cap() {
    let Some(tool) = tool(short()).await else { return };
    let ended = run(
        &tool,
        r"import sys; sys.stdout.buffer.write(b'a\xff\xfe\0b\n'); sys.stderr.write('é')",
    )
    .await;
    assert_eq!((ended.stdout.as_str(), ended.stderr.as_str()), ("a\u{fffd}\u{fffd}\0b\n", "é"));
    let endless = run(&tool, "import os\nwhile True: os.write(1, b'y\\n' * 50_000)").await;
    assert!(endless.stdout.len() < 4096 + 100, "{}", endless.stdout.len());
    assert!(endless.stdout.starts_with("y\ny\n") && endless.stdout.contains("bytes left out here"));
    assert_eq!(endless.outcome, "timeout");
    let long = run(&tool, "print('first'); print('é' * 4_000_000); print('last')").await;
    assert!(
        long.stdout.starts_with("first\né") && long.stdout.ends_with("é\nlast\n"),
        "{}",
        long.stdout
    );
    assert!(!long.stdout.contains('\u{fffd}'));
    assert_eq!((long.outcome.as_str(), long.exit_code.as_deref()), ("output", Some("0")));
}

#[tokio::test]
async fn what_was_said_before_the_end_is_kept() {
    let Some(tool) = tool(short()).await else { return };
    let ended = run(&tool, "import time; print('so far'); time.sleep(60)").await;
    assert_eq!((ended.stdout.as_str(), ended.outcome.as_str()), ("so far\n", "timeout"));
    let asked = "import signal, time\ndef last(*_): print('asked to end'); raise SystemExit(0)\n\
                 signal.signal(signal.SIGTERM, last)\ntime.sleep(60)";
    let ended = run(&tool, asked).await;
    assert_eq!((ended.stdout.as_str(), ended.outcome.as_str()), ("asked to end\n", "timeout"));
}

#[tokio::test]
async fn nothing_lives_on_after_a_call() {
    let Some(tool) = tool(short()).await else { return };
    // Control: without a sandbox the process survives.
    let (program, number) = leaves_behind("");
    let mut control = Command::new("/usr/bin/python3");
    control.args(["-I", "-B", "-c", &program]).stdout(Stdio::null());
    assert!(control.status().unwrap().success());
    until("the control lives on", SECOND * 20, || lives(&number)).await;
    end_sleepers(&number);
    for then in ["", "time.sleep(60)", "os.abort()", "os.kill(os.getppid(), 9); time.sleep(60)"] {
        let (program, number) = leaves_behind(then);
        let ended = run(&tool, &program).await;
        assert_eq!(ended.stdout, "ready\n", "{then}: {ended:?}");
        until(&format!("it is gone after {then:?}"), SECOND, || !lives(&number)).await;
    }
}

/// Kills the sleeping processes of one control by their process ids.
fn end_sleepers(number: &str) {
    for process in fs::read_dir("/proc").unwrap().flatten() {
        let line = fs::read(process.path().join("cmdline")).unwrap_or_default();
        if line.ends_with(format!("{number}\0").as_bytes())
            && let Ok(pid) = process.file_name().to_string_lossy().parse()
        {
            rustix::process::kill_process(
                rustix::process::Pid::from_raw(pid).unwrap(),
                rustix::process::Signal::KILL,
            )
            .unwrap();
        }
    }
}

#[tokio::test]
async fn stopping_ends_a_program_at_once() {
    let Some(tool) = tool(PythonLimits::default()).await else { return };
    let (program, number) = leaves_behind("time.sleep(60)");
    let stop = CancellationToken::new();
    let stopped = async {
        until("it began", SECOND * 20, || lives(&number)).await;
        stop.cancel();
        Instant::now()
    };
    let (ended, stopped) = tokio::join!(run_until(&tool, &program, &stop), stopped);
    assert!(stopped.elapsed() < SECOND, "{:?}", stopped.elapsed());
    assert_eq!(
        (ended.outcome.as_str(), ended.stdout.as_str(), ended.exit_code),
        ("killed", "ready\n", None)
    );
    until("it is gone", SECOND, || !lives(&number)).await;
    // Stopped before it started.
    let began = Instant::now();
    assert_eq!(run_until(&tool, "import time; time.sleep(60)", &stop).await.outcome, "killed");
    assert!(began.elapsed() < SECOND, "{:?}", began.elapsed());
}

#[tokio::test]
async fn a_program_can_be_stopped_at_any_moment() {
    let Some(tool) = tool(PythonLimits::default()).await else { return };
    for turn in 0..40 {
        let stop = CancellationToken::new();
        let stopped = async {
            tokio::time::sleep(Duration::from_millis(turn)).await;
            stop.cancel();
            Instant::now()
        };
        // It only ends when no process holds its output pipes any more.
        let (ended, stopped) =
            tokio::join!(run_until(&tool, "import time; time.sleep(60)", &stop), stopped);
        assert_eq!(
            (ended.outcome.as_str(), ended.stderr.as_str()),
            ("killed", ""),
            "after {turn} ms"
        );
        assert!(stopped.elapsed() < SECOND, "after {turn} ms: {:?}", stopped.elapsed());
    }
}

#[tokio::test]
async fn a_call_that_is_dropped_ends_its_program() {
    let Some(tool) = tool(PythonLimits::default()).await else { return };
    let (program, number) = leaves_behind("time.sleep(60)");
    let (params, stop) = (program_params(&program), CancellationToken::new());
    let mut call: std::pin::Pin<Box<dyn Future<Output = _>>> = Box::pin(tool.call(&params, &stop));
    tokio::select! {
        _ = &mut call => panic!("it ended"),
        _ = until("it began", SECOND * 20, || lives(&number)) => {}
    }
    drop(call);
    until("it is gone", SECOND, || !lives(&number)).await;
}

const CHILD: &str = "TOUCHSTONE_TEST_PROGRAM";

#[tokio::test]
async fn a_program_ends_when_we_are_killed() {
    let Some(_) = tool(PythonLimits::default()).await else { return };
    let (program, number) = leaves_behind("time.sleep(60)");
    let mut child = Command::new(std::env::current_exe().unwrap())
        .args(["--exact", "python::the_other_process_of_the_test_before", "--nocapture"])
        .env(CHILD, program)
        .stdout(Stdio::null())
        .spawn()
        .unwrap();
    until("it began", SECOND * 20, || lives(&number)).await;
    child.kill().unwrap();
    child.wait().unwrap();
    until("it is gone", SECOND, || !lives(&number)).await;
}

/// Runs the program in its environment variable; without one it does nothing.
#[tokio::test]
async fn the_other_process_of_the_test_before() {
    let Ok(program) = std::env::var(CHILD) else { return };
    let tool = tool(PythonLimits::default()).await.unwrap();
    run(&tool, &program).await;
}

#[tokio::test]
async fn a_call_without_a_program_or_with_a_huge_one_fails_with_a_reason() {
    let Some(tool) = tool(PythonLimits::default()).await else { return };
    let stop = CancellationToken::new();
    let failure = tool.call(&Value::Map(Vec::new()), &stop).await.unwrap_err();
    insta::assert_snapshot!(failure.message, @"execute_python_program needs pythonCode, a string.");
    let failure = tool.call(&program_params(&"#".repeat((1 << 20) + 1)), &stop).await.unwrap_err();
    insta::assert_snapshot!(failure.message, @"The program is longer than 1 MiB. Write a shorter one.");
    let large = format!("{}\nprint('ok')", "#".repeat(1 << 19));
    assert_eq!(run(&tool, &large).await.stdout, "ok\n", "more than a pipe holds");
}

#[tokio::test]
async fn the_offer_names_what_a_program_may_use() {
    let Some(tool) = tool(PythonLimits::default()).await else { return };
    let offer = tool.offer();
    assert_eq!(offer.name, "execute_python_program");
    insta::assert_snapshot!(offer.description, @"Runs a Python 3 program and returns its stdout, \
        stderr and exit code. Print what you want to see. Each call is a new process: nothing is \
        kept from earlier calls. There is no network, no input and no other file than those the \
        program writes; it has 30 seconds and 1024 MiB of memory.");
    insta::assert_snapshot!(
        touchstone_model::json::write(&offer.parameters, false),
        @"{\"type\":\"object\",\"properties\":{\"pythonCode\":{\"type\":\"string\",\
         \"description\":\"The whole Python program.\"}},\"required\":[\"pythonCode\"],\
         \"additionalProperties\":false}"
    );
}

#[tokio::test(flavor = "multi_thread", worker_threads = 4)]
async fn many_programs_run_at_once_and_none_sees_another() {
    let Some(tool) = tool(PythonLimits::default()).await else { return };
    let calls = (0..12).map(|turn| {
        let tool = tool.clone();
        let program = format!(
            "import os; open('{turn}', 'w'); print({turn}, sorted(os.listdir()), len(os.listdir('/proc/self/fd')))"
        );
        tokio::spawn(async move { run(&tool, &program).await.stdout })
    });
    for (turn, call) in calls.collect::<Vec<_>>().into_iter().enumerate() {
        assert_eq!(call.await.unwrap(), format!("{turn} ['{turn}', 'program.py'] 4\n"));
    }
}

/// Measures the duration of a call: `cargo test -p touchstone-app --test engine python::how_long --
/// --ignored --nocapture`
#[tokio::test]
#[ignore = "a measurement"]
async fn how_long_a_call_takes() {
    let Some(tool) = tool(PythonLimits::default()).await else { return };
    let mut times = Vec::new();
    for _ in 0..20 {
        let began = Instant::now();
        assert_eq!(run(&tool, "print(1)").await.stdout, "1\n");
        times.push(began.elapsed());
    }
    times.sort();
    println!("a call: p50 {:?}, most {:?}", times[10], times[19]);
    let cache = TempDir::new().unwrap();
    let began = Instant::now();
    checks(cache.path()).await;
    println!("to verify: {:?}", began.elapsed());
    let began = Instant::now();
    PythonTool::open(cache.path(), PythonLimits::default()).await.unwrap();
    println!("to open what is verified: {:?}", began.elapsed());
}
