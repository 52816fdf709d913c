//! Further attempts of executions that faulted: those that a policy asks for, and those that a caller asks for.
//!
//! A fault that a policy covers becomes no incident. The execution goes back to its beginning, at once or when the
//! bookmark is due at which it waits meanwhile. On a container everything below it begins again.

use std::collections::BTreeSet;

use chrono::{DateTime, SecondsFormat, Utc};
use serde_json::{Map, Value};

use crate::bookmark::{Bookmark, NewBookmark, Resumed};
use crate::execution::burst::BurstState;
use crate::execution::context::Execution;
use crate::execution::core::Task;
use crate::fault::{Error, Fault};
use crate::instance::{ActivityStatus, Attempts, Instance, KeptInput};
use crate::journal::EventKind;
use crate::program::Program;
use crate::stimulus;
use crate::value::{Json, copy_or_null};

impl BurstState<'_> {
    /// Repeats an execution after a fault of `faulted`, which is the execution itself or lies below it, if its policy
    /// says so.
    pub(super) fn repeat(&mut self, sequence: u32, faulted: u32, fault: &Fault) -> bool {
        let Some(context) = self.core.context(sequence).filter(|_| self.core.limits.retries) else { return false };
        let program = self.core.program;
        let node = program.node(context.node);
        let Some(policy) = node.retry.as_deref().filter(|policy| policy.covers(fault)) else { return false };
        let now = self.core.scratch.now;
        let before = context.attempts.as_deref();
        let failed = before.map_or(0, |before| before.failed).saturating_add(1);
        let since = before.map_or(now.timestamp_micros(), |before| before.since);
        let random = if policy.jitter > 0.0 { self.core.host.random() } else { 0 };
        let first = DateTime::from_timestamp_micros(since).unwrap_or(now);
        let Some(at) = policy.next_attempt(failed, first, now, random) else { return false };

        let kept = self.kept_input(faulted);
        let mut data = Map::from_iter([
            ("attempt".to_owned(), failed.into()),
            ("max_attempts".to_owned(), policy.max_attempts.into()),
            ("sqlstate".to_owned(), fault.sqlstate.as_str().into()),
            ("message".to_owned(), fault.message.as_str().into()),
            ("due_at".to_owned(), at.to_rfc3339_opts(SecondsFormat::AutoSi, true).into()),
        ]);
        if let Some(below) = self.core.context(faulted).filter(|_| faulted != sequence) {
            data.insert("activity_id".to_owned(), program.node(below.node).id.as_str().into());
        }
        self.core.event(EventKind::Retrying, sequence, node, Some(Value::Object(data)));
        self.go_back(sequence, false);
        if let Some(context) = self.core.instance.state.contexts.get_mut(&sequence) {
            let mut attempts = context.attempts.take().unwrap_or_default();
            let input = kept.or(attempts.input.take());
            self.core.scratch.keeps_input |= input.is_some();
            *attempts = Attempts { failed, since, input, timeout: None };
            context.attempts = Some(attempts);
        }
        self.again(sequence, at);
        true
    }

    /// What the faulted execution was resumed or triggered with.
    fn kept_input(&self, faulted: u32) -> Option<KeptInput> {
        let node = self.core.context(faulted)?.node;
        let scratch = &self.core.scratch;
        let resumed = scratch.resuming.as_ref().filter(|(sequence, _)| *sequence == faulted);
        let (name, input) = match resumed {
            Some((_, name)) => (Some(name.clone()), scratch.resume_input.as_ref()),
            None if self.core.is_trigger(faulted) => (None, scratch.trigger_input.as_ref()),
            None => return None,
        };
        Some(KeptInput { node, name, input: Json(input.map(copy_or_null).unwrap_or_default()) })
    }

    /// Executes an execution again at an instant: now, or when a bookmark is due.
    fn again(&mut self, sequence: u32, at: DateTime<Utc>) {
        if at <= self.core.scratch.now {
            return self.core.scratch.queue.push_back(Task::Again(sequence));
        }
        let Some(context) = self.core.context(sequence) else { return };
        let node = self.core.program.node(context.node);
        let mut cx = Execution::new(self.core.reborrow(), sequence, node);
        let name = Some(stimulus::RETRY.to_owned());
        let waits = NewBookmark { name, due_at: Some(at), auto_complete: false, ..NewBookmark::default() };
        let made = cx.create_bookmark(waits);
        debug_assert!(made.is_ok(), "it has no payload that could be refused");
    }

    /// Begins the next attempt of an execution whose bookmark was resumed, if that is what it waits for.
    pub(super) fn begin_next_attempt(&mut self, sequence: u32, bookmark: &Resumed) -> bool {
        let is_due = bookmark.name == stimulus::RETRY;
        if let Some(context) = self.core.context(sequence).filter(|_| is_due) {
            let node = self.core.program.node(context.node);
            Execution::new(self.core.reborrow(), sequence, node).burn(bookmark);
            self.core.scratch.queue.push_back(Task::Again(sequence));
        }
        is_due
    }

    /// Gives the input of the attempt that failed to the trigger that is about to be executed.
    pub(super) fn give_trigger_input(&mut self, sequence: u32) {
        if let Some(input) = self.take_input(sequence, None) {
            self.core.scratch.trigger_input = Some(input);
        }
    }

    /// Resumes an execution that was just executed with the input of the attempt that failed, if it waits for the same.
    pub(super) fn give_input(&mut self, sequence: u32) {
        if !self.core.scratch.keeps_input {
            return;
        }
        let made = self.core.scratch.bookmarks.range((sequence, 0)..=(sequence, u32::MAX));
        let made: Vec<Resumed> = made.map(|(_, bookmark)| resumed(bookmark)).collect();
        for bookmark in made {
            if let Some(input) = self.take_input(sequence, Some(&bookmark.name)) {
                self.core.scratch.resume_input = Some(input);
                self.resume_unit(sequence, &bookmark);
                return;
            }
        }
    }

    /// Takes the input that is kept for a bookmark of this name, or for a trigger, from the execution or one above.
    fn take_input(&mut self, sequence: u32, name: Option<&str>) -> Option<Value> {
        if !self.core.scratch.keeps_input {
            return None;
        }
        let contexts = &mut self.core.instance.state.contexts;
        let node = contexts.get(&sequence)?.node;
        let mut current = Some(sequence);
        while let Some(context) = current.and_then(|current| contexts.get_mut(&current)) {
            let slot = context.attempts.as_mut().map(|attempts| &mut attempts.input);
            if let Some(slot) = slot
                && slot.as_ref().is_some_and(|kept| kept.node == node && kept.name.as_deref() == name)
            {
                return slot.take().map(|kept| kept.input.0);
            }
            current = context.parent;
        }
        None
    }

    /// Queues faulted executions to run again, with their attempts counted anew.
    pub fn retry(&mut self, faulted: &[u32]) {
        for sequence in faulted {
            // The retry of an ancestor may have closed this execution meanwhile.
            let Some(context) = self.core.context(*sequence) else {
                continue;
            };
            let remembers = self.core.program.node(context.node).activity.remembers();
            self.go_back(*sequence, remembers);
            self.clear_fault(*sequence);
            let now = self.core.scratch.now.timestamp_micros();
            if let Some(context) = self.core.instance.state.contexts.get_mut(sequence)
                && let Some(attempts) = &mut context.attempts
            {
                **attempts = Attempts { since: now, ..Attempts::default() };
            }
            self.core.scratch.queue.push_back(Task::Again(*sequence));
        }
    }

    /// Takes an execution back to its beginning, and ends everything below it.
    pub(super) fn go_back(&mut self, sequence: u32, keeps_memory: bool) {
        let Some(node) = self.core.context(sequence).map(|context| context.node) else { return };
        self.core.cancel_children(sequence);
        self.core.drop_queued(sequence);
        self.core.drop_bookmarks(sequence);
        self.core.scratch.timeouts.remove(&sequence);
        let declared = &self.core.program.node(node).variables;
        if let Some(context) = self.core.instance.state.contexts.get_mut(&sequence) {
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

/// What a resume of a bookmark that this burst made needs of it.
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
    }
}

/// The faulted executions that a retry names.
pub(crate) fn faulted(
    program: &Program,
    instance: &Instance,
    activity_ids: Option<&[String]>,
) -> Result<Vec<u32>, Error> {
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
