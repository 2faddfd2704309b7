//! The `python` tool: runs a program written by a model in a verified sandbox. Owns the tool's
//! description and results; submodules build, start and verify the sandbox.
mod advice;
mod argv;
mod bounds;
mod cgroup;
mod find;
mod outcome;
mod probe;
mod sandbox;
mod seccomp;
mod stream;
mod verification_cache;

pub use find::SearchPaths;
pub use probe::checks;

use super::{Called, ToolFailure, Unusable};
use crate::provider::ToolOffer;
use bounds::Excess;
use outcome::{EndCause, Seen};
use sandbox::{NotRun, Sandbox};
use std::path::Path;
use std::time::Duration;
use tokio_util::sync::CancellationToken;
use touchstone_formats::tool_offers::{PROGRAM as PARAMETER, PYTHON as NAME, USUAL};
use touchstone_model::value::Value;

/// Resource limits of a program.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct PythonLimits {
    /// Maximum wall-clock time; then the program is asked to exit.
    pub wall: Duration,
    /// Time to exit after that.
    pub grace: Duration,
    /// CPU time of each process, in whole seconds.
    pub cpu: Duration,
    /// Memory of each process, in bytes.
    pub memory: u64,
    /// Memory of all processes together, in bytes.
    pub total: u64,
    /// Maximum number of processes and threads at a time.
    pub processes: u64,
    /// Maximum number of bytes of all written files.
    pub files: u64,
    /// Maximum number of files and folders at a time.
    pub names: u64,
    /// Maximum number of bytes to keep of each output stream.
    pub output: usize,
}

impl Default for PythonLimits {
    fn default() -> Self {
        Self {
            wall: Duration::from_secs(USUAL.0),
            grace: Duration::from_secs(2),
            cpu: Duration::from_secs(20),
            memory: USUAL.1 << 20,
            total: USUAL.1 << 20,
            processes: 64,
            files: 64 << 20,
            names: 20_000,
            output: 1 << 20,
        }
    }
}

impl PythonLimits {
    /// Returns the reason that a program was ended, as the last line of its standard error.
    fn explain(&self, excess: Excess) -> String {
        match excess {
            Excess::Memory => format!(
                "\n[The program was ended: its processes held more than {} MiB of memory together.]\n",
                self.total >> 20
            ),
            Excess::Files => {
                format!(
                    "\n[The program was ended: it made more than {} files and folders.]\n",
                    self.names
                )
            }
        }
    }
}

/// The tool. It exists only with a verified sandbox.
#[derive(Debug, Clone)]
pub struct PythonTool {
    sandbox: Sandbox,
}

/// Maximum number of bytes of a program. Models write no longer ones, and storing them would be
/// costly.
const LONGEST_PROGRAM: usize = 1 << 20;

impl PythonTool {
    /// Opens the tool with a verified sandbox: looks up the verification for this boot and these
    /// binaries in the cache, and otherwise probes now. Fails if there is no working sandbox.
    pub async fn open(cache: &Path, limits: PythonLimits) -> Result<PythonTool, Unusable> {
        Self::open_in(cache, limits, &SearchPaths::default()).await
    }

    /// Like [`PythonTool::open`], but searches for bubblewrap and python in other locations.
    pub async fn open_in(
        cache: &Path,
        limits: PythonLimits,
        places: &SearchPaths,
    ) -> Result<PythonTool, Unusable> {
        let parts = find::parts(places)?;
        let sandbox = probe::verified(cache, parts, limits).await?;
        Ok(Self { sandbox })
    }

    /// Returns the tool's definition for the model.
    pub fn offer(&self) -> ToolOffer {
        let limits = &self.sandbox.limits;
        ToolOffer::python((limits.wall.as_secs(), limits.memory >> 20))
    }

    /// Runs a program and returns its outcome. If `stop` is cancelled the outcome is `killed`,
    /// which then says nothing about the program.
    pub async fn call(&self, params: &Value, stop: &CancellationToken) -> Called {
        let program = params.get(PARAMETER).and_then(Value::text);
        let program = program
            .ok_or_else(|| ToolFailure::new(format!("{NAME} needs {PARAMETER}, a string.")))?;
        if program.len() > LONGEST_PROGRAM {
            let longest = LONGEST_PROGRAM >> 20;
            return Err(ToolFailure::new(format!(
                "The program is longer than {longest} MiB. Write a shorter one."
            )));
        }
        self.run(program, stop).await
    }

    /// Like [`PythonTool::call`], for a program of any length.
    pub async fn run(&self, program: &str, stop: &CancellationToken) -> Called {
        let ran = self.sandbox.run(program, stop).await.map_err(|not_run| match not_run {
            NotRun::Refused(said) => ToolFailure::new(advice::refused(&said).message),
            NotRun::Failed(why) => ToolFailure::new(why),
        })?;
        let mut stderr = ran.stderr.text();
        if let EndCause::Excess(excess) = ran.by {
            stderr.push_str(&self.sandbox.limits.explain(excess));
        }
        let cut = ran.stdout.is_cut() || ran.stderr.is_cut();
        let seen = Seen { code: ran.code, by: ran.by, late: ran.late, cut, stderr: &stderr };
        Ok(outcome::result(seen, ran.stdout.text()))
    }
}
