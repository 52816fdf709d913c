//! Slow clients, and simultaneous identical requests.

use std::io::{Read as _, Write as _};
use std::net::TcpStream;
use std::sync::Barrier;
use std::time::{Duration, Instant};

use serde_json::json;

use crate::pages_inbox::Browser;
use crate::support::{NEVER, World, wait_until};

fn connect(world: &World) -> TcpStream {
    let stream = TcpStream::connect(world.url.trim_start_matches("http://")).unwrap();
    stream.set_read_timeout(Some(NEVER)).unwrap();
    stream
}

/// Everything received until the gateway closes the connection.
fn received(mut stream: TcpStream) -> String {
    let mut all = Vec::new();
    match stream.read_to_end(&mut all) {
        Err(error) if error.kind() == std::io::ErrorKind::WouldBlock => panic!("it is still open"),
        _ => String::from_utf8_lossy(&all).into_owned(),
    }
}

/// Waits until the gateway serves one more connection. One too many is closed at once.
fn wait_for_a_place(world: &World) {
    let address = world.url.trim_start_matches("http://");
    wait_until("there is a place", || {
        let mut stream = connect(world);
        let sent = write!(stream, "GET /readyz HTTP/1.1\r\nHost: {address}\r\nConnection: close\r\n\r\n");
        sent.is_ok() && received(stream).starts_with("HTTP/1.1 200")
    });
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
    // The first request is answered, and the next one never arrives.
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
    wait_for_a_place(&world);
}

#[test]
fn slow_bodies_are_refused_and_their_room_is_given_back() {
    let world = World::with(&["--request-seconds", "5", "--max-body", "1", "--max-memory", "8"]);
    let address = world.url.trim_start_matches("http://");
    let key = world.key("ada");
    for length in ["Content-Length: 1000000", "Transfer-Encoding: chunked"] {
        let mut stream = connect(&world);
        write!(
            stream,
            "POST /elsa/api/workflow-instances HTTP/1.1\r\nHost: {address}\r\nConnection: close\r\nAuthorization: ApiKey {key}\r\n{length}\r\n\r\n"
        )
        .unwrap();
        // Digits are also the beginning of a chunk.
        let answer = trickle(stream, b'0');
        assert!(answer.contains(" 408 ") && answer.contains("came too slowly"), "{length}: {answer}");
    }
    let (ada, whole) = (world.client("ada"), format!("{{\"searchTerm\": \"{}\"}}", "x".repeat(900_000)));
    wait_until("there is room, and time", || ada.send("POST", "/workflow-instances", &whole).status == 200);
}

#[test]
fn bodies_without_a_caller_take_no_room_of_those_with_one() {
    let world = World::with(&["--max-body", "1", "--max-memory", "8"]);
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
    // A client that announces a body and does not send it uses no memory: many of them do not prevent others from
    // logging in.
    let waiting: Vec<TcpStream> = (0..100).map(|_| announce(64 * 1024)).collect();
    let form = [("Sec-Fetch-Site", "same-origin"), ("Content-Type", "application/x-www-form-urlencoded")];
    assert_eq!(world.send("POST", "/login", &form, "role=ada&password=lovelace").status, 303);
    // Received bytes count up to the limit of an address: four of these leave no memory for a fifth. A body that
    // arrives while another request uses the memory does not count, so there may have to be more.
    let mut held = Vec::new();
    let large = format!("role=ada&password=lovelace&next={}", "x".repeat(60_000));
    wait_until("the address has no room", || {
        let mut stream = announce(64 * 1024);
        stream.write_all(&[b'x'; 60_000]).unwrap();
        held.push(stream);
        world.send("POST", "/login", &form, &large).status == 503
    });
    let whole = format!("{{\"searchTerm\": \"{}\"}}", "x".repeat(900_000));
    assert_eq!(world.client("ada").send("POST", "/workflow-instances", &whole).status, 200);
    drop((waiting, held));
}

