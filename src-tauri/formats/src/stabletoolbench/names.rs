//! **Pure.** Names of tools, APIs and categories in function names and paths.

/// Maximum length of a function name at providers, in characters. Longer names are cut at the
/// beginning.
const LONGEST: usize = 64;
/// Name of the tool that calls an API of a pool that is too large to be offered completely; its
/// parameter `name` selects the function.
pub const CALL: &str = "call_api";
/// Name of the tool that finds functions of such a pool. It is not an API.
pub const SEARCH: &str = "search_apis";
/// Words that cannot be function names.
const RESERVED: [&str; 7] = ["from", "class", "return", "false", "true", "id", "and"];

/// Standardizes a name to lower-case letters, digits and single `_`; a name that begins with a
/// digit gets the prefix `get_`.
pub fn standardize(name: &str) -> String {
    let mut out = String::with_capacity(name.len());
    for c in name.chars() {
        let kept = c.is_ascii_alphanumeric() || c == '^' || ('\u{4e00}'..='\u{9fa5}').contains(&c);
        if kept {
            out.push(c.to_ascii_lowercase());
        } else if !out.is_empty() && !out.ends_with('_') {
            out.push('_');
        }
    }
    if out.ends_with('_') {
        out.pop();
    }
    if out.starts_with(|c: char| c.is_ascii_digit()) { format!("get_{out}") } else { out }
}

/// Returns the name unchanged, or with the prefix `is_` if it is a reserved word.
pub fn change_name(name: &str) -> String {
    if RESERVED.contains(&name) { format!("is_{name}") } else { name.to_owned() }
}

/// Returns the name of an API or parameter as used in functions, requests and paths.
pub fn api_name(name: &str) -> String {
    change_name(&standardize(name))
}

/// Returns the directory name of a category.
pub fn category(name: &str) -> String {
    let name = name.replace([' ', ',', '/'], "_");
    name.replace("__", "_")
}

/// Returns the name of an API's function, as models see it.
pub fn function_name(tool: &str, api: &str) -> String {
    let whole = whole_function_name(tool, api);
    let count = whole.chars().count();
    whole.chars().skip(count.saturating_sub(LONGEST)).collect()
}

/// Returns the name of an API's function before it is cut.
pub fn whole_function_name(tool: &str, api: &str) -> String {
    format!("{}_for_{}", api_name(api), standardize(tool))
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn names_are_small_letters_digits_and_single_strokes() {
        for (name, standard) in [
            ("Transfermarkt details", "transfermarkt_details"),
            ("  A--b__C!! ", "a_b_c"),
            ("4 get list", "get_4_get_list"),
            ("a^b", "a^b"),
            ("名字 one", "名字_one"),
            ("é", ""),
            ("", ""),
        ] {
            assert_eq!(standardize(name), standard, "{name}");
        }
        assert_eq!(
            (api_name("ID").as_str(), api_name("From").as_str(), api_name("ids").as_str()),
            ("is_id", "is_from", "ids")
        );
    }

    #[test]
    fn categories_keep_their_letters_and_lose_every_second_stroke() {
        assert_eq!(
            category("Artificial Intelligence/Machine Learning"),
            "Artificial_Intelligence_Machine_Learning"
        );
        assert_eq!(
            (category("a___b").as_str(), category("News, Media").as_str()),
            ("a__b", "News_Media")
        );
    }

    #[test]
    fn long_names_of_functions_lose_their_beginning() {
        assert_eq!(
            function_name("TheClique", "Transfermarkt details"),
            "transfermarkt_details_for_theclique"
        );
        let long = function_name(&"t".repeat(40), &"a".repeat(40));
        assert_eq!((long.len(), long.starts_with("aaaa")), (64, true));
        assert_eq!(whole_function_name(&"t".repeat(40), &"a".repeat(40)).len(), 85);
    }
}
