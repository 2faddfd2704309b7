//! **Pure.** Codec for the Embeddings API, which many Chat Completions servers offer as well.
use crate::provider::fault::{self, Service};
use crate::provider::wire::{self, map};
use crate::provider::{Auth, Fault, FaultKind, HttpReply, HttpRequest, Usage};
use crate::spec::Model;
use base64::Engine as _;
use base64::prelude::BASE64_STANDARD;
use touchstone_model::json;
use touchstone_model::value::Value;

/// Key of the vectors in a packed response.
const PACKED: &str = "packed";

/// A decoded embeddings response.
#[derive(Debug, Clone, PartialEq)]
pub struct Embedded<const N: usize> {
    /// One vector per text, in the order of the texts.
    pub vectors: [Vec<f64>; N],
    /// Tokens used.
    pub usage: Usage,
}

/// Encodes a request for the vectors of these texts.
pub fn encode(model: &Model, texts: &[String]) -> HttpRequest {
    let input = texts.iter().map(|text| Value::from(text.as_str())).collect();
    let body =
        map([("model", Value::from(model.model_id.as_str())), ("input", Value::List(input))]);
    let auth = if model.key.is_some() { Auth::Bearer } else { Auth::None };
    wire::request(format!("{}/embeddings", model.base_url.trim_end_matches('/')), &[], auth, &body)
}

/// Decodes a response. Fails if it is an error or does not hold exactly `N` vectors.
pub fn decode<const N: usize>(reply: &HttpReply) -> Result<Embedded<N>, Fault> {
    if !(200..300).contains(&reply.status) {
        return Err(fault::fault_from_reply(Service::OpenAi, reply));
    }
    let body = wire::object(Service::OpenAi, reply)?;
    let vectors = parse_vectors(&body);
    let many = vectors.len();
    let widened = |vector: Vec<f32>| vector.into_iter().map(f64::from).collect();
    let vectors: Vec<Vec<f64>> = vectors.into_iter().map(widened).collect();
    let vectors = vectors.try_into().map_err(|_| Fault {
        kind: FaultKind::Refused,
        message: format!(
            "The model server answered with {many} vectors for {N} texts; check that the model gives embeddings."
        ),
        status: Some(reply.status),
    })?;
    let input = body.get("usage").and_then(|usage| wire::count(usage.get("prompt_tokens")));
    // The API returns no output tokens, hence none are paid for.
    Ok(Embedded { vectors, usage: Usage { input, output: input.map(|_| 0), ..Usage::default() } })
}

/// Re-encodes a response compactly for the journal. Vectors written as digits take several times
/// the room, and the journal of a run with many rows could become too large to be read again.
/// Returns `None` for a response that is not valid; that one is stored unchanged.
pub fn packed<const N: usize>(reply: &HttpReply) -> Option<Vec<u8>> {
    decode::<N>(reply).ok()?;
    let body = wire::object(Service::OpenAi, reply).ok()?;
    let pack = |vector: Vec<f32>| {
        let bytes: Vec<u8> = vector.into_iter().flat_map(f32::to_le_bytes).collect();
        Value::Text(BASE64_STANDARD.encode(bytes))
    };
    let mut entries = vec![(
        Value::from(PACKED),
        Value::List(parse_vectors(&body).into_iter().map(pack).collect()),
    )];
    entries.extend(body.get("usage").map(|usage| (Value::from("usage"), usage.clone())));
    Some(json::write(&Value::Map(entries), false).into_bytes())
}

/// Returns the vectors of an original or packed response, in the order of their texts.
fn parse_vectors(body: &Value) -> Vec<Vec<f32>> {
    if let Some(packed) = body.get(PACKED) {
        return packed.items().iter().filter_map(unpacked).collect();
    }
    let mut vectors: Vec<(u64, Vec<f32>)> = Vec::new();
    for (at, item) in (0..).zip(body.get("data").map(Value::items).unwrap_or_default()) {
        let vector = item.get("embedding").and_then(vector);
        // Some servers answer in another order, and give an index.
        vectors.extend(vector.map(|vector| (wire::count(item.get("index")).unwrap_or(at), vector)));
    }
    vectors.sort_by_key(|(at, _)| *at);
    vectors.into_iter().map(|(_, vector)| vector).collect()
}

