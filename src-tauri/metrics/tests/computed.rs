//! Compares the text metrics with azure-ai-evaluation's numbers for synthetic texts
//! (`scripts/metrics-peer.py`), and checks properties on arbitrary texts.
#![expect(clippy::unwrap_used, reason = "a file that cannot be read fails the test")]
use crate::expected::{Count, number};
use proptest::prelude::*;
use touchstone_metrics::text::{Metric, Nltk, StringCheck, Texts, Weights, fuzzy, measure};
use touchstone_model::json;
use touchstone_model::value::Value;

const PAIRS: &str = include_str!("../../../tests/fixtures/metrics/pairs.jsonl");

#[test]
fn every_score_of_our_own_texts_is_that_of_the_package() {
    for nltk in [Nltk::V3_10, Nltk::V3_9] {
        let (mut count, mut cases) = (Count::default(), 0);
        for row in PAIRS.lines().map(|line| json::read(line).unwrap()) {
            let text = |key| row.get(key).and_then(Value::text).unwrap();
            let texts = Texts::new(text("response"), text("ground_truth"), nltk);
            // Values that are the same in the other version are stored only once.
            let other = (nltk == Nltk::V3_9).then(|| row.get("scores_3_9_1")).flatten();
            scores(&mut count, text("id"), &texts, other.or(row.get("scores")).unwrap());
            cases += 1;
        }
        count.done(nltk.name(), cases);
    }
}

fn scores(count: &mut Count, id: &str, texts: &Texts<'_>, theirs: &Value) {
    for metric in Metric::ALL {
        let measured = texts.measure(metric);
        let name = || format!("{id} {}", metric.name());
        let theirs = theirs.get(metric.name()).unwrap();
        match measured.overlap {
            None => {
                assert_eq!(
                    measured.comparable,
                    theirs != &Value::Number("0".to_owned()),
                    "{}",
                    name()
                );
                count.number(name, measured.score, number(theirs));
            }
            Some(overlap) => {
                for (ours, theirs) in
                    [overlap.precision, overlap.recall, overlap.f1].into_iter().zip(theirs.items())
                {
                    count.number(name, ours, number(theirs));
                }
            }
        }
    }
    let theirs = number(theirs.get("meteor_exact_stem_only").unwrap());
    count.number(
        || format!("{id} without synonyms"),
        texts.meteor_without_synonyms(Weights::default()),
        theirs,
    );
}

/// Generates texts from tokens with special rules, and from arbitrary pieces.
fn text() -> impl Strategy<Value = String> {
    let piece = prop_oneof![
        "[a-zA-Z]{1,7}",
        "(can't|'tis|gonna|d'ye|n't|'s|\\.\\.\\.|\\. \\. \\.|--|``|''|Mr\\.|J\\.|p\\.m\\.|3\\.5|the)",
        "[\\x00-\\x7f]{1,4}",
        "\\PC{1,4}",
        "[\\u{1c}-\\u{1f}\\u{85}\\u{a0}\\u{2028}İΣß&;<>-]{1,3}",
    ];
    prop::collection::vec((piece, "[ \n.,]?"), 0..20)
        .prop_map(|pieces| pieces.into_iter().flat_map(|(piece, gap)| [piece, gap]).collect())
}

proptest! {
    #[test]
    fn any_two_texts_are_measured_and_every_score_is_between_none_and_all(
        response in text(),
        truth in text(),
        alone in prop::sample::select(&Metric::ALL),
    ) {
        for nltk in [Nltk::V3_10, Nltk::V3_9] {
            let texts = Texts::new(&response, &truth, nltk);
            for metric in Metric::ALL {
                let measured = texts.measure(metric);
                prop_assert!((0.0..=1.0).contains(&measured.score), "{metric:?} {measured:?}");
            }
            prop_assert_eq!(texts.measure(alone), measure(alone, &response, &truth, nltk));
            prop_assert!((0.0..=1.0).contains(&texts.meteor_without_synonyms(Weights::default())));
        }
        prop_assert!((0.0..=1.0).contains(&fuzzy(&response, &truth)));
        let [eq, ne, like, ilike] = StringCheck::ALL.map(|check| check.passes(&response, &truth));
        prop_assert!(eq != ne && (!eq || like) && (!like || ilike));
    }

    #[test]
    fn a_text_is_like_itself(text in text()) {
        let texts = Texts::new(&text, &text, Nltk::default());
        let (words, same) = texts.tokens();
        prop_assert_eq!(&words, &same);
        let long = words.len() >= 4;
        for metric in [Metric::Bleu, Metric::Gleu] {
            prop_assert!(!long || texts.measure(metric).score > 0.999_999_999, "{metric:?}");
        }
        prop_assert_eq!(texts.alignment().len(), words.len());
        prop_assert!((fuzzy(&text, &text) - 1.0).abs() < f64::EPSILON);
        for metric in [Metric::F1, Metric::Rouge1, Metric::RougeL] {
            let score = texts.measure(metric).score;
            prop_assert!(score <= 0.0 || score > 0.999_999_999, "{metric:?} {score}");
        }
    }

    #[test]
    fn what_both_share_does_not_depend_on_who_is_asked_first(response in text(), truth in text()) {
        for metric in [Metric::F1, Metric::Gleu, Metric::Rouge1, Metric::Rouge3, Metric::RougeL] {
            let there = measure(metric, &response, &truth, Nltk::default()).score;
            let back = measure(metric, &truth, &response, Nltk::default()).score;
            prop_assert!((there - back).abs() < 1e-12, "{metric:?} {there} {back}");
        }
    }
}
