//! **Pure.** Metrics of retrieved documents against relevance labels.
use super::numbers::{self, from_usize, number};
use super::options::{Limit, Options};
use super::{Failure, Inputs, Outcome, Quirks};
use std::collections::HashMap;
use touchstone_model::json;
use touchstone_model::value::Value;

/// Options of `document_retrieval`.
#[derive(Debug, Clone, PartialEq)]
pub struct Retrieval {
    /// Label of irrelevant documents.
    pub least: i64,
    /// Label of the most relevant documents.
    pub most: i64,
    /// Pass thresholds of the metrics, `None` for the default. The two metrics of holes are not
    /// included: they pass at 0.
    pub thresholds: [Option<Limit>; 7],
}

const THRESHOLDS: [(&str, &str); 7] = [
    ("ndcg_threshold", "0.5"),
    ("xdcg_threshold", "50.0"),
    ("fidelity_threshold", "0.5"),
    ("top1_relevance_threshold", "50.0"),
    ("top3_max_relevance_threshold", "50.0"),
    ("total_retrieved_documents_threshold", "50"),
    ("total_ground_truth_documents_threshold", "50"),
];

/// Metrics, with the index of their threshold.
const METRICS: [(&str, Option<usize>); 9] = [
    ("ndcg@3", Some(0)),
    ("xdcg@3", Some(1)),
    ("fidelity", Some(2)),
    ("top1_relevance", Some(3)),
    ("top3_max_relevance", Some(4)),
    ("holes", None),
    ("holes_ratio", None),
    ("total_retrieved_documents", Some(5)),
    ("total_ground_truth_documents", Some(6)),
];

/// Maximum number of documents of a row.
const MOST: usize = 10_000;
/// Number of ranks that are considered.
const RANKS: usize = 3;

impl Retrieval {
    pub(super) fn read(options: &Options<'_>) -> Result<Self, String> {
        let integer = |name, usual| -> Result<i64, String> {
            let limit = options.limit(name, usual)?;
            limit.written.parse().map_err(|_| format!("`{name}` has to be a whole number."))
        };
        let least = integer("ground_truth_label_min", "0")?;
        let most = integer("ground_truth_label_max", "4")?;
        if least >= most {
            return Err(
                "`ground_truth_label_min` has to be below `ground_truth_label_max`.".to_owned()
            );
        }
        if !(-100..=100).contains(&least) || !(-100..=100).contains(&most) {
            return Err("Labels have to lie between -100 and 100.".to_owned());
        }
        let mut thresholds = [const { None }; 7];
        for (threshold, (name, usual)) in thresholds.iter_mut().zip(THRESHOLDS) {
            *threshold = options.get(name).map(|_| options.limit(name, usual)).transpose()?;
        }
        Ok(Self { least, most, thresholds })
    }

    /// Computes the result for a row.
    pub(super) fn result(&self, inputs: &Inputs, quirks: &Quirks) -> Result<Outcome, Failure> {
        let truth = self.labels(inputs, quirks)?;
        let (found, listed) = retrieved(inputs, quirks)?;
        let values = self.measured(&truth, &found, listed, quirks)?;
        let named = METRICS.iter().map(|(name, _)| *name).zip(values.iter().cloned());
        let mut out: Outcome = named.map(|(name, value)| (name.to_owned(), value)).collect();
        for ((name, place), value) in METRICS.iter().zip(&values) {
            let limit =
                place.map_or_else(|| Limit::usual("0"), |place| self.threshold(place, quirks));
            let value = numbers::to_f64(value).unwrap_or(f64::NAN);
            let passes = if place.is_some() { value >= limit.value } else { value <= limit.value };
            let field = |end: &str, value| (format!("{name}_{end}"), value);
            let none = value.is_nan() && !quirks.has("nothing_relevant_fails");
            out.push(field(
                "result",
                if none { Value::Null } else { if passes { "pass" } else { "fail" }.into() },
            ));
            out.push(field("threshold", limit.to_value()));
            out.push(field("higher_is_better", Value::Bool(place.is_some())));
            if none {
                let why = format!("Nothing that is labelled is relevant, so there is no {name}.");
                out.push(field("reason", Value::Text(why)));
            }
        }
        Ok(out)
    }

    fn threshold(&self, place: usize, quirks: &Quirks) -> Limit {
        let usual = || match place {
            3 | 4 if !quirks.has("unreachable_thresholds") => {
                let middle = f64::midpoint(float(self.least), float(self.most));
                Limit { written: format!("{middle:?}"), value: middle }
            }
            _ => Limit::usual(THRESHOLDS[place].1),
        };
        self.thresholds[place].clone().unwrap_or_else(usual)
    }

