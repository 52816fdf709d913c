//! The interface of an activity: one execution of one node.
//!
//! Every effect takes place immediately and is undone if the call faults. Only completion waits until the call has
//! returned.

use std::collections::BTreeSet;
use std::rc::Rc;

use chrono::{DateTime, Utc};
use serde_json::{Value, json};
use uuid::Uuid;

use crate::activity::{EndedBy, Excluded, Port};
use crate::approval::Approval;
use crate::execution::burst::Burst;
use crate::execution::undo::Undo;
use crate::execution::variables::ScopeStart;
use crate::execution::{Child, EndedTasks, ForPeople, NewTask, Outcomes, Published, Signal};
use crate::host::{Function, LogEntry};
use crate::instance::{Memory, check_correlation_id};
use crate::journal::EventKind;
use crate::node_ix::NodeIx;
use crate::program::{Node, Program};
use workflow_expression::Rows;
use workflow_value::calendar::Zone;
use workflow_value::fault::Fault;
use workflow_value::value::{Json, check_extent, copy_members, copy_or_null};

/// One execution of an activity, during one call of its behaviour.
pub struct Execution<'a> {
    pub(crate) burst: Burst<'a>,
    pub(crate) sequence: u32,
    pub(crate) node: &'a Node,
    pub(crate) inputs: Vec<Value>,
    /// The outcomes that a script of this activity sets while it runs.
    pub(crate) outcomes: Option<Vec<String>>,
}

impl<'a> Execution<'a> {
    pub(crate) fn new(burst: Burst<'a>, sequence: u32, node: &'a Node) -> Self {
        Self { burst, sequence, node, inputs: Vec::new(), outcomes: None }
    }

    /// The starting point of variable look-ups for this execution.
    pub(crate) fn scope_start(&self) -> ScopeStart {
        let hidden = if self.node.composite.is_some() { self.node.variables.len() } else { 0 };
        ScopeStart { sequence: self.sequence, hidden }
    }

