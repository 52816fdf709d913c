//! The requirements of an endpoint that a request must meet before its workflow runs, read from the payload.

use serde_json::{Map, Value, json};

use super::route::Route;
use workflow_value::calendar::Interval;
use workflow_value::fault::Fault;
use workflow_value::value::{copy_members, to_text};

/// Microseconds per day.
const DAY: i64 = 86_400_000_000;

/// The settings of an endpoint.
#[derive(Clone, Debug, Default, PartialEq)]
pub struct Endpoint {
    /// Whether the endpoint checks who calls it.
    pub authorize: bool,
    /// The role whose members may call it, if the payload names one.
    pub policy: Option<String>,
    /// Time limit of the workflow, in milliseconds.
    pub timeout: Option<u64>,
    /// Maximum size of a body, in bytes.
    pub size_limit: Option<u64>,
}

impl Endpoint {
    /// Reads the payload of a trigger or a bookmark. A missing setting means no requirement.
    pub fn of(payload: &Value) -> Self {
        let text = |key: &str| payload.get(key).map(to_text).filter(|text| !text.is_empty());
        Self {
            authorize: payload.get("Authorize").and_then(Value::as_bool).unwrap_or_default(),
            policy: text("Policy"),
            timeout: text("RequestTimeout").and_then(|text| milliseconds(&text)),
            size_limit: text("RequestSizeLimit").and_then(|text| text.parse().ok()),
        }
    }
}

/// The route under which an endpoint's payload is indexed; `None` if it has none.
pub fn route_of(payload: &Value) -> Option<Route> {
    payload.get("Route").and_then(Value::as_str).and_then(Route::read)
}

/// The payload of an endpoint in Elsa's fields, with its route for the index.
pub fn payload(path: &str, method: &str, settings: &Map<String, Value>) -> Result<Value, Fault> {
    let route = Route::new(path, method)?;
    let mut payload = Map::from_iter([
        ("Path".to_owned(), json!(route.path())),
        ("Method".to_owned(), json!(route.method())),
        ("Route".to_owned(), json!(route.key())),
    ]);
    payload.extend(copy_members(settings)?);
    Ok(Value::Object(payload))
}

/// A span in milliseconds, at least one; a month has 30 days, as when PostgreSQL compares intervals.
fn milliseconds(text: &str) -> Option<u64> {
    let Interval { months, days, micros } = Interval::parse(text).ok()?;
    let days = i64::from(months) * 30 + i64::from(days);
    let micros = days.saturating_mul(DAY).saturating_add(micros);
    Some(u64::try_from(micros / 1000).unwrap_or_default().max(1))
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_payload_gives_its_settings_back() {
        let settings =
            json!({"Authorize": true, "Policy": "clerk", "RequestTimeout": "00:00:01.5", "RequestSizeLimit": 10});
        let Value::Object(settings) = settings else { panic!("an object") };
        let made = payload("/Orders/{Id}", "POST", &settings).expect("a payload");
        assert_eq!(made["Path"], "/orders/{id}");
        assert_eq!(made["Method"], "post");
        assert_eq!(route_of(&made), Route::new("Orders/{Id}", "post").ok());
        let expected =
            Endpoint { authorize: true, policy: Some("clerk".into()), timeout: Some(1_500), size_limit: Some(10) };
        assert_eq!(Endpoint::of(&made), expected);
        assert_eq!(Endpoint::of(&json!({})), Endpoint::default());
    }

    #[test]
    fn spans_are_counted_in_milliseconds() {
        for (text, expected) in [("1 day", Some(86_400_000)), ("00:00:00.0001", Some(1)), ("soon", None)] {
            assert_eq!(milliseconds(text), expected);
        }
    }
}
