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
            stimulus::REMINDER => "reminds at",
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

/// The members of a note about people who are notified of a task, or asked at its deadline.
const OF_PEOPLE: [&str; 3] = ["notSent", "noManager", "notTold"];

/// Whether a note is about people.
pub(super) fn is_about_people(data: &Value) -> bool {
    OF_PEOPLE.iter().any(|member| data.get(member).is_some())
}

/// Describes that a notice was not sent, or who has no address or no manager.
pub(super) fn of_people(data: &Value) -> String {
    let text = |member: &str| data.get(member).and_then(Value::as_str).map(|text| one_line(text, MAX_VALUE));
    let reason = || text("reason").unwrap_or_default();
    if let Some(why) = text("notSent") {
        return format!("nobody is notified that the task was {}: {why}", reason());
    }
    let (member, lack) = match data.get("noManager") {
        Some(_) => ("noManager", "manager".to_owned()),
        None => ("notTold", format!("mail address, so not notified that the task was {}", reason())),
    };
    let names = data.get(member).and_then(Value::as_array).into_iter().flatten().filter_map(Value::as_str);
    let names = one_line(&names.collect::<Vec<_>>().join(", "), MAX_VALUE);
    let who = if names.is_empty() { "nobody is asked who could have a".to_owned() } else { format!("{names}: no") };
    let why = text("why").map(|why| format!(" ({why})")).unwrap_or_default();
    format!("{who} {lack}{why}")
}
