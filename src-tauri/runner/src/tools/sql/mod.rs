//! Read-only SQL for models. Owns the tool's interface; submodules contain the safeguards for each
//! kind of database.
mod address;
mod idle;
pub mod postgres;
pub mod process;
mod role;
mod schema;
mod shape;
pub mod sqlite;
mod wire;

pub(crate) use address::passwords;
pub use shape::Caps;

use super::{Called, ToolFailure, Unusable};
use crate::provider::ToolOffer;
use address::{Address, Tls};
use postgres::Postgres;
use sqlite::Sqlite;
use std::path::Path;
use std::time::Duration;
use tokio_util::sync::CancellationToken;
use touchstone_formats::tool_offers::Dialect;
use touchstone_model::value::Value;

/// Maximum number of bytes of a statement.
const LONGEST: usize = 100_000;

/// A database that a model may query but not change.
#[derive(Debug)]
pub struct SqlTool {
    name: String,
    description: Option<String>,
    caps: Caps,
    database: Database,
}

#[derive(Debug)]
enum Database {
    Sqlite(Sqlite),
    Postgres(Box<Postgres>),
}

impl SqlTool {
    /// Reads the settings of a tool: `{kind: sql, database, description, accept_writer,
    /// accept_functions, rows, bytes, seconds}`. Does not connect yet. `base` is the folder of the
    /// workspace file; `secret` returns the value for a `${NAME}` in the address. Fails if a
    /// setting is invalid.
    pub fn open(
        name: &str,
        settings: &Value,
        base: &Path,
        secret: &dyn Fn(&str) -> Option<String>,
    ) -> Result<Self, Unusable> {
        let wrong = |message: String, fix: &str| Unusable {
            message: format!("The tool `{name}`: {message}"),
            fix: Some(fix.to_owned()),
        };
        let Some(address) = settings.get("database").and_then(Value::text) else {
            return Err(wrong(
                "`database` is missing.".to_owned(),
                "Give it `database: sqlite:data/sales.db`.",
            ));
        };
        let address = address::read(address, secret)
            .map_err(|e| Unusable { message: format!("The tool `{name}`: {}", e.message), ..e })?;
        let whole = |key: &str| match settings.get(key) {
            None | Some(Value::Null) => Ok(None),
            Some(Value::Number(text)) if text.parse::<usize>().is_ok_and(|number| number > 0) => {
                Ok(text.parse().ok())
            }
            Some(_) => Err(wrong(
                format!("`{key}` has to be a whole number above 0."),
                "Fix it, or leave it out.",
            )),
        };
        let accept_writer = match settings.get("accept_writer") {
            None | Some(Value::Null | Value::Bool(false)) => false,
            Some(Value::Bool(true)) => true,
            Some(_) => {
                return Err(wrong(
                    "`accept_writer` has to be true or false.".to_owned(),
                    "Fix it.",
                ));
            }
        };
        let accepted = match settings.get("accept_functions") {
            None | Some(Value::Null) => Some(Vec::new()),
            Some(Value::List(names)) => {
                names.iter().map(|name| name.text().map(str::to_owned)).collect()
            }
            Some(_) => None,
        };
        let Some(accepted) = accepted else {
            let fix = "Write `accept_functions: [pg_cancel_backend]`, with the names that `touchstone doctor` shows.";
            return Err(wrong("`accept_functions` has to be a list of names.".to_owned(), fix));
        };
        let usual = Caps::default();
        let caps = Caps {
            rows: whole("rows")?.unwrap_or(usual.rows),
            bytes: whole("bytes")?.unwrap_or(usual.bytes),
            time: whole("seconds")?
                .map_or(usual.time, |seconds| Duration::from_secs(seconds.min(86_400) as u64)),
            ..usual
        };
        let database = match address {
            Address::Sqlite(path) => Database::Sqlite(Sqlite::new(base.join(path))),
            Address::Postgres(mut server) => {
                if let Tls::Verified(Some(roots)) = &mut server.tls {
                    *roots = base.join(&*roots);
                }
                Database::Postgres(Box::new(Postgres::new(*server, accept_writer, accepted)))
            }
        };
        let description = settings.get("description").and_then(Value::text).map(str::to_owned);
        Ok(Self { name: name.to_owned(), description, caps, database })
    }

    /// Returns the tool's definition for the model.
    pub fn offer(&self) -> ToolOffer {
        let dialect = match self.database {
            Database::Sqlite(_) => Dialect::Sqlite,
            Database::Postgres(_) => Dialect::Postgres,
        };
        ToolOffer::sql(&self.name, dialect, self.description.as_deref())
    }

    /// Returns the readable tables and columns as SQL, for the model's instructions. The text is
    /// the same for the same database.
    pub async fn schema(&self) -> Result<String, ToolFailure> {
        match &self.database {
            Database::Sqlite(sqlite) => sqlite.schema(&self.caps).await,
            Database::Postgres(postgres) => postgres.schema(&self.caps).await,
        }
    }

    /// Checks that the database can be reached and cannot be written; describes the finding.
    pub async fn check(&self) -> Result<String, Unusable> {
        let found = match &self.database {
            Database::Sqlite(sqlite) => sqlite.check(&self.caps).await,
            Database::Postgres(postgres) => postgres.check(&self.caps).await,
        };
        found.map_err(|e| Unusable {
            message: format!("The tool `{}`: {}", self.name, e.message),
            ..e
        })
    }

    /// Runs a model's query. Returns a list of rows, or a map `{rows, truncated, note}` if the
    /// result is incomplete.
    pub async fn call(&self, params: &Value, stop: &CancellationToken) -> Called {
        let sql = statement(params)?;
        match &self.database {
            Database::Sqlite(sqlite) => sqlite.call(sql, &self.caps, stop).await,
            Database::Postgres(postgres) => postgres.call(sql, &self.caps, stop).await,
        }
    }
}

/// Returns the statement in the arguments.
fn statement(params: &Value) -> Result<&str, ToolFailure> {
    let sql = match params.get("sql") {
        Some(Value::Text(sql)) => sql.as_str(),
        _ => {
            return Err(ToolFailure::new(
                "The arguments have to be a JSON object with the query as text in `sql`.",
            ));
        }
    };
    if sql.trim().is_empty() {
        return Err(ToolFailure::new("`sql` is empty."));
    }
    if sql.len() > LONGEST {
        return Err(ToolFailure::new(format!("The query is longer than {LONGEST} bytes.")));
    }
    if sql.contains('\0') {
        return Err(ToolFailure::new("The query holds a NUL character."));
    }
    Ok(sql)
}

/// Returns the error for a timeout.
fn too_long(caps: &Caps) -> ToolFailure {
    let limit = caps.time.as_secs();
    let unit = if limit == 1 { "second" } else { "seconds" };
    ToolFailure::new(format!(
        "The query took longer than {limit} {unit} and was stopped. Ask for less."
    ))
}

/// Returns the error for a call that the user stopped.
fn stopped() -> ToolFailure {
    ToolFailure::new("The query was stopped.")
}

/// Adds the position to a database's error message: `near "FRMO": syntax error (at character 10:
/// "FRMO t")`.
fn placed(message: &str, sql: &str, character: Option<usize>) -> String {
    let Some(at) = character else { return message.to_owned() };
    let rest: String = sql.chars().skip(at.saturating_sub(1)).take(24).collect();
    let rest = rest.split_whitespace().collect::<Vec<_>>().join(" ");
    if rest.is_empty() {
        format!("{message} (at the end)")
    } else {
        format!("{message} (at character {at}: `{rest}`)")
    }
}
