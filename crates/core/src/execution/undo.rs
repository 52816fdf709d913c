//! Undoes the changes of one unit: a log of old values, applied in reverse.
//!
//! A unit is one call of an activity. The log is empty when the unit begins. Lists that can only grow during the unit
//! (queue, journal, tasks, …) are truncated to their old length.

use std::borrow::Cow;
use std::sync::Arc;

use chrono::{DateTime, Utc};
use serde_json::Value;

use crate::bookmark::Bookmark;
use crate::execution::burst::Burst;
use crate::instance::outputs::{LastResult, Outputs};
use crate::instance::{Context, Memory, Timeout, TokenChange};
use crate::node_ix::NodeIx;
use workflow_value::value::Json;

/// How to undo one change.
#[derive(Debug)]
pub(crate) enum Undo {
    Queued((u32, NodeIx)),
    Unqueued((u32, NodeIx), u32),
    Closed(u32, Box<Context>),
    BookmarkMade((u32, u32)),
    BookmarkDropped((u32, u32), Box<Bookmark>),
    Stored(u32, u32),
    Timeout(u32, Timeout, Option<DateTime<Utc>>),
    Faults(u32, i32),
    Memory(u32, Memory),
    Position(u32, i64),
    Breaking(u32),
    ActivityVisit(u32, u32, u64),
    ConnectionVisit(u32, u32, u64),
    Followed(u32, u32, bool),
    Token(u32, TokenChange),
    ContextVariable(u32, usize, Json),
    NewVariable(u32),
    WorkflowVariable(String, Value, bool),
    WorkflowOutput(String, Option<Value>, bool),
    ActivityOutput(u32, Cow<'static, str>, Option<Arc<Json>>),
    LastResult(u32, Option<LastResult>),
    HiddenResult(u32, Option<LastResult>),
    Arrived(u32, NodeIx, Option<LastResult>),
    HandedOver { from: u32, to: u32, node: NodeIx, before: Option<Outputs> },
    Name(Option<String>, bool),
    Correlation(Option<String>, bool),
    Responded,
    RespondedLater,
}

/// Lengths at the beginning of a unit.
pub(crate) struct Savepoint {
    queue: usize,
    finishing: usize,
    burned: usize,
    cleared: usize,
    tasks: usize,
    ended_tasks: usize,
    raised_tasks: usize,
    notices: usize,
    events: usize,
    children: usize,
    stimuli: usize,
    first: usize,
    interrupted: usize,
}

impl Burst<'_> {
    /// Begins a unit.
    pub fn savepoint(&mut self) -> Savepoint {
        let scratch = &mut *self.scratch;
        scratch.undo.clear();
        scratch.in_unit = true;
        Savepoint {
            queue: scratch.queue.len(),
            finishing: scratch.finishing.len(),
            burned: scratch.delta.burned.len(),
            cleared: scratch.delta.cleared.len(),
            tasks: scratch.delta.tasks.len(),
            ended_tasks: scratch.delta.ended_tasks.len(),
            raised_tasks: scratch.delta.raised_tasks.len(),
            notices: scratch.notices.len(),
            events: scratch.delta.events.len(),
            children: scratch.delta.children.len(),
            stimuli: scratch.delta.stimuli.len(),
            first: scratch.unwinding.queue.len(),
            interrupted: scratch.unwinding.interrupted.len(),
        }
    }

    /// Undoes everything since the savepoint.
    pub fn rollback(&mut self, savepoint: &Savepoint) {
        self.scratch.ending = None;
        self.scratch.continuation = None;
        self.scratch.queue.truncate(savepoint.queue);
        self.scratch.unwinding.queue.truncate(savepoint.first);
        self.scratch.unwinding.interrupted.truncate(savepoint.interrupted);
        self.scratch.finishing.truncate(savepoint.finishing);
        self.scratch.notices.truncate(savepoint.notices);
        let delta = &mut self.scratch.delta;
        delta.burned.truncate(savepoint.burned);
        delta.cleared.truncate(savepoint.cleared);
        delta.tasks.truncate(savepoint.tasks);
        delta.ended_tasks.truncate(savepoint.ended_tasks);
        delta.raised_tasks.truncate(savepoint.raised_tasks);
        delta.events.truncate(savepoint.events);
        delta.children.truncate(savepoint.children);
        delta.stimuli.truncate(savepoint.stimuli);
        while let Some(entry) = self.scratch.undo.pop() {
            self.undo(entry);
        }
    }

