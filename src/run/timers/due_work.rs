//! One pass over due work: fires due triggers and bookmarks, and delivers queue items to bookmarks that a concurrent
//! transaction wrote, if neither transaction saw the other's row. It is idempotent. Every fire has its own
//! subtransaction, so a failure does not stop the others.

use std::collections::HashSet;

use uuid::Uuid;

use crate::access::{self, lending};
use crate::compiled;
use crate::pg::error::{notice, warning};
use crate::pg::spi::Timestamp;
use crate::pg::{PgError, guc, role};
use crate::run::CallContext;
use crate::run::call::{frame, running};
use crate::run::events::queued;
use crate::run::events::queued::DeliveryOutcome;
use crate::run::instances::admission;
use crate::run::maintenance::retention;
use crate::run::timers::{due_bookmark, fire, moved_clock};
use crate::store::events::queue;
use crate::store::instances::bookmarks;
use crate::store::maintenance::identity::{self, Identity};
use crate::store::rights::owners::Owner;
use crate::store::timers::due;

/// Maximum number of expired items that one pass moves to the dead letters.
const MAX_EXPIRED: i64 = 1000;

/// Fires what is due for the current role, at most `max` fires. Returns the number of fires.
pub fn run_due(context: &mut CallContext, max: u64) -> Result<u64, PgError> {
    if !guc::enabled() || guc::restoring() {
        return Ok(0);
    }
    moved_clock::refuse("fire what is due")?;
    if identity::read() == Identity::Foreign {
        warn_foreign();
        return Ok(0);
    }
    fire::due_triggers(context, max)?;
    let (mut fired, mut left) = (0, None);
    // An admitted instance may end at once and make room for the next.
    while fired < max && (admission::call_next(context.timestamp())? > 0 || fired == 0) {
        let before = fired;
        let (now, others) = fire_due(context, max - fired)?;
        fired += now;
        left = others;
        if fired == before {
            break;
        }
    }
    fired += deliver_queue(context, max.saturating_sub(fired))?;
    for id in queue::expired(context.timestamp(), MAX_EXPIRED) {
        queue::make_dead_letter(id, "Expired", None, context.timestamp());
    }
    retention::now_and_then(context, MAX_EXPIRED.unsigned_abs());
    if let Some(left) = left {
        left.tell();
    }
    Ok(fired)
}

/// Due bookmarks of owners whose rights the caller has, but whose SQL runs in sessions of these owners only.
struct LeftToOwners {
    count: u64,
    /// Of the first one.
    owner: Owner,
}

impl LeftToOwners {
    fn tell(&self) {
        let owner = self.owner.title();
        let what = match self.count {
            1 => "1 due bookmark was skipped".to_owned(),
            count => format!("{count} due bookmarks were skipped"),
        };
        notice(
            PgError::new("00000", what)
                .detail(format!("SQL of such an instance runs only in a session of its owner, such as \"{owner}\"."))
                .hint("Call wf_run_due() as that role, after SET ROLE. Background workers do so themselves."),
        );
    }
}

/// Warns that nothing is fired in this database, because it is a copy.
pub fn warn_foreign() {
    warning(
        PgError::new("01000", "this database is a copy, and its timers belong to the original")
            .detail("Workers and wf_run_due fire nothing in a copy, so that no timer fires twice.")
            .hint("If this database is to fire them from now on, run wf_adopt_database()."),
    );
}

fn fire_due(context: &mut CallContext, max: u64) -> Result<(u64, Option<LeftToOwners>), PgError> {
    let (mut fired, mut left) = (0, None);
    let mut after = (Timestamp(i64::MIN), Uuid::nil());
    while fired < max {
        let page = bookmarks::due(context.timestamp(), after);
        let Some(last) = page.last() else { break };
        after = (last.due_at, last.bookmark);
        for due in page {
            if fired == max {
                break;
            }
            // Check before locking: a role must not lock an instance that it may not fire.
            if running::contains(due.instance) || !access::is_member(role::current(), &due.owner) {
                continue;
            }
            if lending::runs_here(context.serves, &due.owner, &*compiled::of_version(due.definition_version)?) {
                fired += u64::from(due_bookmark::fire(context, due.bookmark)?);
            } else {
                left.get_or_insert(LeftToOwners { count: 0, owner: due.owner }).count += 1;
            }
        }
    }
    Ok((fired, left))
}

/// Records that a queued stimulus could not be delivered. A later pass tries it again; after the third attempt it
/// becomes a dead letter. `false`: another session has locked the item, or it is gone.
pub fn record_undelivered(context: &CallContext, item: Uuid, error: &PgError, counts: bool) -> bool {
    if !queue::lock(item) {
        return false;
    }
    if !counts {
        due::forget_delivery(item);
    }
    let Some(item) = queue::get(item, context.timestamp()) else { return false };
    queued::record_failure(context, &item, error);
    true
}

fn deliver_queue(context: &mut CallContext, max: u64) -> Result<u64, PgError> {
    let mut fired = 0;
    let mut after = Uuid::nil();
    while fired < max {
        let page = queue::page(after, context.timestamp());
        let Some(last) = page.last() else { break };
        after = last.id;
        // Stimuli for which nothing waits cost an index probe each.
        let ids: Vec<Uuid> = page.iter().map(|item| item.id).collect();
        let waited_for: HashSet<Uuid> =
            due::items(&ids).into_iter().filter(|item| item.may_match).map(|item| item.due.id).collect();
        for item in page.into_iter().filter(|item| waited_for.contains(&item.id)) {
            if fired >= max {
                break;
            }
            if let DeliveryOutcome::Resumed(resumed) = deliver_item(context, &item)? {
                fired += resumed;
            }
        }
    }
    Ok(fired)
}

/// Delivers a stored stimulus to the matching bookmarks that this session can resume.
pub fn deliver_item(context: &mut CallContext, item: &queue::Item) -> Result<DeliveryOutcome, PgError> {
    let attempt = context.isolated(|context| frame::run(context, |context| queued::deliver_queued(context, item)));
    match attempt {
        Ok(outcome) => Ok(outcome),
        Err(error) if error.aborts_transaction() => Err(error),
        Err(error) => {
            if !queue::lock(item.id) {
                return Ok(DeliveryOutcome::Held);
            }
            queued::record_failure(context, item, &error);
            Ok(DeliveryOutcome::Held)
        }
    }
}
