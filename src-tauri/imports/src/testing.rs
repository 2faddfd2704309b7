//! Files in memory, for the tests of readers.
use crate::source::{Folder, Source};
use std::collections::{BTreeMap, BTreeSet};

/// Files by their paths.
pub(crate) struct Files(BTreeMap<String, String>);

impl Files {
    pub(crate) fn new(files: &[(&str, &str)]) -> Self {
        Files(files.iter().map(|(path, text)| ((*path).to_owned(), (*text).to_owned())).collect())
    }

    /// Returns the bytes of a file.
    pub(crate) fn bytes(&self, path: &str) -> Vec<u8> {
        self.0[path].clone().into_bytes()
    }
}

impl Folder for Files {
    fn open(&self, path: &str) -> Option<Box<dyn Source + '_>> {
        Some(Box::new(self.0.get(path)?.clone().into_bytes()))
    }

    fn list(&self, folder: &str) -> Vec<String> {
        let below = |path: &String| {
            let rest = if folder.is_empty() {
                path.as_str()
            } else {
                path.strip_prefix(folder)?.strip_prefix('/')?
            };
            Some(rest.split_inclusive('/').next()?.to_owned())
        };
        self.0.keys().filter_map(below).collect::<BTreeSet<_>>().into_iter().collect()
    }
}
