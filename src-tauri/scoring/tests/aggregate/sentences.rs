//! Tests of the sentences about a comparison.
use super::stage::{column, runs};
use touchstone_metrics::stats::Tendency;
use touchstone_scoring::aggregate::{Aggregate, METHOD, outcome, probability, sentences};

fn comparison_text(lines: &[&str]) -> String {
    let all = runs(lines);
    let standing = Aggregate::new(&all, Some(column("s")));
    let pairing = &standing.pairings[0];
    sentences(
        pairing,
        &standing.groups[pairing.group].column,
        &standing.groups[pairing.baseline].column,
        &|row| row.label(),
    )
    .all()
    .join("\n")
}

#[test]
fn a_comparison_says_how_much_how_sure_and_what_could_not_be_seen() {
    let lines: Vec<String> = (0..12)
        .flat_map(|task| {
            [
                format!(
                    "t{task} #0 s {} tokens=100{task} seconds=1{task}",
                    ["0.5-", "1+", "0.25-"][task % 3]
                ),
                format!(
                    "t{task} #0 t {} tokens=90{task} seconds=1{task}.5",
                    ["1+", "1+", "0.75-"][task % 3]
                ),
            ]
        })
        .chain([
            "x #0 s 1+".to_owned(),
            "y #0 s 1+ nudged".to_owned(),
            "y #0 t 1+".to_owned(),
            "y #1 t error".to_owned(),
            "y #1 s 1+".to_owned(),
        ])
        .collect();
    let lines: Vec<&str> = lines.iter().map(String::as_str).collect();
    insta::assert_snapshot!(comparison_text(&lines), @"
    t/m scores 0.923 on average and s/m 0.615, over 13 pairs of 13 tasks: 0.308 more (95 % interval 0.154 to 0.462), p = 0.008. It is better.
    It passes 9 of 13 (69 %), the baseline 5 of 13 (38 %): 30.8 points (95 % interval 0.8 to \
        52.9); 4 only it passes, 0 only the baseline; McNemar's exact p = 0.125. No difference is \
        shown.
    This many pairs would probably have shown a difference of 53.9 points of passes or more.
    2 rows are not compared: x #0 (t/m has no run), y #1 (t/m ended in errors).
    Not comparable: 1 pair with follow-up messages on one side only: y #0.
    Pair by pair it won 8, tied 5 and lost 0.
    Its tokens: 2256 on average against 2506 of the baseline, over 12 pairs: 250 less (95 % interval −475 to −100), p < 0.001. It takes fewer.
    Its time: 31.0 s on average against 30.5 s of the baseline, over 12 pairs: 0.5 s more, p < 0.001. It is slower.
    ");
}

#[test]
fn few_pairs_say_that_they_are_few() {
    insta::assert_snapshot!(comparison_text(&["a #0 s 1+", "a #0 t 0-", "b #0 s 0-", "b #0 t 0-", "b #1 s 0.5-", "b #1 t 1+"]), @"
    t/m scores 0.333 on average and s/m 0.500, over 3 pairs of 2 tasks: 0.167 less (95 % interval −1.000 to 1.000), p = 1.000. No difference is shown.
    On average over 3 pairs it passes 33 % of the runs, the baseline 33 %: 0.0 points (95 % \
        interval −100.0 to 100.0); by task, as not all runs are independent, p = 1.000. No \
        difference is shown.
    2 tasks cannot show a difference, whatever the scores: at least 6 are needed.
    Pair by pair it won 1, tied 1 and lost 1.
    Pair by pair both pass 0, only it 1, only the baseline 1 and neither 1.
    ");
}

#[test]
fn one_variation_is_told_and_not_tested() {
    insta::assert_snapshot!(comparison_text(&["a #0 s 0.25- tokens=100", "a #0 t 1+ tokens=90"]), @r"
    t/m scores 1.000 on average and s/m 0.250, over 1 pair of 1 task: 0.750 more, not tested.
    It passes 1 of 1 (100 %), the baseline 0 of 1 (0 %): 100.0 points (95 % interval −12.2 to 100.0); 1 only it passes, 0 only the baseline, not tested.
    1 task cannot show a difference, whatever the scores: at least 6 are needed.
    Pair by pair it won 1, tied 0 and lost 0.
    Its tokens: 90 on average against 100 of the baseline, over 1 pair: 10 less, not tested.
    ");
    insta::assert_snapshot!(comparison_text(&["a #0 s 1+", "a #0 s 0-", "a #0 t 1+", "a #0 t 1+"]), @r"
    t/m scores 1.000 on average and s/m 0.500, over 1 pair of 1 task: 0.500 more, not tested.
    On average over 1 pair it passes 100 % of the runs, the baseline 50 %: 50.0 points, not tested.
    1 task cannot show a difference, whatever the scores: at least 6 are needed.
    Pair by pair it won 1, tied 0 and lost 0.
    Pair by pair both pass 0, only it 1, only the baseline 0 and neither 0.
    ");
    // A cost that is known for one task only is not tested, although the scores are.
    insta::assert_snapshot!(comparison_text(&["a #0 s 1+ cost=2", "a #0 t 1+ cost=1", "b #0 s 0.5-", "b #0 t 0-"]), @"
    t/m scores 0.500 on average and s/m 0.750, over 2 pairs of 2 tasks: 0.250 less (95 % interval −1.000 to 1.000), p = 1.000. No difference is shown.
    It passes 1 of 2 (50 %), the baseline 1 of 2 (50 %): 0.0 points (95 % interval −57.3 to 57.3); \
        0 only it passes, 0 only the baseline; McNemar's exact p = 1.000. No difference is shown.
    2 tasks cannot show a difference, whatever the scores: at least 6 are needed.
    Pair by pair it won 0, tied 1 and lost 1.
    Its cost: $1.0000 on average against $2.0000 of the baseline, over 1 pair: $1.0000 less, not tested.
    ");
}

#[test]
fn pairs_of_one_task_say_that_nothing_is_said_of_others() {
    let lines: Vec<String> =
        (0..8).flat_map(|at| [format!("a #{at} s 0.{at}-"), format!("a #{at} t 1+")]).collect();
    let lines: Vec<&str> = lines.iter().map(String::as_str).collect();
    insta::assert_snapshot!(comparison_text(&lines), @"
    t/m scores 1.000 on average and s/m 0.350, over 8 pairs of 1 task: 0.650 more (95 % interval 0.450 to 0.858), p = 0.008. It is better.
    Its variations take the place of tasks, so this does not extend to other tasks.
    It passes 8 of 8 (100 %), the baseline 0 of 8 (0 %): 100.0 points (95 % interval 54.1 to \
        100.0); 8 only it passes, 0 only the baseline; McNemar's exact p = 0.008. It is better.
    Pair by pair it won 8, tied 0 and lost 0.
    ");
    insta::assert_snapshot!(comparison_text(&lines[..6]), @"
    t/m scores 1.000 on average and s/m 0.100, over 3 pairs of 1 task: 0.900 more (95 % interval 0.652 to 1.000), p = 0.250. No difference is shown.
    Its variations take the place of tasks, so this does not extend to other tasks.
    It passes 3 of 3 (100 %), the baseline 0 of 3 (0 %): 100.0 points (95 % interval 20.6 to \
        100.0); 3 only it passes, 0 only the baseline; McNemar's exact p = 0.250. No difference is \
        shown.
    3 variations cannot show a difference, whatever the scores: at least 6 are needed.
    Pair by pair it won 3, tied 0 and lost 0.
    ");
}

#[test]
fn passes_of_repeats_are_told_as_they_are_tested() {
    let lines: Vec<String> = (0..12)
        .flat_map(|task| {
            let (s, t) = if task < 2 { (2, 3) } else { (5, 3) };
            let run = |system: &str, passed| {
                (0..5)
                    .map(move |at| {
                        format!("t{task} #0 {system} {}", if at < passed { "1+" } else { "0-" })
                    })
                    .collect::<Vec<_>>()
            };
            [run("s", s), run("t", t)].concat()
        })
        .collect();
    insta::assert_snapshot!(comparison_text(&lines.iter().map(String::as_str).collect::<Vec<_>>()), @"
    t/m scores 0.600 on average and s/m 0.900, over 12 pairs of 12 tasks: 0.300 less (95 % interval −0.400 to −0.150), p = 0.007. It is worse.
    On average over 12 pairs it passes 60 % of the runs, the baseline 90 %: −30.0 points (95 % \
        interval −40.0 to −15.0); by task, as not all runs are independent, p = 0.007. It is worse.
    Pair by pair it won 2, tied 0 and lost 10.
    Pair by pair both pass 10, only it 2, only the baseline 0 and neither 0.
    ");
}

#[test]
fn what_came_of_a_comparison_is_said_in_a_few_words() {
    let came =
        |lines: &[&str]| outcome(&Aggregate::new(&runs(lines), Some(column("s"))).pairings[0]);
    assert_eq!(came(&["a #0 s 1", "b #0 t 1"]), "nothing in common");
    assert_eq!(came(&["a #0 s 1", "a #0 t 0"]), "not tested");
    assert_eq!(came(&["a #0 s 1", "a #0 t 0", "b #0 s 1", "b #0 t 0.5"]), "no difference shown");
    let many: Vec<String> =
        (0..8).flat_map(|at| [format!("t{at} #0 s 0.{at}"), format!("t{at} #0 t 1")]).collect();
    assert_eq!(came(&many.iter().map(String::as_str).collect::<Vec<_>>()), "better");
}

#[test]
fn few_tasks_say_how_far_they_have_to_agree() {
    let lines: Vec<String> =
        (0..6).flat_map(|at| [format!("t{at} #0 s 1"), format!("t{at} #0 t 0.{at}")]).collect();
    let mut lines: Vec<&str> = lines.iter().map(String::as_str).collect();
    lines[1] = "t0 #0 t 1";
    assert!(
        comparison_text(&lines).contains("6 tasks show a difference only if all of them agree.")
    );
    // With 11 tasks, 6 are enough when the others tie. The required number is therefore not stated,
    // and nothing is stated when a difference is shown.
    let of = |better: u32| -> Vec<String> {
        let line = |at: u32| {
            [
                format!("t{at} #0 s 0.5"),
                format!("t{at} #0 t {}", if at < better { "1" } else { "0.5" }),
            ]
        };
        (0..11).flat_map(line).collect()
    };
    let told =
        |better: u32| comparison_text(&of(better).iter().map(String::as_str).collect::<Vec<_>>());
    assert!(
        told(6).contains("It is better.") && !told(6).contains("11 tasks would have shown"),
        "{}",
        told(6)
    );
    let hangs = "The smallest difference that 11 tasks would have shown depends on how many of them tie, so it is not given.";
    assert!(told(5).contains("No difference is shown.") && told(5).contains(hangs), "{}", told(5));
}

#[test]
fn systems_without_a_common_task_are_not_compared() {
    insta::assert_snapshot!(comparison_text(&["a #0 s 1", "b #0 t 1", "c #0 t 1", "d #0 t 1", "e #0 t 1"]), @r"
    t/m and s/m have no task in common for which both have a score.
    5 rows are not compared: a #0 (t/m has no run), b #0 (s/m has no run), c #0 (s/m has no run) and 2 more.
    ");
}

#[test]
fn small_probabilities_are_not_written_as_nothing() {
    assert_eq!(
        [0.0499, 0.001, 0.000_9, 1.0].map(probability),
        ["p = 0.050", "p = 0.001", "p < 0.001", "p = 1.000"]
    );
}

#[test]
fn the_method_says_what_is_done_for_one_task_and_when_interval_and_test_disagree() {
    let method = METHOD.join(" ");
    let repeats = runs(&["a #0 s 0.4", "a #0 s 0.5", "a #0 s 0.7"]);
    assert!(
        Aggregate::new(&repeats, None).groups[0].summary.cell.score.unwrap().interval.is_some()
    );
    assert!(
        method.contains("of one system over one variation uses its runs")
            && !method.contains("none for one task"),
        "{method}"
    );
    let alone = runs(&["a #0 s 0.4", "a #0 s 0.5", "a #0 t 0.7", "a #0 t 0.9"]);
    let effect = Aggregate::new(&alone, Some(column("s"))).pairings[0].score.unwrap();
    assert_eq!((effect.units, effect.interval, effect.shown), (1, None, Tendency::Unclear));
    assert!(method.contains("a comparison of one variation has no test"), "{method}");
    let lines: Vec<String> = ["a", "b", "c", "d", "e"]
        .iter()
        .zip([0.5, 0.55, 0.6, 0.65, 0.7])
        .flat_map(|(task, score)| [format!("{task} #0 s 0.1"), format!("{task} #0 t {score}")])
        .collect();
    let five = runs(&lines.iter().map(String::as_str).collect::<Vec<_>>());
    let standing = Aggregate::new(&five, Some(column("s")));
    let effect = standing.pairings[0].score.unwrap();
    assert!(effect.interval.unwrap().low > 0.0 && effect.shown == Tendency::Unclear);
    assert!(
        method.contains("an interval may leave out 0 where the test shows no difference"),
        "{method}"
    );
}
