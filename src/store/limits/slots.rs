//! Slots: taking them, asking for them, and making them anew when a limit changes.
//!
//! Nothing here waits for a lock but [`rebuild`], which runs alone. A slot that another transaction has locked counts
//! as taken, and so does one that another transaction is making: an object lock on the place says so to claims, and the
//! row itself, which is not visible yet, to those who only ask.

use uuid::Uuid;

use crate::pg::rows::{self, Columns, Holder, Wait};
use crate::pg::spi::{Arg, Statement, Timestamp, Type};
use crate::pg::{interrupt, object_lock};
use crate::store::leases;
use crate::store::tables::SLOTS;

/// A slot that a lease needs: one of a place.
#[derive(Clone, Debug, PartialEq, Eq, Hash)]
pub struct Need {
    /// Key of the limit in `workflow.limits`.
    pub limit: i32,
    /// The place: what is counted, and the value of the key.
    pub place: String,
    /// How many slots the place has.
    pub most: i32,
    /// The period in microseconds after which a slot is free again; `None`: the end of the lease frees it.
    pub per: Option<i64>,
}

/// A slot that this transaction has locked.
#[derive(Debug)]
pub struct LockedSlot {
    id: Uuid,
    is_rate: bool,
}

// A lease that ends after the statement began is found by the next claim.
static FREE: Statement = Statement::new(
    "SELECT s.id FROM workflow.slots s \
     WHERE s.limit_id = $1 AND s.place = $2 AND s.id <> ALL ($4) \
       AND NOT EXISTS (SELECT FROM workflow.bookmarks b \
                       WHERE b.id = ANY (s.tasks) AND b.token = ANY (s.tokens) AND b.lease_until > $3) \
     ORDER BY s.n LIMIT 1 FOR NO KEY UPDATE SKIP LOCKED",
    &[Type::Integer, Type::Text, Type::Timestamp, Type::UuidArray],
);
static FREE_AGAIN: Statement = Statement::new(
    "SELECT s.id FROM workflow.slots s WHERE s.limit_id = $1 AND s.place = $2 AND s.taken_at <= $3 \
     ORDER BY s.limit_id, s.place, s.taken_at LIMIT 1 FOR NO KEY UPDATE SKIP LOCKED",
    &[Type::Integer, Type::Text, Type::Timestamp],
);
static LEASES: Statement = Statement::new(
    "SELECT b.id, b.token FROM workflow.slots s JOIN workflow.bookmarks b ON b.id = ANY (s.tasks) AND b.token = ANY (s.tokens) \
     WHERE s.id = $1 AND b.lease_until IS NOT NULL",
    &[Type::Uuid],
);
static END_LEASES: Statement =
    Statement::new("UPDATE workflow.bookmarks SET lease_until = NULL WHERE id = ANY ($1)", &[Type::UuidArray]);
static COUNT: Statement = Statement::new(
    "SELECT count(*), min(s.taken_at) FROM workflow.slots s WHERE s.limit_id = $1 AND s.place = $2",
    &[Type::Integer, Type::Text],
);
static MAKE: Statement = Statement::new(
    "INSERT INTO workflow.slots (id, limit_id, place, n, taken_at, tasks, tokens) \
     SELECT gen_random_uuid(), $1, $2, g.n, CASE WHEN $4 THEN '-infinity'::timestamptz END, '{}', '{}' \
     FROM generate_series(1, $3) AS g (n) \
     WHERE NOT EXISTS (SELECT FROM workflow.slots s WHERE s.limit_id = $1 AND s.place = $2 AND s.n = g.n) \
     ORDER BY g.n LIMIT 100",
    &[Type::Integer, Type::Text, Type::Integer, Type::Boolean],
);

/// Locks the slots that a lease needs. `Err`: there is none for this need.
///
/// The search for a slot of leases sees them as they were when its statement began. So a second look, when the slot is
/// locked, decides.
pub fn take<'a>(needs: &'a [Need], now: Timestamp) -> Result<Vec<LockedSlot>, &'a Need> {
    let one = |need: &'a Need| match take_one(need, now) {
        Some(id) => Ok(LockedSlot { id, is_rate: need.per.is_some() }),
        None => Err(need),
    };
    needs.iter().map(one).collect()
}

