//! The routing guard: whether a correlation id belongs to this node.
//!
//! If the list of partitions decides, a key that the guard has admitted belongs here until the transaction ends: the
//! transaction holds a shared lock on the key's partition, and a move takes that lock exclusively before it changes the
//! list. So this lock comes before all others of the call: before the row of an instance, and before the inserts of a
//! start.
//!
//! A user's function may take such locks itself. Where a call must not wait, the engine bounds the function's waits, and
//! a function that would wait longer has not admitted the key.
//!
//! The key of an instance is its correlation id. A child without one has the key of its parent.

use std::cell::Cell;
use std::ffi::CStr;

use uuid::Uuid;
use workflow_engine::activities::migrate_instances::MIGRATE_INSTANCES;
use workflow_engine::activities::scheduled_command::SCHEDULED_COMMAND;

use crate::pg::deadline::{self, Deadline};
use crate::pg::error::{log, throw};
use crate::pg::function::Predicate;
use crate::pg::guc::{self, RouteCheck};
use crate::pg::rows::{self, Columns, Wait};
use crate::pg::session::ShortWaits;
use crate::pg::spi::{Arg, read};
use crate::pg::subtransaction::subtransaction_if;
use crate::pg::{PgError, interrupt, process, user_sql};
use crate::store::BACKEND;
use crate::store::nodes::partitions;
use crate::store::tables::INSTANCES;

/// Minimum interval in microseconds of a session's log messages about work for other nodes.
const LOG_INTERVAL: i64 = 60_000_000;

/// How long a function waits for a lock where the call must not wait, as in `lock_timeout`.
const SHORTEST_WAIT: &CStr = c"1ms";

/// How long such a function may take altogether, in milliseconds. It is enough for a query of any catalog.
const LONGEST_CHECK: u64 = 1000;

/// Why a key is not admitted here.
enum Refusal {
    /// It belongs to another node, or is being moved; with a detail.
    Elsewhere(Option<String>),
    /// No key belongs to this server.
    OwnsNone,
}

/// Whether keys are checked at all.
pub fn is_on() -> bool {
    guc::route_check().is_some()
}

/// Admits a call if its key belongs here.
///
/// # Errors
/// 40001 if the key belongs to another node, 55000 if no key belongs to this server, 22004 if there is none.
pub fn require(key: Option<&str>) -> Result<(), PgError> {
    let Some(check) = guc::route_check() else { return Ok(()) };
    let key = key.ok_or_else(missing)?;
    ask(&check, key, Some(Wait::Block))?.map_err(|refusal| refused(key, refusal))
}

