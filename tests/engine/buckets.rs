//! Results in a bucket: the copy follows it, keeps what it has through any trouble, stays inside the
//! cache, and nothing is written to the bucket. On our own server, and on those of others where they
//! are installed.
use crate::bench::{DEADLINE, NoVault, rows, wait_until};
use crate::reviewing::says;
use crate::s3_server::{Fault, S3Server};
use fs_err as fs;
use std::path::{Path, PathBuf};
use std::process::{Child, Command, Stdio};
use std::time::Duration;
use touchstone_api::{BucketView, ForkRequest, ProblemKind, RunState, Span, Verdict};
use touchstone_app::error::{AppError, Code};
use touchstone_app::{App, AppConfig};
use touchstone_runner::http::keys::Keys;
use touchstone_store::limits::Limits;

const RUN: &str = "conversation:\n- user_message: Hello\n- assistant_message: Fine\nanswer: Fine\n";
const ADDRESS: &str = "s3://bucket/team/results";

/// An engine with its own directories, and the environment of an S3 user.
struct Stage {
    home: tempfile::TempDir,
    endpoint: String,
}

impl Stage {
    fn new(endpoint: &str) -> Self {
        Self { home: tempfile::tempdir().unwrap(), endpoint: endpoint.to_owned() }
    }

    fn app(&self) -> App {
        let endpoint = self.endpoint.clone();
        let variable = move |name: &str| match name {
            "AWS_ACCESS_KEY_ID" => Some("test".to_owned()),
            "AWS_SECRET_ACCESS_KEY" => Some("testtest".to_owned()),
            "AWS_ENDPOINT_URL" => Some(endpoint.clone()),
            _ => None,
        };
        let config = AppConfig {
            cache_dir: self.cache(),
            state_dir: self.home.path().join("state"),
            demo_dir: None,
            limits: Limits { calm: Duration::ZERO, ..Limits::default() },
        };
        App::with_keys(config, Keys::new(variable, NoVault))
    }

    fn cache(&self) -> PathBuf {
        self.home.path().join("cache")
    }
}

fn files(app: &App) -> Vec<String> {
    rows(app).into_iter().map(|row| row.path).collect()
}

fn bucket(app: &App) -> BucketView {
    app.folder().status().bucket.unwrap()
}

fn wait_for(app: &App, expected: &[&str]) {
    wait_until(&format!("the runs {expected:?}"), || (files(app) == expected).then_some(()));
}

fn wait_checked(app: &App) -> BucketView {
    let before = bucket(app).checked_ms;
    wait_until("a check", || {
        let now = bucket(app);
        (now.complete && now.checked_ms > before).then_some(now)
    })
}

#[test]
fn a_bucket_is_shown_and_followed_and_its_changes_are_all_that_is_fetched() {
    let server = S3Server::start();
    for (key, text) in [
        ("team/results/o1/a.yaml", RUN),
        ("team/results/o1/b.yaml", RUN),
        ("team/results/.git/config", "no"),
        ("team/results/.touchstone/journal/a.jsonl", "no"),
        ("team/results/.touchstone/segments/1.parquet", "no"),
        ("team/results/folder/", ""),
        ("team/other/c.yaml", RUN),
    ] {
        server.put(key, text);
    }
    let stage = Stage::new(&server.endpoint);
    let app = stage.app();
    app.folder().open_bucket(ADDRESS).unwrap();
    wait_for(&app, &["o1/a.yaml", "o1/b.yaml"]);
    let now = wait_checked(&app);
    assert_eq!((now.copied, now.total, now.listing, now.problem), (2, 2, false, None));
    let (_, mut got) = server.requests_seen();
    got.sort();
    assert_eq!(got, ["team/results/o1/a.yaml", "team/results/o1/b.yaml"]);
    let folder = app.folder().status().folder.unwrap();
    assert_eq!((folder.path.as_str(), folder.name.as_str()), (ADDRESS, "results"));
    // New, changed and gone.
    server.put("team/results/o1/c.yaml", RUN);
    server.put("team/results/o1/a.yaml", "conversation: [\n");
    server.delete("team/results/o1/b.yaml");
    // Both are fetched at once, in either order.
    let (mut lists, mut got) = (0, Vec::new());
    wait_until("the changes are fetched", || {
        let (listed, fetched) = server.requests_seen();
        lists += listed;
        got.extend(fetched);
        (got.len() >= 2).then_some(())
    });
    wait_for(&app, &["o1/a.yaml", "o1/c.yaml"]);
    got.extend(server.requests_seen().1);
    got.sort();
    assert_eq!(got, ["team/results/o1/a.yaml", "team/results/o1/c.yaml"]);
    assert!(lists >= 2, "{lists}");
    wait_checked(&app);
    server.requests_seen();
    wait_checked(&app);
    let (lists, got) = server.requests_seen();
    assert!((1..=4).contains(&lists) && got.is_empty(), "{lists} {got:?}");
    assert_eq!(server.unsigned(), 0);
    // It is in the list of recent folders by its address, and opens from there without a new copy.
    let recent = app.folder().folders(false, true).recent.remove(0);
    assert_eq!((recent.path.as_str(), recent.present), (ADDRESS, true));
    drop(app);
    let app = stage.app();
    server.requests_seen();
    app.folder().open_recent(&recent.id).unwrap();
    wait_for(&app, &["o1/a.yaml", "o1/c.yaml"]);
    assert!(server.requests_seen().1.is_empty());
    app.folder().open_recent(&recent.id).unwrap();
}