#[test]
fn http2_is_not_spoken() {
    let world = World::new();
    let preface = b"PRI * HTTP/2.0\r\n\r\nSM\r\n\r\n\x00\x00\x00\x04\x00\x00\x00\x00\x00";
    for size in [preface.len(), 1, 5] {
        let mut stream = connect(&world);
        stream.set_nodelay(true).unwrap();
        for part in preface.chunks(size) {
            if stream.write_all(part).is_err() {
                break;
            }
        }
        assert_eq!(received(stream), "", "it is closed, and says nothing of HTTP/2");
    }
    assert_eq!(world.send("GET", "/readyz", &[], "").status, 200);
}

/// Runs that wait until a lock is released.
#[test]
fn one_user_does_not_take_all_connections() {
    let world = World::with(&["--database-connections", "4"]);
    world.sql(
        r#"CREATE TABLE public.gate (); GRANT SELECT ON public.gate TO ada; SET ROLE ada;
           SELECT wf_define('{"definitionId": "waits", "root": {"type": "Workflow.Sql", "id": "w", "statement": "SELECT count(*) FROM public.gate"}}')"#,
    );
    let (ada, ben) = (world.client("ada"), world.client("ben"));
    let mut lock = crate::support::connect(world.server(), &world.database);
    lock.batch_execute("BEGIN; LOCK TABLE public.gate").unwrap();
    std::thread::scope(|scope| {
        let runs: Vec<_> = (0..8)
            .map(|_| scope.spawn(|| ada.post("/workflow-definitions/waits/execute", &json!({})).status))
            .collect();
        let waiting = "SELECT count(*)::text FROM pg_locks WHERE NOT granted AND relation = 'public.gate'::regclass";
        wait_until("ada has what she may have", || world.value(waiting).as_deref() == Some("3"));
        assert_eq!(ben.get("/workflow-definitions").status, 200);
        assert_eq!(world.send("GET", "/readyz", &[], "").status, 200);
        lock.batch_execute("COMMIT").unwrap();
        let statuses: Vec<u16> = runs.into_iter().map(|run| run.join().unwrap()).collect();
        assert!(statuses.iter().filter(|status| **status == 200).count() >= 3, "{statuses:?}");
    });
}

/// A function that continues when it is cancelled, and a definition of ada's that calls it.
const STUBBORN: &str = r#"
    CREATE FUNCTION public.stubborn() RETURNS void LANGUAGE plpgsql AS $$ BEGIN
        LOOP BEGIN PERFORM pg_sleep(1000); EXCEPTION WHEN query_canceled THEN NULL; END; END LOOP;
    END $$;
    SET ROLE ada;
    SELECT wf_define('{"definitionId": "stubborn", "root": {"type": "Workflow.Sql", "id": "s", "statement": "SELECT public.stubborn()"}}')"#;

const BUSY: &str = "SELECT min(pid)::text FROM pg_stat_activity \
     WHERE datname = current_database() AND usename = 'workflow_gateway' AND wait_event = 'PgSleep'";

#[test]
fn a_statement_that_ignores_being_cancelled_is_ended() {
    let world = World::with(&["--request-seconds", "1", "--database-connections", "2"]);
    world.sql(STUBBORN);
    let ada = world.client("ada");
    for _ in 0..3 {
        assert_eq!(ada.post("/workflow-definitions/stubborn/execute", &json!({})).status, 503);
        wait_until("its backend is gone", || world.value(BUSY).is_none());
    }
    wait_until("there is a connection, and time", || ada.get("/workflow-definitions").status == 200);
}

