//! Further attempts of faulted executions: requested by a policy, or by a caller.
//!
//! A fault that a policy covers becomes no incident. The execution is reset to its beginning, immediately or when the
//! bookmark at which it waits is due. For a container, all descendants are restarted.

use std::collections::BTreeSet;

use chrono::{DateTime, Utc};
use serde_json::{Map, Value, json};

use crate::activity::locate;
use crate::bookmark::{Bookmark, Resumed};
use crate::execution::burst::Task;
use crate::execution::context::Execution;
use crate::execution::runner::{Runner, UnitOutcome};
use crate::execution::sequence_of;
use crate::instance::compensation::Ending;
use crate::instance::{ActivityStatus, Attempts, Instance, KeptInput};
use crate::journal::EventKind;
use crate::program::{ComputedStrategy, Node, Program, Retry};
use crate::resilience::{STRATEGY, stored_strategy};
use crate::retry::RetryPolicy;
use workflow_http::stimulus;
use workflow_value::fault::{Error, Fault};
use workflow_value::value::{Json, copy_or_null, instant_text};

/// The data of [`EventKind::Retrying`] after `failed` attempts, if the next one starts `at` an instant.
pub(super) fn retrying_data(failed: u32, policy: &RetryPolicy, fault: &Fault, at: DateTime<Utc>) -> Map<String, Value> {
    Map::from_iter([
        ("attempt".to_owned(), failed.into()),
        ("max_attempts".to_owned(), policy.max_attempts.into()),
        ("sqlstate".to_owned(), fault.sqlstate.as_str().into()),
        ("message".to_owned(), fault.message.as_str().into()),
        ("due_at".to_owned(), instant_text(at).into()),
    ])
}

impl<'a> Runner<'a> {
    /// Repeats an execution after a fault of `faulted` (the execution itself or a descendant), if its policy allows it.
    pub(super) fn repeat(&mut self, sequence: u32, faulted: u32, fault: &Fault) -> bool {
        let Some(context) = self.burst.context(sequence).filter(|_| self.burst.limits.retries) else { return false };
        let program = self.burst.program;
        let node = program.node(context.node);
        // The attempts of an activity with a task are those at the task: what a port runs afterwards does not repeat it.
        if faulted != sequence && node.activity.descriptor().opens_tasks() {
            return false;
        }
        let policy = node.retry_policy(context.strategy()).filter(|policy| policy.covers(fault));
        let Some(policy) = policy else { return false };
        let now = self.burst.scratch.now;
        let before = context.attempts.as_deref();
        let failed = before.map_or(0, |before| before.failed).saturating_add(1);
        let since = before.map_or(now.timestamp_micros(), |before| before.since);
        let random = if policy.jitter > 0.0 { self.burst.host.random() } else { 0 };
        let first = DateTime::from_timestamp_micros(since).unwrap_or(now);
        let Some(at) = policy.next_attempt_at(failed, first, now, random) else { return false };

        let kept = if faulted == sequence { self.kept_input(sequence) } else { None };
        let mut data = retrying_data(failed, &policy, fault, at);
        if let Some(below) = self.burst.context(faulted).filter(|_| faulted != sequence) {
            data.insert("activity_id".to_owned(), program.node(below.node).id.as_str().into());
        }
        self.burst.event(EventKind::Retrying, sequence, node, Some(Value::Object(data)));
        self.go_back(sequence, false);
        self.drop_superseded();
        if let Some(context) = self.burst.instance.state.contexts.get_mut(&sequence) {
            let mut attempts = context.attempts.take().unwrap_or_default();
            let input = kept.or(attempts.input.take());
            *attempts = Attempts { failed, since, input, ..Attempts::default() };
            context.attempts = Some(attempts);
        }
        self.again(sequence, at);
        true
    }

    /// Computes the resilience strategy of the attempt that starts, if its activity has an expression for it, and
    /// starts its timeout. `false`: the expression failed, and the fault is handled.
    pub(super) fn begin_attempt(&mut self, sequence: u32, node: &'a Node) -> bool {
        if let Some(Retry::Computed(computed)) = &node.retry
            && !self.compute_strategy(sequence, node, computed)
        {
            return false;
        }
        self.burst.begin_timeout(sequence, node);
        true
    }

    fn compute_strategy(&mut self, sequence: u32, node: &'a Node, computed: &ComputedStrategy) -> bool {
        self.keep_strategy(sequence, None);
        let mut strategy = None;
        let unit = self.unit(sequence, node, |cx| {
            let given = cx.evaluate(&computed.expression).map_err(|fault| locate(fault, STRATEGY))?;
            strategy = stored_strategy(given, &computed.known)
                .map_err(|reason| locate(Fault::new("22023", reason), STRATEGY))?;
            Ok(())
        });
        if unit == UnitOutcome::Kept {
            self.keep_strategy(sequence, strategy);
        }
        unit == UnitOutcome::Kept
    }

