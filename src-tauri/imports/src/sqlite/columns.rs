//! **Pure.** Columns of a table, from its definition.

/// Names of the columns of a table, in order, with the numbers that older rows have in them.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Columns(Vec<(String, Option<i64>)>);

impl Columns {
    /// Parses the definition of a table. Returns `None` for virtual tables, tables without row
    /// numbers, and tables that are made from a query.
    pub fn parse(definition: &str) -> Option<Self> {
        let open = definition.find('(')?;
        let mut words = definition[..open].split_ascii_whitespace();
        let mut is_word = |word: &str| words.next().is_some_and(|it| it.eq_ignore_ascii_case(word));
        if !is_word("create") || !is_word("table") {
            return None;
        }
        let (parts, rest) = split(definition.get(open + 1..)?)?;
        if rest.to_ascii_lowercase().contains("without") {
            return None;
        }
        let column = |part: &&str| {
            let (name, is_quoted) = first_name(part)?;
            let is_rule = ["primary", "foreign", "unique", "check", "constraint"]
                .iter()
                .any(|word| name.eq_ignore_ascii_case(word));
            (is_quoted || !is_rule).then(|| (name, default_number(part)))
        };
        Some(Columns(parts.iter().filter_map(column).collect()))
    }

    /// Returns the place of a column.
    pub fn position(&self, name: &str) -> Option<usize> {
        self.0.iter().position(|(known, _)| known == name)
    }

    /// Returns the number that rows have in a column which was added after them.
    pub fn default_number(&self, place: usize) -> Option<i64> {
        self.0.get(place)?.1
    }
}

/// Splits a text at its commas, up to the bracket that closes it. Returns the parts and the rest.
fn split(text: &str) -> Option<(Vec<&str>, &str)> {
    let (mut parts, mut from, mut depth, mut quote) = (Vec::new(), 0, 0_usize, None);
    for (at, byte) in text.bytes().enumerate() {
        if let Some(end) = quote {
            quote = Some(end).filter(|end| *end != byte);
            continue;
        }
        match byte {
            b'"' | b'\'' | b'`' => quote = Some(byte),
            b'[' => quote = Some(b']'),
            b'(' => depth += 1,
            b')' if depth > 0 => depth -= 1,
            b',' if depth == 0 => {
                parts.push(text.get(from..at)?);
                from = at + 1;
            }
            b')' => {
                parts.push(text.get(from..at)?);
                return Some((parts, text.get(at + 1..)?));
            }
            _ => {}
        }
    }
    None
}

/// Returns the first name of a definition, and whether it stands in quotes.
fn first_name(part: &str) -> Option<(String, bool)> {
    let part = part.trim_start();
    let first = part.chars().next()?;
    let end = match first {
        '"' | '`' => first,
        '[' => ']',
        _ => {
            let end = part.find(|letter: char| letter.is_whitespace()).unwrap_or(part.len());
            return Some((part[..end].to_owned(), false));
        }
    };
    let rest = part.get(1..)?;
    Some((rest[..rest.find(end)?].to_owned(), true))
}

fn default_number(part: &str) -> Option<i64> {
    let mut words = part.split_ascii_whitespace();
    words.find(|word| word.eq_ignore_ascii_case("default"))?;
    words.next()?.parse().ok()
}
