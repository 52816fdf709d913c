//! The spans of bursts, and how OTLP writes them as JSON.
//!
//! An instance has a span when it ends, each burst one, and each wait one when it is resumed. The span of the instance
//! is the parent of the others. The journal has one time for each burst, so that of a burst takes no time.

use chrono::{DateTime, Utc};
use serde::Deserialize;
use serde_json::{Value, json};
use tokio_postgres::Row;
use uuid::Uuid;
use workflow_http::traceparent::{Span, Traceparent};

/// The flag of a trace that its beginner records.
const SAMPLED: u8 = 1;
/// `STATUS_CODE_ERROR` of OTLP.
const ERROR: u8 = 2;
/// `SPAN_KIND_INTERNAL` of OTLP.
const INTERNAL: u8 = 1;

/// A row of the journal, as `wf_take_spans` returns it.
#[derive(Debug)]
pub struct Burst {
    pub instance: Uuid,
    pub seq: u32,
    pub at: DateTime<Utc>,
    pub definition: String,
    pub version: i32,
    pub parent_instance: Option<Uuid>,
    /// What has started the instance, if it belongs to a trace.
    pub traceparent: Option<Traceparent>,
    /// When the instance was created.
    pub started_at: DateTime<Utc>,
    pub events: Vec<BurstEvent>,
}

/// An event of a burst.
#[derive(Debug, Deserialize)]
pub struct BurstEvent {
    pub event: String,
    pub activity: Option<String>,
    #[serde(rename = "type")]
    pub activity_type: Option<String>,
    pub bookmark: Option<Uuid>,
}

impl Burst {
    /// # Errors
    /// The row is not what the function returns.
    pub fn of(row: &Row) -> Result<Self, String> {
        Self::read(row).map_err(|error| error.to_string())
    }

    fn read(row: &Row) -> Result<Self, Box<dyn std::error::Error>> {
        let (seq, traceparent): (i32, Option<String>) = (row.try_get("seq")?, row.try_get("traceparent")?);
        Ok(Self {
            instance: row.try_get("instance_id")?,
            seq: u32::try_from(seq)?,
            at: row.try_get("at")?,
            definition: row.try_get("definition_id")?,
            version: row.try_get("version")?,
            parent_instance: row.try_get("parent_instance_id")?,
            traceparent: traceparent.and_then(|text| Traceparent::parse(&text)),
            started_at: row.try_get("started_at")?,
            events: events(&row.try_get::<_, String>("events")?),
        })
    }

    /// The id of the trace: without one, the instance is a trace of its own. `None`: nothing is to be sent, because the
    /// beginner of the trace does not record it, or because the id cannot be that of a trace.
    fn trace(&self) -> Option<u128> {
        match self.traceparent {
            Some(joined) => (joined.flags & SAMPLED != 0).then_some(joined.trace),
            None => Some(self.instance.as_u128()).filter(|id| *id != 0),
        }
    }

    fn spans(&self) -> Vec<Value> {
        let Some(trace) = self.trace() else { return Vec::new() };
        let mut spans = vec![self.burst(trace)];
        spans.extend(self.events.iter().filter_map(|event| self.wait(trace, event)));
        if self.events.iter().any(BurstEvent::ends_instance) {
            spans.push(self.instance(trace));
        }
        spans
    }

    fn burst(&self, trace: u128) -> Value {
        let mut span = self.span(trace, Span::Burst(self.instance, self.seq), &self.definition, self.at);
        span["attributes"] = json!([
            text("workflow.instance.id", &self.instance.to_string()),
            text("workflow.definition.id", &self.definition),
            number("workflow.definition.version", i64::from(self.version)),
            number("workflow.burst", i64::from(self.seq)),
        ]);
        span["events"] = self.events.iter().map(|event| self.span_event(event)).collect();
        if self.events.iter().any(|event| event.event == "Faulted") {
            span["status"] = json!({ "code": ERROR });
        }
        span
    }

