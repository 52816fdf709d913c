//! `SendHttpRequest`, `FlowSendHttpRequest` and `DownloadHttpFile`: sends an HTTP request.
//!
//! A request is read from the inputs of a task ([request]), sent hop by hop ([exchange]) through [connections] that check
//! addresses, and answered with what the [body] contains.

pub mod body;
pub mod connections;
pub mod exchange;
pub mod options;
pub mod request;
pub mod retry_after;

use std::sync::Arc;

use data_encoding::BASE64;
use reqwest::Url;
use reqwest::header::HeaderMap;
use serde_json::{Map, Value, json};
use tokio::time::Instant;

use crate::addresses::AddressRules;
use crate::hosts::{Hosts, Later};
use crate::secrets::redactor::Redactor;
use crate::secrets::{Destination, Secrets};
use crate::task::{Failure, ServiceTask};
use connections::{Connections, Lookup};
use exchange::{Memory, Response, Trouble};
pub use options::HttpOptions;
use request::Outgoing;

/// Names of the tasks that it does.
pub const NAMES: [&str; 3] = ["Elsa.SendHttpRequest", "Elsa.FlowSendHttpRequest", DOWNLOAD];
const DOWNLOAD: &str = "Elsa.DownloadHttpFile";
/// Large bodies may take as much memory as this number of the largest, by steps, and as much once more, as a whole.
const LARGE_BODIES: usize = 8;

/// Sends requests.
pub struct HttpService {
    options: HttpOptions,
    connections: Connections,
    hosts: Hosts,
    secrets: Secrets,
    /// For large bodies.
    memory: Memory,
}

/// A file that was fetched.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Download {
    /// Its name: the last part of the path.
    pub name: String,
    /// Its content type, as the server states it.
    pub content_type: Option<String>,
    /// Its bytes, after decompression and without secrets.
    pub content: Vec<u8>,
}

impl HttpService {
    /// A service that finds hosts by the system's resolver, or another one.
    ///
    /// # Errors
    /// Describes the option that is invalid.
    pub fn new(options: &HttpOptions, secrets: Secrets, lookup: Arc<dyn Lookup>) -> Result<Self, String> {
        let rules = AddressRules::new(options.allow_addresses.clone());
        let connections = Connections::new(options, rules, lookup)?;
        let hosts = Hosts::new(options.host_limits());
        let memory = Memory::new(LARGE_BODIES, options.max_bytes());
        Ok(Self { options: options.clone(), connections, hosts, secrets, memory })
    }

    /// Sends the request of a task. The answer is that of docs/services.md: `{"statusCode", "headers", "content"}`, with
    /// `retryAfter` if the service asks for it, or `{"error", "message"}` without a response.
    ///
    /// # Errors
    /// If the request is refused, or its response cannot be stored: another attempt would fail as well. Also if the host
    /// must not be called now; then nothing was sent.
    pub async fn send(&self, task: &ServiceTask) -> Result<Value, Failure> {
        let request = Outgoing::of_task(task, &self.secrets)?;
        let redactor = self.secrets.redactor(&task.owner);
        match self.respond(request, self.options.max_bytes(), &redactor, task.deadline).await? {
            Ok(response) => self.answer(task, response, redactor).await,
            Err(trouble) => Ok(trouble.answer(&redactor)),
        }
    }

    /// Fetches a file, such as an attachment, if it has at most `limit` bytes.
    ///
    /// # Errors
    /// `invalid_request`, `address_refused`, `too_large` and others, after which another attempt would fail as well;
    /// `connect`, `timeout` and `http_` with the status, after which it can succeed.
    pub async fn download(&self, url: &str, limit: usize, task: &ServiceTask) -> Result<Download, Failure> {
        let redactor = self.secrets.redactor(&task.owner);
        let request = Outgoing::get(url, task)?;
        let name = file_name(&request.url);
        match self.respond(request, limit.min(self.options.max_bytes()), &redactor, task.deadline).await? {
            Ok(response) if response.status.is_success() => {
                let content_type = body::content_type(&response.headers);
                Ok(Download { name, content_type, content: redactor.bytes(response.body) })
            }
            Ok(response) => Err(exchange::unsuccessful(response.status)),
            Err(trouble) => Err(trouble.failure(&redactor)),
        }
    }

