//! Schedules: when each runs next, how its last runs have ended, and pause, resume and run now.

use axum::extract::{Path, Query, State};
use axum::http::StatusCode;
use axum::response::{IntoResponse as _, Redirect, Response};
use chrono::{DateTime, Utc};
use tokio_postgres::Row;
use uuid::Uuid;

use super::address;
use crate::failure::Failure;
use crate::gateway::{App, Gateway};
use crate::is_mine;
use crate::pages::csv;
use crate::pages::frame::{Frame, PageFailure, Visitor, html};
use crate::pages::inbox::list::instant;
use crate::pages::statement::Statement;
use crate::pages::typed::Typed;
use crate::routing::Routes;

pub fn routes() -> Routes {
    Routes::new().get(PATH, show_list).get("/schedules/{id}", show).post("/schedules/{id}", change)
}

const PATH: &str = "/schedules";
/// Schedules per page.
const PAGE: usize = 50;
/// Maximum number of pages.
const MAX_PAGES: usize = 200;

/// Whether the last run or the last fire of a schedule `s` failed, as `workflow.health` counts them.
macro_rules! has_failed {
    () => {
        "coalesce(s.last_status OPERATOR(pg_catalog.=) ANY ('{failed,interrupted}'::pg_catalog.text[]), false)"
    };
}
/// Whether a schedule `s` is due.
macro_rules! is_due {
    () => {
        "coalesce(s.active AND s.next_run OPERATOR(pg_catalog.<=) pg_catalog.now(), false)"
    };
}
pub(super) use {has_failed, is_due};

/// The columns of a [`Schedule`], of a schedule `s`.
macro_rules! columns {
    () => {
        concat!(
            "s.schedule_id, s.name, s.owner, s.definition_id, s.activity_id, \
             pg_catalog.left(s.command, 1000) AS command, s.schedule, s.time_zone, s.active, s.misfire, s.overlap, ",
            instant!("s.next_run"),
            " AS next_run, ",
            instant!("s.last_run"),
            " AS last_run, s.last_status, pg_catalog.left(s.last_error, 1000) AS last_error, s.queued, s.skipped, \
             s.missed, ",
            has_failed!(),
            " AS has_failed, ",
            is_due!(),
            " AS is_due, coalesce(",
            is_mine!("s.owner"),
            ", false) AS is_mine"
        )
    };
}

/// $1: a text that they contain, in lower case; $2: the key of a [`Choice`] of states; $3: offset; $4: limit.
macro_rules! list {
    ($order:literal) => {
        concat!(
            "SELECT ",
            columns!(),
            " FROM workflow.schedules s WHERE ($1 OPERATOR(pg_catalog.=) '' OR pg_catalog.strpos(pg_catalog.lower(\
                pg_catalog.concat_ws(' ', s.name, s.definition_id, s.command, s.owner)), $1) \
                OPERATOR(pg_catalog.>) 0) AND ($2 OPERATOR(pg_catalog.=) '' \
                OR $2 OPERATOR(pg_catalog.=) 'failed' AND ",
            has_failed!(),
            " OR $2 OPERATOR(pg_catalog.=) 'due' AND ",
            is_due!(),
            " OR $2 OPERATOR(pg_catalog.=) 'paused' AND NOT s.active) ORDER BY ",
            $order,
            ", s.schedule_id OFFSET $3::bigint LIMIT $4::bigint"
        )
    };
}

/// The statement of each order.
fn in_order(order: &str) -> &'static str {
    match order {
        "next" => list!("s.next_run NULLS LAST"),
        "last" => list!("s.last_run DESC NULLS LAST"),
        _ => list!("coalesce(s.name, s.definition_id)"),
    }
}

/// $1: the id.
const SCHEDULE: &str = concat!(
    "SELECT ",
    columns!(),
    " FROM workflow.schedules s WHERE s.schedule_id OPERATOR(pg_catalog.=) $1::pg_catalog.uuid"
);

