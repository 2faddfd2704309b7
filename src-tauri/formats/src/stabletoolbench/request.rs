//! **Pure.** Requests to a server of virtual APIs: the six fields of the body, error messages with
//! the wording of the original, and the input of the call.
use super::python_json::{self, Layout, Py};

/// A call of an API.
#[derive(Debug, Clone, PartialEq, Default)]
pub struct Request {
    /// Category of the tool.
    pub category: String,
    /// Tool, by its raw or standardized name.
    pub tool: String,
    /// API, by its raw or standardized name.
    pub api: String,
    /// Input of the call; `None` if it was not valid JSON.
    pub input: Option<Py>,
    /// Method of shortening the reply.
    pub strip: String,
    /// Key sent by the caller. Never stored anywhere.
    pub key: String,
}

/// Parses an input text: JSON, or an empty object if it is empty. Returns `None` if it is invalid.
pub fn input(text: &str) -> Option<Py> {
    if text.is_empty() { Some(Py::Map(Vec::new())) } else { python_json::read(text).ok() }
}

/// Parses the body of a request. The error is the JSON that clients of the original expect.
pub fn read(body: &[u8]) -> Result<Request, String> {
    let text = std::str::from_utf8(body)
        .map_err(|_| wrong(&[fault(&["body"], "body is not UTF-8", "value_error.jsondecode")]))?;
    let body = match python_json::read(text) {
        Ok(body @ Py::Map(_)) => body,
        Ok(Py::Null) => {
            return Err(wrong(&[fault(&["body"], "field required", "value_error.missing")]));
        }
        Ok(_) => {
            return Err(wrong(&[fault(&["body"], "value is not a valid dict", "type_error.dict")]));
        }
        Err(_) if text.is_empty() => {
            return Err(wrong(&[fault(&["body"], "field required", "value_error.missing")]));
        }
        Err(error) => {
            let message = format!("The body is not JSON: {}", error.message);
            return Err(wrong(&[fault(&["body"], &message, "value_error.jsondecode")]));
        }
    };
    let mut faults = Vec::new();
    let mut text = |key: &str| match field(&body, key, false) {
        Ok(Py::Text(codes)) => codes.to_display_text(),
        Ok(_) => String::new(),
        Err(mut wrong) => {
            faults.append(&mut wrong);
            String::new()
        }
    };
    let (category, tool, api) = (text("category"), text("tool_name"), text("api_name"));
    let given = field(&body, "tool_input", true);
    let input = match given {
        Ok(Py::Text(codes)) => input(&codes.to_display_text()),
        Ok(other) => Some(other),
        Err(mut wrong) => {
            faults.append(&mut wrong);
            None
        }
    };
    let mut text = |key: &str| match field(&body, key, false) {
        Ok(value) => value.text().unwrap_or_default(),
        Err(mut wrong) => {
            faults.append(&mut wrong);
            String::new()
        }
    };
    let (strip, key) = (text("strip"), text("toolbench_key"));
    if faults.is_empty() {
        Ok(Request { category, tool, api, input, strip, key })
    } else {
        Err(wrong(&faults))
    }
}

/// Returns a field as text, converting numbers and booleans as the original does; an object is
/// returned unchanged where objects are allowed.
fn field(body: &Py, key: &str, or_map: bool) -> Result<Py, Vec<Py>> {
    let place = ["body", key];
    match body.get(key) {
        None => Err(vec![fault(&place, "field required", "value_error.missing")]),
        Some(Py::Null) => {
            Err(vec![fault(&place, "none is not an allowed value", "type_error.none.not_allowed")])
        }
        Some(map @ Py::Map(_)) if or_map => Ok(map.clone()),
        Some(text @ Py::Text(_)) => Ok(text.clone()),
        Some(scalar @ (Py::Bool(_) | Py::Number(_))) => Ok(scalar.str().as_str().into()),
        Some(_) if or_map => Err(vec![
            fault(&place, "str type expected", "type_error.str"),
            fault(&place, "value is not a valid dict", "type_error.dict"),
        ]),
        Some(_) => Err(vec![fault(&place, "str type expected", "type_error.str")]),
    }
}

fn fault(place: &[&str], message: &str, kind: &str) -> Py {
    Py::Map(vec![
        ("loc".into(), Py::List(place.iter().map(|part| Py::from(*part)).collect())),
        ("msg".into(), message.into()),
        ("type".into(), kind.into()),
    ])
}

fn wrong(faults: &[Py]) -> String {
    Py::Map(vec![("detail".into(), Py::List(faults.to_vec()))]).dumps(Layout::Wire)
}

#[cfg(test)]
mod tests {
    use super::*;

    fn posted(input: &str) -> String {
        format!(
            r#"{{"category":"Data","tool_name":7,"api_name":"a","tool_input":{input},"strip":"","toolbench_key":"k","more":1}}"#
        )
    }

    fn parse_input(text: &str) -> Option<String> {
        read(posted(text).as_bytes()).unwrap().input.map(|input| input.str())
    }

    #[test]
    fn inputs_are_texts_of_json_or_objects() {
        for (text, input) in [
            (r#""{\"a\": 1}""#, Some("{'a': 1}")),
            (r#"{"a": 1}"#, Some("{'a': 1}")),
            (r#""""#, Some("{}")),
            ("5", Some("5")),
            (r#""null""#, Some("None")),
            ("true", None),
            (r#""{'a': 1}""#, None),
            (r#""{\"a\": NaN}""#, Some("{'a': nan}")),
        ] {
            assert_eq!(parse_input(text).as_deref(), input, "{text}");
        }
        assert_eq!(read(posted("{}").as_bytes()).unwrap().tool, "7");
    }

    #[test]
    fn errors_are_worded_like_the_original() {
        for (body, said) in [
            (
                posted("null"),
                r#"{"detail":[{"loc":["body","tool_input"],"msg":"none is not an allowed value","type":"type_error.none.not_allowed"}]}"#,
            ),
            (
                posted("[1]"),
                concat!(
                    r#"{"detail":[{"loc":["body","tool_input"],"msg":"str type expected","#,
                    r#""type":"type_error.str"},{"loc":["body","tool_input"],"#,
                    r#""msg":"value is not a valid dict","type":"type_error.dict"}]}"#,
                ),
            ),
            (
                "[]".to_owned(),
                r#"{"detail":[{"loc":["body"],"msg":"value is not a valid dict","type":"type_error.dict"}]}"#,
            ),
            (
                String::new(),
                r#"{"detail":[{"loc":["body"],"msg":"field required","type":"value_error.missing"}]}"#,
            ),
        ] {
            assert_eq!(read(body.as_bytes()).unwrap_err(), said, "{body}");
        }
        assert_eq!(read(b"{}").unwrap_err().matches("value_error.missing").count(), 6);
        assert!(read(b"\xff").is_err() && read(b"{").is_err());
    }
}
