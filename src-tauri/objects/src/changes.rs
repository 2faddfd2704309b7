//! **Pure.** What a page of a listing says about a copy: which objects are new or changed, and which
//! are gone. Only the range of keys that the page covers counts as proved.
use super::xml::ListPage;
use super::xml::Listed;
use std::collections::BTreeMap;
use std::ops::Bound;

/// Part of the keys that is listed, below the prefix of the bucket's address.
#[derive(Debug, Clone, PartialEq, Eq, Default)]
pub(crate) struct Ask {
    /// Beginning of the keys; empty for all.
    pub(crate) prefix: String,
    /// Keys up to this one are left out.
    pub(crate) after: String,
}

/// Why a page cannot be used.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) enum BadPage {
    /// It has keys that were not asked for.
    OtherKeys,
    /// It is incomplete and does not say how to go on.
    NoEnd,
}

/// What a page covers.
#[derive(Debug, Clone, PartialEq, Eq)]
pub(crate) struct Covered {
    /// Last key of it.
    pub(crate) last: Option<String>,
    /// True if the keys are in order, so that keys which are missing between them do not exist.
    pub(crate) in_order: bool,
}

/// Checks a page against what was asked.
pub(crate) fn covered(ask: &Ask, page: &ListPage) -> Result<Covered, BadPage> {
    let keys = || page.objects.iter().map(|object| object.key.as_str());
    if keys()
        .any(|key| !key.starts_with(&ask.prefix) || (!ask.after.is_empty() && *key <= *ask.after))
    {
        return Err(BadPage::OtherKeys);
    }
    let last = keys().max().map(str::to_owned);
    // A key that is empty below the prefix would be asked for again and again.
    if page.truncated && last.as_deref().is_none_or(str::is_empty) {
        return Err(BadPage::NoEnd);
    }
    let in_order = keys().is_sorted_by(|one, other| one < other);
    if page.truncated && !in_order {
        return Err(BadPage::NoEnd);
    }
    Ok(Covered { last, in_order })
}

/// Returns the known keys that a page proves to be gone.
pub(crate) fn gone<V>(known: &BTreeMap<Box<str>, V>, ask: &Ask, page: &ListPage) -> Vec<String> {
    let Ok(covered) = covered(ask, page) else { return Vec::new() };
    let end = covered.last.filter(|_| page.truncated);
    let mut listed: Vec<&str> = page.objects.iter().map(|object| object.key.as_str()).collect();
    listed.sort_unstable();
    let start = ask.after.as_str().max(ask.prefix.as_str());
    let start = if ask.after.is_empty() { Bound::Included(start) } else { Bound::Excluded(start) };
    known
        .range::<str, _>((start, Bound::Unbounded))
        .map(|(key, _)| &**key)
        .take_while(|key| key.starts_with(&ask.prefix) || **key < *ask.prefix)
        .take_while(|key| end.as_ref().is_none_or(|end| *key <= end.as_str()))
        .filter(|key| key.starts_with(&ask.prefix) && listed.binary_search(key).is_err())
        .map(str::to_owned)
        .collect()
}

/// Returns the listed objects that a copy does not have in this version.
pub(crate) fn changed<V>(
    known: &BTreeMap<Box<str>, V>,
    page: Vec<Listed>,
    is_version: impl Fn(&V, &Listed) -> bool,
) -> Vec<Listed> {
    let is_new = |object: &Listed| {
        known.get(object.key.as_str()).is_none_or(|version| !is_version(version, object))
    };
    page.into_iter().filter(is_new).collect()
}

#[cfg(test)]
mod tests {
    use super::*;

    fn page(keys: &[&str], truncated: bool) -> ListPage {
        let object = |key: &&str| Listed { key: (*key).to_owned(), ..Listed::default() };
        ListPage { objects: keys.iter().map(object).collect(), truncated, ..ListPage::default() }
    }

    fn ask(prefix: &str, after: &str) -> Ask {
        Ask { prefix: prefix.to_owned(), after: after.to_owned() }
    }

    #[test]
    fn only_what_a_page_covers_is_proved_to_be_gone() {
        let known: BTreeMap<Box<str>, u8> =
            ["a", "b/1", "b/2", "b/3", "c"].map(|key| (key.into(), 0)).into();
        for (asked, listed, truncated, expected) in [
            (ask("", ""), vec!["a", "b/1", "b/2", "b/3", "c"], false, vec![]),
            (ask("", ""), vec!["a", "b/2"], true, vec!["b/1"]),
            (ask("", ""), vec!["a", "b/2"], false, vec!["b/1", "b/3", "c"]),
            (ask("", "b/1"), vec!["b/3"], true, vec!["b/2"]),
            (ask("", "b/2"), vec![], false, vec!["b/3", "c"]),
            (ask("b/", ""), vec!["b/9"], false, vec!["b/1", "b/2", "b/3"]),
            (ask("b/", "b/1"), vec!["b/2"], true, vec![]),
            (ask("b/", "b/2"), vec![], false, vec!["b/3"]),
            (ask("", ""), vec![], false, vec!["a", "b/1", "b/2", "b/3", "c"]),
            // A page that cannot be right proves nothing.
            (ask("", ""), vec![], true, vec![]),
            (ask("", "b/1"), vec!["a", "c"], false, vec![]),
            (ask("b/", ""), vec!["c"], false, vec![]),
            // Out of order, but all there is.
            (ask("", ""), vec!["c", "a"], false, vec!["b/1", "b/2", "b/3"]),
            (ask("", ""), vec!["c", "a"], true, vec![]),
        ] {
            assert_eq!(
                gone(&known, &asked, &page(&listed, truncated)),
                expected,
                "{asked:?} {listed:?}"
            );
        }
    }

    #[test]
    fn a_server_that_does_not_go_on_where_it_was_asked_to_is_found_out() {
        assert_eq!(covered(&ask("", "m"), &page(&["a"], true)), Err(BadPage::OtherKeys));
        assert_eq!(covered(&ask("x/", ""), &page(&["y"], false)), Err(BadPage::OtherKeys));
        assert_eq!(covered(&ask("", ""), &page(&[], true)), Err(BadPage::NoEnd));
        assert_eq!(covered(&ask("", ""), &page(&[""], true)), Err(BadPage::NoEnd));
        assert_eq!(covered(&ask("", ""), &page(&["b", "a"], true)), Err(BadPage::NoEnd));
        let fits = covered(&ask("", "a"), &page(&["b", "c"], true)).unwrap();
        assert_eq!((fits.last.as_deref(), fits.in_order), (Some("c"), true));
    }

    #[test]
    fn objects_of_another_version_are_fetched() {
        let known: BTreeMap<Box<str>, u64> = [("a".into(), 1), ("b".into(), 2)].into();
        let object = |key: &str, size| Listed { key: key.to_owned(), size, ..Listed::default() };
        let listed = vec![object("a", 1), object("b", 1), object("c", 1)];
        let changed = changed(&known, listed, |size, object| *size == object.size);
        let keys: Vec<&str> = changed.iter().map(|object| object.key.as_str()).collect();
        assert_eq!(keys, ["b", "c"]);
    }
}
