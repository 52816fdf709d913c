//! `/metrics`, on a listener of its own: the numbers of the database and of this gateway, as OpenMetrics text.
//!
//! All who can reach the listener read them, without a login, so they contain counts and names only (`wf_metrics`).
//! However many clients ask, one statement at a time reads the database, for all that have asked before it has ended, and
//! no client waits longer than its time limit.

use std::sync::Arc;
use std::sync::atomic::{AtomicBool, Ordering};
use std::time::{Duration, Instant};

use axum::Router;
use axum::extract::State;
use axum::http::header::CONTENT_TYPE;
use axum::middleware::from_fn_with_state;
use axum::response::{IntoResponse, Response};
use axum::routing::get;
use prometheus_client::collector::Collector;
use prometheus_client::encoding::{DescriptorEncoder, MetricEncoder, NoLabelSet, text};
use prometheus_client::metrics::MetricType;
use prometheus_client::metrics::gauge::Gauge;
use prometheus_client::registry::Registry;
use tokio::sync::{Mutex, OwnedMutexGuard};
use tokio_postgres::Row;
use tower_http::catch_panic::CatchPanicLayer;

use crate::caller::Caller;
use crate::failure::Failure;
use crate::gateway::App;
use crate::guard;
use crate::samples::Sample;

const METRICS: &str = "SELECT m.name, m.type, m.help, m.value, \
       ARRAY(SELECT l.key FROM pg_catalog.jsonb_each_text(m.labels) l ORDER BY l.key), \
       ARRAY(SELECT l.value FROM pg_catalog.jsonb_each_text(m.labels) l ORDER BY l.key) \
     FROM @wf.wf_metrics() m";

/// How long a response waits for the database. By default Prometheus waits 10 seconds.
const TIME_LIMIT: Duration = Duration::from_secs(5);
/// The media type of the response.
const OPEN_METRICS: &str = "application/openmetrics-text; version=1.0.0; charset=utf-8";

/// What the requests for metrics share.
#[derive(Clone)]
struct Scrapes {
    app: App,
    /// The last metrics of the database. Held while they are read.
    last: Arc<Mutex<Option<Read>>>,
    /// Whether the last response was without them.
    is_unmeasured: Arc<AtomicBool>,
}

/// The router of the listener for metrics.
pub fn router(app: &App) -> Router {
    let scrapes = Scrapes { app: app.clone(), last: Arc::default(), is_unmeasured: Arc::default() };
    Router::new()
        .route("/metrics", get(metrics))
        .layer(from_fn_with_state(app.clone(), guard::secure_headers))
        .layer(CatchPanicLayer::custom(guard::panicked))
        .with_state(scrapes)
}

/// The numbers of the database are there if the options name a role that reads them.
async fn metrics(State(scrapes): State<Scrapes>) -> Result<Response, Failure> {
    let mut registry = Registry::default();
    scrapes.app.traffic.register(&mut registry);
    if scrapes.app.options.metrics.metrics_role.is_some() {
        register_database(&scrapes, &mut registry).await;
    }
    let mut text = String::new();
    text::encode(&mut text, &registry).map_err(Failure::internal)?;
    Ok(([(CONTENT_TYPE, OPEN_METRICS)], text).into_response())
}

/// The numbers of the database are left out while it cannot be read, and `wf_database_up` is 0.
async fn register_database(scrapes: &Scrapes, registry: &mut Registry) {
    let up: Gauge = Gauge::default();
    registry.register("wf_database_up", "Whether the gateway has read the metrics of the database", up.clone());
    let read = tokio::time::timeout(TIME_LIMIT, read(scrapes)).await;
    match read.unwrap_or_else(|_| Err(Failure::unavailable("the database has not answered in time"))) {
        Ok(measured) => {
            up.set(1);
            if scrapes.is_unmeasured.swap(false, Ordering::Relaxed) {
                tracing::info!("the metrics of the database can be read again");
            }
            registry.register_collector(Box::new(measured));
        }
        // Otherwise anyone who can reach the listener could fill the log.
        Err(failure) if !scrapes.is_unmeasured.swap(true, Ordering::Relaxed) => {
            tracing::warn!(cause = failure.message, "cannot read the metrics of the database");
        }
        Err(_) => {}
    }
}

