//! **Pure.** Mapping of evaluator inputs to columns of the data, `${data.answer}`, or of the
//! target's output, `${target.response}`; paths reach into objects: `${data.reply.text}`.
use super::{Evaluator, Inputs, Quirks};
use std::collections::HashSet;
use touchstone_model::value::Value;

/// Inputs and their sources, in order.
#[derive(Debug, Clone, PartialEq, Eq, Default)]
pub struct Mapping {
    sources: Vec<(String, Source)>,
    /// True when inputs that are not mapped are omitted even if a column of that name exists.
    only: bool,
}

/// Source of an input.
#[derive(Debug, Clone, PartialEq, Eq)]
struct Source {
    target: bool,
    way: String,
}

const REFERENCES: &str = "Unexpected references detected in 'column_mapping'. Ensure only ${target.} and ${data.} are used.";

impl Mapping {
    /// Parses pairs of an input and a reference. The error is a sentence.
    pub fn read<'a>(pairs: impl IntoIterator<Item = (&'a str, &'a str)>) -> Result<Self, String> {
        let mut sources: Vec<(String, Source)> = Vec::new();
        for (input, reference) in pairs {
            if sources.iter().any(|(known, _)| known == input) {
                return Err(format!("`{input}` is mapped twice."));
            }
            let source = Source::read(reference)
                .ok_or_else(|| format!("{REFERENCES} `{input}` is `{reference}`."))?;
            sources.push((input.to_owned(), source));
        }
        Ok(Self { sources, only: false })
    }

    /// Adds the default mapping of all evaluators for inputs that this mapping does not name. With
    /// the quirk `own_mapping_only`, a mapping that is not empty stays unchanged.
    #[must_use]
    pub fn with_defaults(mut self, usual: &Self, quirks: &Quirks) -> Self {
        self.only = quirks.has("own_mapping_only") && !self.sources.is_empty();
        for (input, source) in usual.sources.iter().filter(|_| !self.only) {
            if !self.names(input) {
                self.sources.push((input.clone(), source.clone()));
            }
        }
        self
    }

    /// Returns whether the mapping names the source of an input.
    pub fn names(&self, input: &str) -> bool {
        self.sources.iter().any(|(known, _)| known == input)
    }

    /// Keeps only the inputs that the evaluator takes, so that nothing else is fetched for each
    /// row.
    #[must_use]
    pub fn narrowed(mut self, evaluator: &Evaluator) -> Self {
        self.sources.retain(|(input, _)| evaluator.accepts(input));
        self
    }

    /// Maps every other column to an input of the same name. Columns of the target take precedence
    /// over the data.
    #[must_use]
    pub fn completed<'a>(
        mut self,
        data: impl IntoIterator<Item = &'a str>,
        target: &[&'a str],
    ) -> Self {
        let data: Vec<&str> = if self.only { Vec::new() } else { data.into_iter().collect() };
        let said: HashSet<&str> = target.iter().copied().collect();
        let mut known: HashSet<String> =
            self.sources.iter().map(|(input, _)| input.clone()).collect();
        for column in data.into_iter().chain(target.iter().copied()) {
            if known.insert(column.to_owned()) {
                let source = Source { target: said.contains(column), way: column.to_owned() };
                self.sources.push((column.to_owned(), source));
            }
        }
        self
    }

    /// Returns the references to columns that do not exist, as sentences. References to a target
    /// that has not run yet are not checked.
    pub fn unknown(&self, data: &[&str], target: Option<&[&str]>) -> Vec<String> {
        let there = |source: &Source| {
            let columns = if source.target { target } else { Some(data) };
            columns.is_none_or(|columns| {
                prefixes(&source.way).any(|(column, _)| columns.contains(&column))
            })
        };
        let lost = self.sources.iter().filter(|(_, source)| !there(source));
        lost.map(|(input, source)| {
            format!("`{input}` is mapped to `{}`, which is not a column.", source.to_reference())
        })
        .collect()
    }

    /// Returns whether a row has everything that is mapped. A data column counts as present even if
    /// the row has no value in it, and a target that has not run yet counts as present.
    pub fn is_satisfied_by<'a>(
        &self,
        columns: &[String],
        data: impl Fn(&str) -> Option<&'a Value>,
        target: impl Fn(&str) -> Option<&'a Value>,
        is_asked: bool,
    ) -> bool {
        self.sources.iter().all(|(_, source)| {
            if source.target {
                return !is_asked || resolve(&source.way, &target).is_some();
            }
            columns.contains(&source.way) || resolve(&source.way, &data).is_some()
        })
    }

    /// Returns the inputs of a row, given accessors for the columns of the data and of the target.
    pub fn inputs<'a>(
        &self,
        data: impl Fn(&str) -> Option<&'a Value>,
        target: impl Fn(&str) -> Option<&'a Value>,
    ) -> Inputs {
        let value = |source: &Source| {
            if source.target { resolve(&source.way, &target) } else { resolve(&source.way, &data) }
                .cloned()
        };
        Inputs(
            self.sources
                .iter()
                .filter_map(|(input, source)| Some((input.clone(), value(source)?)))
                .collect(),
        )
    }
}

