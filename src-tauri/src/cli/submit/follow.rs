//! Follows a submitted launch: one line whenever something changed.
use super::super::watch::Interrupts;
use super::super::{CommandStatus, Outcome};
use super::{is_active, words};
use std::io::{self, Write as _};
use std::time::{Duration, Instant};
use touchstone_api::SplitState;
use touchstone_app::App;

/// Interval between two looks.
const BETWEEN: Duration = Duration::from_secs(2);
/// Interval at which signals are polled.
const GLANCE: Duration = Duration::from_millis(50);

/// Prints the states of a launch until it ends. A signal ends the following only.
pub(super) fn follow(app: &App, launch: &str) -> Outcome {
    let interrupts = Interrupts::listen()?;
    let (mut last, mut noted) = (String::new(), None);
    loop {
        let view = app.launches().split_launch_followed(launch)?;
        let line = format!("{} · {}", words::parts(&view), words::runs(&view));
        if line != last {
            writeln!(io::stdout(), "{line}")?;
            last = line;
        }
        if view.note != noted {
            if let Some(note) = &view.note {
                writeln!(io::stderr(), "{note}")?;
            }
            noted.clone_from(&view.note);
        }
        if !is_active(&view) {
            for line in words::describe(&view) {
                writeln!(io::stdout(), "{line}")?;
            }
            let well = view.state == SplitState::Done;
            return Ok(if well { CommandStatus::Well } else { CommandStatus::WithFailures });
        }
        let until = Instant::now() + BETWEEN;
        while Instant::now() < until {
            if interrupts.count() > 0 {
                writeln!(
                    io::stdout(),
                    "The launch goes on. To see how it stands: touchstone submit --status={launch} FOLDER\n\
                     To stop it: touchstone submit --cancel={launch} FOLDER"
                )?;
                return Ok(CommandStatus::Well);
            }
            std::thread::sleep(GLANCE);
        }
    }
}
