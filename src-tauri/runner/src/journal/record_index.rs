//! **Pure.** Records of a journal in the order of its lines, indexed by request and tool call. An
//! evaluation looks up every row; scanning all records each time would be too slow.
use super::record::{Attempt, Ran, Record};
use std::collections::HashMap;

/// Records with lookup indexes.
#[derive(Debug, Default)]
pub(super) struct RecordIndex {
    records: Vec<Record>,
    /// Lines of the valid attempts at a request, by its hash, in order.
    attempts: HashMap<String, Vec<usize>>,
    /// Lines of the valid executions of a tool call, by turn and hash, in order.
    ran: HashMap<(u32, String), Vec<usize>>,
}

impl RecordIndex {
    pub(super) fn from_records(records: Vec<Record>) -> Self {
        let mut held = Self::default();
        for record in records {
            held.push(record);
        }
        held
    }

    pub(super) fn push(&mut self, record: Record) {
        let line = self.records.len();
        match &record {
            Record::Reply(attempt) => {
                self.attempts.entry(attempt.hash.clone()).or_default().push(line);
            }
            Record::Tool(ran) => {
                self.ran.entry((ran.turn, ran.hash.clone())).or_default().push(line);
            }
            // Invalidates all earlier records.
            Record::Anew => (self.attempts, self.ran) = Default::default(),
            Record::Written => self.ran.clear(),
            Record::Forgotten { hash } => drop(self.attempts.remove(hash)),
            Record::Unknown => {}
        }
        self.records.push(record);
    }

    /// Returns all records, one per line.
    pub(super) fn records(&self) -> &[Record] {
        &self.records
    }

    /// Returns the longest active time of the run, in milliseconds, among the valid records from
    /// line `from` on.
    pub(super) fn spent_ms(&self, from: usize) -> Option<u64> {
        let lines = self.records.get(from..).unwrap_or_default();
        let counts = lines.iter().rev().take_while(|record| **record != Record::Anew);
        let said = counts.filter_map(|record| match record {
            Record::Reply(attempt) => attempt.spent_ms,
            Record::Tool(ran) => ran.spent_ms,
            _ => None,
        });
        said.max()
    }

    /// Returns the valid attempts at a request with their line numbers, from line `from` on; only
    /// for the given turn, if any.
    pub(super) fn attempts_at(
        &self,
        hash: &str,
        from: usize,
        turn: Option<u32>,
    ) -> impl DoubleEndedIterator<Item = (usize, &Attempt)> {
        let lines = self.attempts.get(hash).map(Vec::as_slice).unwrap_or_default();
        let lines = &lines[lines.partition_point(|line| *line < from)..];
        lines.iter().filter_map(move |line| match &self.records[*line] {
            Record::Reply(attempt) if turn.is_none_or(|turn| attempt.turn == turn) => {
                Some((*line, attempt))
            }
            _ => None,
        })
    }

    /// Returns the latest usable reply to a request, among the same attempts.
    pub(super) fn find(&self, hash: &str, from: usize, turn: Option<u32>) -> Option<&Attempt> {
        self.attempts_at(hash, from, turn)
            .rev()
            .map(|(_, attempt)| attempt)
            .find(|attempt| attempt.is_usable())
    }

    /// Returns true if there are valid executions of tool calls.
    pub(super) fn has_run(&self) -> bool {
        !self.ran.is_empty()
    }

    /// Returns the executions of a tool call from line `from` on, latest first.
    pub(super) fn ran(
        &self,
        turn: u32,
        hash: &str,
        from: usize,
    ) -> impl Iterator<Item = &Ran> + use<'_> {
        let lines = self.ran.get(&(turn, hash.to_owned())).map(Vec::as_slice).unwrap_or_default();
        let lines = &lines[lines.partition_point(|line| *line < from)..];
        lines.iter().rev().filter_map(|line| match &self.records[*line] {
            Record::Tool(ran) => Some(ran),
            _ => None,
        })
    }
}

