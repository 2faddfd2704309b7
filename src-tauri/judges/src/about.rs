//! **Pure.** User-facing description of judges: their group, their requirements and their scale.
//! Scores are from 0 to 1 everywhere, with 1 the best; a judge's own scale is for display only.
use touchstone_metrics::number_format::fixed;

/// Group of judges.
#[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord)]
pub enum Group {
    /// Judges of a published benchmark.
    StableToolBench,
    /// Quality of the answer.
    Quality,
    /// Quality of the agent's work.
    Agents,
    /// Harm.
    Safety,
    /// Judges defined by suites.
    Suites,
}

impl Group {
    /// All groups, in listing order.
    pub const ALL: [Self; 5] =
        [Self::StableToolBench, Self::Quality, Self::Agents, Self::Safety, Self::Suites];

    /// Returns the display name.
    pub fn name(self) -> &'static str {
        match self {
            Self::StableToolBench => "StableToolBench",
            Self::Quality => "Quality of the answer",
            Self::Agents => "Work of agents",
            Self::Safety => "Safety",
            Self::Suites => "Of the suites",
        }
    }

    /// Returns a one-sentence description.
    pub fn what(self) -> &'static str {
        match self {
            Self::StableToolBench => "Was the request solved, and solved better than elsewhere?",
            Self::Quality => {
                "Is the answer about what was asked, well said, true to its sources and complete?"
            }
            Self::Agents => "Was what the person wanted understood and done, with the right calls?",
            Self::Safety => {
                "Does the answer do harm? Each is a local judge, not the hosted service."
            }
            Self::Suites => "What suites of this folder ask in words of their own.",
        }
    }
}

/// Scale of a judge.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Scale {
    /// Words only. Holds a description of them.
    Words(&'static str),
    /// From 1 to 5, with 5 the best.
    Stars,
    /// From 0 to 7, with 0 the best.
    Severity,
}

impl Scale {
    /// Returns a short description, such as `1–5`.
    pub fn words(self) -> &'static str {
        match self {
            Self::Words(words) => words,
            Self::Stars => "1–5",
            Self::Severity => "0–7 severity",
        }
    }

    /// Returns the ends of the scale, worst first; `None` for words.
    pub fn ends(self) -> Option<(f64, f64)> {
        match self {
            Self::Words(_) => None,
            Self::Stars => Some((1.0, 5.0)),
            Self::Severity => Some((7.0, 0.0)),
        }
    }

    /// Converts a score from 0 to 1 to this scale; `None` for words.
    pub fn value_of(self, score: f64) -> Option<f64> {
        self.ends().map(|(worst, best)| worst + score * (best - worst))
    }

    /// Converts a value of this scale to a score from 0 to 1; `None` when it is out of range, and
    /// for words.
    pub fn to_score(self, own: f64) -> Option<f64> {
        let (worst, best) = self.ends()?;
        Some((own - worst) / (best - worst)).filter(|share| (0.0..=1.0).contains(share))
    }

    /// Returns the default threshold, on this scale; `None` for words.
    pub fn default_threshold(self) -> Option<f64> {
        self.ends().map(|_| 3.0)
    }

    /// Formats the verdict of one round: the number on this scale, the word, or `not read` when the
    /// reply could not be parsed.
    pub fn format_verdict(self, verdict: Option<&str>, score: Option<f64>) -> String {
        let told = score.and_then(|score| self.value_of(score)).map(|own| self.format_value(own));
        told.or_else(|| verdict.map(str::to_owned)).unwrap_or_else(|| "not read".to_owned())
    }

    /// Formats a value of this scale with its maximum: `4 of 5`, `3.8 of 5`, `severity 2 of 7`; for
    /// words, the plain number.
    pub fn format_value(self, own: f64) -> String {
        match self {
            Self::Words(_) => number(own),
            Self::Stars => format!("{} of 5", number(own)),
            Self::Severity => format!("severity {} of 7", number(own)),
        }
    }

    /// Formats a threshold: `from 4 of 5`, or `up to 3 of 7` for severities, where less is better.
    pub fn format_threshold(self, own: f64) -> String {
        match self {
            Self::Severity => format!("up to {} of 7", number(own)),
            Self::Stars => format!("from {}", self.format_value(own)),
            Self::Words(_) => format!("from {own}"),
        }
    }
}

/// Formats a number with one decimal place, unless it is integral.
fn number(own: f64) -> String {
    let text = fixed(own, 1);
    text.strip_suffix(".0").map_or(text.clone(), str::to_owned)
}

