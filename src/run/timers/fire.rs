//! Firing due triggers: short transactions that advance the due time and create pending instances.
//!
//! A fire runs no activity. It inserts instances with a due start bookmark, as a stimulus for another role's trigger
//! does. The burst then runs like that of any other due bookmark, in a session of the owner if necessary.

use uuid::Uuid;
use workflow_engine::calendar::{DueFires, Overlap, Schedule, When};

use crate::access;
use crate::pg::error::warning;
use crate::pg::server_settings::SettingsLevel;
use crate::pg::session::ShortWaits;
use crate::pg::spi::Timestamp;
use crate::pg::subtransaction::subtransaction;
use crate::pg::{PgError, guc, process, role};
use crate::run::CallContext;
use crate::run::timers::scheduled::{self, ScheduledWorkflow};
use crate::run::timers::timing::{self, NextFire};
use crate::store::nodes::route;
use crate::store::timers::schedules::{self, FireOutcome, Timed};

/// How far the due time of a trigger is postponed if its schedule cannot be computed, in microseconds. Its row or its
/// time zone has to be repaired first, and each attempt until then logs a warning and updates the row.
const RECOMPUTE_AFTER: i64 = 3_600_000_000;
/// How long a trigger may catch up on missed instants before other triggers fire, in microseconds.
const TURN: i64 = 100_000;

/// Fires at most `max` due triggers, of owners whose rights the caller has.
pub fn due_triggers(context: &mut CallContext, max: u64) -> Result<(), PgError> {
    let mut fired = 0;
    let mut after = (Timestamp(i64::MIN), Uuid::nil());
    while fired < max {
        let page = schedules::due(context.timestamp(), after, 100);
        let Some(last) = page.last() else { break };
        after = (last.due_at, last.id);
        for due in page {
            if fired == max {
                break;
            }
            if access::is_member(role::current(), &due.owner) {
                let settings = SettingsLevel::open();
                if !due.owner.is_current() {
                    settings.take_servers();
                }
                let has_fired = fire(context, due.id);
                settings.undo();
                fired += u64::from(has_fired?);
            }
        }
    }
    Ok(())
}

/// Makes every active `@reboot` schedule due; the scheduler calls it once after the server has started.
pub fn reboot(context: &CallContext) -> u64 {
    schedules::reboot(context.timestamp())
}

/// Fires one trigger, if it is free and its key belongs to this node. A failure is recorded in its row and stops no
/// other fire. If an open transaction holds the activation key, the trigger stays due; waiting for it would stall every
/// other trigger.
pub fn fire(context: &mut CallContext, id: Uuid) -> Result<bool, PgError> {
    let attempt = context.isolated(|context| {
        let waits = ShortWaits::begin();
        let fired = try_fire(context, id)?;
        waits.end();
        Ok(fired)
    });
    let failed = match attempt {
        Ok(fired) => return Ok(fired),
        Err(error) if error.sqlstate == "55P03" => return Ok(false),
        Err(error) if error.aborts_transaction() => return Err(error),
        Err(error) => error,
    };
    let recorded = subtransaction(|| give_up(context, id, &failed));
    recorded.map(|()| true)
}

fn try_fire(context: &mut CallContext, id: Uuid) -> Result<bool, PgError> {
    let Some(timed) = schedules::lock_due(id, context.timestamp()) else { return Ok(false) };
    if !route::admits_start(&timed.definition_id, timed.correlation_id.as_deref()) {
        return Ok(false);
    }
    let schedule = timing::decode(&timed.schedule)?;
    let (plan, next) = plan(context, &schedule, &timed)?;
    let fire = TriggerFire { context, schedule: &schedule, timed: &timed, workflow: None };
    let outcome = fire.run(&plan, next)?;
    schedules::fired(id, &outcome);
    Ok(true)
}

/// The instants to fire, and when the trigger is due next. A trigger made due by the end of a run may have no due
/// instant of its own.
fn plan(context: &CallContext, schedule: &Schedule, timed: &Timed) -> Result<(DueFires, NextFire), PgError> {
    let now = context.now;
    let own = timed.scheduled_at.filter(|at| *at <= context.timestamp());
    let Some(due) = own else {
        let next = NextFire { scheduled_at: timed.scheduled_at, next_fire_at: timed.scheduled_at };
        return Ok((nothing(), next));
    };
    if schedule.when == When::Reboot {
        return Ok((DueFires { fire: vec![due.into()], ..nothing() }, NextFire::default()));
    }
    let zone = timing::zone_of(schedule)?;
    let plan = schedule.due_fires(due.into(), now, grace(schedule), &*zone);
    let next = NextFire::at(schedule, plan.next);
    Ok((plan, next))
}

fn nothing() -> DueFires {
    DueFires { fire: Vec::new(), unfired: 0, next: None }
}