fn take_one(need: &Need, now: Timestamp) -> Option<Uuid> {
    find(need, now).or_else(|| if make(need) { find(need, now) } else { None })
}

fn find(need: &Need, now: Timestamp) -> Option<Uuid> {
    let (limit, place) = (Arg::Integer(need.limit), Arg::Text(&need.place));
    if let Some(per) = need.per {
        let before = Timestamp(now.0.saturating_sub(per));
        return FREE_AGAIN.first(&[limit, place, Arg::Timestamp(before)], |row| row.get());
    }
    let mut held = Vec::new();
    loop {
        interrupt::check();
        let id = FREE.first(&[limit, place, Arg::Timestamp(now), Arg::Uuids(&held)], |row| row.get())?;
        if end_leases(id, now) {
            return Some(id);
        }
        held.push(id);
    }
}

/// Ends the leases that had a locked slot and that are over by time. `false`: one of them is not, or another
/// transaction is at work on its task.
fn end_leases(slot: Uuid, now: Timestamp) -> bool {
    let ended: Vec<(Uuid, Uuid)> = LEASES.rows(&[Arg::Uuid(&slot)], |row| (row.get(), row.get()));
    if ended.is_empty() {
        return true;
    }
    let is_over = |(task, token): &(Uuid, Uuid)| {
        let held = leases::lock(*task, Wait::Skip);
        held.is_some_and(|held| held.lease.token != Some(*token) || !held.lease.runs(now))
    };
    if !ended.iter().all(is_over) {
        return false;
    }
    let tasks: Vec<Uuid> = ended.into_iter().map(|(task, _)| task).collect();
    END_LEASES.run(&[Arg::Uuids(&tasks)]);
    true
}

/// Makes slots of a place that has fewer than its limit permits. `false`: it has all, or another transaction makes
/// some.
fn make(need: &Need) -> bool {
    let (limit, place) = (Arg::Integer(need.limit), Arg::Text(&need.place));
    let count: Option<i64> = COUNT.first(&[limit, place], |row| row.get());
    if count.unwrap_or_default() >= i64::from(need.most) {
        return false;
    }
    // Two transactions that insert the same slot would wait for each other.
    let key = object_lock::hash(&format!("{} {}", need.limit, need.place));
    if !object_lock::try_lock(c"slots", key, 0) {
        return false;
    }
    tidy(need);
    MAKE.run(&[limit, place, Arg::Integer(need.most), Arg::Boolean(need.per.is_some())]);
    true
}

static OTHERS: Statement = Statement::new(
    "SELECT s.id FROM workflow.slots s WHERE s.id = ANY (ARRAY( \
         SELECT o.id FROM workflow.slots o WHERE o.limit_id = $1 AND o.place > $2 ORDER BY o.limit_id, o.place LIMIT 20)) \
       AND NOT EXISTS (SELECT FROM workflow.bookmarks b WHERE b.id = ANY (s.tasks) AND b.token = ANY (s.tokens)) \
     FOR UPDATE SKIP LOCKED",
    &[Type::Integer, Type::Text],
);
static TIDY: Statement = Statement::new(
    "DELETE FROM workflow.slots s USING workflow.limits l \
     WHERE s.id = ANY ($1) AND l.id = s.limit_id \
       AND (s.taken_at IS NULL OR s.taken_at < $2 - l.per * INTERVAL '1 microsecond') \
       AND NOT EXISTS (SELECT FROM workflow.bookmarks b \
                       WHERE b.id = ANY (s.tasks) AND b.token = ANY (s.tokens) AND b.lease_until IS NOT NULL)",
    &[Type::UuidArray, Type::Timestamp],
);

/// Removes slots of other values of the key that no task has: a key may have any number of values in the course of
/// time.
fn tidy(need: &Need) {
    let rest: Vec<Uuid> = OTHERS.rows(&[Arg::Integer(need.limit), Arg::Text(&need.place)], |row| row.get());
    if !rest.is_empty() {
        let now = Timestamp::from(crate::clock::now());
        TIDY.run(&[Arg::Uuids(&rest), Arg::Timestamp(now)]);
    }
}

