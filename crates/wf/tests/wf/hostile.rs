//! Hostile requests.

use std::io::{Read as _, Write as _};
use std::net::TcpStream;

use crate::support::{NEVER, World, wait_until};

const REQUESTS: usize = 10_000;
/// How much more memory the gateway may have after them than before, in KiB.
const MEMORY: u64 = 40 * 1024;

/// Parts that break parsers, used in turn for each segment, parameter, header and body.
const PARTS: &[&str] = &[
    "",
    "x",
    "-1",
    "0",
    "99999999999999999999",
    "1e400",
    "null",
    "%00",
    "%ff",
    "..%2f..%2fetc%2fpasswd",
    "'; DROP TABLE x; --",
    "%F0%9F%92%A3",
    "00000000-0000-7000-8000-000000000000",
    "not-a-uuid",
    "[]",
    "{}",
    "{\"a\":",
    "[[[[[[[[[[",
    "\"\\ud800\"",
    "{\"id\":{\"id\":{}}}",
    "{\"ids\":[1,null,{}]}",
    "{\"model\":7}",
    "{\"page\":-5,\"pageSize\":1e9}",
    "{\"filter\":\"x\"}",
    "True",
    "\u{202e}",
];

/// A deterministic generator of numbers.
struct Numbers(u64);

impl Numbers {
    fn below(&mut self, bound: usize) -> usize {
        self.0 = self.0.wrapping_mul(6_364_136_223_846_793_005).wrapping_add(1_442_695_040_888_963_407);
        usize::try_from(self.0 >> 33).unwrap() % bound
    }

    fn part(&mut self) -> &'static str {
        PARTS[self.below(PARTS.len())]
    }
}

/// The route with values for its parameters, and a query.
fn path(route: &str, numbers: &mut Numbers) -> String {
    let segments: Vec<&str> =
        route.split('/').map(|part| if part.starts_with('{') { numbers.part() } else { part }).collect();
    let mut path = segments.join("/").replace([' ', '"', '<', '\u{202e}'], "+");
    if numbers.below(2) == 0 {
        let names = [
            "Page",
            "PageSize",
            "versionOptions",
            "OrderBy",
            "Ids",
            "DefinitionIds",
            "SearchTerm",
            "skip",
            "take",
            "id",
            "name",
        ];
        path += &format!(
            "?{}={}",
            names[numbers.below(names.len())],
            numbers.part().replace([' ', '"', '<', '\u{202e}'], "+")
        );
    }
    path
}

/// The first line of the answer to arbitrary bytes; none if the connection was closed.
fn answer(address: &str, request: &[u8]) -> Option<String> {
    let mut stream = TcpStream::connect(address).unwrap();
    stream.set_read_timeout(Some(NEVER)).unwrap();
    // The gateway may refuse it before it has read everything.
    let _ = stream.write_all(request);
    first_line(&stream)
}

fn first_line(mut stream: &TcpStream) -> Option<String> {
    let mut received = [0; 64];
    let length = stream.read(&mut received).unwrap_or(0);
    (length > 0).then(|| String::from_utf8_lossy(&received[..length]).lines().next().unwrap_or_default().to_owned())
}

#[test]
fn hostile_requests_are_answered_and_cost_nothing() {
    let world = World::new();
    let routes = world.routes();
    let (address, key) = (world.url.trim_start_matches("http://").to_owned(), world.key("ada"));
    let numbers = &mut Numbers(17);
    let mut before = 0;
    for number in 0..REQUESTS {
        if number == REQUESTS / 10 {
            before = world.memory();
        }
        let (method, route) = routes[numbers.below(routes.len())].split_once(' ').unwrap();
        // One request in ten has another method than its route.
        let method =
            if numbers.below(10) == 0 { ["PUT", "PATCH", "OPTIONS", "HEAD", "BREW"][numbers.below(5)] } else { method };
        let body = numbers.part().repeat(1 + numbers.below(50));
        let length = if numbers.below(20) == 0 { numbers.part().to_owned() } else { body.len().to_string() };
        let odd = numbers.part().replace(['\r', '\n'], "");
        let request = format!(
            "{method} {} HTTP/1.1\r\nHost: {address}\r\nConnection: close\r\nAuthorization: ApiKey {key}\r\nSec-Fetch-Site: same-origin\r\n\
             Content-Type: application/json\r\nX-Odd: {odd}\r\nContent-Length: {length}\r\n\r\n{body}",
            path(route, numbers)
        );
        let answer = answer(&address, request.as_bytes());
        let is_failure = answer.as_deref().is_some_and(|line| line.contains(" 500 "));
        assert!(!is_failure, "request {number}: {request}");
    }
    assert!(world.memory() < before + MEMORY, "{} KiB, before {before} KiB", world.memory());
    assert_eq!(world.send("GET", "/readyz", &[], "").status, 200);
}

