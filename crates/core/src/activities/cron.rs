//! `Cron`: starts the workflow at the instants of a cron expression, or waits for the next of them.

use serde_json::{Value, json};

use crate::activities::timing;
use crate::activities::timing::{check_cron, cron, first_after_now, out_of_range, schedule, wait};
use crate::activity::{Activity, Descriptor, Input, InputDescriptor, NonEmpty, WaitKind};
use crate::execution::Execution;
use workflow_http::stimulus;
use workflow_value::calendar::{Schedule, When};
use workflow_value::fault::Fault;
use workflow_value::value::instant_text;

/// Fires at the instants of a cron expression.
#[derive(Debug)]
pub struct Cron;

/// The activity's own input.
const CRON_EXPRESSION: Input<NonEmpty> = timing::OWN;

static DESCRIPTOR: Descriptor = Descriptor {
    type_name: stimulus::CRON.name,
    category: "Scheduling",
    description: "Starts the workflow at the times of a cron expression (canStartWorkflow), or waits for the next of them.",
    inputs: &timing::inputs(
        InputDescriptor::new("cronExpression", "String", "Five fields, or six with seconds first: 0 3 * * MON-FRI.")
            .checked(check_cron)
            .needed(),
    ),
    trigger: true,
    example: r#"{"type": "Cron", "cronExpression": "0 3 * * MON-FRI", "timeZone": "Europe/Berlin", "canStartWorkflow": true}"#,
    waits: WaitKind::Always,
    ..Descriptor::BASE
};

impl Activity for Cron {
    fn descriptor(&self) -> &'static Descriptor {
        &DESCRIPTOR
    }

    fn execute(&self, cx: &mut Execution<'_>) -> Result<(), Fault> {
        if cx.is_trigger() {
            return cx.complete();
        }
        let text = expression(cx)?;
        let rule = schedule(cx, When::Cron(text.clone()))?;
        let at = first_after_now(cx, &rule)?.ok_or_else(out_of_range)?;
        wait(cx, at, json!({ "ExecuteAt": instant_text(at), "CronExpression": text }))
    }

    fn trigger_payloads(&self, cx: &mut Execution<'_>) -> Result<Vec<Option<Value>>, Fault> {
        Ok(vec![Some(json!({ "CronExpression": expression(cx)? }))])
    }

    fn schedule(&self, cx: &mut Execution<'_>) -> Result<Option<Schedule>, Fault> {
        let text = expression(cx)?;
        schedule(cx, When::Cron(text)).map(Some)
    }
}

fn expression(cx: &Execution<'_>) -> Result<String, Fault> {
    let text = cx.get(CRON_EXPRESSION)?;
    cron(&text)?;
    Ok(text)
}
