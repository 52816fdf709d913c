//! Headers between clients and workflows.

use std::net::IpAddr;

use axum::http::header::{
    AUTHORIZATION, CONNECTION, CONTENT_LENGTH, CONTENT_SECURITY_POLICY, COOKIE, PROXY_AUTHENTICATE,
    PROXY_AUTHORIZATION, SET_COOKIE, STRICT_TRANSPORT_SECURITY, TE, TRAILER, TRANSFER_ENCODING, UPGRADE,
    X_CONTENT_TYPE_OPTIONS,
};
use axum::http::{HeaderMap, HeaderName, HeaderValue};
use percent_encoding::percent_decode_str;
use serde_json::{Map, Value};

use crate::config::EndpointOptions;
use crate::failure::Failure;
use crate::gateway::App;
use crate::identity::cookies;

/// The id of a request.
pub const REQUEST_ID: HeaderName = HeaderName::from_static("x-request-id");
const FORWARDED_FOR: HeaderName = HeaderName::from_static("x-forwarded-for");
/// The longest id that is taken from a client.
const MAX_ID: usize = 128;

/// Headers that belong to one connection.
const OF_CONNECTION: [HeaderName; 9] = [
    CONNECTION,
    PROXY_AUTHENTICATE,
    PROXY_AUTHORIZATION,
    TE,
    TRAILER,
    TRANSFER_ENCODING,
    UPGRADE,
    HeaderName::from_static("keep-alive"),
    HeaderName::from_static("proxy-connection"),
];

/// Headers by which usual proxies say who the user is.
const IDENTITY: [&str; 12] = [
    "remote-user",
    "x-auth-request-access-token",
    "x-auth-request-email",
    "x-auth-request-groups",
    "x-auth-request-preferred-username",
    "x-auth-request-user",
    "x-forwarded-access-token",
    "x-forwarded-email",
    "x-forwarded-groups",
    "x-forwarded-preferred-username",
    "x-forwarded-user",
    "x-remote-user",
];

/// The id that a client has given its request.
pub fn request_id(headers: &HeaderMap) -> Option<String> {
    let id = headers.get(REQUEST_ID)?.to_str().ok()?;
    let is_plain = |byte: u8| byte.is_ascii_alphanumeric() || b"-_.:+/=".contains(&byte);
    (!id.is_empty() && id.len() <= MAX_ID && id.bytes().all(is_plain)).then(|| id.to_owned())
}

/// The headers that a workflow gets: not those of the connection, not what identifies the client to the gateway or its
/// proxy, and the address as far as it is known.
pub fn passed(app: &App, headers: &HeaderMap, address: IpAddr, id: &str) -> Value {
    let identity = &app.options.endpoints.endpoints_identity_header;
    let mut passed = Map::new();
    for (name, value) in headers {
        let is_of_proxy = app.options.sign_on.proxy_headers().any(|of| of == name);
        let identifies = IDENTITY.contains(&name.as_str()) || identity.contains(name) || is_of_proxy;
        let is_ours = *name == FORWARDED_FOR || *name == REQUEST_ID;
        if identifies || is_ours || is_of_connection(name, headers) {
            continue;
        }
        // As Latin-1, which every value is.
        let text: String = value.as_bytes().iter().map(|byte| char::from(*byte)).collect();
        let text = match *name {
            COOKIE => without_session(&text),
            AUTHORIZATION if is_key_of_gateway(app, &text) => String::new(),
            _ => text,
        };
        if !text.is_empty() {
            add(&mut passed, name.as_str(), text);
        }
    }
    passed.insert(FORWARDED_FOR.to_string(), address.to_canonical().to_string().into());
    passed.insert(REQUEST_ID.to_string(), id.into());
    Value::Object(passed)
}

/// Whether a header belongs to the connection, by itself or because `Connection` names it.
fn is_of_connection(name: &HeaderName, headers: &HeaderMap) -> bool {
    let named = |value: &HeaderValue| {
        value.to_str().is_ok_and(|names| names.split(',').any(|other| other.trim().eq_ignore_ascii_case(name.as_str())))
    };
    OF_CONNECTION.contains(name) || headers.get_all(CONNECTION).iter().any(named)
}

fn add(passed: &mut Map<String, Value>, name: &str, text: String) {
    match passed.get_mut(name) {
        None => drop(passed.insert(name.to_owned(), text.into())),
        Some(Value::Array(texts)) => texts.push(text.into()),
        Some(other) => *other = Value::Array(vec![other.take(), text.into()]),
    }
}

/// A `Cookie` header without the gateway's own cookie.
fn without_session(cookies: &str) -> String {
    let pairs = cookies.split(';').map(str::trim).filter(|pair| !pair.is_empty() && !is_session(pair));
    pairs.collect::<Vec<_>>().join("; ")
}

/// Whether the gateway would take a cookie for that of a session, or the cookie would replace that of a session, whatever
/// its value is. Browsers send `=name=value` as `name=value`.
fn is_session(cookie: &str) -> bool {
    let cookie = cookie.trim_start_matches(|sign: char| sign == '=' || sign.is_whitespace());
    let name = cookie.split(['=', ';']).next().unwrap_or_default();
    let name = percent_decode_str(name).decode_utf8_lossy();
    cookies::NAMES.iter().chain(&cookies::NAMES_OF_ATTEMPT).any(|known| *known == name.trim())
}

