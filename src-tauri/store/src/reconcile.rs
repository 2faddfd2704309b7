//! **Pure.** Compares known marks with found stamps and returns the reads and removals that bring
//! the index in line with the disk. Owns the grouping of files into units; reads no files.
use super::layouts;
use super::open::Stamp;
use super::roots::{FileId, Root};
use super::scan::Found;
use super::unit_files::UnitFiles;
use super::unit_id::UnitId;
use std::cell::RefCell;
use std::collections::{BTreeMap, BTreeSet, HashMap};
use touchstone_imports::swe_bench;

/// State of a file in the index.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) struct Mark {
    /// Stamp at the time of reading.
    pub(crate) stamp: Stamp,
    /// False when the file was read so soon after its last change that another change may produce
    /// the same stamp.
    pub(crate) settled: bool,
    /// True when the path is not a regular file.
    pub(crate) odd: bool,
}

/// Marks of all indexed files.
pub(crate) type KnownFiles = BTreeMap<FileId, Mark>;

/// Unit with its files.
#[derive(Debug, Clone, PartialEq, Eq)]
pub(crate) struct Unit {
    pub(crate) id: UnitId,
    pub(crate) files: UnitFiles,
}

/// Required action.
#[derive(Debug, Clone, PartialEq, Eq)]
pub(crate) enum Step {
    /// Read these files and replace everything known of the unit.
    Read(Unit),
    /// The unit no longer exists.
    Forget(UnitId),
}

/// Returns the unit of a file.
pub(crate) fn unit_of(file: &FileId, odd: bool) -> UnitId {
    let alone = || UnitId { file: file.clone(), group: false };
    if odd || file.root == Root::Input {
        return alone();
    }
    let Some(stem) = std::str::from_utf8(file.name()).ok().and_then(layouts::member) else {
        return alone();
    };
    let mut path = file.parent().to_vec();
    if !path.is_empty() {
        path.push(b'/');
    }
    path.extend_from_slice(stem.as_bytes());
    UnitId { file: FileId::new(file.root, path), group: true }
}

/// Returns the files of a unit that are in the index.
pub(crate) fn members(known: &KnownFiles, unit: &UnitId) -> Vec<(FileId, Mark)> {
    if !unit.group {
        let mark = known.get(&unit.file).filter(|mark| unit_of(&unit.file, mark.odd) == *unit);
        return mark.map(|mark| (unit.file.clone(), *mark)).into_iter().collect();
    }
    below(known, &unit.file)
        .filter(|(file, mark)| unit_of(file, mark.odd) == *unit)
        .map(|(file, mark)| (file.clone(), *mark))
        .collect()
}

/// Tells which files the run of one file depends on.
pub(crate) struct Relations<'a> {
    /// Returns the file whose run a file is a part of.
    pub(crate) owner: &'a dyn Fn(&FileId) -> Option<FileId>,
    /// Returns the starts of the paths of files that may be parts of the run of a file.
    pub(crate) part_paths: &'a dyn Fn(&FileId) -> Vec<FileId>,
}

/// Returns the steps for everything within the scopes. Files outside of them are left alone, except
/// for those of runs whose parts changed, and for parts that came before their run.
pub(crate) fn reconcile(
    known: &KnownFiles,
    scopes: &[FileId],
    found: &BTreeMap<FileId, Found>,
    relations: &Relations<'_>,
) -> Vec<Step> {
    let owners = RefCell::new(HashMap::new());
    let owner_of = |file: &FileId| -> Option<FileId> {
        // Without known files, everything is read anyway.
        if known.is_empty() {
            return None;
        }
        if let Some(known) = owners.borrow().get(file) {
            return Option::clone(known);
        }
        let owner = (relations.owner)(file);
        owners.borrow_mut().insert(file.clone(), owner.clone());
        owner
    };
    let owner = |file: &FileId| unit_there(known, found, &owner_of(file)?);
    let parts = |file: &FileId| -> Vec<UnitId> {
        let starts = (relations.part_paths)(file);
        let candidates = starts.iter().flat_map(|start| below(known, start));
        candidates
            .filter(|(part, _)| owner_of(part).as_ref() == Some(file))
            .map(|(part, mark)| unit_of(part, mark.odd))
            .collect()
    };
    let mut units = BTreeSet::new();
    let mut judged = BTreeSet::new();
    for (file, now) in found {
        let same = known.get(file).is_some_and(|was| {
            was.stamp == now.stamp
                && was.odd == now.odd.is_some()
                && (was.settled || now.odd.is_some())
        });
        if !same {
            units.insert(unit_of(file, now.odd.is_some()));
            // A path that became odd, or stopped being odd, also leaves its former unit.
            units.extend(known.get(file).map(|was| unit_of(file, was.odd)));
            units.extend(owner(file));
            if !known.is_empty() && !known.contains_key(file) {
                units.extend(parts(file));
            }
            judged.extend(judged_folder(file));
        }
    }
    for scope in scopes {
        for (file, mark) in below(known, scope).filter(|(file, _)| scope.holds(file)) {
            if !found.contains_key(file) {
                units.insert(unit_of(file, mark.odd));
                units.extend(owner(file));
                judged.extend(judged_folder(file));
            }
        }
    }
    for folder in judged {
        let files = below(known, &folder).filter(|(file, _)| may_be_judged(&folder, file));
        units.extend(files.map(|(file, mark)| unit_of(file, mark.odd)));
    }
    units.into_iter().map(|unit| step(known, scopes, found, unit)).collect()
}