    fn span_event(&self, event: &BurstEvent) -> Value {
        let attributes = [("workflow.activity.id", &event.activity), ("workflow.activity.type", &event.activity_type)];
        let attributes = attributes.into_iter().filter_map(|(key, value)| Some(text(key, value.as_ref()?)));
        json!({ "timeUnixNano": nanos(self.at), "name": event.event, "attributes": attributes.collect::<Vec<_>>() })
    }

    /// The wait that an event has ended. A bookmark's id contains when it was created.
    fn wait(&self, trace: u128, event: &BurstEvent) -> Option<Value> {
        let bookmark = event.bookmark.filter(|_| event.event == "Resumed")?;
        let (seconds, nanos) = bookmark.get_timestamp()?.to_unix();
        let since = DateTime::from_timestamp(i64::try_from(seconds).ok()?, nanos)?;
        let activity = event.activity.as_deref().unwrap_or_default();
        let name = format!("wait: {activity}");
        let mut span = self.span(trace, Span::Wait(bookmark), &name, since.min(self.at));
        span["attributes"] = json!([
            text("workflow.instance.id", &self.instance.to_string()),
            text("workflow.bookmark.id", &bookmark.to_string()),
            text("workflow.activity.id", activity),
            text("workflow.activity.type", event.activity_type.as_deref().unwrap_or_default()),
        ]);
        Some(span)
    }

    /// The whole run. A child outside of the trace of its parent has a link to it.
    fn instance(&self, trace: u128) -> Value {
        let name = format!("{} version {}", self.definition, self.version);
        let mut span = self.span(trace, Span::Instance(self.instance), &name, self.started_at.min(self.at));
        if let Some(members) = span.as_object_mut() {
            members.remove("parentSpanId");
        }
        if let Some(joined) = self.traceparent {
            span["parentSpanId"] = hex(joined.parent).into();
        } else if let Some(parent) = self.parent_instance.filter(|id| !id.is_nil()) {
            let link = json!({ "traceId": parent.simple().to_string(), "spanId": hex(Span::Instance(parent).id()) });
            span["links"] = json!([link]);
        }
        span["attributes"] = json!([
            text("workflow.instance.id", &self.instance.to_string()),
            text("workflow.definition.id", &self.definition),
            number("workflow.definition.version", i64::from(self.version)),
        ]);
        span
    }

    /// A span below that of the instance, which ends with the burst.
    fn span(&self, trace: u128, span: Span, name: &str, begun: DateTime<Utc>) -> Value {
        json!({
            "traceId": format!("{trace:032x}"),
            "spanId": hex(span.id()),
            "parentSpanId": hex(Span::Instance(self.instance).id()),
            "name": name,
            "kind": INTERNAL,
            "startTimeUnixNano": nanos(begun),
            "endTimeUnixNano": nanos(self.at),
        })
    }
}

impl BurstEvent {
    fn ends_instance(&self) -> bool {
        matches!(self.event.as_str(), "Workflow finished" | "Workflow cancelled" | "Workflow continued")
    }
}

/// The events of a row. Those that cannot be read are left out, because the row would stop the export for ever.
fn events(text: &str) -> Vec<BurstEvent> {
    serde_json::from_str(text).unwrap_or_else(|error| {
        tracing::error!(cause = %error, "a span is sent without its events, which cannot be read");
        Vec::new()
    })
}

/// The body of a request with the spans of bursts. `None`: they have none.
pub fn request(bursts: &[Burst]) -> Option<Vec<u8>> {
    let spans: Vec<Value> = bursts.iter().flat_map(Burst::spans).collect();
    let request = json!({ "resourceSpans": [{
        "resource": { "attributes": [text("service.name", "workflow")] },
        "scopeSpans": [{ "scope": { "name": "workflow", "version": env!("CARGO_PKG_VERSION") }, "spans": spans }],
    }] });
    (!spans.is_empty()).then(|| request.to_string().into_bytes())
}

