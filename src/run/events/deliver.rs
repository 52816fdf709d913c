//! Delivering stimuli: what they start, what they resume, and what is kept for later.

use std::collections::{BTreeSet, HashSet, VecDeque};

use serde_json::Value;
use uuid::Uuid;
use workflow_engine::child::NewChild;
use workflow_engine::execution::Published;
use workflow_engine::instance::EVERYONE;
use workflow_engine::journal::ActKind;
use workflow_engine::stimulus;

use crate::access::event_consent::{EventConsent, Verdict};
use crate::access::{self, exclusion};
use crate::compiled::{self, Compiled};
use crate::pg::spi::Timestamp;
use crate::pg::{PgError, json, process, role};
use crate::run::CallContext;
use crate::run::burst::OnFault;
use crate::run::call::context::{FollowUp, Publisher};
use crate::run::call::isolated::{self, Isolated};
use crate::run::call::notices::{self, notice_no_worker};
use crate::run::call::running;
use crate::run::events::queued;
use crate::run::events::stimuli::{Delivery, KeepUntil, Stimulus};
use crate::run::history::acts;
use crate::run::instances::acquire::{Acquired, Unavailable};
use crate::run::instances::{acquire, continuation, resume};
use crate::run::tasks::answer;
use crate::store::definitions::activity_types;
use crate::store::events::matching::{self, Correlation, Filter, StoredBookmark};
use crate::store::events::queue::{self, Item};
use crate::store::instances::bookmarks::{self, BookmarkKind};
use crate::store::instances::{self, InstanceRow};
use crate::store::nodes::route;
use crate::store::rights::owners::Owner;

mod triggers;

/// The instance whose burst publishes a stimulus.
#[derive(Clone, Copy, Debug)]
struct PublishedBy {
    instance: Uuid,
    /// Whether the stimulus is a notice of a task.
    is_notice: bool,
}

/// What happened at one bookmark.
enum BookmarkDelivery {
    Resumed,
    /// This session cannot resume it now.
    Busy,
    /// Only a session of the instance's owner can.
    LeftToOwner,
    /// A worker holds the task: the stimulus waits for the end of the lease, and is given up if the task is answered.
    Leased,
    /// The instance is paused: the stimulus is kept for it.
    Paused,
    /// The burst failed in another owner's instance; this queue item waits for the next attempt.
    Failed(Uuid),
    /// The bookmark is gone.
    Consumed,
    /// The sender's side has not admitted the instance's owner.
    Withheld,
    /// The sender may not resume the instance, or the instance is gone.
    NotPermitted,
}

/// Checks that the correlation id of a stimulus, or that of the instance which it names, belongs to this node. A
/// stimulus for everybody passes if it names no instance and no bookmark.
///
/// # Errors
/// 40001 if it belongs to another node, 22004 if it is not known.
pub fn require_on_this_node(correlation_id: Option<&str>, filter: &Filter) -> Result<(), PgError> {
    match correlation_id {
        Some(key) if key != EVERYONE => route::require(Some(key)),
        Some(_) if !filter.names_target() => Ok(()),
        _ if !route::is_on() => Ok(()),
        _ => route::require_target(filter.instance_id.or_else(|| bookmarks::instance_of(filter.bookmark_id?))),
    }
}

/// Resumes the bookmarks that match now, or keeps the stimulus.
pub fn enqueue(context: &mut CallContext, mut stimulus: Stimulus, keep: KeepUntil) -> Result<Delivery, PgError> {
    let found = find(&mut stimulus);
    let keep = keep.filter(|_| may_be_stored(&stimulus, &found));
    let mut delivery = Delivery::default();
    resume_matches(context, &stimulus, found, keep.is_none(), &mut delivery)?;
    store_unless_delivered(context, stimulus, keep, &mut delivery);
    Ok(delivery)
}

/// Starts the triggers that match and resumes the bookmarks that match. Keeps the stimulus only if it did neither.
pub fn send(
    context: &mut CallContext,
    name: &str,
    mut stimulus: Stimulus,
    keep: KeepUntil,
    may_start: bool,
) -> Result<Delivery, PgError> {
    // Find bookmarks before starting triggers: the stimulus must not also resume an instance that it starts.
    let found = find(&mut stimulus);
    send_to(context, name, stimulus, found, None, keep, may_start)
}

