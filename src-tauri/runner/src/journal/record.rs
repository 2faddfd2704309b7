//! **Pure.** Lines of a journal: paid replies and tool results, each with a checksum of its exact
//! bytes.
use crate::conversation::{Call, Outcome};
use crate::provider::HttpReply;
use base64::Engine as _;
use base64::prelude::BASE64_STANDARD;
use serde::{Deserialize, Serialize};
use std::ops::Range;
use touchstone_model::json;
use xxhash_rust::xxh3::{Xxh3, xxh3_64};

/// Record in a line of the journal.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
#[serde(tag = "kind", rename_all = "snake_case")]
pub enum Record {
    /// Response to a request, successful or not.
    Reply(Attempt),
    /// Executed tool call.
    Tool(Ran),
    /// Results were written from the records above. Outcomes of calls above are not used again, and
    /// may now differ; replies of models are still used, because they cost money.
    Written,
    /// Nothing above is used again; everything is requested anew.
    Anew,
    /// Replies to a request that are above are not used again; it is sent once more.
    Forgotten {
        /// Hash of the request.
        hash: String,
    },
    /// Valid line of a later version, ignored.
    #[serde(other)]
    Unknown,
}

/// Attempt at a request.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
pub struct Attempt {
    /// Assistant turn that it belongs to, from 1.
    pub turn: u32,
    /// Hash of the request: `provider::hash`.
    pub hash: String,
    /// Status; none if no reply began.
    pub status: Option<u16>,
    /// Selected headers.
    pub headers: Vec<(String, String)>,
    /// Body.
    pub body: Body,
    /// True if the body is complete.
    pub whole: bool,
    /// Duration in milliseconds.
    pub ms: u64,
    /// Number of the attempt, from 1.
    pub attempt: u32,
    /// Time of arrival, in milliseconds since 1970.
    pub at_ms: i64,
    /// Active time of the run in milliseconds at that moment, where known.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub spent_ms: Option<u64>,
}

/// Executed tool call.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
pub struct Ran {
    /// Assistant turn that made the call, from 1.
    pub turn: u32,
    /// Id of the call.
    pub id: String,
    /// Hash of the call: [`call_hash`]. An edited call has another hash.
    pub hash: String,
    /// True if the call failed.
    pub failed: bool,
    /// Outcome as JSON, whose numbers keep their text.
    pub json: String,
    /// Duration in milliseconds.
    pub ms: u64,
    /// Time of completion, in milliseconds since 1970.
    pub at_ms: i64,
    /// Active time of the run in milliseconds at that moment, where known.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub spent_ms: Option<u64>,
}

/// Bytes of a body.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "snake_case")]
pub enum Body {
    /// Readable text.
    Text(String),
    /// Bytes that are not valid UTF-8.
    Base64(String),
}

impl Body {
    /// Encodes bytes.
    pub fn from_bytes(bytes: &[u8]) -> Self {
        match std::str::from_utf8(bytes) {
            Ok(text) => Body::Text(text.to_owned()),
            Err(_) => Body::Base64(BASE64_STANDARD.encode(bytes)),
        }
    }

    /// Decodes the bytes.
    pub fn bytes(&self) -> Vec<u8> {
        match self {
            Body::Text(text) => text.clone().into_bytes(),
            Body::Base64(text) => BASE64_STANDARD.decode(text).unwrap_or_default(),
        }
    }
}

impl Attempt {
    /// Returns the response in the form that is decoded.
    pub fn reply(&self) -> HttpReply {
        HttpReply {
            status: self.status.unwrap_or_default(),
            headers: self.headers.clone(),
            body: self.body.bytes(),
        }
    }

    /// Returns true if the attempt belongs to this request, and to this turn if one is given.
    pub fn is_of(&self, hash: &str, turn: Option<u32>) -> bool {
        self.hash == hash && turn.is_none_or(|turn| self.turn == turn)
    }

    /// Returns true if the status is a success.
    pub fn is_success(&self) -> bool {
        self.status.is_some_and(|status| (200..300).contains(&status))
    }

    /// Returns true if the reply is usable: successful and complete.
    pub fn is_usable(&self) -> bool {
        self.whole && self.is_success()
    }
}

