//! The pool of connections, and the check that the database fits this client.

use std::ops::Deref;
use std::sync::atomic::{AtomicBool, Ordering};
use std::sync::{Arc, PoisonError, RwLock};
use std::time::Duration;

use deadpool_postgres::{Object, PoolError};
use tokio::task::JoinHandle;
use tokio_postgres::Client as Connection;

use crate::connector::Connector;
use crate::error::Error;
use crate::options::ConnectOptions;

/// Compatible versions of the extension: same major and minor number.
const EXTENSION: &str = concat!(env!("CARGO_PKG_VERSION_MAJOR"), ".", env!("CARGO_PKG_VERSION_MINOR"), ".");
/// How long a call waits for a connection of the pool.
const POOL_WAIT: Duration = Duration::from_secs(30);

/// Version and schema of the extension. It does not depend on the search path of the session.
const FIND_EXTENSION: &str = "SELECT e.extversion, pg_catalog.quote_ident(n.nspname) FROM pg_catalog.pg_extension e \
    JOIN pg_catalog.pg_namespace n ON n.oid OPERATOR(pg_catalog.=) e.extnamespace \
    WHERE e.extname OPERATOR(pg_catalog.=) 'workflow'";

/// Connections of one role.
pub(crate) struct Pool {
    pool: deadpool_postgres::Pool,
    /// The schema of the extension's functions, quoted. A session finds it if it is not known.
    schema: RwLock<Option<Arc<str>>>,
    pub options: ConnectOptions,
    connector: Connector,
}

impl Pool {
    pub fn new(options: ConnectOptions) -> Result<Self, Error> {
        let connector = options.connector()?;
        let pool = connector.pool(options.connections, POOL_WAIT).build();
        let pool = pool.map_err(|error| Error::Options(error.to_string()))?;
        Ok(Self { pool, schema: RwLock::default(), options, connector })
    }

    pub async fn session(&self) -> Result<Session, Error> {
        let connection = self.pool.get().await.map_err(of_pool)?;
        let known = self.schema.read().unwrap_or_else(PoisonError::into_inner).clone();
        let schema = match known {
            Some(schema) => schema,
            None => {
                let found: Arc<str> = extension_schema(&**connection).await?.into();
                *self.schema.write().unwrap_or_else(PoisonError::into_inner) = Some(Arc::clone(&found));
                found
            }
        };
        Ok(Session { connection: Some(connection), schema, is_clean: AtomicBool::new(true) })
    }

    /// Finds the extension again before the next call, because it may have been updated or created in another schema.
    pub fn forget_schema(&self) {
        *self.schema.write().unwrap_or_else(PoisonError::into_inner) = None;
    }

    /// Closes the idle connections: what has ended one has often ended all.
    pub fn close_idle(&self) {
        self.pool.retain(|_, _| false);
    }

    /// A connection outside the pool, for calls that occupy it for long.
    pub async fn connect_alone(&self) -> Result<Alone, Error> {
        let connect = async {
            let (connection, driver) = self.connector.connect().await.map_err(Error::of_connecting)?;
            // From here on, giving up closes it.
            let mut alone = Alone { connection, driver, schema: String::new() };
            alone.schema = extension_schema(&alone.connection).await?;
            Ok(alone)
        };
        let late = |_| Err(Error::Connection("the server does not answer".into()));
        tokio::time::timeout(Connector::TIME_LIMIT, connect).await.unwrap_or_else(late)
    }
}

/// The schema of the extension's functions, quoted. Fails with [`Error::Unfit`] if the database lacks the extension, or has
/// a version that does not fit this library.
///
/// ```no_run
/// # async fn example(connection: tokio_postgres::Client) -> Result<(), workflow_client::Error> {
/// let schema = workflow_client::extension_schema(&connection).await?;
/// connection.execute(&format!("SELECT {schema}.wf_run_due()"), &[]).await?;
/// # Ok(())
/// # }
/// ```
pub async fn extension_schema(connection: &impl tokio_postgres::GenericClient) -> Result<String, Error> {
    let rows = connection.query_typed(FIND_EXTENSION, &[]).await?;
    let Some(row) = rows.first() else {
        return Err(Error::Unfit("the database has no extension workflow: CREATE EXTENSION workflow".into()));
    };
    let (version, schema): (String, String) = (row.try_get(0)?, row.try_get(1)?);
    if !version.starts_with(EXTENSION) {
        let own = env!("CARGO_PKG_VERSION");
        let problem = format!("the database has workflow {version}, and this program is made for {own}");
        return Err(Error::Unfit(format!("{problem}: install those that fit")));
    }
    Ok(schema)
}

/// A connection of the pool, for one transaction. If it is dropped in the middle of the transaction, it is closed instead
/// of being used again, and PostgreSQL rolls back.
pub(crate) struct Session {
    /// `None` only while it is dropped.
    connection: Option<Object>,
    pub schema: Arc<str>,
    is_clean: AtomicBool,
}

impl Session {
    /// A transaction begins: until it has ended, the connection is of no use to others.
    pub fn begin(&self) {
        self.is_clean.store(false, Ordering::Relaxed);
    }

    pub fn end(&self) {
        self.is_clean.store(true, Ordering::Relaxed);
    }
}

impl Deref for Session {
    type Target = Connection;

    fn deref(&self) -> &Connection {
        self.connection.as_deref().expect("it is taken only by drop")
    }
}

impl Drop for Session {
    fn drop(&mut self) {
        if !self.is_clean.load(Ordering::Relaxed) {
            drop(self.connection.take().map(Object::take));
        }
    }
}

/// A connection outside the pool. Dropping it closes it at once, even while a statement runs.
pub(crate) struct Alone {
    pub connection: Connection,
    pub schema: String,
    driver: JoinHandle<()>,
}

impl Drop for Alone {
    fn drop(&mut self) {
        self.driver.abort();
    }
}

fn of_pool(error: PoolError) -> Error {
    match error {
        PoolError::Backend(error) => Error::of_connecting(error),
        other => Error::Connection(other.into()),
    }
}
