//! A gateway with its own database, for one test.

use std::io::{BufRead as _, BufReader};
use std::net::TcpListener;
use std::path::{Path, PathBuf};
use std::process::{Child, Command, Output, Stdio};
use std::sync::Once;
use std::sync::atomic::{AtomicU32, Ordering};
use std::thread::JoinHandle;
use std::time::{Duration, Instant};

use postgres::{Client, NoTls};
use serde_json::Value;
use uuid::Uuid;

pub const PROGRAM: &str = env!("CARGO_BIN_EXE_wf");

/// Roles of the cluster that all tests share. `ada` and `ben` may use the extension, and `ada` is a member of `clerks`.
/// `zoe` and the superuser `max` have LOGIN, but may not use the gateway. Gateways with people whom the database does not
/// know have a role of their own, which may put them on record.
const ROLES: &str = "
    SET password_encryption = 'scram-sha-256';
    CREATE ROLE workflow_gateway LOGIN NOINHERIT PASSWORD 'gateway';
    CREATE ROLE ada LOGIN PASSWORD 'lovelace';
    CREATE ROLE ben LOGIN PASSWORD 'franklin';
    CREATE ROLE zoe LOGIN PASSWORD 'zebra';
    CREATE ROLE max SUPERUSER LOGIN PASSWORD 'planck';
    CREATE ROLE clerks;
    GRANT clerks TO ada;
    GRANT ada, ben TO workflow_gateway;
    CREATE ROLE workflow_people LOGIN NOINHERIT PASSWORD 'gateway';
    GRANT ada, ben, clerks TO workflow_people;
    GRANT SET ON PARAMETER workflow.actor TO workflow_people;";

/// The time after which a test stops waiting and fails. It is far longer than anything takes on a slow or busy machine.
pub const NEVER: Duration = Duration::from_secs(600);

/// The gateway logs lines until one says that it listens.
const LISTENING: &str = "listening";

/// A database, a gateway, and API keys of the roles.
pub struct World {
    pub url: String,
    pub database: String,
    server: String,
    folder: PathBuf,
    gateway: Child,
    log: JoinHandle<String>,
}

/// An answer as tests read it.
#[derive(Debug)]
pub struct Answer {
    pub status: u16,
    pub headers: ureq::http::HeaderMap,
    pub text: String,
}

impl Answer {
    /// The body as JSON; fails if it is none.
    pub fn json(&self) -> Value {
        serde_json::from_str(&self.text).unwrap_or_else(|error| panic!("{error}: {self:?}"))
    }

    /// The body of an answer that must be successful.
    pub fn ok(&self) -> Value {
        assert!((200..300).contains(&self.status), "{self:?}");
        if self.text.is_empty() { Value::Null } else { self.json() }
    }

    /// The messages of an answer that must have failed with this status.
    pub fn errors(&self, status: u16) -> Vec<String> {
        assert_eq!(self.status, status, "{self:?}");
        let body = self.json();
        let texts = body["errors"]["generalErrors"].as_array().expect("Elsa's form of an error");
        texts.iter().map(|text| text.as_str().expect("a text").to_owned()).collect()
    }
}

impl World {
    /// A new database with the extension, in which `ada`, `ben` and `clerks` may use it.
    pub fn new() -> Self {
        Self::with(&[])
    }

    /// The same, with options for the gateway.
    pub fn with(options: &[&str]) -> Self {
        let server = shared_server();
        static ROLES_ARE_THERE: Once = Once::new();
        ROLES_ARE_THERE.call_once(|| create_roles(&server));
        Self::on(&server, options)
    }

    /// The same, on a server that has the roles and the template.
    pub fn on(server: &str, options: &[&str]) -> Self {
        let id = Uuid::now_v7().simple().to_string();
        let database = format!("gateway_{id}");
        connect(server, "postgres")
            .batch_execute(&format!("CREATE DATABASE {database} TEMPLATE workflow_template"))
            .expect("a new database");
        let folder = std::env::temp_dir().join(&database);
        std::fs::create_dir(&folder).expect("a folder for the keys");
        let Started { process: gateway, url, log } = start(server, &database, &folder, options);
        let world = Self { url, database, server: server.to_owned(), folder, gateway, log };
        world.sql("SELECT wf_grant_usage('ada'), wf_grant_usage('ben'), wf_grant_usage('clerks')");
        world
    }

