//! `Fork`: runs branches in parallel, and completes with the first or with all of them.

use crate::activity::handle::inputs;
use crate::activity::{Activity, Descriptor, InputDescriptor};
use crate::execution::{Child, Execution, Outcomes, Signal, one_of};
use serde_json::Value;
use workflow_value::fault::Fault;

/// Runs its branches in parallel and joins them.
#[derive(Debug)]
pub struct Fork;

const MODES: [&str; 2] = ["WaitAll", "WaitAny"];

inputs! {
    JOIN_MODE: Value = InputDescriptor::new(
        "joinMode",
        "ForkJoinMode",
        "WaitAll: every branch must complete. WaitAny: the first one decides.",
    )
    .default(r#""WaitAll""#)
    .checked(|mode| one_of(mode, "mode", &MODES))
    .choices(&MODES),
}

static DESCRIPTOR: Descriptor = Descriptor {
    type_name: "Elsa.Fork",
    category: "Control Flow",
    description: "Runs branches in parallel. WaitAll completes with the last branch, WaitAny with the first one, which cancels the others.",
    inputs: INPUTS,
    children: Some("branches"),
    example: r#"{"type": "Fork", "joinMode": "WaitAny", "branches": [{"type": "Event", "eventName": "Paid"}, {"type": "Event", "eventName": "Withdrawn"}]}"#,
    ..Descriptor::BASE
};

impl Activity for Fork {
    fn descriptor(&self) -> &'static Descriptor {
        &DESCRIPTOR
    }

    fn execute(&self, cx: &mut Execution<'_>) -> Result<(), Fault> {
        let wait_any = cx.choice(JOIN_MODE, &MODES)? == 1;
        let branches = &cx.node().children;
        if branches.is_empty() {
            return cx.complete();
        }
        // The position counts down the completions that are still needed.
        cx.set_position(if wait_any { 1 } else { branches.len() as i64 });
        for branch in branches {
            cx.schedule(*branch, 0, Vec::new())?;
        }
        Ok(())
    }

    fn child_completed(&self, cx: &mut Execution<'_>, _child: &Child, _outcomes: &Outcomes) -> Result<(), Fault> {
        let needed = cx.position() - 1;
        cx.set_position(needed);
        if needed <= 0 || cx.is_breaking() { cx.complete() } else { Ok(()) }
    }

    fn signal(&self, cx: &mut Execution<'_>, signal: &Signal) -> Result<bool, Fault> {
        // Recorded, but not stopped: the enclosing loop must receive the `Break` as well.
        if matches!(signal, Signal::Break) {
            cx.set_breaking();
        }
        Ok(false)
    }
}
