//! **Pure.** Builds tool results from database rows: limited in rows, bytes and cells, with exact
//! numbers. Owns no connection; both kinds of databases use it.
use crate::tools::ToolFailure;
use std::collections::HashSet;
use std::time::Duration;
use touchstone_model::json;
use touchstone_model::value::Value;

/// Limits of one call.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct Caps {
    /// Maximum number of rows.
    pub rows: usize,
    /// Maximum number of bytes of all rows, formatted as JSON.
    pub bytes: usize,
    /// Maximum number of bytes of one value; longer ones are cut.
    pub cell: usize,
    /// Maximum number of columns; a result with more is refused, because it is unclear which of
    /// them matter.
    pub columns: usize,
    /// Timeout of the whole call.
    pub time: Duration,
}

impl Default for Caps {
    fn default() -> Self {
        Caps {
            rows: 10_000,
            bytes: 1 << 20,
            cell: 64 << 10,
            columns: 200,
            time: Duration::from_secs(30),
        }
    }
}

/// A result that is being built.
#[derive(Debug)]
pub(super) struct Rows {
    caps: Caps,
    names: Vec<Value>,
    kept: Vec<Value>,
    bytes: usize,
    /// Note on the limit that was reached; no more rows are added then.
    full: Option<String>,
    cells_cut: bool,
}

impl Rows {
    /// Creates a result with these column names. Duplicate names get a number, so that every value
    /// is kept. Fails if there are too many columns.
    pub(super) fn new<'a>(
        caps: &Caps,
        names: impl IntoIterator<Item = &'a str>,
    ) -> Result<Self, ToolFailure> {
        let names: Vec<&str> = names.into_iter().collect();
        if names.len() > caps.columns {
            return Err(ToolFailure::new(format!(
                "The result has {} columns, and at most {} come back: name those that are needed.",
                names.len(),
                caps.columns
            )));
        }
        let names = distinct(&names).into_iter().map(Value::Text).collect();
        Ok(Rows { caps: *caps, names, kept: Vec::new(), bytes: 2, full: None, cells_cut: false })
    }

    /// Adds a row. Returns false if no more rows fit.
    pub(super) fn push(&mut self, cells: Vec<Value>) -> bool {
        if self.kept.len() == self.caps.rows {
            self.full =
                Some(format!("Only the first {} here: there are more.", rows(self.caps.rows)));
            return false;
        }
        let cells = cells.into_iter().map(|cell| self.bounded(cell));
        let cells: Vec<Value> = cells.collect();
        let row = Value::Map(self.names.iter().cloned().zip(cells).collect());
        let bytes = json::write(&row, false).len() + 1;
        if self.bytes + bytes > self.caps.bytes {
            self.full = Some(match self.kept.len() {
                0 => format!("The first row alone is larger than {}.", size(self.caps.bytes)),
                fit => {
                    format!(
                        "Only the first {} here: more do not fit into {}.",
                        rows(fit),
                        size(self.caps.bytes)
                    )
                }
            });
            return false;
        }
        self.bytes += bytes;
        self.kept.push(row);
        true
    }

    /// Returns the result: a list of rows, or a map with a note if it is incomplete.
    pub(super) fn finish(self) -> Value {
        let mut notes = Vec::new();
        if let Some(full) = self.full {
            notes.push(full);
            notes.push("Ask for less: fewer columns, a condition, or an aggregate.".to_owned());
        }
        if self.cells_cut {
            notes.push(format!(
                "Values longer than {} are cut and end in `…`.",
                size(self.caps.cell)
            ));
        }
        let rows = Value::List(self.kept);
        if notes.is_empty() {
            return rows;
        }
        let entry = |key: &str, value| (Value::from(key), value);
        let note = Value::Text(notes.join(" "));
        Value::Map(vec![
            entry("rows", rows),
            entry("truncated", Value::Bool(true)),
            entry("note", note),
        ])
    }

    fn bounded(&mut self, cell: Value) -> Value {
        let text = match cell {
            Value::Text(text) | Value::Number(text) if text.len() > self.caps.cell => text,
            Value::List(_) | Value::Map(_) => {
                let text = json::write(&cell, false);
                if text.len() <= self.caps.cell {
                    return cell;
                }
                text
            }
            small => return small,
        };
        self.cells_cut = true;
        Value::Text(format!("{}…", &text[..text.floor_char_boundary(self.caps.cell)]))
    }
}

