//! **Pure.** Decides if a run that does not exist would pass a filter. Only its position (task,
//! system, model, variation, repeat) is known; a filter on anything else cannot be decided.
use super::{Ask, Filter, FilterValue, Key, Token};

/// Position of a possible run.
#[derive(Debug, Clone, Copy)]
pub struct Slot<'a> {
    /// Names of its task; runs may use more than one name for it.
    pub task: &'a [&'a str],
    /// System.
    pub system: &'a str,
    /// Model.
    pub model: &'a str,
    /// Variation, from 0.
    pub variation: u32,
    /// Name of the variation.
    pub variation_name: Option<&'a str>,
    /// Repeat, from 1.
    pub repeat: u32,
}

impl Filter {
    /// Returns true when every token filters by position, and none by a property that only existing
    /// runs have.
    pub fn asks_only_where(&self) -> bool {
        !self.invalid
            && self.tokens.iter().all(|token| {
                matches!(
                    &token.ask,
                    Ask::Value(
                        Key::Task | Key::System | Key::Model | Key::Variation | Key::Repeat,
                        _
                    )
                )
            })
    }

    /// Returns true when a run at this position would pass; agrees with [`Filter::condition`] for
    /// existing runs.
    pub fn admits(&self, slot: &Slot<'_>) -> bool {
        !self.invalid
            && self.tokens.iter().all(|Token { negated, ask }| match ask {
                Ask::Value(key, wanted) => {
                    wanted.iter().any(|wanted| is(*key, wanted, slot)) != *negated
                }
                Ask::Text(_) | Ask::Steps(_) => false,
            })
    }
}

fn is(key: Key, wanted: &FilterValue, slot: &Slot<'_>) -> bool {
    match (key, wanted) {
        (Key::Task, FilterValue::Like(pattern)) => {
            slot.task.iter().any(|task| pattern.matches(task))
        }
        (Key::System, FilterValue::Like(pattern)) => pattern.matches(slot.system),
        (Key::Model, FilterValue::Like(pattern)) => pattern.matches(slot.model),
        (Key::Variation, FilterValue::Like(pattern)) => {
            pattern.matches(&slot.variation.to_string())
                || slot.variation_name.is_some_and(|name| pattern.matches(name))
        }
        (Key::Repeat, FilterValue::Number(by, number)) => by.holds(f64::from(slot.repeat), *number),
        _ => false,
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::filter::Param;
    use proptest::prelude::*;
    use rusqlite::Connection;

    /// Returns the decision of the SQL condition for a row at this position.
    fn matches_sql(filter: &Filter, slot: &Slot<'_>) -> bool {
        let sql = Connection::open_in_memory().unwrap();
        sql.execute_batch(
            "CREATE TABLE runs (task, system, model, variation INTEGER, variation_name, repeat INTEGER, state_order INTEGER)",
        )
        .unwrap();
        let row = rusqlite::params![
            slot.task[0],
            slot.system,
            slot.model,
            slot.variation,
            slot.variation_name,
            slot.repeat
        ];
        sql.execute("INSERT INTO runs VALUES (?, ?, ?, ?, ?, ?, 0)", row).unwrap();
        let condition = filter.condition();
        let params = condition.params.into_iter().map(|param| match param {
            Param::Text(text) => rusqlite::types::Value::Text(text),
            Param::Number(number) => rusqlite::types::Value::Real(number),
        });
        let text = format!("SELECT count(*) FROM runs WHERE {}", condition.sql);
        sql.query_row(&text, rusqlite::params_from_iter(params), |row| row.get::<_, i64>(0))
            .unwrap()
            == 1
    }

    #[test]
    fn a_filter_that_asks_for_what_only_runs_have_says_so() {
        for (typed, only_where) in [
            ("", true),
            ("task:a* -system:b model:c,d variation:1 repeat:>1", true),
            ("task:a state:error", false),
            ("timeout", false),
            ("-timeout", false),
            ("turns:>2", false),
            ("path:a", false),
        ] {
            assert_eq!(Filter::parse(typed).0.asks_only_where(), only_where, "{typed}");
        }
    }

    #[test]
    fn a_task_passes_by_each_of_its_names() {
        let names = ["folder/suite", "folder"];
        let slot = Slot {
            task: &names,
            system: "s",
            model: "m",
            variation: 0,
            variation_name: Some("last 20"),
            repeat: 1,
        };
        for (typed, passes) in [
            ("task:folder", true),
            ("task:*suite", true),
            ("task:other", false),
            ("variation:\"last 20\"", true),
            ("variation:0", true),
            ("variation:1", false),
        ] {
            assert_eq!(Filter::parse(typed).0.admits(&slot), passes, "{typed}");
        }
    }

    proptest! {
        #[test]
        fn missing_runs_match_filters_by_their_coordinates(
            tokens in prop::collection::vec("-?(task|system|model|variation):[aB0*]{1,4}(,[ab%_*]{1,3})?|-?repeat:[<>=]?[0-3]", 0..4),
            task in "[aAb0%_]{1,4}",
            system in "[ab]{1,3}",
            model in "[Ab_0]{1,3}",
            variation in 0_u32..3,
            name in prop::option::of("[ab0]{1,3}"),
            repeat in 1_u32..4,
        ) {
            let (filter, _) = Filter::parse(&tokens.join(" "));
            prop_assert!(filter.asks_only_where(), "{}", tokens.join(" "));
            let slot = Slot {
                task: &[&task],
                system: &system,
                model: &model,
                variation,
                variation_name: name.as_deref(),
                repeat,
            };
            prop_assert_eq!(filter.admits(&slot), matches_sql(&filter, &slot));
        }
    }
}
