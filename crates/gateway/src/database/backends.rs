//! What happens to a session after a request: it is reused, dropped, or terminated on the server if it may still be
//! busy.

use std::time::Duration;

use deadpool_postgres::{Object, Pool};
use tokio::time::{sleep, timeout};
use tokio_postgres::types::{ToSql, Type};
use workflow_client::Connector;

/// Interval between attempts to terminate a backend that does not end.
const RETRY_DELAY: Duration = Duration::from_secs(1);

/// The state of a session once its request has been answered.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum SessionState {
    Clean,
    /// State of the request may remain in it.
    Used,
    /// The backend with this process id did not stop when its statement was cancelled.
    Busy(i32),
}

/// Terminates the backend of a session. Its connection stays taken until the backend is gone: otherwise the pool would
/// open a replacement, and SQL that ignores cancellation could use up all connections of the role.
pub async fn end(client: Object, pid: i32, enders: &Pool) {
    tracing::warn!(pid, "terminating a backend that keeps running after it was cancelled");
    while !client.is_closed() {
        if let Ok(ender) = enders.get().await {
            let values: [(&(dyn ToSql + Sync), Type); 1] = [(&pid, Type::INT4)];
            let told = ender.query_typed("SELECT pg_catalog.pg_terminate_backend($1)", &values);
            let is_told = matches!(timeout(Connector::TIME_LIMIT, told).await, Ok(Ok(_)));
            if !is_told {
                drop(Object::take(ender));
            }
        }
        sleep(RETRY_DELAY).await;
    }
    drop(Object::take(client));
}
