//! The directory: a function that a superuser has named, which knows names and addresses of people.
//!
//! Only its name is stored, and a name can pass to another role. So its owner is stored as well, and compared before
//! each burst that asks it.

use pgrx::pg_sys::Oid;
use serde_json::Value;

use crate::pg::spi::{Arg, Statement, Type};
use crate::store::rights::owners::{self, Owner};

/// The columns that a directory returns.
pub const COLUMNS: [&str; 5] = ["name", "mail", "zone", "language", "manager"];

/// A function that may serve as the directory.
#[derive(Debug)]
pub struct Candidate {
    /// Qualified, quoted name.
    pub name: String,
    /// Whether it is a function of one text.
    pub takes_text: bool,
    /// Whether it is STABLE or IMMUTABLE.
    pub is_stable: bool,
    /// Its owner.
    pub owner: Oid,
    /// Names of the columns that it returns as text.
    pub columns: Vec<String>,
    /// Whether only one session finds it.
    pub is_temporary: bool,
    /// Whether every role may execute it.
    pub is_open: bool,
}

static CANDIDATE: Statement = Statement::new(
    "SELECT format('%I.%I', n.nspname, p.proname), p.prokind = 'f' AND p.pronargs = 1 AND p.proargtypes[0] = 'text'::regtype, \
            p.provolatile <> 'v', p.proowner, \
            COALESCE((SELECT jsonb_agg(u.name) FROM unnest(p.proargnames, p.proargmodes, p.proallargtypes) AS u (name, mode, type) \
                      JOIN pg_type c ON c.oid = u.type WHERE u.mode IN ('o', 'b', 't') AND c.typcategory = 'S'), \
                     (SELECT jsonb_agg(a.attname) FROM pg_type t JOIN pg_attribute a ON a.attrelid = t.typrelid \
                      JOIN pg_type c ON c.oid = a.atttypid \
                      WHERE t.oid = p.prorettype AND a.attnum > 0 AND NOT a.attisdropped AND c.typcategory = 'S'), '[]'), \
            n.oid = pg_my_temp_schema() OR pg_is_other_temp_schema(n.oid), \
            has_function_privilege('public', p.oid, 'EXECUTE') AND has_schema_privilege('public', n.oid, 'USAGE') \
     FROM pg_proc p JOIN pg_namespace n ON n.oid = p.pronamespace WHERE p.oid = $1",
    &[Type::Oid],
);

/// A function's properties in the catalog.
pub fn candidate(function: Oid) -> Option<Candidate> {
    CANDIDATE.first(&[Arg::Oid(function)], |row| Candidate {
        name: row.get(),
        takes_text: row.get(),
        is_stable: row.get(),
        owner: row.get(),
        columns: names(&row.get()),
        is_temporary: row.get(),
        is_open: row.get(),
    })
}

fn names(list: &Value) -> Vec<String> {
    let names = list.as_array().into_iter().flatten().filter_map(Value::as_str);
    names.map(str::to_owned).collect()
}

/// The directory of this database.
#[derive(Debug)]
pub struct Directory {
    /// Qualified, quoted name of the function.
    pub function: String,
    /// Its owner when it was named.
    pub owner: Owner,
    /// Its owner now; `None`: there is no function of this name any more.
    pub present_owner: Option<Oid>,
    /// Whether the role that was asked about may execute it, and use its schema.
    pub may_execute: bool,
}

static FIND: Statement = Statement::new(
    "SELECT d.function, d.owner, p.proowner, \
            COALESCE(has_function_privilege($1, p.oid, 'EXECUTE') AND has_schema_privilege($1, p.pronamespace, 'USAGE'), false) \
     FROM workflow.directory d LEFT JOIN pg_proc p ON p.oid = to_regprocedure(d.function || '(text)')",
    &[Type::Oid],
);

/// The directory, if a superuser has named one. `role` is the one that wants to ask it.
pub fn find(role: Oid) -> Option<Directory> {
    FIND.first(&[Arg::Oid(role)], |row| Directory {
        function: row.get(),
        owner: owners::by_id(row.get()),
        present_owner: row.maybe(),
        may_execute: row.get(),
    })
}

static SET: Statement = Statement::new(
    "INSERT INTO workflow.directory (function, owner) VALUES ($1, $2) \
     ON CONFLICT (is_only) DO UPDATE SET function = excluded.function, owner = excluded.owner",
    &[Type::Text, Type::Integer],
);
static REMOVE: Statement = Statement::new("DELETE FROM workflow.directory", &[]);

/// Names the directory: the qualified name of the function, and the id of its owner. `None`: there is none any more.
pub fn set(function: Option<(&str, i32)>) {
    match function {
        Some((name, owner)) => SET.run(&[Arg::Text(name), Arg::Integer(owner)]),
        None => REMOVE.run(&[]),
    };
}
