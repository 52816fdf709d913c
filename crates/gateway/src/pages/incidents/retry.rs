//! Retries of the incidents of one cause: first a dry run, then a bounded number of instances with each request.
//!
//! Each instance is retried in a transaction of its own, so that a paused or locked one does not hold up the others.

use std::time::Instant;

use axum::extract::{Query, State};
use axum::http::StatusCode;
use axum::response::{IntoResponse as _, Redirect, Response};
use tokio_postgres::Row;
use uuid::Uuid;

use super::causes::{Filter, cause, of_cause};
use crate::failure::Failure;
use crate::gateway::{App, Gateway};
use crate::pages::console::counted;
use crate::pages::console::progress::{BATCH, EXAMINED, Progress};
use crate::pages::frame::{Frame, PageFailure, Visitor, html};
use crate::pages::statement::Statement;
use crate::pages::typed::Typed;
use crate::parameters;
use crate::routing::Routes;

/// Path of the page.
pub const PATH: &str = "/incidents/retry";

pub fn routes() -> Routes {
    Routes::new().get(PATH, show).post(PATH, perform)
}

/// Instances with incidents of a filter ($1 to $4), and their faulted activities. $5: the id after which they begin;
/// $6: limit.
macro_rules! instances {
    () => {
        concat!(
            "SELECT i.instance_id, pg_catalog.array_agg(DISTINCT i.activity_id) AS activities, \
                pg_catalog.max(pg_catalog.left(i.message, 300)) AS message FROM workflow.open_incidents i WHERE ",
            of_cause!(),
            " AND i.activity_id IS NOT NULL \
              AND ($5::pg_catalog.uuid IS NULL OR i.instance_id OPERATOR(pg_catalog.>) $5::pg_catalog.uuid) \
              GROUP BY i.instance_id ORDER BY i.instance_id LIMIT $6::bigint"
        )
    };
}

const INSTANCES: &str = instances!();

/// What a retry would meet: `can_retry` of incidents without a look at the state of each instance.
const DRY_RUN: &str = concat!(
    "SELECT pg_catalog.count(*) AS instances, pg_catalog.max(x.message) AS message, \
        pg_catalog.count(*) FILTER (WHERE NOT x.may_retry) AS forbidden, \
        pg_catalog.count(*) FILTER (WHERE x.may_retry AND x.has_ended) AS ended, \
        pg_catalog.count(*) FILTER (WHERE x.may_retry AND NOT x.has_ended AND x.is_paused) AS paused, \
        pg_catalog.count(*) FILTER (WHERE x.may_retry AND NOT x.has_ended AND NOT x.is_paused) AS ready \
     FROM (SELECT c.message, p.paused_at IS NOT NULL AS is_paused, p.finished_at IS NOT NULL AS has_ended, \
             'wf_retry' OPERATOR(pg_catalog.=) ANY (workflow.instance_calls(p.instance_id)) AS may_retry FROM (",
    instances!(),
    ") c JOIN workflow.instance_list p ON p.instance_id OPERATOR(pg_catalog.=) c.instance_id) x"
);

/// The same as the requests do, in one transaction: for display.
const RETRY_ALL: &str = concat!(
    "SELECT c.instance_id, r.sub_status FROM (",
    instances!(),
    ") c CROSS JOIN LATERAL @wf.wf_retry(c.instance_id, c.activities, on_fault => 'store') r"
);

/// $1: the instance; $2: its faulted activities.
const RETRY: &str = "SELECT r.sub_status OPERATOR(pg_catalog.<>) 'Faulted' AS is_settled \
     FROM @wf.wf_retry($1, $2, on_fault => 'store') r";

fn statement(sql: &'static str, filter: &Filter, progress: &Progress, most: usize) -> Statement {
    let after = progress.after.map(|id| id.to_string());
    Statement::new(sql, [filter.values(), vec![after, Some(most.to_string())]].concat())
}

/// The result of a dry run.
struct DryRun {
    instances: i64,
    message: String,
    forbidden: i64,
    ended: i64,
    paused: i64,
    ready: i64,
}

