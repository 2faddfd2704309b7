//! Tests of questions about steps: what they mean, and that the index answers them like a reading
//! of the whole runs.
use crate::filter::{
    Ask, Comparison, Filter, Pattern, Place, SequenceStep, StepCondition, StepPattern,
    StepQuestion, StepText, StepWord, TextMatch, Token,
};
use crate::index::Reader;
use crate::query::Lists;
use crate::test_index::{TestIndex, TestRun, paths, request};
use proptest::prelude::*;
use touchstone_api::{Column, SnippetPiece, Span};
use touchstone_formats::transcript::outline_of;
use touchstone_model::run::{Answer, Part, Run, Step, StepKind};
use touchstone_model::value::Value;

/// Returns a run from lines: `u text`, `a text`, `e text`, `n text` (a nudge), `c tool arguments |
/// result`, where `!` before the result means that it failed, and `= text` for the answer. Spaces
/// at the start are nesting levels.
fn run(lines: &str) -> Run {
    let mut run = Run::default();
    let part = |label: &str, text: &str| Part {
        label: label.into(),
        value: Value::from(text),
        ..Part::default()
    };
    for line in lines.lines() {
        let depth = line.len() - line.trim_start().len();
        let (kind, rest) = line.trim_start().split_once(' ').unwrap_or((line.trim_start(), ""));
        let mut step =
            Step { depth: u32::try_from(depth).unwrap(), parts: Vec::new(), ..Step::default() };
        step.kind = match kind {
            "=" => {
                let (value, source) = (Value::from(rest), "answer".to_owned());
                run.answer = Some(Answer { value, source, lenient: false });
                continue;
            }
            "a" => StepKind::Assistant,
            "e" => StepKind::Error,
            "c" => StepKind::ToolCall,
            "p" => StepKind::Program,
            "lost" => StepKind::Abandoned,
            "sub" => StepKind::SubAgent,
            _ => StepKind::User,
        };
        step.nudge = kind == "n";
        if step.kind == StepKind::ToolCall {
            let (call, result) = rest.split_once(" | ").unwrap_or((rest, ""));
            let (tool, args) = call.split_once(' ').unwrap_or((call, ""));
            step.title = Some(tool.to_owned());
            step.parts.push(part("query", args));
            if rest.contains(" | ") {
                step.failed = Some(result.starts_with('!'));
                step.parts.push(part("result", result.trim_start_matches('!')));
            }
        } else if step.kind != StepKind::Abandoned && step.kind != StepKind::SubAgent {
            step.parts.push(part(if kind == "e" { "error" } else { "message" }, rest));
        }
        run.steps.push(step);
    }
    run
}

fn index(runs: &[(&str, &str)]) -> TestIndex {
    let runs: Vec<TestRun> = runs.iter().map(|(path, lines)| test_run(path, lines)).collect();
    TestIndex::with(&runs)
}

fn test_run(path: &str, lines: &str) -> TestRun {
    let outline = Some(outline_of(&run(lines)));
    TestRun { path: path.to_owned(), outline, ..TestRun::default() }
}

fn found(shelf: &TestIndex, filter: &str) -> String {
    found_by(&shelf.reader(), filter)
}

const RUNS: [(&str, &str); 5] = [
    (
        "a",
        "u refund order 7\na let me look\nc sql select 1 | !no such column: x\nc sql select 1 | !no such column: x\na sorry, I cannot",
    ),
    (
        "b",
        "u refund order 7\nc sql select 1 | !no such table\nc sql select 2 | count: 12\nc mail to bob | sent\n= done",
    ),
    (
        "c",
        "u hello\nc sql drop table t | \nn actually use the sql tool to get the answer\ne timeout of the server",
    ),
    (
        "d",
        "u hello\nlost\n c sql select 1 | !x\n c sql select 1 | !x\nsub\n c mail to ann | {\"count\": 3}\n= done",
    ),
    ("e", ""),
];

