//! Segments that are made to harm: each is refused with a reason before anything large is made of
//! it.
#![expect(clippy::unwrap_in_result, reason = "a test fails by panicking")]
use super::columns::{ClaimedFile, RunRecord, schema};
use super::files::{FOLDER, each_segment, segments};
use super::read::{is_below, read};
use super::write::{SegmentRow, put_segment, start};
use crate::roots::Roots;
use parquet::basic::{Compression, Encoding, ZstdLevel};
use parquet::data_type::{ByteArray, ByteArrayType, Int32Type, Int64Type};
use parquet::file::properties::WriterProperties;
use parquet::file::writer::SerializedFileWriter;
use parquet::schema::parser::parse_message_type;
use parquet::schema::types::ColumnPath;
use std::collections::HashSet;
use std::sync::Arc;

const VERSION: i32 = 7;

fn row(path: &str, index_row: &[u8]) -> SegmentRow {
    let files = vec![ClaimedFile { path: path.to_owned(), size: 1, mtime_ns: 2 }];
    let run = RunRecord { path: path.to_owned(), ..RunRecord::default() };
    SegmentRow { run, files, index_row: index_row.to_vec() }
}

fn segment(rows: &[SegmentRow]) -> Vec<u8> {
    let mut file = start(Vec::new(), &schema(true)).unwrap();
    put_segment(&mut file, rows, VERSION).unwrap();
    file.into_inner().unwrap()
}

/// Reads bytes as a segment. Returns the paths that it claims, or why it is refused.
fn claims(bytes: &[u8]) -> Result<Vec<String>, String> {
    let dir = tempfile::tempdir().unwrap();
    let path = dir.path().join("s.parquet");
    fs_err::write(&path, bytes).unwrap();
    let mut paths = Vec::new();
    read(fs_err::File::open(&path).unwrap(), true, &mut |claim| {
        paths.extend(claim.files.into_iter().map(|file| file.path));
        true
    })?;
    Ok(paths)
}

#[test]
fn claims_are_read_back_over_several_groups() {
    let mut file = start(Vec::new(), &schema(true)).unwrap();
    let names: Vec<String> = (0..3_000).map(|n| format!("a/{n}.yaml")).collect();
    for names in names.chunks(700) {
        let rows: Vec<SegmentRow> = names.iter().map(|name| row(name, b"{}")).collect();
        put_segment(&mut file, &rows, VERSION).unwrap();
    }
    assert_eq!(claims(&file.into_inner().unwrap()).unwrap(), names);
}

#[test]
fn a_path_that_leaves_the_folder_refuses_the_segment() {
    assert!(is_below("a/b..c/.d"));
    for path in ["/etc/passwd", "../up", "a/../../up", "a//b", "", ".", "./a", "a/", "a\0b"] {
        assert!(!is_below(path), "{path:?}");
        let why = claims(&segment(&[row(path, b"{}")])).unwrap_err();
        assert!(why.contains("outside of the folder"), "{path:?}: {why}");
    }
    assert!(!is_below(&"a/".repeat(4_000)));
}

/// Writes the columns that claims are read from, with so many values of `index.row` that are so long.
fn made_by_hand(rows: usize, len: usize, encoding: Encoding) -> Vec<u8> {
    let schema = "message runs {
        REQUIRED GROUP files (LIST) { REPEATED GROUP list { REQUIRED GROUP element {
            REQUIRED BYTE_ARRAY path (STRING); OPTIONAL INT64 size; OPTIONAL INT64 mtime_ns; } } }
        REQUIRED GROUP index { REQUIRED INT32 version; REQUIRED BYTE_ARRAY row; } }";
    let compression = Compression::ZSTD(ZstdLevel::try_new(1).unwrap());
    let row = ColumnPath::new(vec!["index".to_owned(), "row".to_owned()]);
    let properties = WriterProperties::builder()
        .set_compression(compression)
        .set_dictionary_enabled(false)
        .set_offset_index_disabled(true)
        .set_column_encoding(row, encoding)
        .build();
    let schema = Arc::new(parse_message_type(schema).unwrap());
    let mut file = SerializedFileWriter::new(Vec::new(), schema, Arc::new(properties)).unwrap();
    let mut group = file.next_row_group().unwrap();
    let (ones, twos, none) = (vec![1; rows], vec![2; rows], vec![0; rows]);
    let mut column = group.next_column().unwrap().unwrap();
    let paths = vec![ByteArray::from("a.yaml"); rows];
    column.typed::<ByteArrayType>().write_batch(&paths, Some(&ones), Some(&none)).unwrap();
    column.close().unwrap();
    for number in [1, 2] {
        let mut column = group.next_column().unwrap().unwrap();
        let numbers = vec![number; rows];
        column.typed::<Int64Type>().write_batch(&numbers, Some(&twos), Some(&none)).unwrap();
        column.close().unwrap();
    }
    let mut column = group.next_column().unwrap().unwrap();
    column.typed::<Int32Type>().write_batch(&vec![VERSION; rows], None, None).unwrap();
    column.close().unwrap();
    let mut column = group.next_column().unwrap().unwrap();
    let long = vec![ByteArray::from(vec![b' '; len]); rows];
    column.typed::<ByteArrayType>().write_batch(&long, None, None).unwrap();
    column.close().unwrap();
    group.close().unwrap();
    file.into_inner().unwrap()
}

