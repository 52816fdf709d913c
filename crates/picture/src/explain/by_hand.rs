//! Manual changes of an instance.

use serde_json::Value;

use super::{Explanation, value};
use workflow_core::journal::Event;

impl Explanation<'_> {
    /// Who was assigned the task of an activity, and by whom.
    pub(super) fn assigned(&self, event: &Event, data: Option<&Value>) -> String {
        let member = |name| data.and_then(|data| data.get(name)).map(value);
        let (who, by) = (self.who(&event.activity_id, &event.activity_type), self.by(data));
        match (member("to"), member("from")) {
            (Some(to), None) => format!("{who} was assigned to {to} by {by}"),
            (Some(to), Some(from)) => format!("{who} was assigned to {to} instead of {from} by {by}"),
            (None, from) => format!("{who} was taken from {} by {by}", from.unwrap_or_default()),
        }
    }

    /// What an operator changed manually, and why.
    pub(super) fn altered(&self, event: &Event, data: Option<&Value>) -> String {
        let member = |name| data.and_then(|data| data.get(name)).map(value);
        let text = |name| member(name).unwrap_or_default();
        let by = self.by(data);
        let what = || match event.activity_id.as_str() {
            "" => String::new(),
            _ => self.who(&event.activity_id, &event.activity_type),
        };
        let line = match data.and_then(|data| data.get("type")).and_then(Value::as_str).unwrap_or_default() {
            "ModifyVariable" => {
                let of = if event.activity_id.is_empty() { String::new() } else { format!(" of {}", what()) };
                format!("{by} set variable {}{of} from {} to {}", text("variable"), text("from"), text("to"))
            }
            "ScheduleActivity" => format!("{by} scheduled {}", what()),
            "CancelActivity" => format!("{by} cancelled {}", what()),
            "OverrideTask" => {
                let answer = self.act.as_ref().and_then(|act| act.answer.as_ref());
                let unused = answer.filter(|answer| !answer.is_used);
                let unused = unused.map(|_| ", but it was cancelled before the answer took effect").unwrap_or_default();
                format!("{by} completed {} in place of the people whom it is for{unused}", what())
            }
            _ => format!("{by} cancelled the instance"),
        };
        match member("reason") {
            Some(reason) => format!("{line}: {reason}"),
            None => line,
        }
    }
}
