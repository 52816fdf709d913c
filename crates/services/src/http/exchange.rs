//! Sends a request and follows its redirects.

use reqwest::header::{HeaderMap, LOCATION};
use reqwest::{Request, StatusCode, Url};
use serde_json::{Value, json};
use tokio::sync::{Semaphore, SemaphorePermit};
use tokio::time::Instant;

use super::connections::{AddressRefused, Connections};
use super::request::{self, Outgoing};
use super::{body, shown_url};
use crate::secrets::redactor::Redactor;
use crate::task::Failure;

/// A response, read to its end.
#[derive(Debug)]
pub struct Response<'p> {
    /// The status.
    pub status: StatusCode,
    /// The headers.
    pub headers: HeaderMap,
    /// The body, after decompression.
    pub body: Vec<u8>,
    /// The memory of a large body: kept until the body has been dealt with.
    pub memory: Reserved<'p>,
}

/// The memory for large bodies. A body gets it step by step, so that a slow service takes away no more than it has sent.
/// When nothing is left to be had at once, it waits for a place for a whole body, with which it can be read to its end:
/// bodies that are half read never wait for each other.
#[derive(Debug)]
pub struct Memory {
    /// A permit for each [`body::SMALL`] bytes.
    steps: Semaphore,
    /// A permit for each of the largest bodies.
    whole: Semaphore,
}

/// What a body has of it.
#[derive(Debug, Default)]
pub struct Reserved<'p> {
    steps: Option<SemaphorePermit<'p>>,
    whole: Option<SemaphorePermit<'p>>,
}

impl Memory {
    /// For so many of the largest bodies by steps, and as many whole ones.
    pub fn new(bodies: usize, max_bytes: usize) -> Self {
        let steps = Semaphore::new(bodies * max_bytes.div_ceil(body::SMALL));
        Self { steps, whole: Semaphore::new(bodies) }
    }

    /// Reserves memory for a body of so many bytes. Fails if there is none before the deadline.
    async fn reserve<'p>(
        &'p self,
        reserved: &mut Reserved<'p>,
        bytes: usize,
        deadline: Instant,
    ) -> Result<(), Failure> {
        let needed = if bytes > body::SMALL { bytes.div_ceil(body::SMALL) } else { 0 };
        let missing = needed.saturating_sub(reserved.steps.as_ref().map_or(0, SemaphorePermit::num_permits));
        if missing == 0 || reserved.whole.is_some() {
            return Ok(());
        }
        if let Ok(more) = self.steps.try_acquire_many(u32::try_from(missing).unwrap_or(u32::MAX)) {
            match &mut reserved.steps {
                Some(steps) => steps.merge(more),
                None => reserved.steps = Some(more),
            }
            return Ok(());
        }
        // It is not the service that takes long.
        let busy = || Failure::transient("busy", "the worker had no memory for the response in time");
        let waited = tokio::time::timeout_at(deadline, self.whole.acquire()).await;
        reserved.whole = Some(waited.ok().and_then(Result::ok).ok_or_else(busy)?);
        Ok(())
    }
}

/// Why there is no response.
#[derive(Debug)]
pub enum Trouble {
    /// No connection, or no valid HTTP on it.
    NotConnected(String),
    /// No response in time.
    TimedOut(String),
    /// The request, or its response, is not permitted.
    Refused(Failure),
}

impl Trouble {
    /// The answer to the task.
    pub fn answer(self, redactor: &Redactor) -> Value {
        let failure = self.failure(redactor);
        json!({"error": failure.code, "message": failure.message})
    }

    /// The failure of the attempt.
    pub fn failure(self, redactor: &Redactor) -> Failure {
        match self {
            Self::NotConnected(message) => Failure::transient("connect", redactor.text(body::storable(message))),
            Self::TimedOut(message) => Failure::transient("timeout", redactor.text(body::storable(message))),
            Self::Refused(failure) => failure,
        }
    }
}

impl From<Failure> for Trouble {
    fn from(failure: Failure) -> Self {
        Self::Refused(failure)
    }
}

/// Whether a status says that the host, or what it depends on, is down.
pub fn is_down(status: StatusCode) -> bool {
    [502, 503, 504].contains(&status.as_u16())
}

/// The failure of a download with this status.
pub fn unsuccessful(status: StatusCode) -> Failure {
    let message = format!("the service answered with status {}", status.as_u16());
    let code = format!("http_{}", status.as_u16());
    match status.as_u16() {
        408 | 429 | 500..=599 => Failure::transient(code, message),
        _ => Failure::last(code, message),
    }
}

