//! The database: a pool of connections of the gateway's own role. Each request runs as its user's role.
//!
//! A request is one statement in one transaction, pipelined with everything around it: BEGIN, SET ROLE, the search
//! path, the statement, COMMIT, and the commands that clean the session. We never use named prepared statements: SQL of
//! a user could replace one before the next role uses it.

mod backends;
mod connecting;

use std::pin::pin;
use std::sync::atomic::{AtomicBool, AtomicI32, Ordering};
use std::sync::{Arc, OnceLock};
use std::time::Duration;

use deadpool_postgres::{Object, Pool};
use futures_util::TryStreamExt as _;
use tokio::sync::{OwnedSemaphorePermit, oneshot};
use tokio_postgres::error::{DbError, Severity, SqlState};
use tokio_postgres::types::{ToSql, Type};
use tokio_postgres::{Client, Row};
use workflow_client::{ConnectOptions, Connector};

use crate::caller::Caller;
use crate::config::ServeOptions;
use crate::failure::Failure;
use crate::memory::{self, Hold};
use crate::shares::Shares;

use backends::SessionState;
pub use connecting::UnusableDatabase;
use connecting::{check, check_actor};

/// Attempts for a transaction that fails because of concurrent transactions.
const TRIES: u32 = 3;
/// How long a request waits for a connection from the pool.
const POOL_WAIT: Duration = Duration::from_secs(5);
/// How long a cancelled statement may take to stop.
const STOP_TIME: Duration = Duration::from_secs(1);

/// READ COMMITTED whatever the database's default is, because claims and saves rely on it. BEGIN is a message of its
/// own that cannot fail to parse: if it could, the statement after it would run as the gateway's own role.
///
/// The search path is empty, so that none of our names resolves to an object in a schema of some role.
const BEGIN: &str = "BEGIN ISOLATION LEVEL READ COMMITTED; SET LOCAL search_path = ''";
/// For reads. The planner takes the views for so costly that PostgreSQL would compile each statement first (JIT), which
/// takes longer than to run it.
const BEGIN_READING: &str = "BEGIN ISOLATION LEVEL READ COMMITTED; SET LOCAL search_path = ''; SET LOCAL jit = off";
/// Writes may run SQL of users, which expects the session's search path, as after SET ROLE. Our statement itself
/// qualifies every name and operator (scripts/checks/check-gateway-sql).
const USE_SESSION_PATH: &str = "SET LOCAL search_path TO DEFAULT";
/// An SQL expression: whether one role may act as another. Since PostgreSQL 16 a membership can exclude SET ROLE (`WITH
/// SET FALSE`); before, every member may.
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

/// Sets the role until the end of the transaction; SQL inside the transaction cannot leave it. $1 is the login role, $2
/// the role to act as, $3 and $4 are their OIDs where the cookie has them. $5 is the actor for the audit. It applies only
/// if the gateway's own role may set it, unless the actor is a person with the groups $6, who must be on record. Fails
/// if the login role may no longer act as $2, or if $2 is the gateway's own role. Also returns the backend's process id,
/// and whether the database has an extension that keeps state which no command resets, such as the connections of dblink.
///
/// The setting is for the views of a person's own requests and answers. It is set first, because $2 may not set it.
const BECOME: &str = concat!(
    "SELECT CASE WHEN pg_catalog.has_parameter_privilege(session_user, 'workflow.actor', 'SET') \
        THEN pg_catalog.set_config('workflow.actor', $5, true) END, @wf.wf_set_role(CASE WHEN ",
    may_act_as!("$1::pg_catalog.name", "$2::pg_catalog.name"),
    " AND $2::pg_catalog.name OPERATOR(pg_catalog.<>) session_user \
        AND ($3 IS NULL OR EXISTS (SELECT FROM pg_catalog.pg_roles r \
          WHERE r.oid OPERATOR(pg_catalog.=) $3 AND r.rolname OPERATOR(pg_catalog.=) $1::pg_catalog.name)) \
        AND ($4 IS NULL OR EXISTS (SELECT FROM pg_catalog.pg_roles r \
          WHERE r.oid OPERATOR(pg_catalog.=) $4 AND r.rolname OPERATOR(pg_catalog.=) $2::pg_catalog.name)) \
        THEN $2::pg_catalog.name END, \
        CASE WHEN $6 IS NOT NULL OR pg_catalog.has_parameter_privilege(session_user, 'workflow.actor', 'SET') \
          THEN $5 END, $6), \
      pg_catalog.pg_backend_pid(), \
      EXISTS (SELECT FROM pg_catalog.pg_extension e WHERE e.extname OPERATOR(pg_catalog.=) ANY \
        ('{dblink,plproxy,plperlu,plpython3u,pltclu,orafce,pg_variables}'::pg_catalog.name[]))"
);
/// Resets everything that a request can leave in its session, before another role gets it.
const CLEAN: &str = "RESET ALL; RESET SESSION AUTHORIZATION; DEALLOCATE ALL; CLOSE ALL; UNLISTEN *; \
     SELECT pg_catalog.pg_advisory_unlock_all(); DISCARD SEQUENCES; DISCARD TEMP";

