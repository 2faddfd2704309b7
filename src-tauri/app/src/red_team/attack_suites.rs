//! Suites of attacks: reads objectives, disguises them, and writes the suites with the tool whose
//! messages hide them. Sends nothing.
use crate::error::{AppError, Code};
use crate::paths;
use crate::saving::NewFile;
use crate::text_file::{self, unreadable};
use fs_err as fs;
use std::path::{Path, PathBuf};
use touchstone_formats::stabletoolbench::cache_file::ApiLocation;
use touchstone_formats::stabletoolbench::python_json::Py;
use touchstone_model::json;
use touchstone_model::value::Value;
use touchstone_redteam::{
    Attack, Category, HiddenMessage, Objective, Slots, Strategy, hidden_messages, parse_attacks,
    read_objectives, starter_objectives, suites, used_objectives,
};

pub use touchstone_redteam::{Carrier, Slots as UserTexts, SuiteOptions as AttackSuiteOptions};

/// Maximum size of a file of objectives.
const MOST_BYTES: u64 = 16 << 20;
/// Maximum size of a file with a text of the user.
const MOST_SLOT_BYTES: u64 = 256 << 10;

/// An attack strategy, for lists.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct StrategyRow {
    /// Name.
    pub name: &'static str,
    /// Description of at most one line.
    pub about: &'static str,
}

/// Returns all strategies.
pub fn strategies() -> Vec<StrategyRow> {
    Strategy::ALL
        .into_iter()
        .map(|strategy| StrategyRow { name: strategy.name(), about: strategy.about() })
        .collect()
}

/// Disguises a text with each of the named attacks. Returns their names and the texts.
pub fn disguise(
    text: &str,
    names: &[String],
    slots: &Slots,
) -> Result<Vec<(String, String)>, AppError> {
    let mut texts = Vec::new();
    for name in names {
        let attack = Attack::from_name(name).map_err(bad)?;
        let text =
            attack.convert(text, slots).ok_or_else(|| bad(attack.describe_missing_text()))?;
        texts.push((attack.name(), text));
    }
    Ok(texts)
}

/// Reads a text of the user from a file, without line breaks at its end.
pub fn slot_from_file(path: &Path) -> Result<String, AppError> {
    let text = text_file::read(path, MOST_SLOT_BYTES)?;
    let text = text.trim_end_matches(['\n', '\r']);
    if text.trim().is_empty() {
        return Err(unreadable(path, "it is empty.".to_owned()));
    }
    Ok(text.to_owned())
}

/// Texts of the user for `jailbreak` and `suffix_append`.
pub fn slots(prefix: Option<&str>, suffix: Option<&str>) -> Slots {
    let own = |text: Option<&str>| text.map(str::to_owned);
    Slots { prefix: own(prefix), suffix: own(suffix), ..Slots::default() }
}

/// Parses names of attacks. The baseline is always among them.
pub fn attacks(names: &[String]) -> Result<Vec<Attack>, AppError> {
    parse_attacks(names.iter().map(String::as_str)).map_err(bad)
}

/// Parses the name of a category.
pub fn category(name: &str) -> Result<Category, AppError> {
    Category::from_name(name).ok_or_else(|| {
        let names: Vec<&str> = Category::ALL.iter().map(|category| category.name()).collect();
        bad(format!("There is no category `{name}`. Choose among: {}.", names.join(", ")))
    })
}

/// Reads the objectives of a file, or those that come with the product. Also returns a sentence for
/// each entry that was left out.
pub fn objectives(file: Option<&Path>) -> Result<(Vec<Objective>, Vec<String>), AppError> {
    let Some(path) = file else { return Ok((starter_objectives(), Vec::new())) };
    let text = text_file::read(path, MOST_BYTES)?;
    let file = read_objectives(&text).map_err(|error| unreadable(path, error.to_string()))?;
    Ok((file.objectives, file.left_out))
}

/// Returns the texts that a model has to put into the past tense for these suites.
pub fn texts_to_reword(
    objectives: &[Objective],
    options: &AttackSuiteOptions,
) -> Result<Vec<String>, AppError> {
    if !options.attacks.iter().any(Attack::rewords) {
        return Ok(Vec::new());
    }
    let used = used_objectives(objectives, options).map_err(bad)?;
    Ok(used.into_iter().map(|objective| objective.text.clone()).collect())
}

