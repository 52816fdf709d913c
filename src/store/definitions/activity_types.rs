//! Activity types registered in SQL.

use pgrx::pg_sys::Oid;
use serde_json::Value;

use crate::pg::catalog;
use crate::pg::spi::{Arg, Statement, Timestamp, Type};
use crate::store::rights::owners::{self, Owner};

/// A user's function, stored by name. The name can come to refer to another function, so the owner is stored for
/// comparison.
#[derive(Clone, Debug)]
pub struct Function {
    /// Qualified, quoted name; the argument is one jsonb.
    pub name: String,
    /// Its owner when it was registered.
    pub owner: Owner,
}

/// A registered activity type, with the columns needed to call it.
#[derive(Clone, Debug)]
pub struct ActivityType {
    /// The SQL function that each execution of the type calls.
    pub handler: Function,
    /// Whether it was registered with the kind `trigger`: then it can start workflows.
    pub trigger: bool,
    /// The SQL function that returns the payloads under which its triggers are indexed, if it has one.
    pub payloads: Option<Function>,
    /// Names of its outputs, if they are declared.
    pub outputs: Option<Vec<String>>,
    /// Names of its inputs, if they are declared.
    pub inputs: Option<Vec<String>>,
    /// Who registered it.
    pub owner: Owner,
}

/// A type to be stored.
#[derive(Debug)]
pub struct NewActivityType<'a> {
    /// Type name as definitions write it; a type that has it is replaced.
    pub name: &'a str,
    /// Qualified name of the handler, and the id of its owner.
    pub handler: (&'a str, i32),
    /// `action` or `trigger`.
    pub kind: &'a str,
    /// Qualified name of the payload function, and the id of its owner.
    pub payloads: Option<(&'a str, i32)>,
    /// The declared inputs: an array of names, or of objects with a `name`.
    pub inputs: Option<&'a Value>,
    /// The declared outputs, in the same form.
    pub outputs: Option<&'a Value>,
    /// The declared outcomes.
    pub outcomes: Option<&'a [String]>,
    /// The description shown by `wf_activities`.
    pub description: Option<&'a str>,
    /// Id in `workflow.owners` of the role that registers it; a type that is replaced keeps its own.
    pub owner: i32,
}

static FIND: Statement = Statement::new(
    "SELECT t.handler, t.handler_owner, t.kind = 'trigger', t.payloads, t.payloads_owner, t.outputs, t.inputs, t.owner \
     FROM workflow.activity_types t WHERE t.type = $1",
    &[Type::Text],
);

static PUT: Statement = Statement::new(
    "INSERT INTO workflow.activity_types \
         (type, handler, kind, payloads, inputs, outputs, outcomes, description, owner, created_at, handler_owner, \
          payloads_owner) \
     VALUES ($1, $2, $3, $4, $5, $6, $7, $8, $9, $10, $12, $13) \
     ON CONFLICT (type) DO UPDATE SET handler = excluded.handler, handler_owner = excluded.handler_owner, \
         kind = excluded.kind, payloads = excluded.payloads, payloads_owner = excluded.payloads_owner, inputs = excluded.inputs, outputs = excluded.outputs, outcomes = excluded.outcomes, \
         description = excluded.description \
         WHERE activity_types.owner = $11",
    &[
        Type::Text,
        Type::Text,
        Type::Text,
        Type::Text,
        Type::Jsonb,
        Type::Jsonb,
        Type::TextArray,
        Type::Text,
        Type::Integer,
        Type::Timestamp,
        Type::Integer,
        Type::Integer,
        Type::Integer,
    ],
);

/// The type of this name.
pub fn find(name: &str) -> Option<ActivityType> {
    FIND.first(&[Arg::Text(name)], |row| ActivityType {
        handler: Function { name: row.get(), owner: owners::by_id(row.get()) },
        trigger: row.get(),
        payloads: named(row.maybe(), row.maybe()),
        outputs: row.maybe::<Value>().map(|declared| names(&declared)),
        inputs: row.maybe::<Value>().map(|declared| names(&declared)),
        owner: owners::by_id(row.get()),
    })
}

fn named(name: Option<String>, owner: Option<i32>) -> Option<Function> {
    Some(Function { name: name?, owner: owners::by_id(owner?) })
}

/// Output names, from an array of names or of objects with a `name`.
fn names(declared: &Value) -> Vec<String> {
    match declared {
        Value::Array(entries) => {
            let named = entries.iter().filter_map(|entry| entry.as_str().or_else(|| entry.get("name")?.as_str()));
            named.map(ToOwned::to_owned).collect()
        }
        _ => Vec::new(),
    }
}

/// A function that may serve as a handler.
#[derive(Debug)]
pub struct FunctionRow {
    /// Qualified, quoted name.
    pub name: String,
    /// Whether it takes one jsonb and returns jsonb.
    pub is_plain: bool,
    /// Whether it returns a set.
    pub returns_set: bool,
    /// OID of its current owner, by which a later function with this name is distinguished.
    pub owner: Oid,
}

static FUNCTION: Statement = Statement::new(
    "SELECT format('%I.%I', n.nspname, p.proname), \
            p.prokind = 'f' AND p.pronargs = 1 AND p.proargtypes[0] = 'jsonb'::regtype AND p.prorettype = 'jsonb'::regtype, \
            p.proretset, p.proowner \
     FROM pg_proc p JOIN pg_namespace n ON n.oid = p.pronamespace WHERE p.oid = $1",
    &[Type::Oid],
);

/// A function's properties in the catalog.
pub fn function(oid: Oid) -> Option<FunctionRow> {
    FUNCTION.first(&[Arg::Oid(oid)], |row| FunctionRow {
        name: row.get(),
        is_plain: row.get(),
        returns_set: row.get(),
        owner: row.get(),
    })
}

/// Stores a type, or replaces an existing type of owner `replaces`, which keeps that owner. Returns `false` if another
/// role owns the type.
pub fn put(new: &NewActivityType<'_>, replaces: i32, now: Timestamp) -> bool {
    let stored = PUT.run(&[
        Arg::Text(new.name),
        Arg::Text(new.handler.0),
        Arg::Text(new.kind),
        Arg::text(new.payloads.map(|(name, _)| name)),
        Arg::json(new.inputs),
        Arg::json(new.outputs),
        new.outcomes.map_or(Arg::Null, Arg::Texts),
        Arg::text(new.description),
        Arg::Integer(new.owner),
        Arg::Timestamp(now),
        Arg::Integer(replaces),
        Arg::Integer(new.handler.1),
        new.payloads.map_or(Arg::Null, |(_, owner)| Arg::Integer(owner)),
    ]);
    // Compiled definitions contain the declarations of the type.
    catalog::definitions_changed();
    stored > 0
}

static LOCK: Statement =
    Statement::new("SELECT owner FROM workflow.activity_types WHERE type = $1 FOR UPDATE", &[Type::Text]);
static SET_OWNER: Statement =
    Statement::new("UPDATE workflow.activity_types SET owner = $2 WHERE type = $1", &[Type::Text, Type::Integer]);

/// Locks a type and returns its owner.
pub fn lock(name: &str) -> Option<Owner> {
    LOCK.first(&[Arg::Text(name)], |row| owners::by_id(row.get()))
}

/// Assigns a locked type to another owner.
pub fn set_owner(name: &str, owner: i32) {
    SET_OWNER.run(&[Arg::Text(name), Arg::Integer(owner)]);
}
