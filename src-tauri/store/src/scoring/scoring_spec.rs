//! **Pure.** Scoring spec of a variation: the expected output, the scorers, and a fingerprint of
//! both, by which outdated scores are detected.
use super::referenced_files::Gold;
use std::collections::BTreeMap;
use std::sync::Arc;
use touchstone_formats::stabletoolbench::Query;
use touchstone_formats::suite::{Expected, Task, Variation};
use touchstone_formats::tool_offers::ToolOffer;
use touchstone_judges::stabletoolbench::Offered;
use touchstone_model::json;
use touchstone_model::value::Value;
use touchstone_scoring::scorers::{
    Need, Scorer, benchmark_scorers, choose, defaults, query_scorers, user_scorers,
};
use xxhash_rust::xxh3::Xxh3;

/// Expected output and scorers of a variation.
#[derive(Debug)]
pub struct ScoringSpec {
    /// Expected output, if any.
    pub expected: Option<Arc<Value>>,
    /// Reason it is missing although the suite refers to one, as a sentence.
    pub trouble: Option<String>,
    /// Expected output as JSON that Python can read, for scorer programs.
    pub(crate) expected_text: String,
    /// Tools offered by the query, for tasks of `StableToolBench`.
    pub offered: Option<Offered>,
    named: Panel,
    /// Scorers for runs of benchmark folders, if the suite names none.
    published: Option<Panel>,
}

/// Scorers with their programs and a fingerprint.
#[derive(Debug)]
pub struct Panel {
    /// Scorers in the order of the suite; lists show the first one.
    pub scorers: Vec<Scorer>,
    /// Hash of the scoring inputs. Runs with different fingerprints are not comparable.
    pub fingerprint: i64,
    /// Scorer programs by their paths in the suite: the hash of each, or the reason it could not be
    /// read.
    pub(crate) programs: Programs,
}

/// Programs by their paths in a suite.
pub(crate) type Programs = BTreeMap<String, Result<u64, String>>;

impl ScoringSpec {
    /// Builds the spec of a variation from its task, the tools shown to judges of calls, and the
    /// content of referenced files: the gold answer and the scorer programs.
    pub(crate) fn new(
        task: &Task,
        variation: &Variation,
        (tools, gold): (&[ToolOffer], Option<Gold>),
        program: &mut impl FnMut(&str) -> Result<u64, String>,
    ) -> Self {
        let (expected, trouble) = match (&variation.expected, gold) {
            (Expected::None, _) => (None, None),
            (Expected::Value(value), _) => (Some(Arc::new(value.clone())), None),
            (Expected::File(_), Some(Ok(value))) => (Some(value), None),
            (Expected::File(path), Some(Err(why))) => {
                (None, Some(format!("The expected output in {path} could not be read: {why}")))
            }
            (Expected::File(path), None) => (
                None,
                Some(format!(
                    "The expected output in {path} could not be read: it lies outside the input directory."
                )),
            ),
        };
        let expected_text =
            expected.as_ref().map(|value| json::write_back(value)).unwrap_or_default();
        let mut hash = Xxh3::new();
        add(&mut hash, &describe_request(task, variation));
        add(&mut hash, &format!("{}{expected_text}", expected.is_some()));
        add(&mut hash, trouble.as_deref().unwrap_or_default());
        if !tools.is_empty() {
            add(&mut hash, &format!("{tools:?}"));
        }
        if let Some(tag) = &task.result_tag_name {
            add(&mut hash, &format!("<{tag}>"));
        }
        let offered = Query::of_task(task).map(|query| Offered::from_query(&query));
        if let Some(offered) = &offered {
            add(&mut hash, &format!("{offered:?}"));
        }
        let names_none = task.scorers.is_empty();
        let scorers = if names_none && offered.is_some() {
            query_scorers()
        } else if names_none && task.user.is_some() {
            user_scorers(expected.as_deref())
        } else {
            choose(&task.scorers, expected.as_deref()).0
        };
        let published = (names_none && offered.is_none()).then(|| {
            let mut scorers = benchmark_scorers(expected.as_deref());
            let more = defaults(expected.as_deref())
                .into_iter()
                .filter(|scorer| scorers.iter().all(|other| other.name() != scorer.name()));
            scorers.extend(more.collect::<Vec<_>>());
            Panel::new(scorers, hash.clone(), program)
        });
        Self {
            named: Panel::new(scorers, hash, program),
            published,
            offered,
            expected,
            trouble,
            expected_text,
        }
    }

    /// Returns the scorers for a run of a benchmark folder, or for any other run.
    pub fn panel(&self, of_benchmark_folder: bool) -> &Panel {
        self.published.as_ref().filter(|_| of_benchmark_folder).unwrap_or(&self.named)
    }

    /// Iterates over the scorer programs that could not be read, with the reasons.
    pub(crate) fn unread_programs(&self) -> impl Iterator<Item = (&str, &str)> {
        self.named
            .programs
            .iter()
            .filter_map(|(path, read)| Some((path.as_str(), read.as_ref().err()?.as_str())))
    }
}

