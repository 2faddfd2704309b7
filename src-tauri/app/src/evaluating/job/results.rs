//! **Pure.** Results of all evaluators on all rows, and the files written from them.
use super::evaluation_spec::{Configured, EvaluationSpec};
use super::rounds::Round;
use super::row_inputs::RowInputs;
use touchstone_api::EvaluateMetric;
use touchstone_formats::collection::EvaluatorReplies;
use touchstone_judges::azure::{
    About, Evaluator, Failure, Fault, Metric, Outcome, Outputs, Results, metrics, prompts_version,
};

/// Maximum number of characters of a reply that are kept.
const LONGEST_REPLY: usize = 64 << 10;

/// Results until now.
#[derive(Debug)]
pub(crate) struct CollectedResults {
    outputs: Vec<Outputs>,
    faults: Vec<Fault>,
    /// Number of finished results, rows times evaluators.
    ended: usize,
    /// True if some results are missing and could be obtained by sending the requests again.
    holes: bool,
    /// Replies of models.
    said: Vec<EvaluatorReplies>,
}

impl CollectedResults {
    pub(crate) fn new(wish: &EvaluationSpec, rows: usize) -> Self {
        let outputs =
            wish.evaluators.iter().map(|one| Outputs::new(&one.evaluator, rows)).collect();
        Self { outputs, faults: Vec::new(), ended: 0, holes: false, said: Vec::new() }
    }

    /// Records the result of an evaluator for a row; the order of calls does not matter.
    pub(crate) fn record_result(
        &mut self,
        row: usize,
        at: usize,
        result: &Result<Outcome, Failure>,
    ) {
        self.ended += 1;
        match result {
            Ok(outcome) => self.outputs[at].set(row, outcome),
            Err(why) => {
                let evaluator = self.outputs[at].name.clone();
                self.faults.push(Fault { row: row + 1, evaluator, why: why.message.clone() });
            }
        }
    }

    /// Returns true if no result is missing.
    pub(crate) fn is_whole(&self) -> bool {
        let all = self.outputs.iter().map(Outputs::rows).sum::<usize>();
        self.ended == all
    }

    /// Returns true if a result is missing that another attempt could obtain.
    pub(crate) fn has_gaps(&self) -> bool {
        self.holes
    }

    /// Records the replies of a round of an evaluator that uses a model, or that there were none.
    pub(crate) fn record_replies(
        &mut self,
        (row, evaluator, number): (usize, &Evaluator, usize),
        round: &Round,
    ) {
        self.holes |= round.lack.is_some();
        if !evaluator.takes.model || (round.replies.is_empty() && round.lack.is_none()) {
            return;
        }
        let cut = |reply: &String| reply.chars().take(LONGEST_REPLY).collect();
        self.said.push(EvaluatorReplies {
            row: row + 1,
            of: None,
            evaluator: evaluator.name.clone(),
            round: number + 1,
            replies: round.replies.iter().map(cut).collect(),
            error: round.result.as_ref().err().map(|why| why.message.clone()),
        });
    }

    /// Formats the raw replies as JSON Lines, ordered by row, evaluator and round. `contents` are
    /// the hashes of the rows as written to the result file, which tie each reply to its row.
    pub(crate) fn replies(&self, contents: &[u64]) -> String {
        let mut said: Vec<_> = self.said.iter().collect();
        said.sort_by_key(|heard| (heard.row, &heard.evaluator, heard.round));
        let of = |heard: &EvaluatorReplies| contents.get(heard.row - 1).copied();
        said.into_iter()
            .map(|heard| EvaluatorReplies { of: of(heard), ..heard.clone() }.line())
            .collect()
    }
}

/// Returns the text of the result file and the metrics over all rows. `model` returns the model
/// used for an evaluator. Fails with a sentence.
pub(crate) fn compose(
    sheet: &RowInputs,
    wish: &EvaluationSpec,
    made: &CollectedResults,
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
    Ok((results.text(&wish.quirks), summed.into_iter().map(metric_row).collect()))
}

fn about(one: &Configured, wish: &EvaluationSpec, model: Option<String>) -> About {
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

fn metric_row(metric: Metric) -> EvaluateMetric {
    let Metric { name, value, interval, n, left_out } = metric;
    EvaluateMetric {
        name,
        value,
        interval: interval.map(|interval| (interval.low, interval.high)),
        n,
        left_out,
    }
}
