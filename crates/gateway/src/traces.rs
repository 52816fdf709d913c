//! The exporter of traces: sends what the journal records to a collector, as spans (OTLP over HTTP, as JSON).
//!
//! A transaction takes a batch of spans and commits when the collector has accepted them, so none is lost. The row of
//! the cursor is locked meanwhile, so of several gateways one sends. After a failure the batch is sent again: a span has
//! the same id each time, by which the collector recognizes it.

mod spans;

use std::time::{Duration, Instant};

use axum::http::{Request, StatusCode};
use serde_json::Value;
use tokio_postgres::types::{ToSql, Type};
use tokio_postgres::{Client, Error, Row};
use workflow_client::{Connector, extension_schema};

use crate::gateway::App;
use crate::tls;
use spans::Burst;

const TAKE: &str = "SELECT s.instance_id, s.seq, s.at, s.definition_id, s.version, s.parent_instance_id, s.traceparent, \
     s.started_at, s.events::pg_catalog.text AS events FROM @wf.wf_take_spans($1) s";

/// Bursts in a request, at most.
const BATCH: i32 = 200;
/// The pause after all bursts have been sent.
const INTERVAL: Duration = Duration::from_secs(2);
/// The pause in times of the duration of the search: a search is long while an old transaction is open.
const REST: u32 = 10;
/// The pauses after failures, from the first to the longest.
const PAUSES: [Duration; 2] = [Duration::from_secs(1), Duration::from_secs(60)];
/// How long the collector may take.
const SEND_TIME: Duration = Duration::from_secs(10);
/// Maximum size of its response in bytes.
const MAX_BYTES: u64 = 64 * 1024;
/// How long the database may take before the connection counts as lost.
const SILENCE: Duration = Duration::from_secs(60);
/// A search that is abandoned would otherwise continue and hold the cursor, and so would the transaction of a gateway
/// that is gone. Both limits are shorter than [`SILENCE`], the second one longer than [`SEND_TIME`].
const SESSION: &str =
    "SET search_path = ''; SET statement_timeout = '45s'; SET idle_in_transaction_session_timeout = '30s'";

/// Sends spans until the gateway stops.
pub async fn export(app: App) {
    let mut stop = app.stopping.subscribe();
    let exporting = async {
        let collector = Collector::new(app.options.traces.traces_endpoint.clone().unwrap_or_default());
        let [first, longest] = PAUSES;
        let mut pause = first;
        loop {
            let mut has_sent = false;
            let failed = export_on_a_connection(&app, &collector, &mut has_sent).await;
            tracing::warn!(cause = failed, "spans are not sent");
            pause = if has_sent { first } else { longest.min(pause * 2) };
            tokio::time::sleep(pause).await;
        }
    };
    tokio::select! { () = exporting => {}, _ = stop.wait_for(|stops| *stops) => {} }
}

/// Returns why the connection or the collector cannot be used any more. The end of the connection rolls back a batch
/// that was not accepted.
async fn export_on_a_connection(app: &App, collector: &Collector, has_sent: &mut bool) -> String {
    let connected = match tokio::time::timeout(Connector::TIME_LIMIT, app.database.connector().connect()).await {
        Err(_) => return "the server does not answer".into(),
        Ok(connected) => connected,
    };
    let (client, connection) = match connected {
        Err(error) => return error.to_string(),
        Ok(connected) => connected,
    };
    let failed = match tokio::time::timeout(SILENCE, become_role(app, &client)).await {
        Ok(Ok(schema)) => export_batches(&client, &schema, collector, has_sent).await,
        Ok(Err(failed)) => failed,
        Err(_) => "the server does not answer".into(),
    };
    connection.abort();
    failed
}

/// Sends batches until one fails, and returns why.
async fn export_batches(client: &Client, schema: &str, collector: &Collector, has_sent: &mut bool) -> String {
    let mut batch = BATCH;
    loop {
        match tokio::time::timeout(SILENCE, export_batch(client, schema, collector, &mut batch)).await {
            Ok(Ok(pause)) => {
                *has_sent = true;
                tokio::time::sleep(pause).await;
            }
            Ok(Err(failed)) => return failed,
            Err(_) => return "the server does not answer".into(),
        }
    }
}

/// Takes the role, which stays: no SQL of users runs in this session. Returns the schema of the extension.
async fn become_role(app: &App, client: &Client) -> Result<String, String> {
    let role: &str = app.options.traces.traces_role.as_deref().unwrap_or_default();
    client.batch_execute(SESSION).await.map_err(|error| described(&error))?;
    let schema = extension_schema(client).await.map_err(|error| error.to_string())?;
    let values: [(&(dyn ToSql + Sync), Type); 1] = [(&role, Type::TEXT)];
    let became = client.query_typed("SELECT pg_catalog.set_config('role', $1, false)", &values).await;
    became.map(|_| schema).map_err(|error| described(&error))
}

