//! Reads a complete run: all steps, the full text of every part, and all table rows.
use touchstone_api::{Body, Part, RowRequest, RunView, Span, Step};
use touchstone_app::App;
use touchstone_app::error::AppError;

/// Bytes of text per request; `ROWS` is the number of rows. The engine may return fewer.
const PIECE: u64 = 1 << 20;
const ROWS: u32 = 1000;

/// Opens a run and completes it.
pub(super) fn run(app: &App, id: &str) -> Result<RunView, AppError> {
    let mut view = app.runs().open_run(id)?;
    while u32::try_from(view.steps.len()).unwrap_or(u32::MAX) < view.total_steps {
        let offset = u32::try_from(view.steps.len()).unwrap_or(u32::MAX);
        let page = app.runs().read_steps(id, &view.version, Span { offset, limit: ROWS })?;
        if page.steps.is_empty() {
            break;
        }
        view.steps.extend(page.steps);
    }
    let steps = view.steps.iter_mut().flat_map(|step: &mut Step| step.parts.iter_mut());
    let facts = view.facts.iter_mut().map(|fact| &mut fact.part);
    for part in steps.chain(view.answer.iter_mut().map(|answer| &mut answer.part)).chain(facts) {
        complete(app, id, part)?;
    }
    if let Some(task) = &mut view.task {
        let parts = task
            .prompt
            .iter_mut()
            .chain(&mut task.expected)
            .chain(task.parameters.iter_mut().map(|fact| &mut fact.part));
        for part in parts {
            complete(app, id, part)?;
        }
    }
    Ok(view)
}

fn complete(app: &App, id: &str, part: &mut Part) -> Result<(), AppError> {
    match &mut part.body {
        Body::Text { text, whole, .. } | Body::Value { text, whole } if !*whole => {
            text.clear();
            let mut next = Some(0);
            while let Some(offset) = next {
                let piece = app.runs().read_text(id, &part.id, offset, PIECE)?;
                text.push_str(&piece.text);
                next = piece.next;
            }
            *whole = true;
        }
        Body::Text { .. } | Body::Value { .. } => {}
        Body::Table { rows, total, .. } => {
            while (rows.len() as u64) < *total {
                let offset = u32::try_from(rows.len()).unwrap_or(u32::MAX);
                let request = RowRequest {
                    span: Span { offset, limit: ROWS },
                    column: None,
                    descending: false,
                };
                let piece = app.runs().read_rows(id, &part.id, request)?;
                if piece.rows.is_empty() {
                    break;
                }
                rows.extend(piece.rows);
            }
        }
    }
    Ok(())
}
