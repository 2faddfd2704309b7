//! **Pure.** Admission of requests to the served page, decided from the request head alone. Owns
//! the rules, not the sockets.
//!
//! A foreign website can make a browser send requests here, even under a domain of its own that
//! resolves to 127.0.0.1 (DNS rebinding). Therefore only local names are accepted in `Host`, no
//! other origin, a cookie that is only given in exchange for a printed address, and a header that
//! forms cannot send.
use super::{secret::Secret, sessions::EarlierSessions};
use axum::http::{HeaderMap, HeaderName, Method, StatusCode, header, request::Parts};

const FETCH_SITE: HeaderName = HeaderName::from_static("sec-fetch-site");
/// Custom header that cross-origin requests may carry only after a preflight request, which is
/// never granted.
const OURS: HeaderName = HeaderName::from_static("x-touchstone");

/// Admission rules of a running server.
pub(crate) struct Gate {
    port: u16,
    session: Secret,
    earlier: EarlierSessions,
}

/// Decision about a request.
#[derive(Debug, PartialEq, Eq)]
pub(crate) enum Verdict {
    /// The request is admitted.
    Pass,
    /// The request carried a valid code: it is answered with this cookie and a redirect to the
    /// page.
    Welcome(String),
    /// The request comes from a page of an earlier server on this port: it is admitted, and gets
    /// this cookie.
    Renew(String),
    /// The request is refused, with status and message.
    Refuse(StatusCode, &'static str),
}

impl Gate {
    /// Creates the rules for this port, session secret, and the sessions of earlier servers.
    pub(crate) fn new(port: u16, session: Secret, earlier: EarlierSessions) -> Self {
        Self { port, session, earlier }
    }

    /// Decides about a request. `take` checks and uses up the code in the address. `is_ours` returns
    /// true if the client is a program of this user: while no server ran, a program of another user
    /// may have listened on the port and have been sent the cookie.
    pub(crate) fn judge(
        &self,
        head: &Parts,
        take: impl FnOnce(&str) -> bool,
        is_ours: impl FnOnce() -> bool,
    ) -> Verdict {
        match self.refusal(head) {
            Some((status, why)) => Verdict::Refuse(status, why),
            None if code(head).is_some_and(take) => Verdict::Welcome(self.cookie()),
            None if self.has_cookie(&head.headers, |value| self.session.is(value)) => Verdict::Pass,
            None if self.has_cookie(&head.headers, |value| self.earlier.contains(value))
                && is_ours() =>
            {
                Verdict::Renew(self.cookie())
            }
            None => Verdict::Refuse(
                StatusCode::UNAUTHORIZED,
                "This page is not signed in. Each printed address works once; for another one, type: touchstone serve --again",
            ),
        }
    }

    fn refusal(&self, head: &Parts) -> Option<(StatusCode, &'static str)> {
        if head.uri.authority().is_some() || !host_is_ours(&head.headers, self.port) {
            return Some((
                StatusCode::BAD_REQUEST,
                "Touchstone answers under 127.0.0.1 and localhost only.",
            ));
        }
        if !head.uri.path().starts_with("/api/") {
            let reads = [Method::GET, Method::HEAD].contains(&head.method);
            return (!reads)
                .then_some((StatusCode::METHOD_NOT_ALLOWED, "Pages accept GET and HEAD only."));
        }
        if !origin_is_ours(&head.headers) {
            return Some((StatusCode::FORBIDDEN, "Requests of other pages are refused."));
        }
        let events = head.uri.path() == "/api/events";
        if head.method != if events { Method::GET } else { Method::POST } {
            return Some((
                StatusCode::METHOD_NOT_ALLOWED,
                "Commands take POST, and events take GET.",
            ));
        }
        if events {
            return None;
        }
        if only(&head.headers, &OURS) != Some("1") {
            return Some((StatusCode::FORBIDDEN, "The header x-touchstone is missing."));
        }
        (!is_json(&head.headers))
            .then_some((StatusCode::UNSUPPORTED_MEDIA_TYPE, "Arguments must be application/json."))
    }

    fn cookie(&self) -> String {
        let name = self.cookie_name();
        format!("{name}={}; Path=/; HttpOnly; SameSite=Strict", self.session.reveal())
    }

    /// Returns true if a session cookie has a value that `is_good`.
    fn has_cookie(&self, headers: &HeaderMap, is_good: impl Fn(&str) -> bool) -> bool {
        let name = self.cookie_name();
        headers
            .get_all(header::COOKIE)
            .iter()
            .filter_map(|value| value.to_str().ok())
            .flat_map(|line| line.split(';'))
            .filter_map(|pair| pair.trim().split_once('='))
            .any(|(key, value)| key == name && is_good(value))
    }

