//! Variables of the process, by lifetime.
//!
//! A backend keeps some things between calls that no argument can carry, because PostgreSQL or SQL of users is in
//! between. Each layer has at most one variable for each lifetime: the backend, the transaction, the call. A module owns
//! the type of its part. "Variables of the process" in docs/internals/layers.md has the rules.

use std::cell::{Cell, RefCell};
use std::ffi::{CString, c_int, c_void};
use std::ops::Deref;
use std::sync::atomic::AtomicBool;

use pgrx::pg_sys::{self, Oid};

use super::boundary::Entered;
use super::error::PgError;
use super::hooks::{Installed, TransactionEnd};
use super::planner::{LargeTables, PreviousHooks};
use super::rows::KnownTids;
use super::{catalog, shared, user_sql, version};

/// A variable of the process. It has no lock, and a library reads it without a call, other than a thread-local one.
pub struct ProcessLocal<T>(T);

// SAFETY: a backend has one thread; pgrx panics when another calls PostgreSQL.
unsafe impl<T> Sync for ProcessLocal<T> {}

impl<T> ProcessLocal<T> {
    /// Declares one with its first value.
    pub const fn new(value: T) -> Self {
        Self(value)
    }
}

impl<T> Deref for ProcessLocal<T> {
    type Target = T;

    fn deref(&self) -> &T {
        &self.0
    }
}

/// Backend: what this process has registered with PostgreSQL, and what it has read of catalog and settings.
pub(super) static BACKEND: ProcessLocal<Backend> = ProcessLocal::new(Backend {
    catalog: catalog::Known::nothing(),
    connected_as: Cell::new(None),
    error_context: Cell::new(std::ptr::null_mut()),
    deadline_timer: Cell::new(None),
    hooks: Cell::new(None),
    planner_hooks: Cell::new(PreviousHooks::NONE),
    reloads: Cell::new(0),
    server_settings: RefCell::new((0, Vec::new())),
    shared: shared::Attached::not_yet(),
    user_plans: user_sql::Plans::none(),
    user_sql_ran: Cell::new(false),
    version: version::Found::nothing(),
});

pub(super) struct Backend {
    pub(super) catalog: catalog::Known,
    /// The role as which this background worker connected.
    pub(super) connected_as: Cell<Option<Oid>>,
    /// Where errors are copied.
    pub(super) error_context: Cell<pg_sys::MemoryContext>,
    /// The timer of [`super::deadline`].
    pub(super) deadline_timer: Cell<Option<c_int>>,
    pub(super) hooks: Cell<Option<Installed>>,
    pub(super) planner_hooks: Cell<PreviousHooks>,
    /// How often this process has reloaded the configuration.
    pub(super) reloads: Cell<u32>,
    /// The server's values in the format of `GetConfigOption`, and when their configuration was loaded.
    pub(super) server_settings: RefCell<(pg_sys::TimestampTz, Vec<CString>)>,
    pub(super) shared: shared::Attached,
    pub(super) user_plans: user_sql::Plans,
    /// Whether users' SQL has run in this background worker since its last reset.
    pub(super) user_sql_ran: Cell<bool>,
    #[cfg_attr(feature = "pg16", allow(dead_code, reason = "nothing is looked up in PostgreSQL 16"))]
    pub(super) version: version::Found,
}

/// Transaction: replaced by [`Transaction::NEW`] when it ends.
pub(super) static TRANSACTION: ProcessLocal<RefCell<Transaction>> = ProcessLocal::new(RefCell::new(Transaction::NEW));

pub(super) struct Transaction {
    /// The role that it has entered.
    pub(super) entered: Option<Entered>,
    /// The actor that holds until its end.
    pub(super) actor: Option<String>,
    /// The groups of this actor, if the program that set it vouches for them.
    pub(super) groups: Option<Vec<String>>,
    pub(super) tids: KnownTids,
    /// How it ends, once it does.
    pub(super) end: Option<TransactionEnd>,
}

impl Transaction {
    pub(super) const NEW: Self = Self { entered: None, actor: None, groups: None, tids: KnownTids::NONE, end: None };
}

/// Call: what is running now, the outermost call and the calls inside it.
pub(super) static CALL: ProcessLocal<Call> = ProcessLocal::new(Call {
    innermost: Cell::new(std::ptr::null_mut()),
    error: RefCell::new(None),
    actor: RefCell::new((None, true)),
    has_deadline: Cell::new(false),
    deadline_has_fired: AtomicBool::new(false),
    statement_is_timed: Cell::new(false),
    evaluations: Cell::new(0),
    large_tables: Cell::new(LargeTables::NONE),
});

pub(super) struct Call {
    /// The callback of the innermost call. Only this one copies an error; outer calls would copy it again.
    pub(super) innermost: Cell<*mut c_void>,
    /// The copy of the error that is being raised.
    pub(super) error: RefCell<Option<PgError>>,
    /// The actor of the outermost call, and whether the setting was LOCAL.
    pub(super) actor: RefCell<(Option<String>, bool)>,
    pub(super) has_deadline: Cell<bool>,
    /// Whether the timer of the last deadline has fired. A signal handler sets it.
    pub(super) deadline_has_fired: AtomicBool,
    /// Whether `statement_timeout` ran when the last deadline began.
    pub(super) statement_is_timed: Cell<bool>,
    /// The number of running evaluations of users' SQL. A plan that one of them may be executing must not be freed.
    pub(super) evaluations: Cell<u32>,
    /// The tables that the planner treats as large, while it plans a statement of ours.
    pub(super) large_tables: Cell<LargeTables>,
}