impl From<&Row> for DryRun {
    fn from(row: &Row) -> Self {
        Self {
            instances: row.get("instances"),
            message: row.get::<_, Option<String>>("message").unwrap_or_default(),
            forbidden: row.get("forbidden"),
            ended: row.get("ended"),
            paused: row.get("paused"),
            ready: row.get("ready"),
        }
    }
}

#[derive(askama::Template)]
#[template(path = "incidents_retry.html")]
struct Page {
    frame: Frame,
    filter: Filter,
    progress: Progress,
    dry_run: DryRun,
    sql: String,
    failure: Option<Failure>,
}

impl Page {
    /// The list of the incidents.
    fn list(&self) -> String {
        self.filter.address(super::PATH, &[])
    }

    /// The number of instances of the dry run, with a plus if there may be more.
    fn instances(&self) -> String {
        counted(self.dry_run.instances as f64, self.is_capped())
    }

    fn is_capped(&self) -> bool {
        self.dry_run.instances >= EXAMINED as i64
    }

    /// How many instances the button retries.
    fn next(&self) -> i64 {
        self.dry_run.instances.min(BATCH as i64)
    }
}

async fn show(
    State(app): State<App>,
    visitor: Visitor,
    Query(given): Query<Vec<(String, String)>>,
) -> Result<Response, PageFailure> {
    let typed: Typed = given.into_iter().collect();
    let filter = Filter::of(&typed);
    if filter.definition.is_empty() {
        return Ok(Redirect::to(&filter.address(super::PATH, &[])).into_response());
    }
    page(&app, &visitor, filter, Progress::of(&typed), None).await
}

async fn page(
    app: &Gateway,
    visitor: &Visitor,
    filter: Filter,
    progress: Progress,
    failure: Option<Failure>,
) -> Result<Response, PageFailure> {
    let rows = statement(DRY_RUN, &filter, &progress, EXAMINED).read(&app.database, &visitor.caller).await?;
    let dry_run = rows.first().map(DryRun::from).ok_or_else(|| Failure::internal("a dry run without a result"))?;
    let status = failure.as_ref().map_or(StatusCode::OK, |failure| failure.status);
    let response = html(&Page {
        frame: Frame::new(app, visitor, "/incidents", "Retry incidents").await?,
        sql: statement(RETRY_ALL, &filter, &progress, BATCH).display(),
        filter,
        progress,
        dry_run,
        failure,
    })?;
    Ok((status, response).into_response())
}

/// Retries the next instances, and leads to the page with the progress.
async fn perform(State(app): State<App>, visitor: Visitor, typed: Typed) -> Result<Response, PageFailure> {
    let (filter, before) = (Filter::of(&typed), Progress::of(&typed));
    if filter.definition.is_empty() {
        return Err(Failure::bad_request("a definition is required, so that not all incidents are retried").into());
    }
    let (after, failure) = retry(&app, &visitor, &filter, &before).await?;
    match failure {
        Some(failure) if failure.status == StatusCode::UNAUTHORIZED => Err(failure.into()),
        Some(failure) if after == before => page(&app, &visitor, filter, after, Some(failure)).await,
        // The next request meets the failure again, if it lasts.
        _ => Ok(after.redirect(|pairs| filter.address(PATH, pairs))),
    }
}

/// The progress after the next instances, and the failure that has ended it early.
async fn retry(
    app: &Gateway,
    visitor: &Visitor,
    filter: &Filter,
    before: &Progress,
) -> Result<(Progress, Option<Failure>), Failure> {
    let rows = statement(INSTANCES, filter, before, BATCH).read(&app.database, &visitor.caller).await?;
    let instance = |row: &Row| (row.get("instance_id"), row.get("activities"));
    let instances: Vec<(Uuid, Vec<String>)> = rows.iter().map(instance).collect();
    let (begun, time) = (Instant::now(), app.options.request_time() / 3);
    let mut progress = before.clone();
    for (id, activities) in instances {
        let retried = app.database.write(&visitor.caller, RETRY, parameters![id, activities]).await;
        let outcome = retried.map(|rows| rows.first().and_then(|row| row.get(0)).unwrap_or_default());
        if let Err(failure) = progress.record(id, outcome) {
            return Ok((progress, Some(failure)));
        }
        if begun.elapsed() > time {
            break;
        }
    }
    Ok((progress, None))
}