    /// Returns the name of the session cookie. It contains the port, because cookies are shared
    /// between ports, and two servers on one machine would otherwise sign each other out.
    fn cookie_name(&self) -> String {
        format!("touchstone_{}", self.port)
    }
}

/// Returns the reason to refuse a request to a server for local programs, if its `Host` is not
/// local or a foreign website made a browser send it.
pub(super) fn foreign(head: &Parts, port: u16) -> Option<(StatusCode, &'static str)> {
    if head.uri.authority().is_some() || !host_is_ours(&head.headers, port) {
        return Some((
            StatusCode::BAD_REQUEST,
            "Touchstone answers under 127.0.0.1 and localhost only.",
        ));
    }
    (!origin_is_ours(&head.headers))
        .then_some((StatusCode::FORBIDDEN, "Requests of other pages are refused."))
}

fn host_is_ours(headers: &HeaderMap, port: u16) -> bool {
    let ours = |host: &str| {
        ["127.0.0.1", "localhost", "[::1]"].iter().any(|name| format!("{name}:{port}") == host)
    };
    only(headers, &header::HOST).is_some_and(ours)
}

/// Returns true if no other website sent the request. Browsers state the origin; programs send no
/// such header.
fn origin_is_ours(headers: &HeaderMap) -> bool {
    let same_site =
        !headers.contains_key(FETCH_SITE) || only(headers, &FETCH_SITE) == Some("same-origin");
    let same_origin = !headers.contains_key(header::ORIGIN)
        || match (only(headers, &header::ORIGIN), only(headers, &header::HOST)) {
            (Some(origin), Some(host)) => origin.strip_prefix("http://") == Some(host),
            _ => false,
        };
    same_site && same_origin
}

/// Returns the one-time code in the query of a request for `/`.
fn code(head: &Parts) -> Option<&str> {
    let opens = head.method == Method::GET && head.uri.path() == "/";
    head.uri.query().filter(|_| opens)?.split('&').find_map(|pair| pair.strip_prefix("token="))
}

/// Returns the value of a header that occurs exactly once and is plain text.
fn only<'a>(headers: &'a HeaderMap, name: &HeaderName) -> Option<&'a str> {
    let mut values = headers.get_all(name).iter();
    let first = values.next()?.to_str().ok()?;
    values.next().is_none().then_some(first)
}

fn is_json(headers: &HeaderMap) -> bool {
    let kind = only(headers, &header::CONTENT_TYPE).unwrap_or_default();
    kind.split(';').next().unwrap_or_default().trim().eq_ignore_ascii_case("application/json")
}

#[cfg(test)]
mod tests {
    use super::*;
    use axum::http::Request;

    const PORT: u16 = 4321;

    fn gate() -> Gate {
        Gate::new(PORT, Secret::new("s3ssion".into()), EarlierSessions::default())
    }

    fn judge(line: &str, headers: &[(&str, &str)]) -> Verdict {
        let (method, uri) = line.split_once(' ').unwrap();
        let mut request = Request::builder().method(method).uri(uri);
        for (name, value) in headers {
            request = request.header(*name, *value);
        }
        gate().judge(&request.body(()).unwrap().into_parts().0, |code| code == "t0ken", || true)
    }

    fn status(verdict: &Verdict) -> u16 {
        match verdict {
            Verdict::Pass => 200,
            Verdict::Renew(_) => 201,
            Verdict::Welcome(_) => 303,
            Verdict::Refuse(status, _) => status.as_u16(),
        }
    }

    const COOKIE: (&str, &str) = ("cookie", "other=1; touchstone_4321=s3ssion");
    const HOST: (&str, &str) = ("host", "127.0.0.1:4321");
    const JSON: (&str, &str) = ("content-type", "application/json");
    const OUR: (&str, &str) = ("x-touchstone", "1");

    #[test]
    fn only_our_own_names_and_port_are_answered() {
        for host in ["127.0.0.1:4321", "localhost:4321", "[::1]:4321"] {
            assert_eq!(status(&judge("GET /", &[("host", host), COOKIE])), 200, "{host}");
        }
        for host in [
            "evil.com",
            "evil.com:4321",
            "127.0.0.1",
            "127.0.0.1:80",
            "127.0.0.1.evil.com:4321",
            "localhost.:4321",
            "::1:4321",
            "user@localhost:4321",
            "localhost:4321, evil.com",
            "localhost%3a4321",
            "0.0.0.0:4321",
            "127.1:4321",
            "LOCALHOST:4321.",
            "",
        ] {
            for line in ["GET /", "GET /assets/a.js", "POST /api/status", "GET /nothing"] {
                assert_eq!(
                    status(&judge(line, &[("host", host), COOKIE, JSON, OUR])),
                    400,
                    "{host} {line}"
                );
            }
        }
        assert_eq!(status(&judge("GET /", &[COOKIE])), 400, "missing");
        assert_eq!(status(&judge("GET /", &[HOST, HOST, COOKIE])), 400, "twice");
        assert_eq!(
            status(&judge("GET http://evil.com/", &[HOST, COOKIE])),
            400,
            "a second name in the request line"
        );
    }

