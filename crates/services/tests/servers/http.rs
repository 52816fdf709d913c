//! An HTTP server that counts calls by their `Idempotency-Key`, and does to each attempt what the URL says.
//!
//! `/calls/NAME?STEP,STEP,…` treats the first attempt with a key by the first step, the next one by the second, and so on.
//! When there are no more steps, it answers 200 with `{"name", "number"}`, where the number belongs to the key: the first
//! success draws it, and all further attempts get the same.
//!
//! | step | what the attempt gets |
//! | --- | --- |
//! | `500`, `404`, … | this status |
//! | `429-2`, `503-2`, … | this status, with `Retry-After: 2` |
//! | `redirect` | 307 to the success |
//! | `hold` | nothing, until [`HttpServer::release`] or the client gives up; then the success |
//! | `stall` | nothing, until the client gives up |
//! | `drop` | the end of the connection |
//! | `half` | half of the success, then the end of the connection |
//! | `nonsense` | no HTTP |
//! | `echo` | 200 with `{"method", "path", "headers", "body"}` of the request |
//!
//! `/after/MS` answers 200 after so many milliseconds.

use std::collections::HashMap;
use std::net::SocketAddr;
use std::sync::{Arc, Mutex, MutexGuard};
use std::time::{Duration, Instant};

use serde_json::{Value, json};
use tokio::io::{AsyncReadExt as _, AsyncWriteExt as _};
use tokio::net::{TcpListener, TcpStream};
use tokio::sync::watch;

/// More than any test sends.
const MAX_HEAD: usize = 64 * 1024;

/// A request as it arrived.
#[derive(Debug, Clone)]
pub struct Request {
    pub method: String,
    /// With the query.
    pub path: String,
    pub headers: Vec<(String, String)>,
    pub body: Vec<u8>,
    pub at: Instant,
}

impl Request {
    /// The value of a header, or an empty text.
    pub fn header(&self, name: &str) -> &str {
        let found = self.headers.iter().find(|(header, _)| header.eq_ignore_ascii_case(name));
        found.map_or("", |(_, value)| value)
    }

    fn to_json(&self) -> Value {
        let headers: HashMap<&str, &str> = self.headers.iter().map(|(name, value)| (&**name, &**value)).collect();
        let body = String::from_utf8_lossy(&self.body);
        json!({"method": self.method, "path": self.path, "headers": headers, "body": body})
    }
}

/// All attempts with one `Idempotency-Key`.
#[derive(Debug, Clone, Default)]
pub struct Call {
    /// The names in their URLs. A call has one.
    pub names: Vec<String>,
    /// Requests that arrived, without those that followed a redirect.
    pub attempts: u64,
    /// The number in the success.
    pub number: Option<u64>,
    /// Attempts that the server holds now.
    pub held: usize,
}

/// When requests arrived.
#[derive(Debug, Clone, Copy)]
pub struct Times {
    pub count: u64,
    pub first: Instant,
    pub last: Instant,
}

#[derive(Default)]
struct State {
    calls: HashMap<String, Call>,
    successes: u64,
    requests: Vec<Request>,
    times: Option<Times>,
}

/// The server. It ends with the runtime of the test.
pub struct HttpServer {
    pub address: SocketAddr,
    shared: Arc<Shared>,
}

struct Shared {
    state: Mutex<State>,
    /// How often held requests were released.
    releases: watch::Sender<u64>,
    /// How many requests have arrived.
    arrivals: watch::Sender<u64>,
    is_recording: bool,
}

impl Shared {
    fn state(&self) -> MutexGuard<'_, State> {
        self.state.lock().expect("no test has failed in it")
    }

    fn record(&self, request: &Request) {
        let mut state = self.state();
        let times = state.times.get_or_insert(Times { count: 0, first: request.at, last: request.at });
        times.count += 1;
        times.last = request.at;
        if self.is_recording {
            state.requests.push(request.clone());
        }
    }
}

impl HttpServer {
    pub async fn start() -> Self {
        Self::with(true).await
    }

