//! The present: `workflow.now` where a test has set it, else PostgreSQL's clock, by which the workers sleep as well.
//! Never the transaction's timestamp.

use chrono::{DateTime, Utc};

use crate::pg::spi::Timestamp;
use crate::pg::{guc, process, user_sql};

/// The instant of a call: the time of the server to the microsecond, or `workflow.now` in tests.
pub fn now() -> DateTime<Utc> {
    match guc::now() {
        Some(text) => user_sql::timestamp(&text).into(),
        None => Timestamp(process::now()).into(),
    }
}

/// The time of the server in microseconds since 1970, if [`now`] is another one.
pub fn real_unless_now() -> Option<i64> {
    guc::now().map(|_| DateTime::from(Timestamp(process::now())).timestamp_micros())
}
