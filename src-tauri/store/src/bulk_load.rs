//! Adds a million rows to an index that was empty. What would be kept up to date with every row is
//! made once, after the last one: indexes whose order is not that of the rows, and what triggers
//! count. Meanwhile, lists are answered without them. The index has no version before it is whole,
//! so that one of which the loading did not end is made anew.
use super::index::{IndexError, SCHEMA_VERSION};
use rusqlite::Connection;

/// Indexes and triggers that are made later.
const LATER: [&str; 6] =
    ["runs_key", "runs_task", "runs_state", "files_unit", "runs_inserted", "scores_inserted"];

/// Loading of rows that is under way.
pub(crate) struct BulkLoad {
    /// Statements that make what was left out.
    later: Vec<String>,
    /// The last run that triggers would have seen.
    seen: i64,
}

impl BulkLoad {
    /// Begins the loading.
    pub(crate) fn begin(sql: &Connection) -> Result<Self, IndexError> {
        sql.execute_batch("BEGIN IMMEDIATE")?;
        let later = Self::leave_out(sql);
        sql.execute_batch(if later.is_ok() { "COMMIT" } else { "ROLLBACK" })?;
        Ok(Self { later: later?, seen: 0 })
    }

    fn leave_out(sql: &Connection) -> Result<Vec<String>, IndexError> {
        let mut select = sql.prepare("SELECT type, sql FROM sqlite_master WHERE name = ?")?;
        let mut later = Vec::with_capacity(LATER.len());
        for name in LATER {
            let row = select.query_row([name], |row| Ok((row.get(0)?, row.get(1)?)));
            let (kind, text): (String, String) = row?;
            sql.execute_batch(&format!("DROP {kind} {name}"))?;
            later.push(text);
        }
        sql.execute_batch("PRAGMA user_version = 0")?;
        Ok(later)
    }

    /// Does for the rows of the open transaction what the triggers do.
    pub(crate) fn note(&mut self, sql: &Connection) -> Result<(), IndexError> {
        let notes = [
            "INSERT INTO changes (run) SELECT id FROM runs WHERE id > ?",
            "INSERT INTO scorers SELECT scorer, count(*) FROM scores WHERE run > ? GROUP BY scorer
             ON CONFLICT DO UPDATE SET runs = runs + excluded.runs",
        ];
        for note in notes {
            sql.prepare_cached(note)?.execute([self.seen])?;
        }
        let forget = "DELETE FROM changes WHERE seq <= (SELECT max(seq) FROM changes) - 200000";
        sql.prepare_cached(forget)?.execute([])?;
        let last = "SELECT ifnull(max(id), 0) FROM runs";
        self.seen = sql.prepare_cached(last)?.query_row([], |row| row.get(0))?;
        Ok(())
    }

    /// Ends the loading: the index is like any other from here on.
    pub(crate) fn end(self, sql: &Connection) -> Result<(), IndexError> {
        sql.execute_batch("BEGIN IMMEDIATE")?;
        let made = self.later.iter().try_for_each(|text| sql.execute_batch(text));
        let made = made.and_then(|()| {
            sql.execute_batch(&format!("PRAGMA user_version = {SCHEMA_VERSION}; COMMIT"))
        });
        if made.is_err() && !sql.is_autocommit() {
            sql.execute_batch("ROLLBACK")?;
        }
        Ok(made?)
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::index::Index;
    use std::path::Path;

    /// Adds runs of these numbers, each with two scores.
    fn add(sql: &Connection, numbers: std::ops::Range<i64>) {
        const RUN: &str = "INSERT INTO runs (id, key, path, unit, layout, repeat, state, state_order, turns, tool_calls,
            failed_calls, nudges, missing_calls, tools, unfinished, size, modified_ms, has_answer, content_hash, text_offset, text_len)
            VALUES (?1, 'k' || ?1, 'p' || ?1, ?1, '', 1, '', 0, 0, 0, 0, 0, '[]', '', 0, 0, 0, 0, 0, 0, 0)";
        const SCORES: &str = "INSERT INTO scores (run, place, scorer, version, standing, reason, detail)
            VALUES (?1, 0, 'exact', 1, 'scored', '', '[]'), (?1, 1, 'of' || ?1 % 3, 1, 'scored', '', '[]')";
        for number in numbers {
            sql.execute(RUN, [number]).unwrap();
            sql.execute(SCORES, [number]).unwrap();
        }
    }

    fn texts(sql: &Connection, select: &str) -> Vec<String> {
        let mut select = sql.prepare(select).unwrap();
        select.query_map([], |row| row.get(0)).unwrap().collect::<Result<_, _>>().unwrap()
    }

    /// Returns what the schema is, which changes were noted, and how many runs each scorer has.
    fn all(sql: &Connection) -> [Vec<String>; 4] {
        [
            texts(
                sql,
                "SELECT type || name || sql FROM sqlite_master WHERE sql IS NOT NULL ORDER BY 1",
            ),
            texts(sql, "SELECT seq || ' ' || run FROM changes ORDER BY seq"),
            texts(sql, "SELECT scorer || ' ' || runs FROM scorers ORDER BY 1"),
            texts(sql, "SELECT '' || user_version FROM pragma_user_version"),
        ]
    }

    #[test]
    fn an_index_that_was_loaded_is_like_one_whose_rows_were_added_one_by_one() {
        let homes = [tempfile::tempdir().unwrap(), tempfile::tempdir().unwrap()];
        let open = |at: usize| Index::open(homes[at].path(), Path::new("/runs")).unwrap();
        let ((_one, slow), (_other, fast)) = (open(0), open(1));
        let mut load = BulkLoad::begin(&fast.sql).unwrap();
        assert_ne!(all(&slow.sql)[0], all(&fast.sql)[0]);
        for numbers in [1..4, 4..9, 9..9, 9..12] {
            add(&slow.sql, numbers.clone());
            add(&fast.sql, numbers);
            load.note(&fast.sql).unwrap();
            assert_eq!(all(&slow.sql)[1..3], all(&fast.sql)[1..3]);
        }
        load.end(&fast.sql).unwrap();
        add(&slow.sql, 12..15);
        add(&fast.sql, 12..15);
        assert_eq!(all(&slow.sql), all(&fast.sql));
    }

    #[test]
    fn an_index_whose_loading_did_not_end_is_made_anew() {
        let home = tempfile::tempdir().unwrap();
        let open = || Index::open(home.path(), Path::new("/runs")).unwrap();
        let (index, writer) = open();
        let whole = all(&writer.sql);
        drop(BulkLoad::begin(&writer.sql).unwrap());
        add(&writer.sql, 1..4);
        drop((index, writer));
        let (index, writer) = open();
        assert_eq!(all(&writer.sql), whole);
        let count = "SELECT count(*) FROM runs";
        assert_eq!(index.reader().unwrap().query_row(count, [], |row| row.get(0)), Ok(0));
    }

    #[test]
    fn rows_that_cannot_be_indexed_leave_the_index_without_a_version() {
        let home = tempfile::tempdir().unwrap();
        let (_index, writer) = Index::open(home.path(), Path::new("/runs")).unwrap();
        let load = BulkLoad::begin(&writer.sql).unwrap();
        add(&writer.sql, 1..4);
        writer.sql.execute("UPDATE runs SET key = 'same'", []).unwrap();
        load.end(&writer.sql).unwrap_err();
        assert!(writer.sql.is_autocommit());
        assert_eq!(all(&writer.sql)[3], ["0"]);
    }
}
