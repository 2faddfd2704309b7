//! **Pure.** `qa` as a judge of runs: five judges and F1, all of which have to pass. The verdict is
//! the worst of them.
use super::about::Scale;
use super::{Rules, Ruling};
use crate::azure::{Outcome, QA};
use touchstone_metrics::number_format::fixed;
use touchstone_model::value::Value;

/// Name of the metric.
const F1: &str = "f1_score";

/// Members of `qa` that need an expected output or a context, for error messages.
pub(super) const WITH_TRUTH: &str = "similarity` and `f1_score` of `qa";
pub(super) const WITH_CONTEXT: &str = "groundedness` of `qa";

/// Verdict of one member.
struct Member {
    name: &'static str,
    /// Score from 0 to 1. Every member passes at one half: 3 of 5, and an F1 of 0.5.
    share: f64,
    /// Value on the member's own scale.
    said: f64,
    reason: Option<String>,
}

/// Returns the worst verdict, listing all of them; `None` when any member has no score. Under the
/// official rules F1 always passes and is left out.
pub(super) fn ruling(outcome: &Outcome, rules: Rules) -> Option<Ruling> {
    let value = |key: &str| outcome.iter().find(|(known, _)| known == key).map(|(_, value)| value);
    let number = |key: &str| match value(key)? {
        Value::Number(text) => text.parse().ok().filter(|number: &f64| number.is_finite()),
        _ => None,
    };
    let star = |name: &'static str| {
        let said = number(name)?;
        let reason = value(&format!("{name}_reason"))
            .and_then(Value::text)
            .filter(|reason| !reason.trim().is_empty());
        Some(Member {
            name,
            share: Scale::Stars.to_score(said.clamp(1.0, 5.0))?,
            said,
            reason: reason.map(str::to_owned),
        })
    };
    let mut members = QA.into_iter().map(star).collect::<Option<Vec<_>>>()?;
    let f1 = number(F1)?;
    if rules == Rules::Ours {
        members.push(Member { name: F1, share: f1.clamp(0.0, 1.0), said: f1, reason: None });
    }
    // The first of equally bad members.
    let worst = members.iter().min_by(|a, b| a.share.total_cmp(&b.share))?;
    let all: Vec<String> =
        members.iter().map(|one| format!("{} {}", one.name, short(one.said))).collect();
    let reason = worst
        .reason
        .as_ref()
        .map(|reason| format!(" {}: {reason}", worst.name))
        .unwrap_or_default();
    Some(Ruling {
        word: short(Scale::Stars.value_of(worst.share)?),
        score: worst.share,
        reason: format!("The worst of {}.{reason}", all.join(", ")),
    })
}

/// Formats a number with at most two decimal places.
fn short(number: f64) -> String {
    let text = fixed(number, 2);
    text.trim_end_matches('0').trim_end_matches('.').to_owned()
}

#[cfg(test)]
mod tests {
    use crate::{Judge, JudgeRound, Next, Rules, Subject, named};
    use touchstone_formats::transcript;

    const RUN: &str = "conversation:\n- user_message: How many plans?\n\
        - tool_call: { name: count, params: {}, result: [{ n: 3 }] }\n\
        - assistant_message: There are three plans.\n";

    fn run(expected: &str) -> Subject {
        Subject::from_run(&transcript::read(RUN.as_bytes()).unwrap(), None)
            .with_expected(Some(&expected.into()))
    }

    fn qa() -> &'static Judge {
        named("qa").unwrap()
    }

    /// Runs `qa` with these scores for groundedness, relevance, coherence, fluency and similarity.
    fn run_qa(subject: &Subject, rules: Rules, stars: [u8; 5]) -> String {
        let mut sitting = JudgeRound::new(qa(), subject, rules);
        for (at, stars) in stars.into_iter().enumerate() {
            assert!(matches!(sitting.next(), Next::Ask(_)), "{at}");
            let tags = || format!("<S0>x</S0><S1>Reason {at}.</S1><S2>{stars}</S2>");
            let object = || format!("{{\"explanation\": \"Reason {at}.\", \"score\": {stars}}}");
            sitting.take(&[tags(), object(), tags(), tags(), stars.to_string()][at]);
        }
        match sitting.next() {
            Next::Ruled(ruling) => {
                format!(
                    "{} | {:.3} {} | {}",
                    ruling.word,
                    ruling.score,
                    qa().passes(ruling.score),
                    ruling.reason
                )
            }
            next => format!("{next:?}"),
        }
    }

    #[test]
    fn it_is_as_good_as_the_worst_of_its_six_so_that_it_passes_when_all_of_them_do() {
        let right = run("There are three plans.");
        insta::assert_snapshot!(run_qa(&right, Rules::Ours, [5, 4, 5, 3, 5]), @"\
            3 | 0.500 true | The worst of groundedness 5, relevance 4, coherence 5, fluency 3, \
            similarity 5, f1_score 1. fluency: Reason 3.");
        insta::assert_snapshot!(run_qa(&right, Rules::Ours, [2, 4, 5, 3, 2]), @"\
            2 | 0.250 false | The worst of groundedness 2, relevance 4, coherence 5, fluency 3, \
            similarity 2, f1_score 1. groundedness: Reason 0.");
        let other = run("In all, they have three, I think: a, b, c.");
        insta::assert_snapshot!(run_qa(&other, Rules::Ours, [5; 5]), @"\
            1.62 | 0.154 false | The worst of groundedness 5, relevance 5, coherence 5, fluency 5, \
            similarity 5, f1_score 0.15.");
        insta::assert_snapshot!(run_qa(&other, Rules::Official, [5; 5]), @"\
            5 | 1.000 true | The worst of groundedness 5, relevance 5, coherence 5, fluency 5, \
            similarity 5. groundedness: Reason 0.");
    }

    #[test]
    fn what_one_of_them_needs_and_a_run_lacks_is_said_with_its_name() {
        let bare = "conversation:\n- user_message: How many?\n- assistant_message: Three.\n";
        let bare = Subject::from_run(&transcript::read(bare.as_bytes()).unwrap(), None);
        let lacks = |subject: &Subject| {
            qa().missing_requirement(subject, Rules::Ours).unwrap_or_else(|| "nothing".to_owned())
        };
        assert_eq!(
            lacks(&bare),
            "Its task has no expected output, and `similarity` and `f1_score` of `qa` compare with that."
        );
        assert_eq!(
            lacks(&bare.with_expected(Some(&"Three.".into()))),
            "No tool returned anything, so `groundedness` of `qa` has nothing to judge."
        );
        assert_eq!(lacks(&run("Three.")), "nothing");
    }

    #[test]
    fn another_expected_output_is_another_question_to_it() {
        assert_ne!(qa().canon(&run("Three."), Rules::Ours), qa().canon(&run("Four."), Rules::Ours));
        assert_eq!((qa().least_questions(), qa().questions), (5, 5));
    }
}