    /// Reads the label of each document. When a document is listed several times the last label
    /// counts, at the position of the first.
    fn labels(&self, inputs: &Inputs, quirks: &Quirks) -> Result<Ranking, Failure> {
        let items = listed(inputs, "retrieval_ground_truth", quirks)?;
        let items = items.as_ref().map(Value::items).unwrap_or_default();
        if items.is_empty() {
            return wrong("`retrieval_ground_truth` has no documents.");
        }
        let mut truth = Ranking::default();
        for item in items {
            let (Some(id), Some(label)) = (id_of(item), field(item, "query_relevance_label"))
            else {
                return wrong(
                    "A document of `retrieval_ground_truth` lacks `document_id` or `query_relevance_label`.",
                );
            };
            let Some(label) = integer(label) else {
                return wrong("A `query_relevance_label` is not a whole number.");
            };
            if label < self.least {
                return wrong(&format!(
                    "The label {label} is below `ground_truth_label_min`, which is {}.",
                    self.least
                ));
            }
            if label > self.most {
                return wrong(&format!(
                    "The label {label} is above `ground_truth_label_max`, which is {}.",
                    self.most
                ));
            }
            truth.add(key(id), float(label));
        }
        truth.within(items.len(), "retrieval_ground_truth")
    }

    fn measured(
        &self,
        truth: &Ranking,
        found: &Ranking,
        listed: usize,
        quirks: &Quirks,
    ) -> Result<[Value; 9], Failure> {
        let counts = [from_usize(listed), from_usize(truth.listed)];
        let zeros = |zero: fn() -> Value| [(); 5].map(|()| zero());
        let ideal: Vec<f64> = truth.ranked().iter().map(|(_, label)| *label).collect();
        let lost = found.entries.iter().filter(|(id, _)| truth.label(id).is_none()).count();
        let (five, holes) = if found.entries.is_empty() {
            (zeros(|| number(0.0)), [from_usize(0), from_usize(0)])
        } else {
            let labels: Vec<f64> =
                found.ranked().iter().map(|(id, _)| truth.label(id).unwrap_or(0.0)).collect();
            let none = labels.iter().all(|label| label.abs() < 0.5);
            let five =
                if none { zeros(|| from_usize(0)) } else { self.graded(&labels, &ideal, quirks)? };
            (five, [from_usize(lost), number(ratio(lost, listed))])
        };
        let [ndcg, xdcg, fidelity, first, best] = five;
        // A ratio with a zero denominator is undefined.
        let of_all = |value, all: f64| {
            if all > 0.0 || quirks.has("nothing_relevant_fails") { value } else { number(f64::NAN) }
        };
        let ndcg = of_all(ndcg, gain(&ideal[..ideal.len().min(RANKS)]));
        let fidelity = of_all(fidelity, self.weight(&ideal, quirks));
        let ([holes, holes_ratio], [retrieved, labelled]) = (holes, counts);
        Ok([ndcg, xdcg, fidelity, first, best, holes, holes_ratio, retrieved, labelled])
    }

    fn graded(
        &self,
        labels: &[f64],
        ideal: &[f64],
        quirks: &Quirks,
    ) -> Result<[Value; 5], Failure> {
        // With negative labels, an unlabelled document can exceed every label, and the ideal gain
        // can be zero.
        let beyond = |label: &f64| *label > float(self.most);
        let nothing = gain(&ideal[..ideal.len().min(RANKS)]).abs() < f64::MIN_POSITIVE;
        if quirks.has("nothing_relevant_fails") && (nothing || labels.iter().any(beyond)) {
            return wrong("There is no share of labels that come to nothing.");
        }
        let top = &labels[..labels.len().min(RANKS)];
        let best = top.iter().copied().fold(f64::NEG_INFINITY, f64::max);
        let label = |label: f64| Value::Number(format!("{label:.0}"));
        Ok([
            number(gain(top) / gain(&ideal[..ideal.len().min(RANKS)])),
            number(discounted(top)),
            number(self.weight(labels, quirks) / self.weight(ideal, quirks)),
            label(top.first().copied().unwrap_or(0.0)),
            label(best),
        ])
    }

