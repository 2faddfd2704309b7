//! Measures runs again whose task changed, a batch at a time, from what the index holds: no
//! transcript is read.
use super::held::Held;
use super::measure::{Measured, Place, measure};
use super::write::{self, Columns};
use crate::blob::TextBlob;
use crate::index::{IndexError, Writer, text_of};
use crate::record;
use crate::suites::Tasks;
use rusqlite::{Row, params};
use std::time::{Duration, Instant};

/// Rows looked at in one batch.
const ROWS: u64 = 4_000;
/// Runs measured before the clock is asked.
const RUNS: usize = 32;
/// A batch ends after this long, so that what changes on disk does not wait.
const LONG: Duration = Duration::from_millis(100);

/// What one batch found.
#[derive(Debug, Default)]
pub(crate) struct Batch {
    /// The last row that was looked at.
    pub(crate) after: i64,
    /// There are no more rows.
    pub(crate) end: bool,
    /// How many rows were looked at.
    pub(crate) seen: u64,
    /// Rows that say something else now.
    renewed: Vec<Renewed>,
}

#[derive(Debug)]
struct Renewed {
    id: i64,
    key: String,
    /// What its suite says of it, where that is something else.
    said: Option<SaidBySuite>,
    measured: Option<Measured>,
    /// How it stands, where the tag of its suite is another one and it stands otherwise.
    stands: Option<Held>,
}

#[derive(Debug)]
struct SaidBySuite {
    task: String,
    missing: String,
    variation_name: Option<String>,
}

/// A row, as far as its task decides what it says.
struct Candidate {
    id: i64,
    key: String,
    task: String,
    variation: Option<u32>,
    /// The name that its files give its variation.
    own_name: Option<String>,
    variation_name: Option<String>,
    layout: String,
    system: Option<String>,
    tools: Vec<String>,
    missing: String,
    fingerprint: Option<i64>,
}

impl Candidate {
    fn place(&self) -> Place<'_> {
        Place {
            task: Some(&self.task),
            variation: self.variation,
            variation_name: self.own_name.as_deref(),
            calls_tools: record::calls_tools(&self.layout, self.system.as_deref()),
        }
    }
}

/// Looks at the rows after one, and measures those that were measured against something else.
pub(crate) fn batch(writer: &Writer, tasks: &Tasks, after: i64) -> Result<Batch, IndexError> {
    const SELECT: &str = "SELECT id, key, task, variation, variation_name, layout, system, tools, missing_calls, fingerprint \
                          FROM runs WHERE id > ? AND task IS NOT NULL ORDER BY id";
    let began = Instant::now();
    let mut batch = Batch { after, ..Batch::default() };
    let mut texts = None;
    let mut select = writer.sql.prepare_cached(SELECT)?;
    let mut rows = select.query([after])?;
    let mut measured = 0;
    while batch.seen < ROWS && (measured < RUNS || began.elapsed() <= LONG) {
        let Some(row) = rows.next()? else {
            batch.end = true;
            break;
        };
        let candidate = candidate(row)?;
        batch.after = candidate.id;
        batch.seen += 1;
        let stale = candidate.place().fingerprint(tasks) != candidate.fingerprint;
        let said = said_by_suite(&candidate, tasks);
        if !stale && said.is_none() {
            continue;
        }
        let again = if stale { Some(again(writer, &mut texts, &candidate, tasks)?) } else { None };
        measured += usize::from(stale);
        let (again, stands) = again.map_or((None, None), |(again, stands)| (Some(again), stands));
        batch.renewed.push(Renewed {
            id: candidate.id,
            key: candidate.key,
            said,
            measured: again,
            stands,
        });
    }
    Ok(batch)
}

/// What the suite says of a row; nothing where the row says the same.
fn said_by_suite(candidate: &Candidate, tasks: &Tasks) -> Option<SaidBySuite> {
    let (missing, name) = record::from_suite(tasks, &candidate.place(), &candidate.tools);
    let name = name.or_else(|| candidate.own_name.clone());
    // The query may have been read only after its result.
    let id = tasks.query_id(&candidate.task);
    let same = id.is_none() && missing == candidate.missing && name == candidate.variation_name;
    let task = id.unwrap_or(&candidate.task).to_owned();
    (!same).then_some(SaidBySuite { task, missing, variation_name: name })
}

impl Batch {
    /// True when nothing has to be written.
    pub(crate) fn is_empty(&self) -> bool {
        self.renewed.is_empty()
    }

    /// True when runs stand otherwise than they did.
    pub(crate) fn turns(&self) -> bool {
        self.renewed.iter().any(|one| one.stands.is_some())
    }

    /// Writes what it found, inside the caller's transaction; returns the keys of the runs that
    /// changed.
    pub(crate) fn write(self, writer: &Writer) -> Result<Vec<String>, IndexError> {
        let sql = &writer.sql;
        let mut keys = Vec::with_capacity(self.renewed.len());
        for Renewed { id, key, said, measured, stands } in self.renewed {
            if let Some(SaidBySuite { task, missing, variation_name }) = said {
                sql.prepare_cached(
                    "UPDATE runs SET task = ?, missing_calls = ?, variation_name = ? WHERE id = ?",
                )?
                .execute(params![task, missing, variation_name, id])?;
            }
            if let Some(stands) = stands {
                stands.put(sql, id)?;
            }
            if let Some(mut measured) = measured {
                write::fill_in(sql, &mut measured)?;
                Columns::of(&measured).put(sql, id)?;
                write::put_scores(sql, id, &measured.scores, false)?;
            }
            keys.push(key);
        }
        Ok(keys)
    }
}

fn candidate(row: &Row<'_>) -> rusqlite::Result<Candidate> {
    let tools =
        row.get_ref(7)?.as_str().unwrap_or_default().lines().filter(|name| !name.is_empty());
    let tools = tools.map(str::to_owned).collect();
    let (variation, variation_name): (Option<u32>, Option<String>) = (row.get(3)?, row.get(4)?);
    // Where files give their variation no number, they give it its name.
    let own_name = variation_name.clone().filter(|_| variation.is_none());
    Ok(Candidate {
        id: row.get(0)?,
        key: row.get(1)?,
        task: row.get(2)?,
        variation,
        own_name,
        variation_name,
        layout: row.get(5)?,
        system: row.get(6)?,
        tools,
        missing: row.get(8)?,
        fingerprint: row.get(9)?,
    })
}

/// Measures a run from what the index holds of it; also how it stands, when that is something else
/// now.
fn again(
    writer: &Writer,
    texts: &mut Option<TextBlob>,
    candidate: &Candidate,
    tasks: &Tasks,
) -> Result<(Measured, Option<Held>), IndexError> {
    let mut held = Held::load(&writer.sql, candidate.id)?;
    let open = || text_of(&writer.sql, &writer.dir);
    let said = held.said(texts, open)?;
    let turned = held.look_in(candidate.place().tag(tasks), &said);
    let measured = measure(tasks, &candidate.place(), &held.evidence(&said));
    Ok((measured, turned.then_some(held)))
}
