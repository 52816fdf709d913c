//! Workflows as Elsa Studio exports them that send requests and mail: imported, started, and done by `wf work` against
//! servers on loopback. They end as in Elsa.

use std::collections::HashMap;
use std::net::SocketAddr;
use std::process::{Child, Command};
use std::sync::{Arc, Mutex};

use axum::Router;
use axum::extract::{Path, Request, State};
use axum::http::StatusCode;
use axum::response::{IntoResponse as _, Response};
use axum::routing::{get, post};
use serde_json::{Value, json};
use uuid::Uuid;

use crate::servers::smtp::{Demands, SmtpServer};
use crate::support::{PROGRAM, World, free_port, send, wait_until};

/// A request as the service got it.
#[derive(Clone)]
struct Received {
    headers: HashMap<String, Vec<String>>,
    body: String,
}

type Log = Arc<Mutex<Vec<Received>>>;

/// What the workflows call: a shop, a bank, and files.
async fn service(log: Log) -> SocketAddr {
    let routes = Router::new()
        .route("/orders", post(order))
        .route("/charges", post(charge))
        .route("/prices", get(async || ([("content-disposition", "attachment; filename=\"prices.csv\"")], "a;b\n")))
        .route("/terms.txt", get(async || "Terms."))
        .route("/items/{item}", get(item))
        .with_state(log);
    let listener = tokio::net::TcpListener::bind("127.0.0.1:0").await.unwrap();
    let address = listener.local_addr().unwrap();
    tokio::spawn(async { axum::serve(listener, routes).await });
    address
}

/// Records a request, and returns how many there were before with the same body.
async fn record(log: &Log, request: Request) -> (Received, usize) {
    let mut received = Received { headers: HashMap::new(), body: String::new() };
    for (name, value) in request.headers() {
        received.headers.entry(name.to_string()).or_default().push(value.to_str().unwrap().to_owned());
    }
    let body = axum::body::to_bytes(request.into_body(), 1 << 20).await.unwrap();
    received.body = String::from_utf8(body.to_vec()).unwrap();
    let mut log = log.lock().unwrap();
    let before = log.iter().filter(|other| other.headers.get("x-case") == received.headers.get("x-case")).count();
    log.push(received.clone());
    (received, before)
}

async fn order(State(log): State<Log>, request: Request) -> Response {
    let (received, _) = record(&log, request).await;
    let order: Value = serde_json::from_str(&received.body).unwrap();
    let response = match order["item"].as_str().unwrap() {
        "book" => (StatusCode::CREATED, axum::Json(json!({"id": 7, "item": "book"}))).into_response(),
        "nothing" => (StatusCode::NOT_FOUND, "no such item").into_response(),
        "odd" => StatusCode::IM_A_TEAPOT.into_response(),
        _ => std::future::pending().await,
    };
    ([("x-request-id", "r-7")], response).into_response()
}

async fn charge(State(log): State<Log>, request: Request) -> Response {
    let (received, before) = record(&log, request).await;
    match received.headers["x-case"][0].as_str() {
        "busy" if before < 2 => StatusCode::SERVICE_UNAVAILABLE.into_response(),
        "poor" => (StatusCode::PAYMENT_REQUIRED, "no money").into_response(),
        "odd" => StatusCode::CONFLICT.into_response(),
        _ => axum::Json(json!({"charged": received.body, "number": 4})).into_response(),
    }
}

async fn item(Path(item): Path<String>) -> Response {
    match item.as_str() {
        "tea" => axum::Json(json!({"name": "Tea", "price": 4.2})).into_response(),
        _ => StatusCode::NOT_FOUND.into_response(),
    }
}

/// A database with the exports, the servers that they reach, and a worker.
struct Outside {
    world: World,
    /// The servers end with it.
    _runtime: tokio::runtime::Runtime,
    url: String,
    /// A port at which nothing listens.
    closed: String,
    requests: Log,
    mail: SmtpServer,
    worker: Child,
}

impl Outside {
    fn new(exports: &[&str], options: &[&str]) -> Self {
        Self::beside(World::new(), exports, options)
    }

    fn beside(world: World, exports: &[&str], options: &[&str]) -> Self {
        let ada = world.client("ada");
        for export in exports {
            let export: Value = serde_json::from_str(export).unwrap();
            ada.post("/workflow-definitions/import", &export).ok();
            let id = export["definitionId"].as_str().unwrap();
            ada.post(&format!("/workflow-definitions/{id}/publish"), &json!({})).ok();
        }
        let runtime = tokio::runtime::Builder::new_multi_thread().worker_threads(1).enable_all().build().unwrap();
        let requests = Log::default();
        let address = runtime.block_on(service(Arc::clone(&requests)));
        let mail = runtime.block_on(SmtpServer::start(Demands::default()));
        // Nothing listens there.
        let closed = "127.0.0.1:1";
        let database = format!("{} dbname={} user=ada password=lovelace", world.server(), world.database);
        let worker = Command::new(PROGRAM)
            .args(["work", "--database", &database, "--allow-addresses", &format!("{address},{closed}")])
            .args(["--smtp-host", "127.0.0.1", "--smtp-port", &mail.address.port().to_string(), "--smtp-tls", "none"])
            .args(["--smtp-from", "shop@example.com"])
            .args(options)
            .spawn()
            .expect("the worker starts");
        Self {
            world,
            _runtime: runtime,
            url: format!("http://{address}"),
            closed: format!("http://{closed}"),
            requests,
            mail,
            worker,
        }
    }

