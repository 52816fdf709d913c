//! Outputs: each activity that still exists keeps its outputs, wherever it is in the new version.

use std::collections::BTreeMap;

use crate::execution::visible_outputs::is_inside;
use crate::instance::State;
use crate::instance::outputs::Outputs;
use crate::migration::Migration;
use crate::node_ix::NodeIx;

impl Migration {
    /// Migrates the outputs inside the open executions. `places` are the activities of these executions in the old
    /// version.
    pub(super) fn migrate_outputs(&self, state: &mut State, places: &BTreeMap<u32, NodeIx>) {
        let to = |ix: NodeIx| self.counterparts.of_same_type(&self.old, &self.new, ix);
        let mut origins: BTreeMap<NodeIx, NodeIx> = BTreeMap::new();
        let mut moved = |outputs: BTreeMap<NodeIx, Outputs>| -> BTreeMap<NodeIx, Outputs> {
            let found = outputs.into_iter().filter_map(|(old, outputs)| Some((old, to(old)?, outputs)));
            found.map(|(old, new, outputs)| (origins.insert(new, old), (new, outputs)).1).collect()
        };
        state.outputs = moved(std::mem::take(&mut state.outputs));
        for context in state.contexts.values_mut() {
            let Some(inside) = &mut context.ended_inside else { continue };
            inside.outputs = moved(std::mem::take(&mut inside.outputs));
            let arrived = std::mem::take(&mut inside.arrived).into_iter();
            inside.arrived = arrived.filter_map(|(old, result)| Some((to(old)?, result))).collect();
        }
        if !origins.is_empty() {
            self.find_new_holders(state, places, &origins);
        }
    }

    /// Handles activities that were moved into or out of an open container.
    fn find_new_holders(&self, state: &mut State, places: &BTreeMap<u32, NodeIx>, origins: &BTreeMap<NodeIx, NodeIx>) {
        let open: Vec<(u32, u32)> =
            state.contexts.iter().filter_map(|(sequence, context)| Some((*sequence, context.parent?))).collect();
        // Inner executions have higher numbers than the enclosing ones.
        for (sequence, parent) in open.iter().rev() {
            let Some(context) = state.contexts.get_mut(sequence) else { continue };
            let (node, program) = (context.node, &self.new);
            let Some(inside) = &mut context.ended_inside else { continue };
            let all = std::mem::take(&mut inside.outputs);
            let (stay, leave): (BTreeMap<_, _>, BTreeMap<_, _>) =
                all.into_iter().partition(|(ix, _)| is_inside(program, *ix, node));
            inside.outputs = stay;
            if let Some(around) = outputs_inside(state, *parent) {
                leave.into_iter().for_each(|(ix, outputs)| {
                    around.entry(ix).or_insert(outputs);
                });
            }
        }
        for (sequence, parent) in open {
            let (Some(context), Some(old)) = (state.contexts.get(&sequence), places.get(&sequence)) else { continue };
            let node = context.node;
            let was_outside = |ix: &NodeIx| origins.get(ix).is_none_or(|was| !is_inside(&self.old, *was, *old));
            let is_new = |ix: &NodeIx| is_inside(&self.new, *ix, node) && was_outside(ix);
            let around = outputs_inside(state, parent).into_iter().flat_map(|around| around.iter());
            let entering: Vec<(NodeIx, Outputs)> =
                around.filter(|(ix, _)| is_new(ix)).map(|(ix, outputs)| (*ix, outputs.clone())).collect();
            if !entering.is_empty()
                && let Some(inside) = outputs_inside(state, sequence)
            {
                inside.extend(entering);
            }
        }
    }
}

fn outputs_inside(state: &mut State, sequence: u32) -> Option<&mut BTreeMap<NodeIx, Outputs>> {
    let context = state.contexts.get_mut(&sequence)?;
    Some(match context.parent {
        None => &mut state.outputs,
        Some(_) => &mut context.ended_inside.get_or_insert_default().outputs,
    })
}
