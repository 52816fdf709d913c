//! A transaction of the application, in which calls and statements of its own take effect together.

use std::sync::Arc;

use tokio_postgres::types::ToSql;
use tokio_postgres::{Client as Connection, Row};

use crate::error::Error;
use crate::pool::Session;
use crate::statement::{Call, run_in};

/// A transaction that [`Client::transaction`](crate::Client::transaction) has begun, and will commit or roll back. It must
/// not outlive the work that it is passed to.
///
/// The connection serves other transactions afterwards. What outlives a transaction, such as `SET` without `LOCAL`, a
/// temporary table or an advisory lock of the session, stays with it.
///
/// ```no_run
/// # async fn example(client: workflow_client::Client) -> Result<(), workflow_client::Error> {
/// use workflow_client::PublishEvent;
///
/// client.transaction(async |tx| {
///     tx.execute("UPDATE orders SET is_paid = true WHERE id = $1", &[&"order-42"]).await?;
///     tx.run(PublishEvent::new("OrderPaid").correlation_id("order-42")).await
/// }).await?;
/// # Ok(())
/// # }
/// ```
pub struct Transaction {
    session: Arc<Session>,
}

impl Transaction {
    pub(crate) fn new(session: Arc<Session>) -> Self {
        Self { session }
    }

    /// The same transaction once more.
    pub(crate) fn share(&self) -> Self {
        Self { session: Arc::clone(&self.session) }
    }

    /// Runs a call in this transaction.
    ///
    /// ```no_run
    /// # async fn example(tx: &workflow_client::Transaction) -> Result<(), workflow_client::Error> {
    /// use workflow_client::Run;
    ///
    /// let state = tx.run(Run::new("order")).await?;
    /// assert_eq!(state.sub_status, "Suspended");
    /// # Ok(())
    /// # }
    /// ```
    pub async fn run<C: Call>(&self, call: C) -> Result<C::Output, Error> {
        run_in(&**self.session, &self.session.schema, &call).await.map_err(|error| self.of(error))
    }

    /// Runs a query of the application, and returns its rows.
    ///
    /// ```no_run
    /// # async fn example(tx: &workflow_client::Transaction) -> Result<(), workflow_client::Error> {
    /// for row in tx.query("SELECT customer FROM orders WHERE id = $1", &[&"order-42"]).await? {
    ///     println!("{}", row.get::<_, String>(0));
    /// }
    /// # Ok(())
    /// # }
    /// ```
    pub async fn query(&self, sql: &str, values: &[&(dyn ToSql + Sync)]) -> Result<Vec<Row>, Error> {
        self.session.query(sql, values).await.map_err(|error| self.of(error.into()))
    }

    /// Runs a statement of the application, and returns the number of rows that it changed.
    ///
    /// ```no_run
    /// # async fn example(tx: &workflow_client::Transaction) -> Result<(), workflow_client::Error> {
    /// let changed = tx.execute("DELETE FROM orders WHERE id = $1", &[&"order-42"]).await?;
    /// # Ok(())
    /// # }
    /// ```
    pub async fn execute(&self, sql: &str, values: &[&(dyn ToSql + Sync)]) -> Result<u64, Error> {
        self.session.execute(sql, values).await.map_err(|error| self.of(error.into()))
    }

    /// Names the person for whom the rest of the transaction acts. The role needs `SET` on the parameter
    /// `workflow.actor`.
    ///
    /// ```no_run
    /// # async fn example(tx: &workflow_client::Transaction) -> Result<(), workflow_client::Error> {
    /// tx.set_actor("ada@example.com").await?;
    /// # Ok(())
    /// # }
    /// ```
    pub async fn set_actor(&self, actor: &str) -> Result<(), Error> {
        let text = format!("SELECT {}.wf_set_actor($1::pg_catalog.text)", self.session.schema);
        self.query(&text, &[&actor]).await.map(drop)
    }

    /// The driver's connection, for what this type does not offer, such as COPY and savepoints. The transaction must be
    /// ended by [`Client::transaction`](crate::Client::transaction) only.
    ///
    /// ```no_run
    /// # async fn example(tx: &workflow_client::Transaction) -> Result<(), workflow_client::Error> {
    /// tx.connection().batch_execute("SAVEPOINT before_the_risk").await?;
    /// # Ok(())
    /// # }
    /// ```
    pub fn connection(&self) -> &Connection {
        &self.session
    }

    /// An error of a statement means a lost connection if the connection is closed.
    fn of(&self, error: Error) -> Error {
        match error {
            Error::Value(error) if self.session.is_closed() => Error::Connection(error),
            other => other,
        }
    }
}
