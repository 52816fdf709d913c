//! Acts of a call on an instance whose SQL does not run in the session of the call.
//!
//! A resume by id, a retry and an alteration lend no rights. Where SQL of users could follow that has the rights of the
//! instance's owner, the act is an item of the queue, which a session of that owner carries out (`queued_act.rs`). What
//! it cannot carry out becomes a dead letter of the caller.

use serde_json::{Value, json};
use uuid::Uuid;
use workflow_engine::alteration::{Alteration, Author, Changes};
use workflow_engine::stimulus;

use crate::pg::spi::Timestamp;
use crate::pg::{PgError, json};
use crate::run::Session;
use crate::run::call::notices::tell_left_to_owner;
use crate::store::events::matching::Filter;
use crate::store::events::queue::{self, Item};
use crate::store::instances::InstanceRow;
use crate::store::instances::bookmarks::Waiting;

/// The member of the input of an item that says which activities to retry; `null`: all.
const RETRY: &str = "retry";
/// The member that holds the alterations to make.
const ALTER: &str = "alter";
/// The member that says why it alters.
const REASON: &str = "reason";

/// An act that was kept.
#[derive(Debug)]
pub enum Act {
    /// A retry of these activities, or of all that have faulted.
    Retry(Option<Vec<String>>),
    /// Alterations, and why the sender makes them.
    Alter(Vec<Alteration>, Option<String>),
}

/// Keeps a resume of a bookmark.
pub fn keep_resume(session: &mut Session, waiting: &Waiting, input: Option<&Value>) -> Result<(), PgError> {
    // An answer that was kept is due already.
    if waiting.bookmark.name != stimulus::ANSWER {
        let bookmark_id = Some(waiting.bookmark.id);
        let filter = Filter { bookmark_id, instance_id: Some(waiting.row.instance.id), ..Filter::default() };
        insert(session, filter, input.map(json::copy))?;
    }
    tell_left_to_owner(&waiting.row);
    Ok(())
}

/// Keeps a retry.
pub fn keep_retry(session: &mut Session, row: &InstanceRow, activity_ids: Option<&[String]>) -> Result<(), PgError> {
    keep(session, row, json!({ RETRY: activity_ids }))
}

/// Keeps alterations.
pub fn keep_alterations(
    session: &mut Session,
    row: &InstanceRow,
    alterations: &[Alteration],
    author: &Author,
) -> Result<(), PgError> {
    let alterations: Vec<Value> = alterations.iter().map(Alteration::to_json).collect();
    keep(session, row, json!({ ALTER: alterations, REASON: author.reason }))
}

fn keep(session: &mut Session, row: &InstanceRow, act: Value) -> Result<(), PgError> {
    let name = Some(stimulus::ACT.to_owned());
    let filter = Filter { instance_id: Some(row.instance.id), name, ..Filter::default() };
    insert(session, filter, Some(act))?;
    tell_left_to_owner(row);
    Ok(())
}

fn insert(session: &mut Session, filter: Filter, input: Option<Value>) -> Result<(), PgError> {
    let item = Item {
        id: session.new_id(),
        filter,
        stimulus: None,
        input,
        sender: session.sender(),
        sent_by: Some(session.identity()?),
        attempts: 0,
        expires_at: Timestamp::INFINITY,
        deferred_for: None,
    };
    queue::insert(&item, session.timestamp());
    Ok(())
}

/// The instance on which an item of the queue acts; `None`: the item is a stimulus.
pub fn instance_of(item: &Item) -> Option<Uuid> {
    item.filter.instance_id.filter(|_| item.filter.name.as_deref() == Some(stimulus::ACT))
}

/// Reads the act of an item. `None`: it is damaged.
pub fn read(item: &Item) -> Option<Act> {
    let act = item.input.as_ref()?.as_object()?;
    if let Some(ids) = act.get(RETRY) {
        let ids = ids.as_array().map(|ids| ids.iter().filter_map(Value::as_str).map(str::to_owned).collect());
        return Some(Act::Retry(ids));
    }
    let Ok(Changes::Alter(alterations)) = Changes::read(act.get(ALTER)?) else { return None };
    Some(Act::Alter(alterations, act.get(REASON).and_then(Value::as_str).map(str::to_owned)))
}
