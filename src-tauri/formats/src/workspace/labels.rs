//! **Pure.** Labels of a workspace file: questions under a name, which runs have as long as the filter
//! matches them, and labels of a schema, which people give. Also adds a question to the text of a file.
use super::rewrite::{put_new, quoted};
use super::{self as workspace, Workspace, text};
use touchstone_model::error::{ReadError, ReadErrorKind};
use touchstone_model::node::{Node, Shape};
use touchstone_model::yaml::tree::Item;

/// Maximum bytes of the name of a label.
pub const LONGEST_NAME: usize = 100;

/// Section of the workspace file.
pub(super) const SECTION: &str = "labels";

/// A label.
#[derive(Debug, Clone, PartialEq)]
pub struct Label {
    /// Name.
    pub name: String,
    /// Who gives it, and its values.
    pub kind: LabelKind,
}

/// Kind of a label.
#[derive(Debug, Clone, PartialEq)]
pub enum LabelKind {
    /// Given to the runs that match this filter.
    Question(String),
    /// Given by people: one of these values.
    Category(Vec<String>),
    /// Given by people: a number within these bounds.
    Number {
        /// Least value.
        min: Option<f64>,
        /// Greatest value.
        max: Option<f64>,
    },
    /// Given by people: any text on one line.
    Text,
}

impl LabelKind {
    /// Fails with a sentence if people cannot give this value.
    pub fn check(&self, value: &str) -> Result<(), String> {
        /// Maximum bytes of a value.
        const LONGEST: usize = 1_000;
        if value.trim().is_empty() || value.len() > LONGEST || value.contains(char::is_control) {
            return Err("A value has to be one line of at most 1,000 bytes.".to_owned());
        }
        match self {
            LabelKind::Question(_) => {
                Err("This label follows from its question, and is not given by people.".to_owned())
            }
            LabelKind::Category(values) if values.iter().any(|known| known == value) => Ok(()),
            LabelKind::Category(values) => Err(format!("Choose one of: {}.", values.join(", "))),
            LabelKind::Number { min, max } => {
                let number = value.parse::<f64>().ok().filter(|number| number.is_finite());
                let fits = number.is_some_and(|number| {
                    min.is_none_or(|min| number >= min) && max.is_none_or(|max| number <= max)
                });
                if fits { Ok(()) } else { Err(format!("Write {}.", range(*min, *max))) }
            }
            LabelKind::Text => Ok(()),
        }
    }
}

/// Describes the numbers within bounds.
fn range(min: Option<f64>, max: Option<f64>) -> String {
    match (min, max) {
        (Some(min), Some(max)) => format!("a number from {min} to {max}"),
        (Some(min), None) => format!("a number from {min} on"),
        (None, Some(max)) => format!("a number up to {max}"),
        (None, None) => "a number".to_owned(),
    }
}

/// Reads an entry of `labels`. Returns `None` for one that is reported as a fault.
pub(super) fn label(name: String, settings: Item<'_>) -> Option<Label> {
    if wrong_name(&name).is_some() || wrong(settings).is_some() {
        return None;
    }
    if let Some(question) = settings.word() {
        return Some(Label { name, kind: LabelKind::Question(question.to_owned()) });
    }
    let number = |key| settings.get_non_null(key).and_then(Node::number);
    let kind = match text(settings, "kind")?.as_str() {
        "category" => {
            let values = settings.get_non_null("values")?.items();
            LabelKind::Category(values.filter_map(Node::word).map(str::to_owned).collect())
        }
        "number" => LabelKind::Number { min: number("min"), max: number("max") },
        "text" => LabelKind::Text,
        _ => return None,
    };
    Some(Label { name, kind })
}

/// Returns what is wrong with the name of a label.
pub(super) fn wrong_name(name: &str) -> Option<&'static str> {
    let is_bad = name.trim() != name || name.is_empty() || name.len() > LONGEST_NAME;
    (is_bad || name.contains(char::is_control))
        .then_some("The name of a label has to be one line of at most 100 bytes")
}

/// Returns what is wrong with a label beyond its keys, with advice.
pub(super) fn wrong(settings: Item<'_>) -> Option<(&'static str, &'static str)> {
    if let Some(question) = settings.word() {
        return question.trim().is_empty().then_some((
            "The question of a label is empty",
            "Write a filter, or remove the label",
        ));
    }
    let number = |key| settings.get_non_null(key).and_then(Node::number);
    match settings.get_non_null("kind").and_then(Node::word) {
        Some("category") => {
            let values = settings.get_non_null("values");
            let values: Vec<&str> = values
                .map(|values| values.items().filter_map(Node::word).collect())
                .unwrap_or_default();
            wrong_values(&values)
        }
        Some("number") => number("min")
            .zip(number("max"))
            .is_some_and(|(min, max)| min > max)
            .then_some(("`min` is larger than `max`", "Swap them")),
        _ => None,
    }
}

