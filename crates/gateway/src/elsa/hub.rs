//! The hub for live updates: SignalR over a WebSocket, as Studio's instance viewer uses it.
//!
//! A connection states which instances it observes; `watch` checks whether they have changed. The only state is the
//! open connections: a client that reconnects to another gateway observes its instances again.

mod protocol;
mod watch;

use std::collections::HashSet;
use std::net::{IpAddr, SocketAddr};
use std::sync::Arc;
use std::time::Duration;

use axum::Json;
use axum::extract::ws::rejection::WebSocketUpgradeRejection;
use axum::extract::ws::{Message, WebSocket, WebSocketUpgrade};
use axum::extract::{ConnectInfo, OriginalUri, State};
use axum::http::header::{AUTHORIZATION, COOKIE, ORIGIN};
use axum::http::{HeaderMap, StatusCode, Uri};
use axum::response::Response;
use serde_json::{Value, json};
use tokio::sync::{Notify, OwnedSemaphorePermit, mpsc};
use tokio::time::{Instant, MissedTickBehavior, interval_at, timeout};
use uuid::Uuid;

use crate::caller::Caller;
use crate::failure::Failure;
use crate::gateway::App;
use crate::guard;
use crate::routing::Routes;
use protocol::{Received, Update};
use watch::Hub;

/// Instances that one connection may observe. Studio observes one per connection.
const MAX_OBSERVED: usize = 8;
/// Maximum size of a client's message, in bytes.
const MESSAGE_BYTES: usize = 8 * 1024;
/// Size of a connection's read buffer, in bytes: most client messages are short.
const READ_BYTES: usize = 1024;
/// Updates queued for a slow reader before its connection is closed.
const QUEUE: usize = 8;
/// Interval of keep-alive messages. The client gives up after 30 seconds without one.
const PING: Duration = Duration::from_secs(15);
/// How long a client may be silent. Clients send a keep-alive every 15 seconds as well.
const IDLE_TIME: Duration = Duration::from_secs(120);
/// How long a connection is believed whose person a proxy has named. The proxy sees that the person may still connect.
const PROXY_TIME: Duration = Duration::from_secs(600);
/// How long a client may take to read a message, and to finish the handshake.
const WRITE_TIME: Duration = Duration::from_secs(10);

pub fn routes() -> Routes {
    let hub = Arc::new(Hub::default());
    Routes::new()
        .post("/workflow-instance/negotiate", negotiate)
        .get("/workflow-instance", async move |app, caller, peer, uri, headers, upgrade| {
            connect(hub, app, caller, peer, uri, headers, upgrade)
        })
}

/// Tells a client how to connect. A client without a hub polls instead.
async fn negotiate(State(app): State<App>, caller: Caller, headers: HeaderMap) -> Result<Json<Value>, Failure> {
    // A page cannot send the header with a WebSocket.
    let is_page_with_key = !caller.is_ambient() && headers.contains_key(ORIGIN) && has_api_key(&headers);
    if is_page_with_key || app.is_stopping() || app.sockets.available_permits() == 0 {
        return Err(
            Failure::new(StatusCode::NOT_FOUND, "there is no room for another connection").hint("Poll instead.")
        );
    }
    let id = Uuid::now_v7();
    Ok(Json(json!({
        "connectionId": id,
        "connectionToken": id,
        "negotiateVersion": 1,
        "availableTransports": [{"transport": "WebSockets", "transferFormats": ["Text", "Binary"]}],
    })))
}

fn has_api_key(headers: &HeaderMap) -> bool {
    let value = headers.get(AUTHORIZATION).and_then(|value| value.to_str().ok()).unwrap_or_default();
    value.get(..6).is_some_and(|scheme| scheme.eq_ignore_ascii_case("ApiKey"))
}

fn connect(
    hub: Arc<Hub>,
    State(app): State<App>,
    caller: Caller,
    ConnectInfo(peer): ConnectInfo<SocketAddr>,
    OriginalUri(uri): OriginalUri,
    mut headers: HeaderMap,
    upgrade: Result<WebSocketUpgrade, WebSocketUpgradeRejection>,
) -> Result<Response, Failure> {
    let upgrade = upgrade.map_err(|error| Failure::bad_request(error.body_text()))?;
    let full = |_| Failure::unavailable("there is no room for another connection");
    let room = Arc::clone(&app.sockets).try_acquire_owned().map_err(full)?;
    let mut credentials = HeaderMap::new();
    for name in [AUTHORIZATION, COOKIE].iter().chain(app.options.sign_on.proxy_headers()) {
        if let Some(value) = headers.remove(name) {
            credentials.insert(name, value);
        }
    }
    let connection = Connection::new(hub, app.clone(), caller, (credentials, peer.ip()), uri, room);
    Ok(upgrade
        .read_buffer_size(READ_BYTES)
        .write_buffer_size(0)
        .max_message_size(MESSAGE_BYTES)
        .max_frame_size(MESSAGE_BYTES)
        .on_failed_upgrade(|cause| tracing::warn!(%cause, "a WebSocket did not open"))
        .on_upgrade(|socket| connection.run(socket)))
}

