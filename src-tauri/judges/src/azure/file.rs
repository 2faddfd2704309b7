//! **Pure.** The results file: rows with inputs and outputs, and metrics, in the package's format.
//! By default it is valid JSON and also lists the evaluators, the row counts behind each metric,
//! and the rows without a result with the reason.
use super::numbers::{self, is_whole};
use super::outputs::{Column, Outputs, Type};
use super::python_number::written;
use super::{CollectedRows, Metric, Quirks, RowCollector, Table};
use std::fmt::Write as _;
use touchstone_formats::stabletoolbench::python;
use touchstone_model::json::{self, skim};
use touchstone_model::value::Value;

/// Contents of a results file.
#[derive(Debug, Clone, Copy)]
pub struct Results<'a> {
    /// Input data.
    pub data: &'a Table,
    /// Output of the target for each row; `None` when there was no target.
    pub target: Option<&'a Table>,
    /// Evaluator outputs, in the order in which they are written.
    pub outputs: &'a [Outputs],
    /// Metrics of the outputs.
    pub metrics: &'a [Metric],
    /// Descriptions of the evaluators, by their names in results.
    pub about: &'a [(String, Value)],
    /// Rows without a result of an evaluator.
    pub faults: &'a [Fault],
    /// Content carried over from imported files.
    pub kept: Option<CarriedOver<'a>>,
}

/// Content of an imported file that is not computed here.
#[derive(Debug, Clone, Copy)]
pub struct CarriedOver<'a> {
    /// Columns that are neither inputs nor evaluator outputs.
    pub beside: &'a Table,
    /// Metrics that are not computed from any column.
    pub metrics: &'a [(String, Value)],
    /// Other top-level keys of the file.
    pub keys: &'a [(String, Value)],
}

/// Column that numbers the rows when there is a target.
const LINE_NUMBER: &str = "line_number";
/// Key of the URL at which the package publishes results.
const STUDIO: &str = "studio_url";

/// Description of an evaluator in a results file.
#[derive(Debug, Clone, PartialEq, Eq, Default)]
pub struct About {
    /// Name in results.
    pub name: String,
    /// Evaluator kind.
    pub kind: String,
    /// Version of its prompts; `None` when it asks no model.
    pub version: Option<u32>,
    /// Model that was asked.
    pub model: Option<String>,
    /// Names of the quirks that were on.
    pub switches: Vec<String>,
    /// Note for readers, for example that a safety evaluator is a local judge.
    pub note: Option<String>,
}

/// A row without a result of an evaluator.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Fault {
    /// Row number, from 1.
    pub row: usize,
    /// Name of the evaluator.
    pub evaluator: String,
    /// Reason, a sentence.
    pub why: String,
}

impl About {
    /// Returns the evaluator id in the package's format.
    pub fn id(&self) -> String {
        format!("azureai://built-in/evaluators/{}", self.kind)
    }

    /// Returns the entry of the file: name and description.
    pub fn entry(&self) -> (String, Value) {
        let known = [
            ("id", Some(self.id().as_str().into())),
            ("version", self.version.map(|version| Value::Number(version.to_string()))),
            ("model", self.model.as_deref().map(Value::from)),
            ("note", self.note.as_deref().map(Value::from)),
        ];
        let switches = Value::List(self.switches.iter().map(|name| name.as_str().into()).collect());
        let known = known.into_iter().filter_map(|(key, value)| Some((key.into(), value?)));
        (self.name.clone(), Value::Map(known.chain([("switches".into(), switches)]).collect()))
    }
}

/// Column types, following pandas.
struct Types {
    said: Vec<Type>,
    outputs: Vec<Vec<Type>>,
}

