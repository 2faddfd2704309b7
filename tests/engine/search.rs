//! Tests of full-text search over real files.
use crate::bench::Bench;
use touchstone_api::Span;

#[test]
fn what_is_found_does_not_change_when_the_full_text_index_is_complete() {
    let bench = Bench::new()
        .answered("results/a.yaml", "The refund of plan_id 7 => done.")
        .answered("results/b.yaml", "Prerefund, naïve café 退款.")
        .open();
    let needles = [
        "refund",
        "plan_",
        "_id",
        "=>",
        "\"refund of\"",
        "café",
        "cafe",
        "款",
        "select",
        "-refund",
        "ROUND",
    ];
    let found = || needles.map(|needle| (needle, bench.hits(needle)));
    let before = found();
    bench.wait_words();
    assert_eq!(found(), before);
    assert_eq!(before[0].1, ["a.yaml"]);
    assert_eq!(before[5].1, ["b.yaml"]);
}

#[test]
fn a_hit_names_the_step_that_an_opened_run_shows() {
    let bench = Bench::new().answered("results/a.yaml", "The needle.").open();
    let hits = bench.app().runs().search("needle", Span { offset: 0, limit: 10 }).unwrap();
    let [hit] = hits.as_slice() else { panic!("{hits:?}") };
    let view = bench.app().runs().open_run(&hit.id).unwrap();
    let found = bench.app().runs().find_in_run(&hit.id, "needle").unwrap();
    assert_eq!((found.total, found.matches[0].step), (1, hit.snippet.step));
    assert_eq!(found.matches[0].part, view.steps[2].parts[0].id);
    let said: String = hit.snippet.pieces.iter().map(|piece| piece.text.as_str()).collect();
    assert!(said.contains("The needle."), "{said}");
}
