//! Gateways, connections and servers that end in the middle of work: each task is completed once, none is lost, and no
//! client is told otherwise.

use std::collections::HashMap;
use std::os::unix::net::UnixListener;
use std::sync::atomic::{AtomicBool, AtomicUsize, Ordering};
use std::sync::{Mutex, RwLock};
use std::time::{Duration, Instant};

use serde_json::{Value, json};

use crate::cluster::Cluster;
use crate::support::{Another, NEVER, World, connect, send, wait_until};

const CLIENTS: usize = 8;
const FORM: &[(&str, &str)] =
    &[("Sec-Fetch-Site", "same-origin"), ("Content-Type", "application/x-www-form-urlencoded")];

/// The reply that a client got to a completion.
#[derive(Debug, PartialEq)]
enum CompletionReply {
    Done,
    /// Another client was first, or an earlier attempt whose answer was lost.
    Taken,
    /// The gateway could not try it.
    NotDone,
    /// No answer, or one that says that the gateway does not know.
    Unknown,
}

fn complete(url: &str, key: &str, task: &str, by: &str) -> CompletionReply {
    let agent: ureq::Agent = ureq::Agent::config_builder()
        .http_status_as_error(false)
        .timeout_global(Some(Duration::from_secs(20)))
        .build()
        .into();
    let sent = agent
        .post(format!("{url}/elsa/api/tasks/{task}/complete"))
        .header("Authorization", format!("ApiKey {key}"))
        .send_json(json!({"result": {"by": by}}));
    let Ok(mut answer) = sent else { return CompletionReply::Unknown };
    let text = answer.body_mut().read_to_string();
    match (answer.status().as_u16(), text) {
        (200..300, _) => CompletionReply::Done,
        (409, _) => CompletionReply::Taken,
        (503, Ok(text)) if !text.contains("is not known") => CompletionReply::NotDone,
        (503, _) => CompletionReply::Unknown,
        (status, text) => panic!("{status} for {task}: {text:?}"),
    }
}

/// Tells the other threads that one has failed: they would wait for its work for ever.
struct Failing<'a>(&'a AtomicBool);

impl Drop for Failing<'_> {
    fn drop(&mut self) {
        if std::thread::panicking() {
            self.0.store(true, Ordering::Relaxed);
        }
    }
}

/// Tasks that clients complete, each client its own.
struct Workload {
    tasks: Vec<String>,
    key: String,
    next: AtomicUsize,
    has_failed: AtomicBool,
    /// The client whose completion of each task was confirmed.
    done: Mutex<HashMap<String, String>>,
    /// Number of unexpected answers.
    failures: AtomicUsize,
}

impl Workload {
    fn new(world: &World, tasks: usize) -> Self {
        world.sql(&format!(
            "SET ROLE ada; SELECT wf_define('{{\"definitionId\": \"many\", \"root\": {{\"id\": \"t\", \"type\": \"RunTask\", \"taskName\": \"x\"}}}}');
             SELECT wf_start('many') FROM generate_series(1, {tasks})"
        ));
        let tasks = world.value("SELECT json_agg(id)::text FROM workflow.tasks").unwrap();
        Self {
            tasks: serde_json::from_str(&tasks).unwrap(),
            key: world.key("ada"),
            next: AtomicUsize::new(0),
            has_failed: AtomicBool::new(false),
            done: Mutex::default(),
            failures: AtomicUsize::new(0),
        }
    }

    /// Runs a client until no task is left. `url` returns the gateway's URL for an attempt.
    fn client(&self, client: usize, url: impl Fn(usize) -> String) {
        let _failing = Failing(&self.has_failed);
        while let Some(task) = self.tasks.get(self.next.fetch_add(1, Ordering::Relaxed)) {
            let (mut may_be_done, begun) = (false, Instant::now());
            for attempt in 0.. {
                assert!(begun.elapsed() < NEVER, "{task} is never done");
                assert!(!self.has_failed(), "another client has failed, or what disturbs them");
                let by = format!("{client}-{attempt}");
                match complete(&url(attempt), &self.key, task, &by) {
                    CompletionReply::Done => {
                        assert_eq!(self.done.lock().unwrap().insert(task.clone(), by), None);
                        break;
                    }
                    CompletionReply::Taken => {
                        assert!(may_be_done, "no other client completes {task}, and none was told that it may be done");
                        break;
                    }
                    reply => {
                        may_be_done |= reply == CompletionReply::Unknown;
                        self.failures.fetch_add(1, Ordering::Relaxed);
                        std::thread::sleep(Duration::from_millis(20));
                    }
                }
            }
        }
    }

