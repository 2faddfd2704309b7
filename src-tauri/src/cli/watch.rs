//! Follows a launch on a terminal: a progress bar and one line for each completed run, or one JSON
//! event per line for programs. On Ctrl-C, requests in flight are completed; a second Ctrl-C aborts
//! them.
use super::{
    CommandError, CommandStatus, Outcome, amounts::counted, skipped_runs::SkippedRuns,
    terminal::one_line,
};
use crate::signals::EndSignals;
use indicatif::{ProgressBar, ProgressDrawTarget, ProgressStyle};
use std::io::{self, IsTerminal as _, Write as _};
use std::sync::Arc;
use std::sync::atomic::{AtomicBool, AtomicU32, Ordering};
use std::sync::mpsc::{self, RecvTimeoutError};
use std::time::{Duration, Instant};
use touchstone_api::{LaunchState, LaunchView, Launched, PlannedRun, Span};
use touchstone_app::App;
use touchstone_app::error::{AppError, Code};
use touchstone_runner::{
    event::{Ending, RunEvent, RunEventKind},
    launch::Listener,
};

/// Interval at which signals are polled.
const GLANCE: Duration = Duration::from_millis(100);
/// Delay after which the user is told that tools are being opened.
const LONG: Duration = Duration::from_secs(1);

/// Starts a launch and waits for its end. Skipped runs are reported, and count as failures unless
/// another process is executing them.
pub(super) fn launch(
    app: &App,
    json: bool,
    start: impl FnOnce(Vec<Listener>) -> Result<(Launched, Vec<PlannedRun>), AppError> + Send,
) -> Outcome {
    let bar = if json { None } else { Some(bar()) };
    let unread = Arc::new(AtomicBool::new(false));
    let noticed = Arc::clone(&unread);
    let listener: Listener = match &bar {
        None => Box::new(move |events| {
            if events.iter().try_for_each(print).is_err() {
                noticed.store(true, Ordering::Relaxed);
            }
        }),
        Some(bar) => {
            let bar = bar.clone();
            Box::new(move |events| events.iter().for_each(|event| draw(&bar, event)))
        }
    };
    let interrupts = Interrupts::listen()?;
    let (launched, left) = match begin(app, &interrupts, || start(vec![listener])) {
        Ok((launched, left)) => (launched, SkippedRuns(left)),
        Err(why) if interrupts.count() > 0 => {
            writeln!(io::stderr(), "{why}")?;
            return Ok(CommandStatus::WithFailures);
        }
        Err(why) => return Err(why.into()),
    };
    match &bar {
        Some(bar) => left.lines().for_each(|line| say(bar, &line)),
        // A closed output stops the launch, here and later, because runs cost money.
        None => {
            unread.fetch_or(left.print(&mut io::stdout().lock()).is_err(), Ordering::Relaxed);
        }
    }
    stay(app, &launched.launch, &interrupts, &unread, bar.as_ref())?;
    if let Some(bar) = &bar {
        bar.finish_and_clear();
    }
    let view = app.launches().view(&launched.launch, Span { offset: 0, limit: 0 })?;
    if !json {
        writeln!(io::stdout(), "{}{}", summary(&view), left_out(left.failed()))?;
    }
    let well = view.state == LaunchState::Done && view.failed == 0 && left.failed() == 0;
    Ok(if well { CommandStatus::Well } else { CommandStatus::WithFailures })
}

/// Waits for the end of a launch. Stops it on a signal, or when its output is closed.
fn stay(
    app: &App,
    launch: &str,
    interrupts: &Interrupts,
    unread: &AtomicBool,
    bar: Option<&ProgressBar>,
) -> Result<(), CommandError> {
    let mut stopped = 0;
    loop {
        // Also counts signals received while tools were being opened.
        let asked = interrupts.count();
        if asked > stopped {
            stopped = asked;
            app.launches().stop_launch(launch, stopped > 1)?;
            let words = if stopped > 1 {
                "Stopping now."
            } else {
                "Stopping: calls in flight finish first. Press Ctrl-C again to abort them."
            };
            match bar {
                Some(bar) => bar.println(words),
                None => drop(writeln!(io::stderr(), "{words}")),
            }
        }
        if app.launches().wait_launch(launch, GLANCE)? {
            return Ok(());
        }
        if unread.swap(false, Ordering::Relaxed) {
            // The process that requested the runs is gone, and runs cost money.
            app.launches().stop_launch(launch, false)?;
        }
    }
}

/// Starts a launch on a separate thread, because tools may take long to open and the user may press
/// Ctrl-C meanwhile.
fn begin<T: Send>(
    app: &App,
    interrupts: &Interrupts,
    start: impl FnOnce() -> Result<T, AppError> + Send,
) -> Result<T, AppError> {
    let (tell, told) = mpsc::channel();
    std::thread::scope(|scope| {
        let starting = scope.spawn(move || tell.send(start()));
        let (since, mut is_said) = (Instant::now(), false);
        loop {
            match told.recv_timeout(GLANCE) {
                Ok(launched) => return launched,
                Err(RecvTimeoutError::Timeout) => {}
                Err(RecvTimeoutError::Disconnected) => {
                    // Joining keeps the scope from repeating the panic of that thread on this one.
                    drop(starting.join());
                    let why = "An internal error kept the runs from starting. Try again.";
                    return Err(AppError::new(Code::Failed, why));
                }
            }
            if !is_said && since.elapsed() > LONG {
                is_said = true;
                let _ = writeln!(io::stderr(), "Tools are being opened. Press Ctrl-C to stop.");
            }
            if interrupts.count() > 0 {
                // Repeated on every poll, since the launch may not have reached the tools at the
                // first one.
                app.launches().stop_opening();
            }
        }
    })
}