/// The schedule of a role ($2) with a name ($1).
const OWN: &str = "SELECT s.schedule_id FROM workflow.schedules s \
     WHERE s.name OPERATOR(pg_catalog.=) $1 AND s.owner OPERATOR(pg_catalog.=) $2";

/// The latest runs of a schedule ($1).
const RUNS: &str = concat!(
    "SELECT r.instance_id, ",
    instant!("r.scheduled_at"),
    " AS scheduled, ",
    instant!("r.started_at"),
    " AS started, pg_catalog.date_part('epoch', r.duration) AS seconds, r.status, \
     pg_catalog.left(r.error, 1000) AS error FROM workflow.schedule_runs r \
     WHERE r.schedule_id OPERATOR(pg_catalog.=) $1::pg_catalog.uuid ORDER BY r.instance_id DESC LIMIT 20"
);

/// The runs after the next one. $1: the schedule; $2: its time zone; $3: the next one.
const LATER: &str = concat!(
    "SELECT ",
    instant!("p.at"),
    " AS at FROM @wf.wf_cron_preview($1, 4, $2, $3::pg_catalog.timestamptz) AS p (at)"
);

struct Schedule {
    id: Uuid,
    /// `None` for a trigger of a definition.
    name: Option<String>,
    owner: Option<String>,
    definition: String,
    activity: Option<String>,
    command: Option<String>,
    schedule: Option<String>,
    time_zone: Option<String>,
    is_active: bool,
    misfire: Option<String>,
    overlap: Option<String>,
    next: Option<DateTime<Utc>>,
    last: Option<DateTime<Utc>>,
    last_status: Option<String>,
    last_error: Option<String>,
    queued: i32,
    skipped: i64,
    missed: i64,
    has_failed: bool,
    is_due: bool,
    /// Whether the role has the rights of the owner.
    is_mine: bool,
    /// Whether functions change another schedule of the same name. A list does not say.
    is_hidden: bool,
}

impl From<&Row> for Schedule {
    fn from(row: &Row) -> Self {
        Self {
            id: row.get("schedule_id"),
            name: row.get("name"),
            owner: row.get("owner"),
            definition: row.get("definition_id"),
            activity: row.get("activity_id"),
            command: row.get("command"),
            schedule: row.get("schedule"),
            time_zone: row.get("time_zone"),
            is_active: row.get("active"),
            misfire: row.get("misfire"),
            overlap: row.get("overlap"),
            next: row.get("next_run"),
            last: row.get("last_run"),
            last_status: row.get("last_status"),
            last_error: row.get("last_error"),
            queued: row.get("queued"),
            skipped: row.get("skipped"),
            missed: row.get("missed"),
            has_failed: row.get("has_failed"),
            is_due: row.get("is_due"),
            is_mine: row.get("is_mine"),
            is_hidden: false,
        }
    }
}

impl Schedule {
    async fn read(app: &Gateway, visitor: &Visitor, id: &str) -> Result<Self, Failure> {
        let unknown = || Failure::not_found("schedule", id).hint("It was removed, or the role may not read it.");
        let id: Uuid = id.parse().map_err(|_| unknown())?;
        let statement = Statement::new(SCHEDULE, vec![Some(id.to_string())]);
        let rows = statement.read(&app.database, &visitor.caller).await?;
        let mut schedule = rows.first().map(Self::from).ok_or_else(unknown)?;
        schedule.is_hidden = schedule.is_hidden_from(app, visitor).await?;
        Ok(schedule)
    }

    /// Whether the visitor's role has a schedule of the same name itself, which functions change instead of this one.
    async fn is_hidden_from(&self, app: &Gateway, visitor: &Visitor) -> Result<bool, Failure> {
        let role = &visitor.caller.role;
        if self.name.is_none() || self.owner.as_ref() == Some(role) {
            return Ok(false);
        }
        let own = Statement::new(OWN, vec![self.name.clone(), Some(role.clone())]);
        Ok(!own.read(&app.database, &visitor.caller).await?.is_empty())
    }

