//! The client: a pool of connections of one role, calls in transactions of their own, and transactions of the
//! application.

use std::borrow::Cow;
use std::fmt;
use std::future::Future;
use std::sync::Arc;
use std::time::Duration;

use tokio_postgres::types::Type;
use tokio_postgres::{GenericClient, Row};

use crate::error::Error;
use crate::options::ConnectOptions;
use crate::pool::{self, Pool, Session};
use crate::repeat::{Repeat, Repetitions};
use crate::statement::{Call, Statement, run_in};
use crate::transaction::Transaction;
use crate::waiter::TaskWaiter;

/// Calls rely on READ COMMITTED, whatever the default of the database is.
const BEGIN: &str = "BEGIN ISOLATION LEVEL READ COMMITTED";
/// The SELECT fails in a transaction in which a statement has failed. COMMIT alone would roll back and report success.
const COMMIT: &str = "SELECT; COMMIT";
const SET_ACTOR: &str = "SELECT @wf.wf_set_actor($1)";

/// A connection to the database, as one role: a pool that all clones share.
///
/// ```no_run
/// use serde_json::json;
/// use workflow_client::{Client, ConnectOptions, Start};
///
/// # #[tokio::main(flavor = "current_thread")]
/// async fn main() -> Result<(), workflow_client::Error> {
///     let client = Client::connect(ConnectOptions::new("host=/var/run/postgresql dbname=shop user=app")?).await?;
///     let instance = client.run(Start::new("order").input(json!({"customer": "Ada"}))).await?;
///     println!("started {instance}");
///     Ok(())
/// }
/// ```
#[derive(Clone)]
pub struct Client {
    pool: Arc<Pool>,
    actor: Option<String>,
    repeat_for: Duration,
    begin: Cow<'static, str>,
}

impl Client {
    /// Connects once, and so learns whether the database has the extension in a version that fits.
    ///
    /// ```no_run
    /// # use workflow_client::{Client, ConnectOptions};
    /// # async fn example() -> Result<(), workflow_client::Error> {
    /// let client = Client::connect(ConnectOptions::new("host=db dbname=shop user=app")?).await?;
    /// # Ok(())
    /// # }
    /// ```
    pub async fn connect(options: ConnectOptions) -> Result<Self, Error> {
        let client = Self::lazy(options)?;
        client.pool.session().await?;
        Ok(client)
    }

    /// A client that connects with its first call. A program that has to start while the database is down uses it.
    ///
    /// ```no_run
    /// # use workflow_client::{Client, ConnectOptions};
    /// let client = Client::lazy(ConnectOptions::new("host=db dbname=shop user=app")?)?;
    /// # Ok::<(), workflow_client::Error>(())
    /// ```
    pub fn lazy(options: ConnectOptions) -> Result<Self, Error> {
        let repeat_for = options.repeat_for;
        Ok(Self { pool: Arc::new(Pool::new(options)?), actor: None, repeat_for, begin: BEGIN.into() })
    }

    /// The same connections, in the name of a person: each transaction begins with `wf_set_actor`, so that the audit
    /// records the person beside the role. The role needs `SET` on the parameter `workflow.actor`.
    ///
    /// ```no_run
    /// # async fn example(client: workflow_client::Client, task_id: uuid::Uuid) -> Result<(), workflow_client::Error> {
    /// use workflow_client::CompleteTask;
    ///
    /// client.acting_for("ada@example.com").run(CompleteTask::new(task_id).result("approved")).await?;
    /// # Ok(())
    /// # }
    /// ```
    pub fn acting_for(&self, actor: impl Into<String>) -> Self {
        Self { actor: Some(actor.into()), ..self.clone() }
    }

    /// Connections of the same role in a pool of their own, for a caller that repeats its calls itself.
    pub(crate) fn apart(&self, connections: usize) -> Result<Self, Error> {
        let options = self.pool.options.clone().connections(connections).repeat_for(Duration::ZERO);
        Ok(Self { actor: self.actor.clone(), ..Self::lazy(options)? })
    }