impl Results<'_> {
    /// Writes the file in pieces, one for each row, so that the whole text is never in memory.
    pub fn write<E>(
        &self,
        quirks: &Quirks,
        mut to: impl FnMut(&str) -> Result<(), E>,
    ) -> Result<(), E> {
        let style = Style { bare: quirks.has("bare_nan"), pandas: quirks.has("pandas_types") };
        let types: Vec<Vec<Type>> = self
            .outputs
            .iter()
            .map(|outputs| outputs.columns().iter().map(Column::type_of).collect())
            .collect();
        let of =
            |said: &Table, at: usize| Type::from_cells(said.rows.iter().map(|row| row.cell(at)));
        let said = self
            .target
            .map(|said| (0..said.columns.len()).map(|at| of(said, at)).collect())
            .unwrap_or_default();
        let types = Types { said, outputs: types };
        let numbered = self.data.columns.iter().any(|column| column == LINE_NUMBER);
        to("{\"rows\": [")?;
        let mut line = String::new();
        for row in 0..self.data.rows.len() {
            line.clear();
            line.push_str(if row > 0 { ", {" } else { "{" });
            self.put_row(row, &types, (style, numbered), &mut line);
            line.push('}');
            to(&line)?;
        }
        line.clear();
        line.push(']');
        for (name, value) in self.top_level_keys(!quirks.are_all()) {
            line.push_str(", ");
            put_text(&mut line, name);
            line.push_str(": ");
            style.put(&mut line, &value);
        }
        line.push('}');
        to(&line)
    }

    /// Returns the file as one text.
    pub fn text(&self, quirks: &Quirks) -> String {
        let mut text = String::new();
        let Ok(()) = self.write(quirks, |piece| {
            text.push_str(piece);
            Ok::<(), std::convert::Infallible>(())
        });
        text
    }

    fn put_row(
        &self,
        row: usize,
        types: &Types,
        (style, numbered): (Style, bool),
        line: &mut String,
    ) {
        let mut first = true;
        let mut put = |name: [&str; 3], value: Option<&Value>, kind: Type| {
            line.push_str(if std::mem::take(&mut first) { "" } else { ", " });
            put_text(line, &name.concat());
            line.push_str(": ");
            style.put_cell(line, value, kind);
        };
        let cells = self.data.rows.get(row);
        for (at, column) in self.data.columns.iter().enumerate() {
            put(["inputs.", column, ""], cells.and_then(|cells| cells.cell(at)), Type::Anything);
        }
        if let Some(said) = self.target {
            // A data column of this name has already been written.
            if !numbered {
                put(
                    ["inputs.", LINE_NUMBER, ""],
                    Some(&Value::Number(row.to_string())),
                    Type::Anything,
                );
            }
            let cells = said.rows.get(row);
            for ((at, column), kind) in said.columns.iter().enumerate().zip(&types.said) {
                put(["outputs.", column, ""], cells.and_then(|cells| cells.cell(at)), *kind);
            }
        }
        if let Some(beside) = self.kept.map(|kept| kept.beside) {
            let cells = beside.rows.get(row);
            for (at, column) in beside.columns.iter().enumerate() {
                put([column, "", ""], cells.and_then(|cells| cells.cell(at)), Type::Anything);
            }
        }
        for (outputs, types) in self.outputs.iter().zip(&types.outputs) {
            for (column, kind) in outputs.columns().iter().zip(types) {
                put(
                    ["outputs.", &format!("{}.", outputs.name), &column.key],
                    column.get(row),
                    *kind,
                );
            }
        }
    }

    /// Returns the top-level keys other than `rows`. Without `more`, only keys that the package
    /// writes.
    fn top_level_keys(&self, more: bool) -> Vec<(&str, Value)> {
        let (metrics, keys) =
            self.kept.map_or((&[][..], &[][..]), |kept| (kept.metrics, kept.keys));
        let summed = self.metrics.iter().map(|metric| (text(&metric.name), metric_value(metric)));
        let kept = metrics.iter().map(|(name, value)| (text(name), value.clone()));
        let own = keys.iter().find(|(key, _)| key == STUDIO);
        let mut all = vec![
            ("metrics", Value::Map(summed.chain(kept).collect())),
            (STUDIO, own.map(|(_, value)| value.clone()).unwrap_or_default()),
        ];
        if more {
            all.extend(self.extra_keys());
            let others = keys.iter().filter(|(key, _)| key != STUDIO);
            all.extend(others.map(|(key, value)| (key.as_str(), value.clone())));
        }
        all
    }

    fn extra_keys(&self) -> [(&'static str, Value); 3] {
        let evaluators = self.about.iter().map(|(name, about)| (text(name), about.clone()));
        let counts = self.metrics.iter().map(|metric| (text(&metric.name), counts(metric)));
        let faults = self.faults.iter().map(|fault| {
            let row = Value::Number(fault.row.to_string());
            let fields =
                [("row", row), ("evaluator", text(&fault.evaluator)), ("why", text(&fault.why))];
            Value::Map(fields.map(|(key, value)| (key.into(), value)).to_vec())
        });
        [
            ("evaluators", Value::Map(evaluators.collect())),
            ("counts", Value::Map(counts.collect())),
            ("errors", Value::List(faults.collect())),
        ]
    }
}

