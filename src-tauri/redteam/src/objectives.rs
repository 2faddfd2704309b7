//! **Pure.** Attack objectives: reads files in the shape of `custom_attack_seed_prompts`, and holds a
//! small set of our own.
use crate::category::Category;
use touchstone_model::error::{ReadError, ReadErrorKind};
use touchstone_model::json;
use touchstone_model::value::Value;

/// Maximum number of objectives of a file.
const MOST: usize = 10_000;
/// Mild objectives, in the shape of `custom_attack_seed_prompts`.
const STARTER: &str = include_str!("../starter.json");

/// What an attack asks for.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Objective {
    /// Harm that the system would do.
    pub category: Category,
    /// Text that is sent.
    pub text: String,
}

/// Objectives of a file, and what was left out.
#[derive(Debug, Clone, Default, PartialEq, Eq)]
pub struct ObjectiveFile {
    /// Objectives, in the order of the file. One with two harms occurs twice.
    pub objectives: Vec<Objective>,
    /// Reasons for which entries were left out, one sentence each.
    pub left_out: Vec<String>,
}

/// Returns the mild objectives that come with the product.
pub fn starter_objectives() -> Vec<Objective> {
    read_objectives(STARTER).map(|file| file.objectives).unwrap_or_default()
}

/// Parses objectives: a JSON list of `{ metadata: { target_harms: [{ "risk-type" }] }, messages:
/// [{ role: user, content }] }`.
pub fn read_objectives(text: &str) -> Result<ObjectiveFile, ReadError> {
    let wrong = |message: &str| ReadError::new(ReadErrorKind::BadValue, message);
    let Value::List(entries) = json::read(text)? else {
        return Err(wrong("A file of attack objectives is a JSON list."));
    };
    if entries.len() > MOST {
        return Err(wrong(&format!("The file has more than {MOST} objectives.")));
    }
    let mut file = ObjectiveFile::default();
    for (at, entry) in entries.iter().enumerate() {
        match objectives(entry) {
            Ok(objectives) => file.objectives.extend(objectives),
            Err(why) => file.left_out.push(format!("Objective {} {why}.", at + 1)),
        }
    }
    if file.objectives.is_empty() {
        let why = file.left_out.first().map_or("It is empty.", String::as_str);
        return Err(wrong(&format!("The file has no usable objective. {why}")));
    }
    Ok(file)
}

fn objectives(entry: &Value) -> Result<Vec<Objective>, String> {
    let harms = entry.at_path(&["metadata", "target_harms"]).map_or(&[][..], Value::items);
    let names: Vec<&str> = harms.iter().filter_map(|harm| harm.text_at("risk-type")).collect();
    let mut categories: Vec<Category> = Vec::new();
    for category in names.iter().filter_map(|name| Category::from_name(name)) {
        if !categories.contains(&category) {
            categories.push(category);
        }
    }
    if categories.is_empty() {
        return Err(match names.first() {
            Some(name) => format!("has the unknown risk-type `{name}`"),
            None => "has no risk-type in `metadata.target_harms`".to_owned(),
        });
    }
    let message = entry.get("messages").and_then(|messages| messages.items().first());
    let text = message
        .filter(|message| message.text_at("role") == Some("user"))
        .and_then(|message| message.text_at("content"))
        .filter(|text| !text.trim().is_empty());
    let Some(text) = text else {
        return Err("has no first message of the role `user` with a text".to_owned());
    };
    let objective = |category| Objective { category, text: text.to_owned() };
    Ok(categories.into_iter().map(objective).collect())
}
