//! Stimuli and other work in the queue: delivering them when a bookmark appears that matches, and in a pass; which
//! session delivers an item, and how failures count.

use uuid::Uuid;
use workflow_engine::Bookmark;
use workflow_engine::execution::Delta;
use workflow_engine::instance::SubStatus;
use workflow_engine::journal::ActKind;

use crate::access::event_consent::{EventConsent, Verdict};
use crate::access::{self, lending};
use crate::compiled;
use crate::pg::spi::Timestamp;
use crate::pg::{PgError, json, role};
use crate::run::CallContext;
use crate::run::burst::{OnFault, consume};
use crate::run::call::context::FollowUp;
use crate::run::call::running;
use crate::run::events::deliver;
use crate::run::events::stimuli::{Delivery, Stimulus};
use crate::run::instances::acquire::{self, Acquired, Unavailable};
use crate::run::instances::{abandoned, continuation};
use crate::run::repair::stored_act;
use crate::store::events::matching::{self, Filter, StoredBookmark};
use crate::store::events::queue::{self, Item, WantedBookmark};
use crate::store::instances::{self, InstanceRow, bookmarks};
use crate::store::nodes::route;
use crate::store::repair::pauses;
use crate::store::rights::owners::{self, Owner};
use crate::wake;

/// Reports of children that one burst takes in.
const MAX_REPORTS: i64 = 1000;

/// Delivers an item that was taken from the queue. An item that matches nothing any more goes back. An item whose
/// delivery fails goes back with one more attempt, or to the dead letters. Returns whether it reached anything.
pub fn deliver_taken(context: &mut CallContext, item: Item) -> Result<bool, PgError> {
    let stimulus = stimulus_of(&item);
    let attempt = context.isolated(|context| {
        let instance_id = item.deferred_for.or(stimulus.filter.instance_id);
        let found = deliver::matches(&stimulus.sender, &Filter { instance_id, ..stimulus.filter.clone() });
        let mut delivery = Delivery::default();
        deliver::resume_matches(context, &stimulus, found, false, &mut delivery)?;
        Ok(delivery)
    });
    match attempt {
        Ok(mut delivery) => {
            let is_delivered = delivery.has_reached();
            if is_delivered || delivery.queued.is_some() || item.deferred_for.is_some() {
                deliver::enqueue_for_busy(context, &stimulus, &mut delivery);
            } else {
                queue::insert(&item, context.timestamp());
            }
            Ok(is_delivered)
        }
        Err(error) if error.aborts_transaction() || item.deferred_for.is_some() => Err(error),
        Err(error) => {
            queue::insert(&item, context.timestamp());
            record_failure(context, &item, &error);
            Ok(false)
        }
    }
}

/// Takes from the queue what wants the bookmarks of an instance that has been paused.
pub fn meet_all(context: &mut CallContext, id: Uuid) -> Result<(), PgError> {
    let Some(row) = instances::get(id).filter(|row| row.instance.sub_status != SubStatus::Faulted) else {
        return Ok(());
    };
    let bookmarks: Vec<Bookmark> = matching::of_instance(id).into_iter().map(|stored| stored.bookmark).collect();
    meet_each(context, &bookmarks, &row)
}

/// Takes from the queue what wants the new bookmarks of an instance; `all`: and what wants its other bookmarks.
pub fn meet_new(context: &mut CallContext, row: &InstanceRow, delta: &Delta, all: bool) -> Result<(), PgError> {
    if all || row.instance.has_ended() {
        // What was stored for it while it was faulted or paused may have missed its bookmark.
        queue::report_bound_to(row.instance.id);
    }
    if all {
        let stored = matching::of_instance(row.instance.id).into_iter();
        let bookmarks: Vec<Bookmark> = stored.map(|stored| stored.bookmark).collect();
        return meet_each(context, &bookmarks, row);
    }
    meet_each(context, &delta.created, row)
}

/// Takes one item for each of these bookmarks, and delivers the oldest first: it may cancel what the others wait for.
fn meet_each(context: &mut CallContext, bookmarks: &[Bookmark], row: &InstanceRow) -> Result<(), PgError> {
    let mut items = Vec::new();
    for bookmark in bookmarks {
        items.extend(meet(context, bookmark, row)?);
    }
    items.sort_by_key(|item| item.id);
    context.follow_ups.extend(items.into_iter().map(|item| FollowUp::Item(Box::new(item))));
    Ok(())
}

