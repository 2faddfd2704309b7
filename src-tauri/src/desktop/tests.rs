//! Tests of navigation.
use super::*;

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
