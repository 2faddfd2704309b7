//! **Pure.** Parses the `scorers:` of a suite: `fields`, `text: f1`, `numeric: { cutoff: 5 }`.
//! Invalid entries are skipped with a message that says what to write; nothing is guessed.
use super::options::ScorerOptions;
use super::scorer::{Fields, Items, Likeness, Numeric, Rule, Scorer};
use crate::diff::{Dates, Tolerance};
use std::sync::Arc;
use touchstone_formats::transcript::GOAL_REACHED;
use touchstone_judges::stabletoolbench::FinishRule;
use touchstone_judges::{About, Judge, JudgeRef, KINDS, MOST_ROUNDS, Rules};
use touchstone_metrics::text::{Metric, Nltk, StringCheck};
use touchstone_model::nearest::nearest;
use touchstone_model::value::Value;

/// A rule that suites can name.
struct RuleSpec {
    name: &'static str,
    /// Names of its options, besides `threshold`.
    options: &'static [&'static str],
    /// Options that a bare word and a bare number after the name stand for.
    bare: (&'static str, &'static str),
    /// Returns the display name and the rule, or a message if an option cannot be parsed.
    build: fn(&ScorerOptions<'_>) -> Result<(String, Rule), String>,
}

const KNOWN: [RuleSpec; 18] = [
    RuleSpec {
        name: "exact",
        options: &[],
        bare: ("", ""),
        build: |given| Ok((given.rule(), Rule::Exact)),
    },
    RuleSpec {
        name: "fields",
        options: &["key", "tolerance", "relative", "ignore", "ordered", "strict", "dates"],
        bare: ("key", "tolerance"),
        build: fields,
    },
    RuleSpec {
        name: "numeric",
        options: &["cutoff", "relative", "field", "key"],
        bare: ("field", "cutoff"),
        build: numeric,
    },
    RuleSpec {
        name: "prefix_list",
        options: &["key"],
        bare: ("key", ""),
        build: |given| Ok((given.rule(), Rule::PrefixList(items(given)?))),
    },
    RuleSpec {
        name: "similar_list",
        options: &["cutoff", "key"],
        bare: ("key", "cutoff"),
        build: similar_list,
    },
    RuleSpec {
        name: "kendall_tau",
        options: &["key"],
        bare: ("key", ""),
        build: |given| Ok((given.rule(), Rule::KendallTau(items(given)?))),
    },
    RuleSpec { name: "text", options: &["metric", "nltk"], bare: ("metric", ""), build: text },
    RuleSpec {
        name: "string_check",
        options: &["operation", "reference"],
        bare: ("operation", ""),
        build: string_check,
    },
    RuleSpec {
        name: "text_similarity",
        options: &["metric", "nltk"],
        bare: ("metric", ""),
        build: text_similarity,
    },
    RuleSpec {
        name: "tool_calls",
        options: &[],
        bare: ("", ""),
        build: |given| Ok((given.rule(), Rule::ToolCalls)),
    },
    RuleSpec {
        name: GOAL_REACHED,
        options: &[],
        bare: ("", ""),
        build: |given| Ok((given.rule(), Rule::GoalReached)),
    },
    RuleSpec { name: "api_calls", options: &["compat"], bare: ("compat", ""), build: api_calls },
    RuleSpec { name: "finish", options: &["rule"], bare: ("rule", ""), build: finish },
    RuleSpec {
        name: "seed_heuristic",
        options: &["compat"],
        bare: ("compat", ""),
        build: seed_heuristic,
    },
    RuleSpec { name: "python", options: &["path"], bare: ("path", ""), build: python },
    RuleSpec {
        name: "label_model",
        options: &["name", "input", "labels", "passing_labels", "model", "rounds"],
        bare: ("", ""),
        build: own_judge,
    },
    RuleSpec {
        name: "score_model",
        options: &["name", "input", "range", "model", "rounds"],
        bare: ("", ""),
        build: own_judge,
    },
    RuleSpec {
        name: "judge",
        options: &["name", "model", "rules", "rounds"],
        bare: ("name", ""),
        build: judge,
    },
];

/// Problem in a list of scorers.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct ScorerProblem {
    /// Message, as a sentence.
    pub message: String,
    /// True if a scorer is skipped because of it; otherwise only a part is ignored.
    pub left_out: bool,
}

/// Collects problems in the order of the list.
#[derive(Default)]
struct Complaints(Vec<ScorerProblem>);

