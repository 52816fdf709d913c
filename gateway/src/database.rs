//! The database: a pool of connections of the gateway's own role, on which each request runs as its user's role.
//!
//! A request is one statement in one transaction, sent in one flight: BEGIN, the role, the search path, the statement,
//! COMMIT, and what cleans the session. No statement is prepared under a name: SQL of a user could put another one in its place for the
//! next role.

mod connecting;
pub mod hosts;

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
use hosts::{CONNECT_TIME, Hosts};

/// How often a transaction that others were in the way of is tried.
const TRIES: u32 = 3;
/// How long a request waits for a connection.
const POOL_WAIT: Duration = Duration::from_secs(5);

/// READ COMMITTED whatever the database's default is: what claims and saves is for that level. A message of its own,
/// which cannot fail: after one that the server could not read, the statement would run as the gateway's own role.
///
/// The path is empty, so that nothing of ours is looked up in a schema that a role has made.
const BEGIN: &str = "BEGIN ISOLATION LEVEL READ COMMITTED; SET LOCAL search_path = ''";
/// What writes may run SQL of users, which has the path of the session, as after SET ROLE. The statement itself
/// qualifies each name and operator (scripts/check-gateway-sql).
const USE_SESSION_PATH: &str = "SET LOCAL search_path TO DEFAULT";
/// An expression in SQL: whether a role may act as another one. From PostgreSQL 16 on a member may be granted that or not
/// (`WITH SET FALSE`); before, each member may.
#[macro_export]
macro_rules! may_act_as {
    ($member:literal, $role:literal) => {
        concat!(
            "pg_catalog.pg_has_role(",
            $member,
            ", ",
            $role,
            ", CASE WHEN pg_catalog.current_setting('server_version_num')::integer OPERATOR(pg_catalog.>=) 160000 \
               THEN 'SET' ELSE 'MEMBER' END)"
        )
    };
}

/// $1 is who logged in, $2 the role that he acts as: until the transaction ends, and no SQL in it can leave it; $3 and $4
/// are their oids, where a cookie says them. Who may not act as it any more gets an error, and so does who would act as the
/// gateway itself.
const BECOME: &str = concat!(
    "SELECT @wf.wf_set_role(CASE WHEN ",
    may_act_as!("$1::pg_catalog.name", "$2::pg_catalog.name"),
    " AND $2::pg_catalog.name OPERATOR(pg_catalog.<>) session_user \
        AND ($3 IS NULL OR EXISTS (SELECT FROM pg_catalog.pg_roles r \
          WHERE r.oid OPERATOR(pg_catalog.=) $3 AND r.rolname OPERATOR(pg_catalog.=) $1::pg_catalog.name)) \
        AND ($4 IS NULL OR EXISTS (SELECT FROM pg_catalog.pg_roles r \
          WHERE r.oid OPERATOR(pg_catalog.=) $4 AND r.rolname OPERATOR(pg_catalog.=) $2::pg_catalog.name)) \
        THEN $2::pg_catalog.name END)"
);
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
        let manager = Manager::from_connect(
            config.clone(),
            Hosts { tls: tls.clone() },
            ManagerConfig { recycling_method: RecyclingMethod::Fast },
        );
        let known = Arc::clone(&schema);
        let pool = Pool::builder(manager)
            .max_size(options.database_connections.into())
            // The last one that was used has its catalogue and plans in the caches of a processor.
            .queue_mode(QueueMode::Lifo)
            .runtime(Runtime::Tokio1)
            .timeouts(Timeouts { wait: Some(POOL_WAIT), create: Some(CONNECT_TIME), recycle: None })
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
        self.catalogue("SELECT", vec![]).await.map(drop)
    }

    /// Connects once, to find out before the first request whether the database fits.
    pub async fn first_check(&self) -> Result<(), Unfit> {
        let first = async {
            let connected = hosts::connect(&self.config, &self.tls).await;
            let (client, _) = connected.map_err(|error| Unfit::Unreachable(said(&error)))?;
            check(&client).await.map(drop)
        };
        tokio::time::timeout(CONNECT_TIME, first).await.unwrap_or_else(|_| Err(Unfit::silent()))
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
        answer: AnswerSender,
    ) {
        let mut answer = Some(answer);
        let mut tries = 0;
        let failure = loop {
            tries += 1;
            let client = match self.pool.get().await {
                Ok(client) => client,
                Err(error) => break error.into(),
            };
            let (ended, is_clean) = self.attempt(&client, caller, sql, values, effect, &mut answer).await;
            if !is_clean {
                drop(Object::take(client));
            }
            match ended {
                Ok(()) => return,
                Err(ended) if tries < TRIES && ended.is_to_be_tried_again(effect) => {
                    if ended.is_of_connection() {
                        // What ended this one may have ended the idle ones, too: the next try makes one of its own.
                        self.pool.retain(|_, _| false);
                    }
                }
                Err(ended) => break ended.into_failure(effect),
            }
        };
        answer.map(|answer| answer.send(Err(failure)));
    }

    /// All commands are sent before the first answer is there: each time that the server, or the gateway, has to be
    /// woken costs more than a command. After an error PostgreSQL ignores those up to the COMMIT, and makes that a
    /// ROLLBACK. Also tells whether the session is clean.
    async fn attempt(
        &self,
        client: &Client,
        caller: Option<&Caller>,
        sql: &str,
        values: &[Parameter],
        effect: Effect,
        answer: &mut Option<AnswerSender>,
    ) -> (Result<(), TransactionError>, bool) {
        let schema = self.schema.get().map_or("public", String::as_str);
        let (sql, become_sql) = (sql.replace("@wf", schema), BECOME.replace("@wf", schema));
        let values: Vec<(&(dyn ToSql + Sync), Type)> =
            values.iter().map(|(value, sql_type)| (&**value as &(dyn ToSql + Sync), sql_type.clone())).collect();
        let transaction = async {
            let (begun, became, path, rows, committed) = tokio::join!(
                client.batch_execute(BEGIN),
                become_role(client, &become_sql, caller),
                use_path(client, effect),
                client.query_typed(&sql, &values),
                client.batch_execute("COMMIT"),
            );
            let rows = outcome(begun, became, path, rows, committed)?;
            // The client need not wait for the cleaning.
            answer.take().map(|answer| answer.send(Ok(rows)));
            Ok(())
        };
        let all = async { tokio::join!(transaction, client.batch_execute(CLEAN)) };
        match tokio::time::timeout(self.time, all).await {
            Ok((ended, cleaned)) => {
                if let Some(error) = cleaned.as_ref().err().filter(|error| !error.is_closed()) {
                    tracing::warn!(cause = said(error), "dropped a connection that could not be cleaned");
                }
                (ended, cleaned.is_ok())
            }
            Err(_) => {
                let cancel = client.cancel_token();
                let time = hosts::share(&self.config, CONNECT_TIME);
                let stopped = tokio::time::timeout(time, cancel.cancel_query(self.tls.clone())).await;
                tracing::warn!(seconds = self.time.as_secs(), ?stopped, "cancelled a statement that took too long");
                (Err(TransactionError::Late), false)
            }
        }
    }
}

