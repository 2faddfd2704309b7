//! Spend limit of a job: the requested one, otherwise that of the workspace file. If a price is
//! unknown the limit has no effect; that is an error if the limit was requested, and a note if it
//! only comes from the workspace file.
use crate::error::{AppError, Code};
use touchstone_runner::setup::Rules;
use touchstone_runner::spec::{Model, Provider};

/// Spend limit in dollars.
#[derive(Debug, Clone, Copy, PartialEq)]
pub(crate) struct Budget {
    most: Option<f64>,
    /// True if the limit was requested explicitly.
    asked: bool,
}

impl Budget {
    /// Returns the limit that applies. A requested limit equal to that of the workspace file does
    /// not count as requested. Fails for a negative or non-finite limit.
    pub(crate) fn resolve(asked: Option<f64>, rules: &Rules) -> Result<Self, AppError> {
        let most = asked.or(rules.max_cost);
        if most.is_some_and(|most| !most.is_finite() || most < 0.0) {
            return Err(AppError::new(
                Code::BadRequest,
                "The budget has to be a number of dollars, 0 or more.",
            ));
        }
        Ok(Self { most, asked: asked.is_some() && asked != rules.max_cost })
    }

    /// Returns the limit in dollars.
    pub(crate) fn most(self) -> Option<f64> {
        self.most
    }

    /// Returns a sentence if the limit has no effect on some of the models, because their prices
    /// are unknown.
    pub(crate) fn ineffective_note(self, prices: &Prices) -> Option<String> {
        let (most, unknown) = (self.most?, prices.unknown()?);
        Some(format!("{unknown}, so the budget of ${most} has no effect there."))
    }

    /// Fails if the limit was requested and has no effect.
    pub(crate) fn check(self, prices: &Prices) -> Result<(), AppError> {
        match self.ineffective_note(prices).filter(|_| self.asked) {
            None => Ok(()),
            Some(why) => Err(AppError::new(Code::BadRequest, why)
                .hint("Add the `price` of the model in touchstone.yaml, or leave out the budget (--max-cost).")),
        }
    }
}

/// Names of models and services with unknown prices, without duplicates.
#[derive(Debug, Default)]
pub(crate) struct Prices {
    unknown: Vec<String>,
}

impl Prices {
    /// Collects the unknown prices of these models. Replayed recordings cost nothing.
    pub(crate) fn for_models<'m>(models: impl IntoIterator<Item = &'m Model>) -> Self {
        let mut prices = Self::default();
        for model in models {
            if model.price.is_none() && model.provider != Provider::Replay {
                prices.add(format!("`{}`", model.name));
            }
        }
        prices
    }

    /// Returns true if all prices are known.
    pub(crate) fn are_known(&self) -> bool {
        self.unknown.is_empty()
    }

    /// Returns a sentence if a price is unknown; no total can be given then.
    pub(crate) fn unpriced(&self) -> Option<String> {
        Some(format!("{}, so the cost is unknown.", self.unknown()?))
    }

    /// Returns a clause naming the unknown prices, without full stop; `None` if all are known.
    fn unknown(&self) -> Option<String> {
        let (names, has) = match self.unknown.as_slice() {
            [] => return None,
            [name] => (name.clone(), "has"),
            [names @ .., last] => (format!("{} and {last}", names.join(", ")), "have"),
        };
        Some(format!("{names} {has} no known price"))
    }

    /// Adds another name with an unknown price.
    pub(crate) fn add(&mut self, name: String) {
        if !self.unknown.contains(&name) {
            self.unknown.push(name);
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn prices(names: &[&str]) -> Prices {
        let mut prices = Prices::default();
        for name in names {
            prices.add((*name).to_owned());
        }
        prices
    }

    #[test]
    fn a_budget_that_binds_nothing_is_refused_only_where_it_was_asked_for() {
        let rules = |max_cost| Rules { max_cost, ..Rules::default() };
        for (asked, of_file, unknown, refused, told) in [
            (None, None, &["`m`"][..], false, false),
            (Some(1.0), None, &[], false, false),
            (Some(1.0), None, &["`m`"], true, true),
            (Some(0.0), Some(1.0), &["`m`", "`n`"], true, true),
            (None, Some(1.0), &["`m`"], false, true),
            (Some(1.0), Some(1.0), &["`m`"], false, true),
        ] {
            let budget = Budget::resolve(asked, &rules(of_file)).unwrap();
            let prices = prices(unknown);
            assert_eq!(
                (budget.check(&prices).is_err(), budget.ineffective_note(&prices).is_some()),
                (refused, told),
                "{asked:?}"
            );
            assert_eq!(budget.most(), asked.or(of_file));
        }
        for wrong in [f64::NAN, f64::INFINITY, -1.0] {
            assert!(
                Budget::resolve(Some(wrong), &rules(None)).is_err()
                    && Budget::resolve(None, &rules(Some(wrong))).is_err()
            );
        }
    }

    #[test]
    fn it_says_whose_price_is_missing_once_each() {
        let budget = Budget { most: Some(0.5), asked: true };
        let told = budget.ineffective_note(&prices(&["`a`", "`b`", "`a`", "PromptQL"])).unwrap();
        assert_eq!(
            told,
            "`a`, `b` and PromptQL have no known price, so the budget of $0.5 has no effect there."
        );
    }
}
