//! **Pure.** Prompt templates with `{parameter}`s. The prompts may also contain JSON with raw
//! braces.
use touchstone_model::json;
use touchstone_model::nearest::nearest;
use touchstone_model::node::Node as _;
use touchstone_model::value::Value;

/// A `{word}` that looks like a parameter but is none.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Warning {
    /// Word without the braces.
    pub word: String,
    /// Byte offset of its opening brace in the template.
    pub offset: usize,
    /// Parameter that was probably meant.
    pub nearest: Option<String>,
}

impl Warning {
    /// Formats the warning as a message for the user.
    pub fn message(&self) -> String {
        let Warning { word, nearest, .. } = self;
        let rest = nearest
            .as_ref()
            .map_or_else(String::new, |near| format!(" Did you mean `{{{near}}}`?"));
        format!("`{{{word}}}` looks like a parameter, but no variation has one of that name.{rest}")
    }
}

/// Renders a template with the parameters of one variation; `names` holds the parameter names of
/// all variations of the task. If the template is a strict format string in which every field is
/// one of `names`, it is formatted (`{{` becomes `{`); otherwise only `{known}` is replaced and
/// every other brace stays. Therefore all variations of a task are read by the same rule, and a
/// field without a value in this variation stays as written.
pub fn render(template: &str, names: &[&str], parameters: &[(String, Value)]) -> String {
    let value = |word: &str| {
        parameters.iter().find(|(name, _)| name == word).map(|(_, value)| format_parameter(value))
    };
    let field =
        |word: &str| value(word).or_else(|| names.contains(&word).then(|| format!("{{{word}}}")));
    if let Some(text) = filled(template, field) {
        return text;
    }
    let (mut out, mut at) = (String::new(), 0);
    for (start, word) in fields(template) {
        if let Some(value) = value(word) {
            out.push_str(&template[at..start]);
            out.push_str(&value);
            at = start + word.len() + 2;
        }
    }
    out.push_str(&template[at..]);
    out
}

/// Returns a warning for every `{word}` that is no parameter of any variation.
pub fn check(template: &str, names: &[&str]) -> Vec<Warning> {
    let known = |word: &str| names.contains(&word).then(String::new);
    if filled(template, known).is_some() {
        return Vec::new();
    }
    let unknown = fields(template).filter(|(_, word)| !names.contains(word));
    unknown.map(|(start, word)| warning(word, start, names)).collect()
}

fn warning(word: &str, offset: usize, names: &[&str]) -> Warning {
    let nearest = nearest(word, names.iter().copied()).map(str::to_owned);
    Warning { word: word.to_owned(), offset, nearest }
}

/// Formats a parameter value for insertion into a prompt.
fn format_parameter(value: &Value) -> String {
    match value.word() {
        Some(word) => word.to_owned(),
        None => json::write(value, false),
    }
}

/// Fills in a strict format string. Returns `None` if the template is none, or if a field has no
/// value.
fn filled(template: &str, value: impl Fn(&str) -> Option<String>) -> Option<String> {
    let mut out = String::new();
    let mut rest = template;
    while let Some(at) = rest.find(['{', '}']) {
        out.push_str(&rest[..at]);
        rest = &rest[at..];
        if let Some(after) = rest.strip_prefix("{{") {
            out.push('{');
            rest = after;
        } else if let Some(after) = rest.strip_prefix("}}") {
            out.push('}');
            rest = after;
        } else {
            let (word, after) = rest.strip_prefix('{')?.split_once('}')?;
            out.push_str(&value(word).filter(|_| is_word(word))?);
            rest = after;
        }
    }
    out.push_str(rest);
    Some(out)
}

/// Returns the given parameter names that occur as fields in a template.
pub fn used<'a>(template: &str, names: &[&'a str]) -> Vec<&'a str> {
    names.iter().copied().filter(|name| fields(template).any(|(_, word)| word == *name)).collect()
}

/// Returns every `{word}` with the byte offset of its brace.
fn fields(template: &str) -> impl Iterator<Item = (usize, &str)> {
    template.match_indices('{').filter_map(|(at, _)| {
        let rest = &template[at + 1..];
        // Scans only over word characters: searching for a closing brace from every opening one
        // would be quadratic when none is closed.
        let end = rest.find(|letter: char| !(letter.is_alphanumeric() || letter == '_'))?;
        let word = &rest[..end];
        (rest[end..].starts_with('}') && is_word(word)).then_some((at, word))
    })
}

fn is_word(text: &str) -> bool {
    text.starts_with(|letter: char| letter.is_alphabetic() || letter == '_')
        && text.chars().all(|letter| letter.is_alphanumeric() || letter == '_')
}

#[cfg(test)]
mod tests {
    use super::*;
    use proptest::prelude::*;

    const NAMES: [&str; 2] = ["data", "n"];

    fn render_both(template: &str) -> String {
        render(
            template,
            &NAMES,
            &[("data".to_owned(), "last 20".into()), ("n".to_owned(), Value::Number("10".into()))],
        )
    }

    #[test]
    fn a_strict_format_string_is_formatted() {
        assert_eq!(
            render_both("{data} of {n}: [{{ \"id\": 1 }}]"),
            "last 20 of 10: [{ \"id\": 1 }]"
        );
    }

    #[test]
    fn raw_json_keeps_its_braces() {
        assert_eq!(render_both("{data}: [{ \"id\": {n} }] }}"), "last 20: [{ \"id\": 10 }] }}");
    }

    #[test]
    fn a_variation_without_one_of_the_values_is_read_the_same_way_as_the_others() {
        let only = |template: &str| render(template, &NAMES, &[("data".to_owned(), "all".into())]);
        assert_eq!(only("{data} of {n}: [{{ \"id\": 1 }}]"), "all of {n}: [{ \"id\": 1 }]");
        assert_eq!(only("{data} of {n}: [{ \"id\": 1 }] }}"), "all of {n}: [{ \"id\": 1 }] }}");
        assert_eq!(used("{data} of {n}", &NAMES), NAMES);
        assert_eq!(used("[{ n }] {data}", &NAMES), ["data"]);
    }

    #[test]
    fn a_word_that_is_no_parameter_is_a_warning() {
        assert_eq!(render_both("{dat} and {data}"), "{dat} and last 20");
        let warnings = check("{dat} and {data}", &NAMES);
        assert_eq!(
            warnings.iter().map(Warning::message).collect::<Vec<_>>(),
            [
                "`{dat}` looks like a parameter, but no variation has one of that name. Did you mean `{data}`?"
            ]
        );
    }

    proptest! {
        #[test]
        fn a_value_is_put_in_as_it_is(value in "\\PC{0,20}") {
            let parameters = [("a".to_owned(), Value::Text(value.clone()))];
            prop_assert_eq!(render("<{a}>", &[], &parameters), format!("<{value}>"));
            prop_assert_eq!(render("<{a}> {", &[], &parameters), format!("<{value}> {{"));
        }

        #[test]
        fn a_template_without_braces_stays_as_it_is(text in "[^{}]{0,40}") {
            prop_assert_eq!(render(&text, &[], &[]), text);
        }
    }
}
