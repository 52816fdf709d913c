//! Which definitions and instances may receive a stimulus.
//!
//! Both sides must agree. The receiver's side: a stimulus reaches only definitions and instances that its sender may
//! start or resume and, of instances that the sender has requested, the `Event` bookmarks that their definition opens
//! to requesters (`options.requesterEvents`). The sender's side: a stimulus that names neither an instance nor a
//! bookmark is received only by roles that the sender's side has admitted. Otherwise a role could grant others the
//! right to start its workflow, and so receive everything that they publish.
//!
//! The sender's side has admitted a role that
//!
//! - is the sender, or has the sender's rights;
//! - was granted the sender's events with `wf_grant_events`;
//! - has the sender as a member, if superusers granted that membership.
//!
//! A definition needs no consent if it belongs to the sender, which decides itself who may start it, or to the owner of
//! the database or a member of that role, or if a superuser granted the sender the privilege. A superuser may start and
//! resume everything, but that does not count as consent.

use std::collections::HashMap;

use pgrx::pg_sys::Oid;
use serde_json::Value;
use uuid::Uuid;
use workflow_engine::Bookmark;
use workflow_engine::stimulus::EVENT;

use super::instance::{self, Subject};
use super::{Operation, Privilege, is_member, people};
use crate::compiled;
use crate::pg::PgError;
use crate::pg::membership::{belongs_to, database_owner, is_superuser, was_put_into};
use crate::store::definitions::{self, DefinitionRow};
use crate::store::instances;
use crate::store::instances::bookmarks::BookmarkKind;
use crate::store::rights::event_grants;
use crate::store::rights::owners::Owner;

/// Whether a definition or an instance may receive a stimulus.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Verdict {
    /// It receives the stimulus.
    Allowed,
    /// The sender may start or resume it, but the sender's side has not admitted its owner.
    Withheld,
    /// The sender may not start or resume it.
    Denied,
}

/// Decides which receivers a sender's stimulus reaches. Caches the decisions, so it serves one delivery only.
pub struct EventConsent<'a> {
    sender: &'a Owner,
    pub(super) role: Option<Oid>,
    needs_consent: bool,
    report_to: Option<Uuid>,
    known: HashMap<(Uuid, i32), Verdict>,
    listeners: Option<Vec<Owner>>,
}

impl<'a> EventConsent<'a> {
    /// The checks for a sender. A stimulus that names an instance or a bookmark needs no consent: the sender chose the
    /// receiver.
    pub fn of(sender: &'a Owner, names_target: bool) -> Self {
        Self {
            sender,
            role: sender.role(),
            needs_consent: !names_target,
            report_to: None,
            known: HashMap::new(),
            listeners: None,
        }
    }

    /// The checks for a stored stimulus, which may be stored for a bookmark. If that bookmark waits for a child, the
    /// child's report has the same owner as the instance.
    pub fn of_stored(sender: &'a Owner, names_target: bool, bookmark: Option<Uuid>) -> Self {
        Self { report_to: bookmark, ..Self::of(sender, names_target) }
    }

    /// Whether the stimulus may start a definition.
    pub fn may_start(&mut self, definition: &DefinitionRow) -> Verdict {
        self.decide(Privilege::Start, definition, &definition.owner)
    }

    /// Whether the stimulus may resume an instance of this version and owner.
    pub fn may_resume(&mut self, version: Uuid, owner: &Owner) -> Result<Verdict, PgError> {
        if let Some(verdict) = self.known.get(&(version, owner.id)) {
            return Ok(*verdict);
        }
        let verdict = self.decide(Privilege::Resume, &compiled::of_version(version)?.row, owner);
        self.known.insert((version, owner.id), verdict);
        Ok(verdict)
    }