fn text(text: &str) -> Value {
    text.into()
}

fn metric_value(metric: &Metric) -> Value {
    numbers::number(metric.value.unwrap_or(f64::NAN))
}

fn counts(metric: &Metric) -> Value {
    let mut fields = vec![
        ("n".into(), Value::Number(metric.n.to_string())),
        ("left_out".into(), Value::Number(metric.left_out.to_string())),
    ];
    if let Some(interval) = metric.interval {
        let ends = [interval.low, interval.high].map(numbers::number);
        fields.push(("interval".into(), Value::List(ends.to_vec())));
    }
    Value::Map(fields)
}

/// Formatting of values.
#[derive(Debug, Clone, Copy)]
struct Style {
    /// Writes `NaN` as it is in Python; otherwise as `null`.
    bare: bool,
    /// Columns have a single type, and numbers are formatted by Python's rules.
    pandas: bool,
}

impl Style {
    fn put_cell(self, out: &mut String, value: Option<&Value>, kind: Type) {
        match (value, kind) {
            (None, _) => out.push_str(if self.bare { "NaN" } else { "null" }),
            (Some(Value::Null), Type::Fractions) if self.pandas && self.bare => out.push_str("NaN"),
            (Some(Value::Number(written)), Type::Fractions) if self.pandas && is_whole(written) => {
                out.push_str(&written.parse().map_or_else(|_| written.clone(), python::float));
            }
            (Some(value), _) => self.put(out, value),
        }
    }

    fn put(self, out: &mut String, value: &Value) {
        match value {
            Value::Null => out.push_str("null"),
            Value::Bool(flag) => out.push_str(if *flag { "true" } else { "false" }),
            Value::Number(written) => self.put_number(out, written),
            Value::Text(text) => put_text(out, text),
            Value::List(items) => {
                out.push('[');
                for (at, item) in items.iter().enumerate() {
                    out.push_str(if at > 0 { ", " } else { "" });
                    self.put(out, item);
                }
                out.push(']');
            }
            Value::Map(entries) => {
                out.push('{');
                for (at, (key, value)) in entries.iter().enumerate() {
                    out.push_str(if at > 0 { ", " } else { "" });
                    put_text(out, key.text().unwrap_or_default());
                    out.push_str(": ");
                    self.put(out, value);
                }
                out.push('}');
            }
        }
    }

    fn put_number(self, out: &mut String, number: &str) {
        let value = written(number).unwrap_or(f64::NAN);
        if !value.is_finite() && !is_whole(number) {
            // Numbers that are too large for Python's floats are infinite there.
            let name = if value.is_nan() {
                "NaN"
            } else if value > 0.0 {
                "Infinity"
            } else {
                "-Infinity"
            };
            out.push_str(if self.bare { name } else { "null" });
        } else if self.pandas {
            out.push_str(&python::text(&Value::Number(number.to_owned())));
        } else {
            out.push_str(&json::write(&Value::Number(number.to_owned()), false));
        }
    }
}

