//! Clients that take their time, and those that come twice at once.

use std::io::{Read as _, Write as _};
use std::net::TcpStream;
use std::sync::Barrier;
use std::time::{Duration, Instant};

use serde_json::json;

use crate::pages_inbox::Browser;
use crate::support::{NEVER, World};

fn connect(world: &World) -> TcpStream {
    let stream = TcpStream::connect(world.url.trim_start_matches("http://")).unwrap();
    stream.set_read_timeout(Some(NEVER)).unwrap();
    stream
}

/// What comes until the gateway closes the connection.
fn received(mut stream: TcpStream) -> String {
    let mut all = Vec::new();
    match stream.read_to_end(&mut all) {
        Err(error) if error.kind() == std::io::ErrorKind::WouldBlock => panic!("it is still open"),
        _ => String::from_utf8_lossy(&all).into_owned(),
    }
}

/// Sends a byte now and then, until the gateway closes the connection.
fn trickle(mut stream: TcpStream, byte: u8) -> String {
    let mut writer = stream.try_clone().unwrap();
    let sender = std::thread::spawn(move || {
        while writer.write_all(&[byte]).is_ok() {
            std::thread::sleep(Duration::from_millis(100));
        }
    });
    let mut all = Vec::new();
    let ended = stream.read_to_end(&mut all);
    assert!(!ended.is_err_and(|error| error.kind() == std::io::ErrorKind::WouldBlock), "it is still open");
    let _ = stream.shutdown(std::net::Shutdown::Both);
    sender.join().unwrap();
    String::from_utf8_lossy(&all).into_owned()
}

#[test]
fn slow_headers_keep_nobody_out() {
    let world = World::with(&["--max-connections", "4"]);
    let held = ["", "GET /healthz HTTP/1.1\r\nHost: x", "GET /healthz HTTP/1.1\r\nX: "].map(|begin| {
        let mut stream = connect(&world);
        stream.write_all(begin.as_bytes()).unwrap();
        stream
    });
    // The first request is answered, and the next one does not come.
    let mut kept = connect(&world);
    write!(kept, "GET /healthz HTTP/1.1\r\nHost: x\r\n\r\n").unwrap();
    let mut answer = [0; 12];
    kept.read_exact(&mut answer).unwrap();
    assert_eq!(&answer, b"HTTP/1.1 200");
    assert_eq!(received(connect(&world)), "", "one too many is closed at once");

    let [silent, half, slow] = held;
    std::thread::scope(|scope| {
        for stream in [silent, half, kept] {
            scope.spawn(|| received(stream));
        }
        let answer = trickle(slow, b'x');
        assert!(answer.is_empty() || answer.contains(" 408 "), "{answer}");
    });
    assert_eq!(world.send("GET", "/readyz", &[], "").status, 200);
}

#[test]
fn slow_bodies_are_refused_and_their_room_is_given_back() {
    let world = World::with(&["--request-seconds", "5", "--max-body", "1", "--max-bodies", "1"]);
    let address = world.url.trim_start_matches("http://");
    let key = world.key("ada");
    for length in ["Content-Length: 1000000", "Transfer-Encoding: chunked"] {
        let mut stream = connect(&world);
        write!(
            stream,
            "POST /elsa/api/workflow-instances HTTP/1.1\r\nHost: {address}\r\nConnection: close\r\nAuthorization: ApiKey {key}\r\n{length}\r\n\r\n"
        )
        .unwrap();
        // Digits are the beginning of a chunk, too.
        let answer = trickle(stream, b'0');
        assert!(answer.contains(" 408 ") && answer.contains("came too slowly"), "{length}: {answer}");
    }
    let whole = format!("{{\"searchTerm\": \"{}\"}}", "x".repeat(900_000));
    assert_eq!(world.client("ada").send("POST", "/workflow-instances", &whole).status, 200);
}

