//! **Pure.** Labels as the filter `label:` uses them: which names are known, what is wrong with their
//! questions, and in which order labels that use others can be decided.
use super::keys::nearest;
use super::{Ask, Comparison, Filter, FilterValue, Key, LabelCondition, Pattern, Token};
use std::collections::BTreeSet;
use touchstone_formats::workspace::labels::{Label, LabelKind};
use xxhash_rust::xxh3::xxh3_64;

/// Labels of a folder.
#[derive(Debug, Clone, Default)]
pub struct Labels {
    rules: Vec<LabelRule>,
    /// Indexes of the rules without errors; a label comes after those that its question uses.
    order: Vec<usize>,
    /// Hash of the definitions.
    hash: u64,
}

/// A label.
#[derive(Debug, Clone)]
pub struct LabelRule {
    /// Name and kind.
    pub label: Label,
    /// The question; matches no run for a label that people give, and for one with an error.
    pub filter: Filter,
    /// What is wrong with it, as a sentence with the next step.
    pub error: Option<String>,
}

impl LabelRule {
    /// Returns true for a label that follows from a question.
    pub fn is_question(&self) -> bool {
        matches!(self.label.kind, LabelKind::Question(_))
    }
}

impl Labels {
    /// Prepares labels. Of several with one name the first counts.
    pub fn new(labels: &[Label]) -> Self {
        let mut rules: Vec<LabelRule> = Vec::with_capacity(labels.len());
        for label in labels {
            if rules.iter().any(|known| known.label.name == label.name) {
                continue;
            }
            let (filter, error) = match &label.kind {
                LabelKind::Question(question) => {
                    let (filter, misread) = Filter::parse(question);
                    let first = misread.into_iter().next();
                    (filter, first.map(|one| format!("{}: {}", one.token, one.message)))
                }
                _ => (Filter::default(), None),
            };
            rules.push(LabelRule { label: label.clone(), filter, error });
        }
        let mut all =
            Self { rules, order: Vec::new(), hash: xxh3_64(format!("{labels:?}").as_bytes()) };
        all.check_uses();
        for rule in all.rules.iter_mut().filter(|rule| rule.error.is_some()) {
            rule.filter = Filter { tokens: Vec::new(), invalid: true };
        }
        all
    }

    /// Sets the order, and the errors of labels whose question uses what does not exist, what has an
    /// error, or itself.
    fn check_uses(&mut self) {
        let uses: Vec<Vec<&str>> = self.rules.iter().map(|rule| names_in(&rule.filter)).collect();
        let mut errors: Vec<Option<String>> =
            self.rules.iter().map(|rule| rule.error.clone()).collect();
        let place = |name: &str| self.rules.iter().position(|rule| is_named(&rule.label, name));
        for (at, rule) in self.rules.iter().enumerate().filter(|(_, rule)| rule.error.is_none()) {
            errors[at] = rule.filter.tokens.iter().find_map(|token| self.message(token));
        }
        let mut order: Vec<usize> = Vec::new();
        loop {
            let is_ready = |at: &usize| {
                let is_known = |name: &&str| place(name).is_some_and(|used| order.contains(&used));
                !order.contains(at) && errors[*at].is_none() && uses[*at].iter().all(is_known)
            };
            let ready: Vec<usize> = (0..self.rules.len()).filter(is_ready).collect();
            if ready.is_empty() {
                break;
            }
            order.extend(ready);
        }
        // What is left uses a label with an error, or leads back to itself.
        for at in 0..self.rules.len() {
            if order.contains(&at) || self.rules[at].error.is_some() || errors[at].is_some() {
                continue;
            }
            let mut path = vec![at];
            let message = loop {
                let last = path.last().copied().unwrap_or(at);
                let next = uses[last]
                    .iter()
                    .filter_map(|name| place(name))
                    .find(|used| !order.contains(used));
                let Some(next) = next else { break None };
                if let Some(start) = path.iter().position(|known| *known == next) {
                    path.push(next);
                    break Some(path.split_off(start));
                }
                if errors[next].is_some() {
                    let name = &self.rules[next].label.name;
                    errors[at] = Some(format!(
                        "It uses the label `{name}`, which has a mistake. Correct that one."
                    ));
                    break None;
                }
                path.push(next);
            };
            if let Some(circle) = message {
                let names: Vec<&str> =
                    circle.iter().map(|at| self.rules[*at].label.name.as_str()).collect();
                errors[at] = Some(format!(
                    "Its question leads back to itself: {}. Remove one of these labels from the question of another.",
                    names.join(" → ")
                ));
            }
        }
        for (rule, error) in self.rules.iter_mut().zip(errors) {
            rule.error = error;
        }
        self.order = order;
    }

