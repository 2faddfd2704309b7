//! **Pure.** Resolves the function name that a model wrote.

/// Returns the index of the function with exactly this name, otherwise of the first whose name ends
/// with it. The original (`as_original`) only compares the ends: a name may match a longer one that
/// comes earlier, and an empty name matches the first.
pub fn find<'n>(
    mut names: impl Iterator<Item = &'n str> + Clone,
    wanted: &str,
    as_original: bool,
) -> Option<usize> {
    let exactly = if as_original { None } else { names.clone().position(|name| name == wanted) };
    let is_end = |name: &str| name.ends_with(wanted) && (as_original || !wanted.is_empty());
    exactly.or_else(|| names.position(is_end))
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_name_means_exactly_itself_before_it_means_the_end_of_another() {
        let names = ["advanced_search_for_x", "search_for_x", "details_for_y", "search_for_x"];
        for (wanted, ours, original) in [
            ("search_for_x", Some(1), Some(0)),
            ("details_for_y", Some(2), Some(2)),
            ("for_y", Some(2), Some(2)),
            ("", None, Some(0)),
            ("none", None, None),
        ] {
            assert_eq!(find(names.into_iter(), wanted, false), ours, "{wanted}");
            assert_eq!(find(names.into_iter(), wanted, true), original, "{wanted}");
        }
    }
}
