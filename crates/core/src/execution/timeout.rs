//! Timeouts: the time limit of one attempt of an activity, including waiting.
//!
//! An activity that ends in the burst in which it started needs no bookmark for it. One that waits gets a bookmark at
//! the end of that burst, due at its deadline. Then its descendants are cancelled and it faults. The same holds for the
//! time from opening its task to the first claim; the claim ends that timeout.

use chrono::{DateTime, TimeDelta};
use uuid::Uuid;

use crate::bookmark::Resumed;
use crate::execution::Outcomes;
use crate::execution::burst::{Burst, NO_EXECUTION};
use crate::execution::context::Execution;
use crate::execution::runner::Runner;
use crate::execution::undo::Undo;
use crate::instance::{ActivityStatus, DeadlineKey, Timeout};
use crate::program::Node;
use workflow_http::stimulus;
use workflow_value::fault::{Fault, TIMED_OUT};

/// The outcome, and flowchart connection, of an activity that timed out.
const OUTCOME: &str = "Timeout";

impl Burst<'_> {
    /// Records the deadline of the attempt that starts now.
    pub fn begin_timeout(&mut self, sequence: u32, node: &Node) {
        self.instance.state.armed_spans.remove(&(sequence, false));
        if let Some(until) = node.timeout.and_then(|timeout| self.scratch.now.checked_add_signed(timeout)) {
            self.scratch.timeouts.insert(sequence, until);
        }
    }

    /// Records that the bookmark of a timeout is dropped with the others of its execution, and must be created again
    /// unless the execution ends.
    pub fn drop_timeout(&mut self, sequence: u32) {
        let context = self.instance.state.contexts.get_mut(&sequence);
        let attempts = context.and_then(|context| context.attempts.as_mut());
        if let Some(timeout) = attempts.and_then(|attempts| attempts.timeout.take()) {
            let until = DateTime::from_timestamp_micros(timeout.until).unwrap_or(self.scratch.now);
            let before = self.scratch.timeouts.insert(sequence, until);
            self.scratch.undo.push(Undo::Timeout(sequence, timeout, before));
        }
    }

    /// The span of a deadline that another version has armed, removed because the deadline passes or ends.
    pub fn take_armed_span(&mut self, key: DeadlineKey) -> Option<TimeDelta> {
        self.instance.state.armed_spans.remove(&key).map(TimeDelta::microseconds)
    }

    /// Forgets the timeout of an attempt whose bookmark is burned.
    fn forget_timeout(&mut self, sequence: u32, bookmark: Uuid) {
        let context = self.instance.state.contexts.get_mut(&sequence);
        if let Some(attempts) = context.and_then(|context| context.attempts.as_mut())
            && attempts.timeout.is_some_and(|timeout| timeout.bookmark == bookmark)
        {
            attempts.timeout = None;
        }
    }

    /// Ends a deadline that does not exist in the version to which the instance is migrated.
    pub fn disarm(&mut self, sequence: u32, bookmark: Uuid) {
        let state = &mut self.instance.state;
        if sequence == NO_EXECUTION {
            state.deadline = None;
        } else if let Some(context) = state.contexts.get_mut(&sequence) {
            context.bookmarks = context.bookmarks.saturating_sub(1);
            self.forget_timeout(sequence, bookmark);
        }
        self.scratch.delta.burned.push(bookmark);
    }

    /// Ends the timeout of an execution, and burns its bookmark if that is stored.
    pub fn end_timeout(&mut self, sequence: u32) {
        self.scratch.timeouts.remove(&sequence);
        self.instance.state.armed_spans.remove(&(sequence, false));
        let Some(context) = self.instance.state.contexts.get_mut(&sequence) else { return };
        if let Some(timeout) = context.attempts.as_mut().and_then(|attempts| attempts.timeout.take()) {
            context.bookmarks = context.bookmarks.saturating_sub(1);
            self.scratch.delta.burned.push(timeout.bookmark);
        }
    }
}

