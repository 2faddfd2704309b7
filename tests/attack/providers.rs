//! Attacks by misbehaving providers over every API. For any reply of a provider, the program exits
//! with one of its own statuses, every transcript can be read, the key appears nowhere, no other
//! server receives requests, and a second launch can resume.
use crate::canary;
use crate::chance::Chance;
use crate::conversation::{Conversation, Wire};
use crate::program;
use crate::sandbox::Sandbox;
use crate::scripted::{Reply, Scripted, Seen};
use serde_json::{Value, json};
use std::path::Path;
use std::sync::Mutex;
use std::time::Duration;
use touchstone_formats::transcript::Document;

const KEY: &str = "canary/key+with=odd~letters.20261123";
/// Model of the workspace and system, one pair for each API.
const WIRES: [(&str, &str); 5] = [
    ("chat", "tool_calling"),
    ("streamed", "tool_calling"),
    ("messages", "tool_calling"),
    ("flowing", "tool_calling"),
    ("chat", "promptql"),
];
const STATUSES: [u16; 26] = [
    100, 201, 204, 206, 300, 301, 302, 304, 307, 308, 400, 401, 402, 403, 404, 408, 409, 413, 418,
    422, 429, 500, 502, 503, 529, 599,
];
const HEADERS: [(&str, &str); 18] = [
    ("retry-after", "0"),
    ("retry-after", "-3"),
    ("retry-after", "inf"),
    ("retry-after", "nan"),
    ("retry-after", "1e40"),
    ("retry-after", "Thu, 01 Jan 1970 00:00:00 GMT"),
    ("retry-after", "Fri, 31 Dec 99999 23:59:59 GMT"),
    ("retry-after-ms", "1"),
    ("x-should-retry", "true"),
    ("x-should-retry", "false"),
    ("content-type", "text/html"),
    ("content-type", "application/octet-stream; charset=utf-7"),
    ("content-encoding", "gzip"),
    ("content-encoding", "br, gzip, identity"),
    ("transfer-encoding", "identity"),
    ("set-cookie", "session=1"),
    ("x-request-id", KEY),
    ("x-odd", "\u{1}\u{7f}"),
];

/// A kind of misbehaviour, at one request of the run or at all from there on.
struct Misbehaviour {
    from: usize,
    lasts: bool,
    chance: Mutex<Chance>,
    kind: usize,
}

const KINDS: usize = 16;

impl Misbehaviour {
    fn reply(&self, seen: &Seen, good: Reply, elsewhere: &str) -> Reply {
        if seen.number < self.from || (!self.lasts && seen.number > self.from) {
            return good;
        }
        let mut chance = self.chance.lock().unwrap();
        let chance = &mut *chance;
        let len = good.body().len();
        match self.kind {
            0 => good.status(*chance.pick(&STATUSES)),
            1 => {
                good.status(*chance.pick(&[301, 302, 303, 307, 308])).header("location", elsewhere)
            }
            2 => {
                let (name, value) = *chance.pick(&HEADERS);
                let status = *chance.pick(&[200, 429, 503]);
                good.status(status).header(name, value)
            }
            3 => good.cut_after(chance.index(len + 1)),
            4 => good.reset_after(chance.index(len + 1)),
            5 => {
                let mut body = good.body().to_vec();
                for _ in 0..=chance.index(8) {
                    let at = chance.index(body.len());
                    body[at] = u8::try_from(chance.below(256)).unwrap();
                }
                good.bytes(&body)
            }
            6 => {
                let short = chance.index(len + 1);
                let body = good.body()[..short].to_vec();
                good.bytes(&body)
            }
            7..=9 => {
                let body = change_json(good.body(), chance);
                good.bytes(&body)
            }
            10 => {
                let body = shuffle_events(good.body(), chance);
                good.bytes(&body)
            }
            11 => good.bytes(odd_body(chance).as_bytes()),
            12 => Reply::gzip_bomb(80),
            13 => Reply::new(*chance.pick(&[400, 401, 403, 429, 500]))
                .text("text/plain", &leak(chance)),
            14 => {
                let body = String::from_utf8_lossy(good.body())
                    .replace("Here it is.", &leak(chance).replace('"', "'"));
                good.bytes(body.as_bytes())
            }
            _ => Reply::reset_at_once(),
        }
    }
}

