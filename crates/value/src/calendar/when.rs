//! The rule of a schedule, which determines its occurrences.

use chrono::{DateTime, Utc};
use serde::{Deserialize, Serialize};

use super::Interval;

/// The instants at which a schedule fires.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "camelCase")]
pub enum When {
    /// Once, at this instant.
    At(DateTime<Utc>),
    /// At regular intervals: the first occurrence is one interval after the anchor.
    Every {
        /// The time between two occurrences. It is positive.
        interval: Interval,
        /// The anchor, from which all occurrences are measured.
        start: DateTime<Utc>,
    },
    /// At the times of a cron expression.
    Cron(String),
    /// Whenever the server starts; time alone never fires it.
    Reboot,
}
