//! Child workflows: starting what a burst asked for, and telling the parent how they stand.
//!
//! A child belongs to its parent's owner. Its end holds its own lock and takes its parent's only if that is free; what
//! finds it taken waits in the queue for the parent's bookmark. A cancel goes the other way, waiting downward: the two
//! cannot wait for each other. In a pass, where many children of one parent may end, their reports go to the queue, and
//! a delivery of one takes all that wait for the same bookmark into one burst.

use serde_json::Value;
use uuid::Uuid;
use workflow_engine::child::{self, Begin, NewChild};
use workflow_engine::instance::{Status, SubStatus};

use crate::access;
use crate::access::hearing::{Hearing, Verdict};
use crate::error;
use crate::pg::{PgError, memory};
use crate::program::{self, Compiled};
use crate::run::apart::{self, Apart};
use crate::run::burst::{Ended, OnFault};
use crate::run::deliver::{self, Stimulus};
use crate::run::queued::Swept;
use crate::run::{Publisher, Session, Work, resume, running, start, tell_how_to_fire};
use crate::store::bookmarks;
use crate::store::instances::{self, InstanceRow, Parent};
use crate::store::matching::{Filter, Stored};
use crate::store::owners::Owner;
use crate::store::queue::{self, Item};

/// Reports that one burst takes in.
const MAX_REPORTS: i64 = 1000;

/// News of a child for its parent.
#[derive(Debug)]
pub struct News {
    /// The parent.
    pub parent: Uuid,
    /// Its bookmark that waits for this.
    pub bookmark: Uuid,
    /// How the child stands.
    pub report: Value,
    /// The child's owner, with whose rights the parent is resumed.
    pub owner: Owner,
}

/// Starts a child of an instance whose burst is over.
pub fn start(session: &mut Session, child: NewChild, parent: Publisher) -> Result<(), PgError> {
    let compiled = program::of_version(child.version_id)?;
    let (id, bookmark_id, begin) = (child.id, child.bookmark_id, child.begin);
    let runs_now = begin != Begin::Later && access::runs_here(&parent.owner, &compiled);
    let is_own = parent.owner.is_current();
    let (row, ended) = match (runs_now, is_own || apart::is_worker()) {
        (false, _) => leave_new(session, &compiled, child, &parent)?,
        (true, true) => run_new(session, &compiled, child, &parent)?,
        (true, false) => {
            let copy = child.copy().map_err(|fault| error::fault(&fault))?;
            match apart::unless_own(session, &parent.owner, |session| run_new(session, &compiled, copy, &parent))? {
                Apart::Done(ran) => ran,
                // A session of its owner runs it, and hears of what is wrong with it.
                Apart::Short | Apart::Failed(_) => leave_new(session, &compiled, child, &parent)?,
            }
        }
    };
    let report = match ended {
        Ended::Taken => {
            child::refusal(id, &start::refused(&row.definition_id, &start::key_of(&row, &compiled))?.message)
        }
        Ended::Saved if begin == Begin::Now => report(&row)?,
        Ended::Saved => return Ok(()),
    };
    if let Some(bookmark) = bookmark_id {
        let news = News { parent: parent.instance, bookmark, report, owner: parent.owner };
        session.work.push_back(Work::News(Box::new(news)));
    }
    Ok(())
}

fn new_row(compiled: &Compiled, child: NewChild, parent: &Publisher) -> Result<InstanceRow, PgError> {
    let NewChild { id, input, correlation_id, bookmark_id, begin, .. } = child;
    let mut row = start::new_row(id, compiled, parent.owner.clone(), correlation_id, None, input)?;
    let hears_of_end = bookmark_id.filter(|_| begin != Begin::Now);
    row.parent = Some(Parent { instance: parent.instance, bookmark: hears_of_end });
    Ok(row)
}

/// Starts a child here and now.
fn run_new(
    session: &mut Session,
    compiled: &Compiled,
    child: NewChild,
    parent: &Publisher,
) -> Result<(InstanceRow, Ended), PgError> {
    let mut row = new_row(compiled, child, parent)?;
    let depth = session.inline.get(&parent.instance).map_or(1, |depth| depth + 1);
    refuse_depth(session, depth)?;
    session.inline.insert(row.instance.id, depth);
    let ended = start::run(session, &mut row, compiled, None, None, OnFault::Store, false)?;
    Ok((row, ended))
}

/// Leaves a child to a session of its owner.
fn leave_new(
    session: &mut Session,
    compiled: &Compiled,
    child: NewChild,
    parent: &Publisher,
) -> Result<(InstanceRow, Ended), PgError> {
    let mut row = new_row(compiled, child, parent)?;
    session.inline.remove(&row.instance.id);
    let ended = start::leave(session, &mut row, compiled, &start::Entry::ROOT, None, session.now);
    tell_how_to_fire();
    Ok((row, ended))
}

/// Workflows that start themselves without end are stopped long before the limit of bursts: each of them is open as long
/// as all below it (54001).
fn refuse_depth(session: &Session, depth: u32) -> Result<(), PgError> {
    let limit = session.limits.max_nesting;
    if depth <= limit {
        return Ok(());
    }
    Err(PgError::new("54001", "child workflows are nested too deeply")
        .detail(format!("The limit is {limit} levels."))
        .hint("Workflows that start each other in a circle do not end. Raise workflow.max_nesting if these do."))
}