#[cfg(test)]
mod tests {
    use super::super::record::Body;
    use super::*;
    use crate::conversation::{Call, Outcome};
    use proptest::prelude::*;
    use touchstone_model::value::Value;

    fn record() -> impl Strategy<Value = Record> {
        let reply = (1..4u32, "[abc]", prop_oneof![Just(200), Just(529)], any::<bool>(), 0..9u64)
            .prop_map(|(turn, hash, status, whole, ms)| {
                let (headers, body) = (vec![], Body::from_bytes(b"{}"));
                Record::Reply(Attempt {
                    turn,
                    hash,
                    status: Some(status),
                    headers,
                    body,
                    whole,
                    ms,
                    attempt: 1,
                    at_ms: 0,
                    spent_ms: Some(ms),
                })
            });
        let ran = (1..4u32, "[ab]", "[xy]", 0..9u64).prop_map(|(turn, hash, id, ms)| {
            Record::Tool(Ran {
                turn,
                id,
                hash,
                failed: false,
                json: "1".to_owned(),
                ms,
                at_ms: 0,
                spent_ms: None,
            })
        });
        prop_oneof![4 => reply, 2 => ran, 1 => Just(Record::Unknown)]
    }

    proptest! {
        #[test]
        fn lookups_find_the_same_records_as_a_full_scan(
            records in prop::collection::vec(record(), 0..24),
            read in 0..24usize,
            from in 0..26usize,
            hash in "[abc]",
            turn in prop::option::of(1..4u32),
        ) {
            let mut held = RecordIndex::from_records(records[..read.min(records.len())].to_vec());
            records.iter().skip(read).for_each(|record| held.push(record.clone()));
            prop_assert_eq!(held.records(), records.as_slice());
            let walked: Vec<(usize, &Attempt)> = records.iter().enumerate().skip(from).filter_map(|(line, record)| match record {
                Record::Reply(attempt) if attempt.is_of(&hash, turn) => Some((line, attempt)),
                _ => None,
            }).collect();
            prop_assert_eq!(held.find(&hash, from, turn), walked.iter().rev().map(|one| one.1).find(|one| one.is_usable()));
            prop_assert_eq!(held.attempts_at(&hash, from, turn).collect::<Vec<_>>(), walked);
            let turn = turn.unwrap_or(1);
            let ran = records.iter().skip(from).rev().filter_map(|record| match record {
                Record::Tool(ran) if ran.turn == turn && ran.hash == hash => Some(ran),
                _ => None,
            });
            prop_assert_eq!(held.ran(turn, &hash, from).collect::<Vec<_>>(), ran.collect::<Vec<_>>());
        }
    }

    #[test]
    fn spending_is_the_maximum_of_the_lines_that_still_count() {
        let call = Call { id: "c".into(), name: "t".into(), params: Value::Null, outcome: None };
        let ran = |spent_ms| {
            Record::Tool(Ran {
                spent_ms,
                ..Ran::new(1, &call, &Outcome::Result(Value::Null), 1, 2)
            })
        };
        let held = RecordIndex::from_records(vec![
            ran(Some(9)),
            Record::Anew,
            ran(Some(5)),
            ran(Some(7)),
            ran(Some(6)),
            ran(None),
        ]);
        assert_eq!(
            [0, 2, 4, 5, 6, 9].map(|from| held.spent_ms(from)),
            [Some(7), Some(7), Some(6), None, None, None]
        );
    }

    #[test]
    fn every_row_of_a_large_file_is_found_without_a_walk() {
        const ROWS: u32 = 100_000;
        let attempt = |row: u32| Attempt {
            turn: 1,
            hash: format!("{row:032x}"),
            status: Some(200),
            headers: vec![],
            body: Body::from_bytes(b"{}"),
            whole: true,
            ms: 1,
            attempt: 1,
            at_ms: 0,
            spent_ms: None,
        };
        let held =
            RecordIndex::from_records((0..ROWS).map(|row| Record::Reply(attempt(row))).collect());
        // A scan per lookup would read billions of lines.
        assert!((0..ROWS).all(|row| held.find(&format!("{row:032x}"), 0, None).is_some()));
    }
}