    fn title(&self) -> &str {
        self.name.as_deref().unwrap_or(&self.definition)
    }

    /// The cells of the row in a file.
    fn cells(self) -> Vec<String> {
        let text = Option::<String>::unwrap_or_default;
        vec![
            self.id.to_string(),
            text(self.name),
            text(self.owner),
            self.definition,
            text(self.activity),
            text(self.command),
            text(self.schedule),
            text(self.time_zone),
            if self.is_active { "yes" } else { "no" }.to_owned(),
            csv::instant(self.next),
            csv::instant(self.last),
            text(self.last_status),
            text(self.last_error),
            self.missed.to_string(),
            self.skipped.to_string(),
        ]
    }

    /// Whether the schedule has a name by which functions can change it, and the role has its owner's rights.
    fn can_change(&self) -> bool {
        self.name.is_some() && self.is_mine && !self.is_hidden
    }

    /// The class of the pill with the outcome of the last run.
    fn class(&self) -> &'static str {
        match self.last_status.as_deref() {
            Some(status) => class_of(status),
            None => "",
        }
    }

    /// The runs after the next one. An interval counts from there, too.
    async fn later(&self, app: &Gateway, visitor: &Visitor) -> Vec<DateTime<Utc>> {
        let (Some(schedule), Some(next), true) = (&self.schedule, self.next, self.name.is_some()) else {
            return Vec::new();
        };
        let values = vec![Some(schedule.clone()), self.time_zone.clone(), Some(next.to_rfc3339())];
        // A schedule with a single time may have none.
        let rows = Statement::new(LATER, values).read(&app.database, &visitor.caller).await.unwrap_or_default();
        rows.iter().filter_map(|row| row.get("at")).collect()
    }
}

/// The columns of a file.
const COLUMNS: &[&str] = &[
    "schedule",
    "name",
    "owner",
    "definition",
    "activity",
    "command",
    "when",
    "time zone",
    "active",
    "next run",
    "last run",
    "last status",
    "last error",
    "missed",
    "skipped",
];

/// The class of the pill with the status of a run.
fn class_of(status: &str) -> &'static str {
    match status {
        "succeeded" => "good",
        "failed" | "interrupted" => "bad",
        "running" | "pending" => "busy",
        _ => "",
    }
}

/// A run of a schedule.
struct Run {
    instance: Uuid,
    scheduled: Option<DateTime<Utc>>,
    started: Option<DateTime<Utc>>,
    seconds: Option<f64>,
    status: String,
    error: Option<String>,
}

impl From<&Row> for Run {
    fn from(row: &Row) -> Self {
        Self {
            instance: row.get("instance_id"),
            scheduled: row.get("scheduled"),
            started: row.get("started"),
            seconds: row.get("seconds"),
            status: row.get::<_, Option<String>>("status").unwrap_or_default(),
            error: row.get("error"),
        }
    }
}

impl Run {
    fn class(&self) -> &'static str {
        class_of(&self.status)
    }

    fn duration(&self) -> String {
        self.seconds.map_or_else(String::new, |seconds| format!("{seconds:.1} s"))
    }
}

/// A value of a field with its text.
type Choice = (&'static str, &'static str);

const STATES: [Choice; 4] =
    [("", "any"), ("failed", "last run failed"), ("due", "due and not fired"), ("paused", "paused")];
const ORDERS: [Choice; 3] = [("", "name"), ("next", "next run"), ("last", "last run")];

/// What the address of the list says. Unknown values count as none.
struct Asked {
    search: String,
    state: &'static str,
    order: &'static str,
    page: usize,
}

