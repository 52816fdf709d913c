//! A gateway that is stopped while it works.

use std::io::{Read as _, Write as _};
use std::net::TcpStream;

use postgres::Client;
use serde_json::json;

use crate::support::{Answer, NEVER, World, connect, wait_until};

/// Sends, in its own thread, a request that runs until the returned connection ends.
fn waiting_request(world: &World) -> (Client, std::thread::JoinHandle<Result<Answer, ureq::Error>>) {
    let statement = json!({"definitionId": "wait", "root": {"type": "Workflow.Sql", "id": "run", "statement": "SELECT pg_advisory_xact_lock(4711)::text"}});
    world.sql(&format!("SET ROLE ada; SELECT wf_define($x${statement}$x$)"));
    let mut holder = connect(world.server(), &world.database);
    holder.batch_execute("SELECT pg_advisory_lock(4711)").unwrap();
    let (url, key) =
        (format!("{}/elsa/api/workflow-definitions/wait/execute", world.url), format!("ApiKey {}", world.key("ada")));
    let request = std::thread::spawn(move || {
        let agent: ureq::Agent = ureq::Agent::config_builder().timeout_global(Some(NEVER)).build().into();
        let mut answer = agent.post(url).header("Authorization", &key).send_json(json!({}))?;
        let text = answer.body_mut().read_to_string()?;
        Ok(Answer { status: answer.status().as_u16(), headers: answer.headers().clone(), text })
    });
    let waits = "SELECT 'yes' FROM pg_locks JOIN pg_database d ON d.oid = database \
                 WHERE locktype = 'advisory' AND objid = 4711 AND NOT granted AND datname = current_database()";
    wait_until("the request waits for the lock", || world.value(waits).is_some());
    (holder, request)
}

/// The answer on a connection that already existed.
fn readiness(stream: &mut TcpStream) -> String {
    let mut received = [0; 12];
    let sent = stream.write_all(b"GET /readyz HTTP/1.1\r\nHost: x\r\n\r\n");
    let read = sent.and_then(|()| stream.read(&mut received)).unwrap_or(0);
    String::from_utf8_lossy(&received[..read]).into_owned()
}

#[test]
fn what_runs_is_finished_and_nothing_new_begins() {
    let world = World::with(&["--request-seconds", "600", "--stop-seconds", "600"]);
    let address = world.url.trim_start_matches("http://").to_owned();
    let (holder, request) = waiting_request(&world);
    let mut kept = TcpStream::connect(&address).unwrap();
    kept.set_read_timeout(Some(NEVER)).unwrap();
    world.terminate();
    wait_until("no connection is taken", || TcpStream::connect(&address).is_err());
    let ready = readiness(&mut kept);
    assert!(ready.is_empty() || ready == "HTTP/1.1 503", "{ready}");
    drop(holder);
    let answer = request.join().unwrap().unwrap();
    assert_eq!(answer.status, 200, "{answer:?}");
    let finished = world.value("SELECT status FROM workflow.instances");
    assert_eq!(finished.as_deref(), Some("Finished"));
    assert_eq!(world.ended(), Some(0));
}

#[test]
fn it_ends_when_its_time_is_over() {
    let world = World::with(&["--stop-seconds", "1"]);
    let (_holder, request) = waiting_request(&world);
    assert_eq!(world.stop(), Some(0));
    assert!(request.join().unwrap().is_err(), "the client gets no answer where the outcome is not known");
}

#[test]
fn without_work_it_ends_at_once() {
    assert_eq!(World::new().stop(), Some(0));
}
