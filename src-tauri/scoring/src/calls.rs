//! **Pure.** Missing tool calls: expected, but never made.

/// Returns the expected tool calls that were never made, each once, in the expected order. A failed
/// call counts as made.
pub fn missing_calls(expected: &[String], called: &[String]) -> Vec<String> {
    let mut missing: Vec<String> = Vec::new();
    for name in expected {
        if !called.contains(name) && !missing.contains(name) {
            missing.push(name.clone());
        }
    }
    missing
}

#[cfg(test)]
mod tests {
    use super::*;

    fn names(text: &str) -> Vec<String> {
        text.split_whitespace().map(str::to_owned).collect()
    }

    #[test]
    fn only_expected_calls_that_never_happened_are_missing() {
        for (expected, called, missing) in [
            ("", "", ""),
            ("", "tickets", ""),
            ("tickets plans", "plans tickets plans", ""),
            ("tickets plans", "plans other", "tickets"),
            ("tickets plans tickets", "", "tickets plans"),
            ("Tickets", "tickets", "Tickets"),
        ] {
            assert_eq!(
                missing_calls(&names(expected), &names(called)),
                names(missing),
                "{expected} / {called}"
            );
        }
    }
}