/// Whether an `Authorization` is a key of the gateway, or an access token for it, which somebody has sent to the wrong
/// listener.
fn is_key_of_gateway(app: &App, text: &str) -> bool {
    let is_token = |key: &str| app.provider.as_ref().is_some_and(|provider| provider.is_audience_of(key));
    text.split_once(' ').is_some_and(|(_, key)| app.keys.caller(key.trim()).is_some() || is_token(key.trim()))
}

/// Writes the headers of a workflow's response: an object with a text or a list of texts for each name.
pub fn write(headers: &mut HeaderMap, stored: &str) -> Result<(), Failure> {
    let stored: Map<String, Value> = serde_json::from_str(stored).map_err(Failure::internal)?;
    for (name, value) in stored {
        let name = HeaderName::from_bytes(name.as_bytes()).map_err(Failure::internal)?;
        let is_dropped = OF_CONNECTION.contains(&name) || name == CONTENT_LENGTH || name == STRICT_TRANSPORT_SECURITY;
        if is_dropped || name == "clear-site-data" {
            continue;
        }
        let values = if let Value::Array(values) = value { values } else { vec![value] };
        for value in values {
            let text = value.as_str().map_or_else(|| value.to_string(), str::to_owned);
            if name != SET_COOKIE || !is_session(&text) {
                headers.append(&name, HeaderValue::from_bytes(text.as_bytes()).map_err(Failure::internal)?);
            }
        }
    }
    Ok(())
}

/// Protects users of the gateway from pages of workflows. A browser enforces each of several policies.
pub fn protect(headers: &mut HeaderMap, options: &EndpointOptions) {
    headers.insert(X_CONTENT_TYPE_OPTIONS, HeaderValue::from_static("nosniff"));
    if !options.endpoints_own_origin {
        headers.append(CONTENT_SECURITY_POLICY, HeaderValue::from_static("sandbox"));
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn cookies_lose_that_of_the_session() {
        for (given, left) in [
            ("a=1; workflow=secret; b=2", "a=1; b=2"),
            ("__Host-workflow=secret", ""),
            (" workflow = secret;;c=3", "c=3"),
            ("%77orkflow=secret; =workflow=secret; workflow=%FF; workflow", ""),
            ("myworkflow=1", "myworkflow=1"),
        ] {
            assert_eq!(without_session(given), left);
        }
    }

    #[test]
    fn responses_set_no_session_and_no_headers_of_the_connection() {
        let mut headers = HeaderMap::new();
        let stored = r#"{"Set-Cookie": ["workflow=x", "__Host-workflow=x; Path=/", "=workflow=x", "%77orkflow=x", "workflow=%FF; Path=/", "__Host-workflow=%FF; Secure", "workflow-login=x", "cart=%FF"], "Connection": "close", "Clear-Site-Data": "*",
            "Strict-Transport-Security": "max-age=0", "Content-Length": "1", "X-Count": 7, "Content-Security-Policy": "sandbox allow-scripts"}"#;
        write(&mut headers, stored).expect("headers");
        protect(&mut headers, &options(false));
        let texts: Vec<(&str, &str)> =
            headers.iter().map(|(name, value)| (name.as_str(), value.to_str().expect("a text"))).collect();
        let mut texts = texts;
        texts.sort_unstable();
        assert_eq!(
            texts,
            [
                ("content-security-policy", "sandbox"),
                ("content-security-policy", "sandbox allow-scripts"),
                ("set-cookie", "cart=%FF"),
                ("x-content-type-options", "nosniff"),
                ("x-count", "7"),
            ]
        );
        let mut own = HeaderMap::new();
        protect(&mut own, &options(true));
        assert!(!own.contains_key(CONTENT_SECURITY_POLICY));
    }

    fn options(own_origin: bool) -> EndpointOptions {
        EndpointOptions {
            endpoints_listen: None,
            endpoints_role: None,
            endpoints_wait: 30,
            endpoints_own_origin: own_origin,
            endpoints_cors: Vec::new(),
            endpoints_rate: 1,
            endpoints_identity_header: Vec::new(),
        }
    }

    #[test]
    fn connection_names_headers_that_are_its_own() {
        let headers: HeaderMap = [("connection", "close, X-Hop"), ("x-hop", "1"), ("x-end", "1")]
            .map(|(name, value)| (HeaderName::from_static(name), HeaderValue::from_static(value)))
            .into_iter()
            .collect();
        let of_connection = headers.keys().filter(|name| is_of_connection(name, &headers));
        assert_eq!(of_connection.collect::<Vec<_>>(), ["connection", "x-hop"]);
    }

    #[test]
    fn ids_of_clients_are_short_and_plain() {
        let given = |text: &str| {
            let value = HeaderValue::from_str(text).expect("a header");
            request_id(&HeaderMap::from_iter([(REQUEST_ID, value)]))
        };
        assert_eq!(given("a-1.b:2").as_deref(), Some("a-1.b:2"));
        assert!(given("a b").is_none() && given("").is_none() && given(&"a".repeat(129)).is_none());
    }
}