#[test]
fn bounds_hold() {
    let world = World::with(&["--max-body", "1", "--max-memory", "8"]);
    let (address, key) = (world.url.trim_start_matches("http://").to_owned(), world.key("ada"));
    let request = |headers: &str, body: &str| {
        format!(
            "POST /elsa/api/tests/activities HTTP/1.1\r\nHost: {address}\r\nConnection: close\r\nAuthorization: ApiKey {key}\r\n\
             {headers}\r\n\r\n{body}"
        )
    };
    let status = |request: String| answer(&address, request.as_bytes()).unwrap_or_default();
    let large = "x".repeat(2 << 20);
    assert!(status(request("Content-Length: 2000000", "")).contains(" 413 "), "before the body is read");
    // Requests without a caller cannot use up the memory of others.
    let stranger = |headers: &str, body: &str| {
        let first =
            format!("POST /login HTTP/1.1\r\nHost: {address}\r\nConnection: close\r\nSec-Fetch-Site: same-origin");
        status(format!("{first}\r\nContent-Type: application/x-www-form-urlencoded\r\n{headers}\r\n\r\n{body}"))
    };
    assert!(stranger("Content-Length: 65537", "").contains(" 413 "), "before the body is read");
    let part = "x".repeat(70_000);
    assert!(
        stranger("Transfer-Encoding: chunked", &format!("{:x}\r\n{part}\r\n0\r\n\r\n", part.len())).contains(" 413 ")
    );
    assert!(stranger("Content-Length: 60000", &part[..60_000]).contains(" 401 "));
    let chunked = request("Transfer-Encoding: chunked", &format!("{:x}\r\n{large}\r\n0\r\n\r\n", large.len()));
    assert!(status(chunked).contains(" 413 "));
    let many: String = (0..300).map(|number| format!("X-{number}: x\r\n")).collect();
    assert!(status(request(many.trim_end(), "")).contains(" 431 "));
    // The rest is not read, so the answer may be lost with the connection.
    let long = status(request(&format!("X-Long: {}", "x".repeat(1_000_000)), ""));
    assert!(long.is_empty() || long.contains(" 431 "), "{long}");
    // The received part of a body counts: two unfinished bodies use up the limit of one user. A body that arrives while
    // another request uses the memory does not count, so there may have to be more.
    let half = request("Content-Length: 1000000", &"x".repeat(950_000));
    let mut held = Vec::new();
    let whole = format!("{{\"searchTerm\": \"{}\"}}", "x".repeat(900_000));
    let ada = world.client("ada");
    wait_until("ada has no room", || {
        let mut stream = TcpStream::connect(&address).unwrap();
        stream.write_all(half.as_bytes()).unwrap();
        held.push(stream);
        ada.send("POST", "/workflow-instances", &whole).status == 503
    });
    assert_eq!(world.client("ben").send("POST", "/workflow-instances", &whole).status, 200, "another user has room");
    drop(held);
    wait_until("ada has room again", || ada.send("POST", "/workflow-instances", &whole).status == 200);
}

/// A few bytes of JSON can decode to a large value.
#[test]
fn what_a_body_decodes_to_is_bounded() {
    let world = World::with(&["--max-memory", "64"]);
    let ada = world.client("ada");
    ada.get("/workflow-definitions").ok();
    let before = world.memory();
    let zeros = format!("{{\"filter\": [{}0]}}", "0,".repeat(2_500_000));
    for _ in 0..3 {
        let refused = ada.send("POST", "/workflow-instances", &zeros);
        assert_eq!(refused.errors(413), ["the request or its answer takes more memory than a user may hold"]);
    }
    assert!(world.memory() < before + MEMORY, "{} KiB, before {before} KiB", world.memory());
}
