//! Slots: taking them, asking for them, and making them anew when a limit changes.
//!
//! Every lease of a limited task has a slot of its own in each place that it needs. The slots of a place are numbered
//! from 1, and a claim takes one that is free and whose number is within the limit. A limit that was lowered, or a
//! definition that came to another owner, leaves leases in slots beyond the limit. Such a lease counts all the same: a
//! claim first moves it into a free slot within the limit, and takes none as long as one is left beyond. So the leases
//! that run are never more than the limit, or than they were when it was lowered.
//!
//! Nothing here waits for a lock but [`rebuild`], which runs alone. A slot that another transaction has locked counts
//! as taken, and so does one that another transaction is making: an object lock on the place says so to claims, and the
//! row itself, which is not visible yet, to those who only ask.

use uuid::Uuid;

use crate::pg::rows::{self, Columns, Holder, Wait};
use crate::pg::spi::{Arg, Statement, Timestamp, Type};
use crate::pg::{interrupt, object_lock};
use crate::store::definitions;
use crate::store::tables::SLOTS;
use crate::store::tasks::leases;

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
     WHERE s.limit_id = $1 AND s.place = $2 AND s.n <= $5 AND s.id <> ALL ($4) \
       AND NOT EXISTS (SELECT FROM workflow.bookmarks b \
                       WHERE b.id = s.task AND b.token = s.token AND b.lease_until > $3) \
     ORDER BY s.n LIMIT 1 FOR NO KEY UPDATE SKIP LOCKED",
    &[Type::Integer, Type::Text, Type::Timestamp, Type::UuidArray, Type::Integer],
);
static FREE_AGAIN: Statement = Statement::new(
    "SELECT s.id FROM workflow.slots s WHERE s.limit_id = $1 AND s.place = $2 AND s.taken_at <= $3 AND s.n <= $4 \
     ORDER BY s.limit_id, s.place, s.taken_at LIMIT 1 FOR NO KEY UPDATE SKIP LOCKED",
    &[Type::Integer, Type::Text, Type::Timestamp, Type::Integer],
);
static LEASE: Statement = Statement::new(
    "SELECT b.id, b.token FROM workflow.slots s JOIN workflow.bookmarks b ON b.id = s.task AND b.token = s.token \
     WHERE s.id = $1 AND b.lease_until IS NOT NULL",
    &[Type::Uuid],
);
static END_LEASE: Statement =
    Statement::new("UPDATE workflow.bookmarks SET lease_until = NULL WHERE id = $1", &[Type::Uuid]);
static COUNT: Statement = Statement::new(
    "SELECT count(*), min(s.taken_at) FROM workflow.slots s WHERE s.limit_id = $1 AND s.place = $2 AND s.n <= $3",
    &[Type::Integer, Type::Text, Type::Integer],
);
static MAKE: Statement = Statement::new(
    "INSERT INTO workflow.slots (id, limit_id, place, n, taken_at) \
     SELECT gen_random_uuid(), $1, $2, g.n, CASE WHEN $4 THEN '-infinity'::timestamptz END \
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
    if need.per.is_none() && !settle_excess(need, now) {
        return None;
    }
    find_or_make(need, now)
}

fn find_or_make(need: &Need, now: Timestamp) -> Option<Uuid> {
    find(need, now).or_else(|| if make(need) { find(need, now) } else { None })
}

fn find(need: &Need, now: Timestamp) -> Option<Uuid> {
    let (limit, place, most) = (Arg::Integer(need.limit), Arg::Text(&need.place), Arg::Integer(need.most));
    if let Some(per) = need.per {
        let before = Timestamp(now.0.saturating_sub(per));
        return FREE_AGAIN.first(&[limit, place, Arg::Timestamp(before), most], |row| row.get());
    }
    let mut held = Vec::new();
    loop {
        interrupt::check();
        let id = FREE.first(&[limit, place, Arg::Timestamp(now), Arg::Uuids(&held), most], |row| row.get())?;
        if end_lease(id, now) {
            return Some(id);
        }
        held.push(id);
    }
}

