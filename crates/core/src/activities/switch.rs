//! `Switch`: runs the first matching case, or all matching cases, or the default.

use serde_json::Value;

use crate::activity::handle::{inputs, outputs, ports};
use crate::activity::{Activity, Descriptor, EndedBy, InputDescriptor, OutputDescriptor, PartCondition, PartList};
use crate::execution::{Child, Execution, Outcomes, one_of};
use workflow_value::fault::Fault;

/// Chooses among cases.
#[derive(Debug)]
pub struct Switch;

/// How a switch treats several matching cases.
pub(super) const MODES: [&str; 2] = ["MatchFirst", "MatchAny"];

pub(super) fn check_mode(mode: &Value) -> Result<(), Fault> {
    one_of(mode, "mode", &MODES)
}

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

outputs! {
    OUTPUT = OutputDescriptor::new(
        "output",
        "Object",
        "Label of the chosen case, or the list of labels under MatchAny; null for the default.",
    ),
}

ports! {
    DEFAULT = "default",
}

static DESCRIPTOR: Descriptor = Descriptor {
    type_name: "Elsa.Switch",
    category: "Branching",
    description: "Evaluates the conditions of its cases and runs the activity of the first that matches (MatchFirst) or of all that match (MatchAny), or else the default.",
    inputs: INPUTS,
    outputs: OUTPUTS,
    ports: PORTS,
    parts: &[PartList {
        name: "cases",
        one: "case",
        texts: &[("label", false)],
        ports: &["activity"],
        condition: PartCondition::Needed,
        short: false,
        numbered: false,
        catches: false,
        hint: Some("switch-editor"),
    }],
    example: r#"{"type": "Switch", "cases": [{"label": "short", "condition": {"js": "getInput('days') <= 2"}, "activity": {"type": "WriteLine", "text": "short"}}], "default": {"type": "WriteLine", "text": "long"}}"#,
    ..Descriptor::BASE
};

impl Activity for Switch {
    fn descriptor(&self) -> &'static Descriptor {
        &DESCRIPTOR
    }

    fn ended_by(&self) -> EndedBy {
        EndedBy::NextAround
    }

    fn execute(&self, cx: &mut Execution<'_>) -> Result<(), Fault> {
        let any = cx.choice(MODE, &MODES)? == 1;
        let matching = cx.matching_cases(any)?;
        let cases = cx.node().part_list(0);
        let mut labels = matching.iter().map(|index| Value::String(cases[*index].text(0).to_owned()));
        let output = if any { Value::Array(labels.collect()) } else { labels.next_back().into() };
        cx.set_output(OUTPUT, output)?;
        let mut chosen: Vec<_> = matching.iter().filter_map(|index| cases[*index].port(0)).collect();
        if matching.is_empty() {
            chosen.extend(cx.port(DEFAULT));
        }
        if chosen.is_empty() {
            return cx.complete();
        }
        cx.set_position(chosen.len() as i64);
        for activity in chosen {
            cx.schedule(activity, 0, Vec::new())?;
        }
        Ok(())
    }

    fn child_completed(&self, cx: &mut Execution<'_>, _child: &Child, _outcomes: &Outcomes) -> Result<(), Fault> {
        let remaining = cx.position() - 1;
        cx.set_position(remaining);
        if remaining <= 0 { cx.complete() } else { Ok(()) }
    }
}