#[test]
fn what_becomes_too_large_is_refused_before_it_is_unpacked() {
    assert_eq!(claims(&made_by_hand(1, 1_000, Encoding::PLAIN)).unwrap(), ["a.yaml"]);
    assert_eq!(claims(&made_by_hand(30, 1 << 20, Encoding::PLAIN)).unwrap().len(), 30);
    for (rows, len, expected) in [
        (1, 200 << 20, "becomes 200 MB large"),
        (1, (1 << 20) + 1, "a row of it is too large"),
        // Each page is allowed, and each row.
        (200, 1 << 20, "a group of its rows is too large"),
        (10, 60 << 20, "a group of its rows is too large"),
    ] {
        let bytes = made_by_hand(rows, len, Encoding::PLAIN);
        assert!(bytes.len() < 1 << 20, "{} bytes", bytes.len());
        let why = claims(&bytes).unwrap_err();
        assert!(why.contains(expected), "{rows} rows of {len}: {why}");
    }
}

#[test]
fn encodings_that_make_much_of_few_bytes_are_refused() {
    for encoding in [Encoding::DELTA_BYTE_ARRAY, Encoding::DELTA_LENGTH_BYTE_ARRAY] {
        let why = claims(&made_by_hand(3, 1_000, encoding)).unwrap_err();
        assert!(why.contains("its pages are damaged"), "{encoding}: {why}");
    }
}

#[test]
fn a_segment_that_goes_away_is_no_fault_and_the_one_that_took_its_place_is_read() {
    let dir = tempfile::tempdir().unwrap();
    let output_dir = dir.path().to_owned();
    let (folder, input_dir, models) = (output_dir.clone(), None, Vec::new());
    let roots = Roots { folder, input_dir, output_dir, models };
    let place = |name: &str| dir.path().join(FOLDER).join(format!("{name}.parquet"));
    fs_err::create_dir_all(dir.path().join(FOLDER)).unwrap();
    for name in ["1", "2", "3"] {
        fs_err::write(place(name), b"").unwrap();
    }
    let (mut seen, mut read) = (HashSet::new(), Vec::new());
    each_segment(&roots, &mut seen, &mut |name, file| {
        if read.is_empty() {
            fs_err::write(place("4"), b"").unwrap();
            fs_err::remove_file(place("1")).unwrap();
            fs_err::remove_file(place("2")).unwrap();
        }
        read.push((name, file.is_ok()));
        true
    });
    let ok = |name: &str| (format!("{name}.parquet"), true);
    assert_eq!(read, [ok("3"), ok("4")]);
    assert_eq!(segments(&roots), ["4.parquet", "3.parquet"]);
}

#[test]
fn bytes_that_were_changed_anywhere_are_refused_or_read_and_never_crash() {
    let rows: Vec<SegmentRow> = (0..20).map(|n| row(&format!("a/{n}.yaml"), b"{}")).collect();
    let good = segment(&rows);
    let (mut refused, mut seed) = (0, 7_u64);
    for _ in 0..600 {
        seed = seed.wrapping_mul(6_364_136_223_846_793_005).wrapping_add(1);
        let mut bytes = good.clone();
        let at = usize::try_from(seed >> 33).unwrap() % bytes.len();
        bytes[at] ^= u8::try_from((seed >> 20) & 0xff).unwrap() | 1;
        refused += usize::from(claims(&bytes).is_err());
    }
    for cut in (0..good.len()).step_by(97) {
        assert!(claims(&good[..cut]).is_err(), "{cut}");
    }
    assert!(refused > 50, "{refused} of 600 were refused");
}
