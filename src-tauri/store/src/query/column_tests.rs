//! Compares answers from columns in memory with those of SQL, after any changes of the index.
use super::tests::COLUMNS;
use super::*;
use crate::filter::Ask;
use crate::overview::Leader;
use crate::test_index::TestIndex;
use proptest::prelude::*;
use proptest::sample::select;
use touchstone_api::{OverviewRequest, OverviewView};

/// A change of the index: values of the columns of a run, or nothing for a run that is deleted.
type Change = (u8, Option<Vec<(&'static str, String)>>);

/// Columns with values that runs have, in SQL.
fn values() -> Vec<(&'static str, &'static [&'static str])> {
    vec![
        ("path", &["'a/x.yaml'", "'A/y.yaml#m'", "'b%_[*]é/é.yaml#m'", "'f.json#a'||char(0)||'b'"]),
        ("task", &["NULL", "'refunds'", "'Refunds/é'", "'a%b_c'", "''"]),
        ("system", &["NULL", "'promptql'", "'tool_calling'"]),
        ("model", &["NULL", "'o1'", "'O1-mini'", "'replay'"]),
        ("variation", &["NULL", "0", "1", "300", "5000000000"]),
        ("variation_name", &["NULL", "'1'", "'last 20'"]),
        ("repeat", &["1", "2", "200", "70000"]),
        ("layout", &["'tool_calling'", "'evaluated'", "'raw_answer'", "''"]),
        ("member", &["NULL", "'m'", "'é'", "'a'||char(0)||'b'"]),
        ("turns", &["0", "1", "7", "128", "40000"]),
        ("tool_calls", &["0", "3"]),
        ("failed_calls", &["0", "1"]),
        ("nudges", &["0", "2"]),
        ("fork", &["0", "3"]),
        ("lineage", &["NULL", "'fork'", "'superseded'"]),
        ("missing_calls", &["'[]'", "'[\"sql\"]'", "'[\"a\\\"b\",\"sql\"]'"]),
        (
            "tools",
            &["''", "char(10)||'sql'||char(10)", "char(10)||'query_a'||char(10)||'SQL'||char(10)"],
        ),
        ("tokens", &["NULL", "0", "10000", "3000000000", "9007199254740993"]),
        ("cost", &["NULL", "0", "-0.0", "0.5", "0.1", "1e300"]),
        ("seconds", &["NULL", "60", "59.999999999", "9e999"]),
        ("size", &["100", "1000000", "9223372036854775807"]),
        ("modified_ms", &["0", "1772409600000", "1772409599999", "-1", "99999999999999"]),
        ("started", &["NULL", "1772409600.0", "1772323199.9996", "-62167219201.0", "1e18"]),
        ("has_answer", &["0", "1"]),
        ("scoring", &["NULL", "'scored'", "'error'"]),
        ("scorer", &["NULL", "'fields'", "'text'"]),
        ("score", &["NULL", "0.0", "0.5", "1.0", "0.30000000000000004"]),
        ("passed", &["NULL", "0", "1"]),
        ("class", &["NULL", "'wrong_answer'", "'timeout'"]),
        ("verdict", &["NULL", "'right'", "'wrong'"]),
        ("review_score", &["NULL", "0.5"]),
        ("stored_share", &["NULL", "0.0", "0.5"]),
        ("steps", &["0", "21"]),
        ("commit_name", &["NULL", "'4f1c'", "'4F1C-dirty'"]),
        ("tags", &["''", "char(10)||'smoke'||char(10)"]),
        ("suite_tags", &["''", "char(10)||'hard'||char(10)||'smoke'||char(10)"]),
        ("words", &["0", "1"]),
    ]
}

fn change() -> impl Strategy<Value = Change> {
    let value = select(values()).prop_flat_map(|(column, all)| {
        select(all).prop_map(move |value| (column, value.to_owned()))
    });
    let state = (0..7_usize).prop_map(|at| ("state", at.to_string()));
    let some = prop::collection::vec(prop_oneof![9 => value, 1 => state], 0..9);
    (1..40_u8, prop_oneof![5 => some.prop_map(Some), 1 => Just(None)])
}

fn apply(index: &TestIndex, (id, values): &Change) {
    let Some(values) = values else {
        return index.change(&format!("DELETE FROM runs WHERE id = {id}"));
    };
    let key =
        if id % 5 == 0 { format!("key {id}") } else { format!("{:016x}", u64::from(*id) * 77) };
    index.change(&format!(
        "INSERT OR IGNORE INTO runs (id, key, path, unit, layout, repeat, state, state_order, turns, tool_calls,
         failed_calls, nudges, missing_calls, tools, size, modified_ms, has_answer, content_hash, text_offset,
         text_len, unfinished)
         VALUES ({id}, '{key}', '{id}', 0, 'tool_calling', 1, 'answered', 0, 1, 0, 0, 0, '[]', '', 100, {id}, 0, 0, 0, 0, 0)"
    ));
    for (column, value) in values {
        let set = match *column {
            // Paths may be equal.
            "path" => format!("path = '{}' || {value}", id % 3),
            "state" => {
                let at: usize = value.parse().unwrap();
                format!("state = '{}', state_order = {at}", crate::filter::STATES[at].1)
            }
            column => format!("{column} = {value}"),
        };
        index.change(&format!("UPDATE runs SET {set} WHERE id = {id}"));
    }
}

fn token() -> impl Strategy<Value = String> {
    let text = |key: &'static str| {
        let all = [
            "refunds*",
            "*s*",
            "a%b_c",
            "*",
            "1",
            "o1,*mini",
            "sql",
            "query_*",
            "*a*b*",
            "a/x.yaml",
            "evaluated",
            "*é",
            "É*",
            "\"last 20\"",
            "0",
            "300",
            "*.yaml",
            "*m",
            "?x*",
            "[*",
            "smoke",
            "a\\\"b",
            "4f1c*",
            "A/*",
            "y",
            "1a/x.yaml",
            "1f.json",
            "fields",
            "*[[]*",
        ];
        select(all.to_vec()).prop_map(move |value| format!("{key}:{value}"))
    };
    let texts = [
        "task",
        "system",
        "model",
        "scorer",
        "format",
        "commit",
        "tool",
        "missing",
        "tag",
        "variation",
        "path",
        "file",
    ];
    let numbers =
        ["score", "cost", "seconds", "repeat", "turns", "calls", "steps", "tokens", "size"];
    let number = (
        select(numbers.to_vec()),
        select(vec!["", "<", "<=", ">=", ">"]),
        select(vec![
            "0",
            "0.5",
            "0.1",
            "1",
            "7",
            "128",
            "10k",
            "60",
            "9007199254740992",
            "0.3",
            "1e300",
            "2.5",
        ]),
    );
    let others = vec![
        "state:answered",
        "state:error,other",
        "state:other",
        "passed:yes",
        "passed:no",
        "class:timeout",
        "review:yes",
        "review:no",
        "review:wrong",
        "scoring:scored,error",
        "nudged:yes",
        "nudged:no",
        "forked:yes",
        "forked:no",
        "superseded:yes",
        "superseded:no",
        "failed:yes",
        "failed:no",
        "answer:yes",
        "answer:no",
        "missing:yes",
        "missing:no",
        "started:2026-03-02",
        "started:<2026-03",
        "started:>=2026",
        "started:<=2026-03-01",
        "started:1970",
        "started:<0001",
        "stored:x",
    ];
    let token = prop_oneof![
        4 => select(texts.to_vec()).prop_flat_map(text),
        2 => number.prop_map(|(key, by, number)| format!("{key}:{by}{number}")),
        3 => select(others).prop_map(str::to_owned),
    ];
    (any::<bool>(), token).prop_map(|(no, token)| format!("{}{token}", if no { "-" } else { "" }))
}

/// Returns the ids of a list as SQL finds them.
fn expected(index: &Reader<'_>, filter: &Filter, sort: &Sort) -> Vec<i64> {
    let passing = labels::by_sql(index, filter, None).unwrap();
    let order = order::order(index, sort).unwrap();
    order.into_iter().filter(|id| passing.contains(*id)).collect()
}

proptest! {
    #[test]
    fn lists_are_those_of_sql_after_any_changes(
        steps in prop::collection::vec(
            (
                prop::collection::vec(change(), 0..12),
                prop::collection::vec(token(), 0..3),
                select(COLUMNS.to_vec()),
                any::<bool>(),
            ),
            1..12,
        ),
    ) {
        let index = TestIndex::new();
        let lists = Lists::default();
        let held = index.reader();
        for (changes, tokens, column, descending) in &steps {
            for change in changes {
                apply(&index, change);
            }
            let reader = index.reader();
            let columns = reader.columns();
            let runs = reader.query_row("SELECT count(*) FROM runs", [], |row| row.get::<_, u32>(0));
            let kept = columns.as_ref().map(|columns| u32::try_from(columns.runs()).unwrap());
            prop_assert_eq!(kept, Some(runs.unwrap()));
            // From here on, these facts follow the changes.
            reader.column_cache().facts(&columns.unwrap());
            let typed = tokens.join(" ");
            let (mut filter, _) = lists.parse(&typed);
            // A quote in one token and another in the next make words between them, which no column has.
            filter.tokens.retain(|token| !matches!(token.ask, Ask::Text(_)));
            for (filter, column) in [(filter, column.clone()), (Filter::default(), Column::Turns)] {
                let sort = Sort { column, descending: *descending };
                let asked = lists.prepared(filter.clone());
                let ids = lists.ids(&reader, &asked, &sort).unwrap();
                prop_assert_eq!(&*ids, &expected(&reader, &filter, &sort), "{} {:?}", typed, sort);
                let all = lists.order(&reader, &sort).unwrap();
                prop_assert_eq!(&*all, &order::order(&reader, &sort).unwrap(), "{:?}", sort);
            }
        }
        let reader = index.reader();
        let columns = reader.columns().unwrap();
        prop_assert_eq!(
            facets::Counts::from_columns(&columns),
            facets::Counts::from_sql(&reader).unwrap()
        );
        let request = OverviewRequest {
            filter: String::new(),
            scorer: None,
            folded: false,
            except: Vec::new(),
            find: None,
            span: Span { offset: 0, limit: 500 },
            view: OverviewView::default(),
        };
        let suites = Arc::default();
        let overview = |lists: &Lists| lists.overview(&index.reader(), &suites, &request).unwrap();
        let leaders = || {
            let (leaders, _) = Lists::default().leaders(&index.reader(), &suites, ("", None)).unwrap();
            let summary = |leader: &Leader| (leader.filter.clone(), leader.summary.clone());
            leaders.all.iter().map(summary).collect::<Vec<_>>()
        };
        let (by_columns, leaders_by_columns) = (overview(&Lists::default()), leaders());
        index.index().limit_columns(0);
        let (by_sql, leaders_by_sql) = (overview(&Lists::default()), leaders());
        prop_assert!(index.reader().columns().is_none());
        prop_assert_eq!(
            serde_json::to_string(&by_columns).unwrap(),
            serde_json::to_string(&by_sql).unwrap()
        );
        prop_assert_eq!(leaders_by_columns, leaders_by_sql);
        prop_assert!(held.columns().is_none_or(|columns| columns.runs() == 0));
    }
}
