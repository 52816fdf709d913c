//! Live updates over a real WebSocket.

#![allow(clippy::unwrap_used, reason = "what is not as expected fails the test")]

use std::net::TcpStream;
use std::time::{Duration, Instant};

use serde_json::{Value, json};
use tungstenite::client::IntoClientRequest as _;
use tungstenite::{Message, WebSocket};

use crate::instances::{NONE, WAITING, orders};
use crate::support::{NEVER, World};

const HUB: &str = "/elsa/hubs/workflow-instance";
/// Longer than it takes to see a change, so that a test notices if there is none. (On a slow machine it may miss a
/// change, but it never fails wrongly.)
const QUIET: Duration = Duration::from_millis(2500);

/// A client of the hub.
struct Client(WebSocket<TcpStream>);

/// Opens a WebSocket. Returns the status if that is refused.
fn open(world: &World, query: &str, headers: &[(&str, &str)]) -> Result<Client, u16> {
    let address = world.url.trim_start_matches("http://");
    let mut request = format!("ws://{address}{HUB}{query}").into_client_request().unwrap();
    for (name, value) in headers {
        let name: tungstenite::http::HeaderName = name.parse().unwrap();
        request.headers_mut().insert(name, value.parse().unwrap());
    }
    let stream = TcpStream::connect(address).unwrap();
    stream.set_read_timeout(Some(NEVER)).unwrap();
    match tungstenite::client(request, stream) {
        Ok((socket, _)) => Ok(Client(socket)),
        Err(tungstenite::HandshakeError::Failure(tungstenite::Error::Http(answer))) => Err(answer.status().as_u16()),
        Err(error) => panic!("{error}"),
    }
}

impl Client {
    /// Connects as a role and performs the protocol's handshake.
    fn of(world: &World, role: &str) -> Self {
        let key = world.key(role);
        let mut client = open(world, "?id=x", &[("Authorization", &format!("ApiKey {key}"))]).expect("a connection");
        client.shake_hands();
        client
    }

    fn shake_hands(&mut self) {
        self.say("{\"protocol\":\"json\",\"version\":1}");
        assert_eq!(self.next(NEVER), Some(json!({})));
    }

    fn say(&mut self, record: &str) {
        self.0.send(Message::text(format!("{record}\u{1e}"))).unwrap();
    }

    fn observe(&mut self, id: &str) {
        self.say(&json!({"type": 1, "target": "ObserveInstanceAsync", "arguments": [id]}).to_string());
    }

    /// The next record that is no ping; none if there is none for that long, or the connection has ended.
    fn next(&mut self, patience: Duration) -> Option<Value> {
        let end = Instant::now() + patience;
        loop {
            let left = end.checked_duration_since(Instant::now()).filter(|left| !left.is_zero())?;
            self.0.get_ref().set_read_timeout(Some(left)).unwrap();
            match self.0.read() {
                Ok(Message::Text(text)) => {
                    let record: Value =
                        serde_json::from_str(text.strip_suffix('\u{1e}').expect("an ended record")).unwrap();
                    if record["type"] != 6 {
                        return Some(record);
                    }
                }
                Ok(Message::Close(_)) | Err(_) => return None,
                Ok(_) => {}
            }
        }
    }

    /// The targets and arguments of an update, which consists of three records.
    fn update(&mut self) -> [(String, Value); 3] {
        [(); 3].map(|()| {
            let record = self.next(NEVER).expect("an update");
            assert_eq!(record["type"], 1, "{record}");
            (record["target"].as_str().unwrap().to_owned(), record["arguments"].clone())
        })
    }

    fn is_quiet(&mut self) -> bool {
        self.next(QUIET).is_none()
    }

    /// Whether the server ends the connection. The records before that are added to `said`.
    fn ends(&mut self, said: &mut Vec<Value>) -> bool {
        self.ends_within(NEVER, said)
    }

    fn ends_within(&mut self, patience: Duration, said: &mut Vec<Value>) -> bool {
        let end = Instant::now() + patience;
        loop {
            let left = end.checked_duration_since(Instant::now()).filter(|left| !left.is_zero());
            let Some(left) = left else { return false };
            self.0.get_ref().set_read_timeout(Some(left)).unwrap();
            match self.0.read() {
                Ok(Message::Text(text)) => said.push(serde_json::from_str(text.trim_end_matches('\u{1e}')).unwrap()),
                Ok(Message::Close(_)) | Err(tungstenite::Error::ConnectionClosed | tungstenite::Error::Protocol(_)) => {
                    return true;
                }
                Err(tungstenite::Error::Io(error)) => {
                    return !matches!(error.kind(), std::io::ErrorKind::WouldBlock | std::io::ErrorKind::TimedOut);
                }
                Err(error) => panic!("{error}"),
                Ok(_) => {}
            }
        }
    }
}

