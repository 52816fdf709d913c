//! `BulkDispatchWorkflows`: starts a child workflow for each item, run by background workers.
//!
//! All children report to one bookmark, which stays until the last report. The activity remembers only the number of
//! outstanding children, so that the state does not grow with their number.

use serde_json::{Map, Value, json};

use crate::activities::child;
use crate::activity::handle::{inputs, ports};
use crate::activity::{Activity, Descriptor, InputDescriptor, NonEmpty, WaitKind};
use crate::bookmark::{NewBookmark, Resumed};
use crate::child::Begin;
use crate::execution::{Child, Execution, Outcomes, StartChild};
use crate::instance::{Memory, SubStatus};
use crate::journal::EventKind;
use workflow_http::stimulus;
use workflow_value::fault::Fault;
use workflow_value::value::{copy, copy_members, to_text};

/// Starts one child workflow for each item of a list, each in a transaction of its own.
#[derive(Debug)]
pub struct BulkDispatchWorkflows;

inputs! {
    DEFINITION: NonEmpty = child::DEFINITION,
    ITEMS: Value = InputDescriptor::new(
        "items",
        "Object",
        "The items: a list, or one item. Members of an object become members of the child's input.",
    )
    .needed(),
    DEFAULT_ITEM_INPUT_KEY: String =
        InputDescriptor::new("defaultItemInputKey", "String", "Name of the input for an item that is not an object.")
            .default("\"Item\""),
    CORRELATION_ID_FUNCTION: Value = InputDescriptor::new(
        "correlationIdFunction",
        "String",
        "Correlation id of a child, evaluated for each item, which is in the variable Item.",
    )
    .on_demand(),
    INPUT: Value = child::INPUT,
    WAIT: bool = child::wait("true"),
    NEW_TRACE: Value = child::NEW_TRACE,
    CHANNEL: Value = child::CHANNEL,
}

ports! {
    CHILD_COMPLETED = "childCompleted",
    CHILD_FAULTED = "childFaulted",
}

static DESCRIPTOR: Descriptor = Descriptor {
    type_name: stimulus::BULK_DISPATCH_WORKFLOWS.name,
    category: "Composition",
    description: "Dispatches one child workflow for each item to the background workers. The ports childCompleted and childFaulted run for each child that ends in this way, with its id as the variable ChildInstanceId.",
    inputs: INPUTS,
    ports: PORTS,
    outcomes: &["Completed", "Done"],
    example: r#"{"type": "BulkDispatchWorkflows", "workflowDefinitionId": "pay-one", "items": {"sql": "SELECT jsonb_agg(to_jsonb(i)) FROM (VALUES (1, 9.90), (2, 5.00)) AS i(invoice, amount)"}, "childFaulted": {"type": "WriteLine", "text": {"js": "`${getChildInstanceId()} failed`"}}}"#,
    acts_for_owner: true,
    waits: WaitKind::IfTrue("waitForCompletion"),
    ..Descriptor::BASE
};

impl Activity for BulkDispatchWorkflows {
    fn descriptor(&self) -> &'static Descriptor {
        &DESCRIPTOR
    }

    fn execute(&self, cx: &mut Execution<'_>) -> Result<(), Fault> {
        let definition_id = cx.get(DEFINITION)?;
        let items = match cx.take(ITEMS) {
            Value::Null => Vec::new(),
            Value::Array(items) => items,
            item => vec![item],
        };
        let base = child::object(cx.take(INPUT))?;
        let waits = cx.get(WAIT)? && !items.is_empty();
        let bookmark_id = if waits { Some(bookmark(cx)?) } else { None };
        let count = items.len() as i64;
        for item in items {
            let correlation_id = correlation_id(cx, &item)?;
            let input = input_of(item, copy_members(&base)?, &cx.get(DEFAULT_ITEM_INPUT_KEY)?);
            let id = cx.new_id();
            let child = StartChild { id, input, correlation_id, bookmark_id, begin: Begin::Later };
            cx.start_child(&definition_id, child)?;
            cx.check_for_interrupts();
        }
        if !waits {
            return cx.complete();
        }
        cx.set_memory(Memory::Count(count));
        Ok(())
    }

    fn resumed(&self, cx: &mut Execution<'_>, _bookmark: &Resumed, input: Option<&Value>) -> Result<(), Fault> {
        let Some(report) = crate::child::Report::read(input) else {
            // A fault would be worse: retrying it would dispatch all children again.
            cx.journal(EventKind::Note, Some(json!({ "ignored": "not the report of a child workflow" })));
            return Ok(());
        };
        cx.set_position(cx.position() - 1);
        let port = if report.is(SubStatus::Faulted) || report.refused().is_some() {
            cx.port(CHILD_FAULTED)
        } else if report.is(SubStatus::Finished) {
            cx.port(CHILD_COMPLETED)
        } else {
            None
        };
        if let Some(body) = port {
            cx.schedule(body, 0, vec![("ChildInstanceId".to_owned(), report.instance())])?;
        }
        end_with_the_last(cx)
    }

    fn child_completed(&self, cx: &mut Execution<'_>, _child: &Child, _outcomes: &Outcomes) -> Result<(), Fault> {
        end_with_the_last(cx)
    }
}

fn bookmark(cx: &mut Execution<'_>) -> Result<uuid::Uuid, Fault> {
    let parent = cx.instance_id();
    cx.create_bookmark(NewBookmark {
        payload: Some(json!({ "ParentInstanceId": parent.to_string() })),
        include_activity_instance: Some(true),
        auto_burn: false,
        auto_complete: false,
        ..NewBookmark::default()
    })
}

fn correlation_id(cx: &mut Execution<'_>, item: &Value) -> Result<Option<String>, Fault> {
    if !cx.has_input(CORRELATION_ID_FUNCTION) {
        return Ok(None);
    }
    let id = cx.evaluate_input_with(CORRELATION_ID_FUNCTION, "Item", copy(item)?)?;
    Ok(Some(to_text(&id)).filter(|id| !id.is_empty()))
}

fn input_of(item: Value, mut input: Map<String, Value>, key: &str) -> Map<String, Value> {
    match item {
        Value::Object(members) => input.extend(members),
        item => {
            input.insert(key.to_owned(), item);
        }
    }
    input
}

fn end_with_the_last(cx: &mut Execution<'_>) -> Result<(), Fault> {
    if cx.position() > 0 {
        return Ok(());
    }
    // Every child has reported; activities of the ports may still run.
    cx.drop_bookmarks();
    if cx.has_pending_work() {
        return Ok(());
    }
    cx.complete_with(Outcomes::Named(vec!["Completed".into(), "Done".into()]))
}