/// Writes a quoted text with Python's escapes.
fn put_text(out: &mut String, text: &str) {
    out.push('"');
    for c in text.chars() {
        match c {
            '"' => out.push_str("\\\""),
            '\\' => out.push_str("\\\\"),
            '\n' => out.push_str("\\n"),
            '\r' => out.push_str("\\r"),
            '\t' => out.push_str("\\t"),
            '\u{8}' => out.push_str("\\b"),
            '\u{c}' => out.push_str("\\f"),
            '\0'..='\u{1f}' => {
                let _ = write!(out, "\\u{:04x}", u32::from(c));
            }
            c => out.push(c),
        }
    }
    out.push('"');
}

/// Contents of a parsed results file, written by Touchstone or by the package.
#[derive(Debug, Clone, PartialEq)]
pub struct ResultsRead {
    /// Input data.
    pub data: Table,
    /// Output of the target for each row; without columns when there was no target.
    pub target: Table,
    /// Outputs of each evaluator.
    pub outputs: Vec<Outputs>,
    /// Metrics; `None` for a value that is not a number.
    pub metrics: Vec<(String, Option<f64>)>,
    /// Descriptions of the evaluators. Empty in files of the package.
    pub evaluators: Vec<(String, Value)>,
}

impl ResultsRead {
    /// Parses a file row by row. The error is a sentence.
    pub fn read(text: &str) -> Result<Self, String> {
        const OTHER: &str =
            "The file is no results of `evaluate`: it has no `rows`, or no `metrics`.";
        let members = skim::members(text.trim()).ok_or(OTHER)?;
        let part = |name: &str| members.iter().find(|(key, _)| *key == name).map(|(_, text)| *text);
        let (rows, metrics) = (part("rows").ok_or(OTHER)?, part("metrics").ok_or(OTHER)?);
        let rows = skim::items(rows).ok_or("`rows` is not a list.")?;
        let value = |text: &str| json::read_python(text).map_err(|why| why.to_string());
        let mut gathering = RowCollector::new(rows.len());
        for (at, row) in rows.iter().enumerate() {
            match value(row).map_err(|why| format!("Row {} cannot be read: {why}", at + 1))? {
                Value::Map(entries) => {
                    let named = entries
                        .into_iter()
                        .filter_map(|(key, value)| Some((key.text()?.to_owned(), value)));
                    gathering.take(named)?;
                }
                _ => return Err(format!("Row {} is not an object.", at + 1)),
            }
        }
        let named = |value: &Value| -> Vec<(String, Value)> {
            let entries = value.entries().iter();
            entries
                .filter_map(|(key, value)| Some((key.text()?.to_owned(), value.clone())))
                .collect()
        };
        let metrics = named(&value(metrics)?).into_iter();
        let number = |value: &Value| numbers::to_f64(value).filter(|number| !number.is_nan());
        let evaluators = part("evaluators").map_or(Ok(Value::Null), value)?;
        let gathered = gathering.end()?;
        let target = gathered.target()?;
        let CollectedRows { data, outputs, .. } = gathered;
        Ok(Self {
            // When there is a target, the package adds a column of row numbers.
            data: if target.columns.is_empty() || !is_numbered(&data) {
                data
            } else {
                data.without(LINE_NUMBER)
            },
            target,
            outputs,
            metrics: metrics.map(|(name, value)| (name, number(&value))).collect(),
            evaluators: named(&evaluators),
        })
    }
}

/// Returns whether the line numbers are generated ones rather than a column of the user's data.
fn is_numbered(data: &Table) -> bool {
    (0..data.rows.len())
        .all(|row| data.value(row, LINE_NUMBER) == Some(&Value::Number(row.to_string())))
}