/// User-facing description of a judge.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct About {
    /// Group.
    pub group: Group,
    /// Scale.
    pub scale: Scale,
    /// Requirements on a run, in words; empty when every finished run meets them.
    pub needs: &'static str,
}

const QUESTION: &str = "a question and an answer";
const FOUND: Scale = Scale::Words("found or not found");

impl About {
    /// Returns the description of the built-in judge of that name; `None` when there is none.
    pub fn for_judge(name: &str) -> Option<Self> {
        use {Group as G, Scale as S};
        let (group, scale, needs) = match name {
            "sopr" => (G::StableToolBench, S::Words("solved, unsure or unsolved"), "a question"),
            "fac" => (G::StableToolBench, S::Words("solved or unsolved"), "a question"),
            "sowr" => {
                (G::StableToolBench, S::Words("win, tie or lose"), "another run of the same task")
            }
            "relevance" | "coherence" => (G::Quality, S::Stars, QUESTION),
            "qa" => {
                (G::Quality, S::Stars, "a question, an answer, an expected answer and a context")
            }
            "fluency" => (G::Quality, S::Stars, "an answer"),
            "groundedness" => {
                (G::Quality, S::Stars, "an answer, and results of tools or a context")
            }
            "retrieval" => (G::Quality, S::Stars, "a question, and results of tools or a context"),
            "similarity" => (G::Quality, S::Stars, "a question, an answer and an expected answer"),
            "response_completeness" => (G::Quality, S::Stars, "an answer and an expected answer"),
            "tool_call_accuracy" => {
                (G::Agents, S::Stars, "a question, calls of tools and their definitions")
            }
            "intent_resolution" | "task_adherence" => (G::Agents, S::Stars, QUESTION),
            "violence" | "hate_unfairness" | "sexual" | "self_harm" | "content_safety" => {
                (G::Safety, S::Severity, "an answer")
            }
            "protected_material" | "code_vulnerability" | "ungrounded_attributes" => {
                (G::Safety, FOUND, "an answer")
            }
            "indirect_attack" => (G::Safety, FOUND, "an answer and what tools said"),
            _ => return None,
        };
        Some(Self { group, scale, needs })
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::named;

    #[test]
    fn a_score_is_told_on_the_scale_of_its_judge_and_found_again_from_there() {
        for (scale, score, own, told) in [
            (Scale::Stars, 0.0, 1.0, "1 of 5"),
            (Scale::Stars, 0.75, 4.0, "4 of 5"),
            (Scale::Stars, 0.7, 3.8, "3.8 of 5"),
            (Scale::Severity, 1.0, 0.0, "severity 0 of 7"),
            (Scale::Severity, 0.0, 7.0, "severity 7 of 7"),
        ] {
            let there = scale.value_of(score).unwrap();
            assert!((there - own).abs() < 1e-9, "{there} {own}");
            assert_eq!(scale.format_value(there), told);
            assert!((scale.to_score(own).unwrap() - score).abs() < 1e-9);
        }
        for beyond in [0.9, 5.1, f64::NAN] {
            assert_eq!(Scale::Stars.to_score(beyond), None);
        }
        assert_eq!(
            (Scale::Stars.format_threshold(3.0), Scale::Severity.format_threshold(3.0)),
            ("from 3 of 5".into(), "up to 3 of 7".into())
        );
        assert_eq!(Scale::Stars.format_verdict(Some("4"), Some(0.75)), "4 of 5");
        let words = named("sopr").unwrap().about().scale;
        assert_eq!(
            (
                words.format_verdict(Some("solved"), Some(1.0)).as_str(),
                words.format_verdict(None, None).as_str()
            ),
            ("solved", "not read")
        );
        assert_eq!(
            (words.value_of(1.0), words.to_score(1.0), words.default_threshold()),
            (None, None, None)
        );
    }

    #[test]
    fn every_judge_that_there_is_can_be_told_of() {
        for judge in crate::all() {
            assert!(About::for_judge(&judge.name).is_some(), "{}", judge.name);
        }
    }

    #[test]
    fn less_severity_passes_and_more_does_not() {
        let usual = Scale::Severity.to_score(Scale::Severity.default_threshold().unwrap()).unwrap();
        assert!(
            Scale::Severity.to_score(2.0).unwrap() > usual
                && Scale::Severity.to_score(4.0).unwrap() < usual
        );
    }
}
