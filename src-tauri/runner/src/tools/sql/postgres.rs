//! Read-only queries to a PostgreSQL server. Owns the safeguards: a role without write permissions,
//! a read-only transaction whose snapshot is taken before untrusted code runs, a single statement
//! through the extended protocol, and a connection per call.
use super::address::Server;
use super::role;
use super::schema::{self, Column, Table, quoted};
use super::shape::{self, Caps, Rows};
use super::wire::{Cancel, Session, words};
use super::{placed, stopped, too_long};
use crate::tools::{Called, ToolFailure, Unusable};
use futures_util::TryStreamExt as _;
use std::pin::pin;
use std::time::Duration;
use tokio::sync::OnceCell;
use tokio_postgres::error::{ErrorPosition, SqlState};
use tokio_postgres::types::{FromSql, Kind, Type};
use tokio_postgres::{Client, Row, Statement};
use tokio_util::sync::CancellationToken;
use touchstone_model::value::Value;

/// A database on a server.
#[derive(Debug)]
pub struct Postgres {
    server: Server,
    accept_writer: bool,
    /// Names of risky functions that the user accepts.
    accepted: Vec<String>,
    /// Description of the role after a successful check. A failed check is repeated, because the
    /// role may have been fixed.
    judged: OnceCell<String>,
}

/// Returns the statements that precede every untrusted statement: they start a read-only
/// transaction, set limits, and take a snapshot, after which the transaction cannot be made
/// writable. They contain no untrusted text, therefore they may be sent as one message.
pub fn opening(time: Duration) -> String {
    let whole = time.as_millis().clamp(1, 86_400_000);
    let lock = whole.min(5000);
    format!(
        "BEGIN ISOLATION LEVEL REPEATABLE READ READ ONLY; \
         SET LOCAL statement_timeout = {whole}; SET LOCAL lock_timeout = {lock}; \
         SET LOCAL idle_in_transaction_session_timeout = {whole}; SET LOCAL work_mem = '16MB'; \
         SET LOCAL extra_float_digits = 3; SELECT 1"
    )
}

impl Postgres {
    pub(super) fn new(server: Server, accept_writer: bool, accepted: Vec<String>) -> Self {
        Postgres { server, accept_writer, accepted, judged: OnceCell::new() }
    }

    pub(super) async fn call(&self, sql: &str, caps: &Caps, stop: &CancellationToken) -> Called {
        // Connection futures are large, and are boxed.
        let judged = Box::pin(async {
            let judged = self.judged.get_or_try_init(|| self.judge(caps)).await;
            judged.map(|_| ()).map_err(|unusable| ToolFailure::new(unusable.message))
        });
        self.within(caps, stop, judged).await?;
        let session = self.within(caps, stop, Box::pin(self.session())).await?;
        let cancel = session.cancel();
        tokio::select! {
            biased;
            () = stop.cancelled() => { cancel.now().await; Err(stopped()) }
            () = tokio::time::sleep(caps.time) => { cancel.now().await; Err(too_long(caps)) }
            result = ask(&session.client, sql, caps, cancel.clone()) => {
                result.map_err(|failure| session.broken().map_or(failure, ToolFailure::new))
            }
        }
    }

    pub(super) async fn schema(&self, caps: &Caps) -> Result<String, ToolFailure> {
        self.within(caps, &CancellationToken::new(), async {
            let session = self.session().await?;
            let client = &session.client;
            let failed = |error: tokio_postgres::Error| ToolFailure::new(words(&error));
            client.batch_execute(&opening(caps.time)).await.map_err(failed)?;
            let version = client.query_one("SHOW server_version", &[]).await.map_err(failed)?;
            let columns = client.query(COLUMNS, &[]).await.map_err(failed)?;
            let keys = client.query(KEYS, &[]).await.map_err(failed)?;
            let version: String = version.try_get(0).map_err(failed)?;
            let major = version.split_whitespace().next().unwrap_or_default();
            Ok(schema::write(
                &format!("PostgreSQL {major}"),
                &tables(&columns, &keys).map_err(failed)?,
            ))
        })
        .await
    }

    pub(super) async fn check(&self, caps: &Caps) -> Result<String, Unusable> {
        self.judge(caps).await
    }

    async fn session(&self) -> Result<Session, ToolFailure> {
        Session::open(&self.server).await.map_err(ToolFailure::new)
    }

    /// Runs a future with timeout and cancellation.
    async fn within<T>(
        &self,
        caps: &Caps,
        stop: &CancellationToken,
        act: impl Future<Output = Result<T, ToolFailure>>,
    ) -> Result<T, ToolFailure> {
        tokio::select! {
            biased;
            () = stop.cancelled() => Err(stopped()),
            done = tokio::time::timeout(caps.time, act) => done.unwrap_or_else(|_| Err(too_long(caps))),
        }
    }

