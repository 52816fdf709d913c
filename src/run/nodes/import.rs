//! Importing bundles that another node has exported.

use std::collections::{HashMap, HashSet};

use pgrx::pg_sys::Oid;
use uuid::Uuid;
use workflow_engine::bundle::{Bundle, Cell, Definition, Digest, Table, Unreadable};
use workflow_engine::instance::check_correlation_id;
use workflow_engine::stimulus::HTTP_ENDPOINT;

use crate::compiled;
use crate::error;
use crate::pg::{PgError, cluster, interrupt, role};
use crate::run::CallContext;
use crate::run::call::context::FollowUp;
use crate::run::call::running::{self, RunningGuard};
use crate::run::http::paths::{self, Hold};
use crate::run::instances::admission;
use crate::store::events::queue;
use crate::store::http::requests::KeyedRequest;
use crate::store::instances::{self, bookmarks::keys, search_attributes};
use crate::store::maintenance::identity;
use crate::store::nodes::{moving, route};
use crate::store::rights::owners;
use crate::store::tasks::{leases, limits};
use crate::wake;

/// Maximum number of instances that are read together.
const PAGE: usize = 20;
/// Maximum size of their rows in bytes, unless a single one has more. Decoded they may need a hundred times as much.
const PAGE_BYTES: usize = 256 << 10;

/// A piece that was read and may be imported.
struct Piece {
    bundle: Bundle,
    digest: Digest,
    roles: HashMap<i32, Oid>,
    /// Versions of this node by their ids on the source node.
    versions: HashMap<Uuid, Uuid>,
    /// The instances, in pages that are processed together.
    pages: Vec<Vec<Uuid>>,
}

/// Imports the pieces of bundles, and returns the number of instances. Nothing is written if one of them does not
/// match.
///
/// # Errors
/// 22P03 for data that is no bundle, 42704 for a missing role or version, 23505 for an existing instance, and the
/// errors of the routing guard for a key.
pub fn import(context: &mut CallContext, bundles: &[Vec<u8>]) -> Result<u64, PgError> {
    super::begin("import instances")?;
    // Before it finds the versions, as a start does: see `run/instances/version.rs`.
    cluster::assign_transaction();
    let pieces: Vec<Piece> = bundles.iter().map(|bytes| check(bytes)).collect::<Result<_, _>>()?;
    let mut count = 0;
    for piece in pieces {
        interrupt::check();
        count += piece.pages.iter().map(Vec::len).sum::<usize>() as u64;
        take_in(context, piece)?;
    }
    wake::report_all();
    wake::report_any_task();
    Ok(count)
}

fn unreadable(why: Unreadable) -> PgError {
    PgError::new("22P03", "this is no bundle of workflow instances that can be read").detail(why.to_string())
}

fn damaged() -> PgError {
    unreadable(Unreadable::Damaged)
}

fn check(bytes: &[u8]) -> Result<Piece, PgError> {
    let read = Bundle::read(bytes);
    // Exceeding the memory limit ends the call here.
    interrupt::check();
    let (bundle, digest) = read.map_err(unreadable)?;
    for key in &bundle.keys {
        interrupt::check();
        check_correlation_id(Some(key)).map_err(|fault| error::fault(&fault))?;
        route::require(Some(key))?;
    }
    let mut versions = HashMap::new();
    for definition in &bundle.definitions {
        interrupt::check();
        versions.insert(definition.id, version_of(definition)?);
    }
    let mut roles = HashMap::new();
    for owner in &bundle.owners {
        interrupt::check();
        roles.insert(owner.id, role::required(&owner.role)?);
    }
    if !bundle.tables.iter().all(moving::is_known) {
        return Err(damaged());
    }
    let pages = instances_in(&bundle.tables).map_err(unreadable)?;
    if let Some(id) = moving::known(&pages.concat()) {
        return Err(PgError::new("23505", format!("workflow instance {id} is on this node already")));
    }
    Ok(Piece { bundle, digest, roles, versions, pages })
}

