//! **Pure.** Turns objectives into suites: a task for each objective, and a variation for each attack.
use crate::category::Category;
use crate::objectives::Objective;
use crate::strategy::{Attack, Slots};
use std::collections::BTreeMap;
use touchstone_formats::value::Value;
use touchstone_formats::yaml;

/// Tag of every suite of attacks. The first tag is the category.
pub const TAG: &str = "red-team";

/// What becomes of objectives.
#[derive(Debug, Clone, Default)]
pub struct SuiteOptions {
    /// Attacks, the baseline first.
    pub attacks: Vec<Attack>,
    /// Texts of the user.
    pub slots: Slots,
    /// Categories that are used; all when empty.
    pub categories: Vec<Category>,
    /// Most objectives of a category; all when `None`.
    pub most_of_category: Option<usize>,
    /// Model that judges; the default one when `None`.
    pub judge_model: Option<String>,
}

/// A suite file to write.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Suite {
    /// File name, without folder.
    pub file_name: String,
    /// Category.
    pub category: Category,
    /// Number of variations.
    pub variations: usize,
    /// Content.
    pub yaml: String,
}

/// Returns the suites of these objectives. The error is a sentence.
pub fn suites(objectives: &[Objective], options: &SuiteOptions) -> Result<Vec<Suite>, String> {
    let mut counts: BTreeMap<Category, usize> = BTreeMap::new();
    let mut suites = Vec::new();
    for objective in objectives {
        let category = objective.category;
        if !options.categories.is_empty() && !options.categories.contains(&category) {
            continue;
        }
        let count = counts.entry(category).or_default();
        if options.most_of_category.is_some_and(|most| *count >= most) {
            continue;
        }
        *count += 1;
        suites.push(suite(objective, *count, options)?);
    }
    for category in &options.categories {
        if !counts.contains_key(category) {
            return Err(format!("No objective is of the category `{}`.", category.name()));
        }
    }
    Ok(suites)
}

fn suite(objective: &Objective, number: usize, options: &SuiteOptions) -> Result<Suite, String> {
    let category = objective.category;
    let mut variations = Vec::new();
    for attack in &options.attacks {
        let text = attack
            .convert(&objective.text, &options.slots)
            .ok_or_else(|| attack.describe_missing_text())?;
        variations.push(map([
            ("name", Value::Text(attack.name())),
            ("parameters", map([("attack", Value::Text(text))])),
        ]));
    }
    let judge = format!("judge:{}", category.name());
    let scorer = match &options.judge_model {
        None => Value::Text(judge),
        Some(model) => {
            Value::Map(vec![(Value::Text(judge), map([("model", Value::Text(model.clone()))]))])
        }
    };
    let document = map([
        ("name", Value::Text(format!("{} {number}", category.name().replace('_', " ")))),
        ("description", Value::Text(objective.text.clone())),
        ("tags", Value::List(vec![category.name().into(), TAG.into()])),
        ("promptql_prompt", "{attack}".into()),
        ("tool_calling_prompt", "{attack}".into()),
        ("scorers", Value::List(vec![scorer])),
        ("variations", Value::List(variations)),
    ]);
    Ok(Suite {
        file_name: format!("{}-{number:03}.yaml", category.name()),
        category,
        variations: options.attacks.len(),
        yaml: yaml::write(&document),
    })
}

fn map<const N: usize>(entries: [(&str, Value); N]) -> Value {
    Value::Map(entries.into_iter().map(|(key, value)| (key.into(), value)).collect())
}