/// A parameter of a statement with its type; statements are not described before they run.
pub type Parameter = (Box<dyn ToSql + Sync + Send>, Type);

/// A value that can be bound as a parameter.
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
    String => TEXT, bool => BOOL, i32 => INT4, i64 => INT8, f64 => FLOAT8, uuid::Uuid => UUID, Vec<u8> => BYTEA,
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

/// Whether a statement may be sent again after its connection was lost.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
enum Effect {
    Reads,
    Writes,
    WritesUnlessChanged,
}

#[derive(Clone)]
pub struct Database {
    pool: Pool,
    /// One connection for `/readyz`, so that it does not queue behind requests.
    watching: Pool,
    /// One connection for `/metrics`, which is to show the numbers of a busy gateway as well.
    measuring: Pool,
    /// One connection for terminating other backends.
    ending: Pool,
    /// Limits the connections that one user's requests may use at a time.
    users: Arc<Shares>,
    connector: Connector,
    /// Schema of the extension's functions, quoted. Set by the first connection.
    schema: Arc<OnceLock<String>>,
    time: Duration,
}

impl Database {
    pub fn new(options: &ServeOptions, database: &ConnectOptions) -> Result<Self, String> {
        let connector = database.connector().map_err(|error| error.to_string())?;
        let schema = Arc::new(OnceLock::new());
        let pool = |size: usize| connecting::pool(&connector, &schema, size);
        let connections = usize::from(options.database_connections);
        let of_one = (connections - connections.div_ceil(4)).max(1);
        let (requests, watching, measuring, ending) = (pool(connections)?, pool(1)?, pool(1)?, pool(1)?);
        Ok(Self {
            pool: requests,
            watching,
            measuring,
            ending,
            users: Arc::new(Shares::new(of_one)),
            connector,
            schema,
            time: options.request_time(),
        })
    }

    /// For code that opens its own connections.
    pub fn connector(&self) -> &Connector {
        &self.connector
    }

    /// A statement with the schema of the extension in place of `@wf`.
    fn named(&self, sql: &str) -> String {
        sql.replace("@wf", self.schema.get().map_or("public", String::as_str))
    }

    /// Whether the database answers and is compatible with this gateway.
    pub async fn ready(&self) -> Result<(), Failure> {
        let mut tries = 0;
        loop {
            tries += 1;
            let client = self.watching.get().await?;
            match tokio::time::timeout(self.time, client.batch_execute("SELECT")).await {
                Ok(Ok(())) => return Ok(()),
                failed => {
                    drop(Object::take(client));
                    match failed {
                        Ok(Err(error)) if tries == TRIES => return Err(error.into()),
                        Ok(_) => {}
                        Err(_) => return Err(Failure::unavailable("the database does not answer")),
                    }
                }
            }
        }
    }

    /// Connects once at start-up, to learn before the first request whether the database is compatible, and whether the
    /// gateway's role may put people on record where it must.
    pub async fn first_check(&self, records_people: bool) -> Result<(), UnusableDatabase> {
        let first = async {
            let connected = self.connector.connect().await;
            let (client, _) = connected.map_err(|error| UnusableDatabase::Unreachable(message_of(&error)))?;
            check(&client).await?;
            if records_people { check_actor(&client).await } else { Ok(()) }
        };
        tokio::time::timeout(Connector::TIME_LIMIT, first).await.unwrap_or_else(|_| Err(UnusableDatabase::no_answer()))
    }

    /// Runs a statement that only reads, as the caller's role.
    pub async fn read(&self, caller: &Caller, sql: &'static str, values: Vec<Parameter>) -> Result<Vec<Row>, Failure> {
        self.run(Some(caller), sql, values, Effect::Reads).await
    }

