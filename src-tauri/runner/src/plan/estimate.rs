//! **Pure.** Estimate of a launch's requests, tokens and cost, from past runs of the same tasks.
use std::collections::HashMap;
use touchstone_api::Estimate;
use touchstone_formats::names::Coordinates;

/// Past run.
#[derive(Debug, Clone, PartialEq)]
pub struct Past {
    /// Task.
    pub task: String,
    /// System.
    pub system: String,
    /// Model.
    pub model: String,
    /// Assistant turns, which equals the number of requests.
    pub turns: u32,
    /// Tokens, if recorded.
    pub tokens: Option<u64>,
    /// Dollars, if recorded.
    pub cost: Option<f64>,
    /// Model that played the user, if it was simulated.
    pub user_model: Option<String>,
}

/// Average of past runs.
#[derive(Debug, Clone, Copy, Default)]
struct Mean {
    runs: u32,
    turns: f64,
    tokens: Share,
    cost: Share,
}

/// Average over the runs that record the value.
#[derive(Debug, Clone, Copy, Default)]
struct Share {
    runs: u32,
    total: f64,
}

impl Share {
    fn add(&mut self, value: Option<f64>) {
        if let Some(value) = value.filter(|value| value.is_finite() && *value >= 0.0) {
            self.runs += 1;
            self.total += value;
        }
    }

    fn mean(self) -> Option<f64> {
        (self.runs > 0).then(|| self.total / f64::from(self.runs))
    }
}

impl Mean {
    fn add(&mut self, past: &Past) {
        self.runs += 1;
        self.turns += f64::from(past.turns);
        #[expect(clippy::cast_precision_loss, reason = "an estimate")]
        self.tokens.add(past.tokens.map(|tokens| tokens as f64));
        self.cost.add(past.cost);
    }
}

/// Adds replayed runs, which cost nothing, to an estimate.
pub fn with_free(estimate: Estimate, free: u64) -> Estimate {
    if free == 0 {
        return estimate;
    }
    let nothing_else = estimate.known == 0;
    Estimate {
        known: estimate.known + free,
        calls: estimate.calls.or(nothing_else.then_some(0)),
        tokens: estimate.tokens.or(nothing_else.then_some(0)),
        cost: estimate.cost.or(nothing_else.then_some(0.0)),
    }
}

/// Estimates these runs. Past runs of the same model take precedence over those of the same task
/// and system, whose prices may differ. A run with a simulated user is estimated only from runs with
/// the same user model, which is given with it: that of another says nothing about its cost. Runs
/// without any data are not counted, and values that no past run records are `None`, not 0.
pub fn estimate<'a>(
    past: &[Past],
    owed: impl IntoIterator<Item = (&'a Coordinates, Option<&'a str>)>,
) -> Estimate {
    let mut by_model: HashMap<(&str, &str, &str, Option<&str>), Mean> = HashMap::new();
    let mut by_system: HashMap<(&str, &str, Option<&str>), Mean> = HashMap::new();
    for run in past.iter().filter(|run| run.turns > 0) {
        let user = run.user_model.as_deref();
        by_model.entry((&run.task, &run.system, &run.model, user)).or_default().add(run);
        by_system.entry((&run.task, &run.system, user)).or_default().add(run);
    }
    let (mut known, mut calls, mut tokens, mut cost) = (0, 0.0, None, Some(0.0));
    for (run, user) in owed {
        let (task, system) = (run.task.as_str(), run.system.as_str());
        let same = by_model.get(&(task, system, run.model.as_str(), user));
        let Some(mean) = same.or_else(|| by_system.get(&(task, system, user))) else {
            continue;
        };
        known += 1;
        calls += mean.turns / f64::from(mean.runs);
        tokens = sum(tokens, mean.tokens.mean());
        // A run with unknown cost makes the sum unknown: it would be too low.
        cost = cost.zip(mean.cost.mean()).map(|(sum, more)| sum + more);
    }
    let cost = cost.filter(|_| known > 0);
    Estimate {
        known,
        calls: (known > 0).then(|| round_to_u64(calls)),
        tokens: tokens.map(round_to_u64),
        cost,
    }
}

fn sum(total: Option<f64>, more: Option<f64>) -> Option<f64> {
    match (total, more) {
        (Some(total), Some(more)) => Some(total + more),
        (total, more) => total.or(more),
    }
}

#[expect(
    clippy::cast_possible_truncation,
    clippy::cast_sign_loss,
    reason = "sums of what is not negative"
)]
fn round_to_u64(number: f64) -> u64 {
    number.round() as u64
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_same_model_says_best_and_what_nobody_says_is_not_nothing() {
        let past = |model: &str, turns, tokens, cost| Past {
            task: "a".into(),
            system: "tool_calling".into(),
            model: model.into(),
            turns,
            tokens,
            cost,
            user_model: None,
        };
        let all = [
            past("o1", 2, Some(100), Some(0.5)),
            past("o1", 4, None, None),
            past("o1", 0, Some(9), Some(9.0)),
            past("claude", 9, Some(300), None),
        ];
        let run = |task: &str, model: &str| Coordinates {
            task: task.into(),
            system: "tool_calling".into(),
            model: model.into(),
            variation: 0,
            repeat: 1,
            fork: 0,
        };
        let known = |runs: &[Coordinates]| estimate(&all, runs.iter().map(|run| (run, None)));
        let none = Estimate { known: 0, calls: None, tokens: None, cost: None };
        assert_eq!(known(&[]), none);
        assert_eq!(known(&[run("b", "o1")]), none);
        assert_eq!(
            known(&[run("a", "o1"), run("a", "o1"), run("b", "o1")]),
            Estimate { known: 2, calls: Some(6), tokens: Some(200), cost: Some(1.0) }
        );
        assert_eq!(
            known(&[run("a", "claude")]),
            Estimate { known: 1, calls: Some(9), tokens: Some(300), cost: None }
        );
        // One run without a cost makes the sum unknown.
        assert_eq!(known(&[run("a", "o1"), run("a", "claude")]).cost, None);
        assert_eq!(
            known(&[run("a", "new")]),
            Estimate { known: 1, calls: Some(5), tokens: Some(200), cost: Some(0.5) }
        );
        let played = [Past { user_model: Some("cheap".into()), ..past("o1", 2, None, Some(0.5)) }];
        let talk = run("a", "o1");
        assert_eq!(estimate(&played, [(&talk, Some("cheap"))]).cost, Some(0.5));
        assert_eq!(estimate(&played, [(&talk, Some("dear"))]), none);
        assert_eq!(estimate(&played, [(&talk, None)]), none);
    }
}
