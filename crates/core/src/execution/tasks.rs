//! Failures of tasks: a worker reports a final failure, or the lease of the last attempt expires.
//!
//! Attempts of a task and their leases do not concern the burst: an instance waits for its task, not for a worker. Only
//! the lease of the last attempt has a bookmark, because its expiry is a fault of the activity. The same holds for the
//! time limit of the first claim.

use std::sync::Arc;

use chrono::{DateTime, Utc};
use serde_json::{Value, json};
use uuid::Uuid;

use crate::activity::short_name;
use crate::bookmark::{Bookmark, Resumed};
use crate::execution::Delta;
use crate::execution::context::Execution;
use crate::execution::retry::retrying_data;
use crate::execution::runner::Runner;
use crate::execution::sequence_of;
use crate::instance::{ActivityStatus, Instance};
use crate::journal::{Event, EventKind};
use crate::program::{Program, Retry};
use crate::retry::RetryPolicy;
use workflow_http::stimulus;
use workflow_value::fault::{Fault, TASK_FAILED};

/// The member of that bookmark's payload with the number of the attempt.
const ATTEMPT: &str = "Attempt";

impl Runner<'_> {
    /// Ends the wait of an execution with a fault after this number of attempts; its own policy does not repeat it.
    pub(super) fn fail(&mut self, sequence: u32, bookmark: &Resumed, attempts: u32, fault: Fault) {
        let Some(context) = self.burst.context(sequence) else { return };
        let (ix, status) = (context.node, context.status);
        if status == ActivityStatus::Faulted {
            self.clear_fault(sequence);
        }
        let node = self.burst.program.node(ix);
        Execution::new(self.burst.reborrow(), sequence, node).burn(bookmark);
        self.go_back(sequence, false);
        if let Some(context) = self.burst.instance.state.contexts.get_mut(&sequence) {
            context.attempts.get_or_insert_default().failed = attempts.saturating_sub(1);
        }
        self.pass_on(sequence, node, fault);
    }

    /// Fails an execution whose task got no answer within its last lease, if the resumed bookmark is for that.
    pub(super) fn end_lease(&mut self, sequence: u32, bookmark: &Resumed) -> bool {
        let is_over = bookmark.name == stimulus::LEASE;
        if let Some(context) = self.burst.context(sequence).filter(|_| is_over) {
            let id = &self.burst.program.node(context.node).id;
            let message = format!("no worker answered the task of activity \"{id}\" before its last lease ended");
            let fault = Fault { code: Some("lease_expired".to_owned()), ..Fault::new(TASK_FAILED, message) };
            let attempts = bookmark.payload.as_ref().and_then(|payload| payload[ATTEMPT].as_u64());
            self.fail(sequence, bookmark, attempts.and_then(|count| u32::try_from(count).ok()).unwrap_or(1), fault);
        }
        is_over
    }
}

/// Creates the bookmark that is due when the lease of a task's last attempt expires, for the execution that opened the
/// task. The caller stores it. `None`: the execution is not open.
pub fn add_lease(
    program: &Program,
    instance: &mut Instance,
    activity_instance_id: Uuid,
    id: Uuid,
    attempt: u32,
    until: DateTime<Utc>,
) -> Option<Bookmark> {
    let sequence = sequence_of(instance.id, activity_instance_id)?;
    let context = instance.state.contexts.get_mut(&sequence)?;
    context.bookmarks = context.bookmarks.saturating_add(1);
    let node = program.node(context.node);
    Some(Bookmark {
        id,
        activity_id: node.id.clone(),
        node_id: node.node_id.clone(),
        activity_type: node.type_name.clone(),
        activity_instance_id,
        name: stimulus::LEASE.to_owned(),
        hash: Some(stimulus::hash(stimulus::LEASE, None, Some(&activity_instance_id.to_string()))),
        payload: Some(json!({ ATTEMPT: attempt })),
        metadata: None,
        callback: None,
        auto_burn: true,
        auto_complete: false,
        due_at: Some(until),
    })
}

/// Forgets that bookmark of an execution, or the one for an unclaimed task. The caller deletes it.
pub fn drop_lease(instance: &mut Instance, activity_instance_id: Uuid) {
    let sequence = sequence_of(instance.id, activity_instance_id);
    if let Some(context) = sequence.and_then(|sequence| instance.state.contexts.get_mut(&sequence)) {
        context.bookmarks = context.bookmarks.saturating_sub(1);
    }
}

/// Burns the bookmark that limited the time of an execution's task, now that the task is answered, if the execution is
/// still open and waits for something else.
pub fn end_time_limit(instance: &mut Instance, activity_instance_id: Uuid, bookmark: Uuid, delta: &mut Delta) {
    if delta.keep_resumed || delta.clear_all || delta.cleared.contains(&activity_instance_id) {
        return;
    }
    let sequence = sequence_of(instance.id, activity_instance_id);
    if let Some(context) = sequence.and_then(|sequence| instance.state.contexts.get_mut(&sequence)) {
        context.bookmarks = context.bookmarks.saturating_sub(1);
        delta.burned.push(bookmark);
    }
}

