//! Reports of child workflows to their parents.

use serde_json::Value;
use uuid::Uuid;
use workflow_engine::child;
use workflow_engine::instance::{Status, SubStatus};

use crate::error;
use crate::pg::spi::Timestamp;
use crate::pg::{PgError, json};
use crate::run::Session;
use crate::run::call::running;
use crate::run::call::session::{ChildReport, FollowUp};
use crate::store::events::matching::Filter;
use crate::store::events::queue::{self, Item};
use crate::store::instances::{self, InstanceRow, Parent};

/// Reports to the parent if a burst has ended this instance and the parent waits for that. A child that faulted is
/// detached from its parent, so that a later retry of it reports nothing more.
pub fn note_end(session: &mut Session, row: &InstanceRow) -> Result<(), PgError> {
    let instance = &row.instance;
    let Some(Parent { instance: parent, bookmark: Some(bookmark) }) = row.parent else { return Ok(()) };
    if instance.sub_status.status() != Status::Finished {
        return Ok(());
    }
    if instance.sub_status == SubStatus::Faulted {
        instances::forget_parent(instance.id);
    }
    let report = ChildReport { parent, bookmark, report: of(row)?, owner: row.owner.clone() };
    if session.is_pass && !session.inline.contains_key(&instance.id) {
        enqueue(session, &report);
    } else {
        session.follow_ups.push_back(FollowUp::Report(Box::new(report)));
    }
    Ok(())
}

/// The status and output of an instance, as its parent's activity reads them.
pub fn of(row: &InstanceRow) -> Result<Value, PgError> {
    let instance = &row.instance;
    child::report(instance.id, instance.sub_status, &instance.output).map_err(|fault| error::fault(&fault))
}

/// Puts a report for the parent's bookmark into the queue. Returns the id of the item.
pub fn enqueue(session: &mut Session, report: &ChildReport) -> Uuid {
    let item = item(session, report);
    queue::insert(&item, session.timestamp());
    item.id
}

/// Defers a report to a parent whose burst runs further up in this session, until that burst has ended.
pub fn defer(session: &mut Session, report: &ChildReport) {
    let item = item(session, report);
    queue::defer(&item, session.timestamp(), report.parent);
    running::note_deferral();
}

fn item(session: &mut Session, report: &ChildReport) -> Item {
    Item {
        sent_by: None,
        id: session.new_id(),
        filter: Filter { bookmark_id: Some(report.bookmark), instance_id: Some(report.parent), ..Filter::default() },
        stimulus: None,
        input: Some(json::copy(&report.report)),
        sender: report.owner.clone(),
        attempts: 0,
        expires_at: Timestamp::INFINITY,
        deferred_for: None,
    }
}
