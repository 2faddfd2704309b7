//! **Pure.** Search trees in transcripts: the chosen path as an ordinary conversation, the whole
//! tree beside it, and the strategy of the run.
use super::{TranscriptWriter, fit, put};
use crate::conversation::{Call, Outcome};
use crate::provider::Reply;
use crate::search::{Bounds, Kind, Search};
use crate::strategy::Strategy;
use touchstone_model::json;
use touchstone_model::value::Value;

/// Key under `run:`.
const OFFERS: &str = "tool_definitions";
/// Maximum number of bytes of tool definitions to store: a transcript is rewritten with each turn.
const MOST_OFFERS: usize = 512 << 10;

impl TranscriptWriter {
    /// Writes a search in place of the previously written one. The first message stays.
    pub fn write_search(&mut self, search: &Search) {
        self.document.keep(1);
        let (mut turn, mut reply) = (0_u32, 0);
        for at in search.chosen_path().0 {
            let Some(node) = search.nodes().get(at) else { continue };
            turn += u32::from(node.reply != reply);
            reply = node.reply;
            match &node.kind {
                Kind::Root => {}
                Kind::Thought(text) => {
                    self.document.push("assistant_message", Value::Text(text.clone()));
                }
                Kind::Call(call) => self.document.push("tool_call", item(call, turn, node.seconds)),
            }
        }
        self.document.set_run("tree", search.to_value());
    }

    /// Reads the search from the file. Returns a new one if there is none, and `None` if the file
    /// was edited so that it is no longer a valid search.
    pub fn search(&self, bounds: Bounds) -> Option<Search> {
        self.run("tree")
            .map_or_else(|| Some(Search::new(bounds)), |tree| Search::read(tree, bounds))
    }

    /// Writes the answer of a search, or removes it.
    pub fn answer(&mut self, answer: Option<&Value>) {
        self.document.set_answer(answer.map(fit::value));
        self.forget("answer_lenient");
    }

    /// Writes the offered tools, for checking calls against their parameters. Tools that are no
    /// longer offered stay, because earlier calls refer to them.
    pub fn set_offers(&mut self, offers: &[Value]) {
        let name = |offer: &Value| offer.get("name").and_then(Value::text).map(str::to_owned);
        let now: Vec<Option<String>> = offers.iter().map(name).collect();
        let before = self.run(OFFERS).map_or(&[][..], Value::items);
        let mut all: Vec<Value> =
            before.iter().filter(|offer| !now.contains(&name(offer))).cloned().collect();
        all.extend(offers.iter().map(fit::value));
        if !offers.is_empty()
            && all.iter().map(|offer| json::length(offer, false)).sum::<usize>() <= MOST_OFFERS
        {
            self.document.set_run(OFFERS, Value::List(all));
        }
    }

    /// Writes the strategy of the run.
    pub fn set_strategy(&mut self, way: &Strategy, offered: Option<&str>) {
        for (key, value) in way.facts() {
            self.document.set_run(key, value);
        }
        if let Some(offered) = offered {
            self.document.set_run("offered", Value::Text(offered.to_owned()));
        }
    }
}

/// Fits a reply for the file. Later requests use the fitted reply, which keeps them consistent with
/// the file.
pub(crate) fn fit_reply(reply: Reply) -> Reply {
    let calls = reply.calls.into_iter().map(|call| Call {
        name: fit::text(&call.name),
        params: fit::value(&call.params),
        ..call
    });
    let kept = if reply.kept.iter().all(fit::is_fit) { reply.kept } else { Vec::new() };
    Reply { text: reply.text.map(|text| fit::text(&text)), calls: calls.collect(), kept, ..reply }
}

/// Fits the outcome of a call for the file.
pub(crate) fn fitted_outcome(outcome: Outcome) -> Outcome {
    match outcome {
        Outcome::Result(value) => Outcome::Result(fit::value(&value)),
        Outcome::Error(value) => Outcome::Error(fit::value(&value)),
    }
}

fn item(call: &Call, turn: u32, seconds: Option<f64>) -> Value {
    let mut entries = vec![
        ("id".into(), Value::Text(call.id.clone())),
        ("name".into(), Value::Text(call.name.clone())),
        ("params".into(), call.params.clone()),
        ("turn".into(), Value::Number(turn.to_string())),
    ];
    match &call.outcome {
        Some(Outcome::Result(value)) => put(&mut entries, "result", value.clone()),
        Some(Outcome::Error(value)) => put(&mut entries, "error", value.clone()),
        None => {}
    }
    if let Some(seconds) = seconds {
        put(&mut entries, "seconds", Value::Number(format!("{}", (seconds * 1e3).round() / 1e3)));
    }
    Value::Map(entries)
}