impl Ran {
    /// Creates the record of a tool call of an assistant turn.
    pub fn new(turn: u32, call: &Call, outcome: &Outcome, ms: u64, at_ms: i64) -> Self {
        let (Outcome::Result(value) | Outcome::Error(value)) = outcome;
        let (id, hash, json) = (call.id.clone(), call_hash(call), json::write(value, false));
        Self { turn, id, hash, failed: outcome.failed(), json, ms, at_ms, spent_ms: None }
    }

    /// Returns the outcome; `None` if it cannot be parsed, in which case the tool is run again.
    pub fn outcome(&self) -> Option<Outcome> {
        let value = json::read(&self.json).ok()?;
        Some(if self.failed { Outcome::Error(value) } else { Outcome::Result(value) })
    }
}

/// Hashes a call by its tool and arguments.
pub fn call_hash(call: &Call) -> String {
    hash(&[call.name.as_bytes(), json::write(&call.params, false).as_bytes()])
}

fn hash(parts: &[&[u8]]) -> String {
    let mut hasher = Xxh3::new();
    for part in parts {
        hasher.update(&(part.len() as u64).to_le_bytes());
        hasher.update(part);
    }
    format!("{:032x}", hasher.digest128())
}

const BEFORE: &[u8] = b"{\"sum\":\"";
const BETWEEN: &[u8] = b"\",\"record\":";
const AFTER: &[u8] = b"}\n";
const DIGITS: usize = 16;

/// Formats the line of a record.
pub(super) fn line(record: &Record) -> Result<Vec<u8>, serde_json::Error> {
    let record = serde_json::to_vec(record)?;
    let sum = format!("{:016x}", xxh3_64(&record));
    Ok([BEFORE, sum.as_bytes(), BETWEEN, &record, AFTER].concat())
}

/// Contents read from a journal.
#[derive(Debug, Default, PartialEq)]
pub(super) struct Recovered {
    /// One per complete line. A damaged line becomes [`Record::Unknown`], which preserves the line
    /// numbers.
    pub(super) records: Vec<Record>,
    /// Number of complete but damaged lines.
    pub(super) damaged: usize,
    /// Bytes of the complete lines; anything after them was not fully written.
    pub(super) length: usize,
}

/// Parses a journal. A damaged line does not affect others.
pub(super) fn recover(bytes: &[u8]) -> Recovered {
    let mut found = Recovered::default();
    while let Some(end) = memchr::memchr(b'\n', bytes.get(found.length..).unwrap_or_default()) {
        let line = found.length..found.length + end + 1;
        found.length = line.end;
        let inside = checked(bytes, line);
        found.damaged += usize::from(inside.is_none());
        found.records.push(inside.map_or(Record::Unknown, |inside| {
            serde_json::from_slice(inside).unwrap_or(Record::Unknown)
        }));
    }
    found
}

/// Returns the record inside a line if its checksum matches.
fn checked(bytes: &[u8], line: Range<usize>) -> Option<&[u8]> {
    let rest = bytes.get(line)?.strip_prefix(BEFORE)?;
    let (sum, rest) = rest.split_at_checked(DIGITS)?;
    let record = rest.strip_prefix(BETWEEN)?.strip_suffix(AFTER)?;
    // Compared as text: another spelling of the same number is damage, too.
    (format!("{:016x}", xxh3_64(record)).as_bytes() == sum).then_some(record)
}

#[cfg(test)]
mod tests {
    use super::*;
    use proptest::prelude::*;
    use touchstone_model::value::Value;

    pub(crate) fn attempt(hash: &str, status: u16, body: &[u8]) -> Attempt {
        let headers = vec![("request-id".into(), "r".into())];
        let (hash, body) = (hash.to_owned(), Body::from_bytes(body));
        Attempt {
            turn: 1,
            hash,
            status: Some(status),
            headers,
            body,
            whole: true,
            ms: 5,
            attempt: 1,
            at_ms: 7,
            spent_ms: None,
        }
    }

    fn records() -> impl Strategy<Value = Vec<Record>> {
        let reply = (0..600u16, prop::collection::vec(any::<u8>(), 0..20), "[a-f0-9]{4}")
            .prop_map(|(status, body, hash)| Record::Reply(attempt(&hash, status, &body)));
        let text = ("\\PC{0,20}", any::<bool>()).prop_map(|(text, failed)| {
            let call =
                Call { id: text.clone(), name: "t".into(), params: Value::Null, outcome: None };
            let value = Value::List(vec![Value::Text(text), Value::Number("1.50".into())]);
            let outcome = if failed { Outcome::Error(value) } else { Outcome::Result(value) };
            Record::Tool(Ran::new(2, &call, &outcome, 1, 2))
        });
        prop::collection::vec(prop_oneof![reply, text], 0..5)
    }