/// What an exchange needs.
pub struct Exchange<'a, 'p> {
    /// The clients.
    pub connections: &'a Connections,
    /// Redirects to follow.
    pub max_redirects: u8,
    /// Bytes of the largest body.
    pub max_bytes: usize,
    /// The secrets of the owner.
    pub redactor: &'a Redactor,
    /// When the response must be complete.
    pub deadline: Instant,
    /// For large bodies.
    pub memory: &'p Memory,
}

impl<'p> Exchange<'_, 'p> {
    /// Sends a request, follows redirects, and reads the response.
    ///
    /// # Errors
    /// See [`Trouble`].
    pub async fn run(&self, mut request: Outgoing) -> Result<Response<'p>, Trouble> {
        for _ in 0..=self.max_redirects {
            let response = self.hop(&request).await?;
            let Some(target) = self.target(&request.url, &response)? else {
                return self.read(response).await;
            };
            request = request.redirected(response.status().as_u16(), target)?;
        }
        let message = format!("the service redirects more than {} times", self.max_redirects);
        Err(Failure::last("too_many_redirects", message).into())
    }

    async fn hop(&self, outgoing: &Outgoing) -> Result<reqwest::Response, Trouble> {
        let client = self.connections.client(&outgoing.url).map_err(|_| refused(&outgoing.url))?;
        let mut request = Request::new(outgoing.method.clone(), outgoing.url.clone());
        *request.headers_mut() = outgoing.headers.clone();
        *request.body_mut() = outgoing.body.clone().map(Into::into);
        client.execute(request).await.map_err(|error| trouble(&error, &outgoing.url))
    }

    /// Where a response redirects to.
    fn target(&self, from: &Url, response: &reqwest::Response) -> Result<Option<Url>, Failure> {
        let is_redirect = [301, 302, 303, 307, 308].contains(&response.status().as_u16());
        let Some(location) = response.headers().get(LOCATION).filter(|_| is_redirect) else { return Ok(None) };
        let location = String::from_utf8_lossy(location.as_bytes());
        if self.redactor.finds_in(&location) {
            let message = format!("{} redirects to a URL that contains a secret", shown_url(from));
            return Err(Failure::last("secret_denied", message));
        }
        let wrong = |_| Failure::last("invalid_redirect", format!("{} redirects to what is no URL", shown_url(from)));
        let target = from.join(&location).map_err(wrong)?;
        request::checked_url(target.as_str()).map(Some)
    }

    async fn read(&self, mut response: reqwest::Response) -> Result<Response<'p>, Trouble> {
        let (limit, url) = (self.max_bytes, response.url().clone());
        let too_large = || Failure::last("too_large", format!("the response is larger than {limit} bytes"));
        let announced = response.content_length().unwrap_or_default();
        if announced > limit as u64 {
            return Err(too_large().into());
        }
        let (mut body, mut memory) = (Vec::new(), Reserved::default());
        while let Some(chunk) = response.chunk().await.map_err(|error| trouble(&error, &url))? {
            if body.len() + chunk.len() > limit {
                return Err(too_large().into());
            }
            self.memory.reserve(&mut memory, body.len() + chunk.len(), self.deadline).await?;
            body.extend_from_slice(&chunk);
        }
        Ok(Response { status: response.status(), headers: response.headers().clone(), body, memory })
    }
}

/// The message names the option that would permit it. What a name was resolved to is in the log only: the incident is read
/// by every role that may define workflows.
fn refused(url: &Url) -> Trouble {
    let (host, port) = (url.host_str().unwrap_or_default(), url.port_or_known_default().unwrap_or_default());
    let message = format!(
        "the worker may not connect to {host}:{port}: only public addresses are permitted, and those that the worker's \
         option allow-addresses lists"
    );
    Trouble::Refused(Failure::last("address_refused", message))
}

/// What an error of a request or a body means.
fn trouble(error: &reqwest::Error, url: &Url) -> Trouble {
    if AddressRefused::caused(error) {
        return refused(url);
    }
    let mut message = format!("{}: {}", shown_url(url), kind(error));
    let mut cause = std::error::Error::source(error);
    while let Some(next) = cause {
        let text = next.to_string();
        if !message.ends_with(&text) {
            message = format!("{message}: {text}");
        }
        cause = next.source();
    }
    // The service has not refused anything if no connection was made in time.
    if error.is_timeout() && !error.is_connect() { Trouble::TimedOut(message) } else { Trouble::NotConnected(message) }
}

fn kind(error: &reqwest::Error) -> &'static str {
    if error.is_connect() {
        "no connection"
    } else if error.is_body() || error.is_decode() {
        "the body is incomplete or invalid"
    } else {
        "no valid response"
    }
}