#[test]
fn questions_find_steps_in_order_with_their_texts_and_numbers() {
    let shelf = index(&RUNS);
    let rules = [
        ("call()", "a b c d"),
        ("call(sql)", "a b c"),
        ("call(s*l)", "a b c"),
        ("call(mail,nothing)", "b d"),
        ("call(sql){failed}", "a b"),
        ("call(sql){ok}", "b c"),
        ("call(sql){failed} then call(sql){same}", "a"),
        ("call(sql){failed} then call(sql)", "a b"),
        ("call(sql){failed} then call(sql){same} then no answer", "a"),
        ("call(sql){failed} then answer", "b"),
        ("call(sql) then no call(mail)", "a c"),
        ("call(sql){ok} then no call(mail)", "c"),
        ("call(sql){failed} then no call(sql) then said()", "a"),
        ("call(sql) then next call(mail)", "b"),
        ("call(sql){failed} then next call(mail)", ""),
        ("call(sql){failed} then no call(){same}", "a b"),
        ("call(sql){failed}>=2", "a"),
        ("call(sql)=0", "d e"),
        ("call(sql)<2", "c d e"),
        ("-call(sql)", "d e"),
        ("answer()", "b d"),
        ("-answer() call()", "a c"),
        ("nudge() then error(timeout)", "c"),
        ("error(server)", "c"),
        ("user(refund) then said(/^let .* look$/)", "a"),
        ("said:sorry", "a"),
        ("said:SORRY,\"let me\"", "a"),
        ("-said:sorry", "b c d e"),
        ("asked:refund -result:/such (table|row)/", "a"),
        ("args:\"drop table\"", "c"),
        ("result:\"no such\"", "a b"),
        ("call(sql){result~\"no such\",args~\"select 1\"}", "a b"),
        ("call(){result>10}", "b"),
        ("call(){result.count>=3}", "b d"),
        ("call(){result.count<12}", "d"),
        ("call(){result.total>0}", ""),
        ("steps:>3", "a b c"),
        ("call(mail) done", "b d"),
        ("timeout call(sql)", "c"),
    ];
    for complete in [false, true] {
        if complete {
            shelf.complete();
        }
        let wrong =
            rules.iter().map(|(filter, expected)| (filter, expected, found(&shelf, filter)));
        let wrong: Vec<_> = wrong.filter(|(_, expected, found)| **expected != found).collect();
        assert!(wrong.is_empty(), "index complete: {complete}: {wrong:#?}");
    }
}

#[test]
fn a_row_shows_the_step_at_which_the_question_holds() {
    let shelf = index(&RUNS);
    let filter = "call(sql){failed} then call(sql){same}";
    let page =
        Lists::default().list(&shelf.reader(), &request(filter, Column::Path, false)).unwrap();
    let shown = |page: &touchstone_api::RunPage| {
        let snippet = page.rows[0].snippet.as_ref().unwrap();
        let mark = |piece: &SnippetPiece| {
            if piece.hit { format!("[{}]", piece.text) } else { piece.text.clone() }
        };
        (snippet.step, snippet.pieces.iter().map(mark).collect::<String>())
    };
    assert_eq!(shown(&page), (Some(3), "sql select 1".to_owned()));
    for (filter, text) in [
        ("result:/such (table|column)/ asked:refund", "sql no [such column]: x"),
        ("call(sql){failed} then said(SORRY)", "[sorry], I cannot"),
    ] {
        let page =
            Lists::default().list(&shelf.reader(), &request(filter, Column::Path, false)).unwrap();
        assert_eq!(shown(&page).1.trim_end(), text, "{filter}");
    }
    let page =
        Lists::default().list(&shelf.reader(), &request("answer()", Column::Path, false)).unwrap();
    assert_eq!(page.rows[0].snippet, None);
    let hits = Lists::default()
        .search(&shelf.reader(), "call(mail)", Span { offset: 1, limit: 5 })
        .unwrap();
    let hits: Vec<_> = hits.iter().map(|hit| (hit.path.as_str(), hit.snippet.step)).collect();
    assert_eq!(hits.len(), 1);
    assert!(["b", "d"].contains(&hits[0].0) && hits[0].1.is_some(), "{hits:?}");
}