impl Complaints {
    fn push(&mut self, message: String) {
        self.0.push(ScorerProblem { message, left_out: false });
    }

    fn leave_out(&mut self, message: String) {
        self.0.push(ScorerProblem { message, left_out: true });
    }
}

/// Parses the scorers of a suite, in order. Also returns the problems as sentences. The names of
/// the scorers are unique.
pub fn read(list: &[Value]) -> (Vec<Scorer>, Vec<String>) {
    let (scorers, complaints) = read_all(list);
    (scorers, complaints.into_iter().map(|complaint| complaint.message).collect())
}

/// Returns the problems in a list of scorers, in order.
pub fn complaints(list: &[Value]) -> Vec<ScorerProblem> {
    read_all(list).1
}

fn read_all(list: &[Value]) -> (Vec<Scorer>, Vec<ScorerProblem>) {
    let mut scorers: Vec<Scorer> = Vec::new();
    let mut complaints = Complaints::default();
    for item in list {
        for (name, options) in named(item, &mut complaints) {
            match scorer(&name, options, &mut complaints) {
                Ok(scorer) => add(&mut scorers, scorer, &mut complaints),
                Err(message) => complaints.leave_out(message),
            }
        }
    }
    (scorers, complaints.0)
}

/// Returns the names and options in an entry: `fields`, `judge:relevance`, `text: f1`, or several
/// keys of one map.
fn named<'a>(item: &'a Value, warnings: &mut Complaints) -> Vec<(String, Option<&'a Value>)> {
    match item {
        Value::Text(name) => vec![(name.trim().to_owned(), None)],
        Value::Map(entries) => {
            let mut named: Vec<(String, Option<&Value>)> = Vec::new();
            for (key, value) in entries {
                let Some(key) = key.text() else {
                    warnings.leave_out(
                        "A name of a scorer has to be a text, such as `fields`.".to_owned(),
                    );
                    continue;
                };
                if let Some(of) = named.last().and_then(|(name, _)| option_of(name, key)) {
                    warnings.push(format!(
                        "`{key}` is beside `{of}`, so it has no effect. Indent it below, as in `{of}: {{ {key}: … }}`."
                    ));
                } else {
                    named.push((
                        key.trim().to_owned(),
                        Some(value).filter(|value| **value != Value::Null),
                    ));
                }
            }
            named
        }
        _ => {
            warnings
                .leave_out("A scorer has to be a name, such as `fields` or `text: f1`.".to_owned());
            Vec::new()
        }
    }
}

/// Returns the preceding rule if a key is probably one of its options.
fn option_of(before: &str, key: &str) -> Option<&'static str> {
    let is_rule = KNOWN.iter().any(|known| known.name == key);
    let known = KNOWN.iter().find(|known| known.name == before)?;
    (!is_rule && (key == "threshold" || known.options.contains(&key))).then_some(known.name)
}

fn scorer(
    written: &str,
    options: Option<&Value>,
    warnings: &mut Complaints,
) -> Result<Scorer, String> {
    // `judge:relevance` and `text:f1` are one word in YAML.
    let (name, word) = match written.split_once(':') {
        Some((name, word)) if options.is_none() || name == "judge" => {
            (name.trim_end(), Some(word.trim()))
        }
        _ => (written, None),
    };
    let known = KNOWN.iter().find(|known| known.name == name).ok_or_else(|| unknown(name))?;
    let word = word.filter(|word| !word.is_empty()).map(Value::from);
    let given = ScorerOptions::new(known.name, known.bare, word.as_ref(), options)?;
    let (shown, rule) = (known.build)(&given)?;
    let threshold = match &rule {
        // Such a judge has its own range.
        Rule::Judge { own: Some(_), .. } => None,
        Rule::Judge { name, .. } => {
            given.threshold(About::for_judge(name).map(|about| about.scale))?
        }
        _ => given.threshold(None)?,
    };
    for option in
        given.names().filter(|option| *option != "threshold" && !known.options.contains(option))
    {
        let near = nearest(option, known.options.iter().copied().chain(["threshold"]));
        let advice =
            near.map_or_else(|| say_options(known), |near| format!("Did you mean `{near}`?"));
        warnings.push(format!(
            "`{option}` is not an option of `{name}`, so it has no effect. {advice}"
        ));
    }
    Ok(Scorer {
        name: shown,
        rule,
        threshold,
        options: given.into_options(|name| known.options.contains(&name)),
    })
}

