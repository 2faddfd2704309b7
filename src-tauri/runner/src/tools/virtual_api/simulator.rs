//! A model that simulates APIs: its prompts, retries, and the parsing of its output. Owns the
//! prompts.
use super::{ApiEnvironment, Call, Order, Style, VirtualSettings};
use crate::conversation::Turn;
use crate::http::persist::{Attempt, Failed, Sending};
use crate::http::retry::Rules;
use crate::provider::{self, HttpReply, HttpRequest, ModelRequest, StopReason, Usage};
use crate::setup::Setup;
use crate::spec::{Model, Provider};
use crate::tools::Unusable;
use std::fmt::Write as _;
use std::sync::Arc;
use tokio_util::sync::CancellationToken;
use touchstone_formats::stabletoolbench::python_json::Py;
use touchstone_formats::stabletoolbench::strip::{self, SimulatorOutput};
use touchstone_formats::stabletoolbench::{Pool, names};
use touchstone_model::json;
use touchstone_model::value::Value;

/// Maximum number of cached replies to show as examples.
pub(super) const EXAMPLES: usize = 5;
/// Maximum number of characters of all examples together.
const LONGEST_EXAMPLES: usize = 2048;
/// Maximum number of attempts until the output is valid.
const TRIES: u64 = 3;
/// Seed of the first attempt; each further one increments it.
const SEED: u64 = 42;

/// System prompt for `MirrorAPI` models, which were trained to act like APIs.
const MIRROR: &str = "Act as the server behind one web API. The user gives its documentation and a request to it. Reply as that \
    server would: one JSON object with two keys. \"error\" is a text that is empty when the call works and otherwise says what \
    is wrong with it. \"response\" is the body of the reply, with values that are plausible and fit the request. Write the object only.";
/// System prompt for any other model.
const GPT: &str = "You stand in for a web API that cannot be reached. You get a short documentation of the API, replies it gave to \
    other inputs, and a new input. Work out what it would answer. Keep to the structure of its earlier replies where there are any, \
    and make up values that are realistic and agree with the input. If the input breaks the documentation, say so as the error. \
    Write nothing but one JSON object: {\"error\": \"\", \"response\": ...}, where \"error\" is empty unless the call fails.";

/// A simulating model.
pub(super) struct Simulator {
    model: Model,
    style: Style,
    order: Order,
    wires: ApiEnvironment,
}

/// Result of a simulated call.
pub(super) enum Simulated {
    /// A reply.
    Reply(Py),
    /// The output was not usable.
    Nothing(String),
    /// The spend limit is reached.
    Spent(String),
    /// The model could not be called, or its output would crash the original.
    BreaksOff(String),
}

impl Simulator {
    pub(super) fn open(
        name: &str,
        settings: &VirtualSettings,
        setup: &Setup,
        wires: ApiEnvironment,
    ) -> Result<Self, Unusable> {
        let unusable = |message: String| {
            let names: Vec<&str> = setup.models.iter().map(|model| model.name.as_str()).collect();
            let fix = format!(
                "There are: {}. Others are added under `models:` in touchstone.yaml.",
                names.join(", ")
            );
            Unusable { message, fix: Some(fix) }
        };
        let model = setup.model(name).ok_or_else(|| {
            unusable(format!("There is no model named `{name}` to simulate APIs."))
        })?;
        if model.provider == Provider::Replay {
            return Err(unusable(format!(
                "The model `{name}` answers from recordings and cannot simulate APIs."
            )));
        }
        let mut model = model.clone();
        let (most, temperature) = match settings.style {
            Style::MirrorApi => (2048, "0.1"),
            Style::Gpt => (1024, "0"),
        };
        model.max_tokens = model.max_tokens.or(Some(most));
        if model.setting("temperature").is_none() {
            model.settings.push(("temperature".to_owned(), Value::Number(temperature.to_owned())));
        }
        Ok(Self { model, style: settings.style, order: settings.order, wires })
    }

    pub(super) fn wants_examples(&self) -> bool {
        self.style == Style::Gpt
    }

    /// Calls the model until its output is usable. `examples` are cache keys with the JSON of their
    /// replies.
    pub(super) async fn ask(
        &self,
        call: &Call,
        pool: &Pool,
        examples: &[(String, String)],
        stop: &CancellationToken,
    ) -> Simulated {
        let (system, words) = match self.style {
            Style::MirrorApi => match self.mirror_words(call, pool) {
                Some(words) => (MIRROR, words),
                None => {
                    return Simulated::BreaksOff("There is no definition of this API.".to_owned());
                }
            },
            Style::Gpt => (GPT, gpt_words(call, pool, examples)),
        };
        // The servers that this order imitates call the model only once.
        let tries = if matches!(self.order, Order::MainMirror | Order::MainMirrorCache) {
            1
        } else {
            TRIES
        };
        for turn in 0..tries {
            if let Some(why) = self.wires.payer.as_ref().and_then(|payer| payer.refuses()) {
                return Simulated::Spent(why);
            }
            let text = match self.request_text(system, &words, turn, stop).await {
                Ok(text) => text,
                Err(why) => {
                    return Simulated::BreaksOff(format!(
                        "The simulator could not be asked: {why}"
                    ));
                }
            };
            if let Some(done) = self.parse_output(&text) {
                return done;
            }
        }
        Simulated::Nothing(format!(
            "The simulator was asked {tries} times and gave no valid reply."
        ))
    }