#[test]
fn tasks_and_results_are_found_where_a_folder_would_have_them() {
    let server = S3Server::start();
    server.put("touchstone.yaml", "input_dir: mine\noutput_dir: made\n");
    server.put("mine/t.yaml", "promptql_prompt: Hello\n");
    server.put("made/o1/a.yaml", RUN);
    let stage = Stage::new(&server.endpoint);
    let app = stage.app();
    app.folder().open_bucket("s3://bucket").unwrap();
    wait_for(&app, &["o1/a.yaml"]);
    let folder = app.folder().status().folder.unwrap();
    assert_eq!(folder.input_dir.as_deref(), Some("s3://bucket/mine"));
    assert_eq!(folder.output_dir, "s3://bucket/made");
}

#[test]
fn folders_and_the_workspace_file_are_found_behind_many_others() {
    let server = S3Server::start();
    for n in 0..1_200 {
        server.put(&format!("a{n:04}.txt"), "x");
        server.put(&format!("b{n:04}/x.txt"), "x");
    }
    server.put("touchstone.yaml", "input_dir: mine\noutput_dir: made\n");
    server.put("made/o1/a.yaml", RUN);
    server.put("mine/t.yaml", "promptql_prompt: Hello\n");
    let app = Stage::new(&server.endpoint).app();
    app.folder().open_bucket("s3://bucket").unwrap();
    let folder = app.folder().status().folder.unwrap();
    assert_eq!(folder.input_dir.as_deref(), Some("s3://bucket/mine"));
    assert_eq!(folder.output_dir, "s3://bucket/made");
}

#[test]
fn an_object_that_ends_in_the_middle_is_fetched_again() {
    let server = S3Server::start();
    server.put("a.yaml", RUN);
    server.cut_object("a.yaml");
    let app = Stage::new(&server.endpoint).app();
    app.folder().open_whole_bucket("s3://bucket", |_| {}).unwrap();
    app.folder().wait_ready(DEADLINE).unwrap();
    assert_eq!(server.requests_seen().1, ["a.yaml", "a.yaml"]);
    assert_eq!(rows(&app)[0].state, RunState::Answered);
}

#[test]
fn the_workspace_file_of_a_bucket_opens_nothing_outside_of_it_and_connects_to_nothing() {
    let server = S3Server::start();
    server.put("a.yaml", RUN);
    let stage = Stage::new(&server.endpoint);
    let secret = stage.home.path().join("secret");
    fs::create_dir(&secret).unwrap();
    for dir in [secret.to_str().unwrap(), "../../../../secret", "..", "a/../../x"] {
        for key in ["output_dir", "input_dir"] {
            server.put("touchstone.yaml", &format!("{key}: '{dir}'\n"));
            let app = stage.app();
            let error = app.folder().open_whole_bucket("s3://bucket", |_| {}).unwrap_err();
            assert!(error.message.contains("outside of the bucket"), "{dir}: {error}");
        }
    }
    let models =
        "models:\n  mine: { provider: openai, base_url: 'http://127.0.0.1:9', model: x }\n";
    server.put("touchstone.yaml", models);
    let app = stage.app();
    app.folder().open_whole_bucket("s3://bucket", |_| {}).unwrap();
    let options = app.launches().launch_options(true).unwrap();
    assert!(options.models.iter().all(|model| model.name != "mine"), "{:?}", options.models);
}

