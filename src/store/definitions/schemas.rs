//! Schemas, and the roles that may create objects in them.

use pgrx::pg_sys::Oid;

use crate::pg::spi::{Arg, Statement, Type};

// Superusers, the owner of the database and roles with the rights of the given one are not "others".
static OPEN: Statement = Statement::new(
    "SELECT p.name, EXISTS (SELECT FROM ( \
             SELECT a.grantee AS role FROM aclexplode(coalesce(n.nspacl, acldefault('n', n.nspowner))) a \
             WHERE a.privilege_type = 'CREATE' \
             UNION SELECT n.nspowner) c \
         LEFT JOIN pg_authid r ON r.oid = c.role \
         WHERE r.oid IS NULL OR NOT (r.rolsuper OR pg_has_role(r.oid, $2, 'USAGE') \
             OR r.oid = 'pg_database_owner'::regrole \
             OR r.oid = (SELECT d.datdba FROM pg_database d WHERE d.datname = current_database()))) \
     FROM unnest($1) WITH ORDINALITY p (name, place) JOIN pg_namespace n ON n.nspname = p.name ORDER BY p.place",
    &[Type::TextArray, Type::Oid],
);

/// Returns the existing schemas among `names`, in this order, each with whether roles other than `role` may create
/// objects in it.
pub fn open_to_others(names: &[String], role: Oid) -> Vec<(String, bool)> {
    OPEN.rows(&[Arg::Texts(names), Arg::Oid(role)], |row| (row.get(), row.get()))
}