/// Reads once at the start, so that the log names a role that may not read the metrics.
pub async fn first_check(app: App) {
    if let Err(failure) = measure(&app).await {
        tracing::error!(cause = failure.message, "cannot read the metrics of the database");
    }
}

/// Waits for a read that is running, or reads.
async fn read(scrapes: &Scrapes) -> Result<Measured, Failure> {
    let asked = Instant::now();
    let last = scrapes.last.clone().lock_owned().await;
    if let Some(read) = last.as_ref().filter(|read| read.ended >= asked) {
        return Ok(read.measured.clone());
    }
    // A statement outlives the response that waits for it. Nobody else reads until it has ended.
    tokio::spawn(renew(scrapes.app.clone(), last)).await.map_err(Failure::internal)?
}

async fn renew(app: App, mut last: OwnedMutexGuard<Option<Read>>) -> Result<Measured, Failure> {
    let measured = measure(&app).await?;
    *last = Some(Read { ended: Instant::now(), measured: measured.clone() });
    Ok(measured)
}

async fn measure(app: &App) -> Result<Measured, Failure> {
    let role = app.options.metrics.metrics_role.clone().unwrap_or_default();
    let rows = app.database.measure(&Caller::of_role(role.clone(), role), METRICS).await?;
    let numbers: Result<Vec<Number>, tokio_postgres::Error> = rows.iter().map(Number::of).collect();
    let numbers = numbers.map_err(Failure::internal)?;
    let mut sample = Sample::default();
    numbers.iter().for_each(|number| sample.add(&number.name, number.value));
    app.samples.record(Instant::now(), sample);
    Ok(Measured(Arc::new(numbers)))
}

/// The last read of the metrics of the database.
struct Read {
    ended: Instant,
    measured: Measured,
}

/// A row of `wf_metrics`.
#[derive(Debug)]
struct Number {
    name: String,
    kind: MetricType,
    help: String,
    value: f64,
    /// Without the bound of a bucket.
    labels: Vec<(String, String)>,
    /// The bound, if it is a bucket of a histogram: the value is the number of what is not above it.
    bound: Option<f64>,
}

impl Number {
    fn of(row: &Row) -> Result<Self, tokio_postgres::Error> {
        let (keys, values): (Vec<String>, Vec<String>) = (row.try_get(4)?, row.try_get(5)?);
        let kind = match row.try_get::<_, &str>(1)? {
            "counter" => MetricType::Counter,
            "histogram" => MetricType::Histogram,
            _ => MetricType::Gauge,
        };
        Ok(Self::new(row.try_get(0)?, kind, row.try_get(2)?, row.try_get(3)?, keys.into_iter().zip(values).collect()))
    }

    fn new(name: String, kind: MetricType, help: String, value: f64, mut labels: Vec<(String, String)>) -> Self {
        let bound = labels.iter().position(|(key, _)| kind == MetricType::Histogram && key == "le");
        let bound = bound.and_then(|at| labels.remove(at).1.parse().ok());
        Self { name, kind, help, value, labels, bound }
    }

    /// The name of the metric. A suffix is part of the names of its numbers only.
    fn metric(&self) -> &str {
        let suffixes: &[&str] = match self.kind {
            MetricType::Counter => &["_total"],
            MetricType::Histogram => &["_bucket", "_count", "_sum"],
            _ => &[],
        };
        suffixes.iter().find_map(|suffix| self.name.strip_suffix(suffix)).unwrap_or(&self.name)
    }
}

/// The rows of `wf_metrics`, those of a metric one after the other, and so those of a histogram.
#[derive(Clone, Debug)]
struct Measured(Arc<Vec<Number>>);