fn text(key: &str, value: &str) -> Value {
    json!({ "key": key, "value": { "stringValue": value } })
}

/// JSON has 64-bit numbers of OTLP as text.
fn number(key: &str, value: i64) -> Value {
    json!({ "key": key, "value": { "intValue": value.to_string() } })
}

fn hex(id: u64) -> String {
    format!("{id:016x}")
}

fn nanos(at: DateTime<Utc>) -> String {
    at.timestamp_nanos_opt().unwrap_or_default().max(0).to_string()
}

#[cfg(test)]
mod tests {
    use super::*;

    const TRACE: &str = "00-4bf92f3577b34da6a3ce929d0e0e4736-00f067aa0ba902b7-01";
    /// UUID version 7 of 2026-01-01 00:00:00 UTC.
    const BOOKMARK: &str = "019b76da-a800-7000-8000-000000000001";

    fn burst(traceparent: Option<&str>, events: Value) -> Burst {
        Burst {
            instance: Uuid::from_u128(0x0190_0000_0000_7000_8000_0000_0000_0010),
            seq: 3,
            at: "2026-01-01T00:00:02Z".parse().unwrap(),
            definition: "order".into(),
            version: 7,
            parent_instance: Some(Uuid::from_u128(9)),
            traceparent: traceparent.and_then(Traceparent::parse),
            started_at: "2025-12-31T00:00:00Z".parse().unwrap(),
            events: serde_json::from_value(events).unwrap(),
        }
    }

    fn events() -> Value {
        json!([
            {"event": "Resumed", "activity": "Paid", "type": "Event", "bookmark": BOOKMARK},
            {"event": "Faulted", "activity": "Ship"},
            {"event": "Workflow finished"},
        ])
    }

    #[test]
    fn a_burst_has_spans_of_itself_of_its_waits_and_of_what_it_ends() {
        let spans = burst(Some(TRACE), events()).spans();
        let [one, wait, run] = &spans[..] else { panic!("not three spans: {spans:?}") };
        let of_run = hex(Span::Instance(burst(None, json!([])).instance).id());
        for span in [one, wait, run] {
            assert_eq!(span["traceId"], "4bf92f3577b34da6a3ce929d0e0e4736");
            assert_eq!(span["endTimeUnixNano"], "1767225602000000000");
        }
        assert_eq!((&one["parentSpanId"], &wait["parentSpanId"]), (&json!(of_run), &json!(of_run)));
        assert_eq!((&run["spanId"], &run["parentSpanId"]), (&json!(of_run), &json!("00f067aa0ba902b7")));
        assert_eq!(
            (&one["name"], &wait["name"], &run["name"]),
            (&json!("order"), &json!("wait: Paid"), &json!("order version 7"))
        );
        assert_eq!(one["events"][1]["name"], "Faulted");
        assert_eq!(one["status"], json!({"code": 2}));
        assert_eq!(wait["startTimeUnixNano"], "1767225600000000000");
        assert_eq!(run["startTimeUnixNano"], "1767139200000000000");
        assert!(run.get("links").is_none());
    }

    #[test]
    fn events_that_cannot_be_read_are_left_out() {
        assert_eq!(super::events(r#"[{"event": "Faulted"}]"#).len(), 1);
        assert!(super::events(r#"[{"event": 1}]"#).is_empty());
    }

    #[test]
    fn an_instance_without_a_trace_is_one_itself() {
        let spans = burst(None, events()).spans();
        let run = spans.last().unwrap();
        assert_eq!(run["traceId"], "01900000000070008000000000000010");
        assert!(run.get("parentSpanId").is_none());
        assert_eq!(run["links"][0]["traceId"], "00000000000000000000000000000009");
    }

    #[test]
    fn a_trace_that_is_not_recorded_is_not_sent() {
        let unrecorded = burst(Some(&TRACE.replace("-01", "-00")), events());
        assert!(request(&[unrecorded]).is_none());
        assert!(request(&[burst(Some(TRACE), json!([]))]).is_some());
    }
}
