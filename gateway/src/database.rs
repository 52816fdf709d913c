//! The database: a pool of connections of the gateway's own role, on which each request runs as its user's role.
//!
//! A request is one statement in one transaction, sent in one flight: BEGIN, the role, the statement, COMMIT. No
//! statement is prepared under a name: SQL of a user could put another one in its place for the next role.

mod connecting;

use std::sync::{Arc, OnceLock};
use std::time::Duration;

use deadpool_postgres::{
    Hook, HookError, Manager, ManagerConfig, Object, Pool, QueueMode, RecyclingMethod, Runtime, Timeouts,
};
use tokio::sync::oneshot;
use tokio_postgres::error::{DbError, Severity, SqlState};
use tokio_postgres::types::{ToSql, Type};
use tokio_postgres::{Client, Config, Row};
use tokio_postgres_rustls::MakeRustlsConnect;

use crate::caller::Caller;
use crate::config::Serving;
use crate::failure::Failure;

pub use connecting::Unfit;
use connecting::{check, connection, tls_client};

/// How often a transaction that others were in the way of is tried.
const TRIES: u32 = 3;
/// How long a request waits for a connection.
const POOL_WAIT: Duration = Duration::from_secs(5);

/// READ COMMITTED whatever the database's default is: what claims and saves is for that level.
const BEGIN: &str = "BEGIN ISOLATION LEVEL READ COMMITTED";
/// $1 is who logged in, $2 the role that he acts as: until the transaction ends, and no SQL in it can leave it. Who is no
/// member of it any more gets an error.
const BECOME: &str = "SELECT @wf.wf_set_role(CASE WHEN pg_catalog.pg_has_role($1::pg_catalog.name, $2::pg_catalog.name, 'MEMBER') \
     THEN $2::pg_catalog.name END)";
/// Takes away what a request can leave in its session, before another role gets it.
const CLEAN: &str = "RESET ALL; RESET SESSION AUTHORIZATION; DEALLOCATE ALL; CLOSE ALL; UNLISTEN *; \
     SELECT pg_catalog.pg_advisory_unlock_all(); DISCARD SEQUENCES; DISCARD TEMP";

/// A parameter of a statement, with its type: statements are not described before they run.
pub type Parameter = (Box<dyn ToSql + Sync + Send>, Type);

/// A value that can be a parameter.
pub trait IntoParameter {
    fn into_parameter(self) -> Parameter;
}

macro_rules! parameters_of {
    ($($rust:ty => $sql:ident),* $(,)?) => {$(
        impl IntoParameter for $rust {
            fn into_parameter(self) -> Parameter {
                (Box::new(self), Type::$sql)
            }
        }
        impl IntoParameter for Option<$rust> {
            fn into_parameter(self) -> Parameter {
                (Box::new(self), Type::$sql)
            }
        }
    )*};
}

parameters_of! {
    String => TEXT, bool => BOOL, i32 => INT4, i64 => INT8, uuid::Uuid => UUID,
    Vec<String> => TEXT_ARRAY, Vec<uuid::Uuid> => UUID_ARRAY,
}

impl IntoParameter for &str {
    fn into_parameter(self) -> Parameter {
        self.to_owned().into_parameter()
    }
}

/// The parameters of a statement, in order.
#[macro_export]
macro_rules! parameters {
    ($($value:expr),* $(,)?) => { vec![$($crate::database::IntoParameter::into_parameter($value)),*] };
}

/// Whether a statement may be sent again when its connection was lost.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
enum Effect {
    Reads,
    Writes,
    WritesUnlessChanged,
}

#[derive(Clone)]
pub struct Database {
    pool: Pool,
    tls: MakeRustlsConnect,
    config: Config,
    /// Schema of the extension's functions, quoted; known since the first connection.
    schema: Arc<OnceLock<String>>,
    time: Duration,
}

impl Database {
    pub fn new(options: &Serving) -> Result<Self, String> {
        let config = connection(options)?;
        let tls = MakeRustlsConnect::new(tls_client(options.database_ca.as_deref())?);
        let schema = Arc::new(OnceLock::new());
        let manager = Manager::from_config(
            config.clone(),
            tls.clone(),
            ManagerConfig { recycling_method: RecyclingMethod::Fast },
        );
        let known = Arc::clone(&schema);
        let pool = Pool::builder(manager)
            .max_size(options.database_connections.into())
            // The last one that was used has its catalogue and plans in the caches of a processor.
            .queue_mode(QueueMode::Lifo)
            .runtime(Runtime::Tokio1)
            .timeouts(Timeouts { wait: Some(POOL_WAIT), create: Some(Duration::from_secs(15)), recycle: None })
            .post_create(Hook::async_fn(move |client, _| {
                let known = Arc::clone(&known);
                Box::pin(async move {
                    let found = check(client).await.map_err(|problem| HookError::message(problem.to_string()))?;
                    // A database that was made anew may have it elsewhere; then the gateway is started anew, too.
                    if *known.get_or_init(|| found.clone()) != found {
                        return Err(HookError::message(format!("the extension has moved to schema {found}")));
                    }
                    Ok(())
                })
            }))
            .build()
            .map_err(|error| error.to_string())?;
        Ok(Self { pool, tls, config, schema, time: options.request_time() })
    }

