//! The current time: `workflow.now` where a test has set it, else the clock by which background workers sleep as well.
//! Never the transaction's timestamp.

use chrono::{DateTime, Utc};

use crate::pg::spi::Timestamp;
use crate::pg::{guc, process, user_sql};

/// The current time with microseconds, or `workflow.now` in tests.
pub fn now() -> DateTime<Utc> {
    match guc::now() {
        Some(text) => user_sql::timestamp(&text).into(),
        None => Timestamp(process::now()).into(),
    }
}

/// The server's time in microseconds since 1970, if [`now`] differs from it.
pub fn real_unless_now() -> Option<i64> {
    guc::now().map(|_| DateTime::from(Timestamp(process::now())).timestamp_micros())
}
