//! `Delay`: waits for a span of time.

use serde_json::json;

use crate::activities::timing::{TIME_ZONE, check_interval, instant_text, interval, out_of_range, wait, zone};
use crate::activity::{Activity, Descriptor, InputDescriptor};
use crate::execution::Execution;
use crate::fault::Fault;

/// Waits for a span of time.
#[derive(Debug)]
pub struct Delay;

static DESCRIPTOR: Descriptor = Descriptor {
    type_name: "Elsa.Delay",
    description: "Waits for a span of time: 00:05:00, 1 day 2 hours or P1DT2H. One that is not positive does not wait.",
    inputs: &[
        InputDescriptor::new("timeSpan", "TimeSpan", "How long.")
            .default("\"00:01:00\"")
            .checked(check_interval)
            .needed(),
        TIME_ZONE,
    ],
    example: r#"{"type": "Delay", "timeSpan": "3 days"}"#,
    ..Descriptor::BASE
};

impl Activity for Delay {
    fn descriptor(&self) -> &'static Descriptor {
        &DESCRIPTOR
    }

    fn execute(&self, cx: &mut Execution<'_>) -> Result<(), Fault> {
        cx.required_text(0)?;
        let span = interval(cx.input(0))?;
        let zone = zone(cx)?;
        let at = span.after(cx.instant(), zone.as_ref()).ok_or_else(out_of_range)?;
        if at <= cx.instant() {
            return cx.complete();
        }
        wait(cx, at, json!({ "ResumeAt": instant_text(at) }))
    }
}
