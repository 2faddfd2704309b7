//! Texts of red team scans, which commands leave out unless they are asked for.
use super::amounts::counted;
use clap::Args;
use std::io::{self, Write as _};

/// Option that includes texts of attacks.
#[derive(Debug, Clone, Copy, Args)]
pub(super) struct SensitiveArgs {
    /// Print texts of red team scans, which are left out otherwise
    #[arg(long)]
    pub(super) include_sensitive: bool,
}

/// Prints how many runs had texts that were left out; nothing if there were none.
pub(super) fn tell_left_out(runs: u64) {
    if runs > 0 {
        let _ = writeln!(
            io::stderr(),
            "Texts of a red team scan were left out of {}. Add --include-sensitive to print them.",
            counted(runs, "run")
        );
    }
}
