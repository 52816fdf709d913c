//! Child workflows: starting those that a burst asked for, and reporting to the parent how they stand.
//!
//! A child belongs to its parent's owner, or, if it notifies people of a task, to the owner of the parent's definition.
//! A session that ends a child holds the child's lock, and takes the parent's
//! lock only if that is free; otherwise the report waits in the queue for the parent's bookmark. A cancel waits for
//! locks in the other direction, from parent to child, so the two cannot deadlock. In a pass, where many children of
//! one parent may end, their reports go to the queue, and the delivery of one takes all reports for the same bookmark
//! into one burst.

use serde_json::Value;
use uuid::Uuid;
use workflow_engine::child::{self, Begin, NewChild};
use workflow_engine::instance::SubStatus;

use crate::access::lending;
use crate::compiled::{self, Compiled};
use crate::error;
use crate::pg::spi::Timestamp;
use crate::pg::{PgError, json};
use crate::run::CallContext;
use crate::run::burst::save::BurstEnd;
use crate::run::burst::{OnFault, consume};
use crate::run::call::context::{ChildReport, FollowUp, Publisher};
use crate::run::call::isolated::{self, Isolated};
use crate::run::call::notices::notice_no_worker;
use crate::run::call::running;
use crate::run::events::queued;
use crate::run::instances::acquire::{self, Acquired};
use crate::run::instances::activation::{key_of, refused};
use crate::run::instances::{abandoned, create, start};
use crate::store::events::matching::Filter;
use crate::store::events::queue::{self, Item};
use crate::store::instances::{self, InstanceRow, Parent};

/// Starts a child of an instance whose burst is over.
pub fn start(context: &mut CallContext, child: NewChild, parent: Publisher) -> Result<(), PgError> {
    if abandoned::is_given_up(context, child.bookmark_id) {
        return Ok(());
    }
    let compiled = compiled::of_version(child.version_id)?;
    let (id, bookmark_id, begin) = (child.id, child.bookmark_id, child.begin);
    let runs_now = begin != Begin::Later && lending::runs_here(context.serves, &parent.owner, &compiled);
    let is_own = parent.owner.is_current();
    let (row, ended) = match (runs_now, is_own || isolated::is_worker_session()) {
        (false, _) => create_new(context, &compiled, child, &parent)?,
        (true, true) => run_new(context, &compiled, child, &parent)?,
        (true, false) => {
            let copy = child.copy().map_err(|fault| error::fault(&fault))?;
            match isolated::run_isolated(context, &parent.owner, |context| run_new(context, &compiled, copy, &parent))?
            {
                Isolated::Done(ran) => ran,
                // A session of the owner runs the child instead, and reports what is wrong with it.
                Isolated::Short | Isolated::Failed(_) => create_new(context, &compiled, child, &parent)?,
            }
        }
    };
    let report = match ended {
        // A child serves no request, so its burst turns none away.
        BurstEnd::Taken | BurstEnd::TurnedAway => {
            child::refusal(id, &refused(&row.definition_id, &key_of(&row, &compiled))?.message)
        }
        BurstEnd::Saved if begin == Begin::Now => of(&row)?,
        BurstEnd::Saved => return Ok(()),
    };
    if let Some(bookmark) = bookmark_id {
        let report = ChildReport { parent: parent.instance, bookmark, report, owner: parent.owner };
        context.follow_ups.push_back(FollowUp::Report(Box::new(report)));
    }
    Ok(())
}

fn new_row(compiled: &Compiled, child: NewChild, parent: &Publisher) -> Result<InstanceRow, PgError> {
    let NewChild { id, input, correlation_id, bookmark_id, begin, .. } = child;
    let hears_of_end = bookmark_id.filter(|_| begin != Begin::Now);
    let of = Parent { instance: parent.instance, bookmark: hears_of_end };
    let (owner, starter) = (parent.owner.clone(), parent.starter.clone());
    let row = create::new_row(id, compiled, owner, correlation_id, None, input, Some(of), starter)?;
    Ok(InstanceRow { traceparent: parent.traceparent, ..row })
}

/// Starts a child in this session.
fn run_new(
    context: &mut CallContext,
    compiled: &Compiled,
    child: NewChild,
    parent: &Publisher,
) -> Result<(InstanceRow, BurstEnd), PgError> {
    let mut row = new_row(compiled, child, parent)?;
    let depth = context.inline.get(&parent.instance).map_or(1, |depth| depth + 1);
    refuse_depth(context, depth)?;
    context.inline.insert(row.instance.id, depth);
    let ended = start::run(context, &mut row, compiled, start::Beginning::default())?;
    Ok((row, ended))
}

/// Creates a child that a session of its owner starts later.
fn create_new(
    context: &mut CallContext,
    compiled: &Compiled,
    child: NewChild,
    parent: &Publisher,
) -> Result<(InstanceRow, BurstEnd), PgError> {
    let mut row = new_row(compiled, child, parent)?;
    context.inline.remove(&row.instance.id);
    let ended = create::create_pending(context, &mut row, compiled, &create::StartPoint::ROOT, None, None, context.now);
    notice_no_worker();
    Ok((row, ended))
}

