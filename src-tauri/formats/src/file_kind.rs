//! **Pure.** Detects the kind of a file from its name and its first bytes. Cheap: nothing is
//! parsed.
use crate::stabletoolbench::answers::raw;
use crate::{benchmark, collection, names};

/// Kind of a file.
#[derive(Debug, Clone, PartialEq, Eq)]
pub enum FileKind {
    /// A transcript, or a file that was meant to be one.
    Transcript,
    /// A suite, or a file that was meant to be one.
    Suite,
    /// The workspace file.
    Workspace,
    /// One of the files of a run in a benchmark folder.
    BenchmarkMember,
    /// A raw answer of `StableToolBench`: one run.
    RawAnswer,
    /// A file that holds many runs.
    Collection,
    /// None of these, with the reason.
    Other(String),
}

const TRANSCRIPT: [&str; 4] = ["conversation", "output", "answer", "error"];
const SUITE: [&str; 9] = [
    "promptql_prompt",
    "tool_calling_prompt",
    "tool_calling_python_prompt",
    "llm_prompt",
    "variations",
    "promptql",
    "tool_calling",
    "expected_tool_calls",
    "expected_promptql_artifact",
];

/// Detects the kind of a file from its name and its first bytes; a few thousand bytes are enough.
pub fn detect(file_name: &str, head: &[u8]) -> FileKind {
    if benchmark::member(file_name).is_some() {
        return FileKind::BenchmarkMember;
    }
    if matches!(file_name, "touchstone.yaml" | "touchstone.yml") {
        return FileKind::Workspace;
    }
    let text = String::from_utf8_lossy(head);
    let text = text.trim_start_matches('\u{feff}');
    let extension = file_name.rsplit_once('.').map(|(_, extension)| extension.to_ascii_lowercase());
    let keys = top_keys(text);
    let has = |known: &[&str]| keys.iter().any(|key| known.contains(key));
    match extension.as_deref() {
        Some("yaml" | "yml") => {}
        Some("json") if is_query_set(text) => return FileKind::Suite,
        Some("json") if raw::is_head(&keys) => return FileKind::RawAnswer,
        // `.jsonl` files are split at line ends, so a document that spans several lines is another
        // kind.
        Some(end @ ("json" | "jsonl" | "csv" | "tsv"))
            if collection::form_of(head)
                .is_some_and(|form| (form == collection::Form::RowLines) == (end == "jsonl")) =>
        {
            return FileKind::Collection;
        }
        // JSON files of other programs also have keys such as `answer` and `error`.
        Some("json")
            if (has(&["conversation"]) && !is_word(text, "conversation"))
                || (has(&["output"]) && names::is_meant(file_name)) =>
        {
            return FileKind::Transcript;
        }
        Some("json" | "jsonl") if is_chat(text) => {
            return FileKind::Other(
                "Messages of a chat, but the start of the file shows no role that is known, so it \
                 is not read as a run. `touchstone messages` converts it for evaluators."
                    .to_owned(),
            );
        }
        Some("json" | "csv" | "tsv") if let Some(reason) = collection::explain_no_runs(head) => {
            return FileKind::Other(reason.to_owned());
        }
        Some("json" | "jsonl") => {
            return FileKind::Other(
                "JSON in another form than the ones that are read; `touchstone formats` lists them."
                    .to_owned(),
            );
        }
        Some("csv" | "tsv") => {
            return FileKind::Other(
                "A table in another form than the ones that are read; `touchstone formats` lists \
                 them."
                    .to_owned(),
            );
        }
        _ => {
            return FileKind::Other(
                "Not a kind of file that is read; `touchstone formats` lists them.".to_owned(),
            );
        }
    }
    // Other programs write `user` as well, but not with a goal.
    let has_user = has(&["user"]) && !has(&["conversation"]) && text.contains("goal:");
    if has(&SUITE) || has_user {
        FileKind::Suite
    } else if has(&TRANSCRIPT) || names::is_meant(file_name) {
        FileKind::Transcript
    } else if keys.is_empty() {
        FileKind::Other(
            "YAML without the keys of a transcript or suite at its beginning.".to_owned(),
        )
    } else {
        let shown: Vec<String> = keys.iter().take(5).map(|key| format!("`{key}`")).collect();
        FileKind::Other(format!(
            "Neither a transcript nor a suite (its keys: {}).",
            shown.join(", ")
        ))
    }
}

/// Returns the first key at the start of a JSON file that suggests a task.
pub fn task_key(head: &[u8]) -> Option<&str> {
    let text = std::str::from_utf8(head).unwrap_or_else(|error| {
        // The last character of the sample may be cut off.
        std::str::from_utf8(&head[..error.valid_up_to()]).unwrap_or_default()
    });
    let text = text.trim_start_matches('\u{feff}').trim_start();
    let object = text.strip_prefix('[').unwrap_or(text).trim_start();
    let own = ["prompt", "prompts", "question", "questions", "expected_output", "expected_answer"];
    if !object.starts_with('{') {
        return None;
    }
    top_keys(object).into_iter().find(|key| SUITE.contains(key) || own.contains(key))
}

/// Returns true for the start of a list of queries with their tools.
fn is_query_set(text: &str) -> bool {
    let first = text.trim_start().strip_prefix('[').map(str::trim_start);
    first.is_some_and(|first| {
        let key = first.trim_start_matches(['{', ' ', '\n', '\r']);
        key.starts_with("\"api_list\"")
            || (first.contains("\"query\"") && first.contains("\"query_id\""))
    })
}