/// Ends the lease that had a locked slot, if it is over by time. `false`: it is not, or another transaction is at work
/// on its task.
fn end_lease(slot: Uuid, now: Timestamp) -> bool {
    let Some((task, token)) = LEASE.first(&[Arg::Uuid(&slot)], |row| (row.get::<Uuid>(), row.get::<Uuid>())) else {
        return true;
    };
    let held = leases::lock(task, Wait::Skip);
    let is_over = held.is_some_and(|held| held.lease.token != Some(token) || !held.lease.runs(now));
    if is_over {
        END_LEASE.run(&[Arg::Uuid(&task)]);
    }
    is_over
}

static EXCESS: Statement = Statement::new(
    "SELECT s.id FROM workflow.slots s WHERE s.limit_id = $1 AND s.place = $2 AND s.n > $3 ORDER BY s.n LIMIT 1",
    &[Type::Integer, Type::Text, Type::Integer],
);
static LOCK: Statement =
    Statement::new("SELECT 1 FROM workflow.slots s WHERE s.id = $1 FOR UPDATE SKIP LOCKED", &[Type::Uuid]);
static MOVE: [Statement; 2] = [
    Statement::new(
        "UPDATE workflow.slots s SET task = e.task, token = e.token FROM workflow.slots e WHERE s.id = $2 AND e.id = $1",
        &[Type::Uuid, Type::Uuid],
    ),
    Statement::new("DELETE FROM workflow.slots WHERE id = $1", &[Type::Uuid]),
];

/// Moves the leases in slots beyond the limit into free slots within it, and removes those slots. `false`: a lease stays
/// beyond the limit, or another transaction is moving it.
fn settle_excess(need: &Need, now: Timestamp) -> bool {
    let [bind, delete] = &MOVE;
    let of = [Arg::Integer(need.limit), Arg::Text(&need.place), Arg::Integer(need.most)];
    while let Some(excess) = EXCESS.first(&of, |row| row.get::<Uuid>()) {
        interrupt::check();
        if LOCK.run(&[Arg::Uuid(&excess)]) == 0 {
            return false;
        }
        if !end_lease(excess, now) {
            let Some(slot) = find_or_make(need, now) else { return false };
            bind.run(&[Arg::Uuid(&excess), Arg::Uuid(&slot)]);
        }
        delete.run(&[Arg::Uuid(&excess)]);
    }
    true
}

/// Makes slots of a place that has fewer than its limit permits. `false`: it has all, or another transaction makes
/// some.
fn make(need: &Need) -> bool {
    let (limit, place) = (Arg::Integer(need.limit), Arg::Text(&need.place));
    let count: Option<i64> = COUNT.first(&[limit, place, Arg::Integer(need.most)], |row| row.get());
    if count.unwrap_or_default() >= i64::from(need.most) {
        return false;
    }
    // Two transactions that insert the same slot would wait for each other.
    let place_lock = object_lock::hash(&need.place).cast_signed();
    if !object_lock::try_lock(c"slots", need.limit.cast_unsigned(), place_lock) {
        return false;
    }
    tidy(need);
    MAKE.run(&[limit, place, Arg::Integer(need.most), Arg::Boolean(need.per.is_some())]);
    true
}

