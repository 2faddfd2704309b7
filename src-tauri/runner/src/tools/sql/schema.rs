//! **Pure.** Describes the tables of a database as SQL, for the model's instructions.
use std::fmt::Write as _;

/// Maximum number of bytes of a schema. More would crowd out the question.
const MOST: usize = 64 << 10;

/// A table or view.
#[derive(Debug, Clone, PartialEq, Eq, Default)]
pub(super) struct Table {
    /// Name in the form for queries, quoted if necessary.
    pub(super) name: String,
    /// `TABLE` or `VIEW`.
    pub(super) kind: &'static str,
    /// Comment of the database's owner.
    pub(super) note: Option<String>,
    /// Columns in order.
    pub(super) columns: Vec<Column>,
    /// Keys in SQL notation: `PRIMARY KEY (id)`.
    pub(super) keys: Vec<String>,
}

/// A column.
#[derive(Debug, Clone, PartialEq, Eq, Default)]
pub(super) struct Column {
    /// Name, quoted if necessary.
    pub(super) name: String,
    /// Type in the database's notation; may be empty in SQLite.
    pub(super) kind: String,
    /// True if the column is `NOT NULL`.
    pub(super) required: bool,
    /// Comment of the database's owner, or the permitted values.
    pub(super) note: Option<String>,
}

/// Formats tables in the given order. Tables that do not fit are only counted.
pub(super) fn write(dialect: &str, tables: &[Table]) -> String {
    let mut out = format!("-- {dialect}\n");
    if tables.is_empty() {
        out.push_str("-- There is no table that can be read.\n");
    }
    for (at, table) in tables.iter().enumerate() {
        let text = written(table);
        if out.len() + text.len() > MOST {
            let left = tables.len() - at;
            let _ = writeln!(
                out,
                "-- {left} more {} left out.",
                if left == 1 { "table is" } else { "tables are" }
            );
            break;
        }
        out.push_str(&text);
    }
    out
}

fn written(table: &Table) -> String {
    let mut lines: Vec<(String, Option<&str>)> = Vec::new();
    for column in &table.columns {
        let kind = if column.kind.is_empty() { String::new() } else { format!(" {}", column.kind) };
        let required = if column.required { " NOT NULL" } else { "" };
        lines.push((format!("{}{kind}{required}", column.name), column.note.as_deref()));
    }
    lines.extend(table.keys.iter().map(|key| (key.clone(), None)));
    let mut out =
        format!("CREATE {} {} ({}\n", table.kind, table.name, remark(table.note.as_deref()));
    let last = lines.len().saturating_sub(1);
    for (at, (line, note)) in lines.iter().enumerate() {
        let comma = if at == last { "" } else { "," };
        let _ = writeln!(out, "  {}{comma}{}", one_line(line), remark(*note));
    }
    out.push_str(");\n");
    out
}

fn remark(note: Option<&str>) -> String {
    note.filter(|note| !note.trim().is_empty())
        .map_or_else(String::new, |note| format!(" -- {}", one_line(note)))
}

/// Replaces control characters, which keeps an owner's comment on one line.
fn one_line(text: &str) -> String {
    let plain: String = text.chars().map(|c| if c.is_control() { ' ' } else { c }).collect();
    plain.trim().to_owned()
}

/// Quotes a name for use in a query, if necessary.
pub(super) fn quoted(name: &str) -> String {
    let plain = name.starts_with(|c: char| c.is_ascii_lowercase() || c == '_')
        && name.chars().all(|c| c.is_ascii_lowercase() || c.is_ascii_digit() || c == '_');
    if plain { name.to_owned() } else { format!("\"{}\"", name.replace('"', "\"\"")) }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn table(name: &str) -> Table {
        let column = |name: &str, kind: &str, required, note: Option<&str>| Column {
            name: quoted(name),
            kind: kind.to_owned(),
            required,
            note: note.map(str::to_owned),
        };
        Table {
            name: quoted(name),
            kind: "TABLE",
            note: Some("Orders\nof all shops".to_owned()),
            columns: vec![
                column("id", "integer", true, None),
                column("State of it", "state", false, Some("open, closed")),
                column("anything", "", false, None),
            ],
            keys: vec!["PRIMARY KEY (id)".to_owned()],
        }
    }

    #[test]
    fn a_schema_reads_as_sql() {
        insta::assert_snapshot!(write("PostgreSQL 15", &[table("orders")]), @r#"
        -- PostgreSQL 15
        CREATE TABLE orders ( -- Orders of all shops
          id integer NOT NULL,
          "State of it" state, -- open, closed
          anything,
          PRIMARY KEY (id)
        );
        "#);
        insta::assert_snapshot!(write("SQLite", &[]), @"
        -- SQLite
        -- There is no table that can be read.
        ");
    }

    #[test]
    fn a_schema_is_bounded_and_says_what_is_missing() {
        let many: Vec<Table> = (0..5000).map(|n| table(&format!("orders_{n}"))).collect();
        let text = write("SQLite", &many);
        assert!(text.len() <= MOST + 60, "{}", text.len());
        let whole = text.matches("CREATE TABLE").count();
        assert!(
            text.ends_with(&format!("-- {} more tables are left out.\n", 5000 - whole)),
            "{text}"
        );
    }

    #[test]
    fn a_name_is_quoted_where_sql_needs_it() {
        let given = ["plain_1", "Upper", "with space", "quo\"te", "1st", ""];
        insta::assert_snapshot!(given.map(quoted).join(" "), @r#"plain_1 "Upper" "with space" "quo""te" "1st" """#);
    }
}
