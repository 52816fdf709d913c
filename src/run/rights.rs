//! Changing owners.
//!
//! Locks are taken in the usual order: for a definition the lock of its versions; for instances their rows, level by
//! level as by a cancel; for a schedule or an activity type its row; then the row of the new owner, if this call
//! inserts it. So concurrent calls for the same object wait for each other, and the second sees the owner that the
//! first has set. A call waits for an instance whose burst another session runs. Sessions that have cached a compiled
//! definition are notified at commit.

use std::collections::VecDeque;

use pgrx::pg_sys::Oid;
use serde_json::json;
use uuid::Uuid;
use workflow_engine::journal::{ActKind, Event, EventKind};

use crate::access::{self, Operation};
use crate::compiled;
use crate::pg::{PgError, catalog, role, rows};
use crate::run::CallContext;
use crate::run::call::running;
use crate::run::definitions::{built_in, publish};
use crate::run::http::paths;
use crate::run::instances::resume;
use crate::run::tasks::limits;
use crate::run::timers::schedule;
use crate::store::definitions;
use crate::store::definitions::{activity_types, links};
use crate::store::history::journal;
use crate::store::instances::{self, InstanceRow, bookmarks};
use crate::store::rights::owners::{self, Owner};
use crate::wake;

/// The kind of object in a call of `wf_set_owner`.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum ObjectKind {
    /// A definition, by its id.
    Definition,
    /// An instance, by its id.
    Instance,
    /// A schedule, by its name.
    Schedule,
    /// An activity type, by its name.
    ActivityType,
}

impl ObjectKind {
    /// Parses its name.
    pub fn from_name(name: &str) -> Result<Self, PgError> {
        match name {
            "definition" => Ok(Self::Definition),
            "instance" => Ok(Self::Instance),
            "schedule" => Ok(Self::Schedule),
            "activity type" => Ok(Self::ActivityType),
            other => Err(PgError::new("22023", format!("unrecognized kind \"{other}\""))
                .hint("The kinds are \"definition\", \"instance\", \"schedule\" and \"activity type\".")),
        }
    }
}

/// Changes the owner of an object. The caller must have the rights of the current owner and be able to SET ROLE to the
/// new one (42501). Returns the id of the former owner; `None`: the object already has that owner.
pub fn set_owner(context: &mut CallContext, kind: ObjectKind, id: &str, new: Oid) -> Result<Option<i32>, PgError> {
    let former = match kind {
        ObjectKind::Definition => definition(id, new),
        ObjectKind::Instance => instance(context, id, new),
        ObjectKind::Schedule => schedule::set_owner(context, id, new),
        ObjectKind::ActivityType => activity_type(id, new),
    }?;
    if former.is_some() {
        // Due work may now belong to a session of another role.
        wake::report_all();
    }
    Ok(former)
}

/// The id of the new owner; `None` if the object already belongs to that role. Rejects a caller without the rights.
fn change(what: &str, owner: &Owner, new: Oid) -> Result<Option<i32>, PgError> {
    if !access::is_member(role::current(), owner) {
        return Err(PgError::new("42501", format!("must be owner of {what}")));
    }
    if owner.role() == Some(new) {
        return Ok(None);
    }
    access::require_may_become(new)?;
    Ok(Some(owners::id_of(new)))
}

/// Changes the owner of all versions of a definition, and so of its triggers. Instances keep their owner. A `definer`
/// definition runs SQL for them with the rights of its new owner.
fn definition(id: &str, new: Oid) -> Result<Option<i32>, PgError> {
    let title = format!("workflow definition \"{id}\"");
    if let Some(built_in) = built_in::find(id) {
        return Err(PgError::new("42501", format!("{title} is built in")).detail(built_in.purpose));
    }
    // Other calls link consumers to this definition under the lock of its owner.
    let own = || definitions::owner(id).filter(|owner| access::is_member(role::current(), owner));
    links::lock(|| Ok(own().map(|owner| owner.id).into_iter().collect()))?;
    definitions::lock(id);
    let Some(owner) = definitions::owner(id) else {
        return Err(PgError::new("42704", format!("{title} does not exist")));
    };
    let Some(new_id) = change(&title, &owner, new)? else { return Ok(None) };
    paths::hand_over(id, &owner, &owners::by_id(new_id))?;
    limits::change_owner(owner.id, new_id, || definitions::set_owner(id, new_id));
    for row in definitions::all(id) {
        publish::narrow_names(&row, new);
        if row.is_latest {
            publish::warn_without_login(&row);
        }
    }
    Ok(Some(owner.id))
}

/// Changes the owner of an instance, and of the instances below it that had the same owner, because the end of a child
/// resumes its parent with the rights of the child's owner.
fn instance(context: &mut CallContext, id: &str, new: Oid) -> Result<Option<i32>, PgError> {
    let id = Uuid::parse_str(id)
        .map_err(|_| PgError::new("22P02", format!("invalid input syntax for type uuid: \"{id}\"")))?;
    let mut row = lock(context, id)?.ok_or_else(|| resume::unknown(id))?;
    let title = format!("workflow instance {id}");
    let owner = row.owner.clone();
    access::instance::require(Operation::SetOwner, &row, &*compiled::of_version(row.definition_version_id)?)?;
    let Some(new_id) = change(&title, &owner, new)? else { return Ok(None) };
    if let Some(parent) = row.parent.filter(|parent| parent.bookmark.is_some()) {
        return Err(PgError::new("55000", format!("{title} is a child of an instance that waits for it"))
            .detail(format!("The parent is workflow instance {}.", parent.instance))
            .hint("Change the owner of the parent: children of the same owner follow."));
    }
    let new = owners::by_id(new_id);
    hand_over(context, &mut row, &new)?;
    let mut below = VecDeque::from(instances::children(id));
    while let Some(child) = below.pop_front() {
        // Another session may have deleted the child, or changed its owner, while this one waited for the lock.
        if let Some(mut row) = lock(context, child)?.filter(|row| row.owner.id == owner.id) {
            hand_over(context, &mut row, &new)?;
            below.extend(instances::children(child));
        }
    }
    Ok(Some(owner.id))
}

/// Assigns a locked instance to another owner, and records that in its journal.
fn hand_over(context: &CallContext, row: &mut InstanceRow, new: &Owner) -> Result<(), PgError> {
    let act = context.act(ActKind::SetOwner)?;
    let data = json!({ "by": role::name(role::current()), "from": row.owner.title(), "to": new.title() });
    let event = Event::of_workflow(EventKind::OwnerChanged, Some(data));
    let instance = &mut row.instance;
    let seq = journal::take_rows(instance, Some(&act), 1);
    instances::set_owner(instance, new.id);
    bookmarks::set_owner(instance.id, new.id);
    rows::write(|writer| journal::append(writer, &instance.id, seq, Some(&act), &[event], context.timestamp()));
    Ok(())
}

fn lock(context: &mut CallContext, id: Uuid) -> Result<Option<InstanceRow>, PgError> {
    running::refuse(id)?;
    context.has_waited = true;
    Ok(instances::lock(id))
}

/// Changes the owner of an activity type. The owner decides which definitions may use the type, so sessions recompile
/// theirs.
fn activity_type(name: &str, new: Oid) -> Result<Option<i32>, PgError> {
    let title = format!("activity type \"{name}\"");
    let Some(owner) = activity_types::lock(name) else {
        return Err(PgError::new("42704", format!("{title} does not exist")));
    };
    let Some(new_id) = change(&title, &owner, new)? else { return Ok(None) };
    activity_types::set_owner(name, new_id);
    catalog::definitions_changed();
    Ok(Some(owner.id))
}
