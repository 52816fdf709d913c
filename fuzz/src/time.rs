//! Zones and instants from the lines of an input.

use chrono::{DateTime, Utc};
use workflow_engine::calendar::{Utc0, Zone};

use crate::support::Named;

/// A zone by its name; UTC for an unknown name.
pub fn zone(name: &str) -> Box<dyn Zone> {
    match name.parse() {
        Ok(zone) => Box::new(Named(zone)),
        Err(_) => Box::new(Utc0),
    }
}

/// An instant in RFC 3339, or in seconds since 1970; otherwise the day on which the first cron job ran.
pub fn instant(text: &str) -> DateTime<Utc> {
    let written = DateTime::parse_from_rfc3339(text).map(|instant| instant.to_utc()).ok();
    let counted = || DateTime::from_timestamp(text.parse().ok()?, 0);
    written.or_else(counted).unwrap_or_default()
}