impl Asked {
    fn of(typed: &Typed) -> Self {
        let chosen = |choices: &[Choice], name: &str| {
            choices.iter().map(|(key, _)| *key).find(|key| *key == typed.one(name)).unwrap_or_default()
        };
        Self {
            search: typed.one("q").to_owned(),
            state: chosen(&STATES[..], "state"),
            order: chosen(&ORDERS[..], "order"),
            page: typed.one("page").parse().unwrap_or(1).clamp(1, MAX_PAGES),
        }
    }

    /// The statement for so many schedules and one more, after those of earlier pages.
    fn statement(&self, passed: usize, most: usize) -> Statement {
        let search = self.search.trim().to_lowercase();
        let bounds = [passed, most + 1].map(|number| Some(number.to_string()));
        Statement::new(
            in_order(self.order),
            [vec![Some(search), Some(self.state.to_owned())], bounds.to_vec()].concat(),
        )
    }

    fn is_narrowed(&self) -> bool {
        !self.search.is_empty() || !self.state.is_empty() || self.page > 1
    }

    /// The address of another page of the list.
    fn at(&self, page: usize) -> String {
        self.address(("page", page.to_string().as_str()))
    }

    /// An address of the list with a further pair.
    fn address(&self, further: (&str, &str)) -> String {
        address(PATH, &[("q", self.search.as_str()), ("state", self.state), ("order", self.order), further])
    }
}

#[derive(askama::Template)]
#[template(path = "schedules.html")]
struct ListPage {
    frame: Frame,
    asked: Asked,
    schedules: Vec<Schedule>,
    has_next: bool,
    sql: String,
}

impl ListPage {
    fn states(&self) -> [Choice; 4] {
        STATES
    }

    fn orders(&self) -> [Choice; 3] {
        ORDERS
    }

    /// The address of the list as a file.
    fn file(&self) -> String {
        self.asked.address(("format", "csv"))
    }

    fn before(&self) -> String {
        self.asked.at(self.asked.page - 1)
    }

    fn next(&self) -> String {
        self.asked.at(self.asked.page + 1)
    }
}

async fn show_list(
    State(app): State<App>,
    visitor: Visitor,
    Query(given): Query<Vec<(String, String)>>,
) -> Result<Response, PageFailure> {
    let typed: Typed = given.into_iter().collect();
    let asked = Asked::of(&typed);
    if typed.one("format") == "csv" {
        let rows = asked.statement(0, csv::MOST).read(&app.database, &visitor.caller).await?;
        return Ok(csv::response("schedules.csv", COLUMNS, rows.iter().map(|row| Schedule::from(row).cells())));
    }
    let statement = asked.statement((asked.page - 1) * PAGE, PAGE);
    let rows = statement.read(&app.database, &visitor.caller).await?;
    html(&ListPage {
        frame: Frame::new(&app, &visitor, PATH, "Schedules").await?,
        schedules: rows.iter().take(PAGE).map(Schedule::from).collect(),
        has_next: rows.len() > PAGE && asked.page < MAX_PAGES,
        sql: statement.display(),
        asked,
    })
}

/// What can be done with a schedule: the keyword, the text of its button, its statement, and what is said afterwards.
struct Action {
    key: &'static str,
    button: &'static str,
    sql: &'static str,
    done: &'static str,
}

const ACTIONS: &[Action] = &[
    Action {
        key: "pause",
        button: "Pause",
        sql: "SELECT @wf.wf_alter_schedule($1, active => false)",
        done: "The schedule is paused: it starts nothing until it is resumed.",
    },
    Action {
        key: "resume",
        button: "Resume",
        sql: "SELECT @wf.wf_alter_schedule($1, active => true)",
        done: "The schedule runs again from now on, without the times during the pause.",
    },
    Action {
        key: "run",
        button: "Run now",
        sql: "SELECT @wf.wf_schedule_run_now($1)",
        done: "An additional run is due now: a background worker or wf_run_due() begins it.",
    },
];

