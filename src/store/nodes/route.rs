//! The routing guard: whether a correlation id belongs to this node.
//!
//! If the list of partitions decides, a key that the guard has admitted belongs here until the transaction ends: the
//! transaction holds a shared lock on the key's partition, and a move takes that lock exclusively before it changes the
//! list. So this lock comes before all others of the call: before the row of an instance, and before the inserts of a
//! start.
//!
//! The key of an instance is its correlation id. A child without one has the key of its parent.

use uuid::Uuid;
use workflow_engine::activities::migrate_instances::MIGRATE_INSTANCES;
use workflow_engine::activities::scheduled_command::SCHEDULED_COMMAND;

use crate::pg::error::{log, throw};
use crate::pg::function::Predicate;
use crate::pg::guc::{self, RouteCheck};
use crate::pg::rows::{self, Columns, Wait};
use crate::pg::spi::{Arg, read};
use crate::pg::{PgError, process, user_sql};
use crate::store::BACKEND;
use crate::store::nodes::partitions;
use crate::store::tables::INSTANCES;

/// Minimum interval in microseconds of a session's log messages about work for other nodes.
const LOG_INTERVAL: i64 = 60_000_000;

/// Whether keys are checked at all.
pub fn is_on() -> bool {
    guc::route_check().is_some()
}

/// Admits a call if its key belongs here.
///
/// # Errors
/// 40001 if the key belongs to another node, 22004 if there is none.
pub fn require(key: Option<&str>) -> Result<(), PgError> {
    let Some(check) = guc::route_check() else { return Ok(()) };
    let key = key.ok_or_else(missing)?;
    ask(&check, key, Some(Wait::Block))?.map_err(|detail| elsewhere(key, detail))
}

/// Admits an activity's use of a key if it belongs here.
///
/// # Errors
/// 22023 if it does not: repeating the call would not help.
pub fn require_in_burst(key: Option<&str>) -> Result<(), PgError> {
    require(key).map_err(|error| match error.sqlstate.as_str() {
        "40001" | "22004" => PgError { sqlstate: "22023".into(), ..error }
            .hint("A workflow and what it starts or tells stay on one node. Leave to a call what is for another one."),
        _ => error,
    })
}

/// Whether a key belongs here. `false` while the partition of the key is being moved.
pub fn admits(key: Option<&str>) -> bool {
    let Some(check) = guc::route_check() else { return true };
    let Some(key) = key else { return false };
    ask(&check, key, Some(Wait::Skip)).unwrap_or_else(|error| throw(error)).is_ok()
}

/// Whether a key belongs here, after waiting for a move of its partition that is in progress. The answer holds until
/// this transaction ends.
pub fn owns(key: &str) -> bool {
    let Some(check) = guc::route_check() else { return true };
    ask(&check, key, Some(Wait::Block)).unwrap_or_else(|error| throw(error)).is_ok()
}

/// Definitions of the extension itself, whose instances belong to the node on which they are.
pub const OF_NODE: [&str; 2] = [SCHEDULED_COMMAND, MIGRATE_INSTANCES];

fn is_of_node(definition_id: &str) -> bool {
    OF_NODE.contains(&definition_id)
}

/// Whether a key belongs here; if not, a detail. With [`Wait::Skip`] the answer is no instead of waiting for a move.
/// With `None` it neither waits nor keeps the key here: a key that is being moved counts as here until the move
/// commits.
fn ask(check: &RouteCheck, key: &str, wait: Option<Wait>) -> Result<Result<(), Option<String>>, PgError> {
    match check {
        RouteCheck::Partitions => Ok(ask_partitions(key, wait).map_err(Some)),
        RouteCheck::Function(name) => {
            let predicate = Predicate::named(name).map_err(|error| {
                let detail = format!("The setting workflow.route_check names it. {}", error.detail.unwrap_or_default());
                PgError { detail: Some(detail.trim_end().to_owned()), ..error }
            })?;
            Ok(if user_sql::admits(&predicate, key) { Ok(()) } else { Err(None) })
        }
    }
}

fn ask_partitions(key: &str, wait: Option<Wait>) -> Result<(), String> {
    let unknown = || "This node has no partition.".to_owned();
    let mut list = partitions::all();
    loop {
        let partition = list.of(key).ok_or_else(unknown)?;
        match wait {
            None => {}
            Some(Wait::Block) => partitions::share(partition),
            Some(Wait::Skip) if partitions::try_share(partition) => {}
            Some(Wait::Skip) => return Err("A move of its partition is under way.".into()),
        }
        // Another transaction may have moved it, or changed the number of partitions, before this one got the lock.
        let now = partitions::all();
        if now.count == list.count {
            return match now.has(partition) {
                true => Ok(()),
                false => Err(format!("Its partition is {partition} of {}, which is not on this node.", now.count)),
            };
        }
        list = now;
    }
}

fn elsewhere(key: &str, detail: Option<String>) -> PgError {
    let error = PgError::new("40001", format!("correlation id \"{key}\" belongs to another node"))
        .hint("Send the call to the node that has this key. Repeat it if the key has just moved.");
    PgError { detail, ..error }
}

