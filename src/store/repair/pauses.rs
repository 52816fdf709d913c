//! Pauses of instances.
//!
//! `instances.paused_at` is read with the instance; who paused it and why is a row of `workflow.pauses`. While an
//! instance is paused, its bookmarks are in no index of due bookmarks, and its tasks in none of claimable tasks:
//! [`hold`] moves `due_at` and `available_at` aside, and [`release`] restores them. So scans for due bookmarks and
//! claims need not skip them repeatedly. Every bookmark records when its clock stopped: at the pause, or when a burst
//! or a heartbeat changed it during the pause.

use uuid::Uuid;
use workflow_engine::instance::Instance;
use workflow_engine::stimulus::{LEASE, RETRY, RUN_TIMEOUT, START_TIMEOUT, TIMEOUT};

use crate::pg::spi::{Arg, Row, Statement, Timestamp, Type};
use crate::store::instances;
use crate::store::rights::owners::{self, Owner};
use crate::wake;

/// Who paused an instance, and why.
#[derive(Debug)]
pub struct Pause {
    /// When the call paused the instance.
    pub since: Timestamp,
    /// The role that called `wf_pause`.
    pub by: Owner,
    /// The reason given in that call, if any.
    pub reason: Option<String>,
    /// Whether a call has ended it, so that a session of the owner has to deliver what was stored.
    pub is_ending: bool,
}

impl Pause {
    fn read(row: &mut Row<'_>) -> Self {
        let (since, by, reason) = (row.get(), owners::by_id(row.get()), row.maybe());
        Self { since, by, reason, is_ending: row.get() }
    }
}

static OF: Statement = Statement::new(
    "SELECT p.paused_at, p.paused_by, p.reason, p.unpaused_at IS NOT NULL FROM workflow.pauses p WHERE p.instance_id = $1",
    &[Type::Uuid],
);

/// The pause of an instance.
pub fn of(instance: Uuid) -> Option<Pause> {
    OF.first(&[Arg::Uuid(&instance)], Pause::read)
}

static SET: Statement =
    Statement::new("UPDATE workflow.instances SET paused_at = $2 WHERE id = $1", &[Type::Uuid, Type::Timestamp]);
static INSERT: Statement = Statement::new(
    "INSERT INTO workflow.pauses (instance_id, paused_at, paused_by, reason, paused_with) VALUES ($1, $2, $3, $4, $5)",
    &[Type::Uuid, Type::Timestamp, Type::Integer, Type::Text, Type::Uuid],
);

/// Pauses a locked instance from `now` on. `with`: it is a child of this instance, which the call named.
pub fn begin(instance: Uuid, by: i32, reason: Option<&str>, with: Option<&Uuid>, now: Timestamp) {
    let id = Arg::Uuid(&instance);
    let with = with.map_or(Arg::Null, Arg::Uuid);
    INSERT.run(&[id, Arg::Timestamp(now), Arg::Integer(by), Arg::text(reason), with]);
    SET.run(&[Arg::Uuid(&instance), Arg::Timestamp(now)]);
    hold(instance, now);
}

// A held row with a due time keeps it: `hand_to_owner` has set it, so that a background worker fires the row.
static HOLD: Statement = Statement::new(
    "UPDATE workflow.bookmarks b SET paused_at = $2, \
         due_at = CASE WHEN b.paused_at IS NULL THEN NULL ELSE b.due_at END, \
         due_when_paused = CASE WHEN b.name = 'Elsa.RunTask' THEN COALESCE(b.available_at, '-infinity') ELSE b.due_at END, \
         available_at = CASE WHEN b.name = 'Elsa.RunTask' THEN 'infinity' ELSE b.available_at END \
     WHERE b.instance_id = $1 \
       AND CASE WHEN b.name = 'Elsa.RunTask' THEN b.paused_at IS NULL OR b.available_at IS DISTINCT FROM 'infinity' \
                ELSE b.paused_at IS NULL AND b.due_at IS NOT NULL END",
    &[Type::Uuid, Type::Timestamp],
);

/// Holds due times and claimable tasks of a locked, paused instance. May wait for claims and heartbeats.
pub fn hold(instance: Uuid, now: Timestamp) {
    HOLD.run(&[Arg::Uuid(&instance), Arg::Timestamp(now)]);
}

/// Called after each change of a locked instance. If the instance is paused, holds the due times that the change has
/// added. If the instance has ended, removes its pause. `paused_at`: since when it is paused; with `None` nothing is
/// done.
pub fn hold_if_paused(instance: &Instance, paused_at: Option<Timestamp>, has_ended: bool, now: Timestamp) {
    match paused_at {
        None => {}
        Some(_) if has_ended => forget(instance.id),
        Some(_) => hold(instance.id, now),
    }
}

// Seconds, not days: a day of an interval may have 23 or 25 hours.
macro_rules! stood {
    () => {
        "make_interval(secs => GREATEST(CAST(EXTRACT(epoch FROM $2 - b.paused_at) AS double precision), 0))"
    };
}

