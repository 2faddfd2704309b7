//! **Pure.** Results of the ten judges: the package's keys in its order.
use super::conversation::result;
use super::judge::{EmptyReply, Judge, NanHandling, Reason};
use super::numbers::number;
use super::replies::{self, ParsedReply, Unread};
use super::{Failure, Limit, Outcome, Quirks};
use touchstone_formats::stabletoolbench::python;
use touchstone_model::value::Value;

/// Parts of a result.
struct Parts<'a> {
    score: Value,
    result: &'a str,
    reason: Option<Value>,
    details: Value,
}

/// Builds the result from a parsed reply.
pub(super) fn reply_outcome(
    judge: &Judge,
    limit: &Limit,
    said: ParsedReply,
    quirks: &Quirks,
) -> Outcome {
    let whole = judge.way.whole && quirks.has("whole_completeness");
    let score = if whole { said.score.trunc() } else { said.score };
    // This judge writes integral scores without a fraction.
    let shown = if judge.way.whole && score.fract() == 0.0 {
        Value::Number(format!("{score:.0}"))
    } else {
        number(score)
    };
    let result = result(score, limit).unwrap_or("unknown");
    outcome(
        judge,
        limit,
        Parts { score: shown, result, reason: Some(said.reason), details: said.details },
        quirks,
    )
}

fn outcome(judge: &Judge, limit: &Limit, parts: Parts<'_>, quirks: &Quirks) -> Outcome {
    let name = judge.name;
    let threshold = if judge.way.whole && quirks.has("whole_completeness") {
        // A value truncated to zero has no sign.
        Value::Number(format!("{:.0}", limit.value.trunc() + 0.0))
    } else {
        limit.to_value()
    };
    let mut out = vec![(name.to_owned(), parts.score.clone())];
    if judge.way.reason != Reason::Last {
        out.push((format!("gpt_{name}"), parts.score));
    }
    let reason = parts.reason.filter(|_| judge.way.reason != Reason::Never);
    let (before, last) =
        if judge.way.reason == Reason::Last { (None, reason) } else { (reason, None) };
    out.extend(before.map(|reason| (format!("{name}_reason"), reason)));
    out.push((format!("{name}_result"), parts.result.into()));
    out.push((format!("{name}_threshold"), threshold));
    out.extend(last.map(|reason| (format!("{name}_reason"), reason)));
    if judge.way.details {
        out.push(("details".to_owned(), parts.details));
    }
    out
}

/// Builds the result of a row without tool calls to judge.
pub(super) fn not_applicable(judge: &Judge, limit: &Limit, why: &str, quirks: &Quirks) -> Outcome {
    const WORDS: &str = "not applicable";
    let result = if quirks.has("not_applicable_passes") { "pass" } else { WORDS };
    let parts = Parts {
        score: WORDS.into(),
        result,
        reason: Some(why.into()),
        details: Value::Map(Vec::new()),
    };
    outcome(judge, limit, parts, quirks)
}

/// Handles a reply without a readable score: a failure, or the package's result with the quirk
/// `unreadable_kept`.
pub(super) fn unread_outcome(
    judge: &Judge,
    limit: &Limit,
    unread: Unread,
    quirks: &Quirks,
) -> Result<Outcome, Failure> {
    if quirks.has("unreadable_kept") {
        return package_outcome(judge, limit, unread, quirks);
    }
    let second = if quirks.has("asked_once") { "" } else { ", nor could the first" };
    Err(failure(format!(
        "The reply of the judge could not be read{second}: {}.",
        unread.why(judge.form)
    )))
}

fn failure(message: String) -> Failure {
    Failure { by_input: false, message }
}

/// Builds the result that the package writes for an unreadable reply.
fn package_outcome(
    judge: &Judge,
    limit: &Limit,
    unread: Unread,
    quirks: &Quirks,
) -> Result<Outcome, Failure> {
    let nan = |reason: Option<Value>, result: &str| {
        outcome(
            judge,
            limit,
            Parts { score: number(f64::NAN), result, reason, details: Value::Null },
            quirks,
        )
    };
    match unread {
        Unread::Empty | Unread::NotObject => match judge.way.nothing {
            EmptyReply::NoReason => Ok(nan(None, "unknown")),
            EmptyReply::ScoreOnly => Ok(vec![(judge.name.to_owned(), number(f64::NAN))]),
            EmptyReply::Error => {
                Err(failure("Tool call accuracy evaluator returned invalid output.".to_owned()))
            }
        },
        // The package does not require reasons.
        Unread::NoReason => Ok(nan(None, "unknown")),
        Unread::NotJson => Err(failure("The reply of the judge is not JSON.".to_owned())),
        Unread::NoDigit => Err(failure("The reply of the judge has no digit.".to_owned())),
        Unread::NoTag { reason } => match judge.way.nan {
            NanHandling::Unknown => Ok(nan(Some(reason), "unknown")),
            _ => Err(failure("The reply of the judge has no score.".to_owned())),
        },
        Unread::Score { found, reason } => match judge.way.nan {
            NanHandling::Error => {
                let usual = if judge.way.nothing == EmptyReply::Error { "None" } else { "nan" };
                let found = found.as_ref().map_or_else(|| usual.to_owned(), python::text);
                Err(failure(format!(
                    "Invalid score value: {found}. Expected a number in range [1, 5]."
                )))
            }
            way => match found.map(|found| replies::number(&found, quirks).ok_or(found)) {
                None | Some(Ok(_)) => {
                    Ok(nan(Some(reason), if way == NanHandling::Fail { "fail" } else { "unknown" }))
                }
                Some(Err(found)) => Err(failure(format!(
                    "The score in the reply of the judge is not a number: {}.",
                    python::text(&found)
                ))),
            },
        },
    }
}
