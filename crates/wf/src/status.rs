//! `wf status`: what a database with the extension does, on one screen.

use std::fmt::Write as _;

use chrono::{DateTime, Utc};
use clap::Args;
use serde::{Deserialize, Serialize};
use uuid::Uuid;
use workflow_client::{Client, Error, Transaction};

use crate::arguments::SharedArguments;
use crate::failure::Failure;
use crate::terminal::{self, OutputArguments, Progress, age, local, one_line, table};

/// Show on one screen what the database does
///
/// It counts what your role may see: instances by status, open tasks by name, timers that are due and those that are
/// more than a minute late, dead letters, open incidents with the latest of each definition, schedules whose last run failed, and background workers. Counts
/// of instances are bounded, so that the command is quick with millions of them: 10000+ means that there are more.
#[derive(Debug, Args)]
pub struct StatusArguments {
    #[command(flatten)]
    output: OutputArguments,
}

#[derive(Serialize)]
struct Status {
    server: Server,
    instances: Vec<InstanceCount>,
    tasks: Vec<TaskCount>,
    timers: Timers,
    /// `None` if the role may not read the queue.
    queued: Option<i64>,
    dead_letters: Vec<DeadLetterCount>,
    incidents: Vec<IncidentCount>,
    failed_schedules: Vec<FailedSchedule>,
    workers: Vec<Worker>,
}

#[derive(Serialize, Deserialize)]
struct Server {
    database: String,
    role: String,
    postgresql: String,
    version: String,
    now: DateTime<Utc>,
    may_read_queue: bool,
}

#[derive(Serialize, Deserialize)]
struct InstanceCount {
    sub_status: String,
    count: i64,
    is_exact: bool,
}

#[derive(Serialize, Deserialize)]
struct TaskCount {
    name: Option<String>,
    open: i64,
    held: i64,
    oldest: DateTime<Utc>,
}

#[derive(Serialize, Deserialize)]
struct Timers {
    due: i64,
    late: i64,
    oldest: Option<DateTime<Utc>>,
    next: Option<DateTime<Utc>>,
}

#[derive(Serialize, Deserialize)]
struct DeadLetterCount {
    reason: Option<String>,
    count: i64,
    latest: DateTime<Utc>,
}

#[derive(Serialize, Deserialize)]
struct IncidentCount {
    definition_id: String,
    count: i64,
    latest: DateTime<Utc>,
    /// The instance of the latest one, and its message.
    instance_id: Uuid,
    message: Option<String>,
}

#[derive(Serialize, Deserialize)]
struct FailedSchedule {
    name: Option<String>,
    definition_id: Option<String>,
    last_run: Option<DateTime<Utc>>,
    last_error: Option<String>,
}

#[derive(Serialize, Deserialize)]
struct Worker {
    worker: String,
    role: Option<String>,
    state: Option<String>,
    fired: Option<i64>,
    failed: Option<i64>,
    lateness_p99_ms: Option<f64>,
}

const SERVER: &str = "SELECT pg_catalog.current_database() AS database, CURRENT_USER AS role, e.extversion AS version, \
    pg_catalog.current_setting('server_version') AS postgresql, pg_catalog.clock_timestamp() AS now, \
    pg_catalog.has_table_privilege('workflow.bookmark_queue', 'SELECT') AS may_read_queue \
    FROM pg_catalog.pg_extension e WHERE e.extname = 'workflow'";
const INSTANCES: &str = "SELECT s.sub_status, c.total_count AS count, c.is_exact \
    FROM pg_catalog.unnest(ARRAY['Pending', 'Suspended', 'Faulted', 'Finished', 'Cancelled']) WITH ORDINALITY AS s (sub_status, number) \
    CROSS JOIN LATERAL workflow.instance_count(pg_catalog.jsonb_build_object('subStatus', s.sub_status)) AS c ORDER BY s.number";
const TASKS: &str = "SELECT t.name, pg_catalog.count(*) AS open, pg_catalog.min(t.created_at) AS oldest, \
    pg_catalog.count(*) FILTER (WHERE t.lease_until > pg_catalog.now()) AS held \
    FROM workflow.open_tasks t GROUP BY t.name ORDER BY oldest";
const TIMERS: &str = "SELECT pg_catalog.count(*) FILTER (WHERE b.due_at <= pg_catalog.now()) AS due, \
    pg_catalog.count(*) FILTER (WHERE b.due_at <= pg_catalog.now() - interval '1 minute') AS late, \
    pg_catalog.min(b.due_at) FILTER (WHERE b.due_at <= pg_catalog.now()) AS oldest, \
    pg_catalog.min(b.due_at) FILTER (WHERE b.due_at > pg_catalog.now()) AS next \
    FROM workflow.open_bookmarks b WHERE b.due_at IS NOT NULL AND b.due_at < 'infinity' AND b.paused_at IS NULL";
const QUEUE: &str = "SELECT pg_catalog.count(*) AS count FROM workflow.bookmark_queue";
const DEAD_LETTERS: &str = "SELECT d.reason, pg_catalog.count(*) AS count, pg_catalog.max(d.dead_at) AS latest \
    FROM workflow.dead_letter_list d WHERE d.replayed_at IS NULL GROUP BY d.reason ORDER BY latest DESC";
const INCIDENTS: &str = "WITH counted AS (SELECT i.definition_id, pg_catalog.count(*) AS count, \
        pg_catalog.max(i.created_at) AS latest, \
        (pg_catalog.array_agg(i.instance_id ORDER BY i.created_at DESC))[1] AS instance_id \
        FROM workflow.open_incidents i GROUP BY i.definition_id ORDER BY latest DESC LIMIT 10) \
    SELECT c.definition_id, c.count, c.latest, c.instance_id, \
        (SELECT n.message FROM workflow.open_incidents n WHERE n.instance_id = c.instance_id \
         ORDER BY n.created_at DESC LIMIT 1) AS message \
    FROM counted c ORDER BY c.latest DESC";
