//! Which definition a workflow may start as its child, or continue as.
//!
//! The right to start a definition is granted by that definition's owner, so it does not imply that the parent's side
//! wants to pass its input on. The parent's side consents by naming the child: `wf_define` stores the definitions that
//! a document names, with their current owners. So neither a role that defines an id which was unused when it was
//! named, nor one that gets the definition later, receives what the parent passes on.

use crate::access::StartedAs;
use crate::pg::PgError;
use crate::pg::membership::belongs_to;
use crate::pg::session::literal;
use crate::store::definitions::{self, DefinitionRow};
use crate::store::rights::event_grants;
use crate::store::rights::owners::Owner;

/// Rejects a child to which the parent's side has not consented (42501): its owner differs from the parent's and from
/// the one recorded when the parent's version named it, and `wf_grant_events` has not admitted it.
pub fn require_named(parent: &DefinitionRow, child: &DefinitionRow, how: StartedAs) -> Result<(), PgError> {
    let (owner, child_owner) = (&parent.owner, &child.owner);
    if owner.id == child_owner.id || acts_for(child_owner, owner) {
        return Ok(());
    }
    let named = definitions::child_owner(parent.id, &child.definition_id);
    let admitted = || event_grants::listeners_of(owner.id).iter().any(|listener| acts_for(child_owner, listener));
    if named.is_some_and(|named| named.id == child_owner.id) || admitted() {
        return Ok(());
    }
    let (id, parent_id) = (&child.definition_id, &parent.definition_id);
    let what = match how {
        StartedAs::Child | StartedAs::Notice => "start",
        StartedAs::Successor => "continue as",
    };
    Err(PgError::new("42501", format!("workflow definition \"{parent_id}\" may not {what} workflow definition \"{id}\""))
        .detail(format!(
            "It belongs to role \"{}\", which did not own it when version {} of \"{parent_id}\" was stored.",
            child_owner.title(),
            parent.version
        ))
        .hint(format!(
            "Define \"{parent_id}\" again with \"{id}\" as a text in its document, or let its owner run wf_grant_events({}).",
            literal(&child_owner.title())
        )))
}

/// Whether one owner has the rights of another, and so learns nothing new.
fn acts_for(who: &Owner, whom: &Owner) -> bool {
    matches!((who.role(), whom.role()), (Some(who), Some(whom)) if belongs_to(who, whom))
}