    /// Sends a request when its host may be called, and follows redirects.
    async fn respond<'p>(
        &'p self,
        request: Outgoing,
        max_bytes: usize,
        redactor: &Redactor,
        deadline: Instant,
    ) -> Result<Result<Response<'p>, Trouble>, Failure> {
        let host = Destination::of(&request.url).ok_or_else(|| request::wrong_url(&request.url))?;
        let begun = Instant::now();
        let permitted = self.hosts.permit(&host.host, host.port).await;
        // The wait for the turn is not the host's.
        let deadline = deadline + begun.elapsed();
        let permission = permitted
            .map_err(|Later(wait)| Failure::postpone(wait, format!("calls to {}:{} pause", host.host, host.port)))?;
        let exchange = exchange::Exchange {
            connections: &self.connections,
            max_redirects: self.options.max_redirects,
            max_bytes,
            redactor,
            deadline,
            memory: &self.memory,
        };
        let response = tokio::time::timeout_at(deadline, exchange.run(request)).await;
        let response = response.unwrap_or_else(|_| {
            Err(Trouble::TimedOut("the response was not complete within the time of the worker".into()))
        });
        match &response {
            Ok(response) if exchange::is_down(response.status) => permission.failed(),
            Ok(_) => permission.succeeded(),
            Err(Trouble::NotConnected(_) | Trouble::TimedOut(_)) => permission.failed(),
            Err(Trouble::Refused(_)) => drop(permission),
        }
        match response {
            Err(Trouble::Refused(failure)) => Err(failure),
            other => Ok(other),
        }
    }

    async fn answer(
        &self,
        task: &ServiceTask,
        response: Response<'_>,
        redactor: Arc<Redactor>,
    ) -> Result<Value, Failure> {
        let is_file = task.name == DOWNLOAD;
        let Response { status, headers, body, memory: _memory } = response;
        let retry_in = retry_after::read(status, &headers, chrono::Utc::now());
        let shown = shown_headers(&headers, &redactor);
        let is_large = body.len() > body::SMALL;
        let content = move || match is_file {
            true => Value::from(BASE64.encode(&redactor.bytes(body))),
            false => body::content(&headers, body, &redactor),
        };
        // Large bodies would keep the heartbeats of other tasks waiting.
        let content = if is_large {
            let failed = |_| Failure::last("invalid_response", "the content of the response cannot be read");
            tokio::task::spawn_blocking(content).await.map_err(failed)?
        } else {
            content()
        };
        let mut answer = json!({"statusCode": status.as_u16(), "headers": shown, "content": content});
        if let (Some(delay), Some(members)) = (retry_in, answer.as_object_mut()) {
            members.insert("retryAfter".into(), delay.as_secs().into());
        }
        Ok(answer)
    }
}

/// The headers of a response: names with a value each, or a list of values.
fn shown_headers(headers: &HeaderMap, redactor: &Redactor) -> Value {
    let mut shown = Map::new();
    for name in headers.keys() {
        let text = |bytes: &[u8]| redactor.text(body::storable(String::from_utf8_lossy(bytes).into_owned()));
        let mut values: Vec<Value> = headers.get_all(name).iter().map(|value| text(value.as_bytes()).into()).collect();
        let value = if values.len() == 1 { values.remove(0) } else { values.into() };
        shown.insert(capitalized(name.as_str()), value);
    }
    Value::Object(shown)
}

/// The usual spelling of a header's name: HTTP/2 has lower case only, and scripts read a name as it is written.
fn capitalized(name: &str) -> String {
    match name {
        "etag" => return "ETag".into(),
        "www-authenticate" => return "WWW-Authenticate".into(),
        _ => {}
    }
    let words = name.split('-').map(|word| {
        let mut letters = word.chars();
        letters.next().map_or_else(String::new, |first| first.to_uppercase().chain(letters).collect())
    });
    words.collect::<Vec<String>>().join("-")
}

/// The last part of a path, or `file`.
fn file_name(url: &Url) -> String {
    let last = url.path().rsplit('/').next().filter(|last| !last.is_empty());
    percent_encoding::percent_decode_str(last.unwrap_or("file")).decode_utf8_lossy().into_owned()
}

/// A URL for messages: without a query, which may be confidential.
fn shown_url(url: &Url) -> String {
    let mut url = url.clone();
    url.set_query(None);
    url.set_fragment(None);
    url.into()
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn names_of_headers_have_their_usual_spelling() {
        assert_eq!(capitalized("content-type"), "Content-Type");
        assert_eq!(capitalized("etag"), "ETag");
        assert_eq!(capitalized("x--odd-"), "X--Odd-");
    }

    #[test]
    fn a_file_is_named_by_its_url() {
        let name = |url: &str| file_name(&url.parse().expect("a URL"));
        assert_eq!(name("https://a.example/b/price%20list.csv?c=d"), "price list.csv");
        assert_eq!(name("https://a.example"), "file");
    }

    #[test]
    fn headers_with_several_values_are_lists() {
        let mut headers = HeaderMap::new();
        for (name, value) in [("set-cookie", "a=1"), ("set-cookie", "b=2"), ("server", "x")] {
            headers.append(name, value.parse().expect("a value"));
        }
        let shown = shown_headers(&headers, &Redactor::default());
        assert_eq!(shown, json!({"Set-Cookie": ["a=1", "b=2"], "Server": "x"}));
    }
}