    /// Returns the total weight of labels. Irrelevant documents weigh nothing.
    fn weight(&self, labels: &[f64], quirks: &Quirks) -> f64 {
        let all: Vec<i64> = (self.least + 1..=self.most).collect();
        let mut counted = all.clone();
        if quirks.has("string_sorted_labels") {
            counted.sort_by_key(ToString::to_string);
        }
        let weights = all.iter().map(|label| float(label + 1).exp2() - 1.0);
        let count = |label: &i64| {
            labels
                .iter()
                .filter(|known| (**known - float(*label)).abs() < 0.5)
                .fold(0.0, |sum, _| sum + 1.0)
        };
        counted.iter().map(count).zip(weights).map(|(count, weight)| count * weight).sum()
    }
}

/// Documents with a number each, in the order of first occurrence.
#[derive(Debug, Default)]
struct Ranking {
    entries: Vec<(String, f64)>,
    places: HashMap<String, usize>,
    /// Number of listed documents, including duplicates.
    listed: usize,
}

impl Ranking {
    fn add(&mut self, id: String, value: f64) {
        self.listed += 1;
        if let Some(place) = self.places.get(&id) {
            self.entries[*place].1 = value;
        } else {
            self.places.insert(id.clone(), self.entries.len());
            self.entries.push((id, value));
        }
    }

    fn label(&self, id: &str) -> Option<f64> {
        self.places.get(id).map(|place| self.entries[*place].1)
    }

    /// Returns the entries, highest first; the sort is stable.
    fn ranked(&self) -> Vec<&(String, f64)> {
        let mut ranked: Vec<&(String, f64)> = self.entries.iter().collect();
        // 0.0 and -0.0 are equal in Python.
        ranked.sort_by(|one, other| (other.1 + 0.0).total_cmp(&(one.1 + 0.0)));
        ranked
    }

    fn within(self, listed: usize, what: &str) -> Result<Self, Failure> {
        if listed > MOST {
            wrong(&format!("`{what}` has {listed} documents; {MOST} are the most."))
        } else {
            Ok(self)
        }
    }
}

fn retrieved(inputs: &Inputs, quirks: &Quirks) -> Result<(Ranking, usize), Failure> {
    let value = listed(inputs, "retrieved_documents", quirks)?;
    let items = match &value {
        Some(Value::List(items)) => items.as_slice(),
        _ if quirks.has("unlisted_documents_are_none") => &[],
        _ => return wrong("`retrieved_documents` is not a list of documents."),
    };
    let mut found = Ranking::default();
    for item in items {
        let (Some(id), Some(score)) = (id_of(item), field(item, "relevance_score")) else {
            return wrong(
                "A document of `retrieved_documents` lacks `document_id` or `relevance_score`.",
            );
        };
        let Some(score) = score_of(score) else {
            return wrong("A `relevance_score` is not a number.");
        };
        found.add(key(id), score);
    }
    Ok((found.within(items.len(), "retrieved_documents")?, items.len()))
}

fn listed(inputs: &Inputs, name: &str, quirks: &Quirks) -> Result<Option<Value>, Failure> {
    match inputs.get(name) {
        None | Some(Value::Null) => wrong(&format!("The row has no `{name}`.")),
        // Text-only tables hold a list as JSON text.
        Some(Value::Text(text)) if !quirks.has("unlisted_documents_are_none") => {
            Ok(json::embedded(text))
        }
        Some(value) => Ok(Some(value.clone())),
    }
}

fn wrong<T>(message: &str) -> Result<T, Failure> {
    Err(Failure { by_input: true, message: message.to_owned() })
}

/// Returns the id of a document; lists and objects are not ids.
fn id_of(item: &Value) -> Option<&Value> {
    field(item, "document_id").filter(|id| !matches!(id, Value::List(_) | Value::Map(_)))
}

fn field<'a>(item: &'a Value, name: &str) -> Option<&'a Value> {
    item.get(name).filter(|value| **value != Value::Null)
}

/// Returns a map key with Python's equality: 1 equals 1.0, but not "1". Integers keep all digits.
fn key(id: &Value) -> String {
    match id {
        Value::Number(written) if numbers::is_whole(written) => written.clone(),
        Value::Number(written) => match written.parse::<f64>() {
            // Adding 0 turns -0 into 0.
            Ok(number) if number.fract() == 0.0 => format!("{:.0}", number + 0.0),
            Ok(number) => format!("{number:?}"),
            Err(_) => written.clone(),
        },
        Value::Bool(flag) => u8::from(*flag).to_string(),
        other => json::write(other, false),
    }
}

fn integer(value: &Value) -> Option<i64> {
    match value {
        Value::Number(written) => written.parse().ok(),
        _ => None,
    }
}

