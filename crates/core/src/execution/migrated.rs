//! The work of a burst that migrates an instance to another version of its definition.
//!
//! In the old version, the executions that the operator's mapping drops are cancelled. In the new version, their
//! parents continue, and timers that the operator wants restarted are restarted.

use std::collections::BTreeSet;

use uuid::Uuid;

use crate::execution::burst::{NO_EXECUTION, Scratch, Task};
use crate::execution::runner::Runner;
use crate::execution::{Child, Delta, Limits, ending};
use crate::host::Host;
use crate::instance::{ActivityStatus, Instance, SubStatus};
use crate::program::Program;
use workflow_value::fault::Error;

/// The work to be done in the new version before the instance waits again.
#[derive(Debug, Default, PartialEq, Eq)]
pub struct AfterMigration {
    /// Containers of cancelled executions. There is one entry for each cancelled execution, so that a container that
    /// counts its children counts each of them, even if they have the same tag.
    pub orphans: Vec<Orphan>,
    /// Flowcharts with a join that has nothing left to wait for.
    pub joins: BTreeSet<u32>,
    /// Executions that wait for a time and are restarted.
    pub timed: Vec<u32>,
    /// Executions whose timeouts are restarted.
    pub bounded: Vec<u32>,
    /// Whether the time limit of the run is restarted.
    pub run_time: bool,
    /// Deadlines missing in the new version, by their bookmarks; see [`DeadlineKey`](crate::instance::DeadlineKey).
    pub disarmed: Vec<(u32, Uuid)>,
}

/// A container that has lost a child.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Orphan {
    /// Sequence number of the container's execution, which continues.
    pub parent: u32,
    /// Tag that the container gave the lost child.
    pub tag: u32,
}

impl AfterMigration {
    /// Adds the findings of a preparation that was made before the dropped executions were cancelled.
    ///
    /// The parent of each cancelled execution must be notified once. The earlier preparation has one orphan for each:
    /// equal entries are different executions, such as the branches of a `Fork`. The later preparation has none, for
    /// two reasons. The cancelled executions are no longer open, and cancelling them has opened nothing: no parent was
    /// notified, and a migration that would run or wake a handler is rejected. All other work depends on the remaining
    /// executions, and the later preparation has all of it.
    pub fn add_cancelled(&mut self, before: Self) {
        debug_assert!(self.orphans.is_empty(), "all that is given up is cancelled");
        self.orphans.extend(before.orphans);
    }

    /// Whether there is no work.
    pub fn is_empty(&self) -> bool {
        *self == Self::default()
    }
}

/// Cancels executions in the version that they run in. Their parents are not notified; [`continue_migrated`] does that.
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

/// Continues an instance in the version to which it was migrated.
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
        runner.notify_child_dropped(orphan.parent, orphan.tag)?;
    }
    for flowchart in &after.joins {
        runner.notify_child_dropped(*flowchart, 0)?;
    }
    for (sequence, bookmark) in &after.disarmed {
        runner.burst.disarm(*sequence, *bookmark);
    }
    for sequence in &after.timed {
        runner.restart(*sequence);
    }
    for sequence in &after.bounded {
        runner.restart_timeout(*sequence);
    }
    if after.run_time {
        runner.restart_run_timeout();
    }
    runner.drain()?;
    Ok(runner.conclude())
}

impl Runner<'_> {
    /// Notifies a container that it has lost a child.
    fn notify_child_dropped(&mut self, parent: u32, tag: u32) -> Result<(), Error> {
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

    /// Restarts an activity that waits for a time.
    fn restart(&mut self, sequence: u32) {
        if self.burst.context(sequence).is_some() {
            self.go_back(sequence, false);
            self.burst.push(sequence, Task::Again(sequence));
        }
    }

    /// Restarts the timeout of an execution, with the new version's limit.
    fn restart_timeout(&mut self, sequence: u32) {
        if let Some(node) = self.burst.context(sequence).map(|context| context.node) {
            self.burst.end_timeout(sequence);
            self.burst.begin_timeout(sequence, self.burst.program.node(node));
        }
    }

    /// Restarts the time limit of the run, with the new version's limit.
    fn restart_run_timeout(&mut self) {
        if let Some(deadline) = self.burst.instance.state.deadline.take() {
            self.burst.scratch.delta.burned.push(deadline.bookmark);
        }
        self.burst.take_armed_span((NO_EXECUTION, false));
        self.burst.scratch.run_until = ending::run_until(self.burst.program, self.burst.scratch.now);
    }
}