/// Makes names unique.
fn distinct(names: &[&str]) -> Vec<String> {
    let mut taken: HashSet<String> = names.iter().map(|&name| name.to_owned()).collect();
    let mut seen = HashSet::new();
    let mut out = Vec::new();
    for &name in names {
        let mut own = name.to_owned();
        let mut number = 2;
        if !seen.insert(name) {
            own = format!("{name}_{number}");
            while taken.contains(&own) {
                number += 1;
                own = format!("{name}_{number}");
            }
            taken.insert(own.clone());
        }
        out.push(own);
    }
    out
}

/// Converts a database's number; values that are no JSON numbers (`NaN`, `Infinity`) become text.
pub(super) fn number(text: &str) -> Value {
    let digits = text.strip_prefix('-').unwrap_or(text);
    if digits.starts_with(|c: char| c.is_ascii_digit()) {
        Value::Number(text.to_owned())
    } else {
        Value::Text(text.to_owned())
    }
}

/// Converts a float, using the fewest digits that parse to the same float.
pub(super) fn float(float: f64) -> Value {
    if float.is_nan() {
        return Value::from("NaN");
    }
    if float.is_infinite() {
        return Value::from(if float > 0.0 { "Infinity" } else { "-Infinity" });
    }
    Value::Number(format!("{float:?}"))
}

/// Returns the placeholder for binary data.
pub(super) fn bytes(count: &str) -> Value {
    Value::Text(format!("<{count} {}>", if count == "1" { "byte" } else { "bytes" }))
}

/// Parses a JSON text; text that is not valid, because it was cut or is too deep, stays text.
pub(super) fn structured(text: &str) -> Value {
    json::embedded(text).or_else(|| json::read(text).ok()).unwrap_or_else(|| Value::from(text))
}

fn rows(count: usize) -> String {
    if count == 1 { "row is".to_owned() } else { format!("{count} rows are") }
}