/// Whether the activity that opened the task of an execution limits the time until its first claim.
pub fn limits_start(program: &Program, instance: &Instance, activity_instance_id: Uuid) -> bool {
    let sequence = sequence_of(instance.id, activity_instance_id);
    let context = sequence.and_then(|sequence| instance.state.contexts.get(&sequence));
    context.is_some_and(|context| program.node(context.node).start_timeout.is_some())
}

/// Records how many attempts workers have started at the task of an execution that has timed out: the last of them ends
/// with it.
pub fn count_attempts(instance: &mut Instance, activity_instance_id: Uuid, attempts: u32) {
    let sequence = sequence_of(instance.id, activity_instance_id);
    if let Some(context) = sequence.and_then(|sequence| instance.state.contexts.get_mut(&sequence)) {
        let known = context.attempts.get_or_insert_default();
        known.failed = known.failed.max(attempts.saturating_sub(1));
    }
}

/// Postpones the deadlines of an instance by the microseconds of a pause: those of retries, timeouts and the run. The
/// caller moves the bookmarks.
pub fn move_clocks(instance: &mut Instance, by: i64) {
    let attempts = instance.state.contexts.values_mut().filter_map(|context| context.attempts.as_mut());
    for attempts in attempts {
        if attempts.since > 0 {
            attempts.since = attempts.since.saturating_add(by);
        }
        if let Some(timeout) = &mut attempts.timeout {
            timeout.until = timeout.until.saturating_add(by);
        }
    }
    if let Some(deadline) = &mut instance.state.deadline {
        deadline.until = deadline.until.saturating_add(by);
    }
}

/// When the first attempt of an execution started, if its policy limits the time of all attempts.
pub fn first_attempt(instance: &Instance, activity_instance_id: Uuid) -> Option<DateTime<Utc>> {
    let context = instance.state.contexts.get(&sequence_of(instance.id, activity_instance_id)?)?;
    DateTime::from_timestamp_micros(context.attempts.as_ref()?.since).filter(|since| since.timestamp_micros() > 0)
}

/// Whether this answer, a failed attempt after which no other one follows, is a fault of the execution that opened the
/// task: its author gave it a policy, and has not said what follows when that is exhausted.
pub fn faults_at_last(
    program: &Program,
    instance: &Instance,
    activity_instance_id: Uuid,
    answer: Option<&Value>,
) -> bool {
    let sequence = sequence_of(instance.id, activity_instance_id);
    let context = sequence.and_then(|sequence| instance.state.contexts.get(&sequence));
    let Some(ix) = context.map(|context| context.node) else { return false };
    let node = program.node(ix);
    matches!(node.retry, Some(Retry::Policy(_))) && !node.activity.handles_failure(program, ix, answer)
}

/// The policy for repeating an open execution after a fault; `None`: it has none, or is not open.
pub fn retry_policy(program: &Program, instance: &Instance, activity_instance_id: Uuid) -> Option<Arc<RetryPolicy>> {
    let context = instance.state.contexts.get(&sequence_of(instance.id, activity_instance_id)?)?;
    program.node(context.node).retry_policy(context.strategy())
}

/// An event of an activity about its task, with the bookmark of the task.
pub fn task_event(kind: EventKind, instance: Uuid, bookmark: &Bookmark, data: Value) -> Event {
    let (activity, activity_type) = (bookmark.activity_id.clone(), short_name(&bookmark.activity_type).to_owned());
    Event {
        execution: sequence_of(instance, bookmark.activity_instance_id),
        bookmark_id: Some(bookmark.id),
        ..Event::of_activity(kind, activity, activity_type, Some(data))
    }
}

/// The event of a failed attempt at a task that can be claimed again `at` an instant. `None`: the activity does not
/// write such events.
pub fn failed_attempt(
    program: &Program,
    instance: &Instance,
    bookmark: &Bookmark,
    failed: u32,
    policy: &RetryPolicy,
    fault: &Fault,
    at: DateTime<Utc>,
) -> Option<Event> {
    let context = instance.state.contexts.get(&sequence_of(instance.id, bookmark.activity_instance_id)?)?;
    let node = program.node(context.node);
    if !node.events.unwrap_or(program.options.journal.level).writes(EventKind::Retrying) {
        return None;
    }
    let data = Value::Object(retrying_data(failed, policy, fault, at));
    let node_id = node.shares_id.then(|| node.node_id.clone());
    // The bookmark has the type of a task, whatever activity opened it.
    let activity_type = short_name(&node.type_name).to_owned();
    Some(Event { node_id, activity_type, ..task_event(EventKind::Retrying, instance.id, bookmark, data) })
}