/// Admits an activity's use of a key if it belongs here.
///
/// # Errors
/// 22023 if it does not: repeating the call would not help.
pub fn require_in_burst(key: Option<&str>) -> Result<(), PgError> {
    require(key).map_err(|error| match error.sqlstate.as_str() {
        "40001" | "22004" | "55000" => PgError { sqlstate: "22023".into(), ..error }
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

/// Whether a key belongs to another node, without waiting long. `None` if the function would wait: the key is being
/// moved. The answer does not hold: no lock is kept.
///
/// # Errors
/// The errors of the function.
pub fn is_elsewhere(key: &str) -> Result<Option<bool>, PgError> {
    Ok(match guc::route_check() {
        None => Some(false),
        Some(RouteCheck::Partitions) => Some(ask_partitions(key, None).is_err()),
        Some(RouteCheck::Function(name)) => admits_soon(&named(&name)?, key, false)?.map(|is_here| !is_here),
    })
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

/// Whether a key belongs here; if not, why. With [`Wait::Skip`] the answer is no instead of waiting for a move. With
/// `None` it neither waits nor keeps the key here: a key that is being moved counts as here until the move commits.
fn ask(check: &RouteCheck, key: &str, wait: Option<Wait>) -> Result<Result<(), Refusal>, PgError> {
    let RouteCheck::Function(name) = check else { return Ok(ask_partitions(key, wait)) };
    let predicate = named(name)?;
    let is_here = match wait {
        Some(Wait::Block) => Some(user_sql::admits(&predicate, key)),
        Some(Wait::Skip) => admits_soon(&predicate, key, true)?,
        None => admits_soon(&predicate, key, false)?,
    };
    Ok(match is_here {
        Some(true) => Ok(()),
        Some(false) => Err(Refusal::Elsewhere(None)),
        None if wait.is_none() => Ok(()),
        None => Err(Refusal::Elsewhere(Some("The function in workflow.route_check waits for a lock.".into()))),
    })
}

/// The function that `workflow.route_check` names.
fn named(name: &str) -> Result<Predicate, PgError> {
    Predicate::named(name).map_err(|error| {
        let detail = format!("The setting workflow.route_check names it. {}", error.detail.unwrap_or_default());
        PgError { detail: Some(detail.trim_end().to_owned()), ..error }
    })
}

/// Calls a user's function without waiting long. `None` if it would wait. The locks that it has taken are kept if
/// `keeps`; in a subtransaction, so that they can be released.
///
/// PL/pgSQL can catch the cancellation by name (`query_canceled`). The answer of a function that did so counts as a
/// wait, because it may have been made without the lock. If it continues to wait, it is cancelled again each
/// [`LONGEST_CHECK`]. PostgreSQL has no error that cannot be caught, so a function that catches all of them in a loop
/// ends only with its session.
fn admits_soon(predicate: &Predicate, key: &str, keeps: bool) -> Result<Option<bool>, PgError> {
    let ask = || {
        let (deadline, waits) = (Deadline::arm(LONGEST_CHECK), ShortWaits::of(SHORTEST_WAIT));
        let is_here = user_sql::admits(predicate, key);
        waits.end();
        drop(deadline);
        // The deadline may have passed after the last check for interrupts.
        interrupt::check();
        is_here
    };
    let has_passed = Cell::new(false);
    let is_kept = |_: &bool| {
        has_passed.set(deadline::has_passed());
        keeps && !has_passed.get()
    };
    match subtransaction_if(ask, is_kept) {
        Ok(is_here) => Ok((!has_passed.get()).then_some(is_here)),
        Err(error) if error.sqlstate == "55P03" => Ok(None),
        Err(error) if error.sqlstate == "57014" && deadline::has_passed() => Ok(None),
        Err(error) => Err(error),
    }
}

fn ask_partitions(key: &str, wait: Option<Wait>) -> Result<(), Refusal> {
    let elsewhere = |detail: String| Refusal::Elsewhere(Some(detail));
    let mut list = partitions::all();
    let mut partition = list.of(key).ok_or(Refusal::OwnsNone)?;
    loop {
        match wait {
            None => {}
            Some(Wait::Block) => partitions::share(partition),
            Some(Wait::Skip) if partitions::try_share(partition) => {}
            Some(Wait::Skip) => return Err(elsewhere("A move of its partition is under way.".into())),
        }
        // Another transaction may have moved it, or changed the number of partitions, before this one got the lock.
        let now = partitions::all();
        if now.count == list.count {
            return match now.has(partition) {
                true => Ok(()),
                false => {
                    let detail = format!("Its partition is {partition} of {}, which is not on this node.", now.count);
                    Err(elsewhere(detail))
                }
            };
        }
        // The last partition of this node has just moved: the call can be repeated.
        partition = now.of(key).ok_or_else(|| elsewhere("This node has no partition.".into()))?;
        list = now;
    }
}

fn refused(key: &str, refusal: Refusal) -> PgError {
    match refusal {
        Refusal::Elsewhere(detail) => {
            let error = PgError::new("40001", format!("correlation id \"{key}\" belongs to another node"))
                .hint("Send the call to the node that has this key. Repeat it if the key has just moved.");
            PgError { detail, ..error }
        }
        // Drivers repeat a 40001, which would not help here.
        Refusal::OwnsNone => PgError::new("55000", format!("correlation id \"{key}\" belongs to another node"))
            .detail("This server has no partition, so no key belongs to it.")
            .hint("Send the call through the router, or add partitions with wf_add_partitions."),
    }
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

/// The key of an instance, which may be that of an instance above it.
pub fn key_of(instance: Uuid) -> Option<String> {
    match whose(instance) {
        InstanceRoute::Key(key) => key,
        InstanceRoute::Node | InstanceRoute::Unknown => None,
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
        InstanceRoute::Key(Some(key)) => ask(&check, &key, None)?.err().map(|refusal| refused(&key, refusal)),
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