    fn keep_strategy(&mut self, sequence: u32, strategy: Option<Value>) {
        let since = self.burst.scratch.now.timestamp_micros();
        let Some(context) = self.burst.instance.state.contexts.get_mut(&sequence) else { return };
        if strategy.is_some() || context.attempts.is_some() {
            let begun = || Box::new(Attempts { since, ..Attempts::default() });
            context.attempts.get_or_insert_with(begun).strategy = strategy.map(Json);
        }
    }

    /// The input with which the faulted execution was resumed or triggered. The report of a child workflow is not kept,
    /// because the next attempt starts another child.
    fn kept_input(&self, faulted: u32) -> Option<KeptInput> {
        let scratch = &self.burst.scratch;
        let resumed = scratch.resuming.as_ref().filter(|(sequence, ..)| *sequence == faulted);
        if let Some((_, name, payload)) = resumed {
            let is_report = stimulus::built_in(name).is_some_and(|known| known.is_of_child);
            let input = scratch.resume_input.as_ref().map(copy_or_null).unwrap_or_default();
            let kept = KeptInput { name: Some(name.clone()), payload: Json(copy_or_null(payload)), input: Json(input) };
            return Some(kept).filter(|_| !is_report);
        }
        let input = scratch.trigger_input.as_ref().filter(|_| self.burst.is_trigger(faulted))?;
        Some(KeptInput { name: None, payload: Json(Value::Null), input: Json(copy_or_null(input)) })
    }

    /// Executes an execution again at an instant: now, or when a bookmark is due.
    fn again(&mut self, sequence: u32, at: DateTime<Utc>) {
        if at <= self.burst.scratch.now {
            return self.burst.push(sequence, Task::Again(sequence));
        }
        let failed =
            self.burst.context(sequence).and_then(|context| context.attempts.as_ref()).map(|attempts| attempts.failed);
        self.create_due(
            sequence,
            stimulus::RETRY,
            at,
            failed.map(|failed| json!({ stimulus::ATTEMPT: failed.to_string() })),
        );
    }

    /// Starts the next attempt of an execution whose bookmark was resumed, if it is waiting for that.
    pub(super) fn begin_next_attempt(&mut self, sequence: u32, bookmark: &Resumed) -> bool {
        let is_due = bookmark.name == stimulus::RETRY;
        if let Some(context) = self.burst.context(sequence).filter(|_| is_due) {
            let node = self.burst.program.node(context.node);
            Execution::new(self.burst.reborrow(), sequence, node).burn(bookmark);
            self.burst.push(sequence, Task::Again(sequence));
        }
        is_due
    }

    /// Passes the input of the failed attempt to the trigger that is about to be executed.
    pub(super) fn give_trigger_input(&mut self, sequence: u32) {
        if let Some(kept) = self.take_input(sequence, |kept| kept.name.is_none()) {
            self.burst.scratch.trigger_input = Some(kept);
        }
    }

    /// Resumes a just executed execution with the input of the failed attempt, if it waits for the same: at its only
    /// bookmark with that name, or at the one with the same payload.
    pub(super) fn give_input(&mut self, sequence: u32) {
        let attempts = self.burst.context(sequence).and_then(|context| context.attempts.as_ref());
        let Some(kept) = attempts.and_then(|attempts| attempts.input.as_ref()) else { return };
        let made = self.burst.scratch.made_by(sequence).map(|(_, made)| made);
        let same: Vec<&Bookmark> = made.filter(|made| Some(&made.name) == kept.name.as_ref()).collect();
        let found = match same.as_slice() {
            [only] => Some(*only),
            many => many.iter().copied().find(|made| made.payload.as_ref().unwrap_or(&Value::Null) == &kept.payload.0),
        };
        let Some(bookmark) = found.map(resumed) else { return };
        if let Some(input) = self.take_input(sequence, |_| true) {
            self.burst.scratch.resume_input = Some(input);
            self.resume_unit(sequence, &bookmark);
        }
    }

    fn take_input(&mut self, sequence: u32, is_it: impl FnOnce(&KeptInput) -> bool) -> Option<Value> {
        let context = self.burst.instance.state.contexts.get_mut(&sequence)?;
        let slot = &mut context.attempts.as_mut()?.input;
        if !slot.as_ref().is_some_and(is_it) {
            return None;
        }
        slot.take().map(|kept| kept.input.0)
    }

