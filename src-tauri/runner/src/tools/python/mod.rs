//! The `python` tool: runs a program that a model wrote, in a sandbox that was seen to hold. Owns
//! what the model is told of it and what it gets back; how the sandbox is built, started and
//! verified lies in the files beside this one.
mod advice;
mod argv;
mod bounds;
mod cgroup;
mod find;
mod outcome;
mod probe;
mod remembered;
mod sandbox;
mod seccomp;
mod stream;

pub use find::Places;
pub use probe::checks;

use super::{Called, ToolFailure, Unusable};
use crate::provider::Offer;
use bounds::Excess;
use outcome::{By, Seen};
use sandbox::{NotRun, Sandbox};
use std::path::Path;
use std::time::Duration;
use tokio_util::sync::CancellationToken;
use touchstone_formats::offered::{PROGRAM as PARAMETER, PYTHON as NAME, USUAL};
use touchstone_formats::value::Value;

/// What a program may use.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct PythonLimits {
    /// How long it may take in all; then it is asked to end.
    pub wall: Duration,
    /// How long it may take to end.
    pub grace: Duration,
    /// Computing time of each of its processes, in whole seconds.
    pub cpu: Duration,
    /// Memory of each of its processes, in bytes.
    pub memory: u64,
    /// Memory of all of its processes together, in bytes.
    pub total: u64,
    /// Processes and threads at a time.
    pub processes: u64,
    /// Bytes of all files it writes.
    pub files: u64,
    /// Files and folders that may exist at a time.
    pub names: u64,
    /// Bytes that are kept of each of its outputs.
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
    /// Says why a program was ended, as the last line of its standard error.
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

/// The tool. There is one only when its sandbox was verified.
#[derive(Debug, Clone)]
pub struct PythonTool {
    sandbox: Sandbox,
}

/// Longer programs are not written by models, and would be a burden to keep.
const LONGEST_PROGRAM: usize = 1 << 20;

impl PythonTool {
    /// The tool, once its sandbox is verified: found in the cache for this boot and these binaries,
    /// else probed now. No sandbox, no tool.
    pub async fn open(cache: &Path, limits: PythonLimits) -> Result<PythonTool, Unusable> {
        Self::open_in(cache, limits, &Places::default()).await
    }

    /// The same, with bubblewrap and python looked for in other places.
    pub async fn open_in(
        cache: &Path,
        limits: PythonLimits,
        places: &Places,
    ) -> Result<PythonTool, Unusable> {
        let parts = find::parts(places)?;
        let sandbox = probe::verified(cache, parts, limits).await?;
        Ok(Self { sandbox })
    }

    /// The tool as a model is told of it.
    pub fn offer(&self) -> Offer {
        let limits = &self.sandbox.limits;
        Offer::python((limits.wall.as_secs(), limits.memory >> 20))
    }

    /// Runs a program and says how it ended. When `stop` is cancelled the outcome is `killed`:
    /// whoever cancelled it knows that this says nothing about the program.
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

    /// The same for a program of any length.
    pub async fn run(&self, program: &str, stop: &CancellationToken) -> Called {
        let ran = self.sandbox.run(program, stop).await.map_err(|not_run| match not_run {
            NotRun::Refused(said) => ToolFailure::new(advice::refused(&said).message),
            NotRun::Failed(why) => ToolFailure::new(why),
        })?;
        let mut stderr = ran.stderr.text();
        if let By::Excess(excess) = ran.by {
            stderr.push_str(&self.sandbox.limits.explain(excess));
        }
        let cut = ran.stdout.is_cut() || ran.stderr.is_cut();
        let seen = Seen { code: ran.code, by: ran.by, late: ran.late, cut, stderr: &stderr };
        Ok(outcome::result(seen, ran.stdout.text()))
    }
}