    /// Returns all labels, in the order of the file.
    pub fn rules(&self) -> &[LabelRule] {
        &self.rules
    }

    /// Returns the label with this name; upper and lower case count only where both exist.
    pub fn rule(&self, name: &str) -> Option<&LabelRule> {
        let exact = self.rules.iter().find(|rule| rule.label.name == name);
        exact.or_else(|| self.rules.iter().find(|rule| is_named(&rule.label, name)))
    }

    /// Returns a hash that changes with the definitions.
    pub fn hash(&self) -> u64 {
        self.hash
    }

    /// Returns the labels that are needed to decide these ones, each after those that it uses.
    pub(crate) fn needed<'a>(&'a self, names: impl Iterator<Item = &'a str>) -> Vec<&'a LabelRule> {
        let place = |name: &str| {
            let rule = self.rule(name)?;
            self.rules.iter().position(|known| std::ptr::eq(known, rule))
        };
        let mut needed: BTreeSet<usize> = names.filter_map(place).collect();
        for at in self.order.iter().rev() {
            if needed.contains(at) {
                needed.extend(names_in(&self.rules[*at].filter).into_iter().filter_map(place));
            }
        }
        self.order.iter().filter(|at| needed.contains(at)).map(|at| &self.rules[*at]).collect()
    }

    /// Returns what is wrong with a token that asks for a label.
    pub(super) fn mistake(&self, token: &Token) -> Option<String> {
        self.message(token).or_else(|| {
            let Ask::Value(Key::Label, values) = &token.ask else { return None };
            values.iter().find_map(|value| {
                let FilterValue::Label(name, _) = value else { return None };
                let error = self.rule(name)?.error.as_ref()?;
                Some(format!("The label `{name}` has a mistake. {error}"))
            })
        })
    }

    fn message(&self, token: &Token) -> Option<String> {
        let Ask::Value(Key::Label, values) = &token.ask else { return None };
        values.iter().find_map(|value| match value {
            FilterValue::Label(name, condition) => self.message_of(name, condition),
            _ => None,
        })
    }

    fn message_of(&self, name: &str, condition: &LabelCondition) -> Option<String> {
        let Some(rule) = self.rule(name) else {
            let names = || self.rules.iter().map(|rule| rule.label.name.as_str());
            let advice = match nearest(name, names()) {
                Some(near) => format!("Did you mean label:{}?", super::typed(near)),
                None if self.rules.is_empty() => {
                    "Write labels into touchstone.yaml: labels: { NAME: FILTER }.".to_owned()
                }
                None => format!("There are: {}.", names().collect::<Vec<_>>().join(", ")),
            };
            return Some(format!("There is no label “{name}”. {advice}"));
        };
        match (&rule.label.kind, condition) {
            (_, LabelCondition::Any)
            | (LabelKind::Text, LabelCondition::Value(_))
            | (LabelKind::Number { .. }, LabelCondition::Number(..)) => None,
            (LabelKind::Question(_), _) => Some(format!(
                "The label “{name}” has no values. Write label:{}.",
                super::typed(name)
            )),
            (LabelKind::Category(values), LabelCondition::Value(wanted)) => {
                let fits = values.iter().any(|value| wanted.matches(value));
                (!fits).then(|| {
                    format!("“{name}” has no such value. There are: {}.", values.join(", "))
                })
            }
            (LabelKind::Number { .. }, LabelCondition::Value(wanted)) => {
                let is_number = matches!(wanted.0.as_slice(), [one] if one.parse::<f64>().is_ok());
                (!is_number).then(|| {
                    format!("“{name}” is a number. Write it like label:{}>2.", super::typed(name))
                })
            }
            (LabelKind::Category(_) | LabelKind::Text, LabelCondition::Number(..)) => {
                Some(format!("“{name}” is no number. Write label:{}=VALUE.", super::typed(name)))
            }
        }
    }
}

