//! Answers to tasks that wait for a session of the owner.
//!
//! The role that answers a task lends no rights to what follows. Where SQL of users with the caller's rights could follow,
//! the answer is stored and the task is closed, and a bookmark that is due now replaces that of the task. It is fired
//! like every due bookmark: once, in a session of the owner. Until then the activity waits, so a cancel or a timeout
//! still ends it. An answer of a worker for a paused instance waits in the same way, until the pause ends.

use serde_json::{Value, json};
use uuid::Uuid;
use workflow_engine::bookmark::Resumed;
use workflow_engine::fault::{Fault, TASK_FAILED};
use workflow_engine::journal::{Act, ActKind, Identity};
use workflow_engine::{Bookmark, execution, stimulus};

use crate::access::lending;
use crate::compiled::Compiled;
use crate::pg::{PgError, json, rows};
use crate::run::CallContext;
use crate::run::burst::OnFault;
use crate::run::burst::consume;
use crate::run::call::notices::notice_no_worker;
use crate::run::call::running;
use crate::run::tasks::limits;
use crate::store::history::journal;
use crate::store::instances;
use crate::store::instances::bookmarks::{self, Waiting};
use crate::store::repair::pauses;
use crate::store::tasks::leases::{self, Lease};
use crate::store::tasks::{self, Answer, Answerer};

/// The member of the payload that holds the id of the task.
const TASK: &str = "Task";
/// The member that holds the fault, if the last attempt failed.
const FAULT: &str = "Fault";
/// The member of the metadata that says who answered, if it was not the engine.
const BY: &str = "By";

/// Whether what follows the answer to a task must wait, for a session of the owner or for the end of a pause.
/// `is_named`: the call named the task without a token, as a person does.
pub fn must_wait(context: &CallContext, waiting: &Waiting, compiled: &Compiled, is_named: bool) -> bool {
    let runs_here = match is_named {
        true => lending::act_runs_here(context.serves, &waiting.row, compiled),
        false => lending::runs_here(context.serves, &waiting.row.owner, compiled),
    };
    waiting.row.paused_at.is_some() || !runs_here
}

/// Closes the task and leaves the answer, due now. The caller holds the lock of the instance. `fault`: its last attempt
/// failed.
pub fn store(context: &mut CallContext, waiting: &mut Waiting, answer: Answer<'_>, fault: Option<&Fault>) {
    let (id, now) = (context.new_id(), context.timestamp());
    let Waiting { row, bookmark, lease, is_locked, act, in_place_of, .. } = waiting;
    let act = act.as_ref();
    let fault = fault.map(|fault| {
        json!({
            "message": fault.message,
            "detail": fault.detail,
            "code": fault.code,
            "attempts": lease.attempt,
        })
    });
    let kept = Bookmark {
        id,
        name: stimulus::ANSWER.to_owned(),
        payload: Some(json!({ TASK: bookmark.id, FAULT: fault })),
        metadata: with_identity(bookmark.metadata.as_ref(), act),
        due_at: Some(context.now),
        ..bookmark.clone()
    };
    // The burst that carries the answer out comes later, or never.
    let unrecorded = act.filter(|act| !act.is_recorded);
    let recorded = unrecorded.map(|act| Act { subject: Some(bookmark.id), ..act.clone() });
    let seq = journal::take_rows(&mut row.instance, recorded.as_ref(), 0);
    // Row triggers on the tables see the instance half written, so they count as inside its burst.
    let _running = running::RunningGuard::burst(row.instance.id);
    rows::write(|writer| {
        bookmarks::take(writer, bookmark, *is_locked, now);
        bookmarks::insert(writer, &kept, &Lease::default(), row, None, now);
        let who = Answerer { by: act.map(|act| &act.by), in_place_of: in_place_of.as_deref() };
        tasks::close(writer, bookmark, lease, answer, who, now);
        journal::append(writer, &row.instance.id, seq, recorded.as_ref(), &[], now);
    });
    limits::wake_waiters(bookmarks::task_name(bookmark), lease);
    let execution = bookmark.activity_instance_id;
    let is_last = lease.is_last();
    if is_last {
        leases::remove_end(&row.instance.id, &execution);
        execution::drop_lease(&mut row.instance, execution);
    }
    let awaited_start = leases::remove_start(&row.instance.id, &execution);
    if awaited_start {
        execution::drop_lease(&mut row.instance, execution);
    }
    if is_last || awaited_start || recorded.is_some() {
        instances::save_state(&row.instance);
    }
    pauses::hold_if_paused(&row.instance, row.paused_at, false, now);
    notice_no_worker();
}