/// Refuses a child that is nested too deeply (54001). Workflows that start themselves without end are stopped long
/// before the limit of bursts, because each of them stays open as long as all below it.
fn refuse_depth(context: &CallContext, depth: u32) -> Result<(), PgError> {
    let limit = context.limits.max_nesting;
    if depth <= limit {
        return Ok(());
    }
    Err(PgError::new("54001", "child workflows are nested too deeply")
        .detail(format!("The limit is {limit} levels."))
        .hint("Workflows that start each other in a circle do not end. Raise workflow.max_nesting if these do."))
}

/// Resumes a parent with all reports of this call for one bookmark. Other follow-ups come first, so that one burst
/// takes them all.
pub fn resume_parent(context: &mut CallContext, first: ChildReport) -> Result<(), PgError> {
    if context.follow_ups.iter().any(|next| !matches!(next, FollowUp::Report(_))) {
        context.follow_ups.push_back(FollowUp::Report(Box::new(first)));
        return Ok(());
    }
    let mut reports = vec![first];
    let (parent, bookmark, owner) = (reports[0].parent, reports[0].bookmark, reports[0].owner.clone());
    for next in std::mem::take(&mut context.follow_ups) {
        match next {
            FollowUp::Report(report) if report.bookmark == bookmark => reports.push(*report),
            other => context.follow_ups.push_back(other),
        }
    }
    if running::contains(parent) {
        reports.iter().for_each(|report| defer(context, report));
        return Ok(());
    }
    let inputs: Vec<Value> = reports.iter().map(|report| json::copy(&report.report)).collect();
    match isolated::run_isolated(context, &owner, |context| resume_with(context, bookmark, &inputs))? {
        Isolated::Done(ReportOutcome::Resumed | ReportOutcome::Gone) => {}
        Isolated::Done(ReportOutcome::Busy) | Isolated::Short => {
            for report in &reports {
                enqueue(context, report);
            }
        }
        Isolated::Failed(error) => {
            for report in &reports {
                let id = enqueue(context, report);
                queued::record_first_failure(context, id, &error);
            }
        }
    }
    Ok(())
}

/// What became of reports.
enum ReportOutcome {
    Resumed,
    Busy,
    Gone,
}

fn resume_with(context: &mut CallContext, bookmark: Uuid, reports: &[Value]) -> Result<ReportOutcome, PgError> {
    context.has_waited = true;
    let (mut waiting, compiled) = match acquire::try_acquire(context, bookmark)? {
        Acquired::Ready(waiting, compiled) => (waiting, compiled),
        Acquired::Busy(reason) => {
            reason.notice();
            return Ok(ReportOutcome::Busy);
        }
        Acquired::Gone => return Ok(ReportOutcome::Gone),
    };
    let inputs: Vec<Option<&Value>> = reports.iter().map(Some).collect();
    consume::resume_many(context, &mut waiting, &compiled, &inputs, OnFault::Store)?;
    Ok(ReportOutcome::Resumed)
}

/// Reports the end of an instance to the parent that waits for it. A child that faulted is detached from its parent, so
/// that a later retry of it reports nothing more.
pub fn report_end(context: &mut CallContext, row: &InstanceRow) -> Result<(), PgError> {
    let instance = &row.instance;
    let Some(Parent { instance: parent, bookmark: Some(bookmark) }) = row.parent else { return Ok(()) };
    if instance.sub_status == SubStatus::Faulted {
        instances::forget_parent(instance.id);
    }
    let report = ChildReport { parent, bookmark, report: of(row)?, owner: row.owner.clone() };
    if context.is_pass && !context.inline.contains_key(&instance.id) {
        enqueue(context, &report);
    } else {
        context.follow_ups.push_back(FollowUp::Report(Box::new(report)));
    }
    Ok(())
}

/// The status and output of an instance, as its parent's activity reads them.
pub fn of(row: &InstanceRow) -> Result<Value, PgError> {
    let instance = &row.instance;
    child::report(instance.id, instance.sub_status, &instance.output).map_err(|fault| error::fault(&fault))
}

/// Puts a report for the parent's bookmark into the queue. Returns the id of the item.
pub fn enqueue(context: &mut CallContext, report: &ChildReport) -> Uuid {
    let item = item(context, report);
    queue::insert(&item, context.timestamp());
    item.id
}

/// Defers a report to a parent whose burst runs further up in this session, until that burst has ended.
pub fn defer(context: &mut CallContext, report: &ChildReport) {
    let item = item(context, report);
    queue::defer(&item, context.timestamp(), report.parent);
    running::record_deferral();
}

fn item(context: &mut CallContext, report: &ChildReport) -> Item {
    Item {
        sent_by: None,
        id: context.new_id(),
        filter: Filter { bookmark_id: Some(report.bookmark), instance_id: Some(report.parent), ..Filter::default() },
        stimulus: None,
        input: Some(json::copy(&report.report)),
        sender: report.owner.clone(),
        attempts: 0,
        expires_at: Timestamp::INFINITY,
        deferred_for: None,
        is_momentary: false,
    }
}
