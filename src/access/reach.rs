//! Among whose bookmarks and triggers a stimulus is looked for.
//!
//! [`EventConsent`] decides about each match. This only keeps a search from reading what it would deny anyhow: any role
//! can store as many bookmarks and triggers of a name as it likes. Definitions are
//!
//! - open, if the sender has the privilege, and its side has admitted their owner;
//! - others. Of these, only instances that the sender has started can hear it. If the sender has a privilege on them,
//!   a few more are read, to say that they were passed over.

use pgrx::pg_sys::Oid;

use super::event_consent::EventConsent;
use super::{Privilege, is_member};
use crate::pg::membership::{groups, is_superuser};
use crate::store::definitions::{self, DefinitionOwner, GrantedOn};
use crate::store::events::matching::Reach;
use crate::store::rights::owners;

impl EventConsent<'_> {
    /// Among whose bookmarks a stimulus is looked for, if it names none.
    pub fn reach_of_bookmarks(&mut self) -> Reach {
        self.reach(Privilege::Resume)
    }

    /// The same of triggers.
    pub fn reach_of_triggers(&mut self) -> Reach {
        self.reach(Privilege::Start)
    }

    fn reach(&mut self, privilege: Privilege) -> Reach {
        let mut reach = Reach::default();
        let Some(sender) = self.role else { return reach };
        let all = definitions::owners();
        let (open, closed): (Vec<&DefinitionOwner>, Vec<&DefinitionOwner>) =
            all.iter().partition(|known| is_member(sender, &known.owner) && self.is_open(sender, &known.owner));
        reach.open.extend(open.into_iter().flat_map(DefinitionOwner::ids));
        if closed.is_empty() {
            reach.tidy();
            return reach;
        }
        reach.starters = owners::ids_of(&groups(sender));
        let privileges = match privilege {
            Privilege::Start => vec![privilege],
            _ => vec![privilege, Privilege::Start],
        };
        let privileges: Vec<String> = privileges.into_iter().map(|privilege| privilege.name().to_owned()).collect();
        let grants = definitions::granted_to(&reach.starters, &privileges);
        for known in closed {
            let (right, others): (Vec<&GrantedOn>, Vec<&GrantedOn>) = grants
                .iter()
                .filter(|grant| is_on(grant, known))
                .partition(|grant| grant.privilege == privilege.name());
            let by_superuser =
                |grant: &&GrantedOn| known.own.contains(&grant.owner) && grant.grantor.role().is_some_and(is_superuser);
            let has_right = !right.is_empty() || is_member(sender, &known.owner);
            if right.iter().any(by_superuser) || has_right && self.is_open(sender, &known.owner) {
                reach.open.extend(known.ids());
                continue;
            }
            reach.others.extend(known.ids());
            if has_right || !others.is_empty() {
                reach.granting.extend(known.ids());
            }
        }
        reach.tidy();
        reach
    }
}

/// Whether a grant may be on a definition of this owner.
fn is_on(grant: &GrantedOn, known: &DefinitionOwner) -> bool {
    let manages = |grantor: Oid| {
        let former = || known.former.iter().any(|id| is_member(grantor, &owners::by_id(*id)));
        !is_superuser(grantor) && (is_member(grantor, &known.owner) || former())
    };
    known.own.contains(&grant.owner) || grant.grantor.role().is_some_and(manages)
}