    /// Runs SQL as the superuser, in the database of this world.
    pub fn sql(&self, text: &str) {
        connect(&self.server, &self.database).batch_execute(text).unwrap_or_else(|error| panic!("{error:?} in {text}"));
    }

    /// The first column of the first row as text, read by the superuser.
    pub fn value(&self, query: &str) -> Option<String> {
        let row =
            connect(&self.server, &self.database).query_opt(query, &[]).unwrap_or_else(|error| panic!("{error:?}"));
        row.and_then(|row| row.get(0))
    }

    /// Connection options without a role and a database.
    pub fn server(&self) -> &str {
        &self.server
    }

    /// A new API key of a role.
    pub fn key(&self, role: &str) -> String {
        self.key_with_note(role, "")
    }

    /// The same, with a note of who it is for.
    pub fn key_with_note(&self, role: &str, note: &str) -> String {
        self.key_with(role, &["--note", note])
    }

    /// The same, with options of `wf key add`.
    pub fn key_with(&self, role: &str, options: &[&str]) -> String {
        let made = Command::new(PROGRAM)
            .args(["key", "add", "--role", role])
            .args(options)
            .arg("--api-keys")
            .arg(self.folder.join("keys.toml"))
            .output()
            .expect("a key");
        assert!(made.status.success(), "{made:?}");
        String::from_utf8(made.stdout).expect("text").trim().to_owned()
    }

    /// Removes all keys from the key file.
    pub fn forget_keys(&self) {
        std::fs::write(self.folder.join("keys.toml"), "").expect("a file of keys");
    }

    /// A client that sends requests below `/elsa/api` with a key of the role.
    pub fn client(&self, role: &str) -> Api {
        self.client_with(self.key(role))
    }

    /// The same with a given key.
    pub fn client_with(&self, key: String) -> Api {
        Api { base: format!("{}/elsa/api", self.url), key }
    }

    /// Sends any request and accepts any answer; redirects are not followed.
    pub fn send(&self, method: &str, path: &str, headers: &[(&str, &str)], body: &str) -> Answer {
        send(method, &format!("{}{path}", self.url), headers, body)
    }

    /// All routes of the gateway, as `METHOD /path`.
    pub fn routes(&self) -> Vec<String> {
        let listed = Command::new(PROGRAM).arg("routes").output().expect("the routes");
        String::from_utf8(listed.stdout).expect("text").lines().map(str::to_owned).collect()
    }

    /// Memory of the gateway in KiB.
    pub fn memory(&self) -> u64 {
        memory_of(&self.gateway)
    }

    /// One more gateway in front of the same database, with the same keys.
    pub fn another(&self) -> Another {
        self.another_with(&[])
    }

    /// The same, with options.
    pub fn another_with(&self, options: &[&str]) -> Another {
        self.another_at(&self.server, options)
    }

    /// The same, with other connection options for the server.
    pub fn another_at(&self, server: &str, options: &[&str]) -> Another {
        let Started { process, url, log } = start(server, &self.database, &self.folder, options);
        Another { url, process, log }
    }

    /// The folder for files of this test.
    pub fn folder(&self) -> &Path {
        &self.folder
    }

    /// Stops the gateway as systemd does.
    pub fn terminate(&self) {
        let pid = self.gateway.id().to_string();
        assert!(Command::new("kill").arg(pid).status().expect("kill").success());
    }

    /// The same, and returns its exit code.
    pub fn stop(self) -> Option<i32> {
        self.terminate();
        self.ended()
    }

    /// The exit code of a gateway that ends.
    pub fn ended(mut self) -> Option<i32> {
        let mut status = None;
        wait_until("the gateway has ended", || {
            status = self.gateway.try_wait().expect("the state of the gateway");
            status.is_some()
        });
        status.and_then(|status| status.code())
    }

    /// Stops the gateway, and returns its whole log.
    pub fn into_log(mut self) -> String {
        self.gateway.kill().expect("the gateway runs");
        take_log(&mut self.log)
    }
}

impl Drop for World {
    fn drop(&mut self) {
        let _ = self.gateway.kill();
        let _ = self.gateway.wait();
        let _ = std::fs::remove_dir_all(&self.folder);
        let drop = format!("DROP DATABASE IF EXISTS {} WITH (FORCE)", self.database);
        // After a failed test there may be no server any more.
        if let Ok(mut client) = try_connect(&self.server, "postgres") {
            // Nor a standby for which it would wait.
            let _ = client.batch_execute("SET synchronous_commit = local");
            let _ = client.batch_execute(&drop);
        }
    }
}