/// Returns what is wrong with the values of a category, with advice.
fn wrong_values(values: &[&str]) -> Option<(&'static str, &'static str)> {
    if values.is_empty() {
        return Some(("A category has no `values`", "Write them as `values: [a, b]`"));
    }
    let is_bad = |value: &&str| value.trim() != *value || LabelKind::Text.check(value).is_err();
    if values.iter().any(is_bad) {
        return Some((
            "A value of a category is empty, has spaces around it, or is more than one line of 1,000 bytes",
            "Shorten or remove it",
        ));
    }
    let is_twice = |(at, value): (usize, &&str)| values.iter().take(at).any(|other| other == value);
    let has_double = values.iter().enumerate().any(is_twice);
    has_double.then_some(("A category has a value twice", "Remove one of them"))
}

/// Returns what is wrong with an entry of `labels`, with advice: its name, or its value.
pub(super) fn wrong_entry(name: &str, settings: Item<'_>) -> Option<(&'static str, &'static str)> {
    wrong_name(name).map(|wrong| (wrong, "Shorten it")).or_else(|| wrong(settings))
}

/// Returns the text of a workspace file with one more label that asks a question. Fails as
/// `with_label`, and for an empty question.
pub fn with_question(text: &str, name: &str, question: &str) -> Result<String, ReadError> {
    if question.trim().is_empty() || question.contains(char::is_control) {
        let message = "A label needs a filter on one line.".to_owned();
        let error = ReadError::new(ReadErrorKind::BadValue, message);
        return Err(error.advise("Write a filter first."));
    }
    with_label(text, name, &LabelKind::Question(question.to_owned()))
}

/// Formats the value of a label in the workspace file.
fn entry(kind: &LabelKind) -> String {
    match kind {
        LabelKind::Question(question) => quoted(question),
        LabelKind::Category(values) => {
            let values: Vec<String> = values.iter().map(|value| quoted(value)).collect();
            format!("{{ kind: category, values: [{}] }}", values.join(", "))
        }
        LabelKind::Number { min, max } => {
            let bound = |key: &str, bound: &Option<f64>| {
                bound.map(|bound| format!(", {key}: {bound}")).unwrap_or_default()
            };
            format!("{{ kind: number{}{} }}", bound("min", min), bound("max", max))
        }
        LabelKind::Text => "{ kind: text }".to_owned(),
    }
}

/// Returns the text of a workspace file with one more label. Comments and form of the file stay. Fails
/// for a bad name, a name that is taken, or a file that cannot be changed.
pub fn with_label(text: &str, name: &str, kind: &LabelKind) -> Result<String, ReadError> {
    let before = workspace::read(text)?;
    let refuse = |message: String, advice: &str| {
        ReadError::new(ReadErrorKind::BadValue, message).advise(advice)
    };
    if let Some(wrong) = wrong_name(name) {
        return Err(refuse(format!("{wrong}."), "Choose another name."));
    }
    let is_taken = |label: &Label| label.name.eq_ignore_ascii_case(name);
    if before.labels.iter().any(is_taken) {
        return Err(refuse(
            format!("There is a label named `{name}`."),
            "Choose another name, or edit the label in touchstone.yaml.",
        ));
    }
    let fixed = || {
        refuse(
            "A label cannot be added to this form of touchstone.yaml.".to_owned(),
            "Write each key of the file on a line of its own, or add it by hand: labels: { NAME: FILTER }.",
        )
    };
    let mut wanted = before.clone();
    wanted.labels.push(Label { name: name.to_owned(), kind: kind.clone() });
    let new = put_new(text, &[SECTION, name], &entry(kind)).ok_or_else(fixed)?;
    // Faults have line numbers, which may change.
    let without_faults = |one: Workspace| Workspace { faults: Vec::new(), ..one };
    let after = workspace::read(&new).map_err(|_| fixed())?;
    let is_kept = after.faults.len() <= before.faults.len();
    if !is_kept || without_faults(after) != without_faults(wanted) {
        return Err(fixed());
    }
    Ok(new)
}

