//! Planner hooks that plan our statements without sequential scans, and for large tables. A backend keeps their plans,
//! and a plan made while a table was empty would otherwise read a million rows later: where a table has no rows,
//! reading a whole index costs no more than finding one entry of it.
//!
//! Without the hooks a start with a limited task reads 1,122 pages instead of 56 after 60 more starts, in a session that
//! planned it while analyzed tables were empty (`regress/tasks/limited_start_analyzed`), and 328 instead of 55 after
//! 3,000 more starts where the tables had no statistics (`limited_start_plan`).
//!
//! The hooks affect only our statements, and only while the planner plans them. A trigger on our tables runs inside our
//! statement, but the statements of its function (whose plans PL/pgSQL keeps) are planned as usual.

use std::ffi::{CStr, c_char, c_int};

use pgrx::pg_sys::{self, Oid};

use crate::pg::entry::keeping;
use crate::pg::error::raise;
use crate::pg::raw;
use crate::pg::state::{BACKEND, CALL};

/// A cursor option that marks our statements. PostgreSQL passes it to the planner and does not use it.
pub const OURS: c_int = 0x4000_0000;

/// The minimum number of rows and pages that the planner assumes for a growing table and each of its indexes.
const ROWS: f64 = 1e6;
const PAGES: u32 = 50_000;
const INDEX_PAGES: u32 = 10_000;
const INDEX_HEIGHT: c_int = 2;

/// Tables with rows for each instance, stimulus or task. The other tables stay small; if the planner assumed that they
/// are large as well, their cost would hide that of these.
const GROWING: [&CStr; 13] = [
    c"audit_log",
    c"instances",
    c"bookmarks",
    c"tasks",
    c"incidents",
    c"execution_log",
    c"bookmark_queue",
    c"dead_letters",
    c"compensations",
    c"slots",
    c"admissions",
    c"messages",
    c"search_attributes",
];

/// The hooks that were there before.
#[derive(Clone, Copy)]
pub(super) struct PreviousHooks {
    plan: pg_sys::planner_hook_type,
    relation: pg_sys::get_relation_info_hook_type,
}

impl PreviousHooks {
    pub(super) const NONE: Self = Self { plan: None, relation: None };
}

/// The tables currently treated as large.
#[derive(Clone, Copy)]
pub(super) struct LargeTables([Oid; GROWING.len()]);

impl LargeTables {
    pub(super) const NONE: Self = Self([Oid::INVALID; GROWING.len()]);
}

/// Installs the hooks of this process.
pub fn install() {
    // SAFETY: hooks are set by the process's only thread; the callbacks live as long as the library.
    unsafe {
        let previous = PreviousHooks { plan: pg_sys::planner_hook, relation: pg_sys::get_relation_info_hook };
        BACKEND.planner_hooks.set(previous);
        pg_sys::planner_hook = Some(plan);
        pg_sys::get_relation_info_hook = Some(enlarge);
    }
}

/// Makes growing tables look large while one of our statements is planned.
unsafe extern "C-unwind" fn enlarge(
    root: *mut pg_sys::PlannerInfo,
    table: Oid,
    is_inherited: bool,
    rel: *mut pg_sys::RelOptInfo,
) {
    // SAFETY: PostgreSQL passes what it has just filled; this frame owns nothing when an error leaves it.
    unsafe {
        if let Some(previous) = BACKEND.planner_hooks.get().relation {
            previous(root, table, is_inherited, rel);
        }
        if !CALL.large_tables.get().0.contains(&table) {
            return;
        }
        (*rel).tuples = (*rel).tuples.max(ROWS);
        (*rel).pages = (*rel).pages.max(PAGES);
        let indexes = (*rel).indexlist;
        for i in 0..if indexes.is_null() { 0 } else { (*indexes).length as usize } {
            let index = (*(*indexes).elements.add(i)).ptr_value.cast::<pg_sys::IndexOptInfo>();
            (*index).tuples = (*index).tuples.max(ROWS);
            (*index).pages = (*index).pages.max(INDEX_PAGES);
            (*index).tree_height = (*index).tree_height.max(INDEX_HEIGHT);
        }
    }
}

unsafe extern "C-unwind" fn plan(
    query: *mut pg_sys::Query,
    text: *const c_char,
    options: c_int,
    parameters: pg_sys::ParamListInfo,
) -> *mut pg_sys::PlannedStmt {
    if options & OURS == 0 {
        // SAFETY: passes PostgreSQL's arguments on unchanged; this frame owns nothing when an error leaves it.
        return unsafe { next(query, text, options, parameters) };
    }
    let planned = keeping(|| {
        let _planning = Planning::begin();
        // SAFETY: as above; an error comes as a panic here, and puts the settings back.
        Ok(unsafe { pg_sys::ffi::pg_guard_ffi_boundary(|| next(query, text, options, parameters)) })
    });
    match planned {
        Ok(planned) => planned,
        Err(error) => raise(error),
    }
}

unsafe fn next(
    query: *mut pg_sys::Query,
    text: *const c_char,
    options: c_int,
    parameters: pg_sys::ParamListInfo,
) -> *mut pg_sys::PlannedStmt {
    // SAFETY: as the caller's.
    unsafe {
        match BACKEND.planner_hooks.get().plan {
            Some(previous) => previous(query, text, options, parameters),
            None => raw::standard_planner(query, text, options, parameters),
        }
    }
}

/// Disables sequential scans and JIT while it lives, and makes growing tables look large. JIT must be off because an
/// unavoidable sequential scan then has so high a cost that every session would load the JIT compiler, ten megabytes
/// each.
struct Planning {
    seqscan: bool,
    jit: bool,
    large: LargeTables,
}

impl Planning {
    fn begin() -> Self {
        // SAFETY: planner settings of the backend's only thread; put back by `drop`, also on unwinding. Names are
        // looked up in the catalog, where a table that is missing has the invalid oid.
        unsafe {
            let schema = pg_sys::get_namespace_oid(c"workflow".as_ptr(), true);
            let tables = GROWING.map(|name| pg_sys::get_relname_relid(name.as_ptr(), schema));
            let large = CALL.large_tables.replace(LargeTables(tables));
            let before = Self { seqscan: pg_sys::enable_seqscan, jit: pg_sys::jit_enabled, large };
            pg_sys::enable_seqscan = false;
            pg_sys::jit_enabled = false;
            before
        }
    }
}

impl Drop for Planning {
    fn drop(&mut self) {
        // SAFETY: as in `begin`.
        unsafe {
            pg_sys::enable_seqscan = self.seqscan;
            pg_sys::jit_enabled = self.jit;
            CALL.large_tables.set(self.large);
        }
    }
}
