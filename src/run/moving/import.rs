//! Taking in what another node has exported.

use std::collections::{HashMap, HashSet};

use pgrx::pg_sys::Oid;
use uuid::Uuid;
use workflow_engine::bundle::{Bundle, Cell, Definition, Digest, Table, Unreadable};
use workflow_engine::stimulus::HTTP_ENDPOINT;

use crate::compiled;
use crate::pg::{PgError, interrupt, role};
use crate::run::paths::{self, Hold};
use crate::run::{Session, admission};
use crate::store::{identity, instances, leases, limits, moving, owners, route};
use crate::wake;

/// Instances that are read together. Decoded, each may take ten times the bytes of its row.
const PAGE: usize = 20;

/// A piece that was read and may be taken in.
struct Piece {
    bundle: Bundle,
    digest: Digest,
    roles: HashMap<i32, Oid>,
    /// Versions of this node by their ids on the node where the rows come from.
    versions: HashMap<Uuid, Uuid>,
    ids: Vec<Uuid>,
}

/// Takes in pieces of sets, and returns the number of instances. Nothing is written if one of them does not fit.
///
/// # Errors
/// 22P03 for what is no bundle, 42704 for a role or a version that is not here, 23505 for an instance that is, and what the
/// routing guard says to a key.
pub fn import(session: &Session, bundles: &[Vec<u8>]) -> Result<u64, PgError> {
    super::begin("import instances")?;
    let pieces: Vec<Piece> = bundles.iter().map(|bytes| check(bytes)).collect::<Result<_, _>>()?;
    let mut count = 0;
    for piece in pieces {
        interrupt::check();
        count += piece.ids.len() as u64;
        take_in(session, piece)?;
    }
    wake::note_all();
    wake::note_any_task();
    Ok(count)
}

fn unreadable(why: Unreadable) -> PgError {
    PgError::new("22P03", "this is no bundle of workflow instances that can be read").detail(why.to_string())
}

fn damaged() -> PgError {
    unreadable(Unreadable::Damaged)
}

fn check(bytes: &[u8]) -> Result<Piece, PgError> {
    let (bundle, digest) = Bundle::read(bytes).map_err(unreadable)?;
    for key in &bundle.keys {
        route::require(Some(key))?;
    }
    let mut roles = HashMap::new();
    for owner in &bundle.owners {
        roles.insert(owner.id, role::required(&owner.role)?);
    }
    let mut versions = HashMap::new();
    for definition in &bundle.definitions {
        versions.insert(definition.id, version_of(definition)?);
    }
    if !bundle.tables.iter().all(moving::is_known) {
        return Err(damaged());
    }
    let ids = ids(&bundle.tables).map_err(unreadable)?;
    if let Some(id) = moving::known(&ids) {
        return Err(PgError::new("23505", format!("workflow instance {id} is on this node already")));
    }
    Ok(Piece { bundle, digest, roles, versions, ids })
}

/// The same version on this node.
fn version_of(wanted: &Definition) -> Result<Uuid, PgError> {
    let Definition { definition_id, version, owner, content, .. } = wanted;
    let refused = |detail: String| {
        PgError::new(
            "42704",
            format!("version {version} of workflow definition \"{definition_id}\" is not on this node"),
        )
        .detail(detail)
        .hint("Deploy the same definitions to all nodes, in the same order.")
    };
    let Some(here) = moving::version(definition_id, *version) else {
        return Err(refused("There is no version with this number.".into()));
    };
    if here.content != *content {
        return Err(refused("The version with this number has another content.".into()));
    }
    if here.owner != *owner {
        return Err(refused(format!("It belongs to role \"{}\" here, and there to \"{owner}\".", here.owner)));
    }
    Ok(here.id)
}

/// The instances whose rows these are.
fn ids(tables: &[Table]) -> Result<Vec<Uuid>, Unreadable> {
    let mut ids = Vec::new();
    for table in tables.iter().filter(|table| table.name == "instances") {
        let at = table.columns.iter().position(|column| column == "id").ok_or(Unreadable::Damaged)?;
        for row in table.rows() {
            let Cell::Uuid(id) = row?[at] else { return Err(Unreadable::Damaged) };
            ids.push(id);
        }
    }
    Ok(ids)
}

