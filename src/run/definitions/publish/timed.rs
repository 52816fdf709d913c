//! The timer triggers of a definition, when it is published.

use chrono::{DateTime, Utc};
use uuid::Uuid;
use workflow_engine::calendar::{Schedule, When};
use workflow_engine::trigger::Trigger;

use crate::pg::error::notice;
use crate::pg::{PgError, zone};
use crate::run::CallContext;
use crate::run::timers::timing::{self, NextFire};
use crate::store::definitions::DefinitionRow;
use crate::store::definitions::triggers;
use crate::store::timers::schedules::{self, Timed};

/// Adds a trigger with its first due time.
pub fn insert(context: &CallContext, id: Uuid, row: &DefinitionRow, trigger: &Trigger) -> Result<(), PgError> {
    let now = context.timestamp();
    let Some(schedule) = &trigger.schedule else {
        triggers::insert(id, row, trigger, None, now);
        return Ok(());
    };
    // A schedule without its own zone keeps the zone of the publishing session, whichever session fires it.
    let time_zone = schedule.time_zone.clone().or_else(|| Some(zone::session_name()));
    let schedule = Schedule { time_zone, ..schedule.clone() };
    let next = timing::first(&schedule, context.now)?;
    let stored = timing::encode(&schedule, None);
    triggers::insert(id, row, trigger, Some((&stored, next.next_fire_at, next.scheduled_at)), now);
    if let When::At(at) = schedule.when
        && next.scheduled_at.is_none()
    {
        notice_past(trigger, at);
    }
    Ok(())
}

fn notice_past(trigger: &Trigger, at: DateTime<Utc>) {
    notice(
        PgError::new("00000", format!("trigger \"{}\" never fires: its time is past", trigger.activity_id))
            .detail(format!("It is {}.", at.format("%Y-%m-%d %H:%M:%S%.f+00"))),
    );
}

/// Updates the schedule of an otherwise unchanged trigger. Its due time stays, unless the instants of the schedule
/// change. A timer's instants count from its first publication.
pub fn keep(context: &CallContext, stored: &[Timed], id: Uuid, trigger: &Trigger) -> Result<(), PgError> {
    let known = stored.iter().find(|timed| timed.trigger.id == id);
    let (Some(known), Some(wanted)) = (known, &trigger.schedule) else { return Ok(()) };
    let before = timing::decode(&known.schedule)?;
    let mut wanted = wanted.clone();
    wanted.time_zone = wanted.time_zone.or_else(|| before.time_zone.clone());
    let wanted = wanted.anchored_as(&before);
    if wanted == before {
        return Ok(());
    }
    let stored = timing::encode(&wanted, None);
    if (&wanted.when, &wanted.time_zone) == (&before.when, &before.time_zone) {
        schedules::set(id, &stored, known.next_fire_at, known.scheduled_at);
        return Ok(());
    }
    let next = match wanted.when {
        // A fixed instant fires only once.
        When::At(_) if known.has_fired => NextFire::default(),
        _ => timing::first(&wanted, context.now)?,
    };
    schedules::set(id, &stored, next.next_fire_at, next.scheduled_at);
    Ok(())
}
