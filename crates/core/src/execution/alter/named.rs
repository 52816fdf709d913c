//! Resolves what an alteration names: a variable, open executions of an activity, or one in which an activity can
//! start.

use crate::activity::CompensationRole;
use crate::alteration::Target;
use crate::execution::burst::Burst;
use crate::execution::variables::{ScopeStart, VariableLocation};
use crate::instance::{Context, Memory};
use crate::node_ix::NodeIx;
use workflow_value::fault::Fault;
use workflow_value::spelling::nearest;

impl Burst<'_> {
    /// The location of a variable, and its name.
    pub(super) fn variable_location(
        &self,
        name: &str,
        scope: Option<u32>,
    ) -> Result<(VariableLocation, String), Fault> {
        if let Some(sequence) = scope {
            let inside = ScopeStart { sequence, hidden: 0 };
            let location = self.find_variable(inside, name);
            return location.map(|location| (location, name.to_owned())).ok_or_else(|| self.no_variable(name));
        }
        let by_id = self.program.variables.iter().find(|variable| variable.id == name);
        let workflow = [Some(name), by_id.map(|variable| variable.name.as_str())].into_iter().flatten();
        for name in workflow {
            if self.instance.variables.contains_key(name) {
                return Ok((VariableLocation::Workflow, name.to_owned()));
            }
        }
        let contexts = self.instance.state.contexts.iter();
        let found: Vec<(VariableLocation, String)> = contexts
            .filter_map(|(sequence, context)| {
                let at = self.variable_in(context, name)?;
                Some((VariableLocation::Context(*sequence, at), context.variables[at].0.clone()))
            })
            .collect();
        match <[_; 1]>::try_from(found) {
            Ok([location]) => Ok(location),
            Err(found) if found.is_empty() => Err(self.no_variable(name)),
            Err(found) => Err(Fault::new("22023", format!("variable \"{name}\" is ambiguous"))
                .detail(format!("{} open activities have one.", found.len()))
                .hint("Name one of them by its activity instance id.")),
        }
    }

    /// The position of a variable of an execution, found by its name or its id in the definition.
    pub(super) fn variable_in(&self, context: &Context, name: &str) -> Option<usize> {
        let by_name = context.variables.iter().position(|(known, _)| known == name);
        by_name.or_else(|| {
            let at = self.program.node(context.node).variables.iter().position(|variable| variable.id == name)?;
            (at < context.variables.len()).then_some(at)
        })
    }

    pub(super) fn no_variable(&self, name: &str) -> Fault {
        let fault = Fault::new(
            "42704",
            format!("variable \"{name}\" does not exist in workflow instance {}", self.instance.id),
        );
        match nearest(name, self.instance.variables.keys().map(String::as_str)) {
            Some(near) => fault.hint(format!("Perhaps you meant \"{near}\".")),
            None => fault,
        }
    }

    /// The activities that a target names by id or path; `None` if it names an execution only.
    pub(super) fn named(&self, target: &Target) -> Result<Option<Vec<NodeIx>>, Fault> {
        let Some(id) = &target.activity_id else { return Ok(None) };
        let nodes = (0u32..).zip(&self.program.nodes);
        let found: Vec<NodeIx> =
            nodes.filter(|(_, node)| node.id == *id || node.node_id == *id).map(|(ix, _)| NodeIx(ix)).collect();
        if !found.is_empty() {
            return Ok(Some(found));
        }
        let definition = &self.program.definition_id;
        let fault =
            Fault::new("42704", format!("activity \"{id}\" does not exist in workflow definition \"{definition}\""));
        Err(match nearest(id, self.program.nodes.iter().map(|node| node.id.as_str())) {
            Some(near) => fault.hint(format!("Perhaps you meant \"{near}\".")),
            None => fault,
        })
    }

    /// Open executions of these activities, oldest first.
    pub(super) fn open_of(&self, nodes: &[NodeIx]) -> Vec<u32> {
        let contexts = self.instance.state.contexts.iter();
        contexts.filter(|(_, context)| nodes.contains(&context.node)).map(|(sequence, _)| *sequence).collect()
    }

    /// Rejects an execution of any other activity (22023).
    pub(super) fn require_of(&self, sequence: u32, nodes: Option<&[NodeIx]>) -> Result<(), Fault> {
        let Some((context, nodes)) = self.context(sequence).zip(nodes) else { return Ok(()) };
        if nodes.contains(&context.node) {
            return Ok(());
        }
        let id = &self.program.node(context.node).id;
        Err(Fault::new("22023", format!("activity instance {} is of another activity", self.id_of(sequence)))
            .detail(format!("It is of \"{id}\".")))
    }

    /// The only open execution in which one of these activities can start, and that activity.
    pub(super) fn parent_for(&self, target: &Target, nodes: &[NodeIx]) -> Result<(u32, NodeIx), Fault> {
        let mut parents = Vec::new();
        for (sequence, context) in &self.instance.state.contexts {
            let inside = nodes.iter().filter(|ix| self.program.node(**ix).parent == Some(context.node));
            parents.extend(inside.map(|ix| (*sequence, *ix)));
        }
        match parents.as_slice() {
            [parent] => Ok(*parent),
            [] => Err(self.not_open(target).detail("What holds it is not open either.")),
            _ => Err(self.ambiguous(target, "can begin", parents.len())),
        }
    }

    pub(super) fn not_open(&self, target: &Target) -> Fault {
        let id = target.activity_id.as_deref().unwrap_or_default();
        Fault::new("55000", format!("activity \"{id}\" is not open in workflow instance {}", self.instance.id))
    }

    pub(super) fn ambiguous(&self, target: &Target, what: &str, times: usize) -> Fault {
        let id = target.activity_id.as_deref().unwrap_or_default();
        Fault::new("22023", format!("activity \"{id}\" is ambiguous in workflow instance {}", self.instance.id))
            .detail(format!("It {what} in {times} places."))
            .hint("Name one by its activity instance id.")
    }

    /// Rejects an execution that runs handlers, or is part of one (55000).
    pub(super) fn refuse_handler(&self, sequence: u32) -> Result<(), Fault> {
        let handles = self.context(sequence).is_some_and(|context| matches!(context.memory, Memory::Unwinding(_)));
        if !handles && self.handler_around(sequence).is_none() {
            return Ok(());
        }
        Err(Fault::new("55000", "an activity that compensates or confirms cannot be altered")
            .hint("Wait until it has ended, or retry it if it is faulted."))
    }

    pub(super) fn is_compensable(&self, sequence: u32) -> bool {
        let node = self.context(sequence).map(|context| self.program.node(context.node));
        node.is_some_and(|node| node.activity.descriptor().compensation == CompensationRole::Compensable)
    }
}
