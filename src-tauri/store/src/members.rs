//! Parses a file that holds many runs. Each becomes its own row; rows are passed on in parts to
//! limit memory use. A member gets the modification time of the file version in which its current
//! content first appeared.
use super::layouts;
use super::limits::Limits;
use super::parse_unit::{MemberRow, Outcome, ParsedUnit, Row, unsettle};
use super::reconcile::Mark;
use super::roots::FileId;
use super::unit_id::UnitId;
use std::collections::HashSet;
use std::panic::{AssertUnwindSafe, catch_unwind};
use touchstone_api::RunState;
use touchstone_formats::collection::{Collection, Member, RunIdentity};
use touchstone_model::error::{ReadError, ReadErrorKind};
use xxhash_rust::xxh3::Xxh3;

/// Maximum number of rows and of text bytes in one part.
const ROWS: usize = 100;
const BYTES: usize = 256 << 10;

/// Content of a file with many runs.
pub(super) struct ManyFile {
    pub(super) unit: UnitId,
    pub(super) marks: Vec<(FileId, Mark)>,
    pub(super) bytes: Vec<u8>,
    /// Time of the last change, in nanoseconds since 1970.
    pub(super) newest: i64,
}

/// Passes the rows of a file to `give` until it returns false.
pub(super) fn look(limits: &Limits, file: ManyFile, give: &mut dyn FnMut(ParsedUnit) -> bool) {
    let ManyFile { unit, mut marks, bytes, newest } = file;
    let path = unit.file.to_display();
    let opened = guarded(|| Collection::open(&path, &bytes)).and_then(|opened| opened);
    let many = match opened {
        Ok(many) => many,
        Err(error) => {
            let mut row = Row {
                size: bytes.len() as u64,
                modified_ms: newest.div_euclid(1_000_000),
                ..Row::default()
            };
            let again_ns = row.fail(error, newest, limits);
            give(ParsedUnit { unit, marks, outcome: Outcome::Row(Box::new(row)), again_ns });
            return;
        }
    };
    let mut unread = marks.clone();
    unsettle(&mut unread);
    let (mut rows, mut weight, mut keys, mut again_ns) =
        (Vec::new(), 0, HashSet::with_capacity(many.len()), None);
    for at in 0..many.len() {
        let member = guarded(|| many.member(at)).unwrap_or_else(|error| {
            let key = many.key(at).to_owned();
            Some(Member { key, place: RunIdentity::default(), outline: Err(error) })
        });
        let Some(member) = member else { continue };
        let (row, again) = row(&many, at, member, newest, limits);
        again_ns = again_ns.max(again);
        weight += row.outline.as_ref().map_or(0, |outline| outline.text.len());
        keys.extend(row.member.as_ref().map(|member| unit.key_of(Some(&member.key))));
        rows.push(row);
        if rows.len() >= ROWS || weight >= BYTES {
            weight = 0;
            // The file counts as unread until the last part is written.
            let outcome = Outcome::Part(std::mem::take(&mut rows));
            if !give(ParsedUnit {
                unit: unit.clone(),
                marks: unread.clone(),
                outcome,
                again_ns: None,
            }) {
                return;
            }
        }
    }
    if let Some(mut row) = around(&many, &bytes, newest) {
        if let Some(error) = many.file_error() {
            again_ns = again_ns.max(row.fail(error.clone(), newest, limits));
        }
        keys.insert(unit.key_of(None));
        rows.push(row);
    }
    if again_ns.is_some() {
        unsettle(&mut marks);
    }
    give(ParsedUnit { unit, marks, outcome: Outcome::Last(rows, keys), again_ns });
}

/// Row for the file itself, if it is broken or has no members. Ensures that every recognized file
/// has a row.
fn around(many: &Collection<'_>, bytes: &[u8], newest: i64) -> Option<Row> {
    if many.file_error().is_none() && !many.is_empty() {
        return None;
    }
    let mut hash = Xxh3::new();
    hash.update(bytes);
    Some(Row {
        state: Some(RunState::Other),
        reason: Some("The file has a format for many runs and holds none.".to_owned()),
        size: bytes.len() as u64,
        modified_ms: newest.div_euclid(1_000_000),
        hash: hash.digest(),
        ..Row::default()
    })
}