impl Panel {
    fn new(
        scorers: Vec<Scorer>,
        mut hash: Xxh3,
        program: &mut impl FnMut(&str) -> Result<u64, String>,
    ) -> Self {
        let mut programs = Programs::new();
        for scorer in &scorers {
            add(&mut hash, &scorer.identity());
            if let Some(Need::Program(path)) = scorer.need() {
                let read = program(&path);
                add(&mut hash, &format!("{read:?}"));
                programs.insert(path, read);
            }
        }
        Self { scorers, fingerprint: hash.digest().cast_signed(), programs }
    }
}

/// Serializes the request and the requirements of a task for the fingerprint. Includes the prompts
/// of all systems, because two systems with different prompts for the same task are compared.
fn describe_request(task: &Task, variation: &Variation) -> String {
    let prompts = &task.prompts;
    let prompts = [
        &prompts.promptql,
        &prompts.tool_calling,
        &prompts.tool_calling_python,
        &prompts.promptql_oracle,
        &prompts.tool_calling_oracle,
        &prompts.oracle_system,
    ];
    let parameters: Vec<(&str, String)> = variation
        .parameters
        .iter()
        .map(|(name, value)| (name.as_str(), json::write(value, false)))
        .collect();
    let user =
        if task.user.is_some() { format!("{:?}", task.user_texts(None)) } else { String::new() };
    let own = variation.user.as_ref().map(|user| {
        let texts = [Some(user.goal.as_str()), user.persona.as_deref()];
        let knows = user.knowledge();
        format!("{:?}{texts:?}{knows:?}{:?}", user.attack, user.satisfied_when)
    });
    let own = own.unwrap_or_default();
    format!(
        "{prompts:?}{parameters:?}{:?}{:?}{user}{own}",
        task.expected_tool_calls, task.artifact_key
    )
}

/// Adds a text with its length, so that consecutive texts are not equal to their concatenation.
fn add(hash: &mut Xxh3, text: &str) {
    hash.update(&text.len().to_le_bytes());
    hash.update(text.as_bytes());
}

#[cfg(test)]
mod tests {
    use super::*;
    use touchstone_formats::suite;

    fn yardsticks(text: &str) -> Vec<ScoringSpec> {
        let task = suite::read(text, "t").unwrap().tasks.remove(0);
        let variations = task.variations.iter();
        variations.map(|one| ScoringSpec::new(&task, one, (&[], None), &mut |_| Ok(7))).collect()
    }

    #[test]
    fn the_fingerprint_changes_with_all_of_the_user_of_a_variation() {
        let suite = |user: &str| {
            let text = "tool_calling_prompt: Hi\nvariations:\n- name: a\n  parameters: {}\n  user: { goal: Sing.";
            fingerprint(&format!("{text}{user} }}\n"))
        };
        let known = ["", ", knows: A song", ", persona: A bird", ", attack: crescendo"].map(suite);
        let different: std::collections::BTreeSet<i64> = known.into_iter().collect();
        assert_eq!(different.len(), known.len());
    }

    fn fingerprint(text: &str) -> i64 {
        yardsticks(text)[0].panel(false).fingerprint
    }

    const SUITE: &str = "tool_calling_prompt: How many {what}?\nvariations:\n- parameters: { what: plans }\n  expected_output: [{ n: 3 }]\n";

    #[test]
    fn the_fingerprint_changes_with_everything_that_is_measured_against_and_with_nothing_else() {
        let of = fingerprint(SUITE);
        for (from, to) in [
            ("How many", "How few"),
            ("plans", "tickets"),
            ("n: 3", "n: 4"),
            ("n: 3", "m: 3"),
            ("variations", "expected_tool_calls: [a]\nvariations"),
            ("variations", "result_artifact_key: n\nvariations"),
            ("variations", "result_tag_name: rows\nvariations"),
            ("variations", "scorers: [exact]\nvariations"),
            ("variations", "scorers: [fields: { key: n }]\nvariations"),
        ] {
            assert_ne!(fingerprint(&SUITE.replace(from, to)), of, "{from} became {to}");
        }
        for (from, to) in [
            ("variations", "name: Another name\ntags: [x]\nmax_turns: 9\nvariations"),
            ("variations", "# a comment\nvariations"),
            ("variations", "scorers: [fields]\nvariations"),
            ("[{ n: 3 }]", "\n    - n: 3"),
        ] {
            assert_eq!(fingerprint(&SUITE.replace(from, to)), of, "{from} became {to}");
        }
    }

    #[test]
    fn benchmark_folders_get_the_published_scorers_unless_the_suite_names_others() {
        let names = |text: &str, folder: bool| -> Vec<String> {
            yardsticks(text)[0]
                .panel(folder)
                .scorers
                .iter()
                .map(|scorer| scorer.name().to_owned())
                .collect()
        };
        let ids = SUITE.replace("[{ n: 3 }]", "[3, 1, 2]");
        assert_eq!(names(&ids, false), ["fields"]);
        assert_eq!(names(&ids, true), ["kendall_tau", "fields"]);
        let chosen = ids.replace("variations", "scorers: [exact]\nvariations");
        assert_eq!(names(&chosen, true), ["exact"]);
        assert_eq!(names("tool_calling_prompt: x\n", true), Vec::<String>::new());
    }
}
