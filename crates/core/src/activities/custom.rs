//! Custom activities: a user's SQL function receives a context and returns what the activity does.

use serde_json::Value;

use crate::activity::{Activity, Descriptor, FurtherOutcomes, WaitKind};
use crate::bookmark::Resumed;
use crate::execution::Execution;
use crate::execution::callback::{apply, context, invalid};
use crate::host::Function;
use crate::journal::EventKind;
use workflow_value::fault::Fault;
use workflow_value::value::copy_or_null;

/// Calls the handler that is registered for the activity's type.
#[derive(Debug)]
pub struct Custom;

static DESCRIPTOR: Descriptor = Descriptor {
    type_name: "Custom",
    category: "Custom",
    description: "An activity type that was registered with wf_register_activity.",
    trigger: true,
    container: false,
    uses_sql: true,
    example: r#"{"type": "Custom"}"#,
    further_outcomes: FurtherOutcomes::Any,
    waits: WaitKind::Perhaps,
    ..Descriptor::BASE
};

impl Activity for Custom {
    fn descriptor(&self) -> &'static Descriptor {
        &DESCRIPTOR
    }

    fn execute(&self, cx: &mut Execution<'_>) -> Result<(), Fault> {
        let mut context = context(cx)?;
        if let Some(Value::Object(inputs)) = context.get("inputs") {
            cx.journal_values(EventKind::InputsEvaluated, inputs.clone());
        }
        if cx.is_trigger() {
            context.insert("input".into(), cx.trigger_input());
        }
        let handler = Function::Handler(&cx.node().type_name);
        let result = cx.call(handler, &Value::Object(context))?;
        apply(cx, result)
    }

    fn resumed(&self, cx: &mut Execution<'_>, bookmark: &Resumed, input: Option<&Value>) -> Result<(), Fault> {
        if !bookmark.auto_complete {
            let waits = !bookmark.auto_burn || cx.has_bookmarks();
            let lost = || invalid("the resumed bookmark was the last of its activity, and does not complete it");
            return if waits { Ok(()) } else { Err(lost().hint("Give a bookmark without autoComplete a callback.")) };
        }
        cx.set_custom_output("result", input.map(copy_or_null).unwrap_or_default())?;
        cx.complete()
    }

    fn trigger_payloads(&self, cx: &mut Execution<'_>) -> Result<Vec<Option<Value>>, Fault> {
        let context = Value::Object(context(cx)?);
        let payloads = cx.payloads(&context)?;
        Ok(payloads.into_iter().map(|payload| Some(payload).filter(|p| !p.is_null())).collect())
    }
}
