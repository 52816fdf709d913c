//! `Delay`: waits for a span of time.

use serde_json::{Value, json};

use crate::activities::timing;
use crate::activities::timing::{check_interval, interval, out_of_range, wait, zone};
use crate::activity::handle::inputs;
use crate::activity::{Activity, Descriptor, InputDescriptor, NonEmpty, WaitKind};
use crate::execution::Execution;
use workflow_http::stimulus;
use workflow_value::fault::Fault;
use workflow_value::value::instant_text;

/// Waits for a span of time.
#[derive(Debug)]
pub struct Delay;

inputs! {
    TIME_SPAN: NonEmpty = InputDescriptor::new("timeSpan", "TimeSpan", "The interval.")
        .default("\"00:01:00\"")
        .checked(check_interval)
        .needed(),
    TIME_ZONE: Value = timing::TIME_ZONE,
}

// `timing::zone` reads the time zone at this position.
const _: () = assert!(TIME_ZONE.index == timing::ZONE_NAME.index);

static DESCRIPTOR: Descriptor = Descriptor {
    type_name: stimulus::DELAY.name,
    category: "Scheduling",
    description: "Waits for an interval: 00:05:00, 1 day 2 hours or P1DT2H. With an interval that is not positive it does not wait.",
    inputs: INPUTS,
    example: r#"{"type": "Delay", "timeSpan": "3 days"}"#,
    waits: WaitKind::Always,
    ..Descriptor::BASE
};

impl Activity for Delay {
    fn descriptor(&self) -> &'static Descriptor {
        &DESCRIPTOR
    }

    fn execute(&self, cx: &mut Execution<'_>) -> Result<(), Fault> {
        cx.get(TIME_SPAN)?;
        let span = interval(cx.peek(TIME_SPAN))?;
        let zone = zone(cx)?;
        let at = span.after(cx.instant(), zone.as_ref()).ok_or_else(out_of_range)?;
        if at <= cx.instant() {
            return cx.complete();
        }
        wait(cx, at, json!({ "ResumeAt": instant_text(at) }))
    }
}