/// One client and the instances that it observes.
struct Connection {
    hub: Arc<Hub>,
    app: App,
    caller: Caller,
    /// The client's credentials and the address that they came from, rechecked from time to time.
    credentials: (HeaderMap, IpAddr),
    uri: Uri,
    id: Uuid,
    observed: HashSet<Uuid>,
    observer: watch::Observer,
    updates: mpsc::Receiver<Update>,
    _room: OwnedSemaphorePermit,
}

/// Why a connection is closed.
enum CloseReason {
    /// The client disconnected or violated the protocol.
    Gone,
    /// The client is told the reason and may reconnect, later or to another gateway.
    Told(&'static str),
}

impl Connection {
    fn new(
        hub: Arc<Hub>,
        app: App,
        caller: Caller,
        credentials: (HeaderMap, IpAddr),
        uri: Uri,
        room: OwnedSemaphorePermit,
    ) -> Self {
        let (sender, updates) = mpsc::channel(QUEUE);
        let observer = watch::Observer { sender, end: Arc::new(Notify::new()) };
        let observed = HashSet::new();
        Self { hub, app, caller, credentials, uri, id: Uuid::now_v7(), observed, observer, updates, _room: room }
    }

    async fn run(mut self, mut socket: WebSocket) {
        let begun = timeout(WRITE_TIME, protocol::shake_hands(&mut socket)).await;
        if !matches!(begun, Ok(true)) {
            return;
        }
        if let CloseReason::Told(why) = self.converse(&mut socket).await {
            let _ = send(&mut socket, protocol::close(why)).await;
        }
        let _ = timeout(WRITE_TIME, socket.send(Message::Close(None))).await;
    }

    async fn converse(&mut self, socket: &mut WebSocket) -> CloseReason {
        let mut stopping = self.app.stopping.subscribe();
        let mut ping = interval_at(Instant::now() + PING, PING);
        ping.set_missed_tick_behavior(MissedTickBehavior::Delay);
        let mut last_message = Instant::now();
        let begun = Instant::now();
        loop {
            let done = tokio::select! {
                received = socket.recv() => {
                    last_message = Instant::now();
                    match received {
                        Some(Ok(message)) => self.receive(socket, &message).await,
                        _ => return CloseReason::Gone,
                    }
                }
                Some(update) = self.updates.recv() => send_all(socket, update.into_messages()).await,
                _ = ping.tick() => {
                    if !self.is_still_caller().await {
                        return CloseReason::Told("log in again");
                    }
                    if self.caller.is_by_proxy && begun.elapsed() > PROXY_TIME {
                        return CloseReason::Told("connect again");
                    }
                    if last_message.elapsed() > IDLE_TIME { Err(()) } else { send(socket, protocol::ping()).await }
                }
                () = self.observer.end.notified() => return CloseReason::Told("the updates were not read in time"),
                () = async { drop(stopping.wait_for(|is_stopping| *is_stopping).await) } => {
                    return CloseReason::Told("the server is stopping");
                }
            };
            if done.is_err() {
                return CloseReason::Gone;
            }
        }
    }

    /// Whether the API key or the session is still valid.
    async fn is_still_caller(&self) -> bool {
        let (headers, peer) = &self.credentials;
        let caller = guard::caller(&self.app, *peer, headers, &self.uri).await;
        caller.is_ok_and(|caller| caller.as_ref() == Some(&self.caller))
    }

    async fn receive(&mut self, socket: &mut WebSocket, message: &Message) -> Result<(), ()> {
        let text = match message {
            Message::Text(text) => text.as_bytes(),
            Message::Binary(bytes) => bytes,
            Message::Ping(_) | Message::Pong(_) => return Ok(()),
            Message::Close(_) => return Err(()),
        };
        for received in protocol::read(text).ok_or(())? {
            match received {
                Received::Observe { instance, invocation } => {
                    let problem = self.observe(instance.as_deref());
                    if let Some(invocation) = invocation {
                        send(socket, protocol::completion(&invocation, problem)).await?;
                    }
                }
                Received::Unknown { invocation: Some(invocation) } => {
                    send(socket, protocol::completion(&invocation, Some("there is no such method"))).await?;
                }
                Received::Unknown { invocation: None } | Received::Nothing => {}
                Received::Close => return Err(()),
            }
        }
        Ok(())
    }

    /// Starts observing an instance. A caller that cannot read the instance gets no updates.
    fn observe(&mut self, instance: Option<&str>) -> Option<&'static str> {
        let Some(id) = instance.and_then(|id| id.parse().ok()) else {
            return Some("there is no such workflow instance");
        };
        if self.observed.len() >= MAX_OBSERVED && !self.observed.contains(&id) {
            return Some("this connection observes too many instances");
        }
        self.observed.insert(id);
        watch::observe(&self.hub, &self.app, &self.caller, self.id, id, self.observer.clone());
        None
    }
}

impl Drop for Connection {
    fn drop(&mut self) {
        self.hub.leave(&self.caller, self.id, &self.observed);
    }
}

async fn send_all(socket: &mut WebSocket, messages: [Message; 3]) -> Result<(), ()> {
    for message in messages {
        send(socket, message).await?;
    }
    Ok(())
}

async fn send(socket: &mut WebSocket, message: Message) -> Result<(), ()> {
    match timeout(WRITE_TIME, socket.send(message)).await {
        Ok(Ok(())) => Ok(()),
        _ => Err(()),
    }
}
