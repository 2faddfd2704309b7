//! Images, sounds and files in transcripts: described in a step, and read when someone opens one.
use crate::bench::Bench;
use base64::Engine as _;
use base64::prelude::BASE64_STANDARD;
use touchstone_api::{Body, Language, MediaFile, RunState};
use touchstone_app::error::{AppError, Code};

const PNG: &[u8] = b"\x89PNG\r\n\x1a\nrest";

/// Returns the descriptions of a run's images with their parts' ids.
fn media(bench: &Bench) -> (String, Vec<(String, String)>) {
    let rows = bench.rows().into_iter();
    let mut rows = rows.filter(|row| row.state != RunState::Other && row.format.is_some());
    let id = rows.next().map(|row| row.id).unwrap_or_default();
    let view = bench.app().open_run(&id).unwrap_or_else(|error| panic!("{error:?}"));
    let parts = view.steps.into_iter().flat_map(|step| step.parts);
    let described = parts.filter_map(|part| match part.body {
        Body::Text { language: Language::Media, text, .. } => Some((text, part.id)),
        _ => None,
    });
    (id.clone(), described.collect())
}

fn session(data: &str) -> String {
    let image = serde_json::json!({"type": "image", "source":
        {"type": "base64", "media_type": "image/png", "data": data}});
    let line = |number: u32, role: &str, content: serde_json::Value| {
        let parent = (number > 1).then(|| format!("u{}", number - 1));
        let record = serde_json::json!({"type": role, "uuid": format!("u{number}"),
            "parentUuid": parent, "sessionId": "s1", "isSidechain": false,
            "timestamp": "2026-02-01T10:00:00.000Z", "version": "2.0.1",
            "message": {"role": role, "model": "m", "content": content}});
        format!("{record}\n")
    };
    let call =
        |id: &str| serde_json::json!({"type": "tool_use", "id": id, "name": "See", "input": {}});
    let result = serde_json::json!({"type": "tool_result", "tool_use_id": "t1", "content":
        [{"type": "text", "text": "Here it is."}, image.clone()]});
    [
        line(1, "user", serde_json::json!([{"type": "text", "text": "What is this?"}, image])),
        line(2, "assistant", serde_json::json!([call("t1"), call("t2")])),
        line(3, "user", serde_json::json!([result])),
    ]
    .concat()
}

fn trajectory(path: &str) -> String {
    let message = serde_json::json!([{"type": "text", "text": "Look."},
        {"type": "image", "source": {"media_type": "image/png", "path": path}}]);
    serde_json::json!({"schema_version": "ATIF-v1.6", "session_id": "t1",
        "agent": {"name": "plain", "version": "1", "model_name": "m"},
        "steps": [{"step_id": 1, "source": "user", "message": message},
            {"step_id": 2, "source": "agent", "message": "It is red."}]})
    .to_string()
}

#[test]
fn an_image_of_a_message_and_one_of_a_result_open_where_they_are_described() {
    let data = BASE64_STANDARD.encode(PNG);
    let bench = Bench::new().file("results/s/session.jsonl", session(&data)).open();
    let (id, found) = media(&bench);
    let texts: Vec<&str> = found.iter().map(|(text, _)| text.as_str()).collect();
    assert_eq!(texts, ["image/png, 12 B", "image/png, 12 B"]);
    for (step, (_, part)) in ["step-1.png", "step-2.png"].iter().zip(&found) {
        let file = bench.app().read_media(&id, part).unwrap();
        let expected = MediaFile {
            image: Some("image/png".to_owned()),
            file_name: (*step).to_owned(),
            data: data.clone(),
        };
        assert_eq!(file, expected);
    }
    let why = bench.app().read_media(&id, "step:1.0").unwrap_err();
    assert_eq!(why.code, Code::BadRequest, "{}", why.message);
}

#[test]
fn what_is_no_image_is_saved_but_not_shown() {
    let page = BASE64_STANDARD.encode("<svg onload='alert(1)'/>");
    let bench = Bench::new().file("results/s/session.jsonl", session(&page)).open();
    let (id, found) = media(&bench);
    let file = bench.app().read_media(&id, &found[0].1).unwrap();
    assert_eq!((file.image, file.file_name.as_str()), (None, "step-1.bin"));
    let target = tempfile::tempdir().unwrap();
    let path = target.path().join("image.svg");
    let pick = |_: &str| Ok::<_, AppError>(Some(path.clone()));
    assert!(bench.app().save_media(&id, &found[0].1, pick).unwrap());
    assert_eq!(fs_err::read(&path).unwrap(), b"<svg onload='alert(1)'/>");
}

#[test]
fn a_file_beside_the_transcript_opens_if_it_is_an_image_below_the_folder() {
    let read = |path: &str| {
        let bench = Bench::new()
            .file("results/run/trajectory.json", trajectory(path))
            .file("results/run/images/a.png", PNG)
            .file("results/run/.env", "API_KEY=secret")
            .file("results/b.png", PNG)
            .open();
        let (id, found) = media(&bench);
        found.first().map(|(_, part)| bench.app().read_media(&id, part))
    };
    let shown = read("images/a.png").unwrap().unwrap();
    assert_eq!(shown.image.as_deref(), Some("image/png"));
    for path in [".env", "../b.png", "images/../../b.png", "./images/a.png"] {
        let why = read(path).unwrap().unwrap_err();
        assert_eq!(why.code, Code::BadRequest, "{path}: {}", why.message);
    }
    let why = read("images/b.png").unwrap().unwrap_err();
    assert_eq!(why.code, Code::NotFound, "{}", why.message);
    // Nothing outside of the folder is ever read, and no address is fetched.
    for path in ["/etc/passwd", "https://example.org/a.png", "file:///etc/passwd"] {
        assert!(read(path).is_none(), "{path}");
    }
}
