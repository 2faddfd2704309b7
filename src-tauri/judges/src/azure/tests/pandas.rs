//! Tests of table contents as read by pandas 2.3. Every expected cell is the output of pandas for
//! that text.
use crate::azure::{Outputs, Quirks, Results, Table, metrics};
use touchstone_model::json;
use touchstone_model::value::Value;

/// Returns the columns with their cells, or the error.
fn read(text: &str, csv: bool) -> String {
    let quirks = Quirks::from_names(["pandas_types"]).unwrap();
    let table = match Table::read(text, csv, &quirks) {
        Ok(table) => table,
        Err(why) => return why,
    };
    let cell = |cell: Option<&Value>| {
        cell.map_or_else(|| "-".to_owned(), |value| json::write(value, false))
    };
    let column = |(at, name): (usize, &String)| {
        format!(
            "{name}: {}",
            table.rows.iter().map(|row| cell(row.cell(at))).collect::<Vec<_>>().join(" ")
        )
    };
    table.columns.iter().enumerate().map(column).collect::<Vec<_>>().join(" | ")
}

#[test]
fn numbers_of_json_lines_are_read_as_roughly_as_pandas_does() {
    for (written, cell) in [
        ("0.3", "0.30000000000000004"),
        ("0.7", "0.7000000000000001"),
        ("-0.57", "-0.5700000000000001"),
        ("0.6495461355254983", "0.649546135525498"),
        ("3.933536230698396e-09", "3.9335362306983965e-09"),
        ("99e-30", "9.900000000000001e-29"),
        ("8.599465287952898e+19", "8.599465287952897e+19"),
        ("1e-7", "1e-07"),
        ("123.456", "123.456"),
        ("1e5", "100000.0"),
        ("1e400", "\"Infinity\""),
        ("-0.0", "-0.0"),
        ("-0", "0"),
        ("18446744073709551615", "18446744073709551615"),
        ("NaN", "null"),
        ("-Infinity", "\"-.inf\""),
    ] {
        // The types of columns do not affect values within a list.
        assert_eq!(
            read(&format!("{{\"a\": [{written}]}}"), false),
            format!("a: [{cell}]"),
            "{written}"
        );
    }
    for (written, why) in [
        ("18446744073709551616", "Value is too big!"),
        ("-9223372036854775809", "Value is too small"),
    ] {
        let refused = read(&format!("{{\"a\": {written}}}"), false);
        assert_eq!(refused, format!("The package reads no file with such a line. Line 1 {why}"));
    }
}

#[test]
fn columns_of_json_lines_get_one_type() {
    for (cells, expected) in [
        (["\"1.50\"", "\"2\""], "1.5 2.0"),
        (["2.0", "3.0"], "2 3"),
        (["-0.0", "1e5"], "0 100000"),
        (["true", "false"], "true false"),
        (["true", "null"], "1.0 \"NaN\""),
        (["true", "\"1\""], "1 1"),
        (["true", "\"x\""], "true \"x\""),
        (["\"7\"", "\"y\""], "\"7\" \"y\""),
        (["1", "{}"], "1 {}"),
        (["\"a\"", "1.50"], "\"a\" 1.5"),
        (["\"a\"", "null"], "\"a\" null"),
        (["NaN", "\"x\""], "null \"x\""),
        (["null", "null"], "\"NaN\" \"NaN\""),
        (["null", "9007199254740993"], "\"NaN\" 9007199254740992.0"),
        (["1", "12345678901234567890"], "1 12345678901234567890"),
        (["-1", "12345678901234567890"], "-1.0 1.2345678901234567e+19"),
        (["9223372036854774784.0", "1"], "9223372036854774784 1"),
        (["9223372036854775807.0", "1"], "9.223372036854776e+18 1.0"),
        (["\"१\"", "\" 1_0 \""], "1 10"),
    ] {
        let lines = cells.map(|cell| format!("{{\"a\": {cell}}}")).join("\n");
        assert_eq!(read(&lines, false), format!("a: {expected}"), "{cells:?}");
    }
    assert_eq!(read("{\"a\": 1}\n{\"b\": \"x\"}", false), "a: 1.0 \"NaN\" | b: \"NaN\" \"x\"");
    for text in ["\u{feff}{\"a\": 1}", "[{\"a\": 1}]"] {
        let why =
            "The package reads JSON Lines without a mark of the byte order, and nothing else.";
        assert_eq!(read(text, false), why);
    }
    assert!(
        read("{\"a\": 1}\nno", false)
            .starts_with("The package reads no file with such a line. Line 2 is not JSON")
    );
}