impl LabelCondition {
    /// Decides whether a value fits.
    pub(crate) fn fits(&self, value: &str) -> bool {
        let number = || value.parse::<f64>().ok().filter(|number| number.is_finite());
        match self {
            LabelCondition::Any => true,
            LabelCondition::Value(Pattern(pieces)) => {
                let wanted = match pieces.as_slice() {
                    [one] => one.parse::<f64>().ok(),
                    _ => None,
                };
                let is_equal =
                    |wanted| number().is_some_and(|one| Comparison::Equal.holds(one, wanted));
                Pattern(pieces.clone()).matches(value) || wanted.is_some_and(is_equal)
            }
            LabelCondition::Number(by, wanted) => {
                number().is_some_and(|one| by.holds(one, *wanted))
            }
        }
    }
}

fn is_named(label: &Label, name: &str) -> bool {
    label.name.eq_ignore_ascii_case(name)
}

/// Returns a question that asks for a label by its new name. `None` if it does not ask for the label, or
/// cannot be read.
pub fn with_renamed(question: &str, old: &str, new: &str) -> Option<String> {
    let (mut filter, misread) = Filter::parse(question);
    if !misread.is_empty() {
        return None;
    }
    let mut is_changed = false;
    for token in &mut filter.tokens {
        let Ask::Value(Key::Label, values) = &mut token.ask else { continue };
        for value in values {
            if let FilterValue::Label(name, _) = value
                && name.eq_ignore_ascii_case(old)
            {
                new.clone_into(name);
                is_changed = true;
            }
        }
    }
    is_changed.then(|| filter.to_string())
}