/// As [`send`], to the bookmarks that were found. `publisher` says whose burst sends it.
fn send_to(
    context: &mut CallContext,
    name: &str,
    stimulus: Stimulus,
    found: Vec<StoredBookmark>,
    publisher: Option<PublishedBy>,
    keep: KeepUntil,
    may_start: bool,
) -> Result<Delivery, PgError> {
    let keep = keep.filter(|_| may_be_stored(&stimulus, &found));
    let mut delivery = Delivery::default();
    if may_start {
        triggers::start_all(context, name, &stimulus, publisher, &mut delivery)?;
    }
    resume_matches(context, &stimulus, found, keep.is_none(), &mut delivery)?;
    store_unless_delivered(context, stimulus, keep, &mut delivery);
    Ok(delivery)
}

/// The bookmarks that match. A stimulus for an instance that has gone on as another one is for its successor.
fn find(stimulus: &mut Stimulus) -> Vec<StoredBookmark> {
    let found = matches(&stimulus.sender, &stimulus.filter);
    if found.is_empty()
        && let Some(next) = continuation::target(&stimulus.filter)
    {
        stimulus.filter.instance_id = Some(next);
        return matches(&stimulus.sender, &stimulus.filter);
    }
    found
}

/// The bookmarks that a filter of a sender matches, and that may hear it.
pub fn matches(sender: &Owner, filter: &Filter) -> Vec<StoredBookmark> {
    matching::find(filter, || EventConsent::of(sender, false).reach_of_bookmarks())
}

/// Whether the queue may keep a stimulus. Under the name of a request to cancel, and for a bookmark that waits for a
/// child, it has what the engine puts there with the rights of the instance's owner.
fn may_be_stored(stimulus: &Stimulus, found: &[StoredBookmark]) -> bool {
    let filter = &stimulus.filter;
    let is_for_report = filter.bookmark_id.is_some() && found.iter().any(|stored| stored.kind == BookmarkKind::Child);
    filter.name.as_deref() != Some(stimulus::CANCEL) && !is_for_report
}

fn store_unless_delivered(context: &mut CallContext, stimulus: Stimulus, keep: KeepUntil, delivery: &mut Delivery) {
    delivery.is_unheard = !delivery.has_reached() && delivery.queued.is_none() && delivery.busy.is_empty();
    // A stimulus that reached an instance, or that is not kept, is stored for the busy instances. A stimulus that
    // reached no instance is kept as a whole.
    if keep.is_none() || delivery.has_reached() || delivery.queued.is_some() {
        enqueue_for_busy(context, &stimulus, delivery);
        return;
    }
    let Some(until) = keep else { return };
    let item = Item { expires_at: until, ..item(context, stimulus.filter.clone(), &stimulus) };
    queue::insert(&item, context.timestamp());
    delivery.queued = Some(item.id);
    notice_no_worker();
}

/// A stimulus as a queue item that never expires.
fn item(context: &mut CallContext, filter: Filter, stimulus: &Stimulus) -> Item {
    Item {
        id: context.new_id(),
        filter,
        stimulus: stimulus.payload.as_ref().map(json::copy),
        input: stimulus.input.as_ref().map(json::copy),
        sender: stimulus.sender.clone(),
        sent_by: stimulus.sent_by.clone(),
        attempts: 0,
        expires_at: Timestamp::INFINITY,
        deferred_for: None,
        is_momentary: false,
    }
}

/// Resumes the found bookmarks, in order of instance. A fault in one is stored and does not stop the others.
pub fn resume_matches(
    context: &mut CallContext,
    stimulus: &Stimulus,
    found: Vec<StoredBookmark>,
    is_momentary: bool,
    delivery: &mut Delivery,
) -> Result<(), PgError> {
    let (inside, outside): (Vec<StoredBookmark>, Vec<StoredBookmark>) =
        found.into_iter().partition(|stored| running::contains(stored.instance_id));
    let mut consent = EventConsent::of_stored(
        &stimulus.sender,
        stimulus.filter.names_target(),
        stimulus.filter.bookmark_id.filter(|_| stimulus.was_kept),
    );
    if running::any() {
        let inside = allowed_instances(&mut consent, &inside, delivery)?;
        defer(context, stimulus, &inside, is_momentary, delivery);
    }
    let mut outside = VecDeque::from(outside);
    let (mut handled, mut paused) = (HashSet::new(), HashSet::new());
    while let Some(stored) = outside.pop_front() {
        handled.insert(stored.bookmark.id);
        match resume_match(context, &mut consent, stimulus, &stored)? {
            BookmarkDelivery::Resumed => delivery.resumed.push(stored.instance_id),
            BookmarkDelivery::Busy => delivery.busy.push(stored),
            BookmarkDelivery::LeftToOwner => {
                notice_left_to_owner(stored.instance_id)?;
                delivery.busy.push(stored);
            }
            BookmarkDelivery::Leased => {
                delivery.queued = Some(enqueue_for(context, stimulus, &stored));
                notice_no_worker();
            }
            BookmarkDelivery::Paused if paused.insert(stored.instance_id) => {
                delivery.queued = Some(store_for(context, stimulus, stored.instance_id));
            }
            BookmarkDelivery::Failed(id) => delivery.queued = Some(id),
            BookmarkDelivery::Withheld => delivery.withheld += 1,
            // Another session has used up the bookmark since it was found, and the instance may wait at another
            // matching bookmark by now, or go on as another one. An instance that this delivery has resumed itself is
            // not looked at again.
            BookmarkDelivery::Consumed if !delivery.resumed.contains(&stored.instance_id) => {
                let instance = continuation::latest(stored.instance_id).unwrap_or(stored.instance_id);
                let filter = Filter { instance_id: Some(instance), ..stimulus.filter.clone() };
                let mut next = matches(&stimulus.sender, &filter);
                next.retain(|next| !handled.contains(&next.bookmark.id));
                outside.retain(|known| known.instance_id != stored.instance_id);
                next.into_iter().rev().for_each(|next| outside.push_front(next));
            }
            BookmarkDelivery::Consumed | BookmarkDelivery::Paused | BookmarkDelivery::NotPermitted => {}
        }
    }
    Ok(())
}