/// Returns the key in a form in which a provider may repeat it.
fn leak(chance: &mut Chance) -> String {
    let each = |form: fn(u8) -> String| KEY.bytes().map(form).collect::<Vec<_>>().concat();
    let escaped = each(|letter| format!("\\u{letter:04x}"));
    let twice = escaped.replace('\\', "\\\\");
    match chance.below(5) {
        0 => format!("Your key is {KEY}."),
        1 => format!("```json\\n[\\\"{escaped}\\\"]\\n```"),
        2 => format!("```json\\n[\\\"{twice}\\\"]\\n```"),
        3 => each(|letter| format!("%{letter:02X}")),
        _ => format!("{{\"error\": {{\"message\": \"{escaped}\"}}}}"),
    }
}

fn odd_body(chance: &mut Chance) -> String {
    match chance.below(9) {
        0 => String::new(),
        1 => "null".to_owned(),
        2 => "[".repeat(100_000),
        3 => format!("{{\"choices\": {}1{}}}", "[".repeat(5_000), "]".repeat(5_000)),
        4 => "<html><script>window.pwned = 1</script></html>".to_owned(),
        5 => "data: [DONE]\n\n".repeat(1_000),
        6 => "event: error\ndata: {\"type\": \"error\", \"error\": {\"type\": \"overloaded_error\", \"message\": \"Busy\"}}\n\n"
            .to_owned(),
        7 => format!("{{\"usage\": {{\"prompt_tokens\": {0}, \"completion_tokens\": -{0}}}}}", "9".repeat(400)),
        _ => "\u{feff}\u{0}\u{1b}]0;title\u{7}\u{202e}".repeat(100),
    }
}

/// Changes one value of a JSON body, or of one event of a stream.
fn change_json(body: &[u8], chance: &mut Chance) -> Vec<u8> {
    let text = String::from_utf8_lossy(body).into_owned();
    if let Ok(mut value) = serde_json::from_str::<Value>(&text) {
        change(&mut value, chance);
        return value.to_string().into_bytes();
    }
    let mut lines: Vec<String> = text.split('\n').map(str::to_owned).collect();
    let events: Vec<usize> =
        (0..lines.len()).filter(|at| lines[*at].starts_with("data: {")).collect();
    if !events.is_empty() {
        let at = *chance.pick(&events);
        if let Ok(mut value) = serde_json::from_str::<Value>(&lines[at]["data: ".len()..]) {
            change(&mut value, chance);
            lines[at] = format!("data: {value}");
        }
    }
    lines.join("\n").into_bytes()
}

/// Descends to a random value and replaces it.
fn change(value: &mut Value, chance: &mut Chance) {
    let inner = match value {
        Value::Object(map) if !map.is_empty() && chance.below(6) > 0 => {
            let key = map.keys().nth(chance.index(map.len())).cloned();
            match key {
                Some(key) if chance.below(6) == 0 => {
                    map.remove(&key);
                    return;
                }
                key => key.and_then(|key| map.get_mut(&key)),
            }
        }
        Value::Array(items) if !items.is_empty() && chance.below(6) > 0 => {
            let at = chance.index(items.len());
            if chance.below(8) == 0 {
                let copy = items[at].clone();
                items.extend(std::iter::repeat_n(copy, 300));
                return;
            }
            items.get_mut(at)
        }
        _ => None,
    };
    if let Some(inner) = inner {
        return change(inner, chance);
    }
    let odd = [
        Value::Null,
        json!(true),
        json!(-1),
        json!(1e308),
        json!(18_446_744_073_709_551_615_u64),
        json!(""),
        json!("../../../../etc/passwd"),
        json!("no_such_tool"),
        json!("{\"sql\": \"SELECT"),
        json!("{\"sql\": \"SELECT 1\", \"sql\": 2}"),
        json!("\u{0}\u{1b}[2J\u{202e}\u{d7ff}"),
        json!("x".repeat(2_000_000)),
        json!([]),
        json!({}),
        json!([[[[{ "type": "tool_use" }]]]]),
        json!({ "type": "tool_use", "id": null, "name": [], "input": "x" }),
        json!({ "__proto__": 1, "role": "system" }),
    ];
    *value = chance.pick(&odd).clone();
}

/// Drops, duplicates or moves events of a stream.
fn shuffle_events(body: &[u8], chance: &mut Chance) -> Vec<u8> {
    let text = String::from_utf8_lossy(body).into_owned();
    let mut events: Vec<String> = text.split_inclusive("\n\n").map(str::to_owned).collect();
    for _ in 0..=chance.below(3) {
        if events.is_empty() {
            break;
        }
        let at = chance.index(events.len());
        match chance.below(4) {
            0 => drop(events.remove(at)),
            1 => events.insert(at, events[at].clone()),
            2 => {
                let event = events.remove(at);
                let to = chance.index(events.len() + 1);
                events.insert(to, event);
            }
            _ => events.truncate(at),
        }
    }
    events.concat().into_bytes()
}

