//! Compares the measures of `StableToolBench` with the original system. Its files are not part of
//! the repository; without them the tests do nothing.
#![expect(clippy::unwrap_used, reason = "a file that cannot be read fails the test")]
use std::collections::BTreeMap;
use std::path::{Path, PathBuf};
use touchstone_formats::stabletoolbench::{Api, Query, names, read_api_name};
use touchstone_judges::stabletoolbench::{
    ApiCalls, Called, Finish, FinishRule, Offered, SETS, Visibility, literal, published, sanitized,
};
use touchstone_model::json;
use touchstone_model::run::ApiName;
use touchstone_model::value::Value;

fn golden(name: &str) -> PathBuf {
    Path::new(env!("CARGO_MANIFEST_DIR")).join("../../../shared/golden/stabletoolbench").join(name)
}

fn text(name: &str) -> Option<String> {
    let file = golden(name);
    let text = std::fs::read_to_string(&file).ok();
    if text.is_none() {
        eprintln!("skipped: there is no {}", file.display());
    }
    text
}

fn lines(name: &str) -> Vec<Value> {
    text(name).unwrap_or_default().lines().map(|line| json::read(line).unwrap()).collect()
}

fn word(value: &Value, key: &str) -> String {
    match value.get(key) {
        Some(Value::Text(text) | Value::Number(text)) => text.clone(),
        other => panic!("{key} is {other:?}"),
    }
}

fn number(value: Option<&Value>) -> Option<f64> {
    match value? {
        Value::Number(text) => text.parse().ok(),
        _ => None,
    }
}

fn words(value: &Value, key: &str) -> Vec<String> {
    value.get(key).unwrap().items().iter().map(|item| item.text().unwrap().to_owned()).collect()
}

fn pairs(value: &Value, key: &str) -> Vec<ApiName> {
    value.get(key).unwrap().items().iter().map(|pair| read_api_name(pair).unwrap()).collect()
}

/// Returns all queries by set and id.
fn queries() -> BTreeMap<String, (String, Query)> {
    let mut all = BTreeMap::new();
    for (set, _) in SETS {
        let Some(text) = text(&format!("solvable_queries/test_instruction/{set}.json")) else {
            continue;
        };
        for entry in json::read(&text).unwrap().items() {
            let query = Query {
                id: word(entry, "query_id"),
                gold: pairs(entry, "relevant APIs"),
                apis: entry.get("api_list").unwrap().items().iter().map(Api::read).collect(),
                ..Query::default()
            };
            all.insert(query.id.clone(), (set.to_owned(), query));
        }
    }
    all
}

#[test]
fn every_gold_api_is_found_by_the_name_of_its_function() {
    let (queries, mut cases, mut gold_pairs, mut shared) = (queries(), 0, 0, 0);
    for case in lines("gold_mapping.jsonl") {
        let (set, query) = &queries[&word(&case, "query_id")];
        assert_eq!(*set, word(&case, "test_set"));
        let offered = Offered::from_query(query);
        assert_eq!(offered.gold.len().to_string(), word(&case, "gold_distinct"));
        for gold in case.get("gold").unwrap().items() {
            let pair = read_api_name(gold).unwrap();
            let name = names::function_name(&pair.tool, &pair.api);
            assert_eq!(name, word(gold, "function_name"));
            assert_eq!(sanitized(&word(gold, "seed_name")), word(gold, "seed_sanitized"));
            let found = offered.find(&name).unwrap();
            let mut candidates = vec![found.first.clone()];
            candidates.extend(found.others.into_iter().cloned());
            assert_eq!(candidates, pairs(gold, "candidates"), "{name}");
            let is_shared = gold.get("ambiguous") == Some(&Value::Bool(true));
            assert_eq!(offered.shared().contains(&&pair), is_shared, "{name}");
            for (name, right) in
                [("seed_name", "seed_split_ok"), ("seed_sanitized", "seed_sanitized_split_ok")]
            {
                let alone = Offered { apis: vec![pair.clone()], gold: vec![pair.clone()] };
                let split = literal(&alone, [word(gold, name).as_str()]) > 0.5;
                assert_eq!(Some(&Value::Bool(split)), gold.get(right), "{name} of {pair:?}");
                let called = ApiCalls::count(&alone, [Called::Name(&word(gold, name))]);
                assert_eq!(called.score(), Some(1.0), "{name} of {pair:?}");
            }
            gold_pairs += 1;
            shared += usize::from(is_shared);
        }
        cases += 1;
    }
    println!("cases: {cases} with {gold_pairs} gold APIs, {shared} of them ambiguous");
    assert!(cases == 0 || (gold_pairs >= cases && shared > 0));
}