    #[test]
    fn a_command_is_refused_when_another_page_asks() {
        let ask = |more: &[(&str, &str)]| {
            let mut headers = vec![HOST, COOKIE, JSON, OUR];
            headers.extend_from_slice(more);
            status(&judge("POST /api/status", &headers))
        };
        assert_eq!(ask(&[]), 200);
        assert_eq!(
            ask(&[("origin", "http://127.0.0.1:4321"), ("sec-fetch-site", "same-origin")]),
            200
        );
        for origin in [
            "null",
            "http://evil.com",
            "https://127.0.0.1:4321",
            "http://127.0.0.1",
            "http://localhost:4321",
            "http://127.0.0.1:4322",
            "",
        ] {
            assert_eq!(ask(&[("origin", origin)]), 403, "{origin}");
        }
        assert_eq!(
            ask(&[("origin", "http://127.0.0.1:4321"), ("origin", "http://127.0.0.1:4321")]),
            403,
            "twice"
        );
        for site in ["cross-site", "same-site", "none", "", "same-origin, same-origin"] {
            assert_eq!(ask(&[("sec-fetch-site", site)]), 403, "{site}");
        }
    }

    #[test]
    fn events_are_refused_when_another_page_asks() {
        assert_eq!(status(&judge("GET /api/events", &[HOST, COOKIE])), 200);
        assert_eq!(
            status(&judge("GET /api/events", &[HOST, COOKIE, ("sec-fetch-site", "cross-site")])),
            403
        );
        assert_eq!(status(&judge("GET /api/events", &[HOST])), 401);
        assert_eq!(status(&judge("POST /api/events", &[HOST, COOKIE, JSON, OUR])), 405);
    }

    #[test]
    fn a_command_needs_json_and_the_header_of_our_own_page() {
        let ask = |headers: &[(&str, &str)]| status(&judge("POST /api/status", headers));
        assert_eq!(ask(&[HOST, COOKIE, OUR]), 415);
        assert_eq!(ask(&[HOST, COOKIE, OUR, ("content-type", "text/plain")]), 415);
        assert_eq!(ask(&[HOST, COOKIE, OUR, ("content-type", "application/json-not")]), 415);
        assert_eq!(
            ask(&[HOST, COOKIE, OUR, ("content-type", "application/json; charset=utf-8")]),
            200
        );
        assert_eq!(ask(&[HOST, COOKIE, JSON]), 403);
        assert_eq!(ask(&[HOST, COOKIE, JSON, ("x-touchstone", "2")]), 403);
        assert_eq!(status(&judge("GET /api/status", &[HOST, COOKIE])), 405);
        assert_eq!(status(&judge("DELETE /api/status", &[HOST, COOKIE])), 405);
        assert_eq!(status(&judge("POST /", &[HOST, COOKIE])), 405);
    }

    #[test]
    fn nothing_is_shown_without_the_cookie_and_the_token_gives_it() {
        assert_eq!(status(&judge("GET /", &[HOST])), 401);
        assert_eq!(status(&judge("GET /assets/a.js", &[HOST])), 401);
        assert_eq!(status(&judge("POST /api/status", &[HOST, JSON, OUR])), 401);
        for cookie in [
            "touchstone_4321=",
            "touchstone_4321=s3ssioN",
            "touchstone_4321=t0ken",
            "touchstone_1=s3ssion",
            "s3ssion",
        ] {
            assert_eq!(status(&judge("GET /", &[HOST, ("cookie", cookie)])), 401, "{cookie}");
        }
        for line in [
            "GET /?token=",
            "GET /?token=t0keN",
            "GET /?token=s3ssion",
            "GET /assets/?token=t0ken",
            "GET /?xtoken=t0ken",
        ] {
            assert_eq!(status(&judge(line, &[HOST])), 401, "{line}");
        }
        assert_eq!(status(&judge("HEAD /?token=t0ken", &[HOST])), 401, "only looked at");
        assert_eq!(status(&judge("GET /?token=t0ken", &[])), 400, "not under our name");
        assert_eq!(
            status(&judge("GET /?token=used", &[HOST, COOKIE])),
            200,
            "an old address in a browser that is let in"
        );
        let Verdict::Welcome(cookie) = judge("GET /?token=t0ken", &[HOST]) else {
            panic!("not welcome")
        };
        assert_eq!(cookie, "touchstone_4321=s3ssion; Path=/; HttpOnly; SameSite=Strict");
        assert_eq!(
            status(&judge("POST /api/status?token=t0ken", &[HOST, JSON, OUR])),
            401,
            "a token is no cookie"
        );
    }
}
