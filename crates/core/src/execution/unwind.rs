//! Requests of activities to compensate or confirm records, and the end of a handler.

use crate::activity::CompensationRole;
use crate::execution::burst::Task;
use crate::execution::context::Execution;
use crate::instance::Memory;
use crate::instance::compensation::{HELD_BY_INSTANCE, RecordAction, RecordFilter, Unwinding};
use crate::node_ix::NodeIx;
use workflow_value::fault::Fault;

impl Execution<'_> {
    /// Whether this execution is part of a handler.
    pub fn is_in_handler(&self) -> bool {
        self.burst.handler_around(self.sequence).is_some()
    }

    /// Handles records for this execution, which completes when none is left: those of one `Compensable` in the nearest
    /// scope that has any, or all records of the nearest scope.
    pub fn unwind(&mut self, action: RecordAction, target: Option<&str>) -> Result<(), Fault> {
        let holders = self.burst.holders(self.sequence);
        let node = target.map(|target| self.compensable(target)).transpose()?;
        let host = &mut self.burst.host;
        let mut has_any =
            |holder: &u32| host.find_record(RecordFilter { holder: *holder, node, newest: true }).is_some();
        let holder = holders.iter().find(|holder| node.is_none() || has_any(holder)).or(holders.first());
        let holder = holder.copied().unwrap_or(HELD_BY_INSTANCE);
        self.set_memory(Memory::Unwinding(Unwinding::Each { action, holder, node }));
        self.burst.push(self.sequence, Task::Unwind(self.sequence));
        Ok(())
    }

    fn compensable(&self, target: &str) -> Result<NodeIx, Fault> {
        let program = self.program();
        let found = program.find_from(self.node_index(), target);
        let role = |node: &NodeIx| program.node(*node).activity.descriptor().compensation;
        let is_one = |node: &NodeIx| role(node) == CompensationRole::Compensable;
        found.filter(is_one).ok_or_else(|| {
            Fault::new("42704", format!("there is no Compensable \"{target}\"")).hint("Name it by its id.")
        })
    }

    /// The end of the handler that this execution is part of.
    pub(super) fn end_of_handler(&self) -> Option<u32> {
        self.burst.handler_around(self.sequence).map(|(end, ..)| end)
    }
}
