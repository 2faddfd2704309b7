//! Segments that are made to harm: each is refused with a reason before anything large is made of
//! it.
use super::columns::{ClaimedFile, RunRecord, schema};
use super::read::{is_below, read};
use super::write::{SegmentRow, put_segment, start};
use parquet::basic::{Compression, ZstdLevel};
use parquet::data_type::{ByteArray, ByteArrayType, Int32Type, Int64Type};
use parquet::file::properties::WriterProperties;
use parquet::file::writer::SerializedFileWriter;
use parquet::schema::parser::parse_message_type;
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

/// Writes the columns that claims are read from, with one value of `index.row` that is so long.
fn bomb(len: usize) -> Vec<u8> {
    let schema = "message runs {
        REQUIRED GROUP files (LIST) { REPEATED GROUP list { REQUIRED GROUP element {
            REQUIRED BYTE_ARRAY path (STRING); OPTIONAL INT64 size; OPTIONAL INT64 mtime_ns; } } }
        REQUIRED GROUP index { REQUIRED INT32 version; REQUIRED BYTE_ARRAY row; } }";
    let compression = Compression::ZSTD(ZstdLevel::try_new(19).unwrap());
    let properties = WriterProperties::builder()
        .set_compression(compression)
        .set_dictionary_enabled(false)
        .set_offset_index_disabled(true)
        .build();
    let schema = Arc::new(parse_message_type(schema).unwrap());
    let mut file = SerializedFileWriter::new(Vec::new(), schema, Arc::new(properties)).unwrap();
    let mut group = file.next_row_group().unwrap();
    let mut column = group.next_column().unwrap().unwrap();
    let path = [ByteArray::from("a.yaml")];
    column.typed::<ByteArrayType>().write_batch(&path, Some(&[1]), Some(&[0])).unwrap();
    column.close().unwrap();
    for number in [1, 2] {
        let mut column = group.next_column().unwrap().unwrap();
        column.typed::<Int64Type>().write_batch(&[number], Some(&[2]), Some(&[0])).unwrap();
        column.close().unwrap();
    }
    let mut column = group.next_column().unwrap().unwrap();
    column.typed::<Int32Type>().write_batch(&[VERSION], None, None).unwrap();
    column.close().unwrap();
    let mut column = group.next_column().unwrap().unwrap();
    let long = [ByteArray::from(vec![b' '; len])];
    column.typed::<ByteArrayType>().write_batch(&long, None, None).unwrap();
    column.close().unwrap();
    group.close().unwrap();
    file.into_inner().unwrap()
}

#[test]
fn a_page_that_becomes_too_large_is_refused_before_it_is_unpacked() {
    assert_eq!(claims(&bomb(1_000)).unwrap(), ["a.yaml"]);
    let bytes = bomb(200 << 20);
    assert!(bytes.len() < 1 << 20, "{} bytes", bytes.len());
    let why = claims(&bytes).unwrap_err();
    assert!(why.contains("becomes 200 MB large"), "{why}");
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