#[test]
fn objects_are_told_apart_by_size_and_time_where_a_server_lists_no_marks() {
    let server = S3Server::start();
    server.list_no_marks();
    server.put("a.yaml", RUN);
    let stage = Stage::new(&server.endpoint);
    let app = stage.app();
    app.folder().open_bucket("s3://bucket").unwrap();
    wait_checked(&app);
    server.requests_seen();
    server.put("a.yaml", RUN);
    wait_until("it is fetched again", || (server.requests_seen().1 == ["a.yaml"]).then_some(()));
}

#[test]
fn hostile_keys_are_problems_and_nothing_lies_outside_of_the_copy() {
    let server = S3Server::start();
    let hostile = [
        "../evil.yaml",
        "/etc/evil.yaml",
        "a//b.yaml",
        "a/../../evil.yaml",
        "x\\y.yaml",
        "n\u{1}.yaml",
    ];
    for key in hostile {
        server.put(key, RUN);
    }
    server.put("a.yaml", RUN);
    server.put("a.yaml.d", RUN);
    server.put("a.yaml.d/below.yaml", RUN);
    let stage = Stage::new(&server.endpoint);
    let app = stage.app();
    app.folder().open_bucket("s3://bucket").unwrap();
    wait_checked(&app);
    wait_until("one of two", || (files(&app).len() == 2).then_some(()));
    let page = app.folder().problems(Span { offset: 0, limit: 50 }).unwrap();
    let refused = page.problems.iter().filter(|one| one.kind == ProblemKind::NotCopied);
    let refused: Vec<&str> = refused.map(|one| one.file.as_str()).collect();
    for key in hostile {
        assert!(refused.contains(&key), "{key:?} is not in {refused:?}");
    }
    assert_eq!(refused.len(), hostile.len() + 1);
    assert!(app.folder().status().counts.suite_problems >= 7);
    let evil = all_files(stage.home.path()).into_iter().filter(|file| file.contains("evil"));
    assert_eq!(evil.collect::<Vec<_>>(), [""; 0]);
    let (_, got) = server.requests_seen();
    assert!(got.iter().all(|key| !hostile.contains(&key.as_str())), "{got:?}");
}

fn all_files(dir: &Path) -> Vec<String> {
    let mut all = Vec::new();
    for entry in fs::read_dir(dir).unwrap().flatten() {
        if entry.file_type().unwrap().is_dir() {
            all.extend(all_files(&entry.path()));
        } else {
            all.push(entry.path().display().to_string());
        }
    }
    all
}

#[test]
fn what_keeps_a_bucket_from_opening_is_said_with_the_next_step_and_no_key() {
    let server = S3Server::start();
    let stage = Stage::new(&server.endpoint);
    let tried =
        |address: &str| -> AppError { stage.app().folder().open_bucket(address).unwrap_err() };
    let moved = Fault::error(301, "PermanentRedirect").header("x-amz-bucket-region", "eu-west-1");
    for (fault, words) in [
        (Fault::error(403, "AccessDenied"), "s3:ListBucket"),
        (moved, "AWS_REGION=eu-west-1"),
        (Fault::error(403, "InvalidAccessKeyId"), "AWS_SECRET_ACCESS_KEY"),
        (
            Fault { status: 200, headers: String::new(), body: "<html>Sign in</html>".to_owned() },
            "not a listing",
        ),
    ] {
        server.fail_next([fault]);
        let text = tried(ADDRESS).to_string();
        assert!(
            text.contains(words) && !text.contains("canary") && !text.contains("testtest"),
            "{text}"
        );
    }
    assert_eq!(tried("s3://nowhere/x").code, Code::NotFound);
    let text = tried("s3://me:canary@bucket/x").to_string();
    assert!(text.contains("was not used") && !text.contains("canary"), "{text}");
    let nobody = Stage::new("http://127.0.0.1:9");
    let text = nobody.app().folder().open_bucket(ADDRESS).unwrap_err().to_string();
    assert!(text.contains("Cannot reach 127.0.0.1:9"), "{text}");
    // An address that was never opened leaves no copy that is listed.
    assert!(nobody.app().folder().folders(false, true).recent.is_empty());
    assert!(
        nobody.app().folder().bucket_copies().is_empty()
            && stage.app().folder().bucket_copies().is_empty()
    );
}

