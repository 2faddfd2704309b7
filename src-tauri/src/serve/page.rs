//! Files of the embedded page, and the headers of all responses.
use super::ServerState;
use axum::{
    body::Bytes,
    extract::State,
    http::{HeaderName, StatusCode, Uri, header},
    response::{IntoResponse, Response},
};
use std::collections::HashMap;
use tauri::{Assets, Wry, utils::mime_type::MimeType};

/// Default headers of every response.
pub(super) const HEADERS: [(HeaderName, &str); 7] = [
    (header::CONTENT_SECURITY_POLICY, POLICY),
    (header::X_FRAME_OPTIONS, "DENY"),
    (header::X_CONTENT_TYPE_OPTIONS, "nosniff"),
    (header::REFERRER_POLICY, "no-referrer"),
    (HeaderName::from_static("cross-origin-resource-policy"), "same-origin"),
    (HeaderName::from_static("cross-origin-opener-policy"), "same-origin"),
    (header::CACHE_CONTROL, "no-store"),
];

/// Content security policy: the window's policy in `tauri.conf.json` without its IPC, plus
/// directives that only work in a header. A test compares the two.
const POLICY: &str = "default-src 'none'; script-src 'self'; style-src 'self' \
    'sha256-MlSRKeAhzrQJc0ni+4PhS9n/W6HsmzLLrBIRfiKkD6Y='; font-src 'self'; img-src 'self' data: \
    blob:; connect-src 'self'; frame-src blob:; object-src 'none'; base-uri 'none'; form-action \
    'none'; require-trusted-types-for 'script'; trusted-types svelte-trusted-html; frame-ancestors \
    'none'";

/// Caching of files below `assets/`, whose names contain a hash of their content.
const KEEP: &str = "private, max-age=31536000, immutable";

struct File {
    bytes: Bytes,
    kind: String,
}

/// Files by path.
pub(crate) struct Page(HashMap<String, File>);

impl Page {
    /// Returns all embedded files.
    pub(crate) fn built_in(assets: &dyn Assets<Wry>) -> Self {
        let names: Vec<String> = assets.iter().map(|(name, _)| name.into_owned()).collect();
        let files = names.into_iter().filter_map(|name| {
            let bytes = assets.get(&name.as_str().into())?.into_owned();
            Some((name, bytes))
        });
        Self::from_files(files)
    }

    /// Creates a page from these files.
    pub(super) fn from_files(files: impl Iterator<Item = (String, Vec<u8>)>) -> Self {
        let file = |name: &str, bytes: Vec<u8>| File {
            kind: MimeType::parse(&bytes, name),
            bytes: bytes.into(),
        };
        Self(files.map(|(name, bytes)| (name.clone(), file(&name, bytes))).collect())
    }
}

/// Handles every address outside `/api`: returns a file of the page, or 404. Locations within the
/// page are behind a `#`.
pub(super) async fn show(State(inside): State<ServerState>, uri: Uri) -> Response {
    let name = if uri.path() == "/" { "/index.html" } else { uri.path() };
    let Some(file) = inside.page.0.get(name) else {
        return (StatusCode::NOT_FOUND, "There is no such page.\n").into_response();
    };
    let mut response =
        ([(header::CONTENT_TYPE, file.kind.clone())], file.bytes.clone()).into_response();
    if name.starts_with("/assets/") {
        response
            .headers_mut()
            .insert(header::CACHE_CONTROL, header::HeaderValue::from_static(KEEP));
    }
    response
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_served_page_may_do_what_the_window_may_and_no_more() {
        let config: serde_json::Value =
            serde_json::from_str(include_str!("../../../tauri.conf.json")).unwrap();
        let window = config["app"]["security"]["csp"].as_str().unwrap();
        assert_eq!(
            POLICY,
            window.replace(" ipc: http://ipc.localhost", "") + "; frame-ancestors 'none'"
        );
        assert!(!window.contains("unsafe") && !window.contains('*'));
    }
}