impl Source {
    fn read(reference: &str) -> Option<Self> {
        let inside = reference.trim().strip_prefix("${")?.strip_suffix('}')?;
        let (root, way) = inside.split_once('.')?;
        let target = match root {
            "target" => true,
            "data" => false,
            _ => return None,
        };
        // Names with spaces and symbols are accepted too, because files contain them.
        let fits = way.split('.').all(|step| !step.is_empty()) && !way.contains(['{', '}', '$']);
        fits.then(|| Self { target, way: way.to_owned() })
    }

    fn to_reference(&self) -> String {
        format!("${{{}.{}}}", if self.target { "target" } else { "data" }, self.way)
    }
}

/// Returns all splits of a path into a first step and a rest, shortest first step first.
fn prefixes(way: &str) -> impl Iterator<Item = (&str, Option<&str>)> {
    let dots = way.match_indices('.').map(|(at, _)| (&way[..at], Some(&way[at + 1..])));
    dots.chain([(way, None)])
}

/// Resolves a path and returns the value, trying the shortest key first.
fn resolve<'a>(way: &str, column: &dyn Fn(&str) -> Option<&'a Value>) -> Option<&'a Value> {
    prefixes(way).find_map(|(step, rest)| {
        let value = column(step)?;
        match rest {
            None => Some(value),
            Some(rest) => resolve(rest, &|key: &str| value.get(key)),
        }
    })
}

#[cfg(test)]
mod tests {
    use super::*;
    use touchstone_model::json;

