//! A request, as the inputs of a task describe it.

use reqwest::header::{AUTHORIZATION, CONTENT_TYPE, HeaderMap, HeaderName, HeaderValue};
use reqwest::{Method, Url};
use serde_json::{Map, Value};
use uuid::Uuid;

use super::shown_url;
use crate::secrets::{Destination, Secrets};
use crate::task::{Failure, ServiceTask};

const METHODS: [Method; 7] =
    [Method::GET, Method::POST, Method::PUT, Method::DELETE, Method::PATCH, Method::OPTIONS, Method::HEAD];
const IDEMPOTENCY_KEY: HeaderName = HeaderName::from_static("idempotency-key");
const TRACEPARENT: HeaderName = HeaderName::from_static("traceparent");
/// Headers that belong to the connection, or would contradict the address that was checked.
const RESERVED: [&str; 10] = [
    "connection",
    "content-length",
    "expect",
    "host",
    "keep-alive",
    "proxy-authorization",
    "te",
    "trailer",
    "transfer-encoding",
    "upgrade",
];
/// Headers that a redirect to another origin keeps.
const KEPT_ACROSS_ORIGINS: [&str; 6] =
    ["accept", "accept-language", "content-type", "idempotency-key", "traceparent", "tracestate"];

/// A request to send.
#[derive(Debug, Clone)]
pub struct Outgoing {
    /// Where to.
    pub url: Url,
    /// The method.
    pub method: Method,
    /// Headers, secrets included.
    pub headers: HeaderMap,
    /// The body.
    pub body: Option<Vec<u8>>,
}

impl Outgoing {
    /// Reads the inputs of a task.
    ///
    /// # Errors
    /// `invalid_request` or `secret_denied`.
    pub fn of_task(task: &ServiceTask, secrets: &Secrets) -> Result<Self, Failure> {
        let url = checked_url(task.text("Url")?.ok_or_else(|| invalid("there is no URL"))?)?;
        let name = task.text("Method")?.unwrap_or("GET").to_ascii_uppercase();
        let method = METHODS.into_iter().find(|method| method.as_str() == name);
        let method = method.ok_or_else(|| invalid(format!("there is no method {name:?}")))?;
        let content_type = task.text("ContentType")?.filter(|content_type| !content_type.is_empty());
        let (mut headers, mut body) = (HeaderMap::new(), None);
        if let (Some(content_type), Some(content)) = (content_type, task.input("Content")) {
            headers.insert(CONTENT_TYPE, header_value("Content-Type", content_type)?);
            body = Some(content_bytes(content_type, content));
        }
        let given = Given { url: &url, owner: &task.owner, secrets };
        if let Some(value) = task.input("Authorization").filter(|value| value.as_str() != Some("")) {
            headers.insert(AUTHORIZATION, given.header("Authorization", value)?);
        }
        given.headers(task.input("RequestHeaders"), &mut headers)?;
        if !is_safe(&method) && !headers.contains_key(IDEMPOTENCY_KEY) {
            headers.insert(IDEMPOTENCY_KEY, key(task.task_id)?);
        }
        add_trace(task, &mut headers)?;
        Ok(Self { url, method, headers, body })
    }

    /// A GET request for a file that a task needs.
    ///
    /// # Errors
    /// `invalid_request`.
    pub fn get(url: &str, task: &ServiceTask) -> Result<Self, Failure> {
        let (url, mut headers) = (checked_url(url)?, HeaderMap::new());
        add_trace(task, &mut headers)?;
        Ok(Self { url, method: Method::GET, headers, body: None })
    }

    /// The request to which a redirect leads. Secrets are never sent along, and other headers that can be confidential only
    /// to the same origin.
    ///
    /// # Errors
    /// If the target is invalid, or less secure.
    pub fn redirected(mut self, status: u16, target: Url) -> Result<Self, Failure> {
        if target.scheme() == "http" && self.url.scheme() == "https" {
            let message = format!("the service redirects from https to {}", shown_url(&target));
            return Err(Failure::last("insecure_redirect", message));
        }
        let is_same_origin = Destination::of(&target) == Destination::of(&self.url);
        let names: Vec<HeaderName> = self.headers.keys().cloned().collect();
        for name in names {
            let has_secret = self.headers.get_all(&name).iter().any(HeaderValue::is_sensitive);
            if has_secret || !(is_same_origin || KEPT_ACROSS_ORIGINS.contains(&name.as_str())) {
                self.headers.remove(name);
            }
        }
        let becomes_get = match status {
            301 | 302 => self.method == Method::POST,
            303 => self.method != Method::HEAD,
            _ => false,
        };
        if becomes_get {
            self.method = Method::GET;
            self.body = None;
            self.headers.remove(CONTENT_TYPE);
            self.headers.remove(IDEMPOTENCY_KEY);
        }
        self.url = target;
        Ok(self)
    }
}

