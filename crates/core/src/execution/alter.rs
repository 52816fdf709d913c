//! Manual changes: setting a variable, cancelling an activity, or executing one out of turn.
//!
//! All alterations of a call are applied before any activity runs, and every one that cannot be applied is a problem of
//! the call. So a caller that gets problems has changed only a copy of the instance.

mod named;

use serde_json::{Map, Value};

use crate::activity::short_name;
use crate::alteration::{Alteration, Author, Target};
use crate::execution::burst::{Scratch, Task};
use crate::execution::context::Execution;
use crate::execution::runner::Runner;
use crate::execution::variables::{VariableLocation, read_variable};
use crate::execution::{Child, Delta, Limits, sequence_of};
use crate::host::Host;
use crate::instance::compensation::Ending;
use crate::instance::{ActivityStatus, Context, Instance, SubStatus};
use crate::journal::{Event, EventKind};
use crate::node_ix::NodeIx;
use crate::program::Program;
use workflow_value::fault::{Error, Fault};
use workflow_value::value::{Bounds, copy_or_null};

/// Alters an instance and continues it.
///
/// # Errors
/// [`Error::NotAltered`] if any alteration cannot be applied, [`Error::TooManySteps`]. The instance must then be
/// discarded.
pub fn alter(
    program: &Program,
    instance: &mut Instance,
    alterations: &[Alteration],
    author: &Author,
    host: &mut dyn Host,
    limits: &Limits,
) -> Result<Delta, Error> {
    let runs = alterations.iter().any(Alteration::runs_activities);
    let mut scratch = Scratch::default();
    let mut runner = Runner::begin(program, instance, host, limits, &mut scratch);
    let parents = runner.alter(alterations, author)?;
    if !runs {
        return Ok(runner.into_delta());
    }
    runner.notify_parents(&parents)?;
    if alterations.contains(&Alteration::Cancel) {
        let reason = author.reason.as_deref();
        if runner.begin_cancelling(reason) {
            return Ok(runner.conclude());
        }
        runner.cancel(reason);
        return Ok(runner.into_delta());
    }
    runner.burst.instance.sub_status = SubStatus::Executing;
    runner.drain()?;
    Ok(runner.conclude())
}

/// Checks whether an instance can be altered in this way. Changes the given copy of it, and runs no activity.
///
/// # Errors
/// As [`alter`].
pub fn try_alterations(
    program: &Program,
    instance: &mut Instance,
    alterations: &[Alteration],
    host: &mut dyn Host,
    limits: &Limits,
) -> Result<(), Error> {
    let mut scratch = Scratch::default();
    let mut runner = Runner::begin(program, instance, host, limits, &mut scratch);
    runner.alter(alterations, &Author::default()).map(drop)
}

/// A cancelled execution, and its parent.
struct Lost {
    parent: u32,
    child: Child,
}

