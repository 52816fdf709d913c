//! `wf_enqueue_bookmark`, `wf_send_stimulus`, `wf_publish_event`.

use serde_json::{Value, json};
use uuid::Uuid;
use workflow_engine::instance::{self, EVERYONE};
use workflow_engine::stimulus;
use workflow_engine::value::indexed::{MAX_INDEXED, check_indexed};

use crate::api::not_null;
use crate::error;
use crate::pg::args::Interval;
use crate::pg::spi::Timestamp;
use crate::pg::symbols::sql_functions;
use crate::pg::{Call, PgError, Returned, guc};
use crate::run::CallContext;
use crate::run::call::frame;
use crate::run::events::stimuli::{Delivery, KeepUntil, Stimulus};
use crate::run::events::undelivered::SentEvent;
use crate::run::events::{deliver, replay};
use crate::run::history::acts;
use crate::store::events::matching::{Correlation, Filter};
use crate::store::events::queue;

sql_functions! {
    wf_enqueue_bookmark(name: Text, stimulus: Jsonb, instance_id: Uuid, correlation_id: Text, activity_instance_id: Uuid, bookmark_id: Uuid, activity_type: Text, activity_id: Text, hash: Bytea, input: Jsonb, keep_for: Interval) => enqueue;
    wf_send_stimulus(name: Text, stimulus: Jsonb, input: Jsonb, correlation_id: Text, instance_id: Uuid, keep_for: Interval) => send;
    wf_publish_event(name: Text, payload: Jsonb, correlation_id: Text, instance_id: Uuid, keep_for: Interval) => publish_event;
    wf_replay(dead_letter_id: Uuid) => replay;
}

/// A keep time of a century or more is for ever: PostgreSQL 15 has no infinite interval.
const FOR_EVER: i128 = 100 * 365 * 86_400_000_000;

fn enqueue(call: &Call) -> Result<Returned, PgError> {
    let mut context = CallContext::begin();
    check_correlation_id(call.arg::<String>("correlation_id").as_deref())?;
    let name = call.arg::<String>("name").map(|name| stimulus_name(&name)).transpose()?;
    let payload = normalised(name.as_deref(), not_null(call.arg("stimulus")))?;
    let mut filter = Filter {
        instance_id: call.arg("instance_id"),
        correlation: Correlation::of_filter(call.arg("correlation_id")),
        activity_instance_id: call.arg("activity_instance_id"),
        bookmark_id: call.arg("bookmark_id"),
        activity_type: call.arg::<String>("activity_type").map(|kind| deliver::resolve_name(&kind)),
        activity_id: call.arg("activity_id"),
        hashes: hash_argument(call)?.into_iter().collect(),
        task: None,
        name,
    };
    if let (Some(name), Some(payload)) = (&filter.name, &payload) {
        let hash = stimulus::hash(name, Some(payload), None);
        if filter.hashes.first().is_some_and(|given| *given != hash) {
            return Err(PgError::new("22023", "argument \"hash\" is not the hash of the stimulus")
                .hint("Give either the stimulus or its hash."));
        }
        filter.hashes = vec![hash];
        queue::add_payload(&mut filter, Some(payload));
    }
    if filter.is_empty() {
        return Err(PgError::new("22023", "wf_enqueue_bookmark needs at least one filter argument")
            .hint("Give at least one of name, instance_id, correlation_id, activity_instance_id, bookmark_id, activity_type, activity_id, hash."));
    }
    deliver::require_on_this_node(filter.correlation.id(), &filter)?;
    let keep_for = call.interval("keep_for");
    let keep = keep_until(&context, keep_for)?;
    let stimulus = Stimulus {
        filter,
        payload,
        input: not_null(call.arg("input")),
        sender: context.sender(),
        sent_by: Some(context.identity()?),
        was_kept: false,
    };
    let sent = SentEvent::new(&stimulus, false);
    let delivered = frame::run(&mut context, |context| deliver::enqueue(context, stimulus, keep))?;
    sent.notice_if_undelivered(&delivered, keep, keep_for.is_none());
    Ok(delivery(delivered))
}

fn send(call: &Call) -> Result<Returned, PgError> {
    let name: String = call.required("name")?;
    let name = stimulus_name(&name)?;
    let payload = normalised(Some(&name), not_null(call.arg("stimulus")))?;
    deliver(call, &name, payload, not_null(call.arg("input")))
}

fn publish_event(call: &Call) -> Result<Returned, PgError> {
    let event: String = call.required("name")?;
    refuse_empty(&event)?;
    let name = deliver::resolve_name("Event");
    deliver(call, &name, Some(json!({ "EventName": event })), not_null(call.arg("payload")))
}

fn replay(call: &Call) -> Result<Returned, PgError> {
    let id: Uuid = call.required("dead_letter_id")?;
    let (is_replayed, sender) = frame::begin(|context| replay::replay(context, id))?;
    if is_replayed {
        acts::record_of(sender, "replay", None, &json!({ "dead_letter_id": id }))?;
    }
    Ok(Returned::Boolean(is_replayed))
}

