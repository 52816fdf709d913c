//! `/metrics`, on a listener of its own.

use crate::support::{Answer, World, connect, free_port, send, shared_server, wait_until};

/// Roles of the cluster: one may read the metrics, the other may not. The end of the session releases the lock.
const ROLES: &str = "
    SELECT pg_advisory_lock(9);
    DO $$ BEGIN
        IF NOT EXISTS (SELECT FROM pg_roles WHERE rolname = 'watcher') THEN
            CREATE ROLE watcher;
            GRANT pg_monitor TO watcher;
            CREATE ROLE blind;
            GRANT watcher, blind TO workflow_gateway;
        END IF;
    END $$";

/// The roles `watcher`, which may read the metrics, and `blind`, which may not.
pub fn create_roles() {
    connect(&shared_server(), "postgres").batch_execute(ROLES).expect("the roles");
}

/// A gateway that serves metrics as a role, and their address.
fn watched(role: &str) -> (World, String) {
    let listen = format!("127.0.0.1:{}", free_port());
    let world = World::with(&["--metrics-listen", &listen, "--metrics-role", role, "--request-seconds", "3600"]);
    create_roles();
    (world, format!("http://{listen}"))
}

fn scrape(url: &str) -> Answer {
    send("GET", &format!("{url}/metrics"), &[("Accept", "application/openmetrics-text; version=1.0.0")], "")
}

#[test]
fn numbers_of_database_and_gateway_are_open_metrics() {
    let (world, url) = watched("watcher");
    world.sql(
        r#"SELECT wf_define('{"definitionId": "ask", "root": {"type": "RunTask", "taskName": {"input": "name"}}}');
           SELECT wf_start('ask', '{"name": "Check \"this\"\nand that"}');"#,
    );
    let page = world.send("GET", "/login", &[], "");
    assert_eq!(page.status, 200);
    let answer = scrape(&url);
    assert_eq!(answer.status, 200, "{answer:?}");
    assert_eq!(answer.headers["content-type"], "application/openmetrics-text; version=1.0.0; charset=utf-8");
    for line in [
        "# HELP workflow_task_open Open tasks.",
        "# TYPE workflow_task_open gauge",
        r#"workflow_task_open{task="Check \"this\"\nand that"} 1.0"#,
        "# TYPE workflow_definition_started counter",
        r#"workflow_definition_started_total{definition="ask"} 1.0"#,
        "# TYPE workflow_definition_burst_seconds histogram",
        r#"workflow_definition_burst_seconds_count{definition="ask"} 1"#,
        r#"workflow_definition_burst_seconds_bucket{le="+Inf",definition="ask"} 1"#,
        r#"workflow_lateness_seconds_bucket{le="0.001"} 0"#,
        "workflow_open_incidents 0.0",
        "wf_database_up 1",
        "# TYPE wf_requests counter",
        r#"wf_requests_total{listener="gateway",status="2xx"} 1"#,
        "# EOF",
    ] {
        assert!(answer.text.lines().any(|found| found == line), "no {line} in {}", answer.text);
    }
    let described = answer.text.lines().filter(|line| line.starts_with("# TYPE ")).collect::<Vec<_>>();
    let mut once = described.clone();
    once.sort_unstable();
    once.dedup();
    assert_eq!(described.len(), once.len(), "{described:?}");
    assert!(answer.text.ends_with("# EOF\n"));
}

#[test]
fn metrics_are_on_their_listener_only() {
    let (world, url) = watched("watcher");
    assert_ne!(world.send("GET", "/metrics", &[], "").status, 200);
    for (method, path, status) in [("GET", "/", 404), ("GET", "/healthz", 404), ("POST", "/metrics", 405)] {
        assert_eq!(send(method, &format!("{url}{path}"), &[], "").status, status, "{method} {path}");
    }
}

/// Of several gateways one shows the numbers of the database, and each its own.
#[test]
fn a_gateway_without_a_role_shows_its_own_numbers() {
    let listen = format!("127.0.0.1:{}", free_port());
    let world = World::with(&["--metrics-listen", &listen]);
    assert_eq!(world.send("GET", "/login", &[], "").status, 200);
    let answer = scrape(&format!("http://{listen}"));
    assert_eq!(answer.status, 200, "{answer:?}");
    assert!(answer.text.contains(r#"wf_requests_total{listener="gateway",status="2xx"} 1"#), "{answer:?}");
    assert!(!answer.text.contains("workflow_") && !answer.text.contains("wf_database_up"), "{answer:?}");
}

fn is_up(answer: &Answer) -> bool {
    answer.status == 200 && answer.text.lines().any(|line| line == "wf_database_up 1")
}

/// Only the numbers of the gateway are there.
fn is_down(answer: &Answer) -> bool {
    let is_down = answer.text.lines().any(|line| line == "wf_database_up 0");
    answer.status == 200 && is_down && !answer.text.contains("workflow_")
}

/// A role without the right, and a database that is gone.
#[test]
fn without_the_database_the_gateway_shows_its_own_numbers() {
    let (world, url) = watched("blind");
    let answer = scrape(&url);
    assert!(is_down(&answer), "{answer:?}");
    assert!(world.into_log().contains("permission denied for function wf_metrics"));
    let (world, url) = watched("watcher");
    assert!(is_up(&scrape(&url)));
    let drop = format!("DROP DATABASE {} WITH (FORCE)", world.database);
    connect(&shared_server(), "postgres").batch_execute(&drop).expect("no database");
    let answer = scrape(&url);
    assert!(is_down(&answer), "{answer:?}");
}

/// While the database does not answer, each response comes all the same, and one statement waits for all of them.
#[test]
fn scrapes_do_not_pile_up() {
    let (world, url) = watched("watcher");
    let mut lock = connect(world.server(), &world.database);
    lock.batch_execute("BEGIN; LOCK TABLE workflow.bookmarks").expect("a lock");
    let answers: Vec<Answer> = std::thread::scope(|scope| {
        let scrapes: Vec<_> = (0..4).map(|_| scope.spawn(|| scrape(&url))).collect();
        scrapes.into_iter().map(|scrape| scrape.join().expect("an answer")).collect()
    });
    assert!(answers.iter().all(is_down), "{answers:?}");
    let waiting = "SELECT pg_catalog.count(*)::text FROM pg_stat_activity \
        WHERE datname = current_database() AND wait_event_type = 'Lock' AND query LIKE '%wf_metrics%'";
    assert_eq!(world.value(waiting).as_deref(), Some("1"));
    lock.batch_execute("ROLLBACK").expect("no lock");
    wait_until("the statement has ended", || is_up(&scrape(&url)));
}
