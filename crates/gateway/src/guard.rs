//! Middleware before every handler: host check, body limits, authentication, and protection against CSRF.

use std::net::{IpAddr, Ipv4Addr, SocketAddr};
use std::sync::Arc;
use std::time::Duration;

use axum::body::{Body, HttpBody as _};
use axum::extract::{ConnectInfo, MatchedPath, Query, Request, State};
use axum::http::header::{
    AUTHORIZATION, CONTENT_LENGTH, HOST, ORIGIN, REFERRER_POLICY, STRICT_TRANSPORT_SECURITY, UPGRADE,
    X_CONTENT_TYPE_OPTIONS,
};
use axum::http::request::Parts;
use axum::http::{HeaderMap, HeaderValue, Method, StatusCode, Uri};
use axum::middleware::Next;
use axum::response::{IntoResponse, Response};
use bytes::{Bytes, BytesMut};
use http_body_util::BodyExt as _;

use crate::caller::{Caller, Proof};
use crate::failure::Failure;
use crate::gateway::{App, Gateway};
use crate::identity::logins::network;
use crate::identity::people::Person;
use crate::memory::{self, Hold};
use crate::scopes::{self, Access};

/// Time limit for receiving a request body; lower if the limit for a whole request is.
const BODY_TIME: Duration = Duration::from_secs(30);

/// Maximum body size of an unauthenticated request in bytes: enough for a log-in and a browser's report.
const MAX_OF_STRANGERS: usize = 64 * 1024;

/// Paths that require authentication.
const API: &str = "/elsa/";
/// Paths of WebSockets.
const HUBS: &str = "/elsa/hubs/";

/// Rejects an unknown `Host`, before anything else is examined: a page of another name that resolves to this address
/// could read our answers (DNS rebinding).
pub async fn known_host(State(app): State<App>, request: Request, next: Next) -> Result<Response, Failure> {
    if has_known_host(&app, &request) {
        return Ok(next.run(request).await);
    }
    Err(Failure::new(StatusCode::MISDIRECTED_REQUEST, "this host is not known here")
        .hint("The administrator of the gateway gives its address with --public-url."))
}

/// Whether every host that a request names is known, in `Host` and in its target (absolute form), and there is one.
fn has_known_host(app: &Gateway, request: &Request) -> bool {
    let headers = request.headers().get_all(HOST).iter().map(|host| host.to_str().unwrap_or_default());
    let mut hosts = headers.chain(request.uri().authority().map(|authority| authority.as_str())).peekable();
    hosts.peek().is_some() && hosts.all(|host| is_known_host(app, host))
}

fn is_known_host(app: &Gateway, host: &str) -> bool {
    let public: Option<Uri> = app.options.origin().parse().ok();
    if public.as_ref().and_then(Uri::authority).is_some_and(|known| host.eq_ignore_ascii_case(known.as_str())) {
        return true;
    }
    let listen = app.options.listen;
    let (name, port) = host.rsplit_once(':').unwrap_or((host, "80"));
    let is_local = listen.ip().is_loopback() && matches!(name, "localhost" | "127.0.0.1" | "[::1]");
    port == listen.port().to_string() && (is_local || name.trim_matches(['[', ']']) == listen.ip().to_string())
}

/// Authenticates by the proxy's header, the key or token in `Authorization`, or the cookie. An unknown key is rejected.
/// A request with none of them is passed on only to pages, before its body is read.
pub async fn authenticate(State(app): State<App>, mut request: Request, next: Next) -> Result<Response, Failure> {
    let caller = caller(&app, peer_of(&request), request.headers(), request.uri()).await?;
    if caller.as_ref().is_none_or(Caller::is_ambient) && !is_ours(&app, &request) {
        return Err(Failure::new(StatusCode::FORBIDDEN, "a page of another site sent this request"));
    }
    if caller.is_none() && request.uri().path().starts_with(API) {
        return Err(Failure::unauthenticated());
    }
    if let Some(caller) = caller {
        require_scope(&caller, &request)?;
        request.extensions_mut().insert(caller);
    }
    Ok(next.run(request).await)
}