/// Takes what SQL inside the burst has sent to its own instance.
pub fn take_deferred(context: &mut CallContext, instance: Uuid) {
    let deferred = queue::take_deferred(instance);
    context.follow_ups.extend(deferred.into_iter().map(|item| FollowUp::Item(Box::new(item))));
}

/// Takes from the queue the oldest stimulus that wants this bookmark. A bookmark takes one item.
fn meet(context: &CallContext, bookmark: &Bookmark, row: &InstanceRow) -> Result<Option<Item>, PgError> {
    let shapes = queue::shapes();
    let correlation_id = row.instance.correlation_id.as_deref();
    let wanted = WantedBookmark { bookmark, instance: row.instance.id, correlation_id };
    let mut skip = Vec::new();
    loop {
        // Pass over items whose sender may not resume the instance or answer the task, or has not admitted its owner.
        let may_receive = |sender: &Owner, names_target| -> Result<bool, PgError> {
            let mut consent = EventConsent::of(sender, names_target);
            let verdict = consent.may_resume_at(bookmark, row.instance.id, row.definition_version_id, &row.owner)?;
            Ok(verdict == Verdict::Allowed)
        };
        let found = queue::oldest_for(wanted, &shapes, context.timestamp(), Uuid::nil(), &skip, may_receive)?;
        let Some(item) = found else { return Ok(None) };
        if queue::take(item.id) {
            return Ok(Some(item));
        }
        // Another session has taken the item and may roll back, so a scheduler must look at it.
        wake::report_queued(item.id);
        skip.push(item.id);
    }
}

/// A kept item as a stimulus.
pub fn stimulus_of(item: &Item) -> Stimulus {
    Stimulus {
        filter: item.filter.clone(),
        payload: item.stimulus.as_ref().map(json::copy),
        input: item.input.as_ref().map(json::copy),
        sender: item.sender.clone(),
        sent_by: item.sent_by.clone(),
        was_kept: true,
    }
}

/// Delivers an item that is still in the queue, if a bookmark matches it and its sender may resume that.
pub fn deliver_queued(context: &mut CallContext, item: &Item) -> Result<DeliveryOutcome, PgError> {
    if abandoned::is_request(item) {
        return abandoned::cancel_queued(context, item);
    }
    if let Some(instance) = stored_act::instance_of(item) {
        return stored_act::carry_out(context, item, instance);
    }
    let stimulus = stimulus_of(item);
    let found = deliver::matches(&stimulus.sender, &stimulus.filter);
    if found.is_empty()
        && let Some(next) = continuation::target(&item.filter)
    {
        let is_redirected = queue::redirect(item, next);
        return match queue::get(item.id, context.timestamp()).filter(|_| is_redirected) {
            Some(item) => deliver_queued(context, &item),
            None => Ok(DeliveryOutcome::Held),
        };
    }
    if found.is_empty()
        && let Some(error) = missed(item)
    {
        return Ok(give_up(context, item, &error));
    }
    // An item stays as it is if this session can resume none of its bookmarks now. So they are claimed before the item
    // is taken out of the queue: instances are locked before items. The delivery claims each of them again. Taking the
    // item fires row triggers on the queue, and a delivery runs bursts: either may have changed the instances since.
    let (mut can_any, mut is_held, mut elsewhere) = (false, false, None);
    for stored in &found {
        match can_run(context, stored, item)? {
            Can::Run => can_any = true,
            Can::Wait => is_held = true,
            Can::Elsewhere(owner) => elsewhere = elsewhere.or(Some(owner)),
            Can::Not => {}
        }
    }
    if !can_any {
        return Ok(match elsewhere {
            Some(owner) => DeliveryOutcome::Elsewhere(owner),
            None if is_held => DeliveryOutcome::Held,
            None => DeliveryOutcome::Stays,
        });
    }
    if let [stored] = found.as_slice()
        && item.filter.bookmark_id.is_some()
        && !stored.bookmark.auto_burn
    {
        return deliver_all(context, item, stored);
    }
    if !queue::take(item.id) {
        return Ok(DeliveryOutcome::Held);
    }
    let mut delivery = Delivery::default();
    deliver::resume_matches(context, &stimulus, found, false, &mut delivery)?;
    if delivery.has_reached() || delivery.queued.is_some() {
        deliver::enqueue_for_busy(context, &stimulus, &mut delivery);
    } else {
        queue::insert(item, context.timestamp());
    }
    Ok(match delivery.resumed.len() {
        0 => DeliveryOutcome::Stays,
        resumed => DeliveryOutcome::Resumed(resumed as u64),
    })
}

