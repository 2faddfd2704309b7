//! Columns of the score by which runs are counted: of the first scorer of each task, of one scorer,
//! or of an evaluator whose verdicts are in the files.
use super::{IndexError, Reader};

/// Prefix of the names of scorers that are evaluators of the files.
const VERDICT: &str = "verdict:";

/// Returns the name of a scorer as it is shown: that of the evaluator it stands for.
pub fn shown_scorer(scorer: &str) -> &str {
    scorer.strip_prefix(VERDICT).unwrap_or(scorer)
}

/// Fixed SQL fragments for the score of a run, which is `r` in the statement. The only parameter,
/// `?1`, is [`ScoreColumns::name`].
pub(super) struct ScoreColumns<'a> {
    /// `FROM` with its tables.
    pub(super) from: &'static str,
    /// Columns of standing, scorer, score and whether the run passes, in this order.
    pub(super) score: &'static str,
    /// Column of the reason.
    pub(super) reason: &'static str,
    /// Column of the failure class.
    pub(super) class: &'static str,
    /// Name of the scorer or of the evaluator.
    pub(super) name: Option<&'a str>,
}

impl<'a> ScoreColumns<'a> {
    /// Returns the columns for a scorer; for the first scorer of each task without one. A verdict
    /// counts 1 if the run passes and 0 if it does not, since each evaluator has a scale of its own.
    pub(super) fn new(scorer: Option<&'a str>) -> Self {
        let Some(scorer) = scorer else {
            return Self {
                from: "FROM runs r WHERE ?1 IS NULL",
                score: "r.scoring, r.scorer, r.score, r.passed",
                reason: "r.score_reason",
                class: "r.class",
                name: None,
            };
        };
        let Some(evaluator) = scorer.strip_prefix(VERDICT) else {
            return Self {
                from: "FROM runs r LEFT JOIN scores s ON s.run = r.id AND s.scorer = ?1",
                score: "s.standing, s.scorer, s.score, s.passed",
                reason: "s.reason",
                // Without that scorer, only classes that do not depend on scoring.
                class: "CASE WHEN s.run IS NOT NULL THEN s.class \
                        WHEN r.state <> 'answered' AND r.class <> 'wrong_answer' THEN r.class END",
                name: Some(scorer),
            };
        };
        Self {
            from: "FROM runs r LEFT JOIN stored s ON s.run = r.id AND s.place = \
                   (SELECT min(place) FROM stored WHERE run = r.id AND evaluator = ?1 \
                    AND result IN ('pass', 'fail', 'error'))",
            score: "CASE WHEN s.result = 'error' THEN 'failed' WHEN s.run IS NOT NULL THEN 'scored' END, \
                    'verdict:' || s.evaluator, \
                    CASE s.result WHEN 'pass' THEN 1.0 WHEN 'fail' THEN 0.0 END, \
                    CASE s.result WHEN 'pass' THEN 1 WHEN 'fail' THEN 0 END",
            reason: "s.reason",
            class: "CASE WHEN r.state <> 'answered' AND r.class <> 'wrong_answer' THEN r.class \
                    WHEN s.result = 'fail' THEN 'wrong_answer' END",
            name: Some(evaluator),
        }
    }
}

/// Returns the scorers that have scores, the most frequent first.
pub(super) fn scorers(index: &Reader<'_>) -> Result<Vec<String>, IndexError> {
    names(index, "SELECT scorer FROM scorers WHERE runs > 0 ORDER BY runs DESC, scorer")
}

/// Returns the scorers that have scores, and then the evaluators that pass or fail runs, as
/// `verdict:NAME`. An evaluator whose verdicts are scores of the same name is not repeated.
pub(super) fn scorers_and_evaluators(index: &Reader<'_>) -> Result<Vec<String>, IndexError> {
    const EVALUATORS: &str =
        "SELECT evaluator FROM evaluators WHERE runs > 0 ORDER BY runs DESC, evaluator";
    let mut scorers = scorers(index)?;
    let evaluators = names(index, EVALUATORS)?.into_iter().filter(|name| !scorers.contains(name));
    let evaluators: Vec<String> = evaluators.map(|name| format!("{VERDICT}{name}")).collect();
    scorers.extend(evaluators);
    Ok(scorers)
}

fn names(index: &Reader<'_>, statement: &str) -> Result<Vec<String>, IndexError> {
    let mut query = index.prepare_cached(statement)?;
    let names = query.query_map([], |row| row.get(0))?;
    Ok(names.collect::<Result<_, _>>()?)
}
