//! Gateways and connections that end in the middle of work: each task is taken once, none is lost, and no client is told otherwise.

use std::collections::HashMap;
use std::sync::atomic::{AtomicBool, AtomicUsize, Ordering};
use std::sync::{Mutex, RwLock};
use std::time::Duration;

use serde_json::{Value, json};

use crate::support::{Another, World};

const TASKS: usize = 1000;
const CLIENTS: usize = 8;

/// What a client was told of a completion.
#[derive(Debug, PartialEq)]
enum Told {
    Done,
    /// Another client was first, or an attempt before whose answer was lost.
    Taken,
    /// No answer, or one that says that the gateway does not know.
    Unknown,
}

fn complete(url: &str, key: &str, task: &str, by: &str) -> Told {
    let agent: ureq::Agent = ureq::Agent::config_builder()
        .http_status_as_error(false)
        .timeout_global(Some(Duration::from_secs(20)))
        .build()
        .into();
    let sent = agent
        .post(format!("{url}/elsa/api/tasks/{task}/complete"))
        .header("Authorization", format!("ApiKey {key}"))
        .send_json(json!({"result": {"by": by}}));
    match sent.map(|answer| answer.status().as_u16()) {
        Ok(200..300) => Told::Done,
        Ok(409) => Told::Taken,
        Ok(503) | Err(_) => Told::Unknown,
        Ok(status) => panic!("{status} for {task}"),
    }
}

#[test]
fn completions_survive_the_ends_of_gateways_and_connections() {
    let world = World::new();
    world.sql(&format!(
        "SET ROLE ada; SELECT wf_define('{{\"definitionId\": \"many\", \"root\": {{\"id\": \"t\", \"type\": \"RunTask\", \"taskName\": \"x\"}}}}');
         SELECT wf_start('many') FROM generate_series(1, {TASKS})"
    ));
    let tasks: Vec<String> =
        serde_json::from_str(&world.value("SELECT json_agg(id)::text FROM workflow.tasks").unwrap()).unwrap();
    let key = world.key("ada");
    let gateways: Vec<RwLock<Another>> = (0..3).map(|_| RwLock::new(world.another())).collect();
    let (next, is_over) = (AtomicUsize::new(0), AtomicBool::new(false));
    let done: Mutex<HashMap<String, String>> = Mutex::default();
    let unknown = AtomicUsize::new(0);
    std::thread::scope(|scope| {
        let client = |client: usize| {
            while let Some(task) = tasks.get(next.fetch_add(1, Ordering::Relaxed)) {
                for attempt in 0.. {
                    assert!(attempt < 200, "{task} is never done");
                    let by = format!("{client}-{attempt}");
                    let url = gateways[(client + attempt) % 3].read().unwrap().url.clone();
                    match complete(&url, &key, task, &by) {
                        Told::Done => {
                            assert_eq!(done.lock().unwrap().insert(task.clone(), by), None);
                            break;
                        }
                        Told::Taken => {
                            assert!(attempt > 0, "no other client completes {task}");
                            break;
                        }
                        Told::Unknown => {
                            unknown.fetch_add(1, Ordering::Relaxed);
                            std::thread::sleep(Duration::from_millis(20));
                        }
                    }
                }
            }
        };
        let clients: Vec<_> = (0..CLIENTS).map(|number| scope.spawn(move || client(number))).collect();
        // Ends connections all the time, and a gateway now and then.
        scope.spawn(|| {
            for round in 0.. {
                if is_over.load(Ordering::Relaxed) {
                    break;
                }
                world.sql("SELECT pg_terminate_backend(pid) FROM pg_stat_activity WHERE usename = 'workflow_gateway' AND datname = current_database()");
                if round % 5 == 0 {
                    let mut killed = gateways[round / 5 % 3].write().unwrap();
                    *killed = world.another();
                }
                std::thread::sleep(Duration::from_millis(50));
            }
        });
        for client in clients {
            client.join().unwrap();
        }
        is_over.store(true, Ordering::Relaxed);
    });

    let open = world.value("SELECT count(*)::text FROM workflow.tasks WHERE status <> 'Completed'");
    assert_eq!(open.as_deref(), Some("0"), "none is lost");
    let twice = world.value("SELECT count(*)::text FROM (SELECT FROM workflow.journal WHERE event = 'Workflow finished' GROUP BY instance_id HAVING count(*) <> 1) AS x");
    assert_eq!(twice.as_deref(), Some("0"), "each was taken once");
    let stored = world.value("SELECT json_object_agg(id, result ->> 'by')::text FROM workflow.tasks").unwrap();
    let stored: HashMap<String, Value> = serde_json::from_str(&stored).unwrap();
    for (task, by) in done.into_inner().unwrap() {
        assert_eq!(stored[&task], json!(by), "who is told that he did it has done it");
    }
    assert!(unknown.into_inner() > 0, "something was in the way");
}
