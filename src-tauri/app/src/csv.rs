//! **Pure.** CSV according to RFC 4180, for spreadsheets. The only place that writes CSV.
use std::borrow::Cow;

/// Appends one line. `None` becomes an empty field, and an empty string a quoted one. Fields that
/// look like formulas are escaped.
pub(crate) fn line<'a>(out: &mut String, fields: impl Iterator<Item = Option<Cow<'a, str>>>) {
    for (at, field) in fields.enumerate() {
        out.push_str(if at == 0 { "" } else { "," });
        if let Some(field) = field {
            put(out, &escape_formula(&field));
        }
    }
    out.push_str("\r\n");
}

/// Prefixes text that a spreadsheet would take for a formula with an apostrophe. The text comes
/// from files written by others, and a spreadsheet may run programs when it evaluates a formula.
/// Negative numbers are not formulas and stay unchanged.
fn escape_formula(text: &str) -> Cow<'_, str> {
    let is_number = text.starts_with('-') && text.parse::<f64>().is_ok_and(f64::is_finite);
    if !is_number && text.starts_with(['=', '+', '-', '@', '\t', '\r', '\n']) {
        Cow::Owned(format!("'{text}"))
    } else {
        Cow::Borrowed(text)
    }
}

fn put(out: &mut String, field: &str) {
    if !field.is_empty() && !field.contains(['"', ',', '\r', '\n']) {
        out.push_str(field);
        return;
    }
    out.push('"');
    out.push_str(&field.replace('"', "\"\""));
    out.push('"');
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn csv_cells_that_look_like_formulas_are_escaped_and_others_are_unchanged() {
        let written = |text: &str| {
            let mut out = String::new();
            line(&mut out, [Some(Cow::Borrowed(text))].into_iter());
            out.trim_end_matches("\r\n").to_owned()
        };
        for formula in
            ["=1+1", "+1", "-1+1", "--1", "-", "-inf", "@sum(a1)", "\tx", "=cmd|' /c calc'!A0"]
        {
            assert_eq!(written(formula), format!("'{formula}"));
        }
        assert_eq!(written("\r=1"), "\"'\r=1\"");
        assert_eq!(written("=\"a\",1"), "\"'=\"\"a\"\",1\"");
        for plain in ["1", "-1", "-1.5e3", "a=1", "a-b", "(=1)", "'=1"] {
            assert_eq!(written(plain), plain);
        }
    }
}