    /// Queues faulted executions to run again, with their attempts counted from zero.
    pub fn retry(&mut self, faulted: &[u32]) {
        for sequence in faulted {
            // The retry of an ancestor may have closed this execution meanwhile.
            let Some(context) = self.burst.context(*sequence) else {
                continue;
            };
            let remembers = self.burst.program.node(context.node).activity.remembers();
            self.go_back(*sequence, remembers);
            self.clear_fault(*sequence);
            self.reset_attempts(*sequence);
            self.burst.scratch.queue.push_back(Task::Again(*sequence));
        }
    }

    /// Resets the failed attempts of an execution and its ancestors.
    pub(super) fn reset_attempts(&mut self, sequence: u32) {
        let now = self.burst.scratch.now.timestamp_micros();
        let mut current = Some(sequence);
        while let Some(context) = current.and_then(|at| self.burst.instance.state.contexts.get_mut(&at)) {
            if let Some(attempts) = &mut context.attempts {
                (attempts.failed, attempts.since, attempts.input) = (0, now, None);
            }
            current = context.parent;
        }
    }

    /// Drops incidents of this burst whose executions have since been cancelled by another attempt or a catch.
    pub(super) fn drop_superseded(&mut self) {
        let (id, contexts) = (self.burst.instance.id, &self.burst.instance.state.contexts);
        let ended = self.burst.scratch.unwinding.final_incidents;
        let incidents = &mut self.burst.scratch.delta.incidents;
        let before = incidents.len();
        let mut position = 0;
        incidents.retain(|incident| {
            position += 1;
            let sequence = sequence_of(id, incident.activity_instance_id);
            position <= ended || sequence.is_some_and(|sequence| contexts.contains_key(&sequence))
        });
        let dropped = u32::try_from(before - incidents.len()).unwrap_or(u32::MAX);
        self.burst.instance.incident_count = self.burst.instance.incident_count.saturating_sub(dropped);
    }

    /// Resets an execution to its beginning, and ends all its descendants.
    pub(super) fn go_back(&mut self, sequence: u32, keeps_memory: bool) {
        let Some(node) = self.burst.context(sequence).map(|context| context.node) else { return };
        self.burst.note_interruption(sequence);
        self.burst.abandon_children(sequence);
        self.burst.cancel_children(sequence);
        self.burst.drop_queued(sequence);
        self.burst.drop_bookmarks(sequence);
        self.burst.scratch.timeouts.remove(&sequence);
        let declared = &self.burst.program.node(node).variables;
        if let Some(context) = self.burst.instance.state.contexts.get_mut(&sequence) {
            if !keeps_memory {
                context.memory = Default::default();
            }
            context.breaking = false;
            for (slot, declared) in context.variables.iter_mut().zip(declared) {
                slot.1.0 = copy_or_null(&declared.initial);
            }
        }
    }
}

/// The data of a bookmark created in this burst that a resume needs.
fn resumed(bookmark: &Bookmark) -> Resumed {
    Resumed {
        id: bookmark.id,
        name: bookmark.name.clone(),
        activity_instance_id: bookmark.activity_instance_id,
        payload: bookmark.payload.as_ref().map(copy_or_null),
        metadata: bookmark.metadata.as_ref().map(copy_or_null),
        callback: bookmark.callback.clone(),
        auto_burn: bookmark.auto_burn,
        auto_complete: bookmark.auto_complete,
        due_at: bookmark.due_at,
    }
}

/// The faulted executions that a retry names. At least one execution is faulted.
pub(crate) fn faulted(
    program: &Program,
    instance: &Instance,
    activity_ids: Option<&[String]>,
) -> Result<Vec<u32>, Error> {
    if activity_ids.is_none_or(<[String]>::is_empty) && !instance.has_faulted_activity() {
        return Err(nothing_faulted(instance));
    }
    let contexts = instance.state.contexts.iter();
    let faulted = contexts.filter(|(_, context)| context.status == ActivityStatus::Faulted);
    let Some(wanted) = activity_ids else {
        return Ok(faulted.map(|(sequence, _)| *sequence).collect());
    };
    let mut missing: BTreeSet<&str> = wanted.iter().map(String::as_str).collect();
    let wanted = missing.clone();
    let mut found = Vec::new();
    for (sequence, context) in faulted {
        let id = program.node(context.node).id.as_str();
        if wanted.contains(id) {
            missing.remove(id);
            found.push(*sequence);
        }
    }
    match missing.first() {
        Some(id) => Err(Error::NotFaulted((*id).to_owned())),
        None => Ok(found),
    }
}

fn nothing_faulted(instance: &Instance) -> Error {
    match instance.state.ending() {
        Ending::None | Ending::Finished => Error::NothingFaulted,
        Ending::Faulted => Error::IsEnding { is_cancelled: false },
        Ending::Cancelled => Error::IsEnding { is_cancelled: true },
    }
}