fn interaction() -> Reply {
    let artifact = json!({ "identifier": "table", "title": "T", "artifact_type": "table", "data": [{ "n": 1 }] });
    Reply::json(&json!({
        "thread_id": "t",
        "assistant_actions": [
            { "message": "Here it is.", "plan": null, "code": "print(1)", "code_output": "1", "code_error": null },
        ],
        "modified_artifacts": [artifact],
    }))
}

fn good(seen: &Seen) -> Reply {
    match seen.path.as_str() {
        "/query" => interaction(),
        path if path.ends_with("/messages") => Conversation::new(Wire::Messages, 2).reply(seen),
        _ => Conversation::new(Wire::Chat, 2).reply(seen),
    }
}

fn workspace(url: &str) -> String {
    let model = |name: &str, provider: &str, more: &str| {
        format!(
            "  {name}: {{ provider: {provider}, base_url: '{url}/v1', model: any, api_key_env: CANARY_KEY, \
             price: {{ input: 1.0, output: 2.0 }}{more} }}\n"
        )
    };
    format!(
        "input_dir: tasks\noutput_dir: results\nmodels:\n{}{}{}{}systems: {{ promptql: {{ base_url: '{url}', key: CANARY_KEY, \
         build_version: b1 }} }}\ntools:\n  look: {{ kind: sql, database: 'sqlite:tickets.db', description: Tickets. }}\n",
        model("chat", "openai", ""),
        model("streamed", "openai", ", stream: true"),
        model("messages", "anthropic", ""),
        model("flowing", "anthropic", ", stream: true"),
    )
}

const TASK: &str =
    "tool_calling_prompt: Look.\npromptql_prompt: Look.\nexpected_promptql_artifact: table\n";

#[test]
fn whatever_a_provider_says_files_stay_readable_and_no_key_gets_out() {
    let chance = crate::chance();
    crate::attack("provider", crate::cases("PROVIDERS", 40), |case| provider(case, &chance));
}

fn provider(case: usize, chance: &Chance) -> Result<(), String> {
    let (model, system) = WIRES[case % WIRES.len()];
    let mut chance = chance.for_case(case);
    let (from, lasts) = (chance.index(3), chance.below(2) == 0);
    let kind = (case / WIRES.len()) % KINDS;
    let told = format!(
        "{model}/{system}, kind {kind}, from request {from}{}",
        if lasts { " on" } else { "" }
    );
    let elsewhere = Scripted::always(Reply::json(&json!({})));
    let target = elsewhere.url("/v1/chat/completions");
    let misbehaviour = Misbehaviour { from, lasts, chance: Mutex::new(chance), kind };
    let server = Scripted::start(move |seen| misbehaviour.reply(seen, good(seen), &target));
    let sandbox = Sandbox::with(
        &format!("attack-provider-{case}"),
        &[("touchstone.yaml", &workspace(&server.url(""))), ("tasks/look.yaml", TASK)],
    );
    let demo = Path::new(env!("CARGO_MANIFEST_DIR")).join("demo/data/support.db");
    std::fs::copy(demo, sandbox.folder.join("tickets.db")).map_err(|why| why.to_string())?;
    let launch = ["run", ".", "--system", system, "--model", model, "--json"];
    let root = sandbox.folder.parent().unwrap();
    let check = |why: String| format!("{told}: {why}");
    for _ in 0..2 {
        let mut command = sandbox.command(&launch);
        // A reply that does not end is aborted after ten minutes.
        let ended =
            program::run(command.env("CANARY_KEY", KEY), Duration::from_mins(11)).map_err(check)?;
        ended.check(700).map_err(check)?;
        for (name, text) in [("output", &ended.out), ("messages", &ended.err)] {
            if let Some(form) = canary::spot(text.as_bytes(), KEY) {
                return Err(check(format!("the key is in its {name} ({form}): {text}")));
            }
        }
        let found = canary::search(root, KEY);
        if !found.is_empty() {
            return Err(check(format!("the key is in {found:?}")));
        }
        readable(&sandbox.folder.join("results")).map_err(check)?;
    }
    if !elsewhere.seen().is_empty() {
        return Err(check("a redirect was followed".to_owned()));
    }
    Ok(())
}

fn readable(dir: &Path) -> Result<(), String> {
    for entry in std::fs::read_dir(dir).into_iter().flatten().flatten() {
        let path = entry.path();
        if path.extension().is_some_and(|end| end == "yaml") {
            let bytes = std::fs::read(&path).map_err(|why| why.to_string())?;
            Document::read(&bytes)
                .map_err(|why| format!("{} cannot be read: {why}", path.display()))?;
        }
    }
    Ok(())
}
