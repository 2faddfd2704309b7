//! `clear`: deletes leftovers of old indexes and results that were replaced.
use super::ask_yes::ask_yes;
use super::{CommandStatus, FolderArgs, Outcome, folder};
use crate::Environment;
use clap::Args;
use std::io::{self, IsTerminal as _, Write as _};
use touchstone_app::error::{AppError, Code};
use touchstone_app::folder::buckets;
use touchstone_app::folder::leftovers::{Leftovers, in_words};

/// Arguments of `clear`.
#[derive(Debug, Args)]
#[command(after_help = "\
Results that were run again, and reviews and judgements that were replaced, are kept in
.touchstone/replaced of the output folder. Only this command deletes them, and it asks first, because
they include paid replies. For an address s3://BUCKET/PREFIX, the copy of the bucket in the cache is
deleted, and the bucket stays. The cache keeps one damaged or outdated index for 14 days, up to 256 MiB.")]
pub(super) struct Clear {
    #[command(flatten)]
    place: FolderArgs,
    /// Delete without asking
    #[arg(short, long)]
    yes: bool,
}

pub(super) fn run(asked: &Clear, here: &Environment) -> Outcome {
    if let Some(address) = asked.place.folder.as_deref().and_then(buckets::address_of) {
        let gone = here.engine().folder().delete_bucket_copies(address)?;
        let what = describe_leftovers(&gone);
        writeln!(io::stdout(), "Copies of the bucket: {what} deleted. The bucket is unchanged.")?;
        return Ok(CommandStatus::Well);
    }
    let app = folder::ready(asked.place.clone(), here)?;
    let mut out = io::stdout().lock();
    let indexes = app.folder().clear_old_indexes()?;
    writeln!(out, "Old indexes: {} deleted.", describe_leftovers(&indexes))?;
    let replaced = app.folder().replaced()?;
    if replaced.files == 0 {
        writeln!(out, "Replaced results: none.")?;
        return Ok(CommandStatus::Well);
    }
    let place = replaced.dir.display();
    writeln!(out, "Replaced results: {} in {place}.", describe_leftovers(&replaced))?;
    if !asked.yes {
        if !io::stdin().is_terminal() {
            return Err(AppError::new(
                Code::BadRequest,
                "Deleting replaced results needs confirmation, and there is no terminal to ask on.",
            )
            .hint("They include paid replies. Add --yes to delete them.")
            .into());
        }
        if !ask_yes(&mut out, "They include paid replies and cannot be restored. Delete them?")? {
            writeln!(out, "Nothing was deleted.")?;
            return Ok(CommandStatus::Well);
        }
    }
    let gone = app.folder().clear_replaced()?;
    writeln!(out, "{} deleted.", describe_leftovers(&gone))?;
    Ok(CommandStatus::Well)
}

fn describe_leftovers(leftovers: &Leftovers) -> String {
    match leftovers.files {
        0 => "nothing".to_owned(),
        1 => format!("1 file ({})", in_words(leftovers.bytes)),
        files => format!("{files} files ({})", in_words(leftovers.bytes)),
    }
}
