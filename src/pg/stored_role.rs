//! The type `workflow.stored_role`: a role as a row stores it.
//!
//! Its text is `system identifier:oid:name`. The output function looks up the role's current name, so a dump contains
//! the name of each owner at the time of the dump, whatever it was when the row was written; a dropped role has no
//! name. The input function keeps its text unchanged. A value from this cluster means the role with its OID; a value
//! from another cluster means the role with its name.
//!
//! A value stores the OID, the system identifier (0 for this cluster) and the last known name. pg_upgrade moves table
//! files unchanged into a cluster with another system identifier, and keeps the OIDs of roles, so a value of "this
//! cluster" still is one there. A value transferred in text or binary form (COPY, logical replication) is not.

use pgrx::pg_sys::{self, Oid};

use crate::pg::symbols::plain_functions;
use crate::pg::{Call, PgError, Returned, cluster, role};

plain_functions! {
    wf_stored_role_in => from_text;
    wf_stored_role_out => to_text;
    wf_stored_role_recv => receive;
    wf_stored_role_send => send;
    wf_stored_role_oid => oid;
    wf_stored_role_name => name;
}

/// Bytes before the name: the oid, then the system identifier, both little-endian.
const HEAD: usize = 12;
/// The stored system identifier for "this cluster"; no cluster has it as its own.
const HERE: u64 = 0;

/// A value of the type.
struct StoredRole {
    system_identifier: u64,
    oid: Oid,
    name: String,
}

impl StoredRole {
    fn decode(bytes: &[u8]) -> Result<Self, PgError> {
        let head = bytes.split_at_checked(HEAD).and_then(|(head, name)| {
            let (oid, system_identifier) = head.split_at(4);
            Some((oid.try_into().ok()?, system_identifier.try_into().ok()?, name))
        });
        let Some((oid, system_identifier, name)) = head else {
            return Err(PgError::new("XX001", "stored role cannot be read"));
        };
        Ok(Self {
            system_identifier: u64::from_le_bytes(system_identifier),
            oid: Oid::from(u32::from_le_bytes(oid)),
            name: String::from_utf8_lossy(name).into_owned(),
        })
    }

    fn encode(&self) -> Vec<u8> {
        let mut bytes = self.oid.to_u32().to_le_bytes().to_vec();
        bytes.extend(self.system_identifier.to_le_bytes());
        bytes.extend(self.name.as_bytes());
        bytes
    }

    fn parse(text: &str) -> Option<Self> {
        let mut parts = text.splitn(3, ':');
        let system_identifier = parts.next()?.parse().ok().filter(|number| *number != HERE)?;
        let oid = Oid::from(parts.next()?.parse::<u32>().ok()?);
        let name = parts.next().filter(|name| name.len() < pg_sys::NAMEDATALEN as usize)?.to_owned();
        let is_here = system_identifier == here();
        Some(Self { system_identifier: if is_here { HERE } else { system_identifier }, oid, name })
    }

    /// The text, with the name that the role has now.
    fn text(&self) -> String {
        match self.system_identifier {
            HERE => text_of(self.oid),
            elsewhere => format!("{elsewhere}:{}:{}", self.oid.to_u32(), self.name),
        }
    }
}

fn here() -> u64 {
    cluster::system_identifier().cast_unsigned()
}

/// The text of a role of this cluster; a dropped role has no name.
pub fn text_of(role: Oid) -> String {
    format!("{}:{}:{}", here(), role.to_u32(), role::name(role).unwrap_or_default())
}

fn read(text: &str) -> Result<Returned, PgError> {
    match StoredRole::parse(text) {
        Some(stored) => Ok(Returned::Bytea(stored.encode())),
        None => Err(PgError::new("22P02", format!("invalid input syntax for type workflow.stored_role: \"{text}\""))
            .detail("It is the system identifier of a cluster, the OID of a role and its name, separated by colons.")),
    }
}

fn stored(call: &Call) -> Result<StoredRole, PgError> {
    StoredRole::decode(&call.at::<Vec<u8>>(0).unwrap_or_default())
}

fn from_text(call: &Call) -> Result<Returned, PgError> {
    read(&call.c_string(0)?)
}

fn to_text(call: &Call) -> Result<Returned, PgError> {
    Ok(Returned::CString(stored(call)?.text()))
}

fn receive(call: &Call) -> Result<Returned, PgError> {
    read(&call.message(0))
}

fn send(call: &Call) -> Result<Returned, PgError> {
    Ok(Returned::Message(stored(call)?.text()))
}

/// The OID of a role of this cluster; NULL for one of another cluster.
fn oid(call: &Call) -> Result<Returned, PgError> {
    let stored = stored(call)?;
    Ok(if stored.system_identifier == HERE { Returned::Oid(stored.oid) } else { Returned::Null })
}

/// The name at the time the value was written; NULL if it has none.
fn name(call: &Call) -> Result<Returned, PgError> {
    let stored = stored(call)?;
    Ok(if stored.name.is_empty() { Returned::Null } else { Returned::Text(stored.name) })
}