    /// Checks the role. Returns a description, or fails if the role can do more than read and
    /// `accept_writer` is not set.
    async fn judge(&self, caps: &Caps) -> Result<String, Unusable> {
        let never = CancellationToken::new();
        let looked = self.within(caps, &never, async {
            let session = self.session().await?;
            let failed = |error: tokio_postgres::Error| ToolFailure::new(words(&error));
            session.client.batch_execute(&opening(caps.time)).await.map_err(failed)?;
            let who =
                "SELECT current_user::text, pg_catalog.current_setting('server_version'), pg_catalog.current_database()::text";
            let who = session.client.query_one(who, &[]).await.map_err(failed)?;
            let found = session.client.query(role::QUESTION, &[]).await.map_err(failed)?;
            let reasons: Result<Vec<String>, _> = found.iter().map(|row| row.try_get(0)).collect();
            let found = session.client.query(role::FUNCTIONS, &[]).await.map_err(failed)?;
            let functions: Result<Vec<(String, String)>, tokio_postgres::Error> =
                found.iter().map(|row| Ok((row.try_get(0)?, row.try_get(1)?))).collect();
            let powers =
                role::Powers { reasons: reasons.map_err(failed)?, functions: functions.map_err(failed)? };
            let role: String = who.try_get(0).map_err(failed)?;
            let version: String = who.try_get(1).map_err(failed)?;
            let database: String = who.try_get(2).map_err(failed)?;
            Ok((role, version, database, powers.without(&self.accepted)))
        });
        let (role, version, database, powers) = looked.await.map_err(|failure| Unusable {
            message: failure.message,
            fix: Some(
                "Check the address in touchstone.yaml, and that the server runs and lets this role in.".to_owned(),
            ),
        })?;
        let version = version.split_whitespace().next().unwrap_or_default();
        match (powers.is_empty(), self.accept_writer) {
            (true, _) => Ok(format!("PostgreSQL {version} as {role}, which may only read.")),
            (false, true) => Ok(format!(
                "PostgreSQL {version} as {role}, which may do more than read ({}); `accept_writer` is set.",
                powers.clause()
            )),
            (false, false) => Err(role::refused(&role, &database, &powers)),
        }
    }
}

/// Runs one untrusted statement and builds the result.
async fn ask(client: &Client, sql: &str, caps: &Caps, cancel: Cancel) -> Called {
    let failed = |error: tokio_postgres::Error| failure(&error, sql, caps);
    client.batch_execute(&opening(caps.time)).await.map_err(failed)?;
    let said = client.prepare(sql).await.map_err(failed)?;
    if !said.params().is_empty() {
        return Err(ToolFailure::new(
            "The query has places for values (`$1`), and there are none: write the values.",
        ));
    }
    let names: Vec<String> = said.columns().iter().map(|column| column.name().to_owned()).collect();
    let mut shaped = Rows::new(caps, names.iter().map(String::as_str))?;
    let (statement, readings) = form(client, sql, said, caps).await.map_err(failed)?;
    let mut stream =
        pin!(client.query_raw(&statement, std::iter::empty::<&str>()).await.map_err(failed)?);
    while let Some(row) = stream.try_next().await.map_err(failed)? {
        let cells: Result<Vec<Value>, _> =
            readings.iter().enumerate().map(|(at, reading)| reading.cell(&row, at)).collect();
        if !shaped.push(cells.map_err(failed)?) {
            // The rest is not needed; the connection ends with the call, and the transaction with
            // it.
            cancel.now().await;
            return Ok(shaped.finish());
        }
    }
    client.batch_execute("ROLLBACK").await.map_err(failed)?;
    if names.is_empty() {
        return Err(ToolFailure::new(
            "The statement gave no rows back, and nothing of it is kept: only queries can be run.",
        ));
    }
    Ok(shaped.finish())
}

