//! What lists, reports and converted runs may quote of sensitive runs.
use super::SensitiveActions;
use super::scan_care::{LEFT_OUT, leave_out_quote};
use crate::error::AppError;
use std::collections::{BTreeMap, BTreeSet};
use touchstone_api::{LabelSchema, RunLabel, RunRow};
use touchstone_store::query::OwnColumn;

/// Replaces what lists quote of sensitive runs.
#[derive(Debug, Default)]
pub struct QuoteCare {
    /// Labels whose values are texts that people wrote.
    texts: BTreeSet<String>,
}

impl QuoteCare {
    /// Replaces the quotations of a row of a sensitive run: its prompt, why it ended so, why it has its
    /// score, and texts of labels. Returns true if there was one.
    pub fn leave_out_row(&self, row: &mut RunRow) -> bool {
        if row.sensitive != Some(true) {
            return false;
        }
        let quotes =
            [&mut row.reason, &mut row.score_reason, &mut row.prompt].into_iter().flatten();
        let mut changed = self.leave_out_labels(&mut row.labels);
        for text in quotes.filter(|text| !text.is_empty()) {
            leave_out_quote(text);
            changed = true;
        }
        changed
    }

    /// Replaces the values of columns of one's own if the row is of a sensitive run, all but labels and
    /// scores. Returns true if there was one.
    pub fn leave_out_own(&self, row: &RunRow, own: &mut BTreeMap<String, Option<String>>) -> bool {
        let mut changed = false;
        for (column, value) in own.iter_mut().filter(|_| row.sensitive == Some(true)) {
            // What is not understood is not known to be harmless.
            let quotes = OwnColumn::parse(column).map_or(true, |column| self.quotes(&column));
            if let Some(value) = value.as_mut().filter(|_| quotes) {
                LEFT_OUT.clone_into(value);
                changed = true;
            }
        }
        changed
    }

    /// Returns true if values of a column may quote what was said in a run: all but scores and labels
    /// with fixed values.
    pub fn quotes(&self, column: &OwnColumn) -> bool {
        match column {
            OwnColumn::Fact(_) | OwnColumn::Verdict(_) | OwnColumn::Answer(_) => true,
            OwnColumn::Label(name) => self.is_text(name),
            OwnColumn::Score(_) => false,
        }
    }

    /// Replaces the texts of labels. Returns true if there was one.
    pub(crate) fn leave_out_labels(&self, labels: &mut [RunLabel]) -> bool {
        let mut changed = false;
        for label in labels.iter_mut().filter(|label| self.is_text(&label.name)) {
            if let Some(value) = &mut label.value {
                leave_out_quote(value);
                changed = true;
            }
        }
        changed
    }

    fn is_text(&self, label: &str) -> bool {
        self.texts.contains(&label.to_ascii_lowercase())
    }
}

impl SensitiveActions<'_> {
    /// Returns what replaces the quotations of sensitive runs in lists.
    pub fn quote_care(self) -> Result<QuoteCare, AppError> {
        let labels = self.app.labels().label_schemas()?.into_iter();
        let texts = labels.filter(|label| label.schema == Some(LabelSchema::Text));
        Ok(QuoteCare { texts: texts.map(|label| label.name.to_ascii_lowercase()).collect() })
    }
}
