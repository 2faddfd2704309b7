//! The engine under measurement: launches one task with many variations, with everything that a
//! real launch has.
use crate::Measure;
use crate::provider::{NUMBERED, Provider};
use fs_err as fs;
use std::fmt::Write as _;
use std::path::Path;
use std::sync::Arc;
use std::time::{Duration, Instant};
use tokio::runtime::Runtime;
use touchstone_api::{LaunchRequest, Span};
use touchstone_app::{App, AppConfig};
use touchstone_formats::{suite, workspace};
use touchstone_runner::execute::{Endpoints, Job, LaunchContext, SpendLimit, Toolbox};
use touchstone_runner::http::client::Client;
use touchstone_runner::http::limiter::Limiters;
use touchstone_runner::http::redact::Redactor;
use touchstone_runner::launch::{Launch, RunEventSender, StopTokens};
use touchstone_runner::log;
use touchstone_runner::plan::{self, MatrixSpec};
use touchstone_runner::secrets::Secrets;
use touchstone_runner::setup::Setup;
use touchstone_store::limits::Limits;

const PATIENCE: Duration = Duration::from_mins(5);
/// Number of models, so that a thousand requests are in flight at once: the requests per model are
/// limited at first.
const MODELS: u32 = 50;

pub(crate) fn runtime() -> Runtime {
    let made = tokio::runtime::Builder::new_multi_thread().enable_all().build();
    made.unwrap_or_else(|why| panic!("no runtime: {why}"))
}

pub(crate) fn run(provider: &Provider, measure: &Measure, with_index: bool) -> Duration {
    // The folder is kept until all measurements are done, since a disk that has just deleted many
    // files is slow to create new ones.
    let home = tempfile::Builder::new().disable_cleanup(true).tempdir_in(crate::work_dir());
    let home = home.unwrap_or_else(|why| panic!("no folder: {why}"));
    let models: Vec<String> = if measure.held {
        (0..MODELS).map(|n| format!("m{n}")).collect()
    } else {
        vec!["m0".to_owned()]
    };
    let each = measure.conversations / models.len() as u32;
    let written = write(&home.path().join("folder"), &provider.url(), &models, each);
    written.unwrap_or_else(|why| panic!("the folder cannot be written: {why}"));
    if with_index {
        program(provider, measure, home.path(), models)
    } else {
        alone(measure, &home.path().join("folder"), models)
    }
}

fn write(
    folder: &Path,
    url: &str,
    models: &[String],
    variations: u32,
) -> Result<(), Box<dyn std::error::Error>> {
    fs::create_dir_all(folder.join("tasks"))?;
    fs::create_dir_all(folder.join("results"))?;
    let mut workspace = "input_dir: tasks\noutput_dir: results\nmodels:\n".to_owned();
    for model in models {
        writeln!(
            workspace,
            "  {model}: {{ provider: openai, base_url: '{url}', price: {{ input: 1, output: 2 }} }}"
        )?;
    }
    workspace.push_str(
        "tools:\n  look: { kind: sql, database: 'sqlite:things.db', description: Things. }\n",
    );
    fs::write(folder.join("touchstone.yaml"), workspace)?;
    let mut task = format!("tool_calling_prompt: {NUMBERED}{{number}}.\nvariations:\n");
    for number in 0..variations {
        writeln!(task, "  - number: {number}")?;
    }
    fs::write(folder.join("tasks/count.yaml"), task)?;
    let database = rusqlite::Connection::open(folder.join("things.db"))?;
    database.execute_batch(
        "CREATE TABLE things (name TEXT, number INTEGER); INSERT INTO things VALUES ('stones', 3);",
    )?;
    Ok(())
}

fn program(provider: &Provider, measure: &Measure, home: &Path, models: Vec<String>) -> Duration {
    let app = App::new(AppConfig {
        cache_dir: home.join("cache"),
        state_dir: home.join("state"),
        demo_dir: None,
        limits: Limits::default(),
    });
    let launch = || {
        app.folder().open(&home.join("folder"))?;
        app.folder().wait_ready(PATIENCE)?;
        let systems = vec![touchstone_formats::system::System::ToolCalling.to_string()];
        let request = LaunchRequest {
            systems,
            models,
            concurrency: Some(measure.at_once),
            ..LaunchRequest::default()
        };
        let begun = Instant::now();
        Ok((begun, app.launches().start_launch(&request)?.launch))
    };
    let launched: Result<_, touchstone_app::error::AppError> = launch();
    let (begun, id) = launched.unwrap_or_else(|why| panic!("no launch: {}", why.message));
    if measure.held {
        while provider.stats().asked < u64::from(measure.conversations) {
            assert!(begun.elapsed() < PATIENCE, "only {} are under way", provider.stats().asked);
            std::thread::sleep(Duration::from_millis(20));
        }
        provider.open();
    }
    assert!(app.launches().wait_launch(&id, PATIENCE).unwrap_or(false), "the launch did not end");
    let took = begun.elapsed();
    let view = app.launches().view(&id, Span { offset: 0, limit: 0 });
    assert_eq!(view.map_or(0, |view| view.done), u64::from(measure.conversations));
    took
}

fn alone(measure: &Measure, folder: &Path, models: Vec<String>) -> Duration {
    let text = |path: &str| fs::read_to_string(folder.join(path)).unwrap_or_default();
    let read = workspace::read(&text("touchstone.yaml")).unwrap_or_else(|why| panic!("{why}"));
    let mut setup = Setup::from_workspace(&read);
    setup.rules.concurrency = measure.at_once;
    let tasks =
        suite::read(&text("tasks/count.yaml"), "count").unwrap_or_else(|why| panic!("{why}")).tasks;
    let tasks: Vec<_> = tasks.into_iter().map(Arc::new).collect();
    let wish = MatrixSpec {
        systems: vec![touchstone_formats::system::System::ToolCalling],
        models,
        ..MatrixSpec::default()
    };
    let rules = plan::Rules::default();
    let jobs: Vec<Job> = plan::matrix(&tasks, &wish)
        .slots
        .into_iter()
        .map(|slot| Job { slot, rules, message: None })
        .collect();
    let runtime = runtime();
    let secrets = Secrets::default();
    let toolbox =
        runtime.block_on(Toolbox::open(&setup, folder, &secrets, |_: &str| true, None, None));
    let (teller, events) = RunEventSender::new();
    let output_dir = folder.join("results");
    let listeners = log::listener(&output_dir, "bench", None).into_iter().collect();
    let crew = Arc::new(LaunchContext {
        output_dir,
        base: folder.to_owned(),
        keys: std::collections::HashMap::default(),
        client: Client::default(),
        limiters: Arc::<Limiters>::default(),
        redactor: Redactor::new([]),
        toolbox,
        secrets,
        teller,
        stops: StopTokens::default(),
        purse: Arc::new(SpendLimit::new(None)),
        doors: Endpoints::default(),
        setup,
    });
    let begun = Instant::now();
    let _inside = runtime.enter();
    let launch = Launch::start("bench".to_owned(), crew, jobs, events, listeners);
    assert!(launch.wait(PATIENCE), "the launch did not end");
    begun.elapsed()
}