/// Returns the statement to run, with a conversion for each column. A query is wrapped in an outer
/// query, which returns values as text, cut to the displayable length, with a row limit. Statements
/// that cannot be wrapped (EXPLAIN, SHOW) run unchanged. Wrapping is no safeguard: the transaction
/// and the role are.
async fn form(
    client: &Client,
    sql: &str,
    said: Statement,
    caps: &Caps,
) -> Result<(Statement, Vec<Reading>), tokio_postgres::Error> {
    let kinds: Vec<Reading> = said.columns().iter().map(|column| reading(column.type_())).collect();
    if kinds.is_empty() {
        return Ok((said, kinds));
    }
    let names: Vec<String> = (1..=kinds.len()).map(|at| format!("c{at}")).collect();
    let values: Vec<String> = kinds
        .iter()
        .zip(&names)
        .map(|(kind, name)| kind.sql_expression(name, caps.cell + 1))
        .collect();
    let inner = sql.trim_end().trim_end_matches(';');
    let text = format!(
        "SELECT {} FROM (\n{inner}\n) AS asked ({}) LIMIT {}",
        values.join(", "),
        names.join(", "),
        caps.rows.saturating_add(1)
    );
    match client.prepare(&text).await {
        Ok(statement) => Ok((statement, kinds)),
        Err(error) if error.as_db_error().is_none() => Err(error),
        Err(_) => {
            client.batch_execute("ROLLBACK").await?;
            client.batch_execute(&opening(caps.time)).await?;
            Ok((said, kinds.iter().map(|_| Reading::Raw).collect()))
        }
    }
}

/// Conversion of a column.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
enum Reading {
    Bool,
    Number,
    Text,
    Json,
    /// A list or a row: converted to JSON by the server.
    Structured,
    Bytes,
    /// The server's own format, for a statement that could not be wrapped.
    Raw,
}

fn reading(kind: &Type) -> Reading {
    match (kind.kind(), kind) {
        (Kind::Domain(inner), _) => reading(inner),
        (Kind::Array(_) | Kind::Composite(_), _) | (_, &Type::RECORD | &Type::RECORD_ARRAY) => {
            Reading::Structured
        }
        (_, &Type::BOOL) => Reading::Bool,
        (
            _,
            &Type::INT2
            | &Type::INT4
            | &Type::INT8
            | &Type::OID
            | &Type::NUMERIC
            | &Type::FLOAT4
            | &Type::FLOAT8,
        ) => Reading::Number,
        (_, &Type::JSON | &Type::JSONB) => Reading::Json,
        (_, &Type::BYTEA) => Reading::Bytes,
        _ => Reading::Text,
    }
}

impl Reading {
    fn sql_expression(self, name: &str, most: usize) -> String {
        match self {
            Reading::Structured => {
                format!("pg_catalog.left(pg_catalog.to_json({name})::pg_catalog.text, {most})")
            }
            Reading::Bytes => format!("pg_catalog.octet_length({name})::pg_catalog.text"),
            _ => format!("pg_catalog.left({name}::pg_catalog.text, {most})"),
        }
    }

    fn cell(self, row: &Row, at: usize) -> Result<Value, tokio_postgres::Error> {
        if self == Reading::Raw {
            let kind = row.columns().get(at).map_or(&Type::UNKNOWN, |column| column.type_());
            return Ok(row
                .try_get::<_, Option<Sent<'_>>>(at)?
                .map_or(Value::Null, |sent| raw(kind, sent.0)));
        }
        let Some(text) = row.try_get::<_, Option<&str>>(at)? else { return Ok(Value::Null) };
        Ok(match self {
            Reading::Bool => Value::Bool(text == "true"),
            Reading::Number => shape::number(text),
            Reading::Json | Reading::Structured => shape::structured(text),
            Reading::Bytes => shape::bytes(text),
            Reading::Text | Reading::Raw => Value::from(text),
        })
    }
}

/// Raw bytes of a value.
struct Sent<'a>(&'a [u8]);

impl<'a> FromSql<'a> for Sent<'a> {
    fn from_sql(
        _: &Type,
        bytes: &'a [u8],
    ) -> Result<Self, Box<dyn std::error::Error + Sync + Send>> {
        Ok(Sent(bytes))
    }

    fn accepts(_: &Type) -> bool {
        true
    }
}

/// Converts a value from the server's binary format. EXPLAIN and SHOW return text.
fn raw(kind: &Type, bytes: &[u8]) -> Value {
    let text = || String::from_utf8_lossy(bytes).into_owned();
    match (kind, bytes) {
        (
            &Type::TEXT
            | &Type::VARCHAR
            | &Type::BPCHAR
            | &Type::NAME
            | &Type::XML
            | &Type::UNKNOWN,
            _,
        ) => Value::Text(text()),
        (&Type::JSON, _) => shape::structured(&text()),
        (&Type::BOOL, &[truth]) => Value::Bool(truth != 0),
        (&Type::INT2 | &Type::INT4 | &Type::INT8, &[first, ..]) if bytes.len() <= 8 => {
            // Sign extension of a big-endian integer.
            let mut whole = [if first >= 0x80 { 0xff } else { 0 }; 8];
            whole[8 - bytes.len()..].copy_from_slice(bytes);
            Value::Number(i64::from_be_bytes(whole).to_string())
        }
        (&Type::VOID, _) => Value::Null,
        _ => Value::Text(format!("<{}: cast it to text to see it>", kind.name())),
    }
}