#[test]
fn columns_that_pandas_takes_for_dates_cannot_be_written() {
    let refused = |name: &str, cell: &str| {
        read(&format!("{{\"{name}\": {cell}}}"), false).contains("Timestamp")
    };
    for (name, cell, dates) in [
        ("created_at", "\"2024-01-02\"", true),
        ("created_at", "\"2024-01-02T03:04:05Z\"", true),
        ("start_time", "\"10:30\"", true),
        ("DateTime", "\"Jan 5, 2024\"", true),
        ("timestamp_ms", "1700000000", true),
        ("timestamp_ms", "\"1700000000\"", true),
        ("response_time", "\"1.5\"", true),
        ("date", "null", true),
        ("date", "\"\"", true),
        ("date", "\"now\"", true),
        ("created_at", "170", false),
        ("created_at", "\"170\"", false),
        ("response_time", "1.5", false),
        ("date", "\"soon\"", false),
        ("date", "\"May\"", false),
        ("date", "\"3pm\"", false),
        ("date", "\"2024-13-01\"", false),
        ("date", "\"9999-12-31\"", false),
        ("date", "true", false),
        ("date", "{\"a\": 1}", false),
        ("update", "\"2024-01-02\"", false),
    ] {
        assert_eq!(refused(name, cell), dates, "{name} {cell}");
    }
}

#[test]
fn cells_of_csv_become_numbers_and_flags_by_columns() {
    for (text, expected) in [
        (
            "i,h,b,t\n1,1.5,True,NA\n2,,false,x\n3",
            "i: 1 2 3 | h: 1.5 \"NaN\" \"NaN\" | b: true false \"NaN\" | t: \"NaN\" \"x\" \"NaN\"",
        ),
        ("a\n9007199254740993\n-1", "a: 9007199254740993 -1"),
        ("a\n1\n12345678901234567890", "a: 1 12345678901234567890"),
        ("a\n-1\n9223372036854775808", "a: \"-1\" \"9223372036854775808\""),
        ("a,b\n12345678901234567890,1\n,2", "a: \"12345678901234567890\" \"\" | b: 1 2"),
        (
            "a,b\n9223372036854775807,1\n,2\n-9223372036854775808,3",
            "a: 9.223372036854776e+18 \"NaN\" \"NaN\" | b: 1 2 3",
        ),
        ("a\n18446744073709551616", "a: \"18446744073709551616\""),
        ("a\n+1\n 2 \n005", "a: 1 2 5"),
        ("a\n1.0\n2", "a: 1.0 2.0"),
        ("a\n-0\n.5\n5.", "a: -0.0 0.5 5.0"),
        ("a\n1e400", "a: \"1e400\""),
        ("a\n1e-400\n1E5", "a: 0.0 100000.0"),
        ("a\ninf\n-Infinity", "a: \"Infinity\" \"-Infinity\""),
        ("a\n98.32569208546058803", "a: 98.32569208546057"),
        ("a\n1_0", "a: \"1_0\""),
        ("a\n१", "a: \"१\""),
        ("a\n1e", "a: \"1e\""),
        ("a\nTrue\ntRUE", "a: true true"),
        ("a\nTrue\n1", "a: \"True\" \"1\""),
        ("a\nnull\nNull\n NA", "a: \"NaN\" \"Null\" \" NA\""),
        ("a,,a,a.1\n1,2,3,4", "a: 1 | Unnamed: 1: 2 | a.2: 3 | a.1: 4"),
    ] {
        assert_eq!(read(text, true), expected, "{text:?}");
    }
    for text in ["a,b\n1,2\n1,2,3", "a\n\"open"] {
        assert!(
            read(text, true).starts_with("The package reads no file with such a line."),
            "{text:?}"
        );
    }
}

