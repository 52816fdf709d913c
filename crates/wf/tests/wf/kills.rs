//! Workflows call a service that fails in every way, while task workers, gateways and the database are killed again and
//! again. In the end each instance has the answer that the service stored for its call, the service has seen one
//! `Idempotency-Key` for all attempts of a call, and no more attempts than were claimed.
//!
//! `WF_KILLS` and `WF_CALLS` are the numbers of kills and of calls.

use std::collections::{HashMap, HashSet};
use std::fs::File;
use std::process::{Child, Command};
use std::sync::atomic::{AtomicBool, AtomicUsize, Ordering};
use std::sync::{Mutex, RwLock};
use std::time::{Duration, Instant};

use serde::Deserialize;
use serde_json::{Value, json};
use uuid::Uuid;

use crate::cluster::Cluster;
use crate::servers::http::HttpServer;
use crate::support::{Another, PROGRAM, World, wait_until};

const WORKERS: usize = 2;

/// Threads that start instances.
const STARTERS: usize = 4;

/// What the service does to the attempts of a call; the calls take turns. Each third call is held, to be interrupted.
const STEPS: &[&[&str]] = &[
    &["hold", "hold", "hold"],
    &[],
    &["500"],
    &["hold", "half"],
    &["429-1", "503"],
    &["redirect"],
    &["hold", "echo"],
    &["drop"],
    &["nonsense", "hold"],
    &["hold", "503-1", "hold"],
    &["stall"],
    &["half", "redirect"],
];

/// Processes that are killed.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Hash)]
enum Victim {
    Worker,
    Gateway,
    /// All processes of the server at once.
    Server,
    /// The server's main process, whose children notice that it is gone.
    Postmaster,
}

const VICTIMS: [Victim; 6] =
    [Victim::Worker, Victim::Server, Victim::Gateway, Victim::Worker, Victim::Postmaster, Victim::Gateway];

/// A number from the environment.
fn setting(name: &str, default: usize) -> usize {
    std::env::var(name).map_or(default, |text| text.parse().unwrap_or_else(|_| panic!("{name} is no number: {text}")))
}

/// A worker that is killed when this value is dropped.
struct Worker(Child);

impl Drop for Worker {
    fn drop(&mut self) {
        let _ = self.0.kill();
        let _ = self.0.wait();
    }
}

struct Campaign {
    world: World,
    cluster: Cluster,
    service: HttpServer,
    gateway: RwLock<Another>,
    workers: Mutex<Vec<Worker>>,
    key: String,
    calls: usize,
    /// The number of the next call to start.
    next: AtomicUsize,
    /// Calls up to this number may be started.
    allowed: AtomicUsize,
    /// Starts that wait for the gateway's answer.
    starting: AtomicUsize,
    has_failed: AtomicBool,
}

/// What the database has of a call.
#[derive(Debug, Deserialize)]
struct Stored {
    name: String,
    status: String,
    task: Uuid,
    answer: Value,
    result: Value,
    claims: u64,
}

impl Campaign {
    fn new(runtime: &tokio::runtime::Runtime, calls: usize) -> Self {
        let cluster = Cluster::new("local all all scram-sha-256\n", &[]);
        let world = World::on(&cluster.address(), &[]);
        world.sql(
            "CREATE TABLE claims (task uuid, claims integer);
             CREATE FUNCTION record_claims() RETURNS trigger LANGUAGE plpgsql SECURITY DEFINER AS
                 'BEGIN INSERT INTO public.claims VALUES (OLD.id, OLD.claims); RETURN NULL; END';
             CREATE TRIGGER claims AFTER DELETE ON workflow.bookmarks FOR EACH ROW EXECUTE FUNCTION record_claims()",
        );
        let definition = json!({
            "definitionId": "call", "outputs": [{"name": "Answer"}],
            "root": {
                "id": "call", "type": "SendHttpRequest", "method": "POST", "url": {"input": "url"},
                "contentType": "application/json", "content": {"object": {"n": 1}}, "parsedContent": {"output": "Answer"},
                "retry": {"maxAttempts": 1000, "delay": "50 ms"},
            },
        });
        world.sql(&format!("SET ROLE ada; SELECT wf_define('{definition}')"));
        let campaign = Self {
            gateway: RwLock::new(world.another()),
            workers: Mutex::default(),
            key: world.key("ada"),
            service: runtime.block_on(HttpServer::start()),
            world,
            cluster,
            calls,
            next: AtomicUsize::new(0),
            allowed: AtomicUsize::new(0),
            starting: AtomicUsize::new(0),
            has_failed: AtomicBool::new(false),
        };
        for _ in 0..WORKERS {
            let worker = campaign.start_worker();
            campaign.workers.lock().unwrap().push(worker);
        }
        campaign
    }

