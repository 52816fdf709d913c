//! What time it is: `workflow.now` where a test has set it, else the clock. Never the transaction's time.

use chrono::{DateTime, Utc};

use crate::guc;
use crate::pg::user_sql;

/// The present, to the microsecond.
pub fn now() -> DateTime<Utc> {
    match guc::now() {
        Some(text) => user_sql::timestamp(&text).into(),
        None => {
            let now = Utc::now();
            DateTime::from_timestamp_micros(now.timestamp_micros()).unwrap_or(now)
        }
    }
}
