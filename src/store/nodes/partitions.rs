//! The partitions of correlation ids that this node has.
//!
//! The partition of a key is the one in which PL/Proxy finds it by `hashtext(key)`. The list changes when partitions
//! move; sessions then read it again, as they do with definitions.

use std::collections::HashSet;
use std::rc::Rc;

use pgrx::pg_sys::Oid;

use crate::pg::rows::{self, Columns};
use crate::pg::spi::{Arg, Statement, Type, read};
use crate::pg::{catalog, hashtext, object_lock};
use crate::store::BACKEND;
use crate::store::tables::PARTITIONS;

/// Maximum number of partitions.
pub const MAX_PARTITIONS: i32 = 65_536;

/// The number of locks for partitions. A transaction holds at most one of each, so that one with keys in all partitions
/// does not exhaust the lock table; a move blocks calls for all partitions that share the lock.
const LOCKS: u32 = 256;

read! {
    struct Stored of PARTITIONS {
        partition: i32,
        count: i32,
    }
}
static ROW: Columns = Columns::of(&PARTITIONS, Stored::COLUMNS);

/// The partitions of this node.
#[derive(Debug, Default, PartialEq, Eq)]
pub struct Partitions {
    /// Number of all partitions of all nodes, a power of two; 0 if this node has none.
    pub count: u32,
    here: HashSet<u32>,
}

impl Partitions {
    /// The partition of a key, if the number of partitions is known here.
    pub fn of(&self, key: &str) -> Option<u32> {
        (self.count > 0).then(|| of(key, self.count))
    }

    /// Whether this node has a partition.
    pub fn has(&self, partition: u32) -> bool {
        self.here.contains(&partition)
    }
}

/// The partition of a key among `count`, a power of two.
pub fn of(key: &str, count: u32) -> u32 {
    hashtext(key) & (count - 1)
}

pub(in crate::store) struct CachedPartitions {
    schema: Oid,
    generation: u64,
    list: Rc<Partitions>,
}

/// The current partitions of this node, even in a transaction with an older snapshot.
pub fn all() -> Rc<Partitions> {
    let (schema, generation) = (catalog::schema(), catalog::definitions_generation());
    let is_valid = |known: &&CachedPartitions| known.schema == schema && known.generation == generation;
    let known = BACKEND.partitions.borrow().as_ref().filter(is_valid).map(|known| Rc::clone(&known.list));
    known.unwrap_or_else(|| {
        let mut list = Partitions::default();
        rows::read_newest_by(&ROW, &[], |row| {
            let stored = Stored::read(row);
            list.count = stored.count.unsigned_abs();
            list.here.insert(stored.partition.unsigned_abs());
            None::<()>
        });
        let list = Rc::new(list);
        BACKEND.partitions.replace(Some(CachedPartitions { schema, generation, list: Rc::clone(&list) }));
        list
    })
}

/// Waits for a transaction that moves the partition, and prevents moves until this transaction ends.
pub fn share(partition: u32) {
    object_lock::share(c"partitions", partition % LOCKS, 0);
}

/// The same, if no transaction is moving it.
pub fn try_share(partition: u32) -> bool {
    object_lock::try_share(c"partitions", partition % LOCKS, 0)
}

/// Waits for transactions with calls for these partitions, and keeps others out until this transaction ends.
pub fn lock(partitions: &[i32]) {
    let mut locks: Vec<u32> = partitions.iter().map(|partition| partition.unsigned_abs() % LOCKS).collect();
    locks.sort_unstable();
    locks.dedup();
    locks.into_iter().for_each(|lock| object_lock::lock(c"partitions", lock, 0));
}

/// The same for the partitions of these keys, if the list determines them.
pub fn lock_of(keys: &[String]) {
    let list = all();
    let partitions = keys.iter().filter_map(|key| list.of(key)).map(u32::cast_signed);
    lock(&partitions.collect::<Vec<_>>());
}

static ADD: Statement = Statement::new(
    "INSERT INTO workflow.partitions (partition, count) SELECT p.partition, $2 FROM unnest($1) AS p (partition) \
     ON CONFLICT DO NOTHING",
    &[Type::IntegerArray, Type::Integer],
);
static REMOVE: Statement =
    Statement::new("DELETE FROM workflow.partitions WHERE partition = ANY ($1)", &[Type::IntegerArray]);

/// Adds partitions that the caller has locked, and returns how many were new.
pub fn add(partitions: &[i32], count: i32) -> u64 {
    catalog::definitions_changed();
    ADD.run(&[Arg::Integers(partitions), Arg::Integer(count)])
}

/// Removes partitions that the caller has locked, and returns how many existed.
pub fn remove(partitions: &[i32]) -> u64 {
    catalog::definitions_changed();
    REMOVE.run(&[Arg::Integers(partitions)])
}