#[test]
fn empty_texts_and_numbers_are_read_as_they_are() {
    let shelf = index(&[
        ("a", "c ls x | file1 file2\nc sum | 3"),
        ("b", "c ls x | "),
        ("c", "c ls x"),
        ("d", "c make x | 550e8400-e29b-41d4-a716-446655440000 3f2a9c 2nd 0x1F 2025-01-14"),
        ("e", "c make x | 1,234,567 rows"),
        ("f", "c api x | [{\"text\":\"{\\\"count\\\": 12}\"}]"),
    ]);
    for (filter, expected) in [
        ("call(ls){result~/^$/}", "b"),
        ("result:/^$/", "b"),
        ("args:/^$/", "a"),
        ("call(sum){args~/^$/}", "a"),
        ("call(make){result>1000000}", "e"),
        ("call(make){result=1234567}", "e"),
        ("call(make){result<1000000}", ""),
        ("call(api){result.count>=3}", "f"),
    ] {
        assert_eq!(found(&shelf, filter), expected, "{filter}");
    }
}

#[test]
fn what_is_no_run_has_no_steps() {
    let mut shelf = index(&RUNS);
    shelf.add(&[TestRun { path: "x".into(), state: 5, ..TestRun::default() }]);
    assert_eq!(found(&shelf, "call(sql)=0"), "d e");
    assert_eq!(found(&shelf, "-call(sql)"), "d e x");
    assert_eq!(found(&shelf, "-call(sql) -said:x"), "d e x");
    assert_eq!(found(&shelf, "-call(sql) call()"), "d");
}

/// A step as a person reads it.
struct Read {
    kind: StepKind,
    nudge: bool,
    failed: Option<bool>,
    tool: String,
    own: String,
    result: String,
}

/// Reads a whole run, without the index and its encoding.
fn read(run: &Run) -> Vec<Read> {
    let mut lost: Option<u32> = None;
    let mut all = Vec::new();
    for step in &run.steps {
        lost = lost.filter(|level| step.depth > *level);
        if lost.is_none() && step.kind == StepKind::Abandoned {
            lost = Some(step.depth);
        }
        if lost.is_some() || step.kind == StepKind::SubAgent {
            continue;
        }
        let texts = |is_result: bool| -> String {
            let parts = step.parts.iter().filter(|part| (part.label == "result") == is_result);
            parts.filter_map(|part| part.value.text()).collect()
        };
        all.push(Read {
            kind: step.kind,
            nudge: step.nudge,
            failed: step.failed,
            tool: step.title.clone().unwrap_or_default(),
            own: texts(false),
            result: texts(true),
        });
    }
    all
}

fn holds_text(text: &str, wanted: &TextMatch) -> bool {
    match wanted {
        TextMatch::Regex(regex) => {
            regex::Regex::new(&format!("(?im){regex}")).unwrap().is_match(text)
        }
        TextMatch::Text(wanted) => {
            let (text, wanted) = (text.to_lowercase(), wanted.to_lowercase());
            text.match_indices(&wanted).any(|(at, _)| {
                !wanted.starts_with(|first: char| first.is_ascii_alphanumeric())
                    || !text[..at].ends_with(|last: char| last.is_alphanumeric())
            })
        }
    }
}

/// Reads the numbers of the samples below, which are simple.
fn numbers(text: &str, key: Option<&str>) -> Vec<f64> {
    let words: Vec<&str> = text.split([' ', ':', ',', '{', '}', '"', '\n']).collect();
    let words: Vec<&str> = words.into_iter().filter(|word| !word.is_empty()).collect();
    let number = |word: &&str| word.parse::<f64>().ok();
    match key {
        None => words.iter().filter_map(number).collect(),
        Some(key) => words
            .windows(2)
            .filter(|pair| pair[0] == key)
            .filter_map(|pair| number(&pair[1]))
            .collect(),
    }
}