/// Returns the vector, or `None` if it is empty or an item is not a number. Models compute
/// embeddings in single precision, however many digits they are written with.
fn vector(value: &Value) -> Option<Vec<f32>> {
    let number = |item: &Value| match item {
        Value::Number(text) => text.parse().ok(),
        _ => None,
    };
    value
        .items()
        .iter()
        .map(number)
        .collect::<Option<Vec<f32>>>()
        .filter(|vector| !vector.is_empty())
}

fn unpacked(value: &Value) -> Option<Vec<f32>> {
    let bytes = BASE64_STANDARD.decode(value.text()?).ok()?;
    let (numbers, rest) = bytes.as_chunks();
    let vector = || numbers.iter().map(|number| f32::from_le_bytes(*number)).collect();
    (rest.is_empty() && !numbers.is_empty()).then(vector)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn vectors_stand_in_the_order_of_their_texts_and_none_is_made_up() {
        let said = |status, body: &str| {
            decode::<2>(&HttpReply { status, headers: Vec::new(), body: body.as_bytes().to_vec() })
        };
        let whole = said(
            200,
            r#"{"data": [{"index": 1, "embedding": [3, 4e-1]}, {"index": 0, "embedding": [1, -2.5]}], "usage": {"prompt_tokens": 7}}"#,
        );
        let whole = whole.unwrap();
        assert_eq!(whole.vectors, [vec![1.0, -2.5], vec![3.0, f64::from(0.4_f32)]]);
        assert_eq!((whole.usage.input, whole.usage.total()), (Some(7), Some(7)));
        for wrong in [
            "{}",
            r#"{"data": [{"embedding": [1]}]}"#,
            r#"{"data": [{"embedding": []}, {"embedding": [1]}]}"#,
            r#"{"data": [{"embedding": ["1"]}, {"embedding": [1]}]}"#,
        ] {
            let fault = said(200, wrong).unwrap_err();
            assert!(
                fault.kind == FaultKind::Refused && fault.message.contains("for 2 texts"),
                "{wrong}: {fault:?}"
            );
        }
        assert_eq!(said(401, "{}").unwrap_err().kind, FaultKind::Key);
        assert_eq!(said(200, r#"{"data": [{"emb"#).unwrap_err().kind, FaultKind::Truncated);
    }

    #[test]
    fn stored_embeddings_are_compact_and_equal_and_other_replies_stay_verbatim() {
        let reply =
            |body: String| HttpReply { status: 200, headers: Vec::new(), body: body.into_bytes() };
        let numbers = |seed: u32| {
            let number = |at: u32| {
                f64::from((at + seed) * 7_919 % 65_537).mul_add(1e-6, -0.031_234_567_89).to_string()
            };
            (0..3_072).map(number).collect::<Vec<_>>().join(",")
        };
        let whole = reply(format!(
            r#"{{"object":"list","data":[{{"index":1,"embedding":[{}]}},{{"index":0,"embedding":[{}]}}],"usage":{{"prompt_tokens":7}}}}"#,
            numbers(1),
            numbers(2)
        ));
        let kept = reply(String::from_utf8(packed::<2>(&whole).unwrap()).unwrap());
        assert_eq!(decode::<2>(&kept).unwrap(), decode::<2>(&whole).unwrap());
        assert!(
            kept.body.len() < 33_000 && whole.body.len() > 100_000,
            "{} of {}",
            kept.body.len(),
            whole.body.len()
        );
        assert_eq!(packed::<2>(&kept).unwrap(), kept.body);
        for none in [
            "{}",
            r#"{"data":[{"embedding":[1]}]}"#,
            r#"{"packed":["AAAAA"]}"#,
            r#"{"packed":["", "!"]}"#,
        ] {
            assert_eq!(packed::<2>(&reply(none.to_owned())), None, "{none}");
        }
    }
}