    fn start_worker(&self) -> Worker {
        let database = format!("{} dbname={} user=ada password=lovelace", self.cluster.address(), self.world.database);
        let log = File::options().create(true).append(true).open(self.world.folder().join("worker.log")).unwrap();
        let mut command = Command::new(PROGRAM);
        command.args(["work", "--database", &database, "--lease-seconds", "3", "--timeout-seconds", "2"]);
        // Without the circuit breaker, which would pause all calls of so bad a service.
        command.args(["--allow-addresses", &self.service.address.to_string(), "--breaker-failures", "0"]);
        Worker(command.stderr(log).spawn().expect("the worker starts"))
    }

    /// Starts calls as they are allowed, until all are started.
    fn start_calls(&self) {
        let _failing = Failing(&self.has_failed);
        loop {
            let number = self.next.fetch_add(1, Ordering::Relaxed);
            if number >= self.calls {
                return;
            }
            wait_until("the call may start", || number < self.allowed.load(Ordering::Relaxed) || self.has_failed());
            if self.has_failed() {
                return;
            }
            self.start_call(number);
        }
    }

    /// Starts an instance through the gateway. Its id makes repeated requests start it once.
    fn start_call(&self, number: usize) {
        let (id, name) = (Uuid::now_v7(), format!("call-{number}"));
        let steps = STEPS[number % STEPS.len()];
        let body = json!({
            "instanceId": id, "correlationId": name, "input": {"url": self.service.url(&name, steps)},
        });
        let agent: ureq::Agent = ureq::Agent::config_builder()
            .http_status_as_error(false)
            .timeout_global(Some(Duration::from_secs(20)))
            .build()
            .into();
        wait_until("the gateway starts an instance", || {
            self.starting.fetch_add(1, Ordering::Relaxed);
            let url = self.gateway.read().unwrap().url.clone();
            let sent = agent
                .post(format!("{url}/elsa/api/workflow-definitions/call/execute"))
                .header("Authorization", format!("ApiKey {}", self.key))
                .send_json(&body);
            self.starting.fetch_sub(1, Ordering::Relaxed);
            match sent.map(|answer| answer.status().as_u16()) {
                Ok(200) => true,
                Ok(503 | 504) | Err(_) => self.has_failed(),
                Ok(status) => panic!("status {status} for the start of {name}"),
            }
        });
    }

    /// Allows more calls, waits until there is work or a request to interrupt, and kills. Returns whether the kill was
    /// inside of a request.
    fn kill(&self, round: usize, calls: usize, is_inside: bool) -> bool {
        let victim = VICTIMS[round % VICTIMS.len()];
        let before: u64 = self.attempts();
        self.allowed.store(calls, Ordering::Relaxed);
        match (victim, is_inside) {
            (Victim::Gateway, _) => self.wait_until("a start is in the gateway, or done", || {
                self.starting.load(Ordering::Relaxed) > 0 || self.next.load(Ordering::Relaxed) >= calls + STARTERS
            }),
            (_, true) => {
                self.wait_until("the service holds a request", || !self.service.held().is_empty() || self.is_done());
            }
            (_, false) => self.wait_until("a request arrives", || self.attempts() > before || self.is_done()),
        }
        let was_inside = match victim {
            Victim::Worker => self.kill_worker(is_inside),
            Victim::Gateway => {
                let was_inside = self.starting.load(Ordering::Relaxed) > 0;
                let mut gateway = self.gateway.write().unwrap();
                *gateway = self.world.another();
                was_inside
            }
            Victim::Server | Victim::Postmaster => {
                let was_inside = !self.service.held().is_empty();
                if victim == Victim::Server {
                    self.cluster.stop("immediate")
                } else {
                    self.cluster.kill()
                }
                self.cluster.start();
                was_inside
            }
        };
        self.service.release();
        was_inside
    }

    /// Kills a worker, if wanted one whose request the service holds, and starts another one.
    fn kill_worker(&self, is_inside: bool) -> bool {
        let holder = "SELECT worker FROM workflow.open_tasks WHERE task_id::text = ANY (string_to_array('HELD', ',')) AND worker IS NOT NULL LIMIT 1";
        let holder =
            if is_inside { self.world.value(&holder.replace("HELD", &self.service.held().join(","))) } else { None };
        let pid = holder.as_ref().and_then(|name| name.rsplit(':').next()?.parse::<u32>().ok());
        let mut workers = self.workers.lock().unwrap();
        let found = workers.iter().position(|worker| Some(worker.0.id()) == pid);
        workers.remove(found.unwrap_or(0));
        workers.push(self.start_worker());
        found.is_some()
    }

