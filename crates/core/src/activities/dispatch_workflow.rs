//! `DispatchWorkflow`: starts a child workflow, run by a background worker in a transaction of its own.

use serde_json::Value;

use crate::activities::child::{self, ChildInputs};
use crate::activity::handle::{inputs, outputs};
use crate::activity::{Activity, Descriptor, NonEmpty, OutputDescriptor, WaitKind};
use crate::bookmark::Resumed;
use crate::child::Begin;
use crate::execution::Execution;
use workflow_http::stimulus;
use workflow_value::fault::Fault;
use workflow_value::value::copy_or_null;

/// Starts a child workflow in a transaction of its own, and optionally waits for its end.
#[derive(Debug)]
pub struct DispatchWorkflow;

inputs! {
    DEFINITION: NonEmpty = child::DEFINITION,
    CORRELATION: String = child::CORRELATION,
    INPUT: Value = child::INPUT,
    WAIT: bool = child::wait("false"),
    NEW_TRACE: Value = child::NEW_TRACE,
    CHANNEL: Value = child::CHANNEL,
}

outputs! {
    RESULT =
        OutputDescriptor::new("result", "Object", "Output of the child, with waitForCompletion."),
}

const CHILD: ChildInputs = ChildInputs { definition: DEFINITION, correlation: CORRELATION, input: INPUT };

static DESCRIPTOR: Descriptor = Descriptor {
    type_name: stimulus::DISPATCH_WORKFLOW.name,
    category: "Composition",
    description: "Leaves another workflow to a background worker, which runs it in a transaction of its own after this one has committed. With waitForCompletion, waits until it has ended.",
    inputs: INPUTS,
    outputs: OUTPUTS,
    example: r#"{"type": "DispatchWorkflow", "workflowDefinitionId": "send-invoice", "correlationId": {"input": "order"}, "waitForCompletion": true, "result": {"var": "Invoice"}}"#,
    acts_for_owner: true,
    waits: WaitKind::IfTrue("waitForCompletion"),
    ..Descriptor::BASE
};

impl Activity for DispatchWorkflow {
    fn descriptor(&self) -> &'static Descriptor {
        &DESCRIPTOR
    }

    fn execute(&self, cx: &mut Execution<'_>) -> Result<(), Fault> {
        let waits = cx.get(WAIT)?;
        child::start_one(cx, &CHILD, Begin::Later, waits)?;
        if waits { Ok(()) } else { cx.complete() }
    }

    fn resumed(&self, cx: &mut Execution<'_>, _bookmark: &Resumed, input: Option<&Value>) -> Result<(), Fault> {
        let result = match child::report(input)? {
            Some(report) => report.output(),
            None => input.map(copy_or_null).unwrap_or_default(),
        };
        cx.set_output(RESULT, result)?;
        cx.complete()
    }
}
