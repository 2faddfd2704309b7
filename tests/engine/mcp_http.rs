//! Tests of the limits on a list of tools that comes over HTTP, as JSON and as events.
use crate::mcp::{names, open, run};
use crate::scripted::{Reply, Scripted, Seen};
use serde_json::{Value, json};
use tempfile::TempDir;

/// Form of a reply.
#[derive(Debug, Clone, Copy, PartialEq)]
enum Form {
    Json,
    Events,
    Gzip,
}

/// Starts a server that answers each request for a page of tools with a result.
fn server(form: Form, page: impl Fn(usize) -> Value + Send + Sync + 'static) -> Scripted {
    let reply = move |message: &Value| match form {
        Form::Json => Reply::json(message),
        Form::Events => Reply::events([("", message.to_string())]),
        Form::Gzip => Reply::json(message).gzipped(),
    };
    Scripted::start(move |seen: &Seen| {
        let request = seen.json();
        let answer = |result: Value| {
            reply(&json!({ "jsonrpc": "2.0", "id": request["id"], "result": result }))
        };
        match (seen.method.as_str(), request["method"].as_str().unwrap_or_default()) {
            ("POST", "initialize") => answer(json!({
                "protocolVersion": request["params"]["protocolVersion"],
                "capabilities": { "tools": {} },
                "serverInfo": { "name": "scripted", "version": "1" },
            })),
            ("POST", "tools/list") => {
                let cursor = request["params"]["cursor"].as_str().unwrap_or("0");
                answer(page(cursor.parse().unwrap()))
            }
            ("POST", _) => Reply::new(202),
            // It has no events of its own, and no sessions.
            _ => Reply::new(405),
        }
    })
}

fn tool(name: &str, description: &str) -> Value {
    json!({ "name": name, "description": description, "inputSchema": { "type": "object" } })
}

async fn listed(server: &Scripted) -> Result<Vec<String>, String> {
    let home = TempDir::new().unwrap();
    let entry = format!(r#"{{"url": "{}", "seconds": 10}}"#, server.url("/mcp"));
    let opened = open(&entry, home.path()).await;
    opened.map(|tool| names(&tool)).map_err(|refused| {
        let is_known = !refused.message.ends_with(ENDED);
        let has_advice = refused.fix.is_some_and(|fix| fix.contains("fewer tools"));
        assert_eq!(has_advice, is_known, "{}", refused.message);
        refused.message
    })
}

/// Message for a connection that ended. The client does not say that an event was too long.
const ENDED: &str = "It ended before it answered.";

fn refused(why: &str) -> Result<Vec<String>, String> {
    Err(format!("The server of the tool `notes` cannot be used: {why}"))
}

const FORMS: [Form; 3] = [Form::Json, Form::Events, Form::Gzip];

#[test]
fn a_list_of_some_pages_is_taken_and_one_of_too_many_tools_or_pages_is_refused() {
    for form in FORMS {
        let few = server(form, |page| {
            let mut result = json!({ "tools": [tool(&format!("tool{page}"), "x")] });
            if page < 2 {
                result["nextCursor"] = json!((page + 1).to_string());
            }
            result
        });
        let many = server(form, |_| {
            let tools: Vec<Value> = (0..1001).map(|n| tool(&format!("tool{n}"), "")).collect();
            json!({ "tools": tools })
        });
        let endless =
            server(form, |page| json!({ "tools": [], "nextCursor": (page + 1).to_string() }));
        run(async {
            let tools = ["tool0", "tool1", "tool2"].map(str::to_owned).to_vec();
            assert_eq!(listed(&few).await, Ok(tools), "{form:?}");
            assert_eq!(listed(&many).await, refused("It has more than 1000 tools."), "{form:?}");
            let pages = refused("Its list of tools has more than 100 pages.");
            assert_eq!(listed(&endless).await, pages, "{form:?}");
        });
    }
}

#[test]
fn a_list_is_refused_by_its_bytes_over_all_pages_and_when_a_single_page_is_not_read_at_all() {
    const MIB: usize = 1 << 20;
    for form in FORMS {
        // Each page is within the limit, all together are not.
        let pages = server(form, |page| {
            let text = "x".repeat(MIB);
            json!({ "tools": [tool(&format!("t{page}"), &text)], "nextCursor": (page + 1).to_string() })
        });
        let page = server(form, |_| json!({ "tools": [tool("long", &"x".repeat(5 * MIB))] }));
        let huge = server(form, |_| json!({ "tools": [tool("long", &"x".repeat(17 * MIB))] }));
        run(async {
            let too_long = refused("Its list of tools is longer than 4 MiB.");
            assert_eq!(listed(&pages).await, too_long, "{form:?}");
            assert_eq!(listed(&page).await, too_long, "{form:?}");
            let unread = if form == Form::Events { refused(ENDED) } else { too_long };
            assert_eq!(listed(&huge).await, unread, "{form:?}");
        });
        assert!(pages.seen().len() < 12, "{form:?}: no page after the limit is asked for");
    }
}
