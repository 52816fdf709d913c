//! Taking in what another node has exported.

use std::collections::{HashMap, HashSet};

use pgrx::pg_sys::Oid;
use uuid::Uuid;
use workflow_engine::bundle::{self, Bundle, Definition, Digest, Table, Unreadable};
use workflow_engine::stimulus::HTTP_ENDPOINT;

use crate::compiled;
use crate::pg::{PgError, interrupt, role};
use crate::run::paths::{self, Hold};
use crate::run::{Session, admission};
use crate::store::{identity, instances, leases, limits, moving, owners, route};
use crate::wake;

/// A piece that was read and may be taken in.
struct Piece {
    bundle: Bundle,
    digest: Digest,
    roles: HashMap<i32, Oid>,
    /// Versions of this node by their ids where the rows come from.
    versions: HashMap<String, String>,
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
        versions.insert(definition.id.to_string(), version_of(definition)?.to_string());
    }
    let ids = column(&bundle.tables, "instances", "id").map_or(Ok(Vec::new()), uuids)?;
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

fn column<'a>(tables: &'a [Table], table: &str, name: &str) -> Option<&'a str> {
    let table = tables.iter().find(|known| known.name == table)?;
    table.columns.iter().find(|(known, _)| known == name).map(|(_, values)| values.as_str())
}

fn uuids(array: &str) -> Result<Vec<Uuid>, PgError> {
    let elements = bundle::elements(array).map_err(unreadable)?;
    elements.into_iter().map(|id| id.and_then(|id| id.parse().ok()).ok_or_else(damaged)).collect()
}

fn take_in(session: &Session, piece: Piece) -> Result<(), PgError> {
    let Piece { bundle, digest, roles, versions, ids } = piece;
    let number = i32::try_from(bundle.piece).map_err(|_| damaged())?;
    moving::note_piece(&bundle.set, number, &digest, bundle.last.as_ref().map(|last| &last.digest));
    for (id, role) in &roles {
        owners::alias(*id, *role)?;
    }
    let own = |id: &str| {
        let role = id.parse().ok().and_then(|id: i32| roles.get(&id))?;
        Some(owners::id_of(*role).to_string())
    };
    let contents = Contents::of(&bundle.tables);
    for mut table in bundle.tables {
        for (column, values) in &mut table.columns {
            match (table.name.as_str(), column.as_str()) {
                // What is looked up by its owner has the id that the role has here.
                ("messages" | "triggers", "owner") => translate(values, own)?,
                (_, "definition_version_id") => translate(values, |id| versions.get(id).cloned())?,
                _ => {}
            }
        }
        refuse_taken_schedule(&table)?;
        if !moving::unpack(&table) {
            return Err(damaged());
        }
    }
    settle(session, &ids, &bundle.keys, &contents)
}

/// What of a piece has to be fitted to this node.
struct Contents {
    lanes: bool,
    leases: bool,
    due: bool,
    endpoints: bool,
}

impl Contents {
    fn of(tables: &[Table]) -> Self {
        let has = |table, name| column(tables, table, name).is_some_and(moving::has_values);
        let types = column(tables, "bookmarks", "activity_type").unwrap_or_default();
        Self {
            lanes: has("bookmarks", "lane"),
            leases: has("bookmarks", "token"),
            // A lease that ends makes its bookmark due.
            due: has("bookmarks", "token") || has("bookmarks", "due_at") || has("triggers", "next_fire_at"),
            endpoints: types.contains(HTTP_ENDPOINT.name),
        }
    }
}

fn refuse_taken_schedule(table: &Table) -> Result<(), PgError> {
    let tables = std::slice::from_ref(table);
    let (of, names) = (column(tables, "triggers", "owner"), column(tables, "triggers", "schedule_name"));
    let (Some(of), Some(names)) = (of, names) else { return Ok(()) };
    match moving::taken_schedule(of, names) {
        None => Ok(()),
        Some((owner, name)) => {
            let owner = owners::by_id(owner).title();
            Err(PgError::new("42710", format!("role \"{owner}\" already has a schedule \"{name}\"")))
        }
    }
}

/// Puts something else in the place of each element.
fn translate(values: &mut String, into: impl Fn(&str) -> Option<String>) -> Result<(), PgError> {
    let elements = bundle::elements(values).map_err(unreadable)?;
    let into = |element: Option<&str>| element.map(|element| into(element).ok_or_else(damaged)).transpose();
    let elements: Vec<Option<String>> = elements.into_iter().map(into).collect::<Result<_, _>>()?;
    *values = bundle::array(elements.iter().map(Option::as_deref));
    Ok(())
}

/// Fits what was taken in to this node.
fn settle(session: &Session, ids: &[Uuid], keys: &[String], contents: &Contents) -> Result<(), PgError> {
    let known: HashSet<&String> = keys.iter().collect();
    if moving::keys_of(ids).iter().any(|(_, key)| !known.contains(key)) {
        return Err(damaged());
    }
    if contents.leases {
        leases::end_of(ids, session.timestamp());
    }
    if contents.lanes || !limits::all().is_empty() {
        limits::lock();
        limits::assign(&moving::tasks_of(ids));
    }
    for id in ids {
        interrupt::check();
        // An instance whose state cannot be read, or does not fit its version, is an error here.
        let row = instances::get(*id).ok_or_else(damaged)?;
        admission::adopt(&row, &*compiled::of_instance(&row)?);
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
