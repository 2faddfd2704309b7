//! Images, sounds and files in transcripts: described in a step, and read when someone opens one.
use crate::bench::Bench;
use base64::Engine as _;
use base64::prelude::BASE64_STANDARD;
use touchstone_api::{Body, Language, MediaFile, RunState};
use touchstone_app::error::{AppError, Code};

/// Start of an image of two pixels.
const PNG: &[u8] = b"\x89PNG\r\n\x1a\n\x00\x00\x00\x0dIHDR\x00\x00\x00\x02\x00\x00\x00\x01";

/// An opened run with images.
struct Opened<'a> {
    bench: &'a Bench,
    id: String,
    version: String,
    /// Descriptions of the images with the ids of their parts.
    found: Vec<(String, String)>,
}

impl Opened<'_> {
    fn read(&self, part: &str) -> Result<MediaFile, AppError> {
        self.bench.app().runs().read_media(&self.id, &self.version, part)
    }
}

fn media(bench: &Bench) -> Opened<'_> {
    let rows = bench.rows().into_iter();
    let mut rows = rows.filter(|row| row.state != RunState::Other && row.format.is_some());
    let id = rows.next().map(|row| row.id).unwrap_or_default();
    let view = bench.app().runs().open_run(&id).unwrap_or_else(|error| panic!("{error:?}"));
    let parts = view.steps.into_iter().flat_map(|step| step.parts);
    let described = parts.filter_map(|part| match part.body {
        Body::Text { language: Language::Media, text, .. } => Some((text, part.id)),
        _ => None,
    });
    Opened { bench, id, version: view.version, found: described.collect() }
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
    let opened = media(&bench);
    let texts: Vec<&str> = opened.found.iter().map(|(text, _)| text.as_str()).collect();
    assert_eq!(texts, ["image/png, 24 B", "image/png, 24 B"]);
    for (step, (_, part)) in ["step-1.png", "step-2.png"].iter().zip(&opened.found) {
        let file = opened.read(part).unwrap();
        let expected = MediaFile {
            image: Some("image/png".to_owned()),
            not_shown: None,
            file_name: (*step).to_owned(),
            data: data.clone(),
        };
        assert_eq!(file, expected);
    }
    let why = opened.read("step:1.0").unwrap_err();
    assert_eq!(why.code, Code::BadRequest, "{}", why.message);
}

#[test]
fn an_image_is_only_read_in_the_version_of_the_run_that_was_opened() {
    let other = [&PNG[..19], b"\x03", &PNG[20..]].concat();
    let (first, second) = (BASE64_STANDARD.encode(PNG), BASE64_STANDARD.encode(other));
    let bench = Bench::new().file("results/s/session.jsonl", session(&first)).open();
    let opened = media(&bench);
    let part = &opened.found[0].1;
    // The description of the step is the same, and so is the size of the file.
    bench.write("results/s/session.jsonl", session(&second));
    let why = opened.read(part).unwrap_err();
    assert_eq!(why.code, Code::Gone, "{}", why.message);
    assert!(why.message.contains("has changed"), "{}", why.message);
    let pick = |_: &str| panic!("no path is asked for");
    let saved = bench.app().runs().save_media(&opened.id, &opened.version, part, pick);
    assert_eq!(saved.unwrap_err().code, Code::Gone);
    let again = media(&bench);
    assert_eq!(again.read(part).unwrap().data, second);
}

#[test]
fn an_image_of_too_many_pixels_is_saved_but_not_shown() {
    let sized = |width: u32, height: u32| {
        let sides = [width.to_be_bytes(), height.to_be_bytes()].concat();
        BASE64_STANDARD.encode([&PNG[..16], &sides].concat())
    };
    for (width, height, is_shown) in
        [(10_000, 10_000, true), (10_000, 10_001, false), (u32::MAX, u32::MAX, false)]
    {
        let data = sized(width, height);
        let bench = Bench::new().file("results/s/session.jsonl", session(&data)).open();
        let opened = media(&bench);
        let file = opened.read(&opened.found[0].1).unwrap();
        assert_eq!(file.image.is_some(), is_shown, "{width} {height}");
        let why = file.not_shown.unwrap_or_default();
        assert_eq!(why.contains("100 megapixels"), !is_shown, "{why}");
        assert_eq!((file.data, file.file_name.as_str()), (data, "step-1.png"));
    }
}

#[test]
fn what_is_no_image_is_saved_but_not_shown() {
    let page = BASE64_STANDARD.encode("<svg onload='alert(1)'/>");
    let bench = Bench::new().file("results/s/session.jsonl", session(&page)).open();
    let opened = media(&bench);
    let part = &opened.found[0].1;
    let file = opened.read(part).unwrap();
    assert_eq!((file.image, file.file_name.as_str()), (None, "step-1.bin"));
    let target = tempfile::tempdir().unwrap();
    let path = target.path().join("image.svg");
    let pick = |_: &str| Ok::<_, AppError>(Some(path.clone()));
    assert!(bench.app().runs().save_media(&opened.id, &opened.version, part, pick).unwrap());
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
        let opened = media(&bench);
        opened.found.first().map(|(_, part)| opened.read(part))
    };
    for path in ["images/a.png", "./images/a.png", "images/./a.png"] {
        let shown = read(path).unwrap().unwrap_or_else(|why| panic!("{path}: {}", why.message));
        assert_eq!(shown.image.as_deref(), Some("image/png"), "{path}");
    }
    for path in [".env", "./.env", "../b.png", "images/../../b.png", ".", "./", "images//a.png"] {
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