    /// Runs all clients, and `disturb` at the same time.
    fn run(&self, url: impl Fn(usize) -> String + Copy + Send + Sync, disturb: impl FnOnce() + Send) {
        std::thread::scope(|scope| {
            let disturbance = scope.spawn(|| {
                let _failing = Failing(&self.has_failed);
                disturb();
            });
            let clients: Vec<_> = (0..CLIENTS)
                .map(|number| scope.spawn(move || self.client(number, |attempt| url(number + attempt))))
                .collect();
            for client in clients {
                client.join().unwrap();
            }
            disturbance.join().unwrap();
        });
    }

    /// Waits until the clients have reached this part of the tasks.
    fn wait_for(&self, part: usize, of: usize) {
        wait_until("a part of the tasks is done", || {
            assert!(!self.has_failed(), "a client has failed");
            self.next.load(Ordering::Relaxed) >= self.tasks.len() * part / of
        });
    }

    fn is_over(&self) -> bool {
        self.has_failed() || self.next.load(Ordering::Relaxed) >= self.tasks.len()
    }

    fn has_failed(&self) -> bool {
        self.has_failed.load(Ordering::Relaxed)
    }

    /// Checks that the database agrees with the clients' replies.
    fn check(self, world: &World) {
        let open = world.value("SELECT count(*)::text FROM workflow.tasks WHERE status <> 'Completed'");
        assert_eq!(open.as_deref(), Some("0"), "none is lost");
        let finished = world.value("SELECT count(*)::text FROM workflow.instances WHERE status = 'Finished'").unwrap();
        assert_eq!(finished, self.tasks.len().to_string(), "none is lost");
        let twice = world.value("SELECT count(*)::text FROM (SELECT FROM workflow.journal WHERE event = 'Workflow finished' GROUP BY instance_id HAVING count(*) <> 1) AS x");
        assert_eq!(twice.as_deref(), Some("0"), "each was taken once");
        let stored = world.value("SELECT json_object_agg(id, result ->> 'by')::text FROM workflow.tasks").unwrap();
        let stored: HashMap<String, Value> = serde_json::from_str(&stored).unwrap();
        for (task, by) in self.done.into_inner().unwrap() {
            assert_eq!(stored[&task], json!(by), "who is told that he did it has done it");
        }
        assert!(self.failures.into_inner() > 0, "something was in the way");
    }
}

