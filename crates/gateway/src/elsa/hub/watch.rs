//! Looks once a second whether what is observed has changed: one statement for each role, however many observe.

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

/// How often it looks.
const PERIOD: Duration = Duration::from_secs(1);
/// Bytes of the numbers of one instance that are sent along. Without them Studio asks when it is reloaded.
const STATS_BYTES: usize = 64 * 1024;

/// Who is looked for: login and role. The database checks for each look that the one may still act as the other.
type Who = (String, String);

/// What is observed, and by which connections.
#[derive(Default)]
pub struct Hub {
    observed: Mutex<HashMap<Who, HashMap<Uuid, Observed>>>,
}

/// An instance that a connection observes.
#[derive(Default)]
struct Observed {
    /// How it was when its observers were last told; none: an observer has not been told anything yet.
    stamp: Option<String>,
    observers: HashMap<Uuid, Observer>,
}

/// Where a connection hears of updates.
#[derive(Clone)]
pub struct Observer {
    pub sender: mpsc::Sender<Update>,
    /// The connection is to end.
    pub end: Arc<Notify>,
}

impl Hub {
    /// Ends what a connection observes.
    pub fn leave(&self, caller: &Caller, connection: Uuid, ids: &HashSet<Uuid>) {
        let mut all = self.lock();
        let Some(group) = all.get_mut(&who(caller)) else { return };
        for id in ids {
            if let Some(observed) = group.get_mut(id) {
                observed.observers.remove(&connection);
                if observed.observers.is_empty() {
                    group.remove(id);
                }
            }
        }
    }

    fn lock(&self) -> MutexGuard<'_, HashMap<Who, HashMap<Uuid, Observed>>> {
        self.observed.lock().unwrap_or_else(PoisonError::into_inner)
    }

    /// The instances that are observed, and how they were. If there are none, the task that looks ends.
    fn to_look_at(&self, who: &Who) -> Option<(Vec<Uuid>, Vec<String>)> {
        let mut all = self.lock();
        let group = all.get(who)?;
        if group.is_empty() {
            all.remove(who);
            return None;
        }
        Some(group.iter().map(|(id, observed)| (*id, observed.stamp.clone().unwrap_or_default())).unzip())
    }

    /// Tells observers what was found. Those of an instance that was not found observe it no longer.
    fn tell(&self, who: &Who, looked_at: &[Uuid], found: HashMap<Uuid, Snapshot>) {
        let mut all = self.lock();
        let Some(group) = all.get_mut(who) else { return };
        for id in looked_at {
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

    /// Ends the connections of a caller whose key or session has ended.
    fn dismiss(&self, who: &Who) {
        for observed in self.lock().remove(who).into_iter().flat_map(HashMap::into_values) {
            observed.observers.into_values().for_each(|observer| observer.end.notify_one());
        }
    }
}

fn who(caller: &Caller) -> Who {
    (caller.login.clone(), caller.role.clone())
}

/// Begins to observe an instance. What changed before is told once, too: the client may have read it earlier.
pub fn observe(hub: &Arc<Hub>, app: &App, caller: &Caller, connection: Uuid, id: Uuid, observer: Observer) {
    let who = who(caller);
    let mut all = hub.lock();
    let is_looked_for = all.contains_key(&who);
    let observed = all.entry(who).or_default().entry(id).or_default();
    observed.stamp = None;
    observed.observers.insert(connection, observer);
    if !is_looked_for {
        tokio::spawn(look(Arc::clone(hub), app.clone(), caller.clone()));
    }
}

/// Looks for one role, until no connection observes anything as it.
async fn look(hub: Arc<Hub>, app: App, caller: Caller) {
    let who = who(&caller);
    let mut tick = interval(PERIOD);
    tick.set_missed_tick_behavior(MissedTickBehavior::Delay);
    loop {
        tick.tick().await;
        let Some((ids, stamps)) = hub.to_look_at(&who) else { return };
        let rows = app.database.read(&caller, LOOK, parameters![ids.clone(), stamps]).await;
        match rows.and_then(|rows| rows.iter().map(Snapshot::read).collect()) {
            Ok(found) => hub.tell(&who, &ids, found),
            Err(failure) if failure.status == StatusCode::UNAUTHORIZED => return hub.dismiss(&who),
            // What has changed meanwhile is seen the next time.
            Err(failure) => tracing::debug!(role = caller.role, cause = failure.message, "cannot look at instances"),
        }
    }
}

/// How an instance is, and what to tell if it has changed.
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

/// A pause leaves `updated_at` as it is. Of many instances that have changed at once a hundred are told a time.
const LOOK: &str = concat!(
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