/// Sends a batch, and returns the pause before the next one. Changes the size of batches: a smaller one comes after a
/// request that was too large.
async fn export_batch(
    client: &Client,
    schema: &str,
    collector: &Collector,
    batch: &mut i32,
) -> Result<Duration, String> {
    let begun = Instant::now();
    let rows = take(client, schema, *batch).await.map_err(|error| described(&error))?;
    let searched = begun.elapsed();
    let bursts: Result<Vec<Burst>, String> = rows.iter().map(Burst::of).collect();
    let body = spans::request(&bursts?);
    if let Some(body) = body
        && collector.send(body).await? == Reception::TooLarge
    {
        if *batch > 1 {
            *batch /= 2;
            client.batch_execute("ROLLBACK").await.map_err(|error| described(&error))?;
            return Ok(Duration::ZERO);
        }
        tracing::error!("the spans of a burst are too many for the collector, and are left out");
    }
    client.batch_execute("COMMIT").await.map_err(|error| described(&error))?;
    let pause = if is_full(rows.len(), *batch) { Duration::ZERO } else { INTERVAL.max(searched * REST) };
    // Slowly: the limit of the collector stays.
    *batch = BATCH.min(*batch + BATCH / 20);
    Ok(pause)
}

/// Whether further bursts are likely to wait. A few rows of a full batch may be missing: those of bursts without an
/// instance, as of starts that were rejected.
fn is_full(rows: usize, batch: i32) -> bool {
    usize::try_from(batch).is_ok_and(|batch| rows * 2 >= batch)
}

async fn take(client: &Client, schema: &str, batch: i32) -> Result<Vec<Row>, Error> {
    let values: [(&(dyn ToSql + Sync), Type); 1] = [(&batch, Type::INT4)];
    client.batch_execute("BEGIN ISOLATION LEVEL READ COMMITTED").await?;
    client.query_typed(&TAKE.replace("@wf", schema), &values).await
}

fn described(error: &Error) -> String {
    error.as_db_error().map_or_else(|| error.to_string(), |error| error.message().to_owned())
}

/// What the collector has done with a request that is not to be repeated as it is.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
enum Reception {
    /// The spans are accepted, or rejected for good.
    Done,
    /// It accepts smaller requests only.
    TooLarge,
}

/// What receives the spans.
struct Collector {
    url: String,
    agent: ureq::Agent,
}

impl Collector {
    /// Trusts the system's certificates, and follows no redirects.
    fn new(url: String) -> Self {
        let agent = ureq::Agent::config_builder()
            .tls_config(tls::trusting_system())
            .timeout_global(Some(SEND_TIME))
            .http_status_as_error(false)
            .max_redirects(0)
            .build();
        Self { url, agent: agent.into() }
    }

    /// # Errors
    /// The collector has not accepted the spans, and may accept them later.
    async fn send(&self, body: Vec<u8>) -> Result<Reception, String> {
        let request = Request::post(&self.url).header("Content-Type", "application/json").body(body);
        let (request, agent) = (request.map_err(|error| error.to_string())?, self.agent.clone());
        let sent = tokio::task::spawn_blocking(move || {
            let mut response = agent.run(request)?;
            // A body that was read leaves the connection for the next request.
            let body = response.body_mut().with_config().limit(MAX_BYTES).read_to_vec().unwrap_or_default();
            Ok::<_, ureq::Error>((response.status(), body))
        });
        match sent.await.map_err(|error| error.to_string())? {
            Ok((status, body)) if status.is_success() => {
                if let Some(spans) = rejected(&body) {
                    tracing::error!(spans, "the collector has rejected spans, which are left out");
                }
                Ok(Reception::Done)
            }
            Ok((StatusCode::PAYLOAD_TOO_LARGE, _)) => Ok(Reception::TooLarge),
            // By OTLP the data is malformed: the collector would reject it again.
            Ok((StatusCode::BAD_REQUEST, _)) => {
                tracing::error!("the collector has rejected a request, whose spans are left out");
                Ok(Reception::Done)
            }
            Ok((status, _)) => Err(format!("the collector answers with status {status}")),
            Err(error) => Err(format!("cannot reach the collector: {error}")),
        }
    }
}

/// How many spans of an accepted request the collector has rejected, which it says in its response. JSON has 64-bit
/// numbers of OTLP as text; some collectors write numbers.
fn rejected(body: &[u8]) -> Option<i64> {
    let response: Value = serde_json::from_slice(body).ok()?;
    let number = &response["partialSuccess"]["rejectedSpans"];
    let number = number.as_i64().or_else(|| number.as_str()?.parse().ok());
    number.filter(|number| *number > 0)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_collector_can_reject_a_part() {
        for (body, number) in [
            ("", None),
            ("{}", None),
            (r#"{"partialSuccess": {}}"#, None),
            (r#"{"partialSuccess": {"rejectedSpans": "0"}}"#, None),
            (r#"{"partialSuccess": {"rejectedSpans": "3", "errorMessage": "too old"}}"#, Some(3)),
            (r#"{"partialSuccess": {"rejectedSpans": 2}}"#, Some(2)),
        ] {
            assert_eq!(rejected(body.as_bytes()), number, "{body}");
        }
    }

    #[test]
    fn a_batch_that_lacks_a_few_rows_is_followed_at_once() {
        assert_eq!([200, 199, 100, 99, 0].map(|rows| is_full(rows, BATCH)), [true, true, true, false, false]);
        assert_eq!([0, 1].map(|rows| is_full(rows, 1)), [false, true]);
    }
}
