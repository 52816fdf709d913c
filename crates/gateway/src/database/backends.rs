//! What becomes of a session after a request: used again, dropped, or ended on the server, which may still be busy.

use std::time::Duration;

use deadpool_postgres::{Object, Pool};
use tokio::time::{sleep, timeout};
use tokio_postgres::types::{ToSql, Type};

use super::hosts::CONNECT_TIME;

/// How often a backend that does not end is told to.
const AGAIN: Duration = Duration::from_secs(1);

/// The state of a session when its request has got its answer.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum SessionState {
    Clean,
    /// Something of the request may be left in it.
    Used,
    /// The backend with this process id did not stop when it was cancelled.
    Busy(i32),
}

/// Ends the backend of a session. Until it is gone the connection counts as taken: a pool that let go of it earlier
/// would open another one, and SQL that ignores being cancelled would take as many as the role may have.
pub async fn end(client: Object, pid: i32, enders: &Pool) {
    tracing::warn!(pid, "terminating a backend that keeps running after it was cancelled");
    while !client.is_closed() {
        if let Ok(ender) = enders.get().await {
            let values: [(&(dyn ToSql + Sync), Type); 1] = [(&pid, Type::INT4)];
            let told = ender.query_typed("SELECT pg_catalog.pg_terminate_backend($1)", &values);
            let is_told = matches!(timeout(CONNECT_TIME, told).await, Ok(Ok(_)));
            if !is_told {
                drop(Object::take(ender));
            }
        }
        sleep(AGAIN).await;
    }
    drop(Object::take(client));
}
