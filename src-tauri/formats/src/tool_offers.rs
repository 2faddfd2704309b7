//! **Pure.** Tool definitions as sent to models. Owns the descriptions and schemas of Touchstone's
//! own tools, so that the code that runs a tool and the code that only displays it agree.
//! Definitions of tools on a tool server are known only to that server.
use crate::system::{System, ToolKind};
use touchstone_model::run::{Layout, Run};
use touchstone_model::value::Value;

/// Facts that hold the definitions of a run's tools.
pub(crate) const TOOLS: [&str; 4] =
    ["tool_definitions", "inputs.tool_definitions", "available_tools", FACT];

/// A tool definition as sent to a model.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct ToolOffer {
    /// Name, unique among the tools of a run.
    pub name: String,
    /// Description.
    pub description: String,
    /// JSON schema of its parameters.
    pub parameters: Value,
}

/// Kinds of databases.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Dialect {
    /// `SQLite`, a file.
    Sqlite,
    /// `PostgreSQL`, a server.
    Postgres,
}

/// Name of the tool that runs programs.
pub const PYTHON: &str = "execute_python_program";
/// Name of its parameter.
pub const PROGRAM: &str = "pythonCode";
/// Default limits of a program: seconds in total, and mebibytes of memory.
pub const USUAL: (u64, u64) = (30, 1024);
/// Name of the fact that holds the tools offered to a run.
pub const FACT: &str = "run.tool_definitions";

impl Dialect {
    fn name(self) -> &'static str {
        match self {
            Dialect::Sqlite => "SQLite",
            Dialect::Postgres => "PostgreSQL",
        }
    }

    /// Returns the dialect of a database address. Returns `None` if the address does not state it.
    fn from_address(address: &str) -> Option<Self> {
        match address.trim().split_once(':')?.0 {
            "sqlite" => Some(Self::Sqlite),
            "postgres" | "postgresql" => Some(Self::Postgres),
            _ => None,
        }
    }
}

impl ToolOffer {
    /// Returns the definition of a tool that queries a database; `own` is its description in the
    /// workspace file.
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

    /// Returns the definition of the tool that runs programs, with its limits.
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

    /// Converts the definition to the form used in files.
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

/// Returns the definitions of tools that the workspace file describes completely, which are the
/// databases. Tool servers have to be queried instead.
pub fn declared(tools: &[(String, Value)]) -> Vec<ToolOffer> {
    let text =
        |settings: &Value, key: &str| settings.get(key).and_then(Value::text).map(str::to_owned);
    let offer = |(name, settings): &(String, Value)| {
        let dialect = Dialect::from_address(&text(settings, "database")?)?;
        let is_sql = ToolKind::from_settings(settings) == ToolKind::Sql;
        is_sql.then(|| ToolOffer::sql(name, dialect, text(settings, "description").as_deref()))
    };
    tools.iter().filter_map(offer).collect()
}

/// Returns the declared tools that a task uses: all of them unless it names some.
pub fn of_task(declared: &[ToolOffer], named: Option<&[String]>) -> Vec<ToolOffer> {
    let is_its = |offer: &&ToolOffer| named.is_none_or(|named| named.contains(&offer.name));
    declared.iter().filter(is_its).cloned().collect()
}

/// Returns the tools offered to a run of a task with these tools, depending on its system. Returns
/// none for other systems, and for runs of other programs, which have tools of their own.
pub fn of_run(tools: &[ToolOffer], layout: Layout, system: Option<&str>) -> Vec<ToolOffer> {
    let python = match system.filter(|_| layout == Layout::ToolCalling).map(System::from) {
        Some(System::ToolCalling) => None,
        Some(System::ToolCallingPython) => Some(ToolOffer::python(USUAL)),
        _ => return Vec::new(),
    };
    tools.iter().cloned().chain(python).collect()
}

/// Adds the offered tools to a run, unless the run records them itself.
pub fn add_to_run(run: &mut Run, offers: &[ToolOffer]) {
    let tells = run.facts.iter().any(|(key, _)| TOOLS.contains(&key.as_str()));
    if !tells && !offers.is_empty() {
        run.facts
            .push((FACT.to_owned(), Value::List(offers.iter().map(ToolOffer::value).collect())));
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::azure::{Choice, of_run as thread};
    use crate::workspace;
    use touchstone_model::json;

    const FILE: &str = "tools:\n  a: { kind: sql, database: 'sqlite:a.db', description: ' Tickets. \
        ' }\n  b: { kind: sql, database: 'postgres://x/y' }\n  c: { kind: mcp, command: [x] }\
        \n  d: { kind: sql, database: '${WHERE}' }\n  e: { kind: virtual, database: 'sqlite:a.db' }\n";

    /// The first of them.
    const FIRST: &str = concat!(
        r#"{"name":"a","description":"Tickets. Runs one read-only SQL query (SQLite) and gives "#,
        r#"its rows back as a list of objects.","parameters":{"type":"object","#,
        r#""properties":{"sql":{"type":"string","description":"One SQLite query."}},"#,
        r#""required":["sql"],"additionalProperties":false}}"#,
    );

    fn tools() -> Vec<ToolOffer> {
        declared(&workspace::read(FILE).unwrap().tools)
    }

    fn names(offers: &[ToolOffer]) -> String {
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
            add_to_run(&mut run, &tools());
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
