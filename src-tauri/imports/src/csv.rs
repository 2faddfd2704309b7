//! **Pure.** Reads tables after RFC 4180: fields between commas, quotes around what holds commas,
//! quotes or line ends.
use std::ops::Range;

/// Returns the places of the records, without blank lines, and whether the last one is complete:
/// its quotes are closed.
pub fn records(text: &str) -> (Vec<Range<usize>>, bool) {
    let (mut places, mut start, mut quoted) = (Vec::new(), 0, false);
    for (at, byte) in text.bytes().enumerate() {
        match byte {
            b'"' => quoted = !quoted,
            b'\n' if !quoted => {
                places.push(start..at);
                start = at + 1;
            }
            _ => {}
        }
    }
    places.push(start..text.len());
    places.retain(|place| !text.get(place.clone()).unwrap_or_default().trim().is_empty());
    (places, !quoted)
}

/// Returns the fields of a record.
pub fn fields(record: &str) -> Vec<String> {
    let mut rest = record.strip_suffix('\r').unwrap_or(record);
    let mut fields = Vec::new();
    loop {
        let (field, after) = if let Some(inside) = rest.strip_prefix('"') {
            unquote(inside)
        } else {
            let (field, after) = rest.split_at(rest.find(',').unwrap_or(rest.len()));
            (field.to_owned(), after)
        };
        fields.push(field);
        match after.strip_prefix(',') {
            Some(next) => rest = next,
            None => return fields,
        }
    }
}

/// Returns the text up to the closing quote, and what follows the field.
fn unquote(inside: &str) -> (String, &str) {
    let mut field = String::new();
    let mut rest = inside;
    loop {
        let Some((part, after)) = rest.split_once('"') else {
            field.push_str(rest);
            return (field, "");
        };
        field.push_str(part);
        match after.strip_prefix('"') {
            Some(next) => {
                field.push('"');
                rest = next;
            }
            None => {
                return (
                    field,
                    after.get(after.find(',').unwrap_or(after.len())..).unwrap_or_default(),
                );
            }
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use proptest::prelude::*;

    fn table(text: &str) -> Vec<Vec<String>> {
        records(text).0.into_iter().map(|place| fields(&text[place])).collect()
    }

    #[test]
    fn quotes_hold_commas_line_ends_and_doubled_quotes() {
        let text = "a,\"b,\"\"c\"\"\r\nd\",\r\n\n,x\n\"\"";
        assert_eq!(table(text), [vec!["a", "b,\"c\"\r\nd", ""], vec!["", "x"], vec![""]]);
        assert!(records(text).1 && !records("a,\"b\nc").1);
    }

    proptest! {
        #[test]
        fn no_text_brings_it_to_a_stop(text in "[\",\r\na é]{0,40}") {
            let _ = table(&text);
        }
    }
}
