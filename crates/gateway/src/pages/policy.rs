//! Content security policies, and the violation reports of browsers.

use std::num::NonZeroU32;
use std::sync::LazyLock;

use axum::body::Bytes;
use axum::http::header::{CONTENT_SECURITY_POLICY, CONTENT_TYPE};
use axum::http::{HeaderMap, HeaderValue, StatusCode};
use axum::response::Response;
use governor::{DefaultDirectRateLimiter, Quota, RateLimiter};
use serde_json::Value;

use crate::routing::Routes;

/// For our own pages: only their own files, nothing inline.
const POLICY: HeaderValue = HeaderValue::from_static(
    "default-src 'self'; base-uri 'none'; form-action 'self'; frame-ancestors 'none'; object-src 'none'; \
     report-uri /csp-reports",
);

/// For pages with Elsa Studio, which compiles WebAssembly, writes inline styles and data URLs, and starts web workers
/// for its script editor. `eval` stays forbidden, and so do inline scripts except two of Studio's own, allowed by hash:
/// the hot keys of the editor and of the instance list.
pub const STUDIO: HeaderValue = HeaderValue::from_static(
    "default-src 'self'; script-src 'self' 'wasm-unsafe-eval' \
     'sha256-snlP1jz0gjwc5cTz9ErZcliXuCK63+Mmf68RRCeptgc=' 'sha256-vu6sQrKXQHR4Yn3FMMihA/9TxxfIXnCxKwvLrTPJ5ts='; \
     style-src 'self' 'unsafe-inline'; img-src 'self' data:; font-src 'self' data:; worker-src 'self' blob:; \
     base-uri 'self'; form-action 'self'; frame-ancestors 'none'; object-src 'none'; report-uri /csp-reports",
);

/// Reports logged per minute, from all browsers: any client can send them.
const REPORTS_A_MINUTE: NonZeroU32 = NonZeroU32::new(60).expect("not zero");
/// Maximum size of a report in bytes, and characters logged of a member.
const MAX_BYTES: usize = 16 * 1024;
const MAX_LETTERS: usize = 200;

static REPORTS: LazyLock<DefaultDirectRateLimiter> =
    LazyLock::new(|| RateLimiter::direct(Quota::per_minute(REPORTS_A_MINUTE)));

pub fn routes() -> Routes {
    Routes::new().post("/csp-reports", report)
}

/// Adds the default policy to every page without one.
pub async fn restrict(mut response: Response) -> Response {
    let kind = response.headers().get(CONTENT_TYPE).map(HeaderValue::as_bytes);
    if kind.is_some_and(|kind| kind.starts_with(b"text/html")) {
        response.headers_mut().entry(CONTENT_SECURITY_POLICY).or_insert(POLICY);
    }
    response
}

/// Logs a browser's violation report. It changes nothing else, so it needs no session. The CSRF check applies here as
/// well; browsers' own reports pass it.
async fn report(headers: HeaderMap, body: Bytes) -> StatusCode {
    let is_report =
        headers.get(CONTENT_TYPE).is_some_and(|kind| kind.as_bytes().starts_with(b"application/csp-report"));
    if !is_report {
        return StatusCode::UNSUPPORTED_MEDIA_TYPE;
    }
    if body.len() > MAX_BYTES {
        return StatusCode::PAYLOAD_TOO_LARGE;
    }
    let Ok(sent) = serde_json::from_slice::<Value>(&body) else {
        return StatusCode::BAD_REQUEST;
    };
    if REPORTS.check().is_err() {
        return StatusCode::TOO_MANY_REQUESTS;
    }
    // Without query strings, as everywhere in the log.
    let member = |name: &str| -> String {
        let text = sent["csp-report"][name].as_str().unwrap_or_default();
        text.chars().take_while(|letter| *letter != '?').take(MAX_LETTERS).collect()
    };
    tracing::warn!(
        page = ?member("document-uri"),
        directive = ?member("violated-directive"),
        blocked = ?member("blocked-uri"),
        source = ?member("source-file"),
        "a page tried what its policy forbids"
    );
    StatusCode::NO_CONTENT
}