fn unknown(name: &str) -> String {
    let near = nearest(name, KNOWN.iter().map(|known| known.name));
    let advice = near.map_or_else(
        || format!("Known are {}.", list(KNOWN.iter().map(|known| known.name))),
        |near| format!("Did you mean `{near}`?"),
    );
    format!("`{name}` is not a scorer, so it is left out. {advice}")
}

fn say_options(known: &RuleSpec) -> String {
    format!("It has {}.", list(known.options.iter().copied().chain(["threshold"])))
}

/// Joins names as code: `a`, `b` and `c`.
pub(super) fn list<'a>(names: impl IntoIterator<Item = &'a str>) -> String {
    let names: Vec<String> = names.into_iter().map(|name| format!("`{name}`")).collect();
    match names.split_last() {
        Some((last, others)) if !others.is_empty() => format!("{} and {last}", others.join(", ")),
        _ => names.concat(),
    }
}

/// Adds a scorer under a unique name, unless an equal one exists.
fn add(scorers: &mut Vec<Scorer>, mut scorer: Scorer, warnings: &mut Complaints) {
    // Judges with equal rules but different models are different scorers.
    let is_judge = matches!(scorer.rule, Rule::Judge { .. });
    let is_same = |other: &Scorer| {
        let options = !is_judge || other.options == scorer.options;
        other.rule == scorer.rule && other.threshold == scorer.threshold && options
    };
    if scorers.iter().any(is_same) {
        warnings.push(format!("`{}` is there twice; once is enough.", scorer.name));
        return;
    }
    let same_name = |other: &Scorer| match (&other.rule, &scorer.rule) {
        (Rule::Judge { own: Some(one), .. }, Rule::Judge { own: Some(other), .. }) => {
            one.name == other.name && one != other
        }
        _ => false,
    };
    if scorers.iter().any(same_name) {
        warnings.push(format!(
            "Two scorers are named `{}`, so the second is left out. Give it another `name`.",
            scorer.name
        ));
        return;
    }
    let base = scorer.name.clone();
    let mut count = 1;
    while scorers.iter().any(|other| other.name == scorer.name) {
        count += 1;
        scorer.name = format!("{base} {count}");
    }
    scorers.push(scorer);
}

fn fields(given: &ScorerOptions<'_>) -> Result<(String, Rule), String> {
    let mut tolerance = given.tolerance("tolerance")?;
    if let (Some(share @ Tolerance { relative: None, .. }), true) =
        (tolerance, given.flag("relative")?)
    {
        tolerance = Some(Tolerance { absolute: None, relative: share.absolute });
    }
    let rule = Fields {
        key: given.words("key")?,
        tolerance,
        ignore: given.words("ignore")?,
        ordered: given.flag("ordered")?,
        strict: given.flag("strict")?,
        dates: match given.word("dates")?.as_deref() {
            None | Some("by_meaning") => Dates::ByMeaning,
            Some("as_written") => Dates::AsWritten,
            Some(other) => {
                return Err(given.bad("dates", other, "Write `by_meaning` or `as_written`."));
            }
        },
    };
    Ok((given.rule(), Rule::Fields(rule)))
}

fn numeric(given: &ScorerOptions<'_>) -> Result<(String, Rule), String> {
    let (cutoff, percent) = given.distance("cutoff")?;
    let relative = percent || given.flag("relative")?;
    let fields = given.words("field")?;
    let name = if fields.is_empty() {
        given.rule()
    } else {
        format!("{}: {}", given.rule(), fields.join(", "))
    };
    Ok((name, Rule::Numeric(Numeric { cutoff, relative, fields, key: given.words("key")? })))
}

fn items(given: &ScorerOptions<'_>) -> Result<Items, String> {
    Ok(Items { key: given.word("key")? })
}

fn similar_list(given: &ScorerOptions<'_>) -> Result<(String, Rule), String> {
    let cutoff = given.whole_number("cutoff")?.unwrap_or(5);
    Ok((given.rule(), Rule::SimilarList { items: items(given)?, cutoff }))
}

fn text(given: &ScorerOptions<'_>) -> Result<(String, Rule), String> {
    let names: Vec<&str> = Metric::ALL.iter().map(|metric| metric.name()).collect();
    let word = measure(given, &names)?;
    let metric = Metric::from_name(&word).ok_or_else(|| no_measure(given, &word, &names))?;
    let likeness = Likeness::Words(metric);
    Ok((format!("text: {}", metric.name()), Rule::Text { likeness, nltk: nltk(given)? }))
}