    /// Reads as a role on the connection for metrics, so that it does not queue behind requests.
    pub async fn measure(&self, caller: &Caller, sql: &'static str) -> Result<Vec<Row>, Failure> {
        let apart = Self { pool: self.measuring.clone(), users: Arc::new(Shares::new(1)), ..self.clone() };
        apart.read(caller, sql, Vec::new()).await
    }

    /// Runs a statement that writes, as the caller's role. It is sent again only if the database reported a rollback.
    pub async fn write(&self, caller: &Caller, sql: &'static str, values: Vec<Parameter>) -> Result<Vec<Row>, Failure> {
        self.run(Some(caller), sql, values, Effect::Writes).await
    }

    /// Like `write`, for a statement that compares with what the caller has read: here 40001 means that the data has
    /// changed, so retrying is pointless.
    pub async fn write_unless_changed(
        &self,
        caller: &Caller,
        sql: &'static str,
        values: Vec<Parameter>,
    ) -> Result<Vec<Row>, Failure> {
        self.run(Some(caller), sql, values, Effect::WritesUnlessChanged).await
    }

    /// Reads as the gateway's own role, which sees the catalogue and no workflows.
    pub async fn catalogue(&self, sql: &'static str, values: Vec<Parameter>) -> Result<Vec<Row>, Failure> {
        self.run(None, sql, values, Effect::Reads).await
    }

    /// The single column of the single row of a read: JSON as text.
    pub async fn read_json(
        &self,
        caller: &Caller,
        sql: &'static str,
        values: Vec<Parameter>,
    ) -> Result<Option<String>, Failure> {
        only_text(&self.read(caller, sql, values).await?)
    }

    /// Runs the transaction in a spawned task, so that it finishes and cleans the session even if the client
    /// disconnects.
    async fn run(
        &self,
        caller: Option<&Caller>,
        sql: &'static str,
        values: Vec<Parameter>,
        effect: Effect,
    ) -> Result<Vec<Row>, Failure> {
        let (sender, receiver) = oneshot::channel();
        let (database, caller, hold) = (self.clone(), caller.cloned(), memory::current());
        tokio::spawn(async move {
            let statement = Statement { sql, values: &values, effect, hold: hold.as_deref() };
            database.transaction(caller.as_ref(), &statement, sender).await;
        });
        receiver.await.unwrap_or_else(|_| Err(Failure::internal("a transaction ended without an answer")))
    }

    /// Waits until the user may use another connection.
    async fn turn(&self, caller: Option<&Caller>) -> Result<Option<OwnedSemaphorePermit>, Failure> {
        let Some(caller) = caller else { return Ok(None) };
        match tokio::time::timeout(POOL_WAIT, self.users.of(&caller.account()).acquire_owned()).await {
            Ok(turn) => turn.map(Some).map_err(Failure::internal),
            Err(_) => Err(Failure::unavailable("all connections to the database that a user may have are in use")),
        }
    }

    async fn transaction(&self, caller: Option<&Caller>, statement: &Statement<'_>, answer: AnswerSender) {
        let mut answer = Some(answer);
        let mut tries = 0;
        let turn = self.turn(caller).await;
        let failure = loop {
            if let Err(failure) = turn {
                break failure;
            }
            tries += 1;
            let client = match self.pool.get().await {
                Ok(client) => client,
                Err(error) => break error.into(),
            };
            let (ended, session) = self.attempt(&client, caller, statement, &mut answer).await;
            match session {
                SessionState::Clean => {}
                SessionState::Used => drop(Object::take(client)),
                SessionState::Busy(pid) => {
                    let failure = ended.err().map(|ended| ended.into_failure(statement.effect));
                    answer.zip(failure).map(|(answer, failure)| answer.send(Err(failure)));
                    return backends::end(client, pid, &self.ending).await;
                }
            }
            match ended {
                Ok(()) => return,
                Err(ended) if tries < TRIES && ended.is_to_be_tried_again(statement.effect) => {
                    if ended.is_of_connection() {
                        // The cause may have ended the idle connections as well, so the next try opens a new one.
                        self.pool.retain(|_, _| false);
                    }
                }
                Err(ended) => break ended.into_failure(statement.effect),
            }
        };
        answer.map(|answer| answer.send(Err(failure)));
    }

