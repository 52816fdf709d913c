//! The state of a burst, and its primitive changes of the instance.
//!
//! A change inside a unit adds an entry to the undo log, unless it only appends to a list that a rollback truncates.
//! This module knows neither activities nor when they are called.

use std::collections::{BTreeMap, BTreeSet, VecDeque, btree_map};

use chrono::{DateTime, Utc};
use serde_json::Value;
use uuid::Uuid;

use crate::activity::short_name;
use crate::bookmark::Bookmark;
use crate::execution::compensation::UnwindState;
use crate::execution::undo::Undo;
use crate::execution::{Delta, Incident, Limits, Outcomes, activity_instance_id};
use crate::host::Host;
use crate::instance::compensation::{HELD_BY_INTERRUPTION, Unwinding};
use crate::instance::continuation::Continuation;
use crate::instance::outputs::LastResult;
use crate::instance::{ActivityStatus, Attempts, Context, Instance, Memory};
use crate::journal::{Event, EventKind};
use crate::node_ix::NodeIx;
use crate::notification::Notice;
use crate::program::{Node, Program};
use workflow_value::fault::Fault;
use workflow_value::value::{Json, copy_or_null};

/// A burst: the instance that it runs, and what it needs to do so. Triggers are evaluated in a burst that calls no
/// activity.
pub(crate) struct Burst<'a> {
    pub program: &'a Program,
    pub limits: &'a Limits,
    pub instance: &'a mut Instance,
    pub host: &'a mut dyn Host,
    pub scratch: &'a mut Scratch,
}

/// Data that exists only while a burst runs.
#[derive(Default)]
pub(crate) struct Scratch {
    pub now: DateTime<Utc>,
    pub steps: u64,
    pub queue: VecDeque<Task>,
    /// Number of queued children by parent and node.
    pub queued: BTreeMap<(u32, NodeIx), u32>,
    /// Open children: parent and child.
    pub children: BTreeSet<(u32, u32)>,
    /// Bookmarks made in this burst, by execution and order.
    pub bookmarks: BTreeMap<(u32, u32), Bookmark>,
    pub next_bookmark: u32,
    /// Executions that completed in the current unit.
    pub finishing: VecDeque<(u32, Outcomes)>,
    /// The execution that requested the end of the whole workflow.
    pub ending: Option<u32>,
    /// The continuation that it requested.
    pub continuation: Option<Box<Continuation>>,
    /// Notices that are sent at the end of the burst, each of a task of an execution.
    pub notices: Vec<(u32, Notice)>,
    pub undo: Vec<Undo>,
    /// Whether a unit is open; changes between units are never undone.
    pub in_unit: bool,
    pub delta: Delta,
    /// Buffer for evaluated inputs, reused by every execution.
    pub inputs: Vec<Value>,
    pub resume_input: Option<Value>,
    pub trigger_input: Option<Value>,
    /// The child that has just ended or faulted: children scheduled because of it continue its path.
    pub cause: Option<Cause>,
    /// The number of the next result, once it is known.
    pub next_result: Option<u32>,
    /// The execution that is being resumed, and name and payload of its bookmark.
    pub resuming: Option<(u32, String, Value)>,
    /// The deadlines of executions whose timeouts have no bookmark yet.
    pub timeouts: BTreeMap<u32, DateTime<Utc>>,
    pub unwinding: UnwindState,
    /// The deadline of the run that this burst starts.
    pub run_until: Option<DateTime<Utc>>,
    /// Whether a fault has ended the run.
    pub has_failed: bool,
}

/// Work of the burst. Oldest first, but handlers of the instance come before everything else.
#[derive(Debug)]
pub(crate) enum Task {
    /// Start a new execution of an activity, below this parent.
    Begin {
        parent: Option<u32>,
        node: NodeIx,
        tag: u32,
        variables: Vec<(String, Json)>,
        last_result: Option<LastResult>,
        /// The HTTP request received last on its path; `None`: that of the parent.
        request: Option<Option<u32>>,
    },
    /// Execute an activity again from its beginning, after a fault.
    Again(u32),
    /// Continue with the records that an execution handles.
    Unwind(u32),
}

/// What a child that has ended or faulted hands on to those that its parent schedules because of it.
#[derive(Debug)]
pub(crate) struct Cause {
    /// The execution whose child it was.
    pub parent: u32,
    /// The last result that it saw.
    pub last_result: Option<LastResult>,
    /// The HTTP request received last on its path.
    pub request: Option<u32>,
}

/// A sequence number that no execution gets.
pub(crate) const NO_EXECUTION: u32 = u32::MAX;

impl Scratch {
    /// Bookmarks that an execution created in this burst, with their keys, oldest first.
    pub fn made_by(&self, sequence: u32) -> btree_map::Range<'_, (u32, u32), Bookmark> {
        self.bookmarks.range((sequence, 0)..=(sequence, u32::MAX))
    }

    /// Adds an entry that belongs to no execution to the trees. Otherwise every step of a loop would empty them, free
    /// their memory and allocate it again.
    pub fn keep_trees(&mut self) {
        self.children.insert((NO_EXECUTION, NO_EXECUTION));
        self.queued.insert((NO_EXECUTION, NodeIx(NO_EXECUTION)), 0);
    }
}

