//! What a launch spends, against the most that it may. A bound that binds nothing is none: where a
//! model has a price and does not say what a reply took, nothing more is bought. For a reply that
//! broke off, which seldom says it, a guess is put aside.
use crate::spec::Price;
use std::sync::{Mutex, MutexGuard, PoisonError};

/// What a launch spends.
#[derive(Debug, Default)]
pub struct Purse {
    most: Option<f64>,
    spent: Mutex<Spent>,
}

#[derive(Debug, Default)]
struct Spent {
    dollars: f64,
    /// Put aside for replies that broke off and did not say all they took.
    guessed: f64,
    /// The model that did not say what it took, though there is a price for it.
    silent: Option<String>,
}

impl Purse {
    /// A purse with at most so many dollars; none is no bound.
    pub fn new(most: Option<f64>) -> Self {
        Self { most, spent: Mutex::default() }
    }

    /// Pays for a reply of a model. What has no price was told before anything was begun, and is
    /// not bound.
    pub(super) fn pay(&self, cost: Option<f64>, model: &str, price: Option<&Price>) {
        let mut spent = self.lock();
        match cost {
            Some(cost) => spent.dollars += cost,
            None if price.is_some() => drop(spent.silent.get_or_insert_with(|| model.to_owned())),
            None => {}
        }
    }

    /// Pays for an attempt that brought no reply. Where it does not say what it took, `guess` is
    /// put aside for it.
    pub(super) fn lose(&self, cost: Option<f64>, guess: impl FnOnce() -> Option<f64>) {
        let guess = if cost.is_none() { guess() } else { None };
        let mut spent = self.lock();
        spent.dollars += cost.unwrap_or(0.0);
        spent.guessed += guess.unwrap_or(0.0);
    }

    /// Why nothing more may be bought, as a sentence.
    pub(super) fn closed(&self) -> Option<String> {
        let (most, spent) = (self.most?, self.lock());
        if let Some(model) = &spent.silent {
            return Some(format!(
                "A reply of `{model}` did not say how many tokens it took, so nobody knows what is left of the budget of ${most}. Have the server report its usage, or leave the budget out."
            ));
        }
        let Spent { dollars, guessed, .. } = *spent;
        let aside = if guessed > 0.0 {
            format!(
                ": ${dollars:.6} for replies, and about ${guessed:.6} put aside for replies that broke off and did not say all they took"
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
