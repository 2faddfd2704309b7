//! **Pure.** What came of every evaluator on every row, and the files that are made of it.
use super::sheet::Sheet;
use super::wish::Wish;
use crate::rows::EvaluateMetric;
use touchstone_formats::json;
use touchstone_formats::value::Value;
use touchstone_scoring::azure::{Failure, Outcome};

/// What is kept of one reply, in letters.
const LONGEST_REPLY: usize = 64 << 10;

/// Results so far.
#[derive(Debug, Default)]
pub(crate) struct Made {
    /// Rows, and of each the evaluators; none where it was stopped.
    pub(crate) rows: Vec<Vec<Option<Result<Outcome, Failure>>>>,
    /// What models said, by row, evaluator and round.
    said: Vec<(usize, String, usize, Value)>,
}

impl Made {
    pub(crate) fn of(rows: usize, evaluators: usize) -> Self {
        Self { rows: (0..rows).map(|_| (0..evaluators).map(|_| None).collect()).collect(), said: Vec::new() }
    }

    /// Notes what was said in a round; nothing where nobody was asked.
    pub(crate) fn say(
        &mut self,
        row: usize,
        evaluator: &str,
        round: usize,
        result: &Result<Outcome, Failure>,
        replies: &[String],
    ) {
        if replies.is_empty() {
            return;
        }
        let cut = |reply: &String| Value::from(reply.chars().take(LONGEST_REPLY).collect::<String>().as_str());
        let number = |value: usize| Value::Number(value.to_string());
        let mut entries = vec![
            ("row", number(row + 1)),
            ("evaluator", Value::from(evaluator)),
            ("round", number(round + 1)),
            ("replies", Value::List(replies.iter().map(cut).collect())),
        ];
        if let Err(why) = result {
            entries.push(("error", Value::from(why.message.as_str())));
        }
        let entries = entries.into_iter().map(|(key, value)| (Value::from(key), value)).collect();
        self.said.push((row, evaluator.to_owned(), round, Value::Map(entries)));
    }

    /// Raw replies as JSON Lines, by row, evaluator and round.
    pub(crate) fn replies(&self) -> String {
        let mut said: Vec<_> = self.said.iter().collect();
        said.sort_by(|a, b| (a.0, &a.1, a.2).cmp(&(b.0, &b.1, b.2)));
        said.iter().map(|(.., entry)| json::write(entry, false) + "\n").collect()
    }
}

/// The file of results, and the numbers over all rows.
pub(crate) fn compose(sheet: &Sheet, wish: &Wish, made: &Made) -> (String, Vec<EvaluateMetric>) {
    let _ = (sheet, wish, made);
    (String::new(), Vec::new())
}
