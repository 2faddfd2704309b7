//! **Pure.** Intentional differences from the package. Each has a named switch that restores the
//! package's behavior.

/// A bug of the package, with the name of the switch that restores it.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct Quirk {
    /// Name on the command line and in files, such as `hidden_tool_definitions`.
    pub name: &'static str,
    /// Behavior of the package, a sentence.
    pub theirs: &'static str,
    /// Behavior of Touchstone, a sentence.
    pub ours: &'static str,
}

/// Set of active switches. The default is none.
#[derive(Debug, Clone, PartialEq, Eq, Default)]
pub struct Quirks {
    on: Vec<&'static str>,
}

const fn quirk(name: &'static str, theirs: &'static str, ours: &'static str) -> Quirk {
    Quirk { name, theirs, ours }
}

/// All switches.
pub const QUIRKS: [Quirk; 37] = [
    quirk(
        "hidden_tool_definitions",
        "The judge of tool calls is never shown what the tools are, because of a misspelt name.",
        "It is shown them.",
    ),
    quirk(
        "groundedness_ignores_query",
        "Groundedness looks at the answer and the context only, even when the question is there, except inside qa.",
        "It looks at the question too when there is one.",
    ),
    quirk(
        "not_applicable_passes",
        "A row whose tool calls cannot be judged, for whatever reason, counts as passed.",
        "Its result is `not applicable`, which is neither passed nor failed.",
    ),
    quirk(
        "first_digit",
        "The first digit of a reply is taken for its score: 10 becomes 1, 4.5 becomes 4, -3 becomes 3, and even the 2 of a closing tag counts.",
        "The whole number is the score; a reply with several, or with words behind it, is not readable.",
    ),
    quirk(
        "unbounded_scores",
        "Relevance, task adherence and similarity accept scores outside 1 to 5.",
        "Such a score is not readable.",
    ),
    quirk(
        "booleans_as_scores",
        "A score of true is 1, and one of false is 0.",
        "Such a score is not readable.",
    ),
    quirk(
        "strict_json",
        "A reply with a fence, thoughts or any other words around its JSON object fails the row.",
        "A fence, thoughts and one short line that announces it are passed over; inside of any other words it is quoted, and no verdict.",
    ),
    quirk(
        "reasons_not_needed",
        "A score counts without a reason beside it, or with an empty one.",
        "Such a reply is not readable, except of similarity, which is asked for a digit alone.",
    ),
    quirk(
        "asked_once",
        "A reply that cannot be read is the end of it.",
        "The judge is asked once more, and told that its reply could not be read.",
    ),
    quirk(
        "unreadable_kept",
        "A reply without a readable score becomes the result `unknown` or `fail` with NaN as its score, or an error, as the judge happens to be written.",
        "There is no score, and the reason says so.",
    ),
    quirk(
        "whole_completeness",
        "Response completeness cuts its score and the threshold that it shows down to whole numbers.",
        "Both are kept as they are.",
    ),
    quirk(
        "contents_unread",
        "Messages whose content is plain text, the usual form, are lost, or the judge is shown the raw list; lists of parts in conversations are shown raw.",
        "Both forms are understood everywhere.",
    ),
    quirk(
        "openai_calls_unread",
        "Tool calls beside the content of a message, and calls and definitions nested below \
         `function`, are overlooked or only half understood; messages and definitions that are not \
         objects fail the row.",
        "They are understood like the package's own form, and what is not an object is passed over.",
    ),
    quirk(
        "repeated_ids_share_results",
        "Calls of tools that share an id, as those of programs that number them anew in each turn, are all shown with the last result of that id.",
        "Each is shown with its own result, and one that returned nothing without any.",
    ),
    quirk(
        "odd_histories_unread",
        "A history that does not begin and end with the person is not understood, and the judge is shown the raw list.",
        "Its turns are shown in the order in which they were.",
    ),
    quirk(
        "messages_run_together",
        "Messages of one side that follow each other are shown in one line, and lines of a text may look like turns or calls.",
        "Each begins on a line of its own; further lines of a text are indented, and calls and results are one line each.",
    ),
    quirk(
        "python_repr",
        "What is not text is shown to the judge as Python writes it, and what is missing as `None`.",
        "It is shown as JSON, and what is missing is said to be missing.",
    ),
    quirk(
        "turns_zipped",
        "In a conversation the first message of the person goes with the first of the assistant \
         and so on, whoever spoke when; a message without a role fails the row.",
        "A turn is what the person said, up to the next answer, and that answer.",
    ),
    quirk(
        "turns_without_result",
        "A conversation of several turns has no result of its own, and its threshold is the mean of the thresholds.",
        "Its result is that of its mean score, of safety that of its worst turn with its reason, and the threshold is the one that was set.",
    ),
    quirk(
        "empty_conversations",
        "A conversation without any turn has an empty result.",
        "It is an error of the input.",
    ),
    quirk(
        "turns_filled_up",
        "A turn of a conversation without a ground truth is held against an empty text, and one without context against `{}`.",
        "It is an error of the input, as it is in a single row.",
    ),
    quirk(
        "vague_errors",
        "An error about missing inputs names a class of the package, and not what is missing.",
        "It names what is missing.",
    ),
    quirk(
        "qa_f1_always_passes",
        "Inside qa the F1 score is held against 3 as an upper limit, so it always passes.",
        "It is held against its own threshold.",
    ),
    quirk(
        "pandas_types",
        "Columns of data are given new types as a whole: texts that look like numbers or dates \
         become such, and the text metrics fail on them. Numbers with a fraction are read roughly: \
         0.3 becomes 0.30000000000000004. Of a key that stands twice in a row, the last value counts.",
        "Values keep the types that they have in the file, and a row with a key that stands twice is not read.",
    ),
    quirk(
        "bare_nan",
        "Numbers that are none are written as NaN and Infinity, which is no valid JSON.",
        "They are written as null.",
    ),
    quirk(
        "string_sorted_labels",
        "Labels of documents are weighed in the order of their texts, so 10 comes before 2.",
        "They are weighed in the order of their numbers.",
    ),
    quirk(
        "unreachable_thresholds",
        "The highest relevance of documents is held against 50, though labels usually end at 4.",
        "It is held against the middle of the labels' range.",
    ),
    quirk(
        "nothing_relevant_fails",
        "Where no document is relevant, ndcg and fidelity are 0 or no number, and fail.",
        "They have no value and no result, and it is said why.",
    ),
    quirk(
        "aggregate_over_all_rows",
        "Rows that failed, have no result or could not be judged count as not passed in the pass rate.",
        "The pass rate is that of rows with a result; how many there were stands beside it.",
    ),
    quirk(
        "unlisted_documents_are_none",
        "Documents that were found but are given as something else than a list count as none found, and every metric is 0.",
        "It is an error of the input.",
    ),
    quirk(
        "names_cut_at_dots",
        "The pass rate of an evaluator named `my.f1` is written under `my`.",
        "It is written under the whole name.",
    ),
    quirk(
        "unread_scores_are_zero",
        "A score model that gives no number has the score 0, held in its range.",
        "There is no score, and the reason says so.",
    ),
    quirk(
        "own_mapping_only",
        "An evaluator with a mapping of its own is given what that names and what a target said, and nothing else.",
        "What it does not name comes from the mapping of all, and from columns of the same name.",
    ),
    quirk(
        "mapped_in_all_rows",
        "Where one row lacks what an input is mapped to, inside of an object or among what a target said, no row has a result.",
        "Only that row has none.",
    ),
    quirk(
        "rouge_types_unlisted",
        "ROUGE takes rouge6 to rouge9 and rougeLsum too, which none of its lists has.",
        "They are refused, and it is said which there are.",
    ),
    quirk(
        "rouge_thresholds_with_fraction",
        "A threshold of ROUGE that is written as a whole number, 1 and not 1.0, is refused.",
        "It is taken as the number that it is.",
    ),
    quirk(
        "thresholds_averaged",
        "Thresholds are averaged like scores among the metrics.",
        "They are no metrics.",
    ),
];

