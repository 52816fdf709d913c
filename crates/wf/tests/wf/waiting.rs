//! Requests that wait at several gateways while gateways and the database are killed, and a workflow that calls a
//! service for a client that waits.
//!
//! `WF_WAITING` and `WF_KILLS` are the numbers of requests that wait at once, and of kills. From 1,000 requests on, the
//! memory that each takes is bounded, too.

use std::collections::BTreeMap;
use std::io::{Read as _, Write as _};
use std::net::TcpStream;
use std::process::{Child, Command};
use std::sync::RwLock;
use std::time::{Duration, Instant};

use serde_json::json;

use crate::cluster::Cluster;
use crate::servers::http::HttpServer;
use crate::support::{Another, PROGRAM, World, free_port, send, wait_until};

const GATEWAYS: usize = 3;

/// Each such client has no `Idempotency-Key`.
const NO_KEY: usize = 5;

/// Connections to the database that a gateway may have.
const MAX_CONNECTIONS: usize = 8;

/// Memory that a request may take while it waits, in KiB, and the number of requests from which on it is measured.
const MAX_MEMORY: u64 = 64;
const MEASURED: usize = 1000;

const SETUP: &str = r#"
    CREATE ROLE web;
    GRANT web TO workflow_gateway;
    GRANT EXECUTE ON FUNCTION wf_begin_http_request, wf_take_http_responses TO web;
    GRANT EXECUTE ON PROCEDURE wf_wait_http_responses TO web;
    SET ROLE ada;
    SELECT wf_define('{"definitionId": "ask", "root": [
        {"id": "in", "type": "HttpEndpoint", "path": "ask/{n}", "canStartWorkflow": true},
        {"type": "RunTask", "taskName": "Ask"},
        {"type": "WriteHttpResponse", "content": {"js": "`${getOutputFrom(''in'', ''RouteData'').n}: done`"}}]}');"#;

/// Completes as many tasks.
const ANSWER: &str = "SELECT wf_complete_task(task_id) FROM (SELECT task_id FROM workflow.open_tasks LIMIT LIMIT_) t";

/// A number from the environment.
fn setting(name: &str, default: usize) -> usize {
    std::env::var(name).map_or(default, |text| text.parse().unwrap_or_else(|_| panic!("{name} is no number: {text}")))
}

/// A database server of its own, with gateways that serve endpoints.
struct Site {
    gateways: RwLock<Vec<Gateway>>,
    world: World,
    cluster: Cluster,
}

struct Gateway {
    process: Another,
    /// Where it serves endpoints.
    url: String,
}

impl Site {
    fn new(gateways: usize) -> Self {
        let cluster = Cluster::new("local all all scram-sha-256\n", &[]);
        let world = World::on(&cluster.address(), &[]);
        world.sql(SETUP);
        let site = Self { gateways: RwLock::default(), world, cluster };
        for _ in 0..gateways {
            let gateway = site.start_gateway();
            site.gateways.write().unwrap().push(gateway);
        }
        site
    }

    fn start_gateway(&self) -> Gateway {
        let address = format!("127.0.0.1:{}", free_port());
        let endpoints = ["--endpoints-listen", &address, "--endpoints-role", "web", "--endpoints-wait", "600"];
        let limits = ["--endpoints-rate", "100000", "--database-connections", "4"];
        let process = self.world.another_with(&[&endpoints[..], &limits].concat());
        Gateway { process, url: format!("http://{address}") }
    }

    /// Where a client asks.
    fn url(&self, client: usize) -> String {
        let gateways = self.gateways.read().unwrap();
        gateways[client % gateways.len()].url.clone()
    }

    fn count(&self, rows: &str) -> usize {
        let count = self.world.value(&format!("SELECT count(*)::text FROM {rows}"));
        count.unwrap().parse().unwrap()
    }

    fn waiting(&self) -> usize {
        self.count("workflow.http_requests WHERE status IS NULL")
    }