    fn attempts(&self) -> u64 {
        self.service.calls().values().map(|call| call.attempts).sum()
    }

    fn has_failed(&self) -> bool {
        self.has_failed.load(Ordering::Relaxed)
    }

    fn wait_until(&self, what: &str, mut is_so: impl FnMut() -> bool) {
        wait_until(what, || is_so() || self.has_failed());
        assert!(!self.has_failed(), "a thread that starts calls has failed");
    }

    /// Whether all calls that may start have their answer.
    fn is_done(&self) -> bool {
        let allowed = self.allowed.load(Ordering::Relaxed);
        let done = "SELECT count(*)::text FROM workflow.instances WHERE status = 'Finished'";
        self.world.value(done).is_some_and(|count| count.parse::<usize>().unwrap() >= allowed)
    }

    /// Compares what the service and the database have.
    fn check(&self) -> u64 {
        let calls = self.service.calls();
        let stored = "SELECT json_agg(json_build_object(
                'name', i.correlation_id, 'status', i.sub_status, 'task', t.id, 'answer', l.output -> 'Answer',
                'result', t.result -> 'content', 'claims', c.claims))::text
            FROM workflow.instances i
            JOIN workflow.instance_list l ON l.instance_id = i.id
            JOIN workflow.tasks t ON t.instance_id = i.id
            LEFT JOIN claims c ON c.task = t.id";
        let stored: Vec<Stored> = serde_json::from_str(&self.world.value(stored).unwrap()).unwrap();
        assert_eq!(stored.len(), self.calls, "each call is one instance with one task");
        let names: HashSet<&str> = stored.iter().map(|call| &*call.name).collect();
        assert_eq!(names.len(), self.calls, "no call was started twice");
        assert_eq!(calls.len(), self.calls, "one key for all attempts of a call");
        for call in &stored {
            assert_eq!(call.status, "Finished", "{call:?}");
            let seen = &calls.get(&call.task.to_string()).unwrap_or_else(|| panic!("no request for {call:?}"));
            assert_eq!(seen.names, [&*call.name], "a key belongs to one call");
            assert_eq!(call.answer, call.result, "the instance has the answer of its task");
            match seen.number {
                Some(number) => assert_eq!(call.answer, json!({"name": call.name, "number": number}), "{call:?}"),
                None => {
                    assert_eq!(call.answer["headers"]["idempotency-key"], json!(call.task), "the echo of its request");
                }
            }
            assert!(
                seen.attempts <= call.claims,
                "{} attempts arrived, {} were claimed: {call:?}",
                seen.attempts,
                call.claims
            );
        }
        stored.iter().map(|call| call.claims).sum()
    }
}

/// Tells the other threads that one has failed: otherwise they would wait for it forever.
struct Failing<'a>(&'a AtomicBool);

impl Drop for Failing<'_> {
    fn drop(&mut self) {
        if std::thread::panicking() {
            self.0.store(true, Ordering::Relaxed);
        }
    }
}

#[test]
fn calls_survive_the_ends_of_workers_gateways_and_servers() {
    let (kills, calls) = (setting("WF_KILLS", 60), setting("WF_CALLS", 200));
    let runtime = tokio::runtime::Builder::new_multi_thread().worker_threads(1).enable_all().build().unwrap();
    let campaign = Campaign::new(&runtime, calls);
    let begun = Instant::now();
    let mut done: HashMap<Victim, [usize; 2]> = HashMap::new();
    std::thread::scope(|scope| {
        let _failing = Failing(&campaign.has_failed);
        for _ in 0..STARTERS {
            scope.spawn(|| campaign.start_calls());
        }
        for round in 0..kills {
            // A third of the kills, and a gateway always if it has a request.
            let is_inside = (round / VICTIMS.len()).is_multiple_of(3);
            let was_inside = campaign.kill(round, (round + 1) * calls / kills, is_inside);
            done.entry(VICTIMS[round % VICTIMS.len()]).or_default()[usize::from(was_inside)] += 1;
        }
        campaign.allowed.store(calls, Ordering::Relaxed);
    });
    campaign.wait_until("all calls have their answers", || campaign.is_done());
    let claims = campaign.check();
    let inside: usize = done.values().map(|[_, inside]| inside).sum();
    println!("{calls} calls, {kills} kills, {inside} of them inside of a request, in {:?}", begun.elapsed());
    println!("{} attempts arrived, {claims} were claimed; [outside, inside] by victim: {done:?}", campaign.attempts());
    assert!(inside * 3 >= kills, "{inside} kills were inside of a request");
}