/// Behavior of the package that cannot be switched on.
pub const NEVER: [Quirk; 6] = [
    quirk(
        "roles_from_text",
        "A line such as `system:` in a text that is judged becomes a message of its own, with that role.",
        "What is judged is fenced line by line and stays evidence.",
    ),
    quirk(
        "local_files_read",
        "A Markdown image in a text that is judged is read from the disk and sent to the model.",
        "It stays text, and no file is opened.",
    ),
    quirk(
        "prompt_kept_between_rows",
        "Once groundedness was given a question, later rows without one are asked about the question `None`.",
        "Each row is judged by itself.",
    ),
    quirk(
        "order_by_chance",
        "The keys of a qa result stand in the order in which its judges were done.",
        "They always stand in the same order.",
    ),
    quirk(
        "inputs_changed",
        "The judge of tool calls writes what the tools returned into the row, and the file of results shows other inputs than the data had.",
        "Rows stay as they are.",
    ),
    quirk(
        "rows_misaligned",
        "Results of graders end up at other rows when the service lists them in another order.",
        "Each result stays at its row.",
    ),
];

impl Quirks {
    /// Returns the set of all switches. Excludes [`NEVER`], for example reading local files.
    pub fn all() -> Self {
        Self { on: QUIRKS.iter().map(|quirk| quirk.name).collect() }
    }

