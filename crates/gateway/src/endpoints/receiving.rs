//! The connection that sleeps in `wf_wait_http_responses` for all requests that wait, and gives them their responses.

use std::time::Duration;

use tokio_postgres::types::{ToSql, Type};
use tokio_postgres::{Client, Error};
use workflow_client::{Connector, extension_schema};

use super::response_of;
use crate::gateway::App;

/// How long one call waits.
const WAIT: &str = "30 s";
/// How much longer than that an answer may take before the connection counts as lost.
const SILENCE: Duration = Duration::from_secs(45);
/// The pause before another connection.
const PAUSE: Duration = Duration::from_secs(1);
/// Responses that are in memory at a time before they are given to their requests.
const TAKEN_AT_ONCE: i32 = 10;

const WAIT_FOR_RESPONSES: &str = "CALL @wf.wf_wait_http_responses($1, $2::pg_catalog.interval, NULL)";
const TAKE_RESPONSES: &str = "SELECT r.request_id, r.status, r.headers::pg_catalog.text AS headers, r.body \
     FROM @wf.wf_take_http_responses($1, $2) r";

/// Gives responses to their requests until the gateway stops. Requests that wait survive a lost connection.
pub async fn receive(app: App) {
    let mut stop = app.stopping.subscribe();
    let receiving = async {
        loop {
            let failed = receive_on_a_connection(&app).await;
            tracing::warn!(cause = failed, "no connection for the responses of workflows");
            tokio::time::sleep(PAUSE).await;
        }
    };
    tokio::select! { () = receiving => {}, _ = stop.wait_for(|stops| *stops) => {} }
}

/// Returns why the connection cannot be used any more.
async fn receive_on_a_connection(app: &App) -> String {
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
            match tokio::time::timeout(SILENCE, receive_once(app, &client, &schema)).await {
                Ok(Ok(())) => {}
                Ok(Err(error)) => break described(&error),
                Err(_) => break "the server does not answer".into(),
            }
        },
        Ok(Err(failed)) => failed,
        Err(_) => "the server does not answer".into(),
    };
    // A session that is waiting for another one would otherwise stay.
    connection.abort();
    failed
}

/// Takes the role, which stays: no SQL of users runs in this session. Returns the schema of the extension.
async fn become_role(app: &App, client: &Client) -> Result<String, String> {
    let role: &str = app.options.endpoints.endpoints_role.as_deref().unwrap_or_default();
    client.batch_execute("SET search_path = ''").await.map_err(|error| described(&error))?;
    let schema = extension_schema(client).await.map_err(|error| error.to_string())?;
    let values: [(&(dyn ToSql + Sync), Type); 1] = [(&role, Type::TEXT)];
    let became = client.query_typed("SELECT pg_catalog.set_config('role', $1, false)", &values).await;
    became.map(|_| schema).map_err(|error| described(&error))
}

async fn receive_once(app: &App, client: &Client, schema: &str) -> Result<(), Error> {
    // What has come while there was no connection is taken without a wait.
    while take(app, client, schema).await? {}
    let server = app.waiting.server();
    let values: [(&(dyn ToSql + Sync), Type); 2] = [(&server, Type::TEXT), (&WAIT, Type::TEXT)];
    client.query_typed(&WAIT_FOR_RESPONSES.replace("@wf", schema), &values).await?;
    Ok(())
}

/// Takes responses and gives them to their requests. They are given before the
/// commit, so none is lost with the connection; those that come again then are for nobody. Returns whether there were
/// any.
async fn take(app: &App, client: &Client, schema: &str) -> Result<bool, Error> {
    let server = app.waiting.server();
    let values: [(&(dyn ToSql + Sync), Type); 2] = [(&server, Type::TEXT), (&TAKEN_AT_ONCE, Type::INT4)];
    let sql = TAKE_RESPONSES.replace("@wf", schema);
    let (_, rows) = tokio::try_join!(client.batch_execute("BEGIN"), client.query_typed(&sql, &values))?;
    for row in &rows {
        app.waiting.give(row.try_get("request_id")?, response_of(row));
    }
    client.batch_execute("COMMIT").await?;
    Ok(!rows.is_empty())
}

fn described(error: &Error) -> String {
    error.as_db_error().map_or_else(|| error.to_string(), |error| error.message().to_owned())
}
