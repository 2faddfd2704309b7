//! **Pure.** What came of every evaluator on every row, and the files that are made of it.
use super::sheet::Sheet;
use super::wish::{Configured, Wish};
use crate::rows::EvaluateMetric;
use touchstone_formats::json;
use touchstone_formats::value::Value;
use touchstone_scoring::azure::{
    About, Evaluator, Failure, Fault, Metric, Outcome, Outputs, Results, Table, metrics, prompts_version,
};

/// What is kept of one reply, in letters.
const LONGEST_REPLY: usize = 64 << 10;

/// Results so far.
#[derive(Debug)]
pub(crate) struct Made {
    outputs: Vec<Outputs>,
    faults: Vec<Fault>,
    /// Rows times evaluators that are over.
    ended: usize,
    /// What models said, by row, evaluator and round.
    said: Vec<(usize, String, usize, Value)>,
}

impl Made {
    pub(crate) fn of(wish: &Wish, rows: usize) -> Self {
        let outputs = wish.evaluators.iter().map(|one| Outputs::new(&one.evaluator, rows)).collect();
        Self { outputs, faults: Vec::new(), ended: 0, said: Vec::new() }
    }

    /// Takes what an evaluator came to on a row; in whatever order.
    pub(crate) fn take(&mut self, row: usize, at: usize, result: &Result<Outcome, Failure>) {
        self.ended += 1;
        match result {
            Ok(outcome) => self.outputs[at].set(row, outcome),
            Err(why) => {
                let evaluator = self.outputs[at].name.clone();
                self.faults.push(Fault { row: row + 1, evaluator, why: why.message.clone() });
            }
        }
    }

    /// True when nothing is missing.
    pub(crate) fn is_whole(&self) -> bool {
        let all = self.outputs.iter().map(Outputs::rows).sum::<usize>();
        self.ended == all
    }

    /// Notes what was said in a round; nothing where nobody was asked.
    pub(crate) fn say(
        &mut self,
        (row, evaluator, round): (usize, &str, usize),
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

/// The file of results, and the numbers over all rows. `model` names the one that was asked for an evaluator.
pub(crate) fn compose(
    sheet: &Sheet,
    wish: &Wish,
    made: &Made,
    model: impl Fn(&Evaluator) -> Option<String>,
) -> (String, Vec<EvaluateMetric>) {
    let summed = metrics(&made.outputs, &wish.quirks);
    let target = sheet.said.as_ref().map(|said| Table::gathered(said.iter().map(|row| cells(row.as_ref().ok()))));
    let about: Vec<About> = wish.evaluators.iter().map(|one| about(one, wish, model(&one.evaluator))).collect();
    let mut faults = made.faults.clone();
    let order = |name: &str| made.outputs.iter().position(|outputs| outputs.name == name);
    faults.sort_by_key(|fault| (fault.row, order(&fault.evaluator)));
    let results = Results {
        data: &sheet.table,
        target: target.as_ref(),
        outputs: &made.outputs,
        metrics: &summed,
        about: &about,
        faults: &faults,
    };
    (results.text(&wish.quirks), summed.into_iter().map(told).collect())
}

fn cells(said: Option<&Vec<(String, Value)>>) -> Vec<(String, Option<Value>)> {
    said.into_iter().flatten().map(|(column, value)| (column.clone(), Some(value.clone()))).collect()
}

fn about(one: &Configured, wish: &Wish, model: Option<String>) -> About {
    let takes = &one.evaluator.takes;
    About {
        name: one.evaluator.name.clone(),
        kind: takes.name.to_owned(),
        version: prompts_version(takes.name),
        model,
        switches: wish.switches.clone(),
        note: takes.safety.then(|| "A local judge, not the hosted service.".to_owned()),
    }
}

fn told(metric: Metric) -> EvaluateMetric {
    let Metric { name, value, interval, n, left_out } = metric;
    EvaluateMetric { name, value, interval: interval.map(|interval| (interval.low, interval.high)), n, left_out }
}