const FAILED_SCHEDULES: &str = "SELECT s.name, s.definition_id, s.last_run, s.last_error FROM workflow.schedules s \
    WHERE s.last_status IN ('failed', 'interrupted') ORDER BY s.last_run DESC LIMIT 10";
const WORKERS: &str = "SELECT w.worker, w.role, w.state, w.fired, w.failed, \
    EXTRACT(epoch FROM w.lateness_p99) * 1000 AS lateness_p99_ms FROM workflow.workers w \
    WHERE w.database = pg_catalog.current_database() OR w.database IS NULL ORDER BY w.worker";

pub fn show(arguments: &StatusArguments, shared: &SharedArguments) -> Result<(), Failure> {
    crate::run(async {
        let client = terminal::connect(shared, "wf status").await?;
        let progress = Progress::start("counting");
        let status = read(&client).await?;
        drop(progress);
        arguments.output.print(&status, || text(&status))
    })
}

async fn read(client: &Client) -> Result<Status, Error> {
    client
        .transaction(async |tx: Transaction| {
            let server: Server = terminal::row(&tx, SERVER, &[]).await?;
            #[derive(Deserialize)]
            struct Count {
                count: i64,
            }
            let queued = match server.may_read_queue {
                true => Some(terminal::row::<Count>(&tx, QUEUE, &[]).await?.count),
                false => None,
            };
            Ok(Status {
                instances: terminal::rows(&tx, INSTANCES, &[]).await?,
                tasks: terminal::rows(&tx, TASKS, &[]).await?,
                timers: terminal::row(&tx, TIMERS, &[]).await?,
                queued,
                dead_letters: terminal::rows(&tx, DEAD_LETTERS, &[]).await?,
                incidents: terminal::rows(&tx, INCIDENTS, &[]).await?,
                failed_schedules: terminal::rows(&tx, FAILED_SCHEDULES, &[]).await?,
                workers: terminal::rows(&tx, WORKERS, &[]).await?,
                server,
            })
        })
        .await
}

fn text(status: &Status) -> String {
    let Server { database, role, postgresql, version, now, .. } = &status.server;
    let now = *now;
    let mut text =
        format!("workflow {version} in {database} (PostgreSQL {postgresql}), as {role}, at {}\n", local(now));
    let counts = status
        .instances
        .iter()
        .map(|of| format!("{}{} {}", of.count, if of.is_exact { "" } else { "+" }, of.sub_status.to_lowercase()));
    let _ = writeln!(text, "\nINSTANCES  {}", counts.collect::<Vec<_>>().join(", "));
    let Timers { due, late, oldest, next } = &status.timers;
    let since = oldest.map_or_else(String::new, |oldest| format!(", the oldest since {}", age(oldest, now)));
    let next = next.map_or_else(String::new, |next| format!("; the next in {}", age(now, next)));
    let _ = writeln!(text, "TIMERS     {due} due{since}, {late} late{next}");
    let queued = status.queued.map_or_else(|| "not visible to this role".to_owned(), |queued| queued.to_string());
    let _ = writeln!(text, "QUEUE      {queued}");
    let named = |name: &Option<String>| one_line(name.as_deref().unwrap_or("-"));
    section(&mut text, "OPEN TASKS", &["name", "open", "held", "oldest"], &status.tasks, |of| {
        vec![named(&of.name), of.open.to_string(), of.held.to_string(), age(of.oldest, now)]
    });
    let head = ["definition", "open", "latest", "instance", "message"];
    section(&mut text, "OPEN INCIDENTS", &head, &status.incidents, |of| {
        let (definition, latest) = (one_line(&of.definition_id), age(of.latest, now));
        vec![definition, of.count.to_string(), latest, of.instance_id.to_string(), named(&of.message)]
    });
    section(&mut text, "DEAD LETTERS", &["reason", "number", "latest"], &status.dead_letters, |of| {
        vec![named(&of.reason), of.count.to_string(), age(of.latest, now)]
    });
    section(&mut text, "FAILED SCHEDULES", &["name", "last run", "error"], &status.failed_schedules, |of| {
        let run = of.last_run.map_or_else(|| "-".to_owned(), |run| age(run, now));
        vec![named(if of.name.is_some() { &of.name } else { &of.definition_id }), run, named(&of.last_error)]
    });
    section(
        &mut text,
        "BACKGROUND WORKERS",
        &["worker", "role", "state", "fired", "failed", "p99"],
        &status.workers,
        |of| {
            let number = |number: Option<i64>| number.map_or_else(|| "-".to_owned(), |number| number.to_string());
            let late = of.lateness_p99_ms.map_or_else(|| "-".to_owned(), |late| format!("{late:.0} ms"));
            vec![of.worker.clone(), named(&of.role), named(&of.state), number(of.fired), number(of.failed), late]
        },
    );
    text
}

/// A heading with a table, or the heading alone with `none`.
fn section<T>(text: &mut String, title: &str, head: &[&str], items: &[T], line: impl FnMut(&T) -> Vec<String>) {
    if items.is_empty() {
        let _ = writeln!(text, "\n{title}  none");
        return;
    }
    let lines: Vec<Vec<String>> = items.iter().map(line).collect();
    let _ = write!(text, "\n{title}\n{}", table(head, &lines));
}
