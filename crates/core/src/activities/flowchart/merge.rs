//! The merge mode of an activity in a flowchart: which tokens it takes when several come together.

use crate::activities::flow_join;
use crate::activities::flow_join::JoinMode;
use crate::activity::FlowRole;
use crate::execution::Execution;
use crate::program::{FlowGraph, MergeMode};
use workflow_value::fault::Fault;

impl MergeMode {
    /// The merge mode of an activity of a flowchart; the mode of a join determines its merge mode.
    pub(super) fn of(cx: &mut Execution<'_>, graph: &FlowGraph, position: u32) -> Result<Self, Fault> {
        let node = graph.activity(position);
        if cx.program().node(node).activity.descriptor().flow != FlowRole::Join {
            return Ok(graph.merge_mode(position));
        }
        let mode = JoinMode::read(cx.choice_of(node, flow_join::MODE, &JoinMode::NAMES)?);
        Ok(if mode == JoinMode::WaitAny { Self::Race } else { Self::Merge })
    }
}
