//! Instances that begin in place of one that has ended.
//!
//! The burst that ends an instance stores the one that goes on, under the lock of the first. So both are seen at once,
//! and the activation key, the parent's wait and the admission have one holder at any time. The new instance is stored
//! as one that is due; the call begins it as a follow-up ([`begin`]), and if it may not, a session of the owner
//! does.
//!
//! A session that meets the first instance when it has ended goes on to [`latest`]: a stimulus that names it, and what
//! cancels it together with its parent. These look after they have had the lock of the first or have found that nothing
//! waits there, with a new snapshot, so they see what the burst has stored.

use serde_json::{Map, Value};
use uuid::Uuid;
use workflow_engine::instance::continuation::Continuation;

use crate::access::{self, StartedAs, lending};
use crate::compiled::{self, Compiled};
use crate::pg::PgError;
use crate::pg::error::notice;
use crate::run::CallContext;
use crate::run::burst::OnFault;
use crate::run::burst::save::BurstEnd;
use crate::run::call::context::FollowUp;
use crate::run::call::isolated::{self, Isolated};
use crate::run::call::notices::notice_no_worker;
use crate::run::instances::acquire::{self, Acquired};
use crate::run::instances::activation::{key_of, refused};
use crate::run::instances::create::{StartPoint, create_pending, new_row};
use crate::run::instances::{admission, resume, version};
use crate::store::definitions;
use crate::store::events::matching::{self, Filter};
use crate::store::events::queue;
use crate::store::history::audit;
use crate::store::instances::bookmarks::BookmarkKind;
use crate::store::instances::{self, InstanceRow, Parent};

/// Stores the instance that goes on in place of one that its burst has ended and saved.
///
/// # Errors
/// 23505 if an activation strategy refuses it: it runs another definition than the first one, and another instance
/// holds its key. If its version has been deleted since the activity found it, those of [`version::for_started`] and
/// [`access::child::require_named`] and [`access::require_trusted`] as well.
pub fn create(
    context: &mut CallContext,
    before: &mut InstanceRow,
    compiled: &Compiled,
    next: Continuation,
    has_queue: bool,
) -> Result<(), PgError> {
    // The version was found when the activity ran, perhaps in an earlier transaction.
    let target = match definitions::is_deleted(next.version_id) {
        true => {
            let how = StartedAs::Successor;
            let published = version::for_started(&next.definition_id, &before.owner, how)?;
            let target = compiled::of_version(published)?;
            access::child::require_named(&compiled.row, &target.row, how)?;
            access::require_trusted(&before.owner, &compiled.row, &target, how)?;
            target
        }
        false => compiled::of_version(next.version_id)?,
    };
    let input = if let Value::Object(members) = next.input.0 { members } else { Map::new() };
    let (old, owner) = (&before.instance, before.owner.clone());
    let (key, name) = (old.correlation_id.clone(), old.name.clone());
    let mut row = new_row(next.id, &target, owner, key, name, input, before.parent, before.starter.clone())?;
    row.schedule_id = before.schedule_id;
    row.continued_from = Some(old.id);
    row.traceparent = before.traceparent;
    // A successor has the login role on record as well: the first instance may be removed. A child's parent has it.
    let login = if row.parent.is_none() { audit::login_of_start(&old.id) } else { None };
    let login = login.map(i32::unsigned_abs);
    let ended = create_pending(context, &mut row, &target, &StartPoint::ROOT, None, login, context.now);
    if ended == BurstEnd::Taken {
        return Err(refused(&row.definition_id, &key_of(&row, &target))?);
    }
    admission::hand_over((before, compiled), (&row, &target));
    if let Some(Parent { bookmark: bookmark @ Some(_), .. }) = &mut before.parent {
        // The parent is notified of the end of the new instance only.
        instances::forget_parent(before.instance.id);
        *bookmark = None;
    }
    if let Some(depth) = context.inline.get(&before.instance.id).copied() {
        context.inline.insert(next.id, depth);
    }
    if has_queue {
        queue::redirect_all(before.instance.id, next.id);
    }
    context.follow_ups.push_back(FollowUp::Continue(next.id));
    Ok(())
}

/// The instance that goes on now in place of this one, over as many as there were between them.
pub fn latest(id: Uuid) -> Option<Uuid> {
    instances::continued_as(id)
}

/// The instance that a filter means now, if it names one that has gone on as another. A filter with a bookmark or an
/// execution means that, and nothing of another instance.
pub fn target(filter: &Filter) -> Option<Uuid> {
    let named = filter.instance_id.filter(|_| filter.bookmark_id.is_none() && filter.activity_instance_id.is_none());
    named.and_then(latest)
}

/// Tells the caller that the instance it wanted to cancel has gone on as another one.
pub fn notice_continued(id: Uuid) {
    if let Some(next) = latest(id) {
        notice(
            PgError::new("00000", format!("workflow instance {id} has ended, and goes on as instance {next}"))
                .hint(format!("To cancel its successor, run wf_cancel('{next}').")),
        );
    }
}

/// Begins an instance that goes on in place of another one, if this session may run it.
pub fn begin(context: &mut CallContext, id: Uuid) -> Result<(), PgError> {
    let waits = matching::of_instance(id);
    let Some(start) = waits.iter().find(|stored| stored.kind == BookmarkKind::Start) else { return Ok(()) };
    let Some((version, owner)) = instances::owner(id) else { return Ok(()) };
    let compiled = compiled::of_version(version)?;
    let bookmark = start.bookmark.id;
    if !lending::runs_here(context.serves, &owner, &compiled) {
        notice_no_worker();
    } else if isolated::is_worker_session() {
        run(context, bookmark)?;
    } else if !matches!(isolated::run_isolated(context, &owner, |context| run(context, bookmark))?, Isolated::Done(()))
    {
        // A session of the owner begins it, and reports what is wrong with it.
        notice_no_worker();
    }
    Ok(())
}

fn run(context: &mut CallContext, bookmark: Uuid) -> Result<(), PgError> {
    context.has_waited = true;
    match acquire::try_acquire(context, bookmark)? {
        Acquired::Ready(mut waiting, compiled) => {
            resume::resume_at(context, &mut waiting, &compiled, None, OnFault::Store)?;
        }
        Acquired::Busy(reason) => reason.notice(),
        Acquired::Gone => {}
    }
    Ok(())
}
