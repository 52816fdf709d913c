//! Which definitions and instances hear a stimulus.
//!
//! Both sides must agree. The listener's side: a stimulus reaches only what its sender may start or resume. The
//! sender's side: a stimulus that names neither an instance nor a bookmark is heard only by roles that the sender's
//! side has admitted. Otherwise a role could grant others the right to start its workflow, and so hear everything that
//! they publish.
//!
//! The sender's side has admitted a role that
//!
//! - is the sender, or has the sender's rights;
//! - was given the sender's events with `wf_grant_events`;
//! - has the sender as a member, if superusers granted that membership.
//!
//! A definition needs no consent if it belongs to the sender, which decides itself who may start it, or to the owner of
//! the database or a member of that role, or if a superuser granted the sender the privilege. A sender that is a
//! superuser has the right to start and resume everything, but that never counts as consent.

use std::collections::HashMap;

use pgrx::pg_sys::Oid;
use uuid::Uuid;
use workflow_engine::Bookmark;

use super::{Privilege, is_member, people};
use crate::compiled::{self, Compiled};
use crate::pg::PgError;
use crate::pg::membership::{belongs_to, database_owner, is_superuser, was_put_into};
use crate::store::definitions::{self, DefinitionRow};
use crate::store::event_grants;
use crate::store::instances::InstanceRow;
use crate::store::owners::Owner;

/// Whether a definition or an instance hears a stimulus.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Verdict {
    /// It hears the stimulus.
    Heard,
    /// The sender may start or resume it, but the sender's side has not admitted its owner.
    Withheld,
    /// The sender may not start or resume it.
    Denied,
}

/// Judges what a sender's stimulus reaches. It caches verdicts, so it serves one delivery only.
pub struct Hearing<'a> {
    sender: &'a Owner,
    role: Option<Oid>,
    needs_consent: bool,
    known: HashMap<(Uuid, i32), Verdict>,
    listeners: Option<Vec<Owner>>,
}

impl<'a> Hearing<'a> {
    /// For a sender. A stimulus that names an instance or a bookmark needs no consent: the sender chose the receiver
    /// itself.
    pub fn of(sender: &'a Owner, names_target: bool) -> Self {
        Self { sender, role: sender.role(), needs_consent: !names_target, known: HashMap::new(), listeners: None }
    }

    /// Whether the stimulus may start a definition.
    pub fn starts(&mut self, definition: &DefinitionRow) -> Verdict {
        self.judge(Privilege::Start, definition, &definition.owner)
    }

    /// Whether the stimulus may resume an instance of this version and owner.
    pub fn resumes(&mut self, version: Uuid, owner: &Owner) -> Result<Verdict, PgError> {
        // The sender's own instance, which the sender started, whichever role owns the definition.
        if owner.id == self.sender.id && self.role.is_some() {
            return Ok(Verdict::Heard);
        }
        if let Some(verdict) = self.known.get(&(version, owner.id)) {
            return Ok(*verdict);
        }
        let verdict = self.judge(Privilege::Resume, &compiled::of_version(version)?.row, owner);
        self.known.insert((version, owner.id), verdict);
        Ok(verdict)
    }

    /// Whether the stimulus may resume an instance of this version and owner at a bookmark. It may not if that is the
    /// bookmark of a task for others.
    pub fn resumes_at(&mut self, bookmark: &Bookmark, version: Uuid, owner: &Owner) -> Result<Verdict, PgError> {
        let verdict = self.resumes(version, owner)?;
        let may_meet = verdict != Verdict::Heard || people::may_meet(self.sender, bookmark, version, owner)?;
        Ok(if may_meet { verdict } else { Verdict::Denied })
    }

    /// Whether the stimulus may resume this instance.
    pub fn resumes_row(&mut self, row: &InstanceRow, compiled: &Compiled) -> Verdict {
        self.judge(Privilege::Resume, &compiled.row, &row.owner)
    }

    fn judge(&mut self, privilege: Privilege, definition: &DefinitionRow, owner: &Owner) -> Verdict {
        let Some(sender) = self.role else { return Verdict::Denied };
        if owner.role() == self.role {
            return Verdict::Heard;
        }
        let grants = definitions::granted(&definition.definition_id, privilege.name());
        let is_right = is_member(sender, owner)
            || is_member(sender, &definition.owner)
            || grants.iter().any(|grant| is_member(sender, &grant.holder));
        if !is_right {
            return Verdict::Denied;
        }
        let by_superuser = |grant: &definitions::Grant| {
            grant.grantor.role().is_some_and(is_superuser)
                && grant.holder.role().is_some_and(|holder| belongs_to(sender, holder))
        };
        let is_open = !self.needs_consent
            || definition.owner.role() == self.role
            || is_of_database_owner(&definition.owner)
            || grants.iter().any(by_superuser)
            || self.admits(sender, owner) && self.admits(sender, &definition.owner);
        if is_open { Verdict::Heard } else { Verdict::Withheld }
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
