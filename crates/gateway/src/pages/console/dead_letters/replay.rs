//! Replay of all dead letters that match: first a dry run, then a bounded number with each request.

use std::time::Instant;

use axum::extract::{Query, State};
use axum::http::StatusCode;
use axum::response::{IntoResponse as _, Response};
use tokio_postgres::Row;
use uuid::Uuid;

use super::{Filter, REPLAY, is_delivered, of_filter};
use crate::failure::Failure;
use crate::gateway::{App, Gateway};
use crate::pages::console::counted;
use crate::pages::console::progress::{BATCH, EXAMINED, Progress};
use crate::pages::frame::{Frame, PageFailure, Visitor, html};
use crate::pages::statement::Statement;
use crate::pages::typed::Typed;
use crate::routing::Routes;

/// Path of the page.
pub const PATH: &str = "/dead-letters/replay";

pub fn routes() -> Routes {
    Routes::new().get(PATH, show).post(PATH, perform)
}

/// Dead letters of a filter ($1 and $2) that were not replayed. $3: the id after which they begin; $4: limit.
macro_rules! letters {
    () => {
        concat!(
            "SELECT d.dead_letter_id, d.due_at IS NOT NULL AS is_timer FROM workflow.dead_letter_list d WHERE ",
            of_filter!(),
            " AND d.replayed_at IS NULL AND ($3::pg_catalog.uuid IS NULL \
                OR d.dead_letter_id OPERATOR(pg_catalog.>) $3::pg_catalog.uuid) \
              ORDER BY d.dead_letter_id LIMIT $4::bigint"
        )
    };
}

const LETTERS: &str = letters!();

const DRY_RUN: &str = concat!(
    "SELECT pg_catalog.count(*) AS letters, pg_catalog.count(*) FILTER (WHERE c.is_timer) AS timers FROM (",
    letters!(),
    ") c"
);

/// The same as the requests do, in one transaction: for display.
const REPLAY_ALL: &str = concat!("SELECT c.dead_letter_id, @wf.wf_replay(c.dead_letter_id) FROM (", letters!(), ") c");

fn statement(sql: &'static str, filter: &Filter, progress: &Progress, most: usize) -> Statement {
    let after = progress.after.map(|id| id.to_string());
    Statement::new(sql, [filter.values(), vec![after, Some(most.to_string())]].concat())
}

#[derive(askama::Template)]
#[template(path = "dead_letters_replay.html")]
struct Page {
    frame: Frame,
    filter: Filter,
    progress: Progress,
    /// The result of the dry run: how many there are, and how many of them are timers.
    letters: i64,
    timers: i64,
    sql: String,
    failure: Option<Failure>,
}

impl Page {
    /// The list of the dead letters.
    fn list(&self) -> String {
        self.filter.address(super::PATH, &[])
    }

    /// The number of dead letters, with a plus if there may be more.
    fn count(&self) -> String {
        counted(self.letters as f64, self.letters >= EXAMINED as i64)
    }

    /// How many the button replays.
    fn next(&self) -> i64 {
        self.letters.min(BATCH as i64)
    }
}

async fn show(
    State(app): State<App>,
    visitor: Visitor,
    Query(given): Query<Vec<(String, String)>>,
) -> Result<Response, PageFailure> {
    let typed: Typed = given.into_iter().collect();
    page(&app, &visitor, Filter::of(&typed), Progress::of(&typed), None).await
}

async fn page(
    app: &Gateway,
    visitor: &Visitor,
    filter: Filter,
    progress: Progress,
    failure: Option<Failure>,
) -> Result<Response, PageFailure> {
    let rows = statement(DRY_RUN, &filter, &progress, EXAMINED).read(&app.database, &visitor.caller).await?;
    let (letters, timers) = rows.first().map_or((0, 0), |row| (row.get("letters"), row.get("timers")));
    let status = failure.as_ref().map_or(StatusCode::OK, |failure| failure.status);
    let response = html(&Page {
        frame: Frame::new(app, visitor, super::PATH, "Replay dead letters").await?,
        sql: statement(REPLAY_ALL, &filter, &progress, BATCH).display(),
        filter,
        progress,
        letters,
        timers,
        failure,
    })?;
    Ok((status, response).into_response())
}

/// Replays the next ones, and leads to the page with the progress.
async fn perform(State(app): State<App>, visitor: Visitor, typed: Typed) -> Result<Response, PageFailure> {
    let (filter, before) = (Filter::of(&typed), Progress::of(&typed));
    let (after, failure) = replay(&app, &visitor, &filter, &before).await?;
    match failure {
        Some(failure) if failure.status == StatusCode::UNAUTHORIZED => Err(failure.into()),
        Some(failure) if after == before => page(&app, &visitor, filter, after, Some(failure)).await,
        // The next request meets the failure again, if it lasts.
        _ => Ok(after.redirect(|pairs| filter.address(PATH, pairs))),
    }
}

/// The progress after the next dead letters, and the failure that has ended it early.
async fn replay(
    app: &Gateway,
    visitor: &Visitor,
    filter: &Filter,
    before: &Progress,
) -> Result<(Progress, Option<Failure>), Failure> {
    let rows = statement(LETTERS, filter, before, BATCH).read(&app.database, &visitor.caller).await?;
    let ids: Vec<Uuid> = rows.iter().map(|row: &Row| row.get("dead_letter_id")).collect();
    let (begun, time) = (Instant::now(), app.options.request_time() / 3);
    let mut progress = before.clone();
    for id in ids {
        let replayed = Statement::new(REPLAY, vec![Some(id.to_string())]).run(&app.database, &visitor.caller).await;
        if let Err(failure) = progress.record(id, replayed.map(|rows| is_delivered(&rows))) {
            return Ok((progress, Some(failure)));
        }
        if begun.elapsed() > time {
            break;
        }
    }
    Ok((progress, None))
}
