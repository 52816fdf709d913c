//! The timeline of an instance: a row for each execution of an activity, with a bar for its duration, its outcome, and
//! who resumed it.

use axum::extract::{Path, Query, State};
use axum::response::Response;
use chrono::{DateTime, TimeDelta, Utc};
use serde::Deserialize;
use tokio_postgres::Row;
use uuid::Uuid;

use super::Heading;
use crate::failure::Failure;
use crate::gateway::{App, Gateway};
use crate::pages::frame::{Frame, PageFailure, Visitor, html};
use crate::pages::inbox::list::instant;
use crate::parameters;

/// Executions on the page of the instance, and on a page of the timeline.
pub const LATEST: i64 = 50;
const PAGE: i64 = 200;

/// The latest executions of the instance $1 up to the number $2, or of all, in the order in which they began; $3:
/// limit. `total` counts them without the limit. All events of a burst have the same time.
const EXECUTIONS: &str = concat!(
    "WITH e AS MATERIALIZED (SELECT x.number, pg_catalog.count(*) OVER () AS total, x.activity_instance_id, \
         coalesce(x.activity_name, x.activity_id) AS name, x.activity_type, x.status, x.started_at, x.completed_at, \
         x.outcomes, pg_catalog.left(x.fault OPERATOR(pg_catalog.->>) 'message', 300) AS fault, x.has_bookmarks \
       FROM workflow.activity_executions($1) WITH ORDINALITY \
         AS x (activity_instance_id, parent_activity_instance_id, activity_id, activity_name, node_id, activity_type, \
               status, started_at, completed_at, outcomes, inputs, outputs, fault, has_bookmarks, number) \
       WHERE $2 IS NULL OR x.number OPERATOR(pg_catalog.<=) $2 ORDER BY x.number DESC LIMIT $3), \
     w AS (SELECT DISTINCT ON (j.activity_instance_id) j.activity_instance_id, coalesce(j.actor, j.by) AS who \
       FROM workflow.journal j WHERE j.instance_id OPERATOR(pg_catalog.=) $1 \
         AND j.event OPERATOR(pg_catalog.=) 'Resumed' \
         AND j.at OPERATOR(pg_catalog.>=) (SELECT pg_catalog.min(e.started_at) FROM e) \
       ORDER BY j.activity_instance_id, j.seq DESC, j.number DESC) \
     SELECT e.number, e.total, e.name, e.activity_type, e.status, ",
    instant!("e.started_at"),
    " AS started, ",
    instant!("e.completed_at"),
    " AS ended, e.outcomes, e.fault, e.has_bookmarks, w.who \
     FROM e LEFT JOIN w ON w.activity_instance_id OPERATOR(pg_catalog.=) e.activity_instance_id ORDER BY e.number"
);

/// The length of a timeline, and the shortest bar: in units of the picture.
const LENGTH: i64 = 1000;
const SHORTEST: i64 = 8;

/// One execution of an activity.
pub struct Execution {
    number: i64,
    pub name: String,
    pub kind: String,
    status: String,
    is_waiting: bool,
    pub started: Option<DateTime<Utc>>,
    ended: Option<DateTime<Utc>>,
    outcomes: Vec<String>,
    pub fault: Option<String>,
    /// Who resumed it last; `None` for the engine.
    pub who: Option<String>,
    /// Where its bar begins, and how long it is.
    pub bar: (i64, i64),
    /// Its duration as text, until now if it has not ended.
    pub took: String,
}

impl From<&Row> for Execution {
    fn from(row: &Row) -> Self {
        Self {
            number: row.get("number"),
            name: row.get("name"),
            kind: short(row.get("activity_type")).to_owned(),
            status: row.get("status"),
            is_waiting: row.get("has_bookmarks"),
            started: row.get("started"),
            ended: row.get("ended"),
            outcomes: row.get("outcomes"),
            fault: row.get("fault"),
            who: row.get("who"),
            bar: (0, 0),
            took: String::new(),
        }
    }
}

/// The name of an activity type without the namespace in front of it, as pictures show it.
fn short(activity_type: &str) -> &str {
    activity_type.rsplit_once('.').map_or(activity_type, |(_, name)| name)
}

impl Execution {
    /// The state as a pill and as the colour of the bar: its class, and its text.
    pub fn state(&self) -> (&'static str, &'static str) {
        match self.status.as_str() {
            "Completed" => ("good", "completed"),
            "Faulted" => ("bad", "faulted"),
            "Canceled" => ("", "cancelled"),
            _ if self.is_waiting => ("busy", "waiting"),
            _ => ("busy", "running"),
        }
    }

    /// The outcomes, if they say more than that the activity has completed.
    pub fn outcomes(&self) -> String {
        if self.outcomes == ["Done"] { String::new() } else { self.outcomes.join(", ") }
    }

    /// Draws the bar on a timeline between two instants.
    fn draw(&mut self, begin: DateTime<Utc>, end: DateTime<Utc>) {
        let Some(started) = self.started else { return };
        let span = (end - begin).num_milliseconds().max(1);
        let place = |at: DateTime<Utc>| (at - begin).num_milliseconds().clamp(0, span) * LENGTH / span;
        let last = self.ended.unwrap_or(end);
        let from = place(started).min(LENGTH - SHORTEST);
        self.bar = (from, (place(last) - from).max(SHORTEST));
        self.took = duration(last - started);
        if self.ended.is_none() {
            self.took += " so far";
        }
    }
}

