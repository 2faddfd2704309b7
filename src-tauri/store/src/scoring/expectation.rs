//! What a run was expected to answer and to call, by its suite or by the file of the run itself.
use super::measure::ScoringKey;
use crate::index::{IndexError, Reader};
use crate::query::ScoredRun;
use crate::suites::Tasks;
use crate::{imports, record};
use std::sync::Arc;
use touchstone_model::value::Value;
use touchstone_scoring::diff::Options;
use touchstone_scoring::scorers::comparison;

/// Expectations of a run.
#[derive(Debug, Clone, Default)]
pub struct Expectation {
    /// Expected answer; `None` if there is none, or it cannot be read.
    pub answer: Option<Arc<Value>>,
    /// Options by which the task compares answers.
    pub options: Options,
    /// Tools that must be called; empty for systems that call none.
    pub calls: Vec<String>,
}

/// Returns the expectations of a run; none if its task is unknown.
pub fn expectation(
    index: &Reader<'_>,
    tasks: &Tasks,
    run: &ScoredRun,
) -> Result<Expectation, IndexError> {
    let is_known = run.task.as_deref().is_some_and(|task| tasks.get(task).is_some());
    let own = if is_known { None } else { imports::own_task_by_key(index, &run.id)? };
    let key = ScoringKey {
        task: run.task.as_deref(),
        variation: run.variation,
        variation_name: run.variation_name.as_deref(),
        calls_tools: record::calls_tools(&run.layout, run.system.as_deref()),
        own: own.as_deref(),
    };
    let Some(against) = key.against(tasks) else { return Ok(Expectation::default()) };
    let suite = against.task;
    Ok(Expectation {
        answer: against.yardstick.expected.clone(),
        options: comparison(&suite.scorers, suite.artifact_key.as_deref()),
        calls: if key.calls_tools { suite.expected_tool_calls.clone() } else { Vec::new() },
    })
}