    fn memory(&self) -> u64 {
        self.gateways.read().unwrap().iter().map(|gateway| gateway.process.memory()).sum()
    }

    /// Sessions of all gateways. That of the world, which serves no endpoints, has none.
    fn connections(&self) -> usize {
        self.count("pg_stat_activity WHERE usename = 'workflow_gateway' AND datname = current_database()")
    }

    fn answer(&self, tasks: usize) {
        self.world.sql(&ANSWER.replace("LIMIT_", &tasks.to_string()));
    }

    /// Kills a gateway, which another one replaces, all processes of the database server, or its main process.
    fn kill(&self, round: usize) {
        match round % 4 {
            1 => {
                self.cluster.stop("immediate");
                self.cluster.start();
            }
            3 => {
                self.cluster.kill();
                self.cluster.start();
            }
            _ => {
                let gateway = self.start_gateway();
                self.gateways.write().unwrap()[round / 2 % GATEWAYS] = gateway;
            }
        }
    }
}

/// What a client has got in the end.
#[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord)]
enum Outcome {
    Response,
    Unavailable,
    Timeout,
    /// The end of the connection, because its gateway was killed.
    Nothing,
}

/// Sends the request of a client. With an `Idempotency-Key` it is repeated until it gets a response.
fn ask(site: &Site, client: usize) -> Outcome {
    let has_key = !client.is_multiple_of(NO_KEY);
    loop {
        let answer = ask_once(&site.url(client), client, has_key);
        match answer {
            Some((200, text)) => {
                assert_eq!(text, format!("{client}: done"));
                return Outcome::Response;
            }
            Some((504, _)) => return Outcome::Timeout,
            Some((503, _)) | None if has_key => std::thread::sleep(Duration::from_millis(50)),
            Some((503, _)) => return Outcome::Unavailable,
            None => return Outcome::Nothing,
            Some(other) => panic!("client {client} got {other:?}"),
        }
    }
}

/// The status and all that follows the headers; nothing if the connection is closed without an answer.
fn ask_once(url: &str, client: usize, has_key: bool) -> Option<(u16, String)> {
    let key = if has_key { format!("Idempotency-Key: client-{client}\r\n") } else { String::new() };
    let mut stream = TcpStream::connect(url.trim_start_matches("http://")).ok()?;
    write!(stream, "GET /ask/{client} HTTP/1.1\r\nHost: localhost\r\nConnection: close\r\n{key}\r\n").ok()?;
    let mut text = String::new();
    stream.read_to_string(&mut text).ok()?;
    let (head, body) = text.split_once("\r\n\r\n")?;
    Some((head.split(' ').nth(1)?.parse().ok()?, body.to_owned()))
}

#[test]
fn each_client_gets_its_own_response_once() {
    let (clients, kills) = (setting("WF_WAITING", 90), setting("WF_KILLS", 8));
    let site = Site::new(GATEWAYS);
    // What a gateway has after its first requests, it keeps.
    for request in 0..clients.min(300) {
        assert_eq!(send("GET", &format!("{}/nothing", site.url(request)), &[], "").status, 404);
    }
    let (begun, before) = (Instant::now(), site.memory());
    let mut outcomes: BTreeMap<Outcome, usize> = BTreeMap::new();
    std::thread::scope(|scope| {
        let site = &site;
        let start = |client| {
            let thread = std::thread::Builder::new().stack_size(256 * 1024);
            thread.spawn_scoped(scope, move || ask(site, client)).unwrap()
        };
        let threads: Vec<_> = (0..clients).map(start).collect();
        wait_until("all requests wait", || site.waiting() == clients);
        let each = site.memory().saturating_sub(before) / u64::try_from(clients).unwrap();
        let connections = site.connections();
        println!("{clients} requests wait: {each} KiB each, {connections} connections of {GATEWAYS} gateways");
        assert!(clients < MEASURED || each <= MAX_MEMORY, "{each} KiB for each request");
        assert!(connections <= MAX_CONNECTIONS * GATEWAYS, "{connections} connections");
        for round in 0..kills {
            site.answer(clients / (kills + 1));
            site.kill(round);
        }
        site.answer(clients);
        for thread in threads {
            *outcomes.entry(thread.join().unwrap()).or_default() += 1;
        }
    });
    println!("{outcomes:?} after {kills} kills in {:?}", begun.elapsed());
    assert_eq!(
        site.count("workflow.instance_list WHERE sub_status = 'Finished'"),
        clients,
        "each request has its effect"
    );
    assert_eq!(site.count("workflow.instance_list"), clients, "and has it once");
    // Only clients without an Idempotency-Key may get nothing, and only if their gateway was killed.
    assert!(kills > 0 || outcomes.keys().eq([&Outcome::Response]), "{outcomes:?}");
    let lost =
        outcomes.iter().filter(|(outcome, _)| **outcome != Outcome::Response).map(|(_, count)| count).sum::<usize>();
    assert!(lost <= clients.div_ceil(NO_KEY), "{outcomes:?}");
}