    #[test]
    fn references_reach_into_objects_by_the_shortest_key_first() {
        let row = json::read(
            r#"{"a": {"b": {"c": 1}, "x": 3}, "a.b": {"d": 2}, "my col": "m", "n": null}"#,
        )
        .unwrap();
        let said = json::read(r#"{"r": "said"}"#).unwrap();
        for (reference, expected) in [
            ("${data.a.b.c}", "1"),
            ("${data.a.b.d}", "2"),
            ("${data.a.b}", "{\"c\":1}"),
            ("${data.my col}", "\"m\""),
            ("${data.n}", "null"),
            ("${target.r}", "\"said\""),
            ("${target.a}", "-"),
            ("${data.a.y}", "-"),
        ] {
            let inputs = Mapping::read([("in", reference)])
                .unwrap()
                .inputs(|key| row.get(key), |key| said.get(key));
            assert_eq!(
                inputs.get("in").map_or_else(|| "-".to_owned(), |value| json::write(value, false)),
                expected,
                "{reference}"
            );
        }
    }

    #[test]
    fn other_references_are_refused_with_the_words_of_the_package() {
        for reference in
            ["${foo.a}", "data.a", "${data.}", "${data}", "${data.a..b}", "${data.a}${data.b}", ""]
        {
            let error = Mapping::read([("in", reference)]).unwrap_err();
            assert!(error.starts_with(REFERENCES), "{error}");
        }
        assert_eq!(
            Mapping::read([("a", "${data.a}"), ("a", "${data.b}")]).unwrap_err(),
            "`a` is mapped twice."
        );
    }

    #[test]
    fn what_is_not_mapped_comes_from_columns_of_the_same_name_and_a_target_goes_first() {
        let row = json::read(r#"{"query": "q", "response": "old", "answer": "a"}"#).unwrap();
        let said = json::read(r#"{"response": "new", "extra": 1}"#).unwrap();
        let mapping = Mapping::read([("ground_truth", "${data.answer}")]).unwrap();
        assert_eq!(
            mapping.unknown(&["query"], Some(&[])),
            ["`ground_truth` is mapped to `${data.answer}`, which is not a column."]
        );
        let later = Mapping::read([("a", "${target.a}"), ("b", "${data.b}")]).unwrap();
        assert_eq!(
            later.unknown(&["query"], None),
            ["`b` is mapped to `${data.b}`, which is not a column."]
        );
        assert_eq!(
            later.unknown(&["b"], Some(&["c"])),
            ["`a` is mapped to `${target.a}`, which is not a column."]
        );
        let mapping = mapping.completed(["query", "response"], &["response", "extra"]);
        let inputs = mapping.inputs(|key| row.get(key), |key| said.get(key));
        let shown: Vec<String> = inputs
            .0
            .iter()
            .map(|(name, value)| format!("{name}={}", json::write(value, false)))
            .collect();
        assert_eq!(shown, ["ground_truth=\"a\"", "query=\"q\"", "response=\"new\"", "extra=1"]);
    }

    #[test]
    fn an_evaluator_with_a_mapping_of_its_own_is_given_nothing_else_only_when_the_package_is_followed()
     {
        let row = json::read(r#"{"query": "q", "truth": "t", "answer": "a"}"#).unwrap();
        let usual =
            Mapping::read([("response", "${data.answer}"), ("ground_truth", "${data.answer}")])
                .unwrap();
        let names = |own: &[(&str, &str)], quirks: Quirks| {
            let mapping =
                Mapping::read(own.iter().copied()).unwrap().with_defaults(&usual, &quirks);
            let inputs = mapping.completed(["query"], &[]).inputs(|key| row.get(key), |_| None);
            inputs
                .0
                .iter()
                .map(|(name, value)| format!("{name}={}", value.text().unwrap()))
                .collect::<Vec<_>>()
                .join(" ")
        };
        let own = [("ground_truth", "${data.truth}")];
        assert_eq!(names(&own, Quirks::default()), "ground_truth=t response=a query=q");
        assert_eq!(names(&own, Quirks::all()), "ground_truth=t");
        // Columns of the target are given to every evaluator.
        let own = Mapping::read(own)
            .unwrap()
            .with_defaults(&usual, &Quirks::all())
            .completed(["query"], &["answer"]);
        let inputs = own.inputs(|key| row.get(key), |key| row.get(key));
        assert_eq!(
            inputs.0.iter().map(|(name, _)| name.as_str()).collect::<Vec<_>>(),
            ["ground_truth", "answer"]
        );
        assert_eq!(names(&[], Quirks::all()), "response=a ground_truth=a query=q");
    }

    #[test]
    fn a_row_has_what_is_mapped_where_the_way_leads_to_something() {
        let row = json::read(r#"{"a": {"b": null}, "c.d": 1}"#).unwrap();
        let said = json::read(r#"{"r": "said"}"#).unwrap();
        let columns = ["a", "c.d", "lost"].map(str::to_owned);
        for (reference, asked, reaches) in [
            ("${data.a.b}", true, true),
            ("${data.a.x}", true, false),
            ("${data.c.d}", true, true),
            // A column without a value in this row, and an unknown column.
            ("${data.lost}", true, true),
            ("${data.nothing}", true, false),
            ("${target.r}", true, true),
            ("${target.lost}", true, false),
            ("${target.lost}", false, true),
        ] {
            let mapping = Mapping::read([("in", reference)]).unwrap();
            let came =
                mapping.is_satisfied_by(&columns, |key| row.get(key), |key| said.get(key), asked);
            assert_eq!(came, reaches, "{reference}");
        }
    }

    #[test]
    fn only_what_an_evaluator_takes_is_fetched() {
        let evaluator = |kind: &str| Evaluator::read(kind, &json::read("{}").unwrap()).unwrap();
        let inputs = |kind: &str| {
            let mapping = Mapping::default().completed(["query", "response", "extra"], &[]);
            let row = json::read(r#"{"query": 1, "response": 2, "extra": 3}"#).unwrap();
            let inputs = mapping.narrowed(&evaluator(kind)).inputs(|key| row.get(key), |_| None);
            inputs.0.into_iter().map(|(name, _)| name).collect::<Vec<_>>()
        };
        assert_eq!(inputs("fluency"), ["response"]);
        assert_eq!(inputs("string_check"), ["query", "response", "extra"]);
    }
}