/// The instances of these bookmarks that hear the stimulus.
fn allowed_instances(
    consent: &mut EventConsent<'_>,
    found: &[StoredBookmark],
    delivery: &mut Delivery,
) -> Result<HashSet<Uuid>, PgError> {
    let mut instances = HashSet::new();
    for stored in found {
        let Some((version, owner)) = instances::owner(stored.instance_id) else { continue };
        match consent.may_resume_at(&stored.bookmark, stored.instance_id, version, &owner)? {
            Verdict::Allowed => _ = instances.insert(stored.instance_id),
            Verdict::Withheld => delivery.withheld += 1,
            Verdict::Denied => {}
        }
    }
    Ok(instances)
}

/// Resumes one bookmark. A failure in another owner's instance must not undo the sender's own work: that burst runs in
/// a subtransaction, and if it fails, the stimulus waits in the queue for the next attempt.
fn resume_match(
    context: &mut CallContext,
    consent: &mut EventConsent<'_>,
    stimulus: &Stimulus,
    stored: &StoredBookmark,
) -> Result<BookmarkDelivery, PgError> {
    let Some((version, owner)) = instances::owner(stored.instance_id) else {
        return Ok(BookmarkDelivery::NotPermitted);
    };
    // Check before locking: a sender that may not resume the instance must not make other sessions wait for it.
    match consent.may_resume_at(&stored.bookmark, stored.instance_id, version, &owner)? {
        Verdict::Allowed => {}
        Verdict::Withheld => return Ok(BookmarkDelivery::Withheld),
        Verdict::Denied => return Ok(BookmarkDelivery::NotPermitted),
    }
    // What is for everybody passes over instances that are here by mistake; a key is asked for before.
    if stimulus.filter.correlation == Correlation::Any
        && route::require_instance(stored.instance_id, stored.correlation_id.as_deref()).is_err()
    {
        return Ok(BookmarkDelivery::NotPermitted);
    }
    // What is kept has no caller to tell: it is refused when it is delivered.
    if !stimulus.was_kept && stored.kind.is_task() {
        require_answer(stimulus, stored, version)?;
    }
    match isolated::run_isolated(context, &owner, |context| resume_bookmark(context, stimulus, stored))? {
        Isolated::Done(attempt) => Ok(attempt),
        Isolated::Short => {
            notice_no_worker();
            Ok(BookmarkDelivery::Busy)
        }
        Isolated::Failed(error) => {
            let id = enqueue_for(context, stimulus, stored);
            queued::record_first_failure(context, id, &error);
            Ok(BookmarkDelivery::Failed(id))
        }
    }
}

/// Refuses a sender who may not answer this task (42501).
fn require_answer(stimulus: &Stimulus, stored: &StoredBookmark, version: Uuid) -> Result<(), PgError> {
    let compiled = compiled::of_version(version)?;
    let sent_by = stimulus.sent_by.as_ref();
    if let Some(by) = sent_by {
        acts::require_actor(by, &compiled)?;
    }
    if compiled.program.excludes_people
        && let Some(row) = instances::get(stored.instance_id)
    {
        exclusion::require_sender(&row, &compiled, &stored.bookmark, &stimulus.sender, sent_by)?;
    }
    Ok(())
}