fn text_similarity(given: &ScorerOptions<'_>) -> Result<(String, Rule), String> {
    let metrics =
        Metric::ALL.iter().filter(|metric| **metric != Metric::F1).map(|metric| metric.name());
    let names: Vec<&str> = std::iter::once("fuzzy").chain(metrics).collect();
    let word = measure(given, &names)?;
    let (name, likeness) = match Metric::from_name(&word) {
        Some(metric) if metric != Metric::F1 => (metric.name(), Likeness::Words(metric)),
        _ if matches!(&*word, "fuzzy" | "fuzzy_match") => ("fuzzy", Likeness::Letters),
        _ if word == "cosine" => {
            return Err("`text_similarity: cosine` needs vectors of a model, which scorers of \
                suites cannot ask for, so it is left out. Take another measure here, or \
                `touchstone evaluate`."
                .to_owned());
        }
        _ => return Err(no_measure(given, &word, &names)),
    };
    Ok((format!("text_similarity: {name}"), Rule::Text { likeness, nltk: nltk(given)? }))
}

fn measure(given: &ScorerOptions<'_>, names: &[&str]) -> Result<String, String> {
    given.word("metric")?.ok_or_else(|| {
        format!(
            "`{}` needs a measure, so it is left out. Write one of {}.",
            given.rule(),
            list(names.iter().copied())
        )
    })
}

fn no_measure(given: &ScorerOptions<'_>, word: &str, names: &[&str]) -> String {
    let advice = match nearest(word, names.iter().copied()) {
        Some(near) => format!("Did you mean `{near}`?"),
        None => format!("Write one of {}.", list(names.iter().copied())),
    };
    format!("`{word}` is not a measure of `{}`, so it is left out. {advice}", given.rule())
}

fn nltk(given: &ScorerOptions<'_>) -> Result<Nltk, String> {
    let Some(version) = given.word("nltk")? else { return Ok(Nltk::default()) };
    Nltk::from_name(&version)
        .ok_or_else(|| given.bad("nltk", &version, "Write `3.10.4` or `3.9.1`."))
}

fn string_check(given: &ScorerOptions<'_>) -> Result<(String, Rule), String> {
    let word = given.word("operation")?.unwrap_or_else(|| StringCheck::Eq.name().to_owned());
    let operation = StringCheck::from_name(&word)
        .ok_or_else(|| given.bad("operation", &word, "Write `eq`, `ne`, `like` or `ilike`."))?;
    Ok((
        format!("string_check: {word}"),
        Rule::StringCheck { operation, reference: given.word("reference")? },
    ))
}

fn api_calls(given: &ScorerOptions<'_>) -> Result<(String, Rule), String> {
    let seed = compat(given)?;
    Ok((compatible(given, seed), Rule::ApiCalls { seed }))
}

fn seed_heuristic(given: &ScorerOptions<'_>) -> Result<(String, Rule), String> {
    let seed = compat(given)?;
    Ok((compatible(given, seed), Rule::SeedHeuristic { seed }))
}

/// Returns true if the scorer must reproduce the original, including its errors.
fn compat(given: &ScorerOptions<'_>) -> Result<bool, String> {
    match given.word("compat")?.as_deref() {
        None => Ok(false),
        Some("seed") => Ok(true),
        Some(other) => Err(given.bad("compat", other, "Write `seed`, or leave it out.")),
    }
}

fn compatible(given: &ScorerOptions<'_>, seed: bool) -> String {
    if seed { format!("{}: seed", given.rule()) } else { given.rule() }
}

fn finish(given: &ScorerOptions<'_>) -> Result<(String, Rule), String> {
    let word = given.word("rule")?.unwrap_or_else(|| FinishRule::default().name().to_owned());
    let rule = FinishRule::named(&word).ok_or_else(|| {
        given.bad("rule", &word, "Write `ours`, `official`, `document` or `seed`.")
    })?;
    let name = if rule == FinishRule::default() {
        given.rule()
    } else {
        format!("{}: {word}", given.rule())
    };
    Ok((name, Rule::Finish(rule)))
}

fn python(given: &ScorerOptions<'_>) -> Result<(String, Rule), String> {
    let path = given.word("path")?.ok_or_else(|| {
        "`python` needs a module, so it is left out. Write its path beside the suite: `python: scorer.py`.".to_owned()
    })?;
    Ok((format!("python: {path}"), Rule::Python { path }))
}

