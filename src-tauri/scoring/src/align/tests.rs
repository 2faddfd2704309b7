//! Alignment rules.
use super::*;
use proptest::prelude::*;
use std::fmt::Write as _;
use touchstone_model::json;
use touchstone_model::run::{Answer, Language, Part, Run, Step, StepKind};
use touchstone_model::value::Value;

/// Builds a run from text, one step per line: `u` user, `s` system, `a` assistant, `t name | sql |
/// result` call, `p code | output` program, `e` error, `g name` sub-agent, `b` abandoned branch, `=
/// value` the answer. Each `>` before it nests a step one level deeper. A result is parsed as JSON
/// if possible.
fn run(text: &str) -> Run {
    let mut run = Run::default();
    for (at, line) in text.lines().map(str::trim).filter(|line| !line.is_empty()).enumerate() {
        let text = line.trim_start_matches('>');
        let depth = u32::try_from(line.len() - text.len()).unwrap();
        let (kind, rest) = text.split_once(' ').unwrap_or((text, ""));
        let words: Vec<&str> = rest.split('|').map(str::trim).collect();
        if kind == "=" {
            run.answer = Some(Answer { value: value(rest), source: String::new(), lenient: false });
            continue;
        }
        let call_id = Some(format!("call_{at}"));
        let step = Step { turn: 1, call_id, depth, ..Step::default() };
        let step = match kind {
            "u" => Step { kind: StepKind::User, parts: vec![part("message", rest)], ..step },
            "s" => Step { kind: StepKind::System, parts: vec![part("message", rest)], ..step },
            "a" => Step { kind: StepKind::Assistant, parts: vec![part("message", rest)], ..step },
            "e" => Step { kind: StepKind::Error, parts: vec![part("error", rest)], ..step },
            "p" => Step {
                kind: StepKind::Program,
                failed: Some(false),
                parts: vec![part("code", words[0]), part("output", words[1])],
                ..step
            },
            "t" => {
                let sql = Part { language: Language::Sql, ..part("sql", words[1]) };
                let result = Part { value: value(words[2]), ..part("result", "") };
                let title = Some(words[0].to_owned());
                Step {
                    kind: StepKind::ToolCall,
                    title,
                    failed: Some(false),
                    parts: vec![sql, result],
                    ..step
                }
            }
            "g" => Step { kind: StepKind::SubAgent, title: Some(rest.to_owned()), ..step },
            "b" => Step { kind: StepKind::Abandoned, ..step },
            other => panic!("{other}"),
        };
        run.steps.push(step);
    }
    run
}

fn part(label: &str, text: &str) -> Part {
    Part { label: label.into(), value: Value::from(text), ..Part::default() }
}

fn value(text: &str) -> Value {
    json::read(text).unwrap_or_else(|_| Value::from(text))
}

fn aligned(runs: &[&str]) -> Alignment {
    let digests: Vec<Vec<Digest>> = runs.iter().map(|text| digests(&run(text))).collect();
    align(&digests.iter().map(Vec::as_slice).collect::<Vec<_>>())
}

/// Renders the rows as text: steps, kind, `<` where the runs diverge.
fn render(runs: &[&str]) -> String {
    let alignment = aligned(runs);
    let mut out = String::new();
    for row in &alignment.rows {
        for step in &row.steps {
            let _ =
                write!(out, "{:>2} ", step.map_or_else(|| "-".to_owned(), |step| step.to_string()));
        }
        let indent = "  ".repeat(row.depth as usize);
        let mark = if row.diverges { " <" } else { "" };
        let _ = writeln!(out, "{indent}{:?}{mark}", row.kind);
    }
    let _ = write!(out, "first {:?}", alignment.first_divergence);
    if let Some(row) = alignment.first_other_result {
        let _ = write!(out, ", other result {row}");
    }
    if let Some(row) = alignment.other_prompt {
        let _ = write!(out, ", other prompt {row}");
    }
    out
}