/// Adds the trace context of the task, unless the definition has set one.
fn add_trace(task: &ServiceTask, headers: &mut HeaderMap) -> Result<(), Failure> {
    if let Some(traceparent) = task.traceparent().filter(|_| !headers.contains_key(TRACEPARENT)) {
        headers.insert(TRACEPARENT, header_value("traceparent", &traceparent)?);
    }
    Ok(())
}

/// What the values of headers depend on.
struct Given<'a> {
    url: &'a Url,
    owner: &'a str,
    secrets: &'a Secrets,
}

impl Given<'_> {
    /// Adds the headers of an object: names with a value each, or a list of values.
    fn headers(&self, given: Option<&Value>, headers: &mut HeaderMap) -> Result<(), Failure> {
        let given = match given {
            None => return Ok(()),
            Some(Value::Object(given)) => given,
            Some(_) => return Err(invalid("RequestHeaders is not an object")),
        };
        for (text, value) in given {
            let name = HeaderName::from_bytes(text.as_bytes());
            let name = name.map_err(|_| invalid(format!("{text:?} is not the name of a header")))?;
            if RESERVED.contains(&name.as_str()) {
                return Err(invalid(format!("the header {text} cannot be set")));
            }
            headers.remove(&name);
            for value in value.as_array().map_or(std::slice::from_ref(value), Vec::as_slice) {
                if !value.is_null() {
                    headers.append(name.clone(), self.header(text, value)?);
                }
            }
        }
        Ok(())
    }

    /// A value: a text, the secret that it names, or other JSON.
    fn header(&self, name: &str, value: &Value) -> Result<HeaderValue, Failure> {
        match value {
            Value::String(text) => header_value(name, text),
            Value::Object(members) if members.contains_key("secret") => self.secret(members),
            other => header_value(name, &other.to_string()),
        }
    }

    fn secret(&self, members: &Map<String, Value>) -> Result<HeaderValue, Failure> {
        let name = members.get("secret").and_then(Value::as_str).filter(|_| members.len() == 1);
        let name = name.ok_or_else(|| invalid("a secret is {\"secret\": \"NAME\"}"))?;
        let destination = Destination::of(self.url).ok_or_else(|| wrong_url(self.url))?;
        let value = self.secrets.value(name, self.owner, &destination)?;
        let mut value = HeaderValue::from_str(&value)
            .or_else(|_| HeaderValue::from_bytes(value.as_bytes()))
            .map_err(|_| Failure::last("secret_denied", format!("secret {name:?} is no value of a header")))?;
        value.set_sensitive(true);
        Ok(value)
    }
}

/// A URL of http or https, normalized, with a host and without a user.
///
/// # Errors
/// `invalid_request`.
pub fn checked_url(text: &str) -> Result<Url, Failure> {
    // Without the text, which may contain a password.
    let mut url = Url::parse(text).map_err(|error| invalid(format!("the URL is not valid: {error}")))?;
    if !url.username().is_empty() || url.password().is_some() {
        return Err(invalid("the URL names a user; use the input Authorization"));
    }
    if Destination::of(&url).is_none_or(|destination| destination.host.is_empty() || destination.port == 0) {
        return Err(wrong_url(&url));
    }
    url.set_fragment(None);
    Ok(url)
}

/// The failure of a request to another kind of URL.
pub fn wrong_url(url: &Url) -> Failure {
    invalid(format!("{} is no URL of http or https with a host", shown_url(url)))
}

fn invalid(message: impl Into<String>) -> Failure {
    Failure::last("invalid_request", message)
}

fn header_value(name: &str, text: &str) -> Result<HeaderValue, Failure> {
    let value = HeaderValue::from_str(text).or_else(|_| HeaderValue::from_bytes(text.as_bytes()));
    value.map_err(|_| invalid(format!("the header {name} has control characters")))
}

fn key(task: Uuid) -> Result<HeaderValue, Failure> {
    header_value("Idempotency-Key", &task.to_string())
}

fn is_safe(method: &Method) -> bool {
    [Method::GET, Method::HEAD, Method::OPTIONS].contains(method)
}

/// A text as it is, an object as a form if the content type says so, everything else as JSON.
fn content_bytes(content_type: &str, content: &Value) -> Vec<u8> {
    let is_form = content_type.split(';').next().is_some_and(|kind| kind.trim() == "application/x-www-form-urlencoded");
    match content {
        Value::String(text) => text.clone().into_bytes(),
        Value::Object(members) if is_form => {
            let mut form = url::form_urlencoded::Serializer::new(String::new());
            for (name, value) in members {
                for value in value.as_array().map_or(std::slice::from_ref(value), Vec::as_slice) {
                    form.append_pair(name, &value.as_str().map_or_else(|| value.to_string(), str::to_owned));
                }
            }
            form.finish().into_bytes()
        }
        other => other.to_string().into_bytes(),
    }
}
