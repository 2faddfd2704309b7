//! **Pure.** Parser of server-sent events, from byte chunks of any size. Owns the line and field
//! syntax, not the meaning of the events.

/// A complete event, ended by a blank line.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Event {
    /// Event name; `message` if the stream gives none.
    pub name: String,
    /// Data lines, joined by line feeds.
    pub data: String,
}

/// Parser state between two chunks.
#[derive(Debug, Default)]
pub struct Events {
    line: Vec<u8>,
    name: String,
    data: Option<String>,
    /// The last byte was a carriage return; a line feed after it ends no further line.
    returned: bool,
    /// The first line is over; a byte order mark can no longer occur.
    begun: bool,
}

impl Events {
    /// Parses the next chunk, and returns the events that end in it.
    pub fn push(&mut self, piece: &[u8]) -> Vec<Event> {
        let mut ended = Vec::new();
        for &byte in piece {
            let second_half = byte == b'\n' && self.returned;
            self.returned = byte == b'\r';
            if second_half {
                continue;
            }
            if matches!(byte, b'\n' | b'\r') {
                let line = std::mem::take(&mut self.line);
                ended.extend(self.take(&line));
            } else {
                self.line.push(byte);
            }
        }
        ended
    }

    /// Parses a line; a blank one ends the event.
    fn take(&mut self, line: &[u8]) -> Option<Event> {
        let marked = if self.begun { None } else { line.strip_prefix(b"\xEF\xBB\xBF") };
        self.begun = true;
        let line = String::from_utf8_lossy(marked.unwrap_or(line));
        if line.is_empty() {
            let name = std::mem::take(&mut self.name);
            let name = if name.is_empty() { "message".to_owned() } else { name };
            return self.data.take().map(|data| Event { name, data });
        }
        let (field, value) = line.split_once(':').unwrap_or((&line, ""));
        let value = value.strip_prefix(' ').unwrap_or(value);
        match field {
            "event" => value.clone_into(&mut self.name),
            "data" => match &mut self.data {
                Some(data) => {
                    data.push('\n');
                    data.push_str(value);
                }
                None => self.data = Some(value.to_owned()),
            },
            // A line with an empty field name is a comment that keeps the connection alive; `id`
            // and `retry` are for clients that reconnect.
            _ => {}
        }
        None
    }
}

/// Returns the events of a whole body. Text after the last blank line is an incomplete event and is
/// dropped.
pub fn events(body: &[u8]) -> Vec<Event> {
    Events::default().push(body)
}

#[cfg(test)]
mod tests {
    use super::{Event, Events, events};
    use proptest::prelude::*;

    fn parsed_events(body: &str) -> Vec<(String, String)> {
        events(body.as_bytes()).into_iter().map(|event| (event.name, event.data)).collect()
    }

    fn pairs(pairs: &[(&str, &str)]) -> Vec<(String, String)> {
        pairs.iter().map(|(name, data)| ((*name).to_owned(), (*data).to_owned())).collect()
    }

    #[test]
    fn events_are_read_as_the_standard_says() {
        let cases: [(&str, &[(&str, &str)]); 16] = [
            ("", &[]),
            ("data: a\n\n", &[("message", "a")]),
            ("data:a\n\n", &[("message", "a")]),
            ("data:  a \n\n", &[("message", " a ")]),
            ("event: ping\ndata: {}\n\n", &[("ping", "{}")]),
            ("data: a\r\n\r\ndata: b\r\n\r\n", &[("message", "a"), ("message", "b")]),
            ("event: x\r\ndata: a\r\ndata: b\r\n\r\n", &[("x", "a\nb")]),
            ("data: a\r\rdata: b\r\r", &[("message", "a"), ("message", "b")]),
            ("\u{feff}data: a\n\n", &[("message", "a")]),
            ("data: a\n\n\u{feff}data: b\n\n", &[("message", "a")]),
            (": ping\n\ndata: a\n: more\ndata: b\n\n", &[("message", "a\nb")]),
            ("data\n\n", &[("message", "")]),
            ("id: 1\nid: 1\nretry: 5\ndata: a\nunknown: x\n\n", &[("message", "a")]),
            ("event: lost\n\ndata: a\n\n", &[("message", "a")]),
            ("data: a\n", &[]),
            ("data: a\n\ndata: b", &[("message", "a")]),
        ];
        for (body, expected) in cases {
            assert_eq!(parsed_events(body), pairs(expected), "{body:?}");
        }
    }

    fn stream() -> impl Strategy<Value = Vec<u8>> {
        let words = prop::sample::select(vec![
            "data: ",
            "data:",
            "event: x",
            "\n",
            "\r",
            "\r\n",
            "\n\n",
            ":",
            "\u{feff}",
            "é",
            "{\"a\":1}",
            " ",
            "id: 1",
        ]);
        let bytes = prop_oneof![9 => words.prop_map(|word| word.as_bytes().to_vec()), 1 => any::<Vec<u8>>()];
        prop::collection::vec(bytes, 0..40).prop_map(|parts| parts.concat())
    }

    proptest! {
        #[test]
        fn any_split_into_pieces_gives_the_same_events(body in stream(), cuts in prop::collection::vec(0usize..400, 0..12)) {
            let mut cuts: Vec<usize> = cuts.into_iter().map(|cut| cut.min(body.len())).collect();
            cuts.extend([0, body.len()]);
            cuts.sort_unstable();
            let mut pieces = Events::default();
            let split: Vec<Event> = cuts.windows(2).flat_map(|at| pieces.push(&body[at[0]..at[1]])).collect();
            prop_assert_eq!(split, events(&body));
        }

        #[test]
        fn a_stream_that_is_cut_gives_the_first_of_its_events(body in stream(), at in 0usize..400) {
            let whole = events(&body);
            let cut = events(&body[..at.min(body.len())]);
            prop_assert_eq!(&cut[..], &whole[..cut.len()]);
        }
    }
}