fn score_of(value: &Value) -> Option<f64> {
    match value {
        Value::Bool(flag) => Some(f64::from(u8::from(*flag))),
        other => numbers::to_f64(other).filter(|score| !score.is_nan()),
    }
}

/// Discounted cumulative gain.
fn gain(labels: &[f64]) -> f64 {
    let ranks = [1.0_f64, 2.0, 3.0].into_iter();
    labels.iter().zip(ranks).map(|(label, rank)| (label.exp2() - 1.0) / (rank + 1.0).log2()).sum()
}

/// Normalized gain with a discount of 0.6 per rank that models how far users read; always divides
/// by three ranks.
fn discounted(labels: &[f64]) -> f64 {
    let discounts = [0.0, 1.0, 2.0].map(|rank: f64| 0.6_f64.powf(rank));
    let sum: f64 =
        labels.iter().zip(discounts).map(|(label, discount)| 25.0 * label * discount).sum();
    sum / discounts.iter().sum::<f64>()
}

#[expect(clippy::cast_precision_loss, reason = "labels are small")]
fn float(label: i64) -> f64 {
    label as f64
}

#[expect(clippy::cast_precision_loss, reason = "documents of a row are few")]
fn ratio(part: usize, all: usize) -> f64 {
    part as f64 / all as f64
}

#[cfg(test)]
mod tests {
    use super::*;

    /// Returns two metrics for documents with these labels, of which the first is retrieved.
    fn came(range: &str, labels: &[i64], quirks: &Quirks) -> String {
        let options = json::read(range).unwrap();
        let retrieval = Retrieval::read(&Options::new("document_retrieval", &options)).unwrap();
        let label = |(at, label): (usize, &i64)| {
            format!(r#"{{"document_id": {at}, "query_relevance_label": {label}}}"#)
        };
        let labels: Vec<String> = labels.iter().enumerate().map(label).collect();
        let row = [
            ("retrieval_ground_truth", format!("[{}]", labels.join(", "))),
            ("retrieved_documents", r#"[{"document_id": 0, "relevance_score": 1}]"#.to_owned()),
        ];
        let inputs =
            Inputs(row.map(|(name, text)| (name.to_owned(), json::read(&text).unwrap())).to_vec());
        let out = retrieval.result(&inputs, quirks).unwrap();
        let told = |key: &str| {
            let value = out.iter().find(|(known, _)| known == key);
            value.map_or_else(
                || "-".to_owned(),
                |(_, value)| json::write(value, false).replace('"', ""),
            )
        };
        let of = |name: &str| {
            ["", "_result", "_reason"].map(|end| told(&format!("{name}{end}"))).join(" ")
        };
        format!("{} | {}", of("ndcg@3"), of("fidelity"))
    }

    #[test]
    fn a_share_of_nothing_has_no_value_and_no_result() {
        const NDCG: &str = "NaN null Nothing that is labelled is relevant, so there is no ndcg@3.";
        const FIDELITY: &str =
            "NaN null Nothing that is labelled is relevant, so there is no fidelity.";
        let (ours, theirs) =
            (Quirks::default(), Quirks::from_names(["nothing_relevant_fails"]).unwrap());
        assert_eq!(came("{}", &[0, 0], &ours), format!("{NDCG} | {FIDELITY}"));
        assert_eq!(came("{}", &[0, 0], &theirs), "0 fail - | 0 fail -");
        let from_one = r#"{"ground_truth_label_min": 1, "ground_truth_label_max": 5}"#;
        assert_eq!(came(from_one, &[1], &ours), format!("1.0 pass - | {FIDELITY}"));
        assert_eq!(came(from_one, &[1], &theirs), "1.0 pass - | NaN fail -");
        // Relevant documents that were not retrieved score 0.
        assert_eq!(came("{}", &[0, 4], &ours), "0 fail - | 0 fail -");
        assert_eq!(came("{}", &[4, 0], &ours), "1.0 pass - | 1.0 pass -");
    }

    #[test]
    fn documents_are_the_same_when_python_takes_their_ids_for_the_same() {
        let keyed = |id: &str| key(&json::read(id).unwrap());
        for (one, other, same) in [
            ("1", "1.0", true),
            ("1", "true", true),
            ("1", "\"1\"", false),
            ("1", "1.5", false),
            ("0", "-0.0", true),
            ("9007199254740992", "9007199254740993", false),
            ("9007199254740992", "9007199254740992.0", true),
            ("123456789012345678901234567890", "123456789012345678901234567891", false),
        ] {
            assert_eq!(keyed(one) == keyed(other), same, "{one} {other}");
        }
    }
}
