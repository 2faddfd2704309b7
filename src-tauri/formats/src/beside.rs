//! **Pure.** Where raw replies of models lie beside the file of results that was made of them.

/// The file of raw replies of a file of results, by its path below any folder: it is in a folder of
/// ours next to the results, so that it is found whichever way somebody came to them.
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