const TABLE: &str =
    r#"[{"id": 10, "plan": "base"}, {"id": 11, "plan": "free"}, {"id": 12, "plan": "team"}]"#;

#[test]
fn a_run_that_ends_with_a_text_departs_there_also_where_another_goes_on() {
    let alignment = aligned(&["", "a two\nt tickets | one | 0", "a two"]);
    assert_eq!(alignment.parts, [None, Some(1), Some(0)]);
    assert!(alignment.rows[0].diverges);
}

#[test]
fn another_wording_on_the_way_is_no_divergence_and_another_call_is() {
    insta::assert_snapshot!(render(&[
        "u How many?\n a Let me look at the tickets.\n t q | select a from t | 1\n a So, there is one.\n = 1",
        "u How many?\n a I look at the tickets first.\n t q | SELECT a\tFROM t; | 1\n a One it is.\n = 1",
    ]), @"
     0  0 Same
     1  1 Reworded
     2  2 Reworded
     3  3 OtherWords
    first None
    ");
    insta::assert_snapshot!(render(&[
        "u x\n a Here is how I would do it. Shall I go ahead?\n t q | select a | 1\n a Done.",
        "u x\n a Loud tickets first, grouped by project.\n t q | select a | 1\n a Done.",
    ]), @"
     0  0 Same
     1  1 OtherWords
     2  2 Same
     3  3 Same
    first None
    ");
    insta::assert_snapshot!(render(&[
        "u How many?\n t q | select a from t | 1\n t q | select b from t | 2\n a One.\n = 1",
        "u How many?\n t q | select a from t | 5\n t q | select c from t | 2\n a Five.\n = 5",
    ]), @"
     0  0 Same
     1  1 OtherResult
     2  2 Similar <
     3  3 Different <
    first Some(2), other result 1
    ");
}

#[test]
fn extra_steps_that_lead_back_are_no_first_difference_unless_there_is_nothing_else() {
    let straight = "u x\n t q | select a from t | 1\n t p | select b from t | 2\n a One.\n = 1";
    let detour = |end: &str| {
        format!(
            "u x\n t q | select a from t | 1\n t z | show tables | t\n t p | select b from t | 2\n a {end}\n = {end}"
        )
    };
    assert_eq!(aligned(&[straight, &detour("2")]).first_divergence, Some(4));
    assert_eq!(aligned(&[straight, &detour("1")]).first_divergence, Some(2));
    let both = aligned(&[straight, &detour("1"), &detour("2")]);
    assert_eq!((both.first_divergence, both.parts), (Some(4), vec![None, Some(2), Some(4)]));
    let other = detour("1").replace("select a", "select everything");
    assert_eq!(aligned(&[straight, &other]).first_divergence, Some(1), "another call counts");
}

#[test]
fn the_same_table_by_another_query_is_no_divergence() {
    let renamed = TABLE.replace("plan", "plan_name");
    let left = format!(
        "u x\n t q | select id, plan from projects join plans on a = b | {TABLE}\n a Done."
    );
    let right = format!(
        "u x\n t q | select id, p.plan_name from projects p join plans on b = a | {renamed}\n a Done."
    );
    insta::assert_snapshot!(render(&[&left, &right]), @"
     0  0 Same
     1  1 SameResult
     2  2 Same
    first None
    ");
    let one = "u x\n t q | select count(*) from tickets where open | [{\"n\": 42}]";
    let other = "u x\n t q | select count(*) from tickets where urgent | [{\"n\": 42}]";
    assert_eq!(aligned(&[one, other]).first_divergence, Some(1));
}

#[test]
fn a_step_that_only_one_run_has_stands_by_itself() {
    insta::assert_snapshot!(render(&[
        "u x\n a First the tickets.\n t q | select * from tickets | 1\n a Ticket one.\n = 1",
        "u x\n a First the tickets.\n t q | select * from tickets | 1\n a Now a program.\n t py | print(1) | 2\n a Ticket two.\n = 2",
    ]), @"
     0  0 Same
     1  1 Same
     2  2 Same
     -  3 Absent
     -  4 Absent <
     3  5 Similar <
    first Some(4)
    ");
}

#[test]
fn the_first_prompt_is_aligned_however_different_and_is_no_divergence() {
    insta::assert_snapshot!(render(&[
        "s It is ten o'clock.\n u Sort the tickets.\n t q | select 1 | 1\n a Done",
        "s It is noon.\n u Write an artifact with everything you know.\n t q | select 1 | 1\n a Done",
    ]), @"
     0  0 OtherWords
     1  1 Different
     2  2 Same
     3  3 Same
    first None, other prompt 1
    ");
    insta::assert_snapshot!(render(&["t q | select 1 | 1", "s Hello.\n u x\n t q | select 1 | 1"]), @"
     -  0 Absent
     -  1 Absent
     0  2 Same
    first None
    ");
}

#[test]
fn a_nudge_parts_runs_and_what_follows_is_aligned_again() {
    insta::assert_snapshot!(render(&[
        "u x\n t q | select a | 1\n a I give up.\n u Go on.\n t q | select b | 2\n a Here.",
        "u x\n t q | select a | 1\n a Here it is.\n u Please, go on.\n t q | select b | 2\n a Here.",
        "u x\n t q | select a | 1\n a I give up.",
    ]), @"
     0  0  0 Same
     1  1  1 Same
     2  2  2 Different <
     3  3  - Absent <
     4  4  - Absent <
     5  5  - Absent <
    first Some(2)
    ");
}

#[test]
fn what_was_done_instead_stands_side_by_side() {
    insta::assert_snapshot!(render(&[
        "u x\n t tickets | select a | 1\n a One. \n = 1",
        "u x\n t plans | from b | 2\n t plans | from c | 3\n a Two. \n = 2",
        "u x\n p run() | 2\n a Two. \n = 2",
    ]), @"
     0  0  0 Same
     1  1  1 Different <
     -  2  - Absent <
     2  3  2 Different <
    first Some(1)
    ");
}

#[test]
fn of_two_similar_attempts_the_first_is_aligned() {
    insta::assert_snapshot!(render(&[
        "u x\n t py | a = 1; b = c | 1\n a That failed, so again.\n t py | a = 2; b = d | 2\n a Done",
        "u x\n t py | for x in y: a | 3\n a Done",
    ]), @"
     0  0 Same
     1  1 Similar <
     2  - Absent
     3  - Absent <
     4  2 Same
    first Some(1)
    ");
}

#[test]
fn parts_of_one_run_alone_are_not_differences() {
    let texts = |day: &str, id: &str| {
        let mut run = run(&format!(
            "u x\n t q | where at < '{day}' | \"call {id} at {day}T10:00:00Z in /tmp/tmp0a_{day:.5}/x\"\n a Done"
        ));
        run.facts.push(("run.started".into(), Value::from(format!("{day}T09:00:00Z").as_str())));
        run.steps[1].call_id = Some(id.into());
        run
    };
    let (a, b) =
        (digests(&texts("2026-01-31", "call_abc")), digests(&texts("2026-02-01", "toolu_77")));
    let alignment = align(&[&a, &b]);
    assert_eq!(
        alignment.rows.iter().map(|row| row.kind).collect::<Vec<_>>(),
        [Kind::Same, Kind::Reworded, Kind::Same]
    );
}

#[test]
fn a_sub_agent_is_one_step_of_its_level_and_its_steps_are_aligned_inside() {
    insta::assert_snapshot!(render(&[
        "u x\n t task | find | 1\n g scout\n >u find\n >t q | select a | 1\n >t q | select b | 2\n >a Found.\n t q | select c | 3\n a Done.",
        "u x\n t task | find | 1\n g scout\n >u find\n >t q | select a | 1\n >t r | drop z | 2\n >a Found.\n t q | select c | 3\n a Done.",
    ]), @"
     0  0 Same
     1  1 Same
     2  2 Same
     3  3   Same
     4  4   Same
     5  5   Different <
     6  6   Same
     7  7 Same
     8  8 Same
    first Some(5)
    ");
    // The same call stands on the main path of one run and in the sub-agent of the other.
    insta::assert_snapshot!(render(&[
        "u x\n t q | select a | 1\n g scout\n >u find\n >t q | select b | 2\n a Done.",
        "u x\n g scout\n >u find\n >t q | select a | 1\n >t q | select b | 2\n a Done.",
    ]), @"
     0  0 Same
     1  - Absent <
     2  1 Same
     3  2   Same
     -  3   Absent <
     4  4   Same
     5  5 Same
    first Some(1)
    ");
}

#[test]
fn sub_agents_are_aligned_by_name_and_prompt() {
    insta::assert_snapshot!(render(&[
        "u x\n g scout\n >u look at plans\n >t q | select a | 1\n g critic\n >u judge this\n >t q | select b | 2",
        "u x\n g critic\n >u judge this\n >t q | select b | 2\n g scout\n \
         >u look at the plans\n >t q | select a | 1\n g critic\n >u judge this\n >t q | select b | 2",
    ]), @"
     0  0 Same
     -  1 Absent <
     -  2   Absent
     -  3   Absent <
     1  4 Similar <
     2  5   Similar
     3  6   Same
     4  7 Same
     5  8   Same
     6  9   Same
    first Some(4)
    ");
}

#[test]
fn sub_agents_within_sub_agents_and_abandoned_branches_are_aligned_too() {
    insta::assert_snapshot!(render(&[
        "u x\n b\n >u y\n >t q | select a | 1\n g scout\n >u find\n >g nose\n >>u sniff\n >>t q | select b | 2\n a Done.",
        "u x\n b\n >u y\n >t q | select a | 1\n g scout\n >u find\n >g nose\n >>u sniff\n >>t q | select b | 5\n a Done.",
        "u x\n g scout\n >u find\n >t q | select b | 2\n a Done.",
    ]), @"
     0  0  0 Same
     1  1  - Absent <
     2  2  -   Absent
     3  3  -   Absent <
     4  4  1 Same
     5  5  2   Same
     6  6  -   Absent <
     7  7  -     Absent
     8  8  -     Absent <
     -  -  3   Absent <
     9  9  4 Same
    first Some(1), other result 8
    ");
}

#[test]
fn long_runs_are_aligned_within_bounds_and_say_when_they_are_coarse() {
    let long = |seed: usize| {
        let line = |n: usize| {
            format!("t q{} | select c{} from t{} where x = {n}{seed} | {n}\n", n % 3, n % 7, n % 11)
        };
        format!("u x\n{}a Done {seed}", (0..1_100).map(line).collect::<String>())
    };
    let (left, right) = (long(1), long(2));
    let alignment = aligned(&[&left, &right]);
    assert!(alignment.coarse);
    assert_eq!(alignment.rows.len(), 1_102);
    assert!(alignment.rows.iter().all(|row| row.steps[0] == row.steps[1]));
    let shifted = format!("u x\n t new | a | b\n{}", left.trim_start_matches("u x\n"));
    let alignment = aligned(&[&left, &shifted]);
    assert!(!alignment.coarse);
    assert_eq!((alignment.first_divergence, alignment.rows.len()), (Some(1), 1_103));
}

const WORD: &str = "(one|two|three|four|five)";
const WORDS: &str = "(one|two|three|four|five)( (one|two|three|four|five)){0,4}";

/// Runs over a small vocabulary, so that they have much in common.
fn any_run() -> impl Strategy<Value = String> {
    let line = prop_oneof![
        2 => WORDS.prop_map(|text| format!("a {text}")),
        4 => ("(tickets|plans)", WORDS, 0..3).prop_map(|(tool, sql, result)| format!("t {tool} | {sql} | {result}")),
        1 => WORDS.prop_map(|text| format!("p {text} | {text}")),
        1 => WORD.prop_map(|text| format!("u {text}")),
        1 => WORD.prop_map(|text| format!("e {text}")),
    ];
    prop::collection::vec(line, 0..12).prop_map(|lines| lines.join("\n"))
}

/// Runs with sub-agents: parts of the main path, and sub-agents with parts of their own.
fn any_nested_run() -> impl Strategy<Value = String> {
    let indented = |text: String, level: usize| {
        let indent = ">".repeat(level);
        text.lines().map(|line| [&*indent, line, "\n"].concat()).collect::<String>()
    };
    let inner = ("(scout|critic)", any_run(), any_run()).prop_map(move |(name, outer, inner)| {
        format!("g {name}\n{}>g nose\n{}", indented(outer, 1), indented(inner, 2))
    });
    let piece = prop_oneof![
        any_run(),
        inner,
        any_run().prop_map(move |run| format!("b\n{}", indented(run, 1)))
    ];
    prop::collection::vec(piece, 0..5).prop_map(|pieces| pieces.join("\n"))
}

/// Returns the steps of one level and, for each of them, the range that it contains.
fn one_level(run: &[Digest], range: Range<usize>) -> Vec<(usize, Range<usize>)> {
    let mut all = Vec::new();
    let mut at = range.start;
    while at < range.end {
        let inside = run[at + 1..range.end].iter().take_while(|it| it.depth > run[at].depth);
        let end = at + 1 + inside.count();
        all.push((at, at + 1..end));
        at = end;
    }
    all
}

/// Aligns level by level, by definition: each level as a run without sub-agents.
fn level_by_level(
    runs: &[&[Digest]],
    ranges: &[Range<usize>],
    depth: u32,
    rows: &mut Vec<(u32, Vec<Option<usize>>)>,
) {
    let levels: Vec<_> =
        runs.iter().zip(ranges).map(|(run, range)| one_level(run, range.clone())).collect();
    let flat: Vec<Vec<Digest>> = runs
        .iter()
        .zip(&levels)
        .map(|(run, level)| {
            level.iter().map(|(at, _)| Digest { depth: 0, ..run[*at].clone() }).collect()
        })
        .collect();
    let alignment = align(&flat.iter().map(Vec::as_slice).collect::<Vec<_>>());
    for row in alignment.rows {
        let steps = row.steps.iter().zip(&levels);
        let (steps, inner): (Vec<_>, Vec<_>) = steps
            .map(|(step, level)| match step {
                Some(step) => (Some(level[*step].0), level[*step].1.clone()),
                None => (None, 0..0),
            })
            .unzip();
        rows.push((depth, steps));
        if inner.iter().any(|range| !range.is_empty()) {
            level_by_level(runs, &inner, depth + 1, rows);
        }
    }
}

fn pairs(alignment: &Alignment, left: usize, right: usize) -> Vec<(usize, usize)> {
    alignment.rows.iter().filter_map(|row| Some((row.steps[left]?, row.steps[right]?))).collect()
}

/// Returns the worth of the best pairing, by brute force.
fn best(a: &[Digest], b: &[Digest]) -> u32 {
    let (Some((first, rest)), Some((other, others))) = (a.split_first(), b.split_first()) else {
        return 0;
    };
    let paired = match kind::worth(first, other, || kind::call_similarity(first, other)) {
        0 => 0,
        worth => worth + best(rest, others),
    };
    paired.max(best(rest, b)).max(best(a, others))
}

proptest! {
    #[test]
    fn nested_runs_are_aligned_level_by_level(texts in prop::collection::vec(any_nested_run(), 1..4)) {
        let digests: Vec<Vec<Digest>> = texts.iter().map(|text| digests(&run(text))).collect();
        let runs: Vec<&[Digest]> = digests.iter().map(Vec::as_slice).collect();
        let alignment = align(&runs);
        let mut rows = Vec::new();
        level_by_level(&runs, &runs.iter().map(|run| 0..run.len()).collect::<Vec<_>>(), 0, &mut rows);
        let found: Vec<_> = alignment.rows.iter().map(|row| (row.depth, row.steps.clone())).collect();
        prop_assert_eq!(found, rows);
        for (at, run) in runs.iter().enumerate() {
            let steps: Vec<usize> = alignment.rows.iter().filter_map(|row| row.steps[at]).collect();
            prop_assert_eq!(steps, (0..run.len()).collect::<Vec<_>>());
            prop_assert!(alignment.rows.iter().all(|row| row.steps[at].is_none_or(|step| run[step].depth == row.depth)));
        }
        let first = alignment.rows.iter().position(|row| row.diverges);
        prop_assert_eq!(alignment.first_divergence.is_some(), first.is_some());
    }

    #[test]
    fn a_nested_run_beside_itself_is_the_same_throughout(text in any_nested_run()) {
        let alignment = aligned(&[&text, &text]);
        prop_assert!(alignment.rows.iter().all(|row| row.kind == Kind::Same && !row.diverges));
    }

    #[test]
    fn every_step_stands_in_one_row_and_in_its_order(runs in prop::collection::vec(any_run(), 1..5)) {
        let runs: Vec<&str> = runs.iter().map(String::as_str).collect();
        let alignment = aligned(&runs);
        for (at, text) in runs.iter().enumerate() {
            let steps: Vec<usize> = alignment.rows.iter().filter_map(|row| row.steps[at]).collect();
            prop_assert_eq!(steps, (0..run(text).steps.len()).collect::<Vec<_>>());
        }
        for row in &alignment.rows {
            prop_assert!(row.steps.iter().any(Option::is_some));
            prop_assert_eq!(row.steps.len(), runs.len());
            prop_assert_eq!(row.kind == Kind::Absent, row.steps.contains(&None));
        }
        prop_assert_eq!(aligned(&runs), alignment);
    }

    #[test]
    fn a_run_beside_itself_is_the_same_throughout(text in any_run(), copies in 2usize..5) {
        let alignment = aligned(&vec![text.as_str(); copies]);
        prop_assert!(alignment.rows.iter().all(|row| row.kind == Kind::Same && !row.diverges));
        prop_assert_eq!(alignment.rows.len(), run(&text).steps.len());
        prop_assert_eq!((alignment.first_divergence, alignment.first_other_result), (None, None));
    }

    #[test]
    fn swapping_two_runs_mirrors_their_rows(left in any_run(), right in any_run()) {
        let (there, back) = (aligned(&[&left, &right]), aligned(&[&right, &left]));
        let mirrored: Vec<_> = pairs(&back, 1, 0);
        prop_assert_eq!(pairs(&there, 0, 1), mirrored);
        let kinds = |alignment: &Alignment| -> Vec<(Kind, bool)> {
            let both = alignment.rows.iter().filter(|row| !row.steps.contains(&None));
            both.map(|row| (row.kind, row.diverges)).collect()
        };
        prop_assert_eq!(kinds(&there), kinds(&back));
        prop_assert_eq!(there.rows.len(), back.rows.len());
        prop_assert_eq!(there.first_divergence.is_some(), back.first_divergence.is_some());
        prop_assert_eq!(there.first_other_result.is_some(), back.first_other_result.is_some());
    }

    #[test]
    fn a_copy_up_to_some_step_is_aligned_with_its_original_exactly(text in any_run(), more in any_run(), share in 0usize..13) {
        let whole: Vec<&str> = text.lines().collect();
        let kept = share.min(whole.len());
        let fork = [&whole[..kept], &more.lines().collect::<Vec<_>>()[..]].concat().join("\n");
        let alignment = aligned(&[&text, &fork]);
        let same: Vec<_> = (0..kept).map(|at| (at, at)).collect();
        prop_assert_eq!(&pairs(&alignment, 0, 1)[..kept], &same[..]);
        prop_assert!(alignment.rows[..kept].iter().all(|row| row.kind == Kind::Same));
    }

    #[test]
    fn no_other_order_of_pairs_is_worth_more(left in any_run(), right in any_run()) {
        let digest = |text: &str| {
            // Without prompts, which are always paired, and short enough for brute force.
            digests(&run(&text.lines().filter(|line| !line.starts_with(['u', 'a'])).take(7).collect::<Vec<_>>().join("\n")))
        };
        let (a, b) = (digest(&left), digest(&right));
        let alignment = align(&[&a, &b]);
        let worth: u32 = pairs(&alignment, 0, 1).iter().map(|(i, j)| kind::worth(&a[*i], &b[*j], || kind::call_similarity(&a[*i], &b[*j]))).sum();
        prop_assert_eq!(worth, best(&a, &b));
    }

    #[test]
    fn runs_part_where_the_first_of_the_others_parts(runs in prop::collection::vec(any_run(), 2..5)) {
        let runs: Vec<&str> = runs.iter().map(String::as_str).collect();
        let alignment = aligned(&runs);
        let first = alignment.rows.iter().position(|row| row.diverges);
        prop_assert_eq!(alignment.first_divergence.is_some(), first.is_some());
        prop_assert!(alignment.first_divergence.is_none_or(|at| alignment.parts.contains(&Some(at))));
        prop_assert!(alignment.parts.iter().flatten().all(|at| Some(*at) >= first && alignment.rows[*at].diverges));
        if let [_, Some(left)] = alignment.parts[..] {
            let passed_over = &alignment.rows[first.unwrap_or(left)..left];
            prop_assert!(passed_over.iter().all(|row| !row.diverges || row.steps.contains(&None)));
        }
        let folded: usize = alignment.folds.iter().map(|fold| alignment.rows[fold.clone()].iter().filter(|row| row.kind == Kind::Same).count()).sum();
        prop_assert_eq!(folded, alignment.folds.iter().map(ExactSizeIterator::len).sum::<usize>());
    }
}

/// Builds a call with these arguments.
fn call(arguments: impl Iterator<Item = (String, String)>) -> Run {
    let parts = arguments.map(|(label, text)| part(&label, &text)).collect();
    let step = Step {
        kind: StepKind::ToolCall,
        title: Some("put".into()),
        failed: Some(false),
        parts,
        ..Step::default()
    };
    Run { steps: vec![step], ..Run::default() }
}

#[test]
fn of_very_many_arguments_few_are_looked_at_one_by_one_and_the_others_still_count() {
    let named = |from: usize, other: usize| {
        let text =
            move |at: usize| if at < other { format!("other {at}") } else { format!("text {at}") };
        digests(&call((from..from + 8_000).map(move |at| (format!("field {at}"), text(at)))))
            .remove(0)
    };
    let one = named(0, 0);
    assert!(one.fields.len() <= 65, "{}", one.fields.len());
    assert_eq!(one.alike(&named(0, 0)), 1000);
    let [near, half, apart] =
        [named(0, 80), named(0, 4_000), named(10_000, 0)].map(|other| one.alike(&other));
    assert!(
        near > 900 && near < 1000 && half < near && half > apart && apart < 100,
        "{near} {half} {apart}"
    );
    // Equal names: parts are paired in order.
    let twins = |text: &'static str| {
        digests(&call((0..8_000).map(move |_| ("a".to_owned(), text.to_owned())))).remove(0)
    };
    assert_eq!(twins("x").alike(&twins("x")), 1000);
    assert!(twins("x").alike(&twins("y")) < 100);
}

#[test]
fn parts_of_one_label_are_compared_in_turn_however_many_there_are() {
    let labels =
        |all: &[&str]| call(all.iter().map(|label| ((*label).to_owned(), (*label).to_owned())));
    let told = |left: &[&str], right: &[&str]| -> String {
        let found = differences((&labels(left), 0), (&labels(right), 0));
        found
            .iter()
            .map(|one| format!("{} {:?}", one.label, one.change))
            .collect::<Vec<_>>()
            .join("; ")
    };
    assert_eq!(told(&["a", "b", "a"], &["b", "a", "c"]), "a Same; c Extra; b Same; a Missing");
}