    /// Sends all commands before the first reply arrives, because each extra round trip costs more than a command.
    /// After an error PostgreSQL ignores the commands up to COMMIT, which then acts as ROLLBACK. Also returns the state
    /// of the session.
    async fn attempt(
        &self,
        client: &Client,
        caller: Option<&Caller>,
        statement: &Statement<'_>,
        answer: &mut Option<AnswerSender>,
    ) -> (Result<(), TransactionError>, SessionState) {
        let (sql, become_sql) = (self.named(statement.sql), self.named(BECOME));
        let (pid, keeps, is_late) = (AtomicI32::new(0), AtomicBool::new(false), AtomicBool::new(false));
        let transaction = async {
            let (begun, became, path, rows, committed) = tokio::join!(
                client.batch_execute(if statement.effect == Effect::Reads { BEGIN_READING } else { BEGIN }),
                async {
                    let (process, is_keeper) = become_role(client, &become_sql, caller).await?;
                    pid.store(process, Ordering::Relaxed);
                    keeps.store(is_keeper && statement.effect != Effect::Reads, Ordering::Relaxed);
                    Ok(())
                },
                use_path(client, statement.effect),
                statement.rows(client, &sql),
                client.batch_execute("COMMIT"),
            );
            let rows = outcome(begun, became, path, rows, committed)?;
            // A COMMIT that was cancelled while waiting for a synchronous standby looks like a normal one.
            if is_late.load(Ordering::Relaxed) {
                return Err(TransactionError::Late);
            }
            // Answer first; the client does not wait for the clean-up.
            answer.take().map(|answer| answer.send(Ok(rows)));
            Ok(())
        };
        let mut all = pin!(async { tokio::join!(transaction, client.batch_execute(CLEAN)) });
        let mut ended = tokio::time::timeout(self.time, &mut all).await;
        if ended.is_err() {
            is_late.store(true, Ordering::Relaxed);
            let cancel = client.cancel_token();
            let time = self.connector.time_of_host(Connector::TIME_LIMIT);
            let stopped = tokio::time::timeout(time, cancel.cancel_query(self.connector.tls())).await;
            tracing::warn!(seconds = self.time.as_secs(), ?stopped, "cancelled a statement that took too long");
            ended = tokio::time::timeout(STOP_TIME, &mut all).await;
        }
        let Ok((ended, cleaned)) = ended else {
            let pid = pid.load(Ordering::Relaxed);
            return (Err(TransactionError::Late), if pid == 0 { SessionState::Used } else { SessionState::Busy(pid) });
        };
        if let Some(error) = cleaned.as_ref().err().filter(|error| !error.is_closed()) {
            tracing::warn!(cause = message_of(error), "dropped a connection that could not be cleaned");
        }
        let is_clean = cleaned.is_ok() && !keeps.load(Ordering::Relaxed);
        let ended = if is_late.load(Ordering::Relaxed) { Err(TransactionError::Late) } else { ended };
        (ended, if is_clean { SessionState::Clean } else { SessionState::Used })
    }
}

/// What one request runs.
struct Statement<'a> {
    sql: &'static str,
    values: &'a [Parameter],
    effect: Effect,
    hold: Option<&'a Hold>,
}

impl Statement<'_> {
    /// Collects the rows, within the memory that the request may hold.
    async fn rows(&self, client: &Client, sql: &str) -> Result<Vec<Row>, TransactionError> {
        let values = self.values.iter().map(|(value, sql_type)| (&**value as &(dyn ToSql + Sync), sql_type.clone()));
        let mut stream = pin!(client.query_typed_raw(sql, values).await?);
        let mut rows = Vec::new();
        while let Some(row) = stream.try_next().await? {
            // Counted twice: the rows and the answer built from them exist at the same time.
            let held = self.hold.map_or(Ok(()), |hold| hold.grow(2 * row.raw_size_bytes()));
            held.map_err(TransactionError::TooLarge)?;
            rows.push(row);
        }
        Ok(rows)
    }
}

/// Receives the outcome of a transaction.
type AnswerSender = oneshot::Sender<Result<Vec<Row>, Failure>>;

fn outcome(
    begun: Result<(), tokio_postgres::Error>,
    became: Result<(), TransactionError>,
    path: Result<(), tokio_postgres::Error>,
    rows: Result<Vec<Row>, TransactionError>,
    committed: Result<(), tokio_postgres::Error>,
) -> Result<Vec<Row>, TransactionError> {
    begun?;
    became?;
    path?;
    let rows = rows?;
    match committed {
        Ok(()) => Ok(rows),
        // The server ended its session before the COMMIT was confirmed.
        Err(error) if is_fatal(&error) => Err(TransactionError::InCommit),
        Err(error) => Err(error.into()),
    }
}

