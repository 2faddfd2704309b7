//! **Pure.** Nudges: messages that tell a model to continue when it stopped but never called tools
//! that it has to use.
use touchstone_scoring::missing_calls;

/// Returns the nudge, or `None` if every expected tool was called. Failed calls count. The wording
/// is given by the specification, which uses one form for one tool and for several.
pub fn message(expected: &[String], called: &[String]) -> Option<String> {
    let missing = missing_calls(expected, called);
    match missing.as_slice() {
        [] => None,
        names => Some(format!("actually use the {} tools to get the answer", names.join(", "))),
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use touchstone_formats::transcript::is_automatic;

    #[test]
    fn the_words_name_what_was_never_called() {
        let names = |text: &str| text.split_whitespace().map(str::to_owned).collect::<Vec<_>>();
        for (expected, called, words) in [
            ("", "", None),
            ("a b", "b x a", None),
            ("a b", "b", Some("actually use the a tools to get the answer")),
            ("a b", "", Some("actually use the a, b tools to get the answer")),
            ("a b c a", "c", Some("actually use the a, b tools to get the answer")),
        ] {
            let message = message(&names(expected), &names(called));
            assert!(
                message.iter().all(|message| is_automatic(message)),
                "it is told from what people send"
            );
            assert_eq!(message.as_deref(), words, "{expected} / {called}");
        }
    }
}
