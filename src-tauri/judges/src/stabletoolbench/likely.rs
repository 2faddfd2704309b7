//! **Pure.** The document's fallback without a judge: a heuristic over words and counts.

/// Heuristic verdict on an answer that was not judged.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum HeuristicVerdict {
    /// Probably solved.
    Solved,
    /// Undecided.
    Unsure,
    /// Probably unsolved.
    Unsolved,
}

/// Words that mark an answer as an excuse.
const EXCUSES: [&str; 3] = ["sorry", "cannot", "can't"];

impl HeuristicVerdict {
    /// Estimates the verdict from the final answer, whether it was finished, and the API call
    /// score.
    pub fn estimate(answer: &str, finished: bool, api_calls: f64) -> Self {
        let lower = answer.to_lowercase();
        let length = answer.chars().count();
        if answer.trim().is_empty()
            || EXCUSES.iter().any(|word| lower.contains(word))
            || length < 20
        {
            return Self::Unsolved;
        }
        if !finished || api_calls <= 0.0 {
            return Self::Unsure;
        }
        match api_calls {
            share if share >= 0.8 && length > 50 => Self::Solved,
            share if share < 0.3 => Self::Unsolved,
            share if share < 0.7 => Self::Unsure,
            _ => Self::Solved,
        }
    }

    /// Returns the score: 1, 0.5 or 0.
    pub fn score(self) -> f64 {
        match self {
            Self::Solved => 1.0,
            Self::Unsure => 0.5,
            Self::Unsolved => 0.0,
        }
    }

    /// Returns the name in result files.
    pub fn name(self) -> &'static str {
        match self {
            Self::Solved => "Solved",
            Self::Unsure => "Unsure",
            Self::Unsolved => "Unsolved",
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use HeuristicVerdict::{Solved, Unsolved, Unsure};

    #[test]
    fn length_excuses_and_calls_decide() {
        let long = "All that you asked for is in this answer, word by word, and more.";
        for (answer, finished, api_calls, likely) in [
            ("", true, 1.0, Unsolved),
            (" \n", true, 1.0, Unsolved),
            ("I am SORRY, but nothing of this can be found at all here.", true, 1.0, Unsolved),
            ("It can't be done, whatever one tries to do about it.", true, 1.0, Unsolved),
            ("Nineteen characters", true, 1.0, Unsolved),
            ("Twenty characters ok", true, 1.0, Solved),
            ("Twenty characters ok", true, 0.69, Unsure),
            (long, true, 0.8, Solved),
            (long, true, 0.7, Solved),
            (long, true, 0.5, Unsure),
            (long, true, 0.3, Unsure),
            (long, true, 0.29, Unsolved),
            (long, true, 0.0, Unsure),
            (long, false, 1.0, Unsure),
        ] {
            assert_eq!(
                HeuristicVerdict::estimate(answer, finished, api_calls),
                likely,
                "{answer} {finished} {api_calls}"
            );
        }
    }
}