/// The same version on this node.
fn version_of(wanted: &Definition) -> Result<Uuid, PgError> {
    let Definition { definition_id, version, owner, content, .. } = wanted;
    let refused = |detail| not_here(definition_id, *version, detail);
    let versions = moving::versions(definition_id, *version);
    let same = || versions.iter().filter(|here| here.content == *content);
    let Some(here) = same().find(|here| here.owner == *owner).or(same().next()).or(versions.first()) else {
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

fn not_here(definition_id: &str, version: i32, detail: String) -> PgError {
    PgError::new("42704", format!("version {version} of workflow definition \"{definition_id}\" is not on this node"))
        .detail(detail)
        .hint("Deploy the same definitions to all nodes, in the same order.")
}

/// The instances whose rows these are, in pages.
fn instances_in(tables: &[Table]) -> Result<Vec<Vec<Uuid>>, Unreadable> {
    let (mut pages, mut bytes) = (Vec::<Vec<Uuid>>::new(), 0);
    for table in tables.iter().filter(|table| table.name == "instances") {
        let at = table.column("id").ok_or(Unreadable::Damaged)?;
        for row in table.rows() {
            interrupt::check();
            let row = row?;
            let Cell::Uuid(id) = row[at] else { return Err(Unreadable::Damaged) };
            let size = row.iter().map(Cell::size).sum::<usize>();
            bytes += size;
            match pages.last_mut() {
                Some(page) if page.len() < PAGE && bytes <= PAGE_BYTES => page.push(id),
                _ => {
                    pages.push(vec![id]);
                    bytes = size;
                }
            }
        }
    }
    Ok(pages)
}

fn take_in(context: &mut CallContext, piece: Piece) -> Result<(), PgError> {
    let Piece { bundle, digest, roles, versions, pages } = piece;
    let ids = pages.concat();
    let number = i32::try_from(bundle.piece).map_err(|_| damaged())?;
    moving::record_piece(&bundle.set, number, &digest, bundle.last.as_ref().map(|last| &last.digest));
    let mut known = KnownIds {
        ids: ids.iter().copied().collect(),
        waiting: HashSet::new(),
        keys: bundle.keys.iter().map(String::as_str).collect(),
        owners: HashMap::new(),
        versions,
    };
    for (id, role) in roles {
        owners::alias(id, role)?;
        known.owners.insert(id, owners::id_of(role));
    }
    let mut contents = PieceFlags::default();
    // Row triggers on the tables run as if inside a burst, because they see incomplete data.
    let mark = RunningGuard::moving(&ids);
    for table in bundle.tables {
        interrupt::check();
        refuse_taken_schedules(&table, &known)?;
        let positions = ColumnPositions::of(&table);
        let fit = |row: &mut [Cell<'_>]| {
            contents.inspect(&positions, row);
            known.fit(&positions, row)
        };
        moving::unpack(&table, fit).map_err(unreadable)?;
    }
    adapt(context, &ids, &bundle.keys, &contents)?;
    pages.iter().try_for_each(|page| check_instances(page))?;
    drop(mark);
    if running::may_have_deferred() {
        let deferred = ids.iter().flat_map(|id| queue::take_deferred(*id));
        context.follow_ups.extend(deferred.map(|item| FollowUp::Item(Box::new(item))));
    }
    Ok(())
}

/// The columns of a table whose values depend on the node.
struct ColumnPositions {
    instance: Option<usize>,
    key: Option<usize>,
    parent: Option<usize>,
    bookmark: Option<usize>,
    execution: Option<usize>,
    bookmark_id: Option<usize>,
    made_by: Option<usize>,
    owner: Option<usize>,
    request_key: Option<usize>,
    version: Option<usize>,
    lane: Option<usize>,
    token: Option<usize>,
    due: Option<usize>,
    kind: Option<usize>,
}

impl ColumnPositions {
    fn of(table: &Table) -> Self {
        let at = |column| table.column(column);
        let of = |tables: &[&str], column| tables.contains(&table.name.as_str()).then(|| at(column)).flatten();
        Self {
            instance: at("instance_id"),
            key: of(&["messages"], "key").or_else(|| at("correlation_id")),
            parent: of(&["instances"], "parent_instance_id"),
            bookmark: of(&["bookmark_queue", "dead_letters"], "bookmark_id"),
            execution: of(&["bookmark_queue", "dead_letters"], "activity_instance_id"),
            bookmark_id: of(&["bookmarks"], "id"),
            made_by: of(&["bookmarks"], "activity_instance_id"),
            // Rows that are looked up by their owner.
            owner: of(&["messages", "http_requests", "triggers"], "owner"),
            request_key: of(&["http_requests"], "key"),
            version: at("definition_version_id"),
            lane: of(&["bookmarks"], "lane"),
            token: of(&["bookmarks"], "token"),
            due: of(&["bookmarks"], "due_at").or_else(|| of(&["triggers"], "next_fire_at")),
            kind: of(&["bookmarks"], "activity_type"),
        }
    }
}

/// The ids to which a piece may refer, and their equivalents on this node.
struct KnownIds<'a> {
    ids: HashSet<Uuid>,
    /// The bookmarks read so far, and the executions that created them.
    waiting: HashSet<Uuid>,
    keys: HashSet<&'a str>,
    owners: HashMap<i32, i32>,
    versions: HashMap<Uuid, Uuid>,
}

impl KnownIds<'_> {
    fn owner(&self, there: i32) -> Result<i32, Unreadable> {
        self.owners.get(&there).copied().ok_or(Unreadable::Damaged)
    }

    /// Rejects a row that belongs neither to an instance of the piece nor to a key that the routing guard has checked,
    /// and replaces owners and versions by those of this node.
    fn fit(&mut self, positions: &ColumnPositions, row: &mut [Cell<'_>]) -> Result<(), Unreadable> {
        let at = |position: Option<usize>| cell(row, position);
        let among = |ids: &HashSet<Uuid>, position| matches!(at(position), Cell::Uuid(id) if ids.contains(&id));
        let belongs = match (at(positions.instance), at(positions.key)) {
            (Cell::Uuid(_), _) => among(&self.ids, positions.instance),
            (_, Cell::Text(key)) => self.keys.contains(key),
            // A child that has no key of its own, or a stimulus that names only a bookmark or an execution.
            _ => {
                among(&self.ids, positions.parent)
                    || among(&self.waiting, positions.bookmark)
                    || among(&self.waiting, positions.execution)
            }
        };
        if !belongs {
            return Err(Unreadable::Damaged);
        }
        for position in [positions.bookmark_id, positions.made_by] {
            if let Cell::Uuid(id) = at(position) {
                self.waiting.insert(id);
            }
        }
        if let Some(Cell::Integer(owner)) = positions.owner.map(|at| &mut row[at]) {
            *owner = self.owner(*owner)?;
        }
        // A role has one request under a key, and the one that is here keeps it.
        if let (Some(at), Cell::Text(key)) = (positions.request_key, cell(row, positions.request_key)) {
            let Cell::Integer(owner) = cell(row, positions.owner) else { return Err(Unreadable::Damaged) };
            if key.contains('\0') {
                return Err(Unreadable::Damaged);
            }
            if (KeyedRequest { owner, key }).find().is_some() {
                row[at] = Cell::Null;
            }
        }
        if let Some(Cell::Uuid(version)) = positions.version.map(|at| &mut row[at]) {
            *version = self.versions.get(version).copied().ok_or(Unreadable::Damaged)?;
        }
        Ok(())
    }
}

fn cell<'c>(row: &[Cell<'c>], position: Option<usize>) -> Cell<'c> {
    position.map_or(Cell::Null, |at| row[at])
}

