//! **Pure.** Number parsing of pandas 2.3. Its readers are fast and do not always return the
//! nearest float: `0.3` in JSON Lines becomes 0.30000000000000004, which appears in the package's
//! results.
use super::numbers;
use touchstone_model::value::Value;

/// Converts a value of a JSON line recursively. Fails where the package fails, with its message.
pub(super) fn of_json(value: Value) -> Result<Value, &'static str> {
    Ok(match value {
        Value::Number(written) => number(&written)?,
        Value::List(items) => {
            Value::List(items.into_iter().map(of_json).collect::<Result<_, _>>()?)
        }
        Value::Map(entries) => {
            let read = |(key, value)| Ok((key, of_json(value)?));
            Value::Map(entries.into_iter().map(read).collect::<Result<_, &'static str>>()?)
        }
        other => other,
    })
}

fn number(written: &str) -> Result<Value, &'static str> {
    if written.starts_with(['.', 'i', 'n']) || written.starts_with("-.") {
        // NaN becomes a missing value; infinities stay infinite.
        let is_nan = numbers::is_missing(Some(&Value::Number(written.to_owned())));
        return Ok(if is_nan { Value::Null } else { Value::Number(written.to_owned()) });
    }
    let (negative, rest) = written.strip_prefix('-').map_or((false, written), |rest| (true, rest));
    let (whole, rest) = digits(rest);
    let magnitude = integer(whole, negative)?;
    let sign = if negative { -1.0 } else { 1.0 };
    if rest.is_empty() {
        let minus = if negative && magnitude > 0 { "-" } else { "" };
        return Ok(Value::Number(format!("{minus}{magnitude}")));
    }
    let (decimals, rest) = rest.strip_prefix('.').map_or(("", rest), digits);
    let value = (float(magnitude) + fraction(decimals)) * sign;
    let Some(exponent) = rest.strip_prefix(['e', 'E']) else { return Ok(numbers::number(value)) };
    let power: f64 = exponent.parse().unwrap_or(0.0);
    Ok(numbers::number(value * 10.0_f64.powf(power)))
}

/// Splits a text after its leading digits.
fn digits(text: &str) -> (&str, &str) {
    text.split_at(text.find(|c: char| !c.is_ascii_digit()).unwrap_or(text.len()))
}

/// Parses the digits before the decimal point with 64-bit wrapping. A number counts as too large
/// when another digit makes it smaller.
fn integer(digits: &str, negative: bool) -> Result<u64, &'static str> {
    const LEAST: u64 = 1 << 63;
    let mut all = 0_u64;
    for digit in digits.bytes() {
        let longer = all.wrapping_mul(10).wrapping_add(u64::from(digit - b'0'));
        if !negative && longer < all {
            return Err("Value is too big!");
        }
        if negative && longer > LEAST {
            return Err("Value is too small");
        }
        all = longer;
    }
    Ok(all)
}

/// Parses the digits after the decimal point: at most fifteen, multiplied by a power of ten that is
/// not an exact float itself.
fn fraction(decimals: &str) -> f64 {
    const MOST: usize = 15;
    const TENTHS: [f64; MOST + 1] = [
        1.0, 1e-1, 1e-2, 1e-3, 1e-4, 1e-5, 1e-6, 1e-7, 1e-8, 1e-9, 1e-10, 1e-11, 1e-12, 1e-13,
        1e-14, 1e-15,
    ];
    let decimals = &decimals[..decimals.len().min(MOST)];
    decimals.bytes().fold(0.0, |all, digit| all * 10.0 + f64::from(digit - b'0'))
        * TENTHS[decimals.len()]
}

#[expect(clippy::cast_precision_loss, reason = "that is how it is read")]
fn float(whole: u64) -> f64 {
    whole as f64
}

/// Parses a CSV cell as a float; `None` when it is not a number.
pub(super) fn of_csv(cell: &str) -> Option<f64> {
    /// Maximum number of significant digits, and of digits of the exponent.
    const MOST: usize = 17;
    let cell = cell.trim_matches(is_space);
    let (negative, rest) = signed(cell);
    if ["inf", "infinity"].iter().any(|name| rest.eq_ignore_ascii_case(name)) {
        return Some(if negative { f64::NEG_INFINITY } else { f64::INFINITY });
    }
    let (whole, rest) = digits(rest);
    let (decimals, rest) = rest.strip_prefix('.').map_or(("", rest), digits);
    let kept = decimals.len().min(MOST.saturating_sub(whole.len()));
    let counted = whole.bytes().take(MOST).chain(decimals.bytes().take(kept));
    let number = counted.fold(0.0, |all, digit| all * 10.0 + f64::from(digit - b'0'));
    if whole.is_empty() && decimals.is_empty() {
        return None;
    }
    let mut power =
        i64::try_from(whole.len().saturating_sub(MOST)).ok()? - i64::try_from(kept).ok()?;
    if !rest.is_empty() {
        let (down, exponent) = signed(rest.strip_prefix(['e', 'E'])?);
        let (written, behind) = digits(exponent);
        if written.is_empty() || written.len() > MOST || !behind.is_empty() {
            return None;
        }
        let written: i64 = written.parse().ok()?;
        power += if down { -written } else { written };
    }
    let number = scaled(number, power)?;
    number.is_finite().then_some(if negative { -number } else { number })
}

fn scaled(number: f64, power: i64) -> Option<f64> {
    const MOST: i64 = 308;
    Some(match power {
        309.. => return None,
        0.. => number * ten_to(power),
        -308.. => number / ten_to(-power),
        -616.. => number / ten_to(-MOST - power) / ten_to(MOST),
        _ => 0.0,
    })
}

/// Returns the float nearest to a power of ten.
fn ten_to(power: i64) -> f64 {
    format!("1e{power}").parse().unwrap_or(f64::INFINITY)
}

/// Parses a CSV cell as an integer; `None` when it is not an integer or too large.
pub(super) fn whole_of_csv(cell: &str) -> Option<i128> {
    let (negative, rest) = signed(cell.trim_matches(is_space));
    let (digits, behind) = digits(rest);
    let whole: i128 = digits.parse().ok().filter(|_| behind.is_empty())?;
    Some(if negative { -whole } else { whole })
}

fn signed(text: &str) -> (bool, &str) {
    match text.strip_prefix('-') {
        Some(rest) => (true, rest),
        None => (false, text.strip_prefix('+').unwrap_or(text)),
    }
}

fn is_space(c: char) -> bool {
    matches!(c, '\t'..='\r' | ' ')
}