/// Returns true for a map or a text, as the entries of `labels` are.
pub(super) fn is_entry(settings: Item<'_>) -> bool {
    settings.shape() == Shape::Map || settings.word().is_some()
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn labels_are_questions_or_schemas_in_the_order_of_the_file() {
        let file = workspace::read(
            "labels:\n  gave-up: \"no answer steps:>10\"\n  severity: { kind: category, values: [low, high] }\n  \
             points: { kind: number, min: -1, max: 5 }\n  owner: { kind: text }\n",
        )
        .unwrap();
        assert_eq!(file.faults, []);
        let kinds: Vec<LabelKind> = file.labels.iter().map(|label| label.kind.clone()).collect();
        assert_eq!(
            kinds,
            [
                LabelKind::Question("no answer steps:>10".to_owned()),
                LabelKind::Category(vec!["low".to_owned(), "high".to_owned()]),
                LabelKind::Number { min: Some(-1.0), max: Some(5.0) },
                LabelKind::Text,
            ]
        );
        assert_eq!(file.labels[1].name, "severity");
    }

    #[test]
    fn a_label_that_means_nothing_is_a_fault_and_is_left_out() {
        for (yaml, message) in [
            (
                "a: []",
                "`labels.a` has to be a filter or a map of `kind`, `values`, `min` and `max`.",
            ),
            ("a: ''", "The question of a label is empty."),
            ("a: { kind: categories }", "`kind` has to be one of `category`, `number` and `text`."),
            ("a: { kind: category }", "A category has no `values`."),
            ("a: { kind: category, values: [] }", "A category has no `values`."),
            ("a: { kind: category, values: [b, c, b] }", "A category has a value twice."),
            (
                "a: { kind: category, values: [b, ''] }",
                "A value of a category is empty, has spaces around it, or is more than one line of 1,000 bytes.",
            ),
            ("a: { values: [b] }", "`labels.a` has no `kind`."),
            ("a: { kind: number, min: 2, max: 1 }", "`min` is larger than `max`."),
            ("a: { kind: number, min: x }", "`min` has to be a number."),
            ("a: { kind: text, value: x }", "`value` is not a key of `labels.a`."),
            ("' a': x", "The name of a label has to be one line of at most 100 bytes."),
        ] {
            let file = workspace::read(&format!("labels: {{ {yaml}, fine: b }}\n")).unwrap();
            let messages: Vec<&str> = file.faults.iter().map(|one| one.message.as_str()).collect();
            assert_eq!(messages, [message], "{yaml}");
            assert!(file.labels.iter().any(|label| label.name == "fine"), "{yaml}");
        }
    }

    #[test]
    fn a_value_has_to_fit_the_schema() {
        let category = LabelKind::Category(vec!["low".to_owned(), "high".to_owned()]);
        let number = LabelKind::Number { min: Some(0.0), max: Some(5.0) };
        for (kind, value, fits) in [
            (&category, "low", true),
            (&category, "Low", false),
            (&number, "2.5", true),
            (&number, "6", false),
            (&number, "NaN", false),
            (&number, "two", false),
            (&LabelKind::Text, "anything at all", true),
            (&LabelKind::Text, "two\nlines", false),
            (&LabelKind::Text, " ", false),
            (&LabelKind::Question("x".to_owned()), "yes", false),
        ] {
            assert_eq!(kind.check(value).is_ok(), fits, "{kind:?} {value}");
        }
        assert_eq!(number.check("9").unwrap_err(), "Write a number from 0 to 5.");
        assert_eq!(category.check("x").unwrap_err(), "Choose one of: low, high.");
    }

    #[test]
    fn a_question_is_added_and_the_rest_of_the_file_stays() {
        for (text, expected) in [
            ("", "labels:\n  \"dear one\": \"cost:>1 \\\"x\\\"\"\n"),
            (
                "# mine\nrun: {} # x",
                "# mine\nrun: {} # x\nlabels:\n  \"dear one\": \"cost:>1 \\\"x\\\"\"\n",
            ),
            (
                "labels: # all\n  a: b # c\n\n# limits\nrun: {}\n",
                "labels: # all\n  a: b # c\n  \"dear one\": \"cost:>1 \\\"x\\\"\"\n\n# limits\nrun: {}\n",
            ),
            (
                "labels: { a: b } # c\n",
                "labels: { a: b, \"dear one\": \"cost:>1 \\\"x\\\"\" } # c\n",
            ),
            (
                "labels:\n  s: { kind: text }\nrun: {}\n",
                "labels:\n  s: { kind: text }\n  \"dear one\": \"cost:>1 \\\"x\\\"\"\nrun: {}\n",
            ),
        ] {
            let new = with_question(text, "dear one", "cost:>1 \"x\"").unwrap();
            assert_eq!(new, expected, "{text}");
        }
    }

    #[test]
    fn a_label_that_people_give_is_added_with_its_values() {
        let words = |all: &[&str]| all.iter().map(|word| (*word).to_owned()).collect::<Vec<_>>();
        for (kind, expected) in [
            (
                LabelKind::Category(words(&["low", "a, b"])),
                "{ kind: category, values: [\"low\", \"a, b\"] }",
            ),
            (LabelKind::Number { min: Some(0.5), max: None }, "{ kind: number, min: 0.5 }"),
            (LabelKind::Number { min: None, max: None }, "{ kind: number }"),
            (LabelKind::Text, "{ kind: text }"),
        ] {
            let new = with_label("labels:\n  a: b # mine\n", "new", &kind).unwrap();
            assert_eq!(new, format!("labels:\n  a: b # mine\n  \"new\": {expected}\n"));
        }
        let none = with_label("", "x", &LabelKind::Category(Vec::new()));
        assert!(none.unwrap_err().message.contains("cannot be added"));
    }

    #[test]
    fn a_name_is_taken_once_and_a_question_is_not_empty() {
        let file = "labels: { a: b }\n";
        for (name, question, message) in [
            ("A", "c", "There is a label named `A`."),
            ("", "c", "The name of a label has to be one line of at most 100 bytes."),
            ("x\ny", "c", "The name of a label has to be one line of at most 100 bytes."),
            ("c", " ", "A label needs a filter on one line."),
        ] {
            assert_eq!(with_question(file, name, question).unwrap_err().message, message);
        }
        assert!(with_question("{ output_dir: x }\n", "a", "b").is_err());
        assert!(with_question("labels: []\n", "a", "b").is_err());
    }
}