#[test]
fn a_server_in_trouble_is_waited_for_while_everything_stays_on_the_screen() {
    let server = S3Server::start();
    server.put("a.yaml", RUN);
    server.put("b.yaml", RUN);
    let stage = Stage::new(&server.endpoint);
    let app = stage.app();
    server.fail_next([Fault::error(503, "SlowDown")]);
    app.folder().open_bucket("s3://bucket").unwrap();
    wait_for(&app, &["a.yaml", "b.yaml"]);
    wait_checked(&app);
    server.outage(Some(Fault::error(503, "SlowDown")));
    let busy = wait_until("it is said", || Some(bucket(&app)).filter(|now| now.problem.is_some()));
    assert!(busy.problem.unwrap().contains("slow down"));
    assert_eq!(files(&app).len(), 2);
    server.outage(Some(Fault::error(403, "ExpiredToken")));
    wait_until("it is said", || {
        bucket(&app).problem.filter(|why| why.contains("not valid any more"))
    });
    assert_eq!(files(&app).len(), 2);
    // A copy opens without its server, too.
    drop(app);
    let app = stage.app();
    app.folder().open_bucket("s3://bucket").unwrap();
    wait_for(&app, &["a.yaml", "b.yaml"]);
    wait_until("it is said", || bucket(&app).problem);
    server.outage(None);
    server.put("c.yaml", RUN);
    drop(app);
    let app = stage.app();
    app.folder().open_bucket("s3://bucket").unwrap();
    wait_for(&app, &["a.yaml", "b.yaml", "c.yaml"]);
}

#[test]
fn a_copy_that_was_stopped_goes_on_where_it_was() {
    let server = S3Server::start();
    for n in 0..2_500 {
        server.put(&format!("r/{n:05}.yaml"), RUN);
    }
    let stage = Stage::new(&server.endpoint);
    let app = stage.app();
    app.folder().open_bucket("s3://bucket").unwrap();
    wait_until("a part is copied", || (bucket(&app).copied > 300).then_some(()));
    app.folder().close_folder().unwrap();
    let first = server.requests_seen().1.len();
    assert!(first < 2_500, "it was not stopped in time");
    app.folder().open_whole_bucket("s3://bucket", |_| {}).unwrap();
    let second = server.requests_seen().1.len();
    // What was on its way when it was stopped is fetched again.
    assert!(first + second <= 2_500 + 16 + 200, "{first} and {second}");
    let now = bucket(&app);
    assert_eq!((now.copied, now.total, now.complete), (2_500, 2_500, true));
    app.folder().wait_ready(DEADLINE).unwrap();
    assert_eq!(app.folder().status().counts.runs, 2_500);
    // Another process reads the copy while this one keeps it.
    app.folder().open_bucket("s3://bucket").unwrap();
    // A command lists everything, and fetches only what changed.
    server.put("r/00007.yaml", "conversation: []\n");
    server.requests_seen();
    let other = stage.app();
    drop(app);
    other.folder().open_whole_bucket("s3://bucket", |_| {}).unwrap();
    assert_eq!(server.requests_seen(), (4, vec!["r/00007.yaml".to_owned()]));
}

