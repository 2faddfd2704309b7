//! **Pure.** Searchable list of all tasks, built once per set of suites and queried often. Each
//! search word is looked up in one text per task; ten thousand tasks take a few milliseconds.
use super::suites::{Task, Tasks};
use std::collections::{BTreeMap, HashSet};
use std::sync::{Arc, Mutex, PoisonError};
use touchstone_api::{FacetValue, TaskPage, TaskRequest, TaskRow};
use touchstone_formats::stabletoolbench::Pair;
use touchstone_formats::suite::Prompts;

/// Maximum number of rows per page.
const MOST: u32 = 500;
/// Maximum number of prompt characters in a row.
const PROMPT: usize = 240;
/// Maximum number of categories in a row.
const CATEGORIES: usize = 8;
/// Maximum number of values offered for a filter.
const VALUES: usize = 200;

/// Cache of the newest catalog.
#[derive(Debug, Default)]
pub struct Catalogs {
    newest: Mutex<Option<Arc<Catalog>>>,
}

impl Catalogs {
    /// Returns the catalog of these tasks. Rebuilds it only when the tasks changed.
    pub fn catalog_for(&self, tasks: &Arc<Tasks>) -> Arc<Catalog> {
        let mut newest = self.newest.lock().unwrap_or_else(PoisonError::into_inner);
        match newest.as_ref() {
            Some(known) if Arc::ptr_eq(&known.tasks, tasks) => Arc::clone(known),
            _ => Arc::clone(newest.insert(Arc::new(Catalog::new(tasks)))),
        }
    }
}

/// All tasks, in listing order.
#[derive(Debug)]
pub struct Catalog {
    tasks: Arc<Tasks>,
    entries: Vec<Entry>,
}

#[derive(Debug)]
struct Entry {
    row: TaskRow,
    /// Searchable text, in lower case.
    text: String,
}

impl Catalog {
    fn new(tasks: &Arc<Tasks>) -> Self {
        let mut entries: Vec<Entry> = tasks.all().map(|task| entry(task)).collect();
        entries.sort_by(|one, other| order(&one.row.id).cmp(&order(&other.row.id)));
        Self { tasks: Arc::clone(tasks), entries }
    }

    /// Returns the page of tasks that match the request.
    pub fn list(&self, request: &TaskRequest) -> TaskPage {
        let words = request.words.to_lowercase();
        let words: Vec<&str> = words.split_whitespace().collect();
        let finders: Vec<memchr::memmem::Finder<'_>> =
            words.iter().map(memchr::memmem::Finder::new).collect();
        let (mut sets, mut categories) =
            (BTreeMap::<&str, u64>::new(), BTreeMap::<&str, u64>::new());
        let mut passing = Vec::new();
        for entry in &self.entries {
            if !finders.iter().all(|finder| finder.find(entry.text.as_bytes()).is_some()) {
                continue;
            }
            let row = &entry.row;
            let of_set = request.set.is_none() || request.set == row.set;
            let of_category =
                request.category.as_ref().is_none_or(|category| row.categories.contains(category));
            if of_category && let Some(set) = &row.set {
                *sets.entry(set).or_default() += 1;
            }
            if of_set {
                row.categories
                    .iter()
                    .for_each(|category| *categories.entry(category).or_default() += 1);
            }
            if of_set && of_category {
                passing.push(row);
            }
        }
        let value = |(value, count): (&str, u64)| FacetValue { value: value.to_owned(), count };
        let mut categories: Vec<FacetValue> = categories.into_iter().map(value).collect();
        categories.sort_by_key(|one| std::cmp::Reverse(one.count));
        categories.truncate(VALUES);
        let (skip, take) = (request.span.offset as usize, request.span.limit.min(MOST) as usize);
        TaskPage {
            all: self.entries.len() as u64,
            total: passing.len() as u64,
            rows: passing.into_iter().skip(skip).take(take).cloned().map(shortened).collect(),
            sets: sets.into_iter().take(VALUES).map(value).collect(),
            categories,
        }
    }
}

/// Builds the row of a task, with all its categories.
pub fn row(task: &Task) -> TaskRow {
    let suite = &task.suite;
    let (set, categories, apis, ambiguous) = match &suite.query {
        Some(query) => {
            let shared = query.shared();
            let shared: HashSet<&Pair> = shared.into_iter().flat_map(|(_, pairs)| pairs).collect();
            let categories = query
                .categories()
                .into_iter()
                .filter(|name| !name.is_empty())
                .map(str::to_owned)
                .collect();
            (
                Some(query.set.clone()),
                categories,
                query.apis.len(),
                query.gold.iter().any(|pair| shared.contains(pair)),
            )
        }
        None => (
            suite.id.rsplit_once('/').map(|(folder, _)| folder.to_owned()),
            suite.tags.clone(),
            0,
            false,
        ),
    };
    let whole = prompts(&suite.prompts).next().map(|(_, text)| text).unwrap_or_default();
    let mut prompt = String::new();
    for word in whole.split_whitespace() {
        if prompt.chars().count() > PROMPT {
            prompt.push('…');
            break;
        }
        prompt.push_str(if prompt.is_empty() { "" } else { " " });
        prompt.extend(word.chars().take(PROMPT));
    }
    let count = |count: usize| u32::try_from(count).unwrap_or(u32::MAX);
    TaskRow {
        id: suite.id.clone(),
        name: suite.name.clone(),
        prompt,
        set,
        categories,
        variations: count(suite.variations.len()),
        apis: count(apis),
        expected_calls: count(suite.expected_tool_calls.len()),
        ambiguous,
    }
}

fn shortened(mut row: TaskRow) -> TaskRow {
    row.categories.truncate(CATEGORIES);
    row
}

