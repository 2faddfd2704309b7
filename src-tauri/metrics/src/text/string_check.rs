//! **Pure.** Plain text comparisons that pass or fail.

/// Comparison of an answer with a reference.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum StringCheck {
    /// The answer equals the reference exactly.
    Eq,
    /// The answer differs from the reference.
    Ne,
    /// The answer contains the reference.
    Like,
    /// The answer contains the reference, ignoring case.
    Ilike,
}

impl StringCheck {
    /// All comparisons.
    pub const ALL: [Self; 4] = [Self::Eq, Self::Ne, Self::Like, Self::Ilike];

    /// Returns the name in suites and files.
    pub fn name(self) -> &'static str {
        match self {
            Self::Eq => "eq",
            Self::Ne => "ne",
            Self::Like => "like",
            Self::Ilike => "ilike",
        }
    }

    /// Returns the comparison with this name.
    pub fn from_name(name: &str) -> Option<Self> {
        Self::ALL.into_iter().find(|check| check.name() == name)
    }

    /// Returns true if the answer passes.
    pub fn passes(self, answer: &str, reference: &str) -> bool {
        match self {
            Self::Eq => answer == reference,
            Self::Ne => answer != reference,
            Self::Like => answer.contains(reference),
            Self::Ilike => answer.to_lowercase().contains(&reference.to_lowercase()),
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn each_comparison_asks_what_its_name_says() {
        for (answer, reference, passing) in [
            ("Paris", "Paris", "eq like ilike"),
            ("It is Paris.", "Paris", "ne like ilike"),
            ("it is paris", "Paris", "ne ilike"),
            ("Paris", "It is Paris.", "ne"),
            ("ÉCOLE", "école", "ne ilike"),
            ("", "", "eq like ilike"),
            ("any", "", "ne like ilike"),
            (" Paris", "Paris", "ne like ilike"),
        ] {
            let found =
                StringCheck::ALL.into_iter().filter(|check| check.passes(answer, reference));
            let found: Vec<&str> = found.map(StringCheck::name).collect();
            assert_eq!(found.join(" "), passing, "{answer} / {reference}");
        }
        assert_eq!(StringCheck::from_name("like"), Some(StringCheck::Like));
        assert_eq!(StringCheck::from_name("LIKE"), None);
    }
}
