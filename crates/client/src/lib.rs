//! The client for a database with the extension `workflow`, for applications, task workers and command lines.
//!
//! - [`Client`] is a pool of connections of one role. It runs [calls], one in a transaction of its own or
//!   several in a [`transaction`](Client::transaction) together with the application's statements.
//! - [`Worker`] does tasks: it claims them, runs a handler for each, extends leases, and answers.
//! - It repeats a transaction only if PostgreSQL rolled it back, or if repeating it has no further effect. It never
//!   guesses: a COMMIT whose answer is lost is decided by a token, an id or a message, or is
//!   [`Error::OutcomeUnknown`].
//! - It never changes the role, settings or search path of a session, keeps nothing outside the database, and contains no
//!   rule of the engine: everything happens in the functions that it calls. It sends them without prepared statements,
//!   so it works behind a pooler.
//!
//! It works with the extension of the same minor version. `docs/` describes the functions, `docs/tasks.md` workers. With
//! the feature `exact-numbers`, JSON keeps all digits of a number; it sets `arbitrary_precision` of `serde_json`, for the
//! whole program.
//!
//! ```no_run
//! use serde_json::json;
//! use workflow_client::{Client, ConnectOptions, Start};
//!
//! # #[tokio::main(flavor = "current_thread")]
//! async fn main() -> Result<(), workflow_client::Error> {
//!     let client = Client::connect(ConnectOptions::new("host=/var/run/postgresql dbname=shop user=app")?).await?;
//!     client.transaction(async |tx| {
//!         tx.execute("INSERT INTO orders VALUES ($1, $2)", &[&"order-42", &"Ada"]).await?;
//!         tx.run(Start::new("order").input(json!({"customer": "Ada"})).correlation_id("order-42")).await
//!     }).await?;
//!     Ok(())
//! }
//! ```
#![warn(missing_docs)]
#![cfg_attr(not(test), warn(clippy::too_many_lines))]

pub mod calls;
mod client;
mod connector;
mod error;
mod options;
mod pool;
mod repeat;
mod results;
mod statement;
mod transaction;
mod views;
mod waiter;
mod worker;

pub use calls::{
    AssignTask, CallOnce, Cancel, ClaimTask, ClaimTasks, CompleteTask, CompleteTasks, Define, EnqueueBookmark, Explain,
    ExtendTask, FailTask, HttpRequest, LimitTasks, OnFault, Pause, Publish, PublishEvent, ReleaseTask, Resume, Retract,
    Retry, Run, SendStimulus, Start, UnassignTask, Unpause, Validate,
};
pub use client::{Client, run_on};
pub use connector::Connector;
pub use error::{DatabaseError, Error};
pub use options::ConnectOptions;
pub use pool::extension_schema;
pub use results::{
    AfterFailure, AnswerOutcome, ClaimedTask, DefinedVersion, Delivery, HttpResponse, InstanceState, Problem,
};
pub use statement::Call;
pub use transaction::Transaction;
pub use views::{Filter, Instance, List, OpenIncident, OpenTask, View, Waiting};
pub use waiter::TaskWaiter;
pub use worker::{Answer, Task, TaskError, Worker};
/// The driver, its TLS and its pool, whose types appear in this interface.
pub use {deadpool_postgres, tokio_postgres, tokio_postgres_rustls};