fn missing() -> PgError {
    PgError::new("22004", "a correlation id is needed")
        .detail("The correlation id decides the node, as workflow.route_check is set.")
        .hint("Pass correlation_id. '*' sends a stimulus to all instances that wait here.")
}

read! {
    struct Keyed of INSTANCES {
        id: Uuid,
        correlation_id: Option<String>,
        parent_instance_id: Option<Uuid>,
        definition_id: String,
    }
}
static KEYED: Columns = Columns::of(&INSTANCES, Keyed::COLUMNS);

/// To which node an instance belongs.
enum InstanceRoute {
    Key(Option<String>),
    /// This node: it is an instance of the extension's own definitions.
    Node,
    /// There is no such instance.
    Unknown,
}

/// Reads the key of an instance, without a lock.
fn whose(instance: Uuid) -> InstanceRoute {
    let mut next = instance;
    loop {
        let Some(keyed) = rows::read(&KEYED, Arg::Uuid(&next), Keyed::read) else {
            return if next == instance { InstanceRoute::Unknown } else { InstanceRoute::Key(None) };
        };
        debug_assert_eq!(keyed.id, next);
        match (keyed.correlation_id, keyed.parent_instance_id) {
            _ if is_of_node(&keyed.definition_id) => return InstanceRoute::Node,
            (None, Some(parent)) => next = parent,
            (key, _) => return InstanceRoute::Key(key),
        }
    }
}

/// Admits a call for an instance if its key belongs here. Its correlation id may be `known`, and is read otherwise. An
/// instance that does not exist is admitted.
///
/// # Errors
/// As [`require`].
pub fn require_instance(instance: Uuid, known: Option<&str>) -> Result<(), PgError> {
    if known.is_some() {
        let asked = require(known);
        return if asked.is_err() && matches!(whose(instance), InstanceRoute::Node) { Ok(()) } else { asked };
    }
    if !is_on() {
        return Ok(());
    }
    match whose(instance) {
        InstanceRoute::Key(None) => Err(keyless(instance)),
        InstanceRoute::Key(key) => require(key.as_deref()),
        InstanceRoute::Node | InstanceRoute::Unknown => Ok(()),
    }
}

/// The error for a call for an instance, determined without waiting for a move: its key belongs to another node, or it
/// has none.
pub fn refusal(instance: Uuid) -> Result<Option<PgError>, PgError> {
    let Some(check) = guc::route_check() else { return Ok(None) };
    Ok(match whose(instance) {
        InstanceRoute::Key(None) => Some(keyless(instance)),
        InstanceRoute::Key(Some(key)) => ask(&check, &key, None)?.err().map(|detail| elsewhere(&key, detail)),
        InstanceRoute::Node | InstanceRoute::Unknown => None,
    })
}

fn keyless(instance: Uuid) -> PgError {
    PgError::new("22004", format!("workflow instance {instance} has no correlation id"))
        .detail("The correlation id decides the node, as workflow.route_check is set.")
}

/// Admits a stimulus for the instance that it names, if that is here.
///
/// # Errors
/// As [`require`]; 22004 also for an instance that is not here, whose key is not known.
pub fn require_target(instance: Option<Uuid>) -> Result<(), PgError> {
    match instance.filter(|_| is_on()).map(|instance| (instance, whose(instance))) {
        None | Some((_, InstanceRoute::Unknown)) => require(None),
        Some((instance, _)) => require_instance(instance, None),
    }
}

/// Whether an instance belongs here and is not being moved. Its correlation id may be `known`.
pub fn admits_instance(instance: Uuid, known: Option<&str>) -> bool {
    if known.is_some() && admits(known) || !is_on() {
        return true;
    }
    let is_here = match (whose(instance), known) {
        (InstanceRoute::Node, _) | (InstanceRoute::Unknown, None) => true,
        (InstanceRoute::Key(key), None) => admits(key.as_deref()),
        (_, Some(_)) => false,
    };
    if !is_here {
        log_left(|| format!("workflow instance {instance}"));
    }
    is_here
}

/// Admits a new instance if its key, or the parent's if it has none, belongs here.
///
/// # Errors
/// As [`require`].
pub fn require_start(definition_id: &str, key: Option<&str>, parent: Option<Uuid>) -> Result<(), PgError> {
    match (key, parent) {
        _ if is_of_node(definition_id) => Ok(()),
        (None, Some(parent)) => require_instance(parent, None),
        (key, _) => require(key),
    }
}

/// Whether a timer may start an instance with this key.
pub fn admits_start(definition_id: &str, key: Option<&str>) -> bool {
    let is_here = is_of_node(definition_id) || admits(key);
    if !is_here {
        log_left(|| format!("a start of workflow definition \"{definition_id}\""));
    }
    is_here
}

/// Logs work that the session has left for another node, unless it logged such a message within [`LOG_INTERVAL`].
fn log_left(what: impl FnOnce() -> String) {
    let now = process::now();
    if now - BACKEND.left_logged_at.get() >= LOG_INTERVAL {
        BACKEND.left_logged_at.set(now);
        log(&format!("workflow left {}: its correlation id belongs to another node, or is moving", what()));
    }
}