static BIND: [Statement; 2] = [
    Statement::new(
        "UPDATE workflow.slots SET tasks = ARRAY[$2], tokens = ARRAY[$3] WHERE id = $1",
        &[Type::Uuid, Type::Uuid, Type::Uuid],
    ),
    Statement::new("UPDATE workflow.slots SET taken_at = $2 WHERE id = $1", &[Type::Uuid, Type::Timestamp]),
];

/// Binds locked slots to a lease.
pub fn bind(taken: &[LockedSlot], task: &Uuid, token: &Uuid, now: Timestamp) {
    let [lease, rate] = &BIND;
    for LockedSlot { id, is_rate } in taken {
        match is_rate {
            false => lease.run(&[Arg::Uuid(id), Arg::Uuid(task), Arg::Uuid(token)]),
            true => rate.run(&[Arg::Uuid(id), Arg::Timestamp(now)]),
        };
    }
}

/// Whether a claim would get a slot.
#[derive(Clone, Debug)]
pub enum SlotAvailability {
    /// A slot of each place that it needs is free now.
    Free,
    /// It would not, before an instant, or before one of these transactions has ended.
    Held {
        /// The earliest instant at which a slot is free by time.
        until: Option<Timestamp>,
        /// Transactions that have locked one that is free.
        blockers: Vec<u32>,
    },
}

static SLOT: Columns = Columns::of(&SLOTS, &[SLOTS.read("id", Type::Uuid, false)]);
static OF_PLACE: Columns = Columns::by(
    c"slots_limit_id_place_n_idx",
    &SLOTS,
    &[SLOTS.read("limit_id", Type::Integer, false), SLOTS.read("place", Type::Text, false)],
);

static STATES: Statement = Statement::new(
    "SELECT s.id, max(b.lease_until), (array_agg(b.id) FILTER (WHERE b.lease_until <= $3))[1], max(s.n) \
     FROM workflow.slots s LEFT JOIN workflow.bookmarks b \
          ON b.id = ANY (s.tasks) AND b.token = ANY (s.tokens) AND b.lease_until IS NOT NULL \
     WHERE s.limit_id = $1 AND s.place = $2 GROUP BY s.id",
    &[Type::Integer, Type::Text, Type::Timestamp],
);
static RETURNED: Statement = Statement::new(
    "SELECT s.id FROM workflow.slots s WHERE s.limit_id = $1 AND s.place = $2 AND s.taken_at <= $3 \
     ORDER BY s.limit_id, s.place, s.taken_at LIMIT 100",
    &[Type::Integer, Type::Text, Type::Timestamp],
);

/// Asks whether a claim would get a slot, without taking a lock.
pub fn ask(need: &Need, now: Timestamp) -> SlotAvailability {
    let (limit, place) = (Arg::Integer(need.limit), Arg::Text(&need.place));
    let (mut until, mut blockers) = (None, Vec::new());
    let count = if let Some(per) = need.per {
        let before = Timestamp(now.0.saturating_sub(per));
        for id in RETURNED.rows(&[limit, place, Arg::Timestamp(before)], |row| row.get::<Uuid>()) {
            match rows::holder(&SLOT, Arg::Uuid(&id)) {
                Holder::None => return SlotAvailability::Free,
                Holder::Transactions(running) => blockers.extend(running),
                Holder::Changed => {}
            }
        }
        let (count, first) =
            COUNT.first(&[limit, place], |row| (row.get(), row.maybe::<Timestamp>())).unwrap_or_default();
        until = first.map(|first| Timestamp(first.0.saturating_add(per))).filter(|until| *until > now);
        count
    } else {
        let states = STATES.rows(&[limit, place, Arg::Timestamp(now)], |row| {
            (row.get::<Uuid>(), row.maybe::<Timestamp>(), row.maybe::<Uuid>())
        });
        for (id, held_until, expired) in &states {
            if let Some(at) = held_until.filter(|at| *at > now) {
                until = Some(until.map_or(at, |until: Timestamp| until.min(at)));
                continue;
            }
            match holder_of(id, expired.as_ref()) {
                Holder::None => return SlotAvailability::Free,
                Holder::Transactions(running) => blockers.extend(running),
                Holder::Changed => {}
            }
        }
        i64::try_from(states.len()).unwrap_or(i64::MAX)
    };
    if count < i64::from(need.most) {
        match rows::inserting(&OF_PLACE, &[limit, place]) {
            None => return SlotAvailability::Free,
            Some(transaction) => blockers.push(transaction),
        }
    }
    SlotAvailability::Held { until, blockers }
}