    fn written(records: &[Record]) -> Vec<u8> {
        records.iter().flat_map(|record| line(record).unwrap()).collect()
    }

    proptest! {
        #![proptest_config(ProptestConfig::with_cases(24))]

        #[test]
        fn wherever_a_journal_is_cut_a_prefix_is_recovered_and_a_flipped_byte_takes_its_line_alone(records in records(), flip in 1..=255u8) {
            let bytes = written(&records);
            let (length, whole) = (bytes.len(), recover(&bytes));
            prop_assert_eq!(whole, Recovered { records: records.clone(), damaged: 0, length });
            let ends: Vec<usize> = (1..=records.len()).map(|to| written(&records[..to]).len()).collect();
            for at in 0..bytes.len() {
                let cut = recover(&bytes[..at]);
                prop_assert!(cut.length <= at && cut.damaged == 0 && records.starts_with(&cut.records));
                let mut flipped = bytes.clone();
                flipped[at] ^= flip;
                let found = recover(&flipped);
                // The damaged line, and also the next one if the line end was hit.
                let hit = ends.iter().position(|end| at < *end).unwrap_or_default();
                let behind = hit + 1 + usize::from(at + 1 == ends[hit]);
                let rest = records.get(behind..).unwrap_or_default();
                prop_assert!(found.records.starts_with(&records[..hit]) && found.records.ends_with(rest), "byte {at}");
                prop_assert!(found.damaged > 0 || found.length == written(&records[..hit]).len());
                let known = |records: &[Record]| records.iter().filter(|record| **record != Record::Unknown).count();
                prop_assert_eq!(known(&found.records), hit + rest.len());
            }
        }

        #[test]
        fn any_bytes_in_a_journal_are_read_safely(bytes in prop::collection::vec(any::<u8>(), 0..200)) {
            let found = recover(&bytes);
            prop_assert!(found.records.iter().all(|record| *record == Record::Unknown));
            prop_assert_eq!(found.damaged, found.records.len());
        }

        #[test]
        fn bodies_come_back_byte_by_byte(bytes in prop::collection::vec(any::<u8>(), 0..50)) {
            prop_assert_eq!(Body::from_bytes(&bytes).bytes(), bytes);
        }
    }

    #[test]
    fn a_line_is_text_that_people_can_read() {
        let line =
            String::from_utf8(line(&Record::Reply(attempt("ab", 200, b"{}"))).unwrap()).unwrap();
        insta::assert_snapshot!(
            line.trim_end(),
            @"{\"sum\":\"abbeb4298d5431ac\",\"record\":{\"kind\":\"reply\",\"turn\":1,\
             \"hash\":\"ab\",\"status\":200,\"headers\":[[\"request-id\",\"r\"]],\
             \"body\":{\"text\":\"{}\"},\"whole\":true,\"ms\":5,\"attempt\":1,\"at_ms\":7}}"
        );
    }

    #[test]
    fn a_whole_line_of_a_later_version_is_passed_over_and_counted() {
        let later = br#"{"kind":"bet","x":1}"#;
        let sum = format!("{:016x}", xxh3_64(later));
        let mut bytes = [BEFORE, sum.as_bytes(), BETWEEN, later, AFTER].concat();
        bytes.extend(written(&[Record::Reply(attempt("ab", 200, b""))]));
        let found = recover(&bytes);
        assert_eq!(
            (found.records.len(), found.damaged, &found.records[0]),
            (2, 0, &Record::Unknown)
        );
    }

    #[test]
    fn outcomes_come_back_as_they_were_and_an_edited_call_is_another() {
        let call =
            Call { id: "c".into(), name: "t".into(), params: Value::Map(vec![]), outcome: None };
        let outcome = Outcome::Result(Value::Number("12345678901234567890.10".into()));
        let ran = Ran::new(1, &call, &outcome, 0, 0);
        assert_eq!(ran.outcome(), Some(outcome));
        let edited = Call { params: Value::Map(vec![("a".into(), Value::Null)]), ..call };
        assert_ne!(call_hash(&edited), ran.hash);
    }
}