#[test]
fn a_second_process_reads_the_copy_that_the_first_one_keeps() {
    let server = S3Server::start();
    server.put("a.yaml", RUN);
    let stage = Stage::new(&server.endpoint);
    let (one, other) = (stage.app(), stage.app());
    one.folder().open_bucket("s3://bucket").unwrap();
    wait_checked(&one);
    // What it does not know yet is waited for.
    server.put("b.yaml", RUN);
    other.folder().open_whole_bucket("s3://bucket", |_| {}).unwrap();
    other.folder().wait_ready(DEADLINE).unwrap();
    assert_eq!(files(&other), ["a.yaml", "b.yaml"]);
    assert!(bucket(&other).elsewhere && !bucket(&one).elsewhere);
    let error = other.folder().delete_bucket_copies("s3://bucket").unwrap_err();
    assert!(error.message.contains("open in another"), "{error}");
    drop((one, other));
    let app = stage.app();
    assert_eq!(app.folder().bucket_copies()[0].address, "s3://bucket");
    assert!(app.folder().delete_bucket_copies("s3://bucket").unwrap().files > 0);
    assert!(app.folder().bucket_copies().is_empty());
}

#[test]
fn a_bucket_is_never_written_to_and_the_refusal_says_what_to_do() {
    let server = S3Server::start();
    server.put("team/results/a.yaml", RUN);
    let stage = Stage::new(&server.endpoint);
    let app = stage.app();
    app.folder().open_bucket(ADDRESS).unwrap();
    wait_for(&app, &["a.yaml"]);
    let id = rows(&app).remove(0).id;
    let review = says(Verdict::Right);
    let copy = fs::read_dir(stage.cache().join("buckets")).unwrap().next().unwrap().unwrap().path();
    let baseline = app.reports().baseline_path().unwrap();
    assert!(baseline.starts_with(fs::canonicalize(&copy).unwrap()), "{baseline:?}");
    let refused = [
        app.reports().save_baseline(None, None, true).unwrap_err(),
        app.folder().refuse_among_results(&baseline).unwrap_err(),
        app.folder().refuse_among_results(&copy.join("report.md")).unwrap_err(),
        app.evaluations().make_rows("", false).unwrap_err(),
        app.reviews().review_run(&id, Some(&review)).unwrap_err(),
        app.labels().save_label(None, "mine", "state:error").unwrap_err(),
        app.launches().fork_run(&id, &ForkRequest::new(0, None)).unwrap_err(),
        app.folder().open_to_run(Path::new(ADDRESS), None, None).unwrap_err(),
        app.folder().open_to_run(Path::new("."), None, Some(Path::new(ADDRESS))).unwrap_err(),
    ];
    for error in refused {
        assert!(error.message.contains("is only read"), "{error}");
        assert!(error.hint.unwrap().contains("aws s3 sync s3://bucket/team/results"));
    }
}

#[test]
fn marks_of_scans_above_the_prefix_or_that_cannot_be_read_leave_nothing_known() {
    let server = S3Server::start();
    server.put("team/results/a.yaml", RUN);
    let stage = Stage::new(&server.endpoint);
    let app = stage.app();
    app.folder().open_bucket(ADDRESS).unwrap();
    wait_checked(&app);
    let copy = fs::read_dir(stage.cache().join("buckets")).unwrap().next().unwrap().unwrap().path();
    let is_known = || copy.join("marks-known").exists();
    assert!(is_known());
    server.put("team/.touchstone/sensitive/1.json", "{}");
    wait_until("the mark is seen", || (!is_known()).then_some(()));
    server.delete("team/.touchstone/sensitive/1.json");
    wait_until("it is gone", || is_known().then_some(()));
    server.break_object("team/results/.touchstone/sensitive/1.json", Fault::error(403, "X"));
    server.put("team/results/.touchstone/sensitive/1.json", "{}");
    wait_until("it cannot be read", || (!is_known()).then_some(()));
}

#[test]
fn an_object_that_fails_is_one_problem_and_is_not_asked_for_again() {
    let server = S3Server::start();
    for key in ["a.yaml", "b.yaml", "c.yaml"] {
        server.put(key, RUN);
    }
    server.break_object("a.yaml", Fault::error(400, "InvalidRequest"));
    server.break_object("b.yaml", Fault::error(403, "AccessDenied"));
    let stage = Stage::new(&server.endpoint);
    let app = stage.app();
    app.folder().open_whole_bucket("s3://bucket", |_| {}).unwrap();
    wait_for(&app, &["c.yaml"]);
    assert_eq!(app.folder().objects_not_copied(), 2);
    drop(app);
    let app = stage.app();
    app.folder().open_bucket("s3://bucket").unwrap();
    wait_checked(&app);
    server.requests_seen();
    wait_checked(&app);
    assert_eq!(server.requests_seen().1, [""; 0]);
}