impl Collector for Measured {
    fn encode(&self, mut encoder: DescriptorEncoder<'_>) -> Result<(), std::fmt::Error> {
        for metric in self.0.chunk_by(|one, next| one.metric() == next.metric()) {
            let Some(first) = metric.first() else { continue };
            let mut encoder = encoder.encode_descriptor(first.metric(), &first.help, None, first.kind)?;
            for series in metric.chunk_by(|one, next| one.kind == MetricType::Histogram && one.labels == next.labels) {
                let Some(number) = series.first() else { continue };
                let mut encoder = encoder.encode_family(&number.labels)?;
                match number.kind {
                    MetricType::Histogram => encode_histogram(&mut encoder, series)?,
                    MetricType::Counter => encoder.encode_counter::<NoLabelSet, _, f64>(&number.value, None)?,
                    _ => encoder.encode_gauge(&number.value)?,
                }
            }
        }
        Ok(())
    }
}

/// The numbers of one histogram. The buckets of `wf_metrics` include those below, and the encoder adds them up.
fn encode_histogram(encoder: &mut MetricEncoder<'_>, series: &[Number]) -> Result<(), std::fmt::Error> {
    let (mut buckets, mut count) = (Vec::with_capacity(series.len()), 0);
    for (bound, up_to) in series.iter().filter_map(|number| Some((number.bound?, number.value as u64))) {
        buckets.push((bound, up_to.saturating_sub(count)));
        count = up_to;
    }
    let sum = series.iter().find(|number| number.name.ends_with("_sum")).map_or(0.0, |number| number.value);
    encoder.encode_histogram::<NoLabelSet>(sum, count, &buckets, None)
}

#[cfg(test)]
mod tests {
    use super::*;

    fn number(name: &str, labels: &[(&str, &str)], value: f64) -> Number {
        let kind = match name {
            name if name.ends_with("_total") => MetricType::Counter,
            name if name.contains("_seconds_") => MetricType::Histogram,
            _ => MetricType::Gauge,
        };
        let labels = labels.iter().map(|(key, value)| ((*key).into(), (*value).into())).collect();
        Number::new(name.into(), kind, "What it is.".into(), value, labels)
    }

    #[test]
    fn labels_are_escaped_and_metrics_described_once() {
        let mut registry = Registry::default();
        registry.register_collector(Box::new(Measured(Arc::new(vec![
            number("open", &[("task", "a \"b\"\\\nc")], 2.0),
            number("open", &[("owner", "e"), ("task", "d")], 1.5),
            number("claims_total", &[("task", "d")], 3.0),
        ]))));
        let mut text = String::new();
        text::encode(&mut text, &registry).unwrap();
        assert_eq!(
            text,
            "# HELP open What it is.\n# TYPE open gauge\n\
             open{task=\"a \\\"b\\\"\\\\\\nc\"} 2.0\nopen{owner=\"e\",task=\"d\"} 1.5\n\
             # HELP claims What it is.\n# TYPE claims counter\nclaims_total{task=\"d\"} 3.0\n# EOF\n"
        );
    }

    #[test]
    fn histograms_are_encoded_by_their_labels() {
        let series = |definition| {
            [("_bucket", Some("0.5"), 1.0), ("_bucket", Some("+Inf"), 3.0), ("_count", None, 3.0), ("_sum", None, 7.25)]
                .map(|(suffix, bound, value)| {
                    let labels = [("definition", definition)].into_iter().chain(bound.map(|bound| ("le", bound)));
                    number(&format!("took_seconds{suffix}"), &labels.collect::<Vec<_>>(), value)
                })
        };
        let mut registry = Registry::default();
        let numbers = series("a").into_iter().chain(series("b")).collect();
        registry.register_collector(Box::new(Measured(Arc::new(numbers))));
        let mut text = String::new();
        text::encode(&mut text, &registry).unwrap();
        assert_eq!(
            text,
            "# HELP took_seconds What it is.\n# TYPE took_seconds histogram\n\
             took_seconds_sum{definition=\"a\"} 7.25\ntook_seconds_count{definition=\"a\"} 3\n\
             took_seconds_bucket{le=\"0.5\",definition=\"a\"} 1\ntook_seconds_bucket{le=\"+Inf\",definition=\"a\"} 3\n\
             took_seconds_sum{definition=\"b\"} 7.25\ntook_seconds_count{definition=\"b\"} 3\n\
             took_seconds_bucket{le=\"0.5\",definition=\"b\"} 1\ntook_seconds_bucket{le=\"+Inf\",definition=\"b\"} 3\n\
             # EOF\n"
        );
    }
}
