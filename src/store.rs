//! The tables: one function per statement, rows to structs and back.
//!
//! docs/internals/locking.md describes the lock order. In short, the instance's row comes before its bookmarks, tasks
//! and queue items. Statements run with the rights of the extension's owner.
//!
//! Rows that every call reads or writes by key go through [`crate::pg::rows`], without plans; all other queries are
//! statements of [`crate::pg::spi`].

use std::cell::{Cell, RefCell};
use std::rc::Rc;

use pgrx::pg_sys::Oid;

use crate::pg::state::ProcessLocal;
use definitions::KnownOwners;
use nodes::partitions::CachedPartitions;
use rights::owners::KnownRoles;
use tasks::limits::CachedLimits;

pub mod definitions;
pub mod events;
pub mod history;
pub mod http;
pub mod instances;
pub mod maintenance;
pub mod nodes;
pub mod repair;
pub mod rights;
pub mod tables;
pub mod tasks;
pub mod timers;

/// Backend: rows that this session has read. A number of the catalog or of the definitions says how long they hold.
static BACKEND: ProcessLocal<Backend> = ProcessLocal::new(Backend {
    owners: RefCell::new(KnownRoles::none()),
    unusual_owners: RefCell::new(None),
    definition_owners: RefCell::new(None),
    limits: RefCell::new(None),
    partitions: RefCell::new(None),
    claimed_in: Cell::new(Oid::INVALID),
    left_logged_at: Cell::new(i64::MIN / 2),
});

struct Backend {
    owners: RefCell<KnownRoles>,
    /// The ids of rows that are not found by the oid of their role, with the generation of definitions.
    unusual_owners: RefCell<Option<(u64, Rc<[i32]>)>>,
    definition_owners: RefCell<Option<KnownOwners>>,
    limits: RefCell<Option<CachedLimits>>,
    partitions: RefCell<Option<CachedPartitions>>,
    /// The schema in which this session has seen a committed row of `workflow.identity`. Only adoption deletes such a
    /// row, and it inserts a new one.
    claimed_in: Cell<Oid>,
    /// When the session last logged that it left work for another node.
    left_logged_at: Cell<i64>,
}
