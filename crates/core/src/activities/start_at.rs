//! `StartAt`: waits for an instant, or starts the workflow at it.

use chrono::{DateTime, Utc};
use serde_json::{Value, json};

use crate::activities::timing;
use crate::activities::timing::{read_instant, schedule, wait, zone};
use crate::activity::{Activity, Descriptor, Input, InputDescriptor, NonEmpty, WaitKind};
use crate::execution::Execution;
use crate::journal::EventKind;
use workflow_http::stimulus;
use workflow_value::calendar::{Schedule, When};
use workflow_value::fault::{Fault, shorten};
use workflow_value::value::instant_text;

/// Waits until an instant; as a trigger, it starts the workflow then.
#[derive(Debug)]
pub struct StartAt;

/// The activity's own input.
const DATE_TIME: Input<NonEmpty> = timing::OWN;

static DESCRIPTOR: Descriptor = Descriptor {
    type_name: stimulus::START_AT.name,
    category: "Scheduling",
    description: "Waits until a time, or starts the workflow at that time (canStartWorkflow). It does not wait for a time in the past.",
    inputs: &timing::inputs(
        InputDescriptor::new("dateTime", "DateTime", "The time. Without an offset it is in the time zone.").needed(),
    ),
    trigger: true,
    example: r#"{"type": "StartAt", "dateTime": "2027-01-01 09:00", "timeZone": "Europe/Berlin"}"#,
    waits: WaitKind::Always,
    ..Descriptor::BASE
};

impl Activity for StartAt {
    fn descriptor(&self) -> &'static Descriptor {
        &DESCRIPTOR
    }

    fn execute(&self, cx: &mut Execution<'_>) -> Result<(), Fault> {
        if cx.is_trigger() {
            return cx.complete();
        }
        let at = instant(cx)?;
        if at <= cx.instant() {
            cx.journal(EventKind::Note, Some(stimulus(at)));
            return cx.complete();
        }
        wait(cx, at, stimulus(at))
    }

    fn trigger_payloads(&self, cx: &mut Execution<'_>) -> Result<Vec<Option<Value>>, Fault> {
        Ok(vec![Some(stimulus(instant(cx)?))])
    }

    fn schedule(&self, cx: &mut Execution<'_>) -> Result<Option<Schedule>, Fault> {
        let at = instant(cx)?;
        schedule(cx, When::At(at)).map(Some)
    }
}

fn instant(cx: &Execution<'_>) -> Result<DateTime<Utc>, Fault> {
    let text = cx.get(DATE_TIME)?;
    match read_instant(&text, zone(cx)?.as_ref())? {
        Some(at) => Ok(at),
        None => Err(Fault::new("22007", format!("invalid date and time: \"{}\"", shorten(&text, 60)))),
    }
}

fn stimulus(at: DateTime<Utc>) -> Value {
    json!({ "ExecuteAt": instant_text(at) })
}
