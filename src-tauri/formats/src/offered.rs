//! **Pure.** Tools as models are told of them. Owns the words and the schemas of those that
//! Touchstone makes itself, so that who runs a tool and who only wants to know what it takes say
//! the same; what a server of tools offers, only that server knows.
use crate::run::{Layout, Run};
use crate::value::Value;

/// A tool as a model is told of it.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Offer {
    /// Name, unique among the tools of a run.
    pub name: String,
    /// What it does.
    pub description: String,
    /// JSON schema of its parameters.
    pub parameters: Value,
}

/// Kinds of databases.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Dialect {
    /// A file.
    Sqlite,
    /// A server.
    Postgres,
}

/// Name of the tool that runs programs.
pub const PYTHON: &str = "execute_python_program";
/// Its parameter.
pub const PROGRAM: &str = "pythonCode";
/// What a program usually may take: seconds in all, and mebibytes of memory.
pub const USUAL: (u64, u64) = (30, 1024);
/// The fact of a run that says which tools it was offered.
pub const FACT: &str = "run.tool_definitions";

impl Dialect {
    fn name(self) -> &'static str {
        match self {
            Dialect::Sqlite => "SQLite",
            Dialect::Postgres => "PostgreSQL",
        }
    }

    /// Of an address as it is written; none when it does not say.
    fn of(address: &str) -> Option<Self> {
        match address.trim().split_once(':')?.0 {
            "sqlite" => Some(Self::Sqlite),
            "postgres" | "postgresql" => Some(Self::Postgres),
            _ => None,
        }
    }
}

impl Offer {
    /// A tool that asks a database; `own` is what the workspace file says of it.
    pub fn sql(name: &str, dialect: Dialect, own: Option<&str>) -> Self {
        let dialect = dialect.name();
        let usual = format!(
            "Runs one read-only SQL query ({dialect}) and gives its rows back as a list of objects."
        );
        let description =
            own.map_or_else(|| usual.clone(), |own| format!("{} {usual}", own.trim()));
        Self {
            name: name.to_owned(),
            description,
            parameters: one_text("sql", &format!("One {dialect} query.")),
        }
    }

    /// The tool that runs programs, with what they may take.
    pub fn python((seconds, mebibytes): (u64, u64)) -> Self {
        let description = format!(
            "Runs a Python 3 program and returns its stdout, stderr and exit code. Print what you want to see. Each call is a new \
             process: nothing is kept from earlier calls. There is no network, no input and no other file than those the program \
             writes; it has {seconds} seconds and {mebibytes} MiB of memory."
        );
        Self {
            name: PYTHON.to_owned(),
            description,
            parameters: one_text(PROGRAM, "The whole Python program."),
        }
    }

    /// As it stands in a file.
    pub fn value(&self) -> Value {
        map(vec![
            ("name", self.name.as_str().into()),
            ("description", self.description.as_str().into()),
            ("parameters", self.parameters.clone()),
        ])
    }
}

fn map(entries: Vec<(&str, Value)>) -> Value {
    Value::Map(entries.into_iter().map(|(key, value)| (Value::from(key), value)).collect())
}

fn one_text(name: &str, about: &str) -> Value {
    let text = map(vec![("type", "string".into()), ("description", about.into())]);
    map(vec![
        ("type", "object".into()),
        ("properties", map(vec![(name, text)])),
        ("required", Value::List(vec![name.into()])),
        ("additionalProperties", Value::Bool(false)),
    ])
}

/// The tools that a workspace file declares, as far as it says what they take: databases do.
/// Servers of tools have to be asked.
pub fn declared(tools: &[(String, Value)]) -> Vec<Offer> {
    let text =
        |settings: &Value, key: &str| settings.get(key).and_then(Value::text).map(str::to_owned);
    let offer = |(name, settings): &(String, Value)| {
        let dialect = Dialect::of(&text(settings, "database")?)?;
        let is_sql = settings.get("kind").and_then(Value::text) == Some("sql");
        is_sql.then(|| Offer::sql(name, dialect, text(settings, "description").as_deref()))
    };
    tools.iter().filter_map(offer).collect()
}

/// Of declared tools, those that runs of a task had: all of them unless it names some.
pub fn of_task(declared: &[Offer], named: Option<&[String]>) -> Vec<Offer> {
    let is_its = |offer: &&Offer| named.is_none_or(|named| named.contains(&offer.name));
    declared.iter().filter(is_its).cloned().collect()
}

