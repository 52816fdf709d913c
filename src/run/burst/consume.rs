//! The burst that uses a bookmark up and begins there, whatever is resumed with it.

use serde_json::Value;
use workflow_engine::bookmark;
use workflow_engine::execution::{self, Delta};
use workflow_engine::instance::{Instance, SubStatus};
use workflow_engine::{Error, Host, Limits, Program};
use workflow_plan::Resumed;

use crate::compiled::Compiled;
use crate::pg::{PgError, rows};
use crate::run::CallContext;
use crate::run::burst::save::{Consumed, RowState};
use crate::run::burst::{self, OnFault, StoredBurst};
use crate::run::call::running;
use crate::run::instances::activation::reclaim_key;
use crate::run::instances::create;
use crate::run::tasks::answer;
use crate::store::instances::bookmarks::{self, BookmarkKind, Waiting};
use crate::store::tasks::Answer;

/// Uses the bookmark up with a burst that begins there, as `body` says. The caller holds the lock of the instance.
pub fn use_up(
    context: &mut CallContext,
    waiting: &mut Waiting,
    compiled: &Compiled,
    answer: Answer<'_>,
    on_fault: OnFault,
    body: impl FnOnce(&Program, &mut Instance, &bookmark::Resumed, &mut dyn Host, &Limits) -> Result<Delta, Error>,
) -> Result<(), PgError> {
    let begins = matches!(waiting.kind, BookmarkKind::Start | BookmarkKind::Admission);
    let is_start = begins && waiting.row.instance.sub_status == SubStatus::Pending;
    let is_taken = waiting.bookmark.auto_burn && (is_start || compiled.row.uses_sql);
    if is_taken {
        // A stimulus that the burst itself sends must not find the bookmark.
        let _running = running::RunningGuard::burst(waiting.row.instance.id);
        let (now, may_be_held) = (context.timestamp(), waiting.is_locked);
        rows::write(|writer| bookmarks::take(writer, &waiting.bookmark, may_be_held, now));
    }
    match waiting.kind {
        _ if is_start => return create::start_pending(context, waiting, compiled, on_fault),
        // The time of a faulted instance ends it, and does not make it run again.
        BookmarkKind::RunTimeout => {}
        BookmarkKind::Timeout => {
            reclaim_key(&mut waiting.row, compiled)?;
            answer::count_attempts(waiting, compiled);
        }
        _ => reclaim_key(&mut waiting.row, compiled)?,
    }
    let time_limit = answer::time_limit(waiting, &compiled.program);
    let Waiting { resumed, row, bookmark, kind, lease, is_locked, by_time, act, in_place_of, .. } = waiting;
    let taking = Resumed { bookmark, kind: *kind, is_locked: *is_locked, by_time: *by_time, is_taken };
    let consumed = Consumed { resumed: taking, lease, answer, in_place_of: in_place_of.as_deref() };
    let burst =
        StoredBurst { row, compiled, state: RowState::Stored, on_fault, consumed: Some(consumed), act: act.take() };
    burst::run(context, burst, |program, instance, host, limits| {
        let mut delta = body(program, instance, resumed, host, limits)?;
        if let Some(limit) = time_limit {
            execution::end_time_limit(instance, resumed.activity_instance_id, limit, &mut delta);
        }
        Ok(delta)
    })?;
    Ok(())
}

/// Resumes an instance at a bookmark with several inputs, one resume after the other in one burst. The caller holds the
/// lock of the instance.
pub fn resume_many(
    context: &mut CallContext,
    waiting: &mut Waiting,
    compiled: &Compiled,
    inputs: &[Option<&Value>],
    on_fault: OnFault,
) -> Result<(), PgError> {
    let answer = Answer::Completed(inputs.first().copied().flatten(), None);
    use_up(context, waiting, compiled, answer, on_fault, |program, instance, resumed, host, limits| {
        execution::resume_each(program, instance, resumed, inputs.iter().copied(), host, limits)
    })
}
