//! **Pure.** Schema of `touchstone.yaml`: the allowed keys, and the check for unknown keys and
//! invalid values. Code that reads settings takes its lists of keys from here.
use super::labels;
use touchstone_model::error::{ReadError, ReadErrorKind};
use touchstone_model::nearest::nearest;
use touchstone_model::node::{Node, Shape};
use touchstone_model::scalar::Scalar;
use touchstone_model::yaml::tree::Item;

/// Maximum number of faults per file. Finding the line of each takes time.
const MOST: usize = 100;

/// Schema of a map: its keys and the kinds of their values.
#[derive(Debug)]
pub struct Section {
    /// Keys with the kinds of their values.
    pub keys: &'static [(&'static str, Kind)],
    /// Section whose keys are allowed as well.
    pub also: Option<&'static Section>,
    /// Required keys.
    pub needs: &'static [&'static str],
}

/// Kind of a value. A key without a value counts as missing.
#[derive(Debug, Clone, Copy)]
pub enum Kind {
    /// A text; a number or a date is used as written.
    Text,
    /// An integer, with its minimum.
    Whole(u32),
    /// A number that is not negative: dollars, temperatures.
    Number,
    /// `true` or `false`.
    Switch,
    /// One of these words.
    OneOf(&'static [&'static str]),
    /// An order of the list of runs.
    Sort,
    /// A list.
    List,
    /// A list of texts.
    Texts,
    /// A map of names to new names.
    Names,
    /// A map with the keys of a section.
    Map(&'static Section),
    /// A map with the keys of a section, or `true` or `false`.
    SwitchOrMap(&'static Section),
    /// A map with the keys of a section, or any value that is not a map.
    AnyOrMap(&'static Section),
    /// A map with names chosen by the user; each value is a map with the keys of a section.
    Named(&'static Section),
    /// A map with names chosen by the user; the keys of each value depend on its `kind`.
    Tools,
    /// A number.
    AnyNumber,
    /// A map with names chosen by the user; each value is a text, or a map with the keys of a section.
    Labels(&'static Section),
    /// Any value: headers, environment variables, values passed to an API.
    Free,
}

/// The whole file.
pub static WORKSPACE: Section = Section {
    also: None,
    needs: &[],
    keys: &[
        ("input_dir", Kind::Text),
        ("output_dir", Kind::Text),
        ("models", Kind::Named(&MODEL)),
        ("systems", Kind::Map(&SYSTEMS)),
        ("tools", Kind::Tools),
        ("run", Kind::Map(&RUN)),
        ("user_model", Kind::Text),
        ("queries", Kind::Map(&QUERIES)),
        ("imports", Kind::Map(&IMPORTS)),
        ("views", Kind::Named(&VIEW)),
        ("labels", Kind::Labels(&LABEL)),
    ],
};

/// An entry of `labels` that people give.
pub static LABEL: Section = Section {
    also: None,
    needs: &["kind"],
    keys: &[
        ("kind", Kind::OneOf(&["category", "number", "text"])),
        ("values", Kind::Texts),
        ("min", Kind::AnyNumber),
        ("max", Kind::AnyNumber),
    ],
};

/// An entry of `views`.
pub static VIEW: Section = Section {
    also: None,
    needs: &[],
    keys: &[("filter", Kind::Text), ("sort", Kind::Sort), ("columns", Kind::Texts)],
};

/// Orders of the list of runs; a minus sign reverses one.
pub const SORTS: [&str; 32] = [
    "path",
    "task",
    "system",
    "model",
    "variation",
    "repeat",
    "state",
    "turns",
    "tool_calls",
    "tokens",
    "cost",
    "seconds",
    "size",
    "modified",
    "score",
    "stored",
    "-path",
    "-task",
    "-system",
    "-model",
    "-variation",
    "-repeat",
    "-state",
    "-turns",
    "-tool_calls",
    "-tokens",
    "-cost",
    "-seconds",
    "-size",
    "-modified",
    "-score",
    "-stored",
];

/// Beginnings of columns of one's own other than parts of the answer.
const OWN_KINDS: [&str; 4] = ["fact:", "label:", "score:", "verdict:"];

/// Returns true for the word of an order of the list of runs.
pub(crate) fn is_sort(word: &str) -> bool {
    let column = word.strip_prefix('-').unwrap_or(word);
    let is_path = |path: &str| path.is_empty() || path.starts_with(['.', '[']);
    SORTS.contains(&word)
        || column.strip_prefix("answer").is_some_and(is_path)
        || OWN_KINDS.iter().any(|kind| column.len() > kind.len() && column.starts_with(kind))
}

/// `imports`.
pub static IMPORTS: Section = Section {
    also: None,
    needs: &[],
    keys: &[
        ("systems", Kind::Names),
        ("models", Kind::Names),
        ("tasks", Kind::Names),
        ("files", Kind::Named(&IMPORTED_FILE)),
    ],
};

/// An entry of `imports.files`.
pub static IMPORTED_FILE: Section = Section {
    also: None,
    needs: &[],
    keys: &[("task", Kind::Text), ("system", Kind::Text), ("model", Kind::Text)],
};

/// `run`.
pub static RUN: Section = Section {
    also: None,
    needs: &[],
    keys: &[
        ("concurrency", Kind::Whole(1)),
        ("max_turns", Kind::Whole(1)),
        ("max_cost", Kind::Number),
        ("nudge", Kind::SwitchOrMap(&NUDGE)),
    ],
};

/// `run.nudge`.
pub static NUDGE: Section =
    Section { also: None, needs: &[], keys: &[("auto", Kind::Switch), ("max", Kind::Whole(0))] };

/// `thinking` of a model, as the API takes it.
pub static THINKING: Section = Section {
    also: None,
    needs: &[],
    keys: &[("type", Kind::Text), ("budget_tokens", Kind::Whole(0)), ("display", Kind::Text)],
};

/// `queries`.
pub static QUERIES: Section = Section { also: None, needs: &[], keys: &[("scorers", Kind::List)] };

/// An entry of `models`.
pub static MODEL: Section = Section {
    keys: &[
        ("provider", Kind::OneOf(&["anthropic", "openai", "replay"])),
        ("model", Kind::Text),
        ("base_url", Kind::Text),
        ("max_tokens", Kind::Whole(1)),
        ("price", Kind::Map(&PRICE)),
        ("api_key_env", Kind::Text),
        ("reasoning", Kind::Switch),
        ("reasoning_effort", Kind::Text),
        ("thinking", Kind::AnyOrMap(&THINKING)),
        ("temperature", Kind::Number),
        ("stream", Kind::Switch),
        ("embeddings", Kind::Switch),
        ("max_tools", Kind::Whole(1)),
        ("recordings", Kind::Text),
    ],
    also: Some(&SEARCH),
    needs: &[],
};

/// Settings of the search method: in `systems.tool_calling` for all models, in an entry of `models`
/// for one.
pub static SEARCH: Section = Section {
    also: None,
    needs: &[],
    keys: &[
        ("method", Kind::Text),
        ("steps", Kind::Whole(1)),
        ("queries", Kind::Whole(1)),
        ("offer", Kind::Text),
        ("observation", Kind::Whole(1)),
        ("compat", Kind::Switch),
    ],
};

/// `price` of a model.
pub static PRICE: Section = Section {
    keys: &[
        ("input", Kind::Number),
        ("output", Kind::Number),
        ("cache_read", Kind::Number),
        ("cache_write", Kind::Number),
    ],
    also: None,
    needs: &["input", "output"],
};

/// `systems`.
pub static SYSTEMS: Section = Section {
    also: None,
    needs: &[],
    keys: &[("promptql", Kind::Map(&PROMPTQL)), ("tool_calling", Kind::Map(&TOOL_CALLING))],
};

/// `systems.tool_calling`.
pub static TOOL_CALLING: Section =
    Section { keys: &[("system_prompt", Kind::Text)], also: Some(&SEARCH), needs: &[] };

/// `systems.promptql`.
pub static PROMPTQL: Section = Section {
    also: None,
    needs: &[],
    keys: &[
        ("base_url", Kind::Text),
        ("version", Kind::OneOf(&["v1", "v2"])),
        ("build_id", Kind::Free),
        ("build_version", Kind::Free),
        ("ddn", Kind::Map(&DDN)),
        ("llm", Kind::Free),
        ("ai_primitives_llm", Kind::Free),
        ("timezone", Kind::Text),
        ("system_instructions", Kind::Text),
        ("key", Kind::Text),
        ("confirm_plans", Kind::Whole(0)),
    ],
};

/// `systems.promptql.ddn`.
pub static DDN: Section =
    Section { also: None, needs: &[], keys: &[("url", Kind::Text), ("headers", Kind::Free)] };

/// Kinds of tools with the keys of their entries.
pub static TOOLS: [(&str, &Section); 3] = [("sql", &SQL), ("mcp", &MCP), ("virtual", &VIRTUAL)];

/// An entry of `tools` of the kind `sql`.
pub static SQL: Section = Section {
    also: None,
    needs: &[],
    keys: &[
        ("kind", Kind::Text),
        ("database", Kind::Text),
        ("description", Kind::Text),
        ("accept_writer", Kind::Switch),
        ("accept_functions", Kind::Texts),
        ("rows", Kind::Whole(1)),
        ("bytes", Kind::Whole(1)),
        ("seconds", Kind::Whole(1)),
    ],
};

/// An entry of `tools` of the kind `mcp`.
pub static MCP: Section = Section {
    also: None,
    needs: &[],
    keys: &[
        ("kind", Kind::Text),
        ("command", Kind::Texts),
        ("url", Kind::Text),
        ("env", Kind::Free),
        ("headers", Kind::Free),
        ("tools", Kind::Texts),
        ("prefix", Kind::Text),
        ("seconds", Kind::Whole(1)),
    ],
};

/// An entry of `tools` of the kind `virtual`.
pub static VIRTUAL: Section = Section {
    also: None,
    needs: &[],
    keys: &[
        ("kind", Kind::Text),
        ("description", Kind::Text),
        ("tools_folder", Kind::Text),
        ("cache", Kind::Free),
        ("simulator", Kind::Text),
        ("style", Kind::Text),
        ("url", Kind::Text),
        ("toolbench_key_env", Kind::Text),
        ("mirrorapi_cache", Kind::Switch),
        ("order", Kind::Text),
        ("save", Kind::Free),
        ("strip", Kind::Free),
        ("check", Kind::Text),
        ("seconds", Kind::Whole(1)),
        ("log", Kind::Text),
    ],
};

impl Section {
    /// Returns the keys with the kinds of their values, in documentation order.
    pub fn entries(&self) -> impl Iterator<Item = &'static (&'static str, Kind)> {
        self.keys.iter().chain(self.also.map_or(&[][..], |also| also.keys))
    }

    /// Returns the names of the keys.
    pub fn names(&self) -> impl Iterator<Item = &'static str> {
        self.entries().map(|(name, _)| *name)
    }

    /// Returns true if the key is allowed.
    pub fn has(&self, key: &str) -> bool {
        self.names().any(|name| name == key)
    }

    fn kind_of(&self, key: &str) -> Option<Kind> {
        self.entries().find(|(name, _)| *name == key).map(|(_, kind)| *kind)
    }
}

/// Sections at fixed paths, with the names of these paths in messages.
static PLACES: [(&str, &Section); 9] = [
    ("run", &RUN),
    ("run.nudge", &NUDGE),
    ("models: { NAME: … }", &MODEL),
    ("price of a model", &PRICE),
    ("systems.promptql", &PROMPTQL),
    ("systems.promptql.ddn", &DDN),
    ("systems.tool_calling", &TOOL_CALLING),
    ("queries", &QUERIES),
    ("imports", &IMPORTS),
];

/// Returns the faults in the keys and values of a workspace file, in the order of the file; at most
/// [`MOST`].
pub(super) fn faults(text: &str, root: Item<'_>) -> Vec<ReadError> {
    let mut checker = Checker { text, faults: Vec::new() };
    checker.map(root, &WORKSPACE, "touchstone.yaml");
    checker.faults
}

struct Checker<'a> {
    text: &'a str,
    faults: Vec<ReadError>,
}

impl Checker<'_> {
    /// Checks a map. `place` is its name in messages.
    fn map(&mut self, map: Item<'_>, section: &'static Section, place: &str) {
        if map.shape() != Shape::Map {
            let names = listed(section.names());
            return self.fault(
                map,
                format!("`{place}` has to be a map of keys"),
                format!("Its keys are {names}."),
            );
        }
        for (key, value) in map.entries() {
            let name = key.word().unwrap_or_default();
            match section.kind_of(name) {
                Some(kind) => self.value(name, value, kind, &below(place, name)),
                None => self.fault(
                    key,
                    format!("`{name}` is not a key of {}", called(place)),
                    advice(name, section),
                ),
            }
        }
        for name in section.needs.iter().filter(|name| map.get_non_null(name).is_none()) {
            self.fault(map, format!("{} has no `{name}`", called(place)), "Add it.".to_owned());
        }
    }

    fn value(&mut self, key: &str, value: Item<'_>, kind: Kind, place: &str) {
        if value.is_null() {
            return;
        }
        let wrong = match kind {
            Kind::Map(section) => return self.map(value, section, place),
            Kind::AnyOrMap(section) if value.shape() == Shape::Map => {
                return self.map(value, section, place);
            }
            Kind::Free | Kind::AnyOrMap(_) => None,
            Kind::SwitchOrMap(section) => match value.shape() {
                Shape::Map => return self.map(value, section, place),
                Shape::Scalar(Scalar::Bool(_)) => None,
                _ => Some(format!("true, false or a map of {}", listed(section.names()))),
            },
            Kind::Named(section) => return self.named(value, place, |_, _| Some(section)),
            Kind::Labels(section) => return self.labels(value, section, place),
            Kind::AnyNumber => value.number().is_none().then(|| "a number".to_owned()),
            Kind::Tools => return self.named(value, place, Self::kind_of_tool),
            Kind::Text => value.word().is_none().then(|| "a text".to_owned()),
            Kind::Switch => {
                let is_switch = matches!(value.shape(), Shape::Scalar(Scalar::Bool(_)));
                (!is_switch).then(|| "true or false".to_owned())
            }
            Kind::Number => (!value.number().is_some_and(|number| number >= 0.0))
                .then(|| "a number from 0 on".into()),
            Kind::Whole(least) => {
                let is_whole = matches!(value.shape(), Shape::Scalar(Scalar::Number(text)) if is_integer_from(text, least));
                (!is_whole).then(|| format!("a whole number from {least} to {}", u32::MAX))
            }
            Kind::Sort if value.word().is_some_and(is_sort) => return,
            Kind::Sort => return self.one_of(value, (key, &SORTS)),
            Kind::OneOf(words) => return self.one_of(value, (key, words)),
            Kind::List => (value.shape() != Shape::List).then(|| "a list".to_owned()),
            Kind::Texts => {
                let fits =
                    value.shape() == Shape::List && value.items().all(|item| item.word().is_some());
                (!fits).then(|| "a list of texts".to_owned())
            }
            Kind::Names => {
                let fits = value.shape() == Shape::Map
                    && value
                        .entries()
                        .all(|(_, name)| name.word().is_some_and(|name| !name.is_empty()));
                (!fits).then(|| "a map of names to new names".to_owned())
            }
        };
        if let Some(wrong) = wrong {
            self.fault(
                value,
                format!("`{key}` has to be {wrong}"),
                "Correct it, or leave it out.".to_owned(),
            );
        }
    }

    fn named<'t>(
        &mut self,
        map: Item<'t>,
        place: &str,
        section: impl Fn(&mut Self, Named<'t, '_>) -> Option<&'static Section>,
    ) {
        if map.shape() != Shape::Map {
            let message = format!("`{place}` has to be a map of names with their settings");
            return self.fault(
                map,
                message,
                format!("Write it as `{place}: {{ a_name: {{ … }} }}`."),
            );
        }
        for (key, value) in map.entries() {
            let name = key.word().unwrap_or_default();
            let place = below(place, name);
            if let Some(section) = section(self, Named { key, value, place: &place }) {
                self.map(value, section, &place);
            }
        }
    }

    /// Checks a map of labels. A label has at most one fault about what it means.
    fn labels(&mut self, map: Item<'_>, section: &'static Section, place: &str) {
        if map.shape() != Shape::Map {
            let message = format!("`{place}` has to be a map of names with filters");
            return self.fault(
                map,
                message,
                format!("Write it as `{place}: {{ a_name: filter }}`."),
            );
        }
        for (key, value) in map.entries() {
            let name = key.word().unwrap_or_default();
            let place = below(place, name);
            if !labels::is_entry(value) {
                let keys = listed(section.names());
                let message = format!("`{place}` has to be a filter or a map of {keys}");
                self.fault(value, message, "Correct it, or leave it out.".to_owned());
                continue;
            }
            let before = self.faults.len();
            if value.shape() == Shape::Map {
                self.map(value, section, &place);
            }
            if self.faults.len() == before
                && let Some((message, advice)) = labels::wrong_entry(name, value)
            {
                self.fault(key, message, format!("{advice}."));
            }
        }
    }

    /// Returns the section for an entry of `tools`, by its `kind`.
    fn kind_of_tool(
        &mut self,
        Named { key, value, place }: Named<'_, '_>,
    ) -> Option<&'static Section> {
        let kinds = || TOOLS.iter().map(|(kind, _)| *kind);
        let Some(kind) = value.get_non_null("kind") else {
            let message = format!("`{place}` has no `kind`");
            self.fault(key, message, format!("Kinds of tools are {}.", listed(kinds())));
            return None;
        };
        let word = kind.word().unwrap_or_default();
        let found = TOOLS.iter().find(|(known, _)| *known == word).map(|(_, section)| *section);
        if found.is_none() {
            let near = nearest(word, kinds());
            let advice = near.map_or_else(
                || format!("Kinds of tools are {}.", listed(kinds())),
                |near| format!("Did you mean `{near}`?"),
            );
            self.fault(kind, format!("`{word}` is not a kind of tool"), advice);
        }
        found
    }

    fn one_of(&mut self, value: Item<'_>, (key, words): (&str, &[&str])) {
        let word = value.word().unwrap_or_default();
        if words.contains(&word) {
            return;
        }
        let near = nearest(word, words.iter().copied());
        let advice =
            near.map_or_else(|| "Correct it.".to_owned(), |near| format!("Did you mean `{near}`?"));
        let all = listed(words.iter().copied());
        self.fault(value, format!("`{key}` has to be one of {all}"), advice);
    }

    fn fault(&mut self, node: Item<'_>, message: impl std::fmt::Display, advice: String) {
        if self.faults.len() < MOST {
            let offset = node.span().map_or(0, |(from, _)| from);
            let fault = ReadError::at_offset(
                ReadErrorKind::BadValue,
                self.text,
                offset,
                format!("{message}."),
            );
            self.faults.push(fault.advise(advice));
        }
    }
}