/// Formats a size for display.
pub(super) fn size(bytes: usize) -> String {
    match bytes {
        b if b >= 1 << 20 && b % (1 << 20) == 0 => format!("{} MiB", b >> 20),
        b if b >= 1 << 10 && b % (1 << 10) == 0 => format!("{} KiB", b >> 10),
        b => format!("{b} bytes"),
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use proptest::prelude::*;

    fn shaped(caps: &Caps, names: &[&str], rows: &[&[Value]]) -> String {
        let mut shape = Rows::new(caps, names.iter().copied()).unwrap();
        for row in rows {
            if !shape.push(row.to_vec()) {
                break;
            }
        }
        json::write(&shape.finish(), false)
    }

    fn one_cell() -> Value {
        Value::Number("1".to_owned())
    }

    #[test]
    fn a_result_that_is_whole_is_a_list_of_rows() {
        let rows: &[&[Value]] = &[&[one_cell(), Value::Null], &[one_cell(), Value::from("x")]];
        insta::assert_snapshot!(shaped(&Caps::default(), &["a", "b"], rows), @r#"[{"a":1,"b":null},{"a":1,"b":"x"}]"#);
        insta::assert_snapshot!(shaped(&Caps::default(), &["a"], &[]), @"[]");
    }

    #[test]
    fn a_name_that_comes_twice_hides_nothing() {
        let row: &[Value] = &[one_cell(), one_cell(), one_cell(), one_cell()];
        insta::assert_snapshot!(
            shaped(&Caps::default(), &["id", "id", "id_2", "id"], &[row]), @r#"[{"id":1,"id_3":1,"id_2":1,"id_4":1}]"#);
    }

    #[test]
    fn what_is_missing_is_said() {
        let few = Caps { rows: 1, ..Caps::default() };
        insta::assert_snapshot!(
            shaped(&few, &["a"], &[&[one_cell()], &[one_cell()]]),
            @"{\"rows\":[{\"a\":1}],\"truncated\":true,\"note\":\"Only the first row is here: \
             there are more. Ask for less: fewer columns, a condition, or an aggregate.\"}"
        );
        insta::assert_snapshot!(shaped(&few, &["a"], &[&[one_cell()]]), @r#"[{"a":1}]"#);
        let small = Caps { bytes: 30, ..Caps::default() };
        let long: &[Value] = &[Value::from("0123456789")];
        insta::assert_snapshot!(
            shaped(&small, &["a"], &[long, long]),
            @"{\"rows\":[{\"a\":\"0123456789\"}],\"truncated\":true,\"note\":\"Only the first row \
             is here: more do not fit into 30 bytes. Ask for less: fewer columns, a condition, or \
             an aggregate.\"}"
        );
        insta::assert_snapshot!(
            shaped(&Caps { bytes: 10, ..small }, &["a"], &[long]),
            @r#"{"rows":[],"truncated":true,"note":"The first row alone is larger than 10 bytes. Ask for less: fewer columns, a condition, or an aggregate."}"#
        );
        let narrow = Caps { cell: 4, ..Caps::default() };
        insta::assert_snapshot!(
            shaped(&narrow, &["a"], &[&[Value::from("aäöü")], &[Value::from("four")]]),
            @r#"{"rows":[{"a":"aä…"},{"a":"four"}],"truncated":true,"note":"Values longer than 4 bytes are cut and end in `…`."}"#
        );
        insta::assert_snapshot!(
            shaped(&narrow, &["a"], &[&[Value::List(vec![one_cell(), one_cell(), one_cell()])]]),
            @r#"{"rows":[{"a":"[1,1…"}],"truncated":true,"note":"Values longer than 4 bytes are cut and end in `…`."}"#
        );
    }

    #[test]
    fn too_many_columns_are_refused() {
        let refused = Rows::new(&Caps { columns: 1, ..Caps::default() }, ["a", "b"]).unwrap_err();
        insta::assert_snapshot!(refused, @"The result has 2 columns, and at most 1 come back: name those that are needed.");
    }

    #[test]
    fn numbers_keep_their_text_and_what_is_no_number_is_text() {
        for text in ["0", "-1", "1.50", "1e+20", "12345678901234567890.123456789012345678901"] {
            assert_eq!(number(text), Value::Number(text.to_owned()));
        }
        for text in ["NaN", "Infinity", "-Infinity", ""] {
            assert_eq!(number(text), Value::from(text));
        }
        assert_eq!(float(f64::NAN), Value::from("NaN"));
        assert_eq!(float(f64::NEG_INFINITY), Value::from("-Infinity"));
        assert_eq!(structured(r#"{"a": [1.50]}"#), json::read(r#"{"a": [1.50]}"#).unwrap());
        assert_eq!(structured("1.50"), Value::Number("1.50".to_owned()));
        assert_eq!(structured("[1,"), Value::from("[1,"));
    }

    proptest! {
        #[test]
        fn names_stay_in_order_and_all_differ(names in prop::collection::vec("(a|b|a_2|a_3|b_2)", 0..12)) {
            let given: Vec<&str> = names.iter().map(String::as_str).collect();
            let made = distinct(&given);
            let all: HashSet<&String> = made.iter().collect();
            prop_assert_eq!(all.len(), given.len());
            prop_assert!(made.iter().zip(given).all(|(made, given)| made.starts_with(given)));
        }

        #[test]
        fn a_float_comes_back_the_same(bits in any::<u64>()) {
            let given = f64::from_bits(bits);
            if let Value::Number(text) = float(given) {
                prop_assert_eq!(text.parse::<f64>().unwrap().to_bits(), given.to_bits());
                prop_assert!(json::read(&text).is_ok(), "{}", text);
            } else {
                prop_assert!(!given.is_finite());
            }
        }

        #[test]
        fn a_result_is_never_larger_than_its_caps(cells in prop::collection::vec(".{0,40}", 0..20), cap in 40usize..200) {
            let caps = Caps { bytes: cap, cell: 16, rows: 10, ..Caps::default() };
            let mut shape = Rows::new(&caps, ["a"]).unwrap();
            for cell in &cells {
                if !shape.push(vec![Value::from(cell.as_str())]) {
                    break;
                }
            }
            let result = shape.finish();
            let rows = if let Value::List(_) = &result { &result } else { result.get("rows").unwrap() };
            prop_assert!(rows.items().len() <= 10 && json::write(rows, false).len() <= cap);
        }
    }
}