    /// The same connections, for calls that fail (55P03) instead of waiting longer for a lock, and that the caller repeats.
    pub(crate) fn with_lock_timeout(&self, time: Duration) -> Self {
        let begin = format!("{BEGIN}; SET LOCAL lock_timeout = {}", time.as_millis().max(1));
        Self { begin: begin.into(), repeat_for: Duration::ZERO, ..self.clone() }
    }

    /// Runs a call in a transaction of its own, and repeats it where that is right: after a conflict with another
    /// transaction or a lost connection, and after a COMMIT whose answer was lost only if [the call](crate::calls) can
    /// be repeated without another effect. Otherwise that COMMIT is [`Error::OutcomeUnknown`]. A future that is dropped
    /// closes its connection; PostgreSQL rolls back, unless COMMIT was sent.
    ///
    /// ```no_run
    /// # async fn example(client: workflow_client::Client, instance: uuid::Uuid) -> Result<(), workflow_client::Error> {
    /// use workflow_client::Cancel;
    ///
    /// let has_ended_now = client.run(Cancel::new(instance).reason("the customer changed her mind")).await?;
    /// # Ok(())
    /// # }
    /// ```
    pub async fn run<C: Call>(&self, call: C) -> Result<C::Output, Error> {
        let (statement, repeat) = (call.statement()?, call.repeat());
        let mut repetitions = self.repetitions(repeat);
        loop {
            let error = match self.attempt(&statement, repeat).await {
                Ok(rows) => return call.read(&rows),
                Err(error) if repetitions.may_be_done && call.is_ambiguous_after_lost_commit(&error) => {
                    return Err(Error::OutcomeUnknown(error.into()));
                }
                Err(error) => error,
            };
            repetitions.after(error).await?;
        }
    }

    /// Like [`run`](Self::run), in one round trip and without repetitions. If the connection is lost, the call may have been
    /// committed.
    pub(crate) async fn run_at_once<C: Call>(&self, call: C) -> Result<C::Output, Error> {
        let rows = self.attempt(&call.statement()?, Repeat::Always).await?;
        call.read(&rows)
    }

    /// Runs statements and calls in one transaction, and commits it if `work` returns `Ok`. An error rolls back.
    ///
    /// After a conflict (40001, 40P01, 55P03), or if the connection is lost before COMMIT is sent, `work` runs again, so
    /// it must do nothing that outlives a rollback. If the answer to COMMIT is lost, the error is
    /// [`Error::OutcomeUnknown`]. What each run needs, it borrows or clones.
    ///
    /// ```no_run
    /// # async fn example(client: workflow_client::Client) -> Result<(), workflow_client::Error> {
    /// use serde_json::json;
    /// use workflow_client::Start;
    ///
    /// let instance = client.transaction(async |tx| {
    ///     tx.execute("INSERT INTO orders VALUES ($1, $2)", &[&"order-42", &"Ada"]).await?;
    ///     tx.run(Start::new("order").input(json!({"customer": "Ada"})).correlation_id("order-42")).await
    /// }).await?;
    /// # Ok(())
    /// # }
    /// ```
    pub async fn transaction<T, Done: Future<Output = Result<T, Error>>>(
        &self,
        work: impl FnMut(Transaction) -> Done,
    ) -> Result<T, Error> {
        self.transact(work, Repeat::IfRolledBack).await
    }

    /// Like [`transaction`](Self::transaction), for work that may run again although it was committed: its calls can be
    /// repeated (they have a token, an id of the caller's choice or a message), and its own statements as well, for
    /// example by `ON CONFLICT DO NOTHING`. So it is also repeated if the answer to COMMIT was lost.
    ///
    /// ```no_run
    /// # async fn example(client: workflow_client::Client) -> Result<(), workflow_client::Error> {
    /// use serde_json::json;
    /// use workflow_client::CallOnce;
    ///
    /// let payment = json!({"amount": 250});
    /// client.repeatable_transaction(async |tx| {
    ///     tx.execute("INSERT INTO payments VALUES ($1) ON CONFLICT DO NOTHING", &[&"bank-901"]).await?;
    ///     tx.run(CallOnce::event("order-42", "bank-901", "OrderPaid", &payment)).await
    /// }).await?;
    /// # Ok(())
    /// # }
    /// ```
    pub async fn repeatable_transaction<T, Done: Future<Output = Result<T, Error>>>(
        &self,
        work: impl FnMut(Transaction) -> Done,
    ) -> Result<T, Error> {
        self.transact(work, Repeat::Always).await
    }