fn fits(step: &Read, pattern: &StepPattern, before: Option<&Read>) -> bool {
    let kind = match pattern.word {
        StepWord::Call => step.kind == StepKind::ToolCall,
        StepWord::Program => step.kind == StepKind::Program,
        StepWord::Said => step.kind == StepKind::Assistant,
        StepWord::User => step.kind == StepKind::User,
        StepWord::Nudge => step.kind == StepKind::User && step.nudge,
        StepWord::Error => step.kind == StepKind::Error,
        StepWord::Answer => false,
    };
    let named = |Pattern(pieces): &Pattern| match pieces.as_slice() {
        [whole] => step.tool == *whole,
        [start, end] => step.tool.starts_with(start.as_str()) && step.tool.ends_with(end.as_str()),
        _ => unreachable!("names have one star at most here"),
    };
    kind && (pattern.tools.is_empty() || pattern.tools.iter().any(named))
        && pattern.conditions.iter().all(|condition| match condition {
            StepCondition::Failed(failed) => step.failed == Some(*failed),
            StepCondition::Same => {
                before.is_some_and(|before| (&before.tool, &before.own) == (&step.tool, &step.own))
            }
            StepCondition::Text(StepText::Own, text) => holds_text(&step.own, text),
            StepCondition::Text(StepText::Result, text) => {
                step.failed.is_some() && holds_text(&step.result, text)
            }
            StepCondition::Number(key, by, number) => numbers(&step.result, key.as_deref())
                .into_iter()
                .any(|found| by.holds(found, *number)),
        })
}

/// Tries every way in which steps can be those of a question.
fn holds(question: &StepQuestion, steps: &[Read], has_answer: bool) -> bool {
    if let Some((by, number)) = question.count {
        let count = steps.iter().filter(|step| fits(step, &question.steps[0].pattern, None));
        return by.holds(f64::from(u32::try_from(count.count()).unwrap()), number);
    }
    holds_after(&question.steps, steps, has_answer, None)
}

fn holds_after(
    wanted: &[SequenceStep],
    steps: &[Read],
    has_answer: bool,
    before: Option<usize>,
) -> bool {
    let from = before.map_or(0, |at| at + 1);
    let last = before.map(|at| &steps[at]);
    let never = wanted.iter().take_while(|step| step.place == Place::Never).count();
    let (never, rest) = wanted.split_at(never);
    let clear = |to: usize| {
        steps[from..to].iter().all(|step| {
            !never
                .iter()
                .filter(|never| never.pattern.word != StepWord::Answer)
                .any(|never| fits(step, &never.pattern, last))
        })
    };
    if never.iter().any(|never| never.pattern.word == StepWord::Answer) && has_answer {
        return false;
    }
    match rest.first() {
        None => clear(steps.len()),
        Some(next) if next.pattern.word == StepWord::Answer => has_answer && clear(steps.len()),
        Some(next) => (from..steps.len()).any(|at| {
            (next.place != Place::Next || at == from)
                && fits(&steps[at], &next.pattern, last)
                && clear(at)
                && holds_after(&rest[1..], steps, has_answer, Some(at))
        }),
    }
}

fn any_run() -> impl Strategy<Value = String> {
    let call = (
        prop::sample::select(vec!["sql", "mail", "smal"]),
        prop::sample::select(vec!["a", "b", "drop é"]),
        prop::sample::select(vec![
            "",
            " | ",
            " | ok",
            " | !no such",
            " | count: 3",
            " | {\"count\": 12} 7",
        ]),
    );
    let step = prop_oneof![
        3 => call.prop_map(|(tool, args, result)| format!("c {tool} {args}{result}")),
        1 => prop::sample::select(vec!["a sorry no", "a done a", "u hello", "n actually use the sql tool to get the answer", "e lost b", "p code"])
            .prop_map(str::to_owned),
        1 => Just("lost\n c sql a | !no such\nsub\n c mail a".to_owned()),
    ];
    (prop::collection::vec(step, 0..7), any::<bool>()).prop_map(|(mut lines, answer)| {
        lines.extend(answer.then(|| "= done".to_owned()));
        lines.join("\n")
    })
}