/// Returns true if the value of a key of a JSON object is a string.
fn is_word(text: &str, key: &str) -> bool {
    let value = text.split_once(&format!("\"{key}\"")).map_or("", |(_, rest)| rest);
    value.trim_start().strip_prefix(':').is_some_and(|value| value.trim_start().starts_with('"'))
}

/// Returns true for the start of a list of messages, or of an object that begins with one.
fn is_chat(text: &str) -> bool {
    let compact: String = text.chars().filter(|char| !char.is_whitespace()).take(32).collect();
    let list = compact.strip_prefix("{\"messages\":").unwrap_or(&compact);
    ["[{\"role\":", "[{\"content\":"].iter().any(|start| list.starts_with(start))
}

/// Returns the words before a colon at the left margin, or the keys at the start of a JSON object.
fn top_keys(text: &str) -> Vec<&str> {
    let inside = text.trim_start();
    let lines: Box<dyn Iterator<Item = &str>> = match inside.strip_prefix('{') {
        Some(rest) => Box::new(rest.split([',', '{', '\n']).map(str::trim_start)),
        None => Box::new(text.lines().filter(|line| !line.starts_with([' ', '\t', '#', '-']))),
    };
    lines
        .filter_map(|line| {
            let key = line.split_once(':')?.0.trim_end().trim_matches(['"', '\'']);
            (!key.is_empty()
                && key
                    .bytes()
                    .all(|byte| byte.is_ascii_alphanumeric() || byte == b'_' || byte == b'-'))
            .then_some(key)
        })
        .collect()
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_file_is_what_its_beginning_says() {
        for (name, head, kind) in [
            (
                "a.yaml",
                "# note\nconversation:\n- user_message: 'promptql_prompt: x'\n",
                FileKind::Transcript,
            ),
            (
                "a.yaml",
                "user: ada\nconversation:\n- user_message: 'goal: x'\n",
                FileKind::Transcript,
            ),
            ("a.yml", "output:\n  thread_id: x\nanswer: 1\n", FileKind::Transcript),
            (
                "a.yaml",
                "promptql_prompt: |\n  x\nvariations:\n - parameters:\n     a: 1\n     broken\n",
                FileKind::Suite,
            ),
            ("a.yaml", "\u{feff}variations: []\r\n", FileKind::Suite),
            ("a.yaml", "{\"conversation\": []}", FileKind::Transcript),
            ("a-promptql-o1-variation0.yaml", "", FileKind::Transcript),
            ("touchstone.yaml", "", FileKind::Workspace),
            ("a.json", "{\n  \"conversation\": []", FileKind::Transcript),
            ("a.YAML", "conversation:\n", FileKind::Transcript),
            ("last_10_run_1.history", "[]", FileKind::BenchmarkMember),
            (
                "588_CoT@1.json",
                "{\n  \"win\": true,\n  \"try_count\": 1,\n  \"trys\": [",
                FileKind::RawAnswer,
            ),
            (
                "7_DFS_woFilter_w2.json",
                "{\"win\": false, \"tree\": {\"size\": 8, \"max_length\": 8,",
                FileKind::RawAnswer,
            ),
            ("G1_tool.json", "[\n  {\n    \"api_list\": [", FileKind::Suite),
            ("demo.json", "[{\"query\": \"x\", \"query_id\": 1}]", FileKind::Suite),
            ("x.json", "{\"588\": {\"query\": \"x\", \"answer\": {}}}", FileKind::Collection),
            ("x.csv", "query\tquery_id\tis_solved\n", FileKind::Collection),
            ("x.json", "{\"rows\": [{\"inputs.query\": \"q\"", FileKind::Collection),
            (
                "x.jsonl",
                "{\"inputs.query\": \"q\", \"outputs.f1.f1_score\": NaN}\n",
                FileKind::Collection,
            ),
            (
                "x.json",
                "{\"588\": {\"query\": \"x\", \"available_tools\": [{\"conversation\": {\"type\": \"string\"}}], \"answer\": {}}}",
                FileKind::Collection,
            ),
        ] {
            assert_eq!(detect(name, head.as_bytes()), kind, "{name}: {head}");
        }
        for (name, head) in [
            ("a.yaml", "name: x\nversion: 3\n"),
            ("a.txt", "conversation:\n"),
            ("a.json", "{\"output\": 1, \"error\": 2}"),
            ("a.json", "{\"win\": 3, \"loss\": 2}"),
            ("a.json", "{\"588\": {\"a\": 1, \"b\": 2, \"round_0\": \"complete\"}}"),
            ("a.txt", "query\tquery_id\tis_solved\n"),
            ("a.json", "{\"inputs.query\": \"q\"}"),
            ("a.jsonl", "{\"rows\": [{\"inputs.query\": \"q\"}]}"),
            ("a.jsonl", "{\"query\": \"q\"}\n"),
            ("a.yaml", ""),
            ("x.yaml", "\u{0}\u{1}"),
        ] {
            assert!(matches!(detect(name, head.as_bytes()), FileKind::Other(_)), "{name}: {head}");
        }
    }

    #[test]
    fn chats_are_told_which_command_takes_them_and_words_are_no_conversation() {
        for chat in [
            "{\"messages\": [\n {\"role\": \"user\"",
            "[ {\"role\": \"user\", \"content\": \"x\"}]",
        ] {
            let FileKind::Other(why) = detect("a.json", chat.as_bytes()) else { panic!("{chat}") };
            assert!(why.contains("touchstone messages"), "{why}");
        }
        let word = detect("a.json", b"{\"main\": \"ok\", \"conversation\": \"ok\"}");
        assert!(matches!(word, FileKind::Other(_)), "{word:?}");
    }
}