/// Who is in the way of taking a slot, and of ending the lease that had it.
fn holder_of(slot: &Uuid, expired: Option<&Uuid>) -> Holder {
    match (rows::holder(&SLOT, Arg::Uuid(slot)), expired) {
        (Holder::None, Some(task)) => leases::lock_holder(*task),
        (holder, _) => holder,
    }
}

static REBUILD: [Statement; 4] = [
    Statement::new(
        "DELETE FROM workflow.slots s USING workflow.limits l \
         WHERE l.owner = $1 AND l.name = $2 AND s.limit_id = l.id AND (l.concurrency IS NULL AND l.rate IS NULL OR s.taken_at IS NULL)",
        &[Type::Integer, Type::Text],
    ),
    Statement::new(
        "DELETE FROM workflow.slots s WHERE NOT EXISTS (SELECT FROM workflow.limits l WHERE l.id = s.limit_id)",
        &[],
    ),
    Statement::new(
        concat!(
            "INSERT INTO workflow.slots (id, limit_id, place, n, tasks, tokens) \
             SELECT gen_random_uuid(), h.limit_id, h.place, h.n, array_agg(h.id), array_agg(h.token) \
             FROM (SELECT p.limit_id, p.place, p.id, p.token, \
                          1 + (row_number() OVER (PARTITION BY p.limit_id, p.place ORDER BY p.created_at) - 1) % p.concurrency AS n \
                   FROM (SELECT k.id AS limit_id, k.concurrency, b.id, b.token, b.created_at, \
                                concat('c', ",
            key_value!(),
            ") AS place \
                         FROM workflow.bookmarks b JOIN workflow.tasks t ON t.id = b.id \
                              JOIN workflow.instances i ON i.id = b.instance_id \
                              JOIN workflow.definitions d ON d.id = i.definition_version_id \
                              JOIN workflow.limits k ON k.owner = d.owner AND k.name = t.name \
                         WHERE b.activity_type IS NOT DISTINCT FROM 'Elsa.RunTask' AND b.payload ->> 'TaskName' = $2 AND d.owner = $1 \
                           AND k.concurrency IS NOT NULL AND (k.key IS NULL OR t.payload ->> k.key IS NOT NULL) \
                           AND b.token IS NOT NULL AND b.lease_until IS NOT NULL) p) h \
             GROUP BY h.limit_id, h.place, h.n"
        ),
        &[Type::Integer, Type::Text],
    ),
    Statement::new(
        "WITH freed AS ( \
             DELETE FROM workflow.slots s USING workflow.limits l \
             WHERE l.owner = $1 AND l.name = $2 AND s.limit_id = l.id AND s.taken_at IS NOT NULL \
             RETURNING s.id, s.limit_id, s.place, s.taken_at, l.rate), \
         ordered AS ( \
             SELECT f.*, row_number() OVER (PARTITION BY f.limit_id, f.place ORDER BY f.taken_at DESC) AS n FROM freed f) \
         INSERT INTO workflow.slots (id, limit_id, place, n, taken_at, tasks, tokens) \
         SELECT o.id, o.limit_id, o.place, o.n, o.taken_at, '{}', '{}' FROM ordered o WHERE o.n <= o.rate",
        &[Type::Integer, Type::Text],
    ),
];

/// Makes the slots of an owner's limits for a name anew: those of leases from the leases that there are, and those of
/// periods from the claims that were the last. Where there are more leases than slots, several share one, and it is
/// free when the last of them has ended. The caller has locked all limits, so no session takes a slot meanwhile.
pub fn rebuild(owner: i32, name: &str) {
    let [leases, lost, bound, rates] = &REBUILD;
    let of = [Arg::Integer(owner), Arg::Text(name)];
    leases.run(&of);
    lost.run(&[]);
    bound.run(&of);
    rates.run(&of);
}