/// Fails with 403 if the caller's API key is not for this route. A path without a route is answered with 404 later.
fn require_scope(caller: &Caller, request: &Request) -> Result<(), Failure> {
    match request.extensions().get::<MatchedPath>() {
        Some(path) if caller.scopes.is_some() => match scopes::of_route(request.method(), path.as_str()) {
            Access::Unscoped => Ok(()),
            Access::Scoped(scope) => caller.require(scope),
        },
        _ => Ok(()),
    }
}

/// The client's address. A trusted proxy appends it to whatever X-Forwarded-For the client sent, so only the last entry
/// counts.
pub fn address(app: &Gateway, peer: IpAddr, headers: &HeaderMap) -> IpAddr {
    let forwarded = headers.get_all("x-forwarded-for").iter().next_back().filter(|_| app.options.behind_proxy);
    let last = forwarded.and_then(|list| list.to_str().ok()?.rsplit(',').next()).map(str::trim);
    // Some proxies add the port.
    let address = |text: &str| text.parse().ok().or_else(|| Some(text.parse::<SocketAddr>().ok()?.ip()));
    last.and_then(address).unwrap_or(peer)
}

/// The caller: the person whom the proxy names, or else that of the API key or token, or else that of the cookie.
pub async fn caller(app: &Gateway, peer: IpAddr, headers: &HeaderMap, uri: &Uri) -> Result<Option<Caller>, Failure> {
    let sign_on = &app.options.sign_on;
    let is_proxy = sign_on.proxy_address.iter().any(|network| network.contains(&peer.to_canonical()));
    if let Some(person) = Person::of_proxy(sign_on, headers, is_proxy)? {
        return Ok(Some(Caller { is_by_proxy: true, ..person.into_caller() }));
    }
    match headers.get(AUTHORIZATION) {
        Some(value) => match credential(value) {
            Some((scheme, key)) => caller_of_credential(app, scheme, key).await.map(Some),
            None => Err(unknown_key()),
        },
        None => match key_of_socket(uri) {
            Some(key) => caller_of_credential(app, "Bearer", &key).await.map(Some),
            None => caller_of_cookie(app, headers).await,
        },
    }
}

/// The scheme and the API key or token of an `Authorization`.
fn credential(value: &HeaderValue) -> Option<(&str, &str)> {
    let (scheme, key) = value.to_str().ok()?.split_once(' ')?;
    let is_known = scheme.eq_ignore_ascii_case("ApiKey") || scheme.eq_ignore_ascii_case("Bearer");
    is_known.then(|| (scheme, key.trim()))
}

/// The caller of an API key, or of an access token of the identity provider.
async fn caller_of_credential(app: &Gateway, scheme: &str, key: &str) -> Result<Caller, Failure> {
    if let Some(caller) = app.keys.caller(key) {
        return Ok(caller);
    }
    let is_token = scheme.eq_ignore_ascii_case("Bearer") && key.split('.').count() == 3;
    match app.provider.as_ref().filter(|provider| is_token && provider.has_audience()) {
        Some(provider) => provider.bearer(&app.options.sign_on, key).await.map(Person::into_caller),
        None => Err(unknown_key()),
    }
}

/// `None` if the session has ended.
async fn caller_of_cookie(app: &Gateway, headers: &HeaderMap) -> Result<Option<Caller>, Failure> {
    let Some(mut caller) = app.cookies.open(headers) else { return Ok(None) };
    if !app.sessions.is_valid(&app.database, &app.keys, &app.options.sign_on, &caller).await? {
        return Ok(None);
    }
    if let Some(Proof::Key(digest)) = caller.session.as_ref().map(|session| &session.proof) {
        // A key that has ended meanwhile must not leave its scopes behind.
        let Some(owner) = app.keys.owner(digest).filter(|owner| owner.role == caller.login) else { return Ok(None) };
        (caller.actor, caller.scopes) = (owner.actor, owner.scopes);
    }
    Ok(Some(caller))
}