/// How late a fire still counts as in time. The delay by jitter does not count.
fn grace(schedule: &Schedule) -> chrono::Duration {
    let jitter = schedule.jitter.as_ref().map_or(0, timing::micros);
    chrono::Duration::microseconds(guc::misfire_grace().saturating_add(jitter))
}

/// One fire of a trigger.
struct TriggerFire<'a> {
    context: &'a mut CallContext,
    schedule: &'a Schedule,
    timed: &'a Timed,
    /// The version and owner to start, once the first start has found them.
    workflow: Option<ScheduledWorkflow>,
}

impl TriggerFire<'_> {
    fn run(mut self, plan: &DueFires, next: NextFire) -> Result<FireOutcome, PgError> {
        let mut outcome = FireOutcome {
            next_fire_at: next.next_fire_at,
            scheduled_at: next.scheduled_at,
            queued: self.timed.queued,
            missed: i64::try_from(plan.unfired).unwrap_or(i64::MAX),
            ..FireOutcome::default()
        };
        let began = process::now();
        for (i, at) in plan.fire.iter().map(|at| Timestamp::from(*at)).enumerate() {
            if i > 0 && process::now() - began > TURN {
                // The rest stays due.
                (outcome.next_fire_at, outcome.scheduled_at) = (Some(self.context.timestamp()), Some(at));
                break;
            }
            self.occurrence(at, &mut outcome)?;
        }
        if plan.fire.is_empty() && outcome.queued > 0 {
            self.release(&mut outcome)?;
        }
        Ok(outcome)
    }

    fn occurrence(&mut self, at: Timestamp, outcome: &mut FireOutcome) -> Result<(), PgError> {
        outcome.last_fire_at = Some(at);
        let running = match self.schedule.overlap {
            Overlap::Allow => None,
            Overlap::Skip | Overlap::Queue => schedules::running(self.timed.trigger.id),
        };
        match (self.schedule.overlap, running) {
            (Overlap::Skip, Some(running)) => self.skip(at, running, outcome),
            (Overlap::Queue, Some(running)) if !self.has_room(outcome) => self.skip(at, running, outcome),
            (Overlap::Queue, running) if running.is_some() || outcome.queued > 0 => {
                outcome.queued = outcome.queued.saturating_add(1);
                self.release(outcome)
            }
            (Overlap::Allow | Overlap::Skip | Overlap::Queue, _) => self.start(at, outcome),
        }
    }

    /// Whether one more fire may be queued. The limit matters for schedules whose runs take longer than the interval.
    fn has_room(&self, outcome: &FireOutcome) -> bool {
        i64::from(outcome.queued) < i64::from(self.schedule.misfire_cap)
    }

    /// Starts a queued fire, if no run is active. A fire that is rejected leaves the queue as well.
    fn release(&mut self, outcome: &mut FireOutcome) -> Result<(), PgError> {
        while outcome.queued > 0 && schedules::running(self.timed.trigger.id).is_none() {
            outcome.queued -= 1;
            // Only the number of queued fires is stored, not their instants, so the run is for the present instant.
            self.start(self.context.timestamp(), outcome)?;
        }
        Ok(())
    }

    fn start(&mut self, at: Timestamp, outcome: &mut FireOutcome) -> Result<(), PgError> {
        let workflow = match self.workflow.take() {
            Some(workflow) => workflow,
            None => ScheduledWorkflow::of(self.timed)?,
        };
        match scheduled::create(self.context, self.timed, &workflow, at)? {
            Some(instance) => outcome.last_instance_id = Some(instance),
            None => outcome.skipped += 1,
        }
        self.workflow = Some(workflow);
        Ok(())
    }

    fn skip(&mut self, at: Timestamp, running: Uuid, outcome: &mut FireOutcome) -> Result<(), PgError> {
        outcome.skipped += 1;
        scheduled::record_overlap(self.context, self.timed, at, running);
        Ok(())
    }
}

/// Gives up the due instants, so that the trigger can fire at the next ones.
fn give_up(context: &mut CallContext, id: Uuid, error: &PgError) {
    let Some(timed) = schedules::lock_due(id, context.timestamp()) else { return };
    let later = Timestamp(context.timestamp().0.saturating_add(RECOMPUTE_AFTER));
    let next = match timing::decode(&timed.schedule).and_then(|schedule| plan(context, &schedule, &timed)) {
        Ok((_, next)) => next,
        Err(_) => NextFire { scheduled_at: Some(later), next_fire_at: Some(later) },
    };
    schedules::failed(id, next.next_fire_at, next.scheduled_at, &error.message);
    warning(PgError {
        message: format!("{} could not be fired: {}", scheduled::title(&timed), error.message),
        ..error.clone()
    });
}
