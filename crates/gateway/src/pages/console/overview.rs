//! Overview: the numbers of `wf_metrics`, as `/metrics` has them, each with a link to the list behind it.
//!
//! Members of `pg_monitor` see charts of the last hour as well.
//!
//! A role that may not read the numbers of the whole database gets those of what it may read, which are counted up to a
//! thousand.

use std::time::Instant;

use axum::extract::State;
use axum::response::Response;
use chrono::{DateTime, TimeDelta, Utc};
use tokio_postgres::Row;

use super::charts::Charts;
use super::schedules::{has_failed, is_due};
use super::{OVERVIEW, counted};
use crate::gateway::{App, Gateway};
use crate::pages::frame::{Frame, PageFailure, Visitor, html};
use crate::pages::inbox::list::instant;
use crate::pages::incidents::causes::Causes;
use crate::pages::reader::Reader;
use crate::pages::statement::Statement;
use crate::routing::Routes;
use crate::samples::Sample;

pub fn routes() -> Routes {
    Routes::new().get(OVERVIEW, show)
}

/// The open tasks, those of programs as well.
const TASKS: &str = "/inbox?whose=all&every=yes";

/// Dead letters that were not replayed.
const DEAD_LETTERS: &str = "/dead-letters";
/// Schedules whose last run failed, and those that are due.
const FAILED_SCHEDULES: &str = "/schedules?state=failed";
const DUE_SCHEDULES: &str = "/schedules?state=due";

/// A metric has at most one label, except for the buckets of histograms, which no number here shows.
const METRICS: &str = "SELECT m.name, \
     (SELECT l.value FROM pg_catalog.jsonb_each_text(m.labels) l LIMIT 1) AS label, m.value FROM @wf.wf_metrics() m \
     WHERE m.type OPERATOR(pg_catalog.<>) 'histogram'";

/// What a role may read, counted up to [`MOST`]. Tasks come in order of age.
const OWN: &str = concat!(
    "SELECT (SELECT pg_catalog.count(*) FROM (SELECT 1 FROM workflow.open_tasks LIMIT 1000) t) AS tasks, (SELECT ",
    instant!("t.created_at"),
    " FROM workflow.open_tasks t LIMIT 1) AS oldest_task, \
     (SELECT pg_catalog.count(*) FROM (SELECT 1 FROM workflow.open_incidents LIMIT 1000) i) AS incidents, \
     (SELECT pg_catalog.count(*) FROM (SELECT 1 FROM workflow.dead_letter_list d WHERE d.replayed_at IS NULL \
        LIMIT 1000) l) AS dead_letters, \
     (SELECT pg_catalog.count(*) FROM (SELECT 1 FROM workflow.schedules s WHERE ",
    has_failed!(),
    " LIMIT 1000) f) AS failed_schedules, \
     (SELECT pg_catalog.count(*) FROM (SELECT 1 FROM workflow.schedules s WHERE ",
    is_due!(),
    " LIMIT 1000) f) AS due_schedules"
);

/// Where the numbers of [`OWN`] end.
const MOST: i64 = 1000;

/// Rows of the tables by task and by definition.
const ROWS: usize = 20;
/// Causes of incidents.
const CAUSES: usize = 5;

/// A number of the overview.
struct Number {
    label: &'static str,
    /// HTML: digits, or an instant relative to now.
    shown: String,
    /// The list behind it.
    href: Option<&'static str>,
    /// The class that marks a number that should be 0.
    class: &'static str,
}

impl Number {
    fn new(label: &'static str, shown: String, href: impl Into<Option<&'static str>>) -> Self {
        Self { label, shown, href: href.into(), class: "" }
    }

    /// Marks the number with a class if it is not 0.
    fn marked(self, class: &'static str) -> Self {
        let class = if matches!(self.shown.as_str(), "0" | NONE) { "" } else { class };
        Self { class, ..self }
    }
}

/// What is shown for an instant that there is not.
const NONE: &str = "–";

struct Group {
    title: &'static str,
    numbers: Vec<Number>,
}

/// The open tasks of a name.
struct TaskRow {
    name: String,
    open: String,
    oldest: Option<DateTime<Utc>>,
    held: String,
    full: String,
}

/// What the instances of a definition have done since the server has started.
struct DefinitionRow {
    id: String,
    started: String,
    finished: String,
    faulted: String,
    cancelled: String,
    incidents: String,
}

#[derive(askama::Template)]
#[template(path = "overview.html")]
struct Page {
    frame: Frame,
    groups: Vec<Group>,
    charts: Charts,
    /// The most frequent causes of incidents.
    causes: Causes,
    tasks: Vec<TaskRow>,
    definitions: Vec<DefinitionRow>,
    sql: String,
}