impl Burst<'_> {
    pub fn reborrow(&mut self) -> Burst<'_> {
        Burst {
            program: self.program,
            limits: self.limits,
            instance: self.instance,
            host: self.host,
            scratch: self.scratch,
        }
    }

    pub fn context(&self, sequence: u32) -> Option<&Context> {
        self.instance.state.contexts.get(&sequence)
    }

    pub fn id_of(&self, sequence: u32) -> Uuid {
        activity_instance_id(self.instance.id, sequence)
    }

    // Journal and incidents.

    pub fn workflow_event(&mut self, kind: EventKind, data: Option<Value>) {
        if !self.program.options.journal.level.writes(kind) {
            return;
        }
        self.scratch.delta.events.push(Event::of_workflow(kind, data));
    }

    pub fn event(&mut self, kind: EventKind, sequence: u32, node: &Node, data: Option<Value>) {
        self.bookmark_event(kind, sequence, node, None, data);
    }

    pub fn bookmark_event(
        &mut self,
        kind: EventKind,
        sequence: u32,
        node: &Node,
        bookmark_id: Option<Uuid>,
        data: Option<Value>,
    ) {
        if !node.events.unwrap_or(self.program.options.journal.level).writes(kind) {
            return;
        }
        let event = Event {
            kind,
            activity_id: node.id.clone(),
            activity_type: short_name(&node.type_name).to_owned(),
            execution: Some(sequence),
            bookmark_id,
            data: data.map(Json),
            node_id: node.shares_id.then(|| node.node_id.clone()),
            parent: self.hidden_parent(sequence),
        };
        self.scratch.delta.events.push(event);
    }

    /// The parent of an execution, unless it is certain that no later execution of the same activity is open. Looking
    /// at all open executions would make a step of a parallel loop cost as much as the loop has rounds. An execution
    /// that runs handlers has no events of its own.
    fn hidden_parent(&self, sequence: u32) -> Option<u32> {
        const MAX_SCANNED: usize = 16;
        let parent = self.context(sequence)?.parent?;
        let Context { node, memory, .. } = self.context(parent)?;
        if matches!(memory, Memory::Unwinding(_)) {
            return Some(parent);
        }
        let mut later = self.instance.state.contexts.range(parent + 1..);
        for (_, context) in later.by_ref().take(MAX_SCANNED) {
            if context.node == *node {
                return Some(parent);
            }
        }
        later.next().map(|_| parent)
    }

    pub fn add_incident(&mut self, sequence: u32, node: &Node, fault: Fault) {
        self.instance.incident_count = self.instance.incident_count.saturating_add(1);
        self.scratch.delta.incidents.push(Incident {
            activity_id: node.id.clone(),
            activity_type: node.type_name.clone(),
            node_id: node.node_id.clone(),
            activity_instance_id: self.id_of(sequence),
            attempts: self.context(sequence).map_or(1, Context::attempt),
            fault,
        });
    }

    // Queue.

    pub fn enqueue_root(&mut self) {
        let (node, variables) = (NodeIx(0), Vec::new());
        let task = Task::Begin { parent: None, node, tag: 0, variables, last_result: None, request: None };
        self.scratch.queue.push_back(task);
    }

    pub fn enqueue(&mut self, parent: u32, node: NodeIx, tag: u32, variables: Vec<(String, Json)>) {
        *self.scratch.queued.entry((parent, node)).or_insert(0) += 1;
        self.scratch.undo.push(Undo::Queued((parent, node)));
        let is_join = self.is_join(parent, node);
        let last_result = self.result_for(parent, node);
        let request = self.request_for(parent, is_join);
        self.push(parent, Task::Begin { parent: Some(parent), node, tag, variables, last_result, request });
    }

    /// Queues a task of an execution. Tasks of handlers that the instance runs come before all others.
    pub fn push(&mut self, of: u32, task: Task) {
        let is_first = self.scratch.unwinding.execution.is_some_and(|run| of == run || self.is_below(of, run));
        let queue = if is_first { &mut self.scratch.unwinding.queue } else { &mut self.scratch.queue };
        queue.push_back(task);
    }

    /// Removes one queued child from the count. `false`: its parent has ended since it was queued.
    pub fn dequeue(&mut self, parent: u32, node: NodeIx) -> bool {
        let Some(count) = self.scratch.queued.get_mut(&(parent, node)) else {
            return false;
        };
        *count -= 1;
        if *count == 0 {
            self.scratch.queued.remove(&(parent, node));
        }
        true
    }

    pub fn has_queued(&self, parent: u32) -> bool {
        let range = (parent, NodeIx(0))..=(parent, NodeIx(u32::MAX));
        self.scratch.queued.range(range).next().is_some()
    }

    pub fn has_children(&self, parent: u32) -> bool {
        self.scratch.children.range((parent, 0)..=(parent, u32::MAX)).next().is_some()
    }

    // Executions.

    /// Opens an execution. A rollback does not undo this, because the execution opens before its own unit begins.
    pub fn open(
        &mut self,
        parent: Option<u32>,
        node: NodeIx,
        tag: u32,
        given: Vec<(String, Json)>,
        last_result: Option<LastResult>,
    ) -> u32 {
        let Node { variables: declared, retry, .. } = self.program.node(node);
        let now = self.scratch.now;
        let timed = retry.as_ref().filter(|retry| retry.is_timed());
        let mut variables = Vec::with_capacity(declared.len() + given.len());
        variables.extend(declared.iter().map(|v| (v.name.clone(), Json(copy_or_null(&v.initial)))));
        variables.extend(given);
        let sequence = self.next_number();
        let context = Context {
            node,
            parent,
            status: ActivityStatus::Running,
            bookmarks: 0,
            faults: 0,
            tag,
            breaking: false,
            variables,
            memory: Memory::None,
            attempts: timed.map(|_| Box::new(Attempts { since: now.timestamp_micros(), ..Attempts::default() })),
            outputs: Vec::new(),
            last_result,
            ended_inside: None,
            request: parent.and_then(|parent| self.context(parent)?.request),
        };
        self.instance.state.contexts.insert(sequence, context);
        if let Some(parent) = parent {
            self.scratch.children.insert((parent, sequence));
        }
        sequence
    }

    /// The next number of an execution or a record.
    pub fn next_number(&mut self) -> u32 {
        let state = &mut self.instance.state;
        let mut number = state.next_context;
        // The numbers wrap around to used ones only after an instance has executed four billion activities.
        while number >= HELD_BY_INTERRUPTION || state.contexts.contains_key(&number) {
            number = number.wrapping_add(1);
        }
        state.next_context = number.wrapping_add(1);
        number
    }

    /// Closes an execution that has no open children, and drops its bookmarks and queued children.
    pub fn close(&mut self, sequence: u32) {
        self.drop_bookmarks(sequence);
        self.drop_queued(sequence);
        if !self.instance.state.armed_spans.is_empty() && !self.scratch.in_unit {
            self.instance.state.armed_spans.retain(|(of, _), _| *of != sequence);
        }
        if self.context(sequence).is_some_and(|c| c.status == ActivityStatus::Faulted) {
            self.add_faults(sequence, -1);
        }
        if let Some(mut context) = self.instance.state.contexts.remove(&sequence) {
            self.hand_over_outputs(sequence, &mut context);
            if let Some(parent) = context.parent {
                self.scratch.children.remove(&(parent, sequence));
            }
            let is_one = matches!(context.memory, Memory::Unwinding(Unwinding::One { .. }));
            self.scratch.unwinding.has_ended_one |= is_one;
            if self.scratch.in_unit {
                let entry = Undo::Closed(sequence, Box::new(context));
                self.scratch.undo.push(entry);
            }
        }
    }

    /// Drops the queued children of an execution.
    pub fn drop_queued(&mut self, sequence: u32) {
        let range = (sequence, NodeIx(0))..=(sequence, NodeIx(u32::MAX));
        while let Some((key, count)) = self.scratch.queued.range(range.clone()).next() {
            let (key, count) = (*key, *count);
            self.scratch.queued.remove(&key);
            self.scratch.undo.push(Undo::Unqueued(key, count));
        }
    }

    /// Drops the bookmarks of an execution, new and stored.
    pub fn drop_bookmarks(&mut self, sequence: u32) {
        while let Some(key) = self.scratch.made_by(sequence).next().map(|(key, _)| *key) {
            if let Some(bookmark) = self.scratch.bookmarks.remove(&key) {
                self.scratch.undo.push(Undo::BookmarkDropped(key, Box::new(bookmark)));
            }
        }
        let id = self.id_of(sequence);
        if let Some(context) = self.instance.state.contexts.get_mut(&sequence)
            && context.bookmarks > 0
        {
            let stored = std::mem::take(&mut context.bookmarks);
            self.scratch.undo.push(Undo::Stored(sequence, stored));
            self.scratch.delta.cleared.push(id);
            self.drop_timeout(sequence);
        }
    }

    /// Changes the fault count of an execution and of all its ancestors.
    pub fn add_faults(&mut self, sequence: u32, by: i32) {
        let mut current = Some(sequence);
        while let Some(context) = current.and_then(|current| self.instance.state.contexts.get_mut(&current)) {
            context.faults = context.faults.saturating_add_signed(by);
            current = context.parent;
        }
        self.scratch.undo.push(Undo::Faults(sequence, by));
    }

    pub fn set_memory(&mut self, sequence: u32, memory: Memory) {
        if let Some(context) = self.instance.state.contexts.get_mut(&sequence) {
            let before = std::mem::replace(&mut context.memory, memory);
            self.scratch.undo.push(Undo::Memory(sequence, before));
        }
    }
}
