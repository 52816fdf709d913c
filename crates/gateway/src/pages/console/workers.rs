//! Background workers, and the limits of tasks.

use axum::extract::State;
use axum::response::Response;
use chrono::{DateTime, Utc};
use tokio_postgres::Row;

use super::counted;
use crate::gateway::App;
use crate::pages::frame::{Frame, PageFailure, Visitor, html};
use crate::pages::inbox::list::instant;
use crate::pages::statement::Statement;
use crate::routing::Routes;

pub fn routes() -> Routes {
    Routes::new().get("/workers", show)
}

/// Background workers and databases that are served, and limits that the page lists at most.
const MOST: usize = 200;

/// Those of this database come first.
const WORKERS: &str = concat!(
    "SELECT w.database::pg_catalog.text, w.worker, w.pid, w.role::pg_catalog.text, w.state, w.fired, w.failed, ",
    instant!("w.oldest_due"),
    " AS oldest_due, ",
    instant!("w.next_due"),
    " AS next_due, pg_catalog.date_part('epoch', w.lateness_p50) AS p50, \
     pg_catalog.date_part('epoch', w.lateness_p99) AS p99, ",
    instant!("w.since"),
    " AS since, coalesce(w.database OPERATOR(pg_catalog.=) pg_catalog.current_database(), false) AS is_here \
     FROM workflow.workers w \
     ORDER BY w.database OPERATOR(pg_catalog.<>) pg_catalog.current_database(), w.database, w.worker DESC, w.pid \
     LIMIT $1::integer"
);

const LIMITS: &str = "SELECT l.name, l.key, l.concurrency, l.rate, l.per::pg_catalog.text, l.owner \
     FROM workflow.task_limits l ORDER BY l.name, l.owner, l.key NULLS FIRST LIMIT $1::integer";

struct Worker {
    database: Option<String>,
    worker: String,
    pid: Option<i32>,
    role: Option<String>,
    state: Option<String>,
    fired: String,
    failed: String,
    oldest_due: Option<DateTime<Utc>>,
    next_due: Option<DateTime<Utc>>,
    /// Half of the fires, and 99 % of them, are late by so many seconds at most.
    lateness: Option<(f64, f64)>,
    since: Option<DateTime<Utc>>,
    /// Whether it works for this database. Members of `pg_monitor` see those of the others, too.
    is_here: bool,
}

impl From<&Row> for Worker {
    fn from(row: &Row) -> Self {
        let number = |column: &str| counted(row.get::<_, Option<i64>>(column).unwrap_or_default() as f64, false);
        let percentile = |column: &str| row.get::<_, Option<f64>>(column);
        Self {
            database: row.get("database"),
            worker: row.get("worker"),
            pid: row.get("pid"),
            role: row.get("role"),
            state: row.get("state"),
            fired: number("fired"),
            failed: number("failed"),
            oldest_due: row.get("oldest_due"),
            next_due: row.get("next_due"),
            lateness: percentile("p50").zip(percentile("p99")),
            since: row.get("since"),
            is_here: row.get("is_here"),
        }
    }
}

impl Worker {
    fn lateness(&self) -> String {
        self.lateness.map_or_else(String::new, |(half, most)| format!("{half:.2} s · {most:.2} s"))
    }

    /// The class of the pill with its state.
    fn class(&self) -> &'static str {
        match self.state.as_deref() {
            Some("running") => "good",
            Some("firing") => "busy",
            Some("foreign") => "warn",
            _ => "",
        }
    }
}

/// How many tasks of a name may be held at a time, or begun in a period.
struct Limit {
    name: String,
    key: Option<String>,
    concurrency: Option<i32>,
    rate: Option<i32>,
    per: Option<String>,
    owner: Option<String>,
}

impl From<&Row> for Limit {
    fn from(row: &Row) -> Self {
        Self {
            name: row.get("name"),
            key: row.get("key"),
            concurrency: row.get("concurrency"),
            rate: row.get("rate"),
            per: row.get("per"),
            owner: row.get("owner"),
        }
    }
}

#[derive(askama::Template)]
#[template(path = "workers.html")]
struct Page {
    frame: Frame,
    workers: Vec<Worker>,
    limits: Vec<Limit>,
    sql: String,
}

impl Page {
    /// Whether a scheduler serves this database: without one nothing fires by itself.
    fn is_served(&self) -> bool {
        self.workers.iter().any(|worker| worker.is_here && worker.worker == "scheduler")
    }
}

async fn show(State(app): State<App>, visitor: Visitor) -> Result<Response, PageFailure> {
    let list = |sql| Statement::new(sql, vec![Some(MOST.to_string())]);
    let (workers, limits) = (list(WORKERS), list(LIMITS));
    let worker_rows = workers.read(&app.database, &visitor.caller).await?;
    let limit_rows = limits.read(&app.database, &visitor.caller).await?;
    html(&Page {
        frame: Frame::new(&app, &visitor, "/workers", "Workers").await?,
        workers: worker_rows.iter().map(Worker::from).collect(),
        limits: limit_rows.iter().map(Limit::from).collect(),
        sql: format!("{}\n\n{}", workers.display(), limits.display()),
    })
}