impl Runner<'_> {
    /// Creates the bookmarks for the timeouts of executions that are still open, and of the tasks that they have
    /// opened, at the end of the burst.
    pub(super) fn make_timeouts(&mut self) {
        self.make_start_timeouts();
        for (sequence, until) in std::mem::take(&mut self.burst.scratch.timeouts) {
            if self.burst.context(sequence).is_none_or(|context| context.status != ActivityStatus::Running) {
                continue;
            }
            let Some(bookmark) = self.create_due(sequence, stimulus::TIMEOUT, until, None) else { continue };
            if let Some(context) = self.burst.instance.state.contexts.get_mut(&sequence) {
                let attempts = context.attempts.get_or_insert_default();
                attempts.timeout = Some(Timeout { bookmark, until: until.timestamp_micros() });
            }
        }
    }

    fn make_start_timeouts(&mut self) {
        let (burst, program) = (&self.burst, self.burst.program);
        if burst.scratch.delta.tasks.is_empty() {
            return;
        }
        let until = |sequence: u32| {
            let timeout = program.node(burst.context(sequence)?.node).start_timeout?;
            Some((sequence, burst.scratch.now.checked_add_signed(timeout)?))
        };
        let tasks = burst.scratch.bookmarks.iter().filter(|(_, made)| made.name == stimulus::RUN_TASK.name);
        let bounded: Vec<_> = tasks.filter_map(|((sequence, _), _)| until(*sequence)).collect();
        for (sequence, until) in bounded {
            self.burst.instance.state.armed_spans.remove(&(sequence, true));
            self.create_due(sequence, stimulus::START_TIMEOUT, until, None);
        }
    }

    /// Ends an execution that has timed out, or whose task no worker has claimed in time, if the resumed bookmark is
    /// for that.
    pub(super) fn time_out(&mut self, sequence: u32, bookmark: &Resumed) -> bool {
        let is_over = bookmark.name == stimulus::TIMEOUT || bookmark.name == stimulus::START_TIMEOUT;
        let Some(context) = self.burst.context(sequence).filter(|_| is_over) else { return is_over };
        let (ix, parent) = (context.node, context.parent);
        let node = self.burst.program.node(ix);
        Execution::new(self.burst.reborrow(), sequence, node).burn(bookmark);
        let is_start = bookmark.name == stimulus::START_TIMEOUT;
        // Ignore a bookmark left over from a version with a timeout if the current version has none.
        let declared = if is_start { node.start_timeout } else { node.timeout };
        let Some(span) = self.burst.take_armed_span((sequence, is_start)).or(declared) else {
            self.burst.forget_timeout(sequence, bookmark.id);
            return true;
        };
        // What runs in a port of a call has begun after the answer, and is not a reason to call again.
        let is_answered = node.activity.descriptor().opens_tasks() && !self.burst.children(sequence).is_empty();
        self.go_back(sequence, false);
        self.drop_superseded();
        let fault = if is_start { unclaimed(node, span) } else { over(node, span) };
        if !is_answered && self.repeat(sequence, sequence, &fault) {
            return true;
        }
        let above =
            parent.and_then(|parent| self.burst.context(parent)).map(|above| self.burst.program.node(above.node));
        let leads_on =
            above.and_then(|above| above.flow.as_deref()).is_some_and(|flow| flow.has_connection(ix, OUTCOME));
        if leads_on && !node.activity.descriptor().outcomes.contains(&OUTCOME) {
            let outcomes = Outcomes::Named(vec![OUTCOME.to_owned()]);
            self.burst.scratch.finishing.push_back((sequence, outcomes));
        } else {
            self.pass_on(sequence, node, fault);
        }
        true
    }
}

/// The fault of an activity that timed out.
fn over(node: &Node, span: TimeDelta) -> Fault {
    fault(format!("activity \"{}\" took longer than {} s", node.id, seconds(span)))
}

/// The fault of an activity whose task no worker has claimed in time.
fn unclaimed(node: &Node, span: TimeDelta) -> Fault {
    fault(format!("no worker claimed the task of activity \"{}\" within {} s", node.id, seconds(span)))
}

/// A fault with the SQLSTATE and the code by which policies and catches identify a timeout.
pub(super) fn fault(message: String) -> Fault {
    Fault { code: Some("timeout".to_owned()), ..Fault::new(TIMED_OUT, message) }
}

/// A span in a message.
pub(super) fn seconds(span: TimeDelta) -> f64 {
    span.num_microseconds().unwrap_or(i64::MAX) as f64 / 1e6
}
