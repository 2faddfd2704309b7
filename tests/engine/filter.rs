//! Tests of the filter: parsing, reports of invalid tokens, and the runs that match.
use proptest::prelude::*;
use rusqlite::types::{ToSqlOutput, Value};
use rusqlite::{Connection, params_from_iter};
use std::collections::BTreeSet;
use touchstone_api::StoredResult;
use touchstone_store::filter::{
    Ask, Comparison, Filter, FilterValue, KEYS, Key, LabelCondition, OwnColumn, Param, Pattern,
    STATES, TextMatch, Token, ValueKind, VerdictCondition, key_rule,
};

fn printed(typed: &str) -> String {
    let (filter, misread) = Filter::parse(typed);
    let notes = misread.iter().map(|note| format!("{} → {}", note.token, note.message));
    std::iter::once(filter.to_string()).chain(notes).collect::<Vec<_>>().join("\n")
}

fn misread(typed: &str) -> String {
    Filter::parse(typed).1.into_iter().map(|note| note.message).collect::<Vec<_>>().join("\n")
}

#[test]
fn every_key_has_one_rule_and_its_example_reads_without_complaint() {
    let names: BTreeSet<&str> = KEYS.iter().map(|rule| rule.name).collect();
    assert_eq!(names.len(), KEYS.len());
    for rule in &KEYS {
        assert_eq!(key_rule(rule.key).name, rule.name);
        assert_eq!(misread(rule.example), "", "{}", rule.example);
        assert!(rule.example.starts_with(rule.name), "{}", rule.example);
    }
}