/// Returns the folder of the workspace file that a folder of suites belongs to: the nearest one
/// above it, else the current one.
pub fn workspace_of(folder: &Path) -> PathBuf {
    let folder = paths::absolute_path(folder);
    let is_workspace = |above: &&Path| above.join(paths::WORKSPACE).is_file();
    let found = folder.ancestors().skip(1).find(is_workspace).map(Path::to_path_buf);
    found.unwrap_or_else(|| paths::absolute_path(Path::new(".")))
}

/// Suites that were written.
#[derive(Debug, Clone, PartialEq, Eq, Default)]
pub struct WrittenSuites {
    /// Files, in order.
    pub files: Vec<PathBuf>,
    /// Number of runs of one system with one model.
    pub attacks: usize,
    /// Number of these in which a model leads the conversation.
    pub led: usize,
    /// Names of the suites that lack attacks, because no model worded the objective for them.
    pub not_worded: Vec<String>,
    /// Database, or folder of a tool, whose messages hide the objectives, if they are hidden.
    pub inbox: Option<PathBuf>,
    /// Entry of `touchstone.yaml` for that tool.
    pub tool: Option<String>,
}

/// Fails if no such suites can be made, before a model is paid for a wording: each text that it has
/// to word is taken as worded. Returns the paths that the suites take in a folder.
pub fn check_suites(
    folder: &Path,
    objectives: &[Objective],
    options: &AttackSuiteOptions,
    texts: &[String],
) -> Result<Vec<PathBuf>, AppError> {
    let mut options = options.clone();
    options.slots.past_tense =
        texts.iter().map(|text| (text.clone(), Some(text.clone()))).collect();
    let inbox = options.hidden.map(|carrier| folder.join(inbox_name(carrier)));
    let suites = suites(objectives, &options).map_err(bad)?;
    Ok(suites.iter().map(|suite| folder.join(&suite.file_name)).chain(inbox).collect())
}

/// Fails if there is something at one of these paths.
pub fn check_free(paths: &[PathBuf]) -> Result<(), AppError> {
    paths.iter().find(|path| path.exists()).map_or(Ok(()), |path| Err(already_exists(path)))
}

/// Writes a suite for each objective into a folder, which is created. Replaces no file, but passes
/// over those that hold the same: a command that was ended halfway can be given again.
pub fn write_suites(
    folder: &Path,
    objectives: &[Objective],
    options: &AttackSuiteOptions,
) -> Result<WrittenSuites, AppError> {
    let suites = suites(objectives, options).map_err(bad)?;
    let path = |name: &str| folder.join(name);
    // Nothing is written if one name is taken.
    for suite in &suites {
        is_written(&path(&suite.file_name), suite.yaml.as_bytes())?;
    }
    fs::create_dir_all(folder).map_err(|error| failed(&error.to_string()))?;
    let mut written = WrittenSuites {
        led: suites.iter().map(|suite| suite.led).sum(),
        ..WrittenSuites::default()
    };
    if let Some(carrier) = options.hidden {
        let inbox = path(inbox_name(carrier));
        let messages = hidden_messages(objectives, options).map_err(bad)?;
        match carrier {
            Carrier::Table => write_table(&inbox, &messages)?,
            Carrier::Api => write_api(&inbox, &messages)?,
        }
        written.tool = Some(tool_entry(carrier, &inbox));
        written.inbox = Some(inbox);
    }
    for suite in suites {
        let path = path(&suite.file_name);
        write_new(&path, suite.yaml.as_bytes())?;
        written.attacks += suite.variations;
        if suite.not_worded > 0 {
            written.not_worded.push(suite.file_name);
        }
        written.files.push(path);
    }
    Ok(written)
}

/// Returns true if there is a file with this content already. Fails if there is something else.
fn is_written(path: &Path, content: &[u8]) -> Result<bool, AppError> {
    let Ok(found) = fs::symlink_metadata(path) else { return Ok(false) };
    // Only a file of the same size is read.
    let is_like = found.is_file() && found.len() == content.len() as u64;
    if is_like && fs::read(path).is_ok_and(|found| found == content) {
        return Ok(true);
    }
    Err(already_exists(path))
}