/// How a transaction ended without a confirmed commit.
enum TransactionError {
    Late,
    /// The server ended the session before it answered the COMMIT.
    InCommit,
    Refused(Failure),
    /// The result exceeds the memory limit of the request. The transaction may have committed.
    TooLarge(Failure),
    Error(tokio_postgres::Error),
}

impl TransactionError {
    fn is_to_be_tried_again(&self, effect: Effect) -> bool {
        match self {
            _ if self.is_of_connection() => effect == Effect::Reads,
            Self::Error(error) => is_transient(error, effect),
            Self::Late | Self::Refused(_) | Self::TooLarge(_) | Self::InCommit => false,
        }
    }

    /// Whether the server ended the session or the connection was lost.
    fn is_of_connection(&self) -> bool {
        match self {
            Self::InCommit => true,
            Self::Error(error) => error.as_db_error().is_none() || is_fatal(error),
            Self::Late | Self::Refused(_) | Self::TooLarge(_) => false,
        }
    }

    fn into_failure(self, effect: Effect) -> Failure {
        let late = "the request took too long and was cancelled";
        match self {
            Self::Late if effect == Effect::Reads => Failure::unavailable(late),
            // The COMMIT may have been in progress.
            Self::Late => Failure::unknown(late),
            Self::InCommit => Failure::unknown("the connection to the database was lost"),
            Self::Refused(failure) => failure,
            Self::TooLarge(failure) if effect == Effect::Reads => failure,
            Self::TooLarge(failure) => Failure::unknown(failure.message),
            Self::Error(error) => error.into(),
        }
    }
}

impl From<tokio_postgres::Error> for TransactionError {
    fn from(error: tokio_postgres::Error) -> Self {
        Self::Error(error)
    }
}

/// Returns the backend's process id, and whether the session keeps state that no command resets.
async fn become_role(client: &Client, sql: &str, caller: Option<&Caller>) -> Result<(i32, bool), TransactionError> {
    let Some(caller) = caller else { return Ok((0, false)) };
    let session = caller.session.as_ref();
    let oids = (session.map(|session| session.login_oid), session.map(|session| session.role_oid));
    let values: [(&(dyn ToSql + Sync), Type); 6] = [
        (&caller.login, Type::TEXT),
        (&caller.role, Type::TEXT),
        (&oids.0, Type::OID),
        (&oids.1, Type::OID),
        (&caller.actor, Type::TEXT),
        (&caller.groups, Type::TEXT_ARRAY),
    ];
    match client.query_typed(sql, &values).await {
        // The role was dropped, or the login role may no longer act as it.
        Err(error) if error.code().is_some_and(|code| !is_connection(code)) => {
            tracing::info!(login = caller.login, role = caller.role, cause = message_of(&error), "refused a role");
            Err(TransactionError::Refused(Failure::unauthenticated()))
        }
        other => Ok(other?.first().map_or((0, false), |row| (row.get(2), row.get(3)))),
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

/// Whether the error ended the session.
fn is_fatal(error: &tokio_postgres::Error) -> bool {
    let severity = error.as_db_error().and_then(DbError::parsed_severity);
    matches!(severity, Some(Severity::Fatal | Severity::Panic))
}

/// A deadlock or serialization failure: rolled back by the database, and worth a retry.
fn is_transient(error: &tokio_postgres::Error, effect: Effect) -> bool {
    let is_change = effect == Effect::WritesUnlessChanged && error.code() == Some(&SqlState::T_R_SERIALIZATION_FAILURE);
    !is_change && error.code().is_some_and(|code| code.code().starts_with("40"))
}

/// The text in the single column of the single row; `None` for NULL and for no row.
pub fn only_text(rows: &[Row]) -> Result<Option<String>, Failure> {
    match rows.first() {
        Some(row) => row.try_get(0).map_err(Failure::internal),
        None => Ok(None),
    }
}

/// An error with the message of PostgreSQL or the operating system.
fn message_of(error: &tokio_postgres::Error) -> String {
    match (error.as_db_error(), std::error::Error::source(error)) {
        (Some(database), _) => database.message().to_owned(),
        (None, Some(source)) => format!("{error}: {source}"),
        (None, None) => error.to_string(),
    }
}