fn any_pattern() -> impl Strategy<Value = StepPattern> {
    let word = prop::sample::select(vec![
        StepWord::Call,
        StepWord::Call,
        StepWord::Call,
        StepWord::Said,
        StepWord::User,
        StepWord::Nudge,
        StepWord::Error,
        StepWord::Program,
    ]);
    let tools = prop::sample::select(vec!["", "", "sql", "s*l", "mail"]);
    let text = prop_oneof![
        prop::sample::select(vec!["a", "no", "such", "o", "é", "count: 3", "done a"])
            .prop_map(|text| TextMatch::Text(text.to_owned())),
        prop::sample::select(vec!["^no", "so?rry|done", "d.op", "such$", "^$"])
            .prop_map(|text| TextMatch::Regex(text.to_owned())),
    ];
    let condition = prop_oneof![
        any::<bool>().prop_map(StepCondition::Failed),
        any::<bool>().prop_map(StepCondition::Failed),
        (prop::sample::select(vec![StepText::Own, StepText::Result]), text.clone())
            .prop_map(|(place, text)| StepCondition::Text(place, text)),
        (
            prop::sample::select(vec![None, Some("count".to_owned()), Some("total".to_owned())]),
            prop::sample::select(vec![Comparison::AtLeast, Comparison::Less, Comparison::Equal]),
            prop::sample::select(vec![3.0, 7.0, 12.0]),
        )
            .prop_map(|(key, by, number)| StepCondition::Number(key, by, number)),
        Just(StepCondition::Same),
    ];
    (word, tools, prop::option::of(condition), prop::option::of(text)).prop_map(
        |(word, tools, condition, text)| {
            let own = text.map(|text| StepCondition::Text(StepText::Own, text));
            let is_call = matches!(word, StepWord::Call | StepWord::Program);
            let conditions = if is_call { condition } else { own };
            let tools = Some(tools).filter(|name| !name.is_empty() && word == StepWord::Call);
            let pattern = |name: &str| Pattern(name.split('*').map(str::to_owned).collect());
            StepPattern {
                word,
                tools: tools.map(pattern).into_iter().collect(),
                conditions: conditions.into_iter().collect(),
            }
        },
    )
}

fn any_question() -> impl Strategy<Value = StepQuestion> {
    let place = prop::sample::select(vec![Place::Later, Place::Later, Place::Next, Place::Never]);
    let steps = prop::collection::vec((place, any_pattern()), 1..4);
    let count = (
        prop::sample::select(vec![Comparison::AtLeast, Comparison::Less, Comparison::Equal]),
        prop::sample::select(vec![0.0, 1.0, 2.0]),
    );
    let answer = prop::option::of(any::<bool>());
    (steps, prop::option::of(count), answer).prop_map(|(steps, count, answer)| {
        let mut all: Vec<SequenceStep> = Vec::new();
        for (place, mut pattern) in steps {
            let after_never = all.last().is_some_and(|last| last.place == Place::Never);
            let place = match place {
                _ if all.is_empty() => Place::Later,
                Place::Next if after_never => Place::Later,
                place => place,
            };
            let last = all.iter().rfind(|step| step.place != Place::Never);
            if last.is_none_or(|last| last.pattern.word != pattern.word) {
                pattern.conditions.retain(|condition| *condition != StepCondition::Same);
            }
            all.push(SequenceStep { place, pattern });
        }
        let count = count.filter(|_| all.len() == 1);
        if let (None, Some(answer)) = (count, answer) {
            let place = if answer { Place::Later } else { Place::Never };
            let pattern =
                StepPattern { word: StepWord::Answer, tools: Vec::new(), conditions: Vec::new() };
            all.push(SequenceStep { place, pattern });
        }
        StepQuestion { steps: all, count }
    })
}

