//! Requests for many items. Each item is a transaction of its own, so a failure does not undo the others.

use std::collections::BTreeSet;

use crate::failure::Failure;

/// Definitions or versions that one request may name.
pub const MAX_DEFINITIONS: usize = 1000;
/// Instances that one request may name.
pub const MAX_INSTANCES: usize = 10_000;

/// Removes duplicate ids and keeps their order.
///
/// # Errors
/// 400 if there are more than `most`.
pub fn bounded<T: Clone + Ord>(ids: Vec<T>, most: usize) -> Result<Vec<T>, Failure> {
    if ids.len() > most {
        return Err(Failure::bad_request(format!("a request may have {most} ids, not {}", ids.len())));
    }
    let mut seen = BTreeSet::new();
    Ok(ids.into_iter().filter(|id| seen.insert(id.clone())).collect())
}

/// The outcome for many items: the first failure, if nothing was done.
pub fn unless_all_failed<T>(outcome: T, is_any_done: bool, first: Option<Failure>) -> Result<T, Failure> {
    match first {
        Some(failure) if !is_any_done => Err(failure),
        _ => Ok(outcome),
    }
}