/// The key that SignalR's clients send in the query string, because a page cannot set headers of a WebSocket.
fn key_of_socket(uri: &Uri) -> Option<String> {
    let Query(pairs): Query<Vec<(String, String)>> =
        uri.path().starts_with(HUBS).then(|| Query::try_from_uri(uri).ok()).flatten()?;
    pairs.into_iter().find(|(name, _)| name == "access_token").map(|(_, key)| key)
}

/// The answer to an API key that is unknown or no longer valid.
pub fn unknown_key() -> Failure {
    Failure::new(StatusCode::UNAUTHORIZED, "the API key is not known, or has expired")
}

/// Whether a request that changes something, or opens a WebSocket, comes from one of our pages. Browsers send this
/// information themselves, and pages cannot forge it.
fn is_ours(app: &Gateway, request: &Request) -> bool {
    let headers = request.headers();
    let is_safe = matches!(*request.method(), Method::GET | Method::HEAD | Method::OPTIONS);
    if is_safe && !headers.contains_key(UPGRADE) {
        return true;
    }
    match text(headers, "sec-fetch-site") {
        Some(site) => site == "same-origin",
        None => text(headers, ORIGIN.as_str()) == Some(app.options.origin().as_str()),
    }
}

/// Whether a browser shows the answer as a page of its own, as far as it says so: a page of another site can make it
/// send any number of requests for images and frames.
pub fn is_navigation(headers: &HeaderMap) -> bool {
    let is_or_absent = |name: &str, value: &str| text(headers, name).is_none_or(|said| said == value);
    is_or_absent("sec-fetch-mode", "navigate") && is_or_absent("sec-fetch-dest", "document")
}

fn text<'a>(headers: &'a HeaderMap, name: &str) -> Option<&'a str> {
    headers.get(name).and_then(|value| value.to_str().ok())
}

/// Reads the whole body of a request to an endpoint, within the limits for a body and for the memory of the hold.
pub async fn read_body(app: &Gateway, request: Request, hold: &Hold) -> Result<(Parts, Bytes), Failure> {
    let most = usize::from(app.options.max_body) * 1024 * 1024;
    let (parts, body) = request.into_parts();
    refuse_announced(&parts.headers, most)?;
    let bytes = in_time(app, received(body, most, hold)).await?;
    Ok((parts, bytes))
}

fn refuse_announced(headers: &HeaderMap, most: usize) -> Result<(), Failure> {
    let announced = text(headers, CONTENT_LENGTH.as_str()).and_then(|length| length.parse::<usize>().ok());
    if announced.is_some_and(|length| length > most) { Err(too_large(most)) } else { Ok(()) }
}

async fn in_time(app: &Gateway, body: impl Future<Output = Result<Bytes, Failure>>) -> Result<Bytes, Failure> {
    let time = BODY_TIME.min(app.options.request_time());
    tokio::time::timeout(time, body)
        .await
        .unwrap_or_else(|_| Err(Failure::new(StatusCode::REQUEST_TIMEOUT, "the body of the request came too slowly")))
}

/// Reads the whole body before a handler starts, within the limits for a body and for its user's memory. The memory is
/// released once the answer has been received and the transaction has ended.
pub async fn bounded_body(State(app): State<App>, request: Request, next: Next) -> Result<Response, Failure> {
    let (most, hold) = match request.extensions().get::<Caller>() {
        Some(caller) => (usize::from(app.options.max_body) * 1024 * 1024, app.memory.hold(&caller.account())),
        None => (MAX_OF_STRANGERS, app.memory_of_strangers.hold(&network_of(&app, &request))),
    };
    refuse_announced(request.headers(), most)?;
    let (parts, body) = request.into_parts();
    let bytes = in_time(&app, received(body, most, &hold)).await?;
    hold.grow(memory::decoded(&bytes))?;
    let response = Arc::clone(&hold).during(next.run(Request::from_parts(parts, Body::from(bytes)))).await;
    Ok(hold_until_sent(response, hold))
}

