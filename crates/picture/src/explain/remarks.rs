//! Remarks of a picture on waiting activities: attempts, leases and timeouts, in the words of the explanation.

use serde_json::Value;

use super::{Explanation, GivenUp, Lease, MAX_VALUE, OpenBookmark};
use crate::picture::text::one_line;
use workflow_core::NodeIx;
use workflow_http::stimulus;

impl Explanation<'_> {
    /// The remarks on waiting activities. An activity can have several.
    pub fn remarks(&self, waits: &[OpenBookmark]) -> Vec<(NodeIx, String)> {
        let remark = |wait: &OpenBookmark| Some((*self.by_path.get(wait.node_id.as_str())?, self.remark(wait)?));
        waits.iter().filter_map(remark).collect()
    }

    fn remark(&self, wait: &OpenBookmark) -> Option<String> {
        let said = self.given_up(wait).or_else(|| self.limit(wait));
        said.or_else(|| self.attempts(wait.lease.as_ref()?))
    }

    /// Describes that the workers gave up a bookmark, after how many attempts, and why.
    pub(super) fn given_up(&self, wait: &OpenBookmark) -> Option<String> {
        let GivenUp { at, error, .. } = wait.given_up.as_ref()?;
        let tried =
            if wait.attempts > 0 { format!(" after it failed {}", times(wait.attempts)) } else { String::new() };
        Some(format!("given up at {}{tried}: {}", self.time(*at), one_line(error, MAX_VALUE)))
    }

    /// Describes until when an activity may continue as it does.
    pub(super) fn limit(&self, wait: &OpenBookmark) -> Option<String> {
        let words = match wait.name.as_str() {
            stimulus::TIMEOUT => "may take until",
            stimulus::DEADLINE => "has its deadline at",
            stimulus::START_TIMEOUT => "must be claimed until",
            stimulus::LEASE => "faults without an answer until",
            _ => return None,
        };
        Some(format!("{words} {}", self.time(wait.due?)))
    }

    /// Describes the attempts so far, and who makes the current one.
    pub(super) fn attempts(&self, lease: &Lease) -> Option<String> {
        let attempt = lease.attempt;
        if let Some(until) = lease.until {
            let worker = lease.worker.as_ref().map(|name| format!(" \"{}\"", one_line(name, MAX_VALUE)));
            let (worker, until) = (worker.unwrap_or_default(), self.time(until));
            return Some(format!("worker{worker} holds it until {until}, attempt {attempt}"));
        }
        if let Some(at) = lease.again_at {
            return Some(format!("attempt {attempt} failed, the next one can begin at {}", self.time(at)));
        }
        (attempt > 0).then(|| format!("it was tried {} before", times(attempt)))
    }
}

/// A number of times, in words.
pub(super) fn times(count: u32) -> String {
    if count == 1 { "once".to_owned() } else { format!("{count} times") }
}

/// Describes an activity that still waits at the end of its flowchart.
pub(super) fn left_waiting(data: &Value) -> String {
    let number = |member: &str| data.get(member).and_then(Value::as_u64).unwrap_or_default();
    let id = data.get("activity_id").and_then(Value::as_str).unwrap_or_default();
    format!("\"{id}\" does not run: {} of its {} connections were followed", number("followed"), number("connections"))
}