static OTHERS: Statement = Statement::new(
    "SELECT s.id FROM workflow.slots s WHERE s.id = ANY (ARRAY( \
         SELECT o.id FROM workflow.slots o WHERE o.limit_id = $1 AND o.place > $2 ORDER BY o.limit_id, o.place LIMIT 20)) \
       AND NOT EXISTS (SELECT FROM workflow.bookmarks b WHERE b.id = s.task AND b.token = s.token) \
     FOR UPDATE SKIP LOCKED",
    &[Type::Integer, Type::Text],
);
static TIDY: Statement = Statement::new(
    "DELETE FROM workflow.slots s USING workflow.limits l \
     WHERE s.id = ANY ($1) AND l.id = s.limit_id \
       AND (s.taken_at IS NULL OR s.taken_at < $2 - l.per * INTERVAL '1 microsecond') \
       AND NOT EXISTS (SELECT FROM workflow.bookmarks b \
                       WHERE b.id = s.task AND b.token = s.token AND b.lease_until IS NOT NULL)",
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
        "UPDATE workflow.slots SET task = $2, token = $3 WHERE id = $1",
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
    "SELECT s.id, s.n, b.lease_until, b.id \
     FROM workflow.slots s LEFT JOIN workflow.bookmarks b \
          ON b.id = s.task AND b.token = s.token AND b.lease_until IS NOT NULL \
     WHERE s.limit_id = $1 AND s.place = $2",
    &[Type::Integer, Type::Text],
);
static RETURNED: Statement = Statement::new(
    "SELECT s.id FROM workflow.slots s WHERE s.limit_id = $1 AND s.place = $2 AND s.taken_at <= $3 AND s.n <= $4 \
     ORDER BY s.limit_id, s.place, s.taken_at LIMIT 100",
    &[Type::Integer, Type::Text, Type::Timestamp, Type::Integer],
);

/// Asks whether a claim would get a slot, without taking a lock.
pub fn ask(need: &Need, now: Timestamp) -> SlotAvailability {
    match need.per {
        Some(per) => ask_period(need, per, now),
        None => ask_leases(need, now),
    }
}

fn ask_period(need: &Need, per: i64, now: Timestamp) -> SlotAvailability {
    let (limit, place, most) = (Arg::Integer(need.limit), Arg::Text(&need.place), Arg::Integer(need.most));
    let mut blockers = Vec::new();
    let before = Timestamp(now.0.saturating_sub(per));
    for id in RETURNED.rows(&[limit, place, Arg::Timestamp(before), most], |row| row.get::<Uuid>()) {
        match rows::holder(&SLOT, Arg::Uuid(&id)) {
            Holder::None => return SlotAvailability::Free,
            Holder::Transactions(running) => blockers.extend(running),
            Holder::Changed => {}
        }
    }
    let (count, first): (i64, Option<Timestamp>) =
        COUNT.first(&[limit, place, most], |row| (row.get(), row.maybe())).unwrap_or_default();
    if missing(need, count, &mut blockers) > 0 {
        return SlotAvailability::Free;
    }
    let until = first.map(|first| Timestamp(first.0.saturating_add(per))).filter(|until| *until > now);
    SlotAvailability::Held { until, blockers }
}

fn ask_leases(need: &Need, now: Timestamp) -> SlotAvailability {
    let (mut until, mut blockers): (Option<Timestamp>, _) = (None, Vec::new());
    // Slots within the limit, and those of them that are free; leases beyond it.
    let (mut count, mut free, mut excess) = (0, 0, 0);
    // A claim takes no slot while another transaction has locked one beyond the limit.
    let mut is_moving = false;
    let states = STATES.rows(&[Arg::Integer(need.limit), Arg::Text(&need.place)], |row| {
        (row.get::<Uuid>(), row.get::<i32>(), row.maybe::<Timestamp>(), row.maybe::<Uuid>())
    });
    for (id, n, held_until, task) in states {
        let is_within = n <= need.most;
        count += i64::from(is_within);
        if let Some(at) = held_until.filter(|at| *at > now) {
            until = Some(until.map_or(at, |until| until.min(at)));
            excess += i64::from(!is_within);
            if !is_within && let Holder::Transactions(running) = rows::holder(&SLOT, Arg::Uuid(&id)) {
                is_moving = true;
                blockers.extend(running);
            }
            continue;
        }
        match holder_of(&id, task.as_ref()) {
            Holder::None => free += i64::from(is_within),
            Holder::Transactions(running) => {
                is_moving |= !is_within;
                blockers.extend(running);
            }
            Holder::Changed => {}
        }
    }
    free += missing(need, count, &mut blockers);
    match free > excess && !is_moving {
        true => SlotAvailability::Free,
        false => SlotAvailability::Held { until, blockers },
    }
}

