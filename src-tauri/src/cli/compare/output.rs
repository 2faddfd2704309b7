//! Output of a comparison: the JSON document, and the table of verdicts that evaluators stored for
//! each run.
use super::Expected;
use crate::cli::terminal::{Columns, Head, Paint, one_line};
use serde_json::{Value, json};
use std::io::{self, Write};
use touchstone_api::{CompareRow, ComparedRun, Comparison};

/// Builds the JSON document of a comparison.
pub(super) fn document(comparison: &Comparison, names: &[String], expected: &[Expected]) -> Value {
    let step = |row: &CompareRow| {
        let mut step = match row.steps[..] {
            [left, right] => json!({ "left": left, "right": right }),
            _ => json!({ "runs": row.steps }),
        };
        step["kind"] = json!(row.relation);
        step["diverges"] = json!(row.diverges);
        step["title"] = json!(row.title);
        step
    };
    let file = |((name, run), expected): ((&String, &ComparedRun), &Expected)| {
        let row = &run.row;
        let expected = expected
            .as_ref()
            .filter(|_| super::open(run).is_none())
            .map(|(summary, equal)| json!({ "equal": equal, "summary": summary }));
        json!({
            "file": name, "state": row.state, "score": row.score, "turns": row.turns, "tool_calls": row.tool_calls,
            "tokens": row.tokens, "cost": row.cost, "seconds": row.seconds, "steps": run.steps, "parts_at": run.parts_at,
            "leaves_at": run.leaves_at,
            "trouble": run.trouble, "expected": expected,
        })
    };
    let answer = |(name, run): (&String, &ComparedRun)| {
        let told = super::is_told(comparison, run);
        let (kind, summary) =
            (told.then_some(run.answer), run.answer_summary.as_ref().filter(|_| told));
        json!({ "file": name, "kind": kind, "summary": summary })
    };
    let each = || names.iter().zip(&comparison.runs);
    json!({
        "files": each().zip(expected).map(file).collect::<Vec<_>>(),
        "steps": comparison.rows.iter().map(step).collect::<Vec<_>>(),
        "stored": comparison.stored,
        "first_divergence": comparison.first_divergence,
        "first_other_result": comparison.first_other_result,
        "answers": each().skip(1).map(answer).collect::<Vec<_>>(),
        "coarse": comparison.coarse,
        "notes": comparison.notes,
    })
}

/// Writes the stored verdicts of evaluators, one evaluator per line. Writes nothing if there are
/// none.
pub(super) fn stored(out: &mut dyn Write, comparison: &Comparison, paint: Paint) -> io::Result<()> {
    if comparison.stored.is_empty() {
        return Ok(());
    }
    let head = |title: String, right| Head { title: title.into(), right };
    let mut heads = vec![head("stored verdict".to_owned(), false)];
    heads.extend((1..=comparison.runs.len()).map(|number| head(number.to_string(), true)));
    let mut columns = Columns::new(heads);
    for line in &comparison.stored {
        let mut cells = vec![one_line(&line.evaluator).into_owned()];
        cells.extend(line.said.iter().map(|said| {
            said.as_ref()
                .map_or_else(|| "-".to_owned(), |said| one_line(&said.to_short_text()).into_owned())
        }));
        columns.row(cells);
    }
    writeln!(out)?;
    columns.write(out, "", paint, &|_, text| text.to_owned())
}
