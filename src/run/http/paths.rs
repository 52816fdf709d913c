//! HTTP paths have owners: the first segment of a template belongs to the owner of the definition that first published
//! or waited at it. A request is looked up only among the endpoints of that owner's definitions, so a more specific
//! template of another role cannot intercept it.

use serde_json::Value;
use uuid::Uuid;
use workflow_engine::http::Request;
use workflow_engine::http::endpoint::route_of;
use workflow_engine::http::route::OPEN;
use workflow_engine::stimulus::HTTP_ENDPOINT;

use crate::compiled;
use crate::pg::PgError;
use crate::pg::membership::is_superuser;
use crate::store::definitions::{self, DefinitionRow, triggers};
use crate::store::http::paths;
use crate::store::rights::owners::Owner;

/// First segments that a role other than a superuser can claim itself.
const MAX_SEGMENTS: i64 = 1000;

/// How long a claim relies on the owner of a segment.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Hold {
    /// Only now: a bookmark there is no longer reached once the segment belongs to another role.
    Look,
    /// Until the transaction ends: a trigger there is deleted when the segment changes its owner, so the segment is
    /// locked.
    Keep,
}

/// Rejects a path that belongs to another owner (42501). A free segment is assigned to the owner. Only a superuser can
/// claim the root, and templates that do not begin with literal text.
pub fn claim(owner: &Owner, payload: Option<&Value>, hold: Hold) -> Result<(), PgError> {
    let Some(route) = payload.and_then(route_of) else { return Ok(()) };
    let segment = route.first_segment();
    let known = || match hold {
        Hold::Look => paths::owner_of(segment),
        Hold::Keep => paths::lock(segment),
    };
    let is_open = segment.is_empty() || segment == OPEN;
    let holder = match known() {
        Some(holder) => holder,
        None if is_open && !owner.role().is_some_and(is_superuser) => return Err(denied(segment)),
        None if paths::has(owner.id, MAX_SEGMENTS) && !owner.role().is_some_and(is_superuser) => {
            return Err(too_many(owner));
        }
        None if paths::claim(segment, owner.id) => owner.id,
        // Another session has claimed the segment and committed; an older snapshot does not show its owner.
        None => known().ok_or_else(|| {
            PgError::new("40001", "could not serialize access due to concurrent update")
                .detail(format!("Another session has taken {}.", named(segment)))
        })?,
    };
    if holder == owner.id { Ok(()) } else { Err(denied(segment)) }
}

fn too_many(owner: &Owner) -> PgError {
    PgError::new("54000", format!("role \"{}\" has too many first segments of HTTP paths", owner.title()))
        .detail(format!("A role takes at most {MAX_SEGMENTS}."))
        .hint("Publish below a segment that it has, or let a superuser give it more with wf_grant_path.")
}

fn named(segment: &str) -> String {
    match segment {
        "" => "the root of HTTP paths".to_owned(),
        OPEN => "HTTP paths that begin with a parameter".to_owned(),
        segment => format!("HTTP paths below \"/{segment}\""),
    }
}

fn denied(segment: &str) -> PgError {
    PgError::new("42501", format!("permission denied for {}", named(segment)))
        .detail("They do not belong to the owner of the workflow definition.")
        .hint("A superuser can give them with wf_grant_path.")
}

/// The owner among whose endpoints a request is looked up.
pub fn owner_of(request: &Request) -> Option<i32> {
    let segment = request.segments.first().map(|segment| segment.to_lowercase()).unwrap_or_default();
    paths::owner_of(&segment).or_else(|| paths::owner_of(OPEN))
}

/// Assigns a segment to an owner, or frees it. Deletes the triggers that the former owner has published there, and
/// returns their number.
pub fn give(segment: &str, owner: Option<&Owner>) -> Result<i32, PgError> {
    let former = paths::owner_of(segment);
    match owner {
        Some(owner) => paths::give(segment, owner.id),
        None => paths::free(segment),
    }
    let Some(former) = former.filter(|former| owner.is_none_or(|owner| owner.id != *former)) else { return Ok(0) };
    let mut removed = 0;
    for (trigger, definition) in published_at(segment, former)? {
        if definition.owner.id == former {
            triggers::delete(trigger);
            triggers::announce_removed(1);
            removed += 1;
        }
    }
    Ok(removed)
}

/// Transfers the paths of a definition's endpoints to its new owner. A segment is transferred unless another definition
/// of the former owner is published at it.
pub fn hand_over(definition_id: &str, former: &Owner, new: &Owner) -> Result<(), PgError> {
    for trigger in triggers::of_definition(definition_id) {
        let Some(route) = trigger.payload.as_ref().filter(|_| trigger.name == HTTP_ENDPOINT.name).and_then(route_of)
        else {
            continue;
        };
        let segment = route.first_segment();
        let is_others =
            |definition: &DefinitionRow| definition.owner.id == former.id && definition.definition_id != definition_id;
        if paths::lock(segment) == Some(former.id)
            && !published_at(segment, former.id)?.iter().any(|(_, definition)| is_others(definition))
        {
            paths::give(segment, new.id);
        }
        claim(new, trigger.payload.as_ref(), Hold::Keep)?;
    }
    Ok(())
}

/// The triggers of an owner below a segment, with their definitions.
fn published_at(segment: &str, owner: i32) -> Result<Vec<(Uuid, DefinitionRow)>, PgError> {
    let mut found = Vec::new();
    for trigger in triggers::matching(HTTP_ENDPOINT.name, None, &definitions::stored_under(owner)) {
        if trigger.payload.as_ref().and_then(route_of).is_some_and(|route| route.first_segment() == segment) {
            found.push((trigger.id, compiled::of_version(trigger.definition_version_id)?.row.clone()));
        }
    }
    Ok(found)
}