    /// The hosts, ports and TLS of the database, for who connects by himself.
    pub fn connection(&self) -> (&Config, &MakeRustlsConnect) {
        (&self.config, &self.tls)
    }

    /// Whether the database answers and fits.
    pub async fn ready(&self) -> Result<(), Failure> {
        let client = self.pool.get().await?;
        client.simple_query("SELECT").await?;
        Ok(())
    }

    /// Connects once, to find out before the first request whether the database fits.
    pub async fn first_check(&self) -> Result<(), Unfit> {
        let (client, connection) =
            self.config.connect(self.tls.clone()).await.map_err(|error| Unfit::Unreachable(said(&error)))?;
        let driver = tokio::spawn(connection);
        let checked = check(&client).await;
        drop(client);
        // Errors of the connection have come up in the check.
        drop(driver.await);
        checked.map(drop)
    }

    /// Runs a statement that only reads, as the caller's role.
    pub async fn read(&self, caller: &Caller, sql: &'static str, values: Vec<Parameter>) -> Result<Vec<Row>, Failure> {
        self.run(Some(caller), sql, values, Effect::Reads).await
    }

    /// Runs a statement that writes, as the caller's role. It is never sent twice unless the database has said that it
    /// was undone.
    pub async fn write(&self, caller: &Caller, sql: &'static str, values: Vec<Parameter>) -> Result<Vec<Row>, Failure> {
        self.run(Some(caller), sql, values, Effect::Writes).await
    }

    /// The same of a statement that compares with what the caller has read: 40001 says that this has changed, which no
    /// further try mends.
    pub async fn write_unless_changed(
        &self,
        caller: &Caller,
        sql: &'static str,
        values: Vec<Parameter>,
    ) -> Result<Vec<Row>, Failure> {
        self.run(Some(caller), sql, values, Effect::WritesUnlessChanged).await
    }

    /// Reads as the gateway's own role, which sees the catalogue and nothing of workflows.
    pub async fn catalogue(&self, sql: &'static str, values: Vec<Parameter>) -> Result<Vec<Row>, Failure> {
        self.run(None, sql, values, Effect::Reads).await
    }

    /// The only column of the only row of a statement that reads: JSON as text.
    pub async fn read_json(
        &self,
        caller: &Caller,
        sql: &'static str,
        values: Vec<Parameter>,
    ) -> Result<Option<String>, Failure> {
        only_text(&self.read(caller, sql, values).await?)
    }

    /// A task of its own finishes the transaction and cleans the session, also when the client has gone.
    async fn run(
        &self,
        caller: Option<&Caller>,
        sql: &'static str,
        values: Vec<Parameter>,
        effect: Effect,
    ) -> Result<Vec<Row>, Failure> {
        let (sender, receiver) = oneshot::channel();
        let (database, caller) = (self.clone(), caller.cloned());
        tokio::spawn(async move { database.transaction(caller.as_ref(), sql, &values, effect, sender).await });
        receiver.await.unwrap_or_else(|_| Err(Failure::internal("a transaction ended without an answer")))
    }

    async fn transaction(
        &self,
        caller: Option<&Caller>,
        sql: &'static str,
        values: &[Parameter],
        effect: Effect,
        answer: oneshot::Sender<Result<Vec<Row>, Failure>>,
    ) {
        let mut tries = 0;
        let result = loop {
            tries += 1;
            let client = match self.pool.get().await {
                Ok(client) => client,
                Err(error) => break Err(error.into()),
            };
            match self.attempt(&client, caller, sql, values).await {
                Ok(rows) => {
                    // The client need not wait for the cleaning.
                    let _ = answer.send(Ok(rows));
                    clean(client).await;
                    return;
                }
                Err(Ended::Late) => {
                    drop(Object::take(client));
                    // Its COMMIT may have been under way.
                    let late = "the request took too long and was cancelled";
                    let is_known = effect == Effect::Reads;
                    break Err(if is_known { Failure::unavailable(late) } else { Failure::unknown(late) });
                }
                Err(Ended::InCommit) => {
                    drop(Object::take(client));
                    if effect == Effect::Reads && tries < TRIES {
                        continue;
                    }
                    break Err(Failure::unknown("the connection to the database was lost"));
                }
                Err(Ended::Error(error)) => {
                    let lost = error.as_db_error().is_none() || is_fatal(&error);
                    let again =
                        tries < TRIES && if lost { effect == Effect::Reads } else { is_transient(&error, effect) };
                    if lost {
                        drop(Object::take(client));
                    } else {
                        clean(client).await;
                    }
                    if !again {
                        break Err(error.into());
                    }
                }
                Err(Ended::Refused(failure)) => {
                    clean(client).await;
                    break Err(failure);
                }
            }
        };
        let _ = answer.send(result);
    }