    /// The program of the version that the instance runs.
    pub fn program(&self) -> &'a Program {
        self.burst.program
    }

    /// The executed activity in the program.
    pub fn node(&self) -> &'a Node {
        self.node
    }

    /// The index of the executed node.
    pub fn node_index(&self) -> NodeIx {
        self.burst.context(self.sequence).map_or(NodeIx(0), |context| context.node)
    }

    /// The activity at a port, if the author has put one there.
    pub fn port(&self, port: Port) -> Option<NodeIx> {
        self.node.ports.get(port.0).copied().flatten()
    }

    /// Id of this execution, used by bookmarks, incidents and the journal.
    pub fn activity_instance_id(&self) -> Uuid {
        self.burst.id_of(self.sequence)
    }

    /// Id of the instance whose burst this is.
    pub fn instance_id(&self) -> Uuid {
        self.burst.instance.id
    }

    /// A new UUID from the host, for a bookmark or a child.
    pub fn new_id(&mut self) -> Uuid {
        self.burst.host.new_id()
    }

    /// The instant of this burst, the same for all activities in it.
    pub fn instant(&self) -> DateTime<Utc> {
        self.burst.scratch.now
    }

    /// The rules of a time zone; without a name, those of the session's zone.
    pub fn zone(&self, name: Option<&str>) -> Result<Rc<dyn Zone>, Fault> {
        self.burst.host.zone(name)
    }

    /// Checks that a role with this name exists.
    pub fn check_role(&mut self, name: &str) -> Result<(), Fault> {
        self.burst.host.check_role(name)
    }

    /// The members of a role who can answer in its place, by name. Those whom a task with these exclusions would refuse
    /// are left out.
    pub fn members(&mut self, role: &str, excluded: &[Excluded]) -> Result<Vec<String>, Fault> {
        self.burst.host.members(role, excluded)
    }

    /// The positions of the undecided voters for whom nobody is left who can vote.
    pub fn unreachable_voters(&mut self, approval: &Approval, excluded: &[Excluded]) -> BTreeSet<usize> {
        self.burst.host.unreachable_voters(approval, excluded)
    }

    /// The answer to a task of this instance that was answered before this burst.
    pub fn answer_to(&mut self, task: Uuid) -> Option<Value> {
        self.burst.host.answer_to(task)
    }

    /// Who gave the answer that this burst carries out: the actor, otherwise `role:` and the name of the role. `None`:
    /// the engine did, or nobody knows.
    pub fn answerer(&mut self) -> Option<String> {
        self.burst.host.answerer()
    }

    /// In whose place a substitute gave that answer to a task, as [`answerer`](Self::answerer) names people.
    pub fn answered_for(&mut self, task: Uuid) -> Option<String> {
        self.burst.host.answered_for(task)
    }

    /// When that answer to a task was given.
    pub fn answered_at(&mut self, task: Uuid) -> DateTime<Utc> {
        self.burst.host.answered_at(task)
    }

    /// Processes a query cancel; for long computations inside one call.
    pub fn check_for_interrupts(&mut self) {
        self.burst.host.check_interrupts();
    }

    // Children.

    /// Schedules a child, with a tag for the parent and variables of its own.
    pub fn schedule(&mut self, node: NodeIx, tag: u32, variables: Vec<(String, Value)>) -> Result<(), Fault> {
        let depth = self.burst.program.node(node).depth;
        if depth > self.burst.limits.max_nesting {
            let limit = self.burst.limits.max_nesting;
            return Err(Fault::new("54001", "activities are nested too deeply")
                .detail(format!("At most {limit} levels are allowed.")));
        }
        let variables = variables.into_iter().map(|(name, value)| (name, Json(value))).collect();
        self.burst.enqueue(self.sequence, node, tag, variables);
        Ok(())
    }

    /// Open children that have started, oldest first.
    pub fn children(&self) -> Vec<Child> {
        self.burst.children(self.sequence)
    }

    /// Whether a child for this node is scheduled and has not started.
    pub fn has_scheduled(&self, node: NodeIx) -> bool {
        self.burst.scratch.queued.contains_key(&(self.sequence, node))
    }

    /// Whether children are open or scheduled; faulted ones count as open.
    pub fn has_pending_work(&self) -> bool {
        self.burst.has_children(self.sequence) || self.burst.has_queued(self.sequence)
    }

    /// Removes the scheduled children for this node that have not started, and returns their number.
    pub fn unschedule(&mut self, node: NodeIx) -> u32 {
        let key = (self.sequence, node);
        let Some(count) = self.burst.scratch.queued.remove(&key) else {
            return 0;
        };
        self.burst.scratch.undo.push(Undo::Unqueued(key, count));
        count
    }

    /// Cancels one open child and its descendants. Since this activity requests it, its `child_cancelled` is not
    /// called.
    pub fn cancel_child(&mut self, sequence: u32) {
        let parent = self.burst.context(sequence).and_then(|context| context.parent);
        if parent == Some(self.sequence) {
            self.burst.cancel(sequence);
        }
    }

    // The end.

    /// Completes this execution with the outcome `Done` once the call has returned.
    pub fn complete(&mut self) -> Result<(), Fault> {
        self.complete_with(Outcomes::Done)
    }

    /// Completes this execution with outcomes once the call has returned.
    pub fn complete_with(&mut self, outcomes: Outcomes) -> Result<(), Fault> {
        self.burst.scratch.finishing.push_back((self.sequence, outcomes));
        Ok(())
    }

    /// Finishes the whole workflow once the call has returned; inside a handler, the handler.
    pub fn finish_workflow(&mut self) {
        match self.end_of_handler() {
            Some(handler) => self.burst.scratch.finishing.push_back((handler, Outcomes::Done)),
            None => self.burst.scratch.ending = Some(self.sequence),
        }
    }

    /// Sends a signal upward until an activity stops it. A `CompleteComposite` signal that finds no composite ends the
    /// workflow.
    pub fn signal(&mut self, signal: &Signal) -> Result<(), Fault> {
        let mut current = self.burst.context(self.sequence).and_then(|context| context.parent);
        while let Some(sequence) = current {
            let Some(context) = self.burst.context(sequence) else {
                break;
            };
            if matches!(context.memory, Memory::Unwinding(_)) {
                break;
            }
            let node = self.burst.program.node(context.node);
            let above = context.parent;
            let mut receiver = Execution::new(self.burst.reborrow(), sequence, node);
            if node.activity.signal(&mut receiver, signal)? {
                return Ok(());
            }
            current = above;
        }
        if matches!(signal, Signal::CompleteComposite(_)) {
            self.finish_workflow();
        }
        Ok(())
    }

    /// Makes the enclosing sequence or flowchart end with the child that completes next. The activity may also be a
    /// branch of a decision in it.
    pub fn end_container(&mut self) {
        let mut current = self.burst.context(self.sequence).and_then(|context| context.parent);
        while let Some((sequence, context)) = current.and_then(|at| Some((at, self.burst.context(at)?))) {
            if matches!(context.memory, Memory::Unwinding(_)) {
                return;
            }
            let node = self.burst.program.node(context.node);
            current = context.parent;
            match node.activity.ended_by() {
                EndedBy::End => return Execution::new(self.burst.reborrow(), sequence, node).set_breaking(),
                EndedBy::NextAround => {}
                EndedBy::Nothing => return,
            }
        }
    }

    // Memory.

    /// The memory of the activity in this execution; [`Memory::None`] if there is none.
    pub fn memory(&self) -> &Memory {
        self.burst.context(self.sequence).map_or(&Memory::None, |context| &context.memory)
    }

    /// Replaces the memory of this execution.
    pub fn set_memory(&mut self, memory: Memory) {
        self.burst.set_memory(self.sequence, memory);
    }

    /// The position or count in the memory of this execution, 0 at first.
    pub fn position(&self) -> i64 {
        self.memory().position()
    }

    /// Sets the position or count.
    pub fn set_position(&mut self, to: i64) {
        let Some(context) = self.burst.instance.state.contexts.get_mut(&self.sequence) else {
            return;
        };
        let entry = match context.memory {
            Memory::None => Undo::Memory(self.sequence, Memory::None),
            _ => Undo::Position(self.sequence, context.memory.position()),
        };
        context.memory.set_position(to);
        self.burst.scratch.undo.push(entry);
    }

    /// Whether a `Break` signal passed.
    pub fn is_breaking(&self) -> bool {
        self.burst.context(self.sequence).is_some_and(|context| context.breaking)
    }

    /// Records that a `Break` signal passed: this execution ends with the next child that completes.
    pub fn set_breaking(&mut self) {
        if let Some(context) = self.burst.instance.state.contexts.get_mut(&self.sequence)
            && !std::mem::replace(&mut context.breaking, true)
        {
            self.burst.scratch.undo.push(Undo::Breaking(self.sequence));
        }
    }

    /// For loops: records a `Break` signal and stops it here. Other signals pass.
    pub fn break_here(&mut self, signal: &Signal) -> bool {
        match signal {
            Signal::Break => {
                self.set_breaking();
                true
            }
            Signal::CompleteComposite(_) | Signal::CancelInbound(_) => false,
        }
    }

    // The run.

    /// The trigger that this run started with.
    pub fn trigger(&self) -> Option<NodeIx> {
        self.burst.instance.state.trigger
    }

    /// Whether this execution is the trigger of its own run, so that it need not wait.
    pub fn is_trigger(&self) -> bool {
        self.burst.is_trigger(self.sequence)
    }

    /// The input of the stimulus that started this run. If the trigger runs in a later burst, this is the input of the
    /// instance.
    pub fn trigger_input(&self) -> Value {
        match &self.burst.scratch.trigger_input {
            Some(input) => copy_or_null(input),
            None if self.burst.instance.input.is_empty() => Value::Null,
            None => copy_members(&self.burst.instance.input).map_or(Value::Null, Value::Object),
        }
    }

    // Effects.

    /// Opens a task whose bookmark was created before.
    pub fn create_task(
        &mut self,
        bookmark_id: Uuid,
        name: String,
        payload: Option<Value>,
        priority: i32,
        for_people: Option<Box<ForPeople>>,
    ) -> Result<(), Fault> {
        let shown = for_people.iter().flat_map(|for_people| for_people.form.iter().chain(&for_people.result_schema));
        payload.iter().chain(shown).try_for_each(check_extent)?;
        let activity_id = self.node.id.clone();
        let context = self.burst.context(self.sequence).and_then(|context| context.attempts.as_ref());
        let attempts = context.map_or(0, |attempts| attempts.failed);
        self.burst.scratch.delta.tasks.push(NewTask {
            bookmark_id,
            activity_id,
            name,
            payload,
            priority,
            attempts,
            for_people,
        });
        Ok(())
    }

    /// Records why open tasks end whose bookmarks this execution drops: answers that come later are refused with this.
    pub fn end_tasks(&mut self, tasks: Vec<Uuid>, outcome: &str) {
        if !tasks.is_empty() {
            self.burst.scratch.delta.ended_tasks.push(EndedTasks { tasks, outcome: outcome.to_owned() });
        }
    }

    /// Publishes a stimulus after the burst.
    pub fn publish(&mut self, stimulus: Published) -> Result<(), Fault> {
        stimulus.input.iter().chain(&stimulus.payload).try_for_each(check_extent)?;
        if stimulus.correlation_id.is_some() && !stimulus.local {
            self.burst.host.check_key(stimulus.correlation_id.as_deref())?;
        }
        let payload = stimulus.payload.as_ref().map(copy_or_null).unwrap_or_default();
        let data = Value::from_iter([("name", stimulus.name.as_str().into()), ("payload", payload)]);
        self.journal(EventKind::Published, Some(data));
        self.burst.scratch.delta.stimuli.push(stimulus);
        Ok(())
    }

    /// Writes a line to the journal, and passes it to the host.
    pub fn write_line(&mut self, text: String) {
        self.burst.host.write_line(&text);
        self.journal(EventKind::Line, Some(Value::String(text)));
    }

    /// Writes a log entry into the journal, and passes it to the host.
    pub fn log(&mut self, entry: LogEntry) {
        self.burst.host.log(&entry);
        let LogEntry { level, category, message, attributes } = entry;
        let data = json!({"level": level.name(), "category": category, "message": message, "attributes": attributes});
        self.journal(EventKind::Logged, Some(data));
    }

    /// Warns the caller of this burst, if it may see the instance, that the workflow has lost something.
    pub fn warn(&mut self, message: &str) {
        self.burst.host.warn(message);
    }

    /// Adds an event of this execution to the journal.
    pub fn journal(&mut self, kind: EventKind, data: Option<Value>) {
        self.burst.event(kind, self.sequence, self.node, data);
    }

    /// Runs an author's statement through the host, with `$1…` bound to these values.
    pub fn sql(&mut self, statement: &str, parameters: &[Value]) -> Result<Rows, Fault> {
        self.burst.host.sql(statement, parameters)
    }

    /// Calls a user's function.
    pub fn call(&mut self, function: Function<'_>, context: &Value) -> Result<Value, Fault> {
        self.burst.host.call(function, context)
    }

    /// Payloads under which a custom trigger type is indexed.
    pub fn payloads(&mut self, context: &Value) -> Result<Vec<Value>, Fault> {
        let type_name = &self.node.type_name;
        self.burst.host.payloads(type_name, context)
    }

    /// Changes the correlation id. An activation strategy may reject an id that another running instance has.
    pub fn correlate(&mut self, id: Option<String>) -> Result<(), Fault> {
        if self.burst.instance.correlation_id == id {
            return Ok(());
        }
        check_correlation_id(id.as_deref())?;
        self.burst.host.check_key(id.as_deref())?;
        self.burst.host.correlate(id.as_deref())?;
        let before = std::mem::replace(&mut self.burst.instance.correlation_id, id);
        let changed = std::mem::replace(&mut self.burst.scratch.delta.changed.correlation_id, true);
        self.burst.scratch.undo.push(Undo::Correlation(before, changed));
        Ok(())
    }

    /// Changes the name of the instance.
    pub fn set_name(&mut self, name: Option<String>) {
        if self.burst.instance.name != name {
            let before = std::mem::replace(&mut self.burst.instance.name, name);
            let changed = std::mem::replace(&mut self.burst.scratch.delta.changed.name, true);
            self.burst.scratch.undo.push(Undo::Name(before, changed));
        }
    }
}