#[test]
fn what_a_target_said_is_written_by_columns_of_one_type() {
    let data = Table::read("{\"n\": 0}\n{\"n\": 1}", false, &Quirks::default()).unwrap();
    let said = |rows: [&str; 2]| {
        let row = |text: &str| {
            let entries = json::read(text).unwrap().entries().to_vec();
            entries
                .into_iter()
                .map(|(key, value)| (key.text().unwrap().to_owned(), Some(value)))
                .collect()
        };
        let said = Table::from_rows(rows.map(row)).unwrap();
        let (target, outputs, metrics) = (Some(&said), [], []);
        let results = Results {
            data: &data,
            target,
            outputs: &outputs,
            metrics: &metrics,
            about: &[],
            faults: &[],
            kept: None,
        };
        results.text(&Quirks::all())
    };
    let text = said([
        r#"{"whole": 5, "text": "a", "both": 1, "none": null}"#,
        r#"{"whole": null, "both": "x"}"#,
    ]);
    for part in [
        "\"outputs.whole\": 5.0, ",
        "\"outputs.whole\": NaN, ",
        "\"outputs.both\": 1, ",
        "\"outputs.text\": NaN",
    ] {
        assert!(text.contains(part), "{part} {text}");
    }
    // When a row lacks the value, null becomes NaN too; when all rows have null, it stays null.
    assert_eq!(text.matches("\"outputs.none\": NaN}").count(), 2, "{text}");
    assert!(said([r#"{"a": null}"#, r#"{"a": null}"#]).contains("\"outputs.a\": null}"));
}

#[test]
fn rates_follow_the_package_in_order_names_and_what_counts() {
    let of = |name: &str, rows: &[&str]| {
        let mut outputs = Outputs::named(name, false, rows.len());
        for (at, text) in rows.iter().enumerate() {
            let entries = json::read(text).unwrap().entries().to_vec();
            let named: Vec<_> = entries
                .into_iter()
                .map(|(key, value)| (key.text().unwrap().to_owned(), value))
                .collect();
            outputs.set(at, &named);
        }
        outputs
    };
    let all = [
        of(
            "pro",
            &[
                r#"{"groundedness_pro_label": true, "eci_details": {"a": true}}"#,
                r#"{"groundedness_pro_label": false, "eci_details": {"a": false}}"#,
            ],
        ),
        of(
            "harm",
            &[
                r#"{"violence_score": 5, "sexual_score": null, "XPIA_label": true, "eci_details": {"b": true}}"#,
                r#"{"violence_score": "1", "sexual_score": null, "XPIA_label": 0, "eci_details": {"b": false}}"#,
            ],
        ),
        of(
            "my.harm",
            &[
                r#"{"violence_score": 5, "x_result": "pass"}"#,
                r#"{"violence_score": 2, "x_result": "fail"}"#,
            ],
        ),
        of("outputs.f1", &[r#"{"f1_score": 1.0}"#, r#"{"f1_score": 0.5}"#]),
    ];
    let told = |quirks: &Quirks| {
        let value =
            |value: Option<f64>| value.map_or_else(|| "none".to_owned(), |value| value.to_string());
        let told: Vec<_> = metrics(&all, quirks)
            .into_iter()
            .map(|metric| format!("{} {}", metric.name, value(metric.value)))
            .collect();
        told.join(", ")
    };
    assert_eq!(
        told(&Quirks::all()),
        "my.harm.violence_score 3.5, f1.f1_score 0.75, harm.violence_defect_rate 0.5, pro.groundedness_pro_passing_rate 0.5, \
         harm.XPIA_defect_rate 0.5, harm.eci_details.b_defect_rate 0.5, my.binary_aggregate 0.5"
    );
    assert_eq!(
        told(&Quirks::default()),
        "outputs.f1.f1_score 0.75, pro.groundedness_pro_passing_rate 0.5, pro.eci_details.a_defect_rate 0.5, \
         harm.violence_defect_rate 1, harm.sexual_defect_rate none, harm.XPIA_defect_rate 1, harm.eci_details.b_defect_rate 0.5, \
         my.harm.violence_defect_rate 0.5, my.harm.binary_aggregate 0.5"
    );
}
