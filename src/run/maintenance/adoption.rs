//! Adopting a database: after a restore, copy or upgrade, this database starts to fire its timers, and its owners
//! become roles of this cluster.

use std::collections::BTreeMap;

use chrono::Duration;
use pgrx::pg_sys::Oid;
use serde_json::{Map, Value};
use workflow_engine::calendar::{Misfire, Schedule};

use crate::pg::{PgError, role, stored_role};
use crate::run::CallContext;
use crate::run::timers::timing::{self, NextFire};
use crate::store::instances::bookmarks::keys;
use crate::store::maintenance::adoption::{self, StoredOwner};
use crate::store::maintenance::identity;
use crate::store::tasks::leases;
use crate::store::timers::schedules::{self, FireOutcome, Timed};
use crate::wake;

/// The arguments of `wf_adopt_database`.
#[derive(Debug)]
pub struct Adoption {
    /// Report the effects, and change nothing.
    pub dry_run: bool,
    /// Whether overdue fires are skipped instead of being fired at once.
    pub skips: bool,
    /// Role by owner, for owners that are to become a role of another name.
    pub roles: Map<String, Value>,
}

/// An owner, with statistics.
#[derive(Debug)]
pub struct AdoptedOwner {
    /// Its name, or its whole stored text if the name is ambiguous or missing.
    pub owner: String,
    /// The role that it refers to.
    pub role: Option<String>,
    /// The number of its instances, including ended ones and those of owners merged into it.
    pub instances: i64,
    /// Number of due times in the past.
    pub overdue: i64,
}

/// An owner, and the role to which it will refer.
struct OwnerRole {
    stored: StoredOwner,
    label: String,
    role: Option<Oid>,
}

/// A cluster that does not exist. An owner that is being changed refers to a role of it temporarily.
const NOWHERE: &str = "1:0:";

/// Adopts the database, or reports the effects.
pub fn adopt(context: &CallContext, adoption: &Adoption) -> Result<Vec<AdoptedOwner>, PgError> {
    let assigned = assign_roles(&adoption.roles)?;
    let found = rows(context, &assigned);
    if adoption.dry_run {
        return Ok(found);
    }
    apply(&assigned)?;
    if adoption.skips {
        skip(context)?;
    }
    leases::end_all(context.timestamp());
    keys::correct_all();
    identity::adopt();
    wake::report_all();
    Ok(found)
}

/// The role for each owner: the given one, else its current one.
fn assign_roles(roles: &Map<String, Value>) -> Result<Vec<OwnerRole>, PgError> {
    let mut all: Vec<StoredOwner> = adoption::all();
    all.retain(|stored| stored.same_as.is_none());
    let names: Vec<Option<String>> = all.iter().map(present_name).collect();
    let mut assigned: Vec<OwnerRole> = Vec::with_capacity(all.len());
    for (i, stored) in all.into_iter().enumerate() {
        let is_alone = |name: &&String| names.iter().filter(|other| other.as_ref() == Some(*name)).count() == 1;
        let label = names[i].as_ref().filter(is_alone).unwrap_or(&stored.text).clone();
        let role = stored.owner.role();
        assigned.push(OwnerRole { stored, label, role });
    }
    for (key, value) in roles {
        let Value::String(name) = value else {
            return Err(PgError::new("22023", format!("role of owner \"{key}\" must be a name")));
        };
        let role = role::required(name)?;
        let meant = assigned.iter_mut().find(|owner| owner.label == *key || owner.stored.text == *key);
        match meant {
            Some(owner) => owner.role = Some(role),
            None => return Err(unknown(key, &names, &assigned)),
        }
    }
    Ok(assigned)
}

/// The current name of an owner that is a role of this cluster; of any other, its name at the time of the dump.
fn present_name(stored: &StoredOwner) -> Option<String> {
    let name = match stored.owner.oid {
        Some(oid) => role::name(oid),
        None => None,
    };
    name.or_else(|| Some(stored.owner.name.clone())).filter(|name| !name.is_empty())
}

fn unknown(key: &str, names: &[Option<String>], assigned: &[OwnerRole]) -> PgError {
    let several = names.iter().zip(assigned).filter(|(name, _)| name.as_deref() == Some(key));
    let several: Vec<String> = several.map(|(_, owner)| format!("\"{}\"", owner.stored.text)).collect();
    if several.is_empty() {
        return PgError::new("42704", format!("owner \"{key}\" does not exist"))
            .hint("wf_adopt_database(dry_run => true) lists the owners.");
    }
    PgError::new("42725", format!("owner \"{key}\" is not unique"))
        .detail(format!("Owners of this name are {}.", several.join(", ")))
        .hint("Give one of these names in full.")
}

