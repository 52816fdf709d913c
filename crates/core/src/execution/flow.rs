//! The memory of a flowchart: visits in counter mode, tokens in token mode. Each change writes an undo entry.

use crate::execution::Execution;
use crate::execution::undo::Undo;
use crate::instance::{FlowScope, Memory, TokenChange, TokenScope};
use workflow_value::fault::Fault;

impl Execution<'_> {
    /// The counts of this flowchart in counter mode. XX001 if its memory holds something else.
    pub fn flow_scope(&self) -> Result<&FlowScope, Fault> {
        match self.memory() {
            Memory::Flow(scope) => Ok(scope),
            _ => Err(lost()),
        }
    }

    /// Counts a visit of an activity of this flowchart.
    pub fn visit_activity(&mut self, position: u32) -> Result<(), Fault> {
        let before = self.flow_scope_mut()?.visit_activity(position);
        self.burst.scratch.undo.push(Undo::ActivityVisit(self.sequence, position, before));
        Ok(())
    }

    /// Counts a visit of a connection of this flowchart.
    pub fn visit_connection(&mut self, edge: u32, followed: bool) -> Result<(), Fault> {
        let before = self.flow_scope_mut()?.visit_connection(edge, followed);
        self.burst.scratch.undo.push(Undo::ConnectionVisit(self.sequence, edge, before));
        Ok(())
    }

    /// Records, or clears, that a connection was followed since its join last ran.
    pub fn set_followed(&mut self, edge: u32, is_followed: bool) -> Result<(), Fault> {
        let was_followed = self.flow_scope_mut()?.set_followed(edge, is_followed);
        if was_followed != is_followed {
            self.burst.scratch.undo.push(Undo::Followed(self.sequence, edge, was_followed));
        }
        Ok(())
    }

    /// Marks a connection as visited once since its join last ran, by the run that starts now.
    pub fn use_connection(&mut self, edge: u32, visits: u64) -> Result<(), Fault> {
        self.set_followed(edge, false)?;
        let scope = self.flow_scope_mut()?;
        let before = scope.connection_count(edge);
        let count = visits * 2 + 1;
        if before != count {
            scope.restore_connection(edge, count);
            self.burst.scratch.undo.push(Undo::ConnectionVisit(self.sequence, edge, before));
        }
        Ok(())
    }

    fn flow_scope_mut(&mut self) -> Result<&mut FlowScope, Fault> {
        let context = self.burst.instance.state.contexts.get_mut(&self.sequence);
        match context.map(|context| &mut context.memory) {
            Some(Memory::Flow(scope)) => Ok(scope),
            _ => Err(lost()),
        }
    }

    /// The tokens of this flowchart in token mode. XX001 if its memory holds something else.
    pub fn token_scope(&self) -> Result<&TokenScope, Fault> {
        match self.memory() {
            Memory::Tokens(scope) => Ok(scope),
            _ => Err(lost()),
        }
    }

    /// Applies a change of this flowchart's tokens.
    pub fn change_token(&mut self, change: TokenChange) -> Result<(), Fault> {
        let context = self.burst.instance.state.contexts.get_mut(&self.sequence);
        let Some(Memory::Tokens(scope)) = context.map(|context| &mut context.memory) else {
            return Err(lost());
        };
        let before = scope.apply(change);
        if before != change {
            self.burst.scratch.undo.push(Undo::Token(self.sequence, before));
        }
        Ok(())
    }
}

fn lost() -> Fault {
    Fault::new("XX001", "state of the flowchart does not exist")
}
