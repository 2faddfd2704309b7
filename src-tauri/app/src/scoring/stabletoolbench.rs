//! Names and keys of `StableToolBench` for JSON lines. Needs no open folder and stores nothing.
use crate::error::{AppError, Code};
use touchstone_formats::stabletoolbench::{names, python_json};
use touchstone_model::json;
use touchstone_model::value::Value;

/// Returns the function name of an API: `{"tool_name", "api_name"}` in, `{"function_name"}` out.
pub fn function_name_line(line: &str) -> Result<String, AppError> {
    let asked = read(line)?;
    let text = |key: &str| {
        let text = asked.get(key).and_then(Value::text);
        text.ok_or_else(|| {
            AppError::new(Code::BadRequest, format!("`{key}` is missing or no text.")).hint(SHAPE)
        })
    };
    Ok(answer("function_name", names::function_name(text("tool_name")?, text("api_name")?)))
}

const SHAPE: &str =
    r#"Each line looks like {"tool_name": "Weather", "api_name": "Forecast by city"}."#;

/// Returns the cache key of a tool input: any JSON in, `{"key"}` out.
pub fn key_line(line: &str) -> Result<String, AppError> {
    let input = python_json::read(line);
    let input =
        input.map_err(|why| AppError::new(Code::BadRequest, format!("It is not JSON: {why}")))?;
    Ok(answer("key", input.str()))
}

fn read(line: &str) -> Result<Value, AppError> {
    json::read(line)
        .map_err(|why| AppError::new(Code::BadRequest, format!("It is not JSON: {why}")))
}

fn answer(key: &str, text: String) -> String {
    json::write(&Value::Map(vec![(key.into(), Value::Text(text))]), false)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_line_with_a_tool_and_an_api_is_answered_with_the_name_of_their_function() {
        let line = r#"{"api_name": "Forecast (by city)", "tool_name": "Weather 2.0", "more": 1}"#;
        assert_eq!(
            function_name_line(line).unwrap(),
            r#"{"function_name":"forecast_by_city_for_weather_2_0"}"#
        );
        for (line, said) in [
            (r#"{"tool_name": "a"}"#, "`api_name` is missing"),
            ("[]", "`tool_name`"),
            ("{", "not JSON"),
        ] {
            let why = function_name_line(line).unwrap_err().message;
            assert!(why.contains(said), "{line}: {why}");
        }
    }

    #[test]
    fn any_json_has_a_key() {
        assert_eq!(
            key_line(r#"{"b": 1.50, "a": "it's"}"#).unwrap(),
            r#"{"key":"{'b': 1.5, 'a': \"it's\"}"}"#
        );
        assert_eq!(key_line(r#""bare""#).unwrap(), r#"{"key":"bare"}"#);
        assert!(key_line("{'a': 1}").is_err());
    }
}
