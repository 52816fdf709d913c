//! Our prepared statements, cached for the life of the backend.
//!
//! Each execution runs with the rights of the extension's owner, under our own search path. Both are undone before any
//! users' code runs again; after an error the end of the (sub)transaction undoes them. For planning see
//! [`planner`].

use std::cell::Cell;
use std::ffi::CString;

use pgrx::pg_sys;

use crate::pg::error::{PgError, throw};
use crate::pg::version::{self, OwnSearchPath};
use crate::pg::{memory, planner, role};

mod arg;
mod record;
mod row;
mod types;

pub use arg::Arg;
pub use record::{Change, Changed, Read, Table, Written, column, joined};
pub(crate) use record::{changed, read, table, written};
pub(super) use row::Types;
pub use row::{Column, JsonText, Row};
pub use types::{ColumnRef, Tid, Timestamp, Type};

/// The maximum number of parameters of a statement.
pub const MAX_ARGS: usize = 64;

/// A statement of ours. Declare it as a `static`; it is prepared at its first use in a backend.
pub struct Statement {
    text: Text,
    types: &'static [Type],
    plan: Cell<pg_sys::SPIPlanPtr>,
}

/// The text of a statement, or the parts to build it from.
enum Text {
    /// SQL in which `{b}` stands for the columns, qualified with the table alias `b`.
    Sql(&'static str, &'static [ColumnRef]),
    /// An INSERT of the columns into a table, and the SQL after the VALUES clause.
    Insert(&'static Table, &'static [ColumnRef], &'static str),
}

impl Text {
    fn sql(&self) -> String {
        let names = |columns: &[ColumnRef], table: &str| {
            let names = columns.iter().map(|(name, _)| format!("{table}{}", name.to_string_lossy()));
            names.collect::<Vec<_>>().join(", ")
        };
        match self {
            Self::Sql(sql, []) => (*sql).to_owned(),
            Self::Sql(sql, columns) => {
                let (before, rest) = sql.split_once('{').expect("there is a place for the columns");
                let (table, after) = rest.split_once('}').expect("it has an end");
                format!("{before}{}{after}", names(columns, &format!("{table}.")))
            }
            Self::Insert(table, columns, rest) => {
                let values: Vec<String> = (1..=columns.len()).map(|number| format!("${number}")).collect();
                let table = table.name.to_string_lossy();
                format!("INSERT INTO workflow.{table} ({}) VALUES ({}) {rest}", names(columns, ""), values.join(", "))
            }
        }
    }
}

// SAFETY: a backend has one thread; pgrx panics when another calls PostgreSQL.
unsafe impl Sync for Statement {}

impl Statement {
    /// Declares a statement with the types of `$1…`.
    pub const fn new(sql: &'static str, types: &'static [Type]) -> Self {
        Self::with(Text::Sql(sql, &[]), types)
    }

    /// Declares a statement in which `{b}` stands for the columns of a record, qualified with the table alias `b`.
    pub const fn reading(columns: &'static [ColumnRef], sql: &'static str, types: &'static [Type]) -> Self {
        Self::with(Text::Sql(sql, columns), types)
    }

    /// Declares an INSERT of the columns of a record, `$1…`. `rest` is the SQL after the VALUES clause; the further
    /// types are those of its parameters.
    pub const fn insert(
        table: &'static Table,
        columns: &'static [ColumnRef],
        rest: &'static str,
        types: &'static [Type],
    ) -> Self {
        Self::with(Text::Insert(table, columns, rest), types)
    }

    const fn with(text: Text, types: &'static [Type]) -> Self {
        Self { text, types, plan: Cell::new(std::ptr::null_mut()) }
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

    /// Runs it and returns the number of rows that it affected or found.
    pub fn run(&'static self, args: &[Arg<'_>]) -> u64 {
        self.execute(args);
        // SAFETY: set by the execution just made.
        unsafe {
            pg_sys::SPI_freetuptable(pg_sys::SPI_tuptable);
            pg_sys::SPI_processed
        }
    }