#[test]
fn an_observer_is_told_of_each_change() {
    let world = orders();
    let features = world.client("ada").get("/features/installed").ok();
    assert_eq!(features["items"][0]["fullName"], "Elsa.RealTimeWorkflowUpdates");
    let (mut ada, mut idle) = (Client::of(&world, "ada"), Client::of(&world, "ada"));
    ada.observe(WAITING);
    // The client's last read may be older than this.
    let [journal, instance, activities] = ada.update();
    assert_eq!(journal, ("WorkflowExecutionLogUpdatedAsync".into(), json!([{}])));
    assert_eq!(instance, ("WorkflowInstanceUpdatedAsync".into(), json!([{"workflowInstanceId": WAITING}])));
    assert_eq!(activities.0, "ActivityExecutionLogUpdatedAsync");
    let of = |activities: &Value, node: &str| {
        activities[0]["stats"]
            .as_array()
            .unwrap()
            .iter()
            .find(|one| one["activityNodeId"] == node)
            .cloned()
            .unwrap_or_default()
    };
    let task = of(&activities.1, "Workflow1:root1:t1");
    assert_eq!(
        task,
        json!({"activityId": "t1", "activityNodeId": "Workflow1:root1:t1", "startedCount": 1, "completedCount": 0,
            "uncompletedCount": 1, "isBlocked": true, "isFaulted": false, "metadata": {}})
    );
    assert!(ada.is_quiet());
    world.sql("SET ROLE ada; SELECT wf_complete_task(task_id, '1') FROM workflow.open_tasks");
    let [_, _, activities] = ada.update();
    assert_eq!(of(&activities.1, "Workflow1:root1:t1")["completedCount"], 1);
    assert!(ada.is_quiet() && idle.is_quiet());
    // A pause changes no state, and is reported anyway.
    world.sql(&format!("SET ROLE ada; SELECT wf_start('order', '{{\"Customer\": \"A\"}}', instance_id => '{NONE}')"));
    ada.observe(NONE);
    ada.update();
    for change in ["wf_pause", "wf_unpause"] {
        world.sql(&format!("SET ROLE ada; SELECT {change}('{NONE}')"));
        assert_eq!(ada.update()[1].1, json!([{"workflowInstanceId": NONE}]), "{change}");
    }
}

#[test]
fn what_a_role_cannot_read_is_never_told() {
    let world = orders();
    let (mut ada, mut ben) = (Client::of(&world, "ada"), Client::of(&world, "ben"));
    for id in [WAITING, NONE, "x"] {
        ben.observe(id);
    }
    ada.observe(WAITING);
    ada.update();
    assert!(ben.is_quiet());
    // The observation has ended: a later grant does not restore it, a new observation does.
    world.sql("SET ROLE ada; SELECT wf_grant('order', 'ben', '{read}')");
    world.sql("SET ROLE ada; SELECT wf_complete_task(task_id, '1') FROM workflow.open_tasks");
    ada.update();
    assert!(ben.is_quiet());
    ben.observe(WAITING);
    ben.update();
    // A revoked grant ends it.
    world.sql("SET ROLE ada; SELECT wf_revoke('order', 'ben', '{read}')");
    assert!(ben.is_quiet());
    world.sql(&format!("SET ROLE ada; SELECT wf_pause('{WAITING}'); SELECT wf_grant('order', 'ben', '{{read}}')"));
    assert!(ben.is_quiet());
    // So does a deletion.
    world.sql(&format!("SET ROLE ada; SELECT wf_delete_instance('{WAITING}')"));
    assert!(ada.is_quiet());
}

#[test]
fn the_protocol_is_kept() {
    let world = orders();
    let mut ada = Client::of(&world, "ada");
    ada.say("{\"type\":6}");
    ada.say(
        &json!({"type": 1, "invocationId": "7", "target": "ObserveInstanceAsync", "arguments": [WAITING]}).to_string(),
    );
    assert_eq!(ada.next(NEVER), Some(json!({"type": 3, "invocationId": "7"})));
    ada.update();
    ada.say("{\"type\":1,\"invocationId\":\"8\",\"target\":\"Explode\",\"arguments\":[]}");
    assert_eq!(ada.next(NEVER).unwrap()["error"], "there is no such method");
    for number in 0..7 {
        ada.observe(&format!("01900000-0000-7000-8000-0000000001{number:02}"));
    }
    ada.say(
        &json!({"type": 1, "invocationId": "9", "target": "ObserveInstanceAsync", "arguments": [NONE]}).to_string(),
    );
    assert_eq!(ada.next(NEVER).unwrap()["error"], "this connection observes too many instances");
    let key = format!("ApiKey {}", world.key("ada"));
    let connect = || open(&world, "", &[("Authorization", &key)]).expect("a connection");
    for nonsense in ["{", "[]", "{\"type\":\"x\"}", &"[".repeat(100_000), &"x".repeat(100_000)] {
        let mut client = connect();
        client.shake_hands();
        client.say(nonsense);
        assert!(client.ends(&mut Vec::new()), "{nonsense:.20}");
    }
    for nonsense in ["{\"protocol\":\"messagepack\",\"version\":1}", "{}", "x"] {
        let (mut client, mut said) = (connect(), Vec::new());
        client.say(nonsense);
        assert!(client.ends(&mut said), "{nonsense}");
        assert_eq!(said, [json!({"error": "this hub speaks version 1 of the JSON protocol"})]);
    }
    let mut client = connect();
    client.shake_hands();
    client.say("{\"type\":7}");
    assert!(client.ends(&mut Vec::new()));
}