fn judge(given: &ScorerOptions<'_>) -> Result<(String, Rule), String> {
    let name = given.word("name")?.ok_or_else(|| {
        "`judge` needs a name, so it is left out. Write it as `judge:relevance`.".to_owned()
    })?;
    if touchstone_judges::named(&name).is_some_and(|judge| judge.pairs) {
        return Err(format!(
            "`judge:{name}` compares a run with another, so it is left out. Ask for it with `touchstone score --judge {name}`."
        ));
    }
    asking(given)?;
    if let Some(rules) = given.word("rules")? {
        let only_ours = touchstone_judges::named(&name).is_some_and(|judge| !judge.official);
        match Rules::from_word(&rules) {
            None => return Err(given.bad("rules", &rules, "Write `ours` or `official`.")),
            Some(Rules::Official) if only_ours => {
                return Err(format!(
                    "`judge:{name}` has no official rules, so it is left out. Leave `rules: official` out of it."
                ));
            }
            Some(_) => {}
        }
    }
    Ok((format!("judge:{name}"), Rule::Judge { name, own: None }))
}

/// Checks the options for the model and the number of rounds.
fn asking(given: &ScorerOptions<'_>) -> Result<(), String> {
    given.word("model")?;
    match given.whole_number("rounds")? {
        Some(rounds) if !(1..=MOST_ROUNDS).contains(&rounds) => Err(given.bad(
            "rounds",
            &rounds.to_string(),
            &format!("Write a number from 1 to {MOST_ROUNDS}."),
        )),
        _ => Ok(()),
    }
}

/// Builds a judge defined in the suite: `label_model: { name: tone, input: …, labels: [kind, rude],
/// passing_labels: [kind] }`.
fn own_judge(given: &ScorerOptions<'_>) -> Result<(String, Rule), String> {
    asking(given)?;
    let rule = given.rule();
    let kind = KINDS.into_iter().find(|kind| *kind == rule).unwrap_or_default();
    let name = given.word("name")?.unwrap_or_else(|| rule.clone());
    let option = |key: &str| {
        let value = given.get(key)?.clone();
        let message = |text: Value| {
            Value::Map(vec![("role".into(), "user".into()), ("content".into(), text)])
        };
        let value = if let (Value::Text(_), "input") = (&value, key) {
            Value::List(vec![message(value)])
        } else {
            value
        };
        Some((Value::from(if key == "threshold" { "pass_threshold" } else { key }), value))
    };
    let options = ["input", "labels", "passing_labels", "range", "threshold"]
        .into_iter()
        .filter_map(option)
        .collect();
    let judge = Judge::from_suite(&name, kind, options)
        .map_err(|why| format!("`{rule}` is left out. {why}"))?;
    Ok((format!("judge:{name}"), Rule::Judge { name, own: Some(JudgeRef::Own(Arc::new(judge))) }))
}

#[cfg(test)]
mod tests {
    use super::KNOWN;
    use std::path::Path;

    #[test]
    fn the_reference_page_names_every_scorer_and_option() {
        let path = Path::new(env!("CARGO_MANIFEST_DIR")).join("../../docs/reference/scorers.md");
        let page = std::fs::read_to_string(path).unwrap();
        let is_named = |text: &str, name: &str| {
            let forms = [format!("`{name}`"), format!("`{name}:"), format!("<{name}>`")];
            forms.iter().any(|form| text.contains(form))
        };
        let sections: Vec<(&str, &str)> = page
            .split("\n### ")
            .filter_map(|section| section.split_once('\n'))
            .map(|(names, rest)| (names, rest.split("\n## ").next().unwrap_or_default()))
            .collect();
        for rule in &KNOWN {
            let sections = sections
                .iter()
                .filter(|(names, _)| names.split(", ").any(|name| name == rule.name))
                .map(|(_, section)| *section);
            let rows = page.lines().filter(|line| line.starts_with('|'));
            let paragraphs = page.split("\n\n").filter(|text| !text.contains('|'));
            let others = rows.chain(paragraphs).filter(|text| is_named(text, rule.name));
            let texts: Vec<&str> = sections.chain(others).collect();
            assert!(!texts.is_empty(), "{}", rule.name);
            for option in rule.options {
                let is_there = texts.iter().any(|text| is_named(text, option));
                assert!(is_there, "{}: {option}", rule.name);
            }
        }
    }
}
