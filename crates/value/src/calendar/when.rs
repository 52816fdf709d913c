//! The rule of a schedule: what its occurrences are.

use chrono::{DateTime, Utc};
use serde::{Deserialize, Serialize};

use super::Interval;

/// At which instants a schedule fires.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "camelCase")]
pub enum When {
    /// Once, at this instant.
    At(DateTime<Utc>),
    /// At regular intervals: the first occurrence is one interval after the anchor.
    Every {
        /// The distance of two occurrences; it is positive.
        interval: Interval,
        /// The anchor, which all occurrences are measured from.
        start: DateTime<Utc>,
    },
    /// At the times of a cron expression.
    Cron(String),
    /// Whenever the server starts; time alone never fires it.
    Reboot,
}