/// Holds the memory of an answer until its last byte is in the connection's buffers.
pub fn hold_until_sent(response: Response, hold: Arc<Hold>) -> Response {
    let size = response.body().size_hint().exact();
    if size == Some(0) {
        return response;
    }
    let (mut parts, body) = response.into_parts();
    if let Some(size) = size {
        parts.headers.entry(CONTENT_LENGTH).or_insert(HeaderValue::from(size));
    }
    let held = body.map_frame(move |frame| {
        frame.map_data(|bytes| Bytes::from_owner(HeldBytes { bytes, _hold: Arc::clone(&hold) }))
    });
    Response::from_parts(parts, Body::new(held))
}

struct HeldBytes {
    bytes: Bytes,
    _hold: Arc<Hold>,
}

impl AsRef<[u8]> for HeldBytes {
    fn as_ref(&self) -> &[u8] {
        &self.bytes
    }
}

/// The memory account of a request without a caller.
fn network_of(app: &Gateway, request: &Request) -> String {
    network(address_of(app, request)).to_string()
}

/// The address of the client of a request.
pub fn address_of(app: &Gateway, request: &Request) -> IpAddr {
    address(app, peer_of(request), request.headers())
}

/// The address of the peer: of the client, or of the last proxy.
fn peer_of(request: &Request) -> IpAddr {
    let peer = request.extensions().get::<ConnectInfo<SocketAddr>>().map(|ConnectInfo(peer)| peer.ip());
    peer.unwrap_or(IpAddr::V4(Ipv4Addr::UNSPECIFIED))
}

/// Reads a body. Memory is charged for bytes received, not announced. An oversized body is read to its end and
/// discarded, because a client that is still sending would not read the answer.
async fn received(mut body: Body, most: usize, hold: &Hold) -> Result<Bytes, Failure> {
    let (mut bytes, mut length, mut refused) = (BytesMut::new(), 0, None);
    while let Some(frame) = body.frame().await {
        let frame = frame.map_err(|_| Failure::bad_request("the body of the request did not arrive"))?;
        let Ok(data) = frame.into_data() else { continue };
        length += data.len();
        if length > most {
            return Err(too_large(most));
        }
        if refused.is_some() {
            continue;
        }
        // The buffer doubles as it grows.
        match hold.grow(2 * data.len()) {
            Ok(()) => bytes.extend_from_slice(&data),
            Err(failure) => {
                (bytes, refused) = (BytesMut::new(), Some(failure));
                hold.release();
            }
        }
    }
    refused.map_or_else(|| Ok(bytes.freeze()), Err)
}

fn too_large(most: usize) -> Failure {
    Failure::new(StatusCode::PAYLOAD_TOO_LARGE, format!("the body of a request has at most {most} bytes"))
}

/// Headers of every response.
pub async fn secure_headers(State(app): State<App>, request: Request, next: Next) -> Response {
    let mut response = next.run(request).await;
    let headers = response.headers_mut();
    headers.insert(X_CONTENT_TYPE_OPTIONS, HeaderValue::from_static("nosniff"));
    headers.insert(REFERRER_POLICY, HeaderValue::from_static("same-origin"));
    headers.insert("cross-origin-resource-policy", HeaderValue::from_static("same-origin"));
    headers.insert("x-frame-options", HeaderValue::from_static("DENY"));
    if app.options.is_secure() {
        headers.insert(STRICT_TRANSPORT_SECURITY, HeaderValue::from_static("max-age=31536000"));
    }
    response
}

/// The response to a panic in a handler.
pub fn panicked(cause: Box<dyn std::any::Any + Send>) -> Response {
    let text = cause.downcast_ref::<String>().map(String::as_str).or_else(|| cause.downcast_ref::<&str>().copied());
    Failure::internal(text.unwrap_or("a handler panicked")).into_response()
}
