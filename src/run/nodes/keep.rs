//! Removing instances of other nodes, for example after a replica was promoted to take over part of the keys.

use std::collections::HashSet;

use uuid::Uuid;

use super::{begin, each_page, lock_trees, of_node, roots};
use crate::pg::function::Predicate;
use crate::pg::{PgError, rows, user_sql};
use crate::run::BACKEND;
use crate::store::history::audit;
use crate::store::nodes::moving::{self, MovedRows};
use crate::store::nodes::route;
use crate::store::rights::owners;
use crate::wake;

/// Correlation ids whose instances are locked and removed together.
const PAGE: i64 = 1000;

/// Removes instances whose correlation id does not belong to this node, and everything else that belongs to such an id,
/// until `max` instances are removed. Returns how many were. No workflow and no session is notified.
pub fn keep(predicate: Option<&Predicate>, max: u64, keyless: bool) -> Result<u64, PgError> {
    begin("keep instances")?;
    if predicate.is_none() && !route::is_on() {
        return Err(PgError::new("22004", "argument \"predicate\" must not be NULL").detail(
            "Nothing else says which correlation ids belong to this node, as workflow.route_check is not set.",
        ));
    }
    // Keys that the guard admits belong here, whatever the function returns.
    let is_guarded = route::is_on();
    let stays = |key: &str| {
        predicate.is_some_and(|predicate| user_sql::admits(predicate, key)) || is_guarded && route::owns(key)
    };
    let question = predicate.map(|predicate| predicate.0.clone()).unwrap_or_default();
    let after = {
        let (of, after) = &*BACKEND.keep_after.borrow();
        if *of == question { after.clone() } else { String::new() }
    };
    let mut removed = 0;
    let next = each_page(PAGE, after, |page| {
        let gone: Vec<String> = page.into_iter().filter(|key| !stays(key)).collect();
        removed += remove(lock_trees(|| roots(&moving::with_keys(&gone, &of_node()))), stays)?;
        moving::lock_keys(&gone);
        MovedRows::Keys(&gone).delete();
        Ok(removed < max)
    })?;
    BACKEND.keep_after.replace((question, next.unwrap_or_default()));
    if !keyless && removed < max {
        let most = i64::try_from(max - removed).unwrap_or(i64::MAX);
        removed += remove(lock_trees(|| moving::keyless_roots(&of_node(), most)), stays)?;
    }
    if removed > 0 {
        // This makes room for pending instances, and for tasks that wait for a slot.
        wake::report_pending_starts(true);
        wake::report_any_task();
        owners::scatter();
    }
    Ok(removed)
}

/// Removes trees, except those with an instance whose own key belongs here.
///
/// # Errors
/// 27000 if a trigger prevents the deletion of an instance.
fn remove(mut trees: Vec<Vec<Uuid>>, stays: impl Fn(&str) -> bool) -> Result<u64, PgError> {
    let all: Vec<Uuid> = trees.iter().flatten().copied().collect();
    let kept = moving::keys_of(&all).into_iter().filter(|(_, key)| stays(key)).map(|(id, _)| id);
    let kept: HashSet<Uuid> = kept.collect();
    trees.retain(|tree| !tree.iter().any(|id| kept.contains(id)));
    let gone: Vec<Uuid> = trees.into_iter().flatten().collect();
    audit::keep(&gone);
    // The other tables come after the instances.
    if MovedRows::Instances(&gone).delete()[0] != gone.len() as u64 {
        return Err(rows::suppressed("instances"));
    }
    Ok(gone.len() as u64)
}
