//! **Pure.** Cost of a reply. Owns the published list prices of the built-in models; a workspace
//! file can override them.
use super::Usage;
use crate::spec::Price;

const MILLION: f64 = 1_000_000.0;

/// Returns the cost in dollars. `None`, never 0, if the price is unknown or the provider did not
/// report input and output tokens.
pub fn cost(usage: &Usage, price: Option<&Price>) -> Option<f64> {
    let price = price?;
    // A provider that reports no cache tokens counts everything sent as input.
    let parts = [
        (usage.input?, price.input),
        (usage.output?, price.output),
        (usage.cache_read.unwrap_or_default(), price.cache_read.unwrap_or(price.input)),
        (usage.cache_write.unwrap_or_default(), price.cache_write.unwrap_or(price.input)),
    ];
    Some(parts.iter().map(|(tokens, dollars)| tokens_as_number(*tokens) * dollars / MILLION).sum())
}

#[expect(clippy::cast_precision_loss, reason = "tokens of a reply are far below 2^53")]
fn tokens_as_number(tokens: u64) -> f64 {
    tokens as f64
}

/// Returns the list price of a model by its provider id, with or without a date suffix. `None` for
/// an unknown model.
pub fn list_price(model_id: &str) -> Option<Price> {
    let is = |name: &str| model_id == name || model_id.strip_prefix(name).is_some_and(is_version);
    LIST.iter().find(|(name, _)| is(name)).map(|(_, price)| *price)
}

/// Returns true for a suffix that does not make it a different model: `-latest` or a date.
fn is_version(rest: &str) -> bool {
    let Some(rest) = rest.strip_prefix('-') else { return false };
    let digits: Vec<char> = rest.chars().filter(|letter| *letter != '-').collect();
    rest == "latest" || (digits.len() == 8 && digits.iter().all(char::is_ascii_digit))
}

const LIST: [(&str, Price); 8] = [
    ("claude-3-7-sonnet", claude(3.0, 15.0)),
    ("claude-3-5-sonnet", claude(3.0, 15.0)),
    ("claude-3-5-haiku", claude(0.8, 4.0)),
    ("claude-sonnet-4", claude(3.0, 15.0)),
    ("o1", openai(15.0, 60.0, 7.5)),
    ("o3-mini", openai(1.1, 4.4, 0.55)),
    ("gpt-4o", openai(2.5, 10.0, 1.25)),
    ("gpt-4o-mini", openai(0.15, 0.6, 0.075)),
];

/// Returns an Anthropic price: cache reads cost a tenth of input, writes to the five-minute cache a
/// quarter more.
const fn claude(input: f64, output: f64) -> Price {
    Price { input, output, cache_read: Some(input / 10.0), cache_write: Some(input * 1.25) }
}

/// Returns an `OpenAI` price: cache writes cost nothing extra.
const fn openai(input: f64, output: f64, cached: f64) -> Price {
    Price { input, output, cache_read: Some(cached), cache_write: None }
}

#[cfg(test)]
mod tests {
    use super::{cost, list_price};
    use crate::provider::Usage;
    use crate::spec::Price;

    const PRICE: Price =
        Price { input: 2.0, output: 10.0, cache_read: Some(0.2), cache_write: None };

    #[test]
    fn a_cost_is_known_only_when_price_and_usage_are() {
        let used = Usage { input: Some(1_000_000), output: Some(500_000), ..Usage::default() };
        let cached = Usage { cache_read: Some(1_000_000), cache_write: Some(1_000_000), ..used };
        let plain = Price { cache_read: None, ..PRICE };
        let cases = [
            (used, Some(PRICE), Some(7.0)),
            (cached, Some(PRICE), Some(9.2)),
            (cached, Some(plain), Some(11.0)),
            (used, None, None),
            (Usage { input: None, ..used }, Some(PRICE), None),
            (Usage { output: None, ..used }, Some(PRICE), None),
            (Usage { input: Some(0), output: Some(0), ..Usage::default() }, Some(PRICE), Some(0.0)),
        ];
        for (usage, price, expected) in cases {
            let cost = cost(&usage, price.as_ref());
            assert_eq!(
                cost.map(|dollars| format!("{dollars:.6}")),
                expected.map(|dollars| format!("{dollars:.6}"))
            );
        }
    }

    #[test]
    fn a_price_is_found_by_the_id_with_or_without_its_date_and_never_by_a_likeness() {
        let ids = [
            "claude-3-7-sonnet-latest",
            "claude-3-7-sonnet-20250219",
            "o1",
            "o1-2024-12-17",
            "o3-mini",
        ];
        for id in ids {
            assert!(list_price(id).is_some(), "{id}");
        }
        for id in [
            "",
            "o1-mini",
            "o1-pro",
            "o1-2",
            "gpt-4o-audio-preview",
            "claude-sonnet-4-5-20250929",
            "claude-3-7-sonnet-next",
            "lfm2",
        ] {
            assert!(list_price(id).is_none(), "{id}");
        }
        assert_eq!(list_price("o3-mini-2025-01-31").map(|price| price.output), Some(4.4));
    }
}
