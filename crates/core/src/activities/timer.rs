//! `Timer`: starts the workflow at regular intervals, or waits for one of them.

use serde_json::{Value, json};

use crate::activities::timing;
use crate::activities::timing::{check_positive, first_after_now, out_of_range, positive_interval};
use crate::activities::timing::{schedule, wait};
use crate::activity::{Activity, Descriptor, Input, InputDescriptor, NonEmpty, WaitKind};
use crate::execution::Execution;
use workflow_http::stimulus;
use workflow_value::calendar::{Interval, Schedule, When};
use workflow_value::fault::Fault;
use workflow_value::value::instant_text;

/// Fires at regular intervals.
#[derive(Debug)]
pub struct Timer;

/// The activity's own input.
const INTERVAL: Input<NonEmpty> = timing::OWN;

static DESCRIPTOR: Descriptor = Descriptor {
    type_name: stimulus::TIMER.name,
    category: "Scheduling",
    description: "Starts the workflow at regular intervals (canStartWorkflow), or waits for one interval.",
    inputs: &timing::inputs(
        InputDescriptor::new("interval", "TimeSpan", "The interval between two fires.")
            .default("\"00:01:00\"")
            .checked(check_positive)
            .needed(),
    ),
    trigger: true,
    example: r#"{"type": "Timer", "interval": "00:15:00", "canStartWorkflow": true, "overlap": "skip"}"#,
    waits: WaitKind::Always,
    ..Descriptor::BASE
};

impl Activity for Timer {
    fn descriptor(&self) -> &'static Descriptor {
        &DESCRIPTOR
    }

    fn execute(&self, cx: &mut Execution<'_>) -> Result<(), Fault> {
        if cx.is_trigger() {
            return cx.complete();
        }
        let rule = every(cx)?;
        let at = first_after_now(cx, &rule)?.ok_or_else(out_of_range)?;
        wait(cx, at, json!({ "ResumeAt": instant_text(at) }))
    }

    /// The payload omits the instant of the first fire, because it would differ at each publication. The schedule
    /// contains that instant.
    fn trigger_payloads(&self, cx: &mut Execution<'_>) -> Result<Vec<Option<Value>>, Fault> {
        let interval = interval(cx)?;
        Ok(vec![Some(json!({ "Interval": interval.to_time_span() }))])
    }

    fn schedule(&self, cx: &mut Execution<'_>) -> Result<Option<Schedule>, Fault> {
        every(cx).map(Some)
    }
}

fn interval(cx: &Execution<'_>) -> Result<Interval, Fault> {
    cx.get(INTERVAL)?;
    positive_interval(cx.peek(INTERVAL))
}

fn every(cx: &Execution<'_>) -> Result<Schedule, Fault> {
    let interval = interval(cx)?;
    schedule(cx, When::Every { interval, start: cx.instant() })
}