impl Action {
    fn of_key(key: &str) -> Option<&'static Self> {
        ACTIONS.iter().find(|action| action.key == key)
    }

    fn statement(&self, name: &str) -> Statement {
        Statement::new(self.sql, vec![Some(name.to_owned())])
    }

    /// Whether the action changes something.
    fn is_offered(&self, schedule: &Schedule) -> bool {
        match self.key {
            "pause" => schedule.is_active,
            "resume" => !schedule.is_active,
            _ => true,
        }
    }
}

#[derive(askama::Template)]
#[template(path = "schedule.html")]
struct Page {
    frame: Frame,
    schedule: Schedule,
    later: Vec<DateTime<Utc>>,
    runs: Vec<Run>,
    failure: Option<Failure>,
    notice: Option<&'static str>,
    /// The statements of the actions.
    sql: String,
}

impl Page {
    fn actions(&self) -> impl Iterator<Item = &'static Action> {
        ACTIONS.iter().filter(|action| self.schedule.can_change() && action.is_offered(&self.schedule))
    }
}

async fn show(
    State(app): State<App>,
    visitor: Visitor,
    Path(id): Path<String>,
    Query(given): Query<Vec<(String, String)>>,
) -> Result<Response, PageFailure> {
    let schedule = Schedule::read(&app, &visitor, &id).await?;
    let typed: Typed = given.into_iter().collect();
    page(&app, &visitor, schedule, None, Action::of_key(typed.one("done")).map(|action| action.done)).await
}

async fn page(
    app: &Gateway,
    visitor: &Visitor,
    schedule: Schedule,
    failure: Option<Failure>,
    notice: Option<&'static str>,
) -> Result<Response, PageFailure> {
    let runs = Statement::new(RUNS, vec![Some(schedule.id.to_string())]);
    let rows = runs.read(&app.database, &visitor.caller).await?;
    let later = schedule.later(app, visitor).await;
    let status = failure.as_ref().map_or(StatusCode::OK, |failure| failure.status);
    let statements = ACTIONS.iter().filter(|action| action.is_offered(&schedule));
    let sql: Vec<String> = statements.map(|action| action.statement(schedule.title()).display()).collect();
    let response = html(&Page {
        frame: Frame::new(app, visitor, PATH, schedule.title()).await?,
        runs: rows.iter().map(Run::from).collect(),
        sql: sql.join("\n"),
        later,
        schedule,
        failure,
        notice,
    })?;
    Ok((status, response).into_response())
}

/// Changes the schedule in one transaction, by its name.
async fn change(
    State(app): State<App>,
    visitor: Visitor,
    Path(id): Path<String>,
    typed: Typed,
) -> Result<Response, PageFailure> {
    let schedule = Schedule::read(&app, &visitor, &id).await?;
    let asked = typed.one("do");
    let action = Action::of_key(asked)
        .ok_or_else(|| Failure::bad_request(format!("a schedule cannot be asked to {asked:?}")))?;
    let Some(name) = &schedule.name else {
        return Err(Failure::bad_request("a trigger of a definition changes only with its definition").into());
    };
    if !schedule.is_mine {
        return Err(Failure::new(StatusCode::FORBIDDEN, format!("must be owner of schedule {name:?}")).into());
    }
    if schedule.is_hidden {
        let failure = Failure::bad_request(format!("schedule name {name:?} is not unique"));
        return Err(failure.hint("The role has a schedule of this name, too. Act as the owner of this one.").into());
    }
    match action.statement(name).run(&app.database, &visitor.caller).await {
        Ok(_) => Ok(Redirect::to(&format!("{PATH}/{}?done={}", schedule.id, action.key)).into_response()),
        Err(failure) if failure.status == StatusCode::UNAUTHORIZED => Err(failure.into()),
        Err(failure) => page(&app, &visitor, schedule, Some(failure), None).await,
    }
}
