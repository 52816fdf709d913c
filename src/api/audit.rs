//! Acts, as rows of the journal record them, for the view `workflow.audit`.

use chrono::DateTime;
use serde_json::{Map, Value};
use workflow_engine::journal::{self, Act, ActKind, Event, EventKind};

use crate::pg::symbols::sql_functions;
use crate::pg::{Call, PgError, Returned, interrupt, json};

sql_functions! {
    wf_act(events: Bytea) => act;
}

/// What the audit shows for a row of the journal that is damaged: the row may have recorded an act.
const UNREADABLE: &str = "unreadable";

/// The act that a row of the journal records; NULL if it records none, or one that an earlier row has recorded.
fn act(call: &Call) -> Result<Returned, PgError> {
    let Some(bytes) = call.stored::<Vec<u8>>("events") else { return Ok(Returned::Null) };
    let read = journal::decode_act(&bytes).and_then(|act| match act {
        Some(act) if !act.is_recorded => journal::decode(&bytes).map(|events| Some((act, events))),
        _ => Ok(None),
    });
    // A lack of memory is no damage.
    interrupt::check();
    Ok(match read {
        Ok(None) => Returned::Null,
        Ok(Some((act, events))) => Returned::Row(columns(act, events)),
        // What removes rows of the journal keeps their acts, and a damaged row must not keep it from that.
        Err(_) => {
            let mut columns = vec![Returned::Null, Returned::Text(UNREADABLE.to_owned())];
            columns.extend((0..6).map(|_| Returned::Null));
            Returned::Row(columns)
        }
    })
}

fn columns(act: Act, events: Vec<Event>) -> Vec<Returned> {
    let id = |id: u32| Returned::Integer(id.cast_signed());
    let mut about: Vec<Event> = events.into_iter().filter(|event| is_about(act.kind, event)).collect();
    let detail = detail(&about);
    let first = (!about.is_empty()).then(|| about.swap_remove(0));
    let bookmark = act.subject.or(first.as_ref().and_then(|event| event.bookmark_id));
    vec![
        Returned::of(act.at.and_then(DateTime::from_timestamp_micros), |at| Returned::Timestamptz(at.into())),
        Returned::Text(act.kind.name().to_owned()),
        id(act.by.role),
        Returned::of(act.by.login, id),
        Returned::of(act.by.actor, Returned::Text),
        Returned::of(first.map(|event| event.activity_id).filter(|id| !id.is_empty()), Returned::Text),
        Returned::of(bookmark, Returned::Uuid),
        Returned::of(detail, Returned::Json),
    ]
}

/// Whether an event says what an act was done to, and why.
fn is_about(act: ActKind, event: &Event) -> bool {
    match act {
        ActKind::Complete | ActKind::Fail | ActKind::Resume | ActKind::Send => event.kind == EventKind::Resumed,
        ActKind::Assign => event.kind == EventKind::Assigned,
        ActKind::Cancel => matches!(event.kind, EventKind::WorkflowCancelled | EventKind::WorkflowCancelling),
        ActKind::Pause => event.kind == EventKind::Paused,
        ActKind::Unpause => event.kind == EventKind::Unpaused,
        ActKind::Override | ActKind::Alter => event.kind == EventKind::Altered,
        ActKind::Migrate => event.kind == EventKind::Migrated,
        ActKind::SetOwner => event.kind == EventKind::OwnerChanged,
        ActKind::Start | ActKind::Retry | ActKind::Claim => false,
    }
}

/// What events say of an act: of one event an object, of several an array of them.
fn detail(events: &[Event]) -> Option<Value> {
    let details = events.iter().filter_map(|event| {
        let mut members = match &event.data.as_ref()?.0 {
            Value::Object(members) => json::copy_members(members),
            // The data of a cancel is the reason alone.
            reason => Map::from_iter([("reason".to_owned(), json::copy(reason))]),
        };
        // The role is a column of its own.
        members.remove("by");
        (!members.is_empty()).then_some(Value::Object(members))
    });
    let mut details: Vec<Value> = details.collect();
    match details.len() {
        0 | 1 => details.pop(),
        _ => Some(Value::Array(details)),
    }
}