    /// A connection of its own that waits until the role can claim a task: [`TaskWaiter`].
    ///
    /// ```no_run
    /// # async fn example(client: workflow_client::Client) -> Result<(), workflow_client::Error> {
    /// # use std::time::Duration;
    /// let mut waiter = client.task_waiter(["Charge card"]).await?;
    /// let is_ready = waiter.wait(Duration::from_secs(30)).await?;
    /// # Ok(())
    /// # }
    /// ```
    pub async fn task_waiter(&self, names: impl IntoIterator<Item = impl Into<String>>) -> Result<TaskWaiter, Error> {
        Ok(TaskWaiter::new(self.pool.connect_alone().await?, names.into_iter().map(Into::into).collect()))
    }

    fn repetitions(&self, repeat: Repeat) -> Repetitions {
        Repetitions::new(repeat, self.repeat_for)
    }

    async fn attempt(&self, statement: &Statement, repeat: Repeat) -> Result<Vec<Row>, Error> {
        let session = self.pool.session().await?;
        session.begin();
        let ended = match repeat {
            Repeat::Always => self.at_once(&session, statement).await,
            Repeat::IfRolledBack => self.step_by_step(&session, statement).await,
        };
        self.finish(&session, ended).await
    }

    /// Sends everything before the first answer arrives: one round trip. If the connection is lost, COMMIT may have been
    /// carried out, which is harmless for such a call.
    async fn at_once(&self, session: &Session, statement: &Statement) -> Result<Vec<Row>, Error> {
        if session.is_closed() {
            return Err(Error::Connection("the connection was lost before the call was sent".into()));
        }
        let text = statement.text(&session.schema);
        let parameters = statement.parameters();
        let (begun, named, rows, committed) = tokio::join!(
            biased;
            session.batch_execute(&self.begin),
            self.set_actor(session),
            session.query_typed(&text, &parameters),
            session.batch_execute("COMMIT"),
        );
        let of = |error| of_session(session, error).after_commit_was_sent();
        begun.map_err(of)?;
        named.map_err(of)?;
        let rows = rows.map_err(of)?;
        committed.map_err(of)?;
        Ok(rows)
    }

    /// Sends COMMIT after the answer to the call. So a connection that is lost during the call means a rollback.
    async fn step_by_step(&self, session: &Session, statement: &Statement) -> Result<Vec<Row>, Error> {
        let text = statement.text(&session.schema);
        let parameters = statement.parameters();
        let (begun, named, rows) = tokio::join!(
            biased;
            session.batch_execute(&self.begin),
            self.set_actor(session),
            session.query_typed(&text, &parameters),
        );
        let of = |error| of_session(session, error);
        begun.map_err(of)?;
        named.map_err(of)?;
        let rows = rows.map_err(of)?;
        commit(session).await?;
        Ok(rows)
    }

    async fn set_actor(&self, session: &Session) -> Result<(), tokio_postgres::Error> {
        let Some(actor) = &self.actor else { return Ok(()) };
        let text = Statement::new(SET_ACTOR).text(&session.schema);
        session.query_typed(&text, &[(actor, Type::TEXT)]).await.map(drop)
    }

    async fn transact<T, Done: Future<Output = Result<T, Error>>>(
        &self,
        mut work: impl FnMut(Transaction) -> Done,
        repeat: Repeat,
    ) -> Result<T, Error> {
        let mut repetitions = self.repetitions(repeat);
        loop {
            let error = match self.attempt_work(&mut work).await {
                Ok(done) => return Ok(done),
                Err(error) => error,
            };
            repetitions.after(error).await?;
        }
    }