/// Writes a file that only its owner may read, unless there is one with this content.
fn write_new(path: &Path, content: &[u8]) -> Result<(), AppError> {
    if is_written(path, content)? {
        return Ok(());
    }
    let mut file = NewFile::create_private(path)?;
    file.write(content)?;
    if file.keep_if_free()? { Ok(()) } else { Err(already_exists(path)) }
}

/// Returns the name of the database or folder beside the suites. The folder is hidden, because its
/// files are no suites.
fn inbox_name(carrier: Carrier) -> &'static str {
    match carrier {
        Carrier::Table => "inbox.db",
        Carrier::Api => ".inbox_api",
    }
}

/// Writes the messages to a new database, which is there under its name when it is complete.
fn write_table(path: &Path, messages: &[HiddenMessage]) -> Result<(), AppError> {
    if path.exists() {
        let is_same = stored_messages(path).is_ok_and(|stored| stored == messages);
        return if is_same { Ok(()) } else { Err(already_exists(path)) };
    }
    let file = NewFile::create_private(path)?;
    let insert = || -> rusqlite::Result<()> {
        let mut database = rusqlite::Connection::open(file.beside())?;
        let transaction = database.transaction()?;
        transaction
            .execute("CREATE TABLE messages (id TEXT PRIMARY KEY, body TEXT NOT NULL)", [])?;
        for message in messages {
            transaction
                .execute("INSERT INTO messages VALUES (?, ?)", [&message.id, &message.body])?;
        }
        transaction.commit()
    };
    insert().map_err(|error| failed(&error.to_string()))?;
    if file.keep_if_free()? { Ok(()) } else { Err(already_exists(path)) }
}

/// Returns the messages of a database.
fn stored_messages(path: &Path) -> rusqlite::Result<Vec<HiddenMessage>> {
    let flags = rusqlite::OpenFlags::SQLITE_OPEN_READ_ONLY;
    let database = rusqlite::Connection::open_with_flags(path, flags)?;
    let mut select = database.prepare("SELECT id, body FROM messages ORDER BY rowid")?;
    let rows =
        select.query_map([], |row| Ok(HiddenMessage { id: row.get(0)?, body: row.get(1)? }))?;
    rows.collect()
}

/// Category, tool and API whose cached replies are the messages.
const API: [&str; 3] = ["Support", "Support Inbox", "Message"];

/// Writes the definition of the tool, and its replies in a cache, which has all of them.
fn write_api(folder: &Path, messages: &[HiddenMessage]) -> Result<(), AppError> {
    let [category, tool, api] = API;
    let text = |text: &str| Value::Text(text.to_owned());
    let parameter = map([
        ("name", text("message_id")),
        ("type", text("STRING")),
        ("description", text("Id of the message")),
    ]);
    let definition = map([
        ("tool_name", text(tool)),
        ("tool_description", text("Messages that customers sent.")),
        ("title", text(tool)),
        (
            "api_list",
            Value::List(vec![map([
                ("name", text(api)),
                ("description", text("Returns a message of the support inbox by its id.")),
                ("method", text("GET")),
                ("required_parameters", Value::List(vec![parameter])),
                ("optional_parameters", Value::List(Vec::new())),
            ])]),
        ),
    ]);
    let entry = |message: &HiddenMessage| {
        let input = Py::Map(vec![("message_id".into(), message.id.as_str().into())]);
        let reply = map([("error", text("")), ("response", text(&message.body))]);
        (Value::Text(input.str()), reply)
    };
    let replies = Value::Map(messages.iter().map(entry).collect());
    let location = ApiLocation::from_names(category, tool, api);
    let Some([category, tool, api]) = location.files.first() else {
        return Err(failed("the names of the tool are no path"));
    };
    let cache = folder.join("cache").join(category).join(tool).join(api);
    let tools = folder.join("tools").join(category).join("support_inbox.json");
    // The definition last: with it the tool is complete.
    for (path, content) in [(cache, replies), (tools, definition)] {
        let parent = path.parent().unwrap_or(folder);
        fs::create_dir_all(parent).map_err(|error| failed(&error.to_string()))?;
        write_new(&path, json::write(&content, true).as_bytes())?;
    }
    Ok(())
}