#[test]
fn api_call_scores_are_those_of_the_original_answers() {
    let (queries, mut cases) = (queries(), 0);
    for case in lines("api_scores.jsonl") {
        let known = queries.get(&word(&case, "query_id"));
        let Some((_, query)) = known else { panic!("the query is not known: {case:?}") };
        let offered = Offered::from_query(query);
        let called = words(&case, "called_names");
        let counts = ApiCalls::count(&offered, called.iter().map(|name| Called::Name(name)));
        let sorted = |mut pairs: Vec<ApiName>| {
            pairs.sort();
            pairs
        };
        assert_eq!(sorted(counts.hits.clone()), sorted(pairs(&case, "hits")));
        let all = [counts.hits.clone(), counts.extra.clone()].concat();
        assert_eq!(sorted(all), sorted(pairs(&case, "called_pairs_first")));
        assert_eq!(counts.unknown, words(&case, "unknown_names"));
        assert_eq!(counts.score(), number(case.get("api_call_score")));
        assert_eq!(counts.at_most(), number(case.get("api_call_score_any")));
        if let Some(score) = number(case.get("seed_literal_score")) {
            assert!((literal(&offered, called.iter().map(String::as_str)) - score).abs() < 1e-12);
        }
        cases += 1;
    }
    println!("cases: {cases}");
}

#[test]
fn answers_that_call_finish_are_finished() {
    let mut cases = 0;
    for case in lines("legacy_called_names.jsonl") {
        let names = words(&case, "called_names");
        let finish = Finish::from_calls(names.iter().map(|name| (name.as_str(), None)));
        let is = finish.holds(FinishRule::Document);
        assert_eq!(Some(&Value::Bool(is)), case.get("has_finish"), "{case:?}");
        // These answers end with `Finish`.
        assert_eq!(finish.holds(FinishRule::Official), is, "{case:?}");
        cases += 1;
    }
    println!("cases: {cases}");
}

#[test]
fn test_sets_have_as_many_queries_as_is_said() {
    let Some(text) = text("data_table.json") else { return };
    let mut cases = 0;
    for row in json::read(&text).unwrap().items() {
        let Some((_, queries)) = SETS.iter().find(|(set, _)| *set == word(row, "test_set")) else {
            continue;
        };
        assert_eq!(queries.to_string(), word(row, "queries"));
        cases += 1;
    }
    println!("cases: {cases}");
    assert_eq!(cases, SETS.len());
}

#[test]
fn published_figures_are_as_they_were_printed() {
    let Some(text) = text("published_results.json") else { return };
    let all = json::read(&text).unwrap();
    let theirs = all.get("rows").unwrap().items();
    assert_eq!(theirs.len(), published().len());
    for (row, ours) in theirs.iter().zip(published()) {
        let said = |key: &str| row.get(key).and_then(Value::text);
        assert_eq!((Some(ours.file), ours.line.to_string()), (said("source"), word(row, "line")));
        assert_eq!(
            (Some(ours.section), Some(ours.metric.name())),
            (said("section"), said("metric"))
        );
        assert_eq!((ours.judge, ours.against), (said("evaluator"), said("reference_model")));
        assert_eq!(Some(ours.system), said("method"));
        let hidden = Value::Bool(ours.standing == Visibility::Hidden);
        assert_eq!(row.get("commented_out"), Some(&hidden));
        let sets = SETS.iter().map(|(set, _)| *set).zip(ours.sets);
        for (set, figure) in sets.chain([("average", ours.average)]) {
            let theirs = row.get("scores").unwrap().get(set).unwrap();
            let numbers = (number(theirs.get("value")), number(theirs.get("std")));
            assert_eq!((Some(figure.value), figure.deviation), numbers, "{} {set}", ours.system);
            assert_eq!(theirs.get("bold"), Some(&Value::Bool(figure.bold)));
        }
        let near =
            |ours: f64, key: &str| (ours - number(row.get(key)).unwrap()).abs() < 0.005 + 1e-9;
        assert!(
            near(ours.mean(), "recomputed_mean_of_six")
                && near(ours.weighted(), "recomputed_weighted_by_queries")
        );
        assert_eq!(row.get("average_is_plain_mean"), Some(&Value::Bool(ours.average_is_mean())));
    }
    println!("cases: {}", theirs.len());
}
