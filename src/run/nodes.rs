//! Moving instances to another node: export, import, and removing those of other nodes.
//!
//! A tree of instances moves as a whole: a root, which no other instance has started, with all its descendants. The
//! root's correlation id is the key; a child without a correlation id moves with its parent.

use std::collections::BTreeSet;

use uuid::Uuid;

use crate::pg::function::Predicate;
use crate::pg::{PgError, interrupt, session, user_sql};
use crate::run::call::running;
use crate::store::nodes::moving::{self, Keyed};
use crate::store::nodes::route::OF_NODE;

pub mod check;
pub mod export;
pub mod import;
pub mod keep;

/// Correlation ids that a search processes together.
const PAGE: i64 = 10_000;

/// Definitions whose instances do not move.
fn of_node() -> Vec<String> {
    OF_NODE.map(str::to_owned).to_vec()
}

/// Rejects moving instances under conditions in which the call could miss some.
fn begin(what: &str) -> Result<(), PgError> {
    session::require_read_committed(what)?;
    if running::any() {
        return Err(PgError::new("55000", format!("cannot {what} while a workflow of this session runs")));
    }
    Ok(())
}

/// Correlation ids of this node, in pages.
fn each_page(
    size: i64,
    mut after: String,
    mut body: impl FnMut(Vec<String>) -> Result<bool, PgError>,
) -> Result<Option<String>, PgError> {
    loop {
        interrupt::check();
        let mut page = moving::keys(&after, size, &of_node());
        let last = page.last().cloned();
        if after.is_empty() {
            // No correlation id precedes the empty one.
            page.insert(0, String::new());
        }
        let continues = body(page)?;
        match last {
            None => return Ok(None),
            Some(last) if !continues => return Ok(Some(last)),
            Some(last) => after = last,
        }
    }
}

/// The correlation ids for which a function returns true.
fn admitted(predicate: &Predicate) -> Result<Vec<String>, PgError> {
    let mut found = Vec::new();
    each_page(PAGE, String::new(), |page| {
        found.extend(page.into_iter().filter(|key| user_sql::admits(predicate, key)));
        Ok(true)
    })?;
    Ok(found)
}

/// Locks the trees below the roots that `find` returns, and returns them. Trees that grow meanwhile are looked up
/// again: a tree whose instances are all locked cannot grow.
fn lock_trees(mut find: impl FnMut() -> Vec<Uuid>) -> Vec<Vec<Uuid>> {
    let mut locked = BTreeSet::new();
    loop {
        let found = moving::trees(&find());
        let fresh: BTreeSet<Uuid> = found.iter().map(|(_, id)| *id).filter(|id| !locked.contains(id)).collect();
        if fresh.is_empty() {
            return by_tree(&found);
        }
        moving::lock(&fresh.iter().copied().collect::<Vec<_>>());
        locked.extend(fresh);
    }
}

/// The roots among these instances.
fn roots(instances: &[Keyed]) -> Vec<Uuid> {
    instances.iter().filter(|instance| instance.is_root).map(|instance| instance.id).collect()
}

/// The instances of each tree, from pairs of root and instance in order.
fn by_tree(found: &[(Uuid, Uuid)]) -> Vec<Vec<Uuid>> {
    let ids = |tree: &[(Uuid, Uuid)]| tree.iter().map(|(_, id)| *id).collect();
    found.chunk_by(|(one, _), (other, _)| one == other).map(ids).collect()
}