/// Goes on with an answer that was kept, as if it were given now. The caller holds the lock of the instance.
pub fn resume(
    context: &mut CallContext,
    waiting: &mut Waiting,
    compiled: &Compiled,
    on_fault: OnFault,
) -> Result<(), PgError> {
    let Some((task, name, result, fault)) = read(&waiting.resumed) else {
        let id = waiting.bookmark.id;
        return Err(PgError::new("XX001", format!("bookmark {id} has no answer to a task")));
    };
    // The burst resumes the bookmark of the task, which this one stands for.
    waiting.act = waiting.resumed.metadata.as_ref().and_then(|metadata| act_of(&metadata[BY], fault.is_some()));
    waiting.resumed.id = task;
    waiting.resumed.name = stimulus::RUN_TASK.name.to_owned();
    waiting.resumed.payload = Some(stimulus::task_payload(task, &name));
    let answer = Answer::Completed(None, None);
    consume::use_up(
        context,
        waiting,
        compiled,
        answer,
        on_fault,
        |program, instance, resumed, host, limits| match fault {
            Some((fault, attempts)) => execution::fail(program, instance, resumed, attempts, fault, host, limits),
            None => execution::resume(program, instance, resumed, result.as_ref(), host, limits),
        },
    )
}

/// The metadata of a bookmark, and who answered.
fn with_identity(metadata: Option<&Value>, act: Option<&Act>) -> Option<Value> {
    let members = metadata.and_then(Value::as_object).map(json::copy_members);
    let Some(act) = act else { return members.map(Value::Object) };
    let mut members = members.unwrap_or_default();
    members.insert(BY.to_owned(), identity(act));
    Some(Value::Object(members))
}

/// Who answered, as JSON.
fn identity(act: &Act) -> Value {
    let Identity { role, login, actor } = &act.by;
    json!({ "role": role, "login": login, "actor": actor })
}

/// The act of an answer that was kept, from what [`identity`] wrote. It was recorded when the answer was given.
fn act_of(by: &Value, has_failed: bool) -> Option<Act> {
    let id = |name: &str| by[name].as_u64().and_then(|id| u32::try_from(id).ok());
    let actor = by["actor"].as_str().map(ToOwned::to_owned);
    let kind = if has_failed { ActKind::Fail } else { ActKind::Complete };
    let act = CallContext::act_of(kind, Identity { role: id("role")?, login: id("login"), actor });
    Some(Act { is_recorded: true, ..act })
}

/// The task, its name, its result, and the fault with the number of attempts.
type StoredAnswer = (Uuid, String, Option<Value>, Option<(Fault, u32)>);

/// Reads the answer to which a bookmark `Workflow.Answer` refers. `None`: the bookmark is damaged, or the task is gone.
fn read(bookmark: &Resumed) -> Option<StoredAnswer> {
    let payload = bookmark.payload.as_ref()?;
    let task = Uuid::parse_str(payload[TASK].as_str()?).ok()?;
    let (name, result) = tasks::result(task)?;
    let text = |name: &str| payload[FAULT][name].as_str().map(ToOwned::to_owned);
    let fault = text("message").map(|message| {
        let attempts = payload[FAULT]["attempts"].as_u64().and_then(|count| u32::try_from(count).ok());
        let fault = Fault { detail: text("detail"), code: text("code"), ..Fault::new(TASK_FAILED, message) };
        (fault, attempts.unwrap_or_default())
    });
    Some((task, name, result, fault))
}