fn deliver(call: &Call, name: &str, payload: Option<Value>, input: Option<Value>) -> Result<Returned, PgError> {
    let (instance_id, keep_for) = (call.arg("instance_id"), call.interval("keep_for"));
    let correlation_id = call.arg::<String>("correlation_id");
    let correlation = match correlation_id.as_deref() {
        None => Correlation::Without,
        Some(EVERYONE) => Correlation::Any,
        Some(id) => {
            check_correlation_id(Some(id))?;
            Correlation::Is(id.to_owned())
        }
    };
    let filter = deliver::filter_of(name, payload.as_ref(), correlation, instance_id);
    deliver::require_on_this_node(correlation_id.as_deref(), &filter)?;
    send_filtered(&mut CallContext::begin(), name, filter, payload, input, keep_for)
}

/// Sends an event to the instances of a correlation id, and keeps it as long as `workflow.queue_ttl` says.
pub(super) fn event_for(
    context: &mut CallContext,
    key: &str,
    name: &str,
    input: Option<Value>,
) -> Result<Returned, PgError> {
    refuse_empty(name)?;
    stimulus_for(context, key, "Event", Some(json!({ "EventName": name })), input)
}

/// The same with any stimulus.
pub(super) fn stimulus_for(
    context: &mut CallContext,
    key: &str,
    name: &str,
    payload: Option<Value>,
    input: Option<Value>,
) -> Result<Returned, PgError> {
    let name = stimulus_name(name)?;
    let payload = normalised(Some(&name), payload)?;
    let filter = deliver::filter_of(&name, payload.as_ref(), Correlation::Is(key.to_owned()), None);
    send_filtered(context, &name, filter, payload, input, None)
}

fn send_filtered(
    context: &mut CallContext,
    name: &str,
    filter: Filter,
    payload: Option<Value>,
    input: Option<Value>,
    keep_for: Option<Interval>,
) -> Result<Returned, PgError> {
    let keep = keep_until(context, keep_for)?;
    // A stimulus to one instance starts nothing.
    let may_start = filter.instance_id.is_none();
    let sent_by = Some(context.identity()?);
    let stimulus = Stimulus { filter, payload, input, sender: context.sender(), sent_by, was_kept: false };
    let sent = SentEvent::new(&stimulus, may_start);
    let send = |context: &mut CallContext| deliver::send(context, name, stimulus, keep, may_start);
    let delivered = frame::run(context, send)?;
    sent.notice_if_undelivered(&delivered, keep, keep_for.is_none());
    Ok(delivery(delivered))
}

/// Refuses a filter for a correlation id that no instance can have.
fn check_correlation_id(correlation_id: Option<&str>) -> Result<(), PgError> {
    instance::check_correlation_id(correlation_id).map_err(|fault| match correlation_id {
        Some(EVERYONE) => error::fault(&fault).hint("Leave correlation_id out, or pass NULL, to match any."),
        _ => error::fault(&fault),
    })
}

fn stimulus_name(name: &str) -> Result<String, PgError> {
    refuse_empty(name)?;
    check_indexed("name of the stimulus", name, MAX_INDEXED).map_err(|fault| error::fault(&fault))?;
    Ok(deliver::resolve_name(name))
}

fn refuse_empty(name: &str) -> Result<(), PgError> {
    if name.trim().is_empty() {
        return Err(PgError::new("22023", "argument \"name\" must not be empty"));
    }
    Ok(())
}

fn normalised(name: Option<&str>, payload: Option<Value>) -> Result<Option<Value>, PgError> {
    match (name, payload) {
        (_, None) => Ok(None),
        (Some(name), Some(payload)) => {
            stimulus::normalise(name, &payload).map(Some).map_err(|fault| error::fault(&fault))
        }
        (None, Some(_)) => Err(PgError::new("22023", "argument \"name\" must be given with argument \"stimulus\"")
            .hint("Give the name of the stimulus, such as name => 'Event'.")),
    }
}

fn hash_argument(call: &Call) -> Result<Option<[u8; 32]>, PgError> {
    let Some(bytes) = call.arg::<Vec<u8>>("hash") else {
        return Ok(None);
    };
    let length = bytes.len();
    <[u8; 32]>::try_from(bytes)
        .map(Some)
        .map_err(|_| PgError::new("22023", "argument \"hash\" must have 32 bytes").detail(format!("It has {length}.")))
}

/// Until when a stimulus is kept; NULL is `workflow.queue_ttl`.
fn keep_until(context: &CallContext, keep_for: Option<Interval>) -> Result<KeepUntil, PgError> {
    let micros = keep_for.map_or_else(|| i128::from(guc::queue_ttl()), |interval| interval.as_micros());
    match micros {
        i128::MIN..=-1 => Err(PgError::new("22023", "argument \"keep_for\" must not be negative")),
        0 => Ok(None),
        FOR_EVER.. => Ok(Some(Timestamp::INFINITY)),
        _ => Ok(Some(Timestamp(context.timestamp().0.saturating_add(i64::try_from(micros).unwrap_or(i64::MAX))))),
    }
}

/// The columns of a `wf_delivery`.
pub(super) const DELIVERY: [&str; 4] = ["started", "resumed", "queued_id", "withheld"];

/// A `wf_delivery`.
fn delivery(delivery: Delivery) -> Returned {
    Returned::Row(vec![
        Returned::Uuids(delivery.started),
        Returned::Uuids(delivery.resumed),
        Returned::of(delivery.queued, Returned::Uuid),
        Returned::Integer(delivery.withheld),
    ])
}