fn rows(context: &CallContext, assigned: &[OwnerRole]) -> Vec<AdoptedOwner> {
    let (instances, overdue) = (adoption::instances(), adoption::overdue(context.timestamp()));
    let ids: BTreeMap<i32, i32> =
        adoption::all().iter().map(|one| (one.owner.id, one.same_as.unwrap_or(one.owner.id))).collect();
    let sum = |counts: &std::collections::HashMap<i32, i64>, id: i32| {
        counts.iter().filter(|(one, _)| ids.get(one) == Some(&id)).map(|(_, count)| count).sum()
    };
    let row = |owner: &OwnerRole| AdoptedOwner {
        owner: owner.label.clone(),
        role: owner.role.and_then(role::name),
        instances: sum(&instances, owner.stored.owner.id),
        overdue: sum(&overdue, owner.stored.owner.id),
    };
    assigned.iter().map(row).collect()
}

/// Stores the role of each owner. Owners that come to refer to the same role are merged.
fn apply(assigned: &[OwnerRole]) -> Result<(), PgError> {
    let mut by_role: BTreeMap<u32, Vec<&StoredOwner>> = BTreeMap::new();
    for owner in assigned {
        if let Some(role) = owner.role {
            by_role.entry(role.to_u32()).or_default().push(&owner.stored);
        }
    }
    // First detach all owners that change their role, so that no two rows ever refer to the same role.
    for (role, owners) in &by_role {
        for owner in owners.iter().filter(|owner| owner.owner.oid != Some(Oid::from(*role))) {
            adoption::set(owner.owner.id, NOWHERE);
        }
    }
    for (role, owners) in by_role {
        let role = Oid::from(role);
        let own = owners.iter().find(|owner| owner.owner.oid == Some(role));
        let Some(kept) = own.or(owners.first()).map(|kept| kept.owner.id) else { continue };
        for owner in owners.iter().filter(|owner| owner.owner.id != kept) {
            refuse_shared_schedule(owner, kept, role)?;
            adoption::merge(owner.owner.id, kept);
        }
        if own.is_none() {
            adoption::set(kept, &stored_role::text_of(role));
        }
    }
    adoption::finish();
    Ok(())
}

fn refuse_shared_schedule(owner: &StoredOwner, kept: i32, role: Oid) -> Result<(), PgError> {
    let Some(name) = adoption::shared_schedule(owner.owner.id, kept) else { return Ok(()) };
    let role = role::name(role).unwrap_or_default();
    Err(PgError::new("42710", format!("role \"{role}\" would have two schedules \"{name}\""))
        .detail(format!("One of them is that of owner \"{}\".", owner.text))
        .hint("Give that owner to another role, or remove one of the schedules."))
}

/// Skips overdue fires. A schedule continues at its next instant, as if no worker had run and its misfire policy were
/// `skip`; a timer in an instance loses its due time.
fn skip(context: &CallContext) -> Result<(), PgError> {
    for timed in adoption::overdue_triggers(context.timestamp()) {
        let (next, missed) = next_of(context, &timed)?;
        let outcome = FireOutcome {
            next_fire_at: next.next_fire_at,
            scheduled_at: next.scheduled_at,
            queued: timed.queued,
            missed,
            ..FireOutcome::default()
        };
        schedules::fired(timed.trigger.id, &outcome);
    }
    adoption::hold_timers(context.timestamp());
    Ok(())
}

fn next_of(context: &CallContext, timed: &Timed) -> Result<(NextFire, i64), PgError> {
    let own = timed.scheduled_at.filter(|at| *at <= context.timestamp());
    let Some(due) = own else {
        return Ok((NextFire { scheduled_at: timed.scheduled_at, next_fire_at: timed.scheduled_at }, 0));
    };
    let schedule = Schedule { misfire: Misfire::Skip, ..timing::decode(&timed.schedule)? };
    if schedule.when == workflow_engine::calendar::When::Reboot {
        return Ok((NextFire::default(), 1));
    }
    let zone = timing::zone_of(&schedule)?;
    // With a negative grace, no due instant counts as in time.
    let plan = schedule.due_fires(due.into(), context.now, Duration::microseconds(-1), &*zone);
    Ok((NextFire::at(&schedule, plan.next), i64::try_from(plan.unfired).unwrap_or(i64::MAX)))
}
