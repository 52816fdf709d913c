//! Calendar arithmetic: intervals, cron expressions, and schedules made of them.
//!
//! Everything here is a pure function of texts, instants and the rules of a time zone, which the caller passes
//! as a [`Zone`]. The module reads no clock and keeps no state, so a test can ask about any instant.

use chrono::{DateTime, Utc};

mod cron;
mod cron_days;
mod cron_text;
mod interval;
mod interval_text;
mod occurrences;
mod schedule;
mod schedule_text;
mod wall_clock;
mod when;

pub use cron::Cron;
pub use cron_text::CronError;
pub use interval::Interval;
pub use schedule::{DueFires, MISFIRE_CAP, MISFIRE_CAP_MAX, Misfire, Overlap, Schedule};
pub use schedule_text::is_offset;
pub use schedule_text::{given_cron, never, not_positive};
pub use wall_clock::instant_of;
pub use when::When;

/// The offset rules of a time zone. The host provides them.
pub trait Zone {
    /// The UTC offset at an instant, in seconds east.
    fn offset_at(&self, utc: DateTime<Utc>) -> i32;
}

/// UTC as a zone.
#[derive(Clone, Copy, Debug, Default)]
pub struct Utc0;

impl Zone for Utc0 {
    fn offset_at(&self, _utc: DateTime<Utc>) -> i32 {
        0
    }
}