async fn show(State(app): State<App>, visitor: Visitor) -> Result<Response, PageFailure> {
    let frame = Frame::new(&app, &visitor, OVERVIEW, "Overview").await?;
    let reader = visitor.reader.in_english();
    let statement = Statement::new(if frame.is_monitor() { METRICS } else { OWN }, Vec::new());
    let rows = statement.read(&app.database, &visitor.caller).await?;
    let metrics = Metrics::new(if frame.is_monitor() { &rows[..] } else { &[] });
    let causes = Causes::read(&app.database, &visitor.caller, CAUSES).await?;
    let groups = if frame.is_monitor() { of_database(&metrics, &reader) } else { of_role(&rows, &reader) };
    html(&Page {
        charts: if frame.is_monitor() { metrics.charts(&app) } else { Charts::default() },
        tasks: metrics.tasks(),
        definitions: metrics.definitions(),
        sql: statement.display(),
        frame,
        groups,
        causes,
    })
}

/// The rows of `wf_metrics`.
struct Metrics(Vec<Metric>);

struct Metric {
    name: String,
    /// The value of its label: of a task, a definition or a metric.
    label: String,
    value: f64,
}

impl Metrics {
    fn new(rows: &[Row]) -> Self {
        let metric = |row: &Row| Metric {
            name: row.get("name"),
            label: row.get::<_, Option<String>>("label").unwrap_or_default(),
            value: row.get("value"),
        };
        Self(rows.iter().map(metric).collect())
    }

    fn of<'a>(&'a self, name: &'a str) -> impl Iterator<Item = &'a Metric> {
        self.0.iter().filter(move |metric| metric.name == name)
    }

    /// The number of a metric, over all of its labels.
    fn count(&self, name: &str) -> String {
        counted(self.of(name).map(|metric| metric.value).sum(), self.is_capped(name))
    }

    /// The number of a metric for a label; 0 if there is none.
    fn value(&self, name: &str, label: &str) -> f64 {
        self.of(name).find(|metric| metric.label == label).map_or(0.0, |metric| metric.value)
    }

    /// The largest number of a metric.
    fn most(&self, name: &str) -> Option<f64> {
        self.of(name).map(|metric| metric.value).reduce(f64::max)
    }

    /// Whether the number may be too small, because not all rows were read.
    fn is_capped(&self, name: &str) -> bool {
        self.value("workflow_metric_capped", name) > 0.0
    }

    /// Stores these numbers as a sample, and draws those of the last hour.
    fn charts(&self, app: &Gateway) -> Charts {
        let (now, mut sample) = (Instant::now(), Sample::default());
        self.0.iter().for_each(|metric| sample.add(&metric.name, metric.value));
        app.samples.record(now, sample);
        Charts::new(&app.samples.until(now, sample))
    }

    /// The names of tasks, those with the oldest ones first.
    fn tasks(&self) -> Vec<TaskRow> {
        let mut oldest: Vec<&Metric> = self.of("workflow_task_oldest_age_seconds").collect();
        oldest.sort_by(|one, other| other.value.total_cmp(&one.value));
        let is_capped = self.is_capped("workflow_task_open");
        let row = |age: &&Metric| TaskRow {
            name: age.label.clone(),
            open: counted(self.value("workflow_task_open", &age.label), is_capped),
            oldest: ago(age.value),
            held: counted(self.value("workflow_task_slots_held", &age.label), false),
            full: counted(self.value("workflow_task_limits_full", &age.label), false),
        };
        oldest.iter().take(ROWS).map(row).collect()
    }

    /// The definitions, those with the most faulted instances first.
    fn definitions(&self) -> Vec<DefinitionRow> {
        let faulted = |definition: &str| self.value("workflow_definition_faulted_total", definition);
        let mut started: Vec<&Metric> = self.of("workflow_definition_started_total").collect();
        started.sort_by(|one, other| {
            let by_faults = faulted(&other.label).total_cmp(&faulted(&one.label));
            by_faults.then(other.value.total_cmp(&one.value))
        });
        let row = |one: &&Metric| DefinitionRow {
            id: one.label.clone(),
            started: counted(one.value, false),
            finished: counted(self.value("workflow_definition_finished_total", &one.label), false),
            faulted: counted(faulted(&one.label), false),
            cancelled: counted(self.value("workflow_definition_cancelled_total", &one.label), false),
            incidents: counted(self.value("workflow_definition_incidents_total", &one.label), false),
        };
        started.iter().take(ROWS).map(row).collect()
    }
}

/// The instant that was some seconds ago.
fn ago(seconds: f64) -> Option<DateTime<Utc>> {
    Utc::now().checked_sub_signed(TimeDelta::try_milliseconds((seconds * 1000.0) as i64)?)
}

/// An instant relative to now, as HTML.
fn when(at: Option<DateTime<Utc>>, reader: &Reader) -> String {
    at.map_or_else(|| NONE.to_owned(), |at| reader.when(&at))
}