#[test]
fn bodies_without_a_caller_take_no_room_of_those_with_one() {
    let world = World::with(&["--max-body", "1", "--max-bodies", "1"]);
    let address = world.url.trim_start_matches("http://");
    let announce = |length: usize| {
        let mut stream = connect(&world);
        let head = format!(
            "POST /login HTTP/1.1\r\nHost: {address}\r\nOrigin: {}\r\nConnection: close\r\nContent-Length: {length}\r\n\r\n",
            world.url
        );
        stream.write_all(head.as_bytes()).unwrap();
        stream
    };
    assert!(received(announce(64 * 1024 + 1)).contains(" 413 "));
    // 64 of them fill the room that they have, and are waited for.
    let waiting: Vec<TcpStream> = (0..64).map(|_| announce(64 * 1024)).collect();
    // One that comes before all of them are there is waited for as well, so each of these waits a little longer than the last.
    let refused = (1..100).find_map(|number| {
        let more = announce(64 * 1024);
        more.set_read_timeout(Some(number * Duration::from_millis(200))).unwrap();
        let mut text = [0; 64];
        let read = std::io::Read::read(&mut &more, &mut text).unwrap_or(0);
        (read > 0).then(|| String::from_utf8_lossy(&text[..read]).into_owned())
    });
    assert!(refused.unwrap().contains(" 503 "));
    let whole = format!("{{\"searchTerm\": \"{}\"}}", "x".repeat(900_000));
    assert_eq!(world.client("ada").send("POST", "/workflow-instances", &whole).status, 200);
    drop(waiting);
}

#[test]
fn a_client_that_takes_nothing_of_its_answer_is_left() {
    let world = World::with(&["--request-seconds", "5", "--max-connections", "1"]);
    // More than the buffers of a connection hold.
    world.sql(
        "SET ROLE ada; SELECT wf_define(jsonb_build_object('id', 'large', 'root', jsonb_build_object(
             'id', 'x', 'type', 'WriteLine', 'text', repeat('x', 16000000))))",
    );
    let (address, key) = (world.url.trim_start_matches("http://"), world.key("ada"));
    let mut stream = connect(&world);
    write!(
        stream,
        "GET /elsa/api/workflow-definitions/by-definition-id/large HTTP/1.1\r\nHost: {address}\r\nAuthorization: ApiKey {key}\r\n\r\n"
    )
    .unwrap();
    let mut answer = [0; 12];
    stream.read_exact(&mut answer).unwrap();
    assert_eq!(&answer, b"HTTP/1.1 200");
    // What it sends tells it when the connection is closed.
    let begun = Instant::now();
    while stream.write_all(b"x").is_ok() {
        assert!(begun.elapsed() < NEVER, "it is still open");
        std::thread::sleep(Duration::from_millis(50));
    }
    assert_eq!(world.send("GET", "/readyz", &[], "").status, 200, "its place is free");
}

/// The answers to so many clients that ask for the same at once.
fn at_once<T: Send>(many: usize, ask: impl Fn() -> T + Sync) -> Vec<T> {
    let (ask, start) = (&ask, &Barrier::new(many));
    std::thread::scope(|scope| {
        let all: Vec<_> = (0..many)
            .map(|_| {
                scope.spawn(move || {
                    start.wait();
                    ask()
                })
            })
            .collect();
        all.into_iter().map(|one| one.join().unwrap()).collect()
    })
}

#[test]
fn of_the_same_at_once_one_counts() {
    let world = World::new();
    world.sql(
        r#"SET ROLE ada; SELECT wf_define('{"definitionId": "once", "root": {"type": "RunTask", "id": "ask", "taskName": "x", "candidates": ["role:ada"]}}')"#,
    );
    let (api, ada) = (world.client("ada"), Browser::ada(&world));
    let count = |statuses: &[u16], status: u16| statuses.iter().filter(|one| **one == status).count();

    let id = uuid::Uuid::now_v7().to_string();
    let begun = at_once(8, || api.post("/workflow-definitions/once/execute", &json!({"instanceId": id})).status);
    let there = world.value("SELECT count(*)::text FROM workflow.instances");
    assert_eq!((count(&begun, 200), there.as_deref()), (8, Some("1")), "who got no answer may ask again: {begun:?}");

    let task = world.value("SELECT task_id::text FROM workflow.open_tasks").unwrap();
    let form = [("do", "complete"), ("as", "json"), ("result", "1")];
    let done = at_once(8, || ada.post(&format!("/inbox/{task}"), &form).status);
    assert_eq!((count(&done, 303), count(&done, 404) + count(&done, 409)), (1, 7), "{done:?}");

    let gone = at_once(8, || api.delete(&format!("/workflow-instances/{id}")).status);
    assert_eq!((count(&gone, 204) + count(&gone, 200), count(&gone, 404)), (1, 7), "{gone:?}");

    let draft =
        json!({"model": {"definitionId": "new", "root": {"type": "Elsa.WriteLine", "id": "w"}}, "publish": true});
    let saved = at_once(8, || api.post("/workflow-definitions", &draft).status);
    let stored =
        world.value("SELECT count(*)::text FROM workflow.definition_list WHERE definition_id = 'new' AND is_published");
    assert!(
        count(&saved, 200) > 0 && saved.iter().all(|status| *status < 500) && stored.as_deref() == Some("1"),
        "{saved:?} {stored:?}"
    );
}