#[test]
fn completions_survive_the_ends_of_gateways_and_connections() {
    let world = World::new();
    let workload = Workload::new(&world, 1000);
    let gateways: Vec<RwLock<Another>> = (0..3).map(|_| RwLock::new(world.another())).collect();
    let url = |number: usize| gateways[number % 3].read().unwrap().url.clone();
    // Ends connections continuously, and a gateway now and then.
    workload.run(url, || {
        for round in 0.. {
            if workload.is_over() {
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
    workload.check(&world);
}

/// Ends the connections that read, or have read. A connection that is still being established is established once.
const END_READS: &str = "\
    SELECT count(pg_terminate_backend(pid))::text FROM pg_stat_activity \
    WHERE usename = 'workflow_gateway' AND datname = current_database() \
      AND (query LIKE 'BEGIN%' OR query LIKE '%wf_set_role%' OR query LIKE '%definition_list%' OR query LIKE 'RESET ALL%')";

#[test]
fn reads_are_tried_again_where_connections_end() {
    let world = World::new();
    world.sql("SET ROLE ada; SELECT wf_define('{\"id\": \"read\", \"root\": []}')");
    let (ada, is_over, answers) = (world.client("ada"), AtomicBool::new(false), AtomicUsize::new(0));
    std::thread::scope(|scope| {
        let _failing = Failing(&is_over);
        scope.spawn(|| {
            let _failing = Failing(&is_over);
            while !is_over.load(Ordering::Relaxed) {
                let answer = ada.get("/workflow-definitions");
                assert!(answer.status == 200 && answer.text.contains("\"read\""), "{answer:?}");
                answers.fetch_add(1, Ordering::Relaxed);
            }
        });
        let mut ended = 0;
        while ended < 10 && !is_over.load(Ordering::Relaxed) {
            // A read gives up if its connection ends at each attempt, so the next one waits for an answer.
            let before = answers.load(Ordering::Relaxed);
            wait_until("the reader has an answer", || {
                answers.load(Ordering::Relaxed) > before || is_over.load(Ordering::Relaxed)
            });
            ended += world.value(END_READS).unwrap().parse::<usize>().unwrap();
        }
        is_over.store(true, Ordering::Relaxed);
    });
}

#[test]
fn completions_survive_restarts_of_the_server() {
    let cluster = Cluster::new("local all all scram-sha-256", &[]);
    let world = World::on(&cluster.address(), &[]);
    let workload = Workload::new(&world, 400);
    workload.run(
        |_| world.url.clone(),
        || {
            for (part, mode) in ["fast", "immediate"].into_iter().enumerate() {
                workload.wait_for(part + 1, 3);
                cluster.stop(mode);
                assert_eq!(world.send("GET", "/readyz", &[], "").status, 503);
                assert_eq!(world.send("GET", "/healthz", &[], "").status, 200);
                cluster.start();
            }
        },
    );
    workload.check(&world);
    assert_eq!(world.send("GET", "/readyz", &[], "").status, 200);
}

#[test]
fn a_log_in_without_a_server_is_no_wrong_password() {
    let cluster = Cluster::new("local all all scram-sha-256", &[]);
    let world = World::on(&cluster.address(), &[]);
    // An address has twenty log-ins, and one more every three seconds.
    let log_in = || {
        let mut answer = None;
        wait_until("a log-in is tried", || {
            let one = world.send("POST", "/login", FORM, "role=ada&password=lovelace");
            let is_tried = one.status != 429;
            answer = Some(one);
            is_tried
        });
        answer.unwrap()
    };
    // The server accepts no new session, and continues the open ones.
    let _held = connect(&cluster.address(), "postgres");
    cluster.begin_to_stop();
    let mut refused = log_in();
    wait_until("the server takes no session", || {
        refused = log_in();
        refused.status != 303
    });
    assert!(refused.status == 503 && refused.headers.contains_key("retry-after"), "{refused:?}");
    cluster.stop("fast");
    let away = log_in();
    assert!(away.status == 503 && away.headers.contains_key("retry-after"), "{away:?}");
    cluster.start();
    assert_eq!(log_in().status, 303);
}

#[test]
fn a_standby_takes_over_without_a_restart_of_the_gateway() {
    let first = Cluster::new("local all all scram-sha-256", &[]);
    let second = first.standby();
    first.wait_until("SELECT count(*) = 1 FROM pg_stat_replication WHERE state = 'streaming'");
    // Whatever a client was told is on both servers.
    first.sql("ALTER SYSTEM SET synchronous_standby_names = '*'");
    first.sql("SELECT pg_reload_conf()");
    first.wait_until("SELECT count(*) = 1 FROM pg_stat_replication WHERE sync_state = 'sync'");
    let hosts =
        format!("host={},{} target_session_attrs=read-write", first.folder().display(), second.folder().display());
    let world = World::on(&hosts, &[]);
    let workload = Workload::new(&world, 300);
    workload.run(
        |_| world.url.clone(),
        || {
            workload.wait_for(1, 3);
            first.stop("immediate");
            assert_eq!(world.send("GET", "/readyz", &[], "").status, 503, "a standby takes no writes");
            assert_eq!(world.send("POST", "/login", FORM, "role=ada&password=lovelace").status, 503);
            second.promote();
        },
    );
    workload.check(&world);
    assert_eq!(world.send("GET", "/readyz", &[], "").status, 200);
    assert_eq!(world.send("POST", "/login", FORM, "role=ada&password=lovelace").status, 303);
    assert_eq!(world.send("POST", "/login", FORM, "role=ada&password=wrong").status, 401);
}

/// A host whose disk hangs accepts connections, and then sends nothing.
#[test]
fn a_silent_host_leaves_time_for_the_next() {
    let world = World::new();
    let port = world.server().parse::<postgres::Config>().unwrap().get_ports().first().copied().unwrap_or(5432);
    let _silent = UnixListener::bind(world.folder().join(format!(".s.PGSQL.{port}"))).unwrap();
    let hosts = world.server().replacen("host=", &format!("host={},", world.folder().display()), 1);
    let another = world.another_at(&format!("{hosts} connect_timeout=1"), &[]);
    let (key, get) = (world.key("ada"), |path: &str, headers: &[(&str, &str)]| {
        send("GET", &format!("{}{path}", another.url), headers, "").status
    });
    // The next host has a second as well, which may be too short on a busy machine.
    wait_until("it is ready", || get("/readyz", &[]) == 200);
    let key = format!("ApiKey {key}");
    wait_until("a key counts", || get("/elsa/api/workflow-definitions", &[("Authorization", &key)]) == 200);
    let login = format!("{}/login", another.url);
    wait_until("a password counts", || send("POST", &login, FORM, "role=ada&password=lovelace").status == 303);
}

/// All processes of the server hang, as on a suspended host, after the gateway has logged in.
#[test]
fn a_server_that_hangs_keeps_no_request() {
    let cluster = Cluster::new("local all all scram-sha-256", &[]);
    let world = World::on(&format!("{} connect_timeout=1", cluster.address()), &["--request-seconds", "5"]);
    let key = format!("ApiKey {}", world.key("ada"));
    let list = || world.send("GET", "/elsa/api/workflow-definitions", &[("Authorization", &key)], "").status;
    wait_until("the gateway has logged in", || list() == 200);
    let frozen = cluster.freeze();
    assert_eq!(list(), 503);
    drop(frozen);
    wait_until("the server answers", || world.send("GET", "/readyz", &[], "").status == 200 && list() == 200);
}

/// A deferred trigger on a workflow's row ends the session in its COMMIT.
#[test]
fn a_session_that_ends_in_its_commit_is_not_known() {
    let world = World::new();
    let workload = Workload::new(&world, 1);
    world.sql(
        "CREATE FUNCTION end_session() RETURNS trigger LANGUAGE plpgsql SECURITY DEFINER AS
             'BEGIN PERFORM pg_terminate_backend(pg_backend_pid()); RETURN NULL; END';
         CREATE CONSTRAINT TRIGGER ends AFTER UPDATE ON workflow.instances DEFERRABLE INITIALLY DEFERRED
             FOR EACH ROW EXECUTE FUNCTION end_session()",
    );
    assert_eq!(complete(&world.url, &workload.key, &workload.tasks[0], "x"), CompletionReply::Unknown);
    assert_eq!(world.value("SELECT status FROM workflow.tasks").as_deref(), Some("Open"));
    world.sql("DROP TRIGGER ends ON workflow.instances");
    assert_eq!(complete(&world.url, &workload.key, &workload.tasks[0], "x"), CompletionReply::Done);
}

/// A commit waits for a standby when the time of the request runs out: it has taken effect here, and the client is not
/// told that it was undone.
#[test]
fn a_commit_that_takes_too_long_is_not_known() {
    let cluster = Cluster::new("local all all scram-sha-256", &[]);
    let world = World::on(&cluster.address(), &["--request-seconds", "5"]);
    let workload = Workload::new(&world, 1);
    cluster.sql("ALTER SYSTEM SET synchronous_standby_names = 'nobody'");
    cluster.sql("SELECT pg_reload_conf()");
    cluster.wait_until("SELECT current_setting('synchronous_standby_names') = 'nobody'");
    // On a slow machine, the time may run out before the commit.
    wait_until("it has taken effect", || {
        assert_eq!(complete(&world.url, &workload.key, &workload.tasks[0], "x"), CompletionReply::Unknown);
        cluster.wait_until("SELECT NOT EXISTS (SELECT FROM pg_stat_activity WHERE wait_event = 'SyncRep')");
        world.value("SELECT status FROM workflow.tasks").as_deref() == Some("Completed")
    });
}