/// Delivers an item of the queue together with all others that its sender left for the same bookmark, if a resume does
/// not use that up: one burst takes them all. The caller holds the lock of the instance and has checked that it may run
/// it.
fn deliver_all(context: &mut CallContext, item: &Item, stored: &StoredBookmark) -> Result<DeliveryOutcome, PgError> {
    let now = context.timestamp();
    let items = queue::take_all_of(item, now, MAX_REPORTS);
    let put_back = || items.iter().for_each(|item| queue::insert(item, now));
    let Acquired::Ready(mut waiting, compiled) = acquire::try_acquire(context, stored.bookmark.id)? else {
        put_back();
        return Ok(DeliveryOutcome::Held);
    };
    if items.is_empty() {
        return Ok(DeliveryOutcome::Held);
    }
    let row = &waiting.row;
    let verdict =
        consent_for(item).may_resume_at(&stored.bookmark, row.instance.id, row.definition_version_id, &row.owner)?;
    if verdict != Verdict::Allowed {
        put_back();
        return Ok(DeliveryOutcome::Stays);
    }
    let inputs: Vec<_> = items.iter().map(|item| item.input.as_ref()).collect();
    waiting.act = item.sent_by.clone().map(|by| CallContext::act_of(ActKind::Send, by));
    consume::resume_many(context, &mut waiting, &compiled, &inputs, OnFault::Store)?;
    Ok(DeliveryOutcome::Resumed(inputs.len() as u64))
}

fn consent_for(item: &Item) -> EventConsent<'_> {
    EventConsent::of_stored(&item.sender, item.filter.names_target(), item.filter.bookmark_id)
}

/// Whether this session can resume a bookmark.
enum Can {
    /// Right now: it holds the instance's lock.
    Run,
    /// Another session holds the instance's lock.
    Wait,
    /// Only a session of this owner can.
    Elsewhere(i32),
    /// No, for as long as its rights, its instance's state and this session's bursts stay as they are.
    Not,
}

fn can_run(context: &CallContext, stored: &StoredBookmark, item: &Item) -> Result<Can, PgError> {
    let Some((version, owner)) = instances::owner(stored.instance_id) else { return Ok(Can::Run) };
    // Check before locking, as in a delivery.
    let verdict = consent_for(item).may_resume_at(&stored.bookmark, stored.instance_id, version, &owner)?;
    if verdict != Verdict::Allowed || !is_wanted_here(context, &item.sender, version, &owner)? {
        return Ok(Can::Not);
    }
    if !route::admits_instance(stored.instance_id, stored.correlation_id.as_deref()) {
        return Ok(Can::Wait);
    }
    let runs_here = lending::runs_here(context.serves, &owner, &*compiled::of_version(version)?);
    if running::contains(stored.instance_id) {
        return Ok(Can::Not);
    }
    if !runs_here {
        // This session must not lock an instance that it may not resume.
        let is_possible = owner.role().is_some() && !instances::is_faulted(stored.instance_id);
        return Ok(if is_possible { Can::Elsewhere(owner.id) } else { Can::Not });
    }
    if acquire::is_leased(stored) {
        return Ok(Can::Wait);
    }
    Ok(match acquire::try_acquire(context, stored.bookmark.id)? {
        Acquired::Ready(..) => Can::Run,
        Acquired::Busy(Unavailable::NotFree | Unavailable::Leased) | Acquired::Gone => Can::Wait,
        // The delivery keeps it for the instance, unless it is for that already.
        Acquired::Busy(Unavailable::Paused) if item.filter.instance_id.is_none() => Can::Run,
        Acquired::Busy(Unavailable::Paused | Unavailable::Faulted | Unavailable::OwnersSession) => Can::Not,
    })
}

/// Why an item that matches nothing can never be delivered: another session has used up or removed what it was stored
/// for.
fn missed(item: &Item) -> Option<String> {
    let instance = item.filter.instance_id?;
    if item.is_momentary {
        // A pause keeps it, whatever happens to the bookmarks meanwhile.
        return pauses::of(instance).is_none().then(|| format!("workflow instance {instance} no longer waits for it"));
    }
    let bookmark = item.filter.bookmark_id.filter(|_| item.expires_at == Timestamp::INFINITY)?;
    (!bookmarks::exists(bookmark)).then(|| format!("bookmark {bookmark} no longer exists"))
}

