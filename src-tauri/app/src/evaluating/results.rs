//! **Pure.** What came of every evaluator on every row, and the files that are made of it.
use super::rounds::Round;
use super::sheet::Sheet;
use super::wish::{Configured, Wish};
use touchstone_api::EvaluateMetric;
use touchstone_formats::collection::Heard;
use touchstone_scoring::azure::{
    About, Evaluator, Failure, Fault, Metric, Outcome, Outputs, Results, metrics, prompts_version,
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
    /// Some of these have no result, and would have one if they were asked about again.
    holes: bool,
    /// What models said.
    said: Vec<Heard>,
}

impl Made {
    pub(crate) fn of(wish: &Wish, rows: usize) -> Self {
        let outputs =
            wish.evaluators.iter().map(|one| Outputs::new(&one.evaluator, rows)).collect();
        Self { outputs, faults: Vec::new(), ended: 0, holes: false, said: Vec::new() }
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

    /// True when something is missing that whoever begins again may have.
    pub(crate) fn has_holes(&self) -> bool {
        self.holes
    }

    /// Notes what was said in a round to an evaluator that asks a model: also that nothing was.
    pub(crate) fn say(
        &mut self,
        (row, evaluator, number): (usize, &Evaluator, usize),
        round: &Round,
    ) {
        self.holes |= round.lack.is_some();
        if !evaluator.takes.model || (round.replies.is_empty() && round.lack.is_none()) {
            return;
        }
        let cut = |reply: &String| reply.chars().take(LONGEST_REPLY).collect();
        self.said.push(Heard {
            row: row + 1,
            of: None,
            evaluator: evaluator.name.clone(),
            round: number + 1,
            replies: round.replies.iter().map(cut).collect(),
            error: round.result.as_ref().err().map(|why| why.message.clone()),
        });
    }

    /// Raw replies as JSON Lines, by row, evaluator and round; `contents` name the texts of the
    /// rows that were written.
    pub(crate) fn replies(&self, contents: &[u64]) -> String {
        let mut said: Vec<_> = self.said.iter().collect();
        said.sort_by_key(|heard| (heard.row, &heard.evaluator, heard.round));
        let of = |heard: &Heard| contents.get(heard.row - 1).copied();
        said.into_iter().map(|heard| Heard { of: of(heard), ..heard.clone() }.line()).collect()
    }
}

/// The file of results, and the numbers over all rows. `model` names the one that was asked for an
/// evaluator. The error is a sentence.
pub(crate) fn compose(
    sheet: &Sheet,
    wish: &Wish,
    made: &Made,
    model: impl Fn(&Evaluator) -> Option<String>,
) -> Result<(String, Vec<EvaluateMetric>), String> {
    let summed = metrics(&made.outputs, &wish.quirks);
    let target = sheet.target()?;
    let about: Vec<_> =
        wish.evaluators.iter().map(|one| about(one, wish, model(&one.evaluator)).entry()).collect();
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
        kept: None,
    };
    Ok((results.text(&wish.quirks), summed.into_iter().map(told).collect()))
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
    EvaluateMetric {
        name,
        value,
        interval: interval.map(|interval| (interval.low, interval.high)),
        n,
        left_out,
    }
}