/// Where the outcome of a transaction goes.
type AnswerSender = oneshot::Sender<Result<Vec<Row>, Failure>>;

fn outcome(
    begun: Result<(), tokio_postgres::Error>,
    became: Result<(), TransactionError>,
    path: Result<(), tokio_postgres::Error>,
    rows: Result<Vec<Row>, tokio_postgres::Error>,
    committed: Result<(), tokio_postgres::Error>,
) -> Result<Vec<Row>, TransactionError> {
    begun?;
    became?;
    path?;
    let rows = rows?;
    match committed {
        Ok(()) => Ok(rows),
        // The server ended its session, and not for what it wanted to commit.
        Err(error) if is_fatal(&error) => Err(TransactionError::InCommit),
        Err(error) => Err(error.into()),
    }
}

/// How a transaction ended that did not commit.
enum TransactionError {
    Late,
    /// The server ended the session before it answered the COMMIT.
    InCommit,
    Refused(Failure),
    Error(tokio_postgres::Error),
}

impl TransactionError {
    fn is_to_be_tried_again(&self, effect: Effect) -> bool {
        match self {
            _ if self.is_of_connection() => effect == Effect::Reads,
            Self::Error(error) => is_transient(error, effect),
            Self::Late | Self::Refused(_) | Self::InCommit => false,
        }
    }

    /// Whether the server ended the session, or the connection is lost.
    fn is_of_connection(&self) -> bool {
        match self {
            Self::InCommit => true,
            Self::Error(error) => error.as_db_error().is_none() || is_fatal(error),
            Self::Late | Self::Refused(_) => false,
        }
    }

    fn into_failure(self, effect: Effect) -> Failure {
        let late = "the request took too long and was cancelled";
        match self {
            Self::Late if effect == Effect::Reads => Failure::unavailable(late),
            // Its COMMIT may have been under way.
            Self::Late => Failure::unknown(late),
            Self::InCommit => Failure::unknown("the connection to the database was lost"),
            Self::Refused(failure) => failure,
            Self::Error(error) => error.into(),
        }
    }
}

impl From<tokio_postgres::Error> for TransactionError {
    fn from(error: tokio_postgres::Error) -> Self {
        Self::Error(error)
    }
}

async fn become_role(client: &Client, sql: &str, caller: Option<&Caller>) -> Result<(), TransactionError> {
    let Some(caller) = caller else { return Ok(()) };
    let session = caller.session.as_ref();
    let oids = (session.map(|session| session.login_oid), session.map(|session| session.role_oid));
    let values: [(&(dyn ToSql + Sync), Type); 4] =
        [(&caller.login, Type::TEXT), (&caller.role, Type::TEXT), (&oids.0, Type::OID), (&oids.1, Type::OID)];
    match client.query_typed(sql, &values).await {
        // A role that was dropped, or who is no member any more.
        Err(error) if error.code().is_some_and(|code| !is_connection(code)) => {
            tracing::info!(login = caller.login, role = caller.role, cause = said(&error), "refused a role");
            Err(TransactionError::Refused(Failure::unauthenticated()))
        }
        other => Ok(other.map(drop)?),
    }
}

async fn use_path(client: &Client, effect: Effect) -> Result<(), tokio_postgres::Error> {
    match effect {
        Effect::Reads => Ok(()),
        Effect::Writes | Effect::WritesUnlessChanged => client.batch_execute(USE_SESSION_PATH).await,
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
