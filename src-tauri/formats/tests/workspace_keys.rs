//! Tests of the keys of `touchstone.yaml`: errors for unknown keys and for invalid values.
use std::collections::BTreeSet;
use touchstone_formats::workspace::{self, schema};
use touchstone_model::error::ReadError;

/// Returns every section with the lines above its keys, the indentation depth of the keys, and
/// further required lines.
fn sections() -> Vec<(&'static schema::Section, &'static str, usize, &'static str)> {
    vec![
        (&schema::WORKSPACE, "", 0, ""),
        (&schema::RUN, "run:\n", 1, ""),
        (&schema::NUDGE, "run:\n  nudge:\n", 2, ""),
        (&schema::QUERIES, "queries:\n", 1, ""),
        (&schema::IMPORTS, "imports:\n", 1, ""),
        (&schema::IMPORTED_FILE, "imports:\n  files:\n    x:\n", 3, ""),
        (&schema::MODEL, "models:\n  m:\n", 2, ""),
        (&schema::PRICE, "models:\n  m:\n    price:\n", 3, "      input: 1\n      output: 2\n"),
        (&schema::THINKING, "models:\n  m:\n    thinking:\n", 3, ""),
        (&schema::SYSTEMS, "systems:\n", 1, ""),
        (&schema::TOOL_CALLING, "systems:\n  tool_calling:\n", 2, ""),
        (&schema::PROMPTQL, "systems:\n  promptql:\n", 2, ""),
        (&schema::DDN, "systems:\n  promptql:\n    ddn:\n", 3, ""),
        (&schema::SQL, "tools:\n  t:\n", 2, "    kind: sql\n"),
        (&schema::MCP, "tools:\n  t:\n", 2, "    kind: mcp\n"),
        (&schema::VIRTUAL, "tools:\n  t:\n", 2, "    kind: virtual\n"),
    ]
}

/// Returns misspellings of a key: one letter dropped, doubled, or swapped with the next.
fn slips(key: &str) -> BTreeSet<String> {
    let letters: Vec<char> = key.chars().collect();
    let mut all = BTreeSet::new();
    for at in 0..letters.len() {
        let mut dropped = letters.clone();
        dropped.remove(at);
        let mut doubled = letters.clone();
        doubled.insert(at, letters[at]);
        let mut swapped = letters.clone();
        swapped.swap(at, (at + 1).min(letters.len() - 1));
        all.extend(
            [dropped, doubled, swapped].map(|letters| letters.into_iter().collect::<String>()),
        );
    }
    all.remove(key);
    all.remove("");
    all
}

fn faults(text: &str) -> Vec<ReadError> {
    workspace::read(text).unwrap_or_else(|why| panic!("{why}\n{text}")).faults
}

#[test]
fn every_slip_in_a_key_is_reported_with_its_line_and_the_key_that_was_meant() {
    let mut tried = 0;
    for (section, above, depth, beside) in sections() {
        for key in section.names().filter(|key| *key != "kind") {
            for slip in slips(key).into_iter().filter(|slip| !section.has(slip)) {
                // Missing keys of a price are also reported.
                let beside: String = beside
                    .lines()
                    .filter(|line| !line.trim().starts_with(&format!("{key}:")))
                    .fold(String::new(), |text, line| text + line + "\n");
                let text = format!("# a file\n{above}{beside}{}\"{slip}\": \n", "  ".repeat(depth));
                let found = faults(&text);
                let line = u32::try_from(text.lines().count()).unwrap();
                let fault = found
                    .iter()
                    .find(|fault| fault.message.starts_with(&format!("`{slip}` is not a key of")));
                let fault = fault.unwrap_or_else(|| panic!("{found:?}\n{text}"));
                assert_eq!(
                    fault.advice.as_deref(),
                    Some(&*format!("Did you mean `{key}`?")),
                    "{text}"
                );
                assert_eq!(
                    (fault.line, fault.column),
                    (Some(line), Some(u32::try_from(depth * 2 + 1).unwrap())),
                    "{text}"
                );
                tried += 1;
            }
        }
    }
    assert!(tried > 1000, "{tried}");
}