#[test]
fn who_connects_must_be_known() {
    let world = World::new();
    let key = world.key("ada");
    let api_key = format!("ApiKey {key}");
    let negotiate =
        |headers: &[(&str, &str)]| world.send("POST", &format!("{HUB}/negotiate?negotiateVersion=1"), headers, "");
    let answer = negotiate(&[("Authorization", &api_key)]).ok();
    assert_eq!(
        answer["availableTransports"],
        json!([{"transport": "WebSockets", "transferFormats": ["Text", "Binary"]}])
    );
    assert_eq!(answer["negotiateVersion"], 1);
    assert!(answer["connectionToken"].is_string() && answer["connectionId"].is_string());
    assert_eq!(negotiate(&[("Sec-Fetch-Site", "same-origin")]).status, 401);
    // A page with a key could not open the WebSocket, so it polls.
    assert_eq!(negotiate(&[("Authorization", &api_key), ("Origin", &world.url)]).status, 404);
    assert_eq!(negotiate(&[("Authorization", &format!("Bearer {key}")), ("Origin", &world.url)]).status, 200);

    let status = |query: &str, headers: &[(&str, &str)]| open(&world, query, headers).err();
    assert_eq!(status(&format!("?access_token={key}"), &[]), None);
    assert_eq!(status("?access_token=x", &[]), Some(401));
    assert_eq!(status("", &[("Authorization", "ApiKey x")]), Some(401));
    assert_eq!(status("", &[]), Some(403));
    // A cookie alone could be sent by a page of another site.
    let logged_in = world.send(
        "POST",
        "/login",
        &[("Sec-Fetch-Site", "same-origin"), ("Content-Type", "application/x-www-form-urlencoded")],
        "role=ada&password=lovelace",
    );
    let cookie = logged_in.headers["set-cookie"].to_str().unwrap().split(';').next().unwrap().to_owned();
    assert_eq!(status("", &[("Cookie", &cookie)]), Some(403));
    assert_eq!(status("", &[("Cookie", &cookie), ("Origin", "http://evil.example")]), Some(403));
    assert_eq!(status("", &[("Cookie", &cookie), ("Origin", &world.url)]), None);
    // A key in the query is accepted only for WebSockets.
    assert_eq!(world.send("GET", &format!("/elsa/api/features/installed?access_token={key}"), &[], "").status, 401);
    world.send("GET", HUB, &[("Authorization", &api_key)], "").errors(400);
}

/// The server sends a ping every 15 seconds. At the same time it checks whether the caller may still be connected.
#[test]
fn a_connection_lives_as_long_as_its_key() {
    let world = World::new();
    let begun = Instant::now();
    let mut ada = Client::of(&world, "ada");
    ada.0.get_ref().set_read_timeout(Some(NEVER)).unwrap();
    assert_eq!(ada.0.read().unwrap(), Message::text("{\"type\":6}\u{1e}"));
    assert!(begun.elapsed() >= Duration::from_secs(14), "{:?}", begun.elapsed());
    world.forget_keys();
    let mut said = Vec::new();
    assert!(ada.ends(&mut said));
    assert_eq!(said, [json!({"type": 7, "error": "log in again", "allowReconnect": true})]);
}

#[test]
fn connections_end_with_the_process() {
    let world = orders();
    let mut clients: Vec<Client> = (0..20).map(|_| Client::of(&world, "ada")).collect();
    clients.iter_mut().for_each(|client| client.observe(WAITING));
    clients[0].update();
    assert_eq!(world.stop(), Some(0));
    for client in &mut clients {
        let mut said = Vec::new();
        assert!(client.ends(&mut said));
        assert_eq!(said.last(), Some(&json!({"type": 7, "error": "the server is stopping", "allowReconnect": true})));
    }
}

#[test]
fn a_thousand_connections_fit_into_memory() {
    let world = orders();
    let key = format!("ApiKey {}", world.key("ada"));
    let mut clients: Vec<Client> =
        (0..1000).map(|_| open(&world, "", &[("Authorization", &key)]).expect("a connection")).collect();
    for client in &mut clients {
        client.shake_hands();
        client.observe(WAITING);
    }
    for client in &mut clients {
        client.update();
    }
    let memory = world.memory();
    println!("{memory} KiB with 1,000 connections");
    assert!(memory < 100 * 1024, "{memory} KiB");
    drop(clients);
    let mut next = Client::of(&world, "ada");
    next.observe(WAITING);
    next.update();
}
