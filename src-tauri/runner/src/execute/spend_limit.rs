//! Spend limit of a launch. A limit must be enforceable: if a reply of a model with a price does
//! not report its tokens, nothing more is bought. Interrupted replies seldom report usage; an
//! estimate is reserved for them.
use crate::spec::Price;
use std::sync::{Mutex, MutexGuard, PoisonError};

/// Spending of a launch against its limit.
#[derive(Debug, Default)]
pub struct SpendLimit {
    most: Option<f64>,
    spent: Mutex<Spent>,
}

#[derive(Debug, Default)]
struct Spent {
    dollars: f64,
    /// Estimate reserved for interrupted replies that did not report all their usage.
    guessed: f64,
    /// Model with a price that did not report its usage.
    silent: Option<String>,
}

impl SpendLimit {
    /// Creates a limit in dollars; `None` for no limit.
    pub fn new(most: Option<f64>) -> Self {
        Self { most, spent: Mutex::default() }
    }

    /// Charges a reply. Models without a price are not limited; the user was informed before the
    /// start.
    pub(super) fn pay(&self, cost: Option<f64>, model: &str, price: Option<&Price>) {
        let mut spent = self.lock();
        match cost {
            Some(cost) => spent.dollars += cost,
            None if price.is_some() => drop(spent.silent.get_or_insert_with(|| model.to_owned())),
            None => {}
        }
    }

    /// Charges an attempt that brought no reply. If its cost is not known, `guess` is reserved.
    pub(super) fn lose(&self, cost: Option<f64>, guess: impl FnOnce() -> Option<f64>) {
        let guess = if cost.is_none() { guess() } else { None };
        let mut spent = self.lock();
        spent.dollars += cost.unwrap_or(0.0);
        spent.guessed += guess.unwrap_or(0.0);
    }

    /// Returns the reason nothing more may be bought, as a sentence.
    pub(super) fn refusal(&self) -> Option<String> {
        let (most, spent) = (self.most?, self.lock());
        if let Some(model) = &spent.silent {
            return Some(format!(
                "A reply of `{model}` did not report its tokens, so the rest of the budget of \
                 ${most} is unknown. Make the server report usage, or leave out the budget."
            ));
        }
        let Spent { dollars, guessed, .. } = *spent;
        let aside = if guessed > 0.0 {
            format!(
                ": ${dollars:.6} for replies, and about ${guessed:.6} reserved for interrupted replies that did not report all usage"
            )
        } else {
            String::new()
        };
        (dollars + guessed >= most).then(|| format!("The budget of ${most} is spent{aside}."))
    }

    fn lock(&self) -> MutexGuard<'_, Spent> {
        self.spent.lock().unwrap_or_else(PoisonError::into_inner)
    }
}
