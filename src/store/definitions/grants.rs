//! Privileges on definitions that roles other than the owner hold.

use crate::pg::rows::{self, Columns};
use crate::pg::spi::{Arg, Statement, Type};
use crate::store::rights::owners::{self, Owner};
use crate::store::tables::GRANTS;
use crate::wake;

static GRANT: Statement = Statement::new(
    "INSERT INTO workflow.grants (definition_id, role, privilege, grantor) VALUES ($1, $2, $3, $4) ON CONFLICT DO NOTHING",
    &[Type::Text, Type::Integer, Type::Text, Type::Integer],
);
static VOUCH: Statement = Statement::new(
    "UPDATE workflow.grants SET grantor = $4 WHERE definition_id = $1 AND role = $2 AND privilege = $3 AND grantor <> $4",
    &[Type::Text, Type::Integer, Type::Text, Type::Integer],
);
static REVOKE: Statement = Statement::new(
    "DELETE FROM workflow.grants WHERE definition_id = $1 AND role = $2 AND privilege = $3",
    &[Type::Text, Type::Integer, Type::Text],
);

static HOLDERS: Statement =
    Statement::new("SELECT g.definition_id, g.role FROM workflow.grants g WHERE g.privilege = $1", &[Type::Text]);

/// The definitions on which a privilege is granted, each with the owner id of the role that holds it.
pub fn holders(privilege: &str) -> Vec<(String, i32)> {
    HOLDERS.rows(&[Arg::Text(privilege)], |row| (row.get(), row.get()))
}

static BY_DEFINITION: Columns = Columns::by(
    c"grants_pkey",
    &GRANTS,
    &[
        GRANTS.read("definition_id", Type::Text, false),
        GRANTS.read("role", Type::Integer, false),
        GRANTS.read("privilege", Type::Text, false),
        GRANTS.read("grantor", Type::Integer, false),
    ],
);

/// A privilege that a role holds.
#[derive(Clone, Debug)]
pub struct Grant {
    /// The role that has the privilege.
    pub holder: Owner,
    /// The role that granted it, with `wf_grant`.
    pub grantor: Owner,
}

/// The grants of a privilege on a definition.
///
/// Used by calls that resume an instance, where an index probe costs less than a statement.
pub fn granted(definition_id: &str, privilege: &str) -> Vec<Grant> {
    let mut found = Vec::new();
    rows::read_by(&BY_DEFINITION, &[Arg::Text(definition_id)], |row| {
        let (_, holder, name, grantor): (String, i32, String, i32) = (row.get(), row.get(), row.get(), row.get());
        found.extend((name == privilege).then_some((holder, grantor)));
        None::<()>
    });
    let grant = |(holder, grantor)| Grant { holder: owners::by_id(holder), grantor: owners::by_id(grantor) };
    found.into_iter().map(grant).collect()
}

// One descent of the index for each grantor, whatever number of definitions it has granted. Of what others than
// superusers have granted, the first definitions suffice: their owners are those that the grantor may manage.
static GRANTORS: Statement = Statement::new(
    "WITH RECURSIVE grantors (role, privilege, grantor) AS ( \
         SELECT r.role, p.privilege, f.grantor FROM unnest($1) AS r (role) CROSS JOIN unnest($2) AS p (privilege) CROSS JOIN LATERAL ( \
             SELECT g.grantor FROM workflow.grants g WHERE g.role = r.role AND g.privilege = p.privilege \
             ORDER BY g.role, g.privilege, g.grantor LIMIT 1) f \
         UNION ALL \
         SELECT x.role, x.privilege, n.grantor FROM grantors x CROSS JOIN LATERAL ( \
             SELECT g.grantor FROM workflow.grants g \
             WHERE g.role = x.role AND g.privilege = x.privilege AND g.grantor > x.grantor \
             ORDER BY g.role, g.privilege, g.grantor LIMIT 1) n) \
     SELECT DISTINCT x.privilege, x.grantor, d.owner FROM grantors x CROSS JOIN LATERAL ( \
         SELECT n.owner FROM workflow.grants g JOIN workflow.definition_ids n ON n.definition_id = g.definition_id \
         WHERE g.role = x.role AND g.privilege = x.privilege AND g.grantor = x.grantor \
         LIMIT CASE WHEN (SELECT r.rolsuper FROM workflow.owners o JOIN pg_roles r ON r.oid = o.role_oid \
                          WHERE o.id = x.grantor) IS TRUE THEN NULL ELSE 100 END) d",
    &[Type::IntegerArray, Type::TextArray],
);

/// One of these privileges, on definitions of an owner.
#[derive(Clone, Debug)]
pub struct GrantedOn {
    /// The privilege.
    pub privilege: String,
    /// The role that gave it.
    pub grantor: Owner,
    /// The id in `workflow.owners` of the owner of such definitions. Of a grantor who is no superuser they may not be all.
    pub owner: i32,
}

/// On whose definitions these holders have these privileges.
pub fn granted_to(holders: &[i32], privileges: &[String]) -> Vec<GrantedOn> {
    GRANTORS.rows(&[Arg::Integers(holders), Arg::Texts(privileges)], |row| GrantedOn {
        privilege: row.get(),
        grantor: owners::by_id(row.get()),
        owner: row.get(),
    })
}

/// Grants a privilege. Returns `false` if the role already has it; the existing grant then keeps its grantor.
pub fn grant(definition_id: &str, role: i32, privilege: &str, grantor: i32) -> bool {
    let row = [Arg::Text(definition_id), Arg::Integer(role), Arg::Text(privilege), Arg::Integer(grantor)];
    let is_new = GRANT.run(&row) > 0;
    if is_new {
        wake::report_any_task();
    }
    is_new
}

/// Replaces the grantor of a privilege. Returns `false` if it is the grantor already.
pub fn vouch(definition_id: &str, role: i32, privilege: &str, grantor: i32) -> bool {
    VOUCH.run(&[Arg::Text(definition_id), Arg::Integer(role), Arg::Text(privilege), Arg::Integer(grantor)]) > 0
}

/// Revokes a privilege. Returns `false` if the role did not have it.
pub fn revoke(definition_id: &str, role: i32, privilege: &str) -> bool {
    REVOKE.run(&[Arg::Text(definition_id), Arg::Integer(role), Arg::Text(privilege)]) > 0
}
