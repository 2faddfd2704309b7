//! Kinds of runs other than the plain one, killed: programs in the sandbox, `PromptQL`, a tool
//! server over standard input and output, and a search with backtracking. Owns their folders and
//! the replies of their provider.
use crate::chance::Chance;
use crate::conversation::{Conversation, Wire};
use crate::lives::Life;
use crate::scripted::{Reply, Seen};
use crate::stage::{EVERY_WIRE, Stage, VARIATIONS, told};
use crate::{Folder, PLACES, killed, straight_of, wanted};
use serde_json::{Value, json};
use std::fs;
use std::path::Path;

/// Names of the functions of two APIs: the level, and the outlook.
const LEVEL: &str = "level_for_river_gauge";
const OUTLOOK: &str = "outlook_for_river_gauge";

/// One task with two variations for every API, whose tool runs programs.
fn programs(name: &str) -> Stage {
    let task = format!("tool_calling_python_prompt: Compute {{times}} times.\n{VARIATIONS}");
    Stage::of(
        name,
        None,
        ("tool_calling_python", EVERY_WIRE),
        &[("tasks/compute.yaml", &task)],
        |_| String::new(),
    )
}

/// One task with six variations, some of which first return a plan that needs confirmation.
/// `PromptQL` receives equal requests for every model, so there is only one.
fn promptql(name: &str) -> Stage {
    let times: Vec<String> = (1..=6).map(|times| format!("  - times: {times}\n")).collect();
    let times = times.concat();
    let task = format!(
        "promptql_prompt: Plan {{times}} times.\nexpected_promptql_artifact: table\nvariations:\n{times}"
    );
    Stage::of(name, None, ("promptql", "chat"), &[("tasks/plan.yaml", &task)], |url| {
        format!(
            "systems: {{ promptql: {{ base_url: '{url}', key: PQL_KEY, build_version: b1, confirm_plans: 9 }} }}\n"
        )
    })
}

/// One task with two variations for every API, whose tools come from a server.
fn servers(name: &str) -> Stage {
    let task = format!("tool_calling_prompt: Echo {{times}} times.\n{VARIATIONS}");
    let stage =
        Stage::of(name, None, ("tool_calling", EVERY_WIRE), &[("tasks/echo.yaml", &task)], |_| {
            "tools: { notes: { kind: mcp, command: [python3, scripted.py] } }\n".to_owned()
        });
    let server = Path::new(env!("CARGO_MANIFEST_DIR")).join("tests/fixtures/mcp/scripted.py");
    fs::copy(server, stage.sandbox.folder.join("scripted.py")).unwrap();
    stage
}

/// Two queries for every API, each of which is given up once and solved by another path.
fn searches(name: &str) -> Stage {
    let api = |name: &str| {
        json!({
            "category_name": "Weather", "tool_name": "River Gauge", "api_name": name, "api_description": "How high the water stands.",
            "method": "GET", "required_parameters": [{ "name": "place", "type": "STRING", "description": "", "default": "Elz" }], "optional_parameters": [],
        })
    };
    let query = |id: u32, place: &str| {
        json!({
            "query_id": id, "query": format!("How high does the water stand at {place}?"), "api_list": [api("Level"), api("Outlook")],
            "relevant APIs": [["River Gauge", "Outlook"]],
        })
    };
    let queries = json!([query(1, "Elz"), query(2, "Murg")]).to_string();
    let stands =
        json!({ "{'place': 'Elz'}": { "error": "", "response": { "cm": 152 } } }).to_string();
    let files = [
        ("tasks/G1_instruction.json", queries.as_str()),
        ("apis/Weather/river_gauge_for_Weather/level.json", &stands),
        ("apis/Weather/river_gauge_for_Weather/outlook.json", &stands),
    ];
    Stage::of(name, None, ("tool_calling", EVERY_WIRE), &files, |_| {
        "systems: { tool_calling: { method: DFS_woFilter_w2, offer: query } }\ntools: { apis: { kind: virtual, cache: apis } }\n"
            .to_owned()
    })
}

/// Reply to requests of `PromptQL` and of searches; `None` for all others.
pub(crate) fn reply(seen: &Seen, body: &Value, wire: Wire) -> Option<Reply> {
    if seen.path == "/query" {
        return Some(Reply::json(&interaction(body)));
    }
    let last = last_call(body);
    let calls = match last.as_deref() {
        _ if !offers(body, "Finish") => return None,
        None if body["messages"].to_string().contains(&format!("- {LEVEL} with")) => OUTLOOK,
        None => LEVEL,
        Some(_) => "Finish",
    };
    // The conversation calls the first tool of the list, so the wanted one is moved there.
    let mut body = body.clone();
    let tools = body["tools"].as_array_mut()?;
    let at = tools.iter().position(|tool| name(tool) == calls)?;
    tools.rotate_left(at);
    let arguments: fn(&str, usize) -> Value = match last.as_deref() {
        None => |_, _| json!({ "place": "Elz" }),
        Some(LEVEL) => |_, _| json!({ "return_type": "give_up_and_restart" }),
        Some(_) => {
            |_, _| json!({ "return_type": "give_answer", "final_answer": "It stands at 152 cm." })
        }
    };
    Some(
        Conversation { arguments, ..Conversation::new(wire, usize::MAX) }.reply(&told(seen, &body)),
    )
}