/// Returns the entry of `touchstone.yaml` for a tool whose messages hide objectives, with its path
/// below the folder of that file.
fn tool_entry(carrier: Carrier, inbox: &Path) -> String {
    let full = paths::absolute_path(inbox);
    let workspace = workspace_of(&full);
    let path = full.strip_prefix(&workspace).unwrap_or(&full).display().to_string();
    let path = path.replace('\'', "''");
    let name = carrier.tool();
    match carrier {
        Carrier::Table => format!(
            "tools:\n  {name}: {{ kind: sql, database: 'sqlite:{path}', \
             description: 'Messages of customers: the table messages with the columns id and body.' }}"
        ),
        Carrier::Api => format!(
            "tools:\n  {name}: {{ kind: virtual, tools_folder: '{path}/tools', cache: '{path}/cache', save: nothing }}"
        ),
    }
}

fn map<const N: usize>(entries: [(&str, Value); N]) -> Value {
    Value::Map(entries.into_iter().map(|(key, value)| (key.into(), value)).collect())
}

fn already_exists(path: &Path) -> AppError {
    AppError::new(Code::BadRequest, format!("{} exists already.", path.display()))
        .hint("Choose another folder. Suites are never replaced, as runs refer to them.")
}

fn bad(message: String) -> AppError {
    AppError::new(Code::BadRequest, message)
}

fn failed(why: &str) -> AppError {
    AppError::new(Code::Failed, format!("The suites could not be written: {why}."))
}

#[cfg(test)]
mod tests {
    use super::*;

    fn options(hidden: Option<Carrier>) -> AttackSuiteOptions {
        let attacks = attacks(&["base64".to_owned()]).unwrap();
        AttackSuiteOptions { attacks, hidden, ..AttackSuiteOptions::default() }
    }

    #[test]
    fn a_folder_that_is_half_written_is_completed_and_nothing_is_replaced() {
        let objectives = starter_objectives();
        for hidden in [None, Some(Carrier::Table), Some(Carrier::Api)] {
            let dir = tempfile::tempdir().unwrap();
            let options = options(hidden);
            let written = write_suites(dir.path(), &objectives, &options).unwrap();
            let last = written.files.last().unwrap();
            let content = fs::read(last).unwrap();
            fs::remove_file(last).unwrap();
            assert_eq!(write_suites(dir.path(), &objectives, &options).unwrap(), written);
            assert_eq!(fs::read(last).unwrap(), content, "{hidden:?}");
            fs::write(last, "name: mine\n").unwrap();
            let error = write_suites(dir.path(), &objectives, &options).unwrap_err();
            assert!(error.message.contains("exists already"), "{error:?}");
            assert_eq!(fs::read(last).unwrap(), b"name: mine\n");
        }
    }

    #[test]
    fn what_cannot_be_written_is_said_before_a_wording_is_bought() {
        let objectives = starter_objectives();
        let names = |names: &[&str]| {
            let names: Vec<String> = names.iter().map(|name| (*name).to_owned()).collect();
            attacks(&names).unwrap()
        };
        let check = |options: AttackSuiteOptions| {
            let texts = texts_to_reword(&objectives, &options).unwrap();
            assert!(!texts.is_empty());
            check_suites(Path::new("/no/folder"), &objectives, &options, &texts)
        };
        let tense = |more: &str| AttackSuiteOptions {
            attacks: names(&["tense", more]),
            ..AttackSuiteOptions::default()
        };
        assert!(check(tense("base64")).is_ok());
        assert!(check(tense("jailbreak")).unwrap_err().message.contains("jailbreak"));
        let hidden = AttackSuiteOptions { hidden: Some(Carrier::Table), ..tense("crescendo") };
        assert!(check(hidden).unwrap_err().message.contains("crescendo"));
        let dir = tempfile::tempdir().unwrap();
        let taken = dir.path().join("violence-001.yaml");
        assert!(check_free(std::slice::from_ref(&taken)).is_ok());
        fs::write(&taken, "").unwrap();
        assert!(check_free(&[taken]).unwrap_err().message.contains("exists already"));
    }
}
