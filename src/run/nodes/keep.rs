//! Removing instances of other nodes, for example after a replica was promoted to take over part of the keys.

use std::collections::HashSet;

use uuid::Uuid;

use super::{begin, by_tree, each_page, lock_trees, of_node, roots};
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

/// What `keep` does.
pub struct Options {
    /// It stops after about this many instances.
    pub max: u64,
    /// Whether instances without a correlation id stay.
    pub keyless: bool,
    /// The largest part that it may remove, in percent: of the instances, and of the correlation ids with other rows.
    pub max_percent: u64,
}

/// Removes instances whose correlation id does not belong to this node, and everything else that belongs to such an id,
/// until `max` instances are removed. Returns how many were. No workflow and no session is notified.
///
/// It begins after the key with which the session's last call ended. That call may have been rolled back since, so keys
/// before it are not known to be done: less than `max` is returned only after all keys.
///
/// Each statement of the function sees a new snapshot, and a key is checked for the limit and again when it is removed. A
/// function whose answers change meanwhile could exceed the limit, so functions.md forbids it. The guard's own answers
/// hold until the transaction ends.
///
/// # Errors
/// 22004 if nothing decides which keys belong here, 54000 if this call and those that continue it would remove more than
/// `max_percent`, 27000 if a trigger prevents the deletion of an instance.
pub fn keep(predicate: Option<&Predicate>, options: &Options) -> Result<u64, PgError> {
    begin("keep instances")?;
    let stays = kept_keys(predicate)?;
    let question = predicate.map(|predicate| predicate.0.clone()).unwrap_or_default();
    let after = {
        let (of, after) = &*BACKEND.keep_after.borrow();
        if *of == question { after.clone() } else { String::new() }
    };
    if options.max_percent < 100 {
        require_part(&leaving_part(&stays, options.keyless)?, options)?;
    }
    let mut removed = 0;
    let mut remove_after = |after: String| {
        each_page(PAGE, after, |page| {
            let gone: Vec<String> = page.into_iter().filter(|key| !stays(key)).collect();
            removed += remove(lock_trees(|| roots(&moving::with_keys(&gone, &of_node()))), &stays)?;
            moving::lock_keys(&gone);
            MovedRows::Keys(&gone).delete();
            Ok(removed < options.max)
        })
    };
    let is_second_part = !after.is_empty();
    let mut next = remove_after(after)?;
    if next.is_none() && is_second_part {
        next = remove_after(String::new())?;
    }
    BACKEND.keep_after.replace((question, next.unwrap_or_default()));
    if !options.keyless && removed < options.max {
        let most = i64::try_from(options.max - removed).unwrap_or(i64::MAX);
        removed += remove(lock_trees(|| moving::keyless_roots(&of_node(), most)), &stays)?;
    }
    if removed > 0 {
        // This makes room for pending instances, and for tasks that wait for a slot.
        wake::report_pending_starts(true);
        wake::report_any_task();
        owners::scatter();
    }
    Ok(removed)
}

/// The number of instances that [`keep`] would remove in all its calls together. It locks no instance.
///
/// # Errors
/// 22004 if nothing decides which keys belong here.
pub fn count(predicate: Option<&Predicate>, keyless: bool) -> Result<u64, PgError> {
    begin("keep instances")?;
    Ok(leaving_part(&kept_keys(predicate)?, keyless)?.instances)
}

/// What would be removed.
#[derive(Default)]
struct LeavingPart {
    instances: u64,
    /// Correlation ids with rows that belong to no instance: those that leave, and all.
    keys: u64,
    all_keys: u64,
}

/// Whether a key stays. Keys that the guard admits belong here, whatever the function returns.
fn kept_keys(predicate: Option<&Predicate>) -> Result<impl Fn(&str) -> bool, PgError> {
    let is_guarded = route::is_on();
    if predicate.is_none() && !is_guarded {
        return Err(PgError::new("22004", "argument \"predicate\" must not be NULL").detail(
            "Nothing else says which correlation ids belong to this node, as workflow.route_check is not set.",
        ));
    }
    Ok(move |key: &str| {
        predicate.is_some_and(|predicate| user_sql::admits(predicate, key)) || is_guarded && route::owns(key)
    })
}

fn leaving_part(stays: &impl Fn(&str) -> bool, keyless: bool) -> Result<LeavingPart, PgError> {
    let mut part = LeavingPart::default();
    let count = |roots: Vec<Uuid>| leaving(by_tree(&moving::trees(&roots)), stays).len() as u64;
    each_page(PAGE, String::new(), |page| {
        let gone: Vec<String> = page.iter().filter(|key| !stays(key)).cloned().collect();
        part.instances += count(roots(&moving::with_keys(&gone, &of_node())));
        part.keys += moving::with_rows(&gone).len() as u64;
        part.all_keys += moving::with_rows(&page).len() as u64;
        Ok(true)
    })?;
    if !keyless {
        part.instances += count(moving::keyless_roots(&of_node(), i64::MAX));
    }
    Ok(part)
}

/// Rejects the removal of more than a part of what is here, which a wrong function or a wrong list of partitions asks
/// for. Rows without an instance count as well, by their correlation ids, since some ids have no others. Instances
/// without an id count only if they may be removed.
fn require_part(part: &LeavingPart, options: &Options) -> Result<(), PgError> {
    let exceeds = |leaving: u64, all: u64| leaving.saturating_mul(100) > all.saturating_mul(options.max_percent);
    let (all, keyless) = moving::counts(&of_node());
    let all = if options.keyless { all.saturating_sub(keyless) } else { all };
    let what = if exceeds(part.instances, all) {
        format!("{} of {all} workflow instances would be removed", part.instances)
    } else if exceeds(part.keys, part.all_keys) {
        format!(
            "stored events, messages or schedules of {} of {} correlation ids would be removed",
            part.keys, part.all_keys
        )
    } else {
        return Ok(());
    };
    Err(PgError::new("54000", what)
        .detail(format!("The argument \"max_percent\" permits {} percent.", options.max_percent))
        .hint("Check with dry_run => true which keys belong to this node. After a split, pass max_percent => 100."))
}

/// Removes the instances of these trees that do not stay.
///
/// # Errors
/// 27000 if a trigger prevents the deletion of an instance.
fn remove(trees: Vec<Vec<Uuid>>, stays: &impl Fn(&str) -> bool) -> Result<u64, PgError> {
    let gone = leaving(trees, stays);
    audit::keep(&gone);
    // The other tables come after the instances.
    if MovedRows::Instances(&gone).delete()[0] != gone.len() as u64 {
        return Err(rows::suppressed("instances"));
    }
    Ok(gone.len() as u64)
}

/// The instances of these trees, except trees with an instance whose own key belongs here.
fn leaving(mut trees: Vec<Vec<Uuid>>, stays: &impl Fn(&str) -> bool) -> Vec<Uuid> {
    let all: Vec<Uuid> = trees.iter().flatten().copied().collect();
    let kept = moving::keys_of(&all).into_iter().filter(|(_, key)| stays(key)).map(|(id, _)| id);
    let kept: HashSet<Uuid> = kept.collect();
    trees.retain(|tree| !tree.iter().any(|id| kept.contains(id)));
    trees.into_iter().flatten().collect()
}