#[test]
fn database_is_away() {
    let site = Site::new(1);
    let url = site.url(0);
    std::thread::scope(|scope| {
        let waiting = scope.spawn(|| ask(&site, 1));
        wait_until("it waits", || site.waiting() == 1);
        site.cluster.stop("immediate");
        // The first may find a connection whose end the gateway has not noticed yet.
        wait_until("the gateway notices it", || {
            let refused = send("GET", &format!("{url}/ask/2"), &[], "");
            assert_eq!(refused.status, 503, "{refused:?}");
            refused.headers.contains_key("retry-after")
        });
        site.cluster.start();
        site.answer(1);
        assert_eq!(waiting.join().unwrap(), Outcome::Response);
    });
    assert_eq!(send("GET", &format!("{url}/nothing"), &[], "").status, 404);
}

/// Kills a worker when it goes out of scope.
struct Worker(Child);

impl Drop for Worker {
    fn drop(&mut self) {
        let _ = self.0.kill();
        let _ = self.0.wait();
    }
}

/// Elsa's guide: a request comes in, a service is called, its answer is the response. The service fails at first.
#[test]
fn workflow_calls_a_service_for_a_client_that_waits() {
    let runtime = tokio::runtime::Builder::new_multi_thread().worker_threads(1).enable_all().build().unwrap();
    let service = runtime.block_on(HttpServer::start());
    let site = Site::new(1);
    let definition = json!({
        "definitionId": "users", "variables": {"User": null},
        "root": [
            {"id": "in", "type": "HttpEndpoint", "path": "users/{name}", "canStartWorkflow": true},
            {"type": "SendHttpRequest", "method": "POST", "parsedContent": {"var": "User"},
             "url": {"js": format!("`http://{}/calls/${{getOutputFrom('in', 'RouteData').name}}?500,drop,429-1`", service.address)},
             "retry": {"maxAttempts": 10, "delay": "50 ms"}},
            {"type": "WriteHttpResponse", "contentType": "application/json", "content": {"var": "User"}},
        ],
    });
    site.world.sql(&format!("SET ROLE ada; SELECT wf_define($x${definition}$x$)"));
    let database = format!("{} dbname={} user=ada password=lovelace", site.cluster.address(), site.world.database);
    let mut command = Command::new(PROGRAM);
    command.args(["work", "--database", &database, "--breaker-failures", "0"]);
    command.args(["--allow-addresses", &service.address.to_string()]);
    let _worker = Worker(command.spawn().unwrap());
    for (number, name) in ["ada", "ben"].into_iter().enumerate() {
        let answer = send("GET", &format!("{}/users/{name}", site.url(0)), &[], "");
        assert_eq!(answer.ok(), json!({"name": name, "number": number + 1}));
        assert_eq!(answer.headers["content-type"], "application/json");
    }
}
