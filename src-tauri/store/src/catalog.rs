//! **Pure.** Searchable list of all tasks, built once per set of suites and of recorded runs, and
//! queried often. Each search word is looked up in one text per task; ten thousand tasks take a few
//! milliseconds.
use super::query::{RecordedTask, RecordedTasks};
use super::suites::{Task, Tasks};
use std::collections::{BTreeMap, HashSet};
use std::path::{Path, PathBuf};
use std::sync::{Arc, Mutex, PoisonError};
use touchstone_api::{FacetValue, TaskCut, TaskPage, TaskRequest, TaskRow};
use touchstone_formats::suite::Prompts;
use touchstone_imports::registry;
use touchstone_model::run::ApiName;

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
    newest: Mutex<Catalog>,
    recorded: Mutex<Option<Recorded>>,
}

/// Tasks without a suite, with the moment of the index that named them.
type Recorded = ((PathBuf, u64), Arc<RecordedTasks>);

impl Catalogs {
    /// Returns the catalog of these tasks, and of recorded ones that none of them is. Rebuilds what
    /// has changed.
    pub fn catalog_for(&self, tasks: &Arc<Tasks>, recorded: &Arc<RecordedTasks>) -> Catalog {
        let mut newest = self.newest.lock().unwrap_or_else(PoisonError::into_inner);
        let same_suites = newest.tasks.as_ref().is_some_and(|known| Arc::ptr_eq(known, tasks));
        if !same_suites {
            *newest = Catalog::new(tasks);
        }
        if !newest.named.as_ref().is_some_and(|known| Arc::ptr_eq(known, recorded)) {
            newest.name(recorded);
        }
        newest.clone()
    }

    /// Returns the recorded tasks of a moment of the index. Reads them if they are of another one.
    pub fn recorded_at<E>(
        &self,
        moment: (&Path, u64),
        read: impl FnOnce() -> Result<RecordedTasks, E>,
    ) -> Result<Arc<RecordedTasks>, E> {
        let mut known = self.recorded.lock().unwrap_or_else(PoisonError::into_inner);
        if let Some((of, tasks)) = known.as_mut() {
            if (of.0.as_path(), of.1) == moment {
                return Ok(Arc::clone(tasks));
            }
            let now = read()?;
            // An equal list keeps the catalog.
            if **tasks != now {
                *tasks = Arc::new(now);
            }
            *of = (moment.0.to_owned(), moment.1);
            return Ok(Arc::clone(tasks));
        }
        let tasks = Arc::new(read()?);
        *known = Some(((moment.0.to_owned(), moment.1), Arc::clone(&tasks)));
        Ok(tasks)
    }
}

/// All tasks, in listing order: those of suites, then recorded ones.
#[derive(Debug, Default, Clone)]
pub struct Catalog {
    tasks: Option<Arc<Tasks>>,
    suites: Arc<Vec<Entry>>,
    named: Option<Arc<RecordedTasks>>,
    recorded: Arc<Vec<Entry>>,
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
        sort(&mut entries);
        Self { tasks: Some(Arc::clone(tasks)), suites: Arc::new(entries), ..Self::default() }
    }

    /// Replaces the recorded tasks.
    fn name(&mut self, recorded: &Arc<RecordedTasks>) {
        let has_suite = |id: &str| self.tasks.as_ref().is_some_and(|tasks| tasks.get(id).is_some());
        let tasks = recorded.tasks.iter().filter(|task| !has_suite(&task.id));
        let mut entries: Vec<Entry> = tasks.map(recorded_entry).collect();
        sort(&mut entries);
        self.named = Some(Arc::clone(recorded));
        self.recorded = Arc::new(entries);
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
        for entry in self.suites.iter().chain(&*self.recorded) {
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
        let value = |(value, count): (&str, u64)| FacetValue {
            value: value.to_owned(),
            count: Some(count),
        };
        let mut categories: Vec<FacetValue> = categories.into_iter().map(value).collect();
        categories.sort_by_key(|one| std::cmp::Reverse(one.count));
        categories.truncate(VALUES);
        let (skip, take) = (request.span.offset as usize, request.span.limit.min(MOST) as usize);
        let cut = self.named.as_ref().and_then(|named| {
            let listed = named.tasks.len() as u64;
            (listed < named.all).then_some(TaskCut { listed, all: named.all })
        });
        TaskPage {
            all: (self.suites.len() + self.recorded.len()) as u64,
            total: passing.len() as u64,
            rows: passing.into_iter().skip(skip).take(take).cloned().map(shortened).collect(),
            sets: sets.into_iter().take(VALUES).map(value).collect(),
            categories,
            cut,
        }
    }
}

