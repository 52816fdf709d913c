//! `For`: runs a body for each number of a range.
//!
//! The bounds are evaluated once. Elsa never completes a `For` without a body and never ends one with step 0. Here the
//! first completes and the second is a fault.

use serde_json::Value;

use crate::activity::handle::{inputs, outputs, ports};
use crate::activity::{Activity, Descriptor, FlowRole, InputDescriptor, OutputDescriptor};
use crate::execution::{Child, Execution, Outcomes, Signal};
use crate::instance::Memory;
use workflow_value::fault::Fault;

/// Runs its body for each number.
#[derive(Debug)]
pub struct For;

inputs! {
    START: i64 = InputDescriptor::new("start", "Int64", "The first number.").default("0"),
    END: i64 = InputDescriptor::new("end", "Int64", "The last number.").default("0"),
    STEP: i64 = InputDescriptor::new("step", "Int64", "The difference between two numbers; not 0.").default("1"),
    OUTER_BOUND_INCLUSIVE: bool =
        InputDescriptor::new("outerBoundInclusive", "Boolean", "Whether the range includes the end.")
            .default("true"),
}

outputs! {
    CURRENT_VALUE = OutputDescriptor::new("currentValue", "Int64", "The number of this round."),
}

ports! {
    BODY = "body",
}

static DESCRIPTOR: Descriptor = Descriptor {
    type_name: "Elsa.For",
    category: "Looping",
    description: "Runs the body for each number from start to end, which is included unless outerBoundInclusive is false. A negative step counts down. The body has the number in the variable CurrentValue. Break leaves the loop.",
    inputs: INPUTS,
    outputs: OUTPUTS,
    ports: PORTS,
    flow: FlowRole::Loop(""),
    example: r#"{"type": "For", "start": 1, "end": 3, "body": {"type": "WriteLine", "text": {"var": "CurrentValue"}}}"#,
    ..Descriptor::BASE
};

impl Activity for For {
    fn descriptor(&self) -> &'static Descriptor {
        &DESCRIPTOR
    }

    fn execute(&self, cx: &mut Execution<'_>) -> Result<(), Fault> {
        let (start, end, step) = (cx.get(START)?, cx.get(END)?, cx.get(STEP)?);
        let inclusive = cx.get(OUTER_BOUND_INCLUSIVE)?;
        if step == 0 {
            return Err(Fault::new("22023", "step of a For activity must not be 0"));
        }
        cx.set_memory(Memory::Range { current: start, end, step, inclusive });
        run_round(cx)
    }

    fn child_completed(&self, cx: &mut Execution<'_>, _child: &Child, _outcomes: &Outcomes) -> Result<(), Fault> {
        if cx.is_breaking() {
            return cx.complete();
        }
        let Memory::Range { current, step, .. } = *cx.memory() else {
            return cx.complete();
        };
        match current.checked_add(step) {
            Some(next) => {
                cx.set_position(next);
                run_round(cx)
            }
            // The next number is beyond the range of integers, and therefore beyond the limit.
            None => cx.complete(),
        }
    }

    fn signal(&self, cx: &mut Execution<'_>, signal: &Signal) -> Result<bool, Fault> {
        Ok(cx.break_here(signal))
    }
}

fn run_round(cx: &mut Execution<'_>) -> Result<(), Fault> {
    let Memory::Range { current, end, step, inclusive } = *cx.memory() else {
        return cx.complete();
    };
    let before_end = if step > 0 { current < end } else { current > end };
    match cx.port(BODY) {
        Some(body) if before_end || (inclusive && current == end) => {
            cx.set_output(CURRENT_VALUE, Value::from(current))?;
            cx.schedule(body, 0, vec![("CurrentValue".to_owned(), Value::from(current))])
        }
        _ => cx.complete(),
    }
}
