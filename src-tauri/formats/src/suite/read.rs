//! **Pure.** Parses all forms of suite files into one model.
use std::collections::HashSet;

use super::queries;
use super::warnings::Warnings;
use super::{Expected, Nudge, OracleFile, Prompts, SimulatedUser, Suite, Task, Variation};
use crate::template;
use touchstone_model::error::{ReadError, ReadErrorKind, text_of};
use touchstone_model::node::{Node, Shape};
use touchstone_model::scalar::Scalar;
use touchstone_model::value::Value;
use touchstone_model::yaml;
use touchstone_model::yaml::tree::Item;

const KNOWN: [&str; 27] = [
    "promptql_prompt",
    "tool_calling_prompt",
    "tool_calling_python_prompt",
    "llm_prompt",
    "oracle_prompt",
    "oracle_system_prompt",
    "oracle_data_list",
    "promptql",
    "tool_calling",
    "expected_tool_calls",
    "expected_promptql_artifact",
    "expected_output",
    "ground_truth_path",
    "result_artifact_name",
    "result_artifact_key",
    "result_tag_name",
    "variations",
    "repeat",
    "name",
    "tags",
    "scorers",
    "tools",
    "max_turns",
    "nudge",
    "description",
    "parameters",
    "user",
];

const OF_NUDGE: [&str; 2] = ["auto", "max"];
const OF_VARIATION: [&str; 5] =
    ["parameters", "expected_output", "name", "ground_truth_path", "oracle_data_file_paths"];
const OF_SYSTEM: [&str; 5] = [
    "retrieval_prompt",
    "oracle_prompt",
    "result_artifact_name",
    "result_artifact_key",
    "result_tag_name",
];

/// Parses a suite file or a set of queries. `task_id` is its path below the input directory,
/// without extension.
pub fn read(text: &str, task_id: &str) -> Result<Suite, ReadError> {
    let text = text_of(text.as_bytes())?;
    if queries::looks_like_one(text) {
        return queries::read(text, task_id);
    }
    let tree = yaml::parse(text)?;
    let mut reader =
        Reader { text, root: tree.root(), warnings: Warnings::new(text), checked: HashSet::new() };
    let task = reader.task(task_id)?;
    Ok(Suite { tasks: vec![task], warnings: reader.warnings.all })
}

pub(super) struct Reader<'a> {
    text: &'a str,
    pub(super) root: Item<'a>,
    pub(super) warnings: Warnings<'a>,
    /// Parameters in short form that were checked for misspelling.
    checked: HashSet<String>,
}