/// Makes a dead letter of an item that can never be delivered, so that its sender learns of it. A report that no parent
/// waits for is removed.
fn give_up(context: &CallContext, item: &Item, error: &str) -> DeliveryOutcome {
    if !queue::lock(item.id) {
        return DeliveryOutcome::Held;
    }
    match item.is_report() {
        true => _ = queue::take(item.id),
        false => queue::make_dead_letter(item.id, "Gone", Some(error), context.timestamp()),
    }
    DeliveryOutcome::Stays
}

/// Attempts to fire a bookmark or to deliver a kept stimulus, before it becomes a dead letter.
pub const MAX_ATTEMPTS: i32 = 3;

/// Wait after a failed delivery, in microseconds, for each attempt so far. What passes by itself, such as a lock that
/// another session holds, mostly has passed by then, and no pass runs a burst at once that has just failed.
const REDELIVER_AFTER: i64 = 10_000_000;

/// The outcome of delivering an item of the queue.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum DeliveryOutcome {
    /// It resumed this many instances.
    Resumed(u64),
    /// No instance that may be resumed waits for it, so it stays as it is.
    Stays,
    /// Another session holds the item, or an instance that waits for it, and may roll back. Or the delivery failed, and
    /// the next attempt is due later. A later pass must check the item again.
    Held,
    /// An instance that waits for it has SQL that only a session of this owner may run.
    Elsewhere(i32),
}

/// Whether this call delivers a queued stimulus to an instance of an owner. A worker always does. A call of a session,
/// or of SQL that a worker runs, does so for its own stimuli, for owners whose rights the current role has, and for
/// instances that a stimulus of the current role would reach.
pub fn is_wanted_here(context: &CallContext, sender: &Owner, version: Uuid, owner: &Owner) -> Result<bool, PgError> {
    if context.is_workers || sender.is_current() || access::is_member(role::current(), owner) {
        return Ok(true);
    }
    let Some(id) = owners::known_id_of(role::current()) else { return Ok(false) };
    Ok(EventConsent::of(&owners::by_id(id), false).may_resume(version, owner)? == Verdict::Allowed)
}

/// Records that the first delivery of an item failed.
pub fn record_first_failure(context: &CallContext, item: Uuid, error: &PgError) {
    queue::failed(item, &error.message, Timestamp(context.timestamp().0.saturating_add(REDELIVER_AFTER)));
}

/// Records a failed delivery of an item that is in the queue.
pub fn record_failure(context: &CallContext, item: &Item, error: &PgError) {
    let now = context.timestamp();
    let attempts = item.attempts + 1;
    queue::failed(item.id, &error.message, Timestamp(now.0.saturating_add(REDELIVER_AFTER * i64::from(attempts))));
    if attempts >= MAX_ATTEMPTS {
        queue::make_dead_letter(item.id, "Failed", None, now);
    }
}

/// For each bookmark of an instance, the next candidate: the oldest queue item after `after` that matches the bookmark
/// and that its instance may receive. `shapes` are the shapes that are in the queue.
///
/// Another bookmark may take the candidate. So the caller asks again, with that item as `after`, once the item needs no
/// further attempt.
pub fn of_instance(instance: Uuid, after: Uuid, shapes: &[i32], now: Timestamp) -> Result<Vec<Uuid>, PgError> {
    let mut missed = Vec::new();
    // A burst that ends the fault takes them from the queue itself.
    if instances::is_faulted(instance) {
        return Ok(missed);
    }
    for stored in matching::of_instance(instance) {
        let Some((version, owner)) = instances::owner(instance) else { continue };
        let correlation_id = stored.correlation_id.as_deref();
        let wanted = WantedBookmark { bookmark: &stored.bookmark, instance, correlation_id };
        let item = queue::oldest_for(wanted, shapes, now, after, &[], |sender, names_target| {
            Ok(EventConsent::of(sender, names_target).may_resume_at(&stored.bookmark, instance, version, &owner)?
                == Verdict::Allowed)
        })?;
        missed.extend(item.map(|item| item.id));
    }
    Ok(missed)
}