/// A burst has ended this instance: its parent hears of it, if it wants to. One that faulted is no longer its parent's
/// when it is taken up again.
pub fn ended(session: &mut Session, row: &InstanceRow) -> Result<(), PgError> {
    let instance = &row.instance;
    let Some(Parent { instance: parent, bookmark: Some(bookmark) }) = row.parent else { return Ok(()) };
    if instance.sub_status.status() != Status::Finished {
        return Ok(());
    }
    if instance.sub_status == SubStatus::Faulted {
        instances::forget_parent(instance.id);
    }
    let report = report(row)?;
    let news = News { parent, bookmark, report, owner: row.owner.clone() };
    if session.is_pass && !session.inline.contains_key(&instance.id) {
        leave(session, &news);
    } else {
        session.work.push_back(Work::News(Box::new(news)));
    }
    Ok(())
}

fn report(row: &InstanceRow) -> Result<Value, PgError> {
    let instance = &row.instance;
    child::report(instance.id, instance.sub_status, &instance.output).map_err(|fault| error::fault(&fault))
}

/// Tells a parent all that is known of its children; the rest of the work comes first, so that it is told once.
pub fn tell(session: &mut Session, first: News) -> Result<(), PgError> {
    if session.work.iter().any(|work| !matches!(work, Work::News(_))) {
        session.work.push_back(Work::News(Box::new(first)));
        return Ok(());
    }
    let mut all = vec![first];
    let bookmark = all[0].bookmark;
    for work in std::mem::take(&mut session.work) {
        match work {
            Work::News(news) if news.bookmark == bookmark => all.push(*news),
            other => session.work.push_back(other),
        }
    }
    if running::contains(all[0].parent) {
        all.iter().for_each(|news| defer(session, news));
        return Ok(());
    }
    let owner = all[0].owner.clone();
    let reports: Vec<Value> = all.iter().map(|news| memory::copy(&news.report)).collect();
    let told = apart::unless_own(session, &owner, |session| resume_with(session, bookmark, &reports))?;
    match told {
        Apart::Done(Told::Resumed | Told::Gone) => {}
        Apart::Done(Told::Busy) | Apart::Short => {
            for news in &all {
                leave(session, news);
            }
        }
        Apart::Failed(error) => {
            for news in &all {
                let id = leave(session, news);
                deliver::note_first_failure(session, id, &error);
            }
        }
    }
    Ok(())
}

/// What became of reports.
enum Told {
    Resumed,
    Busy,
    Gone,
}

fn resume_with(session: &mut Session, bookmark: Uuid, reports: &[Value]) -> Result<Told, PgError> {
    session.has_waited = true;
    let Some(mut waiting) = bookmarks::try_lock(bookmark) else {
        return Ok(if bookmarks::exists(bookmark) { Told::Busy } else { Told::Gone });
    };
    let compiled = program::of_instance(&waiting.row)?;
    if waiting.row.instance.sub_status == SubStatus::Faulted {
        return Ok(Told::Busy);
    }
    if !access::runs_here(&waiting.row.owner, &compiled) {
        tell_how_to_fire();
        return Ok(Told::Busy);
    }
    let inputs: Vec<Option<&Value>> = reports.iter().map(Some).collect();
    resume::each(session, &mut waiting, &compiled, &inputs, OnFault::Store)?;
    Ok(Told::Resumed)
}

fn stimulus(news: &News) -> Stimulus {
    Stimulus {
        filter: Filter { bookmark_id: Some(news.bookmark), instance_id: Some(news.parent), ..Filter::default() },
        payload: None,
        input: Some(memory::copy(&news.report)),
        sender: news.owner.clone(),
    }
}

fn leave(session: &mut Session, news: &News) -> Uuid {
    let stimulus = stimulus(news);
    let item = deliver::item(session, stimulus.filter.clone(), &stimulus);
    queue::insert(&item, session.timestamp());
    item.id
}

/// The parent's burst is further up in this session.
fn defer(session: &mut Session, news: &News) {
    let stimulus = stimulus(news);
    let item = deliver::item(session, stimulus.filter.clone(), &stimulus);
    queue::defer(&item, session.timestamp(), news.parent);
    running::note_deferral();
}

/// Delivers an item of the queue together with all others that were left for the same bookmark, which a resume does not
/// use up: one burst takes them all. Returns how many; the caller holds the lock of the instance and has asked whether
/// it may run it.
pub fn deliver_all(session: &mut Session, item: &Item, stored: &Stored) -> Result<Swept, PgError> {
    let items = queue::take_all_of(item, session.timestamp(), MAX_REPORTS);
    let Some(mut waiting) = bookmarks::try_lock(stored.bookmark.id) else {
        items.iter().for_each(|item| queue::insert(item, session.timestamp()));
        return Ok(Swept::Held);
    };
    if items.is_empty() {
        return Ok(Swept::Held);
    }
    let compiled = program::of_instance(&waiting.row)?;
    let mut inputs = Vec::with_capacity(items.len());
    for item in &items {
        let mut hearing = Hearing::of(&item.sender, item.filter.names_target());
        if hearing.resumes_row(&waiting.row, &compiled) == Verdict::Heard {
            inputs.push(item.input.as_ref());
        } else {
            queue::insert(item, session.timestamp());
        }
    }
    if inputs.is_empty() {
        return Ok(Swept::Stays);
    }
    resume::each(session, &mut waiting, &compiled, &inputs, OnFault::Store)?;
    deliver::work_off(session)?;
    Ok(Swept::Resumed(inputs.len() as u64))
}