/// Returns the names of the labels that a filter asks for.
pub(crate) fn names_in(filter: &Filter) -> Vec<&str> {
    let mut names = Vec::new();
    for token in &filter.tokens {
        let Ask::Value(Key::Label, values) = &token.ask else { continue };
        names.extend(values.iter().filter_map(|value| match value {
            FilterValue::Label(name, _) => Some(name.as_str()),
            _ => None,
        }));
    }
    names
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_question_asks_for_a_label_by_its_new_name() {
        let renamed = |question| with_renamed(question, "gave-up", "left it");
        let new = renamed("-label:Gave-up,look=x cost:>1 \"gave-up\"").unwrap();
        assert_eq!(new, "-label:\"left it\",look=x cost:>1 gave-up");
        assert_eq!(renamed("gave-up task:gave-up label:look"), None);
        assert_eq!(renamed("label:gave-up modle:x"), None);
    }

    fn labels(all: &[(&str, &str)]) -> Labels {
        let question = |(name, text): &(&str, &str)| Label {
            name: (*name).to_owned(),
            kind: LabelKind::Question((*text).to_owned()),
        };
        Labels::new(&all.iter().map(question).collect::<Vec<_>>())
    }

    fn with_schemas() -> Labels {
        let given = |name: &str, kind| Label { name: name.to_owned(), kind };
        Labels::new(&[
            given("gave-up", LabelKind::Question("answer:no steps:>10".to_owned())),
            given("severity", LabelKind::Category(vec!["low".to_owned(), "high".to_owned()])),
            given("points", LabelKind::Number { min: None, max: None }),
            given("owner", LabelKind::Text),
        ])
    }

    #[test]
    fn a_mistake_in_a_label_is_named_below_its_word() {
        let labels = with_schemas();
        for (typed, expected) in [
            ("label:gave-up", ""),
            ("-label:GAVE-UP", ""),
            ("label:severity", ""),
            ("label:severity=high", ""),
            ("label:severity=h*,gave-up", ""),
            ("label:points>2", ""),
            ("label:points=2", ""),
            ("label:points<-1", ""),
            ("label:owner=\"Zoë Ö\"", ""),
            (
                "x label:gaveup",
                "label:gaveup → There is no label “gaveup”. Did you mean label:gave-up?",
            ),
            (
                "label:x",
                "label:x → There is no label “x”. There are: gave-up, severity, points, owner.",
            ),
            (
                "label:gave-up=1",
                "label:gave-up=1 → The label “gave-up” has no values. Write label:gave-up.",
            ),
            (
                "label:severity=mid",
                "label:severity=mid → “severity” has no such value. There are: low, high.",
            ),
            (
                "label:severity>2",
                "label:severity>2 → “severity” is no number. Write label:severity=VALUE.",
            ),
            (
                "label:points=x",
                "label:points=x → “points” is a number. Write it like label:points>2.",
            ),
            (
                "label:",
                "label: → Write a value after “label:”, without a space between: label:NAME.",
            ),
        ] {
            let (filter, misread) = Filter::parse_with(typed, &labels);
            let messages: Vec<String> =
                misread.iter().map(|one| format!("{} → {}", one.token, one.message)).collect();
            assert_eq!(messages.join("\n"), expected, "{typed}");
            assert_eq!(filter.invalid, !expected.is_empty());
        }
        let (_, misread) = Filter::parse_with("label:a", &Labels::default());
        assert_eq!(
            misread[0].message,
            "There is no label “a”. Write labels into touchstone.yaml: labels: { NAME: FILTER }."
        );
    }

    #[test]
    fn labels_that_lead_back_to_themselves_are_an_error_and_others_are_not() {
        let all = labels(&[
            ("z", "label:a cost:>1"),
            ("a", "turns:>2"),
            ("b", "label:c"),
            ("c", "label:d -label:a"),
            ("d", "label:b"),
            ("self", "label:self"),
            ("user", "label:self x"),
            ("odd", "modle:o1"),
            ("none", "label:nothing"),
            ("above", "label:odd"),
        ]);
        let error = |name: &str| all.rule(name).unwrap().error.clone().unwrap_or_default();
        assert_eq!((error("a"), error("z")), (String::new(), String::new()));
        let circle = "Remove one of these labels from the question of another.";
        assert_eq!(
            error("b"),
            format!("Its question leads back to itself: b → c → d → b. {circle}")
        );
        assert_eq!(
            error("self"),
            format!("Its question leads back to itself: self → self. {circle}")
        );
        assert_eq!(
            error("user"),
            "It uses the label `self`, which has a mistake. Correct that one."
        );
        assert!(error("odd").starts_with("modle:o1: Unknown key"), "{}", error("odd"));
        assert!(error("none").starts_with("There is no label “nothing”."), "{}", error("none"));
        assert_eq!(
            error("above"),
            "It uses the label `odd`, which has a mistake. Correct that one."
        );
        let (_, misread) = Filter::parse_with("label:b", &all);
        assert!(
            misread[0].message.starts_with("The label `b` has a mistake. Its question leads back")
        );
        let needed: Vec<&str> =
            all.needed(["z"].into_iter()).iter().map(|rule| rule.label.name.as_str()).collect();
        assert_eq!(needed, ["a", "z"]);
    }

    #[test]
    fn the_printed_form_of_a_label_is_read_back() {
        for (typed, expected) in [
            ("label:gave-up", "label:gave-up"),
            ("!label:\"dear one\",x", "-label:\"dear one\",x"),
            ("label:severity=high label:points>=2", "label:severity=high label:points>=2"),
            ("label:owner=Z*", "label:owner=Z*"),
            ("label:points<-1", "label:points<-1"),
            ("label:\"a=b\"", "label:\"a=b\""),
        ] {
            let (filter, misread) = Filter::parse(typed);
            assert_eq!(misread, [], "{typed}");
            assert_eq!(filter.to_string(), expected);
            assert_eq!(Filter::parse(expected).0, filter);
        }
    }

    #[test]
    fn values_are_compared_as_text_or_as_numbers() {
        for (typed, value, fits) in [
            ("label:a", "x", true),
            ("label:a=high", "High", true),
            ("label:a=h*", "high", true),
            ("label:a=2", "2.0", true),
            ("label:a=2", "20", false),
            ("label:a>2", "2.5", true),
            ("label:a>2", "high", false),
            ("label:a<=2", "2", true),
            ("label:a<-1", "-1.5", true),
            ("label:a<-1", "-1", false),
        ] {
            let filter = Filter::parse(typed).0;
            let Ask::Value(_, values) = &filter.tokens[0].ask else { panic!("{typed}") };
            let FilterValue::Label(_, condition) = &values[0] else { panic!("{typed}") };
            assert_eq!(condition.fits(value), fits, "{typed} {value}");
        }
    }
}
