//! Prepared statements of ours, kept for the life of the backend.
//!
//! Each execution runs with the rights of the extension's owner, under a search path of our own. Both are undone before
//! anything of the user runs again; after an error the (sub)transaction's end undoes them. How they are planned:
//! [`planner`](crate::pg::planner).

use std::cell::Cell;
use std::ffi::CString;

use pgrx::pg_sys;

use crate::pg::error::{PgError, unwind};
use crate::pg::version::SearchPath;
use crate::pg::{memory, planner, role};

mod arg;
mod row;

pub(super) use arg::varlena;
pub use arg::{Arg, Timestamp, Type};
pub(super) use row::size_of_varlena;
pub use row::{Column, Row};

/// Parameters that a statement may have.
pub const MAX_ARGS: usize = 64;

/// A statement of ours. Declare it as a `static`; it is prepared at its first use in a backend.
pub struct Statement {
    sql: &'static str,
    types: &'static [Type],
    plan: Cell<pg_sys::SPIPlanPtr>,
}

// SAFETY: a backend has one thread; pgrx panics when another calls PostgreSQL.
unsafe impl Sync for Statement {}

impl Statement {
    /// Declares a statement with the types of `$1…`.
    pub const fn new(sql: &'static str, types: &'static [Type]) -> Self {
        Self { sql, types, plan: Cell::new(std::ptr::null_mut()) }
    }

    /// Runs it and reads every row.
    pub fn rows<T>(&'static self, args: &[Arg<'_>], read: impl FnMut(&mut Row<'_>) -> T) -> Vec<T> {
        self.execute(args);
        fetch(read)
    }

    /// Runs it and reads the first row, if there is one.
    pub fn first<T>(&'static self, args: &[Arg<'_>], read: impl FnMut(&mut Row<'_>) -> T) -> Option<T> {
        self.rows(args, read).into_iter().next()
    }

    /// Runs it and says how many rows it affected or found.
    pub fn run(&'static self, args: &[Arg<'_>]) -> u64 {
        self.execute(args);
        // SAFETY: set by the execution just made.
        unsafe {
            pg_sys::SPI_freetuptable(pg_sys::SPI_tuptable);
            pg_sys::SPI_processed
        }
    }

    fn execute(&'static self, args: &[Arg<'_>]) {
        let mut values = [pg_sys::Datum::null(); MAX_ARGS];
        let mut nulls = [b' ' as std::ffi::c_char; MAX_ARGS];
        for (i, arg) in args.iter().enumerate() {
            match arg.datum() {
                Some(datum) => values[i] = datum,
                None => nulls[i] = b'n' as std::ffi::c_char,
            }
        }
        let user = role::OwnerRights::take();
        let path = SearchPath::push();
        // SAFETY: the plan is valid for the life of the backend, the arrays are as long as its parameters.
        let code = unsafe { pg_sys::SPI_execute_plan(self.plan(), values.as_mut_ptr(), nulls.as_ptr(), false, 0) };
        path.pop();
        user.give_back();
        if code < 0 {
            unwind(PgError::new("XX000", format!("statement failed with code {code}: {}", self.sql)));
        }
    }

    fn plan(&'static self) -> pg_sys::SPIPlanPtr {
        if self.plan.get().is_null() {
            self.plan.set(self.prepare());
        }
        self.plan.get()
    }

    fn prepare(&self) -> pg_sys::SPIPlanPtr {
        let sql = CString::new(self.sql).expect("our SQL has no NUL");
        let mut types: Vec<pg_sys::Oid> = self.types.iter().map(|kind| kind.oid()).collect();
        // SAFETY: the types are as many as said; SPI_keepplan moves the plan out of SPI's context.
        unsafe {
            let options = pg_sys::CURSOR_OPT_GENERIC_PLAN as i32 | planner::OURS;
            let plan = pg_sys::SPI_prepare_cursor(sql.as_ptr(), types.len() as i32, types.as_mut_ptr(), options);
            if plan.is_null() {
                unwind(PgError::new("XX000", format!("could not prepare: {}", self.sql)));
            }
            pg_sys::SPI_keepplan(plan);
            plan
        }
    }
}

/// Reads the rows of the execution just made.
pub(super) fn fetch<T>(mut read: impl FnMut(&mut Row<'_>) -> T) -> Vec<T> {
    // SAFETY: SPI_tuptable belongs to the execution just made and stays until it is freed below; the slices
    // are as long as the tuple descriptor says.
    unsafe {
        let table = pg_sys::SPI_tuptable;
        if table.is_null() {
            return Vec::new();
        }
        let descriptor = (*table).tupdesc;
        let columns = (*descriptor).natts as usize;
        let mut values = vec![pg_sys::Datum::null(); columns];
        let mut nulls = vec![false; columns];
        let count = pg_sys::SPI_processed as usize;
        memory::room(count.saturating_mul(size_of::<T>()));
        let mut rows = Vec::with_capacity(count);
        for i in 0..count {
            memory::check();
            let tuple = *(*table).vals.add(i);
            pg_sys::heap_deform_tuple(tuple, descriptor, values.as_mut_ptr(), nulls.as_mut_ptr());
            rows.push(read(&mut Row::new(&values, &nulls)));
        }
        pg_sys::SPI_freetuptable(table);
        rows
    }
}
