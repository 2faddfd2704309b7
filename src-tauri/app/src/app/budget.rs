//! What may be spent on something that is begun: what was asked for now, else what the workspace
//! file says. A bound that binds nothing, because nobody knows a price, is refused where somebody
//! asked for it, and told where only the file says it.
use crate::error::{AppError, Code};
use touchstone_runner::setup::Rules;
use touchstone_runner::spec::{Model, Provider};

/// Dollars at most.
#[derive(Debug, Clone, Copy, PartialEq)]
pub(super) struct Budget {
    most: Option<f64>,
    /// Somebody asked for it now.
    asked: bool,
}

impl Budget {
    /// What holds, when this was asked for. Asking for what the workspace file says anyway is
    /// asking for nothing.
    pub(super) fn of(asked: Option<f64>, rules: &Rules) -> Result<Self, AppError> {
        let most = asked.or(rules.max_cost);
        if most.is_some_and(|most| !most.is_finite() || most < 0.0) {
            return Err(AppError::new(
                Code::BadRequest,
                "The budget has to be a number of dollars, 0 or more.",
            ));
        }
        Ok(Self { most, asked: asked.is_some() && asked != rules.max_cost })
    }

    /// Dollars at most.
    pub(super) fn most(self) -> Option<f64> {
        self.most
    }

    /// A sentence when it binds nothing of what some of these take.
    pub(super) fn unbound(self, prices: &Prices) -> Option<String> {
        let (most, unknown) = (self.most?, prices.unknown()?);
        Some(format!("{unknown}, so the budget of ${most} binds nothing of what is asked there."))
    }

    /// Refuses what was asked for and binds nothing.
    pub(super) fn check(self, prices: &Prices) -> Result<(), AppError> {
        match self.unbound(prices).filter(|_| self.asked) {
            None => Ok(()),
            Some(why) => Err(AppError::new(Code::BadRequest, why)
                .hint("Add the `price` of the model in touchstone.yaml, or leave the budget (--max-cost) out.")),
        }
    }
}

/// Whose prices nobody knows, each once.
#[derive(Debug, Default)]
pub(super) struct Prices {
    unknown: Vec<String>,
}

impl Prices {
    /// Of these models. Recordings cost nothing.
    pub(super) fn of<'m>(models: impl IntoIterator<Item = &'m Model>) -> Self {
        let mut prices = Self::default();
        for model in models {
            if model.price.is_none() && model.provider != Provider::Replay {
                prices.add(format!("`{}`", model.name));
            }
        }
        prices
    }

    /// True when nothing that is asked lacks a price.
    pub(super) fn are_known(&self) -> bool {
        self.unknown.is_empty()
    }

    /// A sentence when a price is not known, because no sum can be named then.
    pub(super) fn unpriced(&self) -> Option<String> {
        Some(format!("{}, so the cost is not known.", self.unknown()?))
    }

    /// Whose price is not known, without the full stop; none when all are.
    fn unknown(&self) -> Option<String> {
        let (names, has) = match self.unknown.as_slice() {
            [] => return None,
            [name] => (name.clone(), "has"),
            [names @ .., last] => (format!("{} and {last}", names.join(", ")), "have"),
        };
        Some(format!("{names} {has} no known price"))
    }

    /// Something else that does not say what it takes.
    pub(super) fn add(&mut self, name: String) {
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
            let budget = Budget::of(asked, &rules(of_file)).unwrap();
            let prices = prices(unknown);
            assert_eq!(
                (budget.check(&prices).is_err(), budget.unbound(&prices).is_some()),
                (refused, told),
                "{asked:?}"
            );
            assert_eq!(budget.most(), asked.or(of_file));
        }
        for wrong in [f64::NAN, f64::INFINITY, -1.0] {
            assert!(
                Budget::of(Some(wrong), &rules(None)).is_err()
                    && Budget::of(None, &rules(Some(wrong))).is_err()
            );
        }
    }

    #[test]
    fn it_says_whose_price_is_missing_once_each() {
        let budget = Budget { most: Some(0.5), asked: true };
        let told = budget.unbound(&prices(&["`a`", "`b`", "`a`", "PromptQL"])).unwrap();
        assert_eq!(
            told,
            "`a`, `b` and PromptQL have no known price, so the budget of $0.5 binds nothing of what is asked there."
        );
    }
}