    /// Parses the output. Returns `None` if the model should be called again.
    fn parse_output(&self, text: &str) -> Option<Simulated> {
        let compat = self.order.is_compat();
        if self.style == Style::Gpt {
            let reply = strip::parse_prompted_simulator(text)?;
            let fits = compat || (reply.get("error").is_some() && reply.get("response").is_some());
            return fits.then_some(Simulated::Reply(reply));
        }
        let bare = if compat { None } else { strip::parse_prompted_simulator(text) };
        let written = bare.map_or_else(|| strip::parse_trained_simulator(text), as_reply);
        match written {
            SimulatorOutput::Reply(reply) => {
                let empty = |key: &str| reply.get(key).is_some_and(|value| value.str().is_empty());
                (!(empty("error") && empty("response"))).then_some(Simulated::Reply(reply))
            }
            SimulatorOutput::Odd(_) if compat => {
                Some(Simulated::BreaksOff("The simulator left out a part.".to_owned()))
            }
            SimulatorOutput::Odd(_) | SimulatorOutput::Nothing => None,
        }
    }

    async fn request_text(
        &self,
        system: &str,
        words: &str,
        turn: u64,
        stop: &CancellationToken,
    ) -> Result<String, String> {
        let request = self.request(system, words, turn);
        let key = self.model.key.as_deref().and_then(|name| (self.wires.keys)(name));
        let limiter = self.wires.limiters.limiter_for(
            self.model.provider,
            &self.model.model_id,
            self.model.key.as_deref(),
        );
        let rules = Rules::for_provider(self.model.provider);
        let sending = Sending {
            client: &self.wires.client,
            limiter: &limiter,
            request: &request,
            key: key.as_ref(),
            rules: &rules,
            rest: stop,
            stop,
        };
        // Paid replies are stored in the cache, before they are returned.
        let sent = request.body.len();
        let kept = |attempt: Arc<Attempt>| {
            // Broken-off attempts are not passed to `decode`, so their cost is recorded here.
            if let (Some(status), Some(_)) = (attempt.status, &attempt.error) {
                let Attempt { headers, body, .. } = &*attempt;
                self.lost(
                    sent,
                    &HttpReply { status, headers: headers.clone(), body: body.clone() },
                );
            }
            async { Ok(()) }
        };
        let decode = |reply: &HttpReply| {
            provider::decode(self.model.provider, reply).inspect_err(|_| self.lost(sent, reply))
        };
        let reply = sending.persist(decode, kept, |_| {}).await;
        match reply {
            Ok(reply) => {
                self.pay(reply.usage);
                // A cut reply is incomplete, even if its beginning can be parsed.
                let cut = reply.stop == StopReason::Length && !self.order.is_compat();
                Ok(reply.text.filter(|_| !cut).unwrap_or_default())
            }
            Err(Failed::Fault { fault, .. }) => {
                if let Some(payer) = self.wires.payer.as_ref().filter(|_| fault.kind.concerns_all())
                {
                    payer.stops(&fault.message);
                }
                Err(fault.message)
            }
            Err(Failed::Stopped) => Err("it was stopped.".to_owned()),
            Err(Failed::NotKept { why, .. }) => Err(why.to_string()),
        }
    }

    /// Records the possible cost of a response that could not be decoded.
    fn lost(&self, sent: usize, reply: &HttpReply) {
        if (200..300).contains(&reply.status) && !provider::is_free(reply) {
            let usage = provider::usage_of(self.model.provider, reply).unwrap_or_default();
            if let Some(payer) = &self.wires.payer {
                let price = self.model.price.as_ref();
                let guess =
                    provider::price::cost(&provider::with_estimates(usage, sent, reply), price);
                payer.loses(usage, provider::price::cost(&usage, price), guess);
            }
        }
    }

    fn pay(&self, usage: Usage) {
        if let Some(payer) = &self.wires.payer {
            let cost = provider::price::cost(&usage, self.model.price.as_ref());
            payer.pays(&self.model, usage, cost);
        }
    }

    /// Builds the request, with the parameters that only simulators use.
    fn request(&self, system: &str, words: &str, turn: u64) -> HttpRequest {
        let turns = [Turn::User(words.to_owned())];
        let request = provider::encode(&ModelRequest {
            model: &self.model,
            system,
            turns: &turns,
            tools: &[],
        });
        if self.model.provider != Provider::OpenAi {
            return request;
        }
        let text = String::from_utf8_lossy(&request.body);
        let Ok(Value::Map(mut body)) = json::read(&text) else { return request };
        if self.style == Style::MirrorApi {
            body.push(("seed".into(), Value::Number((SEED + turn).to_string())));
        } else {
            let kind = Value::Map(vec![("type".into(), "json_object".into())]);
            body.push(("response_format".into(), kind));
        }
        HttpRequest { body: json::write(&Value::Map(body), false).into_bytes(), ..request }
    }