/// An entry of a map with names chosen by the user.
struct Named<'t, 'p> {
    key: Item<'t>,
    value: Item<'t>,
    place: &'p str,
}

/// Returns advice for an unknown key: the nearest known key, else the section where a key of this
/// name belongs, else all keys.
fn advice(name: &str, section: &Section) -> String {
    if let Some(near) = nearest(name, section.names()) {
        return format!("Did you mean `{near}`?");
    }
    if let Some((place, _)) = PLACES.iter().find(|(_, other)| other.has(name)) {
        return format!("It belongs under `{place}`.");
    }
    if WORKSPACE.has(name) {
        return "It belongs at the left margin of touchstone.yaml.".to_owned();
    }
    format!("Keys that may stand here are {}.", listed(section.names()))
}

fn below(place: &str, name: &str) -> String {
    if place == "touchstone.yaml" { name.to_owned() } else { format!("{place}.{name}") }
}

fn called(place: &str) -> String {
    if place == "touchstone.yaml" { place.to_owned() } else { format!("`{place}`") }
}

fn is_integer_from(text: &str, least: u32) -> bool {
    text.parse::<u32>().is_ok_and(|number| number >= least)
}

/// Formats a list of names as code: `a`, `b` and `c`.
fn listed<'n>(names: impl Iterator<Item = &'n str>) -> String {
    let names: Vec<String> = names.map(|name| format!("`{name}`")).collect();
    match names.split_last() {
        Some((last, others)) if !others.is_empty() => format!("{} and {last}", others.join(", ")),
        _ => names.concat(),
    }
}