/// Defers a stimulus for instances whose bursts run further up in this session, until those bursts end. A stimulus that
/// is not kept is deferred even if no bookmark matches: it may be meant for one that such a burst is about to create.
fn defer(
    context: &mut CallContext,
    stimulus: &Stimulus,
    inside: &HashSet<Uuid>,
    is_momentary: bool,
    delivery: &mut Delivery,
) {
    let mut instances: BTreeSet<Uuid> = inside.iter().copied().collect();
    if is_momentary {
        match stimulus.filter.instance_id {
            Some(wanted) => instances.extend(running::contains(wanted).then_some(wanted)),
            None => instances.extend(running::bursts()),
        }
    }
    for instance in instances {
        let item = item(context, stimulus.filter.clone(), stimulus);
        queue::defer(&item, context.timestamp(), instance);
        running::record_deferral();
        if inside.contains(&instance) {
            delivery.resumed.push(instance);
        }
    }
}

fn resume_bookmark(
    context: &mut CallContext,
    stimulus: &Stimulus,
    stored: &StoredBookmark,
) -> Result<BookmarkDelivery, PgError> {
    let id = stored.bookmark.id;
    if acquire::is_leased(stored) {
        return Ok(BookmarkDelivery::Leased);
    }
    let has_waited = std::mem::replace(&mut context.has_waited, true);
    match if has_waited { acquire::try_acquire(context, id)? } else { acquire::acquire(context, id)? } {
        Acquired::Ready(mut waiting, compiled) => {
            if waiting.kind.is_task() {
                let (row, bookmark) = (&waiting.row, &waiting.bookmark);
                exclusion::require_sender(row, &compiled, bookmark, &stimulus.sender, stimulus.sent_by.as_ref())?;
                answer::validate_answer(&compiled.program, &waiting, stimulus.input.as_ref())?;
            }
            waiting.act = stimulus.sent_by.clone().map(|by| CallContext::act_of(ActKind::Send, by));
            resume::resume_at(context, &mut waiting, &compiled, stimulus.input.as_ref(), OnFault::Store)?;
            Ok(BookmarkDelivery::Resumed)
        }
        Acquired::Busy(Unavailable::Paused) => Ok(BookmarkDelivery::Paused),
        Acquired::Busy(Unavailable::Leased) => Ok(BookmarkDelivery::Leased),
        Acquired::Busy(Unavailable::OwnersSession) => Ok(BookmarkDelivery::LeftToOwner),
        Acquired::Busy(Unavailable::NotFree | Unavailable::Faulted) => Ok(BookmarkDelivery::Busy),
        Acquired::Gone => Ok(BookmarkDelivery::Consumed),
    }
}

/// Tells a caller that may know of the instance that a session of its owner continues it.
fn notice_left_to_owner(instance: Uuid) -> Result<(), PgError> {
    let is_caller = !running::any() && process::connected_as().is_none() && !notices::has_told_of_stimulus();
    match instances::owner(instance).filter(|_| is_caller) {
        Some((_, owner)) if access::instance::may_see(role::current(), instance)? => {
            notices::tell_stimulus_left_to_owner(instance, &owner);
        }
        _ => notice_no_worker(),
    }
    Ok(())
}

/// Queues a stimulus for the instances that this session could not resume now. As if this session had waited, it then
/// reaches whatever matches in the instance, which may have gone on.
pub fn enqueue_for_busy(context: &mut CallContext, stimulus: &Stimulus, delivery: &mut Delivery) {
    let busy = std::mem::take(&mut delivery.busy);
    if busy.is_empty() {
        return;
    }
    let resumed: HashSet<Uuid> = delivery.resumed.iter().copied().collect();
    let mut stored_for = HashSet::new();
    for stored in busy {
        let instance = stored.instance_id;
        // An instance that this delivery has resumed may wait for the next such stimulus by now.
        if is_for_bookmark(stimulus, &stored) || resumed.contains(&instance) {
            delivery.queued = Some(enqueue_for(context, stimulus, &stored));
        } else if stored_for.insert(instance) {
            delivery.queued = Some(store_for(context, stimulus, instance));
        }
    }
}

/// Whether a stimulus can reach only this bookmark of its instance. For an instance, the queue has requests of the
/// engine under two names.
fn is_for_bookmark(stimulus: &Stimulus, stored: &StoredBookmark) -> bool {
    let is_request = |name: &str| name == stimulus::CANCEL || name == stimulus::ACT;
    let filter = &stimulus.filter;
    stored.kind.is_task() || filter.bookmark_id.is_some() || filter.name.as_deref().is_some_and(is_request)
}

