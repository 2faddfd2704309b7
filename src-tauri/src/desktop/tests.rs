//! Tests of navigation and of dropped folders.
use super::*;

#[test]
fn of_what_was_dropped_the_first_folder_is_opened_and_a_file_alone_is_refused_with_a_sentence() {
    let here = PathBuf::from(env!("CARGO_MANIFEST_DIR"));
    let (file, folder, gone) = (here.join("Cargo.toml"), here.join("src-tauri"), here.join("gone"));
    assert_eq!(dropped(&[file.clone(), folder.clone()]).unwrap(), &folder);
    assert_eq!(dropped(std::slice::from_ref(&gone)).unwrap(), &gone);
    let refused = dropped(&[file]).unwrap_err();
    assert!(
        refused.message.contains("not a folder")
            && refused.hint.is_some_and(|hint| hint.contains("Drop"))
    );
    assert!(dropped(&[]).is_err());
}

#[test]
fn the_page_goes_nowhere_but_to_itself() {
    let may = |url: &str| may_go_to(&Url::parse(url).unwrap());
    for url in [
        "tauri://localhost",
        "tauri://localhost/",
        "tauri://localhost/index.html#/runs?q=a",
        "blob:tauri://localhost/1",
    ] {
        assert!(may(url), "{url}");
    }
    for url in [
        "http://localhost/",
        "https://localhost/",
        "http://tauri.localhost/",
        "http://tauri.localhost.evil.com/",
        "http://app.evil.com/",
        "tauri://evil.com/",
        "tauri://localhost.evil.com/",
        "tauri://localhost./",
        "tauri://localhost:80/",
        "tauri://me@localhost/",
        "tauri://me:word@localhost/",
        "tauri:localhost",
        "tauri:javascript",
        "javascript:alert(1)",
        "data:text/html,<p>",
        "blob:tauri://evil.com/1",
        "blob:https://localhost/1",
        "blob:null/1",
        "blob:blob:tauri://localhost/1",
        "file:///etc/passwd",
        "about:blank",
        "http://127.0.0.1/",
        "http://127.0.0.1:5174/",
        "http://xn--lcalhost-x3a/",
    ] {
        assert!(!may(url), "{url}");
    }
}
