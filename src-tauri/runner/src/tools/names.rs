//! **Pure.** Names of tools as providers take them: letters, digits, `_` and `-`, at most 64. Two
//! tools never get the same.
use std::collections::{BTreeSet, HashMap};
use xxhash_rust::xxh3::xxh3_64;

const LONGEST: usize = 64;

/// A tool and the name that models see.
#[derive(Debug, Clone, PartialEq, Eq)]
pub(super) struct Named {
    /// What the server calls it.
    pub own: String,
    /// What models call it.
    pub offered: String,
}

/// Names for tools, in their order. A name that can stay as it is does; another one gets a mark of
/// its own, so that the same tool has the same name in every run whatever else the server offers.
pub(super) fn offered(own: &[&str], prefix: &str) -> Vec<Named> {
    let whole = |name: &str| format!("{prefix}{name}");
    let mut taken: BTreeSet<String> =
        own.iter().map(|name| whole(name)).filter(|name| is_valid(name)).collect();
    let mut named: Vec<Named> = Vec::new();
    let mut known: HashMap<&str, String> = HashMap::new();
    for own in own {
        let offered = known.entry(own).or_insert_with(|| {
            let name = whole(own);
            if is_valid(&name) { name } else { marked(&name, &mut taken) }
        });
        named.push(Named { own: (*own).to_owned(), offered: offered.clone() });
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
    // The mark depends on the name alone; a second try is only needed when two marks are the same
    // by chance.
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

    fn given(own: &[&str], prefix: &str) -> Vec<String> {
        offered(own, prefix).into_iter().map(|named| named.offered).collect()
    }

    #[test]
    fn a_valid_name_stays_and_another_gets_a_mark() {
        insta::assert_snapshot!(given(&["echo", "files/read", "files read", "été", ""], "").join("\n"), @r#"
        echo
        files_read_011484d1
        files_read_65bc707f
        _t__4527085b
        _2d068005
        "#);
        assert_eq!(given(&["echo"], "tickets_"), ["tickets_echo"]);
    }

    proptest! {
        #[test]
        fn names_are_valid_and_never_shared(own in prop::collection::btree_set(".{0,80}|[a-z./ _]{1,4}", 1..20), prefix in "[a-z.]{0,70}") {
            let own: Vec<&str> = own.iter().map(String::as_str).collect();
            let names = given(&own, &prefix);
            prop_assert!(names.iter().all(|name| is_valid(name)), "{names:?}");
            prop_assert_eq!(names.iter().collect::<BTreeSet<_>>().len(), own.len());
        }
    }
}