    fn undo(&mut self, entry: Undo) {
        let scratch = &mut *self.scratch;
        match entry {
            Undo::Queued((parent, node)) => {
                self.dequeue(parent, node);
            }
            Undo::Unqueued(key, count) => {
                scratch.queued.insert(key, count);
            }
            Undo::Closed(sequence, context) => {
                if let Some(parent) = context.parent {
                    scratch.children.insert((parent, sequence));
                }
                self.instance.state.contexts.insert(sequence, *context);
            }
            Undo::BookmarkMade(key) => {
                scratch.bookmarks.remove(&key);
            }
            Undo::BookmarkDropped(key, bookmark) => {
                scratch.bookmarks.insert(key, *bookmark);
            }
            Undo::Faults(sequence, by) => {
                self.add_faults(sequence, -by);
                self.scratch.undo.pop();
            }
            Undo::WorkflowVariable(name, before, changed) => {
                self.instance.variables.insert(name, before);
                scratch.delta.changed.variables = changed;
            }
            Undo::WorkflowOutput(name, before, changed) => {
                match before {
                    Some(before) => self.instance.output.insert(name, before),
                    None => self.instance.output.remove(&name),
                };
                scratch.delta.changed.output = changed;
            }
            Undo::ActivityOutput(sequence, name, before) => self.restore_output(sequence, &name, before),
            Undo::HandedOver { from, to, node, before } => self.take_back(from, to, node, before),
            Undo::Name(before, changed) => {
                self.instance.name = before;
                scratch.delta.changed.name = changed;
            }
            Undo::Correlation(before, changed) => {
                // The host may have undone this already together with the step. The id was valid before, so the host
                // cannot reject it now.
                let _ = self.host.correlate(before.as_deref());
                self.instance.correlation_id = before;
                scratch.delta.changed.correlation_id = changed;
            }
            Undo::Responded => scratch.delta.response = None,
            Undo::RespondedLater => drop(scratch.delta.responses.pop()),
            Undo::Timeout(sequence, timeout, before) => {
                match before {
                    Some(until) => scratch.timeouts.insert(sequence, until),
                    None => scratch.timeouts.remove(&sequence),
                };
                if let Some(context) = self.instance.state.contexts.get_mut(&sequence) {
                    context.attempts.get_or_insert_default().timeout = Some(timeout);
                }
            }
            Undo::Stored(sequence, _)
            | Undo::LastResult(sequence, _)
            | Undo::HiddenResult(sequence, _)
            | Undo::Arrived(sequence, _, _)
            | Undo::Memory(sequence, _)
            | Undo::Position(sequence, _)
            | Undo::Breaking(sequence)
            | Undo::ActivityVisit(sequence, _, _)
            | Undo::ConnectionVisit(sequence, _, _)
            | Undo::Followed(sequence, _, _)
            | Undo::Token(sequence, _)
            | Undo::NewVariable(sequence)
            | Undo::ContextVariable(sequence, _, _) => {
                if let Some(context) = self.instance.state.contexts.get_mut(&sequence) {
                    undo_in(context, entry);
                }
            }
        }
    }
}

/// Undoes a change inside one execution.
fn undo_in(context: &mut Context, entry: Undo) {
    match (entry, &mut context.memory) {
        (Undo::Stored(_, before), _) => context.bookmarks = before,
        (Undo::LastResult(_, before), _) => context.last_result = before,
        (Undo::HiddenResult(_, before), _) => {
            context.ended_inside.get_or_insert_default().hidden_result = before;
            context.drop_if_nothing_ended();
        }
        (Undo::Arrived(_, node, before), _) => {
            let arrived = &mut context.ended_inside.get_or_insert_default().arrived;
            match before {
                Some(before) => arrived.insert(node, before),
                None => arrived.remove(&node),
            };
            context.drop_if_nothing_ended();
        }
        (Undo::Memory(_, before), memory) => *memory = before,
        (Undo::Position(_, before), memory) => memory.set_position(before),
        (Undo::Breaking(_), _) => context.breaking = false,
        (Undo::ActivityVisit(_, position, before), Memory::Flow(scope)) => {
            scope.restore_activity(position, before);
        }
        (Undo::ConnectionVisit(_, edge, before), Memory::Flow(scope)) => {
            scope.restore_connection(edge, before);
        }
        (Undo::Followed(_, edge, before), Memory::Flow(scope)) => {
            scope.set_followed(edge, before);
        }
        (Undo::Token(_, before), Memory::Tokens(scope)) => {
            scope.apply(before);
        }
        (Undo::NewVariable(_), _) => {
            context.variables.pop();
        }
        (Undo::ContextVariable(_, index, before), _) => {
            if let Some((_, slot)) = context.variables.get_mut(index) {
                *slot = before;
            }
        }
        _ => {}
    }
}