/// Builds the row of a task, with all its categories.
pub fn row(task: &Task) -> TaskRow {
    let suite = &task.suite;
    let (set, categories, apis, ambiguous) = match &suite.query {
        Some(query) => {
            let shared = query.shared();
            let shared: HashSet<&ApiName> =
                shared.into_iter().flat_map(|(_, pairs)| pairs).collect();
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
    let goal = suite.user.as_ref().map(|user| user.goal.as_str());
    let whole = prompts(&suite.prompts).next().map(|(_, text)| text).or(goal).unwrap_or_default();
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
        recorded_by: None,
        sensitive: None,
    }
}

/// Builds the row of a task that only runs of other tools name, with the name of their format.
pub fn recorded_row(id: &str, format: &str) -> TaskRow {
    let tool = registry::by_name(format).map_or(format, |format| format.title());
    TaskRow {
        id: id.to_owned(),
        name: None,
        prompt: String::new(),
        set: Some(tool.to_owned()),
        categories: Vec::new(),
        variations: 1,
        apis: 0,
        expected_calls: 0,
        ambiguous: false,
        recorded_by: Some(tool.to_owned()),
        sensitive: None,
    }
}

fn recorded_entry(task: &RecordedTask) -> Entry {
    let row = recorded_row(&task.id, &task.format);
    let set = row.set.as_deref().unwrap_or_default();
    Entry { text: format!("{}\n{set}", task.id).to_lowercase(), row }
}

fn sort(entries: &mut [Entry]) {
    entries.sort_by(|one, other| order(&one.row.id).cmp(&order(&other.row.id)));
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
    let user = suite.user_texts(None);
    parts.extend(user.iter().map(|(_, text)| text.as_str()));
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
    fn tasks_of_recorded_runs_follow_those_of_suites_and_are_no_task_twice() {
        let suite = suite::read("tool_calling_prompt: Who?\n", "plans/churn").unwrap().tasks;
        let task = |suite| Task {
            suite: Arc::new(suite),
            file: FileId::new(Root::Input, "x"),
            yardsticks: Vec::new(),
            tools: Vec::new(),
        };
        let tasks = Arc::new(Tasks::from_tasks(suite.into_iter().map(task).map(Arc::new)));
        let named = |names: &[&str]| {
            let task = |id: &&str| RecordedTask { id: (*id).to_owned(), format: "inspect".into() };
            RecordedTasks { tasks: names.iter().map(task).collect(), all: 5 }
        };
        let catalogs = Catalogs::default();
        let list = |generation: u64, names: &[&str], words: &str| {
            let read = || Ok::<_, ()>(named(names));
            let recorded = catalogs.recorded_at((Path::new("b"), generation), read).unwrap();
            let page =
                catalogs.catalog_for(&tasks, &recorded).list(&task_request(words, None, None));
            let listed = names.len() as u64;
            assert_eq!(page.cut.is_some_and(|cut| cut.all == 5), listed < 5);
            let row = |row: &TaskRow| (row.id.clone(), row.recorded_by.clone().unwrap_or_default());
            page.rows.iter().map(row).map(|(id, by)| format!("{id} {by}")).collect::<Vec<_>>()
        };
        let first = ["math/10", "math/9", "plans/churn"];
        let expected = ["plans/churn ", "math/9 Inspect", "math/10 Inspect"];
        assert_eq!(list(1, &first, ""), expected);
        assert_eq!(list(1, &["other"], ""), expected, "the moment is the same");
        assert_eq!(list(2, &["other"], ""), ["plans/churn ", "other Inspect"]);
        assert_eq!(list(2, &["other"], "inspect OTH"), ["other Inspect"]);
    }

    #[test]
    fn chips_count_what_choosing_them_would_leave() {
        let catalog = catalog(&[]);
        let shown = |values: &[FacetValue]| {
            values
                .iter()
                .map(|one| format!("{} {}", one.value, one.count.unwrap()))
                .collect::<Vec<_>>()
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