fn take_in(session: &Session, piece: Piece) -> Result<(), PgError> {
    let Piece { bundle, digest, roles, versions, ids } = piece;
    let number = i32::try_from(bundle.piece).map_err(|_| damaged())?;
    moving::note_piece(&bundle.set, number, &digest, bundle.last.as_ref().map(|last| &last.digest));
    let mut known = Known { owners: HashMap::new(), versions };
    for (id, role) in roles {
        owners::alias(id, role)?;
        known.owners.insert(id, owners::id_of(role));
    }
    let mut contents = Contents::default();
    for table in &bundle.tables {
        refuse_taken_schedules(table, &known)?;
        let fit = |column: &str, cell: &mut Cell<'_>| {
            contents.note(&table.name, column, cell);
            known.translate(&table.name, column, cell)
        };
        moving::unpack(table, fit).map_err(unreadable)?;
    }
    settle(session, &ids, &bundle.keys, &contents)
}

/// What stands here for an owner and a version of the node where the rows come from.
struct Known {
    owners: HashMap<i32, i32>,
    versions: HashMap<Uuid, Uuid>,
}

impl Known {
    fn owner(&self, there: i32) -> Result<i32, Unreadable> {
        self.owners.get(&there).copied().ok_or(Unreadable::Damaged)
    }

    fn translate(&self, table: &str, column: &str, cell: &mut Cell<'_>) -> Result<(), Unreadable> {
        match (table, column, cell) {
            // What is looked up by its owner has the id that the role has here.
            ("messages" | "triggers", "owner", Cell::Integer(owner)) => *owner = self.owner(*owner)?,
            (_, "definition_version_id", Cell::Uuid(version)) => {
                *version = self.versions.get(version).copied().ok_or(Unreadable::Damaged)?;
            }
            _ => {}
        }
        Ok(())
    }
}

/// What of a piece has to be fitted to this node.
#[derive(Default)]
struct Contents {
    lanes: bool,
    leases: bool,
    due: bool,
    endpoints: bool,
}

impl Contents {
    fn note(&mut self, table: &str, column: &str, cell: &Cell<'_>) {
        match (table, column, cell) {
            (_, _, Cell::Null) => {}
            ("bookmarks", "lane", _) => self.lanes = true,
            // A lease that ends makes its bookmark due.
            ("bookmarks", "token", _) => (self.leases, self.due) = (true, true),
            ("bookmarks", "due_at", _) | ("triggers", "next_fire_at", _) => self.due = true,
            ("bookmarks", "activity_type", Cell::Text(kind)) => self.endpoints |= *kind == HTTP_ENDPOINT.name,
            _ => {}
        }
    }
}

fn refuse_taken_schedules(table: &Table, known: &Known) -> Result<(), PgError> {
    if table.name != "triggers" {
        return Ok(());
    }
    let (mut of, mut names) = (Vec::new(), Vec::new());
    let at = |name: &str| table.columns.iter().position(|column| column == name).ok_or_else(damaged);
    let (owner_at, name_at) = (at("owner")?, at("schedule_name")?);
    for row in table.rows() {
        let row = row.map_err(unreadable)?;
        if let (Cell::Integer(owner), Cell::Text(name)) = (row[owner_at], row[name_at])
            && !name.contains('\0')
        {
            of.push(known.owner(owner).map_err(unreadable)?);
            names.push(name.to_owned());
        }
    }
    match moving::taken_schedule(&of, &names) {
        None => Ok(()),
        Some((owner, name)) => {
            let owner = owners::by_id(owner).title();
            Err(PgError::new("42710", format!("role \"{owner}\" already has a schedule \"{name}\"")))
        }
    }
}

/// Fits what was taken in to this node.
fn settle(session: &Session, ids: &[Uuid], keys: &[String], contents: &Contents) -> Result<(), PgError> {
    let known: HashSet<&String> = keys.iter().collect();
    if contents.leases {
        leases::end_of(ids, session.timestamp());
    }
    if contents.lanes || !limits::all().is_empty() {
        limits::lock();
        limits::assign(&moving::tasks_of(ids));
    }
    for ids in ids.chunks(PAGE) {
        interrupt::check();
        // An instance whose state cannot be read, or does not fit its version, is an error here.
        let rows = instances::many(ids);
        if rows.len() != ids.len() {
            return Err(damaged());
        }
        for row in rows {
            if row.instance.correlation_id.as_ref().is_some_and(|key| !known.contains(key)) {
                return Err(damaged());
            }
            admission::adopt(&row, &*compiled::of_instance(&row)?);
        }
    }
    let endpoints = if contents.endpoints { moving::endpoints(ids) } else { Vec::new() };
    for (version, payload) in endpoints {
        paths::claim(&compiled::of_version(version)?.row.owner, Some(&payload), Hold::Look)?;
    }
    if contents.due {
        identity::note_due(moving::first_due(ids, keys));
    }
    Ok(())
}