    /// The types of `$1…`.
    fn parameters(&self) -> impl Iterator<Item = Type> {
        let inserted = if let Text::Insert(_, columns, _) = self.text { columns } else { &[] };
        inserted.iter().map(|(_, kind)| *kind).chain(self.types.iter().copied())
    }

    fn execute(&'static self, args: &[Arg<'_>]) {
        let is_typed = |(arg, kind): (&Arg<'_>, Type)| arg.kind().is_none_or(|given| given == kind);
        if args.len() != self.parameters().count() || !args.iter().zip(self.parameters()).all(is_typed) {
            throw(PgError::new("XX000", format!("parameters do not fit: {}", self.text.sql())));
        }
        let mut values = [pg_sys::Datum::null(); MAX_ARGS];
        let mut nulls = [b' ' as std::ffi::c_char; MAX_ARGS];
        for (i, arg) in args.iter().enumerate() {
            match arg.datum() {
                Some(datum) => values[i] = datum,
                None => nulls[i] = b'n' as std::ffi::c_char,
            }
        }
        let user = role::OwnerRights::take();
        let path = OwnSearchPath::push();
        // SAFETY: the plan is valid for the life of the backend, the arrays are as long as its parameters.
        let code = unsafe { pg_sys::SPI_execute_plan(self.plan(), values.as_mut_ptr(), nulls.as_ptr(), false, 0) };
        path.pop();
        user.give_back();
        if code < 0 {
            throw(PgError::new("XX000", format!("statement failed with code {code}: {}", self.text.sql())));
        }
    }

    fn plan(&'static self) -> pg_sys::SPIPlanPtr {
        if self.plan.get().is_null() {
            self.plan.set(self.prepare());
        }
        self.plan.get()
    }

    fn prepare(&self) -> pg_sys::SPIPlanPtr {
        let sql = CString::new(self.text.sql()).expect("our SQL has no NUL");
        let mut types: Vec<pg_sys::Oid> = self.parameters().map(Type::oid).collect();
        // SAFETY: the types are as many as said; SPI_keepplan moves the plan out of SPI's context.
        unsafe {
            let options = pg_sys::CURSOR_OPT_GENERIC_PLAN as i32 | planner::OURS;
            let plan = pg_sys::SPI_prepare_cursor(sql.as_ptr(), types.len() as i32, types.as_mut_ptr(), options);
            if plan.is_null() {
                throw(PgError::new("XX000", format!("could not prepare: {}", self.text.sql())));
            }
            pg_sys::SPI_keepplan(plan);
            plan
        }
    }
}

/// Reads the rows of the last execution.
pub(super) fn fetch<T>(mut read: impl FnMut(&mut Row<'_>) -> T) -> Vec<T> {
    // SAFETY: SPI_tuptable belongs to the execution just made and stays until it is freed below; the slices
    // are as long as the tuple descriptor says.
    unsafe {
        let table = pg_sys::SPI_tuptable;
        if table.is_null() {
            return Vec::new();
        }
        let descriptor = (*table).tupdesc;
        let types = version::attributes(descriptor);
        let mut values = vec![pg_sys::Datum::null(); types.len()];
        let mut nulls = vec![false; types.len()];
        let count = pg_sys::SPI_processed as usize;
        memory::room(count.saturating_mul(size_of::<T>()));
        let mut rows = Vec::with_capacity(count);
        for i in 0..count {
            memory::check();
            let tuple = *(*table).vals.add(i);
            pg_sys::heap_deform_tuple(tuple, descriptor, values.as_mut_ptr(), nulls.as_mut_ptr());
            rows.push(read(&mut Row::new(Types::Result(types), &values, &nulls)));
        }
        pg_sys::SPI_freetuptable(table);
        rows
    }
}