/// How many slots a claim could make in a place that has `count` within the limit: none while another transaction makes
/// some.
fn missing(need: &Need, count: i64, blockers: &mut Vec<u32>) -> i64 {
    let missing = i64::from(need.most) - count;
    if missing <= 0 {
        return 0;
    }
    match rows::inserting(&OF_PLACE, &[Arg::Integer(need.limit), Arg::Text(&need.place)]) {
        None => missing,
        Some(transaction) => {
            blockers.push(transaction);
            0
        }
    }
}

/// Who is in the way of taking a slot, and of ending the lease that had it.
fn holder_of(slot: &Uuid, expired: Option<&Uuid>) -> Holder {
    match (rows::holder(&SLOT, Arg::Uuid(slot)), expired) {
        (Holder::None, Some(task)) => leases::lock_holder(*task),
        (holder, _) => holder,
    }
}

static REBUILD: [Statement; 3] = [
    Statement::new(
        "DELETE FROM workflow.slots s USING workflow.limits l \
         WHERE l.owner = $1 AND l.name = $2 AND s.limit_id = l.id AND (l.concurrency IS NULL AND l.rate IS NULL OR s.taken_at IS NULL)",
        &[Type::Integer, Type::Text],
    ),
    Statement::new(
        concat!(
            "INSERT INTO workflow.slots (id, limit_id, place, n, task, token) \
             SELECT gen_random_uuid(), p.limit_id, p.place, \
                    row_number() OVER (PARTITION BY p.limit_id, p.place ORDER BY p.created_at, p.id), p.id, p.token \
                   FROM (SELECT k.id AS limit_id, b.id, b.token, b.created_at, \
                                concat('c', ",
            key_value!(),
            ") AS place \
                         FROM workflow.bookmarks b JOIN workflow.tasks t ON t.id = b.id \
                              JOIN workflow.instances i ON i.id = b.instance_id \
                              JOIN workflow.definitions d ON d.id = i.definition_version_id \
                              JOIN workflow.limits k ON k.owner = d.owner AND k.name = t.name \
                         WHERE b.activity_type IS NOT DISTINCT FROM 'Elsa.RunTask' AND b.definition_owner = ANY ($3) \
                           AND b.payload ->> 'TaskName' = $2 AND d.owner = $1 \
                           AND k.concurrency IS NOT NULL AND (k.key IS NULL OR t.payload ->> k.key IS NOT NULL) \
                           AND b.token IS NOT NULL AND b.lease_until IS NOT NULL) p"
        ),
        &[Type::Integer, Type::Text, Type::IntegerArray],
    ),
    Statement::new(
        "WITH freed AS ( \
             DELETE FROM workflow.slots s USING workflow.limits l \
             WHERE l.owner = $1 AND l.name = $2 AND s.limit_id = l.id AND s.taken_at IS NOT NULL \
             RETURNING s.id, s.limit_id, s.place, s.taken_at, l.rate, l.per), \
         ordered AS ( \
             SELECT f.*, row_number() OVER (PARTITION BY f.limit_id, f.place ORDER BY f.taken_at DESC) AS n FROM freed f) \
         INSERT INTO workflow.slots (id, limit_id, place, n, taken_at) \
         SELECT o.id, o.limit_id, o.place, o.n, o.taken_at FROM ordered o \
         WHERE o.n <= o.rate OR o.taken_at > $3 - o.per * INTERVAL '1 microsecond'",
        &[Type::Integer, Type::Text, Type::Timestamp],
    ),
];

/// Rebuilds the slots of an owner's limits for a name: one for each lease that exists,
/// and those of periods from the claims that were the last. Claims beyond a lowered rate keep theirs as long as they
/// count, because the rate may be raised again. The caller has locked these limits, so no session takes a slot meanwhile.
pub fn rebuild(owner: i32, name: &str, now: Timestamp) {
    let [leases, bound, rates] = &REBUILD;
    let of = [Arg::Integer(owner), Arg::Text(name)];
    leases.run(&of);
    bound.run(&[of[0], of[1], Arg::Integers(&definitions::stored_under(owner))]);
    rates.run(&[of[0], of[1], Arg::Timestamp(now)]);
}