/// A duration as text, in its two largest units.
fn duration(length: TimeDelta) -> String {
    let milliseconds = length.num_milliseconds().max(0);
    let seconds = milliseconds / 1000;
    match seconds {
        0 if milliseconds == 0 => "at once".to_owned(),
        0 => format!("{milliseconds} ms"),
        1..60 => format!("{seconds}.{} s", milliseconds % 1000 / 100),
        60..3600 => format!("{} min {} s", seconds / 60, seconds % 60),
        3600..86_400 => format!("{} h {} min", seconds / 3600, seconds % 3600 / 60),
        _ => format!("{} d {} h", seconds / 86_400, seconds % 86_400 / 3600),
    }
}

/// Executions that follow one another, the earliest one first.
pub struct Timeline {
    pub executions: Vec<Execution>,
    /// The number of executions up to the last one of these.
    pub total: i64,
}

impl Timeline {
    /// The latest executions of an instance up to a number, or of all.
    pub async fn read(
        app: &Gateway,
        visitor: &Visitor,
        id: Uuid,
        upto: Option<i64>,
        most: i64,
    ) -> Result<Self, Failure> {
        let rows = app.database.read(&visitor.caller, EXECUTIONS, parameters![id, upto, most]).await?;
        let total = rows.first().map_or(0, |row| row.get("total"));
        Ok(Self::new(rows.iter().map(Execution::from).collect(), total, Utc::now()))
    }

    /// Draws the bars. What has not ended lasts until now.
    fn new(mut executions: Vec<Execution>, total: i64, now: DateTime<Utc>) -> Self {
        let is_open = executions.iter().any(|execution| execution.ended.is_none());
        let starts = executions.iter().filter_map(|execution| execution.started);
        if let Some(begin) = starts.clone().min() {
            let ends = executions.iter().filter_map(|execution| execution.ended);
            let end = starts.chain(ends).chain(is_open.then_some(now)).max().unwrap_or(begin);
            executions.iter_mut().for_each(|execution| execution.draw(begin, end));
        }
        Self { executions, total }
    }

    /// Whether earlier executions are not among these.
    pub fn has_earlier(&self) -> bool {
        self.earlier() > 0
    }

    /// The number of the last execution before these.
    fn earlier(&self) -> i64 {
        self.executions.first().map_or(0, |first| first.number - 1)
    }
}

#[derive(Default, Deserialize)]
#[serde(default)]
pub struct PageQuery {
    /// The number of the last execution of the page.
    upto: String,
}

#[derive(askama::Template)]
#[template(path = "instance_timeline.html")]
struct Page {
    frame: Frame,
    id: Uuid,
    title: String,
    timeline: Timeline,
    is_latest: bool,
}

impl Page {
    /// The address of the page before this one.
    fn earlier(&self) -> String {
        format!("/instances/{}/timeline?upto={}", self.id, self.timeline.earlier())
    }
}

pub async fn show(
    State(app): State<App>,
    visitor: Visitor,
    Path(id): Path<String>,
    Query(asked): Query<PageQuery>,
) -> Result<Response, PageFailure> {
    let Heading { id, title } = Heading::read(&app, &visitor, &id).await?;
    let upto = asked.upto.parse().ok();
    let timeline = Timeline::read(&app, &visitor, id, upto, PAGE).await?;
    html(&Page {
        frame: Frame::new(&app, &visitor, "/instances", format!("Timeline of {title}")).await?,
        id,
        title,
        timeline,
        is_latest: upto.is_none(),
    })
}

#[cfg(test)]
mod tests {
    use super::*;

    fn at(seconds: i64) -> DateTime<Utc> {
        DateTime::from_timestamp(1_900_000_000 + seconds, 0).unwrap()
    }

    fn execution(number: i64, started: i64, ended: Option<i64>) -> Execution {
        Execution {
            number,
            name: "a".to_owned(),
            kind: "Elsa.Delay".to_owned(),
            status: "Running".to_owned(),
            is_waiting: false,
            started: Some(at(started)),
            ended: ended.map(at),
            outcomes: Vec::new(),
            fault: None,
            who: None,
            bar: (0, 0),
            took: String::new(),
        }
    }

    #[test]
    fn bars_lie_within_the_timeline() {
        let executions = vec![execution(3, 0, Some(100)), execution(4, 50, None), execution(5, 100, Some(100))];
        let timeline = Timeline::new(executions, 5, at(200));
        let bars: Vec<(i64, i64)> = timeline.executions.iter().map(|one| one.bar).collect();
        assert_eq!(bars, [(0, 500), (250, 750), (500, SHORTEST)]);
        let took: Vec<&str> = timeline.executions.iter().map(|one| one.took.as_str()).collect();
        assert_eq!(took, ["1 min 40 s", "2 min 30 s so far", "at once"]);
        assert_eq!((timeline.has_earlier(), timeline.earlier()), (true, 2));
        // The clock of the database may be ahead, and all may have happened at once.
        for (started, now) in [(300, 200), (200, 200)] {
            let timeline = Timeline::new(vec![execution(1, started, None)], 1, at(now));
            assert_eq!(timeline.executions[0].bar, (0, SHORTEST));
            assert!(!timeline.has_earlier());
        }
        assert!(Timeline::new(Vec::new(), 0, at(0)).executions.is_empty());
    }

    #[test]
    fn durations_have_two_units() {
        let of = |milliseconds| duration(TimeDelta::milliseconds(milliseconds));
        let shown = [-5, 0, 7, 1250, 61_000, 7_260_000, 266_400_000].map(of);
        assert_eq!(shown, ["at once", "at once", "7 ms", "1.2 s", "1 min 1 s", "2 h 1 min", "3 d 2 h"]);
    }
}
