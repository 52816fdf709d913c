//! `FlowJoin`: joins branches of a flowchart.
//!
//! The flowchart reads the mode and decides when the join runs. The join itself only cancels the branches that are
//! still open after the first in mode WaitAny. Elsa's join cancels its ancestors in every mode (#7724); here only
//! WaitAny does.

use crate::activity::handle::inputs;
use crate::activity::{Activity, Descriptor, FlowRole, InputDescriptor};
use crate::execution::{Execution, Signal, one_of};
use serde_json::Value;
use workflow_value::fault::Fault;

/// Joins branches of a flowchart; its mode determines for how many of them it waits.
#[derive(Debug)]
pub struct FlowJoin;

inputs! {
    pub(crate) MODE: Value = InputDescriptor::new("mode", "FlowJoinMode", "WaitAny, WaitAll or WaitAllActive.")
        .default(r#""WaitAny""#)
        .checked(|mode| one_of(mode, "mode", &JoinMode::NAMES))
        .choices(&JoinMode::NAMES),
}

static DESCRIPTOR: Descriptor = Descriptor {
    type_name: "Elsa.FlowJoin",
    category: "Branching",
    description: "Joins branches of a flowchart. WaitAny continues with the first branch and cancels the others; WaitAll requires every inbound connection to be followed; WaitAllActive waits for those that can be followed.",
    inputs: INPUTS,
    flow: FlowRole::Join,
    example: r#"{"type": "FlowJoin", "mode": "WaitAll"}"#,
    ..Descriptor::BASE
};

impl Activity for FlowJoin {
    fn descriptor(&self) -> &'static Descriptor {
        &DESCRIPTOR
    }

    fn execute(&self, cx: &mut Execution<'_>) -> Result<(), Fault> {
        if JoinMode::read(cx.choice(MODE, &JoinMode::NAMES)?) == JoinMode::WaitAny {
            cx.signal(&Signal::CancelInbound(cx.node_index()))?;
        }
        cx.complete()
    }
}

/// When a flowchart runs a join.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum JoinMode {
    /// With the first followed connection.
    WaitAny,
    /// When all inbound connections were followed.
    WaitAll,
    /// When all inbound connections were visited, and at least one followed.
    WaitAllActive,
}

impl JoinMode {
    /// Elsa's names, in the order of [`read`](Self::read).
    pub const NAMES: [&str; 3] = ["WaitAny", "WaitAll", "WaitAllActive"];

    /// The mode at this position of [`NAMES`](Self::NAMES).
    pub fn read(position: usize) -> Self {
        match position {
            0 => Self::WaitAny,
            1 => Self::WaitAll,
            _ => Self::WaitAllActive,
        }
    }
}