/// Builds a plan for all but the last of the requests in the question, then the result.
fn interaction(body: &Value) -> Value {
    let asked = body["interactions"].as_array().unwrap();
    let question = asked[0]["user_message"]["text"].as_str().unwrap();
    let times: usize = question.split(' ').find_map(|word| word.parse().ok()).unwrap();
    let plans = asked.len() < times;
    let artifact = json!({ "identifier": "table", "title": "T", "artifact_type": "table", "data": [{ "n": times }] });
    json!({
        "thread_id": "t",
        "assistant_actions": [{ "message": format!("Step {}.", asked.len()), "plan": plans.then_some("1. Look."),
            "code": (!plans).then_some("print(1)"), "code_output": (!plans).then_some("1"), "code_error": null }],
        "modified_artifacts": if plans { json!([]) } else { json!([artifact]) },
    })
}

fn name(tool: &Value) -> &str {
    tool["name"].as_str().or_else(|| tool["function"]["name"].as_str()).unwrap_or_default()
}

fn offers(body: &Value, wanted: &str) -> bool {
    body["tools"].as_array().is_some_and(|tools| tools.iter().any(|tool| name(tool) == wanted))
}

/// Returns the function that was called last on this path.
fn last_call(body: &Value) -> Option<String> {
    let said = body["messages"].as_array()?.iter().rev();
    said.flat_map(|message| {
        let blocks = message["content"]
            .as_array()
            .into_iter()
            .flatten()
            .filter(|block| block["type"] == "tool_use");
        blocks
            .chain(message["tool_calls"].as_array().into_iter().flatten())
            .map(name)
            .map(str::to_owned)
            .collect::<Vec<_>>()
    })
    .next()
}

/// Kills runs of a kind at some of these fail points and at random times; at all of them if many
/// kills are configured.
fn kind(name: &str, stage: fn(&str) -> Stage, places: &[&str], expected: (usize, usize)) {
    let (found, took) = straight_of(&stage(&format!("faults-{name}-straight")));
    assert_eq!(
        (found.transcripts.len(), found.replies),
        expected,
        "{:?}",
        found.transcripts.keys()
    );
    for (name, text) in &found.transcripts {
        assert!(text.contains("\nanswer:") && !text.contains("\nerror:"), "{name}: {text}");
    }
    let mut chance = Chance::seeded();
    let wanted = wanted().div_ceil(4);
    let mut places: Vec<String> =
        places.iter().map(|place| format!("{place}:{}", 1 + chance.below(3))).collect();
    while places.len() > wanted * 2 / 3 {
        places.swap_remove(usize::try_from(chance.below(places.len() as u64)).unwrap());
    }
    killed(&format!("faults-{name}-killed"), stage, (&found, took), (places, wanted), &mut chance);
}

/// Fail points that are reached without a conversation.
fn without_talk() -> Vec<&'static str> {
    PLACES.into_iter().filter(|place| !place.starts_with("talk.")).collect()
}

#[test]
fn whenever_it_is_killed_programs_of_models_end_as_if_nothing_had_happened() {
    if std::env::var_os("TOUCHSTONE_WITHOUT_SANDBOX").is_some() {
        return eprintln!("not run: TOUCHSTONE_WITHOUT_SANDBOX is set");
    }
    // Three or five programs, and the answer.
    kind("programs", programs, &PLACES, (8, 4 * (4 + 6)));
}

#[test]
fn whenever_it_is_killed_promptql_ends_as_if_nothing_had_happened() {
    kind("promptql", promptql, &without_talk(), (6, 1 + 2 + 3 + 4 + 5 + 6));
}

#[test]
fn whenever_it_is_killed_tools_of_a_server_end_as_if_nothing_had_happened() {
    kind("servers", servers, &PLACES, (8, 4 * (4 + 6)));
}

#[test]
fn whenever_it_is_killed_a_search_ends_as_if_nothing_had_happened() {
    // A call that leads nowhere, giving up, another call, and the answer.
    kind("searches", searches, &PLACES, (8, 8 * 4));
}

#[test]
fn runs_whose_programs_are_killed_end_as_if_nothing_had_happened() {
    if std::env::var_os("TOUCHSTONE_WITHOUT_SANDBOX").is_some() {
        return eprintln!("not run: TOUCHSTONE_WITHOUT_SANDBOX is set");
    }
    let (expected, _) = straight_of(&programs("faults-kept-straight"));
    let mut folder = Folder::new(programs("faults-kept"));
    for place in KEPT {
        assert!(folder.live(&Life::At(format!("{place}:2"))), "{place} is not passed");
    }
    folder.finish(&expected);
}

/// Fail points at which they are killed on the second pass: before, while and after the result of a
/// program is stored.
const KEPT: [&str; 6] = [
    "talk.called",
    "journal.before_write",
    "journal.mid_write",
    "talk.replied",
    "journal.after_sync",
    "talk.called",
];