/// Returns the folder whose runs a file may judge, if it may be a report on runs of other tools.
fn judged_folder(file: &FileId) -> Option<FileId> {
    let name = std::str::from_utf8(file.name()).ok().filter(|_| file.root == Root::Output)?;
    swe_bench::is_report_name(name).then(|| FileId::new(Root::Output, file.parent()))
}

/// Returns true if a report in a folder may judge the runs of a file.
fn may_be_judged(folder: &FileId, file: &FileId) -> bool {
    let (folder, path) = (std::str::from_utf8(&folder.path), std::str::from_utf8(&file.path));
    folder.is_ok_and(|folder| path.is_ok_and(|path| swe_bench::may_judge(folder, path)))
}

/// Returns the unit of a file that exists.
fn unit_there(
    known: &KnownFiles,
    found: &BTreeMap<FileId, Found>,
    file: &FileId,
) -> Option<UnitId> {
    let odd = found
        .get(file)
        .map(|now| now.odd.is_some())
        .or_else(|| known.get(file).map(|mark| mark.odd))?;
    Some(unit_of(file, odd))
}

fn step(
    known: &KnownFiles,
    scopes: &[FileId],
    found: &BTreeMap<FileId, Found>,
    unit: UnitId,
) -> Step {
    let elsewhere = members(known, &unit)
        .into_iter()
        .filter(|(file, _)| !scopes.iter().any(|scope| scope.holds(file)));
    let elsewhere = elsewhere.map(|(file, mark)| (file, Found { stamp: mark.stamp, odd: None }));
    let prefix =
        found.range(unit.file.clone()..).take_while(|(file, _)| starts_with(file, &unit.file));
    let listed = prefix
        .filter(|(file, now)| unit_of(file, now.odd.is_some()) == unit)
        .map(|(file, now)| (file.clone(), now.clone()));
    let files: UnitFiles = elsewhere.chain(listed).collect();
    if files.is_empty() { Step::Forget(unit) } else { Step::Read(Unit { id: unit, files }) }
}

fn below<'a>(
    known: &'a KnownFiles,
    start: &'a FileId,
) -> impl Iterator<Item = (&'a FileId, &'a Mark)> {
    known.range(start.clone()..).take_while(move |(file, _)| starts_with(file, start))
}