    async fn attempt_work<T, Done: Future<Output = Result<T, Error>>>(
        &self,
        work: &mut impl FnMut(Transaction) -> Done,
    ) -> Result<T, Error> {
        let session = Arc::new(self.pool.session().await?);
        session.begin();
        let (begun, named) = tokio::join!(biased; session.batch_execute(&self.begin), self.set_actor(&session));
        if let Err(error) = begun.and(named) {
            return self.finish(&session, Err(of_session(&session, error))).await;
        }
        let worked = work(Transaction::new(Arc::clone(&session))).await;
        if Arc::strong_count(&session) > 1 {
            // Its owner could run statements between ours, or after COMMIT. When the owner drops it, the connection is
            // closed, which rolls back.
            return Err(Error::application("the transaction is still in use after the work that it was passed to"));
        }
        let ended = match worked {
            Ok(done) => commit(&session).await.map(|()| done),
            // The driver's errors that `work` passed on do not say that the connection is closed.
            Err(Error::Value(error)) if session.is_closed() => Err(Error::Connection(error)),
            Err(error) => Err(error),
        };
        self.finish(&session, ended).await
    }

    /// Ends the transaction: after an error by a rollback, unless the connection is lost.
    async fn finish<T>(&self, session: &Session, ended: Result<T, Error>) -> Result<T, Error> {
        // An error of a connection can be that of another one, which the application's work has passed on. The transaction
        // may have been ended already, which is only a warning.
        let is_usable = ended.is_ok() || (!session.is_closed() && session.batch_execute("ROLLBACK").await.is_ok());
        if is_usable {
            session.end();
        } else {
            // What has ended this session may have ended the idle ones.
            self.pool.close_idle();
        }
        if let Err(error) = &ended
            && matches!(error.sqlstate(), Some("42883" | "3F000"))
        {
            // The function or its schema does not exist any more.
            self.pool.forget_schema();
        }
        ended
    }
}

impl fmt::Debug for Client {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_struct("Client")
            .field("options", &self.pool.options)
            .field("actor", &self.actor)
            .finish_non_exhaustive()
    }
}

/// Runs a call on a connection or in a transaction of the driver, for an application that has its own pool. Nothing is
/// repeated. Each call costs one more round trip, which finds the schema of the extension.
///
/// ```no_run
/// # async fn example(connection: &mut tokio_postgres::Client) -> Result<(), workflow_client::Error> {
/// use workflow_client::{Start, run_on};
///
/// let transaction = connection.transaction().await?;
/// let instance = run_on(&transaction, Start::new("order")).await?;
/// transaction.commit().await?;
/// # Ok(())
/// # }
/// ```
pub async fn run_on<C: Call>(connection: &impl GenericClient, call: C) -> Result<C::Output, Error> {
    let schema = pool::extension_schema(connection).await?;
    run_in(connection, &schema, &call).await
}

async fn commit(session: &Session) -> Result<(), Error> {
    if session.is_closed() {
        return Err(Error::Connection("the connection was lost before COMMIT was sent".into()));
    }
    session.batch_execute(COMMIT).await.map_err(|error| of_session(session, error).after_commit_was_sent())
}

fn of_session(session: &Session, error: tokio_postgres::Error) -> Error {
    Error::of_driver(error, session.is_closed())
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::calls::{ClaimTasks, Start};

    fn client() -> Client {
        Client::lazy(ConnectOptions::new("host=/nowhere").expect("options")).expect("a client")
    }

    /// A future that a program can spawn.
    fn spawnable<F: Future + Send>(future: F) -> F {
        future
    }

    #[test]
    fn calls_and_transactions_can_be_spawned() {
        let (client, order) = (client(), String::from("order-42"));
        drop(spawnable(client.run(ClaimTasks::any())));
        drop(spawnable(client.transaction(async |tx| {
            tx.execute("INSERT INTO orders VALUES ($1)", &[&order]).await?;
            tx.run(Start::new("order").correlation_id(order.as_str())).await
        })));
        let borrowed = &order;
        drop(spawnable(client.repeatable_transaction(|tx| async move {
            tx.run(Start::new("order").correlation_id(borrowed.as_str())).await
        })));
    }

    #[tokio::test]
    async fn without_a_server_the_error_is_one_of_the_connection() {
        let options = ConnectOptions::new("host=/nowhere").expect("options").repeat_for(std::time::Duration::ZERO);
        let error = Client::connect(options).await.expect_err("no server");
        assert!(matches!(error, Error::Connection(_)) && error.is_transient(), "{error:?}");
    }
}
