//! **Pure.** System prompt: the rules, the database schemas and the time.

use crate::search::prompts;

/// Default prompt if the workspace file has none.
const OURS: &str = "\
You answer a question about data. Use the tools to get the data; never make values up. Tools only read: they cannot change anything. \
When a tool reports an error, read it, mend your call and try again. When you have what you need, give the answer in exactly the \
format the question asks for.

The time is {now}.";

/// Added if there are databases.
const DATABASES: &str = "\n\nThese are the databases and their tables:\n\n{schemas}";

/// Fills in the system prompt. `now` is the start time of the run, which makes a resumed run send
/// the same prompt.
pub(super) fn system(
    own: Option<&str>,
    schemas: &str,
    now: &str,
    searches: bool,
    many: Option<usize>,
) -> String {
    let begin = if searches { prompts::SYSTEM } else { OURS };
    let ours = || if schemas.is_empty() { begin.to_owned() } else { [begin, DATABASES].concat() };
    let mut template = own.map_or_else(ours, str::to_owned);
    if let Some(count) = many {
        template += &prompts::MANY.replace("{count}", &count.to_string());
    }
    // The time first: a schema may hold text that looks like a placeholder.
    template.replace("{now}", now).replace("{schemas}", schemas)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_prompt_of_the_workspace_stands_in_place_of_ours() {
        assert_eq!(
            system(Some("At {now}:\n{schemas} {x}"), "t(a {now})", "noon", false, None),
            "At noon:\nt(a {now}) {x}"
        );
    }

    #[test]
    fn a_search_is_told_how_to_end_and_where_functions_are_too_many_how_to_find_them() {
        let said = system(None, "", "noon", true, Some(2490));
        assert!(
            said.contains("`Finish`") && said.contains("noon") && said.contains("2490 functions")
        );
        assert!(!system(None, "", "noon", false, None).contains("Finish"));
    }

    #[test]
    fn databases_are_spoken_of_only_where_there_are_some() {
        assert!(!system(None, "", "noon", false, None).contains("databases and"));
        assert!(system(None, "t(a)", "noon", false, None).ends_with("tables:\n\nt(a)"));
    }
}
