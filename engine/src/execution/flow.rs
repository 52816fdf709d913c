//! The memory of a flowchart: visits in counter mode, tokens in token mode. Each change writes an undo entry.

use crate::execution::Execution;
use crate::execution::undo::Undo;
use crate::fault::Fault;
use crate::instance::{FlowScope, Memory, TokenChange, TokenScope};

impl Execution<'_> {
    /// What this flowchart has counted in counter mode. XX001 if its memory holds something else.
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
