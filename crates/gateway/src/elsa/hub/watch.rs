//! Checks once a second whether observed instances have changed, with one statement per role, however many observers
//! there are.

use std::collections::{HashMap, HashSet};
use std::sync::{Arc, Mutex, MutexGuard, PoisonError};
use std::time::Duration;

use axum::http::StatusCode;
use tokio::sync::{Notify, mpsc};
use tokio::time::{MissedTickBehavior, interval};
use tokio_postgres::Row;
use uuid::Uuid;

use super::protocol::Update;
use crate::caller::Caller;
use crate::elsa::executions::stats;
use crate::failure::Failure;
use crate::gateway::App;
use crate::parameters;

/// Interval between checks.
const PERIOD: Duration = Duration::from_secs(1);
/// Maximum size of an instance's statistics in an update, in bytes. Without them Studio shows them after a reload.
const STATS_BYTES: usize = 64 * 1024;

/// Login role and acting role. With each check the database verifies that the login role may still act as the other.
type Roles = (String, String);

/// The observed instances, and the connections that observe them.
#[derive(Default)]
pub struct Hub {
    observed: Mutex<HashMap<Roles, HashMap<Uuid, Observed>>>,
}

/// An instance that a connection observes.
#[derive(Default)]
struct Observed {
    /// The state that observers were last told about; `None`: an observer has not been told anything yet.
    stamp: Option<String>,
    observers: HashMap<Uuid, Observer>,
}

/// Where a connection receives updates.
#[derive(Clone)]
pub struct Observer {
    pub sender: mpsc::Sender<Update>,
    /// Asks the connection to close.
    pub end: Arc<Notify>,
}

impl Hub {
    /// Stops observing for a connection.
    pub fn leave(&self, caller: &Caller, connection: Uuid, ids: &HashSet<Uuid>) {
        let mut all = self.lock();
        let Some(group) = all.get_mut(&roles(caller)) else { return };
        for id in ids {
            if let Some(observed) = group.get_mut(id) {
                observed.observers.remove(&connection);
                if observed.observers.is_empty() {
                    group.remove(id);
                }
            }
        }
    }

    fn lock(&self) -> MutexGuard<'_, HashMap<Roles, HashMap<Uuid, Observed>>> {
        self.observed.lock().unwrap_or_else(PoisonError::into_inner)
    }

    /// The observed instances with their last known state. The task ends when there are none.
    fn instances_to_check(&self, roles: &Roles) -> Option<(Vec<Uuid>, Vec<String>)> {
        let mut all = self.lock();
        let group = all.get(roles)?;
        if group.is_empty() {
            all.remove(roles);
            return None;
        }
        Some(group.iter().map(|(id, observed)| (*id, observed.stamp.clone().unwrap_or_default())).unzip())
    }

    /// Sends updates to observers. An instance that was not found is no longer observed.
    fn send_updates(&self, roles: &Roles, checked: &[Uuid], found: HashMap<Uuid, Snapshot>) {
        let mut all = self.lock();
        let Some(group) = all.get_mut(roles) else { return };
        for id in checked {
            match (found.get(id), group.get_mut(id)) {
                (None, _) => drop(group.remove(id)),
                (Some(Snapshot { stamp, update: Some(update) }), Some(observed)) => {
                    observed.stamp = Some(stamp.clone());
                    for observer in observed.observers.values() {
                        if observer.sender.try_send(update.clone()).is_err() {
                            observer.end.notify_one();
                        }
                    }
                }
                _ => {}
            }
        }
    }

    /// Closes the connections of a caller whose key or session is no longer valid.
    fn disconnect(&self, roles: &Roles) {
        for observed in self.lock().remove(roles).into_iter().flat_map(HashMap::into_values) {
            observed.observers.into_values().for_each(|observer| observer.end.notify_one());
        }
    }
}

fn roles(caller: &Caller) -> Roles {
    (caller.login.clone(), caller.role.clone())
}

/// Starts observing an instance. The first check always sends an update, because the client may have read the instance
/// before an earlier change.
pub fn observe(hub: &Arc<Hub>, app: &App, caller: &Caller, connection: Uuid, id: Uuid, observer: Observer) {
    let roles = roles(caller);
    let mut all = hub.lock();
    let is_watched = all.contains_key(&roles);
    let observed = all.entry(roles).or_default().entry(id).or_default();
    observed.stamp = None;
    observed.observers.insert(connection, observer);
    if !is_watched {
        tokio::spawn(watch(Arc::clone(hub), app.clone(), caller.clone()));
    }
}

/// Checks for one role, until no connection of this role observes anything.
async fn watch(hub: Arc<Hub>, app: App, caller: Caller) {
    let roles = roles(&caller);
    let mut tick = interval(PERIOD);
    tick.set_missed_tick_behavior(MissedTickBehavior::Delay);
    loop {
        tick.tick().await;
        let Some((ids, stamps)) = hub.instances_to_check(&roles) else { return };
        let rows = app.database.read(&caller, CHANGES, parameters![ids.clone(), stamps]).await;
        match rows.and_then(|rows| rows.iter().map(Snapshot::read).collect()) {
            Ok(found) => hub.send_updates(&roles, &ids, found),
            Err(failure) if failure.status == StatusCode::UNAUTHORIZED => return hub.disconnect(&roles),
            // The next check sees these changes.
            Err(failure) => tracing::debug!(role = caller.role, cause = failure.message, "cannot look at instances"),
        }
    }
}

/// The state of an instance, and the update to send if it has changed.
struct Snapshot {
    stamp: String,
    update: Option<Update>,
}

impl Snapshot {
    fn read(row: &Row) -> Result<(Uuid, Self), Failure> {
        let read = || -> Result<_, tokio_postgres::Error> {
            Ok((row.try_get("instance_id")?, row.try_get("stamp")?, row.try_get("stats")?))
        };
        let (id, stamp, stats): (Uuid, String, Option<String>) = read().map_err(Failure::internal)?;
        let update = stats.map(|stats| Update::new(id, if stats.len() > STATS_BYTES { "[]" } else { &stats }));
        Ok((id, Self { stamp, update }))
    }
}

/// The stamp includes `paused_at` because a pause leaves `updated_at` unchanged. At most 100 changed instances are
/// reported per check.
const CHANGES: &str = concat!(
    "WITH looked AS MATERIALIZED (\
         SELECT i.instance_id, s.stamp, s.stamp OPERATOR(pg_catalog.<>) o.known AS is_changed \
         FROM workflow.instance_list i \
         JOIN ROWS FROM (pg_catalog.unnest($1), pg_catalog.unnest($2)) AS o (id, known) \
           ON o.id OPERATOR(pg_catalog.=) i.instance_id \
         CROSS JOIN LATERAL (SELECT pg_catalog.concat_ws(' ', i.updated_at, i.paused_at)) AS s (stamp) \
         WHERE i.instance_id OPERATOR(pg_catalog.=) ANY ($1)), \
     numbered AS (\
         SELECT l.*, pg_catalog.row_number() OVER (ORDER BY l.is_changed DESC, l.instance_id) AS number FROM looked l) \
     SELECT i.instance_id, i.stamp, CASE WHEN i.is_changed AND i.number OPERATOR(pg_catalog.<=) 100 THEN ",
    stats!("workflow.activity_executions(i.instance_id) e WHERE e.node_id IS NOT NULL"),
    "::pg_catalog.text END AS stats FROM numbered i"
);
