//! **Pure.** Unique tool names in the form that providers accept: letters, digits, `_` and `-`, at
//! most 64 characters.
use std::collections::{BTreeSet, HashMap};
use xxhash_rust::xxh3::xxh3_64;

const LONGEST: usize = 64;

/// A tool's original name, and the name offered to models.
#[derive(Debug, Clone, PartialEq, Eq)]
pub(super) struct ToolName {
    /// Name on the server.
    pub own: String,
    /// Name offered to models.
    pub offered: String,
}

/// Returns names for tools, in the same order. Valid names are unchanged. Other names are made
/// valid and get a suffix computed from the name, which is the same in every run, whatever other
/// tools the server offers.
pub(super) fn offered(own: &[&str], prefix: &str) -> Vec<ToolName> {
    let whole = |name: &str| format!("{prefix}{name}");
    let mut taken: BTreeSet<String> =
        own.iter().map(|name| whole(name)).filter(|name| is_valid(name)).collect();
    let mut named: Vec<ToolName> = Vec::new();
    let mut known: HashMap<&str, String> = HashMap::new();
    for own in own {
        let offered = known.entry(own).or_insert_with(|| {
            let name = whole(own);
            if is_valid(&name) { name } else { marked(&name, &mut taken) }
        });
        named.push(ToolName { own: (*own).to_owned(), offered: offered.clone() });
    }
    named
}

fn is_valid(name: &str) -> bool {
    (1..=LONGEST).contains(&name.len()) && name.bytes().all(is_fine)
}

fn is_fine(letter: u8) -> bool {
    letter.is_ascii_alphanumeric() || matches!(letter, b'_' | b'-')
}

fn marked(name: &str, taken: &mut BTreeSet<String>) -> String {
    let plain = name.chars().map(|c| if u8::try_from(c).is_ok_and(is_fine) { c } else { '_' });
    let plain: String = plain.take(LONGEST - 9).collect();
    // The suffix depends only on the name; a further attempt is needed only for a hash collision.
    let mut tries = (0_u32..).map(|turn| {
        let mark = if turn == 0 {
            xxh3_64(name.as_bytes())
        } else {
            xxh3_64(format!("{turn}\0{name}").as_bytes())
        };
        format!("{plain}_{:08x}", mark >> 32)
    });
    tries.find(|name| taken.insert(name.clone())).unwrap_or(plain)
}

#[cfg(test)]
mod tests {
    use super::*;
    use proptest::prelude::*;

    fn offered_names(own: &[&str], prefix: &str) -> Vec<String> {
        offered(own, prefix).into_iter().map(|named| named.offered).collect()
    }

    #[test]
    fn a_valid_name_stays_and_another_gets_a_mark() {
        insta::assert_snapshot!(offered_names(&["echo", "files/read", "files read", "été", ""], "").join("\n"), @r#"
        echo
        files_read_011484d1
        files_read_65bc707f
        _t__4527085b
        _2d068005
        "#);
        assert_eq!(offered_names(&["echo"], "tickets_"), ["tickets_echo"]);
    }

    proptest! {
        #[test]
        fn names_are_valid_and_never_shared(own in prop::collection::btree_set(".{0,80}|[a-z./ _]{1,4}", 1..20), prefix in "[a-z.]{0,70}") {
            let own: Vec<&str> = own.iter().map(String::as_str).collect();
            let names = offered_names(&own, &prefix);
            prop_assert!(names.iter().all(|name| is_valid(name)), "{names:?}");
            prop_assert_eq!(names.iter().collect::<BTreeSet<_>>().len(), own.len());
        }
    }
}