    /// All four commands are sent before the first answer is there. After an error PostgreSQL ignores those up to the
    /// COMMIT, and makes that a ROLLBACK.
    async fn attempt(
        &self,
        client: &Client,
        caller: Option<&Caller>,
        sql: &str,
        values: &[Parameter],
    ) -> Result<Vec<Row>, Ended> {
        let schema = self.schema.get().map_or("public", String::as_str);
        let (sql, become_sql) = (sql.replace("@wf", schema), BECOME.replace("@wf", schema));
        let values: Vec<(&(dyn ToSql + Sync), Type)> =
            values.iter().map(|(value, sql_type)| (&**value as &(dyn ToSql + Sync), sql_type.clone())).collect();
        let all = async {
            tokio::join!(
                client.batch_execute(BEGIN),
                become_role(client, &become_sql, caller),
                client.query_typed(&sql, &values),
                client.batch_execute("COMMIT"),
            )
        };
        match tokio::time::timeout(self.time, all).await {
            Ok((begun, became, rows, committed)) => {
                begun?;
                became?;
                let rows = rows?;
                match committed {
                    // Its session was ended, and not by what it wanted to commit.
                    Err(error) if is_fatal(&error) => Err(Ended::InCommit),
                    other => Ok(other.map(|()| rows)?),
                }
            }
            Err(_) => {
                let stopped = client.cancel_token().cancel_query(self.tls.clone()).await;
                tracing::warn!(seconds = self.time.as_secs(), ?stopped, "cancelled a statement that took too long");
                Err(Ended::Late)
            }
        }
    }
}

/// How a transaction ended that did not commit.
enum Ended {
    Late,
    /// The server ended the session before it answered the COMMIT.
    InCommit,
    Refused(Failure),
    Error(tokio_postgres::Error),
}

impl From<tokio_postgres::Error> for Ended {
    fn from(error: tokio_postgres::Error) -> Self {
        Self::Error(error)
    }
}

async fn become_role(client: &Client, sql: &str, caller: Option<&Caller>) -> Result<(), Ended> {
    let Some(caller) = caller else { return Ok(()) };
    match client.query_typed(sql, &[(&caller.login, Type::TEXT), (&caller.role, Type::TEXT)]).await {
        // A role that was dropped, or who is no member any more.
        Err(error) if error.code().is_some_and(|code| !is_connection(code)) => {
            tracing::info!(login = caller.login, role = caller.role, cause = said(&error), "refused a role");
            Err(Ended::Refused(Failure::unauthenticated()))
        }
        other => Ok(other.map(drop)?),
    }
}

fn is_connection(code: &SqlState) -> bool {
    ["08", "57", "53"].contains(&&code.code()[..2])
}

/// Whether the server ended the session with the error.
fn is_fatal(error: &tokio_postgres::Error) -> bool {
    let severity = error.as_db_error().and_then(DbError::parsed_severity);
    matches!(severity, Some(Severity::Fatal | Severity::Panic))
}

/// A deadlock, a failed serialization: undone by the database, to be tried again.
fn is_transient(error: &tokio_postgres::Error, effect: Effect) -> bool {
    let is_change = effect == Effect::WritesUnlessChanged && error.code() == Some(&SqlState::T_R_SERIALIZATION_FAILURE);
    !is_change && error.code().is_some_and(|code| code.code().starts_with("40"))
}

/// Gives a connection back to the pool, or drops it where it cannot be cleaned.
async fn clean(client: Object) {
    if let Err(error) = client.batch_execute(CLEAN).await {
        tracing::warn!(cause = said(&error), "dropped a connection that could not be cleaned");
        drop(Object::take(client));
    }
}

/// The text of the only column of the only row; none for NULL and without a row.
pub fn only_text(rows: &[Row]) -> Result<Option<String>, Failure> {
    match rows.first() {
        Some(row) => row.try_get(0).map_err(Failure::internal),
        None => Ok(None),
    }
}

/// An error with what PostgreSQL or the system says of it.
fn said(error: &tokio_postgres::Error) -> String {
    match (error.as_db_error(), std::error::Error::source(error)) {
        (Some(database), _) => database.message().to_owned(),
        (None, Some(source)) => format!("{error}: {source}"),
        (None, None) => error.to_string(),
    }
}
