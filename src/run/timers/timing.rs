//! When a timer trigger fires: the stored form of a schedule, its zone, and its next instants.

use std::rc::Rc;

use chrono::{DateTime, Utc};
use serde_json::Value;
use uuid::Uuid;
use workflow_engine::Fault;
use workflow_engine::calendar::{self, Interval, Schedule, When, Zone};
use workflow_engine::spelling::nearest;

use crate::error;
use crate::pg::spi::Timestamp;
use crate::pg::{PgError, args, zone};
use crate::store::timers::zones;

/// Member of the stored form with the user's text.
const TEXT: &str = "text";

/// The instants in a trigger's row.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub struct NextFire {
    /// The next instant of the schedule.
    pub scheduled_at: Option<Timestamp>,
    /// When the trigger is due: that instant, with jitter.
    pub next_fire_at: Option<Timestamp>,
}

impl NextFire {
    /// For an instant of a schedule, with its jitter.
    pub fn at(schedule: &Schedule, at: Option<DateTime<Utc>>) -> Self {
        let random = Uuid::new_v4().as_u64_pair().1;
        Self { scheduled_at: at.map(Into::into), next_fire_at: at.map(|at| schedule.jittered(at, random).into()) }
    }
}

/// The first instant of a schedule after `now`.
pub fn first(schedule: &Schedule, now: DateTime<Utc>) -> Result<NextFire, PgError> {
    let zone = zone_of(schedule)?;
    Ok(NextFire::at(schedule, schedule.first_after(now, &*zone)))
}

/// Parses the text of a schedule; an interval begins now.
pub fn parse(text: &str, now: DateTime<Utc>) -> Result<When, PgError> {
    Schedule::parse_text(text, now).map_err(|fault| error::fault(&fault))
}

/// The zone of a schedule.
pub fn zone_of(schedule: &Schedule) -> Result<Rc<dyn Zone>, PgError> {
    zone(schedule.time_zone.as_deref()).map_err(|fault| error::fault(&fault))
}

/// A zone by name, or that of the session (22023).
pub fn zone(name: Option<&str>) -> Result<Rc<dyn Zone>, Fault> {
    let Some(name) = name else {
        return Ok(zone::session());
    };
    match zone::by_name(name) {
        Some(zone) => Ok(zone),
        None => Err(Fault::new("22023", format!("time zone \"{name}\" not recognized")).hint(
            match nearest(name, zones::names().iter().map(String::as_str)) {
                Some(near) => format!("Did you mean \"{near}\"? The view pg_timezone_names lists the names."),
                None => "The view pg_timezone_names lists the names of time zones.".to_owned(),
            },
        )),
    }
}

/// Rejects a zone given as an offset (22023). PostgreSQL interprets offsets as POSIX does, with the sign inverted:
/// `+05:30` is west of Greenwich.
pub fn refuse_offset(name: &str) -> Result<(), PgError> {
    if !calendar::is_offset(name) {
        return Ok(());
    }
    Err(PgError::new("22023", format!("time zone \"{name}\" is an offset, not a name"))
        .detail("PostgreSQL takes an offset as POSIX does: a positive one is west of Greenwich.")
        .hint("Give the name of a time zone, such as Asia/Kolkata or UTC. The view pg_timezone_names lists them."))
}

/// Microseconds of an interval, with months of 30 and days of 24 hours.
pub fn micros(interval: &Interval) -> i64 {
    let interval = args::Interval { months: interval.months, days: interval.days, micros: interval.micros };
    i64::try_from(interval.as_micros()).unwrap_or(i64::MAX)
}

/// Reads the stored form.
pub fn decode(stored: &Value) -> Result<Schedule, PgError> {
    let mut members = stored.clone();
    if let Value::Object(members) = &mut members {
        members.remove(TEXT);
    }
    serde_json::from_value(members)
        .map_err(|error| PgError::new("XX001", "stored schedule cannot be read").detail(error.to_string()))
}

/// The user's text.
pub fn text_of(stored: &Value) -> Option<&str> {
    stored.get(TEXT)?.as_str()
}

/// The stored form, with the user's text.
pub fn encode(schedule: &Schedule, text: Option<&str>) -> Value {
    let mut stored = serde_json::to_value(schedule).unwrap_or_default();
    if let (Value::Object(members), Some(text)) = (&mut stored, text) {
        members.insert(TEXT.to_owned(), Value::from(text));
    }
    stored
}