/// An S3 server of others; ended on drop.
struct Other {
    child: Child,
    endpoint: String,
}

impl Drop for Other {
    fn drop(&mut self) {
        let _ = self.child.kill();
        let _ = self.child.wait();
    }
}

fn free_port() -> u16 {
    std::net::TcpListener::bind("127.0.0.1:0").unwrap().local_addr().unwrap().port()
}

fn started(mut command: Command, port: u16) -> Option<Other> {
    let child = command.stdout(Stdio::null()).stderr(Stdio::null()).spawn().ok()?;
    let mut other = Other { child, endpoint: format!("http://127.0.0.1:{port}") };
    wait_until("the server listens, or ends", || {
        let listens = std::net::TcpStream::connect(("127.0.0.1", port)).is_ok();
        let ended = other.child.try_wait().ok().flatten().is_some();
        (listens || ended).then_some(listens)
    })
    .then_some(other)
}

/// Puts objects into a bucket of moto, which its own interface takes without a signature.
fn put(endpoint: &str, path: &str, body: &str) {
    use std::io::{Read as _, Write as _};
    let address = endpoint.trim_start_matches("http://");
    let mut stream = std::net::TcpStream::connect(address).unwrap();
    let request = format!(
        "PUT {path} HTTP/1.1\r\nHost: {address}\r\nConnection: close\r\nContent-Length: {}\r\n\r\n{body}",
        body.len()
    );
    stream.write_all(request.as_bytes()).unwrap();
    let mut reply = String::new();
    stream.read_to_string(&mut reply).unwrap();
    assert!(reply.starts_with("HTTP/1.1 200"), "{reply}");
}

#[test]
fn a_bucket_of_moto_is_read() {
    let port = free_port();
    let mut command = Command::new("moto_server");
    command.args(["-H", "127.0.0.1", "-p", &port.to_string()]);
    let Some(server) = started(command, port) else {
        return eprintln!("not run: moto_server is not installed (pip install 'moto[server,s3]')");
    };
    put(&server.endpoint, "/bucket", "");
    for n in 0..1_005 {
        put(&server.endpoint, &format!("/bucket/team/results/{n:04}%20%2B.yaml"), RUN);
    }
    let stage = Stage::new(&server.endpoint);
    let app = stage.app();
    app.folder().open_whole_bucket(ADDRESS, |_| {}).unwrap();
    app.folder().wait_ready(DEADLINE).unwrap();
    assert_eq!(app.folder().status().counts.runs, 1_005);
    assert_eq!(app.folder().open_bucket("s3://nowhere").unwrap_err().code, Code::NotFound);
    app.folder().open_bucket(ADDRESS).unwrap();
    put(&server.endpoint, "/bucket/team/results/new.yaml", RUN);
    app.folder().close_folder().unwrap();
    app.folder().open_bucket(ADDRESS).unwrap();
    wait_until("the new run", || (app.folder().status().counts.runs == 1_006).then_some(()));
}

#[test]
fn a_bucket_of_s3s_is_read_with_signatures_and_without_marks() {
    let port = free_port();
    let data = tempfile::tempdir().unwrap();
    fs::create_dir_all(data.path().join("bucket/team/results/o1")).unwrap();
    let write = |name: &str| {
        fs::write(data.path().join("bucket/team/results/o1").join(name), RUN).unwrap();
    };
    write("a.yaml");
    write("b c+é.yaml");
    let mut command = Command::new("s3s-fs");
    command.args(["--host", "127.0.0.1", "--port", &port.to_string()]);
    command.args(["--access-key", "test", "--secret-key", "testtest"]).arg(data.path());
    let Some(_server) = started(command, port) else {
        return eprintln!(
            "not run: s3s-fs is not installed (cargo install s3s-fs --features binary)"
        );
    };
    let stage = Stage::new(&format!("http://127.0.0.1:{port}"));
    let app = stage.app();
    app.folder().open_bucket(ADDRESS).unwrap();
    wait_for(&app, &["o1/a.yaml", "o1/b c+é.yaml"]);
    write("new.yaml");
    wait_for(&app, &["o1/a.yaml", "o1/b c+é.yaml", "o1/new.yaml"]);
}