static LET_GO: Statement = Statement::new(
    concat!(
        "UPDATE workflow.bookmarks b SET paused_at = NULL, due_when_paused = NULL, \
             due_at = CASE WHEN b.name = 'Elsa.RunTask' THEN NULL WHEN b.name = ANY ($3) THEN b.due_when_paused + ",
        stood!(),
        " ELSE b.due_when_paused END, \
             available_at = CASE WHEN b.name <> 'Elsa.RunTask' THEN b.available_at \
                                 WHEN b.due_when_paused = '-infinity' THEN CASE WHEN b.lane IS NOT NULL THEN b.due_when_paused END \
                                 ELSE b.due_when_paused + ",
        stood!(),
        " END, lease_until = b.lease_until + ",
        stood!(),
        ", created_at = CASE WHEN b.name = 'Elsa.RunTask' AND b.node_id = ANY ($4) THEN b.created_at + ",
        stood!(),
        " ELSE b.created_at END WHERE b.instance_id = $1 AND b.paused_at IS NOT NULL RETURNING b.due_at"
    ),
    &[Type::Uuid, Type::Timestamp, Type::TextArray, Type::TextArray],
);

/// Ends the pause of a locked instance. The due times of retries, timeouts and leases are postponed by the length of
/// the pause, and so is the opening of tasks at these nodes, from which the total timeout counts. Other due times stay.
/// Returns whether anything is or will be due.
pub fn release(instance: &Instance, timed_nodes: &[String], now: Timestamp) -> bool {
    let clocks = [RETRY, TIMEOUT, START_TIMEOUT, RUN_TIMEOUT, LEASE].map(str::to_owned);
    let args = [Arg::Uuid(&instance.id), Arg::Timestamp(now), Arg::Texts(&clocks), Arg::Texts(timed_nodes)];
    let due: Vec<Option<Timestamp>> = LET_GO.rows(&args, |row| row.maybe());
    let due: Vec<Timestamp> = due.into_iter().flatten().collect();
    due.iter().copied().for_each(wake::report_due);
    forget(instance.id);
    instances::save_state(instance);
    wake::report_any_task();
    wake::report_pending_starts(true);
    wake::report_bookmarks_of(&instance.id);
    !due.is_empty()
}

static FORGET: [Statement; 2] = [
    Statement::new("DELETE FROM workflow.pauses WHERE instance_id = $1", &[Type::Uuid]),
    Statement::new("UPDATE workflow.instances SET paused_at = NULL WHERE id = $1", &[Type::Uuid]),
];

fn forget(instance: Uuid) {
    FORGET.iter().for_each(|statement| {
        statement.run(&[Arg::Uuid(&instance)]);
    });
}

static ANSWERS: Statement = Statement::new(
    "SELECT b.id FROM workflow.bookmarks b WHERE b.instance_id = $1 AND b.name = 'Workflow.Answer' ORDER BY b.id",
    &[Type::Uuid],
);

/// The bookmarks of answers stored during a pause, in the order in which they were given.
pub fn answers(instance: Uuid) -> Vec<Uuid> {
    ANSWERS.rows(&[Arg::Uuid(&instance)], |row| row.get())
}

static HAND: [Statement; 2] = [
    Statement::new(
        "UPDATE workflow.pauses SET unpaused_at = $2 WHERE instance_id = $1",
        &[Type::Uuid, Type::Timestamp],
    ),
    Statement::new(
        "UPDATE workflow.bookmarks b SET due_at = $2, attempts = NULL, paused_at = COALESCE(b.paused_at, $2) \
         WHERE b.id = (SELECT f.id FROM workflow.bookmarks f WHERE f.instance_id = $1 \
                       ORDER BY f.name = 'Workflow.Answer' DESC, f.id LIMIT 1)",
        &[Type::Uuid, Type::Timestamp],
    ),
];

/// Lets a session of the owner end the pause: it fires a bookmark of the instance, which becomes due now.
pub fn hand_to_owner(instance: Uuid, now: Timestamp) {
    HAND.iter().for_each(|statement| {
        statement.run(&[Arg::Uuid(&instance), Arg::Timestamp(now)]);
    });
    wake::report_due(now);
}

static KEEP: [Statement; 2] = [
    Statement::new(
        "UPDATE workflow.pauses SET unpaused_at = NULL, reason = $2, paused_by = $3 WHERE instance_id = $1",
        &[Type::Uuid, Type::Text, Type::Integer],
    ),
    Statement::new(
        "UPDATE workflow.bookmarks SET due_at = NULL WHERE instance_id = $1 AND paused_at IS NOT NULL AND due_at IS NOT NULL",
        &[Type::Uuid],
    ),
];

/// Pauses an instance again whose pause is ending.
pub fn pause_again(instance: Uuid, by: i32, reason: Option<&str>) {
    let [pause, bookmarks] = &KEEP;
    pause.run(&[Arg::Uuid(&instance), Arg::text(reason), Arg::Integer(by)]);
    bookmarks.run(&[Arg::Uuid(&instance)]);
}

static PAUSED_WITH: Statement = Statement::new(
    "SELECT instance_id FROM workflow.pauses WHERE paused_with = $1 ORDER BY instance_id",
    &[Type::Uuid],
);

/// The instances that were paused as children of this one, in order of id.
pub fn paused_with(instance: Uuid) -> Vec<Uuid> {
    PAUSED_WITH.rows(&[Arg::Uuid(&instance)], |row| row.get())
}
