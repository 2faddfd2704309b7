//! Text files that a user names.
use crate::error::{AppError, Code};
use fs_err as fs;
use std::path::Path;

/// Reads a text file of at most `most` bytes.
pub fn read(path: &Path, most: u64) -> Result<String, AppError> {
    let size = fs::metadata(path).map_err(|error| unreadable(path, error.to_string()))?.len();
    if size > most {
        let limit = if most < 1 << 20 {
            format!("{} KB", most >> 10)
        } else {
            format!("{} MB", most >> 20)
        };
        return Err(unreadable(path, format!("it is larger than {limit}.")));
    }
    fs::read_to_string(path).map_err(|error| unreadable(path, error.to_string()))
}

/// Returns the error for a file that cannot be used. The reason is a clause.
#[expect(clippy::needless_pass_by_value, reason = "callers map errors to text")]
pub(crate) fn unreadable(path: &Path, why: String) -> AppError {
    AppError::new(Code::BadRequest, format!("{} cannot be read: {why}", path.display()))
}