/// Returns the user of a variation. Without `parameters` the key is a parameter like others, and
/// without a goal it is a key of another program.
fn user_in(variation: Item<'_>) -> Option<Item<'_>> {
    variation.get_non_null("parameters")?;
    variation.get_non_null("user").filter(|user| user.get_non_null("goal").is_some())
}

impl<'a> Reader<'a> {
    fn task(&mut self, id: &str) -> Result<Task, ReadError> {
        if self.root.shape() != Shape::Map {
            let advice = "Begin it with `promptql_prompt: |` or `tool_calling_prompt: |` at the left margin.";
            return Err(self
                .fault(
                    ReadErrorKind::NotSuite,
                    self.root,
                    "Not a suite: the file holds no map of keys",
                )
                .advise(advice));
        }
        let mut task = Task { id: id.to_owned(), ..Task::default() };
        task.user = self.user_of_task()?;
        task.prompts = self.prompts(task.user.is_some())?;
        task.name = self.text("name")?;
        task.tags = self.words(self.root.get_non_null("tags"))?;
        task.expected_tool_calls = self.words(self.root.get_non_null("expected_tool_calls"))?;
        task.artifact =
            self.text("expected_promptql_artifact")?.or(self.anywhere("result_artifact_name")?);
        task.artifact_key = self.anywhere("result_artifact_key")?;
        task.result_tag_name = self.anywhere("result_tag_name")?;
        task.repeat = self.number(self.root.get_non_null("repeat"))?.unwrap_or(1).max(1);
        task.max_turns = self.number(self.root.get_non_null("max_turns"))?;
        task.scorers = self.root.get_non_null("scorers").map(Node::to_value).map_or_else(
            Vec::new,
            |scorers| match scorers {
                Value::List(all) => all,
                one => vec![one],
            },
        );
        task.tools =
            self.root.get_non_null("tools").map(|tools| self.words(Some(tools))).transpose()?;
        task.nudge = self.nudge()?;
        for (key, _) in self.root.get_non_null("nudge").into_iter().flat_map(Node::entries) {
            let word = key.word().unwrap_or_default();
            if !OF_NUDGE.contains(&word) {
                self.warnings.add_at(
                    key,
                    format!("`{word}` is not a key of `nudge`, which has `auto` and `max`."),
                );
            }
        }
        task.variations = self.variations()?;
        self.check_templates(&task);
        for (key, value) in self.root.entries() {
            let word = key.word().unwrap_or_default();
            if word == "user" && task.user.is_none() && !value.is_null() {
                self.warnings.add_at(
                    key,
                    "`user` is ignored, because it is no map and the task has a prompt.".to_owned(),
                );
                task.extra.push((word.to_owned(), value.to_value()));
            } else if !KNOWN.contains(&word) {
                self.warnings.unknown(key, word, &KNOWN);
                task.extra.push((word.to_owned(), value.to_value()));
            }
        }
        Ok(task)
    }

    fn prompts(&mut self, has_user: bool) -> Result<Prompts, ReadError> {
        let mut prompts = Prompts {
            promptql: self.text("promptql_prompt")?,
            tool_calling: self.text("tool_calling_prompt")?.or(self.text("llm_prompt")?),
            tool_calling_python: self.text("tool_calling_python_prompt")?,
            promptql_oracle: self.text("oracle_prompt")?,
            tool_calling_oracle: self.text("oracle_prompt")?,
            oracle_system: self.text("oracle_system_prompt")?,
        };
        for (name, retrieval, oracle) in [
            ("promptql", &mut prompts.promptql, &mut prompts.promptql_oracle),
            ("tool_calling", &mut prompts.tool_calling, &mut prompts.tool_calling_oracle),
        ] {
            let Some(system) = self.root.get_non_null(name) else { continue };
            *retrieval = self.text_in(system, "retrieval_prompt")?.or(retrieval.take());
            *oracle = self.text_in(system, "oracle_prompt")?.or(oracle.take());
            for (key, _) in system.entries() {
                let word = key.word().unwrap_or_default();
                if !OF_SYSTEM.contains(&word) {
                    self.warnings.unknown(key, word, &OF_SYSTEM);
                }
            }
        }
        let has_prompt = prompts.promptql.is_some()
            || prompts.tool_calling.is_some()
            || prompts.tool_calling_python.is_some();
        if has_prompt
            && has_user
            && let Some(user) = self.root.get_non_null("user")
        {
            return Err(self
                .bad(user, "The task has both a prompt and a simulated user")
                .advise("Remove one of the two: the user says the first message itself."));
        }
        if !has_prompt && !has_user {
            let message = "Not a suite: it has no prompt.";
            let advice = "Add `promptql_prompt: |` or `tool_calling_prompt: |` with the question.";
            return Err(ReadError::new(ReadErrorKind::NotSuite, message).advise(advice));
        }
        Ok(prompts)
    }

    fn variations(&mut self) -> Result<Vec<Variation>, ReadError> {
        let shared = self.expected(self.root)?;
        let oracle_files = self.oracle_files(self.root.get_non_null("oracle_data_list"))?;
        let Some(list) = self.root.get_non_null("variations") else {
            let parameters = self.root.get_non_null("parameters").map_or_else(Vec::new, parameters);
            return Ok(vec![Variation {
                expected: shared,
                parameters,
                oracle_files,
                ..Variation::default()
            }]);
        };
        if list.shape() != Shape::List {
            return Err(self
                .bad(list, "`variations` has to be a list")
                .advise("Begin each variation with `- `."));
        }
        // A shared expected answer is copied into every variation.
        let weight = self.root.get("expected_output").map_or(0, Item::weight);
        if weight.saturating_mul(list.items().count()) > yaml::REPEATED {
            return Err(self.fault(
                ReadErrorKind::TooLarge,
                list,
                "Too many variations for so large an `expected_output`",
            ));
        }
        let mut variations = Vec::new();
        for item in list.items() {
            let mut variation = self.variation(item)?;
            if variation.expected == Expected::None {
                variation.expected = shared.clone();
            }
            if variation.oracle_files.is_empty() {
                variation.oracle_files.clone_from(&oracle_files);
            }
            variations.push(variation);
        }
        if variations.is_empty() {
            variations.push(Variation { expected: shared, oracle_files, ..Variation::default() });
        }
        Ok(variations)
    }

    /// Parses a variation: in long form with `parameters:`, or in short form, where every unknown
    /// key is a parameter.
    fn variation(&mut self, item: Item<'a>) -> Result<Variation, ReadError> {
        if item.shape() != Shape::Map {
            return Err(self
                .bad(item, "A variation has to be a map")
                .advise("Write its parameters as `- data: last 20`."));
        }
        let others = || {
            item.entries()
                .filter(|(key, _)| !OF_VARIATION.contains(&key.word().unwrap_or_default()))
        };
        let parameters = match item.get_non_null("parameters") {
            Some(list) if list.shape() != Shape::Map => {
                return Err(self
                    .bad(list, "`parameters` has to be a map")
                    .advise("Write them as `parameters: { data: last 20 }`."));
            }
            Some(list) => {
                for (key, _) in others() {
                    let word = key.word().unwrap_or_default();
                    if word == "user" && user_in(item).is_some() {
                        continue;
                    }
                    let message =
                        format!("`{word}` is beside `parameters`, not in it, so it has no effect.");
                    self.warnings.add_at(key, message);
                }
                parameters(list)
            }
            None => {
                // A misspelled key would be taken for a parameter. A name that occurs in a prompt
                // is a parameter for certain.
                for (key, word) in others().filter_map(|(key, _)| Some((key, key.word()?))) {
                    if self.checked.insert(word.to_owned())
                        && !self.text.contains(&format!("{{{word}}}"))
                    {
                        self.warnings.unknown(key, word, &OF_VARIATION);
                    }
                }
                others()
                    .filter_map(|(key, value)| Some((key.word()?.to_owned(), value.to_value())))
                    .collect()
            }
        };
        Ok(Variation {
            name: self.text_in(item, "name")?,
            parameters,
            expected: self.expected(item)?,
            oracle_files: self.oracle_files(item.get_non_null("oracle_data_file_paths"))?,
            user: user_in(item).map(|user| self.user(user)).transpose()?,
        })
    }

    fn expected(&self, at: Item<'a>) -> Result<Expected, ReadError> {
        match (at.get("expected_output"), at.get_non_null("ground_truth_path")) {
            (Some(_), Some(path)) => {
                let fault =
                    self.bad(path, "`expected_output` and `ground_truth_path` are both given");
                Err(fault.advise("Remove one of the two."))
            }
            (Some(value), None) => Ok(Expected::Value(value.to_value())),
            (None, Some(path)) => match path.text() {
                Some(path) => Ok(Expected::File(path.to_owned())),
                None => Err(self.bad(path, "`ground_truth_path` has to be a path")),
            },
            (None, None) => Ok(Expected::None),
        }
    }

    fn check_templates(&mut self, task: &Task) {
        let names = task.parameter_names();
        let root = self.root;
        let flat = [
            "promptql_prompt",
            "tool_calling_prompt",
            "tool_calling_python_prompt",
            "llm_prompt",
            "oracle_prompt",
        ];
        let nested =
            ["promptql", "tool_calling"].iter().filter_map(|system| root.get_non_null(system));
        let nested = nested.flat_map(|system| {
            [system.get_non_null("retrieval_prompt"), system.get_non_null("oracle_prompt")]
        });
        let mut used = Vec::new();
        for prompt in flat.iter().map(|key| root.get_non_null(key)).chain(nested).flatten() {
            if let Some(template) = prompt.text() {
                self.warnings.template(prompt, template, &names);
                used.extend(template::used(template, &names));
            }
        }
        let of_variations = root.get_non_null("variations").into_iter().flat_map(Node::items);
        let users = root.get_non_null("user").into_iter().chain(of_variations.filter_map(user_in));
        for (key, value) in users.flat_map(Node::entries) {
            if matches!(key.word(), Some("persona" | "goal" | "satisfied_when" | "knows"))
                && let Some(template) = value.text()
            {
                self.warnings.template(value, template, &names);
            }
        }
        for template in task.users().flat_map(SimulatedUser::texts) {
            used.extend(template::used(&template, &names));
        }
        used.sort_unstable();
        used.dedup();
        let items = root.get_non_null("variations").into_iter().flat_map(Node::items);
        for (item, variation) in items.zip(&task.variations) {
            let missing = used
                .iter()
                .filter(|name| variation.parameters.iter().all(|(given, _)| given != *name));
            for name in missing {
                let message = format!(
                    "This variation has no `{name}`, so `{{{name}}}` stays in its prompt unchanged."
                );
                self.warnings.add_at(item, message);
            }
        }
    }

    fn nudge(&self) -> Result<Option<Nudge>, ReadError> {
        let Some(nudge) = self.root.get_non_null("nudge") else { return Ok(None) };
        // `nudge: false` is short for `nudge: {auto: false}`.
        let auto =
            if nudge.shape() == Shape::Map { nudge.get_non_null("auto") } else { Some(nudge) };
        let auto = match auto.map(Node::shape) {
            None => true,
            Some(Shape::Scalar(Scalar::Bool(auto))) => auto,
            Some(_) => {
                return Err(self
                    .bad(nudge, "`nudge` has to be true, false or a map")
                    .advise("Write it as `nudge: { auto: true, max: 3 }`."));
            }
        };
        let max = self.number(nudge.get_non_null("max"))?.unwrap_or(3);
        Ok(Some(Nudge { auto, max }))
    }

    /// Returns a text key at the top level or in one of the systems.
    fn anywhere(&self, key: &str) -> Result<Option<String>, ReadError> {
        let places = [
            Some(self.root),
            self.root.get_non_null("promptql"),
            self.root.get_non_null("tool_calling"),
        ];
        for place in places.into_iter().flatten() {
            if let Some(text) = self.text_in(place, key)? {
                return Ok(Some(text));
            }
        }
        Ok(None)
    }

    fn text(&self, key: &str) -> Result<Option<String>, ReadError> {
        self.text_in(self.root, key)
    }

    pub(super) fn text_in(&self, place: Item<'a>, key: &str) -> Result<Option<String>, ReadError> {
        match place.get_non_null(key) {
            None => Ok(None),
            Some(value) => match value.word() {
                Some(word) => Ok(Some(word.to_owned())),
                None => Err(self.bad(value, format!("`{key}` has to be a text"))),
            },
        }
    }

    /// Parses a list of texts; a single text is a list of one.
    fn words(&self, list: Option<Item<'a>>) -> Result<Vec<String>, ReadError> {
        let Some(list) = list else { return Ok(Vec::new()) };
        if let Some(word) = list.word() {
            return Ok(vec![word.to_owned()]);
        }
        let word = |item: Item<'a>| {
            item.word().map(str::to_owned).ok_or_else(|| self.bad(item, "A name is missing here"))
        };
        list.items().map(word).collect()
    }

    /// Parses a list of paths, or of maps with `data_filepath`.
    fn oracle_files(&self, list: Option<Item<'a>>) -> Result<Vec<OracleFile>, ReadError> {
        let file = |item: Item<'a>| {
            let word = |key| item.get(key).and_then(Node::word).map(str::to_owned);
            let path = item
                .word()
                .map(str::to_owned)
                .or_else(|| word("data_filepath"))
                .or_else(|| word("path"));
            let path = path.ok_or_else(|| self.bad(item, "The path of a file is missing here"))?;
            Ok(OracleFile { path, identifier: word("identifier"), title: word("title") })
        };
        list.into_iter().flat_map(Node::items).map(file).collect()
    }

    fn number(&self, value: Option<Item<'a>>) -> Result<Option<u32>, ReadError> {
        let Some(value) = value else { return Ok(None) };
        let number = value.word().and_then(|word| word.parse().ok());
        number.map(Some).ok_or_else(|| self.bad(value, "A whole number is missing here"))
    }

    pub(super) fn bad(&self, node: Item<'_>, message: impl Into<String>) -> ReadError {
        self.fault(ReadErrorKind::BadValue, node, message)
    }

    fn fault(&self, kind: ReadErrorKind, node: Item<'_>, message: impl Into<String>) -> ReadError {
        let offset = node.span().map_or(0, |(from, _)| from);
        ReadError::at_offset(kind, self.text, offset, format!("{}.", message.into()))
    }
}

fn parameters(list: Item<'_>) -> Vec<(String, Value)> {
    list.entries()
        .filter_map(|(key, value)| Some((key.word()?.to_owned(), value.to_value())))
        .collect()
}