/// Converts an error of a statement: the server's message, with the position in the model's query.
fn failure(error: &tokio_postgres::Error, sql: &str, caps: &Caps) -> ToolFailure {
    let said = words(error);
    match error.as_db_error() {
        Some(known) if *known.code() == SqlState::QUERY_CANCELED => too_long(caps),
        Some(known) => {
            // A position after the end of the model's query refers to the wrapping query.
            let place = match known.position() {
                Some(ErrorPosition::Original(place)) => usize::try_from(*place).ok(),
                _ => None,
            };
            ToolFailure::new(placed(
                &said,
                sql,
                place.filter(|place| *place <= sql.chars().count() + 1),
            ))
        }
        None => {
            ToolFailure::new(format!("The query broke off: {said}. Only queries can be run here."))
        }
    }
}

const COLUMNS: &str = "
SELECT n.nspname::text, c.relname::text, c.relkind::text, pg_catalog.obj_description(c.oid, 'pg_class'),
  a.attname::text, pg_catalog.format_type(a.atttypid, a.atttypmod), a.attnotnull,
  pg_catalog.col_description(c.oid, a.attnum),
  (SELECT pg_catalog.string_agg(pg_catalog.quote_literal(e.enumlabel), ', ' ORDER BY e.enumsortorder)
   FROM pg_catalog.pg_enum e WHERE e.enumtypid = a.atttypid)
FROM pg_catalog.pg_class c
JOIN pg_catalog.pg_namespace n ON n.oid = c.relnamespace
JOIN pg_catalog.pg_attribute a ON a.attrelid = c.oid AND a.attnum > 0 AND NOT a.attisdropped
WHERE c.relkind IN ('r', 'p', 'v', 'm', 'f') AND NOT c.relispartition
  AND n.nspname NOT IN ('pg_catalog', 'information_schema') AND n.nspname !~ '^pg_(toast|temp)'
  AND pg_catalog.has_schema_privilege(n.oid, 'USAGE') AND pg_catalog.has_column_privilege(c.oid, a.attnum, 'SELECT')
ORDER BY n.nspname COLLATE \"C\", c.relname COLLATE \"C\", a.attnum LIMIT 50000";

const KEYS: &str = "
SELECT n.nspname::text, c.relname::text, pg_catalog.pg_get_constraintdef(k.oid)
FROM pg_catalog.pg_constraint k
JOIN pg_catalog.pg_class c ON c.oid = k.conrelid
JOIN pg_catalog.pg_namespace n ON n.oid = c.relnamespace
WHERE k.contype IN ('p', 'u', 'f') AND n.nspname NOT IN ('pg_catalog', 'information_schema')
ORDER BY pg_catalog.strpos('puf', k.contype::text), k.conname COLLATE \"C\" LIMIT 50000";

fn tables(columns: &[Row], keys: &[Row]) -> Result<Vec<Table>, tokio_postgres::Error> {
    let name = |row: &Row| -> Result<String, tokio_postgres::Error> {
        let (schema, table): (String, String) = (row.try_get(0)?, row.try_get(1)?);
        Ok(if schema == "public" {
            quoted(&table)
        } else {
            format!("{}.{}", quoted(&schema), quoted(&table))
        })
    };
    let mut tables: Vec<Table> = Vec::new();
    for row in columns {
        let table = name(row)?;
        if tables.last().is_none_or(|last| last.name != table) {
            let kind = if matches!(row.try_get::<_, String>(2)?.as_str(), "v" | "m") {
                "VIEW"
            } else {
                "TABLE"
            };
            tables.push(Table { name: table, kind, note: row.try_get(3)?, ..Table::default() });
        }
        let (note, values): (Option<String>, Option<String>) = (row.try_get(7)?, row.try_get(8)?);
        let values = values.map(|values| format!("one of {values}"));
        let notes: Vec<String> = note.into_iter().chain(values).collect();
        let column = Column {
            name: quoted(&row.try_get::<_, String>(4)?),
            kind: row.try_get(5)?,
            required: row.try_get(6)?,
            note: (!notes.is_empty()).then(|| notes.join("; ")),
        };
        if let Some(last) = tables.last_mut() {
            last.columns.push(column);
        }
    }
    for row in keys {
        let table = name(row)?;
        if let Some(table) = tables.iter_mut().find(|known| known.name == table) {
            table.keys.push(row.try_get(2)?);
        }
    }
    Ok(tables)
}
