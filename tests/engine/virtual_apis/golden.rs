//! Compares virtual APIs with recorded replies of the three original servers, each in its order of
//! sources. The recordings are not part of the project; without them nothing is tested.
use super::{Stage, completion};
use crate::scripted::{Reply, Scripted};
use fs_err as fs;
use serde_json::{Map, Value, json};
use std::path::{Path, PathBuf};
use std::sync::Arc;
use tokio_util::sync::CancellationToken;
use touchstone_formats::stabletoolbench::{Pool, request};
use touchstone_runner::tools::pool;
use touchstone_runner::tools::virtual_api::{Order, VirtualSettings};

/// Cases in which the original is not followed, with the status that is returned instead.
const OTHERWISE: [(&str, u16); 4] = [
    // A corrupt cache file is left unchanged, and the reply is stored beside it.
    ("corrupt cache file is overwritten", 200),
    ("cache file is a list", 200),
    // The original crashes on tools whose names contain these words.
    ("tool with _for_ in its name", 200),
    // The original crashes on its intended reply.
    ("chat_with_user", 200),
];

#[tokio::test]
async fn the_original_servers_are_followed_but_for_what_is_listed() {
    let root =
        PathBuf::from(env!("CARGO_MANIFEST_DIR")).join("../../../shared/golden/stabletoolbench");
    let Ok(text) = fs::read_to_string(root.join("server_cases.jsonl")) else { return };
    let pool = Arc::new(pool::load(&root.join("toolenv/tools")).unwrap());
    let (mut same, mut otherwise) = (0, Vec::new());
    for line in text.lines() {
        let case: Value = serde_json::from_str(line).unwrap();
        let name =
            format!("{}: {}", case["server"].as_str().unwrap(), case["case"].as_str().unwrap());
        if replayed(&case, &pool).await {
            same += 1;
        } else {
            otherwise.push(name);
        }
    }
    println!("cases: {same} the same, {} on purpose otherwise: {otherwise:#?}", otherwise.len());
    assert!(otherwise.iter().all(|name| OTHERWISE.iter().any(|(known, _)| name.contains(known))));
}

/// Returns true if everything equals the recording of the original.
async fn replayed(case: &Value, pool: &Arc<Pool>) -> bool {
    let outputs: Vec<String> = serde_json::from_value(case["llm_outputs"].clone()).unwrap();
    let model = Scripted::start(move |seen| {
        completion(outputs.get(seen.number).map_or("nope", String::as_str))
    });
    let backend = case["real_backend"].clone();
    let real = Scripted::start(move |_| match backend["raw"].as_str() {
        Some(raw) => Reply::new(200).text("text/html", raw),
        None => Reply::json(&backend["body"])
            .status(u16::try_from(backend["status"].as_u64().unwrap()).unwrap()),
    });
    let order = Order::of(case["server"].as_str().unwrap()).unwrap();
    let url = real.url("/");
    let stage = Stage { pool: Arc::clone(pool), ..Stage::new().simulated_by(&model) };
    let stage = stage.set(|settings| {
        *settings = VirtualSettings {
            order,
            style: order.style(),
            save: order.save(),
            url: Some(url),
            ..settings.clone()
        };
        "NOT_SET".clone_into(&mut settings.key);
    });
    for (file, text) in case["cache_before"].as_object().unwrap() {
        stage.write(file, text.as_str().unwrap());
    }
    let body = case["request"].to_string();
    let (status, said) = match request::read(body.as_bytes()) {
        Err(wrong) => (422, serde_json::from_str(&wrong).unwrap()),
        Ok(asked) => {
            let reply = stage.open().answer(asked, &CancellationToken::new()).await.unwrap();
            (reply.status, serde_json::from_str(&reply.json()).unwrap())
        }
    };
    let name = case["case"].as_str().unwrap();
    let same = (json!(status), &said) == (case["http_status"].clone(), &case["response"]);
    let kept = same && written(&stage.path("")) == case["cache_after"];
    if kept {
        assert_eq!(calls(&real, &model), expected(case), "{name}");
        return true;
    }
    let known = OTHERWISE.iter().find(|(known, _)| name.contains(known));
    assert_eq!(known.map(|(_, status)| *status), Some(status), "{name}: {said}");
    for (file, text) in case["cache_before"].as_object().unwrap() {
        assert_eq!(stage.read(file).as_deref(), text.as_str(), "{name}");
    }
    false
}

/// Returns every file below a folder, by path.
fn written(root: &Path) -> Value {
    let mut files = Map::new();
    let mut dirs = vec![root.to_owned()];
    while let Some(dir) = dirs.pop() {
        for entry in fs::read_dir(&dir).into_iter().flatten().flatten() {
            let path = entry.path();
            if path.is_dir() {
                dirs.push(path);
            } else {
                let name = path.strip_prefix(root).unwrap().to_str().unwrap().to_owned();
                files.insert(name, fs::read_to_string(&path).unwrap().into());
            }
        }
    }
    Value::Object(files)
}

/// Returns the requests to the real server and to the model, without prompts, which differ on
/// purpose.
fn calls(real: &Scripted, model: &Scripted) -> Vec<Value> {
    let to_real = real.seen().into_iter().map(|seen| {
        // `NaN` is valid in Python, but not in JSON.
        let text = String::from_utf8(seen.body)
            .unwrap()
            .replace("NaN", "\"NaN (python token NaN in the body)\"");
        json!({ "to": "real", "body": serde_json::from_str::<Value>(&text).unwrap() })
    });
    let to_model = model.seen().into_iter().map(|seen| {
        let body = seen.json();
        let part = |key: &str| body[key].clone();
        json!({ "to": "llm", "temperature": part("temperature"), "max_tokens": part("max_tokens"),
            "response_format": part("response_format"), "seed": part("seed") })
    });
    to_real.chain(to_model).collect()
}

fn expected(case: &Value) -> Vec<Value> {
    let only = |call: &Value| {
        let mut call = call.as_object().unwrap().clone();
        call.retain(|key, _| key != "user" && key != "model");
        Value::Object(call)
    };
    case["backend_calls"].as_array().unwrap().iter().map(only).collect()
}