/// Builds the row of a member. Also returns the time at which it must be read again, if any.
fn row(
    many: &Collection<'_>,
    at: usize,
    member: Member,
    newest: i64,
    limits: &Limits,
) -> (Row, Option<i64>) {
    let bytes = many.bytes_of(at);
    let mut hash = Xxh3::new();
    hash.update(format!("{:?}", member.place).as_bytes());
    hash.update(bytes);
    for (evaluator, why) in many.errors_of(at) {
        hash.update(evaluator.as_bytes());
        hash.update(why.as_bytes());
    }
    let at = Some(layouts::of_member(&member));
    let named = MemberRow { key: member.key };
    let mut row = Row {
        size: bytes.len() as u64,
        modified_ms: newest.div_euclid(1_000_000),
        hash: hash.digest(),
        member: Some(named),
        at,
        ..Row::default()
    };
    let again = match member.outline {
        Ok(outline) => {
            row.accept(outline);
            None
        }
        Err(error) => row.fail(error, newest, limits),
    };
    (row, again)
}

/// Runs a parser and reports a panic as a damaged file.
pub(super) fn guarded<T>(read: impl FnOnce() -> T) -> Result<T, ReadError> {
    catch_unwind(AssertUnwindSafe(read)).map_err(|_| {
        let message = "This could not be read: its content crashed the reader.";
        let error = ReadError::new(ReadErrorKind::Syntax, message);
        error.advise("Please report this file; it shows a bug in Touchstone.")
    })
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::index::{Index, Writer};
    use crate::parse_unit;
    use crate::reconcile::{KnownFiles, Relations, Step, reconcile};
    use crate::roots::{Root, Roots};
    use crate::scan::Found;
    use crate::suites::Tasks;
    use crate::unit_files::UnitFiles;
    use crate::{index_writer, load, open, record};
    use fs_err as fs;
    use proptest::prelude::*;
    use std::collections::{BTreeMap, HashMap};

    const FILES: [&str; 3] = ["a.json", "a.json.d/b.json", "c.json"];

    /// Folder with its index.
    struct Folder {
        home: tempfile::TempDir,
        roots: Roots,
        known: KnownFiles,
        written: usize,
    }

    /// File content: none, unrelated, or runs as (id, answer length); the flag truncates the text.
    #[derive(Debug, Clone)]
    enum Content {
        None,
        Other,
        Transcripts(Vec<(u8, u8)>, bool),
    }

    fn content() -> impl Strategy<Value = Content> {
        let runs = prop::collection::vec((0..5_u8, 0..3_u8), 1..5);
        prop_oneof![
            1 => Just(Content::None),
            1 => Just(Content::Other),
            6 => (runs, any::<bool>()).prop_map(|(runs, cut)| Content::Transcripts(runs, cut)),
        ]
    }

    fn text(content: &Content) -> Option<String> {
        match content {
            Content::None => None,
            Content::Other => Some("{\"rows\": []}".to_owned()),
            Content::Transcripts(runs, cut) => {
                let entry = |(id, says): &(u8, u8)| {
                    let says = if *says == 0 {
                        "oops".to_owned()
                    } else {
                        format!("\"{}\"", "x".repeat(usize::from(*says)))
                    };
                    format!(
                        "\"{id}\": {{\"query\": \"q\", \"answer\": {{\"final_answer\": {says}}}}}"
                    )
                };
                let text = format!("{{{}}}", runs.iter().map(entry).collect::<Vec<_>>().join(", "));
                Some(if *cut { text[..text.len() - 3].to_owned() } else { text })
            }
        }
    }

    impl Folder {
        fn new() -> Self {
            let home = tempfile::tempdir().unwrap();
            fs::create_dir_all(home.path().join("out/a.json.d")).unwrap();
            let output_dir = home.path().join("out");
            let roots = Roots {
                folder: output_dir.clone(),
                input_dir: None,
                output_dir,
                ..Roots::default()
            };
            Self { home, roots, known: KnownFiles::new(), written: 0 }
        }

        fn write(&self, file: usize, content: &Content) {
            let path = self.roots.output_dir.join(FILES[file]);
            match text(content) {
                Some(text) => fs::write(path, text).unwrap(),
                None => drop(fs::remove_file(path)),
            }
        }

        /// Parses everything. `parts` limits the parts taken from each file, to simulate an
        /// interruption.
        fn look(&mut self, writer: &mut Writer, parts: usize) -> Vec<String> {
            let scope = FileId::new(Root::Output, "");
            let found: BTreeMap<FileId, Found> = FILES
                .iter()
                .map(|name| FileId::new(Root::Output, *name))
                .filter_map(|file| Some((open::open(&self.roots, &file).ok()?.1, file)))
                .map(|(stamp, file)| (file, Found { stamp, odd: None }))
                .collect();
            let mut visible = Vec::new();
            let no_relations = Relations { owner: &|_| None, part_paths: &|_| Vec::new() };
            for step in reconcile(&self.known, &[scope], &found, &no_relations) {
                let unit = match step {
                    Step::Read(unit) => unit,
                    Step::Forget(id) => crate::reconcile::Unit { id, files: UnitFiles::default() },
                };
                let mut left = parts;
                let known = |_: &UnitId| HashMap::new();
                parse_unit::look(
                    &self.roots,
                    &Limits::default(),
                    unit,
                    &known,
                    &mut |mut looked| {
                        let placed = record::place_rows(&mut looked, &Tasks::default(), &[]);
                        let written = record::put(writer, &looked, placed).unwrap();
                        self.written += written.len();
                        visible.extend(
                            written.into_iter().filter(|one| one.visible).map(|one| one.key),
                        );
                        if looked.is_last() {
                            index_writer::remember(&mut self.known, &looked.unit, looked.marks);
                        }
                        left = left.saturating_sub(1);
                        left > 0
                    },
                );
            }
            visible
        }
    }

    /// Returns all rows, and the counts of dependent records.
    fn rows(writer: &Writer) -> (Vec<String>, Vec<i64>) {
        let text = "SELECT key || path || state || coalesce(task, '') || coalesce(reason, '') || coalesce(member, '') FROM runs ORDER BY path";
        let mut select = writer.sql.prepare(text).unwrap();
        let rows =
            select.query_map([], |row| row.get(0)).unwrap().collect::<Result<_, _>>().unwrap();
        let count = |text: &str| writer.sql.query_row(text, [], |row| row.get(0)).unwrap();
        let counts = [
            "SELECT count(*) FROM items",
            "SELECT count(*) FROM answers",
            "SELECT count(*) FROM files",
            "SELECT count(*) FROM files f WHERE NOT EXISTS (SELECT 1 FROM runs r WHERE r.unit = f.unit)",
            "SELECT count(*) FROM items i WHERE NOT EXISTS (SELECT 1 FROM runs r WHERE r.id = i.run)",
        ];
        (rows, counts.map(count).to_vec())
    }

    proptest! {
        #![proptest_config(ProptestConfig { cases: 48, ..ProptestConfig::default() })]

        #[test]
        fn after_any_changes_the_index_says_what_one_that_is_made_anew_says(
            changes in prop::collection::vec((0..FILES.len(), content(), any::<bool>()), 1..8)
        ) {
            let mut folder = Folder::new();
            let (_index, mut writer) = Index::open(&folder.home.path().join("cache"), &folder.roots.output_dir).unwrap();
            for (file, content, cut_off) in changes {
                folder.write(file, &content);
                if cut_off {
                    // Simulates a restart: the new process knows only what is in the index.
                    folder.look(&mut writer, 1);
                    folder.known = load::known_files(&writer.sql).unwrap();
                }
                folder.look(&mut writer, usize::MAX);
                let mut again = Folder { home: tempfile::tempdir().unwrap(), roots: folder.roots.clone(), known: KnownFiles::new(), written: 0 };
                let (_index, mut anew) = Index::open(&again.home.path().join("cache"), &again.roots.output_dir).unwrap();
                again.look(&mut anew, usize::MAX);
                prop_assert_eq!(rows(&writer), rows(&anew));
            }
        }
    }

    #[test]
    fn a_file_of_many_runs_is_given_in_parts_and_counts_as_read_only_with_the_last() {
        let mut folder = Folder::new();
        let (_index, mut writer) =
            Index::open(&folder.home.path().join("cache"), &folder.roots.output_dir).unwrap();
        let entries: Vec<String> = (0..250)
            .map(|id| format!("\"{id}\": {{\"query\": \"q\", \"answer\": {{}}}}"))
            .collect();
        fs::write(folder.roots.output_dir.join("a.json"), format!("{{{}}}", entries.join(",")))
            .unwrap();
        assert_eq!(folder.look(&mut writer, 1).len(), 100);
        let known = load::known_files(&writer.sql).unwrap();
        assert_eq!(known.values().map(|mark| mark.settled).collect::<Vec<_>>(), [false]);
        folder.known = known;
        // Rows written earlier are not reported again.
        assert_eq!((folder.look(&mut writer, usize::MAX).len(), rows(&writer).0.len()), (150, 250));
        assert!(folder.known.len() == 1 && folder.look(&mut writer, usize::MAX).is_empty());
    }
}
