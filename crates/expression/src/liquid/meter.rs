//! The resources that a template may use, and why it was stopped.

use std::cell::Cell;
use std::io;
use std::rc::Rc;
use std::time::Instant;

use chrono::{DateTime, Utc};
use liquid_core::model::ValueView;
use liquid_core::{Error, Runtime};
use serde_json::Value as Json;

use super::values::{weight, weight_of};
use crate::ScriptLimits;
use workflow_value::fault::Fault;
use workflow_value::value::{Bounds, too_deep};

/// Steps between two checks of the clock.
const STEPS_PER_CHECK: u32 = 256;

/// From this size in bytes, the meter asks the host for memory before it admits a value.
const LARGE: usize = 1 << 20;

/// Why a template was stopped.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum Stop {
    /// The template exceeded its time limit.
    Time,
    /// The template created more text or values than allowed.
    Memory,
    /// PostgreSQL has asked the query to end.
    Interrupt,
    /// A value is nested too deep.
    Depth,
}

impl Stop {
    /// The fault of the activity: 54000 beyond a limit, 57014 for an interrupt, 54001 for the depth.
    pub(super) fn fault(self, limits: &ScriptLimits) -> Fault {
        match self {
            Self::Time => Fault::new("54000", format!("Liquid took longer than {} ms", limits.time.as_millis())),
            Self::Memory => Fault::new("54000", format!("Liquid used more than {} kB", limits.memory >> 10)),
            Self::Interrupt => Fault::new("57014", "canceling Liquid due to user request"),
            Self::Depth => too_deep(),
        }
    }
}

/// Counts the resources that one rendering uses.
#[derive(Debug)]
pub(super) struct Meter {
    limits: ScriptLimits,
    now: DateTime<Utc>,
    deadline: Option<Instant>,
    steps: Cell<u32>,
    used: Cell<usize>,
    stop: Cell<Option<Stop>>,
}

impl Meter {
    pub(super) fn new(limits: &ScriptLimits, now: DateTime<Utc>) -> Self {
        let deadline = Instant::now().checked_add(limits.time);
        Self { limits: *limits, now, deadline, steps: Cell::new(0), used: Cell::new(0), stop: Cell::new(None) }
    }

    /// The instant of the burst, which the filter `date` uses for `now` and `today`.
    pub(super) fn now(&self) -> DateTime<Utc> {
        self.now
    }

    /// Why the rendering was stopped, if it was.
    pub(super) fn stopped(&self) -> Option<Stop> {
        self.stop.get()
    }

    /// Stops the rendering at its next step.
    pub(super) fn stop(&self, stop: Stop) {
        if self.stop.get().is_none() {
            self.stop.set(Some(stop));
        }
    }

    /// Counts a step that touches this many bytes.
    pub(super) fn step(&self, bytes: usize) -> liquid_core::Result<()> {
        let cost = u32::try_from(bytes >> 10).unwrap_or(STEPS_PER_CHECK).min(STEPS_PER_CHECK);
        let steps = self.steps.get() + 1 + cost;
        self.steps.set(steps);
        if steps >= STEPS_PER_CHECK {
            self.steps.set(0);
            self.check_interrupts();
        }
        match self.stop.get() {
            None => Ok(()),
            Some(_) => Err(Error::with_msg("stopped")),
        }
    }

    /// Checks for a query cancel and the deadline, and stops the rendering if necessary.
    pub(super) fn check_interrupts(&self) {
        if (self.limits.interrupted)() {
            self.stop(Stop::Interrupt);
        } else if self.deadline.is_some_and(|deadline| Instant::now() >= deadline) {
            self.stop(Stop::Time);
        }
    }

    /// Counts memory that a rendering keeps or creates.
    pub(super) fn charge(&self, bytes: usize) -> liquid_core::Result<()> {
        let used = self.used.get().saturating_add(bytes);
        self.used.set(used);
        if used > self.limits.memory {
            self.stop(Stop::Memory);
        }
        self.step(bytes)
    }

    /// Counts a value that was created.
    pub(super) fn charge_value(&self, value: &dyn ValueView) -> liquid_core::Result<()> {
        self.charge(weight(value, self.limits.memory))
    }

    /// Counts a value of the workflow before the template copies it. A value that is too large stops the rendering.
    pub(super) fn take_in(&self, value: &Json) {
        let bytes = weight_of(value, self.limits.memory);
        if bytes >= LARGE && !(Bounds::current().room)(bytes.saturating_mul(2)) {
            self.stop(Stop::Interrupt);
        }
        self.check_interrupts();
        self.charge(bytes).ok();
    }

    /// Fails if a single value of this size exceeds the limit.
    pub(super) fn allows(&self, bytes: usize) -> liquid_core::Result<()> {
        if bytes > self.limits.memory {
            self.stop(Stop::Memory);
        }
        self.step(0)
    }
}

/// Where filters and blocks find the meter of their rendering.
#[derive(Default)]
pub(super) struct Register(pub(super) Option<Rc<Meter>>);

/// The meter of the rendering that is running; an error if the rendering was stopped.
pub(super) fn meter(runtime: &dyn Runtime) -> liquid_core::Result<Rc<Meter>> {
    let register = runtime.registers().get_mut::<Register>();
    register.0.clone().ok_or_else(|| Error::with_msg("stopped"))
}

/// The text that a template produces.
pub(super) struct MeteredOutput {
    bytes: Vec<u8>,
    meter: Rc<Meter>,
}

impl MeteredOutput {
    pub(super) fn new(meter: Rc<Meter>) -> Self {
        Self { bytes: Vec::new(), meter }
    }

    pub(super) fn into_bytes(self) -> Vec<u8> {
        self.bytes
    }
}

impl io::Write for MeteredOutput {
    fn write(&mut self, buffer: &[u8]) -> io::Result<usize> {
        self.meter.charge(buffer.len()).map_err(|_| io::Error::other("stopped"))?;
        self.bytes.extend_from_slice(buffer);
        Ok(buffer.len())
    }

    fn flush(&mut self) -> io::Result<()> {
        Ok(())
    }
}