/// Returns the names of the runs that a reading of them finds.
fn read_all(runs: &[(&str, &str)], filter: &Filter) -> String {
    let passes = |lines: &str| {
        let run = run(lines);
        let steps = read(&run);
        filter.tokens.iter().all(|token| match &token.ask {
            Ask::Steps(question) => holds(question, &steps, run.answer.is_some()) != token.negated,
            _ => unreachable!("only questions are asked here"),
        })
    };
    let names = runs.iter().filter(|(_, lines)| passes(lines)).map(|(name, _)| *name);
    names.collect::<Vec<_>>().join(" ")
}

fn found_by(reader: &Reader<'_>, filter: &str) -> String {
    let page = Lists::default().list(reader, &request(filter, Column::Path, false)).unwrap();
    assert_eq!(page.misread, vec![], "{filter}");
    paths(&page)
}

proptest! {
    #![proptest_config(ProptestConfig::with_cases(20))]
    #[test]
    fn the_index_answers_like_a_reading_of_the_whole_runs(
        lines in prop::collection::vec(any_run(), 1..8),
        questions in prop::collection::vec((any_question(), any::<bool>()), 1..24),
        changed in prop::collection::vec((any_run(), 0..3_u8), 1..8),
    ) {
        let names: Vec<String> = (0..lines.len()).map(|at| format!("run{at}")).collect();
        let runs: Vec<(&str, &str)> =
            names.iter().zip(&lines).map(|(name, lines)| (name.as_str(), lines.as_str())).collect();
        let token = |(question, negated): &(StepQuestion, bool)| Token {
            negated: *negated,
            ask: Ask::Steps(question.clone()),
        };
        // Each question alone, and pairs of them.
        let filters: Vec<Filter> = questions
            .iter()
            .map(std::slice::from_ref)
            .chain(questions.chunks_exact(2))
            .map(|some| Filter { tokens: some.iter().map(token).collect(), invalid: false })
            .collect();
        let mut shelf = index(&runs);
        for complete in [false, true] {
            if complete {
                shelf.complete();
            }
            for filter in &filters {
                let text = filter.to_string();
                prop_assert_eq!(found(&shelf, &text), read_all(&runs, filter), "{} {:?}", text, lines);
            }
        }
        // Runs are added, replaced and deleted, and become something that is no run.
        let before = runs.clone();
        let index = shelf.index();
        let held = index.reader().unwrap();
        let mut now = runs;
        let mut others = Vec::new();
        let more: Vec<String> = (0..changed.len()).map(|at| format!("more{at}")).collect();
        for ((lines, change), name) in changed.iter().zip(&more) {
            if let Some((old, _)) = now.first().filter(|_| *change > 0) {
                shelf.remove(old, *change == 2);
                others.extend((*change == 2).then_some(*old));
                now.remove(0);
            }
            shelf.add(&[test_run(name, lines)]);
            now.push((name, lines));
        }
        now.sort_unstable();
        for filter in &filters {
            let text = filter.to_string();
            let mut expected: Vec<String> =
                read_all(&now, filter).split_whitespace().map(str::to_owned).collect();
            if filter.tokens.iter().all(|token| token.negated) {
                expected.extend(others.iter().map(|name| (*name).to_owned()));
            }
            expected.sort_unstable();
            prop_assert_eq!(found(&shelf, &text), expected.join(" "), "{} {:?}", text, changed);
            // Who still holds the snapshot from before is answered from it.
            prop_assert_eq!(found_by(&held, &text), read_all(&before, filter), "{}", text);
        }
    }
}