    /// Formats documentation and request in the form that `MirrorAPI` models were trained on.
    /// Returns `None` in cases where the original crashes.
    fn mirror_words(&self, call: &Call, pool: &Pool) -> Option<String> {
        let found = pool.find(
            Some(&call.place.category),
            call.place.tool_without_category(),
            &call.place.api,
        );
        if found.is_none() && self.order.is_compat() {
            return None;
        }
        let parameters = |list: &[touchstone_formats::stabletoolbench::Parameter]| {
            let one = |parameter: &touchstone_formats::stabletoolbench::Parameter| {
                Py::Map(vec![
                    ("name".into(), parameter.name.as_str().into()),
                    ("type".into(), parameter.kind.as_str().into()),
                    ("description".into(), parameter.description.as_str().into()),
                    ("default".into(), Py::from(&parameter.default)),
                ])
            };
            Py::List(list.iter().map(one).collect())
        };
        let (tool, api) = found.unzip();
        let name = match api {
            Some(api) if self.order != Order::MainMirrorCache => api.name.clone(),
            _ => names::api_name(&call.api),
        };
        let document = Py::Map(vec![
            ("api_name".into(), name.as_str().into()),
            ("api_description".into(), api.map_or("", |api| &api.description).into()),
            ("required_parameters".into(), parameters(api.map_or(&[], |api| &api.required))),
            ("optional_parameters".into(), parameters(api.map_or(&[], |api| &api.optional))),
            (
                "tool_description".into(),
                tool.and_then(|tool| tool.description.as_deref()).map_or(Py::Null, Py::from),
            ),
            ("tool_name".into(), call.tool.as_str().into()),
            ("tool_category".into(), call.category.as_str().into()),
        ]);
        let mut input = call.input.clone();
        if let Py::Map(entries) = &mut input {
            entries.retain(|(key, _)| key.to_display_text() != "toolbench_key");
        }
        Some(format!("API doc:\n{}\n\nRequest:\n{}", document.str(), input.str()))
    }
}

fn as_reply(reply: Py) -> SimulatorOutput {
    if reply.get("error").is_some() && reply.get("response").is_some() {
        SimulatorOutput::Reply(reply)
    } else {
        SimulatorOutput::Odd(reply)
    }
}

/// Formats a short documentation, examples and the input.
fn gpt_words(call: &Call, pool: &Pool, examples: &[(String, String)]) -> String {
    let found =
        pool.find(Some(&call.place.category), call.place.tool_without_category(), &call.place.api);
    let (tool, api) = found.unzip();
    let mut words = format!("Category: {}\nTool: {}\n", call.category, call.tool);
    if let Some(description) = tool.and_then(|tool| tool.description.as_deref()) {
        let _ = writeln!(words, "What the tool does: {description}");
    }
    let _ = writeln!(words, "API: {}", api.map_or(&call.api, |api| &api.name));
    if let Some(api) = api.filter(|api| !api.description.is_empty()) {
        let _ = writeln!(words, "What the API does: {}", api.description);
    }
    let shown = examples_within(examples);
    if !shown.is_empty() {
        let _ = write!(words, "Earlier inputs with their replies:\n{shown}");
    }
    words + &format!("New input: {}", call.input.str())
}

/// Returns the examples that fit within the limit, or the beginning of the first one if it does not
/// fit.
fn examples_within(examples: &[(String, String)]) -> String {
    let mut shown = String::new();
    for (key, reply) in examples {
        let compact = touchstone_formats::stabletoolbench::python_json::read(reply)
            .map_or_else(|_| reply.clone(), |py| py.str());
        let line = format!("{key} -> {compact}\n");
        if !shown.is_empty() && shown.chars().count() + line.chars().count() > LONGEST_EXAMPLES {
            break;
        }
        shown += &line;
    }
    if shown.chars().count() > LONGEST_EXAMPLES {
        shown = shown.chars().take(LONGEST_EXAMPLES).collect::<String>() + "\n";
    }
    shown
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn examples_are_shown_as_long_as_they_fit() {
        let example = |length: usize| ("{}".to_owned(), format!("\"{}\"", "x".repeat(length)));
        assert_eq!(examples_within(&[]), "");
        assert_eq!(examples_within(&[example(10), example(3)]), "{} -> xxxxxxxxxx\n{} -> xxx\n");
        assert_eq!(examples_within(&[example(1500), example(1500)]).chars().count(), 1507);
        assert_eq!(examples_within(&[example(9000)]).chars().count(), LONGEST_EXAMPLES + 1);
    }
}
