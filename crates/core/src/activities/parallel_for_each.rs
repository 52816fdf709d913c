//! `ParallelForEach`: runs a body for each item in parallel.
//!
//! The items are evaluated once. Each body has its item and the item's number as variables of its own, and the state
//! stores nothing else about it. If the number of open bodies is limited, the memory keeps the items whose bodies have
//! not started.

use serde_json::Value;

use crate::activity::handle::{inputs, ports};
use crate::activity::{Activity, Descriptor, FlowRole, InputDescriptor};
use crate::execution::{Child, Execution, Outcomes};
use crate::instance::Memory;
use crate::node_ix::NodeIx;
use workflow_value::fault::Fault;
use workflow_value::value::{Json, copy_or_null};

/// Runs a body for each item in parallel.
#[derive(Debug)]
pub struct ParallelForEach;

inputs! {
    ITEMS: Value =
        InputDescriptor::new("items", "Object", "The items, or a single one.").default("[]").on_demand().needed(),
    DEGREE_OF_PARALLELISM: i64 = InputDescriptor::new(
        "degreeOfParallelism",
        "Int32",
        "How many bodies are open at a time; without it all of them. A faulted body counts as open.",
    )
    .checked(check_degree),
}

ports! {
    BODY = "body",
}

static DESCRIPTOR: Descriptor = Descriptor {
    type_name: "Elsa.ParallelForEach",
    category: "Looping",
    description: "Runs the body for each item in parallel. Each body has its item in the variable CurrentValue and its number, from 0, in CurrentIndex. A value that is not a list is a single item.",
    inputs: INPUTS,
    ports: PORTS,
    flow: FlowRole::Each,
    example: r#"{"type": "ParallelForEach", "items": ["Ada", "Grace"], "body": {"type": "RunTask", "taskName": "Approve", "payload": {"object": {"by": {"var": "CurrentValue"}}}}}"#,
    ..Descriptor::BASE
};

impl Activity for ParallelForEach {
    fn descriptor(&self) -> &'static Descriptor {
        &DESCRIPTOR
    }

    fn execute(&self, cx: &mut Execution<'_>) -> Result<(), Fault> {
        check_degree(cx.peek(DEGREE_OF_PARALLELISM))?;
        let degree = match cx.peek(DEGREE_OF_PARALLELISM) {
            Value::Null => None,
            _ => usize::try_from(cx.get(DEGREE_OF_PARALLELISM)?).ok(),
        };
        let items = cx.all_items(ITEMS)?;
        let Some(body) = cx.port(BODY).filter(|_| !items.is_empty()) else {
            return cx.complete();
        };
        let at_once = degree.unwrap_or(items.len()).min(items.len());
        for (index, item) in items.iter().take(at_once).enumerate() {
            begin(cx, body, index as i64, copy_or_null(item))?;
        }
        if at_once < items.len() {
            cx.set_memory(Memory::Items { index: at_once as i64, items: Json(Value::Array(items)) });
        }
        Ok(())
    }

    fn child_completed(&self, cx: &mut Execution<'_>, _child: &Child, _outcomes: &Outcomes) -> Result<(), Fault> {
        let index = cx.position();
        match (cx.kept_item(index), cx.port(BODY)) {
            (Some(item), Some(body)) => {
                cx.set_position(index + 1);
                begin(cx, body, index, item)
            }
            _ if cx.has_pending_work() => Ok(()),
            _ => cx.complete(),
        }
    }
}

fn begin(cx: &mut Execution<'_>, body: NodeIx, index: i64, item: Value) -> Result<(), Fault> {
    let variables = vec![("CurrentValue".to_owned(), item), ("CurrentIndex".to_owned(), Value::from(index))];
    cx.schedule(body, 0, variables)
}

/// Checks the maximum number of open bodies.
fn check_degree(value: &Value) -> Result<(), Fault> {
    let positive = value.as_i64().is_none_or(|degree| degree > 0);
    if positive { Ok(()) } else { Err(Fault::new("22023", "degreeOfParallelism must be at least 1")) }
}