/// Queues a stimulus for one bookmark, until a session may and can deliver it.
fn enqueue_for(context: &mut CallContext, stimulus: &Stimulus, stored: &StoredBookmark) -> Uuid {
    let filter =
        Filter { bookmark_id: Some(stored.bookmark.id), instance_id: Some(stored.instance_id), ..Filter::default() };
    let item = item(context, filter, stimulus);
    queue::insert(&item, context.timestamp());
    item.id
}

/// Keeps a stimulus for an instance, for a paused one as long as the pause lasts. It names no bookmark: one that is
/// delivered before it may use the bookmark up, and lead to another one that it meets.
fn store_for(context: &mut CallContext, stimulus: &Stimulus, instance: Uuid) -> Uuid {
    let filter = Filter { instance_id: Some(instance), ..stimulus.filter.clone() };
    let item = Item { is_momentary: true, ..item(context, filter, stimulus) };
    queue::insert(&item, context.timestamp());
    item.id
}

/// Delivers a stimulus that a burst published, with the rights of the publisher's owner.
pub fn published(context: &mut CallContext, published: Published, publisher: Publisher) -> Result<(), PgError> {
    let name = resolve_name(&published.name);
    let instance_id = published.local.then_some(publisher.instance);
    let stimulus = Stimulus {
        filter: filter_of(
            &name,
            published.payload.as_ref(),
            Correlation::of_filter(published.correlation_id),
            instance_id,
        ),
        payload: published.payload,
        input: published.input,
        sender: publisher.owner,
        sent_by: None,
        was_kept: false,
    };
    // A local one is for this run, and not for the one that may have begun in its place.
    let found = matches(&stimulus.sender, &stimulus.filter);
    let traceparent = publisher.traceparent;
    let publisher = PublishedBy { instance: publisher.instance, is_notice: published.by_author };
    let of_caller = std::mem::replace(&mut context.traceparent, traceparent);
    let sent = send_to(context, &name, stimulus, found, Some(publisher), None, !published.local);
    context.traceparent = of_caller;
    sent.map(drop)
}

/// Full stimulus name: as a type resolves in a definition.
pub fn resolve_name(name: &str) -> String {
    stimulus::resolve_name(name, &|name| activity_types::find(name).is_some())
}

/// The filter of a stimulus by name and payload (in normal form).
pub fn filter_of(name: &str, payload: Option<&Value>, correlation: Correlation, instance_id: Option<Uuid>) -> Filter {
    Filter {
        hashes: payload.map(|payload| stimulus::hash(name, Some(payload), None)).into_iter().collect(),
        task: stimulus::task_of(name, payload),
        name: Some(name.to_owned()),
        correlation,
        instance_id,
        ..Filter::default()
    }
}

/// Collects the children and the stimuli that the burst has published.
pub fn collect_published(
    context: &mut CallContext,
    row: &InstanceRow,
    compiled: &Compiled,
    children: Vec<NewChild>,
    stimuli: Vec<Published>,
) {
    let (instance, generation) = (row.instance.id, context.generation);
    let traceparent = row.handed_traceparent();
    let (owner, starter) = (row.owner.clone(), row.starter.clone());
    let publisher = Publisher { instance, owner, starter, traceparent, generation };
    // A notice is sent by the definition, whose owner has named the event or the workflow: the starter must not receive
    // what the directory returns to that owner, and needs no right to start what notifies people.
    let author = &compiled.row.owner;
    let starter = row.starter.under(&row.owner, author);
    let of_author = Publisher { instance, owner: author.clone(), starter, traceparent, generation };
    let new = children.into_iter().map(|child| {
        let parent = if child.is_notice { &of_author } else { &publisher };
        FollowUp::Child(Box::new(child), parent.clone())
    });
    context.follow_ups.extend(new);
    // A `definer` publishes with the rights of the owner of the definition, as if its SQL had called wf_publish_event:
    // a role that starts it lends it no rights. What the event starts has the starter of this instance all the same.
    let publisher = match compiled.row.definer {
        true => Publisher { owner: compiled.row.owner.clone(), ..publisher },
        false => publisher,
    };
    // An event that an instance sends to itself comes from its definition, too: the starter needs no right to resume it.
    let stimuli = stimuli.into_iter().map(|stimulus| {
        let publisher = if stimulus.local || stimulus.by_author { &of_author } else { &publisher };
        FollowUp::Published(Box::new(stimulus), publisher.clone())
    });
    context.follow_ups.extend(stimuli);
}