    /// Whether the stimulus may resume an instance of this version and owner at a bookmark. It may not if the bookmark
    /// belongs to a task for others.
    pub fn may_resume_at(
        &mut self,
        bookmark: &Bookmark,
        instance: Uuid,
        version: Uuid,
        owner: &Owner,
    ) -> Result<Verdict, PgError> {
        let is_owners = owner.id == self.sender.id && self.role.is_some();
        if is_owners && self.report_to == Some(bookmark.id) && BookmarkKind::of(bookmark) == BookmarkKind::Child {
            return Ok(Verdict::Allowed);
        }
        let verdict = self.may_resume(version, owner)?;
        if verdict == Verdict::Denied && self.is_open_to_requester(bookmark, instance, version, owner)? {
            return Ok(Verdict::Allowed);
        }
        let may_meet = verdict != Verdict::Allowed || people::may_meet(self.sender, bookmark, version, owner)?;
        Ok(if may_meet { verdict } else { Verdict::Denied })
    }

    /// Whether a bookmark is open to the requester of its instance, and the sender is the requester.
    fn is_open_to_requester(
        &self,
        bookmark: &Bookmark,
        instance: Uuid,
        version: Uuid,
        owner: &Owner,
    ) -> Result<bool, PgError> {
        let Some(sender) = self.role.filter(|sender| is_member(*sender, owner)) else { return Ok(false) };
        let compiled = compiled::of_version(version)?;
        // A custom activity may wait under the same name.
        let is_event = bookmark.name == EVENT.name && bookmark.activity_type == EVENT.name;
        let event = bookmark.payload.as_ref().filter(|_| is_event);
        let event = event.and_then(|payload| payload.get("EventName")).and_then(Value::as_str);
        let is_open = event.is_some_and(|event| compiled.program.options.requester_events.contains(event));
        if !is_open {
            return Ok(false);
        }
        let subject = Subject { owner, is_child: instances::is_child(instance), compiled: &compiled };
        Ok(instance::permits(sender, Operation::SeeOutcome, subject))
    }

    fn decide(&mut self, privilege: Privilege, definition: &DefinitionRow, owner: &Owner) -> Verdict {
        let Some(sender) = self.role else { return Verdict::Denied };
        let grants = definitions::granted(&definition.definition_id, privilege.name());
        let is_right =
            is_member(sender, &definition.owner) || grants.iter().any(|grant| is_member(sender, &grant.holder));
        if !is_right {
            return Verdict::Denied;
        }
        let by_superuser = |grant: &definitions::Grant| {
            grant.grantor.role().is_some_and(is_superuser)
                && grant.holder.role().is_some_and(|holder| belongs_to(sender, holder))
        };
        let is_open = !self.needs_consent
            || owner.role() == self.role
            || grants.iter().any(by_superuser)
            || self.is_open(sender, &definition.owner)
                && (self.trusts(&definition.owner) || self.admits(sender, owner));
        if is_open { Verdict::Allowed } else { Verdict::Withheld }
    }

    /// Whether definitions of an owner need no consent.
    fn trusts(&self, definition_owner: &Owner) -> bool {
        definition_owner.role() == self.role || is_of_database_owner(definition_owner)
    }

    /// Whether the sender's side has admitted the owner of a definition, or it needs none to.
    pub(super) fn is_open(&mut self, sender: Oid, definition_owner: &Owner) -> bool {
        self.trusts(definition_owner) || self.admits(sender, definition_owner)
    }

    /// Whether the sender's side has admitted a role.
    fn admits(&mut self, sender: Oid, listener: &Owner) -> bool {
        let Some(listener) = listener.role() else { return false };
        if belongs_to(listener, sender) || was_put_into(sender, listener) {
            return true;
        }
        let listeners = self.listeners.get_or_insert_with(|| event_grants::listeners_of(self.sender.id));
        listeners.iter().filter_map(Owner::role).any(|admitted| belongs_to(listener, admitted))
    }
}

fn is_of_database_owner(owner: &Owner) -> bool {
    match (owner.role(), database_owner()) {
        (Some(role), Some(database_owner)) => belongs_to(role, database_owner),
        _ => false,
    }
}