    /// Parses switch names; `all` stands for every switch. The error is a sentence.
    pub fn from_names<'a>(names: impl IntoIterator<Item = &'a str>) -> Result<Self, String> {
        let mut on = Vec::new();
        for name in names {
            if name == "all" {
                return Ok(Self::all());
            }
            if let Some(never) = NEVER.iter().find(|quirk| quirk.name == name) {
                return Err(format!("`{name}` cannot be switched on. {}", never.ours));
            }
            let known = QUIRKS.iter().find(|quirk| quirk.name == name);
            on.push(known.ok_or_else(|| format!("There is no switch named `{name}`."))?.name);
        }
        Ok(Self { on })
    }

    /// Returns whether every switch is on.
    pub fn are_all(&self) -> bool {
        QUIRKS.iter().all(|quirk| self.has(quirk.name))
    }

    /// Returns whether a switch is on.
    pub fn has(&self, name: &str) -> bool {
        self.on.contains(&name)
    }

    /// Returns the set without one switch.
    #[must_use]
    pub fn without(mut self, name: &str) -> Self {
        self.on.retain(|known| *known != name);
        self
    }

    /// Returns the names of the active switches.
    pub fn names(&self) -> &[&'static str] {
        &self.on
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn every_switch_has_a_name_of_its_own_and_says_both_ways() {
        let every: Vec<&Quirk> = QUIRKS.iter().chain(&NEVER).collect();
        for (at, quirk) in every.iter().enumerate() {
            assert!(
                every[..at].iter().all(|other| other.name != quirk.name),
                "{} is there twice",
                quirk.name
            );
            assert!(
                quirk
                    .name
                    .chars()
                    .all(|c| c.is_ascii_lowercase() || c.is_ascii_digit() || c == '_'),
                "{}",
                quirk.name
            );
            assert!(
                quirk.theirs.ends_with('.')
                    && quirk.ours.ends_with('.')
                    && quirk.theirs != quirk.ours,
                "{}",
                quirk.name
            );
        }
    }

    #[test]
    fn what_is_never_done_cannot_be_switched_on() {
        assert!(NEVER.iter().all(|never| !Quirks::all().has(never.name)));
        assert_eq!(
            Quirks::from_names(["roles_from_text"]).unwrap_err(),
            "`roles_from_text` cannot be switched on. What is judged is fenced line by line and stays evidence."
        );
        assert_eq!(Quirks::from_names(["nan"]).unwrap_err(), "There is no switch named `nan`.");
    }

    #[test]
    fn switches_are_on_one_by_one_or_all_together() {
        let one = Quirks::from_names(["bare_nan"]).unwrap();
        assert!(one.has("bare_nan") && !one.has("pandas_types"));
        assert_eq!(Quirks::from_names(["bare_nan", "all"]).unwrap(), Quirks::all());
        assert!(!Quirks::all().without("bare_nan").has("bare_nan"));
        assert!(Quirks::default().names().is_empty());
    }
}