fn starts_with(file: &FileId, start: &FileId) -> bool {
    file.root == start.root && file.path.starts_with(&start.path)
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::index_writer::remember;
    use proptest::prelude::*;

    const NO_RELATIONS: Relations<'_> = Relations { owner: &|_| None, part_paths: &|_| Vec::new() };

    type Disk = BTreeMap<FileId, Found>;
    /// Expected index content: each unit with the stamps of its files.
    type Rows = BTreeMap<UnitId, BTreeMap<FileId, Found>>;

    const NAMES: [&str; 9] = [
        "a.yaml",
        "d/a.yaml",
        "d/a_run_1.result",
        "d/a_run_1.history",
        "d/a_run_1",
        "d.yaml/b.yaml",
        "d/e/a_run_1.time",
        "d/e/c.txt",
        "d-/x",
    ];

    #[derive(Debug, Clone)]
    enum Event {
        Put(usize, u64),
        Odd(usize),
        Remove(usize),
        Look(Vec<usize>),
    }

    fn event() -> impl Strategy<Value = Event> {
        let file = 0..NAMES.len();
        prop_oneof![
            4 => (file.clone(), 0..4u64).prop_map(|(file, size)| Event::Put(file, size)),
            1 => file.clone().prop_map(Event::Odd),
            2 => file.clone().prop_map(Event::Remove),
            3 => prop::collection::vec(0..SCOPES.len(), 1..3).prop_map(Event::Look),
        ]
    }

    const SCOPES: [&str; 7] = ["", "a.yaml", "d", "d/a_run_1.result", "d/e", "d.yaml", "nothing"];

    fn file(name: &str) -> FileId {
        FileId::new(Root::Output, name)
    }

    /// Lists the scopes and applies the reconciliation steps.
    fn look(known: &mut KnownFiles, rows: &mut Rows, disk: &Disk, scopes: &[FileId]) {
        let seen: Disk = disk
            .iter()
            .filter(|(file, _)| scopes.iter().any(|s| s.holds(file)))
            .map(|(f, s)| (f.clone(), s.clone()))
            .collect();
        for step in reconcile(known, scopes, &seen, &NO_RELATIONS) {
            let (id, files) = match step {
                Step::Read(unit) => (unit.id, unit.files),
                Step::Forget(id) => (id, UnitFiles::default()),
            };
            // A file is read in its current state, whatever was known when the step was created. A
            // path that is no longer a file leaves its group.
            let as_is =
                files.keys().filter_map(|file| Some((file.clone(), disk.get(file)?.clone())));
            let files: Disk =
                as_is.filter(|(file, now)| unit_of(file, now.odd.is_some()) == id).collect();
            let marks = files.iter().map(|(file, found)| {
                (file.clone(), Mark { stamp: found.stamp, settled: true, odd: found.odd.is_some() })
            });
            remember(known, &id, marks.collect());
            if files.is_empty() {
                rows.remove(&id);
            } else {
                rows.insert(id, files);
            }
        }
    }

    proptest! {
        #[test]
        fn following_any_sequence_of_events_ends_where_reading_everything_anew_does(events in prop::collection::vec(event(), 0..40)) {
            let (mut disk, mut known, mut rows) = (Disk::new(), KnownFiles::new(), Rows::new());
            for event in events {
                match event {
                    Event::Put(n, size) => {
                        disk.insert(file(NAMES[n]), Found { stamp: Stamp { size, ..Stamp::default() }, odd: None });
                    }
                    Event::Odd(n) => {
                        disk.insert(file(NAMES[n]), Found { stamp: Stamp::default(), odd: Some("odd".into()) });
                    }
                    Event::Remove(n) => drop(disk.remove(&file(NAMES[n]))),
                    Event::Look(scopes) => {
                        let scopes: Vec<FileId> = scopes.into_iter().map(|n| file(SCOPES[n])).collect();
                        look(&mut known, &mut rows, &disk, &scopes);
                    }
                }
            }
            let everything = [file("")];
            look(&mut known, &mut rows, &disk, &everything);
            let (mut known_anew, mut rows_anew) = (KnownFiles::new(), Rows::new());
            look(&mut known_anew, &mut rows_anew, &disk, &everything);
            prop_assert_eq!(&rows, &rows_anew);
            prop_assert_eq!(&known, &known_anew);
            prop_assert_eq!(reconcile(&known, &everything, &disk, &NO_RELATIONS), Vec::new());
        }
    }

    #[test]
    fn unsettled_files_are_read_again_even_with_the_same_stamp() {
        let found = Found { stamp: Stamp::default(), odd: None };
        let disk = Disk::from([(file("a.yaml"), found)]);
        let mark = |settled| {
            KnownFiles::from([(
                file("a.yaml"),
                Mark { stamp: Stamp::default(), settled, odd: false },
            )])
        };
        let steps = |settled| reconcile(&mark(settled), &[file("")], &disk, &NO_RELATIONS).len();
        assert_eq!((steps(true), steps(false)), (0, 1));
    }

    #[test]
    fn a_run_is_read_again_when_a_part_of_it_comes_changes_or_goes() {
        let now = |size| Found { stamp: Stamp { size, ..Stamp::default() }, odd: None };
        let mark = |size| Mark { stamp: now(size).stamp, settled: true, odd: false };
        let (run, part, other) = (file("d/run.json"), file("d/part.json"), file("d/other.json"));
        let owner = |one: &FileId| (*one == file("d/part.json")).then(|| file("d/run.json"));
        let relations = Relations { owner: &owner, part_paths: &|_| vec![file("d/p")] };
        let base = KnownFiles::from([(run.clone(), mark(1)), (other.clone(), mark(1))]);
        let with_part = || {
            let mut known = base.clone();
            known.insert(part.clone(), mark(1));
            known
        };
        let disk = |part_size: Option<u64>| {
            let mut disk = Disk::from([(run.clone(), now(1)), (other.clone(), now(1))]);
            disk.extend(part_size.map(|size| (part.clone(), now(size))));
            disk
        };
        for (known, disk, count) in [
            (base.clone(), disk(Some(1)), 2),
            (with_part(), disk(Some(2)), 2),
            (with_part(), disk(None), 2),
            (with_part(), disk(Some(1)), 0),
        ] {
            // The run lies in the scope or outside of it.
            for scope in [file("d"), part.clone()] {
                let within = disk.clone().into_iter().filter(|(file, _)| scope.holds(file));
                let steps =
                    reconcile(&known, std::slice::from_ref(&scope), &within.collect(), &relations);
                let run_read =
                    |step: &Step| matches!(step, Step::Read(unit) if unit.id.file == run);
                assert_eq!(
                    (steps.len(), steps.iter().any(run_read)),
                    (count, count > 0),
                    "{steps:?}"
                );
            }
        }
        // Without the run, nothing is there to read.
        let lone = Disk::from([(part.clone(), now(1))]);
        assert_eq!(reconcile(&KnownFiles::new(), &[file("")], &lone, &relations).len(), 1);
        // A part that came before its run is read again with it.
        let known = KnownFiles::from([(part.clone(), mark(1)), (other, mark(1))]);
        let both = Disk::from([(run.clone(), now(1))]);
        let read: Vec<_> = reconcile(&known, std::slice::from_ref(&run), &both, &relations)
            .into_iter()
            .map(|step| match step {
                Step::Read(unit) => unit.id.file,
                Step::Forget(unit) => panic!("{unit:?}"),
            })
            .collect();
        assert_eq!(read, [part, run]);
    }
}
