//! SignalR's JSON protocol: JSON records, each terminated by 0x1E.

use axum::extract::ws::{Message, Utf8Bytes, WebSocket};
use serde::Deserialize;
use serde_json::{Value, json};
use uuid::Uuid;

use crate::json;

/// Record separator.
const END: u8 = 0x1E;

/// Record types.
const INVOCATION: u64 = 1;
const COMPLETION: u64 = 3;
const PING: u64 = 6;
const CLOSE: u64 = 7;

/// The only method that clients invoke.
const OBSERVE: &str = "ObserveInstanceAsync";

/// A record from a client.
#[derive(Debug, PartialEq)]
pub enum Received {
    /// Observe this instance. A client that sends an invocation id waits for a reply.
    Observe { instance: Option<String>, invocation: Option<String> },
    /// An unknown method.
    Unknown { invocation: Option<String> },
    /// A keep-alive, or a record that needs no reply.
    Nothing,
    /// The client closes the connection.
    Close,
}

#[derive(Deserialize)]
#[serde(rename_all = "camelCase")]
struct Record {
    #[serde(rename = "type")]
    kind: u64,
    target: Option<String>,
    arguments: Option<Vec<Value>>,
    invocation_id: Option<String>,
}

/// Splits a message into records; `None` if it violates the protocol.
pub fn read(message: &[u8]) -> Option<Vec<Received>> {
    let records = message.strip_suffix(&[END])?.split(|byte| *byte == END);
    records.map(|record| json::parse(record).ok().map(received)).collect()
}

fn received(record: Record) -> Received {
    match record.kind {
        INVOCATION if record.target.as_deref().is_some_and(|target| target.eq_ignore_ascii_case(OBSERVE)) => {
            let instance = record.arguments.unwrap_or_default().into_iter().next();
            let instance = instance.and_then(|id| id.as_str().map(str::to_owned));
            Received::Observe { instance, invocation: record.invocation_id }
        }
        INVOCATION => Received::Unknown { invocation: record.invocation_id },
        CLOSE => Received::Close,
        _ => Received::Nothing,
    }
}

/// The handshake: the client names protocol and version, and gets an empty object or an error.
pub async fn shake_hands(socket: &mut WebSocket) -> bool {
    #[derive(Deserialize)]
    struct Handshake {
        protocol: String,
        version: u64,
    }
    let first = loop {
        match socket.recv().await {
            Some(Ok(Message::Ping(_) | Message::Pong(_))) => {}
            Some(Ok(message)) => break message.into_data(),
            _ => return false,
        }
    };
    let said = first.strip_suffix(&[END]).and_then(|record| json::parse::<Handshake>(record).ok());
    let is_known = said.is_some_and(|said| said.protocol == "json" && said.version == 1);
    let answer = if is_known { json!({}) } else { json!({"error": "this hub speaks version 1 of the JSON protocol"}) };
    socket.send(message(&answer)).await.is_ok() && is_known
}

/// The update sent to observers of a changed instance.
#[derive(Clone, Debug)]
pub struct Update {
    instance: Utf8Bytes,
    activities: Utf8Bytes,
}

impl Update {
    /// `stats` is JSON.
    pub fn new(instance: Uuid, stats: &str) -> Self {
        let changed = invocation("WorkflowInstanceUpdatedAsync", &json!({"workflowInstanceId": instance}).to_string());
        let activities = invocation("ActivityExecutionLogUpdatedAsync", &format!(r#"{{"stats":{stats}}}"#));
        Self { instance: changed, activities }
    }

    /// The journal comes first, as in elsa-server.
    pub fn into_messages(self) -> [Message; 3] {
        let journal = invocation("WorkflowExecutionLogUpdatedAsync", "{}");
        [journal, self.instance, self.activities].map(Message::Text)
    }
}

fn invocation(target: &str, argument: &str) -> Utf8Bytes {
    format!("{{\"type\":{INVOCATION},\"target\":\"{target}\",\"arguments\":[{argument}]}}\u{1e}").into()
}

fn message(record: &Value) -> Message {
    Message::Text(format!("{record}\u{1e}").into())
}

pub fn ping() -> Message {
    message(&json!({"type": PING}))
}

/// The reply to an invocation.
pub fn completion(invocation: &str, problem: Option<&str>) -> Message {
    let mut record = json!({"type": COMPLETION, "invocationId": invocation});
    if let Some(problem) = problem {
        record["error"] = problem.into();
    }
    message(&record)
}

/// The close record; the client may reconnect.
pub fn close(why: &str) -> Message {
    message(&json!({"type": CLOSE, "error": why, "allowReconnect": true}))
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn records_are_read_one_by_one() {
        let text = "{\"type\":6}\u{1e}{\"type\":1,\"target\":\"ObserveInstanceAsync\",\"arguments\":[\"x\"],\"invocationId\":\"7\"}\u{1e}";
        let observe = Received::Observe { instance: Some("x".into()), invocation: Some("7".into()) };
        assert_eq!(read(text.as_bytes()), Some(vec![Received::Nothing, observe]));
        assert_eq!(read(b"{\"type\":1,\"target\":\"Other\"}\x1e"), Some(vec![Received::Unknown { invocation: None }]));
        assert_eq!(read(b"{\"type\":7}\x1e"), Some(vec![Received::Close]));
    }

    #[test]
    fn what_is_no_record_is_refused() {
        for wrong in
            [&b""[..], b"{\"type\":6}", b"\x1e", b"{\x1e", b"[]\x1e", b"{\"type\":\"6\"}\x1e", b"{\"type\":6}\x1e{\x1e"]
        {
            assert_eq!(read(wrong), None, "{wrong:?}");
        }
    }
}