/// A backend may not even end when it is terminated, as with some code in C. Here its process is stopped.
#[test]
fn a_connection_counts_until_its_backend_is_gone() {
    let world = World::with(&["--request-seconds", "5", "--database-connections", "2"]);
    world.sql(STUBBORN);
    let (ada, ben) = (world.client("ada"), world.client("ben"));
    let signal =
        |name: &str, pid: &str| std::process::Command::new("kill").args([name, pid]).status().unwrap().success();
    let mut stopped = None;
    // On a busy machine a backend may be gone before it is stopped.
    wait_until("a backend is stopped while its request runs", || {
        let pid = std::thread::scope(|scope| {
            let run = scope.spawn(|| ada.post("/workflow-definitions/stubborn/execute", &json!({})).status);
            let mut busy = None;
            wait_until("it runs, or has run", || {
                busy = world.value(BUSY);
                busy.is_some() || run.is_finished()
            });
            let pid = busy.filter(|pid| signal("-STOP", pid));
            assert_eq!(run.join().unwrap(), 503);
            pid
        });
        let lives =
            |pid: &String| world.value(&format!("SELECT pid::text FROM pg_stat_activity WHERE pid = {pid}")).is_some();
        stopped = pid.filter(lives);
        stopped.is_some()
    });
    // What this asks may take longer than a request may.
    wait_until("ada has no connection", || {
        let refused = ada.get("/workflow-definitions");
        assert_eq!(refused.status, 503, "{refused:?}");
        refused.text.contains("that a user may have are in use")
    });
    wait_until("ben has one", || ben.get("/workflow-definitions").status == 200);
    wait_until("there is one for the gateway", || world.send("GET", "/readyz", &[], "").status == 200);
    assert!(signal("-CONT", &stopped.unwrap()));
    wait_until("ada has it again", || ada.get("/workflow-definitions").status == 200);
}

#[test]
fn answers_that_nobody_takes_are_bounded() {
    let world = World::with(&["--max-memory", "128"]);
    world.sql(
        "SET ROLE ada; SELECT wf_define(jsonb_build_object('id', 'large', 'root', jsonb_build_object(
             'id', 'x', 'type', 'WriteLine', 'text', repeat('x', 16000000))))",
    );
    let (address, key) = (world.url.trim_start_matches("http://"), world.key("ada"));
    let unread: Vec<TcpStream> = (0..6)
        .map(|_| {
            let mut stream = connect(&world);
            write!(
                stream,
                "GET /elsa/api/workflow-definitions/by-definition-id/large HTTP/1.1\r\nHost: {address}\r\nAuthorization: ApiKey {key}\r\n\r\n"
            )
            .unwrap();
            stream
        })
        .collect();
    let first = |mut stream: &TcpStream| {
        let mut answer = [0; 12];
        stream.read_exact(&mut answer).unwrap();
        String::from_utf8_lossy(&answer).into_owned()
    };
    let firsts: Vec<String> = unread.iter().map(first).collect();
    assert!(
        firsts.iter().any(|line| line.ends_with("200")) && firsts.iter().any(|line| line.ends_with("503")),
        "{firsts:?}"
    );
    // Their memory is released after they have disconnected.
    drop(unread);
    let ada = world.client("ada");
    wait_until("there is room", || ada.get("/workflow-definitions/by-definition-id/large").status == 200);
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
    let mut taken = None;
    // On a busy machine the answer may come too late, and the place be still taken at the next attempt.
    wait_until("the answer begins", || {
        drop(taken.take());
        let mut stream = connect(&world);
        let sent = write!(
            stream,
            "GET /elsa/api/workflow-definitions/by-definition-id/large HTTP/1.1\r\nHost: {address}\r\nAuthorization: ApiKey {key}\r\n\r\n"
        );
        let mut answer = [0; 12];
        let begins = sent.is_ok() && stream.read_exact(&mut answer).is_ok() && &answer == b"HTTP/1.1 200";
        taken = Some(stream);
        begins
    });
    let mut stream = taken.unwrap();
    // It learns that the connection is closed from what it sends.
    let begun = Instant::now();
    while stream.write_all(b"x").is_ok() {
        assert!(begun.elapsed() < NEVER, "it is still open");
        std::thread::sleep(Duration::from_millis(50));
    }
    wait_for_a_place(&world);
}

/// The answers to this many clients with the same simultaneous request.
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
