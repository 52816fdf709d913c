//! `FlowSwitch`: evaluates several conditions inside a flowchart.

use super::switch::{MODES, check_mode};
use crate::activity::handle::inputs;
use crate::activity::{Activity, Descriptor, FurtherOutcomes, InputDescriptor, PartCondition, PartList};
use crate::execution::{Execution, Outcomes};
use serde_json::Value;
use workflow_value::fault::Fault;

/// Chooses among several connections.
#[derive(Debug)]
pub struct FlowSwitch;

inputs! {
    MODE: Value = InputDescriptor::new(
        "mode",
        "SwitchMode",
        "MatchFirst: only the first matching case. MatchAny: every matching case.",
    )
    .default(r#""MatchFirst""#)
    .checked(check_mode)
    .choices(&MODES),
}

static DESCRIPTOR: Descriptor = Descriptor {
    type_name: "Elsa.FlowSwitch",
    category: "Branching",
    description: "Evaluates the conditions of its cases and completes with the labels that match: the first one (MatchFirst) or all (MatchAny), or else Default.",
    inputs: INPUTS,
    parts: &[PartList {
        name: "cases",
        one: "case",
        texts: &[("label", true)],
        ports: &[],
        condition: PartCondition::Needed,
        short: false,
        numbered: false,
        catches: false,
        hint: Some("flow-switch-editor"),
    }],
    outcomes: &["Default"],
    further_outcomes: FurtherOutcomes::Labels,
    example: r#"{"type": "FlowSwitch", "cases": [{"label": "Short", "condition": {"js": "getInput('days') <= 2"}}, {"label": "Long", "condition": true}]}"#,
    ..Descriptor::BASE
};

impl Activity for FlowSwitch {
    fn descriptor(&self) -> &'static Descriptor {
        &DESCRIPTOR
    }

    fn execute(&self, cx: &mut Execution<'_>) -> Result<(), Fault> {
        let any = cx.choice(MODE, &MODES)? == 1;
        let matching = cx.matching_cases(any)?;
        let cases = cx.node().part_list(0);
        let mut labels: Vec<_> = matching.iter().map(|index| cases[*index].text(0).to_owned()).collect();
        if labels.is_empty() {
            labels.push("Default".to_owned());
        }
        cx.complete_with(Outcomes::Named(labels))
    }
}
