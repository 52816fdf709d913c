//! The pause of an instance in an explanation.

use chrono::{DateTime, Utc};
use serde_json::Value;

use super::{Explanation, MAX_VALUE};
use crate::picture::text::one_line;
use workflow_core::journal::EventKind;

/// The current pause of the instance.
#[derive(Clone, Debug, Default)]
pub struct Pause {
    /// When the instance was paused.
    pub since: DateTime<Utc>,
    /// Name of the role that paused it.
    pub by: String,
    /// The reason given in that call, if any.
    pub reason: Option<String>,
    /// Whether a call has ended it, and a session of the owner still has to deliver what was kept.
    pub is_ending: bool,
}

impl Explanation<'_> {
    /// Records that the instance is paused now.
    pub fn paused(&mut self, pause: Pause) {
        self.pause = Some(pause);
    }

    /// Adds that nothing continues, and the call that ends the pause.
    pub(super) fn is_paused(&mut self, pause: &Pause) {
        let reason = pause.reason.as_ref().map(|reason| format!(": {}", one_line(reason, MAX_VALUE)));
        let (since, by) = (self.time(pause.since), one_line(&pause.by, MAX_VALUE));
        self.add_line(format!("it is paused since {since} by {by}{}", reason.unwrap_or_default()));
        self.add_line(match pause.is_ending {
            true => "    it goes on in a session of its owner".to_owned(),
            false => format!("    SELECT * FROM wf_unpause('{}');", self.instance.id),
        });
    }
}

/// Describes the start or end of a pause.
pub(super) fn describe(kind: EventKind, by: &str, data: Option<&Value>) -> String {
    let member = |name| data.and_then(|data| data.get(name));
    match kind {
        EventKind::Unpaused => format!("its pause was ended by {by}"),
        _ => with_reason(&format!("paused by {by}"), member("reason")),
    }
}

/// Describes what happened to the instance, with the reason if one was given.
pub(super) fn with_reason(what: &str, reason: Option<&Value>) -> String {
    match reason.and_then(Value::as_str) {
        Some(reason) => format!("{what}: {}", one_line(reason, MAX_VALUE)),
        None => what.into(),
    }
}
