//! **Pure.** Path of the raw model replies that belong to a results file.

/// Returns the path of the file of raw replies for the results file at `path`, relative to the same
/// folder. It is in a `.touchstone` folder next to the results, so it is found whichever parent
/// folder was opened.
pub fn replies(path: &str) -> String {
    let (folder, name) = path.rsplit_once('/').map_or(("", path), |(folder, name)| (folder, name));
    let between = if folder.is_empty() { "" } else { "/" };
    format!(
        "{folder}{between}.touchstone/evaluations/{}.jsonl",
        name.strip_suffix(".json").unwrap_or(name)
    )
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn replies_lie_in_the_folder_of_the_results() {
        assert_eq!(replies("a/b/x.json"), "a/b/.touchstone/evaluations/x.jsonl");
        assert_eq!(replies("x.json"), ".touchstone/evaluations/x.jsonl");
        assert_eq!(replies("x.y"), ".touchstone/evaluations/x.y.jsonl");
    }
}