/// What a run was offered of the tools of its task, by its system; nothing of runs that others made
/// with tools of their own.
pub fn of_run(tools: &[Offer], layout: Layout, system: Option<&str>) -> Vec<Offer> {
    let python = match system.filter(|_| layout == Layout::ToolCalling) {
        Some("tool_calling") => None,
        Some("tool_calling_python") => Some(Offer::python(USUAL)),
        _ => return Vec::new(),
    };
    tools.iter().cloned().chain(python).collect()
}

/// Adds to a run what it was offered, where it does not say so itself.
pub fn tell(run: &mut Run, offers: &[Offer]) {
    let tells = run.facts.iter().any(|(key, _)| crate::azure::TOOLS.contains(&key.as_str()));
    if !tells && !offers.is_empty() {
        run.facts.push((FACT.to_owned(), Value::List(offers.iter().map(Offer::value).collect())));
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::azure::{Choice, of_run as thread};
    use crate::{json, workspace};

    const FILE: &str = "tools:\n  a: { kind: sql, database: 'sqlite:a.db', description: ' Tickets. ' }\n  b: { kind: sql, database: 'postgres://x/y' }\n  c: { kind: mcp, command: [x] }\n  d: { kind: sql, database: '${WHERE}' }\n  e: { kind: virtual, database: 'sqlite:a.db' }\n";

    /// The first of them.
    const FIRST: &str = r#"{"name":"a","description":"Tickets. Runs one read-only SQL query (SQLite) and gives its rows back as a list of objects.","parameters":{"type":"object","properties":{"sql":{"type":"string","description":"One SQLite query."}},"required":["sql"],"additionalProperties":false}}"#;

    fn tools() -> Vec<Offer> {
        declared(&workspace::read(FILE).unwrap().tools)
    }

    fn names(offers: &[Offer]) -> String {
        offers.iter().map(|offer| offer.name.as_str()).collect::<Vec<_>>().join(" ")
    }

    #[test]
    fn what_a_workspace_says_of_its_databases_is_what_models_are_told() {
        assert_eq!(names(&tools()), "a b");
        assert_eq!(json::write(&tools()[0].value(), false), FIRST);
        assert!(tools()[1].description.starts_with("Runs one read-only SQL query (PostgreSQL)"));
    }

    #[test]
    fn a_run_had_the_tools_that_its_task_names_and_programs_where_its_system_has_them() {
        let of = |named: Option<&[&str]>, layout, system| {
            let named: Option<Vec<String>> =
                named.map(|names| names.iter().map(|name| (*name).to_owned()).collect());
            names(&of_run(&of_task(&tools(), named.as_deref()), layout, system))
        };
        assert_eq!(of(None, Layout::ToolCalling, Some("tool_calling")), "a b");
        assert_eq!(
            of(Some(&["b", "c"]), Layout::ToolCalling, Some("tool_calling_python")),
            "b execute_python_program"
        );
        assert_eq!(of(Some(&[]), Layout::ToolCalling, Some("tool_calling")), "");
        for (layout, system) in [
            (Layout::PromptQl, Some("promptql")),
            (Layout::BenchmarkFolder, Some("tool_calling")),
            (Layout::ToolCalling, Some("mine")),
            (Layout::ToolCalling, None),
        ] {
            assert_eq!(of(None, layout, system), "", "{layout:?} {system:?}");
        }
    }

    #[test]
    fn only_a_run_that_does_not_say_what_it_was_offered_is_told_of_the_tools_of_its_task() {
        let told = |fact: Option<&str>| {
            let facts =
                fact.map(|key| (key.to_owned(), json::read(r#"[{"name": "own"}]"#).unwrap()));
            let mut run = Run { facts: facts.into_iter().collect(), ..Run::default() };
            tell(&mut run, &tools());
            let rows = thread(&run).rows(&Choice::default()).unwrap();
            let name = |tool: &Value| {
                tool.get("name").and_then(Value::text).unwrap_or_default().to_owned()
            };
            rows[0].tool_definitions.iter().map(name).collect::<Vec<_>>().join(" ")
        };
        assert_eq!(told(None), "a b");
        for own in ["tool_definitions", FACT] {
            assert_eq!(told(Some(own)), "own", "{own}");
        }
    }
}