#[test]
fn tokens_are_read_and_printed_in_one_form() {
    for (typed, expected) in [
        ("system:tool_calling  model:o1,o3-mini", "system:tool_calling model:o1,o3-mini"),
        ("Model:claude-*", "model:claude-*"),
        ("-state:error !nudged:YES", "-state:error -nudged:yes"),
        (r#"task:"two words" "free text""#, r#"task:"two words" "free text""#),
        (
            "tokens:<10k size:>1mb cost:>$0.5 seconds:2m",
            "tokens:<10000 size:>1000000 cost:>0.5 seconds:120",
        ),
        ("state:no-answer", "state:no_answer"),
        ("started>=2026-03 started:=2026", "started:>=2026-03 started:2026"),
        (r#"missing:yes missing:"yes""#, r#"missing:yes missing:"yes""#),
        (r#"-"not this" -word"#, r#"-"not this" -word"#),
        ("http://x 12:30", r#""http://x" "12:30""#),
        ("-> != --verbose -", r#""->" "!=" "--verbose" "-""#),
        ("stored:Tone stored:*=Fail,\"my tone\"<=03", "stored:Tone stored:*=fail,\"my tone\"<=3"),
        (r#"say:"hello"#, r#""say:hello""#),
        (r#""a \"b\" c\d""#, r#""a \"b\" c\\d""#),
        ("model:o1,", "model:o1"),
        (r#"   "" "#, ""),
    ] {
        assert_eq!(printed(typed), expected, "{typed}");
    }
}

#[test]
fn every_invalid_token_is_told_with_the_nearest_right_one() {
    insta::assert_snapshot!(printed("modle:o* nudged:maybe turns:many state:eror,waiting size: system:promptql"), @r#"
    :invalid
    modle:o* → Unknown key "modle". Did you mean model:o*? To search for the text, put it in quotes.
    nudged:maybe → Unknown nudged "maybe". Write nudged:yes or nudged:no.
    turns:many → “many” is not a number. Write it like turns:>5.
    state:eror,waiting → Unknown state "eror". Did you mean error?
    size: → Write a value after “size:”, without a space between: size:>1mb.
    "#);
    insta::assert_snapshot!(misread("started:2026-13 started:>yesterday started:2026-3"), @r#"
    “2026-13” is not a date. Write it like started:>=2026-03-02.
    “yesterday” is not a date. Write it like started:>=2026-03-02.
    “2026-3” is not a date. Write it like started:>=2026-03-02.
    "#);
    insta::assert_snapshot!(misread("class:wrong_anser review:maybe review:none"), @r#"
    Unknown class "wrong_anser". Did you mean wrong_answer?
    Unknown review "maybe". Write one of right, partly, wrong, yes, no.
    Unknown review "none". Did you mean no?
    "#);
    insta::assert_snapshot!(misread("stored:relevance=pss stored:relevance=x stored:=pass"), @r#"
    Unknown result "pss". Did you mean pass?
    Unknown result "x". Write one of pass, fail, open, error, none after “=”, or a number: stored:relevance<3.
    Write the name of an evaluator before what it said: stored:relevance=fail.
    "#);
    insta::assert_snapshot!(
        misread("state:nonsense"),
        @r#"Unknown state "nonsense". Write one of answered, no_answer, waiting, error, writing, damaged, other, paused."#
    );
    insta::assert_snapshot!(misread("scor<0.5 -scorer:<0.5 state=error state!=error task<5 cost>much"), @r#"
    Unknown key "scor". Did you mean score<0.5? To search for the text, put it in quotes.
    “scorer” takes text, not a comparison. Did you mean score:<0.5? Else put the value in quotes.
    “state” takes no comparison. Did you mean state:error? To search for the text, put it in quotes.
    Unknown key "state!". Did you mean -state:error? To search for the text, put it in quotes.
    “task” takes no comparison. Did you mean task:5? To search for the text, put it in quotes.
    “>much” is not a number. Write it like cost:>0.5.
    "#);
}

#[test]
fn a_filter_with_one_invalid_token_matches_no_run_and_no_slot() {
    let rows = rows();
    for typed in
        ["review:none", "-state:eror", "system:promptql modle:o*", "-score<x", "task:refund size:"]
    {
        let (filter, misread) = Filter::parse(typed);
        assert!(filter.invalid && !misread.is_empty(), "{typed}");
        assert_eq!(passing(&rows, &filter), [0; 0], "{typed}");
        assert!(!filter.asks_only_where(), "{typed}");
    }
}

#[test]
fn a_comparison_needs_no_colon_for_any_key_that_takes_a_number() {
    for rule in KEYS.iter().filter(|rule| matches!(rule.takes, ValueKind::Number(_))) {
        for sign in ["<", "<=", ">", ">=", "="] {
            for negation in ["", "-", "!"] {
                let (with, without) = (
                    format!("{negation}{}:{sign}3", rule.name),
                    format!("{negation}{}{sign}3", rule.name),
                );
                let (expected, none) = Filter::parse(&with);
                assert_eq!(
                    (Filter::parse(&without), none),
                    ((expected, vec![]), vec![]),
                    "{without}"
                );
            }
        }
    }
    assert_eq!(
        printed("-stored:relevance<=3 tokens<10k score>=50%"),
        "-stored:relevance<=3 tokens:<10000 score:>=0.5"
    );
}

#[test]
fn text_with_signs_that_names_no_key_stays_text() {
    for typed in [
        "a<b",
        "x<=5",
        "count<limit",
        "i=>5",
        "1<2",
        "<div>",
        "=>",
        "a=b",
        "http://x",
        "12:30",
        "\"score<0.5\"",
        "\"state:eror\"",
    ] {
        let (filter, misread) = Filter::parse(typed);
        assert_eq!(misread, vec![], "{typed}");
        assert!(
            matches!(&filter.tokens[..], [Token { negated: false, ask: Ask::Text(_) }]),
            "{typed}: {filter}"
        );
    }
}

#[test]
fn a_key_that_is_nearly_right_is_named() {
    for (typed, near) in [
        ("sytem:x", "system:x"),
        ("stat:error", "state:error"),
        ("tol:x", "tool:x"),
        ("tok:>5", "tokens:>5"),
    ] {
        assert!(
            misread(typed).contains(&format!("Did you mean {near}?")),
            "{typed}: {}",
            misread(typed)
        );
    }
}

#[test]
fn a_filter_of_more_than_a_sane_size_is_invalid() {
    assert!(!Filter::parse(&"model:x ".repeat(64)).0.invalid);
    for typed in [
        "model:x ".repeat(65),
        format!("model:{}", "x,".repeat(65)),
        "x".repeat(2_000),
        "model:x ".repeat(5_000),
    ] {
        let (filter, misread) = Filter::parse(&typed);
        assert!(
            filter.invalid && filter.tokens.is_empty() && !misread.is_empty(),
            "{} letters",
            typed.len()
        );
    }
}

const ROWS: &str = r#"
CREATE TABLE runs(id INTEGER PRIMARY KEY, path TEXT, layout TEXT, task TEXT, system TEXT, model TEXT, variation INT,
  variation_name TEXT, repeat INT, state TEXT, turns INT, tool_calls INT, failed_calls INT, nudges INT, missing_calls TEXT,
  tools TEXT, tokens INT, cost REAL, seconds REAL, size INT, has_answer INT,
  score REAL, passed INT, class TEXT, verdict TEXT, review_score REAL, scorer TEXT, scoring TEXT, lineage TEXT,
  state_order INT AS (CASE state WHEN 'other' THEN 6 ELSE 0 END));
INSERT INTO runs VALUES
 (1,'a/refund-x.yaml','tool_calling','refund','tool_calling','o1',0,'last 20',1,'answered',5,3,0,0,'[]',
  char(10)||'query_tickets'||char(10)||'python'||char(10),900,0.5,61,2000000,1,
  0.35,0,'wrong_answer','partly',NULL,'fields','scored',NULL),
 (2,'a/100%_sure.yaml','promptql','Refund','promptql','o3-mini',12,'all',2,'error',1,0,0,0,'["yes","say \"x\""]','',NULL,NULL,NULL,10,0,
  NULL,NULL,'timeout',NULL,0.5,'text: f1','error','fork'),
 (3,'b/broken.yaml',NULL,NULL,NULL,NULL,NULL,NULL,1,'damaged',0,0,0,0,NULL,NULL,NULL,NULL,NULL,7,0,
  NULL,NULL,NULL,NULL,NULL,NULL,NULL,NULL),
 (4,'b/notes.yaml',NULL,NULL,NULL,NULL,NULL,NULL,1,'other',0,0,0,0,NULL,NULL,NULL,NULL,NULL,7,0,
  NULL,NULL,NULL,NULL,NULL,NULL,NULL,NULL),
 (5,'c/d.yaml','tool_calling','ticket','tool_calling','o1',1,NULL,1,'waiting',9,9,2,2,'["query_a"]',
  char(10)||'query_a'||char(10)||'zip'||char(10),20000,0,3.5,1000,0,
  1,1,NULL,'right',NULL,'fields','scored','follow_ups');
ALTER TABLE runs ADD COLUMN member TEXT;
ALTER TABLE runs ADD COLUMN steps INT NOT NULL DEFAULT 7;
UPDATE runs SET steps = 30 WHERE id = 5;
ALTER TABLE runs ADD COLUMN started REAL;
ALTER TABLE runs ADD COLUMN modified_ms INT DEFAULT 1764115200000; -- 2025-11-26
UPDATE runs SET started = 1772409599.5 WHERE id = 1; -- the last second of 2026-03-01
UPDATE runs SET started = 1772409600 WHERE id = 2;
UPDATE runs SET path = 'c/d.yaml#e#f', member = 'e#f' WHERE id = 5;
ALTER TABLE runs ADD COLUMN commit_name TEXT;
ALTER TABLE runs ADD COLUMN tags TEXT NOT NULL DEFAULT '';
ALTER TABLE runs ADD COLUMN suite_tags TEXT NOT NULL DEFAULT '';
UPDATE runs SET commit_name = 'f00d-dirty', tags = char(10)||'a b'||char(10)||'c'||char(10) WHERE id = 1;
UPDATE runs SET suite_tags = char(10)||'c'||char(10) WHERE id = 2;
CREATE TABLE stored(run INT, evaluator TEXT, result TEXT, number REAL);
INSERT INTO stored VALUES (1,'relevance','pass',5),(1,'my tone','error',NULL),(2,'relevance','fail',0.5),(2,'f1<2','open',1),
 (3,'relevance','none',NULL);
"#;

fn passing(rows: &Connection, filter: &Filter) -> Vec<i64> {
    let condition = filter.condition();
    let params = condition.params.into_iter().map(|param| match param {
        Param::Text(text) => ToSqlOutput::Owned(Value::Text(text)),
        Param::Number(number) => ToSqlOutput::Owned(Value::Real(number)),
    });
    let mut query =
        rows.prepare(&format!("SELECT id FROM runs WHERE {} ORDER BY id", condition.sql)).unwrap();
    query
        .query_map(params_from_iter(params), |row| row.get(0))
        .unwrap()
        .map(Result::unwrap)
        .collect()
}

fn rows() -> Connection {
    let rows = Connection::open_in_memory().unwrap();
    rows.execute_batch(ROWS).unwrap();
    rows
}

#[test]
fn each_token_lets_the_right_runs_pass() {
    let rows = rows();
    for (typed, expected) in [
        ("", vec![1, 2, 3, 5]),
        ("task:refund", vec![1, 2]),
        ("task:refund system:promptql", vec![2]),
        ("task:*", vec![1, 2, 5]),
        ("-task:*", vec![3]),
        ("model:o1,o3-mini", vec![1, 2, 5]),
        ("model:o*mini", vec![2]),
        ("-model:o1", vec![2, 3]),
        ("state:other", vec![4]),
        ("state:other,damaged", vec![3, 4]),
        ("-state:other", vec![1, 2, 3, 5]),
        ("variation:1", vec![5]),
        ("variation:\"last 20\"", vec![1]),
        ("repeat:2", vec![2]),
        ("tool:query_*", vec![1, 5]),
        ("tool:query_a", vec![5]),
        ("tool:query", vec![]),
        ("tool:*y*", vec![1, 5]),
        ("path:refund", vec![1]),
        ("path:b/*", vec![3]),
        ("path:100%_", vec![2]),
        ("path:1__%", vec![]),
        ("file:c/d.yaml", vec![5]),
        ("file:c/d", vec![]),
        ("file:d.yaml", vec![]),
        ("file:C/D.yaml", vec![]),
        ("file:a/*", vec![1, 2]),
        ("file:A/*", vec![]),
        ("file:?/d.yaml,[c]/d.yaml", vec![]),
        ("file:a/100%_sure.yaml,b/broken.yaml", vec![2, 3]),
        ("file:many.json", vec![]),
        ("nudged:yes", vec![5]),
        ("failed:no", vec![1, 2, 3]),
        ("missing:yes", vec![2, 5]),
        ("missing:no", vec![1, 3]),
        ("missing:\"yes\"", vec![2]),
        (r#"missing:"say \"x\"""#, vec![2]),
        ("missing:query_*", vec![5]),
        ("answer:yes", vec![1]),
        ("turns:>5", vec![5]),
        ("calls:>=3 calls:<9", vec![1]),
        ("step:>20", vec![5]),
        ("steps<=7 task:*", vec![1, 2]),
        ("tokens:<1000", vec![1]),
        ("-tokens:<1000", vec![2, 3, 5]),
        ("cost:0", vec![5]),
        ("seconds:>1m", vec![1]),
        ("size:>1mb", vec![1]),
        ("started:2026-03-01", vec![1]),
        ("started:2026-03", vec![1, 2]),
        ("started:2025,2026-03-02", vec![2, 3, 5]),
        ("started:>=2026-03-02 started:<2026-03-09", vec![2]),
        ("started<=2025-11", vec![3, 5]),
        ("-started:2026", vec![3, 5]),
        ("format:promptql", vec![2]),
        ("layout:promptql", vec![2]),
        ("commit:f00d*", vec![1]),
        ("commit:f00d", vec![]),
        ("tag:c", vec![1, 2]),
        ("tag:\"a b\"", vec![1]),
        ("tag:b", vec![]),
        ("-tag:*", vec![3, 5]),
        ("score:<0.5", vec![1]),
        ("score:>=100%", vec![5]),
        ("-score:<0.5", vec![2, 3, 5]),
        ("passed:no", vec![1]),
        ("-passed:yes", vec![1, 2, 3]),
        ("class:wrong-answer,TIMEOUT", vec![1, 2]),
        ("-class:timeout", vec![1, 3, 5]),
        ("review:partly,wrong", vec![1]),
        ("review:yes", vec![1, 2, 5]),
        ("review:no", vec![3]),
        ("scorer:fields", vec![1, 5]),
        ("scorer:\"text: f1\" scoring:error", vec![2]),
        ("forked:yes", vec![2, 5]),
        ("forked:no", vec![1, 3]),
        ("-forked:yes", vec![1, 3]),
        ("nonsense:here \"any text\" task:ticket", vec![5]),
        ("score<0.5", vec![1]),
        ("-score<0.5", vec![2, 3, 5]),
        ("turns>5 cost=0", vec![5]),
        ("review:none", vec![]),
        ("-review:none", vec![]),
    ] {
        assert_eq!(passing(&rows, &Filter::parse(typed).0), expected, "{typed}");
    }
}

#[test]
fn what_is_stored_is_asked_for_by_its_evaluator_and_what_came_of_it() {
    let rows = rows();
    for (typed, expected) in [
        ("stored:relevance", vec![1, 2]),
        ("-stored:relevance", vec![3, 5]),
        ("stored:Rel*=pass", vec![1]),
        ("stored:relevance=FAIL,\"my tone\"=error", vec![1, 2]),
        ("stored:relevance=none", vec![3]),
        ("stored:relevance<3", vec![2]),
        ("stored:relevance>=0.5", vec![1, 2]),
        ("stored:relevance=5", vec![1]),
        ("stored:\"f1<2\"", vec![2]),
        ("stored:*=open", vec![2]),
    ] {
        assert_eq!(passing(&rows, &Filter::parse(typed).0), expected, "{typed}");
    }
}

/// Returns a token for every key, and for every word of keys with a closed set of words.
fn closed_tokens() -> Vec<String> {
    let tokens = KEYS.iter().flat_map(|rule| {
        let words: Vec<&str> = match rule.takes {
            ValueKind::State => STATES.iter().map(|(_, name)| *name).collect(),
            ValueKind::Word(words) => words.to_vec(),
            ValueKind::Flag => vec!["yes", "no"],
            _ => vec![],
        };
        let name = rule.name;
        let numbers = matches!(rule.takes, ValueKind::Number(_)).then(|| format!("{name}<5"));
        words
            .into_iter()
            .map(move |word| format!("{name}:{word}"))
            .chain(numbers)
            .chain([rule.example.to_owned()])
    });
    tokens.collect()
}

fn any_wanted(key: Key) -> BoxedStrategy<FilterValue> {
    let text = prop::collection::vec("[a-z0-9 ,:*\"\\\\_%é\u{1}-]{1,6}", 1..3)
        .prop_map(|pieces| FilterValue::Like(Pattern(pieces)));
    let flag = any::<bool>().prop_map(FilterValue::Flag);
    match key_rule(key).takes {
        ValueKind::Text => text.boxed(),
        ValueKind::Stored => {
            let ask = prop_oneof![
                Just(VerdictCondition::Anything),
                prop::sample::select(StoredResult::ALL.to_vec()).prop_map(VerdictCondition::Result),
                (
                    prop::sample::select(vec![
                        Comparison::Less,
                        Comparison::Equal,
                        Comparison::AtLeast
                    ]),
                    0.0..1e3
                )
                    .prop_map(|(by, x)| VerdictCondition::Number(by, x)),
            ];
            let name =
                prop::collection::vec("[a-z0-9 ,:*=<>\"\\\\_%é-]{1,6}", 1..3).prop_map(Pattern);
            (name, ask).prop_map(|(name, ask)| FilterValue::Stored(name, ask)).boxed()
        }
        ValueKind::Label => {
            let by = prop::sample::select(vec![Comparison::Less, Comparison::AtLeast]);
            let condition = prop_oneof![
                Just(LabelCondition::Any),
                prop::collection::vec("[a-z0-9 ,:*=<>\"\\\\_%é-]{1,6}", 1..3)
                    .prop_map(|pieces| LabelCondition::Value(Pattern(pieces))),
                (by, 0.0..1e3).prop_map(|(by, x)| LabelCondition::Number(by, x)),
            ];
            let name = "[a-z0-9 ,:*=<>\"\\\\_%é-]{0,5}[a-z]";
            (name, condition).prop_map(|(name, one)| FilterValue::Label(name, one)).boxed()
        }
        ValueKind::Fact => {
            let condition = prop_oneof![
                Just(LabelCondition::Any),
                prop::collection::vec("[a-z0-9 ,:*=<>\"\\\\_%é-]{1,6}", 1..3)
                    .prop_map(|pieces| LabelCondition::Value(Pattern(pieces))),
            ];
            let key = "[a-z0-9 ,:*=<>\"\\\\_%é-]{0,5}[a-z]".prop_map(OwnColumn::Fact);
            (key, condition).prop_map(|(key, one)| FilterValue::Own(key, one)).boxed()
        }
        ValueKind::StepText => prop_oneof![
            "[a-z0-9 ,:*\"\\\\/_%é-]{1,6}"
                .prop_map(|text| FilterValue::Holds(TextMatch::Text(text))),
            "[a-z ,\"|]{1,6}".prop_map(|text| FilterValue::Holds(TextMatch::Regex(text))),
        ]
        .boxed(),
        ValueKind::State => prop::sample::select(STATES.map(|(state, _)| state).to_vec())
            .prop_map(FilterValue::State)
            .boxed(),
        ValueKind::Word(words) => {
            prop::sample::select(words.to_vec()).prop_map(FilterValue::Word).boxed()
        }
        ValueKind::Flag => flag.boxed(),
        ValueKind::FlagOrText => prop_oneof![text, flag].boxed(),
        ValueKind::Date => {
            let by = prop::sample::select(vec![Comparison::Less, Comparison::Equal]);
            let date = "[0-9]{4}(-0[1-9](-[12][0-9])?)?";
            (by, date).prop_map(|(by, date)| FilterValue::Date(by, date)).boxed()
        }
        ValueKind::Number(_) => {
            use Comparison::{AtLeast, AtMost, Equal, Less, More};
            let by = prop::sample::select(vec![AtLeast, AtMost, Equal, Less, More]);
            (by, prop_oneof![0.0..1e9, (0u32..20).prop_map(f64::from)])
                .prop_map(|(by, x)| FilterValue::Number(by, x))
                .boxed()
        }
    }
}

fn any_token() -> impl Strategy<Value = Token> {
    let value = prop::sample::select(KEYS.map(|rule| rule.key).to_vec()).prop_flat_map(|key| {
        prop::collection::vec(any_wanted(key), 1..4).prop_map(move |wanted| Ask::Value(key, wanted))
    });
    let text = "[a-z:*\"\\\\ é>!-]{0,8}[a-z\"]".prop_map(Ask::Text);
    (any::<bool>(), prop_oneof![3 => value, 1 => text])
        .prop_map(|(negated, ask)| Token { negated, ask })
}

proptest! {
    #[test]
    fn reading_never_fails_and_what_is_printed_reads_back(typed in "\\PC{0,60}|[a-z:,*\"\\\\ !<>=0-9-]{0,60}") {
        let (filter, misread) = Filter::parse(&typed);
        prop_assert_eq!(filter.invalid, !misread.is_empty());
        if filter.invalid {
            prop_assert!(passing(&rows(), &filter).is_empty());
            prop_assert!(misread.iter().all(|note| !note.message.is_empty()));
            return Ok(());
        }
        let (again, misread) = Filter::parse(&filter.to_string());
        prop_assert_eq!(&again, &filter, "{}", filter);
        prop_assert_eq!(misread, vec![]);
    }

    #[test]
    fn one_wrong_letter_in_a_key_or_a_word_is_never_silently_everything(
        (typed, at) in prop::sample::select(closed_tokens()).prop_flat_map(|typed| {
            let letters = typed.chars().count();
            (Just(typed), 0..letters)
        }),
        edit in prop_oneof![
            "[a-z0-9]".prop_map(|letter| (0, letter)),
            "[a-z0-9]".prop_map(|letter| (1, letter)),
            Just((1, String::new())),
        ],
        negated in any::<bool>(),
    ) {
        let mut letters: Vec<String> = typed.chars().map(String::from).collect();
        prop_assume!(letters[at].chars().all(char::is_alphabetic));
        letters.splice(at..at + edit.0, [edit.1]);
        let typed = format!("{}{}", if negated { "-" } else { "" }, letters.concat());
        let (filter, misread) = Filter::parse(&typed);
        // Either it is reported, or it asks for exactly another valid key or word.
        let asks = matches!(&filter.tokens[..], [Token { ask: Ask::Value(..), .. }]);
        prop_assert!(!misread.is_empty() || asks, "{typed} reads as {filter}");
        prop_assert_eq!(filter.invalid, !misread.is_empty());
    }

    #[test]
    fn every_filter_prints_as_text_that_reads_back(tokens in prop::collection::vec(any_token(), 0..5)) {
        let filter = Filter { tokens, invalid: false };
        let (again, misread) = Filter::parse(&filter.to_string());
        prop_assert_eq!(again, filter);
        prop_assert_eq!(misread, vec![]);
    }

    #[test]
    fn a_token_and_its_negation_share_no_run_and_leave_none_out(token in any_token()) {
        // Texts are not decided by columns.
        let texts = |key: Key| {
            matches!(key, Key::Said | Key::Asked | Key::Args | Key::Result | Key::Label | Key::Fact)
        };
        prop_assume!(!matches!(&token.ask, Ask::Text(_) | Ask::Value(Key::State, _)));
        prop_assume!(!matches!(&token.ask, Ask::Value(key, _) if texts(*key)));
        let rows = rows();
        let pass = |negated| passing(&rows, &Filter { tokens: vec![Token { negated, ask: token.ask.clone() }], invalid: false });
        let mut both = [pass(true), pass(false)].concat();
        both.sort_unstable();
        prop_assert_eq!(both, vec![1, 2, 3, 5]);
    }

    #[test]
    fn one_more_token_never_lets_more_runs_pass(tokens in prop::collection::vec(any_token(), 1..4)) {
        let asks_for_others = |token: &Token| matches!(&token.ask, Ask::Value(Key::State, _));
        prop_assume!(!tokens.iter().any(asks_for_others));
        let rows = rows();
        let all = passing(&rows, &Filter { tokens: tokens.clone(), invalid: false });
        let fewer = passing(&rows, &Filter { tokens: tokens[1..].to_vec(), invalid: false });
        prop_assert!(all.iter().all(|id| fewer.contains(id)));
    }
}

#[test]
fn a_condition_that_is_torn_by_a_space_or_written_with_other_signs_is_invalid_and_told_how_to_write_it()
 {
    for (typed, meant) in [
        ("score < 0.5", "score<0.5"),
        ("score <0.5", "score<0.5"),
        ("-Score >= 0.5", "-score>=0.5"),
        ("review :none", "review:none"),
        ("review : none", "review:none"),
        ("score\u{2264}0.5", "score<=0.5"),
        ("score \u{2265} 0.5", "score>=0.5"),
    ] {
        let (filter, notes) = Filter::parse(typed);
        assert!(filter.invalid && notes.len() == 1, "{typed}: {notes:?}");
        assert!(notes[0].message.contains(&format!(": {meant}. ")), "{typed}: {notes:?}");
    }
    for text in [
        "score",
        "score of 5",
        "\"score\" <0.5",
        "score \"<0.5\"",
        "count < 3",
        "a <b",
        "score and < 5",
    ] {
        let (filter, notes) = Filter::parse(text);
        assert!(!filter.invalid, "{text}: {notes:?}");
        assert_eq!(Filter::parse(&filter.to_string()).0, filter, "{text}");
    }
}