/// Prompts with the system they are for; tool calling first.
pub fn prompts(prompts: &Prompts) -> impl Iterator<Item = (&'static str, &str)> {
    [
        ("tool_calling", &prompts.tool_calling),
        ("tool_calling_python", &prompts.tool_calling_python),
        ("promptql", &prompts.promptql),
        ("tool_calling (data given)", &prompts.tool_calling_oracle),
        ("promptql (data given)", &prompts.promptql_oracle),
    ]
    .into_iter()
    .filter_map(|(system, text)| Some((system, text.as_deref()?)))
}

fn entry(task: &Task) -> Entry {
    let suite = &task.suite;
    let row = row(task);
    let mut parts: Vec<&str> = vec![&suite.id];
    parts.extend(suite.name.as_deref());
    parts.extend(row.set.as_deref());
    parts.extend(row.categories.iter().map(String::as_str));
    parts.extend(suite.tags.iter().chain(&suite.expected_tool_calls).map(String::as_str));
    parts.extend(prompts(&suite.prompts).map(|(_, text)| text));
    if let Some(query) = &suite.query {
        parts.extend(
            query.apis.iter().flat_map(|api| [api.pair.tool.as_str(), api.pair.api.as_str()]),
        );
    }
    let labels: Vec<String> =
        suite.variations.iter().map(touchstone_formats::suite::Variation::label).collect();
    parts.extend(labels.iter().map(String::as_str));
    Entry { text: parts.join("\n").to_lowercase(), row }
}

/// Sort key: by folder, then numerically where ids are numbers.
fn order(id: &str) -> (&str, u64, &str) {
    let (folder, last) = id.rsplit_once('/').unwrap_or(("", id));
    (folder, last.parse().unwrap_or(u64::MAX), last)
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::roots::{FileId, Root};
    use touchstone_api::Span;
    use touchstone_formats::suite;

    const G1: &str = include_str!(
        "../../../tests/fixtures/stabletoolbench/queries/test_instruction/G1_instruction.json"
    );
    const G2: &str = include_str!(
        "../../../tests/fixtures/stabletoolbench/queries/test_instruction/G2_category.json"
    );

    fn catalog(extra: &[(&str, &str)]) -> Catalog {
        let files = [("sets/G1_instruction", G1), ("sets/G2_category", G2)];
        let suites =
            files.iter().chain(extra).flat_map(|(id, text)| suite::read(text, id).unwrap().tasks);
        let file = || FileId::new(Root::Input, "x");
        let task = |suite| Task {
            suite: Arc::new(suite),
            file: file(),
            yardsticks: Vec::new(),
            tools: Vec::new(),
        };
        Catalog::new(&Arc::new(Tasks::from_tasks(suites.map(task).map(Arc::new))))
    }

    fn task_request(words: &str, set: Option<&str>, category: Option<&str>) -> TaskRequest {
        let own = |word: Option<&str>| word.map(str::to_owned);
        TaskRequest {
            words: words.to_owned(),
            set: own(set),
            category: own(category),
            span: Span { offset: 0, limit: 9 },
        }
    }

    fn found(catalog: &Catalog, words: &str) -> String {
        let page = catalog.list(&task_request(words, None, None));
        let ids: Vec<&str> = page.rows.iter().filter_map(|row| row.id.rsplit('/').next()).collect();
        ids.join(" ")
    }

    #[test]
    fn every_word_is_sought_in_prompts_ids_categories_and_names_of_tools() {
        let catalog = catalog(&[(
            "plans/churn",
            "tool_calling_prompt: Who left in {month}?\ntags: [hard]\n",
        )]);
        for (words, ids) in [
            ("", "churn 101 102 103 201 202"),
            ("WATER gauge", "101 103 201"),
            ("tin whistle", "102"),
            ("103", "103"),
            ("real_estate", "201 202"),
            ("home by id", "201 202"),
            ("get_3_day_outlook", "103"),
            ("g2_category river", "201"),
            ("hard", "churn"),
            ("nothing like that", ""),
        ] {
            assert_eq!(found(&catalog, words), ids, "{words}");
        }
    }

    #[test]
    fn chips_count_what_choosing_them_would_leave() {
        let catalog = catalog(&[]);
        let shown = |values: &[FacetValue]| {
            values.iter().map(|one| format!("{} {}", one.value, one.count)).collect::<Vec<_>>()
        };
        let page = catalog.list(&task_request("", None, Some("Weather")));
        assert_eq!((page.all, page.total), (5, 3));
        assert_eq!(shown(&page.sets), ["G1_instruction 2", "G2_category 1"]);
        assert_eq!(shown(&page.categories), ["Weather 3", "Real_Estate 2", "Education 1"]);
        let page = catalog.list(&task_request("", Some("G2_category"), None));
        assert_eq!(shown(&page.sets), ["G1_instruction 3", "G2_category 2"]);
        assert_eq!(shown(&page.categories), ["Real_Estate 2", "Weather 1"]);
    }

    #[test]
    fn a_row_says_what_is_asked_on_one_line_and_whether_names_are_shared() {
        let page = catalog(&[]).list(&task_request("", None, None));
        let flags: Vec<bool> = page.rows.iter().map(|row| row.ambiguous).collect();
        assert_eq!(flags, [false, true, false, false, false]);
        assert_eq!(
            (page.rows[0].apis, page.rows[0].expected_calls, page.rows[4].expected_calls),
            (3, 2, 1)
        );
        let long = format!("tool_calling_prompt: |\n  {}\n", "word\n  ".repeat(1_000));
        let page = catalog(&[("long", &long)]).list(&task_request("", None, None));
        assert!(
            page.rows[0].prompt.ends_with("word…") && page.rows[0].prompt.chars().count() < 260
        );
    }
}
