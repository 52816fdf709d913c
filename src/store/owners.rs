//! Owners: ids that stand for roles.

use crate::pg::role;
use crate::pg::spi::{Arg, Row, Statement, Type};
use pgrx::pg_sys::Oid;

/// A role as a row remembers it.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Owner {
    /// Key in `workflow.owners`.
    pub id: i32,
    /// Oid when the row was made.
    pub role: Oid,
    /// Name then.
    pub name: String,
}

impl Owner {
    /// Reads the three columns id, role, name.
    pub fn read(row: &mut Row<'_>) -> Self {
        Self { id: row.get(), role: row.get(), name: row.get() }
    }

    /// The role, if the one of that oid still has that name.
    pub fn role(&self) -> Option<Oid> {
        (role::name(self.role).as_deref() == Some(self.name.as_str())).then_some(self.role)
    }

    /// Whether this is the role whose rights are in force.
    pub fn is_current(&self) -> bool {
        self.role() == Some(role::current())
    }
}

static FIND: Statement =
    Statement::new("SELECT id FROM workflow.owners WHERE role = $1 AND name = $2", &[Type::Oid, Type::Text]);

static ADD: Statement = Statement::new(
    "INSERT INTO workflow.owners (role, name) VALUES ($1, $2) ON CONFLICT (role, name) DO NOTHING RETURNING id",
    &[Type::Oid, Type::Text],
);

static BY_ID: Statement =
    Statement::new("SELECT id, role, name FROM workflow.owners WHERE id = $1", &[Type::Integer]);

/// The id of a role, made if it has none.
pub fn id_of(oid: Oid) -> i32 {
    let name = role::name(oid).unwrap_or_default();
    let key = [Arg::Oid(oid), Arg::Text(&name)];
    // Two sessions may add the same role at once: the second one's INSERT waits, adds nothing and finds it.
    // A REPEATABLE READ session would not see it; it gets the unique violation as serialization failure.
    FIND.first(&key, |row| row.get())
        .or_else(|| ADD.first(&key, |row| row.get()))
        .or_else(|| FIND.first(&key, |row| row.get()))
        .unwrap_or_else(|| {
            crate::pg::error::unwind(crate::pg::PgError::new(
                "40001",
                "could not serialize access due to concurrent update",
            ))
        })
}

/// The id of the role whose rights are in force.
pub fn current_id() -> i32 {
    id_of(role::current())
}

/// The owner with this id.
pub fn by_id(id: i32) -> Option<Owner> {
    BY_ID.first(&[Arg::Integer(id)], Owner::read)
}