/// Another gateway for the database of a world.
pub struct Another {
    pub url: String,
    process: Child,
    log: JoinHandle<String>,
}

impl Another {
    /// Its memory in KiB.
    #[allow(dead_code, reason = "only tests of requests that wait measure it")]
    pub fn memory(&self) -> u64 {
        memory_of(&self.process)
    }

    /// Stops it, and returns its whole log.
    pub fn into_log(mut self) -> String {
        self.process.kill().expect("the gateway runs");
        take_log(&mut self.log)
    }
}

impl Drop for Another {
    fn drop(&mut self) {
        let _ = self.process.kill();
        let _ = self.process.wait();
    }
}

/// Memory of a process in KiB.
fn memory_of(process: &Child) -> u64 {
    let status = std::fs::read_to_string(format!("/proc/{}/status", process.id())).expect("its status");
    let line = status.lines().find_map(|line| line.strip_prefix("VmRSS:")).expect("its memory");
    line.trim().trim_end_matches(" kB").parse().expect("a number")
}

/// Requests below `/elsa/api` with an API key.
pub struct Api {
    base: String,
    key: String,
}

impl Api {
    pub fn get(&self, path: &str) -> Answer {
        self.send("GET", path, "")
    }

    pub fn delete(&self, path: &str) -> Answer {
        self.send("DELETE", path, "")
    }

    pub fn post(&self, path: &str, body: &Value) -> Answer {
        self.send("POST", path, &body.to_string())
    }

    /// The body of an answer that is not text.
    pub fn bytes(&self, method: &str, path: &str, body: &str) -> Vec<u8> {
        let key = format!("ApiKey {}", self.key);
        let headers = [("Authorization", key.as_str()), ("Content-Type", "application/json")];
        send_for_bytes(method, &format!("{}{path}", self.base), &headers, body)
    }

    pub fn send(&self, method: &str, path: &str, body: &str) -> Answer {
        let key = format!("ApiKey {}", self.key);
        send(
            method,
            &format!("{}{path}", self.base),
            &[("Authorization", &key), ("Content-Type", "application/json")],
            body,
        )
    }
}

/// Sends a request, and returns the unchanged body of an answer that must be successful.
fn send_for_bytes(method: &str, url: &str, headers: &[(&str, &str)], body: &str) -> Vec<u8> {
    let mut request = ureq::http::Request::builder().method(method).uri(url);
    for (name, value) in headers {
        request = request.header(*name, *value);
    }
    let request = request.body(body.to_owned()).expect("a request");
    let agent: ureq::Agent = ureq::Agent::config_builder().timeout_global(Some(NEVER)).build().into();
    let mut response = agent.run(request).unwrap_or_else(|error| panic!("{method} {url}: {error}"));
    response.body_mut().read_to_vec().expect("an answer")
}

/// The log of a gateway that ends.
fn take_log(log: &mut JoinHandle<String>) -> String {
    std::mem::replace(log, std::thread::spawn(String::new)).join().expect("its log")
}

/// Sends any request and accepts any answer; redirects are not followed.
pub fn send(method: &str, url: &str, headers: &[(&str, &str)], body: &str) -> Answer {
    let agent: ureq::Agent = ureq::Agent::config_builder()
        .http_status_as_error(false)
        .max_redirects(0)
        .allow_non_standard_methods(true)
        .timeout_global(Some(NEVER))
        .build()
        .into();
    send_with(&agent, method, url, headers, body)
}

/// The same with a client that knows which authorities to trust.
pub fn send_with(agent: &ureq::Agent, method: &str, url: &str, headers: &[(&str, &str)], body: &str) -> Answer {
    let mut request = ureq::http::Request::builder().method(method).uri(url);
    for (name, value) in headers {
        request = request.header(*name, *value);
    }
    let request = request.body(body.to_owned()).expect("a request");
    let mut response = agent.run(request).unwrap_or_else(|error| panic!("{method} {url}: {error}"));
    let text = response.body_mut().with_config().limit(64 << 20).read_to_vec().expect("an answer");
    let text = String::from_utf8_lossy(&text).into_owned();
    Answer { status: response.status().as_u16(), headers: response.headers().clone(), text }
}