    /// A server that remembers no requests, for measurements.
    pub async fn forgetful() -> Self {
        Self::with(false).await
    }

    async fn with(is_recording: bool) -> Self {
        let listener = TcpListener::bind("127.0.0.1:0").await.expect("a port");
        let address = listener.local_addr().expect("its address");
        let (releases, arrivals) = (watch::Sender::new(0), watch::Sender::new(0));
        let shared = Arc::new(Shared { state: Mutex::default(), releases, arrivals, is_recording });
        let server = Self { address, shared: Arc::clone(&shared) };
        tokio::spawn(async move {
            while let Ok((stream, _)) = listener.accept().await {
                let shared = Arc::clone(&shared);
                tokio::spawn(async move {
                    let _ = stream.set_nodelay(true);
                    // The client may have been killed.
                    let _ = serve(stream, &shared).await;
                });
            }
        });
        server
    }

    /// The URL of a call with these steps.
    pub fn url(&self, name: &str, steps: &[&str]) -> String {
        format!("http://{}/calls/{name}?{}", self.address, steps.join(","))
    }

    pub fn requests(&self) -> Vec<Request> {
        self.shared.state().requests.clone()
    }

    /// When requests arrived since the last time that this was asked.
    pub fn take_times(&self) -> Option<Times> {
        self.shared.state().times.take()
    }

    /// How many requests have arrived since then.
    pub fn count(&self) -> u64 {
        self.shared.state().times.map_or(0, |times| times.count)
    }

    pub fn calls(&self) -> HashMap<String, Call> {
        self.shared.state().calls.clone()
    }

    /// Keys of the calls that are held now.
    pub fn held(&self) -> Vec<String> {
        let state = self.shared.state();
        state.calls.iter().filter(|(_, call)| call.held > 0).map(|(key, _)| key.clone()).collect()
    }

    /// Answers all requests that are held.
    pub fn release(&self) {
        self.shared.releases.send_modify(|count| *count += 1);
    }

    /// Waits until requests have arrived that make this true.
    pub async fn wait_until(&self, mut is_so: impl FnMut(&Self) -> bool) {
        let mut arrivals = self.shared.arrivals.subscribe();
        while !is_so(self) {
            arrivals.changed().await.expect("the server runs");
        }
    }
}

/// Serves the requests of a connection.
async fn serve(mut stream: TcpStream, shared: &Shared) -> std::io::Result<()> {
    let mut buffer = Vec::new();
    while let Some(request) = read(&mut stream, &mut buffer).await? {
        shared.record(&request);
        let is_open = respond(&mut stream, shared, &request).await?;
        if !is_open {
            break;
        }
    }
    Ok(())
}

/// The next request of the connection; `None` at its end.
async fn read(stream: &mut TcpStream, buffer: &mut Vec<u8>) -> std::io::Result<Option<Request>> {
    let end = loop {
        if let Some(at) = buffer.windows(4).position(|four| four == b"\r\n\r\n") {
            break at;
        }
        if buffer.len() > MAX_HEAD || stream.read_buf(buffer).await? == 0 {
            return Ok(None);
        }
    };
    let head = String::from_utf8_lossy(&buffer[..end]).into_owned();
    let mut lines = head.split("\r\n");
    let mut first = lines.next().unwrap_or_default().split(' ');
    let (method, path) = (first.next().unwrap_or_default().to_owned(), first.next().unwrap_or_default().to_owned());
    let headers: Vec<(String, String)> = lines
        .filter_map(|line| line.split_once(':'))
        .map(|(name, value)| (name.to_owned(), value.trim().to_owned()))
        .collect();
    let mut request = Request { method, path, headers, body: Vec::new(), at: Instant::now() };
    let length = request.header("content-length").parse().unwrap_or(0);
    while buffer.len() < end + 4 + length {
        if stream.read_buf(buffer).await? == 0 {
            return Ok(None);
        }
    }
    let rest = buffer.split_off(end + 4 + length);
    request.body = buffer.split_off(end + 4);
    *buffer = rest;
    Ok(Some(request))
}