impl Runner<'_> {
    /// Applies the alterations. Returns the cancelled executions of which their parents have not been notified yet.
    fn alter(&mut self, alterations: &[Alteration], author: &Author) -> Result<Vec<Lost>, Error> {
        refuse_ended(self.burst.instance).map_err(|fault| Error::NotAltered(vec![fault]))?;
        let (mut lost, mut problems) = (Vec::new(), Vec::new());
        for alteration in alterations {
            self.burst.host.check_interrupts();
            let made = match alteration {
                Alteration::ModifyVariable { name, value, scope } => {
                    self.modify(name, copy_or_null(value), scope.map(|scope| self.open_id(scope)), author)
                }
                Alteration::ScheduleActivity(target) => self.schedule_target(target, author),
                Alteration::CancelActivity(target) => self.cancel_target(target, author, &mut lost),
                Alteration::Cancel => {
                    self.burst.workflow_event(EventKind::Altered, Some(Value::Object(author.data(alteration.kind()))));
                    Ok(())
                }
            };
            problems.extend(made.err());
        }
        if problems.is_empty() { Ok(lost) } else { Err(Error::NotAltered(problems)) }
    }

    /// Sets a variable.
    fn modify(
        &mut self,
        name: &str,
        value: Value,
        scope: Option<Result<u32, Fault>>,
        author: &Author,
    ) -> Result<(), Fault> {
        let (location, name) = self.burst.variable_location(name, scope.transpose()?)?;
        let before = read_variable(self.burst.instance, location, &name).map(copy_or_null).unwrap_or_default();
        // A copy that failed for lack of memory is null.
        Bounds::check_interrupts()?;
        let set = self.burst.assign(location, &name, value);
        set.map_err(|fault| {
            let Fault { message, detail, .. } = fault;
            let fault = Fault::new("22023", format!("variable \"{name}\" cannot be set: {message}"));
            Fault { detail, ..fault }
        })?;
        let after = read_variable(self.burst.instance, location, &name).map(copy_or_null).unwrap_or_default();
        let mut data = author.data("ModifyVariable");
        let said = [("variable", Value::String(name)), ("from", before), ("to", after)];
        data.extend(said.map(|(key, value)| (key.to_owned(), value)));
        match location {
            VariableLocation::Context(sequence, _) => self.altered_event(sequence, data),
            VariableLocation::Workflow => self.burst.workflow_event(EventKind::Altered, Some(Value::Object(data))),
        }
        Ok(())
    }

    fn altered_event(&mut self, sequence: u32, data: Map<String, Value>) {
        if let Some(ix) = self.burst.context(sequence).map(|context| context.node) {
            let node = self.burst.program.node(ix);
            self.burst.event(EventKind::Altered, sequence, node, Some(Value::Object(data)));
        }
    }

    /// The open execution with this id.
    fn open_id(&self, id: uuid::Uuid) -> Result<u32, Fault> {
        let open = sequence_of(self.burst.instance.id, id).filter(|sequence| self.burst.context(*sequence).is_some());
        open.ok_or_else(|| {
            Fault::new(
                "55000",
                format!("activity instance {id} is not open in workflow instance {}", self.burst.instance.id),
            )
        })
    }

    /// Cancels the executions that a target names.
    fn cancel_target(&mut self, target: &Target, author: &Author, lost: &mut Vec<Lost>) -> Result<(), Fault> {
        let named = self.burst.named(target)?;
        let found = match target.execution {
            Some(id) => {
                let sequence = self.open_id(id)?;
                self.burst.require_of(sequence, named.as_deref())?;
                vec![sequence]
            }
            None => self.burst.open_of(named.as_deref().unwrap_or_default()),
        };
        if found.is_empty() {
            return Err(self.burst.not_open(target));
        }
        for sequence in found {
            // It may have been cancelled together with an execution that contains it.
            if self.burst.context(sequence).is_some() {
                self.cancel_one(sequence, author, lost)?;
            }
        }
        Ok(())
    }

    fn cancel_one(&mut self, named: u32, author: &Author, lost: &mut Vec<Lost>) -> Result<(), Fault> {
        self.burst.refuse_handler(named)?;
        // A Compensable whose body is interrupted has not completed.
        let mut sequence = named;
        while let Some(above) = self.burst.context(sequence).and_then(|context| context.parent)
            && self.burst.is_compensable(above)
        {
            sequence = above;
        }
        let parent = self.burst.context(sequence).and_then(|context| context.parent);
        let (Some(parent), Some(child)) = (parent, self.burst.child(sequence)) else {
            return Err(Fault::new("55000", "the whole of a workflow instance cannot be cancelled as an activity")
                .hint("Use wf_cancel."));
        };
        self.altered_event(named, author.data("CancelActivity"));
        self.burst.cancel(sequence);
        lost.push(Lost { parent, child });
        Ok(())
    }

    /// Notifies the parents of cancelled executions, which then continue.
    fn notify_parents(&mut self, lost: &[Lost]) -> Result<(), Error> {
        for Lost { parent, child } in lost {
            // A faulted parent is not called: its retry cancels all its children. Neither is one that is being
            // restarted: the child belonged to its previous run.
            let is_called = |above: &&Context| above.status == ActivityStatus::Running && !self.begins_again(*parent);
            let Some(context) = self.burst.context(*parent).filter(is_called) else { continue };
            let node = context.node;
            self.count_step(node)?;
            let node = self.burst.program.node(node);
            self.unit(*parent, node, |cx| node.activity.child_cancelled(cx, child));
        }
        Ok(())
    }

    /// Executes the activity that a target names: restarts an open execution, or starts a new one.
    fn schedule_target(&mut self, target: &Target, author: &Author) -> Result<(), Fault> {
        let named = self.burst.named(target)?;
        let nodes = named.as_deref().unwrap_or_default();
        let open = match target.execution {
            Some(id) => {
                let sequence = self.open_id(id)?;
                let node = self.burst.context(sequence).map(|context| context.node);
                let inside = nodes.iter().find(|ix| self.burst.program.node(**ix).parent == node);
                if let Some(inside) = inside {
                    return self.begin_in(sequence, *inside, author);
                }
                self.burst.require_of(sequence, named.as_deref())?;
                vec![sequence]
            }
            None => self.burst.open_of(nodes),
        };
        match open.as_slice() {
            [sequence] => self.begin_again(*sequence, author),
            [] => {
                let (parent, node) = self.burst.parent_for(target, nodes)?;
                self.begin_in(parent, node, author)
            }
            _ => Err(self.burst.ambiguous(target, "is open", open.len())),
        }
    }

    /// Resets an open execution to its beginning, and executes it again.
    fn begin_again(&mut self, sequence: u32, author: &Author) -> Result<(), Fault> {
        self.burst.refuse_handler(sequence)?;
        self.altered_event(sequence, author.data("ScheduleActivity"));
        let Some(context) = self.burst.context(sequence) else { return Ok(()) };
        let (status, node) = (context.status, self.burst.program.node(context.node));
        self.go_back(sequence, node.activity.remembers());
        if status == ActivityStatus::Faulted {
            self.clear_fault(sequence);
        }
        self.reset_attempts(sequence);
        let queue = &mut self.burst.scratch.queue;
        queue.retain(|task| !matches!(task, Task::Again(queued) if *queued == sequence));
        queue.push_back(Task::Again(sequence));
        Ok(())
    }

    /// Whether an execution is about to be restarted, and has no memory until then.
    fn begins_again(&self, sequence: u32) -> bool {
        self.burst.scratch.queue.iter().any(|task| matches!(task, Task::Again(queued) if *queued == sequence))
    }

    /// Starts a new execution of an activity below an open one.
    fn begin_in(&mut self, parent: u32, child: NodeIx, author: &Author) -> Result<(), Fault> {
        self.burst.refuse_handler(parent)?;
        let program = self.burst.program;
        let Some(context) = self.burst.context(parent).filter(|above| above.status == ActivityStatus::Running) else {
            return Err(Fault::new("55000", "the activity that holds it is faulted")
                .hint("Schedule the faulted activity, or retry it."));
        };
        if self.begins_again(parent) {
            return Err(Fault::new("55000", "the activity that holds it begins again by the same call")
                .hint("Schedule it by a call of its own."));
        }
        let (node, begun) = (program.node(context.node), program.node(child));
        let (id, kind) = (begun.id.clone(), short_name(&begun.type_name).to_owned());
        let data = Value::Object(author.data("ScheduleActivity"));
        self.burst.scratch.delta.events.push(Event {
            node_id: begun.shares_id.then(|| begun.node_id.clone()),
            ..Event::of_activity(EventKind::Altered, id, kind, Some(data))
        });
        node.activity.begin_child(&mut Execution::new(self.burst.reborrow(), parent, node), child)
    }
}

/// Rejects an instance that has ended or is ending (55000).
fn refuse_ended(instance: &Instance) -> Result<(), Fault> {
    let why = match instance.sub_status {
        SubStatus::Finished | SubStatus::Cancelled => format!("It is {}.", instance.sub_status.name()),
        _ if instance.has_failed() => "A fault has ended the whole of it.".to_owned(),
        _ if instance.state.ending() != Ending::None => "Its handlers run, and then it ends.".to_owned(),
        _ => return Ok(()),
    };
    Err(Fault::new("55000", format!("workflow instance {} cannot be altered", instance.id)).detail(why))
}
