//! `ExecuteWorkflow`: runs a child workflow as an instance of its own, in the same transaction.
//!
//! As in Elsa, the child runs until it waits or ends before any activity after this one runs. Bursts do not nest, so
//! the parent's burst ends here, and the child's report resumes it.

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

/// Runs a child workflow.
#[derive(Debug)]
pub struct ExecuteWorkflow;

inputs! {
    DEFINITION: NonEmpty = child::DEFINITION,
    CORRELATION: String = child::CORRELATION,
    INPUT: Value = child::INPUT,
    WAIT: bool = child::wait("false"),
}

outputs! {
    RESULT = OutputDescriptor::new(
        "result",
        "Object",
        "State of the child: WorkflowInstanceId, Status, SubStatus, Output.",
    ),
}

const CHILD: ChildInputs = ChildInputs { definition: DEFINITION, correlation: CORRELATION, input: INPUT };

static DESCRIPTOR: Descriptor = Descriptor {
    type_name: stimulus::EXECUTE_WORKFLOW.name,
    category: "Composition",
    description: "Starts another workflow in the same transaction, and completes when that first waits or ends, or (waitForCompletion) when it has ended.",
    inputs: INPUTS,
    outputs: OUTPUTS,
    example: r#"{"type": "ExecuteWorkflow", "workflowDefinitionId": "check-stock", "input": {"object": {"item": {"input": "item"}}}, "waitForCompletion": true, "result": {"var": "Stock"}}"#,
    acts_for_owner: true,
    waits: WaitKind::Perhaps,
    ..Descriptor::BASE
};

impl Activity for ExecuteWorkflow {
    fn descriptor(&self) -> &'static Descriptor {
        &DESCRIPTOR
    }

    fn execute(&self, cx: &mut Execution<'_>) -> Result<(), Fault> {
        let begin = if cx.get(WAIT)? { Begin::NowToTheEnd } else { Begin::Now };
        child::start_one(cx, &CHILD, begin, true)
    }

    fn resumed(&self, cx: &mut Execution<'_>, _bookmark: &Resumed, input: Option<&Value>) -> Result<(), Fault> {
        let result = match child::report(input)? {
            Some(report) => Value::from_iter([
                ("WorkflowInstanceId", report.instance()),
                ("Status", report.status()),
                ("SubStatus", report.sub_status()),
                ("Output", report.output()),
            ]),
            None => input.map(copy_or_null).unwrap_or_default(),
        };
        cx.set_output(RESULT, result)?;
        cx.complete()
    }
}
