//! Converts runs to converted answers of `StableToolBench`, which its own scripts and other scorers
//! can read. Needs no open folder and stores nothing.
use crate::error::{AppError, Code};
use crate::runs::reading::input_file::InputFile;
use touchstone_formats::file_kind::{FileKind, detect};
use touchstone_formats::stabletoolbench::answers::convert::{self, Converted, Defects};
use touchstone_formats::{answer_tag, names, transcript};
use touchstone_model::error::ReadError;
use touchstone_model::{answer, json};

/// Bytes of a file that are read to detect its kind.
const HEAD: usize = 16 << 10;

/// A file of converted answers under construction.
#[derive(Debug, Default)]
pub struct Conversion {
    entries: Vec<(String, touchstone_model::value::Value)>,
}

impl Conversion {
    /// Adds the run of a file: a raw answer or a transcript. Returns a note for the reader, if
    /// there is one. With `original`, reproduces the faults of the original. Fails if the file
    /// cannot be converted or its query was added before.
    pub fn add(
        &mut self,
        file: &InputFile,
        method: &str,
        original: bool,
    ) -> Result<Option<String>, AppError> {
        let name = file.name.rsplit('/').next().unwrap_or(&file.name);
        let refuse = |why: &ReadError| {
            let error = AppError::new(
                Code::BadRequest,
                format!("{} could not be converted: {why}", file.name),
            );
            match &why.advice {
                Some(advice) => error.hint(advice.clone()),
                None => error,
            }
        };
        let faults = if original { Defects::Kept } else { Defects::Mended };
        let kind = detect(name, &file.bytes[..file.bytes.len().min(HEAD)]);
        let (id, converted) = if kind == FileKind::Transcript {
            let mut run = transcript::read(&file.bytes).map_err(|why| refuse(&why))?;
            // A converted answer responds to a query in words.
            answer_tag::apply(&mut run, answer::WHOLE_MESSAGE);
            let entry = convert::of_run(&run, method, None, faults).map_err(|why| refuse(&why))?;
            let task = names::read(name, &[]).map(|at| at.task);
            (
                task.unwrap_or_else(|| convert::id(name).to_owned()),
                Converted { entry, chosen_by: None },
            )
        } else {
            let converted =
                convert::raw(&file.bytes, method, faults).map_err(|why| refuse(&why))?;
            (convert::id(name).to_owned(), converted)
        };
        if self.entries.iter().any(|(known, _)| *known == id) {
            let message =
                format!("{} answers {id}, which another file already answers.", file.name);
            let hint = "A file of converted answers holds one answer per query. Convert each method separately.";
            return Err(AppError::new(Code::BadRequest, message).hint(hint));
        }
        self.entries.push((id, converted.entry));
        let told = |rule| {
            format!("{}: the file does not mark its final path; converted {rule}.", file.name)
        };
        Ok(converted.chosen_by.map(told))
    }

    /// Returns the file, in the format of the original.
    pub fn text(self) -> String {
        json::write(&convert::file(self.entries), true)
    }
}