#[test]
fn keys_that_are_right_are_no_fault_whatever_stands_in_the_free_ones() {
    let text = "input_dir: a\noutput_dir: b\nmodels:\n  m: { provider: openai, model: 4, price: { input: 0, output: 1.5, cache_read: 0.1 }, \
                temperature: 0, stream: true, embeddings: false, thinking: { type: enabled, budget_tokens: 9 }, method: CoT@1, compat: true }\n\
                systems:\n  promptql: { ddn: { url: u, headers: { any: { env: X } } }, llm: { whatever: 1 }, confirm_plans: 0 }\n\
                tools:\n  a: { kind: mcp, command: [x, 1], env: { ANY: 1 }, headers: { any: b }, seconds: 5 }\n\
                run: { concurrency: 1, max_cost: 0, nudge: false }\nqueries: { scorers: [finish] }\n";
    assert_eq!(faults(text), []);
    assert_eq!(
        workspace::read(text).unwrap().run.nudge_auto,
        Some(false),
        "as of a suite, false is no nudge"
    );
    assert_eq!(faults("models:\nrun:\ntools:\n"), [], "a key without a value is left out");
}

#[test]
fn a_value_of_the_wrong_kind_is_a_fault_in_its_line_and_is_read_as_if_it_was_left_out() {
    for (text, key) in [
        ("run: { max_cost: much }", "max_cost"),
        ("run: { max_cost: '5' }", "max_cost"),
        ("run: { max_cost: -1 }", "max_cost"),
        ("run: { max_cost: .nan }", "max_cost"),
        ("run: { max_cost: .inf }", "max_cost"),
        ("run: { concurrency: 0 }", "concurrency"),
        ("run: { concurrency: 1.5 }", "concurrency"),
        ("run: { concurrency: -1 }", "concurrency"),
        ("run: { max_turns: '3' }", "max_turns"),
        ("run: { nudge: often }", "nudge"),
        ("run: { nudge: { auto: maybe } }", "auto"),
        ("run: 5", "run"),
        ("models: [a]", "models"),
        ("models: { m: openai }", "models.m"),
        ("models: { m: { max_tokens: many } }", "max_tokens"),
        ("models: { m: { price: 3 } }", "models.m.price"),
        ("models: { m: { price: { input: 1 } } }", "output"),
        ("models: { m: { price: { input: 1, output: -2 } } }", "output"),
        ("models: { m: { provider: opnai } }", "provider"),
        ("models: { m: { reasoning: 'yes' } }", "reasoning"),
        ("systems: { promptql: { version: v3 } }", "version"),
        ("tools: { t: { kind: sqll } }", "sqll"),
        ("tools: { t: { database: x } }", "kind"),
        ("tools: { t: { kind: mcp, command: npx } }", "command"),
        ("queries: { scorers: finish }", "scorers"),
    ] {
        let found = faults(&format!("# one line above\n{text}\n"));
        assert_eq!(found.len(), 1, "{text}: {found:?}");
        assert!(
            found[0].message.contains(&format!("`{key}`")) && found[0].line == Some(2),
            "{text}: {found:?}"
        );
        assert!(found[0].advice.is_some(), "{text}: {found:?}");
    }
    let read = workspace::read("run: { max_cost: -1, concurrency: 0.5, max_turns: 3 }").unwrap();
    assert_eq!(
        (read.run.max_cost, read.run.concurrency, read.run.max_turns),
        (None, None, Some(3))
    );
}

#[test]
fn one_wrong_entry_hides_no_other_and_a_key_in_the_wrong_place_is_told_where_it_belongs() {
    let text = "input_dir: ask\nmax_cost: 5\nmodells: {}\nmodels:\n  bad: { modle: x, max_token: 5 }\n  good: { provider: replay }\n";
    let read = workspace::read(text).unwrap();
    assert_eq!(read.input_dir.as_deref(), Some("ask"));
    assert_eq!(
        read.models.iter().map(|model| model.name.as_str()).collect::<Vec<_>>(),
        ["bad", "good"]
    );
    let told: Vec<String> = read
        .faults
        .iter()
        .map(|fault| {
            format!(
                "{} {} {}",
                fault.line.unwrap(),
                fault.message,
                fault.advice.as_deref().unwrap()
            )
        })
        .collect();
    assert_eq!(
        told,
        [
            "2 `max_cost` is not a key of touchstone.yaml. It belongs under `run`.",
            "3 `modells` is not a key of touchstone.yaml. Did you mean `models`?",
            "5 `modle` is not a key of `models.bad`. Did you mean `model`?",
            "5 `max_token` is not a key of `models.bad`. Did you mean `max_tokens`?",
        ]
    );
}
