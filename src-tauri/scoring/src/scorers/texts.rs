//! **Pure.** `text`, `text_similarity` and `string_check`: similarity of two texts. The metrics are
//! in [`touchstone_metrics::text`]; this module selects the texts and explains the result.
use super::scorer::{Likeness, Scorer};
use super::words::{self, decimals};
use super::{Case, Outcome, Scored};
use std::borrow::Cow;
use touchstone_metrics::text::{Metric, Nltk, StringCheck, Texts, fuzzy, too_long_for_fuzzy};
use touchstone_model::json;
use touchstone_model::value::Value;

/// Default minimum score for passing, as in azure-ai-evaluation.
const ENOUGH: f64 = 0.5;

/// Scores by the metric, from 0 to 1. Passes from 0.5 on, unless the suite sets a threshold.
pub(super) fn score(scorer: &Scorer, case: &Case<'_>, likeness: Likeness, nltk: Nltk) -> Outcome {
    let Some(expected) = case.expected else { return super::no_expected() };
    let Some(ScoredText { text, from }) = text_to_score(case) else { return super::no_answer() };
    let truth = words_of(expected);
    let measured = match likeness {
        Likeness::Letters if too_long_for_fuzzy(&text, &truth) => return too_long(scorer),
        Likeness::Letters => None,
        Likeness::Words(metric) => {
            let texts = Texts::new(&text, &truth, nltk);
            if texts.is_too_long(metric) {
                return too_long(scorer);
            }
            Some(texts.measure(metric))
        }
    };
    let score =
        measured.map_or_else(|| fuzzy(&text, &truth), |measured| measured.score).clamp(0.0, 1.0);
    let enough = scorer.threshold.unwrap_or(ENOUGH);
    let passed = score >= enough;
    let said = if text == truth {
        "the same text".to_owned()
    } else {
        let needed = decimals(enough, 4);
        let verdict =
            if passed { format!("{needed} is enough") } else { format!("{needed} is needed") };
        format!("{}: {} ({verdict})", likeness.words(), decimals(score, 4))
    };
    let mut verdict = Scored::new(score, passed, said + from);
    if let Some(overlap) = measured.and_then(|measured| measured.overlap) {
        verdict = verdict
            .with("precision", decimals(overlap.precision, 4))
            .with("recall", decimals(overlap.recall, 4));
    }
    Outcome::Scored(verdict.with("threshold", decimals(enough, 4)))
}

/// Rejects texts for which comparing the order would take too long.
fn too_long(scorer: &Scorer) -> Outcome {
    Outcome::Unfit(format!(
        "These texts are too long for `{}`. Choose `text: f1` or `text: rouge2`.",
        scorer.name()
    ))
}

/// Scores 1 or 0: the answer equals the reference (`eq`), differs from it (`ne`), contains it
/// (`like`), or contains it ignoring case (`ilike`). Exact: nothing is trimmed.
pub(super) fn check(
    scorer: &Scorer,
    case: &Case<'_>,
    check: StringCheck,
    reference: Option<&str>,
) -> Outcome {
    let reference = match (reference, case.expected) {
        (Some(reference), _) => Cow::Borrowed(reference),
        (None, Some(expected)) => words_of(expected),
        (None, None) => return super::no_expected(),
    };
    let Some(ScoredText { text, from }) = text_to_score(case) else { return super::no_answer() };
    let passed = check.passes(&text, &reference);
    let quoted = words::cut(&reference);
    let said = match (check, passed) {
        (StringCheck::Eq, true) | (StringCheck::Ne, false) => format!("it is “{quoted}”"),
        (StringCheck::Eq, false) | (StringCheck::Ne, true) => {
            format!("it is not “{quoted}”, but “{}”", words::cut(&text))
        }
        (StringCheck::Like, true) => format!("it contains “{quoted}”"),
        (StringCheck::Like, false) if StringCheck::Ilike.passes(&text, &reference) => {
            format!("it contains “{quoted}” only with other capitals")
        }
        (StringCheck::Like, false) => format!("it does not contain “{quoted}”"),
        (StringCheck::Ilike, true) => format!("it contains “{quoted}”, capitals aside"),
        (StringCheck::Ilike, false) => {
            format!("it does not contain “{quoted}”, whatever the capitals")
        }
    };
    let score = if passed { 1.0 } else { 0.0 };
    Outcome::Scored(Scored::new(score, scorer.passes(score, passed), said + from))
}

/// Text to be scored.
struct ScoredText<'a> {
    text: Cow<'a, str>,
    /// Remark on its source.
    from: &'static str,
}

/// Returns the answer as text; without one, the last message if it is not empty.
fn text_to_score<'a>(case: &Case<'a>) -> Option<ScoredText<'a>> {
    match case.answer {
        Some(answer @ (Value::List(_) | Value::Map(_))) => {
            Some(ScoredText { text: words_of(answer), from: ", the answer taken as its JSON" })
        }
        Some(answer) => Some(ScoredText { text: words_of(answer), from: "" }),
        None if case.said.trim().is_empty() => None,
        None => Some(ScoredText { text: Cow::Borrowed(case.said), from: ", in the last message" }),
    }
}

/// Returns a value as text: texts unchanged, numbers as written, everything else as JSON.
fn words_of(value: &Value) -> Cow<'_, str> {
    match value {
        Value::Text(text) | Value::Number(text) => Cow::Borrowed(text),
        other => Cow::Owned(json::write(other, false)),
    }
}

impl Likeness {
    /// Describes the measure.
    fn words(self) -> &'static str {
        match self {
            Likeness::Letters => "letters in common, in the same order",
            Likeness::Words(Metric::F1 | Metric::Rouge1) => "words in common",
            Likeness::Words(Metric::Bleu | Metric::Gleu) => "runs of up to four words in common",
            Likeness::Words(Metric::Meteor) => "words, their forms and synonyms in common",
            Likeness::Words(Metric::Rouge2) => "pairs of words in common",
            Likeness::Words(Metric::Rouge3) => "runs of three words in common",
            Likeness::Words(Metric::Rouge4) => "runs of four words in common",
            Likeness::Words(Metric::Rouge5) => "runs of five words in common",
            Likeness::Words(Metric::RougeL) => "words in the same order",
        }
    }
}