/// Which contents of a piece need to be adapted to this node.
#[derive(Default)]
struct PieceFlags {
    children: bool,
    lanes: bool,
    leases: bool,
    due: bool,
    endpoints: bool,
}

impl PieceFlags {
    fn inspect(&mut self, positions: &ColumnPositions, row: &[Cell<'_>]) {
        let has = |position: Option<usize>| position.is_some_and(|at| row[at] != Cell::Null);
        self.children |= has(positions.parent);
        self.lanes |= has(positions.lane);
        self.leases |= has(positions.token);
        // The expiry of a lease makes its bookmark due.
        self.due |= has(positions.due) || has(positions.token);
        self.endpoints |= positions.kind.is_some_and(|at| row[at] == Cell::Text(HTTP_ENDPOINT.name));
    }
}

fn refuse_taken_schedules(table: &Table, known: &KnownIds<'_>) -> Result<(), PgError> {
    if table.name != "triggers" {
        return Ok(());
    }
    let (mut of, mut names) = (Vec::new(), Vec::new());
    let at = |name: &str| table.column(name).ok_or_else(damaged);
    let (owner_at, name_at) = (at("owner")?, at("schedule_name")?);
    for row in table.rows() {
        let row = row.map_err(unreadable)?;
        // Triggers of definitions do not move.
        let (Cell::Integer(owner), Cell::Text(name)) = (row[owner_at], row[name_at]) else { return Err(damaged()) };
        if name.contains('\0') {
            return Err(damaged());
        }
        of.push(known.owner(owner).map_err(unreadable)?);
        names.push(name.to_owned());
    }
    match moving::taken_schedule(&of, &names) {
        None => Ok(()),
        Some((owner, name)) => {
            let owner = owners::by_id(owner).title();
            Err(PgError::new("42710", format!("role \"{owner}\" already has a schedule \"{name}\"")))
        }
    }
}

/// Does for imported rows what this node would have done when storing them.
fn adapt(context: &CallContext, ids: &[Uuid], keys: &[String], contents: &PieceFlags) -> Result<(), PgError> {
    if contents.children && moving::has_circle(ids) {
        return Err(damaged());
    }
    keys::correct(ids);
    if contents.leases {
        leases::end_of(ids, context.timestamp());
    }
    if contents.lanes || limits::has_any() {
        let tasks = moving::tasks_of(ids);
        limits::limited(&tasks).iter().for_each(|(owner, name)| limits::share(*owner, name));
        limits::assign(&tasks);
    }
    if let Some((definition_id, version, id)) = moving::unended_of_deleted(ids) {
        let detail = format!("It has been deleted, and workflow instance {id} has not ended.");
        return Err(not_here(&definition_id, version, detail));
    }
    let endpoints = if contents.endpoints { moving::endpoints(ids) } else { Vec::new() };
    for (version, payload) in endpoints {
        paths::claim(&compiled::of_version(version)?.row.owner, Some(&payload), Hold::Look)?;
    }
    if contents.due {
        identity::record_due(moving::first_due(ids, keys));
    }
    Ok(())
}

/// Admits instances, and stores the values by which they are found. Fails for one whose state cannot be read, or does
/// not match its version.
fn check_instances(ids: &[Uuid]) -> Result<(), PgError> {
    interrupt::check();
    let rows = instances::many(ids);
    if rows.len() != ids.len() {
        return Err(damaged());
    }
    for row in rows {
        let compiled = compiled::of_instance(&row)?;
        admission::adopt(&row, &compiled);
        search_attributes::save(&row.instance, &compiled.program);
    }
    Ok(())
}