/// Treats a request. Returns whether the connection is still open.
async fn respond(stream: &mut TcpStream, shared: &Shared, request: &Request) -> std::io::Result<bool> {
    let (path, steps) = request.path.split_once('?').unwrap_or((&request.path, ""));
    if let Some(milliseconds) = path.strip_prefix("/after/") {
        let milliseconds = milliseconds.parse().unwrap_or(0);
        if milliseconds > 0 {
            tokio::time::sleep(Duration::from_millis(milliseconds)).await;
        }
        return send(stream, 200, "", "{\"ok\":true}").await;
    }
    let key = request.header("idempotency-key");
    if let Some(name) = path.strip_prefix("/redirected/") {
        return succeed(stream, shared, key, name).await;
    }
    let Some(name) = path.strip_prefix("/calls/") else { return send(stream, 404, "", "").await };
    let step = {
        let mut state = shared.state();
        let call = state.calls.entry(key.to_owned()).or_default();
        if !call.names.iter().any(|known| known == name) {
            call.names.push(name.to_owned());
        }
        let step = match call.number {
            // The work is done, also if the answer was lost.
            Some(_) => "",
            None => steps.split(',').nth(usize::try_from(call.attempts).unwrap_or(usize::MAX)).unwrap_or_default(),
        };
        call.attempts += 1;
        if step == "hold" || step == "stall" {
            call.held += 1;
        }
        step
    };
    shared.arrivals.send_modify(|count| *count += 1);
    match step {
        "" => succeed(stream, shared, key, name).await,
        "redirect" => send(stream, 307, &format!("Location: /redirected/{name}\r\n"), "").await,
        "hold" | "stall" => hold(stream, shared, key, name, step == "hold").await,
        "drop" => Ok(false),
        "half" => {
            stream.write_all(b"HTTP/1.1 200 OK\r\nContent-Length: 100\r\n\r\n{\"name\":").await?;
            Ok(false)
        }
        "nonsense" => {
            stream.write_all(b"\x00\x01 this is not HTTP\r\n\r\n").await?;
            Ok(false)
        }
        "echo" => send(stream, 200, "", &request.to_json().to_string()).await,
        status => {
            let (status, delay) = status.split_once('-').unwrap_or((status, ""));
            let header = if delay.is_empty() { String::new() } else { format!("Retry-After: {delay}\r\n") };
            send(stream, status.parse().unwrap_or(500), &header, "").await
        }
    }
}

/// Waits until the client gives up, or until the request is released if it may be.
async fn hold(
    stream: &mut TcpStream,
    shared: &Shared,
    key: &str,
    name: &str,
    may_release: bool,
) -> std::io::Result<bool> {
    let mut releases = shared.releases.subscribe();
    let mut more = [0];
    let is_released = tokio::select! {
        _ = releases.changed(), if may_release => true,
        _ = stream.read(&mut more) => false,
    };
    if let Some(call) = shared.state().calls.get_mut(key) {
        call.held -= 1;
    }
    if is_released { succeed(stream, shared, key, name).await } else { Ok(false) }
}

async fn succeed(stream: &mut TcpStream, shared: &Shared, key: &str, name: &str) -> std::io::Result<bool> {
    let number = {
        let mut state = shared.state();
        state.successes += 1;
        let next = state.successes;
        *state.calls.entry(key.to_owned()).or_default().number.get_or_insert(next)
    };
    send(stream, 200, "", &json!({"name": name, "number": number}).to_string()).await
}

async fn send(stream: &mut TcpStream, status: u16, headers: &str, body: &str) -> std::io::Result<bool> {
    let length = body.len();
    let response = format!(
        "HTTP/1.1 {status} Status\r\nContent-Type: application/json\r\nContent-Length: {length}\r\n{headers}\r\n{body}"
    );
    stream.write_all(response.as_bytes()).await?;
    Ok(true)
}