    /// Runs a workflow to its end. Returns the lines that it has written, and its incidents.
    fn run(&self, definition: &str, input: Value) -> String {
        let id = Uuid::now_v7();
        let body = json!({"instanceId": id, "input": input});
        self.world.client("ada").post(&format!("/workflow-definitions/{definition}/execute"), &body).ok();
        let ended = format!("SELECT status FROM workflow.instances WHERE id = '{id}' AND status <> 'Running'");
        wait_until("the instance has ended", || self.world.value(&ended).is_some());
        let lines = format!(
            "SELECT string_agg(line, ', ' ORDER BY place) FROM (
                 SELECT data #>> '{{}}', seq * 1000 + number FROM workflow.journal WHERE instance_id = '{id}' AND event = 'Line'
                 UNION ALL SELECT code || ': ' || message, 1e9 FROM workflow.incidents WHERE instance_id = '{id}') AS lines (line, place)"
        );
        self.world.value(&lines).unwrap_or_default()
    }

    fn requests(&self) -> Vec<Received> {
        self.requests.lock().unwrap().clone()
    }
}

impl Drop for Outside {
    fn drop(&mut self) {
        let _ = self.worker.kill();
        let _ = self.worker.wait();
    }
}

const LONG: &[&str] = &["--timeout-seconds", "600"];

#[test]
fn a_request_in_a_flowchart_continues_at_the_outcome_of_its_status() {
    let outside = Outside::new(&[include_str!("elsa/order.json")], LONG);
    let order =
        |url: &str, item: &str| outside.run("place-order", json!({"baseUrl": url, "item": item, "token": "t0ken"}));
    assert_eq!(order(&outside.url, "book"), "created 7 for book, done 201 r-7");
    assert_eq!(order(&outside.url, "nothing"), "missing: no such item, done 404 r-7");
    assert_eq!(order(&outside.url, "odd"), "unmatched 418, done 418 r-7");
    assert_eq!(order(&outside.closed, "book"), "failed to connect");
    let requests = outside.requests();
    let first = &requests[0];
    assert_eq!(requests.len(), 3);
    assert_eq!(first.body, "{\"amount\":2,\"item\":\"book\"}");
    for (name, values) in [
        ("content-type", &["application/json"][..]),
        ("authorization", &["Bearer t0ken"]),
        ("x-shop", &["elsa"]),
        ("x-tag", &["new", "gift"]),
    ] {
        assert_eq!(first.headers[name], values, "{name}");
    }
}

#[test]
fn a_request_without_a_response_takes_the_outcome_timeout() {
    let outside = Outside::new(&[include_str!("elsa/order.json")], &["--timeout-seconds", "1"]);
    let input = json!({"baseUrl": outside.url, "item": "slow", "token": "t0ken"});
    assert_eq!(outside.run("place-order", input), "timeout");
}

#[test]
fn a_request_runs_the_activity_of_its_status() {
    let outside = Outside::new(&[include_str!("elsa/charge.json")], LONG);
    let charge = |case: &str| outside.run("charge-card", json!({"baseUrl": outside.url, "case": case}));
    // Resiliency makes further attempts.
    assert_eq!(charge("busy"), "charged amount=60&card=4111+1111, receipt 4, afterwards");
    assert_eq!(charge("poor"), "declined: no money, afterwards");
    assert_eq!(charge("odd"), "unmatched 409, afterwards");
    let requests = outside.requests();
    let keys: Vec<_> = requests.iter().map(|request| &request.headers["idempotency-key"]).collect();
    assert_eq!(requests.len(), 5);
    assert!(keys[0] == keys[1] && keys[1] == keys[2] && keys[2] != keys[3] && keys[3] != keys[4], "{keys:?}");
}

#[test]
fn a_file_is_downloaded_and_mailed() {
    let outside = Outside::new(&[include_str!("elsa/report.json")], LONG);
    let report = |url: String, copy: &str| outside.run("mail-prices", json!({"baseUrl": url, "copy": copy}));
    assert_eq!(report(outside.url.clone(), "cid@example.com"), "finished");
    let received = outside.mail.received();
    let [message] = &received[..] else { panic!("{received:?}") };
    assert_eq!(message.to, ["ada", "ben", "cid", "eve"].map(|name| format!("{name}@example.com")));
    assert_eq!(message.header("From").as_deref(), Some("shop@example.com"));
    assert_eq!(message.header("To").as_deref(), Some("ada@example.com, ben@example.com"));
    assert_eq!(message.header("Cc").as_deref(), Some("cid@example.com"));
    assert_eq!(message.header("Bcc"), None);
    assert_eq!(message.header("Subject").as_deref(), Some("Prices of prices.csv"));
    for part in
        ["<p>Status <b>200</b></p>", "filename=\"prices.csv\"", "YTtiCg==", "filename=\"terms.txt\"", "VGVybXMu"]
    {
        assert!(message.text.contains(part), "no {part:?} in {}", message.text);
    }
    // A mailbox that does not exist, and a file.
    assert_eq!(report(outside.url.clone(), "gone@example.com"), "not sent, finished");
    assert_eq!(report(format!("{}/nowhere", outside.url), "cid@example.com"), "no file: 404");
    assert_eq!(outside.mail.received().len(), 1);
}

#[test]
fn an_endpoint_responds_with_what_another_service_has_said() {
    let listen = format!("127.0.0.1:{}", free_port());
    let world = World::with(&["--endpoints-listen", &listen, "--endpoints-role", "ben"]);
    let outside = Outside::beside(world, &[include_str!("elsa/quote.json")], LONG);
    let quote = |item: &str| {
        let answer = send("GET", &format!("http://{listen}/quotes/{item}?from={}", outside.url), &[], "");
        assert_eq!(answer.headers["x-source"], "stock", "{answer:?}");
        (answer.status, answer.text)
    };
    assert_eq!(quote("tea"), (200, "Tea costs 4.2".into()));
    assert_eq!(quote("gold"), (404, "there is no gold".into()));
}
