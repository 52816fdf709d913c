//! The exporter of traces: sends what the journal records to a collector, as spans (OTLP over HTTP, as JSON).
//!
//! A transaction takes a batch of spans and commits when the collector has accepted them, so none is lost. The row of
//! the cursor is locked meanwhile, so of several gateways one sends. After a failure the batch is sent again: a span has
//! the same id each time, by which the collector recognizes it.

mod spans;

use std::sync::Arc;
use std::time::{Duration, Instant};

use axum::http::{Request, StatusCode};
use tokio_postgres::types::{ToSql, Type};
use tokio_postgres::{Client, Error, Row};
use ureq::tls::{Certificate, RootCerts, TlsConfig};
use workflow_client::{Connector, extension_schema};

use crate::gateway::App;
use spans::Burst;

const TAKE: &str = "SELECT s.instance_id, s.seq, s.at, s.definition_id, s.version, s.parent_instance_id, s.traceparent, \
     s.started_at, s.events::pg_catalog.text AS events FROM @wf.wf_take_spans($1) s";

/// Bursts in a request.
const BATCH: i32 = 200;
/// The pause after all bursts have been sent.
const INTERVAL: Duration = Duration::from_secs(2);
/// The pause in times of the duration of the search: a search is long while an old transaction is open.
const REST: u32 = 10;
/// The pauses after failures, from the first to the longest.
const PAUSES: [Duration; 2] = [Duration::from_secs(1), Duration::from_secs(60)];
/// How long the collector may take.
const SEND_TIME: Duration = Duration::from_secs(10);
/// How long the database may take before the connection counts as lost.
const SILENCE: Duration = Duration::from_secs(60);

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
        Ok(Ok(schema)) => loop {
            match tokio::time::timeout(SILENCE, export_batch(&client, &schema, collector)).await {
                Ok(Ok(pause)) => {
                    *has_sent = true;
                    tokio::time::sleep(pause).await;
                }
                Ok(Err(failed)) => break failed,
                Err(_) => break "the server does not answer".into(),
            }
        },
        Ok(Err(failed)) => failed,
        Err(_) => "the server does not answer".into(),
    };
    connection.abort();
    failed
}

/// Takes the role, which stays: no SQL of users runs in this session. Returns the schema of the extension.
async fn become_role(app: &App, client: &Client) -> Result<String, String> {
    let role: &str = app.options.traces.traces_role.as_deref().unwrap_or_default();
    client.batch_execute("SET search_path = ''").await.map_err(|error| described(&error))?;
    let schema = extension_schema(client).await.map_err(|error| error.to_string())?;
    let values: [(&(dyn ToSql + Sync), Type); 1] = [(&role, Type::TEXT)];
    let became = client.query_typed("SELECT pg_catalog.set_config('role', $1, false)", &values).await;
    became.map(|_| schema).map_err(|error| described(&error))
}

/// Sends a batch, and returns the pause before the next one.
async fn export_batch(client: &Client, schema: &str, collector: &Collector) -> Result<Duration, String> {
    let begun = Instant::now();
    let rows = take(client, schema).await.map_err(|error| described(&error))?;
    let searched = begun.elapsed();
    let bursts: Result<Vec<Burst>, String> = rows.iter().map(Burst::of).collect();
    if let Some(body) = spans::request(&bursts?) {
        collector.send(body).await?;
    }
    client.batch_execute("COMMIT").await.map_err(|error| described(&error))?;
    let is_full = usize::try_from(BATCH).is_ok_and(|batch| rows.len() == batch);
    Ok(if is_full { Duration::ZERO } else { INTERVAL.max(searched * REST) })
}

async fn take(client: &Client, schema: &str) -> Result<Vec<Row>, Error> {
    let values: [(&(dyn ToSql + Sync), Type); 1] = [(&BATCH, Type::INT4)];
    client.batch_execute("BEGIN ISOLATION LEVEL READ COMMITTED").await?;
    client.query_typed(&TAKE.replace("@wf", schema), &values).await
}

fn described(error: &Error) -> String {
    error.as_db_error().map_or_else(|| error.to_string(), |error| error.message().to_owned())
}

/// What receives the spans.
struct Collector {
    url: String,
    agent: ureq::Agent,
}

impl Collector {
    /// Trusts the system's certificates, and follows no redirects.
    fn new(url: String) -> Self {
        let trusted = rustls_native_certs::load_native_certs().certs;
        let trusted: Vec<_> = trusted.iter().map(|der| Certificate::from_der(der).to_owned()).collect();
        let tls = TlsConfig::builder()
            .root_certs(RootCerts::Specific(Arc::new(trusted)))
            .unversioned_rustls_crypto_provider(Arc::new(rustls::crypto::ring::default_provider()))
            .build();
        let agent = ureq::Agent::config_builder()
            .tls_config(tls)
            .timeout_global(Some(SEND_TIME))
            .http_status_as_error(false)
            .max_redirects(0)
            .build();
        Self { url, agent: agent.into() }
    }

    /// # Errors
    /// The collector has not accepted the spans, and may accept them later.
    async fn send(&self, body: Vec<u8>) -> Result<(), String> {
        let request = Request::post(&self.url).header("Content-Type", "application/json").body(body);
        let (request, agent) = (request.map_err(|error| error.to_string())?, self.agent.clone());
        let sent = tokio::task::spawn_blocking(move || agent.run(request).map(|response| response.status()));
        match sent.await.map_err(|error| error.to_string())? {
            Ok(status) if status.is_success() => Ok(()),
            // By OTLP the data is malformed: the collector would reject it again.
            Ok(StatusCode::BAD_REQUEST) => {
                tracing::error!("the collector has rejected spans, which are left out");
                Ok(())
            }
            Ok(status) => Err(format!("the collector answers with status {status}")),
            Err(error) => Err(format!("cannot reach the collector: {error}")),
        }
    }
}
