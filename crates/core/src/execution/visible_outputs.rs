//! The outputs that an execution may read.
//!
//! The innermost enclosing execution that contains the wanted activity decides: the latest outputs of that activity in
//! this very execution, or none. So a round of a loop, or a parallel body, never sees the outputs of another one.

use std::collections::BTreeMap;

use crate::instance::compensation::Unwinding;
use crate::instance::outputs::Outputs;
use crate::instance::{Context, Memory, State};
use crate::node_ix::NodeIx;
use crate::program::Program;

/// The outputs of an activity as an execution sees them.
pub(super) fn visible_output<'s>(
    program: &Program,
    state: &'s State,
    from: u32,
    wanted: NodeIx,
) -> Option<&'s Outputs> {
    let mut below = None;
    for (sequence, context) in around(state, from) {
        if let Some(own) = own(context, wanted) {
            return Some(own);
        }
        let is_hidden = below == Some(wanted) && program.node(context.node).runs_bodies_beside();
        let found = state.outputs_inside(context).and_then(|inside| inside.get(&wanted));
        if found.is_some() && !is_hidden {
            return found;
        }
        if is_inside(program, wanted, context.node) && !is_shared(state, sequence) {
            return None;
        }
        below = Some(context.node);
    }
    None
}

/// The outputs of all activities as an execution sees them.
pub(super) fn visible_outputs<'s>(program: &Program, state: &'s State, from: u32) -> BTreeMap<NodeIx, &'s Outputs> {
    let mut visible = BTreeMap::new();
    let mut deciding: Vec<NodeIx> = Vec::new();
    let mut below = None;
    for (sequence, context) in around(state, from) {
        if let Some(own) = own(context, context.node) {
            visible.entry(context.node).or_insert(own);
        }
        let hides_child = program.node(context.node).runs_bodies_beside();
        for (node, outputs) in state.outputs_inside(context).into_iter().flatten() {
            let is_hidden = hides_child && below == Some(*node)
                || deciding.iter().any(|deciding| is_inside(program, *node, *deciding));
            if !is_hidden {
                visible.entry(*node).or_insert(outputs);
            }
        }
        if !is_shared(state, sequence) {
            deciding.push(context.node);
        }
        below = Some(context.node);
    }
    visible
}

/// An execution and its ancestors, innermost first.
fn around(state: &State, from: u32) -> impl Iterator<Item = (u32, &Context)> {
    let at = |sequence: u32| state.contexts.get(&sequence).map(|context| (sequence, context));
    std::iter::successors(at(from), move |(_, context)| at(context.parent?))
}

/// Outputs that an execution of the wanted activity has set so far.
fn own(context: &Context, wanted: NodeIx) -> Option<&Outputs> {
    let is_it = context.node == wanted && !context.outputs.is_empty();
    let is_handling = matches!(context.memory, Memory::Unwinding(Unwinding::One { .. } | Unwinding::Instance(_)));
    Some(&context.outputs).filter(|_| is_it && !is_handling)
}

/// Whether an execution was stored when all outputs belonged to the root.
fn is_shared(state: &State, sequence: u32) -> bool {
    sequence < state.outputs_shared_below
}

/// Whether an activity is inside another one.
pub(crate) fn is_inside(program: &Program, node: NodeIx, outer: NodeIx) -> bool {
    let parent = |node: &NodeIx| program.node(*node).parent;
    std::iter::successors(parent(&node), parent).any(|above| above == outer)
}
