//! Written YAML parses back to the original value, for any value.
use crate::nasty::{NASTY, texts};
use proptest::prelude::*;
use touchstone_model::value::Value;
use touchstone_model::{json, yaml};

fn numbers() -> impl Strategy<Value = String> {
    prop::sample::select(vec![
        "0",
        "-1",
        "+1",
        "007",
        "0o17",
        "0xFF",
        "1.5",
        "-1.5e-300",
        "1e400",
        ".5",
        "1.",
        "99999999999999999999999",
        ".inf",
        "-.inf",
        ".nan",
        "123456789012345678901234567890.123456789012345678901234567890",
    ])
    .prop_map(str::to_owned)
}

fn values() -> impl Strategy<Value = Value> {
    let leaf = prop_oneof![
        Just(Value::Null),
        any::<bool>().prop_map(Value::Bool),
        numbers().prop_map(Value::Number),
        texts().prop_map(Value::Text),
    ];
    leaf.prop_recursive(5, 40, 5, |inner| {
        let key = prop_oneof![8 => texts().prop_map(Value::Text), 1 => inner.clone()];
        prop_oneof![
            prop::collection::vec(inner.clone(), 0..5).prop_map(Value::List),
            prop::collection::vec((key, inner), 0..5).prop_map(|mut entries| {
                let mut seen: Vec<Value> = Vec::new();
                entries.retain(|(key, _)| {
                    let fresh = !seen.contains(key);
                    seen.push(key.clone());
                    fresh
                });
                Value::Map(entries)
            }),
        ]
    })
}

#[test]
fn every_nasty_text_reads_back_wherever_it_stands() {
    for text in NASTY {
        let text = Value::from(*text);
        for value in [
            text.clone(),
            Value::List(vec![text.clone(), text.clone()]),
            Value::Map(vec![
                ("a".into(), text.clone()),
                ("b".into(), Value::List(vec![text.clone()])),
            ]),
            Value::Map(vec![(text.clone(), text.clone())]),
        ] {
            let written = yaml::write(&value);
            assert_eq!(yaml::read(&written).as_ref(), Ok(&value), "{written}");
        }
    }
}

#[test]
fn texts_of_several_lines_are_block_literals() {
    let value = Value::Map(vec![
        ("a".into(), "SELECT 1\nFROM b\n".into()),
        ("c".into(), Value::List(vec!["x\n\n  y".into()])),
    ]);
    assert_eq!(yaml::write(&value), "a: |\n  SELECT 1\n  FROM b\nc:\n  - |-\n    x\n\n      y\n");
}

proptest! {
    #![proptest_config(ProptestConfig { cases: 2_000, failure_persistence: None, ..ProptestConfig::default() })]

    #[test]
    fn yaml_reads_back_as_it_was(value in values()) {
        let written = yaml::write(&value);
        prop_assert_eq!(yaml::read(&written), Ok(value), "{}", written);
    }

    #[test]
    fn json_reads_back_as_it_was_where_json_can_say_it(text in texts(), number in "-?(0|[1-9][0-9]{0,30})(\\.[0-9]{1,9})?([eE][+-]?[0-9]{1,3})?") {
        let value = Value::List(vec![Value::Map(vec![(Value::from("k"), Value::Text(text))]), Value::Number(number), Value::Null]);
        for pretty in [false, true] {
            prop_assert_eq!(json::read(&json::write(&value, pretty)), Ok(value.clone()));
        }
    }

    #[test]
    fn any_value_has_a_json_text(value in values()) {
        let text = json::write(&value, true);
        prop_assert!(serde_json::from_str::<serde::de::IgnoredAny>(&text).is_ok(), "{}", text);
    }
}