/// The numbers of the whole database.
fn of_database(metrics: &Metrics, reader: &Reader) -> Vec<Group> {
    let number = |label, name: &str, href: Option<&'static str>| Number::new(label, metrics.count(name), href);
    let age = |name: &str| metrics.most(name).filter(|age| *age > 0.0).and_then(ago);
    let oldest_task = when(age("workflow_task_oldest_age_seconds"), reader);
    // Without a number, 10,000 timers of paused and faulted instances hide the oldest one that is late.
    let oldest_due = match metrics.most("workflow_oldest_due_age_seconds") {
        Some(_) => when(age("workflow_oldest_due_age_seconds"), reader),
        None => "unknown".to_owned(),
    };
    let delay = metrics.most("workflow_lateness_p99_seconds");
    let executors =
        format!("{} of {}", metrics.count("workflow_busy_executors"), metrics.count("workflow_max_executors"));
    vec![
        Group {
            title: "Failed",
            numbers: vec![
                number("open incidents", "workflow_open_incidents", Some("/incidents")).marked("bad"),
                number("dead letters", "workflow_dead_letters", Some(DEAD_LETTERS)).marked("bad"),
                number("schedules whose last run failed", "workflow_failed_schedules", Some(FAILED_SCHEDULES))
                    .marked("bad"),
                number("stored stimuli whose delivery failed", "workflow_failing_stimuli", None).marked("warn"),
            ],
        },
        Group {
            title: "Late",
            numbers: vec![
                number("due timers", "workflow_due_bookmarks", Some("/workers")),
                number("due schedules", "workflow_due_schedules", Some(DUE_SCHEDULES)),
                Number::new("due time of the oldest of them", oldest_due, "/workers").marked("warn"),
                Number::new("99th percentile of the delay of fires", seconds(delay), "/workers"),
            ],
        },
        Group {
            title: "Waiting",
            numbers: vec![
                number("open tasks", "workflow_task_open", Some(TASKS)),
                Number::new("age of the oldest task", oldest_task, TASKS),
                number("limits of tasks that are full", "workflow_task_limits_full", Some("/workers#limits"))
                    .marked("warn"),
                number("stored stimuli", "workflow_queued_stimuli", None),
            ],
        },
        Group {
            title: "Background workers",
            numbers: vec![
                Number::new("executors busy", executors, "/workers"),
                number("fires since the start of the server", "workflow_fires_total", Some("/workers")),
                number("of these fires failed", "workflow_failed_fires_total", Some("/workers")),
            ],
        },
    ]
}

/// A duration in seconds, as text.
fn seconds(seconds: Option<f64>) -> String {
    seconds.map_or_else(|| NONE.to_owned(), |seconds| format!("{seconds:.2} s"))
}

/// The numbers of what the role may read.
fn of_role(rows: &[Row], reader: &Reader) -> Vec<Group> {
    let Some(row) = rows.first() else { return Vec::new() };
    let number = |label, column: &str, href: &'static str| {
        let number: i64 = row.get(column);
        Number::new(label, counted(number as f64, number >= MOST), href)
    };
    let oldest_task = when(row.get("oldest_task"), reader);
    vec![
        Group {
            title: "Failed",
            numbers: vec![
                number("open incidents", "incidents", "/incidents").marked("bad"),
                number("dead letters", "dead_letters", DEAD_LETTERS).marked("bad"),
                number("schedules whose last run failed", "failed_schedules", FAILED_SCHEDULES).marked("bad"),
            ],
        },
        Group { title: "Late", numbers: vec![number("due schedules", "due_schedules", DUE_SCHEDULES).marked("warn")] },
        Group {
            title: "Waiting",
            numbers: vec![
                number("open tasks", "tasks", TASKS),
                Number::new("age of the oldest task", oldest_task, TASKS),
            ],
        },
    ]
}

#[cfg(test)]
mod tests {
    use super::*;

    fn metric(name: &str, label: &str, value: f64) -> Metric {
        Metric { name: name.to_owned(), label: label.to_owned(), value }
    }

    #[test]
    fn numbers_are_added_up_and_capped() {
        let metrics = Metrics(vec![
            metric("workflow_task_open", "a", 3.0),
            metric("workflow_task_open", "b", 10_000.0),
            metric("workflow_task_oldest_age_seconds", "a", 60.0),
            metric("workflow_task_oldest_age_seconds", "b", 7200.0),
            metric("workflow_metric_capped", "workflow_task_open", 1.0),
        ]);
        assert_eq!(metrics.count("workflow_task_open"), "10,003+");
        assert_eq!(metrics.count("workflow_dead_letters"), "0");
        assert_eq!(metrics.most("workflow_task_oldest_age_seconds"), Some(7200.0));
        let names: Vec<String> = metrics.tasks().into_iter().map(|row| row.name).collect();
        assert_eq!(names, ["b", "a"]);
        assert_eq!(ago(f64::INFINITY), None);
    }

    #[test]
    fn definitions_with_the_most_faults_come_first() {
        let started = |definition, number| metric("workflow_definition_started_total", definition, number);
        let metrics = Metrics(vec![
            started("calm", 90.0),
            started("small", 1.0),
            started("broken", 2.0),
            metric("workflow_definition_faulted_total", "broken", 2.0),
        ]);
        let rows: Vec<(String, String)> = metrics.definitions().into_iter().map(|row| (row.id, row.faulted)).collect();
        assert_eq!(rows, [("broken", "2"), ("calm", "0"), ("small", "0")].map(|(id, n)| (id.to_owned(), n.to_owned())));
    }
}
