//! **Pure.** Plans what a check of a bucket asks: at most ten requests, of which one is for the feed of
//! segments. The others go round all keys page by page; where these do not fit into one check, a part
//! of them looks at the folders that changed last.
use super::changes::Ask;

/// Maximum number of requests of a check.
pub(crate) const REQUESTS: usize = 10;
/// Number of keys on a page.
pub(crate) const PAGE: usize = 1_000;
/// Number of folders that are looked at more often than others.
const HOT: usize = 4;

#[derive(Debug, Clone, PartialEq, Eq)]
struct Hot {
    folder: String,
    after: String,
}

/// Where the checks of a bucket are.
#[derive(Debug, Default)]
pub(crate) struct Rounds {
    after: String,
    hot: Vec<Hot>,
}

impl Rounds {
    /// Returns what the next check asks about folders that changed last. Nothing if one check covers
    /// `known` objects anyway.
    pub(crate) fn hot(&self, known: usize) -> Vec<Ask> {
        if known / PAGE + 1 < REQUESTS {
            return Vec::new();
        }
        let ask = |hot: &Hot| Ask { prefix: hot.folder.clone(), after: hot.after.clone() };
        self.hot.iter().map(ask).collect()
    }

    /// Returns what is next on the way round all keys.
    pub(crate) fn next(&self) -> Ask {
        Ask { prefix: String::new(), after: self.after.clone() }
    }

    /// Notes how far the way round all keys went. Returns true at its end.
    pub(crate) fn went(&mut self, last: Option<&str>, truncated: bool) -> bool {
        last.filter(|_| truncated).unwrap_or_default().clone_into(&mut self.after);
        !truncated
    }

    /// Notes how far the look at a folder went.
    pub(crate) fn went_hot(&mut self, folder: &str, last: Option<&str>, truncated: bool) {
        if let Some(hot) = self.hot.iter_mut().find(|hot| hot.folder == folder) {
            last.filter(|_| truncated).unwrap_or_default().clone_into(&mut hot.after);
        }
    }

    /// Notes that an object changed: its folder is looked at first.
    pub(crate) fn changed(&mut self, key: &str) {
        let folder = folder(key);
        let hot = match self.hot.iter().position(|hot| hot.folder == folder) {
            Some(0) => return,
            Some(at) => self.hot.remove(at),
            None => Hot { folder: folder.to_owned(), after: String::new() },
        };
        self.hot.insert(0, hot);
        self.hot.truncate(HOT);
    }
}

/// Returns the folder of a key, with a slash at its end.
fn folder(key: &str) -> &str {
    key.rfind('/').map_or("", |at| &key[..=at])
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_small_bucket_is_covered_by_each_check() {
        let mut rounds = Rounds::default();
        rounds.changed("a/1");
        assert!(rounds.hot(8_999).is_empty());
        assert_eq!(rounds.next(), Ask::default());
        assert!(!rounds.went(Some("k"), true));
        assert_eq!(rounds.next().after, "k");
        assert!(rounds.went(Some("z"), false));
        assert_eq!(rounds.next(), Ask::default());
    }

    #[test]
    fn the_folders_of_a_large_bucket_that_changed_last_are_looked_at_first() {
        let mut rounds = Rounds::default();
        for key in ["a/1", "b/1", "c/1", "top", "d/1", "b/2"] {
            rounds.changed(key);
        }
        let folders = |rounds: &Rounds| {
            rounds.hot(9_000).into_iter().map(|ask| ask.prefix).collect::<Vec<_>>()
        };
        assert_eq!(folders(&rounds), ["b/", "d/", "", "c/"]);
        rounds.went_hot("d/", Some("d/999"), true);
        rounds.changed("d/5");
        let first = rounds.hot(9_000).remove(0);
        assert_eq!((first.prefix.as_str(), first.after.as_str()), ("d/", "d/999"));
        rounds.went_hot("d/", None, false);
        assert_eq!(rounds.hot(9_000)[0].after, "");
        assert!(rounds.hot(9_000).len() + 1 < REQUESTS);
    }
}
