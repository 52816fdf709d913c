//! Changes of the instance as a whole by an operator: of its owner, or of its definition version.

use serde_json::Value;

use super::pause::with_reason;
use workflow_core::journal::EventKind;

/// Describes the change and who made it.
pub(super) fn describe(kind: EventKind, by: &str, data: Option<&Value>) -> String {
    let text = |key| data.and_then(|data| data.get(key)).and_then(Value::as_str).unwrap_or_default();
    let number = |key| data.and_then(|data| data.get(key)).and_then(Value::as_i64).unwrap_or_default();
    match kind {
        EventKind::Migrated => {
            let moved = format!("moved from version {} to version {} by {by}", number("from"), number("to"));
            with_reason(&moved, data.and_then(|data| data.get("reason")))
        }
        _ => format!("given from {} to {} by {by}", text("from"), text("to")),
    }
}