/// End signals, counted on a separate thread.
pub(super) struct Interrupts(Arc<AtomicU32>);

impl Interrupts {
    pub(super) fn listen() -> Result<Self, AppError> {
        let count = Arc::new(AtomicU32::new(0));
        let counted = Arc::clone(&count);
        let broken = |why: io::Error| {
            AppError::new(Code::Failed, format!("Signals cannot be listened to: {why}."))
        };
        let runtime =
            tokio::runtime::Builder::new_current_thread().enable_all().build().map_err(broken)?;
        let entered = runtime.enter();
        let mut signals = EndSignals::listen().map_err(broken)?;
        drop(entered);
        std::thread::spawn(move || {
            runtime.block_on(async {
                loop {
                    signals.next().await;
                    counted.fetch_add(1, Ordering::Relaxed);
                }
            });
        });
        Ok(Self(count))
    }

    pub(super) fn count(&self) -> u32 {
        self.0.load(Ordering::Relaxed)
    }
}

fn bar() -> ProgressBar {
    let target = if io::stderr().is_terminal() {
        ProgressDrawTarget::stderr()
    } else {
        ProgressDrawTarget::hidden()
    };
    let style = ProgressStyle::with_template("{bar:30} {pos}/{len}  {elapsed}  {msg}");
    ProgressBar::with_draw_target(Some(0), target)
        .with_style(style.unwrap_or_else(|_| ProgressStyle::default_bar()))
}

/// Prints an event as one JSON line.
fn print(event: &RunEvent) -> io::Result<()> {
    let line = serde_json::to_string(event).map_err(io::Error::from)?;
    writeln!(io::stdout().lock(), "{line}")
}

fn draw(bar: &ProgressBar, event: &RunEvent) {
    let path = event.run.as_deref().map(one_line).unwrap_or_default();
    match &event.what {
        RunEventKind::Began { runs } => bar.set_length(*runs),
        RunEventKind::Ended { how, why } => {
            // A stopped run, or one that never started, is not done.
            if *how != Ending::Stopped {
                bar.inc(1);
            }
            let why = why.as_deref().map(|why| format!(": {}", one_line(why))).unwrap_or_default();
            say(bar, &format!("{:<9} {path}{why}", word(*how)));
        }
        RunEventKind::Retrying { wait_ms, why, .. } => {
            bar.set_message(format!("{path} waits {} s: {}", wait_ms / 1000, one_line(why)));
        }
        RunEventKind::Noted { note } => say(bar, &one_line(note)),
        RunEventKind::Stopping { why } => say(bar, &one_line(why)),
        RunEventKind::Asking { turn } => bar.set_message(format!("{path} turn {turn}")),
        _ => {}
    }
}

/// Prints a line above the bar, or on standard error if there is no terminal and hence no bar.
fn say(bar: &ProgressBar, line: &str) {
    if bar.is_hidden() {
        let _ = writeln!(io::stderr().lock(), "{line}");
    } else {
        bar.println(line);
    }
}

fn word(how: Ending) -> &'static str {
    match how {
        Ending::Answered => "answered",
        Ending::NoAnswer => "no answer",
        Ending::Error => "error",
        Ending::Stopped => "stopped",
        Ending::Elsewhere => "elsewhere",
    }
}

fn summary(view: &LaunchView) -> String {
    let LaunchView { total, done, failed, stopped, elsewhere, tokens, cost, unpriced, .. } = view;
    let unpriced = match unpriced {
        0 => String::new(),
        1 => " and 1 reply whose cost is not known".to_owned(),
        many => format!(" and {many} replies whose cost is not known"),
    };
    let tokens = tokens.map(|tokens| format!("{tokens} tokens, ")).unwrap_or_default();
    let elsewhere = if *elsewhere > 0 {
        format!(", {elsewhere} made by another process")
    } else {
        String::new()
    };
    let why = view.why.as_deref().map(|why| format!(" {}", one_line(why))).unwrap_or_default();
    let bound = view
        .max_cost
        .filter(|_| view.unpriced > 0)
        .map(|most| format!(" {}", unbound(most)))
        .unwrap_or_default();
    format!(
        "{}: {done} done, {failed} failed, {stopped} stopped{elsewhere}. {tokens}${cost:.4}{unpriced}.{bound}{why}",
        counted(*total, "run")
    )
}

fn left_out(runs: usize) -> String {
    match runs {
        0 => String::new(),
        1 => " 1 more could not be run.".to_owned(),
        runs => format!(" {runs} more could not be run."),
    }
}

/// Describes the limits of a budget for models without a known price.
pub(super) fn unbound(most: f64) -> String {
    format!(
        "The budget of ${most} does not limit replies of unknown cost: add the `price` of the model in touchstone.yaml, and make its server report usage."
    )
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_bar_counts_what_was_done_and_not_what_was_stopped() {
        let bar = ProgressBar::hidden();
        let ended = |how| RunEvent {
            at_ms: 0,
            run: Some("a.yaml".to_owned()),
            what: RunEventKind::Ended { how, why: None },
        };
        for (how, done) in [
            (Ending::Answered, 1),
            (Ending::Stopped, 1),
            (Ending::NoAnswer, 2),
            (Ending::Error, 3),
            (Ending::Elsewhere, 4),
        ] {
            draw(&bar, &ended(how));
            assert_eq!(bar.position(), done, "{how:?}");
        }
    }
}
