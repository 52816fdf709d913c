//! What runs in a burst because an instance goes over to another version of its definition.
//!
//! In the old version the executions are cancelled that the operator gave up. In the new version what they were in goes
//! on, and what begins anew by wish of the operator does.

use std::collections::BTreeSet;

use uuid::Uuid;

use crate::execution::burst::{NO_EXECUTION, Scratch, Task};
use crate::execution::runner::Runner;
use crate::execution::{Child, Delta, Limits, ending};
use crate::host::Host;
use crate::instance::{ActivityStatus, Instance, SubStatus};
use crate::program::Program;
use workflow_value::fault::Error;

/// What has to run in the new version before the instance waits again.
#[derive(Debug, Default, PartialEq, Eq)]
pub struct AfterMigration {
    /// Containers of which something is cancelled. There is one for each cancelled execution, so that a container that
    /// counts its children counts each of them, also where they have the same tag.
    pub orphans: Vec<Orphan>,
    /// Flowcharts with a join that has nothing left to wait for.
    pub joins: BTreeSet<u32>,
    /// Executions that wait for time and begin anew.
    pub timed: Vec<u32>,
    /// Executions whose time begins anew.
    pub bounded: Vec<u32>,
    /// Whether the time of the run begins anew.
    pub run_time: bool,
    /// Deadlines that the new version does not have, by their bookmarks; see [`DeadlineKey`](crate::instance::DeadlineKey).
    pub disarmed: Vec<(u32, Uuid)>,
}

/// A container of which something is gone.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Orphan {
    /// Sequence number of the execution of the container, which goes on.
    pub parent: u32,
    /// Tag that the container gave the execution that is gone.
    pub tag: u32,
}

impl AfterMigration {
    /// Adds what a preparation found before the executions were cancelled that it gives up.
    ///
    /// Each of them is told to its parent once. The preparation before has one orphan for each: equal ones are
    /// different executions, as the branches of a `Fork` are. This preparation has none, for two reasons. What was
    /// cancelled is not open any more, and the cancellation has opened nothing: no parent was told, and a migration
    /// that would run or wake a handler is refused. What else has to run depends on what is left, and this preparation
    /// has all of it.
    pub fn add_cancelled(&mut self, before: Self) {
        debug_assert!(self.orphans.is_empty(), "all that is given up is cancelled");
        self.orphans.extend(before.orphans);
    }

    /// Whether nothing has to run.
    pub fn is_empty(&self) -> bool {
        *self == Self::default()
    }
}

/// Cancels executions in the version that they run in. What they are in is not told; [`continue_migrated`] tells it.
///
/// # Errors
/// [`Error::TooManySteps`].
pub fn cancel_executions(
    program: &Program,
    instance: &mut Instance,
    executions: &[u32],
    host: &mut dyn Host,
    limits: &Limits,
) -> Result<Delta, Error> {
    let mut scratch = Scratch::default();
    let mut runner = Runner::begin(program, instance, host, limits, &mut scratch);
    runner.burst.instance.sub_status = SubStatus::Executing;
    for execution in executions {
        runner.burst.abandon_children(*execution);
        runner.burst.cancel(*execution);
    }
    runner.drain()?;
    Ok(runner.conclude())
}

/// Lets an instance go on in the version that it was moved to.
///
/// # Errors
/// [`Error::TooManySteps`].
pub fn continue_migrated(
    program: &Program,
    instance: &mut Instance,
    after: &AfterMigration,
    host: &mut dyn Host,
    limits: &Limits,
) -> Result<Delta, Error> {
    let mut scratch = Scratch::default();
    let mut runner = Runner::begin(program, instance, host, limits, &mut scratch);
    runner.burst.instance.sub_status = SubStatus::Executing;
    for orphan in &after.orphans {
        runner.go_on_without(orphan.parent, orphan.tag)?;
    }
    for flowchart in &after.joins {
        runner.go_on_without(*flowchart, 0)?;
    }
    for (sequence, bookmark) in &after.disarmed {
        runner.burst.disarm(*sequence, *bookmark);
    }
    for sequence in &after.timed {
        runner.begin_anew(*sequence);
    }
    for sequence in &after.bounded {
        runner.bound_anew(*sequence);
    }
    if after.run_time {
        runner.bound_run_anew();
    }
    runner.drain()?;
    Ok(runner.conclude())
}

impl Runner<'_> {
    /// Tells a container that something in it is gone.
    fn go_on_without(&mut self, parent: u32, tag: u32) -> Result<(), Error> {
        let Some(context) = self.burst.context(parent).filter(|context| context.status == ActivityStatus::Running)
        else {
            return Ok(());
        };
        let (ix, program) = (context.node, self.burst.program);
        let node = program.node(ix);
        let child = Child { node: ix, sequence: parent, tag, terminal: false };
        self.unit(parent, node, |cx| node.activity.child_dropped(cx, &child));
        self.drain()
    }

    /// Executes an activity that waits for time from its beginning.
    fn begin_anew(&mut self, sequence: u32) {
        if self.burst.context(sequence).is_some() {
            self.go_back(sequence, false);
            self.burst.push(sequence, Task::Again(sequence));
        }
    }

    /// Begins the time of an execution anew, as the new version bounds it.
    fn bound_anew(&mut self, sequence: u32) {
        if let Some(node) = self.burst.context(sequence).map(|context| context.node) {
            self.burst.end_timeout(sequence);
            self.burst.begin_timeout(sequence, self.burst.program.node(node));
        }
    }

    /// Begins the time of the run anew, as the new version bounds it.
    fn bound_run_anew(&mut self) {
        if let Some(deadline) = self.burst.instance.state.deadline.take() {
            self.burst.scratch.delta.burned.push(deadline.bookmark);
        }
        self.burst.take_armed_span((NO_EXECUTION, false));
        self.burst.scratch.run_until = ending::run_until(self.burst.program, self.burst.scratch.now);
    }
}
