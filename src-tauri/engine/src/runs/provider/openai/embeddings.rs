//! **Pure.** Texts turned into vectors by the Embeddings API, which servers of Chat Completions often speak as well.
use crate::runs::provider::fault::{self, Who};
use crate::runs::provider::wire::{self, map};
use crate::runs::provider::{Auth, Fault, FaultKind, HttpReply, HttpRequest, Usage};
use crate::runs::spec::Model;
use touchstone_formats::value::Value;

/// What came back.
#[derive(Debug, Clone, PartialEq)]
pub struct Embedded<const N: usize> {
    /// A vector for each text, in their order.
    pub vectors: [Vec<f64>; N],
    /// What it used.
    pub usage: Usage,
}

/// The request for the vectors of these texts.
pub fn encode(model: &Model, texts: &[String]) -> HttpRequest {
    let input = texts.iter().map(|text| Value::from(text.as_str())).collect();
    let body = map([("model", Value::from(model.model_id.as_str())), ("input", Value::List(input))]);
    let auth = if model.key.is_some() { Auth::Bearer } else { Auth::None };
    wire::request(format!("{}/embeddings", model.base_url.trim_end_matches('/')), &[], auth, &body)
}

/// What a reply says, or why it is none.
pub fn decode<const N: usize>(reply: &HttpReply) -> Result<Embedded<N>, Fault> {
    if !(200..300).contains(&reply.status) {
        return Err(fault::of(Who::OpenAi, reply));
    }
    let body = wire::object(Who::OpenAi, reply)?;
    let mut vectors: Vec<(u64, Vec<f64>)> = Vec::new();
    for (at, item) in (0..).zip(body.get("data").map(Value::items).unwrap_or_default()) {
        let vector = item.get("embedding").and_then(vector);
        // Some servers answer in another order, and say so.
        vectors.extend(vector.map(|vector| (wire::count(item.get("index")).unwrap_or(at), vector)));
    }
    vectors.sort_by_key(|(at, _)| *at);
    let vectors: Vec<Vec<f64>> = vectors.into_iter().map(|(_, vector)| vector).collect();
    let many = vectors.len();
    let vectors = vectors.try_into().map_err(|_| Fault {
        kind: FaultKind::Refused,
        message: format!(
            "The model server answered with {many} vectors for {N} texts; check that the model gives embeddings."
        ),
        status: Some(reply.status),
    })?;
    let input = body.get("usage").and_then(|usage| wire::count(usage.get("prompt_tokens")));
    // Nothing is said, so nothing comes back that would be paid for.
    Ok(Embedded { vectors, usage: Usage { input, output: input.map(|_| 0), ..Usage::default() } })
}

/// None unless all of it are numbers.
fn vector(value: &Value) -> Option<Vec<f64>> {
    let number = |item: &Value| match item {
        Value::Number(text) => text.parse().ok(),
        _ => None,
    };
    value.items().iter().map(number).collect::<Option<Vec<f64>>>().filter(|vector| !vector.is_empty())
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
        assert_eq!(whole.vectors, [vec![1.0, -2.5], vec![3.0, 0.4]]);
        assert_eq!((whole.usage.input, whole.usage.total()), (Some(7), Some(7)));
        for wrong in [
            "{}",
            r#"{"data": [{"embedding": [1]}]}"#,
            r#"{"data": [{"embedding": []}, {"embedding": [1]}]}"#,
            r#"{"data": [{"embedding": ["1"]}, {"embedding": [1]}]}"#,
        ] {
            let fault = said(200, wrong).unwrap_err();
            assert!(fault.kind == FaultKind::Refused && fault.message.contains("for 2 texts"), "{wrong}: {fault:?}");
        }
        assert_eq!(said(401, "{}").unwrap_err().kind, FaultKind::Key);
        assert_eq!(said(200, r#"{"data": [{"emb"#).unwrap_err().kind, FaultKind::Truncated);
    }
}
