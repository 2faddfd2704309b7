//! **Pure.** Aggregates several rounds into a mean and a spread.
/// Rates over many requests, from 0 to 1.
#[derive(Debug, Clone, PartialEq)]
pub struct Rates {
    /// Mean score of each round.
    pub rounds: Vec<f64>,
    /// Mean over the rounds.
    pub mean: f64,
    /// Population standard deviation of the rounds.
    pub spread: f64,
}

/// Returns the mean and the population standard deviation; `None` without numbers.
pub fn mean_and_spread(numbers: &[f64]) -> Option<(f64, f64)> {
    #[expect(
        clippy::cast_precision_loss,
        reason = "there are never so many rounds that a float is coarse"
    )]
    let count = numbers.len() as f64;
    if numbers.is_empty() {
        return None;
    }
    let mean = numbers.iter().sum::<f64>() / count;
    let variance = numbers.iter().map(|number| (number - mean).powi(2)).sum::<f64>() / count;
    Some((mean, variance.sqrt()))
}

/// Returns the solve rate over requests, given the score of each round. A missing round counts 0,
/// like in the published script, and rounds after `times` are ignored. `without_answer` is the
/// number of further requests that count 0 in each round. Returns `None` without any request or
/// round.
pub fn solve_rate(
    judged: &[Vec<Option<f64>>],
    times: usize,
    without_answer: usize,
) -> Option<Rates> {
    #[expect(
        clippy::cast_precision_loss,
        reason = "there are never so many requests that a float is coarse"
    )]
    let count = (judged.len() + without_answer) as f64;
    if judged.len() + without_answer == 0 {
        return None;
    }
    let score = |rounds: &Vec<Option<f64>>, round: usize| {
        rounds.get(round).copied().flatten().unwrap_or(0.0)
    };
    let of_round = |round| judged.iter().map(|rounds| score(rounds, round)).sum::<f64>() / count;
    let rounds: Vec<f64> = (0..times).map(of_round).collect();
    let (mean, spread) = mean_and_spread(&rounds)?;
    Some(Rates { rounds, mean, spread })
}