/// Tests run at the same time, also in several processes, so the roles may exist already.
pub fn create_roles(server: &str) {
    let mut client = connect(server, "postgres");
    client.batch_execute("SELECT pg_advisory_lock(7)").expect("a lock");
    let known = client.query_opt("SELECT FROM pg_roles WHERE rolname = 'workflow_gateway'", &[]).expect("the roles");
    if known.is_none() {
        client.batch_execute(ROLES).expect("new roles");
    }
}

/// Connection options for the server that all tests share.
pub fn shared_server() -> String {
    std::env::var("WORKFLOW_TEST_SERVER")
        .expect("WORKFLOW_TEST_SERVER says how to reach a server for tests; `make test T=gateway` sets it")
}

/// A superuser's connection.
pub fn connect(server: &str, database: &str) -> Client {
    try_connect(server, database).expect("a connection to the test server")
}

fn try_connect(server: &str, database: &str) -> Result<Client, postgres::Error> {
    Client::connect(&format!("{server} user=postgres dbname={database}"), NoTls)
}

/// Waits until a condition holds. A test that would wait for ever fails with `what`.
pub fn wait_until(what: &str, mut is_so: impl FnMut() -> bool) {
    let begun = Instant::now();
    while !is_so() {
        assert!(begun.elapsed() < NEVER, "not yet so: {what}");
        std::thread::sleep(Duration::from_millis(10));
    }
}

/// The output of a program that must end on its own.
pub fn output(command: &mut Command) -> Output {
    let mut running =
        command.stdin(Stdio::null()).stdout(Stdio::piped()).stderr(Stdio::piped()).spawn().expect("it starts");
    let begun = Instant::now();
    while running.try_wait().expect("its state").is_none() {
        if begun.elapsed() > NEVER {
            let _ = running.kill();
            panic!("{command:?} goes on: {:?}", running.wait_with_output());
        }
        std::thread::sleep(Duration::from_millis(5));
    }
    running.wait_with_output().expect("what it has said")
}

/// A port of this machine that was free a moment ago. It is none of those that the operating system gives to outgoing
/// connections, and each call gives another one, so that it is most likely still free when a program listens there.
pub fn free_port() -> u16 {
    const FIRST: u32 = 10_000;
    const NUMBER: u32 = 20_000;
    static CALLS: AtomicU32 = AtomicU32::new(0);
    let begin = std::process::id().wrapping_mul(997) % NUMBER;
    loop {
        let at = begin + CALLS.fetch_add(1, Ordering::Relaxed);
        let port = u16::try_from(FIRST + at % NUMBER).expect("a port");
        if TcpListener::bind(("127.0.0.1", port)).is_ok() {
            return port;
        }
    }
}

/// A listening gateway.
struct Started {
    process: Child,
    url: String,
    /// Returns its whole log when it has ended.
    log: JoinHandle<String>,
}

/// Starts a gateway on a free port, and waits until it listens.
fn start(server: &str, database: &str, folder: &Path, options: &[&str]) -> Started {
    let address = format!("127.0.0.1:{}", free_port());
    let user = if options.contains(&"--person-role") { "workflow_people" } else { "workflow_gateway" };
    let keys = folder.join("keys.toml");
    std::fs::OpenOptions::new().create(true).append(true).open(&keys).expect("a file of keys");
    let mut process = Command::new(PROGRAM)
        .args(["serve", "--listen", &address, "--api-keys"])
        .arg(&keys)
        .args(["--database", &format!("{server} dbname={database} user={user} password=gateway")])
        .args(options)
        .stderr(Stdio::piped())
        .spawn()
        .expect("the gateway starts");
    let mut log = BufReader::new(process.stderr.take().expect("its log"));
    let mut said = String::new();
    while !said.contains(LISTENING) {
        assert!(log.read_line(&mut said).expect("a line") > 0, "the gateway has ended: {said}");
    }
    // Its later output is read, so that it can continue.
    let log = std::thread::spawn(move || {
        let mut line = String::new();
        while log.read_line(&mut line).is_ok_and(|length| length > 0) {
            eprint!("{line}");
            said += &std::mem::take(&mut line);
        }
        said
    });
    let scheme = if options.contains(&"--tls-certificate") { "https" } else { "http" };
    Started { process, url: format!("{scheme}://{address}"), log }
}
